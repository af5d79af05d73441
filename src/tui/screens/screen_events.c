/* Screen 4: events as they happen, the newest at the bottom. */
#include "tui/app/app.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "model/event/event.h"

enum { PLACE_CAP = 320 };

/* Once this screen has been shown, the loop keeps asking for events. */
static void wish(struct tdm_app *app, struct tdm_wish *wish, bool now)
{
	(void)now;
	wish->no_largest = true;
	tdm_event_log_start(&app->events);
}

static const char *time_text(uint64_t time_ns, char dst[TDM_TIME_CAP])
{
	char text[TDM_TIME_CAP];
	if (tdm_format_time(text, sizeof text, time_ns)[0] == '\0')
		return "?";
	snprintf(dst, TDM_TIME_CAP, "%s.%03u", strchr(text, ' ') + 1, (unsigned)(time_ns / TDM_NS_PER_MS % 1000));
	return dst;
}

static void draw_bytes(struct tdm_pen *pen, const char *title, uint64_t bytes)
{
	char text[TDM_BYTES_CAP];
	tdm_pen_column(pen, -12, bytes == TDM_BYTES_UNKNOWN ? TDM_INK_DIM : TDM_INK_PLAIN, title,
		tdm_format_bytes_short(text, sizeof text, bytes));
}

/* The device number as shown everywhere; an event contains only the number used by its process. */
static void device_text(const struct tdm_app *app, const struct tdm_event *event, char *dst, size_t cap)
{
	const struct tdm_picture *picture = app->picture;
	const struct tdm_picture_process *process = tdm_app_find_process(app, event->process);
	bool is_virtual = (event->device & TDM_DEVICE_VIRTUAL_BIT) != 0;
	uint32_t own = event->device & ~TDM_DEVICE_VIRTUAL_BIT;
	for (uint32_t i = 0; process != NULL && i < process->holding_count; i++) {
		const struct tdm_holding *holding = &picture->holdings[process->first_holding + i];
		const struct tdm_picture_device *device = &picture->devices[holding->device];
		if (holding->own_number == own && device->is_virtual == is_virtual) {
			tdm_pick_label(device, dst, cap);
			return;
		}
	}
	snprintf(dst, cap, "%" PRIu32 "%s", own, is_virtual ? "v" : "");
}

void tdm_event_draw(struct tdm_app *app, struct tdm_area line, const struct tdm_event *event)
{
	static const struct tdm_event titles = { .op = TDM_OP_ALLOC };
	bool is_head = event == NULL, is_narrow = tdm_area_is_narrow(line);
	struct tdm_pen pen = tdm_pen_row(&app->canvas, line, is_head);
	char text[TDM_PICK_LABEL_CAP], place[PLACE_CAP];
	event = event != NULL ? event : &titles;
	tdm_pen_skip(&pen, 1);
	if (!is_narrow)
		tdm_pen_column(&pen, 13, TDM_INK_DIM, "TIME", time_text(event->time_ns, text));
	snprintf(text, sizeof text, "%" PRId32, event->pid);
	tdm_pen_column(&pen, -8, TDM_INK_PLAIN, "PID", event->pid != 0 ? text : "?");
	if (event->op == TDM_OP_LOST) {
		tdm_pen_printf(&pen, TDM_INK_YELLOW, "  %s events are missing here",
			tdm_format_count(text, sizeof text, event->size));
		return;
	}
	device_text(app, event, text, sizeof text);
	if (!is_narrow)
		tdm_pen_column(&pen, -5, TDM_INK_PLAIN, "DEV", text);
	tdm_pen_skip(&pen, 2);
	bool is_alloc = event->op == TDM_OP_ALLOC, is_free = event->op == TDM_OP_FREE, is_oom = event->op == TDM_OP_OOM,
	     is_fault = (event->flags & TDM_EVENT_FAULT) != 0, is_clash = (event->flags & TDM_EVENT_CLASH) != 0,
	     is_beyond = (event->flags & TDM_EVENT_BEYOND) != 0, has_memory = is_alloc || is_free || is_oom;
	tdm_pen_column(&pen, 9,
		is_fault || is_oom                                                                     ? TDM_INK_RED
		: is_alloc                                                                             ? TDM_INK_GREEN
		: is_free                                                                              ? TDM_INK_BLUE
		: event->op == TDM_OP_PHASE || event->op == TDM_OP_PROGRAM || event->op == TDM_OP_STEP ? TDM_INK_CYAN
												       : TDM_INK_YELLOW,
		"OP",
		is_alloc && (event->flags & TDM_EVENT_ADOPTED) != 0 ? "adopt"
		: is_clash                                          ? "clash"
		: event->op < TDM_OP_COUNT                          ? tdm_op_name((enum tdm_op)event->op)
								    : "?");
	if (has_memory) {
		uint64_t reserved = event->bytes_per_bank != TDM_SIZE_UNKNOWN ? event->bytes_per_bank * event->banks
									      : TDM_BYTES_UNKNOWN;
		bool is_unknown = event->address == TDM_ADDRESS_UNKNOWN;
		tdm_pen_column(&pen, 10, TDM_INK_LABEL, "KIND", tdm_kind_title((enum tdm_kind)event->kind));
		if (tdm_area_is_wide(line)) {
			tdm_pen_column(&pen, -14, TDM_INK_DIM, "ADDRESS",
				is_unknown ? "" : tdm_format_hex(text, sizeof text, event->address));
			draw_bytes(&pen, "ASKED", event->size);
			draw_bytes(&pen, "RESERVED", reserved);
		} else
			draw_bytes(&pen, "BYTES", reserved == TDM_BYTES_UNKNOWN || is_oom ? event->size : reserved);
		tdm_pen_skip(&pen, 2);
	}
	if (is_head)
		tdm_pen_text(&pen, TDM_INK_HEAD, "NAME");
	if (event->op == TDM_OP_STEP) { /* writes "trace replayed 7", after the device */
		tdm_pen_text(&pen, TDM_INK_CYAN, tdm_step_name(event->size));
		if (event->size >= TDM_STEP_TRACE_BEGAN)
			tdm_pen_printf(&pen, TDM_INK_CYAN, " %" PRIu64, event->id);
		return;
	}
	if (is_clash)
		tdm_pen_text(&pen, TDM_INK_RED,
			is_beyond ? "circular buffers grew beyond L1  " : "circular buffers grew into L1 buffers  ");
	if (is_clash && event->id != 0 && event->address != 0) /* the address where the two overlap */
		tdm_pen_printf(&pen, TDM_INK_RED, "(to 0x%" PRIx64 ", L1 %s 0x%" PRIx64 ")  ", event->id,
			is_beyond ? "ends at" : "from", event->address);
	if (is_fault)
		tdm_pen_text(&pen, TDM_INK_RED, "released twice or never allocated  ");
	const struct tdm_picture_process *process = tdm_app_find_process(app, event->process);
	uint32_t index = process != NULL ? (uint32_t)(process - app->picture->processes) : TDM_INDEX_NONE;
	if (has_memory && event->name.len == 0 && event->stack != 0)
		tdm_pen_text(&pen, TDM_INK_PLAIN, tdm_app_place(app, "", index, event->stack, place, sizeof place));
	else if (!is_head)
		tdm_pen_text(&pen, has_memory ? TDM_INK_PLAIN : TDM_INK_CYAN, event->name.ptr);
}

static void draw(struct tdm_app *app, struct tdm_area area)
{
	struct tdm_event_log *log = &app->events;
	const struct tdm_picture_process *process = tdm_app_find_process(app, log->handle);
	struct tdm_pen pen = tdm_pen_at(&app->canvas, tdm_area_take_rows(&area, 1), 0);
	char text[TDM_BYTES_CAP];
	tdm_pen_printf(&pen, TDM_INK_PLAIN, " %s events", tdm_format_count(text, sizeof text, log->seen));
	if (log->lost != 0)
		tdm_pen_printf(&pen, TDM_INK_YELLOW, ", %s missing", tdm_format_count(text, sizeof text, log->lost));
	tdm_pen_text(&pen, TDM_INK_DIM, "   op ");
	tdm_pen_text(&pen, TDM_INK_PLAIN, log->op < 0 ? "all" : tdm_op_name((enum tdm_op)log->op));
	tdm_pen_text(&pen, TDM_INK_DIM, "   memory ");
	tdm_pen_text(&pen, TDM_INK_PLAIN, log->kind < 0 ? "all" : tdm_kind_title((enum tdm_kind)log->kind));
	tdm_pen_text(&pen, TDM_INK_DIM, "   process ");
	if (process != NULL)
		tdm_pen_printf(&pen, TDM_INK_PLAIN, "%" PRId32, process->pid);
	else
		tdm_pen_text(&pen, TDM_INK_PLAIN, log->handle != 0 ? "gone" : "all");
	if (!log->follows)
		tdm_pen_text(&pen, TDM_INK_YELLOW, "   scrolled back: End follows again");
	if (area.rows > 1)
		tdm_event_draw(app, tdm_area_take_rows(&area, 1), NULL);
	app->event_list.top -= tdm_min(tdm_event_log_prepare(log), app->event_list.top);
	if (log->follows)
		app->event_list.chosen = log->line_count != 0 ? log->line_count - 1 : 0;
	else
		app->event_list.chosen = app->event_list.top;
	tdm_list_fit(&app->event_list, log->line_count, area.rows);
	if (log->line_count == 0) {
		pen = tdm_pen_at(&app->canvas, area, 0);
		tdm_pen_text(&pen, TDM_INK_DIM,
			app->picture->hosts != NULL
				? "  Events are not fetched from other machines: their daemons send them at "
				  "/api/v1/events."
			: log->added == 0 ? "  No event yet: programs with libtidemark and TIDEMARK=1 send them."
					  : "  No event matches the filters.");
	}
	for (int i = 0; i < area.rows && app->event_list.top + (size_t)i < log->line_count; i++)
		tdm_event_draw(app, (struct tdm_area){ area.row + i, area.col, 1, area.cols },
			tdm_event_log_line(log, app->event_list.top + (size_t)i));
}

static void key(struct tdm_app *app)
{
	struct tdm_event_log *log = &app->events;
	if (tdm_list_scroll(&app->event_list, app->key))
		log->follows =
			app->key == TDM_KEY_END || app->event_list.top + app->event_list.page >= app->event_list.count;
}

static char *filter(struct tdm_app *app)
{
	return app->events.filter;
}

static void filtered(struct tdm_app *app)
{
	tdm_event_log_changed(&app->events);
}

const struct tdm_screen tdm_screen_events = {
	.name = "events",
	.wish = wish,
	.draw = draw,
	.key = key,
	.filter = filter,
	.filtered = filtered,
};
