/*
 * Reads the files written by the runtime's inspector, which is on by default. These are the log of mesh buffers, read
 * as events or as records that also contain the bytes on the whole mesh, and the lists of kernels and programs
 * (kernels.yaml, programs_log.yaml). Each file is a list of records, each with a name and some fields:
 *
 *     - mesh_buffer_allocated:
 *         id: 94022340
 *         address: 1048640
 *
 * They look like YAML, but values are not escaped: a kernel's source may be a path or a kernel's whole text with all
 * its lines. So the files are read line by line, and a damaged record does not prevent reading the rest.
 */
#include "base/err.h"
#include "base/memory.h"
#include "input/door/format.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

enum { LINE_MAX_BYTES = 1 << 16, SHOWN = 40, FIELDS_MAX = 16 };

/* A reader and the last record it read. Lines of a list, or of a longer text below a key, are skipped. */
struct inspector {
	struct tdm_source source; /* source of events, for the log of mesh buffers */
	struct tdm_mesh_buffer buffer;
	struct tdm_input *input; /* borrowed */
	struct tdm_lines lines;
	struct tdm_buf name, next; /* names of this record and of the next one, which has begun */
	uint64_t line, next_line;
	bool has_next;
	bool in_text;        /* the key may be followed by lines of text */
	struct tdm_buf text; /* the fields: key, value, key, value, … */
	size_t at[FIELDS_MAX], key_len[FIELDS_MAX], value_len[FIELDS_MAX];
	size_t field_count;
};

static void inspector_begin(struct inspector *in, struct tdm_input *input)
{
	*in = (struct inspector){ .input = input };
	tdm_lines_from(&in->lines, tdm_input_reader(input), LINE_MAX_BYTES);
}

static void inspector_done(struct inspector *in)
{
	tdm_lines_done(&in->lines);
	tdm_buf_done(&in->text);
	tdm_buf_done(&in->name);
	tdm_buf_done(&in->next);
}

/* ---- lines ---- */

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

/* Reads "- name:". */
static bool read_begin(struct tdm_str line, struct tdm_str *name)
{
	line = tdm_str_trim(line);
	if (line.len < 4 || line.ptr[0] != '-' || line.ptr[1] != ' ' || line.ptr[line.len - 1] != ':')
		return false;
	*name = tdm_str_trim((struct tdm_str){ line.ptr + 2, line.len - 3 });
	return is_name(*name);
}

/* Reads " key: value". */
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

static bool is_empty(struct tdm_str line)
{
	line = tdm_str_trim(line);
	return line.len == 0 || line.ptr[0] == '#';
}

/* The name of the first record; empty if the file does not begin with one. */
static struct tdm_str first_name(struct tdm_str head)
{
	struct tdm_lines lines;
	struct tdm_str line, name;
	tdm_lines_memory(&lines, head.ptr, head.len);
	while (tdm_lines_next(&lines, &line) == 1)
		if (!is_empty(line))
			return read_begin(line, &name) ? name : tdm_str_of("");
	return tdm_str_of("");
}

/* ---- records ---- */

/* The value of a field; NULL if it is missing. */
static const char *find(const struct inspector *in, struct tdm_str key, size_t *len)
{
	for (size_t i = 0; i < in->field_count; i++) {
		const char *at = in->text.data + in->at[i];
		*len = in->value_len[i];
		if (tdm_str_eq(key, (struct tdm_str){ at, in->key_len[i] }))
			return at + key.len;
	}
	return NULL;
}

static struct tdm_str value_of(const struct inspector *in, const char *key)
{
	size_t len;
	const char *at = find(in, tdm_str_of(key), &len);
	return at != NULL ? (struct tdm_str){ at, len } : (struct tdm_str){ NULL, 0 };
}

static int refuse(const struct inspector *in, const char *what, struct tdm_str text, struct tdm_diag *diag)
{
	char shown[SHOWN];
	return tdm_diag_set(diag, TDM_ESYNTAX, in->line, 0, "%s: '%s'", what, tdm_str_shown(text, shown, sizeof shown));
}

/* Reads a required number. 0, or TDM_ESYNTAX with diag set. */
static int number_of(const struct inspector *in, const char *key, uint64_t *value, struct tdm_diag *diag)
{
	struct tdm_str text = value_of(in, key);
	char shown[SHOWN];
	if (text.ptr == NULL)
		return tdm_diag_set(diag, TDM_ESYNTAX, in->line, 0, "no %s", key);
	int err = tdm_str_parse_u64(text, value);
	return err == 0 ? 0
			: tdm_diag_set(diag, TDM_ESYNTAX, in->line, 0, "%s: %s: '%s'", key,
				  err == -ERANGE ? "a number that is too large" : "expected a number",
				  tdm_str_shown(text, shown, sizeof shown));
}

static int refuse_line(const struct inspector *in, struct tdm_str line, struct tdm_diag *diag)
{
	char shown[SHOWN];
	return tdm_diag_set(diag, TDM_ESYNTAX, in->lines.line, 0, "not a line of an inspector's record: '%s'",
		tdm_str_shown(tdm_str_trim(line), shown, sizeof shown));
}

/* Begins the record whose name has been read. Returns whether there is one. */
static bool open_record(struct inspector *in)
{
	if (!in->has_next)
		return false;
	tdm_buf_clear(&in->name);
	tdm_buf_add(&in->name, in->next.data, in->next.len);
	tdm_buf_clear(&in->text);
	in->line = in->next_line;
	in->field_count = 0;
	in->has_next = in->in_text = false;
	return true;
}

/* Handles one line of a record. 0 or TDM_ESYNTAX. */
static int take_field(struct inspector *in, struct tdm_str line, struct tdm_diag *diag)
{
	struct tdm_str key, value;
	size_t len;
	if (!read_field(line, &key, &value) || in->field_count == FIELDS_MAX || find(in, key, &len) != NULL)
		return in->in_text ? 0 : refuse_line(in, line, diag);
	in->at[in->field_count] = in->text.len;
	in->key_len[in->field_count] = key.len;
	in->value_len[in->field_count++] = value.len;
	tdm_buf_add(&in->text, key.ptr, key.len);
	tdm_buf_add(&in->text, value.ptr, value.len);
	in->in_text |= tdm_str_is(key, "source") || value.len == 0;
	return 0;
}

/* Reads a record. 1, 0 at the end, or a negative code with diag set; after TDM_ESYNTAX the next call continues. */
static int next_record(struct inspector *in, struct tdm_diag *diag)
{
	struct tdm_str line, name;
	bool is_open = open_record(in);
	int got, bad = 0;
	while ((got = tdm_lines_next(&in->lines, &line)) != 0) {
		if (got < 0 && got != -EMSGSIZE)
			return tdm_input_failed(in->input, got, 0, diag);
		if (got > 0 && is_empty(line))
			continue;
		if (got > 0 && !(is_open && is_blank_at(line, 0)) && read_begin(line, &name)) {
			tdm_buf_clear(&in->next);
			tdm_buf_add(&in->next, name.ptr, name.len);
			in->next_line = in->lines.line;
			in->has_next = true;
			if (is_open)
				break;
			is_open = open_record(in);
			continue;
		}
		/* The first bad line is reported; the rest of its record is skipped. */
		int err = got > 0 && is_open ? take_field(in, line, bad == 0 ? diag : NULL)
			  : got > 0          ? refuse_line(in, line, diag)
			  : is_open && (in->in_text || bad != 0)
				  ? 0
				  : tdm_diag_set(diag, TDM_ESYNTAX, in->lines.line, 0, "a line that is too long");
		if (!is_open)
			return err;
		bad = bad != 0 ? bad : err;
	}
	return bad != 0 ? bad : is_open;
}

/* ---- the log of mesh buffers ---- */

static bool mesh_recognise(struct tdm_str head, const char *path)
{
	struct tdm_str name = first_name(head);
	(void)path;
	return tdm_str_is(name, "mesh_buffer_allocated") || tdm_str_is(name, "mesh_buffer_deallocated");
}

static int read_kind(const struct inspector *in, uint8_t *kind, struct tdm_diag *diag)
{
	struct tdm_str type = value_of(in, "buffer_type");
	enum tdm_kind found = TDM_KIND_SYSTEM;
	if (type.ptr == NULL)
		return tdm_diag_set(diag, TDM_ESYNTAX, in->line, 0, "no buffer_type");
	if (!tdm_str_is(type, "SYSTEM_MEMORY") && tdm_kind_parse(type, &found) != 0)
		return refuse(in, "not a kind of memory", type, diag);
	*kind = (uint8_t)found;
	return 0;
}

static int read_buffer(struct inspector *in, struct tdm_diag *diag)
{
	struct tdm_mesh_buffer *b = &in->buffer;
	struct tdm_str name = tdm_buf_str(&in->name);
	bool is_alloc = tdm_str_is(name, "mesh_buffer_allocated");
	static const char *const keys[] = { "id", "address", "timestamp_ns", "size", "device_local_size" };
	uint64_t *const values[] = { &b->event.id, &b->event.address, &b->event.time_ns, &b->mesh_bytes,
		&b->event.size };
	size_t count = is_alloc ? sizeof keys / sizeof *keys : 3;
	int err = 0;
	*b = (struct tdm_mesh_buffer){ .event = { .op = is_alloc ? TDM_OP_ALLOC : TDM_OP_FREE,
					       .bytes_per_bank = TDM_SIZE_UNKNOWN,
					       .position = in->line } };
	if (!is_alloc && !tdm_str_is(name, "mesh_buffer_deallocated"))
		return refuse(in, "not a record of mesh buffers", name, diag);
	for (size_t i = 0; err == 0 && i < count; i++)
		err = number_of(in, keys[i], values[i], diag);
	if (err == 0 && is_alloc)
		err = read_kind(in, &b->event.kind, diag);
	if (err == 0 && (b->event.size == TDM_SIZE_UNKNOWN || b->event.address == TDM_ADDRESS_UNKNOWN))
		err = tdm_diag_set(diag, TDM_ESYNTAX, in->line, 0, "a number that is too large");
	return err;
}

static int mesh_next(struct tdm_source *source, struct tdm_event *event, struct tdm_diag *diag)
{
	struct inspector *in = (struct inspector *)source;
	int got = next_record(in, diag), err = got == 1 ? read_buffer(in, diag) : got;
	*event = in->buffer.event;
	source->refused += err == TDM_ESYNTAX;
	source->is_cut = err < 0 && err != TDM_ESYNTAX;
	return err == 0 ? got : err;
}

static void mesh_close(struct tdm_source *source)
{
	inspector_done((struct inspector *)source);
	free(source);
}

static struct tdm_source *mesh_events(struct tdm_input *input)
{
	struct inspector *in = tdm_alloc(sizeof *in);
	inspector_begin(in, input);
	in->source = (struct tdm_source){ .next = mesh_next, .close = mesh_close };
	return &in->source;
}

static int mesh_push(struct inspector *in, const struct tdm_record_sink *sink, struct tdm_diag *diag)
{
	int err = read_buffer(in, diag);
	return err != 0 ? err
			: sink->take(sink->to, &(struct tdm_record){ TDM_RECORD_MESH_BUFFER, .mesh = &in->buffer });
}

/* Reads all records and pushes the result of `take` for each. */
static int read_records(struct tdm_input *input, const struct tdm_record_sink *sink, struct tdm_diag *diag,
	int (*take)(struct inspector *in, const struct tdm_record_sink *sink, struct tdm_diag *diag))
{
	struct inspector in;
	int got = 0, err = 0;
	inspector_begin(&in, input);
	while (err == 0 && (got = next_record(&in, diag)) != 0) {
		err = got == 1 ? take(&in, sink, diag) : got;
		if (err == TDM_ESYNTAX)
			err = tdm_record_refuse(sink, diag, false);
	}
	inspector_done(&in);
	return err;
}

static int mesh_records(struct tdm_input *input, const struct tdm_record_sink *sink, struct tdm_diag *diag)
{
	return read_records(input, sink, diag, mesh_push);
}

const struct tdm_format tdm_format_mesh_buffers = {
	.name = "mesh_buffers",
	.summary = "inspector's log of mesh buffers",
	.recognise = mesh_recognise,
	.events = mesh_events,
	.records = mesh_records,
};

/* ---- kernels and programs ---- */

static bool is_of_program(struct tdm_str name)
{
	static const char prefix[] = "program_";
	return name.len >= sizeof prefix && memcmp(name.ptr, prefix, sizeof prefix - 1) == 0;
}

static bool programs_recognise(struct tdm_str head, const char *path)
{
	struct tdm_str name = first_name(head);
	(void)path;
	return tdm_str_is(name, "kernel") || is_of_program(name);
}

/* The value of a field as a string; empty if it contains a zero byte, which a terminated copy cannot represent. */
static struct tdm_str text_of(const struct inspector *in, const char *key)
{
	struct tdm_str text = value_of(in, key);
	return text.len != 0 && memchr(text.ptr, '\0', text.len) == NULL ? text : tdm_str_of("");
}

static int push_kernel(
	const struct inspector *in, const char *program_key, const struct tdm_record_sink *sink, struct tdm_diag *diag)
{
	struct tdm_listed_kernel kernel = { .line = in->line,
		.name = text_of(in, "name"),
		.path = text_of(in, "path"),
		.source = text_of(in, "source") };
	int err = number_of(in, program_key, &kernel.program, diag);
	if (err == 0)
		err = number_of(in, "watcher_kernel_id", &kernel.watcher_id, diag);
	if (err == 0 && value_of(in, "name").ptr == NULL)
		err = tdm_diag_set(diag, TDM_ESYNTAX, in->line, 0, "no name");
	return err != 0 ? err : sink->take(sink->to, &(struct tdm_record){ TDM_RECORD_KERNEL, .kernel = &kernel });
}

static int programs_push(struct inspector *in, const struct tdm_record_sink *sink, struct tdm_diag *diag)
{
	struct tdm_str name = tdm_buf_str(&in->name);
	if (tdm_str_is(name, "kernel"))
		return push_kernel(in, "program_id", sink, diag);
	if (tdm_str_is(name, "program_kernel_compile_finished"))
		return push_kernel(in, "id", sink, diag);
	if (is_of_program(name)) {
		struct tdm_listed_kernel program = { .compile_ns = TDM_BYTES_UNKNOWN,
			.destroyed = tdm_str_is(name, "program_destroyed") };
		int err = number_of(in, "id", &program.program, diag);
		if (err == 0 && tdm_str_is(name, "program_compile_finished"))
			err = number_of(in, "duration_ns", &program.compile_ns, diag);
		return err != 0 ? err
				: sink->take(sink->to, &(struct tdm_record){ TDM_RECORD_PROGRAM, .program = &program });
	}
	return refuse(in, "not a record of programs or kernels", name, diag);
}

static int programs_records(struct tdm_input *input, const struct tdm_record_sink *sink, struct tdm_diag *diag)
{
	return read_records(input, sink, diag, programs_push);
}

const struct tdm_format tdm_format_programs = {
	.name = "programs",
	.summary = "inspector's list of kernels",
	.recognise = programs_recognise,
	.records = programs_records,
};
