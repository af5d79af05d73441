/*
 * A server that answers requests with a language model. The weights are loaded once and a trace of the decode step is
 * recorded for each batch size. Then requests arrive at random (the same in every run): a prefill reads the prompt,
 * decode steps write one token each for all requests in flight, and the keys and values of a request are in pages of
 * the cache, which are allocated as its text grows and freed when it is answered. Over time memory neither grows nor
 * shrinks.
 */
#include "cli/demo.h"
#include "cli/demo_llama.h"
#include "tidemark.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	VOCABULARY = 32000,
	PAGE_TOKENS = 128,
	PAGE_BYTES = PAGE_TOKENS * TDM_LLAMA_LAYERS * 2 * TDM_LLAMA_KV * 2, /* keys and values of all layers */
	PROMPT_MIN = 32,
	PROMPT_MAX = 1536,
	ANSWER_MIN = 16,
	ANSWER_MAX = 256,
	REQUESTS_MAX = 24,   /* in flight */
	REQUESTS_FIRST = 16, /* about the average number in flight */
	PAGES_MAX = (PROMPT_MAX + ANSWER_MAX + PAGE_TOKENS - 1) / PAGE_TOKENS,
	ARRIVAL = 8, /* a request arrives in one of this many steps */
	TRACES = 4,
	TRACE_BYTES = 3 << 20, /* for a batch of one; more for larger ones */
	SMALL_BYTES = 64,      /* semaphores of one core */
	SHARD_TILES = 16,      /* decode activations in one core */
	PREFILL_TILES = 64,    /* prefill activations in one core */
	STEP_MS = 20,
};

struct request {
	bool active;
	uint32_t tokens, answer_left;
	uint32_t pages;
	uint32_t page[PAGES_MAX];
};

struct server {
	struct tdm_demo_card *card;
	struct tdm_demo_pace *pace;
	uint32_t chip;
	uint64_t random;
	uint32_t weight[TDM_LLAMA_TENSORS], trace[TRACES], semaphores, page_table, sampler;
	struct request request[REQUESTS_MAX];
	uint64_t answered, written;
};

static const struct tdm_demo_program prefill = { "prefill", 40960,
	{ { "in0", 64 }, { "in1", 128 }, { "scores", 64 }, { "partials", 64 }, { "out", 64 } } };
static const struct tdm_demo_program decode = { "decode", 36864,
	{ { "q", 16 }, { "k", 64 }, { "v", 64 }, { "max", 2 }, { "sum", 2 }, { "out", 16 } } };
static const struct tdm_demo_program sample = { "sample", 9216, { { "logits", 32 }, { "top", 32 }, { "out", 2 } } };

/* xorshift64*; the same sequence in every run. */
static uint32_t draw(struct server *s, uint32_t limit)
{
	s->random ^= s->random >> 12;
	s->random ^= s->random << 25;
	s->random ^= s->random >> 27;
	return (uint32_t)((s->random * UINT64_C(0x2545f4914f6cdd1d)) >> 33) % limit;
}

static uint32_t make(struct server *s, enum tdm_kind kind, uint64_t bytes, uint32_t cores, const char *name)
{
	return tdm_demo_alloc(s->card, s->chip,
		&(struct tdm_demo_request){ .kind = kind, .bytes = bytes, .cores = cores, .name = name });
}

static void load(struct server *s)
{
	uint32_t cores = (uint32_t)tdm_card_get(tdm_demo_card_model(s->card), TDM_CARD_L1_BANKS);
	tidemark_phase("load");
	for (uint32_t i = 0; i < TDM_LLAMA_TENSORS && tdm_demo_card_failure(s->card) == NULL; i++) {
		s->weight[i] = tdm_llama_alloc(s->card, s->chip, VOCABULARY, i, "weight");
		if (i % TDM_LLAMA_PARTS == 0)
			tdm_demo_pause(s->pace, STEP_MS);
	}
	s->page_table = make(s, TDM_KIND_DRAM, (uint64_t)REQUESTS_MAX * TDM_DEMO_TILE, 0, "kv_cache.page_table");
	s->sampler = make(s, TDM_KIND_DRAM, (uint64_t)VOCABULARY * 2 * REQUESTS_MAX / TDM_DEMO_TILE * TDM_DEMO_TILE, 0,
		"sampler.logits");
	s->semaphores = tdm_demo_alloc(s->card, s->chip,
		&(struct tdm_demo_request){ .kind = TDM_KIND_L1_SMALL,
			.bytes = (uint64_t)SMALL_BYTES * cores,
			.page_size = SMALL_BYTES,
			.cores = cores,
			.name = "decode.semaphores" });
}

static void record_traces(struct server *s)
{
	static const char *const names[TRACES] = { "trace.decode.batch1", "trace.decode.batch4", "trace.decode.batch8",
		"trace.decode.batch24" };
	tidemark_phase("record_traces");
	for (uint32_t i = 0; i < TRACES; i++)
		if (tdm_demo_program_begin(s->card, s->chip, &decode, NULL)) {
			s->trace[i] = make(s, TDM_KIND_TRACE, (uint64_t)TRACE_BYTES * (i + 1), 0, names[i]);
			tdm_demo_program_end(s->card, s->chip);
		}
}

/* Allocates pages for the tokens of a request. False: out of memory. */
static bool grow(struct server *s, struct request *r)
{
	while (r->pages * PAGE_TOKENS < r->tokens) {
		r->page[r->pages] = make(s, TDM_KIND_DRAM, PAGE_BYTES, 0, "kv_cache.page");
		if (r->page[r->pages] == 0)
			return false;
		r->pages++;
	}
	return true;
}

static void drop_request(struct server *s, struct request *r)
{
	while (r->pages > 0)
		tdm_demo_free(s->card, &r->page[--r->pages]);
	r->active = false;
}

static void finish(struct server *s, struct request *r)
{
	drop_request(s, r);
	s->answered++;
}

/* Reads the prompt of a new request. */
TDM_DEMO_FRAME static void prefill_request(struct server *s, struct request *r)
{
	*r = (struct request){
		.active = true,
		.tokens = PROMPT_MIN + draw(s, PROMPT_MAX - PROMPT_MIN + 1),
		.answer_left = ANSWER_MIN + draw(s, ANSWER_MAX - ANSWER_MIN + 1),
	};
	if (!tdm_demo_program_begin(s->card, s->chip, &prefill, NULL))
		return;
	uint32_t activations = tdm_demo_tensor(s->card, s->chip, r->tokens, TDM_LLAMA_WIDTH, "prefill.activations");
	uint32_t shards = tdm_demo_shards(s->card, s->chip, PREFILL_TILES, "prefill.shards");
	grow(s, r);
	tdm_demo_pause(s->pace, STEP_MS);
	tdm_demo_free(s->card, &shards);
	tdm_demo_free(s->card, &activations);
	tdm_demo_program_end(s->card, s->chip);
}

static void accept_requests(struct server *s)
{
	if (draw(s, ARRIVAL) != 0)
		return;
	for (uint32_t i = 0; i < REQUESTS_MAX; i++)
		if (!s->request[i].active) {
			prefill_request(s, &s->request[i]);
			return;
		}
}

/* Writes one token for every request in flight. */
TDM_DEMO_FRAME static void decode_step(struct server *s)
{
	uint32_t shards = tdm_demo_shards(s->card, s->chip, SHARD_TILES, "decode.shards");
	if (tdm_demo_program_begin(s->card, s->chip, &decode, NULL)) {
		for (uint32_t i = 0; i < REQUESTS_MAX; i++) {
			struct request *r = &s->request[i];
			if (!r->active)
				continue;
			r->tokens++;
			r->answer_left--;
			s->written++;
			if (!grow(s, r) || r->answer_left == 0)
				finish(s, r);
		}
		tdm_demo_pause(s->pace, STEP_MS / 2);
		tdm_demo_program_end(s->card, s->chip);
	}
	if (tdm_demo_program_begin(s->card, s->chip, &sample, NULL))
		tdm_demo_program_end(s->card, s->chip);
	tdm_demo_free(s->card, &shards);
}

static void unload(struct server *s)
{
	for (uint32_t i = 0; i < REQUESTS_MAX; i++)
		drop_request(s, &s->request[i]);
	for (uint32_t i = 0; i < TRACES; i++)
		tdm_demo_free(s->card, &s->trace[i]);
	tdm_demo_free(s->card, &s->semaphores);
	tdm_demo_free(s->card, &s->sampler);
	tdm_demo_free(s->card, &s->page_table);
	for (uint32_t i = 0; i < TDM_LLAMA_TENSORS; i++)
		tdm_demo_free(s->card, &s->weight[i]);
}

/* Starts with requests in flight, so that the server is in its steady state from the beginning. */
static void accept_first(struct server *s)
{
	for (uint32_t i = 0; i < REQUESTS_FIRST; i++) {
		prefill_request(s, &s->request[i]);
		s->request[i].answer_left = 1 + draw(s, s->request[i].answer_left);
	}
}

static void serve(struct server *servers, uint32_t chips, struct tdm_demo_pace *pace)
{
	tidemark_phase("serve");
	for (uint32_t chip = 0; chip < chips; chip++)
		accept_first(&servers[chip]);
	do
		for (uint32_t chip = 0; chip < chips; chip++) {
			accept_requests(&servers[chip]);
			decode_step(&servers[chip]);
			tdm_demo_pause(pace, STEP_MS / 2);
		}
	while (tdm_demo_card_failure(servers->card) == NULL && tdm_demo_round(pace));
}

static void run_inference(
	struct tdm_demo_card *card, const struct tdm_demo_options *options, struct tdm_demo_pace *pace)
{
	uint32_t chips = tdm_demo_card_chips(card);
	struct server *servers = calloc(chips, sizeof *servers);
	uint64_t answered = 0, written = 0;
	if (servers == NULL)
		return;
	for (uint32_t chip = 0; chip < chips; chip++) {
		servers[chip].card = card;
		servers[chip].pace = pace;
		servers[chip].chip = chip;
		servers[chip].random = options->first_device + chip + 1;
		load(&servers[chip]);
		record_traces(&servers[chip]);
	}
	if (tdm_demo_card_failure(card) == NULL)
		serve(servers, chips, pace);
	for (uint32_t chip = 0; chip < chips; chip++) {
		answered += servers[chip].answered;
		written += servers[chip].written;
		unload(&servers[chip]);
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
