/*
 * The daemon: serves instrumented programs on a socket, writes a ledger for each (clients.h), and answers over HTTP
 * (http.h). Everything runs in one loop and one thread, except that a second thread answers connections that only ask
 * questions (connection.c).
 */
#ifndef TDM_DAEMON_DAEMON_H
#define TDM_DAEMON_DAEMON_H

#include <stdbool.h>
#include <stdint.h>

struct tdm_daemon_options {
	const char *socket;        /* socket path; NULL for TDM_WIRE_SOCKET */
	const char *short_socket;  /* path of a socket for messages of 14, 17 and 21 bytes, or NULL */
	const char *helper_socket; /* path of a socket for messages of 32 bytes, or NULL */
	const char *dir;           /* directory of the ledgers; NULL for $TIDEMARK_DIR, else /dev/shm */
	uint32_t socket_mode;      /* permissions of the socket */
	bool quiet;                /* do not print a line for each event */
	bool replace;              /* take over another daemon's socket */
	bool daemonize;
	const char *log; /* file for the output of a daemon in the background, or NULL */
	/* Limits on ended clients' ledgers; 0 for the default of archive.h. */
	uint64_t dead_bytes;    /* in memory */
	uint64_t archive_bytes; /* on disk */
	uint64_t archive_age_ns;
	uint64_t statistics_ns; /* interval between printed statistics; 0: only on request */
	/* HTTP (http.h): */
	bool no_http;
	const char *http_host;   /* NULL for 127.0.0.1 */
	uint32_t http_port;      /* 0 for 9740, in which case a port in use is only a warning */
	const char *http_socket; /* path of a Unix socket besides the port, or NULL */
	const char *token_file;  /* file with the bearer token, or NULL */
	const char *http_hosts;  /* more allowed Host names, separated by commas, or NULL */
	bool process_metrics;    /* include a series for each process, for readers who may see it */
	/* metric families of other exporters to add, such as "tt-exporter,tt-telemetry", or NULL */
	const char *metric_names;
	/* how long to watch buffers before judging them; 0 for the default, UINT64_MAX for never */
	uint64_t leak_watch_ns;
};

/* Runs until a signal ends it. 0, or a negative code after a message on standard error. */
int tdm_daemon_run(const struct tdm_daemon_options *options);

#endif
