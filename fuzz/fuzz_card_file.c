/*
 * Fuzz the card file. Exercises: model/card/card.c (lines, comments, order, duplicates, names, values, deriving and
 * checking the result), base/units.c (sizes), and model/card/bank.c on that card.
 *
 * Properties: a refused file has a text and leaves the card unchanged; tdm_card_check accepts or refuses an accepted
 * file's card, and a card that passes has regions inside its banks.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "fuzz_check.h"
#include "base/err.h"
#include "model/card/bank.h"
#include "model/card/card.h"

static void check_regions(const struct tdm_card *card)
{
	static const enum tdm_kind kinds[] = { TDM_KIND_DRAM, TDM_KIND_L1, TDM_KIND_L1_SMALL, TDM_KIND_TRACE };
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		bool is_dram = kinds[i] == TDM_KIND_DRAM || kinds[i] == TDM_KIND_TRACE;
		uint64_t end = tdm_card_get(card, is_dram ? TDM_CARD_DRAM_BANK_SIZE : TDM_CARD_L1_SIZE);
		struct tdm_bank_range range;
		struct tdm_diag diag = { 0 };
		int err = tdm_bank_range(card, kinds[i], &range, &diag);
		check(err == 0 || (err == TDM_EUNKNOWN && diag.text[0] != '\0'));
		if (err == 0)
			check(range.base <= end && range.size <= end - range.base);
	}
	struct tdm_l1_map map;
	int err = tdm_l1_map(card, NULL, &map, NULL);
	check(err == 0 || err == TDM_EUNKNOWN);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tdm_card card = { 0 };
	struct tdm_diag diag = { 0 };
	/* Half of the inputs need not name a card. */
	if (size != 0 && data[0] % 2 == 0)
		check(tdm_card_init(&card, tdm_str_of("p150"), NULL, &diag) == 0);
	const char *name = card.name;
	if (tdm_card_load_text(&card, (struct tdm_str){ (const char *)data, size }, &diag) != 0) {
		check(diag.text[0] != '\0');
		check(card.name == name);
		return 0;
	}
	diag = (struct tdm_diag){ 0 };
	if (tdm_card_check(&card, &diag) != 0)
		check(diag.text[0] != '\0');
	else
		check_regions(&card);
	return 0;
}
