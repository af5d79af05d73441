/*
 * The ledgers of a directory, kept open as long as their processes run: found, refreshed, and let go when they are
 * gone. A ledger whose process has ended is read a last time and closed at the next refresh; what it held is kept. One
 * that cannot be read is tried again, ever more seldom, and says why.
 */
#ifndef TDM_LIVE_LEDGER_WATCH_H
#define TDM_LIVE_LEDGER_WATCH_H

#include "base/diag.h"
#include "base/map.h"
#include "event/describe.h"
#include "ledger/reader.h"
#include "registry/overview.h"

enum { TDM_WATCHED_MAX = 16384 }; /* ledgers; more are counted */

struct tdm_watched {
	char *path;
	struct tdm_ledger *ledger;    /* NULL: it cannot be opened, or its process has ended */
	struct tdm_ledger *closing;   /* the same after the end, for its last events, until the next refresh */
	struct tdm_ledger_view *left; /* what it held when its process ended; owned */
	size_t left_count;
	bool is_known;          /* it could be read once: `who` and the rest are set */
	bool is_broken;         /* it could, but cannot now: its figures are those of before */
	bool is_listed;         /* by the last look into the directory */
	struct tdm_process who; /* `life` is that of the last refresh */
	int32_t pid;            /* as this process knows it; 0: not at all */
	bool in_container;      /* it has another number itself */
	bool holds_lock;        /* the process of that number holds the lock of a writer: it is this one, and runs */
	uint32_t uid;           /* owner of the file */
	uint64_t handle;        /* 0: none yet */
	size_t device_high;     /* the most devices that it had */
	uint64_t faults, out_of_memory;
	uint64_t figures_seq; /* sum over the devices, when the two above were added up */
	uint32_t phase_count;
	char phase[TDM_OVERVIEW_NAME_CAP];
	int err; /* why it cannot be read; 0: it can */
	char text[TDM_OVERVIEW_TEXT_CAP];
	uint64_t found_ns, retry_ns, wait_ns; /* monotonic clock */
	uint64_t read_ns;                     /* the same, when all of it was last looked at */
	uint64_t cursors[TDM_LEDGER_DEVICES]; /* numbers of the last events that were given out */
};

struct tdm_ledger_watch {
	const char *dir; /* borrowed; NULL: the default */
	struct tdm_watched **items;
	size_t count, cap;
	struct tdm_map by_path; /* hash of the path to index */
	uint64_t cut;           /* ledgers beyond TDM_WATCHED_MAX */
	int err;                /* of the last look into the directory */
	uint64_t list_ns;       /* when to look again */
	uint64_t pid_namespace; /* this process's own; 0: unknown */
	uint64_t deaths;        /* of processes while they were watched */
	bool out_of_memory;     /* something could not be kept */
};

int tdm_ledger_watch_init(struct tdm_ledger_watch *watch, const char *dir); /* 0 or -ENOMEM */
void tdm_ledger_watch_done(struct tdm_ledger_watch *watch);

/* Brings everything up to date: counters and liveness now, the list of files when it is time. */
void tdm_ledger_watch_refresh(struct tdm_ledger_watch *watch, uint64_t now_ns);

static inline size_t tdm_watched_device_count(const struct tdm_watched *item)
{
	return item->ledger != NULL ? tdm_ledger_device_count(item->ledger) : item->left_count;
}

static inline const struct tdm_ledger_view *tdm_watched_device(const struct tdm_watched *item, size_t i)
{
	return item->ledger != NULL ? tdm_ledger_device(item->ledger, i) : &item->left[i];
}

/* Where its events are; NULL: nowhere any more. */
static inline struct tdm_ledger *tdm_watched_ring(const struct tdm_watched *item)
{
	return item->ledger != NULL ? item->ledger : item->closing;
}

/* It has ended, and its file is still there. */
static inline bool tdm_watched_ended(const struct tdm_watched *item)
{
	return item->is_known && item->is_listed && item->who.life == TDM_LIFE_ENDED;
}

static inline bool tdm_watched_runs(const struct tdm_watched *item)
{
	return item->is_known && item->who.life != TDM_LIFE_ENDED;
}

#endif
