/* What the inspector's files say about memory, as text and as JSON: mesh buffers; kernels of programs. After the end of
 * the analysers. */
#ifndef TDM_REPORT_REPORT_INSPECTOR_H
#define TDM_REPORT_REPORT_INSPECTOR_H

#include "analyze/buffer_history.h"
#include "analyze/kernel_programs.h"
#include "report/report_put.h"

void tdm_mesh_text(const struct tdm_buffer_history *history, const struct tdm_file_report *file, struct tdm_buf *out);
void tdm_programs_text(
	const struct tdm_kernel_programs *programs, const struct tdm_file_report *file, struct tdm_buf *out);

/* Keys into an object that is open already. */
void tdm_mesh_json(const struct tdm_buffer_history *history, const struct tdm_file_report *file, struct tdm_json *json);
void tdm_programs_json(
	const struct tdm_kernel_programs *programs, const struct tdm_file_report *file, struct tdm_json *json);

#endif
