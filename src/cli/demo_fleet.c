#include "cli/demo_fleet.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/file.h"
#include "cli/demo_argv.h"
#include "cli/demo_server.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	CREW_MAX = 8,
	PATIENCE_S = 5, /* from asking them to end to killing them */
	OUTPUT_MAX = 1 << 20,
	CANNOT_START = 126,
	TICK_MS = 250,
	FRAME_MS = 2000, /* between plain frames */
};

/* One workload's process. */
struct member {
	const struct tdm_demo_workload *workload;
	pid_t pid; /* 0: not started, or ended */
	pid_t was; /* its pid, even after its end */
	int out_fd;
	int status;
};

struct fleet {
	const struct tdm_cmd *cmd;
	const struct tdm_demo_fleet_options *options;
	struct tdm_demo_server server;
	struct member crew[CREW_MAX];
	size_t count;
	enum tdm_demo_view show;
	pid_t view;         /* the screen, or the frame being printed; 0: none */
	uint64_t frame_ns;  /* when the next frame is due */
	uint64_t frames_ns; /* no frames from this time on */
	bool stopping;
	uint64_t force_ns; /* when to kill them */
	sigset_t waited, before;
};

static const char next_steps[] = "\n"
				 "Next: start 'tidemark demo --view none' and look at it from another terminal:\n"
				 "'tidemark top', 'tidemark status', 'tidemark dump --stacks',\n"
				 "'tidemark leaks --for 10s'; kill -9 one of its programs and look again.\n";

/* Signals stay blocked: a workload checks for them itself, and ends in an orderly way. */
__attribute__((noreturn)) static void become_workload(
	const struct member *member, const struct tdm_demo_argv *argv, pid_t parent)
{
	tdm_demo_follow_parent(parent);
	int null = open("/dev/null", O_RDONLY);
	if (null >= 0)
		dup2(null, STDIN_FILENO);
	dup2(member->out_fd, STDOUT_FILENO);
	dup2(member->out_fd, STDERR_FILENO);
	dprintf(STDERR_FILENO, "cannot start: %s\n", tdm_err_text(tdm_demo_argv_exec(argv)));
	_exit(CANNOT_START);
}

/* With a server, the workloads take turns with the sizes, the newest first. */
static struct tdm_demo_options options_of(const struct fleet *fleet, size_t index)
{
	static const uint32_t sizes[] = { 144, 128, 112, 72 };
	struct tdm_demo_options options = fleet->options->workload;
	options.first_device += (uint32_t)index * options.chips;
	if (fleet->options->server) {
		options.socket = fleet->server.socket;
		options.message_size = sizes[index % (sizeof sizes / sizeof *sizes)];
	}
	return options;
}

static int start_member(struct fleet *fleet, struct member *member)
{
	struct tdm_demo_options options = options_of(fleet, (size_t)(member - fleet->crew));
	struct tdm_demo_argv argv;
	pid_t parent = getpid();
	tdm_demo_argv_init(&argv, member->workload, &options);
	member->out_fd = memfd_create("tidemark-demo", MFD_CLOEXEC);
	if (member->out_fd < 0)
		return tdm_cmd_error(
			fleet->cmd, "cannot keep the output of %s: %s", member->workload->name, tdm_err_text(-errno));
	fflush(stdout);
	member->pid = fork();
	if (member->pid == 0)
		become_workload(member, &argv, parent);
	if (member->pid < 0) {
		member->pid = 0;
		return tdm_cmd_error(fleet->cmd, "cannot start %s: %s", member->workload->name, tdm_err_text(-errno));
	}
	member->was = member->pid;
	return 0;
}

static int start_crew(struct fleet *fleet)
{
	for (size_t i = 0; tdm_demo_workloads[i] != NULL && fleet->count < CREW_MAX; i++) {
		const struct tdm_demo_workload *only = fleet->options->only;
		if (only != NULL && only != tdm_demo_workloads[i])
			continue;
		struct member *member = &fleet->crew[fleet->count++];
		*member = (struct member){ .workload = tdm_demo_workloads[i], .out_fd = -1 };
		int code = start_member(fleet, member);
		if (code != 0)
			return code;
	}
	return 0;
}

/* Starts `tidemark top`: the screen, or one plain frame. If that fails, the workloads run without it. */
static void start_view(struct fleet *fleet)
{
	char name[] = "tidemark", command[] = "top", once[] = "--once";
	char *words[] = { name, command, fleet->show == TDM_DEMO_PLAIN ? once : NULL, NULL };
	pid_t parent = getpid();
	fflush(stdout);
	fleet->frame_ns = tdm_clock_ns() + FRAME_MS * TDM_NS_PER_MS;
	fleet->view = fork();
	if (fleet->view == 0) {
		tdm_demo_follow_parent(parent);
		sigprocmask(SIG_SETMASK, &fleet->before, NULL);
		tdm_demo_exec(words);
		_exit(CANNOT_START);
	}
	if (fleet->view < 0) {
		tdm_cmd_error(fleet->cmd, "cannot start tidemark top: %s", tdm_err_text(-errno));
		fleet->view = 0;
		fleet->show = TDM_DEMO_NONE;
	}
}

/* A plain frame is not interrupted, so that it is complete. */
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

/* The view has ended: the user left the screen, or it could not be shown and plain frames replace it. There are no
 * frames after one that failed. */
static void note_view(struct fleet *fleet, int status)
{
	bool failed = !WIFEXITED(status) || WEXITSTATUS(status) != 0;
	fleet->view = 0;
	if (fleet->show == TDM_DEMO_TOP && !failed)
		stop(fleet);
	else if (failed)
		fleet->show = fleet->show == TDM_DEMO_TOP ? TDM_DEMO_PLAIN : TDM_DEMO_NONE;
}

/* Handles all children that have ended. */
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
		if (pid == fleet->view)
			note_view(fleet, status);
		tdm_demo_server_note(&fleet->server, pid);
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
	const struct tdm_demo_options *options = &fleet->options->workload;
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
		tdm_demo_server_say(&fleet->server);
	fflush(stdout);
}

static void print_output(const struct fleet *fleet, const struct member *member)
{
	struct tdm_buf text;
	char chunk[4096];
	ssize_t got;
	off_t at = 0;
	tdm_buf_init(&text);
	while (text.len < OUTPUT_MAX && (got = pread(member->out_fd, chunk, sizeof chunk, at)) > 0) {
		tdm_buf_add(&text, chunk, (size_t)got);
		at += got;
	}
	if (text.len != 0)
		printf("\n%s\n%.*s", member->workload->name, TDM_STR_ARG(tdm_buf_str(&text)));
	tdm_buf_done(&text);
	if (WIFSIGNALED(member->status))
		tdm_cmd_error(fleet->cmd, "%s was killed by signal %d; what it held: tidemark dump --pid %d",
			member->workload->name, WTERMSIG(member->status), (int)member->was);
}

/* Prints the output of the workloads, training last. The exit code tells whether all of them succeeded. */
static int finish(struct fleet *fleet)
{
	int code = TDM_EXIT_OK;
	for (size_t i = fleet->count; i-- > 0;) {
		struct member *member = &fleet->crew[i];
		if (member->out_fd < 0)
			continue;
		print_output(fleet, member);
		close(member->out_fd);
		if (WIFEXITED(member->status) && WEXITSTATUS(member->status) != 0)
			code = TDM_EXIT_USAGE;
	}
	return code;
}

int tdm_demo_fleet_run(const struct tdm_cmd *cmd, const struct tdm_demo_fleet_options *options)
{
	struct fleet fleet = { .cmd = cmd, .options = options, .show = options->view };
	struct sigaction normal = { .sa_handler = SIG_DFL }, child_before;
	sigemptyset(&fleet.waited);
	sigaddset(&fleet.waited, SIGINT);
	sigaddset(&fleet.waited, SIGTERM);
	sigaddset(&fleet.waited, SIGHUP);
	sigaddset(&fleet.waited, SIGCHLD);
	sigprocmask(SIG_BLOCK, &fleet.waited, &fleet.before);
	sigaction(SIGCHLD, &normal, &child_before); /* a process that ignores it cannot wait for a child */
	int code = options->server ? tdm_demo_server_start(&fleet.server, cmd) : 0;
	if (code == 0)
		code = start_crew(&fleet);
	if (code != 0) {
		stop(&fleet);
	} else {
		say_what_runs(&fleet);
		tdm_demo_plan_frames(tdm_clock_ns(), options->workload.seconds, &fleet.frame_ns, &fleet.frames_ns);
		if (fleet.show == TDM_DEMO_TOP)
			start_view(&fleet);
	}
	wait_for_all(&fleet);
	int end_code = finish(&fleet);
	if (options->server)
		tdm_demo_server_stop(&fleet.server);
	else if (code == 0 && end_code == 0)
		fputs(next_steps, stdout);
	sigaction(SIGCHLD, &child_before, NULL);
	sigprocmask(SIG_SETMASK, &fleet.before, NULL);
	return code != 0 ? code : end_code;
}
