/*
 * The pictures of other machines' daemons, joined into one: the devices and processes of all, each with its host. A
 * machine that does not answer keeps its last figures, with their age; it is listed as a problem in any case.
 *
 * Clocks differ from machine to machine, so times are moved to one clock, which runs like this machine's: by a distance
 * that is measured once and kept, because a distance that changes with every answer would make buffers seem to move in
 * time.
 */
#ifndef TDM_STATE_FLEET_H
#define TDM_STATE_FLEET_H

#include "base/diag.h"
#include "sources/remote.h"
#include "state/picture.h"

struct tdm_fleet_options {
	struct tdm_remote_options remote;
	bool only_tracked;             /* only processes with a ledger */
	bool with_ended, with_crashed; /* as in tdm_state_options, like the next */
	const int32_t *pids;
	size_t pid_count;
};

struct tdm_fleet;

/* 0 with *out set, or a negative code with diag set. */
int tdm_fleet_new(const struct tdm_fleet_options *options, struct tdm_fleet **out, struct tdm_diag *diag);
void tdm_fleet_free(struct tdm_fleet *fleet); /* NULL is allowed */

/* A new picture, borrowed until the next call; NULL only when out of memory. The first call waits until every machine
 * has answered or failed; later ones wait a short time, and take late answers with the next call. */
const struct tdm_picture *tdm_fleet_look(struct tdm_fleet *fleet, const struct tdm_wish *wish);

/* The time of the joined picture before which the pictures of all machines that answer were not taken; never goes
 * back. */
uint64_t tdm_fleet_since(const struct tdm_fleet *fleet);

/* The pictures, for the screens. */
struct tdm_provider tdm_fleet_provider(struct tdm_fleet *fleet);

#endif
