/* What is known about cards, as text for people. */
#ifndef TDM_REPORT_DEVICE_TEXT_H
#define TDM_REPORT_DEVICE_TEXT_H

#include "base/buf.h"
#include "base/term.h"
#include "device/card.h"

/* One line of the table of cards for each of the NULL-terminated names. 0 or the error of tdm_card_init. */
int tdm_device_text_list(struct tdm_buf *out, const char *const *names, const struct tdm_term *term);

/* A card: figures, capacity by region, tile sizes, the L1 map; what is unknown, and why. */
void tdm_device_text_show(struct tdm_buf *out, const struct tdm_card *card, const struct tdm_term *term);

/* Every field with its value and where that comes from. */
void tdm_device_text_sources(struct tdm_buf *out, const struct tdm_card *card, const struct tdm_term *term);

#endif
