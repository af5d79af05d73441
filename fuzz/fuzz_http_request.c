/*
 * Fuzz what a request can say. Exercises: daemon/http/pages.c, live/join/pick.c
 * and socket_server.c (the variables of socket activation, which have the same form). libmicrohttpd has divided a
 * request already, so an input is divided by newlines: the path, the headers Host, Authorization and Accept, and
 * arguments "name=value". The first byte says how it comes in.
 *
 * Properties: a name that is taken is one of the daemon's or an address; only the bearer of the token sees everything
 * over TCP; an answer has a known status and a body, and a document is JSON; somebody who may see totals only sees no
 * command line; a descriptor of systemd's is one of those that it has named.
 */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "../tests/unit/ledger_builder.h"
#include "daemon/http/http.h"
#include "daemon/socket/socket_server.h"
#include "fuzz_folder.h"
#include "base/json_walk.h"

#define TOKEN   "a-token-of-sorts-1234"
#define COMMAND "--layers 12" /* of the process in the sample */

enum { LINES_MAX = 4 + TDM_ARGUMENTS_MAX, FIRST_ARGUMENT = 4 };

static struct tdm_loop loop;
static struct tdm_pages *pages;
static struct tdm_access with_token, without;

static void start(void)
{
	static char path[256];
	static const char *const paths[] = { path, NULL };
	struct builder b;
	struct tdm_diag diag = { 0 };
	const struct tdm_daemon_options options = { .leak_watch_ns = UINT64_MAX, .process_metrics = true };
	snprintf(path, sizeof path, "%s/token", fuzz_folder_get());
	FILE *file = fopen(path, "w");
	check(file != NULL && fputs(TOKEN "\n", file) >= 0 && fclose(file) == 0);
	check(tdm_access_init(&with_token, path, "monitor.example, other", &diag) == 0);
	check(tdm_access_init(&without, NULL, NULL, &diag) == 0);
	snprintf(path, sizeof path, "%s/%d.1.0", fuzz_folder, BUILDER_PID);
	builder_sample(&b);
	builder_write(&b, path);
	builder_done(&b);
	struct tdm_state *state =
		tdm_state_new(&(struct tdm_state_options){ .paths = paths, .only_ledgers = true, .with_ended = true });
	check(state != NULL && tdm_loop_init(&loop) == 0);
	check(tdm_pages_new(&loop, &options, state, NULL, &pages, &diag) == 0);
}

static int any_part(void *to, const struct tdm_json_token *token)
{
	(void)to;
	(void)token;
	return 0;
}

/* Cuts a copy of the input into lines. Returns their number. */
static size_t divide(char *text, char *lines[LINES_MAX])
{
	size_t count = 0;
	for (char *at = text; at != NULL && count < LINES_MAX;)
		lines[count++] = strsep(&at, "\n");
	return count;
}

static void check_host(const char *host)
{
	static const char *const names[] = { "monitor.example", "other", "localhost" };
	char own[256] = "";
	gethostname(own, sizeof own - 1);
	bool is_name = strncasecmp(host, own, strlen(own)) == 0;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		is_name |= strncasecmp(host, names[i], strlen(names[i])) == 0;
	check(is_name || strspn(host, "0123456789abcdefABCDEF.:[]") == strlen(host));
}

static enum tdm_right right_of(unsigned how, const char *authorization)
{
	bool is_unix = (how & 1) != 0;
	const char *given = (how & 8) != 0 ? authorization : NULL;
	const struct tdm_access *access = (how & 16) != 0 ? &with_token : &without;
	enum tdm_right right =
		tdm_access_right(access, is_unix, (how & 2) != 0, (how & 4) != 0 ? 65534 : UINT32_MAX, given);
	size_t len = given != NULL ? strlen(given) : 0, token = sizeof TOKEN - 1;
	bool has_token = len > token && strcmp(given + len - token, TOKEN) == 0;
	check(right != TDM_RIGHT_ALL || (has_token && access == &with_token) || geteuid() == 65534);
	check(right != TDM_RIGHT_OWN || is_unix);
	return right;
}

static void check_page(const struct tdm_request *request)
{
	static const struct tdm_http_stats stats;
	char key[512], again[512];
	struct tdm_page page;
	bool has_key = tdm_page_key(request, key, sizeof key);
	check(tdm_page_key(request, again, sizeof again) == has_key && (!has_key || strcmp(key, again) == 0));
	tdm_pages_make(pages, request, &stats, &page);
	check(page.status == 200 || page.status == 400 || page.status == 403 || page.status == 404 ||
		page.status == 503);
	check(page.stream == NULL && (page.text.len != 0 || request->is_head));
	struct tdm_diag diag = { 0 };
	if (strcmp(page.type, "application/json") == 0 && page.text.len != 0)
		check(tdm_json_walk(tdm_buf_str(&page.text), any_part, NULL, &diag) == 0);
	check(request->right >= TDM_RIGHT_OWN || page.text.len == 0 ||
		memmem(page.text.data, page.text.len, COMMAND, sizeof COMMAND - 1) == NULL);
	tdm_buf_done(&page.text);
}

static void check_activation(const char *count, const char *names, const char *name)
{
	char pid[24];
	snprintf(pid, sizeof pid, "%d", (int)getpid());
	setenv("LISTEN_PID", pid, 1);
	setenv("LISTEN_FDS", count, 1);
	setenv("LISTEN_FDNAMES", names, 1);
	for (unsigned i = 0; i < 4; i++) {
		int fd = tdm_socket_activation(name, i);
		check(fd == -ENOENT || (fd >= 3 && (unsigned long long)fd - 3 < strtoull(count, NULL, 10)));
	}
	tdm_socket_activation_done();
	check(tdm_socket_activation(name, 0) == -ENOENT);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *lines[LINES_MAX];
	if (pages == NULL)
		start();
	if (size == 0)
		return 0;
	char *text = strndup((const char *)data + 1, size - 1);
	check(text != NULL);
	size_t count = divide(text, lines);
	for (size_t i = count; i < FIRST_ARGUMENT; i++)
		lines[i] = text + strlen(text);
	check_activation(lines[0], lines[1], lines[2]);
	if (tdm_access_takes_host(&with_token, lines[1]))
		check_host(lines[1]);
	struct tdm_request request = { .path = lines[0], .accept = (data[0] & 32) != 0 ? lines[3] : NULL };
	request.right = right_of(data[0], lines[2]);
	request.uid = 65534;
	/* Without a body nothing is begun that goes on after the request. */
	request.is_head = strcmp(lines[0], "/api/v1/buffers") == 0 || strcmp(lines[0], "/api/v1/events") == 0 ||
			  strcmp(lines[0], "/api/v1/picture") == 0;
	for (size_t i = FIRST_ARGUMENT; i < count; i++) {
		char *value = strchrnul(lines[i], '=');
		if (*value != '\0')
			*value++ = '\0';
		request.arguments[request.argument_count++] = (struct tdm_argument){ lines[i], value };
	}
	if (request.right != TDM_RIGHT_NONE || tdm_page_is_open(request.path))
		check_page(&request);
	free(text);
	return 0;
}
