/*
 * The sizes that a program must specify when it opens a device, as large as its run required: the peak and the holes
 * below it. The requests of the run are replayed on the model of the allocator to find that extent, and replayed once
 * more in a region of exactly that size. If not all of them are recorded any more, the size is only a lower bound.
 *
 * trace_region_size is a total over all DRAM banks. The runtime compares it with the total size of simultaneously
 * existing traces, and gives each bank its part, rounded up to whole pages. l1_small_size is per core.
 */
#ifndef TDM_ANALYZE_OPEN_SIZES_H
#define TDM_ANALYZE_OPEN_SIZES_H

#include "live/join/picture.h"

enum { TDM_OPEN_SIZES = 2 };

struct tdm_open_size {
	const char *option; /* name of the option: "trace_region_size", "l1_small_size" */
	uint8_t kind;       /* enum tdm_kind */
	uint64_t needed;    /* most bytes that the process needed on any device, */
	uint32_t device;    /* and the number of that device */
	/* size with which that device was opened, rounded as in the runtime; TDM_BYTES_UNKNOWN if not reported */
	uint64_t opened;
	uint64_t allocs,
		recorded; /* allocations of the kind on all devices, and how many are among the picture's events */
	bool is_tested;   /* on each device, all requests fitted when they were replayed */
	bool is_in_dram;  /* traces were captured without a trace region, so they are among the DRAM buffers */
	bool is_least;    /* reports are missing, so the process may have needed more */
};

/* Computes the sizes for a process, leaving out memory neither used nor reserved. Returns the number of sizes. The
 * picture should have the events of the whole run. */
size_t tdm_open_sizes(const struct tdm_picture *picture, uint32_t process, struct tdm_open_size sizes[TDM_OPEN_SIZES]);

#endif
