/* Sets of core ranges, as captures write them today and as they once did. */
#include "base/err.h"
#include "sources/capture_json.h"

#include <errno.h>

struct cursor {
	const char *at, *end;
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
		if (value >= TDM_CAPTURE_GRID)
			return -ERANGE;
	}
	*number = (uint16_t)value;
	return c->at != from ? 0 : TDM_ESYNTAX;
}

/* "x=3" in a core of the old form. */
static int take_named(struct cursor *c, char name, uint16_t *number)
{
	return take(c, name) && take(c, '=') ? take_number(c, number) : TDM_ESYNTAX;
}

/* "3-4", or "(x=3,y=4)" */
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

static int take_range(struct cursor *c, struct tdm_core_range *range)
{
	if (!take(c, '['))
		return TDM_ESYNTAX;
	int err = take_core(c, &range->x0, &range->y0);
	if (err == 0)
		err = take(c, '-') ? 0 : TDM_ESYNTAX;
	if (err == 0) {
		skip_blanks(c);
		err = take_core(c, &range->x1, &range->y1);
	}
	if (err == 0 && (range->x1 < range->x0 || range->y1 < range->y0 || !take(c, ']')))
		err = TDM_ESYNTAX;
	return err;
}

int tdm_capture_ranges_parse(struct tdm_str text, struct tdm_core_range *ranges, size_t cap)
{
	struct cursor c = { text.ptr, text.ptr + text.len };
	int count = 0;
	if (!take(&c, '{'))
		return TDM_ESYNTAX;
	if (!take(&c, '}')) {
		do {
			if ((size_t)count == cap)
				return -E2BIG;
			int err = take_range(&c, &ranges[count]);
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
