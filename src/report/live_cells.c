#include "report/live_cells.h"

#include <stdio.h>
#include <time.h>

enum { SHARE_MAX = 99999 };

char *tdm_format_share(char *dst, size_t cap, int permille)
{
	int shown = permille < SHARE_MAX ? permille : SHARE_MAX;
	if (permille < 0)
		snprintf(dst, cap, "unknown");
	else
		snprintf(dst, cap, "%d.%d%%", shown / 10, shown % 10);
	return dst;
}

const char *tdm_source_name(uint8_t from)
{
	return from != TDM_FROM_NONE && from < TDM_FROM_COUNT ? tdm_from_name((enum tdm_from)from) : NULL;
}

struct tdm_value tdm_get_source(const struct tdm_field *field)
{
	return tdm_value_text(tdm_source_name((uint8_t)tdm_field_member(field).number));
}

const char *tdm_level_style(uint64_t used, uint64_t total)
{
	static const char *const styles[] = { [TDM_LEVEL_UNKNOWN] = "",
		[TDM_LEVEL_GREEN] = TDM_STYLE_GREEN,
		[TDM_LEVEL_YELLOW] = TDM_STYLE_YELLOW,
		[TDM_LEVEL_RED] = TDM_STYLE_RED };
	return styles[tdm_level_of(used, total)];
}

char *tdm_format_time(char *dst, size_t cap, uint64_t real_ns)
{
	time_t seconds = (time_t)(real_ns / UINT64_C(1000000000));
	struct tm local;
	if (real_ns == 0 || localtime_r(&seconds, &local) == NULL ||
		strftime(dst, cap, "%Y-%m-%d %H:%M:%S", &local) == 0)
		dst[0] = '\0';
	return dst;
}
