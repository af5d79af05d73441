/* The tables of a graph capture: buffers, program memory, operations, devices. */
#ifndef TDM_REPORT_INFO_TABLES_H
#define TDM_REPORT_INFO_TABLES_H

#include "report/info_report.h"

/* A figure that may be unknown (INT64_MIN); a negative number is not a size and counts as 0. */
static inline uint64_t tdm_info_size(int64_t bytes)
{
	return bytes == INT64_MIN ? TDM_BYTES_UNKNOWN : bytes < 0 ? 0 : (uint64_t)bytes;
}

/* The largest live buffers when DRAM or L1 of a device was fullest: as keys, or as text if `json` is NULL. */
void tdm_info_alive(const struct tdm_info_capture_report *report, const struct tdm_exact_unit *unit, bool is_dram,
	struct tdm_buf *out, struct tdm_json *json);

/* All operations, in the same way. */
void tdm_info_operations(const struct tdm_info_capture_report *report, struct tdm_buf *out, struct tdm_json *json);

/* The buffers from before the capture, as a key. */
void tdm_info_existing(const struct tdm_info_capture_report *report, struct tdm_json *json);

/* Program memory when the fullest core of a device peaked. */
struct tdm_table tdm_info_program_table(
	const struct tdm_info_capture_report *report, const struct tdm_exact_unit *unit);

/* The devices, in the order of `devices`, which is filled in; and the devices that the capture describes. */
struct tdm_table tdm_info_device_table(
	const struct tdm_info_capture_report *report, const struct tdm_exact_unit *devices[TDM_EXACT_UNITS_MAX]);
struct tdm_table tdm_info_described_table(const struct tdm_info_capture_report *report);

#endif
