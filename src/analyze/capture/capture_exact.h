/*
 * Counts the memory in a graph capture correctly: each device separately, the fullest core instead of a sum over cores,
 * no bytes for views, and the peak of the sum instead of the sum of the peaks.
 *
 * Here, a "device" is a mesh, because buffers refer to meshes. A buffer occupies its full size on each chip in the
 * mesh. Circular buffers refer to a chip. Tensors show which mesh a chip belongs to; without tensors, a chip belongs to
 * the only mesh, or to the mesh with the same number. The chips of a mesh are not added up: only the fullest chip
 * counts.
 *
 * A chip runs one program at a time, and the runtime allocates all of a program's memory at once. Therefore, memory
 * allocated after a function has started or ended belongs to the next program and replaces the memory of the previous
 * one, even if the capture contains no release in between. Within a function, addresses separate programs: in each
 * core, a program's buffers of one kind have ascending addresses, so a buffer that begins at the first address again
 * belongs to the next program. If neither addresses nor a release separate them, sizes are added up, and the sum is an
 * upper bound.
 *
 * Buffers older than the capture become known only when a node first mentions them. Therefore, the sums kept while
 * reading are relative to the beginning, and the bytes of older buffers are added to every peak at the end.
 */
#ifndef TDM_ANALYZE_CAPTURE_EXACT_H
#define TDM_ANALYZE_CAPTURE_EXACT_H

#include "base/buf.h"
#include "base/map.h"
#include "live/join/intern.h"
#include "model/event/capture_node.h"

/*
 * ---- program memory ----  The L1 that the running program occupies on each core of one chip: circular buffers,
 * dataflow buffers, scratchpads. Cores with the same contents form one class, so the cost depends on the number of
 * classes, not the number of cores. On one core, overlapping address ranges count once. If addresses are unknown, the
 * sizes are added up.
 */

enum tdm_program_kind { TDM_PROGRAM_CB, TDM_PROGRAM_DFB, TDM_PROGRAM_SCRATCHPAD, TDM_PROGRAM_KINDS };

/* Accepts TDM_KIND_CB and the next two kinds. */
static inline enum tdm_program_kind tdm_program_kind(enum tdm_kind kind)
{
	return (enum tdm_program_kind)(kind - TDM_KIND_CB);
}

/* A set of cores: a word for each row, a bit for each column. */
struct tdm_core_mask {
	uint32_t rows[TDM_CAPTURE_GRID];
};

struct tdm_program_span {
	uint64_t begin, end;
};

/* Cores with the same contents. */
struct tdm_program_class {
	struct tdm_core_mask mask;
	uint32_t cores;
	uint32_t span_count;
	size_t span_cap;
	struct tdm_program_span *spans; /* sorted, not touching each other */
	uint64_t bytes[TDM_PROGRAM_KINDS];
	uint64_t total;                      /* sum of span sizes */
	uint64_t stacked[TDM_PROGRAM_KINDS]; /* sum of sizes, regardless of addresses */
	struct tdm_program_span
		/* range from the lowest to the highest address; empty if no address is known */
		all[TDM_PROGRAM_KINDS];
};

struct tdm_program_memory {
	struct tdm_program_class *classes;
	size_t count, cap;
	uint64_t max[TDM_PROGRAM_KINDS], max_total; /* highest on any one core */
	uint64_t sum;                               /* sum over all cores */
	uint64_t plain[TDM_PROGRAM_KINDS];          /* sums of sizes, regardless of cores and addresses */
	uint64_t stacked[TDM_PROGRAM_KINDS];        /* highest on one core, counting overlapping addresses twice */
	uint64_t stacked_total;
	bool cores_unknown; /* for some memory, the cores were not recorded */
};

void tdm_program_memory_done(struct tdm_program_memory *memory); /* leaves the memory zeroed, which means empty */

uint32_t tdm_core_mask_count(const struct tdm_core_mask *mask);

/* `address` is 0 if unknown. `mask` is NULL if the cores are unknown; then any core may hold the memory. */
void tdm_program_memory_add(struct tdm_program_memory *memory, const struct tdm_core_mask *mask,
	enum tdm_program_kind kind, uint64_t address, uint64_t size);

/*
 * ---- paths ----  The calls in a capture as a tree. A path is the list of running functions, outermost first; calling
 * the same path again uses the same entry. Strings such as tensor shapes are kept as well, without duplicates. Both are
 * bounded: a call beyond the path limit is attributed to the path that was running, and a string beyond the string
 * limit is lost.
 */

enum { TDM_PATH_ROOT = 0 }; /* outside all functions */

struct tdm_capture_path {
	uint32_t parent, name; /* name: string number */
	uint64_t calls;
	uint64_t dram_bytes, l1_bytes; /* requested bytes allocated directly in this path */
	uint64_t buffers;
	/* valid after the end: most bytes in one core while the path ran; INT64_MIN if L1 never changed */
	int64_t core_peak;
};

/* The highest number of bytes in one core of a device while a path ran. */
struct tdm_capture_path_peak {
	int64_t bytes;
	uint32_t path, unit;
};

struct tdm_capture_paths {
	struct tdm_intern texts; /* function names and other strings */
	struct tdm_map children; /* parent and name of a path to its index */
	struct tdm_capture_path *paths;
	size_t count, cap;
	struct tdm_capture_path_peak *peaks;
	size_t peak_count, peak_cap;
	struct tdm_map peak_of; /* path and device to index in the peaks */
	uint32_t *stack;        /* paths of the running functions */
	size_t depth, stack_cap;
	uint64_t lost_depth; /* number of running calls too deep to follow */
	uint64_t overflow;   /* calls beyond the path limit */
};

/* The path currently running. */
static inline uint32_t tdm_capture_paths_now(const struct tdm_capture_paths *paths)
{
	return paths->depth != 0 ? paths->stack[paths->depth - 1] : TDM_PATH_ROOT;
}

/* A string by its number; NULL for 0. */
const char *tdm_capture_paths_text_of(const struct tdm_capture_paths *paths, uint32_t number);

/* Writes "ttnn.matmul > MatmulDeviceOperation"; nothing for the root. */
void tdm_capture_paths_put(const struct tdm_capture_paths *paths, uint32_t path, struct tdm_buf *out);
/* The name of the path's innermost function; "" for the root. */
const char *tdm_capture_paths_name(const struct tdm_capture_paths *paths, uint32_t path);

/* ---- the account ---- */

/* Sets of kinds (1 << kind). */
#define TDM_CAPTURE_IN_DRAM (1U << TDM_KIND_DRAM | 1U << TDM_KIND_TRACE)
#define TDM_CAPTURE_IN_L1   (1U << TDM_KIND_L1 | 1U << TDM_KIND_L1_SMALL)

#define TDM_EXACT_NEVER     UINT32_MAX

enum { TDM_EXACT_UNITS_MAX = 1024 }; /* maximum number of devices counted separately */

enum tdm_exact_state {
	TDM_EXACT_NEW,      /* described by a buffer node; the next node shows whether it is allocated here */
	TDM_EXACT_EXISTING, /* older than the capture */
	TDM_EXACT_LIVE,
	TDM_EXACT_FREED,
};

/* A buffer in DRAM, L1 and so on. */
struct tdm_exact_buffer {
	uint64_t size;       /* requested bytes on one chip */
	uint64_t bank_bytes; /* TDM_BYTES_UNKNOWN if not recorded */
	uint32_t index;      /* index of its buffer node */
	uint32_t from, to;   /* nodes that allocate and release it; 0 and TDM_EXACT_NEVER if outside the capture */
	uint32_t path;       /* path that allocated the buffer; the root if the buffer is older than the capture */
	uint32_t shape;      /* string number in the paths; 0 if unknown */
	uint16_t unit;
	uint8_t kind;  /* enum tdm_kind */
	uint8_t state; /* enum tdm_exact_state */
	bool existed;  /* older than the capture */
};

/* A circular buffer, dataflow buffer or scratchpad. */
struct tdm_exact_program {
	uint64_t size;    /* bytes in each core */
	uint64_t address; /* 0 if unknown */
	uint32_t node, path, cores;
	uint8_t kind;              /* enum tdm_kind */
	struct tdm_core_mask mask; /* cores of the allocation; empty if not recorded */
};

/* A peak, and the node at which it was first reached. */
struct tdm_exact_peak {
	int64_t bytes;
	uint32_t at;
};

struct tdm_exact_kind {
	int64_t now, bank_now; /* current values, relative to the beginning */
	struct tdm_exact_peak asked, bank;
	uint64_t allocs, frees, alloc_bytes, free_bytes;
	uint64_t existing, existing_bytes, existing_bank_bytes; /* older than the capture; bank: as far as known */
	uint64_t bank_unknown;                                  /* number of allocations without max_size_per_bank */
};

struct tdm_exact_unit {
	uint64_t id;
	bool has_buffers, has_id; /* has_id: some node named the device; old captures name none */
	struct tdm_exact_kind kinds[TDM_KIND_COUNT];
	struct tdm_exact_peak dram;                       /* DRAM and trace buffers together */
	struct tdm_exact_peak l1_core;                    /* L1 and small L1 buffers in one core */
	struct tdm_exact_peak program[TDM_PROGRAM_KINDS]; /* highest in one core */
	struct tdm_exact_peak program_total;
	struct tdm_exact_peak core; /* everything in the fullest core */
	struct tdm_exact_peak
		device; /* L1 of the whole device: the buffers' requested bytes, plus the program memory of all cores */
	uint64_t views;
	uint64_t grid_x, grid_y; /* columns and rows of the cores used by programs */
	/* The program memory at the peak of `core`. */
	uint32_t peak_chip, peak_epoch, peak_count, peak_x, peak_y;
	bool has_peak_core;
	struct tdm_exact_program *peak_program;
	bool peak_saved;
	uint64_t noted; /* the fullest core's program memory when last added to the course */
};

/* How the mesh of a chip was determined. */
enum tdm_exact_mapping { TDM_EXACT_MAP_SAID, TDM_EXACT_MAP_ONLY, TDM_EXACT_MAP_SAME };

struct tdm_exact_chip {
	uint64_t id;
	uint16_t unit;
	uint8_t mapping;    /* enum tdm_exact_mapping */
	bool cores_unknown; /* for some of the chip's program memory, the cores were not recorded */
	bool is_released;   /* everything in `live` was allocated after a release */
	struct tdm_program_memory memory;
	uint64_t counted[TDM_PROGRAM_KINDS]; /* sizes in `memory` still counted by the runtime */
	uint64_t steps;                      /* the capture's `steps` at the last allocation */
	struct tdm_exact_program *live;
	uint32_t live_count, epoch;
	size_t live_cap;
};

struct tdm_capture_exact {
	struct tdm_capture_paths paths;
	struct tdm_exact_buffer *buffers;
	size_t buffer_count, buffer_cap;
	struct tdm_exact_unit *units;
	struct tdm_exact_chip *chips;
	size_t unit_count, unit_cap, chip_count, chip_cap;
	struct tdm_map unit_of, chip_of; /* finds units and chips by id */
	struct tdm_map waiting;          /* node of a tensor to its buffer, for tensors that follow their buffer */
	/* The latest tensors, for buffers that follow their tensor. */
	uint64_t recent[64];
	uint32_t recent_shape[64], recent_at;
	struct tdm_core_range range; /* the last single range of cores, and its mask */
	struct tdm_core_mask range_mask;
	uint32_t range_cores;     /* 0 if there is none yet */
	size_t fresh;             /* index of the buffer in state TDM_EXACT_NEW, plus 1 */
	uint64_t steps;           /* number of function starts and ends */
	uint64_t program_nodes;   /* number of allocations of circular buffers and the like */
	uint64_t cached_programs; /* number of programs without any such allocation in the capture */
	/* number of such allocations that may belong to a different program than the one they were attributed to */
	uint64_t undivided;
	struct tdm_map begun; /* ids of devices on which a program has begun but not yet allocated anything */
	uint64_t replaced[TDM_PROGRAM_KINDS]; /* bytes of replaced programs still counted by the runtime */
	uint64_t unknown_frees, double_frees, rereports, views, ignored, partial_releases;
	struct tdm_capture_device *devices;
	size_t device_count;
};

void tdm_capture_exact_init(struct tdm_capture_exact *exact);
void tdm_capture_exact_done(struct tdm_capture_exact *exact);

/* Call for each record; can serve as a record sink. */
void tdm_capture_exact_apply(struct tdm_capture_exact *exact, const struct tdm_capture_node *node);
void tdm_capture_exact_device(struct tdm_capture_exact *exact, const struct tdm_capture_device *device);
void tdm_capture_exact_member(struct tdm_capture_exact *exact, uint64_t mesh, uint64_t chip);

/* Call after the last node: adds the buffers older than the capture to the peaks. */
void tdm_capture_exact_end(struct tdm_capture_exact *exact);

#endif
