/*
 * The state with the real library: programs keep allocating and freeing, are killed at any moment, and new ones come.
 * The sums of every picture must be right, no picture may show a dead process, and what remains must be counted to the
 * byte.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>

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

#include "../unit/picture_valid.h"
#include "../unit/full_size.h"
#include "own_folder.h"
#include "live/join/state.h"
#include "tidemark.h"

enum { PROGRAMS = 12, DEVICES = 3, SLOTS = 400, BANKS = 8, BANK_SIZE = 1 << 24 };

static struct told {
	_Atomic bool stop, stopped;
	_Atomic bool began;              /* to hold something: its ledger is whole, and what it leaves is not nothing */
	_Atomic uint64_t bytes[DEVICES]; /* reserved, when it has stopped */
} * told;

static int set_up(void **state)
{
	(void)state;
	told = mmap(NULL, PROGRAMS * sizeof *told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (told == MAP_FAILED || own_folder_make() != 0)
		return -1;
	return setenv("TIDEMARK_SHM_DIR", own_folder, 1) + setenv("TIDEMARK_SYSFS_ROOT", own_folder, 1);
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

static bool is_listed(const struct tdm_picture *pic, pid_t pid)
{
	for (size_t i = 0; i < pic->process_count; i++)
		if (pic->processes[i].pid == pid)
			return true;
	return false;
}

static const struct tdm_picture *look(struct tdm_state *watched, unsigned parts)
{
	const struct tdm_picture *pic = tdm_state_look(watched, &(struct tdm_wish){ .parts = parts });
	assert_non_null(pic);
	assert_true(picture_is_valid(pic));
	for (size_t i = 0; i < pic->problem_count; i++) {
		if (pic->problems[i].err == -EAGAIN)
			continue; /* on a slow machine a program takes long to set up its ledger */
		fprintf(stderr, "%s: %s\n", pic->problems[i].place, pic->problems[i].text);
		fail();
	}
	for (size_t d = 0; d < pic->device_count; d++) {
		const struct tdm_picture_kind *dram = &pic->devices[d].kinds[TDM_KIND_DRAM];
		assert_true(dram->largest_free == TDM_BYTES_UNKNOWN || dram->largest_free <= dram->free);
		assert_true(dram->peak >= dram->used);
	}
	return pic;
}

/* Every buffer, one by one, is what the counters count. */
static void check_buffers(const struct tdm_picture *pic)
{
	for (size_t d = 0; d < pic->device_count; d++) {
		uint64_t sum = 0;
		for (size_t h = 0; h < pic->holding_count; h++) {
			const struct tdm_holding *holding = &pic->holdings[h];
			const struct tdm_buffer_list *list = &holding->buffers[TDM_KIND_DRAM];
			if (holding->device != d)
				continue;
			assert_false(holding->kinds[TDM_KIND_DRAM].is_inexact);
			for (size_t i = 0; i < list->count; i++)
				sum += tdm_buffer_reserved(&list->list[i]);
		}
		assert_true(sum == pic->devices[d].kinds[TDM_KIND_DRAM].used);
	}
}

static void test_programs_come_and_go(void **state)
{
	(void)state;
	static const unsigned parts[] = { 0, TDM_WISH_EVENTS, TDM_WISH_EVENTS | TDM_WISH_BUFFERS, TDM_WISH_BUFFERS };
	pid_t pids[PROGRAMS];
	struct tdm_state *watched = tdm_state_new(NULL);
	assert_non_null(watched);
	for (size_t i = 0; i < PROGRAMS; i++)
		pids[i] = start(i);
	for (int round = 0, rounds = full_size(120, 20); round < rounds; round++) {
		size_t victim = (size_t)round % PROGRAMS;
		look(watched, parts[round / 5 % 4]);
		while (!told[victim].began)
			usleep(1000);
		kill(pids[victim], SIGKILL);
		waitpid(pids[victim], NULL, 0);
		/* Dead before this picture began. */
		assert_false(is_listed(look(watched, parts[round / 5 % 4]), pids[victim]));
		pids[victim] = start(victim);
		usleep(5000);
	}
	/* All stop; a new state counts what they hold to the byte. */
	for (size_t i = 0; i < PROGRAMS; i++)
		told[i].stop = true;
	for (size_t i = 0; i < PROGRAMS; i++)
		while (!told[i].stopped)
			usleep(1000);
	struct tdm_state *other = tdm_state_new(&(struct tdm_state_options){ .once = true });
	const struct tdm_picture *pic = look(other, TDM_WISH_BUFFERS);
	assert_int_equal(pic->process_count, PROGRAMS);
	assert_int_equal(pic->device_count, DEVICES);
	for (uint32_t d = 0; d < DEVICES; d++) {
		uint64_t sum = 0;
		for (size_t i = 0; i < PROGRAMS; i++)
			sum += told[i].bytes[d];
		assert_true(pic->devices[d].kinds[TDM_KIND_DRAM].used == sum);
		assert_true(pic->devices[d].kinds[TDM_KIND_DRAM].largest_free != TDM_BYTES_UNKNOWN);
		assert_true(pic->devices[d].kinds[TDM_KIND_DRAM].stale != 0); /* of those that were killed */
	}
	check_buffers(pic);
	/* And so does the one that has watched them all the while. */
	do
		pic = look(watched, TDM_WISH_BUFFERS);
	while (pic->process_count != PROGRAMS);
	check_buffers(pic);
	tdm_state_free(other);
	tdm_state_free(watched);
	for (size_t i = 0; i < PROGRAMS; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
}

enum { STEP = 1 << 12, MOST = 100 };

/* Fills L1 from both ends without a hole, so that the gap follows from the bytes of both kinds. */
static _Noreturn void stack_up(void)
{
	const struct tidemark_region region = { .kind = TIDEMARK_L1, .banks = BANKS, .bank_size = BANK_SIZE };
	const struct tidemark_device device = { .size = sizeof device, .region_count = 1, .regions = &region };
	const uint32_t kinds[] = { TIDEMARK_L1, TIDEMARK_CB };
	uint64_t seed = 1, counts[2] = { 0, 0 };
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	tidemark_enable();
	tidemark_describe_device(&device);
	for (;;) {
		seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
		unsigned i = seed >> 63;
		if (counts[i] == MOST || (counts[i] != 0 && (seed >> 62 & 1) != 0)) {
			tidemark_free(0, kinds[i], counts[i]--);
			continue;
		}
		counts[i]++;
		const struct tidemark_buffer buffer = { .size = sizeof buffer,
			.kind = kinds[i],
			.id = counts[i],
			.address = i == 0 ? BANK_SIZE - counts[i] * STEP : (counts[i] - 1) * STEP,
			.bytes = (uint64_t)STEP * BANKS,
			.bytes_per_bank = STEP,
			.banks = BANKS };
		tidemark_alloc(&buffer);
		if ((seed >> 56) % 8 == 0)
			usleep(50);
	}
}

/* Whether the figures of the picture say that they are of one moment. If they do, they must be. */
static bool is_of_one_moment(const struct tdm_picture *pic)
{
	if (pic->device_count == 0 || pic->devices[0].space_ns == 0 || pic->devices[0].space_is_old ||
		pic->devices[0].kinds[TDM_KIND_L1].banks == 0) /* the program has not described it yet */
		return false;
	const struct tdm_picture_device *device = &pic->devices[0];
	const struct tdm_picture_kind *l1 = &device->kinds[TDM_KIND_L1], *cb = &device->kinds[TDM_KIND_CB];
	assert_int_equal(tdm_picture_gap(device), BANK_SIZE - l1->used / BANKS - cb->used / BANKS);
	assert_int_equal(l1->largest_free, l1->free);
	return true;
}

static void test_gap_is_that_of_its_counters(void **state)
{
	(void)state;
	static const unsigned parts[] = { 0, TDM_WISH_BUFFERS, TDM_WISH_EVENTS };
	const int frames = full_size(150, 45);
	pid_t pid = fork();
	if (pid == 0)
		stack_up();
	struct tdm_state *watched = tdm_state_new(NULL);
	for (int seen = 0; seen < frames;)
		seen += is_of_one_moment(look(watched, parts[seen % 3]));
	tdm_state_free(watched);
	for (int seen = 0; seen < frames / 10;) {
		struct tdm_state *other = tdm_state_new(&(struct tdm_state_options){ .once = true });
		seen += is_of_one_moment(look(other, parts[seen % 3]));
		tdm_state_free(other);
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_gap_is_that_of_its_counters),
		cmocka_unit_test(test_programs_come_and_go) };
	return cmocka_run_group_tests(tests, set_up, own_folder_remove);
}
