/* The options of `tidemarkd`, from which its help, its man page and its completion are made, and its main function. */
#ifndef TDM_APPS_DAEMON_CMD_H
#define TDM_APPS_DAEMON_CMD_H

#include "cli/cmd.h"

extern const struct tdm_cmd tdm_cmd_daemon;

#endif
