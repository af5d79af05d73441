/* Call stacks of a picture's buffers, with their functions and lines. */
#ifndef TDM_REPORT_STACK_REPORT_H
#define TDM_REPORT_STACK_REPORT_H

#include "base/buf.h"
#include "base/json.h"
#include "state/picture.h"
#include "sources/symbolize.h"

/* A symbolizer for the modules of a process. NULL only when out of memory. */
struct tdm_symbolizer *tdm_stack_symbolizer(const struct tdm_picture *picture, size_t process);

/* Keeps the symbolizers of the processes whose stacks were shown last: stacks of several processes come mixed, and
 * opening the modules of one takes long. Zeroed to begin with. */
enum { TDM_STACK_SYMBOLS = 8 };
struct tdm_stack_symbols {
	struct {
		uint32_t process;
		struct tdm_symbolizer *sym;
	} kept[TDM_STACK_SYMBOLS];
	size_t next;
};

/* Borrowed until the next call. NULL when out of memory: then only addresses are shown. */
struct tdm_symbolizer *tdm_stack_symbols_get(
	struct tdm_stack_symbols *symbols, const struct tdm_picture *picture, uint32_t process);
void tdm_stack_symbols_done(struct tdm_stack_symbols *symbols);

/* One frame: "function (file:line)". `sym` may be NULL: then only its address is shown. */
void tdm_stack_frame(const struct tdm_picture *picture, struct tdm_symbolizer *sym, const struct tdm_kept_frame *frame,
	struct tdm_buf *out);

/* A line for each frame, indented; nothing for stack 0. `sym` may be NULL: then only addresses are shown. */
void tdm_stack_text(const struct tdm_picture *picture, struct tdm_symbolizer *sym, uint32_t stack, size_t indent,
	struct tdm_buf *out);

/* Whether a function, as a frame shows it, says nothing about who wanted a buffer: one of the library that took the
 * stack, of the runtime, or of the C++ library, through which the runtime makes its objects. */
bool tdm_stack_is_on_every_way(const char *function);

/* The innermost frame of which that is not so: "function (file:line)"; nothing for stack 0. `whole`:
 * files with their folders. */
void tdm_stack_site(
	const struct tdm_picture *picture, struct tdm_symbolizer *sym, uint32_t stack, bool whole, struct tdm_buf *out);

/* The site and its callers, since the site may be a wrapper that all allocations go through: "function (file:line) ←
 * caller (file:line) ← …". Files are without their folders. Nothing for stack 0. */
void tdm_stack_trail(
	const struct tdm_picture *picture, struct tdm_symbolizer *sym, uint32_t stack, bool utf8, struct tdm_buf *out);

/* An array of frames, or null for stack 0. */
void tdm_stack_json(
	const struct tdm_picture *picture, struct tdm_symbolizer *sym, uint32_t stack, struct tdm_json *json);

#endif
