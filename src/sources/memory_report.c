/*
 * The reports of the runtime's memory reporter, three CSV files that belong together by the beginning of their names:
 *
 *     …memory_usage_summary.csv    four figures of one bank for each kind of memory
 *     …l1_usage_summary.csv        the largest free block of L1, in one bank and in all
 *     …detailed_memory_usage.csv   totals of all banks, and every block of one bank
 *
 * Each holds one state of the memory (a dump), or one for each program that was compiled. docs/formats/reports.md has
 * the forms, also the older ones. All banks of a kind are in lockstep, so figures of one bank hold for each.
 */
#include "base/csv.h"
#include "base/err.h"
#include "sources/format.h"

#include <errno.h>

enum { KIB = 1024, SHOWN = 40 };

enum table { TABLE_NONE, TABLE_WORDS, TABLE_FIELDS };

struct reading {
	const struct tdm_record_sink *sink;
	struct tdm_csv csv;
	struct tdm_diag *diag;
	struct tdm_memory_head head;
	uint64_t unit, block_unit; /* bytes of 1 in figures and in blocks */
	bool has_header;
	uint8_t table;                   /* enum table: which rows may come */
	size_t state_regions;            /* of the state that is open; 0: none is */
	unsigned state_kinds;            /* bits of their kinds */
	struct tdm_memory_region region; /* of a detailed file, while its lines come */
	bool has_region;
};

static const char l1_title[] = "This report indicates available space for interleaving L1 buffers";

static bool has_prefix(struct tdm_str text, const char *prefix)
{
	size_t len = strlen(prefix);
	return text.len >= len && memcmp(text.ptr, prefix, len) == 0;
}

static bool contains(struct tdm_str text, const char *part)
{
	return memmem(text.ptr, text.len, part, strlen(part)) != NULL;
}

/* Which of the reports begins like this; -1: none. */
static int form_of(struct tdm_str text)
{
	const char *newline = memchr(text.ptr, '\n', text.len);
	if (has_prefix(text, l1_title))
		return TDM_MEMORY_L1;
	struct tdm_str line =
		tdm_str_trim((struct tdm_str){ text.ptr, newline != NULL ? (size_t)(newline - text.ptr) : text.len });
	if (contains(line, ", Total Allocatable Size (") && contains(line, "Largest Free Block ("))
		return TDM_MEMORY_SUMMARY;
	const char *comma = memchr(line.ptr, ',', line.len);
	if (newline == NULL || comma == NULL)
		return -1;
	struct tdm_str name = { comma + 1, line.len - (size_t)(comma - line.ptr) - 1 };
	struct tdm_str rest = { newline + 1, text.len - (size_t)(newline + 1 - text.ptr) };
	enum tdm_kind kind;
	return tdm_kind_parse(name, &kind) == 0 && has_prefix(rest, ",Total allocatable (") ? TDM_MEMORY_DETAILED : -1;
}

static bool memory_recognise(struct tdm_str head, const char *path)
{
	(void)path;
	return form_of(head) >= 0;
}

static int refuse_text(struct reading *r, struct tdm_str text, const char *what)
{
	char shown[SHOWN];
	return tdm_diag_set(
		r->diag, TDM_ESYNTAX, r->csv.line, 0, "%s: '%s'", what, tdm_str_shown(text, shown, sizeof shown));
}

static int refuse(struct reading *r, size_t field, const char *what)
{
	return refuse_text(r, tdm_csv_field(&r->csv, field), what);
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

/* A region of the state that is open, everything unknown. */
static void new_region(struct reading *r, enum tdm_kind kind)
{
	r->region.kind = (uint8_t)kind;
	r->state_regions++;
	r->state_kinds |= 1U << kind;
}

static int push_region(struct reading *r)
{
	return r->sink->take(r->sink->to, &(struct tdm_record){ TDM_RECORD_MEMORY_REGION, .region = &r->region });
}

/*
 * The first column of what begins a region: the id of a program, or nothing. A state begins at every id, and where the
 * last state has what this record has, too (is_full).
 */
static int begin_record(struct reading *r, bool is_full)
{
	struct tdm_str id = tdm_csv_field(&r->csv, 0);
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
	/* What follows belongs to this state, whatever its name is. */
	return is_bad ? refuse(r, 0, "expected the id of a program or nothing") : 0;
}

/* The figures after the first column: all of them, and no more. */
static int read_figures(struct reading *r, uint64_t *figures, size_t count)
{
	if (r->csv.field_count != count + 1)
		return tdm_diag_set(r->diag, TDM_ESYNTAX, r->csv.line, 0, "expected %zu figures, found %zu", count,
			r->csv.field_count - 1);
	for (size_t i = 0; i < count; i++) {
		int err = read_figure(r, tdm_csv_field(&r->csv, i + 1), r->unit, &figures[i]);
		if (err != 0)
			return err;
	}
	return 0;
}

/*
 * The kinds have no names in a summary: the order says which is which. So a record that is refused takes its place in
 * the order, too, with figures that are unknown.
 */
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
	return r->sink->take(r->sink->to, &(struct tdm_record){ TDM_RECORD_MEMORY_HEAD, .memory = &r->head });
}

/*
 * The unit is in the names of the columns. For some time the last two said KB where all columns were bytes: the first
 * one counts.
 */
static int read_header(struct reading *r)
{
	struct tdm_str first = tdm_csv_field(&r->csv, 1), id = tdm_csv_field(&r->csv, 0);
	if (has_prefix(id, l1_title))
		return 0;
	if (!contains(first, r->head.form == TDM_MEMORY_SUMMARY ? "Total Allocatable Size ("
								: "Largest Contiguous Free Block ("))
		return refuse(r, 1, "not the names of the columns");
	r->head.rounded = contains(first, "(KB)");
	r->unit = r->head.rounded ? KIB : 1;
	/* L1_SMALL came while the last columns said KB; before, there were other forms. */
	r->head.kinds = r->head.rounded ? 1 : contains(tdm_csv_field(&r->csv, 4), "(KB)") ? 2 : 3;
	r->has_header = true;
	return push_head(r);
}

/* The region that is open is complete. */
static int end_region(struct reading *r)
{
	bool had = r->has_region;
	r->has_region = false;
	r->table = TABLE_NONE;
	return had ? push_region(r) : 0;
}

static int begin_region(struct reading *r, enum tdm_kind kind)
{
	int pushed = end_region(r), err = begin_record(r, (r->state_kinds >> kind & 1) != 0);
	new_region(r, kind);
	r->has_region = true;
	return pushed != 0 ? pushed : err;
}

static int read_total(struct reading *r)
{
	struct tdm_str label = tdm_csv_field(&r->csv, 1);
	bool is_kib = contains(label, "(KB)");
	struct tdm_memory_region *region = &r->region;
	uint64_t *figure = has_prefix(label, "Total allocatable (") ? &region->device_total
			   : has_prefix(label, "Total allocated (") ? &region->device_allocated
			   : has_prefix(label, "Total free (")      ? &region->device_free
								    : NULL;
	uint64_t value;
	if (figure == NULL)
		return refuse(r, 1, "not a figure of this report");
	int err = read_figure(r, tdm_csv_field(&r->csv, 2), is_kib ? KIB : 1, &value);
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
	return r->sink->take(r->sink->to, &(struct tdm_record){ TDM_RECORD_MEMORY_BLOCK, .block = &block });
}

/* A row of the newer table: words in columns. */
static int read_block_words(struct reading *r, struct tdm_str line)
{
	struct tdm_str words[6];
	size_t count = 0, at = 0;
	while (at < line.len) {
		size_t from = at;
		while (at < line.len && line.ptr[at] != ' ')
			at++;
		if (count == 6)
			return refuse(r, 0, "a block with too many columns");
		words[count++] = (struct tdm_str){ line.ptr + from, at - from };
		while (at < line.len && line.ptr[at] == ' ')
			at++;
	}
	if (count != 6)
		return refuse(r, 0, "a block has six columns");
	if (tdm_str_is(words[0], "Block") && tdm_str_is(words[5], "Allocated"))
		return 0;
	return add_block(r, words[1], words[2], words[5]);
}

/* Lines of the allocator's own account, which say nothing that the table does not. */
static bool is_noise(struct tdm_str line)
{
	static const char *const noise[] = { "FreeListOpt allocator info:", "segregated free blocks by size:",
		"Size class ", "Free slots in block table:" };
	for (size_t i = 0; i < sizeof noise / sizeof *noise; i++)
		if (has_prefix(line, noise[i]))
			return true;
	return false;
}

static int read_detailed(struct reading *r)
{
	struct tdm_str first = tdm_csv_field(&r->csv, 0), second = tdm_csv_field(&r->csv, 1);
	size_t count = r->csv.field_count;
	enum tdm_kind kind;
	if (count == 2 && tdm_kind_parse(second, &kind) == 0)
		return begin_region(r, kind);
	if (!r->has_region)
		return refuse(r, 0, "no kind of memory before this line");
	if (count == 3 && first.len == 0 && has_prefix(second, "Total "))
		return read_total(r);
	if (count == 1 && is_noise(first))
		return 0;
	if (count == 1 && tdm_str_is(first, "Block table:")) {
		r->table = TABLE_WORDS;
		r->block_unit = 1;
		return 0;
	}
	if (count == 6 && tdm_str_is(tdm_csv_field(&r->csv, 2), "Blocks:")) {
		r->table = TABLE_FIELDS;
		r->block_unit = contains(tdm_csv_field(&r->csv, 4), "(KB)") ? KIB : 1;
		r->region.rough |= r->block_unit != 1;
		return 0;
	}
	if (r->table == TABLE_WORDS && count == 1)
		return read_block_words(r, first);
	if (r->table == TABLE_FIELDS && count == 6)
		return add_block(r, tdm_csv_field(&r->csv, 3), tdm_csv_field(&r->csv, 4), tdm_csv_field(&r->csv, 5));
	return refuse(r, count > 1 ? 1 : 0, "not a line of this report");
}

static int read_line(struct reading *r)
{
	return r->head.form == TDM_MEMORY_DETAILED  ? read_detailed(r)
	       : !r->has_header                     ? read_header(r)
	       : r->head.form == TDM_MEMORY_SUMMARY ? read_summary_row(r)
						    : read_l1_row(r);
}

static int read_lines(struct reading *r, const struct tdm_input *input)
{
	for (;;) {
		int err = tdm_csv_next(&r->csv, r->diag);
		if (err == 0)
			return 0;
		if (err < 0 && err != TDM_ESYNTAX && err != -EMSGSIZE)
			return tdm_input_failed(input, err, r->csv.again, r->diag);
		err = err == 1 ? read_line(r) : err;
		if (err == TDM_ESYNTAX || err == -EMSGSIZE) {
			r->region.damaged |= r->has_region;
			err = tdm_record_refuse(r->sink, r->diag, false);
		}
		if (err != 0)
			return err;
	}
}

static int memory_records(struct tdm_input *input, const struct tdm_record_sink *sink, struct tdm_diag *diag)
{
	struct reading r = { .sink = sink, .diag = diag, .unit = 1, .block_unit = 1 };
	struct tdm_str head = tdm_format_head(input);
	int form = form_of(head), err = tdm_csv_open(&r.csv, tdm_input_reader(input));
	r.head.form = (uint8_t)(form >= 0 ? form : TDM_MEMORY_SUMMARY);
	err = err != 0 ? err : push_head(&r);
	err = err != 0 ? err : read_lines(&r, input);
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
