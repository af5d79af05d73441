/* The pages, found by path in the table at the end. Also the rights of readers, the shared picture, long answers and
 * the metrics. A short answer is made from the shared picture in the loop. An answer that needs buffers or ended
 * processes is made by a worker process, which takes its own picture, drops its rights, and writes into a pipe. */
#include "daemon/http/http.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/file.h"
#include "base/memory.h"
#include "tidemark_version.h"
#include "view/rows/live_result.h"
#include "view/rows/picture_json.h"
#include "view/rows/status_result.h"
#include "view/write/write.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <grp.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * ---- rights ----
 * The daemon may run as root, which sees the processes of all users, so each reader gets
 *
 *   everything        with the token; or over the Unix socket, as root or as the user that runs the daemon
 *   his own           over the Unix socket: processes, buffers, command lines and sites of that user; all totals
 *   totals            over TCP, without a token: device figures, but nothing about any process
 *   nothing           over TCP from another machine without a token, if the daemon has one; anywhere with a wrong token
 *
 * The header Host must name the daemon. Otherwise a web page could make a browser on this machine read the figures,
 * under a name that first resolves to the page's server and then to 127.0.0.1 (DNS rebinding). Addresses need no such
 * check.
 */

static int read_token(struct tdm_access *access, const char *path, struct tdm_diag *diag)
{
	struct tdm_buf text = { 0 };
	int err = tdm_file_read(path, 4096, &text);
	struct tdm_str token = tdm_buf_str(&text);
	while (token.len != 0 && isspace((unsigned char)token.ptr[token.len - 1]))
		token.len--;
	bool is_right = token.len >= TDM_TOKEN_MIN && token.len <= TDM_TOKEN_MAX;
	for (size_t i = 0; i < token.len; i++) /* only printable characters, no blanks */
		is_right &= token.ptr[i] > ' ' && token.ptr[i] < 0x7f;
	if (err != 0)
		tdm_diag_set(diag, err, 0, 0, "cannot read the token from '%s': %s", path, tdm_err_text(err));
	else if (!is_right)
		err = tdm_diag_set(diag, TDM_ESYNTAX, 0, 0,
			"'%s' has no token: one line of %d to %d printable characters without blanks", path,
			TDM_TOKEN_MIN, TDM_TOKEN_MAX);
	else
		snprintf(access->token, sizeof access->token, "%.*s", TDM_STR_ARG(token));
	tdm_buf_done(&text);
	return err;
}

int tdm_access_init(struct tdm_access *access, const char *token_file, const char *hosts, struct tdm_diag *diag)
{
	struct stat st;
	char own[256] = "";
	*access = (struct tdm_access){ .uid = (uint32_t)geteuid() };
	gethostname(own, sizeof own - 1);
	const char *const lists[] = { "localhost", own, hosts != NULL ? hosts : "" };
	for (size_t i = 0, len = 0; i < sizeof lists / sizeof *lists; i++)
		for (const char *at = lists[i]; *at != '\0'; at += strcspn(at, ",") + (strchr(at, ',') != NULL)) {
			struct tdm_str name = tdm_str_trim((struct tdm_str){ at, strcspn(at, ",") });
			if (name.len == 0)
				continue;
			if (name.len + 1 >= sizeof access->hosts - len)
				return tdm_diag_set(diag, -E2BIG, 0, 0, "the list of host names is too long");
			len += (size_t)sprintf(access->hosts + len, "%.*s,", TDM_STR_ARG(name));
		}
	if (token_file == NULL)
		return 0;
	if (stat(token_file, &st) == 0 && (st.st_mode & S_IROTH) != 0)
		fprintf(stderr, "tidemarkd: warning: others can read the token: chmod o-r '%s'\n", token_file);
	return read_token(access, token_file, diag);
}

enum tdm_right tdm_access_right(
	const struct tdm_access *access, bool is_unix, bool is_local, uint32_t uid, const char *authorization)
{
	static const char scheme[] = "Bearer ";
	if (authorization != NULL && access->token[0] != '\0') {
		bool is_bearer = strncasecmp(authorization, scheme, sizeof scheme - 1) == 0;
		const char *given = is_bearer ? authorization + sizeof scheme - 1 : "";
		given += strspn(given, " ");
		/* Takes the same time wherever the first difference is, so timing reveals nothing about the token. */
		size_t len = strlen(access->token), given_len = strlen(given);
		unsigned differs = len != given_len;
		for (size_t i = 0; i < len; i++)
			differs |= (unsigned char)access->token[i] ^
				   (unsigned char)(given_len != 0 ? given[i % given_len] : 0);
		return differs == 0 ? TDM_RIGHT_ALL : TDM_RIGHT_NONE;
	}
	if (is_unix && uid != UINT32_MAX)
		return uid == 0 || uid == access->uid ? TDM_RIGHT_ALL : TDM_RIGHT_OWN;
	return is_unix || is_local || access->token[0] == '\0' ? TDM_RIGHT_TOTALS : TDM_RIGHT_NONE;
}

bool tdm_access_takes_host(const struct tdm_access *access, const char *host)
{
	char text[64];
	unsigned char address[16];
	bool is_six = host[0] == '[';
	size_t len = is_six ? strcspn(host, "]") : strcspn(host, ":");
	len += is_six && host[len] == ']';
	const char *port = host + len;
	if (len == 0 || (*port != '\0' && (*port != ':' || port[1 + strspn(port + 1, "0123456789")] != '\0')))
		return false;
	for (const char *at = access->hosts; *at != '\0'; at += strcspn(at, ",") + 1)
		if (strcspn(at, ",") == len && strncasecmp(at, host, len) == 0)
			return true;
	if (len >= sizeof text || len < 2 || (is_six && host[len - 1] != ']'))
		return false;
	snprintf(text, sizeof text, "%.*s", (int)(len - 2 * (size_t)is_six), host + is_six);
	return inet_pton(is_six ? AF_INET6 : AF_INET, text, address) == 1;
}

enum { LIMIT_USUAL = 1000, LIMIT_MOST = 100000, NOBODY = 65534 };

/* ---- arguments --------------------------------------------------------------------------------------------------- */

static int parse_number(
	const struct tdm_argument *argument, uint64_t least, uint64_t most, uint64_t *value, struct tdm_diag *diag)
{
	if (tdm_str_parse_u64(tdm_str_of(argument->value), value) == 0 && *value >= least && *value <= most)
		return 0;
	if (most == 1)
		return tdm_diag_set(diag, TDM_ESYNTAX, 0, 0, "%s is 0 or 1", argument->name);
	return tdm_diag_set(
		diag, TDM_ESYNTAX, 0, 0, "%s is a number from %" PRIu64 " to %" PRIu64, argument->name, least, most);
}

static int parse_argument(
	const struct tdm_argument *argument, const char *allowed, struct tdm_request *request, struct tdm_diag *diag)
{
	static const char *const sorts[TDM_SORT_COUNT] = { "size", "age", "site", "address" };
	const char *name = argument->name, *value = argument->value;
	uint64_t number = 0;
	int err = 0;
	if (!tdm_is_one_of(tdm_str_of(name), allowed))
		return tdm_diag_set(diag, TDM_ESYNTAX, 0, 0, "this document takes the arguments: %s",
			allowed[0] != '\0' ? allowed : "none");
	if (strcmp(name, "device") == 0) {
		/* Buffers are selected by the device number used in their program. */
		bool by_number = tdm_is_one_of(tdm_str_of("kind"), allowed);
		if (by_number ? tdm_str_parse_u64(tdm_str_of(value), &number) != 0 || number > UINT32_MAX
			      : !tdm_pick_name_is_valid(value))
			return tdm_diag_set(diag, TDM_ESYNTAX, 0, 0, "device is %s",
				by_number ? "the number of a device in its program, such as device=0"
					  : "a number, a PCI address or a chip id, such as device=0");
		request->device = value;
		request->filter.has_device = true;
		request->filter.device = (uint32_t)number;
	} else if (strcmp(name, "sort") == 0) {
		unsigned sort = 0;
		while (sort < TDM_SORT_COUNT && strcmp(value, sorts[sort]) != 0)
			sort++;
		if (sort == TDM_SORT_COUNT)
			return tdm_diag_set(diag, TDM_ESYNTAX, 0, 0, "sort is size, age, site or address");
		request->sort = (enum tdm_buffer_sort)sort;
	} else if (strcmp(name, "kind") == 0) {
		char names[160] = "";
		request->filter.has_kind = true;
		for (size_t i = 0, len = 0; i < TDM_KIND_COUNT; i++)
			len += (size_t)snprintf(names + len, sizeof names - len, "%s%s", i != 0 ? ", " : "",
				tdm_kind_name((enum tdm_kind)i));
		if (tdm_kind_parse(tdm_str_of(value), &request->filter.kind) != 0)
			return tdm_diag_set(diag, TDM_ESYNTAX, 0, 0, "kind is one of: %s", names);
	} else if (strcmp(name, "buffers") == 0 || strcmp(name, "ended") == 0) {
		err = parse_number(argument, 0, 1, &number, diag);
		*(name[0] == 'b' ? &request->with_buffers : &request->with_ended) = number == 1;
	} else if (strcmp(name, "pid") == 0) {
		err = parse_number(argument, 1, INT32_MAX, &number, diag);
		request->pid = (int32_t)number;
	} else if (strcmp(name, "limit") == 0) {
		err = parse_number(argument, 1, LIMIT_MOST, &request->limit, diag);
	} else {
		err = parse_number(argument, 0, UINT64_MAX - 1, &request->skip, diag);
	}
	return err;
}

static int parse_arguments(struct tdm_request *request, const char *allowed, struct tdm_diag *diag)
{
	int err = 0;
	request->limit = LIMIT_USUAL;
	for (size_t i = 0; i < request->argument_count && err == 0; i++) {
		const struct tdm_argument *argument = &request->arguments[i];
		for (size_t k = 0; k < i && err == 0; k++)
			if (strcmp(argument->name, request->arguments[k].name) == 0)
				err = tdm_diag_set(diag, TDM_ESYNTAX, 0, 0, "an argument is given once, not twice");
		if (err == 0)
			err = parse_argument(argument, allowed, request, diag);
	}
	return err;
}

/* ---- documents --------------------------------------------------------------------------------------------------- */

struct tdm_json tdm_api_begin(struct tdm_buf *out, const char *schema)
{
	struct tdm_json json;
	tdm_json_init(&json, out);
	json.compact = true;
	tdm_json_envelope(&json, schema);
	return json;
}

/* A document containing the part of the picture that the reader's rights allow the reader to see. */
static void put_status(const struct tdm_request *request, const char *schema, struct tdm_buf *out)
{
	const struct tdm_status_report report = { .picture = request->picture,
		.host = request->host,
		.machine = request->machine,
		.pick = { .device = request->device,
			.pids = &request->pid,
			.pid_count = request->pid != 0,
			.by_user = request->right != TDM_RIGHT_ALL,
			.uid = request->right == TDM_RIGHT_OWN ? request->uid : TDM_UID_UNKNOWN } };
	struct tdm_json json = tdm_api_begin(out, schema);
	struct tdm_result *result = tdm_result_new();
	if (strcmp(schema, "tidemark.status") == 0)
		tdm_snapshot_show(&result->top, &report);
	else if (strcmp(schema, "tidemark.devices") == 0)
		tdm_snapshot_devices(&result->top, &report, "devices");
	else
		tdm_snapshot_processes(&result->top, &report);
	tdm_write_members(&result->top, &json);
	tdm_json_object_end(&json);
	tdm_result_free(result);
}

static void put_picture(const struct tdm_request *request, struct tdm_buf *out)
{
	const struct tdm_picture_json json = { .picture = request->picture,
		.with_processes = request->right != TDM_RIGHT_TOTALS,
		.only_user = request->right == TDM_RIGHT_OWN,
		.uid = request->uid,
		.with_buffers = request->with_buffers,
		.with_functions = request->with_buffers };
	tdm_picture_json(&json, out);
}

/* ---- in a process of its own ------------------------------------------------------------------------------------- */

void tdm_api_drop_rights(bool by_user, uint32_t uid)
{
	uint32_t to = by_user ? uid : NOBODY;
	if (geteuid() != 0 || to == 0)
		return;
	if (setgroups(0, NULL) != 0 || setresgid(NOBODY, NOBODY, NOBODY) != 0 || setresuid(to, to, to) != 0)
		_exit(1);
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* changing the user clears it */
}

static int outlet_fd; /* descriptor of the worker's pipe */

static int to_pipe(const char *data, size_t len)
{
	return tdm_file_write_all(outlet_fd, data, len);
}

/* Takes a picture of the machine, then drops rights. Returns a buffer that writes to `fd`. The memory is released
 * when the worker ends. */
static struct tdm_buf look(struct tdm_request *request, bool only_ledgers, bool with_ended, unsigned parts, int fd)
{
	const struct tdm_state_options options = { .ledger_dir = request->dir,
		.only_ledgers = only_ledgers,
		.with_ended = with_ended,
		.once = true,
		.pids = request->pid != 0 ? &request->pid : NULL,
		.pid_count = request->pid != 0 };
	const struct tdm_wish wish = { .parts = parts, .no_largest = only_ledgers };
	struct tdm_state *state = tdm_state_new(&options);
	request->picture = tdm_state_look(state, &wish);
	request->dir = tdm_state_ledger_dir(state);
	tdm_api_drop_rights(request->right != TDM_RIGHT_ALL, request->uid);
	outlet_fd = fd;
	return (struct tdm_buf){ .outlet = to_pipe };
}

static void work_on_buffers(void *context, int fd)
{
	struct tdm_request *request = context;
	struct tdm_buf out = look(request, true, true, TDM_WISH_BUFFERS, fd);
	const struct tdm_live_report report = { .picture = request->picture,
		.dir = request->dir,
		.filter = request->filter,
		.sort = request->sort,
		.limit = request->limit,
		.skip = request->skip,
		.by_user = request->right != TDM_RIGHT_ALL,
		.uid = request->uid,
		.is_quick = true };
	struct tdm_json json = tdm_api_begin(&out, "tidemark.dump");
	tdm_json_key(&json, "dump");
	struct tdm_result *result = tdm_result_new();
	tdm_dump_show(&result->top, &report);
	tdm_write_json(&result->top, &json);
	tdm_result_free(result);
	tdm_json_object_end(&json);
	if (out.outlet_err == 0) /* the last part; its final newline shows that the document is complete */
		to_pipe(out.data, out.len);
}

static void work_on_picture(void *context, int fd)
{
	struct tdm_request *request = context;
	struct tdm_buf out =
		look(request, false, request->with_ended, request->with_buffers ? TDM_WISH_BUFFERS : 0, fd);
	put_picture(request, &out);
	if (out.outlet_err == 0) /* the last part; its final newline shows that the document is complete */
		to_pipe(out.data, out.len);
}

/* ---- pages ---- */

enum {
	WORKERS_MAX = 4,
	WORKERS_OF_USERS = 3, /* all other workers are for readers with all rights */
	WORKERS_OF_USER = 2,
	WORKER_QUEUE = 262144,
	PICTURE_MS = 500,
	/* Above this many buffers, largest free blocks are not recomputed, because that needs every buffer. */
	PICTURE_BUFFERS = 20000,
	PICTURE_EVENTS = 1024,
	BEAT_MS = 15000,
	PULSE_MS = 1000,
	PULSE_SHARE = 2000, /* the pulse's pictures take at most 1/PULSE_SHARE of the time, on average */
	SOURCES = 3,
	/* Status codes: */
	OK = 200,
	BAD_REQUEST = 400,
	FORBIDDEN = 403,
	NOT_FOUND = 404,
	UNAVAILABLE = 503,
};

static const char plain[] = "text/plain; charset=utf-8", json[] = "application/json";

struct tdm_pages {
	struct tdm_loop *loop;
	struct tdm_state *state;
	struct tdm_server *server; /* NULL if there is no server */
	/*
	 * The picture that all requests share. A request takes a new picture if this one is older than PICTURE_MS; the
	 * pulse takes one now and then. The picture has no buffers, so its cost does not grow with their number.
	 */
	const struct tdm_picture *picture;
	uint64_t taken_ns, took_ns; /* when the picture was taken, and how long that took */
	uint64_t number;            /* pictures so far */
	struct tdm_machine machine;
	struct tdm_metrics *metrics;
	struct tdm_sse sse;
	struct tdm_timer events, beat; /* active while there are readers of events */
	struct tdm_leak_watch leaks;
	bool watches_leaks;
	struct job *jobs;
	uint64_t job_count, jobs_refused;
	uint64_t scrape_ns, scrape_samples; /* figures at the last scrape; unknown before the first scrape */
	struct tdm_metrics_source read[SOURCES];
	uint64_t read_ns[SOURCES]; /* when each source was last readable; 0 if never */
	struct tdm_timer pulse;
	uint64_t worker_cpu_ns; /* processor time of all workers so far */
};

/* A long answer being made by a worker. */
struct job {
	struct tdm_pages *pages;
	struct tdm_worker worker;
	struct tdm_stream *stream;
	char last; /* last byte received */
	bool by_user;
	uint32_t uid; /* the reader's user id, if `by_user` */
	struct job *next;
};

/* ---- pictures ---------------------------------------------------------------------------------------------------- */

uint64_t tdm_pages_buffers(const struct tdm_picture *picture)
{
	uint64_t count = 0;
	for (size_t i = 0; i < picture->holding_count; i++)
		for (size_t k = 0; k < TDM_KIND_COUNT; k++)
			if (picture->holdings[i].kinds[k].buffers != TDM_BYTES_UNKNOWN)
				count += picture->holdings[i].kinds[k].buffers;
	return count;
}

uint64_t tdm_pages_look(struct tdm_pages *pages)
{
	uint64_t now_ns = tdm_clock_ns();
	/* The first picture serves only to count the buffers. */
	if (pages->number > 1 && now_ns - pages->taken_ns < PICTURE_MS * TDM_NS_PER_MS)
		return pages->number;
	bool with_events = pages->sse.count != 0;
	const struct tdm_wish wish = { .parts = with_events ? TDM_WISH_EVENTS : 0,
		.latest_events = PICTURE_EVENTS,
		.no_largest = pages->number == 0 || tdm_pages_buffers(pages->picture) > PICTURE_BUFFERS };
	pages->picture = tdm_state_look(pages->state, &wish);
	pages->taken_ns = now_ns;
	pages->took_ns = tdm_clock_ns() - now_ns;
	pages->number++;
	const bool failed[SOURCES] = { pages->picture->ledgers_err != 0 && pages->picture->ledgers_err != -EOVERFLOW,
		tdm_state_metal(pages->state)->err != 0, tdm_state_host(pages->state)->err != 0 };
	static const enum tdm_from from[SOURCES] = { TDM_FROM_LEDGER, TDM_FROM_METAL_SHM, TDM_FROM_DRIVER };
	for (size_t s = 0; s < SOURCES; s++) {
		pages->read[s] = (struct tdm_metrics_source){ .from = (uint8_t)from[s], .failed = failed[s] };
		for (size_t i = 0; i < pages->picture->problem_count; i++)
			pages->read[s].problems += pages->picture->problems[i].from == from[s];
		if (!failed[s])
			pages->read_ns[s] = now_ns;
	}
	tdm_leak_watch_add_space(&pages->leaks, pages->picture);
	tdm_metrics_update(pages->metrics, pages->picture);
	if (with_events)
		tdm_sse_feed(&pages->sse, pages->picture);
	return pages->number;
}

/* Runs even without requests: an ending process's counters are lost unless a picture recorded them. */
static void pulse_ready(struct tdm_timer *timer)
{
	struct tdm_pages *pages = tdm_loop_owner(timer, struct tdm_pages, pulse);
	tdm_pages_look(pages);
	tdm_loop_start(pages->loop, timer, tdm_max(PULSE_MS * TDM_NS_PER_MS, pages->took_ns * PULSE_SHARE));
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

static void events_ready(struct tdm_timer *timer)
{
	tdm_pages_look(tdm_loop_owner(timer, struct tdm_pages, events));
}

static void beat_ready(struct tdm_timer *timer)
{
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

static void make_events(struct tdm_pages *pages, const struct tdm_request *request, struct tdm_page *page)
{
	page->type = "text/event-stream";
	if (request->is_head)
		return;
	page->stream = tdm_sse_join(&pages->sse, request);
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

/* ---- long answers ------------------------------------------------------------------------------------------------ */

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

static const char for_owners[] = "this is for the bearer of the token, or for users who ask over the Unix socket";

/* Has a worker make the answer, which is sent as it arrives. */
static void make_by_job(
	struct tdm_pages *pages, const struct tdm_request *request, void (*work)(void *, int), struct tdm_page *page)
{
	struct tdm_request own = *request;
	bool by_user = request->right != TDM_RIGHT_ALL;
	unsigned of_users = 0, of_user = 0;
	if (request->is_head)
		return;
	/* A user who leaves answers unread must not block other users' answers. */
	for (const struct job *other = pages->jobs; other != NULL; other = other->next) {
		of_users += other->by_user;
		of_user += other->by_user && other->uid == request->uid;
	}
	bool has_worker = pages->job_count < WORKERS_MAX &&
			  (!by_user || (of_users < WORKERS_OF_USERS && of_user < WORKERS_OF_USER));
	struct job *job = tdm_zalloc(1, sizeof *job);
	*job = (struct job){ .pages = pages,
		.worker = { .got = job_got, .most = WORKER_QUEUE },
		.by_user = by_user,
		.uid = request->uid,
		.next = pages->jobs };
	job->stream = tdm_stream_new(WORKER_QUEUE, job);
	if (!has_worker || tdm_worker_start(&job->worker, pages->loop, work, &own) != 0) {
		tdm_stream_free(job->stream);
		free(job);
		pages->jobs_refused++;
		tdm_page_error(page, UNAVAILABLE, "too many long answers are being made");
		return;
	}
	job->stream->has_room = job_has_room;
	job->stream->gone = job_gone;
	pages->jobs = job;
	pages->job_count++;
	page->stream = job->stream;
}

static void make_findings(struct tdm_pages *pages, const struct tdm_request *request, struct tdm_page *page)
{
	struct tdm_str document = tdm_leak_watch_document(
		&pages->leaks, request->right == TDM_RIGHT_ALL ? TDM_UID_UNKNOWN : request->uid);
	if (!pages->watches_leaks)
		tdm_page_error(page, NOT_FOUND, "this daemon does not watch for leaks");
	else if (document.len == 0)
		tdm_page_error(page, UNAVAILABLE, "the buffers are still being watched for the first time");
	else
		tdm_buf_add(&page->text, document.ptr, document.len);
}

/* ---- metrics ----------------------------------------------------------------------------------------------------- */

/* The daemon's own metrics: cost, queues, refusals and losses. */
static void write_own_metrics(struct tdm_pages *pages, const struct tdm_http_stats *http, struct tdm_metrics_text *text)
{
	static const char answers[] = "Answers by the class of their status.",
			  refused[] = "HTTP connections and requests that were not served, by reason.";
	static const enum tdm_metric_type gauge = TDM_METRIC_GAUGE, counter = TDM_METRIC_COUNTER;
	struct rusage ended;
	struct tdm_proc_root proc;
	struct tdm_proc_use own;
	/* The sum must never fall, although ended processes are counted less exactly. */
	uint64_t cpu_ns = pages->leaks.runs ? tdm_worker_cpu_ns(&pages->leaks.worker) : 0;
	for (const struct job *job = pages->jobs; job != NULL; job = job->next)
		cpu_ns += tdm_worker_cpu_ns(&job->worker);
	if (getrusage(RUSAGE_CHILDREN, &ended) == 0)
		cpu_ns += (uint64_t)(ended.ru_utime.tv_sec + ended.ru_stime.tv_sec) * TDM_NS_PER_S +
			  (uint64_t)(ended.ru_utime.tv_usec + ended.ru_stime.tv_usec) * (TDM_NS_PER_MS / 1000);
	pages->worker_cpu_ns = tdm_max(pages->worker_cpu_ns, cpu_ns);
	tdm_proc_root_init(&proc, "/proc");
	if (tdm_proc_use_read(&proc, getpid(), &own) != 0)
		own.resident_bytes = TDM_BYTES_UNKNOWN;
	tdm_proc_root_done(&proc);
	const struct tdm_metric list[] = {
		{ "tidemark_build", "version=\"" TDM_VERSION_STRING "\"", TDM_METRIC_INFO, "The version of the daemon.",
			1 },
		{ "process_cpu_seconds", "", counter, "Processor time that the daemon has used.",
			tdm_clock_read(CLOCK_PROCESS_CPUTIME_ID) },
		{ "tt_workers_cpu_seconds", "", counter,
			"Processor time of the processes that make long answers and watch for leaks.",
			pages->worker_cpu_ns },
		{ "process_resident_memory_bytes", "", gauge,
			"Memory of the daemon that is resident, shared memory included.", own.resident_bytes },
		{ "tt_loop_rounds", "", counter, "Rounds of the daemon's loop.", pages->loop->rounds },
		{ "tt_loop_busy_seconds", "", counter, "Time that the loop has spent on its rounds.",
			pages->loop->busy_ns },
		{ "tt_picture_duration_seconds", "", gauge, "What the last look at all sources took.", pages->took_ns },
		{ "tt_pictures", "", counter, "Looks at all sources.", pages->number },
		{ "tt_scrape_duration_seconds", "", gauge, "What it took to write the metrics before these.",
			pages->scrape_ns },
		{ "tt_scrape_samples", "", gauge, "Samples in the metrics before these.", pages->scrape_samples },
		{ "tt_http_responses", "class=\"2xx\"", counter, answers, http->responses[2] },
		{ "tt_http_responses", "class=\"4xx\"", counter, answers, http->responses[4] },
		{ "tt_http_responses", "class=\"5xx\"", counter, answers, http->responses[5] },
		{ "tt_http_connections", "", counter, "HTTP connections accepted.", http->accepted },
		{ "tt_http_open_connections", "", gauge, "HTTP connections that are open.", http->open },
		{ "tt_http_refused", "reason=\"slow\"", counter, refused, http->slow },
		{ "tt_http_refused", "reason=\"no_room\"", counter, refused, http->evicted },
		{ "tt_http_refused", "reason=\"host\"", counter, refused, http->wrong_hosts },
		{ "tt_http_refused", "reason=\"busy\"", counter, refused, pages->jobs_refused },
		{ "tt_http_workers", "", gauge, "Processes that make long answers now.", pages->job_count },
		{ "tt_events_readers", "", gauge, "Readers of the stream of events.", pages->sse.count },
		{ "tt_events_frames", "", counter, "Frames of events sent.", pages->sse.frames },
		{ "tt_events_lost_frames", "", counter, "Frames of events that slow readers lost.",
			pages->sse.lost_frames },
		{ "tt_events_lost", "", counter, "Events in these frames.", pages->sse.lost_events },
	};
	tdm_metrics_list(text, list, sizeof list / sizeof *list);
}

static void make_metrics(struct tdm_pages *pages, const struct tdm_request *request, const struct tdm_http_stats *stats,
	struct tdm_page *page)
{
	uint64_t begun_ns = tdm_clock_ns();
	bool is_open = tdm_metrics_accepts_openmetrics(request->accept);
	struct tdm_metrics_text text;
	const struct tdm_metrics_view view = { .picture = pages->picture,
		.sees_all = request->right == TDM_RIGHT_ALL,
		.uid = request->right == TDM_RIGHT_OWN ? request->uid : TDM_UID_UNKNOWN,
		.sources = pages->read,
		.source_count = SOURCES,
		.leaks = pages->leaks.rows,
		.leak_count = pages->leaks.row_count,
		.leak_age_ns = tdm_leak_watch_age(&pages->leaks, begun_ns) };
	for (size_t s = 0; s < SOURCES; s++)
		pages->read[s].age_ns =
			pages->read_ns[s] != 0 ? begun_ns - tdm_min(pages->read_ns[s], begun_ns) : TDM_BYTES_UNKNOWN;
	tdm_metrics_begin(&text, &page->text, is_open);
	tdm_metrics_write(pages->metrics, &view, &text);
	if (pages->server != NULL)
		tdm_server_metrics(pages->server, &text);
	write_own_metrics(pages, stats, &text);
	tdm_metrics_end(&text);
	page->type = tdm_metrics_content_type(is_open);
	pages->scrape_ns = tdm_clock_ns() - begun_ns;
	pages->scrape_samples = text.samples;
}

/* ---- the table of pages ------------------------------------------------------------------------------------------ */

static const struct {
	const char *path, *arguments;
	enum tdm_right right; /* the right required for the page */
	const char
		/* for put_status(), whose answer equal requests share until the next picture; otherwise one of these
		 * is set: */
		*schema;
	void (*make)(struct tdm_pages *pages, const struct tdm_request *request, struct tdm_page *page);
	void (*work)(void *request, int fd); /* made by a worker */
} documents[] = {
	{ "/api/v1/status", "device pid", TDM_RIGHT_TOTALS, .schema = "tidemark.status" },
	{ "/api/v1/devices", "device", TDM_RIGHT_TOTALS, .schema = "tidemark.devices" },
	{ "/api/v1/processes", "device pid", TDM_RIGHT_OWN, .schema = "tidemark.processes" },
	{ "/api/v1/buffers", "device pid kind sort limit offset", TDM_RIGHT_OWN, .work = work_on_buffers },
	{ "/api/v1/findings", "", TDM_RIGHT_OWN, .make = make_findings },
	{ "/api/v1/picture", "buffers ended", TDM_RIGHT_TOTALS, .work = work_on_picture },
	{ "/api/v1/events", "device pid kind", TDM_RIGHT_OWN, .make = make_events },
};
enum { DOCUMENTS = sizeof documents / sizeof *documents };

bool tdm_page_is_open(const char *path)
{
	return strcmp(path, "/healthz") == 0 || strcmp(path, "/readyz") == 0;
}

void tdm_page_error(struct tdm_page *page, unsigned status, const char *reason)
{
	*page = (struct tdm_page){ .status = status, .type = json };
	struct tdm_json error = tdm_api_begin(&page->text, "tidemark.error");
	tdm_json_put_object(&error, "error");
	tdm_json_put_u64(&error, "status", status);
	tdm_json_put_text(&error, "reason", reason);
	tdm_json_object_end(&error);
	tdm_json_object_end(&error);
}

bool tdm_page_key(const struct tdm_request *request, char *key, size_t cap)
{
	bool is_same = strcmp(request->path, "/metrics") == 0;
	for (size_t i = 0; i < DOCUMENTS; i++)
		is_same |= documents[i].schema != NULL && strcmp(request->path, documents[i].path) == 0;
	int len = snprintf(key, cap, "%d %" PRIu32 " %d %s", (int)request->right,
		request->right == TDM_RIGHT_OWN ? request->uid : 0, tdm_metrics_accepts_openmetrics(request->accept),
		request->path);
	for (size_t i = 0; i < request->argument_count && is_same && len >= 0 && (size_t)len < cap; i++)
		len += snprintf(key + len, cap - (size_t)len, "\n%s\r%s", request->arguments[i].name,
			request->arguments[i].value);
	return is_same && len >= 0 && (size_t)len < cap;
}

void tdm_pages_make(struct tdm_pages *pages, const struct tdm_request *request, const struct tdm_http_stats *stats,
	struct tdm_page *page)
{
	size_t which = 0;
	*page = (struct tdm_page){ .status = OK, .type = plain };
	while (which < DOCUMENTS && strcmp(request->path, documents[which].path) != 0)
		which++;
	if (pages->watches_leaks && !tdm_page_is_open(request->path))
		tdm_leak_watch_start(&pages->leaks);
	if (strcmp(request->path, "/metrics") == 0) {
		make_metrics(pages, request, stats, page);
	} else if (which < DOCUMENTS) {
		struct tdm_request full = *request;
		struct tdm_diag diag = { 0 };
		full.dir = tdm_state_ledger_dir(pages->state);
		full.picture = pages->picture;
		full.host = tdm_state_host(pages->state);
		full.machine = &pages->machine;
		page->type = json;
		if (request->right < documents[which].right)
			tdm_page_error(page, FORBIDDEN, for_owners);
		else if (parse_arguments(&full, documents[which].arguments, &diag) != 0)
			tdm_page_error(page, BAD_REQUEST, diag.text);
		else if (documents[which].schema != NULL)
			put_status(&full, documents[which].schema, &page->text);
		else if (documents[which].work == work_on_picture && !full.with_buffers && !full.with_ended)
			put_picture(&full, &page->text); /* made from the shared picture, without a worker */
		else if (documents[which].work != NULL && request->right < TDM_RIGHT_OWN)
			tdm_page_error(page, FORBIDDEN, for_owners);
		else if (documents[which].work != NULL)
			make_by_job(pages, &full, documents[which].work, page);
		else
			documents[which].make(pages, &full, page);
	} else if (strcmp(request->path, "/healthz") == 0) {
		tdm_buf_puts(&page->text, "ok\n");
	} else if (strcmp(request->path, "/readyz") == 0) {
		page->status = !pages->read[0].failed ? OK : UNAVAILABLE; /* whether the ledgers could be read */
		tdm_buf_puts(&page->text, page->status == OK ? "ready\n" : "the ledgers cannot be listed\n");
	} else if (strcmp(request->path, "/") == 0) {
		tdm_buf_puts(&page->text, "tidemarkd\n\n/metrics\n/healthz\n/readyz\n");
		for (size_t i = 0; i < DOCUMENTS; i++)
			tdm_buf_printf(&page->text, "%s\n", documents[i].path);
	} else {
		tdm_page_error(page, NOT_FOUND, "there is no such page");
	}
}

int tdm_pages_new(struct tdm_loop *loop, const struct tdm_daemon_options *options, struct tdm_state *state,
	struct tdm_server *server, struct tdm_pages **out, struct tdm_diag *diag)
{
	unsigned names = 0;
	if (options->metric_names != NULL && tdm_metrics_names_parse(options->metric_names, &names) != 0)
		return tdm_diag_set(diag, TDM_ESYNTAX, 0, 0,
			"--metric-names takes tt-mgmt, tt-exporter and tt-telemetry, not '%s'", options->metric_names);
	struct tdm_pages *pages = tdm_zalloc(1, sizeof *pages);
	pages->loop = loop;
	pages->state = state;
	pages->server = server;
	pages->sse.changed = reader_gone;
	/* Slightly more than a picture's maximum age, so that each tick takes a new picture. */
	pages->events = (struct tdm_timer){ .every_ns = (PICTURE_MS + 1) * TDM_NS_PER_MS, .ready = events_ready };
	pages->beat = (struct tdm_timer){ .every_ns = BEAT_MS * TDM_NS_PER_MS, .ready = beat_ready };
	pages->scrape_ns = pages->scrape_samples = TDM_BYTES_UNKNOWN;
	pages->watches_leaks = options->leak_watch_ns != UINT64_MAX;
	tdm_leak_watch_init(&pages->leaks, loop, tdm_state_ledger_dir(state), options->leak_watch_ns);
	tdm_machine_read(&pages->machine, NULL);
	pages->metrics = tdm_metrics_new(names, options->process_metrics, NULL);
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
