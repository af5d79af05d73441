#include "event/failure.h"

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

void tdm_failure_init(struct tdm_failure *f, enum tdm_failure_type type, struct tdm_str text)
{
	*f = (struct tdm_failure){ .type = (uint8_t)type, .kind = TDM_KIND_COUNT, .text = text };
	for (size_t i = 0; i < TDM_FAILURE_FIGURE_COUNT; i++)
		f->figures[i] = TDM_BYTES_UNKNOWN;
}

const char *tdm_failure_name(enum tdm_failure_type type)
{
	return (unsigned)type < TDM_FAILURE_COUNT ? types[type].name : "unknown";
}

const char *tdm_failure_title(enum tdm_failure_type type)
{
	return (unsigned)type < TDM_FAILURE_COUNT ? types[type].title : "unknown";
}

enum tdm_kind tdm_failure_memory(const struct tdm_failure *f)
{
	bool is_static = f->type == TDM_FAILURE_BEYOND_L1 || f->type == TDM_FAILURE_CLASH ||
			 f->type == TDM_FAILURE_SERVICE_CLASH;
	if (tdm_failure_is_warning(f))
		return TDM_KIND_COUNT;
	return !is_static ? (enum tdm_kind)f->kind : f->is_dataflow ? TDM_KIND_DFB : TDM_KIND_CB;
}

bool tdm_failure_is_same(const struct tdm_failure *a, const struct tdm_failure *b)
{
	return a->type == b->type && a->words == b->words && a->kind == b->kind && a->is_dataflow == b->is_dataflow &&
	       memcmp(a->figures, b->figures, sizeof a->figures) == 0 && a->has_range == b->has_range &&
	       a->range_count == b->range_count &&
	       (!a->has_range || memcmp(&a->range, &b->range, sizeof a->range) == 0) && tdm_str_eq(a->name, b->name);
}
