/*
 * A lock for the few dozen instructions of a report, and the wait that it uses. Both give up after a while, so that a
 * thread that ended or was stopped inside never blocks the others.
 */
#ifndef TDM_LEDGER_SHORT_LOCK_H
#define TDM_LEDGER_SHORT_LOCK_H

#include <signal.h>
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
/* Now and then true in a long wait: when to ask Linux whether the other thread has ended. */
bool tdm_wait_is_long(const struct tdm_wait *wait);

/*
 * All 0 is a free lock; a taken one has the number of the thread that holds it. A thread that waits long yields the
 * processor, and gives up when one holder has had the lock for a while; it keeps waiting as long as the lock changes
 * hands. After a thread has given up, the next waits are short until the lock is released. The lock of a thread that
 * ended goes to the next one that wants it, who finds `is_broken` set: what the lock guards may be half changed.
 */
struct tdm_lock {
	_Atomic uint32_t
		state; /* Linux's number of the thread, with TDM_LOCK_HOPELESS after a wait timed out; 0: free */
	_Atomic uint32_t turns; /* the number of releases */
	_Atomic bool is_broken;
};
#define TDM_LOCK_HOPELESS (UINT32_C(1) << 31)

/* Linux's number of the calling thread; 0: not known yet, which it is in a new thread and must be after a fork. */
extern _Thread_local uint32_t tdm_lock_self __attribute__((tls_model("initial-exec")));
uint32_t tdm_lock_self_slow(void);
static inline uint32_t tdm_lock_me(void)
{
	return __builtin_expect(tdm_lock_self != 0, 1) ? tdm_lock_self : tdm_lock_self_slow();
}

/* Whether a thread of this process has ended. */
bool tdm_thread_has_ended(uint32_t thread);

bool tdm_lock_take_slow(struct tdm_lock *lock, uint32_t was);

/* False when it gave up. */
static inline bool tdm_lock_take(struct tdm_lock *lock)
{
	uint32_t was = 0;
	return __builtin_expect(atomic_compare_exchange_strong_explicit(
					&lock->state, &was, tdm_lock_me(), memory_order_acquire, memory_order_relaxed),
		       1) ||
	       tdm_lock_take_slow(lock, was);
}

static inline void tdm_lock_give(struct tdm_lock *lock)
{
	uint32_t turns = atomic_load_explicit(&lock->turns, memory_order_relaxed);
	atomic_store_explicit(&lock->turns, turns + 1, memory_order_relaxed);
	atomic_store_explicit(&lock->state, 0, memory_order_release);
}

static inline bool tdm_lock_is_mine(struct tdm_lock *lock)
{
	return (atomic_load_explicit(&lock->state, memory_order_relaxed) & ~TDM_LOCK_HOPELESS) == tdm_lock_me();
}

/* For a thread that jumped out of the code that may have held the lock. True if it did. */
static inline bool tdm_lock_abandon(struct tdm_lock *lock)
{
	if (!tdm_lock_is_mine(lock))
		return false;
	atomic_store_explicit(&lock->is_broken, true, memory_order_relaxed);
	tdm_lock_give(lock);
	return true;
}

/* For a forked child, in which the holder does not exist. */
static inline void tdm_lock_reset(struct tdm_lock *lock)
{
	atomic_store(&lock->state, 0);
}

/* Whether the signal reports a fault of the code itself. */
static inline bool tdm_is_fault(int signal)
{
	return signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGILL || signal == SIGTRAP ||
	       signal == SIGSYS || signal == SIGABRT;
}

/*
 * Keeps signals and pthread_cancel from ending a rare change in the middle, so that it need not be repaired. Faults
 * still arrive. errno is the caller's again at the end. The thread sanitizer of a traced program does not look
 * meanwhile.
 */
struct tdm_quiet {
	sigset_t signals;
	int cancel_state, caller_errno;
};
void tdm_quiet_begin(struct tdm_quiet *guard);
void tdm_quiet_end(const struct tdm_quiet *guard);

/* Whether the program is built with the thread sanitizer. */
bool tdm_has_thread_sanitizer(void);

#endif
