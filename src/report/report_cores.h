/* Circular buffers core by core, as text and as JSON. */
#ifndef TDM_REPORT_REPORT_CORES_H
#define TDM_REPORT_REPORT_CORES_H

#include "analyze/core_dumps.h"
#include "report/report_put.h"

void tdm_cores_text(const struct tdm_core_dumps *dumps, const struct tdm_file_report *file, struct tdm_buf *out);
/* Keys into an object that is open already. */
void tdm_cores_json(const struct tdm_core_dumps *dumps, const struct tdm_file_report *file, struct tdm_json *json);

#endif
