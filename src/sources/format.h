/*
 * The kinds of files that are known. Each has a file of its own that defines its entry, and one line in the table of
 * format_table.c; nothing else has to change for a new one to be recognised. Commands take from an entry what they
 * need: events to replay or to fold, records for an analyser.
 */
#ifndef TDM_SOURCES_FORMAT_H
#define TDM_SOURCES_FORMAT_H

#include "event/record.h"
#include "event/source.h"
#include "sources/input.h"

struct tdm_format {
	const char *name;    /* "graph_capture", in JSON */
	const char *summary; /* "graph capture", in texts */
	bool takes_folders;  /* it reads folders, too */
	/* From the head, or from the path. NULL: by `anywhere`. */
	bool (*recognise)(struct tdm_str head, const char *path);
	/* What every such file has somewhere: looked for in text that nothing else was recognised in. */
	const char *anywhere;
	/* A source, which borrows the input. NULL: there are no events in such files; or when out of memory. */
	struct tdm_source *(*events)(struct tdm_input *input);
	/*
	 * Pushes everything into the sink, refusals among it. 0, or a negative code with diag set: what came before it
	 * was pushed. NULL: there are no records.
	 */
	int (*records)(struct tdm_input *input, const struct tdm_record_sink *sink, struct tdm_diag *diag);
};

/* More particular ones first; ends with NULL. */
extern const struct tdm_format *const tdm_formats[];

/* What formats are recognised by: the head of the input without a mark of UTF-8. */
struct tdm_str tdm_format_head(struct tdm_input *input);

const struct tdm_format *tdm_format_find(const char *name); /* NULL: none of this name */

/* By the head; NULL: nothing known. Empty input, folders and what cannot be read are nothing known. */
const struct tdm_format *tdm_format_of(struct tdm_input *input);

/* The same, and the whole input is searched where the head leaves it open; it is rewound afterwards. A negative code
 * with diag set when that cannot be done. */
int tdm_format_search(struct tdm_input *input, const struct tdm_format **format, struct tdm_diag *diag);

#endif
