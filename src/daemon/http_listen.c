#include "daemon/http_listen.h"
#include "base/err.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { BACKLOG = 128, ANYBODY = 0666 };

static int open_tcp(const struct addrinfo *address, uint16_t *port)
{
	const int on = 1;
	struct sockaddr_storage own;
	socklen_t len = sizeof own;
	int fd = socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	if (bind(fd, address->ai_addr, address->ai_addrlen) != 0 || listen(fd, BACKLOG) != 0 ||
		getsockname(fd, (struct sockaddr *)&own, &len) != 0) {
		int err = -errno;
		close(fd);
		return err;
	}
	*port = ntohs(own.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&own)->sin6_port
						: ((struct sockaddr_in *)&own)->sin_port);
	return fd;
}

int tdm_http_listen_tcp(const char *host, uint16_t *port, struct tdm_diag *diag)
{
	const struct addrinfo hints = { .ai_flags = AI_PASSIVE | AI_NUMERICSERV, .ai_socktype = SOCK_STREAM };
	struct addrinfo *list = NULL;
	char service[8];
	snprintf(service, sizeof service, "%u", (unsigned)*port);
	host = host != NULL ? host : "127.0.0.1";
	int failed = getaddrinfo(host, service, &hints, &list);
	if (failed != 0)
		return tdm_diag_set(diag, -EADDRNOTAVAIL, 0, 0, "'%s' is no address: %s", host, gai_strerror(failed));
	int fd = open_tcp(list, port);
	freeaddrinfo(list);
	if (fd < 0)
		tdm_diag_set(diag, fd, 0, 0, "cannot listen on %s, port %s: %s", host, service, tdm_err_text(fd));
	return fd;
}

bool tdm_http_is_loopback(const struct sockaddr *address)
{
	if (address->sa_family == AF_INET)
		return ntohl(((const struct sockaddr_in *)(const void *)address)->sin_addr.s_addr) >> 24 == 127;
	const struct in6_addr *six = &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr;
	return address->sa_family == AF_INET6 &&
	       (IN6_IS_ADDR_LOOPBACK(six) || (IN6_IS_ADDR_V4MAPPED(six) && six->s6_addr[12] == 127));
}

uint32_t tdm_http_peer_uid(int fd)
{
	struct ucred peer;
	socklen_t len = sizeof peer;
	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 ? (uint32_t)peer.uid : UINT32_MAX;
}

/* Whether a socket is there that nobody listens to. */
static bool is_stale(const char *path, const struct sockaddr_un *address)
{
	struct stat st;
	if (lstat(path, &st) != 0 || !S_ISSOCK(st.st_mode) || st.st_uid != geteuid())
		return false;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	bool refused =
		fd >= 0 && connect(fd, (const struct sockaddr *)address, sizeof *address) != 0 && errno == ECONNREFUSED;
	if (fd >= 0)
		close(fd);
	return refused;
}

int tdm_http_listen_unix(const char *path, struct tdm_diag *diag)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	size_t len = strlen(path);
	if (len == 0 || len >= sizeof address.sun_path)
		return tdm_diag_set(diag, -ENAMETOOLONG, 0, 0, "the path of a socket has 1 to %zu bytes: '%s'",
			sizeof address.sun_path - 1, path);
	memcpy(address.sun_path, path, len);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), err = 0;
	if (fd < 0)
		return tdm_diag_set(diag, -errno, 0, 0, "cannot make a socket: %s", tdm_err_text(-errno));
	if (is_stale(path, &address))
		unlink(path);
	if (bind(fd, (const struct sockaddr *)&address, sizeof address) != 0)
		err = -errno;
	else if (chmod(path, ANYBODY) != 0 || listen(fd, BACKLOG) != 0) {
		err = -errno;
		unlink(path);
	}
	if (err == 0)
		return fd;
	close(fd);
	return tdm_diag_set(diag, err, 0, 0, "cannot listen on '%s': %s", path, tdm_err_text(err));
}
