/* The screens and the boxes over them: one file each, one table. */
#ifndef TDM_TUI_SCREENS_H
#define TDM_TUI_SCREENS_H

#include "tui/app.h"

struct tdm_screen {
	const char *name; /* in the line of tabs */
	/* What it needs of the next picture besides devices and processes; `now`: the user does not want to wait. */
	void (*wish)(struct tdm_app *app, struct tdm_wish *wish, bool now);
	/* After that picture. Sets app->look_now if that shows that it needs something else. */
	void (*refresh)(struct tdm_app *app, const struct tdm_wish *wish);
	void (*draw)(struct tdm_app *app, struct tdm_area area);
	bool (*key)(struct tdm_app *app, int key); /* moving; the other keys are in keys.c. False: not used */
	bool (*search)(
		struct tdm_app *app, size_t from, bool forward); /* chooses a line that has app->search; NULL: none */
	char *(*filter)(struct tdm_app *app);                    /* its text of TDM_APP_TEXT_CAP; NULL: none */
	void (*filtered)(struct tdm_app *app);                   /* it has changed */
};

extern const struct tdm_screen *const tdm_screens[TDM_SCREEN_COUNT];

/* A box that has the keys as long as it is open. */
struct tdm_popup {
	size_t (*count)(const struct tdm_app *app); /* lines; known before it is drawn, because keys may come at once */
	void (*draw)(struct tdm_app *app, struct tdm_area area);
	bool (*key)(struct tdm_app *app, int key); /* false: the box closes */
};

extern const struct tdm_popup *const tdm_popups[TDM_POPUP_COUNT];

extern const struct tdm_screen tdm_screen_overview, tdm_screen_device, tdm_screen_process, tdm_screen_events;
extern const struct tdm_popup tdm_popup_help, tdm_popup_setup, tdm_popup_sort, tdm_popup_signal, tdm_popup_problems;

void tdm_screens_open(struct tdm_app *app, enum tdm_screen_id screen);
void tdm_popup_open(struct tdm_app *app, enum tdm_popup_id popup);

/* Everything: tabs, the screen, the last line, the box. */
void tdm_screens_draw(struct tdm_app *app);

#endif
