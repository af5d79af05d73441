/*
 * A log as a source of events: allocations and frees that the runtime's shared-memory tracking or an allocation server
 * wrote down, circular buffers that a program says it created, operations, out-of-memory errors, L1 as it was laid out.
 */
#ifndef TDM_SOURCES_LOG_SOURCE_H
#define TDM_SOURCES_LOG_SOURCE_H

#include <stddef.h>

#include "event/source.h"

/* Reads from a descriptor, which stays the caller's. NULL when out of memory. */
struct tdm_source *tdm_log_source_open(int fd);

/* Reads from memory, which must outlive the source. NULL when out of memory. */
struct tdm_source *tdm_log_source_memory(const char *data, size_t len);

/* Bytes read so far, for a progress line. */
uint64_t tdm_log_source_offset(const struct tdm_source *source);

#endif
