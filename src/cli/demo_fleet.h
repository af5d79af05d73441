/*
 * Runs the workloads of the demo as processes of their own, with a view in front. Each process is this program again,
 * told to run one workload, so other commands see ordinary programs. Their output is printed when all have ended. They
 * end with their parent, however it ends.
 */
#ifndef TDM_CLI_DEMO_FLEET_H
#define TDM_CLI_DEMO_FLEET_H

#include "cli/demo.h"

/* In the order of the words of --view; 0: not given. */
enum tdm_demo_view {
	TDM_DEMO_AUTO = 1, /* TOP on a terminal, else PLAIN */
	TDM_DEMO_TOP,      /* the full screen of `tidemark top` */
	TDM_DEMO_PLAIN,    /* its frames as text */
	TDM_DEMO_NONE,
};

struct tdm_demo_fleet_options {
	const struct tdm_demo_workload *only; /* NULL: all */
	enum tdm_demo_view view;
	bool server;                      /* starts the daemon, and the workloads report to it */
	struct tdm_demo_options workload; /* for all; first_device is that of the first workload */
};

/* Runs until the time is up, the user leaves the view or a signal comes. Returns the exit code. */
int tdm_demo_fleet_run(const struct tdm_cmd *cmd, const struct tdm_demo_fleet_options *options);

#endif
