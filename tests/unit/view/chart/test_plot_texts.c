/* How charts look: readable texts, lines that cross none of them, any number and size of columns and values. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "view/chart/drawing.h"
#include "view/chart/drawing.h"

#include "plot_scenes.h"

#include <math.h>
#include <stdlib.h>

static const char *const part_names[] = { "Other", "Model", "Gradients", "Optimizer", "Activations" };
static const uint32_t part_colours[] = { 0xcccccc, 0x4da6b8, 0xe789ab, 0xcec0fa, 0xe38a42 };
static const char *const runs[] = { "a run" };
/* Without its series. */
static const struct tdm_scene stack = {
	.kind = TDM_CHART_STACK,
	.title = "Some runs",
	.y_label = "Peak DRAM",
	.unit = TDM_PLOT_BYTES,
	.columns = runs,
	.column_count = 1,
	.limit_name = "Device memory",
	.limit = 12 * 1024 * MB,
};

static struct tdm_buf rendered(const struct tdm_scene *scene)
{
	struct tdm_buf out;
	struct tdm_diag diag = { 0 };
	tdm_buf_init(&out);
	assert_int_equal(tdm_plot_render(scene, TDM_PLOT_SVG, &(struct tdm_plot_options){ .width = 800, .height = 450 },
				 &out, &diag),
		0);
	return out;
}

/* A text of an SVG: the box of its letters, from their base line up. */
struct written {
	struct tdm_box box;
	char text[96];
};

static double attribute(const char *element, const char *name)
{
	char wanted[32];
	snprintf(wanted, sizeof wanted, " %s=\"", name);
	const char *at = strstr(element, wanted), *end = strchr(element, '>');
	assert_true(at != NULL && at < end);
	return strtod(at + strlen(wanted), NULL);
}

static bool says(const char *element, const char *what)
{
	const char *at = strstr(element, what);
	return at != NULL && at < strchr(element, '>');
}

static size_t read_texts(const struct tdm_buf *svg, struct written *texts, size_t cap)
{
	struct tdm_ruler *ruler = tdm_ruler_new();
	size_t count = 0;
	assert_non_null(ruler);
	for (const char *at = svg->data; (at = strstr(at, "<text ")) != NULL; at++) {
		struct written *w = &texts[count++];
		assert_true(count <= cap);
		const char *begin = strchr(at, '>') + 1;
		snprintf(w->text, sizeof w->text, "%.*s", (int)(strchr(begin, '<') - begin), begin);
		double size = attribute(at, "font-size"), x = attribute(at, "x");
		double width = tdm_ruler_width(ruler, w->text, size, says(at, "font-weight=\"bold\""));
		double left = says(at, "\"middle\"") ? x - width / 2 : says(at, "\"end\"") ? x - width : x;
		w->box = (struct tdm_box){ left, attribute(at, "y") - size * 0.72, width, size * 0.72 };
	}
	tdm_ruler_free(ruler);
	return count;
}

/* Every text is inside the picture, and none touches another. */
static void assert_readable(const struct tdm_scene *scene, double width, double height)
{
	static struct written texts[2048];
	struct tdm_buf svg = { 0 };
	assert_int_equal(tdm_plot_render(scene, TDM_PLOT_SVG,
				 &(struct tdm_plot_options){ .width = width, .height = height }, &svg, NULL),
		0);
	size_t count = read_texts(&svg, texts, sizeof texts / sizeof *texts);
	for (size_t i = 0; i < count; i++) {
		struct tdm_box a = texts[i].box;
		if (a.x < 0 || a.y < 0 || a.x + a.w > width || a.y + a.h > height)
			fail_msg("%.0f x %.0f: '%s' is not inside", width, height, texts[i].text);
		for (size_t k = 0; k < i; k++) {
			struct tdm_box b = texts[k].box;
			if (a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h)
				fail_msg("%.0f x %.0f: '%s' and '%s' touch", width, height, texts[k].text,
					texts[i].text);
		}
	}
	tdm_buf_done(&svg);
}

enum { SWEEP = 30 };

static void no_text_touches_another(void **state)
{
	(void)state;
	static const double sides[][2] = { { 160, 160 }, { 300, 200 }, { 500, 900 }, { 640, 360 }, { 1200, 675 },
		{ 1600, 900 }, { 4500, 675 } };
	static const size_t counts[] = { 1, 2, 5, 8, SWEEP };
	double values[5][SWEEP], sums[SWEEP];
	char names[SWEEP][40];
	const char *columns[SWEEP];
	struct tdm_plot_series series[5];
	struct tdm_scene scene = stack;
	uint32_t random = 1;
	for (size_t i = 0; i < SWEEP; i++) {
		snprintf(names[i], sizeof names[i], "run number %zu of the sweep", i);
		columns[i] = names[i];
	}
	for (size_t part = 0; part < 5; part++)
		series[part] = (struct tdm_plot_series){ part_names[part], part_colours[part], values[part] };
	scene.series = series;
	scene.series_count = 5;
	scene.columns = columns;
	scene.totals = sums;
	for (int round = 0; round < 20; round++) {
		for (size_t i = 0; i < SWEEP; i++) {
			double scale = round % 2 == 0 || i % 3 != 0 ? 4096 * MB : 64 * MB;
			sums[i] = 0;
			for (size_t part = 0; part < 5; part++) {
				random = random * 1664525 + 1013904223;
				values[part][i] = scale * pow((random >> 8) / 0x1p24, 3);
				sums[i] += values[part][i];
			}
			if (round % 5 == 4)
				sums[i] *= 0.6; /* the parts are larger than the whole */
		}
		for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
			scene.column_count = counts[c];
			for (size_t s = 0; s < sizeof sides / sizeof *sides; s++)
				assert_readable(&scene, sides[s][0], sides[s][1]);
		}
	}
	for (size_t s = 0; s < sizeof sides / sizeof *sides; s++) {
		assert_readable(&over_time, sides[s][0], sides[s][1]);
		assert_readable(&map, sides[s][0], sides[s][1]);
		assert_readable(&heat, sides[s][0], sides[s][1]);
	}
}

/* Every heat map says what its colours mean: a label in each cell, or a scale with at least two figures. */
static void a_grid_of_any_shape_has_numbers_or_a_scale(void **state)
{
	(void)state;
	static const size_t grids[][2] = { { 1, 1 }, { 12, 1 }, { 1, 12 }, { 8, 8 }, { 17, 12 }, { 32, 32 },
		{ 32, 1 } };
	static const double sides[][2] = { { 160, 160 }, { 300, 200 }, { 200, 600 }, { 640, 400 }, { 1200, 800 } };
	static double values[32 * 32];
	static struct written texts[2048];
	struct tdm_scene scene = heat;
	for (size_t i = 0; i < sizeof values / sizeof *values; i++)
		values[i] = (double)(i * 1000 % 1400000);
	scene.title = "A title";
	scene.subtitle = "L1 in use, of 1464 KiB in each core";
	scene.unit = TDM_PLOT_BYTES;
	scene.cells = values;
	scene.cell_max = 1499136;
	for (size_t g = 0; g < sizeof grids / sizeof *grids; g++)
		for (size_t s = 0; s < sizeof sides / sizeof *sides; s++) {
			struct tdm_buf svg = { 0 };
			scene.grid_width = grids[g][0];
			scene.grid_height = grids[g][1];
			assert_readable(&scene, sides[s][0], sides[s][1]);
			assert_int_equal(
				tdm_plot_render(&scene, TDM_PLOT_SVG,
					&(struct tdm_plot_options){ .width = sides[s][0], .height = sides[s][1] }, &svg,
					NULL),
				0);
			assert_has(&svg, "<g class=\"scale\">");
			assert_has(&svg, ">0</text>");
			size_t figures = 0, count = read_texts(&svg, texts, sizeof texts / sizeof *texts);
			for (size_t i = 0; i < count; i++)
				figures += strstr(texts[i].text, "iB") != NULL && strchr(texts[i].text, ',') == NULL;
			if (figures == 0)
				fail_msg("%zu x %zu in %.0f x %.0f: no figure", grids[g][0], grids[g][1], sides[s][0],
					sides[s][1]);
			tdm_buf_done(&svg);
		}
}

/* A long legend, a title and a subtitle leave half of the picture to the map. */
static void a_small_map_has_half_of_the_picture(void **state)
{
	(void)state;
	enum { ROWS = 16, NAMES = 8 };
	static const double sides[][2] = { { 160, 160 }, { 300, 200 }, { 400, 160 }, { 640, 400 }, { 1200, 800 } };
	struct tdm_plot_row rows[ROWS];
	struct tdm_plot_series names[NAMES];
	struct tdm_scene scene = map;
	for (size_t i = 0; i < ROWS; i++)
		rows[i] = (struct tdm_plot_row){ "0x3bc50004", spans, 2 };
	for (size_t i = 0; i < NAMES; i++)
		names[i] = (struct tdm_plot_series){ "layers.*.attention.q.weight", 0x112233, NULL };
	scene.title = "A bank";
	scene.subtitle = "One bank of dram: 204.66 MiB of 1019.00 MiB used";
	scene.x_label = "bytes from the beginning of the row";
	scene.rows = rows;
	scene.row_count = ROWS;
	scene.series = names;
	scene.series_count = NAMES;
	for (size_t s = 0; s < sizeof sides / sizeof *sides; s++) {
		struct tdm_buf svg;
		double top = INFINITY, bottom = 0;
		tdm_buf_init(&svg);
		assert_int_equal(
			tdm_plot_render(&scene, TDM_PLOT_SVG,
				&(struct tdm_plot_options){ .width = sides[s][0], .height = sides[s][1] }, &svg, NULL),
			0);
		for (const char *at = svg.data; (at = strstr(at, "<g class=\"row\">")) != NULL; at++) {
			const char *box = strstr(at, "<rect ");
			assert_non_null(box);
			top = fmin(top, attribute(box, "y"));
			bottom = fmax(bottom, attribute(box, "y") + attribute(box, "height"));
		}
		if (bottom - top < sides[s][1] * 0.45)
			fail_msg("%.0f x %.0f: the map has %.0f pixels", sides[s][0], sides[s][1], bottom - top);
		assert_readable(&scene, sides[s][0], sides[s][1]);
		tdm_buf_done(&svg);
	}
}

static double y_of(const struct tdm_buf *svg, const char *text)
{
	char wanted[64];
	snprintf(wanted, sizeof wanted, ">%s</text>", text);
	const char *at = strstr(svg->data, wanted);
	if (at == NULL)
		fail_msg("no '%s' in:\n%s", text, svg->data);
	while (strncmp(at, "<text ", 6) != 0)
		at--;
	return attribute(at, "y");
}

static double limit_y(const struct tdm_buf *svg)
{
	const char *at = strstr(svg->data, "<g class=\"limit\">");
	assert_non_null(at);
	at = strstr(at, "points=\"");
	assert_non_null(at);
	return strtod(strchr(at, ',') + 1, NULL);
}

/* The limit crosses the topmost part near its middle: its label is beside the line or beside the column. */
static void no_line_runs_through_a_label(void **state)
{
	(void)state;
	const double heights[] = { 100 * MB, 60 * MB, 12 * MB };
	for (size_t i = 0; i < 3; i++) {
		double base = 1000 * MB, top = heights[i];
		struct tdm_plot_series two[] = { { "base", 0xcccccc, &base }, { "top", 0xe38a42, &top } };
		struct tdm_scene scene = stack;
		scene.series = two;
		scene.series_count = 2;
		scene.limit = base + top / 2;
		struct tdm_buf svg = rendered(&scene);
		double y = y_of(&svg, tdm_plot_value(TDM_PLOT_BYTES, top).text), line_y = limit_y(&svg);
		bool beside = strstr(svg.data, "<polyline") != NULL && count_of(&svg, "stroke=\"#9aa5b1\"") > 1;
		if (!beside && line_y < y && line_y > y - 8)
			fail_msg("the line at %.1f runs through '%s' at %.1f", line_y,
				tdm_plot_value(TDM_PLOT_BYTES, top).text, y);
		tdm_buf_done(&svg);
	}
}

static void parts_larger_than_the_whole_are_said(void **state)
{
	(void)state;
	const double whole = 500 * MB, two_parts[] = { 400 * MB, 300 * MB };
	struct tdm_plot_series two[] = { { "a", 0xcccccc, &two_parts[0] }, { "b", 0xe38a42, &two_parts[1] } };
	struct tdm_scene scene = stack;
	scene.series = two;
	scene.series_count = 2;
	scene.totals = &whole;
	struct tdm_buf svg = rendered(&scene);
	assert_has(&svg, ">Total 500 MiB</text>");
	assert_has(&svg, ">at the line; parts sum to 700 MiB</text>");
	tdm_buf_done(&svg);
}

/* Where a name has no room for a letter, only some of them are there. */
static void many_columns_have_some_names(void **state)
{
	(void)state;
	enum { MANY = 300 };
	static char names[MANY][8];
	static const char *columns[MANY];
	static double values[MANY];
	for (size_t i = 0; i < MANY; i++) {
		snprintf(names[i], sizeof names[i], "r%zu", i);
		columns[i] = names[i];
		values[i] = 1000 * MB;
	}
	struct tdm_plot_series one = { "all", 0xcccccc, values };
	struct tdm_scene scene = stack;
	scene.series = &one;
	scene.series_count = 1;
	scene.columns = columns;
	scene.column_count = MANY;
	assert_readable(&scene, 4800, 675);
	struct tdm_buf svg = rendered(&scene);
	assert_int_equal(count_of(&svg, ">\xe2\x80\xa6</text>"), 0);
	assert_has(&svg, ">r0</text>");
	tdm_buf_done(&svg);
}

/* Memory that was there before may be freed: the axis begins where the values do. */
static void what_is_below_zero_is_in_the_picture(void **state)
{
	(void)state;
	const double values[] = { 0, 500 * MB, -700 * MB, NAN };
	struct tdm_plot_series one = { "DRAM", 0x336699, values };
	struct tdm_scene scene = over_time;
	scene.series = &one;
	scene.steps = false;
	scene.mark_count = 0;
	struct tdm_buf svg = rendered(&scene);
	assert_has(&svg, ">-800 MiB</text>");
	double ground = y_of(&svg, "-800 MiB");
	const char *at = strstr(svg.data, "<polyline points=\"");
	while (at != NULL && !says(at, "#336699"))
		at = strstr(at + 1, "<polyline points=\"");
	assert_non_null(at);
	/* Three points: the fourth is not known, and not drawn as 0. */
	size_t points = 0;
	const char *end = strstr(at, "\" fill");
	for (at = strchr(at, '"') + 1; at < end; points++) {
		double y = strtod(strchr(at, ',') + 1, NULL);
		assert_true(y > 0 && y < ground);
		const char *next = strchr(at, ' ');
		at = next != NULL && next < end ? next + 1 : end;
	}
	assert_int_equal(points, 3);
	tdm_buf_done(&svg);

	struct tdm_buf text = { 0 };
	assert_int_equal(
		tdm_plot_print(&scene, &(struct tdm_term){ .colour = false, .utf8 = true, .width = 80 }, &text, NULL),
		0);
	assert_has(&text, "not drawn: values below 0, down to -700 MiB");
	tdm_buf_done(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_text_touches_another),
		cmocka_unit_test(a_grid_of_any_shape_has_numbers_or_a_scale),
		cmocka_unit_test(a_small_map_has_half_of_the_picture),
		cmocka_unit_test(no_line_runs_through_a_label),
		cmocka_unit_test(parts_larger_than_the_whole_are_said),
		cmocka_unit_test(many_columns_have_some_names),
		cmocka_unit_test(what_is_below_zero_is_in_the_picture),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
