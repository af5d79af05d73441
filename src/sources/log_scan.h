/*
 * Finds the lines of a log that may say something about memory, without looking at each line. Every line that matters
 * has one of a small set of markers in it ("SHM ", "CB0", "Out of Memory"). Blocks of the input are searched for a
 * piece of four bytes of each marker at once, with vector instructions where there are; only around a hit are the ends
 * of the line looked for. Newlines are counted in the same pass. docs/decisions/log.md has the reasons.
 *
 * Memory is bounded: a line longer than TDM_LOG_LINE_MAX is given with its beginning only and reported as cut.
 */
#ifndef TDM_SOURCES_LOG_SCAN_H
#define TDM_SOURCES_LOG_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/file.h"

struct tdm_log_tables;
struct tdm_log_finder;

enum { TDM_LOG_LINE_MAX = 1 << 18 };

struct tdm_log_scan {
	struct tdm_reader reader;
	char *data; /* the window; owned, like the tables of the search */
	size_t cap;
	struct tdm_log_tables *tables;
	size_t at;       /* next byte to look at; the beginning of a line, except while skipping */
	size_t complete; /* behind the last whole line in the window */
	size_t end;
	uint64_t lines; /* newlines before `at` */
	uint64_t bytes; /* before the window */
	uint64_t cut_lines;
	uint64_t skipped; /* bytes of the line that was cut */
	int failed;       /* the code that ended the reading; 0: none */
	bool eof;
	bool skipping; /* inside a line that was cut */
	bool follow;   /* set by the user: the end is not the end, and a last line without newline is not whole */
	bool prompt;   /* set by the user: a line is given as soon as it is there, not when what stands behind it is too
			*/
	const struct tdm_log_finder *finder; /* the search that suits this processor */
};

/* A line. The texts are borrowed until the next call. */
struct tdm_log_line {
	struct tdm_str text;   /* without its newline and a CR before it */
	struct tdm_str before; /* what stands before it in the window, some kilobytes at most */
	struct tdm_str
		after;   /* whole lines behind it, some kilobytes at most; fewer where the input ends or is awaited */
	uint64_t number; /* from 1 */
};

int tdm_log_scan_open(struct tdm_log_scan *scan, struct tdm_reader reader); /* 0 or -ENOMEM */
void tdm_log_scan_done(struct tdm_log_scan *scan);

/*
 * The next line with a marker, or, with `every`, the next line. 1 with *line set; 0 at the end (when following: so
 * far); -EMSGSIZE with *line set to the beginning of a line that is too long; or, after the whole lines before it and
 * once, the code of a failed read, or TDM_EENDLESS.
 */
int tdm_log_scan_next(struct tdm_log_scan *scan, bool every, struct tdm_log_line *line);

/* The first kilobytes, before anything was asked for: waits until they are there, or the end is. They are still to
 * come. */
struct tdm_str tdm_log_scan_peek(struct tdm_log_scan *scan);

/* Bytes looked at so far. */
static inline uint64_t tdm_log_scan_offset(const struct tdm_log_scan *scan)
{
	return scan->bytes + scan->at;
}

/* Lines up to there, with a last one that has no newline. */
uint64_t tdm_log_scan_lines(const struct tdm_log_scan *scan);

/* Goes on with another file, or the same from its beginning: what is left of the old one is dropped. */
void tdm_log_scan_restart(struct tdm_log_scan *scan, struct tdm_reader reader);

/* "avx2" or "portable": for the benchmark and the tests; the second also on request. */
const char *tdm_log_scan_method(const struct tdm_log_scan *scan);
void tdm_log_scan_portable(struct tdm_log_scan *scan);

#endif
