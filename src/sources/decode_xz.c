/* xz, through liblzma: one stream after another. liblzma can join them itself, but would take a few bytes of rubbish
 * after a stream for the beginning of the next one. */
#include "base/err.h"
#include "sources/decode.h"

#include <errno.h>
#include <stdlib.h>

#include <lzma.h>

struct xz {
	lzma_stream s;
	bool between; /* before a stream, or after the last */
};

static bool xz_recognise(struct tdm_str head)
{
	static const char magic[] = { '\xfd', '7', 'z', 'X', 'Z', '\0' };
	return head.len >= sizeof magic && memcmp(head.ptr, magic, sizeof magic) == 0;
}

static void *xz_begin(struct tdm_str head)
{
	struct xz *x = calloc(1, sizeof *x);
	(void)head;
	if (x != NULL)
		x->between = true;
	return x;
}

/* Begins the next stream after the zeros that may precede it. */
static int next_stream(struct xz *x, struct tdm_unpacking *u)
{
	for (; u->in_len != 0 && *u->in == '\0'; u->in_len--)
		u->in++;
	if (u->in_len == 0)
		return u->in_ended ? 1 : 0;
	if (*u->in != '\xfd')
		return TDM_ECORRUPT;
	x->between = false;
	return lzma_stream_decoder(&x->s, UINT64_C(1) << TDM_DECODE_MEMORY_LOG, 0) == LZMA_OK ? 0 : -ENOMEM;
}

static int xz_step(void *state, struct tdm_unpacking *u)
{
	struct xz *x = state;
	lzma_stream *s = &x->s;
	if (x->between) {
		int got = next_stream(x, u);
		if (got != 0 || x->between)
			return got;
	}
	s->next_in = (const uint8_t *)u->in;
	s->avail_in = u->in_len;
	s->next_out = (uint8_t *)u->out;
	s->avail_out = u->out_len;
	lzma_ret got = lzma_code(s, u->in_ended ? LZMA_FINISH : LZMA_RUN);
	u->in = (const char *)s->next_in;
	u->in_len = s->avail_in;
	u->out = (char *)s->next_out;
	u->out_len = s->avail_out;
	x->between = got == LZMA_STREAM_END;
	switch (got) {
	case LZMA_OK:
	case LZMA_BUF_ERROR:
	case LZMA_STREAM_END:
		return 0;
	case LZMA_MEM_ERROR:
		return -ENOMEM;
	case LZMA_MEMLIMIT_ERROR:
		return -E2BIG;
	default:
		return TDM_ECORRUPT;
	}
}

static void xz_end(void *state)
{
	struct xz *x = state;
	lzma_end(&x->s);
	free(x);
}

const struct tdm_decoder tdm_decoder_xz = { "xz", true, xz_recognise, xz_begin, xz_step, xz_end };
