/*
 * Calls that are switched off, to be counted by callgrind: off_loop nothing|alloc|free COUNT. Each kind of call stands
 * in a function of its own, so that the loop around it is the same for all. Compiled as position-independent code, as
 * in a shared library that reports, where a call costs most.
 */
#include "tidemark.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static __attribute__((noinline)) void do_nothing(const struct tidemark_buffer *b)
{
	__asm__ volatile("" ::"r"(b));
}

static __attribute__((noinline)) void do_alloc(const struct tidemark_buffer *b)
{
	__asm__ volatile("" ::"r"(b));
	tidemark_alloc(b);
}

static __attribute__((noinline)) void do_free(const struct tidemark_buffer *b)
{
	__asm__ volatile("" ::"r"(b));
	tidemark_free(0, TIDEMARK_DRAM, 1);
}

static const struct {
	const char *name;
	void (*call)(const struct tidemark_buffer *b);
} kinds[] = { { "nothing", do_nothing }, { "alloc", do_alloc }, { "free", do_free } };

int main(int argc, char **argv)
{
	struct tidemark_buffer b = { .size = sizeof b };
	if (argc != 3 || tidemark_is_enabled())
		return 2;
	unsigned long count = strtoul(argv[2], NULL, 10);
	for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++)
		if (strcmp(kinds[kind].name, argv[1]) == 0) {
			for (unsigned long i = 0; i < count; i++)
				kinds[kind].call(&b);
			return 0;
		}
	return 2;
}
