/*
 * Finds the functions and lines of addresses in a program, using the files it had mapped. The program itself is not
 * needed: a ledger or a recording names its modules. A file that is gone gives no names; one that has changed gives
 * none either if tdm_symbolizer_loaded() was called, else wrong ones.
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
	char module[TDM_SYMBOL_CAP];   /* file name of the module; empty: not in a module */
	uint64_t offset;               /* of the address in the module */
};

struct tdm_symbolizer;

struct tdm_symbolizer *tdm_symbolizer_new(void);      /* NULL only when out of memory */
void tdm_symbolizer_free(struct tdm_symbolizer *sym); /* NULL is allowed */

/* Adds a module that was loaded at `base`, to which its own addresses are relative, and ends at base + size. 0, -ENOMEM
 * or -EOVERFLOW. */
int tdm_symbolizer_module(struct tdm_symbolizer *sym, uint64_t base, uint64_t size, const char *path);

/*
 * Says when the modules were loaded, by the real-time clock. A file that has changed since would give wrong names, so
 * addresses in it get only a module and an offset. Call it before the first find.
 */
void tdm_symbolizer_loaded(struct tdm_symbolizer *sym, uint64_t real_ns);

/* What is known about an address of a call stack. It is a return address, so the call before it is looked up. Borrowed
 * until the next call. */
const struct tdm_symbol *tdm_symbolizer_find(struct tdm_symbolizer *sym, uint64_t address);

#endif
