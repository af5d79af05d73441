/*
 * tt-metal's regions, read each time, and whose they are, judged about once a second: what was known of a process slot
 * stays with it as long as the slot is the same process's.
 */
#ifndef TDM_STATE_METAL_WATCH_H
#define TDM_STATE_METAL_WATCH_H

#include "sources/metal_owners.h"

struct tdm_metal_watch {
	const char *dir;                   /* borrowed; NULL: the default */
	struct tdm_metal_list now, before; /* the last two readings */
	uint64_t judge_ns;                 /* monotonic clock, when to judge again */
};

void tdm_metal_watch_done(struct tdm_metal_watch *watch);
/* 0 or -ENOMEM; what else goes wrong is in the list. */
int tdm_metal_watch_refresh(struct tdm_metal_watch *watch, const struct tdm_proc_root *root, uint64_t now_ns);

#endif
