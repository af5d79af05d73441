/* A bar of text that shows a share: "[█████████░░░]" without its brackets. */
#ifndef TDM_BASE_BAR_H
#define TDM_BASE_BAR_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/*
 * Appends `columns` cells, of which `permille` thousandths are full, rounded to the nearest cell; more than 1000 fills
 * all. A share above 0 shows at least one cell, one below 1000 at least one empty cell. Below 0 it is unknown: '?' in
 * all cells. Full and empty cells are '█' and '░', or '#' and '.' unless `utf8`.
 */
void tdm_bar_put(struct tdm_buf *out, int permille, size_t columns, bool utf8);

/* How many of the cells are full. */
size_t tdm_bar_full(int permille, size_t columns);

#endif
