/*
 * The daemon's HTTP side: /metrics, /healthz, /readyz and the documents of /api/v1, on a TCP port and on a Unix socket.
 * docs/formats/http_api.md and docs/metrics.md describe them.
 *
 * libmicrohttpd reads requests and writes responses, without threads: our loop watches libmicrohttpd's epoll descriptor
 * and next time-out, and runs libmicrohttpd. Nothing here blocks. Long work is done by a separate process (loop.h),
 * whose answer is sent as it arrives.
 *
 * A request is handled as follows. http.c checks headers and rights. If equal requests share an answer that is cached,
 * http.c sends the cached answer. Otherwise pages.c takes a new picture if the last one is old, and makes the page, as
 * text or as a stream.
 *
 * A request has no body and at most HEADERS_MAX bytes; it must be complete SLOW_MS after the connection was opened or
 * the last request was answered. When connections are nearly used up, the one that has been silent longest is closed.
 *
 *   http.c        connections: reads requests, sends pages; the only user of libmicrohttpd
 *   pages.c       the pages and documents, made from a picture shared by all requests; readers' rights
 *   stream.c      responses that are sent while they are produced, and events as server-sent events
 *   leak_watch.c  judges all buffers in a separate process
 */
#ifndef TDM_DAEMON_HTTP_H
#define TDM_DAEMON_HTTP_H

#include "analyze/live/live_buffers.h"
#include "base/buf.h"
#include "daemon/socket/socket_server.h"
#include "daemon/work/daemon.h"
#include "daemon/work/loop.h"
#include "live/host/host.h"
#include "live/join/picture.h"
#include "live/join/state.h"
#include "view/metrics/metrics.h"

struct tdm_http;

/*
 * Starts listening. Returns 0 and sets *out, or returns a negative code after a message on standard error. A port in
 * use is only a warning unless it was requested. `state` covers only running processes, and its pictures are taken only
 * for HTTP. `server`'s metrics are shown, unless `server` is NULL.
 */
int tdm_http_start(struct tdm_loop *loop, const struct tdm_daemon_options *options, struct tdm_state *state,
	struct tdm_server *server, struct tdm_http **out);
void tdm_http_stop(struct tdm_http *http); /* NULL is allowed */

/* The TCP port; 0 if there is none. */
unsigned tdm_http_port(const struct tdm_http *http);

/* ---- rights (pages.c explains them) ------------------------------------------------------------------------- */

enum tdm_right { TDM_RIGHT_NONE, TDM_RIGHT_TOTALS, TDM_RIGHT_OWN, TDM_RIGHT_ALL };

enum { TDM_TOKEN_MIN = 16, TDM_TOKEN_MAX = 512 };

struct tdm_access {
	char token[TDM_TOKEN_MAX + 1]; /* empty if there is no token */
	char hosts[1024];              /* allowed host names, each followed by a comma */
	uint32_t uid;                  /* the daemon's user */
};

/* `token_file` may be NULL; `hosts`: more host names, separated by commas, or NULL. 0, or a negative code with a
 * message. */
int tdm_access_init(struct tdm_access *access, const char *token_file, const char *hosts, struct tdm_diag *diag);

/* Returns what a request is allowed to see. `is_local`: the request comes from a loopback address; `uid`: the peer's
 * user id on a Unix socket, else UINT32_MAX; `authorization`: the header, or NULL. */
enum tdm_right tdm_access_right(
	const struct tdm_access *access, bool is_unix, bool is_local, uint32_t uid, const char *authorization);

/* Whether the value of the header Host is allowed: "name", "name:port", "127.0.0.1:9740", "[::1]:9740". */
bool tdm_access_takes_host(const struct tdm_access *access, const char *host);

/* ---- requests and pages ------------------------------------------------------------------------------------------ */

/* A request argument, "?name=value". The value may be "". */
struct tdm_argument {
	const char *name, *value;
};

enum { TDM_ARGUMENTS_MAX = 16 };

struct tdm_request {
	const char *path;
	const char *accept;     /* Accept header; may be empty */
	const char *last_event; /* Last-Event-ID header, or NULL */
	bool is_head;
	enum tdm_right right;
	uint32_t uid; /* the user whose data may be shown, for TDM_RIGHT_OWN */
	struct tdm_argument arguments[TDM_ARGUMENTS_MAX];
	size_t argument_count;
	/* device selection, as for `--device`; NULL for all */
	const char *device; /* as `--device`; NULL for all */
	int32_t pid;        /* 0 for all */
	struct tdm_buffer_filter filter;
	enum tdm_buffer_sort sort;
	uint64_t limit, skip;
	bool with_buffers, with_ended; /* for the whole picture: whether to include buffers and ended processes */
	/* Set by pages.c: */
	const char *dir; /* directory of the ledgers */
	const struct tdm_picture *picture;
	const struct tdm_host *host;
	const struct tdm_machine *machine;
};

struct tdm_page {
	unsigned status;
	const char *type;          /* media type */
	struct tdm_buf text;       /* owned, as is the stream */
	struct tdm_stream *stream; /* sent instead of the text, or NULL */
	bool is_events;            /* a stream that may be silent for long */
};

/* Counted by http.c. */
struct tdm_http_stats {
	uint64_t accepted;     /* connections so far */
	uint64_t open;         /* connections open now */
	uint64_t slow;         /* closed because no complete request arrived in time */
	uint64_t evicted;      /* closed to make room for others */
	uint64_t wrong_hosts;  /* requests whose Host is not a name of the daemon */
	uint64_t responses[6]; /* counted by the first digit of the status */
};

struct tdm_pages;

/* 0, or a negative code with a message. */
int tdm_pages_new(struct tdm_loop *loop, const struct tdm_daemon_options *options, struct tdm_state *state,
	struct tdm_server *server, struct tdm_pages **out, struct tdm_diag *diag);
void tdm_pages_end(struct tdm_pages *pages); /* ends all streams; NULL is allowed here and below */
void tdm_pages_free(struct tdm_pages *pages);

/* Takes a new picture if the last one is old. Returns the current picture's number. */
uint64_t tdm_pages_look(struct tdm_pages *pages);

void tdm_pages_make(struct tdm_pages *pages, const struct tdm_request *request, const struct tdm_http_stats *stats,
	struct tdm_page *page);
void tdm_page_error(struct tdm_page *page, unsigned status, const char *reason);

/* Whether the page is public under any Host name, because it reveals nothing about the machine. */
bool tdm_page_is_open(const char *path);

/* A key shared by requests with the same answer. False if each request needs its own answer. */
bool tdm_page_key(const struct tdm_request *request, char *key, size_t cap);

/* The number of buffers, computed from a picture's counters. */
uint64_t tdm_pages_buffers(const struct tdm_picture *picture);

/* ---- documents --------------------------------------------------------------------------------------------------- */

struct tdm_json tdm_api_begin(struct tdm_buf *out, const char *schema);

/* In a worker running as root: switches to a user, or to nobody. Ends the process if that fails. */
void tdm_api_drop_rights(bool by_user, uint32_t uid);

/* ---- streams ----------------------------------------------------------------------------------------------------- */

/*
 * A bounded queue of bytes between a producer and a connection. The producer adds bytes and ends the stream; the
 * connection takes the bytes, and sleeps while the queue is empty.
 */
struct tdm_stream {
	struct tdm_buf queue;
	size_t taken; /* bytes of the queue already taken */
	size_t cap;
	bool is_over; /* no more bytes will come */
	bool is_cut;  /* the stream ended early, and the reader must be able to tell */
	bool sleeps;  /* its connection is waiting for bytes */
	/* Set by the connection: */
	void *connection;
	void (*wake)(struct tdm_stream *stream);
	/* Set by the producer: */
	void *maker;
	void (*has_room)(struct tdm_stream *stream); /* called after bytes were taken; may be NULL */
	void (*gone)(struct tdm_stream *stream);     /* called before a closed connection frees the stream */
};

/* A stream lives until its connection is closed. */
struct tdm_stream *tdm_stream_new(size_t cap, void *maker);
void tdm_stream_free(struct tdm_stream *stream); /* calls gone() first */

static inline size_t tdm_stream_room(const struct tdm_stream *stream)
{
	size_t waiting = stream->queue.len - stream->taken;
	return waiting < stream->cap ? stream->cap - waiting : 0;
}

/* Adds all bytes or none. Returns whether the bytes were added. */
bool tdm_stream_put(struct tdm_stream *stream, const char *data, size_t len);
void tdm_stream_end(struct tdm_stream *stream, bool is_cut);

/* Takes up to `max` bytes and returns the number taken; 0 if the queue is empty. */
size_t tdm_stream_take(struct tdm_stream *stream, char *to, size_t max);

/* ---- events ------------------------------------------------------------------------------------------------------ */

/*
 * A picture's events go to all readers in frames of at most TDM_SSE_FRAME_MAX bytes. A slow reader loses new frames;
 * its next frame is preceded by the number lost.
 */
enum { TDM_SSE_READERS_MAX = 32, TDM_SSE_FRAME_MAX = 65536, TDM_SSE_QUEUE_MAX = 524288 };

struct tdm_sse {
	struct tdm_sse_reader *readers;
	size_t count;
	uint64_t frames, lost_frames, lost_events; /* totals over all readers */
	void (*changed)(struct tdm_sse *sse);      /* called after a reader left */
};

/* Returns a stream of the requested events, limited to the request's rights; NULL if there are too many readers. */
struct tdm_stream *tdm_sse_join(struct tdm_sse *sse, const struct tdm_request *request);
void tdm_sse_feed(struct tdm_sse *sse, const struct tdm_picture *picture);
void tdm_sse_beat(struct tdm_sse *sse); /* keeps connections alive and detects closed ones */
void tdm_sse_end(struct tdm_sse *sse);  /* ends all streams */

/* ---- leaks ------------------------------------------------------------------------------------------------------- */

enum { TDM_LEAK_ROWS_MAX = 256, TDM_LEAK_USERS_MAX = 64, TDM_LEAK_DEVICES_MAX = 256 };

/* A device's free space, as in struct tdm_picture_device. */
struct tdm_leak_space {
	uint64_t device; /* key */
	uint64_t space_ns, l1_lowest, cb_highest;
	uint64_t largest[TDM_KIND_COUNT];
};

struct tdm_leak_watch {
	struct tdm_loop *loop;
	const char *dir; /* directory of the ledgers */
	uint64_t watch_ns;
	bool runs;
	struct tdm_worker worker;
	struct tdm_buf input;
	uint64_t judged_ns; /* monotonic clock; 0 before the first judgement */
	struct tdm_metrics_leak rows[TDM_LEAK_ROWS_MAX];
	size_t row_count;
	struct tdm_leak_space spaces[TDM_LEAK_DEVICES_MAX];
	size_t space_count;
	uint32_t document_uids[TDM_LEAK_USERS_MAX + 2];
	struct tdm_buf documents[TDM_LEAK_USERS_MAX + 2]; /* each user's findings, as JSON */
	size_t document_count;
	uint64_t begun_ns; /* when the worker process was started */
};

/* `watch_ns`: how long to watch buffers; 0 means the default. */
void tdm_leak_watch_init(struct tdm_leak_watch *watch, struct tdm_loop *loop, const char *dir, uint64_t watch_ns);
void tdm_leak_watch_done(struct tdm_leak_watch *watch);

/* Starts the worker process unless it is running. */
void tdm_leak_watch_start(struct tdm_leak_watch *watch);

/* Adds the largest free blocks to a picture in which these figures are missing or older. */
void tdm_leak_watch_add_space(const struct tdm_leak_watch *watch, const struct tdm_picture *picture);

/* Time since the last judgement; TDM_BYTES_UNKNOWN if there was none, or if it has expired. */
uint64_t tdm_leak_watch_age(const struct tdm_leak_watch *watch, uint64_t now_ns);

/* The document for a user, or for all users (TDM_UID_UNKNOWN); empty before the first judgement. Borrowed until the
 * loop continues. */
struct tdm_str tdm_leak_watch_document(const struct tdm_leak_watch *watch, uint32_t uid);

#endif
