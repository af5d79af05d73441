#include "apps/daemon_cmd.h"
#include "cli/options/options.h"
#include "daemon/work/daemon.h"

#include <stdlib.h>

/* Parses permissions in octal digits; only read and write bits are allowed. */
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
	struct tdm_daemon_options options = { .socket_mode = 0660 };
	int code = tdm_args_read(args, &options);
	if (code != 0)
		return code;
	if (options.log != NULL && !options.daemonize)
		return tdm_cmd_usage_error(
			args->cmd, "--log needs --daemonize; in the foreground, redirect the output");
	return tdm_daemon_run(&options) == 0 ? TDM_EXIT_OK : TDM_EXIT_USAGE;
}

static const struct tdm_opt opts[] = {
	{ "socket", 's', "FILE", "socket of instrumented programs (default: /tmp/tt_allocation_server.sock)",
		TDM_TAKE_TEXT(struct tdm_daemon_options, socket) },
	{ "socket-mode", 'm', "MODE", "permissions of the sockets (default: 0660, for their owner and group)",
		TDM_INTO(take_mode, struct tdm_daemon_options, socket_mode, uint32_t) },
	{ "short-socket", 0, "FILE", "another socket, for messages of 14, 17 and 21 bytes",
		TDM_TAKE_TEXT(struct tdm_daemon_options, short_socket) },
	{ "helper-socket", 0, "FILE", "another socket, for the 32-byte messages of the helper header",
		TDM_TAKE_TEXT(struct tdm_daemon_options, helper_socket) },
	{ "replace", 0, NULL, "take over from the server listening on the socket, without interrupting its clients",
		TDM_TAKE_FLAG(struct tdm_daemon_options, replace) },
	{ TDM_OPT_DIR(struct tdm_daemon_options, dir) },
	{ "quiet", 'q', NULL, "print no line for each event", TDM_TAKE_FLAG(struct tdm_daemon_options, quiet) },
	{ "dead-limit", 0, "BYTES",
		"memory for the ledgers of ended processes, e.g. 64M; the rest moves to the state folder on disk",
		TDM_TAKE_BYTES(struct tdm_daemon_options, dead_bytes) },
	{ "archive-limit", 0, "BYTES", "disk space for these ledgers, e.g. 1G; the oldest are removed",
		TDM_TAKE_BYTES(struct tdm_daemon_options, archive_bytes) },
	{ "archive-age", 0, "TIME", "time for which these ledgers are kept on disk, e.g. 720h",
		TDM_TAKE_DURATION(struct tdm_daemon_options, archive_age_ns) },
	{ "statistics", 0, "TIME", "interval between printed statistics, e.g. 10s",
		TDM_TAKE_DURATION(struct tdm_daemon_options, statistics_ns) },
	{ "http-port", 0, "PORT", "port for metrics and the JSON API (default: 9740, if that port is free)",
		TDM_TAKE_U32(struct tdm_daemon_options, http_port, 1, 65535) },
	{ "http-host", 0, "ADDRESS", "address of that port (default: 127.0.0.1)",
		TDM_TAKE_TEXT(struct tdm_daemon_options, http_host) },
	{ "http-hosts", 0, "NAMES", "more names of this machine to accept in the Host header, separated by commas",
		TDM_TAKE_TEXT(struct tdm_daemon_options, http_hosts) },
	{ "http-socket", 0, "FILE", "a Unix socket for HTTP; it shows users their own processes",
		TDM_TAKE_TEXT(struct tdm_daemon_options, http_socket) },
	{ "token-file", 0, "FILE", "file with the bearer token that gives access to everything",
		TDM_TAKE_TEXT(struct tdm_daemon_options, token_file) },
	{ "no-http", 0, NULL, "do not answer over HTTP", TDM_TAKE_FLAG(struct tdm_daemon_options, no_http) },
	{ "process-metrics", 0, NULL, "add series for each process, for readers allowed to see the process",
		TDM_TAKE_FLAG(struct tdm_daemon_options, process_metrics) },
	{ "metric-names", 0, "NAMES",
		"add the families of other exporters: tt-exporter, tt-telemetry, or both separated by a comma",
		TDM_TAKE_TEXT(struct tdm_daemon_options, metric_names) },
	{ "leak-watch", 0, "TIME", "time for which buffers are watched before leaks are judged (default: 2m)",
		TDM_TAKE_DURATION(struct tdm_daemon_options, leak_watch_ns) },
	{ "daemonize", 'D', NULL, "run in the background; returns when clients can connect",
		TDM_TAKE_FLAG(struct tdm_daemon_options, daemonize) },
	{ "log", 0, "FILE", "output file of a daemon in the background (default: none)",
		TDM_TAKE_TEXT(struct tdm_daemon_options, log) },
	{ 0 },
};

static const struct tdm_help_row examples[] = {
	{ "tidemarkd", "serve instrumented programs and print their allocations" },
	{ "tidemarkd --quiet --daemonize", "the same in the background, without a line for each event" },
	{ "tidemarkd --socket-mode=0666", "let every user's programs connect" },
	{ "tidemarkd --http-host=0.0.0.0 --token-file=token", "give access to other machines that have the token" },
	{ "tidemarkd --replace", "take over from the running daemon, e.g. after an update" },
	{ NULL, NULL },
};

static const struct tdm_help_row exits[] = {
	{ "0", "ended by a signal" },
	{ "2", "wrong usage, or the daemon could not start" },
	{ NULL, NULL },
};

const struct tdm_cmd tdm_cmd_daemon = {
	.name = "tidemarkd",
	.summary = "serve programs that report their memory on a socket, and publish metrics over HTTP",
	.usage = "[--socket=FILE] [--socket-mode=MODE] [--dir=DIR] [--http-port=PORT] [--quiet] "
		 "[--daemonize [--log=FILE]] [--replace]",
	.description = "Programs instrumented for the allocation server connect to a socket and report each buffer. "
		       "tidemarkd writes a ledger for each of these processes, so 'tidemark top', 'status', 'dump' "
		       "and 'leaks' show these processes like any other. Messages of 72, 112, 128 and 144 bytes "
		       "share one socket.\n\nThe daemon prints a line for each event unless --quiet is given. "
		       "SIGUSR1 prints the live buffers, like the message DUMP_REMAINING; 'tidemark dump --server' "
		       "prints them in your terminal instead. SIGUSR2 prints statistics. SIGTERM, SIGINT and SIGHUP "
		       "end the daemon after it has printed a final list of live buffers and of buffers left by "
		       "ended processes.\n\nIf the daemon is killed, nothing is lost: the ledgers remain, and the "
		       "next daemon continues the ledgers of running processes. If another server listens on the "
		       "socket, the daemon takes over only with --replace; a socket without a listener is "
		       "replaced.\n\nBuffers that a process still held when it ended are a leak. The process's "
		       "ledger stays in memory for ten minutes and then moves to $STATE_DIRECTORY, else "
		       "$XDG_STATE_HOME/tidemark, else ~/.local/state/tidemark, where 'tidemark dump --dir' reads "
		       "it.\n\nOver HTTP, the daemon serves Prometheus metrics at /metrics, and documents at "
		       "/api/v1/, which 'tidemark top', 'status' and 'leaks' read with --connect. The port shows "
		       "device totals to everyone, and processes only to readers with the token. Only this machine "
		       "can reach the port unless --http-host names another address; in that case, set a token as "
		       "well.\n\nsystemd can open the sockets, under the names socket, short and helper "
		       "(FileDescriptorName=). TIDEMARK_MODE in the daemon's environment lets others read the "
		       "ledgers, as for other programs.",
	.opts = opts,
	.examples = examples,
	.exits = exits,
	.only_options = true,
	.is_program = true,
	.run = run,
};
