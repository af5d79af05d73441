#include "ledger/short_lock.h"
#include "base/clock.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

enum {
	SPINS = 200,      /* looks between two yields of the processor */
	YIELDS = 8,       /* yields between two readings of the clock */
	YIELDS_MIN = 512, /* yields before a wait can time out: on a busy machine, time alone says little */
};
_Thread_local uint32_t tdm_lock_self __attribute__((tls_model("initial-exec")));
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

bool tdm_wait_is_long(const struct tdm_wait *wait)
{
	return wait->looks % (SPINS * YIELDS) == SPINS;
}

uint32_t tdm_lock_self_slow(void)
{
	return tdm_lock_self = (uint32_t)gettid();
}

bool tdm_thread_has_ended(uint32_t thread)
{
	int caller_errno = errno;
	bool has_ended = thread != 0 && tgkill(getpid(), (pid_t)thread, 0) != 0 && errno == ESRCH;
	errno = caller_errno;
	return has_ended;
}

static bool take_free(struct tdm_lock *lock)
{
	uint32_t free = 0;
	return atomic_load_explicit(&lock->state, memory_order_relaxed) == 0 &&
	       atomic_compare_exchange_strong_explicit(
		       &lock->state, &free, tdm_lock_me(), memory_order_acquire, memory_order_relaxed);
}

/* Takes the lock from a thread that has ended. */
static bool take_from_ended(struct tdm_lock *lock)
{
	uint32_t was = atomic_load(&lock->state);
	if (!tdm_thread_has_ended(was & ~TDM_LOCK_HOPELESS) ||
		!atomic_compare_exchange_strong(&lock->state, &was, tdm_lock_me()))
		return false;
	atomic_store_explicit(&lock->is_broken, true, memory_order_relaxed);
	return true;
}

/* Takes the lock, or gives up when the wait is over. */
static bool wait_for_turn(struct tdm_lock *lock, struct tdm_wait wait)
{
	do
		if (take_free(lock) || (tdm_wait_is_long(&wait) && take_from_ended(lock)))
			return true;
	while (tdm_wait_more(&wait));
	return false;
}

bool tdm_lock_take_slow(struct tdm_lock *lock, uint32_t was)
{
	struct tdm_wait wait = { .is_hopeless = (was & TDM_LOCK_HOPELESS) != 0 };
	uint32_t turns;
	do {
		turns = atomic_load_explicit(&lock->turns, memory_order_relaxed);
		if (wait_for_turn(lock, wait))
			return true;
		wait.is_hopeless = false; /* the lock has been released since, or the loop ends */
	} while (atomic_load_explicit(&lock->turns, memory_order_relaxed) != turns);
	was = atomic_load(&lock->state);
	if (was != 0)
		atomic_compare_exchange_strong(&lock->state, &was, was | TDM_LOCK_HOPELESS);
	return false;
}

/*
 * For programs with the thread sanitizer, which defines these functions. It sees what functions of the C library read
 * and write for a library that is built without it, but not that library's own atomic operations and locks, and would
 * take our changes for races. A build of ours with the sanitizer is to be seen.
 */
extern void AnnotateIgnoreReadsBegin(const char *file, int line) __attribute__((weak));
extern void AnnotateIgnoreReadsEnd(const char *file, int line) __attribute__((weak));
extern void AnnotateIgnoreWritesBegin(const char *file, int line) __attribute__((weak));
extern void AnnotateIgnoreWritesEnd(const char *file, int line) __attribute__((weak));

bool tdm_has_thread_sanitizer(void)
{
	return AnnotateIgnoreReadsBegin != NULL && AnnotateIgnoreWritesBegin != NULL &&
	       AnnotateIgnoreReadsEnd != NULL && AnnotateIgnoreWritesEnd != NULL;
}

static bool is_to_be_ignored(void)
{
#if defined(__SANITIZE_THREAD__)
	return false;
#else
	return tdm_has_thread_sanitizer();
#endif
}

void tdm_quiet_begin(struct tdm_quiet *guard)
{
	sigset_t all;
	guard->caller_errno = errno;
	sigfillset(&all);
	for (int i = 1; i < NSIG; i++)
		if (tdm_is_fault(i))
			sigdelset(&all, i);
	/* In this order, and back in the opposite one: a handler that jumps must not leave cancellation disabled. */
	pthread_sigmask(SIG_SETMASK, &all, &guard->signals);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &guard->cancel_state);
	if (is_to_be_ignored()) {
		AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
		AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
	}
}

void tdm_quiet_end(const struct tdm_quiet *guard)
{
	if (is_to_be_ignored()) {
		AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
		AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
	}
	pthread_setcancelstate(guard->cancel_state, NULL);
	pthread_sigmask(SIG_SETMASK, &guard->signals, NULL);
	errno = guard->caller_errno;
}
