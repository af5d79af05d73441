#include "sources/memory_report.h"
#include "base/csv.h"
#include "base/err.h"
#include "base/reserve.h"

#include <errno.h>
#include <stdlib.h>

enum { KIB = 1024, SHOWN = 40, RECORDS_MAX = 1 << 26 };

enum table { TABLE_NONE, TABLE_WORDS, TABLE_FIELDS };

struct reading {
	struct tdm_memory_report *report;
	struct tdm_csv csv;
	struct tdm_diag *diag;
	uint64_t unit, block_unit; /* bytes of 1 in figures and in blocks */
	bool has_header;
	size_t kinds;  /* that a state of a summary has at least */
	uint8_t table; /* enum table: which rows may come */
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

int tdm_memory_report_detect(const char *head, size_t len)
{
	static const char mark[] = "\xef\xbb\xbf"; /* of UTF-8 */
	if (has_prefix((struct tdm_str){ head, len }, mark)) {
		head += sizeof mark - 1;
		len -= sizeof mark - 1;
	}
	struct tdm_str text = { head, len }, line;
	const char *newline = memchr(head, '\n', len);
	if (has_prefix(text, l1_title))
		return TDM_MEMORY_L1;
	line = tdm_str_trim((struct tdm_str){ head, newline != NULL ? (size_t)(newline - head) : len });
	if (contains(line, ", Total Allocatable Size (") && contains(line, "Largest Free Block ("))
		return TDM_MEMORY_SUMMARY;
	const char *comma = memchr(line.ptr, ',', line.len);
	if (newline == NULL || comma == NULL)
		return -1;
	struct tdm_str name = { comma + 1, line.len - (size_t)(comma - line.ptr) - 1 };
	struct tdm_str rest = { newline + 1, len - (size_t)(newline + 1 - head) };
	enum tdm_kind kind;
	return tdm_kind_parse(name, &kind) == 0 && has_prefix(rest, ",Total allocatable (") ? TDM_MEMORY_DETAILED : -1;
}

static int refuse(struct reading *r, size_t field, const char *what)
{
	char shown[SHOWN];
	return tdm_diag_set(r->diag, TDM_ESYNTAX, r->csv.line, 0, "%s: '%s'", what,
		tdm_str_shown(tdm_csv_field(&r->csv, field), shown, sizeof shown));
}

static int read_figure(struct reading *r, struct tdm_str text, uint64_t unit, uint64_t *value)
{
	char shown[SHOWN];
	int err = tdm_str_parse_u64(text, value);
	if (err == 0 && (__builtin_mul_overflow(*value, unit, value) || *value == TDM_BYTES_UNKNOWN))
		err = -ERANGE;
	return err == 0 ? 0
			: tdm_diag_set(r->diag, TDM_ESYNTAX, r->csv.line, 0, "%s: '%s'",
				  err == -ERANGE ? "a number that is too large" : "expected a number of bytes",
				  tdm_str_shown(text, shown, sizeof shown));
}

static int add_state(struct reading *r, bool has_program, uint64_t program)
{
	struct tdm_memory_report *report = r->report;
	if (report->state_count == RECORDS_MAX ||
		tdm_reserve(&report->states, &report->state_cap, report->state_count + 1, sizeof *report->states) != 0)
		return -ENOMEM;
	report->by_program |= has_program;
	report->states[report->state_count++] = (struct tdm_memory_state){
		.has_program = has_program,
		.program = program,
		.line = r->csv.line,
		.first_region = report->region_count,
	};
	return 0;
}

static struct tdm_memory_region *add_region(struct reading *r, enum tdm_kind kind)
{
	struct tdm_memory_report *report = r->report;
	if (report->region_count == RECORDS_MAX || tdm_reserve(&report->regions, &report->region_cap,
							   report->region_count + 1, sizeof *report->regions) != 0)
		return NULL;
	struct tdm_memory_region *region = &report->regions[report->region_count++];
	*region = (struct tdm_memory_region){
		.kind = (uint8_t)kind,
		.line = r->csv.line,
		.total = TDM_BYTES_UNKNOWN,
		.allocated = TDM_BYTES_UNKNOWN,
		.free = TDM_BYTES_UNKNOWN,
		.largest = TDM_BYTES_UNKNOWN,
		.device_total = TDM_BYTES_UNKNOWN,
		.device_allocated = TDM_BYTES_UNKNOWN,
		.device_free = TDM_BYTES_UNKNOWN,
		.interleaved_free = TDM_BYTES_UNKNOWN,
		.first_block = report->block_count,
	};
	report->states[report->state_count - 1].region_count++;
	return region;
}

static const struct tdm_memory_state *last_state(const struct tdm_memory_report *report)
{
	return report->state_count != 0 ? &report->states[report->state_count - 1] : NULL;
}

const struct tdm_memory_region *tdm_memory_report_find(
	const struct tdm_memory_report *report, size_t state, enum tdm_kind kind)
{
	const struct tdm_memory_state *s = &report->states[state];
	for (size_t i = 0; i < s->region_count; i++)
		if (report->regions[s->first_region + i].kind == kind)
			return &report->regions[s->first_region + i];
	return NULL;
}

/*
 * The first column: the id of a program, or nothing. A state begins at every id, and where the last state has what this
 * record has, too (is_full).
 */
static int begin_record(struct reading *r, bool is_full, bool *has_program, uint64_t *program)
{
	struct tdm_str id = tdm_csv_field(&r->csv, 0);
	*program = 0;
	*has_program = id.len != 0;
	if (*has_program && tdm_str_parse_u64(id, program) != 0) {
		/* What follows belongs to this state, whatever its name is. */
		int err = add_state(r, false, 0);
		return err != 0 ? err : refuse(r, 0, "expected the id of a program or nothing");
	}
	if (*has_program || is_full || r->report->state_count == 0)
		return add_state(r, *has_program, *program);
	return 0;
}

/* The figures behind the first column: all of them, and no more. */
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
	const struct tdm_memory_state *state = last_state(r->report);
	uint64_t figures[4], program;
	bool has_program;
	int begun = begin_record(r, state != NULL && state->region_count == KINDS, &has_program, &program);
	if (begun == -ENOMEM)
		return begun;
	state = last_state(r->report);
	struct tdm_memory_region *region = add_region(r, (enum tdm_kind)kinds[state->region_count % KINDS]);
	if (region == NULL)
		return -ENOMEM;
	int err = begun != 0 ? begun : read_figures(r, figures, 4);
	if (err == 0 && (figures[1] > figures[0] || figures[3] > figures[2]))
		err = tdm_diag_set(r->diag, TDM_ESYNTAX, r->csv.line, 0, "%s",
			figures[1] > figures[0] ? "more is allocated than there is"
						: "the largest free block is larger than all that is free");
	region->damaged = err != 0;
	if (err != 0)
		return err;
	region->total = figures[0];
	region->allocated = figures[1];
	region->free = figures[2];
	region->largest = figures[3];
	return 0;
}

static int read_l1_row(struct reading *r)
{
	uint64_t figures[2], program;
	bool has_program;
	int err = read_figures(r, figures, 2);
	if (err == 0)
		err = begin_record(r, true, &has_program, &program);
	if (err != 0)
		return err;
	struct tdm_memory_region *region = add_region(r, TDM_KIND_L1);
	if (region == NULL)
		return -ENOMEM;
	region->largest = figures[0];
	region->interleaved_free = figures[1];
	if (figures[0] != 0 && figures[1] % figures[0] == 0 && figures[1] / figures[0] <= UINT32_MAX)
		region->banks = (uint32_t)(figures[1] / figures[0]);
	return 0;
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
	if (!contains(first, r->report->form == TDM_MEMORY_SUMMARY ? "Total Allocatable Size ("
								   : "Largest Contiguous Free Block ("))
		return refuse(r, 1, "not the names of the columns");
	r->report->rounded = contains(first, "(KB)");
	r->unit = r->report->rounded ? KIB : 1;
	/* L1_SMALL came while the last columns said KB; before, there were other forms. */
	r->kinds = r->report->rounded ? 1 : contains(tdm_csv_field(&r->csv, 4), "(KB)") ? 2 : 3;
	r->has_header = true;
	return 0;
}

static struct tdm_memory_region *last_region(struct reading *r)
{
	return &r->report->regions[r->report->region_count - 1];
}

static int begin_region(struct reading *r, enum tdm_kind kind)
{
	uint64_t program;
	bool has_program;
	size_t states = r->report->state_count;
	bool is_full = states != 0 && tdm_memory_report_find(r->report, states - 1, kind) != NULL;
	int err = begin_record(r, is_full, &has_program, &program);
	r->has_region = false;
	r->table = TABLE_NONE;
	if (err == -ENOMEM)
		return err;
	r->has_region = add_region(r, kind) != NULL;
	if (err != 0)
		return err;
	return r->has_region ? 0 : -ENOMEM;
}

static int read_total(struct reading *r)
{
	struct tdm_str label = tdm_csv_field(&r->csv, 1);
	bool is_kib = contains(label, "(KB)");
	struct tdm_memory_region *region = last_region(r);
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
	r->report->rounded |= is_kib;
	region->rounded |= is_kib;
	*figure = value;
	return 0;
}

static int add_block(struct reading *r, struct tdm_str address, struct tdm_str bytes, struct tdm_str allocated)
{
	struct tdm_memory_report *report = r->report;
	struct tdm_memory_block block;
	int err = read_figure(r, address, r->block_unit, &block.address);
	if (err == 0)
		err = read_figure(r, bytes, r->block_unit, &block.bytes);
	if (err != 0)
		return err;
	if (block.bytes > UINT64_MAX - block.address)
		return tdm_diag_set(r->diag, TDM_ESYNTAX, r->csv.line, 0, "a block that ends beyond all addresses");
	block.allocated = tdm_str_is(allocated, "yes") || tdm_str_is(allocated, "Y");
	if (!block.allocated && !tdm_str_is(allocated, "no") && !tdm_str_is(allocated, "N")) {
		char shown[SHOWN];
		return tdm_diag_set(r->diag, TDM_ESYNTAX, r->csv.line, 0, "expected yes or no: '%s'",
			tdm_str_shown(allocated, shown, sizeof shown));
	}
	if (report->block_count == RECORDS_MAX ||
		tdm_reserve(&report->blocks, &report->block_cap, report->block_count + 1, sizeof *report->blocks) != 0)
		return -ENOMEM;
	report->blocks[report->block_count++] = block;
	last_region(r)->block_count++;
	return 0;
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
		last_region(r)->rough |= r->block_unit != 1;
		return 0;
	}
	if (r->table == TABLE_WORDS && count == 1)
		return read_block_words(r, first);
	if (r->table == TABLE_FIELDS && count == 6)
		return add_block(r, tdm_csv_field(&r->csv, 3), tdm_csv_field(&r->csv, 4), tdm_csv_field(&r->csv, 5));
	return refuse(r, count > 1 ? 1 : 0, "not a line of this report");
}

/* Whether a figure of all banks is that of one, so many times; one that was rounded down to KiB is less than one off.
 */
static bool is_multiple(const struct tdm_memory_region *region, uint64_t all, uint64_t one, uint64_t banks)
{
	uint64_t product;
	return all == TDM_BYTES_UNKNOWN || (!__builtin_mul_overflow(one, banks, &product) && product >= all &&
						   product - all < (region->rounded ? KIB : 1));
}

/*
 * What follows from the blocks: the figures of one bank, and how many banks there are, if the totals are a multiple of
 * them. Blocks that do not make a whole bank say nothing about it. Whether they make one.
 */
static bool settle_region(struct tdm_memory_report *report, struct tdm_memory_region *region)
{
	uint64_t allocated = 0, unused = 0, largest = 0, total, low = UINT64_MAX, high = 0;
	if (region->block_count == 0) {
		if (region->device_total == 0) /* no block of nothing */
			region->total = region->allocated = region->free = region->largest = 0;
		return region->device_total == TDM_BYTES_UNKNOWN || region->device_total == 0;
	}
	for (size_t i = 0; i < region->block_count; i++) {
		const struct tdm_memory_block *block = &report->blocks[region->first_block + i];
		uint64_t *sum = block->allocated ? &allocated : &unused;
		low = block->address < low ? block->address : low;
		high = block->address + block->bytes > high ? block->address + block->bytes : high;
		if (__builtin_add_overflow(*sum, block->bytes, sum))
			return false;
		if (!block->allocated && block->bytes > largest)
			largest = block->bytes;
	}
	if (__builtin_add_overflow(allocated, unused, &total) || total == TDM_BYTES_UNKNOWN || total != high - low)
		return false;
	uint64_t device = region->device_total, banks = 0;
	if (device != TDM_BYTES_UNKNOWN && total != 0) {
		banks = device / total + (device % total != 0);
		if (!is_multiple(region, device, total, banks) ||
			!is_multiple(region, region->device_allocated, allocated, banks))
			return false;
		/* Of a total that was rounded banks are known when only one number of them fits. */
		if (banks > UINT32_MAX || (region->rounded && total < KIB - (banks * total - device)))
			banks = 0;
	}
	region->total = total;
	region->allocated = allocated;
	region->free = unused;
	region->largest = largest;
	region->banks = (uint32_t)banks;
	return true;
}

/* States that are cut short, and blocks that are missing. */
static void check_whole(struct reading *r, tdm_memory_warn warn, void *context)
{
	struct tdm_memory_report *report = r->report;
	for (size_t i = 0; i < report->region_count; i++) {
		struct tdm_memory_region *region = &report->regions[i];
		if (settle_region(report, region) || region->damaged || region->rough)
			continue; /* whole, or said already, or nobody can say */
		report->refused++;
		tdm_diag_set(r->diag, TDM_ESYNTAX, region->line, 0,
			"the blocks of %s do not add up to its totals: some are missing or wrong",
			tdm_kind_name((enum tdm_kind)region->kind));
		if (warn != NULL)
			warn(context, r->diag);
	}
	size_t kinds = r->kinds;
	for (size_t i = 0; i < report->state_count; i++)
		kinds = report->states[i].region_count > kinds ? report->states[i].region_count : kinds;
	for (size_t i = 0; report->form == TDM_MEMORY_SUMMARY && i < report->state_count; i++) {
		const struct tdm_memory_state *state = &report->states[i];
		if (state->region_count == kinds || state->region_count == 0 || /* without memory for the first */
			report->regions[state->first_region + state->region_count - 1].damaged)
			continue; /* whole, or said already */
		report->refused++;
		tdm_diag_set(r->diag, TDM_ESYNTAX, state->line, 0,
			"the state that begins here has %zu of %zu kinds of memory: the others are missing",
			state->region_count, kinds);
		if (warn != NULL)
			warn(context, r->diag);
	}
}

static int read_records(struct reading *r, tdm_memory_warn warn, void *context)
{
	struct tdm_memory_report *report = r->report;
	for (;;) {
		int err = tdm_csv_next(&r->csv, r->diag);
		if (err == 0)
			return 0;
		if (err < 0 && err != TDM_ESYNTAX && err != -EMSGSIZE)
			return err;
		if (err == 1)
			err = report->form == TDM_MEMORY_DETAILED  ? read_detailed(r)
			      : !r->has_header                     ? read_header(r)
			      : report->form == TDM_MEMORY_SUMMARY ? read_summary_row(r)
								   : read_l1_row(r);
		if (err == -ENOMEM)
			return tdm_diag_set(r->diag, err, r->csv.line, 0, "out of memory");
		if (err < 0) {
			report->refused++;
			if (r->has_region)
				last_region(r)->damaged = true;
			if (warn != NULL)
				warn(context, r->diag);
		}
	}
}

static int read_all(struct reading *r, int opened, tdm_memory_warn warn, void *context)
{
	int err = opened != 0 ? tdm_diag_set(r->diag, opened, 0, 0, "out of memory") : read_records(r, warn, context);
	struct tdm_diag kept = *r->diag;
	check_whole(r, warn, context);
	if (err != 0)
		*r->diag = kept;
	tdm_csv_done(&r->csv);
	return err;
}

int tdm_memory_report_read(struct tdm_memory_report *report, enum tdm_memory_form form, int fd, tdm_memory_warn warn,
	void *context, struct tdm_diag *diag)
{
	struct reading r = { .report = report, .diag = diag, .unit = 1, .block_unit = 1 };
	*report = (struct tdm_memory_report){ .form = (uint8_t)form };
	return read_all(&r, tdm_csv_open(&r.csv, fd), warn, context);
}

int tdm_memory_report_parse(struct tdm_memory_report *report, enum tdm_memory_form form, struct tdm_str text,
	tdm_memory_warn warn, void *context, struct tdm_diag *diag)
{
	struct reading r = { .report = report, .diag = diag, .unit = 1, .block_unit = 1 };
	*report = (struct tdm_memory_report){ .form = (uint8_t)form };
	return read_all(&r, tdm_csv_memory(&r.csv, text.ptr, text.len), warn, context);
}

void tdm_memory_report_done(struct tdm_memory_report *report)
{
	free(report->states);
	free(report->regions);
	free(report->blocks);
	*report = (struct tdm_memory_report){ 0 };
}
