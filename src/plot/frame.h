/* What all charts share: background, title, legend, axes, the limit, and the colours of all that is not data. */
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
	struct tdm_drawing *drawing; /* borrowed, as the scene is */
	const struct tdm_scene *scene;
	double size;         /* of ordinary text; everything else follows from it */
	struct tdm_box area; /* what is left for the chart */
	double name_y;       /* the base line of the name of the value axis */
};

/* Paints background, title and legend. With `swatches`, each series has its place in the legend; the limit always. */
struct tdm_plot_frame tdm_plot_frame_begin(struct tdm_drawing *drawing, const struct tdm_scene *scene, bool swatches);

/* A font of `scale` times the ordinary size. */
struct tdm_font tdm_plot_frame_font(
	const struct tdm_plot_frame *frame, double scale, bool bold, tdm_rgba colour, enum tdm_align);

/* Takes room for an axis of values from the left of the area (its labels) and for its name from the top. */
void tdm_plot_frame_reserve_y(struct tdm_plot_frame *frame, const struct tdm_axis *axis);
/* Grid lines and labels, in the area as it is now. */
void tdm_plot_frame_draw_y(const struct tdm_plot_frame *frame, const struct tdm_axis *axis);
/* An axis below the area, at its ticks; `first` is that of the first tick. */
void tdm_plot_frame_draw_x(
	const struct tdm_plot_frame *frame, const struct tdm_axis *axis, double first, const char *name);

/* Whether the scene has limits, and whether it has one for everything. */
bool tdm_plot_frame_has_limits(const struct tdm_scene *scene);
bool tdm_plot_frame_has_limit(const struct tdm_scene *scene);
/* Takes room at the right for the limit's label; draws the line. Nothing when there is not one for everything. */
void tdm_plot_frame_reserve_limit(struct tdm_plot_frame *frame);
void tdm_plot_frame_draw_limit(const struct tdm_plot_frame *frame, const struct tdm_axis *axis);
/* A line at this height, from one x to the other. */
void tdm_plot_frame_limit_line(const struct tdm_plot_frame *frame, double y, double from, double to);
/* Where its label is; empty when there is none. */
struct tdm_box tdm_plot_frame_limit_label(const struct tdm_plot_frame *frame, const struct tdm_axis *axis);

/* The place of a value on the axis. */
double tdm_plot_frame_y(const struct tdm_plot_frame *frame, const struct tdm_axis *axis, double value);
double tdm_plot_frame_x(const struct tdm_plot_frame *frame, double from, double to, double value);

/* Text with a bright ground behind it, so that lines do not run through it. */
void tdm_plot_frame_halo(
	const struct tdm_plot_frame *frame, double x, double y, const char *text, const struct tdm_font *font);

/* Dark or bright, whatever can be read on this colour. */
tdm_rgba tdm_plot_frame_ink_on(uint32_t rgb);

#endif
