#include "daemon/quick_replies.h"
#include "daemon/socket_server.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	BATCH = 64,
	RETURNS_MAX = 8, /* a connection that comes back so often stays with the loop */
};

struct tdm_quick {
	struct tdm_server *server;
	pthread_t thread;
	bool is_running;
	int epoll, stop;
	struct tdm_watch back; /* of the loop: connections come back */
	pthread_mutex_t turn;  /* the thread has it while it answers */
	_Atomic uint64_t takes;
	struct tdm_connection *first; /* that belong to the thread; this list is the loop's */
	pthread_mutex_t lock;         /* of those that it has given back */
	struct tdm_connection *returned;
};

/* --- in the thread ---------------------------------------------------------------------------------------------- */

/* Answers the question that has come. False: the loop must go on with this connection. */
static bool answer(struct tdm_connection *c)
{
	uint8_t bytes[TDM_WIRE_SIZE_MAX];
	struct tdm_wire_message m;
	size_t used, size = c->wire.size;
	ssize_t got = recv(c->watch.fd, bytes, size, MSG_PEEK | MSG_DONTWAIT);
	if (got < 0)
		return errno == EAGAIN || errno == EINTR;
	if ((size_t)got != size || !tdm_server_is_question(bytes[0]))
		return false;
	if (tdm_wire_next(&c->wire, bytes, size, false, &m, &used) != TDM_WIRE_MESSAGE)
		return false;
	if (recv(c->watch.fd, bytes, size, MSG_DONTWAIT) != (ssize_t)size)
		return false; /* nobody else reads here, so this does not happen */
	atomic_fetch_add_explicit(&c->server->counters.quick_bytes, size, memory_order_relaxed);
	tdm_connection_answer(c, &m);
	return c->out.len == 0;
}

static void wake(int fd)
{
	const uint64_t one = 1;
	(void)!write(fd, &one, sizeof one);
}

static void give_back(struct tdm_quick *quick, struct tdm_connection *c)
{
	epoll_ctl(quick->epoll, EPOLL_CTL_DEL, c->watch.fd, NULL);
	pthread_mutex_lock(&quick->lock);
	c->returned_next = quick->returned;
	quick->returned = c;
	pthread_mutex_unlock(&quick->lock);
	wake(quick->back.fd);
}

/*
 * Asks for short turns: Linux then lets it run soon after it was woken, before others have used up theirs. That takes
 * no rights, because its share stays the same. Kernels before 6.12 refuse or ignore it.
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

/* Serves a connection that was found ready. False if the loop has taken one since then: it may be gone. */
static bool serve(struct tdm_quick *quick, struct tdm_connection *c, uint64_t takes)
{
	pthread_mutex_lock(&quick->turn);
	bool is_here = quick->takes == takes;
	if (is_here && !answer(c))
		give_back(quick, c);
	pthread_mutex_unlock(&quick->turn);
	return is_here;
}

static void *run(void *arg)
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
		for (int i = 0; i < count; i++) {
			struct tdm_connection *c = batch[i].data.ptr;
			if (c == NULL)
				return NULL;
			if (!serve(quick, c, takes))
				break;
		}
	}
}

/* --- in the loop's thread --------------------------------------------------------------------------------------- */

static void back_ready(struct tdm_watch *watch, uint32_t events)
{
	struct tdm_quick *quick = tdm_loop_owner(watch, struct tdm_quick, back);
	uint64_t times;
	(void)events;
	(void)!read(watch->fd, &times, sizeof times);
	pthread_mutex_lock(&quick->lock);
	struct tdm_connection *c = quick->returned;
	quick->returned = NULL;
	pthread_mutex_unlock(&quick->lock);
	for (struct tdm_connection *next; c != NULL; c = next) {
		next = c->returned_next;
		tdm_connection_returned(c);
	}
}

struct tdm_quick *tdm_quick_new(struct tdm_server *server)
{
	struct tdm_quick *quick = calloc(1, sizeof *quick);
	if (quick == NULL)
		return NULL;
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
		tdm_connection_returned(quick->first);
	pthread_mutex_destroy(&quick->turn);
	pthread_mutex_destroy(&quick->lock);
	free(quick);
}

bool tdm_quick_give(struct tdm_quick *quick, struct tdm_connection *c)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = c };
	if (c->returns >= RETURNS_MAX)
		return true;
	if (!quick->is_running)
		quick->is_running = pthread_create(&quick->thread, NULL, run, quick) == 0;
	if (!quick->is_running)
		return true;
	tdm_loop_remove(quick->server->loop, &c->watch);
	c->is_quick = true;
	c->quick_next = quick->first;
	c->quick_prev = &quick->first;
	if (quick->first != NULL)
		quick->first->quick_prev = &c->quick_next;
	quick->first = c;
	return epoll_ctl(quick->epoll, EPOLL_CTL_ADD, c->watch.fd, &event) == 0 || tdm_connection_returned(c);
}

/* The thread may have given it back already. */
static void forget_returned(struct tdm_quick *quick, const struct tdm_connection *c)
{
	pthread_mutex_lock(&quick->lock);
	for (struct tdm_connection **at = &quick->returned; *at != NULL; at = &(*at)->returned_next)
		if (*at == c) {
			*at = c->returned_next;
			break;
		}
	pthread_mutex_unlock(&quick->lock);
}

void tdm_quick_take(struct tdm_quick *quick, const struct tdm_client *client)
{
	for (struct tdm_connection *c = quick->first, *next; c != NULL; c = next) {
		next = c->quick_next;
		if (c->peer.pid != client->pid || c->start != client->start)
			continue;
		pthread_mutex_lock(&quick->turn);
		epoll_ctl(quick->epoll, EPOLL_CTL_DEL, c->watch.fd, NULL);
		quick->takes++; /* afterwards, so that whoever waits with the new number does not find it any more */
		pthread_mutex_unlock(&quick->turn);
		forget_returned(quick, c);
		if (tdm_connection_returned(c))
			tdm_connection_join(c);
	}
}
