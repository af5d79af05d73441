#include "scan/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>

/* The first block of an arena is small, since most files need little; each is twice as large as the one before. */
enum { FIRST_BYTES = 1 << 12, BLOCK_BYTES = 1 << 16, ALIGN = alignof(max_align_t) };

struct tdm_arena_block {
	struct tdm_arena_block *next;
	alignas(max_align_t) char data[];
};

void tdm_arena_init(struct tdm_arena *arena, size_t max)
{
	*arena = (struct tdm_arena){ .max = max };
}

void tdm_arena_done(struct tdm_arena *arena)
{
	while (arena->blocks != NULL) {
		struct tdm_arena_block *block = arena->blocks;
		arena->blocks = block->next;
		free(block);
	}
	*arena = (struct tdm_arena){ 0 };
}

static bool add_block(struct tdm_arena *arena)
{
	size_t bytes = arena->block_bytes == 0 ? FIRST_BYTES : arena->block_bytes * 2;
	bytes = bytes > BLOCK_BYTES ? BLOCK_BYTES : bytes;
	struct tdm_arena_block *block = calloc(1, sizeof *block + bytes);
	if (block == NULL)
		return false;
	block->next = arena->blocks;
	arena->blocks = block;
	arena->left = arena->block_bytes = bytes;
	return true;
}

/* A large request gets a block of its own, behind the newest, whose rest stays in use. */
static void *take_large(struct tdm_arena *arena, size_t bytes)
{
	struct tdm_arena_block *block = calloc(1, sizeof *block + bytes);
	if (block == NULL)
		return NULL;
	if (arena->blocks == NULL && !add_block(arena)) {
		free(block);
		return NULL;
	}
	block->next = arena->blocks->next;
	arena->blocks->next = block;
	return block->data;
}

void *tdm_arena_take(struct tdm_arena *arena, size_t bytes)
{
	if (arena->failed || bytes > SIZE_MAX / 2)
		return NULL;
	bytes = bytes == 0 ? ALIGN : (bytes + ALIGN - 1) / ALIGN * ALIGN;
	arena->failed = arena->max != 0 && bytes > arena->max - arena->used;
	if (arena->failed)
		return NULL;
	void *got = NULL;
	if (bytes > FIRST_BYTES / 4) {
		got = take_large(arena, bytes);
	} else if (bytes <= arena->left || add_block(arena)) {
		got = arena->blocks->data + (arena->block_bytes - arena->left);
		arena->left -= bytes;
	}
	arena->failed = got == NULL;
	arena->used += got != NULL ? bytes : 0;
	return got;
}

const char *tdm_arena_text(struct tdm_arena *arena, struct tdm_str text)
{
	char *copy = tdm_arena_take(arena, text.len + 1);
	if (copy != NULL && text.len != 0)
		memcpy(copy, text.ptr, text.len);
	return copy;
}
