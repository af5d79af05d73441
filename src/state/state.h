/*
 * The state of a machine, or of some ledgers: follows ledgers, reads tt-metal's shared memory and the driver's files,
 * and joins them into a new picture (picture.h) each time it is asked.
 *
 * Devices are joined by chip id, never by a guess. One source wins for each device and kind: the ledgers, when every
 * running process that shared memory counts there has one; else shared memory, when it counts every process that has a
 * ledger there; else the one that knows more. The loser's figures are kept beside the winner's.
 *
 * Counters are read each time. The list of files, telemetry and facts about processes cost more and are read at most
 * once a second. Largest free blocks need every buffer, so they are computed only for devices that have changed, and
 * only as often as a small share of the time allows.
 */
#ifndef TDM_STATE_STATE_H
#define TDM_STATE_STATE_H

#include "sources/host.h"
#include "sources/metal_shm.h"
#include "state/picture.h"

struct tdm_state_options {
	/* Where to look. NULL: the variable TIDEMARK_DIR, TIDEMARK_SHM_DIR, TIDEMARK_SYSFS_ROOT or TIDEMARK_PROC_ROOT
	 * if it is set, else the system's default. */
	const char *ledger_dir, *shm_dir, *sysfs, *proc;
	const char *const *paths; /* read these ledgers instead of a directory; ends with NULL. Borrowed, like `pids` */
	const int32_t *pids;      /* only the ledgers of these processes; NULL: all */
	size_t pid_count;
	bool only_ledgers; /* do not read tt-metal's shared memory, the driver's files or /proc */
	bool with_ended;   /* also list processes that have ended and left a ledger */
	bool with_crashed; /* of those only the ones that did not close it */
	bool keeps_gone;   /* also those whose ledger was there in an earlier picture and is gone */
	bool once; /* there will be one picture only: leave nothing for a later one, not even largest free blocks */
};

struct tdm_state;

struct tdm_state *tdm_state_new(
	const struct tdm_state_options *options); /* NULL options: all zero. NULL: out of memory */
void tdm_state_free(struct tdm_state *state);     /* NULL is allowed */

/* A new picture, borrowed until the next call; NULL only when out of memory. It lists sources that cannot be read as
 * problems. `wish` may be NULL. */
const struct tdm_picture *tdm_state_look(struct tdm_state *state, const struct tdm_wish *wish);

/* The pictures of this state, for the screens. */
struct tdm_provider tdm_state_provider(struct tdm_state *state);

/* Where ledgers are looked for. */
const char *tdm_state_ledger_dir(const struct tdm_state *state);

/* The sources of the last picture. Borrowed until the next one. */
const struct tdm_host *tdm_state_host(const struct tdm_state *state);
const struct tdm_metal_list *tdm_state_metal(const struct tdm_state *state);

#endif
