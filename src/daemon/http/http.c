#include "daemon/http/http.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/memory.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	HEADERS_MAX = 16384,
	CONNECTIONS_MAX = 256,
	CONNECTIONS_FREE = 16,
	SLOW_MS = 30000,    /* time limit for a complete request */
	SILENT_S = 60,      /* time limit for a reader that accepts no bytes of a response */
	SSE_SILENT_S = 600, /* the same limit for a stream of events */
	TICK_MS = 1000,     /* timer interval while there are connections */
	BACKLOG = 128,
	CACHE = 8,
	KEY_CAP = 512,
	HTTP_PORT = 9740,
};

/* An open connection. */
struct client {
	struct listener *of;
	struct client *next, **at;
	int fd;
	uint32_t uid;      /* user id of the peer on a Unix socket, else UINT32_MAX */
	bool is_asked;     /* a request is being answered */
	bool is_events;    /* the answer is an endless stream of events */
	uint64_t since_ns; /* unless is_asked: when the connection began to wait for a request */
	bool is_shut;
};

/* One of the two sockets. */
struct listener {
	struct tdm_http *http;
	bool is_unix;
	struct MHD_Daemon *daemon; /* NULL if not in use */
	struct tdm_watch watch;
	struct tdm_timer timer;
};

/* An answer that stays the same until the next picture. */
struct cached {
	char key[KEY_CAP]; /* empty if the entry is unused */
	uint64_t number;   /* number of the picture */
	unsigned status;
	struct MHD_Response *response;
};

struct tdm_http {
	struct tdm_loop *loop;
	struct tdm_access access;
	struct tdm_pages *pages;
	struct listener tcp, local;
	unsigned port;                 /* 0 if there is no port */
	struct tdm_socket_path socket; /* libmicrohttpd owns its descriptor */
	struct client *clients;
	struct tdm_timer tick;
	struct cached cache[CACHE];
	size_t cache_next;
	struct tdm_http_stats stats;
};

/* ---- connections ------------------------------------------------------------------------------------------------- */

static void shut(struct client *client)
{
	if (!client->is_shut)
		shutdown(client->fd, SHUT_RDWR); /* libmicrohttpd notices the shutdown and closes the connection */
	client->is_shut = true;
}

static void tick(struct tdm_timer *timer)
{
	struct tdm_http *http = tdm_loop_owner(timer, struct tdm_http, tick);
	uint64_t now_ns = tdm_clock_ns();
	for (struct client *client = http->clients; client != NULL; client = client->next)
		if (!client->is_asked && now_ns > client->since_ns &&
			now_ns - client->since_ns > SLOW_MS * TDM_NS_PER_MS && !client->is_shut) {
			http->stats.slow++;
			shut(client);
		}
	/* After a failed accept, libmicrohttpd retries only when it runs. */
	if (http->tcp.daemon != NULL)
		tdm_loop_start(http->loop, &http->tcp.timer, 0);
	if (http->local.daemon != NULL)
		tdm_loop_start(http->loop, &http->local.timer, 0);
	if (http->stats.open == 0)
		tdm_loop_stop(http->loop, timer);
}

static void connection_changed(void *context, struct MHD_Connection *connection, void **socket_context,
	enum MHD_ConnectionNotificationCode code)
{
	struct listener *listener = context;
	struct tdm_http *http = listener->http;
	struct client *client = *socket_context;
	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		const union MHD_ConnectionInfo *info =
			MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
		struct ucred peer;
		socklen_t len = sizeof peer;
		http->stats.accepted++;
		*socket_context = NULL;
		if (info == NULL)
			return;
		bool is_known =
			listener->is_unix && getsockopt(info->connect_fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0;
		*socket_context = client = tdm_zalloc(1, sizeof *client);
		*client = (struct client){ .of = listener,
			.next = http->clients,
			.at = &http->clients,
			.fd = info->connect_fd,
			.uid = is_known ? (uint32_t)peer.uid : UINT32_MAX,
			.since_ns = tdm_clock_ns() };
		if (client->next != NULL)
			client->next->at = &client->next;
		http->clients = client;
		http->stats.open++;
		if (http->tick.at_ns == 0)
			tdm_loop_start(http->loop, &http->tick, TICK_MS * TDM_NS_PER_MS);
		if (http->stats.open <= CONNECTIONS_MAX - CONNECTIONS_FREE)
			return;
		/* Picks the connection that has waited longest for a request; if none is waiting, the one with the
		 * slowest answer. */
		struct client *first[2] = { NULL, NULL };
		for (struct client *other = client->next; other != NULL; other = other->next) {
			struct client **of = &first[other->is_asked];
			if (!other->is_shut && !other->is_events && (*of == NULL || other->since_ns <= (*of)->since_ns))
				*of = other;
		}
		if (first[0] != NULL || first[1] != NULL) {
			http->stats.evicted++;
			shut(first[0] != NULL ? first[0] : first[1]);
		}
		return;
	}
	if (client == NULL)
		return;
	*client->at = client->next;
	if (client->next != NULL)
		client->next->at = client->at;
	http->stats.open--;
	free(client);
	*socket_context = NULL;
}

static struct client *client_of(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	return info != NULL ? info->socket_context : NULL;
}

static void request_over(
	void *context, struct MHD_Connection *connection, void **state, enum MHD_RequestTerminationCode code)
{
	struct client *client = client_of(connection);
	(void)context;
	(void)code;
	*state = NULL;
	if (client == NULL)
		return;
	client->is_asked = client->is_events = false;
	client->since_ns = tdm_clock_ns();
}

/* ---- streams ----------------------------------------------------------------------------------------------------- */

/* libmicrohttpd notices a resumed connection only when it is run. */
static void wake(struct tdm_stream *stream)
{
	struct client *client = client_of(stream->connection);
	MHD_resume_connection(stream->connection);
	if (client != NULL)
		tdm_loop_start(client->of->http->loop, &client->of->timer, 0);
}

static ssize_t read_stream(void *context, uint64_t position, char *to, size_t max)
{
	struct tdm_stream *stream = context;
	(void)position;
	size_t len = tdm_stream_take(stream, to, max);
	if (len != 0)
		return (ssize_t)len;
	if (stream->is_over)
		return stream->is_cut ? MHD_CONTENT_READER_END_WITH_ERROR : MHD_CONTENT_READER_END_OF_STREAM;
	stream->sleeps = true;
	MHD_suspend_connection(stream->connection);
	return 0;
}

static void free_stream(void *stream)
{
	tdm_stream_free(stream);
}

/* ---- responses --------------------------------------------------------------------------------------------------- */

static void count(struct tdm_http *http, unsigned status)
{
	http->stats.responses[status / 100 < 6 ? status / 100 : 0]++;
}

static enum MHD_Result send_page(
	struct tdm_http *http, struct MHD_Connection *connection, struct tdm_page *page, struct cached *keep)
{
	enum { BLOCK = 16384 };
	struct MHD_Response *response;
	struct tdm_stream *stream = page->stream;
	unsigned status = page->status;
	count(http, status);
	if (stream != NULL && page->is_events) {
		MHD_set_connection_option(connection, MHD_CONNECTION_OPTION_TIMEOUT, (unsigned)SSE_SILENT_S);
		client_of(connection)->is_events = true;
	}
	if (stream != NULL) {
		stream->connection = connection;
		stream->wake = wake;
		response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, read_stream, stream, free_stream);
		if (response == NULL)
			tdm_stream_free(stream);
	} else {
		response = MHD_create_response_from_buffer(page->text.len, page->text.data, MHD_RESPMEM_MUST_FREE);
		if (response != NULL)
			page->text = (struct tdm_buf){ 0 }; /* libmicrohttpd owns its memory now */
	}
	tdm_buf_done(&page->text);
	if (response == NULL)
		return MHD_NO;
	MHD_add_response_header(response, "Content-Type", page->type);
	MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
	MHD_add_response_header(response, "Cache-Control", "no-store");
	if (status == MHD_HTTP_UNAUTHORIZED)
		MHD_add_response_header(response, "WWW-Authenticate", "Bearer realm=\"tidemark\"");
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(response, "Allow", "GET, HEAD");
	if (status == MHD_HTTP_SERVICE_UNAVAILABLE)
		MHD_add_response_header(response, "Retry-After", "1");
	enum MHD_Result result = MHD_queue_response(connection, status, response);
	if (keep != NULL) {
		keep->status = status;
		keep->response = response;
	} else {
		MHD_destroy_response(response); /* the connection holds a reference */
	}
	return result;
}

/* ---- requests ---------------------------------------------------------------------------------------------------- */

/* A request's headers and arguments. */
struct form {
	unsigned hosts, lengths, encodings;
	const char *host;
	char accept[1024]; /* all Accept headers as one list; headers that do not fit are left out */
	size_t accept_len;
	bool has_body, has_odd_name, too_many;
	struct tdm_request *request; /* receives the arguments */
};

static enum MHD_Result take_header(void *context, enum MHD_ValueKind kind, const char *name, const char *value)
{
	struct form *form = context;
	(void)kind;
	value = value != NULL ? value : "";
	/* A proxy may see "Content-Length : 9" as one request where libmicrohttpd sees two. */
	form->has_odd_name |= strpbrk(name, " \t\r\n") != NULL;
	if (strcasecmp(name, "Host") == 0) {
		form->hosts++;
		form->host = value;
	} else if (strcasecmp(name, "Accept") == 0) {
		size_t len = strlen(value);
		if (len > sizeof form->accept - form->accept_len - 2)
			return MHD_YES;
		memcpy(form->accept + form->accept_len, value, len);
		memcpy(form->accept + form->accept_len + len, ",", 2);
		form->accept_len += len + 1;
	} else if (strcasecmp(name, "Content-Length") == 0) {
		form->lengths++;
		form->has_body |= strcmp(value, "0") != 0;
	} else if (strcasecmp(name, "Transfer-Encoding") == 0) {
		form->encodings++;
		form->has_body = true;
	}
	return MHD_YES;
}

static enum MHD_Result take_argument(void *context, enum MHD_ValueKind kind, const char *name, const char *value)
{
	struct form *form = context;
	struct tdm_request *request = form->request;
	(void)kind;
	form->too_many |= request->argument_count == TDM_ARGUMENTS_MAX;
	if (!form->too_many)
		request->arguments[request->argument_count++] =
			(struct tdm_argument){ name, value != NULL ? value : "" };
	return MHD_YES;
}

static bool is_loopback(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	const struct sockaddr *address = info != NULL ? info->client_addr : NULL;
	if (address == NULL)
		return false;
	if (address->sa_family == AF_INET)
		return ntohl(((const struct sockaddr_in *)(const void *)address)->sin_addr.s_addr) >> 24 == 127;
	const struct in6_addr *six = &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr;
	return address->sa_family == AF_INET6 &&
	       (IN6_IS_ADDR_LOOPBACK(six) || (IN6_IS_ADDR_V4MAPPED(six) && six->s6_addr[12] == 127));
}

static struct cached *find_cached(struct tdm_http *http, const char *key, uint64_t picture)
{
	for (size_t i = 0; i < CACHE; i++) {
		struct cached *cached = &http->cache[i];
		if (cached->response != NULL && cached->number != picture) {
			MHD_destroy_response(cached->response);
			*cached = (struct cached){ 0 };
		}
		if (cached->response != NULL && strcmp(cached->key, key) == 0)
			return cached;
	}
	return NULL;
}

static enum MHD_Result answer(void *context, struct MHD_Connection *connection, const char *url, const char *method,
	const char *version, const char *data, size_t *data_size, void **state)
{
	static char seen;
	static const char only_get[] = "only GET and HEAD are possible";
	struct listener *listener = context;
	struct tdm_http *http = listener->http;
	struct client *client = client_of(connection);
	struct tdm_request request = { .path = url, .is_head = strcmp(method, "HEAD") == 0 };
	struct form form = { .request = &request };
	const char *reason;
	char key[KEY_CAP];
	(void)version;
	(void)data;
	if (client == NULL)
		return MHD_NO;
	if (!client->is_asked)
		client->since_ns = tdm_clock_ns();
	client->is_asked = true;
	MHD_get_connection_values(connection, MHD_HEADER_KIND, take_header, &form);
	MHD_get_connection_values(connection, MHD_GET_ARGUMENT_KIND, take_argument, &form);
	/* Requests with any of these faults are refused at once, and their connections are closed. */
	reason = form.has_odd_name ? "the name of a header has no blanks"
		 : form.has_body || form.lengths > 1 || form.encodings != 0 || (*state != NULL && *data_size != 0)
			 ? "a request has no body here"
		 : !request.is_head && strcmp(method, "GET") != 0             ? only_get
		 : form.hosts != 1 && !(listener->is_unix && form.hosts == 0) ? "a request has one header Host"
		 : form.too_many                                              ? "too many arguments"
									      : NULL;
	unsigned status = reason == NULL ? 0 : reason == only_get ? MHD_HTTP_METHOD_NOT_ALLOWED : MHD_HTTP_BAD_REQUEST;
	if (*state == NULL && status == 0) {
		*state = &seen; /* answering at this point would close the connection */
		return MHD_YES;
	}
	bool is_open = tdm_page_is_open(url);
	if (status == 0 && !listener->is_unix && !is_open && !tdm_access_takes_host(&http->access, form.host)) {
		status = MHD_HTTP_MISDIRECTED_REQUEST;
		reason = "this name is not one of the daemon's: see --http-hosts";
		http->stats.wrong_hosts++;
	}
	request.accept = form.accept;
	request.last_event = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Last-Event-ID");
	request.right =
		tdm_access_right(&http->access, listener->is_unix, !listener->is_unix && is_loopback(connection),
			client->uid, MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Authorization"));
	request.uid = client->uid;
	if (status == 0 && request.right == TDM_RIGHT_NONE && !is_open) {
		status = MHD_HTTP_UNAUTHORIZED;
		reason = "the token is missing or wrong";
	}
	struct tdm_page page;
	if (status != 0) {
		tdm_page_error(&page, status, reason);
		return send_page(http, connection, &page, NULL);
	}
	bool has_key = tdm_page_key(&request, key, sizeof key);
	uint64_t picture = tdm_pages_look(http->pages);
	struct cached *cached = has_key ? find_cached(http, key, picture) : NULL;
	if (cached != NULL) {
		count(http, cached->status);
		return MHD_queue_response(connection, cached->status, cached->response);
	}
	tdm_pages_make(http->pages, &request, &http->stats, &page);
	if (!has_key || page.status != MHD_HTTP_OK)
		return send_page(http, connection, &page, NULL);
	cached = &http->cache[http->cache_next++ % CACHE];
	if (cached->response != NULL)
		MHD_destroy_response(cached->response);
	*cached = (struct cached){ .number = picture };
	strcpy(cached->key, key);
	return send_page(http, connection, &page, cached);
}

/* ---- the loop ---------------------------------------------------------------------------------------------------- */

static void run(struct listener *listener)
{
	MHD_UNSIGNED_LONG_LONG ms;
	MHD_run(listener->daemon);
	if (MHD_get_timeout(listener->daemon, &ms) == MHD_YES)
		tdm_loop_start(listener->http->loop, &listener->timer, (uint64_t)ms * TDM_NS_PER_MS);
	else
		tdm_loop_stop(listener->http->loop, &listener->timer);
}

static void watch_ready(struct tdm_watch *watch)
{
	run(tdm_loop_owner(watch, struct listener, watch));
}

static void timer_ready(struct tdm_timer *timer)
{
	run(tdm_loop_owner(timer, struct listener, timer));
}

/* Takes ownership of the descriptor `fd`. */
static int start_listener(struct tdm_http *http, struct listener *listener, int fd, bool is_unix)
{
	*listener = (struct listener){ .http = http, .is_unix = is_unix, .timer.ready = timer_ready };
	listener->daemon = MHD_start_daemon(MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, answer, listener,
		MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS_MAX,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HEADERS_MAX, MHD_OPTION_CONNECTION_TIMEOUT,
		(unsigned)SILENT_S, MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_NOTIFY_CONNECTION, connection_changed,
		listener, MHD_OPTION_NOTIFY_COMPLETED, request_over, listener, MHD_OPTION_END);
	const union MHD_DaemonInfo *info =
		listener->daemon != NULL ? MHD_get_daemon_info(listener->daemon, MHD_DAEMON_INFO_EPOLL_FD) : NULL;
	if (info == NULL) {
		if (listener->daemon != NULL)
			MHD_stop_daemon(listener->daemon);
		else
			close(fd);
		listener->daemon = NULL;
		return -ENOMEM;
	}
	listener->watch = (struct tdm_watch){ .fd = info->epoll_fd, .events = EPOLLIN, .ready = watch_ready };
	return tdm_loop_add(http->loop, &listener->watch);
}

static void stop_listener(struct listener *listener)
{
	if (listener->daemon == NULL)
		return;
	tdm_loop_remove(listener->http->loop, &listener->watch);
	tdm_loop_stop(listener->http->loop, &listener->timer);
	MHD_stop_daemon(listener->daemon);
	listener->daemon = NULL;
}

static int start_tcp(struct tdm_http *http, const struct tdm_daemon_options *options, struct tdm_diag *diag)
{
	const struct addrinfo hints = { .ai_flags = AI_PASSIVE | AI_NUMERICSERV, .ai_socktype = SOCK_STREAM };
	struct addrinfo *list = NULL;
	const int on = 1;
	struct sockaddr_storage own;
	socklen_t len = sizeof own;
	char service[16];
	const char *host = options->http_host != NULL ? options->http_host : "127.0.0.1";
	snprintf(service, sizeof service, "%u", options->http_port != 0 ? options->http_port : HTTP_PORT);
	int failed = getaddrinfo(host, service, &hints, &list);
	if (failed != 0)
		return tdm_diag_set(diag, -EADDRNOTAVAIL, 0, 0, "'%s' is no address: %s", host, gai_strerror(failed));
	int fd = socket(list->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd >= 0)
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	if (fd < 0 || bind(fd, list->ai_addr, list->ai_addrlen) != 0 || listen(fd, BACKLOG) != 0 ||
		getsockname(fd, (struct sockaddr *)&own, &len) != 0) {
		int err = -errno;
		if (fd >= 0)
			close(fd);
		fd = err;
	} else {
		http->port = ntohs(own.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&own)->sin6_port
							     : ((struct sockaddr_in *)&own)->sin_port);
	}
	freeaddrinfo(list);
	if (fd >= 0)
		return start_listener(http, &http->tcp, fd, false);
	tdm_diag_set(diag, fd, 0, 0, "cannot listen on %s, port %s: %s", host, service, tdm_err_text(fd));
	if (fd != -EADDRINUSE || options->http_port != 0)
		return fd;
	fprintf(stderr, "tidemarkd: warning: %s; it goes on without\n", diag->text);
	return 0;
}

int tdm_http_start(struct tdm_loop *loop, const struct tdm_daemon_options *options, struct tdm_state *state,
	struct tdm_server *server, struct tdm_http **out)
{
	struct tdm_diag diag = { 0 };
	*out = NULL;
	struct tdm_http *http = tdm_zalloc(1, sizeof *http);
	http->loop = loop;
	http->socket.fd = -1;
	http->tick = (struct tdm_timer){ .every_ns = TICK_MS * TDM_NS_PER_MS, .ready = tick };
	int err = tdm_access_init(&http->access, options->token_file, options->http_hosts, &diag);
	if (err == 0)
		err = tdm_pages_new(loop, options, state, server, &http->pages, &diag);
	if (err == 0)
		err = start_tcp(http, options, &diag);
	const char *path = options->http_socket;
	if (err == 0 && path != NULL) {
		/* Every user may connect; the user id decides what that user sees. */
		err = tdm_socket_path_listen(&http->socket, path, 0666, false);
		if (err == 0)
			err = start_listener(http, &http->local, http->socket.fd, true);
		if (err != 0)
			tdm_diag_set(&diag, err, 0, 0, "cannot listen on %s: %s", path, tdm_err_text(err));
	}
	if (err != 0) {
		fprintf(stderr, "tidemarkd: %s\n", diag.text[0] != '\0' ? diag.text : tdm_err_text(err));
		tdm_http_stop(http);
		return err;
	}
	*out = http;
	return 0;
}

void tdm_http_stop(struct tdm_http *http)
{
	if (http == NULL)
		return;
	if (http->socket.fd >= 0 && tdm_socket_path_is_there(&http->socket))
		unlink(http->socket.path);
	tdm_pages_end(http->pages); /* wakes all connections, as libmicrohttpd requires before it is stopped */
	stop_listener(&http->tcp);
	stop_listener(&http->local);
	tdm_loop_stop(http->loop, &http->tick);
	for (size_t i = 0; i < CACHE; i++)
		if (http->cache[i].response != NULL)
			MHD_destroy_response(http->cache[i].response);
	tdm_pages_free(http->pages);
	free(http);
}

unsigned tdm_http_port(const struct tdm_http *http)
{
	return http != NULL ? http->port : 0;
}
