#include "ledger/short_lock.h"
#include "base/clock.h"

#include <sched.h>

enum {
	SPINS = 200,      /* looks between two yields of the processor */
	YIELDS = 8,       /* yields between two readings of the clock */
	YIELDS_MIN = 512, /* yields before a wait can time out: on a busy machine, time alone says little */
};
#define PATIENCE_NS TDM_NS_PER_S /* a thread inside for this long is no longer running */

bool tdm_wait_more(struct tdm_wait *wait)
{
	if (++wait->looks % SPINS != 0) {
#if defined(__x86_64__)
		__builtin_ia32_pause();
#elif defined(__aarch64__)
		__asm__ volatile("isb"); /* waits a moment; most processors ignore `yield` */
#endif
		return true;
	}
	sched_yield();
	if (wait->looks % (SPINS * YIELDS) != 0)
		return true;
	uint64_t now = tdm_clock_ns();
	if (wait->until_ns == 0)
		wait->until_ns = now + PATIENCE_NS;
	return !wait->is_hopeless && (now < wait->until_ns || wait->looks < SPINS * YIELDS_MIN);
}

/* Takes the lock, or gives up when the wait is over. */
static bool wait_for_turn(struct tdm_lock *lock, struct tdm_wait wait)
{
	do
		if (atomic_load_explicit(&lock->state, memory_order_relaxed) == TDM_LOCK_FREE &&
			atomic_exchange_explicit(&lock->state, TDM_LOCK_TAKEN, memory_order_acquire) == TDM_LOCK_FREE)
			return true;
	while (tdm_wait_more(&wait));
	return false;
}

bool tdm_lock_take_slow(struct tdm_lock *lock, uint32_t was)
{
	struct tdm_wait wait = { .is_hopeless = was == TDM_LOCK_HOPELESS };
	uint32_t taken = TDM_LOCK_TAKEN, turns;
	do {
		turns = atomic_load_explicit(&lock->turns, memory_order_relaxed);
		if (wait_for_turn(lock, wait))
			return true;
		wait.is_hopeless = false; /* the lock has been released since, or the loop ends */
	} while (atomic_load_explicit(&lock->turns, memory_order_relaxed) != turns);
	atomic_compare_exchange_strong(&lock->state, &taken, TDM_LOCK_HOPELESS);
	return false;
}
