#include "server_run.h"
#include "bench_child.h"
#include "original_server.h"
#include "wire_send.h"

#include "base/clock.h"

#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	MESSAGE = 72,
	PATIENCE_S = 10,
	BUFFER_BYTES = 4096,
	ORIGINAL_DEVICES = 8, /* more it does not serve */
	ARGS_MAX = 16,
};

static bool our_path(char path[PATH_MAX], const char *bin_dir)
{
	return snprintf(path, PATH_MAX, "%s/tidemarkd", bin_dir) < PATH_MAX;
}

bool bench_server_exists(const char *bin_dir)
{
	char path[PATH_MAX];
	return our_path(path, bin_dir) && access(path, X_OK) == 0;
}

static pid_t start_ours(const struct bench_server *server, const struct bench_server_plan *plan)
{
	char path[PATH_MAX], dir[128], state[128];
	const char *argv[ARGS_MAX] = { path, "--socket", server->socket };
	const char *env[ARGS_MAX] = { dir, state };
	size_t args = 3, words = 2;
	if (!our_path(path, plan->bin_dir))
		return 0;
	snprintf(dir, sizeof dir, "TIDEMARK_DIR=%s", server->ledgers);
	snprintf(state, sizeof state, "STATE_DIRECTORY=%s/state", server->root);
	if (plan->quiet)
		argv[args++] = "--quiet";
	if (plan->more_args == NULL)
		argv[args++] = "--no-http"; /* its usual port may be in use */
	for (size_t i = 0; plan->more_args != NULL && plan->more_args[i] != NULL && args + 1 < ARGS_MAX; i++)
		argv[args++] = plan->more_args[i];
	for (size_t i = 0; plan->env != NULL && plan->env[i] != NULL && words + 1 < ARGS_MAX; i++)
		env[words++] = plan->env[i];
	return bench_spawn(argv, env);
}

static pid_t start_original(const struct bench_server *server, const struct bench_server_plan *plan)
{
	pid_t pid = fork();
	if (pid != 0)
		return pid < 0 ? 0 : pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	dup2(null, STDOUT_FILENO);
	original_server_run(server->socket, plan->quiet, plan->peeks);
}

static bool answers(const struct bench_server *server)
{
	struct tdm_wire_reply reply;
	int fd = wire_connect(server->socket);
	bool it_does = fd >= 0 && wire_ask(fd, MESSAGE, TDM_WIRE_QUERY, 0, &reply);
	if (fd >= 0)
		close(fd);
	return it_does;
}

bool bench_server_start(struct bench_server *server, const struct bench_server_plan *plan)
{
	*server = (struct bench_server){ .root = "/dev/shm/tidemark-bench.XXXXXX" };
	if (mkdtemp(server->root) == NULL) {
		server->root[0] = '\0';
		return false;
	}
	snprintf(server->socket, sizeof server->socket, "%s/socket", server->root);
	snprintf(server->ledgers, sizeof server->ledgers, "%s/ledgers", server->root);
	if (mkdir(server->ledgers, 0755) != 0)
		return false;
	server->pid = plan->kind == BENCH_OURS ? start_ours(server, plan) : start_original(server, plan);
	uint64_t until = tdm_clock_ns() + PATIENCE_S * TDM_NS_PER_S;
	while (server->pid != 0 && !answers(server)) {
		if (waitpid(server->pid, NULL, WNOHANG) == server->pid)
			server->pid = 0;
		if (tdm_clock_ns() > until)
			return false;
		usleep(1000);
	}
	return server->pid != 0;
}

void bench_server_stop(struct bench_server *server)
{
	if (server->pid != 0) {
		kill(server->pid, SIGKILL);
		waitpid(server->pid, NULL, 0);
	}
	if (server->root[0] != '\0')
		bench_remove_tree(server->root);
	server->pid = 0;
}

/* The number after a word in a file of /proc; 0: none. */
static uint64_t proc_number(pid_t pid, const char *name, const char *word)
{
	char path[64], line[256];
	uint64_t number = 0;
	snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
	FILE *file = fopen(path, "re");
	while (file != NULL && fgets(line, sizeof line, file) != NULL)
		if (strncmp(line, word, strlen(word)) == 0)
			number = strtoull(line + strlen(word), NULL, 10);
	if (file != NULL)
		fclose(file);
	return number;
}

uint64_t bench_server_private_bytes(const struct bench_server *server)
{
	return proc_number(server->pid, "smaps_rollup", "Anonymous:") * 1024;
}

uint64_t bench_server_cpu_ns(const struct bench_server *server)
{
	return proc_number(server->pid, "schedstat", "");
}

static uint64_t walked_bytes;

static int add_entry(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)path, (void)at;
	walked_bytes += type == FTW_F ? (uint64_t)st->st_blocks * 512 : 0;
	return 0;
}

uint64_t bench_server_ledger_bytes(const struct bench_server *server)
{
	walked_bytes = 0;
	nftw(server->ledgers, add_entry, 16, FTW_PHYS);
	return walked_bytes;
}

/* Says ready, waits, sends, says done, and waits for its end. */
static _Noreturn void be_client(const char *path, const struct bench_feed *f, uint32_t index, int go, int done)
{
	const struct wire_flood flood = {
		.size = MESSAGE,
		.batch = f->batch,
		.device = (int32_t)(index % ORIGINAL_DEVICES),
		.messages = f->messages / f->clients,
		.live = f->live,
		.bytes = BUFFER_BYTES,
		.first_id = (uint64_t)index << 40,
	};
	struct tdm_wire_reply reply;
	char byte = 0;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	int fd = wire_connect(path);
	bool went_well = fd >= 0 && write(done, "r", 1) == 1 && read(go, &byte, 1) == 1 && wire_flood(fd, &flood) &&
			 wire_ask(fd, MESSAGE, TDM_WIRE_QUERY, flood.device, &reply);
	if (write(done, went_well ? "d" : "f", 1) != 1)
		_exit(2);
	for (;;)
		pause();
}

static bool hear_all(const struct bench_clients *clients, char expected)
{
	for (uint32_t i = 0; i < clients->count; i++) {
		char byte = 0;
		if (read(clients->done, &byte, 1) != 1 || byte != expected)
			return false;
	}
	return true;
}

bool bench_clients_start(struct bench_clients *clients, const struct bench_server *server, const struct bench_feed *f)
{
	int go[2], done[2];
	*clients = (struct bench_clients){ .go = -1, .done = -1 };
	if (pipe2(go, O_CLOEXEC) != 0)
		return false;
	if (pipe2(done, O_CLOEXEC) != 0) {
		close(go[0]);
		close(go[1]);
		return false;
	}
	for (uint32_t i = 0; i < f->clients && i < BENCH_CLIENTS_MAX; i++) {
		pid_t pid = fork();
		if (pid == 0)
			be_client(server->socket, f, i, go[0], done[1]);
		if (pid > 0)
			clients->pids[clients->count++] = pid;
	}
	close(go[0]);
	close(done[1]);
	clients->go = go[1];
	clients->done = done[0];
	return clients->count == f->clients && hear_all(clients, 'r');
}

void bench_clients_go(const struct bench_clients *clients)
{
	char bytes[BENCH_CLIENTS_MAX] = { 0 };
	if (write(clients->go, bytes, clients->count) != (ssize_t)clients->count)
		abort();
}

bool bench_clients_wait(const struct bench_clients *clients)
{
	return hear_all(clients, 'd');
}

void bench_clients_stop(struct bench_clients *clients)
{
	for (uint32_t i = 0; i < clients->count; i++) {
		kill(clients->pids[i], SIGKILL);
		waitpid(clients->pids[i], NULL, 0);
	}
	if (clients->go >= 0)
		close(clients->go);
	if (clients->done >= 0)
		close(clients->done);
	*clients = (struct bench_clients){ .go = -1, .done = -1 };
}
