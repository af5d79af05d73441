/*
 * A table has one list of columns for its text, its JSON and its Markdown. A row is any structure. A column names a
 *member of it, or has a function that gets its value:
 *
 *	#define ROW(member) TDM_MEMBER(struct row, member)
 *	static const struct tdm_column columns[] = {
 *		{ "name", "name", ROW(name), .width = 20 },
 *		{ "size", "bytes", ROW(bytes), TDM_BYTES },
 *		{ NULL, "pid", ROW(pid), .flags = TDM_ZERO_IS_UNKNOWN },
 *	};
 *
 * An unknown value is "-" in text and null in JSON, never 0. Unknown values are UINT64_MAX, UINT32_MAX, INT64_MIN,
 * non-finite shares and a NULL text. Numbers are right-aligned and never cut, since a cut number is a wrong number.
 */
#ifndef TDM_REPORT_TABLE_H
#define TDM_REPORT_TABLE_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/duration.h"
#include "base/json.h"
#include "base/term.h"
#include "base/units.h"

/* One column of one row. */
struct tdm_field {
	const struct tdm_table *table;
	const void *row;
	const struct tdm_column *column;
	const struct tdm_bytes_range *range; /* of the sizes that share a unit with it; NULL: it has its own */
};

struct tdm_value {
	enum {
		TDM_VALUE_UNKNOWN,
		TDM_VALUE_NUMBER,
		TDM_VALUE_SIGNED,
		TDM_VALUE_SHARE,
		TDM_VALUE_BOOL,
		TDM_VALUE_TEXT
	} type;
	union {
		uint64_t number;
		int64_t integer;
		double share;
		bool yes;
		struct tdm_str text; /* borrowed from the row, or a constant */
	};
};

static inline struct tdm_value tdm_value_number(uint64_t number)
{
	return (struct tdm_value){ number != UINT64_MAX ? TDM_VALUE_NUMBER : TDM_VALUE_UNKNOWN, { number } };
}

static inline struct tdm_value tdm_value_share(double share)
{
	return (struct tdm_value){ isfinite(share) ? TDM_VALUE_SHARE : TDM_VALUE_UNKNOWN, { .share = share } };
}

static inline struct tdm_value tdm_value_text(const char *text)
{
	return (struct tdm_value){ text != NULL ? TDM_VALUE_TEXT : TDM_VALUE_UNKNOWN, { .text = tdm_str_of(text) } };
}

enum tdm_column_flags {
	TDM_ZERO_IS_UNKNOWN = 1,     /* so is an empty text */
	TDM_NEGATIVE_IS_UNKNOWN = 2, /* of a signed number */
	TDM_IS_KIND = 4,             /* the number is an enum tdm_kind; text and JSON show its name */
	TDM_WITH_SIGN = 8,           /* show a plus before a number that is not negative */
	TDM_OTHER_SIDE = 16,         /* align texts right, and anything else left */
	/* A text wider than its column is cut and ends in "...", except with: */
	TDM_WHOLE = 32, /* it pushes the next columns to the right */
	TDM_REST = 64,  /* the last column: it may use the rest of the line; `width` is its minimum */
	TDM_WRAP = 128, /* the last column: it continues below */
};

/* For columns whose width depends on the rows: TDM_WIDTH_OF_TABLE + i is widths[i] of the table. */
enum { TDM_WIDTH_OF_TABLE = 1000, TDM_TABLE_WIDTHS = 2 };

struct tdm_column {
	const char *title; /* NULL: only in JSON. A newline splits it into two lines. */
	const char *key;   /* NULL: only in text, unless `json` writes keys of its own */
	uint8_t member;    /* enum tdm_member; TDM_MEMBER sets it and the offset */
	uint8_t flags;     /* enum tdm_column_flags */
	uint8_t before;    /* blanks before the column, besides the table's gap */
	uint8_t decimals;  /* of a share, which text shows in percent */
	uint16_t width;    /* 0: as wide as each cell */
	uint16_t known_by; /* TDM_KNOWN_IF sets it and the next */
	uint8_t known_size;
	uint16_t via; /* TDM_VIA sets it */
	size_t offset;
	int arg;             /* for the functions */
	const char *unknown; /* the text for unknown values; NULL: the table's */
	/* How text shows a number; NULL: in decimal. */
	char *(*format)(char *dst, size_t cap, uint64_t number);
	/* Instead of a member. */
	struct tdm_value (*get)(const struct tdm_field *field);
	/* Instead of the value: writes the text of the cell, which is made printable and cut afterwards. */
	void (*text)(const struct tdm_field *field, struct tdm_buf *out);
	/* Instead of the value: writes the value of the key or, without a key, keys and their values. */
	void (*json)(const struct tdm_field *field, struct tdm_json *json);
	/* One of TDM_STYLE_*, around the cell and its blanks; "": none. */
	const char *(*style)(const struct tdm_field *field);
	/* Lines of text below the row; the title may be NULL. */
	void (*below)(const struct tdm_field *field, struct tdm_buf *out);
};

#define TDM_COUNT(columns)    .format = tdm_format_count, .width = (columns)
#define TDM_BYTES             .format = tdm_format_bytes, .width = TDM_BYTES_COLUMNS
#define TDM_SIZE(columns)     .format = tdm_format_bytes_short, .width = (columns)
#define TDM_DURATION(columns) .format = tdm_format_duration, .width = (columns)

enum tdm_member {
	TDM_MEMBER_NONE,
	TDM_MEMBER_INDEX,
	TDM_MEMBER_U8,
	TDM_MEMBER_U16,
	TDM_MEMBER_U32,
	TDM_MEMBER_U64,
	TDM_MEMBER_I32,
	TDM_MEMBER_I64,
	TDM_MEMBER_SHARE,
	TDM_MEMBER_BOOL,
	TDM_MEMBER_CHARS, /* this and the rest are texts */
	TDM_MEMBER_POINTER,
	TDM_MEMBER_STR,
};

#define TDM_MEMBER(row, name) \
	.member = _Generic(&((row *)NULL)->name,                            \
		uint8_t *: TDM_MEMBER_U8,                                   \
		uint16_t *: TDM_MEMBER_U16,                                 \
		uint32_t *: TDM_MEMBER_U32,                                 \
		uint64_t *: TDM_MEMBER_U64,                                 \
		int32_t *: TDM_MEMBER_I32,                                  \
		int64_t *: TDM_MEMBER_I64,                                  \
		double *: TDM_MEMBER_SHARE,                                 \
		bool *: TDM_MEMBER_BOOL,                                    \
		char(*)[sizeof(((row *)NULL)->name)]: TDM_MEMBER_CHARS,     \
		char **: TDM_MEMBER_POINTER,                                \
		const char **: TDM_MEMBER_POINTER,                          \
		struct tdm_str *: TDM_MEMBER_STR),                          \
	.offset = offsetof(row, name)

/* A member of the structure that a pointer in the row points to; unknown if that is NULL. */
#define TDM_VIA(row, pointer, type, name) TDM_MEMBER(type, name), .via = offsetof(row, pointer) + 1

/* Instead of a member: the index of the row in `rows`. */
#define TDM_INDEX                         .member = TDM_MEMBER_INDEX

/* The value is known only if another member of the same structure is not 0. */
#define TDM_KNOWN_IF(row, name)           .known_by = offsetof(row, name), .known_size = sizeof(((row *)NULL)->name)

/*
 * Which sizes of a table have one unit, among the columns with TDM_BYTES: those that a reader compares. If a row is
 * about one memory (used, total, peak), they are those of the row: another row may be about a much larger memory. If a
 * column is about one memory (the DRAM of each process), they are those of the column.
 */
enum tdm_table_units { TDM_UNITS_OWN, TDM_UNITS_ROW, TDM_UNITS_COLUMN };

struct tdm_table {
	const struct tdm_column *columns;
	size_t column_count;
	const void *rows; /* `stride` bytes apart; or `row` returns the row of an index */
	size_t stride, count;
	const void *(*row)(const struct tdm_table *table, size_t i);
	/* Whether to leave a row out; not together with a limit. */
	bool (*skip)(const struct tdm_table *table, const void *row);
	size_t limit;        /* rows that are shown; 0: all */
	uint64_t dropped;    /* rows that are missing; the last line counts them as not shown */
	uint64_t hidden;     /* bit i: column i is hidden */
	const void *context; /* for the functions */
	const char *unknown; /* the text for unknown values; NULL: "-" */
	const char *above;   /* lines above the heading; NULL: none */
	const char *style;   /* of the heading; NULL: none */
	const char *more;    /* the beginning of the last line, such as "..."; NULL: a blank */
	size_t widths[TDM_TABLE_WIDTHS];
	uint8_t units;       /* enum tdm_table_units */
	bool has_no_head;    /* tdm_table_text shows only rows */
	uint8_t indent, gap; /* blanks before a line and between two columns */
};

#define TDM_COLUMNS(list) .columns = (list), .column_count = sizeof(list) / sizeof *(list)

/* The table of an array, with one blank between two columns. */
#define TDM_TABLE_OF(list, rows_, count_) \
	((struct tdm_table){ TDM_COLUMNS(list), (rows_), sizeof *(rows_), (count_), .gap = 1 })

/* A `row` function for rows that are pointers. */
const void *tdm_table_pointed(const struct tdm_table *table, size_t i);

/* A size of the cell in the unit that it shares, in at most `columns` if that can be. Returns dst. */
char *tdm_field_bytes(const struct tdm_field *field, char *dst, size_t cap, uint64_t bytes, size_t columns);

/* The value of the column's member, for a `get` function that builds on it. */
struct tdm_value tdm_field_member(const struct tdm_field *field);

/* Heading, rows, and how many more there are; nothing when there is no row. Both text and JSON flush long tables to the
 * buffer's outlet row by row. If the terminal folds, a table that is too wide for it becomes several, one below the
 * other, that all begin with the first column. */
void tdm_table_text(const struct tdm_table *table, const struct tdm_term *term, struct tdm_buf *out);
void tdm_table_head(const struct tdm_table *table, const struct tdm_term *term, struct tdm_buf *out);
void tdm_table_row(const struct tdm_table *table, const void *row, const struct tdm_term *term, struct tdm_buf *out);

/* An array with an object for each row; and the keys of one row. */
void tdm_table_json(const struct tdm_table *table, struct tdm_json *json);
void tdm_table_keys(const struct tdm_table *table, const void *row, struct tdm_json *json);

/* As text, in the form of Markdown and never cut; lines below a row are left out. */
void tdm_table_markdown(const struct tdm_table *table, struct tdm_buf *out);

static inline void tdm_json_put_table(struct tdm_json *json, const char *key, const struct tdm_table *table)
{
	tdm_json_key(json, key);
	tdm_table_json(table, json);
}

#endif
