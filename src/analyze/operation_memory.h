/*
 * The memory of a program operation by operation, from ttnn's report: what was alive after each, when each kind was
 * fullest and with what, and what was left at the end. Figures are bytes of one bank, which is all that the report has;
 * the banks of a kind are in lockstep. A report may have several ranks (hosts); each has its own operations and
 * devices.
 *
 * Memory is bounded by the operations and by what is alive at one time, not by the rows of the report.
 */
#ifndef TDM_ANALYZE_OPERATION_MEMORY_H
#define TDM_ANALYZE_OPERATION_MEMORY_H

#include "analyze/capture_summary.h"
#include "base/map.h"
#include "event/record.h"
#include "state/intern.h"

enum {
	TDM_OPERATION_KINDS = TDM_KIND_TRACE + 1, /* DRAM, L1, L1_SMALL, TRACE: their kind is their index */
	TDM_OPERATION_GRID = TDM_CAPTURE_GRID,
};
#define TDM_OPERATION_NONE UINT32_MAX

struct tdm_operation_buffer {
	uint64_t address, bytes; /* in one bank */
	uint32_t unit;           /* index, only while reading */
	uint32_t since;          /* index of the operation after which it was there for the first time */
	uint32_t seen;           /* the last one */
	uint32_t tensor;         /* index of the tensor that was there; TDM_OPERATION_NONE: unknown */
};

struct tdm_operation_list {
	struct tdm_operation_buffer *at; /* the largest first, after the end */
	size_t count, cap;
};

/* One kind of memory on one device. */
struct tdm_operation_unit {
	uint32_t rank, device;
	uint8_t kind; /* enum tdm_kind */
	uint64_t bytes, buffers;
	uint32_t seen; /* the operation that these are of */
	uint64_t peak_bytes;
	uint32_t peak_operation; /* index */
	struct tdm_operation_list peak, end;
	uint64_t end_bytes;
	uint32_t banks;     /* 0: unknown */
	uint64_t bank_size; /* TDM_BYTES_UNKNOWN */
	bool by_card;       /* the report does not say these; they are those of all cards with such an L1 */
	bool is_new_peak;
};

struct tdm_operation {
	uint64_t id;
	uint32_t rank, name; /* a text; 0: unknown */
	uint64_t duration_ns;
	uint64_t bytes[TDM_OPERATION_KINDS]; /* after it, on the fullest device; TDM_BYTES_UNKNOWN without buffers */
	uint64_t buffers;                    /* on all devices */
	uint64_t
		cb_bytes; /* of circular buffers in the fullest core, while it ran; TDM_BYTES_UNKNOWN without a graph */
};

struct tdm_operation_tensor {
	uint64_t key; /* of the buffer */
	uint64_t id;
	uint32_t next;               /* of the same tensor */
	uint32_t producer, last_use; /* indices of operations; TDM_OPERATION_NONE: not recorded */
	uint32_t text;               /* shape, type and layout; 0: unknown */
};

struct tdm_operation_error {
	uint64_t operation;
	uint32_t rank;
	char name[TDM_CAPTURE_TEXT_CAP];
	char message[TDM_CAPTURE_ERROR_CAP];
};

struct tdm_operation_memory {
	bool has_head, has_buffers, has_graphs;
	char schema[32];
	struct tdm_intern texts;
	struct tdm_operation *operations;
	size_t operation_count, operation_cap;
	struct tdm_operation_unit *units; /* by rank, device and kind after the end */
	size_t unit_count, unit_cap;
	struct tdm_capture_device *devices;
	size_t device_count, device_cap;
	struct tdm_operation_error *errors; /* the first ones */
	size_t errors_kept, errors_cap;
	uint64_t error_count;
	uint64_t refused;    /* rows that make no sense */
	uint64_t duplicates; /* rows of a buffer that is already listed for the operation */
	uint64_t left_out;   /* operations, buffers and tensors beyond the limits */
	/* The L1 of each core at the peak of the device with the fullest L1. */
	size_t core_unit; /* SIZE_MAX: there is none */
	bool has_cores;
	uint64_t core_bytes[TDM_OPERATION_GRID][TDM_OPERATION_GRID]; /* [y][x] */
	uint32_t grid_x, grid_y;

	/* While reading. */
	struct tdm_operation_list live;
	struct tdm_map by_place, by_unit, by_operation;
	bool is_open;    /* an operation is being read */
	bool is_settled; /* all operations were read */
	bool has_graph;  /* `graph` has nodes of the operation */
	struct tdm_capture_summary graph;
	struct tdm_map wanted;    /* places at a peak or at the end */
	struct tdm_map by_tensor; /* the first one with an id */
	struct tdm_operation_tensor *tensors;
	size_t tensor_count, tensor_cap;
};

int tdm_operation_memory_init(struct tdm_operation_memory *memory); /* 0 or -ENOMEM; call done in both cases */
void tdm_operation_memory_done(struct tdm_operation_memory *memory);

/* For a sink. 0 or -ENOMEM. */
int tdm_operation_memory_take(void *memory, const struct tdm_record *record);
/* After the last record. 0 or -ENOMEM. */
int tdm_operation_memory_end(struct tdm_operation_memory *memory);

/* The unit of a kind with the highest peak; NULL: nothing of this kind was ever alive. */
const struct tdm_operation_unit *tdm_operation_memory_fullest(
	const struct tdm_operation_memory *memory, enum tdm_kind kind);
/* The description of a unit's device; NULL: there is none. */
const struct tdm_capture_device *tdm_operation_memory_device(
	const struct tdm_operation_memory *memory, const struct tdm_operation_unit *unit);
/* "" when it is unknown. */
const char *tdm_operation_name(const struct tdm_operation_memory *memory, uint32_t operation);
/* The whole bytes of a unit, over its banks; TDM_BYTES_UNKNOWN when their number is. */
uint64_t tdm_operation_all_banks(const struct tdm_operation_unit *unit, uint64_t bytes);

struct tdm_region_map;
/* Where the buffers of a list are: the holes between them. 0 or -ENOMEM; call tdm_region_map_done() in both cases. The
 * spans have no buffers. */
int tdm_operation_map(const struct tdm_operation_memory *memory, const struct tdm_operation_unit *unit,
	const struct tdm_operation_list *list, struct tdm_region_map *map);

struct tdm_findings;
void tdm_operation_memory_find(const struct tdm_operation_memory *memory, struct tdm_findings *found);

struct tdm_phase_runs;
/* The operations of each rank as the phases of a run. 0, -ENOMEM, or TDM_EUNKNOWN with the reason in diag when nothing
 * is known about DRAM. */
int tdm_operation_memory_runs(
	const struct tdm_operation_memory *memory, struct tdm_phase_runs *runs, struct tdm_diag *diag);

#endif
