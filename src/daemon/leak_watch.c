#include "daemon/leak_watch.h"
#include "analyze/leaks.h"
#include "base/clock.h"
#include "base/file.h"
#include "daemon/web_api.h"
#include "report/leaks_report.h"
#include "state/state.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define WATCH_NS    (UINT64_C(120) * TDM_NS_PER_S)
#define PERIOD_MOST (UINT64_C(5) * TDM_NS_PER_S)
#define RESTART_NS  (UINT64_C(10) * TDM_NS_PER_S)

enum {
	PICTURES = 24, /* of a watch, or more */
	SHARE = 100,   /* pictures take at most this part of a processor */
	OLD = 5,       /* watches after which a judgement is too old */
	DOCUMENT_MAX = 1 << 20,
	FINDINGS_MAX = 500, /* in a document */
};

#define UID_NOBODYS (UINT32_MAX - 1) /* the document of users without programs */

/* What the process sends: a head, then its bytes. The rows come first and make the documents before them old. */
enum frame_type { FRAME_ROWS = 1, FRAME_DOCUMENT, FRAME_SPACE };
struct frame {
	uint32_t type, uid;
	uint64_t len;
};

/* In the process. */

struct judgement {
	const struct tdm_picture *picture;
	const char *dir;
	struct tdm_findings findings;
	struct tdm_leaks_result result;
	uint64_t period_ns;
	int fd;
};

static void send_frame(int fd, enum frame_type type, uint32_t uid, const void *data, size_t len)
{
	const struct frame frame = { .type = (uint32_t)type, .uid = uid, .len = len };
	if (tdm_file_write_all(fd, (const char *)&frame, sizeof frame) != 0 || tdm_file_write_all(fd, data, len) != 0)
		_exit(1);
}

static void send_document(const struct judgement *of, uint32_t uid)
{
	const struct tdm_live_report live = { .picture = of->picture,
		.dir = of->dir,
		.limit = FINDINGS_MAX,
		.by_user = uid != TDM_UID_UNKNOWN,
		.uid = uid };
	const struct tdm_leaks_report report = {
		.live = &live, .findings = &of->findings, .result = &of->result, .interval_ns = of->period_ns
	};
	struct tdm_buf out;
	struct tdm_json json;
	tdm_buf_init(&out);
	tdm_json_init(&json, &out);
	json.compact = true;
	tdm_json_envelope(&json, "tidemark.leaks");
	tdm_json_key(&json, "leaks");
	tdm_leaks_json(&report, &json);
	tdm_json_object_end(&json);
	if (!tdm_buf_failed(&out) && out.len <= DOCUMENT_MAX)
		send_frame(of->fd, FRAME_DOCUMENT, uid, out.data, out.len);
	tdm_buf_done(&out);
}

static void add_row(
	const struct judgement *of, const struct tdm_finding *finding, struct tdm_metrics_leak *rows, size_t *count)
{
	const struct tdm_picture *picture = of->picture;
	if (finding->severity < TDM_FINDING_WARNING || finding->about.holding >= picture->holding_count ||
		!tdm_picture_counts(&picture->processes[picture->holdings[finding->about.holding].process]))
		return;
	struct tdm_metrics_leak row = { .device =
						picture->devices[picture->holdings[finding->about.holding].device].key,
		.kind = finding->about.kind,
		.is_sure = finding->severity == TDM_FINDING_BROKEN };
	size_t i = 0;
	while (i < *count &&
		(rows[i].device != row.device || rows[i].kind != row.kind || rows[i].is_sure != row.is_sure))
		i++;
	if (i == TDM_LEAK_ROWS_MAX)
		return;
	if (i == *count)
		rows[(*count)++] = row;
	rows[i].sites++;
	rows[i].bytes = tdm_plus(rows[i].bytes, finding->bytes);
}

/* For root in a process without rights: names of functions come from files of users. */
static void send_all(const struct judgement *of)
{
	struct tdm_metrics_leak rows[TDM_LEAK_ROWS_MAX];
	uint32_t users[TDM_LEAK_USERS_MAX];
	size_t row_count = 0, user_count = 0;
	memset(rows, 0, sizeof rows);
	for (size_t i = 0; i < of->findings.count; i++)
		add_row(of, &of->findings.list[i], rows, &row_count);
	send_frame(of->fd, FRAME_ROWS, 0, rows, row_count * sizeof *rows);
	for (size_t i = 0; i < of->picture->process_count; i++) {
		size_t k = 0;
		while (k < user_count && users[k] != of->picture->processes[i].uid)
			k++;
		if (k == user_count && k < TDM_LEAK_USERS_MAX)
			users[user_count++] = of->picture->processes[i].uid;
	}
	send_document(of, TDM_UID_UNKNOWN);
	send_document(of, UID_NOBODYS);
	for (size_t i = 0; i < user_count; i++)
		if (users[i] < UID_NOBODYS)
			send_document(of, users[i]);
}

static void judge(struct tdm_leaks *leaks, struct judgement *of)
{
	pid_t pid = -1;
	if (tdm_leaks_judge(leaks, of->picture, &of->findings, &of->result) == 0)
		pid = fork();
	if (pid == 0) {
		tdm_api_drop_rights(false, 0);
		send_all(of);
		_exit(0);
	}
	if (pid > 0)
		waitpid(pid, NULL, 0);
	tdm_findings_done(&of->findings);
}

static void sleep_ns(uint64_t ns)
{
	const struct timespec time = { .tv_sec = (time_t)(ns / TDM_NS_PER_S), .tv_nsec = (long)(ns % TDM_NS_PER_S) };
	nanosleep(&time, NULL);
}

static uint64_t period_of(uint64_t watch_ns)
{
	return tdm_min(watch_ns / PICTURES, PERIOD_MOST);
}

static uint64_t count_buffers(const struct tdm_picture *picture)
{
	uint64_t count = 0;
	for (size_t i = 0; picture != NULL && i < picture->holding_count; i++)
		for (size_t k = 0; k < TDM_KIND_COUNT; k++)
			if (picture->holdings[i].kinds[k].buffers != TDM_BYTES_UNKNOWN)
				count += picture->holdings[i].kinds[k].buffers;
	return count;
}

/* An answer that still fits the counters is as young as the picture. */
static void send_space(const struct tdm_picture *picture, int fd)
{
	struct tdm_leak_space spaces[TDM_LEAK_DEVICES_MAX];
	size_t count = 0;
	memset(spaces, 0, sizeof spaces);
	for (size_t i = 0; i < picture->device_count && count < TDM_LEAK_DEVICES_MAX; i++) {
		const struct tdm_picture_device *device = &picture->devices[i];
		if (device->space_ns == 0)
			continue;
		struct tdm_leak_space *space = &spaces[count++];
		space->device = device->key;
		space->space_ns = device->space_is_old ? device->space_ns : picture->time_ns;
		space->l1_lowest = device->l1_lowest;
		space->cb_highest = device->cb_highest;
		for (size_t k = 0; k < TDM_KIND_COUNT; k++)
			space->largest[k] = device->kinds[k].largest_free;
	}
	send_frame(fd, FRAME_SPACE, 0, spaces, count * sizeof *spaces);
}

/* Watches once. */
static void watch_once(struct tdm_state *state, uint64_t watch_ns, const char *dir, int fd)
{
	const struct tdm_wish wish = { .parts = TDM_WISH_BUFFERS | TDM_WISH_EVENTS };
	uint64_t period_ns = period_of(watch_ns), begun_ns = tdm_clock_ns(), now_ns = begun_ns;
	struct tdm_leaks *leaks = tdm_leaks_new(watch_ns);
	const struct tdm_picture *picture = NULL;
	while (leaks != NULL) {
		/* On a busy machine the clock would count the turns of others, and there would be too few pictures. */
		uint64_t used_ns = tdm_clock_read(CLOCK_PROCESS_CPUTIME_ID);
		picture = tdm_state_look(state, &wish);
		if (picture == NULL || tdm_leaks_sample(leaks, picture, now_ns) != 0)
			break;
		send_space(picture, fd);
		uint64_t took_ns = tdm_clock_read(CLOCK_PROCESS_CPUTIME_ID) - used_ns;
		if (now_ns - begun_ns >= watch_ns || count_buffers(picture) > TDM_LEAK_BUFFERS_MAX)
			break;
		sleep_ns(tdm_max(period_ns, took_ns * SHARE));
		now_ns = tdm_clock_ns();
	}
	if (leaks != NULL && picture != NULL && now_ns - begun_ns >= watch_ns) {
		struct judgement of = { .picture = picture, .dir = dir, .period_ns = period_ns, .fd = fd };
		judge(leaks, &of);
	}
	tdm_leaks_free(leaks);
}

/* Runs until the daemon ends it. */
static void work(void *context, int fd)
{
	const struct tdm_leak_watch *watch = context;
	const struct tdm_state_options options = { .ledger_dir = watch->dir, .with_ended = true, .keeps_gone = true };
	struct tdm_state *state = tdm_state_new(&options);
	while (state != NULL) {
		uint64_t begun_ns = tdm_clock_ns();
		const struct tdm_picture *picture = tdm_state_look(state, NULL);
		if (picture != NULL)
			send_space(picture, fd);
		if (count_buffers(picture) <= TDM_LEAK_BUFFERS_MAX)
			watch_once(state, watch->watch_ns, watch->dir, fd);
		else
			sleep_ns(tdm_max(period_of(watch->watch_ns), (tdm_clock_ns() - begun_ns) * SHARE));
	}
}

/* In the daemon. */

static void forget_documents(struct tdm_leak_watch *watch)
{
	for (size_t i = 0; i < watch->document_count; i++)
		tdm_buf_done(&watch->documents[i].text);
	watch->document_count = 0;
}

/* Whether a frame may be real; the process has read what others wrote. */
static bool is_possible(const struct frame *frame)
{
	return (frame->type == FRAME_ROWS && frame->len <= sizeof(struct tdm_metrics_leak) * TDM_LEAK_ROWS_MAX &&
		       frame->len % sizeof(struct tdm_metrics_leak) == 0) ||
	       (frame->type == FRAME_DOCUMENT && frame->len <= DOCUMENT_MAX) ||
	       (frame->type == FRAME_SPACE && frame->len <= sizeof(struct tdm_leak_space) * TDM_LEAK_DEVICES_MAX &&
		       frame->len % sizeof(struct tdm_leak_space) == 0);
}

static void take_frame(struct tdm_leak_watch *watch, const struct frame *frame, const char *data)
{
	if (frame->type == FRAME_ROWS) {
		watch->row_count = frame->len / sizeof *watch->rows;
		memcpy(watch->rows, data, frame->len);
		watch->judged_ns = tdm_clock_ns();
		forget_documents(watch);
	} else if (frame->type == FRAME_SPACE) {
		watch->space_count = frame->len / sizeof *watch->spaces;
		memcpy(watch->spaces, data, frame->len);
	} else if (watch->document_count < sizeof watch->documents / sizeof *watch->documents) {
		struct tdm_leak_document *document = &watch->documents[watch->document_count++];
		document->uid = frame->uid;
		tdm_buf_init(&document->text);
		tdm_buf_add(&document->text, data, frame->len);
	}
}

static void stop(struct tdm_leak_watch *watch)
{
	if (watch->runs)
		tdm_worker_stop(&watch->worker);
	watch->runs = false;
	tdm_buf_clear(&watch->input);
}

static void got(struct tdm_worker *worker, const char *data, size_t len)
{
	struct tdm_leak_watch *watch = tdm_loop_owner(worker, struct tdm_leak_watch, worker);
	size_t at = 0;
	tdm_buf_add(&watch->input, data, len);
	if (len == 0 || tdm_buf_failed(&watch->input)) {
		stop(watch); /* the next request starts it again */
		return;
	}
	while (watch->input.len - at >= sizeof(struct frame)) {
		struct frame frame;
		memcpy(&frame, watch->input.data + at, sizeof frame);
		if (!is_possible(&frame)) {
			stop(watch);
			return;
		}
		if (watch->input.len - at - sizeof frame < frame.len)
			break;
		take_frame(watch, &frame, watch->input.data + at + sizeof frame);
		at += sizeof frame + frame.len;
	}
	memmove(watch->input.data, watch->input.data + at, watch->input.len - at);
	watch->input.len -= at;
}

void tdm_leak_watch_init(struct tdm_leak_watch *watch, struct tdm_loop *loop, const char *dir, uint64_t watch_ns)
{
	*watch = (struct tdm_leak_watch){ .loop = loop,
		.dir = dir,
		.watch_ns = watch_ns != 0 && watch_ns != UINT64_MAX ? watch_ns : WATCH_NS,
		.worker = { .got = got, .most = SIZE_MAX } };
	tdm_buf_init(&watch->input);
}

void tdm_leak_watch_done(struct tdm_leak_watch *watch)
{
	stop(watch);
	forget_documents(watch);
	tdm_buf_done(&watch->input);
}

void tdm_leak_watch_start(struct tdm_leak_watch *watch)
{
	uint64_t now_ns = tdm_clock_ns();
	if (watch->runs || (watch->begun_ns != 0 && now_ns - watch->begun_ns < RESTART_NS))
		return;
	watch->begun_ns = now_ns;
	watch->runs = tdm_worker_start(&watch->worker, watch->loop, work, watch) == 0;
}

size_t tdm_leak_watch_rows(const struct tdm_leak_watch *watch, const struct tdm_picture *picture,
	struct tdm_metrics_leak rows[TDM_LEAK_ROWS_MAX])
{
	size_t count = 0;
	for (size_t i = 0; i < watch->row_count && picture != NULL; i++)
		if (watch->rows[i].kind < TDM_KIND_COUNT)
			rows[count++] = watch->rows[i];
	return count;
}

static void add_space(
	const struct tdm_leak_space *space, const struct tdm_picture *picture, struct tdm_picture_device *device)
{
	bool is_better = (device->space_ns == 0 || device->space_is_old) && space->space_ns > device->space_ns &&
			 space->space_ns <= picture->time_ns;
	if (!is_better)
		return;
	device->space_ns = space->space_ns;
	device->space_is_old = true; /* buffers may have come or gone since */
	device->l1_lowest = space->l1_lowest;
	device->cb_highest = space->cb_highest;
	for (size_t k = 0; k < TDM_KIND_COUNT; k++)
		if (space->largest[k] != TDM_BYTES_UNKNOWN && device->kinds[k].free != TDM_BYTES_UNKNOWN)
			device->kinds[k].largest_free = tdm_min(space->largest[k], device->kinds[k].free);
}

void tdm_leak_watch_add_space(const struct tdm_leak_watch *watch, const struct tdm_picture *picture)
{
	for (size_t i = 0; i < watch->space_count; i++)
		for (size_t d = 0; d < picture->device_count; d++)
			if (picture->devices[d].key == watch->spaces[i].device)
				add_space(&watch->spaces[i], picture, &picture->devices[d]);
}

uint64_t tdm_leak_watch_age(const struct tdm_leak_watch *watch, uint64_t now_ns)
{
	uint64_t age_ns = now_ns > watch->judged_ns ? now_ns - watch->judged_ns : 0;
	return watch->judged_ns != 0 && age_ns / OLD <= watch->watch_ns ? age_ns : TDM_BYTES_UNKNOWN;
}

struct tdm_str tdm_leak_watch_document(const struct tdm_leak_watch *watch, uint32_t uid)
{
	struct tdm_str nobodys = { "", 0 };
	for (size_t i = 0; i < watch->document_count; i++) {
		if (watch->documents[i].uid == uid)
			return tdm_buf_str(&watch->documents[i].text);
		if (watch->documents[i].uid == UID_NOBODYS)
			nobodys = tdm_buf_str(&watch->documents[i].text);
	}
	return uid != TDM_UID_UNKNOWN ? nobodys : (struct tdm_str){ "", 0 };
}
