#include "analyze/pressure.h"
#include "base/number.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	CONSTANT_TILES = 4,
	STREAMING_ABOVE = 16,
	STREAMING_TILES = 2,
	OPTIMAL_MAX = 6,
	AVAILABLE_TILES = 8, /* 48 KiB of tiles of 4 KiB, less those of CB2 and CB16 */
	RESULT_TILES = 2,    /* of CB2 and CB16 in both adaptive rules */
	/* The model runs no more: it is periodic long before. */
	MODEL_A_MAX = 64,
	MODEL_B_MAX = 256,
};

const uint64_t tdm_pressure_sizes[] = { 4, 8, 16, 20, 32, 64 };
const size_t tdm_pressure_size_count = sizeof tdm_pressure_sizes / sizeof *tdm_pressure_sizes;

const char *tdm_sizing_title(enum tdm_sizing_name name)
{
	static const char *const titles[] = { "constant", "adaptive_guide", "adaptive_program", "given", "advised" };
	return titles[name];
}

void tdm_sizing_tiles(enum tdm_sizing_name name, uint64_t tiles_per_shard, uint64_t b_tiles, uint32_t tiles[4])
{
	bool is_constant = name == TDM_SIZING_CONSTANT;
	bool is_large = tiles_per_shard > STREAMING_ABOVE || b_tiles > STREAMING_ABOVE;
	tiles[2] = tiles[3] = is_constant ? CONSTANT_TILES : RESULT_TILES;
	tiles[0] = tiles[1] = is_constant ? CONSTANT_TILES : STREAMING_TILES;
	if (is_constant || is_large)
		return;
	tiles[0] = (uint32_t)tdm_min(OPTIMAL_MAX, tiles_per_shard + 2);
	tiles[1] = (uint32_t)tdm_min(OPTIMAL_MAX, b_tiles);
	if (name == TDM_SIZING_ADAPTIVE_PROGRAM && tiles[0] + tiles[1] > AVAILABLE_TILES) {
		tiles[0] = AVAILABLE_TILES / 2;
		tiles[1] = AVAILABLE_TILES - tiles[0];
	}
}

/* The workload as a pattern: an A tile, then all B tiles, which are added to it one by one. 0 or -ENOMEM. */
static int make_pattern(struct tdm_pressure_result *r)
{
	static const char format[] = "name addition\ntiles %" PRIu64 "\n"
				     "buffer 0 pages=%d page=%" PRIu64 " total=%" PRIu64 "\n"
				     "buffer 1 pages=%d page=%" PRIu64 " total=%" PRIu64 "\n"
				     "buffer 2 pages=%d page=%" PRIu64 " total=%" PRIu64 "\n"
				     "buffer 16 pages=%d page=%" PRIu64 " total=%" PRIu64 "\n"
				     "kernel reader read push=0\nkernel reader read push=1 times=%" PRIu64 "\n"
				     "kernel compute compute op=copy pop=0 push=2\n"
				     "kernel compute compute op=add pop=1,2 push=2 times=%" PRIu64 "\n"
				     "kernel compute compute op=copy pop=2 push=16\nkernel writer write pop=16\n";
	uint64_t a = tdm_min(r->tiles_per_shard, MODEL_A_MAX), b = tdm_min(r->setup.b_tiles, MODEL_B_MAX);
	uint64_t page = r->setup.tile_bytes;
	struct tdm_core_speed speed = *r->setup.speed;
	char text[1024];
	snprintf(text, sizeof text, format, a * b, CONSTANT_TILES, page, a, CONSTANT_TILES, page, a * b, CONSTANT_TILES,
		page, a * (b + 1), CONSTANT_TILES, page, a, b, b);
	return tdm_pattern_parse(tdm_str_of(text), &r->pattern, &speed, NULL);
}

static void set_needs(struct tdm_pressure_result *r)
{
	for (size_t i = 0; i < r->pattern.buffer_count; i++)
		r->needs[i] = r->pattern.buffers[i].total;
	if (r->setup.pattern == NULL) {
		r->needs[0] = r->needs[2] = r->needs[3] = r->tiles_per_shard;
		r->needs[1] = r->setup.b_tiles;
	}
}

static void set_class(struct tdm_pressure_result *r)
{
	static const struct {
		uint64_t most;
		const char *name, *behaviour;
	} classes[] = {
		{ 8, "small", "optimal buffering: high performance, low pressure" },
		{ 16, "medium", "balanced allocation: good performance, some pressure" },
		{ 32, "large", "conservative allocation: stable, higher pressure" },
		{ UINT64_MAX, "very large", "streaming mode: slower but stable" },
	};
	uint64_t tiles = tdm_max(r->setup.a_tiles, r->setup.b_tiles);
	size_t i = 0;
	while (tiles > classes[i].most)
		i++;
	r->workload = classes[i].name;
	r->behaviour = classes[i].behaviour;
}

static void set_l1(struct tdm_pressure_result *r)
{
	const struct tdm_card *card = r->setup.card;
	uint64_t size = tdm_card_get(card, TDM_CARD_L1_SIZE), base = tdm_card_get(card, TDM_CARD_L1_BASE);
	uint64_t small = tdm_card_get(card, TDM_CARD_L1_SMALL);
	uint64_t taken = tdm_plus(base, small != TDM_BYTES_UNKNOWN ? small : 0);
	bool is_known = size != TDM_BYTES_UNKNOWN && taken != TDM_BYTES_UNKNOWN && taken <= size;
	r->l1_usable = is_known ? size - taken : TDM_BYTES_UNKNOWN;
	r->l1_left = !is_known ? TDM_BYTES_UNKNOWN : r->l1_usable - tdm_min(r->l1_usable, r->setup.l1_used);
	r->firmware_bytes = tdm_card_get(card, TDM_CARD_MAP_END);
	r->kernel_bytes = tdm_card_get(card, TDM_CARD_KERNEL_CONFIG);
}

static void count_beyond(struct tdm_pressure_result *r)
{
	r->card_buffers = tdm_card_get(r->setup.card, TDM_CARD_CB_COUNT);
	for (size_t i = 0; i < r->pattern.buffer_count; i++)
		r->beyond_card += r->pattern.buffers[i].index >= r->card_buffers;
}

static uint64_t align_of(const struct tdm_pressure_result *r)
{
	uint64_t align = tdm_card_get(r->setup.card, TDM_CARD_DRAM_ALIGN);
	return align != TDM_BYTES_UNKNOWN ? align : 1;
}

static void measure(struct tdm_pressure_result *r, struct tdm_sizing *s)
{
	double *m = s->metrics;
	uint64_t both = 0, either = 0, l1_size = tdm_card_get(r->setup.card, TDM_CARD_L1_SIZE);
	uint64_t base = tdm_card_get(r->setup.card, TDM_CARD_L1_BASE);
	double fill = 0;
	s->pattern = &r->pattern;
	s->bytes = tdm_pattern_bytes(&r->pattern, s->depths, align_of(r));
	for (size_t i = 0; i < r->pattern.buffer_count; i++) {
		uint64_t there = tdm_min(s->depths[i], r->needs[i]);
		fill += (double)there / s->depths[i];
		both += there;
		either += tdm_max(s->depths[i], r->needs[i]);
	}
	m[TDM_PRESSURE_MISS] =
		r->setup.pattern == NULL ? tdm_pressure_miss(r->setup.b_tiles, s->depths[1]) : (double)NAN;
	m[TDM_PRESSURE_UTILIZATION] = fill / (double)r->pattern.buffer_count;
	m[TDM_PRESSURE_STALLS] = (double)NAN; /* only a log knows which calls had to wait */
	m[TDM_PRESSURE_L1] = tdm_share(s->bytes, r->l1_usable);
	m[TDM_PRESSURE_SCORE] = tdm_pressure_score(m[TDM_PRESSURE_MISS], (double)NAN, m[TDM_PRESSURE_L1]);
	s->memory_efficiency = (double)both / (double)either;
	s->map_share = tdm_share(tdm_plus(tdm_plus(base, s->bytes), r->setup.l1_used), l1_size);
	s->fits = r->l1_left == TDM_BYTES_UNKNOWN || s->bytes <= r->l1_left;
}

static struct tdm_sizing *add_strategy(struct tdm_pressure_result *r, enum tdm_sizing_name name)
{
	struct tdm_sizing *s = &r->strategies[r->strategy_count];
	*s = (struct tdm_sizing){ .name = (uint8_t)name,
		.depths = r->depths + r->strategy_count * r->pattern.buffer_count };
	r->strategy_count++;
	return s;
}

/* The advice, and as a strategy if there is one. */
static int add_advised(struct tdm_pressure_result *r)
{
	uint64_t pages = tdm_card_get(r->setup.card, TDM_CARD_CB_MAX_PAGES);
	const struct tdm_advice_limits limits = { r->l1_left, align_of(r), pages <= UINT32_MAX ? (uint32_t)pages : 0,
		r->setup.progress };
	int err = tdm_cb_advise(&r->pattern, r->setup.speed, &limits, &r->advice);
	if (err != 0 || !tdm_cb_advice_is_found(&r->advice))
		return err;
	struct tdm_sizing *s = add_strategy(r, TDM_SIZING_ADVISED);
	for (size_t i = 0; i < r->pattern.buffer_count; i++)
		s->depths[i] = r->advice.advised.depths[i];
	return 0;
}

static void add_rules(struct tdm_pressure_result *r)
{
	static const enum tdm_sizing_name rules[] = { TDM_SIZING_CONSTANT, TDM_SIZING_ADAPTIVE_GUIDE,
		TDM_SIZING_ADAPTIVE_PROGRAM };
	size_t count = r->setup.pattern != NULL ? 1 : sizeof rules / sizeof *rules;
	for (size_t i = 0; i < count; i++) {
		struct tdm_sizing *s = add_strategy(r, r->setup.pattern != NULL ? TDM_SIZING_GIVEN : rules[i]);
		if (r->setup.pattern == NULL)
			tdm_sizing_tiles(rules[i], r->tiles_per_shard, r->setup.b_tiles, s->depths);
		for (size_t k = 0; r->setup.pattern != NULL && k < r->pattern.buffer_count; k++)
			s->depths[k] = r->pattern.buffers[k].pages;
	}
}

static int run_models(struct tdm_pressure_result *r)
{
	struct tdm_cb_model model;
	int err = tdm_cb_model_init(&model, &r->pattern, r->setup.speed);
	for (size_t i = 0; i < r->strategy_count && err == 0; i++) {
		measure(r, &r->strategies[i]);
		err = tdm_cb_model_run(&model, r->strategies[i].depths, true, &r->strategies[i].model);
	}
	tdm_cb_model_done(&model);
	return err;
}

/* The pattern of the setup, or that of the workload, and lists for its buffers. 0 or -ENOMEM. */
static int begin(struct tdm_pressure_result *r)
{
	const struct tdm_pressure_setup *setup = &r->setup;
	int err;
	if (setup->pattern != NULL) {
		err = tdm_pattern_copy(setup->pattern, &r->pattern);
	} else {
		uint64_t devices = (uint64_t)setup->mesh_rows * setup->mesh_columns;
		r->tiles_per_shard = setup->a_tiles / devices + (setup->a_tiles % devices != 0);
		set_class(r);
		err = make_pattern(r);
	}
	if (err != 0)
		return err;
	r->needs = calloc(r->pattern.buffer_count, sizeof *r->needs);
	r->depths = calloc(TDM_SIZINGS * r->pattern.buffer_count, sizeof *r->depths);
	return r->needs != NULL && r->depths != NULL ? 0 : -ENOMEM;
}

int tdm_pressure_analyze(const struct tdm_pressure_setup *setup, struct tdm_pressure_result *r)
{
	*r = (struct tdm_pressure_result){ .setup = *setup };
	int err = begin(r);
	if (err != 0)
		return err;
	set_l1(r);
	count_beyond(r);
	set_needs(r);
	add_rules(r);
	err = add_advised(r);
	return err != 0 ? err : run_models(r);
}

void tdm_pressure_done(struct tdm_pressure_result *r)
{
	for (size_t i = 0; i < r->strategy_count; i++)
		tdm_model_result_done(&r->strategies[i].model);
	tdm_cb_advice_done(&r->advice);
	tdm_pattern_done(&r->pattern);
	free(r->needs);
	free(r->depths);
	*r = (struct tdm_pressure_result){ 0 };
}

const struct tdm_sizing *tdm_pressure_sizing(const struct tdm_pressure_result *r, enum tdm_sizing_name name)
{
	for (size_t i = 0; i < r->strategy_count; i++)
		if (r->strategies[i].name == name)
			return &r->strategies[i];
	return NULL;
}
