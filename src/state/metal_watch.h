/*
 * Reads tt-metal's regions each time, and judges about once a second who owns their process slots. Between two
 * judgements a slot keeps what is known about its process for as long as it belongs to the same one.
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
/* 0 or -ENOMEM; other errors are in the list. */
int tdm_metal_watch_refresh(struct tdm_metal_watch *watch, const struct tdm_proc_root *root, uint64_t now_ns);

#endif
