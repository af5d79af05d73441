/* Following a log with the real command: the log grows, is truncated and rotated, and the command ends when told to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WAIT_MS = 60000 };

extern char **environ;

struct run {
	char dir[64], log[80], rotated[96];
	pid_t pid;
	int out;
	char text[8192]; /* what it printed so far */
	size_t len;
};

static void put(const char *path, const char *text, int flags)
{
	int fd = open(path, O_WRONLY | O_CREAT | flags, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

static int set_up(void **state)
{
	static struct run run;
	int ends[2];
	char option[] = "-f", name[] = "tidemark", command[] = "log";
	posix_spawn_file_actions_t actions;
	run = (struct run){ .out = -1 };
	snprintf(run.dir, sizeof run.dir, "/tmp/tidemark-follow-XXXXXX");
	if (mkdtemp(run.dir) == NULL || pipe(ends) != 0)
		return -1;
	snprintf(run.log, sizeof run.log, "%s/log", run.dir);
	snprintf(run.rotated, sizeof run.rotated, "%s/log.1", run.dir);
	put(run.log, "", O_TRUNC);
	char *argv[] = { name, command, option, run.log, NULL };
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addclose(&actions, ends[0]);
	int err = posix_spawn(&run.pid, TDM_TEST_BIN "/tidemark", &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(ends[1]);
	run.out = ends[0];
	*state = &run;
	return err;
}

static int tear_down(void **state)
{
	struct run *run = *state;
	if (run->pid > 0) {
		kill(run->pid, SIGKILL);
		waitpid(run->pid, NULL, 0);
	}
	close(run->out);
	unlink(run->log);
	unlink(run->rotated);
	return rmdir(run->dir);
}

/* Reads on until the text has been printed; fails when it does not come. */
static void expect(struct run *run, const char *wanted)
{
	while (strstr(run->text, wanted) == NULL) {
		struct pollfd fd = { .fd = run->out, .events = POLLIN };
		if (poll(&fd, 1, WAIT_MS) != 1)
			fail_msg("'%s' did not come; so far:\n%s", wanted, run->text);
		ssize_t got = read(run->out, run->text + run->len, sizeof run->text - 1 - run->len);
		if (got <= 0)
			fail_msg("the command ended before '%s':\n%s", wanted, run->text);
		run->len += (size_t)got;
		run->text[run->len] = '\0';
	}
}

static void a_growing_log(void **state)
{
	struct run *run = *state;
	put(run->log, "cb_push_back(1, 1)\nnothing\ncb_pop_front(1, 1", O_APPEND); /* it was empty */
	expect(run, "1  cb_push       CB1, 1 tile\n");
	assert_null(strstr(run->text, "cb_pop")); /* that line is not whole yet */
	put(run->log, ")\nworker kernel started\n", O_APPEND);
	expect(run, "3  cb_pop        CB1, 1 tile\n");
	expect(run, "4  kernel_start  worker\n");

	put(run->log, "cb_push_back(2, 5)\n", O_TRUNC); /* shorter than what was read */
	expect(run, "1  cb_push       CB2, 5 tiles\n");

	assert_int_equal(rename(run->log, run->rotated), 0);
	put(run->rotated, "cb_push_back(3, 6)\n", O_APPEND); /* the program still has the old file open */
	expect(run, "2  cb_push       CB3, 6 tiles\n");
	put(run->log, "one\ncb_push_back(4, 7)\n", O_TRUNC);
	expect(run, "2  cb_push       CB4, 7 tiles\n");

	int status;
	assert_int_equal(kill(run->pid, SIGINT), 0);
	assert_int_equal(waitpid(run->pid, &status, 0), run->pid);
	run->pid = 0;
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_growing_log, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
