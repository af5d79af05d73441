#include "daemon/connection.h"
#include "base/number.h"
#include "daemon/quick_replies.h"
#include "daemon/server_answers.h"
#include "daemon/server_texts.h"
#include "daemon/socket_server.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum {
	READ_LEAST = 8 * 1024,   /* when many connections are ready, each gets its turn soon */
	READ_ROUND = 256 * 1024, /* bytes in a round of the loop, shared by the connections that are ready */
	ERRORS_MAX = 10,         /* messages in a row that make no sense */
	ASK_MAX = 64,            /* bytes of a question in words */
};

/* A connection that begins with this asks in words; no message begins with its first byte. */
#define ASK "TIDEMARK "

/* --- replies ---------------------------------------------------------------------------------------------------- */

static void drop_out(struct tdm_connection *c)
{
	tdm_buf_done(&c->out); /* most connections never wait, so they keep no memory for it */
	tdm_buf_init(&c->out);
	c->out_at = 0;
}

/* Sends what is left. If nobody takes it any more it is dropped: what the client has sent still counts. */
static void send_out(struct tdm_connection *c)
{
	while (c->out_at < c->out.len) {
		ssize_t done =
			send(c->watch.fd, c->out.data + c->out_at, c->out.len - c->out_at, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (done < 0 && (errno == EAGAIN || errno == ENOBUFS))
			return;
		if (done < 0 && errno != EINTR)
			break;
		c->out_at += done > 0 ? (size_t)done : 0;
	}
	drop_out(c);
}

static void reply(struct tdm_connection *c, const struct tdm_wire_reply *what)
{
	uint8_t bytes[TDM_WIRE_SIZE_MAX];
	size_t size = c->wire.size, at = 0;
	tdm_wire_put_reply(what, c->wire.size, bytes);
	if (c->out.len == 0) {
		ssize_t done = send(c->watch.fd, bytes, size, MSG_DONTWAIT | MSG_NOSIGNAL);
		at = done > 0 ? (size_t)done : 0;
	}
	if (at < size)
		tdm_buf_add(&c->out, (const char *)bytes + at, size - at);
}

static void reply_query(struct tdm_connection *c, int32_t device)
{
	uint64_t bytes[TDM_KIND_COUNT];
	tdm_sums_read(&c->server->clients.sums, device, bytes);
	reply(c, &(struct tdm_wire_reply){ .type = TDM_WIRE_RESPONSE,
			 .device = device,
			 .dram = bytes[TDM_KIND_DRAM],
			 .l1 = bytes[TDM_KIND_L1],
			 .l1_small = bytes[TDM_KIND_L1_SMALL] + bytes[TDM_KIND_SYSTEM],
			 .trace = bytes[TDM_KIND_TRACE],
			 .cb = bytes[TDM_KIND_CB],
			 .kernel = bytes[TDM_KIND_KERNEL] });
}

bool tdm_server_is_question(uint8_t type)
{
	return type == TDM_WIRE_QUERY || type == TDM_WIRE_DEVICE_INFO_QUERY;
}

void tdm_connection_answer(struct tdm_connection *c, const struct tdm_wire_message *m)
{
	struct tdm_wire_reply what;
	if (m->type == TDM_WIRE_QUERY) {
		reply_query(c, m->device);
	} else {
		tdm_chip_list_reply(&c->server->devices, m->device, &what);
		reply(c, &what);
	}
	atomic_fetch_add_explicit(&c->server->counters.messages[m->type], 1, memory_order_relaxed);
}

/* --- messages --------------------------------------------------------------------------------------------------- */

static struct tdm_client *join(struct tdm_connection *c, struct tdm_client *client)
{
	if (client == NULL)
		return NULL;
	c->client = client;
	c->client_next = client->connections;
	c->client_prev = &client->connections;
	if (client->connections != NULL)
		client->connections->client_prev = &c->client_next;
	client->connections = c;
	return client;
}

static struct tdm_client *client_of(struct tdm_connection *c)
{
	if (c->client != NULL || c->is_over)
		return c->client;
	return join(c, tdm_clients_get(&c->server->clients, c->peer.pid, c->peer.uid, c->start));
}

void tdm_connection_join(struct tdm_connection *c)
{
	if (c->client == NULL && !c->is_over && !c->is_ending && !c->is_quick)
		join(c, tdm_clients_find(&c->server->clients, c->peer.pid, c->start));
}

void tdm_connection_leave(struct tdm_connection *c)
{
	if (c->client == NULL)
		return;
	*c->client_prev = c->client_next;
	if (c->client_next != NULL)
		c->client_next->client_prev = c->client_prev;
	c->client = NULL;
}

enum {
	BUFFER_KINDS = 1 << TDM_KIND_DRAM | 1 << TDM_KIND_L1 | 1 << TDM_KIND_SYSTEM | 1 << TDM_KIND_L1_SMALL |
		       1 << TDM_KIND_TRACE
};

/* A report of a buffer. */
static void report(struct tdm_connection *c, const struct tdm_wire_message *m)
{
	struct tdm_change change = { 0 };
	struct tdm_clients *clients = &c->server->clients;
	struct tdm_client *client = client_of(c);
	unsigned kernel_type = m->buffer_type < TDM_KERNEL_TYPES ? m->buffer_type : TDM_KERNEL_TYPES - 1;
	int err;
	if (client == NULL) {
		clients->counters.refused_nobody++;
		err = -ESRCH;
	} else if (m->type == TDM_WIRE_ALLOC) {
		err = tdm_client_alloc(client, m->device, tdm_wire_kind(m->buffer_type), m->id, m->bytes, 0, &change);
	} else if (m->type == TDM_WIRE_FREE) {
		err = tdm_client_free(client, m->device, BUFFER_KINDS, m->id, &change);
	} else {
		bool is_free = m->type == TDM_WIRE_CB_FREE || m->type == TDM_WIRE_KERNEL_UNLOAD;
		bool is_cb = m->type == TDM_WIRE_CB_ALLOC || m->type == TDM_WIRE_CB_FREE;
		enum tdm_kind kind = is_cb ? TDM_KIND_CB : TDM_KIND_KERNEL;
		uint64_t id = c->form == TDM_FORM_SHORT && !is_cb ? ++c->server->nameless : m->id;
		uint32_t more = is_cb ? m->cores : kernel_type;
		err = is_free ? tdm_client_free(client, m->device, 1u << kind, id, &change)
			      : tdm_client_alloc(client, m->device, kind, id, m->bytes, more, &change);
	}
	if (client != NULL && m->pid != client->pid && m->pid != 0) {
		if (client->claim != m->pid && !c->server->options->quiet)
			tdm_server_log_line(
				&c->server->log, "⚠ [PID %d] Its messages name process %d\n", client->pid, m->pid);
		client->claim = m->pid;
		c->server->counters.other_pids++;
	}
	if (!c->server->options->quiet)
		tdm_text_event(&c->server->log, c->peer.pid, m, err, &change);
}

/* False if the connection cannot go on. */
static bool handle(struct tdm_connection *c, const struct tdm_wire_message *m)
{
	struct tdm_server *server = c->server;
	c->has_asked = tdm_server_is_question(m->type);
	if (c->has_asked) {
		server->replied_round = server->loop->rounds + 1;
		server->loop->rest_ns = 0;
		tdm_connection_answer(c, m);
		c->errors = 0;
		return true;
	}
	switch (m->type) {
	case TDM_WIRE_ALLOC:
	case TDM_WIRE_FREE:
	case TDM_WIRE_CB_ALLOC:
	case TDM_WIRE_CB_FREE:
	case TDM_WIRE_KERNEL_LOAD:
	case TDM_WIRE_KERNEL_UNLOAD:
		report(c, m);
		break;
	case TDM_WIRE_DUMP_REMAINING:
		tdm_server_dump_remaining(server);
		break;
	case TDM_WIRE_DUMP_KERNELS:
		tdm_server_dump_kernels(server);
		break;
	default:
		server->counters.unknown_types++;
		if (!server->options->quiet)
			tdm_server_log_line(&server->log, "Unknown message type: %u\n", m->type);
		if (++c->errors < ERRORS_MAX)
			return true;
		tdm_server_log_line(&server->log,
			"⚠️  Too many consecutive errors (%d) - closing connection (likely protocol mismatch)\n",
			ERRORS_MAX);
		return false;
	}
	c->errors = 0;
	_Atomic uint64_t *count = &server->counters.messages[m->type]; /* of these, only this thread counts */
	atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + 1, memory_order_relaxed);
	return true;
}

static bool bad_stream(struct tdm_connection *c)
{
	c->server->counters.bad_streams++;
	tdm_server_log_line(
		&c->server->log, "⚠ [PID %d] Closing a connection: its bytes are not messages\n", c->peer.pid);
	return false;
}

/* Looks for a question in words. False: it is none. */
static bool ask(struct tdm_connection *c, const uint8_t *bytes, size_t count, size_t *used)
{
	size_t head = sizeof ASK - 1;
	*used = 0;
	if (memcmp(bytes, ASK, tdm_min(count, head)) != 0)
		return false;
	const uint8_t *end = memchr(bytes, '\n', tdm_min(count, ASK_MAX));
	if (end == NULL)
		return count < ASK_MAX;
	*used = count; /* nothing more is answered */
	c->is_ending = true;
	tdm_server_answer(c, (struct tdm_str){ (const char *)bytes + head, (size_t)(end - bytes) - head });
	send_out(c);
	return true;
}

/* Handles the messages in some bytes; *at is where the first one begins that is not whole. False: close. */
static bool divide(struct tdm_connection *c, const uint8_t *bytes, size_t count, bool is_quiet, size_t *at)
{
	*at = 0;
	if (c->form == TDM_FORM_SIZES && c->wire.size == 0 && count != 0 && bytes[0] == ASK[0])
		return ask(c, bytes, count, at) || bad_stream(c);
	while (*at < count) {
		struct tdm_wire_message message;
		size_t used;
		enum tdm_wire_found found =
			c->form == TDM_FORM_SIZES
				? tdm_wire_next(&c->wire, bytes + *at, count - *at, is_quiet, &message, &used)
			: c->form == TDM_FORM_SHORT ? tdm_wire_short(bytes + *at, count - *at, &message, &used)
						    : tdm_wire_helper(bytes + *at, count - *at, &message, &used);
		if (found == TDM_WIRE_NONE)
			return true;
		if (found == TDM_WIRE_BAD)
			return bad_stream(c);
		*at += used;
		if (found == TDM_WIRE_MESSAGE && !handle(c, &message))
			return false;
	}
	return true;
}

void tdm_connection_close(struct tdm_connection *c)
{
	if (c->client != NULL)
		tdm_client_hint(c->client);
	tdm_connection_leave(c);
	if (c->server->drain_next == c)
		c->server->drain_next = c->next;
	tdm_loop_remove(c->server->loop, &c->watch);
	close(c->watch.fd);
	*c->prev = c->next;
	if (c->next != NULL)
		c->next->prev = c->prev;
	c->server->open--;
	tdm_buf_done(&c->out);
	free(c);
}

/* After reading or writing: closes it, or waits for what comes next. False if it was closed. */
static bool connection_settle(struct tdm_connection *c, bool is_good)
{
	if (!is_good || tdm_buf_failed(&c->out) || (c->is_ending && c->out.len == 0)) {
		tdm_connection_close(c);
		return false;
	}
	bool waits = c->out.len != 0;
	c->server->counters.waits += waits && c->watch.events != EPOLLOUT;
	tdm_loop_change(c->server->loop, &c->watch, waits ? EPOLLOUT : EPOLLIN);
	return true;
}

/* Whether it may go to the thread that answers questions. */
static bool may_be_quick(const struct tdm_connection *c)
{
	return c->server->quick != NULL && c->has_asked && c->client == NULL && c->form == TDM_FORM_SIZES &&
	       c->held == 0 && c->out.len == 0 && !c->is_ending;
}

bool tdm_connection_returned(struct tdm_connection *c)
{
	*c->quick_prev = c->quick_next;
	if (c->quick_next != NULL)
		c->quick_next->quick_prev = c->quick_prev;
	c->is_quick = false;
	c->has_asked = false;
	c->returns += c->returns < UINT8_MAX;
	c->watch.events = EPOLLIN;
	return connection_settle(c, tdm_loop_add(c->server->loop, &c->watch) == 0);
}

/*
 * While messages come faster than they can be waited for, the next round begins a little later: a client that sends one
 * message in a call would else pay for waking us up each time. A client that waits for replies is never kept waiting.
 */
static void rest_if_busy(struct tdm_server *server)
{
	enum { BUSY_NS = 50000, REST_NS = 50000 };
	if (server->loop->waited_ns < BUSY_NS && server->replied_round != server->loop->rounds + 1)
		server->loop->rest_ns = REST_NS;
}

/* What a connection may read in its turn. */
static size_t read_share(const struct tdm_server *server)
{
	size_t ready = server->loop->batch_count > 0 ? (size_t)server->loop->batch_count : 1;
	return tdm_max(tdm_min(READ_ROUND / ready, TDM_CONNECTION_READ), READ_LEAST);
}

bool tdm_connection_read(struct tdm_connection *c)
{
	struct tdm_server *server = c->server;
	uint8_t *bytes = server->bytes;
	size_t share = read_share(server), at;
	ssize_t got;
	memcpy(bytes, c->hold, c->held);
	do
		got = recv(c->watch.fd, bytes + c->held, share, MSG_DONTWAIT);
	while (got < 0 && errno == EINTR);
	if (got < 0 && errno == EAGAIN)
		return connection_settle(c, true);
	if (got <= 0) {
		server->counters.half_messages += got == 0 && c->held != 0;
		return connection_settle(c, false);
	}
	server->counters.bytes += (uint64_t)got;
	size_t count = c->held + (size_t)got;
	bool is_good = divide(c, bytes, count, (size_t)got < share, &at);
	if (c->client != NULL)
		tdm_client_settle(c->client);
	if ((size_t)got < share)
		rest_if_busy(server);
	c->held = (uint8_t)tdm_min(count - at, sizeof c->hold); /* never more, because it is less than a message */
	memcpy(c->hold, bytes + at, c->held);
	return connection_settle(c, is_good) && (!may_be_quick(c) || tdm_quick_give(server->quick, c));
}

static void connection_ready(struct tdm_watch *watch, uint32_t events)
{
	struct tdm_connection *c = tdm_loop_owner(watch, struct tdm_connection, watch);
	(void)events;
	if (c->out.len != 0 || c->is_ending) {
		send_out(c);
		connection_settle(c, true);
		return;
	}
	tdm_connection_read(c);
}

/* --- connections ------------------------------------------------------------------------------------------------ */

/* The start time of a process. To read it takes a descriptor, and the new connection may have the last one. */
static uint64_t start_of(struct tdm_server *server, int32_t pid)
{
	uint64_t start = tdm_clients_start_of(&server->clients, pid);
	if (start != 0 || server->spare_fd < 0)
		return start;
	close(server->spare_fd);
	start = tdm_clients_start_of(&server->clients, pid);
	server->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	return start;
}

struct tdm_connection *tdm_connection_new(struct tdm_server *server, int fd, enum tdm_wire_form form)
{
	struct tdm_connection *c = calloc(1, sizeof *c);
	if (c == NULL)
		return NULL;
	*c = (struct tdm_connection){ .watch = { .fd = fd, .events = EPOLLIN, .ready = connection_ready },
		.server = server,
		.form = (uint8_t)form,
		.peer.pid = 0 };
	socklen_t len = sizeof c->peer;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &c->peer, &len) != 0 ||
		tdm_loop_add(server->loop, &c->watch) != 0) {
		free(c);
		return NULL;
	}
	c->start = start_of(server, c->peer.pid);
	if (tdm_socket_peer_has_ended(fd)) /* asked afterwards: the start time may be that of another process */
		c->start = 0;
	c->next = server->first;
	c->prev = &server->first;
	if (server->first != NULL)
		server->first->prev = &c->next;
	server->first = c;
	server->open++;
	server->counters.connections++;
	return c;
}

void tdm_connection_read_rest(struct tdm_connection *c)
{
	const struct tdm_server *server = c->server;
	const struct tdm_client *client = c->client;
	uint64_t begin = server->counters.bytes, before;
	int waiting = 0;
	(void)ioctl(c->watch.fd, SIOCINQ, &waiting);
	do {
		before = server->counters.bytes;
		drop_out(c); /* nobody waits for it */
	} while (before - begin < (uint64_t)waiting && tdm_connection_read(c) &&
		 (client == NULL || c->client == client) && server->counters.bytes != before);
}
