/*
 * The parts that all charts share: background, title, legend, axes, the limit, and the colours of everything but data.
 */
#ifndef TDM_PLOT_FRAME_H
#define TDM_PLOT_FRAME_H

#include "plot/axis.h"
#include "plot/drawing.h"
#include "plot/scene.h"

#define TDM_INK       0x1f2933ffu
#define TDM_INK_MUTED 0x5f6b7affu
#define TDM_INK_GRID  0xe3e7ebffu
#define TDM_INK_AXIS  0x9aa5b1ffu
#define TDM_INK_EMPTY 0xf1f3f5ffu
#define TDM_INK_LIMIT 0xff0000ffu
#define TDM_INK_WARN  0xc81e1effu
#define TDM_PAPER     0xffffffffu

struct tdm_plot_frame {
	struct tdm_drawing *drawing; /* borrowed, like the scene */
	const struct tdm_scene *scene;
	double size;         /* of ordinary text; all other sizes follow from it */
	struct tdm_box area; /* the room left for the chart */
	double name_y;       /* baseline of the value axis's name */
};

/* Paints background, title and legend. The legend has the limit and, with `swatches`, each series. */
struct tdm_plot_frame tdm_plot_frame_begin(struct tdm_drawing *drawing, const struct tdm_scene *scene, bool swatches);

/* A font of `scale` times the ordinary size. */
struct tdm_font tdm_plot_frame_font(
	const struct tdm_plot_frame *frame, double scale, bool bold, tdm_rgba colour, enum tdm_align);

/* Takes room for the value axis: for its labels from the left of the area, for its name from the top. */
void tdm_plot_frame_reserve_y(struct tdm_plot_frame *frame, const struct tdm_axis *axis);
/* Draws grid lines and labels in the current area. */
void tdm_plot_frame_draw_y(const struct tdm_plot_frame *frame, const struct tdm_axis *axis);
/* Draws an axis below the area; `first` is the value of the first tick. */
void tdm_plot_frame_draw_x(
	const struct tdm_plot_frame *frame, const struct tdm_axis *axis, double first, const char *name);

/* Whether the scene has any limits, and whether it has a common one. */
bool tdm_plot_frame_has_limits(const struct tdm_scene *scene);
bool tdm_plot_frame_has_limit(const struct tdm_scene *scene);
/* Take room at the right for the common limit's label; draw its line and label. Nothing without a common limit. */
void tdm_plot_frame_reserve_limit(struct tdm_plot_frame *frame);
void tdm_plot_frame_draw_limit(const struct tdm_plot_frame *frame, const struct tdm_axis *axis);
/* Draws a limit line at height `y`. */
void tdm_plot_frame_limit_line(const struct tdm_plot_frame *frame, double y, double from, double to);
/* The box of the common limit's label; empty when there is none. */
struct tdm_box tdm_plot_frame_limit_label(const struct tdm_plot_frame *frame, const struct tdm_axis *axis);

/* The position of a value on an axis. */
double tdm_plot_frame_y(const struct tdm_plot_frame *frame, const struct tdm_axis *axis, double value);
double tdm_plot_frame_x(const struct tdm_plot_frame *frame, double from, double to, double value);

/* Draws text on a bright background, so that lines do not run through it. */
void tdm_plot_frame_halo(
	const struct tdm_plot_frame *frame, double x, double y, const char *text, const struct tdm_font *font);

/* Dark or bright, whichever is readable on this colour. */
tdm_rgba tdm_plot_frame_ink_on(uint32_t rgb);

#endif
