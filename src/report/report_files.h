/* The runtime's reports, the inspector's files and compiled kernels as text and as JSON: report_memory.c,
 * report_perf.c, report_cores.c, report_inspector.c, report_kernels.c and report_operations.c. The analysers must have
 * ended. */
#ifndef TDM_REPORT_REPORT_FILES_H
#define TDM_REPORT_REPORT_FILES_H

#include "analyze/buffer_history.h"
#include "analyze/core_dumps.h"
#include "analyze/kernel_programs.h"
#include "analyze/kernel_sizes.h"
#include "analyze/memory_states.h"
#include "analyze/operation_memory.h"
#include "analyze/perf_waits.h"
#include "report/report_put.h"

void tdm_memory_text(const struct tdm_memory_states *s, const struct tdm_file_report *file, struct tdm_buf *out);
void tdm_perf_text(const struct tdm_perf_waits *w, const struct tdm_file_report *file, struct tdm_buf *out);
void tdm_cores_text(const struct tdm_core_dumps *c, const struct tdm_file_report *file, struct tdm_buf *out);
void tdm_mesh_text(const struct tdm_buffer_history *h, const struct tdm_file_report *file, struct tdm_buf *out);
void tdm_programs_text(const struct tdm_kernel_programs *p, const struct tdm_file_report *file, struct tdm_buf *out);
void tdm_kernels_text(const struct tdm_kernel_sizes *s, const struct tdm_file_report *file, struct tdm_buf *out);
void tdm_operations_text(const struct tdm_operation_memory *m, const struct tdm_file_report *file, struct tdm_buf *out);

/* The errors of operations, as findings. */
void tdm_operation_errors_find(const struct tdm_operation_memory *m, struct tdm_findings *found);

/* Write keys into an object that is already open. */
void tdm_memory_json(const struct tdm_memory_states *s, const struct tdm_file_report *file, struct tdm_json *json);
void tdm_perf_json(const struct tdm_perf_waits *w, const struct tdm_file_report *file, struct tdm_json *json);
void tdm_cores_json(const struct tdm_core_dumps *c, const struct tdm_file_report *file, struct tdm_json *json);
void tdm_mesh_json(const struct tdm_buffer_history *h, const struct tdm_file_report *file, struct tdm_json *json);
void tdm_programs_json(const struct tdm_kernel_programs *p, const struct tdm_file_report *file, struct tdm_json *json);
void tdm_kernels_json(const struct tdm_kernel_sizes *s, struct tdm_json *json);
void tdm_operations_json(
	const struct tdm_operation_memory *m, const struct tdm_file_report *file, struct tdm_json *json);

#endif
