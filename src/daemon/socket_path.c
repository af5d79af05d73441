#include "daemon/socket_path.h"
#include "base/clock.h"
#include "base/str.h"
#include "sources/server_ask.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { BACKLOG = 4096, FIRST_FD = 3, FDS_MAX = 64 };
#define ORPHAN_NS (2 * TDM_NS_PER_S)

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77 /* since Linux 6.5 */
#endif

bool tdm_socket_peer_has_ended(int fd)
{
	struct pollfd life = { .fd = -1, .events = POLLIN };
	struct ucred peer;
	socklen_t len = sizeof life.fd;
	int err = getsockopt(fd, SOL_SOCKET, SO_PEERPIDFD, &life.fd, &len) == 0 ? 0 : errno;
	if (err == ENOPROTOOPT) {
		len = sizeof peer;
		if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) != 0 || peer.pid <= 0)
			return false;
		life.fd = (int)syscall(SYS_pidfd_open, peer.pid, 0);
		err = life.fd >= 0 ? 0 : errno;
	}
	if (err != 0)
		return err == ESRCH || err == EINVAL;
	bool has_ended = poll(&life, 1, 0) == 1;
	close(life.fd);
	return has_ended;
}

/*
 * Connects, and says what that gives: a descriptor, or -errno. Somebody else, such as a child that did not run yet, may
 * have the socket of a daemon that was killed a little longer; that is waited for. If it stays, another process goes on
 * with it.
 */
static int connect_at_last(const char *path)
{
	uint64_t until = tdm_clock_ns() + ORPHAN_NS;
	for (;;) {
		int fd = tdm_server_connect(path);
		uint64_t now = tdm_clock_ns();
		if (fd < 0 || now >= until || !tdm_socket_peer_has_ended(fd))
			return fd;
		struct pollfd end = { .fd = fd };
		poll(&end, 1, (int)((until - now) / TDM_NS_PER_MS) + 1);
		close(fd);
		poll(NULL, 0, 1); /* a connection may end a moment before the socket does */
	}
}

/* What is at a path. 0: nothing, or a socket that nobody listens on. */
static int look_at(const char *path)
{
	struct stat st;
	if (lstat(path, &st) != 0)
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISSOCK(st.st_mode))
		return -ENOTSOCK;
	int fd = connect_at_last(path);
	if (fd >= 0)
		close(fd);
	/* A full queue of connections has a listener, too. */
	return fd >= 0 || fd == -EAGAIN ? -EADDRINUSE : fd == -ECONNREFUSED || fd == -ENOENT ? 0 : fd;
}

/* Gives the socket a name of its own, next to the one that it will have. */
static int bind_beside(struct tdm_socket_path *at, const char *path, uint32_t mode, struct sockaddr_un *address)
{
	struct stat st;
	int len = snprintf(address->sun_path, sizeof address->sun_path, "%s.%d", path, (int)getpid());
	address->sun_family = AF_UNIX;
	if (len < 0 || (size_t)len >= sizeof address->sun_path)
		return -ENAMETOOLONG;
	if (look_at(address->sun_path) == 0)
		unlink(address->sun_path); /* left by a process that was killed here and had our pid */
	/* Nobody may connect before the permissions are set; umask() is the process's, which has only one thread until
	   clients connect. */
	mode_t before = umask(0777);
	int err = bind(at->fd, (const struct sockaddr *)address, sizeof *address) == 0 ? 0 : -errno;
	umask(before);
	if (err != 0)
		return err;
	if (chmod(address->sun_path, (mode_t)mode) != 0 || listen(at->fd, BACKLOG) != 0 ||
		lstat(address->sun_path, &st) != 0) {
		err = -errno;
		unlink(address->sun_path);
		return err;
	}
	at->device = st.st_dev;
	at->inode = st.st_ino;
	return 0;
}

/* Gives the socket its name. A name that has come up meanwhile is looked at again: link() replaces nothing. */
static int take_name(const char *beside, const char *path, bool takes_over)
{
	int err = link(beside, path) == 0 ? 0 : -errno;
	if (err != 0) {
		err = look_at(path);
		if (err == 0 || (err == -EADDRINUSE && takes_over))
			err = rename(beside, path) == 0 ? 0 : -errno;
	}
	unlink(beside);
	return err;
}

int tdm_socket_path_listen(struct tdm_socket_path *at, const char *path, uint32_t mode, bool takes_over)
{
	struct sockaddr_un beside;
	*at = (struct tdm_socket_path){ .fd = -1 };
	if (strlen(path) >= sizeof at->path)
		return -ENAMETOOLONG;
	strcpy(at->path, path);
	int err = look_at(path);
	if (err != 0 && !(err == -EADDRINUSE && takes_over))
		return err;
	at->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (at->fd < 0)
		return -errno;
	err = bind_beside(at, path, mode, &beside);
	if (err == 0)
		err = take_name(beside.sun_path, path, takes_over);
	if (err != 0) {
		close(at->fd);
		at->fd = -1;
	}
	return err;
}

int tdm_socket_path_adopt(struct tdm_socket_path *at, int fd)
{
	struct sockaddr_un address;
	socklen_t len = sizeof address;
	int is_listening = 0;
	socklen_t flag = sizeof is_listening;
	*at = (struct tdm_socket_path){ .fd = -1 };
	if (getsockname(fd, (struct sockaddr *)&address, &len) != 0 || address.sun_family != AF_UNIX ||
		getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &is_listening, &flag) != 0 || !is_listening)
		return -ENOTSOCK;
	size_t path = len > offsetof(struct sockaddr_un, sun_path) ? len - offsetof(struct sockaddr_un, sun_path) : 0;
	memcpy(at->path, address.sun_path, path < sizeof at->path ? path : sizeof at->path - 1);
	at->fd = fd;
	return fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) == 0 && fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 ? 0
													       : -errno;
}

bool tdm_socket_path_is_there(const struct tdm_socket_path *at)
{
	struct stat st;
	return lstat(at->path, &st) == 0 && st.st_dev == at->device && st.st_ino == at->inode;
}

void tdm_socket_path_close(struct tdm_socket_path *at, bool removes)
{
	if (at->fd < 0)
		return;
	if (removes && at->inode != 0 && tdm_socket_path_is_there(at))
		unlink(at->path);
	close(at->fd);
	at->fd = -1;
}

/* The i-th of the names that are separated by colons. */
static struct tdm_str nth_name(const char *names, unsigned i)
{
	struct tdm_str name = { "", 0 };
	for (; names != NULL; i--) {
		const char *end = strchrnul(names, ':');
		if (i == 0)
			return (struct tdm_str){ names, (size_t)(end - names) };
		names = *end == ':' ? end + 1 : NULL;
	}
	return name;
}

int tdm_socket_activation(const char *name, unsigned i)
{
	uint64_t pid, count;
	const char *names = getenv("LISTEN_FDNAMES");
	if (tdm_str_parse_u64(tdm_str_of(getenv("LISTEN_PID")), &pid) != 0 || pid != (uint64_t)getpid() ||
		tdm_str_parse_u64(tdm_str_of(getenv("LISTEN_FDS")), &count) != 0)
		return -ENOENT;
	count = count < FDS_MAX ? count : FDS_MAX;
	for (unsigned k = 0; k < count && names != NULL; k++)
		if (tdm_str_is(nth_name(names, k), name))
			return FIRST_FD + (int)k;
	/* systemd's own name for a unit that gives none is that of the unit. */
	return names == NULL || strchr(names, ':') == NULL ? i < count ? FIRST_FD + (int)i : -ENOENT : -ENOENT;
}

void tdm_socket_activation_done(void)
{
	unsetenv("LISTEN_PID");
	unsetenv("LISTEN_FDS");
	unsetenv("LISTEN_FDNAMES");
}
