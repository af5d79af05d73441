/* The parts of a tt-smi snapshot, in its keys and formats: values are strings, what is not known is "N/A" or null. */
#ifndef TDM_REPORT_SMI_STRINGS_H
#define TDM_REPORT_SMI_STRINGS_H

#include "base/json.h"
#include "state/picture.h"
#include "sources/host.h"
#include "sources/machine.h"

/* The member "host_info". A NULL machine: everything is "N/A". */
void tdm_smi_machine(struct tdm_json *json, const struct tdm_machine *machine);

/* The members "smbus_telem", "board_info", "telemetry", "firmwares" and "limits". A NULL card: not the driver's. */
void tdm_smi_device(struct tdm_json *json, const struct tdm_picture_device *device, const struct tdm_host_card *card);

#endif
