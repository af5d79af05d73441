/*
 * From addresses in a program to functions and lines, with the files it had mapped. Nothing of the program itself is
 * needed: a ledger, or a recording, names its modules. A file that has changed since gives wrong names; one that is
 * gone gives none.
 */
#ifndef TDM_SOURCES_SYMBOLIZE_H
#define TDM_SOURCES_SYMBOLIZE_H

#include <stddef.h>
#include <stdint.h>

enum { TDM_SYMBOL_CAP = 512 };

struct tdm_symbol {
	char function[TDM_SYMBOL_CAP]; /* empty: unknown */
	char file[TDM_SYMBOL_CAP];     /* source file; empty: unknown */
	int line;                      /* 0: unknown */
	char module[TDM_SYMBOL_CAP];   /* file name of the module; empty: in none */
	uint64_t offset;               /* of the address in the module */
};

struct tdm_symbolizer;

struct tdm_symbolizer *tdm_symbolizer_new(void);      /* NULL only when out of memory */
void tdm_symbolizer_free(struct tdm_symbolizer *sym); /* NULL is allowed */

/* A module that was loaded at `base` (what its own addresses are relative to) and ends at base + size. 0, -ENOMEM or
 * -EOVERFLOW. */
int tdm_symbolizer_module(struct tdm_symbolizer *sym, uint64_t base, uint64_t size, const char *path);

/*
 * When the modules were loaded, by the real-time clock. A file that has changed since is another program by now, whose
 * names would be wrong: addresses in it have a module and an offset only. To be called before the first find.
 */
void tdm_symbolizer_loaded(struct tdm_symbolizer *sym, uint64_t real_ns);

/* What is known about an address of a call stack: a place that a call returns to, so that the call before it is meant.
 * Borrowed until the next call. */
const struct tdm_symbol *tdm_symbolizer_find(struct tdm_symbolizer *sym, uint64_t address);

#endif
