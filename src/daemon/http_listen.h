/* The sockets that HTTP listens on. */
#ifndef TDM_DAEMON_HTTP_LISTEN_H
#define TDM_DAEMON_HTTP_LISTEN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/diag.h"
#include "daemon/socket_path.h"

/* `host`: an address or a name; NULL: 127.0.0.1. A descriptor, with *port set to the one that was taken if it was 0; or
 * a negative code with a message. */
int tdm_http_listen_tcp(const char *host, uint16_t *port, struct tdm_diag *diag);

/* A socket in the file system that every user may connect to: what he gets depends on who he is. 0, or a negative code
 * with a message. */
int tdm_http_listen_unix(const char *path, struct tdm_socket_path *at, struct tdm_diag *diag);

/* Whether somebody on this machine is on the other side. */
bool tdm_http_is_loopback(const struct sockaddr *address);

/* The user on the other side of a Unix socket; UINT32_MAX: unknown. */
uint32_t tdm_http_peer_uid(int fd);

#endif
