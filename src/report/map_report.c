#include "report/map_report.h"
#include "report/cell.h"
#include "report/live_cells.h"
#include "report/report_put.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { HOLES_SHOWN = 8, NAME_COLUMNS = 28 };

bool tdm_map_wants(const struct tdm_live_report *report, enum tdm_kind kind)
{
	return !report->filter.has_kind || report->filter.kind == kind;
}

bool tdm_map_wants_l1(const struct tdm_live_report *report)
{
	return !report->filter.has_kind || tdm_core_map_has_kind(report->filter.kind);
}

struct tdm_device_map_query *tdm_map_scenes(const struct tdm_live_report *report, size_t *count)
{
	const struct tdm_picture *picture = report->picture;
	struct tdm_device_map_query *scenes =
		malloc((picture->device_count + picture->holding_count + 1) * sizeof *scenes);
	*count = 0;
	for (uint32_t d = 0; scenes != NULL && d < picture->device_count; d++) {
		bool has_running = false;
		for (size_t h = 0; h < picture->holding_count; h++) {
			const struct tdm_holding *holding = &picture->holdings[h];
			bool has_ended = !tdm_picture_counts(&picture->processes[holding->process]);
			if (holding->device != d ||
				(report->filter.has_device && holding->number != report->filter.device) ||
				(has_ended ? tdm_holding_buffer_count(holding) == 0 : has_running))
				continue;
			scenes[(*count)++] =
				(struct tdm_device_map_query){ d, has_ended ? holding->process : TDM_INDEX_NONE };
			has_running |= !has_ended;
		}
	}
	return scenes;
}

/* The holes of a region. */
struct holes {
	const struct tdm_live_report *report;
	bool has_several; /* processes in the map, so names need their owner */
};

/* The column's neighbour of a hole, below or above; NULL: the edge of the region. */
static const struct tdm_region_span *side_of(const struct tdm_field *field)
{
	const struct tdm_region_gap *gap = field->row;
	return field->column->arg == 0 ? gap->below : gap->above;
}

static const struct tdm_picture_process *owner_of(const struct tdm_field *field)
{
	const struct holes *of = field->table->context;
	const struct tdm_picture *picture = of->report->picture;
	return &picture->processes[picture->holdings[side_of(field)->holding].process];
}

/* "weights of 4242": the name is cut, the process is not. */
static void put_side(const struct tdm_field *field, struct tdm_buf *out)
{
	const struct holes *of = field->table->context;
	const struct tdm_region_span *side = side_of(field);
	char id[32], pid[24] = "";
	const char *name = "end of the region";
	if (side != NULL) {
		snprintf(id, sizeof id, "buffer %" PRIu64, side->buffer->id);
		name = tdm_picture_text(of->report->picture, side->buffer->name);
		name = name[0] != '\0' ? name : id;
	}
	if (side != NULL && of->has_several)
		snprintf(pid, sizeof pid, " of %" PRId32, owner_of(field)->pid);
	tdm_cell_put(out, tdm_str_of(name), NAME_COLUMNS - strlen(pid), of->report->term.utf8);
	tdm_buf_puts(out, pid);
}

static void json_side(const struct tdm_field *field, struct tdm_json *json)
{
	const struct holes *of = field->table->context;
	const struct tdm_region_span *side = side_of(field);
	if (side == NULL) {
		tdm_json_null(json);
		return;
	}
	tdm_json_object(json);
	tdm_json_put_u64(json, "pid", (uint64_t)owner_of(field)->pid);
	tdm_json_put_u64(json, "id", side->buffer->id);
	tdm_json_put_u64(json, "address", side->buffer->address);
	tdm_json_put_u64(json, "bytes_per_bank", side->buffer->bank_bytes);
	tdm_json_put_name(json, "name", tdm_picture_text(of->report->picture, side->buffer->name));
	tdm_json_object_end(json);
}

#define GAP(member) TDM_MEMBER(struct tdm_region_gap, member)
#define SIDE        .text = put_side, .json = json_side, .width = NAME_COLUMNS, .before = 1
static const struct tdm_column hole_columns[] = {
	{ "Hole", "address", GAP(address), .format = tdm_format_hex, .width = 14, .flags = TDM_WHOLE },
	{ "Bytes", "bytes", GAP(bytes), TDM_BYTES },
	{ "Below", "below", SIDE, .arg = 0 },
	{ "Above", "above", SIDE, .arg = 1 },
};

/* The largest holes, as text or as the value of a key. */
static void put_holes(
	const struct holes *of, const struct tdm_region_map *region, struct tdm_buf *out, struct tdm_json *json)
{
	struct tdm_region_gap *gaps = malloc((region->gap_count + 1) * sizeof *gaps);
	size_t limit = of->report->limit != 0 ? (size_t)of->report->limit : json == NULL ? HOLES_SHOWN : SIZE_MAX;
	const struct tdm_table table = { TDM_COLUMNS(hole_columns), gaps, sizeof *gaps,
		gaps != NULL ? tdm_min(region->gap_count, limit) : 0, .context = of, .indent = 4, .gap = 1 };
	if (table.count != 0) {
		memcpy(gaps, region->gaps, region->gap_count * sizeof *gaps);
		tdm_region_gaps_sort(gaps, region->gap_count);
	}
	out->failed |= gaps == NULL;
	if (json != NULL)
		tdm_table_json(&table, json);
	else
		tdm_table_text(&table, &of->report->term, out);
	if (json == NULL && table.count < region->gap_count) {
		tdm_buf_puts(out, "    and ");
		tdm_put_count(out, region->gap_count - table.count, "smaller hole", "smaller holes");
		tdm_buf_putc(out, '\n');
	}
	free(gaps);
}

void tdm_map_holes(const struct tdm_live_report *report, const struct tdm_region_map *region, bool has_several,
	struct tdm_buf *out)
{
	put_holes(&(struct holes){ report, has_several }, region, out, NULL);
}

static void json_holes(const struct tdm_field *field, struct tdm_json *json)
{
	put_holes(&(struct holes){ field->table->context, false }, field->row, json->out, json);
}

static bool skip_region(const struct tdm_table *table, const void *row)
{
	return !tdm_map_wants(table->context, (enum tdm_kind)((const struct tdm_region_map *)row)->kind);
}

#define REGION(member) TDM_MEMBER(struct tdm_region_map, member)
#define DESCRIBED      TDM_KNOWN_IF(struct tdm_region_map, from)
static const struct tdm_column region_columns[] = {
	{ NULL, "kind", REGION(kind), .flags = TDM_IS_KIND },
	{ NULL, "source", REGION(from), .get = tdm_get_source },
	{ NULL, "base", REGION(base), DESCRIBED },
	{ NULL, "bank_bytes", REGION(bank_size), DESCRIBED },
	{ NULL, "banks", REGION(banks), DESCRIBED, .flags = TDM_ZERO_IS_UNKNOWN },
	{ NULL, "placed_buffers", REGION(span_count) },
	{ NULL, "used_bytes", REGION(used_bytes) },
	{ NULL, "free_bytes", REGION(free_bytes) },
	{ NULL, "largest_free_bytes", REGION(largest_free) },
	{ NULL, "fragmentation", REGION(fragmentation) },
	{ NULL, "overlaps", REGION(overlaps) },
	{ NULL, "overlap_bytes", REGION(overlap_bytes) },
	{ NULL, "views", REGION(views) },
	{ NULL, "unplaced_buffers", REGION(unplaced) },
	{ NULL, "unplaced_reserved_bytes", REGION(unplaced_bytes) },
	{ NULL, "outside_buffers", REGION(outside) },
	{ NULL, "outside_bytes", REGION(outside_bytes) },
	{ NULL, "hole_count", REGION(gap_count) },
	{ NULL, "holes", .json = json_holes },
};

/* JSON. */

static void json_l1(const struct tdm_device_l1 *l1, struct tdm_json *json)
{
	tdm_json_put_object(json, "l1");
	tdm_json_put_known(json, "lowest_l1", tdm_is_some(l1->lowest), l1->lowest);
	tdm_json_put_known(json, "highest_cb", tdm_is_some(l1->highest), l1->highest);
	tdm_json_put_bytes(json, "gap_bytes", l1->gap);
	tdm_json_put_bool(json, "clash", l1->clash);
	tdm_json_put_u64(json, "unplaced_l1", l1->unplaced);
	tdm_json_put_u64(json, "unplaced_cb", l1->unplaced_growing);
	tdm_json_put_known(json, "firmware_bytes", l1->has_map, l1->map.span[TDM_L1_FIRMWARE].size);
	tdm_json_put_known(json, "kernel_config_bytes", l1->has_map, l1->map.span[TDM_L1_KERNEL_CONFIG].size);
	tdm_json_object_end(json);
}

/* An object with the kinds that are not 0. */
static void json_load(const char *key, const struct tdm_core_load *load, struct tdm_json *json)
{
	tdm_json_put_object(json, key);
	for (unsigned k = 0; k < TDM_KIND_COUNT; k++)
		if (load->bytes[k] != 0)
			tdm_json_put_u64(json, tdm_kind_name((enum tdm_kind)k), load->bytes[k]);
	tdm_json_object_end(json);
}

/* Rows of cores, each an array; null without a grid. */
static void json_grid(const struct tdm_core_map *cores, struct tdm_json *json)
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

static void json_cores(const struct tdm_device_map *map, struct tdm_json *json)
{
	const struct tdm_core_map *cores = &map->cores;
	bool has_grid = cores->grid_x != 0;
	uint32_t width = has_grid ? cores->grid_x : 1;
	tdm_json_put_object(json, "cores");
	tdm_json_put_text(json, "source", tdm_source_name(map->grid_from));
	tdm_json_put_known(json, "grid_x", has_grid, cores->grid_x);
	tdm_json_put_known(json, "grid_y", has_grid, cores->grid_y);
	tdm_json_put_bytes(json, "core_bytes", map->core_bytes);
	tdm_json_put_bytes(json, "max_bytes", cores->max_bytes);
	tdm_json_put_known(json, "max_x", has_grid, cores->fullest % width);
	tdm_json_put_known(json, "max_y", has_grid, cores->fullest / width);
	tdm_json_put_bytes(json, "average_bytes", cores->average_bytes);
	tdm_json_put_bytes(json, "bound_bytes", cores->bound_bytes);
	json_load("everywhere", &cores->everywhere, json);
	json_load("somewhere", &cores->somewhere, json);
	tdm_json_put_u64(json, "somewhere_buffers", cores->somewhere_buffers);
	tdm_json_put_u64(json, "outside_buffers", cores->outside_buffers);
	json_grid(cores, json);
	tdm_json_object_end(json);
}

static void json_scene(const struct tdm_live_report *report, const struct tdm_device_map_query *scene,
	const struct tdm_device_map *map, struct tdm_json *json)
{
	const struct tdm_picture_device *device = &report->picture->devices[scene->device];
	const struct tdm_table regions = { TDM_COLUMNS(region_columns), map->regions, sizeof *map->regions,
		TDM_DEVICE_MAP_REGIONS, .skip = skip_region, .context = report };
	bool has_process = scene->process != TDM_INDEX_NONE;
	tdm_json_object(json);
	tdm_json_put_known(json, "device", device->number >= 0, (uint64_t)device->number);
	tdm_json_put_bool(json, "virtual", device->is_virtual);
	tdm_json_put_name(json, "card", device->info != NULL ? device->info->card : NULL);
	tdm_json_put_known(
		json, "pid", has_process, has_process ? (uint64_t)report->picture->processes[scene->process].pid : 0);
	tdm_json_put_u64(json, "buffer_count", map->buffers);
	tdm_json_put_table(json, "regions", &regions);
	if (tdm_map_wants_l1(report)) {
		json_l1(&map->l1, json);
		json_cores(map, json);
	}
	tdm_json_object_end(json);
}

/* All maps, as text or as an array. */
static void put_maps(const struct tdm_live_report *report, struct tdm_buf *out, struct tdm_json *json)
{
	size_t count;
	struct tdm_device_map_query *scenes = tdm_map_scenes(report, &count);
	out->failed |= scenes == NULL;
	for (size_t i = 0; i < count; i++) {
		struct tdm_device_map map;
		if (tdm_device_map_init(&map, report->picture, &scenes[i]) != 0) {
			out->failed = true;
			break;
		}
		if (json != NULL) {
			json_scene(report, &scenes[i], &map, json);
		} else {
			tdm_buf_puts(out, i != 0 ? "\n" : "");
			tdm_map_scene_text(report, &scenes[i], &map, out);
		}
		tdm_device_map_done(&map);
	}
	if (json == NULL && count == 0)
		tdm_buf_puts(out, "no device holds anything\n");
	free(scenes);
}

void tdm_map_text(const struct tdm_live_report *report, struct tdm_buf *out)
{
	put_maps(report, out, NULL);
}

void tdm_map_json(const struct tdm_live_report *report, struct tdm_json *json)
{
	tdm_json_array(json);
	put_maps(report, json->out, json);
	tdm_json_array_end(json);
}
