/*
 * The cost of a call while tracking is off, in instructions counted by callgrind: a function that makes the call
 * against one that does not, called equally often. This file is compiled as position-independent code and without
 * link-time optimisation, as in a shared library. That is the most expensive case: the address of the switch must be
 * loaded, too.
 */
#include "event_runs.h"

#include "bench_child.h"
#include "tidemark.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CALLS = 100000, ERRORS_CAP = 16384 };

static __attribute__((noinline)) void call_nothing(const struct tidemark_buffer *b)
{
	__asm__ volatile("" ::"r"(b));
}

static __attribute__((noinline)) void call_alloc(const struct tidemark_buffer *b)
{
	__asm__ volatile("" ::"r"(b));
	tidemark_alloc(b);
}

static __attribute__((noinline)) void call_free(const struct tidemark_buffer *b)
{
	__asm__ volatile("" ::"r"(b));
	tidemark_free(0, TIDEMARK_L1, 1);
}

static const struct {
	const char *name;
	void (*call)(const struct tidemark_buffer *b);
} sides[] = { { "calls_nothing", call_nothing }, { "calls_alloc", call_alloc }, { "calls_free", call_free } };

int event_serve_calls(const struct event_run *run)
{
	struct tidemark_buffer b = { .size = sizeof b };
	tidemark_disable();
	for (size_t side = 0; side < sizeof sides / sizeof *sides; side++)
		if (strcmp(sides[side].name, run->name) == 0)
			for (size_t i = 0; i < CALLS; i++)
				sides[side].call(&b);
	return 0;
}

/* All instructions of such a process; 0 when callgrind failed. */
static double count_instructions(const char *program, const char *run)
{
	const char *argv[] = { "valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", program, "--child",
		"event", run, NULL };
	static const char *const env[] = { "TIDEMARK=0", NULL };
	static const char mark[] = "Collected : ";
	char errors[ERRORS_CAP];
	if (bench_command(argv, env, errors, sizeof errors) != 0)
		return 0;
	const char *found = strstr(errors, mark);
	return found == NULL ? 0 : strtod(found + strlen(mark), NULL);
}

const char *event_off_instructions(const char *program, double *count)
{
	if (!bench_has_command("valgrind"))
		return "valgrind is not installed";
	double nothing = count_instructions(program, sides[0].name);
	double alloc = count_instructions(program, sides[1].name);
	double release = count_instructions(program, sides[2].name);
	if (nothing == 0 || alloc == 0 || release == 0)
		return "callgrind failed";
	*count = ((alloc > release ? alloc : release) - nothing) / CALLS;
	return NULL;
}
