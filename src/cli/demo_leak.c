/*
 * A program with a leak: it classifies batches, keeps the attention mask of each batch in a cache, and never removes
 * one. Everything else is freed. Its functions are not inlined, because users see them in call stacks.
 */
#include "cli/demo.h"

#include <inttypes.h>
#include <stdio.h>

enum {
	BATCH_BYTES = 4 << 20,
	MASK_BYTES = 1 << 20,
	SCORE_BYTES = 512 << 10,
	WEIGHT_BYTES = 256 << 20,
	STEP_MS = 100,
};

struct leak {
	struct tdm_demo_card *card;
	struct tdm_demo_pace *pace;
};

static const struct tdm_demo_program matmul = { "matmul", 22528,
	{ { "in0", 32 }, { "in1", 64 }, { "out", 32 }, { "partials", 32 } } };

static uint32_t make(struct leak *leak, uint32_t chip, uint64_t bytes, const char *name)
{
	return tdm_demo_alloc(
		leak->card, chip, &(struct tdm_demo_request){ .kind = TDM_KIND_DRAM, .bytes = bytes, .name = name });
}

/* The defect: the handle is lost. */
TDM_DEMO_FRAME static bool cache_mask(struct leak *leak, uint32_t chip)
{
	return make(leak, chip, MASK_BYTES, "mask_cache.entry") != 0;
}

TDM_DEMO_FRAME static bool classify_batch(struct leak *leak, uint32_t chip)
{
	uint32_t batch = make(leak, chip, BATCH_BYTES, "batch");
	uint32_t scores = make(leak, chip, SCORE_BYTES, "scores");
	bool went_well = cache_mask(leak, chip) && batch != 0 && scores != 0;
	if (tdm_demo_program_begin(leak->card, chip, &matmul, NULL)) {
		tdm_demo_pause(leak->pace, STEP_MS / 2);
		tdm_demo_program_end(leak->card, chip);
	}
	tdm_demo_free(leak->card, &scores);
	tdm_demo_free(leak->card, &batch);
	return went_well;
}

static void run_leak(struct tdm_demo_card *card, const struct tdm_demo_options *options, struct tdm_demo_pace *pace)
{
	struct leak leak = { card, pace };
	uint32_t weights[TDM_DEMO_CHIPS_MAX];
	bool goes_on = true;
	uint64_t forgotten = 0;
	(void)options;
	for (uint32_t chip = 0; chip < tdm_demo_card_chips(card); chip++)
		weights[chip] = make(&leak, chip, WEIGHT_BYTES, "classifier.weight");
	do {
		for (uint32_t chip = 0; chip < tdm_demo_card_chips(card) && goes_on; chip++) {
			goes_on = classify_batch(&leak, chip);
			forgotten += goes_on;
		}
		tdm_demo_pause(pace, STEP_MS / 2);
	} while (goes_on && tdm_demo_round(pace));
	for (uint32_t chip = 0; chip < tdm_demo_card_chips(card); chip++)
		tdm_demo_free(card, &weights[chip]);
	printf("It forgot %" PRIu64 " buffer%s of 1 MiB (mask_cache.entry).\n", forgotten, forgotten == 1 ? "" : "s");
}

const struct tdm_demo_workload tdm_demo_leak = {
	.name = "leak",
	.summary = "forgets one buffer in every iteration",
	.run = run_leak,
};
