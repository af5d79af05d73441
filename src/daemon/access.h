/*
 * Who may see what over HTTP. The daemon may run as root and see what other users may not. So a reader gets
 *
 *   everything        with the token; or over the Unix socket, as root or as the user that runs the daemon
 *   his own           over the Unix socket: processes, buffers, command lines and sites of his user; totals of all
 *   totals            over TCP, without a token: figures of devices, nothing about a process
 *   nothing           over TCP from another machine if there is a token and he has not given it; with a wrong one
 *
 * A name in the header Host must be one that the daemon is known by. Otherwise a web page could make a browser on this
 * machine read the figures, by a name that first belongs to the page's server and then to 127.0.0.1 (DNS rebinding). An
 * address in place of a name cannot be bent that way.
 */
#ifndef TDM_DAEMON_ACCESS_H
#define TDM_DAEMON_ACCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"

enum tdm_right { TDM_RIGHT_NONE, TDM_RIGHT_TOTALS, TDM_RIGHT_OWN, TDM_RIGHT_ALL };

enum { TDM_TOKEN_MIN = 16, TDM_TOKEN_MAX = 512 };

struct tdm_access {
	char token[TDM_TOKEN_MAX + 1]; /* empty: there is none */
	char hosts[1024];              /* names that are allowed, each with a comma after it */
	uint32_t uid;                  /* that the daemon runs as */
};

/* How a request comes in. */
struct tdm_caller {
	bool is_unix;
	bool is_local;             /* from a loopback address */
	uint32_t uid;              /* of the peer, on a Unix socket; UINT32_MAX: unknown */
	const char *authorization; /* header; NULL: none */
};

/* `token_file` may be NULL; `hosts`: more names, with commas between them, or NULL. 0, or a negative code with a
 * message. */
int tdm_access_init(struct tdm_access *access, const char *token_file, const char *hosts, struct tdm_diag *diag);

enum tdm_right tdm_access_right(const struct tdm_access *access, const struct tdm_caller *caller);

/* Whether the value of the header Host is allowed: "name", "name:port", "127.0.0.1:9740", "[::1]:9740". */
bool tdm_access_takes_host(const struct tdm_access *access, const char *host);

#endif
