/* Sizes of compiled kernels: groups binaries into kernels, and adds up the sizes by processor. */
#ifndef TDM_ANALYZE_KERNEL_SIZES_H
#define TDM_ANALYZE_KERNEL_SIZES_H

#include "base/arena.h"
#include "model/event/record.h"

/* A kernel with all its binaries. */
struct tdm_kernel_size {
	const struct tdm_kernel_binary *first;
	size_t count;        /* number of the kernel's binaries */
	uint64_t ring_bytes; /* bytes that they occupy in the kernel-config ring */
	double ring_share;   /* share of the whole ring; NAN if unknown */
};

struct tdm_kernel_sizes {
	struct tdm_kernel_binary *binaries; /* sorted at the end: kernels by build, name and hash, then firmware */
	struct tdm_kernel_size *kernels;    /* set at the end: largest first */
	size_t count, kernel_count, cap;
	size_t firmware;                   /* number of firmware binaries */
	uint64_t packed_bytes, over_limit; /* sum over all kernels; number of files with a segment above its limit */
	uint64_t ring_bytes;               /* size of the kernel-config ring; may be TDM_BYTES_UNKNOWN */
	size_t too_large;                  /* number of kernels that would not fit even alone */
	uint64_t refused;                  /* number of files and folders that could not be used */
	struct tdm_walk_rest rest;
	struct tdm_arena texts;
};

/* These take a struct tdm_kernel_sizes, which is empty if zeroed. */
int tdm_kernel_sizes_take(void *sizes, const struct tdm_record *record);
void tdm_kernel_sizes_end(void *sizes);
void tdm_kernel_sizes_done(void *sizes);

#endif
