#include "event/failure.h"

#include <inttypes.h>
#include <stdio.h>

static const struct {
	const char *name, *title;
} types[TDM_FAILURE_COUNT] = {
#define X(id, name, title) [TDM_FAILURE_##id] = { name, title },
	TDM_FAILURE_LIST(X)
#undef X
};

const char tdm_failure_letters[] = {
#define X(member, letter, key) letter,
	TDM_FAILURE_FIGURE_LIST(X)
#undef X
};

const char *const tdm_failure_keys[] = {
#define X(member, letter, key) key,
	TDM_FAILURE_FIGURE_LIST(X)
#undef X
};

const char *tdm_failure_name(enum tdm_failure_type type)
{
	return (unsigned)type < TDM_FAILURE_COUNT ? types[type].name : "unknown";
}

const char *tdm_failure_title(enum tdm_failure_type type)
{
	return (unsigned)type < TDM_FAILURE_COUNT ? types[type].title : "unknown";
}

const char *tdm_failure_cause_name(enum tdm_failure_cause cause)
{
	static const char *const names[] = {
		[TDM_FAILURE_CAUSE_UNKNOWN] = NULL,
		[TDM_FAILURE_TOO_LARGE] = "too_large",
		[TDM_FAILURE_EXHAUSTED] = "exhausted",
		[TDM_FAILURE_FRAGMENTED] = "fragmented",
	};
	return (unsigned)cause < sizeof names / sizeof *names ? names[cause] : NULL;
}

enum tdm_kind tdm_failure_memory(const struct tdm_failure *f)
{
	bool is_static = f->type == TDM_FAILURE_BEYOND_L1 || f->type == TDM_FAILURE_CLASH ||
			 f->type == TDM_FAILURE_SERVICE_CLASH;
	if (tdm_failure_is_warning(f))
		return TDM_KIND_COUNT;
	return !is_static ? (enum tdm_kind)f->kind : f->is_dataflow ? TDM_KIND_DFB : TDM_KIND_CB;
}

enum tdm_failure_cause tdm_failure_cause(const struct tdm_failure *f)
{
	const uint64_t unknown = TDM_BYTES_UNKNOWN, need = f->bytes_per_bank;
	if (f->type != TDM_FAILURE_OUT_OF_MEMORY && f->type != TDM_FAILURE_DEPENDENCIES)
		return TDM_FAILURE_CAUSE_UNKNOWN;
	if (need == unknown)
		return TDM_FAILURE_CAUSE_UNKNOWN;
	if (f->bank_size != unknown && need > f->bank_size)
		return TDM_FAILURE_TOO_LARGE;
	if (f->free != unknown && need > f->free)
		return TDM_FAILURE_EXHAUSTED;
	if (f->free != unknown && f->largest_free != unknown && need > f->largest_free)
		return TDM_FAILURE_FRAGMENTED;
	if (f->placeable != unknown && need > f->placeable)
		return TDM_FAILURE_EXHAUSTED;
	if (f->placeable != unknown && f->largest_placeable != unknown && need > f->largest_placeable)
		return TDM_FAILURE_FRAGMENTED;
	return TDM_FAILURE_CAUSE_UNKNOWN;
}

bool tdm_failure_is_same(const struct tdm_failure *a, const struct tdm_failure *b)
{
	return a->type == b->type && a->kind == b->kind && a->is_dataflow == b->is_dataflow &&
	       memcmp(a->figures, b->figures, sizeof a->figures) == 0 && a->has_range == b->has_range &&
	       a->range_count == b->range_count &&
	       (!a->has_range || memcmp(&a->range, &b->range, sizeof a->range) == 0) && tdm_str_eq(a->name, b->name);
}

/*
 * What is said in one line, in pieces that '|' parts. A piece is left out when the sentence does not have its field:
 * '%' and a letter of the patterns for a size, "%#" for a number or an address, or %k kind     %c cores     %n name %d
 * "circular buffers" or "dataflow buffers"     %w the cause
 */
#define OF_BANKS                                                                                                       \
	"%a| of %k|, %p in each| of %#b banks| of %z|; free %f|, in one piece %l|; with its dependencies %r|, in one " \
	"piece %t|; %w"
static const char *const summaries[TDM_FAILURE_COUNT] = {
	[TDM_FAILURE_OUT_OF_MEMORY] = OF_BANKS,
	[TDM_FAILURE_DEPENDENCIES] = OF_BANKS,
	[TDM_FAILURE_BELOW_LIMIT] = "the only place is at %#s|, below the limit %#m",
	[TDM_FAILURE_BEYOND_L1] = "%d| on cores %c| end at %#e|, L1 ends at %#m",
	[TDM_FAILURE_CLASH] = "%d| of program %#g| on cores %c| end at %#e|, the lowest L1 buffer is at %#s",
	[TDM_FAILURE_SERVICE_CLASH] = "%d| of program %#g| on cores %c| end at %#e|, the lowest L1 buffer is at %#s",
	[TDM_FAILURE_PROGRAM_SIZE] = "the program has %a|, the buffer %m| on %n",
	[TDM_FAILURE_TRACE_REGION] = "the trace needs %a|, the region has %m",
	[TDM_FAILURE_TRACE_OVERLAP] = "at address %#s| with %n",
	[TDM_FAILURE_WORKER_L1] = "%a|, at most %m",
	[TDM_FAILURE_SEGMENT] = "%a| at %#s|, the region has %m|: %n",
	[TDM_FAILURE_CB_RESIZE] = "%a|, at most %m",
	[TDM_FAILURE_UNSAFE_TRACE] = "what is allocated now may be overwritten when the trace runs",
	[TDM_FAILURE_OTHER] = "",
};

static void format_range(const struct tdm_failure *f, char *dst, size_t cap)
{
	int len = snprintf(dst, cap, "%u-%u to %u-%u", f->range.x0, f->range.y0, f->range.x1, f->range.y1);
	if (f->range_count > 1)
		snprintf(dst + len, cap - (size_t)len, " and %" PRIu32 " more range%s", f->range_count - 1,
			f->range_count == 2 ? "" : "s");
}

/* The text of a field; empty: the sentence does not have it. */
static void format_field(const struct tdm_failure *f, char letter, bool is_number, char *dst, size_t cap)
{
	static const char *const causes[] = {
		[TDM_FAILURE_CAUSE_UNKNOWN] = "",
		[TDM_FAILURE_TOO_LARGE] = "it would not fit an empty bank",
		[TDM_FAILURE_EXHAUSTED] = "less than that is free",
		[TDM_FAILURE_FRAGMENTED] = "enough is free, but in pieces",
	};
	const char *figure = memchr(tdm_failure_letters, letter, sizeof tdm_failure_letters);
	uint64_t number = figure != NULL ? f->figures[figure - tdm_failure_letters] : TDM_BYTES_UNKNOWN;
	dst[0] = '\0';
	if (number != TDM_BYTES_UNKNOWN && is_number)
		snprintf(dst, cap, "%" PRIu64, number);
	else if (number != TDM_BYTES_UNKNOWN)
		tdm_format_bytes_short(dst, cap, number);
	else if (letter == 'k' && f->kind < TDM_KIND_COUNT)
		snprintf(dst, cap, "%s", tdm_kind_name((enum tdm_kind)f->kind));
	else if (letter == 'c' && f->has_range)
		format_range(f, dst, cap);
	else if (letter == 'n')
		tdm_str_shown(f->name, dst, cap);
	else if (letter == 'd')
		snprintf(dst, cap, "%s", f->is_dataflow ? "dataflow buffers" : "circular buffers");
	else if (letter == 'w')
		snprintf(dst, cap, "%s", causes[tdm_failure_cause(f)]);
}

char *tdm_failure_summary(const struct tdm_failure *f, char *dst, size_t cap)
{
	size_t used = 0;
	dst[0] = '\0';
	for (const char *at = f->type < TDM_FAILURE_COUNT ? summaries[f->type] : ""; *at != '\0' && used < cap;) {
		size_t before = strcspn(at, "%|");
		const char *end = at + strcspn(at, "|"), *rest = at + before;
		char field[64] = "";
		if (*rest == '%') {
			bool is_number = rest[1] == '#';
			format_field(f, rest[1 + is_number], is_number, field, sizeof field);
			rest += 2 + is_number;
		}
		if (rest == at + before || field[0] != '\0')
			used += (size_t)snprintf(
				dst + used, cap - used, "%.*s%s%.*s", (int)before, at, field, (int)(end - rest), rest);
		at = end + (*end == '|');
	}
	return dst;
}
