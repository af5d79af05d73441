/*
 * The follower of a program whose ledger is deleted: it goes on with the new one, and never shows both.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "own_folder.h"
#include "../unit/follow.h"
#include "tidemark.h"

enum { LIVE = 300, PAUSE_US = 5000 };

static int set_up(void **state)
{
	(void)state;
	return own_folder_make();
}

static void report(uint64_t id)
{
	const struct tidemark_buffer buffer = { .size = sizeof buffer, .id = id, .bytes = 64, .banks = 1 };
	if (tidemark_alloc(&buffer) != 0)
		_exit(1);
}

/* Says when it has reported, waits for a word, and says when its ledger is there again. */
static _Noreturn void run_program(int from, int to)
{
	char word;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	tidemark_enable();
	for (uint64_t i = 1; i <= LIVE; i++)
		report(i);
	while (write(to, "", 1) == 1 && read(from, &word, 1) == 1)
		while (access(tidemark_ledger_path(), F_OK) != 0) {
			report(1 + LIVE);
			tidemark_free(0, 0, 1 + LIVE);
			usleep(PAUSE_US);
		}
	exit(0);
}

static void check_shown(const struct follow *f)
{
	assert_int_equal(f->fold.count, 1);
	assert_int_equal(f->fold.processes[0]->who.life, TDM_LIFE_RUNS);
	assert_int_equal(f->fold.processes[0]->holding_count, 1);
	assert_int_equal(fold_buffers(f->fold.processes[0]->holdings[0]), LIVE);
}

static void follow_renewed(bool keeps_gone, bool is_listed_between)
{
	static struct follow f;
	int to[2], from[2];
	char word;
	assert_true(pipe(to) == 0 && pipe(from) == 0);
	pid_t pid = fork();
	if (pid == 0) {
		close(to[1]);
		run_program(to[0], from[1]);
	}
	assert_int_equal(read(from[0], &word, 1), 1);
	follow_init(&f, (struct tdm_follow_options){ .dir = own_folder, .keeps_gone = keeps_gone }, TDM_FOLLOW_BUFFERS);
	follow_look(&f);
	for (int round = 0; round < 2; round++) {
		follow_look_after(&f, 1);
		check_shown(&f);
		assert_int_equal(unlink(f.fold.processes[0]->place), 0);
		if (is_listed_between) {
			follow_look(&f);
			if (keeps_gone)
				check_shown(&f);
			else
				assert_int_equal(f.fold.count, 0); /* there is nothing to see */
		}
		assert_int_equal(write(to[1], "", 1), 1);
		assert_int_equal(read(from[0], &word, 1), 1);
		/* At once, not with the next listing, unless that is the only way to find it. */
		follow_look_after(&f, is_listed_between && !keeps_gone ? 1000 * TDM_NS_PER_S : 1);
		check_shown(&f);
		assert_int_equal(tdm_follower_deaths(f.follower), 0);
		assert_int_equal(follow_problems(&f), 0);
	}
	follow_done(&f);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	for (int i = 0; i < 2; i++) {
		close(to[i]);
		close(from[i]);
	}
}

static void the_new_one_follows(void **state)
{
	(void)state;
	follow_renewed(false, false);
}

static void also_where_gone_ones_are_kept(void **state)
{
	(void)state;
	follow_renewed(true, false);
}

static void also_after_a_listing_without_it(void **state)
{
	(void)state;
	follow_renewed(false, true);
}

static void also_after_both(void **state)
{
	(void)state;
	follow_renewed(true, true);
}

static int clear(void **state)
{
	char command[128];
	(void)state;
	snprintf(command, sizeof command, "rm -rf '%s'/*", own_folder);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(the_new_one_follows, clear),
		cmocka_unit_test_teardown(also_where_gone_ones_are_kept, clear),
		cmocka_unit_test_teardown(also_after_a_listing_without_it, clear),
		cmocka_unit_test_teardown(also_after_both, clear),
	};
	return cmocka_run_group_tests(tests, set_up, own_folder_remove);
}
