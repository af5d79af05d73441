/*
 * Trains a model with the shape of TinyLlama on one sequence of 2048 tokens, with AdamW, in two modes. By default,
 * every activation is kept for the backward pass. In memory-efficient mode, a layer keeps only its output, and is
 * recomputed to get the gradient.
 *
 * tt-train's documentation shows the phase table of such a run for both modes, and these buffers reproduce those
 * figures to within a hundredth of a MB. Nearly all buffer sizes follow from the shapes: a vocabulary of 96 characters,
 * norms padded to a row of tiles, keys and values repeated for all heads, attention scores of 256 MB. The rest, a few
 * dozen tiles, is in the buffers marked "fitted" below. The two documented runs also differ by 138,240 bytes before the
 * first pass.
 *
 * The library's phase tracker captures the first iteration, on the first chip; then all chips continue in parallel,
 * each with a copy of the model.
 *
 * A pass is a list of steps. Each step makes a buffer, or drops a buffer made by an earlier step. Steps outside the
 * layers use the group ITERATION; those of a layer use ACTIVATIONS or DELTA.
 */
#include "base/units.h"
#include "cli/demo/demo.h"
#include "tidemark.h"

#include <stdio.h>

enum {
	VOCABULARY = 96, /* vocabulary size in characters, padded to tiles */
	TOKENS = TDM_LLAMA_CONTEXT,
	TOKEN_PAGE = TOKENS * 4, /* one row of 32-bit numbers */
	LOAD_MS = 20,            /* pause after making a layer's tensors */
	STEP_MS = 50,            /* pause after a layer */
	SCORE_ROWS = TDM_LLAMA_HEADS * TOKENS,
	NO_LAYER = TDM_LLAMA_LAYERS,
};

/* Groups of buffers. Each layer has two: its activations, and its output, which is kept for recomputation. */
enum {
	MODEL,
	ITERATION, /* gradients, and other buffers dropped after an optimizer step */
	DELTA,     /* gradient buffers of the current layer in the backward pass */
	ACTIVATIONS,
	OUTPUTS = ACTIVATIONS + TDM_LLAMA_LAYERS,
};

/* Fitted sizes, in tiles; all but SCALE_TILES are used only in memory-efficient mode. */
enum {
	SCALE_TILES = 1,           /* scale in the backward softmax */
	ADAMW_SCALAR_TILES = 5,    /* learning rate, two betas, epsilon, decay */
	STEP_SCALAR_TILES = 3,     /* scalars of one iteration */
	STATE_TILES = 8,           /* kept by a layer for its recomputation */
	LOSS_STATE_TILES = 44,     /* kept by the loss */
	GRAD_STATE_TILES = 10,     /* kept by a layer in the backward pass */
	HEAD_STATE_TILES = 2,      /* kept by the head */
	EMBEDDING_STATE_TILES = 7, /* kept by the embedding */
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
	MAKE_AGAIN,  /* make only when a layer is recomputed */
	MAKE_SHARDS, /* make in the L1 of every core */
	MAKE_TOKENS, /* make a row of numbers */
	MAKE_FITTED, /* make only in memory-efficient mode */
	MAKE_GRAD,   /* make the gradient of a parameter */
	DROP,
	DROP_ONCE,  /* drop, but not when a layer is recomputed */
	DROP_EARLY, /* drop only when nothing is kept */
	DROP_ACT,   /* drop an activation, in the backward pass */
	END,        /* ends a part of the list */
};

struct step {
	enum verb verb;
	const char *name; /* name of the buffer to make or drop */
	uint32_t rows, columns;
	const struct tdm_demo_program *program; /* program that makes the buffer, or NULL */
	uint32_t parameter;                     /* parameter of this gradient: index in the layer, or in the model */
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

/* A layer's forward steps. The first copies the input if the layer is recomputed; the last makes the output. */
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

/* A layer's backward steps. The last makes the gradient of the layer's input. */
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

/* After the first failed allocation, nothing more is allocated: figures without the missing buffer would be wrong. */
static bool has_failed(const struct tdm_demo *demo)
{
	return demo->failure[0] != '\0';
}

static void make_tensor(struct tdm_demo_chip *chip, uint64_t rows, uint64_t columns, int group, const char *name)
{
	if (!has_failed(chip->demo))
		tdm_demo_tensor(chip, rows, columns, group, name, NULL);
}

/* Makes the buffer of a step, or the gradient of a parameter. */
static void make(struct tdm_demo_chip *chip, uint32_t layer, int group, const struct step *step)
{
	uint32_t first = layer == NO_LAYER ? 0 : layer * TDM_LLAMA_PARTS;
	char name[TDM_DEMO_TEXT_MAX];
	const struct tdm_demo_request tokens = { .kind = TDM_KIND_DRAM,
		.bytes = TOKEN_PAGE,
		.page_size = TOKEN_PAGE,
		.name = name,
		.group = group,
		.key = step->name };
	if (has_failed(chip->demo) || (step->program != NULL && !tdm_demo_program_begin(chip, step->program, NULL)))
		return;
	if (layer == NO_LAYER)
		snprintf(name, sizeof name, "%s", step->name);
	else
		snprintf(name, sizeof name, "layers.%u.%s", (unsigned)layer, step->name);
	if (step->verb == MAKE_GRAD)
		tdm_llama_alloc(chip, VOCABULARY, first + step->parameter, ITERATION, "grad");
	else if (step->verb == MAKE_TOKENS)
		tdm_demo_alloc(chip, &tokens);
	else if (step->verb == MAKE_SHARDS)
		tdm_demo_shards(chip, step->columns / 32, group, name, step->name);
	else
		tdm_demo_tensor(chip, step->rows, step->columns, group, name, step->name);
	if (step->program != NULL)
		tdm_demo_program_end(chip);
}

/* Runs steps in one layer on a chip, or outside the layers (NO_LAYER). `again`: the layer is being recomputed, and
 * keeps all buffers for its gradient. */
static void do_steps(
	struct tdm_demo_chip *chip, uint32_t layer, int group, bool again, const struct step *steps, size_t count)
{
	bool recomputes = chip->demo->options->recompute;
	for (const struct step *step = steps; step < steps + count; step++) {
		enum verb verb = step->verb;
		bool is_now = verb == MAKE_AGAIN    ? again
			      : verb == MAKE_FITTED ? recomputes
			      : verb == DROP_ONCE   ? !again
			      : verb == DROP_EARLY  ? recomputes && !again
						    : true;
		if (!is_now)
			continue;
		if (step->verb < DROP)
			make(chip, layer, group, step);
		else
			tdm_demo_drop_key(chip, step->verb == DROP_ACT ? ACTIVATIONS + (int)layer : group, step->name);
	}
}

static void create_model(struct tdm_demo_chip *chip)
{
	tidemark_phase("MODEL_CREATION");
	for (uint32_t i = 0; i < TDM_LLAMA_TENSORS && !has_failed(chip->demo); i++) {
		tdm_llama_alloc(chip, VOCABULARY, i, MODEL, "weight");
		if (i % TDM_LLAMA_PARTS == 0)
			tdm_demo_pause(chip->demo, LOAD_MS);
	}
	make_tensor(chip, TOKENS, TOKENS, MODEL, "causal_mask");
	make_tensor(chip, TOKENS, TDM_LLAMA_HEAD, MODEL, "rope.cos");
	make_tensor(chip, TOKENS, TDM_LLAMA_HEAD, MODEL, "rope.sin");
	make_tensor(chip, TOKENS, TDM_LLAMA_HEAD, MODEL, "rope.neg_sin");
	if (chip->demo->options->recompute) /* fitted */
		make_tensor(chip, 1, TOKENS, MODEL, "recompute.positions");
}

static void create_optimizer(struct tdm_demo_chip *chip)
{
	tidemark_phase("OPTIMIZER_CREATION");
	for (uint32_t i = 0; i < TDM_LLAMA_TENSORS && !has_failed(chip->demo); i++) {
		tdm_llama_alloc(chip, VOCABULARY, i, MODEL, "adamw.first");
		if (!has_failed(chip->demo))
			tdm_llama_alloc(chip, VOCABULARY, i, MODEL, "adamw.second");
		if (i % TDM_LLAMA_PARTS == 0)
			tdm_demo_pause(chip->demo, LOAD_MS);
	}
	if (chip->demo->options->recompute)
		make_tensor(chip, 1, ADAMW_SCALAR_TILES * 32, MODEL, "adamw.scalars");
}

static void forward_layer(struct tdm_demo_chip *chip, uint32_t layer, bool again)
{
	int group = ACTIVATIONS + (int)layer;
	do_steps(chip, layer, group, again, forward_steps, sizeof forward_steps / sizeof *forward_steps);
	if (again || !chip->demo->options->recompute)
		return;
	tdm_demo_move(chip, group, "out", OUTPUTS + (int)layer, NULL);
	tdm_demo_drop(chip, group);
	make_tensor(chip, 1, STATE_TILES * 32, ITERATION, "recompute.state");
}

/* Replaces the gradient of the layer's output with the gradient of its input. */
static void backward_layer(struct tdm_demo_chip *chip, uint32_t layer)
{
	if (chip->demo->options->recompute) {
		forward_layer(chip, layer, true);
		make_tensor(chip, 1, GRAD_STATE_TILES * 32, ITERATION, "recompute.grad_state");
	}
	do_steps(chip, layer, DELTA, chip->demo->options->recompute, backward_steps,
		sizeof backward_steps / sizeof *backward_steps);
	tdm_demo_drop_key(chip, ITERATION, "norm.in.d");
	tdm_demo_move(chip, DELTA, "in.d", ITERATION, "norm.in.d");
	tdm_demo_drop(chip, DELTA);
	tdm_demo_drop(chip, ACTIVATIONS + (int)layer);
	tdm_demo_drop(chip, OUTPUTS + (int)layer);
}

/* The passes run on the first `chips` chips in lockstep. */

static void do_part(struct tdm_demo *demo, uint32_t chips, int part)
{
	size_t first = 0, end = 0;
	for (; part >= 0; part--) {
		first = end != 0 ? end + 1 : 0;
		for (end = first; model_steps[end].verb != END;)
			end++;
	}
	for (uint32_t chip = 0; chip < chips; chip++)
		do_steps(&demo->chip[chip], NO_LAYER, ITERATION, false, model_steps + first, end - first);
}

static void forward_pass(struct tdm_demo *demo, uint32_t chips)
{
	tidemark_phase("FORWARD_PASS");
	do_part(demo, chips, BEFORE_FORWARD);
	for (uint32_t layer = 0; layer < TDM_LLAMA_LAYERS; layer++) {
		for (uint32_t chip = 0; chip < chips; chip++)
			forward_layer(&demo->chip[chip], layer, false);
		tdm_demo_pause(demo, STEP_MS);
	}
	do_part(demo, chips, AFTER_FORWARD);
}

static void backward_pass(struct tdm_demo *demo, uint32_t chips)
{
	tidemark_phase("BACKWARD_PASS");
	do_part(demo, chips, BEFORE_BACKWARD);
	for (uint32_t layer = TDM_LLAMA_LAYERS; layer-- > 0;) {
		for (uint32_t chip = 0; chip < chips; chip++)
			backward_layer(&demo->chip[chip], layer);
		tdm_demo_pause(demo, STEP_MS);
	}
	do_part(demo, chips, AFTER_BACKWARD);
}

static void optimizer_step(struct tdm_demo *demo, uint32_t chips)
{
	tidemark_phase("OPTIMIZER_STEP");
	/* Every parameter is updated in place. */
	for (uint32_t i = 0; i < chips * TDM_LLAMA_TENSORS && !has_failed(demo); i++)
		if (tdm_demo_program_begin(&demo->chip[i / TDM_LLAMA_TENSORS], &adamw, NULL))
			tdm_demo_program_end(&demo->chip[i / TDM_LLAMA_TENSORS]);
	tdm_demo_pause(demo, STEP_MS);
	for (uint32_t chip = 0; chip < chips; chip++)
		tdm_demo_drop(&demo->chip[chip], ITERATION);
	tdm_demo_pause(demo, STEP_MS);
}

/* Runs the first iteration, captured as in tt-train's example if the library records the buffers. */
static void capture_first_iteration(struct tdm_demo *demo)
{
	bool recompute = demo->options->recompute;
	if (demo->options->socket == NULL)
		tidemark_capture_begin(recompute ? TIDEMARK_CAPTURE_NORMAL : TIDEMARK_CAPTURE_NO_DISPATCH);
	demo->dispatch = recompute;
	create_model(&demo->chip[0]);
	tidemark_capture_snapshot("MODEL_CREATION");
	create_optimizer(&demo->chip[0]);
	tidemark_capture_snapshot("OPTIMIZER_CREATION");
	forward_pass(demo, 1);
	tidemark_capture_snapshot("FORWARD_PASS");
	backward_pass(demo, 1);
	tidemark_capture_snapshot("BACKWARD_PASS");
	optimizer_step(demo, 1);
	tidemark_capture_end("FIRST_ITERATION_COMPLETE");
	if (!recompute)
		tdm_demo_drop_all(&demo->chip[0]);
	demo->dispatch = true;
}

/*
 * A capture without dispatch places nothing, so its peak is compared with the capacity to see whether the run fits at
 * all.
 */
static bool is_peak_too_high(const struct tdm_demo *demo)
{
	struct tidemark_segment last = TIDEMARK_SEGMENT_INIT;
	char peak[TDM_BYTES_CAP], has[TDM_BYTES_CAP];
	const struct tdm_bank_range *dram = &demo->range[TDM_KIND_DRAM];
	uint64_t capacity = dram->size * dram->banks;
	size_t count = tidemark_capture_count();
	if (demo->options->recompute || count == 0 || tidemark_capture_get(count - 1, &last) != 0)
		return false;
	bool fits = (uint64_t)last.dram_cumulative_peak <= capacity;
	printf("This was captured without dispatch. It needs %s of DRAM; %s has %s, so it %s.\n",
		tdm_format_bytes_short(peak, sizeof peak, (uint64_t)last.dram_cumulative_peak), demo->model.name,
		tdm_format_bytes_short(has, sizeof has, capacity),
		fits ? "fits and goes on with dispatch" : "does not fit and ends here");
	return !fits;
}

static void run_training(struct tdm_demo *demo)
{
	uint32_t chips = demo->options->chips;
	capture_first_iteration(demo);
	if (!has_failed(demo) && demo->options->socket == NULL)
		tidemark_capture_print();
	bool goes_on = !has_failed(demo) && !is_peak_too_high(demo) && tdm_demo_round(demo);
	tidemark_capture_clear();
	if (!goes_on)
		return;
	for (uint32_t chip = demo->options->recompute ? 1 : 0; chip < chips; chip++) {
		create_model(&demo->chip[chip]);
		create_optimizer(&demo->chip[chip]);
	}
	do {
		forward_pass(demo, chips);
		backward_pass(demo, chips);
		optimizer_step(demo, chips);
	} while (tdm_demo_round(demo) && !has_failed(demo));
}

const struct tdm_demo_workload tdm_demo_training = {
	.name = "training",
	.summary = "trains a model with the shape of TinyLlama",
	.run = run_training,
};

/* ---- the model's tensors, for other workloads --------------------------------------------------------------- */

bool tdm_llama_alloc(struct tdm_demo_chip *chip, uint32_t vocabulary, uint32_t index, int group, const char *suffix)
{
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
	uint32_t part = index % TDM_LLAMA_PARTS, rows = index == TDM_LLAMA_NORM ? 1 : vocabulary;
	char name[TDM_DEMO_TEXT_MAX];
	if (index >= TDM_LLAMA_EMBEDDING) {
		snprintf(name, sizeof name, "%s.%s",
			index == TDM_LLAMA_EMBEDDING ? "embedding"
			: index == TDM_LLAMA_NORM    ? "norm"
						     : "lm_head",
			suffix);
		return tdm_demo_tensor(chip, rows, TDM_LLAMA_WIDTH, group, name, NULL);
	}
	snprintf(name, sizeof name, "layers.%u.%s.%s", (unsigned)(index / TDM_LLAMA_PARTS), parts[part].name, suffix);
	return tdm_demo_tensor(chip, parts[part].rows, parts[part].columns, group, name, NULL);
}
