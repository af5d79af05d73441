#include "event/failure.h"

#include <inttypes.h>
#include <stdarg.h>
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

/* A text that grows at its end and is cut at the capacity. */
struct line {
	char *dst;
	size_t cap, len;
};

static void add(struct line *l, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(struct line *l, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	int put = vsnprintf(l->dst + l->len, l->cap - l->len, format, args);
	va_end(args);
	if (put > 0)
		l->len = (size_t)put < l->cap - l->len ? l->len + (size_t)put : l->cap - 1;
}

static void add_bytes(struct line *l, const char *before, uint64_t bytes, const char *behind)
{
	char text[TDM_BYTES_CAP];
	if (bytes != TDM_BYTES_UNKNOWN)
		add(l, "%s%s%s", before, tdm_format_bytes_short(text, sizeof text, bytes), behind);
}

static void add_number(struct line *l, const char *before, uint64_t number)
{
	if (number != TDM_BYTES_UNKNOWN)
		add(l, "%s%" PRIu64, before, number);
}

static void add_name(struct line *l, const char *before, const struct tdm_failure *f)
{
	char shown[64];
	if (f->name.len != 0)
		add(l, "%s%s", before, tdm_str_shown(f->name, shown, sizeof shown));
}

static void add_range(struct line *l, const struct tdm_failure *f)
{
	if (!f->has_range)
		return;
	add(l, " on cores %u-%u to %u-%u", f->range.x0, f->range.y0, f->range.x1, f->range.y1);
	if (f->range_count > 1)
		add(l, " and %" PRIu32 " more range%s", f->range_count - 1, f->range_count == 2 ? "" : "s");
}

static void summarize_banks(struct line *l, const struct tdm_failure *f)
{
	static const char *const causes[] = {
		[TDM_FAILURE_CAUSE_UNKNOWN] = "",
		[TDM_FAILURE_TOO_LARGE] = "; it would not fit an empty bank",
		[TDM_FAILURE_EXHAUSTED] = "; less than that is free",
		[TDM_FAILURE_FRAGMENTED] = "; enough is free, but in pieces",
	};
	add_bytes(l, "", f->asked, "");
	if (f->kind < TDM_KIND_COUNT)
		add(l, " of %s", tdm_kind_name((enum tdm_kind)f->kind));
	add_bytes(l, ", ", f->bytes_per_bank, " in each");
	add_number(l, " of ", f->banks);
	if (f->banks != TDM_BYTES_UNKNOWN)
		add(l, " banks");
	add_bytes(l, " of ", f->bank_size, "");
	add_bytes(l, "; free ", f->free, "");
	add_bytes(l, ", in one piece ", f->largest_free, "");
	add_bytes(l, "; with its dependencies ", f->placeable, "");
	add_bytes(l, ", in one piece ", f->largest_placeable, "");
	add(l, "%s", causes[tdm_failure_cause(f)]);
}

char *tdm_failure_summary(const struct tdm_failure *f, char *dst, size_t cap)
{
	struct line l = { dst, cap, 0 };
	const char *what = f->is_dataflow ? "dataflow buffers" : "circular buffers";
	dst[0] = '\0';
	switch (f->type) {
	case TDM_FAILURE_OUT_OF_MEMORY:
	case TDM_FAILURE_DEPENDENCIES:
		summarize_banks(&l, f);
		break;
	case TDM_FAILURE_BELOW_LIMIT:
		add_number(&l, "the only place is at ", f->address);
		add_number(&l, ", below the limit ", f->limit);
		break;
	case TDM_FAILURE_BEYOND_L1:
		add(&l, "%s", what);
		add_range(&l, f);
		add_number(&l, " end at ", f->region_end);
		add_number(&l, ", L1 ends at ", f->limit);
		break;
	case TDM_FAILURE_CLASH:
	case TDM_FAILURE_SERVICE_CLASH:
		add(&l, "%s", what);
		add_number(&l, " of program ", f->program);
		add_range(&l, f);
		add_number(&l, " end at ", f->region_end);
		add_number(&l, ", the lowest L1 buffer is at ", f->address);
		break;
	case TDM_FAILURE_PROGRAM_SIZE:
		add_bytes(&l, "the program has ", f->asked, "");
		add_bytes(&l, ", the buffer ", f->limit, "");
		add_name(&l, " on ", f);
		break;
	case TDM_FAILURE_TRACE_REGION:
		add_bytes(&l, "the trace needs ", f->asked, "");
		add_bytes(&l, ", the region has ", f->limit, "");
		break;
	case TDM_FAILURE_TRACE_OVERLAP:
		add_number(&l, "at address ", f->address);
		add_name(&l, " with ", f);
		break;
	case TDM_FAILURE_WORKER_L1:
	case TDM_FAILURE_CB_RESIZE:
		add_bytes(&l, "", f->asked, "");
		add_bytes(&l, ", at most ", f->limit, "");
		break;
	case TDM_FAILURE_SEGMENT:
		add_bytes(&l, "", f->asked, "");
		add_number(&l, " at ", f->address);
		add_bytes(&l, ", the region has ", f->limit, "");
		add_name(&l, ": ", f);
		break;
	case TDM_FAILURE_UNSAFE_TRACE:
		add(&l, "what is allocated now may be overwritten when the trace runs");
		break;
	default:
		break;
	}
	return dst;
}
