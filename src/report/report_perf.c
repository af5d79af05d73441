#include "report/report_perf.h"
#include "base/units.h"
#include "base/map.h"
#include "report/cell.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { NAME_COLUMNS = 34 };

static bool is_measured(const struct tdm_perf_row *row)
{
	return row->figures[TDM_PERF_KERNEL] != TDM_PERF_UNKNOWN && row->figures[TDM_PERF_FRONT] != TDM_PERF_UNKNOWN &&
	       row->figures[TDM_PERF_BACK] != TDM_PERF_UNKNOWN;
}

/* Marks that a user put into the run have rows, too. */
static bool is_mark(const struct tdm_perf_csv *perf, const struct tdm_perf_row *row)
{
	return strcmp(tdm_perf_text(perf, row->type), "signpost") == 0;
}

static uint64_t waits(uint64_t front, uint64_t back)
{
	return tdm_plus(front, back);
}

static int compare_operations(const void *left, const void *right)
{
	const struct tdm_perf_operation *a = left, *b = right;
	uint64_t x = waits(a->front_ns, a->back_ns), y = waits(b->front_ns, b->back_ns);
	if (x != y)
		return x > y ? -1 : 1;
	if (a->kernel_ns != b->kernel_ns)
		return a->kernel_ns > b->kernel_ns ? -1 : 1;
	return a->code < b->code ? -1 : a->code > b->code;
}

static void add_row(struct tdm_perf_operation *op, const struct tdm_perf_row *row)
{
	uint64_t cores = row->figures[TDM_PERF_CORES];
	op->calls++;
	if (cores != TDM_PERF_UNKNOWN && (op->cores_max == TDM_PERF_UNKNOWN || cores > op->cores_max))
		op->cores_max = cores;
	if (!is_measured(row))
		return;
	op->measured++;
	op->kernel_ns = tdm_plus(op->kernel_ns, row->figures[TDM_PERF_KERNEL]);
	op->front_ns = tdm_plus(op->front_ns, row->figures[TDM_PERF_FRONT]);
	op->back_ns = tdm_plus(op->back_ns, row->figures[TDM_PERF_BACK]);
}

struct tdm_perf_operation *tdm_perf_operations(const struct tdm_perf_csv *perf, size_t *count)
{
	struct tdm_map by_code;
	struct tdm_perf_operation *all = calloc(perf->row_count != 0 ? perf->row_count : 1, sizeof *all);
	*count = 0;
	if (all == NULL || tdm_map_init(&by_code) != 0) {
		free(all);
		return NULL;
	}
	for (size_t i = 0; i < perf->row_count; i++) {
		const struct tdm_perf_row *row = &perf->rows[i];
		if (is_mark(perf, row))
			continue;
		uint32_t index = tdm_map_find(&by_code, row->code);
		if (index == TDM_MAP_NONE) {
			index = (uint32_t)*count;
			if (tdm_map_put(&by_code, row->code, index) != 0)
				goto fail;
			all[(*count)++] =
				(struct tdm_perf_operation){ .code = row->code, .cores_max = TDM_PERF_UNKNOWN };
		}
		add_row(&all[index], row);
	}
	tdm_map_done(&by_code);
	if (*count != 0)
		qsort(all, *count, sizeof *all, compare_operations);
	return all;
fail:
	tdm_map_done(&by_code);
	free(all);
	*count = 0;
	return NULL;
}

static double share(uint64_t part, uint64_t whole)
{
	return whole != 0 ? (double)part / (double)whole : NAN;
}

static void put_share(struct tdm_buf *out, double value)
{
	if (isnan(value))
		tdm_buf_printf(out, " %7s", "-");
	else
		tdm_buf_printf(out, " %6.1f%%", value * 100);
}

/* Which side an operation waits for. */
static const char *side(uint64_t front, uint64_t back)
{
	return front == 0 && back == 0 ? "nothing" : front >= back ? "input" : "room";
}

static void put_ns(struct tdm_buf *out, uint64_t ns)
{
	char text[TDM_BYTES_CAP];
	tdm_buf_printf(out, " %13s", ns != TDM_PERF_UNKNOWN ? tdm_format_count(text, sizeof text, ns) : "unknown");
}

static void put_operations(
	const struct tdm_perf_view *v, const struct tdm_perf_operation *all, size_t count, struct tdm_buf *out)
{
	tdm_put_heading(out, &v->file.term,
		"Operation                             calls     kernel ns   front    back  waits for");
	for (size_t i = 0; i < count && i < v->file.limit; i++) {
		const struct tdm_perf_operation *op = &all[i];
		size_t used = tdm_cell_put(
			out, tdm_str_of(tdm_perf_text(v->perf, op->code)), NAME_COLUMNS, v->file.term.utf8);
		tdm_buf_fill(out, ' ', NAME_COLUMNS - used);
		tdm_buf_printf(out, " %8" PRIu64, op->calls);
		put_ns(out, op->measured != 0 ? op->kernel_ns : TDM_PERF_UNKNOWN);
		put_share(out, op->measured != 0 ? share(op->front_ns, op->kernel_ns) : NAN);
		put_share(out, op->measured != 0 ? share(op->back_ns, op->kernel_ns) : NAN);
		tdm_buf_printf(out, "  %s", op->measured != 0 ? side(op->front_ns, op->back_ns) : "unknown");
		if (op->measured != 0 && op->measured != op->calls)
			tdm_buf_printf(out, " (%" PRIu64 " measured)", op->measured);
		tdm_buf_putc(out, '\n');
	}
	tdm_put_rest(out, count, v->file.limit);
}

static int compare_rows(const void *left, const void *right)
{
	const struct tdm_perf_row *a = *(const struct tdm_perf_row *const *)left;
	const struct tdm_perf_row *b = *(const struct tdm_perf_row *const *)right;
	uint64_t x = waits(a->figures[TDM_PERF_FRONT], a->figures[TDM_PERF_BACK]);
	uint64_t y = waits(b->figures[TDM_PERF_FRONT], b->figures[TDM_PERF_BACK]);
	if (x != y)
		return x > y ? -1 : 1;
	return a->line < b->line ? -1 : a->line > b->line;
}

/* The calls that waited longest. Owned by the caller; NULL: none, or no memory. */
static const struct tdm_perf_row **top_rows(const struct tdm_perf_csv *perf, size_t *count)
{
	const struct tdm_perf_row **rows = calloc(perf->row_count != 0 ? perf->row_count : 1, sizeof *rows);
	*count = 0;
	for (size_t i = 0; rows != NULL && i < perf->row_count; i++)
		if (is_measured(&perf->rows[i]) && !is_mark(perf, &perf->rows[i]) &&
			waits(perf->rows[i].figures[TDM_PERF_FRONT], perf->rows[i].figures[TDM_PERF_BACK]) != 0)
			rows[(*count)++] = &perf->rows[i];
	if (*count != 0)
		qsort(rows, *count, sizeof *rows, compare_rows);
	return rows;
}

static void put_figure(struct tdm_buf *out, int columns, uint64_t value)
{
	if (value != TDM_PERF_UNKNOWN)
		tdm_buf_printf(out, " %*" PRIu64, columns, value);
	else
		tdm_buf_printf(out, " %*s", columns, "-");
}

static void put_rows(const struct tdm_perf_view *v, struct tdm_buf *out)
{
	size_t count;
	const struct tdm_perf_row **rows = top_rows(v->perf, &count);
	out->failed |= rows == NULL;
	if (count != 0)
		tdm_put_heading(out, &v->file.term,
			"Longest waits                           call device cores     kernel ns      front ns       "
			"back ns");
	for (size_t i = 0; i < count && i < v->file.limit; i++) {
		const struct tdm_perf_row *row = rows[i];
		size_t used = tdm_cell_put(
			out, tdm_str_of(tdm_perf_text(v->perf, row->code)), NAME_COLUMNS, v->file.term.utf8);
		tdm_buf_fill(out, ' ', NAME_COLUMNS - used);
		put_figure(out, 9, row->figures[TDM_PERF_CALL]);
		put_figure(out, 6, row->figures[TDM_PERF_DEVICE]);
		put_figure(out, 5, row->figures[TDM_PERF_CORES]);
		put_ns(out, row->figures[TDM_PERF_KERNEL]);
		put_ns(out, row->figures[TDM_PERF_FRONT]);
		put_ns(out, row->figures[TDM_PERF_BACK]);
		tdm_buf_putc(out, '\n');
	}
	tdm_put_rest(out, count, v->file.limit);
	free(rows);
}

static void put_missing(const struct tdm_perf_view *v, struct tdm_buf *out)
{
	for (int i = 0; i < TDM_PERF_FIGURES; i++)
		if (!v->perf->has_column[i])
			tdm_buf_printf(out, "Unknown        there is no column %s\n",
				tdm_perf_column((enum tdm_perf_figure)i));
}

static struct tdm_perf_operation sum_all(const struct tdm_perf_operation *all, size_t count)
{
	struct tdm_perf_operation sum = { 0 };
	for (size_t i = 0; i < count; i++) {
		sum.calls += all[i].calls;
		sum.measured += all[i].measured;
		sum.kernel_ns = tdm_plus(sum.kernel_ns, all[i].kernel_ns);
		sum.front_ns = tdm_plus(sum.front_ns, all[i].front_ns);
		sum.back_ns = tdm_plus(sum.back_ns, all[i].back_ns);
	}
	return sum;
}

void tdm_perf_view_text(const struct tdm_perf_view *v, struct tdm_buf *out)
{
	size_t count;
	struct tdm_perf_operation *all = tdm_perf_operations(v->perf, &count);
	if (all == NULL) {
		out->failed = true;
		return;
	}
	struct tdm_perf_operation sum = sum_all(all, count);
	tdm_buf_puts(out, "Performance    ");
	tdm_cell_put(out, tdm_str_of(v->file.path), 0, v->file.term.utf8);
	tdm_buf_printf(out, ": %" PRIu64 " call%s of %zu operation%s\n", sum.calls, tdm_plural(sum.calls), count,
		tdm_plural(count));
	tdm_put_cut(out, &v->file);
	put_missing(v, out);
	if (sum.measured != 0 && sum.kernel_ns != 0) {
		tdm_buf_printf(out,
			"Waits          %.1f%% of the kernels' time for input (front), %.1f%% for room (back)\n"
			"               averages of a core; the report has the sums of all cores\n",
			share(sum.front_ns, sum.kernel_ns) * 100, share(sum.back_ns, sum.kernel_ns) * 100);
	} else if (sum.calls != 0) {
		tdm_buf_puts(out, "Waits          unknown: no call has kernel time and both waits\n");
	}
	if (count != 0)
		put_operations(v, all, count, out);
	put_rows(v, out);
	free(all);
}

static void json_row(const struct tdm_perf_view *v, const struct tdm_perf_row *row, struct tdm_json *json)
{
	tdm_json_object(json);
	tdm_json_put_text(json, "operation", tdm_perf_text(v->perf, row->code));
	tdm_json_put_u64(json, "line", row->line);
	for (int i = 0; i < TDM_PERF_FIGURES; i++)
		tdm_json_put_bytes(json, tdm_perf_key((enum tdm_perf_figure)i), row->figures[i]);
	tdm_json_object_end(json);
}

void tdm_perf_view_json(const struct tdm_perf_view *v, struct tdm_json *json)
{
	size_t count, top;
	struct tdm_perf_operation *all = tdm_perf_operations(v->perf, &count);
	const struct tdm_perf_row **rows = top_rows(v->perf, &top);
	json->out->failed |= all == NULL || rows == NULL;
	tdm_json_put_text(json, "source", "ops_perf_results");
	tdm_json_put_bool(json, "complete", !v->file.cut);
	tdm_json_put_u64(json, "refused", v->perf->refused);
	tdm_json_put_u64(json, "not_numbers", v->perf->odd);
	tdm_json_put_array(json, "missing_columns");
	for (int i = 0; i < TDM_PERF_FIGURES; i++)
		if (!v->perf->has_column[i])
			tdm_json_text(json, tdm_perf_column((enum tdm_perf_figure)i));
	tdm_json_array_end(json);
	tdm_json_put_array(json, "operations");
	for (size_t i = 0; all != NULL && i < count; i++) {
		const struct tdm_perf_operation *op = &all[i];
		bool known = op->measured != 0;
		tdm_json_object(json);
		tdm_json_put_text(json, "operation", tdm_perf_text(v->perf, op->code));
		tdm_json_put_u64(json, "calls", op->calls);
		tdm_json_put_u64(json, "measured_calls", op->measured);
		tdm_json_put_bytes(json, "cores_max", op->cores_max);
		tdm_json_put_bytes(json, "kernel_ns", known ? op->kernel_ns : TDM_BYTES_UNKNOWN);
		tdm_json_put_bytes(json, "front_ns", known ? op->front_ns : TDM_BYTES_UNKNOWN);
		tdm_json_put_bytes(json, "back_ns", known ? op->back_ns : TDM_BYTES_UNKNOWN);
		tdm_json_put_double(json, "front_share", known ? share(op->front_ns, op->kernel_ns) : NAN);
		tdm_json_put_double(json, "back_share", known ? share(op->back_ns, op->kernel_ns) : NAN);
		tdm_json_put_text(json, "waits_for", known ? side(op->front_ns, op->back_ns) : NULL);
		tdm_json_object_end(json);
	}
	tdm_json_array_end(json);
	tdm_json_put_array(json, "longest_waits");
	for (size_t i = 0; rows != NULL && i < top && i < v->file.limit; i++)
		json_row(v, rows[i], json);
	tdm_json_array_end(json);
	free(all);
	free(rows);
}
