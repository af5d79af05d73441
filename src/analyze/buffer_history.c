#include "analyze/buffer_history.h"
#include "analyze/finding.h"
#include "base/reserve.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { LIVE_MAX = 1 << 26 };

int tdm_buffer_history_init(struct tdm_buffer_history *history)
{
	*history = (struct tdm_buffer_history){ 0 };
	for (uint8_t i = 0; i < TDM_KIND_COUNT; i++)
		history->kinds[i].kind = i;
	return tdm_map_init(&history->by_id);
}

void tdm_buffer_history_done(struct tdm_buffer_history *history)
{
	tdm_map_done(&history->by_id);
	free(history->live);
	*history = (struct tdm_buffer_history){ 0 };
}

/* Removes the buffer at `index`; the last one takes its place. */
static int take_out(struct tdm_buffer_history *h, uint32_t index)
{
	struct tdm_history_buffer gone = h->live[index], *last = &h->live[h->live_count - 1];
	h->kinds[gone.kind].bytes -= gone.bytes;
	h->kinds[gone.kind].buffers--;
	h->mesh_bytes -= gone.mesh_bytes;
	tdm_map_take(&h->by_id, gone.id);
	h->live_count--;
	if (index == h->live_count)
		return 0;
	h->live[index] = *last;
	return tdm_map_put(&h->by_id, last->id, index);
}

static int add(struct tdm_buffer_history *h, const struct tdm_event *event, uint64_t mesh_bytes)
{
	struct tdm_history_kind *kind = &h->kinds[event->kind];
	uint64_t sum, mesh;
	uint32_t index = tdm_map_find(&h->by_id, event->id);
	if (index != TDM_MAP_NONE) {
		h->rereports++;
		int err = take_out(h, index);
		if (err != 0)
			return err;
	}
	if (__builtin_add_overflow(kind->bytes, event->size, &sum) ||
		__builtin_add_overflow(h->mesh_bytes, mesh_bytes, &mesh)) {
		h->overflows++;
		return 0;
	}
	if (h->live_count == LIVE_MAX || tdm_reserve(&h->live, &h->live_cap, h->live_count + 1, sizeof *h->live) != 0)
		return -ENOMEM;
	if (tdm_map_put(&h->by_id, event->id, (uint32_t)h->live_count) != 0)
		return -ENOMEM;
	h->live[h->live_count++] = (struct tdm_history_buffer){
		.id = event->id,
		.address = event->address,
		.bytes = event->size,
		.born_ns = event->time_ns,
		.position = event->position,
		.mesh_bytes = mesh_bytes,
		.kind = event->kind,
	};
	kind->bytes = sum;
	kind->buffers++;
	kind->allocs++;
	h->mesh_bytes = mesh;
	h->mesh_peak_bytes = tdm_max(h->mesh_peak_bytes, mesh);
	if (sum > kind->peak_bytes) {
		kind->peak_bytes = sum;
		kind->peak_buffers = kind->buffers;
		kind->peak_ns = event->time_ns;
	}
	return 0;
}

static int apply(struct tdm_buffer_history *h, const struct tdm_event *event, uint64_t mesh_bytes)
{
	if (event->op != TDM_OP_ALLOC && event->op != TDM_OP_FREE)
		return 0;
	h->first_ns = h->has_time ? tdm_min(h->first_ns, event->time_ns) : event->time_ns;
	h->has_time = true;
	h->last_ns = tdm_max(h->last_ns, event->time_ns);
	if (event->op == TDM_OP_ALLOC)
		return add(h, event, mesh_bytes);
	uint32_t index = tdm_map_find(&h->by_id, event->id);
	if (index == TDM_MAP_NONE) {
		h->unknown_frees++;
		return 0;
	}
	h->kinds[h->live[index].kind].frees++;
	return take_out(h, index);
}

int tdm_buffer_history_take(void *history, const struct tdm_record *record)
{
	struct tdm_buffer_history *h = history;
	h->refused += record->type == TDM_RECORD_REFUSED;
	return record->type == TDM_RECORD_MESH_BUFFER ? apply(h, &record->mesh->event, record->mesh->mesh_bytes) : 0;
}

static int compare(const void *left, const void *right)
{
	const struct tdm_history_buffer *a = left, *b = right;
	int order = tdm_order(b->bytes, a->bytes);
	order = order != 0 ? order : tdm_order(a->position, b->position);
	return order != 0 ? order : tdm_order(a->id, b->id);
}

void tdm_buffer_history_end(struct tdm_buffer_history *history)
{
	if (history->live_count != 0)
		qsort(history->live, history->live_count, sizeof *history->live, compare);
}

void tdm_buffer_history_find(const struct tdm_buffer_history *h, struct tdm_findings *found)
{
	char odd[48] = "";
	if (h->unknown_frees == 0 && h->rereports == 0 && h->overflows == 0)
		return;
	if (h->overflows != 0)
		snprintf(odd, sizeof odd, ", %" PRIu64 " of impossible size", h->overflows);
	tdm_findings_remark(found, TDM_FINDING_WARNING, "faults", "Faults");
	tdm_findings_say(found,
		"%" PRIu64 " release%s of buffers that were not alive, %" PRIu64 " second allocation%s of live ones%s",
		h->unknown_frees, h->unknown_frees == 1 ? "" : "s", h->rereports, h->rereports == 1 ? "" : "s", odd);
}
