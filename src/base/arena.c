#include "base/arena.h"
#include "base/memory.h"

#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The first block of an arena is small, since most files need little; each successive block is double the size of the
 * previous one. */
enum { FIRST_BYTES = 1 << 12, BLOCK_BYTES = 1 << 16, ALIGN = alignof(max_align_t) };

struct tdm_arena_block {
	struct tdm_arena_block *next;
	alignas(max_align_t) char data[];
};

void tdm_arena_done(struct tdm_arena *arena)
{
	while (arena->blocks != NULL) {
		struct tdm_arena_block *block = arena->blocks;
		arena->blocks = block->next;
		free(block);
	}
	*arena = (struct tdm_arena){ 0 };
}

static void add_block(struct tdm_arena *arena)
{
	size_t bytes = arena->block_bytes == 0 ? FIRST_BYTES : arena->block_bytes * 2;
	bytes = bytes > BLOCK_BYTES ? BLOCK_BYTES : bytes;
	struct tdm_arena_block *block = tdm_zalloc(1, sizeof *block + bytes);
	block->next = arena->blocks;
	arena->blocks = block;
	arena->left = arena->block_bytes = bytes;
}

/* A large request gets its own block, linked after the newest block, so that the rest of the newest one stays in
 * use. */
static void *take_large(struct tdm_arena *arena, size_t bytes)
{
	struct tdm_arena_block *block = tdm_zalloc(1, sizeof *block + bytes);
	if (arena->blocks == NULL)
		add_block(arena);
	block->next = arena->blocks->next;
	arena->blocks->next = block;
	return block->data;
}

void *tdm_arena_take(struct tdm_arena *arena, size_t bytes)
{
	bytes = bytes == 0 ? ALIGN : (bytes + ALIGN - 1) / ALIGN * ALIGN;
	arena->used += bytes;
	if (bytes > FIRST_BYTES / 4)
		return take_large(arena, bytes);
	if (bytes > arena->left)
		add_block(arena);
	void *got = arena->blocks->data + (arena->block_bytes - arena->left);
	arena->left -= bytes;
	return got;
}

struct tdm_str tdm_arena_str(struct tdm_arena *arena, struct tdm_str text)
{
	char *copy = tdm_arena_take(arena, text.len + 1);
	if (text.len != 0)
		memcpy(copy, text.ptr, text.len);
	return (struct tdm_str){ copy, text.len };
}

struct tdm_str tdm_arena_buf(struct tdm_arena *arena, struct tdm_buf *buf)
{
	struct tdm_str text = tdm_arena_str(arena, tdm_buf_str(buf));
	tdm_buf_done(buf);
	return text;
}

char *tdm_arena_vprinted(struct tdm_arena *arena, const char *format, va_list arguments)
{
	va_list again;
	va_copy(again, arguments);
	int len = vsnprintf(NULL, 0, format, again);
	va_end(again);
	char *text = tdm_arena_take(arena, (size_t)(len > 0 ? len : 0) + 1);
	vsnprintf(text, (size_t)(len > 0 ? len : 0) + 1, format, arguments);
	return text;
}

char *tdm_arena_printed(struct tdm_arena *arena, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	char *text = tdm_arena_vprinted(arena, format, arguments);
	va_end(arguments);
	return text;
}
