/* The report on how long operations wait for circular buffers. */
#include "report/report_files.h"
#include "report/finding_report.h"

#include <inttypes.h>
#include <math.h>

static void put_side(const struct tdm_field *field, struct tdm_buf *out)
{
	const struct tdm_perf_operation *op = field->row;
	tdm_buf_puts(out, op->waits_for != NULL ? op->waits_for : "unknown");
	if (op->measured != 0 && op->measured != op->calls)
		tdm_buf_printf(out, " (%" PRIu64 " measured)", op->measured);
}

#define NAME_COLUMNS 34
#define NS           TDM_COUNT(13), .unknown = "unknown"
#define OP(member)   TDM_MEMBER(struct tdm_perf_operation, member)
#define MEASURED     TDM_KNOWN_IF(struct tdm_perf_operation, measured)
static const struct tdm_column operations[] = {
	{ "Operation", "operation", OP(name), .width = NAME_COLUMNS },
	{ "calls", "calls", OP(calls), .width = 8 },
	{ NULL, "measured_calls", OP(measured) },
	{ NULL, "cores_max", OP(cores_max) },
	{ NULL, "timed_calls", OP(timed) },
	{ "kernel ns", "kernel_ns", OP(timed_ns), TDM_KNOWN_IF(struct tdm_perf_operation, timed), NS },
	{ NULL, "measured_kernel_ns", OP(kernel_ns), MEASURED },
	{ NULL, "front_ns", OP(front_ns), MEASURED },
	{ NULL, "back_ns", OP(back_ns), MEASURED },
	{ "front", "front_share", OP(front_share), .decimals = 1, .width = 7 },
	{ "back", "back_share", OP(back_share), .decimals = 1, .width = 7 },
	{ "waits for", "waits_for", OP(waits_for), .text = put_side, .before = 1 },
};

#define CALL(member)   TDM_MEMBER(struct tdm_perf_call, member)
#define FIGURE(figure) CALL(figures[TDM_PERF_##figure])
static const struct tdm_column calls[] = {
	{ "Longest waits", "operation", CALL(name), .width = NAME_COLUMNS },
	{ NULL, "line", CALL(line) },
	{ "call", "call", FIGURE(CALL), .width = 9 },
	{ "device", "device", FIGURE(DEVICE), .width = 6 },
	{ "cores", "cores", FIGURE(CORES), .width = 5 },
	{ NULL, "fw_ns", FIGURE(FW) },
	{ "kernel ns", "kernel_ns", FIGURE(KERNEL), NS },
	{ "front ns", "front_ns", FIGURE(FRONT), NS },
	{ "back ns", "back_ns", FIGURE(BACK), NS },
};

void tdm_perf_text(const struct tdm_perf_waits *w, const struct tdm_file_report *file, struct tdm_buf *out)
{
	struct tdm_findings found = { 0 };
	tdm_put_title(out, "Performance", file);
	tdm_buf_printf(out, ": %" PRIu64 " call%s of %zu operation%s\n", w->sum.calls, tdm_plural(w->sum.calls),
		w->operation_count, tdm_plural(w->operation_count));
	tdm_put_cut(out, file);
	tdm_perf_waits_find(w, &found);
	tdm_findings_text(&found, &file->term, out);
	if (!isnan(w->sum.front_share))
		tdm_buf_printf(out,
			"Waits          %.1f%% of the kernels' time for input (front), %.1f%% for room (back)\n"
			"               averages of a core; the report has the sums of all cores\n",
			w->sum.front_share * 100, w->sum.back_share * 100);
	tdm_put_table(out, file, TDM_TABLE_OF(operations, w->operations, w->operation_count));
	tdm_put_table(out, file, TDM_TABLE_OF(calls, w->calls, w->call_count));
}

void tdm_perf_json(const struct tdm_perf_waits *w, const struct tdm_file_report *file, struct tdm_json *json)
{
	tdm_json_put_text(json, "source", "ops_perf_results");
	tdm_json_put_bool(json, "complete", !file->cut);
	tdm_json_put_u64(json, "refused", w->refused);
	tdm_json_put_u64(json, "not_numbers", w->odd);
	tdm_json_put_array(json, "missing_columns");
	for (int i = 0; i < TDM_PERF_FIGURES; i++)
		if (!w->head.has[i])
			tdm_json_text(json, tdm_perf_column((enum tdm_perf_figure)i));
	tdm_json_array_end(json);
	tdm_json_put_table(json, "operations", &TDM_TABLE_OF(operations, w->operations, w->operation_count));
	tdm_json_put_table(json, "longest_waits", &TDM_TABLE_OF(calls, w->calls, tdm_min(w->call_count, file->limit)));
}
