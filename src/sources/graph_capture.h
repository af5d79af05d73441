/*
 * Graph captures of the runtime: the JSON that graph tracing writes, of every generation. Read node by node for
 * analysers that need what only captures have, or as events like any other source.
 *
 * As events: a buffer's id is the number of its buffer node; a buffer that was there before the capture is allocated
 * where it is first seen, with unknown bytes per bank; circular buffers, dataflow buffers and scratchpads have the
 * number of their own node as id and are released one by one where the capture releases all; a function that starts is
 * a program, and what is allocated in it carries the outermost function as `program` and the innermost as `name`.
 * `position` is the byte where the node begins.
 */
#ifndef TDM_SOURCES_GRAPH_CAPTURE_H
#define TDM_SOURCES_GRAPH_CAPTURE_H

#include "event/source.h"
#include "sources/capture_json.h"

enum { TDM_CAPTURE_CHUNK = 64 << 10 }; /* bytes that are read at once */

/* Whether a file that begins like this may be a capture. */
bool tdm_graph_capture_detect(const char *head, size_t len);

/*
 * Reads a descriptor to its end into the sink; `progress` (may be NULL) is called with its context and the bytes so far
 * after each piece. 0, or a negative code with diag set; what was read before it went to the sink. *counts is set in
 * both cases.
 */
int tdm_graph_capture_read(int fd, const struct tdm_capture_sink *sink, void (*progress)(void *context, uint64_t bytes),
	void *context, struct tdm_capture_counts *counts, struct tdm_diag *diag);

/* A source of events. NULL when out of memory. The descriptor stays the caller's; so does the memory. */
struct tdm_source *tdm_graph_capture_open(int fd);
struct tdm_source *tdm_graph_capture_memory(const char *data, size_t len);

#endif
