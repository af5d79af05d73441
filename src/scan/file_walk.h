/*
 * One file while it is scanned, and what is found in it. Readers of a language (host_*.c for C++, python_*.c,
 * kernel_*.c for the device's side) get one of these with the syntax tree, and add buffers, kernels and programs to the
 * file.
 */
#ifndef TDM_SCAN_FILE_WALK_H
#define TDM_SCAN_FILE_WALK_H

#include "scan/scan.h"
#include "scan/syntax.h"

struct tdm_project;
struct tdm_tokens;

struct tdm_file_walk {
	struct tdm_scan_file *file;
	uint32_t file_idx;
	const struct tdm_syntax *syntax;     /* whose text is the file's; gone when the readers are done */
	const struct tdm_settings *settings; /* may be NULL */
	struct tdm_project *project;         /* helpers and constants of all files; NULL when there is only this one */
	struct tdm_parser *parser;           /* for pieces of other files */
	const struct tdm_tokens *tokens;     /* of the text; NULL for Python */
	const uint32_t *line_starts;         /* byte of each line */
	uint32_t line_count;
	bool is_cut; /* a function creates or computes more than is followed */
};

/* The line of a byte, from 1. */
uint32_t tdm_walk_line(const struct tdm_file_walk *walk, uint32_t byte);
static inline uint32_t tdm_walk_node_line(const struct tdm_file_walk *walk, uint32_t node)
{
	return tdm_walk_line(walk, walk->syntax->nodes[node].start);
}

/* What a reader knows about a buffer. Expressions may be NULL: the source does not say. */
struct tdm_buffer_facts {
	uint8_t kind, shape; /* enum tdm_kind, enum tdm_shape */
	uint32_t line, defined_line;
	const struct tdm_expr *index, *also_index, *name, *format, *page, *total;
	const struct tdm_expr *cores;
	const struct tdm_expr *view_of; /* NULL: it has bytes of its own */
	struct tdm_str helper;          /* may be empty */
	struct tdm_str variable;        /* the variable that describes it; may be empty */
	bool in_loop;
	const struct tdm_scan_branch *branch;
	uint32_t program;
	const struct tdm_expr *object; /* may be NULL */
	const char *also_missing;      /* what else was not understood; NULL when nothing */
	bool format_is_optional;       /* a scratchpad, or a dataflow buffer that only moves data, needs none */
};

/* Adds a buffer: evaluates its sizes, judges its strategy and how far it was understood. 0 or -ENOMEM. */
int tdm_walk_add_buffer(struct tdm_file_walk *walk, const struct tdm_buffer_facts *facts);

/* Adds a program, or finds the one with that name and line; *program is its place in the file's list. 0 or -ENOMEM. */
int tdm_walk_add_program(struct tdm_file_walk *walk, struct tdm_str name, uint32_t line, uint32_t *program);

/* Adds a kernel, which is copied. 0 or -ENOMEM. */
int tdm_walk_add_kernel(struct tdm_file_walk *walk, const struct tdm_scan_kernel *kernel);

/* The readers. 0 or -ENOMEM. */
int tdm_host_walk(struct tdm_file_walk *walk);   /* host_walk.c: C++ of the host */
int tdm_python_read(struct tdm_file_walk *walk); /* python_read.c */
int tdm_kernel_read(struct tdm_file_walk *walk); /* kernel_read.c: C++ of the device; sets file->code */
/* kernel_includes.c: what a text includes, which needs no syntax tree. 0 or -ENOMEM. */
int tdm_kernel_read_includes(struct tdm_scan_file *file, struct tdm_str text);
/* kernel_places.c: after the host's side was read, looks for lines that create kernels and gave none. 0 or -ENOMEM. */
int tdm_kernel_check_places(struct tdm_file_walk *walk);

#endif
