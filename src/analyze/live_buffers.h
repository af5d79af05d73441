/* Chooses and sorts live buffers of a picture, and adds them up by the place that allocated them. */
#ifndef TDM_ANALYZE_LIVE_BUFFERS_H
#define TDM_ANALYZE_LIVE_BUFFERS_H

#include "state/picture.h"

enum tdm_buffer_sort {
	TDM_SORT_SIZE,    /* largest first, by reserved bytes */
	TDM_SORT_AGE,     /* oldest first */
	TDM_SORT_SITE,    /* by name */
	TDM_SORT_ADDRESS, /* by device, kind and address */
	TDM_SORT_COUNT
};

struct tdm_buffer_filter {
	bool has_kind, has_device;
	enum tdm_kind kind;
	uint32_t device; /* logical number */
};

/* A buffer and its holder. */
struct tdm_buffer_ref {
	const struct tdm_buffer *buffer;
	uint32_t holding; /* index */
};

/* The chosen buffers of a process, in order. Owned by the caller (free()); NULL with *count 0 when out of memory. */
struct tdm_buffer_ref *tdm_live_buffers(const struct tdm_picture *picture, size_t process,
	const struct tdm_buffer_filter *filter, enum tdm_buffer_sort sort, size_t *count);

/* The buffers of one kind that one place in the program holds. A place is a name or, without one, a call stack. */
struct tdm_site {
	uint32_t name, stack; /* of the picture; stack is 0 when there is a name, or when they differ */
	uint8_t kind;
	uint64_t count, shared;
	uint64_t reserved_bytes, asked_bytes; /* without shared buffers; unknown if all are */
	uint64_t oldest_ns;                   /* monotonic clock of the oldest birth; 0: unknown */
};

/* The sites of a process (or of all: TDM_INDEX_NONE), the largest first. Owned by the caller (free()). 0 or -ENOMEM. */
int tdm_sites_find(const struct tdm_picture *picture, uint32_t process, struct tdm_site **sites, size_t *count);

#endif
