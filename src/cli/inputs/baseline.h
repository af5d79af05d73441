/* --save writes a command's JSON to a file; --baseline compares the command's budgets with those in a saved file. */
#ifndef TDM_CLI_BASELINE_H
#define TDM_CLI_BASELINE_H

#include "analyze/budget/budget.h"
#include "cli/options/options.h"
#include "model/result/result.h"

struct tdm_baseline {
	const char *path, *save; /* NULL if the option was not given */
	struct tdm_budgets before;
	size_t worse;
	bool is_same; /* no budget differs */
};

#define TDM_OPT_BASELINE(type, member)                                                                          \
	"baseline", 0, "FILE", "compare L1 budgets with those written by --save; exit with 1 if any has grown", \
		TDM_TAKE_TEXT(type, member.path)
#define TDM_OPT_SAVE(type, member) \
	"save", 0, "FILE", "write the JSON of this run to FILE, for --baseline", TDM_TAKE_TEXT(type, member.save)

/* Compares with the baseline, if given, and adds findings. Sorts the budgets by name. 0, or an exit code after a
 * message. */
int tdm_baseline_compare(const struct tdm_cmd *cmd, struct tdm_baseline *baseline, struct tdm_budgets *budgets,
	struct tdm_findings *found);

/* Writes the JSON of the result to a file, if requested. 0, or an exit code after a message. */
int tdm_baseline_save(const struct tdm_cmd *cmd, const struct tdm_baseline *baseline, const struct tdm_result *result);

/* Releases everything and returns the exit code: TDM_EXIT_FINDING if a budget grew and `code` is 0. */
int tdm_baseline_end(struct tdm_baseline *baseline, int code);

#endif
