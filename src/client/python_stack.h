/*
 * The Python part of a call stack. A process has an interpreter or not; nothing of it is linked.
 *
 * Python's objects are touched only by a thread that holds the interpreter's lock (the GIL), and then with functions
 * that run no Python code. A thread that has released the lock, as bindings do around long calls, could read its own
 * frames only by taking the lock again. Another thread may hold it while it waits for a lock that our caller has. So
 * such a stack has no Python frames, and shows the interpreter's own functions instead.
 */
#ifndef TDM_CLIENT_PYTHON_STACK_H
#define TDM_CLIENT_PYTHON_STACK_H

#include <stdbool.h>
#include <stdint.h>

#include "ledger/writer.h"

/* Whether the process has an interpreter. Looks for it at the first call, and again after tdm_python_look_again(). */
bool tdm_python_is_here(void);

/* New libraries were seen: one may be an interpreter. */
void tdm_python_look_again(void);

/* In a forked child: it is not looked for any more. */
void tdm_python_after_fork(void);

/*
 * Puts the Python frames of this thread, at most `depth`, in place of the innermost frames of the interpreter, and
 * removes the interpreter's other frames. `frames` has room for `count` + `depth`; `is_exact`: no frame was skipped on
 * the walk. Returns the new number of frames; nothing changes when the thread does not hold the GIL, or when a signal
 * handler may have interrupted the interpreter.
 */
uint32_t tdm_python_join(struct tdm_writer *writer, uint64_t *frames, uint32_t count, uint32_t depth, bool is_exact);

#endif
