/*
 * Source code to buffers: what programs for the accelerator create, found in their C++ (and Python) sources.
 *
 *     paths ─▶ files ─▶ a cheap look at each (place.h) ─▶ syntax tree ─▶ walk of each function ─▶ buffers, kernels
 *
 * A scan is a list of files in the order of their paths. Each has the buffers that its code creates (one for each call
 * that creates one, none for the body of a helper), the kernels that it starts, and the places in its text that create
 * something, with how far each was understood. Everything that a file holds lies in its arena and is immutable once
 * tdm_scan_run() has returned; texts are terminated and never NULL unless their comment says so.
 *
 * Sizes are in bytes, and unknown is TDM_BYTES_UNKNOWN. Files are scanned by several threads; each file by one.
 */
#ifndef TDM_SCAN_SCAN_H
#define TDM_SCAN_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/kind.h"
#include "base/progress.h"
#include "base/units.h"
#include "scan/arena.h"
#include "scan/expr.h"

/* How a buffer's size comes about. */
#define TDM_STRATEGY_LIST(X)                                                         \
	X(FIXED, "fixed", "the same number of pages whatever the work is")           \
	X(ADAPTIVE, "adaptive", "chosen among several sizes, or kept below a limit") \
	X(DATA_DEPENDENT, "data-dependent", "grows with what the program is given")  \
	X(UNKNOWN, "unknown", "the size could not be read")

enum tdm_strategy {
#define X(id, name, summary) TDM_STRATEGY_##id,
	TDM_STRATEGY_LIST(X)
#undef X
		TDM_STRATEGY_COUNT
};
const char *tdm_strategy_name(enum tdm_strategy strategy);

/* How far a place in the text was understood. */
enum tdm_grasp {
	TDM_GRASP_WHOLLY, /* index or name, format, page size and total size, each as a value or an expression */
	TDM_GRASP_PARTLY, /* at least one of them is missing */
	TDM_GRASP_NOT,    /* no buffer came of it */
	TDM_GRASP_COUNT
};
const char *tdm_grasp_name(enum tdm_grasp grasp); /* "wholly", "partly", "not" */

/* The shapes in which buffers are created. A place has one of these; a buffer has that of its place. */
#define TDM_SHAPE_LIST(X)                                                         \
	X(CB_DESCRIPTOR, "CBDescriptor")                                          \
	X(CB_CONFIG, "CircularBufferConfig")                                      \
	X(DFB_SPEC, "DataflowBufferSpec")                                         \
	X(SCRATCHPAD_SPEC, "ScratchpadSpec")                                      \
	X(HELPER, "helper") /* a call of a function or lambda that creates one */ \
	X(PYTHON_DESCRIPTOR, "ttnn.CBDescriptor")                                 \
	X(PYTHON_SHARDED, "cb_descriptor_from_sharded_tensor")

enum tdm_shape {
#define X(id, name) TDM_SHAPE_##id,
	TDM_SHAPE_LIST(X)
#undef X
		TDM_SHAPE_COUNT
};
const char *tdm_shape_name(enum tdm_shape shape);

/* A size, as far as it is known. */
struct tdm_scan_size {
	const struct tdm_expr *expr; /* NULL when the source says nothing */
	const char *text;            /* of `expr`, in its unknowns; "" when the source says nothing */
	uint64_t bytes;              /* unknown where it cannot be computed */
	uint64_t min, max;           /* bounds; unknown where there is none */
	const char *reason;          /* why `bytes` is unknown; NULL when it is known */
};

/* A branch of an `if` that a buffer is in. Buffers in different branches of one `if` never exist together. */
struct tdm_scan_branch {
	const struct tdm_scan_branch *outer; /* NULL: the outermost */
	uint32_t id;                         /* of the `if`, unique in its file */
	uint32_t way;                        /* 0: its condition is true; 1: false */
	const char *condition;               /* as it is written */
};

/* A function that creates buffers: the unit for which budgets are added up. */
struct tdm_scan_program {
	const char *name; /* "UpdateCacheMultiCoreProgramFactory::create_descriptor" */
	uint32_t line;
	bool calls_creator; /* it calls functions that may create more and were not followed */
};

struct tdm_scan_buffer {
	uint32_t file;          /* in the scan's list */
	uint32_t line;          /* of the call that creates it, from 1 */
	uint32_t defined_line;  /* of the object that describes it; the same where there is no other */
	uint8_t kind;           /* enum tdm_kind: CB, DFB or SCRATCHPAD */
	uint8_t shape;          /* enum tdm_shape */
	uint8_t strategy;       /* enum tdm_strategy */
	uint8_t grasp;          /* enum tdm_grasp: WHOLLY or PARTLY */
	bool is_view;           /* it has no bytes of its own */
	bool may_be_view;       /* whether it is one is decided when the program runs: `view_of` says how */
	bool in_loop;           /* the call is in a loop: there may be several */
	int32_t index;          /* of the circular buffer; -1 when unknown or named */
	int32_t also_index;     /* a second index on the same memory; -1 when there is none */
	const char *index_text; /* the index as an expression; "" when there is none */
	const char
		*name; /* of a dataflow buffer or scratchpad, else of the variable that describes it; "" when unknown */
	const char *format; /* "Float16_b"; the expression where it is unknown; "" when the source has none */
	const struct tdm_data_format *data_format; /* NULL when unknown */
	struct tdm_scan_size page, total;
	const char *cores;           /* as written; "" when the source has none */
	const char *view_of;         /* what it is a view of, as written; "" when it is no view */
	const char *strategy_reason; /* a sentence without its full stop */
	const char *missing;         /* what was not understood: "format, page size"; "" when nothing is missing */
	const char *helper;          /* the function through which it is created; "" when there is none */
	const struct tdm_scan_branch *branch; /* NULL: always */
	uint32_t program;                     /* in its file's list */
	const struct tdm_expr *object;        /* the descriptor as it was understood, for further questions */
};

/* A kernel that the host code creates. kernel_*.c fill what is below the line. */
struct tdm_scan_kernel {
	uint32_t file, line;
	uint32_t defined_line; /* of the object that describes it, in a lambda or helper of the same file; else the same
				*/
	uint32_t program;
	const char *name;                   /* unique_id of a KernelSpec; "" when it has none */
	const char *source;                 /* the path, as far as it is known: "a.cpp" or an expression */
	const struct tdm_expr *source_expr; /* a STRING when the path is known wholly */
	const char *cores;
	const struct tdm_expr *
		object; /* an OBJECT: KernelSpec, KernelDescriptor, or CreateKernel with fields source, cores, config */
	const struct tdm_scan_branch *branch;
	/* ---- what the kernel's own source says; zero until kernels are resolved */
	uint32_t source_file; /* in the scan's list plus 1; 0: not found, or one of several */
	uint32_t *sources;    /* the files that were found, in the scan's list: one, or those of a choice */
	uint32_t source_count;
	const struct tdm_kernel_code *code; /* owned by the kernel side; NULL when not found */
	const struct tdm_kernel_uses *uses; /* NULL when not found */
};

/* A place in the text that creates a buffer, counted without the syntax tree. */
struct tdm_scan_place {
	uint32_t byte; /* of the name, in the text */
	uint32_t line;
	uint8_t shape;       /* enum tdm_shape */
	uint8_t grasp;       /* enum tdm_grasp */
	bool is_helper_body; /* the place is in a helper: its callers have the entries */
	const char *why;     /* why it was not understood wholly; "" when it was */
};

/* What became of a file. */
#define TDM_FILE_STATE_LIST(X)                                        \
	X(WHOLE, "whole")     /* parsed without errors */             \
	X(PARTIAL, "partial") /* parts of it did not parse */         \
	X(SKIPPED, "skipped") /* has none of the names that matter */ \
	X(REFUSED, "refused") /* could not be read, is too big or binary */

enum tdm_file_state {
#define X(id, name) TDM_FILE_##id,
	TDM_FILE_STATE_LIST(X)
#undef X
		TDM_FILE_STATE_COUNT
};
const char *tdm_file_state_name(enum tdm_file_state state);

/* A file that another one includes. */
struct tdm_scan_include {
	struct tdm_str path; /* as written */
	bool is_system;      /* <...> */
};

struct tdm_scan_file {
	const char *path;    /* as the user would write it: the argument and what is below it */
	uint8_t state;       /* enum tdm_file_state */
	uint8_t language;    /* enum tdm_language */
	const char *why;     /* why it is partial or refused; "" */
	uint32_t error_line; /* the first line that does not parse; 0 */
	uint64_t bytes;
	bool is_given;        /* it can be read only once, and its text is `given` */
	struct tdm_buf given; /* of standard input or a pipe; gone with the scan */
	struct tdm_scan_program *programs;
	size_t program_count, program_cap;
	uint32_t program_line_max;       /* of the programs so far: one below is new */
	struct tdm_scan_buffer *buffers; /* in the order of their lines */
	size_t buffer_count, buffer_cap;
	struct tdm_scan_kernel *kernels;
	size_t kernel_count, kernel_cap;
	uint32_t unread_kernel_line; /* the first line that seems to create a kernel and gave none; 0: there is none */
	struct tdm_scan_place *places; /* in the order of the text */
	size_t place_count, place_cap;
	const struct tdm_kernel_code *code; /* what the kernel side found in it; NULL when it is no kernel */
	struct tdm_scan_include *includes;  /* in the order of the text */
	size_t include_count;
	struct tdm_arena arena;
};

/* Paths that could not be walked or read, with the reason. */
struct tdm_scan_refusal {
	const char *path;
	const char *why;
};

struct tdm_scan_options {
	const struct tdm_settings *settings; /* may be NULL */
	unsigned threads;                    /* 0: as many as there are processors */
	bool no_skip;                        /* parse every file, also those without any of the names that matter */
	uint64_t file_max;                   /* files above so many bytes are not parsed; 0: TDM_SCAN_FILE_MAX */
	uint64_t parse_micros;               /* how long parsing a text may take; 0: by its length (syntax.h) */
	struct tdm_progress *progress;       /* may be NULL; counted in bytes */
};

/* The most bytes of a file that is parsed, and of one whose places are counted at all. */
#define TDM_SCAN_FILE_MAX  (UINT64_C(8) << 20)
#define TDM_SCAN_COUNT_MAX (UINT64_C(64) << 20)

struct tdm_scan {
	struct tdm_scan_file *files; /* ordered by path */
	size_t file_count, file_cap;
	struct tdm_scan_refusal *refusals;
	size_t refusal_count, refusal_cap;
	struct tdm_arena arena; /* paths and reasons */
};

/*
 * Scans files and folders. 0 with *scan filled, also when some files could not be read (they are listed); -ENOMEM; or
 * -errno of a path of the list itself, with `diag`. Folders are walked without following links to folders twice. "-" is
 * standard input; it and other paths of the list that are no regular files are read at once and kept.
 */
int tdm_scan_run(struct tdm_scan *scan, const char *const *paths, size_t path_count,
	const struct tdm_scan_options *options, struct tdm_diag *diag);
void tdm_scan_done(struct tdm_scan *scan);

/* Scans one text as if it were a file, with no project around it: for tests and fuzzing. */
int tdm_scan_text(struct tdm_scan *scan, const char *path, struct tdm_str text, const struct tdm_scan_options *options);

/* Whether two buffers of one file never exist together: they are in different branches of one `if`. */
bool tdm_scan_is_either_or(const struct tdm_scan_branch *a, const struct tdm_scan_branch *b);

/* What a buffer adds to the L1 of a core: 0 for a view, unknown where its size is. */
static inline uint64_t tdm_scan_own_bytes(const struct tdm_scan_buffer *buffer)
{
	return buffer->is_view ? 0 : buffer->total.bytes;
}

#endif
