/* The command line that runs one workload of the demo in a process of its own. */
#ifndef TDM_CLI_DEMO_ARGV_H
#define TDM_CLI_DEMO_ARGV_H

#include "cli/demo.h"

#define TDM_DEMO_CARD "n150" /* the default */

enum { TDM_DEMO_ARGV_MAX = 24 };

/* Points into itself: do not copy. */
struct tdm_demo_argv {
	const char *argv[TDM_DEMO_ARGV_MAX]; /* ends with NULL */
	char number[5][24];
};

/* Contains only what differs from the defaults. */
void tdm_demo_argv_init(
	struct tdm_demo_argv *argv, const struct tdm_demo_workload *workload, const struct tdm_demo_options *options);

/* Executes this program again with these arguments and call stacks on. Returns only on failure: -errno. */
int tdm_demo_argv_exec(const struct tdm_demo_argv *argv);

/* The same for any arguments, with the environment unchanged. */
int tdm_demo_exec(char *const *words);

/* Whether the environment sets call stacks on or off. */
bool tdm_demo_has_stacks(void);

#endif
