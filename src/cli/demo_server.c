#include "cli/demo_server.h"
#include "base/clock.h"
#include "base/err.h"
#include "cli/demo_wire.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <limits.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE_S = 10, LOOK_MS = 5, CANNOT_START = 126, DEEPEST = 8 };

void tdm_demo_follow_parent(pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(0); /* the parent is gone already */
}

/* Any that is free: the usual one is for a daemon that is to stay. 0: none. */
static uint32_t find_port(void)
{
	struct sockaddr_in here = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof here;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool is_free = fd >= 0 && bind(fd, (struct sockaddr *)&here, sizeof here) == 0 &&
		       getsockname(fd, (struct sockaddr *)&here, &size) == 0;
	if (fd >= 0)
		close(fd);
	return is_free ? ntohs(here.sin_port) : 0;
}

/* The daemon is beside this program, or in PATH. */
__attribute__((noreturn)) static void become_daemon(const struct tdm_demo_server *server, pid_t parent)
{
	char path[PATH_MAX + sizeof "tidemarkd"], port[16];
	char *words[] = { strdup("tidemarkd"), strdup("--quiet"), strdup("--socket"), strdup(server->socket),
		strdup(server->port != 0 ? "--http-port" : "--no-http"), server->port != 0 ? port : NULL, NULL };
	sigset_t none;
	tdm_demo_follow_parent(parent);
	setpgid(0, 0); /* Ctrl+C is for the programs: the daemon ends after them */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	snprintf(port, sizeof port, "%" PRIu32, server->port);
	dup2(server->out_fd, STDOUT_FILENO);
	dup2(server->out_fd, STDERR_FILENO);
	ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
	path[length > 0 ? length : 0] = '\0';
	char *slash = strrchr(path, '/');
	if (slash != NULL) {
		strcpy(slash + 1, "tidemarkd");
		execv(path, words);
	}
	execvp("tidemarkd", words);
	dprintf(STDERR_FILENO, "cannot start tidemarkd: %s\n", tdm_err_text(-errno));
	_exit(CANNOT_START);
}

/* What it has printed so far. */
static void print_output(const struct tdm_demo_server *server, FILE *to)
{
	char chunk[4096];
	ssize_t got;
	for (off_t at = 0; (got = pread(server->out_fd, chunk, sizeof chunk, at)) > 0; at += got)
		fwrite(chunk, 1, (size_t)got, to);
}

static bool listens(const struct tdm_demo_server *server)
{
	struct tdm_demo_wire wire;
	bool it_does = tdm_demo_wire_open(&wire, server->socket, 0) == 0;
	tdm_demo_wire_close(&wire);
	return it_does;
}

/* It has ended, or does not listen in time. */
static int give_up(struct tdm_demo_server *server, const struct tdm_cmd *cmd)
{
	print_output(server, stderr);
	if (server->pid != 0 && kill(server->pid, SIGKILL) == 0)
		waitpid(server->pid, NULL, 0);
	server->pid = 0;
	close(server->out_fd);
	server->out_fd = -1;
	return tdm_cmd_error(cmd, "tidemarkd does not listen");
}

int tdm_demo_server_start(struct tdm_demo_server *server, const struct tdm_cmd *cmd)
{
	const char *tmp = getenv("TMPDIR");
	pid_t parent = getpid();
	*server = (struct tdm_demo_server){ .out_fd = -1 };
	/* The path of a socket is short. */
	snprintf(server->folder, sizeof server->folder, "%s/tidemark-demo.XXXXXX",
		tmp != NULL && strlen(tmp) < sizeof server->folder / 2 ? tmp : "/tmp");
	if (mkdtemp(server->folder) == NULL) {
		server->folder[0] = '\0';
		return tdm_cmd_error(cmd, "no folder for the socket: %s", tdm_err_text(-errno));
	}
	snprintf(server->socket, sizeof server->socket, "%s/socket", server->folder);
	server->port = find_port();
	server->out_fd = memfd_create("tidemark-demo", MFD_CLOEXEC);
	fflush(stdout);
	server->pid = server->out_fd >= 0 ? fork() : -1;
	if (server->pid == 0)
		become_daemon(server, parent);
	if (server->pid < 0) {
		server->pid = 0;
		return tdm_cmd_error(cmd, "cannot start tidemarkd: %s", tdm_err_text(-errno));
	}
	uint64_t until = tdm_clock_ns() + PATIENCE_S * TDM_NS_PER_S;
	while (!listens(server)) {
		const struct timespec pause = { 0, LOOK_MS * (long)TDM_NS_PER_MS };
		bool has_ended = waitpid(server->pid, NULL, WNOHANG) == server->pid;
		if (has_ended)
			server->pid = 0;
		if (has_ended || tdm_clock_ns() > until)
			return give_up(server, cmd);
		nanosleep(&pause, NULL);
	}
	return 0;
}

void tdm_demo_server_say(const struct tdm_demo_server *server)
{
	printf("They report to the daemon, process %d, on %s. Where to look, from another terminal:\n"
	       "  tidemark top, tidemark status, tidemark dump: its clients are there like all other programs\n"
	       "  tidemark dump --server --socket %s: the summary that the daemon itself gives\n",
		(int)server->pid, server->socket, server->socket);
	if (server->port != 0)
		printf("  curl http://127.0.0.1:%" PRIu32 "/metrics: for Prometheus\n"
		       "  curl http://127.0.0.1:%" PRIu32 "/api/v1/status: the same as JSON\n",
			server->port, server->port);
	printf("  kill -9 one of the programs and look again: tidemark leaks\n");
}

void tdm_demo_server_note(struct tdm_demo_server *server, pid_t pid)
{
	if (server->pid == pid)
		server->pid = 0;
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st, (void)type, (void)at;
	return remove(path);
}

void tdm_demo_server_stop(struct tdm_demo_server *server)
{
	if (server->pid > 0) {
		kill(server->pid, SIGTERM);
		while (waitpid(server->pid, NULL, 0) < 0 && errno == EINTR)
			;
		printf("\ntidemarkd\n");
		print_output(server, stdout);
	} else if (server->out_fd >= 0) {
		printf("\nThe daemon has ended before its clients.\n");
	}
	if (server->out_fd >= 0)
		close(server->out_fd);
	if (server->folder[0] != '\0')
		nftw(server->folder, remove_entry, DEEPEST, FTW_DEPTH | FTW_PHYS);
	*server = (struct tdm_demo_server){ .out_fd = -1 };
}
