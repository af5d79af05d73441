/*
 * Computes the largest free block of each memory of a device, and how far L1 is filled from both ends. This needs every
 * buffer of every process on the device. So it is done only for devices that have changed, and within a small share of
 * the time; devices take turns, and the picture says whose answer is older than its counters. If the buffers of any
 * process are unknown, there is no answer.
 *
 * An answer must belong to the counters beside it. So the buffers are those that were live when the counters were read;
 * if a busy program has overwritten one of them, the device's counters are read again.
 */
#include "state/state_parts.h"
#include "base/clock.h"
#include "base/reserve.h"

#include <errno.h>
#include <stdlib.h>

enum {
	SHARE = 250,           /* at most 1/250 of the time */
	CREDIT_MS = 20,        /* that may be saved up; also what the first picture may spend */
	TRIES = 4,             /* to find the buffers that belong to the counters, */
	MANY = 16384,          /* up to this many; with more, the answer is then shown as an old one */
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
	bool no_size;    /* of a buffer it is not known what it takes */
};

struct look {
	struct memory memories[TDM_FREE_KINDS];
	uint64_t l1_lowest, cb_highest; /* 0: none */
	bool no_cb;                     /* a circular buffer has no address */
	bool exact;                     /* the buffers are those that the counters count */
	bool torn;                      /* those that a view asked for are not */
	/* for a second pass, which collects the buffers of one kind */
	bool collects;
	unsigned kind;
	struct tdm_span *spans;
	size_t span_count, span_cap;
	bool out_of_memory;
};

/* What counts of a buffer that is no view, nor shared: programs that are kept leave the next one their room. */
struct item {
	unsigned kind;
	bool has_address, has_size;
	uint64_t address, bytes; /* of a bank */
};

/* Where it is in its memory; false if outside of it. */
static inline bool place_item(const struct memory *memory, const struct item *item, struct tdm_span *span)
{
	uint64_t end = tdm_plus(item->address, item->bytes);
	if (memory->size == 0 || item->bytes == 0 || end <= memory->base ||
		(item->address > memory->base && item->address - memory->base >= memory->size))
		return false;
	span->from = item->address > memory->base ? item->address - memory->base : 0;
	span->end = end - memory->base < memory->size ? end - memory->base : memory->size;
	return true;
}

static inline void take_item(struct look *look, const struct item *item)
{
	struct tdm_span span;
	if (item->kind == TDM_KIND_CB) {
		look->no_cb |= !item->has_address;
		if (item->has_address)
			look->cb_highest = tdm_max(look->cb_highest, tdm_plus(item->address, item->bytes));
	}
	if (item->kind >= TDM_FREE_KINDS)
		return;
	struct memory *memory = &look->memories[item->kind];
	memory->no_address |= !item->has_address;
	memory->no_size |= !item->has_size;
	if (!item->has_address)
		return;
	if (item->kind == TDM_KIND_L1 && (look->l1_lowest == 0 || item->address < look->l1_lowest))
		look->l1_lowest = item->address;
	if (!place_item(memory, item, &span))
		return;
	struct tdm_reach *bucket = &memory->buckets[span.from >> memory->shift];
	bucket->from = span.from < bucket->from ? span.from : bucket->from;
	bucket->end = span.end > bucket->end ? span.end : bucket->end;
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

static void collect_item(struct look *look, const struct item *item)
{
	struct tdm_span span;
	if (item->kind != look->kind || !item->has_address || !place_item(&look->memories[item->kind], item, &span))
		return;
	if (tdm_reserve(&look->spans, &look->span_cap, look->span_count + 1, sizeof span) != 0)
		look->out_of_memory = true;
	else
		look->spans[look->span_count++] = span;
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

static int take_slots(
	void *context, const struct tdm_ledger_slot *slots, const struct tdm_ledger_more *mores, size_t count)
{
	struct look *look = context;
	(void)mores;
	bool collects = look->collects;
	for (size_t i = 0; i < count; i++) {
		const struct tdm_ledger_slot *slot = &slots[i];
		const struct item item = { slot->kind, (slot->flags & TDM_SLOT_NO_ADDRESS) == 0,
			(slot->flags & TDM_SLOT_ESTIMATED) == 0, slot->address, slot->bank_bytes };
		if (tdm_slot_is_view(slot->banks, slot->flags) || (slot->flags & TDM_SLOT_SHARED) != 0)
			continue;
		if (collects)
			collect_item(look, &item);
		else
			take_item(look, &item);
	}
	return look->out_of_memory ? -ENOMEM : 0;
}

/* Takes the buffers that a view asked for; false if they do not match the counters. */
static bool take_buffers(struct look *look, const struct tdm_fold_holding *holding)
{
	bool exact = true;
	for (unsigned k = 0; k < TDM_KIND_COUNT; k++) {
		const struct tdm_fold_kind *kind = &holding->kinds[k];
		for (size_t i = 0; i < kind->count; i++) {
			const struct tdm_buffer *buffer = &kind->buffers[i];
			bool has_size = buffer->bank_bytes != TDM_SIZE_UNKNOWN;
			const struct item item = { k, buffer->address != TDM_ADDRESS_UNKNOWN, has_size, buffer->address,
				has_size ? buffer->bank_bytes : 0 };
			if (tdm_buffer_is_view(buffer) || tdm_buffer_is_shared(buffer))
				continue;
			if (look->collects)
				collect_item(look, &item);
			else
				take_item(look, &item);
		}
		exact &= (kind->usage.is_shared || kind->usage.reserved_bytes == kind->reserved) &&
			 kind->usage.buffers == kind->count;
	}
	return exact;
}

/* The parts on the device, as indices; see winner.c. */
static const uint32_t *parts_of(const struct tdm_state *state, size_t d, size_t *count)
{
	const uint32_t *ends = state->order + state->part_count;
	uint32_t first = d != 0 ? ends[d - 1] : 0;
	*count = ends[d] - first;
	return state->order + first;
}

static bool is_there(const struct tdm_state *state, const struct tdm_part *part)
{
	return part->ledger != NULL && tdm_picture_counts(&state->picture.processes[part->process]);
}

/* Whether the picture has its buffers as they are now. */
static bool is_listed(const struct tdm_state *state, const struct tdm_part *part)
{
	return part->ledger->has_buffers && !state->wish.hold;
}

static int walk_part(
	struct tdm_state *state, const struct tdm_part *part, const struct tdm_ledger_walk *walk, bool *exact)
{
	size_t at;
	struct tdm_ledger *ledger =
		tdm_follower_ledger(state->follower, part->owner->number, part->ledger->number, &at);
	return ledger != NULL ? tdm_ledger_walk(ledger, at, walk, exact) : 0; /* its process has ended */
}

/* Takes every buffer on the device. */
static int walk_device(struct tdm_state *state, size_t d, struct look *look)
{
	const struct tdm_ledger_walk walk = { .each = take_slots, .context = look, .as_seen = true };
	size_t count;
	const uint32_t *parts = parts_of(state, d, &count);
	look->exact = true;
	for (size_t i = 0; i < count; i++) {
		const struct tdm_part *part = &state->parts[parts[i]];
		bool exact = true;
		int err = 0;
		if (!is_there(state, part))
			continue;
		if (is_listed(state, part))
			look->torn |= !take_buffers(look, part->ledger);
		else
			err = walk_part(state, part, &walk, &exact);
		if (err != 0 || look->out_of_memory)
			return err != 0 ? err : -ENOMEM;
		look->exact &= exact;
	}
	return 0;
}

/* The programs went on while their buffers were looked at: takes their counters again. False if that changes nothing.
 */
static bool recount_device(struct tdm_state *state, size_t d)
{
	bool is_new = false;
	size_t count;
	const uint32_t *parts = parts_of(state, d, &count);
	for (size_t i = 0; i < count; i++) {
		const struct tdm_part *part = &state->parts[parts[i]];
		if (!is_there(state, part) || is_listed(state, part))
			continue;
		is_new |= tdm_state_recount(state, part) > 0;
	}
	if (is_new)
		tdm_state_winner_again(state, d);
	return is_new;
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
	bool was_exact = look->exact;
	look->collects = true;
	look->kind = k;
	look->span_count = 0;
	int err = walk_device(state, d, look);
	look->exact &= was_exact;
	if (err == 0)
		err = sort_spans(look);
	if (err == 0)
		*longest = longest_sorted(look, look->memories[k].size);
	return err;
}

/* Hashes everything the answer depends on: the ledgers, how far each has come, and where memory is. */
static void hash_state(struct tdm_state *state, size_t d)
{
	uint64_t hash = 1;
	size_t count;
	const uint32_t *parts = parts_of(state, d, &count);
	for (unsigned k = 0; k < TDM_FREE_KINDS; k++) {
		const struct tdm_picture_kind *kind = &state->picture.devices[d].kinds[k];
		hash = tdm_hash_u64(hash ^ kind->base ^ kind->bank_bytes << 1);
	}
	for (size_t i = 0; i < count; i++) {
		const struct tdm_part *part = &state->parts[parts[i]];
		if (part->ledger == NULL)
			continue;
		size_t at;
		const struct tdm_ledger *ledger =
			tdm_follower_ledger(state->follower, part->owner->number, part->ledger->number, &at);
		uint64_t seq = ledger != NULL ? tdm_ledger_device(ledger, at)->seq : 0;
		hash += tdm_hash_u64(part->owner->number << 40 ^ (uint64_t)part->ledger->number << 32 ^ seq);
	}
	state->joined[d].state = hash + (hash == 0); /* 0 means never */
}

static uint64_t buffers_of(const struct tdm_picture_device *device)
{
	uint64_t buffers = 0;
	for (unsigned k = 0; k < TDM_KIND_COUNT; k++)
		if (device->kinds[k].buffers != TDM_BYTES_UNKNOWN)
			buffers = tdm_plus(buffers, device->kinds[k].buffers);
	return buffers;
}

/* Looks at every buffer of the device, again if they do not belong to its counters. */
static int look_at(struct tdm_state *state, size_t d, struct look *look)
{
	const struct tdm_picture_device *device = &state->picture.devices[d];
	int err = 0;
	int tries = buffers_of(device) <= MANY ? TRIES : 1;
	for (int i = 0; i < tries && err == 0 && !look->exact; i++) {
		if (i != 0 && !recount_device(state, d)) {
			look->exact = true; /* nothing has changed meanwhile */
			break;
		}
		*look = (struct look){ 0 };
		for (unsigned k = 0; k < TDM_FREE_KINDS && err == 0; k++)
			err = start_memory(state, &device->kinds[k], k, &look->memories[k]);
		if (err == 0)
			err = walk_device(state, d, look);
	}
	return err;
}

static int compute(struct tdm_state *state, size_t d)
{
	struct tdm_memo *memo = &state->memos[state->joined[d].memo];
	struct look look = { 0 };
	int err = look_at(state, d, &look);
	for (unsigned k = 0; k < TDM_FREE_KINDS && err == 0; k++) {
		const struct memory *memory = &look.memories[k];
		memo->largest[k] = TDM_BYTES_UNKNOWN;
		if (memory->size == 0 || memory->no_address || memory->no_size)
			continue;
		memo->largest[k] = longest_gap(memory);
		if (memo->largest[k] < UINT64_C(1) << memory->shift)
			err = sort_memory(state, d, k, &look, &memo->largest[k]);
	}
	free(look.spans);
	memo->l1_lowest = look.memories[TDM_KIND_L1].no_address ? TDM_BYTES_UNKNOWN : look.l1_lowest;
	memo->cb_highest = look.no_cb ? TDM_BYTES_UNKNOWN : look.cb_highest;
	memo->computed_ns = state->picture.time_ns;
	hash_state(state, d);
	/* After an error the device counts as not computed; it is tried again when its turn comes. An answer that is
	 * not exact is shown as an old one. */
	memo->state = err != 0 ? 0 : state->joined[d].state + (look.torn || !look.exact);
	return err == -ENOMEM ? err : 0;
}

static bool has_answer(const struct tdm_state *state, size_t d)
{
	return state->joined[d].ledgers != 0 && !state->joined[d].is_incomplete;
}

static bool is_due(const struct tdm_state *state, size_t d)
{
	const struct tdm_memo *memo = &state->memos[state->joined[d].memo];
	bool is_asked = state->wish.device == 0 || state->wish.device == memo->key;
	return has_answer(state, d) && is_asked && memo->state != state->joined[d].state;
}

/* The gap between circular buffers, which grow up, and L1 buffers, which grow down. The clash test checks it. */
static void show_gap(struct tdm_picture_device *device)
{
	struct tdm_picture_kind *cb = &device->kinds[TDM_KIND_CB];
	uint64_t gap = tdm_picture_gap(device), bytes;
	if (gap == TDM_BYTES_UNKNOWN || cb->free == TDM_BYTES_UNKNOWN ||
		__builtin_mul_overflow(gap, (uint64_t)cb->banks, &bytes))
		return;
	cb->largest_free = bytes < cb->free ? bytes : cb->free;
}

static void show(struct tdm_state *state, size_t d)
{
	struct tdm_picture_device *device = &state->picture.devices[d];
	const struct tdm_memo *memo = &state->memos[state->joined[d].memo];
	if (!has_answer(state, d) || memo->state == 0)
		return;
	device->l1_lowest = memo->l1_lowest;
	device->cb_highest = memo->cb_highest;
	device->space_ns = memo->computed_ns;
	device->space_is_old = memo->state != state->joined[d].state;
	for (unsigned k = 0; k < TDM_FREE_KINDS; k++) {
		struct tdm_picture_kind *kind = &device->kinds[k];
		uint64_t bytes;
		if (memo->largest[k] == TDM_BYTES_UNKNOWN || kind->used_from != TDM_FROM_LEDGER ||
			__builtin_mul_overflow(memo->largest[k], (uint64_t)kind->banks, &bytes))
			continue;
		/* An old block may be larger than `free`. */
		kind->largest_free = bytes < kind->free ? bytes : kind->free;
	}
	show_gap(device);
}

/* What this picture may spend, in nanoseconds: a share of the time since the last one, and what that one left. */
static int64_t credit_of(struct tdm_state *state)
{
	const int64_t most = CREDIT_MS * (int64_t)TDM_NS_PER_MS;
	uint64_t now = state->picture.time_ns, saved = (now - state->free_ns) / SHARE;
	bool is_first = state->free_ns == 0;
	state->free_ns = now;
	if (state->options.once)
		return INT64_MAX;
	int64_t credit = state->free_credit_ns + (int64_t)tdm_min(saved, (uint64_t)most);
	return is_first || credit > most ? most : credit;
}

int tdm_state_free_space(struct tdm_state *state)
{
	size_t count = state->picture.device_count, first = state->free_turn;
	int64_t credit = credit_of(state);
	int err = 0;
	for (size_t d = 0; d < count; d++)
		hash_state(state, d);
	for (size_t n = 0; !state->wish.no_largest && credit > 0 && n < count && err == 0; n++) {
		size_t d = (first + n) % count;
		if (!is_due(state, d))
			continue;
		uint64_t begin = tdm_clock_ns();
		err = compute(state, d); /* a device that was started is finished */
		credit -= (int64_t)(tdm_clock_ns() - begin);
		state->free_turn = state->options.once ? 0 : d + 1;
	}
	state->free_credit_ns = credit;
	for (size_t d = 0; d < count; d++)
		show(state, d);
	return err;
}
