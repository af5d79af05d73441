/* Charts of results: captures and ttnn operation reports, device maps, training phases, and pressure. */
#include "view/chart/result_charts.h"
#include "base/memory.h"
#include "base/names.h"
#include "base/number.h"
#include "base/units.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* A limit this many times higher than the rest would flatten the chart. */
enum { LIMIT_FAR = 8 };

static const uint32_t colours[] = { 0x4da6b8, 0xe38a42, 0x7a6ff0, 0xd6618f, 0x5b8c3e, 0xc9b037, 0x8a6d3b, 0x2b5c9e,
	0xa33b3b, 0x2bb673, 0x9b59b6, 0x9aa0a6 };
enum { COLOURS = sizeof colours / sizeof *colours };

/* Bytes in each core of a grid. `capacity`: bytes available in a core; 0 if unknown. */
static int draw_grid(const double *cells, size_t width, size_t height, uint64_t capacity, const char *subtitle,
	const struct tdm_plot_picture *picture, struct tdm_buf *out, struct tdm_diag *diag)
{
	const struct tdm_scene scene = { .kind = TDM_CHART_HEAT,
		.subtitle = subtitle,
		.unit = TDM_PLOT_BYTES,
		.cells = cells,
		.grid_width = width,
		.grid_height = height,
		.cell_max = (double)capacity };
	return tdm_plot_show(&scene, picture, out, diag);
}

enum { BANDS_MAX = 400, BAND_CAP = 128, LABEL_CAP = 160 };

/* ---- captures ---- */

/* "device 1", if the capture names devices. */
static void put_device(const struct tdm_exact_unit *unit, char *dst, size_t cap)
{
	if (unit->has_id)
		snprintf(dst, cap, "device %" PRIu64, unit->id);
	else
		snprintf(dst, cap, "the device");
}

/* Outermost calls as named bands; the longest ones if there are too many. Owned by the caller; one free() releases all.
 */
static struct tdm_plot_band *make_bands(
	const struct tdm_capture_course *course, const struct tdm_capture_exact *exact, double end, size_t *count)
{
	size_t most = course->call_count < BANDS_MAX ? course->call_count : BANDS_MAX;
	struct tdm_plot_band *bands = tdm_alloc(most * (sizeof *bands + BAND_CAP) + 1);
	char *names = (char *)(bands + most);
	/* The smallest length, in nodes, that at most `most` calls exceed. All calls of this length are left out:
	 * showing only some would suggest that there are no others. */
	uint32_t too_short = 0, above = UINT32_MAX;
	*count = 0;
	while (too_short < above) {
		uint32_t middle = too_short + (above - too_short) / 2;
		size_t longer = 0;
		for (size_t i = 0; i < course->call_count; i++)
			longer += course->calls[i].to - course->calls[i].from > middle;
		if (longer > most)
			too_short = middle + 1;
		else
			above = middle;
	}
	for (size_t i = 0; i < course->call_count && *count < most; i++) {
		const struct tdm_course_call *call = &course->calls[i];
		if (call->to - call->from <= too_short)
			continue;
		char *text = names + *count * BAND_CAP;
		snprintf(text, BAND_CAP, "%s", tdm_capture_paths_name(&exact->paths, call->path));
		bands[(*count)++] = (struct tdm_plot_band){ text, call->from,
			call->to == TDM_EXACT_NEVER ? end : (double)call->to };
	}
	return bands;
}

static int draw_course(const struct tdm_capture_exact *exact, const struct tdm_capture_course *course, size_t unit,
	const struct tdm_plot_picture *picture, struct tdm_buf *out, struct tdm_diag *diag)
{
	bool is_l1 = picture->chart == TDM_INFO_CHART_L1;
	struct tdm_course_line line;
	tdm_capture_course_line(course, exact, unit, is_l1 ? TDM_COURSE_L1 : TDM_COURSE_DRAM, &line);
	size_t band_count;
	struct tdm_plot_band *bands = make_bands(course, exact, line.nodes[line.count - 1], &band_count);
	struct tdm_plot_series series[] = { { is_l1 ? "L1 buffers" : "DRAM", colours[0], line.buffers },
		{ "circular buffers and the like", colours[1], line.program } };
	double highest = line.buffers[line.peak] + line.program[line.peak];
	char device[40], label[LABEL_CAP];
	put_device(&exact->units[unit], device, sizeof device);
	snprintf(label, sizeof label, is_l1 ? "L1 in use, fullest core of %s" : "DRAM in use, %s", device);
	struct tdm_plot_mark mark = { "peak", line.nodes[line.peak], highest };
	struct tdm_scene scene = { .kind = TDM_CHART_TIME,
		.subtitle = picture->path == NULL ? label : NULL, /* no room for the label next to the axis */
		.y_label = label,
		.x_label = "node of the capture",
		.unit = TDM_PLOT_BYTES,
		.x_unit = TDM_PLOT_NUMBER,
		.series = series,
		.series_count = is_l1 ? 2 : 1,
		.times = line.nodes,
		.point_count = line.count,
		.steps = true,
		.stacked = is_l1,
		.bands = bands,
		.band_count = band_count,
		.marks = &mark,
		.mark_count = 1 };
	/* The device's memory is shown as a line, or as words if a line that high would flatten the chart. */
	uint64_t capacity = tdm_capture_capacity(exact, unit, !is_l1);
	size_t len = strlen(label);
	if (capacity != 0 && (double)capacity <= highest * LIMIT_FAR) {
		scene.limit_name = "capacity";
		scene.limit = (double)capacity;
	} else if (capacity != 0) {
		snprintf(label + len, sizeof label - len, "; its capacity of %s is far above",
			tdm_format_bytes_short((char[TDM_BYTES_CAP]){ 0 }, TDM_BYTES_CAP, capacity));
	}
	int err = tdm_plot_show(&scene, picture, out, diag);
	free(bands);
	tdm_course_line_done(&line);
	return err;
}

static int draw_capture_cores(const struct tdm_capture_exact *exact, size_t unit,
	const struct tdm_plot_picture *picture, struct tdm_buf *out, struct tdm_diag *diag)
{
	struct tdm_exact_cores cores;
	double cells[TDM_CAPTURE_GRID * TDM_CAPTURE_GRID];
	char device[40], subtitle[192], everywhere[TDM_BYTES_CAP], unplaced[TDM_BYTES_CAP];
	tdm_capture_exact_cores(exact, unit, &cores);
	if (cores.grid_x == 0)
		return tdm_diag_set(diag, -EINVAL, 0, 0,
			"nothing to draw: the capture neither describes the grid of %s nor names cores",
			exact->units[unit].has_id ? "its device" : "the device");
	for (uint32_t y = 0; y < cores.grid_y; y++)
		for (uint32_t x = 0; x < cores.grid_x; x++)
			cells[y * cores.grid_x + x] = (double)cores.bytes[y][x];
	put_device(&exact->units[unit], device, sizeof device);
	int len = snprintf(subtitle, sizeof subtitle, "L1 of %s at node %" PRIu32 ": %s of buffers in every core",
		device, exact->units[unit].core.at,
		tdm_format_bytes_short(everywhere, sizeof everywhere, cores.everywhere));
	if (cores.unplaced != 0)
		snprintf(subtitle + len, sizeof subtitle - (size_t)len, ", and %s on cores that are not recorded",
			tdm_format_bytes_short(unplaced, sizeof unplaced, cores.unplaced));
	return draw_grid(cells, cores.grid_x, cores.grid_y, tdm_capture_capacity(exact, unit, false), subtitle, picture,
		out, diag);
}

int tdm_info_capture_draw(const struct tdm_capture_exact *exact, const struct tdm_capture_course *course,
	const struct tdm_plot_picture *picture, struct tdm_buf *out, struct tdm_diag *diag)
{
	size_t unit = tdm_capture_fullest(
		exact, picture->chart == TDM_INFO_CHART_DRAM ? TDM_STOCK_DRAM_PEAK : TDM_STOCK_CORE_PEAK_TOTAL);
	if (unit == SIZE_MAX)
		return tdm_diag_set(diag, -EINVAL, 0, 0, "nothing to draw: the capture has no %s",
			picture->chart == TDM_INFO_CHART_DRAM ? "buffers in DRAM" : "memory in L1");
	return picture->chart == TDM_INFO_CHART_CORES ? draw_capture_cores(exact, unit, picture, out, diag)
						      : draw_course(exact, course, unit, picture, out, diag);
}

/* ---- reports of operations ---- */

static double number(uint64_t bytes)
{
	return bytes != TDM_BYTES_UNKNOWN ? (double)bytes : 0;
}

static int draw_operations(const struct tdm_operation_memory *m, const struct tdm_operation_unit *unit,
	const struct tdm_plot_picture *picture, struct tdm_buf *out, struct tdm_diag *diag)
{
	bool is_l1 = unit->kind == TDM_KIND_L1;
	size_t room = m->operation_count + 1; /* the last point ends the last operation */
	double *values = tdm_zalloc(room, 3 * sizeof *values);
	double *at = values, *buffers = values + room, *program = values + 2 * room;
	size_t count = 0, peak = 0;
	for (size_t i = 0; i < m->operation_count; i++) {
		const struct tdm_operation *o = &m->operations[i];
		if (o->rank != unit->rank)
			continue;
		at[count] = (double)(count + 1);
		buffers[count] = number(o->bytes[unit->kind]);
		program[count] = is_l1 ? number(o->cb_bytes) : 0;
		if (buffers[count] + program[count] > buffers[peak] + program[peak])
			peak = count;
		count++;
	}
	at[count] = (double)(count + 1);
	buffers[count] = buffers[count - 1]; /* units have at least one operation */
	program[count] = program[count - 1];
	const struct tdm_plot_series series[] = { { is_l1 ? "L1 buffers after it" : "DRAM after it", colours[0],
							  buffers },
		{ "circular buffers, where known", colours[1], program } };
	const struct tdm_plot_mark mark = { "peak", at[peak], buffers[peak] + program[peak] };
	const char *label = is_l1 ? "L1 in use, fullest core" : "DRAM in use, one bank of the fullest device";
	const struct tdm_scene scene = { .kind = TDM_CHART_TIME,
		.subtitle = picture->path == NULL ? label : NULL,
		.y_label = label,
		.x_label = "operation",
		.unit = TDM_PLOT_BYTES,
		.x_unit = TDM_PLOT_NUMBER,
		.series = series,
		.series_count = is_l1 ? 2 : 1,
		.times = at,
		.point_count = count + 1,
		.steps = true,
		.stacked = is_l1,
		.marks = &mark,
		.mark_count = 1 };
	int err = tdm_plot_show(&scene, picture, out, diag);
	free(values);
	return err;
}

static int draw_operation_cores(const struct tdm_operation_memory *m, const struct tdm_plot_picture *picture,
	struct tdm_buf *out, struct tdm_diag *diag)
{
	double cells[TDM_OPERATION_GRID * TDM_OPERATION_GRID];
	char subtitle[96];
	if (!m->has_cores)
		return tdm_diag_set(diag, -EINVAL, 0, 0,
			"nothing to draw: the report does not say which cores L1 buffers are on (that takes "
			"enable_detailed_buffer_report)");
	const struct tdm_operation_unit *unit = &m->units[m->core_unit];
	for (uint32_t y = 0; y < m->grid_y; y++)
		for (uint32_t x = 0; x < m->grid_x; x++)
			cells[y * m->grid_x + x] = (double)m->core_bytes[y][x];
	snprintf(subtitle, sizeof subtitle, "L1 buffers of device %" PRIu32 " after operation %" PRIu64, unit->device,
		m->operations[unit->peak_operation].id);
	return draw_grid(cells, m->grid_x, m->grid_y, 0, subtitle, picture, out, diag);
}

int tdm_operations_draw(const struct tdm_operation_memory *m, const struct tdm_plot_picture *picture,
	struct tdm_buf *out, struct tdm_diag *diag)
{
	if (picture->chart == TDM_INFO_CHART_CORES)
		return draw_operation_cores(m, picture, out, diag);
	bool is_dram = picture->chart == TDM_INFO_CHART_DRAM;
	const struct tdm_operation_unit *unit = tdm_operation_memory_fullest(m, is_dram ? TDM_KIND_DRAM : TDM_KIND_L1);
	if (unit == NULL)
		return tdm_diag_set(diag, -EINVAL, 0, 0, "nothing to draw: the report has no buffers in %s",
			is_dram ? "DRAM" : "L1");
	return draw_operations(m, unit, picture, out, diag);
}
/*
 * ---- the map of a device ---- A bank is drawn like lines of text: the first row contains the lowest addresses, and
 * each row continues where the previous one ends. Buffers whose names differ only in numbers (layers.*.weight) form one
 * group; each of the largest groups has its own colour. If the remaining groups together are larger than one of these,
 * names are shortened at the end until this is no longer the case: model.encoder.a and model.encoder.b become
 * model.encoder...
 */

enum { ROWS = 16, ROW_NAME_CAP = 24, NAME_CAP = 48, WORDS_MAX = 8 };

/* The last colour, grey, is for all groups without a colour of their own. */

/* A group of buffers. */
struct owner {
	const char *name;
	uint64_t bytes;
};

/* All data that the scene of one call points to. */
struct bank {
	const struct tdm_picture *picture;
	const struct tdm_region_map *region;
	char (*groups)[NAME_CAP]; /* group name of each span */
	struct owner *owners;     /* sorted, largest first */
	size_t owner_count;
	struct tdm_plot_span *spans;
	struct tdm_plot_row rows[ROWS];
	char row_names[ROWS][ROW_NAME_CAP], names[COLOURS][NAME_CAP];
	struct tdm_plot_series series[COLOURS];
};

static int compare_owners(const void *left, const void *right)
{
	const struct owner *a = left, *b = right;
	int order = tdm_order(b->bytes, a->bytes);
	return order != 0 ? order : strcmp(a->name, b->name);
}

static const char *name_of(const struct bank *bank, const struct tdm_region_span *span)
{
	const char *name = tdm_picture_text(bank->picture, span->buffer->name);
	return name[0] != '\0' ? name : "without a name";
}

/* The first words of the name, with each number replaced by a star. */
static void group_of(const char *name, size_t words, char group[NAME_CAP])
{
	static const char cut[] = "...";
	size_t n = 0;
	for (; *name != '\0' && n < NAME_CAP - sizeof cut; name++) {
		bool is_digit = *name >= '0' && *name <= '9';
		if (strchr("./:", *name) != NULL && name[1] != '\0' && --words == 0)
			break;
		if (!is_digit || n == 0 || group[n - 1] != '*')
			group[n++] = is_digit ? '*' : *name;
	}
	snprintf(group + n, NAME_CAP - n, "%s", *name != '\0' ? cut : "");
}

static void find_owners(struct bank *bank, size_t words)
{
	const struct tdm_region_map *region = bank->region;
	struct tdm_names names = { 0 };
	size_t kept = 0;
	for (size_t i = 0; i < region->span_count; i++) {
		group_of(name_of(bank, &region->spans[i]), words, bank->groups[i]);
		struct tdm_str group = tdm_str_of(bank->groups[i]);
		uint32_t slot = tdm_names_find(&names, group);
		if (slot == TDM_NAME_NONE) {
			tdm_names_add(&names, group, &slot);
			*tdm_names_number(&names, slot) = kept;
			bank->owners[kept++] = (struct owner){ bank->groups[i], 0 };
		}
		bank->owners[*tdm_names_number(&names, slot)].bytes += region->spans[i].bytes;
	}
	tdm_names_done(&names);
	qsort(bank->owners, kept, sizeof *bank->owners, compare_owners);
	bank->owner_count = kept;
}

static void choose_owners(struct bank *bank)
{
	size_t best = WORDS_MAX;
	uint64_t least = UINT64_MAX;
	for (size_t words = WORDS_MAX; words > 0; words--) {
		find_owners(bank, words);
		uint64_t rest = 0; /* bytes of the groups that share the last colour */
		for (size_t i = COLOURS - 1; bank->owner_count > COLOURS && i < bank->owner_count; i++)
			rest = tdm_plus(rest, bank->owners[i].bytes);
		if (rest == 0 || rest <= bank->owners[COLOURS - 2].bytes)
			return;
		best = rest < least ? words : best;
		least = tdm_min(rest, least);
	}
	find_owners(bank, best);
}

/* If there are more groups than colours, the last colour is for all others. */
static size_t make_series(struct bank *bank)
{
	size_t count = bank->owner_count < COLOURS ? bank->owner_count : COLOURS;
	for (size_t i = 0; i < count; i++) {
		bool is_rest = i == COLOURS - 1 && bank->owner_count > COLOURS;
		if (is_rest)
			snprintf(bank->names[i], NAME_CAP, "%zu others", bank->owner_count - i);
		else
			snprintf(bank->names[i], NAME_CAP, "%.*s", NAME_CAP - 1, bank->owners[i].name);
		bank->series[i] = (struct tdm_plot_series){ bank->names[i], colours[is_rest ? COLOURS - 1 : i], NULL };
	}
	return count;
}

/* Cuts spans at row ends. */
static void fill_rows(struct bank *bank, uint64_t row_bytes, size_t row_count)
{
	const struct tdm_region_map *region = bank->region;
	size_t n = 0, i = 0;
	for (size_t r = 0; r < row_count; r++) {
		uint64_t from = region->base + r * row_bytes;
		size_t first = n;
		snprintf(bank->row_names[r], ROW_NAME_CAP, "0x%" PRIx64, from);
		while (i < region->span_count) {
			const struct tdm_region_span *span = &region->spans[i];
			uint64_t begin = span->address > from ? span->address - from : 0;
			if (begin >= row_bytes)
				break;
			if (span->address < from && from - span->address >= span->bytes) {
				i++; /* covered by an earlier span that ends later */
				continue;
			}
			uint64_t end = begin != 0 ? begin + span->bytes : span->bytes - (from - span->address);
			size_t series = 0;
			while (series < COLOURS - 1 && series < bank->owner_count &&
				strcmp(bank->owners[series].name, bank->groups[i]) != 0)
				series++;
			bank->spans[n++] = (struct tdm_plot_span){ (double)begin,
				(double)(end < row_bytes ? end : row_bytes), series, name_of(bank, span) };
			if (end > row_bytes)
				break; /* the span continues in the next row */
			i++;
		}
		bank->rows[r] = (struct tdm_plot_row){ bank->row_names[r], bank->spans + first, n - first };
	}
}

static int draw_bank(const struct tdm_live_report *report, const struct tdm_region_map *region,
	const struct tdm_plot_picture *picture, struct tdm_buf *out, struct tdm_diag *diag)
{
	const char *kind = tdm_kind_name((enum tdm_kind)region->kind);
	if (region->span_count == 0 || region->bank_size == 0)
		return tdm_diag_set(diag, -EINVAL, 0, 0, "nothing to draw: no buffer of %s has a known place", kind);
	struct tdm_plot_span *spans = tdm_zalloc(region->span_count + ROWS, sizeof *spans);
	struct bank *bank = tdm_zalloc(1, sizeof *bank);
	*bank = (struct bank){ .picture = report->picture,
		.region = region,
		.groups = tdm_zalloc(region->span_count, sizeof *bank->groups),
		.owners = tdm_zalloc(region->span_count, sizeof *bank->owners),
		.spans = spans };
	uint64_t row_bytes = region->bank_size / ROWS + (region->bank_size % ROWS != 0);
	size_t row_count = (size_t)(region->bank_size / row_bytes + (region->bank_size % row_bytes != 0));
	char subtitle[160], used[TDM_BYTES_CAP], size[TDM_BYTES_CAP], hole[TDM_BYTES_CAP];
	choose_owners(bank);
	size_t series_count = make_series(bank);
	fill_rows(bank, row_bytes, row_count);
	snprintf(subtitle, sizeof subtitle, "One bank of %s: %s of %s used, the largest hole has %s", kind,
		tdm_format_bytes_short(used, sizeof used, region->used_bytes),
		tdm_format_bytes_short(size, sizeof size, region->bank_size),
		tdm_format_bytes_short(hole, sizeof hole, region->largest_free));
	struct tdm_scene scene = { .kind = TDM_CHART_MAP,
		.subtitle = subtitle,
		.x_label = "bytes from the beginning of the row",
		.unit = TDM_PLOT_BYTES,
		.series = bank->series,
		.series_count = series_count,
		.rows = bank->rows,
		.row_count = row_count,
		.map_from = 0,
		.map_to = (double)row_bytes };
	int err = tdm_plot_show(&scene, picture, out, diag);
	free(bank->groups);
	free(bank->owners);
	free(spans);
	free(bank);
	return err;
}

static int draw_cores(const struct tdm_device_map *map, const struct tdm_plot_picture *picture, struct tdm_buf *out,
	struct tdm_diag *diag)
{
	const struct tdm_core_map *cores = &map->cores;
	size_t count = (size_t)cores->grid_x * cores->grid_y;
	if (count == 0)
		return tdm_diag_set(diag, -EINVAL, 0, 0, "nothing to draw: the grid of cores is not known");
	double *cells = tdm_zalloc(count, sizeof *cells);
	for (size_t i = 0; i < count; i++)
		cells[i] = (double)cores->cores[i].total;
	char subtitle[160], size[TDM_BYTES_CAP], more[TDM_BYTES_CAP];
	int len = snprintf(subtitle, sizeof subtitle, "L1 in use, of %s in each core",
		tdm_format_bytes_short(size, sizeof size, map->core_bytes));
	if (cores->somewhere_buffers != 0)
		snprintf(subtitle + len, sizeof subtitle - (size_t)len, "; up to %s more on unknown cores",
			tdm_format_bytes_short(more, sizeof more, cores->somewhere.total));
	int err = draw_grid(cells, cores->grid_x, cores->grid_y,
		map->core_bytes != TDM_BYTES_UNKNOWN ? map->core_bytes : 0, subtitle, picture, out, diag);
	free(cells);
	return err;
}

int tdm_map_chart_draw(const struct tdm_live_report *report, const struct tdm_plot_picture *picture,
	struct tdm_buf *out, struct tdm_diag *diag)
{
	size_t count = 0;
	struct tdm_device_map *scenes = tdm_map_scenes(report, &count), map = { 0 };
	enum tdm_kind kind = report->filter.has_kind ? report->filter.kind : TDM_KIND_DRAM;
	int err;
	if (count == 0)
		err = tdm_diag_set(diag, -EINVAL, 0, 0, "nothing to draw: no device holds anything");
	else if (count > 1)
		err = tdm_diag_set(
			diag, -EINVAL, 0, 0, "%zu maps, and a chart shows one: choose with --device or --pid", count);
	else if (picture->chart == TDM_MAP_CHART_BANK && kind > TDM_KIND_TRACE)
		err = tdm_diag_set(
			diag, -EINVAL, 0, 0, "banks have dram, l1, l1_small and trace, not %s", tdm_kind_name(kind));
	else {
		tdm_device_map_init(&map, report->picture, scenes[0].device, scenes[0].process);
		err = picture->chart == TDM_MAP_CHART_BANK ? draw_bank(report, &map.regions[kind], picture, out, diag)
							   : draw_cores(&map, picture, out, diag);
	}
	tdm_device_map_done(&map);
	free(scenes);
	return err;
}
/* ---- training phases: the parts of each run's peak, and memory over time ---- */

enum {
	NOTE_CAP = 128,
	RUN_NAME_CAP = 256,
	SAME_MAX = 1000, /* maximum number of runs compared by name */
	POINTS_PER_PHASE = 3,
	TIME_PHASES_MAX = 4096,
	COLUMNS_WIDE = 8,
	PICTURE_WIDE = 4800
};

/* The runs to draw, from all inputs, in order. */
struct chosen {
	const struct tdm_phases **results;
	const char **paths; /* log file of each run, or NULL */
	char (*names)[RUN_NAME_CAP];
	size_t count;
};

static void choose(const struct tdm_phases_input *inputs, size_t count, struct chosen *chosen, size_t *no_peak)
{
	size_t all = 0;
	for (size_t i = 0; i < count; i++)
		all += inputs[i].runs.count;
	*chosen = (struct chosen){ .results = tdm_zalloc(all + 1, sizeof *chosen->results),
		.paths = tdm_zalloc(all + 1, sizeof *chosen->paths),
		.names = tdm_zalloc(all + 1, sizeof *chosen->names) };
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < inputs[i].runs.count; k++)
			if (inputs[i].results[k].peak != TDM_PHASE_UNKNOWN) {
				chosen->paths[chosen->count] = inputs[i].path;
				chosen->results[chosen->count++] = &inputs[i].results[k];
			}
	/* The run's name in the log, with the file added if another run has the same name. */
	for (size_t i = 0; i < chosen->count; i++) {
		const char *name = chosen->results[i]->run->name, *path = chosen->paths[i];
		bool is_double = false;
		for (size_t k = 0; k < chosen->count && chosen->count <= SAME_MAX && !is_double; k++)
			is_double = k != i && strcmp(chosen->results[k]->run->name, name) == 0;
		struct tdm_str file = tdm_last_part(tdm_str_of(path), '/');
		bool with_file = is_double && path != NULL;
		snprintf(chosen->names[i], RUN_NAME_CAP, "%.*s%s%s", with_file ? (int)tdm_min(file.len, 64) : 0,
			with_file ? file.ptr : "", with_file ? ": " : "", name);
	}
	*no_peak = all - chosen->count;
}

static double as_value(int64_t figure)
{
	return figure == TDM_PHASE_UNKNOWN ? NAN : (double)figure;
}

/*
 * Sets the limit line. If the runs have different amounts of memory, `limits` (may be NULL) gets a limit for each
 * column. A note names limits that cannot be drawn: a limit far above all values would flatten the chart, and several
 * limits over time would look alike.
 */
static void set_memory_limit(
	struct tdm_scene *scene, const struct chosen *chosen, double *limits, char *note, size_t cap)
{
	char least_text[TDM_BYTES_CAP], most_text[TDM_BYTES_CAP];
	uint64_t least = UINT64_MAX, most = 0; /* device memory of the runs */
	double highest = 0;                    /* highest peak */
	for (size_t i = 0; i < chosen->count; i++) {
		least = tdm_min(least, chosen->results[i]->device_memory_bytes);
		most = tdm_max(most, chosen->results[i]->device_memory_bytes);
		highest = fmax(highest, as_value(chosen->results[i]->peak));
	}
	double far = highest > 0 ? highest * LIMIT_FAR : INFINITY;
	bool is_far = (double)least > far, differs = least != most;
	if (is_far || (differs && limits == NULL)) {
		snprintf(note, cap, "Device memory: %s%s%s%s",
			differs ? tdm_format_bytes_short(least_text, sizeof least_text, least) : "",
			differs ? " to " : "", tdm_format_bytes_short(most_text, sizeof most_text, most),
			is_far ? ", far above what is shown" : "");
		scene->subtitle = note;
		return;
	}
	scene->limit_name = "Device Memory Limit";
	scene->limit = (double)most;
	if (!differs)
		return;
	for (size_t i = 0; i < chosen->count; i++) {
		double bytes = (double)chosen->results[i]->device_memory_bytes;
		limits[i] = bytes > far ? NAN : bytes;
	}
	scene->limits = limits;
}

/* Shows the scene, in a wider picture if there are many names, which are side by side. */
static int show_wide(const struct tdm_scene *scene, const struct tdm_plot_picture *picture, struct tdm_buf *out,
	struct tdm_diag *diag)
{
	struct tdm_plot_picture wide = *picture;
	size_t names = scene->column_count + scene->band_count;
	if (wide.size.width == 0 && names > COLUMNS_WIDE)
		wide.size.width = fmin(TDM_PLOT_WIDTH * (double)names / COLUMNS_WIDE, PICTURE_WIDE);
	return tdm_plot_show(scene, &wide, out, diag);
}

static int draw_peak(
	const struct chosen *chosen, const struct tdm_plot_picture *picture, struct tdm_buf *out, struct tdm_diag *diag)
{
	size_t count = chosen->count;
	double *values = tdm_zalloc((TDM_PART_COUNT + 2) * count, sizeof *values); /* also for totals and limits */
	const char **names = tdm_zalloc(count, sizeof *names);
	struct tdm_plot_series series[TDM_PART_COUNT];
	size_t shown = 0;
	for (size_t i = 0; i < count; i++) {
		names[i] = chosen->names[i];
		values[TDM_PART_COUNT * count + i] = as_value(chosen->results[i]->peak);
	}
	/* Parts that occur in no run are left out of the legend, but an empty chart shows all parts. */
	for (int pass = 0; pass < 2 && shown == 0; pass++)
		for (int part = 0; part < TDM_PART_COUNT; part++) {
			double *row = values + (size_t)part * count, most = 0;
			for (size_t i = 0; i < count; i++) {
				row[i] = as_value(chosen->results[i]->parts[part]);
				most = fmax(most, row[i]);
			}
			if (most > 0 || pass == 1)
				series[shown++] = (struct tdm_plot_series){ tdm_phases_parts[part].name,
					tdm_phases_parts[part].rgb, row };
		}
	struct tdm_scene scene = { .kind = TDM_CHART_STACK,
		.y_label = "Peak DRAM",
		.unit = TDM_PLOT_MIB,
		.series = series,
		.series_count = shown,
		.columns = names,
		.column_count = count,
		.totals = values + TDM_PART_COUNT * count };
	char note[NOTE_CAP];
	set_memory_limit(&scene, chosen, values + (TDM_PART_COUNT + 1) * count, note, sizeof note);
	int err = show_wide(&scene, picture, out, diag);
	free(values);
	free(names);
	return err;
}

/* Writes each phase as three points: bytes in use before the phase, at its peak, and after it. */
static void trace_run(const struct tdm_phase_run *run, double *values)
{
	double before = 0;
	for (size_t i = 0; i < run->phase_count; i++) {
		const struct tdm_phase_figures *f = &run->phases[i].figures;
		double peak = f->dram_peak == TDM_PHASE_UNKNOWN ? before : before + (double)f->dram_peak;
		double now =
			f->dram_cumulative_current == TDM_PHASE_UNKNOWN ? before : (double)f->dram_cumulative_current;
		values[i * POINTS_PER_PHASE] = before;
		values[i * POINTS_PER_PHASE + 1] = fmax(peak, fmax(before, now));
		values[i * POINTS_PER_PHASE + 2] = now;
		before = now;
	}
}

/* Moves the runs to be drawn to the front of *chosen. */
static int draw_phases(const struct chosen *chosen, const struct tdm_plot_picture *picture, struct tdm_buf *out,
	size_t left_out[TDM_PHASES_LEFT_OUT], struct tdm_diag *diag)
{
	const struct tdm_phase_run *first = chosen->results[0]->run;
	size_t points = first->phase_count * POINTS_PER_PHASE, shown = 0;
	if (first->phase_count == 0 || first->phase_count > TIME_PHASES_MAX)
		return tdm_diag_set(
			diag, -EINVAL, 0, 0, "nothing to draw: a run of 1 to %d phases is needed", TIME_PHASES_MAX);
	size_t lines = chosen->count < TDM_PHASES_LINES_MAX ? chosen->count : TDM_PHASES_LINES_MAX;
	double *times = tdm_zalloc(points, sizeof *times), *values = tdm_zalloc(points * lines, sizeof *values);
	struct tdm_plot_band *bands = tdm_zalloc(first->phase_count, sizeof *bands);
	struct tdm_plot_series *series = tdm_zalloc(lines, sizeof *series);
	for (size_t i = 0; i < chosen->count; i++) {
		const struct tdm_phase_run *run = chosen->results[i]->run;
		bool other = run->phase_count != first->phase_count;
		for (size_t k = 0; k < first->phase_count && !other; k++)
			other = strcmp(run->phases[k].name, first->phases[k].name) != 0;
		if (other || shown == lines) {
			left_out[TDM_PHASES_OTHER] += other;
			left_out[TDM_PHASES_TOO_MANY] += !other;
			continue;
		}
		chosen->results[shown] = chosen->results[i];
		trace_run(run, values + shown * points);
		series[shown] =
			(struct tdm_plot_series){ chosen->names[i], colours[shown % COLOURS], values + shown * points };
		shown++;
	}
	for (size_t i = 0; i < first->phase_count; i++) {
		bands[i] = (struct tdm_plot_band){ first->phases[i].name, (double)i, (double)(i + 1) };
		for (size_t k = 0; k < POINTS_PER_PHASE; k++)
			times[i * POINTS_PER_PHASE + k] = (double)i + (double)k / (POINTS_PER_PHASE - 1);
	}
	size_t highest = 0;
	for (size_t i = 1; i < points * shown; i++)
		highest = values[i] > values[highest] ? i : highest;
	const struct tdm_plot_mark mark = { "peak", times[highest % points], values[highest] };
	struct tdm_scene scene = { .kind = TDM_CHART_TIME,
		.y_label = "DRAM in use",
		.unit = TDM_PLOT_MIB,
		.no_x_ticks = true,
		.series = series,
		.series_count = shown,
		.times = times,
		.point_count = points,
		.bands = bands,
		.band_count = first->phase_count,
		.marks = &mark,
		.mark_count = 1 };
	char note[NOTE_CAP];
	set_memory_limit(
		&scene, &(struct chosen){ .results = chosen->results, .count = shown }, NULL, note, sizeof note);
	int err = show_wide(&scene, picture, out, diag);
	free(times);
	free(values);
	free(bands);
	free(series);
	return err;
}

int tdm_phases_draw(const struct tdm_phases_input *inputs, size_t count, const struct tdm_plot_picture *picture,
	struct tdm_buf *out, size_t left_out[TDM_PHASES_LEFT_OUT], struct tdm_diag *diag)
{
	struct chosen chosen;
	memset(left_out, 0, TDM_PHASES_LEFT_OUT * sizeof *left_out);
	choose(inputs, count, &chosen, &left_out[TDM_PHASES_NO_PEAK]);
	int err;
	if (chosen.count == 0)
		err = tdm_diag_set(diag, -EINVAL, 0, 0, "nothing to draw: no run has a peak");
	else if (picture->chart == TDM_PHASES_CHART_PEAK)
		err = draw_peak(&chosen, picture, out, diag);
	else
		err = draw_phases(&chosen, picture, out, left_out, diag);
	free(chosen.results);
	free(chosen.paths);
	free(chosen.names);
	return err;
}
/* ---- pressure: strategy scores over workload sizes, or throughput over bytes ---- */

enum { CRITICAL = 70 };

static const uint32_t sizing_colours[TDM_SIZINGS] = { 0xd6618f, 0xe38a42, 0x7a6ff0, 0x6c757d, 0x4da6b8 };

static int draw_scores(const struct tdm_pressure_report *report, const struct tdm_plot_picture *picture,
	struct tdm_buf *out, struct tdm_diag *diag)
{
	size_t count = report->count, lines = 0;
	double *values = tdm_zalloc((TDM_SIZINGS + 1) * (count + 1), sizeof *values);
	struct tdm_plot_series series[TDM_SIZINGS];
	double *times = values + TDM_SIZINGS * count;
	for (size_t i = 0; i < count; i++)
		times[i] = (double)report->results[i].setup.b_tiles;
	for (int k = 0; k < TDM_SIZINGS; k++) {
		double *line = values + lines * count;
		if (k == TDM_SIZING_GIVEN)
			continue;
		for (size_t i = 0; i < count; i++) {
			const struct tdm_sizing *s = tdm_pressure_sizing(&report->results[i], (enum tdm_sizing_name)k);
			line[i] = s != NULL ? s->metrics[TDM_PRESSURE_SCORE] : (double)NAN;
		}
		series[lines++] =
			(struct tdm_plot_series){ tdm_sizing_title((enum tdm_sizing_name)k), sizing_colours[k], line };
	}
	struct tdm_scene scene = { .kind = TDM_CHART_TIME,
		.x_label = "A and B tiles",
		.y_label = "Pressure score",
		.unit = TDM_PLOT_NUMBER,
		.x_unit = TDM_PLOT_NUMBER,
		.limit_name = "critical",
		.limit = CRITICAL,
		.series = series,
		.series_count = lines,
		.times = times,
		.point_count = count };
	int err = tdm_plot_show(&scene, picture, out, diag);
	free(values);
	return err;
}

static int draw_curve(const struct tdm_pressure_result *r, const struct tdm_plot_picture *picture, struct tdm_buf *out,
	struct tdm_diag *diag)
{
	const struct tdm_cb_advice *a = &r->advice;
	double bytes[TDM_ADVICE_POINTS_MAX + 1], rates[TDM_ADVICE_POINTS_MAX + 1];
	size_t last = a->point_count - 1;
	if (a->is_deadlocked || a->point_count == 0)
		return tdm_diag_set(diag, -EINVAL, 0, 0, "nothing to draw: there is no advice");
	for (size_t i = 0; i <= last; i++) {
		bytes[i] = (double)a->curve[i].bytes;
		rates[i] = a->curve[i].tiles_per_s;
	}
	/* More bytes never score worse, so the last step continues to the right. It is drawn as wide as the other steps
	 * to be visible. */
	bytes[last + 1] = bytes[last] + (last != 0 ? (bytes[last] - bytes[0]) / (double)last : bytes[0]);
	rates[last + 1] = rates[last];
	const struct tdm_plot_series series = { "tiles per second", sizing_colours[TDM_SIZING_ADVISED], rates };
	const struct tdm_plot_mark mark = { "advised", (double)a->advised.bytes, a->advised.tiles_per_s };
	struct tdm_scene scene = { .kind = TDM_CHART_TIME,
		.x_label = "Circular buffers of a core",
		.y_label = "Tiles per second",
		.unit = TDM_PLOT_NUMBER,
		.x_unit = TDM_PLOT_BYTES,
		.series = &series,
		.series_count = 1,
		.times = bytes,
		.steps = true,
		.point_count = a->point_count + 1,
		.marks = &mark,
		.mark_count = tdm_cb_advice_is_found(a) ? 1 : 0 };
	return tdm_plot_show(&scene, picture, out, diag);
}

int tdm_pressure_draw(const struct tdm_pressure_report *report, const struct tdm_plot_picture *picture,
	struct tdm_buf *out, struct tdm_diag *diag)
{
	return report->is_multi ? draw_scores(report, picture, out, diag)
				: draw_curve(&report->results[0], picture, out, diag);
}
