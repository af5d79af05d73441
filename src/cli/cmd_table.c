#include "cli/cmd_list.h"

const struct tdm_cmd *const tdm_cmds[] = { &tdm_cmd_device, &tdm_cmd_simulate, NULL };
