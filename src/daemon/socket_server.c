#include "daemon/socket_server.h"
#include "base/clock.h"
#include "base/number.h"
#include "daemon/quick_replies.h"
#include "daemon/server_answers.h"
#include "daemon/server_texts.h"
#include "daemon/takeover.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	ACCEPTS = 64,        /* in a round */
	RESERVE_MAX = 64,    /* descriptors that connections leave free, for ledgers, pidfds and HTTP, */
	RESERVE_PART = 4,    /* but at most this part of all */
	TIRED_NS = 20000000, /* between rounds, when a connection can neither be served nor refused */
};

/* --- connections and processes ---------------------------------------------------------------------------------- */

/* Descriptors have run out: takes the first connection and closes it, so that its client does not wait for ever. */
static bool refuse_one(struct tdm_server *server, int listener)
{
	int fd = -1;
	if (server->spare_fd >= 0) {
		close(server->spare_fd);
		fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	}
	if (fd >= 0)
		close(fd);
	server->counters.refused_connections += fd >= 0;
	server->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		server->loop->rest_ns = TIRED_NS; /* else the loop would find it ready again and again */
	return fd >= 0;
}

/* The descriptors from this number on are not for connections. */
static int first_reserved(void)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur > INT_MAX)
		return INT_MAX;
	return (int)(limit.rlim_cur - tdm_min(limit.rlim_cur / RESERVE_PART, RESERVE_MAX));
}

static void listener_ready(struct tdm_watch *watch, uint32_t events)
{
	struct tdm_listener *listener = tdm_loop_owner(watch, struct tdm_listener, watch);
	struct tdm_server *server = listener->server;
	(void)events;
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
			server->counters.refused_connections++;
		}
	}
}

void tdm_server_drain(struct tdm_server *server)
{
	enum { ROUNDS = 1024 }; /* more than a queue of connections can be long */
	tdm_quick_free(server->quick);
	server->quick = NULL;
	for (unsigned i = 0; i < TDM_FORM_COUNT; i++) {
		uint64_t before = UINT64_MAX, now = 0;
		for (int round = 0; server->listeners[i].at.fd >= 0 && now != before && round < ROUNDS; round++) {
			before = now;
			listener_ready(&server->listeners[i].watch, 0);
			now = server->counters.connections + server->counters.refused_connections;
		}
	}
	/* A process that has ended may take several connections with it, and another daemon takes all. */
	for (struct tdm_connection *c = server->first; c != NULL && !server->is_given; c = server->drain_next) {
		server->drain_next = c->next;
		if (!c->is_ending)
			tdm_connection_read_rest(c);
	}
}

/* The process of these connections has ended: what they have sent still counts. */
static void client_ending(void *context, struct tdm_client *client)
{
	const struct tdm_server *server = context;
	if (server->quick != NULL)
		tdm_quick_take(server->quick, client);
	while (client->connections != NULL) {
		struct tdm_connection *c = client->connections;
		tdm_connection_read_rest(c);
		if (client->connections == c) {
			/* Another process has it as well, perhaps a child. Nobody can tell which one sends. */
			c->is_over = true;
			tdm_connection_leave(c);
		}
	}
}

static void client_left(void *context, const struct tdm_client *client)
{
	struct tdm_server *server = context;
	struct tdm_buf text;
	tdm_buf_init(&text);
	tdm_text_left(&text, client);
	tdm_server_log_buf(server, &text);
}

static void client_buried(void *context, const char *path)
{
	struct tdm_server *server = context;
	tdm_archiver_add(&server->archiver, path);
}

/* --- the server ------------------------------------------------------------------------------------------------- */

static int say(const char *path, int err)
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

/* Finds one socket: systemd's under this name, the one that was taken over, or a new one at `path`. */
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
		return say(path != NULL ? path : name, err);
	if (listener->at.fd < 0)
		return 0;
	listener->server = server;
	listener->form = form;
	listener->watch = (struct tdm_watch){ .fd = listener->at.fd, .events = EPOLLIN, .ready = listener_ready };
	err = tdm_loop_add(server->loop, &listener->watch);
	return err != 0 ? say(listener->at.path, err) : 0;
}

static int find_sockets(struct tdm_server *server)
{
	const struct tdm_daemon_options *o = server->options;
	const char *path = o->socket != NULL ? o->socket : TDM_WIRE_SOCKET;
	int kept = o->replace ? tdm_takeover_take(server, path) : 0;
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

/* Without its folder no ledger can be made. The folder may come later, so this is only a warning. */
static void check_folder(const char *dir)
{
	struct stat st;
	int err = stat(dir, &st) != 0                                      ? errno
		  : !S_ISDIR(st.st_mode)                                   ? ENOTDIR
		  : faccessat(AT_FDCWD, dir, W_OK | X_OK, AT_EACCESS) != 0 ? errno
									   : 0;
	if (err != 0)
		fprintf(stderr,
			"tidemarkd: warning: cannot write ledgers in '%s': %s; until that is mended, allocations are "
			"refused\n",
			dir, strerror(err));
}

static void statistics_time(struct tdm_timer *timer, uint64_t now_ns)
{
	(void)now_ns;
	tdm_server_dump_statistics(tdm_loop_owner(timer, struct tdm_server, statistics));
}

int tdm_server_init(struct tdm_server *server, struct tdm_loop *loop, const struct tdm_daemon_options *options)
{
	*server = (struct tdm_server){
		.loop = loop,
		.options = options,
		.spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC),
		.first_reserved = first_reserved(),
	};
	tdm_chip_list_init(&server->devices);
	/* No id of a client is so high, and none of an earlier daemon, whose kernels may be in the ledgers. */
	server->nameless = UINT64_C(1) << 63 | tdm_clock_real_ns();
	for (unsigned i = 0; i < TDM_FORM_COUNT; i++)
		server->listeners[i].at.fd = -1;
	int err = tdm_server_log_init(&server->log, loop, STDOUT_FILENO);
	if (err == 0)
		err = tdm_clients_init(&server->clients, loop, options->dir);
	server->bytes = malloc(TDM_WIRE_SIZE_MAX + TDM_CONNECTION_READ);
	if (err != 0 || server->bytes == NULL) {
		fprintf(stderr, "tidemarkd: %s\n", strerror(err != 0 ? -err : ENOMEM));
		return err != 0 ? err : -ENOMEM;
	}
	server->clients.ending = client_ending;
	server->clients.left = client_left;
	server->clients.buried = client_buried;
	server->clients.context = server;
	err = find_sockets(server);
	if (err != 0)
		return err;
	check_folder(server->clients.dir);
	server->quick = tdm_quick_new(server); /* without it, the loop answers */
	tdm_clients_resume(&server->clients);
	for (struct tdm_connection *c = server->first; c != NULL; c = c->next) /* those that were taken over */
		tdm_connection_join(c);
	tdm_archiver_init(&server->archiver, loop, options); /* without memory for it, they just stay */
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
	tdm_archiver_done(&server->archiver);
	tdm_chip_list_done(&server->devices);
	tdm_loop_stop(server->loop, &server->statistics);
	tdm_server_log_done(&server->log);
	if (server->spare_fd >= 0)
		close(server->spare_fd);
	free(server->bytes);
}
