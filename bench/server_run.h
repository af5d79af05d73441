/*
 * Servers for the server bench, ours and the original's design, and the clients that feed them. A server has a
 * directory of its own for its socket and its ledgers, and writes its log to /dev/null.
 */
#ifndef TDM_BENCH_SERVER_RUN_H
#define TDM_BENCH_SERVER_RUN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum bench_server_kind { BENCH_ORIGINAL, BENCH_OURS, BENCH_SERVERS };

struct bench_server {
	char root[64], socket[96], ledgers[96];
	pid_t pid; /* 0: not running */
};

struct bench_server_plan {
	enum bench_server_kind kind;
	bool quiet;
	const char *bin_dir;          /* of tidemarkd */
	const char *const *more_args; /* NULL-terminated; NULL: none */
	const char *const *env;       /* "NAME=value", NULL-terminated; NULL: none */
	bool peeks;                   /* the original only: looks at messages first (original_server.h) */
};

/* Whether tidemarkd has been built. */
bool bench_server_exists(const char *bin_dir);

/* Returns when it answers. False when it does not; call bench_server_stop in both cases. */
bool bench_server_start(struct bench_server *server, const struct bench_server_plan *plan);
void bench_server_stop(struct bench_server *server);

uint64_t bench_server_private_bytes(const struct bench_server *server); /* 0: unknown */
uint64_t bench_server_ledger_bytes(const struct bench_server *server);
uint64_t bench_server_cpu_ns(const struct bench_server *server);

enum { BENCH_CLIENTS_MAX = 64 };

struct bench_feed {
	uint32_t clients, batch; /* messages per call */
	uint64_t messages;       /* of all clients together */
	uint64_t live;           /* buffers of each client that are live at a time */
};

struct bench_clients {
	pid_t pids[BENCH_CLIENTS_MAX];
	uint32_t count;
	int go, done; /* pipes */
};

/* Starts clients that have connected and wait. */
bool bench_clients_start(struct bench_clients *clients, const struct bench_server *server, const struct bench_feed *f);
/* Lets them send. When they are done they stay connected, and wait. */
void bench_clients_go(const struct bench_clients *clients);
/* Waits until the server has handled every message. False when a client failed. */
bool bench_clients_wait(const struct bench_clients *clients);
/* Ends them at once. */
void bench_clients_stop(struct bench_clients *clients);

/* The rows about /metrics (server_scrape.c). */
struct bench;
void bench_server_scrape(struct bench *bench);

#endif
