/*
 * The sizes that a program has to give when it opens a device, as exactly as its run needed them.
 *
 * trace_region_size is a total over all DRAM banks: the runtime compares it with the sizes of all traces that exist
 * together, and gives each bank its part of it, rounded up to whole pages. l1_small_size is what each core gets.
 */
#ifndef TDM_ANALYZE_OPEN_SIZES_H
#define TDM_ANALYZE_OPEN_SIZES_H

#include "state/picture.h"

enum { TDM_OPEN_SIZES = 2 };

struct tdm_open_size {
	const char *option; /* "trace_region_size", "l1_small_size" */
	uint8_t kind;       /* enum tdm_kind */
	uint64_t needed;    /* the most that the process needed on one device, */
	uint32_t device;    /* its number */
	uint64_t opened;    /* what that device was opened with, rounded as the runtime does; unknown if not said */
	bool is_in_dram;    /* traces were captured, but without a region for them: they are among the DRAM buffers */
	bool is_least;      /* reports are missing: it may have needed more */
};

/* The sizes of a process; those of memory that it neither used nor had are left out. Returns their number. */
size_t tdm_open_sizes(const struct tdm_picture *picture, uint32_t process, struct tdm_open_size sizes[TDM_OPEN_SIZES]);

#endif
