#include "tui/device_block.h"
#include "base/duration.h"
#include "base/number.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tui/gauge.h"
#include "tui/graphs.h"
#include "tui/telemetry.h"

enum {
	NOTE_CAP = 200,
	BAR_MIN = 14,
	BAR_MAX = 48,
	NAME_COLUMNS = 9,
	FIGURES_COLUMNS = 25,
	FREE_COLUMNS = 17,
	SHARED_COLUMNS = 18,
	LARGEST_COLUMNS = 20,
	IDENTITY_COLUMNS = 60
};

const char *tdm_device_kind_title(enum tdm_kind kind)
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

/* Writes the text only if all of it fits. */
static void part(struct tdm_pen *pen, enum tdm_ink ink, const char *text)
{
	if (tdm_canvas_width_of(pen->canvas, text) <= tdm_pen_room(pen))
		tdm_pen_text(pen, ink, text);
}

void tdm_device_identity(struct tdm_pen *pen, const struct tdm_picture_device *device)
{
	char text[TDM_PICK_LABEL_CAP];
	tdm_pick_label(device, text, sizeof text);
	tdm_pen_field(pen, device->host != NULL ? (int)strlen(text) + 2 : 4, TDM_INK_BOLD, text);
	if (device->host != NULL && device->host->reason != NULL)
		tdm_pen_printf(
			pen, TDM_INK_YELLOW, "%s old  ", tdm_format_duration(text, sizeof text, device->host->age_ns));
	tdm_pen_text(pen, TDM_INK_BOLD, tdm_picture_card_mark(device));
	tdm_pen_text(pen, TDM_INK_BOLD, device->card[0] != '\0' ? device->card : "card unknown");
	if (device->is_virtual)
		part(pen, TDM_INK_MAGENTA, "  virtual: a sum, not a real card");
	if (device->node >= 0) {
		snprintf(text, sizeof text, "  /dev/tenstorrent/%" PRId32, device->node);
		part(pen, TDM_INK_LABEL, text);
	}
	if (device->pci[0] != '\0') {
		snprintf(text, sizeof text, "  %s", device->pci);
		part(pen, TDM_INK_DIM, text);
	}
	if (device->arch[0] != '\0') {
		snprintf(text, sizeof text, "  %s", device->arch);
		part(pen, TDM_INK_DIM, text);
	}
	if (device->has_chip_id) {
		snprintf(text, sizeof text, "  chip 0x%" PRIx64, device->chip_id);
		part(pen, TDM_INK_DIM, text);
	}
}

static void amount_marked(
	struct tdm_pen *pen, enum tdm_ink ink, const char *name, const char *mark, uint64_t bytes, uint64_t total)
{
	char text[TDM_BYTES_CAP], marked[TDM_BYTES_CAP + 1];
	tdm_pen_printf(pen, ink == TDM_INK_PLAIN ? TDM_INK_DIM : ink, "  %s", name);
	snprintf(marked, sizeof marked, "%s%s", mark, tdm_format_bytes_like(text, sizeof text, bytes, total));
	tdm_pen_field(pen, -(TDM_BYTES_COLUMNS + 1), bytes == TDM_BYTES_UNKNOWN ? TDM_INK_DIM : ink, marked);
}

static void amount_in(struct tdm_pen *pen, enum tdm_ink ink, const char *name, uint64_t bytes, uint64_t total)
{
	amount_marked(pen, ink, name, "", bytes, total);
}

/* In the unit of the kind's other figures, with its mark. */
static void amount(struct tdm_pen *pen, const char *name, uint64_t bytes, const struct tdm_picture_kind *kind)
{
	amount_marked(pen, TDM_INK_PLAIN, name, tdm_estimate_mark(kind->is_estimated, bytes), bytes, kind->total);
}

char *tdm_device_note(const struct tdm_picture_device *device, enum tdm_kind kind, char *dst, size_t cap)
{
	const struct tdm_picture_kind *k = &device->kinds[kind];
	char bytes[TDM_BYTES_CAP];
	dst[0] = '\0';
	if (k->used_from == TDM_FROM_NONE)
		snprintf(dst, cap, "not reported by any readable program");
	else if (k->stale != 0 && k->stale != TDM_BYTES_UNKNOWN)
		snprintf(
			dst, cap, "+%s left by ended processes", tdm_format_bytes_short(bytes, sizeof bytes, k->stale));
	else if (k->total == TDM_BYTES_UNKNOWN && !tdm_kind_is_per_core(kind))
		snprintf(dst, cap, "capacity unknown: unknown card");
	return dst;
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

/* Rare kinds count only if something is or was there. */
static bool has_kind(const struct tdm_picture_device *device, enum tdm_kind kind)
{
	const struct tdm_picture_kind *k = &device->kinds[kind];
	if (kind <= TDM_KIND_CB)
		return !is_absent(k);
	return (k->used != 0 && k->used != TDM_BYTES_UNKNOWN) || (k->peak != 0 && k->peak != TDM_BYTES_UNKNOWN);
}

unsigned tdm_device_kinds(const struct tdm_picture_device *device, int most)
{
	static const uint8_t order[TDM_KIND_CB + 1] = { TDM_KIND_DRAM, TDM_KIND_L1, TDM_KIND_CB, TDM_KIND_TRACE,
		TDM_KIND_L1_SMALL };
	bool is_danger = tdm_picture_level(device, TDM_KIND_CB) == TDM_LEVEL_RED && has_kind(device, TDM_KIND_CB);
	unsigned shown = is_danger && most > 0 ? 1U << TDM_KIND_CB : 0; /* danger is never left out */
	for (unsigned i = 0; i < TDM_KIND_COUNT && __builtin_popcount(shown) < most; i++) {
		unsigned kind = i <= TDM_KIND_CB ? order[i] : i;
		shown |= has_kind(device, (enum tdm_kind)kind) ? 1U << kind : 0;
	}
	return shown;
}

/* "12.04 GiB of 24 GiB", equally wide in every line. */
static void figures(struct tdm_pen *pen, const struct tdm_picture_device *device, enum tdm_kind of)
{
	const struct tdm_picture_kind *kind = &device->kinds[of];
	const char *mark = tdm_picture_total_mark(kind), *estimate = tdm_estimate_mark(kind->is_estimated, kind->used);
	char used[TDM_BYTES_CAP], total[TDM_BYTES_CAP], text[2 * TDM_BYTES_CAP + 8];
	tdm_format_bytes_like(used, sizeof used, kind->used, kind->total);
	tdm_format_bytes_like(total, sizeof total, kind->total, kind->total);
	if (is_absent(kind))
		snprintf(text, sizeof text, "none");
	else if (kind->used == TDM_BYTES_UNKNOWN)
		snprintf(text, sizeof text, kind->total == TDM_BYTES_UNKNOWN ? "unknown" : "unknown of %s%s", mark,
			total);
	else if (kind->total == TDM_BYTES_UNKNOWN)
		snprintf(text, sizeof text, of == TDM_KIND_CB ? "%s%s of L1" : "%s%s", estimate, used);
	else
		snprintf(text, sizeof text, "%s%s of %s%s", estimate, used, mark, total);
	bool is_dim = kind->used == TDM_BYTES_UNKNOWN || is_absent(kind);
	tdm_pen_field(pen, -FIGURES_COLUMNS, is_dim ? TDM_INK_DIM : TDM_INK_PLAIN, text);
}

static void share(struct tdm_pen *pen, int bar, const struct tdm_picture_device *device, enum tdm_kind kind)
{
	const struct tdm_picture_kind *k = &device->kinds[kind];
	if (is_absent(k)) {
		tdm_pen_skip(pen, bar > 0 ? bar : 0);
		tdm_pen_field(pen, -6, TDM_INK_DIM, "-");
		return;
	}
	enum tdm_level level = tdm_picture_level(device, kind);
	if (bar > 0)
		tdm_gauge_bar(pen, bar, level, k->used, tdm_device_share_total(device, kind));
	tdm_gauge_percent(pen, level, k->used, tdm_device_share_total(device, kind));
}

/* The columns of a kind's line, added from left to right while there is room for a bar. */
struct columns {
	int bar;
	bool has_free, has_shared, has_largest, has_peak, has_source;
	const char *peak; /* its name, as wide in every line of a device */
};

static bool takes(int *room, int cols)
{
	bool fits = *room >= cols + BAR_MIN;
	*room -= fits ? cols : 0;
	return fits;
}

static struct columns fit_columns(int room, const struct tdm_picture_device *device, enum tdm_kind kind)
{
	enum { AMOUNT = 13, SOURCE = 11, FIXED = NAME_COLUMNS + 6 + FIGURES_COLUMNS + 2 };
	bool is_seen = false;
	for (int k = 0; k < TDM_KIND_COUNT; k++)
		is_seen |= device->kinds[k].peak_is_seen && device->kinds[k].used != TDM_BYTES_UNKNOWN;
	struct columns columns = { .bar = room - FIXED,
		.peak = device->kinds[kind].peak_is_seen ? "highest seen"
			: is_seen                        ? "peak        "
							 : "peak" };
	columns.has_free = takes(&columns.bar, FREE_COLUMNS);
	columns.has_largest = columns.has_free && takes(&columns.bar, LARGEST_COLUMNS);
	columns.has_peak = columns.has_largest && takes(&columns.bar, AMOUNT + (int)strlen(columns.peak));
	columns.has_shared = columns.has_peak && takes(&columns.bar, SHARED_COLUMNS);
	columns.has_source = columns.has_shared && takes(&columns.bar, SOURCE);
	columns.bar = columns.bar > BAR_MAX ? BAR_MAX : columns.bar > 3 ? columns.bar : 0;
	return columns;
}

/* Marks the amount before the pen as older than the frame; the last line says by how much. */
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

/* Circular buffers can grow only into the gap between them and the L1 buffers of a core. */
static void gap_amount(struct tdm_pen *pen, const struct columns *columns, const struct tdm_picture_device *device)
{
	uint64_t clash = tdm_picture_clash(device);
	enum tdm_level level = tdm_picture_level(device, TDM_KIND_CB);
	enum tdm_ink ink = level >= TDM_LEVEL_YELLOW ? tdm_ink_of_level(level) : TDM_INK_PLAIN;
	char text[TDM_BYTES_CAP];
	int end = pen->col + FREE_COLUMNS + LARGEST_COLUMNS + (columns->has_shared ? SHARED_COLUMNS : 0);
	if (clash != 0) {
		if (columns->has_free)
			amount_in(pen, ink, "over", clash, device->l1_core);
		if (columns->has_largest)
			tdm_pen_text(pen, ink, "  clash in a core");
	} else if (!columns->has_largest) {
		if (columns->has_free) {
			amount_in(pen, ink, "room", tdm_picture_gap(device), device->l1_core);
			mark_age(pen, device, 0);
		}
		return;
	} else {
		tdm_pen_field(pen, -12, ink,
			tdm_format_bytes_like(text, sizeof text, tdm_picture_gap(device), device->l1_core));
		tdm_pen_text(pen, TDM_INK_DIM, device->space_is_old ? "*" : " ");
		tdm_pen_text(pen, TDM_INK_DIM,
			columns->has_shared ? "free between buffers and CBs, fullest core" : "free, fullest core");
	}
	if (columns->has_largest)
		pen->col = end;
}

static void free_amounts(
	struct tdm_pen *pen, const struct columns *columns, const struct tdm_picture_device *device, enum tdm_kind kind)
{
	const struct tdm_picture_kind *k = &device->kinds[kind];
	if (kind == TDM_KIND_CB && tdm_picture_gap(device) != TDM_BYTES_UNKNOWN) {
		gap_amount(pen, columns, device);
		return;
	}
	if (columns->has_free)
		amount(pen, "free", k->free, k);
	if (columns->has_shared) /* the same bytes are free for both */
		tdm_pen_field(pen, SHARED_COLUMNS, TDM_INK_DIM,
			kind == TDM_KIND_L1   ? " (shared with CB)"
			: kind == TDM_KIND_CB ? " (shared with L1)"
					      : "");
	if (columns->has_largest)
		amount(pen, "largest", k->largest_free, k);
	if (columns->has_largest)
		mark_age(pen, device, k->largest_free);
}

void tdm_device_kind(struct tdm_pen *pen, const struct tdm_picture_device *device, enum tdm_kind kind)
{
	const struct tdm_picture_kind *k = &device->kinds[kind];
	struct columns columns = fit_columns(tdm_pen_room(pen), device, kind);
	char note[NOTE_CAP];
	tdm_device_note(device, kind, note, sizeof note);
	tdm_pen_field(pen, NAME_COLUMNS, TDM_INK_LABEL, tdm_device_kind_title(kind));
	share(pen, columns.bar, device, kind);
	figures(pen, device, kind);
	if (is_absent(k))
		return;
	if (k->used == TDM_BYTES_UNKNOWN) {
		bool fits = tdm_canvas_width_of(pen->canvas, note) + 2 <= tdm_pen_room(pen);
		if (columns.has_free)
			tdm_pen_printf(pen, TDM_INK_DIM, "  %s", fits ? note : "not reported");
		return;
	}
	free_amounts(pen, &columns, device, kind);
	if (columns.has_peak)
		amount(pen, columns.peak, k->peak, k);
	if (columns.has_source)
		tdm_pen_printf(pen, TDM_INK_DIM, "  %s", tdm_from_name((enum tdm_from)k->used_from));
	if (columns.has_source && note[0] != '\0' && tdm_pen_room(pen) > 20)
		tdm_pen_printf(pen, TDM_INK_YELLOW, "  %s", note);
}

static int processes_text(const struct tdm_picture_device *device, char *dst, size_t cap)
{
	return snprintf(
		dst, cap, "  %" PRIu32 " process%s", device->process_count, device->process_count == 1 ? "" : "es");
}

/* Identity on the left as far as it fits, telemetry on the right. */
static void title(struct tdm_app *app, struct tdm_area area, const struct tdm_picture_device *device, enum tdm_ink mark)
{
	struct tdm_pen pen = tdm_pen_at(&app->canvas, area, 0);
	char processes[32];
	struct tdm_telemetry line;
	tdm_telemetry_write(&app->canvas, device, area.cols - IDENTITY_COLUMNS, &line);
	int right = line.cols, more = processes_text(device, processes, sizeof processes), end = pen.end - 1;
	if (area.cols < right + 30)
		right = 0;
	if (area.cols < right + more + IDENTITY_COLUMNS)
		more = 0;
	pen.end = end - right - more;
	tdm_pen_skip(&pen, 1);
	tdm_device_identity(&pen, device);
	tdm_canvas_put(&app->canvas, pen.row, end - right - more, more, TDM_INK_DIM, processes);
	struct tdm_pen readings = { pen.canvas, pen.row, end - right, end };
	if (right != 0)
		tdm_telemetry_draw(&readings, &line);
	if (mark != TDM_INK_PLAIN)
		tdm_canvas_shade(&app->canvas, area.row, area.col, area.cols - 1, mark);
}

/* One kind; DRAM and L1 with their trends. */
static void short_line(
	struct tdm_app *app, struct tdm_area area, const struct tdm_picture_device *device, enum tdm_kind kind)
{
	const struct tdm_trend *trend = tdm_app_trend(app, device);
	struct tdm_pen pen = tdm_pen_at(&app->canvas, area, 0);
	int trend_cols = area.cols >= 100 ? 20 : area.cols >= 76 ? 10 : 0;
	int bar = area.cols - 2 - NAME_COLUMNS - 6 - FIGURES_COLUMNS - 2 - (trend_cols != 0 ? trend_cols + 2 : 0);
	tdm_pen_skip(&pen, 2);
	tdm_pen_field(&pen, NAME_COLUMNS, TDM_INK_LABEL, tdm_device_kind_title(kind));
	share(&pen, bar > BAR_MAX ? BAR_MAX : bar > 3 ? bar : 0, device, kind);
	figures(&pen, device, kind);
	if (trend_cols != 0 && trend != NULL && kind <= TDM_KIND_L1)
		tdm_gauge_graph(&app->canvas, (struct tdm_area){ pen.row, pen.col + 2, 1, trend_cols },
			kind == TDM_KIND_DRAM ? &trend->dram : &trend->l1);
}

/* The name, a bar and the share of a kind, if there is room. */
static void line_share(struct tdm_pen *pen, const struct tdm_picture_device *device, enum tdm_kind kind, int bar)
{
	const char *name = tdm_device_kind_title(kind);
	if (tdm_pen_room(pen) < (int)strlen(name) + 3 + bar + 6)
		return;
	tdm_pen_printf(pen, TDM_INK_LABEL, "  %s ", name);
	share(pen, bar, device, kind);
}

static void line_trend(struct tdm_app *app, struct tdm_pen *pen, const struct tdm_picture_device *device)
{
	enum { COLS = 20 };
	const struct tdm_trend *trend = tdm_app_trend(app, device);
	if (trend == NULL || tdm_pen_room(pen) < COLS + 7)
		return;
	tdm_pen_text(pen, TDM_INK_LABEL, "  DRAM ");
	tdm_gauge_graph(&app->canvas, (struct tdm_area){ pen->row, pen->col, 1, COLS }, &trend->dram);
	tdm_pen_skip(pen, COLS);
}

/* A device in one line; a wider line shows more. */
static void one_line(
	struct tdm_app *app, struct tdm_area area, const struct tdm_picture_device *device, enum tdm_ink mark)
{
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
	/* With room for one of them, circular buffers that are in danger come first. */
	bool has_both = tdm_pen_room(&pen) >= (int)strlen("  L1 ") + bar + (int)strlen("  CB ") + 2 * 6;
	if (has_both || (tdm_device_kinds(device, 2) & 1U << TDM_KIND_CB) == 0)
		line_share(&pen, device, TDM_KIND_L1, bar);
	line_share(&pen, device, TDM_KIND_CB, has_both ? 0 : bar);
	struct tdm_telemetry line;
	tdm_telemetry_write(&app->canvas, device, tdm_pen_room(&pen), &line);
	if (line.cols <= tdm_pen_room(&pen))
		tdm_telemetry_draw(&pen, &line);
	line_share(&pen, device, TDM_KIND_TRACE, 0);
	line_share(&pen, device, TDM_KIND_L1_SMALL, 0);
	line_trend(app, &pen, device);
	snprintf(text, sizeof text, "  %s", device->pci);
	part(&pen, TDM_INK_DIM, text);
	processes_text(device, text, sizeof text);
	part(&pen, TDM_INK_DIM, text);
	if (mark != TDM_INK_PLAIN) /* the bars keep their colours */
		tdm_canvas_shade(&app->canvas, area.row, area.col, name_cols + label_cols + 1, mark);
}

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
		tdm_graphs_draw(app, inner, device); /* also in the lines of kinds that other devices have */
}
