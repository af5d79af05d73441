/*
 * The Python reader, an interpreter that knows some values and keeps the rest as expressions. Only python_*.c include
 * this header.
 *
 * Every function is walked once by itself (python_walk.c). Names are bound to expressions in frames: one for the
 * module, each class, each function and each followed call (python_eval.c). A descriptor is recorded when created, and
 * later assignments to its members change it (python_call.c). Descriptors become buffers after the whole file has been
 * walked (python_walk.c), because only then are all helpers known, and a helper's buffers belong to its callers.
 */
#ifndef TDM_SCAN_PYTHON_H
#define TDM_SCAN_PYTHON_H

#include "base/map.h"
#include "scan/front/file_walk.h"

enum {
	PY_DEPTH_MAX = 150,     /* depth of nested expressions and statements */
	PY_CALLS_MAX = 6,       /* depth of followed calls */
	PY_STEPS_MAX = 4000000, /* evaluations and looked-up bindings per file; after that, names are unknown */
	PY_SPREAD_MAX = 60,     /* nodes in an expression that may replace its variable */
	PY_TEXT_MAX = 160,      /* maximum bytes of a piece of source kept as an unknown name */
	PY_FIELDS = 5           /* arguments of a descriptor */
};

/* The type that `opaque` points to in an OPAQUE expression, stored in its `number`. */
enum py_type { PY_DEFINITION, PY_DESCRIPTOR };

enum py_state { PY_NOT_WALKED, PY_BUSY, PY_PROGRAM, PY_HELPER };

/* A function or lambda. */
struct py_definition {
	struct py_definition *next; /* in file order */
	struct tdm_str name;        /* including the class: "Op.make" */
	struct tdm_str class_name;  /* may be empty */
	uint32_t node, frame;       /* `frame`: the frame of the definition */
	uint8_t state;              /* enum py_state */
	bool is_lambda, was_followed;
	const struct py_definition *around; /* the enclosing function; NULL if there is none */
	struct py_descriptor *first, *last; /* descriptors created while the function was walked by itself */
};

/* A circular buffer's descriptor. */
struct py_descriptor {
	struct py_descriptor *next;
	const struct py_definition *owner;
	const struct tdm_expr *total, *cores, *formats, *view_of; /* NULL if not given */
	/* byte offset of the name of the function that creates it */
	uint32_t byte;
	uint32_t line; /* line of the entry */
	/* line of the helper call that leads to it, else 0 */
	uint32_t site_line;
	struct tdm_str helper, variable;
	const struct tdm_scan_branch *branch;
	uint8_t shape;
	bool in_loop;
};

struct py_binding {
	struct tdm_str name;
	const struct tdm_expr *value;
	uint32_t frame;  /* UINT32_MAX if the binding has ended */
	uint32_t before; /* the previous binding with the same hash, plus 1; 0 if there is none */
};

struct py {
	struct tdm_file_walk *walk;
	const struct tdm_syntax *syntax;
	struct tdm_arena *arena;
	struct py_binding *bindings;
	size_t binding_count, binding_cap;
	struct tdm_map last;    /* hash of a name: the last binding */
	uint32_t *frame_parent; /* the enclosing frame of each frame; the module encloses itself */
	size_t frame_count, frame_cap;
	struct tdm_map called; /* hashes of the names called anywhere in the file */
	/* hash of self.x: number of assignments; the value is known only if there is exactly one */
	struct tdm_map members;
	struct py_definition *first, *end;
	uint64_t steps;
	uint32_t calls, next_branch;
};

/* The current state of the walk. */
struct py_at {
	struct py *py;
	struct tdm_arena *arena;          /* the arena of `py` */
	struct py_definition *definition; /* the function being walked by itself, which gets the descriptors */
	struct tdm_str class_name;
	uint32_t frame;
	const struct tdm_scan_branch *branch;
	uint32_t site_line; /* line of the call to the outermost helper, else 0 */
	struct tdm_str helper;
	const struct tdm_expr *result; /* the returned value; NULL until there is one */
	uint32_t depth;
	bool in_loop, has_ended; /* has_ended: the branch ended with return, raise, break or continue */
};

static inline uint32_t py_part(const struct py_at *at, uint32_t node, enum tdm_syntax_role role)
{
	return tdm_node_part(at->py->syntax, node, role);
}

static inline struct tdm_str py_text(const struct py_at *at, uint32_t node)
{
	return tdm_node_text(at->py->syntax, node);
}

static inline enum tdm_syntax_kind py_kind(const struct py_at *at, uint32_t node)
{
	return tdm_node_kind(at->py->syntax, node);
}

/* python_eval.c */
uint32_t py_frame(struct py *py, uint32_t parent);
void py_bind(struct py_at *at, uint32_t frame, struct tdm_str name, const struct tdm_expr *value);
const struct tdm_expr *py_lookup(struct py_at *at, struct tdm_str name); /* NULL if not bound */
/* The same, but within one frame, searching the list of bindings from a given index onwards. */
struct py_binding *py_find_since(struct py *py, struct tdm_str name, uint32_t frame, size_t since);
const struct tdm_expr *py_merge(struct py_at *at, const struct tdm_expr *condition, const struct tdm_expr *a,
	const struct tdm_expr *b);                                    /* either may be NULL */
struct py_definition *py_definition_of(const struct tdm_expr *value); /* NULL if the value is not a definition */
struct py_descriptor *py_descriptor_of(const struct tdm_expr *value); /* NULL if the value is not a descriptor */
bool py_is_none(const struct tdm_expr *value);
/* A member of a descriptor, or NULL if there is no such member. The descriptor may be NULL. */
const struct tdm_expr **py_member(struct py_descriptor *made, struct tdm_str name);

const struct tdm_expr *py_eval(struct py_at *at, uint32_t node);
static inline const struct tdm_expr *py_eval_part(struct py_at *at, uint32_t node, enum tdm_syntax_role role)
{
	return py_eval(at, py_part(at, node, role));
}
const struct tdm_expr *py_unknown(struct py_at *at, uint32_t node); /* the node's text as a name */
const struct tdm_expr *py_named(struct py *py, struct tdm_str text);
struct tdm_str py_member_name(struct py *py, struct tdm_str class_name, struct tdm_str name); /* "Op.size" */
struct tdm_str py_last_name(const struct tdm_syntax *syntax, uint32_t node);                  /* c of a.b.c */

/* python_call.c */
const struct tdm_expr *py_call(struct py_at *at, uint32_t node);
/* Assigns to a member of a descriptor; false if the target is not a descriptor. */
bool py_set_member(struct py_at *at, uint32_t target, const struct tdm_expr *value);

/* python_walk.c */
struct tdm_str py_parameter_name(const struct tdm_syntax *syntax, uint32_t parameter);
const struct tdm_expr *py_lambda(struct py_at *at, uint32_t node);
void py_walk_block(struct py_at *at, uint32_t block);
void py_walk_definition(struct py *py, struct py_definition *definition); /* walks the function once, by itself */
void py_bind_pattern(
	struct py_at *at, uint32_t pattern, const struct tdm_expr *value); /* binds unknown names if `value` is NULL */

#endif
