/* Call stacks of the buffers in a picture, with functions and lines. */
#ifndef TDM_VIEW_STACK_ROWS_H
#define TDM_VIEW_STACK_ROWS_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/value.h"
#include "live/join/picture.h"
#include "input/elf/symbolize.h"

/* A symbolizer for the modules of a process. NULL only when out of memory. */
struct tdm_symbolizer *tdm_stack_symbolizer(const struct tdm_picture *picture, size_t process);

/* Keeps symbolizers for the processes whose stacks were shown most recently, because opening a process's modules is
 * slow and stacks of several processes may alternate. Zeroed to begin with. */
enum { TDM_STACK_SYMBOLS = 8 };
struct tdm_stack_symbols {
	struct tdm_symbolizer *kept[TDM_STACK_SYMBOLS];
	uint64_t handles[TDM_STACK_SYMBOLS]; /* handles of these processes */
	/* modules loaded when each symbolizer was made; a process may load more */
	size_t module_counts[TDM_STACK_SYMBOLS];
	size_t next; /* next slot to replace */
};

/* Borrowed until the next call. NULL when out of memory; then only addresses are shown. */
struct tdm_symbolizer *tdm_stack_symbols_get(
	struct tdm_stack_symbols *symbols, const struct tdm_picture *picture, uint32_t process);
void tdm_stack_symbols_done(struct tdm_stack_symbols *symbols);

/* One frame: "function (file:line)". Writes only the address if `sym` is NULL. */
void tdm_stack_frame(const struct tdm_picture *picture, struct tdm_symbolizer *sym, const struct tdm_kept_frame *frame,
	struct tdm_buf *out);

/* Whether a function, as shown in a frame, says nothing about who requested a buffer. This holds for functions in the
 * library that took the stack, in the runtime, and in the C++ library, which the runtime uses to create its objects. */
bool tdm_stack_is_on_every_way(const char *function);

/* Writes the innermost frame for which tdm_stack_is_on_every_way() is false: "function (file:line)"; nothing for stack
 * 0. `whole`: show files with their folders. */
void tdm_stack_site(
	const struct tdm_picture *picture, struct tdm_symbolizer *sym, uint32_t stack, bool whole, struct tdm_buf *out);

/* Writes the site and its callers, because the site may be a wrapper used by all allocations: "function (file:line) ←
 * caller (file:line) ← …". Folders are left out. Writes nothing for stack 0. */
void tdm_stack_trail(
	const struct tdm_picture *picture, struct tdm_symbolizer *sym, uint32_t stack, bool utf8, struct tdm_buf *out);

/* The frames as a table in the arena; NULL for stack 0. If `trail` is not NULL, it gets the functions from the site
 * outwards, and *site gets the site. */
const struct tdm_table *tdm_stack_table(struct tdm_arena *arena, const struct tdm_picture *picture,
	struct tdm_symbolizer *sym, uint32_t stack, const char **site, struct tdm_value_list *trail);

#endif
