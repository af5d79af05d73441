#include "report/map_report.h"

#include <stdlib.h>

static void put_source(struct tdm_json *json, uint8_t from)
{
	tdm_json_put_name(json, "source", from != TDM_FROM_NONE ? tdm_from_name((enum tdm_from)from) : NULL);
}

static void put_pid(struct tdm_json *json, const struct tdm_picture *picture, uint32_t process)
{
	tdm_json_key(json, "pid");
	if (process != TDM_INDEX_NONE)
		tdm_json_i64(json, picture->processes[process].pid);
	else
		tdm_json_null(json);
}

/* What bounds a hole; null at the edge of the region. */
static void put_side(
	const struct tdm_picture *picture, const char *key, const struct tdm_region_span *span, struct tdm_json *json)
{
	tdm_json_key(json, key);
	if (span == NULL) {
		tdm_json_null(json);
		return;
	}
	const struct tdm_buffer *buffer = span->buffer;
	tdm_json_object(json);
	put_pid(json, picture, picture->holdings[span->holding].process);
	tdm_json_put_u64(json, "id", buffer->id);
	tdm_json_put_u64(json, "address", buffer->address);
	tdm_json_put_u64(json, "bytes_per_bank", buffer->bank_bytes);
	tdm_json_put_name(json, "name", tdm_picture_text(picture, buffer->name));
	tdm_json_object_end(json);
}

static void put_holes(const struct tdm_live_report *report, const struct tdm_region_map *map, struct tdm_json *json)
{
	struct tdm_region_gap *gaps = tdm_map_holes(map);
	json->out->failed |= gaps == NULL;
	tdm_json_put_u64(json, "hole_count", map->gap_count);
	tdm_json_put_array(json, "holes");
	for (size_t i = 0; gaps != NULL && i < map->gap_count && (report->limit == 0 || i < report->limit); i++) {
		tdm_json_object(json);
		tdm_json_put_u64(json, "address", gaps[i].address);
		tdm_json_put_u64(json, "bytes", gaps[i].bytes);
		put_side(report->picture, "below", gaps[i].below, json);
		put_side(report->picture, "above", gaps[i].above, json);
		tdm_json_object_end(json);
	}
	tdm_json_array_end(json);
	free(gaps);
}

static void put_region(const struct tdm_live_report *report, const struct tdm_region_map *map, struct tdm_json *json)
{
	bool is_known = map->from != TDM_FROM_NONE;
	tdm_json_object(json);
	tdm_json_put_name(json, "kind", tdm_kind_name((enum tdm_kind)map->kind));
	put_source(json, map->from);
	tdm_json_put_bytes(json, "base", is_known ? map->base : TDM_BYTES_UNKNOWN);
	tdm_json_put_bytes(json, "bank_bytes", is_known ? map->bank_size : TDM_BYTES_UNKNOWN);
	tdm_json_put_bytes(json, "banks", is_known && map->banks != 0 ? map->banks : TDM_BYTES_UNKNOWN);
	tdm_json_put_u64(json, "placed_buffers", map->span_count);
	tdm_json_put_u64(json, "used_bytes", map->used_bytes);
	tdm_json_put_bytes(json, "free_bytes", map->free_bytes);
	tdm_json_put_bytes(json, "largest_free_bytes", map->largest_free);
	tdm_json_put_double(json, "fragmentation", map->fragmentation);
	tdm_json_put_u64(json, "overlaps", map->overlaps);
	tdm_json_put_u64(json, "overlap_bytes", map->overlap_bytes);
	tdm_json_put_u64(json, "views", map->views);
	tdm_json_put_u64(json, "unplaced_buffers", map->unplaced);
	tdm_json_put_u64(json, "unplaced_reserved_bytes", map->unplaced_bytes);
	tdm_json_put_u64(json, "outside_buffers", map->outside);
	tdm_json_put_u64(json, "outside_bytes", map->outside_bytes);
	put_holes(report, map, json);
	tdm_json_object_end(json);
}

static void put_l1(const struct tdm_device_l1 *l1, struct tdm_json *json)
{
	tdm_json_put_object(json, "l1");
	tdm_json_put_bytes(json, "lowest_l1", l1->lowest != 0 ? l1->lowest : TDM_BYTES_UNKNOWN);
	tdm_json_put_bytes(json, "highest_cb", l1->highest != 0 ? l1->highest : TDM_BYTES_UNKNOWN);
	tdm_json_put_bytes(json, "gap_bytes", l1->gap);
	tdm_json_put_bool(json, "clash", l1->clash);
	tdm_json_put_u64(json, "unplaced_l1", l1->unplaced);
	tdm_json_put_u64(json, "unplaced_cb", l1->unplaced_growing);
	tdm_json_object_end(json);
}

/* An object with the kinds that are not 0. */
static void put_load(const char *key, const struct tdm_core_load *load, struct tdm_json *json)
{
	tdm_json_put_object(json, key);
	for (unsigned k = 0; k < TDM_KIND_COUNT; k++)
		if (load->bytes[k] != 0)
			tdm_json_put_u64(json, tdm_kind_name((enum tdm_kind)k), load->bytes[k]);
	tdm_json_object_end(json);
}

/* Rows of cores, each an array; null without a grid. */
static void put_grid(const struct tdm_core_map *cores, struct tdm_json *json)
{
	tdm_json_key(json, "rows");
	if (cores->grid_x == 0) {
		tdm_json_null(json);
		return;
	}
	tdm_json_array(json);
	for (uint32_t y = 0; y < cores->grid_y; y++) {
		tdm_json_array(json);
		for (uint32_t x = 0; x < cores->grid_x; x++)
			tdm_json_u64(json, cores->cores[y * cores->grid_x + x].total);
		tdm_json_array_end(json);
	}
	tdm_json_array_end(json);
}

static void put_cores(const struct tdm_device_map *map, struct tdm_json *json)
{
	const struct tdm_core_map *cores = &map->cores;
	bool has_grid = cores->grid_x != 0;
	tdm_json_put_object(json, "cores");
	put_source(json, map->grid_from);
	tdm_json_put_bytes(json, "grid_x", has_grid ? cores->grid_x : TDM_BYTES_UNKNOWN);
	tdm_json_put_bytes(json, "grid_y", has_grid ? cores->grid_y : TDM_BYTES_UNKNOWN);
	tdm_json_put_bytes(json, "core_bytes", map->core_bytes);
	tdm_json_put_bytes(json, "max_bytes", cores->max_bytes);
	tdm_json_put_bytes(json, "max_x", has_grid ? cores->fullest % cores->grid_x : TDM_BYTES_UNKNOWN);
	tdm_json_put_bytes(json, "max_y", has_grid ? cores->fullest / cores->grid_x : TDM_BYTES_UNKNOWN);
	tdm_json_put_bytes(json, "average_bytes", cores->average_bytes);
	tdm_json_put_bytes(json, "bound_bytes", cores->bound_bytes);
	put_load("everywhere", &cores->everywhere, json);
	put_load("somewhere", &cores->somewhere, json);
	tdm_json_put_u64(json, "somewhere_buffers", cores->somewhere_buffers);
	tdm_json_put_u64(json, "outside_buffers", cores->outside_buffers);
	put_grid(cores, json);
	tdm_json_object_end(json);
}

static void put_scene(const struct tdm_live_report *report, const struct tdm_device_map_query *scene,
	const struct tdm_device_map *map, struct tdm_json *json)
{
	const struct tdm_picture_device *device = &report->picture->devices[scene->device];
	tdm_json_object(json);
	tdm_json_put_u64(json, "device", device->number);
	tdm_json_put_bool(json, "virtual", device->is_virtual);
	tdm_json_put_name(json, "card", device->info != NULL ? device->info->card : NULL);
	put_pid(json, report->picture, scene->process);
	tdm_json_put_u64(json, "buffer_count", map->buffers);
	tdm_json_put_array(json, "regions");
	for (unsigned k = 0; k < TDM_DEVICE_MAP_REGIONS; k++)
		if (tdm_map_wants(report, (enum tdm_kind)k))
			put_region(report, &map->regions[k], json);
	tdm_json_array_end(json);
	if (tdm_map_wants_l1(report)) {
		put_l1(&map->l1, json);
		put_cores(map, json);
	}
	tdm_json_object_end(json);
}

void tdm_map_json(const struct tdm_live_report *report, struct tdm_json *json)
{
	size_t count;
	struct tdm_device_map_query *scenes = tdm_map_scenes(report, &count);
	json->out->failed |= scenes == NULL;
	tdm_json_array(json);
	for (size_t i = 0; i < count; i++) {
		struct tdm_device_map map;
		if (tdm_device_map_init(&map, report->picture, &scenes[i]) != 0) {
			json->out->failed = true;
			break;
		}
		put_scene(report, &scenes[i], &map, json);
		tdm_device_map_done(&map);
	}
	tdm_json_array_end(json);
	free(scenes);
}
