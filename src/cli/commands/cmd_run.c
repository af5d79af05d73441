/*
 * `tidemark run`: runs a program with tracking on, and summarises the program's use of device memory at the end.
 *
 * The program gets its own directory for ledgers, which collects the ledgers of the whole process tree and keeps them
 * after processes end (TIDEMARK_KEEP). That directory is inside the default one, so other commands see the program
 * while it runs. The preload records the calls of an unmodified tt-metal.
 */
#include "base/clock.h"
#include "base/err.h"
#include "base/file.h"
#include "base/memory.h"
#include "cli/commands/cmd_list.h"
#include "cli/inputs/ledgers.h"
#include "cli/options/options.h"
#include "cli/commands/preload_path.h"
#include "ledger/layout/ledger_file.h"
#include "ledger/archive/archive.h"
#include "view/rows/live_result.h"
#include "input/elf/elf_file.h"
#include "live/host/proc_facts.h"
#include "model/result/result.h"
#include "view/write/write.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DEPTH_MAX = 64, DIR_TRIES = 4 };

struct request {
	const struct tdm_cmd *cmd;
	bool keep, no_preload;
	uint64_t depth; /* depth of call stacks; 0 for none */
	const char *json_path, *dir;
	int json_fd;                            /* descriptor for the JSON; -1 for none */
	char base[TDM_LEDGER_PATH_MAX];         /* the user's ledger folder, absolute */
	char own[TDM_LEDGER_PATH_MAX + 64];     /* the program's own folder, inside `base`; "" if there is none */
	char unseen[TDM_LEDGER_PATH_MAX + 160]; /* why nothing can be seen; "" if something may be */
	struct tdm_preload preload;
	struct tdm_buf preloaded; /* the new value of LD_PRELOAD; empty to leave it unchanged */
};

/* Nothing will be recorded. The program still runs, because watching must not prevent it from running. */
__attribute__((format(printf, 2, 3))) static void give_up(struct request *request, const char *format, ...)
{
	va_list values;
	va_start(values, format);
	vsnprintf(request->unseen, sizeof request->unseen, format, values);
	va_end(values);
}

/* Makes the program's folder, with the access rights that its ledgers will have. A path that is not a folder is a usage
 * error. */
static int make_dir(struct request *request)
{
	const char *dir = tdm_ledger_dir(request->dir);
	uint32_t mode;
	bool made = false;
	tdm_ledger_parse_mode(getenv("TIDEMARK_MODE"), &mode);
	/* Another program may remove the user's folder whenever it is empty. */
	for (int i = 0; !made && i < DIR_TRIES; i++) {
		int fd = tdm_ledger_open_folder(dir, mode, request->base);
		if (fd < 0) {
			give_up(request, "cannot use %s for ledgers: %s; --dir DIR names another place", dir,
				tdm_err_text(fd));
			bool is_wrong = request->dir != NULL && (fd == -ENOENT || fd == -ENOTDIR);
			return is_wrong ? tdm_cmd_error(request->cmd, "%s", request->unseen) : 0;
		}
		close(fd);
		snprintf(request->own, sizeof request->own, "%s/" TDM_LEDGER_RUN_PREFIX "%d.XXXXXX", request->base,
			(int)getpid());
		made = mkdtemp(request->own) != NULL;
	}
	if (made && chmod(request->own, tdm_ledger_folder_mode(mode)) == 0)
		return 0;
	give_up(request, "cannot make a directory in %s: %s; --dir DIR names another place", dir, tdm_err_text(-errno));
	if (made)
		rmdir(request->own);
	request->own[0] = '\0';
	return 0;
}

static int open_json(struct request *request)
{
	request->json_fd = -1;
	if (request->json_path == NULL)
		return 0;
	if (strcmp(request->json_path, "-") == 0)
		request->json_fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
	else
		request->json_fd = open(request->json_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (request->json_fd < 0)
		return tdm_cmd_error(request->cmd, "cannot write %s: %s", request->json_path, tdm_err_text(-errno));
	return 0;
}

static void set_environment(const struct request *request)
{
	char depth[24];
	if (request->own[0] == '\0')
		return;
	setenv("TIDEMARK", "1", 1);
	setenv("TIDEMARK_KEEP", "1", 1);
	setenv("TIDEMARK_DIR", request->own, 1);
	snprintf(depth, sizeof depth, "%" PRIu64, request->depth);
	if (request->depth != 0)
		setenv("TIDEMARK_STACKS", depth, 1);
	if (request->preloaded.len != 0)
		setenv("LD_PRELOAD", request->preloaded.data, 1);
}

/* ---- the program ---------------------------------------------------------------------------------------------------
 */

/*
 * The child stays in our process group. Signals from the terminal (interrupt, new window size, hangup) reach the child
 * directly; we survive them to see the child exit. Signals sent only to us by another process are passed on; Linux
 * identifies the sender. Signals are blocked and waited for, so none are lost.
 *
 * We are a subreaper, so processes that lose their parent become our children. At the end, we therefore know which
 * processes are still running.
 */

enum { NOT_FOUND = 127, NOT_EXECUTABLE = 126, KILLED = 128 };

static const int passed_on[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH, SIGCONT };

/* How long other processes may take to exit after the program. */
#define GRACE_NS (100 * TDM_NS_PER_MS)

/* Collects all children that have exited. 1: `child` is among them; 0: others are still running; -1: no children are
 * left. */
static int take_ended(pid_t child, int *status)
{
	int found = 0, its;
	for (;;) {
		pid_t got = waitpid(-1, &its, WNOHANG);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return found != 0 ? 1 : got == 0 ? 0 : -1;
		if (got == child) {
			*status = its;
			found = 1;
		}
	}
}

/* Finds the processes that are still running. Those about to exit get a little time to do so. */
static void find_left_children(struct tdm_run_end *end)
{
	enum { LIST_CAP = 4096 };
	const struct timespec pause = { .tv_nsec = (long)GRACE_NS };
	uint64_t until = tdm_clock_ns() + GRACE_NS;
	sigset_t ended;
	char list[LIST_CAP], *at = list;
	int ignored;
	sigemptyset(&ended);
	sigaddset(&ended, SIGCHLD);
	while ((end->has_left = take_ended(0, &ignored) == 0) && tdm_clock_ns() < until)
		sigtimedwait(&ended, NULL, &pause);
	if (!end->has_left || tdm_sys_file_read(AT_FDCWD, "/proc/thread-self/children", list, sizeof list) <= 0)
		return;
	for (char *next = at; end->left_count < TDM_RUN_LEFT_MAX; at = next) {
		long pid = strtol(at, &next, 10);
		if (next == at)
			break;
		end->left[end->left_count++] = (int32_t)pid;
	}
}

/* Runs argv and waits until it exits. 0, or -errno if the program could not be started. */
static int run_child(const struct request *request, char **argv, struct tdm_run_end *end)
{
	struct sigaction normal = { .sa_handler = SIG_DFL }, child_before;
	sigset_t waited, before;
	int status = 0, err = 0;
	int *tell = mmap(NULL, sizeof *tell, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (tell == MAP_FAILED)
		return -errno;
	sigemptyset(&waited);
	for (size_t i = 0; i < sizeof passed_on / sizeof passed_on[0]; i++)
		sigaddset(&waited, passed_on[i]);
	sigaddset(&waited, SIGCHLD);
	sigprocmask(SIG_BLOCK, &waited, &before);
	/* A process that ignores SIGCHLD cannot wait for a child. */
	sigaction(SIGCHLD, &normal, &child_before);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	pid_t child = fork();
	if (child == 0) {
		/* Parent and child share memory to report why exec failed: a pipe needs descriptors, and there may be
		 * none left. */
		sigaction(SIGCHLD, &child_before, NULL);
		sigprocmask(SIG_SETMASK, &before, NULL);
		set_environment(request);
		execvp(argv[0], argv);
		*tell = errno;
		_exit(NOT_EXECUTABLE);
	}
	if (child < 0)
		err = errno;
	while (child > 0) {
		siginfo_t info;
		int signal = sigwaitinfo(&waited, &info); /* negative after a stop and a continue */
		if (signal == SIGCHLD && take_ended(child, &status) != 0) {
			err = *tell;
			break;
		}
		/* Sent only to us by another process. */
		if (signal > 0 && signal != SIGCHLD && info.si_code <= 0 && info.si_pid != child &&
			info.si_pid != getpid())
			kill(child, signal);
	}
	if (err == 0)
		find_left_children(end);
	sigaction(SIGCHLD, &child_before, NULL);
	sigprocmask(SIG_SETMASK, &before, NULL);
	munmap(tell, sizeof *tell);
	if (err != 0)
		return -err;
	end->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	end->exit_code = end->signal != 0 ? KILLED + end->signal : WEXITSTATUS(status);
	return 0;
}

/* ---- what it left
 * ---------------------------------------------------------------------------------------------------- */

/* Moves a ledger from the program's own directory to the default one, where other commands look for post-mortems. */
static void keep_ledger(const struct request *request, const char *path)
{
	const char *slash = strrchr(path, '/');
	if (slash == NULL)
		return;
	char *target = tdm_printed("%s%s", request->base, slash);
	if (renameat2(AT_FDCWD, path, AT_FDCWD, target, RENAME_NOREPLACE) == 0)
		tdm_cmd_say("tidemark: kept %s", target);
	else
		tdm_cmd_error(request->cmd, "cannot move %s to %s: %s", path, target, tdm_err_text(-errno));
	free(target);
}

/* Keeps and names the running processes missing from the picture. */
static void name_left(const struct tdm_picture *picture, struct tdm_run_end *end)
{
	size_t kept = 0, len = 0;
	bool is_listed = end->left_count != 0;
	for (size_t i = 0; i < end->left_count; i++) {
		char comm[TDM_COMM_CAP] = "", path[32];
		size_t p = 0;
		while (p < picture->process_count && picture->processes[p].pid != end->left[i])
			p++;
		if (p != picture->process_count)
			continue;
		snprintf(path, sizeof path, "/proc/%" PRId32 "/comm", end->left[i]);
		tdm_sys_file_text(AT_FDCWD, path, comm, sizeof comm);
		len += (size_t)snprintf(end->left_names + len, sizeof end->left_names - len, "%s%" PRId32 " (%s)",
			kept != 0 ? ", " : "", end->left[i], comm);
		end->left[kept++] = end->left[i];
	}
	end->left_count = kept;
	end->has_left &= !is_listed || kept != 0;
}

/* Removes files no longer needed. Processes still running keep their ledgers and the directory. */
static void clean_up(const struct request *request, const struct tdm_ledgers *ledgers, bool has_left)
{
	const struct tdm_picture *picture = ledgers->picture;
	if (request->own[0] == '\0')
		return;
	for (size_t i = 0; picture != NULL && i < picture->process_count; i++) {
		const struct tdm_picture_process *process = &picture->processes[i];
		if (process->life != TDM_LIFE_ENDED)
			continue;
		uint64_t live = 0;
		for (uint32_t h = 0; h < process->holding_count; h++)
			live += tdm_holding_buffer_count(&picture->holdings[process->first_holding + h]);
		if (request->keep && live != 0)
			keep_ledger(request, process->ledger);
		else
			tdm_ledger_reap(process->ledger);
	}
	for (size_t i = 0; picture != NULL && !request->keep && i < picture->problem_count; i++)
		if (picture->problems[i].is_unread)
			tdm_ledger_reap(picture->problems[i].path);
	int err = has_left ? -EBUSY : tdm_ledger_reap_run(request->own);
	if (err != 0 && err != -ENOENT)
		tdm_cmd_say("tidemark: ledgers stay in %s", request->own);
	rmdir(request->base); /* succeeds only if empty */
}

static void print_summary(const struct request *request, const struct tdm_picture *picture, struct tdm_run_end *end)
{
	struct tdm_live_report report = {
		.picture = picture,
		.term = tdm_term_detect(STDERR_FILENO),
		.dir = request->own,
		.stacks = request->depth != 0,
	};
	struct tdm_buf out = { 0 };
	end->unseen = request->unseen[0] != '\0' ? request->unseen : NULL;
	for (size_t i = 0; i < picture->process_count; i++)
		end->still_running += picture->processes[i].life == TDM_LIFE_RUNS;
	struct tdm_result *result = tdm_result_new();
	report.term.folds = isatty(STDERR_FILENO);
	tdm_run_show(&result->top, &report, end);
	tdm_write_text(&result->top, &report.term, &out);
	fflush(stdout);
	tdm_file_write_all(STDERR_FILENO, out.data, out.len);
	tdm_buf_done(&out);
	int err = 0;
	if (request->json_fd >= 0) {
		struct tdm_answer answer;
		tdm_answer_begin(&answer, request->cmd, true);
		tdm_answer_put(&answer, result, true, &report.term);
		tdm_json_object_end(&answer.json);
		err = tdm_file_write_all(request->json_fd, answer.out.data, answer.out.len);
		tdm_buf_done(&answer.out);
	}
	tdm_result_free(result);
	if (err != 0)
		tdm_cmd_error(request->cmd, "cannot write %s: %s", request->json_path, tdm_err_text(err));
}

/* Reads the ledgers, and finds out why there may be none. */
static void look(struct request *request, struct tdm_ledgers *ledgers)
{
	if (request->own[0] == '\0')
		return;
	int err = tdm_ledger_failure(request->own);
	if (err != 0)
		give_up(request, "a process could not make its ledger in %s: %s%s", request->base, tdm_err_text(err),
			err == -EFBIG ? " (its limit, see 'ulimit -f')" : "");
	if (tdm_ledgers_open(request->cmd, (struct tdm_state_options){ .ledger_dir = request->own }, ledgers) == 0 &&
		tdm_ledgers_look(request->cmd, ledgers, TDM_WISH_EVENTS) == 0)
		return;
	if (err == 0)
		give_up(request, "the ledgers in %s could not be read", request->own);
	tdm_ledgers_done(ledgers); /* frees descriptors, which may be scarce */
}

static int run_program(struct request *request, char **command)
{
	static const struct tdm_picture nothing;
	struct tdm_run_end end = {
		.command = command,
		.is_preloaded = request->preloaded.len != 0 && request->own[0] != '\0',
	};
	struct tdm_ledgers ledgers = { 0 };
	uint64_t begin = tdm_clock_ns();
	int err = run_child(request, command, &end);
	if (err != 0) {
		if (request->own[0] != '\0')
			tdm_ledger_reap_run(request->own);
		rmdir(request->base); /* succeeds only if empty */
		tdm_cmd_error(request->cmd, "cannot run '%s': %s", command[0], tdm_err_text(err));
		return err == -ENOENT ? NOT_FOUND : NOT_EXECUTABLE;
	}
	struct tdm_program_file program;
	bool has_left = end.has_left;
	end.took_ns = tdm_clock_ns() - begin;
	if (end.is_preloaded && tdm_program_find(&program, command[0], NULL) == 0) {
		end.program = program.path;
		end.bar = tdm_preload_bar_text(program.bar);
	}
	look(request, &ledgers);
	const struct tdm_picture *picture = ledgers.picture != NULL ? ledgers.picture : &nothing;
	name_left(picture, &end);
	print_summary(request, picture, &end);
	clean_up(request, &ledgers, has_left);
	tdm_ledgers_done(&ledgers);
	return end.exit_code;
}

static int cmd_run_run(struct tdm_args *args)
{
	struct request *request = tdm_zalloc(1, sizeof *request); /* stacks may be small */
	request->cmd = args->cmd;
	int code = tdm_args_read(args, request);
	if (code == 0 && args->positional_count == 0)
		code = tdm_cmd_usage_error(args->cmd, "which program? tidemark run -- CMD ARGUMENT...");
	if (code == 0)
		code = open_json(request);
	/* The program runs even if the preload is missing. */
	if (code == 0 && !request->no_preload && tdm_preload_find(&request->preload, request->cmd))
		tdm_preload_join(getenv("LD_PRELOAD"), request->preload.path, &request->preloaded);
	if (code == 0)
		code = make_dir(request);
	if (code == 0) {
		code = run_program(request, args->positional);
		if (request->json_fd >= 0)
			close(request->json_fd);
	}
	tdm_buf_done(&request->preloaded);
	free(request);
	return code;
}

static const struct tdm_opt run_opts[] = {
	{ "keep", 'k', NULL, "keep the ledgers of processes that did not free all buffers, for 'tidemark dump'",
		TDM_TAKE_FLAG(struct request, keep) },
	{ "json", 'j', "FILE", "also write the summary to FILE, as JSON; '-' is standard output",
		TDM_TAKE_TEXT(struct request, json_path) },
	{ "stacks", 's', "FRAMES", "record call stacks, up to this many frames, and print them",
		TDM_TAKE_NUMBER(struct request, depth, 0, DEPTH_MAX) },
	{ "no-preload", 0, NULL,
		"do not preload " TDM_PRELOAD_NAME ": only programs that use libtidemark themselves are tracked",
		TDM_TAKE_FLAG(struct request, no_preload) },
	{ TDM_OPT_DIR(struct request, dir) },
	{ 0 },
};

static const struct tdm_help_row run_examples[] = {
	{ "tidemark run -- python3 model.py", "run a program, then show peaks and buffers that were never freed" },
	{ "tidemark run --stacks 8 -- ./model", "also show the call stacks of these buffers" },
	{ "tidemark run --json memory.json -- ./model", "also write the summary for programs" },
	{ NULL, NULL },
};

static const struct tdm_help_row run_exits[] = {
	{ "2", "wrong usage, no such --dir, or the --json file could not be created: the program was not run" },
	{ "126", "the program could not be executed" },
	{ "127", "the program was not found" },
	{ "128+N", "the program was killed by signal N" },
	{ "other", "the exit code of the program" },
	{ NULL, NULL },
};

const struct tdm_cmd tdm_cmd_run = {
	.name = "run",
	.summary = "run a program with tracking on and summarise its device memory at the end",
	.usage = "[--keep] [--json FILE] [--stacks FRAMES] [--no-preload] [--dir DIR] -- CMD [ARGUMENT]...",
	.description = "Sets TIDEMARK=1 for the program and runs the program as a shell would. The command passes on "
		       "signals and exits with the program's exit code (128 plus the signal number if the program "
		       "was killed, 127 if the program was not found, 126 if it could not be executed).\n\nThe "
		       "program gets " TDM_PRELOAD_NAME
		       " in front of its LD_PRELOAD. That library reports the allocations of an unmodified tt-metal "
		       "from the moment when the program, or a Python package in the program, loads tt-metal; in "
		       "other programs, the library does nothing. The command searches for the library relative to "
		       "its own location; " TDM_PRELOAD_VARIABLE
		       " names another file. The preload does not work in statically linked programs, set-user-id "
		       "programs and 32-bit programs. 'tidemark doctor --metal' shows what the preload can see, and "
		       "'tidemark env' sets the same variables for a shell.\n\nAfter the program has ended, a "
		       "summary on standard error lists, for each of its processes:\n\n  bytes reserved at the peak "
		       "and at the end, by device and kind of memory\n  buffers that were never freed, by allocation "
		       "site\n  double frees, unknown frees, and buffers reported again while live\n  out-of-memory "
		       "reports and lost events\n  buffers that replayed traces may have overwritten\n  programs "
		       "refused by tt-metal because their circular buffers did not fit\n  buffers that were live "
		       "when their device was closed\n  whether tt-metal's own figures agree\n  the sizes required "
		       "for opening a device\n\nWhile the program runs, 'tidemark dump' and 'tidemark top' show its "
		       "memory.",
	.opts = run_opts,
	.examples = run_examples,
	.exits = run_exits,
	.run = cmd_run_run,
};
