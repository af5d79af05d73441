/*
 * One daemon takes over from another, so that clients notice nothing: most of them are killed by a signal when they
 * send to a closed connection. The new one asks in words on the socket. The old one gives back its ledgers, sends its
 * sockets and connections as descriptors, each with what is known about it, and ends. Only the same user and root are
 * given anything, and only from them it is taken. The new one waits for the end of the old one, whose HTTP port it
 * wants.
 */
#ifndef TDM_DAEMON_TAKEOVER_H
#define TDM_DAEMON_TAKEOVER_H

#include "daemon/socket_server.h"

/* Gives everything to the daemon at the other end of `fd`. Nothing can be served afterwards. */
void tdm_takeover_give(struct tdm_server *server, int fd);

/* Takes everything from the daemon that listens at `path`. 0, or -errno if there is none that gives it. */
int tdm_takeover_take(struct tdm_server *server, const char *path);

#endif
