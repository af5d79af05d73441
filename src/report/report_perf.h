/* What circular buffers cost operations, measured, as text and as JSON. */
#ifndef TDM_REPORT_REPORT_PERF_H
#define TDM_REPORT_REPORT_PERF_H

#include "analyze/perf_waits.h"
#include "report/report_put.h"

void tdm_perf_text(const struct tdm_perf_waits *waits, const struct tdm_file_report *file, struct tdm_buf *out);
/* Keys into an object that is open already. */
void tdm_perf_json(const struct tdm_perf_waits *waits, const struct tdm_file_report *file, struct tdm_json *json);

#endif
