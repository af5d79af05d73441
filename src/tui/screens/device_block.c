/*
 * Draws one device with as much detail as fits: a line, or a block with its kinds of memory and two graphs side by
 * side. The graphs show DRAM, and L1 buffers plus circular buffers in L1, over time. Both graphs have a percent scale
 * and, below, a time scale with the name of the quantity.
 */
#include "tui/app/app.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/number.h"
#include "base/units.h"
#include "view/write/cell.h"

enum {
	NOTE_CAP = 200,
	BAR_MIN = 14,
	BAR_MAX = 48,
	NAME_COLUMNS = 9,
	FIGURES_COLUMNS = 25,
	FREE_COLUMNS = 17,
	SHARED_COLUMNS = 18,
	LARGEST_COLUMNS = 20,
	IDENTITY_COLUMNS = 60,
	TREND_COLUMNS = 20
};

/* Optional parts of a kind's line. */
enum { FREE = 1, LARGEST = 2, PEAK = 4, SHARED = 8, SOURCE = 16 };

/* ---- sensors ---- */

enum { SENSOR_NAME_COLUMNS = 12, SENSOR_COLUMNS = 30 };

/* Writes " 48.5 / 75 °C 36.0 / 80 W 1000 MHz", leaving out the limits if it would be wider than `room`. The text may
 * still be wider. Returns the width of the text in columns. */
static int write_telemetry(const struct tdm_canvas *canvas, const struct tdm_picture_device *device, int room,
	struct tdm_words sensors[TDM_SENSORS])
{
	int cols = 0;
	for (int with_limits = 1; with_limits >= 0; with_limits--) {
		tdm_device_sensors(device, with_limits != 0, canvas->utf8, sensors);
		cols = 0;
		for (int i = 0; i < TDM_SENSORS_SHORT; i++) {
			if (sensors[i].text[0] == '\0')
				snprintf(sensors[i].text, sizeof sensors[i].text, "? %s", sensors[i].suffix);
			cols += 2 + tdm_canvas_width_of(canvas, sensors[i].text);
		}
		if (cols <= room)
			break;
	}
	if (!tdm_device_is_silent(device))
		return cols;
	snprintf(sensors[0].text, sizeof sensors[0].text, "no telemetry");
	sensors[1].text[0] = '\0';
	return 2 + (int)strlen(sensors[0].text);
}

static void draw_telemetry(struct tdm_pen *pen, const struct tdm_words *sensors)
{
	for (int i = 0; i < TDM_SENSORS_SHORT && sensors[i].text[0] != '\0'; i++) {
		tdm_pen_skip(pen, 2);
		tdm_pen_text(pen, tdm_ink_of(sensors[i].level), sensors[i].text);
	}
}

void tdm_telemetry_page(struct tdm_page *page, const struct tdm_picture_device *device)
{
	struct tdm_words sensors[TDM_SENSORS];
	struct tdm_pen pen = { 0 };
	if (tdm_device_is_silent(device)) {
		pen = tdm_page_line(page);
		tdm_pen_text(
			&pen, TDM_INK_DIM, "  telemetry unknown: no card of the driver is known to be this device");
		return;
	}
	tdm_device_sensors(device, true, page->canvas->utf8, sensors);
	int in_line = page->area.cols / SENSOR_COLUMNS > 0 ? page->area.cols / SENSOR_COLUMNS : 1;
	for (int i = 0; i < TDM_SENSORS; i++) {
		const struct tdm_words *sensor = &sensors[i];
		if (i % in_line == 0)
			pen = tdm_page_line(page);
		tdm_pen_skip(&pen, 2);
		tdm_pen_field(&pen, SENSOR_NAME_COLUMNS, TDM_INK_DIM, sensor->name);
		tdm_pen_field(&pen, SENSOR_COLUMNS - SENSOR_NAME_COLUMNS - 2, tdm_ink_of(sensor->level),
			sensor->text[0] != '\0' ? sensor->text
			: sensor->err != 0      ? tdm_err_text(sensor->err)
						: "not offered");
	}
}

/* ---- a device ---- */

/* Writes the text only if all of it fits. */
static void part(struct tdm_pen *pen, enum tdm_ink ink, const char *text)
{
	if (tdm_canvas_width_of(pen->canvas, text) <= tdm_pen_room(pen))
		tdm_pen_text(pen, ink, text);
}

void tdm_draw_identity(struct tdm_pen *pen, const struct tdm_picture_device *device)
{
	struct tdm_words pieces[TDM_IDENTITY_MAX];
	size_t count = tdm_device_identity(device, pieces);
	char label[TDM_PICK_LABEL_CAP];
	tdm_pick_label(device, label, sizeof label);
	tdm_pen_field(pen, device->host != NULL ? (int)strlen(label) + 2 : 4, TDM_INK_BOLD, label);
	for (size_t i = 0; i < count; i++)
		if (i == 0 || tdm_canvas_width_of(pen->canvas, pieces[i].text) + 2 <= tdm_pen_room(pen)) {
			tdm_pen_skip(pen, i != 0 ? 2 : 0);
			tdm_pen_text(pen, tdm_ink_of(pieces[i].level), pieces[i].text);
		}
}

static void amount_text(struct tdm_pen *pen, enum tdm_ink ink, const char *name, const char *text)
{
	tdm_pen_printf(pen, ink == TDM_INK_PLAIN ? TDM_INK_DIM : ink, "  %s", name);
	tdm_pen_field(pen, -(TDM_BYTES_COLUMNS + 1), strcmp(text, "unknown") == 0 ? TDM_INK_DIM : ink, text);
}

/* Writes an amount in the unit of the kind's other figures, with its mark. */
static void amount(struct tdm_pen *pen, const char *name, const struct tdm_picture_kind *kind, enum tdm_amount figure)
{
	char text[TDM_BYTES_CAP + 2];
	amount_text(pen, TDM_INK_PLAIN, name, tdm_amount_text(kind, figure, text, sizeof text));
}

uint64_t tdm_device_share_total(const struct tdm_picture_device *device, enum tdm_kind kind)
{
	uint64_t total = device->kinds[kind].total;
	return kind == TDM_KIND_CB && total == TDM_BYTES_UNKNOWN ? device->kinds[TDM_KIND_L1].total : total;
}

/* The device was opened without this kind of memory. */
static bool is_absent(const struct tdm_picture_kind *kind)
{
	return kind->total == 0 && kind->used == 0;
}

/* A rare kind counts only if it contains or contained anything. */
static bool has_kind(const struct tdm_picture_device *device, enum tdm_kind kind)
{
	const struct tdm_picture_kind *k = &device->kinds[kind];
	return kind <= TDM_KIND_CB ? !is_absent(k) : tdm_is_some(k->used) || tdm_is_some(k->peak);
}

unsigned tdm_device_kinds(const struct tdm_picture_device *device, int most)
{
	static const uint8_t order[TDM_KIND_CB + 1] = { TDM_KIND_DRAM, TDM_KIND_L1, TDM_KIND_CB, TDM_KIND_TRACE,
		TDM_KIND_L1_SMALL };
	bool is_danger = tdm_picture_level(device, TDM_KIND_CB) == TDM_LEVEL_DANGER && has_kind(device, TDM_KIND_CB);
	unsigned shown = is_danger && most > 0 ? 1U << TDM_KIND_CB : 0; /* CBs in danger are always shown */
	for (unsigned i = 0; i < TDM_KIND_COUNT && __builtin_popcount(shown) < most; i++) {
		unsigned kind = i <= TDM_KIND_CB ? order[i] : i;
		shown |= has_kind(device, (enum tdm_kind)kind) ? 1U << kind : 0;
	}
	return shown;
}

/* Writes "12.04 GiB of 24 GiB", equally wide in every line. */
static void figures(struct tdm_pen *pen, const struct tdm_picture_device *device, enum tdm_kind of)
{
	const struct tdm_picture_kind *kind = &device->kinds[of];
	char used[TDM_BYTES_CAP + 2], total[TDM_BYTES_CAP + 2], text[2 * TDM_BYTES_CAP + 8];
	tdm_amount_text(kind, TDM_AMOUNT_USED, used, sizeof used);
	tdm_amount_text(kind, TDM_AMOUNT_TOTAL, total, sizeof total);
	if (is_absent(kind))
		snprintf(text, sizeof text, "none");
	else if (kind->total == TDM_BYTES_UNKNOWN)
		snprintf(text, sizeof text, "%s%s", used,
			of == TDM_KIND_CB && kind->used != TDM_BYTES_UNKNOWN ? " of L1" : "");
	else
		snprintf(text, sizeof text, "%s of %s", used, total);
	bool is_dim = kind->used == TDM_BYTES_UNKNOWN || is_absent(kind);
	tdm_pen_field(pen, -FIGURES_COLUMNS, is_dim ? TDM_INK_DIM : TDM_INK_PLAIN, text);
}

static void share(struct tdm_pen *pen, int bar, const struct tdm_picture_device *device, enum tdm_kind kind)
{
	const struct tdm_picture_kind *k = &device->kinds[kind];
	bar = bar > BAR_MAX ? BAR_MAX : bar > 3 ? bar : 0;
	if (is_absent(k)) {
		tdm_pen_skip(pen, bar);
		tdm_pen_field(pen, -6, TDM_INK_DIM, "-");
		return;
	}
	enum tdm_level level = tdm_picture_level(device, kind);
	if (bar > 0)
		tdm_gauge_bar(pen, bar, level, k->used, tdm_device_share_total(device, kind));
	tdm_gauge_percent(pen, level, k->used, tdm_device_share_total(device, kind));
}

/* Marks the amount before the pen as older than the frame; the last line states the age. */
static void mark_age(const struct tdm_pen *pen, const struct tdm_picture_device *device, uint64_t bytes)
{
	if (device->space_is_old && bytes != TDM_BYTES_UNKNOWN && tdm_pen_room(pen) > 0)
		tdm_canvas_put(pen->canvas, pen->row, pen->col, 1, TDM_INK_DIM, "*");
}

void tdm_device_note_age(struct tdm_app *app, const struct tdm_picture_device *device)
{
	size_t len = strlen(app->position);
	char age[TDM_AGE_CAP];
	if (device->space_is_old)
		snprintf(app->position + len, sizeof app->position - len, "%s* %s old", len != 0 ? "  " : "",
			tdm_pace_format_age(age, sizeof age, app->picture->time_ns - device->space_ns));
}

/* Circular buffers can grow only into the gap between them and a core's L1 buffers. */
static void gap_amount(struct tdm_pen *pen, unsigned parts, const struct tdm_picture_device *device)
{
	uint64_t clash = tdm_picture_clash(device), gap = tdm_picture_gap(device);
	enum tdm_level level = tdm_picture_level(device, TDM_KIND_CB);
	enum tdm_ink ink = level >= TDM_LEVEL_WARNING ? tdm_ink_of_level(level) : TDM_INK_PLAIN;
	char text[TDM_BYTES_CAP];
	int end = pen->col + FREE_COLUMNS + LARGEST_COLUMNS + ((parts & SHARED) != 0 ? SHARED_COLUMNS : 0);
	bool has_largest = (parts & LARGEST) != 0;
	tdm_format_bytes_like(text, sizeof text, clash != 0 ? clash : gap, device->l1_core);
	if (has_largest && clash == 0) {
		tdm_pen_field(pen, -12, ink, text);
		tdm_pen_text(pen, TDM_INK_DIM, device->space_is_old ? "*" : " ");
		tdm_pen_text(pen, TDM_INK_DIM,
			(parts & SHARED) != 0 ? "free between buffers and CBs, fullest core" : "free, fullest core");
	} else if ((parts & FREE) != 0) {
		amount_text(pen, ink, clash != 0 ? "over" : "room", text);
		if (clash == 0)
			mark_age(pen, device, 0);
	}
	if (has_largest && clash != 0)
		tdm_pen_text(pen, ink, "  clash in a core");
	if (has_largest)
		pen->col = end;
}

void tdm_device_kind(struct tdm_pen *pen, const struct tdm_picture_device *device, enum tdm_kind kind)
{
	enum { AMOUNT = 13, SOURCE_COLUMNS = 11, FIXED = NAME_COLUMNS + 6 + FIGURES_COLUMNS + 2 };
	const struct tdm_picture_kind *k = &device->kinds[kind];
	char note[NOTE_CAP] = "";
	bool is_seen = false;
	for (int i = 0; i < TDM_KIND_COUNT; i++)
		is_seen |= device->kinds[i].peak_is_seen && device->kinds[i].used != TDM_BYTES_UNKNOWN;
	/* equally wide in every line of a device */
	const char *peak = k->peak_is_seen ? "highest seen" : is_seen ? "peak        " : "peak";
	/* Parts are added from left to right as long as a bar still fits. */
	const int columns[] = { FREE_COLUMNS, LARGEST_COLUMNS, AMOUNT + (int)strlen(peak), SHARED_COLUMNS,
		SOURCE_COLUMNS };
	int bar = tdm_pen_room(pen) - FIXED;
	unsigned parts = 0;
	for (size_t i = 0; i < sizeof columns / sizeof *columns && bar >= columns[i] + BAR_MIN; i++) {
		bar -= columns[i];
		parts |= 1U << i;
	}
	if (k->used_from == TDM_FROM_NONE)
		snprintf(note, sizeof note, "not reported by any readable program");
	else if (tdm_is_some(k->stale))
		snprintf(note, sizeof note, "+%s stale", TDM_SIZE_TEXT(k->stale));
	else if (k->total == TDM_BYTES_UNKNOWN && !tdm_kind_is_per_core(kind))
		snprintf(note, sizeof note, "capacity unknown: unknown card");
	tdm_pen_field(pen, NAME_COLUMNS, TDM_INK_LABEL, tdm_kind_title(kind));
	share(pen, bar, device, kind);
	figures(pen, device, kind);
	if (is_absent(k))
		return;
	if (k->used == TDM_BYTES_UNKNOWN) {
		bool fits = tdm_canvas_width_of(pen->canvas, note) + 2 <= tdm_pen_room(pen);
		if ((parts & FREE) != 0)
			tdm_pen_printf(pen, TDM_INK_DIM, "  %s", fits ? note : "not reported");
		return;
	}
	if (kind == TDM_KIND_CB && tdm_picture_gap(device) != TDM_BYTES_UNKNOWN)
		gap_amount(pen, parts, device);
	else {
		if ((parts & FREE) != 0)
			amount(pen, "free", k, TDM_AMOUNT_FREE);
		if ((parts & SHARED) != 0) /* L1 buffers and circular buffers share the same free bytes */
			tdm_pen_field(pen, SHARED_COLUMNS, TDM_INK_DIM,
				kind == TDM_KIND_L1   ? " (shared with CB)"
				: kind == TDM_KIND_CB ? " (shared with L1)"
						      : "");
		if ((parts & LARGEST) != 0) {
			amount(pen, "largest", k, TDM_AMOUNT_LARGEST);
			mark_age(pen, device, k->largest_free);
		}
	}
	if ((parts & PEAK) != 0)
		amount(pen, peak, k, TDM_AMOUNT_PEAK);
	if ((parts & SOURCE) != 0)
		tdm_pen_printf(pen, TDM_INK_DIM, "  %s", tdm_from_name((enum tdm_from)k->used_from));
	if ((parts & SOURCE) != 0 && note[0] != '\0' && tdm_pen_room(pen) > 20)
		tdm_pen_printf(pen, TDM_INK_YELLOW, "  %s", note);
}

static int processes_text(const struct tdm_picture_device *device, char *dst, size_t cap)
{
	return snprintf(
		dst, cap, "  %" PRIu32 " process%s", device->process_count, device->process_count == 1 ? "" : "es");
}

/* Draws the identity on the left as far as it fits, and the telemetry on the right. */
static void title(struct tdm_app *app, struct tdm_area area, const struct tdm_picture_device *device, enum tdm_ink mark)
{
	struct tdm_pen pen = tdm_pen_at(&app->canvas, area, 0);
	char processes[32];
	struct tdm_words sensors[TDM_SENSORS];
	int right = write_telemetry(&app->canvas, device, area.cols - IDENTITY_COLUMNS, sensors);
	int more = processes_text(device, processes, sizeof processes), end = pen.end - 1;
	if (area.cols < right + 30)
		right = 0;
	if (area.cols < right + more + IDENTITY_COLUMNS)
		more = 0;
	pen.end = end - right - more;
	tdm_pen_skip(&pen, 1);
	tdm_draw_identity(&pen, device);
	tdm_canvas_put(&app->canvas, pen.row, end - right - more, more, TDM_INK_DIM, processes);
	struct tdm_pen readings = { .canvas = pen.canvas, .row = pen.row, .col = end - right, .end = end };
	if (right != 0)
		draw_telemetry(&readings, sensors);
	if (mark != TDM_INK_PLAIN)
		tdm_canvas_shade(&app->canvas, area.row, area.col, area.cols - 1, mark);
}

/* Draws one kind; DRAM and L1 with trends. */
static void short_line(
	struct tdm_app *app, struct tdm_area area, const struct tdm_picture_device *device, enum tdm_kind kind)
{
	const struct tdm_trend *trend = tdm_app_trend(app, device);
	struct tdm_pen pen = tdm_pen_at(&app->canvas, area, 0);
	int trend_cols = area.cols >= 100 ? 20 : area.cols >= 76 ? 10 : 0;
	int bar = area.cols - 2 - NAME_COLUMNS - 6 - FIGURES_COLUMNS - 2 - (trend_cols != 0 ? trend_cols + 2 : 0);
	tdm_pen_skip(&pen, 2);
	tdm_pen_field(&pen, NAME_COLUMNS, TDM_INK_LABEL, tdm_kind_title(kind));
	share(&pen, bar, device, kind);
	figures(&pen, device, kind);
	if (trend_cols != 0 && trend != NULL && kind <= TDM_KIND_L1)
		tdm_gauge_graph(&app->canvas, (struct tdm_area){ pen.row, pen.col + 2, 1, trend_cols },
			kind == TDM_KIND_DRAM ? &trend->dram : &trend->l1);
}

/* Draws the name, a bar and the share of a kind, if there is room. */
static void line_share(struct tdm_pen *pen, const struct tdm_picture_device *device, enum tdm_kind kind, int bar)
{
	const char *name = tdm_kind_title(kind);
	if (tdm_pen_room(pen) < (int)strlen(name) + 3 + bar + 6)
		return;
	tdm_pen_printf(pen, TDM_INK_LABEL, "  %s ", name);
	share(pen, bar, device, kind);
}

/* Draws a device in one line; a wider line shows more. */
static void one_line(
	struct tdm_app *app, struct tdm_area area, const struct tdm_picture_device *device, enum tdm_ink mark)
{
	const struct tdm_trend *trend = tdm_app_trend(app, device);
	struct tdm_pen pen = tdm_pen_at(&app->canvas, area, 0);
	char text[96];
	int cols = area.cols,
	    name_cols = cols >= 60   ? 9
			: cols >= 32 ? 5
				     : 0,
	    bar = cols >= 110  ? 16
		  : cols >= 90 ? 12
		  : cols >= 60 ? 8
			       : 0;
	int label_cols = (int)tdm_max(4, tdm_pick_host_columns(app->picture) + 1);
	bool is_old = device->host != NULL && device->host->reason != NULL;
	tdm_pen_skip(&pen, 1);
	tdm_pen_field(
		&pen, label_cols, is_old ? TDM_INK_YELLOW : TDM_INK_BOLD, tdm_pick_label(device, text, sizeof text));
	snprintf(
		text, sizeof text, "%s%s", tdm_picture_card_mark(device), device->card[0] != '\0' ? device->card : "?");
	tdm_pen_field(&pen, name_cols, TDM_INK_PLAIN, text);
	line_share(&pen, device, TDM_KIND_DRAM, bar);
	if (cols >= 76)
		tdm_pen_field(&pen, -11, TDM_INK_PLAIN,
			tdm_format_bytes(text, sizeof text, device->kinds[TDM_KIND_DRAM].used));
	/* If only one of the two shares fits, circular buffers at the danger level take precedence. */
	bool has_both = tdm_pen_room(&pen) >= (int)strlen("  L1 ") + bar + (int)strlen("  CB ") + 2 * 6;
	if (has_both || (tdm_device_kinds(device, 2) & 1U << TDM_KIND_CB) == 0)
		line_share(&pen, device, TDM_KIND_L1, bar);
	line_share(&pen, device, TDM_KIND_CB, has_both ? 0 : bar);
	struct tdm_words sensors[TDM_SENSORS];
	if (write_telemetry(&app->canvas, device, tdm_pen_room(&pen), sensors) <= tdm_pen_room(&pen))
		draw_telemetry(&pen, sensors);
	line_share(&pen, device, TDM_KIND_TRACE, 0);
	line_share(&pen, device, TDM_KIND_L1_SMALL, 0);
	if (trend != NULL && tdm_pen_room(&pen) >= TREND_COLUMNS + 7) {
		tdm_pen_text(&pen, TDM_INK_LABEL, "  DRAM ");
		tdm_gauge_graph(&app->canvas, (struct tdm_area){ pen.row, pen.col, 1, TREND_COLUMNS }, &trend->dram);
		tdm_pen_skip(&pen, TREND_COLUMNS);
	}
	snprintf(text, sizeof text, "  %s", device->pci);
	part(&pen, TDM_INK_DIM, text);
	processes_text(device, text, sizeof text);
	part(&pen, TDM_INK_DIM, text);
	if (mark != TDM_INK_PLAIN) /* bars keep their colours */
		tdm_canvas_shade(&app->canvas, area.row, area.col, name_cols + label_cols + 1, mark);
}

/* ---- graphs ---- */

enum {
	COLS_MIN = 40,     /* minimum width of both graphs */
	SCALE_COLUMNS = 5, /* columns of "100%" and the axis line */
	QUARTER_ROWS = 9,  /* minimum height for marking quarters */
	MARGIN = 2,
	NAMES = 3, /* each quantity has several names, from the longest to the shortest */
	TEXT_CAP = 96
};

/* How long ago the oldest of the last `pictures` was, or would have been if there are fewer. */
static uint64_t span_ns(const struct tdm_app *app, size_t pictures)
{
	size_t kept = app->moment_count < TDM_HISTORY_CAP ? app->moment_count : TDM_HISTORY_CAP;
	size_t known = pictures < kept ? pictures : kept;
	uint64_t span = 0;
	if (known > 1)
		span = app->moments[(app->moment_count - 1) % TDM_HISTORY_CAP] -
		       app->moments[(app->moment_count - known) % TDM_HISTORY_CAP];
	size_t missing = known != 0 ? pictures - known : pictures != 0 ? pictures - 1 : 0;
	return span + missing * app->set.interval_ms * TDM_NS_PER_MS;
}

/* A row covers a range of values; a mark is placed at the row that begins or ends with its value. */
static void draw_scale(struct tdm_canvas *canvas, struct tdm_area scale)
{
	int last = scale.rows - 1, step = scale.rows >= QUARTER_ROWS ? 1 : last > 1 ? 2 : 4;
	for (int quarter = last > 0 ? 4 : 0; quarter >= 0; quarter -= step) {
		char text[16];
		int row = quarter == 4 ? last : scale.rows * quarter / 4;
		struct tdm_pen pen = tdm_pen_at(canvas, scale, row);
		snprintf(text, sizeof text, "%d%%", 100 - 25 * quarter);
		tdm_pen_field(&pen, -(SCALE_COLUMNS - 1), TDM_INK_DIM, text);
	}
	for (int i = 0; i < scale.rows; i++)
		tdm_canvas_set(canvas, scale.row + i, scale.col + SCALE_COLUMNS - 1, TDM_INK_TRACK,
			canvas->utf8 ? 0x2502 : '|');
}

/* Draws "2m 8s ago ───── DRAM used, % of 12 GiB ───── now" with the longest name that leaves room for the times, else
 * with the shortest name and no times. */
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

/* ---- all ---- */

void tdm_device_block(struct tdm_app *app, struct tdm_area area, const struct tdm_picture_device *device,
	const struct tdm_layout *layout, enum tdm_ink mark)
{
	if (layout->detail == TDM_DETAIL_LINE) {
		one_line(app, area, device, mark);
		return;
	}
	title(app, area, device, mark);
	struct tdm_area inner = area;
	tdm_area_take_rows(&inner, 1);
	unsigned shown = tdm_device_kinds(device, layout->kinds);
	for (unsigned kind = 0; kind < TDM_KIND_COUNT; kind++) {
		if ((shown & 1U << kind) == 0)
			continue;
		struct tdm_area line = tdm_area_take_rows(&inner, 1);
		struct tdm_pen pen = tdm_pen_at(&app->canvas, line, 0);
		tdm_pen_skip(&pen, 2);
		if (layout->detail == TDM_DETAIL_SHORT)
			short_line(app, line, device, (enum tdm_kind)kind);
		else
			tdm_device_kind(&pen, device, (enum tdm_kind)kind);
	}
	if (layout->detail == TDM_DETAIL_FULL)
		tdm_graphs_draw(app, inner, device); /* also use lines reserved for kinds of other devices */
}
