/*
 * One line of a log that says something about memory, decoded. Anything the line does not say is unknown; texts are
 * borrowed until the reader is asked for the next record.
 */
#ifndef TDM_EVENT_LOG_RECORD_H
#define TDM_EVENT_LOG_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/kind.h"
#include "base/str.h"
#include "base/units.h"
#include "event/failure.h"

/* id, name in JSON */
#define TDM_LOG_TYPE_LIST(X)            \
	X(FAILURE, "failure")           \
	X(ALLOC, "alloc")               \
	X(FREE, "free")                 \
	X(UNKNOWN_FREE, "unknown_free") \
	X(PROCESS_GONE, "process_gone") \
	X(REMAINING, "remaining")       \
	X(GEOMETRY, "geometry")         \
	X(MEMORY_STATE, "memory_state") \
	X(MOMENT, "moment")             \
	X(OP_BEGIN, "op_begin")         \
	X(OP_END, "op_end")             \
	X(KERNEL_START, "kernel_start") \
	X(KERNEL_END, "kernel_end")     \
	X(KERNEL_SIZE, "kernel_size")   \
	X(PROGRAM_SIZE, "program_size") \
	X(CB_ALLOC, "cb_alloc")         \
	X(CB_RESERVE, "cb_reserve")     \
	X(CB_PUSH, "cb_push")           \
	X(CB_WAIT, "cb_wait")           \
	X(CB_POP, "cb_pop")             \
	X(TILES, "workload")            \
	X(VERIFICATION, "verification") \
	X(STACK, "stack")

enum tdm_log_type {
#define X(id, name) TDM_LOG_##id,
	TDM_LOG_TYPE_LIST(X)
#undef X
		TDM_LOG_TYPE_COUNT
};

/* Who wrote the line. */
enum tdm_log_dialect {
	TDM_LOG_BY_RUNTIME,  /* the runtime, through its logger or not */
	TDM_LOG_BY_WORKLOAD, /* the program's own debug output: circular buffers, kernels */
	TDM_LOG_BY_SERVER,   /* an allocation server */
	TDM_LOG_BY_COMPILER, /* tt-mlir's memory states */
	TDM_LOG_BY_WATCHER,  /* the log that the runtime's Watcher writes */
	TDM_LOG_DIALECT_COUNT
};

enum tdm_log_level {
	TDM_LOG_LEVEL_NONE, /* the line has no level */
	TDM_LOG_LEVEL_TRACE,
	TDM_LOG_LEVEL_DEBUG,
	TDM_LOG_LEVEL_INFO,
	TDM_LOG_LEVEL_WARNING,
	TDM_LOG_LEVEL_ERROR,
	TDM_LOG_LEVEL_CRITICAL,
	TDM_LOG_LEVEL_COUNT
};

#define TDM_LOG_UNKNOWN        UINT64_MAX
#define TDM_LOG_DEVICE_UNKNOWN UINT32_MAX
#define TDM_LOG_CB_UNKNOWN     UINT32_MAX
enum { TDM_LOG_NO_RANK = -1, TDM_LOG_CBS = 64 }; /* indices of circular buffers are below TDM_LOG_CBS */

/* The runtime's layout of L1; TDM_BYTES_UNKNOWN where a line does not say. */
struct tdm_log_geometry {
	uint64_t worker_l1_size, l1_base, l1_small_size, l1_bank_size, allocatable_l1_size;
	uint64_t l1_alignment, dram_alignment;
};

/* Memory of one kind, per bank. */
struct tdm_log_view {
	uint64_t banks, total, allocated, free, largest_free;
};

/* The stack of a processor when it was fullest; TDM_LOG_UNKNOWN where the line does not say. */
struct tdm_log_stack_use {
	struct tdm_str processor;
	uint64_t used, size, free;
};

struct tdm_log_record {
	uint8_t type;      /* enum tdm_log_type */
	uint8_t dialect;   /* enum tdm_log_dialect */
	uint8_t level;     /* enum tdm_log_level */
	uint8_t kind;      /* enum tdm_kind; TDM_KIND_COUNT: unknown */
	bool time_is_near; /* the line has no time of its own: time_ns is that of a line shortly before */
	bool is_repeat;    /* a failure that an earlier line reported */
	bool has_range;
	uint32_t file;    /* index of the file; set by the reader of several files */
	uint64_t time_ns; /* since 1970, by the log's clock; 0: unknown */
	uint64_t line;    /* from 1 */
	int32_t rank;     /* in a multi-host run; else TDM_LOG_NO_RANK */
	int32_t pid;      /* 0: unknown */
	uint32_t device;  /* or TDM_LOG_DEVICE_UNKNOWN */
	uint32_t cb;      /* index of the circular buffer, or TDM_LOG_CB_UNKNOWN */
	/* The next fields are TDM_LOG_UNKNOWN where the line does not say. */
	uint64_t bytes;       /* of the buffer, circular buffer or kernel; of `remaining`: the total of a kind */
	uint64_t tiles;       /* of the circular buffer, operation or kernel; of a verification: those that passed */
	uint64_t count;       /* of references, buffers or banks; of a verification: all values */
	uint64_t id;          /* of the buffer */
	uint64_t duration_ns; /* of the operation or kernel; of a reserve or wait: time spent waiting */
	uint64_t cores;       /* of the circular buffer or kernel; of a workload: of its grid */
	uint64_t all_bytes;   /* of all circular buffers of a core, if the line sums them up */
	uint64_t limit;       /* that the program has set itself for them */
	uint64_t a_tiles, b_tiles, shard_tiles, devices; /* of the workload */
	struct tdm_core_range range;
	struct tdm_str name; /* of the operation, kernel, file; may be empty */
	struct tdm_str text; /* the line's message */
	union {              /* by `type` */
		struct tdm_failure failure;
		struct tdm_log_geometry geometry;
		struct tdm_log_view view;
		struct tdm_log_stack_use stack;
	};
};

const char *tdm_log_type_name(enum tdm_log_type type);

/* Totals of a log and of the sample at its beginning: lines that say nothing about memory show who wrote it. */
struct tdm_log_counts {
	uint64_t lines, bytes;
	uint64_t cut_lines, refused_lines;
	bool is_cut; /* it could not be read to its end */
	uint64_t sample_lines;
	uint64_t logger_lines; /* of those, lines of the runtime's logger */
	uint64_t debug_lines;  /* of those, at level debug or trace: the level was not the default */
	bool is_binary;        /* it has bytes that text never has */
};

const char *tdm_log_dialect_name(enum tdm_log_dialect dialect); /* "runtime" */
const char *tdm_log_level_name(enum tdm_log_level level);       /* "warning"; "none" */

/* Everything unknown. */
void tdm_log_record_init(struct tdm_log_record *record, enum tdm_log_type type, enum tdm_log_dialect dialect);

/* Readers give only valid records. */
bool tdm_log_record_is_valid(const struct tdm_log_record *record);

#endif
