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

static int map_alloc(struct tdm_map *map, size_t cells)
{
	map->keys = malloc(cells * sizeof *map->keys);
	map->values = malloc(cells * sizeof *map->values);
	if (map->keys == NULL || map->values == NULL) {
		tdm_map_done(map);
		return -ENOMEM;
	}
	memset(map->values, 0xff, cells * sizeof *map->values);
	map->mask = cells - 1;
	return 0;
}

int tdm_map_init(struct tdm_map *map)
{
	*map = (struct tdm_map){ 0 };
	return map_alloc(map, MAP_FIRST_CELLS);
}

void tdm_map_clear(struct tdm_map *map)
{
	memset(map->values, 0xff, (map->mask + 1) * sizeof *map->values);
	map->count = 0;
}

/* The cell of the key, or the free cell where it would go. */
static size_t cell_of(const struct tdm_map *map, uint64_t key)
{
	size_t cell = tdm_hash_u64(key) & map->mask;
	while (map->values[cell] != TDM_MAP_NONE && map->keys[cell] != key)
		cell = (cell + 1) & map->mask;
	return cell;
}

uint32_t tdm_map_find(const struct tdm_map *map, uint64_t key)
{
	return map->values[cell_of(map, key)];
}

static int map_grow(struct tdm_map *map)
{
	struct tdm_map bigger = { .count = map->count };
	if (map_alloc(&bigger, (map->mask + 1) * 2) != 0)
		return -ENOMEM;
	for (size_t i = 0; i <= map->mask; i++) {
		if (map->values[i] == TDM_MAP_NONE)
			continue;
		size_t cell = cell_of(&bigger, map->keys[i]);
		bigger.keys[cell] = map->keys[i];
		bigger.values[cell] = map->values[i];
	}
	free(map->keys);
	free(map->values);
	*map = bigger;
	return 0;
}

int tdm_map_put(struct tdm_map *map, uint64_t key, uint32_t value)
{
	size_t cell = cell_of(map, key);
	if (map->values[cell] == TDM_MAP_NONE && map->count >= (map->mask + 1) / 2) {
		int err = map_grow(map);
		if (err != 0)
			return err;
		cell = cell_of(map, key);
	}
	map->count += map->values[cell] == TDM_MAP_NONE;
	map->keys[cell] = key;
	map->values[cell] = value;
	return 0;
}

uint32_t tdm_map_take(struct tdm_map *map, uint64_t key)
{
	size_t hole = cell_of(map, key);
	uint32_t value = map->values[hole];
	if (value == TDM_MAP_NONE)
		return value;
	for (size_t next = (hole + 1) & map->mask; map->values[next] != TDM_MAP_NONE; next = (next + 1) & map->mask) {
		size_t home = tdm_hash_u64(map->keys[next]) & map->mask;
		if (((next - home) & map->mask) < ((next - hole) & map->mask))
			continue; /* its home is after the hole: it stays */
		map->keys[hole] = map->keys[next];
		map->values[hole] = map->values[next];
		hole = next;
	}
	map->values[hole] = TDM_MAP_NONE;
	map->count--;
	return value;
}
