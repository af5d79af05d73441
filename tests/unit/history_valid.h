/* The invariant of a history of buffers: sums agree with the live buffers. For tests and fuzz targets, before the end.
 */
#ifndef TDM_TESTS_HISTORY_VALID_H
#define TDM_TESTS_HISTORY_VALID_H

#include "analyze/report/inspector_memory.h"

static inline bool history_is_valid(const struct tdm_buffer_history *history)
{
	struct tdm_history_kind sums[TDM_KIND_COUNT] = { { .allocs = 0 } };
	uint64_t mesh = 0;
	for (size_t i = 0; i < history->set.used; i++) {
		const struct tdm_mesh_buffer *b = &history->live[i];
		if (b->event.op != TDM_OP_ALLOC)
			continue;
		sums[b->event.kind].live.bytes += b->event.size;
		sums[b->event.kind].live.buffers++;
		mesh += b->mesh_bytes;
	}
	for (int i = 0; i < TDM_KIND_COUNT; i++) {
		const struct tdm_history_kind *k = &history->kinds[i];
		if (sums[i].live.bytes != k->live.bytes || sums[i].live.buffers != k->live.buffers ||
			k->live.peak_bytes < k->live.bytes)
			return false;
	}
	return mesh == history->mesh.bytes && history->mesh.peak_bytes >= mesh;
}

#endif
