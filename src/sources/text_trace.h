/*
 * Text traces: what a program asked of the allocator, one request a line, for replaying on the device model.
 * docs/formats/trace.md describes the two forms (one memory region; a whole device).
 */
#ifndef TDM_SOURCES_TEXT_TRACE_H
#define TDM_SOURCES_TEXT_TRACE_H

#include <stddef.h>

#include "event/source.h"

/* Reads from a descriptor, which stays the caller's. NULL when out of memory. */
struct tdm_source *tdm_text_trace_open(int fd);

/* Reads from memory, which must outlive the source. NULL when out of memory. */
struct tdm_source *tdm_text_trace_memory(const char *data, size_t len);

/* Bytes read so far, for a progress line. */
uint64_t tdm_text_trace_offset(const struct tdm_source *source);

#endif
