#include "analyze/device_map.h"
#include "base/err.h"
#include "device/bank.h"

#include <errno.h>

/* What is known about the device besides its buffers. */
struct device {
	const struct tdm_device_info *info; /* NULL: nothing */
	bool has_card;
	struct tdm_card card;
	struct tdm_diag diag; /* why there is no card */
};

static void find_card(struct device *device, const struct tdm_picture_device *from)
{
	device->info = from->info;
	device->has_card = false;
	if (device->info == NULL || device->info->card[0] == '\0') {
		tdm_diag_set(&device->diag, TDM_EUNKNOWN, 0, 0, "the card is not known");
		return;
	}
	device->has_card = tdm_card_init(&device->card, tdm_str_of(device->info->card), NULL, &device->diag) == 0;
}

static const struct tdm_region *described(const struct device *device, enum tdm_kind kind)
{
	for (uint32_t i = 0; device->info != NULL && i < device->info->region_count; i++)
		if (device->info->regions[i].kind == kind && device->info->regions[i].bank_size != 0)
			return &device->info->regions[i];
	return NULL;
}

static void init_region(struct tdm_region_map *map, const struct device *device, enum tdm_kind kind)
{
	const struct tdm_region *region = described(device, kind);
	struct tdm_bank_range range = { 0 };
	struct tdm_diag diag = { 0 };
	struct tdm_region model = { .kind = (uint8_t)kind };
	if (region != NULL) {
		tdm_region_map_init(map, kind, region, TDM_FROM_LEDGER);
		return;
	}
	if (device->has_card && tdm_bank_range(&device->card, kind, &range, &diag) == 0) {
		model.base = range.base;
		model.bank_size = range.size;
		model.banks = range.banks;
	}
	tdm_region_map_init(map, kind, &model, TDM_FROM_MODEL);
}

static uint32_t side(const struct tdm_card *card, enum tdm_card_field field)
{
	uint64_t value = tdm_card_get(card, field);
	return value <= TDM_CORE_MAP_SIDE ? (uint32_t)value : 0;
}

static int init_cores(struct tdm_device_map *map, const struct tdm_picture *picture, const struct device *device)
{
	uint32_t x = device->info != NULL ? device->info->grid_x : 0,
		 y = device->info != NULL ? device->info->grid_y : 0;
	map->grid_from = TDM_FROM_LEDGER;
	if (x - 1 >= TDM_CORE_MAP_SIDE || y - 1 >= TDM_CORE_MAP_SIDE) {
		map->grid_from = TDM_FROM_MODEL;
		x = device->has_card ? side(&device->card, TDM_CARD_GRID_X) : 0;
		y = device->has_card ? side(&device->card, TDM_CARD_GRID_Y) : 0;
	}
	if (x == 0 || y == 0)
		map->grid_from = TDM_FROM_NONE;
	return tdm_core_map_init(&map->cores, picture, x, y);
}

static bool grows_up(unsigned kind)
{
	return kind == TDM_KIND_CB || kind == TDM_KIND_DFB || kind == TDM_KIND_SCRATCHPAD;
}

static void add_to_ends(struct tdm_device_l1 *l1, const struct tdm_buffer *buffer)
{
	/* L1 begins with firmware, so 0 means that there is no address. */
	bool placed = buffer->address != TDM_ADDRESS_UNKNOWN && buffer->address != 0 &&
		      buffer->bank_bytes != TDM_SIZE_UNKNOWN;
	uint64_t end;
	if (tdm_buffer_is_view(buffer) || tdm_buffer_is_shared(buffer))
		return; /* the circular buffers of the next program begin where those of a kept one do */
	if (buffer->kind == TDM_KIND_L1) {
		l1->unplaced += !placed;
		if (placed && (l1->lowest == 0 || buffer->address < l1->lowest))
			l1->lowest = buffer->address;
	} else if (grows_up(buffer->kind)) {
		l1->unplaced_growing += !placed;
		if (placed && !__builtin_add_overflow(buffer->address, buffer->bank_bytes, &end) && end > l1->highest)
			l1->highest = end;
	}
}

static int add_buffer(struct tdm_device_map *map, const struct tdm_buffer *buffer, uint32_t holding)
{
	uint32_t banks = 0;
	map->buffers++;
	if (buffer->kind < TDM_DEVICE_MAP_REGIONS) {
		struct tdm_region_map *region = &map->regions[buffer->kind];
		int err = tdm_region_map_add(region, buffer, holding);
		if (err != 0)
			return err;
		banks = region->banks;
	}
	tdm_core_map_add(&map->cores, buffer, banks);
	add_to_ends(&map->l1, buffer);
	return 0;
}

/* The holdings of the device that were asked for. */
static int add_holdings(struct tdm_device_map *map, const struct tdm_picture *picture, uint32_t wanted)
{
	int err = 0;
	for (uint32_t h = 0; h < picture->holding_count; h++) {
		const struct tdm_holding *holding = &picture->holdings[h];
		if (holding->device != map->device || (wanted != TDM_INDEX_NONE && wanted != holding->process))
			continue;
		if (wanted == TDM_INDEX_NONE && !tdm_picture_counts(&picture->processes[holding->process])) {
			map->ended += tdm_holding_buffer_count(holding);
			continue;
		}
		for (unsigned k = 0; k < TDM_KIND_COUNT; k++)
			for (size_t i = 0; i < holding->buffers[k].count && err == 0; i++)
				err = add_buffer(map, &holding->buffers[k].list[i], h);
	}
	return err;
}

/* Moves the card's region for L1 buffers to where a program says it is. */
static void set_l1_cuts(struct tdm_card *card, const struct tdm_region *region)
{
	uint64_t size = tdm_card_get(card, TDM_CARD_L1_SIZE), end;
	if (region == NULL || size == TDM_BYTES_UNKNOWN)
		return;
	card->value[TDM_CARD_L1_BASE] = region->base;
	if (!__builtin_add_overflow(region->base, region->bank_size, &end) && end <= size)
		card->value[TDM_CARD_L1_SMALL] = size - end;
}

static void finish_l1(struct tdm_device_map *map, const struct device *device)
{
	struct tdm_device_l1 *l1 = &map->l1;
	struct tdm_l1_use use = { .cb_end = l1->highest, .l1_lowest = l1->lowest };
	if (l1->unplaced != 0)
		l1->lowest = TDM_BYTES_UNKNOWN;
	if (l1->unplaced_growing != 0)
		l1->highest = TDM_BYTES_UNKNOWN;
	l1->gap = TDM_BYTES_UNKNOWN;
	l1->why = device->diag;
	if (device->has_card) {
		struct tdm_card card = device->card;
		set_l1_cuts(&card, described(device, TDM_KIND_L1));
		map->core_bytes = tdm_card_get(&card, TDM_CARD_L1_SIZE);
		l1->has_map = tdm_l1_map(&card, &use, &l1->map, &l1->why) == 0;
	}
	if (l1->unplaced != 0 || l1->unplaced_growing != 0)
		return;
	/* On a side without buffers, the end of the region is the bound. */
	const struct tdm_region_map *region = &map->regions[TDM_KIND_L1];
	bool is_known = region->from != TDM_FROM_NONE;
	if ((l1->lowest == 0 || l1->highest == 0) && !is_known)
		return;
	uint64_t top = l1->lowest != 0 ? l1->lowest : region->base + region->bank_size;
	uint64_t bottom = l1->highest != 0 ? l1->highest : region->base;
	l1->gap = top > bottom ? top - bottom : 0;
	l1->clash = l1->lowest != 0 && l1->lowest < l1->highest;
}

static int fill(
	struct tdm_device_map *map, const struct tdm_picture *picture, const struct device *device, uint32_t process)
{
	for (unsigned k = 0; k < TDM_DEVICE_MAP_REGIONS; k++)
		init_region(&map->regions[k], device, (enum tdm_kind)k);
	int err = init_cores(map, picture, device);
	if (err == 0)
		err = add_holdings(map, picture, process);
	for (unsigned k = 0; k < TDM_DEVICE_MAP_REGIONS && err == 0; k++)
		err = tdm_region_map_finish(&map->regions[k]);
	if (err != 0)
		return err;
	finish_l1(map, device);
	return tdm_core_map_finish(&map->cores, picture);
}

int tdm_device_map_init(
	struct tdm_device_map *map, const struct tdm_picture *picture, const struct tdm_device_map_query *query)
{
	struct device device = { 0 };
	*map = (struct tdm_device_map){ .device = query->device, .core_bytes = TDM_BYTES_UNKNOWN };
	if (query->device >= picture->device_count ||
		(query->process != TDM_INDEX_NONE && query->process >= picture->process_count))
		return -EINVAL;
	find_card(&device, &picture->devices[query->device]);
	int err = fill(map, picture, &device, query->process);
	if (err != 0)
		tdm_device_map_done(map);
	return err;
}

void tdm_device_map_done(struct tdm_device_map *map)
{
	for (unsigned k = 0; k < TDM_DEVICE_MAP_REGIONS; k++)
		tdm_region_map_done(&map->regions[k]);
	tdm_core_map_done(&map->cores);
	*map = (struct tdm_device_map){ 0 };
}
