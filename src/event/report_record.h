/*
 * Lines of the runtime's reports and of its compiler's files, only decoded. Analysers find out what adds up, belongs
 * together or is missing. All texts are borrowed with their record. Figures that a file does not have are
 * TDM_BYTES_UNKNOWN.
 */
#ifndef TDM_EVENT_REPORT_RECORD_H
#define TDM_EVENT_REPORT_RECORD_H

#include "base/units.h"
#include "event/event.h"

/* ---- the memory reporter's files ---- */

enum tdm_memory_form {
	TDM_MEMORY_SUMMARY,
	TDM_MEMORY_L1,
	TDM_MEMORY_DETAILED,
	TDM_MEMORY_FORMS,
};

/* What the column names say. Given once they are known; for a detailed file, at the beginning. */
struct tdm_memory_head {
	uint8_t form;  /* enum tdm_memory_form */
	bool rounded;  /* sizes are in KiB, rounded down */
	uint8_t kinds; /* the least number of kinds in a state of a summary */
};

/* A block; its region is given after its blocks. */
struct tdm_memory_block {
	uint64_t address, bytes; /* in the bank; address + bytes fits 64 bits */
	bool allocated;
};

/* A kind of memory in one state. */
struct tdm_memory_region {
	bool begins_state; /* a new state begins here */
	bool has_program;  /* the state belongs to the program with this id */
	uint64_t program;
	uint8_t kind;   /* enum tdm_kind */
	uint32_t banks; /* set by the analyser; 0: unknown */
	bool rounded;   /* the totals of all banks were in KiB */
	bool rough;     /* its blocks were in KiB, each rounded down, so they need not add up */
	bool damaged;   /* one of its lines was refused */
	uint64_t line;
	uint64_t total, allocated, free, largest;             /* of one bank */
	uint64_t device_total, device_allocated, device_free; /* of all banks */
	uint64_t interleaved_free;                            /* the largest free block times the banks */
	size_t state, first_block, block_count;               /* set by the analyser that keeps states and blocks */
};

/* ---- circular buffers core by core ---- */

enum { TDM_CORE_CBS = 256 }; /* indices are below this */

struct tdm_core_cb {
	uint16_t index;
	uint64_t bytes;
};

struct tdm_core_line {
	uint16_t x, y;
	uint64_t line;  /* in the file */
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

/* The columns that the report has. */
struct tdm_perf_head {
	bool has[TDM_PERF_FIGURES];
};

/* One call on one device. The two waits for circular buffers (front: for input; back: for room) are sums over all
 * cores, as in the report. */
struct tdm_perf_row {
	uint64_t figures[TDM_PERF_FIGURES]; /* times in ns, rounded */
	uint64_t line;
	struct tdm_str code, type;
};

/* ---- the inspector's files ---- */

/* The event's size is the part of the buffer on one device; the log does not say which devices have it. */
struct tdm_mesh_buffer {
	struct tdm_event event;
	uint64_t mesh_bytes; /* on the whole mesh; 0 for a release */
};

struct tdm_listed_kernel {
	uint64_t program, watcher_id, line;
	struct tdm_str name, path, source; /* the last two may be empty */
};

/* Something that happened to a program. */
struct tdm_listed_program {
	uint64_t id;
	uint64_t compile_ns; /* duration of a finished compilation */
	bool destroyed;
};

/* ---- compiled kernels ---- */

struct tdm_kernel_binary {
	const char *path, *target; /* the processor: "brisc", … */
	const char *name, *hash;   /* of the kernel; empty for firmware, or when the path does not tell */
	const char *build;         /* empty: unknown */
	uint8_t order;             /* rank of the processor among the known ones */
	bool firmware;
	uint64_t packed_bytes, text_bytes, zeroed_bytes;
	uint32_t over_limit; /* segments above their limit */
};

/* Bytes that a binary takes in the kernel-config ring. */
enum { TDM_KERNEL_ALIGN = 16 };
static inline uint64_t tdm_kernel_ring_bytes(uint64_t packed_bytes)
{
	return (packed_bytes + TDM_KERNEL_ALIGN - 1) / TDM_KERNEL_ALIGN * TDM_KERNEL_ALIGN;
}

/* ---- ttnn's report of operations ---- */

/* Above these a number in a report makes no sense. */
#define TDM_REPORT_SIZE_MAX (UINT64_C(1) << 46) /* of sizes, addresses and ids */
enum { TDM_REPORT_DEVICES_MAX = 1 << 16, TDM_REPORT_RANKS_MAX = 1 << 12 };

/* What the report has; given first. */
struct tdm_report_head {
	bool has_buffers, has_graphs;
	struct tdm_str schema; /* empty: older than its number */
};

/* An operation. The nodes of its captured graph and the buffers that were alive after it follow. Operations are given
 * in the order of rank and id. */
struct tdm_report_operation {
	uint32_t rank; /* of the host, when several took part */
	uint64_t id;
	uint64_t duration_ns; /* on the host; TDM_BYTES_UNKNOWN */
	struct tdm_str name;  /* empty: unknown */
};

/* A buffer that was alive after the operation. */
struct tdm_report_buffer {
	uint32_t rank, device;
	uint64_t operation, address, bank_bytes;
	uint8_t kind; /* enum tdm_kind */
};

/* A tensor, or another place of one: then without the texts. Given after the operations; places come first. */
struct tdm_report_tensor {
	uint32_t rank, device;
	uint64_t id, address;
	uint8_t kind; /* enum tdm_kind; TDM_KIND_COUNT: unknown */
	bool has_place;
	struct tdm_str shape, dtype, layout;
};

struct tdm_report_use {
	uint32_t rank;
	uint64_t tensor, operation;
	bool is_output;
};

struct tdm_report_error {
	uint32_t rank;
	uint64_t operation;
	struct tdm_str name, message;
};

/* The part of a buffer in one core, after an operation. Given after the operations. */
struct tdm_report_part {
	uint32_t rank, device;
	uint64_t operation, bytes;
	uint16_t x, y;
	uint8_t kind; /* enum tdm_kind */
};

/* Things that a walk through folders left out. */
enum { TDM_WALK_ENTRIES = 1 << 20 }; /* limit of entries looked at */
struct tdm_walk_rest {
	uint64_t links;     /* symbolic links not followed */
	uint64_t unvisited; /* folders too deep, or beyond the number of entries */
};

#endif
