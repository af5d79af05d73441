/* How long Prometheus waits for /metrics on a busy machine, and whether that grows with the number of buffers. */
#include "bench.h"
#include "live_load.h"
#include "server_run.h"

#include "base/clock.h"
#include "base/number.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	SCRAPES = 11,
	SCRAPE_PAUSE_MS = 600 /* longer than a picture is kept */,
	FEW_BUFFERS = 10000,
	MANY_BUFFERS = 1000000
};

static struct sockaddr_in place(uint16_t port)
{
	return (struct sockaddr_in){
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons(port)
	};
}

/* A port that is free now; 0: none. */
static uint16_t free_port(void)
{
	struct sockaddr_in here = place(0);
	socklen_t size = sizeof here;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || bind(fd, (struct sockaddr *)&here, sizeof here) != 0 ||
		getsockname(fd, (struct sockaddr *)&here, &size) != 0)
		here.sin_port = 0;
	if (fd >= 0)
		close(fd);
	return ntohs(here.sin_port);
}

/* The nanoseconds from connecting to the last byte of a complete answer; 0: there was none. */
static uint64_t scrape(uint16_t port)
{
	static const char request[] = "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
	static const char good[] = "HTTP/1.1 200";
	struct sockaddr_in to = place(port);
	char block[65536], head[sizeof good] = "";
	uint64_t begin = tdm_clock_ns();
	size_t bytes = 0;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to) != 0 ||
		send(fd, request, sizeof request - 1, MSG_NOSIGNAL) != (ssize_t)sizeof request - 1)
		goto out;
	for (ssize_t got; (got = recv(fd, block, sizeof block, 0)) > 0; bytes += (size_t)got)
		if (bytes == 0)
			snprintf(head, sizeof head, "%.*s", (int)got, block);
out:
	if (fd >= 0)
		close(fd);
	return strcmp(head, good) == 0 ? tdm_clock_ns() - begin : 0;
}

/* The median of some scrapes in milliseconds; 0 with the reason when there were none. */
static double scrape_machine(struct bench *bench, uint64_t buffers, const char **why)
{
	const struct bench_load_plan machine = { .devices = 32, .processes = 200, .buffers = buffers, .busy = 10 };
	struct bench_load load;
	struct bench_server server = { 0 };
	uint64_t times[SCRAPES] = { 0 };
	uint16_t port = free_port();
	char number[16];
	const char *args[] = { "--http-port", number, NULL };
	snprintf(number, sizeof number, "%u", (unsigned)port);
	if (bench_load_start(&load, &machine, why)) {
		const struct bench_server_plan plan = { BENCH_OURS, true, bench_bin_dir(bench), args, load.env, false };
		*why = "tidemarkd does not answer on HTTP";
		bool runs = bench_server_start(&server, &plan);
		for (size_t i = 0; runs && i < SCRAPES; i++) {
			usleep(SCRAPE_PAUSE_MS * 1000);
			times[i] = scrape(port);
			runs = times[i] != 0;
		}
	}
	bench_server_stop(&server);
	bench_load_stop(&load);
	qsort(times, SCRAPES, sizeof *times, tdm_order_u64);
	return times[0] != 0 ? (double)times[SCRAPES / 2] / 1e6 : 0;
}

void bench_server_scrape(struct bench *bench)
{
	static const char row[] = "server.scrape", growth[] = "server.scrape_growth";
	const char *why = "";
	if (!bench_wants(bench, row) && !bench_wants(bench, growth))
		return;
	double many = scrape_machine(bench, MANY_BUFFERS, &why);
	double few = many > 0 ? scrape_machine(bench, FEW_BUFFERS, &why) : 0;
	if (few <= 0) {
		bench_leave_out(bench, row, why);
		return;
	}
	bench_put(bench, &(struct bench_row){ .name = row,
				 .unit = "ms",
				 .ours = many,
				 .baseline = 10,
				 .goal = 1,
				 .note = "limit: 32 devices, 200 processes, 1,000,000 buffers" });
	bench_put(bench, &(struct bench_row){ .name = growth,
				 .unit = "times",
				 .ours = many / few,
				 .baseline = 1.5,
				 .goal = 1,
				 .note = "limit: 1,000,000 buffers beside 10,000" });
}
