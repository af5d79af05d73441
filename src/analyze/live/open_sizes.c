#include "analyze/live/open_sizes.h"
#include "base/map.h"
#include "base/number.h"
#include "base/units.h"
#include "model/alloc/freelist.h"
#include "model/card/bank.h"

/* ---- replaying the requests of one kind on one device ---- */

enum { REGION_MAX = 1 << 30 }; /* for a region of unknown size; offsets in it fit the values of a map */

struct trial {
	const struct tdm_picture *picture;
	const struct tdm_holding *holding;
	enum tdm_kind kind;
	const struct tdm_region *region; /* the real one, with whose addresses the model's are compared; or NULL */
	uint64_t align, size;            /* the region of the model, which begins at 0 */
	struct tdm_freelist *list;
	struct tdm_map live; /* offset of each buffer, by id */
	uint64_t allocs;     /* allocations replayed */
	uint64_t low,
		high; /* lowest end of the free space above buffers that grow up, and offset of the lowest other one */
	bool is_contradicted; /* the records make no sense, or the model places a buffer elsewhere than the runtime did
			       */
	bool is_refused;      /* a request did not fit */
};

static void reset(struct trial *t)
{
	const struct tdm_freelist_config config = { .size = t->size, .align = t->align, .min_alloc = t->align };
	tdm_freelist_free(t->list);
	t->list = NULL;
	tdm_map_clear(&t->live);
	t->is_contradicted |= tdm_freelist_new(&config, &t->list) != 0;
}

/* Whether a buffer is placed from the low end of the region. */
static bool goes_up(const struct trial *t, const struct tdm_event *event)
{
	const unsigned directions = TDM_EVENT_BOTTOM_UP | TDM_EVENT_TOP_DOWN;
	return (event->flags & directions) != 0 ? (event->flags & TDM_EVENT_BOTTOM_UP) != 0 : t->kind == TDM_KIND_TRACE;
}

static void apply_alloc(struct trial *t, const struct tdm_event *event)
{
	bool up = goes_up(t, event);
	uint64_t at, bytes;
	t->is_contradicted |= event->bytes_per_bank == TDM_SIZE_UNKNOWN || (event->flags & TDM_EVENT_ADOPTED) != 0 ||
			      tdm_map_find(&t->live, event->id) != TDM_MAP_NONE;
	if (t->is_contradicted)
		return;
	t->is_refused |=
		tdm_freelist_alloc(t->list, event->bytes_per_bank, up ? TDM_BOTTOM_UP : TDM_TOP_DOWN, 0, &at) != 0;
	if (t->is_refused)
		return;
	bytes = tdm_freelist_size_at(t->list, at);
	t->is_contradicted |=
		tdm_map_put(&t->live, event->id, (uint32_t)at) != 0 ||
		(t->region != NULL && event->address != TDM_ADDRESS_UNKNOWN && event->address != t->region->base + at);
	t->low = up ? tdm_max(t->low, at + bytes) : t->low;
	t->high = up ? t->high : tdm_min(t->high, at);
}

static void apply(struct trial *t, const struct tdm_event *event)
{
	if (event->op == TDM_OP_STEP && event->size == TDM_STEP_CLOSED) {
		reset(t); /* the runtime frees what is left */
	} else if (event->op == TDM_OP_ALLOC && event->kind == t->kind) {
		apply_alloc(t, event);
	} else if (event->op == TDM_OP_FREE && event->kind == t->kind) {
		uint32_t at = tdm_map_take(&t->live, event->id);
		t->is_contradicted |= at == TDM_MAP_NONE || tdm_freelist_release(t->list, at, NULL) != 0;
	}
}

/* Whether all recorded requests fit into the region. */
static bool replay(struct trial *t, uint64_t size)
{
	const struct tdm_picture *picture = t->picture;
	uint64_t process = picture->processes[t->holding->process].handle;
	t->size = t->high = size;
	t->low = 0;
	t->is_contradicted = t->is_refused = size > REGION_MAX;
	reset(t);
	for (size_t i = 0; i < picture->event_count && !t->is_contradicted && !t->is_refused; i++)
		if (picture->events[i].process == process && picture->events[i].device == t->holding->own_number)
			apply(t, &picture->events[i]);
	return !t->is_contradicted && !t->is_refused;
}

/* The bytes between the end of the region where the runtime begins and the last recorded buffer, from their addresses.
 * *recorded: number of allocations. */
static uint64_t seen_extent(const struct trial *t, uint64_t *recorded)
{
	uint64_t process = t->picture->processes[t->holding->process].handle, low = 0, high = 0;
	const struct tdm_region *region = t->region;
	for (size_t i = 0; i < t->picture->event_count; i++) {
		const struct tdm_event *event = &t->picture->events[i];
		if (event->process != process || event->device != t->holding->own_number || event->op != TDM_OP_ALLOC ||
			event->kind != t->kind)
			continue;
		++*recorded;
		uint64_t at =
			region != NULL && event->address >= region->base ? event->address - region->base : UINT64_MAX;
		if (region == NULL || at >= region->bank_size || event->bytes_per_bank > region->bank_size - at)
			continue;
		if (goes_up(t, event))
			low = tdm_max(low, at + event->bytes_per_bank);
		else
			high = tdm_max(high, region->bank_size - at);
	}
	return low + high;
}

/* The bytes that the requests take in a bank, with their holes. *is_tested: a second replay in a region of that size
 * has shown that they fit; else there are at least so many. */
static uint64_t find_extent(const struct tdm_picture *picture, const struct tdm_holding *holding,
	const struct tdm_region *region, struct tdm_open_size *size, bool *is_tested)
{
	const struct tdm_counter *amount = &holding->kinds[size->kind];
	struct trial t = { .picture = picture, .holding = holding, .kind = size->kind, .region = region };
	uint64_t whole = region != NULL ? region->bank_size : REGION_MAX, recorded = 0,
		 seen = seen_extent(&t, &recorded);
	t.align = region != NULL && region->align != 0 ? region->align : 1;
	bool is_whole = recorded == amount->allocs && amount->adopted == 0 && replay(&t, whole);
	uint64_t extent = is_whole ? t.low + (whole - t.high) : 0;
	t.region = NULL; /* the addresses are those of the real region */
	*is_tested = is_whole && extent >= amount->peak_bank && replay(&t, extent);
	size->allocs = tdm_plus(size->allocs, amount->allocs);
	size->recorded += recorded;
	tdm_freelist_free(t.list);
	tdm_map_done(&t.live);
	return *is_tested ? extent : tdm_max(amount->peak_bank, seen);
}

/* ---- the sizes ---- */

static const struct tdm_region *find_region(const struct tdm_device_info *info, unsigned kind)
{
	for (uint32_t i = 0; info != NULL && i < info->region_count; i++)
		if (info->regions[i].kind == kind)
			return info->regions[i].bank_size != 0 ? &info->regions[i] : NULL;
	return NULL;
}

/* The size that gives each bank `bank` bytes. */
static uint64_t size_for(
	const struct tdm_counter *amount, const struct tdm_region *region, bool is_trace, uint64_t bank)
{
	uint64_t part;
	if (!is_trace)
		return bank;
	/* The traces' total size suffices only if each bank's part of it can hold the bytes of one bank, because pages
	 * are not spread evenly. */
	if (region != NULL && region->banks != 0 && amount->peak_asked != TDM_BYTES_UNKNOWN &&
		tdm_bank_trace_part(amount->peak_asked, 1, region->banks, &part) && part >= bank)
		return amount->peak_asked;
	if (amount->peak == TDM_BYTES_UNKNOWN || bank == amount->peak_bank || amount->peak_bank == 0)
		return amount->peak;
	return tdm_times(bank, amount->peak / amount->peak_bank);
}

/* Raises the size to this device's size, if larger. */
static void look(struct tdm_open_size *size, const struct tdm_picture *picture, const struct tdm_holding *holding)
{
	const struct tdm_counter *amount = &holding->kinds[size->kind];
	const struct tdm_region *region = find_region(picture->devices[holding->device].info, size->kind);
	bool is_trace = size->kind == TDM_KIND_TRACE, has_region = region != NULL, is_tested = true;
	uint64_t bank = amount->peak_bank;
	if (amount->from != TDM_FROM_LEDGER)
		return;
	if (bank != 0 && bank != TDM_BYTES_UNKNOWN)
		bank = find_extent(picture, holding, region, size, &is_tested);
	uint64_t needed = size_for(amount, region, is_trace, bank);
	if (needed == TDM_BYTES_UNKNOWN ||
		(needed == 0 && !has_region && !(is_trace && holding->told.trace_count != 0)))
		return;
	size->is_in_dram |= is_trace && !has_region && needed == 0;
	size->is_tested &= is_tested;
	if (size->needed != TDM_BYTES_UNKNOWN && needed <= size->needed)
		return;
	size->needed = needed;
	size->device = holding->number;
	size->opened = !has_region ? TDM_BYTES_UNKNOWN
		       : is_trace  ? region->bank_size * region->banks
				   : region->bank_size;
}

size_t tdm_open_sizes(const struct tdm_picture *picture, uint32_t process, struct tdm_open_size sizes[TDM_OPEN_SIZES])
{
	static const struct tdm_open_size all[TDM_OPEN_SIZES] = {
		{ .option = "trace_region_size",
			.kind = TDM_KIND_TRACE,
			.needed = TDM_BYTES_UNKNOWN,
			.is_tested = true },
		{ .option = "l1_small_size",
			.kind = TDM_KIND_L1_SMALL,
			.needed = TDM_BYTES_UNKNOWN,
			.is_tested = true },
	};
	const struct tdm_picture_process *of = &picture->processes[process];
	size_t count = 0;
	for (size_t i = 0; i < TDM_OPEN_SIZES; i++) {
		struct tdm_open_size *size = &sizes[count];
		*size = all[i];
		for (uint32_t h = 0; h < of->holding_count; h++)
			look(size, picture, &picture->holdings[of->first_holding + h]);
		size->is_least = tdm_is_some(of->lost) || of->refused != 0 || !size->is_tested;
		size->is_in_dram &= size->needed == 0;
		count += size->needed != TDM_BYTES_UNKNOWN;
	}
	return count;
}
