/*
 * The full-screen monitor. It knows no source: whoever starts it gives it a provider.
 */
#ifndef TDM_TUI_TUI_H
#define TDM_TUI_TUI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "state/picture.h"

struct tdm_tui_options {
	unsigned interval_ms;
	const char *device; /* only this one: a number, chip id, PCI address or "/dev/tenstorrent/N"; NULL: all */
	int32_t pid;        /* only this process; 0: all */
	bool ascii, no_colour, read_only; /* read_only: no signals are sent */
	unsigned frames;                  /* ends after so many; 0: when the user says so */
};

/* Runs until the user leaves it, or a signal ends it; the terminal is then as it was. 0, or a negative code with diag
 * set. */
int tdm_tui_run(const struct tdm_provider *provider, const struct tdm_tui_options *options, struct tdm_diag *diag);

#endif
