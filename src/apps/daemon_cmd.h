/* The options of `tidemarkd`, from which its help, man page and completion are generated; and its main function. */
#ifndef TDM_APPS_DAEMON_CMD_H
#define TDM_APPS_DAEMON_CMD_H

#include "cli/options/cmd.h"

extern const struct tdm_cmd tdm_cmd_daemon;

#endif
