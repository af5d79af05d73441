/*
 * The known formats of files. Each has a source file that defines its entry, and one line in the table of
 * format_table.c; nothing else has to change for a new format to be recognised. Commands take what they need from an
 * entry: events to replay or to fold, or records for an analyser.
 */
#ifndef TDM_SOURCES_FORMAT_H
#define TDM_SOURCES_FORMAT_H

#include "event/record.h"
#include "event/source.h"
#include "sources/input.h"

struct tdm_format {
	const char *name;    /* "graph_capture", in JSON */
	const char *summary; /* "graph capture", in texts */
	bool takes_folders;  /* it also reads folders */
	/* By the head of the file or by its path. NULL: by `anywhere`. */
	bool (*recognise)(struct tdm_str head, const char *path);
	/* A text that every such file has somewhere; searched for in text files of no other format. */
	const char *anywhere;
	/* Returns a source, which borrows the input; NULL when out of memory. The pointer is NULL if such files have no
	 * events. */
	struct tdm_source *(*events)(struct tdm_input *input);
	/*
	 * Pushes everything into the sink, including refusals. 0, or a negative code with diag set after pushing what
	 * came before the error. NULL: such files have no records.
	 */
	int (*records)(struct tdm_input *input, const struct tdm_record_sink *sink, struct tdm_diag *diag);
};

/* More specific formats come first; ends with NULL. */
extern const struct tdm_format *const tdm_formats[];

/* The head of the input without a UTF-8 byte order mark, for recognising formats. */
struct tdm_str tdm_format_head(struct tdm_input *input);

const struct tdm_format *tdm_format_find(const char *name); /* NULL: there is none */

/* Recognises a format by the head; NULL: unknown, as for folders and empty or unreadable input. */
const struct tdm_format *tdm_format_of(struct tdm_input *input);

/* The same, but searches the whole input if the head does not decide, and rewinds it. 0, or a negative code with diag
 * set if that is impossible. */
int tdm_format_search(struct tdm_input *input, const struct tdm_format **format, struct tdm_diag *diag);

#endif
