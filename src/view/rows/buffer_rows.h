/*
 * The latest events, the sorted live buffers of one process, and the map of a device. Long lists take a while to make,
 * so a list is kept until making it again would take only a small share of the time since it was last made. Counters
 * are cheap and always current.
 */
#ifndef TDM_VIEW_BUFFER_ROWS_H
#define TDM_VIEW_BUFFER_ROWS_H

#include "analyze/live/device_map.h"
#include "analyze/live/live_buffers.h"
#include "base/buf.h"

/* ---- pace ---- */

enum {
	TDM_PACE_SHARE = 100, /* work may use at most 1/100 of the time */
	TDM_PACE_FREE = 2048, /* up to this many buffers, work is cheap enough to do every time */
	TDM_AGE_CAP = 24
};

/* Zeroed to begin with. */
struct tdm_pace {
	uint64_t cost_ns, ended_ns;
	uint64_t taken_ns; /* time of the last picture worked on */
	uint64_t stamp;    /* stamp of that picture's counters */
	size_t buffers;    /* number of buffers listed in that picture */
};

bool tdm_pace_is_due(const struct tdm_pace *pace);

/* Call when work on `items` items, such as buffers, is done; `begun_ns` is when the work began. */
void tdm_pace_took(struct tdm_pace *pace, uint64_t begun_ns, size_t items);

/* Formats "800 ms" or "2.1 s": tenths of a second, rounded up. Returns dst. */
char *tdm_pace_format_age(char *dst, size_t cap, uint64_t age_ns);

/* ---- buffers of a process ---- */

struct tdm_buffer_view {
	uint64_t handle; /* handle of the process; 0 if there is none */
	struct tdm_pace pace;
	const struct tdm_picture *picture; /* the picture of the last refresh, or NULL */
	uint32_t process;                  /* index of the process in `picture` */
	uint64_t version;                  /* version of the process's buffers */
	uint64_t age_ns;                   /* how much older the buffers are than the counters */
	const char *problem;               /* why the buffers are unknown, or NULL */

	enum tdm_buffer_sort sort;
	bool by_site, reversed;
	char filter[96];
	struct tdm_buffer_ref *buffers; /* buffers, filtered and sorted */
	size_t buffer_count;
	struct tdm_site *sites;
	size_t site_count;
	bool is_sorted; /* buffers or sites match `version`, sort order and filter */
};

/* Requests, in the wish for the next picture, the data needed to show the process. `now`: do not wait until the lists
 * are due. */
void tdm_buffer_view_wish(const struct tdm_buffer_view *view, uint64_t handle, struct tdm_wish *wish, bool now);
/* Uses a new picture. Returns whether the process differs from the previous one. */
bool tdm_buffer_view_refresh(struct tdm_buffer_view *view, const struct tdm_picture *picture,
	const struct tdm_picture_process *process, const struct tdm_wish *wish);

/* Sorts and filters if anything has changed. */
void tdm_buffer_view_prepare(struct tdm_buffer_view *view);
void tdm_buffer_view_changed(struct tdm_buffer_view *view); /* call when sort order, filter or grouping has changed */
void tdm_buffer_view_done(struct tdm_buffer_view *view);    /* releases the picture, keeps the rest */

/* `line`: index in the displayed order. */
size_t tdm_buffer_view_count(const struct tdm_buffer_view *view);
const struct tdm_buffer_ref *tdm_buffer_view_buffer(const struct tdm_buffer_view *view, size_t line);
const struct tdm_site *tdm_buffer_view_site(const struct tdm_buffer_view *view, size_t line);

/* The string in which to search: the buffer's name or, if the buffer has no name, its program. */
const char *tdm_buffer_view_text(const struct tdm_buffer_view *view, size_t line);

/* ---- map of a device ---- */

struct tdm_device_view {
	uint64_t key; /* key of the device; 0 if there is none */
	struct tdm_pace pace;
	const struct tdm_picture *picture; /* the picture of the last refresh */
	uint64_t version;                  /* version of the device's buffers when the map was made */
	const char *problem;               /* why there is no map, or NULL */
	bool has_map;
	uint64_t age_ns; /* how much older the map is than the picture's counters */
	struct tdm_device_map map;
	struct tdm_buf text; /* the drawn map, `cols` wide; empty if not drawn yet */
	int text_cols;
	bool text_utf8;
};

/* Requests, in the wish for the next picture, the data needed to show the device. `now`: do not wait until the map is
 * due. */
void tdm_device_view_wish(const struct tdm_device_view *view, uint64_t key, struct tdm_wish *wish, bool now);
/* Uses a new picture. Returns whether the device differs from the previous one. */
bool tdm_device_view_refresh(
	struct tdm_device_view *view, const struct tdm_picture *picture, size_t device, const struct tdm_wish *wish);
/* The map as styled text, `cols` columns wide. Borrowed until the next call. */
struct tdm_str tdm_device_view_text(struct tdm_device_view *view, int cols, bool utf8);
void tdm_device_view_done(struct tdm_device_view *view); /* releases the picture */

/* ---- the latest events of all programs, and the filters that choose which ones to show ---- */

enum {
	TDM_EVENT_LOG_CAP = 16384,
	TDM_EVENT_LOG_LATEST = 1024, /* events per picture: more than anyone can read */
	TDM_EVENT_LOG_MS = 100,      /* interval between pictures while events are shown: a program's ring is short */
};

/* Zeroed to begin with. Once started, the log requests events with every picture. */
struct tdm_event_log {
	bool is_on, paused;
	/* ring of TDM_EVENT_LOG_CAP events with real-time clock times; NULL before the first event */
	struct tdm_event *events;
	uint64_t added; /* events so far; event n is at index n % TDM_EVENT_LOG_CAP */
	uint64_t seen, lost;
	/* The filters. */
	int op;          /* enum tdm_op, or -1 for all */
	int kind;        /* enum tdm_kind, or -1 for all */
	uint64_t handle; /* handle of a process; 0 for all */
	char filter[96]; /* part of the buffer name */
	uint64_t *lines; /* event numbers of the lines, oldest first */
	size_t line_count;
	uint64_t looked; /* events before this number have already been filtered into `lines` */
	bool follows;    /* the window stays at the newest event */
};

/* Whether the next picture should contain events. Events during a pause are read afterwards, or counted as missing. */
static inline bool tdm_event_log_wants(const struct tdm_event_log *log)
{
	return log->is_on && !log->paused;
}

void tdm_event_log_start(struct tdm_event_log *log); /* repeated calls do no harm */
void tdm_event_log_add(struct tdm_event_log *log, const struct tdm_picture *picture);
void tdm_event_log_changed(struct tdm_event_log *log); /* call when a filter has changed */
/* Filters new events into `lines`. Returns how many lines were dropped at the beginning. */
size_t tdm_event_log_prepare(struct tdm_event_log *log);
const struct tdm_event *tdm_event_log_line(const struct tdm_event_log *log, size_t line);
/* Writes the latest events of a process, newest first, and returns their number. Borrowed until events are added. */
size_t tdm_event_log_last(
	const struct tdm_event_log *log, uint64_t handle, const struct tdm_event **events, size_t cap);
/* The program that the process ran last; "" if unknown. */
const char *tdm_event_log_program(const struct tdm_event_log *log, uint64_t handle);
void tdm_event_log_done(struct tdm_event_log *log);

#endif
