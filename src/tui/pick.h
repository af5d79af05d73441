/* Choosing devices and lines of a list by what the user typed. */
#ifndef TDM_TUI_PICK_H
#define TDM_TUI_PICK_H

#include <stdbool.h>

#include "registry/overview.h"

/* As tdm_overview_device_is(); NULL and "" want all. */
bool tdm_pick_device(const struct tdm_overview *overview, size_t device, const char *wanted);

/* Whether `part` is in `text`; small and capital ASCII letters are the same. */
bool tdm_pick_text(const char *text, const char *part);

/* In the command, name, user, phase or pid of a process. An empty part is in all. */
bool tdm_pick_process(const struct tdm_overview_process *process, const char *part);

/* Tells devices apart from one picture to the next. */
uint64_t tdm_pick_key(const struct tdm_overview_device *device);

#endif
