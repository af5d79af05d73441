/*
 * Decides which source wins for each device and kind, and computes all sums. Sources count differently, so all figures
 * of a device and kind come from one source: the ledgers, if they have every running process that the region
 * (tt-metal's shared memory) counts; else the region, if it has every process with a ledger; else the source with the
 * larger figure.
 *
 * Then computes the largest free block in each of a device's memories, and how far L1 is filled from both ends. This
 * computation needs every buffer of every process on the device, so it is done only for devices that have changed, and
 * uses only a small share of the time. Devices take turns, and the picture marks answers older than the counters. If
 * the buffers of any process are unknown, there is no answer. An answer must match the counters shown with it: it uses
 * the buffers that were live when the counters were read. If a busy program has overwritten one of those buffers, the
 * device's counters are read again.
 */
#include "live/join/join.h"
#include "live/join/state.h"
#include "base/clock.h"
#include "base/memory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- cards ---- */

const struct tdm_model *tdm_state_model(struct tdm_state *state, const char *name)
{
	struct tdm_card card;
	for (size_t i = 0; i < state->model_count; i++)
		if (strcmp(state->models[i].name, name) == 0)
			return &state->models[i];
	struct tdm_model *model = &state->models[state->next_model];
	state->next_model = (state->next_model + 1) % TDM_MODELS_KEPT;
	state->model_count += state->model_count < TDM_MODELS_KEPT;
	*model = (struct tdm_model){ .l1_core = TDM_BYTES_UNKNOWN };
	snprintf(model->name, sizeof model->name, "%s", name);
	model->is_known = name[0] != '\0' && tdm_card_init(&card, tdm_str_of(name), NULL, NULL) == 0;
	if (!model->is_known)
		return model;
	model->board = card.name;
	model->arch = tdm_arch_name(card.arch);
	model->l1_core = tdm_card_get(&card, TDM_CARD_L1_SIZE);
	for (unsigned k = 0; k < TDM_MODEL_RANGES; k++)
		if (tdm_bank_range(&card, (enum tdm_kind)k, &model->ranges[k], NULL) != 0)
			model->ranges[k] = (struct tdm_bank_range){ 0 };
	return model;
}

/* ---- the winner ---- */

/* The indices of the parts on the device. */
static const uint32_t *parts_of(const struct tdm_state *state, size_t d, size_t *count)
{
	const uint32_t *ends = state->order + state->part_count;
	uint32_t first = d != 0 ? ends[d - 1] : 0;
	*count = ends[d] - first;
	return state->order + first;
}

/* What each of the two sources knows about one device and kind; LEDGERS and REGION are array indices. */
enum { LEDGERS, REGION };
struct knowledge {
	bool has[2];
	uint32_t only[2]; /* number of processes that hold memory and are unknown to the other source */
	uint64_t only_bytes[2];
	uint32_t holders[2]; /* processes that hold memory */
	uint64_t used[2];
	uint64_t region_unattributed, region_stale;
	bool crowded; /* the region has no free slot, so some processes may be only in its total */
};

static void learn_region(const struct tdm_metal_region *region, unsigned kind, struct knowledge *know)
{
	/* Bytes being released: no longer held by any process, but still in use. */
	uint64_t released = 0;
	if (region->status != TDM_METAL_OK || (region->counts >> kind & 1) == 0)
		return;
	for (uint32_t i = 0; i < region->slot_count; i++)
		if (region->slots[i].releases)
			released = tdm_plus(released, region->slots[i].bytes.of[kind]);
	uint64_t stale = region->stale.of[kind];
	uint64_t unattributed = tdm_plus(region->unattributed.of[kind], released);
	uint64_t held = tdm_plus(region->live.of[kind], region->undecided.of[kind]);
	know->used[REGION] = tdm_plus(held, unattributed);
	/* One implausible figure makes every sum implausible. */
	if (know->used[REGION] == TDM_BYTES_UNKNOWN || stale == TDM_BYTES_UNKNOWN)
		return;
	know->has[REGION] = true;
	know->region_unattributed = unattributed;
	know->region_stale = stale - released;
	know->crowded = region->free_slot_count == 0 && region->unattributed.of[kind] != 0;
}

static void learn_part(const struct tdm_part *part, unsigned kind, struct knowledge *know)
{
	const bool knows[2] = { part->ledger != NULL, part->has_slot };
	const uint64_t held[2] = { knows[LEDGERS] ? part->ledger->kinds[kind].counter.reserved : 0,
		knows[REGION] && know->has[REGION] ? part->metal.of[kind] : 0 };
	know->has[LEDGERS] |= knows[LEDGERS];
	know->used[LEDGERS] = tdm_plus(know->used[LEDGERS], held[LEDGERS]);
	for (int s = LEDGERS; s <= REGION; s++) {
		know->holders[s] += held[s] != 0;
		if (held[s] == 0 || knows[!s])
			continue;
		know->only[s]++;
		know->only_bytes[s] = tdm_plus(know->only_bytes[s], held[s]);
	}
}

static enum tdm_from choose(const struct knowledge *know)
{
	bool ledgers = know->has[LEDGERS] && know->used[LEDGERS] != TDM_BYTES_UNKNOWN;
	if (!ledgers || !know->has[REGION])
		return ledgers ? TDM_FROM_LEDGER : know->has[REGION] ? TDM_FROM_METAL_SHM : TDM_FROM_NONE;
	if (know->only[REGION] == 0 && !know->crowded)
		return TDM_FROM_LEDGER;
	if (know->only[LEDGERS] == 0)
		return TDM_FROM_METAL_SHM;
	return know->holders[LEDGERS] >= know->holders[REGION] ? TDM_FROM_LEDGER : TDM_FROM_METAL_SHM;
}

static const struct tdm_region *region_in(const struct tdm_device_info *info, unsigned k)
{
	for (uint32_t i = 0; info != NULL && i < info->region_count; i++)
		if (info->regions[i].kind == k && info->regions[i].banks != 0)
			return &info->regions[i];
	return NULL;
}

/* Totals come from the programs' descriptions of their device, else from the card's tables. A program that does not use
 * a region may describe it with size 0: then another program's description counts. */
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
		kind->total = region->bank_size * region->banks; /* cannot wrap: events are checked */
		kind->banks = region->banks;
		kind->base = region->base;
		kind->bank_bytes = region->bank_size;
		kind->total_from = TDM_FROM_LEDGER;
		return;
	}
	const struct tdm_model *model = tdm_state_model(state, device->card);
	if (!model->is_known || k >= TDM_MODEL_RANGES || model->ranges[k].size == 0 || model->ranges[k].banks == 0 ||
		device->is_virtual)
		return;
	kind->total = model->ranges[k].size * model->ranges[k].banks;
	kind->banks = model->ranges[k].banks;
	kind->base = model->ranges[k].base;
	kind->bank_bytes = model->ranges[k].size;
	kind->total_from = device->card_from == TDM_FROM_CARD_TYPE ? TDM_FROM_CARD_TYPE : TDM_FROM_MODEL;
}

/* Sums the ledgers. If there is only one producer, its peak is used. */
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
		const struct tdm_counter *of = &part->ledger->kinds[k].counter;
		kind->asked = tdm_plus(kind->asked, of->asked);
		kind->buffers = tdm_plus(kind->buffers, of->buffers);
		kind->allocs = tdm_plus(kind->allocs, of->allocs);
		kind->out_of_memory = tdm_plus(kind->out_of_memory, of->out_of_memory);
		kind->is_estimated |= of->is_estimated || part->ledger->kinds[k].estimated != 0;
		ledgers += of->peak != 0;
		highest = tdm_max(highest, of->peak);
	}
	kind->peak = highest;
	kind->peak_is_seen = ledgers > 1;
}

/* Updates the highest sum seen from the winning source. Starts over when a different source wins, because figures from
 * different sources are not comparable. */
static void set_seen_peak(struct tdm_state *state, size_t d, unsigned k)
{
	struct tdm_picture_kind *kind = &state->picture.devices[d].kinds[k];
	struct tdm_memo *memo = tdm_state_memo(state, d);
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

/* `left`: bytes left by ended processes; `is_described`: some program describes the kind. */
static void set_kind(struct tdm_state *state, size_t d, unsigned k, const uint32_t *parts, size_t count, uint64_t left,
	bool is_described)
{
	struct tdm_picture_kind *kind = &state->picture.devices[d].kinds[k];
	struct knowledge know = { 0 };
	uint32_t region_at = state->picture.devices[d].region;
	if (region_at != UINT32_MAX)
		learn_region(&state->metal.now.regions[region_at], k, &know);
	for (size_t i = 0; i < count; i++)
		if (tdm_picture_counts(&state->picture.processes[state->parts[parts[i]].process]))
			learn_part(&state->parts[parts[i]], k, &know);
	enum tdm_from from = choose(&know);
	bool is_region = from == TDM_FROM_METAL_SHM;
	kind->used_from = (uint8_t)from;
	kind->stale = is_region ? know.region_stale : left;
	if (from != TDM_FROM_NONE) {
		kind->used = know.used[is_region];
		kind->unattributed = is_region ? know.region_unattributed : 0;
		kind->asked = kind->used;
	}
	if (from != TDM_FROM_NONE && know.has[!is_region]) {
		kind->rival_from = is_region ? TDM_FROM_LEDGER : TDM_FROM_METAL_SHM;
		kind->rival_used = know.used[!is_region];
		kind->rival_processes = know.only[!is_region];
		kind->rival_bytes = know.only_bytes[!is_region];
	}
	if (from == TDM_FROM_LEDGER)
		sum_ledgers(state, d, k, parts, count);
	set_total(state, d, k, parts, is_described ? count : 0);
	set_seen_peak(state, d, k);
	if (kind->used != TDM_BYTES_UNKNOWN && kind->total != TDM_BYTES_UNKNOWN && kind->used <= kind->total)
		kind->free = kind->total - kind->used;
}

struct tdm_counter tdm_state_ledger_counter(const struct tdm_fold_holding *from, unsigned k)
{
	const struct tdm_fold_kind *kind = &from->kinds[k];
	struct tdm_counter counter = kind->counter;
	counter.from = TDM_FROM_LEDGER;
	counter.is_inexact =
		from->has_buffers && kind->has_counter &&
		((!counter.is_shared && counter.reserved != kind->reserved) || counter.buffers != kind->count);
	counter.is_estimated |= kind->estimated != 0; /* by its counters, or by its listed buffers */
	counter.occupied = counter.is_shared                         ? counter.reserved /* equal for kinds on cores */
			   : from->has_buffers || !kind->has_counter ? kind->occupied
								     : TDM_BYTES_UNKNOWN;
	return counter;
}

/* Fills the holding of a process on a device: each kind from the source that won there. */
static void set_holding(struct tdm_state *state, size_t i)
{
	const struct tdm_part *part = &state->parts[i];
	struct tdm_holding *holding = &state->picture.holdings[i];
	const struct tdm_picture_device *device = &state->picture.devices[part->device];
	struct tdm_picture_process *process = &state->picture.processes[part->process];
	bool is_apart = !tdm_picture_counts(process);
	/* Sets members one by one, because there may be thousands of holdings, and each is large. */
	holding->process = part->process;
	holding->device = part->device;
	holding->own_number = part->number;
	holding->number = device->number >= 0 ? (uint32_t)device->number : part->number;
	holding->descriptors = part->descriptors;
	holding->told = part->ledger != NULL ? part->ledger->told : (struct tdm_told){ 0 };
	for (unsigned k = 0; k < TDM_KIND_COUNT; k++) {
		struct tdm_counter *counter = &holding->kinds[k];
		uint8_t from = device->kinds[k].used_from;
		holding->buffers[k] = (struct tdm_buffer_list){ 0 };
		if (part->ledger != NULL)
			holding->buffers[k] = (struct tdm_buffer_list){ part->ledger->kinds[k].buffers,
				part->ledger->kinds[k].count };
		if (part->ledger != NULL && (from == TDM_FROM_LEDGER || is_apart)) {
			*counter = tdm_state_ledger_counter(part->ledger, k);
			continue;
		}
		*counter = tdm_counter_unknown;
		if (part->has_slot && !part->is_twin && from == TDM_FROM_METAL_SHM &&
			part->metal.of[k] != TDM_BYTES_UNKNOWN) {
			counter->reserved = part->metal.of[k];
			counter->from = TDM_FROM_METAL_SHM;
		}
	}
}

/* Faults of a process on all its devices, whichever source wins there. */
static void set_faults(struct tdm_picture *picture, const struct tdm_fold_process *from)
{
	if (from->process == UINT32_MAX)
		return;
	struct tdm_picture_process *process = &picture->processes[from->process];
	process->faults = process->out_of_memory = 0;
	for (size_t i = 0; i < from->holding_count; i++)
		for (unsigned k = 0; k < TDM_KIND_COUNT; k++) {
			const struct tdm_counter *counter = &from->holdings[i]->kinds[k].counter;
			process->faults = tdm_plus(process->faults,
				tdm_plus(counter->double_frees, tdm_plus(counter->unknown_frees, counter->rereports)));
			process->out_of_memory = tdm_plus(process->out_of_memory, counter->out_of_memory);
		}
}

static void set_device(struct tdm_state *state, size_t d)
{
	size_t count;
	const uint32_t *parts = parts_of(state, d, &count);
	const uint64_t *left = state->left[d];
	struct tdm_picture_device *device = &state->picture.devices[d];
	struct tdm_memo *joined = tdm_state_memo(state, d);
	const struct tdm_model *model = tdm_state_model(state, device->card);
	device->l1_core = model->is_known ? model->l1_core : TDM_BYTES_UNKNOWN;
	if (model->is_known)
		snprintf(device->arch, sizeof device->arch, "%s", model->arch);
	/* One bit for each kind that some program describes. Other kinds need no walk over the programs. */
	uint32_t described = 0;
	for (size_t i = 0; i < count; i++) {
		const struct tdm_fold_holding *ledger = state->parts[parts[i]].ledger;
		for (uint32_t r = 0; ledger != NULL && r < ledger->info.region_count; r++)
			described |= UINT32_C(1) << ledger->info.regions[r].kind;
	}
	for (unsigned k = 0; k < TDM_KIND_COUNT; k++)
		set_kind(state, d, k, parts, count, left[k], (described >> k & 1) != 0);
	/* Circular buffers have no region of their own: they grow from the other end of the L1 buffers' region, and can
	 * use the space that neither kind uses. `free` of L1 stays what its allocator would report, which does not know
	 * about circular buffers. */
	const struct tdm_picture_kind *l1 = &device->kinds[TDM_KIND_L1];
	struct tdm_picture_kind *cb = &device->kinds[TDM_KIND_CB];
	if (cb->total == TDM_BYTES_UNKNOWN && l1->total != TDM_BYTES_UNKNOWN) {
		uint64_t used = tdm_plus(l1->used, cb->used);
		cb->total = l1->total;
		cb->total_from = l1->total_from;
		cb->banks = l1->banks;
		cb->base = l1->base;
		cb->bank_bytes = l1->bank_bytes;
		if (used != TDM_BYTES_UNKNOWN && used <= cb->total)
			cb->free = cb->total - used;
	}
	uint64_t l1_peak = TDM_BYTES_UNKNOWN;
	for (size_t i = 0; i < count; i++) {
		const struct tdm_part *part = &state->parts[parts[i]];
		if (!tdm_picture_counts(&state->picture.processes[part->process]))
			continue;
		device->process_count += !part->is_twin;
		joined->is_incomplete |= part->ledger == NULL;
		joined->ledgers += part->ledger != NULL;
		if (part->ledger != NULL)
			l1_peak = part->ledger->kinds[TDM_KIND_L1].counter.l1_peak;
	}
	if (joined->ledgers == 1 && !joined->is_incomplete && device->kinds[TDM_KIND_L1].used_from == TDM_FROM_LEDGER)
		device->l1_peak = l1_peak;
	if (device->host_card != UINT32_MAX && state->host.cards[device->host_card].hidden_opens != 0)
		joined->is_incomplete = true;
}

/* Decides again for a device whose programs have continued to run in the meantime. */
static void decide_again(struct tdm_state *state, size_t d)
{
	struct tdm_picture_device *device = &state->picture.devices[d];
	size_t count;
	const uint32_t *parts = parts_of(state, d, &count);
	tdm_picture_kinds_init(device);
	device->process_count = 0;
	tdm_state_memo(state, d)->ledgers = 0;
	tdm_state_memo(state, d)->is_incomplete = false;
	set_device(state, d);
	for (size_t i = 0; i < count; i++) {
		set_holding(state, parts[i]);
		if (state->parts[parts[i]].owner != NULL)
			set_faults(&state->picture, state->parts[parts[i]].owner);
	}
}

void tdm_state_winner(struct tdm_state *state)
{
	size_t devices = state->picture.device_count, parts = state->part_count;
	tdm_grow(&state->picture.holdings, &state->holding_cap, parts, sizeof *state->picture.holdings);
	tdm_grow(&state->left, &state->left_cap, devices, sizeof *state->left);
	tdm_grow(&state->order, &state->order_cap, parts + devices + 1, sizeof *state->order);
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
	/* Sums the bytes that ended processes left in their ledgers. */
	for (size_t i = 0; i < state->fold.count; i++) {
		const struct tdm_fold_process *process = state->fold.processes[i];
		if (tdm_fold_runs(process) || process->who.is_stuck)
			continue;
		for (size_t h = 0; h < process->holding_count; h++) {
			uint32_t at = process->holdings[h]->device;
			for (unsigned k = 0; at != UINT32_MAX && k < TDM_KIND_COUNT; k++)
				state->left[at][k] =
					tdm_plus(state->left[at][k], process->holdings[h]->kinds[k].counter.reserved);
		}
	}
	for (size_t d = 0; d < devices; d++)
		set_device(state, d);
	for (size_t i = 0; i < parts; i++)
		set_holding(state, i);
	for (size_t i = 0; i < state->fold.count; i++)
		set_faults(&state->picture, state->fold.processes[i]);
	state->picture.holding_count = parts;
}

/* ---- free space ---- */

enum {
	SHARE = 250,    /* free space may be computed for at most 1/SHARE of the time */
	CREDIT_MS = 20, /* unused time that may be saved up; also the first picture's budget */
	TRIES = 4,      /* attempts to find the buffers that match the counters */
	/* maximum number of buffers for such attempts; if there are more, an inexact answer is shown as old */
	MANY = 16384,
	BUCKETS_MIN = 1 << 6,  /* buckets of a memory */
	BUCKETS_MAX = 1 << 13, /* small enough to fit in a cache together with the data being read */
	SMALL = 256,           /* radix sort is used only above this many spans */
	DIGIT_BITS = 11,       /* bits sorted in one pass */
};

/*
 * The range of a buffer in each bank, relative to the start of its region. Or a bucket, i.e. a part of a bank: the
 * lowest start and the highest end of the buffers that start there. A gap at least as long as a bucket begins and ends
 * in different buckets, so these two values are enough to find such a gap. Buffers are sorted only if there is no such
 * gap, because the memory is nearly full.
 */
struct tdm_span {
	uint64_t from, end;
};

/* One memory of the device being examined. */
struct memory {
	uint64_t base, size; /* of each bank; size 0 if unknown */
	unsigned shift;      /* an offset shifted by this is its bucket */
	size_t bucket_count;
	struct tdm_span *buckets;
	bool no_address; /* some buffer has no address */
	bool no_size;    /* some buffer's size is unknown */
};

struct look {
	struct memory memories[TDM_FREE_KINDS];
	uint64_t l1_lowest, cb_highest; /* 0 if there is none */
	bool no_cb;                     /* at least one circular buffer has no address */
	bool exact;                     /* the buffers match the counters */
	bool torn;                      /* the buffers requested by a view do not match the counters */
	/* For a second pass, which collects the buffers of one kind: */
	bool collects;
	unsigned kind;
	struct tdm_span *spans;
	size_t span_count, span_cap;
};

/*
 * The relevant facts about a buffer. Views and shared buffers are left out, because an idle program leaves its space to
 * the next program.
 */
struct item {
	unsigned kind;
	bool has_address, has_size;
	uint64_t address, bytes; /* of a bank */
};

/* The item's range in its memory; false if it is outside. */
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
	struct tdm_span *bucket = &memory->buckets[span.from >> memory->shift];
	bucket->from = span.from < bucket->from ? span.from : bucket->from;
	bucket->end = span.end > bucket->end ? span.end : bucket->end;
}

/* The longest gap between sorted spans or buckets. */
static uint64_t longest_gap(const struct tdm_span *spans, size_t count, uint64_t size)
{
	uint64_t longest = 0, reached = 0;
	for (size_t i = 0; i < count; i++) {
		if (spans[i].end == 0)
			continue; /* an empty bucket */
		if (spans[i].from > reached && spans[i].from - reached > longest)
			longest = spans[i].from - reached;
		reached = tdm_max(reached, spans[i].end);
	}
	return tdm_max(size - reached, longest);
}

/* Sorting, for the rare case. */

static void collect_item(struct look *look, const struct item *item)
{
	struct tdm_span span;
	if (item->kind != look->kind || !item->has_address || !place_item(&look->memories[item->kind], item, &span))
		return;
	tdm_grow(&look->spans, &look->span_cap, look->span_count + 1, sizeof span);
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

static void sort_spans(struct look *look)
{
	uint64_t highest = 0;
	if (look->span_count < SMALL) {
		if (look->span_count > 1)
			qsort(look->spans, look->span_count, sizeof *look->spans, by_from);
		return;
	}
	struct tdm_span *other = tdm_alloc(look->span_count * sizeof *other);
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
}

/* Examining a device. */

static void take_slots(
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
}

/* Takes the buffers listed for a view; false if they do not match the counters. */
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
		exact &= (kind->counter.is_shared || kind->counter.reserved == kind->reserved) &&
			 kind->counter.buffers == kind->count;
	}
	return exact;
}

static bool is_there(const struct tdm_state *state, const struct tdm_part *part)
{
	return part->ledger != NULL && tdm_picture_counts(&state->picture.processes[part->process]);
}

/* Whether the picture contains the part's current list of buffers. */
static bool is_listed(const struct tdm_state *state, const struct tdm_part *part)
{
	return part->ledger->has_buffers && !state->wish.hold;
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
		size_t at;
		if (!is_there(state, part))
			continue;
		if (is_listed(state, part)) {
			look->torn |= !take_buffers(look, part->ledger);
			continue;
		}
		struct tdm_ledger *ledger =
			tdm_follower_ledger(state->follower, part->owner->number, part->ledger->number, &at);
		int err = ledger != NULL ? tdm_ledger_walk(ledger, at, &walk, &exact) : 0; /* its process has ended */
		if (err != 0)
			return err;
		look->exact &= exact;
	}
	return 0;
}

/* More buffers get more buckets, so that few share one. */
static void start_memory(
	struct tdm_state *state, const struct tdm_picture_kind *kind, unsigned k, struct memory *memory)
{
	uint64_t buffers = kind->buffers != TDM_BYTES_UNKNOWN ? kind->buffers : 0;
	size_t most = BUCKETS_MIN;
	*memory = (struct memory){ .base = kind->base, .size = kind->banks != 0 ? kind->bank_bytes : 0 };
	if (memory->size == 0)
		return;
	while (most < BUCKETS_MAX && most < buffers)
		most *= 2;
	while ((memory->size - 1) >> memory->shift >= most)
		memory->shift++;
	memory->bucket_count = (size_t)((memory->size - 1) >> memory->shift) + 1;
	tdm_grow(&state->buckets[k], &state->bucket_caps[k], memory->bucket_count, sizeof *state->buckets[k]);
	memory->buckets = state->buckets[k];
	for (size_t i = 0; i < memory->bucket_count; i++)
		memory->buckets[i] = (struct tdm_span){ UINT64_MAX, 0 };
}

/* Hashes everything that the answer depends on: the ledgers, the progress of each, and the position of each memory. */
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
	tdm_state_memo(state, d)->now_state = hash + (hash == 0); /* 0 means never */
}

/* Examines every buffer on the device; repeats this if the buffers do not match the device's counters. */
static int look_at(struct tdm_state *state, size_t d, struct look *look)
{
	const struct tdm_picture_device *device = &state->picture.devices[d];
	uint64_t buffers = 0;
	size_t count;
	const uint32_t *parts = parts_of(state, d, &count);
	int err = 0;
	for (unsigned k = 0; k < TDM_KIND_COUNT; k++)
		if (device->kinds[k].buffers != TDM_BYTES_UNKNOWN)
			buffers = tdm_plus(buffers, device->kinds[k].buffers);
	for (int tries = buffers <= MANY ? TRIES : 1; tries > 0 && err == 0; tries--) {
		*look = (struct look){ 0 };
		for (unsigned k = 0; k < TDM_FREE_KINDS; k++)
			start_memory(state, &device->kinds[k], k, &look->memories[k]);
		err = walk_device(state, d, look);
		if (err != 0 || look->exact || tries == 1)
			break;
		/* The programs continued to run during the walk, so their counters are read again. */
		bool is_new = false;
		for (size_t i = 0; i < count; i++) {
			const struct tdm_part *part = &state->parts[parts[i]];
			if (is_there(state, part) && !is_listed(state, part))
				is_new |= tdm_state_recount(state, part) > 0;
		}
		look->exact = !is_new; /* exact if nothing has changed meanwhile */
		if (!is_new)
			break;
		decide_again(state, d);
	}
	return err;
}

static void compute(struct tdm_state *state, size_t d)
{
	struct tdm_memo *memo = tdm_state_memo(state, d);
	struct look look = { 0 };
	int err = look_at(state, d, &look);
	for (unsigned k = 0; k < TDM_FREE_KINDS && err == 0; k++) {
		const struct memory *memory = &look.memories[k];
		memo->largest[k] = TDM_BYTES_UNKNOWN;
		if (memory->size == 0 || memory->no_address || memory->no_size)
			continue;
		memo->largest[k] = longest_gap(memory->buckets, memory->bucket_count, memory->size);
		if (memo->largest[k] >= UINT64_C(1) << memory->shift)
			continue;
		/* Every gap is shorter than a bucket: collects this kind's buffers in a second pass and sorts them. */
		bool was_exact = look.exact;
		look.collects = true;
		look.kind = k;
		look.span_count = 0;
		err = walk_device(state, d, &look);
		look.exact &= was_exact;
		if (err == 0) {
			sort_spans(&look);
			memo->largest[k] = longest_gap(look.spans, look.span_count, memory->size);
		}
	}
	free(look.spans);
	memo->l1_lowest = look.memories[TDM_KIND_L1].no_address ? TDM_BYTES_UNKNOWN : look.l1_lowest;
	memo->cb_highest = look.no_cb ? TDM_BYTES_UNKNOWN : look.cb_highest;
	memo->computed_ns = state->picture.time_ns;
	hash_state(state, d);
	/* After an error the device counts as not computed, and is tried again when its turn comes. An inexact answer
	 * is shown as old. */
	memo->state = err != 0 ? 0 : memo->now_state + (look.torn || !look.exact);
}

static bool has_answer(const struct tdm_state *state, size_t d)
{
	const struct tdm_memo *memo = tdm_state_memo(state, d);
	return memo->ledgers != 0 && !memo->is_incomplete;
}

static void show(struct tdm_state *state, size_t d)
{
	struct tdm_picture_device *device = &state->picture.devices[d];
	const struct tdm_memo *memo = tdm_state_memo(state, d);
	if (!has_answer(state, d) || memo->state == 0)
		return;
	device->l1_lowest = memo->l1_lowest;
	device->cb_highest = memo->cb_highest;
	device->space_ns = memo->computed_ns;
	device->space_is_old = memo->state != memo->now_state;
	for (unsigned k = 0; k < TDM_FREE_KINDS; k++) {
		struct tdm_picture_kind *kind = &device->kinds[k];
		uint64_t bytes = tdm_times(memo->largest[k], kind->banks);
		if (bytes != TDM_BYTES_UNKNOWN && kind->used_from == TDM_FROM_LEDGER)
			kind->largest_free = tdm_min(bytes, kind->free); /* an old block may be larger than `free` */
	}
	/* The gap between circular buffers, which grow up, and L1 buffers, which grow down. The runtime's clash test
	 * checks it. */
	struct tdm_picture_kind *cb = &device->kinds[TDM_KIND_CB];
	uint64_t gap = tdm_times(tdm_picture_gap(device), cb->banks);
	if (gap != TDM_BYTES_UNKNOWN && cb->free != TDM_BYTES_UNKNOWN)
		cb->largest_free = tdm_min(gap, cb->free);
}

void tdm_state_free_space(struct tdm_state *state)
{
	const int64_t most = CREDIT_MS * (int64_t)TDM_NS_PER_MS;
	size_t count = state->picture.device_count, first = state->free_turn;
	/*
	 * This picture's budget: a share of the time since the last picture, plus the unused part of that picture's
	 * budget.
	 */
	uint64_t now = state->picture.time_ns, saved = (now - state->free_ns) / SHARE;
	int64_t credit = state->free_credit_ns + (int64_t)tdm_min(saved, (uint64_t)most);
	if (state->options->once)
		credit = INT64_MAX / 2;
	else if (state->free_ns == 0 || credit > most)
		credit = most;
	state->free_ns = now;
	for (size_t d = 0; d < count; d++)
		hash_state(state, d);
	for (size_t n = 0; !state->wish.no_largest && credit > 0 && n < count; n++) {
		size_t d = (first + n) % count;
		const struct tdm_memo *memo = tdm_state_memo(state, d);
		bool is_asked = state->wish.device == 0 || state->wish.device == memo->key;
		if (!has_answer(state, d) || !is_asked || memo->state == memo->now_state)
			continue;
		uint64_t begin = tdm_clock_ns();
		compute(state, d); /* finishes a device once started */
		credit -= (int64_t)(tdm_clock_ns() - begin);
		state->free_turn = state->options->once ? 0 : d + 1;
	}
	state->free_credit_ns = credit;
	for (size_t d = 0; d < count; d++)
		show(state, d);
}
