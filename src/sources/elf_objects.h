/*
 * Which programs and libraries belong together: those that the loader will load for a file, found the way it finds
 * them, and those that a running process has mapped. Nothing is loaded. Libraries that a program opens while it runs
 * (dlopen, as every Python package) are among the second only.
 */
#ifndef TDM_SOURCES_ELF_OBJECTS_H
#define TDM_SOURCES_ELF_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/diag.h"

enum { TDM_OBJECTS_MAX = 4096 };

struct tdm_object {
	char *path;      /* as the program, or the process, knows it */
	char *name;      /* by which it was asked for; NULL: by nobody */
	char *open_path; /* where it is for us; NULL: it cannot be reached */
	bool is_deleted; /* the process uses a file that is gone, or was replaced */
	int err;         /* why it cannot be opened; 0: it can, or nobody has tried */
	size_t loader;   /* the object that needs it; 0: the program, of itself, too */
	char *rpath;     /* its DT_RPATH, where the libraries of those that it needs are looked for, too; NULL: none */
	dev_t device;    /* the file, once it was found */
	ino_t inode;     /* 0: it was not */
};

/* Zeroed to begin with. */
struct tdm_objects {
	struct tdm_object *list;
	size_t count, cap;
	char **missing; /* names of libraries that were not found */
	size_t missing_count, missing_cap;
	bool is_cut; /* there were more than TDM_OBJECTS_MAX */
};

void tdm_objects_done(struct tdm_objects *objects);

/* Adds a file, unless it is there under another name, and nothing that it needs. 0 or -ENOMEM. */
int tdm_objects_add(struct tdm_objects *objects, const char *path, const char *name, const char *open_path);

/*
 * Adds what the object of this index needs, and what those need. The first of all objects is the program, which loads
 * the others. `library_path` is $LD_LIBRARY_PATH or NULL; `cache` the loader's list of libraries, normally
 * TDM_LOADER_CACHE. An object that cannot be read gets its `err`. 0 or -ENOMEM.
 */
#define TDM_LOADER_CACHE "/etc/ld.so.cache"
int tdm_objects_follow(struct tdm_objects *objects, size_t first, const char *library_path, const char *cache);

/* Adds the files that a process has mapped to run code from them; in a container, too. 0 or -errno. */
int tdm_objects_mapped(struct tdm_objects *objects, const char *proc, int32_t pid);

/* Opens a regular file for reading, of `*size` bytes. A descriptor, or -errno; -EINVAL: it is not a file. */
int tdm_object_open(const char *path, uint64_t *size);

#endif
