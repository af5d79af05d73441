/* The latest events of all programs, and the filters that choose which ones to show. */
#ifndef TDM_TUI_EVENT_LOG_H
#define TDM_TUI_EVENT_LOG_H

#include "state/picture.h"
#include "tui/list.h"

enum {
	TDM_EVENT_LOG_CAP = 16384,
	TDM_EVENT_LOG_LATEST = 1024, /* per picture: more than anyone can read */
	TDM_EVENT_LOG_MS = 100,      /* between two pictures while events are shown: a program's ring is short */
};

/* All zero to begin with. Once it was started, every picture is asked for events. */
struct tdm_event_log {
	bool is_on, paused;
	struct tdm_event
		*events; /* ring of TDM_EVENT_LOG_CAP, with real-time clock times; NULL before the first event */
	uint64_t added;  /* events so far; number n is at n % TDM_EVENT_LOG_CAP */
	uint64_t seen, lost;
	/* The filters. */
	int op;          /* enum tdm_op; -1: all */
	int kind;        /* enum tdm_kind; -1: all */
	uint64_t handle; /* of a process; 0: all */
	char filter[96]; /* part of the name */
	uint64_t *lines; /* numbers of events, oldest first */
	size_t line_count;
	uint64_t looked; /* lines are made of all events before this number */
	struct tdm_list list;
	bool follows; /* stays at the newest event */
};

/* Whether the next picture should have events. Events during a pause are read after it, or counted as missing. */
static inline bool tdm_event_log_wants(const struct tdm_event_log *log)
{
	return log->is_on && !log->paused;
}

void tdm_event_log_start(struct tdm_event_log *log); /* once is enough */
void tdm_event_log_add(struct tdm_event_log *log, const struct tdm_picture *picture);
void tdm_event_log_changed(struct tdm_event_log *log); /* a filter changed */
void tdm_event_log_prepare(struct tdm_event_log *log);
const struct tdm_event *tdm_event_log_line(const struct tdm_event_log *log, size_t line);
/* The latest events of a process, newest first; how many. Borrowed until events are added. */
size_t tdm_event_log_last(
	const struct tdm_event_log *log, uint64_t handle, const struct tdm_event **events, size_t cap);
/* The program that it ran last; "": unknown. */
const char *tdm_event_log_program(const struct tdm_event_log *log, uint64_t handle);
void tdm_event_log_done(struct tdm_event_log *log);

#endif
