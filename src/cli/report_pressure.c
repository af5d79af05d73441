/* The part of `tidemark report` about a workload or a pattern file: what `tidemark pressure A B`, `tidemark pressure
 * --multi` and `tidemark pressure --pattern FILE` show without further options. */
#include "analyze/pressure_find.h"
#include "cli/report_parts.h"
#include "report/pressure_report.h"

#include <errno.h>
#include <stdlib.h>

struct pressure {
	const struct tdm_card *card;
	struct tdm_core_speed speed;
	const struct tdm_data_format *format;
	struct tdm_cb_pattern pattern; /* empty: there is none */
	struct tdm_pressure_result *results;
	size_t count;
};

/* Analyses the pattern, the workload, or each size of the usual ones. 0 or -ENOMEM. */
static int analyze(struct pressure *p, const struct tdm_report_item *item)
{
	int err = 0;
	bool is_pattern = item->of == TDM_REPORT_PATTERN, is_one = is_pattern || item->a_tiles != 0;
	p->count = is_one ? 1 : tdm_pressure_size_count;
	p->results = calloc(p->count, sizeof *p->results);
	for (size_t i = 0; p->results != NULL && i < p->count && err == 0; i++) {
		struct tdm_progress progress;
		const struct tdm_pressure_setup setup = {
			.a_tiles = is_one ? item->a_tiles : tdm_pressure_sizes[i],
			.b_tiles = is_one ? item->b_tiles : tdm_pressure_sizes[i],
			.mesh_rows = TDM_PRESSURE_MESH_ROWS,
			.mesh_columns = TDM_PRESSURE_MESH_COLUMNS,
			.tile_bytes = p->format->tile_bytes,
			.card = p->card,
			.speed = &p->speed,
			.pattern = is_pattern ? &p->pattern : NULL,
			.progress = &progress,
		};
		tdm_progress_begin(&progress, "searching depths", TDM_ADVICE_WORK);
		err = tdm_pressure_analyze(&setup, &p->results[i]);
		tdm_progress_end(&progress);
	}
	return p->results == NULL ? -ENOMEM : err;
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

/* Reads the pattern of the item, if it has one. False: it cannot be read, and the part says why. */
static bool read_pattern(struct pressure *p, const struct tdm_report_item *item, struct tdm_digest_part *part)
{
	struct tdm_diag diag = { 0 };
	char text[TDM_DIAG_TEXT_CAP * 2];
	if (item->of != TDM_REPORT_PATTERN)
		return true;
	int err = tdm_pattern_load(item->paths[0], &p->pattern, &p->speed, &diag);
	if (err != 0)
		tdm_digest_say(part, tdm_str_of(tdm_diag_format(&diag, text, sizeof text)));
	return err == 0;
}

static void fill(struct tdm_report_request *request, const struct tdm_report_item *item, const struct pressure *p,
	struct tdm_budgets *budgets, struct tdm_digest_part *part)
{
	struct tdm_findings found = { 0 };
	bool is_pattern = item->of == TDM_REPORT_PATTERN;
	const struct tdm_pressure_report report = { .results = p->results,
		.count = p->count,
		.is_multi = p->count > 1,
		.format = is_pattern ? NULL : p->format->name,
		.pattern_path = is_pattern ? item->paths[0] : NULL,
		.speed = &p->speed,
		.budgets = budgets };
	show(request, &report, part);
	tdm_pressure_find(p->results, p->count, &found);
	tdm_digest_take(&request->digest, &found, NULL);
}

void tdm_report_pressure(
	struct tdm_report_request *request, const struct tdm_report_item *item, struct tdm_digest_part *part)
{
	struct pressure p = { .card = &request->card, .format = tdm_data_format_find(tdm_str_of(TDM_PRESSURE_FORMAT)) };
	struct tdm_budgets budgets = { 0 };
	tdm_core_speed_init(&p.speed, p.card->arch);
	if (!read_pattern(&p, item, part))
		part->is_empty = true;
	else if (analyze(&p, item) != 0 || tdm_pressure_budgets(p.results, p.count, &budgets) != 0)
		request->digest.failed = part->is_empty = true;
	else
		fill(request, item, &p, &budgets, part);
	tdm_budgets_done(&budgets);
	for (size_t i = 0; p.results != NULL && i < p.count; i++)
		tdm_pressure_done(&p.results[i]);
	free(p.results);
	tdm_pattern_done(&p.pattern);
}
