/*
 * The result of a command: blocks in reading order. Analysers fill it once, and one writer for each output form shows
 * it (view/write/). A writer knows the types of blocks and values, but no particular command, analyser or block.
 *
 * 	struct tdm_result *result = tdm_result_new();
 * 	struct tdm_block *top = &result->top;
 * 	tdm_line(top, "Requests", "{file}: {requests/request/requests}",
 * 		TDM_VALUES({ "file", tdm_value_text(path) }, { "requests", tdm_value_count(n) }));
 * 	struct tdm_table *spaces = tdm_add_table(top, "spaces", "Per bank", TDM_TABLE_OF(columns, rows, count));
 *
 * Everything passed to a result (strings, rows, tables) is borrowed until the result is freed, except where a function
 * is documented to copy. tdm_result_keep() makes the result own data made for it. Keys and patterns are static.
 *
 * A value whose key begins with an underscore is only for its sentence, not for JSON.
 *
 * A group is shown under its title in text, and is an object under its key in JSON. Lines are labelled lines in text,
 * and members in JSON. Content for one form only is marked: tdm_data() is for JSON alone, and so are columns without a
 * title; a column or block without a key is for readers alone.
 */
#ifndef TDM_MODEL_RESULT_H
#define TDM_MODEL_RESULT_H

#include "base/arena.h"
#include "base/memory.h"
#include "base/term.h"
#include "base/value.h"
#include "model/card/bank.h"
#include "model/result/finding.h"
#include "model/result/columns.h"

enum tdm_block_type {
	TDM_BLOCK_GROUP, /* blocks under a title */
	TDM_BLOCK_LIST,  /* groups with the same members: an array in JSON */
	TDM_BLOCK_LINE,  /* facts: labels, and sentences with named values */
	TDM_BLOCK_TABLE,
	TDM_BLOCK_CHART, /* a table, drawn as one series over its rows for each column with a title */
	TDM_BLOCK_FINDINGS,
	TDM_BLOCK_WRITTEN, /* output in this form, already written; in text, under a title across the page */
	TDM_BLOCK_L1_MAP,  /* a drawing of a core's L1, for readers only: a separate table serves JSON */
	TDM_BLOCK_DRAWING, /* lines for readers only, which a function draws */
	TDM_BLOCK_NOTE,    /* something that was not read, was not seen, or was assumed */
};

/* A line without a label continues the line above; a line with neither label nor pattern is for JSON only. */
struct tdm_line {
	const char *label;
	const char *pattern;
	struct tdm_named *values;
	size_t count;
	uint8_t level; /* enum tdm_level */
};

struct tdm_block {
	uint8_t type; /* enum tdm_block_type */
	bool is_text_only, is_data_only;
	/* in text: is_apart adds a blank line before it; is_close omits the blank line before a table */
	bool is_apart, is_close;
	bool is_quiet;     /* in text: a group or list without its own heading and indentation */
	const char *key;   /* its name in JSON; NULL: a group's members belong to the enclosing block */
	const char *title; /* NULL if there is none */
	struct tdm_result *result;
	struct tdm_block *next;
	struct tdm_block *first, *last; /* blocks of a group or list */
	void (*draw)(const void *drawn, const struct tdm_term *term, size_t indent, struct tdm_buf *out);
	union {
		struct tdm_line line; /* for a line or a note; a note's key names its subject */
		struct tdm_table table;
		const struct tdm_l1_map *l1_map;
		const void *drawn; /* passed to draw() */
		const struct tdm_buf *written;
		struct tdm_shown_findings {
			struct tdm_findings list; /* owned, unless it is borrowed */
			bool is_borrowed;
			size_t limit;     /* maximum number of findings of each severity shown in text; 0: all */
			const char *rest; /* how to see the other findings: "--all lists them" */
			bool shows_fine;  /* also show findings that report no problem */
			bool is_headed;   /* the title of its group already names the subject */
			bool is_whole;    /* show tables of evidence row by row, as for call stacks */
		} findings;
	};
};

struct tdm_result {
	struct tdm_block top; /* the outermost group */
	struct tdm_arena arena;
	struct tdm_kept {
		void *data;
		void (*release)(void *data);
	} * kept;
	size_t kept_count, kept_cap;
};

struct tdm_result *tdm_result_new(void);
void tdm_result_free(struct tdm_result *result); /* NULL is allowed */

/* When the result is freed, it calls release(data); the latest data is released first. */
void tdm_result_keep(struct tdm_result *result, void *data, void (*release)(void *data));

/* ---- blocks ---- */

struct tdm_block *tdm_add_group(struct tdm_block *in, const char *key, const char *title);
struct tdm_block *tdm_add_list(struct tdm_block *in, const char *key, const char *title);

/* A labelled line, whose values are members in JSON. `values` ends with a NULL key (TDM_VALUES) and is copied. */
struct tdm_block *tdm_line(
	struct tdm_block *in, const char *label, const char *pattern, const struct tdm_named *values);
/* Like tdm_line(), with a single value. */
struct tdm_block *tdm_fact(struct tdm_block *in, const char *label, const char *key, struct tdm_value value);
/* Adds members for JSON only. */
void tdm_data(struct tdm_block *in, const char *key, struct tdm_value value);
void tdm_data_all(struct tdm_block *in, const struct tdm_named *values);
/* Adds a sentence for readers only, on its own lines. */
struct tdm_block *tdm_say(struct tdm_block *in, const char *pattern, const struct tdm_named *values);

/* Adds a labelled line for readers only, shown as a warning: the output so far is incomplete. */
struct tdm_block *tdm_warn(
	struct tdm_block *in, const char *label, const char *pattern, const struct tdm_named *values);

/* Adds a table; the structure is copied, and its rows are borrowed. */
struct tdm_block *tdm_add_table(struct tdm_block *in, const char *key, const char *title, struct tdm_table table);
struct tdm_block *tdm_add_chart(struct tdm_block *in, const char *key, const char *title, struct tdm_table table);

/* Adds a drawing of a core's L1, whose data is borrowed. */
struct tdm_block *tdm_add_l1_map(struct tdm_block *in, const char *title, const struct tdm_l1_map *map);
void tdm_add_drawing(struct tdm_block *in,
	void (*draw)(const void *of, const struct tdm_term *term, size_t indent, struct tdm_buf *out), const void *of);

/* Adds borrowed output in the writer's form: text, or the members of an object. */
struct tdm_block *tdm_add_written(struct tdm_block *in, const char *title, const struct tdm_buf *written);

/* Moves the findings into the result, without sorting them. */
struct tdm_block *tdm_add_findings(
	struct tdm_block *in, const char *key, const char *title, struct tdm_findings *findings);

/* Like tdm_add_findings(), but borrows the findings. */
struct tdm_block *tdm_show_findings(
	struct tdm_block *in, const char *key, const char *title, const struct tdm_findings *findings);

/* Adds findings that only reports collecting all findings use: the surrounding blocks show them in their own way. The
 * findings are borrowed. */
void tdm_count_findings(struct tdm_block *in, const struct tdm_findings *findings);

/* Notes come last in text; JSON has them in "notes". */
struct tdm_block *tdm_note(struct tdm_block *in, const char *key, const char *pattern, const struct tdm_named *values);

/* A string made for the result, which owns it. */
const char *tdm_result_printed(struct tdm_result *result, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Allocates memory that lives as long as the result. */
void *tdm_result_alloc(struct tdm_result *result, size_t count, size_t item);

/* Calls `take` for every findings block below `block`, except those for text only, which JSON has elsewhere. */
void tdm_result_findings(
	const struct tdm_block *block, void (*take)(const struct tdm_shown_findings *findings, void *to), void *to);

#endif
