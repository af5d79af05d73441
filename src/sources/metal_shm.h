/*
 * The files of tt-metal's shared memory: one for each device, "tt_device_ID_memory" in /dev/shm. They are read into
 * copies until two in a row agree; they are never mapped and never written.
 */
#ifndef TDM_SOURCES_METAL_SHM_H
#define TDM_SOURCES_METAL_SHM_H

#include <sys/types.h>

#include "sources/metal_region.h"

enum { TDM_METAL_REGIONS_MAX = 1024 };

/* The bytes of a file, when two copies in a row agreed. */
struct tdm_metal_copy {
	size_t len; /* 0: none did */
	uint8_t bytes[TDM_METAL_COPY_CAP];
};

struct tdm_metal_list {
	struct tdm_metal_region *regions; /* by id, then by name */
	struct tdm_metal_copy *copies;    /* of each, in the same order */
	size_t count, cap, copy_cap;
	uint64_t cut; /* files beyond TDM_METAL_REGIONS_MAX, not read */
	int err;      /* the directory cannot be read: why; the list is empty then */
};

/* Which directory it is: `path`, else $TIDEMARK_SHM_DIR, else /dev/shm. Borrowed. */
const char *tdm_metal_path(const char *path);

/* Whether a file of this name is a region. *id is set, and *has_id, when the part between is a 64-bit number. */
bool tdm_metal_name_parse(const char *name, bool *has_id, uint64_t *id);

struct tdm_metal_reading {
	ssize_t (*read)(void *context, uint8_t *copy); /* at most TDM_METAL_COPY_CAP bytes; or a negative code */
	void *context;
	const struct tdm_metal_copy *before; /* of an earlier reading; NULL: there was none */
	struct tdm_metal_copy *copy;         /* of this one */
};

/*
 * Takes copies until one is the same as the one before it, which may be an earlier reading's, or it has tried often
 * enough, and decodes the last.
 */
void tdm_metal_read_settled(struct tdm_metal_reading *reading, struct tdm_metal_region *region);

/* Reads one file of a directory. Everything that goes wrong is a status of the region. */
void tdm_metal_read(int dir_fd, const char *name, const struct tdm_metal_copy *before, struct tdm_metal_copy *copy,
	struct tdm_metal_region *region);

/*
 * Reads all regions of tdm_metal_path(path). `list` is all zero, or one that is to be read anew; `before` is another
 * one, or NULL: a file that is as it was then is read once. 0, or list->err.
 */
int tdm_metal_list_read(struct tdm_metal_list *list, const struct tdm_metal_list *before, const char *path);
void tdm_metal_list_done(struct tdm_metal_list *list);

#endif
