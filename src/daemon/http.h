/*
 * The daemon's HTTP side: /metrics, /healthz, /readyz and the documents of /api/v1, on a TCP port and on a Unix socket.
 * docs/formats/http_api.md and docs/metrics.md describe them.
 *
 * libmicrohttpd reads requests and writes responses, without threads: its descriptor is one of our loop's. Nothing here
 * waits. Whatever takes long is done by a process of its own (worker.h), and its answer is sent as it comes (stream.h).
 *
 * A request has no body and at most HEADERS_MAX bytes; it must be complete SLOW_MS after the connection was opened or
 * the last request answered. When connections are nearly used up, the one that has been silent for longest is closed.
 */
#ifndef TDM_DAEMON_HTTP_H
#define TDM_DAEMON_HTTP_H

#include "daemon/daemon.h"
#include "daemon/loop.h"
#include "daemon/server_stats.h"
#include "state/state.h"

enum { TDM_HTTP_PORT = 9740 };

struct tdm_http;

struct tdm_http_sources {
	struct tdm_state *state; /* with running processes only; pictures of it are taken by HTTP alone */
	void (*stats)(void *context, struct tdm_server_stats *stats); /* NULL: there is no socket server */
	void *context;
};

/*
 * Begins to listen. 0 with *out set, which is NULL if HTTP was not asked for; or a negative code after it has said why
 * on the standard error output. A taken port is only a warning unless the port was asked for.
 */
int tdm_http_start(struct tdm_loop *loop, const struct tdm_daemon_options *options,
	const struct tdm_http_sources *sources, struct tdm_http **out);
void tdm_http_stop(struct tdm_http *http); /* NULL is allowed */

/* The TCP port; 0: none. */
unsigned tdm_http_port(const struct tdm_http *http);

#endif
