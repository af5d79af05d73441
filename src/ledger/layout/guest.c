#include "ledger/layout/guest.h"
#include "base/clock.h"
#include "ledger/layout/layout.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- waiting and locking ---- */

enum {
	SPINS = 32,         /* looks before the first nap */
	PAUSES = 16,        /* pauses of the processor between these looks */
	NAP_NS = 20000,     /* Linux makes it a little longer */
	NAPS = 8,           /* naps before the clock is read again */
	NAPS_MIN = 512,     /* naps before a wait can time out, because on a busy machine time alone proves little */
	CLAIM_SPINS = 4000, /* pauses of the thread that has claimed the lock, before it naps as well */
};
_Thread_local uint32_t tdm_lock_self __attribute__((tls_model("initial-exec")));
#define PATIENCE_NS TDM_NS_PER_S /* a thread that holds the lock for longer than this is assumed to be stopped */
#define STALE_NS    (20 * TDM_NS_PER_MS) /* nobody waits for so long who still wants the lock */

void tdm_pause(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("isb"); /* a short pause, because most processors ignore `yield` */
#endif
}

/* A direct system call, because libc's function is a place where pthread_cancel() ends a thread. */
static void nap(void)
{
	int caller_errno = errno;
	if (syscall(SYS_nanosleep, &(struct timespec){ .tv_nsec = NAP_NS }, NULL) != 0 && errno != EINTR)
		sched_yield();
	errno = caller_errno;
}

bool tdm_wait_more(struct tdm_wait *wait)
{
	if (++wait->looks <= SPINS) {
		for (int i = 0; i < PAUSES; i++)
			tdm_pause();
		return true;
	}
	nap();
	if (wait->looks % NAPS != 0)
		return true;
	uint64_t now = tdm_clock_ns();
	if (wait->until_ns == 0)
		wait->until_ns = now + PATIENCE_NS;
	return !wait->is_hopeless && (now < wait->until_ns || wait->looks < NAPS_MIN);
}

bool tdm_wait_is_long(const struct tdm_wait *wait)
{
	return wait->looks > SPINS && wait->looks % NAPS == 0;
}

uint32_t tdm_lock_self_slow(void)
{
	enum { ADDRESS_SHIFT = 6 }; /* a thread's data is larger */
	int caller_errno = errno;
	pid_t id = gettid(); /* a sandbox may deny it, with any answer */
	uint32_t made_up = (uint32_t)((uintptr_t)&tdm_lock_self >> ADDRESS_SHIFT) & (TDM_LOCK_NO_ID - 1);
	errno = caller_errno;
	return tdm_lock_self = id > 0 && (uint32_t)id < TDM_LOCK_NO_ID ? (uint32_t)id : made_up | TDM_LOCK_NO_ID;
}

bool tdm_thread_has_ended(uint32_t thread)
{
	int caller_errno = errno;
	bool has_ended = thread != 0 && (thread & TDM_LOCK_NO_ID) == 0 && tgkill(getpid(), (pid_t)thread, 0) != 0 &&
			 errno == ESRCH;
	errno = caller_errno;
	return has_ended;
}

/* A thread that waits for a lock. */
struct waiter {
	struct tdm_lock *lock;
	const _Atomic uint64_t *progress;
	struct tdm_wait wait;
	uint64_t began_ns;
	uint32_t seen;  /* progress at the last look */
	uint32_t spins; /* since this thread claimed the lock */
};

static uint32_t progress_of(const struct waiter *w)
{
	return w->progress != NULL ? (uint32_t)atomic_load_explicit(w->progress, memory_order_relaxed)
				   : atomic_load_explicit(&w->lock->turns, memory_order_relaxed);
}

static bool is_oldest(const struct waiter *w, uint64_t now)
{
	uint64_t oldest = atomic_load_explicit(&w->lock->oldest_ns, memory_order_relaxed);
	/* The oldest may have ended or been stopped. */
	bool is_stale = oldest != 0 && now - oldest > STALE_NS;
	if (oldest == 0 || w->began_ns < oldest || is_stale)
		return atomic_compare_exchange_strong(&w->lock->oldest_ns, &oldest, w->began_ns);
	return w->began_ns == oldest;
}

static void got(const struct waiter *w, bool is_claimed)
{
	uint64_t began_ns = w->began_ns;
	atomic_store_explicit(&w->lock->since, progress_of(w), memory_order_relaxed);
	atomic_store_explicit(&w->lock->since_ns, tdm_clock_ns(), memory_order_relaxed);
	atomic_store_explicit(&w->lock->claim, is_claimed ? tdm_lock_me() : 0, memory_order_relaxed);
	atomic_compare_exchange_strong(&w->lock->oldest_ns, &began_ns, 0);
}

/* Takes the lock if it is this thread's turn, or nobody else takes it, or its holder has ended. */
static bool look(struct waiter *w)
{
	struct tdm_lock *lock = w->lock;
	uint32_t me = tdm_lock_me(), progress = progress_of(w);
	uint32_t was = atomic_load_explicit(&lock->state, memory_order_relaxed);
	uint32_t claim = atomic_load_explicit(&lock->claim, memory_order_relaxed);
	bool is_idle = progress == w->seen;
	uint64_t now = tdm_clock_ns();
	bool is_over = progress - atomic_load_explicit(&lock->since, memory_order_relaxed) >= TDM_LOCK_TURNS ||
		       now - atomic_load_explicit(&lock->since_ns, memory_order_relaxed) >= TDM_LOCK_NS;
	bool has_ended = was != 0 && tdm_wait_is_long(&w->wait) && tdm_thread_has_ended(was & ~TDM_LOCK_HOPELESS);
	w->seen = progress;
	if (((was == 0 && (claim == me || is_idle)) || has_ended) &&
		atomic_compare_exchange_strong(&lock->state, &was, me)) {
		if (has_ended)
			atomic_store_explicit(&lock->is_broken, true, memory_order_relaxed);
		got(w, claim == me);
		return true;
	}
	if (is_oldest(w, now) && is_over && claim != me)
		atomic_compare_exchange_strong(&lock->claim, &claim, me);
	return false;
}

static bool wait_for_turn(struct waiter *w)
{
	do {
		do {
			if (look(w))
				return true;
			tdm_pause();
		} while (atomic_load_explicit(&w->lock->claim, memory_order_relaxed) == tdm_lock_me() &&
			 w->spins++ < CLAIM_SPINS);
	} while (tdm_wait_more(&w->wait));
	return false;
}

bool tdm_lock_take_slow(struct tdm_lock *lock, uint32_t was, const _Atomic uint64_t *progress)
{
	uint32_t before, me = tdm_lock_me();
	struct waiter w = { .lock = lock,
		.progress = progress,
		.wait.is_hopeless = (was & TDM_LOCK_HOPELESS) != 0,
		.began_ns = tdm_clock_ns() };
	w.seen = progress_of(&w) - 1;
	do {
		before = progress_of(&w);
		if (wait_for_turn(&w))
			return true;
		w.wait = (struct tdm_wait){ 0 }; /* for as long as there is progress */
	} while (progress_of(&w) != before);
	atomic_compare_exchange_strong(&lock->claim, &me, 0);
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

/*
 * ---- the helper ----
 *
 * The helper is a child made as vfork() makes one, but with a stack of its own. It shares the calling thread's
 * thread-local data, which is safe because that thread does not run before the helper has ended. Its end sends no
 * signal, and the program's wait() does not see it.
 */

enum { STACK_BYTES = 192 << 10, HELPER_BYTES = 128 << 10, STACK_FLAGS = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE };

struct helper_call {
	char *stack;
	tdm_helper_job *job;
	void *context;
	int result;
	bool is_apart;
	volatile bool is_done;
};

/* Whether a helper shares our memory: some emulators copy it. */
enum helper_works { HELPER_UNKNOWN, HELPER_WORKS, HELPER_FAILS };
static _Atomic int helper_works;

/* Runs in the helper, or on its stack. A signal must not run the program's handlers in the helper. */
__attribute__((no_sanitize("address", "undefined", "thread"))) static void answer_call(void *context)
{
	struct helper_call *call = context;
	if (call->is_apart) {
		const uint64_t all = UINT64_MAX;
		syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, NULL, sizeof all);
	}
	call->result = call->job(call->context, call->is_apart);
	call->is_done = true;
}

/*
 * Makes a process that calls the function and ends. Returns its pid, or -errno. Keeps the function and its argument in
 * registers, because an emulator may not switch to the other stack.
 */
static long call_apart(char *stack_end, void (*function)(void *context), void *context)
{
	long got = -ENOSYS;
#if defined(__x86_64__)
	register long zero __asm__("r10") = 0;
	register long none __asm__("r8") = 0;
	register void (*call)(void *) __asm__("r12") = function;
	register void *argument __asm__("r13") = context;
	__asm__ volatile("syscall\n\t"
			 "test %%rax, %%rax\n\t"
			 "jnz 1f\n\t"
			 "xor %%ebp, %%ebp\n\t"
			 "mov %%r13, %%rdi\n\t"
			 "call *%%r12\n\t"
			 "xor %%edi, %%edi\n\t"
			 "mov %[end], %%eax\n\t"
			 "syscall\n\t"
			 "hlt\n\t"
			 "1:"
			 : "=a"(got)
			 : "0"((long)SYS_clone), "D"((long)(CLONE_VM | CLONE_VFORK)), "S"(stack_end), "d"(0L),
			 "r"(zero), "r"(none), "r"(call), "r"(argument), [end] "i"(SYS_exit_group)
			 : "rcx", "r11", "memory", "cc");
#elif defined(__aarch64__)
	register long x0 __asm__("x0") = CLONE_VM | CLONE_VFORK;
	register char *x1 __asm__("x1") = stack_end;
	register long x2 __asm__("x2") = 0;
	register long x3 __asm__("x3") = 0;
	register long x4 __asm__("x4") = 0;
	register long x8 __asm__("x8") = SYS_clone;
	register void (*call)(void *) __asm__("x19") = function;
	register void *argument __asm__("x20") = context;
	__asm__ volatile(
		"svc #0\n\t"
		"cbnz x0, 1f\n\t"
		"mov x29, xzr\n\t"
		"mov x0, x20\n\t"
		"blr x19\n\t"
		"mov x0, xzr\n\t"
		"mov x8, %[end]\n\t"
		"svc #0\n\t"
		"brk #0\n\t"
		"1:"
		: "+r"(x0)
		: "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x8), "r"(call), "r"(argument), [end] "i"(SYS_exit_group)
		: "memory", "cc");
	got = x0;
#else
	(void)stack_end, (void)function, (void)context;
#endif
	return got;
}

/* Present if the program is built with the address sanitizer, which takes a jump out of a signal handler on a stack
 * that it does not know for an error. */
extern void __asan_handle_no_return(void) __attribute__((weak));

/* Calls the function in this thread, on the other stack where that is possible. Not inlined: no caller keeps anything
 * in registers that the function may change. */
__attribute__((noinline)) static void call_here(char *stack_end, void (*function)(void *context), void *context)
{
	if (__asan_handle_no_return != NULL) {
		function(context);
		return;
	}
#if defined(__x86_64__)
	__asm__ volatile("mov %%rsp, %%rbx\n\t"
			 "mov %[stack], %%rsp\n\t"
			 "call *%[function]\n\t"
			 "mov %%rbx, %%rsp"
			 : "+D"(context)
			 : [stack] "r"(stack_end), [function] "r"(function)
			 : "rax", "rbx", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "memory", "cc");
#elif defined(__aarch64__)
	register void *argument __asm__("x0") = context;
	__asm__ volatile("mov x19, sp\n\t"
			 "mov sp, %[stack]\n\t"
			 "blr %[function]\n\t"
			 "mov sp, x19"
			 : "+r"(argument)
			 : [stack] "r"(stack_end), [function] "r"(function)
			 : "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14",
			 "x15", "x16", "x17", "x19", "x30", "memory", "cc");
#else
	(void)stack_end;
	function(context);
#endif
}

/*
 * Whether a child would be in this process's pid namespace. After unshare(CLONE_NEWPID), the next child is the first
 * process of a new namespace, which ends with that child: it must not be ours.
 */
static bool has_same_namespace(void)
{
	struct stat own, childrens;
	return stat("/proc/self/ns/pid", &own) == 0 && stat("/proc/self/ns/pid_for_children", &childrens) == 0 &&
	       own.st_ino == childrens.st_ino;
}

/* False if no helper could be made, or it does not share our memory. */
static bool run_apart(char *stack_end, struct helper_call *call)
{
	call->is_apart = true;
	long pid = call_apart(stack_end, answer_call, call);
	if (pid <= 0)
		return false;
	while (syscall(SYS_wait4, pid, NULL, __WALL, NULL) < 0 && errno == EINTR)
		continue;
	return true;
}

static int do_nothing(void *context, bool is_apart)
{
	(void)context;
	return is_apart;
}

static bool may_run_apart(char *stack_end)
{
	struct helper_call trial = { .job = do_nothing };
	int works = atomic_load(&helper_works);
	if (works == HELPER_FAILS || tdm_has_thread_sanitizer() || !has_same_namespace())
		return false;
	if (works == HELPER_UNKNOWN && run_apart(stack_end, &trial)) {
		works = trial.is_done ? HELPER_WORKS : HELPER_FAILS;
		atomic_store(&helper_works, works);
	}
	return works == HELPER_WORKS;
}

/* A stack with a page below it that cannot be accessed, so that an overflow is a fault at once; NULL if there is no
 * memory. */
static char *map_stack(void)
{
	char *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, STACK_FLAGS, -1, 0);
	if (stack == MAP_FAILED)
		return NULL;
	mprotect(stack, tdm_page_bytes(), PROT_NONE);
	madvise(stack, STACK_BYTES, MADV_DONTFORK);
	return stack;
}

void tdm_on_other_stack(void (*function)(void *context), void *context)
{
	int caller_errno = errno;
	char *stack = map_stack();
	errno = caller_errno;
	if (stack == NULL) {
		function(context);
		return;
	}
	call_here(stack + STACK_BYTES, function, context);
	caller_errno = errno;
	munmap(stack, STACK_BYTES);
	errno = caller_errno;
}

/* Runs on the other stack, whose lower part is the helper's. */
static void run_call(void *context)
{
	struct helper_call *call = context;
	struct tdm_quiet guard;
	char *helper_end = call->stack + HELPER_BYTES;
	tdm_quiet_begin(&guard);
	if (!may_run_apart(helper_end) || !run_apart(helper_end, call)) {
		call->is_apart = false;
		answer_call(call);
	}
	tdm_quiet_end(&guard);
}

int tdm_helper_run(tdm_helper_job *job, void *context)
{
	struct helper_call call = { .job = job, .context = context, .result = -EINTR };
	int caller_errno = errno;
	call.stack = map_stack();
	if (call.stack != NULL) {
		call_here(call.stack + STACK_BYTES, run_call, &call);
		munmap(call.stack, STACK_BYTES);
	}
	errno = caller_errno;
	return call.stack != NULL ? call.result : -ENOMEM;
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
