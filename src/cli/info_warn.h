/* Warnings of the readers behind `tidemark info`: the first ones are named, the rest is counted. */
#ifndef TDM_CLI_INFO_WARN_H
#define TDM_CLI_INFO_WARN_H

#include "base/diag.h"

struct tdm_info_warnings {
	const char *path;
	uint64_t count;
};

/* For the readers: `context` is a struct tdm_info_warnings. */
void tdm_info_warn(void *context, const struct tdm_diag *diag);

/* Says how many more there were, and what ended the reading, if anything did (err is not 0). Whether there was any. */
int tdm_info_warn_end(const struct tdm_info_warnings *warnings, int err, const struct tdm_diag *diag);

#endif
