/* What a graph capture says, as text and as JSON. */
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
/* Keys into an object that is open already. */
void tdm_info_capture_json(const struct tdm_info_capture_report *report, struct tdm_json *json);

#endif
