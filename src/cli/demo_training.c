/*
 * Trains a model with the shape of TinyLlama on one sequence of 2048 tokens, with AdamW, in two modes. By default every
 * activation is kept for the backward pass; in memory-efficient mode a layer keeps only its output and is recomputed
 * for its gradient.
 *
 * tt-train's documents print the phase table of such a run for both modes, and these buffers give those figures to the
 * hundredth of a MB. Nearly all of them follow from the shapes: a vocabulary of 96 characters, norms padded to a row of
 * tiles, keys and values repeated for all heads, attention scores of 256 MB. The rest, a few dozen tiles, is in the
 * buffers marked "fitted" below; the two runs in the documents also differ by 138,240 bytes before the first pass.
 *
 * The library's phase tracker captures the first iteration, on the first chip; then all chips continue together, each
 * with a copy of the model.
 *
 * A pass is a list of steps. Each step makes a buffer, or drops one made by an earlier step.
 */
#include "cli/demo_llama.h"
#include "base/units.h"
#include "cli/demo.h"
#include "tidemark.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	VOCABULARY = 96, /* characters, padded to tiles */
	TOKENS = TDM_LLAMA_CONTEXT,
	TOKEN_PAGE = TOKENS * 4, /* one row of 32-bit numbers */
	LOAD_MS = 20,            /* pause after making the tensors of a layer */
	STEP_MS = 50,            /* pause after a layer */
	SCORE_ROWS = TDM_LLAMA_HEADS * TOKENS,
	TABLES = 5,
	NO_LAYER = TDM_LLAMA_LAYERS,
};

/* Fitted, in tiles; all but SCALE_TILES in memory-efficient mode only. */
enum {
	SCALE_TILES = 1,           /* of the backward softmax */
	ADAMW_SCALAR_TILES = 5,    /* rate, two betas, epsilon, decay */
	STEP_SCALAR_TILES = 3,     /* of one iteration */
	STATE_TILES = 8,           /* what a layer keeps for its recomputation */
	LOSS_STATE_TILES = 44,     /* and the loss */
	GRAD_STATE_TILES = 10,     /* what a layer keeps in the backward pass */
	HEAD_STATE_TILES = 2,      /* and the head */
	EMBEDDING_STATE_TILES = 7, /* and the embedding */
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
	MAKE_AGAIN,  /* only when a layer is recomputed */
	MAKE_SHARDS, /* in the L1 of every core */
	MAKE_TOKENS, /* a row of numbers */
	MAKE_FITTED, /* only in memory-efficient mode */
	MAKE_GRAD,   /* of a parameter */
	DROP,
	DROP_ONCE,  /* but not when a layer is recomputed */
	DROP_EARLY, /* only when nothing is kept */
	DROP_ACT,   /* an activation, in the backward pass */
	END,        /* of a part of the list */
};

struct step {
	enum verb verb;
	const char *name; /* the buffer to make, or the one to drop */
	uint32_t rows, columns;
	const struct tdm_demo_program *program; /* that makes the buffer; NULL: none */
	uint32_t parameter;                     /* whose gradient this is: index in the layer, or in the model */
};

/* The steps before and after the layers, in both passes. */
enum { BEFORE_FORWARD, AFTER_FORWARD, BEFORE_BACKWARD, AFTER_BACKWARD };

static const struct step model_steps[] = {
	{ MAKE_TOKENS, .name = "batch.tokens" },
	{ MAKE_TOKENS, .name = "batch.targets" },
	{ MAKE_FITTED, "recompute.scalars", 1, .columns = STEP_SCALAR_TILES * 32 },
	{ MAKE, "embedding.out", TOKENS, TDM_LLAMA_WIDTH, .program = &embedding },
	{ .verb = END },
	{ MAKE, "norm.out", TOKENS, TDM_LLAMA_WIDTH, .program = &rmsnorm },
	{ MAKE, "norm.rstd", TOKENS, 1, .program = &rmsnorm },
	{ MAKE, "logits", TOKENS, VOCABULARY, .program = &matmul },
	{ MAKE, "log_softmax", TOKENS, VOCABULARY, .program = &softmax },
	{ MAKE, "loss", 1, 1, .program = &cross_entropy },
	{ DROP, .name = "log_softmax" },
	{ MAKE_FITTED, "recompute.loss_state", 1, .columns = LOSS_STATE_TILES * 32 },
	{ .verb = END },
	{ MAKE, "loss.d", 1, 1, .program = &eltwise },
	{ MAKE, "logits.d", TOKENS, VOCABULARY, .program = &cross_entropy },
	{ MAKE_FITTED, "recompute.head_state", 1, .columns = HEAD_STATE_TILES * 32 },
	{ MAKE, "norm.out.d", TOKENS, TDM_LLAMA_WIDTH, .program = &matmul },
	{ MAKE_GRAD, .program = &matmul, .parameter = TDM_LLAMA_HEAD_LINEAR },
	{ MAKE_GRAD, .program = &rmsnorm, .parameter = TDM_LLAMA_NORM },
	{ MAKE, "norm.in.d", TOKENS, TDM_LLAMA_WIDTH, .program = &rmsnorm },
	{ DROP, .name = "norm.out.d" },
	{ DROP, .name = "norm.out" },
	{ DROP, .name = "norm.rstd" },
	{ .verb = END },
	{ MAKE_GRAD, .program = &embedding, .parameter = TDM_LLAMA_EMBEDDING },
	{ MAKE_FITTED, "recompute.embedding_state", 1, .columns = EMBEDDING_STATE_TILES * 32 },
	{ DROP, .name = "norm.in.d" },
	{ DROP, .name = "embedding.out" },
	{ .verb = END },
};

/* The forward steps of a layer. The first copies the input if the layer is recomputed; the last makes the output. */
static const struct step forward_steps[] = {
	{ MAKE_AGAIN, "recompute.input", TOKENS, TDM_LLAMA_WIDTH, .program = &eltwise },
	{ MAKE, "attention_norm.out", TOKENS, TDM_LLAMA_WIDTH, .program = &rmsnorm },
	{ MAKE, "attention_norm.rstd", TOKENS, 1, .program = &rmsnorm },
	{ MAKE, "attention.q", TOKENS, TDM_LLAMA_WIDTH, .program = &matmul },
	{ MAKE, "attention.kv", TOKENS, 2 * TDM_LLAMA_KV, .program = &matmul },
	{ DROP_EARLY, .name = "attention_norm.out" },
	{ DROP_EARLY, .name = "attention_norm.rstd" },
	{ MAKE, "attention.k", TOKENS, TDM_LLAMA_KV, .program = &repeat },
	{ MAKE, "attention.v", TOKENS, TDM_LLAMA_KV, .program = &repeat },
	{ MAKE, "attention.q_rope", TOKENS, TDM_LLAMA_WIDTH, .program = &rope },
	{ MAKE, "attention.k_rope", TOKENS, TDM_LLAMA_KV, .program = &rope },
	{ DROP_EARLY, .name = "attention.k" },
	{ MAKE, "attention.k_repeated", TOKENS, TDM_LLAMA_WIDTH, .program = &repeat },
	{ MAKE, "attention.v_repeated", TOKENS, TDM_LLAMA_WIDTH, .program = &repeat },
	{ MAKE, "attention.q_scaled", TOKENS, TDM_LLAMA_WIDTH, .program = &eltwise },
	{ MAKE, "attention.scores", SCORE_ROWS, TOKENS, .program = &matmul },
	{ MAKE, "attention.masked", SCORE_ROWS, TOKENS, .program = &eltwise },
	{ MAKE, "attention.weights", SCORE_ROWS, TOKENS, .program = &softmax },
	{ MAKE, "attention.context", TOKENS, TDM_LLAMA_WIDTH, .program = &matmul },
	{ DROP, .name = "attention.scores" },
	{ DROP, .name = "attention.masked" },
	{ DROP_ONCE, .name = "attention.q_scaled" },
	{ MAKE, "attention.o", TOKENS, TDM_LLAMA_WIDTH, .program = &matmul },
	{ MAKE, "residual", TOKENS, TDM_LLAMA_WIDTH, .program = &eltwise },
	{ MAKE, "mlp_norm.out", TOKENS, TDM_LLAMA_WIDTH, .program = &rmsnorm },
	{ MAKE, "mlp_norm.rstd", TOKENS, 1, .program = &rmsnorm },
	{ MAKE_SHARDS, "mlp.shard", 1, .columns = 32 * 32 },
	{ MAKE, "mlp.gate", TOKENS, TDM_LLAMA_MLP, .program = &matmul },
	{ MAKE, "mlp.up", TOKENS, TDM_LLAMA_MLP, .program = &matmul },
	{ MAKE, "mlp.silu", TOKENS, TDM_LLAMA_MLP, .program = &eltwise },
	{ MAKE, "mlp.product", TOKENS, TDM_LLAMA_MLP, .program = &eltwise },
	{ DROP, .name = "mlp.shard" },
	{ MAKE, "mlp.down", TOKENS, TDM_LLAMA_WIDTH, .program = &matmul },
	{ MAKE, "out", TOKENS, TDM_LLAMA_WIDTH, .program = &eltwise },
};

/* The backward steps of a layer. The last makes the gradient of its input. */
static const struct step backward_steps[] = {
	{ MAKE, "mlp.product.d", TOKENS, TDM_LLAMA_MLP, .program = &matmul },
	{ MAKE_GRAD, .program = &matmul, .parameter = TDM_LLAMA_DOWN },
	{ MAKE, "mlp.silu.d", TOKENS, TDM_LLAMA_MLP, .program = &eltwise },
	{ MAKE, "mlp.up.d", TOKENS, TDM_LLAMA_MLP, .program = &eltwise },
	{ MAKE, "mlp.gate.d", TOKENS, TDM_LLAMA_MLP, .program = &eltwise },
	{ MAKE_GRAD, .program = &matmul, .parameter = TDM_LLAMA_GATE },
	{ MAKE_GRAD, .program = &matmul, .parameter = TDM_LLAMA_UP },
	{ MAKE, "mlp_norm.out.d", TOKENS, TDM_LLAMA_WIDTH, .program = &matmul },
	{ MAKE_GRAD, .program = &rmsnorm, .parameter = TDM_LLAMA_NORM2 },
	{ DROP_ACT, .name = "mlp_norm.rstd" },
	{ MAKE, "residual.d", TOKENS, TDM_LLAMA_WIDTH, .program = &rmsnorm },
	{ MAKE, "attention.context.d", TOKENS, TDM_LLAMA_WIDTH, .program = &matmul },
	{ MAKE_GRAD, .program = &matmul, .parameter = TDM_LLAMA_O },
	{ MAKE, "attention.v_repeated.d", TOKENS, TDM_LLAMA_WIDTH, .program = &matmul },
	{ MAKE, "attention.k_repeated.d", TOKENS, TDM_LLAMA_WIDTH, .program = &matmul },
	{ MAKE, "attention.weights.d", SCORE_ROWS, TOKENS, .program = &matmul },
	{ MAKE, "attention.scale", 1, SCALE_TILES * 32, .program = &softmax },
	{ DROP, .name = "attention.weights.d" },
	{ DROP, .name = "attention.scale" },
	{ MAKE, "attention.q.d", TOKENS, TDM_LLAMA_WIDTH, .program = &rope },
	{ MAKE, "attention.kv.d", TOKENS, 2 * TDM_LLAMA_KV, .program = &rope },
	{ MAKE_GRAD, .program = &matmul, .parameter = TDM_LLAMA_Q },
	{ MAKE_GRAD, .program = &matmul, .parameter = TDM_LLAMA_KV_LINEAR },
	{ MAKE, "attention_norm.out.d", TOKENS, TDM_LLAMA_WIDTH, .program = &matmul },
	{ MAKE_GRAD, .program = &rmsnorm, .parameter = TDM_LLAMA_NORM1 },
	{ MAKE, "in.d", TOKENS, TDM_LLAMA_WIDTH, .program = &rmsnorm },
};

enum {
	MODEL_STEPS = sizeof model_steps / sizeof *model_steps,
	FORWARD_STEPS = sizeof forward_steps / sizeof *forward_steps,
	BACKWARD_STEPS = sizeof backward_steps / sizeof *backward_steps,
};

/* What a chip holds, all handles. A buffer made by a step has the index of that step. */
struct replica {
	uint32_t weight[TDM_LLAMA_TENSORS], first[TDM_LLAMA_TENSORS], second[TDM_LLAMA_TENSORS],
		grad[TDM_LLAMA_TENSORS];
	uint32_t table[TABLES], scalars, model[MODEL_STEPS];
	uint32_t act[TDM_LLAMA_LAYERS][FORWARD_STEPS], out[TDM_LLAMA_LAYERS]; /* out: kept for recomputation */
	uint32_t state[TDM_LLAMA_LAYERS], grad_state[TDM_LLAMA_LAYERS];
	uint32_t delta[BACKWARD_STEPS], d_out;
};

struct training {
	struct tdm_demo_card *card;
	struct tdm_demo_pace *pace;
	bool recompute, captures; /* captures: the library knows the buffers */
	uint32_t chips;
	struct replica *replicas;
};

/* Where a step works: a layer of a chip, or the part outside of the layers. */
struct place {
	struct training *t;
	uint32_t chip, layer; /* NO_LAYER: none */
	bool again;           /* the layer is recomputed, and everything is kept for its gradient */
};

/* After the first failed allocation nothing more is allocated: figures without the missing buffer would be wrong. */
static bool has_failed(const struct training *t)
{
	return tdm_demo_card_failure(t->card) != NULL;
}

static void drop_all(struct training *t, uint32_t *handles, size_t count)
{
	for (size_t i = 0; i < count; i++)
		tdm_demo_free(t->card, &handles[i]);
}

/* A tensor of one row of tiles. */
static uint32_t make_tiles(struct training *t, uint32_t chip, uint32_t tiles, const char *name)
{
	return has_failed(t) ? 0 : tdm_demo_tensor(t->card, chip, 1, (uint64_t)tiles * 32, "%s", name);
}

static uint32_t make_buffer(const struct place *place, const struct step *step)
{
	struct tdm_demo_card *card = place->t->card;
	char name[TDM_DEMO_TEXT_MAX];
	const struct tdm_demo_request tokens = {
		.kind = TDM_KIND_DRAM, .bytes = TOKEN_PAGE, .page_size = TOKEN_PAGE, .name = name
	};
	if (place->layer == NO_LAYER)
		snprintf(name, sizeof name, "%s", step->name);
	else
		snprintf(name, sizeof name, "layers.%u.%s", (unsigned)place->layer, step->name);
	if (step->verb == MAKE_TOKENS)
		return tdm_demo_alloc(card, place->chip, &tokens);
	if (step->verb == MAKE_SHARDS)
		return tdm_demo_shards(card, place->chip, step->columns / 32, name);
	return tdm_demo_tensor(card, place->chip, step->rows, step->columns, "%s", name);
}

/* Makes the buffer of a step, or the gradient of a parameter. */
static void make(const struct place *place, const struct step *step, uint32_t *handle)
{
	struct training *t = place->t;
	uint32_t first = place->layer == NO_LAYER ? 0 : tdm_llama_index(place->layer, 0);
	uint32_t index = first + step->parameter;
	if (has_failed(t) ||
		(step->program != NULL && !tdm_demo_program_begin(t->card, place->chip, step->program, NULL)))
		return;
	if (step->verb == MAKE_GRAD)
		t->replicas[place->chip].grad[index] = tdm_llama_alloc(t->card, place->chip, VOCABULARY, index, "grad");
	else
		*handle = make_buffer(place, step);
	if (step->program != NULL)
		tdm_demo_program_end(t->card, place->chip);
}

/* The handle of the buffer that the first step with this name makes. There always is one. */
static uint32_t *handle_of(const struct step *steps, size_t count, uint32_t *handles, const char *name)
{
	size_t i = 0;
	while (i + 1 < count && (steps[i].name == NULL || strcmp(steps[i].name, name) != 0))
		i++;
	return &handles[i];
}

static bool is_for_now(const struct place *place, const struct step *step)
{
	switch (step->verb) {
	case MAKE_AGAIN:
		return place->again;
	case MAKE_FITTED:
		return place->t->recompute;
	case DROP_ONCE:
		return !place->again;
	case DROP_EARLY:
		return place->t->recompute && !place->again;
	default:
		return true;
	}
}

static void do_step(const struct place *place, const struct step *steps, size_t i, uint32_t *handles)
{
	struct tdm_demo_card *card = place->t->card;
	struct replica *r = &place->t->replicas[place->chip];
	const struct step *step = &steps[i];
	if (!is_for_now(place, step))
		return;
	if (step->verb < DROP)
		make(place, step, &handles[i]);
	else if (step->verb == DROP_ACT)
		tdm_demo_free(card, handle_of(forward_steps, FORWARD_STEPS, r->act[place->layer], step->name));
	else
		tdm_demo_free(card, handle_of(steps, i, handles, step->name));
}

static void do_part(struct training *t, uint32_t chip, int part)
{
	const struct place place = { t, chip, NO_LAYER, false };
	for (size_t i = 0; i < MODEL_STEPS; i++)
		if (model_steps[i].verb == END)
			part--;
		else if (part == 0)
			do_step(&place, model_steps, i, t->replicas[chip].model);
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

static void forward_layer(struct training *t, uint32_t chip, uint32_t layer, bool again)
{
	struct replica *r = &t->replicas[chip];
	const struct place place = { t, chip, layer, again };
	for (size_t i = 0; i < FORWARD_STEPS; i++)
		do_step(&place, forward_steps, i, r->act[layer]);
	if (again || !t->recompute)
		return;
	r->out[layer] = r->act[layer][FORWARD_STEPS - 1];
	r->act[layer][FORWARD_STEPS - 1] = 0;
	drop_all(t, r->act[layer], FORWARD_STEPS);
	r->state[layer] = make_tiles(t, chip, STATE_TILES, "recompute.state");
}

/* Replaces the gradient of the layer's output by that of its input. */
static void backward_layer(struct training *t, uint32_t chip, uint32_t layer)
{
	struct replica *r = &t->replicas[chip];
	const struct place place = { t, chip, layer, t->recompute };
	uint32_t *d_out = handle_of(model_steps, MODEL_STEPS, r->model, "norm.in.d");
	if (t->recompute) {
		forward_layer(t, chip, layer, true);
		r->grad_state[layer] = make_tiles(t, chip, GRAD_STATE_TILES, "recompute.grad_state");
	}
	for (size_t i = 0; i < BACKWARD_STEPS; i++)
		do_step(&place, backward_steps, i, r->delta);
	tdm_demo_free(t->card, d_out);
	*d_out = r->delta[BACKWARD_STEPS - 1];
	r->delta[BACKWARD_STEPS - 1] = 0;
	drop_all(t, r->delta, BACKWARD_STEPS);
	drop_all(t, r->act[layer], FORWARD_STEPS);
	tdm_demo_free(t->card, &r->out[layer]);
}

/* Updates every parameter in place. */
static void step_optimizer(struct training *t, uint32_t chip)
{
	for (uint32_t i = 0; i < TDM_LLAMA_TENSORS && !has_failed(t); i++)
		if (tdm_demo_program_begin(t->card, chip, &adamw, NULL))
			tdm_demo_program_end(t->card, chip);
}

/* Drops what an iteration leaves: gradients, and everything that depends on the loss. */
static void zero_grad(struct training *t, uint32_t chip)
{
	struct replica *r = &t->replicas[chip];
	drop_all(t, r->grad, TDM_LLAMA_TENSORS);
	drop_all(t, r->state, TDM_LLAMA_LAYERS);
	drop_all(t, r->grad_state, TDM_LLAMA_LAYERS);
	drop_all(t, r->model, MODEL_STEPS);
}

static void drop_replica(struct training *t, uint32_t chip)
{
	struct replica *r = &t->replicas[chip];
	zero_grad(t, chip);
	drop_all(t, r->delta, BACKWARD_STEPS);
	drop_all(t, r->out, TDM_LLAMA_LAYERS);
	for (uint32_t layer = 0; layer < TDM_LLAMA_LAYERS; layer++)
		drop_all(t, r->act[layer], FORWARD_STEPS);
	tdm_demo_free(t->card, &r->scalars);
	drop_all(t, r->second, TDM_LLAMA_TENSORS);
	drop_all(t, r->first, TDM_LLAMA_TENSORS);
	drop_all(t, r->table, TABLES);
	drop_all(t, r->weight, TDM_LLAMA_TENSORS);
}

/* The passes, on the first `chips` replicas in lockstep. */

static void forward_pass(struct training *t, uint32_t chips)
{
	tidemark_phase("FORWARD_PASS");
	for (uint32_t chip = 0; chip < chips; chip++)
		do_part(t, chip, BEFORE_FORWARD);
	for (uint32_t layer = 0; layer < TDM_LLAMA_LAYERS; layer++) {
		for (uint32_t chip = 0; chip < chips; chip++)
			forward_layer(t, chip, layer, false);
		tdm_demo_pause(t->pace, STEP_MS);
	}
	for (uint32_t chip = 0; chip < chips; chip++)
		do_part(t, chip, AFTER_FORWARD);
}

static void backward_pass(struct training *t, uint32_t chips)
{
	tidemark_phase("BACKWARD_PASS");
	for (uint32_t chip = 0; chip < chips; chip++)
		do_part(t, chip, BEFORE_BACKWARD);
	for (uint32_t layer = TDM_LLAMA_LAYERS; layer-- > 0;) {
		for (uint32_t chip = 0; chip < chips; chip++)
			backward_layer(t, chip, layer);
		tdm_demo_pause(t->pace, STEP_MS);
	}
	for (uint32_t chip = 0; chip < chips; chip++)
		do_part(t, chip, AFTER_BACKWARD);
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
	if (t->captures)
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

/* A capture without dispatch places nothing, so its peak tells whether the run fits at all. */
static bool is_peak_too_high(const struct training *t)
{
	struct tidemark_segment last = TIDEMARK_SEGMENT_INIT;
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
	if (t->captures)
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
	t.captures = options->socket == NULL;
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
	.summary = "trains a model with the shape of TinyLlama",
	.run = run_training,
};
