#include "base/duration.h"

#include <inttypes.h>
#include <stdio.h>

#define US UINT64_C(1000)
#define MS (1000 * US)
#define S  (1000 * MS)

enum { MINUTE = 60, HOUR = 60 * MINUTE, DAY = 24 * HOUR };

char *tdm_format_duration(char *dst, size_t cap, uint64_t ns)
{
	uint64_t s = ns / S;
	if (ns < US)
		snprintf(dst, cap, "%" PRIu64 " ns", ns);
	else if (ns < MS)
		snprintf(dst, cap, "%" PRIu64 " us", ns / US);
	else if (ns < S)
		snprintf(dst, cap, "%" PRIu64 " ms", ns / MS);
	else if (s < 10)
		snprintf(dst, cap, "%" PRIu64 ".%" PRIu64 " s", s, ns % S / (S / 10));
	else if (s < MINUTE)
		snprintf(dst, cap, "%" PRIu64 " s", s);
	else if (s < HOUR)
		snprintf(dst, cap, "%" PRIu64 "m %" PRIu64 "s", s / MINUTE, s % MINUTE);
	else if (s < DAY)
		snprintf(dst, cap, "%" PRIu64 "h %" PRIu64 "m", s / HOUR, s % HOUR / MINUTE);
	else
		snprintf(dst, cap, "%" PRIu64 "d %" PRIu64 "h", s / DAY, s % DAY / HOUR);
	return dst;
}
