/* How large compiled kernels are, as text and as JSON. */
#ifndef TDM_REPORT_REPORT_KERNELS_H
#define TDM_REPORT_REPORT_KERNELS_H

#include "analyze/kernel_sizes.h"
#include "report/report_put.h"

struct tdm_kernels_view {
	struct tdm_file_report file;
	const struct tdm_kernel_sizes *sizes; /* ended */
	uint64_t ring_bytes;                  /* of the kernel-config ring; TDM_BYTES_UNKNOWN */
	const char *ring_from;                /* whose figure that is */
};

void tdm_kernels_text(const struct tdm_kernels_view *view, struct tdm_buf *out);
/* Keys into an object that is open already. */
void tdm_kernels_json(const struct tdm_kernels_view *view, struct tdm_json *json);

#endif
