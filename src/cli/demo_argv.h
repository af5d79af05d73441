/* The command line that runs one workload of the demo in a process. */
#ifndef TDM_CLI_DEMO_ARGV_H
#define TDM_CLI_DEMO_ARGV_H

#include "cli/demo.h"

#define TDM_DEMO_CARD "n150" /* the default */

enum { TDM_DEMO_ARGV_MAX = 20 };

/* Points into itself: not to be copied. */
struct tdm_demo_argv {
	const char *argv[TDM_DEMO_ARGV_MAX]; /* ends with NULL */
	char number[4][24];
};

/* Only what differs from the defaults is said. */
void tdm_demo_argv_init(
	struct tdm_demo_argv *argv, const struct tdm_demo_workload *workload, const struct tdm_demo_options *options);

/* Runs this program again with these arguments, with call stacks on. Returns only when that fails: -errno. */
int tdm_demo_argv_exec(const struct tdm_demo_argv *argv);

/* The same for any arguments, with the environment as it is. */
int tdm_demo_exec(char *const *words);

/* Whether the environment says something about call stacks. */
bool tdm_demo_has_stacks(void);

#endif
