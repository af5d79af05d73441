#include "live/remote/fleet.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/units.h"
#include "live/join/pick.h"
#include "live/remote/picture_shape.h"
#include "live/remote/remote_picture.h"

#include <curl/curl.h>

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	PORT = 9740,
	HOSTS_MAX = 1024,
	NAME_CAP = 128,
	URL_CAP = 512,
	REASON_CAP = 200,
	TIMEOUT_MS = 5000,
	CONNECT_PART = 2, /* a connection may take 1/CONNECT_PART of the time-out */
	AGAIN_MS = 1000,  /* pause before a machine that did not answer is asked again */
	WAIT_MS = 150,
	FRESH_MS = 5000,
	APART_MS = 60000,
	BYTES_MAX = 32 << 20, /* size limit of a picture without buffers, which cannot be large */
	BUFFERS_BYTES_MAX = 256 << 20,
};

/* Other machines may have been running for longer than this one. The joined picture's clock is ahead of ours, so
 * that events before our start still have positive times. */
#define AHEAD_NS (UINT64_C(1) << 60)

/* libcurl and its two dozen libraries take longer to load than most commands run, so they are loaded when the first
 * machine is asked, not when the program starts. */
static const char library_name[] = "libcurl.so.4";

#define FUNCTION_LIST(X)       \
	X(global_init)         \
	X(global_cleanup)      \
	X(easy_init)           \
	X(easy_setopt)         \
	X(easy_getinfo)        \
	X(easy_strerror)       \
	X(easy_cleanup)        \
	X(multi_init)          \
	X(multi_add_handle)    \
	X(multi_remove_handle) \
	X(multi_perform)       \
	X(multi_poll)          \
	X(multi_info_read)     \
	X(multi_cleanup)       \
	X(slist_append)        \
	X(slist_free_all)

struct library {
#define X(name) __typeof__(&curl_##name) name;
	FUNCTION_LIST(X)
#undef X
};

/* A machine being asked, and its last picture. */
struct machine {
	char name[NAME_CAP];  /* as given, without the standard port; unique */
	char url[URL_CAP];    /* URL without our path */
	char socket[URL_CAP]; /* empty if there is none */
	CURL *easy;
	char error[CURL_ERROR_SIZE];
	struct tdm_buf answer; /* grows as bytes arrive; kept until the next request */
	bool is_asked, is_too_long;
	bool is_simple;       /* the machine refused the path, and is now asked for the simpler path */
	size_t most;          /* maximum size of the machine's answer, in bytes */
	uint64_t again_ns;    /* the machine is not asked again before this time; monotonic clock */
	uint64_t answered_ns; /* when the answer came */
	/* why the last request failed, as a sentence without a full stop; empty if it succeeded */
	char failure[REASON_CAP];
	struct tdm_remote_picture remote; /* the last readable picture */
	uint64_t read_ns;                 /* when that picture arrived, by our clock; 0 if there is none */
	uint64_t time_ns;                 /* when that picture was taken, by the machine's clock */
	int64_t shift_ns, real_shift_ns;  /* difference between the machine's clocks and those of the joined picture */
	char reason[TDM_DIAG_TEXT_CAP];   /* why the last answer cannot be read */
};

struct tdm_fleet {
	struct tdm_fleet_options options; /* the time-out is never 0 */
	struct library curl;
	bool has_curl;
	CURLM *multi;
	struct curl_slist *headers;
	size_t count, busy;
	struct machine *machines;
	const char *simpler; /* the simpler path, during ask() */
	struct tdm_picture_host *hosts;
	struct tdm_intern texts;
	bool has_looked;
	uint64_t since_ns, version;
	struct tdm_picture picture;
	size_t device_cap, process_cap, holding_cap, problem_cap;
	uint32_t *device_of; /* maps devices of the current machine to those of the picture */
	size_t device_of_cap;
};

/* ---- names ---- */

static bool has_scheme(struct tdm_str text, const char *scheme)
{
	return text.len > strlen(scheme) && strncasecmp(text.ptr, scheme, strlen(scheme)) == 0;
}

/* "HOST", "HOST:PORT", "::1", URLs and "unix:PATH". */
static int name_machine(struct machine *machine, struct tdm_str text)
{
	static const char port_text[] = ":9740";
	uint64_t port;
	size_t len;
	if (text.len == 0 || text.len >= NAME_CAP || memchr(text.ptr, '\0', text.len) != NULL)
		return -EINVAL;
	snprintf(machine->name, sizeof machine->name, "%.*s", TDM_STR_ARG(text));
	if (has_scheme(text, "http://") || has_scheme(text, "https://")) {
		while (text.len != 0 && text.ptr[text.len - 1] == '/')
			text.len--;
		snprintf(machine->url, sizeof machine->url, "%.*s", TDM_STR_ARG(text));
		return 0;
	}
	if (has_scheme(text, "unix:")) {
		snprintf(machine->socket, sizeof machine->socket, "%s", machine->name + strlen("unix:"));
		snprintf(machine->url, sizeof machine->url, "http://localhost");
		return 0;
	}
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_:[]%";
	if (strspn(machine->name, allowed) != text.len)
		return -EINVAL;
	const char *first = memchr(text.ptr, ':', text.len), *last = memrchr(text.ptr, ':', text.len);
	const char *bracket = memrchr(text.ptr, ']', text.len);
	if (first != last && memchr(text.ptr, '[', text.len) == NULL) { /* an IPv6 address, which needs brackets */
		snprintf(machine->name, sizeof machine->name, "[%.*s]", TDM_STR_ARG(text));
		snprintf(machine->url, sizeof machine->url, "http://%s:%d", machine->name, PORT);
	} else if (last == NULL || (bracket != NULL && last < bracket)) {
		snprintf(machine->url, sizeof machine->url, "http://%s:%d", machine->name, PORT);
	} else {
		if (last == text.ptr || tdm_str_parse_u64(tdm_str_rest(text, last + 1), &port) != 0 || port == 0 ||
			port > UINT16_MAX)
			return -EINVAL;
		snprintf(machine->url, sizeof machine->url, "http://%s", machine->name);
		len = text.len - (sizeof port_text - 1);
		if (tdm_str_ends(text, port_text) && len != 0)
			machine->name[len] = '\0';
	}
	return 0;
}

static int name_machines(struct tdm_fleet *fleet, struct tdm_diag *diag)
{
	size_t count = 1;
	char shown[NAME_CAP];
	for (const char *c = fleet->options.hosts; *c != '\0'; c++)
		count += *c == ',';
	if (count > HOSTS_MAX)
		return tdm_diag_set(diag, -E2BIG, 0, 0, "more than %d machines", HOSTS_MAX);
	fleet->machines = tdm_zalloc(count, sizeof *fleet->machines);
	fleet->hosts = tdm_zalloc(count, sizeof *fleet->hosts);
	for (const char *at = fleet->options.hosts; fleet->count < count; at += strcspn(at, ",") + 1) {
		const struct tdm_str text = tdm_str_trim((struct tdm_str){ at, strcspn(at, ",") });
		struct machine *new = &fleet->machines[fleet->count];
		int err = name_machine(new, text);
		tdm_str_shown(text, shown, sizeof shown);
		if (err != 0)
			return tdm_diag_set(diag, err, 0, 0, "'%s' is no HOST[:PORT], URL or unix:PATH", shown);
		for (size_t i = 0; i < fleet->count; i++)
			if (strcmp(fleet->machines[i].url, new->url) == 0 &&
				strcmp(fleet->machines[i].socket, new->socket) == 0)
				return tdm_diag_set(diag, -EINVAL, 0, 0, "'%s' is named twice", shown);
		fleet->count++;
	}
	return 0;
}

/* ---- answers ---- */

static uint64_t shifted(uint64_t ns, int64_t shift_ns)
{
	return ns != 0 ? ns + (uint64_t)shift_ns : 0;
}

static void shift_field(void *context, const struct tdm_shape_field *field, char *at)
{
	const struct machine *machine = context;
	struct tdm_buffer_list *lists = (struct tdm_buffer_list *)at;
	if (field->range == TDM_SHAPE_TIME || field->range == TDM_SHAPE_REAL_TIME)
		*(uint64_t *)at = shifted(*(const uint64_t *)at,
			field->range == TDM_SHAPE_TIME ? machine->shift_ns : machine->real_shift_ns);
	for (size_t k = 0; k < TDM_KIND_COUNT && field->type == TDM_SHAPE_BUFFERS; k++) {
		struct tdm_buffer *list;
		memcpy(&list, &lists[k].list, sizeof list);
		for (size_t i = 0; i < lists[k].count; i++)
			list[i].born_ns = shifted(list[i].born_ns, machine->shift_ns);
	}
}

/* Reads a new answer. If it is unreadable, the last picture stays. */
static void read_answer(struct tdm_fleet *fleet, struct machine *machine)
{
	struct tdm_remote_picture remote;
	struct tdm_diag diag = { 0 };
	int err = tdm_remote_picture_read(tdm_buf_str(&machine->answer), &fleet->texts, &remote, &diag);
	snprintf(machine->reason, sizeof machine->reason, "%s", diag.text);
	if (err != 0)
		return;
	/* The difference between the clocks is measured only once, because answers take varying times. It is
	 * measured again if the machine has rebooted, or if its clock is so far ahead that all others would look
	 * old. */
	const struct tdm_picture *picture = &remote.picture;
	uint64_t ours_ns = machine->answered_ns + AHEAD_NS, its_ns = shifted(picture->time_ns, machine->shift_ns);
	if (machine->time_ns == 0 || picture->time_ns < machine->time_ns ||
		(its_ns > ours_ns && its_ns - ours_ns > APART_MS * TDM_NS_PER_MS)) {
		machine->shift_ns = (int64_t)(ours_ns - picture->time_ns);
		machine->real_shift_ns = picture->real_ns != 0 ? (int64_t)(tdm_clock_real_ns() - picture->real_ns) : 0;
	}
	machine->time_ns = picture->time_ns;
	tdm_shape_walk(&tdm_shape_picture, (char *)&remote.picture, shift_field, machine);
	tdm_remote_picture_done(&machine->remote);
	machine->remote = remote;
	machine->read_ns = machine->answered_ns;
	fleet->version++;
}

/* ---- requests ---- */

/* libcurl stays loaded until the program ends: its libraries cannot be unloaded safely. */
static int load_library(struct library *curl, struct tdm_diag *diag)
{
	void *handle = dlopen(library_name, RTLD_NOW | RTLD_LOCAL), *symbol = NULL;
	if (handle == NULL)
		return tdm_diag_set(diag, -ENOENT, 0, 0,
			"%s, which other machines are asked with, is missing: install libcurl4", library_name);
#define X(name)                                                                                                 \
	symbol = dlsym(handle, "curl_" #name);                                                                  \
	if (symbol == NULL)                                                                                     \
		return tdm_diag_set(diag, -ENOENT, 0, 0, "%s is too old: it has no curl_" #name, library_name); \
	memcpy(&curl->name, &symbol, sizeof symbol);
	FUNCTION_LIST(X)
#undef X
	return 0;
}

/* These calls of the library fail only when out of memory. */
static void must_be(bool is_fine)
{
	if (!is_fine)
		tdm_out_of_memory();
}

static size_t take_bytes(char *data, size_t size, size_t count, void *to)
{
	struct machine *machine = to;
	size_t len = size * count;
	machine->is_too_long = len > machine->most - machine->answer.len;
	if (machine->is_too_long)
		return 0; /* makes libcurl end the request */
	tdm_buf_add(&machine->answer, data, len);
	return len;
}

/* Sets the options that are the same for all requests. */
static void set_up(const struct tdm_fleet *fleet, struct machine *machine)
{
	CURL *easy = machine->easy = fleet->curl.easy_init();
	const char *certificates = getenv("SSL_CERT_FILE"); /* the variable used by other programs with OpenSSL */
	must_be(easy != NULL);
#define SET(option, value) must_be(fleet->curl.easy_setopt(easy, CURLOPT_##option, value) == CURLE_OK)
	SET(WRITEFUNCTION, take_bytes);
	SET(WRITEDATA, machine);
	SET(PRIVATE, machine);
	SET(ERRORBUFFER, machine->error);
	SET(HTTPHEADER, fleet->headers);
	SET(PROTOCOLS_STR, "http,https");
	SET(FOLLOWLOCATION, 0L); /* the token is sent only to the place that the user specified */
	SET(NOSIGNAL, 1L);
	SET(TIMEOUT_MS, (long)fleet->options.timeout_ms);
	SET(CONNECTTIMEOUT_MS, (long)(fleet->options.timeout_ms / CONNECT_PART + 1));
	SET(USERAGENT, "tidemark");
	if (machine->socket[0] != '\0')
		SET(UNIX_SOCKET_PATH, machine->socket);
	if (certificates != NULL && certificates[0] != '\0')
		SET(CAINFO, certificates);
#undef SET
}

static void start(struct tdm_fleet *fleet, struct machine *machine, const char *path, size_t most)
{
	char url[2 * URL_CAP];
	snprintf(url, sizeof url, "%s%s", machine->url, path);
	tdm_buf_clear(&machine->answer);
	machine->is_too_long = false;
	machine->most = most;
	machine->error[0] = '\0';
	must_be(fleet->curl.easy_setopt(machine->easy, CURLOPT_URL, url) == CURLE_OK &&
		fleet->curl.multi_add_handle(fleet->multi, machine->easy) == CURLM_OK);
	machine->is_asked = true;
	fleet->busy++;
}

static void finish(struct tdm_fleet *fleet, struct machine *machine, CURLcode code)
{
	long status = 0, distrust = 0, err = 0;
	fleet->curl.easy_getinfo(machine->easy, CURLINFO_RESPONSE_CODE, &status);
	fleet->curl.multi_remove_handle(fleet->multi, machine->easy);
	machine->is_asked = false;
	fleet->busy--;
	if (code == CURLE_OK && status == 403 && fleet->simpler != NULL && !machine->is_simple) {
		machine->is_simple = true;
		start(fleet, machine, fleet->simpler, machine->most);
		return;
	}
	machine->failure[0] = '\0';
	machine->answered_ns = tdm_clock_ns();
	if (code == CURLE_OK && status == 200 && !machine->is_too_long) {
		/* read it at once, because the machine may be asked again before this look ends */
		read_answer(fleet, machine);
		return;
	}
	machine->is_simple = false;
	machine->again_ns = machine->answered_ns + AGAIN_MS * TDM_NS_PER_MS;
	if (machine->is_too_long) {
		snprintf(machine->failure, REASON_CAP, "its answer is longer than %zu MiB", machine->most >> 20);
	} else if (code == CURLE_COULDNT_CONNECT && machine->socket[0] != '\0' &&
		   fleet->curl.easy_getinfo(machine->easy, CURLINFO_OS_ERRNO, &err) == CURLE_OK && err != 0) {
		snprintf(machine->failure, REASON_CAP, "cannot connect to the socket: %s", tdm_err_text((int)-err));
	} else if (code != CURLE_OK) {
		char said[CURL_ERROR_SIZE + 64];
		/*
		 * OpenSSL's reason; 1 means that there is none: the certificate is wrong in some other way, e.g. has
		 * the wrong name
		 */
		fleet->curl.easy_getinfo(machine->easy, CURLINFO_SSL_VERIFYRESULT, &distrust);
		snprintf(said, sizeof said, "%s%s",
			machine->error[0] != '\0' ? machine->error : fleet->curl.easy_strerror(code),
			code == CURLE_PEER_FAILED_VERIFICATION && distrust > 1
				? " (SSL_CERT_FILE names a file of certificates to trust)"
				: "");
		tdm_str_shown(tdm_str_of(said), machine->failure, REASON_CAP);
	} else {
		const char *why = status == 401 && fleet->options.token != NULL ? ": it does not accept this token"
				  : status == 401 || status == 403              ? ": it wants a token (--token-file)"
				  : status == 404 ? ": no picture there; is it a tidemarkd of this version?"
				  : status == 421 ? ": it does not know itself by this name (its list of hosts)"
						  : "";
		snprintf(machine->failure, REASON_CAP, "HTTP status %ld%s", status, why);
	}
}

static void finish_all(struct tdm_fleet *fleet)
{
	CURLMsg *message;
	int left;
	while ((message = fleet->curl.multi_info_read(fleet->multi, &left)) != NULL) {
		char *machine = NULL;
		if (message->msg != CURLMSG_DONE)
			continue;
		CURLcode code = message->data.result;
		if (fleet->curl.easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &machine) == CURLE_OK &&
			machine != NULL)
			finish(fleet, (struct machine *)machine, code);
	}
}

/*
 * Asks every machine that is not being asked for `path`, and waits until all have answered or failed, for at most
 * `wait_ms`. Answers that come later are taken by the next call. An answer above `most` bytes is refused. A machine
 * that refuses `path` (status 403) is asked for `simpler` from then on; if `simpler` is NULL, the request counts as
 * failed.
 */
static void ask(struct tdm_fleet *fleet, const char *path, const char *simpler, size_t most, unsigned wait_ms)
{
	uint64_t now = tdm_clock_ns(), end = now + wait_ms * TDM_NS_PER_MS;
	int running;
	fleet->simpler = simpler;
	must_be(fleet->curl.multi_perform(fleet->multi, &running) == CURLM_OK);
	finish_all(fleet);
	for (size_t i = 0; i < fleet->count; i++) {
		struct machine *machine = &fleet->machines[i];
		const char *wanted = machine->is_simple && simpler != NULL ? simpler : path;
		if (!machine->is_asked && now >= machine->again_ns)
			start(fleet, machine, wanted, most);
	}
	for (;;) {
		must_be(fleet->curl.multi_perform(fleet->multi, &running) == CURLM_OK);
		finish_all(fleet);
		now = tdm_clock_ns();
		if (fleet->busy == 0 || now >= end)
			return;
		int wait = (int)((end - now) / TDM_NS_PER_MS) + 1;
		must_be(fleet->curl.multi_poll(fleet->multi, NULL, 0, wait, NULL) == CURLM_OK);
	}
}

/* ---- joining ---- */

/* A key or handle that is unique across hosts; never 0. */
static uint64_t own_key(size_t host, uint64_t key)
{
	uint64_t mixed = tdm_hash_u64(key ^ tdm_hash_u64(host + 1));
	return mixed != 0 ? mixed : 1;
}

/* Makes room for everything in the machines' pictures. */
static void reserve_all(struct tdm_fleet *fleet)
{
	struct tdm_picture *picture = &fleet->picture;
	size_t devices = 0, processes = 0, holdings = 0, problems = 2 * fleet->count;
	for (size_t i = 0; i < fleet->count; i++) {
		const struct tdm_picture *of = &fleet->machines[i].remote.picture;
		devices += of->device_count;
		processes += of->process_count;
		holdings += of->holding_count;
		problems += of->problem_count;
	}
	tdm_grow(&picture->devices, &fleet->device_cap, devices, sizeof *picture->devices);
	tdm_grow(&picture->processes, &fleet->process_cap, processes, sizeof *picture->processes);
	tdm_grow(&picture->holdings, &fleet->holding_cap, holdings, sizeof *picture->holdings);
	tdm_grow(&picture->problems, &fleet->problem_cap, problems, sizeof *picture->problems);
	tdm_grow(&fleet->device_of, &fleet->device_of_cap, devices, sizeof *fleet->device_of);
	picture->device_count = picture->process_count = picture->holding_count = picture->problem_count = 0;
	picture->board_count = 0;
}

/* Boards come after all devices, so there are two passes. `first` is the number of the machine's first device. */
static void join_devices(struct tdm_fleet *fleet, size_t host, bool boards, size_t first)
{
	struct tdm_picture *picture = &fleet->picture;
	const struct tdm_picture *of = &fleet->machines[host].remote.picture;
	for (size_t i = 0; i < of->device_count; i++) {
		if (of->devices[i].is_board != boards)
			continue;
		struct tdm_picture_device *device = &picture->devices[picture->device_count];
		*device = of->devices[i];
		device->key = own_key(host, device->key);
		device->place = (uint32_t)(first + i); /* unique, however many boards there are */
		device->host = &fleet->hosts[host];
		fleet->device_of[first + i] = (uint32_t)picture->device_count++;
		picture->board_count += boards;
	}
}

static void join_processes(struct tdm_fleet *fleet, size_t host, size_t first)
{
	const struct tdm_fleet_options *options = &fleet->options;
	const struct tdm_pick pick = { .pids = options->pids, .pid_count = options->pid_count };
	struct tdm_picture *picture = &fleet->picture;
	const struct tdm_picture *of = &fleet->machines[host].remote.picture;
	for (size_t i = 0; i < of->process_count; i++) {
		const struct tdm_picture_process *process = &of->processes[i];
		bool is_wanted = process->life != TDM_LIFE_ENDED || options->with_ended ||
				 (options->with_crashed && process->crashed);
		bool is_shown =
			is_wanted && (process->who != NULL || !options->only_tracked) && tdm_pick_names(&pick, process);
		if (is_shown) {
			struct tdm_picture_process *joined = &picture->processes[picture->process_count++];
			*joined = *process;
			joined->handle = own_key(host, process->handle);
			joined->host = &fleet->hosts[host];
			joined->first_holding = (uint32_t)picture->holding_count;
		}
		for (size_t h = 0; h < process->holding_count; h++) {
			const struct tdm_holding *holding = &of->holdings[process->first_holding + h];
			uint32_t device = fleet->device_of[first + holding->device];
			if (is_shown) {
				struct tdm_holding *joined = &picture->holdings[picture->holding_count++];
				*joined = *holding;
				joined->device = device;
				joined->process = (uint32_t)picture->process_count - 1;
			}
			for (size_t k = 0; k < TDM_KIND_COUNT && !is_shown && tdm_picture_counts(process); k++) {
				struct tdm_picture_kind *kind = &picture->devices[device].kinds[k];
				if (kind->used != TDM_BYTES_UNKNOWN && holding->kinds[k].reserved != TDM_BYTES_UNKNOWN)
					kind->unattributed += holding->kinds[k].reserved;
			}
		}
	}
}

/* A machine that does not answer, or whose answer is unreadable, becomes a problem in the picture. */
static void join_host(struct tdm_fleet *fleet, size_t i, uint64_t now_ns)
{
	const struct machine *machine = &fleet->machines[i];
	struct tdm_picture_host *host = &fleet->hosts[i];
	char age[TDM_DURATION_CAP];
	host->name = machine->name;
	host->age_ns = machine->read_ns != 0 ? now_ns - tdm_min(now_ns, machine->read_ns) : TDM_BYTES_UNKNOWN;
	host->reason = machine->failure[0] != '\0'               ? machine->failure
		       : machine->reason[0] != '\0'              ? machine->reason
		       : machine->read_ns == 0                   ? "it has not answered yet"
		       : host->age_ns > FRESH_MS * TDM_NS_PER_MS ? "it is slow to answer"
								 : NULL;
	if (host->reason == NULL)
		return;
	struct tdm_picture_problem *problem = &fleet->picture.problems[fleet->picture.problem_count++];
	*problem = (struct tdm_picture_problem){ .from = TDM_FROM_NONE, .err = -EHOSTUNREACH, .is_unread = true };
	snprintf(problem->place, sizeof problem->place, "%s", host->name);
	if (machine->read_ns == 0)
		snprintf(problem->text, sizeof problem->text, "%.200s; none of its figures are known", host->reason);
	else
		snprintf(problem->text, sizeof problem->text, "%.200s; its figures are %s old", host->reason,
			tdm_format_duration(age, sizeof age, host->age_ns));
}

static void join_problems(struct tdm_fleet *fleet, size_t host)
{
	const struct tdm_picture *of = &fleet->machines[host].remote.picture;
	/* If we have no token, a daemon reveals only sums and the number of processes. */
	bool hides = false;
	for (size_t i = 0; i < of->device_count && of->process_count == 0; i++)
		hides |= of->devices[i].process_count != 0;
	if (hides) {
		struct tdm_picture_problem *hidden = &fleet->picture.problems[fleet->picture.problem_count++];
		*hidden = (struct tdm_picture_problem){ .from = TDM_FROM_NONE, .err = -ENOKEY };
		snprintf(hidden->place, sizeof hidden->place, "%s", fleet->hosts[host].name);
		snprintf(hidden->text, sizeof hidden->text,
			"its processes are hidden: it shows them to the bearer of its token (--token-file)");
	}
	for (size_t i = 0; i < of->problem_count; i++) {
		struct tdm_picture_problem *problem = &fleet->picture.problems[fleet->picture.problem_count++];
		*problem = of->problems[i];
		snprintf(problem->place, sizeof problem->place, "%s%s%.150s", fleet->hosts[host].name,
			of->problems[i].place[0] != '\0' ? ": " : "", of->problems[i].place);
	}
}

static void join(struct tdm_fleet *fleet)
{
	struct tdm_picture *picture = &fleet->picture;
	uint64_t now_ns = tdm_clock_ns(), since_ns = now_ns + AHEAD_NS;
	size_t first = 0;
	reserve_all(fleet);
	picture->time_ns = 0;
	picture->others = 0;
	for (size_t i = 0; i < fleet->count; i++)
		join_host(fleet, i, now_ns);
	for (int boards = 0; boards < 2; boards++) {
		first = 0;
		for (size_t i = 0; i < fleet->count; first += fleet->machines[i++].remote.picture.device_count)
			join_devices(fleet, i, boards != 0, first);
	}
	first = 0;
	for (size_t i = 0; i < fleet->count; first += fleet->machines[i++].remote.picture.device_count) {
		const struct tdm_picture *of = &fleet->machines[i].remote.picture;
		join_processes(fleet, i, first);
		join_problems(fleet, i);
		picture->others = tdm_plus(picture->others, of->others);
		picture->time_ns = tdm_max(picture->time_ns, of->time_ns);
		if (fleet->hosts[i].reason == NULL)
			since_ns = tdm_min(since_ns, of->time_ns);
	}
	picture->time_ns = picture->time_ns != 0 ? picture->time_ns : now_ns + AHEAD_NS;
	picture->real_ns = tdm_clock_real_ns();
	picture->buffers_version = fleet->version;
	picture->texts = &fleet->texts;
	picture->hosts = fleet->hosts;
	picture->host_count = fleet->count;
	fleet->since_ns = tdm_max(fleet->since_ns, since_ns);
}

const struct tdm_picture *tdm_fleet_look(struct tdm_fleet *fleet, const struct tdm_wish *wish)
{
	bool buffers = wish != NULL && (wish->parts & TDM_WISH_BUFFERS) != 0;
	bool ended = fleet->options.with_ended || fleet->options.with_crashed;
	static const char picture_path[] = "/api/v1/picture";
	char path[64];
	snprintf(path, sizeof path, "%s%s%s%s", picture_path, buffers || ended ? "?" : "", buffers ? "buffers=1&" : "",
		ended ? "ended=1" : "");
	/* Readers without rights get the sums, unless they want only ledgers, for which sums are useless. */
	ask(fleet, path, fleet->options.only_tracked ? NULL : picture_path, buffers ? BUFFERS_BYTES_MAX : BYTES_MAX,
		fleet->has_looked ? WAIT_MS : fleet->options.timeout_ms + WAIT_MS);
	fleet->has_looked = true;
	join(fleet);
	return &fleet->picture;
}

/* ---- the whole ---- */

int tdm_fleet_new(const struct tdm_fleet_options *options, struct tdm_fleet **out, struct tdm_diag *diag)
{
	struct tdm_fleet *fleet = *out = tdm_zalloc(1, sizeof *fleet);
	fleet->options = *options;
	fleet->options.timeout_ms = options->timeout_ms != 0 ? options->timeout_ms : TIMEOUT_MS;
	tdm_intern_init(&fleet->texts);
	int err = name_machines(fleet, diag);
	if (err == 0)
		err = load_library(&fleet->curl, diag);
	if (err != 0) {
		tdm_fleet_free(fleet);
		*out = NULL;
		return err;
	}
	must_be(fleet->curl.global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK);
	fleet->has_curl = true;
	fleet->multi = fleet->curl.multi_init();
	must_be(fleet->multi != NULL);
	if (options->token != NULL) {
		char *line = tdm_printed("Authorization: Bearer %s", options->token);
		fleet->headers = fleet->curl.slist_append(NULL, line);
		must_be(fleet->headers != NULL);
		free(line);
		/* the copy in the list, because the caller's copy is borrowed */
		fleet->options.token = fleet->headers->data;
	}
	for (size_t i = 0; i < fleet->count; i++)
		set_up(fleet, &fleet->machines[i]);
	return 0;
}

void tdm_fleet_free(struct tdm_fleet *fleet)
{
	if (fleet == NULL)
		return;
	for (size_t i = 0; i < fleet->count; i++) {
		struct machine *machine = &fleet->machines[i];
		if (machine->is_asked)
			fleet->curl.multi_remove_handle(fleet->multi, machine->easy);
		if (machine->easy != NULL)
			fleet->curl.easy_cleanup(machine->easy);
		tdm_buf_done(&machine->answer);
		tdm_remote_picture_done(&machine->remote);
	}
	if (fleet->has_curl) {
		fleet->curl.multi_cleanup(fleet->multi);
		fleet->curl.slist_free_all(fleet->headers);
		fleet->curl.global_cleanup();
	}
	tdm_picture_done(&fleet->picture);
	tdm_intern_done(&fleet->texts);
	free(fleet->machines);
	free(fleet->hosts);
	free(fleet->device_of);
	free(fleet);
}

uint64_t tdm_fleet_since(const struct tdm_fleet *fleet)
{
	return fleet->since_ns;
}

static const struct tdm_picture *look(void *fleet, const struct tdm_wish *wish)
{
	return tdm_fleet_look(fleet, wish);
}

struct tdm_provider tdm_fleet_provider(struct tdm_fleet *fleet)
{
	return (struct tdm_provider){ .state = fleet, .look = look };
}
