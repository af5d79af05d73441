/*
 * The file is level 0, and each layer of packing adds a level, which reads from the level below. Bytes that were
 * inspected or unpacked but not yet consumed wait in their level's window:
 *
 *     file ──▶ [window 0] ──gzip──▶ [window 1] ──UTF-16──▶ [window 2] ──▶ the reader
 *
 * Once a window is empty, bytes bypass it on their way up. As long as everything read from a pipe is still in window 0,
 * the pipe can be copied from its beginning.
 */
#include "input/door/input.h"
#include "base/err.h"
#include "base/memory.h"
#include "base/number.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#if !TDM_BARE
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>
#endif

enum {
	LEVELS = 5,
	WINDOW = 64 << 10,
	LOOK = 16,   /* number of first bytes that show how the input is packed */
	DIRECT = 64, /* a request for fewer bytes than this fills the window first */
	WHY_CAP = 160,
	COPY_MAX = 256 << 20, /* size limit for copies of packed files and pipes */
	FIND_MAX = 64 << 20,  /* a search gives up after this many bytes without a newline */
};

#define PLAIN_COPY_MAX (UINT64_C(8) << 30) /* size limit for copies of plain files */

/* Log2 of the memory that unpacking may use: enough for the packers' strongest ordinary settings. */
enum { DECODE_MEMORY_LOG = 27 };

struct level {
	const struct decoder *decoder; /* NULL for the file's own level */
				       /* For the decoder: */
#if !TDM_BARE
	z_stream gzip;
	lzma_stream xz;
	ZSTD_DCtx *zstd;
#endif
	/* For UTF-16: `big`: the upper byte comes first; `begun`: past the start, where a byte order mark counts;
	 * and the first half of a surrogate pair waiting for its second, or 0. */
	bool big, begun;
	uint32_t first;
	bool between; /* between two members, streams or frames, or after the last one */
	char *data;   /* the window; bytes [at, end) wait in it */
	size_t at, end;
	/* One step of unpacking: `in` and `out` advance as it consumes and produces bytes. */
	const char *in;
	size_t in_len;
	bool in_ended; /* no input follows `in` */
	char *out;
	size_t out_len; /* always enough for one character */
};

struct decoder {
	const char *name;  /* such as "gzip"; used in messages */
	bool is_packed;    /* compressed: such a file cannot be followed while it grows */
	const char *magic; /* first bytes that identify such a file; NULL if `recognise` does */
	size_t magic_len;
	bool (*recognise)(struct tdm_str head);
	void (*begin)(struct level *l, struct tdm_str head);
	/* 0 to continue, 1 at the end, TDM_ECORRUPT, or -E2BIG or -ENOMEM when the file asks for more memory than is
	 * allowed or available. A step that neither consumes nor produces anything needs more input. */
	int (*step)(struct level *l);
	void (*end)(struct level *l); /* NULL if there is nothing to release */
};

struct tdm_input {
	char *path;
	const char *name;
	int fd; /* the file; -1 for memory */
	struct tdm_str memory;
	struct stat st; /* all zero if the input is memory */
	off_t start;    /* file offset at opening; -1 if the file cannot be rewound */
	uint64_t taken; /* bytes read so far from the file or memory */
	struct level levels[LEVELS];
	size_t top;
	bool settled; /* whether the packing has been determined */
	int err;
	char why[WHY_CAP];
	char head[TDM_INPUT_HEAD];
	size_t head_len;
	int copy;     /* descriptor of a copy of the pipe or of the plain bytes; -1 if there is none */
	int copy_err; /* 0, or the code that says why the copy is incomplete */
	uint64_t copied, copy_at;
	bool keeps; /* the copy grows as the pipe is read */
	struct tdm_progress *progress;
};

#if !TDM_BARE

/* Skips zeros, which pad the last block of a tape or precede a stream. */
static void skip_zeros(struct level *l)
{
	for (; l->in_len != 0 && *l->in == '\0'; l->in_len--)
		l->in++;
}

/* ---- gzip: one member after another, as `cat a.gz b.gz` makes them ---- */

static void gzip_begin(struct level *l, struct tdm_str head)
{
	enum { GZIP_ONLY = 16 }; /* a zlib flag, added to the window bits */
	(void)head;
	if (inflateInit2(&l->gzip, MAX_WBITS + GZIP_ONLY) != Z_OK)
		tdm_out_of_memory();
}

static int gzip_step(struct level *l)
{
	z_stream *z = &l->gzip;
	if (l->between) {
		skip_zeros(l);
		if (l->in_len == 0)
			return l->in_ended;
		if (inflateReset(z) != Z_OK)
			return TDM_ECORRUPT;
	}
	z->next_in = (Bytef *)(uintptr_t)l->in;
	z->avail_in = (uInt)tdm_min(l->in_len, UINT_MAX);
	z->next_out = (Bytef *)l->out;
	z->avail_out = (uInt)tdm_min(l->out_len, UINT_MAX);
	int got = inflate(z, Z_NO_FLUSH);
	l->in_len -= (size_t)((const char *)z->next_in - l->in);
	l->in = (const char *)z->next_in;
	l->out_len -= (size_t)((char *)z->next_out - l->out);
	l->out = (char *)z->next_out;
	l->between = got == Z_STREAM_END;
	return got == Z_OK || got == Z_STREAM_END || got == Z_BUF_ERROR ? 0
	       : got == Z_MEM_ERROR                                     ? -ENOMEM
									: TDM_ECORRUPT;
}

static void gzip_end(struct level *l)
{
	inflateEnd(&l->gzip);
}

/* ---- xz: one stream after another. liblzma can join them itself, but would mistake a few stray bytes after a
 * stream for the beginning of the next one ---- */

static void xz_begin(struct level *l, struct tdm_str head)
{
	(void)head;
	l->between = true;
}

static int xz_step(struct level *l)
{
	lzma_stream *s = &l->xz;
	if (l->between) {
		skip_zeros(l);
		if (l->in_len == 0)
			return l->in_ended;
		if (*l->in != '\xfd')
			return TDM_ECORRUPT;
		if (lzma_stream_decoder(s, UINT64_C(1) << DECODE_MEMORY_LOG, 0) != LZMA_OK)
			return -ENOMEM;
	}
	s->next_in = (const uint8_t *)l->in;
	s->avail_in = l->in_len;
	s->next_out = (uint8_t *)l->out;
	s->avail_out = l->out_len;
	lzma_ret got = lzma_code(s, l->in_ended ? LZMA_FINISH : LZMA_RUN);
	l->in = (const char *)s->next_in;
	l->in_len = s->avail_in;
	l->out = (char *)s->next_out;
	l->out_len = s->avail_out;
	l->between = got == LZMA_STREAM_END;
	return got == LZMA_OK || got == LZMA_BUF_ERROR || got == LZMA_STREAM_END ? 0
	       : got == LZMA_MEM_ERROR                                           ? -ENOMEM
	       : got == LZMA_MEMLIMIT_ERROR                                      ? -E2BIG
										 : TDM_ECORRUPT;
}

static void xz_end(struct level *l)
{
	lzma_end(&l->xz);
}

/* ---- zstd: one frame after another ---- */

/* Also recognises a skippable frame. */
static bool zstd_recognise(struct tdm_str head)
{
	return head.len >= 4 && (head.ptr[0] & 0xf0) == 0x50 && memcmp(head.ptr + 1, "\x2a\x4d\x18", 3) == 0;
}

static void zstd_begin(struct level *l, struct tdm_str head)
{
	(void)head;
	l->zstd = ZSTD_createDCtx();
	if (l->zstd == NULL)
		tdm_out_of_memory();
	ZSTD_DCtx_setParameter(l->zstd, ZSTD_d_windowLogMax, DECODE_MEMORY_LOG);
}

static int zstd_step(struct level *l)
{
	ZSTD_inBuffer in = { l->in, l->in_len, 0 };
	ZSTD_outBuffer out = { l->out, l->out_len, 0 };
	if (l->in_len == 0 && l->in_ended && l->between)
		return 1;
	size_t got = ZSTD_decompressStream(l->zstd, &out, &in);
	l->in += in.pos;
	l->in_len -= in.pos;
	l->out += out.pos;
	l->out_len -= out.pos;
	if (in.pos != 0 || out.pos != 0)
		l->between = got == 0;
	if (!ZSTD_isError(got))
		return 0;
	ZSTD_ErrorCode code = ZSTD_getErrorCode(got);
	return code == ZSTD_error_memory_allocation               ? -ENOMEM
	       : code == ZSTD_error_frameParameter_windowTooLarge ? -E2BIG
								  : TDM_ECORRUPT;
}

static void zstd_end(struct level *l)
{
	ZSTD_freeDCtx(l->zstd);
}

#endif

/* ---- UTF-16 of either byte order, with or without a byte order mark, to UTF-8; an unpaired surrogate becomes U+FFFD
 * ---- */

enum { REPLACEMENT = 0xfffd, MARK = 0xfeff, UTF16_LOOKED_AT = 64 };

static void utf16_begin(struct level *l, struct tdm_str head)
{
	size_t zeros[2] = { 0, 0 };
	bool has_mark = head.ptr[0] == '\xfe' || head.ptr[0] == '\xff';
	/* If there is no mark, count zeros: nearly all zero bytes are upper bytes. */
	for (size_t i = 0; i < head.len && i < UTF16_LOOKED_AT; i++)
		zeros[i % 2] += head.ptr[i] == '\0';
	l->big = has_mark ? head.ptr[0] == '\xfe' : zeros[0] > zeros[1];
}

static void put_character(struct level *l, uint32_t c)
{
	char text[TDM_UTF8_MAX];
	size_t len = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
	static const unsigned char heads[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
	for (size_t i = len; i-- > 1; c >>= 6)
		text[i] = (char)(0x80 | (c & 0x3f));
	text[0] = (char)(heads[len] | c);
	memcpy(l->out, text, len);
	l->out += len;
	l->out_len -= len;
}

/* Consumes one unit. There is space for two characters, since both halves of a broken pair may have to be replaced. */
static void take_unit(struct level *l, uint32_t unit)
{
	bool is_second = unit >= 0xdc00 && unit < 0xe000;
	if (l->first != 0 && is_second) {
		put_character(l, 0x10000 + ((l->first - 0xd800) << 10) + (unit - 0xdc00));
		l->first = 0;
		return;
	}
	if (l->first != 0)
		put_character(l, REPLACEMENT);
	l->first = unit >= 0xd800 && unit < 0xdc00 ? unit : 0;
	if (l->first == 0 && (l->begun || unit != MARK))
		put_character(l, is_second ? REPLACEMENT : unit);
}

static int utf16_step(struct level *l)
{
	for (; l->in_len >= 2 && l->out_len >= 2 * TDM_UTF8_MAX; l->in += 2, l->in_len -= 2) {
		unsigned char a = (unsigned char)l->in[0], b = (unsigned char)l->in[1];
		take_unit(l, l->big ? (uint32_t)a << 8 | b : (uint32_t)b << 8 | a);
		l->begun = true;
	}
	return l->in_len == 0 && l->in_ended && l->first == 0 ? 1 : 0;
}

/* Tried in this order. */
static const struct decoder decoders[] = {
#if !TDM_BARE
	{ "gzip", true, "\x1f\x8b\x08", 3, NULL, gzip_begin, gzip_step, gzip_end },
	{ "xz", true,
		"\xfd"
		"7zXZ",
		6, NULL, xz_begin, xz_step, xz_end },
	{ "zstd", true, "\x28\xb5\x2f\xfd", 4, zstd_recognise, zstd_begin, zstd_step, zstd_end },
#endif
	{ "UTF-16", false, NULL, 0, tdm_str_is_utf16, utf16_begin, utf16_step, NULL },
};

/* ---- opening and closing ---- */

static struct tdm_input *input_new(const char *name)
{
	struct tdm_input *in = tdm_zalloc(1, sizeof *in);
	in->fd = in->copy = -1;
	in->start = -1;
	in->path = tdm_strdup(name);
	in->name = in->path;
	return in;
}

int tdm_input_open(const char *path, struct tdm_input **input)
{
	struct tdm_input *in = input_new(path);
	bool is_stdin = strcmp(path, "-") == 0;
	*input = NULL;
	in->fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (in->fd < 0 || fstat(in->fd, &in->st) != 0) {
		int err = -errno;
		tdm_input_close(in);
		return err;
	}
	if (is_stdin)
		in->name = "standard input";
	if (S_ISREG(in->st.st_mode))
		in->start = lseek(in->fd, 0, SEEK_CUR);
	*input = in;
	return 0;
}

struct tdm_input *tdm_input_memory(const char *name, const char *data, size_t len)
{
	struct tdm_input *in = input_new(name);
	in->memory = (struct tdm_str){ data, len };
	return in;
}

/* Returns to the state in which nothing had been read. */
static void drop_levels(struct tdm_input *in)
{
	for (size_t i = 0; i < LEVELS; i++) {
		struct level *l = &in->levels[i];
		if (l->decoder != NULL && l->decoder->end != NULL)
			l->decoder->end(l);
		free(l->data);
		*l = (struct level){ .decoder = NULL };
	}
	in->top = 0;
	in->settled = false;
	in->err = 0;
	in->taken = 0;
}

void tdm_input_close(struct tdm_input *in)
{
	if (in == NULL)
		return;
	drop_levels(in);
	if (in->fd > STDERR_FILENO)
		close(in->fd);
	if (in->copy >= 0)
		close(in->copy);
	free(in->path);
	free(in);
}

const char *tdm_input_name(const struct tdm_input *in)
{
	return in->name;
}

bool tdm_input_is_folder(const struct tdm_input *in)
{
	return S_ISDIR(in->st.st_mode);
}

bool tdm_input_is_same(const struct tdm_input *a, const struct tdm_input *b)
{
	return a->fd >= 0 && b->fd >= 0 && a->st.st_dev == b->st.st_dev && a->st.st_ino == b->st.st_ino;
}

/* ---- the file ---- */

static int fail(struct tdm_input *in, int err, const char *why)
{
	in->err = err;
	snprintf(in->why, sizeof in->why, "%s", why);
	return err;
}

/* Reads from a pipe being copied: first from the copy, then new bytes, which are added to the copy. */
static ssize_t read_kept(struct tdm_input *in, char *dst, size_t cap)
{
	ssize_t got;
	if (in->copy_at < in->copied) {
		got = pread(in->copy, dst, (size_t)tdm_min(cap, in->copied - in->copy_at), (off_t)in->copy_at);
	} else {
		got = read(in->fd, dst, cap);
		int err = in->keeps && got > 0 ? tdm_file_write_all(in->copy, dst, (size_t)got) : 0;
		if (err != 0) {
			in->copy_err = err;
			errno = -err;
			return -1;
		}
		in->copied += in->keeps && got > 0 ? (uint64_t)got : 0;
	}
	in->copy_at += got > 0 ? (uint64_t)got : 0;
	return got;
}

static ssize_t read_file(struct tdm_input *in, char *dst, size_t cap)
{
	ssize_t got;
	if (in->fd < 0) {
		got = (ssize_t)tdm_min(cap, in->memory.len - in->taken);
		if (got != 0)
			memcpy(dst, in->memory.ptr + in->taken, (size_t)got);
	} else {
		do
			got = in->copy >= 0 ? read_kept(in, dst, cap) : read(in->fd, dst, cap);
		while (got < 0 && errno == EINTR);
	}
	if (got < 0)
		return fail(in, -errno, tdm_err_text(-errno));
	in->taken += (uint64_t)got;
	if (in->progress != NULL && got > 0)
		tdm_progress_add(in->progress, (uint64_t)got);
	return got;
}

/* ---- levels ---- */

static ssize_t unpack(struct tdm_input *in, size_t level, char *dst, size_t cap);

/* Reads more of a level's bytes, bypassing its window. */
static ssize_t pull(struct tdm_input *in, size_t level, char *dst, size_t cap)
{
	return in->err != 0 ? in->err : level == 0 ? read_file(in, dst, cap) : unpack(in, level, dst, cap);
}

/* Adds bytes to a level's window. Returns how many, 0 at the end, or a negative code. */
static ssize_t fill(struct tdm_input *in, size_t level)
{
	struct level *l = &in->levels[level];
	if (l->data == NULL)
		l->data = tdm_alloc(WINDOW);
	if (WINDOW - l->end < DIRECT) {
		memmove(l->data, l->data + l->at, l->end - l->at);
		l->end -= l->at;
		l->at = 0;
	}
	ssize_t got = pull(in, level, l->data + l->end, WINDOW - l->end);
	l->end += got > 0 ? (size_t)got : 0;
	return got;
}

static int fail_unpacking(struct tdm_input *in, const struct decoder *decoder, int err, bool is_short)
{
	const struct level *file = &in->levels[0];
	uint64_t at = in->taken - (file->end - file->at);
	snprintf(in->why, sizeof in->why, "the %s data %s, at byte %" PRIu64, decoder->name,
		is_short         ? "ends too early"
		: err == -ENOMEM ? "cannot be unpacked: out of memory"
		: err == -E2BIG  ? "needs more than 128 MiB of memory to be unpacked"
				 : "is damaged",
		at);
	in->err = err;
	return err;
}

static ssize_t unpack(struct tdm_input *in, size_t level, char *dst, size_t cap)
{
	struct level *l = &in->levels[level], *below = &in->levels[level - 1];
	const uint64_t begin = in->taken;
	l->out = dst;
	l->out_len = cap;
	l->in_ended = false;
	while (l->out_len == cap) {
		l->in = below->data + below->at;
		l->in_len = below->end - below->at;
		int got = l->decoder->step(l);
		bool is_stuck = l->in_len == below->end - below->at && l->out_len == cap;
		below->at = below->end - l->in_len;
		if (got < 0)
			fail_unpacking(in, l->decoder, got, false);
		else if (got == 0 && is_stuck && l->in_ended)
			fail_unpacking(in, l->decoder, TDM_ECORRUPT, true);
		else if (got == 0 && in->taken - begin > TDM_ZEROS_MAX) /* endless zero padding */
			fail(in, TDM_EENDLESS, tdm_err_text(TDM_EENDLESS));
		else if (got == 0 && is_stuck)
			l->in_ended = fill(in, level - 1) == 0;
		if (got == 1 || in->err != 0)
			break;
	}
	/* Bytes decoded before the error are returned first. */
	return l->out_len != cap ? (ssize_t)(cap - l->out_len) : in->err;
}

/* Fills a level's window until it has `len` bytes, or until the end or an error. */
static struct tdm_str look(struct tdm_input *in, size_t level, size_t len)
{
	struct level *l = &in->levels[level];
	while (l->end - l->at < len && fill(in, level) > 0)
		;
	return (struct tdm_str){ l->data != NULL ? l->data + l->at : "", l->end - l->at };
}

/* Determines how the bytes are packed, once there are any bytes. */
static void settle(struct tdm_input *in)
{
	while (!in->settled) {
		struct tdm_str head = look(in, in->top, LOOK);
		const struct decoder *decoder = NULL;
		for (size_t i = 0; decoder == NULL && i < sizeof decoders / sizeof *decoders; i++) {
			const struct decoder *d = &decoders[i];
			if ((d->magic != NULL && head.len >= d->magic_len &&
				    memcmp(head.ptr, d->magic, d->magic_len) == 0) ||
				(d->recognise != NULL && d->recognise(head)))
				decoder = d;
		}
		in->settled = head.len != 0 && decoder == NULL;
		if (decoder == NULL)
			return;
		if (in->top + 1 == LEVELS) {
			in->levels[in->top].at = in->levels[in->top].end;
			in->settled = true;
			fail(in, TDM_ECORRUPT, "it is packed too many times");
			return;
		}
		struct level *l = &in->levels[++in->top];
		l->decoder = decoder;
		decoder->begin(l, head);
	}
}

const char *tdm_input_packing(struct tdm_input *in)
{
	settle(in);
	for (size_t i = 1; i <= in->top; i++)
		if (in->levels[i].decoder->is_packed)
			return in->levels[i].decoder->name;
	return NULL;
}

ssize_t tdm_input_read(struct tdm_input *in, char *dst, size_t cap)
{
	settle(in);
	struct level *l = &in->levels[in->top];
	if (l->at == l->end && in->top != 0 && cap < DIRECT) {
		ssize_t got = fill(in, in->top);
		if (got <= 0)
			return got;
	}
	if (l->at == l->end)
		return cap != 0 ? pull(in, in->top, dst, cap) : 0;
	size_t len = tdm_min(cap, l->end - l->at);
	memcpy(dst, l->data + l->at, len);
	l->at += len;
	return (ssize_t)len;
}

static ssize_t read_input(void *from, char *dst, size_t cap)
{
	return tdm_input_read(from, dst, cap);
}

struct tdm_reader tdm_input_reader(struct tdm_input *in)
{
	return (struct tdm_reader){ read_input, in };
}

const char *tdm_input_why(const struct tdm_input *in)
{
	return in->why;
}

int tdm_input_failed(const struct tdm_input *in, int err, uint64_t line, struct tdm_diag *diag)
{
	return tdm_diag_set(diag, err, line, 0, "cannot read on: %s", err == in->err ? in->why : tdm_err_text(err));
}

struct tdm_str tdm_input_head(struct tdm_input *in)
{
	if (in->head_len == 0) {
		settle(in);
		struct tdm_str head = look(in, in->top, sizeof in->head);
		in->head_len = tdm_min(head.len, sizeof in->head);
		memcpy(in->head, head.ptr, in->head_len);
	}
	return (struct tdm_str){ in->head, in->head_len };
}

/* ---- rewinding and random access ---- */

static const char *copy_folder(void)
{
	const char *folder = getenv("TMPDIR");
	return folder != NULL && folder[0] != '\0' ? folder : "/tmp";
}

/* Opens an unnamed file in the user's temporary folder. Returns a descriptor or -errno. */
static int open_unnamed(void)
{
	char name[PATH_MAX];
	int len = snprintf(name, sizeof name, "%s/tidemark-XXXXXX", copy_folder());
	if (len < 0 || (size_t)len >= sizeof name)
		return -ENAMETOOLONG;
	int fd = mkostemp(name, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	unlink(name);
	return fd;
}

int tdm_input_folder(char path[PATH_MAX])
{
	int len = snprintf(path, PATH_MAX, "%s/tidemark-XXXXXX", copy_folder());
	return len < 0 || len >= PATH_MAX ? -ENAMETOOLONG : mkdtemp(path) == NULL ? -errno : 0;
}

int tdm_input_no_copy(const struct tdm_input *in, int err, struct tdm_diag *diag)
{
	bool is_plain = in->top == 0 && S_ISREG(in->st.st_mode);
	if (err == -E2BIG && is_plain)
		return tdm_diag_set(diag, err, 0, 0, "it has more than 8 GiB, the most that is copied");
	if (err == -E2BIG)
		return tdm_diag_set(diag, err, 0, 0, "it has more than 256 MiB, the most that is copied of a %s",
			in->top != 0 ? "packed file: unpack it first" : "pipe: save it in a file first");
	if (is_plain)
		return tdm_diag_set(diag, err, 0, 0, "cannot be copied to %.100s: %s; TMPDIR can name another folder",
			copy_folder(), tdm_err_text(err));
	return tdm_diag_set(diag, err, 0, 0, "a %s, which cannot be copied to %.100s: %s; save it in a file first",
		in->top != 0 ? "packed file" : "pipe", copy_folder(), tdm_err_text(err));
}

int tdm_input_keep(struct tdm_input *in, struct tdm_diag *diag)
{
	const struct level *file = &in->levels[0];
	in->keeps = true;
	if (in->fd < 0 || in->start >= 0 || in->copy >= 0)
		return 0;
	int err = in->taken == file->end ? 0 : -ESPIPE; /* the beginning of the file has already been consumed */
	if (err == 0 && (in->copy = open_unnamed()) < 0)
		err = in->copy;
	if (err == 0)
		err = tdm_file_write_all(in->copy, file->data, file->end);
	in->copied = in->copy_at = file->end;
	return err != 0 ? tdm_input_no_copy(in, err, diag) : 0;
}

int tdm_input_rewind(struct tdm_input *in)
{
	if (in->copy_err != 0)
		return in->copy_err;
	if (in->fd >= 0 && in->start >= 0 && lseek(in->fd, in->start, SEEK_SET) < 0)
		return -errno;
	if (in->fd >= 0 && in->start < 0 && in->copy < 0 && in->taken != in->levels[0].end)
		return -ESPIPE;
	if (in->progress != NULL)
		in->progress->done -= tdm_min(in->taken, in->progress->done);
	in->copy_at = 0;
	in->keeps = false;
	drop_levels(in);
	return 0;
}

int tdm_input_save(struct tdm_input *in, int fd, uint64_t *bytes, struct tdm_diag *diag)
{
	char piece[WINDOW];
	ssize_t got;
	int err = 0;
	settle(in);
	const uint64_t most = in->top == 0 && S_ISREG(in->st.st_mode) ? PLAIN_COPY_MAX : COPY_MAX;
	*bytes = 0;
	while (err == 0 && (got = tdm_input_read(in, piece, sizeof piece)) != 0) {
		*bytes += got > 0 ? (uint64_t)got : 0;
		err = got < 0 ? (int)got : *bytes > most ? -E2BIG : tdm_file_write_all(fd, piece, (size_t)got);
	}
	if (err != 0)
		return in->err != 0 ? tdm_input_failed(in, err, 0, diag) : tdm_input_no_copy(in, err, diag);
	return 0;
}

int tdm_input_file(struct tdm_input *in, uint64_t *bytes, struct tdm_diag *diag)
{
	settle(in);
	if (in->top == 0 && in->start == 0 && in->copy < 0) {
		*bytes = (uint64_t)in->st.st_size;
		return in->fd;
	}
	int copy = in->copy < 0 ? open_unnamed() : -EBUSY; /* busy: in->copy already holds the packed bytes */
	int err = copy < 0 ? tdm_input_no_copy(in, copy, diag) : tdm_input_save(in, copy, bytes, diag);
	if (err == 0)
		in->copy = copy;
	else if (copy >= 0)
		close(copy);
	return err != 0 ? err : copy;
}

int tdm_input_descriptor(const struct tdm_input *in)
{
	return in->fd;
}

bool tdm_input_find(struct tdm_input *in, const char *text)
{
	char piece[WINDOW];
	size_t len = 0, wanted = strlen(text);
	uint64_t without_end = 0, noise = 0;
	ssize_t got;
	while (without_end < FIND_MAX && (got = tdm_input_read(in, piece + len, sizeof piece - len)) > 0) {
		if (tdm_is_endless_noise(&noise, piece + len, (size_t)got))
			return false;
		without_end = memchr(piece + len, '\n', (size_t)got) != NULL ? 0 : without_end + (uint64_t)got;
		len += (size_t)got;
		if (memmem(piece, len, text, wanted) != NULL)
			return true;
		size_t kept = tdm_min(len, wanted - 1);
		memmove(piece, piece + len - kept, kept);
		len = kept;
	}
	return false;
}

void tdm_input_progress(struct tdm_input *in, struct tdm_progress *progress)
{
	in->progress = progress;
	if (progress != NULL && S_ISREG(in->st.st_mode))
		progress->total += (uint64_t)in->st.st_size;
	if (progress != NULL)
		tdm_progress_add(progress, in->taken);
}

void tdm_input_expect(struct tdm_input *in, uint64_t bytes)
{
	if (in->progress != NULL && in->progress->total != 0)
		in->progress->total += bytes;
}

void tdm_input_passed(struct tdm_input *in, uint64_t bytes)
{
	struct tdm_progress *p = in->progress;
	if (p != NULL)
		tdm_progress_add(p, p->total != 0 ? tdm_min(bytes, p->total - tdm_min(p->done, p->total)) : bytes);
}

bool tdm_input_has_changed(const struct tdm_input *in)
{
	struct stat now;
	if (in->fd < 0 || stat(in->path, &now) != 0)
		return false;
	if (now.st_dev != in->st.st_dev || now.st_ino != in->st.st_ino)
		return true;
	return S_ISREG(now.st_mode) && (uint64_t)now.st_size < in->taken;
}
