/*
 * Removes pairs that no reader of captures needs, such as "arguments":[…] and "stacking_level":2, from a piece of JSON
 * before the parser looks at each of its bytes. Only complete and simple pairs with another one before or after them
 * are removed, so the rest is valid JSON if and only if the piece was.
 */
#ifndef TDM_SOURCES_CAPTURE_SKIP_H
#define TDM_SOURCES_CAPTURE_SKIP_H

#include <stddef.h>
#include <stdint.h>

enum { TDM_CAPTURE_SKIP_MAX = 64 << 10 }; /* bytes of a piece */

struct tdm_capture_skip {
	char data[TDM_CAPTURE_SKIP_MAX]; /* the rest */
	size_t len;
	struct {
		uint32_t at;              /* offset in the data where something was removed */
		uint32_t gone;            /* bytes removed up to there */
	} cuts[TDM_CAPTURE_SKIP_MAX / 8]; /* a pair is longer than 8 bytes */
	size_t cut_count, cut_at;         /* cut_at: cuts before the last offset that was asked for */
};

/* Takes at most TDM_CAPTURE_SKIP_MAX bytes, which may begin inside a text. */
void tdm_capture_skip(struct tdm_capture_skip *skip, const char *piece, size_t len);

/* The offset in the piece of an offset in the data. Ask in ascending order. */
static inline size_t tdm_capture_skip_origin(struct tdm_capture_skip *skip, size_t at)
{
	while (skip->cut_at < skip->cut_count && skip->cuts[skip->cut_at].at <= at)
		skip->cut_at++;
	return at + (skip->cut_at != 0 ? skip->cuts[skip->cut_at - 1].gone : 0);
}

#endif
