#include "base/kind.h"
#include "base/err.h"

static const char *const names[TDM_KIND_COUNT] = {
#define X(id, name, summary) name,
	TDM_KIND_LIST(X)
#undef X
};

const char *tdm_kind_name(enum tdm_kind kind)
{
	return (unsigned)kind < TDM_KIND_COUNT ? names[kind] : "unknown";
}

int tdm_kind_parse(struct tdm_str name, enum tdm_kind *kind)
{
	for (int i = 0; i < TDM_KIND_COUNT; i++)
		if (tdm_str_is_word(name, names[i])) {
			*kind = (enum tdm_kind)i;
			return 0;
		}
	return TDM_ESYNTAX;
}
