/* What a reader wants to know of the exact account of a capture: which operations used most, which device matters
 * most. After the end of the account. */
#ifndef TDM_ANALYZE_CAPTURE_OPERATIONS_H
#define TDM_ANALYZE_CAPTURE_OPERATIONS_H

#include "analyze/capture_exact.h"
#include "analyze/capture_stock.h"

/* A path with the figures of everything that it called. */
struct tdm_capture_operation {
	uint32_t path;
	uint64_t calls, buffers, dram_bytes, l1_bytes;
	int64_t core_peak; /* INT64_MIN: it never changed L1 */
};

/* All paths, those with the highest peak first. NULL when out of memory or when there are none; free() it. */
struct tdm_capture_operation *tdm_capture_operations(const struct tdm_capture_exact *exact, size_t *count);

/* The peak of a device, which the runtime has as a figure for all devices; INT64_MIN: it needs what is not recorded,
 * bytes per bank of L1 buffers or cores of circular buffers. */
int64_t tdm_capture_peak(const struct tdm_capture_exact *exact, size_t unit, enum tdm_stock_figure figure);

/* The device that matters most for a figure: the index of the unit with the highest peak, of what is recorded;
 * SIZE_MAX: there is none. */
size_t tdm_capture_fullest(const struct tdm_capture_exact *exact, enum tdm_stock_figure figure);

/* The devices by their numbers. */
void tdm_capture_devices(const struct tdm_capture_exact *exact, const struct tdm_exact_unit *list[TDM_EXACT_UNITS_MAX]);

/* What the capture says of a device, by its own number or that of a chip of it; or the only one there is; else NULL. */
const struct tdm_capture_device *tdm_capture_description(const struct tdm_capture_exact *exact, size_t unit);

/* Banks of a kind on a device, from the report's description of it; 0: unknown. */
uint64_t tdm_capture_banks(const struct tdm_capture_exact *exact, size_t unit, enum tdm_kind kind);

#endif
