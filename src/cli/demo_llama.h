/*
 * The tensors of a model with the shape of TinyLlama: 22 layers of width 2048 with 32 heads, 4 heads with keys and
 * values, and a gated MLP of 5632; two bytes per value, in tiles.
 */
#ifndef TDM_CLI_DEMO_LLAMA_H
#define TDM_CLI_DEMO_LLAMA_H

#include <stdint.h>

#include "cli/demo_card.h"

enum {
	TDM_LLAMA_LAYERS = 22,
	TDM_LLAMA_WIDTH = 2048,
	TDM_LLAMA_HEADS = 32,
	TDM_LLAMA_HEAD = 64, /* width of one head */
	TDM_LLAMA_KV = 256,  /* width of the four heads with keys (or values) */
	TDM_LLAMA_MLP = 5632,
	TDM_LLAMA_CONTEXT = 2048, /* tokens */
};

/* The parameters of a layer. */
enum tdm_llama_part {
	TDM_LLAMA_NORM1,
	TDM_LLAMA_Q,
	TDM_LLAMA_KV_LINEAR,
	TDM_LLAMA_O,
	TDM_LLAMA_NORM2,
	TDM_LLAMA_GATE,
	TDM_LLAMA_UP,
	TDM_LLAMA_DOWN,
	TDM_LLAMA_PARTS
};

/* Indices of all parameters: those of the layers, then three more. */
enum {
	TDM_LLAMA_EMBEDDING = TDM_LLAMA_LAYERS * TDM_LLAMA_PARTS,
	TDM_LLAMA_NORM,
	TDM_LLAMA_HEAD_LINEAR,
	TDM_LLAMA_TENSORS
};

static inline uint32_t tdm_llama_index(uint32_t layer, enum tdm_llama_part part)
{
	return layer * TDM_LLAMA_PARTS + (uint32_t)part;
}

/* Allocates the tensor of a parameter, named after it with `suffix`: "weight", "grad", … */
uint32_t tdm_llama_alloc(
	struct tdm_demo_card *card, uint32_t chip, uint32_t vocabulary, uint32_t index, const char *suffix);

#endif
