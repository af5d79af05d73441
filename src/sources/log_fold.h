/*
 * Sentences that go over the end of a line, because a terminal's copy or a mail folded it: the lines are joined and
 * looked at as one text, once with a blank between them (folded at a blank) and once without (folded anywhere).
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
	struct tdm_buf line;     /* one without colours */
	struct tdm_buf texts[2]; /* the joined ones */
	/* Of what was found: */
	bool logged;     /* it begins in the line itself, and that is one of the logger */
	bool from_above; /* it begins above the line */
	int32_t rank;    /* of the line where it begins; the next ones may have none */
};

void tdm_log_fold_done(struct tdm_log_fold *fold);

/*
 * Whether a sentence begins in `message`, or up to two lines before it, and goes on after it, with more in it than in
 * `have`, which was found in the message alone (NULL: nothing was). *failure is set then; its texts live until the next
 * call. The message is that of `line`.
 */
bool tdm_log_fold_find(struct tdm_log_fold *fold, const struct tdm_log_prefix *prefix, const struct tdm_log_line *line,
	const struct tdm_failure *have, struct tdm_failure *failure);

#endif
