/*
 * The command line before a command takes over: tidemark NAME ARGUMENTS. Messages from here begin with "tidemark: ",
 * those of a command with "tidemark NAME: ".
 */
#include "cli/cmd.h"
#include "base/err.h"
#include "base/file.h"
#include "base/suggest.h"
#include "cli/help.h"
#include "tidemark_version.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void print_message(const struct tdm_cmd *cmd, const char *format, va_list ap)
	__attribute__((format(printf, 2, 0)));

/* `cmd` may be NULL. A message may have several lines. */
static void print_message(const struct tdm_cmd *cmd, const char *format, va_list ap)
{
	char *text;
	if (vasprintf(&text, format, ap) < 0)
		text = NULL;
	for (size_t i = 0, len; text != NULL && text[i] != '\0'; i += len != 0 ? len : 1) {
		len = tdm_str_printable(text + i, TDM_UTF8_MAX);
		if (len == 0 && text[i] != '\n')
			text[i] = '?';
	}
	fflush(stdout); /* keeps the order if both go to the same place */
	if (cmd != NULL)
		fprintf(stderr, "%s%s: ", tdm_cmd_lead(cmd), cmd->name);
	fprintf(stderr, "%s\n", text != NULL ? text : tdm_err_text(-ENOMEM));
	free(text);
}

void tdm_cmd_say(const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	print_message(NULL, format, ap);
	va_end(ap);
}

int tdm_cmd_error(const struct tdm_cmd *cmd, const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	print_message(cmd, format, ap);
	va_end(ap);
	return TDM_EXIT_USAGE;
}

int tdm_cmd_usage_error(const struct tdm_cmd *cmd, const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	print_message(cmd, format, ap);
	va_end(ap);
	const char *lead = tdm_cmd_lead(cmd);
	fprintf(stderr, "%s%s: see '%s%s --help'\n", lead, cmd->name, lead, cmd->name);
	return TDM_EXIT_USAGE;
}

/* finish() checks for write errors, once for the whole output. */
int tdm_cmd_write(const char *data, size_t len)
{
	return fflush(stdout) == 0 ? tdm_file_write_all(STDOUT_FILENO, data, len) : -errno;
}

int tdm_cmd_print(const struct tdm_cmd *cmd, const struct tdm_buf *out, int code)
{
	if (tdm_buf_failed(out))
		return tdm_cmd_error(cmd, "out of memory");
	int err = out->outlet_err != 0  ? out->outlet_err
		  : fflush(stdout) == 0 ? tdm_file_write_all(STDOUT_FILENO, tdm_buf_str(out).ptr, out->len)
					: 0;
	if (err != 0 && err != -EPIPE) /* a reader that has left is not our error */
		return tdm_cmd_error(cmd, "cannot write to standard output: %s", tdm_err_text(err));
	return code;
}

struct tdm_term tdm_cmd_term(bool ascii, bool no_colour)
{
	struct tdm_term term = tdm_term_detect(STDOUT_FILENO);
	term.utf8 &= !ascii;
	term.colour &= !no_colour;
	return term;
}

void tdm_answer_begin(struct tdm_answer *answer, const struct tdm_cmd *cmd, bool json)
{
	char schema[64];
	answer->cmd = cmd;
	tdm_buf_init(&answer->out);
	tdm_json_init(&answer->json, &answer->out);
	if (!json)
		return;
	snprintf(schema, sizeof schema, "tidemark.%s", cmd->name);
	tdm_json_envelope(&answer->json, schema);
	tdm_json_key(&answer->json, cmd->name);
}

int tdm_answer_end(struct tdm_answer *answer, int code)
{
	if (answer->json.depth != 0)
		tdm_json_object_end(&answer->json);
	code = tdm_cmd_print(answer->cmd, &answer->out, code);
	tdm_buf_done(&answer->out);
	return code;
}

const struct tdm_cmd *tdm_cmd_find(const char *name)
{
	for (size_t i = 0; tdm_cmds[i] != NULL; i++)
		if (strcmp(tdm_cmds[i]->name, name) == 0 ||
			(tdm_cmds[i]->alias != NULL && strcmp(tdm_cmds[i]->alias, name) == 0))
			return tdm_cmds[i];
	return NULL;
}

static int unknown_command(const char *name)
{
	const char *what = name[0] == '-' ? "option" : "command";
	struct tdm_suggest suggest;
	tdm_suggest_init(&suggest, tdm_str_of(name));
	for (size_t i = 0; tdm_cmds[i] != NULL; i++) {
		tdm_suggest_offer(&suggest, tdm_cmds[i]->name);
		tdm_suggest_offer(&suggest, tdm_cmds[i]->alias);
	}
	tdm_suggest_offer(&suggest, "help");
	tdm_suggest_offer(&suggest, "--help");
	tdm_suggest_offer(&suggest, "--version");
	if (suggest.best != NULL)
		tdm_cmd_say("tidemark: unknown %s '%s'; did you mean '%s'?", what, name, suggest.best);
	else
		tdm_cmd_say("tidemark: unknown %s '%s'; 'tidemark --help' lists the commands", what, name);
	return TDM_EXIT_USAGE;
}

/* Prints the help of a command, or of all (NULL), to standard output. */
static int print_help(const struct tdm_cmd *cmd)
{
	struct tdm_buf text;
	size_t width = tdm_term_width(STDOUT_FILENO);
	tdm_buf_init(&text);
	if (cmd != NULL)
		tdm_help_command(&text, cmd, width);
	else
		tdm_help_general(&text, width);
	fwrite(tdm_buf_str(&text).ptr, 1, text.len, stdout);
	int code = tdm_buf_failed(&text) ? TDM_EXIT_USAGE : TDM_EXIT_OK;
	tdm_buf_done(&text);
	return code;
}

static int print_short_help(void)
{
	struct tdm_buf text;
	tdm_buf_init(&text);
	tdm_help_short(&text, tdm_term_width(STDERR_FILENO));
	fwrite(tdm_buf_str(&text).ptr, 1, text.len, stderr);
	tdm_buf_done(&text);
	return TDM_EXIT_USAGE;
}

/* `tidemark help [COMMAND]`. Further words have no help of their own and are ignored. */
static int run_help(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : NULL;
	if (name == NULL || strcmp(name, "help") == 0 || strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
		return print_help(NULL);
	const struct tdm_cmd *cmd = tdm_cmd_find(name);
	return cmd != NULL ? print_help(cmd) : unknown_command(name);
}

static int run_command(const struct tdm_cmd *cmd, int argc, char **argv)
{
	struct tdm_args args = { .cmd = cmd, .argc = argc, .argv = argv };
	return tdm_args_asks_help(&args) ? print_help(cmd) : cmd->run(&args);
}

static bool is_version(const char *word)
{
	return strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0;
}

static int print_version(const char *name)
{
	printf("%s %s\n", name, TDM_VERSION_STRING);
	return TDM_EXIT_OK;
}

static int dispatch(int argc, char **argv)
{
	const char *word = argv[0];
	if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
		return print_help(NULL);
	if (is_version(word))
		return print_version("tidemark");
	const struct tdm_cmd *cmd = tdm_cmd_find(word);
	if (cmd != NULL)
		return run_command(cmd, argc, argv);
	return strcmp(word, "help") == 0 ? run_help(argc, argv) : unknown_command(word);
}

/* Whether the other end of a pipe or socket is closed. errno cannot tell: the failed write may be long past. */
static bool has_reader_left(void)
{
	struct pollfd out = { .fd = STDOUT_FILENO, .events = POLLOUT };
	return poll(&out, 1, 0) == 1 && (out.revents & (POLLERR | POLLHUP)) != 0;
}

/* A reader that has left is not our error; any other lost output is. */
static int finish(int code)
{
	errno = 0;
	if ((fflush(stdout) == 0 && ferror(stdout) == 0) || errno == EPIPE || has_reader_left())
		return code;
	fprintf(stderr, "tidemark: cannot write to standard output%s%s\n", errno != 0 ? ": " : "",
		errno != 0 ? strerror(errno) : "");
	return TDM_EXIT_USAGE;
}

/*
 * Opens /dev/null for each standard stream that our parent closed, so that no other file gets its number and then our
 * output. It is opened in the wrong direction, so that using it still fails; programs that we start do not inherit it.
 */
static void fill_closed_streams(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
			(void)!open("/dev/null", (fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
}

int tdm_cli_main(int argc, char **argv)
{
	fill_closed_streams();
	setlocale(LC_CTYPE, "");
	int code = argc > 1 ? dispatch(argc - 1, argv + 1) : print_short_help();
	return finish(code);
}

int tdm_program_main(const struct tdm_cmd *cmd, int argc, char **argv)
{
	fill_closed_streams();
	setlocale(LC_CTYPE, "");
	return finish(argc == 2 && is_version(argv[1]) ? print_version(cmd->name) : run_command(cmd, argc, argv));
}
