/*
 * `tidemark run`: runs a program with tracking on and summarises its use of device memory at the end.
 *
 * The program gets its own directory for ledgers, where those of its whole process tree are found later, and keeps them
 * when it ends (TIDEMARK_KEEP). That directory is inside the usual one, so other commands see the program while it
 * runs. The preload sees what an unmodified tt-metal does.
 */
#include "base/clock.h"
#include "base/err.h"
#include "base/file.h"
#include "cli/child.h"
#include "cli/cmd_list.h"
#include "cli/ledgers.h"
#include "cli/options.h"
#include "cli/preload_path.h"
#include "ledger/ledger_dir.h"
#include "ledger/ledger_reap.h"
#include "report/live_report.h"
#include "sources/program_file.h"
#include "sources/sys_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEPTH_MAX = 64, DIR_TRIES = 4 };

struct request {
	const struct tdm_cmd *cmd;
	bool keep, no_preload;
	uint64_t depth; /* of call stacks; 0: none */
	const char *json_path, *dir;
	int json_fd;                            /* -1: none */
	char base[TDM_LEDGER_PATH_MAX];         /* the user's folder, absolute */
	char own[TDM_LEDGER_PATH_MAX + 64];     /* the program's own folder, inside of it; "": there is none */
	char unseen[TDM_LEDGER_PATH_MAX + 160]; /* why nothing is seen; "": something may be */
	struct tdm_preload preload;
	struct tdm_buf preloaded; /* the value of LD_PRELOAD; empty: it stays as it is */
};

/* Nothing will be seen. The program runs all the same: who watches it must not stop it. */
__attribute__((format(printf, 2, 3))) static void give_up(struct request *request, const char *format, ...)
{
	va_list values;
	va_start(values, format);
	vsnprintf(request->unseen, sizeof request->unseen, format, values);
	va_end(values);
}

/* Makes the program's folder, with the same access as the ledgers in it will have. A folder that the user names and
 * that is none is wrong usage. */
static int make_dir(struct request *request)
{
	const char *dir = tdm_ledger_dir(request->dir);
	uint32_t mode;
	bool made = false;
	tdm_ledger_parse_mode(getenv("TIDEMARK_MODE"), &mode);
	/* Another program that ends may remove the user's folder while it is empty. */
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

static void set_environment(void *context)
{
	const struct request *request = context;
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

/* Finds the preload. A program runs without it, too. */
static int find_preload(struct request *request)
{
	if (request->no_preload)
		return 0;
	tdm_preload_find(&request->preload);
	if (request->preload.reason[0] != '\0') {
		tdm_cmd_error(request->cmd,
			"%s %s: programs that use tt-metal are not seen buffer by buffer; " TDM_PRELOAD_REMEDY
			", or use --no-preload if that is what you want",
			request->preload.path[0] != '\0' ? request->preload.path : TDM_PRELOAD_NAME,
			request->preload.reason);
		return 0;
	}
	tdm_preload_join(getenv("LD_PRELOAD"), request->preload.path, &request->preloaded);
	return tdm_buf_failed(&request->preloaded) ? tdm_cmd_error(request->cmd, "out of memory") : 0;
}

static uint64_t live_buffers(const struct tdm_picture *picture, const struct tdm_picture_process *process)
{
	uint64_t count = 0;
	for (uint32_t i = 0; i < process->holding_count; i++)
		count += tdm_holding_buffer_count(&picture->holdings[process->first_holding + i]);
	return count;
}

/* Moves a ledger from the program's own directory to the usual one, where other commands look for post-mortems. */
static void keep_ledger(const struct request *request, const char *path)
{
	const char *slash = strrchr(path, '/');
	char *target = NULL;
	if (slash == NULL || asprintf(&target, "%s%s", request->base, slash) < 0)
		return;
	if (renameat2(AT_FDCWD, path, AT_FDCWD, target, RENAME_NOREPLACE) == 0)
		tdm_cmd_say("tidemark: kept %s", target);
	else
		tdm_cmd_error(request->cmd, "cannot move %s to %s: %s", path, target, tdm_err_text(-errno));
	free(target);
}

/* The processes that still run and are not in the picture. */
static void find_left(const struct tdm_child_end *child, const struct tdm_picture *picture, struct tdm_run_left *left,
	struct tdm_run_end *end)
{
	char path[32];
	end->left = left;
	end->has_left = child->has_left && child->left_count == 0;
	for (size_t i = 0; i < child->left_count; i++) {
		size_t p = 0;
		while (p < picture->process_count && picture->processes[p].pid != child->left[i])
			p++;
		if (p != picture->process_count)
			continue;
		struct tdm_run_left *one = &left[end->left_count++];
		one->pid = child->left[i];
		snprintf(path, sizeof path, "/proc/%" PRId32 "/comm", one->pid);
		tdm_sys_file_text(AT_FDCWD, path, one->comm, sizeof one->comm);
		end->has_left = true;
	}
}

/* Removes what is no longer needed. Processes that still run keep their ledgers and the directory. */
static void clean_up(const struct request *request, const struct tdm_ledgers *ledgers, bool has_left)
{
	const struct tdm_picture *picture = ledgers->picture;
	if (request->own[0] == '\0')
		return;
	for (size_t i = 0; picture != NULL && i < picture->process_count; i++) {
		const struct tdm_picture_process *process = &picture->processes[i];
		if (process->life != TDM_LIFE_ENDED)
			continue;
		if (request->keep && live_buffers(picture, process) != 0)
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
	rmdir(request->base); /* only succeeds if it is empty */
}

static int write_json(
	const struct request *request, const struct tdm_live_report *report, const struct tdm_run_end *end)
{
	struct tdm_answer answer;
	tdm_answer_begin(&answer, request->cmd, true);
	tdm_run_json(report, end, &answer.json);
	tdm_json_object_end(&answer.json);
	int err = tdm_buf_failed(&answer.out) ? -ENOMEM
					      : tdm_file_write_all(request->json_fd, answer.out.data, answer.out.len);
	tdm_buf_done(&answer.out);
	return err;
}

static void print_summary(const struct request *request, const struct tdm_picture *picture, struct tdm_run_end *end)
{
	struct tdm_live_report report = {
		.picture = picture,
		.term = tdm_term_detect(STDERR_FILENO),
		.dir = request->own,
		.stacks = request->depth != 0,
	};
	struct tdm_buf out;
	end->unseen = request->unseen[0] != '\0' ? request->unseen : NULL;
	for (size_t i = 0; i < picture->process_count; i++)
		end->still_running += picture->processes[i].life == TDM_LIFE_RUNS;
	tdm_buf_init(&out);
	tdm_run_text(&report, end, &out);
	fflush(stdout);
	if (tdm_buf_failed(&out))
		tdm_cmd_error(request->cmd, "out of memory for the summary");
	else
		tdm_file_write_all(STDERR_FILENO, out.data, out.len);
	tdm_buf_done(&out);
	int err = request->json_fd >= 0 ? write_json(request, &report, end) : 0;
	if (err != 0)
		tdm_cmd_error(request->cmd, "cannot write %s: %s", request->json_path, tdm_err_text(err));
}

/* Looks at the ledgers, and why there may be none. */
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
	tdm_ledgers_done(ledgers); /* gives descriptors back, which may be few */
}

static int run_program(struct request *request, char **command)
{
	static const struct tdm_picture nothing;
	struct tdm_child_end child;
	struct tdm_ledgers ledgers = { 0 };
	uint64_t begin = tdm_clock_ns();
	int err = tdm_child_run(command, set_environment, request, &child);
	if (err != 0) {
		if (request->own[0] != '\0')
			tdm_ledger_reap_run(request->own);
		rmdir(request->base); /* only succeeds if it is empty */
		tdm_cmd_error(request->cmd, "cannot run '%s': %s", command[0], tdm_err_text(err));
		return err == -ENOENT ? TDM_CHILD_NOT_FOUND : TDM_CHILD_NOT_EXECUTABLE;
	}
	struct tdm_run_end end = {
		.command = command,
		.exit_code = child.exit_code,
		.signal = child.signal,
		.took_ns = tdm_clock_ns() - begin,
		.is_preloaded = request->preloaded.len != 0 && request->own[0] != '\0',
	};
	struct tdm_run_left left[TDM_CHILD_LEFT_MAX] = { 0 };
	struct tdm_program_file program;
	if (end.is_preloaded && tdm_program_find(&program, command[0], NULL) == 0) {
		end.program = program.path;
		end.bar = tdm_preload_bar_text(program.bar);
	}
	look(request, &ledgers);
	const struct tdm_picture *picture = ledgers.picture != NULL ? ledgers.picture : &nothing;
	find_left(&child, picture, left, &end);
	print_summary(request, picture, &end);
	clean_up(request, &ledgers, child.has_left);
	tdm_ledgers_done(&ledgers);
	return child.exit_code;
}

static int run_request(struct request *request, struct tdm_args *args)
{
	int code = tdm_args_read(args, request);
	if (code == 0 && args->positional_count == 0)
		return tdm_cmd_usage_error(args->cmd, "which program? tidemark run -- CMD ARGUMENT...");
	if (code == 0)
		code = open_json(request);
	if (code == 0)
		code = find_preload(request);
	if (code == 0)
		code = make_dir(request);
	if (code == 0) {
		code = run_program(request, args->positional);
		if (request->json_fd >= 0)
			close(request->json_fd);
	}
	tdm_buf_done(&request->preloaded);
	return code;
}

static int cmd_run_run(struct tdm_args *args)
{
	struct request *request = calloc(1, sizeof *request); /* stacks may be small */
	if (request == NULL)
		return tdm_cmd_error(args->cmd, "out of memory");
	request->cmd = args->cmd;
	int code = run_request(request, args);
	free(request);
	return code;
}

static const struct tdm_opt run_opts[] = {
	{ "keep", 'k', NULL, "keep the ledgers of processes that did not free all buffers, for 'tidemark dump'",
		TDM_TAKE_FLAG(struct request, keep) },
	{ "json", 'j', "FILE", "also write the summary to FILE, as JSON; '-' is standard output",
		TDM_TAKE_TEXT(struct request, json_path) },
	{ "stacks", 's', "FRAMES", "record call stacks of at most this many frames, and print them",
		TDM_TAKE_NUMBER(struct request, depth, 0, DEPTH_MAX) },
	{ "no-preload", 0, NULL,
		"do not preload " TDM_PRELOAD_NAME ": only programs that report by themselves are seen",
		TDM_TAKE_FLAG(struct request, no_preload) },
	{ TDM_OPT_DIR(struct request, dir) },
	{ 0 },
};

static const struct tdm_example run_examples[] = {
	{ "tidemark run -- python3 model.py", "run it, then show peaks and what was never freed" },
	{ "tidemark run --stacks 8 -- ./model", "also show which calls allocated it" },
	{ "tidemark run --json memory.json -- ./model", "also write the summary for programs" },
	{ NULL, NULL },
};

static const struct tdm_help_row run_exits[] = {
	{ "2", "wrong usage, no such --dir, or the --json file could not be created: the program was not run" },
	{ "126", "the program could not be executed" },
	{ "127", "it was not found" },
	{ "128+N", "it was killed by signal N" },
	{ "other", "the exit code of the program" },
	{ NULL, NULL },
};

const struct tdm_cmd tdm_cmd_run = {
	.name = "run",
	.summary = "run a program with tracking on and summarise its device memory at the end",
	.usage = "[--keep] [--json FILE] [--stacks FRAMES] [--no-preload] [--dir DIR] -- CMD [ARGUMENT]...",
	.description =
		"Sets TIDEMARK=1 for the program and runs it as a shell would: it passes on signals and exits with the "
		"program's exit code (128 plus the signal number if the program was killed, 127 if it was not found, "
		"126 if it could not be executed).\n"
		"\n"
		"The program gets " TDM_PRELOAD_NAME
		" in front of its LD_PRELOAD. That library reports what an unmodified "
		"tt-metal allocates, from the moment on at which the program, or a Python package in it, loads "
		"tt-metal; in "
		"other programs it does nothing. It is looked for beside the command; " TDM_PRELOAD_VARIABLE
		" names another file. Statically linked programs, set-user-id programs and programs of 32 bits cannot "
		"be "
		"preloaded. 'tidemark doctor --metal' says what will be seen, 'tidemark env' sets the same variables "
		"for a "
		"shell.\n"
		"\n"
		"After the program has ended, a summary on standard error shows for each of its processes, and for "
		"every device and kind of memory, how much was reserved at the peak and at the end; which buffers were "
		"never freed, by the site that allocated them; double frees, unknown frees, buffers reported again "
		"while live, out-of-memory reports and lost events; what replayed traces may have overwritten; "
		"programs "
		"that tt-metal refused, because their circular buffers did not fit; buffers that were live when their "
		"device was closed; whether tt-metal's own figures agree; and the sizes that a device has to be opened "
		"with. While the program runs, 'tidemark dump' and 'tidemark top' show it.",
	.opts = run_opts,
	.examples = run_examples,
	.exits = run_exits,
	.run = cmd_run_run,
};
