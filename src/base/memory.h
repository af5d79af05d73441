/*
 * Allocation that succeeds or ends the program. Commands and the daemon allocate through these functions and check
 * nothing: when memory runs out, tdm_out_of_memory() prints one line and ends the program. Two kinds of code do not use
 * them:
 *
 *   - code that runs inside other people's programs (client, metal, ledger/layout, ledger/write and their helpers)
 *     returns -ENOMEM; scripts/check-layers keeps this header out of it;
 *   - sizes that a peer or a file dictates go through tdm_reserve() or malloc(), and the input is refused on failure.
 *
 * Release everything with free().
 */
#ifndef TDM_BASE_MEMORY_H
#define TDM_BASE_MEMORY_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"

/* Prints "NAME: out of memory" on standard error and ends the program with exit code 2. */
_Noreturn void tdm_out_of_memory(void);

/* Sets a function that restores the terminal before tdm_out_of_memory() ends the program; NULL for none. */
void tdm_before_out_of_memory(void (*restore)(void));

void *tdm_alloc(size_t bytes);               /* not initialised */
void *tdm_zalloc(size_t count, size_t item); /* zeroed */
void *tdm_realloc(void *old, size_t count, size_t item);
void *tdm_copy_of(const void *data, size_t bytes);
char *tdm_strdup(const char *text); /* returns NULL for NULL */
char *tdm_strndup(const char *text, size_t most);
char *tdm_printed(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *tdm_vprinted(const char *format, va_list arguments) __attribute__((format(printf, 1, 0)));

/* These two are tdm_reserve() and tdm_map_put(), but they never fail. */
void tdm_grow(void *list, size_t *cap, size_t count, size_t item);
void tdm_map_set(struct tdm_map *map, uint64_t key, uint32_t value);

#endif
