/*
 * Memory that is released all at once: the nodes, expressions and strings of a file, the blocks of a result, the cells
 * of a row. A zeroed arena is empty. A request never fails. If an arena's size depends on a file, the arena may have a
 * limit. Above the limit tdm_arena_is_full() is true, and the code processing the file stops at its next step. Not
 * thread-safe.
 */
#ifndef TDM_BASE_ARENA_H
#define TDM_BASE_ARENA_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/str.h"

struct tdm_arena_block;

struct tdm_arena {
	struct tdm_arena_block *blocks; /* newest first */
	size_t block_bytes;             /* size of the newest block */
	size_t left;                    /* free bytes in the newest block */
	size_t used, max;               /* bytes requested so far, and the limit; max 0: no limit */
};

static inline bool tdm_arena_is_full(const struct tdm_arena *arena)
{
	return arena->max != 0 && arena->used > arena->max;
}

void tdm_arena_done(struct tdm_arena *arena);

/* Returns zeroed memory, aligned for any type. */
void *tdm_arena_take(struct tdm_arena *arena, size_t bytes);

/* Returns a terminated copy of a string. */
struct tdm_str tdm_arena_str(struct tdm_arena *arena, struct tdm_str text);
static inline const char *tdm_arena_text(struct tdm_arena *arena, struct tdm_str text)
{
	return tdm_arena_str(arena, text).ptr;
}

/* Copies the buffer's text into the arena and releases the buffer. */
struct tdm_str tdm_arena_buf(struct tdm_arena *arena, struct tdm_buf *buf);

char *tdm_arena_printed(struct tdm_arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
char *tdm_arena_vprinted(struct tdm_arena *arena, const char *format, va_list arguments)
	__attribute__((format(printf, 2, 0)));

#endif
