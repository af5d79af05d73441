/* Reads a log and returns its statements about memory as records, in order. Lines without such statements are
 * skipped (log_scan.c). If the log repeats a failure, each repetition is returned, marked as a repeat. */
#ifndef TDM_INPUT_LOG_READER_H
#define TDM_INPUT_LOG_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/diag.h"
#include "base/file.h"
#include "input/door/input.h"
#include "input/log/error_text.h"
#include "model/event/log_record.h"

/* ---- lines (log_scan.c) ---- */

struct tdm_log_tables;

enum { TDM_LOG_LINE_MAX = 1 << 18 };

struct tdm_log_scan {
	struct tdm_reader reader;
	char *data; /* the window; owned, like `tables` */
	size_t cap;
	struct tdm_log_tables *tables;
	size_t at;       /* next byte to search; the beginning of a line unless skipping */
	size_t complete; /* end of the window's last complete line */
	size_t end;
	uint64_t lines; /* newlines before `at` */
	uint64_t bytes; /* bytes before the window */
	uint64_t cut_lines;
	uint64_t noise;   /* state of tdm_is_endless_noise() */
	uint64_t skipped; /* cost of the bytes skipped in a truncated line (tdm_endless_cost) */
	int failed;       /* error code of a failed read, or 0 if none */
	bool eof;
	bool skipping; /* inside a cut line */
	/* set by the caller: the input may grow, so a last line without a newline is incomplete for now */
	bool follow;
	bool prompt; /* set by the caller: a line is returned at once, without waiting for the lines after it */
	/* The fastest search for this processor: returns the first candidate in [from, to), or `to` if there is
	 * none; adds the newlines before it to *newlines. */
	size_t (*find)(const struct tdm_log_tables *t, const char *data, size_t from, size_t to, uint64_t *newlines);
};

/* A line. The strings are borrowed until the next call. */
struct tdm_log_line {
	struct tdm_str text;   /* the line without its newline, or a CR before that */
	struct tdm_str before; /* the text before it in the window, at most some kilobytes */
	/* complete lines after it, at most some kilobytes; fewer at the end of the input or with `prompt` */
	struct tdm_str after;
	uint64_t number; /* line number, from 1 */
};

void tdm_log_scan_open(struct tdm_log_scan *scan, struct tdm_reader reader);
void tdm_log_scan_done(struct tdm_log_scan *scan);

/*
 * Finds the next line with a marker or, with `every`, the next line. Returns 1 with *line set; 0 at the end (when
 * following: the end so far); -EMSGSIZE with *line set to the beginning of an overlong line; or, once and after all
 * complete lines, the code of a failed read or TDM_EENDLESS.
 */
int tdm_log_scan_next(struct tdm_log_scan *scan, bool every, struct tdm_log_line *line);

/* Returns the first kilobytes before the first line is read. Waits until these bytes, or the end of the input, have
 * arrived. Reading still starts at the first byte. */
struct tdm_str tdm_log_scan_peek(struct tdm_log_scan *scan);

/* Number of bytes searched so far, to show progress. */
static inline uint64_t tdm_log_scan_offset(const struct tdm_log_scan *scan)
{
	return scan->bytes + scan->at;
}

/* Number of lines so far, including an unterminated last line. */
uint64_t tdm_log_scan_lines(const struct tdm_log_scan *scan);

/* Continues with another file, or with the same file from its beginning. Drops the rest of the old input. */
void tdm_log_scan_restart(struct tdm_log_scan *scan, struct tdm_reader reader);

/* Searches without vector instructions; for the tests. */
void tdm_log_scan_portable(struct tdm_log_scan *scan);

/*
 * ---- messages (log_message.c, log_workload.c) ----
 *
 * Splits a log line into the message's prefix and the facts about memory in the message. The prefix may contain the
 * parts written by the runtime's logger, with or without colours; a multi-host launcher's tag; the time added by a CI
 * system; and the core named by a kernel's own print. Parsers of messages take one message and add records to a list; a
 * message may yield several ("CB0:4, CB1:4").
 */

struct tdm_log_prefix {
	uint64_t time_ns; /* time since 1970, assuming that the log's clock is UTC; 0 if the line has no time */
	uint8_t level;    /* enum tdm_log_level */
	bool is_logger;   /* the line is from the runtime's logger */
	bool has_core;    /* printed by a kernel */
	int32_t rank;     /* rank in a multi-host program, or TDM_LOG_NO_RANK */
	uint32_t device;  /* for a kernel's print: the device that printed it; else TDM_LOG_DEVICE_UNKNOWN */
	struct tdm_core_range core;
	struct tdm_str message; /* the message, without the "(file:line)" at its end */
};

/* `line` must have no colours. The message points into `line`. */
void tdm_log_prefix_parse(struct tdm_str line, struct tdm_log_prefix *prefix);

/* Removes terminal escape sequences in place. Returns the new length. */
size_t tdm_log_strip_colour(char *text, size_t len);
/* The line without escape sequences: the line itself if it has none, else a copy in `clean`. */
struct tdm_str tdm_log_without_colour(struct tdm_str line, struct tdm_buf *clean);

enum { TDM_LOG_PER_LINE = TDM_LOG_CBS + 2 }; /* the most records any parser adds per line */

struct tdm_log_found {
	struct tdm_log_record records[TDM_LOG_PER_LINE];
	size_t count;
	const char *refused; /* a name for the line if it begins like a known message but is unusable; else NULL */
};

/* Appends a record to the list and returns it. All of the record's fields are unknown at first. */
struct tdm_log_record *tdm_log_found_add(
	struct tdm_log_found *found, enum tdm_log_type type, enum tdm_log_dialect dialect);

/* A number, or TDM_LOG_UNKNOWN. */
uint64_t tdm_log_number(struct tdm_str text);

/* Converts "12.5" and the unit "KB" to bytes, or TDM_BYTES_UNKNOWN. */
uint64_t tdm_log_bytes(struct tdm_str number, struct tdm_str unit);

/* Converts "12.5" and the unit "us" to nanoseconds, or TDM_LOG_UNKNOWN. */
uint64_t tdm_log_duration(struct tdm_str number, struct tdm_str unit);

/* Parses messages with fixed words, then messages that programs word freely. Returns whether it added a record or
 * refused the line. */
bool tdm_log_message_parse(const struct tdm_log_prefix *prefix, struct tdm_log_found *found);
bool tdm_log_workload_parse(const struct tdm_log_prefix *prefix, struct tdm_log_found *found);

/* The allocation server's list of remaining buffers: a block of lines. Call tdm_log_dump_begin() at the title line,
 * then tdm_log_dump_line() for every line while `inside` is set. */
struct tdm_log_dump {
	bool inside;
	uint32_t device;
	uint32_t quiet; /* consecutive lines that are not part of the list */
};

void tdm_log_dump_begin(struct tdm_log_dump *state);
void tdm_log_dump_line(struct tdm_log_dump *state, struct tdm_str line, struct tdm_log_found *found);

/* ---- the reader ---- */

struct tdm_log_reader {
	struct tdm_input *input; /* borrowed */
	struct tdm_log_scan scan;
	struct tdm_log_counts counts; /* see tdm_log_reader_counts(); its sample counts are 0 if no sample was taken */
	struct tdm_log_found found;   /* the last line's records */
	size_t given;
	struct tdm_failure_recent recent;
	struct tdm_log_dump dump;
	struct tdm_buf clean; /* the last line, without colours */
	/* A sentence that continues on the next line: */
	struct tdm_buf folded_line; /* one of its lines, without colours */
	struct tdm_buf folded[2];   /* its joined lines, with blanks and without */
	bool fold_logged;           /* the sentence begins in this line, which is a logger's */
	bool from_above;            /* the sentence begins above this line */
	int32_t fold_rank;          /* rank of the line where the sentence begins; later lines may have none */
	struct tdm_str message;     /* the last line's message */
	uint64_t grid_cores;        /* number of cores in the grid that the program named last, or 0 */
	uint64_t last_time_ns;      /* time of the last line that had one */
};

/* The input must outlive the reader. */
void tdm_log_reader_open(struct tdm_log_reader *reader, struct tdm_input *input);
void tdm_log_reader_done(struct tdm_log_reader *reader);

/* Samples the beginning of the log. Call this before reading. Waits for the first kilobytes of a pipe. */
void tdm_log_reader_sample(struct tdm_log_reader *reader);

/* Continues with another file, or with the same file from its beginning. */
void tdm_log_reader_restart(struct tdm_log_reader *reader, struct tdm_input *input);

/* Totals so far. */
const struct tdm_log_counts *tdm_log_reader_counts(struct tdm_log_reader *reader);

/*
 * Returns 1 with *record set (its strings are borrowed until the next call), 0 at the end, or a negative code with diag
 * set, after which the next call continues.
 */
int tdm_log_reader_next(struct tdm_log_reader *reader, struct tdm_log_record *record, struct tdm_diag *diag);

/* A sample log for users who have none: the output of a program that prints its circular buffers (log_sample.c). */
struct tdm_str tdm_log_sample_text(void);

#endif
