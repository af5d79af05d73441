/*
 * Parses the JSON of a graph capture piece by piece: bytes in, nodes out to a sink. Only the current node is kept, so
 * memory does not grow with the file. The end of a text above TDM_CAPTURE_STRING_MAX bytes may be left out.
 */
#ifndef TDM_SOURCES_CAPTURE_JSON_H
#define TDM_SOURCES_CAPTURE_JSON_H

#include "event/record.h"

enum {
	TDM_CAPTURE_STRING_MAX = 4 << 20,
	TDM_CAPTURE_DEPTH_MAX = 256,  /* of nested arrays and objects */
	TDM_CAPTURE_CHUNK = 64 << 10, /* bytes read at once */
};

struct tdm_capture_json;

/* The sink is copied. NULL only when out of memory. */
struct tdm_capture_json *tdm_capture_json_new(const struct tdm_record_sink *sink);
void tdm_capture_json_free(struct tdm_capture_json *json); /* NULL is allowed */

/* 0, the sink's error code, or another one with diag set when the text cannot be read any further. */
int tdm_capture_json_feed(struct tdm_capture_json *json, const char *data, size_t len, struct tdm_diag *diag);

/* Call at the end of the text. 0, or a negative code with diag set if it ends too early or was not a capture. */
int tdm_capture_json_end(struct tdm_capture_json *json, struct tdm_diag *diag);

/* Totals so far. */
const struct tdm_capture_counts *tdm_capture_json_counts(const struct tdm_capture_json *json);

#endif
