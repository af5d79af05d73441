/* The inspector's log of allocations and releases of mesh buffers: as events, or as records that also have the bytes on
 * the whole mesh. */
#include "base/err.h"
#include "sources/format.h"
#include "sources/inspector_log.h"

#include <errno.h>
#include <stdlib.h>

enum { SHOWN = 40 };

struct mesh_source {
	struct tdm_source source;
	struct tdm_inspector_reader reader;
	struct tdm_mesh_buffer last;
};

static bool mesh_recognise(struct tdm_str head, const char *path)
{
	struct tdm_str name;
	(void)path;
	return tdm_inspector_first(head, &name) &&
	       (tdm_str_is(name, "mesh_buffer_allocated") || tdm_str_is(name, "mesh_buffer_deallocated"));
}

static int read_kind(const struct tdm_inspector_record *record, uint8_t *kind, struct tdm_diag *diag)
{
	const struct tdm_str *type = tdm_inspector_find(record, "buffer_type");
	enum tdm_kind found;
	char shown[SHOWN];
	if (type == NULL)
		return tdm_diag_set(diag, TDM_ESYNTAX, record->line, 0, "no buffer_type");
	if (tdm_str_is(*type, "SYSTEM_MEMORY"))
		found = TDM_KIND_SYSTEM;
	else if (tdm_kind_parse(*type, &found) != 0)
		return tdm_diag_set(diag, TDM_ESYNTAX, record->line, 0, "not a kind of memory: '%s'",
			tdm_str_shown(*type, shown, sizeof shown));
	*kind = (uint8_t)found;
	return 0;
}

static int read_buffer(const struct tdm_inspector_record *record, struct tdm_mesh_buffer *buffer, struct tdm_diag *diag)
{
	struct tdm_event *event = &buffer->event;
	bool is_alloc = tdm_str_is(record->name, "mesh_buffer_allocated");
	char shown[SHOWN];
	*event = (struct tdm_event){ .op = is_alloc ? TDM_OP_ALLOC : TDM_OP_FREE,
		.bytes_per_bank = TDM_SIZE_UNKNOWN,
		.position = record->line };
	buffer->mesh_bytes = 0;
	if (!is_alloc && !tdm_str_is(record->name, "mesh_buffer_deallocated"))
		return tdm_diag_set(diag, TDM_ESYNTAX, record->line, 0, "not a record of mesh buffers: '%s'",
			tdm_str_shown(record->name, shown, sizeof shown));
	int err = tdm_inspector_number(record, "id", &event->id, diag);
	if (err == 0)
		err = tdm_inspector_number(record, "address", &event->address, diag);
	if (err == 0)
		err = tdm_inspector_number(record, "timestamp_ns", &event->time_ns, diag);
	if (err == 0 && is_alloc)
		err = tdm_inspector_number(record, "size", &buffer->mesh_bytes, diag);
	if (err == 0 && is_alloc)
		err = tdm_inspector_number(record, "device_local_size", &event->size, diag);
	if (err == 0 && is_alloc)
		err = read_kind(record, &event->kind, diag);
	if (err == 0 && (event->size == TDM_SIZE_UNKNOWN || event->address == TDM_ADDRESS_UNKNOWN))
		err = tdm_diag_set(diag, TDM_ESYNTAX, record->line, 0, "a number that is too large");
	return err;
}

static int mesh_next(struct tdm_source *source, struct tdm_event *event, struct tdm_diag *diag)
{
	struct mesh_source *s = (struct mesh_source *)source;
	struct tdm_inspector_record record;
	int got = tdm_inspector_next(&s->reader, &record, diag);
	int err = got == 1 ? read_buffer(&record, &s->last, diag) : got;
	*event = s->last.event;
	source->refused += err == TDM_ESYNTAX;
	source->is_cut = err < 0 && err != TDM_ESYNTAX;
	return err == 0 ? got : err;
}

static void mesh_close(struct tdm_source *source)
{
	struct mesh_source *s = (struct mesh_source *)source;
	tdm_inspector_done(&s->reader);
	free(s);
}

static struct tdm_source *mesh_events(struct tdm_input *input)
{
	static const struct tdm_source_ops ops = { "mesh-buffers", mesh_next, mesh_close };
	struct mesh_source *s = calloc(1, sizeof *s);
	if (s == NULL)
		return NULL;
	s->source.ops = &ops;
	if (tdm_inspector_open(&s->reader, input) == 0)
		return &s->source;
	mesh_close(&s->source);
	return NULL;
}

static int mesh_records(struct tdm_input *input, const struct tdm_record_sink *sink, struct tdm_diag *diag)
{
	struct tdm_source *source = mesh_events(input);
	const struct mesh_source *s = (const struct mesh_source *)source;
	struct tdm_event event;
	int got = 0, err = source != NULL ? 0 : tdm_input_failed(input, -ENOMEM, 0, diag);
	while (err == 0 && (got = tdm_source_next(source, &event, diag)) != 0)
		err = got == 1 ? sink->take(sink->to, &(struct tdm_record){ TDM_RECORD_MESH_BUFFER, .mesh = &s->last })
		      : got == TDM_ESYNTAX ? tdm_record_refuse(sink, diag, false)
					   : got;
	tdm_source_close(source);
	return err;
}

const struct tdm_format tdm_format_mesh_buffers = {
	.name = "mesh_buffers",
	.summary = "inspector's log of mesh buffers",
	.recognise = mesh_recognise,
	.events = mesh_events,
	.records = mesh_records,
};
