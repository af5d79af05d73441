/* Every command, in the order in which the help lists them. */
#include "cli/commands/cmd_list.h"

const struct tdm_cmd *const tdm_cmds[] = {
	&tdm_cmd_top,
	&tdm_cmd_status,
	&tdm_cmd_dump,
	&tdm_cmd_leaks,
	&tdm_cmd_run,
	&tdm_cmd_env,
	&tdm_cmd_info,
	&tdm_cmd_log,
	&tdm_cmd_simulate,
	&tdm_cmd_phases,
	&tdm_cmd_scan,
	&tdm_cmd_pressure,
	&tdm_cmd_report,
	&tdm_cmd_device,
	&tdm_cmd_demo,
	&tdm_cmd_doctor,
	NULL,
};
