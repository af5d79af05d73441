/*
 * Graph captures of the runtime: the JSON that graph tracing writes, of every generation. Read node by node for
 * analysers that need what only captures have, or as events (capture_events.c).
 */
#include "base/err.h"
#include "sources/capture_events.h"
#include "sources/capture_json.h"
#include "sources/format.h"

#include <errno.h>
#include <stdlib.h>

/* Past blanks and the next character, if it is this one. */
static bool skip(struct tdm_str *text, char c)
{
	while (text->len != 0 && memchr(" \t\n\r", *text->ptr, 4) != NULL)
		*text = (struct tdm_str){ text->ptr + 1, text->len - 1 };
	if (text->len == 0 || *text->ptr != c)
		return false;
	*text = (struct tdm_str){ text->ptr + 1, text->len - 1 };
	return true;
}

static bool capture_recognise(struct tdm_str text, const char *path)
{
	static const char *const node_keys[] = { "arguments", "connections", "counter", "duration_ns", "input_tensors",
		"node_type", "params", "stacking_level", NULL };
	static const char *const report_keys[] = { "buffer_pages", "buffer_pages_by_address", "cluster_descriptor",
		"devices", "graph", "mesh_coordinate_mapping", "metadata", "per_operation_buffers", "version", NULL };
	const char *const *keys = skip(&text, '[') ? node_keys : report_keys;
	(void)path;
	if (keys == node_keys && skip(&text, ']'))
		return true;
	const char *end = skip(&text, '{') && skip(&text, '"') ? memchr(text.ptr, '"', text.len) : NULL;
	while (end != NULL && *keys != NULL &&
		!tdm_str_is((struct tdm_str){ text.ptr, (size_t)(end - text.ptr) }, *keys))
		keys++;
	return end != NULL && *keys != NULL;
}

static int capture_records(struct tdm_input *input, const struct tdm_record_sink *sink, struct tdm_diag *diag)
{
	struct tdm_capture_json *json = tdm_capture_json_new(sink);
	char *piece = malloc(TDM_CAPTURE_CHUNK);
	ssize_t got = 0;
	int err = json == NULL || piece == NULL ? tdm_input_failed(input, -ENOMEM, 0, diag) : 0;
	while (err == 0 && (got = tdm_input_read(input, piece, TDM_CAPTURE_CHUNK)) > 0)
		err = tdm_capture_json_feed(json, piece, (size_t)got, diag);
	if (err == 0)
		err = got < 0 ? tdm_input_failed(input, (int)got, 0, diag) : tdm_capture_json_end(json, diag);
	if (json != NULL)
		sink->take(sink->to,
			&(struct tdm_record){ TDM_RECORD_CAPTURE_END, .capture = tdm_capture_json_counts(json) });
	tdm_capture_json_free(json);
	free(piece);
	return err;
}

const struct tdm_format tdm_format_graph_capture = {
	.name = "graph_capture",
	.summary = "graph capture",
	.recognise = capture_recognise,
	.events = tdm_capture_events,
	.records = capture_records,
};
