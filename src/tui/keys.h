/* The table of keys: what each key does, and what the help says about it. */
#ifndef TDM_TUI_KEYS_H
#define TDM_TUI_KEYS_H

#include "tui/app.h"

enum { TDM_BINDING_KEYS = 6 };

struct tdm_binding {
	int keys[TDM_BINDING_KEYS]; /* ends with 0, unless all are used */
	const char *names;          /* as the help shows them; the last line shows the first */
	const char *brief;          /* in the last line; NULL: not there */
	const char *help;
	unsigned screens; /* bit n: enum tdm_screen_id n */
	void (*act)(struct tdm_app *app, int key);
};

extern const struct tdm_binding tdm_bindings[];
extern const size_t tdm_binding_count;

void tdm_keys_press(struct tdm_app *app, int key);

#endif
