/* Reads the first line of a trace, which describes the memory. */
#ifndef TDM_ANALYZE_REPLAY_SETUP_H
#define TDM_ANALYZE_REPLAY_SETUP_H

#include "analyze/replay.h"

/* Reads "region …" or "device …" from the event's text. 0, or a negative code with diag set. */
int tdm_replay_setup(const struct tdm_event *event, const struct tdm_replay_options *options,
	struct tdm_replay_setup *setup, struct tdm_diag *diag);

#endif
