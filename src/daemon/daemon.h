/*
 * The daemon: serves instrumented programs on a socket, writes a ledger for each (clients.h), and answers over HTTP
 * (http.h). Everything is called from one loop, in one thread; only connections that do nothing but ask are answered by
 * another (quick_replies.h).
 */
#ifndef TDM_DAEMON_DAEMON_H
#define TDM_DAEMON_DAEMON_H

#include <stdbool.h>
#include <stdint.h>

struct tdm_daemon_options {
	const char *socket;        /* path; NULL: TDM_WIRE_SOCKET */
	const char *short_socket;  /* for messages of 14, 17 and 21 bytes; NULL: none */
	const char *helper_socket; /* for messages of 32 bytes; NULL: none */
	const char *dir;           /* of the ledgers; NULL: $TIDEMARK_DIR, else /dev/shm */
	uint32_t socket_mode;      /* permissions of the socket */
	bool quiet;                /* no line for each event */
	bool replace;              /* take over the socket of another daemon */
	bool daemonize;
	const char *log; /* file for the output of a daemon in the background; NULL: none */
	/* Of ledgers of ended clients; 0: the default of ledger_archive.h. */
	uint64_t dead_bytes;    /* in memory */
	uint64_t archive_bytes; /* on disk */
	uint64_t archive_age_ns;
	uint64_t statistics_ns; /* how often to print statistics; 0: only when asked */
	/* HTTP (http.c) */
	bool no_http;
	const char *http_host;    /* NULL: 127.0.0.1 */
	uint32_t http_port;       /* 0: 9740, and a taken port is only a warning */
	const char *http_socket;  /* a Unix socket, too; NULL: none */
	const char *token_file;   /* the bearer token; NULL: none */
	const char *http_hosts;   /* more names that the header Host may have, with commas between them; NULL: none */
	bool process_metrics;     /* a series for each process, for those who may see it */
	const char *metric_names; /* families of other exporters: "tt-exporter,tt-telemetry"; NULL: none */
	uint64_t
		leak_watch_ns; /* how long buffers are watched before they are judged; 0: as usual; UINT64_MAX: never */
};

/* Runs until a signal ends it. 0, or a negative code after it has said why on the standard error output. */
int tdm_daemon_run(const struct tdm_daemon_options *options);

#endif
