/* The screens and the boxes over them: one file each, one table. */
#ifndef TDM_TUI_SCREENS_H
#define TDM_TUI_SCREENS_H

#include "tui/app.h"

struct tdm_screen {
	const char *name; /* in the line of tabs */
	/* Sets what the screen needs in the next picture; `now`: the user is waiting. */
	void (*wish)(struct tdm_app *app, struct tdm_wish *wish, bool now);
	/* Takes that picture. Sets app->look_now if the screen turns out to need something else. */
	void (*refresh)(struct tdm_app *app, const struct tdm_wish *wish);
	void (*draw)(struct tdm_app *app, struct tdm_area area);
	bool (*key)(struct tdm_app *app, int key); /* moves; other keys are in keys.c. False: not used */
	bool (*search)(struct tdm_app *app, size_t from,
		bool forward);                 /* chooses a line with app->search in it; may be NULL */
	char *(*filter)(struct tdm_app *app);  /* the text, TDM_APP_TEXT_CAP bytes; may be NULL */
	void (*filtered)(struct tdm_app *app); /* the filter has changed */
};

extern const struct tdm_screen *const tdm_screens[TDM_SCREEN_COUNT];

/* A box gets all keys while it is open. */
struct tdm_popup {
	size_t (*count)(const struct tdm_app *app); /* lines; known before drawing, because keys may come first */
	void (*draw)(struct tdm_app *app, struct tdm_area area);
	bool (*key)(struct tdm_app *app, int key); /* false: the box closes */
};

extern const struct tdm_popup *const tdm_popups[TDM_POPUP_COUNT];

extern const struct tdm_screen tdm_screen_overview, tdm_screen_device, tdm_screen_process, tdm_screen_events;
extern const struct tdm_popup tdm_popup_help, tdm_popup_setup, tdm_popup_sort, tdm_popup_signal, tdm_popup_problems,
	tdm_popup_findings;

void tdm_screens_open(struct tdm_app *app, enum tdm_screen_id screen);
void tdm_popup_open(struct tdm_app *app, enum tdm_popup_id popup);

/* A line of the events screen. */
void tdm_event_draw(struct tdm_app *app, struct tdm_area line, const struct tdm_event *event);

/* Draws everything: tabs, screen, last line and box. */
void tdm_screens_draw(struct tdm_app *app);

#endif
