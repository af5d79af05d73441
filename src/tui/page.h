/* A page that may be longer than the screen: takes line after line and draws those in view. */
#ifndef TDM_TUI_PAGE_H
#define TDM_TUI_PAGE_H

#include "tui/canvas.h"
#include "tui/list.h"

struct tdm_page {
	struct tdm_canvas *canvas;
	struct tdm_area area;
	long line, top; /* the next line; the first one in view */
};

struct tdm_page tdm_page_begin(struct tdm_canvas *canvas, struct tdm_area area, const struct tdm_list *list);
struct tdm_pen tdm_page_line(struct tdm_page *page);             /* a pen without room if out of view */
struct tdm_area tdm_page_block(struct tdm_page *page, int rows); /* no rows unless all of it is in view */
void tdm_page_end(struct tdm_page *page, struct tdm_list *list); /* tells the list how long the page is */

#endif
