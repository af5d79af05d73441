/*
 * The state of the monitor: one context that the loop (tui.c), the keys (keys.c) and the screens (screens.h) share. The
 * picture is the provider's and valid until the next refresh; anything kept longer is kept by handle or key.
 */
#ifndef TDM_TUI_APP_H
#define TDM_TUI_APP_H

#include "base/buf.h"
#include "tui/buffer_view.h"
#include "tui/canvas.h"
#include "tui/device_view.h"
#include "tui/event_log.h"
#include "tui/growth.h"
#include "tui/history.h"
#include "tui/host_use.h"
#include "tui/overview_layout.h"
#include "tui/list.h"
#include "tui/mouse.h"
#include "tui/proc_rows.h"
#include "tui/tui.h"

enum tdm_screen_id { TDM_SCREEN_OVERVIEW, TDM_SCREEN_DEVICE, TDM_SCREEN_PROCESS, TDM_SCREEN_EVENTS, TDM_SCREEN_COUNT };

enum tdm_popup_id {
	TDM_POPUP_NONE,
	TDM_POPUP_HELP,
	TDM_POPUP_SETUP,
	TDM_POPUP_SORT,
	TDM_POPUP_SIGNAL,
	TDM_POPUP_PROBLEMS,
	TDM_POPUP_FINDINGS,
	TDM_POPUP_COUNT
};

enum {
	TDM_APP_TEXT_CAP = 96,
	TDM_APP_MESSAGE_CAP = 256,
	TDM_TAGS_MAX = 64,
	TDM_INTERVAL_MIN_MS = 50,
	TDM_INTERVAL_CAP = 24
};

/* The shares of a device over time. */
struct tdm_trend {
	uint64_t key; /* of the device */
	struct tdm_history dram, l1;
	struct tdm_history l1_and_cb; /* L1 buffers and circular buffers as a share of L1 */
};

/* The lines of the box of findings (popup_findings.c). */
struct tdm_findings_page {
	bool is_made;
	uint64_t version; /* of the findings in it */
	size_t cols;
	struct tdm_buf text;
	struct tdm_findings_line {
		size_t at, len; /* in the text */
		uint8_t ink;
	} * lines;
	size_t line_count, line_cap;
};

void tdm_findings_page_done(struct tdm_findings_page *page);

/* A line of text that is being typed. */
struct tdm_typing {
	bool on, is_filter;            /* else it searches */
	char before[TDM_APP_TEXT_CAP]; /* the text that Esc restores */
	size_t from;                   /* line where the search began */
};

/* A process to which a signal may be sent. */
struct tdm_target {
	int32_t pid;
	uint64_t start_time; /* clock ticks since boot; 0: unknown */
	char name[TDM_COMM_CAP];
};

struct tdm_app {
	const struct tdm_provider *provider;
	struct tdm_tui_options options; /* as given; the user can change interval and ascii */
	struct tdm_canvas canvas;
	bool can_utf8;

	const struct tdm_picture *picture; /* NULL: there is none */
	struct tdm_wish wish;              /* for which the picture was made */
	bool quit, frozen, refresh_now, redraw_all;
	bool look_now; /* the screen needs more than the last picture has */
	uint64_t frames, refreshes;
	char message[TDM_APP_MESSAGE_CAP];
	uint64_t message_until_ns;

	enum tdm_screen_id screen;
	enum tdm_popup_id popup;
	struct tdm_list popup_list;
	struct tdm_typing typing;
	bool vi_keys;

	/* overview */
	enum tdm_detail most_detail, detail; /* wanted, and shown in the last frame */
	bool devices_have_keys;              /* else the processes */
	uint32_t *shown;                     /* indices of the devices that are not filtered out */
	size_t shown_count, shown_cap;
	struct tdm_list devices; /* of shown[] */
	uint64_t device_key;     /* of the chosen one */
	struct tdm_trend *trends;
	size_t trend_count;
	uint64_t moments[TDM_HISTORY_CAP]; /* of the pictures in the trends, from the monotonic clock: a ring */
	size_t moment_count;
	int graph_rows; /* on the device screen, in the last frame */

	/* process table */
	struct tdm_proc_rows rows;
	struct tdm_list processes;
	struct tdm_growth growth;
	struct tdm_host_uses hosts;
	uint64_t only_device; /* key: the table has only what is on this one; 0: on all */
	enum tdm_proc_column sort;
	bool reversed, tree;
	bool hidden[TDM_PROC_COLUMN_COUNT];
	char filter[TDM_APP_TEXT_CAP], search[TDM_APP_TEXT_CAP];
	bool row_is_held; /* the user has chosen a line, and the choice follows it; else the first line is chosen */
	uint64_t chosen_handle; /* 0: none */
	uint32_t chosen_device;
	uint64_t tags[TDM_TAGS_MAX];
	size_t tag_count;

	/* signal */
	struct tdm_target targets[TDM_TAGS_MAX];
	size_t target_count;

	char position[64];        /* which part of a long list is in view, for the last line; empty: all of it */
	uint64_t places_until_ns; /* after this time no more functions are looked up for this frame */

	uint64_t process_handle; /* on the process screen; 0: the chosen process */
	struct tdm_buffer_view buffers;
	struct tdm_device_view device;
	struct tdm_event_log events;
	struct tdm_findings_page findings;
	struct tdm_zones zones;
};

/* tdm_app_say() shows a message in the last line for a while. */
void tdm_app_format_interval(unsigned ms, char *dst, size_t cap); /* "250 ms", "1.0 s" */
void tdm_app_say(struct tdm_app *app, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Rebuilds the lines after the picture, sorting or filter has changed. The choice stays. */
void tdm_app_update_rows(struct tdm_app *app);
void tdm_app_update_devices(struct tdm_app *app);

/* The chosen things; NULL: none. Borrowed until the next refresh. */
const struct tdm_proc_row *tdm_app_chosen_row(const struct tdm_app *app);
const struct tdm_picture_process *tdm_app_chosen_process(const struct tdm_app *app); /* for the process screen too */
const struct tdm_picture_process *tdm_app_find_process(const struct tdm_app *app, uint64_t handle);
const struct tdm_picture_device *tdm_app_chosen_device(
	const struct tdm_app *app, size_t *index); /* index may be NULL */
void tdm_app_device_chosen(struct tdm_app *app);   /* another one: it stays chosen in the next pictures */
const struct tdm_trend *tdm_app_trend(const struct tdm_app *app, const struct tdm_picture_device *device);
/* The name of a buffer, or else the function that allocated it; on the process screen with its callers if sites are
 * shown. The first look-up in a large program is slow, so a function not found in time is left for a later frame.
 * `process` may be TDM_INDEX_NONE. */
const char *tdm_app_place(
	const struct tdm_app *app, const char *name, uint32_t process, uint32_t stack, char *dst, size_t cap);
bool tdm_app_is_tagged(const struct tdm_app *app, uint64_t handle);
void tdm_app_toggle_tag(struct tdm_app *app, uint64_t handle);

/* Updates the lists and what is chosen in them after a new picture. */
void tdm_app_refreshed(struct tdm_app *app);
/* Adds the picture to the trends; called once per interval. */
void tdm_app_remember(struct tdm_app *app);
void tdm_app_done(struct tdm_app *app);

#endif
