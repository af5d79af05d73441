/* What a reader wants to know of the exact account of a capture: which operations used most, which device matters most,
 * and what is not known. After the end of the account. */
#ifndef TDM_ANALYZE_CAPTURE_OPERATIONS_H
#define TDM_ANALYZE_CAPTURE_OPERATIONS_H

#include "analyze/capture_exact.h"

/* A path with the figures of everything that it called. */
struct tdm_capture_operation {
	uint32_t path;
	uint64_t calls, buffers, dram_bytes, l1_bytes;
	int64_t core_peak; /* INT64_MIN: it never changed L1 */
};

/* All paths, those with the highest peak first. NULL when out of memory or when there are none; free() it. */
struct tdm_capture_operation *tdm_capture_operations(const struct tdm_capture_exact *exact, size_t *count);

/* The device that matters most for a figure: the index of the unit with the highest peak; SIZE_MAX: there is none. */
size_t tdm_capture_fullest_core(const struct tdm_capture_exact *exact);
size_t tdm_capture_fullest_dram(const struct tdm_capture_exact *exact);

/* The devices by their numbers: indices of units. */
void tdm_capture_device_order(const struct tdm_capture_exact *exact, uint16_t order[TDM_EXACT_UNITS_MAX]);

/* Banks of a kind on a device, from the report's description of it; 0: unknown. */
uint64_t tdm_capture_banks(const struct tdm_capture_exact *exact, size_t unit, enum tdm_kind kind);

/* Whether bytes per bank are known for all L1 buffers that were allocated on the device. */
bool tdm_capture_banks_known(const struct tdm_exact_unit *unit);

/* Whether the cores of all program memory on the device are. */
bool tdm_capture_cores_known(const struct tdm_capture_exact *exact, size_t unit);

/* What is not recorded of the capture as a whole. */
struct tdm_capture_gaps {
	uint64_t existing;      /* buffers from before the capture */
	uint64_t without_banks; /* of those in L1, the ones whose bytes per core are not recorded */
	bool cores;             /* cores of circular buffers */
};
struct tdm_capture_gaps tdm_capture_gaps(const struct tdm_capture_exact *exact);

#endif
