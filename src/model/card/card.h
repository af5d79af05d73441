/*
 * A card: every constant and its source.
 *
 * A card is built in layers: the architecture's constants, the board's, the variant requested (dispatch cores,
 * harvesting, firmware, profiler build), then the user's overrides. Each layer sets fields; a field that no layer sets
 * is unknown, never 0. Derived fields (L1 base, bank counts) are computed last from the other fields, unless they were
 * set explicitly. Constants change between releases of the runtime, so each field can be overridden: tdm_card_set,
 * tdm_card_load.
 *
 * All figures are for one chip; `chips` is the number of chips on the card.
 */
#ifndef TDM_MODEL_CARD_H
#define TDM_MODEL_CARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/str.h"
#include "model/card/card_table.h"

/*
 * The variant of a card. tdm_card_variant_default() is the card as sold, with current runtime and firmware and without
 * Tracy; a zeroed variant means the same, but without harvesting.
 */
struct tdm_card_variant {
	enum tdm_dispatch dispatch;
	bool tracy;        /* the runtime was built with the Tracy profiler, which occupies DRAM */
	bool old_firmware; /* firmware from before harvesting changed (p150: before 19.5) */
	bool fabric_mux;   /* a row or column of cores serves the fabric */
	int harvested;     /* rows or columns fused off; -1 for the board's usual number */
};

struct tdm_card {
	const char *name;      /* "n150" */
	const char *full_name; /* "Wormhole n150" */
	enum tdm_arch arch;
	struct tdm_card_variant variant;
	uint64_t value[TDM_CARD_FIELD_COUNT];     /* TDM_BYTES_UNKNOWN when unknown */
	const char *source[TDM_CARD_FIELD_COUNT]; /* where the value comes from, or why it is unknown; a constant
						     string, never NULL */
	bool is_set[TDM_CARD_FIELD_COUNT];        /* overridden by the user */
	struct tdm_l1_part parts[TDM_L1_PARTS_MAX];
	size_t part_count; /* 0: the firmware's map is unknown, e.g. because map_end was overridden */
};

static inline uint64_t tdm_card_get(const struct tdm_card *card, enum tdm_card_field field)
{
	return card->value[field];
}

/* A default variant, with the board's usual harvesting. */
struct tdm_card_variant tdm_card_variant_default(void);

/*
 * Builds a card. The name's case does not matter, and the driver's names in tt_card_type ("p150a", "galaxy-wormhole")
 * are known. A NULL variant is the default one. 0, TDM_ECARD with a list of the names in diag, or TDM_EREFUSED when the
 * runtime does not support the variant.
 */
int tdm_card_init(
	struct tdm_card *card, struct tdm_str name, const struct tdm_card_variant *variant, struct tdm_diag *diag);

/*
 * Overrides one field or variant, then derives the others again. `assignment` is "field=value", e.g. "l1_small=32K",
 * "dispatch=eth", "tracy=1", "harvested=0", "firmware=old", "fabric_mux=1". 0, TDM_EFIELD, TDM_ESYNTAX, -ERANGE, or
 * TDM_EREFUSED when the runtime does not support the variant; on an error the card is unchanged. In diag, the line is 0
 * and the column points into the assignment.
 */
int tdm_card_set(struct tdm_card *card, struct tdm_str assignment, struct tdm_diag *diag);

/*
 * Computes everything that was not overridden, from the tables and the variant. Needed only after changing `variant`
 * directly or calling tdm_card_assign; the other functions do it themselves. 0, or TDM_EREFUSED with the card
 * unchanged.
 */
int tdm_card_derive(struct tdm_card *card, struct tdm_diag *diag);

/*
 * Reads a card from a small file: lines of "field = value", '#' comments, and optionally first "card = n150". If the
 * file names no card, `card` must already be initialised (a zeroed card is refused). 0 or an error with file, line and
 * column in diag; on an error the card is unchanged. The result is not checked: see tdm_card_check.
 */
int tdm_card_load(struct tdm_card *card, const char *path, struct tdm_diag *diag);
int tdm_card_load_text(struct tdm_card *card, struct tdm_str text, struct tdm_diag *diag);

const char *tdm_card_field_name(enum tdm_card_field field);
const char *tdm_card_field_summary(enum tdm_card_field field);
char tdm_card_field_unit(enum tdm_card_field field);
const char *tdm_arch_name(enum tdm_arch arch);             /* "Wormhole" */
const char *tdm_dispatch_name(enum tdm_dispatch dispatch); /* "tensix-row", … */
/* The dispatch of this card, with DEFAULT and TENSIX resolved. */
enum tdm_dispatch tdm_card_dispatch(const struct tdm_card *card);

/*
 * ---- settings by name ----
 *
 * The fields of a card and its variants (dispatch, tracy, firmware, fabric_mux). An assignment is a string; it is
 * parsed and stored without deriving anything, so that tdm_card_derive can check many of them together.
 */

/* Settings are numbered: the fields of enum tdm_card_field first, then the variants. */
enum tdm_card_setting {
	TDM_SETTING_DISPATCH = TDM_CARD_FIELD_COUNT,
	TDM_SETTING_TRACY,
	TDM_SETTING_FIRMWARE,
	TDM_SETTING_FABRIC_MUX,
	TDM_SETTING_COUNT
};

/* Enough for any name printed in an error. */
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
 * Applies several of the user's assignments together, so that their order does not matter. The list ends with NULL; a
 * NULL list is empty. Errors as for tdm_card_set; *wrong is then the unusable assignment, or the last one if
 * assignments contradict each other.
 */
int tdm_card_set_all(struct tdm_card *card, const char *const *assignments, const char **wrong, struct tdm_diag *diag);

#endif
