/* The workloads without a step list: a server, a leak, and a clash. */
#include "base/memory.h"
#include "base/units.h"
#include "cli/demo/demo.h"
#include "tidemark.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static bool make(struct tdm_demo_chip *chip, enum tdm_kind kind, uint64_t bytes, int group, const char *name)
{
	return tdm_demo_alloc(
		chip, &(struct tdm_demo_request){ .kind = kind, .bytes = bytes, .name = name, .group = group });
}

/* ---- inference ---- */

/*
 * A server that answers requests with a language model. The weights are loaded once and a trace of the decode step is
 * recorded for each batch size. Then requests arrive at random (the same in every run). A prefill reads the prompt, and
 * each decode step writes one token for every request in flight. A request's keys and values are in cache pages, which
 * are allocated as the request's text grows and freed when it has been answered. Over time, memory neither grows nor
 * shrinks.
 */

enum {
	VOCABULARY = 32000,
	PAGE_TOKENS = 128,
	PAGE_BYTES = PAGE_TOKENS * TDM_LLAMA_LAYERS * 2 * TDM_LLAMA_KV * 2, /* keys and values in all layers */
	PROMPT_MIN = 32,
	PROMPT_MAX = 1536,
	ANSWER_MIN = 16,
	ANSWER_MAX = 256,
	REQUESTS_MAX = 24,     /* maximum number of requests in flight */
	REQUESTS_FIRST = 16,   /* roughly the average number of requests in flight */
	ARRIVAL = 8,           /* on average, a request arrives every this many steps */
	TRACE_BYTES = 3 << 20, /* trace of a batch of one; larger batches need more */
	SMALL_BYTES = 64,      /* semaphores in one core */
	SHARD_TILES = 16,      /* activations of a decode step in one core */
	PREFILL_TILES = 64,    /* activations of a prefill in one core */
	STEP_MS = 20,
};

enum { MODEL, STEP, FIRST_REQUEST }; /* groups; each request's pages form their own group */

struct request {
	bool active;
	uint32_t tokens, answer_left, pages;
};

/* Each chip has a server of its own. */
struct server {
	struct tdm_demo_chip *chip;
	uint64_t random;
	struct request request[REQUESTS_MAX];
	uint64_t answered, written;
};

static const struct tdm_demo_program prefill = { "prefill", 40960,
	{ { "in0", 64 }, { "in1", 128 }, { "scores", 64 }, { "partials", 64 }, { "out", 64 } } };
static const struct tdm_demo_program decode = { "decode", 36864,
	{ { "q", 16 }, { "k", 64 }, { "v", 64 }, { "max", 2 }, { "sum", 2 }, { "out", 16 } } };
static const struct tdm_demo_program sample = { "sample", 9216, { { "logits", 32 }, { "top", 32 }, { "out", 2 } } };

/* A random number below `limit`: xorshift64*, with the same sequence in every run. */
static uint32_t draw(struct server *s, uint32_t limit)
{
	s->random ^= s->random >> 12;
	s->random ^= s->random << 25;
	s->random ^= s->random >> 27;
	return (uint32_t)((s->random * UINT64_C(0x2545f4914f6cdd1d)) >> 33) % limit;
}

static void load(struct server *s)
{
	uint32_t cores = (uint32_t)tdm_card_get(&s->chip->demo->model, TDM_CARD_L1_BANKS);
	tidemark_phase("load");
	for (uint32_t i = 0; i < TDM_LLAMA_TENSORS && s->chip->demo->failure[0] == '\0'; i++) {
		tdm_llama_alloc(s->chip, VOCABULARY, i, MODEL, "weight");
		if (i % TDM_LLAMA_PARTS == 0)
			tdm_demo_pause(s->chip->demo, STEP_MS);
	}
	make(s->chip, TDM_KIND_DRAM, (uint64_t)REQUESTS_MAX * TDM_DEMO_TILE, MODEL, "kv_cache.page_table");
	make(s->chip, TDM_KIND_DRAM, (uint64_t)VOCABULARY * 2 * REQUESTS_MAX / TDM_DEMO_TILE * TDM_DEMO_TILE, MODEL,
		"sampler.logits");
	tdm_demo_alloc(s->chip, &(struct tdm_demo_request){ .kind = TDM_KIND_L1_SMALL,
					.bytes = (uint64_t)SMALL_BYTES * cores,
					.page_size = SMALL_BYTES,
					.cores = cores,
					.name = "decode.semaphores",
					.group = MODEL });
}

static void record_traces(struct server *s)
{
	static const char *const names[] = { "trace.decode.batch1", "trace.decode.batch4", "trace.decode.batch8",
		"trace.decode.batch24" };
	tidemark_phase("record_traces");
	for (uint32_t i = 0; i < sizeof names / sizeof *names; i++)
		if (tdm_demo_program_begin(s->chip, &decode, NULL)) {
			make(s->chip, TDM_KIND_TRACE, (uint64_t)TRACE_BYTES * (i + 1), MODEL, names[i]);
			tdm_demo_program_end(s->chip);
		}
}

static int group_of(const struct server *s, const struct request *r)
{
	return FIRST_REQUEST + (int)(r - s->request);
}

/* Allocates pages for the tokens of a request. False if memory ran out. */
static bool grow(struct server *s, struct request *r)
{
	for (; r->pages * PAGE_TOKENS < r->tokens; r->pages++)
		if (!make(s->chip, TDM_KIND_DRAM, PAGE_BYTES, group_of(s, r), "kv_cache.page"))
			return false;
	return true;
}

/* Reads a new request's prompt. */
TDM_DEMO_FRAME static void prefill_request(struct server *s, struct request *r)
{
	*r = (struct request){
		.active = true,
		.tokens = PROMPT_MIN + draw(s, PROMPT_MAX - PROMPT_MIN + 1),
		.answer_left = ANSWER_MIN + draw(s, ANSWER_MAX - ANSWER_MIN + 1),
	};
	if (!tdm_demo_program_begin(s->chip, &prefill, NULL))
		return;
	tdm_demo_tensor(s->chip, r->tokens, TDM_LLAMA_WIDTH, STEP, "prefill.activations", NULL);
	tdm_demo_shards(s->chip, PREFILL_TILES, STEP, "prefill.shards", NULL);
	grow(s, r);
	tdm_demo_pause(s->chip->demo, STEP_MS);
	tdm_demo_drop(s->chip, STEP);
	tdm_demo_program_end(s->chip);
}

static void write_token(struct server *s, struct request *r)
{
	r->tokens++;
	r->answer_left--;
	s->written++;
	if (grow(s, r) && r->answer_left != 0)
		return;
	tdm_demo_drop(s->chip, group_of(s, r));
	r->active = false;
	s->answered++;
}

/* Writes one token for every request in flight. */
TDM_DEMO_FRAME static void decode_step(struct server *s)
{
	tdm_demo_shards(s->chip, SHARD_TILES, STEP, "decode.shards", NULL);
	if (tdm_demo_program_begin(s->chip, &decode, NULL)) {
		for (uint32_t i = 0; i < REQUESTS_MAX; i++)
			if (s->request[i].active)
				write_token(s, &s->request[i]);
		tdm_demo_pause(s->chip->demo, STEP_MS / 2);
		tdm_demo_program_end(s->chip);
	}
	if (tdm_demo_program_begin(s->chip, &sample, NULL))
		tdm_demo_program_end(s->chip);
	tdm_demo_drop(s->chip, STEP);
}

static void run_inference(struct tdm_demo *demo)
{
	struct server *servers = tdm_zalloc(demo->options->chips, sizeof *servers);
	uint64_t answered = 0, written = 0;
	for (uint32_t chip = 0; chip < demo->options->chips; chip++) {
		servers[chip].chip = &demo->chip[chip];
		servers[chip].random = demo->options->first_device + chip + 1;
		load(&servers[chip]);
		record_traces(&servers[chip]);
	}
	/* The server starts with requests in flight, so that it is in its steady state from the beginning. */
	bool goes_on = demo->failure[0] == '\0';
	if (goes_on)
		tidemark_phase("serve");
	for (uint32_t i = 0; goes_on && i < demo->options->chips * REQUESTS_FIRST; i++) {
		struct server *s = &servers[i / REQUESTS_FIRST];
		struct request *r = &s->request[i % REQUESTS_FIRST];
		prefill_request(s, r);
		r->answer_left = 1 + draw(s, r->answer_left);
	}
	while (goes_on) {
		for (uint32_t chip = 0; chip < demo->options->chips; chip++) {
			struct server *s = &servers[chip];
			uint32_t next = draw(s, ARRIVAL) == 0 ? 0 : REQUESTS_MAX;
			while (next < REQUESTS_MAX && s->request[next].active)
				next++;
			if (next < REQUESTS_MAX)
				prefill_request(s, &s->request[next]);
			decode_step(s);
			tdm_demo_pause(demo, STEP_MS / 2);
		}
		goes_on = demo->failure[0] == '\0' && tdm_demo_round(demo);
	}
	for (uint32_t chip = 0; chip < demo->options->chips; chip++) {
		answered += servers[chip].answered;
		written += servers[chip].written;
	}
	free(servers);
	printf("It answered %" PRIu64 " request%s and wrote %" PRIu64 " token%s.\n", answered, answered == 1 ? "" : "s",
		written, written == 1 ? "" : "s");
}

static const char *const settings[] = { "trace_region=48M", "l1_small=16K", NULL };

const struct tdm_demo_workload tdm_demo_inference = {
	.name = "inference",
	.summary = "serves requests with a paged key-value cache",
	.settings = settings,
	.run = run_inference,
};

/* ---- leak ---- */

/*
 * A program with a leak: it classifies batches, and adds the attention mask of each batch to a cache from which nothing
 * is ever removed. All other buffers are freed. The functions are not inlined, because users see them in call stacks.
 */

enum {
	BATCH_BYTES = 4 << 20,
	MASK_BYTES = 1 << 20,
	SCORE_BYTES = 512 << 10,
	WEIGHT_BYTES = 256 << 20,
	BATCH_MS = 100,
};

enum { WEIGHTS, BATCH }; /* groups */

static const struct tdm_demo_program matmul = { "matmul", 22528,
	{ { "in0", 32 }, { "in1", 64 }, { "out", 32 }, { "partials", 32 } } };

/* The defect. */
TDM_DEMO_FRAME static bool cache_mask(struct tdm_demo_chip *chip)
{
	return make(chip, TDM_KIND_DRAM, MASK_BYTES, TDM_DEMO_LEAKED, "mask_cache.entry");
}

TDM_DEMO_FRAME static bool classify_batch(struct tdm_demo_chip *chip)
{
	bool has_batch = make(chip, TDM_KIND_DRAM, BATCH_BYTES, BATCH, "batch");
	bool has_scores = make(chip, TDM_KIND_DRAM, SCORE_BYTES, BATCH, "scores");
	bool went_well = cache_mask(chip) && has_batch && has_scores;
	if (tdm_demo_program_begin(chip, &matmul, NULL)) {
		tdm_demo_pause(chip->demo, BATCH_MS / 2);
		tdm_demo_program_end(chip);
	}
	tdm_demo_drop(chip, BATCH);
	return went_well;
}

static void run_leak(struct tdm_demo *demo)
{
	bool goes_on = true;
	uint64_t forgotten = 0;
	for (uint32_t chip = 0; chip < demo->options->chips; chip++)
		make(&demo->chip[chip], TDM_KIND_DRAM, WEIGHT_BYTES, WEIGHTS, "classifier.weight");
	do {
		for (uint32_t chip = 0; chip < demo->options->chips && goes_on; chip++) {
			goes_on = classify_batch(&demo->chip[chip]);
			forgotten += goes_on;
		}
		tdm_demo_pause(demo, BATCH_MS / 2);
	} while (goes_on && tdm_demo_round(demo));
	printf("It forgot %" PRIu64 " buffer%s of 1 MiB (mask_cache.entry).\n", forgotten, forgotten == 1 ? "" : "s");
}

const struct tdm_demo_workload tdm_demo_leak = {
	.name = "leak",
	.summary = "forgets one buffer in every iteration",
	.run = run_leak,
};

/* ---- clash ---- */

/*
 * A program that keeps more and more activations in L1, until the circular buffers of its convolution no longer fit
 * below them. The runtime would then throw an exception; this program prints the runtime's message, moves its
 * activations out of L1 and starts over.
 */

enum { HALO_TILES = 24, HALOS_MAX = 128, CLASH_STEP_MS = 150, CLASH_MS = 1000 };
enum { ACTIVATIONS = 1 }; /* a group */

/* The state of one chip. */
struct clash {
	uint32_t halos; /* number of activations in L1 */
	uint64_t programs, clashes;
};

static const struct tdm_demo_program conv2d = { "conv2d", 26624,
	{ { "activations", 128 }, { "weights", 96 }, { "tilized", 64 }, { "partials", 64 }, { "out", 32 } } };
static const struct tdm_demo_program halo = { "halo", 8192, { { "in", 16 }, { "out", 16 } } };

/* Keeps one more activation in L1. */
TDM_DEMO_FRAME static void keep_activation(struct tdm_demo_chip *chip, struct clash *c)
{
	if (c->halos == HALOS_MAX || !tdm_demo_program_begin(chip, &halo, NULL))
		return;
	c->halos += tdm_demo_shards(chip, HALO_TILES, ACTIVATIONS, "halo.out", NULL);
	tdm_demo_program_end(chip);
}

static void explain(const struct tdm_demo *demo, const struct clash *c, const struct tdm_l1_verdict *verdict)
{
	struct tdm_buf text;
	char cores[64], over[TDM_BYTES_CAP], held[TDM_BYTES_CAP];
	snprintf(cores, sizeof cores, "[(x=0,y=0) - (x=%" PRIu64 ",y=%" PRIu64 ")]",
		tdm_card_get(&demo->model, TDM_CARD_GRID_X) - 1, tdm_card_get(&demo->model, TDM_CARD_GRID_Y) - 1);
	tdm_buf_init(&text);
	tdm_l1_clash_message(verdict, c->programs, cores, &text);
	printf("%.*s\n", TDM_STR_ARG(tdm_buf_str(&text)));
	tdm_buf_done(&text);
	tdm_format_bytes_short(over, sizeof over, verdict->over);
	tdm_format_bytes_short(held, sizeof held, (uint64_t)c->halos * HALO_TILES * TDM_DEMO_TILE);
	printf("The circular buffers of conv2d are %s too many in each core, because %" PRIu32
	       " activations (halo.out) hold %s of L1 there.\n",
		over, c->halos, held);
}

static void report(const struct tdm_demo_chip *chip, const struct tdm_l1_verdict *verdict)
{
	struct tidemark_clash clash = TIDEMARK_CLASH_INIT;
	clash.device = chip->number;
	clash.program = tidemark_name(conv2d.name);
	clash.begin = tdm_card_get(&chip->demo->model, TDM_CARD_L1_BASE);
	clash.end = verdict->cb_end;
	if (verdict->clash == TDM_L1_BEYOND)
		clash.l1_size = verdict->obstacle;
	else
		clash.l1_lowest = verdict->obstacle;
	clash.cores.x1 = (uint16_t)(tdm_card_get(&chip->demo->model, TDM_CARD_GRID_X) - 1);
	clash.cores.y1 = (uint16_t)(tdm_card_get(&chip->demo->model, TDM_CARD_GRID_Y) - 1);
	clash.range_count = 1;
	tidemark_report_clash(&clash);
}

static void iterate(struct tdm_demo_chip *chip, struct clash *c)
{
	struct tdm_l1_verdict verdict = { 0 };
	keep_activation(chip, c);
	c->programs++;
	if (tdm_demo_program_begin(chip, &conv2d, &verdict)) {
		tdm_demo_pause(chip->demo, CLASH_STEP_MS / 2);
		tdm_demo_program_end(chip);
	} else {
		report(chip, &verdict);
		if (c->clashes++ == 0 && chip == chip->demo->chip)
			explain(chip->demo, c, &verdict);
		tdm_demo_pause(chip->demo, CLASH_MS);
		tdm_demo_drop(chip, ACTIVATIONS);
		c->halos = 0;
	}
	tdm_demo_pause(chip->demo, CLASH_STEP_MS / 2);
}

static void run_clash(struct tdm_demo *demo)
{
	struct clash chips[TDM_DEMO_CHIPS_MAX] = { 0 };
	uint64_t clashes = 0;
	do
		for (uint32_t chip = 0; chip < demo->options->chips; chip++)
			iterate(&demo->chip[chip], &chips[chip]);
	while (tdm_demo_round(demo));
	for (uint32_t chip = 0; chip < demo->options->chips; chip++)
		clashes += chips[chip].clashes;
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
