/*
 * The load of the threads bench as a program of its own, linked statically, to be carried to a machine with many cores:
 *
 *     cmake --build --preset release --target tidemark-bench-threads
 *     TIDEMARK=1 TIDEMARK_DIR=DIR build/bin/tidemark-bench-threads [THREADS]...
 */
#include "threads_load.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void print(enum threads_side side, unsigned threads)
{
	struct threads_figures f = { 0 };
	char path[64];
	snprintf(path, sizeof path, "/dev/shm/tidemark-bench-threads.%d", (int)getpid());
	const char *problem = threads_load_run(side, threads, path, &f);
	if (problem != NULL)
		printf("%2u threads %-8s %s\n", threads, threads_side_names[side], problem);
	else
		printf("%2u threads %-8s %7.1f ns/event %7.2f Mevents/s  p99.9 %8.1f us  longest %8.1f us  "
		       "%6.2f hand-overs %6.2f naps per 1,000\n",
			threads, threads_side_names[side], f.event_ns, 1000 / f.event_ns, f.p999_ns / 1000,
			f.longest_ns / 1000, f.handovers, f.naps);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	static const unsigned defaults[] = { 1, 2, 4, 8, 16, 32 };
	int count = argc > 1 ? argc - 1 : (int)(sizeof defaults / sizeof *defaults);
	for (int i = 0; i < count; i++)
		for (int side = 0; side < THREADS_SIDES; side++) {
			pid_t pid = fork(); /* each measurement has its own process, and its own ledger */
			if (pid == 0) {
				print((enum threads_side)side,
					argc > 1 ? (unsigned)strtoul(argv[i + 1], NULL, 10) : defaults[i]);
				exit(0);
			}
			waitpid(pid, NULL, 0);
		}
	return 0;
}
