/*
 * The reader of Python sources: an interpreter that knows some values and keeps the rest as expressions. Inside of
 * scan's python_*.c only.
 *
 * Every function is walked once by itself (python_walk.c). Names are bound to expressions in frames: the module, each
 * class, each function, each call that is followed (python_env.c). A descriptor is remembered when it is made and
 * changed by later assignments to its members (python_call.c); it becomes a buffer when the whole file has been walked
 * (python_read.c), because only then it is known which functions are helpers, whose buffers belong to their callers.
 */
#ifndef TDM_SCAN_PYTHON_H
#define TDM_SCAN_PYTHON_H

#include "base/map.h"
#include "scan/file_walk.h"

enum {
	PY_DEPTH_MAX = 150,     /* of nested expressions and statements */
	PY_CALLS_MAX = 6,       /* of nested calls that are followed */
	PY_STEPS_MAX = 4000000, /* evaluations and looked-up bindings in a file; beyond, names are unknown */
	PY_SPREAD_MAX = 60,     /* nodes of a variable's expression that are put in its place */
	PY_TEXT_MAX = 160,      /* bytes of source that become an unknown name */
	PY_FIELDS = 5           /* arguments of a descriptor */
};

/* Values of the reader's own; expressions of kind OPAQUE point to one. */
enum py_type { PY_DEFINITION, PY_DESCRIPTOR };
struct py_thing {
	uint8_t type; /* enum py_type */
};

enum py_state { PY_NOT_WALKED, PY_BUSY, PY_PROGRAM, PY_HELPER };

/* A function or lambda. */
struct py_definition {
	struct py_thing thing;
	struct py_definition *next; /* in the order of the file */
	struct tdm_str name;        /* with that of its class: "Op.make" */
	struct tdm_str class_name;  /* may be empty */
	uint32_t node, frame;       /* frame: that it was defined in */
	uint8_t state;              /* enum py_state */
	bool is_lambda, was_followed;
	const struct py_definition *around; /* of a function in another one; NULL */
	struct py_descriptor *first, *last; /* made by walking it by itself */
};

/* A circular buffer's descriptor. */
struct py_descriptor {
	struct py_thing thing;
	struct py_descriptor *next;
	const struct tdm_expr *total, *cores, *formats, *view_of; /* NULL: not said */
	uint32_t byte;                                            /* of the name of the function that makes it */
	uint32_t site_line; /* of the call of a helper that leads to it; 0: it is made where it is written */
	struct tdm_str helper, variable;
	const struct tdm_scan_branch *branch;
	uint8_t shape;
	bool in_loop;
};

struct py_binding {
	struct tdm_str name;
	const struct tdm_expr *value;
	uint32_t frame;  /* UINT32_MAX: it is gone */
	uint32_t before; /* the binding before it with the same hash, plus 1; 0: none */
};

struct py {
	struct tdm_file_walk *walk;
	const struct tdm_syntax *syntax;
	struct tdm_arena *arena;
	struct py_binding *bindings;
	size_t binding_count, binding_cap;
	struct tdm_map last;    /* hash of a name: its last binding */
	uint32_t *frame_parent; /* the frame around each; the module is its own */
	size_t frame_count, frame_cap;
	struct tdm_map called;  /* hashes of the names that are called somewhere in the file */
	struct tdm_map members; /* hashes of self.x: how often it is assigned, so that a value is known only if once */
	struct py_definition *first, *end;
	uint64_t steps;
	uint32_t calls, next_branch;
	bool failed; /* out of memory */
};

/* Where the walk is. */
struct py_at {
	struct py *py;
	struct py_definition *definition; /* that is walked by itself; its descriptors go there */
	struct tdm_str class_name;
	uint32_t frame;
	const struct tdm_scan_branch *branch;
	uint32_t site_line; /* of the call of the outermost helper; 0 */
	struct tdm_str helper;
	const struct tdm_expr *result; /* what it returned; NULL: nothing yet */
	uint32_t depth;
	bool in_loop, has_ended; /* by return, raise, break or continue */
};

/* python_env.c */
uint32_t py_frame(struct py *py, uint32_t parent);
void py_bind(struct py_at *at, uint32_t frame, struct tdm_str name, const struct tdm_expr *value);
const struct tdm_expr *py_lookup(struct py_at *at, struct tdm_str name); /* NULL: not bound */
/* The same among bindings from a place of the list on, in one frame. */
struct py_binding *py_find_since(struct py *py, struct tdm_str name, uint32_t frame, size_t since);
const struct tdm_expr *py_merge(struct py_at *at, const struct tdm_expr *condition, const struct tdm_expr *a,
	const struct tdm_expr *b);                                    /* either may be NULL */
struct py_definition *py_definition_of(const struct tdm_expr *value); /* NULL when it is none */
struct py_descriptor *py_descriptor_of(const struct tdm_expr *value); /* NULL when it is none */
bool py_is_none(const struct tdm_expr *value);

/* python_eval.c */
const struct tdm_expr *py_eval(struct py_at *at, uint32_t node);
const struct tdm_expr *py_unknown(struct py_at *at, uint32_t node); /* the node's text as a name */
const struct tdm_expr *py_named(struct py *py, struct tdm_str text);
struct tdm_str py_last_name(const struct tdm_syntax *syntax, uint32_t node); /* c of a.b.c */
const struct tdm_expr *py_lambda(struct py_at *at, uint32_t node);

/* python_call.c */
const struct tdm_expr *py_call(struct py_at *at, uint32_t node);
/* An assignment to a member; whether it is one of a descriptor. */
bool py_set_member(struct py_at *at, uint32_t target, const struct tdm_expr *value);

/* python_walk.c */
void py_walk_block(struct py_at *at, uint32_t block);
void py_walk_definition(struct py *py, struct py_definition *definition); /* by itself; nothing when it was */
void py_bind_pattern(struct py_at *at, uint32_t pattern, const struct tdm_expr *value); /* NULL value: unknown names */
struct py_definition *py_define(struct py_at *at, uint32_t node);

/* python_place.c: adds the places of a Python text to the file. 0 or -ENOMEM. */
int py_places_find(struct tdm_scan_file *file, struct tdm_str text, const struct tdm_file_walk *walk);

#endif
