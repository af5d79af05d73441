/*
 * The Python frames of a thread, read as bytes: without the interpreter's lock (the GIL), without its functions, and
 * with nothing changed. docs/decisions/client.md says why that is safe.
 *
 * The offsets are those of CPython 3.10 to 3.13. They are used only after they were checked in this process: objects
 * that they lead to have the types they must have, and the frames that the interpreter keeps on the C stack are on this
 * thread's.
 */
#ifndef TDM_CLIENT_PYTHON_FRAMES_H
#define TDM_CLIENT_PYTHON_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "ledger/writer.h"

/* The frames of Python, innermost first. Frames with the same group belong to one call of the interpreter's C function.
 */
struct tdm_python_frames {
	uint64_t texts[TDM_LEDGER_STACK_MAX];
	uint8_t groups[TDM_LEDGER_STACK_MAX];
	uint32_t count;
};

/* Whether the offsets of this version are known and its types were found. `version` is like the value of Py_Version. */
bool tdm_python_frames_find(unsigned long version);

/*
 * Reads at most `depth` frames of the calling thread's state `thread`. `is_alive`: no other thread can end the
 * interpreter meanwhile, so memory is read directly; otherwise Linux copies it, which cannot crash. False when they
 * could not be read.
 */
bool tdm_python_frames_read(
	struct tdm_writer *writer, const void *thread, bool is_alive, uint32_t depth, struct tdm_python_frames *to);

/* "file.py:12 function" as a frame; 0 if there is no room. */
uint64_t tdm_python_frame_put(struct tdm_writer *writer, const char *file, int line, const char *name);

/* The longest texts that fit into a frame. */
enum { TDM_PYTHON_NAME_MAX = 96, TDM_PYTHON_FILE_MAX = TDM_LEDGER_TEXT_MAX - TDM_PYTHON_NAME_MAX - 16 };

#endif
