/* Scenes to draw, and checks of the drawings, for tests of charts. */
#ifndef TDM_TESTS_PLOT_SCENES_H
#define TDM_TESTS_PLOT_SCENES_H

#include <math.h>
#include <string.h>

#include "base/buf.h"
#include "view/chart/plot.h"

#define MB 0x1p20

static const double times[] = { 0, 1, 2, 3 }, held[] = { 0, 100 * MB, 900 * MB, 200 * MB };
static const struct tdm_plot_series line[] = { { "DRAM", 0x336699, held } };
static const struct tdm_plot_band bands[] = { { "FORWARD", 0, 2 }, { "BACKWARD", 2, 3 } };
static const struct tdm_plot_mark marks[] = { { "peak", 2, 900 * MB } };
static const struct tdm_scene over_time = {
	.kind = TDM_CHART_TIME,
	.unit = TDM_PLOT_BYTES,
	.x_unit = TDM_PLOT_SECONDS,
	.series = line,
	.series_count = 1,
	.times = times,
	.point_count = 4,
	.steps = true,
	.bands = bands,
	.band_count = 2,
	.marks = marks,
	.mark_count = 1,
};

static const struct tdm_plot_span spans[] = { { 0, 256, 0, "weights" }, { 512, 768, 1, NULL } };
static const struct tdm_plot_row banks[] = { { "bank 0", spans, 2 }, { "bank 1", spans, 1 } };
static const struct tdm_plot_series owners[] = { { "one", 0x112233, NULL }, { "two", 0x445566, NULL } };
static const struct tdm_scene map = {
	.kind = TDM_CHART_MAP,
	.unit = TDM_PLOT_BYTES,
	.series = owners,
	.series_count = 2,
	.rows = banks,
	.row_count = 2,
	.map_from = 0,
	.map_to = 1024,
};

static const double cores[] = { 0, 50, NAN, 100 };
static const struct tdm_scene heat = {
	.kind = TDM_CHART_HEAT,
	.unit = TDM_PLOT_NUMBER,
	.cells = cores,
	.grid_width = 2,
	.grid_height = 2,
};

static inline size_t count_of(const struct tdm_buf *text, const char *needle)
{
	size_t count = 0;
	for (const char *at = text->data; (at = strstr(at, needle)) != NULL; at += strlen(needle))
		count++;
	return count;
}

static inline void assert_has(const struct tdm_buf *text, const char *needle)
{
	if (strstr(text->data, needle) == NULL)
		fail_msg("no '%s' in:\n%s", needle, text->data);
}

#endif
