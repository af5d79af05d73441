/*
 * Follows the inspector's mesh buffers over time: which are alive, how much was alive at most, and when. The id alone
 * identifies a buffer. Releases of buffers that are not alive, and second allocations of live ones, are counted and
 * change no sum. Not thread-safe.
 */
#ifndef TDM_ANALYZE_BUFFER_HISTORY_H
#define TDM_ANALYZE_BUFFER_HISTORY_H

#include "base/map.h"
#include "event/record.h"

struct tdm_history_buffer {
	uint64_t id, address, bytes, born_ns, position;
	uint64_t mesh_bytes; /* of all devices */
	uint8_t kind;        /* enum tdm_kind */
};

struct tdm_history_kind {
	uint8_t kind;            /* enum tdm_kind */
	uint64_t bytes, buffers; /* alive */
	uint64_t peak_bytes, peak_buffers, peak_ns;
	uint64_t allocs, frees;
};

struct tdm_buffer_history {
	struct tdm_history_kind kinds[TDM_KIND_COUNT];
	size_t live_count, live_cap;
	struct tdm_history_buffer *live; /* in no order */
	bool has_time;
	uint64_t first_ns, last_ns; /* of all events */
	uint64_t refused;           /* records that could not be used */
	uint64_t unknown_frees, rereports;
	uint64_t overflows;                   /* allocations that would overflow a sum; counted only here */
	uint64_t mesh_peak_bytes, mesh_bytes; /* over all devices and kinds */
	struct tdm_map by_id;
};

int tdm_buffer_history_init(struct tdm_buffer_history *history); /* 0 or -ENOMEM */
void tdm_buffer_history_done(struct tdm_buffer_history *history);

/* For a sink. 0 or -ENOMEM. */
int tdm_buffer_history_take(void *history, const struct tdm_record *record);
/* After the last record: sorts the live buffers, the largest first. */
void tdm_buffer_history_end(struct tdm_buffer_history *history);

struct tdm_findings;
/* Findings about events that make no sense. */
void tdm_buffer_history_find(const struct tdm_buffer_history *history, struct tdm_findings *found);

#endif
