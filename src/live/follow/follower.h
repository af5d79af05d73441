/*
 * Follows growing ledgers: all in a directory, or given files. Keeps the ledgers open between looks; each look passes
 * on the changes as events:
 *
 *     PROCESS, MODULE                        when they are new or have changed
 *     for each device:  DEVICE               when it is described, for the first time or again
 *                       TOLD                 the runtime's reports, if new
 *                       USAGE                for each kind whose counters have changed
 *                       CLEAR, ALLOC...      a list of its live buffers, if wanted
 *                       ALLOC, FREE, ...     the events since then; LOST for events no longer in the ring
 *     PHASE                                  when another phase runs
 *     NOTES                                  when one has changed
 *     FORGET                                 when the ledger is gone
 *
 * Counters are always passed on, buffers and events only if wanted. A device's counters and buffers are from the same
 * moment. If events were missed, or the writer was too busy for an exact list, a new list follows; nothing is skipped
 * silently.
 *
 * A look lists the directory now and then, opens new ledgers, checks which processes they belong to and whether those
 * are running, and then reads each ledger: the process first, then device by device. A ledger that has not changed
 * costs a few small reads.
 *
 * When a process has ended, its ledger is read a last time and closed. An unreadable ledger is listed with the reason,
 * and tried again at growing intervals.
 */
#ifndef TDM_LIVE_FOLLOWER_H
#define TDM_LIVE_FOLLOWER_H

#include "base/diag.h"
#include "live/join/intern.h"
#include "model/event/event.h"
#include "ledger/read/reader.h"

enum { TDM_FOLLOWED_MAX = 16384 }; /* maximum number of ledgers; any others are only counted */

struct tdm_follow_options {
	const char *dir;          /* NULL: $TIDEMARK_DIR, else /dev/shm */
	const char *const *paths; /* follow these files instead; the list ends with NULL; may be NULL */
	const int32_t *pids;      /* only processes with these pids, as seen here or by themselves; NULL for all */
	size_t pid_count;
	bool names_new;  /* a ledger being set up gets a `text` immediately, not only after a while */
	bool keeps_gone; /* a ledger that has been read is kept after its file is gone, unless there are very many */
};

enum {
	TDM_FOLLOW_BUFFERS = 1,
	TDM_FOLLOW_EVENTS = 2,
	TDM_FOLLOW_KEEP = 4, /* withhold buffer changes for now; pass them on once buffers are wanted again */
};

/* Where the events go. */
struct tdm_follow_sink {
	void *context;
	/* Returns which parts of a device are wanted besides its counters (TDM_FOLLOW_*). NULL if none ever are. */
	unsigned (*wants)(void *context, uint64_t process, uint32_t device);
	void (*event)(void *context, struct tdm_event *event);
	/* Receives the strings and stacks of TOLD and NOTES; NULL: these events are not wanted. */
	struct tdm_intern *texts;
	/* Maximum number of allocations and releases to pass on as events in one look; 0 for all. The devices that had
	 * such events in the previous look share this number. Each passes on its latest events; earlier ones count as
	 * LOST. */
	size_t latest;
};

/* One ledger; callers use it to report what could not be read. */
struct tdm_followed {
	char *path;
	uint64_t number; /* number of its process in events; never reused */
	bool is_known;   /* the ledger has been read at least once, and `who` is set */
	struct tdm_process who;
	int err; /* 0, or why the ledger cannot be read; -EAGAIN without `text`: it is being set up */
	char text[TDM_DIAG_TEXT_CAP];
};

struct tdm_follower;

/* The options must outlive the follower. */
struct tdm_follower *tdm_follower_new(const struct tdm_follow_options *options);
void tdm_follower_free(struct tdm_follower *follower); /* NULL is allowed */

/* Looks once at everything. `now_ns`: monotonic clock. */
void tdm_follower_look(struct tdm_follower *follower, const struct tdm_follow_sink *sink, uint64_t now_ns);

size_t tdm_follower_count(const struct tdm_follower *follower);
const struct tdm_followed *tdm_follower_get(const struct tdm_follower *follower, size_t i);

/* What was left out: the number of ledgers beyond TDM_FOLLOWED_MAX; the number of ledgers not requested; and why the
 * directory cannot be listed (0 if it can). */
uint64_t tdm_follower_cut(const struct tdm_follower *follower);
uint64_t tdm_follower_others(const struct tdm_follower *follower);
int tdm_follower_err(const struct tdm_follower *follower);

/* The number of processes so far that ended while they were followed. */
uint64_t tdm_follower_deaths(const struct tdm_follower *follower);

/* The open ledger of a process and the index of a device in it, for walking over its buffers; NULL if there is none. */
struct tdm_ledger *tdm_follower_ledger(
	const struct tdm_follower *follower, uint64_t process, uint32_t device, size_t *index);

/* Reads one device's counters again and passes them on. Returns 1; 0 if nothing has changed; -ENOENT if the ledger is
 * not open; -errno; or TDM_ECORRUPT. */
int tdm_follower_recount(
	struct tdm_follower *follower, const struct tdm_follow_sink *sink, uint64_t process, uint32_t device);

#endif
