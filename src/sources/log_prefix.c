#include "sources/log_prefix.h"
#include "base/clock.h"
#include "base/pattern.h"
#include "sources/error_text.h"

#include <ctype.h>
#include <strings.h>

enum { ESC = 27, LOCATION_MAX = 128 };

size_t tdm_log_strip_colour(char *text, size_t len)
{
	size_t out = 0;
	for (size_t i = 0; i < len; i++) {
		if (text[i] != ESC || i + 1 == len || text[i + 1] != '[') {
			text[out++] = text[i];
			continue;
		}
		size_t end = i + 2;
		while (end < len && (isdigit((unsigned char)text[end]) || text[end] == ';' || text[end] == '?'))
			end++;
		i = end < len ? end : len - 1; /* also drops the final letter */
	}
	return out;
}

struct tdm_str tdm_log_without_colour(struct tdm_str line, struct tdm_buf *clean)
{
	if (line.len == 0 || memchr(line.ptr, ESC, line.len) == NULL)
		return line;
	tdm_buf_clear(clean);
	tdm_buf_add(clean, line.ptr, line.len);
	if (tdm_buf_failed(clean))
		return line;
	clean->len = tdm_log_strip_colour(clean->data, clean->len);
	return tdm_buf_str(clean);
}

/* `count` digits at `at`. */
static bool digits(struct tdm_str s, size_t at, size_t count, unsigned *value)
{
	*value = 0;
	if (at > s.len || count > s.len - at)
		return false;
	for (size_t i = at; i < at + count; i++) {
		if (!isdigit((unsigned char)s.ptr[i]))
			return false;
		*value = *value * 10 + (unsigned)(s.ptr[i] - '0');
	}
	return true;
}

/* Days from 1970 to a Gregorian date, which must not be earlier. */
static uint64_t days_of(unsigned year, unsigned month, unsigned day)
{
	/* The year starts with March here, which makes the leap day its last day. */
	unsigned y = month <= 2 ? year - 1 : year, m = (month + 9) % 12;
	uint64_t to_march = UINT64_C(365) * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1;
	return to_march - 719468;
}

uint64_t tdm_log_time_parse(struct tdm_str s, size_t *len)
{
	unsigned year, month, day, hour, minute, second;
	if (s.len < 19 || s.ptr[4] != '-' || s.ptr[7] != '-' || (s.ptr[10] != ' ' && s.ptr[10] != 'T') ||
		s.ptr[13] != ':' || s.ptr[16] != ':')
		return 0;
	if (!digits(s, 0, 4, &year) || !digits(s, 5, 2, &month) || !digits(s, 8, 2, &day) || !digits(s, 11, 2, &hour) ||
		!digits(s, 14, 2, &minute) || !digits(s, 17, 2, &second))
		return 0;
	if (year < 1971 || year > 2500 || month < 1 || month > 12 || day < 1 || day > 31 || hour > 23 || minute > 59 ||
		second > 60)
		return 0;
	uint64_t ns = ((days_of(year, month, day) * 24 + hour) * 60 + minute) * 60 + second;
	size_t at = 19;
	ns *= TDM_NS_PER_S;
	if (at + 1 < s.len && (s.ptr[at] == '.' || s.ptr[at] == ',') && isdigit((unsigned char)s.ptr[at + 1]))
		for (uint64_t unit = TDM_NS_PER_S / 10; ++at < s.len && isdigit((unsigned char)s.ptr[at]); unit /= 10)
			ns += unit * (unsigned)(s.ptr[at] - '0');
	if (at < s.len && s.ptr[at] == 'Z')
		at++;
	*len = at;
	return ns;
}

static void advance(struct tdm_str *s, size_t count)
{
	s->ptr += count;
	s->len -= count;
}

static uint8_t level_of(struct tdm_str word)
{
	if (word.len == 4 && strncasecmp(word.ptr, "warn", 4) == 0)
		return TDM_LOG_LEVEL_WARNING;
	if (word.len == 5 && strncasecmp(word.ptr, "fatal", 5) == 0)
		return TDM_LOG_LEVEL_CRITICAL;
	for (int level = TDM_LOG_LEVEL_TRACE; level < TDM_LOG_LEVEL_COUNT; level++) {
		const char *name = tdm_log_level_name((enum tdm_log_level)level);
		if (word.len == strlen(name) && strncasecmp(word.ptr, name, word.len) == 0)
			return (uint8_t)level;
	}
	return TDM_LOG_LEVEL_NONE;
}

/* "debug    |           Metal | " or "  Always |     INFO | ": level and name in either order. */
static bool take_logger(struct tdm_str *rest, struct tdm_log_prefix *p)
{
	struct tdm_pattern_match m;
	if (!tdm_pattern_match("%_%i%_|%_%w%_|", *rest, &m))
		return false;
	uint8_t first = level_of(m.fields[0]), second = level_of(m.fields[1]);
	if (first == TDM_LOG_LEVEL_NONE && second == TDM_LOG_LEVEL_NONE)
		return false;
	p->level = first != TDM_LOG_LEVEL_NONE ? first : second;
	p->name = first != TDM_LOG_LEVEL_NONE ? m.fields[1] : m.fields[0];
	p->is_logger = true;
	advance(rest, m.len);
	if (rest->len != 0 && *rest->ptr == ' ')
		advance(rest, 1);
	return true;
}

/* "[1,0]<stdout>:" of mpirun. */
static void take_rank(struct tdm_str *rest, struct tdm_log_prefix *p)
{
	struct tdm_pattern_match m;
	uint64_t rank;
	if (rest->len == 0 || *rest->ptr != '[' || !tdm_pattern_match("[%d,%d]<std%i>:", *rest, &m))
		return;
	if (tdm_pattern_number(m.fields[1], &rank) && rank <= INT32_MAX)
		p->rank = (int32_t)rank;
	advance(rest, m.len);
}

/* "0:(x=1,y=1):TR0: " or "0:1-1:NC: " of a kernel's print. */
static void take_core(struct tdm_str *rest, struct tdm_log_prefix *p)
{
	static const char *const forms[] = { "%d:(x=%d,y=%d):%i:", "%d:%d-%d:%i:" };
	struct tdm_pattern_match m;
	uint64_t device, x, y;
	if (rest->len == 0 || !isdigit((unsigned char)*rest->ptr))
		return;
	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
		if (!tdm_pattern_match(forms[i], *rest, &m))
			continue;
		if (!tdm_pattern_number(m.fields[0], &device) || !tdm_pattern_number(m.fields[1], &x) ||
			!tdm_pattern_number(m.fields[2], &y) || device >= UINT32_MAX || x > UINT16_MAX ||
			y > UINT16_MAX)
			return;
		p->device = (uint32_t)device;
		p->core = (struct tdm_core_range){ (uint16_t)x, (uint16_t)y, (uint16_t)x, (uint16_t)y };
		p->has_core = true;
		p->name = m.fields[3];
		advance(rest, m.len);
		*rest = tdm_str_trim(*rest);
		return;
	}
}

/* " (assert.hpp:104)" at the end. */
static void take_location(struct tdm_log_prefix *p)
{
	struct tdm_str s = p->message;
	if (s.len < 5 || s.ptr[s.len - 1] != ')')
		return;
	const char *open = memrchr(s.ptr, '(', s.len);
	const char *colon = memrchr(s.ptr, ':', s.len);
	if (open == NULL || colon == NULL || colon < open || open == s.ptr || open[-1] != ' ' ||
		s.ptr + s.len - open > LOCATION_MAX || memchr(open, ' ', (size_t)(s.ptr + s.len - open)) != NULL)
		return;
	p->location = (struct tdm_str){ open + 1, (size_t)(s.ptr + s.len - 1 - (open + 1)) };
	p->message = tdm_str_trim((struct tdm_str){ s.ptr, (size_t)(open - s.ptr) });
}

/* Where the logger's own line begins, after what a container, a journal or a script put before it; 0: nowhere. */
static size_t find_logger(struct tdm_str line)
{
	enum { LOOKED_AT = 160 };
	if (line.len == 0 || memchr(line.ptr, '|', line.len) == NULL)
		return 0;
	for (size_t at = 1; at < line.len && at < LOOKED_AT; at++) {
		struct tdm_str rest = { line.ptr + at, line.len - at };
		struct tdm_pattern_match m;
		size_t len = 0;
		if (!isdigit((unsigned char)line.ptr[at]) || isdigit((unsigned char)line.ptr[at - 1]) ||
			tdm_log_time_parse(rest, &len) == 0)
			continue;
		advance(&rest, len);
		if (tdm_pattern_match("%_|%_%i%_|%_%w%_|", rest, &m) && level_of(m.fields[0]) != TDM_LOG_LEVEL_NONE)
			return at;
	}
	return 0;
}

static void parse_prefix(struct tdm_str line, struct tdm_log_prefix *p)
{
	struct tdm_str rest = line;
	size_t len = 0;
	*p = (struct tdm_log_prefix){ .rank = TDM_LOG_NO_RANK, .device = TDM_LOG_DEVICE_UNKNOWN };
	take_rank(&rest, p);
	p->time_ns = tdm_log_time_parse(rest, &len);
	if (p->time_ns != 0) {
		size_t inner_len = 0;
		advance(&rest, len);
		struct tdm_str inner = tdm_str_trim(rest);
		take_rank(&inner, p);
		uint64_t own = tdm_log_time_parse(inner, &inner_len); /* after that of a CI system */
		if (own != 0) {
			p->time_ns = own;
			rest = inner;
			advance(&rest, inner_len);
		}
		struct tdm_pattern_match m;
		if (tdm_pattern_match("%_|", rest, &m))
			advance(&rest, m.len);
		else
			rest = tdm_str_trim(rest);
	}
	if (take_logger(&rest, p)) {
		p->message = rest;
		take_location(p);
		return;
	}
	take_core(&rest, p);
	p->message = rest;
}

void tdm_log_prefix_parse(struct tdm_str line, struct tdm_log_prefix *p)
{
	parse_prefix(line, p);
	size_t at = p->is_logger || p->has_core ? 0 : find_logger(line);
	if (at == 0)
		return;
	int32_t rank = p->rank;
	advance(&line, at);
	parse_prefix(line, p);
	p->rank = rank;
}
