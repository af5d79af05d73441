#include "cli/demo_llama.h"

static const struct {
	const char *name;
	uint32_t rows, columns;
} parts[TDM_LLAMA_PARTS] = {
	[TDM_LLAMA_NORM1] = { "attention_norm", 1, TDM_LLAMA_WIDTH },
	[TDM_LLAMA_Q] = { "attention.q", TDM_LLAMA_WIDTH, TDM_LLAMA_WIDTH },
	[TDM_LLAMA_KV_LINEAR] = { "attention.kv", 2 * TDM_LLAMA_KV, TDM_LLAMA_WIDTH },
	[TDM_LLAMA_O] = { "attention.o", TDM_LLAMA_WIDTH, TDM_LLAMA_WIDTH },
	[TDM_LLAMA_NORM2] = { "mlp_norm", 1, TDM_LLAMA_WIDTH },
	[TDM_LLAMA_GATE] = { "mlp.gate", TDM_LLAMA_MLP, TDM_LLAMA_WIDTH },
	[TDM_LLAMA_UP] = { "mlp.up", TDM_LLAMA_MLP, TDM_LLAMA_WIDTH },
	[TDM_LLAMA_DOWN] = { "mlp.down", TDM_LLAMA_WIDTH, TDM_LLAMA_MLP },
};

uint32_t tdm_llama_alloc(
	struct tdm_demo_card *card, uint32_t chip, uint32_t vocabulary, uint32_t index, const char *suffix)
{
	uint32_t layer = index / TDM_LLAMA_PARTS, part = index % TDM_LLAMA_PARTS;
	if (index == TDM_LLAMA_EMBEDDING)
		return tdm_demo_tensor(card, chip, vocabulary, TDM_LLAMA_WIDTH, "embedding.%s", suffix);
	if (index == TDM_LLAMA_NORM)
		return tdm_demo_tensor(card, chip, 1, TDM_LLAMA_WIDTH, "norm.%s", suffix);
	if (index == TDM_LLAMA_HEAD_LINEAR)
		return tdm_demo_tensor(card, chip, vocabulary, TDM_LLAMA_WIDTH, "lm_head.%s", suffix);
	return tdm_demo_tensor(card, chip, parts[part].rows, parts[part].columns, "layers.%u.%s.%s", (unsigned)layer,
		parts[part].name, suffix);
}
