/* Cards as text for people and as JSON, which docs/formats/json.md describes. */
#ifndef TDM_REPORT_DEVICE_REPORT_H
#define TDM_REPORT_DEVICE_REPORT_H

#include "base/json.h"
#include "base/term.h"
#include "device/card.h"

/* A row or an object for each of the NULL-terminated names. 0 or the error of tdm_card_init. */
int tdm_device_text_list(struct tdm_buf *out, const char *const *names, const struct tdm_term *term);
int tdm_device_json_list(struct tdm_buf *out, const char *const *names);

/* A card: figures, capacity by region, tile sizes, the L1 map, and why some figures are unknown. */
void tdm_device_text_show(struct tdm_buf *out, const struct tdm_card *card, const struct tdm_term *term);
void tdm_device_json_show(struct tdm_buf *out, const struct tdm_card *card);

/* Every field with its value and its source. */
void tdm_device_text_sources(struct tdm_buf *out, const struct tdm_card *card, const struct tdm_term *term);

/* The L1 bank of each core: the compute grid with the numbers of the banks. */
void tdm_device_banks_text(struct tdm_buf *out, const struct tdm_card *card, const struct tdm_term *term);
/* The key "l1_bank_cores": the core of each bank, in order, or null when they are unknown. */
void tdm_device_banks_json(struct tdm_json *json, const struct tdm_card *card);

#endif
