/*
 * Reads ELF files without a library, using the layouts in <elf.h>: headers, tables and, for a program or a shared
 * library, the parts used by the dynamic loader. These parts show which libraries the file needs, where the loader
 * searches for those libraries, and which symbols from a given set the file defines. Nothing is loaded or run. Section
 * headers may be stripped, so the loader's own tables are used. If section headers are present, the number of symbols
 * comes from them, and the full symbol table shows which symbols are hidden.
 *
 * The file may be hostile: every piece is checked against the file's size and copied before it is used. The first error
 * stays in `err`; after an error, everything read is zero. 32-bit tables are returned in their 64-bit form.
 */
#ifndef TDM_INPUT_ELF_FILE_H
#define TDM_INPUT_ELF_FILE_H

#include <elf.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/diag.h"

struct tdm_elf {
	int fd; /* borrowed; its file position does not matter */
	uint64_t size;
	int err;               /* 0, -errno, or TDM_ECORRUPT with a text in diag */
	struct tdm_diag *diag; /* may be NULL */
	bool is_64;
	uint16_t type, machine;
	uint16_t phentsize, phnum, shentsize, shnum, shstrndx;
	uint64_t phoff, shoff;
};

/* Whether the first bytes are those of an ELF file. */
bool tdm_elf_detect(const char *head, size_t len);

/* Reads the header. Returns `err`. */
int tdm_elf_begin(struct tdm_elf *elf, int fd, uint64_t size, struct tdm_diag *diag);
/* Sets `err` unless it is already set, and returns `err`. */
int tdm_elf_bad(struct tdm_elf *elf, const char *text);
/* Each of these returns true if there is no error. */
bool tdm_elf_read(struct tdm_elf *elf, uint64_t offset, void *dst, size_t len);
bool tdm_elf_segment(struct tdm_elf *elf, uint64_t index, Elf64_Phdr *segment);
bool tdm_elf_section(struct tdm_elf *elf, uint64_t index, Elf64_Shdr *section);

/* Whether there are program headers or section headers, and they have the right size. */
bool tdm_elf_has_segments(const struct tdm_elf *elf);
bool tdm_elf_has_sections(const struct tdm_elf *elf);

/* ---- programs and shared libraries ---- */

enum { TDM_ELF_NEEDED_MAX = 1024, TDM_ELF_RELOCATIONS = 2 };

/* What an object does with a symbol; the highest value wins. */
enum tdm_elf_has {
	TDM_ELF_ABSENT,
	TDM_ELF_IMPORTED, /* uses another object's symbol */
	/* has the function, but calls to it cannot be intercepted: the function is local, hidden or protected */
	TDM_ELF_HIDDEN,
	TDM_ELF_DEFINED,
};

struct tdm_elf_object {
	struct tdm_elf file;
	bool is_dynamic;      /* needs the dynamic loader; otherwise a static program */
	bool has_interpreter; /* names a loader, so it is a program */
	bool is_pie;          /* a position-independent program, as marked by its linker */
	bool is_symbolic;     /* linked with -Bsymbolic: the object's own calls never leave it */
	/* Relocations for calls, and all others: address (0 if there are none) and bytes. */
	uint64_t relocations[TDM_ELF_RELOCATIONS], relocation_bytes[TDM_ELF_RELOCATIONS];
	/* Point into `strings`, or NULL. */
	const char *rpath, *runpath;
	const char **needed;
	size_t needed_count, needed_cap;
	char *strings; /* owned copy of the loader's string table, with a NUL after it */
	uint64_t string_bytes;
	uint64_t symbols_offset, symbol_count;
};

/* Reads a file of `size` bytes; the descriptor is borrowed until the object is released. 0, -errno, -ENOMEM, or
 * TDM_ECORRUPT with a text in diag; release the object in every case. */
int tdm_elf_object_read(struct tdm_elf_object *object, int fd, uint64_t size, struct tdm_diag *diag);
void tdm_elf_object_done(struct tdm_elf_object *object);

/* Sets has[i] to the object's relation to names[i] (enum tdm_elf_has). Returns the same codes as
 * tdm_elf_object_read(). */
int tdm_elf_object_find(const struct tdm_elf_object *object, const char *const *names, size_t count, uint8_t *has,
	struct tdm_diag *diag);

/* Whether the object defines some of the functions but never calls any of them by name or stores its address, so the
 * object's own calls cannot be intercepted, as with -Bsymbolic-functions. False if the file does not show this. Returns
 * the same codes. */
int tdm_elf_object_is_bound(const struct tdm_elf_object *object, const char *const *names, size_t count, bool *is_bound,
	struct tdm_diag *diag);

/* ---- programs and the libraries they load (program_file.c) ---- */

enum { TDM_OBJECTS_MAX = 4096 };

struct tdm_object {
	char *path;      /* the path that the program or the process uses */
	char *name;      /* the name by which it was requested; NULL if it was not requested */
	char *open_path; /* a path at which we can open the file; NULL if we cannot */
	bool is_deleted; /* the process uses a file that was deleted or replaced */
	int err;         /* why the file cannot be opened; 0 if it can be, or if opening was not tried */
	size_t loader;   /* index of the object that needs it; the program (index 0) is its own loader */
	char *rpath;     /* its DT_RPATH, which is also searched for the libraries it needs; or NULL */
	dev_t device;    /* identity of the file, once found */
	ino_t inode;     /* 0 if the file was not found */
};

/* Starts zeroed. */
struct tdm_objects {
	struct tdm_object *list;
	size_t count, cap;
	char **missing; /* names of libraries that were not found */
	size_t missing_count, missing_cap;
	bool is_cut; /* there were more than TDM_OBJECTS_MAX */
};

void tdm_objects_done(struct tdm_objects *objects);

/* Adds a file, but not the libraries it needs, unless the file is already in the list under another name. */
void tdm_objects_add(struct tdm_objects *objects, const char *path, const char *name, const char *open_path);

/*
 * Adds the libraries needed by the object with this index, and the libraries that those need in turn. The first object
 * is the program, which loads the others. `library_path` is $LD_LIBRARY_PATH or NULL; `cache` is the loader's list of
 * libraries, normally TDM_LOADER_CACHE. An object that cannot be read gets its `err`.
 */
#define TDM_LOADER_CACHE "/etc/ld.so.cache"
void tdm_objects_follow(struct tdm_objects *objects, size_t first, const char *library_path, const char *cache);

/* Adds the files that a process has mapped as code, even if the process is in a container. 0 or -errno. */
int tdm_objects_mapped(struct tdm_objects *objects, const char *proc, int32_t pid);

/* Opens a regular file for reading and sets *size to its bytes. A descriptor, or -errno; -EINVAL if it is not a regular
 * file. */
int tdm_object_open(const char *path, uint64_t *size);

/* ---- programs ---- */

/* Why the loader will not preload anything into a program. */
enum tdm_preload_bar {
	TDM_BAR_NONE,
	TDM_BAR_STATIC,     /* the program does not use the loader */
	TDM_BAR_PRIVILEGED, /* the program gains rights beyond the user's, so the loader ignores LD_PRELOAD */
	TDM_BAR_FOREIGN,    /* for another processor or word size */
	TDM_BAR_UNKNOWN,    /* the file cannot be read */
};

struct tdm_program_file {
	char path[PATH_MAX];   /* the program file to run; for a script, its interpreter */
	char script[PATH_MAX]; /* the script; empty if the program is not one */
	bool is_python, is_library;
	enum tdm_preload_bar bar;
};

/* 0, or -errno with a text in diag: not found, or not a program. A name without a slash is searched for in PATH, as
 * in a shell. */
int tdm_program_find(struct tdm_program_file *program, const char *command, struct tdm_diag *diag);

/* The words to put after the program's path: "is statically linked: the preload cannot work in it". NULL if there is
 * no obstacle. */
const char *tdm_preload_bar_text(enum tdm_preload_bar bar);

/* Whether programs like this one can load a library and everything it needs. If a preload lacks a library, the
 * program does not start. 0, or an error with a text in diag. */
int tdm_program_takes(const char *library, struct tdm_diag *diag);

/* ---- compiled kernels (kernel_elf.c) ---- */

enum { TDM_KERNEL_SEGMENTS_MAX = 64 };

struct tdm_kernel_segment {
	uint64_t address;
	uint64_t file_bytes;   /* bytes in the file */
	uint64_t packed_bytes; /* bytes to be copied by the runtime */
	uint64_t memory_bytes; /* size including zeroed data, in whole words */
	uint64_t limit;        /* maximum allowed size; UINT64_MAX if there is none */
	bool executable;
};

struct tdm_kernel_elf {
	uint64_t packed_bytes; /* sum over the segments */
	uint64_t text_bytes;   /* the part of packed_bytes in executable segments */
	uint64_t zeroed_bytes; /* zeroed memory, neither stored in the file nor copied */
	uint32_t segment_count;
	uint32_t over_limit; /* segments larger than the linker script allows */
	struct tdm_kernel_segment segments[TDM_KERNEL_SEGMENTS_MAX];
};

/* Reads a file of `size` bytes; its file position does not matter. 0, -errno, or TDM_ECORRUPT with a text in diag. */
int tdm_kernel_elf_read(struct tdm_kernel_elf *elf, int fd, uint64_t size, struct tdm_diag *diag);

/*
 * The format "kernels" reads the runtime's cache of compiled kernels, or any part of it:
 *
 *     …/BUILD/kernels/NAME/HASH/TARGET/TARGET.elf
 *     …/BUILD/firmware/TARGET/TARGET.elf
 */

/*
 * Bytes that one kernel's binaries occupy in the kernel-config ring, each rounded up; `path` is the kernel's folder
 * (…/NAME/HASH). Considers only files for known processors. TDM_BYTES_UNKNOWN if there is none, or if one is unusable.
 */
uint64_t tdm_kernel_cache_bytes_of(const char *path);

#endif
