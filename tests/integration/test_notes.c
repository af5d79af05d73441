/* Counters and remarks of a process, with threads, forked children and a ledger that is made anew. */
#include "told_program.h"

#include <pthread.h>
#include <stdatomic.h>

#if defined(__SANITIZE_THREAD__)
/* The copy that is made while others count is a race on purpose: what it misses is added afterwards. */
enum { RENEWALS = 0 };
#else
enum { RENEWALS = 3 };
#endif
enum { THREADS = 4, COUNTS = 20000 };

static uint64_t note_of(const struct tdm_picture *picture, const struct tdm_picture_process *process, const char *name)
{
	for (size_t i = 0; i < process->note_count; i++)
		if (strcmp(tdm_picture_text(picture, process->notes[i].text), name) == 0)
			return process->notes[i].is_remark ? UINT64_MAX - 1 : process->notes[i].value;
	return UINT64_MAX;
}

static _Atomic bool is_renewed;
static _Atomic uint64_t counted; /* a note of its own, which the program shows as well */

/* Counts until the ledger has been made anew, and a little longer. */
static void *count_many(void *counter)
{
	uint64_t count = 0;
	for (uint64_t last = UINT64_MAX; count < last; count++) {
		must(tidemark_count(*(uint32_t *)counter, 1));
		if (last == UINT64_MAX && atomic_load(&is_renewed))
			last = count + COUNTS;
	}
	atomic_fetch_add(&counted, count);
	return NULL;
}

static void renew_ledger(void)
{
	char before[256];
	snprintf(before, sizeof before, "%s", tidemark_ledger_path());
	must(unlink(before));
	while (strcmp(before, tidemark_ledger_path()) == 0) {
		add(TIDEMARK_DRAM, 99, 64, NULL);
		drop(TIDEMARK_DRAM, 99);
		usleep(1000);
	}
}

/* Threads count while the ledger is deleted and made anew. */
static void count_in_threads(void)
{
	uint32_t counter = tidemark_counter("metal:allocate_buffer");
	pthread_t threads[THREADS];
	must(counter == 0 || tidemark_counter("metal:allocate_buffer") != counter);
	must(tidemark_remark("metal: a symbol is missing"));
	must(tidemark_remark("metal: a symbol is missing"));
	add(TIDEMARK_DRAM, 1, 64, NULL);
	for (int i = 0; i < THREADS; i++)
		must(pthread_create(&threads[i], NULL, count_many, &counter));
	for (int i = 0; i < RENEWALS; i++)
		renew_ledger();
	atomic_store(&is_renewed, true);
	for (int i = 0; i < THREADS; i++)
		must(pthread_join(threads[i], NULL));
	must(tidemark_count(tidemark_counter("counted"), counted));
}

static void test_no_count_is_lost(void **unused)
{
	(void)unused;
	struct running running = run(count_in_threads);
	struct tdm_state *state = state_of(false);
	const struct tdm_picture *picture = look(state, 0);
	const struct tdm_picture_process *process = process_of(picture, running.pid);
	assert_int_equal(process->note_count, 3);
	assert_int_equal(note_of(picture, process, "metal:allocate_buffer"), note_of(picture, process, "counted"));
	assert_true(note_of(picture, process, "metal: a symbol is missing") == UINT64_MAX - 1);
	tdm_state_free(state);
	stop(&running);
}

static void count_in_child(void)
{
	uint32_t first = tidemark_counter("first"), second = tidemark_counter("second");
	int ends[2];
	char word;
	must(tidemark_count(first, 5));
	must(tidemark_count(second, 6));
	must(tidemark_remark("said before the fork"));
	capture(1);
	must(pipe(ends));
	if (fork() == 0) { /* with the parent's numbers, and without its traces */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		must(tidemark_count(second, 1));
		add(TIDEMARK_DRAM, 1, 64, NULL);
		must(write(ends[1], "", 1) != 1);
		for (;;)
			pause();
	}
	must(read(ends[0], &word, 1) != 1);
}

static void test_child_counts_for_itself(void **unused)
{
	(void)unused;
	struct running running = run(count_in_child);
	struct tdm_state *state = state_of(false);
	const struct tdm_picture *picture = look(state, 0);
	assert_int_equal(picture->process_count, 2);
	const struct tdm_picture_process *parent = process_of(picture, running.pid),
					 *other = parent == picture->processes ? parent + 1 : picture->processes;
	assert_int_equal(note_of(picture, parent, "first"), 5);
	assert_int_equal(note_of(picture, parent, "second"), 6);
	assert_true(note_of(picture, other, "first") == UINT64_MAX);
	assert_int_equal(note_of(picture, other, "second"), 1);
	assert_true(note_of(picture, other, "said before the fork") == UINT64_MAX - 1);
	assert_int_equal(holding_of(picture, other->pid)->told.hazard_count, 0);
	kill(other->pid, SIGKILL);
	tdm_state_free(state);
	stop(&running);
}

static void name_too_many(void)
{
	char name[32];
	for (unsigned i = 0; i < 255; i++) {
		snprintf(name, sizeof name, "counter %u", i);
		uint32_t counter = tidemark_counter(name);
		must(counter == 0);
		must(tidemark_count(counter, i));
	}
	must(tidemark_counter("one too many") != 0);
	must(tidemark_count(0, 1)); /* which nobody has to check */
	must(tidemark_count(256, 1) == 0);
}

static void test_at_most_255_counters(void **unused)
{
	(void)unused;
	struct running running = run(name_too_many);
	struct tdm_state *state = state_of(false);
	const struct tdm_picture *picture = look(state, 0);
	const struct tdm_picture_process *process = process_of(picture, running.pid);
	assert_int_equal(process->note_count, 255);
	assert_int_equal(note_of(picture, process, "counter 254"), 254);
	tdm_state_free(state);
	stop(&running);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_no_count_is_lost, clear),
		cmocka_unit_test_teardown(test_child_counts_for_itself, clear),
		cmocka_unit_test_teardown(test_at_most_255_counters, clear),
	};
	return cmocka_run_group_tests(tests, set_up, own_folder_remove);
}
