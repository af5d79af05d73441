/* What `tidemark info` says about files, as text and as JSON. */
#ifndef TDM_REPORT_INFO_REPORT_H
#define TDM_REPORT_INFO_REPORT_H

#include "analyze/capture_summary.h"
#include "base/json.h"
#include "base/term.h"
#include "sources/capture_json.h"

/* An error that the capture recorded. */
struct tdm_info_error {
	uint64_t node;
	char operation[TDM_CAPTURE_TEXT_CAP]; /* may be empty */
	char message[TDM_CAPTURE_ERROR_CAP];
};

struct tdm_info_capture_report {
	const struct tdm_capture_summary *summary; /* ended */
	const struct tdm_capture_counts *counts;
	const struct tdm_info_error *errors; /* the first ones */
	size_t errors_kept;
	uint64_t error_count;
	const char *path;
	bool cut;     /* the file could not be read to its end */
	size_t limit; /* rows of a table */
	struct tdm_term term;
};

/* What an error says, in one line: figures where it is a sentence about memory, else its first line. */
void tdm_info_error_put(const struct tdm_info_error *error, bool utf8, struct tdm_buf *out);

void tdm_info_capture_text(const struct tdm_info_capture_report *report, struct tdm_buf *out);
/* Keys into an object that is open already. */
void tdm_info_capture_json(const struct tdm_info_capture_report *report, struct tdm_json *json);

/* A path with the figures of everything that it called. */
struct tdm_info_operation {
	uint32_t path;
	uint64_t calls, buffers, dram_bytes, l1_bytes;
	int64_t core_peak; /* INT64_MIN: it never changed L1 */
};

/* All paths, those with the highest peak first. NULL when out of memory or when there are none; free() it. */
struct tdm_info_operation *tdm_info_operations(const struct tdm_capture_exact *exact, size_t *count);

/* The device that matters most for a figure: the index of the unit with the highest peak; SIZE_MAX: there is none. */
size_t tdm_info_fullest_core(const struct tdm_capture_exact *exact);
size_t tdm_info_fullest_dram(const struct tdm_capture_exact *exact);

/* The devices by their numbers: indices of units. */
void tdm_info_order(const struct tdm_capture_exact *exact, uint16_t order[TDM_EXACT_UNITS_MAX]);

/* Banks of a kind on a device, from the report's description of it; 0: unknown. */
uint64_t tdm_info_banks(const struct tdm_capture_exact *exact, size_t unit, enum tdm_kind kind);

/* Whether bytes per bank are known for all L1 buffers that were allocated on the device. */
bool tdm_info_banks_known(const struct tdm_exact_unit *unit);

/* Whether the cores of all program memory on the device are. */
bool tdm_info_cores_known(const struct tdm_capture_exact *exact, size_t unit);

#endif
