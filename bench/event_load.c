#include "event_load.h"

#include "bench.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

static uint32_t random_bytes(uint64_t *seed)
{
	return (uint32_t)((1 + bench_random(seed) % EVENT_STEPS) * EVENT_STEP);
}

static void *array_new(size_t count, size_t size)
{
	void *array = calloc(count, size);
	if (array == NULL) {
		fputs("bench: out of memory\n", stderr);
		exit(2);
	}
	return array;
}

void event_load_init(struct event_load *load, enum event_order order, size_t live, size_t events, uint32_t first_id)
{
	*load = (struct event_load){ .order = order,
		.live = live,
		.events = events,
		.next_id = first_id,
		.seed = UINT64_C(88172645463325252) + first_id };
	load->id = array_new(live, sizeof *load->id);
	load->bytes = array_new(live, sizeof *load->bytes);
	if (order == EVENT_DRAWN)
		load->pairs = array_new((EVENT_WARM + events) / 2, sizeof *load->pairs);
	load->group_ns = array_new(events / EVENT_GROUP, sizeof *load->group_ns);
	for (size_t i = 0; i < live; i++) {
		load->id[i] = order == EVENT_DRAWN ? load->next_id++ : event_random_id((uint32_t)i);
		load->bytes[i] = random_bytes(&load->seed);
	}
}

void event_load_done(struct event_load *load)
{
	free(load->id);
	free(load->bytes);
	free(load->pairs);
	free(load->group_ns);
}

void event_load_draw(struct event_load *load)
{
	for (size_t i = 0; i < (EVENT_WARM + load->events) / 2; i++) {
		size_t victim = bench_random(&load->seed) % load->live;
		uint32_t bytes = random_bytes(&load->seed);
		load->pairs[i] = (struct event_pair){ load->id[victim], load->next_id, load->bytes[victim], bytes };
		load->id[victim] = load->next_id++;
		load->bytes[victim] = bytes;
	}
}

static int compare_ns(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return (x > y) - (x < y);
}

struct event_figures event_load_figures(struct event_load *load)
{
	size_t groups = load->events / EVENT_GROUP;
	uint64_t sum = 0;
	for (size_t i = 0; i < groups; i++)
		sum += load->group_ns[i];
	qsort(load->group_ns, groups, sizeof *load->group_ns, compare_ns);
	return (struct event_figures){
		.mean = (double)sum / (double)load->events,
		.p99 = (double)load->group_ns[groups * 99 / 100] / EVENT_GROUP,
		.p999 = (double)load->group_ns[groups * 999 / 1000] / EVENT_GROUP,
	};
}

void event_pin(int core)
{
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET(core, &set);
	sched_setaffinity(0, sizeof set, &set);
	sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){ .sched_priority = 1 });
}
