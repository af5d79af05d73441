/*
 * Expressions of source code, apart from the language they were written in. An expression is a small immutable tree in
 * an arena: numbers, names that the source gives no value to, data formats, operators, and the shapes in which buffers
 * are described (lists, objects with fields). It can be
 *
 *   - evaluated: to a number, or to bounds, or to nothing with the reason (a division by zero, more than 64 bits);
 *   - written: as text in its unknowns, "2 * Wt * tile_size(cb_data_format)".
 *
 * Unknown names count things (tiles, bytes, rows) and are taken as 0 or more. Names get numbers or ranges from the user
 * (struct tdm_settings). Builders never fail visibly: out of memory they give `tdm_expr_nothing`, and the arena
 * remembers it. NULL is never an expression. A tree that would be deeper than TDM_EXPR_DEPTH_MAX or have more than
 * TDM_EXPR_NODES_MAX nodes becomes an unknown name with the text that the caller gives it.
 */
#ifndef TDM_SCAN_EXPR_H
#define TDM_SCAN_EXPR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/diag.h"
#include "base/str.h"
#include "device/data_format.h"
#include "scan/arena.h"

enum { TDM_EXPR_DEPTH_MAX = 64, TDM_EXPR_NODES_MAX = 2000 };

/* id, arguments, the text between two of them or before one, how tightly it binds (C's precedence; 0: a call) */
#define TDM_EXPR_OPERATORS(X)             \
	X(ADD, 2, "+", 12)                \
	X(SUBTRACT, 2, "-", 12)           \
	X(MULTIPLY, 2, "*", 13)           \
	X(DIVIDE, 2, "/", 13)             \
	X(REMAINDER, 2, "%", 13)          \
	X(SHIFT_LEFT, 2, "<<", 11)        \
	X(SHIFT_RIGHT, 2, ">>", 11)       \
	X(BIT_AND, 2, "&", 7)             \
	X(BIT_OR, 2, "|", 5)              \
	X(BIT_XOR, 2, "^", 6)             \
	X(LESS, 2, "<", 9)                \
	X(LESS_EQUAL, 2, "<=", 9)         \
	X(GREATER, 2, ">", 9)             \
	X(GREATER_EQUAL, 2, ">=", 9)      \
	X(EQUAL, 2, "==", 8)              \
	X(NOT_EQUAL, 2, "!=", 8)          \
	X(AND, 2, "&&", 4)                \
	X(OR, 2, "||", 3)                 \
	X(NEGATE, 1, "-", 14)             \
	X(NOT, 1, "!", 14)                \
	X(BIT_NOT, 1, "~", 14)            \
	X(CHOOSE, 3, "?", 2)              \
	X(MIN, 2, "min", 0)               \
	X(MAX, 2, "max", 0)               \
	X(DIVIDE_UP, 2, "div_up", 0)      \
	X(ROUND_UP, 2, "round_up", 0)     \
	X(ROUND_DOWN, 2, "round_down", 0) \
	X(TILE_SIZE, 1, "tile_size", 0)   \
	X(DATUM_SIZE, 1, "datum_size", 0)

enum tdm_expr_op {
	TDM_EXPR_NOTHING, /* what could not be read at all */
	TDM_EXPR_NUMBER,
	TDM_EXPR_NAME,   /* a name, or another piece of source, without a known value; `text` */
	TDM_EXPR_STRING, /* `text` without its quotes */
	TDM_EXPR_FORMAT, /* a data format */
	TDM_EXPR_LIST,   /* {a, b}; `args` */
	TDM_EXPR_FIELD,  /* a member of an object: name in `text`, value in args[0] */
	TDM_EXPR_OBJECT, /* an object: type in `text`, its fields in `args` */
	TDM_EXPR_CALL,   /* a function that is not followed: its name in `text`, its arguments in `args`; an unknown
			    number */
	TDM_EXPR_OPAQUE, /* something of the walker's own, `opaque`: a lambda */
#define X(id, count, text, tightness) TDM_EXPR_##id,
	TDM_EXPR_OPERATORS(X)
#undef X
		TDM_EXPR_OP_COUNT
};

struct tdm_expr {
	uint8_t op;        /* enum tdm_expr_op */
	bool is_parameter; /* NAME: a parameter of the function that is walked; else: whether one is below */
	uint16_t depth;
	uint32_t nodes; /* in the whole tree */
	uint32_t arg_count;
	int64_t number;
	struct tdm_str text;
	const struct tdm_data_format *format;
	const void *opaque; /* OPAQUE and OBJECT: something of the walker's own; survives tdm_expr_with_field() */
	const struct tdm_expr **args;
};

extern const struct tdm_expr tdm_expr_nothing;

const struct tdm_expr *tdm_expr_number(struct tdm_arena *arena, int64_t number);
/* A number with a name, which is shown where it is compared: "layout == TILE". */
const struct tdm_expr *tdm_expr_enumerator(struct tdm_arena *arena, int64_t number, struct tdm_str name);
/* The text is borrowed: it must live as long as the arena. */
const struct tdm_expr *tdm_expr_name(struct tdm_arena *arena, struct tdm_str text);
const struct tdm_expr *tdm_expr_parameter(struct tdm_arena *arena, struct tdm_str text);
const struct tdm_expr *tdm_expr_string(struct tdm_arena *arena, struct tdm_str text);
const struct tdm_expr *tdm_expr_format(struct tdm_arena *arena, const struct tdm_data_format *format);
const struct tdm_expr *tdm_expr_opaque(struct tdm_arena *arena, const void *opaque);

/* A node of any kind with arguments, which are copied. Constants are not folded: the text stays as it was written. */
const struct tdm_expr *tdm_expr_make(struct tdm_arena *arena, enum tdm_expr_op op, struct tdm_str text,
	const struct tdm_expr *const *args, uint32_t arg_count);
const struct tdm_expr *tdm_expr_binary(
	struct tdm_arena *arena, enum tdm_expr_op op, const struct tdm_expr *a, const struct tdm_expr *b);

/* The operator that a token stands for in C++ and Python; TDM_EXPR_NOTHING when there is none. `arg_count`: 1 or 2. */
enum tdm_expr_op tdm_expr_operator(struct tdm_str token, uint32_t arg_count);

/* The value of an object's field; NULL when it has no such field. */
const struct tdm_expr *tdm_expr_field(const struct tdm_expr *object, const char *name);
const struct tdm_expr *tdm_expr_field_str(const struct tdm_expr *object, struct tdm_str name);
/* The same object with one field replaced or added. */
const struct tdm_expr *tdm_expr_with_field(
	struct tdm_arena *arena, const struct tdm_expr *object, struct tdm_str name, const struct tdm_expr *value);

/* Whether two expressions are the same, as they are written. */
bool tdm_expr_is_same(const struct tdm_expr *a, const struct tdm_expr *b);

/* Whether a name or an unfollowed call is in the tree; whether one of the current function's parameters is. */
bool tdm_expr_has_unknown(const struct tdm_expr *expr);
static inline bool tdm_expr_has_parameter(const struct tdm_expr *expr)
{
	return expr->is_parameter;
}

/*
 * expr_way.c: conditions that are known to be true or false on the way to where an expression is used. Zeroed to begin
 * with; what is decided after so many conditions is not used.
 */
enum { TDM_WAY_MAX = 16 };
struct tdm_decision {
	const struct tdm_expr *condition;
	bool is_true;
};
struct tdm_way {
	struct tdm_decision list[TDM_WAY_MAX];
	size_t count;
};
void tdm_way_add(struct tdm_way *way, const struct tdm_expr *condition, bool is_true);
/* The case of a choice that is taken; NULL when nothing decides it. */
const struct tdm_expr *tdm_way_choice(const struct tdm_way *way, const struct tdm_expr *choice);
/* An expression without the cases that are not taken; objects of the walker's own stay as they are. */
const struct tdm_expr *tdm_way_take(const struct tdm_way *way, const struct tdm_expr *expr, struct tdm_arena *arena);

/* Names with values that the user gives: "num_tiles=16", "num_tiles=1..64". */
struct tdm_setting {
	struct tdm_str name;
	int64_t min, max; /* the same for a single value */
};

struct tdm_settings {
	struct tdm_setting *list; /* owned */
	size_t count, cap;
};

/* Reads one setting, whose text is borrowed; a later one for the same name wins. 0, -ENOMEM, or TDM_ESYNTAX with
 * `diag`. */
int tdm_settings_add(struct tdm_settings *settings, const char *text, struct tdm_diag *diag);
void tdm_settings_done(struct tdm_settings *settings);
const struct tdm_setting *tdm_settings_find(const struct tdm_settings *settings, struct tdm_str name); /* may be NULL */

/* What an expression comes to. A bound that is not known is INT64_MIN or INT64_MAX. */
struct tdm_bounds {
	int64_t min, max;
	const char *reason; /* why it is not a number: a constant text, "divides by zero"; NULL when it is one */
};

static inline bool tdm_bounds_is_number(struct tdm_bounds bounds)
{
	return bounds.min == bounds.max;
}

/* `settings` may be NULL. */
struct tdm_bounds tdm_expr_eval(const struct tdm_expr *expr, const struct tdm_settings *settings);

/* 0 with *number set, or a negative code when it is not a number. */
int tdm_expr_value(const struct tdm_expr *expr, const struct tdm_settings *settings, int64_t *number);

/* Appends the text of an expression, with the fewest brackets; settings are not put in. */
void tdm_expr_print(const struct tdm_expr *expr, struct tdm_buf *out);
/* The same as a text in the arena; "" when out of memory. */
const char *tdm_expr_text(const struct tdm_expr *expr, struct tdm_arena *arena);
/* The same, but strings without quotes, and "" for NULL and for nothing. */
const char *tdm_expr_plain_text(const struct tdm_expr *expr, struct tdm_arena *arena);

#endif
