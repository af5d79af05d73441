#include "report/report_perf.h"
#include "report/cell.h"

#include <inttypes.h>
#include <math.h>

enum { NAME_COLUMNS = 34 };

static void put_name(const char *name, const struct tdm_file_report *file, struct tdm_buf *out)
{
	size_t used = tdm_cell_put(out, tdm_str_of(name), NAME_COLUMNS, file->term.utf8);
	tdm_buf_fill(out, ' ', NAME_COLUMNS - used);
}

static void put_share(struct tdm_buf *out, double value)
{
	if (isnan(value))
		tdm_buf_printf(out, " %7s", "-");
	else
		tdm_buf_printf(out, " %6.1f%%", value * 100);
}

static void put_ns(struct tdm_buf *out, uint64_t ns)
{
	char text[TDM_BYTES_CAP];
	tdm_buf_printf(out, " %13s", tdm_format_count(text, sizeof text, ns));
}

static void put_figure(struct tdm_buf *out, int columns, uint64_t value)
{
	if (value != TDM_BYTES_UNKNOWN)
		tdm_buf_printf(out, " %*" PRIu64, columns, value);
	else
		tdm_buf_printf(out, " %*s", columns, "-");
}

static void put_operations(const struct tdm_perf_waits *w, const struct tdm_file_report *file, struct tdm_buf *out)
{
	tdm_put_heading(out, &file->term,
		"Operation                             calls     kernel ns   front    back  waits for");
	for (size_t i = 0; i < w->operation_count && i < file->limit; i++) {
		const struct tdm_perf_operation *op = &w->operations[i];
		const char *side = tdm_perf_side(op);
		put_name(op->name, file, out);
		tdm_buf_printf(out, " %8" PRIu64, op->calls);
		put_ns(out, op->measured != 0 ? op->kernel_ns : TDM_BYTES_UNKNOWN);
		put_share(out, tdm_perf_share(op, op->front_ns));
		put_share(out, tdm_perf_share(op, op->back_ns));
		tdm_buf_printf(out, "  %s", side != NULL ? side : "unknown");
		if (op->measured != 0 && op->measured != op->calls)
			tdm_buf_printf(out, " (%" PRIu64 " measured)", op->measured);
		tdm_buf_putc(out, '\n');
	}
	tdm_put_rest(out, w->operation_count, file->limit);
}

static void put_calls(const struct tdm_perf_waits *w, const struct tdm_file_report *file, struct tdm_buf *out)
{
	tdm_put_heading(out, &file->term,
		"Longest waits                           call device cores     kernel ns      front ns       back ns");
	for (size_t i = 0; i < w->call_count && i < file->limit; i++) {
		const struct tdm_perf_call *call = &w->calls[i];
		put_name(call->name, file, out);
		put_figure(out, 9, call->figures[TDM_PERF_CALL]);
		put_figure(out, 6, call->figures[TDM_PERF_DEVICE]);
		put_figure(out, 5, call->figures[TDM_PERF_CORES]);
		put_ns(out, call->figures[TDM_PERF_KERNEL]);
		put_ns(out, call->figures[TDM_PERF_FRONT]);
		put_ns(out, call->figures[TDM_PERF_BACK]);
		tdm_buf_putc(out, '\n');
	}
	tdm_put_rest(out, w->call_count, file->limit);
}

void tdm_perf_text(const struct tdm_perf_waits *w, const struct tdm_file_report *file, struct tdm_buf *out)
{
	double front = tdm_perf_share(&w->sum, w->sum.front_ns), back = tdm_perf_share(&w->sum, w->sum.back_ns);
	tdm_put_title(out, "Performance", file);
	tdm_buf_printf(out, ": %" PRIu64 " call%s of %zu operation%s\n", w->sum.calls, tdm_plural(w->sum.calls),
		w->operation_count, tdm_plural(w->operation_count));
	tdm_put_cut(out, file);
	for (int i = 0; i < TDM_PERF_FIGURES; i++)
		if (!w->head.has[i])
			tdm_buf_printf(out, "Unknown        there is no column %s\n",
				tdm_perf_column((enum tdm_perf_figure)i));
	if (!isnan(front))
		tdm_buf_printf(out,
			"Waits          %.1f%% of the kernels' time for input (front), %.1f%% for room (back)\n"
			"               averages of a core; the report has the sums of all cores\n",
			front * 100, back * 100);
	else if (w->sum.calls != 0)
		tdm_buf_puts(out, "Waits          unknown: no call has kernel time and both waits\n");
	if (w->operation_count != 0)
		put_operations(w, file, out);
	if (w->call_count != 0)
		put_calls(w, file, out);
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
	tdm_json_put_array(json, "operations");
	for (size_t i = 0; i < w->operation_count; i++) {
		const struct tdm_perf_operation *op = &w->operations[i];
		bool known = op->measured != 0;
		tdm_json_object(json);
		tdm_json_put_text(json, "operation", op->name);
		tdm_json_put_u64(json, "calls", op->calls);
		tdm_json_put_u64(json, "measured_calls", op->measured);
		tdm_json_put_bytes(json, "cores_max", op->cores_max);
		tdm_json_put_known(json, "kernel_ns", known, op->kernel_ns);
		tdm_json_put_known(json, "front_ns", known, op->front_ns);
		tdm_json_put_known(json, "back_ns", known, op->back_ns);
		tdm_json_put_double(json, "front_share", tdm_perf_share(op, op->front_ns));
		tdm_json_put_double(json, "back_share", tdm_perf_share(op, op->back_ns));
		tdm_json_put_text(json, "waits_for", tdm_perf_side(op));
		tdm_json_object_end(json);
	}
	tdm_json_array_end(json);
	tdm_json_put_array(json, "longest_waits");
	for (size_t i = 0; i < w->call_count && i < file->limit; i++) {
		tdm_json_object(json);
		tdm_json_put_text(json, "operation", w->calls[i].name);
		tdm_json_put_u64(json, "line", w->calls[i].line);
		for (int k = 0; k < TDM_PERF_FIGURES; k++)
			tdm_json_put_bytes(json, tdm_perf_key((enum tdm_perf_figure)k), w->calls[i].figures[k]);
		tdm_json_object_end(json);
	}
	tdm_json_array_end(json);
}
