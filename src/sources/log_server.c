/* The lines of an allocation server: allocations, releases, and its list of remaining buffers. */
#include "base/pattern.h"
#include "sources/log_forms.h"

enum { QUIET_MAX = 4 }; /* consecutive lines that do not belong to the list, which end it */

static uint8_t kind_of(struct tdm_str name)
{
	enum tdm_kind kind;
	if (tdm_str_is(name, "SYSTEM_MEMORY"))
		return TDM_KIND_SYSTEM;
	return tdm_kind_parse(name, &kind) == 0 ? (uint8_t)kind : TDM_KIND_COUNT;
}

/* Ids are written as 0x1a0000, as 1a0000 or in decimal; without 0x, only digits means decimal. */
static uint64_t id_of(struct tdm_str text)
{
	uint64_t value = tdm_log_number(text);
	char hex[24] = "0x";
	if (value != TDM_LOG_UNKNOWN || text.len == 0 || text.len > 16)
		return value;
	memcpy(hex + 2, text.ptr, text.len);
	return tdm_log_number((struct tdm_str){ hex, text.len + 2 });
}

static void set_who(struct tdm_log_record *r, struct tdm_str pid, struct tdm_str device)
{
	uint64_t p = tdm_log_number(pid), d = tdm_log_number(device);
	r->pid = p <= INT32_MAX ? (int32_t)p : 0;
	r->device = d < TDM_LOG_DEVICE_UNKNOWN ? (uint32_t)d : TDM_LOG_DEVICE_UNKNOWN;
}

static bool parse_alloc(struct tdm_str text, struct tdm_log_found *found)
{
	struct tdm_pattern_match m, more;
	if (!tdm_pattern_match("[PID %d] Allocated %d bytes of %i on device %d (buffer_id=%i", text, &m))
		return false;
	uint8_t kind = kind_of(m.fields[2]);
	uint64_t bytes = tdm_log_number(m.fields[1]);
	struct tdm_log_record *r = kind < TDM_KIND_COUNT && bytes != TDM_LOG_UNKNOWN
					   ? tdm_log_found_add(found, TDM_LOG_ALLOC, TDM_LOG_BY_SERVER)
					   : NULL;
	if (r == NULL)
		return false;
	set_who(r, m.fields[0], m.fields[3]);
	r->bytes = bytes;
	r->kind = kind;
	r->id = id_of(m.fields[4]);
	r->count = 1;
	if (tdm_pattern_match(", ref_count=%d)", (struct tdm_str){ text.ptr + m.len, text.len - m.len }, &more))
		r->count = tdm_log_number(more.fields[0]);
	return true;
}

static bool parse_free(struct tdm_str text, struct tdm_log_found *found)
{
	struct tdm_pattern_match m, more;
	if (!tdm_pattern_match("[PID %d] Freed buffer %i on device %d (%d bytes", text, &m))
		return false;
	uint64_t bytes = tdm_log_number(m.fields[3]);
	struct tdm_log_record *r =
		bytes != TDM_LOG_UNKNOWN ? tdm_log_found_add(found, TDM_LOG_FREE, TDM_LOG_BY_SERVER) : NULL;
	if (r == NULL)
		return false;
	set_who(r, m.fields[0], m.fields[2]);
	r->id = id_of(m.fields[1]);
	r->bytes = bytes;
	r->count = 0; /* remaining references */
	if (tdm_pattern_match(
		    ", ref_count=%d remaining)", (struct tdm_str){ text.ptr + m.len, text.len - m.len }, &more))
		r->count = tdm_log_number(more.fields[0]);
	return true;
}

static bool parse_unknown_free(struct tdm_str text, struct tdm_log_found *found)
{
	struct tdm_pattern_match m;
	if (!tdm_pattern_match("[PID %d] Deallocation for %*buffer %i on device %d", text, &m) &&
		!tdm_pattern_match("[PID %d] Deallocation for %*buffer %i", text, &m))
		return false;
	struct tdm_log_record *r = tdm_log_found_add(found, TDM_LOG_UNKNOWN_FREE, TDM_LOG_BY_SERVER);
	if (r == NULL)
		return false;
	set_who(r, m.fields[0], m.count > 3 ? m.fields[3] : (struct tdm_str){ "", 0 });
	r->id = id_of(m.fields[2]);
	return true;
}

/* "[CB_ALLOC] Device 0: +1.5 MB (Total: 3 MB)" and three similar lines: amounts without an owner. */
static bool parse_amount(struct tdm_str text, struct tdm_log_found *found)
{
	static const struct {
		const char *pattern;
		uint8_t type, kind;
		uint8_t device; /* index of its field */
	} forms[] = {
		{ "[CB_ALLOC] Device %d: +%f %i", TDM_LOG_ALLOC, TDM_KIND_CB, 0 },
		{ "[CB_FREE] Device %d: -%f %i", TDM_LOG_FREE, TDM_KIND_CB, 0 },
		{ "[KERNEL_LOAD] %i kernel on Device %d: +%f %i", TDM_LOG_ALLOC, TDM_KIND_KERNEL, 1 },
		{ "[KERNEL_UNLOAD] %i kernel on Device %d: -%f %i", TDM_LOG_FREE, TDM_KIND_KERNEL, 1 },
	};
	struct tdm_pattern_match m;
	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
		if (!tdm_pattern_match(forms[i].pattern, text, &m))
			continue;
		size_t device = forms[i].device;
		uint64_t bytes = tdm_log_bytes(m.fields[device + 1], m.fields[device + 2]);
		struct tdm_log_record *r =
			bytes != TDM_BYTES_UNKNOWN
				? tdm_log_found_add(found, (enum tdm_log_type)forms[i].type, TDM_LOG_BY_SERVER)
				: NULL;
		if (r == NULL)
			return false;
		set_who(r, (struct tdm_str){ "", 0 }, m.fields[device]);
		r->pid = 0;
		r->kind = forms[i].kind;
		r->bytes = bytes;
		return true;
	}
	return false;
}

/* "✓ Removed 3 buffers (1.5 MB) from PID 42": buffers that a dead process left. */
static bool parse_gone(struct tdm_str text, struct tdm_log_found *found)
{
	struct tdm_pattern_match m;
	const char *verb = memmem(text.ptr, text.len < 32 ? text.len : 32, "Removed ", 8);
	if (verb == NULL || !tdm_pattern_match("Removed %d buffers (%f %i) from PID %d",
				    (struct tdm_str){ verb, (size_t)(text.ptr + text.len - verb) }, &m))
		return false;
	uint64_t pid = tdm_log_number(m.fields[3]);
	struct tdm_log_record *r =
		pid != 0 && pid <= INT32_MAX ? tdm_log_found_add(found, TDM_LOG_PROCESS_GONE, TDM_LOG_BY_SERVER) : NULL;
	if (r == NULL)
		return false;
	r->pid = (int32_t)pid;
	r->count = tdm_log_number(m.fields[0]);
	r->bytes = tdm_log_bytes(m.fields[1], m.fields[2]);
	return true;
}

/* Whether a line begins like one about a buffer or an amount. */
static bool is_amount_line(struct tdm_str text)
{
	static const char *const begins[] = { "[PID %*] Allocated ", "[PID %*] Freed buffer ", "[CB_ALLOC] ",
		"[CB_FREE] ", "[KERNEL_LOAD] ", "[KERNEL_UNLOAD] " };
	struct tdm_pattern_match m;
	for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
		if (tdm_pattern_match(begins[i], text, &m))
			return true;
	return false;
}

bool tdm_log_server_parse(const struct tdm_log_prefix *prefix, struct tdm_log_found *found)
{
	/* Skips a mark before the bracket, in any encoding. */
	struct tdm_str text = prefix->message;
	const char *bracket = text.len != 0 ? memchr(text.ptr, '[', text.len < 16 ? text.len : 16) : NULL;
	if (bracket == NULL)
		return text.len != 0 && parse_gone(text, found);
	text = (struct tdm_str){ bracket, (size_t)(text.ptr + text.len - bracket) };
	if (parse_alloc(text, found) || parse_free(text, found) || parse_unknown_free(text, found) ||
		parse_amount(text, found))
		return true;
	found->refused = is_amount_line(text) ? "a line of an allocation server" : NULL;
	return found->refused != NULL;
}

void tdm_log_dump_begin(struct tdm_log_dump *state)
{
	*state = (struct tdm_log_dump){ .inside = true, .device = TDM_LOG_DEVICE_UNKNOWN, .kind = TDM_KIND_COUNT };
}

void tdm_log_dump_line(struct tdm_log_dump *state, struct tdm_str line, struct tdm_log_found *found)
{
	struct tdm_pattern_match m;
	struct tdm_str text = tdm_str_trim(line);
	if (tdm_pattern_match("Total remaining buffers:", text, &m) ||
		memmem(text.ptr, text.len, "No buffers remaining", 20) != NULL) {
		state->inside = false;
	} else if (tdm_pattern_match("Device %d:", text, &m) && m.len == text.len) {
		uint64_t device = tdm_log_number(m.fields[0]);
		state->device = device < TDM_LOG_DEVICE_UNKNOWN ? (uint32_t)device : TDM_LOG_DEVICE_UNKNOWN;
	} else if (tdm_pattern_match("%i: %d buffers, %f %i total", text, &m)) {
		struct tdm_log_record *r;
		state->kind = kind_of(m.fields[0]);
		if (state->kind < TDM_KIND_COUNT &&
			(r = tdm_log_found_add(found, TDM_LOG_REMAINING, TDM_LOG_BY_SERVER)) != NULL) {
			r->device = state->device;
			r->kind = state->kind;
			r->count = tdm_log_number(m.fields[1]);
			r->bytes = tdm_log_bytes(m.fields[2], m.fields[3]);
		}
	} else if (text.len != 0 && !tdm_pattern_match("- Buffer", text, &m) &&
		   !tdm_pattern_match("Total tracked", text, &m)) {
		if (++state->quiet >= QUIET_MAX)
			state->inside = false;
		return;
	}
	state->quiet = 0;
}
