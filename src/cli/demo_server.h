/*
 * The daemon of `tidemark demo --server`: a child process with a socket in a folder of its own, so that it disturbs no
 * other daemon. Its ledgers are where all others are, and other commands see them.
 */
#ifndef TDM_CLI_DEMO_SERVER_H
#define TDM_CLI_DEMO_SERVER_H

#include <stdint.h>
#include <sys/types.h>

#include "cli/cmd.h"

struct tdm_demo_server {
	char folder[64], socket[96];
	uint32_t port; /* of HTTP */
	pid_t pid;     /* 0: it does not run */
	int out_fd;    /* what it prints */
};

/* Returns when it listens: 0, or an exit code after a message. Call tdm_demo_server_stop in both cases. */
int tdm_demo_server_start(struct tdm_demo_server *server, const struct tdm_cmd *cmd);
/* Says where to look. */
void tdm_demo_server_say(const struct tdm_demo_server *server);
/* A child has ended: it may have been this one. */
void tdm_demo_server_note(struct tdm_demo_server *server, pid_t pid);
/* Ends it and prints its last report. */
void tdm_demo_server_stop(struct tdm_demo_server *server);

/* In a new child: ends it when its parent ends. */
void tdm_demo_follow_parent(pid_t parent);

#endif
