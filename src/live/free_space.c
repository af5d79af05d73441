/*
 * The largest free block of each memory of a device, and how far L1 is filled from both ends. This needs every buffer
 * of every process on the device, so it is done for a device only when something has changed there, at most once a
 * second, and so seldom that it takes a small share of the time; devices take turns. With some process's buffers
 * unknown there is no answer.
 */
#include "live/live_parts.h"
#include "base/clock.h"

#include <errno.h>
#include <stdlib.h>

enum {
	SHARE = 50,           /* at most this part of the time */
	SMALL = 256,          /* spans that are sorted without digits */
	DIGIT_BITS = 11,      /* of a sorting pass */
	SPANS_KEPT = 1 << 17, /* room for more is given back */
};

/* What is collected of one device. */
struct haul {
	struct tdm_live *live;
	const struct tdm_overview_device *device;
	struct tdm_spans *spans;       /* by kind */
	size_t before[TDM_FREE_KINDS]; /* counts when this ledger's turn began */
	bool no_address[TDM_KIND_COUNT];
	uint64_t l1_lowest, cb_highest; /* 0: none */
	uint64_t lowest_before, highest_before;
	bool out_of_memory;
};

static void add_span(struct haul *haul, const struct tdm_ledger_slot *slot)
{
	const struct tdm_overview_kind *kind = &haul->device->kinds[slot->kind];
	struct tdm_spans *spans = &haul->spans[slot->kind];
	uint64_t from = slot->address, end = tdm_live_plus(slot->address, slot->bank_bytes);
	uint64_t limit = kind->base + kind->bank_bytes; /* the sum was checked with the description */
	if (kind->banks == 0 || end <= kind->base || from >= limit || slot->bank_bytes == 0)
		return;
	if (tdm_live_reserve((void **)&spans->list, &spans->cap, spans->count + 1, sizeof *spans->list) != 0) {
		haul->out_of_memory = true;
		return;
	}
	from = from > kind->base ? from - kind->base : 0;
	end = (end < limit ? end : limit) - kind->base;
	spans->is_sorted = spans->count == 0 || (spans->is_sorted && spans->list[spans->count - 1].from <= from);
	spans->list[spans->count++] = (struct tdm_span){ from, end };
}

static void begin_ledger(struct haul *haul)
{
	for (unsigned k = 0; k < TDM_FREE_KINDS; k++)
		haul->before[k] = haul->spans[k].count;
	haul->lowest_before = haul->l1_lowest;
	haul->highest_before = haul->cb_highest;
}

/* Its buffers come again. */
static void undo_ledger(struct haul *haul)
{
	for (unsigned k = 0; k < TDM_FREE_KINDS; k++)
		haul->spans[k].count = haul->before[k];
	haul->l1_lowest = haul->lowest_before;
	haul->cb_highest = haul->highest_before;
}

static void take_slot(void *context, const struct tdm_ledger_slot *slot)
{
	struct haul *haul = context;
	if (slot == NULL) {
		undo_ledger(haul);
		return;
	}
	if (slot->banks == 0 || (slot->flags & TDM_SLOT_VIEW) != 0)
		return;
	if ((slot->flags & TDM_SLOT_NO_ADDRESS) != 0) {
		haul->no_address[slot->kind] = true;
		return;
	}
	if (slot->kind < TDM_FREE_KINDS)
		add_span(haul, slot);
	if (slot->kind == TDM_KIND_L1 && (haul->l1_lowest == 0 || slot->address < haul->l1_lowest))
		haul->l1_lowest = slot->address;
	uint64_t end = tdm_live_plus(slot->address, slot->bank_bytes);
	if (slot->kind == TDM_KIND_CB && end > haul->cb_highest)
		haul->cb_highest = end;
}

/* Sorting by where they begin. */

static int by_from(const void *a, const void *b)
{
	const struct tdm_span *x = a, *y = b;
	return x->from < y->from ? -1 : x->from > y->from;
}

/* One pass: in the order of one digit, equal ones as they were. */
static void sort_pass(const struct tdm_span *from, struct tdm_span *to, size_t count, unsigned shift)
{
	uint32_t at[1 << DIGIT_BITS] = { 0 }, sum = 0;
	const uint64_t mask = (UINT64_C(1) << DIGIT_BITS) - 1;
	for (size_t i = 0; i < count; i++)
		at[from[i].from >> shift & mask]++;
	for (size_t i = 0; i <= mask; i++) {
		uint32_t n = at[i];
		at[i] = sum;
		sum += n;
	}
	for (size_t i = 0; i < count; i++)
		to[at[from[i].from >> shift & mask]++] = from[i];
}

static int sort_spans(struct tdm_live *live, struct tdm_spans *spans)
{
	uint64_t highest = 0;
	if (spans->is_sorted || spans->count < 2)
		return 0;
	if (spans->count < SMALL) {
		qsort(spans->list, spans->count, sizeof *spans->list, by_from);
		return 0;
	}
	if (tdm_live_reserve((void **)&live->scratch.list, &live->scratch.cap, spans->count, sizeof *spans->list) != 0)
		return -ENOMEM;
	for (size_t i = 0; i < spans->count; i++)
		highest |= spans->list[i].from;
	for (unsigned shift = 0; shift < 64 && highest >> shift != 0; shift += DIGIT_BITS) {
		sort_pass(spans->list, live->scratch.list, spans->count, shift);
		struct tdm_spans other = live->scratch;
		live->scratch.list = spans->list;
		live->scratch.cap = spans->cap;
		spans->list = other.list;
		spans->cap = other.cap;
	}
	return 0;
}

static uint64_t largest_gap(const struct tdm_spans *spans, uint64_t size)
{
	uint64_t largest = 0, reached = 0;
	for (size_t i = 0; i < spans->count; i++) {
		if (spans->list[i].from > reached && spans->list[i].from - reached > largest)
			largest = spans->list[i].from - reached;
		reached = spans->list[i].end > reached ? spans->list[i].end : reached;
	}
	return size - reached > largest ? size - reached : largest;
}

static int collect(struct tdm_live *live, size_t d, struct haul *haul)
{
	int err = 0;
	for (unsigned k = 0; k < TDM_FREE_KINDS; k++)
		haul->spans[k].count = 0;
	for (size_t i = 0; i < live->ledgers.count && err == 0; i++) {
		struct tdm_watched *item = live->ledgers.items[i];
		for (size_t x = 0; item->ledger != NULL && x < tdm_watched_device_count(item) && err == 0; x++) {
			bool exact;
			if (live->item_devices[i][x] != d)
				continue;
			begin_ledger(haul);
			err = tdm_ledger_slots(item->ledger, x, take_slot, haul, &exact);
		}
	}
	return err != 0 ? err : haul->out_of_memory ? -ENOMEM : 0;
}

static int compute(struct tdm_live *live, size_t d)
{
	const struct tdm_overview_device *device = &live->overview.devices[d];
	struct tdm_memo *memo = &live->memos[live->joined[d].memo];
	struct haul haul = { .live = live, .device = device, .spans = live->spans };
	int err = collect(live, d, &haul);
	for (unsigned k = 0; k < TDM_FREE_KINDS && err == 0; k++) {
		memo->largest[k] = TDM_BYTES_UNKNOWN;
		if (device->kinds[k].banks == 0 || haul.no_address[k])
			continue;
		err = sort_spans(live, &live->spans[k]);
		if (err == 0)
			memo->largest[k] = largest_gap(&live->spans[k], device->kinds[k].bank_bytes);
	}
	memo->l1_lowest = haul.no_address[TDM_KIND_L1] ? TDM_BYTES_UNKNOWN : haul.l1_lowest;
	memo->cb_highest = haul.no_address[TDM_KIND_CB] ? TDM_BYTES_UNKNOWN : haul.cb_highest;
	memo->computed_ns = tdm_clock_ns();
	/* After an error the device counts as not computed; it is tried again when its turn comes. */
	memo->state = err == 0 ? live->joined[d].state : 0;
	return err == -ENOMEM ? err : 0;
}

/* A number for all that the answer depends on: which ledgers, how far each has come, and where memory lies. */
static void hash_states(struct tdm_live *live)
{
	for (size_t d = 0; d < live->overview.device_count; d++) {
		uint64_t state = 1;
		for (unsigned k = 0; k < TDM_FREE_KINDS; k++) {
			const struct tdm_overview_kind *kind = &live->overview.devices[d].kinds[k];
			state = tdm_hash_u64(state ^ kind->base ^ kind->bank_bytes << 1);
		}
		live->joined[d].state = state;
	}
	for (size_t i = 0; i < live->ledgers.count; i++) {
		const struct tdm_watched *item = live->ledgers.items[i];
		for (size_t x = 0; item->ledger != NULL && x < tdm_watched_device_count(item); x++) {
			uint32_t d = live->item_devices[i][x];
			if (d != UINT32_MAX)
				live->joined[d].state +=
					tdm_hash_u64(item->handle << 40 ^ x << 32 ^ tdm_watched_device(item, x)->seq);
		}
	}
	for (size_t d = 0; d < live->overview.device_count; d++)
		live->joined[d].state += live->joined[d].state == 0; /* 0 stands for never */
}

static bool has_answer(const struct tdm_live *live, size_t d)
{
	return live->joined[d].ledgers != 0 && !live->joined[d].is_incomplete;
}

static bool is_due(const struct tdm_live *live, size_t d, uint64_t now_ns)
{
	const struct tdm_memo *memo = &live->memos[live->joined[d].memo];
	return has_answer(live, d) && memo->state != live->joined[d].state &&
	       (live->options.once || memo->computed_ns == 0 || now_ns - memo->computed_ns >= TDM_NS_PER_S);
}

static void show(struct tdm_live *live, size_t d)
{
	struct tdm_overview_device *device = &live->overview.devices[d];
	const struct tdm_memo *memo = &live->memos[live->joined[d].memo];
	if (!has_answer(live, d) || memo->state == 0)
		return;
	device->l1_lowest = memo->l1_lowest;
	device->cb_highest = memo->cb_highest;
	for (unsigned k = 0; k < TDM_FREE_KINDS; k++) {
		struct tdm_overview_kind *kind = &device->kinds[k];
		uint64_t bytes;
		if (memo->largest[k] == TDM_BYTES_UNKNOWN || kind->used_from != TDM_FROM_LEDGER ||
			__builtin_mul_overflow(memo->largest[k], (uint64_t)kind->banks, &bytes))
			continue;
		/* It may be a little older than what is free. */
		kind->largest_free = bytes < kind->free ? bytes : kind->free;
		kind->largest_free_ns = memo->computed_ns;
	}
}

int tdm_live_free_space(struct tdm_live *live)
{
	size_t count = live->overview.device_count;
	int err = 0;
	if (live->options.no_largest)
		return 0;
	hash_states(live);
	for (size_t n = 0; n < count && err == 0; n++) {
		uint64_t begin = tdm_clock_ns();
		if (!live->options.once && begin < live->free_ns)
			break;
		size_t d = (live->free_turn + n) % count;
		if (!is_due(live, d, begin))
			continue;
		err = compute(live, d);
		live->free_ns = begin + SHARE * (tdm_clock_ns() - begin);
		live->free_turn = live->options.once ? 0 : d + 1;
		if (!live->options.once)
			break;
	}
	for (unsigned k = 0; k <= TDM_FREE_KINDS; k++) {
		struct tdm_spans *spans = k < TDM_FREE_KINDS ? &live->spans[k] : &live->scratch;
		if (spans->cap > SPANS_KEPT) {
			free(spans->list);
			*spans = (struct tdm_spans){ 0 };
		}
	}
	for (size_t d = 0; d < count; d++)
		show(live, d);
	return err;
}
