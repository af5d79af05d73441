/*
 * What is known of a machine, or of some ledgers: follows ledgers, reads tt-metal's shared memory and the driver's
 * files, and joins what they say into one picture (picture.h) as often as it is asked.
 *
 * Devices are joined by chip id; never by guess. For every device and kind one source wins: the ledgers, when every
 * running process that shared memory counts there has one; else shared memory, when it counts every process that has a
 * ledger there; else the one that knows more. What the loser says is kept beside it.
 *
 * Counters are read each time. What costs more is read at most once a second: the list of files, telemetry, facts about
 * processes. The largest free blocks need every buffer, so they are computed for devices that have changed, and so
 * seldom that it takes no more than a small share of the time.
 */
#ifndef TDM_STATE_STATE_H
#define TDM_STATE_STATE_H

#include "sources/host.h"
#include "sources/metal_shm.h"
#include "state/picture.h"

struct tdm_state_options {
	/* Where to look; NULL: the variable TIDEMARK_DIR, TIDEMARK_SHM_DIR, TIDEMARK_SYSFS_ROOT, TIDEMARK_PROC_ROOT,
	 * else the system's own place. */
	const char *ledger_dir, *shm_dir, *sysfs, *proc;
	const char *const *paths; /* these ledgers instead of a directory's; ends with NULL. Borrowed, like the next */
	const int32_t *pids;      /* only ledgers that are named after these; NULL: all */
	size_t pid_count;
	bool only_ledgers; /* nothing is asked of tt-metal's shared memory, the driver and /proc */
	bool with_ended;   /* also list processes that have ended and left a ledger */
	bool once;         /* a single picture: nothing is kept back for later, largest free blocks included */
};

struct tdm_state;

struct tdm_state *tdm_state_new(const struct tdm_state_options *options); /* NULL: all zero. NULL: no memory */
void tdm_state_free(struct tdm_state *state);                             /* NULL is allowed */

/* A new picture, borrowed until the next call; NULL only when out of memory. Sources that cannot be read are problems
 * in it. `wish` may be NULL. */
const struct tdm_picture *tdm_state_look(struct tdm_state *state, const struct tdm_wish *wish);

/* Where ledgers are looked for. */
const char *tdm_state_ledger_dir(const struct tdm_state *state);

/* What the last picture was made of. Borrowed until the next one. */
const struct tdm_host *tdm_state_host(const struct tdm_state *state);
const struct tdm_metal_list *tdm_state_metal(const struct tdm_state *state);

#endif
