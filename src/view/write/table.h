/* Writes tables (model/result/columns.h) as text, JSON and Markdown. */
#ifndef TDM_VIEW_TABLE_H
#define TDM_VIEW_TABLE_H

#include "base/json.h"
#include "base/term.h"
#include "model/result/columns.h"

/* A size in the unit shared by the cell's sizes, in at most `columns` columns if possible. Returns dst. */
char *tdm_field_bytes(const struct tdm_field *field, char *dst, size_t cap, uint64_t bytes, size_t columns);

/* Writes the text of a cell; returns the value of the cell. */
struct tdm_value tdm_field_put(const struct tdm_field *field, struct tdm_buf *out);

/* For each of the first columns, the sizes that share a unit. */
enum { TDM_TABLE_RANGES = 24 };
void tdm_table_ranges(const struct tdm_table *table, struct tdm_bytes_range ranges[TDM_TABLE_RANGES]);

/* Writes the heading, the rows and the number of rows left out; nothing when there are no rows. Long tables, in text
 * and JSON, are flushed to the buffer's outlet row by row. If the terminal folds, a table that is too wide is split
 * into several, one below the other, all beginning with the first column. */
void tdm_table_text(const struct tdm_table *table, const struct tdm_term *term, struct tdm_buf *out);

/* Writes only a value; a core range becomes an object, a list becomes an array. */
void tdm_value_json(const struct tdm_value *value, struct tdm_json *json);

/* Begins a member whose key may contain dots. Closes and opens the objects between this member and the previous one,
 * whose key is in *before ("" at first), then sets *before. An empty key closes all objects. */
void tdm_nested_key(struct tdm_json *json, const char **before, const char *key);

const char *tdm_level_style(enum tdm_level level);

/* tdm_table_json() writes an array with an object for each row; tdm_table_keys() writes the keys of one row. */
void tdm_table_json(const struct tdm_table *table, struct tdm_json *json);
void tdm_table_keys(const struct tdm_table *table, const void *row, struct tdm_json *json);

/* Whether a row owns a table that text shows. */
bool tdm_table_is_nested(const struct tdm_table *table);

/* Writes a Markdown table, which is never cut; lines below a row become lines of its last cell. */
void tdm_table_markdown(const struct tdm_table *table, struct tdm_buf *out);

static inline void tdm_json_put_table(struct tdm_json *json, const char *key, const struct tdm_table *table)
{
	tdm_json_key(json, key);
	tdm_table_json(table, json);
}

#endif
