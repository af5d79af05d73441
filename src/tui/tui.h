/*
 * The full-screen monitor. It gets its pictures from the caller's provider and knows no source itself.
 */
#ifndef TDM_TUI_TUI_H
#define TDM_TUI_TUI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "state/pick.h"

struct tdm_tui_options {
	unsigned interval_ms; /* 0: as the user has set it */
	struct tdm_pick pick; /* only these; borrowed */
	bool ascii, no_colour, no_mouse;
	bool read_only;       /* sends no signals */
	unsigned frames;      /* ends after this many; 0: when the user quits */
	const char *settings; /* file that keeps what the user sets; NULL: none. The options above win */
};

/* Runs until the user quits or a signal ends it, then restores the terminal. 0, or a negative code with diag set. With
 * 0 it may be set too, with a remark about the file of settings. */
int tdm_tui_run(const struct tdm_provider *provider, const struct tdm_tui_options *options, struct tdm_diag *diag);

#endif
