/* Screen 2, one device: identity, telemetry, every kind, and the map of buffers. */
#include "tui/app/app.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>

#include "base/number.h"

enum { GRAPH_ROWS_MAX = 24 };

static void wish(struct tdm_app *app, struct tdm_wish *wish, bool now)
{
	const struct tdm_picture_device *device = tdm_app_chosen_device(app, NULL);
	if (device == NULL)
		return;
	app->device_key = device->key; /* the device's index may change in the next picture */
	tdm_device_view_wish(&app->device, device->key, wish, now);
}

static void refresh(struct tdm_app *app, const struct tdm_wish *wish)
{
	size_t index;
	const struct tdm_picture_device *device = tdm_app_chosen_device(app, &index);
	if (device != NULL && device->key == wish->device) {
		if (tdm_device_view_refresh(&app->device, app->picture, index, wish))
			app->device_page = (struct tdm_list){ 0 };
		return;
	}
	tdm_device_view_done(&app->device);
	app->look_now = device != NULL;
}

static void draw_more(struct tdm_page *page, const struct tdm_picture_device *device, enum tdm_kind kind)
{
	const struct tdm_picture_kind *k = &device->kinds[kind];
	char bytes[TDM_BYTES_CAP], rival[TDM_RIVAL_CAP];
	bool has_rival = tdm_kind_rival(k, rival, sizeof rival)[0] != '\0', has_rest = tdm_is_some(k->unattributed),
	     has_stale = tdm_is_some(k->stale);
	if (!has_rival && !has_rest && !has_stale)
		return;
	struct tdm_pen pen = tdm_page_line(page);
	tdm_pen_skip(&pen, 11);
	if (has_rest)
		tdm_pen_printf(&pen, TDM_INK_YELLOW, "%s unattributed   ",
			tdm_format_bytes_like(bytes, sizeof bytes, k->unattributed, k->total));
	if (has_stale)
		tdm_pen_printf(&pen, TDM_INK_YELLOW, "%s left by ended processes, no longer on the device   ",
			tdm_format_bytes_like(bytes, sizeof bytes, k->stale, k->total));
	if (has_rival)
		tdm_pen_text(&pen, TDM_INK_DIM, rival);
}

/* Draws the figures of the runtime's own allocators next to the counted ones. */
static void draw_statistics(struct tdm_page *page, const struct tdm_picture *picture, size_t device)
{
	char runtime[TDM_BYTES_CAP], ours[TDM_BYTES_CAP];
	uint64_t reports = 0;
	bool differs = false;
	for (size_t h = 0; h < picture->holding_count; h++)
		for (int k = 0; k < TDM_KIND_COUNT && picture->holdings[h].device == device; k++) {
			const struct tdm_statistics *said = &picture->holdings[h].told.statistics[k];
			reports = tdm_plus(reports, said->reports);
			if (said->reports == 0 || said->allocated == said->ours)
				continue;
			differs = true;
			struct tdm_pen pen = tdm_page_line(page);
			tdm_pen_printf(&pen, TDM_INK_YELLOW,
				"  %s of process %" PRId32 ": its runtime has %s B in each bank, %s B were counted",
				tdm_kind_title((enum tdm_kind)k), picture->processes[picture->holdings[h].process].pid,
				tdm_format_count(runtime, sizeof runtime, said->allocated),
				tdm_format_count(ours, sizeof ours, said->ours));
		}
	if (reports == 0 || differs)
		return;
	struct tdm_pen pen = tdm_page_line(page);
	tdm_pen_printf(&pen, TDM_INK_DIM, "  agrees with the runtime's allocator (%s report%s)",
		tdm_format_count(ours, sizeof ours, reports), reports == 1 ? "" : "s");
}

static void draw_kinds(
	struct tdm_page *page, const struct tdm_picture *picture, const struct tdm_picture_device *device)
{
	unsigned shown = tdm_device_kinds(device, INT_MAX);
	bool is_weak = false;
	tdm_page_line(page);
	for (int kind = 0; kind < TDM_KIND_COUNT; kind++) {
		is_weak |= device->kinds[kind].used_from == TDM_FROM_METAL_SHM;
		if (kind > TDM_KIND_CB && (shown & 1U << kind) == 0)
			continue;
		struct tdm_pen pen = tdm_page_line(page);
		tdm_pen_skip(&pen, 2);
		tdm_device_kind(&pen, device, (enum tdm_kind)kind);
		draw_more(page, device, (enum tdm_kind)kind);
	}
	if (is_weak) { /* shared memory does not count these */
		struct tdm_pen pen = tdm_page_line(page);
		tdm_pen_text(&pen, TDM_INK_DIM, "  metal_shm: allocations of other threads may be missing,");
		if (tdm_pen_room(&pen) < 50) {
			pen = tdm_page_line(page);
			tdm_pen_skip(&pen, 12);
		}
		tdm_pen_text(&pen, TDM_INK_DIM, " and the CB total may be the last writer's alone");
	}
	draw_statistics(page, picture, (size_t)(device - picture->devices));
	for (uint32_t i = 0; i < device->chip_count && i < TDM_PICTURE_CHIPS_MAX && device->chip_count > 1; i++) {
		const struct tdm_picture_chip *chip = &device->chips[i];
		char dram[TDM_BYTES_CAP], l1[TDM_BYTES_CAP];
		struct tdm_pen pen = tdm_page_line(page);
		tdm_pen_printf(&pen, TDM_INK_DIM, "  chip %" PRIu32 "%s: DRAM %s, L1 %s", chip->chip,
			chip->is_remote ? " (remote)" : "",
			tdm_format_bytes_short(dram, sizeof dram, chip->bytes[TDM_KIND_DRAM]),
			tdm_format_bytes_short(l1, sizeof l1, chip->bytes[TDM_KIND_L1]));
	}
	if (device->chip_count > 1 && tdm_picture_has_stale(device)) {
		struct tdm_pen pen = tdm_page_line(page);
		tdm_pen_text(&pen, TDM_INK_DIM, "  (chips are as tt-metal recorded them, with stale entries)");
	}
}

/* If there are many buffers, making a map takes long, so the map may be older than the lines above it. */
static void draw_map(struct tdm_page *page, struct tdm_device_view *view)
{
	char age[TDM_AGE_CAP];
	tdm_page_line(page);
	if (view->age_ns != 0 || !view->has_map) {
		struct tdm_pen pen = tdm_page_line(page);
		if (view->has_map)
			tdm_pen_printf(&pen, TDM_INK_YELLOW, " Map of %s ago: buffers have come or gone since.",
				tdm_pace_format_age(age, sizeof age, view->age_ns));
		else
			tdm_pen_printf(&pen, TDM_INK_YELLOW, "  No map: %s.",
				view->problem != NULL ? view->problem : "not read");
	}
	if (view->has_map)
		tdm_page_text(page, tdm_device_view_text(view, page->area.cols, page->canvas->utf8));
}

static void draw(struct tdm_app *app, struct tdm_area area)
{
	const struct tdm_picture_device *device = tdm_app_chosen_device(app, NULL);
	if (device == NULL) {
		struct tdm_pen pen = tdm_pen_at(&app->canvas, area, 1);
		tdm_pen_text(&pen, TDM_INK_YELLOW, "  There is no device.");
		return;
	}
	struct tdm_page page = tdm_page_begin(&app->canvas, area, &app->device_page);
	struct tdm_pen pen = tdm_page_line(&page);
	tdm_pen_skip(&pen, 1);
	if (app->shown_count > 1)
		tdm_pen_printf(&pen, TDM_INK_DIM, "(%zu of %zu)  ", app->devices.chosen + 1, app->shown_count);
	tdm_draw_identity(&pen, device);
	tdm_telemetry_page(&page, device);
	draw_kinds(&page, app->picture, device);
	tdm_page_line(&page);
	/* Graphs get the rows that the rest of the page left empty in the last frame. */
	int rows = area.rows - ((int)app->device_page.count - app->graph_rows);
	if (app->device_page.count == 0 || rows < TDM_GRAPHS_ROWS_MIN)
		rows = TDM_GRAPHS_ROWS_MIN;
	app->graph_rows = rows < GRAPH_ROWS_MAX ? rows : GRAPH_ROWS_MAX;
	tdm_graphs_draw(app, tdm_page_block(&page, app->graph_rows), device);
	draw_map(&page, &app->device);
	tdm_page_end(&page, &app->device_page);
	const struct tdm_list *list = &app->device_page;
	if (list->count > list->page)
		snprintf(app->position, sizeof app->position, "lines %zu-%zu of %zu", list->top + 1,
			list->top + list->page, list->count);
	tdm_device_note_age(app, device);
}

static void key(struct tdm_app *app)
{
	tdm_list_scroll(&app->device_page, app->key);
}

const struct tdm_screen tdm_screen_device = {
	.name = "device",
	.wish = wish,
	.refresh = refresh,
	.draw = draw,
	.key = key,
};
