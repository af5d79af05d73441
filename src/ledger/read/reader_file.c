/*
 * Takes a picture of a ledger: the file, the header, the clocks, the devices with their counters, and whether the
 * writer is alive. Each part is read with pread() into private memory, checked there, and then used. A full refresh
 * checks the bounds of every area. Usually only the counters have changed, and a short refresh reads only the counters.
 * A part that changes during a read is read again; an invalid part is dropped and counted, and the rest stays usable.
 */
#include "ledger/read/reader_parts.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/memory.h"
#include "base/units.h"
#include "ledger/layout/ledger_file.h"
#include "ledger/read/ledger_list.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	CLOCK_TRIES = 8,
	/* number of refreshes after which the clocks are read again, in case somebody set the real-time clock */
	CLOCK_AGE = 256,
	AREA_ALIGN = 8, /* alignment of every offset in the file */
};
/* Minimum distance between two clock readings that gives the counter's rate accurately. */
#define CLOCK_SPAN_NS (TDM_NS_PER_S / 2)

int tdm_ledger_read(const struct tdm_ledger *ledger, uint64_t offset, void *dst, size_t bytes)
{
	char *at = dst;
	if (offset > INT64_MAX || bytes > INT64_MAX - offset)
		return TDM_ECORRUPT;
	while (bytes != 0) {
		ssize_t got = pread(ledger->fd, at, bytes, (off_t)offset);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			return TDM_ECORRUPT;
		at += got;
		offset += (uint64_t)got;
		bytes -= (size_t)got;
	}
	atomic_thread_fence(memory_order_acquire); /* prevents processors from reordering the reads */
	return 0;
}

bool tdm_ledger_is_inside(const struct tdm_ledger *ledger, uint64_t offset, uint64_t bytes)
{
	return offset >= ledger->header.header_size && offset % AREA_ALIGN == 0 && offset <= ledger->limit &&
	       bytes <= ledger->limit - offset;
}

int tdm_ledger_measure(struct tdm_ledger *ledger)
{
	struct stat st;
	uint64_t said;
	int err = tdm_ledger_read(ledger, offsetof(struct tdm_ledger_header, file_size), &said, sizeof said);
	if (err != 0)
		return err;
	if (fstat(ledger->fd, &st) != 0)
		return -errno;
	uint64_t real = st.st_size > 0 ? (uint64_t)st.st_size : 0;
	ledger->limit = said < real ? said : real;
	return 0;
}

static int add_area(struct tdm_ledger *ledger, uint64_t offset, uint64_t bytes)
{
	size_t at = ledger->area_count;
	if (!tdm_ledger_is_inside(ledger, offset, bytes))
		return TDM_ECORRUPT;
	while (at != 0 && ledger->areas[at - 1].offset > offset)
		at--;
	/* Both ends of every area are inside the file, so the sums below cannot wrap. */
	if ((at != 0 && ledger->areas[at - 1].offset + ledger->areas[at - 1].bytes > offset) ||
		(at != ledger->area_count && offset + bytes > ledger->areas[at].offset))
		return TDM_ECORRUPT;
	tdm_grow(&ledger->areas, &ledger->area_cap, ledger->area_count + 1, sizeof *ledger->areas);
	memmove(ledger->areas + at + 1, ledger->areas + at, (ledger->area_count - at) * sizeof *ledger->areas);
	ledger->areas[at] = (struct tdm_ledger_area){ offset, bytes };
	ledger->area_count++;
	return 0;
}

/*
 * ---- devices ----
 *
 * A device's page. Its counters exist twice and a call writes the older copy, so the copies of call S are intact until
 * call S + 2 begins: if `seq` is S both before and after reading the page, the newest copy of each counter with a
 * number of at most S is the right one. If a writer reports without pausing, there is no such moment. In that case
 * every copy used still has the number of a finished call and is plausible, but the counters may be from different
 * calls.
 */

enum {
	TRIES = 96,       /* attempts to read a consistent page */
	YIELD_EVERY = 16, /* attempts between two yields of the processor */
	ROUGH_AFTER = 64, /* attempts after which counters from several calls are accepted */
};

int tdm_ledger_seq(const struct tdm_ledger *ledger, uint64_t device_offset, uint64_t *seq)
{
	return tdm_ledger_read(ledger, device_offset + offsetof(struct tdm_ledger_device, seq), seq, sizeof *seq);
}

/* The newer committed one of two copies; -1 if both are being overwritten. */
static int newest(uint64_t first, uint64_t second, uint64_t seq)
{
	if (first > seq && second > seq)
		return -1;
	return second <= seq && (first > seq || second > first);
}

/* Combines both parts of a counter; false if a part has no usable copy or the result is implausible. */
static bool resolve(const struct tdm_ledger_device *page, unsigned i, uint64_t seq, struct tdm_ledger_view *view)
{
	struct tdm_counter *count = &view->counts[i];
	int n = newest(page->now[i][0].seq, page->now[i][1].seq, seq);
	int p = newest(page->peak[i][0].seq, page->peak[i][1].seq, seq);
	*count = (struct tdm_counter){ 0 };
	view->peak_tsc[i] = 0;
	if (n < 0 || p < 0)
		return false;
	const struct tdm_ledger_now *now = &page->now[i][n];
	const struct tdm_ledger_peak *peak = &page->peak[i][p];
	if (now->seq == 0)
		return true; /* never used */
	if (!(now->bytes <= peak->bytes && now->buffers <= peak->buffers && now->bank_bytes <= peak->bank_bytes &&
		    now->asked_bytes <= peak->asked_bytes && now->buffers <= now->allocs &&
		    now->bytes <= now->alloc_bytes && now->asked_bytes <= now->alloc_asked &&
		    peak->adopted <= now->allocs && peak->adopted_bytes <= now->alloc_bytes))
		return false;
	*count = (struct tdm_counter){
		.seq = now->seq,
		.reserved = now->bytes,
		.peak = peak->bytes,
		.buffers = now->buffers,
		.peak_buffers = peak->buffers,
		.bank = now->bank_bytes,
		.peak_bank = peak->bank_bytes,
		.asked = now->asked_bytes,
		.peak_asked = peak->asked_bytes,
		.allocs = now->allocs - peak->adopted,
		.alloc_bytes = now->alloc_bytes - peak->adopted_bytes,
		.alloc_asked = now->alloc_asked,
		.adopted = peak->adopted,
	};
	view->peak_tsc[i] = peak->tsc;
	return true;
}

/* Resolves L1, all kinds together: the writer stores only its peak, which does not count views. */
static bool resolve_l1_all(const struct tdm_ledger_device *page, uint64_t seq, struct tdm_ledger_view *view)
{
	const struct tdm_ledger_peak *copies = page->peak[TDM_LEDGER_L1_ALL];
	struct tdm_counter *counts = view->counts, *all = &counts[TDM_LEDGER_L1_ALL];
	int p = newest(copies[0].seq, copies[1].seq, seq);
	*all = (struct tdm_counter){ 0 };
	if (p < 0)
		return false;
	for (unsigned i = 0; i < TDM_KIND_COUNT; i++) {
		if (i == TDM_KIND_DRAM || i == TDM_KIND_TRACE || i == TDM_KIND_SYSTEM)
			continue;
		all->seq = tdm_max(all->seq, counts[i].seq);
		all->reserved = tdm_plus(all->reserved, counts[i].reserved);
		all->buffers = tdm_plus(all->buffers, counts[i].buffers);
		all->bank = tdm_plus(all->bank, counts[i].bank);
		all->asked = tdm_plus(all->asked, counts[i].asked);
		all->allocs = tdm_plus(all->allocs, counts[i].allocs);
		all->alloc_bytes = tdm_plus(all->alloc_bytes, counts[i].alloc_bytes);
		all->alloc_asked = tdm_plus(all->alloc_asked, counts[i].alloc_asked);
		all->adopted = tdm_plus(all->adopted, counts[i].adopted);
	}
	all->peak = tdm_max(copies[p].bytes, all->reserved);
	all->peak_buffers = tdm_max(copies[p].buffers, all->buffers);
	all->peak_bank = tdm_max(copies[p].bank_bytes, all->bank);
	all->peak_asked = tdm_max(copies[p].asked_bytes, all->asked);
	view->peak_tsc[TDM_LEDGER_L1_ALL] = copies[p].tsc;
	counts[TDM_KIND_L1].l1_peak = all->peak;
	return true;
}

/* Reads the page and its counters as call *seq left them; sets *rough if they may be from several calls. See the
 * comment at the head of this section. On entry, *seq is a recent value of the commit word, or TDM_LEDGER_SEQ_BUSY
 * if it has not been read. */
static int read_page(const struct tdm_ledger *ledger, uint64_t offset, struct tdm_ledger_device *page, uint64_t *seq,
	struct tdm_ledger_view *view, bool *rough, uint64_t *refused)
{
	struct tdm_ledger_device later;
	uint64_t before = *seq;
	unsigned bad = TDM_LEDGER_COUNTERS;
	*refused = 0;
	for (int i = 0; i < TRIES; i++) {
		int err = i != 0 || before == TDM_LEDGER_SEQ_BUSY ? tdm_ledger_seq(ledger, offset, &before) : 0;
		if (err == 0)
			err = tdm_ledger_read(ledger, offset, page, sizeof *page);
		/* Read it again: after a single read, the number of segments may be newer than their offsets. */
		if (err == 0)
			err = tdm_ledger_read(ledger, offset, &later, offsetof(struct tdm_ledger_device, ring_offset));
		if (err != 0)
			return err;
		memcpy(page->slot_offset, later.slot_offset, sizeof page->slot_offset);
		*seq = later.seq;
		if (*seq == TDM_LEDGER_SEQ_BUSY)
			return TDM_ECORRUPT;
		/* If a writer was killed while describing the device, `described` stays odd forever. */
		bool whole = *seq == before && page->described % 2 == 0;
		*rough = *seq != before;
		/* Counters without a usable copy are treated as never used. */
		bad = 0;
		for (unsigned k = 0; k < TDM_KIND_COUNT; k++)
			bad += !resolve(page, k, *seq, view);
		bad += !resolve_l1_all(page, *seq, view);
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

/* A slot may be in use although our copy of the page does not have its segment yet. */
static uint32_t slot_high_of(const struct tdm_ledger_device *page)
{
	uint64_t slots = (uint64_t)TDM_LEDGER_FIRST_SLOTS * ((UINT64_C(1) << page->slot_segments) - 1);
	return page->slot_high < slots ? page->slot_high : (uint32_t)slots;
}

static int read_place(struct tdm_ledger *ledger, uint64_t offset, const struct tdm_ledger_device *page,
	struct tdm_ledger_place *place)
{
	*place = (struct tdm_ledger_place){ .offset = offset, .described = page->described };
	int err = add_area(ledger, offset, sizeof *page);
	if (err != 0 || page->slot_segments > TDM_LEDGER_SEGMENTS)
		return TDM_ECORRUPT;
	for (uint32_t k = 0; k < page->slot_segments && err == 0; k++) {
		err = add_area(ledger, page->slot_offset[k],
			((uint64_t)TDM_LEDGER_FIRST_SLOTS << k) *
				(sizeof(struct tdm_ledger_slot) + sizeof(struct tdm_ledger_more)));
		place->slot_offset[k] = page->slot_offset[k];
	}
	place->slot_segments = page->slot_segments;
	place->slot_high = slot_high_of(page);
	/* Everything else is valid without the runtime's reports. */
	if (err == 0 && page->runtime_offset != 0) {
		bool is_good = add_area(ledger, page->runtime_offset, tdm_ledger_runtime_size(&ledger->header)) == 0;
		place->runtime_offset = is_good ? page->runtime_offset : 0;
		place->refused_told = !is_good;
	}
	place->said_runtime = page->runtime_offset;
	if (err != 0 || page->ring_records == 0)
		return err;
	if (page->ring_records > TDM_LEDGER_RING_MAX || (page->ring_records & (page->ring_records - 1)) != 0)
		return TDM_ECORRUPT;
	err = add_area(ledger, page->ring_offset, page->ring_records * sizeof(struct tdm_ledger_record));
	place->ring_offset = page->ring_offset;
	place->ring_records = page->ring_records;
	return err;
}

/* Copies the page into the view. Returns the number of invalid regions. */
static uint64_t copy_view(struct tdm_ledger_view *view, const struct tdm_ledger_device *page, uint64_t seq)
{
	/* Not kept per ledger, because a reopened ledger must not repeat a version. */
	static _Atomic uint64_t versions;
	view->version = atomic_fetch_add_explicit(&versions, 1, memory_order_relaxed) + 1;
	view->number = page->number;
	view->seq = seq;
	view->shared_kinds = page->shared_kinds & ((UINT32_C(1) << TDM_KIND_COUNT) - 1);
	view->info = (struct tdm_device_info){
		.has_chip_id = (page->flags & TDM_DEVICE_HAS_CHIP_ID) != 0,
		.is_virtual = (page->flags & TDM_DEVICE_VIRTUAL) != 0,
		.chip_id = page->chip_id,
		.grid_x = page->grid_x,
		.grid_y = page->grid_y,
	};
	static_assert(sizeof view->info.card == sizeof page->card + 1, "the ledger's text with a terminator");
	static_assert((int)TDM_REGIONS_MAX == (int)TDM_LEDGER_REGIONS, "every region has a place");
	memcpy(view->info.card, page->card, sizeof page->card);
	uint64_t refused = page->region_count > TDM_LEDGER_REGIONS;
	for (uint32_t i = 0; i < page->region_count && i < TDM_LEDGER_REGIONS; i++) {
		const struct tdm_ledger_region *region = &page->regions[i];
		uint64_t total;
		if (region->kind < TDM_KIND_COUNT && region->bank_size <= UINT64_MAX - region->base &&
			!__builtin_mul_overflow(region->bank_size, (uint64_t)region->banks, &total))
			view->info.regions[view->info.region_count++] = (struct tdm_region){ (uint8_t)region->kind,
				region->banks, region->base, region->bank_size, region->align };
		else
			refused++;
	}
	/* Faults are stored beside the counters; each is a single word, so it needs no second copy. */
	for (unsigned k = 0; k < TDM_KIND_COUNT; k++) {
		const struct tdm_ledger_faults *faults = &page->faults[k];
		struct tdm_counter *count = &view->counts[k];
		count->double_frees = faults->double_frees;
		count->unknown_frees = faults->unknown_frees;
		count->rereports = faults->rereports;
		count->out_of_memory = faults->out_of_memory;
		count->oom_bytes = faults->oom_bytes;
		count->is_estimated = faults->estimated != 0;
		count->is_shared = (view->shared_kinds >> k & 1) != 0;
	}
	return refused;
}

static int read_device(struct tdm_ledger *ledger, uint64_t offset, struct tdm_ledger_view *view,
	struct tdm_ledger_place *place, struct tdm_diag *diag)
{
	struct tdm_ledger_device page;
	uint64_t seq = TDM_LEDGER_SEQ_BUSY, refused;
	bool rough;
	if (!tdm_ledger_is_inside(ledger, offset, sizeof page))
		return tdm_diag_set(diag, TDM_ECORRUPT, 0, 0,
			"damaged: the device at byte %" PRIu64 " is outside the file", offset);
	int err = read_page(ledger, offset, &page, &seq, view, &rough, &refused);
	if (err == 0) {
		refused += copy_view(view, &page, seq);
		/* The file may have grown since the header was read, so its length is read after the references to
		 * it. */
		err = tdm_ledger_measure(ledger);
	}
	if (err == 0)
		err = read_place(ledger, offset, &page, place);
	if (err != 0)
		return tdm_diag_set(diag, err, 0, 0, "the device at byte %" PRIu64 " cannot be read: %s", offset,
			tdm_err_text(err));
	place->rough = rough;
	place->refused = refused;
	return 0;
}

/* Reads the commit word and the description's number; every change of the device changes one of the two. 1 if one
 * has changed, 0 if not, or a negative code. */
static int read_head(const struct tdm_ledger *ledger, const struct tdm_ledger_view *view,
	const struct tdm_ledger_place *place, struct tdm_ledger_device *page)
{
	int err = tdm_ledger_read(
		ledger, place->offset, page, offsetof(struct tdm_ledger_device, described) + sizeof page->described);
	return err != 0 ? err : page->seq != view->seq || page->described != place->described || place->rough;
}

bool tdm_ledger_is_still(const struct tdm_ledger *ledger)
{
	struct tdm_ledger_device page;
	for (size_t i = 0; i < ledger->device_count; i++)
		if (read_head(ledger, &ledger->views[i], &ledger->places[i], &page) != 0)
			return false;
	return ledger->device_count != 0;
}

static int update_device(struct tdm_ledger *ledger, struct tdm_ledger_view *view, struct tdm_ledger_place *place)
{
	struct tdm_ledger_device page;
	int err = read_head(ledger, view, place, &page);
	if (err <= 0)
		return err;
	uint64_t seq = page.seq;
	err = read_page(ledger, place->offset, &page, &seq, view, &place->rough, &place->refused);
	if (err != 0)
		return err;
	if (!(page.slot_segments == place->slot_segments && page.ring_records == place->ring_records &&
		    page.runtime_offset == place->said_runtime &&
		    (page.ring_records == 0 || page.ring_offset == place->ring_offset) &&
		    memcmp(page.slot_offset, place->slot_offset, place->slot_segments * sizeof *page.slot_offset) == 0))
		return -ESTALE;
	place->refused += copy_view(view, &page, seq);
	place->slot_high = slot_high_of(&page);
	place->described = page.described;
	return 1;
}

int tdm_ledger_refresh_device(struct tdm_ledger *ledger, size_t device)
{
	struct tdm_ledger_view view = { 0 };
	struct tdm_ledger_place place;
	int err = update_device(ledger, &ledger->views[device], &ledger->places[device]);
	if (err != -ESTALE && err != TDM_ECORRUPT)
		return err < 0 ? err : 0;
	ledger->area_count = 0;
	err = read_device(ledger, ledger->places[device].offset, &view, &place, NULL);
	if (err == 0) {
		place.refused_slots = ledger->places[device].refused_slots;
		place.refused_told = tdm_max(place.refused_told, ledger->places[device].refused_told);
		ledger->views[device] = view;
		ledger->places[device] = place;
	}
	return err;
}

/* ---- the header ---- */

static int read_header(const struct tdm_ledger *ledger, struct tdm_ledger_header *header, struct tdm_diag *diag)
{
	struct stat st;
	int err = tdm_ledger_read(ledger, 0, header, sizeof *header);
	if (err == TDM_ECORRUPT && fstat(ledger->fd, &st) != 0)
		err = -errno;
	if (err == TDM_ECORRUPT && st.st_size == 0)
		return tdm_diag_set(diag, -EAGAIN, 0, 0, "its writer has not finished setting it up");
	if (err == TDM_ECORRUPT)
		return tdm_diag_set(diag, err, 0, 0, "not a ledger: it has only %lld bytes", (long long)st.st_size);
	if (err != 0)
		return tdm_diag_set(diag, err, 0, 0, "%s", tdm_err_text(err));
	header->comm[sizeof header->comm - 1] = header->command[sizeof header->command - 1] = '\0';
	if (header->magic == 0 || (header->magic == TDM_LEDGER_MAGIC && header->state == TDM_LEDGER_NEW))
		return tdm_diag_set(diag, -EAGAIN, 0, 0, "its writer has not finished setting it up");
	if (header->magic != TDM_LEDGER_MAGIC)
		return tdm_diag_set(diag, TDM_ECORRUPT, 0, 0, "not a ledger: it does not begin like one");
	if (header->major != TDM_LEDGER_MAJOR && header->major != 1)
		return tdm_diag_set(diag, TDM_EVERSION, 0, 0,
			"a ledger of version %" PRIu32 ".%" PRIu32 "; this program reads versions up to %d",
			header->major, header->minor, TDM_LEDGER_MAJOR);
	if (header->state > TDM_LEDGER_CLOSED || header->pid <= 0)
		return tdm_diag_set(diag, TDM_ECORRUPT, 0, 0, "damaged: its header has state %" PRIu32 " and pid %d",
			header->state, (int)header->pid);
	if (header->header_size < sizeof *header || header->header_size > TDM_LEDGER_PAGE)
		return tdm_diag_set(diag, TDM_ECORRUPT, 0, 0,
			"damaged: its header has an invalid size of %" PRIu32 " bytes", header->header_size);
	if (header->device_count > TDM_LEDGER_DEVICES || header->blob_segments > TDM_LEDGER_BLOB_SEGMENTS ||
		header->phase_segments > TDM_LEDGER_BLOB_SEGMENTS)
		return tdm_diag_set(diag, TDM_ECORRUPT, 0, 0,
			"damaged: its header counts %" PRIu32 " devices, %" PRIu32 " and %" PRIu32 " segments",
			header->device_count, header->blob_segments, header->phase_segments);
	return 0;
}

/* Checks the segments of blobs or phases; an invalid segment and all later ones are not used. */
static uint32_t believe_segments(
	struct tdm_ledger *ledger, const uint64_t *offsets, uint32_t count, uint64_t first_bytes)
{
	for (uint32_t k = 0; k < count; k++)
		if (add_area(ledger, offsets[k], first_bytes << k) != 0) {
			ledger->refused++;
			return k;
		}
	return count;
}

/* The clocks. */

/* Reads the header's second clock reading, which must be the same twice and must not be in the middle of an update. */
static bool read_last_clock(const struct tdm_ledger *ledger, struct tdm_ledger_clock *last)
{
	enum { WORDS = sizeof *last / sizeof(uint64_t) };
	uint64_t a[WORDS + 1], b[WORDS + 1];
	static_assert(offsetof(struct tdm_ledger_header, last_seq) ==
			      offsetof(struct tdm_ledger_header, last) + sizeof(struct tdm_ledger_clock),
		"the number follows the data that it guards");
	for (int i = 0; i < CLOCK_TRIES; i++) {
		uint64_t at = offsetof(struct tdm_ledger_header, last);
		if (tdm_ledger_read(ledger, at, a, sizeof a) != 0 || tdm_ledger_read(ledger, at, b, sizeof b) != 0)
			return false;
		if (a[WORDS] % 2 == 0 && memcmp(a, b, sizeof a) == 0) {
			memcpy(last, a, sizeof *last);
			return true;
		}
	}
	return false;
}

static bool is_far(const struct tdm_ledger_clock *from, const struct tdm_ledger_clock *to, uint64_t span_ns)
{
	return to->tsc > from->tsc && to->monotonic_ns > from->monotonic_ns &&
	       to->monotonic_ns - from->monotonic_ns >= span_ns;
}

/*
 * If the header's two readings are too close together, uses the current time as the second, unless the machine was
 * rebooted.
 */
static void refresh_clocks(struct tdm_ledger *ledger)
{
	struct tdm_ledger_clock last = { 0 };
	bool has_last = read_last_clock(ledger, &last);
	uint8_t id[16];
	ledger->first = ledger->header.first;
	ledger->last = last;
	ledger->clocks_age = 0;
	ledger->has_clocks = ledger->clocks_settled = has_last && is_far(&ledger->first, &last, CLOCK_SPAN_NS);
	if (ledger->has_clocks)
		return;
	if (!ledger->asked_boot) {
		ledger->asked_boot = true;
		/* If the writer is running, the ledger is from this boot. */
		ledger->is_this_boot = tdm_ledger_liveness(ledger) == TDM_ALIVE ||
				       (tdm_ledger_boot_id(id) && memcmp(id, ledger->header.boot_id, sizeof id) == 0);
	}
	if (ledger->is_this_boot) {
		ledger->last = tdm_ledger_clock_now();
		ledger->has_clocks = is_far(&ledger->first, &ledger->last, 1);
		ledger->clocks_settled = is_far(&ledger->first, &ledger->last, CLOCK_SPAN_NS);
	}
	if (!ledger->has_clocks && has_last) {
		ledger->has_clocks = is_far(&ledger->first, &last, 1);
		ledger->last = last;
	}
}

bool tdm_ledger_monotonic(const struct tdm_ledger *ledger, uint64_t tsc, uint64_t *ns)
{
	const struct tdm_ledger_clock *first = &ledger->first, *last = &ledger->last;
	if (!ledger->has_clocks)
		return false;
	unsigned __int128 span_ns = last->monotonic_ns - first->monotonic_ns, span = last->tsc - first->tsc;
	bool is_later = tsc >= first->tsc;
	unsigned __int128 far = (is_later ? tsc - first->tsc : first->tsc - tsc) * span_ns / span;
	if (far > (is_later ? UINT64_MAX - first->monotonic_ns : first->monotonic_ns))
		return false;
	*ns = is_later ? first->monotonic_ns + (uint64_t)far : first->monotonic_ns - (uint64_t)far;
	return true;
}

/* The picture. */

static int refresh_devices(struct tdm_ledger *ledger, struct tdm_diag *diag)
{
	uint32_t count = ledger->header.device_count;
	size_t good = 0;
	struct tdm_ledger_view *views = tdm_zalloc(count, sizeof *views);
	struct tdm_ledger_place *places = tdm_zalloc(count, sizeof *places);
	int err = 0;
	for (uint32_t i = 0; i < count && err == 0; i++) {
		err = read_device(ledger, ledger->header.device_offset[i], &views[good], &places[good], diag);
		if (err == TDM_ECORRUPT) {
			ledger->refused++;
			err = 0;
		} else if (err == 0) {
			good++;
		}
	}
	if (err != 0) {
		free(views);
		free(places);
		return tdm_diag_set(diag, err, 0, 0, "%s", tdm_err_text(err));
	}
	free(ledger->views);
	free(ledger->places);
	ledger->views = views;
	ledger->places = places;
	ledger->device_count = good;
	return 0;
}

/* Takes a complete picture: checks every area. */
static int refresh_all(struct tdm_ledger *ledger, struct tdm_ledger_header *header, struct tdm_diag *diag)
{
	struct tdm_ledger_header before = ledger->header, later;
	uint64_t others = ledger->refused - ledger->refused_areas;
	/* Read it again: after a single read, the number of entries in a directory may be newer than the entries. */
	int err = tdm_ledger_read(ledger, 0, &later, sizeof later);
	if (err == 0) {
		memcpy(header->blob_offset, later.blob_offset, sizeof header->blob_offset);
		memcpy(header->phase_offset, later.phase_offset, sizeof header->phase_offset);
		memcpy(header->device_offset, later.device_offset, sizeof header->device_offset);
	}
	ledger->refused = others;
	ledger->area_count = 0;
	ledger->header = *header;
	if (err == 0)
		err = tdm_ledger_measure(ledger);
	if (err == 0) {
		ledger->header.blob_segments =
			believe_segments(ledger, header->blob_offset, header->blob_segments, TDM_LEDGER_FIRST_BLOB);
		ledger->header.phase_segments = believe_segments(ledger, header->phase_offset, header->phase_segments,
			TDM_LEDGER_PHASES_FIRST * sizeof(struct tdm_ledger_phase));
		if (header->notes_offset != 0 &&
			believe_segments(ledger, &header->notes_offset, 1, sizeof(struct tdm_ledger_notes)) == 0)
			ledger->header.notes_offset = 0;
		err = refresh_devices(ledger, diag);
	} else {
		tdm_diag_set(diag, err, 0, 0, "%s", tdm_err_text(err));
	}
	ledger->refused_areas = ledger->refused - others;
	if (err != 0) {
		ledger->header = before;
		return err;
	}
	ledger->said = *header;
	ledger->asked_boot = false;
	refresh_clocks(ledger);
	return 0;
}

/* Refreshes only the figures, which is usually enough. -ESTALE if it is not. */
static int refresh_figures(struct tdm_ledger *ledger, const struct tdm_ledger_header *header)
{
	/* The header must refer to the same areas and process as at the last full check. */
	const struct tdm_ledger_header *said = &ledger->said;
	if (!(ledger->device_count == said->device_count && header->device_count == said->device_count &&
		    header->blob_segments == said->blob_segments && header->phase_segments == said->phase_segments &&
		    header->header_size == said->header_size && header->notes_offset == said->notes_offset &&
		    memcmp(header->boot_id, said->boot_id,
			    offsetof(struct tdm_ledger_header, last) - offsetof(struct tdm_ledger_header, boot_id)) ==
			    0 &&
		    memcmp(header->blob_offset, said->blob_offset, sizeof said->blob_offset) == 0 &&
		    memcmp(header->phase_offset, said->phase_offset, sizeof said->phase_offset) == 0 &&
		    memcmp(header->device_offset, said->device_offset, sizeof said->device_offset) == 0))
		return -ESTALE;
	for (size_t i = 0; i < ledger->device_count; i++) {
		int err = update_device(ledger, &ledger->views[i], &ledger->places[i]);
		if (err < 0)
			return err == TDM_ECORRUPT ? -ESTALE : err;
	}
	bool settled = ledger->clocks_settled && header->last_seq == ledger->header.last_seq &&
		       ++ledger->clocks_age < CLOCK_AGE;
	uint32_t blobs = ledger->header.blob_segments, phases = ledger->header.phase_segments;
	uint64_t notes = ledger->header.notes_offset;
	ledger->header = *header;
	ledger->header.notes_offset = notes;
	ledger->header.blob_segments = blobs;
	ledger->header.phase_segments = phases;
	if (!settled)
		refresh_clocks(ledger);
	return 0;
}

int tdm_ledger_refresh(struct tdm_ledger *ledger, struct tdm_diag *diag)
{
	struct tdm_ledger_header header;
	int err = read_header(ledger, &header, diag);
	if (err != 0)
		return err;
	err = ledger->views != NULL ? refresh_figures(ledger, &header) : -ESTALE;
	if (err == -ESTALE)
		err = refresh_all(ledger, &header, diag);
	else if (err != 0)
		tdm_diag_set(diag, err, 0, 0, "%s", tdm_err_text(err));
	return err;
}

/* ---- the file ---- */

/*
 * A process loses its POSIX record lock on a file when it closes any descriptor of that file, even one unrelated to the
 * lock. So a process that reads its own ledger would appear dead once it closed the ledger. Such descriptors are
 * therefore kept here and reused. There are few of them, and they stay open until the process ends. Any thread may call
 * these functions; the mutex guards the table.
 */
enum { OWN_MAX = 16 };

static pthread_mutex_t own_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct {
	char *path;
	int fd;
} own_files[OWN_MAX];
static size_t own_count;

/* The descriptor kept for a path, or -1 if there is none yet. If `fd` is not -1, it was just opened and is kept. */
static int own_file(const char *path, int fd)
{
	struct stat now, known;
	size_t i = 0;
	pthread_mutex_lock(&own_mutex);
	while (i < own_count && strcmp(own_files[i].path, path) != 0)
		i++;
	bool is_known = i < own_count && (fd >= 0 ? fstat(fd, &now) : lstat(path, &now)) == 0 &&
			fstat(own_files[i].fd, &known) == 0;
	bool is_same = is_known && now.st_dev == known.st_dev && now.st_ino == known.st_ino;
	if (fd < 0 && is_same) {
		fd = own_files[i].fd;
	} else if (fd >= 0 && is_known && !is_same) {
		close(own_files[i].fd); /* the path now refers to another file, on which we have no lock */
		own_files[i].fd = fd;
	} else if (fd >= 0 && i == own_count && own_count < OWN_MAX) {
		own_files[i].fd = fd;
		own_files[i].path = strdup(path);
		own_count += own_files[i].path != NULL;
	}
	pthread_mutex_unlock(&own_mutex);
	return fd;
}

static int open_file(struct tdm_ledger *ledger, struct tdm_diag *diag)
{
	struct stat st;
	struct tdm_ledger_name name;
	bool is_own = tdm_ledger_parse_name(ledger->path, &name) && tdm_ledger_is_own_name(&name);
	if (is_own && (ledger->fd = own_file(ledger->path, -1)) >= 0) {
		ledger->own = true;
		ledger->file_uid = geteuid();
		return 0;
	}
	enum { FLAGS = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK };
	/* O_NOATIME preserves the access time; only the owner and root may use it */
	ledger->fd = open(ledger->path, FLAGS | O_NOATIME);
	if (ledger->fd < 0 && errno == EPERM)
		ledger->fd = open(ledger->path, FLAGS);
	if (ledger->fd < 0 && errno == ELOOP)
		return tdm_diag_set(diag, -ELOOP, 0, 0, "a symbolic link, which is not followed");
	if (ledger->fd < 0 || fstat(ledger->fd, &st) != 0)
		return tdm_diag_set(diag, -errno, 0, 0, "%s", tdm_err_text(-errno));
	if (!S_ISREG(st.st_mode))
		return tdm_diag_set(diag, TDM_ECORRUPT, 0, 0, "not a ledger: it is not a regular file");
	ledger->file_uid = st.st_uid;
	if (is_own && st.st_uid == geteuid()) {
		ledger->own = true;
		own_file(ledger->path, ledger->fd);
	}
	return 0;
}

int tdm_ledger_open(const char *path, struct tdm_ledger **out, struct tdm_diag *diag)
{
	struct tdm_ledger *ledger = tdm_zalloc(1, sizeof *ledger);
	*out = NULL;
	ledger->fd = -1;
	ledger->path = tdm_strdup(path);
	int err = open_file(ledger, diag);
	if (err == 0)
		err = tdm_ledger_refresh(ledger, diag);
	if (err != 0) {
		tdm_ledger_close(ledger);
		return err;
	}
	*out = ledger;
	return 0;
}

void tdm_ledger_close(struct tdm_ledger *ledger)
{
	if (ledger == NULL)
		return;
	if (ledger->fd >= 0 && !ledger->own)
		close(ledger->fd);
	tdm_ledger_blobs_done(ledger);
	free(ledger->views);
	free(ledger->places);
	free(ledger->areas);
	free(ledger->path);
	free(ledger);
}

const struct tdm_ledger_header *tdm_ledger_header(const struct tdm_ledger *ledger)
{
	return &ledger->header;
}

struct tdm_ledger_clock tdm_ledger_noted(const struct tdm_ledger *ledger)
{
	return ledger->header.last_seq % 2 == 0 ? ledger->header.last : ledger->header.first;
}

enum tdm_liveness tdm_ledger_holder(const struct tdm_ledger *ledger, int32_t *pid)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1 };
	*pid = 0;
	if (ledger->own) { /* a process never sees its own lock */
		*pid = (int32_t)getpid();
		return (ledger->header.flags & TDM_LEDGER_MOVED) == 0 ? TDM_ALIVE : TDM_DEAD;
	}
	if (fcntl(ledger->fd, F_GETLK, &lock) != 0)
		return TDM_ALIVE_UNKNOWN;
	if (lock.l_type == F_UNLCK)
		return TDM_DEAD;
	*pid = lock.l_pid > 0 ? (int32_t)lock.l_pid : 0;
	return TDM_ALIVE;
}

enum tdm_liveness tdm_ledger_liveness(const struct tdm_ledger *ledger)
{
	int32_t pid;
	return tdm_ledger_holder(ledger, &pid);
}

uint32_t tdm_ledger_file_owner(const struct tdm_ledger *ledger)
{
	return ledger->file_uid;
}

uint64_t tdm_ledger_refused(const struct tdm_ledger *ledger)
{
	uint64_t refused = ledger->refused + ledger->refused_notes;
	for (size_t i = 0; i < ledger->device_count; i++)
		refused += ledger->places[i].refused + ledger->places[i].refused_slots + ledger->places[i].refused_told;
	return refused;
}

size_t tdm_ledger_device_count(const struct tdm_ledger *ledger)
{
	return ledger->device_count;
}

const struct tdm_ledger_view *tdm_ledger_device(const struct tdm_ledger *ledger, size_t i)
{
	return i < ledger->device_count ? &ledger->views[i] : NULL;
}
