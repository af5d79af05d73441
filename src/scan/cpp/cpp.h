/*
 * The C++ reader, an interpreter that knows some values and keeps the rest as expressions. Host code and device code
 * are read alike. Only files in this folder and in kernel/ include this header.
 *
 * Every function containing a name that matters is walked statement by statement, branches one by one (cpp_walk.c). The
 * values of names are kept in an environment, an append-only list of bindings (cpp_env.c), so an expression that is not
 * needed yet can be kept with its environment and evaluated later (cpp_eval.c). Calls to helpers and lambdas are walked
 * with their arguments (cpp_call.c); variables that other functions may change become unknown (cpp_names.c). Objects
 * that describe buffers and kernels are recorded as they are created, filled and passed on; they become entries when
 * the function ends (cpp_object.c). In device code, operations on buffers are listed as they are encountered
 * (cpp_walk.c).
 *
 *     frame:  source ── text and tree    env ── bindings    branch ── the enclosing ifs    site ── the call in the file
 */
#ifndef TDM_SCAN_CPP_H
#define TDM_SCAN_CPP_H

#include "scan/front/file_walk.h"
#include "scan/front/project.h"

enum {
	CPP_DEPTH_MAX = 200,     /* depth of nested evaluations */
	CPP_CALLS_MAX = 8,       /* depth of nested calls to helpers */
	CPP_STEPS_MAX = 2000000, /* evaluations per function of a file */
	CPP_MADE_MAX = 20000,    /* objects created in one function */
	CPP_UNROLL_MAX = 32,     /* elements of a list; for longer lists, a loop is not repeated */
	CPP_CUTS_MAX = 16,       /* calls to recursive helpers in one function */
	CPP_ARGS_MAX = 64,       /* arguments of a call */
	CPP_TEXT_MAX = 2000,     /* approximate length, in characters, of an unknown written with the caller's names */
	CPP_SPREAD_MAX = 60,     /* nodes in an expression that may replace its variable */
};

#define CPP_BUFFER_TYPES "CircularBuffer DataflowBuffer CB" /* buffer types of device code */

/* A string with its tree: the file itself, or a piece of another file. */
struct cpp_source {
	const struct tdm_syntax *syntax;
	bool is_file;
	uint32_t file; /* index in the scan's list; this file's constants are searched first */
	uint32_t *hot; /* byte offsets of the names that matter, ascending */
	size_t hot_count;
};

enum cpp_binding_kind { CPP_VALUE, CPP_LAZY, CPP_SCOPE, CPP_JOIN, CPP_LOOP };

/* A lambda's value is also a binding, with `source`, `node` and `env`. */
struct cpp_binding {
	const struct cpp_binding *next;  /* the previous binding */
	struct tdm_str name;             /* VALUE and LAZY: a variable, or a path "a.b" */
	uint8_t kind;                    /* enum cpp_binding_kind */
	bool is_declaration;             /* the binding ends with its block; false: it is an assignment */
	bool is_argument;                /* LAZY: an argument of a call, whose value keeps the caller's names */
	bool is_helpers;                 /* created in a helper, so the caller does not know the name */
	bool is_busy;                    /* the binding is being evaluated */
	bool is_preproc;                 /* JOIN of an #if, whose declarations remain visible */
	const struct cpp_source *source; /* source of `node` */
	uint32_t node;                   /* LAZY: its value; JOIN: the condition; LOOP: the loop */
	uint32_t type;                   /* LAZY: node of the declared type, or TDM_NODE_NONE */
	const struct cpp_binding
		*env; /* LAZY: environment of the names; SCOPE: at the end of the block; JOIN: of the first branch */
	const struct cpp_binding *other;  /* JOIN: environment of the second branch */
	const struct tdm_expr *value;     /* VALUE; LAZY once evaluated */
	const struct tdm_expr *condition; /* JOIN: the evaluated condition, if known */
};

/* A call to a helper in the file; objects created in the helper are counted at the call. */
struct cpp_site {
	uint32_t line, byte;
	struct tdm_str helper;
};

/* Object types: the shapes of buffers, then kernels. */
enum cpp_type { CPP_TYPE_KERNEL = TDM_SHAPE_COUNT, CPP_TYPE_NONE };

/* An object that describes a buffer or a kernel. Its OBJECT expression points to this structure through `opaque`. */
struct cpp_made {
	struct cpp_made *next;
	struct cpp_made *twin; /* another branch's object in the same variable; later changes apply to both */
	uint8_t type;          /* enum tdm_shape, or CPP_TYPE_KERNEL */
	uint32_t byte;         /* byte offset of the type name in the file; UINT32_MAX if created elsewhere */
	uint32_t line;         /* line of the type name, or of the call that led to the object */
	struct cpp_site site;  /* line 0 if created in the function itself */
	const struct tdm_scan_branch *branch;
	bool in_loop;
	bool is_replaced;              /* another object replaced it before it was used */
	struct tdm_str variable;       /* variable name; may be empty */
	const struct tdm_expr *latest; /* the object with all fields so far */
	struct cpp_creation *creations;
};

/* A call that passes an object on, such as push_back or CreateCircularBuffer. */
struct cpp_creation {
	struct cpp_creation *next;
	uint32_t line;
	const struct tdm_expr *object, *cores;
	const struct tdm_scan_branch *branch;
	bool in_loop;
};

struct cpp {
	struct tdm_file_walk *walk;
	struct tdm_arena *arena;
	struct cpp_source own;
	struct tdm_map takers;         /* hash of a function in the file: a bit for each argument that it may change */
	struct cpp_made *first, *last; /* objects of the function being walked */
	size_t made_count;
	uint64_t steps;
	uint32_t calls; /* depth of nested calls */
	uint32_t next_branch;
	bool in_main;     /* the function being walked is a kernel's main function */
	uint64_t decided; /* number of helper branches decided by arguments */
	const struct tdm_definition *active[CPP_CALLS_MAX];
	uint32_t cut_sites[CPP_CUTS_MAX]; /* byte offsets of calls to recursive helpers */
	uint32_t cut_count;
};

struct cpp_return {
	struct cpp_return *next;      /* the previous return */
	const struct tdm_expr *value; /* NULL if the return has no value */
	const struct tdm_scan_branch *branch;
	const struct cpp_binding *env;
};

struct cpp_frame {
	struct cpp *cpp;
	struct tdm_arena *arena; /* the arena of `cpp` */
	const struct cpp_source *source;
	const struct cpp_binding *env;
	const struct tdm_scan_branch *branch;
	const struct tdm_scan_branch *base_branch; /* branch at the beginning of the function */
	const struct cpp_site *site;               /* NULL in the function itself */
	struct cpp_return *returns;                /* last return first */
	bool in_loop;
	bool is_eager;  /* assignments and objects take effect */
	bool has_ended; /* ended by return or throw */
	uint32_t depth;
};

/* These functions read nodes in a frame's source. */
static inline uint32_t cpp_part(const struct cpp_frame *frame, uint32_t node, enum tdm_syntax_role role)
{
	return tdm_node_part(frame->source->syntax, node, role);
}

static inline struct tdm_str cpp_text(const struct cpp_frame *frame, uint32_t node)
{
	return tdm_node_text(frame->source->syntax, node);
}

static inline enum tdm_syntax_kind cpp_kind(const struct cpp_frame *frame, uint32_t node)
{
	return tdm_node_kind(frame->source->syntax, node);
}

/* The arguments of a call. */
struct cpp_arguments {
	uint32_t nodes[CPP_ARGS_MAX];
	uint32_t count;
	bool are_all; /* returns false if there are more than CPP_ARGS_MAX */
};

/* cpp_env.c */
struct cpp_binding *cpp_bind(struct cpp_frame *frame, enum cpp_binding_kind kind, struct tdm_str name);
void cpp_bind_value(struct cpp_frame *frame, struct tdm_str name, const struct tdm_expr *value, bool is_declaration);
void cpp_bind_loop(struct cpp_frame *frame, uint32_t node); /* sets variables assigned in the node to unknown */
void cpp_leave_scope(struct cpp_frame *frame, const struct cpp_binding *base);
/* NULL if the name is not a variable */
const struct tdm_expr *cpp_lookup(struct cpp_frame *frame, struct tdm_str name);
/* The value of a variable that belongs to a helper; NULL for other names. */
const struct tdm_expr *cpp_helpers_value(struct cpp_frame *frame, struct tdm_str name);
/* Whether a value itself comes from the function's caller, and not only the condition that selects the value. `expr`
 * may be NULL. */
bool cpp_is_from_caller(const struct tdm_expr *expr);
/* Returns the value, or the variable's name if the value is too long to repeat. */
const struct tdm_expr *cpp_shortened(struct cpp *cpp, struct tdm_str name, const struct tdm_expr *value);
const struct tdm_expr *cpp_merge(
	struct cpp *cpp, const struct tdm_expr *condition, const struct tdm_expr *a, const struct tdm_expr *b);
void cpp_assign(struct cpp_frame *frame, uint32_t target, const struct tdm_expr *value);

/* cpp_names.c */
struct tdm_str cpp_last_name(const struct cpp_source *source, uint32_t node); /* b of a::b, a.b, b<T> */
struct tdm_str cpp_squeezed(struct cpp *cpp, struct tdm_str text);            /* on one line, without comments */
const struct tdm_expr *cpp_named(struct cpp *cpp, struct tdm_str text);       /* a copy of `text` as a name */
const struct tdm_expr *cpp_unknown(struct cpp_frame *frame, uint32_t node);   /* the node's text as a name */
void cpp_find_hot(struct cpp *cpp);                                           /* in the file itself */
bool cpp_is_hot(const struct cpp_source *source, uint32_t node);              /* contains a name that matters */
/* contains a name that matters, or ++ or -- */
bool cpp_has_effects(const struct cpp_source *source, uint32_t node);
const char *cpp_next_char(struct tdm_str text, uint32_t at); /* the first non-blank character from a byte onwards */
void cpp_find_takers(struct cpp *cpp);
void cpp_forget_given(struct cpp_frame *frame, uint32_t call);
/* The value of a name declared outside functions; NULL if unknown. */
const struct tdm_expr *cpp_global(struct cpp_frame *frame, struct tdm_str scope, struct tdm_str name);

/* cpp_eval.c */
const struct tdm_expr *cpp_eval(struct cpp_frame *frame, uint32_t node);
static inline const struct tdm_expr *cpp_eval_part(struct cpp_frame *frame, uint32_t node, enum tdm_syntax_role role)
{
	return cpp_eval(frame, cpp_part(frame, node, role));
}

/* cpp_call.c */
const struct tdm_expr *cpp_call(struct cpp_frame *frame, uint32_t node);
bool cpp_is_defined(const struct cpp *cpp, struct tdm_str name); /* the project defines the function */
const struct cpp_site *cpp_site_of(struct cpp_frame *caller, uint32_t call, struct tdm_str name);
void cpp_bind_parameters(struct cpp_frame *frame, uint32_t list);

/* cpp_object.c */
uint8_t cpp_type_of(struct tdm_str name); /* enum tdm_shape, CPP_TYPE_KERNEL, CPP_TYPE_NONE */
const struct tdm_expr *cpp_object(struct cpp_frame *frame, struct tdm_str type, uint32_t type_node, uint32_t list);
const struct tdm_expr *cpp_config(struct cpp_frame *frame, uint32_t type_node, uint32_t arguments);
const struct tdm_expr *cpp_declared(
	struct cpp_frame *frame, uint32_t type, struct tdm_str variable, const struct tdm_expr *value);
const struct tdm_expr *cpp_track(
	struct cpp_frame *frame, const struct tdm_expr *object, uint8_t type, uint32_t type_node);
const struct tdm_expr *cpp_typed(struct cpp_frame *frame, const struct tdm_expr *value, uint32_t node);
void cpp_create(struct cpp_frame *frame, const struct tdm_expr *object, const struct tdm_expr *cores, uint32_t node);
/* NULL if the expression is not an object; `expr` may be NULL */
struct cpp_made *cpp_made_of(const struct tdm_expr *expr);
void cpp_set_latest(struct cpp_made *made, const struct tdm_expr *object); /* `made` may be NULL */
bool cpp_method(struct cpp_frame *frame, uint32_t call, struct tdm_str method, const struct tdm_expr **result);
bool cpp_is_null(const struct tdm_expr *expr);
/* Whether a method leaves a list open. The last element of an open list is nothing, meaning that the rest is unknown.
 * */
bool cpp_opens_list(struct tdm_str method);
/* Whether an unfollowed function may change its arguments, judging by its name. The other function sets an argument to
 * unknown after such a call. */
bool cpp_may_change(struct tdm_str function);
void cpp_note_changed(struct cpp_frame *frame, uint32_t argument);
const struct tdm_expr *cpp_field_value(struct tdm_str field, const struct tdm_expr *value);
bool cpp_is_helper(const struct cpp *cpp, struct tdm_str name); /* judged by the objects created */
void cpp_emit(struct cpp *cpp, struct tdm_str program, uint32_t line);
/* Records how far the place at `byte` was understood; the best result counts. */
void cpp_mark(struct cpp *cpp, uint32_t byte, uint8_t grasp, const char *why, bool is_helper_body);
void cpp_mark_helper_body(struct cpp *cpp, uint32_t start, uint32_t end);

/* cpp_walk.c */
void cpp_walk(struct cpp_frame *frame, uint32_t node);
void cpp_walk_body(struct cpp_frame *frame, uint32_t body);
/* The variable inside a declarator, below pointers, references and arrays. */
uint32_t cpp_declared_name(const struct tdm_syntax *syntax, uint32_t declarator);
/* The condition of a branch relative to an outer branch, or to the function. */
const struct tdm_expr *cpp_condition_within(
	struct cpp *cpp, const struct tdm_scan_branch *branch, const struct tdm_scan_branch *outermost);
/* Evaluates both arms of a `?:` whose effects count; each arm is a branch. */
void cpp_eval_arms(
	struct cpp_frame *frame, uint32_t node, const struct tdm_expr *condition, const struct tdm_expr *values[2]);

/* Lists a call that is an operation on a buffer; returns false for other calls. */
bool cpp_operation(struct cpp_frame *frame, uint32_t call, struct tdm_str name);

#endif
