/*
 * What is read when it is asked for: live buffers, recent events, phases. Slots are read in chunks; pages of the file
 * that were never written hold none and are passed over, so that the work is bounded by what is really stored.
 */
#include "ledger/reader_parts.h"
#include "base/err.h"
#include "base/reserve.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

enum {
	CHUNK_SLOTS = 1024,
	BUFFERS_TRIES = 6,
};

/* The live buffers that were found so far. */
struct haul {
	struct tdm_ledger_buffer *list;
	size_t count, cap;
	uint64_t refused;
};

static bool slot_lives(const struct tdm_ledger_slot *slot, uint64_t seq)
{
	return slot->birth != 0 && slot->birth <= seq && (slot->death == 0 || slot->death > seq);
}

static int catch_slot(struct haul *caught, const struct tdm_ledger_slot *slot, const struct tdm_ledger_more *more)
{
	struct tdm_ledger_buffer buffer = { .slot = *slot, .more = *more };
	bool is_view = slot->banks == 0 || (slot->flags & TDM_SLOT_VIEW) != 0;
	uint64_t holding = more->holding != 0 ? more->holding : slot->banks;
	if (slot->kind >= TDM_KIND_COUNT ||
		(!is_view && (__builtin_mul_overflow(slot->bank_bytes, (uint64_t)slot->banks, &buffer.reserved_bytes) ||
				     __builtin_mul_overflow(slot->bank_bytes, holding, &buffer.occupied_bytes)))) {
		caught->refused++;
		return 0;
	}
	if (tdm_reserve(&caught->list, &caught->cap, caught->count + 1, sizeof *caught->list) != 0)
		return -ENOMEM;
	caught->list[caught->count++] = buffer;
	return 0;
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
 * The slots of a segment that are used, `count` of its `all`. What belongs to a slot is read before the slot itself:
 * when the slot then still is the buffer that was born by `seq`, so was the rest, because a new buffer writes both
 * before its birth.
 */
static int catch_segment(const struct tdm_ledger *ledger, uint64_t offset, uint64_t count, uint64_t all, uint64_t seq,
	struct haul *caught)
{
	struct tdm_ledger_slot slots[CHUNK_SLOTS];
	struct tdm_ledger_more mores[CHUNK_SLOTS];
	uint64_t mores_offset = offset + all * sizeof *slots;
	for (uint64_t at = 0; (at = skip_hole(ledger, offset, at, count)) < count;) {
		size_t n = count - at < CHUNK_SLOTS ? (size_t)(count - at) : CHUNK_SLOTS;
		int err = tdm_ledger_read(ledger, mores_offset + at * sizeof *mores, mores, n * sizeof *mores);
		if (err == 0)
			err = tdm_ledger_read(ledger, offset + at * sizeof *slots, slots, n * sizeof *slots);
		for (size_t i = 0; i < n && err == 0; i++)
			if (slot_lives(&slots[i], seq))
				err = catch_slot(caught, &slots[i], &mores[i]);
		if (err != 0)
			return err;
		at += n;
	}
	return 0;
}

static int catch_all(
	const struct tdm_ledger *ledger, const struct tdm_ledger_place *place, uint64_t seq, struct haul *caught)
{
	uint64_t left = place->slot_high;
	caught->count = 0;
	caught->refused = 0;
	for (uint32_t k = 0; k < place->slot_segments && left != 0; k++) {
		uint64_t all = (uint64_t)TDM_LEDGER_FIRST_SLOTS << k, count = all < left ? all : left;
		int err = catch_segment(ledger, place->slot_offset[k], count, all, seq, caught);
		if (err != 0)
			return err;
		left -= count;
	}
	return 0;
}

/* Whether the buffers are those that the counters count, kind by kind. */
static bool equals_counts(const struct haul *caught, const struct tdm_ledger_count *counts)
{
	struct tdm_ledger_count sums[TDM_KIND_COUNT] = { 0 };
	for (size_t i = 0; i < caught->count; i++) {
		const struct tdm_ledger_buffer *b = &caught->list[i];
		struct tdm_ledger_count *sum = &sums[b->slot.kind];
		bool own = b->slot.banks != 0;
		/* Sums of a damaged ledger may wrap; then they are compared wrapped. */
		sum->buffers++;
		sum->bytes += b->reserved_bytes;
		sum->bank_bytes += own ? b->slot.bank_bytes : 0;
		sum->asked_bytes += own ? b->slot.asked : 0;
	}
	for (unsigned k = 0; k < TDM_KIND_COUNT; k++)
		if (sums[k].buffers != counts[k].buffers || sums[k].bytes != counts[k].bytes ||
			sums[k].bank_bytes != counts[k].bank_bytes || sums[k].asked_bytes != counts[k].asked_bytes)
			return false;
	return true;
}

/* A new picture of one device, without those of the others; what it held before stays when that fails. */
static int refresh_one(struct tdm_ledger *ledger, size_t device)
{
	struct tdm_ledger_areas areas = { 0 };
	struct tdm_ledger_view view = { 0 };
	struct tdm_ledger_place place;
	int err = tdm_ledger_device_read(ledger, ledger->places[device].offset, &areas, &view, &place, NULL);
	free(areas.list);
	if (err == 0) {
		ledger->views[device] = view;
		ledger->places[device] = place;
	}
	return err;
}

int tdm_ledger_buffers(
	struct tdm_ledger *ledger, size_t device, struct tdm_ledger_buffer **buffers, size_t *count, bool *exact)
{
	struct haul caught = { 0 };
	*buffers = NULL;
	*count = 0;
	*exact = false;
	if (device >= ledger->device_count)
		return -ENODEV;
	for (int i = 0; i < BUFFERS_TRIES && !*exact; i++) {
		uint64_t seq;
		int err = i != 0 ? tdm_ledger_seq(ledger, ledger->places[device].offset, &seq) : 0;
		if (i != 0 && err == 0 && seq == ledger->views[device].seq)
			break; /* nothing has changed, nor will it by asking again */
		if (i != 0 && err == 0)
			err = refresh_one(ledger, device);
		if (err == 0)
			err = catch_all(ledger, &ledger->places[device], ledger->views[device].seq, &caught);
		if (err != 0) {
			free(caught.list);
			return err;
		}
		*exact = !ledger->places[device].rough && equals_counts(&caught, ledger->views[device].counts);
	}
	ledger->refused += caught.refused;
	*buffers = caught.list;
	*count = caught.count;
	return 0;
}

/* Slots alone. */

/* What a walk over the slots has given out so far. */
struct tally {
	void (*each)(void *context, const struct tdm_ledger_slot *slots, size_t count);
	void *context;
	struct {
		uint64_t buffers, bytes;
	} sums[TDM_KIND_COUNT];
};

/* Whether the slot is a buffer that lives and can be; it is counted then. */
static inline bool take_slot(struct tally *tally, const struct tdm_ledger_slot *slot, uint64_t seq)
{
	uint64_t reserved = 0;
	bool is_view = slot->banks == 0 || (slot->flags & TDM_SLOT_VIEW) != 0;
	if (!slot_lives(slot, seq) || slot->kind >= TDM_KIND_COUNT ||
		(!is_view && __builtin_mul_overflow(slot->bank_bytes, (uint64_t)slot->banks, &reserved)))
		return false;
	tally->sums[slot->kind].buffers++;
	tally->sums[slot->kind].bytes += reserved; /* may wrap, as in equals_counts */
	return true;
}

/* Gives out the slots of a chunk that live, in as few pieces as there are. Whether there were any. */
static bool give_chunk(struct tally *tally, const struct tdm_ledger_slot *slots, size_t count, uint64_t seq)
{
	size_t first = 0;
	bool gave = false;
	for (size_t i = 0; i <= count; i++) {
		if (i < count && take_slot(tally, &slots[i], seq))
			continue;
		if (i != first) {
			tally->each(tally->context, slots + first, i - first);
			gave = true;
		}
		first = i + 1;
	}
	return gave;
}

/* Where a chunk gave something there is no hole near: it is looked for behind the others only. */
static int walk_segment(
	const struct tdm_ledger *ledger, uint64_t offset, uint64_t count, uint64_t seq, struct tally *tally)
{
	struct tdm_ledger_slot slots[CHUNK_SLOTS];
	bool gave = false;
	for (uint64_t at = 0; at < count && (gave || (at = skip_hole(ledger, offset, at, count)) < count);) {
		size_t n = count - at < CHUNK_SLOTS ? (size_t)(count - at) : CHUNK_SLOTS;
		int err = tdm_ledger_read(ledger, offset + at * sizeof *slots, slots, n * sizeof *slots);
		if (err != 0)
			return err;
		at += n;
		gave = give_chunk(tally, slots, n, seq);
	}
	return 0;
}

static int walk_all(const struct tdm_ledger *ledger, size_t device, struct tally *tally)
{
	const struct tdm_ledger_place *place = &ledger->places[device];
	uint64_t left = place->slot_high;
	for (uint32_t k = 0; k < place->slot_segments && left != 0; k++) {
		uint64_t all = (uint64_t)TDM_LEDGER_FIRST_SLOTS << k, count = all < left ? all : left;
		int err = walk_segment(ledger, place->slot_offset[k], count, ledger->views[device].seq, tally);
		if (err != 0)
			return err;
		left -= count;
	}
	return 0;
}

static bool tally_equals(const struct tally *tally, const struct tdm_ledger_count *counts)
{
	for (unsigned k = 0; k < TDM_KIND_COUNT; k++)
		if (tally->sums[k].buffers != counts[k].buffers || tally->sums[k].bytes != counts[k].bytes)
			return false;
	return true;
}

int tdm_ledger_slots(struct tdm_ledger *ledger, size_t device,
	void (*each)(void *context, const struct tdm_ledger_slot *slots, size_t count), void *context, bool *exact)
{
	struct tally tally = { .each = each, .context = context };
	*exact = false;
	if (device >= ledger->device_count)
		return -ENODEV;
	int err = tdm_ledger_device_update(ledger, &ledger->views[device], &ledger->places[device]);
	if (err == -ESTALE || err == TDM_ECORRUPT)
		err = refresh_one(ledger, device);
	if (err >= 0)
		err = walk_all(ledger, device, &tally);
	*exact = err == 0 && !ledger->places[device].rough && tally_equals(&tally, ledger->views[device].counts);
	return err;
}

/* Events. */

static bool record_is_valid(const struct tdm_ledger_record *record)
{
	uint64_t product;
	return record->op != 0 && record->op < TDM_LEDGER_OP_COUNT && record->kind < TDM_KIND_COUNT &&
	       !__builtin_mul_overflow(record->bank_bytes, (uint64_t)record->banks, &product);
}

/*
 * The oldest number that can be in the ring, and be read whole, when `later` calls were finished after it was read:
 * call later + 1 may be writing over the record that lies `records` before it.
 */
static uint64_t oldest_in_ring(uint64_t later, uint64_t records)
{
	return later + 1 >= records ? later + 2 - records : 1;
}

/* Reads records [first, first + count) of the ring, which may go round its end, to `to`. */
static int read_ring(const struct tdm_ledger *ledger, const struct tdm_ledger_place *place, uint64_t first,
	size_t count, struct tdm_ledger_record *to)
{
	uint64_t at = (first - 1) & (place->ring_records - 1);
	size_t straight = count < place->ring_records - at ? count : (size_t)(place->ring_records - at);
	int err = tdm_ledger_read(ledger, place->ring_offset + at * sizeof *to, to, straight * sizeof *to);
	if (err == 0 && straight < count)
		err = tdm_ledger_read(ledger, place->ring_offset, to + straight, (count - straight) * sizeof *to);
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
		return TDM_ECORRUPT; /* nobody makes so many calls */
	/* What cannot be there any more is not read. */
	uint64_t first = after + 1, found = 0, oldest = oldest_in_ring(seq, place->ring_records);
	uint64_t from = oldest > first ? oldest : first;
	size_t count = from <= seq ? (size_t)(seq - from + 1) : 0;
	struct tdm_ledger_record *ring = malloc((count + 1) * sizeof *ring);
	if (ring == NULL)
		return -ENOMEM;
	if (count != 0)
		err = read_ring(ledger, place, from, count, ring);
	if (err == 0)
		err = tdm_ledger_seq(ledger, place->offset, &later);
	if (err == 0 && (later < seq || later >= TDM_LEDGER_SEQ_BUSY - 1))
		err = TDM_ECORRUPT; /* calls are not taken back */
	oldest = oldest_in_ring(later, place->ring_records);
	if (err == 0 && oldest > first) {
		*missed = (oldest <= seq ? oldest : seq + 1) - first;
		first += *missed;
	}
	/* At most ring_records turns. */
	for (uint64_t n = first; n <= seq && found < cap && err == 0; n++) {
		const struct tdm_ledger_record *record = &ring[n - from];
		if (record->seq == n && record_is_valid(record)) {
			records[found++] = *record;
		} else {
			++*missed;
			ledger->refused += record->seq == n;
		}
	}
	free(ring);
	return err != 0 ? err : (int64_t)found;
}

/* What belongs to the buffers of events. */

struct search {
	const struct tdm_ledger_record *records;
	size_t count;
	struct tdm_ledger_more *mores;
};

/* The record of the allocation with this number; `count` when there is none. */
static size_t find_record(const struct search *search, uint64_t seq)
{
	size_t low = 0, high = search->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (search->records[middle].seq < seq)
			low = middle + 1;
		else
			high = middle;
	}
	return low < search->count && search->records[low].seq == seq && search->records[low].op == TDM_LEDGER_ALLOC
		       ? low
		       : search->count;
}

/* Whether the slot is of a buffer that may be searched for. */
static inline bool is_among(const struct search *search, const struct tdm_ledger_slot *slot)
{
	return slot->birth >= search->records[0].seq && slot->birth <= search->records[search->count - 1].seq;
}

/* The slots are read again after what belongs to them: it is theirs if they are still the same buffers'. */
static int search_chunk(const struct tdm_ledger *ledger, uint64_t offset, uint64_t mores_offset, size_t n,
	const struct tdm_ledger_slot *before, const struct search *search)
{
	struct tdm_ledger_slot slots[CHUNK_SLOTS];
	struct tdm_ledger_more mores[CHUNK_SLOTS];
	int err = tdm_ledger_read(ledger, mores_offset, mores, n * sizeof *mores);
	if (err == 0)
		err = tdm_ledger_read(ledger, offset, slots, n * sizeof *slots);
	for (size_t i = 0; i < n && err == 0; i++) {
		if (!is_among(search, &slots[i]) || slots[i].birth != before[i].birth)
			continue;
		size_t at = find_record(search, slots[i].birth);
		if (at < search->count)
			search->mores[at] = mores[i];
	}
	return err;
}

static int search_segment(
	const struct tdm_ledger *ledger, uint64_t offset, uint64_t count, uint64_t all, const struct search *search)
{
	struct tdm_ledger_slot slots[CHUNK_SLOTS];
	uint64_t mores_offset = offset + all * sizeof *slots;
	for (uint64_t at = 0; (at = skip_hole(ledger, offset, at, count)) < count;) {
		size_t n = count - at < CHUNK_SLOTS ? (size_t)(count - at) : CHUNK_SLOTS;
		bool is_here = false;
		int err = tdm_ledger_read(ledger, offset + at * sizeof *slots, slots, n * sizeof *slots);
		for (size_t i = 0; i < n && err == 0; i++)
			is_here = is_here || is_among(search, &slots[i]);
		if (err == 0 && is_here)
			err = search_chunk(ledger, offset + at * sizeof *slots,
				mores_offset + at * sizeof(struct tdm_ledger_more), n, slots, search);
		if (err != 0)
			return err;
		at += n;
	}
	return 0;
}

int tdm_ledger_mores(struct tdm_ledger *ledger, size_t device, const struct tdm_ledger_record *records, size_t count,
	struct tdm_ledger_more *mores)
{
	const struct search search = { records, count, mores };
	if (device >= ledger->device_count)
		return -ENODEV;
	if (count == 0)
		return 0;
	memset(mores, 0, count * sizeof *mores);
	const struct tdm_ledger_place *place = &ledger->places[device];
	uint64_t left = place->slot_high;
	int err = 0;
	for (uint32_t k = 0; k < place->slot_segments && left != 0 && err == 0; k++) {
		uint64_t all = (uint64_t)TDM_LEDGER_FIRST_SLOTS << k, used = all < left ? all : left;
		err = search_segment(ledger, place->slot_offset[k], used, all, &search);
		left -= used;
	}
	return err;
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
