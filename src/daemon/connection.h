/*
 * A connection of an instrumented program: its messages and the replies (docs/formats/server_socket.md).
 *
 * It is read in large pieces, and messages are decoded where they are. Only the beginning of a message is kept from one
 * piece to the next. While a client does not read its replies, its messages are not read either; nobody else waits for
 * it.
 */
#ifndef TDM_DAEMON_CONNECTION_H
#define TDM_DAEMON_CONNECTION_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/buf.h"
#include "daemon/loop.h"
#include "sources/server_wire.h"

struct tdm_client;
struct tdm_server;

enum { TDM_CONNECTION_READ = 64 * 1024 }; /* bytes that are read at once, at most */

/* How a socket's messages are divided. */
enum tdm_wire_form {
	TDM_FORM_SIZES,  /* the four sizes */
	TDM_FORM_SHORT,  /* 14, 21 and 17 bytes, told apart by their type */
	TDM_FORM_HELPER, /* 32 bytes */
	TDM_FORM_COUNT
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
	struct tdm_connection *quick_next, **quick_prev; /* of those that belong to that thread */
	struct tdm_connection *returned_next;            /* of those that it has given back */
};

/* A connection that is open already. NULL if it cannot be served; the descriptor is still the caller's. */
struct tdm_connection *tdm_connection_new(struct tdm_server *server, int fd, enum tdm_wire_form form);
void tdm_connection_close(struct tdm_connection *connection);

/* Reads what a connection has sent. False if it was closed. */
bool tdm_connection_read(struct tdm_connection *connection);

/* Reads what it has sent until now. Who still has the other end may go on sending for ever: that is not read. */
void tdm_connection_read_rest(struct tdm_connection *connection);

/* If its client is there already, from now on it is its client's: that may end before this is read. */
void tdm_connection_join(struct tdm_connection *connection);

/* From now on it is none of its client's. */
void tdm_connection_leave(struct tdm_connection *connection);

/* For the thread of quick_replies.h: whether it may answer a message of this type, and the answer. */
bool tdm_server_is_question(uint8_t type);
void tdm_connection_answer(struct tdm_connection *connection, const struct tdm_wire_message *message);

/* A connection comes back from there. False if it was closed. */
bool tdm_connection_returned(struct tdm_connection *connection);

#endif
