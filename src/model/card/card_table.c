#include "model/card/card_table.h"

#include <assert.h>

#define UMD_BOARDS "tt-umd cluster_descriptor_types.hpp: board types and their expected harvesting"

static const struct tdm_card_board boards[] = {
	{ "n150", "Wormhole n150", &tdm_card_arch_wormhole, 1, 1, 1, 0, UMD_BOARDS },
	{ "n300", "Wormhole n300", &tdm_card_arch_wormhole, 2, 2, 2, 0, UMD_BOARDS },
	{ "wh-galaxy", "Wormhole Galaxy", &tdm_card_arch_wormhole, 32, 0, 0, 0, UMD_BOARDS },
	{ "p100", "Blackhole p100", &tdm_card_arch_blackhole, 1, 2, 2, 7, UMD_BOARDS },
	{ "p150", "Blackhole p150", &tdm_card_arch_blackhole, 1, 2, 0, 0, UMD_BOARDS },
	{ "p300", "Blackhole p300", &tdm_card_arch_blackhole, 2, 2, 2, 0, UMD_BOARDS },
	{ "bh-galaxy", "Blackhole Galaxy", &tdm_card_arch_blackhole, 32, 1, 1, 0, UMD_BOARDS },
	{ "grayskull", "Grayskull e150", &tdm_card_arch_grayskull, 1, 0, 0, 0,
		"tt-metal v0.55.0 grayskull_120_arch.yaml: product E150, one chip without harvesting" },
	{ "quasar", "Quasar (simulated)", &tdm_card_arch_quasar, 1, 0, 0, 0,
		TDM_CARD_COMMIT "quasar_32_arch.yaml: one simulated chip without harvesting" },
};

enum { BOARD_COUNT = sizeof boards / sizeof *boards };

const char *const tdm_card_names[] = { "n150", "n300", "wh-galaxy", "p100", "p150", "p300", "bh-galaxy", "grayskull",
	"quasar", NULL };

static_assert(
	sizeof tdm_card_names / sizeof *tdm_card_names == BOARD_COUNT + 1, "every board has its name in the list");

/* The names that the driver and the runtime use for the same boards. */
static const struct {
	const char *alias, *name;
} aliases[] = {
	{ "galaxy", "wh-galaxy" },
	{ "galaxy-wormhole", "wh-galaxy" },
	{ "galaxy-blackhole", "bh-galaxy" },
	{ "p100a", "p100" },
	{ "p150a", "p150" },
	{ "p150b", "p150" },
	{ "p150c", "p150" },
	{ "p300a", "p300" },
	{ "p300b", "p300" },
	{ "p300c", "p300" },
	{ "e150", "grayskull" },
};

const struct tdm_card_board *tdm_card_board_find(struct tdm_str name)
{
	for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
		if (tdm_str_is_word(name, aliases[i].alias))
			name = tdm_str_of(aliases[i].name);
	for (size_t i = 0; i < BOARD_COUNT; i++)
		if (tdm_str_is_word(name, boards[i].name))
			return &boards[i];
	return NULL;
}
