/* Values of the options that choose buffers, of `dump` and `leaks`. Each returns 0, or TDM_EXIT_USAGE after a message.
 */
#ifndef TDM_CLI_BUFFER_OPTIONS_H
#define TDM_CLI_BUFFER_OPTIONS_H

#include <stdint.h>

#include "analyze/live_buffers.h"
#include "cli/cmd.h"

enum { TDM_PIDS_MAX = 1024 };

/* The processes that were asked for; none: all. */
struct tdm_pids {
	int32_t list[TDM_PIDS_MAX];
	size_t count;
};

int tdm_take_one_pid(const struct tdm_cmd *cmd, const char *value, struct tdm_pids *pids);
int tdm_take_buffer_device(const struct tdm_cmd *cmd, const char *value, struct tdm_buffer_filter *filter);
int tdm_take_buffer_kind(const struct tdm_cmd *cmd, const char *value, struct tdm_buffer_filter *filter);

#endif
