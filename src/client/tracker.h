/*
 * The phase tracker: sums of the reports between two snapshots. The public side is tidemark_capture_*() in tidemark.h;
 * this is the client's side, which tells the tracker about every event while a session is active.
 */
#ifndef TDM_CLIENT_TRACKER_H
#define TDM_CLIENT_TRACKER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ledger/layout.h"
#include "tidemark.h"

/* Reasons why reports take the long way; 0: none. The tracker's mode is in the lowest bits. */
enum {
	TDM_TRACKER_NONE = 0,
	TDM_TRACKER_NORMAL = 1,
	TDM_TRACKER_NO_DISPATCH = 2,
	TDM_TRACKER_MODES = 3,
	TDM_RARE_STACKS = 4, /* stacks are kept */
	TDM_RARE_EXIT = 8,   /* exit has begun */
	TDM_RARE_GONE = 16,  /* the ledger was deleted */
	TDM_RARE_TRACE = 32, /* a captured trace exists */
};
extern _Atomic unsigned char tdm_rare;

enum {
	TDM_TRACKER_SEGMENT_MAX = 65536,   /* segments kept until they are cleared */
	TDM_TRACKER_NAME_MAX = 256 * 1024, /* bytes of a name, including its terminator */
};

/* The current mode: TDM_TRACKER_*. While it is TDM_TRACKER_NONE, the two functions below need not be called. */
static inline unsigned tdm_tracker_mode(void)
{
	return atomic_load_explicit(&tdm_rare, memory_order_acquire) & TDM_TRACKER_MODES;
}

/*
 * Report one event, from any thread: the kind (enum tidemark_kind), the requested size, the bytes in one bank or core.
 * Views do not count. Both wait only for other threads in these functions, and may be called with locks of the client
 * held.
 */
void tdm_tracker_alloc(uint32_t kind, uint64_t asked, uint64_t bank_bytes, bool is_view);
void tdm_tracker_free(uint32_t kind, uint64_t asked, uint64_t bank_bytes, bool is_view);

/*
 * The number of events missing from all segments: a signal handler reported them when it had interrupted the tracker.
 */
uint64_t tdm_tracker_missed(void);

/* For a thread that jumped out of a report: gives back the lock. */
void tdm_tracker_abandon(void);

/* In a forked child: resets to no session, no segments, no lock held. */
void tdm_tracker_after_fork(void);

/* Before the library is unloaded: frees everything. */
void tdm_tracker_unload(void);

/* The text of a TIDEMARK_ECAPTURE_* or TIDEMARK_ETRACE_* code; NULL for any other. */
const char *tdm_tracker_strerror(int code);

/*
 * Functions of the client that the tracker calls. While it does, it holds no lock that tdm_tracker_alloc() or
 * tdm_tracker_free() takes.
 */

/* Turns tracking on; 0 or a negative code. */
int tdm_client_enable(void);

/* Appends a finished segment to the ledger; copies `name` and fills in the end and `dram_now`. */
int tdm_client_put_phase(const struct tdm_ledger_phase *phase, const char *name);

#endif
