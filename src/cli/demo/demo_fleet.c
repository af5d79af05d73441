/*
 * Runs the demo's workloads in separate processes, with a view in front. Each process is this program again, started
 * for one workload, so other commands see ordinary programs. Their output is printed when all have exited. The
 * processes end when their parent does, however the parent ends.
 *
 * With --server, the processes report to a daemon. The daemon is a child process with a socket in its own folder, so it
 * does not disturb other daemons. Its ledgers are in the default place, where other commands see them.
 */
#include "base/clock.h"
#include "base/err.h"
#include "base/file.h"
#include "base/memory.h"
#include "cli/demo/demo.h"
#include "live/runtime/server_wire.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	CREW_MAX = 8,
	PATIENCE_S = 5,         /* seconds between asking processes to end and killing them */
	SERVER_PATIENCE_S = 10, /* seconds to wait for the daemon to listen */
	OUTPUT_MAX = 1 << 20,   /* maximum output of a workload, in bytes */
	CANNOT_START = 126,
	TICK_MS = 250,
	LOOK_MS = 5,
	FIRST_FRAME_MS = 1000,
	FRAME_MS = 2000, /* interval between plain frames */
	TOO_LATE_MS = 250,
	FOLDER_DEPTH = 8,
};

/* One workload's process, or the daemon. */
struct member {
	const struct tdm_demo_workload *workload;
	pid_t pid; /* 0 before the start and after the exit */
	pid_t was; /* the pid, even after the exit */
	int out_fd;
	int status;
};

struct fleet {
	const struct tdm_cmd *cmd;
	const struct tdm_demo_options *options;
	struct member server;
	char folder[64], socket[96]; /* paths used by the server */
	uint32_t port;               /* the server's HTTP port */
	struct member crew[CREW_MAX];
	size_t count;
	enum tdm_demo_view show;
	pid_t view;         /* process of the screen or of the current plain frame, or 0 */
	uint64_t frame_ns;  /* when the next frame is due */
	uint64_t frames_ns; /* no frames from this time onwards */
	bool stopping;
	uint64_t force_ns; /* when to kill the processes */
	sigset_t waited, before;
};

static const char stacks_variable[] = "TIDEMARK_STACKS";

static const char next_steps[] = "\n"
				 "Next: start 'tidemark demo --view none' and look at it from another terminal:\n"
				 "'tidemark top', 'tidemark status', 'tidemark dump --stacks',\n"
				 "'tidemark leaks --for 10s'; kill -9 one of its programs and look again.\n";

/* ---- starting programs ------------------------------------------------------------------------------------------- */

bool tdm_demo_has_stacks(void)
{
	return getenv(stacks_variable) != NULL;
}

/* Executes the program by its own path, which also names the process; the link works even if the file is gone. */
static int execute_again(char *const *words)
{
	static const char link[] = "/proc/self/exe";
	char path[PATH_MAX];
	ssize_t length = readlink(link, path, sizeof path - 1);
	if (length > 0) {
		path[length] = '\0';
		execv(path, words);
	}
	execv(link, words);
	return -errno;
}

/* The command line contains only options that differ from the defaults. */
int tdm_demo_exec(const struct tdm_demo_workload *workload, const struct tdm_demo_options *options)
{
	char *words[32] = { tdm_strdup("tidemark"), tdm_strdup("demo") };
	size_t count = 2;
	const struct {
		bool is_needed;
		const char *option, *text; /* NULL to use the number */
		uint64_t number;
	} all[] = {
		{ true, "-w", workload->name, 0 }, /* the short option, because process lists cut long commands */
		{ strcmp(options->card, TDM_DEMO_CARD) != 0, "--card", options->card, 0 },
		{ !options->recompute && workload == &tdm_demo_training, "--mode", "default", 0 },
		{ options->chips != 1, "--chips", NULL, options->chips },
		{ options->first_device != 0, "--first-device", NULL, options->first_device },
		{ options->seconds != TDM_DEMO_NO_LIMIT, "--seconds", NULL, options->seconds },
		{ options->rounds != TDM_DEMO_NO_LIMIT, "--rounds", NULL, options->rounds },
		{ options->socket != NULL, "--socket", options->socket, 0 },
		{ options->socket != NULL, "--message-size", NULL, options->message_size },
		{ true, "--view", "none", 0 },
	};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		if (!all[i].is_needed)
			continue;
		words[count++] = tdm_strdup(all[i].option);
		words[count++] = all[i].text != NULL ? tdm_strdup(all[i].text) : tdm_printed("%" PRIu64, all[i].number);
	}
	setenv(stacks_variable, "12", 0);
	int err = execute_again(words);
	while (count > 0)
		free(words[--count]);
	return err;
}

/* In a new child: makes the child end with its parent. */
static void follow_parent(pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(0); /* the parent has already gone */
}

/* Forks a child whose output is kept. Returns like fork(); the child must then call one of the functions below. */
static pid_t start_member(struct member *member)
{
	pid_t parent = getpid();
	member->out_fd = memfd_create("tidemark-demo", MFD_CLOEXEC);
	if (member->out_fd < 0)
		return -1;
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		follow_parent(parent);
		dup2(member->out_fd, STDOUT_FILENO);
		dup2(member->out_fd, STDERR_FILENO);
	}
	member->pid = member->was = pid > 0 ? pid : 0;
	return pid;
}

__attribute__((noreturn)) static void give_up_starting(const char *what, int err)
{
	dprintf(STDERR_FILENO, "cannot start%s%s: %s\n", what[0] != '\0' ? " " : "", what, tdm_err_text(err));
	_exit(CANNOT_START);
}

/* Prints the output of a member so far, up to OUTPUT_MAX, after a title; prints nothing if there is no output. */
static void print_output(const struct member *member, const char *title, FILE *to)
{
	char chunk[4096];
	ssize_t got;
	for (off_t at = 0; at < OUTPUT_MAX && (got = pread(member->out_fd, chunk, sizeof chunk, at)) > 0; at += got) {
		if (at == 0)
			fputs(title, to);
		fwrite(chunk, 1, (size_t)got, to);
	}
}

/* ---- the daemon -------------------------------------------------------------------------------------------------- */

/* The daemon is in the same folder as this program, or in PATH. */
__attribute__((noreturn)) static void become_daemon(const struct fleet *fleet)
{
	static const char name[] = "tidemarkd";
	char path[PATH_MAX + sizeof name];
	char *words[] = { tdm_strdup(name), tdm_strdup("--quiet"), tdm_strdup("--socket"), tdm_strdup(fleet->socket),
		tdm_strdup(fleet->port != 0 ? "--http-port" : "--no-http"),
		fleet->port != 0 ? tdm_printed("%" PRIu32, fleet->port) : NULL, NULL };
	sigset_t none;
	setpgid(0, 0); /* Ctrl+C is meant for the programs; the daemon ends after them */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
	path[length > 0 ? length : 0] = '\0';
	char *slash = strrchr(path, '/');
	if (slash != NULL) {
		strcpy(slash + 1, name);
		execv(path, words);
	}
	execvp(name, words);
	give_up_starting(name, -errno);
}

/* Returns once the daemon is listening: 0, or an exit code after a message. */
static int start_server(struct fleet *fleet)
{
	const char *tmp = getenv("TMPDIR");
	/* Socket paths must be short. */
	snprintf(fleet->folder, sizeof fleet->folder, "%s/tidemark-demo.XXXXXX",
		tmp != NULL && strlen(tmp) < sizeof fleet->folder / 2 ? tmp : "/tmp");
	if (mkdtemp(fleet->folder) == NULL) {
		fleet->folder[0] = '\0';
		return tdm_cmd_error(fleet->cmd, "no folder for the socket: %s", tdm_err_text(-errno));
	}
	snprintf(fleet->socket, sizeof fleet->socket, "%s/socket", fleet->folder);
	/* Use a free port, because the usual one belongs to a permanent daemon. 0 if there is none. */
	struct sockaddr_in here = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof here;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd >= 0 && bind(fd, (struct sockaddr *)&here, sizeof here) == 0 &&
		getsockname(fd, (struct sockaddr *)&here, &size) == 0)
		fleet->port = ntohs(here.sin_port);
	if (fd >= 0)
		close(fd);
	pid_t pid = start_member(&fleet->server);
	if (pid == 0)
		become_daemon(fleet);
	if (pid < 0)
		return tdm_cmd_error(fleet->cmd, "cannot start tidemarkd: %s", tdm_err_text(-errno));
	uint64_t until = tdm_clock_ns() + SERVER_PATIENCE_S * TDM_NS_PER_S;
	for (;;) {
		const struct timespec pause = { 0, LOOK_MS * (long)TDM_NS_PER_MS };
		fd = tdm_server_connect(fleet->socket);
		if (fd >= 0) {
			close(fd);
			return 0;
		}
		bool has_ended = waitpid(pid, NULL, WNOHANG) == pid;
		if (has_ended || tdm_clock_ns() > until) {
			print_output(&fleet->server, "", stderr);
			if (!has_ended && kill(pid, SIGKILL) == 0)
				waitpid(pid, NULL, 0);
			fleet->server.pid = 0;
			close(fleet->server.out_fd);
			fleet->server.out_fd = -1;
			return tdm_cmd_error(fleet->cmd, "tidemarkd does not listen");
		}
		nanosleep(&pause, NULL);
	}
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st, (void)type, (void)at;
	return remove(path);
}

/* Ends the daemon and prints its last report. */
static void stop_server(struct fleet *fleet)
{
	struct member *server = &fleet->server;
	if (server->pid > 0) {
		kill(server->pid, SIGTERM);
		while (waitpid(server->pid, NULL, 0) < 0 && errno == EINTR)
			;
		printf("\ntidemarkd\n");
		print_output(server, "", stdout);
	} else if (server->out_fd >= 0) {
		printf("\nThe daemon has ended before its clients.\n");
	}
	if (server->out_fd >= 0)
		close(server->out_fd);
	if (fleet->folder[0] != '\0')
		nftw(fleet->folder, remove_entry, FOLDER_DEPTH, FTW_DEPTH | FTW_PHYS);
}

/* ---- the workloads and the view ---------------------------------------------------------------------------------- */

/* If there is a server, the workloads use the message sizes in turn, newest first. */
static struct tdm_demo_options options_of(const struct fleet *fleet, size_t index)
{
	static const uint32_t sizes[] = { 144, 128, 112, 72 };
	struct tdm_demo_options options = *fleet->options;
	options.first_device += (uint32_t)index * options.chips;
	if (fleet->options->server) {
		options.socket = fleet->socket;
		options.message_size = sizes[index % (sizeof sizes / sizeof *sizes)];
	}
	return options;
}

static int start_crew(struct fleet *fleet)
{
	for (size_t i = 0; tdm_demo_workloads[i] != NULL && fleet->count < CREW_MAX; i++) {
		const struct tdm_demo_workload *only = fleet->options->only;
		if (only != NULL && only != tdm_demo_workloads[i])
			continue;
		struct member *member = &fleet->crew[fleet->count++];
		*member = (struct member){ .workload = tdm_demo_workloads[i], .out_fd = -1 };
		/* Signals stay blocked: a workload checks for them itself, so that it ends in an orderly way. */
		struct tdm_demo_options options = options_of(fleet, fleet->count - 1);
		pid_t pid = start_member(member);
		if (pid == 0) {
			int null = open("/dev/null", O_RDONLY);
			if (null >= 0)
				dup2(null, STDIN_FILENO);
			give_up_starting("", tdm_demo_exec(member->workload, &options));
		}
		if (pid < 0)
			return tdm_cmd_error(
				fleet->cmd, "cannot start %s: %s", member->workload->name, tdm_err_text(-errno));
	}
	return 0;
}

void tdm_demo_plan_frames(uint64_t now_ns, uint64_t seconds, uint64_t *first_ns, uint64_t *end_ns)
{
	*first_ns = now_ns + (seconds == 1 ? FIRST_FRAME_MS / 2 : FIRST_FRAME_MS) * TDM_NS_PER_MS;
	*end_ns = UINT64_MAX;
	if (seconds != TDM_DEMO_NO_LIMIT)
		*end_ns = now_ns + (seconds != 0 ? seconds * TDM_NS_PER_S - TOO_LATE_MS * TDM_NS_PER_MS : 0);
}

/* Starts `tidemark top` as a screen, or for one plain frame. If that fails, the workloads run without a view. */
static void start_view(struct fleet *fleet)
{
	char name[] = "tidemark", command[] = "top", once[] = "--once";
	char *words[] = { name, command, fleet->show == TDM_DEMO_PLAIN ? once : NULL, NULL };
	pid_t parent = getpid();
	fflush(stdout);
	fleet->frame_ns = tdm_clock_ns() + FRAME_MS * TDM_NS_PER_MS;
	fleet->view = fork();
	if (fleet->view == 0) {
		follow_parent(parent);
		sigprocmask(SIG_SETMASK, &fleet->before, NULL);
		execute_again(words);
		_exit(CANNOT_START);
	}
	if (fleet->view < 0) {
		tdm_cmd_error(fleet->cmd, "cannot start tidemark top: %s", tdm_err_text(-errno));
		fleet->view = 0;
		fleet->show = TDM_DEMO_NONE;
	}
}

/* A plain frame is not interrupted, so it is always complete. */
static void signal_all(const struct fleet *fleet, int signal)
{
	for (size_t i = 0; i < fleet->count; i++)
		if (fleet->crew[i].pid > 0)
			kill(fleet->crew[i].pid, signal);
	if (fleet->view > 0 && (fleet->show == TDM_DEMO_TOP || signal == SIGKILL))
		kill(fleet->view, signal);
}

static void stop(struct fleet *fleet)
{
	if (fleet->stopping)
		return;
	fleet->stopping = true;
	fleet->force_ns = tdm_clock_ns() + PATIENCE_S * TDM_NS_PER_S;
	signal_all(fleet, SIGTERM);
}

/* Handles all children that have exited. */
static void reap(struct fleet *fleet)
{
	int status;
	pid_t pid;
	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		for (size_t i = 0; i < fleet->count; i++)
			if (fleet->crew[i].pid == pid) {
				fleet->crew[i].pid = 0;
				fleet->crew[i].status = status;
			}
		if (pid == fleet->view) {
			/* The user left the screen, or the screen could not be shown and plain frames replace it. After
			 * a failed frame, no more frames are made. */
			bool failed = !WIFEXITED(status) || WEXITSTATUS(status) != 0;
			fleet->view = 0;
			if (fleet->show == TDM_DEMO_TOP && !failed)
				stop(fleet);
			else if (failed)
				fleet->show = fleet->show == TDM_DEMO_TOP ? TDM_DEMO_PLAIN : TDM_DEMO_NONE;
		}
		if (pid == fleet->server.pid)
			fleet->server.pid = 0;
	}
}

static bool is_anyone_working(const struct fleet *fleet)
{
	for (size_t i = 0; i < fleet->count; i++)
		if (fleet->crew[i].pid > 0)
			return true;
	return false;
}

static void wait_for_all(struct fleet *fleet)
{
	for (;;) {
		reap(fleet);
		if (!is_anyone_working(fleet))
			stop(fleet);
		if (!is_anyone_working(fleet) && fleet->view == 0)
			return;
		uint64_t now = tdm_clock_ns();
		if (fleet->stopping && now >= fleet->force_ns) {
			signal_all(fleet, SIGKILL);
			fleet->force_ns = now + PATIENCE_S * TDM_NS_PER_S;
		}
		if (fleet->show == TDM_DEMO_PLAIN && fleet->view == 0 && !fleet->stopping && now >= fleet->frame_ns &&
			now < fleet->frames_ns)
			start_view(fleet);
		const struct timespec tick = { 0, TICK_MS * (long)TDM_NS_PER_MS };
		int signal = sigtimedwait(&fleet->waited, NULL, &tick);
		if (signal == SIGINT || signal == SIGTERM || signal == SIGHUP)
			stop(fleet);
	}
}

static void say_what_runs(const struct fleet *fleet)
{
	const struct tdm_demo_options *options = fleet->options;
	printf("%zu program%s on simulated cards (%s):\n", fleet->count, fleet->count == 1 ? "" : "s", options->card);
	for (size_t i = 0; i < fleet->count; i++) {
		struct tdm_demo_options own = options_of(fleet, i);
		printf("  %-9s  process %d, device %" PRIu32, fleet->crew[i].workload->name, (int)fleet->crew[i].was,
			own.first_device);
		if (own.chips > 1)
			printf(" to %" PRIu32, own.first_device + own.chips - 1);
		if (own.socket != NULL)
			printf(", messages of %" PRIu32 " bytes", own.message_size);
		printf(": %s\n", fleet->crew[i].workload->summary);
	}
	if (fleet->options->server)
		printf("They report to the daemon, process %d, on %s. Where to look, from another terminal:\n"
		       "  tidemark top, tidemark status, tidemark dump: its clients are there like all other programs\n"
		       "  tidemark dump --server --socket %s: the summary that the daemon itself gives\n",
			(int)fleet->server.pid, fleet->socket, fleet->socket);
	if (fleet->port != 0)
		printf("  curl http://127.0.0.1:%" PRIu32 "/metrics: for Prometheus\n"
		       "  curl http://127.0.0.1:%" PRIu32 "/api/v1/status: the same as JSON\n",
			fleet->port, fleet->port);
	if (fleet->options->server)
		printf("  kill -9 one of the programs and look again: tidemark leaks\n");
	fflush(stdout);
}

/* Prints the output of the workloads, training last. The exit code is 0 if all of them succeeded. */
static int finish(const struct fleet *fleet)
{
	int code = TDM_EXIT_OK;
	for (size_t i = fleet->count; i-- > 0;) {
		const struct member *member = &fleet->crew[i];
		char title[64];
		if (member->out_fd < 0)
			continue;
		snprintf(title, sizeof title, "\n%s\n", member->workload->name);
		print_output(member, title, stdout);
		close(member->out_fd);
		if (WIFSIGNALED(member->status))
			tdm_cmd_error(fleet->cmd, "%s was killed by signal %d; what it held: tidemark dump --pid %d",
				member->workload->name, WTERMSIG(member->status), (int)member->was);
		if (WIFEXITED(member->status) && WEXITSTATUS(member->status) != 0)
			code = TDM_EXIT_USAGE;
	}
	return code;
}

int tdm_demo_fleet_run(const struct tdm_cmd *cmd, const struct tdm_demo_options *options)
{
	struct fleet fleet = { .cmd = cmd, .options = options, .show = options->view, .server.out_fd = -1 };
	struct sigaction normal = { .sa_handler = SIG_DFL }, child_before;
	sigemptyset(&fleet.waited);
	sigaddset(&fleet.waited, SIGINT);
	sigaddset(&fleet.waited, SIGTERM);
	sigaddset(&fleet.waited, SIGHUP);
	sigaddset(&fleet.waited, SIGCHLD);
	sigprocmask(SIG_BLOCK, &fleet.waited, &fleet.before);
	sigaction(SIGCHLD, &normal, &child_before); /* a process that ignores SIGCHLD cannot wait for a child */
	int code = options->server ? start_server(&fleet) : 0;
	if (code == 0)
		code = start_crew(&fleet);
	if (code != 0) {
		stop(&fleet);
	} else {
		say_what_runs(&fleet);
		tdm_demo_plan_frames(tdm_clock_ns(), options->seconds, &fleet.frame_ns, &fleet.frames_ns);
		if (fleet.show == TDM_DEMO_TOP)
			start_view(&fleet);
	}
	wait_for_all(&fleet);
	int end_code = finish(&fleet);
	if (options->server)
		stop_server(&fleet);
	else if (code == 0 && end_code == 0)
		fputs(next_steps, stdout);
	sigaction(SIGCHLD, &child_before, NULL);
	sigprocmask(SIG_SETMASK, &fleet.before, NULL);
	return code != 0 ? code : end_code;
}
