/*
 * Programs that do not exist, for tests of the leak finder: each is a list of buffers with births and deaths, from
 * which pictures are made at any time, as the registry would give them. Random, by a seed.
 */
#ifndef TESTS_UNIT_LEAKS_SIM_H
#define TESTS_UNIT_LEAKS_SIM_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/leaks.h"
#include "base/clock.h"

enum { SIM_NAMES = 512, SIM_PROCESSES = 2 };
#define SIM_S     TDM_NS_PER_S
#define SIM_MS    TDM_NS_PER_MS
#define SIM_BEGIN (1000 * SIM_S) /* when the watching begins */
#define SIM_NEVER UINT64_MAX
#define SIM_MIB   (UINT64_C(1) << 20)

struct sim_buffer {
	uint64_t born, dies, bytes;
	uint32_t name;
	uint8_t kind, process;
};

struct sim {
	uint64_t random;
	uint64_t started_ns[SIM_PROCESSES]; /* when the process began */
	struct tdm_process who[SIM_PROCESSES];
	size_t process_count;
	const char *phase;
	char names[SIM_NAMES][32];
	uint32_t name_count;
	struct sim_buffer *buffers;
	size_t count, cap, next;
	struct sim_buffer *live;
	size_t live_count, live_cap;
	uint64_t allocs[SIM_PROCESSES][TDM_KIND_COUNT];
	uint64_t watch_ns;
	uint64_t seen_ns; /* of that, when somebody breaks it off; 0: all */
};

static inline uint64_t sim_random(struct sim *sim)
{
	sim->random += UINT64_C(0x9e3779b97f4a7c15);
	return tdm_hash_u64(sim->random);
}

/* From `low` up to, but not including, `high`. */
static inline uint64_t sim_between(struct sim *sim, uint64_t low, uint64_t high)
{
	return low + sim_random(sim) % (high - low);
}

static inline double sim_unit(struct sim *sim)
{
	return (double)(sim_random(sim) >> 11) / 9007199254740992.0;
}

/* Exponential, with this mean. */
static inline uint64_t sim_wait(struct sim *sim, uint64_t mean)
{
	return (uint64_t)(-log(1 - sim_unit(sim)) * (double)mean) + 1;
}

static inline void sim_init(struct sim *sim, uint64_t seed)
{
	*sim = (struct sim){ .random = seed * 1000003 + 17, .process_count = 1, .watch_ns = 30 * SIM_S };
	sim->name_count = 1;
	for (int i = 0; i < SIM_PROCESSES; i++) {
		sim->started_ns[i] = SIM_BEGIN - 900 * SIM_S;
		sim->who[i] = (struct tdm_process){ .pid = 100 + i, .life = TDM_LIFE_RUNS, .start_time = 1 };
	}
}

static inline void sim_done(struct sim *sim)
{
	free(sim->buffers);
	free(sim->live);
}

static inline uint32_t sim_name(struct sim *sim, const char *name)
{
	for (uint32_t i = 1; i < sim->name_count; i++)
		if (strcmp(sim->names[i], name) == 0)
			return i;
	if (sim->name_count == SIM_NAMES)
		abort();
	snprintf(sim->names[sim->name_count], sizeof sim->names[0], "%s", name);
	return sim->name_count++;
}

static inline void sim_push(struct sim_buffer **list, size_t *count, size_t *cap, struct sim_buffer buffer)
{
	if (*count == *cap) {
		*cap = *cap != 0 ? *cap * 2 : 256;
		*list = realloc(*list, *cap * sizeof **list);
		if (*list == NULL)
			abort();
	}
	(*list)[(*count)++] = buffer;
}

static inline void sim_add(
	struct sim *sim, int process, uint8_t kind, const char *name, uint64_t bytes, uint64_t born, uint64_t dies)
{
	if (dies <= born)
		return;
	sim_push(&sim->buffers, &sim->count, &sim->cap,
		(struct sim_buffer){ born, dies, bytes, sim_name(sim, name), kind, (uint8_t)process });
}

static inline int sim_compare(const void *left, const void *right)
{
	const struct sim_buffer *a = left, *b = right;
	return a->born < b->born ? -1 : a->born > b->born;
}

/* All buffers are there: puts them in order. */
static inline void sim_ready(struct sim *sim)
{
	qsort(sim->buffers, sim->count, sizeof *sim->buffers, sim_compare);
}

/* Goes on to a time. */
static inline void sim_until(struct sim *sim, uint64_t now)
{
	size_t kept = 0;
	for (; sim->next < sim->count && sim->buffers[sim->next].born <= now; sim->next++) {
		const struct sim_buffer *b = &sim->buffers[sim->next];
		sim->allocs[b->process][b->kind]++;
		sim_push(&sim->live, &sim->live_count, &sim->live_cap, *b);
	}
	for (size_t i = 0; i < sim->live_count; i++)
		if (sim->live[i].dies > now)
			sim->live[kept++] = sim->live[i];
	sim->live_count = kept;
}

static inline struct tdm_snapshot *sim_snapshot(struct sim *sim, uint64_t now)
{
	struct tdm_snapshot *s = calloc(1, sizeof *s);
	sim_until(sim, now);
	s->time_ns = now;
	s->process_count = s->holding_count = sim->process_count;
	s->device_count = 1;
	s->processes = calloc(sim->process_count, sizeof *s->processes);
	s->holdings = calloc(sim->process_count, sizeof *s->holdings);
	s->devices = calloc(1, sizeof *s->devices);
	s->buffers = calloc(sim->live_count + 1, sizeof *s->buffers);
	s->text_count = sim->name_count + 1;
	s->texts = calloc(s->text_count, sizeof *s->texts);
	s->stack_count = 1;
	s->stacks = calloc(1, sizeof *s->stacks);
	for (uint32_t i = 0; i < sim->name_count; i++)
		s->texts[i] = strdup(sim->names[i]);
	s->texts[sim->name_count] = strdup(sim->phase != NULL ? sim->phase : "");
	s->devices[0].has_info = true;
	s->devices[0].info.region_count = 1;
	s->devices[0].info.regions[0] =
		(struct tdm_region){ .kind = TDM_KIND_DRAM, .banks = 12, .bank_size = UINT64_C(1) << 30 };
	for (size_t p = 0; p < sim->process_count; p++) {
		s->processes[p].has_who = true;
		s->processes[p].who = sim->who[p];
		s->processes[p].who.started_ns = sim->started_ns[p];
		s->processes[p].phase = sim->phase != NULL ? sim->name_count : 0;
		s->processes[p].first_holding = (uint32_t)p;
		s->processes[p].holding_count = 1;
		s->holdings[p].process = (uint32_t)p;
		for (unsigned k = 0; k < TDM_KIND_COUNT; k++)
			s->holdings[p].kinds[k].allocs = sim->allocs[p][k];
		s->holdings[p].first_buffer = s->buffer_count;
		for (size_t i = 0; i < sim->live_count; i++) {
			const struct sim_buffer *b = &sim->live[i];
			if (b->process != p)
				continue;
			s->buffers[s->buffer_count++] = (struct tdm_buffer){ .id = i,
				.asked_bytes = b->bytes,
				.reserved_bytes = b->bytes,
				.born_ns = b->born,
				.name = b->name,
				.holding = (uint32_t)p,
				.kind = b->kind };
			s->holdings[p].kinds[b->kind].buffers++;
			s->holdings[p].kinds[b->kind].reserved_bytes += b->bytes;
			s->devices[0].kinds[b->kind].reserved_bytes += b->bytes;
			s->holdings[p].buffer_count++;
		}
	}
	return s;
}

/* Watches the program as the command does, a little irregularly, and judges. The snapshot of the result is *last. */
static inline struct tdm_leaks_result sim_watch(struct sim *sim, uint64_t interval, struct tdm_snapshot **last)
{
	struct tdm_leaks *leaks = tdm_leaks_new(sim->watch_ns);
	struct tdm_leaks_result result;
	uint64_t end = SIM_BEGIN + (sim->seen_ns != 0 ? sim->seen_ns : sim->watch_ns);
	*last = NULL;
	sim_ready(sim);
	for (uint64_t at = SIM_BEGIN;; at += interval + sim_between(sim, 0, interval / 8 + 1)) {
		uint64_t time = at < end ? at : end;
		tdm_snapshot_free(*last);
		*last = sim_snapshot(sim, time);
		if (tdm_leaks_sample(leaks, *last, time) != 0)
			abort();
		if (time == end)
			break;
	}
	if (tdm_leaks_judge(leaks, *last, &result) != 0)
		abort();
	tdm_leaks_free(leaks);
	return result;
}

#endif
