/*
 * Analyses a program's memory, operation by operation, from a ttnn report: the buffers live after each operation, when
 * each kind of memory was fullest and which buffers it contained at that time, and which buffers are left at the end.
 * Figures are bytes in one bank, because the report contains no others; the banks of a kind are in lockstep. A report
 * may have several ranks (hosts), each with its own operations and devices.
 *
 * The memory that the analysis needs is bounded by the number of operations and of simultaneously live buffers, not by
 * the number of rows in the report.
 */
#ifndef TDM_ANALYZE_OPERATION_MEMORY_H
#define TDM_ANALYZE_OPERATION_MEMORY_H

#include "analyze/capture/capture_summary.h"
#include "analyze/live/region_map.h"
#include "base/arena.h"
#include "base/map.h"
#include "model/event/live_set.h"
#include "model/event/phase_run.h"
#include "model/event/record.h"
#include "model/result/finding.h"
#include "live/join/intern.h"

enum {
	TDM_OPERATION_KINDS = TDM_KIND_TRACE + 1, /* DRAM, L1, L1_SMALL, TRACE; each kind is its index */
	TDM_OPERATION_GRID = TDM_CAPTURE_GRID,
};
#define TDM_OPERATION_NONE UINT32_MAX

struct tdm_operation_buffer {
	uint64_t address, bytes; /* address and size in one bank */
	uint32_t unit;           /* index of the unit; used only while reading */
	uint32_t since;          /* index of the first operation after which the buffer existed */
	uint32_t seen;           /* index of the last such operation; TDM_OPERATION_NONE if the slot is spare */
	const struct tdm_operation_tensor *tensor; /* the tensor in the buffer; NULL if unknown */
};

struct tdm_operation_list {
	struct tdm_operation_buffer *at; /* largest first, after the end */
	size_t count, cap;
};

/* One kind of memory on one device. */
struct tdm_operation_unit {
	uint32_t rank, device;
	uint8_t kind; /* enum tdm_kind */
	uint64_t bytes, buffers;
	uint32_t seen; /* index of the operation to which `bytes` and `buffers` belong */
	uint64_t peak_bytes;
	uint32_t peak_operation; /* index of the operation at the peak */
	struct tdm_operation_list peak, end;
	struct tdm_region_map map; /* map at the peak, set at the end: spans have no buffers; largest holes first */
	uint64_t end_bytes;
	uint32_t banks;     /* 0 if unknown */
	uint64_t bank_size; /* may be TDM_BYTES_UNKNOWN */
	/* `banks` and `bank_size` are not from the report, but common to all cards with such an L1 */
	bool by_card;
	bool is_new_peak;
};

struct tdm_operation {
	uint64_t id;
	uint32_t rank;
	const char *name; /* empty if unknown */
	uint64_t duration_ns;
	/* bytes after the operation, on the fullest device; TDM_BYTES_UNKNOWN without buffers */
	uint64_t bytes[TDM_OPERATION_KINDS];
	uint64_t buffers; /* number of buffers on all devices */
	/* bytes of circular buffers in the fullest core during the operation; TDM_BYTES_UNKNOWN without a graph */
	uint64_t cb_bytes;
};

struct tdm_operation_tensor {
	uint64_t key; /* key of the place */
	uint64_t id;
	uint32_t next;               /* next entry for the same tensor */
	uint32_t producer, last_use; /* operation indices; TDM_OPERATION_NONE if not recorded */
	const char *text;            /* shape, type and layout; empty if unknown */
};

struct tdm_operation_memory {
	bool has_head, has_buffers, has_graphs;
	char schema[32];
	struct tdm_intern texts;
	struct tdm_arena error_texts;
	struct tdm_operation *operations;
	size_t operation_count, operation_cap;
	struct tdm_operation_unit *units; /* after the end, sorted by rank, device and kind */
	size_t unit_count, unit_cap;
	struct tdm_capture_device *devices;
	size_t device_count, device_cap;
	struct tdm_report_row *errors; /* the first errors */
	size_t errors_kept, errors_cap;
	uint64_t error_count;
	uint64_t refused;    /* number of nonsensical rows */
	uint64_t duplicates; /* number of rows that repeat a buffer already listed for the operation */
	uint64_t left_out;   /* number of operations, buffers and tensors beyond the limits */
	/* The L1 of each core at the peak of the device with the fullest L1. */
	size_t core_unit; /* SIZE_MAX if there is none */
	bool has_cores;
	uint64_t core_bytes[TDM_OPERATION_GRID][TDM_OPERATION_GRID]; /* indexed [y][x] */
	uint32_t grid_x, grid_y;

	/* While reading: */
	struct tdm_live_set set; /* live buffers by place */
	struct tdm_operation_buffer *live;
	size_t live_cap;
	struct tdm_map by_unit, by_operation;
	bool is_open;    /* an operation is being read */
	bool is_settled; /* all operations were read */
	bool has_graph;  /* `graph` contains nodes of the current operation */
	struct tdm_capture_summary graph;
	struct tdm_map wanted;    /* places at a peak or at the end */
	struct tdm_map by_tensor; /* tensor id to its first entry */
	struct tdm_operation_tensor *tensors;
	size_t tensor_count, tensor_cap;
};

void tdm_operation_memory_init(struct tdm_operation_memory *memory);
/* In order: a record sink; a function to call after the last record; and one that releases the memory. All expect a
 * struct tdm_operation_memory. */
int tdm_operation_memory_take(void *memory, const struct tdm_record *record);
void tdm_operation_memory_end(void *memory);
void tdm_operation_memory_done(void *memory);

/* The unit of this kind with the highest peak; NULL if memory of this kind was never used. */
const struct tdm_operation_unit *tdm_operation_memory_fullest(
	const struct tdm_operation_memory *memory, enum tdm_kind kind);
/* "" if unknown. */
const char *tdm_operation_name(const struct tdm_operation_memory *memory, uint32_t operation);
/* Bytes of a unit over all banks; TDM_BYTES_UNKNOWN if the number of banks is unknown. */
uint64_t tdm_operation_all_banks(const struct tdm_operation_unit *unit, uint64_t bytes);

/* The bytes of L1_SMALL in a core of a device; may be TDM_BYTES_UNKNOWN. */
uint64_t tdm_operation_l1_small(const struct tdm_capture_device *device);

void tdm_operation_memory_find(const struct tdm_operation_memory *memory, struct tdm_findings *found);

/* Converts the operations of each rank to the phases of a run. 0, or TDM_EUNKNOWN with the reason in diag if nothing is
 * known about DRAM. */
int tdm_operation_memory_runs(
	const struct tdm_operation_memory *memory, struct tdm_phase_runs *runs, struct tdm_diag *diag);

#endif
