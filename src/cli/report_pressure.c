/* The part of `tidemark report` about a workload: what `tidemark pressure A B` and `tidemark pressure --multi` show
 * without further options. */
#include "analyze/pressure_find.h"
#include "cli/report_parts.h"
#include "report/pressure_report.h"

#include <stdlib.h>

/* The defaults of `tidemark pressure`. */
static const char default_format[] = "fp32";
enum { MESH_ROWS = 1, MESH_COLUMNS = 2 };

struct pressure {
	const struct tdm_card *card;
	struct tdm_core_speed speed;
	const struct tdm_data_format *format;
	struct tdm_pressure_result *results;
	size_t count;
};

/* Analyses the workload, or each size of the usual ones. 0 or -ENOMEM. */
static int analyze(struct pressure *p, const struct tdm_report_item *item)
{
	int err = 0;
	p->count = item->a_tiles != 0 ? 1 : tdm_pressure_size_count;
	p->results = calloc(p->count, sizeof *p->results);
	for (size_t i = 0; p->results != NULL && i < p->count && err == 0; i++) {
		const struct tdm_pressure_setup setup = {
			.a_tiles = item->a_tiles != 0 ? item->a_tiles : tdm_pressure_sizes[i],
			.b_tiles = item->a_tiles != 0 ? item->b_tiles : tdm_pressure_sizes[i],
			.mesh_rows = MESH_ROWS,
			.mesh_columns = MESH_COLUMNS,
			.tile_bytes = p->format->tile_bytes,
			.card = p->card,
			.speed = &p->speed,
		};
		err = tdm_pressure_analyze(&setup, &p->results[i]);
	}
	return p->results == NULL ? -1 : err;
}

static void show(
	struct tdm_report_request *request, const struct tdm_pressure_report *report, struct tdm_digest_part *part)
{
	const struct tdm_pressure_picture picture = { 0 };
	struct tdm_json *json = tdm_report_json(request, part);
	struct tdm_diag diag = { 0 };
	if (json != NULL) {
		tdm_pressure_json(report, json);
		return;
	}
	tdm_pressure_text(report, &request->term, &part->body);
	if (!report->is_multi)
		return;
	tdm_buf_putc(&part->body, '\n');
	if (tdm_pressure_draw(report, &picture, &request->term, &part->body, &diag) != 0)
		tdm_digest_say(part, tdm_str_of(diag.text));
}

void tdm_report_pressure(
	struct tdm_report_request *request, const struct tdm_report_item *item, struct tdm_digest_part *part)
{
	struct pressure p = { .card = &request->card, .format = tdm_data_format_find(tdm_str_of(default_format)) };
	struct tdm_budgets budgets = { 0 };
	struct tdm_findings found = { 0 };
	tdm_core_speed_init(&p.speed, p.card->arch);
	if (analyze(&p, item) != 0 || tdm_pressure_budgets(p.results, p.count, &budgets) != 0) {
		request->digest.failed = part->is_empty = true;
	} else {
		const struct tdm_pressure_report report = { .results = p.results,
			.count = p.count,
			.is_multi = item->a_tiles == 0,
			.format = p.format->name,
			.speed = &p.speed,
			.budgets = &budgets };
		show(request, &report, part);
		tdm_pressure_find(p.results, p.count, &found);
		tdm_digest_take(&request->digest, &found, NULL);
	}
	tdm_budgets_done(&budgets);
	for (size_t i = 0; p.results != NULL && i < p.count; i++)
		tdm_pressure_done(&p.results[i]);
	free(p.results);
}
