/*
 * Kernels: what the C++ of the device says about buffers, and what the host's code makes of it.
 *
 *     kernel file ─▶ functions ─▶ steps: operations on buffers, calls         (kernel_read.c, in the scanning threads)
 *     host's kernel + its file + its compile-time arguments ─▶ uses           (kernel_join.c, kernel_expand.c)
 *     uses of all kernels of a program + its buffers ─▶ mismatches            (kernel_match.c)
 *
 * A kernel file is read once, whoever starts it: buffers and page counts are expressions in the parameters of their
 * function and in calls such as get_compile_time_arg_val(2). The join begins at kernel_main(), follows calls into
 * functions of the same file and of the files that it includes, puts in the host's compile-time arguments, and gives
 * the uses of one kernel in one program: each with the index of a circular buffer or the name of a dataflow buffer.
 *
 * A mismatch is only reported when it is certain. What cannot be judged is counted by its reason.
 */
#ifndef TDM_SCAN_KERNEL_CODE_H
#define TDM_SCAN_KERNEL_CODE_H

#include "scan/scan.h"

/* What a kernel does with pages of a buffer. */
#define TDM_KERNEL_ACTION_LIST(X)  \
	X(WAIT, "wait_front")      \
	X(RESERVE, "reserve_back") \
	X(PUSH, "push_back")       \
	X(POP, "pop_front")

enum tdm_kernel_action {
#define X(id, name) TDM_KERNEL_##id,
	TDM_KERNEL_ACTION_LIST(X)
#undef X
		TDM_KERNEL_ACTIONS
};
const char *tdm_kernel_action_name(enum tdm_kernel_action action);

/* How the source names it. */
enum tdm_kernel_form {
	TDM_KERNEL_BY_FUNCTION, /* cb_wait_front(cb, n) */
	TDM_KERNEL_BY_METHOD,   /* cb.wait_front(n) */
	TDM_KERNEL_FORMS
};

/* An operation on a buffer, or a call of a function with something that may be a buffer. */
struct tdm_kernel_step {
	bool is_call;
	uint8_t action;                   /* enum tdm_kernel_action, of an operation */
	uint8_t form;                     /* enum tdm_kernel_form, of an operation */
	bool is_conditional;              /* in a branch of a `switch`, `?:` or #if, or after one that may leave */
	bool is_in_preproc;               /* in an #if */
	const struct tdm_expr *condition; /* of the `if`s around it and of early returns before it; NULL: always */
	bool in_loop;
	uint32_t line;
	const struct tdm_expr *buffer, *pages; /* of an operation; never NULL */
	struct tdm_str callee;                 /* of a call: the last part of its name */
	const struct tdm_expr *template_args;  /* of a call: a LIST */
	const struct tdm_expr *args;           /* of a call: a LIST */
};

struct tdm_kernel_function {
	struct tdm_str name;
	uint32_t line;
	bool is_lambda;      /* its parameters are looked up in the function around it as well */
	bool is_conditional; /* it is in an #if: there may be another one */
	bool is_main;        /* the kernel begins here */
	bool is_variadic;    /* it takes any number of arguments */
	const struct tdm_expr *template_params, *params; /* LISTs of NAMEs; a default value is a FIELD with it */
	struct tdm_kernel_step *steps;                   /* in the order of the text */
	size_t step_count, step_cap;
	uint32_t decisions; /* see tdm_kernel_code */
};

/* A constant of the file: variables outside functions, members, enumerators, macros that are numbers. */
struct tdm_kernel_constant {
	struct tdm_str name;
	const struct tdm_expr *value;
};

/*
 * What one file of the device's side holds. `complexity` is the cyclomatic number of the file: 1 for each function
 * (lambdas too) plus 1 for each decision: if, for, while, do, case, catch, ?:, && and ||. Branches of the preprocessor
 * are not decisions. `code_lines` are lines with something else than blanks and comments.
 */
struct tdm_kernel_code {
	struct tdm_kernel_function *functions; /* in the order of the text; of all readings (kernel_variants.c) */
	size_t function_count, function_cap;
	struct tdm_kernel_constant *constants; /* by name; one that is defined twice is there twice */
	size_t constant_count, constant_cap;
	struct tdm_str *macros; /* names of macros that look like functions; sorted */
	size_t macro_count, macro_cap;
	bool has_main; /* it defines kernel_main(), MAIN in a namespace NAMESPACE, or a function marked TT_KERNEL */
	bool is_whole; /* all of it parsed and was read */
	uint32_t lines, code_lines;
	uint32_t complexity;
	uint32_t max_complexity; /* of one function */
	uint32_t op_count[TDM_KERNEL_ACTIONS][TDM_KERNEL_FORMS];
};

/* One operation of a kernel in a program, with the host's arguments put in. */
struct tdm_kernel_use {
	uint8_t action, form;
	bool is_conditional; /* it may never happen: kernel_condition.c */
	bool is_optional;    /* it may not even be compiled: in an #if, or in one of several functions of one name */
	bool in_loop;
	uint32_t file, line; /* where the operation is written: the kernel's file or one that it includes */
	int32_t index;       /* of the circular buffer; -1 when unknown or named */
	const char *name;    /* of the dataflow buffer that dfb::x is bound to, else "dfb::x"; "" when it is no dfb */
	const char *buffer;  /* the buffer as an expression, for people */
	const char *pages;   /* the number of pages as an expression */
	int64_t pages_min, pages_max; /* INT64_MIN, INT64_MAX when unknown */
};

/* Why something was not judged. */
#define TDM_UNJUDGED_LIST(X)                                                                     \
	X(NO_PATH, "the path of a kernel is not a constant")                                     \
	X(NO_FILE, "the source of a kernel is not among the scanned files")                      \
	X(SEVERAL_FILES, "several scanned files match the path of a kernel")                     \
	X(NOT_PARSED, "the source of a kernel was not read wholly")                              \
	X(NO_BUFFER, "a kernel uses or pushes a buffer whose index could not be computed")       \
	X(UNKNOWN_CALL, "a kernel calls a function whose source is not among the scanned files") \
	X(HOST_KERNELS, "not all kernels of the program are known")                              \
	X(HOST_BUFFERS, "not all buffers of the program are known")                              \
	X(ELSEWHERE, "another core may fill the buffer")                                         \
	X(CONDITIONAL, "it only happens under a condition")                                      \
	X(NO_PAGES, "the number of pages could not be computed")                                 \
	X(TOO_MUCH, "there is too much to follow")

enum tdm_unjudged {
#define X(id, text) TDM_UNJUDGED_##id,
	TDM_UNJUDGED_LIST(X)
#undef X
		TDM_UNJUDGED_COUNT
};
const char *tdm_unjudged_text(enum tdm_unjudged reason);

/* A kernel of a program, as far as it is understood: scan->files[].kernels[].uses. */
struct tdm_kernel_uses {
	struct tdm_kernel_use *list;
	size_t count, cap;
	uint16_t gaps;        /* bits of enum tdm_unjudged: why the list may lack pushes */
	const char *gap_text; /* the first call or buffer that was not understood, "name at file:line"; "" */
};

/*
 * Finds the source file of every kernel that the host creates (its `source_file` and `code`) and its uses. To be called
 * once after tdm_scan_run(). 0 or -ENOMEM.
 */
int tdm_kernels_join(struct tdm_scan *scan, const struct tdm_settings *settings);

#define TDM_MISMATCH_LIST(X)                                                                                      \
	X(NOBODY_PUSHES, "nobody_pushes")   /* a kernel waits on a buffer that no kernel of the program pushes */ \
	X(NOT_CREATED, "not_created")       /* a kernel uses an index or name that the program does not create */ \
	X(TOO_MANY_PAGES, "too_many_pages") /* more pages at once than the buffer has */                          \
	X(NOT_BOUND, "not_bound")           /* a kernel uses dfb::name, and the host binds no buffer to the name */

enum tdm_mismatch_kind {
#define X(id, name) TDM_MISMATCH_##id,
	TDM_MISMATCH_LIST(X)
#undef X
		TDM_MISMATCH_KINDS
};
const char *tdm_mismatch_name(enum tdm_mismatch_kind kind);

struct tdm_mismatch {
	uint8_t kind;          /* enum tdm_mismatch_kind */
	uint32_t file, kernel; /* the host's file, and the kernel in its list */
	const struct tdm_kernel_use *use;
	const struct tdm_scan_buffer *buffer; /* of TOO_MANY_PAGES and NOBODY_PUSHES; else NULL */
	uint64_t pages;                       /* TOO_MANY_PAGES: those of the buffer; else unknown */
};

/* How much of one kernel was compared with its host. */
struct tdm_kernel_verdict {
	uint32_t judged, unjudged; /* checks: one for each operation and kind of mismatch that it can have */
	uint16_t reasons;          /* bits of enum tdm_unjudged, also why operations may be missing */
};

/* Zeroed to begin with. */
struct tdm_mismatches {
	struct tdm_mismatch *list; /* owned; one for each buffer of a program and kind, and the first operation on it */
	size_t count, cap;
	struct tdm_kernel_verdict *verdicts; /* owned; for each kernel, in the order of files and their kernels */
	size_t verdict_count;
	uint64_t judged[TDM_MISMATCH_KINDS]; /* uses that were judged, right or wrong */
	uint64_t unjudged[TDM_MISMATCH_KINDS][TDM_UNJUDGED_COUNT];
};

/* Compares host and kernels after tdm_kernels_join(). 0 or -ENOMEM. */
int tdm_kernels_match(const struct tdm_scan *scan, struct tdm_mismatches *mismatches);
void tdm_mismatches_done(struct tdm_mismatches *mismatches);

/* How many operations of an action a file has. */
uint32_t tdm_kernel_op_count(const struct tdm_kernel_code *code, enum tdm_kernel_action action);

#endif
