#include "sources/inspector_log.h"
#include "base/err.h"
#include "base/units.h"

#include <errno.h>
#include <stdlib.h>

enum { LINE_MAX_BYTES = 1 << 16, SHOWN = 40 };

static bool is_blank_at(struct tdm_str line, size_t at)
{
	return at < line.len && (line.ptr[at] == ' ' || line.ptr[at] == '\t');
}

static bool is_name(struct tdm_str text)
{
	for (size_t i = 0; i < text.len; i++) {
		char c = text.ptr[i];
		if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'))
			return false;
	}
	return text.len != 0;
}

/* "- name:" */
static bool read_begin(struct tdm_str line, struct tdm_str *name)
{
	line = tdm_str_trim(line);
	if (line.len < 4 || line.ptr[0] != '-' || line.ptr[1] != ' ' || line.ptr[line.len - 1] != ':')
		return false;
	*name = tdm_str_trim((struct tdm_str){ line.ptr + 2, line.len - 3 });
	return is_name(*name);
}

/* "    key: value" */
static bool read_field(struct tdm_str line, struct tdm_str *key, struct tdm_str *value)
{
	if (!is_blank_at(line, 0))
		return false;
	line = tdm_str_trim(line);
	const char *colon = memchr(line.ptr, ':', line.len);
	if (colon == NULL)
		return false;
	*key = (struct tdm_str){ line.ptr, (size_t)(colon - line.ptr) };
	*value = tdm_str_trim((struct tdm_str){ colon + 1, line.len - key->len - 1 });
	return is_name(*key) && (key->len + 1 == line.len || colon[1] == ' ');
}

bool tdm_inspector_first(struct tdm_str head, struct tdm_str *name)
{
	struct tdm_lines lines;
	struct tdm_str line;
	tdm_lines_memory(&lines, head.ptr, head.len);
	while (tdm_lines_next(&lines, &line) == 1) {
		struct tdm_str text = tdm_str_trim(line);
		if (text.len != 0 && text.ptr[0] != '#')
			return read_begin(line, name);
	}
	return false;
}

int tdm_inspector_open(struct tdm_inspector_reader *reader, struct tdm_input *input)
{
	*reader = (struct tdm_inspector_reader){ .input = input };
	tdm_buf_init(&reader->text);
	tdm_buf_init(&reader->next);
	return tdm_lines_from(&reader->lines, tdm_input_reader(input), LINE_MAX_BYTES);
}

void tdm_inspector_done(struct tdm_inspector_reader *reader)
{
	tdm_lines_done(&reader->lines);
	tdm_buf_done(&reader->text);
	tdm_buf_done(&reader->next);
}

const struct tdm_str *tdm_inspector_find(const struct tdm_inspector_record *record, const char *key)
{
	for (size_t i = 0; i < record->count; i++)
		if (tdm_str_is(record->keys[i], key))
			return &record->values[i];
	return NULL;
}

int tdm_inspector_number(
	const struct tdm_inspector_record *record, const char *key, uint64_t *value, struct tdm_diag *diag)
{
	const struct tdm_str *text = tdm_inspector_find(record, key);
	char shown[SHOWN];
	if (text == NULL)
		return tdm_diag_set(diag, TDM_ESYNTAX, record->line, 0, "no %s", key);
	int err = tdm_str_parse_u64(*text, value);
	return err == 0 ? 0
			: tdm_diag_set(diag, TDM_ESYNTAX, record->line, 0, "%s: %s: '%s'", key,
				  err == -ERANGE ? "a number that is too large" : "expected a number",
				  tdm_str_shown(*text, shown, sizeof shown));
}

/* A piece of the record's text: where it is, as the buffer moves while it grows. */
struct piece {
	size_t at, len;
};

static struct piece keep(struct tdm_buf *text, struct tdm_str s)
{
	struct piece piece = { text->len, s.len };
	tdm_buf_add(text, s.ptr, s.len);
	return piece;
}

static int refuse_line(struct tdm_inspector_reader *reader, struct tdm_str line, struct tdm_diag *diag)
{
	char shown[SHOWN];
	return tdm_diag_set(diag, TDM_ESYNTAX, reader->lines.line, 0, "not a line of an inspector's record: '%s'",
		tdm_str_shown(tdm_str_trim(line), shown, sizeof shown));
}

/* The record that begins in this line is the next one. */
static void begin_next(struct tdm_inspector_reader *reader, struct tdm_str name)
{
	tdm_buf_clear(&reader->next);
	tdm_buf_add(&reader->next, name.ptr, name.len);
	reader->next_line = reader->lines.line;
	reader->has_next = true;
}

/* Reads up to the beginning of a record. 1, 0 at the end, or a code. */
static int find_begin(struct tdm_inspector_reader *reader, struct tdm_diag *diag)
{
	struct tdm_str line, name;
	while (!reader->has_next) {
		int got = tdm_lines_next(&reader->lines, &line);
		if (got == 0)
			return 0;
		if (got == -EMSGSIZE)
			return tdm_diag_set(diag, TDM_ESYNTAX, reader->lines.line, 0, "a line that is too long");
		if (got < 0)
			return tdm_input_failed(reader->input, got, 0, diag);
		struct tdm_str text = tdm_str_trim(line);
		if (text.len == 0 || text.ptr[0] == '#')
			continue;
		if (!read_begin(line, &name))
			return refuse_line(reader, line, diag);
		begin_next(reader, name);
	}
	return 1;
}

/* Fields of a record; what a list or a text of several lines has below its key is passed over. */
struct fields {
	struct piece keys[TDM_INSPECTOR_FIELDS_MAX], values[TDM_INSPECTOR_FIELDS_MAX];
	size_t count;
	bool in_text; /* the last key may have more lines than its own */
};

/* 1 when the line belongs to the record, 0 when it begins another one, or TDM_ESYNTAX. */
static int take_line(
	struct tdm_inspector_reader *reader, struct fields *fields, struct tdm_str line, struct tdm_diag *diag)
{
	struct tdm_str key, value, text = tdm_str_trim(line);
	if (text.len == 0 || text.ptr[0] == '#')
		return 1;
	if (!is_blank_at(line, 0) && read_begin(line, &key)) {
		begin_next(reader, key);
		return 0;
	}
	if (read_field(line, &key, &value)) {
		for (size_t i = 0; i < fields->count; i++)
			if (tdm_str_eq(key,
				    (struct tdm_str){ reader->text.data + fields->keys[i].at, fields->keys[i].len }))
				return fields->in_text ? 1 : refuse_line(reader, line, diag);
		if (fields->count == TDM_INSPECTOR_FIELDS_MAX)
			return fields->in_text ? 1 : refuse_line(reader, line, diag);
		fields->keys[fields->count] = keep(&reader->text, key);
		fields->values[fields->count++] = keep(&reader->text, value);
		fields->in_text |= tdm_str_is(key, "source") || value.len == 0;
		return 1;
	}
	return fields->in_text ? 1 : refuse_line(reader, line, diag);
}

int tdm_inspector_next(struct tdm_inspector_reader *reader, struct tdm_inspector_record *record, struct tdm_diag *diag)
{
	struct fields fields = { .count = 0 };
	struct tdm_str line;
	int got = find_begin(reader, diag), bad = 0;
	if (got != 1)
		return got;
	tdm_buf_clear(&reader->text);
	struct piece name = keep(&reader->text, tdm_buf_str(&reader->next));
	*record = (struct tdm_inspector_record){ .line = reader->next_line };
	reader->has_next = false;
	while (!reader->has_next && (got = tdm_lines_next(&reader->lines, &line)) != 0) {
		if (got == -EMSGSIZE) {
			if (!fields.in_text && bad == 0)
				bad = tdm_diag_set(diag, TDM_ESYNTAX, reader->lines.line, 0, "a line that is too long");
			continue;
		}
		if (got < 0)
			return tdm_input_failed(reader->input, got, 0, diag);
		/* The first bad line is named; the rest of its record is passed over. */
		got = take_line(reader, &fields, line, bad == 0 ? diag : NULL);
		if (tdm_buf_failed(&reader->text) || tdm_buf_failed(&reader->next))
			return tdm_diag_set(diag, -ENOMEM, record->line, 0, "out of memory");
		if (got < 0 && bad == 0)
			bad = got;
	}
	if (bad != 0)
		return bad;
	if (tdm_buf_failed(&reader->text) || tdm_buf_failed(&reader->next)) /* a record without fields */
		return tdm_diag_set(diag, -ENOMEM, record->line, 0, "out of memory");
	const char *text = reader->text.data;
	record->name = (struct tdm_str){ text + name.at, name.len };
	record->count = fields.count;
	for (size_t i = 0; i < fields.count; i++) {
		record->keys[i] = (struct tdm_str){ text + fields.keys[i].at, fields.keys[i].len };
		record->values[i] = (struct tdm_str){ text + fields.values[i].at, fields.values[i].len };
	}
	return 1;
}
