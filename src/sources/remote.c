/*
 * libcurl and the two dozen libraries that it needs take longer to load than most commands run, so they are loaded when
 * a machine is asked, not when the program starts.
 */
#include "sources/remote.h"
#include "base/clock.h"
#include "base/err.h"

#include <curl/curl.h>

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum { URL_CAP = 512, CONNECT_PART = 2 /* of the time-out */ };

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

struct machine {
	struct tdm_remote_host shown;
	char url[URL_CAP];    /* without a path of ours */
	char socket[URL_CAP]; /* empty: none */
	CURL *easy;
	char error[CURL_ERROR_SIZE];
	struct tdm_buf coming;
	bool is_asked, is_too_long;
	bool is_simple;    /* it refused the path, and gets the simpler one */
	size_t most;       /* bytes of its answer */
	uint64_t again_ns; /* not before; monotonic clock */
};

struct tdm_remote {
	struct library curl;
	bool has_curl;
	CURLM *multi;
	struct curl_slist *headers;
	bool has_token;
	struct machine *machines;
	size_t count, busy;
	unsigned timeout_ms;
	const char *simpler; /* while machines are asked */
};

/* ---- names ---- */

static bool has_scheme(struct tdm_str text, const char *scheme)
{
	return text.len > strlen(scheme) && strncasecmp(text.ptr, scheme, strlen(scheme)) == 0;
}

/* Whether a host has a port after it: a colon that is not part of an IPv6 address. */
static bool has_port(struct tdm_str text)
{
	const char *colon = memrchr(text.ptr, ':', text.len), *bracket = memrchr(text.ptr, ']', text.len);
	return colon != NULL && (bracket == NULL || colon > bracket);
}

/* Whether the port after the last colon is one. */
static bool is_port_right(struct tdm_str text)
{
	const char *colon = memrchr(text.ptr, ':', text.len);
	uint64_t port;
	return colon != text.ptr &&
	       tdm_str_parse_u64((struct tdm_str){ colon + 1, text.len - (size_t)(colon + 1 - text.ptr) }, &port) ==
		       0 &&
	       port != 0 && port <= UINT16_MAX;
}

static bool is_host(struct tdm_str text)
{
	for (size_t i = 0; i < text.len; i++)
		if (strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_:[]%", text.ptr[i]) ==
				NULL ||
			text.ptr[i] == '\0')
			return false;
	return text.len != 0;
}

/* "::1", which needs brackets in a URL. */
static bool is_bare_six(struct tdm_str text)
{
	const char *first = memchr(text.ptr, ':', text.len), *last = memrchr(text.ptr, ':', text.len);
	return first != last && memchr(text.ptr, '[', text.len) == NULL;
}

static int name_machine(struct machine *machine, struct tdm_str text)
{
	int len, name_len;
	if (text.len == 0 || text.len >= TDM_REMOTE_NAME_CAP || memchr(text.ptr, '\0', text.len) != NULL)
		return -EINVAL;
	name_len = snprintf(machine->shown.name, sizeof machine->shown.name, "%.*s", TDM_STR_ARG(text));
	if (has_scheme(text, "http://") || has_scheme(text, "https://")) {
		while (text.len != 0 && text.ptr[text.len - 1] == '/')
			text.len--;
		len = snprintf(machine->url, sizeof machine->url, "%.*s", TDM_STR_ARG(text));
	} else if (has_scheme(text, "unix:")) {
		snprintf(machine->socket, sizeof machine->socket, "%s", machine->shown.name + strlen("unix:"));
		len = snprintf(machine->url, sizeof machine->url, "http://localhost");
	} else if (is_host(text) && is_bare_six(text)) {
		snprintf(machine->shown.name, sizeof machine->shown.name, "[%.*s]", TDM_STR_ARG(text));
		len = snprintf(
			machine->url, sizeof machine->url, "http://[%.*s]:%d", TDM_STR_ARG(text), TDM_REMOTE_PORT);
	} else if (is_host(text) && has_port(text)) {
		if (!is_port_right(text))
			return -EINVAL;
		char port[16];
		len = snprintf(machine->url, sizeof machine->url, "http://%.*s", TDM_STR_ARG(text));
		snprintf(port, sizeof port, ":%d", TDM_REMOTE_PORT);
		if (name_len > (int)strlen(port) && strcmp(machine->shown.name + name_len - strlen(port), port) == 0)
			machine->shown.name[name_len - (int)strlen(port)] = '\0';
	} else if (is_host(text)) {
		len = snprintf(machine->url, sizeof machine->url, "http://%.*s:%d", TDM_STR_ARG(text), TDM_REMOTE_PORT);
	} else {
		return -EINVAL;
	}
	return len < (int)sizeof machine->url ? 0 : -EINVAL;
}

static int check_machine(const struct tdm_remote *remote, struct tdm_str text, int err, struct tdm_diag *diag)
{
	char shown[TDM_REMOTE_NAME_CAP];
	tdm_str_shown(text, shown, sizeof shown);
	if (err != 0)
		return tdm_diag_set(diag, err, 0, 0, "'%s' is no HOST[:PORT], URL or unix:PATH", shown);
	const struct machine *new = &remote->machines[remote->count];
	for (size_t i = 0; i < remote->count; i++)
		if (strcmp(remote->machines[i].url, new->url) == 0 &&
			strcmp(remote->machines[i].socket, new->socket) == 0)
			return tdm_diag_set(diag, -EINVAL, 0, 0, "'%s' is named twice", shown);
	return 0;
}

static int name_machines(struct tdm_remote *remote, const char *hosts, struct tdm_diag *diag)
{
	size_t count = 1;
	for (const char *c = hosts; *c != '\0'; c++)
		count += *c == ',';
	if (count > TDM_REMOTE_HOSTS_MAX)
		return tdm_diag_set(diag, -E2BIG, 0, 0, "more than %d machines", TDM_REMOTE_HOSTS_MAX);
	remote->machines = calloc(count, sizeof *remote->machines);
	if (remote->machines == NULL)
		return -ENOMEM;
	for (const char *at = hosts; remote->count < count; at += strcspn(at, ",") + 1) {
		const struct tdm_str text = tdm_str_trim((struct tdm_str){ at, strcspn(at, ",") });
		int err = name_machine(&remote->machines[remote->count], text);
		err = check_machine(remote, text, err, diag);
		if (err != 0)
			return err;
		remote->count++;
	}
	return 0;
}

/* ---- requests ---- */

static size_t take_bytes(char *data, size_t size, size_t count, void *to)
{
	struct machine *machine = to;
	size_t len = size * count;
	machine->is_too_long = len > machine->most - machine->coming.len;
	if (machine->is_too_long)
		return 0; /* ends the request */
	tdm_buf_add(&machine->coming, data, len);
	return tdm_buf_failed(&machine->coming) ? 0 : len;
}

/* What stays the same from request to request. */
static int set_up(const struct tdm_remote *remote, struct machine *machine)
{
	CURL *easy = machine->easy = remote->curl.easy_init();
	const char *certificates = getenv("SSL_CERT_FILE"); /* as other programs with OpenSSL do */
	if (easy == NULL)
		return -ENOMEM;
	CURLcode code = CURLE_OK;
#define SET(option, value) code = code != CURLE_OK ? code : remote->curl.easy_setopt(easy, CURLOPT_##option, value)
	SET(WRITEFUNCTION, take_bytes);
	SET(WRITEDATA, machine);
	SET(PRIVATE, machine);
	SET(ERRORBUFFER, machine->error);
	SET(HTTPHEADER, remote->headers);
	SET(PROTOCOLS_STR, "http,https");
	SET(FOLLOWLOCATION, 0L); /* the token goes where the user said, and nowhere else */
	SET(NOSIGNAL, 1L);
	SET(TIMEOUT_MS, (long)remote->timeout_ms);
	SET(CONNECTTIMEOUT_MS, (long)(remote->timeout_ms / CONNECT_PART + 1));
	SET(USERAGENT, "tidemark");
	if (machine->socket[0] != '\0')
		SET(UNIX_SOCKET_PATH, machine->socket);
	if (certificates != NULL && certificates[0] != '\0')
		SET(CAINFO, certificates);
#undef SET
	return code == CURLE_OK ? 0 : -ENOMEM;
}

static int start(struct tdm_remote *remote, struct machine *machine, const char *path, size_t most)
{
	char url[2 * URL_CAP];
	snprintf(url, sizeof url, "%s%s", machine->url, path);
	tdm_buf_clear(&machine->coming);
	machine->is_too_long = false;
	machine->most = most;
	machine->error[0] = '\0';
	if (remote->curl.easy_setopt(machine->easy, CURLOPT_URL, url) != CURLE_OK ||
		remote->curl.multi_add_handle(remote->multi, machine->easy) != CURLM_OK)
		return -ENOMEM;
	machine->is_asked = true;
	remote->busy++;
	return 0;
}

static void say_status(const struct tdm_remote *remote, struct machine *machine, long status)
{
	const char *why = status == 401 && remote->has_token ? ": it does not accept this token"
			  : status == 401 || status == 403   ? ": it wants a token (--token-file)"
			  : status == 404                    ? ": no picture there; is it a tidemarkd of this version?"
			  : status == 421 ? ": it does not know itself by this name (its list of hosts)"
					  : "";
	snprintf(machine->shown.reason, sizeof machine->shown.reason, "HTTP status %ld%s", status, why);
}

static void say_failure(struct tdm_remote *remote, struct machine *machine, CURLcode code)
{
	struct tdm_remote_host *shown = &machine->shown;
	const char *text = machine->error[0] != '\0' ? machine->error : remote->curl.easy_strerror(code);
	long distrust = 0; /* OpenSSL's reason; 1: none, the certificate is wrong in another way, such as its name */
	char said[CURL_ERROR_SIZE + 64];
	remote->curl.easy_getinfo(machine->easy, CURLINFO_SSL_VERIFYRESULT, &distrust);
	snprintf(said, sizeof said, "%s%s", text,
		code == CURLE_PEER_FAILED_VERIFICATION && distrust > 1
			? " (SSL_CERT_FILE names a file of certificates to trust)"
			: "");
	long err = 0;
	if (code == CURLE_COULDNT_CONNECT && machine->socket[0] != '\0' &&
		remote->curl.easy_getinfo(machine->easy, CURLINFO_OS_ERRNO, &err) == CURLE_OK && err != 0)
		snprintf(said, sizeof said, "cannot connect to the socket: %s", tdm_err_text((int)-err));
	tdm_str_shown(tdm_str_of(said), shown->reason, sizeof shown->reason);
}

static void finish(struct tdm_remote *remote, struct machine *machine, CURLcode code)
{
	long status = 0;
	struct tdm_remote_host *shown = &machine->shown;
	remote->curl.easy_getinfo(machine->easy, CURLINFO_RESPONSE_CODE, &status);
	remote->curl.multi_remove_handle(remote->multi, machine->easy);
	machine->is_asked = false;
	remote->busy--;
	if (code == CURLE_OK && status == 403 && remote->simpler != NULL && !machine->is_simple) {
		machine->is_simple = true;
		if (start(remote, machine, remote->simpler, machine->most) == 0)
			return;
	}
	shown->reason[0] = '\0';
	if (machine->is_too_long)
		snprintf(shown->reason, sizeof shown->reason, "its answer is longer than %zu MiB", machine->most >> 20);
	else if (code != CURLE_OK)
		say_failure(remote, machine, code);
	else if (status != 200)
		say_status(remote, machine, status);
	if (shown->reason[0] != '\0') {
		machine->is_simple = false;
		machine->again_ns = tdm_clock_ns() + TDM_REMOTE_AGAIN_MS * TDM_NS_PER_MS;
		return;
	}
	const struct tdm_buf before = shown->answer;
	shown->answer = machine->coming;
	machine->coming = before;
	shown->answered_ns = tdm_clock_ns();
	shown->answers++;
}

static void finish_all(struct tdm_remote *remote)
{
	CURLMsg *message;
	int left;
	while ((message = remote->curl.multi_info_read(remote->multi, &left)) != NULL) {
		char *machine = NULL;
		if (message->msg != CURLMSG_DONE)
			continue;
		CURLcode code = message->data.result;
		if (remote->curl.easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &machine) == CURLE_OK &&
			machine != NULL)
			finish(remote, (struct machine *)machine, code);
	}
}

int tdm_remote_ask(struct tdm_remote *remote, const char *path, const char *simpler, size_t most, unsigned wait_ms)
{
	uint64_t now = tdm_clock_ns(), end = now + wait_ms * TDM_NS_PER_MS;
	int running;
	remote->simpler = simpler;
	if (remote->curl.multi_perform(remote->multi, &running) != CURLM_OK)
		return -EIO;
	finish_all(remote);
	for (size_t i = 0; i < remote->count; i++) {
		struct machine *machine = &remote->machines[i];
		const char *wanted = machine->is_simple && simpler != NULL ? simpler : path;
		int err = !machine->is_asked && now >= machine->again_ns ? start(remote, machine, wanted, most) : 0;
		if (err != 0)
			return err;
	}
	for (;;) {
		if (remote->curl.multi_perform(remote->multi, &running) != CURLM_OK)
			return -EIO;
		finish_all(remote);
		now = tdm_clock_ns();
		if (remote->busy == 0 || now >= end)
			return 0;
		if (remote->curl.multi_poll(remote->multi, NULL, 0, (int)((end - now) / TDM_NS_PER_MS) + 1, NULL) !=
			CURLM_OK)
			return -EIO;
	}
}

/* ---- the whole ---- */

static int add_token(struct tdm_remote *remote, const char *token)
{
	struct tdm_buf line;
	tdm_buf_init(&line);
	tdm_buf_printf(&line, "Authorization: Bearer %s", token);
	remote->has_token = true;
	remote->headers = tdm_buf_failed(&line) ? NULL : remote->curl.slist_append(NULL, line.data);
	tdm_buf_done(&line);
	return remote->headers != NULL ? 0 : -ENOMEM;
}

/* It stays loaded until the program ends: its libraries cannot be unloaded safely. */
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

static int open_all(struct tdm_remote *remote, const struct tdm_remote_options *options, struct tdm_diag *diag)
{
	int err = load_library(&remote->curl, diag);
	if (err == 0)
		err = remote->curl.global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK ? 0 : -ENOMEM;
	remote->has_curl = err == 0;
	if (err == 0)
		remote->multi = remote->curl.multi_init();
	if (err == 0 && remote->multi == NULL)
		err = -ENOMEM;
	if (err == 0 && options->token != NULL)
		err = add_token(remote, options->token);
	for (size_t i = 0; err == 0 && i < remote->count; i++)
		err = set_up(remote, &remote->machines[i]);
	return err;
}

int tdm_remote_new(const struct tdm_remote_options *options, struct tdm_remote **out, struct tdm_diag *diag)
{
	struct tdm_remote *remote = calloc(1, sizeof *remote);
	int err = remote == NULL ? -ENOMEM : name_machines(remote, options->hosts, diag);
	if (err == 0) {
		remote->timeout_ms = options->timeout_ms != 0 ? options->timeout_ms : TDM_REMOTE_TIMEOUT_MS;
		err = open_all(remote, options, diag);
	}
	if (err == -ENOMEM)
		tdm_diag_set(diag, err, 0, 0, "out of memory");
	if (err != 0) {
		tdm_remote_free(remote);
		remote = NULL;
	}
	*out = remote;
	return err;
}

void tdm_remote_free(struct tdm_remote *remote)
{
	if (remote == NULL)
		return;
	for (size_t i = 0; i < remote->count; i++) {
		struct machine *machine = &remote->machines[i];
		if (machine->is_asked)
			remote->curl.multi_remove_handle(remote->multi, machine->easy);
		if (machine->easy != NULL)
			remote->curl.easy_cleanup(machine->easy);
		tdm_buf_done(&machine->coming);
		tdm_buf_done(&machine->shown.answer);
	}
	if (remote->multi != NULL)
		remote->curl.multi_cleanup(remote->multi);
	if (remote->has_curl) {
		remote->curl.slist_free_all(remote->headers);
		remote->curl.global_cleanup();
	}
	free(remote->machines);
	free(remote);
}

size_t tdm_remote_count(const struct tdm_remote *remote)
{
	return remote->count;
}

struct tdm_remote_host *tdm_remote_host(struct tdm_remote *remote, size_t i)
{
	return &remote->machines[i].shown;
}
