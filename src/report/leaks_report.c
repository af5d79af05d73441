#include "report/leaks_report.h"
#include "report/cell.h"
#include "report/finding_report.h"
#include "report/report_put.h"

/* Nobody reads more findings: a program may end with thousands of names that were never freed. */
enum { SHOWN_MAX = 50 };

/* Whether the user's filters choose the finding; steady sites are filtered elsewhere. */
static bool is_chosen(const struct tdm_leaks_report *report, const struct tdm_finding *finding)
{
	const struct tdm_buffer_filter *filter = &report->live->filter;
	const struct tdm_picture *picture = report->live->picture;
	if (report->live->by_user && (finding->about.process >= picture->process_count ||
					     picture->processes[finding->about.process].uid != report->live->uid))
		return false;
	return !(filter->has_kind && finding->about.kind != filter->kind) &&
	       !(filter->has_device && finding->about.device != filter->device) && finding->bytes >= report->min_bytes;
}

static bool is_shown(const struct tdm_leaks_report *report, const struct tdm_finding *finding)
{
	return (report->all || finding->severity != TDM_FINDING_OK) && is_chosen(report, finding);
}

size_t tdm_leaks_chosen(const struct tdm_leaks_report *report, enum tdm_severity verdict)
{
	size_t count = 0;
	for (size_t i = 0; i < report->findings->count; i++)
		count += report->findings->list[i].severity == verdict && is_chosen(report, &report->findings->list[i]);
	return count;
}

static void put_opening(const struct tdm_leaks_report *report, struct tdm_buf *out)
{
	const struct tdm_leaks_result *result = report->result;
	size_t count = report->live->picture->process_count;
	tdm_buf_printf(out, "%s %zu process%s ", result->samples > 1 ? "watched" : "read", count, tdm_plural_es(count));
	if (result->samples > 1)
		tdm_buf_printf(out, "for %s, %s pictures\n\n", TDM_TIME_TEXT(result->watched_ns),
			TDM_COUNT_TEXT(result->samples));
	else
		tdm_buf_puts(out, "once\n\n");
}

/* The chosen findings, the worst first; then how many more there are, and what they hold. */
static void put_leaks(const struct tdm_leaks_report *report, struct tdm_buf *out)
{
	struct tdm_finding_view view = { .findings = report->findings,
		.term = report->live->term,
		.picture = report->live->picture,
		.stacks = report->live->stacks };
	uint64_t shown = 0, more = 0, bytes = 0;
	for (size_t i = 0; i < report->findings->count; i++) {
		const struct tdm_finding *finding = &report->findings->list[i];
		if (!is_shown(report, finding))
			continue;
		if (report->all || shown++ < SHOWN_MAX) {
			tdm_finding_text(&view, finding, out);
		} else {
			more++;
			bytes = tdm_plus(bytes, finding->bytes);
		}
	}
	if (more != 0)
		tdm_buf_printf(out, "and %s more, which hold %s (--all lists them)\n\n", TDM_COUNT_TEXT(more),
			TDM_SIZE_TEXT(bytes));
	tdm_stack_symbols_done(&view.symbols);
}

/* Events, which tell of buffers that are gone, stay on their machine. */
static bool knows_lifetimes(const struct tdm_leaks_report *report)
{
	return report->live->picture->hosts == NULL;
}

static void put_closing(const struct tdm_leaks_report *report, struct tdm_buf *out)
{
	const struct tdm_leaks_result *result = report->result;
	size_t leaks = tdm_leaks_chosen(report, TDM_FINDING_BROKEN),
	       suspects = tdm_leaks_chosen(report, TDM_FINDING_WARNING),
	       steady = tdm_leaks_chosen(report, TDM_FINDING_OK);
	bool any_runs = false;
	for (size_t i = 0; i < report->live->picture->process_count; i++)
		any_runs |= report->live->picture->processes[i].life != TDM_LIFE_ENDED;
	if (report->all && steady != 0)
		tdm_buf_putc(out, '\n');
	if (leaks + suspects == 0)
		tdm_buf_puts(out, "no leak found; ");
	else
		tdm_buf_printf(
			out, "%zu leak%s, %zu suspect%s; ", leaks, tdm_plural(leaks), suspects, tdm_plural(suspects));
	tdm_buf_printf(out, "%zu site%s steady%s\n", steady, steady == 1 ? " is" : "s are",
		steady != 0 && !report->all ? " (--all lists them)" : "");
	if (result->samples == 1 && any_runs)
		tdm_buf_puts(out, "(one picture shows no growth: 'tidemark leaks --for 30s' watches)\n");
	if (result->samples > 1 && !knows_lifetimes(report))
		tdm_buf_puts(out, "(other machines do not tell how long freed buffers lived: what is freed late may "
				  "look like a leak)\n");
	if (result->sites_left_out != 0)
		tdm_buf_printf(out, "(%s buffers belong to sites beyond the limit and were not judged one by one)\n",
			TDM_COUNT_TEXT(result->sites_left_out));
}

size_t tdm_leaks_damaged(const struct tdm_leaks_report *report, struct tdm_buf *out)
{
	size_t count = 0;
	for (size_t i = 0; i < report->live->picture->process_count; i++) {
		const struct tdm_picture_process *process = &report->live->picture->processes[i];
		count += process->refused != 0;
		if (process->refused == 0 || out == NULL)
			continue;
		tdm_cell_text(out, process->ledger, report->live->term.utf8);
		tdm_buf_printf(out, ": damaged: %s of its records cannot be believed, so leaks may be missing\n",
			TDM_COUNT_TEXT(process->refused));
	}
	return count;
}

static bool skip_whole(const struct tdm_table *table, const void *row)
{
	(void)table;
	return ((const struct tdm_picture_process *)row)->refused == 0;
}

static void json_damaged(const struct tdm_live_report *live, struct tdm_json *json)
{
	const struct tdm_picture *picture = live->picture;
	static const struct tdm_column columns[] = {
		{ NULL, "ledger", TDM_MEMBER(struct tdm_picture_process, ledger) },
		{ NULL, "damaged_records", TDM_MEMBER(struct tdm_picture_process, refused) },
	};
	const struct tdm_table table = { TDM_COLUMNS(columns), picture->processes, sizeof *picture->processes,
		live->by_user ? 0 : picture->process_count, .skip = skip_whole };
	tdm_json_put_table(json, "damaged", &table);
}

void tdm_leaks_text(const struct tdm_leaks_report *report, struct tdm_buf *out)
{
	bool any = report->live->picture->process_count != 0;
	if (any)
		put_opening(report, out);
	else if (tdm_live_unread_count(report->live) == 0)
		tdm_live_none(report->live, out);
	put_leaks(report, out);
	if (any)
		put_closing(report, out);
	tdm_leaks_damaged(report, out);
	tdm_live_unread(report->live, out);
}

void tdm_leaks_json(const struct tdm_leaks_report *report, struct tdm_json *json)
{
	const struct tdm_leaks_result *result = report->result;
	struct tdm_finding_view view = { .findings = report->findings, .picture = report->live->picture };
	tdm_json_object(json);
	tdm_json_put_name(json, "directory", report->live->picture->hosts == NULL ? report->live->dir : NULL);
	tdm_json_put_u64(json, "watched_ns", result->watched_ns);
	tdm_json_put_known(json, "interval_ns", report->interval_ns != 0, report->interval_ns);
	tdm_json_put_u64(json, "pictures", result->samples);
	tdm_json_put_bool(json, "lifetimes_known", knows_lifetimes(report));
	tdm_json_put_u64(json, "leaks", tdm_leaks_chosen(report, TDM_FINDING_BROKEN));
	tdm_json_put_u64(json, "suspects", tdm_leaks_chosen(report, TDM_FINDING_WARNING));
	tdm_json_put_u64(json, "steady", tdm_leaks_chosen(report, TDM_FINDING_OK));
	tdm_json_put_u64(json, "buffers_beyond_limit", result->sites_left_out);
	tdm_json_put_array(json, "sites");
	uint64_t shown = 0;
	for (size_t i = 0; i < report->findings->count; i++)
		if (is_shown(report, &report->findings->list[i]) &&
			(report->live->limit == 0 || shown++ < report->live->limit))
			tdm_finding_json(&view, &report->findings->list[i], json);
	tdm_json_array_end(json);
	tdm_stack_symbols_done(&view.symbols);
	json_damaged(report->live, json);
	tdm_live_json_problems(report->live, json);
	tdm_json_object_end(json);
}
