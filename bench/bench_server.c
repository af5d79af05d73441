/*
 * The daemon beside the design of the first allocation server (original_server.h), fed the same messages by the same
 * clients: events per second, the time that a query takes meanwhile, memory, scrapes, and what it costs when nothing
 * happens.
 */
#include "bench.h"
#include "server_run.h"
#include "wire_send.h"

#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	RUNS = 3,
	MESSAGES = 2000000,
	MESSAGES_PEEKED = 100000, /* for a server that looks at each message first: its rate is low, and steady */
	LIVE = 64,                /* buffers of each client in the measurements of speed */
	QUERIES = 2000,
	QUERY_S = 5, /* no more queries after that, if there were enough */
	QUERIES_MIN = 200,
	QUERY_PAUSE_US = 500,
	MESSAGE = 72,
	BATCH = 64,
	MANY_BUFFERS = 1000000,
	HOLDERS = 8, /* clients that hold them */
	IDLE_CLIENTS = 64,
	IDLE_S = 10,
};

static const char no_daemon[] = "tidemarkd is not built, or does not start";

static int order_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return x < y ? -1 : x > y;
}

/* Sorts. */
static double quantile(double *values, size_t count, double share)
{
	qsort(values, count, sizeof *values, order_doubles);
	return values[(size_t)((double)(count - 1) * share)];
}

/* Starts a server, feeds it, and stops it. Thousands of events a second; 0 when that failed. */
static double feed_once(const struct bench_server_plan *plan, const struct bench_feed *feed)
{
	struct bench_server server;
	struct bench_clients clients = { .go = -1, .done = -1 };
	double rate = 0;
	if (bench_server_start(&server, plan) && bench_clients_start(&clients, &server, feed)) {
		uint64_t begin = tdm_clock_ns();
		bench_clients_go(&clients);
		if (bench_clients_wait(&clients))
			rate = (double)feed->messages / (double)(tdm_clock_ns() - begin) * 1e6;
	}
	bench_clients_stop(&clients);
	bench_server_stop(&server);
	return rate;
}

static void measure_speed(struct bench *bench)
{
	static const struct {
		const char *row, *note;
		uint32_t clients, batch;
		bool quiet, peeks;
		double goal;
	} modes[] = {
		{ "server.one_logged", "original; 1 client, 1 message a call, both log", 1, 1, false, false, 3 },
		{ "server.one_batched", "original; 1 client, 64 messages a call, both quiet", 1, BATCH, true, false,
			20 },
		{ "server.one_batched_latest", "original's latest version, which looks at each message first", 1, BATCH,
			true, true, 0 },
		{ "server.eight_logged", "original; 8 clients, 1 message a call, both log", 8, 1, false, false, 2 },
		{ "server.eight_batched", "original; 8 clients, 64 messages a call, both quiet", 8, BATCH, true, false,
			2 },
		{ "server.many_logged", "original; 64 clients, 1 message a call, both log", 64, 1, false, false, 2 },
		{ "server.many_batched", "original; 64 clients, 64 messages a call, both quiet", 64, BATCH, true, false,
			2 },
	};
	for (size_t m = 0; m < sizeof modes / sizeof *modes; m++) {
		double rates[BENCH_SERVERS][RUNS], worst = 1;
		if (!bench_wants(bench, modes[m].row))
			continue;
		for (size_t run = 0; run < RUNS; run++)
			for (enum bench_server_kind kind = 0; kind < BENCH_SERVERS && worst > 0; kind++) {
				const struct bench_server_plan plan = { kind, modes[m].quiet, bench_bin_dir(bench),
					NULL, NULL, modes[m].peeks };
				bool is_slow = modes[m].peeks && kind == BENCH_ORIGINAL;
				const struct bench_feed feed = { modes[m].clients, modes[m].batch,
					is_slow ? MESSAGES_PEEKED : MESSAGES, LIVE };
				rates[kind][run] = feed_once(&plan, &feed);
				worst = rates[kind][run] < worst ? rates[kind][run] : worst;
			}
		if (worst > 0)
			bench_put(bench, &(struct bench_row){ .name = modes[m].row,
						 .unit = "kevt/s",
						 .ours = quantile(rates[BENCH_OURS], RUNS, 0.5),
						 .baseline = quantile(rates[BENCH_ORIGINAL], RUNS, 0.5),
						 .goal = modes[m].goal,
						 .higher_is_better = true,
						 .note = modes[m].note });
		else
			bench_leave_out(bench, modes[m].row, no_daemon);
	}
}

/* The time in microseconds within which 99 of 100 queries are answered while clients flood the server; 0: failed. */
static double query_once(const struct bench_server_plan *plan, uint32_t floods)
{
	const struct bench_feed feed = { floods, 1, UINT64_MAX, LIVE };
	struct bench_server server;
	struct bench_clients clients = { .go = -1, .done = -1 };
	double times[QUERIES], result = 0;
	size_t count = 0;
	bool went_well = bench_server_start(&server, plan) && bench_clients_start(&clients, &server, &feed);
	int fd = went_well ? wire_connect(server.socket) : -1;
	if (fd >= 0)
		bench_clients_go(&clients);
	uint64_t until = tdm_clock_ns() + QUERY_S * TDM_NS_PER_S;
	while (fd >= 0 && went_well && count < QUERIES && (count < QUERIES_MIN || tdm_clock_ns() < until)) {
		struct tdm_wire_reply reply;
		usleep(QUERY_PAUSE_US);
		uint64_t begin = tdm_clock_ns();
		went_well = wire_ask(fd, MESSAGE, TDM_WIRE_QUERY, 0, &reply);
		times[count++] = (double)(tdm_clock_ns() - begin) / 1000;
	}
	if (fd >= 0 && went_well)
		result = quantile(times, count, 0.99);
	if (fd >= 0)
		close(fd);
	bench_clients_stop(&clients);
	bench_server_stop(&server);
	return result;
}

static void measure_queries(struct bench *bench)
{
	static const struct {
		const char *row, *limit_row;
		uint32_t floods;
		const char *note;
	} modes[] = {
		{ "server.query_8", "server.query_8_limit", 8, "original; 99 % of queries while 8 clients flood" },
		{ "server.query_64", NULL, 64, "original; 99 % of queries while 64 clients flood" },
	};
	for (size_t m = 0; m < sizeof modes / sizeof *modes; m++) {
		double times[BENCH_SERVERS][RUNS], worst = 1;
		if (!bench_wants(bench, modes[m].row))
			continue;
		for (size_t run = 0; run < RUNS; run++)
			for (enum bench_server_kind kind = 0; kind < BENCH_SERVERS && worst > 0; kind++) {
				const struct bench_server_plan plan = { kind, false, bench_bin_dir(bench), NULL, NULL,
					false };
				times[kind][run] = query_once(&plan, modes[m].floods);
				worst = times[kind][run] < worst ? times[kind][run] : worst;
			}
		if (worst <= 0) {
			bench_leave_out(bench, modes[m].row, no_daemon);
			continue;
		}
		double ours = quantile(times[BENCH_OURS], RUNS, 0.5);
		bench_put(bench, &(struct bench_row){ .name = modes[m].row,
					 .unit = "us",
					 .ours = ours,
					 .baseline = quantile(times[BENCH_ORIGINAL], RUNS, 0.5),
					 .note = modes[m].note });
		if (modes[m].limit_row != NULL)
			bench_put(bench, &(struct bench_row){ .name = modes[m].limit_row,
						 .unit = "us",
						 .ours = ours,
						 .baseline = 1000,
						 .goal = 1,
						 .note = "limit: 1 ms for 99 % of queries while 8 clients flood" });
	}
}

static void put_limit(
	struct bench *bench, const char *row, const char *unit, double ours, double limit, const char *note)
{
	bench_put(bench, &(struct bench_row){
				 .name = row, .unit = unit, .ours = ours, .baseline = limit, .goal = 1, .note = note });
}

/* The memory of a server with many live buffers. False when that failed. */
static bool fill(const struct bench_server_plan *plan, uint64_t *private_bytes, uint64_t *ledger_bytes)
{
	const struct bench_feed feed = { HOLDERS, BATCH, MANY_BUFFERS, MANY_BUFFERS / HOLDERS };
	struct bench_server server;
	struct bench_clients clients = { .go = -1, .done = -1 };
	bool went_well = bench_server_start(&server, plan) && bench_clients_start(&clients, &server, &feed);
	if (went_well) {
		bench_clients_go(&clients);
		went_well = bench_clients_wait(&clients);
		*private_bytes = bench_server_private_bytes(&server);
		*ledger_bytes = bench_server_ledger_bytes(&server);
	}
	bench_clients_stop(&clients);
	bench_server_stop(&server);
	return went_well && *private_bytes != 0;
}

static void measure_memory(struct bench *bench)
{
	static const char *const rows[] = { "server.memory", "server.private", "server.ledgers" };
	uint64_t private_bytes[BENCH_SERVERS], ledger_bytes[BENCH_SERVERS];
	if (!bench_wants(bench, rows[0]) && !bench_wants(bench, rows[1]) && !bench_wants(bench, rows[2]))
		return;
	for (enum bench_server_kind kind = 0; kind < BENCH_SERVERS; kind++) {
		const struct bench_server_plan plan = { kind, true, bench_bin_dir(bench), NULL, NULL, false };
		if (fill(&plan, &private_bytes[kind], &ledger_bytes[kind]))
			continue;
		bench_leave_out(bench, rows[0], no_daemon);
		return;
	}
	const double mib = 1 << 20;
	bench_put(bench, &(struct bench_row){ .name = rows[0],
				 .unit = "MiB",
				 .ours = (double)(private_bytes[BENCH_OURS] + ledger_bytes[BENCH_OURS]) / mib,
				 .baseline = (double)private_bytes[BENCH_ORIGINAL] / mib,
				 .note = "original's design; 1,000,000 live buffers, ledgers included" });
	put_limit(bench, rows[1], "MiB", (double)private_bytes[BENCH_OURS] / mib, 64,
		"limit: private memory with 1,000,000 live buffers");
	put_limit(bench, rows[2], "B", (double)ledger_bytes[BENCH_OURS] / MANY_BUFFERS, 128,
		"limit: bytes of ledger for each of 1,000,000 buffers");
}

static void measure_idle(struct bench *bench)
{
	static const char row[] = "server.idle";
	const struct bench_server_plan plan = { BENCH_OURS, false, bench_bin_dir(bench), NULL, NULL, false };
	const struct bench_feed feed = { IDLE_CLIENTS, 1, IDLE_CLIENTS * LIVE, LIVE };
	struct bench_server server;
	struct bench_clients clients = { .go = -1, .done = -1 };
	if (!bench_wants(bench, row))
		return;
	if (bench_server_start(&server, &plan) && bench_clients_start(&clients, &server, &feed)) {
		bench_clients_go(&clients);
		bench_clients_wait(&clients);
		sleep(1); /* what it does after the last event is not idling */
		uint64_t before = bench_server_cpu_ns(&server), begin = tdm_clock_ns();
		sleep(IDLE_S);
		double spent = (double)(bench_server_cpu_ns(&server) - before);
		double share = spent / (double)(tdm_clock_ns() - begin) * 100;
		put_limit(bench, row, "% core", share > 0 ? share : 1e-4, 0.1,
			"limit: with 64 clients that are connected and silent");
	} else {
		bench_leave_out(bench, row, no_daemon);
	}
	bench_clients_stop(&clients);
	bench_server_stop(&server);
}

static void run(struct bench *bench)
{
	measure_speed(bench);
	measure_queries(bench);
	measure_memory(bench);
	measure_idle(bench);
	bench_server_scrape(bench);
}

const struct bench_subject bench_server = {
	.name = "server",
	.summary = "the daemon beside the first allocation server: events, queries, memory, scrapes, idling",
	.run = run,
};
