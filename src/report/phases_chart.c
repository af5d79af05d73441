/* Charts of training phases: the parts of the peak of each run, and memory over time. */
#include "report/phases_report.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	NOTE_CAP = 128,
	RUN_NAME_CAP = 256,
	SAME_MAX = 1000, /* runs that are compared by name */
	POINTS_PER_PHASE = 3,
	TIME_PHASES_MAX = 4096,
	LIMIT_FAR = 8,
	COLUMNS_WIDE = 8,
	PICTURE_WIDE = 4800
};

/* The results to draw, from all inputs, in order. */
struct chosen {
	const struct tdm_phases **results;
	const char **paths; /* of their files; NULL: none */
	char (*names)[RUN_NAME_CAP];
	size_t count;
};

static void chosen_done(struct chosen *chosen)
{
	free(chosen->results);
	free(chosen->paths);
	free(chosen->names);
}

/* The name that the log gives the run; with the file, if another run has the same name. */
static void name_runs(const struct chosen *chosen)
{
	for (size_t i = 0; i < chosen->count; i++) {
		const char *name = chosen->results[i]->run->name, *path = chosen->paths[i];
		bool is_double = false;
		for (size_t k = 0; k < chosen->count && chosen->count <= SAME_MAX && !is_double; k++)
			is_double = k != i && strcmp(chosen->results[k]->run->name, name) == 0;
		const char *slash = path != NULL ? strrchr(path, '/') : NULL;
		bool with_file = is_double && path != NULL;
		snprintf(chosen->names[i], RUN_NAME_CAP, "%.64s%s%s", with_file ? slash != NULL ? slash + 1 : path : "",
			with_file ? ": " : "", name);
	}
}

static int choose(const struct tdm_phases_report *report, struct chosen *chosen, size_t *no_peak)
{
	size_t all = 0;
	for (size_t i = 0; i < report->input_count; i++)
		all += report->inputs[i].runs.count;
	*chosen = (struct chosen){ .results = malloc((all + 1) * sizeof *chosen->results),
		.paths = malloc((all + 1) * sizeof *chosen->paths),
		.names = malloc((all + 1) * sizeof *chosen->names) };
	if (chosen->results == NULL || chosen->paths == NULL || chosen->names == NULL) {
		chosen_done(chosen);
		return -ENOMEM;
	}
	for (size_t i = 0; i < report->input_count; i++)
		for (size_t k = 0; k < report->inputs[i].runs.count; k++)
			if (report->inputs[i].results[k].peak != TDM_PHASE_UNKNOWN) {
				chosen->paths[chosen->count] = report->inputs[i].path;
				chosen->results[chosen->count++] = &report->inputs[i].results[k];
			}
	name_runs(chosen);
	*no_peak = all - chosen->count;
	return 0;
}

static double as_value(int64_t figure)
{
	return figure == TDM_PHASE_UNKNOWN ? NAN : (double)figure;
}

/* The smallest and the largest device memory of the runs, and their highest peak. */
struct range_of_memory {
	uint64_t least, most;
	double highest;
};

static struct range_of_memory memory_of(const struct chosen *chosen)
{
	struct range_of_memory range = { .least = UINT64_MAX };
	for (size_t i = 0; i < chosen->count; i++) {
		uint64_t bytes = chosen->results[i]->device_memory_bytes;
		range.least = bytes < range.least ? bytes : range.least;
		range.most = bytes > range.most ? bytes : range.most;
		range.highest = fmax(range.highest, as_value(chosen->results[i]->peak));
	}
	return range;
}

/*
 * Sets the limit line; if the runs have different memory, `limits` (may be NULL) gets one for each column. A limit far
 * above everything would flatten the chart, and several limits over time could not be told apart: a note names them
 * instead.
 */
static void set_limit(struct tdm_scene *scene, const struct chosen *chosen, double *limits, char *note, size_t cap)
{
	struct range_of_memory range = memory_of(chosen);
	double far = range.highest > 0 ? range.highest * LIMIT_FAR : INFINITY;
	bool is_far = (double)range.least > far;
	bool differs = range.least != range.most;
	char least[TDM_BYTES_CAP], most[TDM_BYTES_CAP];
	if (is_far || (differs && limits == NULL)) {
		tdm_format_bytes_short(least, sizeof least, range.least);
		tdm_format_bytes_short(most, sizeof most, range.most);
		snprintf(note, cap, "Device memory: %s%s%s%s", differs ? least : "", differs ? " to " : "", most,
			is_far ? ", far above what is shown" : "");
		scene->subtitle = note;
		return;
	}
	scene->limit_name = "Device Memory Limit";
	scene->limit = (double)range.most;
	if (!differs)
		return;
	for (size_t i = 0; i < chosen->count; i++) {
		double bytes = (double)chosen->results[i]->device_memory_bytes;
		limits[i] = bytes > far ? NAN : bytes;
	}
	scene->limits = limits;
}

static int show(const struct tdm_scene *scene, const struct tdm_phases_picture *picture, const struct tdm_term *term,
	struct tdm_buf *out, struct tdm_diag *diag)
{
	struct tdm_plot_options size = picture->size;
	size_t names = scene->column_count + scene->band_count; /* side by side: more names need more room */
	if (size.width == 0 && names > COLUMNS_WIDE)
		size.width = fmin(TDM_PLOT_WIDTH * (double)names / COLUMNS_WIDE, PICTURE_WIDE);
	return picture->path != NULL ? tdm_plot_write(scene, picture->path, &size, diag)
				     : tdm_plot_print(scene, term, out, diag);
}

/* The largest part of any result. */
static double highest_part(const struct chosen *chosen)
{
	double highest = 0;
	for (size_t i = 0; i < chosen->count; i++)
		for (int part = 0; part < TDM_PART_COUNT; part++)
			highest = fmax(highest, as_value(chosen->results[i]->parts[part]));
	return highest;
}

static int draw_peak(const struct chosen *chosen, const struct tdm_phases_picture *picture, const struct tdm_term *term,
	struct tdm_buf *out, struct tdm_diag *diag)
{
	size_t count = chosen->count;
	double *values = malloc((TDM_PART_COUNT + 2) * count * sizeof *values); /* parts, totals, limits */
	const char **names = malloc(count * sizeof *names);
	struct tdm_plot_series series[TDM_PART_COUNT];
	size_t shown = 0;
	if (values == NULL || names == NULL) {
		free(values);
		free(names);
		return tdm_diag_set(diag, -ENOMEM, 0, 0, "out of memory for the chart");
	}
	for (size_t i = 0; i < count; i++) {
		names[i] = chosen->names[i];
		values[TDM_PART_COUNT * count + i] = as_value(chosen->results[i]->peak);
	}
	bool no_parts = highest_part(chosen) <= 0; /* an empty chart shows all of them */
	for (int part = 0; part < TDM_PART_COUNT; part++) {
		bool any = false;
		double *row = values + (size_t)part * count;
		for (size_t i = 0; i < count; i++) {
			row[i] = as_value(chosen->results[i]->parts[part]);
			any |= row[i] > 0;
		}
		if (any || no_parts) /* leave parts that no run has out of the legend */
			series[shown++] = (struct tdm_plot_series){ tdm_phases_parts[part].name,
				tdm_phases_parts[part].rgb, row };
	}
	struct tdm_scene scene = { .kind = TDM_CHART_STACK,
		.title = picture->title,
		.y_label = "Peak DRAM",
		.unit = TDM_PLOT_MIB,
		.series = series,
		.series_count = shown,
		.columns = names,
		.column_count = count,
		.totals = values + TDM_PART_COUNT * count };
	char note[NOTE_CAP];
	set_limit(&scene, chosen, values + (TDM_PART_COUNT + 1) * count, note, sizeof note);
	int err = show(&scene, picture, term, out, diag);
	free(values);
	free(names);
	return err;
}

static bool has_phases_of(const struct tdm_phase_run *a, const struct tdm_phase_run *b)
{
	if (a->phase_count != b->phase_count)
		return false;
	for (size_t i = 0; i < a->phase_count; i++)
		if (strcmp(a->phases[i].name, b->phases[i].name) != 0)
			return false;
	return true;
}

/* A phase as three points: bytes in use before it, its peak, bytes in use after it. */
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

struct time_parts {
	double *times, *values;
	struct tdm_plot_band *bands;
	struct tdm_plot_series *series;
	struct tdm_plot_mark mark;
};

static void fill_time(struct time_parts *parts, const struct tdm_phase_run *run, size_t points, size_t shown)
{
	for (size_t i = 0; i < run->phase_count; i++) {
		parts->bands[i] = (struct tdm_plot_band){ run->phases[i].name, (double)i, (double)(i + 1) };
		for (size_t k = 0; k < POINTS_PER_PHASE; k++)
			parts->times[i * POINTS_PER_PHASE + k] = (double)i + (double)k / (POINTS_PER_PHASE - 1);
	}
	/* Label the highest point. */
	size_t highest = 0;
	for (size_t i = 1; i < points * shown; i++)
		highest = parts->values[i] > parts->values[highest] ? i : highest;
	parts->mark = (struct tdm_plot_mark){ "peak", parts->times[highest % points], parts->values[highest] };
}

/* Moves the runs that are drawn to the front of *chosen. */
static int draw_time(const struct chosen *chosen, const struct tdm_phases_picture *picture, const struct tdm_term *term,
	struct tdm_buf *out, struct tdm_phases_left_out *left_out, struct tdm_diag *diag)
{
	static const uint32_t colours[] = { 0x4da6b8, 0xe38a42, 0x7a6ff0, 0xd6618f, 0x5b8c3e, 0x8a6d3b, 0x2b5c9e,
		0xc9b037, 0xa33b3b, 0x2bb673, 0x9b59b6, 0x6c757d };
	const struct tdm_phase_run *first = chosen->results[0]->run;
	size_t points = first->phase_count * POINTS_PER_PHASE, shown = 0;
	if (first->phase_count == 0 || first->phase_count > TIME_PHASES_MAX)
		return tdm_diag_set(
			diag, -EINVAL, 0, 0, "nothing to draw: a run of 1 to %d phases is needed", TIME_PHASES_MAX);
	size_t lines = chosen->count < TDM_PHASES_LINES_MAX ? chosen->count : TDM_PHASES_LINES_MAX;
	struct time_parts parts = { .times = malloc(points * sizeof *parts.times),
		.values = malloc(points * lines * sizeof *parts.values),
		.bands = malloc(first->phase_count * sizeof *parts.bands),
		.series = malloc(lines * sizeof *parts.series) };
	int err = -ENOMEM;
	if (parts.times == NULL || parts.values == NULL || parts.bands == NULL || parts.series == NULL) {
		tdm_diag_set(diag, err, 0, 0, "out of memory for the chart");
		goto done;
	}
	for (size_t i = 0; i < chosen->count; i++) {
		const struct tdm_phase_run *run = chosen->results[i]->run;
		bool other = !has_phases_of(run, first);
		if (other || shown == lines) {
			left_out->other_phases += other;
			left_out->too_many += !other;
			continue;
		}
		chosen->results[shown] = chosen->results[i];
		trace_run(run, parts.values + shown * points);
		parts.series[shown] = (struct tdm_plot_series){ chosen->names[i],
			colours[shown % (sizeof colours / sizeof *colours)], parts.values + shown * points };
		shown++;
	}
	fill_time(&parts, first, points, shown);
	struct tdm_scene scene = { .kind = TDM_CHART_TIME,
		.title = picture->title,
		.y_label = "DRAM in use",
		.unit = TDM_PLOT_MIB,
		.no_x_ticks = true,
		.series = parts.series,
		.series_count = shown,
		.times = parts.times,
		.point_count = points,
		.bands = parts.bands,
		.band_count = first->phase_count,
		.marks = &parts.mark,
		.mark_count = 1 };
	char note[NOTE_CAP];
	set_limit(&scene, &(struct chosen){ .results = chosen->results, .count = shown }, NULL, note, sizeof note);
	err = show(&scene, picture, term, out, diag);
done:
	free(parts.times);
	free(parts.values);
	free(parts.bands);
	free(parts.series);
	return err;
}

int tdm_phases_draw(const struct tdm_phases_report *report, const struct tdm_phases_picture *picture,
	const struct tdm_term *term, struct tdm_buf *out, struct tdm_phases_left_out *left_out, struct tdm_diag *diag)
{
	struct chosen chosen;
	*left_out = (struct tdm_phases_left_out){ 0 };
	if (choose(report, &chosen, &left_out->no_peak) != 0)
		return tdm_diag_set(diag, -ENOMEM, 0, 0, "out of memory for the chart");
	int err;
	if (chosen.count == 0)
		err = tdm_diag_set(diag, -EINVAL, 0, 0, "nothing to draw: no run has a peak");
	else if (picture->chart == TDM_PHASES_CHART_PEAK)
		err = draw_peak(&chosen, picture, term, out, diag);
	else
		err = draw_time(&chosen, picture, term, out, left_out, diag);
	chosen_done(&chosen);
	return err;
}
