#include "base/map.h"
#include "base/str.h"

#include <errno.h>
#include <stdlib.h>

enum { MAP_FIRST_CELLS = 64 };

void tdm_map_done(struct tdm_map *map)
{
	free(map->keys);
	free(map->values);
	*map = (struct tdm_map){ 0 };
}

void tdm_map_clear(struct tdm_map *map)
{
	if (map->count != 0)
		memset(map->values, 0xff, (map->mask + 1) * sizeof *map->values);
	map->count = 0;
}

/* Returns the cell with the key, or the free cell for inserting it. The map must have cells. */
static size_t cell_of(const struct tdm_map *map, uint64_t key)
{
	size_t cell = tdm_hash_u64(key) & map->mask;
	while (map->values[cell] != TDM_MAP_NONE && map->keys[cell] != key)
		cell = (cell + 1) & map->mask;
	return cell;
}

uint32_t tdm_map_find(const struct tdm_map *map, uint64_t key)
{
	return map->count != 0 ? map->values[cell_of(map, key)] : TDM_MAP_NONE;
}

static int map_grow(struct tdm_map *map)
{
	size_t cells = map->values != NULL ? (map->mask + 1) * 2 : MAP_FIRST_CELLS;
	struct tdm_map bigger = { malloc(cells * sizeof *map->keys), malloc(cells * sizeof *map->values), cells - 1,
		map->count };
	if (bigger.keys == NULL || bigger.values == NULL) {
		tdm_map_done(&bigger);
		return -ENOMEM;
	}
	memset(bigger.values, 0xff, cells * sizeof *bigger.values);
	for (size_t i = 0; map->count != 0 && i <= map->mask; i++) {
		if (map->values[i] == TDM_MAP_NONE)
			continue;
		size_t cell = cell_of(&bigger, map->keys[i]);
		bigger.keys[cell] = map->keys[i];
		bigger.values[cell] = map->values[i];
	}
	tdm_map_done(map);
	*map = bigger;
	return 0;
}

int tdm_map_put(struct tdm_map *map, uint64_t key, uint32_t value)
{
	if (map->count >= (map->mask + 1) / 2 && tdm_map_find(map, key) == TDM_MAP_NONE) {
		int err = map_grow(map);
		if (err != 0)
			return err;
	}
	size_t cell = cell_of(map, key);
	map->count += map->values[cell] == TDM_MAP_NONE;
	map->keys[cell] = key;
	map->values[cell] = value;
	return 0;
}

uint32_t tdm_map_take(struct tdm_map *map, uint64_t key)
{
	uint32_t value = tdm_map_find(map, key);
	if (value == TDM_MAP_NONE)
		return value;
	size_t hole = cell_of(map, key);
	for (size_t next = (hole + 1) & map->mask; map->values[next] != TDM_MAP_NONE; next = (next + 1) & map->mask) {
		size_t home = tdm_hash_u64(map->keys[next]) & map->mask;
		if (((next - home) & map->mask) < ((next - hole) & map->mask))
			continue; /* its home cell comes after the hole, so it stays */
		map->keys[hole] = map->keys[next];
		map->values[hole] = map->values[next];
		hole = next;
	}
	map->values[hole] = TDM_MAP_NONE;
	map->count--;
	return value;
}
