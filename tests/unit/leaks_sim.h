/*
 * Simulated programs for tests of the leak finder. Each is a list of buffers with births and deaths, from which a
 * picture can be made for any time, as the state would make it. Random, from a seed.
 */
#ifndef TESTS_UNIT_LEAKS_SIM_H
#define TESTS_UNIT_LEAKS_SIM_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "picture_valid.h"
#include "analyze/leaks/leaks.h"
#include "base/clock.h"
#include "base/reserve.h"

enum { SIM_PROCESSES = 2, SIM_EVENTS = 64 };
#define SIM_S     TDM_NS_PER_S
#define SIM_MS    TDM_NS_PER_MS
#define SIM_BEGIN (1000 * SIM_S) /* when the watching begins */
#define SIM_NEVER UINT64_MAX
#define SIM_MIB   (UINT64_C(1) << 20)

struct sim_buffer {
	uint64_t born, dies, bytes;
	uint32_t name;
	uint8_t kind, process;
	bool adopted; /* older than its `born`, when it was reported */
};

/* Live buffers of one process and kind. */
struct sim_list {
	struct tdm_buffer *list;
	size_t count, cap;
};

struct sim {
	uint64_t random;
	uint64_t started_ns[SIM_PROCESSES]; /* when the process began */
	struct tdm_process who[SIM_PROCESSES];
	size_t process_count;
	const char *phase;
	uint32_t stack; /* of buffers whose names have three letters */
	struct tdm_intern texts;
	struct sim_buffer *buffers;
	size_t count, cap, next;
	struct sim_buffer *live;
	size_t live_count, live_cap;
	uint64_t allocs[SIM_PROCESSES][TDM_KIND_COUNT], adopted[SIM_PROCESSES][TDM_KIND_COUNT];
	uint64_t watch_ns;
	uint64_t seen_ns; /* of that, when somebody breaks it off; 0: all */
	/* the last picture */
	struct tdm_picture picture;
	struct tdm_picture_device device;
	struct tdm_picture_process processes[SIM_PROCESSES];
	struct tdm_holding holdings[SIM_PROCESSES];
	struct sim_list shown[SIM_PROCESSES][TDM_KIND_COUNT];
	struct tdm_event events[SIM_EVENTS]; /* of the next picture */
	size_t event_count;
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
	tdm_intern_init(&sim->texts);
	for (int i = 0; i < SIM_PROCESSES; i++) {
		sim->started_ns[i] = SIM_BEGIN - 900 * SIM_S;
		sim->who[i] = (struct tdm_process){ .pid = 100 + i, .life = TDM_LIFE_RUNS, .start_time = 1 };
		sim->processes[i].handle = (uint64_t)i + 1;
	}
}

static inline void sim_done(struct sim *sim)
{
	for (size_t p = 0; p < SIM_PROCESSES; p++)
		for (size_t k = 0; k < TDM_KIND_COUNT; k++)
			free(sim->shown[p][k].list);
	tdm_intern_done(&sim->texts);
	free(sim->buffers);
	free(sim->live);
}

static inline uint32_t sim_name(struct sim *sim, const char *name)
{
	return tdm_intern_text(&sim->texts, tdm_str_of(name));
}

static inline void sim_push(struct sim_buffer **list, size_t *count, size_t *cap, struct sim_buffer buffer)
{
	if (tdm_reserve(list, cap, *count + 1, sizeof **list) != 0)
		abort();
	(*list)[(*count)++] = buffer;
}

static inline void sim_add(
	struct sim *sim, int process, uint8_t kind, const char *name, uint64_t bytes, uint64_t born, uint64_t dies)
{
	if (dies <= born)
		return;
	sim_push(&sim->buffers, &sim->count, &sim->cap,
		(struct sim_buffer){ born, dies, bytes, sim_name(sim, name), kind, (uint8_t)process, false });
}

/* Reported at a time as a buffer that had been there before. */
static inline void sim_adopt(struct sim *sim, const char *name, uint64_t bytes, uint64_t at, uint64_t dies)
{
	sim_add(sim, 0, TDM_KIND_DRAM, name, bytes, at, dies);
	sim->buffers[sim->count - 1].adopted = true;
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
		sim->allocs[b->process][b->kind] += !b->adopted;
		sim->adopted[b->process][b->kind] += b->adopted;
		sim_push(&sim->live, &sim->live_count, &sim->live_cap, *b);
	}
	for (size_t i = 0; i < sim->live_count; i++)
		if (sim->live[i].dies > now)
			sim->live[kept++] = sim->live[i];
	sim->live_count = kept;
}

/* A buffer of this name was freed: one more event of the next picture. It lived so long at least, and at most. */
static inline void sim_freed(
	struct sim *sim, uint8_t kind, const char *name, uint64_t born_ns, uint64_t least_ns, uint64_t most_ns)
{
	if (sim->event_count == SIM_EVENTS)
		abort();
	sim->events[sim->event_count++] = (struct tdm_event){ .op = TDM_OP_FREE,
		.kind = kind,
		.process = sim->processes[0].handle,
		.name = tdm_str_of(name),
		.born_ns = born_ns,
		.time_ns = born_ns + least_ns,
		.over_ns = born_ns + most_ns };
}

static inline void sim_show(struct sim *sim, const struct tdm_buffer *buffer, uint8_t process)
{
	struct sim_list *to = &sim->shown[process][buffer->kind];
	if (tdm_reserve(&to->list, &to->cap, to->count + 1, sizeof *to->list) != 0)
		abort();
	to->list[to->count++] = *buffer;
}

/* Figures and lists of what is shown. */
static inline void sim_sum(struct sim *sim, size_t p)
{
	struct tdm_holding *holding = &sim->holdings[p];
	tdm_holding_init(holding, (uint32_t)p, 0);
	for (size_t k = 0; k < TDM_KIND_COUNT; k++) {
		struct tdm_counter *amount = &holding->kinds[k];
		const struct sim_list *shown = &sim->shown[p][k];
		*amount = (struct tdm_counter){
			.from = TDM_FROM_LEDGER,
			.buffers = shown->count,
			.allocs = sim->allocs[p][k],
			.adopted = sim->adopted[p][k],
		};
		for (size_t i = 0; i < shown->count; i++)
			amount->reserved += tdm_buffer_reserved(&shown->list[i]);
		sim->device.kinds[k].used += sim->who[p].life != TDM_LIFE_ENDED ? amount->reserved : 0;
		holding->buffers[k] = (struct tdm_buffer_list){ shown->list, shown->count };
	}
}

static inline void sim_device(struct sim *sim)
{
	tdm_picture_device_init(&sim->device);
	sim->device.key = 1;
	for (size_t k = 0; k < TDM_KIND_COUNT; k++) {
		sim->device.kinds[k].used_from = TDM_FROM_LEDGER;
		sim->device.kinds[k].used = sim->device.kinds[k].unattributed = 0;
	}
	sim->device.kinds[TDM_KIND_DRAM].total_from = TDM_FROM_LEDGER;
	sim->device.kinds[TDM_KIND_DRAM].total = 12 * (UINT64_C(1) << 30);
}

static inline void sim_process(struct sim *sim, size_t p)
{
	struct tdm_picture_process *process = &sim->processes[p];
	sim->who[p].started_ns = sim->started_ns[p];
	process->pid = sim->who[p].pid;
	process->life = sim->who[p].life;
	process->who = &sim->who[p];
	process->first_holding = (uint32_t)p;
	process->holding_count = 1;
	snprintf(process->phase, sizeof process->phase, "%s", sim->phase != NULL ? sim->phase : "");
}

/* Borrowed until the next one. The events that were given are in it, and gone. */
static inline struct tdm_picture *sim_picture(struct sim *sim, uint64_t now)
{
	sim_until(sim, now);
	for (size_t p = 0; p < sim->process_count; p++)
		for (size_t k = 0; k < TDM_KIND_COUNT; k++)
			sim->shown[p][k].count = 0;
	for (size_t i = 0; i < sim->live_count; i++) {
		const struct sim_buffer *b = &sim->live[i];
		const struct tdm_buffer buffer = { .id = i,
			.asked_bytes = b->bytes,
			.bank_bytes = TDM_SIZE_UNKNOWN,
			.born_ns = b->adopted ? 0 : b->born,
			.flags = b->adopted ? TDM_EVENT_ADOPTED : 0,
			.name = b->name,
			.stack = strlen(sim->texts.texts[b->name]) == 3 ? sim->stack : 0,
			.kind = b->kind };
		sim_show(sim, &buffer, b->process);
	}
	sim_device(sim);
	for (size_t p = 0; p < sim->process_count; p++) {
		sim_process(sim, p);
		sim_sum(sim, p);
	}
	sim->picture = (struct tdm_picture){ .time_ns = now,
		.device_count = 1,
		.process_count = sim->process_count,
		.holding_count = sim->process_count,
		.event_count = sim->event_count,
		.devices = &sim->device,
		.processes = sim->processes,
		.holdings = sim->holdings,
		.events = sim->events,
		.texts = &sim->texts };
	sim->event_count = 0;
	if (!picture_is_valid(&sim->picture))
		abort();
	return &sim->picture;
}

/* Watches the program as the command does, a little irregularly, and judges. */
static inline struct tdm_findings sim_watch(struct sim *sim, uint64_t interval)
{
	struct tdm_leaks *leaks = tdm_leaks_new(sim->watch_ns);
	struct tdm_findings findings = { 0 };
	struct tdm_leaks_result result;
	uint64_t end = SIM_BEGIN + (sim->seen_ns != 0 ? sim->seen_ns : sim->watch_ns);
	sim_ready(sim);
	for (uint64_t at = SIM_BEGIN;; at += interval + sim_between(sim, 0, interval / 8 + 1)) {
		uint64_t time = at < end ? at : end;
		tdm_leaks_sample(leaks, sim_picture(sim, time), time);
		if (time == end)
			break;
	}
	tdm_leaks_judge(leaks, &sim->picture, &findings, &result);
	tdm_leaks_free(leaks);
	return findings;
}

#endif
