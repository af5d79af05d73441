/*
 * A log as a source of events: allocations and frees that the runtime's shared-memory tracking or an allocation server
 * logged, circular buffers that a program says it created, operations, and out-of-memory errors. Ids are assigned here,
 * one for each buffer; if the log has an address, that is the buffer's name.
 */
#ifndef TDM_SOURCES_LOG_SOURCE_H
#define TDM_SOURCES_LOG_SOURCE_H

#include "event/source.h"
#include "sources/input.h"

/* NULL when out of memory. */
struct tdm_source *tdm_log_events(struct tdm_input *input);

#endif
