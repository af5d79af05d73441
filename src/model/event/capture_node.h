/*
 * One node of a graph capture, decoded but not interpreted. A capture contains more than events can express: the order
 * of nodes, their connections, missing fields. The runtime's own figures depend on these details, so capture analysers
 * work on nodes. For all other uses, the source turns the same nodes into events.
 */
#ifndef TDM_MODEL_CAPTURE_NODE_H
#define TDM_MODEL_CAPTURE_NODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/kind.h"
#include "base/str.h"
#include "model/event/event.h"

/* id, name in the file */
#define TDM_CAPTURE_LIST(X)                                    \
	X(CAPTURE_START, "capture_start")                      \
	X(CAPTURE_END, "capture_end")                          \
	X(FUNCTION_START, "function_start")                    \
	X(FUNCTION_END, "function_end")                        \
	X(TENSOR, "tensor")                                    \
	X(BUFFER, "buffer")                                    \
	X(BUFFER_ALLOCATE, "buffer_allocate")                  \
	X(BUFFER_DEALLOCATE, "buffer_deallocate")              \
	X(CB_ALLOCATE, "circular_buffer_allocate")             \
	X(CB_DEALLOCATE_ALL, "circular_buffer_deallocate_all") \
	X(DFB_ALLOCATE, "dataflow_buffer_allocate")            \
	X(SCRATCHPAD_ALLOCATE, "scratchpad_allocate")          \
	X(ERROR, "error")

enum tdm_capture_type {
	TDM_CAPTURE_UNTYPED, /* node_type is missing or not a string */
	TDM_CAPTURE_OTHER,   /* an unknown node_type */
#define X(id, name) TDM_CAPTURE_##id,
	TDM_CAPTURE_LIST(X)
#undef X
};

/* A number may be missing, and old captures write numbers as text. */
enum tdm_capture_state {
	TDM_CAPTURE_ABSENT,
	TDM_CAPTURE_GIVEN,
	TDM_CAPTURE_NOT_A_NUMBER,
	TDM_CAPTURE_TOO_LARGE, /* does not fit in a signed 64-bit integer */
};

struct tdm_capture_number {
	int64_t value; /* 0 unless given */
	uint8_t state; /* enum tdm_capture_state */
};

enum tdm_capture_params {
	TDM_CAPTURE_PARAMS_ABSENT,
	TDM_CAPTURE_PARAMS_NULL,
	TDM_CAPTURE_PARAMS_OBJECT,
	TDM_CAPTURE_PARAMS_OTHER,
};

/* A buffer's parameter `type`, which is all that the runtime's own figures are based on. */
enum tdm_capture_memory {
	TDM_CAPTURE_MEMORY_ABSENT,
	TDM_CAPTURE_MEMORY_DRAM,
	TDM_CAPTURE_MEMORY_L1,
	TDM_CAPTURE_MEMORY_OTHER,
};

/* TDM_CAPTURE_GRID: core coordinates are less than this; the largest grid is about half that size. */
enum { TDM_CAPTURE_GRID = 32, TDM_CAPTURE_RANGES_MAX = 256, TDM_CAPTURE_TEXT_CAP = 256, TDM_CAPTURE_ERROR_CAP = 2048 };

/* More than any real memory; larger sizes and addresses are refused. */
#define TDM_CAPTURE_SIZE_MAX (INT64_C(1) << 46)

struct tdm_capture_node {
	uint64_t index;  /* index in the array of nodes, from 0 */
	uint64_t offset; /* offset in the file of the node's first byte */
	uint8_t type;    /* enum tdm_capture_type */
	uint8_t params;  /* enum tdm_capture_params */
	uint8_t memory;  /* enum tdm_capture_memory */
	bool usable;     /* the node's fields make sense for its type; the runtime's own rules apply in either case */
	bool has_name;
	bool has_ranges;                               /* core_range_set is present */
	struct tdm_capture_number counter, connection; /* connection: only the first connection */
	struct tdm_capture_number size, address, bank_size, page_size, cores, device, buffer_type;
	struct tdm_capture_number globally_allocated, borrows_memory;
	/* Everything from here on is borrowed until the next node. */
	struct tdm_str name, shape, dtype; /* name: the function; for an error, the operation that failed */
	struct tdm_str error;              /* the error message */
	const struct tdm_core_range *ranges;
	uint32_t range_count;
};

/* A device in the report object. A missing number is 0; a missing id is unknown. */
struct tdm_capture_device {
	uint64_t id;             /* or TDM_BYTES_UNKNOWN */
	uint32_t rank;           /* rank of its host, if the report covers several hosts; else 0 */
	uint64_t grid_x, grid_y; /* grid of compute cores */
	uint64_t worker_l1_size, l1_banks, l1_bank_size;
	uint64_t l1_base; /* first address for circular buffers */
	uint64_t dram_channels, dram_channel_size;
	char arch[24];
};

/* Totals, given at the end of a capture. */
struct tdm_capture_counts {
	uint64_t nodes, refused, other_types, bytes;
	uint64_t cut_texts; /* number of strings that were cut because they were too long */
	bool is_report;     /* the nodes are wrapped in an object with devices and metadata */
};

const char *tdm_capture_type_name(enum tdm_capture_type type);

/* The kind of memory of a buffer, an allocation or a release, taken from buffer_type if given, else from `type`. */
enum tdm_kind tdm_capture_kind(const struct tdm_capture_node *node);

static inline bool tdm_capture_is_program_memory(enum tdm_capture_type type)
{
	return type == TDM_CAPTURE_CB_ALLOCATE || type == TDM_CAPTURE_DFB_ALLOCATE ||
	       type == TDM_CAPTURE_SCRATCHPAD_ALLOCATE;
}

/* Whether the memory is globally allocated or borrowed, so that it counts no bytes. */
static inline bool tdm_capture_is_view(const struct tdm_capture_node *node)
{
	return (node->type == TDM_CAPTURE_CB_ALLOCATE && node->globally_allocated.value == 1) ||
	       (node->type == TDM_CAPTURE_DFB_ALLOCATE && node->borrows_memory.value == 1);
}

#endif
