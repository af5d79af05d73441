/* The plain frames of `tidemark top`, which it prints when its output is not a terminal. */
#ifndef TDM_REPORT_TOP_FRAME_H
#define TDM_REPORT_TOP_FRAME_H

#include "base/buf.h"
#include "base/term.h"
#include "state/pick.h"

struct tdm_top_frame {
	const struct tdm_picture *picture;
	struct tdm_pick pick;
	struct tdm_term term;
	unsigned interval_ms; /* 0: a single frame */
};

void tdm_top_frame(const struct tdm_top_frame *frame, struct tdm_buf *out);

#endif
