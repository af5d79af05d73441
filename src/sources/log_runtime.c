/* The lines of the runtime's logger and of tt-mlir's memory states, and helpers that all message parsers share. */
#include "base/pattern.h"
#include "sources/log_forms.h"

/* A pattern, and the function that takes its fields. */
struct form {
	const char *pattern;
	void (*take)(const struct tdm_pattern_match *m, struct tdm_log_found *found);
};

struct tdm_log_record *tdm_log_found_add(
	struct tdm_log_found *found, enum tdm_log_type type, enum tdm_log_dialect dialect)
{
	if (found->count == TDM_LOG_PER_LINE)
		return NULL;
	struct tdm_log_record *record = &found->records[found->count++];
	tdm_log_record_init(record, type, dialect);
	return record;
}

uint64_t tdm_log_number(struct tdm_str text)
{
	uint64_t value;
	return tdm_pattern_number(text, &value) ? value : TDM_LOG_UNKNOWN;
}

/* A decimal number, perhaps with a fraction, times `factor`, rounded; TDM_LOG_UNKNOWN if it does not fit. */
static uint64_t scaled(struct tdm_str number, uint64_t factor)
{
	const char *point = number.len != 0 ? memchr(number.ptr, '.', number.len) : NULL;
	struct tdm_str whole = { number.ptr, point != NULL ? (size_t)(point - number.ptr) : number.len };
	uint64_t value, product, part = 0, unit = 1;
	if (!tdm_pattern_number(whole, &value) || __builtin_mul_overflow(value, factor, &product))
		return TDM_LOG_UNKNOWN;
	for (size_t i = whole.len + 1; i < number.len && unit < 1000000000; i++) {
		if (number.ptr[i] < '0' || number.ptr[i] > '9')
			return TDM_LOG_UNKNOWN;
		part = part * 10 + (unsigned)(number.ptr[i] - '0');
		unit *= 10;
	}
	/* The product fits: `part` is below 10^9, and factors are at most 2^30. */
	uint64_t add = (part * factor + unit / 2) / unit;
	return product > UINT64_MAX - 1 - add ? TDM_LOG_UNKNOWN : product + add;
}

static bool unit_is(struct tdm_str unit, const char *name)
{
	size_t len = strlen(name);
	if (unit.len != len)
		return false;
	for (size_t i = 0; i < len; i++)
		if ((unit.ptr[i] | 32) != (name[i] | 32))
			return false;
	return true;
}

uint64_t tdm_log_bytes(struct tdm_str number, struct tdm_str unit)
{
	static const struct {
		const char *name;
		uint64_t factor;
	} units[] = { { "", 1 }, { "B", 1 }, { "byte", 1 }, { "bytes", 1 }, { "KB", 1 << 10 }, { "KiB", 1 << 10 },
		{ "MB", 1 << 20 }, { "MiB", 1 << 20 }, { "GB", 1 << 30 }, { "GiB", 1 << 30 } };
	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (unit_is(unit, units[i].name))
			return scaled(number, units[i].factor);
	return TDM_BYTES_UNKNOWN;
}

uint64_t tdm_log_duration(struct tdm_str number, struct tdm_str unit)
{
	static const struct {
		const char *name;
		uint64_t factor;
	} units[] = { { "ns", 1 }, { "us", 1000 }, { "ms", 1000000 }, { "s", 1000000000 } };
	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (unit_is(unit, units[i].name))
			return scaled(number, units[i].factor);
	return TDM_LOG_UNKNOWN;
}

static uint32_t device_of(struct tdm_str text)
{
	uint64_t value = tdm_log_number(text);
	return value < TDM_LOG_DEVICE_UNKNOWN ? (uint32_t)value : TDM_LOG_DEVICE_UNKNOWN;
}

static int32_t pid_of(struct tdm_str text)
{
	uint64_t value = tdm_log_number(text);
	return value <= INT32_MAX ? (int32_t)value : 0;
}

/*
 * The runtime looks up the name of a buffer's kind in a list that lacks one entry: its L1_SMALL is system memory, TRACE
 * is L1_SMALL, CB is TRACE, and UNKNOWN is a circular buffer.
 */
static uint8_t undo_label(struct tdm_str label)
{
	static const struct {
		const char *label;
		uint8_t kind;
	} meant[] = { { "DRAM", TDM_KIND_DRAM }, { "L1", TDM_KIND_L1 }, { "L1_SMALL", TDM_KIND_SYSTEM },
		{ "TRACE", TDM_KIND_L1_SMALL }, { "CB", TDM_KIND_TRACE }, { "UNKNOWN", TDM_KIND_CB } };
	for (size_t i = 0; i < sizeof meant / sizeof *meant; i++)
		if (tdm_str_is(label, meant[i].label))
			return meant[i].kind;
	return TDM_KIND_COUNT;
}

/* A buffer was allocated or released. Without a kind or size nothing is added, and the line is refused. */
static void add_buffer(struct tdm_log_found *found, enum tdm_log_type type, uint8_t kind, struct tdm_str pid,
	struct tdm_str size, struct tdm_str device)
{
	uint64_t bytes = tdm_log_number(size);
	if (kind == TDM_KIND_COUNT || bytes == TDM_LOG_UNKNOWN)
		return;
	struct tdm_log_record *r = tdm_log_found_add(found, type, TDM_LOG_BY_RUNTIME);
	if (r == NULL)
		return;
	r->pid = pid_of(pid);
	r->kind = kind;
	r->bytes = bytes;
	r->device = device_of(device);
}

static void take_shm(const struct tdm_pattern_match *m, struct tdm_log_found *found, enum tdm_log_type type)
{
	add_buffer(found, type, undo_label(m->fields[1]), m->fields[0], m->fields[2], m->fields[5]);
}

static void take_shm_alloc(const struct tdm_pattern_match *m, struct tdm_log_found *found)
{
	take_shm(m, found, TDM_LOG_ALLOC);
}

static void take_shm_free(const struct tdm_pattern_match *m, struct tdm_log_found *found)
{
	take_shm(m, found, TDM_LOG_FREE);
}

/* Buffers that the runtime allocated but could not record in shared memory. These lines give the kind as a number. */
static void take_skipped(const struct tdm_pattern_match *m, struct tdm_log_found *found, enum tdm_log_type type)
{
	static const uint8_t kinds[] = { TDM_KIND_DRAM, TDM_KIND_L1, TDM_KIND_SYSTEM, TDM_KIND_L1_SMALL, TDM_KIND_TRACE,
		TDM_KIND_CB };
	uint64_t number = tdm_log_number(m->fields[3]);
	uint8_t kind = number < sizeof kinds ? kinds[number] : TDM_KIND_COUNT;
	add_buffer(found, type, kind, m->fields[1], m->fields[2], m->fields[4]);
}

static void take_skipped_alloc(const struct tdm_pattern_match *m, struct tdm_log_found *found)
{
	take_skipped(m, found, TDM_LOG_ALLOC);
}

static void take_skipped_free(const struct tdm_pattern_match *m, struct tdm_log_found *found)
{
	take_skipped(m, found, TDM_LOG_FREE);
}

static struct tdm_log_geometry *add_geometry(struct tdm_log_found *found)
{
	struct tdm_log_record *r = tdm_log_found_add(found, TDM_LOG_GEOMETRY, TDM_LOG_BY_RUNTIME);
	if (r == NULL)
		return NULL;
	memset(&r->geometry, 0xff, sizeof r->geometry); /* every figure is TDM_BYTES_UNKNOWN */
	return &r->geometry;
}

/* Takes the fields from `first` on: older lines have others before them and lack the last. */
static void add_configured(const struct tdm_pattern_match *m, size_t first, struct tdm_log_found *found)
{
	struct tdm_log_geometry *g = add_geometry(found);
	if (g == NULL)
		return;
	g->worker_l1_size = tdm_log_number(m->fields[first]);
	g->l1_base = tdm_log_number(m->fields[first + 1]);
	g->l1_small_size = tdm_log_number(m->fields[first + 2]);
	g->l1_alignment = tdm_log_number(m->fields[first + 4]);
	if (m->count > first + 5)
		g->dram_alignment = tdm_log_number(m->fields[first + 5]);
}

static void take_configured(const struct tdm_pattern_match *m, struct tdm_log_found *found)
{
	add_configured(m, 0, found);
}

static void take_configured_old(const struct tdm_pattern_match *m, struct tdm_log_found *found)
{
	add_configured(m, 2, found);
}

static void add_derived(const struct tdm_pattern_match *m, size_t first, struct tdm_log_found *found)
{
	struct tdm_log_geometry *g = add_geometry(found);
	if (g == NULL)
		return;
	g->l1_bank_size = tdm_log_number(m->fields[first]);
	g->allocatable_l1_size = tdm_log_number(m->fields[first + 2]);
}

static void take_derived(const struct tdm_pattern_match *m, struct tdm_log_found *found)
{
	add_derived(m, 0, found);
}

static void take_derived_old(const struct tdm_pattern_match *m, struct tdm_log_found *found)
{
	add_derived(m, 1, found);
}

static void take_begin_op(const struct tdm_pattern_match *m, struct tdm_log_found *found)
{
	struct tdm_log_record *r = tdm_log_found_add(found, TDM_LOG_OP_BEGIN, TDM_LOG_BY_RUNTIME);
	if (r != NULL)
		r->name = m->fields[0];
}

static void take_end_op(const struct tdm_pattern_match *m, struct tdm_log_found *found)
{
	struct tdm_log_record *r = tdm_log_found_add(found, TDM_LOG_OP_END, TDM_LOG_BY_RUNTIME);
	if (r == NULL)
		return;
	r->name = m->fields[0];
	if (m->count > 1)
		r->duration_ns = tdm_log_number(m->fields[1]);
}

static void take_kernel_size(const struct tdm_pattern_match *m, struct tdm_log_found *found)
{
	struct tdm_log_record *r = tdm_log_found_add(found, TDM_LOG_KERNEL_SIZE, TDM_LOG_BY_RUNTIME);
	if (r == NULL)
		return;
	r->name = m->fields[1];
	r->bytes = tdm_log_number(m->fields[2]);
}

static void take_kernel_binary(const struct tdm_pattern_match *m, struct tdm_log_found *found)
{
	struct tdm_log_record *r = tdm_log_found_add(found, TDM_LOG_KERNEL_SIZE, TDM_LOG_BY_RUNTIME);
	if (r == NULL)
		return;
	r->id = tdm_log_number(m->fields[m->count - 2]);
	r->bytes = tdm_log_number(m->fields[m->count - 1]);
}

static void take_program_size(const struct tdm_pattern_match *m, struct tdm_log_found *found)
{
	struct tdm_log_record *r = tdm_log_found_add(found, TDM_LOG_PROGRAM_SIZE, TDM_LOG_BY_RUNTIME);
	if (r == NULL)
		return;
	r->name = m->fields[0];
	r->bytes = tdm_log_number(m->fields[1]);
}

/* "Device memory state before operation X": the views that follow belong to that moment. */
static void take_state_op(const struct tdm_pattern_match *m, struct tdm_log_found *found)
{
	struct tdm_log_record *r = tdm_log_found_add(found, TDM_LOG_OP_BEGIN, TDM_LOG_BY_COMPILER);
	if (r != NULL)
		r->name = m->fields[m->count - 1];
}

/* "Device memory state after submit": the same for a moment that is not an operation. */
static void take_moment(const struct tdm_pattern_match *m, struct tdm_log_found *found)
{
	struct tdm_log_record *r = tdm_log_found_add(found, TDM_LOG_MOMENT, TDM_LOG_BY_COMPILER);
	if (r != NULL)
		r->name = m->fields[0];
}

static uint8_t view_kind(struct tdm_str text)
{
	enum tdm_kind kind;
	if (tdm_str_is(text, "L1 SMALL"))
		return TDM_KIND_L1_SMALL;
	return tdm_kind_parse(text, &kind) == 0 ? (uint8_t)kind : TDM_KIND_COUNT;
}

static void take_view(const struct tdm_pattern_match *m, struct tdm_log_found *found)
{
	uint8_t kind = view_kind(m->fields[0]);
	struct tdm_log_record *r =
		kind < TDM_KIND_COUNT ? tdm_log_found_add(found, TDM_LOG_MEMORY_STATE, TDM_LOG_BY_COMPILER) : NULL;
	uint64_t *figures[] = { NULL, NULL, NULL, NULL };
	if (r == NULL)
		return;
	r->kind = kind;
	r->view = (struct tdm_log_view){ .banks = tdm_log_number(m->fields[1]) };
	figures[0] = &r->view.total;
	figures[1] = &r->view.allocated;
	figures[2] = &r->view.free;
	figures[3] = &r->view.largest_free;
	for (size_t i = 0; i < 4; i++) { /* each has a number and a unit */
		*figures[i] = tdm_log_bytes(m->fields[2 + 2 * i], m->fields[3 + 2 * i]);
		if (*figures[i] == TDM_BYTES_UNKNOWN) {
			found->count--; /* the line is refused */
			return;
		}
	}
}

static const struct form forms[];

/* What a line is that begins like one about amounts; NULL if it does not. */
static const char *amount_line(struct tdm_str text)
{
	static const struct {
		const char *begins, *is;
	} lines[] = {
		{ "SHM record_%i (", NULL }, /* announces a record; the line about it follows */
		{ "SHM record_", "a line about shared memory" },
		{ "Device %* memory state: MemoryView{", "a memory state" },
	};
	struct tdm_pattern_match m;
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
		if (tdm_pattern_match(lines[i].begins, text, &m))
			return lines[i].is;
	return NULL;
}

/* The message from the runtime's own words on: a launcher may put a name before each line. */
static struct tdm_str own_words(struct tdm_str message)
{
	static const char shm[] = "SHM record_";
	struct tdm_str text = tdm_str_trim(message);
	const char *at = text.len != 0 ? memmem(text.ptr, text.len, shm, sizeof shm - 1) : NULL;
	return at != NULL ? (struct tdm_str){ at, (size_t)(text.ptr + text.len - at) } : text;
}

bool tdm_log_runtime_parse(const struct tdm_log_prefix *prefix, struct tdm_log_found *found)
{
	struct tdm_str text = own_words(prefix->message);
	struct tdm_pattern_match m;
	size_t before = found->count;
	for (const struct form *f = forms; f->pattern != NULL; f++)
		if (text.len != 0 && *f->pattern == *text.ptr && tdm_pattern_match(f->pattern, text, &m)) {
			f->take(&m, found);
			break;
		}
	if (found->count == before && text.len != 0)
		found->refused = amount_line(text);
	return found->count != before || found->refused != NULL;
}

#define SHM_FIELDS     "pid=%d, type=%i, size=%d B (%d KB), chip_id=%d, device_id=%d"
#define L1_FIELDS      "worker_l1_size:%x, l1_unreserved_base:%x, l1_small_size:%x, disable_interleaved:%i, l1_alignment:%d"
#define BANK_FIELDS    "l1_bank_size:%x, interleaved_address_limit:%x, allocatable_l1_size:%x"
#define SKIPPED_FIELDS "%* (pid=%d, size=%d B, type=%d, chip_id=%d)"

static const struct form forms[] = {
	{ "SHM record_allocation: " SHM_FIELDS, take_shm_alloc },
	{ "SHM record_deallocation: " SHM_FIELDS, take_shm_free },
	{ "SHM record_allocation SKIPPED: " SKIPPED_FIELDS, take_skipped_alloc },
	{ "SHM record_deallocation SKIPPED: " SKIPPED_FIELDS, take_skipped_free },
	{ "Configured partition params: " L1_FIELDS ", dram_alignment:%d", take_configured },
	{ "Configured partition params: " L1_FIELDS, take_configured },
	{ "Configured partition params: mem_mailbox_base:%x, storage_core_bank_size:%x, " L1_FIELDS,
		take_configured_old },
	{ "Derived partition params: " BANK_FIELDS, take_derived },
	{ "Derived partition params: storage_core_unreserved_base:%x, " BANK_FIELDS, take_derived_old },
	{ "Begin op: %*", take_begin_op },
	{ "End op: %* (duration: %d ns)", take_end_op },
	{ "End op: %*", take_end_op },
	{ "RISC=%*, name=%*, size=%d (bytes)", take_kernel_size },
	{ "Kernel Binary (%i): %*L1_addr=%x, size=%d bytes", take_kernel_binary },
	{ "Program %*:%_%d bytes", take_program_size },
	{ "Device memory state %i operation %*", take_state_op },
	{ "Device memory state %*", take_moment },
	{ "Device %* memory state: MemoryView{numBanks: %d, totalBytesPerBank: %f%_%i, totalBytesAllocatedPerBank: "
	  "%f%_%i, totalBytesFreePerBank: %f%_%i, largestContiguousBytesFreePerBank: %f%_%i",
		take_view },
	{ NULL, NULL },
};
