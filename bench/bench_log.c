/*
 * Profiling a log of 1 GB, in which one line in a hundred is about memory, against grep counting the lines with one
 * fixed string in the same file. Both run as whole processes, in turn, with the file in the page cache.
 * TIDEMARK_BENCH_LOG_MB sets its size.
 */
#include "bench.h"

#include "base/clock.h"

#include <inttypes.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DEFAULT_MB = 1000, ROUNDS = 5, BLOCK_LINES = 4096 };
static const double goal = 0.5; /* of grep's speed */

extern char **environ;

static void die(const char *what)
{
	perror(what);
	exit(2);
}

/* A typical line of a debug log. */
static void boring_line(FILE *file, uint64_t n, uint64_t r)
{
	switch (r % 6) {
	case 0:
		fprintf(file,
			"LLRuntime | /home/user/.cache/tt-metal-cache/%" PRIu64 "/firmware/brisc/brisc.elf: phdr[%u]: "
			"[0x6000,+0x24/0x24)@0x94 (tt_elffile.cpp:461)\n",
			r, (unsigned)(r % 4));
		break;
	case 1:
		fprintf(file,
			"   Fabric | TopologyMapper: verifying mapping of %" PRIu64
			" entries (topology_mapper.cpp:1734)\n",
			n % 64);
		break;
	case 2:
		fprintf(file, "    Metal | AI CLK for device %u is: %u MHz (risc_firmware_initializer.cpp:166)\n",
			(unsigned)(r % 32), (unsigned)(r % 1000));
		break;
	case 3:
		fprintf(file,
			"Distributed | SystemMesh: Global shape: MeshShape([%u, %u]), Local offset: MeshCoordinate([0, "
			"0]) "
			"(system_mesh.cpp:98)\n",
			(unsigned)(r % 8), (unsigned)(r % 4));
		break;
	case 4:
		fprintf(file,
			" Dispatch | enqueue of workload %" PRIu64
			" on queue %u finished (mesh_command_queue.cpp:77)\n",
			n, (unsigned)(r % 2));
		break;
	default:
		fprintf(file, "      Op | tensor %" PRIu64 " shape [1, 1, %u, %u] moves to host (tensor_ops.cpp:210)\n",
			n, (unsigned)(r % 4096), (unsigned)(r / 7 % 4096));
		break;
	}
}

static void memory_line(FILE *file, uint64_t r)
{
	uint64_t bytes = (1 + r % 4096) * 2048;
	switch (r % 4) {
	case 0:
	case 1:
		fprintf(file,
			"    Metal | SHM record_%s: pid=%u, type=%s, size=%" PRIu64 " B (%" PRIu64
			" KB), chip_id=0, device_id=%u, asic_id=0x0 (memory_stats_shm.cpp:315)\n",
			r / 4 % 2 ? "allocation" : "deallocation", (unsigned)(1000 + r % 3), r / 8 % 2 ? "DRAM" : "L1",
			bytes, bytes / 1024, (unsigned)(r % 8));
		break;
	case 2:
		fprintf(file, "     Test | cb_push_back(CB%u, %u)\n", (unsigned)(r / 4 % 32), (unsigned)(1 + r % 4));
		break;
	default:
		if (r % 1000 == 3)
			fprintf(file,
				"   Always | TT_FATAL: Out of Memory: Not enough space to allocate %" PRIu64
				" B DRAM buffer across 12 banks, where each bank needs to store %" PRIu64
				" B, but bank size is 1072603072 B (allocated: 88064 B, free: 1072515008 B, largest "
				"free block: "
				"1072515008 B) (assert.hpp:104)\n",
				bytes * 12, bytes);
		else
			fprintf(file, "   Always | Begin op: ttnn::op_%u (graph_processor.cpp:99)\n",
				(unsigned)(r / 4 % 50));
		break;
	}
}

/* Repeats a block of lines: writing the file is not measured. */
static void write_log(const char *path, uint64_t bytes)
{
	char *block = NULL;
	size_t len = 0;
	uint64_t seed = UINT64_C(0x853c49e6748fea9b);
	FILE *memory = open_memstream(&block, &len);
	FILE *file = fopen(path, "w");
	if (memory == NULL || file == NULL)
		die("bench: log");
	for (uint64_t n = 0; n < BLOCK_LINES; n++) {
		uint64_t r = bench_random(&seed);
		fprintf(memory, "2026-01-31 12:%02u:%02u.%03u | debug    | ", (unsigned)(n / 100 % 60),
			(unsigned)(n / 10 % 60), (unsigned)(n % 1000));
		if (n % 100 == 50)
			memory_line(memory, r);
		else
			boring_line(memory, n, r);
	}
	fclose(memory);
	for (uint64_t put = 0; put < bytes; put += len)
		if (fwrite(block, 1, len, file) != len)
			die("bench: log");
	free(block);
	if (fclose(file) != 0)
		die("bench: log");
}

static uint64_t run_command(char *const argv[])
{
	posix_spawn_file_actions_t actions;
	pid_t pid;
	int status = -1;
	/* Not /dev/null: grep would notice that and stop at the first match. */
	int out = memfd_create("bench", MFD_CLOEXEC);
	if (out < 0)
		die("bench: output");
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
	uint64_t from = tdm_clock_ns();
	if (posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ) != 0 || waitpid(pid, &status, 0) != pid)
		die(argv[0]);
	uint64_t ns = tdm_clock_ns() - from;
	posix_spawn_file_actions_destroy(&actions);
	close(out);
	if (!WIFEXITED(status) || WEXITSTATUS(status) > 1) {
		fprintf(stderr, "bench: %s failed\n", argv[0]);
		exit(2);
	}
	return ns;
}

static void log_run(struct bench *bench)
{
	static const char row[] = "log.profile";
	char command[PATH_MAX + 16], path[PATH_MAX];
	char grep[] = "grep", count[] = "-c", string[] = "Out of Memory", log[] = "log", locale[] = "LC_ALL=C",
	     env[] = "env";
	const char *mb = getenv("TIDEMARK_BENCH_LOG_MB"), *dir = getenv("TMPDIR");
	uint64_t bytes = (mb != NULL ? strtoull(mb, NULL, 10) : DEFAULT_MB) * 1000 * 1000, ours = UINT64_MAX,
		 theirs = UINT64_MAX;
	if (!bench_wants(bench, row))
		return;
	snprintf(path, sizeof path, "%s/tidemark-bench-XXXXXX", dir != NULL ? dir : "/tmp");
	int fd = mkstemp(path);
	if (fd < 0)
		die("bench: temporary file");
	close(fd);
	snprintf(command, sizeof command, "%s/tidemark", bench_bin_dir(bench));
	write_log(path, bytes);
	char *const our_argv[] = { command, log, path, NULL };
	char *const their_argv[] = { env, locale, grep, count, string, path, NULL };
	for (int round = 0; round <= ROUNDS; round++) { /* the first one fills the page cache */
		uint64_t a = run_command(our_argv), b = run_command(their_argv);
		ours = round != 0 && a < ours ? a : ours;
		theirs = round != 0 && b < theirs ? b : theirs;
	}
	unlink(path);
	bench_put(bench, &(struct bench_row){ row, "GB/s", (double)bytes / (double)ours, (double)bytes / (double)theirs,
				 goal, true, "grep -c of one string, same file" });
}

const struct bench_subject bench_log = {
	.name = "log",
	.summary = "profiling a log of 1 GB with the command, against grep",
	.run = log_run,
};
