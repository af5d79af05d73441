/*
 * `tidemark status`, and the plain frames of `tidemark top`: all devices and processes at one moment, as blocks of a
 * result. All data in a report is borrowed until the result is freed.
 */
#ifndef TDM_VIEW_STATUS_RESULT_H
#define TDM_VIEW_STATUS_RESULT_H

#include "base/term.h"
#include "live/host/host.h"
#include "live/join/pick.h"
#include "model/result/result.h"

/* How devices are shown. */
enum tdm_status_form {
	/* one line per device if there are more than TDM_STATUS_BLOCKS_MAX, else one block per device */
	TDM_STATUS_AUTO,
	TDM_STATUS_SHORT, /* one line per device */
	TDM_STATUS_LONG,  /* one block per device */
};
enum { TDM_STATUS_BLOCKS_MAX = 4 };

struct tdm_status_report {
	const struct tdm_picture *picture;
	const struct tdm_host *host;       /* host data from the driver; NULL if unknown */
	const struct tdm_machine *machine; /* needed only for JSON */
	struct tdm_pick pick;
	struct tdm_term term; /* the width of tables and the characters for bars */
	enum tdm_status_form form;
	bool is_piped;        /* piped output: lines may be longer than the terminal, so no command is cut */
	unsigned interval_ms; /* interval between frames; 0 for a single one */
};

/* Shows the whole report. */
void tdm_status_show(struct tdm_block *in, const struct tdm_status_report *report);

/* Write the JSON document, and its parts: the devices and the member "processes". */
void tdm_snapshot_show(struct tdm_block *in, const struct tdm_status_report *report);
void tdm_snapshot_devices(struct tdm_block *in, const struct tdm_status_report *report, const char *key);
void tdm_snapshot_processes(struct tdm_block *in, const struct tdm_status_report *report);

/* Shows a plain frame, meant only for human readers. */
void tdm_frame_show(struct tdm_block *in, const struct tdm_status_report *report);

/* Counts of the devices and processes shown, and facts needed to interpret the figures. */
struct tdm_status_facts {
	size_t devices, boards, processes;
	uint32_t from; /* sources used; bit n: enum tdm_from n */
	bool weak;     /* the bytes in use come from shared memory */
	/* unattributed, stale: some rows belong to no process; clients: a daemon's clients are included */
	bool unattributed, stale, estimates, clients;
};
struct tdm_status_facts tdm_status_facts(const struct tdm_status_report *report);
#define TDM_STATUS_WEAK     "allocations of other threads may be missing, and the CB total may be the last writer's alone"
#define TDM_STATUS_ESTIMATE "an estimate: what some buffers take is not known, and they count with what they asked for"

/* Shows the chips of a device, as counted by tt-metal's shared memory, if these figures add to the device's own. */
void tdm_status_chips(struct tdm_block *in, const struct tdm_picture_device *device);

#endif
