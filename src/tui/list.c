#include "tui/list.h"

#include "tui/terminal.h"

void tdm_list_fit(struct tdm_list *list, size_t count, int page)
{
	list->count = count;
	list->page = page > 0 ? (size_t)page : 0;
	if (list->chosen >= count)
		list->chosen = count != 0 ? count - 1 : 0;
	if (list->page == 0)
		return;
	if (list->chosen < list->top)
		list->top = list->chosen;
	if (list->chosen >= list->top + list->page)
		list->top = list->chosen - list->page + 1;
	size_t last_top = count > list->page ? count - list->page : 0;
	if (list->top > last_top)
		list->top = last_top;
}

static void move(size_t *at, size_t count, bool up, size_t by)
{
	size_t last = count != 0 ? count - 1 : 0;
	if (up)
		*at = *at > by ? *at - by : 0;
	else
		*at = last - (*at < last ? *at : last) > by ? *at + by : last;
}

static bool step(size_t *at, size_t count, size_t page, int key)
{
	size_t leap = page > 1 ? page - 1 : 1;
	switch (key) {
	case TDM_KEY_UP:
	case 'k':
		move(at, count, true, 1);
		return true;
	case TDM_KEY_DOWN:
	case 'j':
		move(at, count, false, 1);
		return true;
	case TDM_KEY_PAGE_UP:
		move(at, count, true, leap);
		return true;
	case TDM_KEY_PAGE_DOWN:
		move(at, count, false, leap);
		return true;
	case TDM_KEY_HOME:
		*at = 0;
		return true;
	case TDM_KEY_END:
		*at = count != 0 ? count - 1 : 0;
		return true;
	default:
		return false;
	}
}

bool tdm_list_key(struct tdm_list *list, int key)
{
	return step(&list->chosen, list->count, list->page, key);
}

bool tdm_list_scroll(struct tdm_list *list, int key)
{
	size_t tops = list->count > list->page ? list->count - list->page + 1 : 1;
	return step(&list->top, tops, list->page, key);
}
