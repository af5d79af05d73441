#include "tui/gauge.h"

#include <stdio.h>

#include "base/bar.h"

enum { FULL = 1000, BRAILLE = 0x2800, DOTS = 4 };

void tdm_gauge_bar(struct tdm_pen *pen, int width, enum tdm_level level, uint64_t used, uint64_t total)
{
	int permille = tdm_picture_permille(used, total), cols = tdm_pen_room(pen) < width ? tdm_pen_room(pen) : width;
	int full = (int)tdm_bar_full(permille, cols > 0 ? (size_t)cols : 0);
	bool utf8 = pen->canvas->utf8;
	uint32_t on = utf8 ? 0x25a0 : '#', off = utf8 ? 0xb7 : '.', unknown = utf8 ? 0x254c : '?';
	enum tdm_ink ink = tdm_ink_of_level(level);
	for (int i = 0; i < cols; i++) {
		if (permille < 0)
			tdm_canvas_set(pen->canvas, pen->row, pen->col + i, TDM_INK_TRACK, unknown);
		else
			tdm_canvas_set(pen->canvas, pen->row, pen->col + i, i < full ? ink : TDM_INK_TRACK,
				i < full ? on : off);
	}
	pen->col += width;
}

void tdm_gauge_percent(struct tdm_pen *pen, enum tdm_level level, uint64_t used, uint64_t total)
{
	char text[24];
	int permille = tdm_picture_permille(used, total);
	if (permille < 0)
		snprintf(text, sizeof text, "?");
	else if (permille < 10 * FULL)
		snprintf(text, sizeof text, "%d.%d%%", permille / 10, permille % 10);
	else
		snprintf(text, sizeof text, ">999%%");
	tdm_pen_field(pen, -6, tdm_ink_of_level(level), text);
}

/* How many of `steps` a value fills; any value above 0 fills at least one. */
static int steps_of(int permille, int steps)
{
	if (permille <= 0)
		return 0;
	int filled = (permille * steps + FULL / 2) / FULL;
	return filled == 0 ? 1 : filled;
}

static enum tdm_ink ink_of(int left, int right)
{
	int highest = left > right ? left : right;
	return tdm_ink_of_level(tdm_level_of((uint64_t)(highest > 0 ? highest : 0), FULL));
}

/* The dots of one cell; `left` and `right` of its four rows are filled from below. */
static uint32_t braille(int left, int right)
{
	static const uint32_t lefts[] = { 0, 0x40, 0x44, 0x46, 0x47 }, rights[] = { 0, 0x80, 0xa0, 0xb0, 0xb8 };
	return BRAILLE | lefts[left] | rights[right];
}

static int within(int filled, int row_from_below)
{
	int here = filled - row_from_below * DOTS;
	return here < 0 ? 0 : here > DOTS ? DOTS : here;
}

static void graph_column(struct tdm_canvas *canvas, struct tdm_area area, int col, int left, int right)
{
	static const uint32_t ascii[] = { ' ', '.', ':', '|', '#' };
	int steps = area.rows * DOTS, lefts = steps_of(left, steps), rights = steps_of(right, steps);
	for (int i = 0; i < area.rows; i++) {
		int below = area.rows - 1 - i, l = within(lefts, below), r = within(rights, below);
		if (l == 0 && r == 0)
			continue;
		tdm_canvas_set(canvas, area.row + i, area.col + col, ink_of(left, right),
			canvas->utf8 ? braille(l, r) : ascii[r]);
	}
}

void tdm_gauge_graph(struct tdm_canvas *canvas, struct tdm_area area, const struct tdm_history *history)
{
	size_t per_column = canvas->utf8 ? 2 : 1;
	for (int i = 0; i < area.cols; i++) {
		size_t back = (size_t)(area.cols - 1 - i) * per_column;
		int right = tdm_history_get(history, back), left = tdm_history_get(history, back + per_column - 1);
		graph_column(canvas, area, i, left, right);
	}
	for (int i = 0; i < area.cols && area.rows > 0; i++) {
		if (tdm_history_get(history, (size_t)(area.cols - 1 - i) * per_column) < 0)
			continue; /* unknown at that time */
		struct tdm_cell *cell = &canvas->cells[(size_t)(area.row + area.rows - 1) * (size_t)canvas->cols +
						       (size_t)(area.col + i)];
		if (area.row + area.rows <= canvas->rows && area.col + i < canvas->cols && cell->ch == ' ')
			*cell = (struct tdm_cell){ canvas->utf8 ? BRAILLE | 0xc0 : '_', TDM_INK_TRACK };
	}
}
