/* What `tidemark scan` prints: findings, budgets, buffers, kernels, and how much of the sources was understood. */
#ifndef TDM_REPORT_SCAN_REPORT_H
#define TDM_REPORT_SCAN_REPORT_H

#include "analyze/scan_compare.h"
#include "analyze/scan_verdict.h"
#include "base/json.h"
#include "base/term.h"
#include "device/card.h"
#include "report/table.h"

struct tdm_scan_report {
	const struct tdm_scan *scan;
	struct tdm_scan_verdict *verdict;
	const struct tdm_card *card;            /* that the budgets are compared with */
	const char *const *paths;               /* that were scanned; ends with NULL */
	const struct tdm_scan_changes *changes; /* NULL: nothing was compared */
	const char *before;                     /* the path that `scan` is compared with; NULL */
	const char *baseline;                   /* the file whose budgets were compared; NULL */
	bool is_as_baseline;                    /* no budget differs from it */
	struct tdm_term term;
	size_t limit; /* rows of a table in text; 0: all */
};

void tdm_scan_report_text(const struct tdm_scan_report *report, struct tdm_buf *out);
void tdm_scan_report_json(const struct tdm_scan_report *report, struct tdm_json *json);

/* A log in the Static Analysis Results Interchange Format 2.1.0, with a result for each finding that is a problem. */
void tdm_scan_report_sarif(const struct tdm_scan_report *report, struct tdm_buf *out);

/* scan_kernel_table.c: what was compared between kernels and their host, and what could not be. */
void tdm_scan_checks_json(const struct tdm_mismatches *mismatches, struct tdm_json *json);

/* scan_tables.c and scan_kernel_table.c: the tables, made from one list of columns for text and JSON. */

/* Writes a text below a row, folded and indented, and releases it; nothing when it is empty. */
void tdm_scan_put_below(const struct tdm_scan_report *report, struct tdm_buf *text, struct tdm_buf *out);

struct tdm_scan_buffer_row {
	const struct tdm_scan_file *file;
	const struct tdm_scan_buffer *buffer;
	const struct tdm_scan_program *program; /* NULL when it has none */
};

struct tdm_scan_kernel_row {
	const struct tdm_scan_file *file;
	const struct tdm_scan_kernel *kernel;
	const struct tdm_scan_program *program; /* NULL when it has none */
	const char *source_path;                /* of the file that was found; NULL when it was not */
};

struct tdm_scan_place_row {
	const struct tdm_scan_file *file;
	const struct tdm_scan_place *place;
};

/* Places of one shape. */
struct tdm_scan_shape_row {
	const char *shape;
	uint64_t places, grasp[TDM_GRASP_COUNT], helper_bodies; /* those are not among the places */
};

/* How much was understood. */
struct tdm_scan_coverage {
	struct tdm_scan_shape_row shapes[TDM_SHAPE_COUNT], all;
	uint64_t files[TDM_FILE_STATE_COUNT], bytes;
};

/* All rows; zeroed to begin with. */
struct tdm_scan_rows {
	struct tdm_scan_buffer_row *buffers;
	struct tdm_scan_kernel_row *kernels;
	struct tdm_scan_place_row *missed;  /* places that were not understood wholly */
	const struct tdm_scan_file **files; /* that did not parse whole or were refused */
	size_t buffer_count, kernel_count, missed_count, file_count;
	struct tdm_scan_coverage coverage;
};

int tdm_scan_rows_make(const struct tdm_scan *scan, struct tdm_scan_rows *rows); /* 0 or -ENOMEM */
void tdm_scan_rows_done(struct tdm_scan_rows *rows);

/* Borrowed from the rows; `report` is the context of the columns. */
struct tdm_table tdm_scan_buffer_table(
	const struct tdm_scan_report *report, const struct tdm_scan_buffer_row *rows, size_t count);
struct tdm_table tdm_scan_kernel_table(
	const struct tdm_scan_report *report, const struct tdm_scan_kernel_row *rows, size_t count);
struct tdm_table tdm_scan_program_table(const struct tdm_scan_report *report);
struct tdm_table tdm_scan_change_table(const struct tdm_scan_report *report);
struct tdm_table tdm_scan_missed_table(const struct tdm_scan_rows *rows);
struct tdm_table tdm_scan_shape_table(const struct tdm_scan_rows *rows);
struct tdm_table tdm_scan_file_table(const struct tdm_scan_rows *rows);
struct tdm_table tdm_scan_refusal_table(const struct tdm_scan *scan);

#endif
