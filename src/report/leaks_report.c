#include "report/leaks_report.h"
#include "base/duration.h"
#include "report/finding_report.h"
#include "report/report_put.h"

/* More findings than anybody reads: a program may end with thousands of names that are never freed. */
enum { SHOWN_MAX = 50 };

/* Steady sites are another question. */
static bool is_chosen(const struct tdm_leaks_report *report, const struct tdm_finding *finding)
{
	const struct tdm_buffer_filter *filter = &report->live->filter;
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
	char text[TDM_DURATION_CAP], count[TDM_BYTES_CAP];
	size_t processes = report->live->picture->process_count;
	const char *es = processes == 1 ? "" : "es";
	if (report->result->samples > 1)
		tdm_buf_printf(out, "watched %zu process%s for %s, %s pictures\n\n", processes, es,
			tdm_format_duration(text, sizeof text, report->result->watched_ns),
			tdm_format_count(count, sizeof count, report->result->samples));
	else
		tdm_buf_printf(out, "read %zu process%s once\n\n", processes, es);
}

/* Those that are chosen, the worst first; how many more there are, and what they hold. */
static void put_leaks(const struct tdm_leaks_report *report, struct tdm_buf *out)
{
	struct tdm_finding_view view = { .findings = report->findings,
		.term = report->live->term,
		.picture = report->live->picture,
		.stacks = report->live->stacks };
	char count[TDM_BYTES_CAP], size[TDM_BYTES_CAP];
	uint64_t more = 0, bytes = 0;
	size_t shown = 0;
	for (size_t i = 0; i < report->findings->count; i++) {
		const struct tdm_finding *finding = &report->findings->list[i];
		if (!is_shown(report, finding))
			continue;
		if (report->all || shown < SHOWN_MAX) {
			tdm_finding_text(&view, finding, out);
			shown++;
		} else {
			more++;
			bytes += finding->bytes;
		}
	}
	if (more != 0)
		tdm_buf_printf(out, "and %s more, which hold %s (--all lists them)\n\n",
			tdm_format_count(count, sizeof count, more), tdm_format_bytes_short(size, sizeof size, bytes));
	tdm_stack_symbols_done(&view.symbols);
}

/* Whether there is something that could be watched. */
static bool is_any_running(const struct tdm_picture *picture)
{
	for (size_t i = 0; i < picture->process_count; i++)
		if (picture->processes[i].life != TDM_LIFE_ENDED)
			return true;
	return false;
}

static void put_closing(const struct tdm_leaks_report *report, struct tdm_buf *out)
{
	const struct tdm_leaks_result *result = report->result;
	size_t leaks = tdm_leaks_chosen(report, TDM_FINDING_BROKEN),
	       suspects = tdm_leaks_chosen(report, TDM_FINDING_WARNING),
	       steady = tdm_leaks_chosen(report, TDM_FINDING_OK);
	char count[TDM_BYTES_CAP];
	if (report->all && steady != 0)
		tdm_buf_putc(out, '\n');
	if (leaks + suspects == 0)
		tdm_buf_puts(out, "no leak found; ");
	else
		tdm_buf_printf(
			out, "%zu leak%s, %zu suspect%s; ", leaks, tdm_plural(leaks), suspects, tdm_plural(suspects));
	tdm_buf_printf(out, "%zu site%s steady%s\n", steady, steady == 1 ? " is" : "s are",
		steady != 0 && !report->all ? " (--all lists them)" : "");
	if (result->samples == 1 && is_any_running(report->live->picture))
		tdm_buf_puts(out, "(one picture shows no growth: 'tidemark leaks --for 30s' watches)\n");
	if (result->sites_left_out != 0)
		tdm_buf_printf(out, "(%s buffers are of more sites than are looked at one by one)\n",
			tdm_format_count(count, sizeof count, result->sites_left_out));
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
	tdm_live_unread(report->live, out);
}

void tdm_leaks_json(const struct tdm_leaks_report *report, struct tdm_json *json)
{
	const struct tdm_leaks_result *result = report->result;
	struct tdm_finding_view view = { .findings = report->findings, .picture = report->live->picture };
	tdm_json_object(json);
	tdm_json_put_name(json, "directory", report->live->dir);
	tdm_json_put_u64(json, "watched_ns", result->watched_ns);
	tdm_json_put_known(json, "interval_ns", report->interval_ns != 0, report->interval_ns);
	tdm_json_put_u64(json, "pictures", result->samples);
	tdm_json_put_u64(json, "leaks", tdm_leaks_chosen(report, TDM_FINDING_BROKEN));
	tdm_json_put_u64(json, "suspects", tdm_leaks_chosen(report, TDM_FINDING_WARNING));
	tdm_json_put_u64(json, "steady", tdm_leaks_chosen(report, TDM_FINDING_OK));
	tdm_json_put_u64(json, "buffers_beyond_limit", result->sites_left_out);
	tdm_json_put_array(json, "sites");
	for (size_t i = 0; i < report->findings->count; i++)
		if (is_shown(report, &report->findings->list[i]))
			tdm_finding_json(&view, &report->findings->list[i], json);
	tdm_json_array_end(json);
	tdm_stack_symbols_done(&view.symbols);
	tdm_live_json_problems(report->live, json);
	tdm_json_object_end(json);
}
