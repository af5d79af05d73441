/* Which L1 bank each core of the compute grid is, as text and as JSON. */
#ifndef TDM_REPORT_DEVICE_BANKS_H
#define TDM_REPORT_DEVICE_BANKS_H

#include "base/buf.h"
#include "base/json.h"
#include "base/term.h"
#include "device/card.h"

/* The grid, one row of cores on a line, each core with the number of its bank. */
void tdm_device_banks_text(struct tdm_buf *out, const struct tdm_card *card, const struct tdm_term *term);

/* The key "l1_bank_cores": for each bank in order its core, or null when they are not known. */
void tdm_device_banks_json(struct tdm_json *json, const struct tdm_card *card);

#endif
