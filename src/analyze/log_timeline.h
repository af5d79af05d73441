/* A log over time: a fixed number of columns, each of which covers more as the log gets longer. */
#ifndef TDM_ANALYZE_LOG_TIMELINE_H
#define TDM_ANALYZE_LOG_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/log_record.h"

enum { TDM_LOG_SLOTS = 60 };

enum tdm_log_row { TDM_LOG_ROW_MEMORY, TDM_LOG_ROW_CB, TDM_LOG_ROW_KERNEL, TDM_LOG_ROW_FAILURE, TDM_LOG_ROW_COUNT };

struct tdm_log_timeline {
	bool by_line; /* no times: columns are lines */
	bool used;
	uint64_t from, width;                                        /* nanoseconds or lines */
	uint64_t rows[TDM_LOG_ROW_COUNT][TDM_LOG_SLOTS];             /* records */
	uint64_t dram_bytes[TDM_LOG_SLOTS], l1_bytes[TDM_LOG_SLOTS]; /* the most allocated at a moment */
	size_t slots;                                                /* that are used */
	size_t last;                                                 /* the last of them, and what was allocated then */
	uint64_t last_dram, last_l1;
};

/* Zero to begin. `dram` and `l1`: bytes that are allocated after this record. */
void tdm_log_timeline_add(
	struct tdm_log_timeline *timeline, const struct tdm_log_record *record, uint64_t dram, uint64_t l1);

#endif
