/*
 * The surface that charts draw on: boxes, lines and text. The origin is the upper left corner, y points down, and one
 * unit is one pixel at a scale of 1. There are two kinds of surface: cairo (PNG, PDF) and our own SVG, which keeps text
 * as text. finish() reports the first error. Below are the parts shared by all charts: axes with round numbers,
 * background, title, legend, the limit line, all colours except those of the data, and terminal output.
 */
#ifndef TDM_VIEW_DRAWING_H
#define TDM_VIEW_DRAWING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "view/chart/plot.h"

/* 0xRRGGBBAA; 0 draws nothing. */
typedef uint32_t tdm_rgba;

static inline tdm_rgba tdm_rgba_of(uint32_t rgb, double opacity)
{
	return rgb << 8 | (uint32_t)(opacity * 255 + 0.5);
}

struct tdm_point {
	double x, y;
};

struct tdm_box {
	double x, y, w, h;
};

/* How a shape is filled and outlined. */
struct tdm_paint {
	tdm_rgba fill, stroke;
	double width; /* stroke width */
	double dash;  /* length of a dash, which also sets the gap after it; 0 if solid */
	double round; /* radius of a box's corners */
};

enum tdm_align { TDM_ALIGN_START, TDM_ALIGN_MIDDLE, TDM_ALIGN_END };

struct tdm_font {
	double size; /* font size in pixels */
	bool bold;
	tdm_rgba colour;
	enum tdm_align align;
};

struct tdm_drawing;

struct tdm_drawing_ops {
	void (*box)(struct tdm_drawing *drawing, struct tdm_box box, const struct tdm_paint *paint);
	void (*path)(struct tdm_drawing *drawing, const struct tdm_point *points, size_t count, bool closed,
		const struct tdm_paint *paint);
	/* `at` is on the base line; the text is valid UTF-8 without control characters. */
	void (*text)(struct tdm_drawing *drawing, struct tdm_point at, const char *text, const struct tdm_font *font);
	/* Shapes drawn until group_end belong together; the name becomes a tooltip where possible. May be NULL. */
	void (*group)(struct tdm_drawing *drawing, const char *kind, const char *name);
	/* Appends the finished picture. 0 or a negative code. Must be called once; nothing is drawn afterwards. */
	int (*finish)(struct tdm_drawing *drawing, struct tdm_buf *out);
};

struct tdm_ruler;

struct tdm_axis {
	double from, to;  /* ends of the axis, multiples of `step`, that enclose the data */
	double step;      /* distance between ticks, above 0 */
	size_t count;     /* number of ticks, including both ends; at most TDM_AXIS_TICKS_MAX */
	double divisor;   /* number that one label unit stands for, such as 2^30 */
	const char *unit; /* unit of the labels, such as "GiB" */
	int decimals;
	bool commas; /* thousands separators in labels */
};

struct tdm_drawing {
	const struct tdm_drawing_ops *ops;
	double width, height;
	struct tdm_ruler *ruler; /* owned */
	struct tdm_buf text;     /* the SVG, or the finished PDF */
	void *cairo;             /* cairo context until finish(); NULL for an SVG */
	/* Set by tdm_frame_begin(): */
	const struct tdm_scene *scene;
	double size;         /* size of ordinary text; all other sizes derive from it */
	struct tdm_box area; /* the room left for the chart */
	double name_y;       /* baseline of the value axis name */
	struct tdm_axis y;   /* the value axis; set by tdm_frame_reserve_y() */
	double x_from, x_to; /* the range of the x axis; set by the chart */
};

struct tdm_drawing *tdm_drawing_new(const struct tdm_drawing_ops *ops, double width, double height);
/* In drawing_cairo.c. NULL if cairo refuses the size. */
struct tdm_drawing *tdm_drawing_cairo(double width, double height, double scale, bool is_pdf);
struct tdm_drawing *tdm_drawing_svg(double width, double height, double scale);
void tdm_drawing_free(struct tdm_drawing *drawing);

/* These functions accept any text: invalid UTF-8 and unprintable characters become U+FFFD. */
void tdm_drawing_text(struct tdm_drawing *drawing, double x, double y, const char *text, const struct tdm_font *font);
/* Draws at most `width` of text; longer text is cut and ends in an ellipsis. */
void tdm_drawing_text_within(
	struct tdm_drawing *drawing, double x, double y, double width, const char *text, const struct tdm_font *font);
double tdm_drawing_text_width(const struct tdm_drawing *drawing, const char *text, const struct tdm_font *font);

/* Breaks a text between words into lines of at most `width`. Returns the number of lines, at most `max`; the last one
 * ends in an ellipsis if text is left. Each line has `cap` bytes. */
size_t tdm_drawing_wrap(const struct tdm_drawing *drawing, const char *text, const struct tdm_font *font, double width,
	char *lines, size_t cap, size_t max);

void tdm_drawing_box(struct tdm_drawing *drawing, struct tdm_box box, const struct tdm_paint *paint);
void tdm_drawing_fill(struct tdm_drawing *drawing, struct tdm_box box, tdm_rgba colour);
void tdm_drawing_line(struct tdm_drawing *drawing, double from_x, double from_y, double to_x, double to_y,
	const struct tdm_paint *paint);
void tdm_drawing_group(struct tdm_drawing *drawing, const char *kind, const char *name);
void tdm_drawing_group_end(struct tdm_drawing *drawing);

/* ---- in drawing_cairo.c: the width of text in the chart font ----------------------------------------- */

#define TDM_PLOT_FONT "DejaVu Sans"

struct tdm_ruler *tdm_ruler_new(void);
void tdm_ruler_free(struct tdm_ruler *ruler);

/* `text` is valid UTF-8. Measured without hinting, so the width is proportional to the size. */
double tdm_ruler_width(struct tdm_ruler *ruler, const char *text, double size, bool bold);

/* Whether this machine has any font. If not, cairo draws text with its own strokes: readable, not pretty. */
bool tdm_ruler_has_fonts(struct tdm_ruler *ruler);

/* ---- axes, and values as text with a unit ------------------------------------------------------------------------ */

enum { TDM_LABEL_CAP = 40, TDM_AXIS_TICKS_MAX = 32 };

/* An axis around [from, to] with about `ticks` ticks. A step is 1, 2 or 5 times a power of ten in the unit that fits
 * `to`. Infinite and NaN ends count as 0; an empty range becomes a range of 1. */
struct tdm_axis tdm_axis_make(double from, double to, enum tdm_plot_unit unit, size_t ticks);

/* The same for addresses: steps are powers of two, and the ends stay as given. */
struct tdm_axis tdm_axis_address(double from, double to, size_t ticks);

struct tdm_label {
	char text[TDM_LABEL_CAP];
};

/* "12 GiB", "0". */
struct tdm_label tdm_axis_label(const struct tdm_axis *axis, double value);

/* A single value with three significant digits: "1.81 GiB", "193 MiB". TDM_PLOT_MIB keeps all digits before the point:
 * "8,279 MiB". NaN is "unknown". */
struct tdm_label tdm_plot_value(enum tdm_plot_unit unit, double value);

/* ---- the frame of a picture -------------------------------------------------------------------------------------- */

#define TDM_INK       0x1f2933ffu
#define TDM_INK_MUTED 0x5f6b7affu
#define TDM_INK_GRID  0xe3e7ebffu
#define TDM_INK_AXIS  0x9aa5b1ffu
#define TDM_INK_EMPTY 0xf1f3f5ffu
#define TDM_INK_LIMIT 0xff0000ffu
#define TDM_INK_WARN  0xc81e1effu
#define TDM_PAPER     0xffffffffu

/* Paints background, title and legend. The legend contains the limit and, with `swatches`, each series. */
void tdm_frame_begin(struct tdm_drawing *drawing, const struct tdm_scene *scene, bool swatches);

/* A font of `scale` times the ordinary size. */
struct tdm_font tdm_frame_font(struct tdm_drawing *drawing, double scale, bool bold, tdm_rgba colour, enum tdm_align);

/* Reserves room in the area for the value axis: at the left for the labels, at the top for the name. */
void tdm_frame_reserve_y(struct tdm_drawing *drawing, const struct tdm_axis *axis);
/* Draws grid lines and labels in the current area. */
void tdm_frame_draw_y(struct tdm_drawing *drawing);
/* Draws the x axis below the area, with the steps of `axis`. */
void tdm_frame_draw_x(struct tdm_drawing *drawing, const struct tdm_axis *axis, const char *name);

/* Whether the scene has any limits, and whether all share one limit. */
bool tdm_frame_has_limits(const struct tdm_scene *scene);
bool tdm_frame_has_limit(const struct tdm_scene *scene);
/*
 * Reserve room at the right for the common limit's label; draw the line and the label. Do nothing if there is no common
 * limit.
 */
void tdm_frame_reserve_limit(struct tdm_drawing *drawing);
void tdm_frame_draw_limit(struct tdm_drawing *drawing);
/* Draws a limit line at height `y`. */
void tdm_frame_limit_line(struct tdm_drawing *drawing, double y, double from, double to);
/* The box of the common limit's label; empty when there is none. */
struct tdm_box tdm_frame_limit_label(struct tdm_drawing *drawing);

/* The height at which a value is drawn. */
double tdm_frame_y(struct tdm_drawing *drawing, double value);
double tdm_frame_x(struct tdm_drawing *drawing, double value);

/* Draws text on a bright background, so that lines do not run through it. */
void tdm_frame_halo(struct tdm_drawing *drawing, double x, double y, const char *text, const struct tdm_font *font);

/* Dark or bright, whichever is readable on this colour. */
tdm_rgba tdm_frame_ink_on(uint32_t rgb);

/* ---- kinds of charts with files of their own ----------------------------------------------------------------------
 */

const char *tdm_stack_lacks(const struct tdm_scene *scene);
void tdm_stack_draw(struct tdm_drawing *drawing, const struct tdm_scene *scene);
void tdm_stack_print(const struct tdm_scene *scene, const struct tdm_term *term, struct tdm_buf *out);
const char *tdm_time_lacks(const struct tdm_scene *scene);
void tdm_time_draw(struct tdm_drawing *drawing, const struct tdm_scene *scene);
void tdm_time_print(const struct tdm_scene *scene, const struct tdm_term *term, struct tdm_buf *out);

/* ---- the terminal ------------------------------------------------------------------------------------------------ */

/* Prints cells of a series: in the series colour or, without colour, as the character of the series. */
void tdm_print_cells(struct tdm_buf *out, const struct tdm_term *term, size_t series, uint32_t rgb, size_t count);
/* The cell and name of every series, wrapped to the width. */
void tdm_print_legend(struct tdm_buf *out, const struct tdm_term *term, const struct tdm_scene *scene);
/* `text` in one style, wrapped to the width; `text` may be NULL. */
void tdm_print_text(struct tdm_buf *out, const struct tdm_term *term, const char *text, const char *style);
/* Title and subtitle. */
void tdm_print_heading(struct tdm_buf *out, const struct tdm_term *term, const struct tdm_scene *scene);
/* A name in exactly `columns` columns: cut, or padded with blanks. */
void tdm_print_name(struct tdm_buf *out, const struct tdm_term *term, const char *name, size_t columns);
/* The number of columns that a name needs. */
size_t tdm_print_columns(const char *name);

#endif
