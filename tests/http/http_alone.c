/*
 * The HTTP side of the daemon without its socket server, for tests: shows the ledgers of a folder.
 *
 * usage: http_alone [--dir DIR] [--http-host HOST] [--http-port N] [--http-socket PATH] [--token-file FILE]
 *                   [--http-hosts NAMES] [--metric-names NAMES] [--process-metrics] [--stats] [--leaks MS|off]
 *
 * The options are those of tidemarkd, but for the last two: --stats shows the counters of a socket server that does
 * nothing, and --leaks is how long buffers are watched for leaks.
 *
 * Prints "ready PORT" and goes on until its standard input ends.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/http/http.h"
#include "daemon/socket/socket_server.h"
#include "ledger/archive/archive.h"

static struct tdm_loop loop;

static void input_ready(struct tdm_watch *watch)
{
	char text[64];
	if (read(watch->fd, text, sizeof text) <= 0)
		tdm_loop_end(&loop);
}

static bool take_option(const char *name, const char *value, struct tdm_daemon_options *options)
{
	if (strcmp(name, "--dir") == 0)
		options->dir = value;
	else if (strcmp(name, "--http-host") == 0)
		options->http_host = value;
	else if (strcmp(name, "--http-port") == 0)
		options->http_port = (uint32_t)atoi(value);
	else if (strcmp(name, "--http-socket") == 0)
		options->http_socket = value;
	else if (strcmp(name, "--token-file") == 0)
		options->token_file = value;
	else if (strcmp(name, "--http-hosts") == 0)
		options->http_hosts = value;
	else if (strcmp(name, "--metric-names") == 0)
		options->metric_names = value;
	else if (strcmp(name, "--leaks") == 0)
		options->leak_watch_ns =
			strcmp(value, "off") == 0 ? UINT64_MAX : strtoull(value, NULL, 10) * UINT64_C(1000000);
	else
		return false;
	return true;
}

int main(int argc, char **argv)
{
	struct tdm_daemon_options options = { .leak_watch_ns = UINT64_MAX };
	struct tdm_watch input = { .fd = STDIN_FILENO, .events = EPOLLIN, .ready = input_ready };
	static struct tdm_server server;
	struct tdm_server *shown = NULL;
	struct tdm_http *http;
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--process-metrics") == 0)
			options.process_metrics = true;
		else if (strcmp(argv[i], "--stats") == 0)
			shown = &server;
		else if (i + 1 < argc && take_option(argv[i], argv[i + 1], &options))
			i++;
		else
			return 2;
	}
	server.archive = tdm_archive_new(&(struct tdm_archive_options){ .dir = options.dir });
	struct tdm_state *state = tdm_state_new(&(struct tdm_state_options){ .ledger_dir = options.dir });
	if (state == NULL || tdm_loop_init(&loop) != 0 || tdm_loop_add(&loop, &input) != 0 ||
		tdm_http_start(&loop, &options, state, shown, &http) != 0)
		return 1;
	printf("ready %u\n", tdm_http_port(http));
	fflush(stdout);
	int err = tdm_loop_run(&loop);
	tdm_http_stop(http);
	tdm_state_free(state);
	tdm_loop_done(&loop);
	return err == 0 ? 0 : 1;
}
