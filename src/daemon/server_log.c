#include "daemon/server_log.h"
#include "base/clock.h"
#include "base/number.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	CAP = 1 << 20,
	LAST_WAIT_MS = 200, /* for the reader, when the daemon ends */
	RETRY_MS = 20,      /* where the loop cannot wait for room */
	SMALL_WRITE = 4096, /* what a pipe that is ready takes at once */
};

/* Writes without waiting. The number of bytes, or -errno. */
static ssize_t write_some(const struct tdm_server_log *log, const char *data, size_t len)
{
	struct pollfd out = { .fd = log->watch.fd, .events = POLLOUT };
	ssize_t done;
	if (log->is_socket) {
		done = send(log->watch.fd, data, len, MSG_DONTWAIT | MSG_NOSIGNAL);
	} else {
		bool may_block = !log->is_own && !log->is_file; /* its flags are shared with others */
		if (may_block && poll(&out, 1, 0) == 0)
			return -EAGAIN;
		done = write(log->watch.fd, data, may_block ? tdm_min(len, SMALL_WRITE) : len);
	}
	return done >= 0 ? done : -errno;
}

static void wait_for_room(struct tdm_server_log *log)
{
	if (log->is_waiting)
		return;
	log->is_waiting = tdm_loop_add(log->loop, &log->watch) == 0;
	if (!log->is_waiting)
		tdm_loop_start(log->loop, &log->flush, RETRY_MS * TDM_NS_PER_MS);
}

static void flush(struct tdm_server_log *log)
{
	while (log->at < log->len) {
		ssize_t done = write_some(log, log->data + log->at, log->len - log->at);
		if (done == -EINTR)
			continue;
		if (done == -EAGAIN) {
			wait_for_room(log);
			return;
		}
		if (done < 0) { /* nobody reads it any more: it goes nowhere */
			log->at = log->len;
			break;
		}
		log->at += (size_t)done;
	}
	log->at = log->len = 0;
	if (log->is_waiting)
		tdm_loop_remove(log->loop, &log->watch);
	log->is_waiting = false;
	if (log->lost != log->said) {
		uint64_t count = log->lost - log->said;
		log->said = log->lost;
		tdm_server_log_line(log, "⚠ %llu lines were lost, because the output was not read fast enough\n",
			(unsigned long long)count);
	}
}

static void flush_time(struct tdm_timer *timer, uint64_t now_ns)
{
	(void)now_ns;
	flush(tdm_loop_owner(timer, struct tdm_server_log, flush));
}

static void writable(struct tdm_watch *watch, uint32_t events)
{
	(void)events;
	flush(tdm_loop_owner(watch, struct tdm_server_log, watch));
}

/*
 * A descriptor of our own for a terminal or a pipe, so that it can be non-blocking: that is a flag of the open file,
 * which we share with whoever started us. A file takes everything at once, and a new descriptor would begin at its
 * start.
 */
static int own_descriptor(int fd)
{
	char path[40];
	struct stat facts;
	if (fstat(fd, &facts) != 0 || S_ISREG(facts.st_mode) || S_ISSOCK(facts.st_mode))
		return -1;
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	return open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
}

int tdm_server_log_init(struct tdm_server_log *log, struct tdm_loop *loop, int fd)
{
	struct stat facts;
	bool is_known = fstat(fd, &facts) == 0;
	int own = own_descriptor(fd);
	*log = (struct tdm_server_log){ .loop = loop,
		.watch = { .fd = own >= 0 ? own : fd, .events = EPOLLOUT, .ready = writable },
		.flush.ready = flush_time,
		.is_own = own >= 0,
		.is_socket = is_known && S_ISSOCK(facts.st_mode),
		.is_file = is_known && S_ISREG(facts.st_mode),
		.data = malloc(CAP) };
	return log->data != NULL ? 0 : -ENOMEM;
}

void tdm_server_log_done(struct tdm_server_log *log)
{
	struct pollfd out = { .fd = log->watch.fd, .events = POLLOUT };
	if (log->data == NULL)
		return;
	for (int tries = 0; log->len != 0 && tries < CAP / SMALL_WRITE; tries++) {
		flush(log);
		if (log->len != 0 && poll(&out, 1, LAST_WAIT_MS) <= 0)
			break;
	}
	tdm_loop_stop(log->loop, &log->flush);
	if (log->is_waiting)
		tdm_loop_remove(log->loop, &log->watch);
	if (log->is_own)
		close(log->watch.fd);
	free(log->data);
	log->data = NULL;
}

/* Moves what has not been written to the beginning. Whether there is room. */
static bool has_room(struct tdm_server_log *log, size_t len)
{
	if (CAP - log->len >= len)
		return true;
	if (log->at == 0)
		return false;
	memmove(log->data, log->data + log->at, log->len - log->at);
	log->len -= log->at;
	log->at = 0;
	return CAP - log->len >= len;
}

char *tdm_server_log_begin(struct tdm_server_log *log)
{
	if (__builtin_expect(CAP - log->len < TDM_SERVER_LOG_LINE, 0)) {
		if (!log->is_waiting)
			flush(log);
		if (!has_room(log, TDM_SERVER_LOG_LINE)) {
			log->lost++;
			return NULL;
		}
	}
	return log->data + log->len;
}

void tdm_server_log_end(struct tdm_server_log *log, const char *end)
{
	log->len = (size_t)(end - log->data);
	if (log->flush.at_ns == 0 && !log->is_waiting)
		tdm_loop_start(log->loop, &log->flush, 0); /* at the end of this round */
}

static uint64_t lines_in(struct tdm_str text)
{
	uint64_t lines = 0;
	for (size_t i = 0; i < text.len; i++)
		lines += text.ptr[i] == '\n';
	return lines;
}

void tdm_server_log_text(struct tdm_server_log *log, struct tdm_str text)
{
	if (!log->is_waiting && CAP - log->len < text.len)
		flush(log);
	if (!has_room(log, text.len)) {
		log->lost += lines_in(text);
		return;
	}
	memcpy(log->data + log->len, text.ptr, text.len);
	tdm_server_log_end(log, log->data + log->len + text.len);
}

void tdm_server_log_line(struct tdm_server_log *log, const char *format, ...)
{
	char *line = tdm_server_log_begin(log);
	va_list ap;
	if (line == NULL)
		return;
	va_start(ap, format);
	int len = vsnprintf(line, TDM_SERVER_LOG_LINE, format, ap);
	va_end(ap);
	if (len >= TDM_SERVER_LOG_LINE) {
		len = TDM_SERVER_LOG_LINE - 1;
		line[len - 1] = '\n';
	}
	tdm_server_log_end(log, line + (len > 0 ? len : 0));
}

char *tdm_put_text(char *to, const char *text, size_t len)
{
	memcpy(to, text, len);
	return to + len;
}

char *tdm_put_decimal(char *to, uint64_t number)
{
	char digits[20];
	unsigned at = sizeof digits;
	do
		digits[--at] = (char)('0' + number % 10);
	while ((number /= 10) != 0);
	return tdm_put_text(to, digits + at, sizeof digits - at);
}

char *tdm_put_hex(char *to, uint64_t number)
{
	unsigned shift = number == 0 ? 0 : (63 - (unsigned)__builtin_clzll(number)) / 4 * 4;
	to = TDM_PUT(to, "0x");
	for (;; shift -= 4) {
		*to++ = "0123456789abcdef"[number >> shift & 15];
		if (shift == 0)
			return to;
	}
}
