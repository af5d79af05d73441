/*
 * Hooks abort(), which ends a C++ program when nobody catches an exception. In that case no cleanups run, so a hook is
 * not notified that its request was refused. But the C++ library calls abort() while the hook's frame still exists.
 *
 * abort() may be called anywhere: in a signal handler, or with any lock held. So the hook does nothing unless this
 * thread has a pending request, calls no runtime function that takes a lock, and takes only locks that this thread does
 * not hold. libtidemark's reports are safe in signal handlers. The C library calls its own abort() directly, bypassing
 * us: when an assertion fails, or when malloc() detects overwritten memory.
 */
#include "metal/metal.h"

#include <dlfcn.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

/* Not declared noreturn, unlike the C library's function, so that our last call becomes a jump and our frame does
 * not appear in a core dump. */
typedef void ends(void);
__attribute__((visibility("default"))) ends tdm_hook_abort __asm__("abort");

static ends *next_abort;

static ends *find_next(void)
{
	void *found = dlsym(RTLD_NEXT, "abort");
	ends *next = NULL;
	memcpy(&next, &found, sizeof next);
	return next;
}

/* Looks up symbols early: the loader takes locks, so abort() must not call the loader. */
__attribute__((constructor)) static void begin(void)
{
	next_abort = find_next();
}

static __attribute__((cold, noinline)) void note_attempts(void)
{
	const struct tdm_metal_runtime *runtime = __atomic_load_n(&tdm_metal_main, __ATOMIC_ACQUIRE);
	/* In all C++ libraries, a thread's exception globals begin with the last exception caught. An exception that
	 * nobody else catches is caught by the C++ library itself. */
	void *const *own = runtime != NULL && runtime->exceptions != NULL ? runtime->exceptions() : NULL;
	/* an exception was caught, or it is unknown whether an exception was caught */
	bool is_exception = own == NULL || *own != NULL;
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
