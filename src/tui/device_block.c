#include "tui/device_block.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "tui/gauge.h"

enum { NOTE_CAP = 200, GRAPH_ROWS = 3, BAR_MAX = 48, NAME_COLUMNS = 9, FIGURES_COLUMNS = 25 };

static const enum tdm_kind kinds[] = { TDM_KIND_DRAM, TDM_KIND_L1, TDM_KIND_L1_SMALL, TDM_KIND_TRACE, TDM_KIND_CB };
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static const char *kind_title(enum tdm_kind kind)
{
	switch (kind) {
	case TDM_KIND_DRAM:
		return "DRAM";
	case TDM_KIND_L1:
		return "L1";
	case TDM_KIND_L1_SMALL:
		return "L1_SMALL";
	case TDM_KIND_TRACE:
		return "TRACE";
	case TDM_KIND_CB:
		return "CB";
	default:
		return tdm_kind_name(kind);
	}
}

char *tdm_device_label(const struct tdm_overview_device *device, char *dst, size_t cap)
{
	if (device->number >= 0)
		snprintf(dst, cap, "%" PRId32, device->number);
	else if (device->node >= 0)
		snprintf(dst, cap, "/%" PRId32, device->node);
	else
		snprintf(dst, cap, "?");
	return dst;
}

void tdm_device_identity(struct tdm_pen *pen, const struct tdm_overview_device *device)
{
	char label[16];
	tdm_pen_field(pen, 4, TDM_INK_BOLD, tdm_device_label(device, label, sizeof label));
	tdm_pen_text(pen, TDM_INK_BOLD, device->card[0] != '\0' ? device->card : "card unknown");
	if (device->arch[0] != '\0')
		tdm_pen_printf(pen, TDM_INK_DIM, " %s", device->arch);
	if (device->is_virtual)
		tdm_pen_text(pen, TDM_INK_MAGENTA, "  virtual: added up, on no card");
	if (device->node >= 0)
		tdm_pen_printf(pen, TDM_INK_LABEL, "  /dev/tenstorrent/%" PRId32, device->node);
	if (device->pci[0] != '\0')
		tdm_pen_printf(pen, TDM_INK_DIM, "  %s", device->pci);
	if (device->has_chip_id && tdm_pen_room(pen) > 24)
		tdm_pen_printf(pen, TDM_INK_DIM, "  chip 0x%" PRIx64, device->chip_id);
}

static void reading(struct tdm_pen *pen, const struct tdm_reading *r, int64_t unit, bool tenths, const char *suffix)
{
	if (!r->is_known)
		tdm_pen_printf(pen, TDM_INK_DIM, "  ? %s", suffix);
	else if (tenths)
		tdm_pen_printf(pen, TDM_INK_PLAIN, "  %.1f %s", (double)r->value / (double)unit, suffix);
	else
		tdm_pen_printf(pen, TDM_INK_PLAIN, "  %" PRId64 " %s", r->value / unit, suffix);
}

void tdm_device_telemetry(struct tdm_pen *pen, const struct tdm_overview_device *device)
{
	const struct tdm_overview_telemetry *t = &device->telemetry;
	reading(pen, &t->temp, 1000, true, pen->canvas->utf8 ? "°C" : "C");
	reading(pen, &t->power, 1000000, false, "W");
	reading(pen, &t->clock, 1, false, "MHz");
}

static void amount(struct tdm_pen *pen, const char *name, uint64_t bytes)
{
	char text[TDM_BYTES_CAP];
	tdm_pen_printf(pen, TDM_INK_DIM, "  %s", name);
	tdm_pen_field(pen, -(TDM_BYTES_COLUMNS + 1), bytes == TDM_BYTES_UNKNOWN ? TDM_INK_DIM : TDM_INK_PLAIN,
		tdm_format_bytes_short(text, sizeof text, bytes));
}

char *tdm_device_note(const struct tdm_overview_device *device, enum tdm_kind kind, char *dst, size_t cap)
{
	const struct tdm_overview_kind *k = &device->kinds[kind];
	char bytes[TDM_BYTES_CAP];
	dst[0] = '\0';
	if (k->used_from == TDM_FROM_NONE)
		snprintf(dst, cap, "no program that can be read reports it");
	else if (k->stale != 0 && k->stale != TDM_BYTES_UNKNOWN)
		snprintf(
			dst, cap, "+%s left by ended processes", tdm_format_bytes_short(bytes, sizeof bytes, k->stale));
	else if (k->total == TDM_BYTES_UNKNOWN)
		snprintf(dst, cap, "capacity unknown without the card");
	return dst;
}

/* "12.04 GiB of 24 GiB" in a field that is as wide in every line. */
static void figures(struct tdm_pen *pen, const struct tdm_overview_kind *kind)
{
	char used[TDM_BYTES_CAP], total[TDM_BYTES_CAP], text[2 * TDM_BYTES_CAP + 8];
	tdm_format_bytes_short(used, sizeof used, kind->used);
	tdm_format_bytes_short(total, sizeof total, kind->total);
	if (kind->used == TDM_BYTES_UNKNOWN)
		snprintf(text, sizeof text, kind->total == TDM_BYTES_UNKNOWN ? "unknown" : "unknown of %s", total);
	else if (kind->total == TDM_BYTES_UNKNOWN)
		snprintf(text, sizeof text, "%s", used);
	else
		snprintf(text, sizeof text, "%s of %s", used, total);
	tdm_pen_field(pen, -FIGURES_COLUMNS, kind->used == TDM_BYTES_UNKNOWN ? TDM_INK_DIM : TDM_INK_PLAIN, text);
}

/* Amounts by how much room they need with what stands before them; the bar takes what is left. */
void tdm_device_kind(struct tdm_pen *pen, const struct tdm_overview_device *device, enum tdm_kind kind)
{
	const struct tdm_overview_kind *k = &device->kinds[kind];
	enum { AMOUNT = 17, LARGEST = 20, PEAK = 17, SOURCE = 11, FIXED = NAME_COLUMNS + 6 + FIGURES_COLUMNS + 2 };
	int room = tdm_pen_room(pen), bar = room - FIXED;
	bool has_free = bar >= AMOUNT + 18, has_peak, has_largest, has_source;
	bar -= has_free ? AMOUNT : 0;
	has_largest = has_free && bar >= LARGEST + 18;
	bar -= has_largest ? LARGEST : 0;
	has_peak = has_largest && bar >= PEAK + 18;
	bar -= has_peak ? PEAK : 0;
	has_source = has_peak && bar >= SOURCE + 18;
	bar -= has_source ? SOURCE : 0;
	tdm_pen_field(pen, NAME_COLUMNS, TDM_INK_LABEL, kind_title(kind));
	if (bar > 3)
		tdm_gauge_bar(pen, bar > BAR_MAX ? BAR_MAX : bar, k->used, k->total);
	tdm_gauge_percent(pen, k->used, k->total);
	figures(pen, k);
	char note[NOTE_CAP];
	tdm_device_note(device, kind, note, sizeof note);
	if (k->used == TDM_BYTES_UNKNOWN && has_free) {
		tdm_pen_printf(pen, TDM_INK_DIM, "  %s", note);
		return;
	}
	if (has_free)
		amount(pen, "free", k->free);
	if (has_largest)
		amount(pen, "largest", k->largest_free);
	if (has_peak)
		amount(pen, "peak", k->peak);
	if (has_source)
		tdm_pen_printf(pen, TDM_INK_DIM, "  %s", tdm_from_name((enum tdm_from)k->used_from));
	if (has_source && note[0] != '\0' && tdm_pen_room(pen) > 20)
		tdm_pen_printf(pen, TDM_INK_YELLOW, "  %s", note);
}

static void processes_of(struct tdm_pen *pen, const struct tdm_overview_device *device)
{
	tdm_pen_printf(pen, TDM_INK_DIM, "  %" PRIu32 " process%s", device->process_count,
		device->process_count == 1 ? "" : "es");
}

static void title(
	struct tdm_app *app, struct tdm_area area, const struct tdm_overview_device *device, enum tdm_ink mark)
{
	struct tdm_pen pen = tdm_pen_at(&app->canvas, area, 0);
	tdm_pen_text(&pen, TDM_INK_PLAIN, " ");
	tdm_device_identity(&pen, device);
	tdm_device_telemetry(&pen, device);
	processes_of(&pen, device);
	if (mark != TDM_INK_PLAIN)
		tdm_canvas_shade(&app->canvas, area.row, area.col, area.cols, mark);
}

/* What is left of a block: two graphs beside each other with their names. */
static void graphs(struct tdm_app *app, struct tdm_area area, const struct tdm_overview_device *device)
{
	const struct tdm_trend *trend = tdm_app_trend(app, device);
	if (trend == NULL || area.rows < 1 || area.cols < 40)
		return;
	const char *const names[] = { "DRAM", "L1" };
	const struct tdm_history *const histories[] = { &trend->dram, &trend->l1 };
	tdm_area_take_cols(&area, 2);
	int each = area.cols / 2;
	for (int i = 0; i < 2; i++) {
		struct tdm_area half = tdm_area_take_cols(&area, each), name = tdm_area_take_cols(&half, 6);
		struct tdm_pen pen = tdm_pen_at(&app->canvas, name, 0);
		tdm_pen_field(&pen, 5, TDM_INK_LABEL, names[i]);
		if (area.rows > 1) {
			pen = tdm_pen_at(&app->canvas, name, 1);
			tdm_pen_text(&pen, TDM_INK_DIM, "trend");
		}
		half.cols -= 2;
		if (half.cols > TDM_HISTORY_CAP / 2)
			half.cols = TDM_HISTORY_CAP / 2;
		tdm_gauge_graph(&app->canvas, half, histories[i]);
	}
}

/* DRAM or L1 with a trend beside it. */
static void short_line(struct tdm_app *app, struct tdm_area area, int line, const struct tdm_overview_device *device,
	enum tdm_kind kind)
{
	const struct tdm_overview_kind *k = &device->kinds[kind];
	const struct tdm_trend *trend = tdm_app_trend(app, device);
	struct tdm_pen pen = tdm_pen_at(&app->canvas, area, line);
	int trend_cols = area.cols >= 100 ? 20 : area.cols >= 76 ? 10 : 0;
	int bar = area.cols - 2 - NAME_COLUMNS - 6 - FIGURES_COLUMNS - 2 - (trend_cols != 0 ? trend_cols + 2 : 0);
	tdm_pen_skip(&pen, 2);
	tdm_pen_field(&pen, NAME_COLUMNS, TDM_INK_LABEL, kind_title(kind));
	if (bar > 3)
		tdm_gauge_bar(&pen, bar > BAR_MAX ? BAR_MAX : bar, k->used, k->total);
	tdm_gauge_percent(&pen, k->used, k->total);
	figures(&pen, k);
	if (trend_cols != 0 && trend != NULL)
		tdm_gauge_graph(&app->canvas, (struct tdm_area){ pen.row, pen.col + 2, 1, trend_cols },
			kind == TDM_KIND_DRAM ? &trend->dram : &trend->l1);
}

static void line_share(struct tdm_pen *pen, const struct tdm_overview_device *device, enum tdm_kind kind, int bar)
{
	const struct tdm_overview_kind *k = &device->kinds[kind];
	tdm_pen_printf(pen, TDM_INK_LABEL, "  %s ", kind_title(kind));
	if (bar > 0)
		tdm_gauge_bar(pen, bar, k->used, k->total);
	tdm_gauge_percent(pen, k->used, k->total);
}

/* All of a device in one line; the wider, the more. */
static void one_line(
	struct tdm_app *app, struct tdm_area area, const struct tdm_overview_device *device, enum tdm_ink mark)
{
	struct tdm_pen pen = tdm_pen_at(&app->canvas, area, 0);
	char label[16], text[TDM_BYTES_CAP];
	int cols = area.cols;
	tdm_pen_text(&pen, TDM_INK_PLAIN, " ");
	tdm_pen_field(&pen, 4, TDM_INK_BOLD, tdm_device_label(device, label, sizeof label));
	tdm_pen_field(&pen, cols >= 60 ? 10 : 6, TDM_INK_PLAIN, device->card[0] != '\0' ? device->card : "?");
	if (cols >= 130)
		tdm_pen_field(&pen, 13, TDM_INK_DIM, device->pci);
	int bar = cols >= 110 ? 16 : cols >= 90 ? 12 : cols >= 60 ? 8 : 0;
	line_share(&pen, device, TDM_KIND_DRAM, bar);
	if (cols >= 76)
		tdm_pen_field(&pen, -11, TDM_INK_PLAIN,
			tdm_format_bytes(text, sizeof text, device->kinds[TDM_KIND_DRAM].used));
	line_share(&pen, device, TDM_KIND_L1, bar);
	if (cols >= 100)
		line_share(&pen, device, TDM_KIND_CB, 0);
	if (cols >= 150) {
		line_share(&pen, device, TDM_KIND_L1_SMALL, 0);
		line_share(&pen, device, TDM_KIND_TRACE, 0);
	}
	const struct tdm_trend *trend = tdm_app_trend(app, device);
	if (cols >= 180 && trend != NULL) {
		tdm_gauge_graph(&app->canvas, (struct tdm_area){ pen.row, pen.col + 2, 1, 20 }, &trend->dram);
		tdm_pen_skip(&pen, 22);
	}
	if (cols >= 118)
		tdm_device_telemetry(&pen, device);
	if (cols >= 200)
		processes_of(&pen, device);
	if (mark != TDM_INK_PLAIN) /* the bars keep their colours */
		tdm_canvas_shade(&app->canvas, area.row, area.col, cols >= 60 ? 15 : 11, mark);
}

void tdm_device_block(struct tdm_app *app, struct tdm_area area, const struct tdm_overview_device *device,
	enum tdm_detail detail, enum tdm_ink mark)
{
	if (detail == TDM_DETAIL_LINE) {
		one_line(app, area, device, mark);
		return;
	}
	title(app, area, device, mark);
	if (detail == TDM_DETAIL_SHORT) {
		short_line(app, area, 1, device, TDM_KIND_DRAM);
		short_line(app, area, 2, device, TDM_KIND_L1);
		return;
	}
	struct tdm_area inner = area;
	tdm_area_take_rows(&inner, 1);
	for (size_t i = 0; i < KINDS; i++) {
		struct tdm_area line = tdm_area_take_rows(&inner, 1);
		struct tdm_pen pen = tdm_pen_at(&app->canvas, line, 0);
		tdm_pen_skip(&pen, 2);
		tdm_device_kind(&pen, device, kinds[i]);
	}
	if (detail == TDM_DETAIL_FULL)
		graphs(app, tdm_area_take_rows(&inner, GRAPH_ROWS), device);
}
