#include "base/duration.h"
#include "base/err.h"

#include <errno.h>
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

char *tdm_format_clock(char *dst, size_t cap, uint64_t time_ns)
{
	unsigned ms = (unsigned)(time_ns / MS % (DAY * UINT64_C(1000)));
	snprintf(dst, cap, "%02u:%02u:%02u.%03u", ms / (HOUR * 1000), ms / (MINUTE * 1000) % 60, ms / 1000 % 60,
		ms % 1000);
	return dst;
}

static uint64_t unit_ns(struct tdm_str unit)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {
		{ "", S },
		{ "ns", 1 },
		{ "us", US },
		{ "ms", MS },
		{ "s", S },
		{ "m", MINUTE * S },
		{ "min", MINUTE * S },
		{ "h", HOUR * S },
		{ "d", DAY * S },
	};
	for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
		if (tdm_str_is(unit, units[i].name))
			return units[i].ns;
	return 0;
}

/* Reads the number at *at and moves past it; UINT64_MAX when it is too large. Returns the count of digits. */
static size_t read_digits(struct tdm_str text, size_t *at, uint64_t *value)
{
	size_t first = *at;
	for (; *at < text.len && text.ptr[*at] >= '0' && text.ptr[*at] <= '9'; (*at)++)
		if (__builtin_mul_overflow(*value, 10, value) ||
			__builtin_add_overflow(*value, (uint64_t)(text.ptr[*at] - '0'), value))
			*value = UINT64_MAX;
	return *at - first;
}

int tdm_parse_duration(struct tdm_str text, uint64_t *ns)
{
	enum { FRACTION_MAX = 9 };
	uint64_t whole = 0, fraction = 0, scale = 1, product, part;
	size_t at = 0, behind = 0;
	text = tdm_str_trim(text);
	if (read_digits(text, &at, &whole) == 0)
		return TDM_ESYNTAX;
	if (at < text.len && text.ptr[at] == '.') {
		at++;
		behind = read_digits(text, &at, &fraction);
		if (behind == 0 || behind > FRACTION_MAX)
			return TDM_ESYNTAX;
	}
	for (size_t i = 0; i < behind; i++)
		scale *= 10;
	uint64_t unit = unit_ns(tdm_str_trim((struct tdm_str){ text.ptr + at, text.len - at }));
	if (unit == 0)
		return TDM_ESYNTAX;
	part = (uint64_t)((__extension__(unsigned __int128) fraction * unit) / scale);
	if (whole == UINT64_MAX || __builtin_mul_overflow(whole, unit, &product) ||
		__builtin_add_overflow(product, part, &product))
		return -ERANGE;
	*ns = product;
	return 0;
}
