#include "bench_child.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CODE_NOT_RUN = 127 };

static bool read_exact(int fd, void *data, size_t size)
{
	for (size_t done = 0; done < size;) {
		ssize_t n = read(fd, (char *)data + done, size - done);
		if (n <= 0 && !(n < 0 && errno == EINTR))
			return false;
		done += n > 0 ? (size_t)n : 0;
	}
	return true;
}

static bool write_exact(int fd, const void *data, size_t size)
{
	for (size_t done = 0; done < size;) {
		ssize_t n = write(fd, (const char *)data + done, size - done);
		if (n < 0 && errno != EINTR)
			return false;
		done += n > 0 ? (size_t)n : 0;
	}
	return true;
}

/* After fork: executes `argv` with these as the standard files; -1: /dev/null. */
static _Noreturn void become(const char *const *argv, const char *const *env, int in, int out, int err)
{
	const int files[] = { in, out, err };
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int i = 0; i < 3; i++)
		if (files[i] != i)
			dup2(files[i] < 0 ? null : files[i], i);
	for (size_t i = 0; env != NULL && env[i] != NULL; i++)
		putenv(strdup(env[i]));
	/* execvp takes non-const pointers for historical reasons; it changes nothing. */
	char *words[32];
	size_t count = 0;
	while (argv[count] != NULL && count + 1 < sizeof words / sizeof *words) {
		words[count] = strdup(argv[count]);
		count++;
	}
	words[count] = NULL;
	execvp(words[0], words);
	_exit(CODE_NOT_RUN);
}

static int wait_for(pid_t pid)
{
	int status;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool bench_child_start(struct bench_child *child, const char *const *argv, const char *const *env)
{
	int to[2], from[2];
	*child = (struct bench_child){ 0 };
	if (pipe2(to, O_CLOEXEC) != 0)
		return false;
	if (pipe2(from, O_CLOEXEC) != 0)
		goto fail_from;
	child->pid = fork();
	if (child->pid < 0)
		goto fail_fork;
	if (child->pid == 0)
		become(argv, env, to[0], from[1], STDERR_FILENO);
	close(to[0]);
	close(from[1]);
	child->to = to[1];
	child->from = from[0];
	return true;
fail_fork:
	close(from[0]);
	close(from[1]);
fail_from:
	close(to[0]);
	close(to[1]);
	child->pid = 0;
	return false;
}

bool bench_child_ask(const struct bench_child *child, void *figures, size_t size)
{
	signal(SIGPIPE, SIG_IGN); /* a failed child is noticed by its silence */
	return write_exact(child->to, "", 1) && read_exact(child->from, figures, size);
}

bool bench_child_stop(struct bench_child *child)
{
	if (child->pid == 0)
		return true;
	close(child->to);
	close(child->from);
	int code = wait_for(child->pid);
	child->pid = 0;
	return code == 0;
}

int bench_child_serve(void (*measure)(void *state, void *figures), void *state, void *figures, size_t size)
{
	char ask;
	while (read_exact(STDIN_FILENO, &ask, 1)) {
		measure(state, figures);
		if (!write_exact(STDOUT_FILENO, figures, size))
			return 2;
	}
	return 0;
}

/* Reads everything, even what does not fit: the writer must not block. */
static void read_text(int fd, char *text, size_t cap)
{
	char part[4096];
	size_t len = 0;
	for (ssize_t n; (n = read(fd, part, sizeof part)) > 0;) {
		size_t room = cap - 1 - len, take = (size_t)n < room ? (size_t)n : room;
		memcpy(text + len, part, take);
		len += take;
	}
	text[len] = '\0';
}

pid_t bench_spawn(const char *const *argv, const char *const *env)
{
	pid_t pid = fork();
	if (pid == 0)
		become(argv, env, -1, -1, -1);
	return pid < 0 ? 0 : pid;
}

int bench_command(const char *const *argv, const char *const *env, char *errors, size_t cap)
{
	int fds[2] = { -1, -1 };
	if (errors != NULL && pipe2(fds, O_CLOEXEC) != 0)
		return -1;
	pid_t pid = fork();
	if (pid == 0)
		become(argv, env, -1, -1, fds[1]);
	if (errors != NULL) {
		close(fds[1]);
		read_text(fds[0], errors, cap);
		close(fds[0]);
	}
	int code = pid < 0 ? -1 : wait_for(pid);
	return code == CODE_NOT_RUN ? -1 : code;
}

bool bench_has_command(const char *name)
{
	const char *path = getenv("PATH");
	char file[PATH_MAX];
	while (path != NULL && *path != '\0') {
		size_t len = strcspn(path, ":");
		int n = snprintf(file, sizeof file, "%.*s/%s", (int)len, path, name);
		if (n > 0 && (size_t)n < sizeof file && access(file, X_OK) == 0)
			return true;
		path += len + (path[len] == ':');
	}
	return false;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st, (void)type, (void)at;
	return remove(path);
}

void bench_remove_tree(const char *path)
{
	nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}
