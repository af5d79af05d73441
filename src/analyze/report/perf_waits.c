#include "analyze/report/perf_waits.h"
#include "analyze/report/report_analyser.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>

void tdm_perf_waits_done(void *waits)
{
	struct tdm_perf_waits *w = waits;
	for (size_t i = 0; i < w->operation_count; i++)
		free(w->operations[i].name);
	free(w->operations);
	free(w->calls);
	tdm_names_done(&w->names);
	*w = (struct tdm_perf_waits){ 0 };
}

/* The index of an operation, added if new. */
static uint32_t operation_of(struct tdm_perf_waits *w, struct tdm_str code)
{
	char shown[TDM_NAME_MAX + 1];
	code = tdm_str_of(tdm_str_shown(code, shown, sizeof shown));
	uint32_t slot = tdm_names_find(&w->names, code);
	if (slot != TDM_NAME_NONE)
		return (uint32_t)*tdm_names_number(&w->names, slot);
	size_t count = w->operation_count;
	tdm_grow(&w->operations, &w->operation_cap, count + 1, sizeof *w->operations);
	tdm_names_add(&w->names, code, &slot);
	*tdm_names_number(&w->names, slot) = count;
	w->operations[w->operation_count++] = (struct tdm_perf_operation){
		.name = tdm_strdup(shown), .order = (uint32_t)count, .cores_max = TDM_BYTES_UNKNOWN
	};
	return (uint32_t)count;
}

/* The average wait per core, from the sum over all cores. */
static uint64_t average(uint64_t ns, uint64_t cores)
{
	if (ns == TDM_BYTES_UNKNOWN || ns == 0)
		return ns;
	if (cores == TDM_BYTES_UNKNOWN || cores == 0)
		return TDM_BYTES_UNKNOWN;
	return ns / cores + (ns % cores >= cores - cores / 2);
}

static void add(struct tdm_perf_operation *op, uint64_t kernel, uint64_t front, uint64_t back)
{
	op->measured++;
	op->kernel_ns = tdm_plus(op->kernel_ns, kernel);
	op->front_ns = tdm_plus(op->front_ns, front);
	op->back_ns = tdm_plus(op->back_ns, back);
}

static uint64_t waits_of(const struct tdm_perf_row *call)
{
	return tdm_plus(call->figures[TDM_PERF_FRONT], call->figures[TDM_PERF_BACK]);
}

static void take_row(struct tdm_perf_waits *w, const struct tdm_perf_row *row)
{
	if (tdm_str_is(row->type, "signpost")) /* a mark inserted into the run by the user */
		return;
	uint32_t operation = operation_of(w, row->code);
	struct tdm_perf_operation *op = &w->operations[operation];
	struct tdm_perf_row call = *row;
	call.code = tdm_str_of(op->name);
	uint64_t cores = call.figures[TDM_PERF_CORES], kernel = call.figures[TDM_PERF_KERNEL];
	uint64_t *front = &call.figures[TDM_PERF_FRONT], *back = &call.figures[TDM_PERF_BACK];
	*front = average(*front, cores);
	*back = average(*back, cores);
	op->calls++;
	w->sum.calls++;
	if (cores != TDM_BYTES_UNKNOWN && (op->cores_max == TDM_BYTES_UNKNOWN || cores > op->cores_max))
		op->cores_max = cores;
	if (kernel != TDM_BYTES_UNKNOWN) {
		op->timed++;
		op->timed_ns = tdm_plus(op->timed_ns, kernel);
	}
	if (kernel == TDM_BYTES_UNKNOWN || *front == TDM_BYTES_UNKNOWN || *back == TDM_BYTES_UNKNOWN)
		return;
	add(op, kernel, *front, *back);
	add(&w->sum, kernel, *front, *back);
	if (waits_of(&call) == 0)
		return;
	tdm_grow(&w->calls, &w->call_cap, w->call_count + 1, sizeof *w->calls);
	w->calls[w->call_count++] = call;
}

int tdm_perf_waits_take(void *waits, const struct tdm_record *record)
{
	struct tdm_perf_waits *w = waits;
	if (record->type == TDM_RECORD_PERF_HEAD)
		w->head = *record->perf;
	else if (record->type == TDM_RECORD_PERF_ROW)
		take_row(w, record->row);
	else if (record->type == TDM_RECORD_REFUSED)
		*(record->is_part ? &w->odd : &w->refused) += 1;
	return 0;
}

static int compare_operations(const void *left, const void *right)
{
	const struct tdm_perf_operation *a = left, *b = right;
	int order = tdm_order(tdm_plus(b->front_ns, b->back_ns), tdm_plus(a->front_ns, a->back_ns));
	order = order != 0 ? order : tdm_order(b->kernel_ns, a->kernel_ns);
	order = order != 0 ? order : tdm_order(b->timed_ns, a->timed_ns);
	return order != 0 ? order : tdm_order(a->order, b->order);
}

static int compare_calls(const void *left, const void *right)
{
	const struct tdm_perf_row *a = left, *b = right;
	int order = tdm_order(waits_of(b), waits_of(a));
	return order != 0 ? order : tdm_order(a->line, b->line);
}

static void settle(struct tdm_perf_operation *op)
{
	op->front_share = tdm_share(op->front_ns, op->kernel_ns);
	op->back_share = tdm_share(op->back_ns, op->kernel_ns);
	op->waits_for = op->measured == 0                       ? NULL
			: op->front_ns == 0 && op->back_ns == 0 ? "nothing"
			: op->front_ns >= op->back_ns           ? "input"
								: "room";
}

void tdm_perf_waits_end(void *waits)
{
	struct tdm_perf_waits *w = waits;
	settle(&w->sum);
	for (size_t i = 0; i < w->operation_count; i++)
		settle(&w->operations[i]);
	if (w->call_count != 0)
		qsort(w->calls, w->call_count, sizeof *w->calls, compare_calls);
	if (w->operation_count != 0)
		qsort(w->operations, w->operation_count, sizeof *w->operations, compare_operations);
}

/* ---- the result ---- */

enum { NAME_COLUMNS = 34 };

#define OP(member) TDM_MEMBER(struct tdm_perf_operation, member)
#define MEASURED   TDM_KNOWN_IF(struct tdm_perf_operation, measured)
#define TIMED      TDM_KNOWN_IF(struct tdm_perf_operation, timed)
static const struct tdm_column operations[] = {
	{ "Operation", "operation", OP(name), .width = NAME_COLUMNS },
	{ "calls", "calls", OP(calls), TDM_COUNT(0) },
	{ "measured", "measured_calls", OP(measured), TDM_COUNT(0) },
	{ NULL, "cores_max", OP(cores_max) },
	{ NULL, "timed_calls", OP(timed) },
	{ "kernel ns", "kernel_ns", OP(timed_ns), TIMED, TDM_COUNT(0), .unknown = "unknown" },
	{ NULL, "measured_kernel_ns", OP(kernel_ns), MEASURED },
	{ NULL, "front_ns", OP(front_ns), MEASURED },
	{ NULL, "back_ns", OP(back_ns), MEASURED },
	{ "front", "front_share", OP(front_share), .decimals = 1 },
	{ "back", "back_share", OP(back_share), .decimals = 1 },
	{ "waits for", "waits_for", OP(waits_for), .unknown = "unknown" },
};

#define FIGURE(figure) TDM_MEMBER(struct tdm_perf_row, figures[TDM_PERF_##figure])
static const struct tdm_column calls[] = {
	{ "Longest waits", "operation", TDM_MEMBER(struct tdm_perf_row, code), .width = NAME_COLUMNS },
	{ NULL, "line", TDM_MEMBER(struct tdm_perf_row, line) },
	{ "call", "call", FIGURE(CALL) },
	{ "device", "device", FIGURE(DEVICE) },
	{ "cores", "cores", FIGURE(CORES) },
	{ NULL, "fw_ns", FIGURE(FW) },
	{ "kernel ns", "kernel_ns", FIGURE(KERNEL), TDM_COUNT(0), .unknown = "unknown" },
	{ "front ns", "front_ns", FIGURE(FRONT), TDM_COUNT(0) },
	{ "back ns", "back_ns", FIGURE(BACK), TDM_COUNT(0) },
};

/* Reports figures missing from the report. */
static void add_findings(struct tdm_block *in, const struct tdm_perf_waits *w)
{
	struct tdm_findings found = { 0 };
	struct tdm_value *missing = tdm_result_alloc(in->result, TDM_PERF_FIGURES, sizeof *missing);
	size_t count = 0;
	for (int i = 0; i < TDM_PERF_FIGURES; i++) {
		if (w->head.figures[i] != 0)
			continue;
		missing[count] = tdm_value_text(tdm_perf_column((enum tdm_perf_figure)i));
		tdm_findings_add(&found, TDM_FAMILY_CAPTURE, "missing_column", TDM_FINDING_INFO)->pattern =
			"there is no column {column}";
		tdm_findings_value(&found, "column", missing[count++]);
	}
	if (isnan(w->sum.front_share) && w->sum.calls != 0)
		tdm_findings_add(&found, TDM_FAMILY_CAPTURE, "unknown_waits", TDM_FINDING_INFO)->pattern =
			"waits are unknown: no call has kernel time and both waits. The profiler measures waits if "
			"TT_METAL_PROFILER_SUM=1 is set while the program runs";
	tdm_data_all(in, TDM_VALUES({ "not_numbers", tdm_value_count(w->odd) },
				 { "missing_columns", tdm_value_list(missing, count) }));
	tdm_add_findings(in, "findings", NULL, &found);
}

static struct tdm_value share_of(double share)
{
	struct tdm_value value = tdm_value_share(share);
	value.decimals = 1;
	return value;
}

static bool show(void *waits, const struct tdm_intake *reading, size_t limit, struct tdm_block *in)
{
	const struct tdm_perf_waits *w = waits;
	struct tdm_table all = TDM_FITTED(operations, w->operations, w->operation_count),
			 longest = TDM_FITTED(calls, w->calls, w->call_count);
	all.limit = longest.limit = limit;
	all.is_whole_in_data = true;
	tdm_line(in, "Performance", "{_file}: {call_count/call/calls} of {operation_count/operation/operations}",
		TDM_VALUES({ "_file", tdm_value_text(tdm_input_name(reading->input)) },
			{ "call_count", tdm_value_count(w->sum.calls) },
			{ "operation_count", tdm_value_count(w->operation_count) }));
	tdm_report_head(in, reading, "ops_perf_results", w->refused);
	tdm_line(in, "Waits",
		"{front_share} of the kernels' time for input (front), {back_share} for room (back): averages of a "
		"core; the report has the sums of all cores",
		TDM_VALUES(
			{ "front_share", share_of(w->sum.front_share) }, { "back_share", share_of(w->sum.back_share) }))
		->is_data_only = isnan(w->sum.front_share);
	add_findings(in, w);
	tdm_add_table(in, "operations", NULL, all);
	tdm_add_table(in, "longest_waits", NULL, longest);
	return true;
}

const struct tdm_report_analyser tdm_perf_report = { "ops_perf_results", NULL, sizeof(struct tdm_perf_waits), NULL,
	tdm_perf_waits_take, tdm_perf_waits_end, show, tdm_perf_waits_done };
