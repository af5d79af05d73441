/*
 * Comma-separated values as RFC 4180 has them: fields in quotes may hold commas, doubled quotes and newlines. A bad
 * record is refused with its position, and the reader goes on behind its first line: one quote that is never closed
 * does not cost the rest of the file. Records longer than TDM_CSV_RECORD_MAX are refused. Not thread-safe.
 */
#ifndef TDM_BASE_CSV_H
#define TDM_BASE_CSV_H

#include "base/diag.h"
#include "base/file.h"

enum { TDM_CSV_RECORD_MAX = 1 << 20, TDM_CSV_FIELDS_MAX = 4096 };

struct tdm_csv {
	struct tdm_lines lines;
	struct tdm_buf text;    /* lines of the record, and of what is read again behind a refused one */
	struct tdm_buf values;  /* fields of the record without their quotes */
	struct tdm_str *fields; /* borrowed until the next call */
	size_t field_count;
	uint64_t line;  /* of the record's beginning */
	size_t taken;   /* of `text`, bytes that were given out */
	uint64_t again; /* line number of what is at `taken` */
};

/* 0 or -ENOMEM; tdm_csv_done either way. */
int tdm_csv_open(struct tdm_csv *csv, struct tdm_reader reader);
void tdm_csv_done(struct tdm_csv *csv);

/* 1 with the fields set, 0 at the end, or a negative code with diag set; after TDM_ESYNTAX and -EMSGSIZE asking again
 * goes on behind it. Empty lines are no records. */
int tdm_csv_next(struct tdm_csv *csv, struct tdm_diag *diag);

/* The field, without blanks around it; an empty one behind the last. */
struct tdm_str tdm_csv_field(const struct tdm_csv *csv, size_t index);

/* The index of a field that has this name, blanks around it apart; SIZE_MAX: there is none. */
size_t tdm_csv_find(const struct tdm_csv *csv, const char *name);

#endif
