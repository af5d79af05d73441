/*
 * The watcher with the real library: programs allocate and free all the while, are killed at any moment, and others
 * come. Every picture's sums must be right, a dead process must be in none, and what is left standing must be counted
 * to the byte.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "live/live.h"
#include "tidemark.h"

enum { PROGRAMS = 12, DEVICES = 3, SLOTS = 400, ROUNDS = 120, BANKS = 8, BANK_SIZE = 1 << 24 };

static char dir[PATH_MAX];
static struct told {
	_Atomic bool stop, stopped;
	_Atomic bool began;              /* to hold something: its ledger is whole, and what it leaves is not nothing */
	_Atomic uint64_t bytes[DEVICES]; /* reserved, when it has stopped */
} * told;

static int set_up(void **state)
{
	(void)state;
	snprintf(dir, sizeof dir, "%s/tidemark-live.XXXXXX", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
	told = mmap(NULL, PROGRAMS * sizeof *told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (mkdtemp(dir) == NULL || told == MAP_FAILED)
		return -1;
	return setenv("TIDEMARK_DIR", dir, 1) + setenv("TIDEMARK_SHM_DIR", dir, 1) +
	       setenv("TIDEMARK_SYSFS_ROOT", dir, 1);
}

static int tear_down(void **state)
{
	char command[PATH_MAX + 16];
	(void)state;
	snprintf(command, sizeof command, "rm -r '%s'", dir);
	return system(command);
}

static void describe(uint32_t device)
{
	const struct tidemark_region region = { .kind = TIDEMARK_DRAM, .banks = BANKS, .bank_size = BANK_SIZE };
	const struct tidemark_device description = { .size = sizeof description,
		.number = device,
		.chip_id = 1000 + device,
		.has_chip_id = 1,
		.region_count = 1,
		.regions = &region };
	tidemark_describe_device(&description);
}

/* Allocates and frees at random; stops when it is told to and says what it holds. */
static _Noreturn void run_program(struct told *own)
{
	uint64_t seed = (uint64_t)getpid() * UINT64_C(0x9e3779b97f4a7c15), sizes[SLOTS] = { 0 };
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	tidemark_enable();
	for (uint32_t d = 0; d < DEVICES; d++)
		describe(d);
	for (unsigned round = 0; !own->stop; round++) {
		own->began = round >= SLOTS;
		seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
		uint64_t slot = (seed >> 33) % SLOTS;
		uint32_t device = (uint32_t)(slot % DEVICES);
		if (sizes[slot] != 0) {
			tidemark_free(device, TIDEMARK_DRAM, slot + 1);
			own->bytes[device] -= sizes[slot] * BANKS;
			sizes[slot] = 0;
			continue;
		}
		sizes[slot] = 32 * (1 + (seed >> 20) % 64);
		own->bytes[device] += sizes[slot] * BANKS;
		const struct tidemark_buffer buffer = { .size = sizeof buffer,
			.device = device,
			.kind = TIDEMARK_DRAM,
			.id = slot + 1,
			.address = slot * 4096,
			.bytes = sizes[slot] * BANKS,
			.bytes_per_bank = sizes[slot],
			.banks = BANKS };
		tidemark_alloc(&buffer);
		if (seed >> 60 == 0)
			usleep(100);
	}
	own->stopped = true;
	for (;;)
		pause();
}

static pid_t start(size_t i)
{
	memset(&told[i], 0, sizeof told[i]);
	pid_t pid = fork();
	if (pid == 0)
		run_program(&told[i]);
	assert_true(pid > 0);
	return pid;
}

static bool is_listed(const struct tdm_overview *o, pid_t pid)
{
	for (size_t i = 0; i < o->process_count; i++)
		if (o->processes[i].pid == pid)
			return true;
	return false;
}

static const struct tdm_overview *look(struct tdm_live *live)
{
	const struct tdm_overview *o = tdm_live_refresh(live);
	assert_non_null(o);
	assert_true(tdm_overview_is_valid(o));
	assert_int_equal(o->problem_count, 0);
	for (size_t d = 0; d < o->device_count; d++) {
		const struct tdm_overview_kind *dram = &o->devices[d].kinds[TDM_KIND_DRAM];
		assert_true(dram->largest_free == TDM_BYTES_UNKNOWN || dram->largest_free <= dram->free);
		assert_true(dram->peak >= dram->used);
	}
	return o;
}

static void test_programs_come_and_go(void **state)
{
	(void)state;
	static struct tdm_overview_event events[256];
	pid_t pids[PROGRAMS];
	struct tdm_live *live = tdm_live_new(NULL);
	assert_non_null(live);
	for (size_t i = 0; i < PROGRAMS; i++)
		pids[i] = start(i);
	for (int round = 0; round < ROUNDS; round++) {
		size_t victim = (size_t)round % PROGRAMS;
		look(live);
		tdm_live_events(live, events, sizeof events / sizeof *events);
		while (!told[victim].began)
			usleep(1000);
		kill(pids[victim], SIGKILL);
		waitpid(pids[victim], NULL, 0);
		/* Dead before this picture began. */
		assert_false(is_listed(look(live), pids[victim]));
		pids[victim] = start(victim);
		usleep(5000);
	}
	/* All stop; a new watcher counts what they hold to the byte. */
	for (size_t i = 0; i < PROGRAMS; i++)
		told[i].stop = true;
	for (size_t i = 0; i < PROGRAMS; i++)
		while (!told[i].stopped)
			usleep(1000);
	struct tdm_live *other = tdm_live_new(&(struct tdm_live_options){ .once = true });
	const struct tdm_overview *o = look(other);
	assert_int_equal(o->process_count, PROGRAMS);
	assert_int_equal(o->device_count, DEVICES);
	for (uint32_t d = 0; d < DEVICES; d++) {
		uint64_t sum = 0;
		for (size_t i = 0; i < PROGRAMS; i++)
			sum += told[i].bytes[d];
		assert_true(o->devices[d].kinds[TDM_KIND_DRAM].used == sum);
		assert_true(o->devices[d].kinds[TDM_KIND_DRAM].largest_free != TDM_BYTES_UNKNOWN);
		assert_true(o->devices[d].kinds[TDM_KIND_DRAM].stale != 0); /* of those that were killed */
	}
	/* And so do the buffers, one by one. */
	for (size_t d = 0; d < DEVICES; d++) {
		struct tdm_diag diag = { 0 };
		struct tdm_snapshot *snapshot = tdm_live_device(other, d, &diag);
		assert_non_null(snapshot);
		uint64_t sum = 0;
		for (size_t i = 0; i < snapshot->buffer_count; i++)
			sum += snapshot->buffers[i].reserved_bytes;
		assert_true(sum == o->devices[d].kinds[TDM_KIND_DRAM].used);
		tdm_snapshot_free(snapshot);
	}
	tdm_live_free(other);
	tdm_live_free(live);
	for (size_t i = 0; i < PROGRAMS; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_programs_come_and_go) };
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
