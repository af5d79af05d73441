/*
 * Private memory of a writer, zeroed and not from malloc: a writer works inside other people's programs, at any time.
 */
#ifndef TDM_LEDGER_PRIVATE_MEMORY_H
#define TDM_LEDGER_PRIVATE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/* Areas begin and end at the kernel's page boundaries. ARM also has pages of 64 KiB. */
size_t tdm_page_bytes(void);
size_t tdm_page_up(size_t bytes);

/* Whole pages; NULL when there are none. Large blocks use large pages if possible. */
void *tdm_private_alloc(size_t bytes);
void tdm_private_free(void *at, size_t bytes);

/*
 * The same, but with `is_small` small blocks share pages: for a process that has thousands of writers. Blocks begin at
 * a cache line. The pages of small blocks are used again, and never given back.
 */
void *tdm_block_alloc(bool is_small, size_t bytes);
void tdm_block_free(bool is_small, void *at, size_t bytes);

#endif
