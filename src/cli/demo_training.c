/*
 * Training a model in the shape of TinyLlama on one sequence of 2048 tokens, with AdamW, in two modes. By default every
 * activation is kept for the backward pass; in memory-efficient mode a layer keeps its output only and is computed
 * again when its gradient is wanted.
 *
 * tt-train's documents print the phase table of such a run for both modes, and these buffers give those figures to the
 * hundredth of a MB. Nearly all of them follow from the shapes: a vocabulary of 96 characters, norms padded to a row of
 * tiles, keys and values repeated for all heads, attention scores of 256 MB. What was left over is a few dozen tiles,
 * carried by the buffers marked "fitted" below; the two runs in the documents also differ by 138,240 bytes before the
 * first pass.
 *
 * The first iteration is captured by the library's phase tracker, on the first chip; then all chips go on together,
 * each with a copy of the model.
 *
 * Long: a third of it are the tables of one model, and they are read beside the code that walks them.
 */
#include "cli/demo_llama.h"
#include "base/units.h"
#include "cli/demo.h"
#include "tidemark.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	VOCABULARY = 96, /* characters, filled up to tiles */
	TOKENS = TDM_LLAMA_CONTEXT,
	TOKEN_PAGE = TOKENS * 4, /* one row of 32-bit numbers */
	LOAD_MS = 20,            /* pause after the tensors of a layer were made */
	STEP_MS = 50,            /* pause after a layer */
	TABLES = 6,
	LEFTOVERS = 8,
};

/* Fitted, in tiles; all but SCALE_TILES in memory-efficient mode only. */
enum {
	SCALE_TILES = 1,           /* of the backward softmax */
	ADAMW_SCALAR_TILES = 5,    /* rate, two betas, epsilon, decay */
	STEP_SCALAR_TILES = 3,     /* of one iteration */
	STATE_TILES = 8,           /* what a layer notes to be computed again */
	LOSS_STATE_TILES = 44,     /* and the loss */
	GRAD_STATE_TILES = 10,     /* what a layer notes in the backward pass */
	HEAD_STATE_TILES = 2,      /* and the head */
	EMBEDDING_STATE_TILES = 7, /* and the embedding */
};

/* Activations of a layer, in the order in which they are computed. */
enum act {
	LEAF, /* copy of the input, when a layer is computed again */
	NORM1,
	RSTD1,
	Q,
	KV,
	K,
	V,
	Q_ROPE,
	K_ROPE,
	K_REPEATED,
	V_REPEATED,
	Q_SCALED,
	SCORES,
	MASKED,
	WEIGHTS,
	CONTEXT,
	O,
	RESIDUAL,
	NORM2,
	RSTD2,
	SHARD,
	GATE,
	UP,
	SILU,
	PRODUCT,
	DOWN,
	OUT,
	ACT_COUNT
};

/* Gradients of activations. */
enum delta {
	D_PRODUCT,
	D_SILU,
	D_UP,
	D_GATE,
	D_NORM2,
	D_RESIDUAL,
	D_CONTEXT,
	D_WEIGHTS,
	D_V_REPEATED,
	D_K_REPEATED,
	D_SCALE,
	D_Q,
	D_KV,
	D_NORM1,
	D_IN,
	DELTA_COUNT
};

struct shape {
	const char *name;
	uint32_t rows, columns; /* rows 0: so many columns of tiles in the L1 of every core */
};

/* What a chip holds. Everything is a handle. */
struct replica {
	uint32_t weight[TDM_LLAMA_TENSORS], first[TDM_LLAMA_TENSORS], second[TDM_LLAMA_TENSORS],
		grad[TDM_LLAMA_TENSORS];
	uint32_t table[TABLES], scalars;
	uint32_t act[TDM_LLAMA_LAYERS][ACT_COUNT], out[TDM_LLAMA_LAYERS]; /* out: kept for recomputation */
	uint32_t state[TDM_LLAMA_LAYERS], grad_state[TDM_LLAMA_LAYERS];
	uint32_t delta[DELTA_COUNT], d_out;
	uint32_t tokens, targets, embedded, norm, rstd, logits, log_softmax, loss, d_loss, d_logits, d_norm;
	uint32_t leftover[LEFTOVERS];
};

struct training {
	struct tdm_demo_card *card;
	struct tdm_demo_pace *pace;
	bool recompute;
	uint32_t chips;
	struct replica *replicas;
};

static const struct shape acts[ACT_COUNT] = {
	[LEAF] = { "recompute.input", TOKENS, TDM_LLAMA_WIDTH },
	[NORM1] = { "attention_norm.out", TOKENS, TDM_LLAMA_WIDTH },
	[RSTD1] = { "attention_norm.rstd", TOKENS, 1 },
	[Q] = { "attention.q", TOKENS, TDM_LLAMA_WIDTH },
	[KV] = { "attention.kv", TOKENS, 2 * TDM_LLAMA_KV },
	[K] = { "attention.k", TOKENS, TDM_LLAMA_KV },
	[V] = { "attention.v", TOKENS, TDM_LLAMA_KV },
	[Q_ROPE] = { "attention.q_rope", TOKENS, TDM_LLAMA_WIDTH },
	[K_ROPE] = { "attention.k_rope", TOKENS, TDM_LLAMA_KV },
	[K_REPEATED] = { "attention.k_repeated", TOKENS, TDM_LLAMA_WIDTH },
	[V_REPEATED] = { "attention.v_repeated", TOKENS, TDM_LLAMA_WIDTH },
	[Q_SCALED] = { "attention.q_scaled", TOKENS, TDM_LLAMA_WIDTH },
	[SCORES] = { "attention.scores", TDM_LLAMA_HEADS *TOKENS, TOKENS },
	[MASKED] = { "attention.masked", TDM_LLAMA_HEADS *TOKENS, TOKENS },
	[WEIGHTS] = { "attention.weights", TDM_LLAMA_HEADS *TOKENS, TOKENS },
	[CONTEXT] = { "attention.context", TOKENS, TDM_LLAMA_WIDTH },
	[O] = { "attention.o", TOKENS, TDM_LLAMA_WIDTH },
	[RESIDUAL] = { "residual", TOKENS, TDM_LLAMA_WIDTH },
	[NORM2] = { "mlp_norm.out", TOKENS, TDM_LLAMA_WIDTH },
	[RSTD2] = { "mlp_norm.rstd", TOKENS, 1 },
	[SHARD] = { "mlp.shard", 0, 32 },
	[GATE] = { "mlp.gate", TOKENS, TDM_LLAMA_MLP },
	[UP] = { "mlp.up", TOKENS, TDM_LLAMA_MLP },
	[SILU] = { "mlp.silu", TOKENS, TDM_LLAMA_MLP },
	[PRODUCT] = { "mlp.product", TOKENS, TDM_LLAMA_MLP },
	[DOWN] = { "mlp.down", TOKENS, TDM_LLAMA_WIDTH },
	[OUT] = { "out", TOKENS, TDM_LLAMA_WIDTH },
};

static const struct shape deltas[DELTA_COUNT] = {
	[D_PRODUCT] = { "mlp.product.d", TOKENS, TDM_LLAMA_MLP },
	[D_SILU] = { "mlp.silu.d", TOKENS, TDM_LLAMA_MLP },
	[D_UP] = { "mlp.up.d", TOKENS, TDM_LLAMA_MLP },
	[D_GATE] = { "mlp.gate.d", TOKENS, TDM_LLAMA_MLP },
	[D_NORM2] = { "mlp_norm.out.d", TOKENS, TDM_LLAMA_WIDTH },
	[D_RESIDUAL] = { "residual.d", TOKENS, TDM_LLAMA_WIDTH },
	[D_CONTEXT] = { "attention.context.d", TOKENS, TDM_LLAMA_WIDTH },
	[D_WEIGHTS] = { "attention.weights.d", TDM_LLAMA_HEADS *TOKENS, TOKENS },
	[D_V_REPEATED] = { "attention.v_repeated.d", TOKENS, TDM_LLAMA_WIDTH },
	[D_K_REPEATED] = { "attention.k_repeated.d", TOKENS, TDM_LLAMA_WIDTH },
	[D_SCALE] = { "attention.scale", 32, SCALE_TILES * 32 },
	[D_Q] = { "attention.q.d", TOKENS, TDM_LLAMA_WIDTH },
	[D_KV] = { "attention.kv.d", TOKENS, 2 * TDM_LLAMA_KV },
	[D_NORM1] = { "attention_norm.out.d", TOKENS, TDM_LLAMA_WIDTH },
	[D_IN] = { "in.d", TOKENS, TDM_LLAMA_WIDTH },
};

/* Programs, with plausible circular buffers. */
static const struct tdm_demo_program embedding = { "embedding", 6144,
	{ { "in", 2 }, { "weight", 64 }, { "out", 64 } } };
static const struct tdm_demo_program matmul = { "matmul", 22528,
	{ { "in0", 64 }, { "in1", 128 }, { "out", 64 }, { "partials", 64 } } };
static const struct tdm_demo_program rmsnorm = { "rmsnorm", 14336,
	{ { "in", 64 }, { "gamma", 64 }, { "scaler", 1 }, { "squares", 2 }, { "rstd", 2 }, { "out", 64 } } };
static const struct tdm_demo_program rope = { "rope", 9216,
	{ { "in", 8 }, { "cos", 4 }, { "sin", 4 }, { "rotated", 4 }, { "out", 8 } } };
static const struct tdm_demo_program softmax = { "softmax", 18432,
	{ { "in", 128 }, { "mask", 64 }, { "scale", 1 }, { "max", 2 }, { "exps", 64 }, { "sum", 2 }, { "out", 128 } } };
static const struct tdm_demo_program eltwise = { "eltwise", 7168, { { "in0", 4 }, { "in1", 4 }, { "out", 4 } } };
static const struct tdm_demo_program repeat = { "repeat", 4096, { { "in", 16 } } };
static const struct tdm_demo_program cross_entropy = { "cross_entropy", 12288,
	{ { "logits", 6 }, { "target", 2 }, { "max", 2 }, { "exps", 6 }, { "out", 2 } } };
static const struct tdm_demo_program adamw = { "adamw", 11264,
	{ { "param", 8 }, { "grad", 8 }, { "first", 8 }, { "second", 8 }, { "scalars", 5 }, { "out", 8 } } };

enum verb {
	MAKE,
	MAKE_AGAIN, /* only when a layer is computed again */
	MAKE_GRAD,  /* of a parameter */
	DROP,
	DROP_ONCE,  /* but not when a layer is computed again */
	DROP_EARLY, /* only when nothing is kept */
	DROP_ACT,   /* an activation, in the backward pass */
};

struct step {
	uint8_t verb, item;
	const struct tdm_demo_program *program; /* that makes it */
};

static const struct step forward_steps[] = {
	{ MAKE_AGAIN, LEAF, &eltwise },
	{ MAKE, NORM1, &rmsnorm },
	{ MAKE, RSTD1, &rmsnorm },
	{ MAKE, Q, &matmul },
	{ MAKE, KV, &matmul },
	{ DROP_EARLY, NORM1, NULL },
	{ DROP_EARLY, RSTD1, NULL },
	{ MAKE, K, &repeat },
	{ MAKE, V, &repeat },
	{ MAKE, Q_ROPE, &rope },
	{ MAKE, K_ROPE, &rope },
	{ DROP_EARLY, K, NULL },
	{ MAKE, K_REPEATED, &repeat },
	{ MAKE, V_REPEATED, &repeat },
	{ MAKE, Q_SCALED, &eltwise },
	{ MAKE, SCORES, &matmul },
	{ MAKE, MASKED, &eltwise },
	{ MAKE, WEIGHTS, &softmax },
	{ MAKE, CONTEXT, &matmul },
	{ DROP, SCORES, NULL },
	{ DROP, MASKED, NULL },
	{ DROP_ONCE, Q_SCALED, NULL },
	{ MAKE, O, &matmul },
	{ MAKE, RESIDUAL, &eltwise },
	{ MAKE, NORM2, &rmsnorm },
	{ MAKE, RSTD2, &rmsnorm },
	{ MAKE, SHARD, &eltwise },
	{ MAKE, GATE, &matmul },
	{ MAKE, UP, &matmul },
	{ MAKE, SILU, &eltwise },
	{ MAKE, PRODUCT, &eltwise },
	{ DROP, SHARD, NULL },
	{ MAKE, DOWN, &matmul },
	{ MAKE, OUT, &eltwise },
};

static const struct step backward_steps[] = {
	{ MAKE, D_PRODUCT, &matmul },
	{ MAKE_GRAD, TDM_LLAMA_DOWN, &matmul },
	{ MAKE, D_SILU, &eltwise },
	{ MAKE, D_UP, &eltwise },
	{ MAKE, D_GATE, &eltwise },
	{ MAKE_GRAD, TDM_LLAMA_GATE, &matmul },
	{ MAKE_GRAD, TDM_LLAMA_UP, &matmul },
	{ MAKE, D_NORM2, &matmul },
	{ MAKE_GRAD, TDM_LLAMA_NORM2, &rmsnorm },
	{ DROP_ACT, RSTD2, NULL },
	{ MAKE, D_RESIDUAL, &rmsnorm },
	{ MAKE, D_CONTEXT, &matmul },
	{ MAKE_GRAD, TDM_LLAMA_O, &matmul },
	{ MAKE, D_V_REPEATED, &matmul },
	{ MAKE, D_K_REPEATED, &matmul },
	{ MAKE, D_WEIGHTS, &matmul },
	{ MAKE, D_SCALE, &softmax },
	{ DROP, D_WEIGHTS, NULL },
	{ DROP, D_SCALE, NULL },
	{ MAKE, D_Q, &rope },
	{ MAKE, D_KV, &rope },
	{ MAKE_GRAD, TDM_LLAMA_Q, &matmul },
	{ MAKE_GRAD, TDM_LLAMA_KV_LINEAR, &matmul },
	{ MAKE, D_NORM1, &matmul },
	{ MAKE_GRAD, TDM_LLAMA_NORM1, &rmsnorm },
	{ MAKE, D_IN, &rmsnorm },
};

/* After the first allocation that failed nothing more is asked for: what was missing would be wrong. */
static bool has_failed(const struct training *t)
{
	return tdm_demo_card_failure(t->card) != NULL;
}

static bool begin(struct training *t, uint32_t chip, const struct tdm_demo_program *program)
{
	return !has_failed(t) && tdm_demo_program_begin(t->card, chip, program, NULL);
}

static void drop(struct training *t, uint32_t *handle)
{
	tdm_demo_free(t->card, handle);
}

static void drop_all(struct training *t, uint32_t *handles, size_t count)
{
	for (size_t i = 0; i < count; i++)
		drop(t, &handles[i]);
}

/* A tensor that a program makes. */
static uint32_t make(struct training *t, uint32_t chip, const struct tdm_demo_program *program, uint32_t rows,
	uint32_t columns, const char *name)
{
	if (!begin(t, chip, program))
		return 0;
	uint32_t handle = tdm_demo_tensor(t->card, chip, rows, columns, "%s", name);
	tdm_demo_program_end(t->card, chip);
	return handle;
}

/* Tiles in a row. */
static uint32_t make_tiles(struct training *t, uint32_t chip, uint32_t tiles, const char *name)
{
	return has_failed(t) ? 0 : tdm_demo_tensor(t->card, chip, 1, (uint64_t)tiles * 32, "%s", name);
}

static uint32_t make_tokens(struct training *t, uint32_t chip, const char *name)
{
	const struct tdm_demo_request request = {
		.kind = TDM_KIND_DRAM, .bytes = TOKEN_PAGE, .page_size = TOKEN_PAGE, .name = name
	};
	return has_failed(t) ? 0 : tdm_demo_alloc(t->card, chip, &request);
}

static uint32_t make_shape(struct training *t, uint32_t chip, const struct tdm_demo_program *program,
	const struct shape *shape, uint32_t layer)
{
	char name[TDM_DEMO_TEXT_MAX];
	snprintf(name, sizeof name, "layers.%u.%s", (unsigned)layer, shape->name);
	if (shape->rows != 0)
		return make(t, chip, program, shape->rows, shape->columns, name);
	uint32_t cores = (uint32_t)tdm_card_get(tdm_demo_card_model(t->card), TDM_CARD_L1_BANKS);
	const struct tdm_demo_request request = {
		.kind = TDM_KIND_L1,
		.bytes = (uint64_t)shape->columns * TDM_DEMO_TILE * cores,
		.cores = cores,
		.name = name,
	};
	return has_failed(t) ? 0 : tdm_demo_alloc(t->card, chip, &request);
}

static uint32_t make_grad(struct training *t, uint32_t chip, const struct tdm_demo_program *program, uint32_t index)
{
	if (!begin(t, chip, program))
		return 0;
	uint32_t handle = tdm_llama_alloc(t->card, chip, VOCABULARY, index, "grad");
	tdm_demo_program_end(t->card, chip);
	return handle;
}

static void create_model(struct training *t, uint32_t chip)
{
	struct replica *r = &t->replicas[chip];
	tidemark_phase("MODEL_CREATION");
	for (uint32_t i = 0; i < TDM_LLAMA_TENSORS && !has_failed(t); i++) {
		r->weight[i] = tdm_llama_alloc(t->card, chip, VOCABULARY, i, "weight");
		if (i % TDM_LLAMA_PARTS == 0)
			tdm_demo_pause(t->pace, LOAD_MS);
	}
	if (has_failed(t))
		return;
	r->table[0] = tdm_demo_tensor(t->card, chip, TOKENS, TOKENS, "causal_mask");
	r->table[1] = tdm_demo_tensor(t->card, chip, TOKENS, TDM_LLAMA_HEAD, "rope.cos");
	r->table[2] = tdm_demo_tensor(t->card, chip, TOKENS, TDM_LLAMA_HEAD, "rope.sin");
	r->table[3] = tdm_demo_tensor(t->card, chip, TOKENS, TDM_LLAMA_HEAD, "rope.neg_sin");
	if (t->recompute) /* fitted */
		r->table[4] = tdm_demo_tensor(t->card, chip, 1, TOKENS, "recompute.positions");
}

static void create_optimizer(struct training *t, uint32_t chip)
{
	struct replica *r = &t->replicas[chip];
	tidemark_phase("OPTIMIZER_CREATION");
	for (uint32_t i = 0; i < TDM_LLAMA_TENSORS && !has_failed(t); i++) {
		r->first[i] = tdm_llama_alloc(t->card, chip, VOCABULARY, i, "adamw.first");
		if (!has_failed(t))
			r->second[i] = tdm_llama_alloc(t->card, chip, VOCABULARY, i, "adamw.second");
		if (i % TDM_LLAMA_PARTS == 0)
			tdm_demo_pause(t->pace, LOAD_MS);
	}
	if (t->recompute)
		r->scalars = make_tiles(t, chip, ADAMW_SCALAR_TILES, "adamw.scalars");
}

/* `again`: it is computed a second time, and everything is kept for its gradient. */
static void forward_layer(struct training *t, uint32_t chip, uint32_t layer, bool again)
{
	uint32_t *act = t->replicas[chip].act[layer];
	bool keeps = again || !t->recompute;
	for (size_t i = 0; i < sizeof forward_steps / sizeof *forward_steps; i++) {
		const struct step *step = &forward_steps[i];
		if (step->verb == MAKE || (step->verb == MAKE_AGAIN && again))
			act[step->item] = make_shape(t, chip, step->program, &acts[step->item], layer);
		else if (step->verb == DROP || (step->verb == DROP_ONCE && !again) ||
			 (step->verb == DROP_EARLY && !keeps))
			drop(t, &act[step->item]);
	}
	if (keeps)
		return;
	t->replicas[chip].out[layer] = act[OUT];
	act[OUT] = 0;
	drop_all(t, act, ACT_COUNT);
	t->replicas[chip].state[layer] = make_tiles(t, chip, STATE_TILES, "recompute.state");
}

static void begin_forward(struct training *t, uint32_t chip)
{
	struct replica *r = &t->replicas[chip];
	r->tokens = make_tokens(t, chip, "batch.tokens");
	r->targets = make_tokens(t, chip, "batch.targets");
	if (t->recompute)
		r->leftover[0] = make_tiles(t, chip, STEP_SCALAR_TILES, "recompute.scalars");
	r->embedded = make(t, chip, &embedding, TOKENS, TDM_LLAMA_WIDTH, "embedding.out");
}

static void end_forward(struct training *t, uint32_t chip)
{
	struct replica *r = &t->replicas[chip];
	r->norm = make(t, chip, &rmsnorm, TOKENS, TDM_LLAMA_WIDTH, "norm.out");
	r->rstd = make(t, chip, &rmsnorm, TOKENS, 1, "norm.rstd");
	r->logits = make(t, chip, &matmul, TOKENS, VOCABULARY, "logits");
	r->log_softmax = make(t, chip, &softmax, TOKENS, VOCABULARY, "log_softmax");
	r->loss = make(t, chip, &cross_entropy, 1, 1, "loss");
	drop(t, &r->log_softmax);
	if (t->recompute)
		r->leftover[1] = make_tiles(t, chip, LOSS_STATE_TILES, "recompute.loss_state");
}

static void backward_layer(struct training *t, uint32_t chip, uint32_t layer)
{
	struct replica *r = &t->replicas[chip];
	if (t->recompute) {
		forward_layer(t, chip, layer, true);
		r->grad_state[layer] = make_tiles(t, chip, GRAD_STATE_TILES, "recompute.grad_state");
	}
	for (size_t i = 0; i < sizeof backward_steps / sizeof *backward_steps; i++) {
		const struct step *step = &backward_steps[i];
		uint32_t index = tdm_llama_index(layer, (enum tdm_llama_part)step->item);
		if (step->verb == MAKE)
			r->delta[step->item] = make_shape(t, chip, step->program, &deltas[step->item], layer);
		else if (step->verb == MAKE_GRAD)
			r->grad[index] = make_grad(t, chip, step->program, index);
		else
			drop(t, step->verb == DROP_ACT ? &r->act[layer][step->item] : &r->delta[step->item]);
	}
	drop(t, &r->d_out);
	r->d_out = r->delta[D_IN];
	r->delta[D_IN] = 0;
	drop_all(t, r->delta, DELTA_COUNT);
	drop_all(t, r->act[layer], ACT_COUNT);
	drop(t, &r->out[layer]);
}

static void begin_backward(struct training *t, uint32_t chip)
{
	struct replica *r = &t->replicas[chip];
	r->d_loss = make(t, chip, &eltwise, 1, 1, "loss.d");
	r->d_logits = make(t, chip, &cross_entropy, TOKENS, VOCABULARY, "logits.d");
	if (t->recompute)
		r->leftover[2] = make_tiles(t, chip, HEAD_STATE_TILES, "recompute.head_state");
	r->d_norm = make(t, chip, &matmul, TOKENS, TDM_LLAMA_WIDTH, "norm.out.d");
	r->grad[TDM_LLAMA_HEAD_LINEAR] = make_grad(t, chip, &matmul, TDM_LLAMA_HEAD_LINEAR);
	r->grad[TDM_LLAMA_NORM] = make_grad(t, chip, &rmsnorm, TDM_LLAMA_NORM);
	r->d_out = make(t, chip, &rmsnorm, TOKENS, TDM_LLAMA_WIDTH, "norm.in.d");
	drop(t, &r->d_norm);
	drop(t, &r->norm);
	drop(t, &r->rstd);
}

static void end_backward(struct training *t, uint32_t chip)
{
	struct replica *r = &t->replicas[chip];
	r->grad[TDM_LLAMA_EMBEDDING] = make_grad(t, chip, &embedding, TDM_LLAMA_EMBEDDING);
	if (t->recompute)
		r->leftover[3] = make_tiles(t, chip, EMBEDDING_STATE_TILES, "recompute.embedding_state");
	drop(t, &r->d_out);
	drop(t, &r->embedded);
}

/* Updates every parameter in place. */
static void step_optimizer(struct training *t, uint32_t chip)
{
	for (uint32_t i = 0; i < TDM_LLAMA_TENSORS; i++)
		if (begin(t, chip, &adamw))
			tdm_demo_program_end(t->card, chip);
}

/* What an iteration leaves: gradients, and what hangs on the loss. */
static void zero_grad(struct training *t, uint32_t chip)
{
	struct replica *r = &t->replicas[chip];
	uint32_t *const single[] = { &r->tokens, &r->targets, &r->embedded, &r->norm, &r->rstd, &r->logits,
		&r->log_softmax, &r->loss, &r->d_loss, &r->d_logits, &r->d_norm, &r->d_out };
	drop_all(t, r->grad, TDM_LLAMA_TENSORS);
	drop_all(t, r->state, TDM_LLAMA_LAYERS);
	drop_all(t, r->grad_state, TDM_LLAMA_LAYERS);
	drop_all(t, r->leftover, LEFTOVERS);
	for (size_t i = 0; i < sizeof single / sizeof *single; i++)
		drop(t, single[i]);
}

static void drop_replica(struct training *t, uint32_t chip)
{
	struct replica *r = &t->replicas[chip];
	zero_grad(t, chip);
	drop_all(t, r->delta, DELTA_COUNT);
	drop_all(t, r->out, TDM_LLAMA_LAYERS);
	for (uint32_t layer = 0; layer < TDM_LLAMA_LAYERS; layer++)
		drop_all(t, r->act[layer], ACT_COUNT);
	drop(t, &r->scalars);
	drop_all(t, r->second, TDM_LLAMA_TENSORS);
	drop_all(t, r->first, TDM_LLAMA_TENSORS);
	drop_all(t, r->table, TABLES);
	drop_all(t, r->weight, TDM_LLAMA_TENSORS);
}

/* The passes, on the first `chips` replicas in step. */

static void forward_pass(struct training *t, uint32_t chips)
{
	tidemark_phase("FORWARD_PASS");
	for (uint32_t chip = 0; chip < chips; chip++)
		begin_forward(t, chip);
	for (uint32_t layer = 0; layer < TDM_LLAMA_LAYERS; layer++) {
		for (uint32_t chip = 0; chip < chips; chip++)
			forward_layer(t, chip, layer, false);
		tdm_demo_pause(t->pace, STEP_MS);
	}
	for (uint32_t chip = 0; chip < chips; chip++)
		end_forward(t, chip);
}

static void backward_pass(struct training *t, uint32_t chips)
{
	tidemark_phase("BACKWARD_PASS");
	for (uint32_t chip = 0; chip < chips; chip++)
		begin_backward(t, chip);
	for (uint32_t layer = TDM_LLAMA_LAYERS; layer-- > 0;) {
		for (uint32_t chip = 0; chip < chips; chip++)
			backward_layer(t, chip, layer);
		tdm_demo_pause(t->pace, STEP_MS);
	}
	for (uint32_t chip = 0; chip < chips; chip++)
		end_backward(t, chip);
}

static void optimizer_step(struct training *t, uint32_t chips)
{
	tidemark_phase("OPTIMIZER_STEP");
	for (uint32_t chip = 0; chip < chips; chip++)
		step_optimizer(t, chip);
	tdm_demo_pause(t->pace, STEP_MS);
	for (uint32_t chip = 0; chip < chips; chip++)
		zero_grad(t, chip);
	tdm_demo_pause(t->pace, STEP_MS);
}

/* The first iteration, as tt-train's example captures it. */
static void capture_first_iteration(struct training *t)
{
	tidemark_capture_begin(t->recompute ? TIDEMARK_CAPTURE_NORMAL : TIDEMARK_CAPTURE_NO_DISPATCH);
	tdm_demo_card_dispatch(t->card, t->recompute);
	create_model(t, 0);
	tidemark_capture_snapshot("MODEL_CREATION");
	create_optimizer(t, 0);
	tidemark_capture_snapshot("OPTIMIZER_CREATION");
	forward_pass(t, 1);
	tidemark_capture_snapshot("FORWARD_PASS");
	backward_pass(t, 1);
	tidemark_capture_snapshot("BACKWARD_PASS");
	optimizer_step(t, 1);
	tidemark_capture_end("FIRST_ITERATION_COMPLETE");
	if (!t->recompute)
		drop_replica(t, 0);
	tdm_demo_card_dispatch(t->card, true);
}

/* A capture without dispatch has placed nothing, so that its peak says whether the run fits at all. */
static bool is_peak_too_high(const struct training *t)
{
	struct tidemark_segment last = { 0 };
	char peak[TDM_BYTES_CAP], has[TDM_BYTES_CAP];
	uint64_t capacity = tdm_demo_card_capacity(t->card, TDM_KIND_DRAM);
	size_t count = tidemark_capture_count();
	if (t->recompute || count == 0 || tidemark_capture_get(count - 1, &last) != 0)
		return false;
	bool fits = (uint64_t)last.dram_cumulative_peak <= capacity;
	printf("This was captured without dispatch. It needs %s of DRAM; %s has %s, so it %s.\n",
		tdm_format_bytes_short(peak, sizeof peak, (uint64_t)last.dram_cumulative_peak),
		tdm_demo_card_model(t->card)->name, tdm_format_bytes_short(has, sizeof has, capacity),
		fits ? "fits and goes on with dispatch" : "does not fit and ends here");
	return !fits;
}

static void train(struct training *t)
{
	capture_first_iteration(t);
	if (has_failed(t))
		return;
	tidemark_capture_print();
	if (is_peak_too_high(t) || !tdm_demo_round(t->pace))
		return;
	for (uint32_t chip = t->recompute ? 1 : 0; chip < t->chips; chip++) {
		create_model(t, chip);
		create_optimizer(t, chip);
	}
	do {
		forward_pass(t, t->chips);
		backward_pass(t, t->chips);
		optimizer_step(t, t->chips);
	} while (tdm_demo_round(t->pace) && !has_failed(t));
}

static void run_training(struct tdm_demo_card *card, const struct tdm_demo_options *options, struct tdm_demo_pace *pace)
{
	struct training t = { .card = card, .pace = pace, .recompute = options->recompute };
	t.chips = tdm_demo_card_chips(card);
	t.replicas = calloc(t.chips, sizeof *t.replicas);
	if (t.replicas == NULL)
		return;
	train(&t);
	tidemark_capture_clear();
	for (uint32_t chip = 0; chip < t.chips; chip++)
		drop_replica(&t, chip);
	free(t.replicas);
}

const struct tdm_demo_workload tdm_demo_training = {
	.name = "training",
	.summary = "trains a model in the shape of TinyLlama",
	.run = run_training,
};
