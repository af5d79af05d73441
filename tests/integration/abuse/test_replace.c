/* A second report of a live buffer, or of a circular buffer: the old one or the new one is there, at any moment. */
#include "itest.h"
#include "../../unit/ledger_buffers.h"
#include "tidemark.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

enum { LOOKS = 3000, KILLS = 150 };

static const struct tidemark_core_range cores = { 0, 0, 1, 1 };

static void report_both(uint64_t round)
{
	CHECK(itest_alloc(0, TIDEMARK_L1, 5, 64 + round % 1000, 2) == 0);
	CHECK(tidemark_report_cb(0, 64 + round % 1000, 3, &cores) == 0);
}

static void *report_for_ever(void *context)
{
	for (uint64_t i = 0; !atomic_load((_Atomic int *)context); i++)
		report_both(i);
	return NULL;
}

/*
 * One buffer of each kind, and counters that agree with it. A list that a writer changed all the time is not exact; it
 * may have both buffers, but never neither.
 */
static void check_ledger(struct tdm_ledger *ledger, bool is_fast)
{
	size_t count, of_kind[2] = { 0 };
	bool exact;
	struct tdm_ledger_buffer *buffers;
	CHECK(tdm_ledger_refresh(ledger, NULL) == 0);
	CHECK(ledger_buffers(ledger, 0, &buffers, &count, &exact) == 0);
	CHECK_EQ(tdm_ledger_refused(ledger), 0);
	CHECK(exact || is_fast);
	for (size_t i = 0; i < count; i++)
		of_kind[buffers[i].slot.kind == TIDEMARK_CB]++;
	for (int i = 0; i < 2; i++)
		CHECK(exact ? of_kind[i] == 1 : of_kind[i] >= 1);
	free(buffers);
}

static void look_on(void *(*report)(void *), bool is_fast)
{
	_Atomic int stop = 0;
	pthread_t id;
	report_both(0);
	struct tdm_ledger *ledger = itest_open(tidemark_ledger_path());
	CHECK(pthread_create(&id, NULL, report, &stop) == 0);
	for (unsigned i = 0; i < itest_scale(LOOKS); i++)
		check_ledger(ledger, is_fast);
	atomic_store(&stop, 1);
	CHECK(pthread_join(id, NULL) == 0);
	tdm_ledger_close(ledger);
}

/* As an allocator does at most: its own work takes time, too. */
static void *report_with_pauses(void *context)
{
	for (uint64_t i = 0; !atomic_load((_Atomic int *)context); i++) {
		report_both(i);
		usleep(20);
	}
	return NULL;
}

static void readers_see_one(void)
{
	look_on(report_with_pauses, false);
}

static void fast_writer(void)
{
	look_on(report_for_ever, true);
}

static void report_first(void)
{
	report_both(0);
}

static void report_until_killed(void)
{
	_Atomic int never = 0;
	report_for_ever(&never);
}

static void check_both(struct tdm_ledger *ledger)
{
	size_t count;
	free(itest_buffers(ledger, 0, &count));
	CHECK_EQ(count, 2);
}

static void killed(void)
{
	itest_kill(KILLS, 3, report_first, report_until_killed, check_both);
}

static void check_usage(uint32_t kind, uint64_t bytes, uint64_t allocs, uint64_t rereports)
{
	struct tidemark_usage usage = TIDEMARK_USAGE_INIT;
	CHECK(tidemark_get_usage(0, kind, &usage) == 0);
	CHECK_EQ(usage.buffers, 1);
	CHECK_EQ(usage.bytes, bytes);
	CHECK_EQ(usage.peak_bytes, bytes);
	CHECK_EQ(usage.allocs, allocs);
	CHECK_EQ(usage.frees, allocs - 1);
	CHECK_EQ(usage.rereports, rereports);
}

/* A report that is refused leaves the live buffer as it is, with the phase tracker and without it. */
static void refused(void)
{
	CHECK(itest_alloc(0, TIDEMARK_L1, 5, 64, 1) == 0);
	CHECK(tidemark_report_cb(0, 64, 3, &cores) == 0);
	for (int round = 0; round < 2; round++) {
		if (round == 1)
			CHECK(tidemark_capture_begin(TIDEMARK_CAPTURE_NORMAL) == 0);
		CHECK(itest_alloc(0, TIDEMARK_L1, 5, UINT64_C(1) << 60, 1) == -EINVAL);
		CHECK(itest_alloc(0, TIDEMARK_L1, 5, UINT64_C(1) << 40, UINT32_MAX) == -EINVAL);
		CHECK(tidemark_report_cb(0, UINT64_C(1) << 60, 3, &cores) == -EINVAL);
		check_usage(TIDEMARK_L1, 64, 1, 0);
		check_usage(TIDEMARK_CB, 256, 1, 0);
	}
	struct tidemark_segment segment = TIDEMARK_SEGMENT_INIT;
	CHECK(itest_alloc(0, TIDEMARK_L1, 5, 96, 1) == 0);
	CHECK(tidemark_report_cb(0, 96, 3, &cores) == 0);
	check_usage(TIDEMARK_L1, 96, 2, 1);
	check_usage(TIDEMARK_CB, 384, 2, 0);
	CHECK(tidemark_capture_end("end") == 0 && tidemark_capture_get(0, &segment) == 0);
	CHECK_EQ(segment.l1_peak_buffer, 32); /* what it grew by */
	CHECK(tidemark_free(0, TIDEMARK_L1, 5) == 0 && tidemark_report_cb_free(0, 0, 3, &cores) == 0);
	CHECK_EQ(itest_live(0, TIDEMARK_L1) + itest_live(0, TIDEMARK_CB), 0);
}

static void check_cbs(uint64_t buffers, uint64_t bytes)
{
	struct tidemark_usage usage = TIDEMARK_USAGE_INIT;
	CHECK(tidemark_get_usage(0, TIDEMARK_CB, &usage) == 0);
	CHECK_EQ(usage.buffers, buffers);
	CHECK_EQ(usage.bytes, bytes);
}

/* Number and cores identify a circular buffer: two programs on disjoint cores both have a number 0. */
static void cb_identity(void)
{
	const struct tidemark_core_range left = { 0, 0, 3, 7 }, right = { 4, 0, 7, 7 }, one = { 0, 0, 0, 0 };
	struct tidemark_usage usage = TIDEMARK_USAGE_INIT;
	CHECK(tidemark_report_cb(0, 100, 0, &left) == 0);
	CHECK(tidemark_report_cb(0, 200, 0, &right) == 0);
	check_cbs(2, 32 * 300);
	CHECK(tidemark_report_cb(0, 50, 0, &left) == 0); /* the next program there */
	check_cbs(2, 32 * 250);
	CHECK(tidemark_report_cb(0, 7, 0, &one) == 0); /* other cores, though they overlap: another one */
	CHECK(tidemark_report_cb(0, 9, 0, NULL) == 0); /* cores not known: another one, too */
	check_cbs(4, 32 * 250 + 16);
	CHECK(tidemark_report_cb_free(0, 0, 0, &right) == 0);
	check_cbs(3, 32 * 50 + 16);
	CHECK(tidemark_report_cb_free(0, 0, 0, &right) == -ENOENT);
	CHECK(tidemark_report_cb_free(0, 0, 1, NULL) == -ENOENT);

	/* Without cores: all with this number, and nothing else. */
	struct tidemark_buffer other = TIDEMARK_BUFFER_INIT;
	other.kind = TIDEMARK_CB;
	other.bytes = 1000;
	CHECK(tidemark_report_cb(0, 3, 5, &left) == 0 && tidemark_alloc(&other) == 0);
	CHECK(tidemark_report_cb_free(0, 0, 0, NULL) == 0);
	check_cbs(2, 32 * 3 + 1000);
	CHECK(tidemark_report_cb_free(0, 0, 0, NULL) == -ENOENT);
	CHECK(tidemark_get_usage(0, TIDEMARK_CB, &usage) == 0);
	CHECK_EQ(usage.rereports, 0);
	CHECK_EQ(usage.double_frees + usage.unknown_frees, 3);
}

int main(int argc, char **argv)
{
	static const struct itest tests[] = {
		{ "readers_see_one", readers_see_one, NULL },
		{ "fast_writer", fast_writer, NULL },
		{ "killed", killed, NULL },
		{ "refused", refused, NULL },
		{ "cb_identity", cb_identity, NULL },
		{ 0 },
	};
	return itest_main(argc, argv, tests);
}
