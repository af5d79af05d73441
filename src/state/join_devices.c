/*
 * Joins the sources' devices. A chip id joins; a number does so only between ledgers: two programs on one machine that
 * know only the number mean the same card. Cards come first, by node; the others follow by number, then the boards.
 */
#include "state/state_parts.h"
#include "base/reserve.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* Part of a key, so that equal numbers of different things are different devices. */
enum known_by { BY_CARD = 1, BY_CHIP, BY_NUMBER, BY_VIRTUAL, BY_REGION };

/* In by_chip: two cards report the same id, so it identifies neither. */
#define AMBIGUOUS (UINT32_MAX - 1)

static uint64_t key_of(enum known_by by, uint64_t id)
{
	return (tdm_hash_u64(id) ^ tdm_hash_u64((uint64_t)by << 56)) | 1; /* never 0 */
}

/* A new device at the end; its index, or UINT32_MAX: out of memory, or there are too many. */
static uint32_t add_device(struct tdm_state *state, uint64_t key)
{
	size_t at = state->picture.device_count;
	if (at == TDM_STATE_DEVICES_MAX) {
		state->devices_cut++;
		return UINT32_MAX;
	}
	if (tdm_reserve(&state->picture.devices, &state->device_cap, at + 1, sizeof *state->picture.devices) != 0) {
		state->out_of_memory = true;
		return UINT32_MAX;
	}
	tdm_picture_device_init(&state->picture.devices[at]);
	state->picture.devices[at].key = key;
	state->picture.device_count = at + 1;
	return (uint32_t)at;
}

static struct tdm_reading reading_of(const struct tdm_host_card *card, enum tdm_host_value_id which)
{
	const struct tdm_host_value *value = &card->values[which];
	return (struct tdm_reading){
		.is_known = value->state == TDM_HOST_KNOWN,
		.err = value->state == TDM_HOST_ERROR ? value->err : 0,
		.value = value->state == TDM_HOST_KNOWN ? value->number : 0,
	};
}

static void set_telemetry(struct tdm_picture_telemetry *telemetry, const struct tdm_host_card *card)
{
	*telemetry = (struct tdm_picture_telemetry){
		.temp = reading_of(card, TDM_HOST_TEMP),
		.temp_max = reading_of(card, TDM_HOST_TEMP_MAX),
		.power = reading_of(card, TDM_HOST_POWER),
		.power_max = reading_of(card, TDM_HOST_POWER_MAX),
		.clock = reading_of(card, TDM_HOST_AICLK),
		.voltage = reading_of(card, TDM_HOST_VOLTAGE),
		.voltage_max = reading_of(card, TDM_HOST_VOLTAGE_MAX),
		.current = reading_of(card, TDM_HOST_CURRENT),
		.current_max = reading_of(card, TDM_HOST_CURRENT_MAX),
		.fan = reading_of(card, TDM_HOST_FAN),
		.heartbeat = reading_of(card, TDM_HOST_HEARTBEAT),
	};
}

static int claim_chip(struct tdm_state *state, uint64_t id, uint32_t device)
{
	uint32_t owner = tdm_map_find(&state->by_chip, id);
	if (owner == device)
		return 0;
	return tdm_map_put(&state->by_chip, id, owner == TDM_MAP_NONE ? device : AMBIGUOUS);
}

/* The driver says "unknown" for a card that is not in its table: another source may know the name. */
static void set_card_name(struct tdm_picture_device *device, const struct tdm_host_value *type)
{
	if (type->state != TDM_HOST_KNOWN || strcmp(type->text, "unknown") == 0)
		return;
	tdm_str_shown(tdm_str_of(type->text), device->card, sizeof device->card);
	device->card_from = TDM_FROM_DRIVER;
}

static int add_card(struct tdm_state *state, uint32_t i)
{
	static const char *const archs[] = {
		[TDM_HOST_ARCH_UNKNOWN] = "", [TDM_HOST_WORMHOLE] = "Wormhole", [TDM_HOST_BLACKHOLE] = "Blackhole"
	};
	const struct tdm_host_card *card = &state->host.cards[i];
	struct tdm_host_chip_id ids[TDM_HOST_CHIP_IDS_MAX];
	uint32_t at = add_device(state, key_of(BY_CARD, card->number));
	if (at == UINT32_MAX)
		return 0;
	struct tdm_picture_device *device = &state->picture.devices[at];
	device->node = (int32_t)card->number;
	device->host_card = i;
	device->sources = UINT32_C(1) << TDM_FROM_DRIVER;
	snprintf(device->pci, sizeof device->pci, "%s", card->pci);
	snprintf(device->arch, sizeof device->arch, "%s", archs[card->arch]);
	set_card_name(device, &card->values[TDM_HOST_CARD_TYPE]);
	set_telemetry(&device->telemetry, card);
	size_t count = tdm_host_chip_ids(card, ids);
	for (size_t k = 0; k < count; k++) {
		if (ids[k].surety != TDM_HOST_EXACT)
			continue;
		/* An id made from the serial joins too, but is shown only after a program has confirmed it. */
		if (!device->has_chip_id && ids[k].is_own) {
			device->has_chip_id = true;
			device->chip_id = ids[k].id;
		}
		if (claim_chip(state, ids[k].id, at) != 0)
			return -ENOMEM;
	}
	return 0;
}

/* The device with this chip id, added if it is new. */
static uint32_t find_chip(struct tdm_state *state, uint64_t id)
{
	uint32_t at = tdm_map_find(&state->by_chip, id);
	if (at == AMBIGUOUS) { /* one of two cards, unknown which: a device of its own */
		uint64_t key = key_of(BY_CHIP, id);
		for (size_t i = 0; i < state->picture.device_count; i++)
			if (state->picture.devices[i].key == key)
				return (uint32_t)i;
		at = add_device(state, key);
	} else if (at == TDM_MAP_NONE) {
		at = add_device(state, key_of(BY_CHIP, id));
		if (at != UINT32_MAX && tdm_map_put(&state->by_chip, id, at) != 0)
			state->out_of_memory = true;
	}
	if (at != UINT32_MAX) {
		state->picture.devices[at].has_chip_id = true;
		state->picture.devices[at].chip_id = id;
	}
	return at;
}

static void set_chips(struct tdm_picture_device *device, const struct tdm_metal_region *region)
{
	static_assert((int)TDM_PICTURE_CHIPS_MAX == (int)TDM_METAL_CHIPS_MAX, "every chip of a region has room");
	device->chip_count = region->chip_count;
	for (uint32_t i = 0; i < region->chip_count; i++) {
		device->chips[i].chip = region->chips[i].chip;
		device->chips[i].is_remote = region->chips[i].is_remote;
		memcpy(device->chips[i].bytes, region->chips[i].bytes.of, sizeof device->chips[i].bytes);
	}
}

/* An unreadable region is a problem. It is a device too if no other source shows the device. */
static bool is_only_sign(const struct tdm_state *state, const struct tdm_metal_region *region)
{
	return state->host.card_count == 0 && region->has_name_id && region->status != TDM_METAL_VANISHED &&
	       region->status != TDM_METAL_NOT_A_FILE && tdm_map_find(&state->by_chip, region->name_id) == TDM_MAP_NONE;
}

static void add_region(struct tdm_state *state, uint32_t i, bool readable)
{
	const struct tdm_metal_region *region = &state->metal.now.regions[i];
	uint32_t at = UINT32_MAX;
	if ((region->status == TDM_METAL_OK) != readable || (!readable && !is_only_sign(state, region)))
		return;
	if (readable && region->id_type == TDM_METAL_ID_CHIP)
		at = find_chip(state, region->asic_id);
	/* A second region of the same chip is damaged or forged: keep it apart. */
	if (at == UINT32_MAX || state->picture.devices[at].region != UINT32_MAX)
		at = add_device(state, key_of(BY_REGION, tdm_str_hash(tdm_str_of(region->name))));
	if (at == UINT32_MAX)
		return;
	struct tdm_picture_device *device = &state->picture.devices[at];
	device->region = i;
	device->sources |= UINT32_C(1) << TDM_FROM_METAL_SHM;
	if (readable) {
		device->updated_ns = region->updated_ns;
		set_chips(device, region);
	}
}

/* The device that a program means; added only if `may_add`. */
static uint32_t find_holding(struct tdm_state *state, const struct tdm_fold_holding *holding, bool may_add)
{
	bool is_virtual = (holding->number & TDM_DEVICE_VIRTUAL_BIT) != 0;
	bool has_chip = !is_virtual && holding->has_info && holding->info.has_chip_id;
	if (has_chip && may_add)
		return find_chip(state, holding->info.chip_id);
	uint32_t at = has_chip ? tdm_map_find(&state->by_chip, holding->info.chip_id)
			       : tdm_map_find(&state->by_number, holding->number);
	if (!may_add)
		return at != TDM_MAP_NONE && at != AMBIGUOUS ? at : UINT32_MAX;
	if (at != TDM_MAP_NONE)
		return at;
	at = add_device(state, key_of(is_virtual ? BY_VIRTUAL : BY_NUMBER, holding->number));
	if (at == UINT32_MAX)
		return at;
	if (tdm_map_put(&state->by_number, holding->number, at) != 0)
		state->out_of_memory = true;
	state->picture.devices[at].is_virtual = is_virtual;
	return at;
}

/* Programs may know a device by different numbers: the lowest is as good as any, and the same in every command. */
static void use_number(struct tdm_picture_device *device, uint32_t number)
{
	if (number <= INT32_MAX && (device->number < 0 || (int32_t)number < device->number))
		device->number = (int32_t)number;
}

static void describe_device(struct tdm_picture_device *device, const struct tdm_fold_holding *holding)
{
	const struct tdm_device_info *info = &holding->info;
	device->sources |= UINT32_C(1) << TDM_FROM_LEDGER;
	use_number(device, holding->number & ~TDM_DEVICE_VIRTUAL_BIT);
	if (!holding->has_info)
		return;
	if (device->card[0] == '\0' && info->card[0] != '\0') {
		tdm_str_shown(tdm_str_of(info->card), device->card, sizeof device->card);
		device->card_from = TDM_FROM_LEDGER;
	}
	if (device->grid_x == 0 || device->grid_y == 0) {
		device->grid_x = info->grid_x;
		device->grid_y = info->grid_y;
	}
	if (device->info == NULL || (device->info->region_count == 0 && info->region_count != 0))
		device->info = info;
}

/* Adds the devices of a process. An ended one adds none unless it is listed: it only joins known
 * devices. */
static void add_process(struct tdm_state *state, const struct tdm_fold_process *process, bool runs)
{
	bool may_add = tdm_state_lists(state, process);
	if (tdm_fold_runs(process) != runs)
		return;
	for (size_t i = 0; i < process->holding_count; i++) {
		struct tdm_fold_holding *holding = process->holdings[i];
		holding->device = find_holding(state, holding, may_add);
		if (holding->device == UINT32_MAX)
			continue;
		holding->key = state->picture.devices[holding->device].key;
		if (may_add)
			describe_device(&state->picture.devices[holding->device], holding);
	}
}

static int by_place(const void *a, const void *b)
{
	const struct tdm_picture_device *x = a, *y = b;
	bool is_card = x->host_card != UINT32_MAX;
	uint32_t m = (uint32_t)x->number, n = (uint32_t)y->number; /* unknown ones last */
	if (x->is_board != y->is_board)
		return x->is_board ? 1 : -1;
	if (is_card != (y->host_card != UINT32_MAX))
		return is_card ? -1 : 1;
	if (is_card)
		return tdm_order(x->host_card, y->host_card);
	if (x->is_virtual != y->is_virtual)
		return x->is_virtual ? 1 : -1;
	if (m != n)
		return m < n ? -1 : 1;
	if (x->has_chip_id != y->has_chip_id)
		return x->has_chip_id ? -1 : 1;
	int order = tdm_order(x->chip_id, y->chip_id);
	return order != 0 ? order : tdm_order(x->key, y->key);
}

/* Sorts the devices. `process_count`, which is set later, carries the old index meanwhile. */
static int sort_devices(struct tdm_state *state)
{
	struct tdm_picture_device *devices = state->picture.devices;
	size_t count = state->picture.device_count;
	bool sorted = true;
	for (size_t i = 1; i < count; i++)
		sorted = sorted && by_place(&devices[i - 1], &devices[i]) <= 0;
	if (sorted)
		return 0;
	uint32_t *now = malloc(count * sizeof *now);
	if (now == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		devices[i].process_count = (uint32_t)i;
	qsort(devices, count, sizeof *devices, by_place);
	for (size_t i = 0; i < count; i++) {
		now[devices[i].process_count] = (uint32_t)i;
		devices[i].process_count = 0;
	}
	for (size_t p = 0; p < state->fold.count; p++)
		for (size_t i = 0; i < state->fold.processes[p]->holding_count; i++) {
			uint32_t *at = &state->fold.processes[p]->holdings[i]->device;
			if (*at != UINT32_MAX)
				*at = now[*at];
		}
	free(now);
	return 0;
}

/* The memo of a device, added if it is new. */
static int find_memo(struct tdm_state *state, size_t device)
{
	uint64_t key = state->picture.devices[device].key;
	uint32_t i = tdm_map_find(&state->by_key, key);
	if (i == TDM_MAP_NONE) {
		if (tdm_reserve(&state->memos, &state->memo_cap, state->memo_count + 1, sizeof *state->memos) != 0 ||
			tdm_map_put(&state->by_key, key, (uint32_t)state->memo_count) != 0)
			return -ENOMEM;
		i = (uint32_t)state->memo_count++;
		state->memos[i] = (struct tdm_memo){ .key = key, .place = state->next_place++, .number = -1 };
	}
	state->memos[i].in_use = true;
	state->picture.devices[device].place = state->memos[i].place;
	if (state->picture.devices[device].number >= 0)
		state->memos[i].number = state->picture.devices[device].number;
	state->joined[device] = (struct tdm_joined){ .memo = i };
	return 0;
}

static bool is_taken(const struct tdm_picture *picture, int32_t number)
{
	for (size_t i = 0; i < picture->device_count; i++)
		if (picture->devices[i].number == number)
			return true;
	return false;
}

/* Numbers of devices that no running program with a ledger uses: that of the region, else of an ended program, else the
 * one that the device had before. */
static void number_idle(struct tdm_state *state)
{
	struct tdm_picture *picture = &state->picture;
	for (size_t i = 0; i < picture->device_count; i++) {
		struct tdm_picture_device *device = &picture->devices[i];
		const struct tdm_metal_region *region =
			device->region != UINT32_MAX ? &state->metal.now.regions[device->region] : NULL;
		if (device->number < 0 && region != NULL && region->status == TDM_METAL_OK)
			use_number(device, region->device);
	}
	for (size_t p = 0; p < state->fold.count; p++) {
		const struct tdm_fold_process *process = state->fold.processes[p];
		for (size_t i = 0; !tdm_fold_runs(process) && i < process->holding_count; i++) {
			uint32_t at = process->holdings[i]->device, number = process->holdings[i]->number;
			if (at != UINT32_MAX && picture->devices[at].number < 0 &&
				!is_taken(picture, (int32_t)(number & INT32_MAX)))
				use_number(&picture->devices[at], number);
		}
	}
	for (size_t i = 0; i < picture->device_count; i++) {
		struct tdm_picture_device *device = &picture->devices[i];
		uint32_t memo = device->number < 0 ? tdm_map_find(&state->by_key, device->key) : TDM_MAP_NONE;
		if (memo != TDM_MAP_NONE && !is_taken(picture, state->memos[memo].number))
			device->number = state->memos[memo].number;
	}
}

/* Forgets devices that are gone once most memos belong to such devices. */
static void forget_memos(struct tdm_state *state)
{
	size_t used = 0, kept = 0;
	for (size_t i = 0; i < state->memo_count; i++)
		used += state->memos[i].in_use;
	bool crowded = state->memo_count > 2 * used + 64;
	for (size_t i = 0; i < state->memo_count; i++) {
		struct tdm_memo memo = state->memos[i];
		if (crowded && !memo.in_use) {
			tdm_map_take(&state->by_key, memo.key);
			continue;
		}
		memo.in_use = false;
		if (kept != i)
			tdm_map_put(&state->by_key, memo.key, (uint32_t)kept); /* replaces: needs no memory */
		state->memos[kept++] = memo;
	}
	state->memo_count = kept;
}

int tdm_state_join_devices(struct tdm_state *state)
{
	int err = 0;
	tdm_map_clear(&state->by_chip);
	tdm_map_clear(&state->by_number);
	state->picture.device_count = 0;
	state->devices_cut = 0;
	state->out_of_memory = false;
	forget_memos(state);
	for (size_t i = 0; i < state->host.card_count && err == 0; i++)
		err = add_card(state, (uint32_t)i);
	for (size_t i = 0; i < state->metal.now.count; i++)
		add_region(state, (uint32_t)i, true);
	for (size_t i = 0; i < state->fold.count; i++)
		add_process(state, state->fold.processes[i], true);
	for (size_t i = 0; i < state->fold.count; i++)
		add_process(state, state->fold.processes[i], false);
	for (size_t i = 0; i < state->metal.now.count; i++)
		add_region(state, (uint32_t)i, false);
	if (state->out_of_memory)
		err = -ENOMEM;
	tdm_state_card_type(state);
	if (err == 0) {
		number_idle(state);
		err = sort_devices(state);
	}
	if (err == 0)
		err = tdm_reserve(
			&state->joined, &state->joined_cap, state->picture.device_count, sizeof *state->joined);
	for (size_t i = 0; i < state->picture.device_count && err == 0; i++)
		err = find_memo(state, i);
	return err;
}
