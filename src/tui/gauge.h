/* Shares drawn: a bar, and a graph of how a share went over time. */
#ifndef TDM_TUI_GAUGE_H
#define TDM_TUI_GAUGE_H

#include "tui/canvas.h"
#include "tui/history.h"

/* `width` columns, filled by used / total in the colour of its level; dashes ('?' in ASCII) when it is not
 * known. */
void tdm_gauge_bar(struct tdm_pen *pen, int width, uint64_t used, uint64_t total);

/* " 62.4%", always six columns; "     ?" when it is not known. */
void tdm_gauge_percent(struct tdm_pen *pen, uint64_t used, uint64_t total);

/* The last values, the newest on the right: two of them in a column, four steps in a row. What was not known is left
 * out. In ASCII one value in a column. */
void tdm_gauge_graph(struct tdm_canvas *canvas, struct tdm_area area, const struct tdm_history *history);

#endif
