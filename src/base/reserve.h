/* Growing lists. */
#ifndef TDM_BASE_RESERVE_H
#define TDM_BASE_RESERVE_H

#include <stddef.h>

/* Makes room for `count` items of `item` bytes in a list that has room for *cap items. A list that grows at least
 * doubles, and may move. `list` is the address of the pointer to the list. 0, or -ENOMEM with nothing changed. */
int tdm_reserve(void *list, size_t *cap, size_t count, size_t item);

#endif
