/* The data that the leak finder keeps for each site (leaks.c) and judges (leaks_judge.c). Only these two files and
 * tests include this header. */
#ifndef TDM_ANALYZE_LEAK_SITES_H
#define TDM_ANALYZE_LEAK_SITES_H

#include "analyze/leaks/growth.h"
#include "base/map.h"
#include "base/names.h"
#include "live/join/picture.h"

enum {
	TDM_LEAKS_WINDOWS = TDM_TREND_MAX, /* number of windows into which the watching time is divided */
	TDM_LEAKS_SITES_MAX = 65536,       /* maximum number of sites; any others are added up by kind */
	TDM_LEAKS_LIFETIMES = 32,          /* latest lifetimes of freed buffers kept per site */
};

/* A buffer belongs to the floor if it is older than the watching time divided by this. */
enum { TDM_LEAKS_OLD_PART = 4 };

#define TDM_LEAKS_UNSEEN UINT64_MAX

struct tdm_leaks_process {
	uint64_t handle;
	struct tdm_process who; /* the process as last seen */
	bool ended;            /* the process had already ended in an earlier sample, so its buffers no longer change */
	uint64_t frees;        /* number of frees since the start, on all devices and of all kinds */
	uint32_t free_windows; /* bit n: the process freed something in window n */
	uint32_t seen_windows; /* bit n: the process was seen in window n */
};

/* A device used by a process. */
struct tdm_leaks_place {
	uint32_t process;
	uint32_t number;
	uint64_t device; /* key of the device, since a program may give a real and a virtual device the same number */
};

struct tdm_leaks_lives {
	/* number of lifetimes so far; the next goes to index count % TDM_LEAKS_LIFETIMES */
	uint32_t count;
	uint64_t ns[TDM_LEAKS_LIFETIMES];      /* lower bound of each lifetime */
	uint64_t most_ns[TDM_LEAKS_LIFETIMES]; /* upper bound of each lifetime */
};

/* The sizes, by window, of live buffers at a site that frees some. */
struct tdm_leaks_sizes {
	uint32_t samples, empty; /* number of samples since the first free, and number without a live buffer */
	/* Lowest sum, lowest and highest average; TDM_LEAKS_UNSEEN in windows without a sample. */
	uint64_t bytes[TDM_LEAKS_WINDOWS], mean[TDM_LEAKS_WINDOWS], mean_most[TDM_LEAKS_WINDOWS];
};

struct tdm_leaks_amount {
	uint64_t count, bytes;
};

struct tdm_leaks_site {
	uint32_t place;
	uint32_t name, stack; /* string and stack numbers of the state; stack is 0 if there is a name */
	uint8_t kind;
	bool is_sum; /* this entry adds up all sites beyond TDM_LEAKS_SITES_MAX */
	/* In the current sample or, between samples, the last one: */
	uint64_t count, bytes;
	uint64_t settled; /* buffers born at or before the beginning of the sample */
	uint64_t old_count, old_bytes;
	uint64_t left, old_left; /* buffers that were settled, or old, in the previous sample and are still alive */
	uint64_t oldest_ns, newest_ns;
	uint32_t shown_stack;            /* stack of one of the site's buffers */
	uint32_t names;                  /* for a group: number of sites with live buffers; else 0 */
	struct tdm_leaks_amount adopted; /* buffers allocated before tracking began */
	/* In the previous sample: */
	uint64_t last_settled, last_old;
	struct tdm_leaks_amount last_adopted;
	/* In all samples together: */
	uint64_t freed, aged, aged_freed;
	struct tdm_leaks_amount floor[TDM_LEAKS_WINDOWS]; /* lowest value in each window; UNSEEN without a sample */
	struct tdm_leaks_lives *lives;                    /* NULL until a lifetime is known */
	struct tdm_leaks_sizes *sizes;                    /* NULL until something is freed */
};

struct tdm_leaks {
	uint64_t watch_ns, old_ns;
	uint64_t begin_ns, last_ns; /* times of the first and the last sample */
	uint64_t samples;
	uint64_t left_out;
	struct tdm_leaks_process *processes;
	size_t process_count, process_cap;
	struct tdm_leaks_place *places;
	size_t place_count, place_cap;
	struct tdm_leaks_site *sites;
	size_t site_count, site_cap;
	struct tdm_map by_key;
	uint32_t *process_of, *place_of; /* maps indices in the last picture to ours */
};

/* The site of a buffer in the last sample, or TDM_MAP_NONE. */
uint32_t tdm_leaks_find(const struct tdm_leaks *leaks, uint32_t holding, const struct tdm_buffer *buffer);

/* Replaces each number in the name by #, and likewise each hexadecimal word, such as an address or a part of a UUID.
 * False if there is no such number or word. */
bool tdm_leaks_pattern(const char *name, char pattern[TDM_NAME_MAX + 1]);

/* The sentence for each reason; leaks_judge.c supplies the figures. */
extern const char *const tdm_leak_patterns[];

#endif
