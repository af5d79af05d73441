/*
 * `tidemark env`: the variables with which programs are tracked, in the words of a shell, a unit, a container or a job.
 *
 * Whatever the values are, the shell must read back exactly them: each form has its own way of quoting, and refuses
 * what it cannot write.
 */
#include "base/err.h"
#include "cli/cmd_list.h"
#include "cli/options.h"
#include "cli/preload_path.h"
#include "ledger/ledger_dir.h"
#include "sources/elf_objects.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The forms, as --format counts them; a shell is one of the first. */
enum form { SH, CSH, FISH, SYSTEMD, DOCKER, SLURM, JOB, MODULE, FORMS };
#define FORM_WORDS "sh|csh|fish|systemd|docker|slurm|job|module"
#define SHELLS     "sh|bash|zsh|dash|ksh|csh|tcsh|fish"

enum { DEPTH_MAX = 64, VARIABLES_MAX = 5 };

struct request {
	const struct tdm_cmd *cmd;
	unsigned shell, form; /* from 1; 0: not given */
	const char *dir, *mode;
	uint64_t depth; /* of call stacks */
	bool off, json, no_preload;
	char depth_text[24], full_dir[PATH_MAX];
	struct tdm_preload preload;
	struct tdm_buf joined; /* LD_PRELOAD */
};

/* A variable; without a value it is to be unset. */
struct variable {
	const char *name, *value;
};

struct variables {
	struct variable list[VARIABLES_MAX];
	size_t count;
};

static void add(struct variables *to, const char *name, const char *value)
{
	to->list[to->count++] = (struct variable){ name, value };
}

static bool is_plain(const char *text)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:-+,@=";
	/* zsh replaces a word that begins with an equals sign. */
	return text[0] != '\0' && text[0] != '=' && text[strspn(text, plain)] == '\0';
}

/* Writes a text between quotes, with `replacement` instead of each character of `special`; a NULL one means a backslash
 * before it. */
static void put_quoted(struct tdm_buf *out, const char *text, char quote, const char *special, const char *replacement)
{
	tdm_buf_putc(out, quote);
	for (; *text != '\0'; text++) {
		bool is_special = strchr(special, *text) != NULL;
		if (is_special && replacement != NULL) {
			tdm_buf_puts(out, replacement);
			continue;
		}
		if (is_special)
			tdm_buf_putc(out, '\\');
		tdm_buf_putc(out, *text);
	}
	tdm_buf_putc(out, quote);
}

static void put_sh(struct tdm_buf *out, const char *text)
{
	if (is_plain(text))
		tdm_buf_puts(out, text);
	else
		put_quoted(out, text, '\'', "'", "'\\''");
}

/* csh looks for events within quotes, too. */
static void put_csh(struct tdm_buf *out, const char *text)
{
	if (is_plain(text)) {
		tdm_buf_puts(out, text);
		return;
	}
	tdm_buf_putc(out, '\'');
	for (; *text != '\0'; text++) {
		if (*text == '\'')
			tdm_buf_puts(out, "'\\'");
		else if (*text == '!')
			tdm_buf_putc(out, '\\');
		tdm_buf_putc(out, *text);
	}
	tdm_buf_putc(out, '\'');
}

static void put_fish(struct tdm_buf *out, const char *text)
{
	if (is_plain(text))
		tdm_buf_puts(out, text);
	else
		put_quoted(out, text, '\'', "'\\", NULL);
}

/* "NAME=value", in which systemd replaces what follows a percent sign. */
static void put_systemd(struct tdm_buf *out, const char *text)
{
	struct tdm_buf doubled;
	tdm_buf_init(&doubled);
	for (; *text != '\0'; text++) {
		if (*text == '%')
			tdm_buf_putc(&doubled, '%');
		tdm_buf_putc(&doubled, *text);
	}
	put_quoted(out, doubled.data != NULL ? doubled.data : "", '"', "\"\\", NULL);
	out->failed |= doubled.failed;
	tdm_buf_done(&doubled);
}

static void put_shell(struct tdm_buf *out, enum form form, const struct variable *v)
{
	static const char *const set[] = { [SH] = "export %s=", [CSH] = "setenv %s ", [FISH] = "set -gx %s " };
	static const char *const unset[] = { [SH] = "unset %s", [CSH] = "unsetenv %s", [FISH] = "set -e %s" };
	static void (*const put[])(struct tdm_buf * out, const char *text) = { put_sh, put_csh, put_fish };
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	tdm_buf_printf(out, v->value != NULL ? set[form] : unset[form], v->name);
#pragma GCC diagnostic pop
	if (v->value != NULL)
		put[form](out, v->value);
	tdm_buf_puts(out, ";\n");
}

/* A job may start with the variables of the shell that submitted it, so it looks before it adds the preload. */
static void put_job(struct tdm_buf *out, const struct variable *v)
{
	if (strcmp(v->name, "LD_PRELOAD") != 0) {
		put_shell(out, SH, v);
		return;
	}
	tdm_buf_puts(out, "case \"${LD_PRELOAD-}\" in\n*" TDM_PRELOAD_NAME "*) ;;\n*) export LD_PRELOAD=");
	put_sh(out, v->value);
	tdm_buf_puts(out, "\"${LD_PRELOAD:+:$LD_PRELOAD}\" ;;\nesac\n");
}

static void put_module(struct tdm_buf *out, const struct variable *v)
{
	tdm_buf_printf(out, "%s %s ", strcmp(v->name, "LD_PRELOAD") == 0 ? "prepend-path" : "setenv", v->name);
	put_quoted(out, v->value, '"', "\"\\$[]", NULL);
	tdm_buf_putc(out, '\n');
}

static void put_docker_option(struct tdm_buf *out, const char *option, const char *value)
{
	tdm_buf_printf(out, "%s%s ", out->len != 0 ? " " : "", option);
	put_sh(out, value);
}

/* The preload, and the library that it needs: at the same places inside. Ledgers outside of the container. */
static int put_mounts(struct request *request, struct tdm_buf *out, struct tdm_json *json)
{
	struct tdm_objects objects = { 0 };
	char mount[2 * PATH_MAX + 8];
	const char *dir = request->dir != NULL ? request->full_dir : TDM_LEDGER_DEFAULT_DIR;
	bool has_preload = !request->no_preload && request->preload.reason[0] == '\0';
	int err = has_preload ? tdm_objects_add(&objects, request->preload.path, NULL, request->preload.path) : 0;
	if (err == 0 && has_preload)
		err = tdm_objects_follow(&objects, 0, getenv("LD_LIBRARY_PATH"), TDM_LOADER_CACHE);
	for (size_t i = 0; err == 0 && i < objects.count; i++) {
		const struct tdm_object *object = &objects.list[i];
		if (i != 0 && !tdm_has_prefix(object->name, "libtidemark"))
			continue; /* the C library is the container's own */
		snprintf(mount, sizeof mount, "%s:%s:ro", object->path, object->path);
		if (json != NULL)
			tdm_json_text(json, mount);
		else
			put_docker_option(out, "--volume", mount);
	}
	snprintf(mount, sizeof mount, "%s:%s", dir, dir);
	if (json != NULL)
		tdm_json_text(json, mount);
	else
		put_docker_option(out, "--volume", mount);
	tdm_objects_done(&objects);
	return err;
}

static int put_docker(struct request *request, const struct variables *all, struct tdm_buf *out)
{
	char text[PATH_MAX + 64];
	for (size_t i = 0; i < all->count; i++) {
		snprintf(text, sizeof text, "%s=%s", all->list[i].name, all->list[i].value);
		put_docker_option(out, "--env", text);
	}
	int err = put_mounts(request, out, NULL);
	tdm_buf_putc(out, '\n');
	return err;
}

/* --export=ALL,NAME=value,...: values with a comma cannot be written. */
static int put_slurm(const struct request *request, const struct variables *all, struct tdm_buf *out)
{
	struct tdm_buf word;
	tdm_buf_init(&word);
	tdm_buf_puts(&word, "--export=ALL");
	for (size_t i = 0; i < all->count; i++) {
		if (strchr(all->list[i].value, ',') != NULL) {
			tdm_buf_done(&word);
			return tdm_cmd_error(request->cmd,
				"%s has a comma, which separates variables for Slurm: use --format job in the script",
				all->list[i].name);
		}
		tdm_buf_printf(&word, ",%s=%s", all->list[i].name, all->list[i].value);
	}
	put_sh(out, tdm_buf_str(&word).ptr);
	tdm_buf_putc(out, '\n');
	out->failed |= word.failed;
	tdm_buf_done(&word);
	return 0;
}

static int put_text(struct request *request, enum form form, const struct variables *all, struct tdm_buf *out)
{
	if (form == DOCKER || form == SLURM)
		return form == SLURM ? put_slurm(request, all, out) : put_docker(request, all, out);
	for (size_t i = 0; i < all->count; i++) {
		const struct variable *v = &all->list[i];
		char text[PATH_MAX + 64];
		if (form == JOB)
			put_job(out, v);
		else if (form == MODULE)
			put_module(out, v);
		else if (form == SYSTEMD) {
			snprintf(text, sizeof text, "%s=%s", v->name, v->value);
			tdm_buf_puts(out, "Environment=");
			put_systemd(out, text);
			tdm_buf_putc(out, '\n');
		} else
			put_shell(out, form, v);
	}
	return 0;
}

static int put_json(struct request *request, const struct variables *all, struct tdm_json *json)
{
	bool has_preload = !request->no_preload && !request->off;
	tdm_json_object(json);
	tdm_json_put_array(json, "variables");
	for (size_t i = 0; i < all->count; i++) {
		tdm_json_object(json);
		tdm_json_put_text(json, "name", all->list[i].name);
		tdm_json_put_text(json, "value", all->list[i].value);
		tdm_json_object_end(json);
	}
	tdm_json_array_end(json);
	tdm_json_put_name(json, "preload", has_preload ? request->preload.path : "");
	tdm_json_put_name(json, "preload_problem", has_preload ? request->preload.reason : "");
	tdm_json_put_array(json, "mounts");
	int err = request->off ? 0 : put_mounts(request, json->out, json);
	tdm_json_array_end(json);
	tdm_json_object_end(json);
	return err;
}

/* Of a shell the whole of LD_PRELOAD; elsewhere the environment of this shell has no say. */
static void add_preload(struct request *request, enum form form, struct variables *to)
{
	bool in_shell = form <= FISH;
	const char *old = getenv("LD_PRELOAD");
	if (!request->off)
		tdm_preload_find(&request->preload);
	if (!request->off && request->preload.reason[0] != '\0') {
		tdm_cmd_error(request->cmd,
			"%s %s: programs that use tt-metal will not be seen buffer by buffer; " TDM_PRELOAD_REMEDY
			", or use --no-preload if that is what you want",
			request->preload.path[0] != '\0' ? request->preload.path : TDM_PRELOAD_NAME,
			request->preload.reason);
		return;
	}
	tdm_preload_join(in_shell ? old : NULL, request->off ? NULL : request->preload.path, &request->joined);
	if (request->joined.len != 0)
		add(to, "LD_PRELOAD", request->joined.data);
	else if (old != NULL)
		add(to, "LD_PRELOAD", NULL);
}

static void fill(struct request *request, enum form form, struct variables *to)
{
	bool on = !request->off;
	add(to, "TIDEMARK", on ? "1" : NULL);
	if (request->depth != TDM_BYTES_UNKNOWN) {
		snprintf(request->depth_text, sizeof request->depth_text, "%" PRIu64, request->depth);
		add(to, "TIDEMARK_STACKS", on ? request->depth_text : NULL);
	}
	if (request->dir != NULL)
		add(to, "TIDEMARK_DIR", on ? request->full_dir : NULL);
	if (request->mode != NULL)
		add(to, "TIDEMARK_MODE", on ? request->mode : NULL);
	if (!request->no_preload)
		add_preload(request, form, to);
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
	/* Programs have other working directories. A directory that is not there yet is made absolute, too. */
	if (request->dir != NULL && realpath(request->dir, request->full_dir) == NULL) {
		char *here = realpath(".", NULL);
		int len = snprintf(request->full_dir, sizeof request->full_dir, "%s%s%s",
			request->dir[0] == '/' || here == NULL ? "" : here,
			request->dir[0] == '/' || here == NULL ? "" : "/", request->dir);
		free(here);
		if (len >= (int)sizeof request->full_dir)
			return tdm_cmd_usage_error(request->cmd, "--dir: %s", tdm_err_text(-ENAMETOOLONG));
	}
	/* What csh evaluates comes as words, one of each line. */
	const char *bad = *form == DOCKER ? "\n:" : *form == CSH || (*form > FISH && *form != JOB) ? "\n" : "";
	if (request->full_dir[strcspn(request->full_dir, bad)] != '\0')
		return tdm_cmd_usage_error(
			request->cmd, "--dir '%s': this format cannot write such a name", request->dir);
	return 0;
}

static int cmd_env_run(struct tdm_args *args)
{
	struct request request = { .cmd = args->cmd, .depth = TDM_BYTES_UNKNOWN };
	struct variables all = { 0 };
	struct tdm_answer answer;
	enum form form = SH;
	int code = tdm_args_read(args, &request);
	if (code == 0)
		code = check(&request, &form);
	if (code != 0)
		return code;
	fill(&request, form, &all);
	tdm_answer_begin(&answer, args->cmd, request.json);
	code = request.json ? put_json(&request, &all, &answer.json) : put_text(&request, form, &all, &answer.out);
	answer.out.failed |= request.joined.failed || code == -ENOMEM;
	code = tdm_answer_end(&answer, code);
	tdm_buf_done(&request.joined);
	return code;
}

static const struct tdm_opt env_opts[] = {
	{ "shell", 's', SHELLS, "the shell that reads the lines (default: sh, which is right for bash and zsh)",
		TDM_TAKE_CHOICE(struct request, shell) },
	{ "format", 'f', FORM_WORDS,
		"instead of a shell: lines of a systemd unit, options of docker or podman run, the option of sbatch "
		"and "
		"srun, lines of a job script, lines of a module file",
		TDM_TAKE_CHOICE(struct request, form) },
	{ "stacks", 0, "FRAMES", "also record call stacks of at most this many frames",
		TDM_TAKE_NUMBER(struct request, depth, 0, DEPTH_MAX) },
	{ "dir", 0, "DIR", "also set the directory of the ledgers", TDM_TAKE_TEXT(struct request, dir) },
	{ "mode", 0, "MODE", "also let others read the ledgers: 0640, 0604 or 0644",
		TDM_TAKE_TEXT(struct request, mode) },
	{ "no-preload", 0, NULL, "leave LD_PRELOAD alone: only programs that report by themselves are tracked",
		TDM_TAKE_FLAG(struct request, no_preload) },
	{ "off", 0, NULL,
		"turn it off again: unset the variables that the same options set, and take only the preload out of "
		"LD_PRELOAD",
		TDM_TAKE_FLAG(struct request, off) },
	{ TDM_OPT_JSON(struct request, json) },
	{ 0 },
};

static const struct tdm_example env_examples[] = {
	{ "eval \"$(tidemark env)\"",
		"track every program that this shell starts from now on; in a .envrc of direnv, too" },
	{ "eval \"$(tidemark env --off)\"", "no more" },
	{ "tidemark env --shell fish | source", "the same in fish" },
	{ "eval \"`tidemark env --shell csh`\"", "the same in csh and tcsh, where the quotes are needed, too" },
	{ "docker run $(tidemark env --format docker) IMAGE", "track what runs in a container" },
	{ "sbatch $(tidemark env --format slurm) job.sh", "track a job of Slurm" },
	{ NULL, NULL },
};

const struct tdm_cmd tdm_cmd_env = {
	.name = "env",
	.summary = "print the variables that turn tracking on in a shell, unit, container or job",
	.usage = "[--shell SHELL | --format FORMAT] [--stacks FRAMES] [--dir DIR] [--mode MODE] [--no-preload] [--off] "
		 "[--json]",
	.description =
		"Prints TIDEMARK=1 and LD_PRELOAD with " TDM_PRELOAD_NAME
		" in front of what is there, so that programs are "
		"tracked without 'tidemark run': services, notebooks, jobs. Watch them with 'tidemark top', and with "
		"'dump' "
		"and 'leaks'. A program that never loads tt-metal is not changed by the preload.\n"
		"\n"
		"The lines are quoted for the shell that is to read them. Evaluate them as they come: they contain the "
		"LD_PRELOAD of now. Lines for a job script or a module file can be kept in a file: they add to the "
		"LD_PRELOAD "
		"of later. For conda, put the line with eval into etc/conda/activate.d, and the one with --off into "
		"etc/conda/deactivate.d.\n"
		"\n"
		"The options for docker, and that for Slurm, are one line, to be put into a command as in the "
		"examples. If a "
		"name has blanks or other characters that a shell looks for, let eval read the command: eval \"docker "
		"run "
		"$(tidemark env --format docker) IMAGE\".\n"
		"\n"
		"A container needs the two libraries, at the same place as outside, and the directory of the ledgers, "
		"which the "
		"options for docker mount. On the nodes of a cluster the libraries must be at the same place as here.",
	.opts = env_opts,
	.only_options = true,
	.examples = env_examples,
	.run = cmd_env_run,
};
