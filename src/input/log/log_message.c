/* Parses messages with fixed words: from the runtime's logger, tt-mlir's memory states, an allocation server, and
 * the runtime's Watcher. Each has a row in a table; the first row that matches and yields a record wins. */
#include "base/clock.h"
#include "base/pattern.h"
#include "input/capture/core_ranges.h"
#include "input/log/log_reader.h"

#include <ctype.h>

enum { QUIET_MAX = 4 }; /* a buffer list has ended after this many consecutive lines that are not part of it */

/* ---- the list of records, and figures with units ---- */

struct tdm_log_record *tdm_log_found_add(
	struct tdm_log_found *found, enum tdm_log_type type, enum tdm_log_dialect dialect)
{
	struct tdm_log_record *record = &found->records[found->count++];
	tdm_log_record_init(record, type, dialect);
	return record;
}

uint64_t tdm_log_number(struct tdm_str text)
{
	uint64_t value;
	return tdm_pattern_number(text, &value) ? value : TDM_LOG_UNKNOWN;
}

/* A decimal number, possibly with a fraction, times `factor`, rounded; TDM_LOG_UNKNOWN if it does not fit. */
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
	/* The product fits: `part` is less than 10^9, and factors are at most 2^30. */
	uint64_t add = (part * factor + unit / 2) / unit;
	return product > UINT64_MAX - 1 - add ? TDM_LOG_UNKNOWN : product + add;
}

struct unit {
	const char *name;
	uint64_t factor;
};

static uint64_t in_units(struct tdm_str number, struct tdm_str unit, const struct unit *units)
{
	for (; units->name != NULL; units++)
		if (tdm_str_is_word(unit, units->name))
			return scaled(number, units->factor);
	return TDM_LOG_UNKNOWN;
}

uint64_t tdm_log_bytes(struct tdm_str number, struct tdm_str unit)
{
	static const struct unit units[] = { { "", 1 }, { "B", 1 }, { "byte", 1 }, { "bytes", 1 }, { "KB", 1 << 10 },
		{ "KiB", 1 << 10 }, { "MB", 1 << 20 }, { "MiB", 1 << 20 }, { "GB", 1 << 30 }, { "GiB", 1 << 30 },
		{ NULL, 0 } };
	return in_units(number, unit, units);
}

uint64_t tdm_log_duration(struct tdm_str number, struct tdm_str unit)
{
	static const struct unit units[] = { { "ns", 1 }, { "us", 1000 }, { "ms", 1000000 }, { "s", 1000000000 },
		{ NULL, 0 } };
	return in_units(number, unit, units);
}

static uint32_t device_of(struct tdm_str text)
{
	uint64_t value = tdm_log_number(text);
	return value < TDM_LOG_DEVICE_UNKNOWN ? (uint32_t)value : TDM_LOG_DEVICE_UNKNOWN;
}

static uint8_t kind_of(struct tdm_str name)
{
	enum tdm_kind kind;
	if (tdm_str_is(name, "SYSTEM_MEMORY"))
		return TDM_KIND_SYSTEM;
	if (tdm_str_is(name, "L1 SMALL"))
		return TDM_KIND_L1_SMALL;
	return tdm_kind_parse(name, &kind) == 0 ? (uint8_t)kind : TDM_KIND_COUNT;
}

/* ---- forms ---- */

/*
 * A pattern, and a letter for each of its fields: the member of the record that the field sets. Without letters, a
 * matching line is refused, and `is` names it.
 *   p pid      d device     k kind, by name     s kind, by the runtime's label     j kind, as a number
 *   b bytes    B bytes, with the unit in the next field     c count     i id     n name     t duration
 *   0 …        a figure of a geometry or view; in a view, all but the first have their unit in the next field
 *   = the name is the whole text     - nothing
 */
struct form {
	const char *pattern, *fields;
	uint8_t type, dialect; /* type and dialect of the record */
	uint8_t kind;          /* kind of memory, if implied by the words */
	const char *is;
};

/* Ids are written as 0x1a0000, as 1a0000, or in decimal; without 0x, an id with only digits is decimal. */
static uint64_t id_of(struct tdm_str text)
{
	uint64_t value = tdm_log_number(text);
	char hex[24] = "0x";
	if (value != TDM_LOG_UNKNOWN || text.len == 0 || text.len > 16)
		return value;
	memcpy(hex + 2, text.ptr, text.len);
	return tdm_log_number((struct tdm_str){ hex, text.len + 2 });
}

/*
 * Adds a record with the fields of a line. A buffer without kind or size, a view that lacks a figure, and the end of a
 * process whose pid is missing are not added.
 *
 * The runtime looks up the name of a buffer's kind in a list that lacks one entry. Therefore, L1_SMALL in a line means
 * system memory, TRACE means L1_SMALL, CB means TRACE, and UNKNOWN means a circular buffer. For buffers that the
 * runtime could not record in shared memory, the line contains the kind as a number.
 */
static struct tdm_log_record *take_fields(
	const struct form *form, struct tdm_str text, const struct tdm_pattern_match *m, struct tdm_log_found *found)
{
	static const char *const labels[] = { "DRAM", "L1", "L1_SMALL", "TRACE", "CB", "UNKNOWN" };
	static const uint8_t meant[] = { TDM_KIND_DRAM, TDM_KIND_L1, TDM_KIND_SYSTEM, TDM_KIND_L1_SMALL, TDM_KIND_TRACE,
		TDM_KIND_CB };
	struct tdm_log_record *r =
		tdm_log_found_add(found, (enum tdm_log_type)form->type, (enum tdm_log_dialect)form->dialect);
	uint64_t *figures =
		r->type == TDM_LOG_GEOMETRY ? (uint64_t *)(void *)&r->geometry : (uint64_t *)(void *)&r->view;
	bool is_buffer = r->type == TDM_LOG_ALLOC || r->type == TDM_LOG_FREE, is_usable = true;
	if (r->type == TDM_LOG_GEOMETRY)
		memset(&r->geometry, 0xff, sizeof r->geometry); /* sets every figure to TDM_BYTES_UNKNOWN */
	if (form->kind != 0)
		r->kind = form->kind;
	for (size_t i = 0; i < m->count && form->fields[i] != '\0'; i++) {
		struct tdm_str field = m->fields[i], unit = i + 1 < m->count ? m->fields[i + 1] : field;
		uint64_t number = tdm_log_number(field);
		char letter = form->fields[i];
		size_t label = 0;
		switch (letter) {
		case 'p':
			r->pid = number <= INT32_MAX ? (int32_t)number : 0;
			break;
		case 'd':
			r->device = device_of(field);
			break;
		case 's':
			while (label < sizeof meant && !tdm_str_is(field, labels[label]))
				label++;
			number = label;
			/* falls through */
		case 'j':
		case 'k':
			r->kind = letter == 'k'           ? kind_of(field)
				  : number < sizeof meant ? meant[number]
							  : TDM_KIND_COUNT;
			is_usable &= r->kind != TDM_KIND_COUNT;
			break;
		case 'b':
		case 'B':
			r->bytes = letter == 'B' ? tdm_log_bytes(field, unit) : number;
			break;
		case 'c':
			r->count = number;
			break;
		case 'i':
			r->id = id_of(field);
			if (is_buffer) /* a new buffer has one reference, unless the line gives a number */
				r->count = r->type == TDM_LOG_ALLOC;
			break;
		case 'n':
		case '=':
			r->name = letter == '=' ? (struct tdm_str){ text.ptr, m->len } : field;
			break;
		case 't':
			r->duration_ns = number;
			break;
		case '-':
		case '.':
			break;
		default:
			if (r->type == TDM_LOG_MEMORY_STATE && letter != '0') {
				number = tdm_log_bytes(field, unit);
				is_usable &= number != TDM_BYTES_UNKNOWN;
			}
			figures[letter - '0'] = number;
			break;
		}
	}
	is_usable &= !is_buffer || r->bytes != TDM_LOG_UNKNOWN;
	is_usable &= r->type != TDM_LOG_PROCESS_GONE || r->pid != 0;
	found->count -= !is_usable;
	return is_usable ? r : NULL;
}

/* ---- the list of an allocation server ---- */

void tdm_log_dump_begin(struct tdm_log_dump *state)
{
	*state = (struct tdm_log_dump){ .inside = true, .device = TDM_LOG_DEVICE_UNKNOWN };
}

void tdm_log_dump_line(struct tdm_log_dump *state, struct tdm_str line, struct tdm_log_found *found)
{
	static const struct form remaining = { "%i: %d buffers, %f %i total", "kcB.", TDM_LOG_REMAINING,
		TDM_LOG_BY_SERVER, 0, NULL };
	struct tdm_pattern_match m;
	struct tdm_str text = tdm_str_trim(line);
	if (tdm_str_begins(text, "Total remaining buffers:") || tdm_str_find(text, "No buffers remaining") != NULL) {
		state->inside = false;
	} else if (tdm_pattern_match("Device %d:", text, &m) && m.len == text.len) {
		state->device = device_of(m.fields[0]);
	} else if (tdm_pattern_match(remaining.pattern, text, &m)) {
		struct tdm_log_record *r = take_fields(&remaining, text, &m, found);
		if (r != NULL)
			r->device = state->device;
	} else if (text.len != 0 && !tdm_pattern_match("- Buffer", text, &m) &&
		   !tdm_pattern_match("Total tracked", text, &m)) {
		if (++state->quiet >= QUIET_MAX)
			state->inside = false;
		return;
	}
	state->quiet = 0;
}

/* ---- the Watcher ---- */

/* A processor's highest stack usage: "192/768", or in newer logs the free bytes. */
static void take_stack(const struct tdm_pattern_match *m, struct tdm_log_found *found)
{
	struct tdm_log_record *r = tdm_log_found_add(found, TDM_LOG_STACK, TDM_LOG_BY_WATCHER), *failed;
	struct tdm_log_view use = { TDM_LOG_UNKNOWN, TDM_LOG_UNKNOWN, TDM_LOG_UNKNOWN, tdm_log_number(m->fields[1]),
		TDM_LOG_UNKNOWN };
	size_t core = m->count - 3;
	if (core == 3) {
		use.allocated = use.free;
		use.total = tdm_log_number(m->fields[2]);
		use.free = use.allocated <= use.total ? use.total - use.allocated : 0;
	}
	r->view = use;
	r->processor = m->fields[0];
	r->name = m->fields[core + 1];
	r->has_range = tdm_core_ranges_find(m->fields[core], &r->range) != 0;
	if (tdm_str_find(m->fields[core + 2], "(OVERFLOW)") == NULL)
		return;
	const char *begin = m->fields[0].ptr, *end = m->fields[core + 2].ptr + m->fields[core + 2].len;
	failed = tdm_log_found_add(found, TDM_LOG_FAILURE, TDM_LOG_BY_WATCHER);
	tdm_failure_init(
		&failed->failure, TDM_FAILURE_STACK, tdm_str_trim((struct tdm_str){ begin, (size_t)(end - begin) }));
	failed->failure.asked = use.allocated;
	failed->failure.limit = use.total;
	failed->failure.name = r->name;
	failed->failure.has_range = r->has_range;
	failed->failure.range_count = r->has_range;
	failed->failure.range = r->range;
}

/* ---- the tables ---- */

#define SHM_FIELDS     "pid=%d, type=%i, size=%d B (%d KB), chip_id=%d, device_id=%d"
#define L1_FIELDS      "worker_l1_size:%x, l1_unreserved_base:%x, l1_small_size:%x, disable_interleaved:%i, l1_alignment:%d"
#define BANK_FIELDS    "l1_bank_size:%x, interleaved_address_limit:%x, allocatable_l1_size:%x"
#define SKIPPED_FIELDS "%* (pid=%d, size=%d B, type=%d, chip_id=%d)"
#define BY(who)        .dialect = TDM_LOG_BY_##who
#define TYPE(name)     .type = TDM_LOG_##name

static const struct form of_runtime[] = {
	{ "SHM record_allocation: " SHM_FIELDS, "psb--d", TYPE(ALLOC) },
	{ "SHM record_deallocation: " SHM_FIELDS, "psb--d", TYPE(FREE) },
	{ "SHM record_allocation SKIPPED: " SKIPPED_FIELDS, "-pbjd", TYPE(ALLOC) },
	{ "SHM record_deallocation SKIPPED: " SKIPPED_FIELDS, "-pbjd", TYPE(FREE) },
	{ "Configured partition params: " L1_FIELDS ", dram_alignment:%d", "012-56", TYPE(GEOMETRY) },
	{ "Configured partition params: " L1_FIELDS, "012-5", TYPE(GEOMETRY) },
	{ "Configured partition params: mem_mailbox_base:%x, storage_core_bank_size:%x, " L1_FIELDS, "--012-5",
		TYPE(GEOMETRY) },
	{ "Derived partition params: " BANK_FIELDS, "3-4", TYPE(GEOMETRY) },
	{ "Derived partition params: storage_core_unreserved_base:%x, " BANK_FIELDS, "-3-4", TYPE(GEOMETRY) },
	{ "Begin op: %*", "n", TYPE(OP_BEGIN) },
	{ "End op: %* (duration: %d ns)", "nt", TYPE(OP_END) },
	{ "End op: %*", "n", TYPE(OP_END) },
	{ "RISC=%*, name=%*, size=%d (bytes)", "-nb", TYPE(KERNEL_SIZE) },
	{ "Kernel Binary (%i): %*L1_addr=%x, size=%d bytes", "--ib", TYPE(KERNEL_SIZE) },
	{ "Program %*:%_%d bytes", "nb", TYPE(PROGRAM_SIZE) },
	/* The following views describe this moment, which may be an operation. */
	{ "Device memory state %i operation %*", "-n", TYPE(OP_BEGIN), BY(COMPILER) },
	{ "Device memory state %*", "n", TYPE(MOMENT), BY(COMPILER) },
	{ "Device %* memory state: MemoryView{numBanks: %d, totalBytesPerBank: %f%_%i, totalBytesAllocatedPerBank: "
	  "%f%_%i, totalBytesFreePerBank: %f%_%i, largestContiguousBytesFreePerBank: %f%_%i",
		"k01.2.3.4.", TYPE(MEMORY_STATE), BY(COMPILER) },
	{ "SHM record_%i (", .is = NULL }, /* only announces a record; the next line contains the details */
	{ "SHM record_", .is = "a line about shared memory" },
	{ "Device %* memory state: MemoryView{", .is = "a memory state" },
	{ .pattern = NULL },
};

static const char server_line[] = "a line of an allocation server";

static const struct form of_server[] = {
	{ "[PID %d] Allocated %d bytes of %i on device %d (buffer_id=%i, ref_count=%d)", "pbkdic", TYPE(ALLOC),
		BY(SERVER) },
	{ "[PID %d] Allocated %d bytes of %i on device %d (buffer_id=%i", "pbkdi", TYPE(ALLOC), BY(SERVER) },
	{ "[PID %d] Freed buffer %i on device %d (%d bytes, ref_count=%d remaining)", "pidbc", TYPE(FREE), BY(SERVER) },
	{ "[PID %d] Freed buffer %i on device %d (%d bytes", "pidb", TYPE(FREE), BY(SERVER) },
	{ "[PID %d] Deallocation for %*buffer %i on device %d", "p-id", TYPE(UNKNOWN_FREE), BY(SERVER) },
	{ "[PID %d] Deallocation for %*buffer %i", "p-i", TYPE(UNKNOWN_FREE), BY(SERVER) },
	{ "[CB_ALLOC] Device %d: +%f %i", "dB.", TYPE(ALLOC), BY(SERVER), TDM_KIND_CB },
	{ "[CB_FREE] Device %d: -%f %i", "dB.", TYPE(FREE), BY(SERVER), TDM_KIND_CB },
	{ "[KERNEL_LOAD] %i kernel on Device %d: +%f %i", "-dB.", TYPE(ALLOC), BY(SERVER), TDM_KIND_KERNEL },
	{ "[KERNEL_UNLOAD] %i kernel on Device %d: -%f %i", "-dB.", TYPE(FREE), BY(SERVER), TDM_KIND_KERNEL },
	{ "[PID %*] Allocated ", .is = server_line },
	{ "[PID %*] Freed buffer ", .is = server_line },
	{ "[CB_ALLOC] ", .is = server_line },
	{ "[CB_FREE] ", .is = server_line },
	{ "[KERNEL_LOAD] ", .is = server_line },
	{ "[KERNEL_UNLOAD] ", .is = server_line },
	{ .pattern = NULL },
};

static const struct form of_cleanup[] = {
	{ "Removed %d buffers (%f %i) from PID %d", "cB.p", TYPE(PROCESS_GONE), BY(SERVER) },
	{ .pattern = NULL },
};

static const struct form of_watcher[] = {
	{ "%i highest stack usage: %d/%d, on core %*, running kernel %w%*", "", TYPE(STACK), BY(WATCHER) },
	{ "%i highest stack usage: %d bytes free, on core %*, running kernel %w%*", "", TYPE(STACK), BY(WATCHER) },
	{ "Dump #%d at %f%_s", "=-", TYPE(MOMENT), BY(WATCHER) },
	{ .pattern = NULL },
};

static bool match(const struct form *forms, struct tdm_str text, struct tdm_log_found *found)
{
	size_t before = found->count;
	struct tdm_pattern_match m;
	for (const struct form *f = forms; f->pattern != NULL && found->count == before; f++) {
		if (text.len == 0 || (*f->pattern != *text.ptr && *f->pattern != '%') ||
			!tdm_pattern_match(f->pattern, text, &m))
			continue;
		if (f->fields == NULL) {
			found->refused = f->is;
			break;
		}
		if (f->type == TDM_LOG_STACK)
			take_stack(&m, found);
		else
			take_fields(f, text, &m, found);
	}
	return found->count != before || found->refused != NULL;
}

bool tdm_log_message_parse(const struct tdm_log_prefix *prefix, struct tdm_log_found *found)
{
	enum { MARK_MAX = 16, CLEANUP_MAX = 32 };
	struct tdm_str message = prefix->message, text = tdm_str_trim(message);
	/* A launcher may put a name before each line, and a mark before a bracket may be in any encoding. */
	const char *shm = tdm_str_find(text, "SHM record_"), *bracket, *verb;
	if (text.len == 0)
		return false;
	if (match(of_runtime, shm != NULL ? tdm_str_rest(text, shm) : text, found))
		return true;
	bracket = memchr(message.ptr, '[', message.len < MARK_MAX ? message.len : MARK_MAX);
	if (bracket != NULL && match(of_server, tdm_str_rest(message, bracket), found))
		return true;
	struct tdm_str head = { message.ptr, message.len < CLEANUP_MAX ? message.len : CLEANUP_MAX };
	verb = bracket == NULL ? tdm_str_find(head, "Removed ") : NULL;
	if (verb != NULL && match(of_cleanup, tdm_str_rest(message, verb), found))
		return true;
	return match(of_watcher, text, found);
}

/* ---- a line's prefix: each recognised part is cut off the front ---- */

enum { ESC = 27, LOCATION_MAX = 128 };

size_t tdm_log_strip_colour(char *text, size_t len)
{
	size_t out = 0;
	for (size_t i = 0; i < len; i++) {
		if (text[i] != ESC || i + 1 == len || text[i + 1] != '[') {
			text[out++] = text[i];
			continue;
		}
		size_t end = i + 2;
		while (end < len && (isdigit((unsigned char)text[end]) || text[end] == ';' || text[end] == '?'))
			end++;
		i = end < len ? end : len - 1; /* also drops the final letter */
	}
	return out;
}

struct tdm_str tdm_log_without_colour(struct tdm_str line, struct tdm_buf *clean)
{
	if (line.len == 0 || memchr(line.ptr, ESC, line.len) == NULL)
		return line;
	tdm_buf_clear(clean);
	tdm_buf_add(clean, line.ptr, line.len);
	clean->len = tdm_log_strip_colour(clean->data, clean->len);
	return tdm_buf_str(clean);
}

/* Parses exactly `count` digits at `at`; returns false if there are fewer. */
static bool digits(struct tdm_str s, size_t at, size_t count, unsigned *value)
{
	*value = 0;
	if (at > s.len || count > s.len - at)
		return false;
	for (size_t i = at; i < at + count; i++) {
		if (!isdigit((unsigned char)s.ptr[i]))
			return false;
		*value = *value * 10 + (unsigned)(s.ptr[i] - '0');
	}
	return true;
}

/* Days from 1970 to a Gregorian date, which must not be earlier. */
static uint64_t days_of(unsigned year, unsigned month, unsigned day)
{
	/* Counts years from March, which makes the leap day the last day of a year. */
	unsigned y = month <= 2 ? year - 1 : year, m = (month + 9) % 12;
	uint64_t to_march = UINT64_C(365) * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1;
	return to_march - 719468;
}

/* Parses "2026-11-15 07:36:19.238", or with a T; the fraction may have any length. Returns 0, with *len unchanged,
 * if it is not a time. */
static uint64_t parse_time(struct tdm_str s, size_t *len)
{
	unsigned year, month, day, hour, minute, second;
	if (s.len < 19 || s.ptr[4] != '-' || s.ptr[7] != '-' || (s.ptr[10] != ' ' && s.ptr[10] != 'T') ||
		s.ptr[13] != ':' || s.ptr[16] != ':')
		return 0;
	if (!digits(s, 0, 4, &year) || !digits(s, 5, 2, &month) || !digits(s, 8, 2, &day) || !digits(s, 11, 2, &hour) ||
		!digits(s, 14, 2, &minute) || !digits(s, 17, 2, &second))
		return 0;
	if (year < 1971 || year > 2500 || month < 1 || month > 12 || day < 1 || day > 31 || hour > 23 || minute > 59 ||
		second > 60)
		return 0;
	uint64_t ns = ((days_of(year, month, day) * 24 + hour) * 60 + minute) * 60 + second;
	size_t at = 19;
	ns *= TDM_NS_PER_S;
	if (at + 1 < s.len && (s.ptr[at] == '.' || s.ptr[at] == ',') && isdigit((unsigned char)s.ptr[at + 1]))
		for (uint64_t unit = TDM_NS_PER_S / 10; ++at < s.len && isdigit((unsigned char)s.ptr[at]); unit /= 10)
			ns += unit * (unsigned)(s.ptr[at] - '0');
	if (at < s.len && s.ptr[at] == 'Z')
		at++;
	*len = at;
	return ns;
}

static void advance(struct tdm_str *s, size_t count)
{
	*s = tdm_str_from(*s, count);
}

static uint8_t level_of(struct tdm_str word)
{
	if (tdm_str_is_word(word, "warn"))
		return TDM_LOG_LEVEL_WARNING;
	if (tdm_str_is_word(word, "fatal"))
		return TDM_LOG_LEVEL_CRITICAL;
	for (int level = TDM_LOG_LEVEL_TRACE; level < TDM_LOG_LEVEL_COUNT; level++)
		if (tdm_str_is_word(word, tdm_log_level_name((enum tdm_log_level)level)))
			return (uint8_t)level;
	return TDM_LOG_LEVEL_NONE;
}

/* Cuts off a level and a name in either order: "debug | Metal | " or " Always | INFO | ". */
static bool take_logger(struct tdm_str *rest, struct tdm_log_prefix *p)
{
	struct tdm_pattern_match m;
	if (!tdm_pattern_match("%_%i%_|%_%w%_|", *rest, &m))
		return false;
	uint8_t first = level_of(m.fields[0]), second = level_of(m.fields[1]);
	if (first == TDM_LOG_LEVEL_NONE && second == TDM_LOG_LEVEL_NONE)
		return false;
	p->level = first != TDM_LOG_LEVEL_NONE ? first : second;
	p->is_logger = true;
	advance(rest, m.len);
	if (rest->len != 0 && *rest->ptr == ' ')
		advance(rest, 1);
	return true;
}

/* Cuts off "[1,0]<stdout>:" from mpirun. */
static void take_rank(struct tdm_str *rest, struct tdm_log_prefix *p)
{
	struct tdm_pattern_match m;
	uint64_t rank;
	if (rest->len == 0 || *rest->ptr != '[' || !tdm_pattern_match("[%d,%d]<std%i>:", *rest, &m))
		return;
	if (tdm_pattern_number(m.fields[1], &rank) && rank <= INT32_MAX)
		p->rank = (int32_t)rank;
	advance(rest, m.len);
}

/* Cuts off "0:(x=1,y=1):TR0: " or "0:1-1:NC: " from a kernel's print. */
static void take_core(struct tdm_str *rest, struct tdm_log_prefix *p)
{
	static const char *const forms[] = { "%d:(x=%d,y=%d):%i:", "%d:%d-%d:%i:" };
	struct tdm_pattern_match m;
	uint64_t device, x, y;
	if (rest->len == 0 || !isdigit((unsigned char)*rest->ptr))
		return;
	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
		if (!tdm_pattern_match(forms[i], *rest, &m))
			continue;
		if (!tdm_pattern_number(m.fields[0], &device) || !tdm_pattern_number(m.fields[1], &x) ||
			!tdm_pattern_number(m.fields[2], &y) || device >= UINT32_MAX || x > UINT16_MAX ||
			y > UINT16_MAX)
			return;
		p->device = (uint32_t)device;
		p->core = (struct tdm_core_range){ (uint16_t)x, (uint16_t)y, (uint16_t)x, (uint16_t)y };
		p->has_core = true;
		advance(rest, m.len);
		*rest = tdm_str_trim(*rest);
		return;
	}
}

/* Cuts " (assert.hpp:104)" off the end. */
static void take_location(struct tdm_log_prefix *p)
{
	struct tdm_str s = p->message;
	if (s.len < 5 || s.ptr[s.len - 1] != ')')
		return;
	const char *open = memrchr(s.ptr, '(', s.len);
	const char *colon = memrchr(s.ptr, ':', s.len);
	if (open == NULL || colon == NULL || colon < open || open == s.ptr || open[-1] != ' ' ||
		s.ptr + s.len - open > LOCATION_MAX || memchr(open, ' ', (size_t)(s.ptr + s.len - open)) != NULL)
		return;
	p->message = tdm_str_trim((struct tdm_str){ s.ptr, (size_t)(open - s.ptr) });
}

/* Where the logger's own line begins, after a prefix added by a container, a journal or a script; 0 if there is
 * none. */
static size_t find_logger(struct tdm_str line)
{
	enum { LOOKED_AT = 160 };
	if (line.len == 0 || memchr(line.ptr, '|', line.len) == NULL)
		return 0;
	for (size_t at = 1; at < line.len && at < LOOKED_AT; at++) {
		struct tdm_str rest = tdm_str_from(line, at);
		struct tdm_pattern_match m;
		size_t len = 0;
		if (!isdigit((unsigned char)line.ptr[at]) || isdigit((unsigned char)line.ptr[at - 1]) ||
			parse_time(rest, &len) == 0)
			continue;
		advance(&rest, len);
		if (tdm_pattern_match("%_|%_%i%_|%_%w%_|", rest, &m) && level_of(m.fields[0]) != TDM_LOG_LEVEL_NONE)
			return at;
	}
	return 0;
}

static void parse_prefix(struct tdm_str line, struct tdm_log_prefix *p)
{
	struct tdm_str rest = line;
	size_t len = 0;
	*p = (struct tdm_log_prefix){ .rank = TDM_LOG_NO_RANK, .device = TDM_LOG_DEVICE_UNKNOWN };
	take_rank(&rest, p);
	p->time_ns = parse_time(rest, &len);
	if (p->time_ns != 0) {
		size_t inner_len = 0;
		advance(&rest, len);
		struct tdm_str inner = tdm_str_trim(rest);
		take_rank(&inner, p);
		uint64_t own = parse_time(inner, &inner_len); /* the logger's own time, after a CI system's prefix */
		if (own != 0) {
			p->time_ns = own;
			rest = inner;
			advance(&rest, inner_len);
		}
		struct tdm_pattern_match m;
		if (tdm_pattern_match("%_|", rest, &m))
			advance(&rest, m.len);
		else
			rest = tdm_str_trim(rest);
	}
	if (take_logger(&rest, p)) {
		p->message = rest;
		take_location(p);
		return;
	}
	take_core(&rest, p);
	p->message = rest;
}

void tdm_log_prefix_parse(struct tdm_str line, struct tdm_log_prefix *p)
{
	parse_prefix(line, p);
	size_t at = p->is_logger || p->has_core ? 0 : find_logger(line);
	if (at == 0)
		return;
	int32_t rank = p->rank;
	advance(&line, at);
	parse_prefix(line, p);
	p->rank = rank;
}
