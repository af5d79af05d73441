/*
 * `tidemark env`: prints the variables that make programs tracked, in the syntax of a shell, a unit, a container or a
 * job.
 *
 * The shell must read back exactly the values written, whatever they contain. Each form has its own quoting, and
 * refuses values that it cannot express.
 */
#include "base/err.h"
#include "base/memory.h"
#include "cli/commands/cmd_list.h"
#include "cli/options/options.h"
#include "cli/commands/preload_path.h"
#include "ledger/layout/ledger_file.h"
#include "input/elf/elf_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The output forms, in the order of --format; shells come first. */
enum form { SH, CSH, FISH, SYSTEMD, DOCKER, SLURM, JOB, MODULE, FORMS };
#define FORM_WORDS "sh|csh|fish|systemd|docker|slurm|job|module"
#define SHELLS     "sh|bash|zsh|dash|ksh|csh|tcsh|fish"

enum { DEPTH_MAX = 64, VARIABLES_MAX = 5 };

struct request {
	const struct tdm_cmd *cmd;
	unsigned shell, form; /* position of the option's word, counted from 1; 0 if not given */
	const char *dir, *mode;
	uint64_t depth; /* depth of call stacks */
	bool off, json, no_preload;
	char depth_text[24], full_dir[PATH_MAX];
	struct tdm_preload preload;
	struct tdm_buf joined; /* the value of LD_PRELOAD */
	/* The variables; those without a value are to be unset. */
	const char *names[VARIABLES_MAX], *values[VARIABLES_MAX];
	size_t count;
};

static void add(struct request *request, const char *name, const char *value)
{
	request->names[request->count] = name;
	request->values[request->count++] = value;
}

/* How special characters are escaped between quotes. systemd expands percent signs, and csh expands history events even
 * within quotes. */
static const struct {
	char quote;
	const char *special, *before, *others, *before_others;
} quotings[FORMS] = {
	[SH] = { '\'', "'", "'\\'", "", "" },
	[CSH] = { '\'', "'", "'\\'", "!", "\\" },
	[FISH] = { '\'', "'\\", "\\", "", "" },
	[SYSTEMD] = { '"', "\"\\", "\\", "%", "%" },
	[MODULE] = { '"', "\"\\$[]", "\\", "", "" },
};

/* Writes a string as one word of the form. */
static void put_word(struct tdm_buf *out, enum form form, const char *text)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:-+,@=";
	/* zsh expands words that begin with an equals sign. */
	bool is_plain = text[0] != '\0' && text[0] != '=' && text[strspn(text, plain)] == '\0';
	if (form <= FISH && is_plain) {
		tdm_buf_puts(out, text);
		return;
	}
	tdm_buf_putc(out, quotings[form].quote);
	for (; *text != '\0'; text++) {
		if (strchr(quotings[form].special, *text) != NULL)
			tdm_buf_puts(out, quotings[form].before);
		else if (strchr(quotings[form].others, *text) != NULL)
			tdm_buf_puts(out, quotings[form].before_others);
		tdm_buf_putc(out, *text);
	}
	tdm_buf_putc(out, quotings[form].quote);
}

static void put_shell(struct tdm_buf *out, enum form form, const char *name, const char *value)
{
	static const char *const set[] = { [SH] = "export %s=", [CSH] = "setenv %s ", [FISH] = "set -gx %s " };
	static const char *const unset[] = { [SH] = "unset %s", [CSH] = "unsetenv %s", [FISH] = "set -e %s" };
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	tdm_buf_printf(out, value != NULL ? set[form] : unset[form], name);
#pragma GCC diagnostic pop
	if (value != NULL)
		put_word(out, form, value);
	tdm_buf_puts(out, ";\n");
}

static void put_docker_option(struct tdm_buf *out, const char *option, const char *value)
{
	tdm_buf_printf(out, "%s%s ", out->len != 0 ? " " : "", option);
	put_word(out, SH, value);
}

/* Mounts the preload and its library at their host paths. Ledgers stay outside the container. */
static void put_mounts(struct request *request, struct tdm_buf *out, struct tdm_json *json)
{
	struct tdm_objects objects = { 0 };
	const char *dir = request->dir != NULL ? request->full_dir : TDM_LEDGER_DEFAULT_DIR;
	if (!request->no_preload && request->preload.reason[0] == '\0') {
		tdm_objects_add(&objects, request->preload.path, NULL, request->preload.path);
		tdm_objects_follow(&objects, 0, getenv("LD_LIBRARY_PATH"), TDM_LOADER_CACHE);
	}
	for (size_t i = 0; i <= objects.count; i++) {
		bool is_object = i < objects.count;
		const char *path = is_object ? objects.list[i].path : dir;
		if (is_object && i != 0 && !tdm_has_prefix(objects.list[i].name, "libtidemark"))
			continue; /* the container has its own C library */
		char *mount = tdm_printed("%s:%s%s", path, path, is_object ? ":ro" : "");
		if (json != NULL)
			tdm_json_text(json, mount);
		else
			put_docker_option(out, "--volume", mount);
		free(mount);
	}
	tdm_objects_done(&objects);
}

/* Writes --export=ALL,NAME=value,...; values containing a comma cannot be expressed. */
static int put_slurm(const struct request *request, struct tdm_buf *out)
{
	struct tdm_buf word = { 0 };
	int code = 0;
	tdm_buf_puts(&word, "--export=ALL");
	for (size_t i = 0; i < request->count && code == 0; i++) {
		if (strchr(request->values[i], ',') != NULL)
			code = tdm_cmd_error(request->cmd,
				"%s has a comma, which separates variables for Slurm: use --format job in the script",
				request->names[i]);
		tdm_buf_printf(&word, ",%s=%s", request->names[i], request->values[i]);
	}
	if (code == 0) {
		put_word(out, SH, word.data);
		tdm_buf_putc(out, '\n');
	}
	tdm_buf_done(&word);
	return code;
}

static void put_variable(struct tdm_buf *out, enum form form, const char *name, const char *value)
{
	bool is_preload = strcmp(name, "LD_PRELOAD") == 0;
	if (form == JOB && is_preload) {
		/* A job may inherit the submitting shell's variables, so the script checks for the preload first. */
		tdm_buf_puts(out, "case \"${LD_PRELOAD-}\" in\n*" TDM_PRELOAD_NAME "*) ;;\n*) export LD_PRELOAD=");
		put_word(out, SH, value);
		tdm_buf_puts(out, "\"${LD_PRELOAD:+:$LD_PRELOAD}\" ;;\nesac\n");
	} else if (form == MODULE) {
		tdm_buf_printf(out, "%s %s ", is_preload ? "prepend-path" : "setenv", name);
		put_word(out, MODULE, value);
		tdm_buf_putc(out, '\n');
	} else if (form == SYSTEMD || form == DOCKER) {
		char *text = tdm_printed("%s=%s", name, value);
		if (form == DOCKER) {
			put_docker_option(out, "--env", text);
		} else {
			tdm_buf_puts(out, "Environment=");
			put_word(out, SYSTEMD, text);
			tdm_buf_putc(out, '\n');
		}
		free(text);
	} else {
		put_shell(out, form == JOB ? SH : form, name, value);
	}
}

static int put_text(struct request *request, enum form form, struct tdm_buf *out)
{
	if (form == SLURM)
		return put_slurm(request, out);
	for (size_t i = 0; i < request->count; i++)
		put_variable(out, form, request->names[i], request->values[i]);
	if (form == DOCKER) {
		put_mounts(request, out, NULL);
		tdm_buf_putc(out, '\n');
	}
	return 0;
}

static void put_json(struct request *request, struct tdm_json *json)
{
	bool has_preload = !request->no_preload && !request->off;
	tdm_json_object(json);
	tdm_json_put_array(json, "variables");
	for (size_t i = 0; i < request->count; i++) {
		tdm_json_object(json);
		tdm_json_put_text(json, "name", request->names[i]);
		tdm_json_put_text(json, "value", request->values[i]);
		tdm_json_object_end(json);
	}
	tdm_json_array_end(json);
	tdm_json_put_name(json, "preload", has_preload ? request->preload.path : "");
	tdm_json_put_name(json, "preload_problem", has_preload ? request->preload.reason : "");
	tdm_json_put_array(json, "mounts");
	if (!request->off)
		put_mounts(request, json->out, json);
	tdm_json_array_end(json);
	tdm_json_object_end(json);
}

static void fill(struct request *request, enum form form)
{
	bool on = !request->off;
	add(request, "TIDEMARK", on ? "1" : NULL);
	if (request->depth != TDM_BYTES_UNKNOWN) {
		snprintf(request->depth_text, sizeof request->depth_text, "%" PRIu64, request->depth);
		add(request, "TIDEMARK_STACKS", on ? request->depth_text : NULL);
	}
	if (request->dir != NULL)
		add(request, "TIDEMARK_DIR", on ? request->full_dir : NULL);
	if (request->mode != NULL)
		add(request, "TIDEMARK_MODE", on ? request->mode : NULL);
	if (request->no_preload || (on && !tdm_preload_find(&request->preload, request->cmd)))
		return;
	/* A shell gets the complete LD_PRELOAD; other forms ignore this shell's environment. */
	const char *old = getenv("LD_PRELOAD");
	tdm_preload_join(form <= FISH ? old : NULL, on ? request->preload.path : NULL, &request->joined);
	if (request->joined.len != 0)
		add(request, "LD_PRELOAD", request->joined.data);
	else if (old != NULL)
		add(request, "LD_PRELOAD", NULL);
}

static int check(struct request *request, enum form *form)
{
	static const uint8_t shells[] = { SH, SH, SH, SH, SH, CSH, CSH, FISH };
	uint32_t mode;
	if (request->shell != 0 && request->form != 0)
		return tdm_cmd_usage_error(request->cmd, "--shell and --format exclude each other");
	*form = request->form != 0    ? (enum form)(request->form - 1)
		: request->shell != 0 ? (enum form)shells[request->shell - 1]
				      : SH;
	if (request->off && *form > FISH)
		return tdm_cmd_usage_error(request->cmd, "--off is for shells: elsewhere, leave the variables out");
	if (tdm_ledger_parse_mode(request->mode, &mode) != 0)
		return tdm_cmd_usage_error(
			request->cmd, "--mode '%s': expected 0600, 0640, 0604 or 0644", request->mode);
	/*
	 * Programs may run in other working directories, so the path is made absolute, even if the directory does not
	 * exist yet.
	 */
	if (request->dir != NULL && realpath(request->dir, request->full_dir) == NULL) {
		char *here = realpath(".", NULL);
		int len = snprintf(request->full_dir, sizeof request->full_dir, "%s%s%s",
			request->dir[0] == '/' || here == NULL ? "" : here,
			request->dir[0] == '/' || here == NULL ? "" : "/", request->dir);
		free(here);
		if (len >= (int)sizeof request->full_dir)
			return tdm_cmd_usage_error(request->cmd, "--dir: %s", tdm_err_text(-ENAMETOOLONG));
	}
	/* csh's eval treats each line of the output as one word. */
	const char *bad = *form == DOCKER ? "\n:" : *form == CSH || (*form > FISH && *form != JOB) ? "\n" : "";
	if (request->full_dir[strcspn(request->full_dir, bad)] != '\0')
		return tdm_cmd_usage_error(
			request->cmd, "--dir '%s': this format cannot write such a name", request->dir);
	return 0;
}

static int cmd_env_run(struct tdm_args *args)
{
	struct request request = { .cmd = args->cmd, .depth = TDM_BYTES_UNKNOWN };
	struct tdm_answer answer;
	enum form form = SH;
	int code = tdm_args_read(args, &request);
	if (code == 0)
		code = check(&request, &form);
	if (code != 0)
		return code;
	fill(&request, form);
	tdm_answer_begin(&answer, args->cmd, request.json);
	if (request.json)
		put_json(&request, &answer.json);
	else
		code = put_text(&request, form, &answer.out);
	code = tdm_answer_end(&answer, code);
	tdm_buf_done(&request.joined);
	return code;
}

static const struct tdm_opt env_opts[] = {
	{ "shell", 's', SHELLS, "the shell that reads the lines (default: sh, which is right for bash and zsh)",
		TDM_TAKE_CHOICE(struct request, shell) },
	{ "format", 'f', FORM_WORDS,
		"instead of a shell: lines of a systemd unit, options of docker or podman run, the option of sbatch "
		"and srun, lines of a job script, lines of a module file",
		TDM_TAKE_CHOICE(struct request, form) },
	{ "stacks", 0, "FRAMES", "also record call stacks, up to this many frames",
		TDM_TAKE_NUMBER(struct request, depth, 0, DEPTH_MAX) },
	{ "dir", 0, "DIR", "also set the directory of the ledgers", TDM_TAKE_TEXT(struct request, dir) },
	{ "mode", 0, "MODE", "also let others read the ledgers: 0640, 0604 or 0644",
		TDM_TAKE_TEXT(struct request, mode) },
	{ "no-preload", 0, NULL,
		"leave LD_PRELOAD unchanged: only programs that use libtidemark themselves are tracked",
		TDM_TAKE_FLAG(struct request, no_preload) },
	{ "off", 0, NULL,
		"turn tracking off again: unset the variables that the same options set, and remove only the "
		"preload from LD_PRELOAD",
		TDM_TAKE_FLAG(struct request, off) },
	{ TDM_OPT_JSON(struct request, json) },
	{ 0 },
};

static const struct tdm_help_row env_examples[] = {
	{ "eval \"$(tidemark env)\"",
		"track every program that this shell starts from now on; also for an .envrc of direnv" },
	{ "eval \"$(tidemark env --off)\"", "stop tracking programs that this shell starts" },
	{ "tidemark env --shell fish | source", "the same in fish" },
	{ "eval \"`tidemark env --shell csh`\"", "the same in csh and tcsh, with these quotes" },
	{ "docker run $(tidemark env --format docker) IMAGE", "track a program in a container" },
	{ "sbatch $(tidemark env --format slurm) job.sh", "track a Slurm job" },
	{ NULL, NULL },
};

const struct tdm_cmd tdm_cmd_env = {
	.name = "env",
	.summary = "print the variables that turn tracking on in a shell, unit, container or job",
	.usage = "[--shell SHELL | --format FORMAT] [--stacks FRAMES] [--dir DIR] [--mode MODE] [--no-preload] [--off] "
		 "[--json]",
	.description = "Prints TIDEMARK=1 and LD_PRELOAD with " TDM_PRELOAD_NAME
		       " in front of its current value, so that services, notebooks and jobs are tracked without "
		       "'tidemark run'. Watch these programs with 'tidemark top', 'dump' and 'leaks'. The preload "
		       "does not affect programs that never load tt-metal.\n\nThe lines are quoted for the selected "
		       "shell. Evaluate them immediately, because they contain the current LD_PRELOAD. You can store "
		       "lines for a job script or a module file: when they run, they add to the LD_PRELOAD of that "
		       "moment. For conda, put the eval line into etc/conda/activate.d, and the same line with --off "
		       "into etc/conda/deactivate.d.\n\nThe options for docker and for Slurm are printed on one "
		       "line, to be used in a command as in the examples. If a name has blanks or other characters "
		       "special to the shell, run the command through eval: eval \"docker run $(tidemark env "
		       "--format docker) IMAGE\".\n\nA container needs the two libraries at their host paths, and "
		       "the ledger directory; the options for docker mount all three. On the nodes of a cluster the "
		       "libraries must be at the same place as here.",
	.opts = env_opts,
	.only_options = true,
	.examples = env_examples,
	.run = cmd_env_run,
};
