#include "tui/app.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/reserve.h"
#include "state/pick.h"
#include "tui/match.h"

enum { MESSAGE_SECONDS = 4 };

void tdm_app_say(struct tdm_app *app, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	vsnprintf(app->message, sizeof app->message, format, args);
	va_end(args);
	app->message_until_ns = tdm_clock_ns() + MESSAGE_SECONDS * TDM_NS_PER_S;
}

void tdm_app_format_interval(unsigned ms, char *dst, size_t cap)
{
	if (ms % 100 != 0)
		snprintf(dst, cap, "%u ms", ms);
	else if (ms < 10000 || ms % 1000 != 0)
		snprintf(dst, cap, "%u.%u s", ms / 1000, ms / 100 % 10);
	else
		snprintf(dst, cap, "%u s", ms / 1000);
}

const struct tdm_picture_process *tdm_app_find_process(const struct tdm_app *app, uint64_t handle)
{
	for (size_t p = 0; app->picture != NULL && handle != 0 && p < app->picture->process_count; p++)
		if (app->picture->processes[p].handle == handle)
			return &app->picture->processes[p];
	return NULL;
}

const struct tdm_proc_row *tdm_app_chosen_row(const struct tdm_app *app)
{
	return app->processes.chosen < app->rows.count ? &app->rows.rows[app->processes.chosen] : NULL;
}

const struct tdm_picture_process *tdm_app_chosen_process(const struct tdm_app *app)
{
	if (app->process_handle != 0)
		return tdm_app_find_process(app, app->process_handle);
	const struct tdm_proc_row *row = tdm_app_chosen_row(app);
	return row != NULL ? tdm_app_find_process(app, row->handle) : NULL;
}

const struct tdm_picture_device *tdm_app_chosen_device(const struct tdm_app *app, size_t *index)
{
	if (app->picture == NULL || app->devices.chosen >= app->shown_count)
		return NULL;
	size_t device = app->shown[app->devices.chosen];
	if (index != NULL)
		*index = device;
	return &app->picture->devices[device];
}

void tdm_app_device_chosen(struct tdm_app *app)
{
	const struct tdm_picture_device *device = tdm_app_chosen_device(app, NULL);
	app->device_key = device != NULL ? device->key : 0;
}

const char *tdm_app_place(
	const struct tdm_app *app, const char *name, uint32_t process, uint32_t stack, char *dst, size_t cap)
{
	const struct tdm_provider *provider = app->provider;
	uint32_t count;
	if (name[0] != '\0')
		return name;
	const struct tdm_kept_frame *frames = tdm_picture_stack(app->picture, stack, &count);
	if (count == 0)
		return "(no name)";
	name = tdm_picture_text(app->picture, frames[0].text);
	if (name[0] != '\0')
		return name;
	dst[0] = '\0';
	if (provider->place != NULL && process != TDM_INDEX_NONE && tdm_clock_ns() < app->places_until_ns)
		provider->place(provider->names, app->picture, process, stack,
			app->screen == TDM_SCREEN_PROCESS && app->buffers.by_site, dst, cap);
	if (dst[0] == '\0')
		snprintf(dst, cap, "0x%" PRIx64, frames[0].address);
	return dst;
}

bool tdm_app_is_tagged(const struct tdm_app *app, uint64_t handle)
{
	for (size_t i = 0; i < app->tag_count; i++)
		if (app->tags[i] == handle)
			return true;
	return false;
}

void tdm_app_toggle_tag(struct tdm_app *app, uint64_t handle)
{
	for (size_t i = 0; i < app->tag_count; i++)
		if (app->tags[i] == handle) {
			app->tags[i] = app->tags[--app->tag_count];
			return;
		}
	if (app->tag_count == TDM_TAGS_MAX)
		tdm_app_say(app, "no more than %d processes can be tagged", TDM_TAGS_MAX);
	else
		app->tags[app->tag_count++] = handle;
}

/* Removes the tags of processes that are gone. Handles are never reused, but the count would be wrong. */
static void drop_lost_tags(struct tdm_app *app)
{
	for (size_t i = 0; i < app->tag_count;)
		if (tdm_app_find_process(app, app->tags[i]) == NULL)
			app->tags[i] = app->tags[--app->tag_count];
		else
			i++;
}

static void remember_row(struct tdm_app *app)
{
	const struct tdm_proc_row *row = tdm_app_chosen_row(app);
	app->chosen_handle = row != NULL ? row->handle : 0;
	app->chosen_device = row != NULL ? row->device : UINT32_MAX;
}

/* Finds the line of the chosen process again; in a tree, on the same device if possible. */
static void choose_again(struct tdm_app *app)
{
	bool found = false;
	if (!app->row_is_held)
		app->processes.chosen = 0;
	for (size_t i = 0; app->row_is_held && app->chosen_handle != 0 && i < app->rows.count; i++) {
		const struct tdm_proc_row *row = &app->rows.rows[i];
		if (row->handle != app->chosen_handle || (found && row->device != app->chosen_device))
			continue;
		app->processes.chosen = i;
		if (row->device == app->chosen_device)
			return;
		found = true;
	}
}

void tdm_app_update_rows(struct tdm_app *app)
{
	remember_row(app);
	if (app->picture == NULL) {
		app->rows.count = 0;
		return;
	}
	const struct tdm_proc_view view = { .sort = app->sort,
		.reversed = app->reversed,
		.tree = app->tree,
		.filter = app->filter,
		.pick = app->options.pick,
		.device = app->only_device,
		.growth = &app->growth,
		.hosts = &app->hosts };
	if (tdm_proc_rows_build(&app->rows, app->picture, &view) != 0)
		tdm_app_say(app, "out of memory: some processes are not shown");
	choose_again(app);
	tdm_list_fit(&app->processes, app->rows.count, (int)app->processes.page);
}

void tdm_app_update_devices(struct tdm_app *app)
{
	const struct tdm_picture *picture = app->picture;
	app->shown_count = 0;
	if (picture == NULL)
		return;
	if (tdm_reserve(&app->shown, &app->shown_cap, picture->device_count, sizeof *app->shown) != 0)
		return;
	/* The chips of boards are devices already: boards come after them, and are shown if nothing else is. */
	size_t boards = picture->device_count - picture->board_count;
	for (size_t d = 0;
		d < picture->device_count && (d < boards || app->shown_count == 0 || app->shown[0] >= boards); d++) {
		if (!tdm_pick_takes_device(&app->options.pick, picture, d))
			continue;
		if (app->device_key != 0 && picture->devices[d].key == app->device_key)
			app->devices.chosen = app->shown_count;
		app->shown[app->shown_count++] = (uint32_t)d;
	}
	tdm_list_fit(&app->devices, app->shown_count, (int)app->devices.page);
}

const struct tdm_trend *tdm_app_trend(const struct tdm_app *app, const struct tdm_picture_device *device)
{
	uint64_t key = device->key;
	for (size_t i = 0; i < app->trend_count; i++)
		if (app->trends[i].key == key)
			return &app->trends[i];
	return NULL;
}

/* Trends are in the order of the devices, and need no moving while those stay the same. */
static bool trends_fit(const struct tdm_app *app)
{
	if (app->trend_count != app->picture->device_count)
		return false;
	for (size_t d = 0; d < app->trend_count; d++)
		if (app->trends[d].key != app->picture->devices[d].key)
			return false;
	return true;
}

static void rearrange_trends(struct tdm_app *app)
{
	size_t count = app->picture->device_count;
	struct tdm_trend *trends = calloc(count + 1, sizeof *trends);
	for (size_t d = 0; trends != NULL && d < count; d++) {
		const struct tdm_trend *before = tdm_app_trend(app, &app->picture->devices[d]);
		if (before != NULL)
			trends[d] = *before;
		trends[d].key = app->picture->devices[d].key;
	}
	free(app->trends);
	app->trends = trends;
	app->trend_count = trends != NULL ? count : 0;
}

/* L1 buffers and circular buffers share their memory. If circular buffers are unknown, L1 buffers alone count. */
static int l1_permille(const struct tdm_picture_kind *kinds)
{
	uint64_t l1 = kinds[TDM_KIND_L1].used, cb = kinds[TDM_KIND_CB].used;
	if (l1 != TDM_BYTES_UNKNOWN && cb != TDM_BYTES_UNKNOWN)
		l1 = cb < TDM_BYTES_UNKNOWN - l1 ? l1 + cb : TDM_BYTES_UNKNOWN;
	return tdm_picture_permille(l1, kinds[TDM_KIND_L1].total);
}

void tdm_app_remember(struct tdm_app *app)
{
	if (app->picture == NULL)
		return;
	tdm_growth_add(&app->growth, app->picture);
	app->moments[app->moment_count++ % TDM_HISTORY_CAP] = app->picture->time_ns;
	if (!trends_fit(app))
		rearrange_trends(app);
	for (size_t d = 0; d < app->trend_count; d++) {
		const struct tdm_picture_kind *kinds = app->picture->devices[d].kinds;
		tdm_history_add(&app->trends[d].dram,
			tdm_picture_permille(kinds[TDM_KIND_DRAM].used, kinds[TDM_KIND_DRAM].total));
		tdm_history_add(
			&app->trends[d].l1, tdm_picture_permille(kinds[TDM_KIND_L1].used, kinds[TDM_KIND_L1].total));
		tdm_history_add(&app->trends[d].l1_and_cb, l1_permille(kinds));
	}
}

void tdm_app_refreshed(struct tdm_app *app)
{
	tdm_app_update_devices(app);
	tdm_app_update_rows(app);
	drop_lost_tags(app);
}

void tdm_app_done(struct tdm_app *app)
{
	tdm_buffer_view_done(&app->buffers);
	tdm_device_view_done(&app->device);
	tdm_event_log_done(&app->events);
	tdm_findings_page_done(&app->findings);
	tdm_proc_rows_done(&app->rows);
	tdm_growth_done(&app->growth);
	tdm_host_uses_done(&app->hosts);
	tdm_canvas_done(&app->canvas);
	tdm_zones_done(&app->zones);
	free(app->shown);
	free(app->trends);
}
