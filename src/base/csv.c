#include "base/csv.h"
#include "base/err.h"
#include "base/memory.h"

#include <errno.h>
#include <stdlib.h>

void tdm_csv_open(struct tdm_csv *csv, struct tdm_reader reader)
{
	*csv = (struct tdm_csv){ .again = 1 };
	tdm_buf_init(&csv->text);
	tdm_buf_init(&csv->values);
	csv->fields = tdm_zalloc(TDM_CSV_FIELDS_MAX, sizeof *csv->fields);
	tdm_lines_from(&csv->lines, reader, TDM_CSV_RECORD_MAX);
}

void tdm_csv_done(struct tdm_csv *csv)
{
	tdm_lines_done(&csv->lines);
	tdm_buf_done(&csv->text);
	tdm_buf_done(&csv->values);
	free(csv->fields);
	csv->fields = NULL;
}

struct tdm_str tdm_csv_field(const struct tdm_csv *csv, size_t index)
{
	return index < csv->field_count ? tdm_str_trim(csv->fields[index]) : tdm_str_of("");
}

size_t tdm_csv_find(const struct tdm_csv *csv, const char *name)
{
	for (size_t i = 0; i < csv->field_count; i++)
		if (tdm_str_is(tdm_csv_field(csv, i), name))
			return i;
	return SIZE_MAX;
}

/* Appends one more line, with its newline, to the text. Returns 1, 0 at the end, or a negative code. */
static int more(struct tdm_csv *csv)
{
	struct tdm_str line;
	int got = tdm_lines_next(&csv->lines, &line);
	if (got != 1)
		return got;
	if (line.len >= TDM_CSV_RECORD_MAX)
		return -EMSGSIZE;
	tdm_buf_add(&csv->text, line.ptr, line.len);
	tdm_buf_putc(&csv->text, '\n');
	return 1;
}

/* How far a record has been cut into fields. */
struct cutting {
	size_t at;        /* offset in `text` */
	size_t line_at;   /* start of the line containing `at` */
	uint64_t line;    /* number of that line */
	size_t value_len; /* total bytes of the completed values */
};

static int refuse(struct tdm_csv *csv, const struct cutting *c, struct tdm_diag *diag, int err, const char *text)
{
	const char *newline = memchr(csv->text.data + csv->taken, '\n', csv->text.len - csv->taken);
	tdm_diag_set(diag, err, c->line, c->at - c->line_at + 1, "%s", text);
	/* Reading continues after the first line of the record. */
	csv->taken = newline != NULL ? (size_t)(newline - csv->text.data) + 1 : csv->text.len;
	csv->again++;
	csv->field_count = 0;
	return err;
}

/* Reads a quoted field after its opening quote. Returns 0, or sets diag and returns a code. */
static int quoted(struct tdm_csv *csv, struct cutting *c, struct tdm_diag *diag)
{
	struct cutting opened = *c;
	opened.at--;
	for (;;) {
		while (c->at >= csv->text.len) {
			int got = csv->text.len - csv->taken > TDM_CSV_RECORD_MAX ? -EMSGSIZE : more(csv);
			if (got == 0)
				return refuse(csv, &opened, diag, TDM_ESYNTAX, "a quote that is never closed");
			if (got == -EMSGSIZE)
				return refuse(
					csv, &opened, diag, got, "the record is too long: is a quote not closed?");
			if (got < 0)
				return tdm_diag_set(diag, got, c->line, 0, "%s", tdm_err_text(got));
		}
		char ch = csv->text.data[c->at++];
		if (ch == '\n') {
			c->line++;
			c->line_at = c->at;
		} else if (ch == '"') {
			/* Every line ends in a newline, so there is a byte after the quote. */
			if (csv->text.data[c->at] != '"')
				return 0;
			c->at++;
		}
		tdm_buf_putc(&csv->values, ch);
	}
}

/* Cuts the record at `taken` into fields. Sets only the lengths of the fields: `values` may still move while it
 * grows. */
static int cut(struct tdm_csv *csv, struct tdm_diag *diag)
{
	struct cutting c = { csv->taken, csv->taken, csv->again, 0 };
	tdm_buf_clear(&csv->values);
	csv->field_count = 0;
	for (char ch = ','; ch == ','; c.at++) {
		if (csv->field_count == TDM_CSV_FIELDS_MAX)
			return refuse(csv, &c, diag, -EMSGSIZE, "more fields than a record may have");
		if (csv->text.data[c.at] == '"') {
			c.at++;
			int err = quoted(csv, &c, diag);
			if (err != 0)
				return err;
			ch = csv->text.data[c.at];
			if (ch != ',' && ch != '\n')
				return refuse(csv, &c, diag, TDM_ESYNTAX, "text after a closing quote");
		} else {
			size_t from = c.at;
			while ((ch = csv->text.data[c.at]) != ',' && ch != '\n')
				c.at++;
			tdm_buf_add(&csv->values, csv->text.data + from, c.at - from);
		}
		csv->fields[csv->field_count++].len = csv->values.len - c.value_len;
		c.value_len = csv->values.len;
	}
	csv->taken = c.at;
	csv->again = c.line + 1;
	return 1;
}

/* Drops the text already returned; otherwise a series of refused records would pile up. */
static void compact(struct tdm_csv *csv)
{
	if (csv->taken < TDM_CSV_RECORD_MAX)
		return;
	csv->text.len -= csv->taken;
	memmove(csv->text.data, csv->text.data + csv->taken, csv->text.len);
	csv->taken = 0;
}

int tdm_csv_next(struct tdm_csv *csv, struct tdm_diag *diag)
{
	csv->field_count = 0;
	compact(csv);
	for (;;) {
		if (csv->taken >= csv->text.len) {
			tdm_buf_clear(&csv->text);
			csv->taken = 0;
			int got = more(csv);
			if (got == -EMSGSIZE) {
				tdm_diag_set(diag, got, csv->again++, 0, "a line that is too long");
				return got;
			}
			if (got < 0)
				return tdm_diag_set(diag, got, csv->again, 0, "%s", tdm_err_text(got));
			if (got == 0)
				return 0;
		}
		if (csv->text.data[csv->taken] != '\n')
			break;
		csv->taken++;
		csv->again++;
	}
	csv->line = csv->again;
	int got = cut(csv, diag);
	if (got != 1)
		return got;
	const char *at = csv->values.data != NULL ? csv->values.data : "";
	for (size_t i = 0; i < csv->field_count; i++) {
		csv->fields[i].ptr = at;
		at += csv->fields[i].len;
	}
	return 1;
}
