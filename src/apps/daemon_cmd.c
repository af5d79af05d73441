#include "apps/daemon_cmd.h"
#include "cli/options.h"
#include "daemon/daemon.h"

#include <stdlib.h>

struct request {
	struct tdm_daemon_options options;
};

/* Permissions in octal digits, for reading and writing only. */
static int take_mode(const struct tdm_cmd *cmd, const struct tdm_opt *opt, const char *value, void *to)
{
	char *end;
	unsigned long mode = strtoul(value, &end, 8);
	if (end == value || *end != '\0' || value[0] == '-' || (mode & ~0666ul) != 0)
		return tdm_cmd_usage_error(
			cmd, "option '--%s' needs permissions in octal digits, such as 0660: '%s'", opt->name, value);
	*(uint32_t *)to = (uint32_t)mode;
	return 0;
}

static int run(struct tdm_args *args)
{
	struct request request = { .options.socket_mode = 0660 };
	int code = tdm_args_read(args, &request);
	if (code != 0)
		return code;
	if (request.options.log != NULL && !request.options.daemonize)
		return tdm_cmd_usage_error(
			args->cmd, "--log needs --daemonize; in the foreground, redirect the output");
	return tdm_daemon_run(&request.options) == 0 ? TDM_EXIT_OK : TDM_EXIT_USAGE;
}

static const struct tdm_opt opts[] = {
	{ "socket", 's', "FILE", "socket of instrumented programs (default: /tmp/tt_allocation_server.sock)",
		TDM_TAKE_TEXT(struct request, options.socket) },
	{ "socket-mode", 'm', "MODE", "permissions of the sockets (default: 0660, for their owner and group)",
		TDM_INTO(take_mode, struct request, options.socket_mode, uint32_t) },
	{ "short-socket", 0, "FILE", "another socket, for messages of 14, 17 and 21 bytes",
		TDM_TAKE_TEXT(struct request, options.short_socket) },
	{ "helper-socket", 0, "FILE", "another socket, for the messages of 32 bytes of the helper header",
		TDM_TAKE_TEXT(struct request, options.helper_socket) },
	{ "replace", 0, NULL, "take over from the server that listens on the socket, without a break for its clients",
		TDM_TAKE_FLAG(struct request, options.replace) },
	{ TDM_OPT_DIR(struct request, options.dir) },
	{ "quiet", 'q', NULL, "print no line for each event", TDM_TAKE_FLAG(struct request, options.quiet) },
	{ "dead-limit", 0, "BYTES",
		"memory for the ledgers of ended processes, e.g. 64M; what is beyond moves to the state folder on disk",
		TDM_TAKE_BYTES(struct request, options.dead_bytes) },
	{ "archive-limit", 0, "BYTES", "disk space for them, e.g. 1G; the oldest are removed",
		TDM_TAKE_BYTES(struct request, options.archive_bytes) },
	{ "archive-age", 0, "TIME", "how long they are kept on disk, e.g. 720h",
		TDM_TAKE_DURATION(struct request, options.archive_age_ns) },
	{ "statistics", 0, "TIME", "print statistics this often, e.g. 10s",
		TDM_TAKE_DURATION(struct request, options.statistics_ns) },
	{ "http-port", 0, "PORT", "port of metrics and the JSON API (default: 9740, if it is free)",
		TDM_TAKE_U32(struct request, options.http_port, 1, 65535) },
	{ "http-host", 0, "ADDRESS", "address of that port (default: 127.0.0.1)",
		TDM_TAKE_TEXT(struct request, options.http_host) },
	{ "http-hosts", 0, "NAMES", "names by which others may call this machine, with commas between them",
		TDM_TAKE_TEXT(struct request, options.http_hosts) },
	{ "http-socket", 0, "FILE", "a Unix socket for HTTP, too: it shows users what is theirs",
		TDM_TAKE_TEXT(struct request, options.http_socket) },
	{ "token-file", 0, "FILE", "file with the token whose bearers see everything",
		TDM_TAKE_TEXT(struct request, options.token_file) },
	{ "no-http", 0, NULL, "do not answer over HTTP", TDM_TAKE_FLAG(struct request, options.no_http) },
	{ "process-metrics", 0, NULL, "also series for each process, for those who may see them",
		TDM_TAKE_FLAG(struct request, options.process_metrics) },
	{ "metric-names", 0, "NAMES",
		"also the families of other exporters: tt-exporter, tt-telemetry, with a comma between them",
		TDM_TAKE_TEXT(struct request, options.metric_names) },
	{ "leak-watch", 0, "TIME", "how long buffers are watched before they are judged as leaks (default: 2m)",
		TDM_TAKE_DURATION(struct request, options.leak_watch_ns) },
	{ "daemonize", 'D', NULL, "run in the background; returns when clients can connect",
		TDM_TAKE_FLAG(struct request, options.daemonize) },
	{ "log", 0, "FILE", "where a daemon in the background writes its lines (default: nowhere)",
		TDM_TAKE_TEXT(struct request, options.log) },
	{ 0 },
};

static const struct tdm_example examples[] = {
	{ "tidemarkd", "serve instrumented programs and print what they allocate" },
	{ "tidemarkd --quiet --daemonize", "serve them in the background" },
	{ "tidemarkd --socket-mode=0666", "let every user's programs connect" },
	{ "tidemarkd --http-host=0.0.0.0 --token-file=token", "let those who have the token look from other machines" },
	{ "tidemarkd --replace", "go on in place of the running daemon, e.g. after an update" },
	{ NULL, NULL },
};

static const struct tdm_help_row exits[] = {
	{ "0", "a signal has ended it" },
	{ "2", "wrong usage, or it could not start" },
	{ NULL, NULL },
};

const struct tdm_cmd tdm_cmd_daemon = {
	.name = "tidemarkd",
	.summary = "serve programs that report their memory on a socket, and show the machine to others",
	.usage = "[--socket=FILE] [--socket-mode=MODE] [--dir=DIR] [--http-port=PORT] [--quiet] "
		 "[--daemonize [--log=FILE]] [--replace]",
	.description =
		"Programs that are instrumented for the allocation server connect to a socket and report each buffer. "
		"tidemarkd writes a ledger for each of these processes, so that 'tidemark top', 'status', 'dump' and "
		"'leaks' "
		"show them like all others. Messages of 72, 112, 128 and 144 bytes are served on one socket.\n\n"
		"It prints a line for each event, unless --quiet is given. SIGUSR1 prints what is live, as the message "
		"DUMP_REMAINING does; 'tidemark dump --server' prints it where it is called. SIGUSR2 prints "
		"statistics. SIGTERM, "
		"SIGINT and SIGHUP end it after a last list of what is live, and of what ended processes have left.\n\n"
		"A daemon that is killed loses nothing: the ledgers stay, and the next one goes on with those of "
		"processes that "
		"still run. A socket that somebody listens on is not taken, unless --replace is given; one that nobody "
		"listens on "
		"is replaced.\n\n"
		"What a process held when it ended is a leak: its ledger stays in memory for ten minutes, then it "
		"moves to "
		"$STATE_DIRECTORY, else $XDG_STATE_HOME/tidemark, else ~/.local/state/tidemark, where 'tidemark dump "
		"--dir' reads "
		"it.\n\n"
		"Over HTTP it shows this machine to others: metrics for Prometheus at /metrics, documents at /api/v1/, "
		"which "
		"'tidemark top', 'status' and 'leaks' read with --connect. On the port everybody sees totals of "
		"devices; only "
		"the bearer of the token sees processes. The port is for this machine, unless --http-host names "
		"another address; then "
		"give a token, too.\n\n"
		"systemd can open the sockets: those named socket, short and helper are used (FileDescriptorName=). "
		"TIDEMARK_MODE in its environment lets others read the ledgers, as for other programs.",
	.opts = opts,
	.examples = examples,
	.exits = exits,
	.only_options = true,
	.is_program = true,
	.run = run,
};
