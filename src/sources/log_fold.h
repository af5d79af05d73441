/*
 * Finds sentences that continue on the next line because a terminal or a mail folded them. The lines are joined into
 * one text, once with blanks between them (folded at a blank) and once without (folded anywhere).
 */
#ifndef TDM_SOURCES_LOG_FOLD_H
#define TDM_SOURCES_LOG_FOLD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "event/failure.h"
#include "sources/log_prefix.h"
#include "sources/log_scan.h"

/* Zero before the first use. */
struct tdm_log_fold {
	struct tdm_buf line;     /* a line without colours */
	struct tdm_buf texts[2]; /* the joined lines, with and without blanks */
	/* About the sentence that was found: */
	bool logged;     /* it begins in the line itself, which is one of the logger */
	bool from_above; /* it begins above the line */
	int32_t rank;    /* of the line where it begins; later lines may have none */
};

void tdm_log_fold_done(struct tdm_log_fold *fold);

/*
 * Whether a sentence begins in the message of `line`, or up to two lines before it, and continues after it so that it
 * says more than `have`, which was found in the message alone (NULL: nothing was). Then *failure is set; its texts are
 * valid until the next call. `prefix` is that of `line`.
 */
bool tdm_log_fold_find(struct tdm_log_fold *fold, const struct tdm_log_prefix *prefix, const struct tdm_log_line *line,
	const struct tdm_failure *have, struct tdm_failure *failure);

#endif
