#include "report/info_chart.h"
#include "base/units.h"
#include "analyze/capture_operations.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { BANDS_MAX = 400, NAME_CAP = 128, LABEL_CAP = 160, LIMIT_FAR = 8 };

static const uint32_t buffers_rgb = 0x4da6b8, program_rgb = 0xe38a42;

int tdm_info_picture_show(const struct tdm_scene *scene, const struct tdm_info_picture *picture,
	const struct tdm_term *term, struct tdm_buf *out, struct tdm_diag *diag)
{
	return picture->path != NULL ? tdm_plot_write(scene, picture->path, &picture->size, diag)
				     : tdm_plot_print(scene, term, out, diag);
}

/* "device 1", if the capture names devices. */
static void put_device(const struct tdm_exact_unit *unit, char *dst, size_t cap)
{
	if (unit->has_id)
		snprintf(dst, cap, "device %" PRIu64, unit->id);
	else
		snprintf(dst, cap, "the device");
}

static size_t longer_calls(const struct tdm_capture_course *course, uint32_t length)
{
	size_t count = 0;
	for (size_t i = 0; i < course->call_count; i++)
		count += course->calls[i].to - course->calls[i].from > length;
	return count;
}

/* The smallest length, in nodes, that at most `most` calls exceed. All calls of this length are left out: showing only
 * some of them would suggest that there are no others. */
static uint32_t length_of_too_many(const struct tdm_capture_course *course, size_t most)
{
	uint32_t low = 0, high = UINT32_MAX;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (longer_calls(course, middle) > most)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Outermost calls as named bands; the longest ones if there are too many. Owned by the caller; one free() releases all.
 * NULL: there are none, or out of memory. */
static struct tdm_plot_band *make_bands(
	const struct tdm_capture_course *course, const struct tdm_capture_exact *exact, double end, size_t *count)
{
	size_t most = course->call_count < BANDS_MAX ? course->call_count : BANDS_MAX;
	struct tdm_plot_band *bands = malloc(most * (sizeof *bands + NAME_CAP) + 1);
	char *names = (char *)(bands != NULL ? bands + most : NULL);
	*count = 0;
	if (bands == NULL)
		return NULL;
	uint32_t too_short = length_of_too_many(course, most);
	for (size_t i = 0; i < course->call_count && *count < most; i++) {
		const struct tdm_course_call *call = &course->calls[i];
		if (call->to - call->from <= too_short)
			continue;
		char *text = names + *count * NAME_CAP;
		snprintf(text, NAME_CAP, "%s", tdm_capture_paths_name(&exact->paths, call->path));
		bands[(*count)++] = (struct tdm_plot_band){ text, call->from,
			call->to == TDM_EXACT_NEVER ? end : (double)call->to };
	}
	return bands;
}

/* The device's memory as a line, or as words if a line so far above would flatten the chart. */
static void set_limit(struct tdm_scene *scene, uint64_t capacity, double highest, char label[LABEL_CAP])
{
	char size[TDM_BYTES_CAP];
	size_t len = strlen(label);
	if (capacity == 0)
		return;
	if ((double)capacity <= highest * LIMIT_FAR) {
		scene->limit_name = "capacity";
		scene->limit = (double)capacity;
		return;
	}
	snprintf(label + len, LABEL_CAP - len, "; its capacity of %s is far above",
		tdm_format_bytes_short(size, sizeof size, capacity));
}

static int draw_course(const struct tdm_capture_exact *exact, const struct tdm_capture_course *course, size_t unit,
	const struct tdm_info_picture *picture, const struct tdm_term *term, struct tdm_buf *out, struct tdm_diag *diag)
{
	bool is_l1 = picture->chart == TDM_INFO_CHART_L1;
	struct tdm_course_line line;
	if (tdm_capture_course_line(course, exact, unit, is_l1 ? TDM_COURSE_L1 : TDM_COURSE_DRAM, &line) != 0)
		return tdm_diag_set(diag, -ENOMEM, 0, 0, "out of memory for the chart");
	size_t band_count;
	struct tdm_plot_band *bands = make_bands(course, exact, line.nodes[line.count - 1], &band_count);
	struct tdm_plot_series series[] = { { is_l1 ? "L1 buffers" : "DRAM", buffers_rgb, line.buffers },
		{ "circular buffers and the like", program_rgb, line.program } };
	double highest = line.buffers[line.peak] + line.program[line.peak];
	char device[40], label[LABEL_CAP];
	put_device(&exact->units[unit], device, sizeof device);
	snprintf(label, sizeof label, is_l1 ? "L1 in use, fullest core of %s" : "DRAM in use, %s", device);
	struct tdm_plot_mark mark = { "peak", line.nodes[line.peak], highest };
	struct tdm_scene scene = { .kind = TDM_CHART_TIME,
		.title = picture->title,
		.subtitle = picture->path == NULL ? label : NULL, /* a terminal has no room next to the axis */
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
	set_limit(&scene, tdm_capture_capacity(exact, unit, !is_l1), highest, label);
	int err = tdm_info_picture_show(&scene, picture, term, out, diag);
	free(bands);
	tdm_course_line_done(&line);
	return err;
}

static int draw_cores(const struct tdm_capture_exact *exact, size_t unit, const struct tdm_info_picture *picture,
	const struct tdm_term *term, struct tdm_buf *out, struct tdm_diag *diag)
{
	struct tdm_exact_cores cores;
	double cells[TDM_CAPTURE_GRID * TDM_CAPTURE_GRID];
	char device[40], subtitle[192], everywhere[TDM_BYTES_CAP], unplaced[TDM_BYTES_CAP];
	if (tdm_capture_exact_cores(exact, unit, &cores) != 0)
		return tdm_diag_set(diag, -ENOMEM, 0, 0, "out of memory for the chart");
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
	struct tdm_scene scene = { .kind = TDM_CHART_HEAT,
		.title = picture->title,
		.subtitle = subtitle,
		.unit = TDM_PLOT_BYTES,
		.cells = cells,
		.grid_width = cores.grid_x,
		.grid_height = cores.grid_y,
		.cell_max = (double)tdm_capture_capacity(exact, unit, false) };
	return tdm_info_picture_show(&scene, picture, term, out, diag);
}

int tdm_info_capture_draw(const struct tdm_capture_exact *exact, const struct tdm_capture_course *course,
	const struct tdm_info_picture *picture, const struct tdm_term *term, struct tdm_buf *out, struct tdm_diag *diag)
{
	size_t unit = tdm_capture_fullest(
		exact, picture->chart == TDM_INFO_CHART_DRAM ? TDM_STOCK_DRAM_PEAK : TDM_STOCK_CORE_PEAK_TOTAL);
	if (unit == SIZE_MAX)
		return tdm_diag_set(diag, -EINVAL, 0, 0, "nothing to draw: the capture has no %s",
			picture->chart == TDM_INFO_CHART_DRAM ? "buffers in DRAM" : "memory in L1");
	return picture->chart == TDM_INFO_CHART_CORES ? draw_cores(exact, unit, picture, term, out, diag)
						      : draw_course(exact, course, unit, picture, term, out, diag);
}
