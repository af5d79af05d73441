/*
 * The JSON of a graph capture, piece by piece: bytes in, nodes out to a sink. Nothing is kept but the node being read,
 * so memory does not grow with the file; of a text with more than TDM_CAPTURE_STRING_MAX bytes the end may be left out.
 */
#ifndef TDM_SOURCES_CAPTURE_JSON_H
#define TDM_SOURCES_CAPTURE_JSON_H

#include "event/record.h"

enum {
	TDM_CAPTURE_STRING_MAX = 4 << 20,
	TDM_CAPTURE_DEPTH_MAX = 256,  /* arrays and objects in each other */
	TDM_CAPTURE_CHUNK = 64 << 10, /* bytes that are read at once */
};

struct tdm_capture_json;

/* The sink is copied. NULL only when out of memory. */
struct tdm_capture_json *tdm_capture_json_new(const struct tdm_record_sink *sink);
void tdm_capture_json_free(struct tdm_capture_json *json); /* NULL is allowed */

/* 0, the sink's code, or another one with diag set when the text cannot be read any further. */
int tdm_capture_json_feed(struct tdm_capture_json *json, const char *data, size_t len, struct tdm_diag *diag);

/* The end of the text. 0, or a negative code with diag set when it ends too early or was no capture. */
int tdm_capture_json_end(struct tdm_capture_json *json, struct tdm_diag *diag);

/* What has been read so far. */
const struct tdm_capture_counts *tdm_capture_json_counts(const struct tdm_capture_json *json);

#endif
