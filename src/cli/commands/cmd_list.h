/* Every command, for the table in cmd_table.c. */
#ifndef TDM_CLI_CMD_LIST_H
#define TDM_CLI_CMD_LIST_H

#include "cli/options/cmd.h"

extern const struct tdm_cmd tdm_cmd_demo;
extern const struct tdm_cmd tdm_cmd_device;
extern const struct tdm_cmd tdm_cmd_doctor;
extern const struct tdm_cmd tdm_cmd_dump;
extern const struct tdm_cmd tdm_cmd_env;
extern const struct tdm_cmd tdm_cmd_info;
extern const struct tdm_cmd tdm_cmd_leaks;
extern const struct tdm_cmd tdm_cmd_phases;
extern const struct tdm_cmd tdm_cmd_scan;
extern const struct tdm_cmd tdm_cmd_log;
extern const struct tdm_cmd tdm_cmd_pressure;
extern const struct tdm_cmd tdm_cmd_report;
extern const struct tdm_cmd tdm_cmd_run;
extern const struct tdm_cmd tdm_cmd_simulate;
extern const struct tdm_cmd tdm_cmd_status;
extern const struct tdm_cmd tdm_cmd_top;

#endif
