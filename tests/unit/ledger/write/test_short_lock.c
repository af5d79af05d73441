/* The lock of the reporting side: taken, released, and waited for while others take turns. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "base/clock.h"
#include "ledger/layout/guest.h"

static void pause_ms(long ms)
{
	struct timespec time = { .tv_nsec = ms * (long)TDM_NS_PER_MS };
	nanosleep(&time, NULL);
}

static void taken_and_given(void **state)
{
	struct tdm_lock lock = { 0 };
	(void)state;
	for (int i = 0; i < 3; i++) {
		assert_true(tdm_lock_take(&lock));
		assert_true(tdm_lock_is_mine(&lock));
		tdm_lock_give(&lock);
		assert_false(tdm_lock_is_mine(&lock));
	}
	assert_true(tdm_lock_take(&lock));
	tdm_lock_reset(&lock);
	assert_true(tdm_lock_take(&lock));
}

/* Whoever does not give the lock back is waited for once. */
static void given_up(void **state)
{
	struct tdm_lock lock = { 0 };
	(void)state;
	assert_true(tdm_lock_take(&lock));
	assert_false(tdm_lock_take(&lock));
	assert_true((atomic_load(&lock.state) & TDM_LOCK_HOPELESS) != 0);
	for (int i = 0; i < 1000; i++) /* would take a quarter of an hour */
		assert_false(tdm_lock_take(&lock));
	tdm_lock_give(&lock);
	assert_true(tdm_lock_take(&lock));
	assert_true(tdm_lock_is_mine(&lock));
}

static void *take_and_end(void *context)
{
	assert_true(tdm_lock_take(context));
	return NULL;
}

/* A thread that ended with the lock in hand leaves it to the next one. */
static void holder_ended(void **state)
{
	struct tdm_lock lock = { 0 };
	pthread_t other;
	(void)state;
	assert_int_equal(pthread_create(&other, NULL, take_and_end, &lock), 0);
	assert_int_equal(pthread_join(other, NULL), 0);
	assert_false(tdm_lock_is_mine(&lock));
	assert_true(tdm_lock_take(&lock));
	assert_true(tdm_lock_is_mine(&lock) && atomic_load(&lock.is_broken));
}

/* Longer than one holder is waited for, the lock is taken at each look, by another one each time. */
static void *take_turns(void *context)
{
	struct tdm_lock *lock = context;
	uint64_t end = tdm_clock_ns() + TDM_NS_PER_S * 3 / 2;
	while (tdm_clock_ns() < end) {
		atomic_fetch_add(&lock->turns, 1);
		pause_ms(1);
	}
	tdm_lock_give(lock);
	return NULL;
}

static void hand_to_hand(void **state)
{
	struct tdm_lock lock = { 0 };
	pthread_t others;
	(void)state;
	assert_true(tdm_lock_take(&lock));
	assert_int_equal(pthread_create(&others, NULL, take_turns, &lock), 0);
	assert_true(tdm_lock_take(&lock));
	assert_int_equal(pthread_join(others, NULL), 0);
	assert_true(tdm_lock_is_mine(&lock));
}

enum { THREADS = 8, ROUNDS = 20000 };
static struct tdm_lock shared;
static uint64_t counted; /* guarded by shared */

static void *count(void *context)
{
	(void)context;
	for (int i = 0; i < ROUNDS; i++) {
		if (!tdm_lock_take(&shared))
			return NULL;
		counted++;
		tdm_lock_give(&shared);
	}
	return NULL;
}

static void many_threads(void **state)
{
	pthread_t ids[THREADS];
	(void)state;
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&ids[i], NULL, count, NULL), 0);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(ids[i], NULL), 0);
	assert_int_equal(counted, THREADS * ROUNDS);
	assert_int_equal(atomic_load(&shared.turns), THREADS * ROUNDS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(taken_and_given),
		cmocka_unit_test(given_up),
		cmocka_unit_test(holder_ended),
		cmocka_unit_test(hand_to_hand),
		cmocka_unit_test(many_threads),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
