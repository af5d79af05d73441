/*
 * Decoders of packed files. Each has a file of its own, the only one that uses its library; input.c lists them and does
 * the reading.
 */
#ifndef TDM_SOURCES_DECODE_H
#define TDM_SOURCES_DECODE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

/* Log2 of the memory that unpacking may take: enough for the packers' strongest ordinary settings. */
enum { TDM_DECODE_MEMORY_LOG = 27 };

/* One step of unpacking: `in` and `out` advance as they are used. */
struct tdm_unpacking {
	const char *in;
	size_t in_len;
	bool in_ended; /* nothing comes after `in` */
	char *out;
	size_t out_len; /* at least room for a character */
};

struct tdm_decoder {
	const char *name; /* "gzip", in messages */
	bool is_packed;   /* compressed: such a file cannot be followed while it grows */
	bool (*recognise)(struct tdm_str head);
	void *(*begin)(struct tdm_str head); /* NULL: out of memory */
	/* 0 to continue, 1 at the end, TDM_ECORRUPT, -ENOMEM, or -E2BIG when it needs too much memory. A step that
	 * neither takes nor gives anything needs more input. */
	int (*step)(void *state, struct tdm_unpacking *u);
	void (*end)(void *state);
};

extern const struct tdm_decoder tdm_decoder_gzip;
extern const struct tdm_decoder tdm_decoder_xz;
extern const struct tdm_decoder tdm_decoder_zstd;
extern const struct tdm_decoder tdm_decoder_utf16;

#endif
