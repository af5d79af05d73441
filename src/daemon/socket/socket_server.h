/*
 * The sockets of instrumented programs (docs/formats/server_socket.md), shared by the files in this folder:
 *
 *   socket_server.c  listening and accepting; the devices; taking over; archiving ended processes' ledgers
 *   connection.c     the messages of a connection and their replies; questions have a thread of their own
 *   server_texts.c   the daemon's output and answers in words, and its counters
 *
 * clients.h declares the processes and their ledgers. A connection passes each message to the client of the sending
 * process, and the message changes that client's ledger. The change becomes a line in the log; the reply is the sum
 * over all clients.
 */
#ifndef TDM_DAEMON_SOCKET_SERVER_H
#define TDM_DAEMON_SOCKET_SERVER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/buf.h"
#include "daemon/socket/clients.h"
#include "daemon/work/daemon.h"
#include "daemon/work/loop.h"
#include "live/runtime/server_wire.h"
#include "view/metrics/metrics.h"

/*
 * ---- sockets with a name in the file system, and those that systemd hands over ----
 *
 * A socket gets its permissions before its name, so nobody else can connect in between. An existing name is never
 * deleted blindly: a socket without a listener is replaced; a socket with a listener, or anything else (a file, a
 * symbolic link), is an error.
 */

struct tdm_socket_path {
	int fd; /* listening, or -1 */
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
	uint64_t device, inode; /* identify the file that has the name; both are 0 if the name is not ours to remove */
};

/*
 * Listens on a path. 0; -EADDRINUSE: another process is listening there; -ENOTSOCK: the path is not a socket;
 * -ENAMETOOLONG; or -errno. `takes_over`: replaces even a socket with a listener.
 */
int tdm_socket_path_listen(struct tdm_socket_path *at, const char *path, uint32_t mode, bool takes_over);

/* Uses a descriptor that is already listening, such as one from systemd. 0; -ENOTSOCK: it is not a listening Unix
 * socket. */
int tdm_socket_path_adopt(struct tdm_socket_path *at, int fd);

/* Closes the socket; if `removes` is set, also removes the name if the name still belongs to this socket. */
void tdm_socket_path_close(struct tdm_socket_path *at, bool removes);

/* Whether the name still belongs to this socket. */
bool tdm_socket_path_is_there(const struct tdm_socket_path *at);

/*
 * Whether the process on the other end of a connection, which has connected or is listening, has ended. Uses a pidfd,
 * because the pid may have been reused; before Linux 6.5, uses only the pid. False if unknown.
 */
bool tdm_socket_peer_has_ended(int fd);

/*
 * systemd's descriptor with this name ($LISTEN_FDNAMES); if there are no names, the i-th descriptor, counted from 0.
 * -ENOENT if there is none. systemd's variables stay set until tdm_socket_activation_done().
 */
int tdm_socket_activation(const char *name, unsigned i);
void tdm_socket_activation_done(void);

/*
 * ---- the log ----
 *
 * The daemon's output: one buffer, written once per round of the loop. Writing never blocks. If the output's reader is
 * slow, lines are lost, and a later line says how many.
 */

enum { TDM_SERVER_LOG_LINE = 512 }; /* maximum line length in bytes */

struct tdm_server_log {
	struct tdm_loop *loop;
	struct tdm_watch watch; /* waits for room in the output; contains the output's descriptor */
	struct tdm_timer flush;
	bool is_socket, is_file; /* type of the output descriptor */
	bool is_own;             /* the log opened the descriptor itself */
	bool is_waiting;         /* waiting for room */
	char *data;
	size_t at, len;      /* the unwritten part of `data` */
	uint64_t lost, said; /* lines lost so far, and how many of them have been reported */
};

/* Starts logging to a descriptor. */
void tdm_server_log_init(struct tdm_server_log *log, struct tdm_loop *loop, int fd);
void tdm_server_log_done(struct tdm_server_log *log); /* waits only briefly for a slow reader */

/* Returns room for a line of TDM_SERVER_LOG_LINE bytes; NULL if there is none, and the line then counts as lost. */
char *tdm_server_log_begin(struct tdm_server_log *log);
void tdm_server_log_end(struct tdm_server_log *log, const char *end);

/* Adds several lines; all are lost if they do not fit. */
void tdm_server_log_text(struct tdm_server_log *log, struct tdm_str text);
void tdm_server_log_line(struct tdm_server_log *log, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Build the lines for events, which are too frequent for printf. Each function returns the end of its text. */
char *tdm_put_text(char *to, const char *text, size_t len);
char *tdm_put_decimal(char *to, uint64_t number);
char *tdm_put_hex(char *to, uint64_t number); /* writes the number with 0x */
#define TDM_PUT(to, literal) tdm_put_text((to), (literal), sizeof(literal) - 1)

/* ---- the server ---- */

/* The form of a socket's messages. */
enum tdm_wire_form {
	TDM_FORM_SIZES,  /* messages with the four sizes */
	TDM_FORM_SHORT,  /* messages of 14, 21 and 17 bytes, distinguished by their type */
	TDM_FORM_HELPER, /* messages of 32 bytes */
	TDM_FORM_COUNT
};

/* A chip in the driver's list, with sizes from the card tables. */
struct tdm_known_chip {
	char card[24];
	bool is_remote;
	struct tdm_wire_reply reply; /* the reply about the chip; arch and sizes are 0 if the card is unknown */
};

struct tdm_listener {
	struct tdm_watch watch;
	struct tdm_server *server;
	struct tdm_socket_path at;
	enum tdm_wire_form form;
};

struct tdm_server {
	struct tdm_loop *loop;
	const struct tdm_daemon_options *options;
	struct tdm_server_log log;
	struct tdm_clients clients;
	struct tdm_archive *archive; /* archive for ended clients' ledgers */
	struct tdm_timer archiving;
	struct tdm_known_chip *chips; /* used by two threads */
	size_t chip_count;
	uint64_t chips_ns; /* when the chips were last read; 0 before that */
	pthread_mutex_t chips_lock;
	struct tdm_listener listeners[TDM_FORM_COUNT];
	struct tdm_connection *first;
	struct tdm_quick *quick; /* NULL if the loop answers all questions */
	size_t open;             /* number of open connections */
	/* a spare descriptor, closed in order to refuse a connection when descriptors have run out */
	int spare_fd;
	int first_reserved; /* descriptors from this number up are not used for connections */
	struct tdm_timer statistics;
	uint8_t *bytes;                    /* buffer for reading */
	uint64_t nameless;                 /* id given to the last kernel that had none */
	uint64_t replied_round;            /* the last round of the loop with a reply; rounds are counted from 1 */
	uint64_t list_ns;                  /* time spent on lists, minus a share of the time since then */
	uint64_t list_at_ns;               /* when list_ns was computed */
	bool is_given;                     /* everything has been handed to another daemon */
	struct tdm_connection *drain_next; /* the next connection to drain when the daemon ends */
};

/* 0, or a negative code after an error message. */
int tdm_server_init(struct tdm_server *server, struct tdm_loop *loop, const struct tdm_daemon_options *options);
void tdm_server_done(struct tdm_server *server);

/* The daemon is about to end: handles everything that clients have sent so far, whether or not they read their
 * replies. */
void tdm_server_drain(struct tdm_server *server);

/* ---- connection.c ------------------------------------------------------------------------------------------------ */

struct tdm_connection {
	struct tdm_watch watch;
	struct tdm_server *server;
	struct tdm_connection *next, **prev; /* list of the server's connections */
	/* list of the client's connections; client_prev is NULL until the connection has a client */
	struct tdm_connection *client_next, **client_prev;
	struct tdm_client *client; /* NULL before the first allocation, and after the process has ended */
	struct ucred peer;
	uint64_t start; /* start time of the peer's process */
	struct tdm_wire wire;
	uint8_t form;    /* enum tdm_wire_form */
	uint8_t errors;  /* meaningless messages in a row */
	bool is_ending;  /* close it once all replies are sent */
	bool is_over;    /* its process has ended */
	bool has_asked;  /* its latest message was a question */
	bool is_quick;   /* belongs to the thread that answers questions */
	uint8_t returns; /* how often that thread has returned the connection */
	uint8_t held;    /* bytes in `hold` of an incomplete message */
	uint8_t hold[TDM_WIRE_SIZE_MAX];
	struct tdm_buf out; /* replies that the client has not read yet */
	size_t out_at;
	struct tdm_connection *quick_next, **quick_prev; /* list of the question thread's connections */
	struct tdm_connection *returned_next;            /* list of connections that the thread has returned */
};

enum { TDM_CONNECTION_READ = 64 * 1024 }; /* maximum bytes to read at once */

/* Makes a connection from an open descriptor. NULL if it cannot be served: then the caller still owns the
 * descriptor. */
struct tdm_connection *tdm_connection_new(struct tdm_server *server, int fd, enum tdm_wire_form form);
void tdm_connection_close(struct tdm_connection *connection);

/* Reads and handles messages. False if the connection was closed. */
bool tdm_connection_read(struct tdm_connection *connection);

/* Reads only the bytes sent so far: another process that holds the same end could keep sending forever. */
void tdm_connection_read_rest(struct tdm_connection *connection);

/* Assigns the connection to its client if the client already exists: the process may end before a message is read. */
void tdm_connection_join(struct tdm_connection *connection);
void tdm_connection_leave(struct tdm_connection *connection);

/* NULL if no descriptors are available; the loop then answers. The thread starts with the first connection. */
struct tdm_quick *tdm_quick_new(struct tdm_server *server);

/* Ends the thread and returns all connections to the loop. NULL is allowed. */
void tdm_quick_free(struct tdm_quick *quick);

/* Takes back an ended process's connections, which may hold its last messages, and gives them to the client. */
void tdm_quick_take(struct tdm_quick *quick, const struct tdm_client *client);

/* ---- server_texts.c ---------------------------------------------------------------------------------------------- */

/* Writes a line about what a message changed, or why it was refused (`err`). */
void tdm_text_event(struct tdm_server_log *log, int32_t pid, const struct tdm_wire_message *message, int err,
	const struct tdm_change *change);

/* These write to the log: */
void tdm_server_log_left(void *server, const struct tdm_client *client); /* the buffers left by an ended process */
void tdm_server_dump(struct tdm_server *server);                         /* all live buffers */
void tdm_server_dump_asked(struct tdm_server *server, bool of_kernels);  /* live buffers, or kernels, for a message */
void tdm_server_dump_statistics(struct tdm_server *server);
void tdm_server_say_left(struct tdm_server *server); /* ended processes' buffers, if any */

/* Writes the answer to a question in words into the connection's `out`, or hands everything over to another daemon. */
void tdm_server_answer(struct tdm_connection *connection, struct tdm_str question);

/* Writes the counters as metrics. */
void tdm_server_metrics(const struct tdm_server *server, struct tdm_metrics_text *text);

/* ---- socket_server.c --------------------------------------------------------------------------------------------- */

/* Fills in the reply to a question about a device, or (-1) about the number of devices. Reads the driver's list
 * again if the last reading is old. */
void tdm_server_chip_reply(struct tdm_server *server, int32_t device, struct tdm_wire_reply *reply);

/* Writes the lines about devices when the daemon starts. */
void tdm_server_chips_text(struct tdm_server *server, struct tdm_buf *out);

/* Hands everything over to the daemon at the other end of `fd`. Nothing can be served afterwards. */
void tdm_takeover_give(struct tdm_server *server, int fd);

#endif
