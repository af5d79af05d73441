/*
 * Levels: the file is level 0, and each layer of packing that is found adds one, which takes the bytes of the level
 * below. Bytes that were looked at or unpacked, but not taken yet, wait in the window of their level:
 *
 *     file ──▶ [window 0] ──gzip──▶ [window 1] ──UTF-16──▶ [window 2] ──▶ the reader
 *
 * Once a window is empty, bytes go straight to the level above or to the reader. As long as everything read from a pipe
 * is still in window 0, the pipe can be copied from its beginning.
 */
#include "sources/input.h"
#include "base/err.h"
#include "base/number.h"
#include "sources/decode.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	LEVELS = 5,
	WINDOW = 64 << 10,
	LOOK = 16,   /* bytes that show how the input is packed */
	DIRECT = 64, /* a request for fewer bytes fills the window first */
	WHY_CAP = 160,
	COPY_MAX = 256 << 20, /* bytes of a file unpacked for random access */
	FIND_MAX = 64 << 20,  /* bytes without a line end before a search gives up */
};

/* In the order in which they are tried. */
static const struct tdm_decoder *const decoders[] = {
#if !TDM_BARE
	&tdm_decoder_gzip,
	&tdm_decoder_xz,
	&tdm_decoder_zstd,
#endif
	&tdm_decoder_utf16,
};

struct level {
	const struct tdm_decoder *decoder; /* NULL: the file itself */
	void *state;
	char *data; /* the window; bytes [at, end) wait in it */
	size_t at, end;
};

struct tdm_input {
	char *path;
	const char *name;
	int fd; /* -1: memory */
	struct tdm_str memory;
	struct stat st; /* all zero for memory */
	off_t start;    /* offset of the file when it was opened; -1: it cannot be rewound */
	uint64_t taken; /* bytes read from the file or the memory */
	struct level levels[LEVELS];
	size_t top;
	bool settled; /* the packing is known */
	int err;
	char why[WHY_CAP];
	char head[TDM_INPUT_HEAD];
	size_t head_len;
	int copy;     /* descriptor of a copy of the pipe or of the plain bytes; -1: none */
	int copy_err; /* why the copy is not whole; 0: it is */
	uint64_t copied, copy_at;
	bool keeps; /* the copy grows as the pipe is read */
	struct tdm_progress *progress;
};

static struct tdm_input *input_new(const char *name)
{
	struct tdm_input *in = calloc(1, sizeof *in);
	if (in == NULL)
		return NULL;
	in->fd = in->copy = -1;
	in->start = -1;
	in->path = strdup(name);
	in->name = in->path;
	if (in->path != NULL)
		return in;
	free(in);
	return NULL;
}

int tdm_input_open(const char *path, struct tdm_input **input)
{
	struct tdm_input *in = input_new(path);
	bool is_stdin = strcmp(path, "-") == 0;
	*input = NULL;
	if (in == NULL)
		return -ENOMEM;
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
	if (in != NULL)
		in->memory = (struct tdm_str){ data, len };
	return in;
}

/* Back to the state before the first byte was read. */
static void drop_levels(struct tdm_input *in)
{
	for (size_t i = 0; i < LEVELS; i++) {
		struct level *l = &in->levels[i];
		if (l->state != NULL)
			l->decoder->end(l->state);
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

/* Bytes of a pipe from the copy, then new ones, which are copied as well. */
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

/* More bytes of a level, bypassing its window. */
static ssize_t pull(struct tdm_input *in, size_t level, char *dst, size_t cap)
{
	return in->err != 0 ? in->err : level == 0 ? read_file(in, dst, cap) : unpack(in, level, dst, cap);
}

/* Adds bytes to the window of a level. Returns how many, 0 at the end, or a negative code. */
static ssize_t fill(struct tdm_input *in, size_t level)
{
	struct level *l = &in->levels[level];
	if (l->data == NULL && (l->data = malloc(WINDOW)) == NULL)
		return fail(in, -ENOMEM, tdm_err_text(-ENOMEM));
	if (WINDOW - l->end < DIRECT) {
		memmove(l->data, l->data + l->at, l->end - l->at);
		l->end -= l->at;
		l->at = 0;
	}
	ssize_t got = pull(in, level, l->data + l->end, WINDOW - l->end);
	l->end += got > 0 ? (size_t)got : 0;
	return got;
}

static int fail_unpacking(struct tdm_input *in, const struct tdm_decoder *decoder, int err, bool is_short)
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
	struct tdm_unpacking u = { .out = dst, .out_len = cap };
	const uint64_t begin = in->taken;
	while (u.out_len == cap) {
		u.in = below->data + below->at;
		u.in_len = below->end - below->at;
		int got = l->decoder->step(l->state, &u);
		bool is_stuck = u.in_len == below->end - below->at && u.out_len == cap;
		below->at = below->end - u.in_len;
		if (got < 0)
			fail_unpacking(in, l->decoder, got, false);
		else if (got == 0 && is_stuck && u.in_ended)
			fail_unpacking(in, l->decoder, TDM_ECORRUPT, true);
		else if (got == 0 && in->taken - begin > TDM_ZEROS_MAX) /* endless padding */
			fail(in, TDM_EENDLESS, tdm_err_text(TDM_EENDLESS));
		else if (got == 0 && is_stuck)
			u.in_ended = fill(in, level - 1) == 0;
		if (got == 1 || in->err != 0)
			break;
	}
	/* Bytes from before the error are given first. */
	return u.out_len != cap ? (ssize_t)(cap - u.out_len) : in->err;
}

/* Fills the window of a level until it has `len` bytes, or until the end or an error. */
static struct tdm_str look(struct tdm_input *in, size_t level, size_t len)
{
	struct level *l = &in->levels[level];
	while (l->end - l->at < len && fill(in, level) > 0)
		;
	return (struct tdm_str){ l->data != NULL ? l->data + l->at : "", l->end - l->at };
}

static const struct tdm_decoder *decoder_of(struct tdm_str head)
{
	for (size_t i = 0; i < sizeof decoders / sizeof *decoders; i++)
		if (decoders[i]->recognise(head))
			return decoders[i];
	return NULL;
}

/* Finds out how the bytes are packed, once there are any. */
static void settle(struct tdm_input *in)
{
	while (!in->settled) {
		struct tdm_str head = look(in, in->top, LOOK);
		const struct tdm_decoder *decoder = decoder_of(head);
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
		l->state = decoder->begin(head);
		if (l->state == NULL)
			fail(in, -ENOMEM, tdm_err_text(-ENOMEM));
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

/* Opens an unnamed file in the user's folder for temporary files. A descriptor or -errno. */
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

static int no_copy(int err, const char *what, struct tdm_diag *diag)
{
	return tdm_diag_set(diag, err, 0, 0, "%s, which cannot be copied to %.100s: %s; save it in a file first", what,
		copy_folder(), tdm_err_text(err));
}

int tdm_input_keep(struct tdm_input *in, struct tdm_diag *diag)
{
	const struct level *file = &in->levels[0];
	in->keeps = true;
	if (in->fd < 0 || in->start >= 0 || in->copy >= 0)
		return 0;
	int err = in->taken == file->end ? 0 : -ESPIPE; /* its beginning is gone */
	if (err == 0 && (in->copy = open_unnamed()) < 0)
		err = in->copy;
	if (err == 0)
		err = tdm_file_write_all(in->copy, file->data, file->end);
	in->copied = in->copy_at = file->end;
	return err != 0 ? no_copy(err, "a pipe", diag) : 0;
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

static int copy_plain(struct tdm_input *in, int copy, uint64_t *bytes)
{
	char piece[WINDOW];
	ssize_t got;
	int err = copy < 0 ? copy : 0;
	*bytes = 0;
	while (err == 0 && (got = tdm_input_read(in, piece, sizeof piece)) != 0) {
		*bytes += got > 0 ? (uint64_t)got : 0;
		err = got < 0 ? (int)got : *bytes > COPY_MAX ? -EFBIG : tdm_file_write_all(copy, piece, (size_t)got);
	}
	return err;
}

int tdm_input_file(struct tdm_input *in, uint64_t *bytes, struct tdm_diag *diag)
{
	settle(in);
	if (in->top == 0 && in->start == 0 && in->copy < 0) {
		*bytes = (uint64_t)in->st.st_size;
		return in->fd;
	}
	int copy = in->copy < 0 ? open_unnamed() : -EBUSY; /* busy: in->copy has the bytes as they came */
	int err = copy_plain(in, copy, bytes);
	if (err == 0)
		in->copy = copy;
	else if (copy >= 0)
		close(copy);
	if (err != 0)
		return in->err != 0 ? tdm_input_failed(in, err, 0, diag)
				    : no_copy(err, in->top != 0 ? "a packed file" : "a pipe", diag);
	return in->copy;
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
