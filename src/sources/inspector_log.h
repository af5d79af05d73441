/*
 * Reads the files of the runtime's inspector, which is on by default: lists of records, each with a name and some
 * fields.
 *
 *     - mesh_buffer_allocated:
 *         id: 94022340
 *         address: 1048640
 *
 * They look like YAML, but values are not escaped: a kernel's source may be a path or the whole text of a kernel with
 * all its lines. So this reads line by line, and a damaged record costs that record, not the file.
 */
#ifndef TDM_SOURCES_INSPECTOR_LOG_H
#define TDM_SOURCES_INSPECTOR_LOG_H

#include "sources/input.h"

enum { TDM_INSPECTOR_FIELDS_MAX = 16 };

struct tdm_inspector_record {
	struct tdm_str name; /* all texts are borrowed until the next record is read */
	uint64_t line;
	size_t count; /* of fields */
	struct tdm_str keys[TDM_INSPECTOR_FIELDS_MAX], values[TDM_INSPECTOR_FIELDS_MAX];
};

struct tdm_inspector_reader {
	struct tdm_input *input; /* borrowed */
	struct tdm_lines lines;
	struct tdm_buf text; /* of the record */
	struct tdm_buf next; /* name of the next record */
	uint64_t next_line;
	bool has_next;
};

/* The name of the first record, if the file begins with one. */
bool tdm_inspector_first(struct tdm_str head, struct tdm_str *name);

/* 0 or -ENOMEM; call tdm_inspector_done() either way. */
int tdm_inspector_open(struct tdm_inspector_reader *reader, struct tdm_input *input);
void tdm_inspector_done(struct tdm_inspector_reader *reader);

/* 1 with *record set, 0 at the end, or a negative code with diag set; after TDM_ESYNTAX the next call continues. */
int tdm_inspector_next(struct tdm_inspector_reader *reader, struct tdm_inspector_record *record, struct tdm_diag *diag);

/* The value of a field; NULL if missing. */
const struct tdm_str *tdm_inspector_find(const struct tdm_inspector_record *record, const char *key);

/* A required number. 0, or TDM_ESYNTAX with diag set. */
int tdm_inspector_number(
	const struct tdm_inspector_record *record, const char *key, uint64_t *value, struct tdm_diag *diag);

#endif
