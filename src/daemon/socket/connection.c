/*
 * A connection of an instrumented program: its messages and the replies (docs/formats/server_socket.md).
 *
 * The connection is read in large pieces, and messages are decoded in place. Only the incomplete message at the end of
 * a piece is kept for the next piece. If a client stops reading its replies, its own messages are no longer read; other
 * clients are not affected.
 *
 * Questions are answered by a separate thread. When clients flood the loop, the loop's thread uses up its share of the
 * processor, and Linux lets other threads run first; a thread that mostly sleeps runs as soon as a question wakes it. A
 * connection that has sent only questions belongs to this thread until something else arrives. The thread peeks at a
 * message before taking it, so the loop finds all other messages still unread.
 */
#include "base/memory.h"
#include "base/number.h"
#include "daemon/socket/socket_server.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	READ_LEAST = 8 * 1024,   /* small, so that each of many ready connections soon gets its turn */
	READ_ROUND = 256 * 1024, /* bytes per round of the loop, shared by all ready connections */
	ERRORS_MAX = 10,         /* meaningless messages in a row before the connection is closed */
	ASK_MAX = 64,            /* maximum length of a question in words, in bytes */
	BATCH = 64,              /* events that the thread fetches at a time */
	BUSY_NS = 50000,
	REST_NS = 50000,
	RETURNS_MAX = 8, /* after this many returns from the thread, a connection stays with the loop */
};

/* Begins a question in words; no message begins with the same byte. */
#define ASK "TIDEMARK "

/* ---- replies ----------------------------------------------------------------------------------------------------- */

static void drop_out(struct tdm_connection *c)
{
	tdm_buf_done(&c->out); /* most connections never wait, and then need no memory for replies */
	c->out_at = 0;
}

/* Sends waiting replies. If the client is gone they are dropped, but the client's messages still count. */
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

static bool is_question(uint8_t type)
{
	return type == TDM_WIRE_QUERY || type == TDM_WIRE_DEVICE_INFO_QUERY;
}

static void answer_question(struct tdm_connection *c, const struct tdm_wire_message *m)
{
	struct tdm_wire_reply what;
	uint64_t bytes[TDM_KIND_COUNT];
	if (m->type == TDM_WIRE_QUERY) {
		tdm_clients_sum(&c->server->clients, m->device, bytes);
		what = (struct tdm_wire_reply){ .type = TDM_WIRE_RESPONSE,
			.device = m->device,
			.dram = bytes[TDM_KIND_DRAM],
			.l1 = bytes[TDM_KIND_L1],
			.l1_small = bytes[TDM_KIND_L1_SMALL] + bytes[TDM_KIND_SYSTEM],
			.trace = bytes[TDM_KIND_TRACE],
			.cb = bytes[TDM_KIND_CB],
			.kernel = bytes[TDM_KIND_KERNEL] };
	} else {
		tdm_server_chip_reply(c->server, m->device, &what);
	}
	reply(c, &what);
	atomic_fetch_add_explicit(&c->server->clients.counters.messages[m->type], 1, memory_order_relaxed);
}

/* ---- messages ---------------------------------------------------------------------------------------------------- */

static void join(struct tdm_connection *c, struct tdm_client *client)
{
	if (client == NULL)
		return;
	c->client = client;
	c->client_next = client->connections;
	c->client_prev = &client->connections;
	if (client->connections != NULL)
		client->connections->client_prev = &c->client_next;
	client->connections = c;
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

/* Handles a report of a buffer. */
static void report(struct tdm_connection *c, const struct tdm_wire_message *m)
{
	struct tdm_change change = { 0 };
	struct tdm_clients *clients = &c->server->clients;
	if (c->client == NULL && !c->is_over)
		join(c, tdm_clients_get(clients, c->peer.pid, c->peer.uid, c->start));
	struct tdm_client *client = c->client;
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
		c->server->clients.counters.other_pids++;
	}
	if (!c->server->options->quiet)
		tdm_text_event(&c->server->log, c->peer.pid, m, err, &change);
}

/* Handles a message. False if the connection must be closed. */
static bool handle(struct tdm_connection *c, const struct tdm_wire_message *m)
{
	struct tdm_server *server = c->server;
	c->has_asked = is_question(m->type);
	if (c->has_asked) {
		server->replied_round = server->loop->rounds + 1;
		server->loop->rest_ns = 0;
		answer_question(c, m);
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
	case TDM_WIRE_DUMP_KERNELS:
		tdm_server_dump_asked(server, m->type == TDM_WIRE_DUMP_KERNELS);
		break;
	default:
		server->clients.counters.unknown_types++;
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
	/* each count is written by a single thread */
	_Atomic uint64_t *count = &server->clients.counters.messages[m->type];
	atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + 1, memory_order_relaxed);
	return true;
}

/* Handles a question in words. False if the bytes are not a question. */
static bool ask(struct tdm_connection *c, const uint8_t *bytes, size_t count, size_t *used)
{
	size_t head = sizeof ASK - 1;
	*used = 0;
	if (memcmp(bytes, ASK, tdm_min(count, head)) != 0)
		return false;
	const uint8_t *end = memchr(bytes, '\n', tdm_min(count, ASK_MAX));
	if (end == NULL)
		return count < ASK_MAX;
	*used = count; /* ignore the rest: there is one answer per connection */
	c->is_ending = true;
	tdm_server_answer(c, (struct tdm_str){ (const char *)bytes + head, (size_t)(end - bytes) - head });
	send_out(c);
	return true;
}

/* Handles the complete messages in `bytes`; *at is the start of the first incomplete one. False: close the
 * connection. */
static bool divide(struct tdm_connection *c, const uint8_t *bytes, size_t count, bool is_quiet, size_t *at)
{
	bool is_good = true;
	*at = 0;
	if (c->form == TDM_FORM_SIZES && c->wire.size == 0 && count != 0 && bytes[0] == ASK[0]) {
		is_good = ask(c, bytes, count, at);
		count = 0;
	}
	while (*at < count && is_good) {
		struct tdm_wire_message message;
		size_t used;
		enum tdm_wire_found found =
			c->form == TDM_FORM_SIZES
				? tdm_wire_next(&c->wire, bytes + *at, count - *at, is_quiet, &message, &used)
			: c->form == TDM_FORM_SHORT ? tdm_wire_short(bytes + *at, count - *at, &message, &used)
						    : tdm_wire_helper(bytes + *at, count - *at, &message, &used);
		if (found == TDM_WIRE_NONE)
			return true;
		is_good = found != TDM_WIRE_BAD;
		*at += used;
		if (found == TDM_WIRE_MESSAGE && !handle(c, &message))
			return false;
	}
	if (is_good)
		return true;
	c->server->clients.counters.bad_streams++;
	tdm_server_log_line(
		&c->server->log, "⚠ [PID %d] Closing a connection: its bytes are not messages\n", c->peer.pid);
	return false;
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

/* After reading or writing, closes the connection or waits for its next event. False if it was closed. */
static bool connection_settle(struct tdm_connection *c, bool is_good)
{
	if (!is_good || (c->is_ending && c->out.len == 0)) {
		tdm_connection_close(c);
		return false;
	}
	bool waits = c->out.len != 0;
	c->server->clients.counters.waits += waits && c->watch.events != EPOLLOUT;
	tdm_loop_change(c->server->loop, &c->watch, waits ? EPOLLOUT : EPOLLIN);
	return true;
}

/* ---- the thread that answers questions --------------------------------------------------------------------------- */

struct tdm_quick {
	struct tdm_server *server;
	pthread_t thread;
	bool is_running;
	int epoll, stop;
	struct tdm_watch back; /* wakes the loop when the thread returns connections */
	pthread_mutex_t turn;  /* held by the thread while it is answering */
	_Atomic uint64_t takes;
	struct tdm_connection *first; /* connections that belong to the thread; the list is used only by the loop */
	pthread_mutex_t lock;         /* guards the list of returned connections */
	struct tdm_connection *returned;
};

/* Answers a question. False if the loop must take the connection back. */
static bool answer_next(struct tdm_connection *c)
{
	uint8_t bytes[TDM_WIRE_SIZE_MAX];
	struct tdm_wire_message m;
	size_t used, size = c->wire.size;
	ssize_t got = recv(c->watch.fd, bytes, size, MSG_PEEK | MSG_DONTWAIT);
	if (got < 0)
		return errno == EAGAIN || errno == EINTR;
	if ((size_t)got != size || !is_question(bytes[0]))
		return false;
	if (tdm_wire_next(&c->wire, bytes, size, false, &m, &used) != TDM_WIRE_MESSAGE)
		return false;
	if (recv(c->watch.fd, bytes, size, MSG_DONTWAIT) != (ssize_t)size)
		return false; /* cannot happen: only this thread reads */
	atomic_fetch_add_explicit(&c->server->clients.counters.quick_bytes, size, memory_order_relaxed);
	answer_question(c, &m);
	return c->out.len == 0;
}

static void wake(int fd)
{
	const uint64_t one = 1;
	(void)!write(fd, &one, sizeof one);
}

/*
 * Requests short time slices: Linux then runs the thread soon after it is woken, before others have used up theirs.
 * Needs no privileges, because the thread's share stays the same. Kernels before 6.12 refuse or ignore this.
 */
static void take_short_turns(void)
{
	enum { TURN_NS = 100000 };
	struct {
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t runtime, deadline, period;
	} attr = { .size = 0 };
	if (syscall(SYS_sched_getattr, 0, &attr, sizeof attr, 0) != 0 || attr.policy != SCHED_OTHER)
		return;
	attr.runtime = TURN_NS;
	syscall(SYS_sched_setattr, 0, &attr, 0);
}

static void *run_thread(void *arg)
{
	struct tdm_quick *quick = arg;
	pthread_setname_np(pthread_self(), "questions");
	take_short_turns();
	struct epoll_event batch[BATCH];
	for (;;) {
		uint64_t takes = quick->takes;
		int count = epoll_wait(quick->epoll, batch, BATCH, -1);
		if (count < 0 && errno != EINTR)
			return NULL;
		/* false if the loop has taken a connection since then: in that case the others may be gone */
		bool is_here = true;
		for (int i = 0; i < count && is_here; i++) {
			struct tdm_connection *c = batch[i].data.ptr;
			if (c == NULL)
				return NULL;
			pthread_mutex_lock(&quick->turn);
			is_here = quick->takes == takes;
			if (is_here && !answer_next(c)) {
				epoll_ctl(quick->epoll, EPOLL_CTL_DEL, c->watch.fd, NULL);
				pthread_mutex_lock(&quick->lock);
				c->returned_next = quick->returned;
				quick->returned = c;
				pthread_mutex_unlock(&quick->lock);
				wake(quick->back.fd);
			}
			pthread_mutex_unlock(&quick->turn);
		}
	}
}

/* Handles a connection returned by the thread. False if it was closed. */
static bool returned(struct tdm_connection *c)
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

static void back_ready(struct tdm_watch *watch)
{
	struct tdm_quick *quick = tdm_loop_owner(watch, struct tdm_quick, back);
	uint64_t times;
	(void)!read(watch->fd, &times, sizeof times);
	pthread_mutex_lock(&quick->lock);
	struct tdm_connection *c = quick->returned;
	quick->returned = NULL;
	pthread_mutex_unlock(&quick->lock);
	for (struct tdm_connection *next; c != NULL; c = next) {
		next = c->returned_next;
		returned(c);
	}
}

/* Gives one of the loop's connections to the thread; if that fails, the connection stays with the loop. False if it
 * was closed. */
static bool give_to_thread(struct tdm_quick *quick, struct tdm_connection *c)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = c };
	if (c->returns >= RETURNS_MAX)
		return true;
	if (!quick->is_running)
		quick->is_running = pthread_create(&quick->thread, NULL, run_thread, quick) == 0;
	if (!quick->is_running)
		return true;
	tdm_loop_remove(quick->server->loop, &c->watch);
	c->is_quick = true;
	c->quick_next = quick->first;
	c->quick_prev = &quick->first;
	if (quick->first != NULL)
		quick->first->quick_prev = &c->quick_next;
	quick->first = c;
	return epoll_ctl(quick->epoll, EPOLL_CTL_ADD, c->watch.fd, &event) == 0 || returned(c);
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

bool tdm_connection_read(struct tdm_connection *c)
{
	struct tdm_server *server = c->server;
	uint8_t *bytes = server->bytes;
	/* Ready connections share the bytes of a round. */
	size_t ready = server->loop->batch_count > 0 ? (size_t)server->loop->batch_count : 1, at;
	size_t share = tdm_max(tdm_min(READ_ROUND / ready, TDM_CONNECTION_READ), READ_LEAST);
	ssize_t got;
	memcpy(bytes, c->hold, c->held);
	do
		got = recv(c->watch.fd, bytes + c->held, share, MSG_DONTWAIT);
	while (got < 0 && errno == EINTR);
	if (got < 0 && errno == EAGAIN)
		return connection_settle(c, true);
	if (got <= 0) {
		server->clients.counters.half_messages += got == 0 && c->held != 0;
		return connection_settle(c, false);
	}
	server->clients.counters.bytes += (uint64_t)got;
	size_t count = c->held + (size_t)got;
	bool is_good = divide(c, bytes, count, (size_t)got < share, &at);
	if (c->client != NULL)
		tdm_client_settle(c->client);
	/* While messages come in quick succession, the next round begins a little later: otherwise a client sending
	 * one message per call would pay for waking us each time. Clients that wait for replies are never delayed. */
	if ((size_t)got < share && server->loop->waited_ns < BUSY_NS &&
		server->replied_round != server->loop->rounds + 1)
		server->loop->rest_ns = REST_NS;
	c->held = (uint8_t)tdm_min(count - at, sizeof c->hold); /* always fits: less than a message */
	memcpy(c->hold, bytes + at, c->held);
	if (!connection_settle(c, is_good))
		return false;
	bool may_be_quick = server->quick != NULL && c->has_asked && c->client == NULL && c->form == TDM_FORM_SIZES &&
			    c->held == 0 && c->out.len == 0 && !c->is_ending;
	return !may_be_quick || give_to_thread(server->quick, c);
}

static void connection_ready(struct tdm_watch *watch)
{
	struct tdm_connection *c = tdm_loop_owner(watch, struct tdm_connection, watch);
	if (c->out.len != 0 || c->is_ending) {
		send_out(c);
		connection_settle(c, true);
		return;
	}
	tdm_connection_read(c);
}

/* ---- connections ------------------------------------------------------------------------------------------------- */

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
	c->start = tdm_clients_start_of(&server->clients, c->peer.pid);
	if (c->start == 0 && server->spare_fd >= 0) {
		/* Reading the start time needs a descriptor, and the new connection may have used the last one. */
		close(server->spare_fd);
		c->start = tdm_clients_start_of(&server->clients, c->peer.pid);
		server->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	}
	if (tdm_socket_peer_has_ended(fd)) /* checked last, because the start time may belong to another process */
		c->start = 0;
	c->next = server->first;
	c->prev = &server->first;
	if (server->first != NULL)
		server->first->prev = &c->next;
	server->first = c;
	server->open++;
	server->clients.counters.connections++;
	return c;
}

void tdm_connection_read_rest(struct tdm_connection *c)
{
	const struct tdm_server *server = c->server;
	const struct tdm_client *client = c->client;
	uint64_t begin = server->clients.counters.bytes, before;
	int waiting = 0;
	(void)ioctl(c->watch.fd, SIOCINQ, &waiting);
	do {
		before = server->clients.counters.bytes;
		drop_out(c); /* by now no client is waiting for replies */
	} while (before - begin < (uint64_t)waiting && tdm_connection_read(c) &&
		 (client == NULL || c->client == client) && server->clients.counters.bytes != before);
}

/* ---- the server's use of the thread
 * ---------------------------------------------------------------------------------- */

struct tdm_quick *tdm_quick_new(struct tdm_server *server)
{
	struct tdm_quick *quick = tdm_zalloc(1, sizeof *quick);
	quick->server = server;
	pthread_mutex_init(&quick->turn, NULL);
	pthread_mutex_init(&quick->lock, NULL);
	quick->epoll = epoll_create1(EPOLL_CLOEXEC);
	quick->stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	quick->back = (struct tdm_watch){
		.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), .events = EPOLLIN, .ready = back_ready
	};
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = NULL };
	if (quick->epoll < 0 || quick->stop < 0 || quick->back.fd < 0 ||
		epoll_ctl(quick->epoll, EPOLL_CTL_ADD, quick->stop, &event) != 0 ||
		tdm_loop_add(server->loop, &quick->back) != 0) {
		tdm_quick_free(quick);
		return NULL;
	}
	return quick;
}

void tdm_quick_free(struct tdm_quick *quick)
{
	if (quick == NULL)
		return;
	if (quick->is_running) {
		wake(quick->stop);
		pthread_join(quick->thread, NULL);
	}
	const int fds[] = { quick->epoll, quick->stop, quick->back.fd };
	tdm_loop_remove(quick->server->loop, &quick->back);
	for (size_t i = 0; i < sizeof fds / sizeof *fds; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	while (quick->first != NULL)
		returned(quick->first);
	pthread_mutex_destroy(&quick->turn);
	pthread_mutex_destroy(&quick->lock);
	free(quick);
}

void tdm_quick_take(struct tdm_quick *quick, const struct tdm_client *client)
{
	for (struct tdm_connection *c = quick->first, *next; c != NULL; c = next) {
		next = c->quick_next;
		if (c->peer.pid != client->pid || c->start != client->start)
			continue;
		pthread_mutex_lock(&quick->turn);
		epoll_ctl(quick->epoll, EPOLL_CTL_DEL, c->watch.fd, NULL);
		quick->takes++; /* last, so that a wait with the new number cannot return this connection */
		pthread_mutex_unlock(&quick->turn);
		pthread_mutex_lock(&quick->lock); /* the thread may already have returned the connection */
		for (struct tdm_connection **at = &quick->returned; *at != NULL; at = &(*at)->returned_next)
			if (*at == c) {
				*at = c->returned_next;
				break;
			}
		pthread_mutex_unlock(&quick->lock);
		if (returned(c))
			tdm_connection_join(c);
	}
}
