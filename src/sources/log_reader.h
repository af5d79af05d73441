/*
 * Reads a log and gives what its lines say about memory as records, in their order. Lines that say nothing are not
 * looked at (log_scan.h). A failure that stands in the log more than once is given each time, marked as a repeat.
 */
#ifndef TDM_SOURCES_LOG_READER_H
#define TDM_SOURCES_LOG_READER_H

#include "base/buf.h"
#include "base/diag.h"
#include "event/log_record.h"
#include "sources/error_text.h"
#include "sources/log_fold.h"
#include "sources/log_forms.h"
#include "sources/log_scan.h"

/* What the beginning of the log looks like: lines without a word about memory tell whose log it is. */
struct tdm_log_sample {
	uint64_t lines;
	uint64_t logger_lines; /* of the runtime's logger */
	uint64_t debug_lines;  /* of those, debug or trace: the logger's level was not the default */
	bool is_binary;        /* it has bytes that no text has */
	bool is_utf16;         /* it is text that is not understood */
};

struct tdm_log_reader {
	struct tdm_log_scan scan;
	struct tdm_log_sample sample; /* zero unless it was asked for */
	struct tdm_log_found found;   /* what the last line said */
	size_t given;
	struct tdm_failure_recent recent;
	struct tdm_log_fold fold;
	struct tdm_log_dump dump;
	struct tdm_buf clean;   /* the last line without colours */
	struct tdm_str message; /* of the last line */
	uint64_t last_time_ns;  /* of a line that had one */
	uint64_t refused_lines;
	bool has_failed; /* it could not be read to its end */
};

/* The descriptor stays the caller's; memory must outlive the reader. 0 or -ENOMEM. */
int tdm_log_reader_open(struct tdm_log_reader *reader, int fd);
int tdm_log_reader_memory(struct tdm_log_reader *reader, const char *data, size_t len);
void tdm_log_reader_done(struct tdm_log_reader *reader);

/* Fills `sample`, before the first record is asked for. Waits for the first kilobytes of a pipe. */
void tdm_log_reader_sample(struct tdm_log_reader *reader);

/* The descriptor has another file behind it, or the same from its beginning. */
void tdm_log_reader_restart(struct tdm_log_reader *reader, int fd);

/*
 * 1 with *record set (its texts are borrowed until the next call), 0 at the end, or a negative code with diag set;
 * asking again goes on behind it.
 */
int tdm_log_reader_next(struct tdm_log_reader *reader, struct tdm_log_record *record, struct tdm_diag *diag);

#endif
