#include "base/kind.h"
#include "base/err.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

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

const char *tdm_device_text(uint32_t number, char dst[TDM_DEVICE_TEXT_CAP])
{
	bool is_unknown = (number & TDM_DEVICE_UNKNOWN_BIT) != 0;
	uint32_t shown = is_unknown ? number & ~TDM_DEVICE_UNKNOWN_BIT : number;
	if (is_unknown && shown == 0)
		return strcpy(dst, "?");
	snprintf(dst, TDM_DEVICE_TEXT_CAP, "%s%" PRIu32, is_unknown ? "?" : "", shown);
	return dst;
}
