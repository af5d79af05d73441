#include "base/kind.h"
#include "base/err.h"

#include <strings.h>

static const struct {
	const char *name, *summary;
} kinds[TDM_KIND_COUNT] = {
#define X(id, name, summary) { name, summary },
	TDM_KIND_LIST(X)
#undef X
};

const char *tdm_kind_name(enum tdm_kind kind)
{
	return (unsigned)kind < TDM_KIND_COUNT ? kinds[kind].name : "unknown";
}

const char *tdm_kind_summary(enum tdm_kind kind)
{
	return (unsigned)kind < TDM_KIND_COUNT ? kinds[kind].summary : "unknown";
}

int tdm_kind_parse(struct tdm_str name, enum tdm_kind *kind)
{
	for (int i = 0; i < TDM_KIND_COUNT; i++)
		if (strlen(kinds[i].name) == name.len && strncasecmp(kinds[i].name, name.ptr, name.len) == 0) {
			*kind = (enum tdm_kind)i;
			return 0;
		}
	return TDM_ESYNTAX;
}
