/*
 * What the screens draw on: a grid of cells in memory, each a character and an ink. It knows no terminal, so a screen
 * can be drawn and looked at in a test; terminal.h shows it.
 *
 *     column 0 ─────▶ cols - 1
 *     row 0
 *       │
 *       ▼
 *     rows - 1          an area is a rectangle of it; what is put outside is cut off
 *
 * Texts are UTF-8 of unknown origin: control characters, broken sequences and characters without a width become '?'.
 */
#ifndef TDM_TUI_CANVAS_H
#define TDM_TUI_CANVAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "state/picture.h"

/* The meaning of a text; terminal.c has the colours. */
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
	TDM_INK_BAR,    /* the line of tabs */
	TDM_INK_TAB,    /* the tab of the current screen */
	TDM_INK_HEAD,   /* titles of columns */
	TDM_INK_SORTED, /* the title of the column that is sorted by */
	TDM_INK_CURSOR, /* the chosen line of the list that gets the keys */
	TDM_INK_CHOSEN, /* and of a list that does not */
	TDM_INK_KEY,    /* name of a key */
	TDM_INK_FRAME,  /* of a box */
	TDM_INK_ALERT,
	TDM_INK_ON_GREEN, /* fields of a heat map */
	TDM_INK_ON_YELLOW,
	TDM_INK_ON_RED,
	TDM_INK_COUNT
};

struct tdm_cell {
	uint32_t ch; /* code point; 0: the right half of the wide character before it */
	uint32_t ink;
};

struct tdm_canvas {
	int rows, cols;
	bool utf8; /* else ASCII only */
	struct tdm_cell *cells;
};

struct tdm_area {
	int row, col, rows, cols;
};

/* A table on a narrow area leaves out columns so that names have room; a wide one has room for all. */
static inline bool tdm_area_is_wide(struct tdm_area area)
{
	return area.cols >= 100;
}

static inline bool tdm_area_is_narrow(struct tdm_area area)
{
	return area.cols < 70;
}

enum { TDM_CANVAS_ROWS_MAX = 1000, TDM_CANVAS_COLS_MAX = 1000 };

/* The canvas is all zero to begin with. Clamps the size and clears the content. 0, or -ENOMEM and nothing has
 * changed. */
int tdm_canvas_resize(struct tdm_canvas *canvas, int rows, int cols);
void tdm_canvas_done(struct tdm_canvas *canvas);
void tdm_canvas_clear(struct tdm_canvas *canvas);
struct tdm_area tdm_canvas_area(const struct tdm_canvas *canvas);

/* Puts at most `width` columns; a longer text ends in "…" ("~" in ASCII). Returns the number of columns used. */
int tdm_canvas_put(struct tdm_canvas *canvas, int row, int col, int width, enum tdm_ink ink, const char *text);
void tdm_canvas_fill(struct tdm_canvas *canvas, int row, int col, int width, enum tdm_ink ink, uint32_t ch);
void tdm_canvas_set(struct tdm_canvas *canvas, int row, int col, enum tdm_ink ink, uint32_t ch);

/* Changes the ink of cells and keeps their characters. */
void tdm_canvas_shade(struct tdm_canvas *canvas, int row, int col, int width, enum tdm_ink ink);

/* Draws an empty box with a title. Returns its inside. */
struct tdm_area tdm_canvas_box(struct tdm_canvas *canvas, struct tdm_area area, const char *title);

/* The number of columns that the text takes. */
int tdm_canvas_width_of(const struct tdm_canvas *canvas, const char *text);

/* Cuts the upper `rows`, or the left `cols`, off an area and returns them. */
struct tdm_area tdm_area_take_rows(struct tdm_area *area, int rows);
struct tdm_area tdm_area_take_cols(struct tdm_area *area, int cols);

enum tdm_ink tdm_ink_of_level(enum tdm_level level);

/* Writes along one line of an area. */
struct tdm_pen {
	struct tdm_canvas *canvas;
	int row, col, end;
};

struct tdm_pen tdm_pen_at(struct tdm_canvas *canvas, struct tdm_area area, int line); /* line: of the area, from 0 */
int tdm_pen_room(const struct tdm_pen *pen);
void tdm_pen_skip(struct tdm_pen *pen, int cols);
void tdm_pen_text(struct tdm_pen *pen, enum tdm_ink ink, const char *text);
void tdm_pen_printf(struct tdm_pen *pen, enum tdm_ink ink, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* A field of |width| columns: aligned left, or right if `width` is negative. */
void tdm_pen_field(struct tdm_pen *pen, int width, enum tdm_ink ink, const char *text);

#endif
