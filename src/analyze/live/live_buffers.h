/* Selects and sorts the live buffers in a picture, and adds them up by the place that allocated them. */
#ifndef TDM_ANALYZE_LIVE_BUFFERS_H
#define TDM_ANALYZE_LIVE_BUFFERS_H

#include "live/join/picture.h"

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
	uint32_t device; /* the device's logical number */
};

/* A buffer and its holder. */
struct tdm_buffer_ref {
	const struct tdm_buffer *buffer;
	uint32_t holding; /* index of the holding in the picture */
};

/* The selected buffers of a process, in order. Owned by the caller (free()). */
struct tdm_buffer_ref *tdm_live_buffers(const struct tdm_picture *picture, size_t process,
	const struct tdm_buffer_filter *filter, enum tdm_buffer_sort sort, size_t *count);

/* The buffers of one kind allocated by one place in the program. A place is a name or, for unnamed buffers, a call
 * stack. */
struct tdm_site {
	/* string and stack numbers in the picture; stack is 0 if there is a name, or if stacks differ */
	uint32_t name, stack;
	uint8_t kind;
	uint64_t count, shared;
	uint64_t reserved_bytes, asked_bytes; /* bytes without shared buffers; TDM_BYTES_UNKNOWN if all are unknown */
	uint64_t oldest_ns;                   /* monotonic time of the oldest birth; 0 if unknown */
};

/* The sites of a process (TDM_INDEX_NONE for all processes), largest first. Owned by the caller (free()). */
struct tdm_site *tdm_sites_find(const struct tdm_picture *picture, uint32_t process, size_t *count);

#endif
