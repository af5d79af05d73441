/*
 * The sockets of instrumented programs (docs/formats/server_socket.md): who listens, who connects, which processes have
 * ended. connection.h has the messages.
 */
#ifndef TDM_DAEMON_SOCKET_SERVER_H
#define TDM_DAEMON_SOCKET_SERVER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "daemon/archiver.h"
#include "daemon/clients.h"
#include "daemon/daemon.h"
#include "daemon/chip_list.h"
#include "daemon/connection.h"
#include "daemon/loop.h"
#include "daemon/server_log.h"
#include "daemon/socket_path.h"

struct tdm_listener {
	struct tdm_watch watch;
	struct tdm_server *server;
	struct tdm_socket_path at;
	enum tdm_wire_form form;
};

struct tdm_server_counters {
	uint64_t connections;         /* since the start */
	uint64_t refused_connections; /* no descriptor or memory for them */
	_Atomic uint64_t messages[TDM_WIRE_TYPE_END];
	uint64_t unknown_types; /* messages of a type that clients do not send */
	uint64_t refused_busy;  /* requests for lists, which took too much time */
	uint64_t bad_streams;   /* connections closed because their bytes are no messages */
	uint64_t half_messages; /* connections that ended within a message */
	uint64_t other_pids;    /* messages that name another process than the one that sent them */
	uint64_t bytes;
	_Atomic uint64_t quick_bytes; /* read by the thread of quick_replies.h */
	uint64_t waits;               /* times that a client did not take its replies */
};

struct tdm_server {
	struct tdm_loop *loop;
	const struct tdm_daemon_options *options;
	struct tdm_server_log log;
	struct tdm_clients clients;
	struct tdm_archiver archiver;
	struct tdm_chip_list devices;
	struct tdm_listener listeners[TDM_FORM_COUNT];
	struct tdm_connection *first;
	struct tdm_quick *quick; /* NULL: the loop answers all questions */
	size_t open;             /* connections */
	int spare_fd;            /* given up to refuse a connection when descriptors have run out */
	int first_reserved;      /* descriptors from this number on are not for connections */
	struct tdm_server_counters counters;
	struct tdm_timer statistics;
	uint8_t *bytes;                    /* what is being read */
	uint64_t nameless;                 /* the id of the last kernel that came without one */
	uint64_t replied_round;            /* the last round of the loop with a reply, counted from 1 */
	uint64_t list_ns;                  /* that lists have taken, less a share of the time since */
	uint64_t list_at_ns;               /* when that was true */
	bool is_given;                     /* another daemon has taken everything */
	struct tdm_connection *drain_next; /* whose turn it is when the daemon ends */
};

/* 0, or a negative code after a message. */
int tdm_server_init(struct tdm_server *server, struct tdm_loop *loop, const struct tdm_daemon_options *options);
void tdm_server_done(struct tdm_server *server);

/* The daemon is about to end: takes in all that clients have sent by now, whether they read their replies or not. */
void tdm_server_drain(struct tdm_server *server);

#endif
