/*
 * What a program or a shared library has and needs, as the dynamic loader will see it: the libraries that it names,
 * where it looks for them, and which of some given symbols it defines. Nothing of it is loaded or run. Section headers
 * may be stripped: the loader's own tables are used. Where there are headers, they say how many symbols there are, and
 * a table of all symbols says which ones are hidden.
 */
#ifndef TDM_SOURCES_ELF_SYMBOLS_H
#define TDM_SOURCES_ELF_SYMBOLS_H

#include "sources/elf_file.h"

enum { TDM_ELF_NEEDED_MAX = 1024 };

/* How an object has a symbol; the higher wins. */
enum tdm_elf_has {
	TDM_ELF_ABSENT,
	TDM_ELF_IMPORTED, /* it uses the symbol of another object */
	TDM_ELF_HIDDEN,   /* it has the function, but calls cannot be intercepted: local, hidden or protected */
	TDM_ELF_DEFINED,
};

struct tdm_elf_object {
	struct tdm_elf file;
	bool is_dynamic;      /* the loader has something to do with it; else it is a static program */
	bool has_interpreter; /* it names a loader: a program */
	bool is_pie;          /* a program that can be loaded anywhere, as its linker says */
	bool is_symbolic;     /* it was linked with -Bsymbolic: its own calls never leave it */
	struct tdm_elf_part { /* relocations: of calls, and all others; 0: none */
		uint64_t address, bytes;
	} calls, others;
	/* Texts in `strings`; NULL: none */
	const char *soname, *rpath, *runpath;
	const char **needed;
	size_t needed_count, needed_cap;
	char *strings; /* the loader's string table, owned, with a NUL after it */
	uint64_t string_bytes;
	uint64_t symbols_offset, symbol_count;
};

/* Reads a file of `size` bytes, whose descriptor is borrowed until the object is done. 0, -errno, -ENOMEM, or
 * TDM_ECORRUPT with a text in diag; release it in either case. */
int tdm_elf_object_read(struct tdm_elf_object *object, int fd, uint64_t size, struct tdm_diag *diag);
void tdm_elf_object_done(struct tdm_elf_object *object);

/* has[i] is how it has names[i] (enum tdm_elf_has). Same codes. */
int tdm_elf_object_find(const struct tdm_elf_object *object, const char *const *names, size_t count, uint8_t *has,
	struct tdm_diag *diag);

/* Whether it defines some of the functions, and neither calls any of those by name nor has its address anywhere, so
 * that no call of its own can be intercepted; as after -Bsymbolic-functions. False where that cannot be told. Same
 * codes. */
int tdm_elf_object_is_bound(const struct tdm_elf_object *object, const char *const *names, size_t count, bool *is_bound,
	struct tdm_diag *diag);

#endif
