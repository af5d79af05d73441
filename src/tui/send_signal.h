/* Sends signals to processes, and makes sure that no other process gets them. */
#ifndef TDM_TUI_SEND_SIGNAL_H
#define TDM_TUI_SEND_SIGNAL_H

#include "tui/app.h"

/* Sets app->targets to the tagged processes, or else to the chosen one. False with a message if there is no target. */
bool tdm_signal_aim(struct tdm_app *app);

/*
 * 0, or a negative code: -ESRCH if the process has ended or another one has its pid by now; -EINVAL for pid 1 and
 * below. A pidfd is held during the check, so no other process can get the signal.
 */
int tdm_signal_send(const struct tdm_target *target, int signal_number);

/* When the process started, in clock ticks since boot; 0: unknown. */
uint64_t tdm_signal_start_time(int32_t pid);

#endif
