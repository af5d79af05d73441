/*
 * The Python part of a call stack. A process has an interpreter or not; nothing of it is linked.
 *
 * The frames of a thread are read as bytes (python_frames.h), whether it holds the interpreter's lock (the GIL) or not:
 * bindings release it around long calls. In a version whose frames are not known, they are asked for with functions
 * that run no Python code, and only while the thread holds the lock. To take it would not do: another thread may hold
 * it while it waits for a lock that our caller has.
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
 * Puts the Python frames of this thread into its C frames, each in place of the call of the interpreter that runs it,
 * and removes the interpreter's own frames. `is_exact`: no frame was skipped on the walk. Returns the new number of
 * frames, at most the larger one of `count` and `depth`, which fit into TDM_PYTHON_JOINED_MAX. Nothing changes when the
 * thread runs no Python code, or when a signal handler may have interrupted the interpreter. Where the frames cannot be
 * read, one frame says that.
 */
enum { TDM_PYTHON_JOINED_MAX = 256 };
uint32_t tdm_python_join(struct tdm_writer *writer, uint64_t *frames, uint32_t count, uint32_t depth, bool is_exact);

#endif
