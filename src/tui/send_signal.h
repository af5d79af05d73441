/* Sending signals to processes, and to no others than those that were meant. */
#ifndef TDM_TUI_SEND_SIGNAL_H
#define TDM_TUI_SEND_SIGNAL_H

#include "tui/app.h"

/* The tagged processes, else the chosen one, become app->targets. False with a message when there is none that a signal
 * could go to. */
bool tdm_signal_aim(struct tdm_app *app);

/*
 * 0, or a negative code: -ESRCH when the process has ended, or another one has its number by now; it is held while that
 * is checked, so nobody else can get the signal. -EINVAL for pid 1 and below.
 */
int tdm_signal_send(const struct tdm_target *target, int signal_number);

/* When the process started, in clock ticks since boot; 0: not known. */
uint64_t tdm_signal_start_time(int32_t pid);

#endif
