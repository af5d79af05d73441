/* The invariant of a history of buffers: sums agree with the live buffers. For tests and fuzz targets. */
#ifndef TDM_TESTS_HISTORY_VALID_H
#define TDM_TESTS_HISTORY_VALID_H

#include "analyze/buffer_history.h"

static inline bool history_is_valid(const struct tdm_buffer_history *history)
{
	struct tdm_history_kind sums[TDM_KIND_COUNT] = { { 0 } };
	uint64_t mesh = 0;
	for (size_t i = 0; i < history->live_count; i++) {
		const struct tdm_history_buffer *b = &history->live[i];
		sums[b->kind].bytes += b->bytes;
		sums[b->kind].buffers++;
		mesh += b->mesh_bytes;
	}
	for (int i = 0; i < TDM_KIND_COUNT; i++) {
		const struct tdm_history_kind *k = &history->kinds[i];
		if (sums[i].bytes != k->bytes || sums[i].buffers != k->buffers || k->peak_bytes < k->bytes)
			return false;
	}
	return mesh == history->mesh_bytes && history->mesh_peak_bytes >= mesh;
}

#endif
