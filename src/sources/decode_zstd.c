/* zstd, through libzstd: one frame after another. */
#include "base/err.h"
#include "sources/decode.h"

#include <errno.h>
#include <stdlib.h>

#include <zstd.h>
#include <zstd_errors.h>

struct zstd {
	ZSTD_DCtx *context;
	bool between; /* between two frames, or after the last */
};

/* An ordinary frame, or a skippable one. */
static bool zstd_recognise(struct tdm_str head)
{
	static const char magic[] = "\x28\xb5\x2f\xfd", skipped[] = "\x2a\x4d\x18";
	return head.len >= 4 && (memcmp(head.ptr, magic, 4) == 0 ||
					((head.ptr[0] & 0xf0) == 0x50 && memcmp(head.ptr + 1, skipped, 3) == 0));
}

static void *zstd_begin(struct tdm_str head)
{
	struct zstd *z = calloc(1, sizeof *z);
	(void)head;
	if (z != NULL)
		z->context = ZSTD_createDCtx();
	if (z == NULL || z->context == NULL) {
		free(z);
		return NULL;
	}
	ZSTD_DCtx_setParameter(z->context, ZSTD_d_windowLogMax, TDM_DECODE_MEMORY_LOG);
	return z;
}

static int zstd_step(void *state, struct tdm_unpacking *u)
{
	struct zstd *z = state;
	ZSTD_inBuffer in = { u->in, u->in_len, 0 };
	ZSTD_outBuffer out = { u->out, u->out_len, 0 };
	if (u->in_len == 0 && u->in_ended && z->between)
		return 1;
	size_t got = ZSTD_decompressStream(z->context, &out, &in);
	u->in += in.pos;
	u->in_len -= in.pos;
	u->out += out.pos;
	u->out_len -= out.pos;
	if (in.pos != 0 || out.pos != 0)
		z->between = got == 0;
	if (!ZSTD_isError(got))
		return 0;
	switch (ZSTD_getErrorCode(got)) {
	case ZSTD_error_memory_allocation:
		return -ENOMEM;
	case ZSTD_error_frameParameter_windowTooLarge:
		return -E2BIG;
	default:
		return TDM_ECORRUPT;
	}
}

static void zstd_end(void *state)
{
	struct zstd *z = state;
	ZSTD_freeDCtx(z->context);
	free(z);
}

const struct tdm_decoder tdm_decoder_zstd = { "zstd", true, zstd_recognise, zstd_begin, zstd_step, zstd_end };
