/*
 * The parts that are read on demand: live buffers, recent events, phases, the runtime's reports, blobs. Slots are read
 * in chunks, and pages of the file that were never written are skipped, so the work is bounded by the data actually
 * stored.
 */
#include "ledger/read/reader_parts.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/memory.h"
#include "base/number.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

enum {
	CHUNK_SLOTS = 256, /* small, because a chunk is on the stack */
	SHORT_SLOTS = 1024,
	WALK_TRIES = 6,
	AS_FOUND_TRIES = 64, /* attempts to copy a slot that may be changing */
};
/* How long to retry a short list: a pass takes microseconds, and the writer pauses now and then in between. */
#define SHORT_PATIENCE_NS (20 * TDM_NS_PER_MS)

/* Conversion of ledgers of major version 1, done when they are copied. */

static bool is_major1(const struct tdm_ledger *ledger)
{
	return ledger->header.major == 1;
}

/* Live buffers. */

/* One pass over the slots of a device. */
struct pass {
	const struct tdm_ledger_walk *walk;
	uint64_t seq;
	bool as_found; /* also include buffers born after the view */
	uint64_t refused;
	struct tdm_ledger_now sums[TDM_KIND_COUNT];
};

/* Whether the buffer is plausible; `more` may be NULL. */
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

/* Counts the slot if it is a live, valid buffer, and returns whether it is. */
static inline bool take_slot(struct pass *pass, const struct tdm_ledger_slot *slot, const struct tdm_ledger_more *more)
{
	uint64_t reserved;
	if (!(slot->birth != 0 && (pass->as_found || slot->birth <= pass->seq) &&
		    (slot->death == 0 || slot->death > pass->seq)))
		return false;
	if (!buffer_is_valid(slot, more, &reserved)) {
		pass->refused++;
		return false;
	}
	/* In a damaged ledger the sums may wrap, which is harmless because they are only compared. */
	pass->sums[slot->kind].buffers++;
	pass->sums[slot->kind].bytes += reserved;
	pass->sums[slot->kind].bank_bytes += slot->banks != 0 ? slot->bank_bytes : 0;
	pass->sums[slot->kind].asked_bytes += slot->banks != 0 ? slot->asked : 0;
	return true;
}

/* Passes on the live slots in a chunk, in as few pieces as possible. Returns whether there were any. */
static bool give_chunk(
	struct pass *pass, const struct tdm_ledger_slot *slots, const struct tdm_ledger_more *mores, size_t count)
{
	const struct tdm_ledger_walk *walk = pass->walk;
	size_t first = 0;
	bool gave = false;
	for (size_t i = 0; i <= count; i++) {
		if (i < count && take_slot(pass, &slots[i], mores != NULL ? &mores[i] : NULL))
			continue;
		if (i != first) {
			walk->each(walk->context, slots + first, mores != NULL ? mores + first : NULL, i - first);
			gave = true;
		}
		first = i + 1;
	}
	return gave;
}

/* The first slot from `at` up that may have been written, in a segment at `offset`; `count` if there is none. */
static uint64_t skip_hole(const struct tdm_ledger *ledger, uint64_t offset, uint64_t at, uint64_t count)
{
	uint64_t from = offset + at * sizeof(struct tdm_ledger_slot);
	off_t data = lseek(ledger->fd, (off_t)from, SEEK_DATA);
	if (data < 0)
		return errno == ENXIO ? count : at;
	return tdm_min(at + ((uint64_t)data - from) / sizeof(struct tdm_ledger_slot), count);
}

/*
 * Walks over the `count` used slots of a segment of `all`. The second half of a slot is read before the slot itself. If
 * the slot then still holds a buffer born by `seq`, the second half belongs to that buffer, because both halves of a
 * new buffer are written before its birth. Holes are searched for only after a chunk without live buffers; *gave: the
 * last chunk had some. 0 or a negative code.
 */
static int walk_segment(
	const struct tdm_ledger *ledger, uint64_t offset, uint64_t count, uint64_t all, bool *gave, struct pass *pass)
{
	struct tdm_ledger_slot slots[CHUNK_SLOTS];
	struct tdm_ledger_more mores[CHUNK_SLOTS];
	const struct tdm_ledger_more *given = pass->walk->with_more ? mores : NULL;
	uint64_t mores_offset = offset + all * sizeof *slots;
	int err = 0;
	for (uint64_t at = 0; at < count && (*gave || (at = skip_hole(ledger, offset, at, count)) < count);) {
		size_t n = count - at < CHUNK_SLOTS ? (size_t)(count - at) : CHUNK_SLOTS;
		if (given != NULL || is_major1(ledger))
			err = tdm_ledger_read(ledger, mores_offset + at * sizeof *mores, mores, n * sizeof *mores);
		if (err == 0)
			err = tdm_ledger_read(ledger, offset + at * sizeof *slots, slots, n * sizeof *slots);
		if (err != 0)
			return err;
		if (is_major1(ledger)) {
			/* In version 1, the slot contained the time, and the second half the name and stack: swaps
			 * the two words. */
			for (size_t i = 0; i < n; i++) {
				uint64_t tsc;
				memcpy(&tsc, &slots[i].name, sizeof tsc);
				memcpy(&slots[i].name, &mores[i].tsc, sizeof tsc);
				mores[i].tsc = tsc;
			}
		}
		*gave = give_chunk(pass, slots, given, n);
		at += n;
	}
	return 0;
}

/* Makes one pass, and stores the number of refused slots. */
static int walk_once(struct tdm_ledger *ledger, size_t device, struct pass *pass)
{
	struct tdm_ledger_place *place = &ledger->places[device];
	uint64_t left = place->slot_high;
	bool gave = true; /* the first segment is short */
	int err = 0;
	for (uint32_t k = 0; k < place->slot_segments && left != 0 && err == 0; k++) {
		uint64_t all = (uint64_t)TDM_LEDGER_FIRST_SLOTS << k, count = all < left ? all : left;
		err = walk_segment(ledger, place->slot_offset[k], count, all, &gave, pass);
		left -= count;
	}
	if (err == 0)
		place->refused_slots = pass->refused;
	return err;
}

/* Whether the buffers' sums match every kind's counters. The bytes of shared buffers are not a sum, so they are not
 * compared. */
static bool equals_counts(const struct pass *pass, const struct tdm_ledger_view *view)
{
	const struct tdm_counter *counts = view->counts;
	for (unsigned k = 0; k < TDM_KIND_COUNT; k++) {
		bool is_sum = (view->shared_kinds >> k & 1) == 0;
		if (pass->sums[k].buffers != counts[k].buffers || pass->sums[k].asked_bytes != counts[k].asked ||
			(is_sum && (pass->sums[k].bytes != counts[k].reserved ||
					   pass->sums[k].bank_bytes != counts[k].bank)))
			return false;
	}
	return true;
}

static bool is_short(const struct tdm_ledger_place *place)
{
	return place->slot_high <= SHORT_SLOTS;
}

/* Whether another pass is worthwhile while the writer is active; `begin` is when the first pass began. */
static bool tries_again(const struct tdm_ledger_place *place, int tries, uint64_t begin)
{
	/* There is always a second pass: the first may have been delayed, and by now the writer may be idle. */
	return is_short(place) ? tries < 2 || tdm_clock_ns() - begin < SHORT_PATIENCE_NS : tries < WALK_TRIES;
}

/* Used if the writer is too fast: passes on every buffer that may be live by now. If a buffer is being replaced, the
 * old one, the new one, or both are included. */
static int walk_as_found(struct tdm_ledger *ledger, size_t device, const struct tdm_ledger_walk *walk)
{
	const struct tdm_ledger_view *view = &ledger->views[device];
	uint64_t before = view->seq;
	bool lacks_some = true;
	int err = 0;
	for (int i = 0; err == 0 && lacks_some && i < AS_FOUND_TRIES; i++) {
		err = tdm_ledger_refresh_device(ledger, device);
		if (err != 0 || (i == 0 && view->seq == before && !ledger->places[device].rough))
			return err; /* nobody is writing, so another pass would find the same */
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

/* Finds the offsets of both halves of a slot; false if the slot is in no known segment. */
static bool find_slot(const struct tdm_ledger_place *place, uint32_t number, uint64_t *slot, uint64_t *more)
{
	uint64_t begin, size = sizeof(struct tdm_ledger_slot);
	uint32_t k = tdm_ledger_segment(number, TDM_LEDGER_FIRST_SLOTS, &begin);
	if (k >= place->slot_segments)
		return false;
	*slot = place->slot_offset[k] + (number - begin) * size;
	*more = place->slot_offset[k] + ((uint64_t)TDM_LEDGER_FIRST_SLOTS << k) * size +
		(number - begin) * sizeof(struct tdm_ledger_more);
	return true;
}

/*
 * The slot is the record's buffer as long as its birth is the record's number. The birth is checked again after the
 * rest is read, because a new buffer overwrites it before writing anything else.
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
	/* The slot's segment may be newer than the last refresh. */
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
 * The oldest record that is certainly complete in a copy of the ring. `later`: the last committed call, read after the
 * copy; a replacement may already be writing two more records, over the two that are older by `records`.
 */
static uint64_t oldest_in_ring(uint64_t later, uint64_t records)
{
	return later + 2 >= records ? later + 3 - records : 1;
}

/* Reads records [first, first + count) into `to`; the range may wrap around the end of the ring. */
static int read_ring(const struct tdm_ledger *ledger, const struct tdm_ledger_place *place, uint64_t first,
	size_t count, struct tdm_ledger_record *to)
{
	uint64_t at = (first - 1) & (place->ring_records - 1);
	size_t straight = count < place->ring_records - at ? count : (size_t)(place->ring_records - at);
	int err = tdm_ledger_read(ledger, place->ring_offset + at * sizeof *to, to, straight * sizeof *to);
	if (err == 0 && straight < count)
		err = tdm_ledger_read(ledger, place->ring_offset, to + straight, (count - straight) * sizeof *to);
	for (size_t i = 0; i < count && err == 0 && is_major1(ledger); i++) {
		/* In version 1, the fields were banks, name and thread; releases had no name, and records had no
		 * slot and no stack. */
		struct tdm_ledger_record old = to[i];
		to[i].banks = old.name;
		to[i].name = old.thread;
		to[i].thread = to[i].op == TDM_LEDGER_ALLOC  ? TDM_LEDGER_NO_SLOT
			       : to[i].op == TDM_LEDGER_FREE ? 0
							     : old.banks;
	}
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
	/* Skips records that must have been overwritten by now. */
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
	while (err == 0 && stored < cap && from + stored < total) {
		uint64_t at = from + stored, begin;
		uint32_t k = tdm_ledger_segment(at, TDM_LEDGER_PHASES_FIRST, &begin);
		if (k >= ledger->header.phase_segments)
			break;
		uint64_t end = tdm_min(begin + ((uint64_t)TDM_LEDGER_PHASES_FIRST << k), total);
		size_t n = (size_t)tdm_min(end - at, cap - stored);
		err = tdm_ledger_read(ledger, ledger->header.phase_offset[k] + (at - begin) * sizeof *phases,
			phases + stored, n * sizeof *phases);
		stored += n;
	}
	return err != 0 ? err : (int64_t)stored;
}

/*
 * ---- reports of the runtime ----
 *
 * The runtime's reports about a device, and the notes of the process. A copy is consistent if the change counters are
 * even, and the same before and after. If a writer was killed during a change, a counter stays odd, and the last copy
 * is used.
 */

enum { TRIES = 16, FIRST_JUDGED = TDM_LEDGER_HAZARDS };
/* No figure of a real device reaches this, and sums of such figures fit in 64 bits. */
#define BYTES_MAX (UINT64_C(1) << 56)

static uint64_t limit(uint32_t *count, uint32_t most)
{
	bool is_bad = *count > most;
	*count = is_bad ? most : *count;
	return is_bad;
}

/* Clears impossible entries and returns their number. */
static uint64_t check(struct tdm_ledger_runtime *told)
{
	struct tdm_ledger_runtime_head *head = &told->head;
	uint64_t refused = limit(&head->trace_count, TDM_LEDGER_TRACES) +
			   limit(&head->waiting_count, TDM_LEDGER_HAZARDS) +
			   limit(&head->judged_count, TDM_LEDGER_HAZARDS) + (head->life > TDM_STEP_CLOSED);
	head->life = (uint16_t)tdm_min(head->life, TDM_STEP_CLOSED);
	for (unsigned k = 0; k < TDM_KIND_COUNT; k++) {
		struct tdm_ledger_statistics *s = &told->statistics[k];
		if (s->allocated < BYTES_MAX && s->free < BYTES_MAX && s->largest < BYTES_MAX && s->ours < BYTES_MAX &&
			s->differing <= s->reports)
			continue;
		*s = (struct tdm_ledger_statistics){ 0 };
		refused++;
	}
	memset(&told->traces[head->trace_count], 0, (TDM_LEDGER_TRACES - head->trace_count) * sizeof *told->traces);
	for (uint32_t i = 0; i < 2 * TDM_LEDGER_HAZARDS; i++) {
		struct tdm_ledger_hazard *h = &told->hazards[i];
		bool waits = i < FIRST_JUDGED;
		bool is_used =
			(waits ? i < head->waiting_count : i - FIRST_JUDGED < head->judged_count) && h->count != 0;
		bool is_good = h->kind < TDM_KIND_COUNT && h->state < TDM_HAZARD_STATES &&
			       (h->state == TDM_HAZARD_WAITS) == waits && h->asked < BYTES_MAX &&
			       h->bank_bytes < BYTES_MAX;
		refused += is_used && !is_good;
		if (!is_used || !is_good)
			*h = (struct tdm_ledger_hazard){ 0 };
	}
	refused += head->clash_types >> TDM_CLASH_TYPES != 0;
	for (unsigned i = 0; i < TDM_CLASH_TYPES; i++) {
		struct tdm_ledger_clash *c = &told->clashes[i];
		bool is_used = (head->clash_types >> i & 1) != 0;
		bool is_good = c->count != 0 && c->kind < TDM_KIND_COUNT && c->begin < BYTES_MAX &&
			       c->end < BYTES_MAX && c->begin <= c->end &&
			       (i == TDM_CLASH_UNKNOWN || c->limit < c->end) && c->range[0] <= c->range[2] &&
			       c->range[1] <= c->range[3];
		refused += is_used && !is_good;
		if (!is_used || !is_good)
			*c = (struct tdm_ledger_clash){ 0 };
	}
	return refused;
}

bool tdm_ledger_has_told(const struct tdm_ledger *ledger, size_t device)
{
	return device < ledger->device_count && ledger->places[device].runtime_offset != 0;
}

int tdm_ledger_told(struct tdm_ledger *ledger, size_t device, const struct tdm_ledger_runtime_head *seen,
	struct tdm_ledger_runtime *told)
{
	struct tdm_ledger_runtime_head later;
	if (!tdm_ledger_has_told(ledger, device))
		return 0;
	struct tdm_ledger_place *place = &ledger->places[device];
	uint64_t at = place->runtime_offset;
	int err = tdm_ledger_read(ledger, at, &told->head, sizeof told->head);
	if (err != 0 || memcmp(&told->head, seen, sizeof *seen) == 0)
		return err;
	memset(told->clashes, 0, sizeof told->clashes); /* older ledgers have no clashes */
	for (int i = 0; i < TRIES; i++) {
		err = tdm_ledger_read(ledger, at + sizeof later, told->statistics,
			tdm_ledger_runtime_size(&ledger->header) - sizeof later);
		if (err == 0)
			err = tdm_ledger_read(ledger, at, &later, sizeof later);
		if (err != 0)
			return err;
		if (told->head.changes == later.changes && told->head.hazard_changes == later.hazard_changes &&
			told->head.changes % 2 == 0 && told->head.hazard_changes % 2 == 0)
			break;
		told->head = later;
	}
	place->refused_told = check(told);
	return 1;
}

int tdm_ledger_notes(struct tdm_ledger *ledger, struct tdm_ledger_notes *notes)
{
	if (ledger->header.notes_offset == 0)
		return 0;
	int err = tdm_ledger_read(ledger, ledger->header.notes_offset, notes, sizeof *notes);
	if (err != 0)
		return err;
	ledger->refused_notes = notes->remark_count > TDM_LEDGER_NOTE_REMARKS;
	notes->remark_count = tdm_min(notes->remark_count, TDM_LEDGER_NOTE_REMARKS);
	return 1;
}

/*
 * ---- blobs ----
 *
 * A blob's number times TDM_LEDGER_BLOB_UNIT is its offset in the blob area, which is the concatenation of the blob
 * segments; no blob crosses a segment's end. Blobs never change, so they are kept once read. A damaged ledger can refer
 * to overlapping blobs, but the blobs kept never exceed the size of the area in total.
 */

enum {
	FIRST_NUMBER = 2, /* smaller numbers are never used */
	CONTENT_MAX = TDM_LEDGER_FIRST_BLOB / 2,
	WINDOW_BYTES = TDM_LEDGER_FIRST_BLOB, /* every segment is a multiple of this */
};

void tdm_ledger_blobs_done(struct tdm_ledger *ledger)
{
	for (size_t i = 0; i < ledger->kept_count; i++)
		free((void *)(uintptr_t)ledger->kept[i].content);
	free(ledger->kept);
	free(ledger->modules);
	tdm_map_done(&ledger->by_number);
}

/*
 * Converts `at`, an offset in the blob area, to an offset in the file, and sets *left to the bytes left in its segment.
 * False if it is in no segment.
 */
static bool find_place(const struct tdm_ledger *ledger, uint64_t at, uint64_t *offset, uint64_t *left)
{
	uint64_t begin;
	uint32_t k = tdm_ledger_segment(at, TDM_LEDGER_FIRST_BLOB, &begin);
	if (k >= ledger->header.blob_segments)
		return false;
	*offset = ledger->header.blob_offset[k] + (at - begin);
	*left = ((uint64_t)TDM_LEDGER_FIRST_BLOB << k) - (at - begin);
	return true;
}

static bool head_is_valid(const struct tdm_ledger_blob *head, uint64_t left)
{
	enum { FRAME = sizeof(uint64_t), RANGE = sizeof(struct tdm_core_range) };
	static const struct {
		uint32_t unit, least, most;
	} sizes[] = { [TDM_BLOB_TEXT] = { 1, 0, TDM_LEDGER_TEXT_MAX },
		[TDM_BLOB_STACK] = { FRAME, 0, TDM_LEDGER_STACK_MAX * FRAME },
		[TDM_BLOB_RANGES] = { RANGE, 0, TDM_LEDGER_RANGES_MAX * RANGE },
		[TDM_BLOB_MODULE] = { 1, 2 * sizeof(uint64_t), CONTENT_MAX } };
	return head->kind != 0 && head->kind < sizeof sizes / sizeof sizes[0] &&
	       head->bytes % sizes[head->kind].unit == 0 && head->bytes >= sizes[head->kind].least &&
	       head->bytes <= sizes[head->kind].most && left >= sizeof *head && head->bytes <= left - sizeof *head;
}

/* The number of completed bytes in the blob area, at most as many as the segments hold. */
static uint64_t blob_end(const struct tdm_ledger *ledger)
{
	uint64_t capacity = (uint64_t)TDM_LEDGER_FIRST_BLOB * ((UINT64_C(1) << ledger->header.blob_segments) - 1);
	return ledger->header.blob_used < capacity ? ledger->header.blob_used : capacity;
}

static const struct tdm_ledger_kept *read_blob(struct tdm_ledger *ledger, uint32_t number)
{
	uint64_t at = (uint64_t)number * TDM_LEDGER_BLOB_UNIT, offset, left;
	struct tdm_ledger_blob head;
	struct tdm_ledger_header fresh;
	/* The blob area may have grown since the last picture. */
	if (at >= blob_end(ledger) && tdm_ledger_read(ledger, 0, &fresh, sizeof fresh) == 0 &&
		tdm_ledger_measure(ledger) == 0) {
		uint32_t k = ledger->header.blob_segments;
		for (; k < fresh.blob_segments && k < TDM_LEDGER_BLOB_SEGMENTS &&
			tdm_ledger_is_inside(ledger, fresh.blob_offset[k], (uint64_t)TDM_LEDGER_FIRST_BLOB << k);
			k++)
			ledger->header.blob_offset[k] = fresh.blob_offset[k];
		ledger->header.blob_segments = k;
		ledger->header.blob_used = fresh.blob_used;
	}
	uint64_t end = blob_end(ledger);
	if (at >= end || !find_place(ledger, at, &offset, &left))
		return NULL;
	left = tdm_min(left, end - at);
	if (left < sizeof head || tdm_ledger_read(ledger, offset, &head, sizeof head) != 0 ||
		!head_is_valid(&head, left) || ledger->kept_bytes + head.bytes > end)
		return NULL;
	char *content = tdm_alloc(head.bytes); /* at most CONTENT_MAX */
	if (tdm_ledger_read(ledger, offset + sizeof head, content, head.bytes) != 0) {
		free(content);
		return NULL;
	}
	tdm_grow(&ledger->kept, &ledger->kept_cap, ledger->kept_count + 1, sizeof *ledger->kept);
	tdm_map_set(&ledger->by_number, number, (uint32_t)ledger->kept_count);
	ledger->kept[ledger->kept_count] = (struct tdm_ledger_kept){ content, head.kind, head.bytes };
	ledger->kept_bytes += sizeof head + head.bytes;
	return &ledger->kept[ledger->kept_count++];
}

static const struct tdm_ledger_kept *get_blob(struct tdm_ledger *ledger, uint32_t number, enum tdm_blob_kind kind)
{
	if (number == 0)
		return NULL;
	uint32_t i = number >= FIRST_NUMBER ? tdm_map_find(&ledger->by_number, number) : TDM_MAP_NONE;
	const struct tdm_ledger_kept *kept = i != TDM_MAP_NONE        ? &ledger->kept[i]
					     : number >= FIRST_NUMBER ? read_blob(ledger, number)
								      : NULL;
	if (kept != NULL && kept->kind == (uint32_t)kind)
		return kept;
	ledger->refused++;
	return NULL;
}

struct tdm_str tdm_ledger_text(struct tdm_ledger *ledger, uint32_t number)
{
	const struct tdm_ledger_kept *kept = get_blob(ledger, number, TDM_BLOB_TEXT);
	return kept != NULL ? (struct tdm_str){ kept->content, kept->bytes } : (struct tdm_str){ "", 0 };
}

size_t tdm_ledger_stack(struct tdm_ledger *ledger, uint32_t number, uint64_t frames[TDM_LEDGER_STACK_MAX])
{
	const struct tdm_ledger_kept *kept = get_blob(ledger, number, TDM_BLOB_STACK);
	if (kept == NULL)
		return 0;
	memcpy(frames, kept->content, kept->bytes);
	return kept->bytes / sizeof *frames;
}

const struct tdm_core_range *tdm_ledger_ranges(struct tdm_ledger *ledger, uint32_t number, uint32_t *count)
{
	const struct tdm_ledger_kept *kept = get_blob(ledger, number, TDM_BLOB_RANGES);
	*count = 0;
	if (kept == NULL)
		return NULL;
	const struct tdm_core_range *ranges = (const void *)kept->content; /* aligned by malloc() */
	uint32_t all = kept->bytes / (uint32_t)sizeof *ranges;
	for (uint32_t i = 0; i < all; i++)
		if (!tdm_core_range_is_valid(&ranges[i])) {
			ledger->refused++;
			return NULL;
		}
	*count = all;
	return all != 0 ? ranges : NULL;
}

/* Modules, found by a walk over the completed blobs. */

static void find_modules(struct tdm_ledger *ledger)
{
	/* Reads the area in parts, so that small blobs do not cost a system call each. */
	char *window = tdm_alloc(WINDOW_BYTES);
	uint64_t at = ledger->modules_seen, offset, left, used = blob_end(ledger), from = 0, to = 0;
	if (at == 0)
		at = FIRST_NUMBER * TDM_LEDGER_BLOB_UNIT;
	while (at < used && find_place(ledger, at, &offset, &left)) {
		struct tdm_ledger_blob head = { 0 };
		uint64_t known = tdm_min(left, used - at);
		if (known >= sizeof head && (at < from || at >= to || to - at < sizeof head)) {
			size_t bytes = (size_t)tdm_min(known, WINDOW_BYTES);
			from = at;
			to = tdm_ledger_read(ledger, offset, window, bytes) == 0 ? at + bytes : at;
		}
		if (known >= sizeof head && to != at)
			memcpy(&head, window + (at - from), sizeof head);
		if (!head_is_valid(&head, known)) {
			at += left; /* the unused end of a segment, or a damaged segment */
			continue;
		}
		if (head.kind == TDM_BLOB_MODULE) {
			tdm_grow(&ledger->modules, &ledger->module_cap, ledger->module_count + 1,
				sizeof *ledger->modules);
			ledger->modules[ledger->module_count++] = (uint32_t)(at / TDM_LEDGER_BLOB_UNIT);
		}
		uint64_t padded = (head.bytes + TDM_LEDGER_BLOB_UNIT - 1) / TDM_LEDGER_BLOB_UNIT * TDM_LEDGER_BLOB_UNIT;
		at += sizeof head + padded;
	}
	ledger->modules_seen = at;
	free(window);
}

int tdm_ledger_module(struct tdm_ledger *ledger, size_t i, uint64_t *base, uint64_t *size, struct tdm_str *path)
{
	if (i >= ledger->module_count)
		find_modules(ledger);
	const struct tdm_ledger_kept *kept =
		i < ledger->module_count ? get_blob(ledger, ledger->modules[i], TDM_BLOB_MODULE) : NULL;
	if (kept == NULL)
		return 0;
	memcpy(base, kept->content, sizeof *base);
	memcpy(size, kept->content + sizeof *base, sizeof *size);
	*path = (struct tdm_str){ kept->content + 2 * sizeof *base, kept->bytes - 2 * sizeof *base };
	return 1;
}
