/*
 * A program that reports buffers, for tests of commands that look at programs. Its first argument says what it does:
 *
 *   clean       frees everything and ends
 *   leak N      leaves N buffers and exits with code N
 *   crash       is killed by SIGKILL
 *   wait        prints "ready" and waits for a signal; USR1: exits with code 7
 *   oom         like wait, after a request that was refused
 *   renew       deletes its own ledger, reports until it has a new one, and waits as above
 *   fork        a child leaves buffers too
 *   orphan      exits at once; a child continues until its standard input ends
 *   faults      frees twice, frees an unknown buffer, reports twice
 *   map         leaves buffers of several kinds with holes between them, and reports their addresses
 *   adopt       leaves two buffers from before the tracking, and one new one
 *   lost        reports a buffer that the library refuses and so loses
 *   exec WHAT   becomes another program, which does WHAT, with its own buffers still live
 *   busy        prints "ready"; adds and removes circular buffers and L1 buffers at both ends of L1 until it is killed
 *   notes N     counts N calls of a function of tt-metal and remarks something, as the preload does; "notes N wait"
 * then waits as above unplaced    leaves one without an address, in a region that it does not describe
 */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tidemark.h"

static void describe(void)
{
	const struct tidemark_region regions[] = {
		{ .kind = TIDEMARK_DRAM, .banks = 12, .base = 32, .bank_size = UINT64_C(1) << 30, .align = 32 },
		{ .kind = TIDEMARK_L1, .banks = 64, .base = 100000, .bank_size = 1 << 20, .align = 16 },
	};
	const struct tidemark_device device = { .size = sizeof device,
		.number = 0,
		.card = "n150",
		.chip_id = 0x1234,
		.has_chip_id = 1,
		.grid_x = 8,
		.grid_y = 8,
		.region_count = 2,
		.regions = regions };
	tidemark_describe_device(&device);
}

__attribute__((noinline)) static void allocate(uint32_t kind, uint64_t id, uint64_t bytes, const char *name)
{
	const struct tidemark_buffer buffer = { .size = sizeof buffer,
		.device = 0,
		.kind = kind,
		.id = id,
		.address = 0x1000 * id,
		.bytes = bytes,
		.name = tidemark_name(name) };
	tidemark_alloc(&buffer);
}

static int leak(int count)
{
	for (int i = 0; i < count; i++)
		allocate(TIDEMARK_DRAM, 10 + (uint64_t)i, 12 * 1024, "weights");
	return count;
}

static int adopt(void)
{
	for (uint64_t id = 10; id < 12; id++) {
		struct tidemark_buffer older = TIDEMARK_BUFFER_INIT;
		older.kind = TIDEMARK_DRAM;
		older.id = id;
		older.address = 0x1000 * id;
		older.bytes = 12 * 1024;
		older.name = tidemark_name("older");
		tidemark_adopt(&older);
	}
	allocate(TIDEMARK_DRAM, 9, 12 * 1024, "newer");
	return 0;
}

/* A buffer at an address, on a rectangle of cores. */
static void place(uint32_t kind, uint64_t address, uint64_t bytes_per_bank, const struct tidemark_core_range *cores,
	const char *name)
{
	const struct tidemark_buffer buffer = { .size = sizeof buffer,
		.kind = kind,
		.id = address,
		.address = address,
		.flags = address == 0 ? TIDEMARK_NO_ADDRESS : 0,
		.bytes = bytes_per_bank,
		.bytes_per_bank = bytes_per_bank,
		.ranges = cores,
		.range_count = cores != NULL,
		.name = tidemark_name(name) };
	tidemark_alloc(&buffer);
}

static int map(void)
{
	const struct tidemark_core_range all = { 0, 0, 7, 7 }, some = { 2, 1, 4, 2 }, one = { 7, 7, 7, 7 };
	place(TIDEMARK_DRAM, 32, 256 << 20, NULL, "weights");
	place(TIDEMARK_DRAM, 32 + (384 << 20), 128 << 20, NULL, "cache");
	place(TIDEMARK_DRAM, 32 + (1023 << 20), 1 << 20, NULL, "tail");
	place(TIDEMARK_L1, 1048576, 65536, NULL, "activations");
	place(TIDEMARK_L1, 917504, 32768, NULL, "scores");
	place(TIDEMARK_CB, 105664, 65536, &all, "cb 0");
	place(TIDEMARK_CB, 171200, 131072, &some, "cb 1");
	place(TIDEMARK_KERNEL, 0, 5000, &one, "reader");
	return 0;
}

/* L1 is filled from both ends without a hole, so that the gap follows from the bytes of both kinds. */
static _Noreturn void busy(void)
{
	enum { STEP = 1 << 14, MOST = 24 };
	const struct tidemark_core_range all = { 0, 0, 7, 7 };
	const uint64_t base = 100000, end = base + (1 << 20);
	uint64_t l1 = 0, cbs = 0, seed = 1;
	puts("ready");
	fflush(stdout);
	for (;;) {
		seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
		bool is_cb = seed >> 63 != 0, grows = (seed >> 62 & 1) != 0;
		uint64_t *count = is_cb ? &cbs : &l1;
		if (*count == 0 || (grows && *count < MOST)) {
			++*count;
			place(is_cb ? TIDEMARK_CB : TIDEMARK_L1,
				is_cb ? base + (*count - 1) * STEP : end - *count * STEP, STEP, is_cb ? &all : NULL,
				is_cb ? "cb" : "activations");
		} else {
			uint64_t id = is_cb ? base + (*count - 1) * STEP : end - *count * STEP;
			--*count;
			tidemark_free(0, is_cb ? TIDEMARK_CB : TIDEMARK_L1, id);
		}
		if ((seed >> 56) % 8 == 0)
			usleep(200);
	}
}

static int unplaced(void)
{
	const struct tidemark_buffer buffer = { .size = sizeof buffer,
		.kind = TIDEMARK_L1_SMALL,
		.flags = TIDEMARK_NO_ADDRESS,
		.id = 1,
		.bytes = 4096,
		.name = tidemark_name("halo") };
	return tidemark_alloc(&buffer) == 0 ? 0 : 1;
}

static int faults(void)
{
	allocate(TIDEMARK_L1, 1, 6400, "activations");
	tidemark_free(0, TIDEMARK_L1, 1);
	tidemark_free(0, TIDEMARK_L1, 1);
	tidemark_free(0, TIDEMARK_L1, 99);
	allocate(TIDEMARK_L1, 2, 6400, "activations");
	allocate(TIDEMARK_L1, 2, 12800, "activations");
	tidemark_out_of_memory(0, TIDEMARK_L1, 1 << 20, 1 << 14);
	return 0;
}

static volatile sig_atomic_t got;

static void note(int signal)
{
	got = signal;
}

static int wait_for_signal(void)
{
	sigset_t all, before;
	struct sigaction action = { .sa_handler = note };
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	sigaction(SIGUSR1, &action, NULL);
	sigdelset(&before, SIGUSR1);
	puts("ready");
	fflush(stdout);
	while (got == 0)
		sigsuspend(&before);
	return 7;
}

static void lose_ledger(void)
{
	unlink(tidemark_ledger_path());
	while (access(tidemark_ledger_path(), F_OK) != 0) {
		allocate(TIDEMARK_L1, 1, 6400, "activations");
		tidemark_free(0, TIDEMARK_L1, 1);
		usleep(5000);
	}
}

static int notes(int argc, char **argv)
{
	uint32_t counter = tidemark_counter("metal:AllocatorImpl::allocate_buffer");
	tidemark_count(tidemark_counter("metal:Device::close"), 0);
	tidemark_count(counter, argc > 2 ? (uint64_t)atoi(argv[2]) : 0);
	tidemark_remark("metal: traces are not seen: MeshDevice::end_mesh_trace is missing");
	tidemark_free(0, TIDEMARK_TRACE, 5);
	return argc > 3 ? wait_for_signal() : 0;
}

static int with_child(void)
{
	pid_t child = fork();
	if (child == 0) {
		tidemark_free(0, TIDEMARK_TRACE, 5); /* the parent's: not ours to free */
		leak(3);
		exit(0);
	}
	waitpid(child, NULL, 0);
	return 0;
}

static int with_orphan(void)
{
	char c;
	int tell[2];
	if (pipe(tell) != 0)
		return 1;
	if (fork() == 0) {
		leak(1);
		if (write(tell[1], "x", 1) != 1)
			_exit(1);
		close(1);
		close(2);
		_exit(read(0, &c, 1) == 0 ? 0 : 1);
	}
	return read(tell[0], &c, 1) == 1 ? 0 : 1;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "clean";
	describe();
	tidemark_program("matmul");
	tidemark_phase("forward");
	allocate(TIDEMARK_TRACE, 5, 1000, "trace");
	if (strcmp(what, "leak") == 0)
		return leak(argc > 2 ? atoi(argv[2]) : 1);
	if (strcmp(what, "crash") == 0) {
		leak(2);
		raise(SIGKILL);
	}
	if (strcmp(what, "wait") == 0 || strcmp(what, "oom") == 0 || strcmp(what, "renew") == 0) {
		leak(2);
		if (strcmp(what, "oom") == 0)
			tidemark_out_of_memory(0, TIDEMARK_L1, 3 << 20, 1 << 14);
		if (strcmp(what, "renew") == 0)
			lose_ledger();
		return wait_for_signal();
	}
	if (strcmp(what, "fork") == 0)
		return with_child();
	if (strcmp(what, "orphan") == 0)
		return with_orphan();
	if (strcmp(what, "map") == 0)
		return map();
	if (strcmp(what, "busy") == 0)
		busy();
	if (strcmp(what, "unplaced") == 0)
		return unplaced();
	if (strcmp(what, "adopt") == 0)
		return adopt();
	if (strcmp(what, "faults") == 0)
		return faults();
	if (strcmp(what, "notes") == 0)
		return notes(argc, argv);
	if (strcmp(what, "exec") == 0)
		return execl(argv[0], argv[0], argc > 2 ? argv[2] : "wait", NULL);
	if (strcmp(what, "lost") == 0)
		allocate(TIDEMARK_KIND_COUNT, 6, 1000, "lost");
	tidemark_free(0, TIDEMARK_TRACE, 5);
	return 0;
}
