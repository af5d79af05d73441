/*
 * Finds the lines of a log that may say something about memory, without looking at each line. Every line that matters
 * has one of a small set of markers ("SHM ", "CB0", "Out of Memory"). The input is searched in blocks for four bytes of
 * all markers at once, with vector instructions if available; the ends of a line are looked for only around a hit.
 * Newlines are counted in the same pass. docs/decisions/log.md gives the reasons.
 *
 * Memory is bounded: of a line longer than TDM_LOG_LINE_MAX only the beginning is given, and it is reported as cut.
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
	char *data; /* the window; owned, like `tables` */
	size_t cap;
	struct tdm_log_tables *tables;
	size_t at;       /* next byte to look at; the beginning of a line, except while skipping */
	size_t complete; /* end of the last complete line in the window */
	size_t end;
	uint64_t lines; /* newlines before `at` */
	uint64_t bytes; /* before the window */
	uint64_t cut_lines;
	uint64_t noise;   /* of tdm_is_endless_noise() */
	uint64_t skipped; /* cost of the skipped bytes of a line that was cut */
	int failed;       /* code of a failed read; 0: none */
	bool eof;
	bool skipping; /* inside a line that was cut */
	bool follow;   /* set by the caller: the input may grow, and a last line without a newline is incomplete */
	bool prompt;   /* set by the caller: give a line at once, without waiting for the lines after it */
	const struct tdm_log_finder *finder; /* the best search for this processor */
};

/* A line. The texts are borrowed until the next call. */
struct tdm_log_line {
	struct tdm_str text;   /* without the newline and a CR before it */
	struct tdm_str before; /* text before it in the window, at most some kilobytes */
	struct tdm_str after;  /* complete lines after it, at most some kilobytes; fewer at the end of the input or when
				  not waiting for it */
	uint64_t number;       /* from 1 */
};

int tdm_log_scan_open(struct tdm_log_scan *scan, struct tdm_reader reader); /* 0 or -ENOMEM */
void tdm_log_scan_done(struct tdm_log_scan *scan);

/*
 * The next line with a marker or, with `every`, the next line. 1 with *line set; 0 at the end (when following: for
 * now); -EMSGSIZE with *line set to the beginning of a line that is too long; or, once and after all complete lines,
 * the code of a failed read or TDM_EENDLESS.
 */
int tdm_log_scan_next(struct tdm_log_scan *scan, bool every, struct tdm_log_line *line);

/* The first kilobytes, before the first line is asked for. Waits until they or the end are there. Reading still starts
 * with them. */
struct tdm_str tdm_log_scan_peek(struct tdm_log_scan *scan);

/* Bytes looked at so far. */
static inline uint64_t tdm_log_scan_offset(const struct tdm_log_scan *scan)
{
	return scan->bytes + scan->at;
}

/* Lines up to there, including a last one without a newline. */
uint64_t tdm_log_scan_lines(const struct tdm_log_scan *scan);

/* Continues with another file, or with the same one from its beginning. Drops the rest of the old one. */
void tdm_log_scan_restart(struct tdm_log_scan *scan, struct tdm_reader reader);

/* "avx2" or "portable", and choosing the latter: for the benchmark and the tests. */
const char *tdm_log_scan_method(const struct tdm_log_scan *scan);
void tdm_log_scan_portable(struct tdm_log_scan *scan);

#endif
