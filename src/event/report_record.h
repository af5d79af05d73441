/*
 * What the runtime's reports and the files of its compiler say, line by line, decoded and nothing more. What adds up,
 * belongs together or is missing is for analysers to find out. All texts are borrowed with their record. Figures that a
 * file does not have are TDM_BYTES_UNKNOWN.
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

/* What the names of the columns say; comes once they are known, or, in a detailed file, at the beginning. */
struct tdm_memory_head {
	uint8_t form;  /* enum tdm_memory_form */
	bool rounded;  /* the file has KiB, rounded down */
	uint8_t kinds; /* that a state of a summary has at least */
};

/* A block of the region that is told after its blocks. */
struct tdm_memory_block {
	uint64_t address, bytes; /* in the bank; the sum fits 64 bits */
	bool allocated;
};

/* A kind of memory in one state. */
struct tdm_memory_region {
	bool begins_state; /* what follows is a new state */
	bool has_program;  /* the state is that of a program, of this id */
	uint64_t program;
	uint8_t kind;   /* enum tdm_kind */
	uint32_t banks; /* set by the analyser; 0: unknown */
	bool rounded;   /* totals of all banks were in KiB */
	bool rough;     /* its blocks were in KiB, each rounded down: they need not add up */
	bool damaged;   /* a line of it was refused */
	uint64_t line;
	uint64_t total, allocated, free, largest;             /* of one bank */
	uint64_t device_total, device_allocated, device_free; /* of all banks */
	uint64_t interleaved_free;                            /* the largest free block times the banks */
	size_t state, first_block, block_count;               /* set by the analyser that keeps states and blocks */
};

/* ---- circular buffers core by core ---- */

enum { TDM_CORE_CBS = 256 }; /* their numbers are below this */

struct tdm_core_cb {
	uint16_t index;
	uint64_t bytes;
};

struct tdm_core_line {
	uint16_t x, y;
	uint64_t line;  /* where it is in the file */
	uint64_t bytes; /* sum of its circular buffers; it fits 64 bits */
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

/* Which of the columns the report has. */
struct tdm_perf_head {
	bool has[TDM_PERF_FIGURES];
};

/* One call on one device. The two waits for circular buffers (for input, front; for room, back) are the sums of all
 * cores, as the report has them. */
struct tdm_perf_row {
	uint64_t figures[TDM_PERF_FIGURES]; /* times in ns, rounded */
	uint64_t line;
	struct tdm_str code, type;
};

/* ---- the inspector's files ---- */

/* The size of the event is what one device holds of the buffer; which devices, the log does not say. */
struct tdm_mesh_buffer {
	struct tdm_event event;
	uint64_t mesh_bytes; /* on the whole mesh; 0 at a release */
};

struct tdm_listed_kernel {
	uint64_t program, watcher_id, line;
	struct tdm_str name, path, source; /* the last two may be empty */
};

/* Something that happened to a program. */
struct tdm_listed_program {
	uint64_t id;
	uint64_t compile_ns; /* it was compiled, which took so long */
	bool destroyed;
};

/* ---- compiled kernels ---- */

struct tdm_kernel_binary {
	const char *path, *target; /* the processor: "brisc", … */
	const char *name, *hash;   /* of the kernel; empty for firmware, or when the path does not tell */
	const char *build;         /* empty: unknown */
	uint8_t order;             /* of the processor among the known ones */
	bool firmware;
	uint64_t packed_bytes, text_bytes, zeroed_bytes;
	uint32_t over_limit; /* segments above their limit */
};

/* What a binary takes in the kernel-config ring. */
enum { TDM_KERNEL_ALIGN = 16 };
static inline uint64_t tdm_kernel_ring_bytes(uint64_t packed_bytes)
{
	return (packed_bytes + TDM_KERNEL_ALIGN - 1) / TDM_KERNEL_ALIGN * TDM_KERNEL_ALIGN;
}

/* What a walk through folders left out. */
enum { TDM_WALK_ENTRIES = 1 << 20 }; /* that are looked at */
struct tdm_walk_rest {
	uint64_t links;     /* that were not followed */
	uint64_t unvisited; /* folders too deep, or beyond the number of entries */
};

#endif
