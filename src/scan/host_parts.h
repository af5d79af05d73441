/*
 * The reader of the host's C++: an interpreter that knows some values and keeps the rest as expressions. Inside of
 * scan's host_*.c only.
 *
 * Every function of a file that has a name that matters is walked statement by statement (host_walk.c), branches one
 * by one (host_branch.c). What a name stands for is kept in an environment, a list of bindings to which only
 * additions are made (host_env.c), so that an expression which is not needed yet can be kept with the environment of
 * its moment and evaluated when somebody asks (host_eval.c). Calls of helpers and lambdas are walked with their
 * arguments (host_call.c); what others may change is forgotten (host_taker.c). Objects that describe buffers and
 * kernels are remembered as they are made, filled and handed over (host_object.c), and become entries when the
 * function ends (host_emit.c).
 *
 *     frame:  source ── text and tree    env ── bindings    branch ── the ifs around    site ── the call in the file
 */
#ifndef TDM_SCAN_HOST_PARTS_H
#define TDM_SCAN_HOST_PARTS_H

#include "scan/file_walk.h"
#include "scan/project.h"

enum {
	HOST_DEPTH_MAX = 200,     /* of nested evaluations */
	HOST_CALLS_MAX = 8,       /* of nested calls of helpers */
	HOST_STEPS_MAX = 2000000, /* evaluations for one function of a file */
	HOST_MADE_MAX = 20000,    /* objects made in one function */
	HOST_UNROLL_MAX = 32,     /* elements of a list that a loop is walked over */
	HOST_CUTS_MAX = 16,       /* calls of helpers that call themselves, in one function */
	HOST_ARGS_MAX = 64,       /* of a call */
	HOST_TEXT_MAX = 2000,     /* characters of an unknown in the caller's names, about */
	HOST_SPREAD_MAX = 60,     /* nodes of a variable's expression that are put in its place */
};

/* A text with its tree: the file itself, or a piece of another. */
struct host_source {
	const struct tdm_syntax *syntax;
	bool is_file;
	uint32_t file;       /* in the scan's list: where its constants are looked for first */
	const uint32_t *hot; /* bytes of the names that matter, ascending */
	size_t hot_count;
};

enum host_binding_kind { HOST_VALUE, HOST_LAZY, HOST_SCOPE, HOST_JOIN, HOST_LOOP };

struct host_binding {
	const struct host_binding *next;  /* what was known before */
	struct tdm_str name;              /* VALUE and LAZY: a variable, or a path "a.b" */
	uint8_t kind;                     /* enum host_binding_kind */
	bool is_declaration;              /* ends with its block; else an assignment */
	bool is_argument;                 /* LAZY: of a call; its value keeps the caller's names */
	bool is_helpers;                  /* made in a helper: its name means nothing to the caller */
	bool is_busy;                     /* it is being evaluated: its value needs itself */
	const struct host_source *source; /* of `node` */
	uint32_t node;                    /* LAZY: its value; JOIN: the condition; LOOP: the loop */
	uint32_t type;                    /* LAZY: the declared type, or TDM_NODE_NONE */
	const struct host_binding
		*env; /* LAZY: where its names are; SCOPE: the end of the block; JOIN: of the first branch */
	const struct host_binding *other; /* JOIN: of the second branch */
	const struct tdm_expr *value;     /* VALUE, and LAZY when it is known */
	const struct tdm_expr *condition; /* JOIN when it is known */
};

/* Where in the file a helper was called: what is made in it counts there. */
struct host_site {
	uint32_t line, byte;
	struct tdm_str helper;
};

struct host_branch {
	struct tdm_scan_branch shown; /* first: what buffers point to */
	const struct host_branch *outer;
	const struct tdm_expr *condition; /* true in this branch */
};

/* A lambda as a value. */
struct host_lambda {
	const struct host_source *source;
	uint32_t node;
	const struct host_binding *env;
};

/* Kinds of objects: the shapes of buffers, then kernels. */
enum host_type { HOST_TYPE_KERNEL = TDM_SHAPE_COUNT, HOST_TYPE_NONE };

/* An object that describes a buffer or a kernel. Its expression is an OBJECT whose `opaque` is this. */
struct host_made {
	struct host_made *next;
	struct host_made
		*twin; /* of another branch, in the same variable: what is set after the branches is set in both */
	uint8_t type;  /* enum tdm_shape, or HOST_TYPE_KERNEL */
	uint32_t byte; /* of the name of its type in the file; UINT32_MAX when it was made elsewhere */
	uint32_t line; /* of that, or of the call that led to it */
	struct host_site site; /* line 0: made in the function itself */
	const struct host_branch *branch;
	bool in_loop;
	bool is_replaced;              /* another one took its place before it was used */
	struct tdm_str variable;       /* may be empty */
	const struct tdm_expr *latest; /* with all that was put into it */
	struct host_creation *creations;
};

/* A call that hands an object over: push_back, CreateCircularBuffer. */
struct host_creation {
	struct host_creation *next;
	uint32_t line;
	const struct tdm_expr *object, *cores;
	const struct host_branch *branch;
	bool in_loop;
};

/* A function of the file that takes some of its arguments by references through which it may change them. */
struct host_taker {
	struct host_taker *next;
	struct tdm_str name;
	uint64_t taken; /* a bit for each parameter */
};

struct host {
	struct tdm_file_walk *walk;
	struct tdm_arena *arena;
	struct host_source own;
	struct host_taker *takers;
	struct host_made *first, *last; /* of the function that is walked */
	size_t made_count;
	bool calls_creator; /* the function calls one that may create something and is not followed */
	uint64_t steps;
	uint32_t calls; /* nested */
	uint32_t next_branch;
	uint64_t decided; /* how many branches of helpers their callers' arguments decided */
	const struct tdm_definition *active[HOST_CALLS_MAX];
	uint32_t cut_sites[HOST_CUTS_MAX]; /* bytes of calls whose helper calls itself: not followed a second time */
	uint32_t cut_count;
};

struct host_return {
	struct host_return *next;     /* the one before */
	const struct tdm_expr *value; /* NULL: there is none */
	const struct host_branch *branch;
	const struct host_binding *env;
};

struct host_frame {
	struct host *host;
	const struct host_source *source;
	const struct host_binding *env;
	const struct host_branch *branch;
	const struct host_branch *base_branch; /* at the beginning of the function */
	const struct host_site *site;          /* NULL: the function itself */
	struct host_return *returns;           /* the last first */
	bool in_loop;
	bool is_eager;  /* effects count: assignments, objects */
	bool has_ended; /* by return or throw */
	uint32_t depth;
};

/* The arguments of a call. */
struct host_arguments {
	uint32_t nodes[HOST_ARGS_MAX];
	uint32_t count;
	bool are_all; /* false: there are more */
};

/* host_env.c */
struct host_binding *host_bind(struct host_frame *frame, enum host_binding_kind kind, struct tdm_str name);
void host_bind_value(struct host_frame *frame, struct tdm_str name, const struct tdm_expr *value, bool is_declaration);
void host_bind_loop(struct host_frame *frame, uint32_t node); /* what the node assigns is unknown afterwards */
void host_leave_scope(struct host_frame *frame, const struct host_binding *base);
const struct tdm_expr *host_lookup(struct host_frame *frame, struct tdm_str name); /* NULL: not a variable */
/* The value of a helper's own variable; NULL when it is not one. */
const struct tdm_expr *host_helpers_value(struct host_frame *frame, struct tdm_str name);
/* Whether a value comes from the function's caller, and not only the condition that chooses it. `expr` may be NULL. */
bool host_is_from_caller(const struct tdm_expr *expr);
/* The value, or the variable's name where the value is too long to be shown in others. */
const struct tdm_expr *host_shortened(struct host *host, struct tdm_str name, const struct tdm_expr *value);
const struct tdm_expr *host_merge(
	struct host *host, const struct tdm_expr *condition, const struct tdm_expr *a, const struct tdm_expr *b);

/* host_text.c */
struct tdm_str host_last_name(const struct host_source *source, uint32_t node); /* b of a::b, a.b, b<T> */
struct tdm_str host_squeezed(struct host *host, struct tdm_str text);           /* on one line, without comments */
const struct tdm_expr *host_named(struct host *host, struct tdm_str text);      /* a name, copied */
const struct tdm_expr *host_unknown(struct host_frame *frame, uint32_t node);   /* the node's text as a name */
bool host_is_hot(const struct host_source *source, uint32_t node);              /* has a name that matters in it */
bool host_has_effects(const struct host_source *source, uint32_t node);         /* or counts something up or down */

/* host_eval.c */
const struct tdm_expr *host_eval(struct host_frame *frame, uint32_t node);

/* host_global.c: NULL when the name means nothing there */
const struct tdm_expr *host_global(struct host_frame *frame, struct tdm_str scope, struct tdm_str name);

/* host_assign.c */
void host_assign(struct host_frame *frame, uint32_t target, const struct tdm_expr *value);

/* host_call.c */
const struct tdm_expr *host_call(struct host_frame *frame, uint32_t node);

/* host_follow.c */
const struct tdm_expr *host_call_lambda(struct host_frame *caller, uint32_t call, const struct host_lambda *lambda,
	const struct host_arguments *arguments);
const struct tdm_expr *host_call_function(struct host_frame *caller, uint32_t call, struct tdm_definition *definition,
	const struct host_arguments *arguments);
struct tdm_definition *host_helper_for(
	struct host_frame *frame, struct tdm_str name, const struct host_arguments *arguments); /* may be NULL */
bool host_is_defined(const struct host_frame *frame, struct tdm_str name);
const struct host_site *host_site_of(struct host_frame *caller, uint32_t call, struct tdm_str name);
const struct tdm_expr *host_results(struct host_frame *frame); /* what a function returned; nothing when it did not */
void host_bind_parameters(struct host_frame *frame, uint32_t list);
int host_verdict(struct host_frame *frame, struct tdm_definition *definition); /* enum tdm_verdict */

/* host_object.c */
uint8_t host_type_of(struct tdm_str name); /* enum tdm_shape, HOST_TYPE_KERNEL, HOST_TYPE_NONE */
const struct tdm_expr *host_object(struct host_frame *frame, struct tdm_str type, uint32_t type_node, uint32_t list);
const struct tdm_expr *host_config(struct host_frame *frame, uint32_t type_node, uint32_t arguments);
const struct tdm_expr *host_declared(
	struct host_frame *frame, uint32_t type, struct tdm_str variable, const struct tdm_expr *value);
const struct tdm_expr *host_track(
	struct host_frame *frame, const struct tdm_expr *object, uint8_t type, uint32_t type_node);
const struct tdm_expr *host_typed(struct host_frame *frame, const struct tdm_expr *value, uint32_t node);
void host_create(struct host_frame *frame, const struct tdm_expr *object, const struct tdm_expr *cores, uint32_t node);
struct host_made *host_made_of(const struct tdm_expr *expr);                 /* NULL when it is none */
void host_set_latest(struct host_made *made, const struct tdm_expr *object); /* `made` may be NULL */
bool host_method(struct host_frame *frame, uint32_t call, struct tdm_str method, const struct tdm_expr **result);
bool host_is_null(const struct tdm_expr *expr);
/* A list whose last element is nothing is open: what comes after it is not known. */
bool host_opens_list(struct tdm_str method);
/* A function that is not followed may change what it gets: by its name, and what then becomes of an argument. */
bool host_may_change(struct tdm_str function);
void host_note_changed(struct host_frame *frame, uint32_t argument);
const struct tdm_expr *host_unwrapped(const struct tdm_expr *list);
const struct tdm_expr *host_field_value(struct tdm_str field, const struct tdm_expr *value);

/* host_hot.c: the bytes of such names, ascending; *hot is the caller's. 0 or -ENOMEM */
int host_find_hot(struct host *host, uint32_t **hot, size_t *count);

/* host_taker.c */
int host_find_takers(struct host *host); /* 0 or -ENOMEM */
void host_forget_given(struct host_frame *frame, uint32_t call);

/* host_branch.c */
/* Under which condition a branch is taken inside of another one, or of the function. */
const struct tdm_expr *host_condition_within(
	struct host *host, const struct host_branch *branch, const struct host_branch *outermost);
void host_walk_if(struct host_frame *frame, uint32_t node);
void host_walk_switch(struct host_frame *frame, uint32_t node);
/* Evaluates both arms of a `?:` whose effects count, each as a branch. */
void host_eval_arms(
	struct host_frame *frame, uint32_t node, const struct tdm_expr *condition, const struct tdm_expr *values[2]);

/* host_walk.c */
void host_walk(struct host_frame *frame, uint32_t node);
void host_walk_body(struct host_frame *frame, uint32_t body);

/* host_emit.c */
bool host_is_helper(const struct host *host, struct tdm_str name); /* judged by what was made */
int host_emit(struct host *host, struct tdm_str program, uint32_t line);
void host_mark_call(struct host *host, uint32_t byte);    /* a call in a lambda: its callers have the entries */
void host_mark_nothing(struct host *host, uint32_t byte); /* a call that creates nothing */
void host_mark_helper_body(struct host *host, uint32_t start, uint32_t end);
void host_facts(
	struct host *host, const struct host_made *made, const struct tdm_expr *object, struct tdm_buffer_facts *facts);

#endif
