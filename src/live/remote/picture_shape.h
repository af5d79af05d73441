/*
 * Tables of the picture members that one machine sends to another. They serve both directions: view/rows/picture_json.c
 * writes them, remote_picture.c reads them. There is one table for each structure, with a row for each member: its key,
 * type, offset, range and limits. A member without a row stays on its machine: events, modules, and indices into the
 * lists of a state.
 *
 * Unknown values are null in JSON: UINT64_MAX, UINT32_MAX, empty strings, the first name of a choice; also zeros and
 * negative numbers if the table says so.
 */
#ifndef TDM_LIVE_PICTURE_SHAPE_H
#define TDM_LIVE_PICTURE_SHAPE_H

#include "base/value.h"
#include "live/join/picture.h"

enum tdm_shape_type {
	TDM_SHAPE_PLAIN,    /* a value of its member's type */
	TDM_SHAPE_CHOICE,   /* uint8_t: an index into `names` */
	TDM_SHAPE_BITS,     /* uint32_t: an array of `names`, one for each bit that is set */
	TDM_SHAPE_HEX,      /* uint8_t[limit]: hexadecimal digits */
	TDM_SHAPE_TEXT_OF,  /* uint32_t: the number of one of the picture's texts, */
	TDM_SHAPE_STACK_OF, /* or of its stacks */
	TDM_SHAPE_READING,
	TDM_SHAPE_LOSSES, /* uint64_t[limit]: an array */
	/* A structure: */
	TDM_SHAPE_OBJECT,
	TDM_SHAPE_POINTER, /* or a null pointer */
	TDM_SHAPE_LIST,    /* a pointer to at most `limit` structures, and their size_t count */
	TDM_SHAPE_ARRAY,   /* structures[limit], and their uint32_t count */
	/* By kind: an object with a member for each known kind. */
	TDM_SHAPE_KINDS,      /* structures */
	TDM_SHAPE_KIND_BYTES, /* uint64_t */
	TDM_SHAPE_BUFFERS,    /* struct tdm_buffer_list: rows of numbers, see below */
	/* In a picture: the items to which its buffers' numbers refer. */
	TDM_SHAPE_TEXTS,  /* an array of texts; number 1 is the first */
	TDM_SHAPE_STACKS, /* arrays of frames: address, number of a text */
	TDM_SHAPE_RANGES, /* arrays of core ranges: x0, y0, x1, y1 */
};

/* The range and unit of a plain number. */
enum tdm_shape_range {
	TDM_SHAPE_ANY,
	TDM_SHAPE_BYTES,     /* a size or count, at most TDM_SHAPE_BYTES_MAX */
	TDM_SHAPE_TIME,      /* nanoseconds of the monotonic clock, at most INT64_MAX */
	TDM_SHAPE_REAL_TIME, /* the same for the real-time clock */
};

#define TDM_SHAPE_BYTES_MAX (UINT64_C(1) << 60) /* sums of a few such values do not wrap */

enum {
	TDM_SHAPE_DEVICES_MAX = 4096,
	TDM_SHAPE_PROCESSES_MAX = 16384,
	TDM_SHAPE_HOLDINGS_MAX = 32768,
	TDM_SHAPE_PROBLEMS_MAX = 1024,
	TDM_SHAPE_BUFFERS_MAX = 2 << 20, /* of a picture */
	TDM_SHAPE_TOLD_MAX = 4096,       /* traces, hazards and notes, each */
};

struct tdm_shape_field {
	const char *key;
	uint8_t type;          /* enum tdm_shape_type */
	uint8_t member;        /* enum tdm_member; TDM_MEMBER sets it and the offset */
	uint8_t range;         /* enum tdm_shape_range */
	bool zero_is_null;     /* of a number */
	bool negative_is_null; /* -1 is unknown */
	uint8_t name_count;
	uint16_t count_offset;
	uint32_t limit;
	size_t offset;
	const char *const *names;
	const struct tdm_shape *shape; /* of a structure */
};

struct tdm_shape {
	const struct tdm_shape_field *fields;
	size_t field_count, size;
	void (*init)(void *structure); /* sets everything to unknown; NULL: zeros will do */
};

extern const struct tdm_shape tdm_shape_picture, tdm_shape_holding;

/* The structures in a member; *count is 0 if there are none. */
char *tdm_shape_parts(const struct tdm_shape_field *field, const char *structure, size_t *count);

/* Calls `each` for every member of a structure, after those of the structures below it. */
void tdm_shape_walk(const struct tdm_shape *shape, char *structure,
	void (*each)(void *context, const struct tdm_shape_field *field, char *at), void *context);

/*
 * A buffer is a row of numbers in this order; new ones are added at the end:
 *
 *	id, address, asked_bytes, bank_bytes, flags, page_size, born_ns, banks, holding_banks, cores, thread, name,
 *	program, stack, ranges
 *
 * UINT64_MAX is null; from column TDM_SHAPE_BUFFER_ZEROS up, so is 0.
 */
enum { TDM_SHAPE_BUFFER_COLUMNS = 15, TDM_SHAPE_BUFFER_ZEROS = 5 };
void tdm_shape_buffer_to_row(const struct tdm_buffer *buffer, uint64_t row[TDM_SHAPE_BUFFER_COLUMNS]);
/* False if no buffer can have these numbers. The kind is not part of the row. */
bool tdm_shape_buffer_from_row(struct tdm_buffer *buffer, const uint64_t row[TDM_SHAPE_BUFFER_COLUMNS]);

#endif
