/*
 * Logs of tt-train: the summaries of memory that it prints when it runs with --track_memory, however many there are,
 * and the lines about parameters and device memory around them. Colours and prefixes of lines are passed over. A figure
 * that cannot be read is refused with its position; the phase it belongs to is left out, and the rest goes on.
 */
#ifndef TDM_SOURCES_TRAIN_LOG_H
#define TDM_SOURCES_TRAIN_LOG_H

#include "base/diag.h"
#include "event/phase_run.h"

enum { TDM_TRAIN_LOG_LINE_MAX = 65536, TDM_TRAIN_LOG_RUNS_MAX = 10000, TDM_TRAIN_LOG_REFUSED_MAX = 16 };

struct tdm_train_log {
	struct tdm_phase_runs runs;
	/* What was refused: the first ones with their positions, and how many in all. */
	struct tdm_diag refused[TDM_TRAIN_LOG_REFUSED_MAX];
	uint64_t refused_count;
	uint64_t lines;
	bool is_utf16; /* it is text that is not understood */
};

/* `file` is for the positions; borrowed as long as the result. 0, -errno or -ENOMEM; the caller calls done anyway. */
int tdm_train_log_read(int fd, const char *file, struct tdm_train_log *log);
int tdm_train_log_memory(const char *data, size_t len, const char *file, struct tdm_train_log *log);
void tdm_train_log_done(struct tdm_train_log *log);

#endif
