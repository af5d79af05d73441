#include "tui/event_log.h"

#include <stdlib.h>

#include "event/event.h"
#include "tui/pick.h"

static bool has_memory(struct tdm_event_log *log)
{
	if (log->events == NULL) {
		log->events = calloc(TDM_EVENT_LOG_CAP + TDM_EVENT_LOG_READ, sizeof *log->events);
		log->lines = calloc(TDM_EVENT_LOG_CAP, sizeof *log->lines);
		log->op = log->kind = -1;
		log->follows = true;
	}
	return log->events != NULL && log->lines != NULL;
}

void tdm_event_log_read(struct tdm_event_log *log, const struct tdm_tui_provider *provider)
{
	if (!log->is_on || log->paused || !has_memory(log) || provider->events == NULL)
		return; /* what a pause leaves unread comes behind it, or is counted as missing */
	struct tdm_overview_event *fresh = log->events + TDM_EVENT_LOG_CAP;
	size_t count = provider->events(provider->context, fresh, TDM_EVENT_LOG_READ);
	if (count > TDM_EVENT_LOG_READ)
		count = TDM_EVENT_LOG_READ;
	if (count == 0)
		return;
	for (size_t i = 0; i < count; i++) {
		log->events[log->next] = fresh[i];
		log->next = (log->next + 1) % TDM_EVENT_LOG_CAP;
		if (fresh[i].op == TDM_OP_LOST)
			log->lost += fresh[i].asked;
		else
			log->seen++;
	}
	log->count = log->count + count < TDM_EVENT_LOG_CAP ? log->count + count : TDM_EVENT_LOG_CAP;
	log->is_stale = true;
}

void tdm_event_log_changed(struct tdm_event_log *log)
{
	log->is_stale = true;
	log->follows = true;
}

static bool is_shown(const struct tdm_event_log *log, const struct tdm_overview_event *event)
{
	if (log->handle != 0 && event->handle != log->handle)
		return false;
	if (event->op == TDM_OP_LOST)
		return true;
	bool has_kind = event->op == TDM_OP_ALLOC || event->op == TDM_OP_FREE || event->op == TDM_OP_OOM;
	return (log->op < 0 || event->op == log->op) && (log->kind < 0 || (has_kind && event->kind == log->kind)) &&
	       (log->filter[0] == '\0' || tdm_pick_text(event->name, log->filter));
}

void tdm_event_log_prepare(struct tdm_event_log *log)
{
	if (!log->is_stale || !has_memory(log))
		return;
	log->line_count = 0;
	for (size_t i = 0; i < log->count; i++) {
		size_t at = (log->next + TDM_EVENT_LOG_CAP - log->count + i) % TDM_EVENT_LOG_CAP;
		if (is_shown(log, &log->events[at]))
			log->lines[log->line_count++] = (uint32_t)at;
	}
	log->is_stale = false;
}

const struct tdm_overview_event *tdm_event_log_line(const struct tdm_event_log *log, size_t line)
{
	return &log->events[log->lines[line]];
}

void tdm_event_log_done(struct tdm_event_log *log)
{
	free(log->events);
	free(log->lines);
	*log = (struct tdm_event_log){ 0 };
}
