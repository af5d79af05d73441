/* The phase tracker: its sums, its cumulative figures, its errors, many threads, fork, signals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tracker_steps.h"
#include "client/client.h"
#include "tidemark.h"

static struct tidemark_segment find(const char *name)
{
	struct tidemark_segment segment = TIDEMARK_SEGMENT_INIT;
	memset(&segment, 0xa5, sizeof(segment));
	segment.size = sizeof(segment);
	assert_int_equal(tidemark_capture_find(name, &segment), 0);
	assert_string_equal(segment.name, name);
	return segment;
}

static void expect_dram(const char *name, int64_t peak, int64_t allocations, int64_t deallocations)
{
	struct tidemark_segment segment = find(name);
	assert_int_equal(segment.dram_peak, peak);
	assert_int_equal(segment.dram_allocations, allocations);
	assert_int_equal(segment.dram_deallocations, deallocations);
}

static void expect_l1(const char *name, int64_t cb, int64_t buffer, int64_t total)
{
	struct tidemark_segment segment = find(name);
	assert_int_equal(segment.l1_peak_cb, cb);
	assert_int_equal(segment.l1_peak_buffer, buffer);
	assert_int_equal(segment.l1_peak_total, total);
}

static void dram_is_counted_from_the_start_of_a_segment(void **state)
{
	(void)state;
	begin(TIDEMARK_CAPTURE_NORMAL);
	alloc_dram(1000);
	alloc_dram(500);
	free_dram(1000);
	tdm_tracker_alloc(TIDEMARK_TRACE, 100, 10, false);
	tdm_tracker_alloc(TIDEMARK_DRAM, 7777, 7777, true);
	tdm_tracker_free(TIDEMARK_DRAM, 7777, 7777, true);
	snapshot("first");
	free_dram(500);
	alloc_dram(200);
	snapshot("second");
	alloc_dram(50);
	assert_int_equal(tidemark_capture_end("third"), 0);
	assert_int_equal(tidemark_capture_is_active(), 0);

	expect_dram("first", 1500, 1600, 1000);
	expect_dram("second", 0, 200, 500); /* below its start all the time */
	expect_dram("third", 50, 50, 0);
	assert_int_equal(find("first").dram_cumulative_peak, 1500);
	assert_int_equal(find("first").dram_cumulative_current, 600);
	assert_int_equal(find("second").dram_cumulative_peak, 1500);
	assert_int_equal(find("second").dram_cumulative_current, 300);
	assert_int_equal(find("third").dram_cumulative_peak, 1500);
	assert_int_equal(find("third").dram_cumulative_current, 350);
}

static void l1_is_counted_per_core(void **state)
{
	(void)state;
	begin(TIDEMARK_CAPTURE_NORMAL);
	tdm_tracker_alloc(TIDEMARK_CB, 64 * 4096, 4096, false);
	tdm_tracker_alloc(TIDEMARK_CB, 64 * 4096, 4096, true); /* globally allocated */
	tdm_tracker_alloc(TIDEMARK_L1, 64 * 2048, 2048, false);
	tdm_tracker_alloc(TIDEMARK_L1_SMALL, 64 * 32, 32, false);
	tdm_tracker_alloc(TIDEMARK_DFB, 512, 512, false);
	tdm_tracker_alloc(TIDEMARK_SCRATCHPAD, 256, 256, false);
	tdm_tracker_alloc(TIDEMARK_KERNEL, 9999, 9999, false);
	tdm_tracker_alloc(TIDEMARK_SYSTEM, 9999, 9999, false);
	tdm_tracker_alloc(TIDEMARK_KIND_COUNT + 5, 9999, 9999, false);
	tdm_tracker_free(TIDEMARK_CB, 64 * 4096, 4096, false);
	tdm_tracker_alloc(TIDEMARK_L1, 64 * 1024, 1024, false);
	snapshot("program");
	expect_l1("program", 4096, 3104, 4096 + 2048 + 32 + 512 + 256);
	expect_dram("program", 0, 0, 0);
	struct tidemark_segment segment = find("program");
	assert_int_equal(segment.l1_peak_dfb, 512);
	assert_int_equal(segment.l1_peak_scratchpad, 256);
	assert_int_equal(tidemark_capture_get(1, &segment), -ERANGE);
}

/* The runtime releases the circular buffers of the program before: that brings their sum to 0, not below. Buffers do go
 * below. */
static void what_a_program_held_before_is_no_credit(void **state)
{
	(void)state;
	begin(TIDEMARK_CAPTURE_NORMAL);
	tdm_tracker_alloc(TIDEMARK_CB, 5000, 5000, false);
	tdm_tracker_alloc(TIDEMARK_L1, 3000, 3000, false);
	snapshot("first");
	tdm_tracker_free(TIDEMARK_CB, 5000, 5000, false);
	tdm_tracker_alloc(TIDEMARK_CB, 1000, 1000, false);
	snapshot("second");
	tdm_tracker_free(TIDEMARK_L1, 3000, 3000, false);
	tdm_tracker_alloc(TIDEMARK_L1, 1000, 1000, false);
	snapshot("third");
	expect_l1("first", 5000, 3000, 8000);
	expect_l1("second", 1000, 0, 1000);
	expect_l1("third", 0, 0, 0);
}

/* What tests of the tracker that is followed here expect of an element-wise operation and of programs that follow each
 * other. */
static void known_programs_have_known_peaks(void **state)
{
	(void)state;
	begin(TIDEMARK_CAPTURE_NO_DISPATCH);
	for (int program = 0; program < 2; program++) {
		for (int i = 0; i < 3; i++)
			tdm_tracker_alloc(TIDEMARK_CB, 4096, 4096, false);
		tdm_tracker_alloc(TIDEMARK_L1, 6144, 2048, false);
		for (int i = 0; i < 3; i++)
			tdm_tracker_free(TIDEMARK_CB, 4096, 4096, false);
		tdm_tracker_free(TIDEMARK_L1, 6144, 2048, false);
	}
	snapshot("add");
	tdm_tracker_alloc(TIDEMARK_CB, 1024, 1024, false);
	tdm_tracker_alloc(TIDEMARK_DFB, 2048, 2048, false);
	tdm_tracker_alloc(TIDEMARK_SCRATCHPAD, 512, 512, false);
	tdm_tracker_free(TIDEMARK_CB, 1024, 1024, false);
	tdm_tracker_free(TIDEMARK_DFB, 2048, 2048, false);
	tdm_tracker_free(TIDEMARK_SCRATCHPAD, 512, 512, false);
	snapshot("dataflow");
	expect_l1("add", 12288, 2048, 14336);
	expect_l1("dataflow", 1024, 0, 3584);
}

static void names_may_repeat(void **state)
{
	(void)state;
	struct tidemark_segment segment = TIDEMARK_SEGMENT_INIT;
	begin(TIDEMARK_CAPTURE_NORMAL);
	alloc_dram(8192);
	snapshot("repeated");
	alloc_dram(524288);
	snapshot("repeated");
	snapshot("unique");
	assert_int_equal(tidemark_capture_count(), 3);
	assert_int_equal(tidemark_capture_count_named("repeated"), 2);
	assert_int_equal(tidemark_capture_count_named("unique"), 1);
	assert_int_equal(tidemark_capture_count_named("none"), 0);
	assert_int_equal(tidemark_capture_count_named(NULL), 0);
	assert_int_equal(tidemark_capture_find("repeated", &segment), TIDEMARK_ETRACE_AMBIGUOUS);
	assert_int_equal(tidemark_capture_find("no_such_trace", &segment), TIDEMARK_ETRACE_NOT_FOUND);
	assert_int_equal(tidemark_capture_find("unique", &segment), 0);
	const int64_t allocations[] = { 8192, 524288, 0 };
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(tidemark_capture_get(i, &segment), 0);
		assert_string_equal(segment.name, i < 2 ? "repeated" : "unique");
		assert_int_equal(segment.dram_allocations, allocations[i]);
	}
	assert_int_equal(tidemark_capture_get(3, &segment), -ERANGE);
	assert_int_equal(tidemark_capture_get(SIZE_MAX, &segment), -ERANGE);
}

static void wrong_calls_are_answered(void **state)
{
	(void)state;
	assert_int_equal(tidemark_capture_snapshot("X"), TIDEMARK_ECAPTURE_INACTIVE);
	assert_int_equal(tidemark_capture_end("X"), 0);
	assert_int_equal(tidemark_capture_count(), 0);
	assert_int_equal(tidemark_capture_begin(2), -EINVAL);
	assert_int_equal(tidemark_capture_begin(-1), -EINVAL);
	begin(TIDEMARK_CAPTURE_NORMAL);
	assert_int_equal(tdm_tracker_mode(), TDM_TRACKER_NORMAL);
	assert_int_equal(tidemark_capture_begin(TIDEMARK_CAPTURE_NORMAL), TIDEMARK_ECAPTURE_ACTIVE);
	assert_int_equal(tidemark_capture_snapshot(NULL), -EINVAL);
	assert_int_equal(tidemark_capture_clear(), 0);
	assert_int_equal(tidemark_capture_is_active(), 0);
	assert_int_equal(tdm_tracker_mode(), TDM_TRACKER_NONE);
	assert_int_equal(tidemark_capture_snapshot("X"), TIDEMARK_ECAPTURE_INACTIVE);
	begin(TIDEMARK_CAPTURE_NO_DISPATCH);
	assert_int_equal(tdm_tracker_mode(), TDM_TRACKER_NO_DISPATCH);

	assert_string_equal(tidemark_strerror(TIDEMARK_ECAPTURE_ACTIVE), "MemoryUsageTracker: Capture already active");
	assert_string_equal(tidemark_strerror(TIDEMARK_ECAPTURE_INACTIVE),
		"MemoryUsageTracker: Cannot snapshot - capture is not active");
	assert_non_null(tidemark_strerror(TIDEMARK_ETRACE_NOT_FOUND));
	assert_non_null(tidemark_strerror(TIDEMARK_ETRACE_AMBIGUOUS));
}

/* Events outside a session count for none; segments of several sessions line up until they are cleared. */
static void sessions_follow_each_other(void **state)
{
	(void)state;
	alloc_dram(1);
	begin(TIDEMARK_CAPTURE_NORMAL);
	alloc_dram(10);
	assert_int_equal(tidemark_capture_end("one"), 0);
	alloc_dram(100);
	begin(TIDEMARK_CAPTURE_NO_DISPATCH);
	alloc_dram(1000);
	assert_int_equal(tidemark_capture_end("two"), 0);
	expect_dram("one", 10, 10, 0);
	expect_dram("two", 1000, 1000, 0);
	assert_int_equal(find("two").dram_cumulative_peak, 1010);
	assert_int_equal(tidemark_capture_clear(), 0);
	assert_int_equal(tidemark_capture_count(), 0);
	begin(TIDEMARK_CAPTURE_NORMAL);
	alloc_dram(5);
	snapshot("three");
	assert_int_equal(find("three").dram_cumulative_peak, 5);
}

static void absurd_sizes_stop_at_a_limit(void **state)
{
	(void)state;
	begin(TIDEMARK_CAPTURE_NORMAL);
	for (int i = 0; i < 3; i++) {
		alloc_dram(UINT64_MAX);
		tdm_tracker_alloc(TIDEMARK_L1, 1, UINT64_MAX, false);
		tdm_tracker_alloc(TIDEMARK_CB, 1, UINT64_MAX, false);
	}
	snapshot("up");
	for (int i = 0; i < 3; i++) {
		free_dram(UINT64_MAX);
		tdm_tracker_free(TIDEMARK_L1, 1, UINT64_MAX, false);
		tdm_tracker_free(TIDEMARK_CB, 1, UINT64_MAX, false);
	}
	snapshot("down");
	expect_dram("up", INT64_MAX, INT64_MAX, 0);
	expect_l1("up", INT64_MAX, INT64_MAX, INT64_MAX);
	expect_dram("down", 0, 0, INT64_MAX);
	expect_l1("down", 0, 0, 0);
	(void)tidemark_capture_format(NULL, 0);
}

static void long_and_odd_names_are_kept(void **state)
{
	(void)state;
	char *name = malloc(TDM_TRACKER_NAME_MAX + 1);
	assert_non_null(name);
	memset(name, 'n', TDM_TRACKER_NAME_MAX);
	name[TDM_TRACKER_NAME_MAX] = '\0';
	begin(TIDEMARK_CAPTURE_NORMAL);
	alloc_dram(1);
	assert_int_equal(tidemark_capture_snapshot(name), -ENAMETOOLONG);
	snapshot("");
	name[TDM_TRACKER_NAME_MAX - 1] = '\0';
	snapshot(name);
	snapshot("%s%n {} \n\xff");
	expect_dram("", 1, 1, 0); /* the segment that could not be named went on */
	find(name);
	find("%s%n {} \n\xff");
	(void)tidemark_capture_format(NULL, 0);
	free(name);
}

static void there_is_a_limit_of_segments(void **state)
{
	(void)state;
	for (int round = 0; round < 2; round++) {
		begin(TIDEMARK_CAPTURE_NORMAL);
		char name[32];
		for (int i = 0; i < TDM_TRACKER_SEGMENT_MAX; i++) {
			snprintf(name, sizeof(name), "SEGMENT__%06d", i);
			alloc_dram((uint64_t)i);
			snapshot(name);
		}
		assert_int_equal(tidemark_capture_snapshot("more"), -ENOSPC);
		assert_int_equal(tidemark_capture_is_active(), 1);
		assert_int_equal(tidemark_capture_end("more"), -ENOSPC);
		assert_int_equal(tidemark_capture_is_active(), 0);
		assert_int_equal(tidemark_capture_count(), TDM_TRACKER_SEGMENT_MAX);
		expect_dram("SEGMENT__000000", 0, 0, 0);
		expect_dram("SEGMENT__031337", 31337, 31337, 0);
		expect_dram("SEGMENT__065535", 65535, 65535, 0);
		assert_int_equal(tidemark_capture_clear(), 0);
	}
	begin(TIDEMARK_CAPTURE_NORMAL);
	char *name = malloc(TDM_TRACKER_NAME_MAX);
	assert_non_null(name);
	memset(name, 'n', TDM_TRACKER_NAME_MAX);
	name[TDM_TRACKER_NAME_MAX - 1] = '\0';
	int kept = 0;
	while (tidemark_capture_snapshot(name) == 0)
		kept++;
	assert_in_range(kept, 16, 1024);
	assert_int_equal(tidemark_capture_snapshot(name), -ENOSPC);
	free(name);
}

enum { THREADS = 8, EVENTS = 20000, SNAPSHOTS = 500 };

static _Atomic int threads_running;

static void *hammer(void *arg)
{
	uint64_t size = 1 + *(const uint64_t *)arg;
	for (int i = 0; i < EVENTS; i++) {
		alloc_dram(size);
		tdm_tracker_alloc(TIDEMARK_CB, size, size, false);
		tdm_tracker_free(TIDEMARK_CB, size, size, false);
		if (i % 4 != 0)
			free_dram(size);
	}
	atomic_fetch_sub(&threads_running, 1);
	return NULL;
}

static void many_threads_lose_nothing(void **state)
{
	(void)state;
	pthread_t threads[THREADS];
	uint64_t numbers[THREADS];
	int64_t allocated = 0, freed = 0;
	begin(TIDEMARK_CAPTURE_NORMAL);
	atomic_store(&threads_running, THREADS);
	for (uint64_t i = 0; i < THREADS; i++) {
		numbers[i] = i;
		allocated += (int64_t)(i + 1) * EVENTS;
		freed += (int64_t)(i + 1) * (EVENTS - EVENTS / 4);
		assert_int_equal(pthread_create(&threads[i], NULL, hammer, &numbers[i]), 0);
	}
	struct tidemark_segment segment = TIDEMARK_SEGMENT_INIT;
	for (int i = 0; i < SNAPSHOTS && atomic_load(&threads_running) > 0; i++) {
		snapshot(i % 2 == 0 ? "EVEN" : "ODD");
		assert_int_equal(tidemark_capture_get((size_t)i, &segment), 0);
		(void)tidemark_capture_find("EVEN", &segment);
		char text[512];
		if (i % 50 == 0)
			(void)tidemark_capture_format(text, sizeof(text));
	}
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	assert_int_equal(tidemark_capture_end(NULL), 0);

	for (size_t i = 0; tidemark_capture_get(i, &segment) == 0; i++) {
		allocated -= segment.dram_allocations;
		freed -= segment.dram_deallocations;
		assert_in_range(segment.l1_peak_cb, 0, THREADS * (THREADS + 1) / 2);
		assert_true(segment.dram_peak >= 0 && segment.dram_peak <= segment.dram_allocations);
	}
	assert_int_equal(allocated, 0);
	assert_int_equal(freed, 0);
	assert_int_equal(tdm_tracker_missed(), 0);
}

static void *compete(void *arg)
{
	int *begun = arg;
	for (int i = 0; i < 300; i++) {
		int err = tidemark_capture_begin(i % 2);
		if (err == 0)
			++*begun;
		else if (err != TIDEMARK_ECAPTURE_ACTIVE)
			return arg;
		err = tidemark_capture_snapshot("X");
		if (err != 0 && err != TIDEMARK_ECAPTURE_INACTIVE)
			return arg;
		alloc_dram(1);
		if (tidemark_capture_end(NULL) != 0 || (i % 10 == 0 && tidemark_capture_clear() != 0))
			return arg;
	}
	return NULL;
}

static void threads_may_compete_for_the_session(void **state)
{
	(void)state;
	pthread_t threads[THREADS];
	int begun[THREADS] = { 0 }, sum = 0;
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, compete, &begun[i]), 0);
	for (int i = 0; i < THREADS; i++) {
		void *failed;
		assert_int_equal(pthread_join(threads[i], &failed), 0);
		assert_null(failed);
		sum += begun[i];
	}
	assert_true(sum > 0);
	assert_int_equal(tidemark_capture_is_active(), 0);
}

static _Atomic int fired;

static void on_alarm(int number)
{
	(void)number;
	alloc_dram(1);
	(void)tidemark_capture_snapshot("SIGNAL");
	atomic_fetch_add(&fired, 1);
}

/* A handler that interrupts the tracker in its own thread must not wait for itself. */
static void a_signal_handler_does_not_hang(void **state)
{
	(void)state;
	struct sigaction action = { .sa_handler = on_alarm, .sa_flags = SA_RESTART }, old;
	assert_int_equal(sigaction(SIGUSR1, &action, &old), 0);
	begin(TIDEMARK_CAPTURE_NORMAL);
	pid_t parent = getpid();
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		for (int i = 0; i < 2000; i++) {
			kill(parent, SIGUSR1);
			usleep(20);
		}
		_exit(0);
	}
	int64_t sent = 0;
	while (waitpid(child, NULL, WNOHANG) == 0) {
		for (int i = 0; i < 100; i++, sent++)
			alloc_dram(1);
		if (tidemark_capture_count() < SNAPSHOTS)
			(void)tidemark_capture_snapshot("MAIN");
	}
	assert_int_equal(sigaction(SIGUSR1, &old, NULL), 0);
	assert_int_equal(tidemark_capture_end(NULL), 0);
	assert_true(fired > 0);
	struct tidemark_segment segment = TIDEMARK_SEGMENT_INIT;
	int64_t seen = 0;
	for (size_t i = 0; tidemark_capture_get(i, &segment) == 0; i++)
		seen += segment.dram_allocations;
	assert_int_equal(seen + (int64_t)tdm_tracker_missed(), sent + fired);
}

static void the_child_of_a_fork_starts_without_a_session(void **state)
{
	(void)state;
	begin(TIDEMARK_CAPTURE_NORMAL);
	alloc_dram(10);
	snapshot("parent");
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		tdm_tracker_after_fork();
		int bad = tidemark_capture_is_active() != 0 || tidemark_capture_count() != 0 ||
			  tdm_tracker_mode() != TDM_TRACKER_NONE ||
			  tidemark_capture_begin(TIDEMARK_CAPTURE_NORMAL) != 0;
		alloc_dram(3);
		struct tidemark_segment segment = TIDEMARK_SEGMENT_INIT;
		bad |= tidemark_capture_end("child") != 0 || tidemark_capture_find("child", &segment) != 0 ||
		       segment.dram_allocations != 3 || segment.dram_cumulative_peak != 3;
		_exit(bad);
	}
	int status;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	assert_int_equal(tidemark_capture_is_active(), 1);
	alloc_dram(1);
	snapshot("parent still");
	expect_dram("parent still", 1, 1, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(dram_is_counted_from_the_start_of_a_segment, start),
		cmocka_unit_test_setup(l1_is_counted_per_core, start),
		cmocka_unit_test_setup(what_a_program_held_before_is_no_credit, start),
		cmocka_unit_test_setup(known_programs_have_known_peaks, start),
		cmocka_unit_test_setup(names_may_repeat, start),
		cmocka_unit_test_setup(wrong_calls_are_answered, start),
		cmocka_unit_test_setup(sessions_follow_each_other, start),
		cmocka_unit_test_setup(absurd_sizes_stop_at_a_limit, start),
		cmocka_unit_test_setup(long_and_odd_names_are_kept, start),
		cmocka_unit_test_setup(there_is_a_limit_of_segments, start),
		cmocka_unit_test_setup(many_threads_lose_nothing, start),
		cmocka_unit_test_setup(threads_may_compete_for_the_session, start),
		cmocka_unit_test_setup(a_signal_handler_does_not_hang, start),
		cmocka_unit_test_setup(the_child_of_a_fork_starts_without_a_session, start),
	};
	return cmocka_run_group_tests_name("tracker", tests, make_directory, remove_directory);
}
