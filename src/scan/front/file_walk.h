/*
 * The state of a file while it is being scanned. A language reader receives a walk containing the syntax tree, and adds
 * buffers, kernels and programs to the file.
 */
#ifndef TDM_SCAN_FILE_WALK_H
#define TDM_SCAN_FILE_WALK_H

#include "scan/front/syntax.h"
#include "scan/scan.h"

struct tdm_project;

struct tdm_file_walk {
	struct tdm_scan_file *file;
	uint32_t file_idx;
	const struct tdm_syntax *syntax;     /* tree of the file's text; freed after the readers are done */
	const struct tdm_settings *settings; /* may be NULL */
	struct tdm_project *project;         /* helpers and constants from all files */
	struct tdm_parser *parser;           /* parser for pieces of other files */
	uint32_t *line_starts;               /* byte offset of each line */
	size_t line_count, line_cap;
	const bool *is_in_if; /* lines inside an #if removed from the text; NULL if there are none */
	bool is_cut;          /* a function was too large to be walked completely */
};

/* Fills the table of lines; its memory is reused for the next file. */
void tdm_walk_find_lines(struct tdm_file_walk *walk, struct tdm_str text);

/* The line number of a byte, from 1. */
uint32_t tdm_walk_line(const struct tdm_file_walk *walk, uint32_t byte);
static inline uint32_t tdm_walk_node_line(const struct tdm_file_walk *walk, uint32_t node)
{
	return tdm_walk_line(walk, walk->syntax->nodes[node].start);
}

/* A reader's findings about a buffer. An expression is NULL if the source lacks that expression. */
struct tdm_buffer_facts {
	uint8_t kind, shape; /* enum tdm_kind, enum tdm_shape */
	uint32_t line, defined_line;
	const struct tdm_expr *index, *also_index, *name, *format, *page, *total;
	const struct tdm_expr *cores;
	const struct tdm_expr *view_of; /* NULL if the buffer has bytes of its own */
	struct tdm_str helper;          /* name of the helper; may be empty */
	struct tdm_str variable;        /* variable that describes the buffer; may be empty */
	bool in_loop;
	const struct tdm_scan_branch *branch;
	uint32_t program;
	const struct tdm_expr *object; /* may be NULL */
	const char *also_missing;      /* other parts not understood, in words; NULL if there are none */
	bool format_is_optional;       /* scratchpads, and dataflow buffers that only move data, need no format */
};

/* Adds a buffer: evaluates its sizes, determines its strategy, and judges how far the buffer was understood. */
const struct tdm_scan_buffer *tdm_walk_add_buffer(struct tdm_file_walk *walk, const struct tdm_buffer_facts *facts);

/* Adds a program, or finds the existing one with this name and line. Returns its index in the file's list. */
uint32_t tdm_walk_add_program(struct tdm_file_walk *walk, struct tdm_str name, uint32_t line);

/*
 * Completes the places in a file after reading. Each place gets its line. A place that led to no buffer gets a reason:
 * `why` or, if that is NULL, a suitable one. Calls to functions that create nothing themselves are removed.
 */
void tdm_walk_settle(struct tdm_file_walk *walk, struct tdm_str text, const char *why);

/* The readers. They return 0, or -EFBIG if the file is too complex. */
int tdm_cpp_read(struct tdm_file_walk *walk);    /* cpp/: host and device code; sets file->code */
int tdm_python_read(struct tdm_file_walk *walk); /* python/ */

#endif
