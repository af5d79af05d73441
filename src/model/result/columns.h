/*
 * A table has one list of columns for its text, its JSON and its Markdown. A row is any structure. A column names a
 * member of the row, or has a function that computes its value:
 *
 * 	#define ROW(member) TDM_MEMBER(struct row, member)
 * 	static const struct tdm_column columns[] = {
 * 		{ "name", "name", ROW(name), .width = 20 },
 * 		{ "size", "bytes", ROW(bytes), TDM_BYTES },
 * 		{ NULL, "pid", ROW(pid), .flags = TDM_ZERO_IS_UNKNOWN },
 * 	};
 *
 * A key that contains dots is nested in JSON: "peak.bytes", "peak.line" are members of the object "peak".
 *
 * An unknown value is "-" in text and null in JSON, never 0. Unknown values are UINT64_MAX, UINT32_MAX, INT64_MIN,
 * non-finite shares and a NULL text. Numbers are right-aligned and never cut, since a cut number is a wrong number.
 */
#ifndef TDM_MODEL_COLUMNS_H
#define TDM_MODEL_COLUMNS_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/units.h"
#include "base/value.h"

/* One column in one row. */
struct tdm_field {
	const struct tdm_table *table;
	const void *row;
	const struct tdm_column *column;
	const struct tdm_bytes_range *range; /* sizes that share a unit with this one; NULL: it has its own unit */
	struct tdm_arena *scratch; /* memory for strings and rows made by a `get` function; valid until the next row */
};

enum tdm_column_flags {
	TDM_ZERO_IS_UNKNOWN = 1,     /* an empty string is unknown, too */
	TDM_NEGATIVE_IS_UNKNOWN = 2, /* for a signed number */
	TDM_IS_KIND = 4,             /* the number is an enum tdm_kind; text and JSON show its name */
	TDM_WITH_SIGN = 8,           /* the number is an enum tdm_kind, whose name is shown in text and JSON */
	TDM_OTHER_SIDE = 16,         /* align strings right, and everything else left */
	/* A string wider than its column is cut and ends in "...", except with one of: */
	TDM_WHOLE = 32, /* the string pushes the next columns to the right */
	TDM_REST = 64,  /* the last column: it may use the rest of the line; `width` is its minimum */
	TDM_WRAP = 128, /* the last column: its text wraps onto the next line */
	/* A column without a title: text shows a known value, which may be a table, on lines below the row, indented by
	 * `before` more columns. The lines wrap, except with TDM_WHOLE. */
	TDM_BELOW = 256,
};

/* For columns whose width depends on the rows: TDM_WIDTH_OF_TABLE + i means the table's widths[i]. */
enum { TDM_WIDTH_OF_TABLE = 1000, TDM_TABLE_WIDTHS = 2 };

struct tdm_column {
	const char *title; /* NULL: only in JSON. A newline splits the title into two lines. */
	/* NULL: only for readers. A column without key and title, or with a key that ends with a dot, adds the members
	 * of its value. */
	const char *key;
	uint8_t member;    /* enum tdm_member; TDM_MEMBER sets it and the offset */
	uint8_t before;    /* blanks before the column, in addition to the table's gap */
	uint16_t flags;    /* enum tdm_column_flags */
	uint8_t decimals;  /* decimals of a share, which text shows in percent */
	uint16_t width;    /* 0: each cell is as wide as its text */
	uint16_t known_by; /* set by TDM_KNOWN_IF, as is the next */
	uint8_t known_size;
	uint16_t via; /* set by TDM_VIA */
	size_t offset;
	int arg;             /* argument for the column's functions */
	const char *unknown; /* the text for unknown values; NULL: the table's text */
	/* The format in which text shows a number; NULL means decimal. */
	char *(*format)(char *dst, size_t cap, uint64_t number);
	/* Used instead of a member. */
	struct tdm_value (*get)(const struct tdm_field *field);
};

#define TDM_COUNT(columns)                .format = tdm_format_count, .width = (columns)
#define TDM_BYTES                         .format = tdm_format_bytes, .width = TDM_BYTES_COLUMNS
#define TDM_SIZE(columns)                 .format = tdm_format_bytes_short, .width = (columns)
#define TDM_DURATION(columns)             .format = tdm_format_duration, .width = (columns)

/* A member of a structure that a pointer in the row points to; unknown if that pointer is NULL. */
#define TDM_VIA(row, pointer, type, name) TDM_MEMBER(type, name), .via = offsetof(row, pointer) + 1

/* Instead of a member: the row's index in `rows`. */
#define TDM_INDEX                         .member = TDM_MEMBER_INDEX

/* The value is known only if another member of the same structure is not 0. */
#define TDM_KNOWN_IF(row, name)           .known_by = offsetof(row, name), .known_size = sizeof(((row *)NULL)->name)

/*
 * Selects the sizes in a table's TDM_BYTES columns that share a unit, so that a reader can compare them. ROW if each
 * row is about one memory (used, total, peak), since another row may be about a much larger memory; COLUMN if each
 * column is about one memory (the DRAM of each process).
 */
enum tdm_table_units { TDM_UNITS_OWN, TDM_UNITS_ROW, TDM_UNITS_COLUMN };

struct tdm_table {
	const struct tdm_column *columns;
	size_t column_count;
	const void *rows; /* elements `stride` bytes apart, unless `row` returns the row of an index */
	size_t stride, count;
	const void *(*row)(const struct tdm_table *table, size_t i);
	/* Whether to omit a row; cannot be combined with a limit. */
	bool (*skip)(const struct tdm_table *table, const void *row);
	size_t limit;        /* maximum number of rows shown; 0: all */
	uint64_t dropped;    /* number of rows missing from the array; the last line counts them as not shown */
	uint64_t hidden;     /* bit i: column i is hidden */
	const void *context; /* argument for the columns' functions */
	const char *unknown; /* the text for unknown values; NULL: "-" */
	size_t widths[TDM_TABLE_WIDTHS];
	const uint16_t *fitted; /* set by the writer: widths of the columns if `fits` */
	uint64_t numeric;       /* set by the writer: bit mask of the columns with numbers */
	uint8_t units;          /* enum tdm_table_units */
	bool has_no_head;       /* tdm_table_text prints rows only */
	bool is_whole_in_data;  /* JSON includes all rows, regardless of the limit */
	bool fits;              /* columns are as wide as their titles and cells; `width` is the maximum for strings */
	uint8_t indent, gap;    /* blanks before a line, and between two columns */
};

#define TDM_COLUMNS(list) .columns = (list), .column_count = sizeof(list) / sizeof *(list)

/* The table of an array, with one blank between two columns. */
#define TDM_TABLE_OF(list, rows_, count_) \
	((struct tdm_table){ TDM_COLUMNS(list), (rows_), sizeof *(rows_), (count_), .gap = 1 })

/* Like TDM_TABLE_OF, for a result: columns fit their cells and are two blanks apart. */
#define TDM_FITTED(list, rows_, count_) \
	((struct tdm_table){ TDM_COLUMNS(list), (rows_), sizeof *(rows_), (count_), .gap = 2, .fits = true })

/* A string made for one cell, as a value. */
struct tdm_value tdm_field_printed(const struct tdm_field *field, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Named values that belong to the row, as a value; they are copied, up to a NULL key (TDM_VALUES). */
struct tdm_value tdm_field_members(const struct tdm_field *field, const struct tdm_named *values);

/* A table that belongs to the row, as a value; the structure is copied. */
struct tdm_value tdm_field_table(const struct tdm_field *field, struct tdm_table table);

/* The value of the column's member, for a `get` function that builds on it. */
struct tdm_value tdm_field_member(const struct tdm_field *field);
/* The value of the cell, from the member or the function; unknown where the flags require it. */
struct tdm_value tdm_field_value(const struct tdm_field *field);

const void *tdm_table_row_at(const struct tdm_table *table, size_t i);
/* The maximum number of rows shown. */
size_t tdm_table_shown(const struct tdm_table *table);

/* A `row` function for rows that are pointers. */
const void *tdm_table_pointed(const struct tdm_table *table, size_t i);

#endif
