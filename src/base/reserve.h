/* Lists that grow. */
#ifndef TDM_BASE_RESERVE_H
#define TDM_BASE_RESERVE_H

#include <stddef.h>

/*
 * Makes room for `count` items of `item` bytes in a list with room for *cap; it at least doubles when it grows, and may
 * move. `list` is the address of the pointer to it. 0, or -ENOMEM with everything as it was.
 */
int tdm_reserve(void *list, size_t *cap, size_t count, size_t item);

#endif
