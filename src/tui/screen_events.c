/* Screen 4: events as they happen, the newest at the bottom. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "event/event.h"
#include "tui/device_block.h"
#include "tui/screens.h"
#include "tui/terminal.h"

enum { PLACE_CAP = 320 };

/* Once this screen has been shown, the loop keeps asking for events. */
static void wish(struct tdm_app *app, struct tdm_wish *wish, bool now)
{
	(void)now;
	wish->no_largest = true;
	tdm_event_log_start(&app->events);
}

static enum tdm_ink ink_of(const struct tdm_event *event)
{
	if ((event->flags & TDM_EVENT_FAULT) != 0)
		return TDM_INK_RED;
	switch (event->op) {
	case TDM_OP_ALLOC:
		return TDM_INK_GREEN;
	case TDM_OP_FREE:
		return TDM_INK_BLUE;
	case TDM_OP_OOM:
		return TDM_INK_RED;
	case TDM_OP_PHASE:
	case TDM_OP_PROGRAM:
	case TDM_OP_STEP:
		return TDM_INK_CYAN;
	default:
		return TDM_INK_YELLOW;
	}
}

static void draw_time(struct tdm_pen *pen, uint64_t time_ns)
{
	char text[16] = "", shown[32] = "?";
	time_t seconds = (time_t)(time_ns / TDM_NS_PER_S);
	struct tm local;
	if (time_ns != 0 && localtime_r(&seconds, &local) != NULL &&
		strftime(text, sizeof text, "%H:%M:%S", &local) != 0)
		snprintf(shown, sizeof shown, "%s.%03u", text, (unsigned)(time_ns / TDM_NS_PER_MS % 1000));
	tdm_pen_field(pen, 13, TDM_INK_DIM, shown);
}

static void draw_bytes(struct tdm_pen *pen, uint64_t bytes)
{
	char text[TDM_BYTES_CAP];
	tdm_pen_field(pen, -12, bytes == TDM_BYTES_UNKNOWN ? TDM_INK_DIM : TDM_INK_PLAIN,
		tdm_format_bytes_short(text, sizeof text, bytes));
}

/* Bytes per bank times banks; unknown if the event has none. */
static uint64_t reserved_bytes(const struct tdm_event *event)
{
	return event->bytes_per_bank != TDM_SIZE_UNKNOWN ? event->bytes_per_bank * event->banks : TDM_BYTES_UNKNOWN;
}

/* Its index in the picture; TDM_INDEX_NONE: it is gone. */
static uint32_t process_of(const struct tdm_app *app, const struct tdm_event *event)
{
	const struct tdm_picture_process *process = tdm_app_find_process(app, event->process);
	return process != NULL ? (uint32_t)(process - app->picture->processes) : TDM_INDEX_NONE;
}

/* The device as every view calls it; an event has only the number that its process uses. */
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

static const char *name_of(const struct tdm_event *event)
{
	if (event->op == TDM_OP_ALLOC && (event->flags & TDM_EVENT_ADOPTED) != 0)
		return "adopt";
	if ((event->flags & TDM_EVENT_CLASH) != 0)
		return "clash";
	return event->op < TDM_OP_COUNT ? tdm_op_name((enum tdm_op)event->op) : "?";
}

/* "trace replayed 7"; the device itself is said before. */
static void draw_step(struct tdm_pen *pen, const struct tdm_event *event)
{
	bool is_of_trace = event->size >= TDM_STEP_TRACE_BEGAN;
	tdm_pen_text(pen, TDM_INK_CYAN, tdm_step_name(event->size));
	if (is_of_trace)
		tdm_pen_printf(pen, TDM_INK_CYAN, " %" PRIu64, event->id);
}

/* Where the two meet, if it is known. */
static void draw_clash(struct tdm_pen *pen, const struct tdm_event *event)
{
	bool is_beyond = (event->flags & TDM_EVENT_BEYOND) != 0;
	tdm_pen_text(pen, TDM_INK_RED,
		is_beyond ? "circular buffers grew beyond L1  " : "circular buffers grew into L1 buffers  ");
	if (event->id != 0 && event->address != 0)
		tdm_pen_printf(pen, TDM_INK_RED,
			is_beyond ? "(to 0x%" PRIx64 ", L1 ends at 0x%" PRIx64 ")  "
				  : "(to 0x%" PRIx64 ", L1 from 0x%" PRIx64 ")  ",
			event->id, event->address);
}

void tdm_event_draw(struct tdm_app *app, struct tdm_area line, const struct tdm_event *event)
{
	uint64_t reserved = reserved_bytes(event);
	struct tdm_pen pen = tdm_pen_at(&app->canvas, line, 0);
	char text[64], place[PLACE_CAP];
	tdm_pen_skip(&pen, 1);
	if (!tdm_area_is_narrow(line))
		draw_time(&pen, event->time_ns);
	snprintf(text, sizeof text, "%" PRId32, event->pid);
	tdm_pen_field(&pen, -8, TDM_INK_PLAIN, event->pid != 0 ? text : "?");
	if (event->op == TDM_OP_LOST) {
		tdm_pen_printf(&pen, TDM_INK_YELLOW, "  %s events are missing here",
			tdm_format_count(text, sizeof text, event->size));
		return;
	}
	device_text(app, event, text, sizeof text);
	if (!tdm_area_is_narrow(line))
		tdm_pen_field(&pen, -5, TDM_INK_PLAIN, text);
	tdm_pen_skip(&pen, 2);
	tdm_pen_field(&pen, 9, ink_of(event), name_of(event));
	bool has_memory = event->op == TDM_OP_ALLOC || event->op == TDM_OP_FREE || event->op == TDM_OP_OOM;
	if (has_memory) {
		tdm_pen_field(&pen, 10, TDM_INK_LABEL, tdm_device_kind_title((enum tdm_kind)event->kind));
		snprintf(text, sizeof text, "0x%" PRIx64, event->address);
		if (tdm_area_is_wide(line)) {
			tdm_pen_field(&pen, -14, TDM_INK_DIM, event->address == TDM_ADDRESS_UNKNOWN ? "" : text);
			draw_bytes(&pen, event->size);
			draw_bytes(&pen, reserved);
		} else
			draw_bytes(&pen,
				reserved == TDM_BYTES_UNKNOWN || event->op == TDM_OP_OOM ? event->size : reserved);
		tdm_pen_skip(&pen, 2);
	}
	if (event->op == TDM_OP_STEP) {
		draw_step(&pen, event);
		return;
	}
	if ((event->flags & TDM_EVENT_CLASH) != 0)
		draw_clash(&pen, event);
	if ((event->flags & TDM_EVENT_FAULT) != 0)
		tdm_pen_text(&pen, TDM_INK_RED, "released twice or never allocated  ");
	if (has_memory && event->name.len == 0 && event->stack != 0)
		tdm_pen_text(&pen, TDM_INK_PLAIN,
			tdm_app_place(app, "", process_of(app, event), event->stack, place, sizeof place));
	else
		tdm_pen_text(&pen, has_memory ? TDM_INK_PLAIN : TDM_INK_CYAN, event->name.ptr);
}

static void draw_state(struct tdm_app *app, struct tdm_area area)
{
	const struct tdm_event_log *log = &app->events;
	struct tdm_pen pen = tdm_pen_at(&app->canvas, area, 0);
	char text[TDM_BYTES_CAP];
	tdm_pen_printf(&pen, TDM_INK_PLAIN, " %s events", tdm_format_count(text, sizeof text, log->seen));
	if (log->lost != 0)
		tdm_pen_printf(&pen, TDM_INK_YELLOW, ", %s missing", tdm_format_count(text, sizeof text, log->lost));
	tdm_pen_printf(&pen, TDM_INK_DIM, "   op ");
	tdm_pen_text(&pen, TDM_INK_PLAIN, log->op < 0 ? "all" : tdm_op_name((enum tdm_op)log->op));
	tdm_pen_printf(&pen, TDM_INK_DIM, "   memory ");
	tdm_pen_text(&pen, TDM_INK_PLAIN, log->kind < 0 ? "all" : tdm_device_kind_title((enum tdm_kind)log->kind));
	const struct tdm_picture_process *process = tdm_app_find_process(app, log->handle);
	tdm_pen_printf(&pen, TDM_INK_DIM, "   process ");
	if (process != NULL)
		tdm_pen_printf(&pen, TDM_INK_PLAIN, "%" PRId32, process->pid);
	else
		tdm_pen_text(&pen, TDM_INK_PLAIN, log->handle != 0 ? "gone" : "all");
	if (!log->follows)
		tdm_pen_text(&pen, TDM_INK_YELLOW, "   scrolled back: End follows again");
}

static void draw_head(struct tdm_app *app, struct tdm_area area)
{
	struct tdm_pen pen = tdm_pen_at(&app->canvas, area, 0);
	tdm_canvas_fill(&app->canvas, area.row, area.col, area.cols, TDM_INK_HEAD, ' ');
	tdm_pen_skip(&pen, 1);
	if (!tdm_area_is_narrow(area))
		tdm_pen_field(&pen, 13, TDM_INK_HEAD, "TIME");
	tdm_pen_field(&pen, -8, TDM_INK_HEAD, "PID");
	if (!tdm_area_is_narrow(area))
		tdm_pen_field(&pen, -5, TDM_INK_HEAD, "DEV");
	tdm_pen_skip(&pen, 2);
	tdm_pen_field(&pen, 9, TDM_INK_HEAD, "OP");
	tdm_pen_field(&pen, 10, TDM_INK_HEAD, "KIND");
	if (tdm_area_is_wide(area)) {
		tdm_pen_field(&pen, -14, TDM_INK_HEAD, "ADDRESS");
		tdm_pen_field(&pen, -12, TDM_INK_HEAD, "ASKED");
		tdm_pen_field(&pen, -12, TDM_INK_HEAD, "RESERVED");
	} else
		tdm_pen_field(&pen, -12, TDM_INK_HEAD, "BYTES");
	tdm_pen_text(&pen, TDM_INK_HEAD, "  NAME");
}

static void draw(struct tdm_app *app, struct tdm_area area)
{
	struct tdm_event_log *log = &app->events;
	draw_state(app, tdm_area_take_rows(&area, 1));
	if (area.rows > 1)
		draw_head(app, tdm_area_take_rows(&area, 1));
	tdm_event_log_prepare(log);
	if (log->follows)
		log->list.chosen = log->line_count != 0 ? log->line_count - 1 : 0;
	else
		log->list.chosen = log->list.top;
	tdm_list_fit(&log->list, log->line_count, area.rows);
	if (log->line_count == 0) {
		struct tdm_pen pen = tdm_pen_at(&app->canvas, area, 0);
		tdm_pen_text(&pen, TDM_INK_DIM,
			app->picture != NULL && app->picture->hosts != NULL
				? "  Events are not fetched from other machines: their daemons send them at "
				  "/api/v1/events."
			: log->added == 0 ? "  No event yet: programs with libtidemark and TIDEMARK=1 send them."
					  : "  No event matches the filters.");
	}
	for (int i = 0; i < area.rows && log->list.top + (size_t)i < log->line_count; i++)
		tdm_event_draw(app, (struct tdm_area){ area.row + i, area.col, 1, area.cols },
			tdm_event_log_line(log, log->list.top + (size_t)i));
}

static bool key(struct tdm_app *app, int key)
{
	struct tdm_event_log *log = &app->events;
	if (!tdm_list_scroll(&log->list, key))
		return false;
	log->follows = key == TDM_KEY_END || log->list.top + log->list.page >= log->list.count;
	return true;
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
