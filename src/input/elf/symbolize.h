/*
 * Finds the functions and lines of addresses in a program, using the files that the program had mapped. The program may
 * have ended: a ledger or a recording names its modules. A deleted file yields no names. A file changed since it was
 * loaded yields no names if tdm_symbolizer_loaded() was called, and wrong names otherwise.
 */
#ifndef TDM_INPUT_SYMBOLIZE_H
#define TDM_INPUT_SYMBOLIZE_H

#include <stddef.h>
#include <stdint.h>

enum { TDM_SYMBOL_CAP = 512 };

struct tdm_symbol {
	char function[TDM_SYMBOL_CAP]; /* empty if unknown */
	char file[TDM_SYMBOL_CAP];     /* source file; empty if unknown */
	int line;                      /* 0 if unknown */
	char module[TDM_SYMBOL_CAP];   /* file name of the module; empty if the address is in no module */
	uint64_t offset;               /* offset of the address in the module */
};

struct tdm_symbolizer;

struct tdm_symbolizer *tdm_symbolizer_new(void);
void tdm_symbolizer_free(struct tdm_symbolizer *sym); /* NULL is allowed */

/* Adds a module loaded at `base`, to which the module's own addresses are relative; it ends at base + size. 0 or
 * -EOVERFLOW. */
int tdm_symbolizer_module(struct tdm_symbolizer *sym, uint64_t base, uint64_t size, const char *path);

/* Sets when the modules were loaded, by the real-time clock. A file changed since then would yield wrong names, so
 * its addresses get only a module and an offset. Call this before tdm_symbolizer_find(). */
void tdm_symbolizer_loaded(struct tdm_symbolizer *sym, uint64_t real_ns);

/* The symbol of an address from a call stack. The address is a return address, so the call before it is looked up.
 * Borrowed until the next call. */
const struct tdm_symbol *tdm_symbolizer_find(struct tdm_symbolizer *sym, uint64_t address);

#endif
