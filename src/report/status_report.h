/* `tidemark status`: all devices and processes at one moment, as a table for people and as JSON for programs. */
#ifndef TDM_REPORT_STATUS_REPORT_H
#define TDM_REPORT_STATUS_REPORT_H

#include "base/buf.h"
#include "base/json.h"
#include "base/term.h"
#include "report/table.h"
#include "state/pick.h"
#include "sources/host.h"
#include "sources/machine.h"

/* How devices are shown. */
enum tdm_status_form {
	TDM_STATUS_AUTO,  /* a line each if there are more than TDM_STATUS_BLOCKS_MAX, else a block each */
	TDM_STATUS_SHORT, /* a line each */
	TDM_STATUS_LONG,  /* a block each */
};
enum { TDM_STATUS_BLOCKS_MAX = 4 };

struct tdm_status_report {
	const struct tdm_picture *picture;
	const struct tdm_host *host;       /* from the driver; NULL: unknown */
	const struct tdm_machine *machine; /* for JSON */
	struct tdm_pick pick;
	struct tdm_term term;
	enum tdm_status_form form;
	bool is_piped; /* for a program or a file: lines may be longer than the terminal, so that no command is cut */
};

void tdm_status_text(const struct tdm_status_report *report, struct tdm_buf *out);

/* The whole document, envelope included. */
void tdm_status_json(const struct tdm_status_report *report, struct tdm_json *json);

/* Parts of them: a table with a line for each device, and one of boards; the block and the object of a device; the
 * table and the member of processes; an array of sources. */
void tdm_status_lines(const struct tdm_status_report *report, struct tdm_buf *out);
void tdm_status_boards(const struct tdm_status_report *report, struct tdm_buf *out);
void tdm_status_device(const struct tdm_status_report *report, size_t device, struct tdm_buf *out);
void tdm_status_json_device(const struct tdm_status_report *report, size_t device, struct tdm_json *json);
void tdm_status_processes(const struct tdm_status_report *report, struct tdm_buf *out);
void tdm_status_json_processes(const struct tdm_status_report *report, struct tdm_json *json);
/* Whether the table has a row for a holding. */
bool tdm_status_shows_holding(const struct tdm_status_report *report, size_t holding);
void tdm_status_json_sources(const struct tdm_field *field, struct tdm_json *json);

/* Members of a tt-smi snapshot: "host_info" (`machine` may be NULL); then "smbus_telem", "board_info", "telemetry",
 * "firmwares" and "limits" (`card` is NULL if the driver has none). */
void tdm_smi_machine(struct tdm_json *json, const struct tdm_machine *machine);
void tdm_smi_device(struct tdm_json *json, const struct tdm_picture_device *device, const struct tdm_host_card *card);

/* The letters of sources in narrow tables: "L", "S", "D", "M", "-". */
char tdm_status_letter(uint8_t from);
bool tdm_status_is_wide(const struct tdm_status_report *report);

#endif
