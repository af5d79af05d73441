/* The profile of logs as text for people and as JSON for programs, two profiles side by side, and single records. */
#ifndef TDM_REPORT_LOG_REPORT_H
#define TDM_REPORT_LOG_REPORT_H

#include <stdbool.h>

#include "analyze/log_profile.h"
#include "base/buf.h"
#include "base/json.h"

struct tdm_log_report {
	size_t limit; /* rows of a table */
	bool errors_only;
	bool utf8;      /* characters outside ASCII may be used */
	size_t width;   /* columns of a line */
	bool is_sample; /* the built-in log */
};

void tdm_log_text(const struct tdm_log_profile *profile, const struct tdm_log_report *report, struct tdm_buf *out);

/* The value of the key "log". */
void tdm_log_json(const struct tdm_log_profile *profile, const struct tdm_log_report *report, struct tdm_json *json);

/* File 0 of each, side by side. */
void tdm_log_compare_text(const struct tdm_log_profile *a, const struct tdm_log_profile *b,
	const struct tdm_log_report *report, struct tdm_buf *out);
void tdm_log_compare_json(const struct tdm_log_profile *a, const struct tdm_log_profile *b, struct tdm_json *json);

/* One record on a line of its own, for following a log: "07:36:20.265     34  cb_push       CB1, 4 tiles". */
void tdm_log_record_line(const struct tdm_log_record *record, struct tdm_buf *out);
void tdm_log_record_json(const struct tdm_log_record *record, struct tdm_json *json);

/* In the order of their keys in JSON. */
enum tdm_log_table_id {
	TDM_LOG_TABLE_CBS,
	TDM_LOG_TABLE_KERNELS,
	TDM_LOG_TABLE_OPS,
	TDM_LOG_TABLE_PROGRAMS,
	TDM_LOG_TABLE_AMOUNTS,
	TDM_LOG_TABLE_REMAINING,
	TDM_LOG_TABLE_STATES,
	TDM_LOG_TABLE_STACKS,
	TDM_LOG_TABLE_COUNT
};

/* Nothing when it has no rows. */
void tdm_log_table_text(const struct tdm_log_profile *profile, enum tdm_log_table_id id,
	const struct tdm_log_report *report, struct tdm_buf *out);
/* Its key and its rows. */
void tdm_log_table_json(
	const struct tdm_log_profile *profile, enum tdm_log_table_id id, size_t limit, struct tdm_json *json);
/* The number of rows of each table, regardless of the limit, and of records that no table could take. */
void tdm_log_row_counts_json(const struct tdm_log_profile *profile, struct tdm_json *json);

/* What kind of log the file is, and what such a log lacks; NULL: nothing. */
const char *tdm_log_file_kind(const struct tdm_log_file *file);
const char *tdm_log_file_lacks(const struct tdm_log_file *file);

#endif
