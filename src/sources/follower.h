/*
 * The reader of growing ledgers: those in a directory, or given ones. It keeps them open between looks, and every look
 * gives what is new as events:
 *
 *     PROCESS, MODULE                        when they are new or have changed
 *     for each device:  DEVICE               when it is described for the first time, or anew
 *                       TOLD                 what the runtime said, if that is new
 *                       USAGE                for each kind whose counters have changed
 *                       CLEAR, ALLOC...      a list of its live buffers, if wanted
 *                       ALLOC, FREE, ...     the events since then; LOST for those no longer in the ring
 *     PHASE                                  when another phase runs
 *     NOTES                                  when one has changed
 *     FORGET                                 when the ledger is gone
 *
 * Counters are always given, buffers and events where they are wanted. Counters and buffers of a device are of the same
 * moment. When events were missed, or when the writer was too busy for an exact list, a new list follows; nothing is
 * skipped silently.
 *
 * When a process has ended, its ledger is read a last time and closed. A ledger that cannot be read says why and is
 * tried again, at growing intervals.
 */
#ifndef TDM_SOURCES_FOLLOWER_H
#define TDM_SOURCES_FOLLOWER_H

#include "base/diag.h"
#include "event/event.h"
#include "ledger/reader.h"

enum { TDM_FOLLOWED_MAX = 16384 }; /* ledgers; more are counted */

struct tdm_follow_options {
	const char *dir;          /* NULL: $TIDEMARK_DIR, else /dev/shm */
	const char *const *paths; /* these files instead; ends with NULL; may be NULL */
	const int32_t *pids;      /* only processes with these pids, for this process or for themselves; NULL: all */
	size_t pid_count;
	bool names_new;  /* a ledger being set up has a `text` at once, not only when it takes long */
	bool keeps_gone; /* a ledger that was read is not forgotten when it is gone, unless there are very many */
};

enum {
	TDM_FOLLOW_BUFFERS = 1,
	TDM_FOLLOW_EVENTS = 2,
	TDM_FOLLOW_KEEP = 4, /* no changes of buffers for now; they follow when buffers are wanted again */
};

/* Where the events go. */
struct tdm_follow_sink {
	void *context;
	/* What is wanted of a device besides its counters: TDM_FOLLOW_*. May be NULL: nothing. */
	unsigned (*wants)(void *context, uint64_t process, uint32_t device);
	int (*event)(void *context, struct tdm_event *event); /* 0, or a negative code that ends the look */
	/* How many allocations and releases are given as events in one look, shared by the devices that had some in the
	 * look before: the latest of each; earlier ones are counted as LOST. 0: all. */
	size_t latest;
};

/* One ledger; callers use it to report what could not be read. */
struct tdm_followed {
	char *path;
	uint64_t number; /* of its process, in events; never reused */
	bool is_known;   /* it was read at least once: `who` is set */
	struct tdm_process who;
	int err; /* 0, or why it cannot be read; -EAGAIN with no `text`: it is being set up */
	char text[TDM_DIAG_TEXT_CAP];
};

struct tdm_follower;

/* The options must outlive it. NULL only when out of memory. */
struct tdm_follower *tdm_follower_new(const struct tdm_follow_options *options);
void tdm_follower_free(struct tdm_follower *follower); /* NULL is allowed */

/* One look at everything. 0, or a negative code: of the sink, or -ENOMEM. `now_ns`: monotonic clock. */
int tdm_follower_look(struct tdm_follower *follower, const struct tdm_follow_sink *sink, uint64_t now_ns);

size_t tdm_follower_count(const struct tdm_follower *follower);
const struct tdm_followed *tdm_follower_get(const struct tdm_follower *follower, size_t i);

/* Things not looked at: ledgers beyond TDM_FOLLOWED_MAX; ledgers that were not asked for; and why the directory cannot
 * be listed, 0 if it can. */
uint64_t tdm_follower_cut(const struct tdm_follower *follower);
uint64_t tdm_follower_others(const struct tdm_follower *follower);
int tdm_follower_err(const struct tdm_follower *follower);

/* Processes that ended while they were followed, so far. */
uint64_t tdm_follower_deaths(const struct tdm_follower *follower);

/* The open ledger of a process and the index of a device in it, for walking over its buffers; NULL: there is none. */
struct tdm_ledger *tdm_follower_ledger(
	const struct tdm_follower *follower, uint64_t process, uint32_t device, size_t *index);

/* Reads the counters of one device again and gives them. 1, 0 when nothing has changed, -ENOENT when the ledger is not
 * open, -errno, TDM_ECORRUPT or the sink's code. */
int tdm_follower_recount(
	struct tdm_follower *follower, const struct tdm_follow_sink *sink, uint64_t process, uint32_t device);

#endif
