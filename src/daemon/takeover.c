#include "daemon/takeover.h"
#include "daemon/quick_replies.h"
#include "sources/server_ask.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { WAIT_MS = 5000, BUSY_MS = 1, OUT_MAX = 256 << 20 };

enum item_kind { ITEM_LISTENER = 1, ITEM_CONNECTION, ITEM_END };

/* What goes with a descriptor. Both ends are on one machine, but may be of different versions. */
struct item {
	char magic[8];
	uint32_t bytes; /* of this structure */
	uint32_t kind;  /* enum item_kind */
	uint32_t form;  /* enum tdm_wire_form */
	uint32_t wire_size, is_guessed;
	uint32_t held; /* bytes of `hold` */
	uint32_t out;  /* bytes of replies that follow this structure */
	uint32_t is_over, is_ending;
	uint64_t start;
	uint64_t device, inode; /* of a listener's name */
	char path[sizeof(((struct tdm_socket_path *)0)->path)];
	uint8_t hold[TDM_WIRE_SIZE_MAX];
};
static const char magic[8] = "TDMTAKE1";

static bool wait_for(int fd, short events)
{
	struct pollfd one = { .fd = fd, .events = events };
	int ready;
	do
		ready = poll(&one, 1, WAIT_MS);
	while (ready < 0 && errno == EINTR);
	return ready == 1;
}

/* Sends bytes, the first of them with a descriptor (-1: none). 0 or -errno. */
static int send_all(int to, const void *bytes, size_t len, int fd)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
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
		else if (errno == ETOOMANYREFS) /* of descriptors on their way: the other end takes them */
			poll(NULL, 0, BUSY_MS);
		else if (errno != EINTR && !(errno == EAGAIN && wait_for(to, POLLOUT)))
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

static int give_listener(const struct tdm_listener *listener, int to)
{
	struct item item = new_item(ITEM_LISTENER);
	item.form = listener->form;
	item.device = listener->at.device;
	item.inode = listener->at.inode;
	memcpy(item.path, listener->at.path, sizeof item.path);
	return send_all(to, &item, sizeof item, listener->at.fd);
}

static int give_connection(const struct tdm_connection *c, int to)
{
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
	int err = send_all(to, &item, sizeof item, c->watch.fd);
	if (err == 0 && item.out != 0)
		err = send_all(to, c->out.data + c->out_at, item.out, -1);
	return err;
}

void tdm_takeover_give(struct tdm_server *server, int fd)
{
	struct item end = new_item(ITEM_END);
	int err = 0;
	tdm_quick_free(server->quick);
	server->quick = NULL;
	for (struct tdm_connection *c = server->first; c != NULL; c = c->next)
		c->client = NULL;
	tdm_clients_done(&server->clients); /* the other end goes on with the ledgers */
	server->is_given = true;
	for (unsigned i = 0; i < TDM_FORM_COUNT && err == 0; i++)
		if (server->listeners[i].at.fd >= 0)
			err = give_listener(&server->listeners[i], fd);
	for (const struct tdm_connection *c = server->first; c != NULL && err == 0; c = c->next)
		if (c->watch.fd != fd && c->out.len - c->out_at <= OUT_MAX)
			err = give_connection(c, fd);
	if (err == 0)
		send_all(fd, &end, sizeof end, -1);
	/* The other end waits for the end of the connection: with this descriptor, that is the end of the process. */
	(void)fcntl(fd, F_DUPFD_CLOEXEC, 0);
	tdm_loop_end(server->loop);
}

/* Receives exactly `len` bytes, and a descriptor if there is one. 0 or -errno. */
static int receive_all(int from, void *bytes, size_t len, int *fd)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	for (size_t at = 0; at < len;) {
		struct iovec part = { (char *)bytes + at, len - at };
		struct msghdr message = { .msg_iov = &part,
			.msg_iovlen = 1,
			.msg_control = control.room,
			.msg_controllen = sizeof control.room };
		ssize_t got = recvmsg(from, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
		if (got < 0 && (errno == EINTR || (errno == EAGAIN && wait_for(from, POLLIN))))
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

static bool is_valid(const struct item *item)
{
	return memcmp(item->magic, magic, sizeof magic) == 0 && item->bytes == sizeof *item &&
	       item->form < TDM_FORM_COUNT && item->held <= sizeof item->hold && item->out <= OUT_MAX &&
	       (item->wire_size == 0 || tdm_wire_is_size(item->wire_size)) && item->path[sizeof item->path - 1] == '\0';
}

static int take_listener(struct tdm_server *server, const struct item *item, int fd)
{
	struct tdm_listener *listener = &server->listeners[item->form];
	if (listener->at.fd >= 0) {
		close(fd);
		return -EEXIST;
	}
	int err = tdm_socket_path_adopt(&listener->at, fd);
	if (err != 0) {
		close(fd);
		listener->at.fd = -1;
		return err;
	}
	memcpy(listener->at.path, item->path, sizeof listener->at.path);
	listener->at.device = item->device;
	listener->at.inode = item->inode;
	return 0;
}

static int take_connection(struct tdm_server *server, const struct item *item, int fd, int from)
{
	struct tdm_connection *c = tdm_connection_new(server, fd, (enum tdm_wire_form)item->form);
	if (c == NULL) {
		close(fd);
		return -ENOMEM;
	}
	c->wire = (struct tdm_wire){ .size = item->wire_size, .is_guessed = item->is_guessed != 0 };
	c->held = (uint8_t)item->held;
	memcpy(c->hold, item->hold, sizeof c->hold);
	c->is_over = item->is_over != 0;
	c->is_ending = item->is_ending != 0;
	c->start = item->start;
	if (item->out == 0)
		return 0;
	char *out = tdm_buf_extend(&c->out, item->out);
	tdm_loop_change(server->loop, &c->watch, EPOLLOUT);
	int err = out != NULL ? receive_all(from, out, item->out, NULL) : -ENOMEM;
	if (err != 0)
		tdm_connection_close(c); /* half a reply is none */
	return err;
}

static int take_all(struct tdm_server *server, int from)
{
	for (;;) {
		struct item item;
		int fd = -1, err = receive_all(from, &item, sizeof item, &fd);
		if (err == 0 && !is_valid(&item))
			err = -EPROTO;
		if (err == 0 && item.kind == ITEM_END)
			return 0;
		if (err == 0 && fd < 0)
			err = -EMFILE; /* it was sent, but there was no room for it */
		if (err != 0 && fd >= 0)
			close(fd);
		if (err == 0)
			err = item.kind == ITEM_LISTENER ? take_listener(server, &item, fd)
							 : take_connection(server, &item, fd, from);
		if (err != 0)
			return err;
	}
}

int tdm_takeover_take(struct tdm_server *server, const char *path)
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
		wait_for(fd, POLLIN); /* until it has ended: then its HTTP port is free */
	close(fd);
	return err;
}
