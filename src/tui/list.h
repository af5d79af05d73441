/* A scrolled list: which line is chosen, and which is the first one in the window. */
#ifndef TDM_TUI_LIST_H
#define TDM_TUI_LIST_H

#include <stdbool.h>
#include <stddef.h>

/* All zero to begin. */
struct tdm_list {
	size_t count, chosen, top;
	size_t page; /* lines of the window when it was last drawn */
};

/* Keeps `chosen` and `top` in the list, and `chosen` in the window. */
void tdm_list_fit(struct tdm_list *list, size_t count, int page);

/* Handles arrows, j and k, pages, Home and End. False: another key. */
bool tdm_list_key(struct tdm_list *list, int key);

/* The same, but moves the window and not a chosen line. */
bool tdm_list_scroll(struct tdm_list *list, int key);

#endif
