/*
 * Tools for a guest, i.e. code that runs inside other people's programs at any time: memory without malloc, a lock for
 * the few dozen instructions of a report, a wait, and a guard against signals. The lock and the wait give up after a
 * while, so a thread that ended or was stopped while holding the lock never blocks the others.
 */
#ifndef TDM_LEDGER_GUEST_H
#define TDM_LEDGER_GUEST_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- private memory, zeroed ---- */

/* Areas begin and end at the kernel's page boundaries. ARM kernels may use 64 KiB pages. */
size_t tdm_page_bytes(void);
size_t tdm_page_up(size_t bytes);

/* Whole pages; NULL if out of memory. Large blocks use large pages if possible. */
void *tdm_private_alloc(size_t bytes);
void tdm_private_free(void *at, size_t bytes);

/*
 * Like tdm_private_alloc(), but with `is_small`, small blocks share pages, which suits a process with thousands of
 * writers. Blocks begin at a cache line. Pages of small blocks are reused, and never returned to Linux.
 */
void *tdm_block_alloc(bool is_small, size_t bytes);
void tdm_block_free(bool is_small, void *at, size_t bytes);

/*
 * Separates two steps of a change to memory that a forked child frees or searches: another thread may fork at any
 * instruction, and the memory must be valid after each step.
 */
static inline void tdm_step(void)
{
	atomic_signal_fence(memory_order_seq_cst);
}

/* ---- waiting and locking ---- */

/* A wait with a time limit. Starts as all 0. `is_hopeless`: an earlier wait timed out, so this wait gives up early. */
struct tdm_wait {
	uint32_t looks;
	bool is_hopeless;
	uint64_t until_ns;
};
/* Waits a little before the next attempt; false when the time limit is reached. */
bool tdm_wait_more(struct tdm_wait *wait);
/* True from time to time during a long wait: the caller should then ask Linux whether the other thread has ended. */
bool tdm_wait_is_long(const struct tdm_wait *wait);

/*
 * All 0 is a free lock; a taken lock contains its holder's thread id. A waiting thread yields the processor, and gives
 * up if one holder keeps the lock too long; it keeps waiting while the lock changes hands. After a thread has given up,
 * further waits are short until the lock is released. If the holder has ended, the next thread to request the lock gets
 * it with `is_broken` set, because the guarded data may be half changed.
 */
struct tdm_lock {
	_Atomic uint32_t state; /* thread id of the holder, with TDM_LOCK_HOPELESS after a wait timed out; 0 if free */
	_Atomic uint32_t turns; /* number of times the lock was released */
	_Atomic bool is_broken;
};
#define TDM_LOCK_HOPELESS (UINT32_C(1) << 31)

/* Linux's id of the calling thread; 0 until it is looked up in a new thread or after a fork. */
extern _Thread_local uint32_t tdm_lock_self __attribute__((tls_model("initial-exec")));
uint32_t tdm_lock_self_slow(void);
static inline uint32_t tdm_lock_me(void)
{
	return __builtin_expect(tdm_lock_self != 0, 1) ? tdm_lock_self : tdm_lock_self_slow();
}

/* Whether a thread of this process has ended. */
bool tdm_thread_has_ended(uint32_t thread);

bool tdm_lock_take_slow(struct tdm_lock *lock, uint32_t was);

/* False if the wait for the lock was given up. */
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

/* For a thread that jumped out of code that may have held the lock. True if the thread held it. */
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

/* Whether the signal reports a fault of the running code. */
static inline bool tdm_is_fault(int signal)
{
	return signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGILL || signal == SIGTRAP ||
	       signal == SIGSYS || signal == SIGABRT;
}

/*
 * Prevents signals and pthread_cancel from interrupting a rare change, which would then need a repair. Signals for
 * faults still arrive. Restores errno at the end. Hides the change from the thread sanitizer of a traced program.
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
