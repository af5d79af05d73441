/* The daemon's life: start, signals, end. */
#include "base/memory.h"
#include "base/number.h"
#include "daemon/http/http.h"
#include "daemon/socket/socket_server.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { CANNOT_START = 2 }; /* the same exit code as in all commands */

struct daemon {
	struct tdm_loop loop;
	struct tdm_server server;
	struct tdm_state *state; /* the state shown over HTTP */
	struct tdm_http *http;
};

static void got_signal(void *context, int number)
{
	struct daemon *daemon = context;
	if (daemon->server.is_given)
		return; /* another daemon has taken over, and this one is about to exit */
	if (number == SIGUSR1) {
		tdm_server_dump(&daemon->server);
	} else if (number == SIGUSR2) {
		tdm_server_dump_statistics(&daemon->server);
	} else {
		tdm_server_drain(&daemon->server);
		tdm_loop_finish(&daemon->loop);
	}
}

static void say_hello(struct daemon *daemon)
{
	struct tdm_server *server = &daemon->server;
	struct tdm_buf text = { 0 };
	tdm_server_chips_text(server, &text);
	tdm_buf_puts(&text, "🚀 Allocation Server started\n");
	for (unsigned i = 0; i < TDM_FORM_COUNT; i++)
		if (server->listeners[i].at.fd >= 0)
			tdm_buf_printf(&text, "   Listening on: %s\n", server->listeners[i].at.path);
	if (tdm_http_port(daemon->http) != 0)
		tdm_buf_printf(&text, "   HTTP on port: %u\n", tdm_http_port(daemon->http));
	if (server->clients.counters.resumed != 0)
		tdm_buf_printf(&text, "   Went on with %llu process(es) of an earlier server\n",
			(unsigned long long)server->clients.counters.resumed);
	tdm_buf_puts(&text, "   Press Ctrl+C to stop\n");
	tdm_server_log_text(&server->log, tdm_buf_str(&text));
	tdm_buf_done(&text);
}

/*
 * Moves the daemon to the background. Returns only in the child. The parent waits until the child is ready, then exits
 * with the child's result, so that the daemon can be used at once. *ready: the descriptor to which the child writes
 * that result. *failed is set to `log` if that file cannot be written.
 */
static int go_to_background(const char *log, int *ready, const char **failed)
{
	int ends[2];
	unsigned char code = CANNOT_START;
	if (pipe2(ends, O_CLOEXEC) != 0)
		return -errno;
	pid_t child = fork();
	if (child < 0)
		return -errno;
	if (child > 0) {
		close(ends[1]);
		ssize_t got = read(ends[0], &code, 1);
		_exit(got == 1 ? code : CANNOT_START);
	}
	setsid();
	*ready = ends[1];
	close(ends[0]);
	int out = open(log != NULL ? log : "/dev/null", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0640);
	int in = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (out < 0 || in < 0) {
		*failed = out < 0 ? log : NULL;
		return -errno;
	}
	dup2(in, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	return 0;
}

/* Reports to the parent, and detaches from the terminal. The working directory stays, because paths in options may
 * be relative to it. */
static void tell_ready(int ready, int err)
{
	unsigned char code = err == 0 ? EXIT_SUCCESS : CANNOT_START;
	if (ready < 0)
		return;
	(void)!write(ready, &code, 1);
	close(ready);
	dup2(STDOUT_FILENO, STDERR_FILENO);
}

int tdm_daemon_run(const struct tdm_daemon_options *options)
{
	enum { DESCRIPTORS_MAX = 1 << 20 };
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2 };
	const char *names[] = { options->socket != NULL ? options->socket : TDM_WIRE_SOCKET, options->short_socket,
		options->helper_socket, options->no_http ? NULL : options->http_socket };
	for (size_t i = 1; i < sizeof names / sizeof *names; i++)
		for (size_t j = 0; names[i] != NULL && j < i; j++)
			if (names[j] != NULL && strcmp(names[i], names[j]) == 0) {
				fprintf(stderr, "tidemarkd: two sockets have the name '%s'\n", names[i]);
				return -EINVAL;
			}
	struct daemon *daemon = tdm_zalloc(1, sizeof *daemon);
	struct tdm_server *server = &daemon->server;
	struct rlimit limit;
	sigset_t set;
	int ready = -1, err = 0;
	const char *failed = NULL;
	/* Raises the descriptor limit: each connection needs a descriptor, and so does each process with buffers. */
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = tdm_min(limit.rlim_max, DESCRIPTORS_MAX);
		setrlimit(RLIMIT_NOFILE, &limit);
	}
	if (options->daemonize)
		err = go_to_background(options->log, &ready, &failed);
	if (err == 0)
		err = tdm_loop_init(&daemon->loop);
	sigemptyset(&set);
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		sigaddset(&set, numbers[i]);
	signal(SIGPIPE, SIG_IGN);
	if (err == 0)
		err = tdm_loop_signals(&daemon->loop, &set, got_signal, daemon);
	if (err != 0) {
		if (failed != NULL)
			fprintf(stderr, "tidemarkd: cannot write '%s': %s\n", failed, strerror(-err));
		else
			fprintf(stderr, "tidemarkd: cannot start: %s\n", strerror(-err));
		tell_ready(ready, err);
		free(daemon);
		return err;
	}
	err = tdm_server_init(server, &daemon->loop, options);
	if (err == 0 && !options->no_http) {
		daemon->state = tdm_state_new(&(struct tdm_state_options){ .ledger_dir = options->dir });
		err = tdm_http_start(&daemon->loop, options, daemon->state, server, &daemon->http);
		if (options->replace) /* not fatal: clients that were taken over must not be lost */
			err = 0;
	}
	tell_ready(ready, err);
	if (err == 0) {
		say_hello(daemon);
		err = tdm_loop_run(&daemon->loop);
		if (!server->is_given) {
			tdm_server_dump_statistics(server);
			tdm_server_dump(server);
			tdm_server_say_left(server);
		}
		tdm_server_log_line(&server->log, "🛑 Allocation Server stopped%s\n",
			server->is_given ? ": another one has taken over" : "");
	}
	tdm_http_stop(daemon->http);
	tdm_state_free(daemon->state);
	tdm_server_done(server);
	tdm_loop_done(&daemon->loop);
	free(daemon);
	return err;
}
