/* A list that is longer than its window: which line is chosen, and which is the first that is seen. */
#ifndef TDM_TUI_LIST_H
#define TDM_TUI_LIST_H

#include <stdbool.h>
#include <stddef.h>

/* All zero to begin. */
struct tdm_list {
	size_t count, chosen, top;
	size_t page; /* lines of the window, as it was drawn last */
};

/* Keeps `chosen` and `top` inside, and `chosen` in the window. */
void tdm_list_fit(struct tdm_list *list, size_t count, int page);

/* Arrows, j and k, pages, Home and End. False: the key is none of these. */
bool tdm_list_key(struct tdm_list *list, int key);

/* The same with a window that moves and no line that is chosen. */
bool tdm_list_scroll(struct tdm_list *list, int key);

#endif
