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

/* An error in one line: the figures if its message is about memory, else the first line of the message. */
void tdm_info_error_line(const char *message, bool utf8, struct tdm_buf *out);

#endif
