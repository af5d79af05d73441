/*
 * Reads reports in comma-separated values: the runtime's memory reports and its performance report.
 *
 * A memory report consists of three files whose names begin alike.
 *
 *     …memory_usage_summary.csv    four figures per kind of memory, for one bank
 *     …l1_usage_summary.csv        the largest free block of L1, in one bank and in all banks
 *     …detailed_memory_usage.csv   totals of all banks, and every block of one bank
 *
 * Each file contains one state of the memory (a dump), or one state for each compiled program. docs/formats/reports.md
 * describes all forms, including older ones. The banks of a kind are in lockstep, so the figures of one bank hold for
 * all.
 *
 * A performance report (ops_perf_results…csv) has one row for each operation on each device. Columns are found by name;
 * if one is missing, or empty in a row, the figure is unknown. A row with contradictory figures is refused, for example
 * if cores waited longer than the kernels ran.
 */
#include "base/csv.h"
#include "base/err.h"
#include "base/pattern.h"
#include "input/door/format.h"

#include <errno.h>
#include <inttypes.h>

enum { KIB = 1024, SHOWN = 40 };

enum table { TABLE_NONE, TABLE_WORDS, TABLE_FIELDS };

struct reading {
	const struct tdm_record_sink *sink;
	struct tdm_csv csv;
	struct tdm_diag *diag;
	bool has_header;
	/* For a memory report: */
	struct tdm_memory_region head;
	uint64_t unit, block_unit;       /* number of bytes per unit, in figures and in blocks */
	uint8_t table;                   /* enum table: which rows may follow */
	size_t state_regions;            /* regions in the open state; 0 if no state is open */
	unsigned state_kinds;            /* bit mask of those regions' kinds */
	struct tdm_memory_region region; /* region in a detailed file whose lines are being read */
	bool has_region;
	/* For a performance report: */
	size_t at[TDM_PERF_FIGURES], code, type; /* column numbers */
	size_t column_count;
};

static int push(const struct reading *r, struct tdm_record record)
{
	return r->sink->take(r->sink->to, &record);
}

static struct tdm_str field(const struct reading *r, size_t index)
{
	return tdm_csv_field(&r->csv, index);
}

static int refuse_text(struct reading *r, struct tdm_str text, const char *what)
{
	char shown[SHOWN];
	return tdm_diag_set(
		r->diag, TDM_ESYNTAX, r->csv.line, 0, "%s: '%s'", what, tdm_str_shown(text, shown, sizeof shown));
}

static int refuse(struct reading *r, size_t index, const char *what)
{
	return refuse_text(r, field(r, index), what);
}

/* Passes every row to `take`, and refuses unusable rows. */
static int read_rows(struct reading *r, struct tdm_input *input, int (*take)(struct reading *r))
{
	tdm_csv_open(&r->csv, tdm_input_reader(input));
	for (int err;;) {
		err = tdm_csv_next(&r->csv, r->diag);
		if (err == 0)
			return 0;
		if (err < 0 && err != TDM_ESYNTAX && err != -EMSGSIZE)
			return tdm_input_failed(input, err, r->csv.again, r->diag);
		err = err == 1 ? take(r) : err;
		if (err == TDM_ESYNTAX || err == -EMSGSIZE) {
			r->region.damaged |= r->has_region;
			err = tdm_record_refuse(r->sink, r->diag, false);
		}
		if (err != 0)
			return err;
	}
}

/* ---- memory reports ---- */

static const char l1_title[] = "This report indicates available space for interleaving L1 buffers";

/* The form of a report that begins with this text, or -1. */
static int form_of(struct tdm_str text)
{
	const char *newline = memchr(text.ptr, '\n', text.len);
	if (tdm_str_begins(text, l1_title))
		return TDM_MEMORY_L1;
	struct tdm_str line =
		tdm_str_trim((struct tdm_str){ text.ptr, newline != NULL ? (size_t)(newline - text.ptr) : text.len });
	if (tdm_str_find(line, ", Total Allocatable Size (") != NULL &&
		tdm_str_find(line, "Largest Free Block (") != NULL)
		return TDM_MEMORY_SUMMARY;
	const char *comma = memchr(line.ptr, ',', line.len);
	if (newline == NULL || comma == NULL)
		return -1;
	struct tdm_str name = { comma + 1, line.len - (size_t)(comma - line.ptr) - 1 };
	struct tdm_str rest = { newline + 1, text.len - (size_t)(newline + 1 - text.ptr) };
	enum tdm_kind kind;
	return tdm_kind_parse(name, &kind) == 0 && tdm_str_begins(rest, ",Total allocatable (") ? TDM_MEMORY_DETAILED
												: -1;
}

static bool memory_recognise(struct tdm_str head, const char *path)
{
	(void)path;
	return form_of(head) >= 0;
}

static int read_figure(struct reading *r, struct tdm_str text, uint64_t unit, uint64_t *value)
{
	int err = tdm_str_parse_u64(text, value);
	if (err == 0 && (__builtin_mul_overflow(*value, unit, value) || *value == TDM_BYTES_UNKNOWN))
		err = -ERANGE;
	if (err != 0)
		return refuse_text(
			r, text, err == -ERANGE ? "a number that is too large" : "expected a number of bytes");
	return 0;
}

/* Adds a region to the open state. */
static void new_region(struct reading *r, enum tdm_kind kind)
{
	r->region.kind = (uint8_t)kind;
	r->state_regions++;
	r->state_kinds |= 1U << kind;
}

static int push_region(struct reading *r)
{
	return push(r, (struct tdm_record){ TDM_RECORD_MEMORY_REGION, .region = &r->region });
}

/* The first column of the line that begins a region is the id of a program or empty. A new state begins at every id,
 * and whenever the open state cannot accept this record (is_full). All figures in the region start as unknown. */
static int begin_record(struct reading *r, bool is_full)
{
	struct tdm_str id = field(r, 0);
	uint64_t program = 0;
	bool is_bad = id.len != 0 && tdm_str_parse_u64(id, &program) != 0;
	r->region = (struct tdm_memory_region){
		.begins_state = id.len != 0 || is_full || r->state_regions == 0,
		.has_program = id.len != 0 && !is_bad,
		.program = program,
		.line = r->csv.line,
		.total = TDM_BYTES_UNKNOWN,
		.allocated = TDM_BYTES_UNKNOWN,
		.free = TDM_BYTES_UNKNOWN,
		.largest = TDM_BYTES_UNKNOWN,
		.device_total = TDM_BYTES_UNKNOWN,
		.device_allocated = TDM_BYTES_UNKNOWN,
		.device_free = TDM_BYTES_UNKNOWN,
		.interleaved_free = TDM_BYTES_UNKNOWN,
	};
	if (r->region.begins_state)
		r->state_regions = r->state_kinds = 0;
	/* The following lines belong to this state even if its id is bad. */
	return is_bad ? refuse(r, 0, "expected the id of a program or nothing") : 0;
}

/* Reads the figures after the first column: exactly `count`. */
static int read_figures(struct reading *r, uint64_t *figures, size_t count)
{
	if (r->csv.field_count != count + 1)
		return tdm_diag_set(r->diag, TDM_ESYNTAX, r->csv.line, 0, "expected %zu figures, found %zu", count,
			r->csv.field_count - 1);
	for (size_t i = 0; i < count; i++) {
		int err = read_figure(r, field(r, i + 1), r->unit, &figures[i]);
		if (err != 0)
			return err;
	}
	return 0;
}

/* A summary does not name the kinds; their order identifies them. So a refused record keeps its place in the order,
 * with unknown figures. */
static int read_summary_row(struct reading *r)
{
	static const uint8_t kinds[] = { TDM_KIND_DRAM, TDM_KIND_L1, TDM_KIND_L1_SMALL };
	enum { KINDS = sizeof kinds };
	struct tdm_memory_region *region = &r->region;
	uint64_t figures[4];
	int err = begin_record(r, r->state_regions == KINDS);
	new_region(r, (enum tdm_kind)kinds[r->state_regions % KINDS]);
	err = err != 0 ? err : read_figures(r, figures, 4);
	if (err == 0 && (figures[1] > figures[0] || figures[3] > figures[2]))
		err = tdm_diag_set(r->diag, TDM_ESYNTAX, r->csv.line, 0, "%s",
			figures[1] > figures[0] ? "more is allocated than there is"
						: "the largest free block is larger than all that is free");
	region->damaged = err != 0;
	if (err == 0) {
		region->total = figures[0];
		region->allocated = figures[1];
		region->free = figures[2];
		region->largest = figures[3];
	}
	int pushed = push_region(r);
	return pushed != 0 ? pushed : err;
}

static int read_l1_row(struct reading *r)
{
	uint64_t figures[2];
	int err = read_figures(r, figures, 2);
	err = err != 0 ? err : begin_record(r, true);
	if (err != 0)
		return err;
	new_region(r, TDM_KIND_L1);
	r->region.largest = figures[0];
	r->region.interleaved_free = figures[1];
	return push_region(r);
}

static int push_head(struct reading *r)
{
	return push(r, (struct tdm_record){ TDM_RECORD_MEMORY_HEAD, .memory = &r->head });
}

/* The column names give the unit. In some releases the last two columns were labelled KB although all figures were in
 * bytes, so the first column decides. */
static int read_header(struct reading *r)
{
	struct tdm_str first = field(r, 1), id = field(r, 0);
	if (tdm_str_begins(id, l1_title))
		return 0;
	if (tdm_str_find(first, r->head.form == TDM_MEMORY_SUMMARY ? "Total Allocatable Size ("
								   : "Largest Contiguous Free Block (") == NULL)
		return refuse(r, 1, "not the column names");
	r->head.rounded = tdm_str_find(first, "(KB)") != NULL;
	r->unit = r->head.rounded ? KIB : 1;
	/* Files whose last columns are labelled KB may predate L1_SMALL; files in KB list even fewer kinds. */
	r->head.kinds = r->head.rounded ? 1 : tdm_str_find(field(r, 4), "(KB)") != NULL ? 2 : 3;
	r->has_header = true;
	return push_head(r);
}

/* Completes the open region. */
static int end_region(struct reading *r)
{
	bool had = r->has_region;
	r->has_region = false;
	r->table = TABLE_NONE;
	return had ? push_region(r) : 0;
}

static int read_total(struct reading *r)
{
	struct tdm_str label = field(r, 1);
	bool is_kib = tdm_str_find(label, "(KB)") != NULL;
	struct tdm_memory_region *region = &r->region;
	uint64_t *figure = tdm_str_begins(label, "Total allocatable (") ? &region->device_total
			   : tdm_str_begins(label, "Total allocated (") ? &region->device_allocated
			   : tdm_str_begins(label, "Total free (")      ? &region->device_free
									: NULL;
	uint64_t value;
	if (figure == NULL)
		return refuse(r, 1, "not a figure of this report");
	int err = read_figure(r, field(r, 2), is_kib ? KIB : 1, &value);
	if (err != 0)
		return err;
	region->rounded |= is_kib;
	*figure = value;
	return 0;
}

static int add_block(struct reading *r, struct tdm_str address, struct tdm_str bytes, struct tdm_str allocated)
{
	struct tdm_memory_block block;
	int err = read_figure(r, address, r->block_unit, &block.address);
	if (err == 0)
		err = read_figure(r, bytes, r->block_unit, &block.bytes);
	if (err != 0)
		return err;
	if (block.bytes > UINT64_MAX - block.address)
		return tdm_diag_set(r->diag, TDM_ESYNTAX, r->csv.line, 0, "a block that ends beyond all addresses");
	block.allocated = tdm_str_is(allocated, "yes") || tdm_str_is(allocated, "Y");
	if (!block.allocated && !tdm_str_is(allocated, "no") && !tdm_str_is(allocated, "N"))
		return refuse_text(r, allocated, "expected yes or no");
	return push(r, (struct tdm_record){ TDM_RECORD_MEMORY_BLOCK, .block = &block });
}

/* Lines of the allocator's own report that contribute nothing to the table. */
static bool is_noise(struct tdm_str line)
{
	static const char *const noise[] = { "FreeListOpt allocator info:", "segregated free blocks by size:",
		"Size class ", "Free slots in block table:" };
	for (size_t i = 0; i < sizeof noise / sizeof *noise; i++)
		if (tdm_str_begins(line, noise[i]))
			return true;
	return false;
}

static int read_detailed(struct reading *r)
{
	struct tdm_str first = field(r, 0), second = field(r, 1);
	size_t count = r->csv.field_count;
	enum tdm_kind kind;
	if (count == 2 && tdm_kind_parse(second, &kind) == 0) {
		int pushed = end_region(r), err = begin_record(r, (r->state_kinds >> kind & 1) != 0);
		new_region(r, kind);
		r->has_region = true;
		return pushed != 0 ? pushed : err;
	}
	if (!r->has_region)
		return refuse(r, 0, "no kind of memory before this line");
	if (count == 3 && first.len == 0 && tdm_str_begins(second, "Total "))
		return read_total(r);
	if (count == 1 && is_noise(first))
		return 0;
	if (count == 1 && tdm_str_is(first, "Block table:")) {
		r->table = TABLE_WORDS;
		r->block_unit = 1;
		return 0;
	}
	if (count == 6 && tdm_str_is(field(r, 2), "Blocks:")) {
		r->table = TABLE_FIELDS;
		r->block_unit = tdm_str_find(field(r, 4), "(KB)") != NULL ? KIB : 1;
		r->region.rough |= r->block_unit != 1;
		return 0;
	}
	if (r->table == TABLE_WORDS && count == 1) {
		/* A row in the newer table has six columns separated by blanks. */
		struct tdm_pattern_match m;
		if (!tdm_pattern_match("%w %w %w %w %w %w", first, &m) || m.len != first.len)
			return refuse(r, 0, "a block has six columns");
		if (tdm_str_is(m.fields[0], "Block") && tdm_str_is(m.fields[5], "Allocated"))
			return 0;
		return add_block(r, m.fields[1], m.fields[2], m.fields[5]);
	}
	if (r->table == TABLE_FIELDS && count == 6)
		return add_block(r, field(r, 3), field(r, 4), field(r, 5));
	return refuse(r, count > 1 ? 1 : 0, "not a line of this report");
}

static int read_line(struct reading *r)
{
	return r->head.form == TDM_MEMORY_DETAILED  ? read_detailed(r)
	       : !r->has_header                     ? read_header(r)
	       : r->head.form == TDM_MEMORY_SUMMARY ? read_summary_row(r)
						    : read_l1_row(r);
}

static int memory_records(struct tdm_input *input, const struct tdm_record_sink *sink, struct tdm_diag *diag)
{
	int form = form_of(tdm_format_head(input));
	struct reading r = { .sink = sink,
		.diag = diag,
		.unit = 1,
		.block_unit = 1,
		.head.form = (uint8_t)(form >= 0 ? form : TDM_MEMORY_SUMMARY) };
	int err = push_head(&r);
	err = err != 0 ? err : read_rows(&r, input, read_line);
	int end = end_region(&r);
	tdm_csv_done(&r.csv);
	return err != 0 ? err : end;
}

const struct tdm_format tdm_format_memory_report = {
	.name = "memory_report",
	.summary = "memory report",
	.recognise = memory_recognise,
	.records = memory_records,
};

/* ---- performance reports ---- */

static bool perf_recognise(struct tdm_str head, const char *path)
{
	struct tdm_str first = tdm_str_take_line(&head);
	(void)path;
	/* The order of the columns has changed over time, but the operation and time columns were always there. */
	return tdm_str_find(first, "OP CODE") != NULL && tdm_str_find(first, "[ns]") != NULL &&
	       tdm_str_find(first, ",") != NULL;
}

/*
 * Parses a whole number, or a number with a fraction, which is rounded. Unknown numbers are written as "", "-", "nan"
 * or "None". 0 with *value set, or TDM_ESYNTAX or -ERANGE.
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

/* Whether the cores waited longer than the kernels ran, on average; times are rounded to nanoseconds. */
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
	struct tdm_perf_row row = { .line = r->csv.line, .code = field(r, r->code), .type = field(r, r->type) };
	if (r->csv.field_count != r->column_count)
		return tdm_diag_set(r->diag, TDM_ESYNTAX, r->csv.line, 0, "%zu fields, but there are %zu columns",
			r->csv.field_count, r->column_count);
	if (row.code.len == 0)
		return tdm_diag_set(r->diag, TDM_ESYNTAX, r->csv.line, 0, "no OP CODE");
	for (int i = 0; i < TDM_PERF_FIGURES; i++) {
		struct tdm_str text = field(r, r->at[i]);
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
	return err != 0 ? err : push(r, (struct tdm_record){ TDM_RECORD_PERF_ROW, .row = &row });
}

static int take_row(struct reading *r)
{
	if (r->has_header)
		return read_row(r);
	r->has_header = true;
	struct tdm_perf_row head = { 0 };
	r->code = tdm_csv_find(&r->csv, "OP CODE");
	r->type = tdm_csv_find(&r->csv, "OP TYPE");
	r->column_count = r->csv.field_count;
	for (int i = 0; i < TDM_PERF_FIGURES; i++) {
		r->at[i] = tdm_csv_find(&r->csv, tdm_perf_column((enum tdm_perf_figure)i));
		head.figures[i] = r->at[i] != SIZE_MAX;
	}
	if (r->code == SIZE_MAX)
		return tdm_diag_set(r->diag, TDM_ECORRUPT, r->csv.line, 0, "no column OP CODE");
	return push(r, (struct tdm_record){ TDM_RECORD_PERF_HEAD, .perf = &head });
}

static int perf_records(struct tdm_input *input, const struct tdm_record_sink *sink, struct tdm_diag *diag)
{
	struct reading r = { .sink = sink, .diag = diag };
	int err = read_rows(&r, input, take_row);
	tdm_csv_done(&r.csv);
	return err == 0 && !r.has_header ? tdm_diag_set(diag, TDM_ECORRUPT, 0, 0, "no column names") : err;
}

const struct tdm_format tdm_format_perf_csv = {
	.name = "ops_perf_results",
	.summary = "performance report",
	.recognise = perf_recognise,
	.records = perf_records,
};
