/* A text bar that shows a share: "[█████████░░░]" without the brackets. */
#ifndef TDM_BASE_BAR_H
#define TDM_BASE_BAR_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/*
 * Appends `columns` cells and fills `permille` thousandths of them, rounded to the nearest cell; 1000 and more fill
 * all. A share above 0 has at least one full cell, a share below 1000 at least one empty cell. A negative share is
 * unknown: every cell is '?'. With `utf8`, full and empty cells are '█' and '░', otherwise '#' and '.'.
 */
void tdm_bar_put(struct tdm_buf *out, int permille, size_t columns, bool utf8);

/* The number of full cells. */
size_t tdm_bar_full(int permille, size_t columns);

#endif
