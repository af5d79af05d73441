/* Sizes of compiled kernels: groups binaries into kernels, and adds them up by processor. */
#ifndef TDM_ANALYZE_KERNEL_SIZES_H
#define TDM_ANALYZE_KERNEL_SIZES_H

#include "base/buf.h"
#include "event/record.h"

enum { TDM_KERNEL_TARGETS_MAX = 32 };

/* A kernel: all its binaries. */
struct tdm_kernel_size {
	const struct tdm_kernel_binary *first;
	size_t count;        /* of binaries */
	uint64_t ring_bytes; /* that they take in the kernel-config ring */
	double ring_share;   /* of the whole ring; NAN: unknown */
};

/* All binaries of a processor, of kernels or of firmware. */
struct tdm_kernel_target {
	const char *name;
	uint8_t order;
	uint64_t files, bytes, largest, zeroed;
};

struct tdm_kernel_sizes {
	struct tdm_kernel_binary *binaries; /* at the end sorted: kernels by build, name and hash, then firmware */
	struct tdm_kernel_size *kernels;    /* the largest first; at the end only */
	size_t count, kernel_count, cap;
	size_t firmware;                   /* the number of its binaries */
	uint64_t packed_bytes, over_limit; /* of all kernels; files with a segment above its limit */
	uint64_t ring_bytes;               /* of the kernel-config ring; TDM_BYTES_UNKNOWN */
	size_t too_large;                  /* kernels that do not fit even alone */
	uint64_t refused;                  /* files and folders that could not be used */
	struct tdm_walk_rest rest;
	struct tdm_buf texts;
};

/* A zeroed one is empty. */
void tdm_kernel_sizes_done(struct tdm_kernel_sizes *sizes);

/* For a sink; and after the last record, with the size of the kernel-config ring. 0 or -ENOMEM. */
int tdm_kernel_sizes_take(void *sizes, const struct tdm_record *record);
int tdm_kernel_sizes_end(struct tdm_kernel_sizes *sizes, uint64_t ring_bytes);

/* Sums by processor, in the order of the processors. Returns how many there are. */
size_t tdm_kernel_sizes_targets(
	const struct tdm_kernel_sizes *sizes, bool firmware, struct tdm_kernel_target targets[TDM_KERNEL_TARGETS_MAX]);

struct tdm_findings;
/* Findings about kernels that are too large, and about files that were not read. */
void tdm_kernel_sizes_find(const struct tdm_kernel_sizes *sizes, struct tdm_findings *found);

#endif
