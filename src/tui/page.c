#include "tui/page.h"

struct tdm_page tdm_page_begin(struct tdm_canvas *canvas, struct tdm_area area, const struct tdm_list *list)
{
	return (struct tdm_page){ .canvas = canvas, .area = area, .top = (long)list->top };
}

struct tdm_pen tdm_page_line(struct tdm_page *page)
{
	long at = page->line++ - page->top;
	return tdm_pen_at(page->canvas, page->area, at >= 0 && at < page->area.rows ? (int)at : -1);
}

struct tdm_area tdm_page_block(struct tdm_page *page, int rows)
{
	long at = page->line - page->top;
	page->line += rows;
	if (at < 0 || at + rows > page->area.rows)
		return (struct tdm_area){ page->area.row, page->area.col, 0, 0 };
	return (struct tdm_area){ page->area.row + (int)at, page->area.col, rows, page->area.cols };
}

void tdm_page_end(struct tdm_page *page, struct tdm_list *list)
{
	size_t lines = (size_t)page->line, page_rows = page->area.rows > 0 ? (size_t)page->area.rows : 0;
	list->count = lines;
	list->page = page_rows;
	size_t last_top = lines > page_rows ? lines - page_rows : 0;
	if (list->top > last_top)
		list->top = last_top;
}
