/*
 * Watches this machine: keeps ledgers open, reads tt-metal's shared memory and the driver's files, and joins what they
 * say into one overview (registry/overview.h) as often as it is asked.
 *
 * Devices are joined by chip id; never by guess. For every device and kind one source wins: the ledgers, when every
 * running process that shared memory counts there has one; else shared memory, when it counts every process that has a
 * ledger there; else the one that knows more. What the loser says is kept beside it.
 *
 * Counters are read each time. What costs more is read at most once a second: the list of files, telemetry, facts about
 * processes. The largest free blocks need every buffer, so they are computed for devices that have changed, and so
 * seldom that it takes no more than a small share of the time.
 */
#ifndef TDM_LIVE_LIVE_H
#define TDM_LIVE_LIVE_H

#include "base/diag.h"
#include "registry/overview.h"
#include "registry/snapshot.h"
#include "sources/host.h"
#include "sources/metal_shm.h"

struct tdm_live_options {
	/* Where to look; NULL: the variable TIDEMARK_DIR, TIDEMARK_SHM_DIR, TIDEMARK_SYSFS_ROOT, TIDEMARK_PROC_ROOT,
	 * else the system's own place. */
	const char *ledger_dir, *shm_dir, *sysfs, *proc;
	bool with_ended; /* also list processes that have ended and left a ledger */
	bool once;       /* a single picture: nothing is kept back for later, largest free blocks included */
	bool no_largest; /* largest free blocks are not wanted */
};

struct tdm_live;

struct tdm_live *tdm_live_new(const struct tdm_live_options *options); /* NULL options: all zero. NULL: no memory */
void tdm_live_free(struct tdm_live *live);                             /* NULL is allowed */

/* A new picture, borrowed until the next call; NULL only when out of memory. Sources that cannot be read are problems
 * in it. */
const struct tdm_overview *tdm_live_refresh(struct tdm_live *live);

/* What the last picture was made of. Borrowed until the next refresh. */
const struct tdm_host *tdm_live_host(const struct tdm_live *live);
const struct tdm_metal_list *tdm_live_metal(const struct tdm_live *live);

/*
 * Every live buffer of one process (of tdm_overview_process), or of all processes with a ledger that use one device (an
 * index into the last overview), with names, sites and stacks. Owned by the caller: tdm_snapshot_free(). NULL with diag
 * set: the process has no readable ledger, has ended and its ledger is gone, or out of memory.
 */
struct tdm_snapshot *tdm_live_process(struct tdm_live *live, uint64_t handle, struct tdm_diag *diag);
struct tdm_snapshot *tdm_live_device(struct tdm_live *live, size_t device, struct tdm_diag *diag);

/*
 * Events since the last call, of all processes with ledgers, oldest first; at most `cap` of them, the latest (the rest
 * is counted as lost). The first call gives the most recent ones. How many.
 */
size_t tdm_live_events(struct tdm_live *live, struct tdm_overview_event *events, size_t cap);

#endif
