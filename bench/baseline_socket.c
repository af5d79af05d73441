#include "baseline_socket.h"
#include "event_load.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

enum { ALLOC = 1, RELEASE = 2, SEND_BUFFER = 1 << 20 };

struct message {
	uint8_t type, pad1[3];
	int32_t device;
	uint64_t bytes;
	uint8_t buffer_type, pad2[3];
	int32_t pid;
	uint64_t id;
	uint64_t time_ns;
	uint64_t answers[8]; /* used only by the server */
	uint32_t device_info[6];
	uint32_t ring_info[4];
};
static_assert(sizeof(struct message) == 144, "the fourth version of the protocol");

struct baseline_socket {
	pthread_mutex_t lock;
	int fd;
	pid_t pid, reader;
};

static void send_message(struct baseline_socket *s, const struct message *m)
{
	pthread_mutex_lock(&s->lock);
	if (send(s->fd, m, sizeof *m, MSG_NOSIGNAL) != (ssize_t)sizeof *m)
		abort();
	pthread_mutex_unlock(&s->lock);
}

void baseline_socket_alloc(struct baseline_socket *s, int32_t device, uint64_t bytes, uint8_t type, uint64_t id)
{
	struct message m;
	struct timespec now;
	memset(&m, 0, sizeof m);
	clock_gettime(CLOCK_REALTIME, &now);
	m.type = ALLOC;
	m.device = device;
	m.bytes = bytes;
	m.buffer_type = type;
	m.pid = s->pid;
	m.id = id;
	m.time_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	send_message(s, &m);
}

void baseline_socket_release(struct baseline_socket *s, int32_t device, uint64_t id)
{
	struct message m;
	memset(&m, 0, sizeof m);
	m.type = RELEASE;
	m.device = device;
	m.pid = s->pid;
	m.id = id;
	send_message(s, &m);
}

/* Reads message by message, like the server. Of the readers that sleep while there is nothing to read, this is the
 * fastest; one that never sleeps costs the sender a little less, but disturbs the other runs. */
static _Noreturn void read_all(int fd, int core)
{
	event_pin(core);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	struct message m;
	while (recv(fd, &m, sizeof m, 0) > 0)
		;
	_exit(0);
}

struct baseline_socket *baseline_socket_open(int reader_core)
{
	int fds[2], size = SEND_BUFFER;
	struct baseline_socket *s = malloc(sizeof *s);
	if (s == NULL || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0)
		goto fail;
	setsockopt(fds[0], SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
	*s = (struct baseline_socket){ .fd = fds[0], .pid = getpid() };
	pthread_mutex_init(&s->lock, NULL);
	s->reader = fork();
	if (s->reader == 0) {
		close(fds[0]);
		read_all(fds[1], reader_core);
	}
	close(fds[1]);
	if (s->reader > 0)
		return s;
	close(fds[0]);
fail:
	free(s);
	return NULL;
}

void baseline_socket_close(struct baseline_socket *s)
{
	if (s == NULL)
		return;
	close(s->fd);
	waitpid(s->reader, NULL, 0);
	pthread_mutex_destroy(&s->lock);
	free(s);
}
