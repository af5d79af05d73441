/*
 * The socket of instrumented programs (docs/formats/server_socket.md): connections, their messages and the replies.
 *
 * A connection is read in large pieces, and messages are decoded where they are. Only the beginning of a message is
 * kept from one piece to the next. While a client does not read its replies, its messages are not read either; nobody
 * else waits for it.
 */
#ifndef TDM_DAEMON_SOCKET_SERVER_H
#define TDM_DAEMON_SOCKET_SERVER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/buf.h"
#include "daemon/archiver.h"
#include "daemon/clients.h"
#include "daemon/daemon.h"
#include "daemon/chip_list.h"
#include "daemon/loop.h"
#include "daemon/server_log.h"
#include "daemon/socket_path.h"
#include "sources/server_wire.h"

/* How a socket's messages are divided. */
enum tdm_wire_form {
	TDM_FORM_SIZES,  /* the four sizes */
	TDM_FORM_SHORT,  /* 14, 21 and 17 bytes, told apart by their type */
	TDM_FORM_HELPER, /* 32 bytes */
	TDM_FORM_COUNT
};

struct tdm_server;

struct tdm_listener {
	struct tdm_watch watch;
	struct tdm_server *server;
	struct tdm_socket_path at;
	enum tdm_wire_form form;
};

struct tdm_connection {
	struct tdm_watch watch;
	struct tdm_server *server;
	struct tdm_connection *next, **prev;               /* of the server */
	struct tdm_connection *client_next, **client_prev; /* of the client; client_prev is NULL before it has one */
	struct tdm_client *client; /* NULL before the first allocation, and after the process's end */
	struct ucred peer;
	uint64_t start; /* of the peer's process */
	struct tdm_wire wire;
	uint8_t form;    /* enum tdm_wire_form */
	uint8_t errors;  /* messages in a row that make no sense */
	bool is_ending;  /* closed once all replies are sent */
	bool is_over;    /* its process has ended */
	bool has_asked;  /* its latest message was a question */
	bool is_quick;   /* it belongs to the thread of quick_replies.h */
	uint8_t returns; /* how often that has given it back */
	uint8_t held;    /* bytes of the message that has begun */
	uint8_t hold[TDM_WIRE_SIZE_MAX];
	struct tdm_buf out; /* replies that the client has not taken yet */
	size_t out_at;
	struct tdm_connection *returned_next; /* of that thread */
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
	int first_reserved; /* descriptors from this number on are not for connections */
	struct tdm_server_counters counters;
	struct tdm_timer statistics;
	uint8_t *bytes;         /* what is being read */
	uint64_t nameless;      /* the id of the last kernel that came without one */
	uint64_t replied_round; /* the last round of the loop with a reply, counted from 1 */
	uint64_t list_ns;       /* that lists have taken, less a share of the time since */
	uint64_t list_at_ns;    /* when that was true */
	bool is_given;          /* another daemon has taken everything */
	struct tdm_connection *drain_next; /* whose turn it is when the daemon ends */
};

/* 0, or a negative code after a message. */
int tdm_server_init(struct tdm_server *server, struct tdm_loop *loop, const struct tdm_daemon_options *options);
void tdm_server_done(struct tdm_server *server);

/* A connection that is open already. NULL if it cannot be served; the descriptor is still the caller's. */
struct tdm_connection *tdm_connection_new(struct tdm_server *server, int fd, enum tdm_wire_form form);

/* The daemon is about to end: takes in all that clients have sent by now, whether they read their replies or not. */
void tdm_server_drain(struct tdm_server *server);

/* Reads what a connection has sent. False if it was closed. */
bool tdm_connection_read(struct tdm_connection *connection);

/* For the thread of quick_replies.h: whether it may answer a message of this type, and the answer. */
bool tdm_server_is_question(uint8_t type);
void tdm_connection_answer(struct tdm_connection *connection, const struct tdm_wire_message *message);

/* A connection comes back from there. */
void tdm_connection_returned(struct tdm_connection *connection);

#endif
