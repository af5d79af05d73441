#include "report/share.h"
#include "base/units.h"

#include <stdio.h>

enum { SHARE_MAX = 99999 };

int tdm_share_tenths(uint64_t used, uint64_t total)
{
	if (used == TDM_BYTES_UNKNOWN || total == TDM_BYTES_UNKNOWN || total == 0)
		return -1;
	unsigned __int128 tenths = (unsigned __int128)used * 1000 / total;
	return tenths < SHARE_MAX ? (int)tenths : SHARE_MAX;
}

char *tdm_share_format(char *dst, size_t cap, int tenths)
{
	if (tenths < 0)
		snprintf(dst, cap, "unknown");
	else
		snprintf(dst, cap, "%d.%d%%", tenths / 10, tenths % 10);
	return dst;
}
