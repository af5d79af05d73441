/*
 * The canvas is a grid of cells in memory, each with a character and an ink, on which the screens draw. The canvas does
 * not depend on a terminal, so tests can draw screens and examine them; terminal.h displays a canvas.
 *
 *     column 0 ─────▶ cols - 1
 *     row 0
 *       │
 *       ▼
 *     rows - 1          an area is a rectangle of cells; anything drawn outside is clipped
 *
 * Texts are UTF-8 of unknown origin: control characters, broken sequences and characters without a width become '?'.
 */
#ifndef TDM_TUI_CANVAS_H
#define TDM_TUI_CANVAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "live/join/picture.h"

/* The meaning of a piece of text; terminal.c defines the colours. */
enum tdm_ink {
	TDM_INK_PLAIN,
	TDM_INK_DIM,
	TDM_INK_BOLD,
	TDM_INK_LABEL, /* names of figures */
	TDM_INK_GREEN,
	TDM_INK_YELLOW,
	TDM_INK_RED,
	TDM_INK_BLUE,
	TDM_INK_CYAN,
	TDM_INK_MAGENTA,
	TDM_INK_TRACK,  /* the empty part of a bar */
	TDM_INK_BAR,    /* the tab line */
	TDM_INK_TAB,    /* the tab of the current screen */
	TDM_INK_HEAD,   /* column titles */
	TDM_INK_SORTED, /* title of the column used for sorting */
	TDM_INK_CURSOR, /* selected row of the list that gets the keys */
	TDM_INK_CHOSEN, /* selected row of a list that does not get the keys */
	TDM_INK_KEY,    /* key name */
	TDM_INK_FRAME,  /* border of a box */
	TDM_INK_ALERT,
	TDM_INK_ON_GREEN, /* this and the following: fields of a heat map */
	TDM_INK_ON_YELLOW,
	TDM_INK_ON_RED,
	TDM_INK_COUNT
};

struct tdm_cell {
	uint32_t ch; /* code point; 0 in the right half of a wide character */
	uint32_t ink;
};

struct tdm_canvas {
	int rows, cols;
	bool utf8; /* false: ASCII only */
	struct tdm_cell *cells;
};

struct tdm_area {
	int row, col, rows, cols;
};

/* In a narrow area a table leaves out columns so that names have room; a wide area has room for all. */
static inline bool tdm_area_is_wide(struct tdm_area area)
{
	return area.cols >= 100;
}

static inline bool tdm_area_is_narrow(struct tdm_area area)
{
	return area.cols < 70;
}

enum { TDM_CANVAS_ROWS_MAX = 1000, TDM_CANVAS_COLS_MAX = 1000 };

/* Zero the canvas before the first call. Clamps the size and clears the content. */
void tdm_canvas_resize(struct tdm_canvas *canvas, int rows, int cols);
void tdm_canvas_done(struct tdm_canvas *canvas);
void tdm_canvas_clear(struct tdm_canvas *canvas);
struct tdm_area tdm_canvas_area(const struct tdm_canvas *canvas);

/* Draws text in at most `width` columns; longer text ends in "…" ("~" in ASCII). Returns the number of columns used. */
int tdm_canvas_put(struct tdm_canvas *canvas, int row, int col, int width, enum tdm_ink ink, const char *text);
void tdm_canvas_fill(struct tdm_canvas *canvas, int row, int col, int width, enum tdm_ink ink, uint32_t ch);
void tdm_canvas_set(struct tdm_canvas *canvas, int row, int col, enum tdm_ink ink, uint32_t ch);

/* Changes the ink of cells, keeping the characters. */
void tdm_canvas_shade(struct tdm_canvas *canvas, int row, int col, int width, enum tdm_ink ink);

/* Draws an empty box with a title. Returns the area inside. */
struct tdm_area tdm_canvas_box(struct tdm_canvas *canvas, struct tdm_area area, const char *title);

/* The number of columns that the text needs. */
int tdm_canvas_width_of(const struct tdm_canvas *canvas, const char *text);

/* Cuts the upper `rows`, or the left `cols`, off an area and returns the part cut off. */
struct tdm_area tdm_area_take_rows(struct tdm_area *area, int rows);
struct tdm_area tdm_area_take_cols(struct tdm_area *area, int cols);

enum tdm_ink tdm_ink_of_level(enum tdm_level level); /* ink of a share; an unknown share is dim */
enum tdm_ink tdm_ink_of(unsigned level);             /* ink of a value; `level` is an enum tdm_level */

/* A pen writes along one line of an area. */
struct tdm_pen {
	struct tdm_canvas *canvas;
	int row, col, end;
	bool is_head; /* writes column titles */
};

struct tdm_pen tdm_pen_at(struct tdm_canvas *canvas, struct tdm_area area, int line); /* `line`: from 0 */
int tdm_pen_room(const struct tdm_pen *pen);
void tdm_pen_skip(struct tdm_pen *pen, int cols);
void tdm_pen_text(struct tdm_pen *pen, enum tdm_ink ink, const char *text);
void tdm_pen_printf(struct tdm_pen *pen, enum tdm_ink ink, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Writes a field of |width| columns: aligned left, or right if `width` is negative. */
void tdm_pen_field(struct tdm_pen *pen, int width, enum tdm_ink ink, const char *text);

/* Begins a table row, or the table head, which contains the column titles. */
struct tdm_pen tdm_pen_row(struct tdm_canvas *canvas, struct tdm_area line, bool is_head);
void tdm_pen_column(struct tdm_pen *pen, int width, enum tdm_ink ink, const char *title, const char *text);

/* A ring with the latest values of a figure. */
enum { TDM_HISTORY_CAP = 512 };
#define TDM_HISTORY_UNKNOWN INT16_MIN

/* Zeroed to begin with. Values are permille, or TDM_HISTORY_UNKNOWN. */
struct tdm_history {
	size_t count, next;
	int16_t values[TDM_HISTORY_CAP];
};

void tdm_history_add(struct tdm_history *history, int permille);

/* The value `back` steps before the last one; unknown if older than the first. */
int tdm_history_get(const struct tdm_history *history, size_t back);

/* ---- shares: as bars, and as graphs over time ---- */

/* Draws a bar of `width` columns, filled by used / total; dashes ('?' in ASCII) if unknown. */
void tdm_gauge_bar(struct tdm_pen *pen, int width, enum tdm_level level, uint64_t used, uint64_t total);

/* Draws " 62.4%", always six columns; " ?" if unknown. */
void tdm_gauge_percent(struct tdm_pen *pen, enum tdm_level level, uint64_t used, uint64_t total);

/* Draws the latest values, newest on the right: two values per column (one in ASCII), four steps per row. Unknown
 * values are left blank. */
void tdm_gauge_graph(struct tdm_canvas *canvas, struct tdm_area area, const struct tdm_history *history);

/* ---- lists that scroll: the selected line and the first visible one; and scrolling pages ---- */

/* Keys below TDM_KEY_FIRST are characters. */
enum tdm_key {
	TDM_KEY_NONE = 0, /* nothing was pressed */
	TDM_KEY_CTRL_L = 12,
	TDM_KEY_TAB = '\t',
	TDM_KEY_ENTER = '\n',
	TDM_KEY_ESCAPE = 27,
	TDM_KEY_FIRST = 0x110000,
	TDM_KEY_UP = TDM_KEY_FIRST,
	TDM_KEY_DOWN,
	TDM_KEY_LEFT,
	TDM_KEY_RIGHT,
	TDM_KEY_PAGE_UP,
	TDM_KEY_PAGE_DOWN,
	TDM_KEY_HOME,
	TDM_KEY_END,
	TDM_KEY_BACKSPACE,
	TDM_KEY_DELETE,
	TDM_KEY_BACK_TAB,
	TDM_KEY_F0,
	TDM_KEY_F12 = TDM_KEY_F0 + 12,
	TDM_KEY_MOUSE,
	TDM_KEY_OTHER, /* a key without a meaning here */
	TDM_KEY_GONE,  /* the terminal has disappeared */
};

/* Zeroed to begin with. */
struct tdm_list {
	size_t count, chosen, top;
	size_t page; /* lines in the window when last drawn */
};

/* Keeps `chosen` and `top` within the list, and `chosen` visible. */
void tdm_list_fit(struct tdm_list *list, size_t count, int page);

/* Handles arrows, j and k, pages, Home and End. Returns false for other keys. */
bool tdm_list_key(struct tdm_list *list, int key);

/* Handles the same keys, but moves the window instead of the selection. */
bool tdm_list_scroll(struct tdm_list *list, int key);

/* A page that may be longer than the screen: every line is passed to the page, which draws those in view. */
struct tdm_page {
	struct tdm_canvas *canvas;
	struct tdm_area area;
	long line, top; /* the next line, and the first visible line */
};

struct tdm_page tdm_page_begin(struct tdm_canvas *canvas, struct tdm_area area, const struct tdm_list *list);
struct tdm_pen tdm_page_line(struct tdm_page *page); /* returns a pen without room if the line is not visible */
/* Writes text whose style sequences (base/term.h) become inks: one line, or lines of a page. */
void tdm_pen_styled(struct tdm_pen *pen, struct tdm_str line);
void tdm_page_text(struct tdm_page *page, struct tdm_str text);
struct tdm_area tdm_page_block(struct tdm_page *page, int rows); /* returns no rows unless all of them are visible */
void tdm_page_end(struct tdm_page *page, struct tdm_list *list); /* sets the list's length to that of the page */

#endif
