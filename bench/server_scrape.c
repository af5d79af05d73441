/* How long Prometheus waits for /metrics on a busy machine, and whether that grows with the number of buffers. How long
 * a client waits for a query while the daemon looks at thousands of copied ledgers. */
#include "bench.h"
#include "live_load.h"
#include "server_run.h"

#include "base/clock.h"
#include "base/number.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	SCRAPES = 11,
	SCRAPE_PAUSE_MS = 600 /* longer than a picture is kept */,
	FEW_BUFFERS = 10000,
	MANY_BUFFERS = 1000000,
	HOSTILE = 3000, /* copied ledgers */
	HOSTILE_BUFFERS = 64,
	FIRST_PID = 1 << 21,
	CROWD = 800, /* slow connections */
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
static uint64_t get(uint16_t port, const char *page)
{
	char request[128];
	static const char good[] = "HTTP/1.1 200";
	struct sockaddr_in to = place(port);
	char block[65536], head[sizeof good] = "";
	uint64_t begin = tdm_clock_ns();
	size_t bytes = 0;
	int len = snprintf(
		request, sizeof request, "GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", page);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to) != 0 ||
		send(fd, request, (size_t)len, MSG_NOSIGNAL) != len)
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
			times[i] = get(port, "/metrics");
			runs = times[i] != 0;
		}
	}
	bench_server_stop(&server);
	bench_load_stop(&load);
	qsort(times, SCRAPES, sizeof *times, tdm_order_u64);
	return times[0] != 0 ? (double)times[SCRAPES / 2] / 1e6 : 0;
}

/* Copies a file without its empty blocks. */
static bool copy_file(const char *from, const char *to)
{
	enum { BLOCK = 4096 };
	static const char empty[BLOCK];
	char block[BLOCK];
	off_t at = 0;
	ssize_t got = 0;
	int in = open(from, O_RDONLY | O_CLOEXEC), out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	bool went_well = in >= 0 && out >= 0;
	for (; went_well && (got = pread(in, block, sizeof block, at)) > 0; at += got)
		went_well = (got == BLOCK && memcmp(block, empty, BLOCK) == 0) ||
			    pwrite(out, block, (size_t)got, at) == got;
	went_well = went_well && got == 0 && ftruncate(out, at) == 0;
	if (in >= 0)
		close(in);
	if (out >= 0)
		close(out);
	return went_well;
}

/* Copies a client's ledger many times. */
static bool copy_ledgers(const struct bench_server *server)
{
	char folder[160], from[320] = "", to[320];
	const struct dirent *entry;
	snprintf(folder, sizeof folder, "%s/tidemark-%u", server->ledgers, (unsigned)geteuid());
	DIR *stream = opendir(folder);
	while (stream != NULL && from[0] == '\0' && (entry = readdir(stream)) != NULL)
		if (entry->d_name[0] != '.')
			snprintf(from, sizeof from, "%s/%.128s", folder, entry->d_name);
	if (stream != NULL)
		closedir(stream);
	for (unsigned i = 0; i < HOSTILE; i++) {
		snprintf(to, sizeof to, "%s/%u.1.0", folder, FIRST_PID + i);
		if (!copy_file(from, to))
			return false;
	}
	return true;
}

/* Scrapes again and again, each time with a new picture, until it is killed. */
static pid_t start_scraper(uint16_t port)
{
	pid_t pid = fork();
	while (pid == 0) {
		get(port, "/metrics");
		usleep(SCRAPE_PAUSE_MS * 1000);
	}
	return pid;
}

static void query_beside_hostile_ledgers(struct bench *bench)
{
	static const char row[] = "server.query_hostile";
	const struct bench_feed feed = { 1, 1, HOSTILE_BUFFERS, HOSTILE_BUFFERS };
	struct bench_clients clients = { .go = -1, .done = -1 };
	struct bench_query_times times;
	struct bench_server server = { 0 };
	uint16_t port = free_port();
	char number[16];
	const char *args[] = { "--http-port", number, NULL };
	const struct bench_server_plan plan = { BENCH_OURS, true, bench_bin_dir(bench), args, NULL, false };
	pid_t scraper = -1;
	if (!bench_wants(bench, row))
		return;
	snprintf(number, sizeof number, "%u", (unsigned)port);
	bool went_well = bench_server_start(&server, &plan) && bench_clients_start(&clients, &server, &feed);
	if (went_well)
		bench_clients_go(&clients);
	went_well = went_well && bench_clients_wait(&clients) && copy_ledgers(&server);
	if (went_well)
		scraper = start_scraper(port);
	went_well = went_well && bench_server_query(&server, true, &times);
	if (scraper > 0) {
		kill(scraper, SIGKILL);
		waitpid(scraper, NULL, 0);
	}
	bench_clients_stop(&clients);
	bench_server_stop(&server);
	if (went_well)
		bench_put(bench, &(struct bench_row){ .name = row,
					 .unit = "us",
					 .ours = times.query_us,
					 .baseline = 5000,
					 .goal = 1,
					 .note = "limit: 5 ms for 99 % of queries, each on a new connection, beside "
						 "3,000 copied ledgers" });
	else
		bench_leave_out(bench, row, "the ledgers cannot be copied, or tidemarkd does not answer");
}

/* A health check beside connections that come all at once, send half a request and are more than the daemon keeps open.
 */
static void check_beside_slow_clients(struct bench *bench)
{
	static const char row[] = "server.http_crowd";
	uint16_t port = free_port();
	struct sockaddr_in to = place(port);
	char number[16];
	const char *args[] = { "--http-port", number, NULL };
	const struct bench_server_plan plan = { BENCH_OURS, true, bench_bin_dir(bench), args, NULL, false };
	struct bench_server server = { 0 };
	uint64_t times[SCRAPES] = { 0 };
	int crowd[CROWD];
	if (!bench_wants(bench, row))
		return;
	snprintf(number, sizeof number, "%u", (unsigned)port);
	bool runs = bench_server_start(&server, &plan);
	for (size_t i = 0; runs && i < SCRAPES; i++) {
		for (size_t k = 0; k < CROWD; k++) {
			crowd[k] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
			runs &= crowd[k] >= 0;
			if (connect(crowd[k], (struct sockaddr *)&to, sizeof to) == 0)
				send(crowd[k], "GET /", 5, MSG_NOSIGNAL);
		}
		times[i] = get(port, "/healthz");
		runs &= times[i] != 0;
		for (size_t k = 0; k < CROWD; k++)
			if (crowd[k] >= 0)
				close(crowd[k]);
	}
	bench_server_stop(&server);
	qsort(times, SCRAPES, sizeof *times, tdm_order_u64);
	if (runs)
		bench_put(bench, &(struct bench_row){ .name = row,
					 .unit = "ms",
					 .ours = (double)times[SCRAPES - 1] / 1e6,
					 .baseline = 100,
					 .goal = 1,
					 .note = "limit: the slowest health check beside 800 slow connections" });
	else
		bench_leave_out(bench, row, "tidemarkd does not answer on HTTP");
}

void bench_server_scrape(struct bench *bench)
{
	static const char row[] = "server.scrape", growth[] = "server.scrape_growth";
	const char *why = "";
	check_beside_slow_clients(bench);
	query_beside_hostile_ledgers(bench);
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
