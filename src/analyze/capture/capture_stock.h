/*
 * Computes, in one pass and exactly to the byte, the figures that the runtime's own functions compute from a graph
 * capture: the L1 peak (extract_peak_L1_memory_usage), one core's peaks (extract_resource_usage_per_core) and DRAM use
 * (extract_dram_usage). Their double counts, sums over devices and wrapped counters are reproduced on purpose, so that
 * the figures can be compared with other runtime output. capture_exact.h computes the correct figures.
 *
 * Where those functions would throw or have undefined behaviour, the figure is unknown and `why` gives the place and
 * the reason.
 */
#ifndef TDM_ANALYZE_CAPTURE_STOCK_H
#define TDM_ANALYZE_CAPTURE_STOCK_H

#include "model/event/capture_node.h"

/* Each of the three functions fails independently. */
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

struct tdm_capture_stock *tdm_capture_stock_new(void);
void tdm_capture_stock_free(struct tdm_capture_stock *stock); /* accepts NULL */

/* Processes the next node. Returns a bit (1 << figure) for each peak that the node raised, and TDM_STOCK_RAISED_BEFORE
 * if the node ends a run of inputs that raised l1_peak. */
unsigned tdm_capture_stock_apply(struct tdm_capture_stock *stock, const struct tdm_capture_node *node);

struct tdm_stock_result {
	uint64_t value[TDM_STOCK_FIGURES]; /* dram_peak is never negative */
	bool known[TDM_STOCK_FIGURES];
	bool wrapped[TDM_STOCK_FIGURES];               /* the runtime's counter went below zero or overflowed */
	char why[TDM_STOCK_GROUPS][TDM_STOCK_WHY_CAP]; /* place and reason if the group is unknown; "" if known */
	uint64_t twice_bytes;                          /* buffer bytes counted twice in l1_peak, at that peak */
	uint64_t input_bytes; /* bytes of buffers older than the capture counted in l1_peak, at that peak */
	uint64_t view_bytes;  /* bytes of globally allocated circular buffers counted in l1_peak, at that peak */
};

/* Call after the last node. The result is borrowed from `stock`. */
const struct tdm_stock_result *tdm_capture_stock_end(struct tdm_capture_stock *stock);

#endif
