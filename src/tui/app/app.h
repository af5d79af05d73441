/*
 * The full-screen monitor, which gets its pictures from the caller's provider and never reads a source itself. The loop
 * (app.c), the keys (keys.c), the screens and the boxes over them share one context. The provider owns the picture,
 * which is valid until the next refresh; anything needed longer is stored as a handle or key.
 */
#ifndef TDM_TUI_APP_H
#define TDM_TUI_APP_H

#include "base/buf.h"
#include "base/diag.h"
#include "live/join/pick.h"
#include "tui/draw/terminal.h"
#include "view/rows/buffer_rows.h"
#include "view/rows/device_rows.h"
#include "view/rows/process_rows.h"

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
	TDM_BINDING_KEYS = 6,
};

struct tdm_tui_options {
	unsigned interval_ms; /* 0 for the user's setting */
	struct tdm_pick pick; /* devices and processes to show; borrowed */
	bool ascii, no_colour, no_mouse;
	bool read_only;       /* send no signals */
	unsigned frames;      /* end after this many frames; 0 runs until the user quits */
	const char *settings; /* file with the user's saved settings, or NULL; the options above override them */
};

/* Runs until the user quits or a signal ends it, then restores the terminal. 0, or a negative code with diag set. On
 * success, diag may hold a remark about the settings file. */
int tdm_tui_run(const struct tdm_provider *provider, const struct tdm_tui_options *options, struct tdm_diag *diag);

/* The default settings file: tidemark/top.conf in $XDG_CONFIG_HOME or ~/.config. The caller frees it. NULL if neither
 * folder is known. */
char *tdm_tui_settings_path(void);

/* The user's settings, saved in a file. */
struct tdm_settings {
	uint32_t interval_ms, sort; /* sort: enum tdm_proc_column */
	bool reversed, tree, colour, ascii, mouse, vi_keys;
	bool hidden[TDM_PROC_COLUMN_COUNT];
};

/* How much detail is shown about a device. */
enum tdm_detail {
	TDM_DETAIL_LINE,  /* one line */
	TDM_DETAIL_SHORT, /* identity and the most important kinds, with DRAM and L1 trends */
	TDM_DETAIL_KINDS, /* identity and every kind */
	TDM_DETAIL_FULL,  /* identity, every kind and graphs */
	TDM_DETAIL_COUNT
};

/* The memory shares of a device over time. */
struct tdm_trend {
	uint64_t key; /* key of the device */
	struct tdm_history dram, l1;
	struct tdm_history l1_and_cb; /* L1 buffers and circular buffers as a share of L1 */
};

/* A clickable part of the frame, and the meaning of a click there; later zones cover earlier ones. */
enum tdm_zone_type {
	TDM_ZONE_NONE,
	TDM_ZONE_KEY,         /* value: the key that a click stands for */
	TDM_ZONE_DEVICE,      /* value: index of a device shown */
	TDM_ZONE_PROCESSES,   /* process lines; value: index of the first one, as in the next two zones */
	TDM_ZONE_BUFFERS,     /* lines of the process screen */
	TDM_ZONE_BOX,         /* lines of a box */
	TDM_ZONE_COLUMN,      /* column title; value: enum tdm_proc_column */
	TDM_ZONE_BUFFER_SORT, /* column title; value: enum tdm_buffer_sort */
};

struct tdm_zone {
	struct tdm_area area;
	enum tdm_zone_type type;
	size_t value;
};

struct tdm_app {
	const struct tdm_provider *provider;
	struct tdm_tui_options options; /* options as passed to tdm_tui_run() */
	struct tdm_settings set;
	struct tdm_canvas canvas;
	bool can_utf8;

	const struct tdm_picture *picture;
	struct tdm_wish wish; /* the wish for which the picture was made */
	bool quit, frozen, refresh_now, redraw_all;
	bool look_now; /* the screen needs data that the last picture lacks */
	uint64_t refreshes;
	char message[TDM_APP_MESSAGE_CAP];
	uint64_t message_until_ns;
	int key; /* the key that called the current action */

	enum tdm_screen_id screen;
	enum tdm_popup_id popup;
	struct tdm_list popup_list;
	bool is_typing, types_filter;        /* the user is typing a line: a filter, or a string to search for */
	char typed_before[TDM_APP_TEXT_CAP]; /* the string that Esc restores */
	size_t typed_from;                   /* line where the search began */

	/* overview */
	enum tdm_detail most_detail, detail; /* wanted detail, and detail of the last frame */
	bool devices_have_keys;              /* keys go to the device list; false: to the process table */
	uint32_t *shown;                     /* indices of the devices that match the filter */
	size_t shown_count, shown_cap;
	struct tdm_list devices; /* the list of shown[] */
	uint64_t device_key;     /* key of the selected device */
	struct tdm_trend *trends;
	size_t trend_count;
	uint64_t moments[TDM_HISTORY_CAP]; /* times of the pictures in the trends, from the monotonic clock: a ring */
	size_t moment_count;
	int graph_rows; /* rows of graphs on the device screen, in the last frame */

	/* process table */
	struct tdm_proc_rows rows;
	struct tdm_list processes;
	struct tdm_growth growth;
	struct tdm_host_uses hosts;
	uint64_t only_device; /* key of the only device whose processes the table shows; 0 for all devices */
	char filter[TDM_APP_TEXT_CAP], search[TDM_APP_TEXT_CAP];
	bool row_is_held; /* the selection follows the row that the user selected; false: the first row is selected */
	uint64_t chosen_handle; /* handle of the selected process; 0 if none */
	uint32_t chosen_device;
	uint64_t tags[TDM_TAGS_MAX];
	size_t tag_count;

	/* signal */
	int32_t targets[TDM_TAGS_MAX];        /* pids of the processes to signal */
	uint64_t target_starts[TDM_TAGS_MAX]; /* start times in clock ticks since boot; 0 if unknown */
	size_t target_count;
	char target_name[TDM_COMM_CAP]; /* name of the last target */

	char position[64];        /* visible part of a long list, for the last line; empty if all of it is visible */
	uint64_t places_until_ns; /* after this time, this frame looks up no more functions */

	uint64_t process_handle; /* process on the process screen; 0 for the selected process */
	struct tdm_buffer_view buffers;
	struct tdm_device_view device;
	struct tdm_event_log events;
	struct tdm_list buffer_list, device_page, event_list;

	/* the findings box: its text, folded to the given width */
	struct tdm_buf findings;
	size_t finding_lines;
	bool findings_made;
	uint64_t findings_version;
	size_t findings_cols;

	/* the loop */
	uint64_t due_ns;    /* when the next picture is due */
	uint64_t events_ns; /* when to read events next, while they are visible */
	bool unsent;        /* the last frame has not been sent */

	/* mouse */
	struct tdm_zone *zones; /* zones of the frame on the screen */
	size_t zone_count, zone_cap;
	struct tdm_zone pressed; /* the last click, to recognise a double click */
	uint64_t pressed_ns;
};

/* ---- app.c ---- */

/* Shows a message in the last line for a few seconds. */
void tdm_app_say(struct tdm_app *app, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Rebuilds the rows after a change of picture, sort order or filter. The selected row stays selected. */
void tdm_app_update_rows(struct tdm_app *app);
void tdm_app_update_devices(struct tdm_app *app);

/* The selected row, process and device, or NULL if there is none. Borrowed until the next refresh. */
const struct tdm_proc_row *tdm_app_chosen_row(const struct tdm_app *app);
const struct tdm_picture_process *tdm_app_chosen_process(const struct tdm_app *app); /* also for the process screen */
const struct tdm_picture_process *tdm_app_find_process(const struct tdm_app *app, uint64_t handle);
const struct tdm_picture_device *tdm_app_chosen_device(
	const struct tdm_app *app, size_t *index); /* index may be NULL */
void tdm_app_device_chosen(struct tdm_app *app);   /* keeps the newly selected device selected in later pictures */
const struct tdm_trend *tdm_app_trend(const struct tdm_app *app, const struct tdm_picture_device *device);
/* The name of a buffer, or else the function that allocated it, with callers if the process screen shows sites. The
 * first look-up in a large program is slow, so a function not found in time is looked up again for a later frame.
 * `process` may be TDM_INDEX_NONE. */
const char *tdm_app_place(
	const struct tdm_app *app, const char *name, uint32_t process, uint32_t stack, char *dst, size_t cap);
/* Call when the sort order, the filter or the grouping of buffers has changed. */
void tdm_app_buffers_changed(struct tdm_app *app);
bool tdm_app_is_tagged(const struct tdm_app *app, uint64_t handle);
void tdm_app_toggle_tag(struct tdm_app *app, uint64_t handle);

/* Updates the lists and the selected rows after a new picture. */
void tdm_app_refreshed(struct tdm_app *app);
/* Adds the picture to the trends; called once per interval. */
void tdm_app_remember(struct tdm_app *app);
void tdm_app_done(struct tdm_app *app);

/* Makes a part of the frame clickable. */
void tdm_app_zone(struct tdm_app *app, struct tdm_area area, enum tdm_zone_type type, size_t value);

/* ---- keys.c ---- */

/* A key's action, and the key's line in the help. */
struct tdm_binding {
	int keys[TDM_BINDING_KEYS]; /* ends with 0 unless full */
	const char *names;          /* key names for the help; the last line shows only the first */
	const char *brief;          /* label in the last line; NULL if the key is not shown there */
	const char *help;
	unsigned screens; /* screens on which the key works; bit n: enum tdm_screen_id n */
	/* One of the following is set; otherwise, the screen handles the key. */
	void (*act)(struct tdm_app *app);
	enum tdm_popup_id popup; /* the box that the key opens */
	size_t flag;             /* offset of the flag in the monitor that the key sets */
};

extern const struct tdm_binding tdm_bindings[];
extern const size_t tdm_binding_count;

void tdm_keys_press(struct tdm_app *app, int key);
/* Handles a click. `now_ns` is from the monotonic clock. */
void tdm_mouse_use(struct tdm_app *app, struct tdm_mouse mouse, uint64_t now_ns);

/* ---- screens and the boxes over them: one table for each, and the parts shared by several screens ---- */

struct tdm_screen {
	const char *name; /* name in the line of tabs */
	/* Requests, in the wish for the next picture, the data that the screen needs. `now`: the user is waiting. This
	 * function and those below may be NULL. */
	void (*wish)(struct tdm_app *app, struct tdm_wish *wish, bool now);
	/* Uses the new picture. Sets app->look_now if the picture lacks data that the screen needs. */
	void (*refresh)(struct tdm_app *app, const struct tdm_wish *wish);
	void (*draw)(struct tdm_app *app, struct tdm_area area);
	/* handles keys that move the selection (app->key); other keys are in keys.c */
	void (*key)(struct tdm_app *app);
	bool (*search)(struct tdm_app *app, size_t from, bool forward); /* selects a row containing app->search */
	char *(*filter)(struct tdm_app *app);                           /* the string, TDM_APP_TEXT_CAP bytes */
	void (*filtered)(struct tdm_app *app);                          /* called when the filter has changed */
};

extern const struct tdm_screen *const tdm_screens[TDM_SCREEN_COUNT];
extern const struct tdm_screen tdm_screen_overview, tdm_screen_device, tdm_screen_process, tdm_screen_events;

void tdm_screens_open(struct tdm_app *app, enum tdm_screen_id screen);
/* Draws everything: tabs, screen, last line and box. */
void tdm_screens_draw(struct tdm_app *app);

/* ---- screen_overview.c: how rows are divided between devices and processes ---- */

struct tdm_layout {
	enum tdm_detail detail;
	int columns;      /* columns of blocks: 1 or 2 */
	int block_rows;   /* rows of a block */
	int kinds;        /* maximum number of kinds shown in a block */
	int graph_rows;   /* rows of a block's graphs; 0 without graphs */
	int device_rows;  /* rows for all devices, or fewer if the devices scroll */
	int process_rows; /* remaining rows, including the titles */
};

/* At TDM_LAYOUT_TWO_WHOLE columns or more, half the width has room for every figure. */
enum { TDM_LAYOUT_TWO_COLUMNS = 156, TDM_LAYOUT_TWO_WHOLE = 260, TDM_LAYOUT_PROCESS_MIN = 6 };

/* `processes`: lines of the process table and of the notes above it. `kinds`: the largest number of memory kinds in any
 * device. `most`: the highest detail. Sizes exclude the first and last line of the screen. */
struct tdm_layout tdm_layout_compute(
	int rows, int cols, size_t devices, size_t processes, int kinds, enum tdm_detail most);

/* ---- popups.c: boxes, which get all keys while they are open ---- */

void tdm_popup_open(struct tdm_app *app, enum tdm_popup_id popup);
void tdm_popup_draw(struct tdm_app *app, struct tdm_area area);
void tdm_popup_key(struct tdm_app *app, int key);
void tdm_format_interval(unsigned ms, char *dst, size_t cap); /* "250 ms", "1.0 s" */

/* Sends a signal to a process, unless its pid now belongs to a different process. 0, or a negative code: -ESRCH if the
 * process has ended, -EINVAL for pid 1 and below. A pidfd is held during the check. */
int tdm_signal_send(int32_t pid, uint64_t start_time, int signal_number);
/* When the process started, in clock ticks since boot; 0 if unknown. */
uint64_t tdm_signal_start_time(int32_t pid);

/* ---- device_block.c: one device, with as much detail as there is room for ---- */

/* Draws as many of these as fit: number, card, node, PCI address and chip id. */
void tdm_draw_identity(struct tdm_pen *pen, const struct tdm_picture_device *device);
/* The total to which the share of a kind refers. Circular buffers are in the same memory as L1 buffers. */
uint64_t tdm_device_share_total(const struct tdm_picture_device *device, enum tdm_kind kind);
/* The most important kinds of a device, at most `most`: bit n is kind n. */
unsigned tdm_device_kinds(const struct tdm_picture_device *device, int most);
/* One kind: bar, share, amounts, source. */
void tdm_device_kind(struct tdm_pen *pen, const struct tdm_picture_device *device, enum tdm_kind kind);
void tdm_device_block(struct tdm_app *app, struct tdm_area area, const struct tdm_picture_device *device,
	const struct tdm_layout *layout, enum tdm_ink mark);
/* If a device's marked figures are old, shows their age in the last line. */
void tdm_device_note_age(struct tdm_app *app, const struct tdm_picture_device *device);
/* Draws every driver reading, or the reason why there is none. */
void tdm_telemetry_page(struct tdm_page *page, const struct tdm_picture_device *device);

enum { TDM_GRAPHS_ROWS_MIN = 4 };
void tdm_graphs_draw(struct tdm_app *app, struct tdm_area area, const struct tdm_picture_device *device);

/* ---- screen_events.c ---- */

/* Draws an event on one line; if NULL, draws the titles. */
void tdm_event_draw(struct tdm_app *app, struct tdm_area line, const struct tdm_event *event);

#endif
