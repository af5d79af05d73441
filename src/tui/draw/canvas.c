/*
 * Cells, pens, shares, lists and pages. A canvas is one array of cells, row by row; a wide character occupies two
 * cells, the second of which holds 0; overwriting one half blanks the other. Bars and graphs are drawn in fractions of
 * a cell, with block or braille characters in UTF-8, else in ASCII.
 */
#include "tui/draw/canvas.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "base/memory.h"
#include "base/number.h"
#include "base/term.h"

enum { REPLACED = '?', PEN_CAP = 1024 };

static int clamp(int value, int low, int high)
{
	return value < low ? low : value > high ? high : value;
}

void tdm_canvas_resize(struct tdm_canvas *canvas, int rows, int cols)
{
	rows = clamp(rows, 1, TDM_CANVAS_ROWS_MAX);
	cols = clamp(cols, 1, TDM_CANVAS_COLS_MAX);
	canvas->cells = tdm_realloc(canvas->cells, (size_t)rows * (size_t)cols, sizeof *canvas->cells);
	canvas->rows = rows;
	canvas->cols = cols;
	tdm_canvas_clear(canvas);
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

void tdm_canvas_set(struct tdm_canvas *canvas, int row, int col, enum tdm_ink ink, uint32_t ch)
{
	struct tdm_cell *cell = cell_at(canvas, row, col), *before = cell_at(canvas, row, col - 1),
			*after = cell_at(canvas, row, col + 1);
	if (cell == NULL)
		return;
	/* Blanks the other half of a wide character when one half is overwritten. */
	if (cell->ch == 0 && before != NULL)
		before->ch = ' ';
	else if (after != NULL && after->ch == 0)
		after->ch = ' ';
	*cell = (struct tdm_cell){ ch, ink };
}

/* Decodes one UTF-8 code point; REPLACED if the first byte cannot begin one. */
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

/* The next character as shown, and its width in columns: 1 or 2. */
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
		/* The last column is reserved for the ellipsis, unless the text ends there. */
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

struct tdm_area tdm_canvas_box(struct tdm_canvas *canvas, struct tdm_area area, const char *title)
{
	static const uint32_t drawn[3][3] = { { 0x256d, 0x2500, 0x256e }, { 0x2502, ' ', 0x2502 },
		{ 0x2570, 0x2500, 0x256f } };
	static const uint32_t ascii[3][3] = { { '+', '-', '+' }, { '|', ' ', '|' }, { '+', '-', '+' } };
	const uint32_t(*chars)[3] = canvas->utf8 ? drawn : ascii;
	if (area.rows < 3 || area.cols < 4)
		return (struct tdm_area){ area.row, area.col, 0, 0 };
	for (int i = 0, row = area.row; i < area.rows; i++, row++) {
		const uint32_t *line = chars[i == 0 ? 0 : i == area.rows - 1 ? 2 : 1];
		tdm_canvas_fill(canvas, row, area.col + 1, area.cols - 2, TDM_INK_FRAME, line[1]);
		tdm_canvas_set(canvas, row, area.col, TDM_INK_FRAME, line[0]);
		tdm_canvas_set(canvas, row, area.col + area.cols - 1, TDM_INK_FRAME, line[2]);
	}
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

enum tdm_ink tdm_ink_of(unsigned level)
{
	static const enum tdm_ink inks[TDM_LEVELS] = {
		[TDM_LEVEL_PLAIN] = TDM_INK_PLAIN,
		[TDM_LEVEL_FINE] = TDM_INK_GREEN,
		[TDM_LEVEL_WARNING] = TDM_INK_YELLOW,
		[TDM_LEVEL_DANGER] = TDM_INK_RED,
		[TDM_LEVEL_NOTE] = TDM_INK_CYAN,
		[TDM_LEVEL_FAINT] = TDM_INK_DIM,
		[TDM_LEVEL_STRONG] = TDM_INK_BOLD,
	};
	return inks[level < TDM_LEVELS ? level : TDM_LEVEL_PLAIN];
}

enum tdm_ink tdm_ink_of_level(enum tdm_level level)
{
	return level == TDM_LEVEL_PLAIN ? TDM_INK_DIM : tdm_ink_of(level);
}

struct tdm_pen tdm_pen_at(struct tdm_canvas *canvas, struct tdm_area area, int line)
{
	bool outside = line < 0 || line >= area.rows;
	return (struct tdm_pen){ canvas, area.row + line, area.col, outside ? area.col : area.col + area.cols, false };
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

struct tdm_pen tdm_pen_row(struct tdm_canvas *canvas, struct tdm_area line, bool is_head)
{
	struct tdm_pen pen = tdm_pen_at(canvas, line, 0);
	if (is_head)
		tdm_canvas_fill(canvas, line.row, line.col, line.cols, TDM_INK_HEAD, ' ');
	pen.is_head = is_head;
	return pen;
}

void tdm_pen_column(struct tdm_pen *pen, int width, enum tdm_ink ink, const char *title, const char *text)
{
	tdm_pen_field(pen, width, pen->is_head ? TDM_INK_HEAD : ink, pen->is_head ? title : text);
}

/* ---- shares ---- */

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

void tdm_gauge_graph(struct tdm_canvas *canvas, struct tdm_area area, const struct tdm_history *history)
{
	/* The dots of the left and right half of a cell, which has four rows, filled from below. */
	static const uint32_t lefts[] = { 0, 0x40, 0x44, 0x46, 0x47 }, rights[] = { 0, 0x80, 0xa0, 0xb0, 0xb8 },
			      ascii[] = { ' ', '.', ':', '|', '#' };
	size_t per_column = canvas->utf8 ? 2 : 1;
	int steps = area.rows * DOTS, last_row = area.row + area.rows - 1;
	for (int i = 0; i < area.cols; i++) {
		size_t back = (size_t)(area.cols - 1 - i) * per_column;
		int right = tdm_history_get(history, back), left = tdm_history_get(history, back + per_column - 1),
		    highest = left > right ? left : right, col = area.col + i;
		for (int row = last_row; row >= area.row; row--) {
			int below = (last_row - row) * DOTS, l = clamp(steps_of(left, steps) - below, 0, DOTS),
			    r = clamp(steps_of(right, steps) - below, 0, DOTS);
			if (l != 0 || r != 0)
				tdm_canvas_set(canvas, row, col,
					tdm_ink_of_level(tdm_level_of((uint64_t)highest, FULL)),
					canvas->utf8 ? BRAILLE | lefts[l] | rights[r] : ascii[r]);
		}
		struct tdm_cell *cell = area.rows > 0 ? cell_at(canvas, last_row, col) : NULL;
		if (right >= 0 && cell != NULL && cell->ch == ' ') /* the value at that time is known */
			*cell = (struct tdm_cell){ canvas->utf8 ? BRAILLE | 0xc0 : '_', TDM_INK_TRACK };
	}
}

void tdm_history_add(struct tdm_history *history, int permille)
{
	history->values[history->next] = permille < 0 ? TDM_HISTORY_UNKNOWN : (int16_t)clamp(permille, 0, FULL);
	history->next = (history->next + 1) % TDM_HISTORY_CAP;
	if (history->count < TDM_HISTORY_CAP)
		history->count++;
}

int tdm_history_get(const struct tdm_history *history, size_t back)
{
	if (back >= history->count)
		return TDM_HISTORY_UNKNOWN;
	return history->values[(history->next + TDM_HISTORY_CAP - 1 - back) % TDM_HISTORY_CAP];
}

/* ---- lists and pages ---- */

void tdm_list_fit(struct tdm_list *list, size_t count, int page)
{
	list->count = count;
	list->page = page > 0 ? (size_t)page : 0;
	if (list->chosen >= count)
		list->chosen = count != 0 ? count - 1 : 0;
	if (list->page == 0)
		return;
	if (list->chosen < list->top)
		list->top = list->chosen;
	if (list->chosen >= list->top + list->page)
		list->top = list->chosen - list->page + 1;
	list->top = tdm_min(list->top, count > list->page ? count - list->page : 0);
}

static bool step(size_t *at, size_t count, size_t page, int key)
{
	bool is_up = key == TDM_KEY_UP || key == 'k' || key == TDM_KEY_PAGE_UP || key == TDM_KEY_HOME,
	     is_down = key == TDM_KEY_DOWN || key == 'j' || key == TDM_KEY_PAGE_DOWN || key == TDM_KEY_END,
	     is_page = key == TDM_KEY_PAGE_UP || key == TDM_KEY_PAGE_DOWN;
	size_t by = key == TDM_KEY_HOME || key == TDM_KEY_END ? count
		    : is_page && page > 1                     ? page - 1
							      : 1,
	       last = count != 0 ? count - 1 : 0;
	if (is_up)
		*at = *at > by ? *at - by : 0;
	else if (is_down)
		*at = last - tdm_min(*at, last) > by ? *at + by : last;
	return is_up || is_down;
}

bool tdm_list_key(struct tdm_list *list, int key)
{
	return step(&list->chosen, list->count, list->page, key);
}

bool tdm_list_scroll(struct tdm_list *list, int key)
{
	size_t tops = list->count > list->page ? list->count - list->page + 1 : 1;
	return step(&list->top, tops, list->page, key);
}

struct tdm_page tdm_page_begin(struct tdm_canvas *canvas, struct tdm_area area, const struct tdm_list *list)
{
	return (struct tdm_page){ .canvas = canvas, .area = area, .top = (long)list->top };
}

struct tdm_pen tdm_page_line(struct tdm_page *page)
{
	long at = page->line++ - page->top;
	return tdm_pen_at(page->canvas, page->area, at >= 0 && at < page->area.rows ? (int)at : -1);
}

struct tdm_area tdm_page_block(struct tdm_page *page, int rows)
{
	long at = page->line - page->top;
	page->line += rows;
	if (at < 0 || at + rows > page->area.rows)
		return (struct tdm_area){ page->area.row, page->area.col, 0, 0 };
	return (struct tdm_area){ page->area.row + (int)at, page->area.col, rows, page->area.cols };
}

void tdm_pen_styled(struct tdm_pen *pen, struct tdm_str line)
{
	static const char *const styles[] = { [TDM_INK_PLAIN] = TDM_STYLE_OFF,
		[TDM_INK_BOLD] = TDM_STYLE_BOLD,
		[TDM_INK_DIM] = TDM_STYLE_DIM,
		[TDM_INK_RED] = TDM_STYLE_RED,
		[TDM_INK_GREEN] = TDM_STYLE_GREEN,
		[TDM_INK_YELLOW] = TDM_STYLE_YELLOW,
		[TDM_INK_BLUE] = TDM_STYLE_BLUE,
		[TDM_INK_MAGENTA] = TDM_STYLE_MAGENTA,
		[TDM_INK_CYAN] = TDM_STYLE_CYAN };
	enum tdm_ink ink = TDM_INK_PLAIN;
	while (line.len != 0 && tdm_pen_room(pen) > 0) {
		const char *escape = memchr(line.ptr, '\033', line.len);
		size_t plain = escape != NULL ? (size_t)(escape - line.ptr) : line.len;
		tdm_pen_printf(pen, ink, "%.*s", (int)plain, line.ptr);
		line = tdm_str_from(line, plain);
		for (unsigned i = 0; i < sizeof styles / sizeof *styles; i++)
			if (styles[i] != NULL && tdm_str_begins(line, styles[i])) {
				ink = (enum tdm_ink)i;
				line = tdm_str_from(line, strlen(styles[i]));
				break;
			}
		if (line.len != 0 && line.ptr == escape)
			return; /* an unknown sequence */
	}
}

void tdm_page_text(struct tdm_page *page, struct tdm_str text)
{
	while (text.len != 0) {
		struct tdm_pen pen = tdm_page_line(page);
		tdm_pen_styled(&pen, tdm_str_take_line(&text));
	}
}

void tdm_page_end(struct tdm_page *page, struct tdm_list *list)
{
	list->count = (size_t)page->line;
	list->page = page->area.rows > 0 ? (size_t)page->area.rows : 0;
	list->top = tdm_min(list->top, list->count > list->page ? list->count - list->page : 0);
}
