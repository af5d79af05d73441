/*
 * The memory in a graph capture, counted the way memory works: each device on its own, the fullest core instead of a
 * sum over cores, views without bytes of their own, and the peak of the sum at one moment instead of the sum of peaks.
 *
 * A device here is what buffers name: a mesh; a buffer takes its size on each chip of the mesh. Circular buffers name a
 * chip. Tensors say which mesh a chip belongs to; without them it is the only mesh, or the one with the same number.
 * The chips of a mesh are not added up: the fullest counts.
 *
 * A chip runs one program at a time. The runtime allocates all memory of a program at once; so memory that is allocated
 * after a function has started or ended belongs to the next program, and replaces that of the program before, also if
 * the capture has no release in between. Within a function, addresses tell two programs apart: in each core a program's
 * buffers of one kind follow each other from the first address up, so one that begins there again belongs to the next
 * program. Where addresses do not tell, and no release does, sizes are added up, and the sum is an upper bound.
 *
 * Buffers from before the capture become known only when a node first mentions them. So the sums kept while reading are
 * relative to the beginning, and the bytes of those buffers are added to every peak at the end.
 */
#ifndef TDM_ANALYZE_CAPTURE_EXACT_H
#define TDM_ANALYZE_CAPTURE_EXACT_H

#include "analyze/capture_paths.h"
#include "analyze/program_memory.h"
#include "event/capture_node.h"

#define TDM_EXACT_NEVER UINT32_MAX

enum { TDM_EXACT_UNITS_MAX = 1024 }; /* devices kept apart */

enum tdm_exact_state {
	TDM_EXACT_NEW,      /* a buffer node; the next node says whether it is allocated here */
	TDM_EXACT_EXISTING, /* from before the capture */
	TDM_EXACT_LIVE,
	TDM_EXACT_FREED,
};

/* A buffer in DRAM, L1 and so on. */
struct tdm_exact_buffer {
	uint64_t size;       /* on one chip, as asked for */
	uint64_t bank_bytes; /* TDM_BYTES_UNKNOWN: not recorded */
	uint32_t index;      /* of its buffer node */
	uint32_t from, to;   /* nodes at which it is allocated and released; 0 and TDM_EXACT_NEVER at the ends */
	uint32_t path;       /* that allocated it; the root if the buffer is from before the capture */
	uint32_t shape;      /* a text of the paths; 0: unknown */
	uint16_t unit;
	uint8_t kind;  /* enum tdm_kind */
	uint8_t state; /* enum tdm_exact_state */
	bool existed;  /* before the capture */
};

/* A circular buffer, dataflow buffer or scratchpad. */
struct tdm_exact_program {
	uint64_t size;    /* in each core */
	uint64_t address; /* 0: unknown */
	uint32_t node, path, cores;
	uint8_t kind;              /* enum tdm_kind */
	struct tdm_core_mask mask; /* of its cores; empty: they are not recorded */
};

/* A peak and the node at which it was first reached. */
struct tdm_exact_peak {
	int64_t bytes;
	uint32_t at;
};

struct tdm_exact_kind {
	int64_t now, bank_now; /* since the beginning */
	struct tdm_exact_peak asked, bank;
	uint64_t allocs, frees, alloc_bytes, free_bytes;
	uint64_t existing, existing_bytes, existing_bank_bytes; /* bank: where it is known */
	uint64_t bank_unknown;                                  /* allocations without max_size_per_bank */
};

struct tdm_exact_unit {
	uint64_t id;
	bool has_buffers, has_id; /* has_id: some node named it; old captures name no device */
	struct tdm_exact_kind kinds[TDM_KIND_COUNT];
	struct tdm_exact_peak dram;                       /* DRAM and trace buffers together */
	struct tdm_exact_peak l1_core;                    /* L1 and small L1 buffers in one core */
	struct tdm_exact_peak program[TDM_PROGRAM_KINDS]; /* in one core */
	struct tdm_exact_peak program_total;
	struct tdm_exact_peak core; /* everything in the fullest core */
	struct tdm_exact_peak
		device; /* L1 of the whole device: buffers as asked for, and program memory of all cores */
	uint64_t views;
	uint64_t grid_x, grid_y; /* columns and rows of cores that programs used */
	/* The program memory when `core` peaked. */
	uint32_t peak_chip, peak_epoch, peak_count, peak_x, peak_y;
	bool has_peak_core;
	struct tdm_exact_program *peak_program;
	bool peak_saved;
};

/* How the mesh of a chip was found. */
enum tdm_exact_mapping { TDM_EXACT_MAP_SAID, TDM_EXACT_MAP_ONLY, TDM_EXACT_MAP_SAME };

struct tdm_exact_chip {
	uint64_t id;
	uint16_t unit;
	uint8_t mapping;    /* enum tdm_exact_mapping */
	bool cores_unknown; /* it had program memory whose cores are not recorded */
	bool is_released;   /* a release came right before `live` */
	struct tdm_program_memory memory;
	uint64_t counted[TDM_PROGRAM_KINDS]; /* of `memory`, sizes that the runtime's figures still have */
	uint64_t steps;                      /* `steps` of the capture at the last allocation */
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
	struct tdm_map unit_of, chip_of; /* by id */
	struct tdm_map waiting;          /* tensor node to buffer, for tensors that follow their buffer */
	struct {
		uint64_t index;
		uint32_t shape;
	} recent[64]; /* the last tensors, for buffers that follow their tensor */
	uint32_t recent_at;
	struct tdm_core_range range; /* the last set of cores that was one range, with its mask */
	struct tdm_core_mask range_mask;
	uint32_t range_cores;     /* 0: none yet */
	size_t fresh;             /* the buffer in state TDM_EXACT_NEW, + 1 */
	uint64_t steps;           /* starts and ends of functions */
	uint64_t program_nodes;   /* allocations of circular buffers and the like */
	uint64_t cached_programs; /* programs of which the capture has no such allocation */
	uint64_t undivided;       /* such allocations that may belong to another program than those they are added to */
	struct tdm_map begun;     /* ids of the devices on which a program began that has had no allocation yet */
	uint64_t replaced[TDM_PROGRAM_KINDS]; /* of programs replaced by the next; the runtime's figures still have them
					       */
	uint64_t unknown_frees, double_frees, rereports, views, ignored, partial_releases;
	struct tdm_capture_device *devices;
	size_t device_count;
};

int tdm_capture_exact_init(struct tdm_capture_exact *exact); /* 0 or -ENOMEM */
void tdm_capture_exact_done(struct tdm_capture_exact *exact);

/* Take what a sink gets. 0 or -ENOMEM. */
int tdm_capture_exact_apply(struct tdm_capture_exact *exact, const struct tdm_capture_node *node);
int tdm_capture_exact_device(struct tdm_capture_exact *exact, const struct tdm_capture_device *device);
int tdm_capture_exact_member(struct tdm_capture_exact *exact, uint64_t mesh, uint64_t chip);

/* After the last node: adds the buffers from before the capture to the peaks. */
int tdm_capture_exact_end(struct tdm_capture_exact *exact);

/* Sums at this moment, which explain differences: of all devices, and of the device that has the most. */
struct tdm_exact_now {
	int64_t dram_all, dram_top;
	int64_t l1_all;                   /* buffers as asked for */
	int64_t bank_all, bank_top;       /* buffers in one core */
	int64_t core_top, core_all;       /* everything in one core; all: buffers and sizes, added */
	int64_t core_plain, core_stacked; /* of the device with core_top */
	int64_t plain_all[TDM_PROGRAM_KINDS], replaced[TDM_PROGRAM_KINDS];
	int64_t plain_top[TDM_PROGRAM_KINDS], stacked_top[TDM_PROGRAM_KINDS], max_top[TDM_PROGRAM_KINDS];
	int64_t device_top, device_plain; /* L1 of the whole device; plain: with each size counted once */
	int64_t device_all;
};

void tdm_capture_exact_now(const struct tdm_capture_exact *exact, struct tdm_exact_now *now);

/* Buffers of a device that were alive at a node, of the given kinds (1 << kind), the largest first. Returns how many
 * there are; `out` gets at most `cap`. */
size_t tdm_capture_exact_alive(const struct tdm_capture_exact *exact, size_t unit, unsigned kinds, uint32_t at,
	const struct tdm_exact_buffer **out, size_t cap);

/* Program memory when a device's fullest core peaked, the largest first; only after the end. */
const struct tdm_exact_program *tdm_capture_exact_program(
	const struct tdm_capture_exact *exact, size_t unit, size_t *count);

/* L1 of each core when a device's fullest core peaked. */
struct tdm_exact_cores {
	uint64_t bytes[TDM_CAPTURE_GRID][TDM_CAPTURE_GRID]; /* [y][x], with `everywhere` */
	uint64_t everywhere;                                /* L1 buffers: the same on each core */
	uint64_t unplaced;                                  /* circular buffers and the like, on unknown cores */
	uint32_t grid_x, grid_y; /* as the capture describes it, and as far as programs used it; 0: unknown */
};

/* Only after the end. 0 or -ENOMEM. */
int tdm_capture_exact_cores(const struct tdm_capture_exact *exact, size_t unit, struct tdm_exact_cores *cores);

#endif
