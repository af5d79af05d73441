/* A page that may be longer than the screen: lines are put one after the other, those that are scrolled away nowhere.
 */
#ifndef TDM_TUI_PAGE_H
#define TDM_TUI_PAGE_H

#include "tui/canvas.h"
#include "tui/list.h"

struct tdm_page {
	struct tdm_canvas *canvas;
	struct tdm_area area;
	long line, top; /* the next line; the first that is seen */
};

struct tdm_page tdm_page_begin(struct tdm_canvas *canvas, struct tdm_area area, const struct tdm_list *list);
struct tdm_pen tdm_page_line(struct tdm_page *page);             /* a pen without room when it is not seen */
struct tdm_area tdm_page_block(struct tdm_page *page, int rows); /* no rows unless all of it is seen */
void tdm_page_end(struct tdm_page *page, struct tdm_list *list); /* the list knows how long it is */

#endif
