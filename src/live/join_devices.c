/*
 * Which devices of the sources are one. A chip id joins; a number never does, but for ledgers among themselves: two
 * programs on one machine that know nothing but the number mean the same card by it. Cards come first, by node; the
 * others follow by number.
 */
#include "live/live_parts.h"
#include "base/reserve.h"
#include "sources/ledger_event.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* What a key is made of, so that equal numbers of different sorts are different devices. */
enum sort { SORT_CARD = 1, SORT_CHIP, SORT_NUMBER, SORT_VIRTUAL, SORT_REGION };

/* In by_chip: two cards claim the id, so that it tells neither. */
#define AMBIGUOUS (UINT32_MAX - 1)

static uint64_t key_of(enum sort sort, uint64_t id)
{
	return tdm_hash_u64(id) ^ tdm_hash_u64((uint64_t)sort << 56);
}

/* A new device at the end; its index, or UINT32_MAX: out of memory, or there are too many. */
static uint32_t add_device(struct tdm_live *live, uint64_t key)
{
	size_t at = live->overview.device_count;
	if (at == TDM_LIVE_DEVICES_MAX) {
		live->devices_cut++;
		return UINT32_MAX;
	}
	if (tdm_reserve(&live->overview.devices, &live->device_cap, at + 1, sizeof *live->overview.devices) != 0 ||
		tdm_reserve(&live->joined, &live->joined_cap, at + 1, sizeof *live->joined) != 0) {
		live->out_of_memory = true;
		return UINT32_MAX;
	}
	tdm_overview_device_init(&live->overview.devices[at]);
	live->joined[at] = (struct tdm_joined){ .key = key };
	live->overview.device_count = at + 1;
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

static void set_telemetry(struct tdm_overview_telemetry *telemetry, const struct tdm_host_card *card)
{
	*telemetry = (struct tdm_overview_telemetry){
		.temp = reading_of(card, TDM_HOST_TEMP),
		.temp_max = reading_of(card, TDM_HOST_TEMP_MAX),
		.power = reading_of(card, TDM_HOST_POWER),
		.power_max = reading_of(card, TDM_HOST_POWER_MAX),
		.clock = reading_of(card, TDM_HOST_AICLK),
		.voltage = reading_of(card, TDM_HOST_VOLTAGE),
		.current = reading_of(card, TDM_HOST_CURRENT),
		.fan = reading_of(card, TDM_HOST_FAN),
		.heartbeat = reading_of(card, TDM_HOST_HEARTBEAT),
	};
}

static int claim_chip(struct tdm_live *live, uint64_t id, uint32_t device)
{
	uint32_t owner = tdm_map_find(&live->by_chip, id);
	if (owner == device)
		return 0;
	return tdm_map_put(&live->by_chip, id, owner == TDM_MAP_NONE ? device : AMBIGUOUS);
}

/* The driver calls a card "unknown" whose number it does not have in its table: somebody else may know the name. */
static void set_card_name(struct tdm_overview_device *device, const struct tdm_host_value *type)
{
	if (type->state != TDM_HOST_KNOWN || strcmp(type->text, "unknown") == 0)
		return;
	tdm_str_shown(tdm_str_of(type->text), device->card, sizeof device->card);
	device->card_from = TDM_FROM_DRIVER;
}

static int add_card(struct tdm_live *live, uint32_t i)
{
	static const char *const archs[] = {
		[TDM_HOST_ARCH_UNKNOWN] = "", [TDM_HOST_WORMHOLE] = "Wormhole", [TDM_HOST_BLACKHOLE] = "Blackhole"
	};
	const struct tdm_host_card *card = &live->host.cards[i];
	struct tdm_host_chip_id ids[TDM_HOST_CHIP_IDS_MAX];
	uint32_t at = add_device(live, key_of(SORT_CARD, card->number));
	if (at == UINT32_MAX)
		return 0;
	struct tdm_overview_device *device = &live->overview.devices[at];
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
		/* An id that only may be this chip's joins, and is shown when a program has confirmed it. */
		if (!device->has_chip_id && ids[k].is_own) {
			device->has_chip_id = true;
			device->chip_id = ids[k].id;
		}
		if (claim_chip(live, ids[k].id, at) != 0)
			return -ENOMEM;
	}
	return 0;
}

/* The device with this chip id, a new one if need be. */
static uint32_t find_chip(struct tdm_live *live, uint64_t id)
{
	uint32_t at = tdm_map_find(&live->by_chip, id);
	if (at == AMBIGUOUS) { /* one of two cards, not told which: it stands for itself */
		uint64_t key = key_of(SORT_CHIP, id);
		for (size_t i = 0; i < live->overview.device_count; i++)
			if (live->joined[i].key == key)
				return (uint32_t)i;
		at = add_device(live, key);
	} else if (at == TDM_MAP_NONE) {
		at = add_device(live, key_of(SORT_CHIP, id));
		if (at != UINT32_MAX && tdm_map_put(&live->by_chip, id, at) != 0)
			live->out_of_memory = true;
	}
	if (at != UINT32_MAX) {
		live->overview.devices[at].has_chip_id = true;
		live->overview.devices[at].chip_id = id;
	}
	return at;
}

static void set_chips(struct tdm_overview_device *device, const struct tdm_metal_region *region)
{
	static_assert((int)TDM_OVERVIEW_CHIPS_MAX == (int)TDM_METAL_CHIPS_MAX, "every chip of a region has room");
	device->chip_count = region->chip_count;
	for (uint32_t i = 0; i < region->chip_count; i++) {
		device->chips[i].chip = region->chips[i].chip;
		device->chips[i].is_remote = region->chips[i].is_remote;
		memcpy(device->chips[i].bytes, region->chips[i].bytes.of, sizeof device->chips[i].bytes);
	}
}

/* A region that cannot be read is a problem; a device of its own only where nothing else could show the device. */
static bool is_only_sign(const struct tdm_live *live, const struct tdm_metal_region *region)
{
	return live->host.card_count == 0 && region->has_name_id && region->status != TDM_METAL_VANISHED &&
	       region->status != TDM_METAL_NOT_A_FILE && tdm_map_find(&live->by_chip, region->name_id) == TDM_MAP_NONE;
}

static void add_region(struct tdm_live *live, uint32_t i, bool readable)
{
	const struct tdm_metal_region *region = &live->metal.now.regions[i];
	uint32_t at = UINT32_MAX;
	if ((region->status == TDM_METAL_OK) != readable || (!readable && !is_only_sign(live, region)))
		return;
	if (readable && region->id_type == TDM_METAL_ID_CHIP)
		at = find_chip(live, region->asic_id);
	/* A second region of the same chip is damaged, or a lie: it stays apart. */
	if (at == UINT32_MAX || live->overview.devices[at].region != UINT32_MAX)
		at = add_device(live, key_of(SORT_REGION, tdm_str_hash(tdm_str_of(region->name))));
	if (at == UINT32_MAX)
		return;
	struct tdm_overview_device *device = &live->overview.devices[at];
	device->region = i;
	device->sources |= UINT32_C(1) << TDM_FROM_METAL_SHM;
	if (readable) {
		device->number = region->device <= INT32_MAX ? (int32_t)region->device : -1;
		device->updated_ns = region->updated_ns;
		set_chips(device, region);
	}
}

/* The device that a ledger speaks of, a new one only if `may_add`. */
static uint32_t find_view(struct tdm_live *live, const struct tdm_ledger_view *view, bool may_add)
{
	uint32_t number;
	if (!tdm_ledger_device_number(view, &number))
		return UINT32_MAX;
	bool is_virtual = (view->flags & TDM_DEVICE_VIRTUAL) != 0;
	bool has_chip = !is_virtual && (view->flags & TDM_DEVICE_HAS_CHIP_ID) != 0;
	if (!may_add) {
		uint32_t known =
			has_chip ? tdm_map_find(&live->by_chip, view->chip_id) : tdm_map_find(&live->by_number, number);
		return known != TDM_MAP_NONE && known != AMBIGUOUS ? known : UINT32_MAX;
	}
	if (has_chip)
		return find_chip(live, view->chip_id);
	uint32_t at = tdm_map_find(&live->by_number, number);
	if (at == TDM_MAP_NONE) {
		at = add_device(live, key_of(is_virtual ? SORT_VIRTUAL : SORT_NUMBER, number));
		if (at != UINT32_MAX && tdm_map_put(&live->by_number, number, at) != 0)
			live->out_of_memory = true;
		if (at != UINT32_MAX)
			live->overview.devices[at].is_virtual = is_virtual;
	}
	return at;
}

static void describe_device(struct tdm_live *live, uint32_t at, const struct tdm_ledger_view *view)
{
	struct tdm_overview_device *device = &live->overview.devices[at];
	struct tdm_joined *joined = &live->joined[at];
	device->sources |= UINT32_C(1) << TDM_FROM_LEDGER;
	if (device->number < 0)
		device->number = (int32_t)(view->number & ~TDM_DEVICE_VIRTUAL_BIT);
	if (device->card[0] == '\0' && view->card[0] != '\0') {
		tdm_str_shown(tdm_str_of(view->card), device->card, sizeof device->card);
		device->card_from = TDM_FROM_LEDGER;
	}
	if (device->grid_x == 0 || device->grid_y == 0) {
		device->grid_x = view->grid_x;
		device->grid_y = view->grid_y;
	}
	if (joined->description == NULL || (joined->description->region_count == 0 && view->region_count != 0))
		joined->description = view;
}

static void add_item(struct tdm_live *live, size_t i)
{
	const struct tdm_watched *item = live->ledgers.items[i];
	for (size_t d = 0; d < TDM_LEDGER_DEVICES; d++)
		live->item_devices[i][d] = UINT32_MAX;
	if (!tdm_watched_runs(item))
		return;
	for (size_t d = 0; d < tdm_watched_device_count(item); d++) {
		const struct tdm_ledger_view *view = tdm_watched_device(item, d);
		uint32_t at = find_view(live, view, true);
		live->item_devices[i][d] = at;
		if (at != UINT32_MAX)
			describe_device(live, at, view);
	}
}

/* What an ended process left is on a device that others use, or is listed if that was asked for. */
static void add_ended(struct tdm_live *live, size_t i)
{
	const struct tdm_watched *item = live->ledgers.items[i];
	if (!tdm_watched_ended(item))
		return;
	for (size_t d = 0; d < tdm_watched_device_count(item); d++) {
		const struct tdm_ledger_view *view = tdm_watched_device(item, d);
		uint32_t at = find_view(live, view, live->options.with_ended);
		live->item_devices[i][d] = at;
		if (at != UINT32_MAX && live->options.with_ended)
			describe_device(live, at, view);
	}
}

/* For the order of those that are no cards. */
struct place {
	const struct tdm_overview_device *device;
	uint64_t key;
	uint32_t was;
};

static int by_number(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	uint32_t m = (uint32_t)x->device->number, n = (uint32_t)y->device->number; /* unknown ones last */
	if (x->device->is_virtual != y->device->is_virtual)
		return x->device->is_virtual ? 1 : -1;
	if (m != n)
		return m < n ? -1 : 1;
	if (x->device->has_chip_id != y->device->has_chip_id)
		return x->device->has_chip_id ? -1 : 1;
	if (x->device->chip_id != y->device->chip_id)
		return x->device->chip_id < y->device->chip_id ? -1 : 1;
	return x->key < y->key ? -1 : x->key > y->key;
}

static void move_devices(struct tdm_live *live, const struct place *places, struct tdm_overview_device *devices,
	struct tdm_joined *joined, uint32_t *now, size_t first, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		devices[i] = *places[i].device;
		joined[i] = live->joined[places[i].was];
		now[places[i].was - first] = (uint32_t)(first + i);
	}
	memcpy(live->overview.devices + first, devices, count * sizeof *devices);
	memcpy(live->joined + first, joined, count * sizeof *joined);
	for (size_t i = 0; i < live->ledgers.count; i++)
		for (size_t d = 0; d < tdm_watched_device_count(live->ledgers.items[i]); d++) {
			uint32_t *at = &live->item_devices[i][d];
			if (*at != UINT32_MAX && *at >= first)
				*at = now[*at - first];
		}
}

static int sort_devices(struct tdm_live *live)
{
	size_t first = live->host.card_count < live->overview.device_count ? live->host.card_count
									   : live->overview.device_count;
	size_t count = live->overview.device_count - first;
	bool sorted = true;
	struct place *places = count > 1 ? calloc(count, sizeof *places) : NULL;
	struct tdm_overview_device *devices = count > 1 ? malloc(count * sizeof *devices) : NULL;
	struct tdm_joined *joined = count > 1 ? malloc(count * sizeof *joined) : NULL;
	uint32_t *now = count > 1 ? malloc(count * sizeof *now) : NULL;
	int err = count > 1 && (places == NULL || devices == NULL || joined == NULL || now == NULL) ? -ENOMEM : 0;
	for (size_t i = 0; err == 0 && count > 1 && i < count; i++) {
		places[i] = (struct place){ &live->overview.devices[first + i], live->joined[first + i].key,
			(uint32_t)(first + i) };
		sorted = sorted && (i == 0 || by_number(&places[i - 1], &places[i]) <= 0);
	}
	if (err == 0 && !sorted) {
		qsort(places, count, sizeof *places, by_number);
		move_devices(live, places, devices, joined, now, first, count);
	}
	free(places);
	free(devices);
	free(joined);
	free(now);
	return err;
}

/* The memory of a device; a new one if need be. */
static int find_memo(struct tdm_live *live, struct tdm_joined *joined)
{
	uint32_t i = tdm_map_find(&live->by_key, joined->key);
	if (i == TDM_MAP_NONE) {
		if (tdm_reserve(&live->memos, &live->memo_cap, live->memo_count + 1, sizeof *live->memos) != 0 ||
			tdm_map_put(&live->by_key, joined->key, (uint32_t)live->memo_count) != 0)
			return -ENOMEM;
		i = (uint32_t)live->memo_count++;
		live->memos[i] = (struct tdm_memo){ .key = joined->key };
	}
	live->memos[i].in_use = true;
	joined->memo = i;
	return 0;
}

/* Forgets devices that are gone when most of what is remembered is of such ones. */
static void forget_memos(struct tdm_live *live)
{
	size_t used = 0, kept = 0;
	for (size_t i = 0; i < live->memo_count; i++)
		used += live->memos[i].in_use;
	bool crowded = live->memo_count > 2 * used + 64;
	for (size_t i = 0; i < live->memo_count; i++) {
		struct tdm_memo memo = live->memos[i];
		if (crowded && !memo.in_use) {
			tdm_map_take(&live->by_key, memo.key);
			continue;
		}
		memo.in_use = false;
		if (kept != i)
			tdm_map_put(&live->by_key, memo.key, (uint32_t)kept); /* replaces: needs no memory */
		live->memos[kept++] = memo;
	}
	live->memo_count = kept;
}

int tdm_live_join_devices(struct tdm_live *live)
{
	int err = 0;
	tdm_map_clear(&live->by_chip);
	tdm_map_clear(&live->by_number);
	live->overview.device_count = 0;
	live->devices_cut = 0;
	live->out_of_memory = false;
	forget_memos(live);
	for (size_t i = 0; i < live->host.card_count && err == 0; i++)
		err = add_card(live, (uint32_t)i);
	for (size_t i = 0; i < live->metal.now.count; i++)
		add_region(live, (uint32_t)i, true);
	if (err == 0 && live->ledgers.count > live->item_cap) {
		size_t cap = live->ledgers.cap;
		void *devices = realloc(live->item_devices, cap * sizeof *live->item_devices);
		live->item_devices = devices != NULL ? devices : live->item_devices;
		void *processes = realloc(live->item_process, cap * sizeof *live->item_process);
		live->item_process = processes != NULL ? processes : live->item_process;
		err = devices == NULL || processes == NULL ? -ENOMEM : 0;
		live->item_cap = err == 0 ? cap : live->item_cap;
	}
	for (size_t i = 0; i < live->ledgers.count && err == 0; i++)
		add_item(live, i);
	for (size_t i = 0; i < live->ledgers.count && err == 0; i++)
		add_ended(live, i);
	for (size_t i = 0; i < live->metal.now.count; i++)
		add_region(live, (uint32_t)i, false);
	if (live->out_of_memory)
		err = -ENOMEM;
	if (err == 0)
		err = sort_devices(live);
	for (size_t i = 0; i < live->overview.device_count && err == 0; i++)
		err = find_memo(live, &live->joined[i]);
	return err;
}
