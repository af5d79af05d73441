/* Values of options that the live views share. Each returns 0, or TDM_EXIT_USAGE after a message. */
#ifndef TDM_CLI_LIVE_OPTIONS_H
#define TDM_CLI_LIVE_OPTIONS_H

#include <stdint.h>

#include "cli/cmd.h"

enum { TDM_REFRESH_MIN_MS = 100, TDM_REFRESH_MAX_MS = 86400000, TDM_REFRESH_DEFAULT_MS = 1000 };

int tdm_take_refresh(const struct tdm_cmd *cmd, const char *value, unsigned *ms);
int tdm_take_turns(const struct tdm_cmd *cmd, const char *option, const char *value, unsigned *turns);
int tdm_take_pid(const struct tdm_cmd *cmd, const char *value, int32_t *pid);
int tdm_take_device(const struct tdm_cmd *cmd, const char *value, const char **device);

#endif
