/*
 * Each view remembers the process or device of its last picture and the basis of its lists: the version of the buffers
 * in the picture, the sort order and the filter. It sorts or draws again only when one of these changes. A stamp
 * computed from the counters shows whether kept lists still match; if not, the view shows how old its lists are.
 */
#include "view/rows/buffer_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/units.h"
#include "base/memory.h"
#include "base/number.h"
#include "view/rows/live_result.h"
#include "view/write/write.h"

/* ---- pace ---- */

bool tdm_pace_is_due(const struct tdm_pace *pace)
{
	return pace->buffers <= TDM_PACE_FREE || tdm_clock_ns() - pace->ended_ns >= pace->cost_ns * TDM_PACE_SHARE;
}

void tdm_pace_took(struct tdm_pace *pace, uint64_t begun_ns, size_t items)
{
	pace->ended_ns = tdm_clock_ns();
	pace->cost_ns = pace->ended_ns - begun_ns;
	pace->buffers = items;
}

/*
 * Call when work on the buffer lists for a process or device is done; TDM_INDEX_NONE means all. The lists count as new
 * unless they were kept from an earlier picture. Returns how much older the lists are than the picture's counters; 0 if
 * nothing has changed since.
 */
static uint64_t pace_done(
	struct tdm_pace *pace, const struct tdm_picture *picture, uint32_t process, uint32_t device, bool was_held)
{
	uint64_t stamp = 0; /* changes when buffers are allocated or freed */
	size_t buffers = 0;
	/* buffers changed while they were being listed, so the list does not match the counters */
	bool is_inexact = false;
	for (size_t i = 0; i < picture->holding_count; i++) {
		const struct tdm_holding *holding = &picture->holdings[i];
		if ((process != TDM_INDEX_NONE && holding->process != process) ||
			(device != TDM_INDEX_NONE && holding->device != device))
			continue;
		stamp = tdm_hash_u64(stamp ^ picture->processes[holding->process].handle);
		buffers += tdm_holding_buffer_count(holding);
		for (size_t k = 0; k < TDM_KIND_COUNT; k++) {
			const struct tdm_counter *amount = &holding->kinds[k];
			is_inexact |= amount->is_inexact;
			if (amount->allocs != 0)
				stamp = tdm_hash_u64(
					stamp ^ amount->allocs ^ amount->reserved << 20 ^ amount->buffers << 40);
		}
	}
	if (!was_held) {
		pace->taken_ns = picture->time_ns;
		pace->stamp = stamp;
		tdm_pace_took(pace, picture->time_ns, buffers);
	}
	if (stamp == pace->stamp && !is_inexact)
		return 0;
	return picture->time_ns > pace->taken_ns ? picture->time_ns - pace->taken_ns : 1;
}

char *tdm_pace_format_age(char *dst, size_t cap, uint64_t age_ns)
{
	const uint64_t tenth = TDM_NS_PER_S / 10;
	return tdm_format_duration(dst, cap, (age_ns + tenth - 1) / tenth * tenth);
}

/* ---- buffers of a process ---- */

void tdm_buffer_view_changed(struct tdm_buffer_view *view)
{
	free(view->buffers);
	free(view->sites);
	view->buffers = NULL;
	view->sites = NULL;
	view->buffer_count = view->site_count = 0;
	view->is_sorted = false;
}

void tdm_buffer_view_wish(const struct tdm_buffer_view *view, uint64_t handle, struct tdm_wish *wish, bool now)
{
	wish->parts |= TDM_WISH_BUFFERS;
	wish->process = handle;
	wish->hold = !now && view->handle == handle && !tdm_pace_is_due(&view->pace);
}

bool tdm_buffer_view_refresh(struct tdm_buffer_view *view, const struct tdm_picture *picture,
	const struct tdm_picture_process *process, const struct tdm_wish *wish)
{
	bool is_other = view->handle != process->handle;
	if (is_other || view->version != picture->buffers_version)
		tdm_buffer_view_changed(view);
	view->handle = process->handle;
	view->picture = picture;
	view->process = (uint32_t)(process - picture->processes);
	view->version = picture->buffers_version;
	view->problem = process->who == NULL ? "the process has no ledger: its buffers are not known" : NULL;
	for (size_t i = 0; view->problem == NULL && process->who->is_stuck && i < picture->problem_count; i++)
		if (strcmp(picture->problems[i].place, process->ledger) == 0)
			view->problem = picture->problems[i].text;
	tdm_buffer_view_prepare(view);
	view->age_ns = pace_done(&view->pace, picture, view->process, TDM_INDEX_NONE, wish->hold);
	return is_other;
}

static bool matches(const struct tdm_buffer_view *view, uint32_t name, uint32_t program, uint8_t kind)
{
	return strcasestr(tdm_picture_text(view->picture, name), view->filter) != NULL ||
	       strcasestr(tdm_picture_text(view->picture, program), view->filter) != NULL ||
	       strcasestr(tdm_kind_name((enum tdm_kind)kind), view->filter) != NULL;
}

void tdm_buffer_view_prepare(struct tdm_buffer_view *view)
{
	static const struct tdm_buffer_filter all = { 0 };
	if (view->is_sorted || view->picture == NULL)
		return;
	tdm_buffer_view_changed(view);
	if (view->by_site)
		view->sites = tdm_sites_find(view->picture, view->process, &view->site_count);
	else
		view->buffers = tdm_live_buffers(view->picture, view->process, &all, view->sort, &view->buffer_count);
	size_t sites = 0, buffers = 0; /* number of lines that match the filter; an empty filter matches all */
	for (size_t i = 0; i < view->site_count; i++)
		if (matches(view, view->sites[i].name, 0, view->sites[i].kind))
			view->sites[sites++] = view->sites[i];
	for (size_t i = 0; i < view->buffer_count; i++) {
		const struct tdm_buffer *buffer = view->buffers[i].buffer;
		if (view->filter[0] == '\0' || matches(view, buffer->name, buffer->program, buffer->kind))
			view->buffers[buffers++] = view->buffers[i];
	}
	view->site_count = sites;
	view->buffer_count = buffers;
	view->is_sorted = true;
}

void tdm_buffer_view_done(struct tdm_buffer_view *view)
{
	tdm_buffer_view_changed(view);
	view->picture = NULL;
}

size_t tdm_buffer_view_count(const struct tdm_buffer_view *view)
{
	return view->by_site ? view->site_count : view->buffer_count;
}

static size_t line_at(const struct tdm_buffer_view *view, size_t line)
{
	return view->reversed ? tdm_buffer_view_count(view) - 1 - line : line;
}

const struct tdm_buffer_ref *tdm_buffer_view_buffer(const struct tdm_buffer_view *view, size_t line)
{
	return &view->buffers[line_at(view, line)];
}

const struct tdm_site *tdm_buffer_view_site(const struct tdm_buffer_view *view, size_t line)
{
	return &view->sites[line_at(view, line)];
}

const char *tdm_buffer_view_text(const struct tdm_buffer_view *view, size_t line)
{
	if (view->by_site)
		return tdm_picture_text(view->picture, tdm_buffer_view_site(view, line)->name);
	const struct tdm_buffer *buffer = tdm_buffer_view_buffer(view, line)->buffer;
	const char *name = tdm_picture_text(view->picture, buffer->name);
	return name[0] != '\0' ? name : tdm_picture_text(view->picture, buffer->program);
}

/* ---- map of a device ---- */

void tdm_device_view_done(struct tdm_device_view *view)
{
	if (view->has_map)
		tdm_device_map_done(&view->map);
	view->has_map = false;
	view->problem = NULL;
	tdm_buf_clear(&view->text);
}

void tdm_device_view_wish(const struct tdm_device_view *view, uint64_t key, struct tdm_wish *wish, bool now)
{
	wish->parts |= TDM_WISH_BUFFERS;
	wish->device = key;
	wish->hold = !now && view->key == key && !tdm_pace_is_due(&view->pace);
}

bool tdm_device_view_refresh(
	struct tdm_device_view *view, const struct tdm_picture *picture, size_t device, const struct tdm_wish *wish)
{
	bool is_other = view->key != picture->devices[device].key;
	view->picture = picture;
	if (is_other || !view->has_map || view->version != picture->buffers_version) {
		tdm_device_view_done(view);
		for (size_t i = 0; i < picture->holding_count; i++)
			view->has_map |= picture->holdings[i].device == device &&
					 picture->processes[picture->holdings[i].process].who != NULL;
		if (view->has_map)
			tdm_device_map_init(&view->map, picture, (uint32_t)device, TDM_INDEX_NONE);
		else
			view->problem = "no process with a ledger uses the device: its buffers are not known";
	}
	view->key = picture->devices[device].key;
	view->version = picture->buffers_version;
	view->age_ns = pace_done(&view->pace, picture, TDM_INDEX_NONE, (uint32_t)device, wish->hold);
	return is_other;
}

struct tdm_str tdm_device_view_text(struct tdm_device_view *view, int cols, bool utf8)
{
	const struct tdm_live_report report = { .picture = view->picture,
		.term = { .colour = true, .utf8 = utf8, .width = (size_t)cols } };
	if (view->text.len == 0 || view->text_cols != cols || view->text_utf8 != utf8) {
		tdm_buf_clear(&view->text);
		struct tdm_result *result = tdm_result_new();
		tdm_map_show(&result->top, &report, &view->map);
		tdm_write_text(&result->top, &report.term, &view->text);
		tdm_result_free(result);
	}
	view->text_cols = cols;
	view->text_utf8 = utf8;
	return tdm_buf_str(&view->text);
}

/* ---- events ---- */

void tdm_event_log_start(struct tdm_event_log *log)
{
	if (log->is_on)
		return;
	log->is_on = log->follows = true;
	log->op = log->kind = -1;
}

void tdm_event_log_add(struct tdm_event_log *log, const struct tdm_picture *picture)
{
	if (log->paused || picture->event_count == 0)
		return;
	if (log->events == NULL) {
		log->events = tdm_alloc(TDM_EVENT_LOG_CAP * sizeof *log->events);
		log->lines = tdm_alloc(TDM_EVENT_LOG_CAP * sizeof *log->lines);
	}
	for (size_t i = 0; i < picture->event_count; i++) {
		struct tdm_event *event = &log->events[log->added++ % TDM_EVENT_LOG_CAP];
		*event = picture->events[i];
		/* Making a picture takes a while, so an event may be younger than the picture's time. */
		uint64_t age_ns = picture->time_ns - event->time_ns;
		bool is_known =
			event->time_ns != 0 && (event->time_ns > picture->time_ns || age_ns <= picture->real_ns);
		event->time_ns = is_known ? picture->real_ns - age_ns : 0;
		if (event->op == TDM_OP_LOST)
			log->lost += event->size;
		else
			log->seen++;
	}
}

void tdm_event_log_changed(struct tdm_event_log *log)
{
	log->line_count = 0;
	log->looked = 0;
	log->follows = true;
}

static bool is_shown(const struct tdm_event_log *log, const struct tdm_event *event)
{
	if (log->handle != 0 && event->process != log->handle)
		return false;
	if (event->op == TDM_OP_LOST)
		return true;
	bool has_kind = event->op == TDM_OP_ALLOC || event->op == TDM_OP_FREE || event->op == TDM_OP_OOM;
	return (log->op < 0 || event->op == log->op) && (log->kind < 0 || (has_kind && event->kind == log->kind)) &&
	       (log->filter[0] == '\0' || strcasestr(event->name.ptr, log->filter) != NULL);
}

size_t tdm_event_log_prepare(struct tdm_event_log *log)
{
	uint64_t oldest = log->added > TDM_EVENT_LOG_CAP ? log->added - TDM_EVENT_LOG_CAP : 0;
	size_t gone = 0;
	if (log->looked == log->added)
		return 0;
	while (gone < log->line_count && log->lines[gone] < oldest)
		gone++;
	log->line_count -= gone;
	memmove(log->lines, log->lines + gone, log->line_count * sizeof *log->lines);
	for (uint64_t at = tdm_max(oldest, log->looked); at < log->added; at++)
		if (is_shown(log, &log->events[at % TDM_EVENT_LOG_CAP]))
			log->lines[log->line_count++] = at;
	log->looked = log->added;
	return gone;
}

const struct tdm_event *tdm_event_log_line(const struct tdm_event_log *log, size_t line)
{
	return &log->events[log->lines[line] % TDM_EVENT_LOG_CAP];
}

/* Steps back from event *at to the process's previous event; false if there is none. */
static bool step_back(const struct tdm_event_log *log, uint64_t handle, uint64_t *at)
{
	uint64_t oldest = log->added > TDM_EVENT_LOG_CAP ? log->added - TDM_EVENT_LOG_CAP : 0;
	while (*at > oldest)
		if (log->events[--*at % TDM_EVENT_LOG_CAP].process == handle)
			return true;
	return false;
}

size_t tdm_event_log_last(const struct tdm_event_log *log, uint64_t handle, const struct tdm_event **events, size_t cap)
{
	size_t count = 0;
	for (uint64_t at = log->added; count < cap && step_back(log, handle, &at);)
		if (log->events[at % TDM_EVENT_LOG_CAP].op != TDM_OP_LOST)
			events[count++] = &log->events[at % TDM_EVENT_LOG_CAP];
	return count;
}

const char *tdm_event_log_program(const struct tdm_event_log *log, uint64_t handle)
{
	for (uint64_t at = log->added; step_back(log, handle, &at);)
		if (log->events[at % TDM_EVENT_LOG_CAP].op == TDM_OP_PROGRAM)
			return log->events[at % TDM_EVENT_LOG_CAP].name.ptr;
	return "";
}

void tdm_event_log_done(struct tdm_event_log *log)
{
	free(log->events);
	free(log->lines);
	*log = (struct tdm_event_log){ 0 };
}
