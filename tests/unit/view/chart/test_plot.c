/* Charts: the structure of the SVG, pixels of the PNG, the text for terminals, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/err.h"
#include "base/file.h"
#include "view/chart/drawing.h"
#include "view/chart/plot.h"

#include "plot_scenes.h"

#include <cairo/cairo.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Two runs: one below its limit, one above it; the second has a part that is unknown and one below 0. */
static const double other[] = { 25.18 * MB, 0 }, model[] = { 1848.93 * MB, 1848.93 * MB };
static const double gradients[] = { 2513.69 * MB, NAN }, optimizer[] = { 3697.9 * MB, 3697.9 * MB };
static const double activations[] = { 192.95 * MB, -1 }, totals[] = { 8278.65 * MB, 15666.65 * MB };
static const struct tdm_plot_series parts[] = {
	{ "Other", 0xcccccc, other },
	{ "Model", 0x4da6b8, model },
	{ "Gradients", 0xe789ab, gradients },
	{ "Optimizer", 0xcec0fa, optimizer },
	{ "Activations", 0xe38a42, activations },
};
static const char *const runs[] = { "memory <efficient>", "default & long" };
static const struct tdm_scene stack = {
	.kind = TDM_CHART_STACK,
	.title = "Two \"runs\"",
	.unit = TDM_PLOT_BYTES,
	.series = parts,
	.series_count = 5,
	.columns = runs,
	.column_count = 2,
	.totals = totals,
	.limit_name = "Device memory",
	.limit = 12 * 1024 * MB,
};

static const struct tdm_scene *const scenes[] = { &stack, &over_time, &map, &heat };

static struct tdm_buf rendered(const struct tdm_scene *scene, enum tdm_plot_format format, double scale)
{
	struct tdm_buf out;
	struct tdm_diag diag = { 0 };
	tdm_buf_init(&out);
	assert_int_equal(
		tdm_plot_render(scene, format,
			&(struct tdm_plot_options){ .width = 800, .height = 450, .scale = scale }, &out, &diag),
		0);
	return out;
}

static void svg_of_a_stack_has_its_parts_texts_and_colours(void **state)
{
	(void)state;
	struct tdm_buf svg = rendered(&stack, TDM_PLOT_SVG, 1);
	/* Five parts of the first column, two of the second: nothing for 0, for what is unknown or below 0. */
	assert_int_equal(count_of(&svg, "<g class=\"part\">"), 7);
	assert_int_equal(count_of(&svg, "<g class=\"column\">"), 2);
	assert_int_equal(count_of(&svg, "<g class=\"legend\">"), 6);
	assert_int_equal(count_of(&svg, "<g class=\"limit\">"), 1);
	assert_int_equal(count_of(&svg, "fill=\"#4da6b8\""), 3);
	assert_int_equal(count_of(&svg, "fill=\"#e38a42\""), 2);
	assert_int_equal(count_of(&svg, "fill=\"#cccccc\""), 2);
	assert_int_equal(count_of(&svg, "stroke=\"#ff0000\""), 2);
	assert_int_equal(count_of(&svg, "stroke-dasharray"), 2);
	assert_has(&svg, ">Two \"runs\"</text>");
	assert_has(&svg, ">Total 8.08 GiB</text>");
	assert_has(&svg, ">67.4 % of the limit</text>");
	assert_has(&svg, ">Total 15.3 GiB</text>");
	assert_has(&svg, ">3.3 GiB too much</text>");
	assert_has(&svg, ">193 MiB</text>");
	assert_has(&svg, ">12 GiB</text>");
	assert_has(&svg, ">memory &lt;efficient&gt;</text>");
	assert_has(&svg, ">default &amp; long</text>");
	assert_has(&svg, "<title>Model: 1.81 GiB (memory &lt;efficient&gt;)</title>");
	assert_has(&svg, "viewBox=\"0 0 800 450\"");
	tdm_buf_done(&svg);
}

/* Runs on different devices: each column is judged by its own limit, and one without a limit by none. */
static void columns_may_have_their_own_limits(void **state)
{
	(void)state;
	double limits[] = { 8 * 1024 * MB, 32 * 1024 * MB };
	struct tdm_scene scene = stack;
	scene.limits = limits;
	struct tdm_buf svg = rendered(&scene, TDM_PLOT_SVG, 1);
	assert_int_equal(count_of(&svg, "<g class=\"legend\">"), 6);
	assert_int_equal(count_of(&svg, "<g class=\"limit\">"), 2);
	assert_int_equal(count_of(&svg, "stroke=\"#ff0000\""), 3);
	assert_has(&svg, ">86.6 MiB too much</text>");
	assert_has(&svg, ">47.8 % of 32 GiB</text>");
	assert_int_equal(count_of(&svg, ">12 GiB</text>"), 0);
	tdm_buf_done(&svg);

	limits[1] = NAN;
	svg = rendered(&scene, TDM_PLOT_SVG, 1);
	assert_int_equal(count_of(&svg, "<g class=\"limit\">"), 1);
	assert_int_equal(count_of(&svg, "% of"), 0);
	tdm_buf_done(&svg);
}

static void svg_of_the_other_charts(void **state)
{
	(void)state;
	struct tdm_buf svg = rendered(&over_time, TDM_PLOT_SVG, 1);
	assert_int_equal(count_of(&svg, "<g class=\"band\">"), 2);
	assert_int_equal(count_of(&svg, "<g class=\"series\">"), 1);
	assert_has(&svg, ">FORWARD</text>");
	assert_has(&svg, ">peak 900 MiB</text>");
	assert_has(&svg, ">1000 MiB</text>");
	assert_has(&svg, ">3.0 s</text>");
	tdm_buf_done(&svg);

	svg = rendered(&map, TDM_PLOT_SVG, 1);
	assert_int_equal(count_of(&svg, "<g class=\"row\">"), 2);
	assert_int_equal(count_of(&svg, "<g class=\"span\">"), 3);
	assert_int_equal(count_of(&svg, "fill=\"#445566\""), 2);
	assert_has(&svg, "<title>weights: 256 B at bank 0 + 0 B</title>");
	assert_has(&svg, "<title>two: 256 B at bank 0 + 512 B</title>");
	tdm_buf_done(&svg);

	svg = rendered(&heat, TDM_PLOT_SVG, 1);
	assert_int_equal(count_of(&svg, "<g class=\"cell\">"), 3);
	assert_has(&svg, "<title>1, 1: 100</title>");
	assert_has(&svg, "fill=\"#fff7e6\"");
	assert_has(&svg, "fill=\"#7a0127\"");
	tdm_buf_done(&svg);
}

/* Spans that are narrower than a pixel: the pixel has the colour of the one that takes most of it, not of the last. */
static void a_pixel_has_the_colour_of_what_is_largest(void **state)
{
	(void)state;
	enum { PAIRS = 4000 };
	static struct tdm_plot_span pairs[2 * PAIRS];
	for (size_t i = 0; i < PAIRS; i++) {
		double at = (double)i * 10;
		pairs[2 * i] = (struct tdm_plot_span){ at, at + 8, 0, "large" };
		pairs[2 * i + 1] = (struct tdm_plot_span){ at + 8, at + 10, 1, "small" };
	}
	struct tdm_plot_row row = { "bank 0", pairs, 2 * PAIRS };
	struct tdm_scene scene = map;
	scene.rows = &row;
	scene.row_count = 1;
	scene.map_to = PAIRS * 10;
	struct tdm_buf svg = rendered(&scene, TDM_PLOT_SVG, 1);
	assert_int_equal(count_of(&svg, "fill=\"#445566\""), 1); /* in the legend */
	assert_true(count_of(&svg, "fill=\"#112233\"") > 300);
	tdm_buf_done(&svg);
}

struct stream {
	const struct tdm_buf *from;
	size_t at;
};

static cairo_status_t read_stream(void *closure, unsigned char *data, unsigned len)
{
	struct stream *stream = closure;
	if (len > stream->from->len - stream->at)
		return CAIRO_STATUS_READ_ERROR;
	memcpy(data, stream->from->data + stream->at, len);
	stream->at += len;
	return CAIRO_STATUS_SUCCESS;
}

/* Pixels of that colour. */
static size_t pixels_of(cairo_surface_t *image, uint32_t rgb)
{
	const unsigned char *data = cairo_image_surface_get_data(image);
	size_t count = 0;
	for (int y = 0; y < cairo_image_surface_get_height(image); y++)
		for (int x = 0; x < cairo_image_surface_get_width(image); x++) {
			uint32_t pixel;
			memcpy(&pixel, data + y * cairo_image_surface_get_stride(image) + x * 4, sizeof pixel);
			count += (pixel & 0xffffff) == rgb;
		}
	return count;
}

static uint32_t pixel_at(cairo_surface_t *image, int x, int y)
{
	uint32_t pixel;
	memcpy(&pixel, cairo_image_surface_get_data(image) + y * cairo_image_surface_get_stride(image) + x * 4,
		sizeof pixel);
	return pixel & 0xffffff;
}

static void png_has_the_size_and_the_colours(void **state)
{
	(void)state;
	struct tdm_buf png = rendered(&stack, TDM_PLOT_PNG, 2);
	cairo_surface_t *image = cairo_image_surface_create_from_png_stream(read_stream, &(struct stream){ &png, 0 });
	assert_int_equal(cairo_image_surface_get_width(image), 1600);
	assert_int_equal(cairo_image_surface_get_height(image), 900);
	assert_int_equal(pixel_at(image, 0, 0), 0xffffff);
	assert_int_equal(pixel_at(image, 1599, 899), 0xffffff);
	for (size_t i = 0; i < stack.series_count; i++)
		assert_true(pixels_of(image, parts[i].rgb) > 100);
	/* Areas are as the values: the optimizer has twice the model's. */
	double ratio = (double)pixels_of(image, 0xcec0fa) / (double)pixels_of(image, 0x4da6b8);
	assert_true(ratio > 1.8 && ratio < 2.2);
	assert_true(pixels_of(image, 0xff0000) > 500);
	cairo_surface_destroy(image);
	tdm_buf_done(&png);
}

static void the_same_scene_gives_the_same_bytes(void **state)
{
	(void)state;
	static const char *const magic[] = { "\x89PNG", "<?xml", "%PDF-" };
	for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++)
		for (int format = 0; format < TDM_PLOT_FORMATS; format++) {
			struct tdm_buf one = rendered(scenes[i], (enum tdm_plot_format)format, 1);
			struct tdm_buf two = rendered(scenes[i], (enum tdm_plot_format)format, 1);
			assert_int_equal(one.len, two.len);
			assert_memory_equal(one.data, two.data, one.len);
			assert_memory_equal(one.data, magic[format], strlen(magic[format]));
			tdm_buf_done(&one);
			tdm_buf_done(&two);
		}
}

/* Every size, also silly ones, and every count of columns. */
static void no_size_breaks_a_chart(void **state)
{
	(void)state;
	static const double sides[] = { TDM_PLOT_SIDE_MIN, 333, 2000 };
	for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++)
		for (size_t k = 0; k < 9; k++) {
			struct tdm_plot_options options = { sides[k % 3], sides[k / 3], 1 };
			struct tdm_buf out = { 0 };
			assert_int_equal(tdm_plot_render(scenes[i], TDM_PLOT_SVG, &options, &out, NULL), 0);
			assert_null(strstr(out.data, "nan"));
			assert_null(strstr(out.data, "width=\"-"));
			tdm_buf_done(&out);
		}
}

static void text_of_any_origin_stays_valid(void **state)
{
	(void)state;
	struct tdm_scene scene = stack;
	const char *bad[] = { "a\xff\xc3(\x01\xed\xa0\x80z", "" };
	scene.columns = bad;
	scene.title = "\xf4\x90\x80\x80";
	for (int format = 0; format < TDM_PLOT_FORMATS; format++) {
		struct tdm_buf out = rendered(&scene, (enum tdm_plot_format)format, 1);
		if (format == TDM_PLOT_SVG)
			assert_has(&out,
				">a\xef\xbf\xbd\xef\xbf\xbd(\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdz</text>");
		tdm_buf_done(&out);
	}
}

static void a_long_line_keeps_its_peaks(void **state)
{
	(void)state;
	enum { POINTS = 200000 };
	double *x = malloc(POINTS * sizeof *x), *y = malloc(POINTS * sizeof *y);
	for (size_t i = 0; i < POINTS; i++) {
		x[i] = (double)i;
		y[i] = i == 123456 ? 1000 : 1;
	}
	struct tdm_plot_series series = { "one", 0x010203, y };
	struct tdm_scene scene = {
		.kind = TDM_CHART_TIME, .series = &series, .series_count = 1, .times = x, .point_count = POINTS
	};
	struct tdm_buf with = rendered(&scene, TDM_PLOT_SVG, 1);
	assert_true(with.len < 200000);
	/* The highest point of the line (y points down) is where it was. */
	const char *at =
		strstr(strstr(with.data, "class=\"series\""), "<polyline points=\"") + strlen("<polyline points=\"");
	double left = strtod(at, NULL), high_x = 0, high_y = INFINITY, right = 0;
	while (*at != '"') {
		char *end;
		right = strtod(at, &end);
		double down = strtod(end + 1, &end);
		if (down < high_y) {
			high_x = right;
			high_y = down;
		}
		at = *end == ' ' ? end + 1 : end;
	}
	assert_true(fabs((high_x - left) / (right - left) - 123456.0 / POINTS) < 0.002);
	assert_true(high_y < 150); /* all others are at the bottom, near 400 */
	tdm_buf_done(&with);
	free(x);
	free(y);
}

static void axes_are_round(void **state)
{
	(void)state;
	static const struct {
		double to;
		enum tdm_plot_unit unit;
		double end, step;
		const char *last;
	} cases[] = {
		{ 15.3 * 1024 * MB, TDM_PLOT_BYTES, 16 * 1024 * MB, 2 * 1024 * MB, "16 GiB" },
		{ 700 * MB, TDM_PLOT_BYTES, 700 * MB, 100 * MB, "700 MiB" },
		{ 3, TDM_PLOT_BYTES, 3, 1, "3 B" },
		{ 1.43 * MB, TDM_PLOT_BYTES, 1.6 * MB, 0.2 * MB, "1.6 MiB" },
		{ 0.0042, TDM_PLOT_SECONDS, 0.005, 0.001, "5 ms" },
		{ 90, TDM_PLOT_SECONDS, 100, 20, "100 s" },
		{ 0.97, TDM_PLOT_PERCENT, 1, 0.2, "100 %" },
		{ 0, TDM_PLOT_BYTES, 1, 1, "1 B" },
		{ NAN, TDM_PLOT_NUMBER, 1, 1, "1" },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tdm_axis axis = tdm_axis_make(0, cases[i].to, cases[i].unit, 8 - 2 * (cases[i].to < 100));
		assert_true(fabs(axis.to - cases[i].end) < 1e-9 * cases[i].end);
		assert_true(fabs(axis.step - cases[i].step) < 1e-9 * cases[i].step);
		assert_string_equal(tdm_axis_label(&axis, axis.to).text, cases[i].last);
	}
	for (double to = 1; to < 1e18; to *= 1.37)
		for (size_t ticks = 0; ticks < 40; ticks++) {
			struct tdm_axis axis = tdm_axis_make(0, to, TDM_PLOT_BYTES, ticks);
			assert_true(axis.count >= 2 && axis.count <= TDM_AXIS_TICKS_MAX && axis.to >= to * 0.999999);
		}
}

static void values_have_three_digits(void **state)
{
	(void)state;
	static const struct {
		double value;
		enum tdm_plot_unit unit;
		const char *text;
	} cases[] = {
		{ 1848.93 * MB, TDM_PLOT_BYTES, "1.81 GiB" },
		{ 12 * 1024 * MB, TDM_PLOT_BYTES, "12 GiB" },
		{ 100 * MB, TDM_PLOT_BYTES, "100 MiB" },
		{ 25.18 * MB, TDM_PLOT_BYTES, "25.2 MiB" },
		{ 7, TDM_PLOT_BYTES, "7 B" },
		{ 0, TDM_PLOT_BYTES, "0 B" },
		{ NAN, TDM_PLOT_BYTES, "unknown" },
		{ 0.25, TDM_PLOT_SECONDS, "250 ms" },
		{ 8278.65 * MB, TDM_PLOT_MIB, "8,279 MiB" },
		{ 1234567 * MB, TDM_PLOT_MIB, "1,234,567 MiB" },
		{ -12288 * MB, TDM_PLOT_MIB, "-12,288 MiB" },
		{ 192.95 * MB, TDM_PLOT_MIB, "193 MiB" },
		{ 25.18 * MB, TDM_PLOT_MIB, "25.2 MiB" },
		{ 0.001 * MB, TDM_PLOT_MIB, "0 MiB" },
		{ 1e300, TDM_PLOT_NUMBER, "1e+291 G" },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		assert_string_equal(tdm_plot_value(cases[i].unit, cases[i].value).text, cases[i].text);
	}
}

static void terminals_get_text(void **state)
{
	(void)state;
	struct tdm_term term = { .colour = false, .utf8 = false, .width = 60 };
	struct tdm_buf out = { 0 };
	assert_int_equal(tdm_plot_print(&stack, &term, &out, NULL), 0);
	assert_string_equal(out.data, "Two \"runs\"\n"
				      "# Other  = Model  + Gradients  o Optimizer  - Activations\n"
				      "memory <efficient>  ===++++oooooo-      |           8.08 GiB\n"
				      "default & long      ===oooooo           |           15.3 GiB\n"
				      "| Device memory: 12 GiB\n");
	tdm_buf_clear(&out);
	assert_int_equal(tdm_plot_print(&map, &term, &out, NULL), 0);
	assert_string_equal(out.data, "# one  = two\n"
				      "bank 0 [#############............=============............]\n"
				      "bank 1 [#############.....................................]\n"
				      "        0 B                                          1 KiB\n");
	tdm_buf_clear(&out);
	assert_int_equal(tdm_plot_print(&heat, &term, &out, NULL), 0);
	assert_string_equal(out.data, "       0   1\n   0   0  50\n   1   - 100\nin % of 100\n");
	tdm_buf_clear(&out);
	assert_int_equal(tdm_plot_print(&over_time, &term, &out, NULL), 0);
	assert_has(&out, "|FORWARD");
	assert_has(&out, "|BACKWARD");
	tdm_buf_done(&out);
}

static void what_cannot_be_drawn_is_said(void **state)
{
	(void)state;
	struct tdm_scene none[] = { { .kind = TDM_CHART_STACK }, { .kind = TDM_CHART_TIME }, { .kind = TDM_CHART_MAP },
		{ .kind = TDM_CHART_HEAT } };
	static const char *const names[] = { "stack", "time", "map", "heat" };
	struct tdm_diag diag = { 0 };
	struct tdm_buf out = { 0 };
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(tdm_plot_render(&none[i], TDM_PLOT_SVG, NULL, &out, &diag), -EINVAL);
		assert_non_null(strstr(diag.text, names[i]));
		assert_int_equal(out.len, 0);
	}
	struct tdm_scene wrong = map;
	wrong.series_count = 1; /* a span refers to the second */
	assert_int_equal(tdm_plot_render(&wrong, TDM_PLOT_SVG, NULL, &out, &diag), -EINVAL);
	struct tdm_plot_options options = { 10, 10, 1 };
	assert_int_equal(tdm_plot_render(&map, TDM_PLOT_PNG, &options, &out, &diag), -ERANGE);
	options = (struct tdm_plot_options){ 1000, 1000, 1e6 };
	assert_int_equal(tdm_plot_render(&map, TDM_PLOT_PNG, &options, &out, &diag), -ERANGE);
	tdm_buf_done(&out);
}

static void files_are_put_in_place_at_once(void **state)
{
	(void)state;
	char dir[] = "/tmp/tidemark-plot-XXXXXX", path[64];
	struct tdm_diag diag = { 0 };
	struct tdm_buf text;
	struct stat st;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof path, "%s/chart.jpeg", dir);
	assert_int_equal(tdm_plot_write(&stack, path, NULL, &diag), TDM_EREFUSED);
	assert_non_null(strstr(diag.text, ".png, .svg or .pdf"));
	snprintf(path, sizeof path, "%s/none/chart.svg", dir);
	assert_int_equal(tdm_plot_write(&stack, path, NULL, &diag), -ENOENT);
	assert_non_null(strstr(diag.text, path));
	snprintf(path, sizeof path, "%s/chart.SVG", dir);
	assert_int_equal(tdm_plot_write(&stack, path, NULL, &diag), 0);
	assert_int_equal(chmod(path, 0640), 0);
	assert_int_equal(tdm_plot_write(&map, path, NULL, &diag), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0640);
	tdm_buf_init(&text);
	assert_int_equal(tdm_file_read(path, 1 << 20, &text), 0);
	assert_has(&text, "class=\"row\"");
	tdm_buf_done(&text);

	/* A link stays a link. */
	char link[64];
	snprintf(link, sizeof link, "%s/link.svg", dir);
	assert_int_equal(symlink("chart.SVG", link), 0);
	assert_int_equal(tdm_plot_write(&heat, link, NULL, &diag), 0);
	assert_int_equal(lstat(link, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	unlink(link);
	unlink(path);
	assert_int_equal(rmdir(dir), 0); /* and nothing else is left */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(svg_of_a_stack_has_its_parts_texts_and_colours),
		cmocka_unit_test(columns_may_have_their_own_limits),
		cmocka_unit_test(svg_of_the_other_charts),
		cmocka_unit_test(a_pixel_has_the_colour_of_what_is_largest),
		cmocka_unit_test(png_has_the_size_and_the_colours),
		cmocka_unit_test(the_same_scene_gives_the_same_bytes),
		cmocka_unit_test(no_size_breaks_a_chart),
		cmocka_unit_test(text_of_any_origin_stays_valid),
		cmocka_unit_test(a_long_line_keeps_its_peaks),
		cmocka_unit_test(axes_are_round),
		cmocka_unit_test(values_have_three_digits),
		cmocka_unit_test(terminals_get_text),
		cmocka_unit_test(what_cannot_be_drawn_is_said),
		cmocka_unit_test(files_are_put_in_place_at_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
