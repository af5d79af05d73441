/*
 * A graph capture as events. A buffer's id is the number of its buffer node. A buffer that is older than the capture is
 * allocated where it is first seen, with unknown bytes per bank. Circular buffers, dataflow buffers and scratchpads
 * have the number of their own node as id and are released one by one where the capture releases all. Each function
 * that starts is a program; an allocation in it has the outermost function as `program` and the innermost as `name`. A
 * device that the capture describes is given before its first buffer, in the words of a text trace. `position` is the
 * byte where the node begins.
 */
#ifndef TDM_SOURCES_CAPTURE_EVENTS_H
#define TDM_SOURCES_CAPTURE_EVENTS_H

#include "event/source.h"
#include "sources/input.h"

/* NULL when out of memory. */
struct tdm_source *tdm_capture_events(struct tdm_input *input);

#endif
