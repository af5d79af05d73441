/* xz, through liblzma: one stream after another. */
#include "base/err.h"
#include "sources/decode.h"

#include <errno.h>
#include <stdlib.h>

#include <lzma.h>

static bool xz_recognise(struct tdm_str head)
{
	static const char magic[] = { '\xfd', '7', 'z', 'X', 'Z', '\0' };
	return head.len >= sizeof magic && memcmp(head.ptr, magic, sizeof magic) == 0;
}

static void *xz_begin(struct tdm_str head)
{
	lzma_stream *s = calloc(1, sizeof *s);
	(void)head;
	if (s != NULL && lzma_stream_decoder(s, UINT64_C(1) << TDM_DECODE_MEMORY_LOG, LZMA_CONCATENATED) != LZMA_OK) {
		free(s);
		s = NULL;
	}
	return s;
}

static int xz_step(void *state, struct tdm_unpacking *u)
{
	lzma_stream *s = state;
	s->next_in = (const uint8_t *)u->in;
	s->avail_in = u->in_len;
	s->next_out = (uint8_t *)u->out;
	s->avail_out = u->out_len;
	lzma_ret got = lzma_code(s, u->in_ended ? LZMA_FINISH : LZMA_RUN);
	u->in = (const char *)s->next_in;
	u->in_len = s->avail_in;
	u->out = (char *)s->next_out;
	u->out_len = s->avail_out;
	switch (got) {
	case LZMA_OK:
	case LZMA_BUF_ERROR:
		return 0;
	case LZMA_STREAM_END:
		return 1;
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
	lzma_end(state);
	free(state);
}

const struct tdm_decoder tdm_decoder_xz = { "xz", true, xz_recognise, xz_begin, xz_step, xz_end };
