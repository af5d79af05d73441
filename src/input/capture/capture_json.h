/* Parses the JSON of a graph capture chunk by chunk and pushes nodes to a sink. Only the current node is kept, so
 * memory does not grow with the file. A string longer than TDM_CAPTURE_STRING_MAX bytes may be truncated. */
#ifndef TDM_INPUT_CAPTURE_JSON_H
#define TDM_INPUT_CAPTURE_JSON_H

#include "model/event/record.h"

enum {
	TDM_CAPTURE_STRING_MAX = 4 << 20,
	TDM_CAPTURE_DEPTH_MAX = 256,  /* nesting depth of arrays and objects */
	TDM_CAPTURE_CHUNK = 64 << 10, /* bytes to read at once */
};

struct tdm_capture_json;

/* The sink is copied. */
struct tdm_capture_json *tdm_capture_json_new(const struct tdm_record_sink *sink);
void tdm_capture_json_free(struct tdm_capture_json *json); /* NULL is allowed */

/* Returns 0, the sink's error code, or another code with diag set if the rest cannot be read. */
int tdm_capture_json_feed(struct tdm_capture_json *json, const char *data, size_t len, struct tdm_diag *diag);

/*
 * Call this at the end of the text. Returns 0, or a negative code with diag set if the text ended too early or was not
 * a capture.
 */
int tdm_capture_json_end(struct tdm_capture_json *json, struct tdm_diag *diag);

/* Totals so far. */
const struct tdm_capture_counts *tdm_capture_json_counts(const struct tdm_capture_json *json);

#endif
