/*
 * Comma-separated values as in RFC 4180: quoted fields may contain commas, doubled quotes and newlines. A bad record is
 * refused with its position, and the reader continues after the record's first line, so an unclosed quote does not cost
 * the rest of the file. Records longer than TDM_CSV_RECORD_MAX are refused. Not thread-safe.
 */
#ifndef TDM_BASE_CSV_H
#define TDM_BASE_CSV_H

#include "base/diag.h"
#include "base/file.h"

enum { TDM_CSV_RECORD_MAX = 1 << 20, TDM_CSV_FIELDS_MAX = 4096 };

struct tdm_csv {
	struct tdm_lines lines;
	struct tdm_buf text;    /* lines of the record, and lines to read again after a refused record */
	struct tdm_buf values;  /* the record's fields, unquoted */
	struct tdm_str *fields; /* borrowed until the next call */
	size_t field_count;
	uint64_t line;  /* line number where the record begins */
	size_t taken;   /* bytes of `text` already returned */
	uint64_t again; /* line number at `taken`, to continue from */
};

void tdm_csv_open(struct tdm_csv *csv, struct tdm_reader reader);
void tdm_csv_done(struct tdm_csv *csv);

/* Returns 1 and sets the fields, 0 at the end, or a negative code and sets diag. After TDM_ESYNTAX or -EMSGSIZE, the
 * next call continues after the bad line. Empty lines are skipped. */
int tdm_csv_next(struct tdm_csv *csv, struct tdm_diag *diag);

/* The field without surrounding blanks; empty if the index is beyond the last field. */
struct tdm_str tdm_csv_field(const struct tdm_csv *csv, size_t index);

/* The index of the field with this text, ignoring surrounding blanks; SIZE_MAX if there is none. */
size_t tdm_csv_find(const struct tdm_csv *csv, const char *name);

#endif
