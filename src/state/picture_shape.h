/*
 * The members of a picture that go from one machine to another, in one table for both directions:
 * report/picture_json.c writes them, remote_picture.c reads them. A member that is in no table stays on its machine:
 * events, modules, and indices into the lists of a state.
 *
 * Unknown values are null in JSON: UINT64_MAX, UINT32_MAX, empty texts, the first name of a choice, and zeros and
 * negative numbers where the table says so.
 */
#ifndef TDM_STATE_PICTURE_SHAPE_H
#define TDM_STATE_PICTURE_SHAPE_H

#include "state/picture.h"

enum tdm_shape_type {
	TDM_SHAPE_BOOL,
	TDM_SHAPE_CHOICE, /* uint8_t: an index into `names` */
	TDM_SHAPE_BITS,   /* uint32_t: an array of `names`, one for each bit that is set */
	TDM_SHAPE_U32,
	TDM_SHAPE_I32,
	TDM_SHAPE_U64,
	TDM_SHAPE_BYTES,    /* uint64_t: a size or count, at most TDM_SHAPE_BYTES_MAX */
	TDM_SHAPE_TIME,     /* uint64_t: nanoseconds, at most INT64_MAX */
	TDM_SHAPE_CHARS,    /* char[limit] */
	TDM_SHAPE_TEXT,     /* const char *; NULL is null */
	TDM_SHAPE_HEX,      /* uint8_t[limit]: hexadecimal digits */
	TDM_SHAPE_TEXT_OF,  /* uint32_t: a number of the picture's texts, */
	TDM_SHAPE_STACK_OF, /* or of its stacks */
	TDM_SHAPE_READING,
	TDM_SHAPE_LOSSES, /* uint64_t[limit]: an array */
	/* A structure: */
	TDM_SHAPE_OBJECT,
	TDM_SHAPE_POINTER, /* or a null pointer */
	TDM_SHAPE_LIST,    /* a pointer to at most `limit`, and their size_t count */
	TDM_SHAPE_ARRAY,   /* [limit], and their uint32_t count */
	/* By kind: an object with a member for each kind of which something is known. */
	TDM_SHAPE_KINDS,      /* structures */
	TDM_SHAPE_KIND_BYTES, /* uint64_t */
	TDM_SHAPE_BUFFERS,    /* struct tdm_buffer_list: rows of numbers, see below */
	/* Of a picture: what the numbers of buffers mean. */
	TDM_SHAPE_TEXTS,  /* an array of texts; number 1 is the first */
	TDM_SHAPE_STACKS, /* arrays of frames: address, number of a text */
	TDM_SHAPE_RANGES, /* arrays of core ranges: x0, y0, x1, y1 */
};

#define TDM_SHAPE_BYTES_MAX (UINT64_C(1) << 60) /* sums of a few of them do not wrap */

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
	bool zero_is_null;     /* of a number */
	bool negative_is_null; /* -1 is unknown */
	uint8_t name_count;
	uint16_t offset, count_offset;
	uint32_t limit;
	const char *const *names;
	const struct tdm_shape *shape; /* of a structure */
};

struct tdm_shape {
	const struct tdm_shape_field *fields;
	size_t field_count, size;
	void (*init)(void *structure); /* everything unknown; NULL: zeros are right */
};

extern const struct tdm_shape tdm_shape_picture, tdm_shape_holding;

/*
 * A buffer is a row of numbers in this order; new ones are added at the end:
 *
 *	id, address, asked_bytes, bank_bytes, flags, page_size, born_ns, banks, holding_banks, cores, thread, name,
 *	program, stack, ranges
 *
 * UINT64_MAX is null, and so is 0 from TDM_SHAPE_BUFFER_ZEROS on.
 */
enum { TDM_SHAPE_BUFFER_COLUMNS = 15, TDM_SHAPE_BUFFER_ZEROS = 5 };
void tdm_shape_buffer_to_row(const struct tdm_buffer *buffer, uint64_t row[TDM_SHAPE_BUFFER_COLUMNS]);
/* False: no buffer can have these numbers. The kind is not part of the row. */
bool tdm_shape_buffer_from_row(struct tdm_buffer *buffer, const uint64_t row[TDM_SHAPE_BUFFER_COLUMNS]);

#endif
