/*
 * Many programs that report, for tests and measurements of the daemon.
 *
 * usage: crowd PROCESSES DEVICES BUFFERS
 *
 * Each process has BUFFERS buffers, spread over its devices, which it shares with the others. Prints "ready" and goes
 * on until its standard input ends.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tidemark.h"

static void report(unsigned first, unsigned devices, unsigned each, unsigned buffers)
{
	static const struct tidemark_region regions[] = {
		{ .kind = TIDEMARK_DRAM, .banks = 12, .base = 32, .bank_size = UINT64_C(1) << 30, .align = 32 },
	};
	for (unsigned i = 0; i < each; i++) {
		const struct tidemark_device device = { .size = sizeof device,
			.number = (first + i) % devices,
			.card = "n150",
			.chip_id = 1000 + (first + i) % devices,
			.has_chip_id = 1,
			.region_count = 1,
			.regions = regions };
		tidemark_describe_device(&device);
	}
	for (unsigned i = 0; i < buffers; i++) {
		const struct tidemark_buffer buffer = { .size = sizeof buffer,
			.device = (first + i % each) % devices,
			.kind = TIDEMARK_DRAM,
			.id = i + 1,
			.address = UINT64_C(1024) * i,
			.bytes = 1024,
			.bytes_per_bank = 96,
			.banks = 12 };
		tidemark_alloc(&buffer);
	}
}

int main(int argc, char **argv)
{
	int ready[2], over[2];
	char c;
	if (argc != 5 || pipe(ready) != 0 || pipe(over) != 0)
		return 2;
	unsigned count = (unsigned)atoi(argv[1]);
	for (unsigned i = 0; i < count; i++)
		if (fork() == 0) {
			close(over[1]);
			report(i, (unsigned)atoi(argv[2]), (unsigned)atoi(argv[3]), (unsigned)atoi(argv[4]));
			if (write(ready[1], "", 1) != 1)
				_exit(1);
			_exit(read(over[0], &c, 1) == 0 ? 0 : 1);
		}
	for (unsigned i = 0; i < count; i++)
		if (read(ready[0], &c, 1) != 1)
			return 1;
	printf("ready\n");
	fflush(stdout);
	while (read(STDIN_FILENO, &c, 1) > 0)
		;
	close(over[1]);
	while (wait(NULL) > 0)
		;
	return 0;
}
