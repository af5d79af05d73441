/* How large compiled kernels are, as text and as JSON. */
#ifndef TDM_REPORT_REPORT_KERNELS_H
#define TDM_REPORT_REPORT_KERNELS_H

#include "report/report_put.h"
#include "sources/kernel_cache.h"

struct tdm_kernels_view {
	struct tdm_file_report file;
	const struct tdm_kernel_cache *cache; /* sorted */
	uint64_t ring_bytes;                  /* of the kernel-config ring; TDM_BYTES_UNKNOWN */
	const char *ring_from;                /* whose figure that is */
};

/* A kernel: all its binaries. */
struct tdm_kernel_size {
	size_t first, count;   /* binaries */
	uint64_t ring_bytes;   /* that they take in the ring */
	uint64_t packed_bytes; /* before rounding */
};

/* Kernels, the largest first. NULL with *count 0 when there are none or out of memory; free() it. */
struct tdm_kernel_size *tdm_kernel_sizes(const struct tdm_kernel_cache *cache, size_t *count);

void tdm_kernels_view_text(const struct tdm_kernels_view *view, struct tdm_buf *out);
/* Keys into an object that is open already. */
void tdm_kernels_view_json(const struct tdm_kernels_view *view, struct tdm_json *json);

#endif
