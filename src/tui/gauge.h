/* Draws shares: as a bar, and as a graph over time. */
#ifndef TDM_TUI_GAUGE_H
#define TDM_TUI_GAUGE_H

#include "tui/canvas.h"
#include "tui/history.h"

/* `width` columns, filled by used / total; dashes ('?' in ASCII) if unknown. */
void tdm_gauge_bar(struct tdm_pen *pen, int width, enum tdm_level level, uint64_t used, uint64_t total);

/* " 62.4%", always six columns; " ?" if unknown. */
void tdm_gauge_percent(struct tdm_pen *pen, enum tdm_level level, uint64_t used, uint64_t total);

/* The latest values, newest on the right: two values per column (in ASCII one), four steps per row. Unknown values are
 * left blank. */
void tdm_gauge_graph(struct tdm_canvas *canvas, struct tdm_area area, const struct tdm_history *history);

#endif
