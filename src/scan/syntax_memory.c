/*
 * The memory that tree-sitter works in. Its version 0.20 counts the children of a node in 16 bits. A text that ends
 * while more than 65,535 things are open gives an error node with more children than that; the library then computes
 * the start of their array wrong, by a multiple of 65,536 places, and frees an address in the middle of it. So every
 * block begins with its own address, by which the right start is found again:
 *
 *     block ── own address │ child 0 … child 65,535 │ child 65,536 …
 *                                                   └ what the library frees
 *
 * The children that are not counted are not seen, and what they hold is not freed: a small loss for a text that is no
 * source code.
 */
#include "scan/syntax_memory.h"

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <tree_sitter/api.h>

/* Before what the library gets; as large as the strictest alignment. */
struct block {
	_Alignas(max_align_t) struct block *self;
};

enum { WRONG_STEP = 65536 * sizeof(void *) }; /* 65,536 children */

static struct block *block_of(void *memory)
{
	struct block *block = (struct block *)memory - 1;
	while (block->self != block)
		block = (struct block *)(void *)((char *)block - WRONG_STEP);
	return block;
}

static void *begin(struct block *block)
{
	if (block == NULL)
		return NULL;
	block->self = block;
	return block + 1;
}

static void *take(size_t size)
{
	return size <= SIZE_MAX - sizeof(struct block) ? begin(malloc(sizeof(struct block) + size)) : NULL;
}

static void *take_zeroed(size_t count, size_t size)
{
	if (size != 0 && count > (SIZE_MAX - sizeof(struct block)) / size)
		return NULL;
	return begin(calloc(1, sizeof(struct block) + count * size));
}

static void *resize(void *memory, size_t size)
{
	if (memory == NULL)
		return take(size);
	return size <= SIZE_MAX - sizeof(struct block) ? begin(realloc(block_of(memory), sizeof(struct block) + size))
						       : NULL;
}

static void give_back(void *memory)
{
	if (memory != NULL)
		free(block_of(memory));
}

static void set_allocator(void)
{
	ts_set_allocator(take, take_zeroed, resize, give_back);
}

void tdm_syntax_memory_use(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, set_allocator);
}
