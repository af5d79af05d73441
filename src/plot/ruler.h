/* The width of a text in the font that charts use. */
#ifndef TDM_PLOT_RULER_H
#define TDM_PLOT_RULER_H

#include "plot/drawing.h"

#define TDM_PLOT_FONT "DejaVu Sans"

struct tdm_ruler;

struct tdm_ruler *tdm_ruler_new(void); /* NULL when out of memory */
void tdm_ruler_free(struct tdm_ruler *ruler);

/* The text is valid UTF-8. Without hinting, so that the width is proportional to the size. */
double tdm_ruler_width(struct tdm_ruler *ruler, const char *text, double size, bool bold);

/* Whether this machine has any font. Without one, cairo draws its own strokes: readable, not pretty. */
bool tdm_ruler_has_fonts(struct tdm_ruler *ruler);

#endif
