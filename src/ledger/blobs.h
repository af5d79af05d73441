/*
 * Texts, stacks and core ranges in the ledger, each kept once: a blob has a number that buffers and events refer to.
 * Writing side; any thread, one lock.
 */
#ifndef TDM_LEDGER_BLOBS_H
#define TDM_LEDGER_BLOBS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ledger/ledger_file.h"

struct tdm_blob_cell;

struct tdm_blobs {
	_Atomic uint32_t lock;
	struct tdm_ledger_file *file; /* borrowed */
	_Atomic uint32_t *file_lock;  /* taken around changes of the file */
	char *segment[TDM_LEDGER_BLOB_SEGMENTS];
	unsigned segment_count;
	uint64_t used; /* bytes of the area, with skipped rests */
	uint64_t capacity;
	struct tdm_blob_cell *cells; /* hash to number */
	uint32_t mask, count;
	uint32_t retry; /* new ones to refuse before more room is asked for again */
};

int tdm_blobs_init(struct tdm_blobs *blobs, struct tdm_ledger_file *file, _Atomic uint32_t *file_lock);

/* The number of this content, new or known; 0 when there is no room. *is_new (may be NULL) says which. */
uint32_t tdm_blobs_put(
	struct tdm_blobs *blobs, enum tdm_blob_kind kind, const void *content, size_t bytes, bool *is_new);

/* A wait that is over after a while. Begin with all 0; `is_hopeless`: it was over before, and is not worth much time.
 */
struct tdm_wait {
	uint32_t looks;
	bool is_hopeless;
	uint64_t until_ns;
};
/* Waits a little, for the next look; false when it has been long enough. */
bool tdm_wait_more(struct tdm_wait *wait);

/*
 * A short lock that gives the processor away when it has to wait long, and gives up after a while: false then. A lock
 * that was given up on is not waited for as long again, until it has been given back: a thread that ended with it must
 * not slow down the others for ever.
 */
enum tdm_lock_state { TDM_LOCK_FREE, TDM_LOCK_TAKEN, TDM_LOCK_HOPELESS };
bool tdm_lock_take_slow(_Atomic uint32_t *lock, uint32_t was);
static inline bool tdm_lock_take(_Atomic uint32_t *lock)
{
	uint32_t was = atomic_exchange_explicit(lock, TDM_LOCK_TAKEN, memory_order_acquire);
	return __builtin_expect(was == TDM_LOCK_FREE, 1) || tdm_lock_take_slow(lock, was);
}
static inline void tdm_lock_give(_Atomic uint32_t *lock)
{
	atomic_store_explicit(lock, TDM_LOCK_FREE, memory_order_release);
}

#endif
