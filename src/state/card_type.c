/*
 * Chips whose card is not known. The driver does not give the ids of chips that are linked by Ethernet, so that their
 * regions can be joined with no card. They are never joined by guess; but if all cards are of one type, each chip is on
 * a card of that type and has its capacities. The cards themselves are then boards, not devices: their chips are listed
 * already.
 */
#include "state/state_parts.h"

#include <stdio.h>

/* The type that all cards have; NULL: they differ, or one is unknown. */
static const char *common_type(struct tdm_state *state)
{
	const char *board = NULL;
	if (state->host.cut_cards != 0)
		return NULL;
	for (size_t i = 0; i < state->host.card_count; i++) {
		const struct tdm_host_value *type = &state->host.cards[i].values[TDM_HOST_CARD_TYPE];
		const struct tdm_model *model =
			type->state == TDM_HOST_KNOWN ? tdm_models_get(&state->models, type->text) : NULL;
		if (model == NULL || !model->is_known || (board != NULL && strcmp(board, model->board) != 0))
			return NULL;
		board = model->board;
	}
	return board;
}

/* Whether a device is a chip of a card that is not known. */
static bool is_apart(const struct tdm_state *state, const struct tdm_picture_device *device)
{
	if (device->region == UINT32_MAX || device->host_card != UINT32_MAX)
		return false;
	const struct tdm_metal_region *region = &state->metal.now.regions[device->region];
	return region->status == TDM_METAL_OK && region->id_type != TDM_METAL_ID_SIMULATED &&
	       region->id_type != TDM_METAL_ID_UNKNOWN;
}

void tdm_state_card_type(struct tdm_state *state)
{
	struct tdm_picture *picture = &state->picture;
	bool any = false;
	picture->board_count = 0;
	for (size_t i = 0; i < picture->device_count; i++)
		any = any || is_apart(state, &picture->devices[i]);
	const char *name = any ? common_type(state) : NULL;
	for (size_t i = 0; i < picture->device_count && name != NULL; i++) {
		struct tdm_picture_device *device = &picture->devices[i];
		if (device->card[0] == '\0' && is_apart(state, device)) {
			snprintf(device->card, sizeof device->card, "%s", name);
			device->card_from = TDM_FROM_CARD_TYPE;
		}
		device->is_board = device->sources == UINT32_C(1) << TDM_FROM_DRIVER;
		picture->board_count += device->is_board;
	}
}
