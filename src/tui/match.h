/* Choosing devices and lines of a list by what the user typed. */
#ifndef TDM_TUI_MATCH_H
#define TDM_TUI_MATCH_H

#include <stdbool.h>

#include "state/picture.h"

/* As tdm_pick_is(); NULL and "" want all. */
bool tdm_match_device(const struct tdm_picture *picture, size_t device, const char *wanted);

/* Whether `part` is in `text`; small and capital ASCII letters are the same. */
bool tdm_match_text(const char *text, const char *part);

/* In the command, name, user, phase or pid of a process. An empty part is in all. */
bool tdm_match_process(const struct tdm_picture_process *process, const char *part);

#endif
