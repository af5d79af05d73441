/* The help of commands, generated from the command table; docs.c generates the man pages from the same strings. */
#include "base/memory.h"
#include "cli/options/docs.h"

#include <ctype.h>
#include <stdlib.h>

enum {
	INDENT = 2,
	GAP = 2,        /* blanks between a term and its text */
	TERM_MAX = 28,  /* the text of a longer term begins on the next line */
	READABLE = 100, /* maximum text width, however wide the terminal is */
	EXAMPLE_INDENT = 6,
};

static size_t fold_width(size_t width)
{
	return width < READABLE ? width : READABLE;
}

/* Writes a term, then its text folded in the next column. */
static void put_row(struct tdm_buf *out, struct tdm_str term, const char *text, size_t column, size_t width)
{
	size_t used = INDENT + tdm_wrap_columns(term);
	tdm_buf_fill(out, ' ', INDENT);
	tdm_buf_add(out, term.ptr, term.len);
	if (used + GAP > column) {
		tdm_buf_putc(out, '\n');
		used = 0;
	}
	tdm_buf_fill(out, ' ', column - used);
	tdm_wrap(out, tdm_str_of(text), (struct tdm_wrap){ column, column, width });
}

static size_t wider(size_t column, size_t term_columns)
{
	size_t needed = INDENT + (term_columns > TERM_MAX ? TERM_MAX : term_columns) + GAP;
	return needed > column ? needed : column;
}

static void put_rows(struct tdm_buf *out, const char *title, const struct tdm_help_row *rows, size_t width)
{
	size_t column = 0;
	for (const struct tdm_help_row *row = rows; row->term != NULL; row++)
		column = wider(column, tdm_wrap_columns(tdm_str_of(row->term)));
	tdm_buf_printf(out, "\n%s:\n", title);
	for (const struct tdm_help_row *row = rows; row->term != NULL; row++)
		put_row(out, tdm_str_of(row->term), row->text, column, width);
}

static void put_commands(struct tdm_buf *out, const struct tdm_cmd *const *cmds, size_t width)
{
	size_t column = 0;
	for (size_t i = 0; cmds[i] != NULL; i++)
		column = wider(column, strlen(cmds[i]->name));
	tdm_buf_puts(out, "\nCommands:\n");
	for (size_t i = 0; cmds[i] != NULL; i++)
		put_row(out, tdm_str_of(cmds[i]->name), cmds[i]->summary, column, width);
}

struct tdm_str tdm_help_paragraph(const char **description)
{
	const char *begin = *description;
	while (begin != NULL && *begin == '\n')
		begin++;
	if (begin == NULL)
		return (struct tdm_str){ "", 0 };
	const char *end = strstr(begin, "\n\n");
	if (end == NULL)
		end = begin + strlen(begin);
	*description = end;
	while (end != begin && end[-1] == '\n')
		end--;
	return (struct tdm_str){ begin, (size_t)(end - begin) };
}

void tdm_help_option(struct tdm_buf *out, const struct tdm_opt *opt)
{
	if (opt->letter != '\0')
		tdm_buf_printf(out, "-%c, ", opt->letter);
	else
		tdm_buf_fill(out, ' ', 4);
	tdm_buf_printf(out, "--%s", opt->name);
	if (opt->arg != NULL)
		tdm_buf_printf(out, "=%s", opt->arg);
}

static void put_options(struct tdm_buf *out, const struct tdm_cmd *cmd, size_t width)
{
	size_t column = 0;
	for (const struct tdm_opt *opt = NULL; (opt = tdm_opt_next(cmd, opt)) != NULL;)
		column = wider(column, 6 + strlen(opt->name) + (opt->arg != NULL ? 1 + strlen(opt->arg) : 0));
	tdm_buf_puts(out, "\nOptions:\n");
	for (const struct tdm_opt *opt = NULL; (opt = tdm_opt_next(cmd, opt)) != NULL;) {
		struct tdm_buf term = { 0 };
		tdm_help_option(&term, opt);
		put_row(out, tdm_buf_str(&term), opt->help, column, width);
		tdm_buf_done(&term);
	}
}

/* Folds a usage string between words, but not inside brackets, where spaces are hidden from the folding. */
static void put_form(struct tdm_buf *out, struct tdm_str form, struct tdm_wrap wrap)
{
	enum { HIDDEN_BLANK = '\1' };
	struct tdm_buf hidden = { 0 };
	size_t begin = out->len;
	int depth = 0;
	for (size_t i = 0; i < form.len; i++) {
		depth += (form.ptr[i] == '[') - (form.ptr[i] == ']');
		tdm_buf_putc(&hidden, form.ptr[i] == ' ' && depth > 0 ? HIDDEN_BLANK : form.ptr[i]);
	}
	tdm_wrap(out, tdm_buf_str(&hidden), wrap);
	for (size_t i = begin; i < out->len; i++)
		if (out->data[i] == HIDDEN_BLANK)
			out->data[i] = ' ';
	tdm_buf_done(&hidden);
}

static void put_usage(struct tdm_buf *out, const struct tdm_cmd *cmd, size_t width)
{
	const char *lead = "Usage: ";
	size_t column = strlen(lead) + strlen(tdm_cmd_lead(cmd)) + strlen(cmd->name) + 1;
	for (const char *form = cmd->usage;; form++) {
		size_t len = strcspn(form, "\n");
		tdm_buf_printf(out, "%s%s%s ", lead, tdm_cmd_lead(cmd), cmd->name);
		put_form(out, (struct tdm_str){ form, len }, (struct tdm_wrap){ column, column, width });
		form += len;
		if (*form == '\0')
			return;
		lead = "       ";
	}
}

void tdm_help_short(struct tdm_buf *out, const struct tdm_cmd *const *cmds, size_t width)
{
	tdm_buf_puts(out, "Usage: tidemark COMMAND [ARGUMENT]...\n");
	put_commands(out, cmds, fold_width(width));
	tdm_buf_puts(out, "\n'tidemark --help' says more; 'tidemark COMMAND --help' explains a command.\n");
}

void tdm_help_general(struct tdm_buf *out, const struct tdm_cmd *const *cmds, size_t width)
{
	size_t fold = fold_width(width);
	tdm_buf_puts(out, "Usage: tidemark COMMAND [ARGUMENT]...\n"
			  "       tidemark help [COMMAND]\n\n");
	tdm_wrap(out, tdm_str_of(tdm_help_tagline), (struct tdm_wrap){ 0, 0, fold });
	put_commands(out, cmds, fold);
	put_rows(out, "Options", tdm_help_options, fold);
	put_rows(out, "Exit codes", tdm_help_exits, fold);
	put_rows(out, "Environment", tdm_help_environment, fold);
	tdm_buf_puts(out, "\n'tidemark COMMAND --help' explains a command.\n");
}

void tdm_help_command(struct tdm_buf *out, const struct tdm_cmd *cmd, size_t width)
{
	size_t fold = fold_width(width);
	put_usage(out, cmd, fold);
	char *summary = tdm_printed("%c%s.", toupper((unsigned char)cmd->summary[0]), cmd->summary + 1);
	tdm_buf_putc(out, '\n');
	tdm_wrap(out, tdm_str_of(summary), (struct tdm_wrap){ 0, 0, fold });
	free(summary);
	if (cmd->alias != NULL)
		tdm_buf_printf(out, "Also called 'tidemark %s'.\n", cmd->alias);
	const char *description = cmd->description;
	for (struct tdm_str text; (text = tdm_help_paragraph(&description)).len != 0;) {
		tdm_buf_putc(out, '\n');
		if (text.ptr[0] == ' ')
			tdm_buf_printf(out, "%.*s\n", TDM_STR_ARG(text));
		else
			tdm_wrap(out, text, (struct tdm_wrap){ 0, 0, fold });
	}
	put_options(out, cmd, fold);
	const struct tdm_help_row *example = cmd->examples;
	tdm_buf_puts(out, example != NULL && example->term != NULL ? "\nExamples:\n" : "");
	for (; example != NULL && example->term != NULL; example++) {
		tdm_buf_printf(out, "%*s%s\n%*s", INDENT, "", example->term, EXAMPLE_INDENT, "");
		tdm_wrap(out, tdm_str_of(example->text), (struct tdm_wrap){ EXAMPLE_INDENT, EXAMPLE_INDENT, fold });
	}
}

const char tdm_help_tagline[] = "Shows where every byte of a Tenstorrent accelerator's memory is, who holds it, and "
				"whether the next model will fit.";

const char tdm_help_about[] =
	"Tidemark shows where every byte of a Tenstorrent accelerator's memory is, who holds it, why it peaked, and "
	"whether the next model will fit. Its model of the cards follows the tt-metal runtime address for address.\n\n"
	"Sizes are powers of 1024: 64K, 64KiB and 64KB are the same. Every command that lists something has --json, "
	"with sizes in bytes.";

const struct tdm_help_row tdm_help_options[] = {
	{ "-h, --help", "show this help" },
	{ "-V, --version", "show the version" },
	{ NULL, NULL },
};

const struct tdm_help_row tdm_help_exits[] = {
	{ "0", "success; 'does not fit' is an answer, not a failure" },
	{ "1", "a finding that the command was asked to fail on; 'doctor' has a warning" },
	{ "2", "wrong usage, unreadable input, or output that could not be written; 'doctor' found something broken" },
	{ "any", "'run' exits with the code of its program" },
	{ NULL, NULL },
};

const struct tdm_help_row tdm_help_command_exits[] = {
	{ "0", "success; 'does not fit' is an answer, not a failure" },
	{ "1", "a finding that the command was asked to fail on" },
	{ "2", "wrong usage, unreadable input, or output that could not be written" },
	{ NULL, NULL },
};

const struct tdm_help_row tdm_help_environment[] = {
	{ "TIDEMARK", "set to 1 to turn on tracking in programs that use libtidemark, as 'tidemark run' does" },
	{ "TIDEMARK_DIR", "directory for the ledgers of tracked programs, instead of /dev/shm" },
	{ "NO_COLOR", "no colour if set to anything; colours are used on a terminal only" },
	{ "COLUMNS", "width at which text is folded, instead of the terminal's" },
	{ NULL, NULL },
};
