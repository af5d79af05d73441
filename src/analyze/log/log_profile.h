/*
 * The profile of one or several merged logs: tables that add up the lines about memory. Records are added one by one,
 * in time order; the tables can be read at any time. Memory is bounded: rows that do not fit a full table are counted.
 */
#ifndef TDM_ANALYZE_LOG_PROFILE_H
#define TDM_ANALYZE_LOG_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/result/finding.h"
#include "analyze/pressure/pressure.h"
#include "base/map.h"
#include "model/event/log_record.h"

enum { TDM_LOG_NAME_CAP = 96 };

/* A file of the profile. */
struct tdm_log_file {
	const char *name;             /* borrowed */
	struct tdm_log_counts counts; /* set at the end of the file */
	/* Counted while reading: */
	uint64_t records, by_dialect[TDM_LOG_DIALECT_COUNT];
	uint64_t first_ns, last_ns; /* 0 if no line about memory has a time */
	uint64_t failures, warnings;
	uint64_t amount_lines; /* number of lines that contain a buffer size */
	bool has_geometry;
	/* All further members may be TDM_LOG_UNKNOWN. */
	uint64_t a_tiles, b_tiles, shard_tiles, devices;
	uint64_t cores;              /* cores in the grid named in the log */
	uint64_t cb_bytes, cb_limit; /* bytes of all circular buffers of a core, if the log contains the sum */
	uint64_t passed, verified;   /* number of values */
	struct tdm_log_geometry geometry;
};

/* A circular buffer of a program; `label` is used for lines that combine several ("CB2+CB16"). */
struct tdm_log_cb {
	uint32_t file, cb;
	char label[24];
	uint64_t allocs;
	uint64_t tiles, bytes, cores; /* values of the last allocation; may be TDM_LOG_UNKNOWN */
	bool is_given;                /* the user gave the number of tiles, because the log lacks it */
	bool has_range;
	struct tdm_core_range range;
	uint64_t reserves, pushes, waits, pops; /* numbers of log lines */
	uint64_t pushed_tiles, popped_tiles;
	uint64_t peak_fill; /* highest number of tiles on one core pushed but not yet popped */
	uint64_t stalls;    /* number of timed reserves and waits that had to wait */
	uint64_t timed;     /* number of reserves and waits whose lines contain the waiting time */
	uint64_t stall_ns, longest_stall_ns;
};

/* A kernel, an operation, or a part of a program. */
struct tdm_log_work {
	uint32_t file;
	char name[TDM_LOG_NAME_CAP];
	uint64_t starts; /* for a part of a program: number of lines */
	uint64_t ends, timed, total_ns, longest_ns;
	uint64_t bytes;      /* largest size of its binary, or TDM_LOG_UNKNOWN */
	uint64_t started_ns; /* time of the last start while it is running; else 0 */
};

/* Sums of the lines about allocations and frees of a process, a device and a kind; or the number and bytes of the
 * buffers remaining in an allocation server's last list. */
struct tdm_log_amount {
	uint32_t file, device;
	uint8_t dialect, kind;
	int32_t pid;
	uint64_t allocs, frees, bytes, peak_bytes, peak_line, alloc_bytes;
	uint64_t unmatched; /* frees of more bytes than were allocated, or of unknown buffers */
	uint32_t next;      /* the previous row of the same process, or TDM_MAP_NONE */
};

/* Memory states that tt-mlir printed for a kind; or a processor's stack reported by the Watcher, with its kernel. */
struct tdm_log_state {
	uint32_t file;
	uint8_t kind;
	int32_t rank;
	uint64_t count;
	struct tdm_log_view peak; /* the state with the most bytes allocated */
	uint64_t peak_line, least_largest_free;
	char peak_op[TDM_LOG_NAME_CAP], processor[24];
};

/* Identifies a failure in order to recognise repeats. */
struct tdm_log_failure {
	struct tdm_failure failure; /* the failure without its strings */
	uint32_t file;
	int32_t rank;
};

struct tdm_log_table {
	void *rows;
	size_t count, cap;
	uint64_t dropped; /* number of rows that did not fit */
};

enum { TDM_LOG_SLOTS = 60 };

/* Rows of the timeline: record counts per column, and the most bytes allocated at any moment in the column. */
enum tdm_log_row {
	TDM_LOG_ROW_MEMORY,
	TDM_LOG_ROW_CB,
	TDM_LOG_ROW_KERNEL,
	TDM_LOG_ROW_FAILURE,
	TDM_LOG_ROW_DRAM,
	TDM_LOG_ROW_L1,
	TDM_LOG_ROW_COUNT
};

/* A log over time. The number of columns is limited, so each covers more time as the log gets longer. */
struct tdm_log_timeline {
	bool by_line; /* the log contains no times, so columns are ranges of lines */
	bool used;
	uint64_t from, width; /* in nanoseconds or lines */
	uint64_t at[TDM_LOG_SLOTS][TDM_LOG_ROW_COUNT];
	size_t slots; /* columns in use */
	size_t last;  /* the last column, and the bytes allocated at that time */
	uint64_t last_dram, last_l1;
};

/* The profile; empty if zeroed. */
struct tdm_log_profile {
	struct tdm_log_file *files;
	size_t file_count, file_cap;
	struct tdm_log_table cbs, kernels, ops, amounts, states, remaining, programs, failures, stacks;
	struct tdm_log_table moments; /* names of the latest operation or other moment, by file and rank */
	struct tdm_findings found;    /* the failures; evidence: file, line, time, rank, number of lines about each */
	uint64_t failure_count, warning_count; /* counts that include failures that did not fit in the table */
	uint64_t by_type[TDM_FAILURE_COUNT];
	struct tdm_log_timeline timeline;
	struct tdm_map keys;      /* maps a row's identity to its index */
	struct tdm_map fills;     /* tiles in a core's circular buffer */
	struct tdm_map live;      /* live buffers of an allocation server, mapped to the row of their amount */
	struct tdm_map processes; /* last row of a process's amounts, by file, writer and number */
	uint64_t live_dram, live_l1;
	uint64_t untracked; /* number of fills and buffers that could not be tracked */
};

void tdm_log_profile_done(struct tdm_log_profile *profile);

/* Adds a file and returns its number. */
uint32_t tdm_log_profile_add_file(struct tdm_log_profile *profile, const char *name);

/* Sets the number of tiles of a circular buffer, for a log that lacks it. */
void tdm_log_profile_give(struct tdm_log_profile *profile, uint32_t file, uint32_t cb, uint64_t tiles);

/* `record->file` is the number of the record's file. */
void tdm_log_profile_add(struct tdm_log_profile *profile, const struct tdm_log_record *record);

/*
 * As findings, adds indicators of how tight a program's circular buffers are; some are observed, others are computed
 * from sizes. Severity OK is the band LOW, WARNING is MEDIUM, BROKEN is HIGH; INFO if the indicator has no band, or the
 * log lacks its figures. There is one finding for each indicator, in this order, based on the records added so far.
 */
void tdm_log_profile_pressure(const struct tdm_log_profile *profile, uint32_t file, struct tdm_findings *out);

/* ---- the result: log_result.c, log_compare.c ---- */

struct tdm_block;

/* `limit`: maximum number of rows in a table. */
void tdm_log_show(struct tdm_block *in, const struct tdm_log_profile *profile, size_t limit, bool errors_only);

/* Compares file 0 of both profiles. */
void tdm_log_show_both(struct tdm_block *in, const struct tdm_log_profile *a, const struct tdm_log_profile *b);

/* The kind of log; and the data that logs of this kind lack, or NULL. */
const char *tdm_log_file_kind(const struct tdm_log_file *file);
const char *tdm_log_file_lacks(const struct tdm_log_file *file);

#endif
