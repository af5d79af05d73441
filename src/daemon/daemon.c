#include "daemon/daemon.h"
#include "daemon/http.h"
#include "daemon/loop.h"
#include "daemon/server_answers.h"
#include "daemon/socket_server.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { CANNOT_START = 2 }; /* the exit code, as of all commands */

struct daemon {
	struct tdm_loop loop;
	struct tdm_server server;
	struct tdm_state *state; /* of HTTP */
	struct tdm_http *http;
};

/* A connection takes a descriptor, and so does a process with buffers. */
static void raise_descriptors(void)
{
	enum { MOST = 1 << 20 };
	struct rlimit limit;
	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return;
	limit.rlim_cur = limit.rlim_max < MOST ? limit.rlim_max : MOST;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static void got_signal(void *context, int number)
{
	struct daemon *daemon = context;
	if (daemon->server.is_given)
		return; /* another one has everything, and this one is about to end */
	if (number == SIGUSR1) {
		tdm_server_dump(&daemon->server);
	} else if (number == SIGUSR2) {
		tdm_server_dump_statistics(&daemon->server);
	} else {
		tdm_server_drain(&daemon->server);
		tdm_loop_finish(&daemon->loop);
	}
}

static int watch_signals(struct daemon *daemon)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2 };
	sigset_t set;
	sigemptyset(&set);
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		sigaddset(&set, numbers[i]);
	signal(SIGPIPE, SIG_IGN);
	return tdm_loop_signals(&daemon->loop, &set, got_signal, daemon);
}

static void say_hello(struct daemon *daemon)
{
	struct tdm_server *server = &daemon->server;
	struct tdm_buf text;
	tdm_buf_init(&text);
	tdm_chip_list_text(&server->devices, &text);
	tdm_buf_puts(&text, "🚀 Allocation Server started\n");
	for (unsigned i = 0; i < TDM_FORM_COUNT; i++)
		if (server->listeners[i].at.fd >= 0)
			tdm_buf_printf(&text, "   Listening on: %s\n", server->listeners[i].at.path);
	if (daemon->http != NULL && tdm_http_port(daemon->http) != 0)
		tdm_buf_printf(&text, "   HTTP on port: %u\n", tdm_http_port(daemon->http));
	if (server->clients.counters.resumed != 0)
		tdm_buf_printf(&text, "   Went on with %llu process(es) of an earlier server\n",
			(unsigned long long)server->clients.counters.resumed);
	tdm_buf_puts(&text, "   Press Ctrl+C to stop\n");
	if (!tdm_buf_failed(&text))
		tdm_server_log_text(&server->log, tdm_buf_str(&text));
	tdm_buf_done(&text);
}

static void say_goodbye(struct tdm_server *server)
{
	if (server->is_given) {
		tdm_server_log_line(&server->log, "🛑 Allocation Server stopped: another one has taken over\n");
		return;
	}
	tdm_server_dump_statistics(server);
	tdm_server_dump(server);
	tdm_server_say_left(server);
	tdm_server_log_line(&server->log, "🛑 Allocation Server stopped\n");
}

/*
 * Goes to the background. The parent returns only in the child: it waits until the child is ready and ends with its
 * result, so that whoever starts the daemon can use it at once. *ready is where the child writes that result. *failed
 * is set to `log` if it cannot be written.
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

/* Tells the parent, and gives up the terminal. The working directory stays: paths in options may be relative to it. */
static void tell_ready(int ready, int err)
{
	unsigned char code = err == 0 ? EXIT_SUCCESS : CANNOT_START;
	if (ready < 0)
		return;
	(void)!write(ready, &code, 1);
	close(ready);
	dup2(STDOUT_FILENO, STDERR_FILENO);
}

/* 0, or a negative code after a message. */
static int start_http(struct daemon *daemon, const struct tdm_daemon_options *options)
{
	const struct tdm_state_options state = { .ledger_dir = options->dir };
	if (options->no_http)
		return 0;
	daemon->state = tdm_state_new(&state);
	if (daemon->state == NULL) {
		fputs("tidemarkd: cannot start: out of memory\n", stderr);
		return -ENOMEM;
	}
	const struct tdm_http_sources sources = { daemon->state, tdm_server_count, &daemon->server };
	int err = tdm_http_start(&daemon->loop, options, &sources, &daemon->http);
	return options->replace ? 0 : err; /* the clients are taken over: they must not be lost for this */
}

/* The name that two of the sockets have; NULL: none. */
static const char *twice(const struct tdm_daemon_options *o)
{
	const char *names[] = { o->socket != NULL ? o->socket : TDM_WIRE_SOCKET, o->short_socket, o->helper_socket,
		o->no_http ? NULL : o->http_socket };
	for (size_t i = 1; i < sizeof names / sizeof *names; i++)
		for (size_t j = 0; names[i] != NULL && j < i; j++)
			if (names[j] != NULL && strcmp(names[i], names[j]) == 0)
				return names[i];
	return NULL;
}

int tdm_daemon_run(const struct tdm_daemon_options *options)
{
	const char *name = twice(options);
	if (name != NULL) {
		fprintf(stderr, "tidemarkd: two sockets have the name '%s'\n", name);
		return -EINVAL;
	}
	struct daemon *daemon = calloc(1, sizeof *daemon);
	int ready = -1, err = daemon == NULL ? -ENOMEM : 0;
	const char *failed = NULL;
	raise_descriptors();
	if (err == 0 && options->daemonize)
		err = go_to_background(options->log, &ready, &failed);
	if (err == 0)
		err = tdm_loop_init(&daemon->loop);
	if (err == 0)
		err = watch_signals(daemon);
	if (err != 0) {
		if (failed != NULL)
			fprintf(stderr, "tidemarkd: cannot write '%s': %s\n", failed, strerror(-err));
		else
			fprintf(stderr, "tidemarkd: cannot start: %s\n", strerror(-err));
		tell_ready(ready, err);
		free(daemon);
		return err;
	}
	err = tdm_server_init(&daemon->server, &daemon->loop, options);
	if (err == 0)
		err = start_http(daemon, options);
	tell_ready(ready, err);
	if (err == 0) {
		say_hello(daemon);
		err = tdm_loop_run(&daemon->loop);
		say_goodbye(&daemon->server);
	}
	tdm_http_stop(daemon->http);
	tdm_state_free(daemon->state);
	tdm_server_done(&daemon->server);
	tdm_loop_done(&daemon->loop);
	free(daemon);
	return err;
}
