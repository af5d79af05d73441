#include "tui/graphs.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/duration.h"
#include "tui/gauge.h"

enum {
	COLS_MIN = 40,     /* of both */
	SCALE_COLUMNS = 5, /* "100%", and the line */
	QUARTER_ROWS = 9,  /* from this height on, quarters are marked too */
	MARGIN = 2,
	NAMES = 3, /* of a quantity: from the longest to the shortest */
	TEXT_CAP = 96
};

/* How long ago the oldest of the last `pictures` was, or would have been. */
static uint64_t span_ns(const struct tdm_app *app, size_t pictures)
{
	size_t kept = app->moment_count < TDM_HISTORY_CAP ? app->moment_count : TDM_HISTORY_CAP;
	size_t known = pictures < kept ? pictures : kept;
	uint64_t span = 0;
	if (known > 1)
		span = app->moments[(app->moment_count - 1) % TDM_HISTORY_CAP] -
		       app->moments[(app->moment_count - known) % TDM_HISTORY_CAP];
	size_t missing = known != 0 ? pictures - known : pictures != 0 ? pictures - 1 : 0;
	return span + missing * app->options.interval_ms * TDM_NS_PER_MS;
}

static void draw_mark(struct tdm_canvas *canvas, struct tdm_area scale, int row, int percent)
{
	char text[16];
	struct tdm_pen pen = tdm_pen_at(canvas, scale, row);
	snprintf(text, sizeof text, "%d%%", percent);
	tdm_pen_field(&pen, -(SCALE_COLUMNS - 1), TDM_INK_DIM, text);
}

/* A row is a range of values; a mark is beside the row that begins or ends with it. */
static void draw_scale(struct tdm_canvas *canvas, struct tdm_area scale)
{
	int last = scale.rows - 1;
	draw_mark(canvas, scale, 0, 100);
	if (last > 0)
		draw_mark(canvas, scale, last, 0);
	if (last > 1)
		draw_mark(canvas, scale, scale.rows / 2, 50);
	if (scale.rows >= QUARTER_ROWS) {
		draw_mark(canvas, scale, scale.rows / 4, 75);
		draw_mark(canvas, scale, scale.rows * 3 / 4, 25);
	}
	for (int i = 0; i < scale.rows; i++)
		tdm_canvas_set(canvas, scale.row + i, scale.col + SCALE_COLUMNS - 1, TDM_INK_TRACK,
			canvas->utf8 ? 0x2502 : '|');
}

/* "2m 8s ago ───── DRAM used, % of 12 GiB ───── now": the longest name that leaves room for the times, else the
 * shortest and no times. */
static void draw_axis(struct tdm_canvas *canvas, struct tdm_area axis, const char *const names[NAMES], uint64_t span)
{
	char past[TDM_DURATION_CAP + 8], text[TDM_DURATION_CAP];
	const char *now = "now", *name = names[NAMES - 1];
	snprintf(past, sizeof past, "%s ago", tdm_format_duration(text, sizeof text, span));
	tdm_canvas_set(canvas, axis.row, axis.col + SCALE_COLUMNS - 1, TDM_INK_TRACK, canvas->utf8 ? 0x2514 : '+');
	tdm_area_take_cols(&axis, SCALE_COLUMNS);
	tdm_canvas_fill(canvas, axis.row, axis.col, axis.cols, TDM_INK_TRACK, canvas->utf8 ? 0x2500 : '-');
	int left = (int)strlen(past) + 1, right = (int)strlen(now) + 1, middle = 0;
	bool has_times = false;
	for (int i = 0; i < NAMES && !has_times; i++) {
		name = names[i];
		middle = (axis.cols - tdm_canvas_width_of(canvas, name)) / 2;
		has_times = middle > left && middle > right;
	}
	if (has_times) {
		tdm_canvas_put(canvas, axis.row, axis.col, left, TDM_INK_DIM, past);
		tdm_canvas_set(canvas, axis.row, axis.col + left - 1, TDM_INK_DIM, ' ');
		tdm_canvas_set(canvas, axis.row, axis.col + axis.cols - right, TDM_INK_DIM, ' ');
		tdm_canvas_put(canvas, axis.row, axis.col + axis.cols - right + 1, right - 1, TDM_INK_DIM, now);
	}
	if (middle < 1)
		middle = 1;
	tdm_canvas_set(canvas, axis.row, axis.col + middle - 1, TDM_INK_DIM, ' ');
	int used = tdm_canvas_put(canvas, axis.row, axis.col + middle, axis.cols - middle, TDM_INK_LABEL, name);
	if (middle + used < axis.cols)
		tdm_canvas_set(canvas, axis.row, axis.col + middle + used, TDM_INK_DIM, ' ');
}

static void draw_one(
	struct tdm_app *app, struct tdm_area area, const struct tdm_history *history, const char *const names[NAMES])
{
	int most = TDM_HISTORY_CAP / 2 + SCALE_COLUMNS;
	area.cols = area.cols < most ? area.cols : most;
	struct tdm_area plot = area;
	if (area.rows > 1)
		plot.rows--;
	struct tdm_area scale = tdm_area_take_cols(&plot, SCALE_COLUMNS);
	size_t pictures = (size_t)(plot.cols > 0 ? plot.cols : 0) * (app->canvas.utf8 ? 2 : 1);
	draw_scale(&app->canvas, scale);
	tdm_gauge_graph(&app->canvas, plot, history);
	if (area.rows > 1)
		draw_axis(&app->canvas, (struct tdm_area){ area.row + area.rows - 1, area.col, 1, area.cols }, names,
			span_ns(app, pictures));
}

void tdm_graphs_draw(struct tdm_app *app, struct tdm_area area, const struct tdm_picture_device *device)
{
	const struct tdm_trend *trend = tdm_app_trend(app, device);
	if (trend == NULL || area.rows < 1 || area.cols < COLS_MIN)
		return;
	char size[TDM_BYTES_CAP], dram[2][TEXT_CAP], l1[2][TEXT_CAP];
	tdm_format_bytes_short(size, sizeof size, device->kinds[TDM_KIND_DRAM].total);
	snprintf(dram[0], TEXT_CAP, "DRAM used, %% of %s", size);
	snprintf(dram[1], TEXT_CAP, "DRAM, %% of %s", size);
	tdm_format_bytes_short(size, sizeof size, device->kinds[TDM_KIND_L1].total);
	snprintf(l1[0], TEXT_CAP, "L1 used by buffers and CBs, %% of %s", size);
	snprintf(l1[1], TEXT_CAP, "L1+CB, %% of %s", size);
	tdm_area_take_cols(&area, MARGIN);
	struct tdm_area left = tdm_area_take_cols(&area, area.cols / 2);
	left.cols -= MARGIN;
	area.cols -= MARGIN;
	draw_one(app, left, &trend->dram, (const char *const[NAMES]){ dram[0], dram[1], "DRAM" });
	draw_one(app, area, &trend->l1_and_cb, (const char *const[NAMES]){ l1[0], l1[1], "L1+CB" });
}
