/*
 * Watches all buffers for leaks in a separate process, started by the first request. The process takes samples with
 * buffers for a while, judges the samples (analyze/leaks/leaks.h), sends the findings, and begins again.
 *
 * If there are more than BUFFERS_MAX buffers, nothing is judged: the watch would need more memory than the daemon.
 *
 * The process also sends the largest free blocks, because computing them needs every buffer.
 */
#include "analyze/leaks/leaks.h"
#include "base/clock.h"
#include "base/file.h"
#include "daemon/http/http.h"
#include "view/rows/live_result.h"
#include "view/write/write.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define WATCH_NS    (UINT64_C(120) * TDM_NS_PER_S)
#define PERIOD_MOST (UINT64_C(5) * TDM_NS_PER_S)
#define RESTART_NS  (UINT64_C(10) * TDM_NS_PER_S)

enum {
	PICTURES = 24, /* minimum number of samples in a watch */
	SHARE = 100,   /* samples take at most 1/SHARE of a processor */
	OLD = 5,       /* a judgement expires after this many watches */
	DOCUMENT_MAX = 1 << 20,
	FINDINGS_MAX = 500, /* maximum number of findings in a document */
	BUFFERS_MAX = 250000,
};

#define UID_NOBODYS (UINT32_MAX - 1) /* selects the document for users who have no programs */

/* The process sends frames, each a head followed by its content. Rows come first, and invalidate earlier documents. */
enum frame_type { FRAME_ROWS = 1, FRAME_DOCUMENT, FRAME_SPACE };
struct frame {
	uint32_t type, uid;
	uint64_t len;
};

/* ---- in the process ---------------------------------------------------------------------------------------------- */

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
	const struct tdm_live_report report = { .picture = of->picture,
		.dir = of->dir,
		.limit = FINDINGS_MAX,
		.by_user = uid != TDM_UID_UNKNOWN,
		.uid = uid,
		.findings = &of->findings,
		.leaks = &of->result,
		.interval_ns = of->period_ns };
	struct tdm_buf out = { 0 };
	struct tdm_json json = tdm_api_begin(&out, "tidemark.leaks");
	tdm_json_key(&json, "leaks");
	struct tdm_result *result = tdm_result_new();
	tdm_leaks_show(&result->top, &report);
	tdm_write_json(&result->top, &json);
	tdm_result_free(result);
	tdm_json_object_end(&json);
	if (out.len <= DOCUMENT_MAX)
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

/* Runs without root's rights, because function names come from users' files. */
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

static void sleep_ns(uint64_t ns)
{
	const struct timespec time = { .tv_sec = (time_t)(ns / TDM_NS_PER_S), .tv_nsec = (long)(ns % TDM_NS_PER_S) };
	nanosleep(&time, NULL);
}

static uint64_t period_of(uint64_t watch_ns)
{
	return tdm_min(watch_ns / PICTURES, PERIOD_MOST);
}

/* Free space that still matches the counters is up to date, like the picture. */
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

/* Performs one watch. */
static void watch_once(struct tdm_state *state, uint64_t watch_ns, const char *dir, int fd)
{
	const struct tdm_wish wish = { .parts = TDM_WISH_BUFFERS | TDM_WISH_EVENTS };
	uint64_t period_ns = period_of(watch_ns), begun_ns = tdm_clock_ns(), now_ns = begun_ns;
	struct tdm_leaks *leaks = tdm_leaks_new(watch_ns);
	const struct tdm_picture *picture;
	for (;;) {
		/* Measures processor time: on a busy machine, wall time would leave too few samples. */
		uint64_t used_ns = tdm_clock_read(CLOCK_PROCESS_CPUTIME_ID);
		picture = tdm_state_look(state, &wish);
		tdm_leaks_sample(leaks, picture, now_ns);
		send_space(picture, fd);
		uint64_t took_ns = tdm_clock_read(CLOCK_PROCESS_CPUTIME_ID) - used_ns;
		if (now_ns - begun_ns >= watch_ns || tdm_pages_buffers(picture) > BUFFERS_MAX)
			break;
		sleep_ns(tdm_max(period_ns, took_ns * SHARE));
		now_ns = tdm_clock_ns();
	}
	if (now_ns - begun_ns >= watch_ns) {
		struct judgement of = { .picture = picture, .dir = dir, .period_ns = period_ns, .fd = fd };
		tdm_leaks_judge(leaks, of.picture, &of.findings, &of.result);
		pid_t pid = fork();
		if (pid == 0) {
			tdm_api_drop_rights(false, 0);
			send_all(&of);
			_exit(0);
		}
		if (pid > 0)
			waitpid(pid, NULL, 0);
		tdm_findings_done(&of.findings);
	}
	tdm_leaks_free(leaks);
}

/* Runs until the daemon ends the process. */
static void work(void *context, int fd)
{
	const struct tdm_leak_watch *watch = context;
	const struct tdm_state_options options = { .ledger_dir = watch->dir, .with_ended = true, .keeps_gone = true };
	struct tdm_state *state = tdm_state_new(&options);
	for (;;) {
		uint64_t begun_ns = tdm_clock_ns();
		const struct tdm_picture *picture = tdm_state_look(state, NULL);
		send_space(picture, fd);
		if (tdm_pages_buffers(picture) <= BUFFERS_MAX)
			watch_once(state, watch->watch_ns, watch->dir, fd);
		else
			sleep_ns(tdm_max(period_of(watch->watch_ns), (tdm_clock_ns() - begun_ns) * SHARE));
	}
}

/* ---- in the daemon ----------------------------------------------------------------------------------------------- */

static void forget_documents(struct tdm_leak_watch *watch)
{
	for (size_t i = 0; i < watch->document_count; i++)
		tdm_buf_done(&watch->documents[i]);
	watch->document_count = 0;
}

static void take_frame(struct tdm_leak_watch *watch, const struct frame *frame, const char *data)
{
	if (frame->type == FRAME_ROWS) {
		watch->row_count = 0;
		for (size_t at = 0; at < frame->len; at += sizeof *watch->rows) {
			struct tdm_metrics_leak *row = &watch->rows[watch->row_count];
			memcpy(row, data + at, sizeof *row);
			watch->row_count += row->kind < TDM_KIND_COUNT;
		}
		watch->judged_ns = tdm_clock_ns();
		forget_documents(watch);
	} else if (frame->type == FRAME_SPACE) {
		watch->space_count = frame->len / sizeof *watch->spaces;
		memcpy(watch->spaces, data, frame->len);
	} else if (watch->document_count < sizeof watch->documents / sizeof *watch->documents) {
		watch->document_uids[watch->document_count] = frame->uid;
		tdm_buf_add(&watch->documents[watch->document_count++], data, frame->len);
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
	static const size_t items[] = { [FRAME_ROWS] = sizeof(struct tdm_metrics_leak),
		[FRAME_DOCUMENT] = 1,
		[FRAME_SPACE] = sizeof(struct tdm_leak_space) },
			    most[] = { [FRAME_ROWS] = TDM_LEAK_ROWS_MAX,
				    [FRAME_DOCUMENT] = DOCUMENT_MAX,
				    [FRAME_SPACE] = TDM_LEAK_DEVICES_MAX };
	struct tdm_leak_watch *watch = tdm_loop_owner(worker, struct tdm_leak_watch, worker);
	size_t at = 0;
	tdm_buf_add(&watch->input, data, len);
	if (len == 0) {
		stop(watch); /* the next request restarts it */
		return;
	}
	while (watch->input.len - at >= sizeof(struct frame)) {
		struct frame frame;
		memcpy(&frame, watch->input.data + at, sizeof frame);
		/* The frame is not trusted, because the process has read untrusted ledgers. */
		bool is_known = frame.type >= FRAME_ROWS && frame.type <= FRAME_SPACE;
		size_t item = is_known ? items[frame.type] : 1;
		if (!is_known || frame.len % item != 0 || frame.len / item > most[frame.type]) {
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

void tdm_leak_watch_add_space(const struct tdm_leak_watch *watch, const struct tdm_picture *picture)
{
	for (size_t i = 0; i < watch->space_count; i++)
		for (size_t d = 0; d < picture->device_count; d++) {
			const struct tdm_leak_space *space = &watch->spaces[i];
			struct tdm_picture_device *device = &picture->devices[d];
			bool is_better = device->key == space->device &&
					 (device->space_ns == 0 || device->space_is_old) &&
					 space->space_ns > device->space_ns && space->space_ns <= picture->time_ns;
			if (!is_better)
				continue;
			device->space_ns = space->space_ns;
			device->space_is_old = true; /* buffers may have changed since then */
			device->l1_lowest = space->l1_lowest;
			device->cb_highest = space->cb_highest;
			for (size_t k = 0; k < TDM_KIND_COUNT; k++)
				if (space->largest[k] != TDM_BYTES_UNKNOWN &&
					device->kinds[k].free != TDM_BYTES_UNKNOWN)
					device->kinds[k].largest_free =
						tdm_min(space->largest[k], device->kinds[k].free);
		}
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
		if (watch->document_uids[i] == uid)
			return tdm_buf_str(&watch->documents[i]);
		if (watch->document_uids[i] == UID_NOBODYS)
			nobodys = tdm_buf_str(&watch->documents[i]);
	}
	return uid != TDM_UID_UNKNOWN ? nobodys : (struct tdm_str){ "", 0 };
}
