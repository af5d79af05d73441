/* What is known about cards, as JSON; docs/formats/json.md describes it. */
#ifndef TDM_REPORT_DEVICE_JSON_H
#define TDM_REPORT_DEVICE_JSON_H

#include "base/buf.h"
#include "device/card.h"

/* One object for each of the NULL-terminated names. 0 or the error of tdm_card_init. */
int tdm_device_json_list(struct tdm_buf *out, const char *const *names);

void tdm_device_json_show(struct tdm_buf *out, const struct tdm_card *card);

#endif
