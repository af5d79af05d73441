/* What is left to say of a process that was killed or crashed: its ledger is still there, its writer is not. */
#ifndef TDM_TUI_POST_MORTEM_H
#define TDM_TUI_POST_MORTEM_H

#include "tui/app.h"

/* Asks for the last events of an ended process. */
void tdm_post_mortem_wish(const struct tdm_app *app, const struct tdm_picture_process *process, struct tdm_wish *wish);

/* Draws how it ended, when, what it held, and its last events. Returns how many rows that took. */
int tdm_post_mortem_draw(struct tdm_app *app, struct tdm_area area, const struct tdm_picture_process *process);

#endif
