/*
 * The code shared by all commands and programs: messages, output, and the end of main().
 */
#include "cli/options/cmd.h"
#include "base/diag.h"
#include "base/err.h"
#include "base/file.h"
#include "base/memory.h"
#include "tidemark_version.h"
#include "view/write/write.h"

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
	char *text = tdm_vprinted(format, ap);
	for (size_t i = 0, len; text[i] != '\0'; i += len != 0 ? len : 1) {
		len = tdm_str_printable(text + i, TDM_UTF8_MAX);
		if (len == 0 && text[i] != '\n')
			text[i] = '?';
	}
	fflush(stdout); /* keeps the order if both streams go to the same place */
	if (cmd != NULL)
		fprintf(stderr, "%s%s: ", tdm_cmd_lead(cmd), cmd->name);
	fprintf(stderr, "%s\n", text);
	free(text);
}

void tdm_cmd_say(const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	print_message(NULL, format, ap);
	va_end(ap);
}

void tdm_cmd_say_diag(void *hearer, const struct tdm_diag *diag)
{
	char text[TDM_DIAG_TEXT_CAP * 2];
	(void)hearer;
	tdm_cmd_say("%s", tdm_diag_format(diag, text, sizeof text));
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
	int err = out->outlet_err != 0  ? out->outlet_err
		  : fflush(stdout) == 0 ? tdm_file_write_all(STDOUT_FILENO, tdm_buf_str(out).ptr, out->len)
					: 0;
	if (err != 0 && err != -EPIPE) /* it is not our error if the reader has gone */
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

void tdm_answer_close(struct tdm_answer *answer)
{
	if (answer->json.depth != 0)
		tdm_json_object_end(&answer->json);
}

int tdm_answer_end(struct tdm_answer *answer, int code)
{
	tdm_answer_close(answer);
	code = tdm_cmd_print(answer->cmd, &answer->out, code);
	tdm_buf_done(&answer->out);
	return code;
}

void tdm_answer_put(struct tdm_answer *answer, const struct tdm_result *result, bool json, const struct tdm_term *term)
{
	struct tdm_term folding = *term;
	folding.folds = isatty(STDOUT_FILENO); /* in a pipe, lines are not folded */
	if (json)
		tdm_write_json(&result->top, &answer->json);
	else
		tdm_write_text(&result->top, &folding, &answer->out);
}

int tdm_cmd_show(
	const struct tdm_cmd *cmd, const struct tdm_result *result, bool json, const struct tdm_term *term, int code)
{
	struct tdm_answer answer;
	tdm_answer_begin(&answer, cmd, json);
	answer.out.outlet = tdm_cmd_write;
	tdm_answer_put(&answer, result, json, term);
	return tdm_answer_end(&answer, code);
}

int tdm_program_print_help(const struct tdm_cmd *cmd)
{
	struct tdm_buf text = { 0 };
	tdm_help_command(&text, cmd, tdm_term_width(STDOUT_FILENO));
	fwrite(tdm_buf_str(&text).ptr, 1, text.len, stdout);
	tdm_buf_done(&text);
	return TDM_EXIT_OK;
}

int tdm_program_run(const struct tdm_cmd *cmd, int argc, char **argv)
{
	struct tdm_args args = { .cmd = cmd, .argc = argc, .argv = argv };
	return tdm_args_asks_help(&args) ? tdm_program_print_help(cmd) : cmd->run(&args);
}

bool tdm_program_is_version(const char *word)
{
	return strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0;
}

int tdm_program_print_version(const char *name)
{
	printf("%s %s\n", name, TDM_VERSION_STRING);
	return TDM_EXIT_OK;
}

/* It is not our error if the reader has gone, but any other loss of output is. */
int tdm_program_finish(int code)
{
	errno = 0;
	if ((fflush(stdout) == 0 && ferror(stdout) == 0) || errno == EPIPE)
		return code;
	/* errno does not show whether a pipe or socket is closed: the failed write may be long past. */
	struct pollfd out = { .fd = STDOUT_FILENO, .events = POLLOUT };
	if (poll(&out, 1, 0) == 1 && (out.revents & (POLLERR | POLLHUP)) != 0)
		return code;
	fprintf(stderr, "tidemark: cannot write to standard output%s%s\n", errno != 0 ? ": " : "",
		errno != 0 ? strerror(errno) : "");
	return TDM_EXIT_USAGE;
}

/*
 * Opens /dev/null for each standard stream that our parent closed, so that no other file gets the stream's number and
 * then our output. /dev/null is opened in the wrong direction, so using the stream still fails. Programs that we start
 * do not inherit it.
 */
void tdm_program_begin(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
			(void)!open("/dev/null", (fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
	setlocale(LC_CTYPE, "");
}

int tdm_program_main(const struct tdm_cmd *cmd, int argc, char **argv)
{
	tdm_program_begin();
	bool asks_version = argc == 2 && tdm_program_is_version(argv[1]);
	return tdm_program_finish(
		asks_version ? tdm_program_print_version(cmd->name) : tdm_program_run(cmd, argc, argv));
}
