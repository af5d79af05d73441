/*
 * Sockets with a name in the file system, and those that systemd hands over.
 *
 * A socket gets its permissions before it gets its name, so that nobody else can connect in between. A name that is
 * taken is never deleted blindly: a socket that somebody listens on is refused, one that nobody listens on is replaced,
 * and anything else (a file, a symbolic link) is refused.
 */
#ifndef TDM_DAEMON_SOCKET_PATH_H
#define TDM_DAEMON_SOCKET_PATH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/un.h>

struct tdm_socket_path {
	int fd; /* listening; -1: none */
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
	uint64_t device, inode; /* of the name, to recognise it; both 0: it is not ours to remove */
};

/*
 * Listens on a path. 0; -EADDRINUSE: somebody listens there; -ENOTSOCK: something else is there; -ENAMETOOLONG; or
 * -errno. `takes_over` replaces a socket on which somebody listens.
 */
int tdm_socket_path_listen(struct tdm_socket_path *at, const char *path, uint32_t mode, bool takes_over);

/* Uses a descriptor that is listening already, e.g. one of systemd's. 0; -ENOTSOCK: it is not such a socket. */
int tdm_socket_path_adopt(struct tdm_socket_path *at, int fd);

/* Closes it, and removes the name if it still belongs to this socket. */
void tdm_socket_path_close(struct tdm_socket_path *at, bool removes);

/* Whether the name still belongs to this socket. */
bool tdm_socket_path_is_there(const struct tdm_socket_path *at);

/*
 * Whether the process on the other end of a connection, which connected or listens, has ended: its pid may be another's
 * by now. Before Linux 6.5 only its pid tells. False if nobody can tell.
 */
bool tdm_socket_peer_has_ended(int fd);

/*
 * The descriptor that systemd has for us under this name ($LISTEN_FDNAMES); without names the i-th one of i = 0, 1, …
 * A descriptor, or -ENOENT. Its variables stay set, so call tdm_socket_activation_done() in the end.
 */
int tdm_socket_activation(const char *name, unsigned i);
void tdm_socket_activation_done(void);

#endif
