/* Shared by all boxes. */
#ifndef TDM_TUI_POPUP_H
#define TDM_TUI_POPUP_H

#include "tui/app.h"

/* Draws a box of that size in the middle, or as large as fits. Returns its inside. */
struct tdm_area tdm_popup_box(struct tdm_app *app, struct tdm_area area, int rows, int cols, const char *title);

/* Draws a scrolled list in a box: calls `line` for each line in view. */
void tdm_popup_lines(struct tdm_app *app, struct tdm_area area, size_t count,
	void (*line)(struct tdm_app *app, struct tdm_area area, size_t index));

/* Esc and q close every box. */
bool tdm_popup_closes(int key);

#endif
