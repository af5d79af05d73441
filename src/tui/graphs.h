/* Graphs of a device over time. */
#ifndef TDM_TUI_GRAPHS_H
#define TDM_TUI_GRAPHS_H

#include "tui/app.h"

enum { TDM_GRAPHS_ROWS_MIN = 4 };

/*
 * Two graphs side by side, each of one quantity: DRAM, and what L1 buffers and circular buffers take of L1 together.
 * Both have a scale of percent, and below it one of time with the name of the quantity.
 */
void tdm_graphs_draw(struct tdm_app *app, struct tdm_area area, const struct tdm_picture_device *device);

#endif
