#include "sources/core_ranges.h"
#include "base/err.h"
#include "event/capture_node.h"

#include <errno.h>

struct cursor {
	const char *at, *end;
	unsigned limit; /* coordinates are below it */
};

static void skip_blanks(struct cursor *c)
{
	while (c->at < c->end && *c->at == ' ')
		c->at++;
}

static bool take(struct cursor *c, char wanted)
{
	skip_blanks(c);
	if (c->at == c->end || *c->at != wanted)
		return false;
	c->at++;
	return true;
}

static int take_number(struct cursor *c, uint16_t *number)
{
	unsigned value = 0;
	const char *from = c->at;
	while (c->at < c->end && *c->at >= '0' && *c->at <= '9') {
		value = value * 10 + (unsigned)(*c->at++ - '0');
		if (value >= c->limit)
			return -ERANGE;
	}
	*number = (uint16_t)value;
	return c->at != from ? 0 : TDM_ESYNTAX;
}

/* "x=3", or "3" alone */
static int take_named(struct cursor *c, char name, uint16_t *number)
{
	if (take(c, name) && !take(c, '='))
		return TDM_ESYNTAX;
	return take_number(c, number);
}

/* "3-4", "(x=3,y=4)" or "(3,4)" */
static int take_core(struct cursor *c, uint16_t *x, uint16_t *y)
{
	int err;
	skip_blanks(c);
	if (take(c, '(')) {
		err = take_named(c, 'x', x);
		if (err == 0)
			err = take(c, ',') ? take_named(c, 'y', y) : TDM_ESYNTAX;
		return err != 0 ? err : take(c, ')') ? 0 : TDM_ESYNTAX;
	}
	err = take_number(c, x);
	if (err == 0 && (c->at == c->end || *c->at++ != '-'))
		err = TDM_ESYNTAX;
	return err != 0 ? err : take_number(c, y);
}

/* Two cores in brackets. Unless `is_strict`, one core will do, and the brackets may be missing. */
static int take_range(struct cursor *c, bool is_strict, struct tdm_core_range *range)
{
	bool has_bracket = take(c, '[');
	if (is_strict && !has_bracket)
		return TDM_ESYNTAX;
	int err = take_core(c, &range->x0, &range->y0);
	range->x1 = range->x0;
	range->y1 = range->y0;
	bool has_two = err == 0 && take(c, '-');
	if (has_two)
		err = take_core(c, &range->x1, &range->y1);
	if (err == 0 && ((has_bracket && !take(c, ']')) || (is_strict && !has_two) || !tdm_core_range_is_valid(range)))
		err = TDM_ESYNTAX;
	return err;
}

uint32_t tdm_core_ranges_find(struct tdm_str text, struct tdm_core_range *range)
{
	struct cursor c = { text.ptr, text.ptr + text.len, UINT16_MAX + 1U };
	struct tdm_core_range one;
	uint32_t count = 0;
	for (take(&c, '{'); take_range(&c, false, &one) == 0; take(&c, ','))
		if (count++ == 0)
			*range = one;
	return count;
}

int tdm_core_ranges_parse(struct tdm_str text, struct tdm_core_range *ranges, size_t cap)
{
	struct cursor c = { text.ptr, text.ptr + text.len, TDM_CAPTURE_GRID };
	int count = 0;
	if (!take(&c, '{'))
		return TDM_ESYNTAX;
	if (!take(&c, '}')) {
		do {
			if ((size_t)count == cap)
				return -E2BIG;
			int err = take_range(&c, true, &ranges[count]);
			if (err != 0)
				return err;
			count++;
		} while (take(&c, ','));
		if (!take(&c, '}'))
			return TDM_ESYNTAX;
	}
	skip_blanks(&c);
	return c.at == c.end ? count : TDM_ESYNTAX;
}
