#include "analyze/perf_waits.h"
#include "analyze/finding.h"
#include "base/reserve.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

enum { CALLS_MAX = 1 << 26 };

int tdm_perf_waits_init(struct tdm_perf_waits *w)
{
	*w = (struct tdm_perf_waits){ 0 };
	return tdm_names_init(&w->names);
}

void tdm_perf_waits_done(struct tdm_perf_waits *w)
{
	for (size_t i = 0; i < w->operation_count; i++)
		free(w->operations[i].name);
	free(w->operations);
	free(w->calls);
	tdm_names_done(&w->names);
	*w = (struct tdm_perf_waits){ 0 };
}

/* The index of an operation, created if new; or -ENOMEM. */
static int64_t operation_of(struct tdm_perf_waits *w, struct tdm_str code)
{
	char shown[TDM_NAME_MAX + 1];
	code = tdm_str_of(tdm_str_shown(code, shown, sizeof shown));
	uint32_t slot = tdm_names_find(&w->names, code);
	if (slot != TDM_NAME_NONE)
		return (int64_t)*tdm_names_number(&w->names, slot);
	size_t count = w->operation_count;
	if (tdm_reserve(&w->operations, &w->operation_cap, count + 1, sizeof *w->operations) != 0 ||
		tdm_names_add(&w->names, code, &slot) != 0)
		return -ENOMEM;
	char *name = strdup(shown);
	if (name == NULL)
		return -ENOMEM;
	*tdm_names_number(&w->names, slot) = count;
	w->operations[w->operation_count++] =
		(struct tdm_perf_operation){ .name = name, .order = (uint32_t)count, .cores_max = TDM_BYTES_UNKNOWN };
	return (int64_t)count;
}

/* The wait of one core, from the sum of all. */
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

static uint64_t waits_of(const struct tdm_perf_call *call)
{
	return tdm_plus(call->figures[TDM_PERF_FRONT], call->figures[TDM_PERF_BACK]);
}

static int take_row(struct tdm_perf_waits *w, const struct tdm_perf_row *row)
{
	if (tdm_str_is(row->type, "signpost")) /* a mark that the user put into the run */
		return 0;
	int64_t operation = operation_of(w, row->code);
	if (operation < 0)
		return (int)operation;
	struct tdm_perf_operation *op = &w->operations[operation];
	struct tdm_perf_call call = { .operation = (uint32_t)operation, .line = row->line };
	memcpy(call.figures, row->figures, sizeof call.figures);
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
		return 0;
	add(op, kernel, *front, *back);
	add(&w->sum, kernel, *front, *back);
	if (waits_of(&call) == 0)
		return 0;
	if (w->call_count == CALLS_MAX ||
		tdm_reserve(&w->calls, &w->call_cap, w->call_count + 1, sizeof *w->calls) != 0)
		return -ENOMEM;
	w->calls[w->call_count++] = call;
	return 0;
}

int tdm_perf_waits_take(void *waits, const struct tdm_record *record)
{
	struct tdm_perf_waits *w = waits;
	switch (record->type) {
	case TDM_RECORD_PERF_HEAD:
		w->head = *record->perf;
		return 0;
	case TDM_RECORD_PERF_ROW:
		return take_row(w, record->row);
	case TDM_RECORD_REFUSED:
		*(record->is_part ? &w->odd : &w->refused) += 1;
		return 0;
	default:
		return 0;
	}
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
	const struct tdm_perf_call *a = left, *b = right;
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

void tdm_perf_waits_end(struct tdm_perf_waits *w)
{
	settle(&w->sum);
	for (size_t i = 0; i < w->operation_count; i++)
		settle(&w->operations[i]);
	for (size_t i = 0; i < w->call_count; i++)
		w->calls[i].name = w->operations[w->calls[i].operation].name;
	if (w->call_count != 0)
		qsort(w->calls, w->call_count, sizeof *w->calls, compare_calls);
	if (w->operation_count != 0)
		qsort(w->operations, w->operation_count, sizeof *w->operations, compare_operations);
}

void tdm_perf_waits_find(const struct tdm_perf_waits *w, struct tdm_findings *found)
{
	for (int i = 0; i < TDM_PERF_FIGURES; i++)
		if (!w->head.has[i]) {
			tdm_findings_remark(found, TDM_FINDING_INFO, "missing_column", "Unknown");
			tdm_findings_say(found, "there is no column %s", tdm_perf_column((enum tdm_perf_figure)i));
		}
	if (!isnan(w->sum.front_share) || w->sum.calls == 0)
		return;
	tdm_findings_remark(found, TDM_FINDING_INFO, "unknown_waits", "Waits");
	tdm_findings_say(found, "unknown: no call has kernel time and both waits. The profiler measures waits if "
				"TT_METAL_PROFILER_SUM=1 is set while the program runs");
}
