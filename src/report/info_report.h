/* The analysis of a graph capture as text and as JSON. */
#ifndef TDM_REPORT_INFO_REPORT_H
#define TDM_REPORT_INFO_REPORT_H

#include "analyze/capture_operations.h"
#include "analyze/capture_summary.h"
#include "report/report_put.h"

struct tdm_info_capture_report {
	const struct tdm_capture_summary *summary; /* ended */
	struct tdm_file_report file;
};

void tdm_info_capture_text(const struct tdm_info_capture_report *report, struct tdm_buf *out);
/* Writes keys into an object that is already open. */
void tdm_info_capture_json(const struct tdm_info_capture_report *report, struct tdm_json *json);

/* The errors that the capture recorded, as findings. */
void tdm_capture_errors_find(const struct tdm_capture_summary *summary, struct tdm_findings *found);

/* A finding for an error at a place, such as "node" 12. The name of its operation may be empty. */
void tdm_info_error_find(
	const char *place, uint64_t number, const char *operation, const char *message, struct tdm_findings *found);
/* A finding for the errors that were counted, but not kept; nothing if there are none. */
void tdm_info_errors_lost(uint64_t count, struct tdm_findings *found);

/* An error in one line: the figures if its message is about memory, else the first line of the message. */
void tdm_info_error_line(const char *message, bool utf8, struct tdm_buf *out);

#endif
