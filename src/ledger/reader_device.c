/*
 * A device's page. Its counters exist twice and a call writes the older copy, so the copies of call S are intact until
 * call S + 2 begins: if `seq` is S before and after reading the page, the newest copy of each counter with a number of
 * at most S is the right one. A writer that reports without a pause never gives such a moment. Then every copy that is
 * used still has the number of a finished call and looks consistent, but the counters may be from different calls.
 */
#include "ledger/reader_parts.h"
#include "base/units.h"
#include "base/err.h"

#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <sched.h>

enum {
	TRIES = 96,       /* to read a page of one moment */
	YIELD_EVERY = 16, /* tries between two yields of the processor */
	ROUGH_AFTER = 64, /* tries after which counters of several calls are accepted */
};

int tdm_ledger_seq(const struct tdm_ledger *ledger, uint64_t device_offset, uint64_t *seq)
{
	return tdm_ledger_read(ledger, device_offset + offsetof(struct tdm_ledger_device, seq), seq, sizeof *seq);
}

/* Conditions that every count fulfils; a copy that was overwritten while it was read rarely does. */
static bool count_is_plausible(const struct tdm_ledger_now *c, const struct tdm_ledger_peak *peak)
{
	return c->bytes <= peak->bytes && c->buffers <= peak->buffers && c->bank_bytes <= peak->bank_bytes &&
	       c->asked_bytes <= peak->asked_bytes && c->buffers <= c->allocs && c->bytes <= c->alloc_bytes &&
	       c->asked_bytes <= c->alloc_asked && peak->adopted <= c->allocs && peak->adopted_bytes <= c->alloc_bytes;
}

/* The newer committed copy of two; -1 when both are being overwritten. */
static int newest(uint64_t first, uint64_t second, uint64_t seq)
{
	if (first > seq && second > seq)
		return -1;
	return second <= seq && (first > seq || second > first);
}

/* Puts both parts of a counter together; false when a part has no usable copy or the result is implausible. */
static bool resolve(const struct tdm_ledger_device *page, unsigned i, uint64_t seq, struct tdm_ledger_count *count)
{
	int n = newest(page->now[i][0].seq, page->now[i][1].seq, seq);
	int p = newest(page->peak[i][0].seq, page->peak[i][1].seq, seq);
	if (n < 0 || p < 0)
		return false;
	const struct tdm_ledger_now *now = &page->now[i][n];
	const struct tdm_ledger_peak *peak = &page->peak[i][p];
	*count = (struct tdm_ledger_count){ 0 };
	if (now->seq == 0)
		return true; /* never used */
	*count = (struct tdm_ledger_count){
		.seq = now->seq,
		.bytes = now->bytes,
		.peak_bytes = peak->bytes,
		.buffers = now->buffers,
		.peak_buffers = peak->buffers,
		.bank_bytes = now->bank_bytes,
		.peak_bank_bytes = peak->bank_bytes,
		.asked_bytes = now->asked_bytes,
		.peak_asked_bytes = peak->asked_bytes,
		.allocs = now->allocs - peak->adopted,
		.alloc_bytes = now->alloc_bytes - peak->adopted_bytes,
		.alloc_asked = now->alloc_asked,
		.adopted = peak->adopted,
		.peak_tsc = peak->tsc,
	};
	return count_is_plausible(now, peak);
}

/* L1, all kinds together: the writer stores only its peak, which does not count views. */
static bool resolve_l1_all(const struct tdm_ledger_device *page, uint64_t seq, struct tdm_ledger_count *counts)
{
	const struct tdm_ledger_peak *copies = page->peak[TDM_LEDGER_L1_ALL];
	struct tdm_ledger_count *all = &counts[TDM_LEDGER_L1_ALL];
	int p = newest(copies[0].seq, copies[1].seq, seq);
	*all = (struct tdm_ledger_count){ 0 };
	if (p < 0)
		return false;
	for (unsigned i = 0; i < TDM_KIND_COUNT; i++) {
		if (i == TDM_KIND_DRAM || i == TDM_KIND_TRACE || i == TDM_KIND_SYSTEM)
			continue;
		all->seq = tdm_max(all->seq, counts[i].seq);
		all->bytes = tdm_plus(all->bytes, counts[i].bytes);
		all->buffers = tdm_plus(all->buffers, counts[i].buffers);
		all->bank_bytes = tdm_plus(all->bank_bytes, counts[i].bank_bytes);
		all->asked_bytes = tdm_plus(all->asked_bytes, counts[i].asked_bytes);
		all->allocs = tdm_plus(all->allocs, counts[i].allocs);
		all->alloc_bytes = tdm_plus(all->alloc_bytes, counts[i].alloc_bytes);
		all->alloc_asked = tdm_plus(all->alloc_asked, counts[i].alloc_asked);
		all->adopted = tdm_plus(all->adopted, counts[i].adopted);
	}
	all->peak_bytes = tdm_max(copies[p].bytes, all->bytes);
	all->peak_buffers = tdm_max(copies[p].buffers, all->buffers);
	all->peak_bank_bytes = tdm_max(copies[p].bank_bytes, all->bank_bytes);
	all->peak_asked_bytes = tdm_max(copies[p].asked_bytes, all->asked_bytes);
	all->peak_tsc = copies[p].tsc;
	return true;
}

/* Returns the number of counters without a usable copy; those are left as if they had never been used. */
static unsigned resolve_counts(const struct tdm_ledger_device *page, uint64_t seq, struct tdm_ledger_count *counts)
{
	unsigned bad = 0;
	for (unsigned i = 0; i < TDM_KIND_COUNT; i++)
		if (!resolve(page, i, seq, &counts[i])) {
			counts[i] = (struct tdm_ledger_count){ 0 };
			bad++;
		}
	return bad + !resolve_l1_all(page, seq, counts);
}

/* Reads the commit word again, and the offsets of the segments: within one read, a processor may load the number of
 * segments after their offsets. */
static int read_again(const struct tdm_ledger *ledger, uint64_t offset, struct tdm_ledger_device *page, uint64_t *seq)
{
	struct tdm_ledger_device later;
	int err = tdm_ledger_read(ledger, offset, &later, offsetof(struct tdm_ledger_device, ring_offset));
	if (err != 0)
		return err;
	memcpy(page->slot_offset, later.slot_offset, sizeof page->slot_offset);
	*seq = later.seq;
	return 0;
}

/* Reads the page and its counters as call *seq left them; *rough if they may be from several calls. See the head of
 * this file. Before that, *seq is what it was a moment ago, or TDM_LEDGER_SEQ_BUSY if that was not read. */
static int read_page(const struct tdm_ledger *ledger, uint64_t offset, struct tdm_ledger_device *page, uint64_t *seq,
	struct tdm_ledger_count *counts, bool *rough, uint64_t *refused)
{
	uint64_t before = *seq;
	unsigned bad = TDM_LEDGER_COUNTERS;
	*refused = 0;
	for (int i = 0; i < TRIES; i++) {
		int err = i != 0 || before == TDM_LEDGER_SEQ_BUSY ? tdm_ledger_seq(ledger, offset, &before) : 0;
		if (err == 0)
			err = tdm_ledger_read(ledger, offset, page, sizeof *page);
		if (err == 0)
			err = read_again(ledger, offset, page, seq);
		if (err != 0)
			return err;
		if (*seq == TDM_LEDGER_SEQ_BUSY)
			return TDM_ECORRUPT;
		/* A writer that was killed while it described the device leaves `described` odd forever. */
		bool whole = *seq == before && page->described % 2 == 0;
		*rough = *seq != before;
		bad = resolve_counts(page, *seq, counts);
		if ((whole || i >= ROUGH_AFTER) && bad == 0)
			return 0;
		if (i % YIELD_EVERY == YIELD_EVERY - 1)
			sched_yield();
	}
	*rough = true;
	if (*seq == before)
		*refused = bad;
	return 0;
}

static int read_slots_place(struct tdm_ledger *ledger, struct tdm_ledger_areas *areas,
	const struct tdm_ledger_device *page, struct tdm_ledger_place *place)
{
	uint64_t slots = 0;
	if (page->slot_segments > TDM_LEDGER_SEGMENTS)
		return TDM_ECORRUPT;
	for (uint32_t k = 0; k < page->slot_segments; k++) {
		uint64_t count = (uint64_t)TDM_LEDGER_FIRST_SLOTS << k;
		int err = tdm_ledger_areas_add(ledger, areas, page->slot_offset[k],
			count * (sizeof(struct tdm_ledger_slot) + sizeof(struct tdm_ledger_more)));
		if (err != 0)
			return err;
		place->slot_offset[k] = page->slot_offset[k];
		slots += count;
	}
	place->slot_segments = page->slot_segments;
	/* A slot may be in use a moment before our copy of the page has its segment. */
	place->slot_high = page->slot_high < slots ? page->slot_high : (uint32_t)slots;
	return 0;
}

static int read_place(struct tdm_ledger *ledger, uint64_t offset, struct tdm_ledger_areas *areas,
	const struct tdm_ledger_device *page, struct tdm_ledger_place *place)
{
	*place = (struct tdm_ledger_place){ .offset = offset, .described = page->described };
	int err = tdm_ledger_areas_add(ledger, areas, offset, sizeof *page);
	if (err == 0)
		err = read_slots_place(ledger, areas, page, place);
	/* Without what the runtime said, the rest is as good as ever. */
	if (err == 0 && page->runtime_offset != 0) {
		bool is_good = tdm_ledger_areas_add(ledger, areas, page->runtime_offset,
				       tdm_ledger_runtime_size(&ledger->header)) == 0;
		place->runtime_offset = is_good ? page->runtime_offset : 0;
		place->refused_told = !is_good;
	}
	place->said_runtime = page->runtime_offset;
	if (err != 0 || page->ring_records == 0)
		return err;
	if (page->ring_records > TDM_LEDGER_RING_MAX || (page->ring_records & (page->ring_records - 1)) != 0)
		return TDM_ECORRUPT;
	err = tdm_ledger_areas_add(
		ledger, areas, page->ring_offset, page->ring_records * sizeof(struct tdm_ledger_record));
	place->ring_offset = page->ring_offset;
	place->ring_records = page->ring_records;
	return err;
}

/* Whether the page refers to the areas that have already been checked; areas do not move. */
static bool has_same_areas(const struct tdm_ledger_device *page, const struct tdm_ledger_place *place)
{
	return page->slot_segments == place->slot_segments && page->ring_records == place->ring_records &&
	       page->runtime_offset == place->said_runtime &&
	       (page->ring_records == 0 || page->ring_offset == place->ring_offset) &&
	       memcmp(page->slot_offset, place->slot_offset, place->slot_segments * sizeof *page->slot_offset) == 0;
}

/* Returns the number of invalid regions. */
static uint64_t copy_view(struct tdm_ledger_view *view, const struct tdm_ledger_device *page, uint64_t seq)
{
	/* Not counted in the ledger: one that is opened again must not repeat a number. */
	static _Atomic uint64_t versions;
	view->version = atomic_fetch_add_explicit(&versions, 1, memory_order_relaxed) + 1;
	view->number = page->number;
	view->flags = page->flags;
	view->seq = seq;
	view->chip_id = page->chip_id;
	memcpy(view->card, page->card, sizeof page->card);
	view->card[sizeof page->card] = '\0';
	view->grid_x = page->grid_x;
	view->grid_y = page->grid_y;
	view->region_count = 0;
	view->shared_kinds = page->shared_kinds & ((UINT32_C(1) << TDM_KIND_COUNT) - 1);
	uint64_t refused = page->region_count > TDM_LEDGER_REGIONS;
	for (uint32_t i = 0; i < page->region_count && i < TDM_LEDGER_REGIONS; i++) {
		const struct tdm_ledger_region *region = &page->regions[i];
		uint64_t total;
		if (region->kind < TDM_KIND_COUNT && region->bank_size <= UINT64_MAX - region->base &&
			!__builtin_mul_overflow(region->bank_size, (uint64_t)region->banks, &total))
			view->regions[view->region_count++] = *region;
		else
			refused++;
	}
	memcpy(view->faults, page->faults, sizeof view->faults);
	return refused;
}

int tdm_ledger_device_read(struct tdm_ledger *ledger, uint64_t offset, struct tdm_ledger_areas *areas,
	struct tdm_ledger_view *view, struct tdm_ledger_place *place, struct tdm_diag *diag)
{
	struct tdm_ledger_device page;
	uint64_t seq = TDM_LEDGER_SEQ_BUSY, refused;
	bool rough;
	if (!tdm_ledger_is_inside(ledger, offset, sizeof page))
		return tdm_diag_set(diag, TDM_ECORRUPT, 0, 0,
			"damaged: the device at byte %" PRIu64 " is outside the file", offset);
	int err = read_page(ledger, offset, &page, &seq, view->counts, &rough, &refused);
	if (err != 0)
		return tdm_diag_set(diag, err, 0, 0, "the device at byte %" PRIu64 " cannot be read: %s", offset,
			tdm_err_text(err));
	refused += copy_view(view, &page, seq);
	/* The file may have grown since the header was read: its length must be read after the references to it. */
	err = tdm_ledger_measure(ledger);
	if (err == 0)
		err = read_place(ledger, offset, areas, &page, place);
	place->rough = rough;
	place->refused = refused;
	return err != 0 ? tdm_diag_set(diag, err, 0, 0, "the device at byte %" PRIu64 " cannot be read: %s", offset,
				  tdm_err_text(err))
			: 0;
}

/* Reads the commit word and the number of the description: every change of the device changes one of them. */
static int read_head(
	const struct tdm_ledger *ledger, const struct tdm_ledger_place *place, struct tdm_ledger_device *page)
{
	return tdm_ledger_read(
		ledger, place->offset, page, offsetof(struct tdm_ledger_device, described) + sizeof page->described);
}

static bool is_unchanged(
	const struct tdm_ledger_device *page, const struct tdm_ledger_view *view, const struct tdm_ledger_place *place)
{
	return page->seq == view->seq && page->described == place->described && !place->rough;
}

bool tdm_ledger_is_still(const struct tdm_ledger *ledger)
{
	struct tdm_ledger_device page;
	for (size_t i = 0; i < ledger->device_count; i++)
		if (read_head(ledger, &ledger->places[i], &page) != 0 ||
			!is_unchanged(&page, &ledger->views[i], &ledger->places[i]))
			return false;
	return ledger->device_count != 0;
}

int tdm_ledger_device_update(struct tdm_ledger *ledger, struct tdm_ledger_view *view, struct tdm_ledger_place *place)
{
	struct tdm_ledger_device page;
	int err = read_head(ledger, place, &page);
	if (err != 0)
		return err;
	if (is_unchanged(&page, view, place))
		return 0;
	uint64_t seq = page.seq;
	err = read_page(ledger, place->offset, &page, &seq, view->counts, &place->rough, &place->refused);
	if (err != 0)
		return err;
	if (!has_same_areas(&page, place))
		return -ESTALE;
	place->refused += copy_view(view, &page, seq);
	uint64_t slots = (uint64_t)TDM_LEDGER_FIRST_SLOTS * ((UINT64_C(1) << place->slot_segments) - 1);
	place->slot_high = page.slot_high < slots ? page.slot_high : (uint32_t)slots;
	place->described = page.described;
	return 1;
}
