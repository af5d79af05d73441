/* Sets of core ranges, as captures write them today and as they once did. */
#include "base/err.h"
#include "base/pattern.h"
#include "sources/capture_json.h"

#include <errno.h>

/* Takes what the pattern covers off the front. */
static bool take(const char *pattern, struct tdm_str *text, struct tdm_pattern_match *m)
{
	if (!tdm_pattern_match(pattern, *text, m))
		return false;
	*text = (struct tdm_str){ text->ptr + m->len, text->len - m->len };
	return true;
}

static int take_range(struct tdm_str *text, struct tdm_core_range *range)
{
	struct tdm_pattern_match m;
	uint64_t corners[4];
	if (!take("%_[%_%d-%d%_-%_%d-%d%_]%_", text, &m) &&
		!take("%_[%_(%_x%_=%_%d%_,%_y%_=%_%d%_)%_-%_(%_x%_=%_%d%_,%_y%_=%_%d%_)%_]%_", text, &m))
		return TDM_ESYNTAX;
	for (int i = 0; i < 4; i++)
		if (!tdm_pattern_number(m.fields[i], &corners[i]) || corners[i] >= TDM_CAPTURE_GRID)
			return -ERANGE;
	*range = (struct tdm_core_range){ (uint16_t)corners[0], (uint16_t)corners[1], (uint16_t)corners[2],
		(uint16_t)corners[3] };
	return tdm_core_range_is_valid(range) ? 0 : TDM_ESYNTAX;
}

int tdm_capture_ranges_parse(struct tdm_str text, struct tdm_core_range *ranges, size_t cap)
{
	struct tdm_pattern_match m;
	int count = 0;
	if (!take("%_{%_", &text, &m))
		return TDM_ESYNTAX;
	if (!take("}%_", &text, &m)) {
		do {
			if ((size_t)count == cap)
				return -E2BIG;
			int err = take_range(&text, &ranges[count]);
			if (err != 0)
				return err;
			count++;
		} while (take(",", &text, &m));
		if (!take("}%_", &text, &m))
			return TDM_ESYNTAX;
	}
	return text.len == 0 ? count : TDM_ESYNTAX;
}
