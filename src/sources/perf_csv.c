/*
 * Performance reports of operations (ops_perf_results…csv): one row for each operation on each device. Columns are
 * found by name; if one is missing, or empty in a row, the figure is unknown. A row with figures that contradict each
 * other is refused: no core can wait longer than the kernels run.
 */
#include "base/csv.h"
#include "base/err.h"
#include "sources/format.h"

#include <errno.h>
#include <inttypes.h>

enum { SHOWN = 40 };

struct reading {
	const struct tdm_record_sink *sink;
	struct tdm_csv csv;
	size_t at[TDM_PERF_FIGURES], code, type;
	size_t column_count;
	struct tdm_diag *diag;
};

static bool perf_recognise(struct tdm_str head, const char *path)
{
	static const char code[] = "OP CODE";
	const char *newline = memchr(head.ptr, '\n', head.len);
	size_t line = newline != NULL ? (size_t)(newline - head.ptr) : head.len;
	(void)path;
	/* The order of the columns has changed over time, but there always were operations and times. */
	return memmem(head.ptr, line, code, sizeof code - 1) != NULL && memmem(head.ptr, line, "[ns]", 4) != NULL &&
	       memchr(head.ptr, ',', line) != NULL;
}

/*
 * A whole number, or one with a fraction, which is rounded. The report writes "", "-", "nan" or "None" for an unknown
 * number. 0 with *value set, or TDM_ESYNTAX or -ERANGE.
 */
static int read_number(struct tdm_str text, uint64_t *value)
{
	static const char *const none[] = { "", "-", "nan", "NaN", "None", "N/A" };
	*value = TDM_BYTES_UNKNOWN;
	for (size_t i = 0; i < sizeof none / sizeof *none; i++)
		if (tdm_str_is(text, none[i]))
			return 0;
	const char *point = memchr(text.ptr, '.', text.len);
	size_t whole_len = point != NULL ? (size_t)(point - text.ptr) : text.len;
	uint64_t whole, up = 0;
	int err = tdm_str_parse_u64((struct tdm_str){ text.ptr, whole_len }, &whole);
	for (size_t i = whole_len + 1; err == 0 && i < text.len; i++) {
		if (text.ptr[i] < '0' || text.ptr[i] > '9')
			return TDM_ESYNTAX;
		up |= i == whole_len + 1 && text.ptr[i] >= '5';
	}
	if (err == 0 && whole >= TDM_BYTES_UNKNOWN - 1)
		err = -ERANGE;
	if (err == 0)
		*value = whole + up;
	return err;
}

static int read_header(struct reading *r)
{
	struct tdm_perf_head head;
	r->code = tdm_csv_find(&r->csv, "OP CODE");
	r->type = tdm_csv_find(&r->csv, "OP TYPE");
	r->column_count = r->csv.field_count;
	for (int i = 0; i < TDM_PERF_FIGURES; i++) {
		r->at[i] = tdm_csv_find(&r->csv, tdm_perf_column((enum tdm_perf_figure)i));
		head.has[i] = r->at[i] != SIZE_MAX;
	}
	if (r->code == SIZE_MAX)
		return tdm_diag_set(r->diag, TDM_ECORRUPT, r->csv.line, 0, "no column OP CODE");
	return r->sink->take(r->sink->to, &(struct tdm_record){ TDM_RECORD_PERF_HEAD, .perf = &head });
}

/* Whether the cores waited longer than the kernels ran, on average. Times are rounded to a nanosecond. */
static bool is_beyond(uint64_t wait_ns, uint64_t kernel_ns, uint64_t cores)
{
	bool is_known = wait_ns != TDM_BYTES_UNKNOWN && kernel_ns != TDM_BYTES_UNKNOWN && cores != TDM_BYTES_UNKNOWN;
	return is_known && cores != 0 && wait_ns / cores > kernel_ns + 1;
}

static int check_row(const struct reading *r, const struct tdm_perf_row *row)
{
	static const enum tdm_perf_figure waits[] = { TDM_PERF_FRONT, TDM_PERF_BACK };
	const uint64_t *f = row->figures;
	bool has_waits = f[TDM_PERF_FRONT] != TDM_BYTES_UNKNOWN || f[TDM_PERF_BACK] != TDM_BYTES_UNKNOWN;
	if (f[TDM_PERF_KERNEL] == 0 && has_waits)
		return tdm_diag_set(r->diag, TDM_ESYNTAX, row->line, 0, "%s: 0, but kernels that wait take time",
			tdm_perf_column(TDM_PERF_KERNEL));
	for (size_t i = 0; i < sizeof waits / sizeof *waits; i++)
		if (is_beyond(f[waits[i]], f[TDM_PERF_KERNEL], f[TDM_PERF_CORES]))
			return tdm_diag_set(r->diag, TDM_ESYNTAX, row->line, 0,
				"%s: %" PRIu64 " on each of %" PRIu64 " core%s, longer than the kernels ran: %" PRIu64,
				tdm_perf_column(waits[i]), f[waits[i]] / f[TDM_PERF_CORES], f[TDM_PERF_CORES],
				f[TDM_PERF_CORES] == 1 ? "" : "s", f[TDM_PERF_KERNEL]);
	return 0;
}

static int read_row(struct reading *r)
{
	struct tdm_perf_row row = {
		.line = r->csv.line, .code = tdm_csv_field(&r->csv, r->code), .type = tdm_csv_field(&r->csv, r->type)
	};
	if (r->csv.field_count != r->column_count)
		return tdm_diag_set(r->diag, TDM_ESYNTAX, r->csv.line, 0, "%zu fields, but there are %zu columns",
			r->csv.field_count, r->column_count);
	if (row.code.len == 0)
		return tdm_diag_set(r->diag, TDM_ESYNTAX, r->csv.line, 0, "no OP CODE");
	for (int i = 0; i < TDM_PERF_FIGURES; i++) {
		struct tdm_str text = tdm_csv_field(&r->csv, r->at[i]);
		char shown[SHOWN];
		int err = read_number(text, &row.figures[i]);
		if (err == 0)
			continue;
		tdm_diag_set(r->diag, err, r->csv.line, 0, "%s: %s: '%s'", tdm_perf_column((enum tdm_perf_figure)i),
			err == -ERANGE       ? "a number that is too large"
			: text.ptr[0] == '-' ? "a negative number"
					     : "not a number",
			tdm_str_shown(text, shown, sizeof shown));
		if ((err = tdm_record_refuse(r->sink, r->diag, true)) != 0)
			return err;
	}
	int err = check_row(r, &row);
	return err != 0 ? err : r->sink->take(r->sink->to, &(struct tdm_record){ TDM_RECORD_PERF_ROW, .row = &row });
}

static int read_rows(struct reading *r, const struct tdm_input *input)
{
	for (bool has_header = false;;) {
		int err = tdm_csv_next(&r->csv, r->diag);
		if (err == 0)
			return has_header ? 0 : tdm_diag_set(r->diag, TDM_ECORRUPT, 0, 0, "no column names");
		if (err < 0 && err != TDM_ESYNTAX && err != -EMSGSIZE)
			return tdm_input_failed(input, err, r->csv.again, r->diag);
		if (err == 1) {
			err = has_header ? read_row(r) : read_header(r);
			has_header = true;
		}
		if (err == TDM_ESYNTAX || err == -EMSGSIZE)
			err = tdm_record_refuse(r->sink, r->diag, false);
		if (err != 0)
			return err;
	}
}

static int perf_records(struct tdm_input *input, const struct tdm_record_sink *sink, struct tdm_diag *diag)
{
	struct reading r = { .sink = sink, .diag = diag };
	int err = tdm_csv_open(&r.csv, tdm_input_reader(input));
	err = err != 0 ? tdm_input_failed(input, err, 0, diag) : read_rows(&r, input);
	tdm_csv_done(&r.csv);
	return err;
}

const struct tdm_format tdm_format_perf_csv = {
	.name = "ops_perf_results",
	.summary = "performance report",
	.recognise = perf_recognise,
	.records = perf_records,
};
