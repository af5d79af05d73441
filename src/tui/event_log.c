#include "tui/event_log.h"

#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "tui/match.h"

void tdm_event_log_start(struct tdm_event_log *log)
{
	if (log->is_on)
		return;
	log->is_on = log->follows = true;
	log->op = log->kind = -1;
}

static bool has_memory(struct tdm_event_log *log)
{
	if (log->events == NULL) {
		log->events = calloc(TDM_EVENT_LOG_CAP, sizeof *log->events);
		log->lines = calloc(TDM_EVENT_LOG_CAP, sizeof *log->lines);
	}
	return log->events != NULL && log->lines != NULL;
}

/* Making a picture takes a while, so an event may be younger than its picture. */
static uint64_t real_time(const struct tdm_picture *picture, uint64_t time_ns)
{
	uint64_t age = picture->time_ns - time_ns;
	bool is_known = time_ns != 0 && (time_ns > picture->time_ns || age <= picture->real_ns);
	return is_known ? picture->real_ns - age : 0;
}

void tdm_event_log_add(struct tdm_event_log *log, const struct tdm_picture *picture)
{
	if (log->paused || picture->event_count == 0 || !has_memory(log))
		return;
	for (size_t i = 0; i < picture->event_count; i++) {
		struct tdm_event *event = &log->events[log->added++ % TDM_EVENT_LOG_CAP];
		*event = picture->events[i];
		event->time_ns = real_time(picture, event->time_ns);
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
	       (log->filter[0] == '\0' || tdm_match_text(event->name.ptr, log->filter));
}

void tdm_event_log_prepare(struct tdm_event_log *log)
{
	uint64_t oldest = log->added > TDM_EVENT_LOG_CAP ? log->added - TDM_EVENT_LOG_CAP : 0;
	size_t gone = 0;
	if (log->looked == log->added || !has_memory(log))
		return;
	while (gone < log->line_count && log->lines[gone] < oldest)
		gone++;
	log->line_count -= gone;
	log->list.top -= tdm_min(gone, log->list.top);
	memmove(log->lines, log->lines + gone, log->line_count * sizeof *log->lines);
	for (uint64_t at = tdm_max(oldest, log->looked); at < log->added; at++)
		if (is_shown(log, &log->events[at % TDM_EVENT_LOG_CAP]))
			log->lines[log->line_count++] = at;
	log->looked = log->added;
}

const struct tdm_event *tdm_event_log_line(const struct tdm_event_log *log, size_t line)
{
	return &log->events[log->lines[line] % TDM_EVENT_LOG_CAP];
}

/* Goes back from the newest event to the next one of the process; false: there is none. */
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
