/*
 * The parts of reading one kernel file: the variables that are in scope while the tree is read in the order of the
 * text, and expressions in them. Only kernel_*.c include this.
 */
#ifndef TDM_SCAN_KERNEL_PARTS_H
#define TDM_SCAN_KERNEL_PARTS_H

#include "base/map.h"
#include "scan/file_walk.h"
#include "scan/kernel_code.h"

/* A variable in scope. */
struct tdm_kernel_variable {
	struct tdm_str name; /* of the text */
	const struct tdm_expr *value;
	uint32_t end;                 /* the node at which its scope ends */
	uint32_t shadowed;            /* the variable that had the same name before; UINT32_MAX: none */
	bool is_buffer;               /* it is declared as an object with wait_front() and so on */
	bool is_constant;             /* const, constexpr or a parameter */
	const struct tdm_expr *first; /* what it is declared with; NULL: nothing, or it is a parameter */
};

/* The `number` of a NAME or CALL whose value is only known when the kernel runs. */
enum { TDM_KERNEL_AT_RUN_TIME = 1 };

struct tdm_kernel_reader {
	struct tdm_file_walk *walk;
	const struct tdm_syntax *syntax;
	struct tdm_arena *arena;
	struct tdm_kernel_code *code;
	struct tdm_kernel_variable *variables;
	size_t variable_count, variable_cap;
	struct tdm_map by_name;    /* hash of a name: its innermost variable */
	struct tdm_map changing;   /* hashes of names that something assigns to, and how (kernel_values.c) */
	struct tdm_map references; /* parameters that are references to numbers */
	uint32_t preproc;          /* #ifs around the current node */
	bool wants_constants;      /* an expression decides a branch: what a variable held once is not enough */
	const bool *is_in_if;      /* lines that are in an #if which the text does not show; NULL: none */
};

/* kernel_values.c: variables that change. */
/* Marks the names that something in the file assigns to, so that their first value is not taken for the only one. */
int tdm_kernel_mark_changing(struct tdm_kernel_reader *reader);
/* The values that a variable may have between the nodes `from` and `end`, as a choice; NULL when they are not known. */
const struct tdm_expr *tdm_kernel_one_of(struct tdm_kernel_reader *reader, struct tdm_str name,
	const struct tdm_expr *first, uint32_t from, uint32_t end);

/* kernel_scope.c: variables. */
/* Adds what a node declares, until the node `end`; other nodes declare nothing. 0 or -ENOMEM. */
int tdm_kernel_declare(struct tdm_kernel_reader *reader, uint32_t node, uint32_t end);
/* Adds a parameter of a function or template. */
int tdm_kernel_declare_parameter(struct tdm_kernel_reader *reader, uint32_t node, uint32_t end);
/* The value of a variable that has none, or more than one. It is no constant of another file, whatever its name: its
 * `opaque` is not NULL. */
const struct tdm_expr *tdm_kernel_unknown(const struct tdm_kernel_reader *reader, struct tdm_str name);
/* The same for a value that is only known at run time. */
const struct tdm_expr *tdm_kernel_at_run_time(const struct tdm_kernel_reader *reader, struct tdm_str name);
/* Forgets the variables whose scope ends before `node`. */
void tdm_kernel_leave_scopes(struct tdm_kernel_reader *reader, uint32_t node);

/* kernel_expr.c: what a node says, with variables put in. Never NULL. */
const struct tdm_expr *tdm_kernel_expr(const struct tdm_kernel_reader *reader, uint32_t node);
/* The arguments of a call or of a template as a LIST; an empty one for TDM_NODE_NONE. */
const struct tdm_expr *tdm_kernel_expr_list(const struct tdm_kernel_reader *reader, uint32_t node);
/* The innermost variable of that name; NULL when there is none. */
const struct tdm_kernel_variable *tdm_kernel_variable_find(const struct tdm_kernel_reader *reader, struct tdm_str name);

/* The identifier at the end of a callee or of a declarator: "foo" of ns::foo<a>, of x.foo and of *foo[2]. */
uint32_t tdm_kernel_last_name(const struct tdm_syntax *syntax, uint32_t node);
/* The template arguments of a callee; TDM_NODE_NONE when it has none. */
uint32_t tdm_kernel_template_args(const struct tdm_syntax *syntax, uint32_t node);

/* kernel_condition.c: whether what is in a branch happens. A condition is an expression, or NULL: always. */
enum tdm_kernel_chance { TDM_KERNEL_NEVER, TDM_KERNEL_MAY_HAPPEN, TDM_KERNEL_HAPPENS };
/* The condition of a branch of an `if`: its own, or that it is false. */
const struct tdm_expr *tdm_kernel_branch(struct tdm_kernel_reader *reader, uint32_t node, bool is_else);
const struct tdm_expr *tdm_kernel_not(struct tdm_arena *arena, const struct tdm_expr *condition);
const struct tdm_expr *tdm_kernel_both(struct tdm_arena *arena, const struct tdm_expr *a, const struct tdm_expr *b);
/* Of a condition with the host's arguments put in. */
enum tdm_kernel_chance tdm_kernel_chance_of(const struct tdm_expr *condition, const struct tdm_settings *settings);

/* kernel_errors.c: whether a place that does not parse hides nothing. `is_before_body`: of a function, or outside. */
bool tdm_kernel_is_plain_error(const struct tdm_kernel_reader *reader, uint32_t node, bool is_before_body);

/* kernel_read.c: reads a tree into `code`, which is zeroed but for `is_whole`. `is_in_if`: see above. *has_ops: whether
 * there is an operation on something that is surely a buffer. */
int tdm_kernel_read_code(struct tdm_file_walk *walk, const bool *is_in_if, struct tdm_kernel_code *code, bool *has_ops);

/* kernel_variants.c: reads a file again that did not parse, one branch of every #if at a time. */
int tdm_kernel_read_variants(struct tdm_file_walk *walk, struct tdm_kernel_code *code);

/* kernel_facts.c */
/* Adds the functions and constants of another reading of the same file. 0 or -ENOMEM. */
int tdm_kernel_add_code(struct tdm_kernel_code *code, const struct tdm_kernel_code *more, struct tdm_arena *arena);
int tdm_kernel_add_constant(struct tdm_kernel_reader *reader, struct tdm_str name, const struct tdm_expr *value);
bool tdm_kernel_is_decision(const struct tdm_syntax *syntax, uint32_t node); /* it adds 1 to the complexity */
int tdm_kernel_read_enumerators(struct tdm_kernel_reader *reader, uint32_t list);
int tdm_kernel_read_macro(struct tdm_kernel_reader *reader, uint32_t node); /* one that is a number */
int tdm_kernel_read_function_macro(struct tdm_kernel_reader *reader, uint32_t node);
void tdm_kernel_finish(struct tdm_kernel_reader *reader); /* sizes, and order */
/* Moves the lists of `code` from the heap to the arena; one that does not fit is lost, and the arena has failed. */
void tdm_kernel_settle(struct tdm_kernel_code *code, struct tdm_arena *arena);

/* kernel_names.c */
bool tdm_kernel_begins_with(struct tdm_str text, const char *prefix); /* and there is more of it */
struct tdm_str tdm_kernel_after(struct tdm_str text, size_t skip);
bool tdm_kernel_is_buffer_type(struct tdm_str name); /* CircularBuffer, DataflowBuffer, CB */
bool tdm_kernel_action_of(struct tdm_str name, bool is_method, uint8_t *action); /* false: it is no operation */
bool tdm_kernel_is_mover(struct tdm_str name);                                   /* its name speaks of moving pages */
bool tdm_kernel_is_api(struct tdm_str name); /* a function of the runtime's device API that moves no pages */

/*
 * kernel_find.c: files by path, functions and constants by name, over a whole scan. What a file sees is its own
 * definitions and those of the files that it includes, directly or not.
 */
struct tdm_kernel_entry {
	uint32_t file, function; /* in the lists of the scan and of the file */
	uint32_t next;           /* another one with the same hash; UINT32_MAX: none */
};

struct tdm_kernel_index {
	struct tdm_scan *scan;
	struct tdm_map by_base;   /* hash of the last part of a path: the last file with it, */
	uint32_t *same_base;      /* and for each file the one before it; UINT32_MAX: none */
	struct tdm_map functions; /* hash of a function's name: its first entry */
	struct tdm_kernel_entry *entries;
	size_t entry_count, entry_cap;
	uint32_t *seen; /* for each file: the root whose definitions are being used, plus 1, if the root sees it */
	uint32_t *queue;
	size_t queue_count;
	uint32_t root;
	uint64_t use_count; /* of all kernels so far */
	bool has_lost;      /* the root includes, directly or not, a file that is not among the scanned ones */
};

int tdm_kernel_index_init(struct tdm_kernel_index *index, struct tdm_scan *scan); /* 0 or -ENOMEM */
void tdm_kernel_index_done(struct tdm_kernel_index *index);

/*
 * The file that a path names: its path ends in all of `path`, or is all of an end of `path`. If several do, the one
 * that shares most with the path of the file `near`. UINT32_MAX when there is none or, with *is_ambiguous, several.
 */
uint32_t tdm_kernel_index_file(
	const struct tdm_kernel_index *index, struct tdm_str path, uint32_t near, bool *is_ambiguous);

/* Makes `file` the root: what it sees is looked up from now on. */
void tdm_kernel_index_see(struct tdm_kernel_index *index, uint32_t file);

/* The first function of that name that the root sees, and the next; UINT32_MAX when there is no more. */
uint32_t tdm_kernel_index_function(const struct tdm_kernel_index *index, struct tdm_str name);
uint32_t tdm_kernel_index_next(const struct tdm_kernel_index *index, uint32_t entry, struct tdm_str name);
static inline const struct tdm_kernel_function *tdm_kernel_index_get(
	const struct tdm_kernel_index *index, uint32_t entry)
{
	const struct tdm_kernel_entry *at = &index->entries[entry];
	return &index->scan->files[at->file].code->functions[at->function];
}

/* Whether a path is that of a file of the runtime itself. */
bool tdm_kernel_is_runtime(const char *path);
/* Whether a function of that name is in any file but those of the runtime, seen or not. */
bool tdm_kernel_index_has(const struct tdm_kernel_index *index, struct tdm_str name);
/* Whether the root sees a macro of that name that looks like a function. */
bool tdm_kernel_index_has_macro(const struct tdm_kernel_index *index, struct tdm_str name);

/* The value of a constant that the root sees; NULL when there is none, or when there are several. */
const struct tdm_expr *tdm_kernel_index_constant(const struct tdm_kernel_index *index, struct tdm_str name);

/* kernel_expand.c: follows a kernel from its main function. */
struct tdm_kernel_args {
	const struct tdm_expr *positional; /* a LIST, or nothing */
	const struct tdm_expr *named;      /* a LIST of LISTs of a STRING and a value, or nothing */
	const struct tdm_expr *bindings;   /* a LIST of OBJECTs: DFBBinding; or nothing */
	const struct tdm_settings *settings;
	struct tdm_arena *arena; /* for values that are put together */
};

/* kernel_args.c */
/* What the host gives for a call that asks for one of its arguments; NULL when that is unknown. */
const struct tdm_expr *tdm_kernel_host_value(const struct tdm_kernel_args *given, const struct tdm_expr *call);
/* The value of a named argument in {{"name", value}, ...} or in a choice of those; NULL when there is none. `depth`: 0
 */
const struct tdm_expr *tdm_kernel_named_value(
	const struct tdm_kernel_args *given, const struct tdm_expr *list, struct tdm_str name, uint32_t depth);
/* The same call as one whose value is only known at run time. */
const struct tdm_expr *tdm_kernel_runtime_value(const struct tdm_kernel_args *given, const struct tdm_expr *call);
/* The dataflow buffer that "dfb::name" is bound to. NULL when it is not known; *is_unbound: surely none. */
const struct tdm_expr *tdm_kernel_bound_buffer(
	const struct tdm_kernel_args *given, struct tdm_str accessor, bool *is_unbound);

/* The uses of the kernel in `file` with the host's arguments; in `arena`. NULL when out of memory. */
const struct tdm_kernel_uses *tdm_kernel_expand(
	struct tdm_kernel_index *index, uint32_t file, const struct tdm_kernel_args *args, struct tdm_arena *arena);

#endif
