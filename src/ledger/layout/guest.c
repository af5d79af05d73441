#include "ledger/layout/guest.h"
#include "base/clock.h"
#include "ledger/layout/layout.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- waiting and locking ---- */

enum {
	SPINS = 200, /* attempts before the processor is yielded */
	YIELDS = 8,  /* yields before the clock is read again */
	/* minimum number of yields before a wait can time out, because on a busy machine time alone proves little */
	YIELDS_MIN = 512,
};
_Thread_local uint32_t tdm_lock_self __attribute__((tls_model("initial-exec")));
#define PATIENCE_NS TDM_NS_PER_S /* a thread that holds the lock for longer than this is assumed to be stopped */

bool tdm_wait_more(struct tdm_wait *wait)
{
	if (++wait->looks % SPINS != 0) {
#if defined(__x86_64__)
		__builtin_ia32_pause();
#elif defined(__aarch64__)
		__asm__ volatile("isb"); /* a short pause, because most processors ignore `yield` */
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

/* Takes the lock once it is free or its holder has ended; gives up when the wait times out. */
static bool wait_for_turn(struct tdm_lock *lock, struct tdm_wait wait)
{
	do {
		uint32_t was = atomic_load_explicit(&lock->state, memory_order_relaxed);
		bool has_ended = was != 0 && tdm_wait_is_long(&wait) && tdm_thread_has_ended(was & ~TDM_LOCK_HOPELESS);
		if ((was == 0 || has_ended) && atomic_compare_exchange_strong(&lock->state, &was, tdm_lock_me())) {
			if (has_ended)
				atomic_store_explicit(&lock->is_broken, true, memory_order_relaxed);
			return true;
		}
	} while (tdm_wait_more(&wait));
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
		wait.is_hopeless = false; /* the lock has been released since the earlier wait, or the loop is ending */
	} while (atomic_load_explicit(&lock->turns, memory_order_relaxed) != turns);
	was = atomic_load(&lock->state);
	if (was != 0)
		atomic_compare_exchange_strong(&lock->state, &was, was | TDM_LOCK_HOPELESS);
	return false;
}

/*
 * For programs built with the thread sanitizer, which defines these functions. If our library is built without the
 * sanitizer, the sanitizer sees the memory that the C library reads and writes, but not our atomic operations and
 * locks, so it would report false races. Our own sanitizer builds are checked as usual.
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

#if defined(__SANITIZE_THREAD__)
enum { IS_SANITIZED = true };
#else
enum { IS_SANITIZED = false };
#endif

void tdm_quiet_begin(struct tdm_quiet *guard)
{
	sigset_t all;
	guard->caller_errno = errno;
	sigfillset(&all);
	for (int i = 1; i < NSIG; i++)
		if (tdm_is_fault(i))
			sigdelset(&all, i);
	/* The order matters, and is reversed at the end: a signal handler that jumps away must not leave
	 * cancellation disabled. */
	pthread_sigmask(SIG_SETMASK, &all, &guard->signals);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &guard->cancel_state);
	if (!IS_SANITIZED && tdm_has_thread_sanitizer()) {
		AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
		AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
	}
}

void tdm_quiet_end(const struct tdm_quiet *guard)
{
	if (!IS_SANITIZED && tdm_has_thread_sanitizer()) {
		AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
		AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
	}
	pthread_setcancelstate(guard->cancel_state, NULL);
	pthread_sigmask(SIG_SETMASK, &guard->signals, NULL);
	errno = guard->caller_errno;
}

/* ---- private memory ---- */

enum {
	HUGE_BYTES = 2 << 20,
	SMALL_FIRST = 64, /* size of the smallest blocks; each successive size is double the previous one */
	SMALL_SIZES = 10,
	SMALL_MAX = SMALL_FIRST << (SMALL_SIZES - 1),
	CHUNK_BYTES = 16 * SMALL_MAX, /* bytes to request from Linux at a time */
};

/* Free small blocks, each with a pointer to the next, and the unused rest of a chunk. */
static struct {
	struct tdm_lock lock;
	void *free[SMALL_SIZES];
	char *chunk;
	size_t left;
} small;

size_t tdm_page_bytes(void)
{
	long kernel = sysconf(_SC_PAGESIZE);
	return kernel > TDM_LEDGER_PAGE ? (size_t)kernel : TDM_LEDGER_PAGE;
}

size_t tdm_page_up(size_t bytes)
{
	size_t page = tdm_page_bytes();
	return (bytes + page - 1) / page * page;
}

void *tdm_private_alloc(size_t bytes)
{
	int caller_errno = errno;
	bytes = tdm_page_up(bytes);
	size_t more = bytes >= HUGE_BYTES ? HUGE_BYTES : 0;
	char *at = mmap(NULL, bytes + more, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (at != MAP_FAILED && more != 0) { /* aligned so that large pages can cover all of it */
		size_t before = -(uintptr_t)at % HUGE_BYTES;
		if (before != 0)
			munmap(at, before);
		at += before;
		munmap(at + bytes, HUGE_BYTES - before);
		madvise(at, bytes, MADV_HUGEPAGE);
	}
	errno = caller_errno;
	return at != MAP_FAILED ? at : NULL;
}

void tdm_private_free(void *at, size_t bytes)
{
	if (at != NULL)
		munmap(at, tdm_page_up(bytes));
}

static unsigned size_class(size_t bytes)
{
	unsigned class = 0;
	while ((size_t)SMALL_FIRST << class < bytes)
		class ++;
	return class;
}

static void *take_small(unsigned class)
{
	size_t bytes = (size_t)SMALL_FIRST << class;
	void *at = small.free[class];
	if (at != NULL) {
		memcpy(&small.free[class], at, sizeof at);
		memset(at, 0, bytes);
		return at;
	}
	if (small.left < bytes) { /* the rest of the old chunk is wasted */
		small.chunk = tdm_private_alloc(CHUNK_BYTES);
		small.left = small.chunk != NULL ? CHUNK_BYTES : 0;
	}
	if (small.chunk == NULL)
		return NULL;
	at = small.chunk;
	small.chunk += bytes;
	small.left -= bytes;
	return at;
}

void *tdm_block_alloc(bool is_small, size_t bytes)
{
	if (!is_small || bytes > SMALL_MAX)
		return tdm_private_alloc(bytes);
	if (!tdm_lock_take(&small.lock))
		return NULL;
	void *at = take_small(size_class(bytes));
	tdm_lock_give(&small.lock);
	return at;
}

void tdm_block_free(bool is_small, void *at, size_t bytes)
{
	if (!is_small || bytes > SMALL_MAX) {
		tdm_private_free(at, bytes);
		return;
	}
	if (at == NULL || !tdm_lock_take(&small.lock))
		return;
	void **head = &small.free[size_class(bytes)];
	memcpy(at, head, sizeof *head);
	*head = at;
	tdm_lock_give(&small.lock);
}
