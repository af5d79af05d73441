/* Decoded lines of a log that are about memory, and messages about insufficient memory or wrong results. Facts
 * missing from a line are unknown; strings are borrowed until the reader returns the next record. */
#ifndef TDM_MODEL_LOG_RECORD_H
#define TDM_MODEL_LOG_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/kind.h"
#include "base/str.h"
#include "base/units.h"
#include "model/event/event.h"

/*
 * ---- failures ----
 *
 * Which sentence a message matched, and its figures. A figure that the sentence lacks, or that does not fit 64 bits, is
 * unknown.
 */

/* id, name in JSON, title for people */
#define TDM_FAILURE_LIST(X)                                                                     \
	X(OUT_OF_MEMORY, "out_of_memory", "out of memory")                                      \
	X(DEPENDENCIES, "out_of_memory_dependencies", "out of memory, dependencies considered") \
	X(BELOW_LIMIT, "below_limit", "allocation below the address limit")                     \
	X(BEYOND_L1, "beyond_l1", "static buffers beyond the end of L1")                        \
	X(CLASH, "clash", "static buffers clash with L1 buffers")                               \
	X(SERVICE_CLASH, "service_clash", "circular buffers clash with L1 of a service core")   \
	X(PROGRAM_SIZE, "program_size", "program too large for the kernel config buffer")       \
	X(TRACE_REGION, "trace_region", "trace larger than the trace region")                   \
	X(TRACE_OVERLAP, "trace_overlap", "trace buffer overlaps")                              \
	X(WORKER_L1, "worker_l1", "worker L1 size above its maximum")                           \
	X(SEGMENT, "segment", "kernel segment too large for its region")                        \
	X(CB_RESIZE, "cb_resize", "circular buffer larger than the L1 buffer under it")         \
	X(UNSAFE_TRACE, "unsafe_with_trace", "buffers allocated while a trace is active")       \
	X(L1_CAPACITY, "l1_capacity", "an operation needs more L1 than there is")               \
	X(STACK, "stack_overflow", "stack overflow in a kernel")                                \
	X(CB_OVERFLOW, "cb_overflow", "a transfer beyond the end of a circular buffer")         \
	X(L1_ACCESS, "l1_access", "an access beyond the end of L1")                             \
	X(MISMATCH, "mismatch", "wrong results")                                                \
	X(OTHER, "other", "about memory, in words that are not known")

enum tdm_failure_type {
#define X(id, name, title) TDM_FAILURE_##id,
	TDM_FAILURE_LIST(X)
#undef X
		TDM_FAILURE_COUNT
};

/*
 * The figures that a sentence may contain: member, letter in the patterns of error_text.c, key in JSON. This is the
 * only list of these figures.
 */
#define TDM_FAILURE_FIGURE_LIST(X)                                                                                  \
	X(asked, 'a', "asked_bytes") /* total over all banks; or the size of a program or trace */                  \
	X(banks, 'b', "banks")                                                                                      \
	X(bytes_per_bank, 'p', "bytes_per_bank") /* bytes each bank would have to hold */                           \
	X(bank_size, 'z', "bank_size")           /* per bank, as are the next three */                              \
	X(allocated, 'u', "allocated")                                                                              \
	X(free, 'f', "free")                                                                                        \
	X(largest_free, 'l', "largest_free")                                                                        \
	X(placeable, 'r', "placeable") /* free bytes in this allocator and in all allocators on which it depends */ \
	X(largest_placeable, 't', "largest_placeable")                                                              \
	X(address, 's', "address")       /* address of the lowest L1 buffer, or of the allocation */                \
	X(region_end, 'e', "region_end") /* where the static buffers end */                                         \
	X(limit, 'm', "limit")           /* the size or address that must not be exceeded */                        \
	X(excess, 'x', "excess_bytes")   /* bytes above the limit, if only those are known */                       \
	X(wrong, 'w', "wrong_values")    /* values that differed from a program's expectation */                    \
	X(program, 'g', "program")

#define X(member, letter, key) +1
enum { TDM_FAILURE_FIGURE_COUNT = TDM_FAILURE_FIGURE_LIST(X) };
#undef X

struct tdm_failure {
	uint8_t type;     /* enum tdm_failure_type */
	uint8_t kind;     /* enum tdm_kind: the memory that ran out; TDM_KIND_COUNT: unknown */
	uint8_t refused;  /* number of figures that did not fit 64 bits */
	bool is_dataflow; /* about dataflow buffers, not circular buffers */
	bool has_range;
	struct tdm_core_range range; /* the first range if the sentence names several */
	uint32_t range_count;
	union { /* TDM_BYTES_UNKNOWN for figures missing from the sentence */
		uint64_t figures[TDM_FAILURE_FIGURE_COUNT];
		struct {
#define X(member, letter, key) uint64_t member;
			TDM_FAILURE_FIGURE_LIST(X)
#undef X
		};
	};
	/* hash of a message with unfamiliar wording, which has no figures to distinguish it; else 0 */
	uint64_t words;
	struct tdm_str name; /* kind of core, device or file named in the sentence; may be empty */
	struct tdm_str text; /* the sentence; borrowed, as is the name */
};

extern const char tdm_failure_letters[TDM_FAILURE_FIGURE_COUNT];
extern const char *const tdm_failure_keys[TDM_FAILURE_FIGURE_COUNT];

/* All figures unknown. */
void tdm_failure_init(struct tdm_failure *failure, enum tdm_failure_type type, struct tdm_str text);

const char *tdm_failure_name(enum tdm_failure_type type);
const char *tdm_failure_title(enum tdm_failure_type type);

/* Whether this is only a warning: nothing has failed yet. */
static inline bool tdm_failure_is_warning(const struct tdm_failure *failure)
{
	return failure->type == TDM_FAILURE_UNSAFE_TRACE;
}

/* The kind of memory that ran out, including static buffers; TDM_KIND_COUNT if the sentence is about something else. */
enum tdm_kind tdm_failure_memory(const struct tdm_failure *failure);

/* Whether two records have the same figures and name; their texts may differ. */
bool tdm_failure_is_same(const struct tdm_failure *a, const struct tdm_failure *b);

/* ---- lines of a log ---- */

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

/* The runtime's layout of L1; TDM_BYTES_UNKNOWN for figures missing from a line. */
struct tdm_log_geometry {
	uint64_t worker_l1_size, l1_base, l1_small_size, l1_bank_size, allocatable_l1_size;
	uint64_t l1_alignment, dram_alignment;
};

/* Memory of one kind, per bank; or the highest usage of a processor's stack. */
struct tdm_log_view {
	uint64_t banks, total, allocated, free, largest_free;
};

struct tdm_log_record {
	uint8_t type;      /* enum tdm_log_type */
	uint8_t dialect;   /* enum tdm_log_dialect */
	uint8_t level;     /* enum tdm_log_level */
	uint8_t kind;      /* enum tdm_kind; TDM_KIND_COUNT: unknown */
	bool time_is_near; /* the line has no time, so time_ns is from a line shortly before it */
	bool is_repeat;    /* a failure that an earlier line has reported */
	bool has_range;
	uint32_t file;    /* index of the file, set by a reader of several files */
	uint64_t time_ns; /* time since 1970, by the log's clock; 0 if unknown */
	uint64_t line;    /* line number, from 1 */
	int32_t rank;     /* rank in a multi-host run; else TDM_LOG_NO_RANK */
	int32_t pid;      /* 0 if unknown */
	uint32_t device;  /* or TDM_LOG_DEVICE_UNKNOWN */
	uint32_t cb;      /* index of the circular buffer, or TDM_LOG_CB_UNKNOWN */
	/* The next members are TDM_LOG_UNKNOWN if missing from the line. */
	uint64_t bytes; /* bytes of the buffer, circular buffer or kernel; in `remaining`: the total of a kind */
	/* tiles of the circular buffer, operation or kernel; in a verification: values that passed */
	uint64_t tiles;
	uint64_t count;       /* number of references, buffers or banks; in a verification: number of all values */
	uint64_t id;          /* id of the buffer */
	uint64_t duration_ns; /* duration of the operation or kernel; in a reserve or wait: time spent waiting */
	uint64_t cores;       /* cores of the circular buffer or kernel; in a workload: cores of its grid */
	uint64_t all_bytes;   /* bytes of all circular buffers in a core, if the line gives the sum */
	uint64_t limit;       /* the program's own limit for all_bytes */
	uint64_t a_tiles, b_tiles, shard_tiles, devices; /* figures of the workload */
	struct tdm_core_range range;
	struct tdm_str name;      /* name of the operation, kernel or file; may be empty */
	struct tdm_str text;      /* the line's message */
	struct tdm_str processor; /* processor that has the stack */
	union {                   /* the valid member depends on `type` */
		struct tdm_failure failure;
		struct tdm_log_geometry geometry;
		struct tdm_log_view view;
	};
};

const char *tdm_log_type_name(enum tdm_log_type type);

/* Totals of a log and of the sample at its beginning. Even lines that are not about memory show which program wrote
 * the log. */
struct tdm_log_counts {
	uint64_t lines, bytes;
	uint64_t cut_lines, refused_lines;
	bool is_cut; /* the log could not be read to the end */
	uint64_t sample_lines;
	uint64_t logger_lines; /* number of sampled lines from the runtime's logger */
	/* number of those lines at level debug or trace, which show that the level was not the default */
	uint64_t debug_lines;
	bool is_binary; /* the log contains bytes that text never has */
};

const char *tdm_log_dialect_name(enum tdm_log_dialect dialect); /* "runtime" */
const char *tdm_log_level_name(enum tdm_log_level level);       /* "warning"; "none" */

/* Everything unknown. */
void tdm_log_record_init(struct tdm_log_record *record, enum tdm_log_type type, enum tdm_log_dialect dialect);

#endif
