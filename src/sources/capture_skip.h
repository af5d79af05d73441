/*
 * Leaves out of a piece of JSON what no reader of captures asks for, before the parser looks at each byte of it: pairs
 * such as "arguments":[…] and "stacking_level":2. Only pairs that are whole and simple, with another one before or
 * after them, are left out, so the rest is good JSON if and only if the piece was.
 */
#ifndef TDM_SOURCES_CAPTURE_SKIP_H
#define TDM_SOURCES_CAPTURE_SKIP_H

#include <stddef.h>
#include <stdint.h>

enum { TDM_CAPTURE_SKIP_MAX = 64 << 10 }; /* bytes of a piece */

struct tdm_capture_skip {
	char data[TDM_CAPTURE_SKIP_MAX]; /* what is left */
	size_t len;
	struct {
		uint32_t at;              /* in the data: what follows was further back in the piece */
		uint32_t gone;            /* by so much */
	} cuts[TDM_CAPTURE_SKIP_MAX / 8]; /* a pair has more bytes than that */
	size_t cut_count, cut_at;         /* at: of the last place that was asked for */
};

/* At most TDM_CAPTURE_SKIP_MAX bytes, outside of texts or not. */
void tdm_capture_skip(struct tdm_capture_skip *skip, const char *piece, size_t len);

/* Where a place of the data was in the piece. Places are asked for in ascending order. */
static inline size_t tdm_capture_skip_origin(struct tdm_capture_skip *skip, size_t at)
{
	while (skip->cut_at < skip->cut_count && skip->cuts[skip->cut_at].at <= at)
		skip->cut_at++;
	return at + (skip->cut_at != 0 ? skip->cuts[skip->cut_at - 1].gone : 0);
}

#endif
