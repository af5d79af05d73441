/* What all devices together have. */
#ifndef TDM_TUI_TOTALS_H
#define TDM_TUI_TOTALS_H

#include "tui/app.h"

/* A line: used and total of each kind over the devices shown, as far as it fits, and how many processes use them. A
 * virtual device is no card, and does not count. */
void tdm_totals_draw(struct tdm_app *app, struct tdm_area area);

/* Whether there is something to add up: more than one device that counts. */
bool tdm_totals_are_useful(const struct tdm_app *app);

#endif
