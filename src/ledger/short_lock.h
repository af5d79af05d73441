/*
 * A lock for the few dozen instructions of a report, and the wait that it uses. Both give up after a while, so that a
 * thread that ended or was stopped inside never blocks the others.
 */
#ifndef TDM_LEDGER_SHORT_LOCK_H
#define TDM_LEDGER_SHORT_LOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* A wait with a time limit. Begin with all 0; `is_hopeless`: an earlier wait timed out, so give up early. */
struct tdm_wait {
	uint32_t looks;
	bool is_hopeless;
	uint64_t until_ns;
};
/* Waits a little before the next look; false when the time is over. */
bool tdm_wait_more(struct tdm_wait *wait);

/*
 * All 0 is a free lock. A thread that waits long yields the processor, and gives up when one holder has had the lock
 * for a while; it keeps waiting as long as the lock changes hands. After a thread has given up, the next waits are
 * short until the lock is released.
 */
struct tdm_lock {
	_Atomic uint32_t state; /* enum tdm_lock_state */
	_Atomic uint32_t turns; /* the number of releases */
};
enum tdm_lock_state { TDM_LOCK_FREE, TDM_LOCK_TAKEN, TDM_LOCK_HOPELESS };

bool tdm_lock_take_slow(struct tdm_lock *lock, uint32_t was);

/* False when it gave up. */
static inline bool tdm_lock_take(struct tdm_lock *lock)
{
	uint32_t was = atomic_exchange_explicit(&lock->state, TDM_LOCK_TAKEN, memory_order_acquire);
	return __builtin_expect(was == TDM_LOCK_FREE, 1) || tdm_lock_take_slow(lock, was);
}

static inline void tdm_lock_give(struct tdm_lock *lock)
{
	uint32_t turns = atomic_load_explicit(&lock->turns, memory_order_relaxed);
	atomic_store_explicit(&lock->turns, turns + 1, memory_order_relaxed);
	atomic_store_explicit(&lock->state, TDM_LOCK_FREE, memory_order_release);
}

/* For a forked child, in which the holder does not exist. */
static inline void tdm_lock_reset(struct tdm_lock *lock)
{
	atomic_store(&lock->state, TDM_LOCK_FREE);
}

#endif
