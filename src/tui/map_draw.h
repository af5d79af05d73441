/* Draws the memory of a device: address maps, the two ends of L1, and L1 core by core. */
#ifndef TDM_TUI_MAP_DRAW_H
#define TDM_TUI_MAP_DRAW_H

#include "tui/device_view.h"
#include "tui/page.h"

void tdm_map_draw(struct tdm_page *page, struct tdm_device_view *view);

#endif
