/* Screen 3, one process: identity, holdings of each kind, and live buffers or the sites that allocated them. */
#include "tui/app/app.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analyze/live/run_findings.h"
#include "base/clock.h"
#include "base/number.h"
#include "base/units.h"

enum { TEXT_CAP = 320, KIND_LINES_MAX = 8 };

static void labelled(struct tdm_pen *pen, enum tdm_ink ink, const char *label, const char *text)
{
	tdm_pen_printf(pen, TDM_INK_DIM, "  %s ", label);
	tdm_pen_text(pen, ink, text);
}

/* Draws the post-mortem of a process that was killed or crashed, from its ledger. With WITH_EVENTS rows or more, the
 * post-mortem includes events. Returns the number of lines. */
static int draw_post_mortem(struct tdm_app *app, struct tdm_area area, const struct tdm_picture_process *process)
{
	enum { EVENTS_MAX = 5, WITH_EVENTS = 16, REFUSED_COLUMNS = 48 };
	const struct tdm_picture *picture = app->picture;
	const struct tdm_event *events[EVENTS_MAX];
	const struct tdm_counter *failure = NULL; /* counter of the kind that ran out of memory most often */
	uint64_t youngest_ns = 0, last_ns = 0, bytes = 0, buffers = 0;
	uint32_t found = 0;
	enum tdm_kind kind = TDM_KIND_DRAM;
	char text[TDM_TIME_CAP];
	size_t event_count = tdm_event_log_last(&app->events, process->handle, events, EVENTS_MAX);
	for (uint32_t at = 0; at < process->holding_count * TDM_KIND_COUNT; at++) {
		const struct tdm_holding *holding = &picture->holdings[process->first_holding + at / TDM_KIND_COUNT];
		const struct tdm_counter *amount = &holding->kinds[at % TDM_KIND_COUNT];
		const struct tdm_buffer_list *list = &holding->buffers[at % TDM_KIND_COUNT];
		bytes = amount->reserved != TDM_BYTES_UNKNOWN ? tdm_plus(bytes, amount->reserved) : bytes;
		buffers = amount->buffers != TDM_BYTES_UNKNOWN ? tdm_plus(buffers, amount->buffers) : buffers;
		if (tdm_is_some(amount->out_of_memory) &&
			(failure == NULL || failure->out_of_memory < amount->out_of_memory)) {
			failure = amount;
			kind = (enum tdm_kind)(at % TDM_KIND_COUNT);
		}
		for (size_t i = 0; i < list->count; i++)
			if (list->list[i].born_ns > youngest_ns) {
				youngest_ns = list->list[i].born_ns;
				found = list->list[i].program;
			}
	}
	/* The time of the process's last report. The exact end is unknown, but not much later. */
	if (youngest_ns != 0 && youngest_ns <= picture->time_ns)
		last_ns = picture->real_ns - (picture->time_ns - youngest_ns);
	if (event_count != 0)
		last_ns = tdm_max(last_ns, events[0]->time_ns);
	struct tdm_pen pen = tdm_pen_at(&app->canvas, area, 0);
	tdm_pen_text(&pen, TDM_INK_RED,
		process->crashed ? " Killed or crashed: it ended without closing its ledger." : " It has ended.");
	if (tdm_format_time(text, sizeof text, last_ns)[0] != '\0')
		labelled(&pen, TDM_INK_PLAIN, "last report", text);
	if (last_ns != 0 && last_ns <= picture->real_ns)
		tdm_pen_printf(&pen, TDM_INK_DIM, ", %s ago",
			tdm_format_duration(text, sizeof text, picture->real_ns - last_ns));
	pen = tdm_pen_at(&app->canvas, area, 1);
	labelled(&pen, TDM_INK_PLAIN, "it held", tdm_format_bytes_short(text, sizeof text, bytes));
	tdm_pen_text(&pen, TDM_INK_DIM, " in ");
	tdm_pen_printf(&pen, TDM_INK_PLAIN, "%s buffer%s", tdm_format_count(text, sizeof text, buffers),
		buffers == 1 ? "" : "s");
	/* The program that ran, from the last event that names one, else from the youngest buffer. */
	const char *program = tdm_event_log_program(&app->events, process->handle);
	program = program[0] != '\0' ? program : tdm_picture_text(picture, found);
	labelled(&pen, program[0] != '\0' ? TDM_INK_CYAN : TDM_INK_DIM, "program",
		program[0] != '\0' ? program : "none");
	int lines = 2;
	if (failure != NULL && tdm_pen_room(&pen) < REFUSED_COLUMNS && area.rows > lines)
		pen = tdm_pen_at(&app->canvas, area, lines++);
	if (failure != NULL)
		tdm_pen_printf(&pen, TDM_INK_RED, "  out of memory: %s of %s were refused",
			tdm_format_bytes_short(text, sizeof text, failure->oom_bytes), tdm_kind_title(kind));
	if (area.rows < WITH_EVENTS)
		return lines;
	pen = tdm_pen_at(&app->canvas, area, lines++);
	tdm_pen_text(&pen, TDM_INK_DIM, event_count != 0 ? "  its last events:" : "  its last events are not known");
	for (size_t i = event_count; i-- > 0;)
		tdm_event_draw(app, (struct tdm_area){ area.row + lines++, area.col, 1, area.cols }, events[i]);
	return lines;
}

/* ---- the process ---- */

static void wish(struct tdm_app *app, struct tdm_wish *wish, bool now)
{
	const struct tdm_picture_process *process = tdm_app_chosen_process(app);
	wish->no_largest = true;
	if (process == NULL)
		return;
	app->process_handle = process->handle; /* otherwise the first process in the next picture might be shown */
	tdm_buffer_view_wish(&app->buffers, process->handle, wish, now);
	if (process->life != TDM_LIFE_ENDED || app->events.paused)
		return; /* events are delivered only once and would be lost here */
	wish->parts |= TDM_WISH_EVENTS;
	wish->events_of = process->handle;
}

static void refresh(struct tdm_app *app, const struct tdm_wish *wish)
{
	const struct tdm_picture_process *process = tdm_app_chosen_process(app);
	if (process != NULL && process->handle == wish->process) {
		if (tdm_buffer_view_refresh(&app->buffers, app->picture, process, wish))
			app->buffer_list = (struct tdm_list){ 0 };
		return;
	}
	tdm_buffer_view_done(&app->buffers);
	app->look_now = process != NULL;
}

static void draw_facts(struct tdm_app *app, struct tdm_area area, const struct tdm_picture_process *process)
{
	static const char *const labels[] = { "lost events", "faults", "out of memory" };
	const uint64_t counts[] = { process->lost, process->faults, process->out_of_memory };
	uint64_t real_ns = app->picture->real_ns, time_ns = app->picture->time_ns,
		 hazards = tdm_trace_hazards_count(app->picture, process, TDM_HAZARD_LIVE);
	char text[TEXT_CAP];
	struct tdm_pen pen = tdm_pen_at(&app->canvas, area, 0);
	tdm_pen_printf(&pen, TDM_INK_BOLD, " %" PRId32 "  ", process->pid);
	tdm_pen_text(&pen, TDM_INK_BOLD, tdm_picture_command(process));
	pen = tdm_pen_at(&app->canvas, area, 1);
	labelled(&pen, TDM_INK_PLAIN, "user", process->user);
	labelled(&pen, TDM_INK_PLAIN, "devices", tdm_proc_devices(app->picture, process, text, sizeof text));
	if (tdm_format_time(text, sizeof text, process->started_ns)[0] != '\0')
		labelled(&pen, TDM_INK_PLAIN, "started", text);
	if (process->started_ns != 0 && process->started_ns <= real_ns && process->life != TDM_LIFE_ENDED)
		labelled(&pen, TDM_INK_PLAIN, "age",
			tdm_format_duration(text, sizeof text, real_ns - process->started_ns));
	labelled(&pen, TDM_INK_PLAIN, "source", tdm_proc_sources(process->sources, text, sizeof text));
	if (process->is_claimed)
		tdm_pen_text(&pen, TDM_INK_RED, "  its pid is only claimed");
	if (process->as_of_ns != 0 && process->as_of_ns <= time_ns)
		tdm_pen_printf(&pen, TDM_INK_YELLOW, "  its daemon has ended: figures of %s ago",
			tdm_format_duration(text, sizeof text, time_ns - process->as_of_ns));
	if (process->in_container)
		tdm_pen_text(&pen, TDM_INK_MAGENTA, "  in a container, where it has another pid");
	pen = tdm_pen_at(&app->canvas, area, 2);
	bool has_ledger = (process->sources & UINT32_C(1) << TDM_FROM_LEDGER) != 0;
	labelled(&pen, process->phase[0] != '\0' ? TDM_INK_CYAN : TDM_INK_DIM, "phase",
		process->phase[0] != '\0' ? process->phase
		: has_ledger              ? "none"
					  : "unknown");
	for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
		labelled(&pen,
			counts[i] == TDM_BYTES_UNKNOWN ? TDM_INK_DIM
			: counts[i] == 0               ? TDM_INK_PLAIN
			: i == 0                       ? TDM_INK_YELLOW
						       : TDM_INK_RED,
			labels[i], tdm_format_count(text, sizeof text, counts[i]));
	if (hazards != 0)
		tdm_pen_printf(
			&pen, TDM_INK_RED, "  trace hazards %s (w)", tdm_format_count(text, sizeof text, hazards));
}

/* Formats a size in the unit of the larger of the two sizes in its line. */
static const char *size_text(char dst[TDM_BYTES_CAP + 1], bool is_estimated, uint64_t bytes, uint64_t other)
{
	char text[TDM_BYTES_CAP];
	uint64_t larger = other == TDM_BYTES_UNKNOWN ? bytes : tdm_max(bytes, other);
	snprintf(dst, TDM_BYTES_CAP + 1, "%s%s", tdm_estimate_mark(is_estimated, bytes),
		tdm_format_bytes_like(text, sizeof text, bytes, larger));
	return dst;
}

static enum tdm_ink ink_of(uint64_t bytes)
{
	return tdm_is_some(bytes) ? TDM_INK_PLAIN : TDM_INK_DIM;
}

/* Draws a kind of memory on a device; a NULL holding draws the titles. On a narrow screen, used bytes and the peak fit
 * into 40 columns. */
static void draw_amount(
	struct tdm_app *app, struct tdm_area line, const struct tdm_holding *holding, enum tdm_kind kind)
{
	enum { SIZE = -(TDM_BYTES_COLUMNS + 2) };
	const struct tdm_counter none = { 0 }, *amount = holding != NULL ? &holding->kinds[kind] : &none;
	const struct tdm_picture_device *device = holding != NULL ? &app->picture->devices[holding->device] : NULL;
	const struct tdm_buffer_view *view = &app->buffers;
	char text[TDM_PICK_LABEL_CAP] = "";
	bool is_narrow = tdm_area_is_narrow(line);
	int hosts = (int)tdm_pick_host_columns(app->picture), plain = is_narrow ? 4 : 6;
	struct tdm_pen pen = tdm_pen_row(&app->canvas, line, holding == NULL);
	tdm_pen_skip(&pen, 2);
	if (device != NULL)
		tdm_pick_label(device, text, sizeof text);
	tdm_pen_column(&pen, hosts >= plain ? hosts + 1 : plain, TDM_INK_PLAIN, "DEV", text);
	tdm_pen_column(&pen, is_narrow ? 9 : 12, TDM_INK_LABEL, "KIND", tdm_kind_title(kind));
	tdm_pen_column(&pen, SIZE, ink_of(amount->reserved), "USED",
		size_text(text, amount->is_estimated, amount->reserved, amount->peak));
	tdm_pen_column(&pen, SIZE, ink_of(amount->peak), "PEAK",
		size_text(text, amount->is_estimated, amount->peak, amount->reserved));
	if (tdm_pen_room(&pen) < 12)
		return;
	/* Long lists may be older than the counters, so the number next to a list is its number of lines. */
	bool is_listed = holding != NULL && view->picture == app->picture && view->problem == NULL &&
			 view->process == holding->process;
	tdm_pen_column(&pen, -12, TDM_INK_PLAIN, "BUFFERS",
		tdm_format_count(text, sizeof text, is_listed ? holding->buffers[kind].count : amount->buffers));
	tdm_pen_skip(&pen, 2);
	if (device == NULL) {
		tdm_pen_text(&pen, TDM_INK_HEAD, tdm_pen_room(&pen) >= 13 ? "OF THE DEVICE" : "");
		return;
	}
	if (tdm_pen_room(&pen) < 6)
		return;
	uint64_t total = device->kinds[kind].total;
	enum tdm_level level = tdm_level_of(amount->reserved, total);
	if (tdm_pen_room(&pen) > 20)
		tdm_gauge_bar(&pen, tdm_pen_room(&pen) - 18 < 40 ? tdm_pen_room(&pen) - 18 : 40, level,
			amount->reserved, total);
	tdm_gauge_percent(&pen, level, amount->reserved, total);
	const char *source = tdm_from_name((enum tdm_from)amount->from);
	if ((int)strlen(source) + 2 <= tdm_pen_room(&pen))
		tdm_pen_printf(&pen, TDM_INK_DIM, "  %s", source);
}

/* Draws every kind that the process has or had. If there is not enough room, the last line says so. Returns the number
 * of lines. */
static int draw_amounts(struct tdm_app *app, struct tdm_area area, const struct tdm_picture_process *process)
{
	int used = 0, count = 0, shown = 0;
	for (int draws = 0; draws < 2; draws++) { /* the first pass only counts lines */
		shown = count > area.rows ? area.rows - 1 : count;
		for (uint32_t at = 0; at < process->holding_count * TDM_KIND_COUNT; at++) {
			const struct tdm_holding *holding =
				&app->picture->holdings[process->first_holding + at / TDM_KIND_COUNT];
			enum tdm_kind kind = (enum tdm_kind)(at % TDM_KIND_COUNT);
			bool has = tdm_is_some(holding->kinds[kind].reserved) || tdm_is_some(holding->kinds[kind].peak);
			count += has && draws == 0;
			if (has && used < shown)
				draw_amount(app, (struct tdm_area){ area.row + used++, area.col, 1, area.cols },
					holding, kind);
		}
	}
	struct tdm_pen pen = tdm_pen_at(&app->canvas, area, used);
	if (count == 0)
		tdm_pen_text(&pen, TDM_INK_DIM, "  It is not known to hold anything.");
	else if (count > shown)
		tdm_pen_printf(&pen, TDM_INK_DIM, "  and %d more line%s", count - shown, count - shown == 1 ? "" : "s");
	return count == 0 || count > shown ? used + 1 : used;
}

/* `sort`: the sort order that a click on the title chooses; TDM_SORT_COUNT for none. */
static void column(struct tdm_app *app, struct tdm_pen *pen, int width, enum tdm_ink ink, const char *title,
	const char *text, enum tdm_buffer_sort sort)
{
	const struct tdm_buffer_view *view = &app->buffers;
	bool is_sorted = pen->is_head && (view->by_site ? sort == TDM_SORT_SIZE : view->sort == sort);
	if (pen->is_head && sort != TDM_SORT_COUNT)
		tdm_app_zone(app, (struct tdm_area){ pen->row, pen->col, 1, width < 0 ? -width : width },
			TDM_ZONE_BUFFER_SORT, (size_t)sort);
	if (is_sorted)
		tdm_pen_field(pen, width, TDM_INK_SORTED, title);
	else
		tdm_pen_column(pen, width, ink, title, text);
}

/* Draws a buffer, or a site with all buffers allocated at one place; SIZE_MAX draws the titles. */
static void draw_buffer(struct tdm_app *app, struct tdm_area line, size_t index)
{
	const struct tdm_picture *picture = app->picture;
	const struct tdm_buffer_view *view = &app->buffers;
	const struct tdm_buffer none = { .address = TDM_ADDRESS_UNKNOWN }, *buffer = &none;
	const struct tdm_site *site = NULL;
	bool is_head = index == SIZE_MAX, by_site = view->by_site, is_narrow = tdm_area_is_narrow(line),
	     is_wide = tdm_area_is_wide(line);
	char text[TEXT_CAP] = "", age[TDM_DURATION_CAP];
	struct tdm_pen pen = tdm_pen_row(&app->canvas, line, is_head);
	if (!is_head && by_site)
		site = tdm_buffer_view_site(view, index);
	else if (!is_head) {
		const struct tdm_buffer_ref *ref = tdm_buffer_view_buffer(view, index);
		const struct tdm_holding *holding = &picture->holdings[ref->holding];
		buffer = ref->buffer;
		snprintf(text, sizeof text, "%" PRIu32 "%s", holding->number,
			picture->devices[holding->device].is_virtual ? "v" : "");
	}
	uint64_t asked = site != NULL ? site->asked_bytes : buffer->asked_bytes,
		 reserved = site != NULL ? site->reserved_bytes : tdm_buffer_reserved(buffer),
		 born_ns = site != NULL ? site->oldest_ns : buffer->born_ns;
	unsigned kind = site != NULL ? site->kind : buffer->kind;
	tdm_pen_skip(&pen, 1);
	column(app, &pen, 10, TDM_INK_LABEL, "KIND", tdm_kind_title((enum tdm_kind)kind), TDM_SORT_COUNT);
	if (!by_site)
		column(app, &pen, 4, TDM_INK_PLAIN, "DEV", text, TDM_SORT_COUNT);
	if (!is_narrow && by_site)
		column(app, &pen, -10, TDM_INK_PLAIN, "BUFFERS",
			tdm_format_count(text, sizeof text, site != NULL ? site->count : 0), TDM_SORT_COUNT);
	else if (!is_narrow)
		column(app, &pen, -14, TDM_INK_DIM, "ADDRESS",
			buffer->address == TDM_ADDRESS_UNKNOWN ? "no address"
							       : tdm_format_hex(text, sizeof text, buffer->address),
			TDM_SORT_ADDRESS);
	if (is_wide || (by_site && !is_narrow))
		column(app, &pen, -12, ink_of(asked), "ASKED", size_text(text, false, asked, reserved), TDM_SORT_COUNT);
	column(app, &pen, -12, ink_of(reserved), "RESERVED",
		size_text(text, site == NULL && buffer->bank_bytes == TDM_SIZE_UNKNOWN, reserved, asked),
		TDM_SORT_SIZE);
	snprintf(text, sizeof text, "%" PRIu32, buffer->banks);
	if (!by_site && is_wide)
		column(app, &pen, -7, TDM_INK_DIM, "BANKS",
			tdm_buffer_is_view(buffer) ? "view"
			: buffer->banks == 0       ? "?"
						   : text,
			TDM_SORT_COUNT);
	bool is_known = born_ns != 0 && born_ns <= picture->time_ns;
	if (!is_narrow)
		column(app, &pen, -9, TDM_INK_DIM, by_site ? "OLDEST" : "AGE",
			tdm_buffer_is_adopted(buffer) ? "before" /* allocated before tracking began */
			: is_known                    ? tdm_format_duration(age, sizeof age, picture->time_ns - born_ns)
						      : "?",
			by_site ? TDM_SORT_COUNT : TDM_SORT_AGE);
	tdm_pen_skip(&pen, 2);
	if (is_head) {
		column(app, &pen, 4, TDM_INK_HEAD, "SITE", "", TDM_SORT_SITE);
		tdm_pen_text(&pen, TDM_INK_HEAD, by_site ? "" : "  PROGRAM");
		bool is_old = view->age_ns != 0 && view->problem == NULL;
		char count[TDM_BYTES_CAP];
		int len = snprintf(text, sizeof text, " %s %s%s%s%s ",
			tdm_format_count(count, sizeof count, tdm_buffer_view_count(view)),
			by_site ? "sites" : "buffers", view->filter[0] != '\0' ? ", filtered" : "",
			is_old ? ", older by " : "", is_old ? tdm_pace_format_age(age, sizeof age, view->age_ns) : "");
		if (len <= tdm_pen_room(&pen))
			tdm_canvas_put(&app->canvas, line.row, line.col + line.cols - len, len, TDM_INK_HEAD, text);
		return;
	}
	const char *program = tdm_picture_text(picture, buffer->program),
		   *name = tdm_picture_text(picture, site != NULL ? site->name : buffer->name);
	/* written before the function, which may be so long that it would push the program out of view */
	if (program[0] != '\0' && name[0] == '\0')
		tdm_pen_printf(&pen, TDM_INK_CYAN, "%s  ", program);
	tdm_pen_text(&pen, TDM_INK_PLAIN,
		tdm_app_place(app, name, view->process, site != NULL ? site->stack : buffer->stack, text, sizeof text));
	if (program[0] != '\0' && name[0] != '\0')
		tdm_pen_printf(&pen, TDM_INK_CYAN, "  %s", program);
}

static void draw_buffers(struct tdm_app *app, struct tdm_area area)
{
	struct tdm_buffer_view *view = &app->buffers;
	struct tdm_area head = tdm_area_take_rows(&area, 1);
	if (head.rows == 0)
		return;
	tdm_buffer_view_prepare(view);
	draw_buffer(app, head, SIZE_MAX);
	size_t count = tdm_buffer_view_count(view);
	tdm_list_fit(&app->buffer_list, count, area.rows);
	tdm_app_zone(app, area, TDM_ZONE_BUFFERS, app->buffer_list.top);
	if (view->problem != NULL || count == 0) {
		struct tdm_pen pen = tdm_pen_at(&app->canvas, area, 0);
		tdm_pen_printf(&pen, view->problem != NULL ? TDM_INK_YELLOW : TDM_INK_DIM, "  %s",
			view->problem != NULL  ? view->problem
			: view->filter[0] != 0 ? "No buffer matches the filter; Esc clears it."
					       : "It has no live buffers.");
		return;
	}
	for (int i = 0; i < area.rows && app->buffer_list.top + (size_t)i < count; i++) {
		struct tdm_area line = { area.row + i, area.col, 1, area.cols };
		draw_buffer(app, line, app->buffer_list.top + (size_t)i);
		if (app->buffer_list.top + (size_t)i == app->buffer_list.chosen)
			tdm_canvas_shade(&app->canvas, line.row, line.col, line.cols, TDM_INK_CURSOR);
	}
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
		tdm_area_take_rows(&area, draw_post_mortem(app, area, process));
	if (area.rows >= 8) {
		draw_amount(app, tdm_area_take_rows(&area, 1), NULL, TDM_KIND_DRAM);
		/* The lines of kinds get a third of the rows, and any rows that the buffer list and its head leave
		 * empty. */
		tdm_buffer_view_prepare(&app->buffers);
		size_t buffers = tdm_buffer_view_count(&app->buffers), list = buffers == 0 ? 2 : buffers + 1;
		int most = area.rows / 3 < KIND_LINES_MAX ? area.rows / 3 : KIND_LINES_MAX;
		if (list < (size_t)area.rows && area.rows - (int)list > most)
			most = area.rows - (int)list;
		int used = draw_amounts(app, (struct tdm_area){ area.row, area.col, most, area.cols }, process);
		tdm_area_take_rows(&area, used);
	}
	draw_buffers(app, area);
}

static void key(struct tdm_app *app)
{
	tdm_buffer_view_prepare(&app->buffers);
	app->buffer_list.count = tdm_buffer_view_count(&app->buffers);
	tdm_list_key(&app->buffer_list, app->key);
}

static bool search(struct tdm_app *app, size_t from, bool forward)
{
	struct tdm_buffer_view *view = &app->buffers;
	tdm_buffer_view_prepare(view);
	size_t count = tdm_buffer_view_count(view);
	for (size_t i = 0; i < count; i++) {
		size_t line = forward ? (from + i) % count : (from + count - i) % count;
		if (strcasestr(tdm_buffer_view_text(view, line), app->search)) {
			app->buffer_list.chosen = line;
			return true;
		}
	}
	return false;
}

static char *filter(struct tdm_app *app)
{
	return app->buffers.filter;
}

const struct tdm_screen tdm_screen_process = {
	.name = "process",
	.wish = wish,
	.refresh = refresh,
	.draw = draw,
	.key = key,
	.search = search,
	.filter = filter,
	.filtered = tdm_app_buffers_changed,
};
