/*
 * A lock for the few dozen instructions of a report, and the wait that it is made of. Both give up after a while, so
 * that a thread that ended or was stopped inside never stops the others.
 */
#ifndef TDM_LEDGER_SHORT_LOCK_H
#define TDM_LEDGER_SHORT_LOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

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
 * All 0 is a free lock. Whoever waits long gives the processor away, and gives up when the lock has been with one
 * holder for a while; as long as it goes from hand to hand the wait goes on. A lock that was given up on is not waited
 * for as long again, until it has been given back.
 */
struct tdm_lock {
	_Atomic uint32_t state; /* enum tdm_lock_state */
	_Atomic uint32_t turns; /* how often it was given back */
};
enum tdm_lock_state { TDM_LOCK_FREE, TDM_LOCK_TAKEN, TDM_LOCK_HOPELESS };

bool tdm_lock_take_slow(struct tdm_lock *lock, uint32_t was);

/* False when it was given up. */
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

/* In a child of a fork, where its holder does not exist. */
static inline void tdm_lock_reset(struct tdm_lock *lock)
{
	atomic_store(&lock->state, TDM_LOCK_FREE);
}

#endif
