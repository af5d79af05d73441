/*
 * Reads a log and gives what its lines say about memory as records, in order. Lines that say nothing are skipped
 * (log_scan.h). A failure that the log repeats is given each time, marked as a repeat.
 */
#ifndef TDM_SOURCES_LOG_READER_H
#define TDM_SOURCES_LOG_READER_H

#include "base/buf.h"
#include "base/diag.h"
#include "event/log_record.h"
#include "sources/error_text.h"
#include "sources/log_fold.h"
#include "sources/log_forms.h"
#include "sources/input.h"
#include "sources/log_scan.h"

struct tdm_log_reader {
	struct tdm_input *input; /* borrowed */
	struct tdm_log_scan scan;
	struct tdm_log_counts counts; /* see tdm_log_reader_counts(); the sample's are zero unless it was taken */
	struct tdm_log_found found;   /* records of the last line */
	size_t given;
	struct tdm_failure_recent recent;
	struct tdm_log_fold fold;
	struct tdm_log_dump dump;
	struct tdm_buf clean;   /* the last line without colours */
	struct tdm_str message; /* of the last line */
	uint64_t grid_cores;    /* of the last grid that the program named; 0: none */
	uint64_t last_time_ns;  /* of the last line that had one */
};

/* The input must outlive the reader. 0 or -ENOMEM. */
int tdm_log_reader_open(struct tdm_log_reader *reader, struct tdm_input *input);
void tdm_log_reader_done(struct tdm_log_reader *reader);

/* Samples the beginning of the log. Call it before reading. Waits for the first kilobytes of a pipe. */
void tdm_log_reader_sample(struct tdm_log_reader *reader);

/* Continues with another file, or with the same one from its beginning. */
void tdm_log_reader_restart(struct tdm_log_reader *reader, struct tdm_input *input);

/* Totals so far. */
const struct tdm_log_counts *tdm_log_reader_counts(struct tdm_log_reader *reader);

/*
 * 1 with *record set (its texts are borrowed until the next call), 0 at the end, or a negative code with diag set; the
 * next call continues after it.
 */
int tdm_log_reader_next(struct tdm_log_reader *reader, struct tdm_log_record *record, struct tdm_diag *diag);

#endif
