#include "daemon/socket/socket_server.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/number.h"
#include "ledger/archive/archive.h"
#include "live/host/host.h"
#include "live/runtime/server_wire.h"
#include "model/card/card.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- named sockets ---- */

enum { BACKLOG = 4096, FIRST_FD = 3, FDS_MAX = 64 };
#define ORPHAN_NS (2 * TDM_NS_PER_S)

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77 /* available since Linux 6.5 */
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

/* Checks a path. 0 if it is free or is a socket without a listener. */
static int look_at(const char *path)
{
	struct stat st;
	if (lstat(path, &st) != 0)
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISSOCK(st.st_mode))
		return -ENOTSOCK;
	/* After a daemon was killed, another process, such as a child that has not run yet, may hold the daemon's
	 * socket a little longer: wait for that process. If the socket stays open, it is being served. */
	uint64_t until = tdm_clock_ns() + ORPHAN_NS, now;
	int fd;
	while ((fd = tdm_server_connect(path)) >= 0 && (now = tdm_clock_ns()) < until &&
		tdm_socket_peer_has_ended(fd)) {
		struct pollfd end = { .fd = fd };
		poll(&end, 1, (int)((until - now) / TDM_NS_PER_MS) + 1);
		close(fd);
		poll(NULL, 0, 1); /* the connection may end shortly before the socket does */
	}
	if (fd >= 0)
		close(fd);
	/* A full queue means that another process is listening. */
	return fd >= 0 || fd == -EAGAIN ? -EADDRINUSE : fd == -ECONNREFUSED || fd == -ENOENT ? 0 : fd;
}

int tdm_socket_path_listen(struct tdm_socket_path *at, const char *path, uint32_t mode, bool takes_over)
{
	struct sockaddr_un beside;
	struct stat st = { 0 };
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
	/* The socket first gets a temporary name beside the final one. */
	int len = snprintf(beside.sun_path, sizeof beside.sun_path, "%s.%d", path, (int)getpid());
	beside.sun_family = AF_UNIX;
	err = len < 0 || (size_t)len >= sizeof beside.sun_path ? -ENAMETOOLONG : 0;
	if (err == 0 && look_at(beside.sun_path) == 0)
		unlink(beside.sun_path); /* left by a killed process that had our pid */
	/* Nobody may connect before the permissions are set. umask() affects the whole process, but the process has
	 * only one thread until clients connect. */
	mode_t before = umask(0777);
	if (err == 0 && bind(at->fd, (const struct sockaddr *)&beside, sizeof beside) != 0)
		err = -errno;
	umask(before);
	if (err == 0) {
		if (chmod(beside.sun_path, (mode_t)mode) != 0 || listen(at->fd, BACKLOG) != 0 ||
			lstat(beside.sun_path, &st) != 0)
			err = -errno;
		at->device = st.st_dev;
		at->inode = st.st_ino;
		/* link() replaces nothing: if the name has appeared meanwhile, check it again. */
		if (err == 0 && link(beside.sun_path, path) != 0) {
			err = look_at(path);
			if (err == 0 || (err == -EADDRINUSE && takes_over))
				err = rename(beside.sun_path, path) == 0 ? 0 : -errno;
		}
		unlink(beside.sun_path);
	}
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

int tdm_socket_activation(const char *name, unsigned i)
{
	uint64_t pid, count;
	const char *names = getenv("LISTEN_FDNAMES");
	if (tdm_str_parse_u64(tdm_str_of(getenv("LISTEN_PID")), &pid) != 0 || pid != (uint64_t)getpid() ||
		tdm_str_parse_u64(tdm_str_of(getenv("LISTEN_FDS")), &count) != 0)
		return -ENOENT;
	count = count < FDS_MAX ? count : FDS_MAX;
	const char *at = names;
	for (unsigned k = 0; k < count && at != NULL; k++) {
		const char *end = strchrnul(at, ':');
		if (tdm_str_is((struct tdm_str){ at, (size_t)(end - at) }, name))
			return FIRST_FD + (int)k;
		at = *end == ':' ? end + 1 : NULL;
	}
	/* A single name that is not ours is the unit's name, systemd's default; in that case, the position decides. */
	return names == NULL || strchr(names, ':') == NULL ? i < count ? FIRST_FD + (int)i : -ENOENT : -ENOENT;
}

void tdm_socket_activation_done(void)
{
	unsetenv("LISTEN_PID");
	unsetenv("LISTEN_FDS");
	unsetenv("LISTEN_FDNAMES");
}

/*
 * ---- the list of chips ----
 *
 * The devices of this machine, as clients see them. Chips that the driver lists come first, then chips reached through
 * them, in the order of the runtime's numbers.
 */

#define READ_AGAIN_NS (10 * TDM_NS_PER_S)

static uint64_t known(const struct tdm_card *card, enum tdm_card_field field)
{
	uint64_t value = tdm_card_get(card, field);
	return value != TDM_BYTES_UNKNOWN ? value : 0;
}

/* Describes one of the driver's cards. Returns the card's chip count. */
static uint64_t describe(const struct tdm_host_card *from, struct tdm_known_chip *chip)
{
	struct tdm_card card;
	struct tdm_diag diag;
	const struct tdm_host_value *type = &from->values[TDM_HOST_CARD_TYPE];
	*chip = (struct tdm_known_chip){ 0 };
	snprintf(chip->card, sizeof chip->card, "%.*s", (int)sizeof chip->card - 1,
		type->state == TDM_HOST_KNOWN ? type->text : "unknown card");
	if (type->state != TDM_HOST_KNOWN || tdm_card_init(&card, tdm_str_of(type->text), NULL, &diag) != 0)
		return 1;
	uint64_t banks = known(&card, TDM_CARD_DRAM_BANKS), bank_size = known(&card, TDM_CARD_DRAM_BANK_SIZE);
	uint64_t cores = known(&card, TDM_CARD_GRID_X) * known(&card, TDM_CARD_GRID_Y);
	uint64_t l1_size = known(&card, TDM_CARD_L1_SIZE);
	chip->reply.arch = card.arch; /* messages use the numbers of enum tdm_arch */
	chip->reply.dram_channels = (uint32_t)banks;
	chip->reply.dram_per_channel = (uint32_t)tdm_min(bank_size, UINT32_MAX);
	chip->reply.l1_per_core = (uint32_t)tdm_min(l1_size, UINT32_MAX);
	chip->reply.total_dram = banks * bank_size;
	chip->reply.total_l1 = cores * l1_size;
	return tdm_max(known(&card, TDM_CARD_CHIPS), 1);
}

static void refresh(struct tdm_server *server)
{
	enum { CHIPS_OF_CARD = 8 }; /* chip limit, higher than any card's chip count */
	struct tdm_host host;
	uint64_t now = tdm_clock_ns();
	if (server->chips_ns != 0 && now - server->chips_ns < READ_AGAIN_NS)
		return;
	free(server->chips);
	server->chip_count = 0;
	server->chips_ns = now;
	tdm_host_read(&host, NULL, NULL, NULL);
	server->chips = tdm_zalloc(host.card_count * CHIPS_OF_CARD + 1, sizeof *server->chips);
	for (unsigned nth = 0; nth < CHIPS_OF_CARD; nth++)
		for (size_t i = 0; i < host.card_count; i++) {
			struct tdm_known_chip chip;
			if (nth >= describe(&host.cards[i], &chip))
				continue;
			chip.is_remote = nth != 0;
			server->chips[server->chip_count++] = chip;
		}
	tdm_host_done(&host);
}

void tdm_server_chip_reply(struct tdm_server *server, int32_t device, struct tdm_wire_reply *reply)
{
	pthread_mutex_lock(&server->chips_lock);
	refresh(server);
	bool is_chip = device >= 0 && (size_t)device < server->chip_count;
	*reply = is_chip ? server->chips[device].reply : (struct tdm_wire_reply){ 0 };
	reply->type = TDM_WIRE_DEVICE_INFO_RESPONSE;
	reply->device = device;
	reply->is_available = is_chip || (device == -1 && server->chip_count != 0);
	reply->device_count = device == -1 ? (uint32_t)server->chip_count : 0;
	pthread_mutex_unlock(&server->chips_lock);
}

void tdm_server_chips_text(struct tdm_server *server, struct tdm_buf *out)
{
	pthread_mutex_lock(&server->chips_lock);
	refresh(server);
	tdm_buf_puts(out, "🔍 Device detection (from the driver):\n");
	for (size_t i = 0; i < server->chip_count; i++) {
		const struct tdm_known_chip *chip = &server->chips[i];
		if (chip->reply.arch == 0)
			tdm_buf_printf(out, "   Device %zu: %s (sizes unknown)\n", i, chip->card);
		else
			tdm_buf_printf(out, "   Device %zu: %s (%gGB DRAM, %gMB L1) [%s]\n", i,
				tdm_arch_name((enum tdm_arch)chip->reply.arch),
				(double)chip->reply.total_dram / (1024.0 * 1024 * 1024),
				(double)chip->reply.total_l1 / (1024.0 * 1024), chip->is_remote ? "Remote" : "Local");
	}
	if (server->chip_count != 0)
		tdm_buf_printf(out, "   Total: %zu device(s) detected\n", server->chip_count);
	else
		tdm_buf_puts(out, "   No devices detected\n   Server will track allocations anyway\n");
	pthread_mutex_unlock(&server->chips_lock);
}

/*
 * ---- taking over ----
 *
 * A new daemon takes over from an old one without clients noticing: most clients would be killed by a signal when they
 * send to a closed connection. The new daemon asks in words on the socket. The old one closes its ledgers, sends its
 * sockets and connections as descriptors, each with its state, and exits. Both must belong to the same user, or one
 * must belong to root. The new daemon waits until the old one has exited, because it needs the HTTP port.
 */

enum { WAIT_MS = 5000, BUSY_MS = 1, OUT_MAX = 256 << 20 };

enum item_kind { ITEM_LISTENER = 1, ITEM_CONNECTION, ITEM_END };

/* Data sent along with each descriptor. Both daemons are on one machine, but may have different versions. */
struct item {
	char magic[8];
	uint32_t bytes; /* size of this structure */
	uint32_t kind;  /* enum item_kind */
	uint32_t form;  /* enum tdm_wire_form */
	uint32_t wire_size, is_guessed;
	uint32_t held; /* bytes of `hold` */
	uint32_t out;  /* reply bytes that follow this structure */
	uint32_t is_over, is_ending;
	uint64_t start;
	uint64_t device, inode; /* identify the file that has the listener's name */
	char path[sizeof(((struct tdm_socket_path *)0)->path)];
	uint8_t hold[TDM_WIRE_SIZE_MAX];
};
static const char magic[8] = "TDMTAKE1";

/* Space for one descriptor sent with a message. */
union control {
	struct cmsghdr head;
	char room[CMSG_SPACE(sizeof(int))];
};

static bool wait_until(int fd, short events)
{
	struct pollfd one = { .fd = fd, .events = events };
	int ready;
	do
		ready = poll(&one, 1, WAIT_MS);
	while (ready < 0 && errno == EINTR);
	return ready == 1;
}

/* Sends bytes, with a descriptor attached to the first of them unless `fd` is -1. 0 or -errno. */
static int send_all(int to, const void *bytes, size_t len, int fd)
{
	union control control = { 0 };
	for (size_t at = 0; at < len;) {
		struct iovec part = { (char *)(uintptr_t)bytes + at, len - at };
		struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
		if (at == 0 && fd >= 0) {
			message.msg_control = control.room;
			message.msg_controllen = sizeof control.room;
			control.head = (struct cmsghdr){ CMSG_LEN(sizeof fd), SOL_SOCKET, SCM_RIGHTS };
			memcpy(CMSG_DATA(&control.head), &fd, sizeof fd);
		}
		ssize_t done = sendmsg(to, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (done >= 0)
			at += (size_t)done;
		else if (errno == ETOOMANYREFS) /* too many descriptors in flight: wait until some are taken */
			poll(NULL, 0, BUSY_MS);
		else if (errno != EINTR && !(errno == EAGAIN && wait_until(to, POLLOUT)))
			return -errno;
	}
	return 0;
}

static struct item new_item(enum item_kind kind)
{
	struct item item = { .bytes = sizeof item, .kind = kind };
	memcpy(item.magic, magic, sizeof magic);
	return item;
}

void tdm_takeover_give(struct tdm_server *server, int fd)
{
	struct item end = new_item(ITEM_END);
	int err = 0;
	tdm_quick_free(server->quick);
	server->quick = NULL;
	for (struct tdm_connection *c = server->first; c != NULL; c = c->next)
		c->client = NULL;
	tdm_clients_done(&server->clients); /* the other daemon continues the ledgers */
	server->is_given = true;
	for (unsigned i = 0; i < TDM_FORM_COUNT && err == 0; i++)
		if (server->listeners[i].at.fd >= 0) {
			const struct tdm_socket_path *at = &server->listeners[i].at;
			struct item item = new_item(ITEM_LISTENER);
			item.form = i;
			item.device = at->device;
			item.inode = at->inode;
			memcpy(item.path, at->path, sizeof item.path);
			err = send_all(fd, &item, sizeof item, at->fd);
		}
	for (const struct tdm_connection *c = server->first; c != NULL && err == 0; c = c->next)
		if (c->watch.fd != fd && c->out.len - c->out_at <= OUT_MAX) {
			struct item item = new_item(ITEM_CONNECTION);
			item.form = c->form;
			item.wire_size = c->wire.size;
			item.is_guessed = c->wire.is_guessed;
			item.held = c->held;
			item.out = (uint32_t)(c->out.len - c->out_at);
			item.is_over = c->is_over;
			item.is_ending = c->is_ending;
			item.start = c->start;
			memcpy(item.hold, c->hold, c->held);
			err = send_all(fd, &item, sizeof item, c->watch.fd);
			if (err == 0 && item.out != 0)
				err = send_all(fd, c->out.data + c->out_at, item.out, -1);
		}
	if (err == 0)
		send_all(fd, &end, sizeof end, -1);
	/* The other daemon waits until the connection closes: this copy keeps it open until our process ends. */
	(void)fcntl(fd, F_DUPFD_CLOEXEC, 0);
	tdm_loop_end(server->loop);
}

/* Receives exactly `len` bytes, and a descriptor if there is one. 0 or -errno. */
static int receive_all(int from, void *bytes, size_t len, int *fd)
{
	union control control;
	for (size_t at = 0; at < len;) {
		struct iovec part = { (char *)bytes + at, len - at };
		struct msghdr message = { .msg_iov = &part,
			.msg_iovlen = 1,
			.msg_control = control.room,
			.msg_controllen = sizeof control.room };
		ssize_t got = recvmsg(from, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
		if (got < 0 && (errno == EINTR || (errno == EAGAIN && wait_until(from, POLLIN))))
			continue;
		if (got <= 0)
			return got < 0 ? -errno : -ECONNRESET;
		const struct cmsghdr *head = CMSG_FIRSTHDR(&message);
		if (head != NULL && head->cmsg_type == SCM_RIGHTS && fd != NULL && *fd < 0)
			memcpy(fd, CMSG_DATA(head), sizeof *fd);
		at += (size_t)got;
	}
	return 0;
}

static int take_all(struct tdm_server *server, int from)
{
	for (;;) {
		struct item item = { 0 };
		int fd = -1, err = receive_all(from, &item, sizeof item, &fd);
		if (err == 0 &&
			(memcmp(item.magic, magic, sizeof magic) != 0 || item.bytes != sizeof item ||
				item.form >= TDM_FORM_COUNT || item.held > sizeof item.hold || item.out > OUT_MAX ||
				(item.wire_size != 0 && !tdm_wire_is_size(item.wire_size)) ||
				item.path[sizeof item.path - 1] != '\0'))
			err = -EPROTO;
		if (err == 0 && item.kind == ITEM_END)
			return 0;
		if (err == 0 && fd < 0)
			err = -EMFILE; /* a descriptor was sent, but we have none left to receive it */
		struct tdm_listener *listener = &server->listeners[item.form < TDM_FORM_COUNT ? item.form : 0];
		bool is_listener = item.kind == ITEM_LISTENER;
		struct tdm_connection *c = NULL;
		if (err == 0 && is_listener)
			err = listener->at.fd >= 0 ? -EEXIST : tdm_socket_path_adopt(&listener->at, fd);
		else if (err == 0 && (c = tdm_connection_new(server, fd, (enum tdm_wire_form)item.form)) == NULL)
			err = -ENOMEM;
		if (err != 0) {
			if (fd >= 0)
				close(fd);
			if (fd >= 0 && listener->at.fd == fd)
				listener->at.fd = -1;
			return err;
		}
		if (is_listener) {
			memcpy(listener->at.path, item.path, sizeof listener->at.path);
			listener->at.device = item.device;
			listener->at.inode = item.inode;
			continue;
		}
		c->wire = (struct tdm_wire){ .size = item.wire_size, .is_guessed = item.is_guessed != 0 };
		c->held = (uint8_t)item.held;
		memcpy(c->hold, item.hold, sizeof c->hold);
		c->is_over = item.is_over != 0;
		c->is_ending = item.is_ending != 0;
		c->start = item.start;
		if (item.out == 0)
			continue;
		char *out = tdm_buf_extend(&c->out, item.out);
		tdm_loop_change(server->loop, &c->watch, EPOLLOUT);
		err = receive_all(from, out, item.out, NULL);
		if (err != 0) {
			tdm_connection_close(c); /* half a reply would be useless */
			return err;
		}
	}
}

static int take_over(struct tdm_server *server, const char *path)
{
	static const char question[] = "TIDEMARK takeover\n";
	struct ucred peer;
	socklen_t len = sizeof peer;
	int fd = tdm_server_connect(path);
	if (fd < 0)
		return fd;
	int err = getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 ? 0 : -errno;
	if (err == 0 && peer.uid != geteuid() && peer.uid != 0)
		err = -EPERM;
	if (err == 0)
		err = send_all(fd, question, sizeof question - 1, -1);
	if (err == 0)
		err = take_all(server, fd);
	if (err == 0)
		wait_until(fd, POLLIN); /* wait until the old daemon has exited and its HTTP port is free */
	close(fd);
	return err;
}

enum {
	ACCEPTS = 64,        /* connections to accept per round */
	RESERVE_MAX = 64,    /* descriptors reserved for ledgers, pidfds and HTTP, */
	RESERVE_PART = 4,    /* but at most 1/RESERVE_PART of all descriptors */
	TIRED_NS = 20000000, /* pause between rounds when a connection can neither be served nor refused */
	PIECE = 1 << 20,     /* bytes of a ledger to archive at a time, which takes less than a millisecond */
};
#define NEXT_PIECE_NS TDM_NS_PER_MS
#define LOOK_NS       (60 * TDM_NS_PER_S) /* time between checks for archived ledgers past their maximum age */

/* ---- connections and processes ----------------------------------------------------------------------------------- */

/* Descriptors have run out: accepts one connection and closes it, so that its client does not wait forever. */
static bool refuse_one(struct tdm_server *server, int listener)
{
	int fd = -1;
	if (server->spare_fd >= 0) {
		close(server->spare_fd);
		fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	}
	if (fd >= 0)
		close(fd);
	server->clients.counters.refused_connections += fd >= 0;
	server->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		server->loop->rest_ns = TIRED_NS; /* otherwise the loop would spin */
	return fd >= 0;
}

static void listener_ready(struct tdm_watch *watch)
{
	struct tdm_listener *listener = tdm_loop_owner(watch, struct tdm_listener, watch);
	struct tdm_server *server = listener->server;
	for (int i = 0; i < ACCEPTS; i++) {
		int fd = accept4(watch->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (fd < 0 && (errno == EINTR || errno == ECONNABORTED))
			continue;
		if (fd < 0 && (errno == EMFILE || errno == ENFILE) && refuse_one(server, watch->fd))
			continue;
		if (fd < 0)
			return;
		if (fd >= server->first_reserved || tdm_connection_new(server, fd, listener->form) == NULL) {
			close(fd);
			server->clients.counters.refused_connections++;
		}
	}
}

void tdm_server_drain(struct tdm_server *server)
{
	enum { ROUNDS = 1024 }; /* more rounds than any connection queue has entries */
	tdm_quick_free(server->quick);
	server->quick = NULL;
	for (unsigned i = 0; i < TDM_FORM_COUNT; i++) {
		uint64_t before = UINT64_MAX, now = 0;
		for (int round = 0; server->listeners[i].at.fd >= 0 && now != before && round < ROUNDS; round++) {
			before = now;
			listener_ready(&server->listeners[i].watch);
			now = server->clients.counters.connections + server->clients.counters.refused_connections;
		}
	}
	/* A read may close several connections (those of an ended process) or all (for another daemon), so closing
	 * updates drain_next. */
	for (struct tdm_connection *c = server->first; c != NULL && !server->is_given; c = server->drain_next) {
		server->drain_next = c->next;
		if (!c->is_ending)
			tdm_connection_read_rest(c);
	}
}

/* The process of these connections has ended, but its last messages still count: reads them. */
static void client_ending(void *context, struct tdm_client *client)
{
	const struct tdm_server *server = context;
	if (server->quick != NULL)
		tdm_quick_take(server->quick, client);
	while (client->connections != NULL) {
		struct tdm_connection *c = client->connections;
		tdm_connection_read_rest(c);
		if (client->connections == c) {
			/* Another process, perhaps a child, has the same end of the connection, so the sender is
			 * ambiguous. */
			c->is_over = true;
			tdm_connection_leave(c);
		}
	}
}

static void client_buried(void *context, const char *path)
{
	struct tdm_server *server = context;
	tdm_archive_add(server->archive, path);
	tdm_loop_start(server->loop, &server->archiving, 0);
}

/* Moves ended clients' ledgers from memory to disk, a piece at a time, between rounds of the loop. */
static void archive_piece(struct tdm_timer *timer)
{
	struct tdm_server *server = tdm_loop_owner(timer, struct tdm_server, archiving);
	bool has_more = tdm_archive_step(server->archive, tdm_clock_real_ns(), PIECE);
	struct tdm_archive_stats stats = tdm_archive_get_stats(server->archive);
	if (has_more)
		tdm_loop_start(server->loop, timer, NEXT_PIECE_NS);
	else if (stats.memory_count + stats.disk_count + stats.waiting != 0)
		tdm_loop_start(server->loop, timer, LOOK_NS);
}

/* Finds the ledgers left by earlier daemons. */
static void start_archive(struct tdm_server *server)
{
	const struct tdm_daemon_options *options = server->options;
	struct tdm_archive_options limits = {
		.dir = options->dir, .memory = tdm_archive_memory_limits, .disk = tdm_archive_disk_limits
	};
	if (options->dead_bytes != 0)
		limits.memory.bytes = options->dead_bytes;
	if (options->archive_bytes != 0)
		limits.disk.bytes = options->archive_bytes;
	if (options->archive_age_ns != 0)
		limits.disk.age_ns = options->archive_age_ns;
	server->archive = tdm_archive_new(&limits);
	server->archiving = (struct tdm_timer){ .ready = archive_piece };
	tdm_archive_find(server->archive);
	tdm_loop_start(server->loop, &server->archiving, 0);
}

/* ---- the server -------------------------------------------------------------------------------------------------- */

static int say_why(const char *path, int err)
{
	struct stat st;
	if (err == -EADDRINUSE)
		fprintf(stderr, "tidemarkd: another server listens on %s; --replace takes over from it\n", path);
	else if (err == -ENOTSOCK)
		fprintf(stderr, "tidemarkd: %s is there, but it is not a socket; remove it, or use --socket\n", path);
	else if ((err == -EACCES || err == -EPERM) && lstat(path, &st) == 0 && st.st_uid != geteuid())
		fprintf(stderr, "tidemarkd: %s belongs to another user\n", path);
	else
		fprintf(stderr, "tidemarkd: cannot listen on %s: %s\n", path, strerror(-err));
	return err;
}

/* Finds one socket: systemd's socket of this name, else the one taken over, else a new one at `path`. */
static int find_socket(struct tdm_server *server, enum tdm_wire_form form, const char *name, const char *path)
{
	struct tdm_listener *listener = &server->listeners[form];
	int given = tdm_socket_activation(name, form), err = 0;
	if (given >= 0)
		err = tdm_socket_path_adopt(&listener->at, given);
	else if (listener->at.fd < 0 && path != NULL)
		err = tdm_socket_path_listen(
			&listener->at, path, server->options->socket_mode, server->options->replace);
	if (err != 0)
		return say_why(path != NULL ? path : name, err);
	if (listener->at.fd < 0)
		return 0;
	listener->server = server;
	listener->form = form;
	listener->watch = (struct tdm_watch){ .fd = listener->at.fd, .events = EPOLLIN, .ready = listener_ready };
	err = tdm_loop_add(server->loop, &listener->watch);
	return err != 0 ? say_why(listener->at.path, err) : 0;
}

static int find_sockets(struct tdm_server *server)
{
	const struct tdm_daemon_options *o = server->options;
	const char *path = o->socket != NULL ? o->socket : TDM_WIRE_SOCKET;
	int kept = o->replace ? take_over(server, path) : 0;
	int err = find_socket(server, TDM_FORM_SIZES, "socket", path);
	if (err == 0 && kept != 0 && kept != -ENOENT && kept != -ECONNREFUSED)
		fprintf(stderr,
			"tidemarkd: the server on %s does not hand over its connections (%s): they will end with it\n",
			path, strerror(-kept));
	if (err == 0)
		err = find_socket(server, TDM_FORM_SHORT, "short", o->short_socket);
	if (err == 0)
		err = find_socket(server, TDM_FORM_HELPER, "helper", o->helper_socket);
	tdm_socket_activation_done();
	return err;
}

static void statistics_time(struct tdm_timer *timer)
{
	tdm_server_dump_statistics(tdm_loop_owner(timer, struct tdm_server, statistics));
}

int tdm_server_init(struct tdm_server *server, struct tdm_loop *loop, const struct tdm_daemon_options *options)
{
	struct rlimit limit;
	struct stat st;
	*server = (struct tdm_server){
		.loop = loop,
		.options = options,
		.spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC),
		.first_reserved = INT_MAX,
	};
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur <= INT_MAX)
		server->first_reserved = (int)(limit.rlim_cur - tdm_min(limit.rlim_cur / RESERVE_PART, RESERVE_MAX));
	pthread_mutex_init(&server->chips_lock, NULL);
	/* Ids for kernels that have none: above all clients' ids, and above those assigned by an earlier daemon, whose
	 * kernels may be in the ledgers. */
	server->nameless = UINT64_C(1) << 63 | tdm_clock_real_ns();
	for (unsigned i = 0; i < TDM_FORM_COUNT; i++)
		server->listeners[i].at.fd = -1;
	tdm_server_log_init(&server->log, loop, STDOUT_FILENO);
	tdm_clients_init(&server->clients, loop, options->dir);
	server->bytes = tdm_alloc(TDM_WIRE_SIZE_MAX + TDM_CONNECTION_READ);
	server->clients.ending = client_ending;
	server->clients.left = tdm_server_log_left;
	server->clients.buried = client_buried;
	server->clients.context = server;
	int err = find_sockets(server);
	if (err != 0)
		return err;
	/* Without this folder no ledger can be made. The folder may appear later, so this is only a warning. */
	const char *dir = server->clients.dir;
	int why = stat(dir, &st) != 0                                      ? errno
		  : !S_ISDIR(st.st_mode)                                   ? ENOTDIR
		  : faccessat(AT_FDCWD, dir, W_OK | X_OK, AT_EACCESS) != 0 ? errno
									   : 0;
	if (why != 0)
		fprintf(stderr,
			"tidemarkd: warning: cannot write ledgers in '%s': %s; until that is mended, allocations are "
			"refused\n",
			dir, strerror(why));
	server->quick = tdm_quick_new(server); /* without this thread, the loop answers */
	tdm_clients_resume(&server->clients);
	for (struct tdm_connection *c = server->first; c != NULL; c = c->next) /* connections that were taken over */
		tdm_connection_join(c);
	start_archive(server);
	server->statistics = (struct tdm_timer){ .every_ns = options->statistics_ns, .ready = statistics_time };
	if (options->statistics_ns != 0)
		tdm_loop_start(loop, &server->statistics, options->statistics_ns);
	return 0;
}

void tdm_server_done(struct tdm_server *server)
{
	tdm_quick_free(server->quick);
	server->quick = NULL;
	for (unsigned i = 0; i < TDM_FORM_COUNT; i++)
		tdm_socket_path_close(&server->listeners[i].at, !server->is_given);
	while (server->first != NULL)
		tdm_connection_close(server->first);
	if (!server->is_given)
		tdm_clients_done(&server->clients);
	tdm_loop_stop(server->loop, &server->archiving);
	tdm_archive_free(server->archive);
	free(server->chips);
	pthread_mutex_destroy(&server->chips_lock);
	tdm_loop_stop(server->loop, &server->statistics);
	tdm_server_log_done(&server->log);
	if (server->spare_fd >= 0)
		close(server->spare_fd);
	free(server->bytes);
}
