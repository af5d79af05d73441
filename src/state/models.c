#include "state/models.h"

#include <stdio.h>

static void look_up(struct tdm_model *model, const char *name)
{
	struct tdm_card card;
	*model = (struct tdm_model){ .l1_core = TDM_BYTES_UNKNOWN };
	snprintf(model->name, sizeof model->name, "%s", name);
	model->is_known = name[0] != '\0' && tdm_card_init(&card, tdm_str_of(name), NULL, NULL) == 0;
	if (!model->is_known)
		return;
	model->board = card.name;
	model->arch = tdm_arch_name(card.arch);
	model->l1_core = tdm_card_get(&card, TDM_CARD_L1_SIZE);
	for (unsigned k = 0; k < TDM_MODEL_RANGES; k++)
		if (tdm_bank_range(&card, (enum tdm_kind)k, &model->ranges[k], NULL) != 0)
			model->ranges[k] = (struct tdm_bank_range){ 0 };
}

const struct tdm_model *tdm_models_get(struct tdm_models *models, const char *name)
{
	for (size_t i = 0; i < models->count; i++)
		if (strcmp(models->list[i].name, name) == 0)
			return &models->list[i];
	size_t at = models->next;
	models->next = (models->next + 1) % TDM_MODELS_KEPT;
	if (models->count < TDM_MODELS_KEPT)
		models->count++;
	look_up(&models->list[at], name);
	return &models->list[at];
}
