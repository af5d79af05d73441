/* Screen 3, one process: who it is, what it holds of each kind, and its live buffers or the sites that allocated
 * them. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "analyze/trace_hazards.h"
#include "base/clock.h"
#include "base/duration.h"
#include "tui/device_block.h"
#include "tui/gauge.h"
#include "tui/match.h"
#include "tui/post_mortem.h"
#include "tui/proc_table.h"
#include "tui/screens.h"

enum { TEXT_CAP = 320, KIND_LINES_MAX = 8 };

static void wish(struct tdm_app *app, struct tdm_wish *wish, bool now)
{
	const struct tdm_picture_process *process = tdm_app_chosen_process(app);
	wish->no_largest = true;
	if (process == NULL)
		return;
	app->process_handle = process->handle; /* another process may be first in the next picture */
	tdm_buffer_view_wish(&app->buffers, process->handle, wish, now);
	tdm_post_mortem_wish(app, process, wish);
}

static void refresh(struct tdm_app *app, const struct tdm_wish *wish)
{
	const struct tdm_picture_process *process = tdm_app_chosen_process(app);
	if (process != NULL && process->handle == wish->process) {
		tdm_buffer_view_refresh(&app->buffers, app->picture, process, wish);
		return;
	}
	tdm_buffer_view_done(&app->buffers);
	app->look_now = process != NULL;
}

static void fact(struct tdm_pen *pen, const char *name, const char *value)
{
	tdm_pen_printf(pen, TDM_INK_DIM, "  %s ", name);
	tdm_pen_text(pen, TDM_INK_PLAIN, value);
}

static void count_fact(struct tdm_pen *pen, const char *name, uint64_t count, enum tdm_ink bad)
{
	char text[TDM_BYTES_CAP];
	tdm_pen_printf(pen, TDM_INK_DIM, "  %s ", name);
	tdm_pen_text(pen,
		count == TDM_BYTES_UNKNOWN ? TDM_INK_DIM
		: count != 0               ? bad
					   : TDM_INK_PLAIN,
		tdm_format_count(text, sizeof text, count));
}

static void draw_facts(struct tdm_app *app, struct tdm_area area, const struct tdm_picture_process *process)
{
	char text[TEXT_CAP];
	struct tdm_pen pen = tdm_pen_at(&app->canvas, area, 0);
	tdm_pen_printf(&pen, TDM_INK_BOLD, " %" PRId32 "  ", process->pid);
	tdm_pen_text(&pen, TDM_INK_BOLD, process->command[0] != '\0' ? process->command : process->comm);
	pen = tdm_pen_at(&app->canvas, area, 1);
	fact(&pen, "user", process->user);
	fact(&pen, "devices", tdm_proc_devices(app->picture, process, text, sizeof text));
	time_t seconds = (time_t)(process->started_ns / TDM_NS_PER_S);
	struct tm local;
	if (process->started_ns != 0 && localtime_r(&seconds, &local) != NULL &&
		strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &local) != 0)
		fact(&pen, "started", text);
	if (process->started_ns != 0 && process->started_ns <= app->picture->real_ns && process->life != TDM_LIFE_ENDED)
		fact(&pen, "age", tdm_format_duration(text, sizeof text, app->picture->real_ns - process->started_ns));
	fact(&pen, "source", tdm_proc_sources(process->sources, text, sizeof text));
	if (process->is_claimed)
		tdm_pen_text(&pen, TDM_INK_RED, "  its pid is only claimed");
	if (process->as_of_ns != 0 && process->as_of_ns <= app->picture->time_ns) {
		tdm_pen_text(&pen, TDM_INK_YELLOW, "  its daemon has ended: figures of ");
		tdm_format_duration(text, sizeof text, app->picture->time_ns - process->as_of_ns);
		tdm_pen_printf(&pen, TDM_INK_YELLOW, "%s ago", text);
	}
	if (process->in_container)
		tdm_pen_text(&pen, TDM_INK_MAGENTA, "  in a container, where it has another pid");
	pen = tdm_pen_at(&app->canvas, area, 2);
	tdm_pen_text(&pen, TDM_INK_DIM, "  phase ");
	bool has_ledger = (process->sources & UINT32_C(1) << TDM_FROM_LEDGER) != 0;
	tdm_pen_text(&pen, process->phase[0] != '\0' ? TDM_INK_CYAN : TDM_INK_DIM,
		process->phase[0] != '\0' ? process->phase
		: has_ledger              ? "none"
					  : "unknown");
	count_fact(&pen, "lost events", process->lost, TDM_INK_YELLOW);
	count_fact(&pen, "faults", process->faults, TDM_INK_RED);
	count_fact(&pen, "out of memory", process->out_of_memory, TDM_INK_RED);
	uint64_t hazards = tdm_trace_hazards_count(app->picture, process, TDM_HAZARD_LIVE);
	if (hazards != 0)
		tdm_pen_printf(
			&pen, TDM_INK_RED, "  trace hazards %s (w)", tdm_format_count(text, sizeof text, hazards));
}

/* In the unit of the larger of the two sizes that a line has. */
static void bytes_field(struct tdm_pen *pen, bool is_estimated, uint64_t bytes, uint64_t other)
{
	char text[TDM_BYTES_CAP], marked[TDM_BYTES_CAP + 1];
	uint64_t larger = other == TDM_BYTES_UNKNOWN ? bytes : tdm_max(bytes, other);
	snprintf(marked, sizeof marked, "%s%s", tdm_estimate_mark(is_estimated, bytes),
		tdm_format_bytes_like(text, sizeof text, bytes, larger));
	tdm_pen_field(pen, -(TDM_BYTES_COLUMNS + 2),
		bytes == TDM_BYTES_UNKNOWN || bytes == 0 ? TDM_INK_DIM : TDM_INK_PLAIN, marked);
}

/* With these, used bytes and the peak fit into 40 columns. */
static int dev_columns(const struct tdm_app *app, struct tdm_area area)
{
	int hosts = (int)tdm_pick_host_columns(app->picture), plain = tdm_area_is_narrow(area) ? 4 : 6;
	return hosts >= plain ? hosts + 1 : plain;
}

static int kind_columns(struct tdm_area area)
{
	return tdm_area_is_narrow(area) ? 9 : 12;
}

static void draw_kind_head(struct tdm_app *app, struct tdm_area area)
{
	struct tdm_pen pen = tdm_pen_at(&app->canvas, area, 0);
	tdm_canvas_fill(&app->canvas, area.row, area.col, area.cols, TDM_INK_HEAD, ' ');
	tdm_pen_skip(&pen, 2);
	tdm_pen_field(&pen, dev_columns(app, area), TDM_INK_HEAD, "DEV");
	tdm_pen_field(&pen, kind_columns(area), TDM_INK_HEAD, "KIND");
	tdm_pen_field(&pen, -12, TDM_INK_HEAD, "USED");
	tdm_pen_field(&pen, -12, TDM_INK_HEAD, "PEAK");
	if (tdm_pen_room(&pen) < 12)
		return;
	tdm_pen_field(&pen, -12, TDM_INK_HEAD, "BUFFERS");
	if (tdm_pen_room(&pen) >= 15)
		tdm_pen_text(&pen, TDM_INK_HEAD, "  OF THE DEVICE");
}

/* Lists that take long to sort are older than the counters; the number beside a list is that of its lines. */
static uint64_t buffer_count(const struct tdm_app *app, const struct tdm_holding *holding, enum tdm_kind kind)
{
	const struct tdm_buffer_view *view = &app->buffers;
	bool is_listed = view->picture == app->picture && view->problem == NULL && !view->failed &&
			 view->process == holding->process;
	return is_listed ? holding->buffers[kind].count : holding->kinds[kind].buffers;
}

static void draw_amount(
	struct tdm_app *app, struct tdm_area line, const struct tdm_holding *holding, enum tdm_kind kind)
{
	const struct tdm_picture_amount *amount = &holding->kinds[kind];
	const struct tdm_picture_device *device = &app->picture->devices[holding->device];
	struct tdm_pen pen = tdm_pen_at(&app->canvas, line, 0);
	char label[TDM_PICK_LABEL_CAP], text[TDM_BYTES_CAP];
	tdm_pen_skip(&pen, 2);
	tdm_pen_field(&pen, dev_columns(app, line), TDM_INK_PLAIN, tdm_pick_label(device, label, sizeof label));
	tdm_pen_field(&pen, kind_columns(line), TDM_INK_LABEL, tdm_device_kind_title(kind));
	bytes_field(&pen, amount->is_estimated, amount->used, amount->peak);
	bytes_field(&pen, amount->is_estimated, amount->peak, amount->used);
	if (tdm_pen_room(&pen) < 12)
		return;
	tdm_pen_field(&pen, -12, TDM_INK_PLAIN, tdm_format_count(text, sizeof text, buffer_count(app, holding, kind)));
	tdm_pen_skip(&pen, 2);
	if (tdm_pen_room(&pen) < 6)
		return;
	uint64_t total = device->kinds[kind].total;
	enum tdm_level level = tdm_level_of(amount->used, total);
	if (tdm_pen_room(&pen) > 20)
		tdm_gauge_bar(
			&pen, tdm_pen_room(&pen) - 18 < 40 ? tdm_pen_room(&pen) - 18 : 40, level, amount->used, total);
	tdm_gauge_percent(&pen, level, amount->used, total);
	const char *source = tdm_from_name((enum tdm_from)amount->from);
	if ((int)strlen(source) + 2 <= tdm_pen_room(&pen))
		tdm_pen_printf(&pen, TDM_INK_DIM, "  %s", source);
}

static bool has_amount(const struct tdm_picture_amount *amount)
{
	return (amount->used != 0 && amount->used != TDM_BYTES_UNKNOWN) ||
	       (amount->peak != 0 && amount->peak != TDM_BYTES_UNKNOWN);
}

static int count_amounts(const struct tdm_app *app, const struct tdm_picture_process *process)
{
	int count = 0;
	for (uint32_t h = 0; h < process->holding_count; h++)
		for (int kind = 0; kind < TDM_KIND_COUNT; kind++)
			count += has_amount(&app->picture->holdings[process->first_holding + h].kinds[kind]);
	return count;
}

/* Draws every kind that the process has or had; if there is not enough room, the last line says so. Returns the number
 * of lines. */
static int draw_amounts(struct tdm_app *app, struct tdm_area area, const struct tdm_picture_process *process)
{
	int used = 0, count = count_amounts(app, process), shown = count > area.rows ? area.rows - 1 : count;
	for (uint32_t h = 0; h < process->holding_count; h++) {
		const struct tdm_holding *holding = &app->picture->holdings[process->first_holding + h];
		for (int kind = 0; kind < TDM_KIND_COUNT; kind++) {
			if (has_amount(&holding->kinds[kind]) && used < shown)
				draw_amount(app, (struct tdm_area){ area.row + used++, area.col, 1, area.cols },
					holding, (enum tdm_kind)kind);
		}
	}
	struct tdm_pen pen = tdm_pen_at(&app->canvas, area, used);
	if (count == 0)
		tdm_pen_text(&pen, TDM_INK_DIM, "  It is not known to hold anything.");
	else if (count > shown)
		tdm_pen_printf(&pen, TDM_INK_DIM, "  and %d more line%s", count - shown, count - shown == 1 ? "" : "s");
	return count == 0 || count > shown ? used + 1 : used;
}

static void draw_age(struct tdm_pen *pen, const struct tdm_picture *picture, uint64_t born_ns, bool is_adopted)
{
	char text[TDM_DURATION_CAP];
	bool is_known = born_ns != 0 && born_ns <= picture->time_ns;
	tdm_pen_field(pen, -9, TDM_INK_DIM,
		is_adopted ? "before" /* the tracking began */
		: is_known ? tdm_format_duration(text, sizeof text, picture->time_ns - born_ns)
			   : "?");
}

static void draw_buffer(struct tdm_app *app, struct tdm_area line, size_t index)
{
	const struct tdm_picture *picture = app->picture;
	const struct tdm_buffer_ref *ref = tdm_buffer_view_buffer(&app->buffers, index);
	const struct tdm_buffer *buffer = ref->buffer;
	struct tdm_pen pen = tdm_pen_at(&app->canvas, line, 0);
	char text[TEXT_CAP];
	tdm_pen_skip(&pen, 1);
	tdm_pen_field(&pen, 10, TDM_INK_LABEL, tdm_device_kind_title((enum tdm_kind)buffer->kind));
	const struct tdm_holding *holding = &picture->holdings[ref->holding];
	snprintf(text, sizeof text, "%" PRIu32 "%s", holding->number,
		picture->devices[holding->device].is_virtual ? "v" : "");
	tdm_pen_field(&pen, 4, TDM_INK_PLAIN, text);
	snprintf(text, sizeof text, "0x%" PRIx64, buffer->address);
	if (!tdm_area_is_narrow(line))
		tdm_pen_field(&pen, -14, TDM_INK_DIM, buffer->address == TDM_ADDRESS_UNKNOWN ? "no address" : text);
	if (tdm_area_is_wide(line))
		bytes_field(&pen, false, buffer->asked_bytes, tdm_buffer_reserved(buffer));
	bytes_field(&pen, buffer->bank_bytes == TDM_SIZE_UNKNOWN, tdm_buffer_reserved(buffer), buffer->asked_bytes);
	snprintf(text, sizeof text, "%" PRIu32, buffer->banks);
	if (tdm_area_is_wide(line))
		tdm_pen_field(&pen, -7, TDM_INK_DIM,
			(buffer->flags & TDM_EVENT_VIEW) != 0 ? "view"
			: buffer->banks == 0                  ? "?"
							      : text);
	if (!tdm_area_is_narrow(line))
		draw_age(&pen, picture, buffer->born_ns, tdm_buffer_is_adopted(buffer));
	tdm_pen_skip(&pen, 2);
	const char *program = tdm_picture_text(picture, buffer->program);
	bool is_named = tdm_picture_text(picture, buffer->name)[0] != '\0';
	if (program[0] != '\0' && !is_named) /* before the function, which is long and would push it out */
		tdm_pen_printf(&pen, TDM_INK_CYAN, "%s  ", program);
	tdm_pen_text(&pen, TDM_INK_PLAIN,
		tdm_app_place(app, tdm_picture_text(picture, buffer->name), app->buffers.process, buffer->stack, text,
			sizeof text));
	if (program[0] != '\0' && is_named)
		tdm_pen_printf(&pen, TDM_INK_CYAN, "  %s", program);
}

static void draw_site(struct tdm_app *app, struct tdm_area line, size_t index)
{
	const struct tdm_picture *picture = app->picture;
	const struct tdm_site *site = tdm_buffer_view_site(&app->buffers, index);
	struct tdm_pen pen = tdm_pen_at(&app->canvas, line, 0);
	char text[TEXT_CAP];
	tdm_pen_skip(&pen, 1);
	tdm_pen_field(&pen, 10, TDM_INK_LABEL, tdm_device_kind_title((enum tdm_kind)site->kind));
	if (!tdm_area_is_narrow(line)) {
		tdm_pen_field(&pen, -10, TDM_INK_PLAIN, tdm_format_count(text, sizeof text, site->count));
		bytes_field(&pen, false, site->asked_bytes, site->reserved_bytes);
	}
	bytes_field(&pen, false, site->reserved_bytes, site->asked_bytes);
	if (!tdm_area_is_narrow(line))
		draw_age(&pen, picture, site->oldest_ns, false);
	tdm_pen_skip(&pen, 2);
	tdm_pen_text(&pen, TDM_INK_PLAIN,
		tdm_app_place(app, tdm_picture_text(app->picture, site->name), app->buffers.process, site->stack, text,
			sizeof text));
}

/* `sort`: what a click on the title sorts by; TDM_SORT_COUNT: nothing. */
static void head_field(struct tdm_app *app, struct tdm_pen *pen, int width, const char *text, enum tdm_buffer_sort sort)
{
	const struct tdm_buffer_view *view = &app->buffers;
	bool is_sorted = view->by_site ? sort == TDM_SORT_SIZE : view->sort == sort;
	if (sort != TDM_SORT_COUNT)
		tdm_zone_add(app, (struct tdm_area){ pen->row, pen->col, 1, width < 0 ? -width : width },
			TDM_ZONE_BUFFER_SORT, (size_t)sort);
	tdm_pen_field(pen, width, is_sorted ? TDM_INK_SORTED : TDM_INK_HEAD, text);
}

static void draw_buffer_head(struct tdm_app *app, struct tdm_area area)
{
	const struct tdm_buffer_view *view = &app->buffers;
	struct tdm_pen pen = tdm_pen_at(&app->canvas, area, 0);
	tdm_canvas_fill(&app->canvas, area.row, area.col, area.cols, TDM_INK_HEAD, ' ');
	tdm_pen_skip(&pen, 1);
	head_field(app, &pen, 10, "KIND", TDM_SORT_COUNT);
	if (!view->by_site)
		head_field(app, &pen, 4, "DEV", TDM_SORT_COUNT);
	if (!tdm_area_is_narrow(area) && view->by_site)
		head_field(app, &pen, -10, "BUFFERS", TDM_SORT_COUNT);
	else if (!tdm_area_is_narrow(area))
		head_field(app, &pen, -14, "ADDRESS", TDM_SORT_ADDRESS);
	if ((view->by_site && !tdm_area_is_narrow(area)) || tdm_area_is_wide(area))
		head_field(app, &pen, -12, "ASKED", TDM_SORT_COUNT);
	head_field(app, &pen, -12, "RESERVED", TDM_SORT_SIZE);
	if (!view->by_site && tdm_area_is_wide(area))
		head_field(app, &pen, -7, "BANKS", TDM_SORT_COUNT);
	if (!tdm_area_is_narrow(area))
		head_field(
			app, &pen, -9, view->by_site ? "OLDEST" : "AGE", view->by_site ? TDM_SORT_COUNT : TDM_SORT_AGE);
	tdm_pen_skip(&pen, 2);
	head_field(app, &pen, 4, "SITE", TDM_SORT_SITE);
	tdm_pen_text(&pen, TDM_INK_HEAD, view->by_site ? "" : "  PROGRAM");
	char text[128], count[TDM_BYTES_CAP], age[TDM_AGE_CAP];
	bool is_old = view->age_ns != 0 && view->problem == NULL;
	int len = snprintf(text, sizeof text, " %s %s%s%s%s ",
		tdm_format_count(count, sizeof count, tdm_buffer_view_count(view)), view->by_site ? "sites" : "buffers",
		view->filter[0] != '\0' ? ", filtered" : "", is_old ? ", older by " : "",
		is_old ? tdm_pace_format_age(age, sizeof age, view->age_ns) : "");
	if (len <= tdm_pen_room(&pen))
		tdm_canvas_put(&app->canvas, area.row, area.col + area.cols - len, len, TDM_INK_HEAD, text);
}

static void draw_buffers(struct tdm_app *app, struct tdm_area area)
{
	struct tdm_buffer_view *view = &app->buffers;
	struct tdm_area head = tdm_area_take_rows(&area, 1);
	if (head.rows == 0)
		return;
	tdm_buffer_view_prepare(view);
	draw_buffer_head(app, head);
	size_t count = tdm_buffer_view_count(view);
	tdm_list_fit(&view->list, count, area.rows);
	tdm_zone_add(app, area, TDM_ZONE_BUFFERS, view->list.top);
	if (view->problem != NULL || view->failed || count == 0) {
		struct tdm_pen pen = tdm_pen_at(&app->canvas, area, 0);
		tdm_pen_printf(&pen, view->problem != NULL || view->failed ? TDM_INK_YELLOW : TDM_INK_DIM, "  %s",
			view->problem != NULL  ? view->problem
			: view->failed         ? "Out of memory: the buffers cannot be listed."
			: view->filter[0] != 0 ? "No buffer matches the filter; Esc clears it."
					       : "It has no live buffers.");
		return;
	}
	for (int i = 0; i < area.rows && view->list.top + (size_t)i < count; i++) {
		struct tdm_area line = { area.row + i, area.col, 1, area.cols };
		size_t index = view->list.top + (size_t)i;
		(view->by_site ? draw_site : draw_buffer)(app, line, index);
		if (index == view->list.chosen)
			tdm_canvas_shade(&app->canvas, line.row, line.col, line.cols, TDM_INK_CURSOR);
	}
}

/* A third for the lines of kinds, and what the list of buffers and its head leave empty. */
static int amount_rows(struct tdm_app *app, int rows)
{
	int third = rows / 3 < KIND_LINES_MAX ? rows / 3 : KIND_LINES_MAX;
	tdm_buffer_view_prepare(&app->buffers);
	size_t buffers = tdm_buffer_view_count(&app->buffers), list = buffers == 0 ? 2 : buffers + 1;
	return list < (size_t)rows && rows - (int)list > third ? rows - (int)list : third;
}

static void draw(struct tdm_app *app, struct tdm_area area)
{
	const struct tdm_picture_process *process = tdm_app_chosen_process(app);
	if (process == NULL) {
		struct tdm_pen pen = tdm_pen_at(&app->canvas, area, 1);
		tdm_pen_text(&pen, TDM_INK_YELLOW,
			app->process_handle != 0
				? "  The process is gone. Esc goes back."
				: "  No process is chosen: choose one on the overview and press Enter.");
		return;
	}
	draw_facts(app, tdm_area_take_rows(&area, 3), process);
	if (process->life == TDM_LIFE_ENDED)
		tdm_area_take_rows(&area, tdm_post_mortem_draw(app, area, process));
	if (area.rows >= 8) {
		draw_kind_head(app, tdm_area_take_rows(&area, 1));
		int most = amount_rows(app, area.rows);
		int used = draw_amounts(app, (struct tdm_area){ area.row, area.col, most, area.cols }, process);
		tdm_area_take_rows(&area, used);
	}
	draw_buffers(app, area);
}

static bool key(struct tdm_app *app, int key)
{
	tdm_buffer_view_prepare(&app->buffers);
	return tdm_list_key(&app->buffers.list, key);
}

static bool search(struct tdm_app *app, size_t from, bool forward)
{
	struct tdm_buffer_view *view = &app->buffers;
	tdm_buffer_view_prepare(view);
	size_t count = tdm_buffer_view_count(view);
	for (size_t i = 0; i < count; i++) {
		size_t line = forward ? (from + i) % count : (from + count - i) % count;
		if (tdm_match_text(tdm_buffer_view_text(view, line), app->search)) {
			view->list.chosen = line;
			return true;
		}
	}
	return false;
}

static char *filter(struct tdm_app *app)
{
	return app->buffers.filter;
}

static void filtered(struct tdm_app *app)
{
	tdm_buffer_view_changed(&app->buffers);
}

const struct tdm_screen tdm_screen_process = {
	.name = "process",
	.wish = wish,
	.refresh = refresh,
	.draw = draw,
	.key = key,
	.search = search,
	.filter = filter,
	.filtered = filtered,
};
