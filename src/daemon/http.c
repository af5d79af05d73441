#include "daemon/http.h"
#include "base/clock.h"
#include "base/err.h"
#include "daemon/access.h"
#include "daemon/http_form.h"
#include "daemon/http_listen.h"
#include "daemon/pages.h"

#include <errno.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	HEADERS_MAX = 16384,
	CONNECTIONS_MAX = 256,
	CONNECTIONS_FREE = 16,
	SLOW_MS = 30000,    /* for a whole request */
	SILENT_S = 60,      /* for a reader that takes nothing of a response, */
	SSE_SILENT_S = 600, /* and of a stream of events */
	TICK_MS = 1000,     /* while there are connections */
	CACHE = 8,
	KEY_CAP = 512,
};

/* An open connection. */
struct client {
	struct listener *of;
	struct client *next, **at;
	int fd;
	uint32_t uid;      /* of the peer, on a Unix socket; else UINT32_MAX */
	bool is_asked;     /* a request is being answered, */
	bool is_events;    /* with events, which have no end */
	uint64_t since_ns; /* if not asked: since then it has not sent a whole request */
	bool is_shut;
};

/* One of the two sockets. */
struct listener {
	struct tdm_http *http;
	bool is_unix;
	struct MHD_Daemon *daemon; /* NULL: not in use */
	struct tdm_watch watch;
	struct tdm_timer timer;
};

/* An answer that is the same until the next picture. */
struct cached {
	char key[KEY_CAP]; /* empty: none */
	uint64_t number;   /* of the picture */
	unsigned status;
	struct MHD_Response *response;
};

struct tdm_http {
	struct tdm_loop *loop;
	struct tdm_access access;
	struct tdm_pages *pages;
	struct listener tcp, local;
	unsigned port;
	struct tdm_socket_path socket; /* its descriptor is libmicrohttpd's */
	struct client *clients;
	struct tdm_timer tick;
	struct cached cache[CACHE];
	size_t cache_next;
	struct tdm_http_stats stats;
};

/* Connections. */

static void shut(struct client *client)
{
	if (!client->is_shut)
		shutdown(client->fd, SHUT_RDWR); /* libmicrohttpd notices and closes it */
	client->is_shut = true;
}

/* The connection that has been without a request for longest; if all have one, the one whose answer takes longest. */
static struct client *first_to_go(struct tdm_http *http, const struct client *but)
{
	struct client *first[2] = { NULL, NULL };
	for (struct client *client = http->clients; client != NULL; client = client->next) {
		struct client **of = &first[client->is_asked];
		if (client != but && !client->is_shut && !client->is_events &&
			(*of == NULL || client->since_ns <= (*of)->since_ns))
			*of = client;
	}
	return first[0] != NULL ? first[0] : first[1];
}

static void tick(struct tdm_timer *timer, uint64_t now_ns)
{
	struct tdm_http *http = tdm_loop_owner(timer, struct tdm_http, tick);
	for (struct client *client = http->clients; client != NULL; client = client->next)
		if (!client->is_asked && now_ns > client->since_ns &&
			now_ns - client->since_ns > SLOW_MS * TDM_NS_PER_MS && !client->is_shut) {
			http->stats.slow++;
			shut(client);
		}
	/* When it could not accept a connection, libmicrohttpd only tries again when it is run. */
	if (http->tcp.daemon != NULL)
		tdm_loop_start(http->loop, &http->tcp.timer, 0);
	if (http->local.daemon != NULL)
		tdm_loop_start(http->loop, &http->local.timer, 0);
	if (http->stats.open == 0)
		tdm_loop_stop(http->loop, timer);
}

static struct client *open_client(struct listener *listener, int fd)
{
	struct tdm_http *http = listener->http;
	struct client *client = calloc(1, sizeof *client);
	if (client == NULL)
		return NULL;
	*client = (struct client){ .of = listener,
		.next = http->clients,
		.at = &http->clients,
		.fd = fd,
		.uid = listener->is_unix ? tdm_http_peer_uid(fd) : UINT32_MAX,
		.since_ns = tdm_clock_ns() };
	if (client->next != NULL)
		client->next->at = &client->next;
	http->clients = client;
	http->stats.open++;
	if (http->tick.at_ns == 0)
		tdm_loop_start(http->loop, &http->tick, TICK_MS * TDM_NS_PER_MS);
	if (http->stats.open > CONNECTIONS_MAX - CONNECTIONS_FREE) {
		struct client *first = first_to_go(http, client);
		if (first != NULL) {
			http->stats.evicted++;
			shut(first);
		}
	}
	return client;
}

static void connection_changed(void *context, struct MHD_Connection *connection, void **socket_context,
	enum MHD_ConnectionNotificationCode code)
{
	struct listener *listener = context;
	struct client *client = *socket_context;
	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		const union MHD_ConnectionInfo *info =
			MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
		listener->http->stats.accepted++;
		*socket_context = info != NULL ? open_client(listener, info->connect_fd) : NULL;
		return;
	}
	if (client == NULL)
		return;
	*client->at = client->next;
	if (client->next != NULL)
		client->next->at = client->at;
	listener->http->stats.open--;
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

/* Streams. */

/* libmicrohttpd does not see by itself that a connection goes on: it has to be run. */
static void wake(struct tdm_stream *stream)
{
	struct MHD_Connection *connection = stream->sleeper;
	struct client *client = client_of(connection);
	stream->sleeper = NULL;
	MHD_resume_connection(connection);
	if (client != NULL)
		tdm_loop_start(client->of->http->loop, &client->of->timer, 0);
}

/* The response of a stream needs to know its connection, to let it sleep. */
struct stream_response {
	struct tdm_stream *stream;
	struct MHD_Connection *connection;
};

static ssize_t read_stream(void *context, uint64_t position, char *to, size_t max)
{
	struct stream_response *response = context;
	struct tdm_stream *stream = response->stream;
	(void)position;
	size_t len = tdm_stream_take(stream, to, max);
	if (len != 0)
		return (ssize_t)len;
	if (stream->is_over)
		return stream->is_cut ? MHD_CONTENT_READER_END_WITH_ERROR : MHD_CONTENT_READER_END_OF_STREAM;
	stream->sleeper = response->connection;
	MHD_suspend_connection(response->connection);
	return 0;
}

static void free_stream(void *context)
{
	struct stream_response *response = context;
	tdm_stream_free(response->stream);
	free(response);
}

static struct MHD_Response *respond_stream(struct tdm_stream *stream, struct MHD_Connection *connection)
{
	enum { BLOCK = 16384 };
	struct stream_response *response = malloc(sizeof *response);
	if (response == NULL) {
		tdm_stream_free(stream);
		return NULL;
	}
	*response = (struct stream_response){ stream, connection };
	stream->wake = wake;
	struct MHD_Response *made =
		MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, read_stream, response, free_stream);
	if (made == NULL)
		free_stream(response);
	return made;
}

/* Responses. */

static void add_headers(struct MHD_Response *response, const struct tdm_page *page)
{
	MHD_add_response_header(response, "Content-Type", page->type);
	MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
	MHD_add_response_header(response, "Cache-Control", "no-store");
	if (page->status == MHD_HTTP_UNAUTHORIZED)
		MHD_add_response_header(response, "WWW-Authenticate", "Bearer realm=\"tidemark\"");
	if (page->status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(response, "Allow", "GET, HEAD");
	if (page->status == MHD_HTTP_SERVICE_UNAVAILABLE)
		MHD_add_response_header(response, "Retry-After", "1");
}

/* Takes the text of the page, or its stream. */
static struct MHD_Response *make_response(struct tdm_page *page, struct MHD_Connection *connection)
{
	struct MHD_Response *response;
	if (page->stream != NULL) {
		if (page->is_events) {
			MHD_set_connection_option(connection, MHD_CONNECTION_OPTION_TIMEOUT, (unsigned)SSE_SILENT_S);
			client_of(connection)->is_events = true;
		}
		response = respond_stream(page->stream, connection);
		page->stream = NULL;
	} else {
		response = tdm_buf_failed(&page->text) ? NULL
						       : MHD_create_response_from_buffer(page->text.len,
								 page->text.data, MHD_RESPMEM_MUST_FREE);
		if (response != NULL)
			tdm_buf_init(&page->text); /* its memory is libmicrohttpd's now */
	}
	if (response != NULL)
		add_headers(response, page);
	return response;
}

static enum MHD_Result send_page(
	struct tdm_http *http, struct MHD_Connection *connection, struct tdm_page *page, struct cached *keep)
{
	struct MHD_Response *response = make_response(page, connection);
	unsigned status = page->status;
	tdm_http_count(&http->stats, status);
	tdm_buf_done(&page->text);
	if (response == NULL)
		return MHD_NO;
	enum MHD_Result result = MHD_queue_response(connection, status, response);
	if (keep != NULL) {
		keep->status = status;
		keep->response = response;
	} else {
		MHD_destroy_response(response); /* the connection has its own hold on it */
	}
	return result;
}

static enum MHD_Result refuse(
	struct tdm_http *http, struct MHD_Connection *connection, unsigned status, const char *reason)
{
	struct tdm_page page;
	tdm_page_error(&page, status, reason);
	return send_page(http, connection, &page, NULL);
}

/* Requests. */

static bool is_loopback(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	return info != NULL && info->client_addr != NULL && tdm_http_is_loopback(info->client_addr);
}

static struct cached *find_cached(struct tdm_http *http, const char *key)
{
	uint64_t number = tdm_pages_picture(http->pages);
	for (size_t i = 0; i < CACHE; i++) {
		struct cached *cached = &http->cache[i];
		if (cached->response != NULL && cached->number != number) {
			MHD_destroy_response(cached->response);
			*cached = (struct cached){ 0 };
		}
		if (cached->response != NULL && strcmp(cached->key, key) == 0)
			return cached;
	}
	return NULL;
}

static struct cached *new_cached(struct tdm_http *http, const char *key)
{
	struct cached *cached = &http->cache[http->cache_next++ % CACHE];
	if (cached->response != NULL)
		MHD_destroy_response(cached->response);
	*cached = (struct cached){ .number = tdm_pages_picture(http->pages) };
	memcpy(cached->key, key, strlen(key) + 1);
	return cached;
}

static enum MHD_Result answer_page(
	struct tdm_http *http, struct MHD_Connection *connection, const struct tdm_page_request *request)
{
	char key[KEY_CAP];
	struct tdm_page page;
	bool has_key = tdm_page_key(request, key, sizeof key);
	tdm_pages_look(http->pages);
	struct cached *cached = has_key ? find_cached(http, key) : NULL;
	if (cached != NULL) {
		tdm_http_count(&http->stats, cached->status);
		return MHD_queue_response(connection, cached->status, cached->response);
	}
	tdm_pages_make(http->pages, request, &http->stats, &page);
	bool keeps = has_key && page.stream == NULL && page.status == MHD_HTTP_OK && !tdm_buf_failed(&page.text);
	return send_page(http, connection, &page, keeps ? new_cached(http, key) : NULL);
}

static enum MHD_Result answer_request(struct tdm_http *http, struct MHD_Connection *connection,
	struct tdm_page_request *request, const struct client *client)
{
	const struct tdm_caller caller = { .is_unix = client->of->is_unix,
		.is_local = !client->of->is_unix && is_loopback(connection),
		.uid = client->uid,
		.authorization = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Authorization") };
	request->last_event = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Last-Event-ID");
	request->api.right = tdm_access_right(&http->access, &caller);
	request->api.uid = client->uid;
	if (request->api.right == TDM_RIGHT_NONE && !tdm_page_is_open(request->path))
		return refuse(http, connection, MHD_HTTP_UNAUTHORIZED, "the token is missing or wrong");
	return answer_page(http, connection, request);
}

static enum MHD_Result answer(void *context, struct MHD_Connection *connection, const char *url, const char *method,
	const char *version, const char *data, size_t *data_size, void **state)
{
	static char seen;
	struct listener *listener = context;
	struct tdm_http *http = listener->http;
	struct client *client = client_of(connection);
	struct tdm_page_request request = { .path = url, .is_head = strcmp(method, "HEAD") == 0 };
	struct tdm_http_form form;
	const char *reason;
	(void)version;
	(void)data;
	if (client == NULL)
		return MHD_NO;
	if (!client->is_asked)
		client->since_ns = tdm_clock_ns();
	client->is_asked = true;
	tdm_http_form_read(&form, connection, &request);
	unsigned status = tdm_http_form_check(&form, method, listener->is_unix, &reason);
	if (*state == NULL && status == 0) {
		*state = &seen; /* an answer now would close the connection */
		return MHD_YES;
	}
	if (status == 0 && *data_size != 0) {
		status = MHD_HTTP_BAD_REQUEST;
		reason = "a request has no body here";
	}
	if (status == 0 && !listener->is_unix && !tdm_page_is_open(url) &&
		!tdm_access_takes_host(&http->access, form.host)) {
		status = MHD_HTTP_MISDIRECTED_REQUEST;
		reason = "this name is not one of the daemon's: see --http-hosts";
		http->stats.wrong_hosts++;
	}
	return status != 0 ? refuse(http, connection, status, reason)
			   : answer_request(http, connection, &request, client);
}

/* The loop. */

static void run(struct listener *listener)
{
	MHD_UNSIGNED_LONG_LONG ms;
	MHD_run(listener->daemon);
	if (MHD_get_timeout(listener->daemon, &ms) == MHD_YES)
		tdm_loop_start(listener->http->loop, &listener->timer, (uint64_t)ms * TDM_NS_PER_MS);
	else
		tdm_loop_stop(listener->http->loop, &listener->timer);
}

static void watch_ready(struct tdm_watch *watch, uint32_t events)
{
	(void)events;
	run(tdm_loop_owner(watch, struct listener, watch));
}

static void timer_ready(struct tdm_timer *timer, uint64_t now_ns)
{
	(void)now_ns;
	run(tdm_loop_owner(timer, struct listener, timer));
}

/* Takes the descriptor. */
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

static int say(int err, const struct tdm_diag *diag)
{
	fprintf(stderr, "tidemarkd: %s\n", diag->text);
	return err;
}

static int start_tcp(struct tdm_http *http, const struct tdm_daemon_options *options)
{
	struct tdm_diag diag = { 0 };
	uint16_t port = (uint16_t)(options->http_port != 0 ? options->http_port : TDM_HTTP_PORT);
	int fd = tdm_http_listen_tcp(options->http_host, &port, &diag);
	if (fd == -EADDRINUSE && options->http_port == 0) {
		fprintf(stderr, "tidemarkd: warning: %s; it goes on without\n", diag.text);
		return 0;
	}
	if (fd < 0)
		return say(fd, &diag);
	http->port = port;
	return start_listener(http, &http->tcp, fd, false);
}

static int start_unix(struct tdm_http *http, const char *path)
{
	struct tdm_diag diag = { 0 };
	int err = tdm_http_listen_unix(path, &http->socket, &diag);
	return err != 0 ? say(err, &diag) : start_listener(http, &http->local, http->socket.fd, true);
}

int tdm_http_start(struct tdm_loop *loop, const struct tdm_daemon_options *options,
	const struct tdm_http_sources *sources, struct tdm_http **out)
{
	struct tdm_diag diag = { 0 };
	*out = NULL;
	if (options->no_http)
		return 0;
	struct tdm_http *http = calloc(1, sizeof *http);
	if (http == NULL)
		return -ENOMEM;
	http->loop = loop;
	http->socket.fd = -1;
	http->tick = (struct tdm_timer){ .every_ns = TICK_MS * TDM_NS_PER_MS, .ready = tick };
	int err = tdm_access_init(&http->access, options->token_file, options->http_hosts, &diag);
	if (err == 0)
		err = tdm_pages_new(loop, options, sources, &http->pages, &diag);
	err = err != 0 ? say(err, &diag) : start_tcp(http, options);
	if (err == 0 && options->http_socket != NULL)
		err = start_unix(http, options->http_socket);
	if (err != 0) {
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
	tdm_pages_end(http->pages); /* wakes all connections, which libmicrohttpd wants before the end */
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
