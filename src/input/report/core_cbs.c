/*
 * Parses circular buffers listed core by core, in text lines such as
 *
 *     Core (0,1): CB0=1024KB, CB1=512KB
 *
 * Such lines may be anywhere in a log, after any prefix. All other lines become TDM_RECORD_OTHER.
 */
#include "base/err.h"
#include "base/pattern.h"
#include "input/door/format.h"
#include "input/log/log_reader.h"

#include <errno.h>

enum { SHOWN = 40 };

struct line {
	const struct tdm_record_sink *sink;
	struct tdm_buf clean; /* buffer for the text without colours */
	struct tdm_str text;  /* the line without colours */
	uint64_t number;
	uint16_t x, y;
	size_t items; /* offset of the items */
};

/* Finds "Core (x,y):" anywhere in the line. */
static bool find_core(struct line *line)
{
	struct tdm_str rest = line->text;
	for (const char *hit; (hit = tdm_str_find(rest, "Core")) != NULL;) {
		struct tdm_pattern_match m;
		uint64_t x, y;
		rest = tdm_str_rest(line->text, hit);
		if (tdm_pattern_match("Core%_(%_%d%_,%_%d%_)%_:", rest, &m) && tdm_pattern_number(m.fields[0], &x) &&
			tdm_pattern_number(m.fields[1], &y) && x <= UINT16_MAX && y <= UINT16_MAX) {
			line->x = (uint16_t)x;
			line->y = (uint16_t)y;
			line->items = (size_t)(hit - line->text.ptr) + m.len;
			return true;
		}
		rest = tdm_str_from(rest, 1);
	}
	return false;
}

/* Whether the text contains "CB" and a digit, ignoring case. */
static bool names_buffer(struct tdm_str text)
{
	struct tdm_pattern_match m;
	for (; text.len > 2; text = tdm_str_from(text, 1))
		if ((text.ptr[0] | 0x20) == 'c' && (text.ptr[1] | 0x20) == 'b' &&
			tdm_pattern_match("%_%d", tdm_str_from(text, 2), &m))
			return true;
	return false;
}

/* The part of the line that lists the items; a logger may append " (file:line)". */
static struct tdm_str items_of(const struct line *line)
{
	struct tdm_str items = tdm_str_from(line->text, line->items);
	const char *place = tdm_str_find(items, " (");
	items.len = place != NULL ? (size_t)(place - items.ptr) : items.len;
	return tdm_str_trim(items);
}

static bool core_recognise(struct tdm_str head, const char *path)
{
	struct tdm_lines lines;
	struct tdm_str text;
	(void)path;
	tdm_lines_memory(&lines, head.ptr, head.len);
	while (tdm_lines_next(&lines, &text) == 1) {
		struct line line = { .text = text };
		if (find_core(&line) && names_buffer(items_of(&line)))
			return true;
	}
	return false;
}

static int refuse(const struct line *line, struct tdm_str item, const char *text, struct tdm_diag *diag)
{
	char shown[SHOWN];
	return tdm_diag_set(diag, TDM_ESYNTAX, line->number, (uint64_t)(item.ptr - line->text.ptr) + 1, "%s: '%s'",
		text, tdm_str_shown(item, shown, sizeof shown));
}

/* Reads "CB0=1024KB". */
static int read_item(const struct line *line, struct tdm_str item, struct tdm_core_cb *cb, struct tdm_diag *diag)
{
	const char *equals = memchr(item.ptr, '=', item.len);
	uint64_t index;
	if (equals == NULL || item.len < 3 || (item.ptr[0] | 0x20) != 'c' || (item.ptr[1] | 0x20) != 'b')
		return refuse(line, item, "expected CBn=SIZE", diag);
	struct tdm_str number = tdm_str_trim((struct tdm_str){ item.ptr + 2, (size_t)(equals - item.ptr) - 2 });
	struct tdm_str size = tdm_str_rest(item, equals + 1);
	if (equals < item.ptr + 2 || tdm_str_parse_u64(number, &index) != 0 || index >= TDM_CORE_CBS)
		return refuse(line, item, "not the number of a circular buffer", diag);
	cb->index = (uint16_t)index;
	int err = tdm_parse_bytes(size, &cb->bytes, NULL);
	return err == 0 ? 0 : refuse(line, item, err == -ERANGE ? "a size that is too large" : "not a size", diag);
}

/* Reads all items in the line, or refuses the line: a core with only some of its buffers would get a wrong total. */
static int read_items(const struct line *line, struct tdm_core_cb cbs[TDM_CORE_CBS], struct tdm_core_line *core,
	struct tdm_diag *diag)
{
	struct tdm_str rest = items_of(line);
	while (rest.len != 0) {
		const char *comma = memchr(rest.ptr, ',', rest.len);
		size_t len = comma != NULL ? (size_t)(comma - rest.ptr) : rest.len, taken = len + (comma != NULL);
		struct tdm_core_cb cb;
		int err = read_item(line, tdm_str_trim((struct tdm_str){ rest.ptr, len }), &cb, diag);
		for (size_t i = 0; err == 0 && i < core->count; i++)
			if (cbs[i].index == cb.index)
				err = refuse(line, rest, "a circular buffer is listed twice", diag);
		if (err == 0 && __builtin_add_overflow(core->bytes, cb.bytes, &core->bytes))
			err = refuse(line, rest, "a sum that is too large", diag);
		if (err != 0)
			return err;
		cbs[core->count++] = cb;
		rest = tdm_str_trim(tdm_str_from(rest, taken));
	}
	return 0;
}

static int take_line(void *to, const struct tdm_lines *at, struct tdm_str text, struct tdm_diag *diag)
{
	struct line *line = to;
	struct tdm_core_cb cbs[TDM_CORE_CBS];
	line->text = tdm_log_without_colour(text, &line->clean);
	line->number = at->line;
	if (!find_core(line) || (items_of(line).len != 0 && !names_buffer(items_of(line))))
		return line->sink->take(line->sink->to, &(struct tdm_record){ .type = TDM_RECORD_OTHER });
	struct tdm_core_line core = { .x = line->x, .y = line->y, .line = line->number, .cbs = cbs };
	int err = read_items(line, cbs, &core, diag);
	return err != 0 ? err
			: line->sink->take(line->sink->to, &(struct tdm_record){ TDM_RECORD_CORE, .core = &core });
}

static int core_records(struct tdm_input *input, const struct tdm_record_sink *sink, struct tdm_diag *diag)
{
	struct line line = { .sink = sink };
	int err = tdm_format_lines(input, sink, take_line, &line, diag);
	tdm_buf_done(&line.clean);
	return err;
}

const struct tdm_format tdm_format_core_cbs = {
	.name = "core_dump",
	.summary = "core dump of circular buffers",
	.recognise = core_recognise,
	.records = core_records,
};
