/* Recent events of all programs: what their rings hold that was not given out yet. */
#include "live/live_parts.h"
#include "base/clock.h"
#include "sources/ledger_event.h"

#include <errno.h>
#include <stdlib.h>

/* Events being collected: at most `cap` are kept, the latest. */
struct heap {
	struct tdm_overview_event *list; /* the oldest first in the sense of a heap */
	size_t count, cap;
	uint64_t lost;
};

static void swap(struct tdm_overview_event *a, struct tdm_overview_event *b)
{
	struct tdm_overview_event other = *a;
	*a = *b;
	*b = other;
}

static void sink(struct heap *heap, size_t i)
{
	for (;;) {
		size_t least = i, child = 2 * i + 1;
		for (size_t c = child; c < child + 2 && c < heap->count; c++)
			if (heap->list[c].time_ns < heap->list[least].time_ns)
				least = c;
		if (least == i)
			return;
		swap(&heap->list[i], &heap->list[least]);
		i = least;
	}
}

static uint64_t weight(const struct tdm_overview_event *event)
{
	return event->op == TDM_OP_LOST ? event->asked : 1;
}

static void put(struct heap *heap, const struct tdm_overview_event *event)
{
	if (heap->count == heap->cap) {
		if (heap->cap == 0 || event->time_ns < heap->list[0].time_ns) {
			heap->lost += weight(event);
			return;
		}
		heap->lost += weight(&heap->list[0]);
		heap->list[0] = *event;
		sink(heap, 0);
		return;
	}
	size_t i = heap->count++;
	heap->list[i] = *event;
	for (; i != 0 && heap->list[i].time_ns < heap->list[(i - 1) / 2].time_ns; i = (i - 1) / 2)
		swap(&heap->list[i], &heap->list[(i - 1) / 2]);
}

static struct tdm_overview_event start_event(const struct tdm_watched *item, const struct tdm_ledger_view *view)
{
	return (struct tdm_overview_event){
		.handle = item->handle,
		.pid = item->pid != 0 ? item->pid : item->who.pid,
		.number = (int32_t)(view->number & ~TDM_DEVICE_VIRTUAL_BIT),
		.is_virtual = (view->number & TDM_DEVICE_VIRTUAL_BIT) != 0,
		.address = TDM_ADDRESS_UNKNOWN,
		.reserved = TDM_BYTES_UNKNOWN,
	};
}

static struct tdm_overview_event decode(
	struct tdm_watched *item, const struct tdm_ledger_view *view, const struct tdm_ledger_record *record)
{
	struct tdm_overview_event out = start_event(item, view);
	struct tdm_event event;
	uint64_t reserved;
	tdm_ledger_record_event(tdm_watched_ring(item), record, &event);
	if (!tdm_ledger_realtime(tdm_watched_ring(item), record->tsc, &out.time_ns))
		out.time_ns = 0;
	out.op = event.op;
	out.kind = event.kind;
	out.is_fault = record->op == TDM_LEDGER_BAD_FREE;
	out.address = event.address;
	out.asked = event.size;
	if (event.bytes_per_bank != TDM_SIZE_UNKNOWN &&
		!__builtin_mul_overflow(event.bytes_per_bank, (uint64_t)event.banks, &reserved))
		out.reserved = reserved;
	tdm_str_shown(event.name, out.name, sizeof out.name);
	return out;
}

static int read_device(struct tdm_watched *item, size_t d, bool is_first, struct tdm_ledger_record *records, size_t cap,
	struct heap *heap)
{
	struct tdm_ledger *ledger = tdm_watched_ring(item);
	const struct tdm_ledger_view *view = tdm_ledger_device(ledger, d);
	uint64_t after = item->cursors[d], missed = 0, skipped = 0;
	if (view->seq > after && view->seq - after > cap) { /* older ones would be thrown away below */
		skipped = view->seq - after - cap;
		after = view->seq - cap;
	}
	int64_t got = tdm_ledger_events(ledger, d, after, records, cap, &missed);
	if (got < 0)
		return got == -ENOMEM ? -ENOMEM : 0;
	for (int64_t i = 0; i < got; i++) {
		struct tdm_overview_event event = decode(item, view, &records[i]);
		put(heap, &event);
	}
	if (got != 0)
		item->cursors[d] = records[got - 1].seq;
	else if (view->seq > item->cursors[d])
		item->cursors[d] = view->seq;
	if (!is_first && missed + skipped != 0) {
		struct tdm_overview_event event = start_event(item, view);
		event.op = TDM_OP_LOST;
		event.asked = missed + skipped;
		if (got == 0 || !tdm_ledger_realtime(ledger, records[0].tsc, &event.time_ns))
			event.time_ns = 0;
		put(heap, &event);
	}
	return 0;
}

static int by_time(const void *a, const void *b)
{
	const struct tdm_overview_event *x = a, *y = b;
	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return (y->op == TDM_OP_LOST) - (x->op == TDM_OP_LOST); /* a gap lies before what follows it */
}

size_t tdm_live_events(struct tdm_live *live, struct tdm_overview_event *events, size_t cap)
{
	struct heap heap = { .list = events, .cap = cap };
	struct tdm_ledger_record *records = cap != 0 ? malloc(cap * sizeof *records) : NULL;
	bool is_first = !live->has_events;
	for (size_t i = 0; records != NULL && i < live->ledgers.count; i++) {
		struct tdm_watched *item = live->ledgers.items[i];
		if (tdm_watched_ring(item) == NULL || item->is_broken || item->handle == 0)
			continue;
		for (size_t d = 0; d < tdm_ledger_device_count(tdm_watched_ring(item)); d++)
			if (read_device(item, d, is_first, records, cap, &heap) != 0)
				break;
	}
	free(records);
	live->has_events = live->has_events || records != NULL;
	/* What did not fit is one more gap, in front; there is room for it by leaving the oldest event out, too. */
	if (heap.lost != 0 && !is_first && cap != 0) {
		uint64_t oldest = heap.list[0].time_ns;
		heap.lost += weight(&heap.list[0]);
		heap.list[0] = (struct tdm_overview_event){ .op = TDM_OP_LOST,
			.asked = heap.lost,
			.time_ns = oldest,
			.number = -1,
			.address = TDM_ADDRESS_UNKNOWN,
			.reserved = TDM_BYTES_UNKNOWN };
	}
	if (heap.count > 1)
		qsort(events, heap.count, sizeof *events, by_time);
	return heap.count;
}
