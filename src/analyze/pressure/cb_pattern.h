/*
 * A pattern: the circular buffers of one core, and the kernels that fill and drain them.
 *
 * A kernel is a loop. Each stage waits for pages from the buffers that it pops, works on them, and pushes pages to
 * other buffers. Every round takes the same number of pages from a buffer, except that the last round takes the rest. A
 * kernel reads pages over the network, computes, or writes pages to the network. docs/formats/cb_pattern.md describes
 * the file.
 */
#ifndef TDM_ANALYZE_CB_PATTERN_H
#define TDM_ANALYZE_CB_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/str.h"
#include "analyze/pressure/core_speed.h"
#include "model/card/data_format.h"

/* Limits on a file: far above those of a real core, but low enough to bound a simulation's memory. */
enum {
	TDM_PATTERN_BUFFERS_MAX = 4096,
	TDM_PATTERN_KERNELS_MAX = 4096,
	TDM_PATTERN_STAGES_MAX = 16384,
	TDM_PATTERN_USES_MAX = 65536,   /* uses in all stages together */
	TDM_PATTERN_CALLS_MAX = 262144, /* calls in one round of all kernels together */
	TDM_PATTERN_NAME_CAP = 32,
	TDM_PATTERN_NONE = 65535,
	TDM_PATTERN_CORES_MAX = 1024,
	TDM_PATTERN_AHEAD_MAX = 16,
	TDM_PATTERN_IDS_MAX = 15, /* transaction ids of the network */
	TDM_PATTERN_TIMES_MAX = 1024,
};
#define TDM_PATTERN_ENDING    ".cb"
/* Limits that keep a simulation short. */
#define TDM_PATTERN_TILES_MAX UINT64_C(10000000)
#define TDM_PATTERN_PAGES_MAX UINT64_C(40000000) /* pages moved through all buffers together */
#define TDM_PATTERN_PAGE_MAX  UINT64_C(1073741824)

enum tdm_stage_work { TDM_STAGE_READ, TDM_STAGE_COMPUTE, TDM_STAGE_WRITE };

/* Operations of a compute stage. id, name */
#define TDM_TILE_OP_LIST(X) \
	X(COPY, "copy")     \
	X(RELU, "relu")     \
	X(ADD, "add")       \
	X(MUL, "mul")       \
	X(MATMUL, "matmul") \
	X(REDUCE, "reduce") \
	X(SFPU, "sfpu")

enum tdm_tile_op {
#define X(id, name) TDM_TILE_##id,
	TDM_TILE_OP_LIST(X)
#undef X
		TDM_TILE_OPS
};

struct tdm_pattern_use {
	uint16_t buffer; /* index in `buffers` */
	uint32_t pages;  /* pages per round */
};

/* A range of the list of uses. */
struct tdm_pattern_uses {
	uint32_t first, count;
};

struct tdm_pattern_stage {
	uint16_t kernel; /* index in `kernels` */
	uint8_t work;    /* enum tdm_stage_work */
	uint8_t op;      /* enum tdm_tile_op, for a compute stage */
	bool is_l1;      /* transfers go to another core's L1 instead of DRAM */
	bool is_flush;   /* writes only have to leave the core before their pages are popped */
	uint32_t ahead;  /* number of blocks read before one barrier, at least 1 */
	uint32_t ids;    /* number of blocks in flight, each with its own barrier; 0 for one barrier for all */
	uint32_t times;  /* repetitions per round of the kernel, at least 1 */
	uint32_t factor; /* number of fidelity phases or vector instructions of the operation, at least 1 */
	double cycles;   /* math cycles per tile, overriding those of the operation; NAN to keep those */
	struct tdm_pattern_uses pops, pushes;
	uint64_t line; /* line in the file; 0 if there is none */
	uint32_t next; /* set when settled: index of the kernel's next stage; stage_count if there is none */
};

struct tdm_pattern_buffer {
	uint32_t index; /* the runtime's buffer index */
	uint32_t pages; /* depth */
	uint64_t page_bytes;
	uint64_t total; /* number of pages that pass through the buffer in a run */
	bool is_fixed;  /* advice must not change the depth */
	uint64_t line;
	/* Set when the pattern is settled: */
	uint16_t producer, consumer; /* indices of kernels */
	/* the depth is a multiple of this, because a push or pop must not cross the end of the buffer */
	uint32_t step;
	uint32_t least; /* smallest depth with which no thread waits for more pages than the buffer has */
	uint64_t round_pages[2], round_calls[2]; /* per round: popped and pushed */
};

struct tdm_pattern_kernel {
	char name[TDM_PATTERN_NAME_CAP];
	/* Set when the pattern is settled: */
	uint32_t first, last; /* indices of stages */
	uint64_t rounds;      /* number of rounds, the same for all buffers of the kernel */
	uint16_t counted_by;  /* the buffer that determined `rounds` */
};

/* A pattern owns its lists. A zeroed pattern is empty. */
struct tdm_cb_pattern {
	char name[TDM_PATTERN_NAME_CAP];
	struct tdm_pattern_buffer *buffers;
	struct tdm_pattern_kernel *kernels;
	struct tdm_pattern_stage *stages;
	struct tdm_pattern_use *uses; /* uses of all stages */
	size_t buffer_count, kernel_count, stage_count, use_count;
	size_t buffer_cap, kernel_cap, stage_cap, use_cap;
	uint64_t tiles;
	uint32_t cores; /* number of cores that run the pattern simultaneously and share the DRAM */
};

/* Whether a file name ends in TDM_PATTERN_ENDING. */
bool tdm_pattern_is_file(const char *name);

static inline const struct tdm_pattern_use *tdm_pattern_use(
	const struct tdm_cb_pattern *pattern, const struct tdm_pattern_uses *uses, size_t i)
{
	return &pattern->uses[uses->first + i];
}

/* The greatest common divisor. */
uint64_t tdm_common_divisor(uint64_t a, uint64_t b);

void tdm_pattern_done(struct tdm_cb_pattern *pattern);

void tdm_pattern_copy(const struct tdm_cb_pattern *pattern, struct tdm_cb_pattern *copy);

/* Finds producers and consumers, and checks that everything fits together. 0, or TDM_EREFUSED with the line and the
 * necessary change in diag. */
int tdm_pattern_settle(struct tdm_cb_pattern *pattern, struct tdm_diag *diag);

/* Reads a pattern. Applies the constants set in the file to *speed and leaves the others unchanged. 0, or a negative
 * code with line and column in diag; then the pattern is empty and *speed unchanged. */
int tdm_pattern_parse(
	struct tdm_str text, struct tdm_cb_pattern *pattern, struct tdm_core_speed *speed, struct tdm_diag *diag);
int tdm_pattern_load(
	const char *path, struct tdm_cb_pattern *pattern, struct tdm_core_speed *speed, struct tdm_diag *diag);

#endif
