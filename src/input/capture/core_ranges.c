#include "input/capture/core_ranges.h"
#include "base/err.h"
#include "model/event/capture_node.h"

#include <errno.h>

static bool take(struct tdm_str *text, char wanted)
{
	while (text->len != 0 && *text->ptr == ' ')
		*text = tdm_str_from(*text, 1);
	if (text->len == 0 || *text->ptr != wanted)
		return false;
	*text = tdm_str_from(*text, 1);
	return true;
}

/* Reads a coordinate, which must be below `limit`. */
static int take_number(struct tdm_str *text, unsigned limit, uint16_t *number)
{
	unsigned value = 0;
	size_t len = 0;
	for (; len < text->len && text->ptr[len] >= '0' && text->ptr[len] <= '9'; len++) {
		value = value * 10 + (unsigned)(text->ptr[len] - '0');
		if (value >= limit)
			return -ERANGE;
	}
	*text = tdm_str_from(*text, len);
	*number = (uint16_t)value;
	return len != 0 ? 0 : TDM_ESYNTAX;
}

/* Reads "x=3", or "3" alone. */
static int take_named(struct tdm_str *text, char name, unsigned limit, uint16_t *number)
{
	if (take(text, name) && !take(text, '='))
		return TDM_ESYNTAX;
	return take_number(text, limit, number);
}

/* Reads "3-4", "(x=3,y=4)" or "(3,4)". */
static int take_core(struct tdm_str *text, unsigned limit, uint16_t *x, uint16_t *y)
{
	int err;
	if (take(text, '(')) {
		err = take_named(text, 'x', limit, x);
		if (err == 0)
			err = take(text, ',') ? take_named(text, 'y', limit, y) : TDM_ESYNTAX;
		return err != 0 ? err : take(text, ')') ? 0 : TDM_ESYNTAX;
	}
	err = take_number(text, limit, x);
	if (err == 0 && (text->len == 0 || *text->ptr != '-'))
		err = TDM_ESYNTAX;
	if (err != 0)
		return err;
	*text = tdm_str_from(*text, 1);
	return take_number(text, limit, y);
}

/* Reads two cores in brackets. Unless `is_strict`, a single core is enough, and the brackets may be missing. */
static int take_range(struct tdm_str *text, unsigned limit, bool is_strict, struct tdm_core_range *range)
{
	bool has_bracket = take(text, '[');
	if (is_strict && !has_bracket)
		return TDM_ESYNTAX;
	int err = take_core(text, limit, &range->x0, &range->y0);
	range->x1 = range->x0;
	range->y1 = range->y0;
	bool has_two = err == 0 && take(text, '-');
	if (has_two)
		err = take_core(text, limit, &range->x1, &range->y1);
	if (err == 0 &&
		((has_bracket && !take(text, ']')) || (is_strict && !has_two) || !tdm_core_range_is_valid(range)))
		err = TDM_ESYNTAX;
	return err;
}

uint32_t tdm_core_ranges_find(struct tdm_str text, struct tdm_core_range *range)
{
	struct tdm_core_range one;
	uint32_t count = 0;
	for (take(&text, '{'); take_range(&text, UINT16_MAX + 1U, false, &one) == 0; take(&text, ','))
		if (count++ == 0)
			*range = one;
	return count;
}

int tdm_core_ranges_parse(struct tdm_str text, struct tdm_core_range *ranges, size_t cap)
{
	int count = 0;
	if (!take(&text, '{'))
		return TDM_ESYNTAX;
	if (!take(&text, '}')) {
		do {
			if ((size_t)count == cap)
				return -E2BIG;
			int err = take_range(&text, TDM_CAPTURE_GRID, true, &ranges[count]);
			if (err != 0)
				return err;
			count++;
		} while (take(&text, ','));
		if (!take(&text, '}'))
			return TDM_ESYNTAX;
	}
	take(&text, ' '); /* this call only skips blanks */
	return text.len == 0 ? count : TDM_ESYNTAX;
}
