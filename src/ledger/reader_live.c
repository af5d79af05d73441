/*
 * The parts that are read on demand: live buffers, recent events, phases. Slots are read in chunks, and pages of the
 * file that were never written are skipped, so the work is bounded by what is really stored.
 */
#include "ledger/reader_parts.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/number.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

enum {
	CHUNK_SLOTS = 256, /* on the stack, which may be small */
	SHORT_SLOTS = 1024,
	WALK_TRIES = 6,
	AS_FOUND_TRIES = 64, /* a slot may change while it is copied */
};
/* For how long a short list is read: a pass takes microseconds, and the writer pauses now and then. */
#define SHORT_PATIENCE_NS (20 * TDM_NS_PER_MS)

/* Ledgers of major version 1, converted where they are copied. */

/* In version 1 a slot had the time, and its other half name and stack: swaps the two words. */
static void convert_slots(struct tdm_ledger_slot *slots, struct tdm_ledger_more *mores, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t tsc;
		memcpy(&tsc, &slots[i].name, sizeof tsc);
		memcpy(&slots[i].name, &mores[i].tsc, sizeof tsc);
		mores[i].tsc = tsc;
	}
}

/* In version 1 the fields were banks, name, thread; releases had no name, and no record had a slot or a stack. */
static void convert_record(struct tdm_ledger_record *record)
{
	struct tdm_ledger_record old = *record;
	record->banks = old.name;
	record->name = old.thread;
	record->thread = record->op == TDM_LEDGER_ALLOC  ? TDM_LEDGER_NO_SLOT
			 : record->op == TDM_LEDGER_FREE ? 0
							 : old.banks;
}

static bool is_major1(const struct tdm_ledger *ledger)
{
	return ledger->header.major == 1;
}

/* Live buffers. */

/* One pass over the slots of a device. */
struct pass {
	const struct tdm_ledger_walk *walk;
	uint64_t seq;
	bool as_found; /* also buffers that were born later */
	uint64_t refused;
	struct {
		uint64_t buffers, bytes, bank_bytes, asked_bytes;
	} sums[TDM_KIND_COUNT];
};

static bool slot_lives(const struct tdm_ledger_slot *slot, uint64_t seq, bool as_found)
{
	return slot->birth != 0 && (as_found || slot->birth <= seq) && (slot->death == 0 || slot->death > seq);
}

/* Whether the buffer is possible; `more` may be NULL. */
static inline bool buffer_is_valid(
	const struct tdm_ledger_slot *slot, const struct tdm_ledger_more *more, uint64_t *reserved)
{
	uint64_t occupied;
	*reserved = 0;
	if (slot->kind >= TDM_KIND_COUNT)
		return false;
	return tdm_ledger_slot_is_view(slot) ||
	       (!__builtin_mul_overflow(slot->bank_bytes, (uint64_t)slot->banks, reserved) &&
		       (more == NULL || !__builtin_mul_overflow(slot->bank_bytes, (uint64_t)more->holding, &occupied)));
}

/* Counts the slot if it is a live, valid buffer; false if it is not. */
static inline bool take_slot(struct pass *pass, const struct tdm_ledger_slot *slot, const struct tdm_ledger_more *more)
{
	uint64_t reserved;
	if (!slot_lives(slot, pass->seq, pass->as_found))
		return false;
	if (!buffer_is_valid(slot, more, &reserved)) {
		pass->refused++;
		return false;
	}
	/* The sums of a damaged ledger may wrap; that does no harm, they are only compared. */
	pass->sums[slot->kind].buffers++;
	pass->sums[slot->kind].bytes += reserved;
	pass->sums[slot->kind].bank_bytes += slot->banks != 0 ? slot->bank_bytes : 0;
	pass->sums[slot->kind].asked_bytes += slot->banks != 0 ? slot->asked : 0;
	return true;
}

/* Gives out the live slots of a chunk in as few pieces as possible. 1 if there were any, else 0; or the error from
 * `each`. */
static int give_chunk(
	struct pass *pass, const struct tdm_ledger_slot *slots, const struct tdm_ledger_more *mores, size_t count)
{
	size_t first = 0;
	int gave = 0;
	for (size_t i = 0; i <= count; i++) {
		if (i < count && take_slot(pass, &slots[i], mores != NULL ? &mores[i] : NULL))
			continue;
		if (i != first) {
			const struct tdm_ledger_walk *walk = pass->walk;
			int err = walk->each(
				walk->context, slots + first, mores != NULL ? mores + first : NULL, i - first);
			if (err < 0)
				return err;
			gave = 1;
		}
		first = i + 1;
	}
	return gave;
}

/* The first slot from `at` on that may have been written, in a segment at `offset`; `count` when there is none. */
static uint64_t skip_hole(const struct tdm_ledger *ledger, uint64_t offset, uint64_t at, uint64_t count)
{
	uint64_t from = offset + at * sizeof(struct tdm_ledger_slot);
	off_t data = lseek(ledger->fd, (off_t)from, SEEK_DATA);
	if (data < 0)
		return errno == ENXIO ? count : at;
	if ((uint64_t)data <= from)
		return at;
	uint64_t skipped = ((uint64_t)data - from) / sizeof(struct tdm_ledger_slot);
	return skipped < count - at ? at + skipped : count;
}

/*
 * Walks over the `count` used slots of a segment of `all`. The second half of a slot is read before the slot itself: if
 * the slot is then still the buffer that was born by `seq`, so was its second half, because a new buffer writes both
 * before its birth. After a chunk with live buffers a hole is unlikely, so it is only looked for after the others:
 * `gave` says whether the chunk before the segment had any. Returns that of its last chunk, or a negative code.
 */
static int walk_segment(
	const struct tdm_ledger *ledger, uint64_t offset, uint64_t count, uint64_t all, int gave, struct pass *pass)
{
	struct tdm_ledger_slot slots[CHUNK_SLOTS];
	struct tdm_ledger_more mores[CHUNK_SLOTS];
	const struct tdm_ledger_more *given = pass->walk->with_more ? mores : NULL;
	uint64_t mores_offset = offset + all * sizeof *slots;
	int err = 0;
	for (uint64_t at = 0; at < count && (gave || (at = skip_hole(ledger, offset, at, count)) < count);) {
		size_t n = count - at < CHUNK_SLOTS ? (size_t)(count - at) : CHUNK_SLOTS;
		if (given != NULL || is_major1(ledger))
			err = tdm_ledger_read(ledger, mores_offset + at * sizeof *mores, mores, n * sizeof *mores);
		if (err == 0)
			err = tdm_ledger_read(ledger, offset + at * sizeof *slots, slots, n * sizeof *slots);
		if (err != 0)
			return err;
		if (is_major1(ledger))
			convert_slots(slots, mores, n);
		gave = give_chunk(pass, slots, given, n);
		if (gave < 0)
			return gave;
		at += n;
	}
	return gave;
}

static int walk_all(const struct tdm_ledger *ledger, const struct tdm_ledger_place *place, struct pass *pass)
{
	uint64_t left = place->slot_high;
	int gave = 1; /* the first segment is short */
	for (uint32_t k = 0; k < place->slot_segments && left != 0 && gave >= 0; k++) {
		uint64_t all = (uint64_t)TDM_LEDGER_FIRST_SLOTS << k, count = all < left ? all : left;
		gave = walk_segment(ledger, place->slot_offset[k], count, all, gave, pass);
		left -= count;
	}
	return gave < 0 ? gave : 0;
}

/* Whether the sums of the buffers match the counters of every kind. The bytes of shared buffers are not a sum. */
static bool equals_counts(const struct pass *pass, const struct tdm_ledger_view *view)
{
	const struct tdm_ledger_count *counts = view->counts;
	for (unsigned k = 0; k < TDM_KIND_COUNT; k++) {
		bool is_sum = (view->shared_kinds >> k & 1) == 0;
		if (pass->sums[k].buffers != counts[k].buffers || pass->sums[k].asked_bytes != counts[k].asked_bytes ||
			(is_sum && (pass->sums[k].bytes != counts[k].bytes ||
					   pass->sums[k].bank_bytes != counts[k].bank_bytes)))
			return false;
	}
	return true;
}

int tdm_ledger_refresh_device(struct tdm_ledger *ledger, size_t device)
{
	struct tdm_ledger_areas areas = { 0 };
	struct tdm_ledger_view view = { 0 };
	struct tdm_ledger_place place;
	int err = tdm_ledger_device_update(ledger, &ledger->views[device], &ledger->places[device]);
	if (err != -ESTALE && err != TDM_ECORRUPT)
		return err < 0 ? err : 0;
	err = tdm_ledger_device_read(ledger, ledger->places[device].offset, &areas, &view, &place, NULL);
	free(areas.list);
	if (err == 0) {
		place.refused_slots = ledger->places[device].refused_slots;
		place.refused_told = tdm_max(place.refused_told, ledger->places[device].refused_told);
		ledger->views[device] = view;
		ledger->places[device] = place;
	}
	return err;
}

static bool is_short(const struct tdm_ledger_place *place)
{
	return place->slot_high <= SHORT_SLOTS;
}

/* Whether another pass is worth its time while the writer goes on; `begin` is when the first one began. */
static bool tries_again(const struct tdm_ledger_place *place, int tries, uint64_t begin)
{
	/* A second one finds out whether the writer goes on at all, even if the first one was held up. */
	return is_short(place) ? tries < 2 || tdm_clock_ns() - begin < SHORT_PATIENCE_NS : tries < WALK_TRIES;
}

/* One pass; notes how many slots were refused. */
static int walk_once(struct tdm_ledger *ledger, size_t device, struct pass *pass)
{
	int err = walk_all(ledger, &ledger->places[device], pass);
	if (err == 0)
		ledger->places[device].refused_slots = pass->refused;
	return err;
}

/* For a writer that is too fast: everything that may live by now, so that of a buffer that is being replaced at least
 * one is there. */
static int walk_as_found(struct tdm_ledger *ledger, size_t device, const struct tdm_ledger_walk *walk)
{
	const struct tdm_ledger_view *view = &ledger->views[device];
	uint64_t before = view->seq;
	bool lacks_some = true;
	int err = 0;
	for (int i = 0; err == 0 && lacks_some && i < AS_FOUND_TRIES; i++) {
		err = tdm_ledger_refresh_device(ledger, device);
		if (err != 0 || (i == 0 && view->seq == before && !ledger->places[device].rough))
			return err; /* nobody writes: the last pass is as good as any */
		struct pass pass = { .walk = walk, .seq = view->seq, .as_found = true };
		walk->again(walk->context);
		err = walk_once(ledger, device, &pass);
		lacks_some = false;
		for (unsigned k = 0; k < TDM_KIND_COUNT; k++)
			lacks_some |= pass.sums[k].buffers < view->counts[k].buffers;
	}
	return err;
}

int tdm_ledger_walk(struct tdm_ledger *ledger, size_t device, const struct tdm_ledger_walk *walk, bool *exact)
{
	*exact = false;
	if (device >= ledger->device_count)
		return -ENODEV;
	struct tdm_ledger_place *place = &ledger->places[device];
	struct tdm_ledger_view *view = &ledger->views[device];
	bool is_fixed = walk->again == NULL || walk->as_seen;
	uint64_t begin = tdm_clock_ns();
	for (int i = 0; i == 0 || (!is_fixed && tries_again(place, i, begin)); i++) {
		uint64_t before = view->seq;
		bool was_rough = place->rough;
		int err = walk->as_seen ? 0 : tdm_ledger_refresh_device(ledger, device);
		if (err != 0)
			return err;
		if (i != 0 && view->seq == before && place->rough == was_rough)
			return 0; /* nothing has changed: another pass would give the same result */
		if (i != 0)
			walk->again(walk->context);
		struct pass pass = { .walk = walk, .seq = view->seq };
		err = walk_once(ledger, device, &pass);
		*exact = err == 0 && !place->rough && equals_counts(&pass, view);
		if (err != 0 || *exact)
			return err;
	}
	return !is_fixed && is_short(place) ? walk_as_found(ledger, device, walk) : 0;
}

/* The offsets of both halves of a slot; false when no known segment has it. */
static bool find_slot(const struct tdm_ledger_place *place, uint32_t number, uint64_t *slot, uint64_t *more)
{
	uint64_t at = number;
	for (uint32_t k = 0; k < place->slot_segments; k++) {
		uint64_t all = (uint64_t)TDM_LEDGER_FIRST_SLOTS << k, begin = place->slot_offset[k];
		if (at < all) {
			*slot = begin + at * sizeof(struct tdm_ledger_slot);
			*more = begin + all * sizeof(struct tdm_ledger_slot) + at * sizeof(struct tdm_ledger_more);
			return true;
		}
		at -= all;
	}
	return false;
}

/*
 * The slot is the record's buffer as long as its birth is the record's number. That is checked again after the rest was
 * read: a new buffer overwrites the old birth before it writes anything else.
 */
int tdm_ledger_record_buffer(struct tdm_ledger *ledger, size_t device, const struct tdm_ledger_record *record,
	struct tdm_ledger_buffer *buffer)
{
	struct tdm_ledger_slot *slot = &buffer->slot;
	uint64_t slot_at, more_at, birth, reserved;
	int err = 0;
	if (device >= ledger->device_count)
		return -ENODEV;
	if (record->op != TDM_LEDGER_ALLOC)
		return -EINVAL;
	if (record->slot == TDM_LEDGER_NO_SLOT)
		return -ESTALE;
	/* Its segment may have been added after the last refresh. */
	if (!find_slot(&ledger->places[device], record->slot, &slot_at, &more_at)) {
		err = tdm_ledger_refresh_device(ledger, device);
		if (err == 0 && !find_slot(&ledger->places[device], record->slot, &slot_at, &more_at))
			err = TDM_ECORRUPT;
	}
	if (err == 0)
		err = tdm_ledger_read(ledger, slot_at, slot, sizeof *slot);
	if (err == 0)
		err = tdm_ledger_read(ledger, more_at, &buffer->more, sizeof buffer->more);
	if (err == 0)
		err = tdm_ledger_read(ledger, slot_at + offsetof(struct tdm_ledger_slot, birth), &birth, sizeof birth);
	if (err != 0)
		return err;
	if (birth != record->seq || slot->birth != birth || slot->id != record->id || slot->kind != record->kind)
		return -ESTALE;
	if (!buffer_is_valid(slot, &buffer->more, &reserved))
		return TDM_ECORRUPT;
	*buffer = tdm_ledger_buffer_of(slot, &buffer->more);
	return 0;
}

/* Events. */

static bool record_is_valid(const struct tdm_ledger_record *record)
{
	uint64_t product;
	return record->op != 0 && record->op < TDM_LEDGER_OP_COUNT && record->kind < TDM_KIND_COUNT &&
	       (record->op != TDM_LEDGER_STEP || (record->asked != 0 && record->asked < TDM_STEP_END)) &&
	       !__builtin_mul_overflow(record->bank_bytes, (uint64_t)record->banks, &product);
}

/*
 * The oldest record in the ring that is sure to be complete if `later` events were committed after the ring was read: a
 * replacement may be writing two more, over those that are `records` before them.
 */
static uint64_t oldest_in_ring(uint64_t later, uint64_t records)
{
	return later + 2 >= records ? later + 3 - records : 1;
}

/* Reads records [first, first + count) of the ring, which may wrap around its end, to `to`. */
static int read_ring(const struct tdm_ledger *ledger, const struct tdm_ledger_place *place, uint64_t first,
	size_t count, struct tdm_ledger_record *to)
{
	uint64_t at = (first - 1) & (place->ring_records - 1);
	size_t straight = count < place->ring_records - at ? count : (size_t)(place->ring_records - at);
	int err = tdm_ledger_read(ledger, place->ring_offset + at * sizeof *to, to, straight * sizeof *to);
	if (err == 0 && straight < count)
		err = tdm_ledger_read(ledger, place->ring_offset, to + straight, (count - straight) * sizeof *to);
	for (size_t i = 0; i < count && err == 0 && is_major1(ledger); i++)
		convert_record(&to[i]);
	return err;
}

int64_t tdm_ledger_events(struct tdm_ledger *ledger, size_t device, uint64_t after, struct tdm_ledger_record *records,
	size_t cap, uint64_t *missed)
{
	uint64_t seq, later = 0;
	*missed = 0;
	if (device >= ledger->device_count)
		return -ENODEV;
	const struct tdm_ledger_place *place = &ledger->places[device];
	int err = tdm_ledger_seq(ledger, place->offset, &seq);
	if (err != 0 || seq <= after)
		return err;
	if (seq >= TDM_LEDGER_SEQ_BUSY - 1)
		return TDM_ECORRUPT; /* an impossible number of calls */
	/* Skips records that cannot be there any more. */
	uint64_t from = tdm_max(after + 1, oldest_in_ring(seq, place->ring_records));
	size_t count = from <= seq ? (size_t)tdm_min(seq - from + 1, cap) : 0, found = 0;
	if (count != 0)
		err = read_ring(ledger, place, from, count, records);
	if (err == 0)
		err = tdm_ledger_seq(ledger, place->offset, &later);
	if (err == 0 && (later < seq || later >= TDM_LEDGER_SEQ_BUSY - 1))
		err = TDM_ECORRUPT; /* the number of calls never decreases */
	if (err != 0)
		return err;
	uint64_t oldest = oldest_in_ring(later, place->ring_records);
	for (size_t i = 0; i < count; i++) {
		bool is_whole = from + i >= oldest && records[i].seq == from + i;
		if (is_whole && record_is_valid(&records[i]))
			records[found++] = records[i];
		else
			ledger->refused += is_whole;
	}
	*missed = tdm_min(from, seq + 1) - after - 1 + (count - found);
	return (int64_t)found;
}

/* Phases. */

int64_t tdm_ledger_phases(struct tdm_ledger *ledger, size_t from, struct tdm_ledger_phase *phases, size_t cap)
{
	uint32_t total;
	size_t stored = 0;
	int err = tdm_ledger_read(ledger, offsetof(struct tdm_ledger_header, phase_count), &total, sizeof total);
	if (err != 0)
		return err;
	uint64_t begin = 0;
	for (uint32_t k = 0; k < ledger->header.phase_segments && stored < cap; k++) {
		uint64_t count = (uint64_t)TDM_LEDGER_PHASES_FIRST << k, end = begin + count;
		end = end < total ? end : total;
		uint64_t at = from + stored;
		if (at >= begin && at < end) {
			uint64_t n = end - at < cap - stored ? end - at : cap - stored;
			err = tdm_ledger_read(ledger, ledger->header.phase_offset[k] + (at - begin) * sizeof *phases,
				phases + stored, (size_t)n * sizeof *phases);
			if (err != 0)
				return err;
			stored += (size_t)n;
		}
		begin += count;
	}
	return (int64_t)stored;
}
