/*
 * The files of tt-metal's shared memory: one for each device, "tt_device_ID_memory" in /dev/shm. They are read into
 * copies until two in a row agree; they are never mapped and never written.
 */
#ifndef TDM_SOURCES_METAL_SHM_H
#define TDM_SOURCES_METAL_SHM_H

#include <sys/types.h>

#include "sources/metal_region.h"

enum { TDM_METAL_REGIONS_MAX = 1024 };

struct tdm_metal_list {
	struct tdm_metal_region *regions; /* by id, then by name */
	size_t count, cap;
	uint64_t cut; /* files beyond TDM_METAL_REGIONS_MAX, not read */
	int err;      /* the directory cannot be read: why; the list is empty then */
};

/* Which directory it is: `path`, else $TIDEMARK_SHM_DIR, else /dev/shm. Borrowed. */
const char *tdm_metal_path(const char *path);

/* Whether a file of this name is a region. *id is set, and *has_id, when the part between is a 64-bit number. */
bool tdm_metal_name_parse(const char *name, bool *has_id, uint64_t *id);

/*
 * Takes copies until two in a row are the same or it has tried often enough, and decodes the last. `read` gives a copy
 * of at most TDM_METAL_COPY_CAP bytes: their number, or a negative code.
 */
void tdm_metal_read_settled(
	ssize_t (*read)(void *context, uint8_t *copy), void *context, struct tdm_metal_region *region);

/* Reads one file of a directory. Everything that goes wrong is a status of the region. */
void tdm_metal_read(int dir_fd, const char *name, struct tdm_metal_region *region);

/* Reads all regions of tdm_metal_path(path). `list` is all zero, or one that is to be read anew. 0, or list->err. */
int tdm_metal_list_read(struct tdm_metal_list *list, const char *path);
void tdm_metal_list_done(struct tdm_metal_list *list);

#endif
