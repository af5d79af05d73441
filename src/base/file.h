/* Reads and replaces whole files, and reads lines from files of any size in bounded memory. */
#ifndef TDM_BASE_FILE_H
#define TDM_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"

/* A source of bytes: reads up to `cap` at a time and returns their count, 0 at the end, or a negative code. */
struct tdm_reader {
	ssize_t (*read)(void *from, char *dst, size_t cap);
	void *from;
};

/* Appends the whole file ("-" is standard input) to `out`. 0, -errno, or -EFBIG above `max` bytes. */
int tdm_file_read(const char *path, size_t max, struct tdm_buf *out);

struct tdm_diag;
/* Like tdm_file_read(), for a user's small file. On an error, `diag` contains the file and the reason. `noun` is a word
 * for the file, such as "card file". */
int tdm_file_load(const char *path, size_t max, const char *noun, struct tdm_buf *out, struct tdm_diag *diag);

/* Writes everything to a descriptor and resumes after interruptions. 0 or -errno. */
int tdm_file_write_all(int fd, const char *data, size_t len);

/*
 * Replaces the file's contents with `data` atomically: a reader sees the old text or the new one, never a part. A
 * symbolic link stays a link; a file that is not regular (a FIFO, /dev/null) is written to directly. 0 or -errno; on an
 * error a regular file is unchanged.
 */
int tdm_file_replace(const char *path, const char *data, size_t len);

/*
 * A line reader. Lines come without their newline (and without a CR before it) and are borrowed until the next call. A
 * line longer than the capacity (a CR counts) is reported once as cut, and the rest of the line is skipped; lines read
 * from memory are never cut. A UTF-8 byte order mark before the first line is dropped.
 *
 * An input without a newline in TDM_LINE_END_MAX bytes is not text and may never end: it fails with TDM_EENDLESS. So
 * does an equal amount of noise, such as the output of /dev/urandom, even if it contains newlines. A log that was
 * truncated while its writer kept its offset begins with zeros; up to TDM_ZEROS_MAX of them are allowed.
 */
#define TDM_LINE_END_MAX (UINT64_C(1) << 28)
#define TDM_ZEROS_MAX    (UINT64_C(1) << 32)

/* The cost of bytes without a newline, charged to a budget of TDM_ZEROS_MAX. Text costs more than zeros. */
uint64_t tdm_endless_cost(const char *data, size_t len);

/* Call this with every chunk read. *noise starts at 0 and counts the bytes since the last chunk that looked like
 * text. Returns whether there is too much noise. */
bool tdm_is_endless_noise(uint64_t *noise, const char *data, size_t len);

struct tdm_lines {
	struct tdm_reader reader; /* its read function is NULL when reading memory */
	char *data;               /* window on the input; borrowed when reading memory, else owned */
	size_t cap;               /* size of the window: the longest line and its newline */
	size_t at, end;           /* the unread part of the window */
	uint64_t line;            /* number of the last line returned, from 1 */
	uint64_t offset;          /* bytes returned, for the progress line */
	uint64_t noise;           /* state of tdm_is_endless_noise() */
	bool eof;
};

/* `cap`: maximum line length in bytes. The caller keeps ownership of the reader or descriptor. */
void tdm_lines_from(struct tdm_lines *lines, struct tdm_reader reader, size_t cap);
void tdm_lines_open(struct tdm_lines *lines, int fd, size_t cap);
void tdm_lines_memory(struct tdm_lines *lines, const char *data, size_t len);
void tdm_lines_done(struct tdm_lines *lines);

/* Returns 1 and sets *line, 0 at the end, -EMSGSIZE for a cut line (*line is its beginning), or -errno. */
int tdm_lines_next(struct tdm_lines *lines, struct tdm_str *line);

#endif
