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

struct tdm_status_report {
	const struct tdm_picture *picture;
	const struct tdm_host *host;       /* from the driver; NULL: unknown */
	const struct tdm_machine *machine; /* for JSON */
	struct tdm_pick pick;
	struct tdm_term term;
};

void tdm_status_text(const struct tdm_status_report *report, struct tdm_buf *out);

/* The whole document, envelope included. */
void tdm_status_json(const struct tdm_status_report *report, struct tdm_json *json);

/* Parts of them: the block and the object of a device, the table and the member of processes, an array of sources. */
void tdm_status_device(const struct tdm_status_report *report, size_t device, struct tdm_buf *out);
void tdm_status_json_device(const struct tdm_status_report *report, size_t device, struct tdm_json *json);
void tdm_status_processes(const struct tdm_status_report *report, struct tdm_buf *out);
void tdm_status_json_processes(const struct tdm_status_report *report, struct tdm_json *json);
void tdm_status_json_sources(const struct tdm_field *field, struct tdm_json *json);

/* Members of a tt-smi snapshot: "host_info" (`machine` may be NULL); then "smbus_telem", "board_info", "telemetry",
 * "firmwares" and "limits" (`card` is NULL if the driver has none). */
void tdm_smi_machine(struct tdm_json *json, const struct tdm_machine *machine);
void tdm_smi_device(struct tdm_json *json, const struct tdm_picture_device *device, const struct tdm_host_card *card);

/* The letters of sources in narrow tables: "L", "S", "D", "M", "-". */
char tdm_status_letter(uint8_t from);
bool tdm_status_is_wide(const struct tdm_status_report *report);

#endif
