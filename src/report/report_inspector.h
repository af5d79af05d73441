/* What the inspector's files say about memory, as text and as JSON: mesh buffers; kernels of programs. */
#ifndef TDM_REPORT_REPORT_INSPECTOR_H
#define TDM_REPORT_REPORT_INSPECTOR_H

#include "analyze/buffer_history.h"
#include "report/report_put.h"
#include "sources/kernel_list.h"

struct tdm_mesh_view {
	struct tdm_file_report file;
	const struct tdm_buffer_history *history; /* sorted */
	uint64_t refused;
};

struct tdm_programs_view {
	struct tdm_file_report file;
	const struct tdm_kernel_list *list;
	const uint64_t *code_bytes; /* of each kernel in the ring; TDM_BYTES_UNKNOWN */
	uint64_t ring_bytes;        /* TDM_BYTES_UNKNOWN */
};

void tdm_mesh_view_text(const struct tdm_mesh_view *view, struct tdm_buf *out);
void tdm_programs_view_text(const struct tdm_programs_view *view, struct tdm_buf *out);

/* Keys into an object that is open already. */
void tdm_mesh_view_json(const struct tdm_mesh_view *view, struct tdm_json *json);
void tdm_programs_view_json(const struct tdm_programs_view *view, struct tdm_json *json);

#endif
