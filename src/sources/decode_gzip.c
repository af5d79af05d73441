/* gzip, through zlib: one member after another, as `cat a.gz b.gz` makes them. */
#include "base/err.h"
#include "base/number.h"
#include "sources/decode.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include <zlib.h>

enum { GZIP_ONLY = 16 }; /* a flag of inflateInit2(), added to the window bits */

struct gzip {
	z_stream z;
	bool between; /* between two members, or after the last */
};

static bool gzip_recognise(struct tdm_str head)
{
	static const char magic[] = "\x1f\x8b\x08";
	return head.len >= sizeof magic - 1 && memcmp(head.ptr, magic, sizeof magic - 1) == 0;
}

static void *gzip_begin(struct tdm_str head)
{
	struct gzip *g = calloc(1, sizeof *g);
	(void)head;
	if (g != NULL && inflateInit2(&g->z, MAX_WBITS + GZIP_ONLY) != Z_OK) {
		free(g);
		g = NULL;
	}
	return g;
}

/* Begins the next member. Skips the zeros that fill the last block of a tape. */
static int next_member(struct gzip *g, struct tdm_unpacking *u)
{
	for (; u->in_len != 0 && *u->in == '\0'; u->in_len--)
		u->in++;
	if (u->in_len == 0)
		return u->in_ended ? 1 : 0;
	g->between = false;
	return inflateReset(&g->z) == Z_OK ? 0 : TDM_ECORRUPT;
}

static int gzip_step(void *state, struct tdm_unpacking *u)
{
	struct gzip *g = state;
	if (g->between) {
		int got = next_member(g, u);
		if (got != 0 || g->between)
			return got;
	}
	g->z.next_in = (Bytef *)(uintptr_t)u->in;
	g->z.avail_in = (uInt)tdm_min(u->in_len, UINT_MAX);
	g->z.next_out = (Bytef *)u->out;
	g->z.avail_out = (uInt)tdm_min(u->out_len, UINT_MAX);
	int got = inflate(&g->z, Z_NO_FLUSH);
	u->in_len -= (size_t)((const char *)g->z.next_in - u->in);
	u->in = (const char *)g->z.next_in;
	u->out_len -= (size_t)((char *)g->z.next_out - u->out);
	u->out = (char *)g->z.next_out;
	g->between = got == Z_STREAM_END;
	return got == Z_OK || got == Z_STREAM_END || got == Z_BUF_ERROR ? 0
	       : got == Z_MEM_ERROR                                     ? -ENOMEM
									: TDM_ECORRUPT;
}

static void gzip_end(void *state)
{
	struct gzip *g = state;
	inflateEnd(&g->z);
	free(g);
}

const struct tdm_decoder tdm_decoder_gzip = { "gzip", true, gzip_recognise, gzip_begin, gzip_step, gzip_end };
