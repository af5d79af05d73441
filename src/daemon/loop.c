#include "daemon/loop.h"
#include "base/clock.h"

#include <errno.h>
#include <sys/signalfd.h>
#include <unistd.h>

int tdm_loop_init(struct tdm_loop *loop)
{
	*loop = (struct tdm_loop){ .epoll = epoll_create1(EPOLL_CLOEXEC), .signals.fd = -1 };
	return loop->epoll >= 0 ? 0 : -errno;
}

void tdm_loop_done(struct tdm_loop *loop)
{
	if (loop->signals.fd >= 0)
		close(loop->signals.fd);
	if (loop->epoll >= 0)
		close(loop->epoll);
	loop->signals.fd = loop->epoll = -1;
}

int tdm_loop_add(struct tdm_loop *loop, struct tdm_watch *watch)
{
	struct epoll_event event = { .events = watch->events, .data.ptr = watch };
	return epoll_ctl(loop->epoll, EPOLL_CTL_ADD, watch->fd, &event) == 0 ? 0 : -errno;
}

int tdm_loop_change(struct tdm_loop *loop, struct tdm_watch *watch, uint32_t events)
{
	if (watch->events == events)
		return 0;
	struct epoll_event event = { .events = events, .data.ptr = watch };
	if (epoll_ctl(loop->epoll, EPOLL_CTL_MOD, watch->fd, &event) != 0)
		return -errno;
	watch->events = events;
	return 0;
}

void tdm_loop_remove(struct tdm_loop *loop, struct tdm_watch *watch)
{
	epoll_ctl(loop->epoll, EPOLL_CTL_DEL, watch->fd, NULL);
	for (int i = loop->batch_at; i < loop->batch_count; i++)
		if (loop->batch[i].data.ptr == watch)
			loop->batch[i].data.ptr = NULL;
}

void tdm_loop_stop(struct tdm_loop *loop, struct tdm_timer *timer)
{
	for (struct tdm_timer **at = &loop->timers; *at != NULL; at = &(*at)->next)
		if (*at == timer) {
			*at = timer->next;
			break;
		}
	timer->at_ns = 0;
	timer->next = NULL;
}

void tdm_loop_start(struct tdm_loop *loop, struct tdm_timer *timer, uint64_t after_ns)
{
	tdm_loop_stop(loop, timer);
	timer->at_ns = tdm_clock_ns() + after_ns;
	timer->next = loop->timers;
	loop->timers = timer;
}

static void signals_ready(struct tdm_watch *watch, uint32_t events)
{
	struct tdm_loop *loop = tdm_loop_owner(watch, struct tdm_loop, signals);
	struct signalfd_siginfo info;
	(void)events;
	while (read(watch->fd, &info, sizeof info) == (ssize_t)sizeof info)
		loop->signal(loop->signal_context, (int)info.ssi_signo);
}

int tdm_loop_signals(
	struct tdm_loop *loop, const sigset_t *signals, void (*call)(void *context, int number), void *context)
{
	if (sigprocmask(SIG_BLOCK, signals, NULL) != 0)
		return -errno;
	loop->signal = call;
	loop->signal_context = context;
	loop->signals = (struct tdm_watch){
		.fd = signalfd(-1, signals, SFD_CLOEXEC | SFD_NONBLOCK), .events = EPOLLIN, .ready = signals_ready
	};
	return loop->signals.fd >= 0 ? tdm_loop_add(loop, &loop->signals) : -errno;
}

/* The timer that is due first; NULL if none is running. */
static struct tdm_timer *first_timer(const struct tdm_loop *loop)
{
	struct tdm_timer *first = loop->timers;
	for (struct tdm_timer *timer = first; timer != NULL; timer = timer->next)
		if (timer->at_ns < first->at_ns)
			first = timer;
	return first;
}

static void run_timers(struct tdm_loop *loop, uint64_t now_ns)
{
	struct tdm_timer *timer;
	while (!loop->is_over && (timer = first_timer(loop)) != NULL && timer->at_ns <= now_ns) {
		if (timer->every_ns != 0)
			timer->at_ns = now_ns + timer->every_ns; /* what was missed is not made up for */
		else
			tdm_loop_stop(loop, timer);
		timer->ready(timer, now_ns);
	}
}

/* Milliseconds to wait, rounded up, so that a timer is never found a little too early again and again. */
static int time_left(const struct tdm_loop *loop, uint64_t now_ns)
{
	enum { MOST_MS = 3600 * 1000 };
	const struct tdm_timer *timer = first_timer(loop);
	if (loop->last_rounds != 0)
		return 0;
	if (timer == NULL)
		return -1;
	if (timer->at_ns <= now_ns)
		return 0;
	uint64_t ms = (timer->at_ns - now_ns + TDM_NS_PER_MS - 1) / TDM_NS_PER_MS;
	return ms < MOST_MS ? (int)ms : MOST_MS;
}

/* A system call and a wake-up for each message cost more than the message. */
static void rest(struct tdm_loop *loop, uint64_t *now_ns)
{
	struct timespec time = { .tv_nsec = (long)loop->rest_ns };
	if (loop->rest_ns == 0 || loop->is_over || loop->last_rounds != 0)
		return;
	nanosleep(&time, NULL);
	loop->rest_ns = 0;
	*now_ns = tdm_clock_ns();
}

int tdm_loop_run(struct tdm_loop *loop)
{
	uint64_t now_ns = tdm_clock_ns();
	while (!loop->is_over) {
		int count = epoll_wait(loop->epoll, loop->batch, TDM_LOOP_BATCH, time_left(loop, now_ns));
		if (count < 0 && errno != EINTR)
			return -errno;
		if (loop->last_rounds != 0 && (count == 0 || --loop->last_rounds == 0))
			break;
		uint64_t woken_ns = tdm_clock_ns();
		loop->waited_ns = woken_ns - now_ns;
		loop->batch_count = count < 0 ? 0 : count;
		for (loop->batch_at = 0; loop->batch_at < loop->batch_count && !loop->is_over;) {
			const struct epoll_event *event = &loop->batch[loop->batch_at++];
			struct tdm_watch *watch = event->data.ptr;
			if (watch != NULL)
				watch->ready(watch, event->events);
		}
		now_ns = tdm_clock_ns();
		run_timers(loop, now_ns);
		loop->rounds++;
		now_ns = tdm_clock_ns();
		loop->busy_ns += now_ns - woken_ns;
		rest(loop, &now_ns);
	}
	return 0;
}

void tdm_loop_end(struct tdm_loop *loop)
{
	loop->is_over = true;
}

void tdm_loop_finish(struct tdm_loop *loop)
{
	enum { LAST_ROUNDS = 64 }; /* those who never stop sending do not keep it from ending */
	if (loop->last_rounds == 0)
		loop->last_rounds = LAST_ROUNDS;
}
