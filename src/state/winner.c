/*
 * Decides which source wins for each device and kind, and computes all sums. Sources count differently, so all figures
 * of a device and kind come from one source: the ledgers, if they know every running process that the region counts;
 * else the region, if it knows every process that has a ledger; else the one that knows more.
 */
#include "state/state_parts.h"
#include "base/reserve.h"

#include <errno.h>
#include <stdio.h>

/* What the two sources know about one device and kind. */
struct knowledge {
	bool has_ledgers, has_region;
	uint32_t ledger_only, region_only; /* processes that hold something and that the other source does not know */
	uint64_t ledger_only_bytes, region_only_bytes;
	uint32_t ledger_holders, region_holders; /* processes that hold something */
	uint64_t ledger_used, region_used;
	uint64_t region_unattributed, region_stale;
	bool crowded; /* the region has no free slot: some processes may be in its total only */
};

static const struct tdm_metal_region *region_of(const struct tdm_state *state, size_t device)
{
	uint32_t i = state->picture.devices[device].region;
	return i != UINT32_MAX && state->metal.now.regions[i].status == TDM_METAL_OK ? &state->metal.now.regions[i]
										     : NULL;
}

/* Bytes that are just being released: no process has them any more, but they are still in use. */
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
	/* One implausible figure makes every sum implausible. */
	if (know->region_used == TDM_BYTES_UNKNOWN || stale == TDM_BYTES_UNKNOWN)
		return;
	know->has_region = true;
	know->region_unattributed = unattributed;
	know->region_stale = stale - released;
	know->crowded = region->free_slot_count == 0 && region->unattributed.of[kind] != 0;
}

static void learn_part(const struct tdm_part *part, unsigned kind, struct knowledge *know)
{
	uint64_t ledger = part->ledger != NULL ? part->ledger->kinds[kind].usage.reserved_bytes : 0;
	uint64_t metal = part->has_slot && know->has_region ? part->metal.of[kind] : 0;
	if (part->ledger != NULL) {
		know->has_ledgers = true;
		know->ledger_used = tdm_plus(know->ledger_used, ledger);
		know->ledger_holders += ledger != 0;
	}
	know->region_holders += metal != 0;
	if (ledger != 0 && !part->has_slot) {
		know->ledger_only++;
		know->ledger_only_bytes = tdm_plus(know->ledger_only_bytes, ledger);
	}
	if (metal != 0 && part->ledger == NULL) {
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

static const struct tdm_region *region_in(const struct tdm_device_info *info, unsigned k)
{
	for (uint32_t i = 0; info != NULL && i < info->region_count; i++)
		if (info->regions[i].kind == k && info->regions[i].banks != 0)
			return &info->regions[i];
	return NULL;
}

/* Totals come from the programs' descriptions of their device, else from the card's tables. A program that does not use
 * a region may describe it with size 0: then another one's counts. */
static void set_total(struct tdm_state *state, size_t d, unsigned k, const uint32_t *parts, size_t count)
{
	struct tdm_picture_device *device = &state->picture.devices[d];
	struct tdm_picture_kind *kind = &device->kinds[k];
	const struct tdm_region *region = region_in(device->info, k);
	for (size_t i = 0; i < count && (region == NULL || region->bank_size == 0); i++) {
		const struct tdm_fold_holding *ledger = state->parts[parts[i]].ledger;
		const struct tdm_region *other = region_in(ledger != NULL ? &ledger->info : NULL, k);
		region = other != NULL ? other : region;
	}
	if (region != NULL) {
		kind->total = region->bank_size * region->banks; /* cannot wrap: the event was checked */
		kind->banks = region->banks;
		kind->base = region->base;
		kind->bank_bytes = region->bank_size;
		kind->total_from = TDM_FROM_LEDGER;
		return;
	}
	const struct tdm_model *model = tdm_models_get(&state->models, device->card);
	if (!model->is_known || k >= TDM_MODEL_RANGES || model->ranges[k].size == 0 || model->ranges[k].banks == 0 ||
		device->is_virtual)
		return;
	kind->total = model->ranges[k].size * model->ranges[k].banks;
	kind->banks = model->ranges[k].banks;
	kind->base = model->ranges[k].base;
	kind->bank_bytes = model->ranges[k].size;
	kind->total_from = device->card_from == TDM_FROM_CARD_TYPE ? TDM_FROM_CARD_TYPE : TDM_FROM_MODEL;
}

/* By its counters, or by those of its buffers that are listed. */
static bool is_estimated(const struct tdm_fold_kind *kind)
{
	return kind->usage.estimated != 0 || kind->estimated != 0;
}

/* Sums the ledgers. With a single producer the peak is its own. */
static void sum_ledgers(struct tdm_state *state, size_t d, unsigned k, const uint32_t *parts, size_t count)
{
	struct tdm_picture_kind *kind = &state->picture.devices[d].kinds[k];
	uint64_t highest = 0;
	uint32_t ledgers = 0;
	kind->asked = kind->buffers = kind->allocs = kind->out_of_memory = 0;
	for (size_t i = 0; i < count; i++) {
		const struct tdm_part *part = &state->parts[parts[i]];
		if (part->ledger == NULL || !tdm_picture_counts(&state->picture.processes[part->process]))
			continue;
		const struct tdm_usage *of = &part->ledger->kinds[k].usage;
		kind->asked = tdm_plus(kind->asked, of->asked_bytes);
		kind->buffers = tdm_plus(kind->buffers, of->buffers);
		kind->allocs = tdm_plus(kind->allocs, of->allocs);
		kind->out_of_memory = tdm_plus(kind->out_of_memory, of->out_of_memory);
		kind->is_estimated |= is_estimated(&part->ledger->kinds[k]);
		ledgers += of->peak_reserved_bytes != 0;
		highest = tdm_max(highest, of->peak_reserved_bytes);
	}
	kind->peak = highest;
	kind->peak_is_seen = ledgers > 1;
	kind->unattributed = 0;
}

/* The highest sum of the winning source that was seen. It starts again when another source wins, whose figures are not
 * comparable. */
static void set_seen_peak(struct tdm_state *state, size_t d, unsigned k)
{
	struct tdm_picture_kind *kind = &state->picture.devices[d].kinds[k];
	struct tdm_memo *memo = &state->memos[state->joined[d].memo];
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

/* The kinds that a program describes on a device: a bit each. The others need no walk over the programs. */
static uint32_t described_kinds(const struct tdm_state *state, const uint32_t *parts, size_t count)
{
	uint32_t kinds = 0;
	for (size_t i = 0; i < count; i++) {
		const struct tdm_fold_holding *ledger = state->parts[parts[i]].ledger;
		for (uint32_t r = 0; ledger != NULL && r < ledger->info.region_count; r++)
			kinds |= UINT32_C(1) << ledger->info.regions[r].kind;
	}
	return kinds;
}

/* `left`: what ended processes left; `is_described`: some program describes the kind. */
static void set_kind(struct tdm_state *state, size_t d, unsigned k, const uint32_t *parts, size_t count, uint64_t left,
	bool is_described)
{
	struct tdm_picture_kind *kind = &state->picture.devices[d].kinds[k];
	struct knowledge know = { 0 };
	learn_region(region_of(state, d), k, &know);
	for (size_t i = 0; i < count; i++)
		if (tdm_picture_counts(&state->picture.processes[state->parts[parts[i]].process]))
			learn_part(&state->parts[parts[i]], k, &know);
	enum tdm_from from = choose(&know);
	kind->used_from = (uint8_t)from;
	kind->stale = from == TDM_FROM_METAL_SHM ? know.region_stale : left;
	if (from == TDM_FROM_LEDGER) {
		kind->used = know.ledger_used;
		sum_ledgers(state, d, k, parts, count);
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
	set_total(state, d, k, parts, is_described ? count : 0);
	set_seen_peak(state, d, k);
	if (kind->used != TDM_BYTES_UNKNOWN && kind->total != TDM_BYTES_UNKNOWN && kind->used <= kind->total)
		kind->free = kind->total - kind->used;
}

/* Circular buffers have no region of their own: they grow from the other end of the region of L1 buffers. They can use
 * the space that neither kind uses. `free` of L1 stays what its allocator would say, which does not know about circular
 * buffers. */
static void share_l1(struct tdm_picture_device *device)
{
	const struct tdm_picture_kind *l1 = &device->kinds[TDM_KIND_L1];
	struct tdm_picture_kind *cb = &device->kinds[TDM_KIND_CB];
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

void tdm_state_ledger_amount(struct tdm_picture_amount *amount, const struct tdm_fold_holding *from, unsigned k)
{
	const struct tdm_fold_kind *kind = &from->kinds[k];
	const struct tdm_usage *usage = &kind->usage;
	*amount = (struct tdm_picture_amount){
		.from = TDM_FROM_LEDGER,
		.is_inexact = from->has_buffers && kind->has_usage &&
			      ((!usage->is_shared && usage->reserved_bytes != kind->reserved) ||
				      usage->buffers != kind->count),
		.is_estimated = is_estimated(kind),
		.used = usage->reserved_bytes,
		.peak = usage->peak_reserved_bytes,
		.peak_ns = usage->peak_ns,
		.occupied = usage->is_shared
				    ? usage->reserved_bytes /* of kinds on cores, which it is about, both are one */
			    : from->has_buffers || !kind->has_usage ? kind->occupied
								    : TDM_BYTES_UNKNOWN,
		.asked = usage->asked_bytes,
		.peak_asked = usage->peak_asked_bytes,
		.peak_bank = usage->peak_bank_bytes,
		.buffers = usage->buffers,
		.peak_buffers = usage->peak_buffers,
		.allocs = usage->allocs,
		.adopted = usage->adopted,
		.double_frees = usage->double_frees,
		.unknown_frees = usage->unknown_frees,
		.rereports = usage->rereports,
		.out_of_memory = usage->out_of_memory,
		.oom_bytes = usage->oom_bytes,
	};
}

/* What a process has on a device, each kind according to the source that won there. */
static void set_holding(struct tdm_state *state, size_t i)
{
	const struct tdm_part *part = &state->parts[i];
	struct tdm_holding *holding = &state->picture.holdings[i];
	const struct tdm_picture_device *device = &state->picture.devices[part->device];
	struct tdm_picture_process *process = &state->picture.processes[part->process];
	bool is_apart = !tdm_picture_counts(process);
	/* Member by member: there may be thousands of holdings, and they are large. */
	holding->process = part->process;
	holding->device = part->device;
	holding->own_number = part->number;
	holding->number = device->number >= 0 ? (uint32_t)device->number : part->number;
	holding->descriptors = part->descriptors;
	tdm_fold_show_told(part->ledger, holding);
	for (unsigned k = 0; k < TDM_KIND_COUNT; k++) {
		struct tdm_picture_amount *amount = &holding->kinds[k];
		uint8_t from = device->kinds[k].used_from;
		holding->buffers[k] = (struct tdm_buffer_list){ 0 };
		if (part->ledger != NULL)
			holding->buffers[k] = (struct tdm_buffer_list){ part->ledger->kinds[k].buffers,
				part->ledger->kinds[k].count };
		if (part->ledger != NULL && (from == TDM_FROM_LEDGER || is_apart)) {
			tdm_state_ledger_amount(amount, part->ledger, k);
			continue;
		}
		tdm_amount_init(amount);
		if (part->has_slot && !part->is_twin && from == TDM_FROM_METAL_SHM &&
			part->metal.of[k] != TDM_BYTES_UNKNOWN) {
			amount->used = part->metal.of[k];
			amount->from = TDM_FROM_METAL_SHM;
		}
	}
}

/* Faults of a process on all its devices, no matter which source wins there. */
static void set_faults(struct tdm_picture *picture, const struct tdm_fold_process *from)
{
	if (from->process == UINT32_MAX)
		return;
	struct tdm_picture_process *process = &picture->processes[from->process];
	process->faults = process->out_of_memory = 0;
	for (size_t i = 0; i < from->holding_count; i++)
		for (unsigned k = 0; k < TDM_KIND_COUNT; k++) {
			const struct tdm_usage *usage = &from->holdings[i]->kinds[k].usage;
			process->faults = tdm_plus(process->faults,
				tdm_plus(usage->double_frees, tdm_plus(usage->unknown_frees, usage->rereports)));
			process->out_of_memory = tdm_plus(process->out_of_memory, usage->out_of_memory);
		}
}

/* Adds up what ended processes left in their ledgers, for every device. */
static void add_left(const struct tdm_state *state, uint64_t (*left)[TDM_KIND_COUNT])
{
	for (size_t i = 0; i < state->fold.count; i++) {
		const struct tdm_fold_process *process = state->fold.processes[i];
		for (size_t h = 0; !tdm_fold_runs(process) && !process->who.is_stuck && h < process->holding_count;
			h++) {
			uint32_t at = process->holdings[h]->device;
			for (unsigned k = 0; at != UINT32_MAX && k < TDM_KIND_COUNT; k++)
				left[at][k] =
					tdm_plus(left[at][k], process->holdings[h]->kinds[k].usage.reserved_bytes);
		}
	}
}

static void set_device(struct tdm_state *state, size_t d, const uint32_t *parts, size_t count, const uint64_t *left)
{
	struct tdm_picture_device *device = &state->picture.devices[d];
	struct tdm_joined *joined = &state->joined[d];
	const struct tdm_model *model = tdm_models_get(&state->models, device->card);
	device->l1_core = model->is_known ? model->l1_core : TDM_BYTES_UNKNOWN;
	if (model->is_known)
		snprintf(device->arch, sizeof device->arch, "%s", model->arch);
	uint32_t described = described_kinds(state, parts, count);
	for (unsigned k = 0; k < TDM_KIND_COUNT; k++)
		set_kind(state, d, k, parts, count, left[k], (described >> k & 1) != 0);
	share_l1(device);
	uint64_t l1_peak = TDM_BYTES_UNKNOWN;
	for (size_t i = 0; i < count; i++) {
		const struct tdm_part *part = &state->parts[parts[i]];
		if (!tdm_picture_counts(&state->picture.processes[part->process]))
			continue;
		device->process_count += !part->is_twin;
		joined->is_incomplete |= part->ledger == NULL;
		joined->ledgers += part->ledger != NULL;
		if (part->ledger != NULL)
			l1_peak = part->ledger->kinds[TDM_KIND_L1].usage.l1_peak_bytes;
	}
	if (joined->ledgers == 1 && !joined->is_incomplete && device->kinds[TDM_KIND_L1].used_from == TDM_FROM_LEDGER)
		device->l1_peak = l1_peak;
	if (device->host_card != UINT32_MAX && state->host.cards[device->host_card].hidden_opens != 0)
		joined->is_incomplete = true;
}

void tdm_state_winner_again(struct tdm_state *state, size_t d)
{
	struct tdm_picture_device *device = &state->picture.devices[d];
	const uint32_t *ends = state->order + state->part_count;
	uint32_t first = d != 0 ? ends[d - 1] : 0, memo = state->joined[d].memo;
	tdm_picture_kinds_init(device);
	device->process_count = 0;
	state->joined[d] = (struct tdm_joined){ .memo = memo };
	set_device(state, d, state->order + first, ends[d] - first, state->left[d]);
	for (uint32_t i = first; i < ends[d]; i++) {
		set_holding(state, state->order[i]);
		if (state->parts[state->order[i]].owner != NULL)
			set_faults(&state->picture, state->parts[state->order[i]].owner);
	}
}

int tdm_state_winner(struct tdm_state *state)
{
	size_t devices = state->picture.device_count, parts = state->part_count;
	if (tdm_reserve(&state->picture.holdings, &state->holding_cap, parts, sizeof *state->picture.holdings) != 0 ||
		tdm_reserve(&state->left, &state->left_cap, devices, sizeof *state->left) != 0 ||
		tdm_reserve(&state->order, &state->order_cap, parts + devices + 1, sizeof *state->order) != 0)
		return -ENOMEM;
	/* Group the parts by device with a counting sort. */
	uint32_t *ends = state->order + parts, *order = state->order;
	memset(ends, 0, (devices + 1) * sizeof *ends);
	for (size_t i = 0; i < parts; i++)
		ends[state->parts[i].device + 1]++;
	for (size_t d = 0; d < devices; d++)
		ends[d + 1] += ends[d];
	for (size_t i = 0; i < parts; i++)
		order[ends[state->parts[i].device]++] = (uint32_t)i;
	if (devices != 0)
		memset(state->left, 0, devices * sizeof *state->left);
	add_left(state, state->left);
	for (size_t d = 0; d < devices; d++) {
		uint32_t first = d != 0 ? ends[d - 1] : 0;
		set_device(state, d, order + first, ends[d] - first, state->left[d]);
	}
	for (size_t i = 0; i < parts; i++)
		set_holding(state, i);
	for (size_t i = 0; i < state->fold.count; i++)
		set_faults(&state->picture, state->fold.processes[i]);
	state->picture.holding_count = parts;
	return 0;
}
