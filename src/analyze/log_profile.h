/*
 * The profile of one or several merged logs: tables of what the lines about memory add up to. Records are added one by
 * one, in order of time; the tables can be read at any moment. Memory is bounded: rows that do not fit a full table are
 * counted.
 */
#ifndef TDM_ANALYZE_LOG_PROFILE_H
#define TDM_ANALYZE_LOG_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/finding.h"
#include "analyze/log_timeline.h"
#include "base/map.h"
#include "event/log_record.h"

enum { TDM_LOG_NAME_CAP = 96 };

/* One of the files. */
struct tdm_log_file {
	const char *name; /* borrowed */
	/* Known at its end. */
	uint64_t lines, bytes, cut_lines, refused_lines;
	uint64_t sample_lines, logger_lines, debug_lines; /* among its first lines */
	bool is_binary;                                   /* the same */
	bool is_cut;                                      /* it could not be read to its end */
	/* Counted here. */
	uint64_t records, by_dialect[TDM_LOG_DIALECT_COUNT];
	uint64_t first_ns, last_ns; /* 0: no line about memory has a time */
	uint64_t failures, warnings;
	uint64_t amount_lines;                           /* that give the size of a buffer */
	uint64_t a_tiles, b_tiles, shard_tiles, devices; /* TDM_LOG_UNKNOWN */
	uint64_t cores;                                  /* of the grid that it names; TDM_LOG_UNKNOWN */
	uint64_t cb_bytes, cb_limit;                     /* of all circular buffers of a core, if it sums them up */
	uint64_t passed, verified;                       /* values; TDM_LOG_UNKNOWN */
	struct tdm_log_geometry geometry;
	bool has_geometry;
};

/* A circular buffer of a program; `label` is for a line that names several as one ("CB2+CB16"). */
struct tdm_log_cb {
	uint32_t file, cb;
	char label[24];
	uint64_t allocs;
	uint64_t tiles, bytes, cores; /* of the last allocation; TDM_LOG_UNKNOWN */
	bool is_given;                /* the log does not say how many tiles: the user did */
	bool has_range;
	struct tdm_core_range range;
	uint64_t reserves, pushes, waits, pops; /* lines */
	uint64_t pushed_tiles, popped_tiles;
	uint64_t peak_fill; /* tiles on one core, pushed and not popped */
	uint64_t stalls;    /* reserves and waits that had to wait, of those that say how long */
	uint64_t timed;     /* reserves and waits that say how long they waited */
	uint64_t stall_ns, longest_stall_ns;
};

/* A kernel, an operation, or a part of a program. */
struct tdm_log_work {
	uint32_t file;
	char name[TDM_LOG_NAME_CAP];
	uint64_t starts; /* for a part of a program: lines about it */
	uint64_t ends, timed, total_ns, longest_ns;
	uint64_t bytes;      /* of its binary, the largest; TDM_LOG_UNKNOWN */
	uint64_t started_ns; /* of the last start, while it runs; 0 */
};

/* Sums of the lines about allocations and frees of a process, a device and a kind. */
struct tdm_log_amount {
	uint32_t file, device;
	uint8_t dialect, kind;
	int32_t pid;
	uint64_t allocs, frees, bytes, peak_bytes, peak_line, alloc_bytes;
	uint64_t unmatched; /* frees of more than was allocated, or of buffers that the log does not show */
	uint32_t next;      /* the previous row of the same process, or TDM_MAP_NONE */
};

/* Memory states that tt-mlir printed for a kind. */
struct tdm_log_state {
	uint32_t file;
	uint8_t kind;
	int32_t rank;
	uint64_t count;
	struct tdm_log_view peak; /* when the most was allocated */
	uint64_t peak_line, least_largest_free;
	char peak_op[TDM_LOG_NAME_CAP];
};

/* The buffers that remained, as an allocation server said last. */
struct tdm_log_remaining {
	uint32_t file, device;
	uint8_t kind;
	uint64_t buffers, bytes;
};

/* The stack of a processor when it was fullest, as the Watcher says. */
struct tdm_log_stack {
	uint32_t file;
	char processor[24], kernel[TDM_LOG_NAME_CAP];
	uint64_t used, size, free; /* TDM_LOG_UNKNOWN */
	uint64_t line;
};

/* The operation that began last, or another moment. */
struct tdm_log_moment {
	char name[TDM_LOG_NAME_CAP];
};

/* Identifies a failure, to recognise repeats. */
struct tdm_log_failure {
	struct tdm_failure failure; /* without its texts */
	uint32_t file;
	int32_t rank;
};

struct tdm_log_table {
	void *rows;
	size_t count, cap;
	uint64_t dropped; /* that did not fit */
};

struct tdm_log_profile {
	struct tdm_log_file *files;
	size_t file_count, file_cap;
	struct tdm_log_table cbs, kernels, ops, amounts, states, remaining, programs, failures, stacks;
	struct tdm_log_table moments; /* the operation or moment that memory states belong to, by file and rank */
	struct tdm_findings found;    /* the failures; evidence: file, line, time, rank, number of lines about it */
	uint64_t failure_count, warning_count; /* also those that the table could not take */
	uint64_t by_type[TDM_FAILURE_COUNT];
	struct tdm_log_timeline timeline;
	struct tdm_map keys;      /* from what identifies a row to its index */
	struct tdm_map fills;     /* tiles in a circular buffer of a core */
	struct tdm_map live;      /* buffers of an allocation server: row of their amount */
	struct tdm_map processes; /* the last row of its amounts, by file, writer and number */
	uint64_t live_dram, live_l1;
	uint64_t untracked; /* fills and buffers that could not be followed */
};

/* 0 or -ENOMEM. */
int tdm_log_profile_init(struct tdm_log_profile *profile);
void tdm_log_profile_done(struct tdm_log_profile *profile);

/* Adds the counts that are known once a file has been read completely. */
void tdm_log_profile_end_file(struct tdm_log_profile *profile, size_t file, const struct tdm_log_counts *counts);

/* The file's number, or -ENOMEM. */
int tdm_log_profile_add_file(struct tdm_log_profile *profile, const char *name);

/* Says how many tiles a circular buffer of a program's log has, if the log does not. 0 or -ENOMEM. */
int tdm_log_profile_give(struct tdm_log_profile *profile, uint32_t file, uint32_t cb, uint64_t tiles);

/* `record->file` says which. 0 or -ENOMEM. */
int tdm_log_profile_add(struct tdm_log_profile *profile, const struct tdm_log_record *record);

#endif
