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

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static size_t skip_spaces(const char *text, size_t len, size_t at)
{
	while (at < len && is_space(text[at]))
		at++;
	return at;
}

/* The key that begins at text[at], or an empty text. */
static struct tdm_str first_key(const char *text, size_t len, size_t at)
{
	at = skip_spaces(text, len, at);
	if (at == len || text[at] != '"')
		return (struct tdm_str){ 0 };
	const char *end = memchr(text + at + 1, '"', len - at - 1);
	return end != NULL ? (struct tdm_str){ text + at + 1, (size_t)(end - (text + at + 1)) } : (struct tdm_str){ 0 };
}

static bool is_one_of(struct tdm_str key, const char *const *words)
{
	for (size_t i = 0; words[i] != NULL; i++)
		if (tdm_str_is(key, words[i]))
			return true;
	return false;
}

static bool capture_recognise(struct tdm_str text, const char *path)
{
	const char *head = text.ptr;
	size_t len = text.len;
	static const char *const node_keys[] = { "arguments", "connections", "counter", "duration_ns", "input_tensors",
		"node_type", "params", "stacking_level", NULL };
	static const char *const report_keys[] = { "buffer_pages", "buffer_pages_by_address", "cluster_descriptor",
		"devices", "graph", "mesh_coordinate_mapping", "metadata", "per_operation_buffers", "version", NULL };
	size_t at = skip_spaces(head, len, 0);
	(void)path;
	if (at == len)
		return false;
	if (head[at] == '{')
		return is_one_of(first_key(head, len, at + 1), report_keys);
	if (head[at] != '[')
		return false;
	at = skip_spaces(head, len, at + 1);
	if (at == len || head[at] == ']')
		return at != len;
	return head[at] == '{' && is_one_of(first_key(head, len, at + 1), node_keys);
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
