#include "tui/canvas.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

enum { REPLACED = '?', PEN_CAP = 1024 };

static int clamp(int value, int low, int high)
{
	return value < low ? low : value > high ? high : value;
}

int tdm_canvas_resize(struct tdm_canvas *canvas, int rows, int cols)
{
	rows = clamp(rows, 1, TDM_CANVAS_ROWS_MAX);
	cols = clamp(cols, 1, TDM_CANVAS_COLS_MAX);
	struct tdm_cell *cells = calloc((size_t)rows * (size_t)cols, sizeof *cells);
	if (cells == NULL)
		return -ENOMEM;
	free(canvas->cells);
	canvas->cells = cells;
	canvas->rows = rows;
	canvas->cols = cols;
	tdm_canvas_clear(canvas);
	return 0;
}

void tdm_canvas_done(struct tdm_canvas *canvas)
{
	free(canvas->cells);
	*canvas = (struct tdm_canvas){ 0 };
}

void tdm_canvas_clear(struct tdm_canvas *canvas)
{
	size_t count = (size_t)canvas->rows * (size_t)canvas->cols;
	for (size_t i = 0; i < count; i++)
		canvas->cells[i] = (struct tdm_cell){ ' ', TDM_INK_PLAIN };
}

struct tdm_area tdm_canvas_area(const struct tdm_canvas *canvas)
{
	return (struct tdm_area){ 0, 0, canvas->rows, canvas->cols };
}

static struct tdm_cell *cell_at(struct tdm_canvas *canvas, int row, int col)
{
	if (row < 0 || row >= canvas->rows || col < 0 || col >= canvas->cols)
		return NULL;
	return &canvas->cells[(size_t)row * (size_t)canvas->cols + (size_t)col];
}

/* Blanks the other half of a wide character that is about to be overwritten. */
static void split_wide(struct tdm_canvas *canvas, int row, int col)
{
	struct tdm_cell *cell = cell_at(canvas, row, col), *before = cell_at(canvas, row, col - 1),
			*after = cell_at(canvas, row, col + 1);
	if (cell->ch == 0 && before != NULL)
		before->ch = ' ';
	else if (after != NULL && after->ch == 0)
		after->ch = ' ';
}

void tdm_canvas_set(struct tdm_canvas *canvas, int row, int col, enum tdm_ink ink, uint32_t ch)
{
	struct tdm_cell *cell = cell_at(canvas, row, col);
	if (cell == NULL)
		return;
	split_wide(canvas, row, col);
	*cell = (struct tdm_cell){ ch, ink };
}

/* Decodes one code point of UTF-8; REPLACED for a byte that begins none. */
static uint32_t decode(const char **text)
{
	const unsigned char *p = (const unsigned char *)*text;
	int more = p[0] < 0x80 ? 0 : p[0] < 0xc2 ? -1 : p[0] < 0xe0 ? 1 : p[0] < 0xf0 ? 2 : p[0] < 0xf5 ? 3 : -1;
	*text += 1;
	if (more <= 0)
		return more == 0 ? p[0] : REPLACED;
	uint32_t ch = p[0] & (0x3fU >> more);
	for (int i = 1; i <= more; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return REPLACED;
		ch = ch << 6 | (p[i] & 0x3f);
	}
	static const uint32_t lowest[] = { 0, 0x80, 0x800, 0x10000 };
	if (ch < lowest[more] || ch > 0x10ffff || (ch >= 0xd800 && ch <= 0xdfff))
		return REPLACED;
	*text += more;
	return ch;
}

/* The next character as shown, and its columns: 1 or 2. */
static uint32_t next_shown(const struct tdm_canvas *canvas, const char **text, int *columns)
{
	uint32_t ch = decode(text);
	*columns = 1;
	if (ch >= 0x20 && ch < 0x7f)
		return ch;
	if (ch < 0xa0 || !canvas->utf8)
		return REPLACED;
	int width = wcwidth((wchar_t)ch);
	if (width < 1 || width > 2)
		return REPLACED;
	*columns = width;
	return ch;
}

int tdm_canvas_width_of(const struct tdm_canvas *canvas, const char *text)
{
	int width = 0;
	while (*text != '\0' && width < TDM_CANVAS_COLS_MAX) {
		int columns;
		next_shown(canvas, &text, &columns);
		width += columns;
	}
	return width;
}

int tdm_canvas_put(struct tdm_canvas *canvas, int row, int col, int width, enum tdm_ink ink, const char *text)
{
	int used = 0;
	while (*text != '\0') {
		int columns;
		uint32_t ch = next_shown(canvas, &text, &columns);
		/* The last column is for the ellipsis, unless the text ends there. */
		bool ends = used + columns > width || (used + columns == width && *text != '\0');
		if (ends) {
			if (used < width) {
				tdm_canvas_set(canvas, row, col + used, ink, canvas->utf8 ? 0x2026 : '~');
				used++;
			}
			break;
		}
		tdm_canvas_set(canvas, row, col + used, ink, ch);
		if (columns == 2)
			tdm_canvas_set(canvas, row, col + used + 1, ink, 0);
		if (columns == 2 && col + used + 1 < canvas->cols && cell_at(canvas, row, col + used) != NULL)
			cell_at(canvas, row, col + used)->ch = ch;
		else if (columns == 2)
			tdm_canvas_set(canvas, row, col + used, ink, REPLACED);
		used += columns;
	}
	return used;
}

void tdm_canvas_fill(struct tdm_canvas *canvas, int row, int col, int width, enum tdm_ink ink, uint32_t ch)
{
	for (int i = 0; i < width && col + i < canvas->cols; i++)
		tdm_canvas_set(canvas, row, col + i, ink, ch);
}

void tdm_canvas_shade(struct tdm_canvas *canvas, int row, int col, int width, enum tdm_ink ink)
{
	for (int i = 0; i < width; i++) {
		struct tdm_cell *cell = cell_at(canvas, row, col + i);
		if (cell != NULL)
			cell->ink = ink;
	}
}

static void box_line(struct tdm_canvas *canvas, struct tdm_area area, int line, const uint32_t chars[3])
{
	tdm_canvas_set(canvas, area.row + line, area.col, TDM_INK_FRAME, chars[0]);
	tdm_canvas_fill(canvas, area.row + line, area.col + 1, area.cols - 2, TDM_INK_FRAME, chars[1]);
	tdm_canvas_set(canvas, area.row + line, area.col + area.cols - 1, TDM_INK_FRAME, chars[2]);
}

struct tdm_area tdm_canvas_box(struct tdm_canvas *canvas, struct tdm_area area, const char *title)
{
	static const uint32_t drawn[3][3] = { { 0x256d, 0x2500, 0x256e }, { 0x2502, ' ', 0x2502 },
		{ 0x2570, 0x2500, 0x256f } };
	static const uint32_t ascii[3][3] = { { '+', '-', '+' }, { '|', ' ', '|' }, { '+', '-', '+' } };
	const uint32_t(*chars)[3] = canvas->utf8 ? drawn : ascii;
	if (area.rows < 3 || area.cols < 4)
		return (struct tdm_area){ area.row, area.col, 0, 0 };
	for (int i = 0; i < area.rows; i++)
		box_line(canvas, area, i, chars[i == 0 ? 0 : i == area.rows - 1 ? 2 : 1]);
	if (title[0] != '\0' && area.cols > 6) {
		tdm_canvas_set(canvas, area.row, area.col + 2, TDM_INK_FRAME, ' ');
		int used = tdm_canvas_put(canvas, area.row, area.col + 3, area.cols - 6, TDM_INK_BOLD, title);
		tdm_canvas_set(canvas, area.row, area.col + 3 + used, TDM_INK_FRAME, ' ');
	}
	return (struct tdm_area){ area.row + 1, area.col + 2, area.rows - 2, area.cols - 4 };
}

struct tdm_area tdm_area_take_rows(struct tdm_area *area, int rows)
{
	rows = clamp(rows, 0, area->rows);
	struct tdm_area taken = { area->row, area->col, rows, area->cols };
	area->row += rows;
	area->rows -= rows;
	return taken;
}

struct tdm_area tdm_area_take_cols(struct tdm_area *area, int cols)
{
	cols = clamp(cols, 0, area->cols);
	struct tdm_area taken = { area->row, area->col, area->rows, cols };
	area->col += cols;
	area->cols -= cols;
	return taken;
}

enum tdm_ink tdm_ink_of_level(enum tdm_level level)
{
	switch (level) {
	case TDM_LEVEL_GREEN:
		return TDM_INK_GREEN;
	case TDM_LEVEL_YELLOW:
		return TDM_INK_YELLOW;
	case TDM_LEVEL_RED:
		return TDM_INK_RED;
	default:
		return TDM_INK_DIM;
	}
}

struct tdm_pen tdm_pen_at(struct tdm_canvas *canvas, struct tdm_area area, int line)
{
	bool outside = line < 0 || line >= area.rows;
	return (struct tdm_pen){ canvas, area.row + line, area.col, outside ? area.col : area.col + area.cols };
}

int tdm_pen_room(const struct tdm_pen *pen)
{
	return pen->end > pen->col ? pen->end - pen->col : 0;
}

void tdm_pen_skip(struct tdm_pen *pen, int cols)
{
	pen->col += cols;
}

void tdm_pen_text(struct tdm_pen *pen, enum tdm_ink ink, const char *text)
{
	pen->col += tdm_canvas_put(pen->canvas, pen->row, pen->col, tdm_pen_room(pen), ink, text);
}

void tdm_pen_printf(struct tdm_pen *pen, enum tdm_ink ink, const char *format, ...)
{
	char text[PEN_CAP];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	tdm_pen_text(pen, ink, text);
}

void tdm_pen_field(struct tdm_pen *pen, int width, enum tdm_ink ink, const char *text)
{
	int cols = width < 0 ? -width : width, shown = tdm_pen_room(pen) < cols ? tdm_pen_room(pen) : cols;
	int needed = width < 0 ? tdm_canvas_width_of(pen->canvas, text) : 0;
	int skip = width < 0 && needed < shown ? shown - needed : 0;
	tdm_canvas_put(pen->canvas, pen->row, pen->col + skip, shown - skip, ink, text);
	pen->col += cols;
}
