/* Draws the process table. */
#ifndef TDM_TUI_PROC_TABLE_H
#define TDM_TUI_PROC_TABLE_H

#include "tui/app.h"

void tdm_proc_table_draw(struct tdm_app *app, struct tdm_area area, bool has_keys);

/* "0", "0-3", "0,2,5": the devices that a process uses. Returns dst. */
char *tdm_proc_devices(
	const struct tdm_picture *picture, const struct tdm_picture_process *process, char *dst, size_t cap);

/* "ledger", "metal_shm", "ledger+driver": the names of a set of sources. Returns dst. */
char *tdm_proc_sources(uint32_t sources, char *dst, size_t cap);

#endif
