/*
 * Computes the largest free block of each memory of a device, and how far L1 is filled from both ends. This needs every
 * buffer of every process on the device. So it is done only for devices that have changed, at most once a second and
 * within a small share of the time; devices take turns. If the buffers of any process are unknown, there is no answer.
 */
#include "state/state_parts.h"
#include "base/clock.h"
#include "base/reserve.h"

#include <errno.h>
#include <stdlib.h>

enum {
	SHARE = 100,           /* at most 1/100 of the time */
	SLICE_MS = 1,          /* of a refresh; a device that was started is finished */
	FIRST_SLICE_MS = 20,   /* of the first refresh, when no device has an answer yet */
	BUCKETS_MIN = 1 << 6,  /* of a memory */
	BUCKETS_MAX = 1 << 13, /* fits in a cache with the data being read */
	SMALL = 256,           /* up to this many spans, no radix sort */
	DIGIT_BITS = 11,       /* of a sorting pass */
};

/*
 * A bucket: a part of a bank, and the range covered by the buffers that begin in it. A gap at least as long as a bucket
 * begins and ends in different buckets, so the first and last byte of each bucket's buffers are enough to find it.
 * Buffers are sorted only if there is no such gap, because the memory is nearly full.
 */
struct tdm_reach {
	uint64_t from, end; /* the lowest beginning and the highest end */
};

/* Where a buffer is in each bank, relative to the start of its region. */
struct tdm_span {
	uint64_t from, end;
};

/* One memory of the device that is looked at. */
struct memory {
	uint64_t base, size; /* of each bank; size 0: not known */
	unsigned shift;      /* an offset shifted by this is its bucket */
	size_t bucket_count;
	struct tdm_reach *buckets;
	bool no_address; /* a buffer has none */
};

struct look {
	struct memory memories[TDM_FREE_KINDS];
	uint64_t l1_lowest, cb_highest; /* 0: none */
	bool no_cb;                     /* a circular buffer has no address */
	/* for a second pass, which collects the buffers of one kind */
	unsigned kind;
	struct tdm_span *spans;
	size_t span_count, span_cap;
	bool out_of_memory;
};

/* Where a slot's buffer is in its memory; false if outside of it. */
static inline bool place_slot(const struct memory *memory, const struct tdm_ledger_slot *slot, struct tdm_span *span)
{
	uint64_t end = tdm_plus(slot->address, slot->bank_bytes);
	if (memory->size == 0 || slot->bank_bytes == 0 || end <= memory->base ||
		(slot->address > memory->base && slot->address - memory->base >= memory->size))
		return false;
	span->from = slot->address > memory->base ? slot->address - memory->base : 0;
	span->end = end - memory->base < memory->size ? end - memory->base : memory->size;
	return true;
}

static inline void take_slot(struct look *look, const struct tdm_ledger_slot *slot)
{
	struct tdm_span span;
	bool has_address = (slot->flags & TDM_SLOT_NO_ADDRESS) == 0;
	if (tdm_ledger_slot_is_view(slot))
		return;
	if (slot->kind == TDM_KIND_CB) {
		uint64_t end = tdm_plus(slot->address, slot->bank_bytes);
		look->no_cb |= !has_address;
		if (has_address && end > look->cb_highest)
			look->cb_highest = end;
	}
	if (slot->kind >= TDM_FREE_KINDS)
		return;
	struct memory *memory = &look->memories[slot->kind];
	memory->no_address |= !has_address;
	if (!has_address)
		return;
	if (slot->kind == TDM_KIND_L1 && (look->l1_lowest == 0 || slot->address < look->l1_lowest))
		look->l1_lowest = slot->address;
	if (!place_slot(memory, slot, &span))
		return;
	struct tdm_reach *bucket = &memory->buckets[span.from >> memory->shift];
	bucket->from = span.from < bucket->from ? span.from : bucket->from;
	bucket->end = span.end > bucket->end ? span.end : bucket->end;
}

static int take_slots(
	void *context, const struct tdm_ledger_slot *slots, const struct tdm_ledger_more *mores, size_t count)
{
	(void)mores;
	for (size_t i = 0; i < count; i++)
		take_slot(context, &slots[i]);
	return 0;
}

static uint64_t longest_gap(const struct memory *memory)
{
	uint64_t longest = 0, reached = 0;
	for (size_t i = 0; i < memory->bucket_count; i++) {
		const struct tdm_reach *bucket = &memory->buckets[i];
		if (bucket->end == 0)
			continue;
		if (bucket->from > reached && bucket->from - reached > longest)
			longest = bucket->from - reached;
		reached = bucket->end > reached ? bucket->end : reached;
	}
	return memory->size - reached > longest ? memory->size - reached : longest;
}

/* Sorting, for the rare case. */

static void collect_slot(struct look *look, const struct tdm_ledger_slot *slot)
{
	struct tdm_span span;
	if (slot->kind != look->kind || tdm_ledger_slot_is_view(slot) || (slot->flags & TDM_SLOT_NO_ADDRESS) != 0 ||
		!place_slot(&look->memories[slot->kind], slot, &span))
		return;
	if (tdm_reserve(&look->spans, &look->span_cap, look->span_count + 1, sizeof span) != 0)
		look->out_of_memory = true;
	else
		look->spans[look->span_count++] = span;
}

static int collect_slots(
	void *context, const struct tdm_ledger_slot *slots, const struct tdm_ledger_more *mores, size_t count)
{
	struct look *look = context;
	(void)mores;
	for (size_t i = 0; i < count; i++)
		collect_slot(look, &slots[i]);
	return look->out_of_memory ? -ENOMEM : 0;
}

static int by_from(const void *a, const void *b)
{
	const struct tdm_span *x = a, *y = b;
	return x->from < y->from ? -1 : x->from > y->from;
}

/* One pass of the radix sort: stable, by one digit. */
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

static int sort_spans(struct look *look)
{
	uint64_t highest = 0;
	if (look->span_count < SMALL) {
		if (look->span_count > 1)
			qsort(look->spans, look->span_count, sizeof *look->spans, by_from);
		return 0;
	}
	struct tdm_span *other = malloc(look->span_count * sizeof *other);
	if (other == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < look->span_count; i++)
		highest |= look->spans[i].from;
	for (unsigned shift = 0; shift < 64 && highest >> shift != 0; shift += DIGIT_BITS) {
		struct tdm_span *sorted = other;
		sort_pass(look->spans, sorted, look->span_count, shift);
		other = look->spans;
		look->spans = sorted;
		look->span_cap = look->span_count;
	}
	free(other);
	return 0;
}

static uint64_t longest_sorted(const struct look *look, uint64_t size)
{
	uint64_t longest = 0, reached = 0;
	for (size_t i = 0; i < look->span_count; i++) {
		const struct tdm_span *span = &look->spans[i];
		if (span->from > reached && span->from - reached > longest)
			longest = span->from - reached;
		reached = span->end > reached ? span->end : reached;
	}
	return size - reached > longest ? size - reached : longest;
}

/* Looking at a device. */

/* Calls `walk` for every buffer on the device. */
static int walk_device(struct tdm_state *state, size_t d, const struct tdm_ledger_walk *walk)
{
	int err = 0;
	for (size_t i = 0; i < state->part_count && err == 0; i++) {
		const struct tdm_part *part = &state->parts[i];
		if (part->device == d && part->ledger != NULL &&
			tdm_picture_counts(&state->picture.processes[part->process]))
			err = tdm_follower_walk(state->follower, part->owner->number, part->ledger->number, walk);
		err = err == -ENOENT ? 0 : err; /* its process has ended */
	}
	return err;
}

/* More buffers get more buckets, so few of them share one. */
static int start_memory(struct tdm_state *state, const struct tdm_picture_kind *kind, unsigned k, struct memory *memory)
{
	struct tdm_buckets *room = &state->buckets[k];
	uint64_t buffers = kind->buffers != TDM_BYTES_UNKNOWN ? kind->buffers : 0;
	size_t most = BUCKETS_MIN;
	*memory = (struct memory){ .base = kind->base, .size = kind->banks != 0 ? kind->bank_bytes : 0 };
	if (memory->size == 0)
		return 0;
	while (most < BUCKETS_MAX && most < buffers)
		most *= 2;
	while ((memory->size - 1) >> memory->shift >= most)
		memory->shift++;
	memory->bucket_count = (size_t)((memory->size - 1) >> memory->shift) + 1;
	if (tdm_reserve(&room->list, &room->cap, memory->bucket_count, sizeof *room->list) != 0)
		return -ENOMEM;
	memory->buckets = room->list;
	for (size_t i = 0; i < memory->bucket_count; i++)
		memory->buckets[i] = (struct tdm_reach){ UINT64_MAX, 0 };
	return 0;
}

/* Every gap is shorter than a bucket: collects the buffers of this kind again and sorts them. */
static int sort_memory(struct tdm_state *state, size_t d, unsigned k, struct look *look, uint64_t *longest)
{
	look->kind = k;
	look->span_count = 0;
	int err = walk_device(state, d, &(struct tdm_ledger_walk){ .each = collect_slots, .context = look });
	if (err == 0)
		err = sort_spans(look);
	if (err == 0)
		*longest = longest_sorted(look, look->memories[k].size);
	return err;
}

static int compute(struct tdm_state *state, size_t d)
{
	const struct tdm_picture_device *device = &state->picture.devices[d];
	struct tdm_memo *memo = &state->memos[state->joined[d].memo];
	struct look look = { 0 };
	int err = 0;
	for (unsigned k = 0; k < TDM_FREE_KINDS && err == 0; k++)
		err = start_memory(state, &device->kinds[k], k, &look.memories[k]);
	if (err == 0)
		err = walk_device(state, d, &(struct tdm_ledger_walk){ .each = take_slots, .context = &look });
	for (unsigned k = 0; k < TDM_FREE_KINDS && err == 0; k++) {
		const struct memory *memory = &look.memories[k];
		memo->largest[k] = TDM_BYTES_UNKNOWN;
		if (memory->size == 0 || memory->no_address)
			continue;
		memo->largest[k] = longest_gap(memory);
		if (memo->largest[k] < UINT64_C(1) << memory->shift)
			err = sort_memory(state, d, k, &look, &memo->largest[k]);
	}
	free(look.spans);
	memo->l1_lowest = look.memories[TDM_KIND_L1].no_address ? TDM_BYTES_UNKNOWN : look.l1_lowest;
	memo->cb_highest = look.no_cb ? TDM_BYTES_UNKNOWN : look.cb_highest;
	memo->computed_ns = tdm_clock_ns();
	/* After an error the device counts as not computed; it is tried again when its turn comes. */
	memo->state = err == 0 ? state->joined[d].state : 0;
	return err == -ENOMEM ? err : 0;
}

/* Hashes everything the answer depends on: the ledgers, how far each has come, and where memory is. */
static void hash_states(struct tdm_state *state)
{
	for (size_t d = 0; d < state->picture.device_count; d++) {
		uint64_t hash = 1;
		for (unsigned k = 0; k < TDM_FREE_KINDS; k++) {
			const struct tdm_picture_kind *kind = &state->picture.devices[d].kinds[k];
			hash = tdm_hash_u64(hash ^ kind->base ^ kind->bank_bytes << 1);
		}
		state->joined[d].state = hash;
	}
	for (size_t i = 0; i < state->part_count; i++) {
		const struct tdm_part *part = &state->parts[i];
		if (part->ledger == NULL)
			continue;
		uint64_t seq = tdm_follower_seq(state->follower, part->owner->number, part->ledger->number);
		state->joined[part->device].state +=
			tdm_hash_u64(part->owner->number << 40 ^ (uint64_t)part->ledger->number << 32 ^ seq);
	}
	for (size_t d = 0; d < state->picture.device_count; d++)
		state->joined[d].state += state->joined[d].state == 0; /* 0 means never */
}

static bool has_answer(const struct tdm_state *state, size_t d)
{
	return state->joined[d].ledgers != 0 && !state->joined[d].is_incomplete;
}

static bool is_due(const struct tdm_state *state, size_t d, uint64_t now_ns)
{
	const struct tdm_memo *memo = &state->memos[state->joined[d].memo];
	bool is_asked = state->wish.device == 0 || state->wish.device == memo->key;
	return has_answer(state, d) && is_asked && memo->state != state->joined[d].state &&
	       (state->options.once || memo->computed_ns == 0 || now_ns - memo->computed_ns >= TDM_NS_PER_S);
}

/* The gap between circular buffers, which grow up, and L1 buffers, which grow down. The clash test checks it. */
static void show_gap(struct tdm_picture_device *device, uint64_t computed_ns)
{
	struct tdm_picture_kind *cb = &device->kinds[TDM_KIND_CB];
	uint64_t gap = tdm_picture_gap(device), bytes;
	if (gap == TDM_BYTES_UNKNOWN || cb->free == TDM_BYTES_UNKNOWN ||
		__builtin_mul_overflow(gap, (uint64_t)cb->banks, &bytes))
		return;
	cb->largest_free = bytes < cb->free ? bytes : cb->free;
	cb->largest_free_ns = computed_ns;
}

static void show(struct tdm_state *state, size_t d)
{
	struct tdm_picture_device *device = &state->picture.devices[d];
	const struct tdm_memo *memo = &state->memos[state->joined[d].memo];
	if (!has_answer(state, d) || memo->state == 0)
		return;
	device->l1_lowest = memo->l1_lowest;
	device->cb_highest = memo->cb_highest;
	for (unsigned k = 0; k < TDM_FREE_KINDS; k++) {
		struct tdm_picture_kind *kind = &device->kinds[k];
		uint64_t bytes;
		if (memo->largest[k] == TDM_BYTES_UNKNOWN || kind->used_from != TDM_FROM_LEDGER ||
			__builtin_mul_overflow(memo->largest[k], (uint64_t)kind->banks, &bytes))
			continue;
		/* The block may be a little older than `free`. */
		kind->largest_free = bytes < kind->free ? bytes : kind->free;
		kind->largest_free_ns = memo->computed_ns;
	}
	show_gap(device, memo->computed_ns);
}

int tdm_state_free_space(struct tdm_state *state)
{
	size_t count = state->picture.device_count, first = state->free_turn;
	uint64_t begin = tdm_clock_ns(), now = begin;
	bool is_first = state->free_ns == 0;
	uint64_t slice = state->options.once ? UINT64_MAX : (is_first ? FIRST_SLICE_MS : SLICE_MS) * TDM_NS_PER_MS;
	int err = 0;
	hash_states(state);
	for (size_t n = 0;
		!state->wish.no_largest && begin >= state->free_ns && now - begin < slice && n < count && err == 0;
		n++) {
		size_t d = (first + n) % count;
		if (!is_due(state, d, now))
			continue;
		err = compute(state, d);
		state->free_turn = state->options.once ? 0 : d + 1;
		now = tdm_clock_ns();
	}
	if (now != begin && !state->options.once)
		state->free_ns = is_first ? now : begin + SHARE * (now - begin);
	for (size_t d = 0; d < count; d++)
		show(state, d);
	return err;
}
