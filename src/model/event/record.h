/*
 * A record is one statement in a file, decoded but not interpreted. The readers of all formats return records one at a
 * time, in file order. Analysers use the types they know and compute sums, connections and gaps. Strings are borrowed,
 * like the record itself. Figures that a file lacks are TDM_BYTES_UNKNOWN.
 */
#ifndef TDM_MODEL_RECORD_H
#define TDM_MODEL_RECORD_H

#include "base/diag.h"
#include "base/units.h"
#include "model/event/capture_node.h"
#include "model/event/event.h"
#include "model/event/log_record.h"
#include "model/event/phase_run.h"

/* ---- the memory reporter's files ---- */

enum tdm_memory_form {
	TDM_MEMORY_SUMMARY,
	TDM_MEMORY_L1,
	TDM_MEMORY_DETAILED,
	TDM_MEMORY_FORMS,
};

/* A block. Its region's record follows after all blocks of that region. */
struct tdm_memory_block {
	uint64_t address, bytes; /* address within the bank; address + bytes fits in 64 bits */
	bool allocated;
};

/*
 * One kind of memory in one recorded state. Alternatively, the file's head, which is taken from the column names and
 * has only `form`, `kinds` and `rounded` set. The head is passed on as soon as those members are known; in a detailed
 * file, they are known at the beginning.
 */
struct tdm_memory_region {
	uint8_t form;      /* head only: enum tdm_memory_form */
	uint8_t kinds;     /* head only: the minimum number of kinds in each state of a summary */
	bool begins_state; /* this region begins a new state */
	bool has_program;  /* the state belongs to the program with this id, rather than to a dump */
	uint64_t program;
	uint8_t kind;   /* enum tdm_kind */
	uint32_t banks; /* set by the analyser; 0 if unknown */
	bool rounded;   /* all-bank totals were in KiB, rounded down; in the head: all sizes were in KiB */
	bool rough;     /* its blocks were in KiB, each rounded down, so they may not add up to the totals */
	bool damaged;   /* one of its lines was refused */
	uint64_t line;
	uint64_t total, allocated, free, largest;             /* bytes in one bank */
	uint64_t device_total, device_allocated, device_free; /* bytes in all banks */
	uint64_t interleaved_free;                            /* the largest free block times the number of banks */
	size_t state, first_block, block_count;               /* set by the analyser that keeps states and blocks */
};

/* ---- circular buffers core by core ---- */

enum { TDM_CORE_CBS = 256 }; /* indices are less than this */

struct tdm_core_cb {
	uint16_t index;
	uint64_t bytes;
};

struct tdm_core_line {
	uint16_t x, y;
	uint64_t line;  /* line in the file */
	uint64_t bytes; /* sum of its circular buffers, which fits 64 bits */
	const struct tdm_core_cb *cbs;
	size_t count;
};

/* ---- performance reports of operations ---- */

/* id, name of the column */
#define TDM_PERF_FIGURE_LIST(X)                       \
	X(CALL, "GLOBAL CALL COUNT")                  \
	X(DEVICE, "DEVICE ID")                        \
	X(CORES, "CORE COUNT")                        \
	X(FW, "DEVICE FW DURATION [ns]")              \
	X(KERNEL, "DEVICE KERNEL DURATION [ns]")      \
	X(FRONT, "DEVICE COMPUTE CB WAIT FRONT [ns]") \
	X(BACK, "DEVICE COMPUTE CB RESERVE BACK [ns]")

enum tdm_perf_figure {
#define X(id, column) TDM_PERF_##id,
	TDM_PERF_FIGURE_LIST(X)
#undef X
		TDM_PERF_FIGURES
};

const char *tdm_perf_column(enum tdm_perf_figure figure);

/* One call on one device. The two waits for circular buffers (front: for input; back: for space) are sums over all
 * cores, as in the report. In the head, which is also a row, a figure is 1 if the report has its column, else 0. */
struct tdm_perf_row {
	uint64_t figures[TDM_PERF_FIGURES]; /* times in ns, rounded */
	uint64_t line;
	struct tdm_str code, type;
};

/* ---- the inspector's files ---- */

/* An allocation or a release. The event's size is the part of the buffer on one device; the log does not name the
 * devices. */
struct tdm_mesh_buffer {
	struct tdm_event event;
	uint64_t mesh_bytes; /* bytes on the whole mesh; 0 for a release */
};

/* A program's kernel; or something that happened to the program, with only the last two members set. */
struct tdm_listed_kernel {
	uint64_t program, watcher_id, line;
	struct tdm_str name, path, source; /* `path` and `source` may be empty */
	/* set by the analyser: bytes in the kernel-config ring, or TDM_BYTES_UNKNOWN */
	uint64_t code_bytes;
	uint64_t compile_ns; /* duration of a finished compilation */
	bool destroyed;
};

/* ---- compiled kernels ---- */

struct tdm_kernel_binary {
	const char *path, *target; /* the processor: "brisc", … */
	/* the kernel's name and hash; empty for firmware, or if they are missing in the path */
	const char *name, *hash;
	const char *build; /* empty if unknown */
	uint8_t order;     /* the processor's rank among the known ones */
	bool firmware;
	uint64_t packed_bytes, text_bytes, zeroed_bytes;
	uint32_t over_limit; /* number of segments above their limit */
};

/* Alignment of a binary in the kernel-config ring. */
enum { TDM_KERNEL_ALIGN = 16 };
static inline uint64_t tdm_kernel_ring_bytes(uint64_t packed_bytes)
{
	return (packed_bytes + TDM_KERNEL_ALIGN - 1) / TDM_KERNEL_ALIGN * TDM_KERNEL_ALIGN;
}

/* ---- ttnn's report of operations ---- */

/* Larger numbers in a report make no sense. */
#define TDM_REPORT_SIZE_MAX (UINT64_C(1) << 46) /* limit for sizes, addresses and ids */
enum { TDM_REPORT_DEVICES_MAX = 1 << 16, TDM_REPORT_RANKS_MAX = 1 << 12 };

/*
 * A row of the report; a missing number is 0, a missing string empty. Operations come in order of rank and id; each is
 * followed by the nodes of its captured graph and by the buffers live after it. All other rows come after all
 * operations. Rows for a tensor's other places contain no strings and precede the tensors.
 */
struct tdm_report_row {
	uint32_t rank; /* rank of the host, if several took part */
	uint32_t device;
	uint64_t operation; /* the operation's id */
	uint64_t id;        /* id of a tensor */
	uint64_t address;
	uint64_t bytes;               /* bytes of a buffer in one bank, or of a buffer's part in one core */
	uint64_t duration_ns;         /* duration of an operation, measured on the host; or TDM_BYTES_UNKNOWN */
	uint16_t x, y;                /* core of a part */
	uint8_t kind;                 /* enum tdm_kind; for a tensor, TDM_KIND_COUNT if unknown */
	bool has_place;               /* for a tensor: it has a device and an address */
	bool is_output;               /* for a use */
	bool has_buffers, has_graphs; /* for the head, which comes first: which parts the report contains */
	struct tdm_str name; /* name of the operation, or of the one that failed; for the head: its schema's number */
	struct tdm_str message, shape, dtype, layout;
};

/* The entries that a walk through folders left out. */
enum { TDM_WALK_ENTRIES = 1 << 20 }; /* maximum number of entries visited */
struct tdm_walk_rest {
	uint64_t links;     /* symbolic links not followed */
	uint64_t unvisited; /* number of folders that are too deep or beyond the entry limit */
};

/* ---- records ---- */

/* id, type and name of the member */
#define TDM_RECORD_LIST(X)                                                                      \
	X(REFUSED, const struct tdm_diag, refused)                                              \
	X(NODE, const struct tdm_capture_node, node)                                            \
	X(DEVICE, const struct tdm_capture_device, device)                                      \
	X(MEMBER, const uint64_t, member) /* a mesh and one of its chips, once for each pair */ \
	X(CAPTURE_END, const struct tdm_capture_counts, capture)                                \
	X(LOG, const struct tdm_log_record, log)                                                \
	X(LOG_END, const struct tdm_log_counts, log_end)                                        \
	X(RUN, struct tdm_phase_run, run)                                                       \
	X(MEMORY_HEAD, const struct tdm_memory_region, memory)                                  \
	X(MEMORY_BLOCK, const struct tdm_memory_block, block)                                   \
	X(MEMORY_REGION, const struct tdm_memory_region, region)                                \
	X(CORE, const struct tdm_core_line, core)                                               \
	X(PERF_HEAD, const struct tdm_perf_row, perf)                                           \
	X(PERF_ROW, const struct tdm_perf_row, row)                                             \
	X(MESH_BUFFER, const struct tdm_mesh_buffer, mesh)                                      \
	X(KERNEL, const struct tdm_listed_kernel, kernel)                                       \
	X(PROGRAM, const struct tdm_listed_kernel, program)                                     \
	X(BINARY, const struct tdm_kernel_binary, binary)                                       \
	X(REPORT_HEAD, const struct tdm_report_row, report)                                     \
	X(OPERATION, const struct tdm_report_row, operation)                                    \
	X(ALIVE, const struct tdm_report_row, alive)                                            \
	X(TENSOR_PLACE, const struct tdm_report_row, place)                                     \
	X(TENSOR, const struct tdm_report_row, tensor)                                          \
	X(TENSOR_USE, const struct tdm_report_row, use)                                         \
	X(REPORT_ERROR, const struct tdm_report_row, error)                                     \
	X(CORE_PART, const struct tdm_report_row, part)                                         \
	X(WALK_END, const struct tdm_walk_rest, walk)

enum tdm_record_type {
#define X(id, type, member) TDM_RECORD_##id,
	TDM_RECORD_LIST(X)
#undef X
		TDM_RECORD_OTHER, /* a line in another form; has no member */
};

struct tdm_record {
	uint8_t type; /* enum tdm_record_type */
	bool is_part; /* with REFUSED: only part of a record is unusable, and the rest follows */
	union {       /* borrowed until `take` returns; however, `take` may move the contents out of a run */
		const void *any;
#define X(id, type, member) type *member;
		TDM_RECORD_LIST(X)
#undef X
	};
};

/* Receives records. A negative code from `take` stops the reader. */
struct tdm_record_sink {
	void *to;
	int (*take)(void *to, const struct tdm_record *record);
};

/* Reports an unusable record, or an unusable part of one; `diag` has the position. */
static inline int tdm_record_refuse(const struct tdm_record_sink *sink, const struct tdm_diag *diag, bool is_part)
{
	return sink->take(sink->to, &(struct tdm_record){ TDM_RECORD_REFUSED, is_part, { .refused = diag } });
}

#endif
