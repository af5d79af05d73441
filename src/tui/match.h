/* Matches devices and processes against what the user typed. */
#ifndef TDM_TUI_MATCH_H
#define TDM_TUI_MATCH_H

#include <stdbool.h>

#include "state/picture.h"

/* As tdm_pick_is(); NULL and "" match all. */
bool tdm_match_device(const struct tdm_picture *picture, size_t device, const char *wanted);

/* Whether `part` is in `text`, ignoring the case of ASCII letters. */
bool tdm_match_text(const char *text, const char *part);

/* Looks in the command, name, user, phase and pid of a process. An empty part matches all. */
bool tdm_match_process(const struct tdm_picture_process *process, const char *part);

#endif
