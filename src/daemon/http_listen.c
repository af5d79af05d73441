#include "daemon/http_listen.h"
#include "base/err.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
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

int tdm_http_listen_unix(const char *path, struct tdm_socket_path *at, struct tdm_diag *diag)
{
	int err = tdm_socket_path_listen(at, path, ANYBODY, false);
	return err == 0 ? 0 : tdm_diag_set(diag, err, 0, 0, "cannot listen on %s: %s", path, tdm_err_text(err));
}
