/*
 * The caller bounds the reading: whole files by a limit, lines by the window's size. The line reader keeps one window;
 * a longer line is cut, and the rest of the line is skipped using the same window. Replacing a file writes a temporary
 * file beside it, then renames it over the old one, so that readers never see half a file.
 */
#include "base/file.h"
#include "base/diag.h"
#include "base/err.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static ssize_t read_some(int fd, char *dst, size_t cap)
{
	ssize_t got;
	do
		got = read(fd, dst, cap);
	while (got < 0 && errno == EINTR);
	return got < 0 ? -errno : got;
}

static int read_to_end(int fd, size_t max, struct tdm_buf *out)
{
	char chunk[8192]; /* small, because the caller's stack may be small */
	for (size_t total = 0;;) {
		ssize_t got = read_some(fd, chunk, sizeof chunk);
		if (got <= 0)
			return (int)got;
		if ((size_t)got > max - total)
			return -EFBIG;
		total += (size_t)got;
		tdm_buf_add(out, chunk, (size_t)got);
	}
}

int tdm_file_read(const char *path, size_t max, struct tdm_buf *out)
{
	if (strcmp(path, "-") == 0)
		return read_to_end(STDIN_FILENO, max, out);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	int err = read_to_end(fd, max, out);
	close(fd);
	return err;
}

int tdm_file_load(const char *path, size_t max, const char *noun, struct tdm_buf *out, struct tdm_diag *diag)
{
	if (diag != NULL)
		diag->file = path;
	int err = tdm_file_read(path, max, out);
	if (err == -EFBIG)
		tdm_diag_set(diag, err, 0, 0, "a %s has at most %zu bytes", noun, max);
	else if (err != 0)
		tdm_diag_set(diag, err, 0, 0, "cannot be read: %s", tdm_err_text(err));
	return err;
}

int tdm_file_write_all(int fd, const char *data, size_t len)
{
	while (len != 0) {
		ssize_t put = write(fd, data, len);
		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return -errno;
		data += put;
		len -= (size_t)put;
	}
	return 0;
}

/* The usual mode of a new file. umask() can be read only by setting it. */
static mode_t usual_mode(void)
{
	mode_t mask = umask(0);
	umask(mask);
	return 0666 & ~mask;
}

static int write_beside(const char *path, const char *data, size_t len, mode_t mode)
{
	struct tdm_buf name;
	int err = 0, fd;
	tdm_buf_init(&name);
	tdm_buf_printf(&name, "%s.XXXXXX", path);
	fd = mkostemp(name.data, O_CLOEXEC);
	if (fd < 0)
		err = -errno;
	if (fd >= 0) {
		err = tdm_file_write_all(fd, data, len);
		if (err == 0 && fchmod(fd, mode) != 0)
			err = -errno;
		if (close(fd) != 0 && err == 0)
			err = -errno;
		if (err == 0 && rename(name.data, path) != 0)
			err = -errno;
		if (err != 0)
			unlink(name.data);
	}
	tdm_buf_done(&name);
	return err;
}

static int write_through(const char *path, const char *data, size_t len)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	int err = tdm_file_write_all(fd, data, len);
	if (close(fd) != 0 && err == 0)
		err = -errno;
	return err;
}

int tdm_file_replace(const char *path, const char *data, size_t len)
{
	struct stat st;
	if (stat(path, &st) != 0)
		return errno == ENOENT ? write_beside(path, data, len, usual_mode()) : -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	if (!S_ISREG(st.st_mode))
		return write_through(path, data, len);
	char *real = realpath(path, NULL);
	int err = real != NULL ? write_beside(real, data, len, st.st_mode & 07777) : -errno;
	free(real);
	return err;
}

void tdm_lines_from(struct tdm_lines *lines, struct tdm_reader reader, size_t cap)
{
	*lines = (struct tdm_lines){ .reader = reader, .cap = cap + 1, .data = tdm_alloc(cap + 1) };
}

static ssize_t read_fd(void *from, char *dst, size_t cap)
{
	return read_some((int)(intptr_t)from, dst, cap);
}

void tdm_lines_open(struct tdm_lines *lines, int fd, size_t cap)
{
	tdm_lines_from(lines, (struct tdm_reader){ read_fd, (void *)(intptr_t)fd }, cap);
}

void tdm_lines_memory(struct tdm_lines *lines, const char *data, size_t len)
{
	/* Without a read function the window is never written to, so casting const away is safe. */
	*lines = (struct tdm_lines){ .cap = len, .end = len, .eof = true };
	data = data != NULL ? data : ""; /* pointer arithmetic on NULL is undefined */
	memcpy(&lines->data, &data, sizeof data);
}

void tdm_lines_done(struct tdm_lines *lines)
{
	if (lines->reader.read != NULL)
		free(lines->data);
	*lines = (struct tdm_lines){ .eof = true };
}

bool tdm_is_endless_noise(uint64_t *noise, const char *data, size_t len)
{
	enum {
		SAMPLE = 1024,
		LEAST = 64,
		SHARE = 32 /* about 1 random byte in 10 cannot be text; in a text file, hardly any */
	};
	size_t sample = len < SAMPLE ? len : SAMPLE, strange = 0;
	for (size_t i = 0; i < sample; i++) {
		unsigned char c = (unsigned char)data[i];
		strange += c != '\0' && c < ' ' && c != '\033' && !(c >= '\a' && c <= '\r');
	}
	if (strange > sample / SHARE)
		*noise += len;
	else if (sample >= LEAST)
		*noise = 0;
	return *noise > TDM_LINE_END_MAX;
}

/* Moves the unread bytes to the front and reads more after them. Returns 1 if there were more, 0 at the end, or
 * -errno. */
static int refill(struct tdm_lines *lines)
{
	size_t left = lines->end - lines->at;
	if (lines->at != 0)
		memmove(lines->data, lines->data + lines->at, left);
	lines->at = 0;
	lines->end = left;
	ssize_t got = lines->reader.read(lines->reader.from, lines->data + left, lines->cap - left);
	if (got < 0)
		return (int)got;
	if (got == 0)
		lines->eof = true;
	else if (tdm_is_endless_noise(&lines->noise, lines->data + left, (size_t)got))
		return TDM_EENDLESS;
	lines->end += (size_t)got;
	return got > 0;
}

uint64_t tdm_endless_cost(const char *data, size_t len)
{
	bool is_zeros = len != 0 && data[0] == '\0' && memcmp(data, data + 1, len - 1) == 0;
	return is_zeros ? len : len * (TDM_ZEROS_MAX / TDM_LINE_END_MAX);
}

/* Drops bytes up to and including the next newline. */
static int skip_line(struct tdm_lines *lines)
{
	for (uint64_t cost = 0; cost <= TDM_ZEROS_MAX;) {
		const char *from = lines->data + lines->at;
		const char *newline = memchr(from, '\n', lines->end - lines->at);
		if (newline != NULL) {
			lines->offset += (size_t)(newline - from) + 1;
			lines->at += (size_t)(newline - from) + 1;
			return 0;
		}
		lines->offset += lines->end - lines->at;
		cost += tdm_endless_cost(from, lines->end - lines->at);
		lines->at = lines->end;
		if (lines->eof)
			return 0;
		int err = refill(lines);
		if (err < 0)
			return err;
	}
	lines->at = lines->end;
	lines->eof = true;
	return TDM_EENDLESS;
}

/* Handles a line that does not fit in the window: keeps the beginning of the line for the caller and skips the rest. */
static int long_line(struct tdm_lines *lines, struct tdm_str *line)
{
	enum { KEPT = 64 };
	static _Thread_local char kept[KEPT];
	size_t len = lines->cap < KEPT ? lines->cap : KEPT;
	memcpy(kept, lines->data + lines->at, len);
	*line = (struct tdm_str){ kept, len };
	lines->line++;
	int err = skip_line(lines);
	return err < 0 ? err : -EMSGSIZE;
}

static struct tdm_str without_mark(struct tdm_str line)
{
	static const char mark[] = "\xef\xbb\xbf";
	const size_t len = sizeof mark - 1;
	bool has = line.len >= len && memcmp(line.ptr, mark, len) == 0;
	return has ? (struct tdm_str){ line.ptr + len, line.len - len } : line;
}

int tdm_lines_next(struct tdm_lines *lines, struct tdm_str *line)
{
	size_t searched = 0;
	for (;;) {
		const char *from = lines->data + lines->at;
		size_t left = lines->end - lines->at;
		const char *newline = left != searched ? memchr(from + searched, '\n', left - searched) : NULL;
		if (newline != NULL || (lines->eof && left != 0)) {
			size_t len = newline != NULL ? (size_t)(newline - from) : left;
			size_t taken = newline != NULL ? len + 1 : len;
			*line = tdm_str_line(from, len);
			lines->at += taken;
			lines->offset += taken;
			if (lines->line++ == 0)
				*line = without_mark(*line);
			return 1;
		}
		if (lines->eof)
			return 0;
		if (left == lines->cap)
			return long_line(lines, line);
		searched = left;
		int err = refill(lines);
		if (err < 0)
			return err;
	}
}
