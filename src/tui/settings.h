/*
 * What the user has set in the monitor, kept from one run to the next in a file of lines "name = value". docs/top.md
 * lists them. The file may be anything: a bad line is reported and ignored, and a file that cannot be settings is
 * neither read nor replaced.
 */
#ifndef TDM_TUI_SETTINGS_H
#define TDM_TUI_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "tui/proc_rows.h"

enum { TDM_SETTINGS_BYTES_MAX = 65536, TDM_INTERVAL_DEFAULT_MS = 1000, TDM_INTERVAL_MAX_MS = 86400000 };

/* Initialize with tdm_settings_default(). */
struct tdm_settings {
	uint32_t interval_ms, sort; /* sort: enum tdm_proc_column */
	bool reversed, tree, colour, ascii, mouse, vi_keys;
	bool hidden[TDM_PROC_COLUMN_COUNT];
};

void tdm_settings_default(struct tdm_settings *settings);

/*
 * $XDG_CONFIG_HOME/tidemark/top.conf, or the same in ~/.config. The caller frees it. NULL: neither is known, or out of
 * memory.
 */
char *tdm_settings_path(void);

/*
 * Reads the file over what is in `settings`. 0 also when there is none; a negative code for a file that cannot be read
 * or is not one of settings. `diag` says what is wrong, with 0 too: then it is the first bad line.
 */
int tdm_settings_read(struct tdm_settings *settings, const char *path, struct tdm_diag *diag);

/*
 * Keeps what differs between `before` and `now`, and leaves everything else in the file as it is. Makes the file's
 * folder. 0 also when nothing differs, or a negative code with diag set.
 */
int tdm_settings_keep(
	const struct tdm_settings *before, const struct tdm_settings *now, const char *path, struct tdm_diag *diag);

#endif
