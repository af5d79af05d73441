/*
 * Finds the buffers that programs create on the accelerator, in their C++ and Python sources.
 *
 *     paths ─▶ files ─▶ a quick look at each (lexer.h) ─▶ syntax tree ─▶ walk of each function ─▶ buffers, kernels
 *
 * A scan is a list of files in the order of their paths. Each file has a list of the buffers that its code creates (one
 * for each creating call, none for a helper's body), of the kernels that its code starts, and of the places in its text
 * that create something, which also state how far they were understood. All this belongs to the file's arena and does
 * not change after tdm_scan_run(). Strings are null-terminated, and never NULL unless a comment says so.
 *
 * Sizes are in bytes, TDM_BYTES_UNKNOWN if unknown. Several threads scan, each working on its own file.
 */
#ifndef TDM_SCAN_SCAN_H
#define TDM_SCAN_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/kind.h"
#include "base/term.h"
#include "base/units.h"
#include "base/arena.h"
#include "scan/interp/expr.h"

/* How a buffer's size is determined. Each enum has a table of names. */
enum tdm_strategy {
	TDM_STRATEGY_FIXED,          /* the same number of pages for every workload */
	TDM_STRATEGY_ADAPTIVE,       /* chosen from several sizes, or kept below a limit */
	TDM_STRATEGY_DATA_DEPENDENT, /* grows with the program's input */
	TDM_STRATEGY_UNKNOWN,        /* the size could not be determined */
	TDM_STRATEGY_COUNT
};
extern const char *const tdm_strategy_names[];

/* How far a place in the text was understood. */
enum tdm_grasp {
	TDM_GRASP_WHOLLY, /* index or name, format, page size and total size are all known, as values or expressions */
	TDM_GRASP_PARTLY, /* at least one of these is missing */
	TDM_GRASP_NOT,    /* the place led to no buffer */
	TDM_GRASP_COUNT
};
extern const char *const tdm_grasp_names[];

/* The forms of code that create buffers. A buffer's shape is the form of the code at its place in the text. */
enum tdm_shape {
	TDM_SHAPE_CB_DESCRIPTOR,
	TDM_SHAPE_CB_CONFIG,
	TDM_SHAPE_DFB_SPEC,
	TDM_SHAPE_SCRATCHPAD_SPEC,
	TDM_SHAPE_HELPER, /* a call to a function or lambda that creates a buffer */
	TDM_SHAPE_PYTHON_DESCRIPTOR,
	TDM_SHAPE_PYTHON_SHARDED,
	TDM_SHAPE_COUNT
};
extern const char *const tdm_shape_names[];

/* A size, as far as the source determines it. */
struct tdm_scan_size {
	const struct tdm_expr *expr; /* NULL if the source gives no size */
	const char *text;            /* the expression in its unknowns; "" if the source gives no size */
	uint64_t bytes;              /* TDM_BYTES_UNKNOWN if it cannot be computed */
	uint64_t min, max;           /* smallest and largest possible size; TDM_BYTES_UNKNOWN if unbounded */
	const char *reason;          /* why `bytes` is unknown; NULL if known */
};

/* A branch of an `if` that contains a buffer. Buffers in different branches of one `if` never exist together. */
struct tdm_scan_branch {
	const struct tdm_scan_branch *outer; /* NULL for the outermost branch */
	uint32_t id;                         /* id of the `if`, unique in its file */
	uint32_t way;                        /* 0 if the condition is true, 1 if false */
	const char *condition;               /* the condition as written */
	/* the condition that holds in this branch; NULL if the reader does not keep conditions */
	const struct tdm_expr *test;
};

/* A function that creates buffers: budgets are per program. */
struct tdm_scan_program {
	const char *name; /* "UpdateCacheMultiCoreProgramFactory::create_descriptor" */
	uint32_t line;
};

struct tdm_scan_buffer {
	uint32_t file;          /* index in the scan's list */
	uint32_t line;          /* line of the call that creates it, from 1 */
	uint32_t defined_line;  /* line of the object that describes it, else `line` */
	uint8_t kind;           /* enum tdm_kind: CB, DFB or SCRATCHPAD */
	uint8_t shape;          /* enum tdm_shape */
	uint8_t strategy;       /* enum tdm_strategy */
	uint8_t grasp;          /* enum tdm_grasp: WHOLLY or PARTLY */
	bool is_view;           /* the buffer has no bytes of its own */
	bool may_be_view;       /* depends at run time on `view_of` */
	bool in_loop;           /* the call is in a loop, so there may be several buffers */
	int32_t index;          /* index of the circular buffer; -1 if unknown or named */
	int32_t also_index;     /* a second index for the same memory; -1 if there is none */
	const char *index_text; /* the index as an expression; "" if there is none */
	const char
		/* name of the dataflow buffer or scratchpad, else of the variable that describes the buffer; "" if
		 * unknown */
		*name;
	const char *format; /* "Float16_b", or an expression if unknown; "" if the source gives none */
	const struct tdm_data_format *data_format; /* NULL if unknown */
	struct tdm_scan_size page, total;
	const char *cores;           /* the cores as written; "" if the source gives none */
	const char *view_of;         /* the underlying buffer, as written; "" if the buffer is not a view */
	const char *strategy_reason; /* a sentence without a full stop */
	const char *missing;         /* parts not understood: "format, page size"; "" if nothing is missing */
	const char *helper;          /* the function that creates the buffer for its caller; "" if there is none */
	const struct tdm_scan_branch *branch; /* NULL outside any branch */
	uint32_t program;                     /* index in the file's list */
	const struct tdm_expr *object;        /* the descriptor, as far as it was understood */
};

/* What a kernel does with a buffer's pages. */
enum tdm_kernel_action { TDM_KERNEL_WAIT, TDM_KERNEL_RESERVE, TDM_KERNEL_PUSH, TDM_KERNEL_POP, TDM_KERNEL_ACTIONS };
extern const char *const tdm_kernel_action_names[];

/*
 * An operation on a buffer: in a file of device code, as written; in a kernel, with the host's arguments substituted.
 */
struct tdm_kernel_use {
	uint8_t action;      /* enum tdm_kernel_action */
	bool is_conditional; /* may never happen: the condition is unknown, or the function may not be called */
	bool in_loop;
	bool in_main; /* in the kernel's main function, whose parameters are the host's arguments, by name */
	uint32_t file, line;
	const struct tdm_expr *buffer, *pages; /* never NULL */
	const struct tdm_expr *condition;      /* condition of the surrounding branches; NULL outside any branch */
	/* ---- set only for kernels */
	int32_t index;                /* index of the circular buffer; -1 if unknown or named */
	const char *name;             /* name of the dataflow buffer bound to dfb::x, else "dfb::x"; "" for others */
	int64_t pages_min, pages_max; /* INT64_MIN, INT64_MAX if unknown */
};

/*
 * The contents of a file of device code. `complexity` is the cyclomatic number of the file: 1 for each function or
 * lambda, plus 1 for each decision: if, for, while, do, case, catch, ?:, && and ||. Preprocessor branches are not
 * decisions. `code_lines` counts lines that contain more than blanks and comments.
 */
struct tdm_kernel_code {
	struct tdm_kernel_use *uses; /* in text order */
	size_t use_count, use_cap;
	/* the file defines kernel_main(), MAIN in a namespace NAMESPACE, or a function marked TT_KERNEL */
	bool has_main;
	bool has_certain_use; /* the file contains an operation that only buffers have */
	uint32_t lines, code_lines;
	uint32_t complexity;
	uint32_t max_complexity; /* highest complexity of a single function */
};

/* A kernel that host code creates. tdm_kernels_join() sets the members below the line. */
struct tdm_scan_kernel {
	uint32_t file, line;
	uint32_t
		/* line of the object that describes it, in a lambda or helper in the same file; else `line` */
		defined_line;
	uint32_t program;
	const char *name;                   /* unique_id of a KernelSpec; "" if there is none */
	const char *source;                 /* path of the source: "a.cpp", or an expression */
	const struct tdm_expr *source_expr; /* a STRING if the path is known */
	const char *cores;
	const struct tdm_expr *object; /* KernelSpec, KernelDescriptor, or CreateKernel with source, cores and config */
	const struct tdm_scan_branch *branch;
	/* ---- set from the kernel's own source */
	uint32_t source_file; /* index in the scan's list plus 1; 0 if not found, or if there are several */
	uint32_t *sources;    /* indices in the scan's list: one, or several for a choice */
	uint32_t source_count;
	const struct tdm_kernel_code *code; /* NULL if the source was not found, or if there are several */
	struct tdm_kernel_use *uses;        /* operations in all sources */
	size_t use_count, use_cap;
};

/* A place in the text that creates a buffer. C++ places are found without the syntax tree. */
struct tdm_scan_place {
	uint32_t byte; /* byte offset of the name in the text */
	uint32_t line;
	uint8_t shape;       /* enum tdm_shape */
	uint8_t grasp;       /* enum tdm_grasp */
	bool is_helper_body; /* the place is in a helper; the entries belong to the helper's callers */
	const char *why;     /* why the place was not fully understood; "" if it was */
};

/* The outcome of reading a file. */
enum tdm_file_state {
	TDM_FILE_WHOLE,   /* parsed without errors */
	TDM_FILE_PARTIAL, /* some parts did not parse */
	TDM_FILE_SKIPPED, /* contains none of the names that matter */
	TDM_FILE_REFUSED, /* unreadable, too large or binary */
	TDM_FILE_STATE_COUNT
};
extern const char *const tdm_file_state_names[];

struct tdm_scan_file {
	const char *path;    /* the user's argument, followed by the path below it */
	uint8_t state;       /* enum tdm_file_state */
	uint8_t language;    /* enum tdm_language */
	const char *why;     /* why the state is partial or refused, else "" */
	uint32_t error_line; /* the first line with a parse error, else 0 */
	uint64_t bytes;
	bool has_host;        /* contains a name that creates a buffer or a kernel */
	bool has_device;      /* contains a name used in device code */
	bool is_given;        /* the file can be read only once; its text is in `given` */
	struct tdm_buf given; /* text of standard input or a pipe */
	struct tdm_scan_program *programs;
	size_t program_count, program_cap;
	uint32_t program_line_max;       /* the highest line of any program so far: a program beyond that line is new */
	struct tdm_scan_buffer *buffers; /* in line order */
	size_t buffer_count, buffer_cap;
	struct tdm_scan_kernel *kernels;
	size_t kernel_count, kernel_cap;
	struct tdm_scan_place *places; /* in text order */
	size_t place_count, place_cap;
	struct tdm_kernel_code *code; /* NULL if the file is not device code */
	struct tdm_arena arena;
};

/* A path that could not be walked or read, and the reason. */
struct tdm_scan_refusal {
	const char *path;
	const char *why;
};

struct tdm_scan_options {
	const struct tdm_settings *settings; /* may be NULL */
	unsigned threads;                    /* 0 means one thread per processor */
	bool no_skip;                        /* parse every file, even without relevant names */
	uint64_t file_max;                   /* larger files are not parsed; 0 for TDM_SCAN_FILE_MAX */
	uint64_t parse_micros;               /* time limit for parsing a file; 0 for a limit based on its length */
	struct tdm_progress *progress;       /* may be NULL; progress is counted in bytes */
};

/* Files above the first limit are not parsed. Files above the second are not even read to count their places. */
#define TDM_SCAN_FILE_MAX  (UINT64_C(8) << 20)
#define TDM_SCAN_COUNT_MAX (UINT64_C(64) << 20)

struct tdm_scan {
	struct tdm_scan_file *files; /* ordered by path */
	size_t file_count, file_cap;
	struct tdm_scan_refusal *refusals;
	size_t refusal_count, refusal_cap;
	struct tdm_arena arena; /* paths and reasons */
};

/* Whether a file is a source file, judging by its name. */
bool tdm_scan_is_source(const char *path);

/*
 * Scans files and folders. Returns 0 and fills *scan, even if some files could not be read (they are listed). Returns
 * -errno with `diag` set if a path in `paths` itself cannot be read. Each folder is entered only once, even through
 * links. "-" is standard input; standard input and other named paths that are not regular files are read at once, and
 * their text is kept.
 */
int tdm_scan_run(struct tdm_scan *scan, const char *const *paths, size_t path_count,
	const struct tdm_scan_options *options, struct tdm_diag *diag);
void tdm_scan_done(struct tdm_scan *scan);

/* Scans one text as if it were a file outside any project, for tests and fuzzing. */
void tdm_scan_text(
	struct tdm_scan *scan, const char *path, struct tdm_str text, const struct tdm_scan_options *options);

/*
 * Finds the source file of every kernel that the host creates, and the operations on buffers in it. Call once after
 * tdm_scan_run().
 */
void tdm_kernels_join(struct tdm_scan *scan, const struct tdm_settings *settings);

/* The bytes that a buffer adds to the L1 of a core: 0 for a view; TDM_BYTES_UNKNOWN if the size is unknown. */
static inline uint64_t tdm_scan_own_bytes(const struct tdm_scan_buffer *buffer)
{
	return buffer->is_view ? 0 : buffer->total.bytes;
}

#endif
