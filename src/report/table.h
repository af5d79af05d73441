/*
 * Tables. A table has one list of columns, from which its text and its JSON both come. A row is any structure; a column
 * names a member of it or a function that gets its value:
 *
 *	#define ROW(member) TDM_MEMBER(struct row, member)
 *	static const struct tdm_column columns[] = {
 *		{ "name", "name", ROW(name), .width = 20 },
 *		{ "size", "bytes", ROW(bytes), .form = TDM_FORM_BYTES, .width = 10 },
 *		{ NULL, "pid", ROW(pid), .flags = TDM_ZERO_IS_UNKNOWN },
 *	};
 *
 * An unknown value is "-" in text and null in JSON, never 0.
 */
#ifndef TDM_REPORT_TABLE_H
#define TDM_REPORT_TABLE_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/number.h"
#include "base/term.h"

struct tdm_table;
struct tdm_column;

/* One column of one row. */
struct tdm_field {
	const struct tdm_table *table;
	const void *row;
	const struct tdm_column *column;
};

enum tdm_value_type {
	TDM_VALUE_UNKNOWN,
	TDM_VALUE_NUMBER,
	TDM_VALUE_SIGNED,
	TDM_VALUE_REAL,
	TDM_VALUE_BOOL,
	TDM_VALUE_TEXT,
};

struct tdm_value {
	uint8_t type; /* enum tdm_value_type */
	union {
		uint64_t number;
		int64_t integer;
		double real;
		bool yes;
		struct tdm_str text; /* borrowed from the row or a constant */
	};
};

static inline struct tdm_value tdm_value_number(uint64_t number)
{
	return (struct tdm_value){ number != TDM_BYTES_UNKNOWN ? TDM_VALUE_NUMBER : TDM_VALUE_UNKNOWN,
		{ .number = number } };
}

/* INT64_MIN is unknown. */
static inline struct tdm_value tdm_value_signed(int64_t integer)
{
	return (struct tdm_value){ integer != INT64_MIN ? TDM_VALUE_SIGNED : TDM_VALUE_UNKNOWN,
		{ .integer = integer } };
}

/* What is not finite is unknown. */
static inline struct tdm_value tdm_value_real(double real)
{
	return (struct tdm_value){ isfinite(real) ? TDM_VALUE_REAL : TDM_VALUE_UNKNOWN, { .real = real } };
}

/* NULL is unknown. */
static inline struct tdm_value tdm_value_text(const char *text)
{
	return (struct tdm_value){ text != NULL ? TDM_VALUE_TEXT : TDM_VALUE_UNKNOWN, { .text = tdm_str_of(text) } };
}

/* How text shows a value. Texts and TDM_FORM_KIND are on the left of their column, everything else is on its right. */
enum tdm_form {
	TDM_FORM_PLAIN,    /* as it is: "abc", 1234, yes */
	TDM_FORM_COUNT,    /* 1,234 */
	TDM_FORM_BYTES,    /* 1.50GiB */
	TDM_FORM_SIZE,     /* 1.50 GiB; exact multiples have no fraction */
	TDM_FORM_MIB,      /* 1,863.25, of a number of bytes: what others call MB */
	TDM_FORM_SHARE,    /* 84%, of 0.842, with the decimals that the column has */
	TDM_FORM_PERCENT,  /* 84%, of 84.2 */
	TDM_FORM_DURATION, /* 12 ms, of nanoseconds */
	TDM_FORM_CLOCK,    /* 07:36:20.265, of nanoseconds since 1970; 0 is unknown */
	TDM_FORM_ADDRESS,  /* 0x19cc0 */
	TDM_FORM_KIND,     /* dram; JSON has the name as well */
};

/* What happens to a cell that is wider than its column. */
enum tdm_fit {
	TDM_FIT_CUT,   /* it is cut and ends in "..."; in a column without a width it stays whole */
	TDM_FIT_WHOLE, /* it pushes the next ones to the right */
	TDM_FIT_REST,  /* the last column: cut at the end of the line, but not below the column's width */
	TDM_FIT_WRAP,  /* the last column: its words go on below each other */
};

enum tdm_column_flags {
	TDM_ZERO_IS_UNKNOWN = 1,     /* so is an empty text */
	TDM_NEGATIVE_IS_UNKNOWN = 2, /* of a signed number */
	TDM_WITH_SIGN = 4,           /* a plus before a number that is not negative */
	TDM_OTHER_SIDE = 8,          /* a text on the right of its column, anything else on the left */
};

/* Of columns whose width depends on the rows: TDM_WIDTH_OF_TABLE + i is widths[i] of the table. */
enum { TDM_WIDTH_OF_TABLE = 1000, TDM_TABLE_WIDTHS = 2 };

struct tdm_column {
	const char *title;  /* NULL: only in JSON. A newline splits it into two lines. */
	const char *key;    /* NULL: only in text, unless `json` writes keys of its own */
	size_t member_type; /* enum tdm_member; TDM_MEMBER sets both of these */
	size_t offset;
	size_t known_by;  /* TDM_KNOWN_IF sets it; 0: nothing */
	uint8_t form;     /* enum tdm_form */
	uint8_t fit;      /* enum tdm_fit */
	uint8_t flags;    /* enum tdm_column_flags */
	uint8_t decimals; /* of TDM_FORM_SHARE and TDM_FORM_PERCENT */
	uint8_t before;   /* blanks before the column, besides the table's gap */
	uint16_t width;   /* 0: as wide as each cell; TDM_WIDTH_OF_TABLE and above: the table says */
	int arg;          /* for the functions */
	/* Instead of a member. */
	struct tdm_value (*get)(const struct tdm_field *field);
	/* Instead of the value: the text of the cell, which is made printable and cut afterwards. */
	void (*text)(const struct tdm_field *field, struct tdm_buf *out);
	/* Instead of the value: the value of the key, or without a key some keys with their values. */
	void (*json)(const struct tdm_field *field, struct tdm_json *json);
};

struct tdm_table {
	const struct tdm_column *columns;
	size_t column_count;
	const void *rows; /* with `stride` bytes from one to the next; or `row`, which gives the row of a number */
	size_t stride, count;
	const void *(*row)(const struct tdm_table *table, size_t i);
	size_t limit;        /* rows that are shown; 0: all */
	uint64_t dropped;    /* rows that are not here; the last line counts them with those that are not shown */
	uint64_t hidden;     /* bit i: the text is without column i */
	const void *context; /* for the functions */
	const char *unknown; /* the text of what is unknown; NULL: "-" */
	const char *style;   /* of the heading; NULL: none */
	const char *more;    /* what the last line begins with: "..."; NULL: a blank */
	size_t widths[TDM_TABLE_WIDTHS];
	uint8_t indent, gap; /* blanks before a line and between two columns */
};

#define TDM_COLUMNS(list) .columns = (list), .column_count = sizeof(list) / sizeof *(list)

/* UINT64_MAX, UINT32_MAX, INT64_MIN, NAN and a NULL text are unknown. */
enum tdm_member {
	TDM_MEMBER_NONE,
	TDM_MEMBER_U8,
	TDM_MEMBER_U32,
	TDM_MEMBER_U64,
	TDM_MEMBER_I32,
	TDM_MEMBER_I64,
	TDM_MEMBER_REAL,
	TDM_MEMBER_BOOL,
	TDM_MEMBER_CHARS,
	TDM_MEMBER_POINTER,
	TDM_MEMBER_STR,
};

#define TDM_MEMBER(type, member) \
	.member_type = _Generic(&((type *)NULL)->member,                            \
		uint8_t *: TDM_MEMBER_U8,                                           \
		uint32_t *: TDM_MEMBER_U32,                                         \
		uint64_t *: TDM_MEMBER_U64,                                         \
		int32_t *: TDM_MEMBER_I32,                                          \
		int64_t *: TDM_MEMBER_I64,                                          \
		double *: TDM_MEMBER_REAL,                                          \
		bool *: TDM_MEMBER_BOOL,                                            \
		char(*)[sizeof(((type *)NULL)->member)]: TDM_MEMBER_CHARS,          \
		char **: TDM_MEMBER_POINTER,                                        \
		const char **: TDM_MEMBER_POINTER,                                  \
		struct tdm_str *: TDM_MEMBER_STR),                                  \
	.offset = offsetof(type, member)

/* The value is known only where another member, a uint64_t that counts, is not 0. */
#define TDM_KNOWN_IF(type, member) .known_by = offsetof(type, member) + 1

/* Heading, rows, and how many more there are; nothing where there is no row. */
void tdm_table_text(const struct tdm_table *table, const struct tdm_term *term, struct tdm_buf *out);
void tdm_table_head(const struct tdm_table *table, const struct tdm_term *term, struct tdm_buf *out);
void tdm_table_row(const struct tdm_table *table, const void *row, const struct tdm_term *term, struct tdm_buf *out);

/* An array with an object for each row; the object of one row; its keys alone. */
void tdm_table_json(const struct tdm_table *table, struct tdm_json *json);
void tdm_table_object(const struct tdm_table *table, const void *row, struct tdm_json *json);
void tdm_table_keys(const struct tdm_table *table, const void *row, struct tdm_json *json);

#endif
