/*
 * What a path leads to. A page is made from the shared picture; long ones are streams. This knows nothing of how
 * requests come in and how answers go out: that is http.c.
 */
#ifndef TDM_DAEMON_PAGES_H
#define TDM_DAEMON_PAGES_H

#include "daemon/web_api.h"
#include "daemon/daemon.h"
#include "daemon/http.h"
#include "daemon/stream.h"

/* What http.c counts. */
struct tdm_http_stats {
	uint64_t accepted;     /* connections */
	uint64_t open;         /* of them, now */
	uint64_t slow;         /* closed because no whole request came in time */
	uint64_t evicted;      /* closed because others needed the place */
	uint64_t wrong_hosts;  /* requests for a name that is not the daemon's */
	uint64_t responses[6]; /* by the first digit of their status */
};

static inline void tdm_http_count(struct tdm_http_stats *stats, unsigned status)
{
	stats->responses[status / 100 < 6 ? status / 100 : 0]++;
}

struct tdm_page_request {
	const char *path;
	const char *accept;     /* header; may be empty */
	const char *last_event; /* header Last-Event-ID; NULL: none */
	bool is_head;
	struct tdm_api_request api; /* who asks, and the arguments; the rest is filled in here */
};

struct tdm_page {
	unsigned status;
	const char *type;          /* of the content */
	struct tdm_buf text;       /* owned, like the stream */
	struct tdm_stream *stream; /* NULL: only the text */
	bool is_events;            /* a stream that may be silent for long */
};

struct tdm_pages;

/* 0, or a negative code with a message. */
int tdm_pages_new(struct tdm_loop *loop, const struct tdm_daemon_options *options,
	const struct tdm_http_sources *sources, struct tdm_pages **out, struct tdm_diag *diag);
void tdm_pages_end(struct tdm_pages *pages); /* ends all streams; NULL is allowed, like below */
void tdm_pages_free(struct tdm_pages *pages);

/* Takes a new picture if the last one is old. */
void tdm_pages_look(struct tdm_pages *pages);
uint64_t tdm_pages_picture(const struct tdm_pages *pages); /* its number */

void tdm_pages_make(struct tdm_pages *pages, const struct tdm_page_request *request, const struct tdm_http_stats *stats,
	struct tdm_page *page);
void tdm_page_error(struct tdm_page *page, unsigned status, const char *reason);

/* Whether anybody may ask for it, whatever name he knows the daemon by: it says nothing about the machine. */
bool tdm_page_is_open(const char *path);

/* A text that is the same for requests with the same answer. false: it must be made each time. */
bool tdm_page_key(const struct tdm_page_request *request, char *key, size_t cap);

#endif
