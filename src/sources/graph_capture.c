/* Reading a capture piece by piece, and telling one from other files. */
#include "sources/graph_capture.h"
#include "base/err.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

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

bool tdm_graph_capture_detect(const char *head, size_t len)
{
	static const char *const node_keys[] = { "arguments", "connections", "counter", "duration_ns", "input_tensors",
		"node_type", "params", "stacking_level", NULL };
	static const char *const report_keys[] = { "buffer_pages", "buffer_pages_by_address", "cluster_descriptor",
		"devices", "graph", "mesh_coordinate_mapping", "metadata", "per_operation_buffers", "version", NULL };
	size_t at = skip_spaces(head, len, 0);
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

int tdm_graph_capture_read(int fd, const struct tdm_capture_sink *sink, void (*progress)(void *context, uint64_t bytes),
	void *context, struct tdm_capture_counts *counts, struct tdm_diag *diag)
{
	struct tdm_capture_json *json = tdm_capture_json_new(sink);
	char *piece = malloc(TDM_CAPTURE_CHUNK);
	uint64_t bytes = 0;
	int err = json == NULL || piece == NULL ? tdm_diag_set(diag, -ENOMEM, 0, 0, "out of memory") : 0;
	*counts = (struct tdm_capture_counts){ 0 };
	while (err == 0) {
		ssize_t got = read(fd, piece, TDM_CAPTURE_CHUNK);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			err = tdm_diag_set(diag, -errno, 0, 0, "cannot read on: %s", tdm_err_text(-errno));
		if (got <= 0)
			break;
		err = tdm_capture_json_feed(json, piece, (size_t)got, diag);
		bytes += (uint64_t)got;
		if (progress != NULL)
			progress(context, bytes);
	}
	if (err == 0)
		err = tdm_capture_json_end(json, diag);
	if (json != NULL)
		*counts = *tdm_capture_json_counts(json);
	tdm_capture_json_free(json);
	free(piece);
	return err;
}
