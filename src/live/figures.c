/*
 * Who wins for each device and kind, and all sums. Sources count differently, so the figures of one device and kind are
 * those of one source: the ledgers when they know every running process that the region counts; else the region when it
 * knows every process that has a ledger; else the one that knows more.
 */
#include "live/live_parts.h"
#include "base/reserve.h"

#include <errno.h>
#include <stdio.h>

/* What the two sources know of one device and kind. */
struct knowledge {
	bool has_ledgers, has_region;
	uint32_t ledger_only, region_only; /* processes that hold something, and the other one does not know */
	uint64_t ledger_only_bytes, region_only_bytes;
	uint32_t ledger_holders, region_holders; /* processes that hold something */
	uint64_t ledger_used, region_used;
	uint64_t region_unattributed, region_stale;
	bool crowded; /* the region has no slot left: processes may be in its total alone */
};

static const struct tdm_metal_region *region_of(const struct tdm_live *live, size_t device)
{
	uint32_t i = live->overview.devices[device].region;
	return i != UINT32_MAX && live->metal.now.regions[i].status == TDM_METAL_OK ? &live->metal.now.regions[i]
										    : NULL;
}

/* What is just being given back is in no process any more, but not gone either. */
static uint64_t released_bytes(const struct tdm_metal_region *region, unsigned kind)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < region->slot_count; i++)
		if (region->slots[i].releases)
			sum = tdm_plus(sum, region->slots[i].bytes.of[kind]);
	return sum;
}

static void learn_region(const struct tdm_metal_region *region, unsigned kind, struct knowledge *know)
{
	if (region == NULL || (region->counts >> kind & 1) == 0)
		return;
	uint64_t released = released_bytes(region, kind), stale = region->stale.of[kind];
	uint64_t unattributed = tdm_plus(region->unattributed.of[kind], released);
	uint64_t held = tdm_plus(region->live.of[kind], region->undecided.of[kind]);
	know->region_used = tdm_plus(held, unattributed);
	/* One figure that cannot be believed, and no sum can. */
	if (know->region_used == TDM_BYTES_UNKNOWN || stale == TDM_BYTES_UNKNOWN)
		return;
	know->has_region = true;
	know->region_unattributed = unattributed;
	know->region_stale = stale - released;
	know->crowded = region->free_slot_count == 0 && region->unattributed.of[kind] != 0;
}

static void learn_part(const struct tdm_part *part, unsigned kind, struct knowledge *know)
{
	uint64_t ledger = part->has_ledger ? part->ledger[kind].used : 0;
	uint64_t metal = part->has_slot && know->has_region ? part->metal.of[kind] : 0;
	if (part->has_ledger) {
		know->has_ledgers = true;
		know->ledger_used = tdm_plus(know->ledger_used, ledger);
		know->ledger_holders += ledger != 0;
	}
	know->region_holders += metal != 0;
	if (ledger != 0 && !part->has_slot) {
		know->ledger_only++;
		know->ledger_only_bytes = tdm_plus(know->ledger_only_bytes, ledger);
	}
	if (metal != 0 && !part->has_ledger) {
		know->region_only++;
		know->region_only_bytes = tdm_plus(know->region_only_bytes, metal);
	}
}

static enum tdm_from choose(const struct knowledge *know)
{
	bool ledgers = know->has_ledgers && know->ledger_used != TDM_BYTES_UNKNOWN;
	if (!ledgers || !know->has_region)
		return ledgers ? TDM_FROM_LEDGER : know->has_region ? TDM_FROM_METAL_SHM : TDM_FROM_NONE;
	if (know->region_only == 0 && !know->crowded)
		return TDM_FROM_LEDGER;
	if (know->ledger_only == 0)
		return TDM_FROM_METAL_SHM;
	return know->ledger_holders >= know->region_holders ? TDM_FROM_LEDGER : TDM_FROM_METAL_SHM;
}

/* Totals: as a program described its device, else as the card's tables say. */
static void set_total(struct tdm_live *live, size_t d, unsigned k)
{
	struct tdm_overview_device *device = &live->overview.devices[d];
	struct tdm_overview_kind *kind = &device->kinds[k];
	const struct tdm_ledger_view *view = live->joined[d].description;
	for (uint32_t i = 0; view != NULL && i < view->region_count; i++) {
		const struct tdm_ledger_region *region = &view->regions[i];
		if (region->kind != k || region->banks == 0)
			continue;
		kind->total = region->bank_size * region->banks; /* the reader checked the product */
		kind->banks = region->banks;
		kind->base = region->base;
		kind->bank_bytes = region->bank_size;
		kind->total_from = TDM_FROM_LEDGER;
		return;
	}
	const struct tdm_model *model = tdm_models_get(&live->models, device->card);
	if (!model->is_known || k >= TDM_MODEL_RANGES || model->ranges[k].size == 0 || model->ranges[k].banks == 0 ||
		device->is_virtual)
		return;
	kind->total = model->ranges[k].size * model->ranges[k].banks;
	kind->banks = model->ranges[k].banks;
	kind->base = model->ranges[k].base;
	kind->bank_bytes = model->ranges[k].size;
	kind->total_from = TDM_FROM_MODEL;
}

/* The figures of the ledgers; a peak is the producer's own when there is one producer. */
static void sum_ledgers(struct tdm_live *live, size_t d, unsigned k, const uint32_t *parts, size_t count)
{
	struct tdm_overview_kind *kind = &live->overview.devices[d].kinds[k];
	uint64_t highest = 0;
	uint32_t ledgers = 0;
	kind->asked = kind->buffers = kind->allocs = kind->out_of_memory = 0;
	for (size_t i = 0; i < count; i++) {
		const struct tdm_part *part = &live->parts[parts[i]];
		const struct tdm_part_kind *of = &part->ledger[k];
		if (!part->has_ledger || live->overview.processes[part->process].life == TDM_LIFE_ENDED)
			continue;
		kind->asked = tdm_plus(kind->asked, of->asked);
		kind->buffers = tdm_plus(kind->buffers, of->buffers);
		kind->allocs = tdm_plus(kind->allocs, of->allocs);
		kind->out_of_memory = tdm_plus(kind->out_of_memory, of->out_of_memory);
		ledgers += of->peak != 0;
		if (of->peak > highest) /* unknown ones are the highest */
			highest = of->peak;
	}
	kind->peak = highest;
	kind->peak_is_seen = ledgers > 1 || highest == TDM_BYTES_UNKNOWN;
	kind->unattributed = 0;
}

/* The highest sum that was seen of the source that wins; another source's figures are not comparable. */
static void set_seen_peak(struct tdm_live *live, size_t d, unsigned k)
{
	struct tdm_overview_kind *kind = &live->overview.devices[d].kinds[k];
	struct tdm_memo *memo = &live->memos[live->joined[d].memo];
	if (memo->seen_from[k] != kind->used_from) {
		memo->seen_from[k] = kind->used_from;
		memo->seen[k] = 0;
	}
	if (kind->used_from == TDM_FROM_NONE)
		return;
	if (kind->used > memo->seen[k])
		memo->seen[k] = kind->used;
	if (kind->used_from == TDM_FROM_METAL_SHM || kind->peak == TDM_BYTES_UNKNOWN) {
		kind->peak = memo->seen[k];
		kind->peak_is_seen = true;
	} else if (kind->peak_is_seen && memo->seen[k] > kind->peak) {
		kind->peak = memo->seen[k];
	}
}

static void set_kind(struct tdm_live *live, size_t d, unsigned k, const uint32_t *parts, size_t count, uint64_t left)
{
	struct tdm_overview_kind *kind = &live->overview.devices[d].kinds[k];
	struct knowledge know = { 0 };
	learn_region(region_of(live, d), k, &know);
	for (size_t i = 0; i < count; i++)
		if (live->overview.processes[live->parts[parts[i]].process].life != TDM_LIFE_ENDED)
			learn_part(&live->parts[parts[i]], k, &know);
	enum tdm_from from = choose(&know);
	kind->used_from = (uint8_t)from;
	kind->stale = from == TDM_FROM_METAL_SHM ? know.region_stale : left;
	if (from == TDM_FROM_LEDGER) {
		kind->used = know.ledger_used;
		sum_ledgers(live, d, k, parts, count);
		kind->rival_from = know.has_region ? TDM_FROM_METAL_SHM : TDM_FROM_NONE;
	} else if (from == TDM_FROM_METAL_SHM) {
		kind->used = kind->asked = know.region_used;
		kind->unattributed = know.region_unattributed;
		kind->rival_from = know.has_ledgers ? TDM_FROM_LEDGER : TDM_FROM_NONE;
	}
	if (kind->rival_from != TDM_FROM_NONE) {
		bool region = kind->rival_from == TDM_FROM_METAL_SHM;
		kind->rival_used = region ? know.region_used : know.ledger_used;
		kind->rival_processes = region ? know.region_only : know.ledger_only;
		kind->rival_bytes = region ? know.region_only_bytes : know.ledger_only_bytes;
	}
	set_total(live, d, k);
	set_seen_peak(live, d, k);
	if (kind->used != TDM_BYTES_UNKNOWN && kind->total != TDM_BYTES_UNKNOWN && kind->used <= kind->total)
		kind->free = kind->total - kind->used;
}

/* Circular buffers have no region of their own: they grow from the other end of the one that L1 buffers lie in. What
 * both leave is free for them; what is free in L1 stays what its allocator would say, which knows nothing of them. */
static void share_l1(struct tdm_overview_device *device)
{
	const struct tdm_overview_kind *l1 = &device->kinds[TDM_KIND_L1];
	struct tdm_overview_kind *cb = &device->kinds[TDM_KIND_CB];
	uint64_t used = tdm_plus(l1->used, cb->used);
	if (cb->total != TDM_BYTES_UNKNOWN || l1->total == TDM_BYTES_UNKNOWN)
		return;
	cb->total = l1->total;
	cb->total_from = l1->total_from;
	cb->banks = l1->banks;
	cb->base = l1->base;
	cb->bank_bytes = l1->bank_bytes;
	if (used != TDM_BYTES_UNKNOWN && used <= cb->total)
		cb->free = cb->total - used;
}

/* What a process has of a kind, by the source that won there. */
static void set_amount(
	struct tdm_overview_amount *amount, const struct tdm_part *part, unsigned k, uint8_t from, bool ended)
{
	if (part->has_ledger && (from == TDM_FROM_LEDGER || ended)) {
		*amount = (struct tdm_overview_amount){ .used = part->ledger[k].used,
			.peak = part->ledger[k].peak,
			.buffers = part->ledger[k].buffers,
			.from = TDM_FROM_LEDGER };
	} else if (part->has_slot && from == TDM_FROM_METAL_SHM && part->metal.of[k] != TDM_BYTES_UNKNOWN) {
		amount->used = part->metal.of[k];
		amount->from = TDM_FROM_METAL_SHM;
	}
}

static void set_holding(struct tdm_live *live, size_t i)
{
	const struct tdm_part *part = &live->parts[i];
	struct tdm_overview_holding *holding = &live->overview.holdings[i];
	const struct tdm_overview_device *device = &live->overview.devices[part->device];
	bool ended = live->overview.processes[part->process].life == TDM_LIFE_ENDED;
	tdm_overview_holding_init(holding, part->process, part->device);
	holding->descriptors = part->descriptors;
	for (unsigned k = 0; k < TDM_KIND_COUNT; k++)
		set_amount(&holding->kinds[k], part, k, device->kinds[k].used_from, ended);
}

/* What ended processes left in their ledgers, for every device. */
static void add_left(const struct tdm_live *live, uint64_t (*left)[TDM_KIND_COUNT])
{
	for (size_t i = 0; i < live->ledgers.count; i++) {
		const struct tdm_watched *item = live->ledgers.items[i];
		if (!tdm_watched_ended(item) || item->is_broken)
			continue;
		for (size_t d = 0; d < tdm_watched_device_count(item); d++) {
			uint32_t at = live->item_devices[i][d];
			for (unsigned k = 0; at != UINT32_MAX && k < TDM_KIND_COUNT; k++)
				left[at][k] = tdm_plus(left[at][k], tdm_watched_device(item, d)->counts[k].bytes);
		}
	}
}

static void set_device(struct tdm_live *live, size_t d, const uint32_t *parts, size_t count, const uint64_t *left)
{
	struct tdm_overview_device *device = &live->overview.devices[d];
	struct tdm_joined *joined = &live->joined[d];
	const struct tdm_model *model = tdm_models_get(&live->models, device->card);
	device->l1_core = model->is_known ? model->l1_core : TDM_BYTES_UNKNOWN;
	if (model->is_known)
		snprintf(device->arch, sizeof device->arch, "%s", model->arch);
	for (unsigned k = 0; k < TDM_KIND_COUNT; k++)
		set_kind(live, d, k, parts, count, left[k]);
	share_l1(device);
	uint64_t l1_peak = TDM_BYTES_UNKNOWN;
	for (size_t i = 0; i < count; i++) {
		const struct tdm_part *part = &live->parts[parts[i]];
		if (live->overview.processes[part->process].life == TDM_LIFE_ENDED)
			continue;
		device->process_count++;
		joined->is_incomplete |= !part->has_ledger;
		joined->ledgers += part->has_ledger;
		l1_peak = part->has_ledger ? part->l1_peak : l1_peak;
	}
	if (joined->ledgers == 1 && !joined->is_incomplete && device->kinds[TDM_KIND_L1].used_from == TDM_FROM_LEDGER)
		device->l1_peak = l1_peak;
	if (device->host_card != UINT32_MAX && live->host.cards[device->host_card].hidden_opens != 0)
		joined->is_incomplete = true;
}

int tdm_live_figures(struct tdm_live *live)
{
	size_t devices = live->overview.device_count, parts = live->part_count;
	if (tdm_reserve(&live->overview.holdings, &live->holding_cap, parts, sizeof *live->overview.holdings) != 0 ||
		tdm_reserve(&live->left, &live->left_cap, devices, sizeof *live->left) != 0 ||
		tdm_reserve(&live->order, &live->order_cap, parts + devices + 1, sizeof *live->order) != 0)
		return -ENOMEM;
	/* The parts of each device, one behind the other: counted, then put in their places. */
	uint32_t *ends = live->order + parts, *order = live->order;
	memset(ends, 0, (devices + 1) * sizeof *ends);
	for (size_t i = 0; i < parts; i++)
		ends[live->parts[i].device + 1]++;
	for (size_t d = 0; d < devices; d++)
		ends[d + 1] += ends[d];
	for (size_t i = 0; i < parts; i++)
		order[ends[live->parts[i].device]++] = (uint32_t)i;
	if (devices != 0)
		memset(live->left, 0, devices * sizeof *live->left);
	add_left(live, live->left);
	for (size_t d = 0; d < devices; d++) {
		uint32_t first = d != 0 ? ends[d - 1] : 0;
		set_device(live, d, order + first, ends[d] - first, live->left[d]);
	}
	for (size_t i = 0; i < parts; i++)
		set_holding(live, i);
	live->overview.holding_count = parts;
	return 0;
}
