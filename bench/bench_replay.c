/*
 * Replaying a text trace with the real command, as a user would: 1.2 million requests with 10,000 live buffers,
 * including reading and parsing.
 */
#include "bench.h"

#include "base/clock.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LIVE = 10000, OPS = 1200000, ROUNDS = 5, STEP = 32, STEPS = 65536 / STEP };
static const double limit_mops = 3;

extern char **environ;

static void die(const char *what)
{
	perror(what);
	exit(2);
}

/*
 * Allocates LIVE buffers, then keeps freeing a random one and allocating another with a new name, OPS requests in all.
 */
static void write_trace(const char *path)
{
	FILE *file = fopen(path, "w");
	uint32_t *names = malloc(LIVE * sizeof *names), next = 0;
	uint64_t seed = UINT64_C(0x9e3779b97f4a7c15);
	if (file == NULL || names == NULL)
		die("bench: trace");
	fprintf(file, "region base=0 size=%" PRIu64 " align=32 min=32 policy=first\n", UINT64_C(12) << 30);
	for (uint32_t ops = 0; ops < OPS; ops++) {
		size_t victim = ops < LIVE ? ops : bench_random(&seed) % LIVE;
		if (ops >= LIVE) {
			fprintf(file, "free b%" PRIu32 "\n", names[victim]);
			ops++;
		}
		names[victim] = next++;
		fprintf(file, "alloc b%" PRIu32 " %" PRIu64 " bottom\n", names[victim],
			(1 + bench_random(&seed) % STEPS) * STEP);
	}
	free(names);
	if (fclose(file) != 0)
		die("bench: trace");
}

static uint64_t run_command(const char *command, const char *trace)
{
	char *argv[] = { strdup("tidemark"), strdup("simulate"), strdup("--trace"), strdup(trace), NULL };
	posix_spawn_file_actions_t actions;
	pid_t pid;
	int status;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	uint64_t from = tdm_clock_ns();
	if (posix_spawn(&pid, command, &actions, NULL, argv, environ) != 0 || waitpid(pid, &status, 0) != pid)
		die(command);
	uint64_t ns = tdm_clock_ns() - from;
	posix_spawn_file_actions_destroy(&actions);
	for (size_t i = 0; argv[i] != NULL; i++)
		free(argv[i]);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
		fprintf(stderr, "bench: %s failed\n", command);
		exit(2);
	}
	return ns;
}

static void replay_run(struct bench *bench)
{
	static const char row[] = "replay.text";
	char command[PATH_MAX + 16], trace[] = "/tmp/tidemark-bench-XXXXXX";
	if (!bench_wants(bench, row))
		return;
	int fd = mkstemp(trace);
	if (fd < 0)
		die("bench: temporary file");
	close(fd);
	snprintf(command, sizeof command, "%s/tidemark", bench_bin_dir(bench));
	write_trace(trace);
	uint64_t fastest = UINT64_MAX;
	for (int round = 0; round < ROUNDS; round++) {
		uint64_t ns = run_command(command, trace);
		fastest = ns < fastest ? ns : fastest;
	}
	unlink(trace);
	bench_put(bench, &(struct bench_row){ row, "Mop/s", OPS / ((double)fastest / 1e9) / 1e6, limit_mops, 1, true,
				 "limit; 1.2 million requests, 10,000 live" });
}

const struct bench_subject bench_replay = {
	.name = "replay",
	.summary = "replaying a text trace with the command, parsing included",
	.run = replay_run,
};
