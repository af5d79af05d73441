/*
 * The figures that the runtime's own functions compute from a graph capture, to the byte, in one pass: the peak of L1
 * (extract_peak_L1_memory_usage), the peaks of one core (extract_resource_usage_per_core) and the use of DRAM
 * (extract_dram_usage). Their double counts, sums over devices and wrapped counters are reproduced on purpose, so that
 * the figures can be compared with those from elsewhere. capture_exact.h has the right ones.
 *
 * Where those functions would throw or have undefined behaviour, the figure is unknown and `why` says where and why.
 */
#ifndef TDM_ANALYZE_CAPTURE_STOCK_H
#define TDM_ANALYZE_CAPTURE_STOCK_H

#include "event/capture_node.h"

/* Each of the three functions fails on its own. */
enum tdm_stock_group { TDM_STOCK_DRAM, TDM_STOCK_L1, TDM_STOCK_CORE, TDM_STOCK_GROUPS };

enum { TDM_STOCK_WHY_CAP = 120 };

/* id, key in JSON, group */
#define TDM_STOCK_LIST(X)                                     \
	X(DRAM_PEAK, "dram_peak", DRAM)                       \
	X(DRAM_ALLOCATIONS, "dram_allocations", DRAM)         \
	X(DRAM_DEALLOCATIONS, "dram_deallocations", DRAM)     \
	X(L1_PEAK, "l1_peak", L1)                             \
	X(CORE_PEAK_CB, "core_peak_cb", CORE)                 \
	X(CORE_PEAK_L1, "core_peak_l1", CORE)                 \
	X(CORE_PEAK_DFB, "core_peak_dfb", CORE)               \
	X(CORE_PEAK_SCRATCHPAD, "core_peak_scratchpad", CORE) \
	X(CORE_PEAK_TOTAL, "core_peak_total", CORE)

enum tdm_stock_figure {
#define X(id, key, group) TDM_STOCK_##id,
	TDM_STOCK_LIST(X)
#undef X
		TDM_STOCK_FIGURES
};

#define TDM_STOCK_RAISED_BEFORE (1U << TDM_STOCK_FIGURES)

const char *tdm_stock_key(enum tdm_stock_figure figure);
enum tdm_stock_group tdm_stock_group_of(enum tdm_stock_figure figure);

struct tdm_capture_stock;

struct tdm_capture_stock *tdm_capture_stock_new(void);        /* NULL only when out of memory */
void tdm_capture_stock_free(struct tdm_capture_stock *stock); /* NULL is allowed */

/* The next node. 0 or -ENOMEM. *raised gets a bit (1 << figure) for each peak that this node raised, and
 * TDM_STOCK_RAISED_BEFORE when it ends a run of inputs that raised l1_peak. */
int tdm_capture_stock_apply(struct tdm_capture_stock *stock, const struct tdm_capture_node *node, unsigned *raised);

struct tdm_stock_result {
	uint64_t value[TDM_STOCK_FIGURES]; /* dram_peak is never below 0 */
	bool known[TDM_STOCK_FIGURES];
	bool wrapped[TDM_STOCK_FIGURES]; /* the runtime's counter went below zero or overflowed on the way */
	char why[TDM_STOCK_GROUPS][TDM_STOCK_WHY_CAP]; /* empty: known */
	uint64_t twice_bytes;                          /* of buffers that l1_peak counts twice, at that peak */
	uint64_t input_bytes; /* of buffers from before the capture that l1_peak counts, at that peak */
	uint64_t view_bytes;  /* of globally allocated circular buffers that l1_peak counts, at that peak */
};

/* After the last node. Borrowed from the stock. */
const struct tdm_stock_result *tdm_capture_stock_end(struct tdm_capture_stock *stock);

#endif
