/*
 * Expressions in source code, independent of the language. An expression is a small immutable tree in an arena:
 * numbers, names without a known value, data formats, operators, and the shapes that describe buffers (lists, objects
 * with fields). An expression can be
 *
 *   - evaluated: to a number, to bounds, or to nothing, with a reason (a division by zero, more than 64 bits);
 *   - written: as text that contains its unknowns, "2 * Wt * tile_size(cb_data_format)".
 *
 * Unknown names count things (tiles, bytes, rows), so they are assumed to be 0 or more. The user can assign numbers or
 * ranges to names (struct tdm_settings). NULL is not an expression. A tree that would be deeper than TDM_EXPR_DEPTH_MAX
 * or have more than TDM_EXPR_NODES_MAX nodes becomes an unknown name with a text from the caller.
 */
#ifndef TDM_SCAN_EXPR_H
#define TDM_SCAN_EXPR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/diag.h"
#include "base/str.h"
#include "model/card/data_format.h"
#include "base/arena.h"

enum { TDM_EXPR_DEPTH_MAX = 64, TDM_EXPR_NODES_MAX = 2000 };

/* id, number of arguments, text between or before the arguments, precedence as in C (0 for a call) */
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
	TDM_EXPR_NOTHING, /* not understood */
	TDM_EXPR_NUMBER,
	TDM_EXPR_NAME,   /* a name or other piece of source without a known value, in `text` */
	TDM_EXPR_STRING, /* `text` is without quotes */
	TDM_EXPR_FORMAT, /* a data format */
	TDM_EXPR_LIST,   /* {a, b}, in `args` */
	TDM_EXPR_FIELD,  /* a member of an object: the name in `text`, the value in args[0] */
	TDM_EXPR_OBJECT, /* an object: the type in `text`, the fields in `args` */
	/* a call to an unfollowed function, whose value is an unknown number: name in `text`, arguments in `args` */
	TDM_EXPR_CALL,
	TDM_EXPR_OPAQUE, /* private to the walker, such as a lambda in `opaque` */
#define X(id, count, text, tightness) TDM_EXPR_##id,
	TDM_EXPR_OPERATORS(X)
#undef X
		TDM_EXPR_OP_COUNT
};

struct tdm_expr {
	uint8_t op; /* enum tdm_expr_op */
	/* NAME: a parameter of the function being walked; others: whether the tree below contains one */
	bool is_parameter;
	uint16_t depth;
	uint32_t nodes; /* number of nodes in the whole tree */
	uint32_t arg_count;
	int64_t number;      /* OPAQUE: the walker's number for the type of `opaque` */
	struct tdm_str text; /* NUMBER: a name to be shown in comparisons: "layout == TILE" */
	const struct tdm_data_format *format;
	const void *opaque; /* OPAQUE and OBJECT: private to the walker; kept by tdm_expr_with_field() */
	const struct tdm_expr **args;
};

extern const struct tdm_expr tdm_expr_nothing;
extern const struct tdm_str tdm_no_text; /* empty */

/* A copy in the arena. Strings are borrowed and must live as long as the copy. */
const struct tdm_expr *tdm_expr_of(struct tdm_arena *arena, struct tdm_expr value);
const struct tdm_expr *tdm_expr_number(struct tdm_arena *arena, int64_t number);
const struct tdm_expr *tdm_expr_name(struct tdm_arena *arena, struct tdm_str text, bool is_parameter);

/* A node of any kind; copies the list of arguments. Constants are not folded, to keep the text as written. */
const struct tdm_expr *tdm_expr_make(struct tdm_arena *arena, enum tdm_expr_op op, struct tdm_str text,
	const struct tdm_expr *const *args, uint32_t arg_count);
const struct tdm_expr *tdm_expr_binary(
	struct tdm_arena *arena, enum tdm_expr_op op, const struct tdm_expr *a, const struct tdm_expr *b);
const struct tdm_expr *tdm_expr_unary(struct tdm_arena *arena, enum tdm_expr_op op, const struct tdm_expr *a);
const struct tdm_expr *tdm_expr_choose(
	struct tdm_arena *arena, const struct tdm_expr *condition, const struct tdm_expr *a, const struct tdm_expr *b);
const struct tdm_expr *tdm_expr_list(struct tdm_arena *arena, const struct tdm_expr *const *items, uint32_t count);

/* The operator that a token stands for in C++ or Python; TDM_EXPR_NOTHING if there is none. `arg_count`: 1 or 2. */
enum tdm_expr_op tdm_expr_operator(struct tdm_str token, uint32_t arg_count);

/* The value of an object's field; NULL if it has no such field. */
const struct tdm_expr *tdm_expr_field(const struct tdm_expr *object, const char *name);
const struct tdm_expr *tdm_expr_field_str(const struct tdm_expr *object, struct tdm_str name);
/* A copy of the object with one field replaced or added; the name is borrowed. */
const struct tdm_expr *tdm_expr_with_field(
	struct tdm_arena *arena, const struct tdm_expr *object, const char *name, const struct tdm_expr *value);

/* Whether two expressions are written identically. */
bool tdm_expr_is_same(const struct tdm_expr *a, const struct tdm_expr *b);

/* Whether the tree contains an unknown name or an unfollowed call. */
bool tdm_expr_has_unknown(const struct tdm_expr *expr);

/*
 * Conditions known to be true or false where an expression is used. Must be zeroed at first; conditions beyond
 * TDM_WAY_MAX are ignored.
 */
enum { TDM_WAY_MAX = 16 };
struct tdm_way {
	const struct tdm_expr *conditions[TDM_WAY_MAX];
	bool is_true[TDM_WAY_MAX];
	size_t count;
};
void tdm_way_add(struct tdm_way *way, const struct tdm_expr *condition, bool is_true);
/* The case taken in a choice; NULL if undecided. */
const struct tdm_expr *tdm_way_choice(const struct tdm_way *way, const struct tdm_expr *choice);
/* An expression without the cases not taken. Objects private to the walker are unchanged. */
const struct tdm_expr *tdm_way_take(const struct tdm_way *way, const struct tdm_expr *expr, struct tdm_arena *arena);

/* A value that the user assigns to a name: "num_tiles=16", "num_tiles=1..64". */
struct tdm_setting {
	struct tdm_str name;
	int64_t min, max; /* both equal for a single value */
};

struct tdm_settings {
	struct tdm_setting *list; /* owned */
	size_t count, cap;
};

/* Parses one setting, whose string is borrowed; a later setting for the same name wins. 0, or TDM_ESYNTAX with `diag`.
 * */
int tdm_settings_add(struct tdm_settings *settings, const char *text, struct tdm_diag *diag);
void tdm_settings_done(struct tdm_settings *settings);
/* NULL if not set */
const struct tdm_setting *tdm_settings_find(const struct tdm_settings *settings, struct tdm_str name);

/* The value of an expression. An unknown bound is INT64_MIN or INT64_MAX. */
struct tdm_bounds {
	int64_t min, max;
	/* why the value is not a number, a static string such as "divides by zero"; NULL if the value is a number */
	const char *reason;
};

static inline bool tdm_bounds_is_number(struct tdm_bounds bounds)
{
	return bounds.min == bounds.max;
}

/* `settings` may be NULL. */
struct tdm_bounds tdm_expr_eval(const struct tdm_expr *expr, const struct tdm_settings *settings);

/* Returns 0 and sets *number, or returns a negative code if the value is not a number. */
int tdm_expr_value(const struct tdm_expr *expr, const struct tdm_settings *settings, int64_t *number);

/* Appends the text of an expression, with the fewest brackets. Settings are not substituted. */
void tdm_expr_print(const struct tdm_expr *expr, struct tdm_buf *out);
/* The same text as a string in the arena, but without quotes around strings; "" for NULL and for nothing. */
const char *tdm_expr_plain_text(const struct tdm_expr *expr, struct tdm_arena *arena);

#endif
