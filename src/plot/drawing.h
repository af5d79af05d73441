/*
 * The surface that charts draw on: boxes, lines and text. The origin is the upper left corner, y points down, and one
 * unit is one pixel at a scale of 1. There are two kinds: cairo (PNG, PDF) and our own SVG, in which text stays text.
 * Errors are remembered and reported by finish.
 */
#ifndef TDM_PLOT_DRAWING_H
#define TDM_PLOT_DRAWING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

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
	double width; /* of the stroke */
	double dash;  /* length of a dash, which also sets the gap after it; 0: solid */
	double round; /* radius of a box's corners */
};

enum tdm_align { TDM_ALIGN_START, TDM_ALIGN_MIDDLE, TDM_ALIGN_END };

struct tdm_font {
	double size; /* pixels */
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
	void (*group_end)(struct tdm_drawing *drawing);
	/* Appends the finished picture. 0 or a negative code. Nothing is drawn afterwards. */
	int (*finish)(struct tdm_drawing *drawing, struct tdm_buf *out);
	void (*free)(struct tdm_drawing *drawing);
};

struct tdm_ruler;

/* The common beginning of each kind of drawing. */
struct tdm_drawing {
	const struct tdm_drawing_ops *ops;
	double width, height;
	struct tdm_ruler *ruler; /* owned */
};

/* NULL when out of memory or when cairo refuses the size. */
struct tdm_drawing *tdm_drawing_png(double width, double height, double scale);
struct tdm_drawing *tdm_drawing_pdf(double width, double height, double scale);
struct tdm_drawing *tdm_drawing_svg(double width, double height, double scale);
void tdm_drawing_free(struct tdm_drawing *drawing); /* NULL is allowed */

/* Conveniences that accept any text: invalid UTF-8 and unprintable characters become U+FFFD. */
void tdm_drawing_text(struct tdm_drawing *drawing, double x, double y, const char *text, const struct tdm_font *font);
/* At most `width` wide; a text that does not fit is cut and ends in an ellipsis. */
void tdm_drawing_text_within(
	struct tdm_drawing *drawing, double x, double y, double width, const char *text, const struct tdm_font *font);
double tdm_drawing_text_width(const struct tdm_drawing *drawing, const char *text, const struct tdm_font *font);

/* Breaks a text between words into lines of at most `width`. Returns the number of lines, at most `max`; the last one
 * ends in an ellipsis if text is left. Each line has `cap` bytes. */
size_t tdm_drawing_wrap(const struct tdm_drawing *drawing, const char *text, const struct tdm_font *font, double width,
	char *lines, size_t cap, size_t max);

void tdm_drawing_box(struct tdm_drawing *drawing, struct tdm_box box, const struct tdm_paint *paint);
void tdm_drawing_line(
	struct tdm_drawing *drawing, struct tdm_point from, struct tdm_point to, const struct tdm_paint *paint);
void tdm_drawing_group(struct tdm_drawing *drawing, const char *kind, const char *name);
void tdm_drawing_group_end(struct tdm_drawing *drawing);

#endif
