/*
 * A pattern: the circular buffers of one core, and the kernels that fill and drain them.
 *
 * A kernel is a loop. Each of its stages waits for pages of the buffers that it pops, works on them, and pushes pages
 * to others; in every round it takes the same number of pages of a buffer, except that the last round takes what is
 * left. A kernel reads pages over the network, computes, or writes pages to the network. docs/formats/cb_pattern.md
 * describes the file.
 */
#ifndef TDM_DEVICE_CB_PATTERN_H
#define TDM_DEVICE_CB_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/str.h"
#include "device/core_speed.h"
#include "device/data_format.h"

/* Bounds of a file. They are far above what a core has, and keep the memory of a simulation within bounds. */
enum {
	TDM_PATTERN_BUFFERS_MAX = 4096,
	TDM_PATTERN_KERNELS_MAX = 4096,
	TDM_PATTERN_STAGES_MAX = 16384,
	TDM_PATTERN_USES_MAX = 65536,   /* of all stages together */
	TDM_PATTERN_CALLS_MAX = 262144, /* of one round of every kernel together */
	TDM_PATTERN_NAME_CAP = 32,
	TDM_PATTERN_NONE = 65535,
	TDM_PATTERN_CORES_MAX = 1024,
	TDM_PATTERN_AHEAD_MAX = 16,
	TDM_PATTERN_IDS_MAX = 15, /* transaction ids of the network */
	TDM_PATTERN_TIMES_MAX = 1024,
};
#define TDM_PATTERN_ENDING    ".cb"
/* Bounds that keep a simulation short. */
#define TDM_PATTERN_TILES_MAX UINT64_C(10000000)
#define TDM_PATTERN_PAGES_MAX UINT64_C(40000000) /* of all buffers together */
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
	uint16_t buffer; /* its place in `buffers` */
	uint32_t pages;  /* in each round */
};

/* A part of the list of uses. */
struct tdm_pattern_uses {
	uint32_t first, count;
};

struct tdm_pattern_stage {
	uint16_t kernel; /* its place in `kernels` */
	uint8_t work;    /* enum tdm_stage_work */
	uint8_t op;      /* enum tdm_tile_op, of a computation */
	bool is_l1;      /* transfers go to another core's L1 instead of DRAM */
	bool is_flush;   /* writes only have to leave the core before their pages are popped */
	uint32_t ahead;  /* blocks that are read before one barrier, at least 1 */
	uint32_t ids;    /* blocks in flight, each with a barrier of its own; 0: one barrier for all */
	uint32_t times;  /* in each round of its kernel, at least 1 */
	uint32_t factor; /* fidelity phases or vector instructions of the operation, at least 1 */
	double cycles;   /* of the math for one tile, instead of the operation; NAN: as the operation says */
	struct tdm_pattern_uses pops, pushes;
	uint64_t line; /* of the file; 0: none */
	uint32_t next; /* the next stage of its kernel; stage_count: none. Once the pattern is settled. */
};

struct tdm_pattern_buffer {
	uint32_t index; /* the number that the runtime knows it by */
	uint32_t pages; /* its depth */
	uint64_t page_bytes;
	uint64_t total; /* pages that go through it in a run */
	bool is_fixed;  /* the advice leaves its depth alone */
	uint64_t line;
	/* Once the pattern is settled. */
	uint16_t producer, consumer; /* kernels */
	uint32_t step;  /* its depth is a multiple of this: a push or pop must not cross the end of the buffer */
	uint32_t least; /* the least depth with which nobody waits for more pages than there are */
	struct tdm_pattern_flow {
		uint64_t pages, calls; /* in one round */
	} pushed, popped;
};

struct tdm_pattern_kernel {
	char name[TDM_PATTERN_NAME_CAP];
	/* Once the pattern is settled. */
	uint32_t first, last; /* stages */
	uint64_t rounds;      /* all of its buffers give the same number */
	uint16_t counted_by;  /* the buffer that gave it */
};

/* Its lists are its own; a pattern of zeroes is empty. */
struct tdm_cb_pattern {
	char name[TDM_PATTERN_NAME_CAP];
	struct tdm_pattern_buffer *buffers;
	struct tdm_pattern_kernel *kernels;
	struct tdm_pattern_stage *stages;
	struct tdm_pattern_use *uses; /* of the stages */
	size_t buffer_count, kernel_count, stage_count, use_count;
	size_t buffer_cap, kernel_cap, stage_cap, use_cap;
	uint64_t tiles;
	uint32_t cores; /* that run it at the same time and share the DRAM */
};

const char *tdm_tile_op_name(enum tdm_tile_op op);

/* Whether a file is a pattern by the ending of its name, TDM_PATTERN_ENDING. */
bool tdm_pattern_is_file(const char *name);

static inline const struct tdm_pattern_use *tdm_pattern_use(
	const struct tdm_cb_pattern *pattern, const struct tdm_pattern_uses *uses, size_t i)
{
	return &pattern->uses[uses->first + i];
}

void tdm_pattern_done(struct tdm_cb_pattern *pattern);

/* 0, or -ENOMEM; then *copy is empty. */
int tdm_pattern_copy(const struct tdm_cb_pattern *pattern, struct tdm_cb_pattern *copy);

/*
 * Finds the producers and consumers and checks that everything fits together. 0, or TDM_EREFUSED with the line and what
 * to change in diag.
 */
int tdm_pattern_settle(struct tdm_cb_pattern *pattern, struct tdm_diag *diag);

/* Reads a pattern. Constants that the file sets are applied to *speed, and the ones before stay. 0, or a negative code
 * with line and column in diag; then the pattern is empty and *speed unchanged. */
int tdm_pattern_parse(
	struct tdm_str text, struct tdm_cb_pattern *pattern, struct tdm_core_speed *speed, struct tdm_diag *diag);
int tdm_pattern_load(
	const char *path, struct tdm_cb_pattern *pattern, struct tdm_core_speed *speed, struct tdm_diag *diag);

#endif
