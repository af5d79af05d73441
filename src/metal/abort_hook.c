/*
 * abort(), which ends a C++ program with an exception that nobody catches. Its cleanups do not run then, so that a hook
 * does not learn that its request was refused. But the C++ library calls abort() at the end, and the hook's frame is
 * still there.
 *
 * abort() may be called anywhere: in a signal handler, or with any lock held. So nothing is done unless a request of
 * this very thread is under way, the runtime is not asked for anything that it locks, and of locks only such are taken
 * as this thread does not hold. libtidemark's reports are safe in signal handlers. The C library calls its own abort()
 * by itself, without us: when an assertion fails, or when malloc() finds that memory was overwritten.
 */
#include "metal/metal.h"

#include <dlfcn.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

/* Not declared as the C library does: as the last thing that ours does, the call of the next one becomes a jump, and
 * ours is not seen in a core dump. */
typedef void ends(void);
__attribute__((visibility("default"))) ends tdm_hook_abort __asm__("abort");

static ends *next_abort;

/* Of a thread, as all C++ libraries have it. */
struct exceptions {
	void *caught; /* the last one that was caught; one that nobody catches is caught by the library, in the end */
	unsigned int uncaught;
};

static ends *find_next(void)
{
	void *found = dlsym(RTLD_NEXT, "abort");
	ends *next = NULL;
	memcpy(&next, &found, sizeof next);
	return next;
}

/* The loader has locks, too, so it is not asked in abort(). */
__attribute__((constructor)) static void begin(void)
{
	next_abort = find_next();
}

static __attribute__((cold, noinline)) void note_attempts(void)
{
	const struct tdm_metal_runtime *runtime = __atomic_load_n(&tdm_metal_main, __ATOMIC_ACQUIRE);
	const struct exceptions *own = runtime != NULL && runtime->exceptions != NULL ? runtime->exceptions() : NULL;
	bool is_exception = own == NULL || own->caught != NULL; /* what else would end it here? */
	if (!tdm_metal_lock_is_free())
		return;
	tdm_metal_buffers_aborted(is_exception);
	tdm_programs_aborted(is_exception);
}

void tdm_hook_abort(void)
{
	ends *next = next_abort != NULL ? next_abort : find_next();
	if (tdm_metal_buffers_are_attempted() || tdm_programs_are_validated())
		note_attempts();
	if (next == NULL) {
		raise(SIGABRT);
		_exit(127);
	}
	next();
}
