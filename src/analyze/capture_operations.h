/* Questions to the exact account of a capture, after its end: which operations used the most, which device matters
 * most. */
#ifndef TDM_ANALYZE_CAPTURE_OPERATIONS_H
#define TDM_ANALYZE_CAPTURE_OPERATIONS_H

#include "analyze/capture_exact.h"
#include "analyze/capture_stock.h"

/* A path, with the figures of everything it called. */
struct tdm_capture_operation {
	uint32_t path;
	uint64_t calls, buffers, dram_bytes, l1_bytes;
	int64_t core_peak; /* INT64_MIN: it never changed L1 */
};

/* All paths, the highest peak first. NULL when out of memory or when there are none; free() it. */
struct tdm_capture_operation *tdm_capture_operations(const struct tdm_capture_exact *exact, size_t *count);

/* One device's peak of a figure that the runtime gives for all devices together. INT64_MIN: the capture does not record
 * what it needs (bytes per bank of L1 buffers, or cores of circular buffers). */
int64_t tdm_capture_peak(const struct tdm_capture_exact *exact, size_t unit, enum tdm_stock_figure figure);

/* The device that matters most for a figure: the index of the unit with the highest recorded peak; SIZE_MAX: there is
 * none. */
size_t tdm_capture_fullest(const struct tdm_capture_exact *exact, enum tdm_stock_figure figure);

/* The devices in the order of their numbers. */
void tdm_capture_devices(const struct tdm_capture_exact *exact, const struct tdm_exact_unit *list[TDM_EXACT_UNITS_MAX]);

/* The capture's description of a device, found by its number or by that of one of its chips; else the only one there
 * is; else NULL. */
const struct tdm_capture_device *tdm_capture_description(const struct tdm_capture_exact *exact, size_t unit);

/* Banks of a kind on a device, from the report's description; 0: unknown. */
uint64_t tdm_capture_banks(const struct tdm_capture_exact *exact, size_t unit, enum tdm_kind kind);

/* Bytes for buffers and circular buffers, as the capture describes its device: in one core, or in all DRAM channels. 0:
 * it does not say. */
uint64_t tdm_capture_capacity(const struct tdm_capture_exact *exact, size_t unit, bool is_dram);

#endif
