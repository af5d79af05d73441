/*
 * A program that works in a loop, for tests of `tidemark leaks`. It allocates weights, then runs iterations of a few
 * milliseconds with activations that come and go. It prints "ready" after some of them and continues until its standard
 * input ends; then it frees what it still knows about and exits. Its first argument says what else it does:
 *
 *   steady      nothing                      lose      loses a small buffer in every iteration
 *   numbered    the same, with a number in its name
 *   tenth       forgets every tenth activation
 *   bursts      loses ten buffers every 700 ms, and is ready after two seconds
 *   replace     in every iteration, replaces a buffer by a larger one
 *   exit        ends at once, without freeing its activations
 *   names       the same, with 60 names
 *   oom         loses an event at its start, and runs out of memory just before it ends
 */
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tidemark.h"

enum { WEIGHTS = 24, ACTIVATIONS = 20, READY = 20, PERIOD_MS = 5, BURST = 140, BURST_READY = 400 };

static uint64_t next_id = 1;

static void describe(void)
{
	const struct tidemark_region regions[] = {
		{ .kind = TIDEMARK_DRAM, .banks = 12, .base = 32, .bank_size = UINT64_C(1) << 30, .align = 32 },
	};
	const struct tidemark_device device = {
		.size = sizeof device, .card = "n150", .region_count = 1, .regions = regions
	};
	tidemark_describe_device(&device);
}

__attribute__((noinline)) static uint64_t allocate(uint64_t bytes, const char *name)
{
	uint64_t id = next_id++;
	const struct tidemark_buffer buffer = {
		.size = sizeof buffer, .kind = TIDEMARK_DRAM, .id = id, .bytes = bytes, .name = tidemark_name(name)
	};
	tidemark_alloc(&buffer);
	return id;
}

static void release(uint64_t id)
{
	tidemark_free(0, TIDEMARK_DRAM, id);
}

static void pause_ms(long ms)
{
	nanosleep(&(struct timespec){ .tv_nsec = ms * 1000000 }, NULL);
}

/* Iterations begin at fixed times, and those that are late catch up: on a busy machine it does not slow down, which
 * would look like a leak that comes to its end. */
static void wait_for_turn(struct timespec *turn)
{
	turn->tv_nsec += PERIOD_MS * 1000000;
	turn->tv_sec += turn->tv_nsec / 1000000000;
	turn->tv_nsec %= 1000000000;
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, turn, NULL);
}

static void iterate(const char *what, uint64_t number)
{
	uint64_t ids[ACTIVATIONS];
	for (int i = 0; i < ACTIVATIONS; i++)
		ids[i] = allocate(48 << 20, "activation");
	pause_ms(2);
	if (strcmp(what, "lose") == 0)
		allocate(12 * 4096, "scratch");
	if (strcmp(what, "numbered") == 0) {
		char name[32];
		snprintf(name, sizeof name, "scratch %d", (int)number);
		allocate(12 * 4096, name);
	}
	for (int i = 0; i < 10 && number % BURST == 0 && strcmp(what, "bursts") == 0; i++)
		allocate(12 * 4096, "scratch");
	if (strcmp(what, "replace") == 0) {
		static uint64_t last;
		uint64_t larger = allocate((number + 1) * 12 * 4096, "history");
		if (last != 0)
			release(last);
		last = larger;
	}
	bool forget = strcmp(what, "tenth") == 0 && number % 2 == 0;
	for (int i = forget ? 1 : 0; i < ACTIVATIONS; i++)
		release(ids[i]);
}

static bool input_ended(void)
{
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };
	return poll(&in, 1, 0) > 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "steady";
	uint64_t weights[WEIGHTS];
	struct timespec turn;
	clock_gettime(CLOCK_MONOTONIC, &turn);
	describe();
	for (int i = 0; i < WEIGHTS; i++)
		weights[i] = allocate(96 << 20, "weight");
	if (strcmp(what, "oom") == 0)
		tidemark_free(0, UINT32_MAX, 1); /* of a kind that does not exist */
	if (strcmp(what, "exit") == 0) {
		for (int i = 0; i < 3; i++)
			allocate(12 << 20, "activation");
	} else if (strcmp(what, "names") == 0) {
		char name[32];
		for (int i = 0; i < 60; i++) {
			snprintf(name, sizeof name, "layer.%d", i);
			allocate(12 << 20, name);
		}
	} else {
		uint64_t ready = strcmp(what, "bursts") == 0 ? BURST_READY : READY;
		for (uint64_t i = 0; i < ready || !input_ended(); i++) {
			iterate(what, i);
			wait_for_turn(&turn);
			if (i == ready) {
				puts("ready");
				fflush(stdout);
			}
		}
	}
	if (strcmp(what, "oom") == 0)
		tidemark_out_of_memory(0, TIDEMARK_DRAM, UINT64_C(1) << 40, 0);
	for (int i = 0; i < WEIGHTS; i++)
		release(weights[i]);
	return 0;
}
