/*
 * Typed values: analysers compute them, rows hold them, writers show them. A value has a unit and a level, and is
 * independent of text, JSON and screens. It may be unknown (which is never shown as 0), estimated, or a bound.
 *
 * TDM_MEMBER describes a member of a structure once; tables, options and other machines' pictures read and write the
 * member through that description.
 */
#ifndef TDM_BASE_VALUE_H
#define TDM_BASE_VALUE_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/kind.h"
#include "base/number.h"
#include "base/str.h"

/* How a number is printed. */
enum tdm_unit {
	TDM_UNIT_NONE,        /* the column decides; otherwise decimal without separators, for ids and line numbers */
	TDM_UNIT_COUNT,       /* printed as 1,234 */
	TDM_UNIT_BYTES,       /* printed as 1.50 GiB */
	TDM_UNIT_CHANGE,      /* a signed number of bytes */
	TDM_UNIT_MIB,         /* bytes printed as 1,863.25 */
	TDM_UNIT_ADDRESS,     /* printed as 0x1a2b */
	TDM_UNIT_NS,          /* printed as 3.2 s */
	TDM_UNIT_SHARE,       /* a real number from 0 to 1, printed in percent */
	TDM_UNIT_PERCENT,     /* a real number that is already in percent */
	TDM_UNIT_NUMBER,      /* a real number */
	TDM_UNIT_S,           /* a real number, in seconds */
	TDM_UNIT_BYTES_PER_S, /* a real number, in bytes per second */
};

/* The meaning of a value or sentence for the reader; writers choose the colours. */
enum tdm_level {
	TDM_LEVEL_PLAIN,
	TDM_LEVEL_FINE,
	TDM_LEVEL_WARNING,
	TDM_LEVEL_DANGER,
	TDM_LEVEL_NOTE,
	TDM_LEVEL_FAINT,
	TDM_LEVEL_STRONG,
	TDM_LEVELS
};

enum tdm_value_type {
	TDM_VALUE_UNKNOWN, /* `text` gives the reason, or is empty */
	TDM_VALUE_NUMBER,
	TDM_VALUE_SIGNED,
	TDM_VALUE_REAL,
	TDM_VALUE_BOOL,
	TDM_VALUE_TEXT,
	TDM_VALUE_CORES,   /* a rectangle of cores */
	TDM_VALUE_LIST,    /* several values */
	TDM_VALUE_MEMBERS, /* several named values: an object in JSON, nothing in text */
	TDM_VALUE_TABLE,   /* a table of rows that belong to this row */
	TDM_VALUE_WRITTEN, /* members that are already written as JSON */
};

struct tdm_value {
	uint8_t type;     /* enum tdm_value_type */
	uint8_t unit;     /* enum tdm_unit */
	uint8_t level;    /* enum tdm_level */
	uint8_t decimals; /* decimals to print, for real numbers */
	char mark;        /* '~': estimated; '>' or '<': at least, at most; '\0': exact */
	union {
		uint64_t number;
		int64_t integer;
		double real;
		bool yes;
		struct tdm_str text; /* borrowed */
		struct tdm_value_cores {
			uint16_t x0, y0, x1, y1;
		} cores;
		struct tdm_value_list {
			const struct tdm_value *values; /* borrowed */
			size_t count;
		} list;
		struct tdm_value_members {
			const struct tdm_named *values; /* borrowed */
			size_t count;
		} members;
		const struct tdm_table *table; /* borrowed */
		const struct tdm_buf *written; /* borrowed */
	};
};

struct tdm_named {
	const char *key; /* lives as long as the value */
	struct tdm_value value;
};

static inline struct tdm_value tdm_value_number(uint64_t number) /* UINT64_MAX means unknown */
{
	return (struct tdm_value){ .type = number != UINT64_MAX ? TDM_VALUE_NUMBER : TDM_VALUE_UNKNOWN,
		.number = number };
}

static inline struct tdm_value tdm_value_of(uint64_t number, enum tdm_unit unit)
{
	struct tdm_value value = tdm_value_number(number);
	value.unit = (uint8_t)unit;
	return value;
}

static inline struct tdm_value tdm_value_count(uint64_t count)
{
	return tdm_value_of(count, TDM_UNIT_COUNT);
}

static inline struct tdm_value tdm_value_bytes(uint64_t bytes)
{
	return tdm_value_of(bytes, TDM_UNIT_BYTES);
}

static inline struct tdm_value tdm_value_ns(uint64_t ns)
{
	return tdm_value_of(ns, TDM_UNIT_NS);
}

static inline struct tdm_value tdm_value_signed(int64_t integer) /* INT64_MIN means unknown */
{
	return (struct tdm_value){ .type = integer != INT64_MIN ? TDM_VALUE_SIGNED : TDM_VALUE_UNKNOWN,
		.integer = integer };
}

static inline struct tdm_value tdm_value_real(double real, enum tdm_unit unit)
{
	return (struct tdm_value){ .type = isfinite(real) ? TDM_VALUE_REAL : TDM_VALUE_UNKNOWN,
		.unit = (uint8_t)unit,
		.real = isfinite(real) ? real : 0 };
}

static inline struct tdm_value tdm_value_share(double share)
{
	return tdm_value_real(share, TDM_UNIT_SHARE);
}

static inline struct tdm_value tdm_value_str(struct tdm_str text)
{
	return (struct tdm_value){ .type = TDM_VALUE_TEXT, .text = text };
}

static inline struct tdm_value tdm_value_text(const char *text) /* NULL means unknown */
{
	return (struct tdm_value){ .type = text != NULL ? TDM_VALUE_TEXT : TDM_VALUE_UNKNOWN,
		.text = tdm_str_of(text) };
}

static inline struct tdm_value tdm_value_name(const char *text) /* an empty string means unknown, and so does NULL */
{
	return tdm_value_text(text != NULL && text[0] != '\0' ? text : NULL);
}

static inline struct tdm_value tdm_value_bool(bool yes)
{
	return (struct tdm_value){ .type = TDM_VALUE_BOOL, .yes = yes };
}

static inline struct tdm_value tdm_value_kind(unsigned kind)
{
	return tdm_value_text(kind < TDM_KIND_COUNT ? tdm_kind_name((enum tdm_kind)kind) : NULL);
}

static inline struct tdm_value tdm_value_table(const struct tdm_table *table)
{
	return (struct tdm_value){ .type = table != NULL ? TDM_VALUE_TABLE : TDM_VALUE_UNKNOWN, .table = table };
}

static inline struct tdm_value tdm_value_list(const struct tdm_value *values, size_t count)
{
	return (struct tdm_value){ .type = TDM_VALUE_LIST, .list = { values, count } };
}

static inline struct tdm_value tdm_value_members(const struct tdm_named *values, size_t count)
{
	return (struct tdm_value){ .type = TDM_VALUE_MEMBERS, .members = { values, count } };
}

static inline struct tdm_value tdm_value_written(const struct tdm_buf *written)
{
	return (struct tdm_value){ .type = TDM_VALUE_WRITTEN, .written = written };
}

/* The value if `known`, else unknown. */
static inline struct tdm_value tdm_value_if(bool known, struct tdm_value value)
{
	return known ? value : (struct tdm_value){ .type = TDM_VALUE_UNKNOWN };
}

static inline struct tdm_value tdm_value_level(struct tdm_value value, enum tdm_level level)
{
	value.level = (uint8_t)level;
	return value;
}

/* Appends the value with its unit, as one string: "1.50 GiB", "12.5%", "0-0 to 7-7", or "unknown". */
void tdm_value_put(struct tdm_buf *out, const struct tdm_value *value);

/* ---- members of structures ---- */

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
	TDM_MEMBER_CHARS, /* strings, from here on */
	TDM_MEMBER_POINTER,
	TDM_MEMBER_STR,
};

/* Describes the member `name` in any structure with the members `member` (enum tdm_member) and `offset`. */
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

/* Reads the member at `at`. UINT64_MAX, UINT32_MAX, INT64_MIN, a share that is not finite, and NULL are unknown. */
struct tdm_value tdm_member_get(enum tdm_member member, const void *at);

/*
 * Stores a value in the member at `at`; `size` is the capacity of a TDM_MEMBER_CHARS. An unknown value is stored as
 * listed above, or as 0 if the type has no such value. False, with nothing stored, if the value has another type or is
 * out of range; a string that is too long is cut. Pointers and struct tdm_str borrow the string.
 */
bool tdm_member_set(enum tdm_member member, void *at, size_t size, const struct tdm_value *value);

/* ---- sentences ---- */

/* A list of named values for one call; it ends with a NULL key. */
#define TDM_VALUES(...) ((const struct tdm_named[]){ __VA_ARGS__, { 0 } })

/*
 * Expands a sentence: a static pattern made of pieces separated by '|'. A piece is omitted if a value that it names is
 * unknown, false, or missing.
 *   {key}                    the value in its unit; nothing for a flag that is true
 *   {key/one/many}           a count with its noun: "1 buffer", "35 buffers"
 *   {key/one/many/none}      the same, with other words for 0
 *   {=key/one/many}          the noun alone, or for a flag, the word for true or false
 *   {,key} {#key}            a number with separators, or without, whatever its unit
 */
void tdm_sentence_put(struct tdm_buf *out, const char *pattern, const struct tdm_named *values, size_t count);

#endif
