/* Peaks since a moment: exact, and apart from the peaks since the start, which the ledger keeps. */
#include "itest.h"
#include "tidemark.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

enum { THREADS = 4, ROUNDS = 20000, IDS = 64 };

static struct tidemark_usage usage_of(uint32_t kind)
{
	struct tidemark_usage usage = TIDEMARK_USAGE_INIT;
	CHECK(tidemark_get_usage(0, kind, &usage) == 0);
	return usage;
}

static struct tidemark_usage reset(uint32_t kind)
{
	struct tidemark_usage before = TIDEMARK_USAGE_INIT;
	CHECK(tidemark_reset_peak(0, kind, &before) == 0);
	return before;
}

static void check_peaks(uint32_t kind, uint64_t window, uint64_t window_bank, uint64_t all)
{
	struct tidemark_usage usage = usage_of(kind);
	CHECK_EQ(usage.window_peak_bytes, window);
	CHECK_EQ(usage.window_peak_bank_bytes, window_bank);
	CHECK_EQ(usage.peak_bytes, all);
}

/* A peak begins at what is held, rises with it, and never touches the one since the start. */
static void moments(void)
{
	CHECK(itest_alloc(0, TIDEMARK_DRAM, 1, 500, 2) == 0);
	CHECK(itest_alloc(0, TIDEMARK_L1, 1, 70, 2) == 0);
	check_peaks(TIDEMARK_DRAM, 1000, 500, 1000); /* never reset: since the start */
	CHECK(tidemark_free(0, TIDEMARK_DRAM, 1) == 0);
	CHECK(itest_alloc(0, TIDEMARK_DRAM, 2, 50, 2) == 0);
	struct tidemark_usage before = reset(TIDEMARK_DRAM);
	CHECK_EQ(before.window_peak_bytes, 1000);
	CHECK_EQ(before.bytes, 100);
	check_peaks(TIDEMARK_DRAM, 100, 50, 1000);
	CHECK(itest_alloc(0, TIDEMARK_DRAM, 3, 300, 2) == 0);
	CHECK(tidemark_free(0, TIDEMARK_DRAM, 3) == 0);
	check_peaks(TIDEMARK_DRAM, 700, 350, 1000);
	check_peaks(TIDEMARK_L1, 140, 70, 140); /* another kind was not reset */
	CHECK(itest_alloc(0, TIDEMARK_DRAM, 4, 900, 2) == 0);
	check_peaks(TIDEMARK_DRAM, 1900, 950, 1900);
	CHECK_EQ(usage_of(TIDEMARK_DRAM).window_peak_buffers, 2);
	CHECK_EQ(usage_of(TIDEMARK_DRAM).alloc_bytes, 1000 + 100 + 600 + 1800);
	CHECK_EQ(reset(TIDEMARK_DRAM).window_peak_bytes, 1900);
	CHECK(tidemark_free(0, TIDEMARK_DRAM, 4) == 0);
	check_peaks(TIDEMARK_DRAM, 1900, 950, 1900);
	reset(TIDEMARK_DRAM);
	check_peaks(TIDEMARK_DRAM, 100, 50, 1900);
}

/* Buffers that are replaced, adopted or views count like others. */
static void other_ways(void)
{
	struct tidemark_buffer b = TIDEMARK_BUFFER_INIT;
	b.kind = TIDEMARK_DRAM;
	b.banks = 2;
	b.id = 1, b.bytes = 4000;
	CHECK(tidemark_alloc(&b) == 0 && tidemark_free(0, TIDEMARK_DRAM, 1) == 0);
	reset(TIDEMARK_DRAM);
	b.bytes = 100;
	CHECK(tidemark_adopt(&b) == 0);
	check_peaks(TIDEMARK_DRAM, 100, 50, 4000);
	CHECK_EQ(usage_of(TIDEMARK_DRAM).adopted, 1);
	b.bytes = 200;
	CHECK(tidemark_alloc(&b) == 0);
	check_peaks(TIDEMARK_DRAM, 200, 100, 4000);
	b.id = 2, b.flags = TIDEMARK_VIEW;
	CHECK(tidemark_alloc(&b) == 0);
	check_peaks(TIDEMARK_DRAM, 200, 100, 4000);
	CHECK_EQ(usage_of(TIDEMARK_DRAM).window_peak_buffers, 2);
	CHECK_EQ(usage_of(TIDEMARK_DRAM).window_peak_asked_bytes, 200);
}

static void refused(void)
{
	struct tidemark_usage before = TIDEMARK_USAGE_INIT;
	uint32_t numbers[4];
	CHECK(tidemark_reset_peak(0, TIDEMARK_DRAM, &before) == -ENODEV);
	CHECK_EQ(tidemark_devices(numbers, 4), 0);
	CHECK(itest_alloc(7, TIDEMARK_DRAM, 1, 500, 2) == 0);
	CHECK(itest_alloc(3, TIDEMARK_DRAM, 1, 500, 2) == 0);
	CHECK_EQ(tidemark_devices(numbers, 4), 2);
	CHECK(numbers[0] == 7 && numbers[1] == 3);
	CHECK_EQ(tidemark_devices(numbers, 1), 2); /* all, even if not all fit */
	CHECK_EQ(tidemark_devices(NULL, 0), 2);
	CHECK(tidemark_reset_peak(0, TIDEMARK_DRAM, &before) == -ENODEV);
	CHECK(tidemark_reset_peak(3, TIDEMARK_KIND_COUNT, &before) == -EINVAL);
	before.size = 8;
	CHECK(tidemark_reset_peak(3, TIDEMARK_DRAM, &before) == -EINVAL);
	CHECK(tidemark_reset_peak(3, TIDEMARK_DRAM, NULL) == 0);
	/* What nobody sends on its way to a device is on none that can be counted. */
	CHECK(tidemark_capture_begin(TIDEMARK_CAPTURE_NO_DISPATCH) == 0);
	CHECK(itest_alloc(5, TIDEMARK_DRAM, 1, 500, 2) == 0);
	CHECK_EQ(tidemark_devices(NULL, 0), 2);
	CHECK(tidemark_capture_clear() == 0);
}

/* Random reports with resets in between, beside a model. */
static void random_reports(void)
{
	uint64_t seed = 1, held[IDS] = { 0 }, now = 0, window = 0, all = 0, rounds = itest_scale(ROUNDS);
	for (uint64_t i = 0; i < rounds; i++) {
		uint64_t id = itest_random(&seed) % IDS, size = 1 + itest_random(&seed) % 4096;
		if (held[id] != 0) {
			CHECK(tidemark_free(0, TIDEMARK_L1, id) == 0);
			now -= held[id];
			held[id] = 0;
		} else {
			CHECK(itest_alloc(0, TIDEMARK_L1, id, size, 2) == 0);
			held[id] = size;
			now += size;
		}
		window = now > window ? now : window;
		all = now > all ? now : all;
		if (itest_random(&seed) % 50 == 0)
			check_peaks(TIDEMARK_L1, window * 2, window, all * 2);
		if (itest_random(&seed) % 200 == 0) {
			CHECK_EQ(reset(TIDEMARK_L1).window_peak_bank_bytes, window);
			window = now;
		}
	}
	check_peaks(TIDEMARK_L1, window * 2, window, all * 2);
}

/* Threads raise the peak while another resets it: no rise is lost between a window and the next. */
static void *raise(void *context)
{
	uint64_t id = (uintptr_t)context;
	for (unsigned i = 0; i < itest_scale(ROUNDS); i++) {
		uint64_t size = id == 1 && i == itest_scale(ROUNDS) / 2 ? 1 << 20 : 64;
		CHECK(itest_alloc(0, TIDEMARK_DRAM, id, size, 1) == 0);
		CHECK(tidemark_free(0, TIDEMARK_DRAM, id) == 0);
	}
	return NULL;
}

static void threads(void)
{
	pthread_t thread[THREADS];
	uint64_t most = 0;
	CHECK(itest_alloc(0, TIDEMARK_DRAM, 99, 64, 1) == 0);
	for (uintptr_t i = 0; i < THREADS; i++)
		CHECK(pthread_create(&thread[i], NULL, raise, (void *)(i + 1)) == 0);
	for (unsigned i = 0; i < itest_scale(ROUNDS) / 8; i++) {
		uint64_t peak = reset(TIDEMARK_DRAM).window_peak_bytes;
		most = peak > most ? peak : most;
	}
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	uint64_t peak = reset(TIDEMARK_DRAM).window_peak_bytes;
	most = peak > most ? peak : most;
	CHECK_EQ(most, usage_of(TIDEMARK_DRAM).peak_bytes);
	check_peaks(TIDEMARK_DRAM, 64, 64, most);
}

static void child(void *context)
{
	(void)context;
	CHECK(itest_alloc(0, TIDEMARK_DRAM, 5, 30, 1) == 0);
	check_peaks(TIDEMARK_DRAM, 30, 30, 30);
	reset(TIDEMARK_DRAM);
	CHECK(tidemark_free(0, TIDEMARK_DRAM, 5) == 0);
	check_peaks(TIDEMARK_DRAM, 30, 30, 30);
}

static void forked(void)
{
	CHECK(itest_alloc(0, TIDEMARK_DRAM, 1, 500, 1) == 0);
	CHECK(tidemark_free(0, TIDEMARK_DRAM, 1) == 0);
	reset(TIDEMARK_DRAM);
	CHECK(itest_exited(itest_fork(child, NULL)));
	check_peaks(TIDEMARK_DRAM, 0, 0, 500);
}

int main(int argc, char **argv)
{
	static const struct itest tests[] = {
		{ "moments", moments, NULL },
		{ "other_ways", other_ways, NULL },
		{ "refused", refused, NULL },
		{ "random_reports", random_reports, NULL },
		{ "threads", threads, NULL },
		{ "forked", forked, NULL },
		{ NULL, NULL, NULL },
	};
	return itest_main(argc, argv, tests);
}
