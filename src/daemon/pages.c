#include "daemon/pages.h"
#include "base/clock.h"
#include "base/err.h"
#include "daemon/glance.h"
#include "daemon/leak_watch.h"
#include "daemon/own_metrics.h"
#include "daemon/worker.h"
#include "report/metrics.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

enum {
	WORKERS_MAX = 4,
	WORKERS_OF_USERS = 3, /* the others are for those who may see everything */
	WORKERS_OF_USER = 2,
	WORKER_QUEUE = 262144,
	BEAT_MS = 15000,
	PULSE_MS = 1000,
	PULSE_SHARE = 2000, /* the looks of the pulse take at most this part of the time */
	SOURCES = 3,
	/* Status codes */
	OK = 200,
	BAD_REQUEST = 400,
	FORBIDDEN = 403,
	NOT_FOUND = 404,
	BROKEN = 500,
	UNAVAILABLE = 503,
};

static const char plain[] = "text/plain; charset=utf-8", json[] = "application/json";

struct tdm_pages {
	struct tdm_loop *loop;
	struct tdm_http_sources sources;
	struct tdm_glance glance;
	struct tdm_machine machine;
	struct tdm_metrics *metrics;
	struct tdm_sse sse;
	struct tdm_timer events, beat; /* while somebody reads events */
	struct tdm_leak_watch leaks;
	bool watches_leaks;
	struct job *jobs;
	uint64_t job_count, jobs_refused;
	uint64_t scrape_ns, scrape_samples;
	struct tdm_metrics_source read[SOURCES];
	uint64_t read_ns[SOURCES]; /* when a source could last be read; 0: never */
	struct tdm_timer pulse;
	uint64_t worker_cpu_ns; /* of all workers so far */
};

/* A long answer that a worker makes. */
struct job {
	struct tdm_pages *pages;
	struct tdm_worker worker;
	struct tdm_stream *stream;
	char last; /* byte */
	bool by_user;
	uint32_t uid; /* who asked, if `by_user` */
	struct job *next;
};

/* Pictures. */

static void check_sources(struct tdm_pages *pages, uint64_t now_ns)
{
	const struct tdm_picture *picture = pages->glance.picture;
	const struct tdm_host *host = tdm_state_host(pages->sources.state);
	const struct tdm_metal_list *metal = tdm_state_metal(pages->sources.state);
	struct tdm_metrics_source *list = pages->read;
	list[0] = (struct tdm_metrics_source){ .from = TDM_FROM_LEDGER,
		.failed = picture == NULL || (picture->ledgers_err != 0 && picture->ledgers_err != -EOVERFLOW) };
	list[1] =
		(struct tdm_metrics_source){ .from = TDM_FROM_METAL_SHM, .failed = picture == NULL || metal->err != 0 };
	list[2] = (struct tdm_metrics_source){ .from = TDM_FROM_DRIVER, .failed = picture == NULL || host->err != 0 };
	for (size_t s = 0; s < SOURCES; s++) {
		for (size_t i = 0; picture != NULL && i < picture->problem_count; i++)
			list[s].problems += picture->problems[i].from == list[s].from;
		if (!list[s].failed)
			pages->read_ns[s] = now_ns;
	}
}

static void look(struct tdm_pages *pages, uint64_t now_ns)
{
	if (!tdm_glance_take(&pages->glance, now_ns, pages->sse.count != 0))
		return;
	check_sources(pages, now_ns);
	if (pages->glance.picture == NULL)
		return;
	tdm_leak_watch_add_space(&pages->leaks, pages->glance.picture);
	tdm_metrics_update(pages->metrics, pages->glance.picture);
	if (pages->glance.has_events)
		tdm_sse_feed(&pages->sse, pages->glance.picture);
}

void tdm_pages_look(struct tdm_pages *pages)
{
	look(pages, tdm_clock_ns());
}

/* Also while nobody asks: what a process counts until its end is known only to those who have seen it run. */
static void pulse_ready(struct tdm_timer *timer, uint64_t now_ns)
{
	struct tdm_pages *pages = tdm_loop_owner(timer, struct tdm_pages, pulse);
	look(pages, now_ns);
	tdm_loop_start(pages->loop, timer, tdm_max(PULSE_MS * TDM_NS_PER_MS, pages->glance.took_ns * PULSE_SHARE));
}

uint64_t tdm_pages_picture(const struct tdm_pages *pages)
{
	return pages->glance.number;
}

/* Events. */

static void events_ready(struct tdm_timer *timer, uint64_t now_ns)
{
	look(tdm_loop_owner(timer, struct tdm_pages, events), now_ns);
}

static void beat_ready(struct tdm_timer *timer, uint64_t now_ns)
{
	(void)now_ns;
	tdm_sse_beat(&tdm_loop_owner(timer, struct tdm_pages, beat)->sse);
}

static void reader_gone(struct tdm_sse *sse)
{
	struct tdm_pages *pages = tdm_loop_owner(sse, struct tdm_pages, sse);
	if (sse->count == 0) {
		tdm_loop_stop(pages->loop, &pages->events);
		tdm_loop_stop(pages->loop, &pages->beat);
	}
}

static void make_events(struct tdm_pages *pages, const struct tdm_page_request *request,
	const struct tdm_api_wish *wish, struct tdm_page *page)
{
	const struct tdm_sse_filter filter = { .sees_all = request->api.right == TDM_RIGHT_ALL,
		.uid = request->api.uid,
		.pid = wish->pid,
		.device = wish->filter.has_device ? (int64_t)wish->filter.device : -1,
		.kind = wish->filter.has_kind ? (int)wish->filter.kind : -1 };
	page->type = "text/event-stream";
	if (request->is_head)
		return;
	uint64_t last;
	bool is_back = request->last_event != NULL && tdm_str_parse_u64(tdm_str_of(request->last_event), &last) == 0;
	page->stream = tdm_sse_join(&pages->sse, &filter, is_back ? &last : NULL);
	page->is_events = true;
	if (page->stream == NULL) {
		pages->jobs_refused++;
		tdm_page_error(page, UNAVAILABLE, "too many readers of events");
		return;
	}
	if (pages->events.at_ns == 0) {
		tdm_loop_start(pages->loop, &pages->events, 0);
		tdm_loop_start(pages->loop, &pages->beat, BEAT_MS * TDM_NS_PER_MS);
	}
}

/* Long answers. */

static void job_got(struct tdm_worker *worker, const char *data, size_t len)
{
	struct job *job = tdm_loop_owner(worker, struct job, worker);
	if (len == 0) {
		tdm_stream_end(job->stream, job->last != '\n');
		return;
	}
	job->last = data[len - 1];
	tdm_stream_put(job->stream, data, len);
	worker->most = tdm_stream_room(job->stream);
	if (worker->most == 0)
		tdm_worker_listen(worker, false);
}

static void job_has_room(struct tdm_stream *stream)
{
	struct job *job = stream->maker;
	job->worker.most = tdm_stream_room(stream);
	tdm_worker_listen(&job->worker, true);
}

static void job_gone(struct tdm_stream *stream)
{
	struct job *job = stream->maker, **at = &job->pages->jobs;
	while (*at != job)
		at = &(*at)->next;
	*at = job->next;
	job->pages->job_count--;
	tdm_worker_stop(&job->worker);
	free(job);
}

/* A user who does not read his answers, or stops the processes that make them, must not stop those of others. */
static bool has_worker(const struct tdm_pages *pages, const struct tdm_api_job *asked)
{
	unsigned of_users = 0, of_user = 0;
	for (const struct job *job = pages->jobs; job != NULL; job = job->next) {
		of_users += job->by_user;
		of_user += job->by_user && job->uid == asked->uid;
	}
	return pages->job_count < WORKERS_MAX &&
	       (!asked->by_user || (of_users < WORKERS_OF_USERS && of_user < WORKERS_OF_USER));
}

static struct tdm_stream *start_job(struct tdm_pages *pages, void (*work)(void *, int), struct tdm_api_job *asked)
{
	struct job *job = has_worker(pages, asked) ? calloc(1, sizeof *job) : NULL;
	if (job == NULL)
		return NULL;
	*job = (struct job){ .pages = pages,
		.worker = { .got = job_got, .most = WORKER_QUEUE },
		.by_user = asked->by_user,
		.uid = asked->uid };
	job->stream = tdm_stream_new(WORKER_QUEUE, job);
	if (job->stream == NULL || tdm_worker_start(&job->worker, pages->loop, work, asked) != 0) {
		tdm_stream_free(job->stream);
		free(job);
		return NULL;
	}
	job->stream->has_room = job_has_room;
	job->stream->gone = job_gone;
	job->next = pages->jobs;
	pages->jobs = job;
	pages->job_count++;
	return job->stream;
}

static const char for_owners[] = "this is for the bearer of the token, or for users who ask over the Unix socket";

static void make_by_job(struct tdm_pages *pages, const struct tdm_page_request *request,
	const struct tdm_api_wish *wish, void (*work)(void *, int), struct tdm_page *page)
{
	struct tdm_api_job asked = { .dir = tdm_state_ledger_dir(pages->sources.state),
		.by_user = request->api.right != TDM_RIGHT_ALL,
		.uid = request->api.uid,
		.wish = *wish };
	if (request->is_head)
		return;
	page->stream = start_job(pages, work, &asked);
	if (page->stream == NULL) {
		pages->jobs_refused++;
		tdm_page_error(page, UNAVAILABLE, "too many long answers are being made");
	}
}

static void make_buffers(struct tdm_pages *pages, const struct tdm_page_request *request,
	const struct tdm_api_wish *wish, struct tdm_page *page)
{
	make_by_job(pages, request, wish, tdm_api_buffers, page);
}

static void make_picture(struct tdm_pages *pages, const struct tdm_page_request *request,
	const struct tdm_api_wish *wish, struct tdm_page *page)
{
	if (!wish->with_buffers && !wish->with_ended)
		tdm_api_picture(&request->api, &page->text);
	else if (request->api.right < TDM_RIGHT_OWN)
		tdm_page_error(page, FORBIDDEN, for_owners);
	else
		make_by_job(pages, request, wish, tdm_api_whole_picture, page);
}

static void make_findings(struct tdm_pages *pages, const struct tdm_page_request *request,
	const struct tdm_api_wish *wish, struct tdm_page *page)
{
	(void)wish;
	struct tdm_str document = tdm_leak_watch_document(
		&pages->leaks, request->api.right == TDM_RIGHT_ALL ? TDM_UID_UNKNOWN : request->api.uid);
	if (!pages->watches_leaks)
		tdm_page_error(page, NOT_FOUND, "this daemon does not watch for leaks");
	else if (document.len == 0)
		tdm_page_error(page, UNAVAILABLE, "the buffers are still being watched for the first time");
	else
		tdm_buf_add(&page->text, document.ptr, document.len);
}

/* Metrics. */

/* A counter must not fall, though a process that has ended is counted a little less exactly. */
static void count_worker_cpu(struct tdm_pages *pages)
{
	struct rusage ended;
	uint64_t cpu_ns = pages->leaks.runs ? tdm_worker_cpu_ns(&pages->leaks.worker) : 0;
	for (const struct job *job = pages->jobs; job != NULL; job = job->next)
		cpu_ns += tdm_worker_cpu_ns(&job->worker);
	if (getrusage(RUSAGE_CHILDREN, &ended) == 0)
		cpu_ns += (uint64_t)(ended.ru_utime.tv_sec + ended.ru_stime.tv_sec) * TDM_NS_PER_S +
			  (uint64_t)(ended.ru_utime.tv_usec + ended.ru_stime.tv_usec) * (TDM_NS_PER_MS / 1000);
	pages->worker_cpu_ns = tdm_max(pages->worker_cpu_ns, cpu_ns);
}

static void make_metrics(struct tdm_pages *pages, const struct tdm_page_request *request,
	const struct tdm_http_stats *stats, struct tdm_page *page)
{
	uint64_t begun_ns = tdm_clock_ns();
	bool is_open = tdm_metrics_accepts_openmetrics(request->accept);
	struct tdm_metrics_leak leaks[TDM_LEAK_ROWS_MAX];
	struct tdm_metrics_text text;
	struct tdm_metrics_view view = { .picture = pages->glance.picture,
		.sees_all = request->api.right == TDM_RIGHT_ALL,
		.uid = request->api.right == TDM_RIGHT_OWN ? request->api.uid : TDM_UID_UNKNOWN,
		.sources = pages->read,
		.source_count = SOURCES,
		.leaks = leaks };
	for (size_t s = 0; s < SOURCES; s++)
		pages->read[s].age_ns =
			pages->read_ns[s] != 0 ? begun_ns - tdm_min(pages->read_ns[s], begun_ns) : TDM_BYTES_UNKNOWN;
	view.leak_count = tdm_leak_watch_rows(&pages->leaks, view.picture, leaks);
	view.leak_age_ns = tdm_leak_watch_age(&pages->leaks, begun_ns);
	tdm_metrics_begin(&text, &page->text, is_open);
	tdm_metrics_write(pages->metrics, &view, &text);
	if (pages->sources.stats != NULL) {
		struct tdm_server_stats server;
		tdm_server_stats_init(&server);
		pages->sources.stats(pages->sources.context, &server);
		tdm_server_stats_write(&server, &text);
	}
	count_worker_cpu(pages);
	const struct tdm_own_metrics own = { pages->loop, &pages->glance, stats, &pages->sse, pages->job_count,
		pages->jobs_refused, pages->scrape_ns, pages->scrape_samples, pages->worker_cpu_ns };
	tdm_own_metrics_write(&own, &text);
	tdm_metrics_end(&text);
	page->type = tdm_metrics_content_type(is_open);
	pages->scrape_ns = tdm_clock_ns() - begun_ns;
	pages->scrape_samples = text.samples;
}

/* The table of pages. */

static void make_status(struct tdm_pages *pages, const struct tdm_page_request *request,
	const struct tdm_api_wish *wish, struct tdm_page *page)
{
	(void)pages;
	tdm_api_status(&request->api, wish, &page->text);
}

static void make_devices(struct tdm_pages *pages, const struct tdm_page_request *request,
	const struct tdm_api_wish *wish, struct tdm_page *page)
{
	(void)pages;
	tdm_api_devices(&request->api, wish, &page->text);
}

static void make_processes(struct tdm_pages *pages, const struct tdm_page_request *request,
	const struct tdm_api_wish *wish, struct tdm_page *page)
{
	(void)pages;
	tdm_api_processes(&request->api, wish, &page->text);
}

static const struct {
	const char *path, *arguments;
	enum tdm_right right; /* that is needed */
	bool is_same;         /* for all who ask the same until the next picture */
	void (*make)(struct tdm_pages *pages, const struct tdm_page_request *request, const struct tdm_api_wish *wish,
		struct tdm_page *page);
} documents[] = {
	{ "/api/v1/status", "device pid", TDM_RIGHT_TOTALS, true, make_status },
	{ "/api/v1/devices", "device", TDM_RIGHT_TOTALS, true, make_devices },
	{ "/api/v1/processes", "device pid", TDM_RIGHT_OWN, true, make_processes },
	{ "/api/v1/buffers", "device pid kind sort limit offset", TDM_RIGHT_OWN, false, make_buffers },
	{ "/api/v1/findings", "", TDM_RIGHT_OWN, false, make_findings },
	{ "/api/v1/picture", "buffers ended", TDM_RIGHT_TOTALS, false, make_picture },
	{ "/api/v1/events", "device pid kind", TDM_RIGHT_OWN, false, make_events },
};
enum { DOCUMENTS = sizeof documents / sizeof *documents };

bool tdm_page_is_open(const char *path)
{
	return strcmp(path, "/healthz") == 0 || strcmp(path, "/readyz") == 0;
}

void tdm_page_error(struct tdm_page *page, unsigned status, const char *reason)
{
	*page = (struct tdm_page){ .status = status, .type = json };
	tdm_buf_init(&page->text);
	tdm_api_error(status, reason, &page->text);
}

bool tdm_page_key(const struct tdm_page_request *request, char *key, size_t cap)
{
	bool is_same = strcmp(request->path, "/metrics") == 0;
	for (size_t i = 0; i < DOCUMENTS; i++)
		is_same |= documents[i].is_same && strcmp(request->path, documents[i].path) == 0;
	int len = snprintf(key, cap, "%d %" PRIu32 " %d %s", (int)request->api.right,
		request->api.right == TDM_RIGHT_OWN ? request->api.uid : 0,
		tdm_metrics_accepts_openmetrics(request->accept), request->path);
	for (size_t i = 0; i < request->api.argument_count && is_same && len >= 0 && (size_t)len < cap; i++)
		len += snprintf(key + len, cap - (size_t)len, "\n%s\r%s", request->api.arguments[i].name,
			request->api.arguments[i].value);
	return is_same && len >= 0 && (size_t)len < cap;
}

static void make_document(
	struct tdm_pages *pages, const struct tdm_page_request *request, size_t which, struct tdm_page *page)
{
	struct tdm_page_request full = *request;
	struct tdm_api_wish wish;
	struct tdm_diag diag = { 0 };
	full.api.picture = pages->glance.picture;
	full.api.host = tdm_state_host(pages->sources.state);
	full.api.machine = &pages->machine;
	page->type = json;
	if (request->api.right < documents[which].right)
		tdm_page_error(page, FORBIDDEN, for_owners);
	else if (tdm_api_parse(&full.api, documents[which].arguments, &wish, &diag) != 0)
		tdm_page_error(page, BAD_REQUEST, diag.text);
	else if (full.api.picture == NULL)
		tdm_page_error(page, UNAVAILABLE, "out of memory");
	else
		documents[which].make(pages, &full, &wish, page);
}

static void make_plain(struct tdm_pages *pages, const struct tdm_page_request *request, struct tdm_page *page)
{
	if (strcmp(request->path, "/healthz") == 0) {
		tdm_buf_puts(&page->text, "ok\n");
	} else if (strcmp(request->path, "/readyz") == 0) {
		const struct tdm_picture *picture = pages->glance.picture;
		bool is_ready = picture != NULL && (picture->ledgers_err == 0 || picture->ledgers_err == -EOVERFLOW);
		page->status = is_ready ? OK : UNAVAILABLE;
		tdm_buf_puts(&page->text, is_ready ? "ready\n" : "the ledgers cannot be listed\n");
	} else if (strcmp(request->path, "/") == 0) {
		tdm_buf_puts(&page->text, "tidemarkd\n\n/metrics\n/healthz\n/readyz\n");
		for (size_t i = 0; i < DOCUMENTS; i++)
			tdm_buf_printf(&page->text, "%s\n", documents[i].path);
	} else {
		tdm_page_error(page, NOT_FOUND, "there is no such page");
	}
}

void tdm_pages_make(struct tdm_pages *pages, const struct tdm_page_request *request, const struct tdm_http_stats *stats,
	struct tdm_page *page)
{
	size_t which = 0;
	*page = (struct tdm_page){ .status = OK, .type = plain };
	tdm_buf_init(&page->text);
	while (which < DOCUMENTS && strcmp(request->path, documents[which].path) != 0)
		which++;
	if (pages->watches_leaks && !tdm_page_is_open(request->path))
		tdm_leak_watch_start(&pages->leaks); /* somebody is interested */
	if (strcmp(request->path, "/metrics") == 0)
		make_metrics(pages, request, stats, page);
	else if (which < DOCUMENTS)
		make_document(pages, request, which, page);
	else
		make_plain(pages, request, page);
	if (tdm_buf_failed(&page->text)) {
		tdm_buf_done(&page->text);
		tdm_page_error(page, BROKEN, "out of memory");
	}
}

int tdm_pages_new(struct tdm_loop *loop, const struct tdm_daemon_options *options,
	const struct tdm_http_sources *sources, struct tdm_pages **out, struct tdm_diag *diag)
{
	struct tdm_metrics_options metrics = { .processes = options->process_metrics };
	if (options->metric_names != NULL && tdm_metrics_names_parse(options->metric_names, &metrics.names) != 0)
		return tdm_diag_set(diag, TDM_ESYNTAX, 0, 0,
			"--metric-names takes tt-mgmt, tt-exporter and tt-telemetry, not '%s'", options->metric_names);
	struct tdm_pages *pages = calloc(1, sizeof *pages);
	if (pages == NULL)
		return tdm_diag_set(diag, -ENOMEM, 0, 0, "out of memory");
	pages->loop = loop;
	pages->sources = *sources;
	pages->glance.state = sources->state;
	pages->sse.changed = reader_gone;
	pages->events = (struct tdm_timer){ .every_ns = TDM_GLANCE_MS * TDM_NS_PER_MS, .ready = events_ready };
	pages->beat = (struct tdm_timer){ .every_ns = BEAT_MS * TDM_NS_PER_MS, .ready = beat_ready };
	pages->scrape_ns = TDM_BYTES_UNKNOWN;
	pages->watches_leaks = options->leak_watch_ns != UINT64_MAX;
	tdm_leak_watch_init(&pages->leaks, loop, tdm_state_ledger_dir(sources->state), options->leak_watch_ns);
	tdm_machine_read(&pages->machine, NULL);
	pages->metrics = tdm_metrics_new(&metrics);
	if (pages->metrics == NULL) {
		tdm_pages_free(pages);
		return tdm_diag_set(diag, -ENOMEM, 0, 0, "out of memory");
	}
	pages->pulse = (struct tdm_timer){ .ready = pulse_ready };
	tdm_pages_look(pages);
	tdm_loop_start(loop, &pages->pulse, PULSE_MS * TDM_NS_PER_MS);
	*out = pages;
	return 0;
}

void tdm_pages_end(struct tdm_pages *pages)
{
	if (pages == NULL)
		return;
	tdm_sse_end(&pages->sse);
	for (struct job *job = pages->jobs; job != NULL; job = job->next)
		tdm_stream_end(job->stream, true);
}

void tdm_pages_free(struct tdm_pages *pages)
{
	if (pages == NULL)
		return;
	tdm_loop_stop(pages->loop, &pages->events);
	tdm_loop_stop(pages->loop, &pages->beat);
	tdm_loop_stop(pages->loop, &pages->pulse);
	tdm_leak_watch_done(&pages->leaks);
	tdm_metrics_free(pages->metrics);
	free(pages);
}
