/*
 * The settings of a card by name: its fields and its variants (dispatch, tracy, firmware, fabric_mux). An assignment is
 * text; it is parsed and stored here without deriving anything, so that tdm_card_derive can look at many of them
 * together.
 */
#ifndef TDM_DEVICE_CARD_SET_H
#define TDM_DEVICE_CARD_SET_H

#include <stdbool.h>

#include "base/diag.h"
#include "base/str.h"
#include "device/card.h"

/* Settings are numbered: first the fields of enum tdm_card_field, then the variants. */
enum tdm_card_setting {
	TDM_SETTING_DISPATCH = TDM_CARD_FIELD_COUNT,
	TDM_SETTING_TRACY,
	TDM_SETTING_FIRMWARE,
	TDM_SETTING_FABRIC_MUX,
	TDM_SETTING_COUNT
};

/* Enough for any name shown in an error. */
enum { TDM_CARD_SHOWN_CAP = 48 };

/* The number of the setting with this name, or -1. */
int tdm_card_setting_find(struct tdm_str name);

/* Splits "name = value" and trims both parts. False when there is no '='; then *name is the whole text. */
bool tdm_card_assignment_split(struct tdm_str assignment, struct tdm_str *name, struct tdm_str *value);

/*
 * Stores one assignment with its source (a constant string). Errors as for tdm_card_set, except TDM_EREFUSED, which
 * comes from tdm_card_derive.
 */
int tdm_card_assign(struct tdm_card *card, struct tdm_str assignment, const char *source, struct tdm_diag *diag);

/*
 * Sets several assignments of the user together, so that their order does not matter. The list ends with NULL; a NULL
 * list is empty. Errors as for tdm_card_set; *wrong is then the assignment that cannot be used, or the last one when
 * they contradict each other.
 */
int tdm_card_set_all(struct tdm_card *card, const char *const *assignments, const char **wrong, struct tdm_diag *diag);

/* Makes untrusted text fit for a message: cuts it at the capacity and replaces anything but printable ASCII. Returns
 * dst. */
char *tdm_card_shown(struct tdm_str text, char dst[TDM_CARD_SHOWN_CAP]);

#endif
