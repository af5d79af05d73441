/*
 * Sizes are integers throughout, so that printing and parsing are exact; a fraction is parsed as an integer and a power
 * of ten, in 128 bits. Printing first picks a unit (unit_for: for one figure; unit_like and tdm_bytes_range: for
 * figures that are compared), then the decimals. Durations follow at the end.
 */
#include "base/units.h"
#include "base/err.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	UNIT_BITS = 10,
	FRACTION_DIGITS = 38, /* 10^FRACTION_DIGITS fits in 128 bits */
};
static const char unit_letters[] = "KMGTPE";

#define US UINT64_C(1000)
#define MS (1000 * US)
#define S  (1000 * MS)
enum { MINUTE = 60, HOUR = 60 * MINUTE, DAY = 24 * HOUR };

struct cursor {
	struct tdm_str text;
	size_t at;
};

static int peek(const struct cursor *c)
{
	return c->at < c->text.len ? (unsigned char)c->text.ptr[c->at] : -1;
}

static void skip_blanks(struct cursor *c)
{
	while (peek(c) == ' ' || peek(c) == '\t')
		c->at++;
}

static int digit_of(int ch, unsigned base)
{
	int value = -1;
	if (ch >= '0' && ch <= '9')
		value = ch - '0';
	else if (ch >= 'a' && ch <= 'f')
		value = ch - 'a' + 10;
	else if (ch >= 'A' && ch <= 'F')
		value = ch - 'A' + 10;
	return value >= 0 && (unsigned)value < base ? value : -1;
}

/* Reads digits of `base` into *value. Returns the number of digits read, or -ERANGE. */
static int read_digits(struct cursor *c, unsigned base, uint64_t *value)
{
	int count = 0;
	for (int digit; (digit = digit_of(peek(c), base)) >= 0; c->at++, count++)
		if (__builtin_mul_overflow(*value, (uint64_t)base, value) ||
			__builtin_add_overflow(*value, (uint64_t)digit, value))
			return -ERANGE;
	return count;
}

/* Reads a unit ("", "B", "K", "KB", "KiB", …, ignoring case). Returns the exponent of 2, or -1. */
static int read_unit(struct cursor *c)
{
	int ch = peek(c);
	if (ch < 0)
		return 0;
	if (ch == 'b' || ch == 'B') {
		c->at++;
		return 0;
	}
	for (int i = 0; unit_letters[i] != '\0'; i++) {
		if ((ch & ~0x20) != unit_letters[i])
			continue;
		c->at++;
		bool has_i = peek(c) == 'i' || peek(c) == 'I';
		c->at += has_i;
		if (peek(c) == 'b' || peek(c) == 'B')
			c->at++;
		else if (has_i)
			return -1; /* "Ki" without a B */
		return (i + 1) * UNIT_BITS;
	}
	return -1;
}

/* Reads the digits after the point and drops trailing zeros. Returns the number of digits, or TDM_ESYNTAX if there
 * are none, or more than fit in 64 bits or FRACTION_DIGITS. */
static int read_fraction(struct cursor *c, uint64_t *fraction)
{
	struct cursor kept = *c;
	while (digit_of(peek(c), 10) >= 0)
		c->at++;
	if (c->at == kept.at)
		return TDM_ESYNTAX;
	kept.text.len = c->at;
	while (kept.text.len > kept.at + 1 && kept.text.ptr[kept.text.len - 1] == '0')
		kept.text.len--;
	int digits = read_digits(&kept, 10, fraction);
	if (digits < 0 || digits > FRACTION_DIGITS) {
		c->at = kept.at;
		return TDM_ESYNTAX;
	}
	return digits;
}

/* Adds the fraction / 10^digits of a unit of 2^shift bytes to *bytes. */
static int add_fraction(uint64_t fraction, int digits, int shift, uint64_t *bytes)
{
	unsigned __int128 scale = 1, part = (unsigned __int128)fraction << shift;
	for (int i = 0; i < digits; i++)
		scale *= 10;
	if (part % scale != 0)
		return TDM_ESYNTAX;
	return __builtin_add_overflow(*bytes, (uint64_t)(part / scale), bytes) ? -ERANGE : 0;
}

static int parse_bytes_at(struct cursor *c, uint64_t *bytes)
{
	uint64_t whole = 0, fraction = 0;
	int fraction_digits = 0;

	skip_blanks(c);
	bool hex = c->text.len - c->at > 2 && c->text.ptr[c->at] == '0' && (c->text.ptr[c->at + 1] | 0x20) == 'x';
	if (hex)
		c->at += 2;
	int digits = read_digits(c, hex ? 16 : 10, &whole);
	if (digits <= 0)
		return digits < 0 ? digits : TDM_ESYNTAX;
	size_t fraction_at = c->at;
	if (!hex && peek(c) == '.') {
		c->at++;
		fraction_digits = read_fraction(c, &fraction);
		if (fraction_digits < 0)
			return fraction_digits;
	}
	skip_blanks(c);
	int shift = hex ? 0 : read_unit(c);
	if (shift < 0)
		return TDM_ESYNTAX;
	skip_blanks(c);
	if (peek(c) >= 0)
		return TDM_ESYNTAX;
	if (shift != 0 && whole >> (64 - shift) != 0)
		return -ERANGE;
	*bytes = whole << shift;
	if (fraction_digits == 0)
		return 0;
	int err = add_fraction(fraction, fraction_digits, shift, bytes);
	if (err == TDM_ESYNTAX)
		c->at = fraction_at;
	return err;
}

int tdm_parse_bytes(struct tdm_str text, uint64_t *bytes, size_t *bad)
{
	struct cursor c = { text, 0 };
	uint64_t value = 0;
	int err = parse_bytes_at(&c, &value);
	if (err == 0 && value == TDM_BYTES_UNKNOWN)
		err = -ERANGE;
	if (bad != NULL)
		*bad = c.at;
	if (err == 0)
		*bytes = value;
	return err;
}

static uint64_t unit_bytes(int unit)
{
	return UINT64_C(1) << (unit * UNIT_BITS);
}

/* The largest unit in which the number is at least 1; 0 for plain bytes. */
static int unit_for(uint64_t bytes)
{
	int unit = 0;
	while (unit_letters[unit] != '\0' && bytes >> ((unit + 1) * UNIT_BITS) != 0)
		unit++;
	return unit;
}

char *tdm_format_bytes(char *dst, size_t cap, uint64_t bytes)
{
	int unit = unit_for(bytes);
	if (bytes == TDM_BYTES_UNKNOWN)
		snprintf(dst, cap, "%*s", TDM_BYTES_COLUMNS, "unknown");
	else if (unit == 0)
		snprintf(dst, cap, "%*" PRIu64 " B", TDM_BYTES_COLUMNS - 2, bytes);
	else
		snprintf(dst, cap, "%*.2f%ciB", TDM_BYTES_COLUMNS - 3, (double)bytes / (double)unit_bytes(unit),
			unit_letters[unit - 1]);
	return dst;
}

static bool is_whole(uint64_t bytes, int unit)
{
	return bytes != 0 && bytes % unit_bytes(unit) == 0;
}

/* Prints in the given unit: "1.50 GiB"; exact multiples have no fraction. */
static char *put_bytes(char *dst, size_t cap, uint64_t bytes, int unit, int decimals)
{
	uint64_t one = unit_bytes(unit);
	if (unit == 0)
		snprintf(dst, cap, "%" PRIu64 " B", bytes);
	else if (bytes % one == 0)
		snprintf(dst, cap, "%" PRIu64 " %ciB", bytes / one, unit_letters[unit - 1]);
	else
		snprintf(dst, cap, "%.*f %ciB", decimals, (double)bytes / (double)one, unit_letters[unit - 1]);
	return dst;
}

char *tdm_format_bytes_short(char *dst, size_t cap, uint64_t bytes)
{
	int unit = unit_for(bytes);
	if (bytes == TDM_BYTES_UNKNOWN) {
		snprintf(dst, cap, "unknown");
		return dst;
	}
	/* If the number is whole in the next smaller unit, use that unit, unless the number becomes long. */
	if (unit > 1 && bytes >> ((unit - 1) * UNIT_BITS) < 10000 && !is_whole(bytes, unit) &&
		is_whole(bytes, unit - 1))
		unit--;
	return put_bytes(dst, cap, bytes, unit, 2);
}

/* The unit for a total and its parts, which keeps numbers short: 1464 KiB, but 1.46 MiB, and 1 GiB. */
static int unit_like(uint64_t total)
{
	enum { LIKE_MAX = 2000, UNIT_MAX = sizeof unit_letters - 1 };
	int unit = 0;
	for (; unit < UNIT_MAX; unit++) {
		uint64_t count = total >> (unit * UNIT_BITS);
		if (count < LIKE_MAX && !is_whole(total, unit + 1) && (count < 1000 || is_whole(total, unit)))
			break;
	}
	return unit;
}

char *tdm_format_bytes_like(char *dst, size_t cap, uint64_t bytes, uint64_t total)
{
	int unit = unit_like(total);
	uint64_t one = unit_bytes(unit);
	if (bytes == TDM_BYTES_UNKNOWN || total == TDM_BYTES_UNKNOWN || unit == 0 || bytes < one / 100)
		return tdm_format_bytes_short(dst, cap, bytes);
	return put_bytes(dst, cap, bytes, unit, bytes / one < 1000 ? 2 : 1);
}

char *tdm_format_bytes_in(char *dst, size_t cap, uint64_t bytes, const struct tdm_bytes_range *range, size_t columns)
{
	int unit = unit_for(range->most);
	unit -= unit != 0 && range->least < unit_bytes(unit) / 100;
	uint64_t one = unit_bytes(unit);
	int decimals = bytes < one / 10 ? 3 : 2, len; /* two significant digits */
	if (bytes == TDM_BYTES_UNKNOWN)
		snprintf(dst, cap, "unknown");
	else if (unit == 0 || bytes == 0)
		snprintf(dst, cap, "%" PRIu64 " B", bytes);
	else if (bytes < one / 100)
		snprintf(dst, cap, "<0.01%ciB", unit_letters[unit - 1]);
	else
		do
			len = snprintf(
				dst, cap, "%.*f%ciB", decimals, (double)bytes / (double)one, unit_letters[unit - 1]);
		while (len > (int)columns && decimals-- > 0);
	return dst;
}

char *tdm_format_count(char *dst, size_t cap, uint64_t count)
{
	char digits[24];
	if (count == TDM_BYTES_UNKNOWN) {
		snprintf(dst, cap, "unknown");
		return dst;
	}
	int len = snprintf(digits, sizeof digits, "%" PRIu64, count);
	size_t at = 0;
	for (int i = 0; i < len && at + 2 < cap; i++) {
		if (i != 0 && (len - i) % 3 == 0)
			dst[at++] = ',';
		dst[at++] = digits[i];
	}
	if (cap != 0)
		dst[at] = '\0';
	return dst;
}

char *tdm_format_hex(char *dst, size_t cap, uint64_t number)
{
	snprintf(dst, cap, "0x%" PRIx64, number);
	return dst;
}

char *tdm_format_mib(char *dst, size_t cap, uint64_t bytes)
{
	char plain[TDM_BYTES_CAP], whole[TDM_BYTES_CAP];
	snprintf(plain, sizeof plain, "%.2f", (double)bytes / 0x1p20);
	snprintf(dst, cap, "%s%s", tdm_format_count(whole, sizeof whole, strtoull(plain, NULL, 10)),
		plain + strlen(plain) - 3);
	return dst;
}

/* ---- durations ---- */

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

int tdm_parse_duration(struct tdm_str text, uint64_t *ns)
{
	enum { FRACTION_MAX = 9 };
	struct cursor c = { tdm_str_trim(text), 0 };
	uint64_t whole = 0, fraction = 0, scale = 1, product;
	int digits = read_digits(&c, 10, &whole), decimals = 0;
	if (digits <= 0)
		return digits < 0 ? digits : TDM_ESYNTAX;
	if (peek(&c) == '.') {
		c.at++;
		decimals = read_digits(&c, 10, &fraction);
		if (decimals <= 0 || decimals > FRACTION_MAX)
			return TDM_ESYNTAX;
	}
	for (int i = 0; i < decimals; i++)
		scale *= 10;
	uint64_t unit = unit_ns(tdm_str_trim((struct tdm_str){ c.text.ptr + c.at, c.text.len - c.at }));
	if (unit == 0)
		return TDM_ESYNTAX;
	uint64_t part = (uint64_t)((__extension__(unsigned __int128) fraction * unit) / scale);
	if (whole == UINT64_MAX || __builtin_mul_overflow(whole, unit, &product) ||
		__builtin_add_overflow(product, part, &product))
		return -ERANGE;
	*ns = product;
	return 0;
}
