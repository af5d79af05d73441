/* --save and --baseline: a command's JSON in a file, and its budgets compared with those of such a file. */
#ifndef TDM_CLI_BASELINE_H
#define TDM_CLI_BASELINE_H

#include "analyze/budget.h"
#include "cli/options.h"

struct tdm_baseline {
	const char *path, *save; /* NULL: the option was not given */
	struct tdm_budgets before;
	size_t worse;
	bool is_same; /* no budget differs */
};

#define TDM_OPT_BASELINE(type, member)                                                                          \
	"baseline", 0, "FILE", "compare L1 budgets with those that --save wrote; exit code 1 if one has grown", \
		TDM_TAKE_TEXT(type, member.path)
#define TDM_OPT_SAVE(type, member) \
	"save", 0, "FILE", "write the JSON of this run to FILE, for --baseline", TDM_TAKE_TEXT(type, member.save)

/* Compares if a baseline was given, and adds what it finds. 0, or an exit code after a message. Sorts the budgets by
 * name. */
int tdm_baseline_compare(const struct tdm_cmd *cmd, struct tdm_baseline *baseline, struct tdm_budgets *budgets,
	struct tdm_findings *found);

/* Writes the file if one was asked for; `put` writes the value of the command's key. 0, or an exit code after a
 * message. */
int tdm_baseline_save(const struct tdm_cmd *cmd, const struct tdm_baseline *baseline,
	void (*put)(const void *report, struct tdm_json *json), const void *report);

/* Releases everything and returns the exit code: TDM_EXIT_FINDING if a budget grew and `code` is 0. */
int tdm_baseline_end(struct tdm_baseline *baseline, int code);

#endif
