/* Shared by the files of the leak finder; nothing else includes this. */
#ifndef TDM_ANALYZE_LEAKS_PARTS_H
#define TDM_ANALYZE_LEAKS_PARTS_H

#include "analyze/leaks.h"
#include "base/map.h"

/* A buffer is part of the floor when it is older than the watching time divided by this. */
enum { TDM_LEAKS_OLD_PART = 4 };

#define TDM_LEAKS_UNSEEN UINT64_MAX

struct tdm_leaks_process {
	uint64_t handle;
	struct tdm_process who; /* as it was last seen */
	bool ended;             /* already in an earlier sample: what it holds no longer changes */
	uint64_t frees;         /* on all devices and of all kinds, since its start */
	uint32_t free_windows;  /* bit n: something was freed in window n */
	uint32_t seen_windows;  /* bit n: it was seen in window n */
};

/* A device of a process. */
struct tdm_leaks_place {
	uint32_t process;
	uint32_t number;
	uint64_t device; /* its key: a program may know a real and a virtual device by the same number */
};

struct tdm_leaks_lives {
	uint32_t count;                        /* so far; the next one goes to index count % TDM_LEAKS_LIFETIMES */
	uint64_t ns[TDM_LEAKS_LIFETIMES];      /* at least */
	uint64_t most_ns[TDM_LEAKS_LIFETIMES]; /* at most */
};

/* The sizes of the live buffers of a site that frees some, by window. */
struct tdm_leaks_sizes {
	uint32_t samples, empty; /* since the first free; without a live buffer */
	struct {
		uint64_t bytes, mean,
			mean_most; /* lowest sum, lowest and highest average; TDM_LEAKS_UNSEEN: no sample */
	} window[TDM_LEAKS_WINDOWS];
};

struct tdm_leaks_amount {
	uint64_t count, bytes;
};

struct tdm_leaks_site {
	uint32_t place;
	uint32_t name, stack; /* of the state's texts and stacks; stack is 0 when there is a name */
	uint8_t kind;
	bool is_sum; /* of all sites beyond the limit */
	/* of the sample being taken, then of the last one */
	uint64_t count, bytes;
	uint64_t settled; /* born before it began, or at that moment */
	uint64_t old_count, old_bytes;
	uint64_t left, old_left; /* of the previous sample: buffers that were settled, or old, and are still alive */
	uint64_t oldest_ns, newest_ns;
	uint32_t shown_stack;            /* of one of its buffers */
	uint32_t names;                  /* of a group of sites: those with live buffers; else 0 */
	struct tdm_leaks_amount adopted; /* buffers from before the tracking began */
	/* of the previous sample */
	uint64_t last_settled, last_old;
	struct tdm_leaks_amount last_adopted;
	/* of all samples together */
	uint64_t freed, aged, aged_freed;
	struct tdm_leaks_amount floor[TDM_LEAKS_WINDOWS]; /* the lowest of the window; TDM_LEAKS_UNSEEN: no sample */
	struct tdm_leaks_lives *lives;                    /* NULL: none */
	struct tdm_leaks_sizes *sizes;                    /* NULL: nothing was freed */
};

struct tdm_leaks {
	uint64_t watch_ns, old_ns;
	uint64_t begin_ns, last_ns; /* of the first sample and the last */
	uint64_t samples;
	uint64_t left_out;
	struct tdm_leaks_process *processes;
	size_t process_count, process_cap;
	struct tdm_leaks_place *places;
	size_t place_count, place_cap;
	struct tdm_leaks_site *sites;
	size_t site_count, site_cap;
	struct tdm_map by_key;
	uint32_t *process_of, *place_of; /* from the indices of the last picture to ours */
};

/* The site of a buffer in the last sample, or TDM_MAP_NONE. */
uint32_t tdm_leaks_find(const struct tdm_leaks *leaks, uint32_t holding, const struct tdm_buffer *buffer);

#endif
