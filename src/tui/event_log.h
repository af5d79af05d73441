/* The last events of the programs, and which of them are shown. */
#ifndef TDM_TUI_EVENT_LOG_H
#define TDM_TUI_EVENT_LOG_H

#include "state/picture.h"
#include "tui/list.h"

enum {
	TDM_EVENT_LOG_CAP = 16384,
	TDM_EVENT_LOG_LATEST = 64, /* of each device in one picture: more than anybody reads in a tenth of a second */
	TDM_EVENT_LOG_MS = 100,    /* between two pictures while they are looked at: a program's ring is short */
};

/* All zero to begin. Nothing is kept before `is_on`. */
struct tdm_event_log {
	bool is_on, paused;
	struct tdm_event *events; /* a ring of TDM_EVENT_LOG_CAP, times of the real-time clock; NULL before the first */
	uint64_t added;           /* so many ever; number n is at n % TDM_EVENT_LOG_CAP */
	uint64_t seen, lost;
	/* What is shown. */
	int op;          /* enum tdm_op; -1: all */
	int kind;        /* enum tdm_kind; -1: all */
	uint64_t handle; /* of a process; 0: all */
	char filter[96]; /* part of the name */
	uint64_t *lines; /* numbers of events, oldest first */
	size_t line_count;
	uint64_t looked; /* all events before this number have been looked at for lines */
	struct tdm_list list;
	bool follows; /* the newest is shown */
};

/* Whether the next picture should have events. What a pause leaves unread comes after it, or is counted as missing. */
static inline bool tdm_event_log_wants(const struct tdm_event_log *log)
{
	return log->is_on && !log->paused;
}

void tdm_event_log_add(struct tdm_event_log *log, const struct tdm_picture *picture);
void tdm_event_log_changed(struct tdm_event_log *log); /* what is to be shown has */
void tdm_event_log_prepare(struct tdm_event_log *log);
const struct tdm_event *tdm_event_log_line(const struct tdm_event_log *log, size_t line);
void tdm_event_log_done(struct tdm_event_log *log);

#endif
