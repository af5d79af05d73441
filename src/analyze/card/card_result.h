/* Results about cards. */
#ifndef TDM_ANALYZE_CARD_RESULT_H
#define TDM_ANALYZE_CARD_RESULT_H

#include "model/card/card.h"
#include "model/result/result.h"

/* Shows all cards in a NULL-terminated list of names. Returns 0, or the error from tdm_card_init(). */
int tdm_cards_show(struct tdm_block *in, const char *const *names);

/* Shows one card, which must live as long as the result. `banks` and `sources`: whether the text output includes
 * these. */
void tdm_card_show(struct tdm_block *in, const struct tdm_card *card, bool banks, bool sources);

#endif
