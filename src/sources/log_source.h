/*
 * A log as a source of events: allocations and frees that the runtime's shared-memory tracking or an allocation server
 * wrote down, circular buffers that a program says it created, operations, out-of-memory errors. Ids are numbers of our
 * own, one for each buffer; where the log has an address, it is the buffer's name.
 */
#ifndef TDM_SOURCES_LOG_SOURCE_H
#define TDM_SOURCES_LOG_SOURCE_H

#include "event/source.h"
#include "sources/input.h"

/* NULL when out of memory. */
struct tdm_source *tdm_log_events(struct tdm_input *input);

#endif
