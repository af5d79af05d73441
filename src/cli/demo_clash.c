/*
 * A program that keeps more and more activations in L1, until the circular buffers of its convolution no longer fit
 * below them. The runtime would throw then; this program prints the runtime's message, moves its activations out of L1
 * and starts again.
 */
#include "cli/demo.h"
#include "base/units.h"
#include "tidemark.h"

#include <inttypes.h>
#include <stdio.h>

enum { HALO_TILES = 24, HALOS_MAX = 128, STEP_MS = 150, CLASH_MS = 1000 };

struct clash {
	struct tdm_demo_card *card;
	uint32_t halo[HALOS_MAX]; /* the activations kept in L1 */
	uint32_t count;
	uint64_t programs, clashes;
	bool explains; /* prints the message: on the first clash, for one chip */
};

static const struct tdm_demo_program conv2d = { "conv2d", 26624,
	{ { "activations", 128 }, { "weights", 96 }, { "tilized", 64 }, { "partials", 64 }, { "out", 32 } } };
static const struct tdm_demo_program halo = { "halo", 8192, { { "in", 16 }, { "out", 16 } } };

static void drop_activations(struct clash *c)
{
	while (c->count > 0)
		tdm_demo_free(c->card, &c->halo[--c->count]);
}

/* Keeps one more activation in L1. */
TDM_DEMO_FRAME static void keep_activation(struct clash *c, uint32_t chip)
{
	if (c->count == HALOS_MAX || !tdm_demo_program_begin(c->card, chip, &halo, NULL))
		return;
	c->halo[c->count] = tdm_demo_shards(c->card, chip, HALO_TILES, "halo.out");
	c->count += c->halo[c->count] != 0;
	tdm_demo_program_end(c->card, chip);
}

static void explain(const struct clash *c, const struct tdm_l1_verdict *verdict)
{
	const struct tdm_card *model = tdm_demo_card_model(c->card);
	struct tdm_buf text;
	char cores[64], over[TDM_BYTES_CAP], held[TDM_BYTES_CAP];
	snprintf(cores, sizeof cores, "[(x=0,y=0) - (x=%" PRIu64 ",y=%" PRIu64 ")]",
		tdm_card_get(model, TDM_CARD_GRID_X) - 1, tdm_card_get(model, TDM_CARD_GRID_Y) - 1);
	tdm_buf_init(&text);
	tdm_l1_clash_message(verdict, c->programs, cores, &text);
	printf("%.*s\n", TDM_STR_ARG(tdm_buf_str(&text)));
	tdm_buf_done(&text);
	tdm_format_bytes_short(over, sizeof over, verdict->over);
	tdm_format_bytes_short(held, sizeof held, (uint64_t)c->count * HALO_TILES * TDM_DEMO_TILE);
	printf("The circular buffers of conv2d are %s too many in each core, because %" PRIu32
	       " activations (halo.out) hold %s of L1 there.\n",
		over, c->count, held);
}

static void note_clash(struct clash *c, uint32_t number, const struct tdm_l1_verdict *verdict)
{
	const struct tdm_card *model = tdm_demo_card_model(c->card);
	struct tidemark_clash clash = TIDEMARK_CLASH_INIT;
	clash.device = number;
	clash.program = tidemark_name(conv2d.name);
	clash.begin = tdm_card_get(model, TDM_CARD_L1_BASE);
	clash.end = verdict->cb_end;
	if (verdict->clash == TDM_L1_BEYOND)
		clash.l1_size = verdict->obstacle;
	else
		clash.l1_lowest = verdict->obstacle;
	clash.cores.x1 = (uint16_t)(tdm_card_get(model, TDM_CARD_GRID_X) - 1);
	clash.cores.y1 = (uint16_t)(tdm_card_get(model, TDM_CARD_GRID_Y) - 1);
	clash.range_count = 1;
	tidemark_report_clash(&clash);
	if (c->clashes++ == 0 && c->explains)
		explain(c, verdict);
}

static void iterate(struct clash *c, uint32_t chip, uint32_t number, struct tdm_demo_pace *pace)
{
	struct tdm_l1_verdict verdict = { 0 };
	keep_activation(c, chip);
	c->programs++;
	if (tdm_demo_program_begin(c->card, chip, &conv2d, &verdict)) {
		tdm_demo_pause(pace, STEP_MS / 2);
		tdm_demo_program_end(c->card, chip);
	} else {
		note_clash(c, number, &verdict);
		tdm_demo_pause(pace, CLASH_MS);
		drop_activations(c);
	}
	tdm_demo_pause(pace, STEP_MS / 2);
}

static void run_clash(struct tdm_demo_card *card, const struct tdm_demo_options *options, struct tdm_demo_pace *pace)
{
	struct clash chips[TDM_DEMO_CHIPS_MAX] = { 0 };
	uint32_t count = tdm_demo_card_chips(card);
	uint64_t clashes = 0;
	do
		for (uint32_t chip = 0; chip < count; chip++) {
			chips[chip].card = card;
			chips[chip].explains = chip == 0;
			iterate(&chips[chip], chip, options->first_device + chip, pace);
		}
	while (tdm_demo_round(pace));
	for (uint32_t chip = 0; chip < count; chip++) {
		drop_activations(&chips[chip]);
		clashes += chips[chip].clashes;
	}
	if (clashes == 0)
		puts("The activations did not grow far enough to clash.");
	else
		printf("It moved them out of L1 and went on: %" PRIu64 " clash%s in all.\n", clashes,
			clashes == 1 ? "" : "es");
}

const struct tdm_demo_workload tdm_demo_clash = {
	.name = "clash",
	.summary = "fills L1 until circular buffers clash with it",
	.run = run_clash,
};
