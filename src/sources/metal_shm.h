/*
 * Reads the files of tt-metal's shared memory: one for each device, "tt_device_ID_memory" in /dev/shm. Each is copied
 * until two copies in a row agree; it is never mapped and never written.
 */
#ifndef TDM_SOURCES_METAL_SHM_H
#define TDM_SOURCES_METAL_SHM_H

#include <sys/types.h>

#include "sources/metal_region.h"

enum {
	TDM_METAL_REGIONS_MAX = 1024,
	TDM_METAL_OPEN_MAX = 64, /* files that a list keeps open for the next one */
};

/* The bytes of a file if two copies in a row agreed. */
struct tdm_metal_copy {
	size_t len; /* 0: they did not */
	uint8_t bytes[TDM_METAL_COPY_CAP];
};

struct tdm_metal_list {
	struct tdm_metal_region *regions; /* by id, then by name */
	struct tdm_metal_copy *copies;    /* one for each region */
	size_t count, cap, copy_cap;
	int open[TDM_METAL_OPEN_MAX]; /* descriptors of the first regions, for the next reading; -1: none */
	size_t open_count;
	uint64_t cut; /* files beyond TDM_METAL_REGIONS_MAX, not read */
	int err;      /* 0, or why the directory cannot be read; the list is empty then */
};

/* The directory to use: `path`, else $TIDEMARK_SHM_DIR, else /dev/shm. Borrowed. */
const char *tdm_metal_path(const char *path);

/* Whether a file of this name is a region. Sets *has_id, and *id if the middle part is a 64-bit number. */
bool tdm_metal_name_parse(const char *name, bool *has_id, uint64_t *id);

struct tdm_metal_reading {
	ssize_t (*read)(void *context, uint8_t *copy); /* up to TDM_METAL_COPY_CAP bytes, or a negative code */
	void *context;
	const struct tdm_metal_copy *before; /* of an earlier reading, or NULL */
	const struct tdm_metal_region *was;  /* the same file as it was decoded then, or NULL */
	struct tdm_metal_copy *copy;         /* of this one */
};

/*
 * Takes copies until one equals the one before it, which may be that of an earlier reading, or until it has tried often
 * enough; then decodes the last.
 */
void tdm_metal_read_settled(struct tdm_metal_reading *reading, struct tdm_metal_region *region);

/* Reads one file of a directory. Any failure becomes the status of the region. */
void tdm_metal_read(int dir_fd, const char *name, const struct tdm_metal_copy *before, struct tdm_metal_copy *copy,
	struct tdm_metal_region *region);

/*
 * Reads all regions of tdm_metal_path(path). `list` is all zero, or an old list to reuse; `before` is another list or
 * NULL: a file that has not changed since is read only once, and the files that it has open are taken over. 0, or
 * list->err.
 */
int tdm_metal_list_read(struct tdm_metal_list *list, struct tdm_metal_list *before, const char *path);
void tdm_metal_list_done(struct tdm_metal_list *list);

#endif
