/* Circular buffers core by core, as text and as JSON. */
#ifndef TDM_REPORT_REPORT_CORES_H
#define TDM_REPORT_REPORT_CORES_H

#include "report/report_put.h"
#include "sources/core_cbs.h"

struct tdm_cores_view {
	struct tdm_file_report file;
	const struct tdm_core_cbs *cores;
};

void tdm_cores_view_text(const struct tdm_cores_view *view, struct tdm_buf *out);
/* Keys into an object that is open already. */
void tdm_cores_view_json(const struct tdm_cores_view *view, struct tdm_json *json);

#endif
