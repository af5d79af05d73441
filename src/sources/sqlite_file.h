/*
 * Tables of an SQLite database, read from an input. Nothing is written, no lock is taken, and no file is made beside
 * the user's: the program that writes the database is not disturbed. Its journal in WAL mode, a file beside it with
 * -wal at the end of its name, is read with it. A database that is packed or comes through a pipe is read from a copy.
 *
 * The file is not trusted. Only columns of real tables are read: views, virtual tables and computed columns could run
 * any code that SQLite has. Values, rows and steps are limited. Without the library (TDM_HAVE_SQLITE is 0) only
 * tdm_sqlite_recognise() exists.
 */
#ifndef TDM_SOURCES_SQLITE_FILE_H
#define TDM_SOURCES_SQLITE_FILE_H

#include "sources/input.h"

enum { TDM_SQLITE_COLUMNS = 24, TDM_SQLITE_VALUE_MAX = 128 << 20 };

struct tdm_sqlite;
struct tdm_sqlite_rows;

static inline bool tdm_sqlite_recognise(struct tdm_str head)
{
	static const char magic[] = "SQLite format 3"; /* with its zero */
	return head.len >= sizeof magic && memcmp(head.ptr, magic, sizeof magic) == 0;
}

/* 0, or a negative code with diag set. The input must outlive the database, and nothing but its head may have been
 * read. */
int tdm_sqlite_open(struct tdm_input *input, struct tdm_sqlite **db, struct tdm_diag *diag);
void tdm_sqlite_close(struct tdm_sqlite *db); /* NULL is allowed */

/* Why rows may be missing or of different moments: the file is cut off, or somebody writes it or did not finish. Ask
 * before reading and again after it. Returns whether there is a reason; *why then has it. */
bool tdm_sqlite_is_doubtful(const struct tdm_sqlite *db, struct tdm_diag *why);

struct tdm_sqlite_query {
	const char *table;
	const char *const *columns; /* ends with NULL; at most TDM_SQLITE_COLUMNS */
	const char *by;             /* "first, second": the order of the rows; NULL: as stored */
	bool has_row;               /* only the row with this number */
	int64_t row;
};

/* 1, 0 if there is no such table, or a negative code with diag set if it cannot be used. Call end for the rows. */
int tdm_sqlite_select(struct tdm_sqlite *db, const struct tdm_sqlite_query *query, struct tdm_sqlite_rows **rows,
	struct tdm_diag *diag);
/* 1, 0 after the last row, or a negative code with diag set. */
int tdm_sqlite_next(struct tdm_sqlite_rows *rows, struct tdm_diag *diag);
void tdm_sqlite_end(struct tdm_sqlite_rows *rows); /* NULL is allowed */

/* The number of the row in its table: its rowid, else its position. */
int64_t tdm_sqlite_row(const struct tdm_sqlite_rows *rows);

/* Values of the row, borrowed until the next one. 1, 0 if it is not there or NULL, or TDM_ESYNTAX for another type. */
int tdm_sqlite_integer(const struct tdm_sqlite_rows *rows, size_t column, int64_t *value);
int tdm_sqlite_real(const struct tdm_sqlite_rows *rows, size_t column, double *value);
struct tdm_str tdm_sqlite_text(const struct tdm_sqlite_rows *rows, size_t column); /* empty: not there, or NULL */

#endif
