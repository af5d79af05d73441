/* The memory of a device according to the tables of its card, looked up once for each name. */
#ifndef TDM_STATE_MODELS_H
#define TDM_STATE_MODELS_H

#include "device/bank.h"
#include "event/describe.h"

enum { TDM_MODELS_KEPT = 16, TDM_MODEL_RANGES = TDM_KIND_TRACE + 1 };

struct tdm_model {
	char name[TDM_CARD_NAME_CAP];
	bool is_known;     /* there is such a card */
	const char *board; /* its name in the tables; the driver may have others for it */
	const char *arch;
	uint64_t l1_core;                               /* TDM_BYTES_UNKNOWN */
	struct tdm_bank_range ranges[TDM_MODEL_RANGES]; /* by kind; size 0: unknown, or chosen by the program */
};

/* All zero to begin; nothing to release. */
struct tdm_models {
	size_t count, next;
	struct tdm_model list[TDM_MODELS_KEPT];
};

/* Borrowed until the next call. An empty name is an unknown card. */
const struct tdm_model *tdm_models_get(struct tdm_models *models, const char *name);

#endif
