/*
 * The state of a machine, or of some ledgers: follows ledgers, reads tt-metal's shared memory and the driver's files,
 * and joins them into a new picture (picture.h) at each look.
 *
 * A look takes these steps. It passes the follower's events to the fold (fold.h), reads the other sources, joins
 * devices and processes, picks the winning source for each device and kind, computes free space, and collects problems.
 *
 * Devices are joined by chip id, never by a guess. The winner for a device and kind is the ledgers, if every running
 * process that shared memory counts there has a ledger; else shared memory, if it counts every process with a ledger
 * there; else the source with the larger figure. The loser's figures are kept beside the winner's.
 *
 * Counters are read each time. The list of files, telemetry and facts about processes cost more, and are read at most
 * once a second. Largest free blocks need every buffer, so they are computed only for devices that have changed, and
 * only as often as a small share of the time allows.
 */
#ifndef TDM_LIVE_STATE_H
#define TDM_LIVE_STATE_H

#include "live/host/host.h"
#include "live/runtime/metal_shm.h"
#include "live/join/picture.h"

struct tdm_state_options {
	/* Directories to read. NULL: the variable TIDEMARK_DIR, TIDEMARK_SHM_DIR, TIDEMARK_SYSFS_ROOT or
	 * TIDEMARK_PROC_ROOT if set, else the system's default. */
	const char *ledger_dir, *shm_dir, *sysfs, *proc;
	/* read these ledgers instead of a directory; the list ends with NULL. Borrowed, like `pids` */
	const char *const *paths;
	const int32_t *pids; /* only the ledgers of these processes; NULL for all */
	size_t pid_count;
	bool only_ledgers; /* do not read tt-metal's shared memory, the driver's files or /proc */
	bool with_ended;   /* also list ended processes that left a ledger */
	bool with_crashed; /* of the ended processes, list only those that did not close their ledger */
	bool keeps_gone;   /* also list ended processes whose ledger was in an earlier picture but is gone */
	/* there will be only one picture, so nothing is postponed, not even the largest free blocks */
	bool once;
};

struct tdm_state;

struct tdm_state *tdm_state_new(const struct tdm_state_options *options); /* NULL options mean all zero */
void tdm_state_free(struct tdm_state *state);                             /* NULL is allowed */

/* Takes a new picture, borrowed until the next call. Unreadable sources are listed as problems. `wish` may be NULL. */
const struct tdm_picture *tdm_state_look(struct tdm_state *state, const struct tdm_wish *wish);

/* Makes this state's pictures available to the screens. */
struct tdm_provider tdm_state_provider(struct tdm_state *state);

/* The directory of ledgers. */
const char *tdm_state_ledger_dir(const struct tdm_state *state);

/* The sources of the last picture. Borrowed until the next one. */
const struct tdm_host *tdm_state_host(const struct tdm_state *state);
const struct tdm_metal_list *tdm_state_metal(const struct tdm_state *state);

#endif
