#include "cli/docs.h"
#include "cli/help.h"
#include "tidemark_version.h"

#include <ctype.h>

static const struct {
	char from;
	const char *to;
} escapes[] = {
	{ '\\', "\\(rs" },
	{ '-', "\\-" },
	{ '\'', "\\(aq" },
	{ '"', "\\(dq" },
	{ '`', "\\(ga" },
	{ '^', "\\(ha" },
	{ '~', "\\(ti" },
};

static const char *escape_of(char c)
{
	for (size_t i = 0; i < sizeof escapes / sizeof escapes[0]; i++)
		if (escapes[i].from == c)
			return escapes[i].to;
	return NULL;
}

/* The code point of the UTF-8 sequence at `text`; *len gets its length in bytes. Our own texts are well formed. */
static unsigned code_point(struct tdm_str text, size_t *len)
{
	unsigned char lead = (unsigned char)text.ptr[0];
	size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
	unsigned value = lead & (0xffu >> (bytes + 1));
	for (*len = 1; *len < bytes && *len < text.len; ++*len)
		value = value << 6 | ((unsigned char)text.ptr[*len] & 0x3f);
	return value;
}

void tdm_docs_escape(struct tdm_buf *out, struct tdm_str text, bool line_start)
{
	if (line_start && text.len != 0 && text.ptr[0] == '.')
		tdm_buf_puts(out, "\\&");
	for (size_t i = 0, len = 1; i < text.len; i += len, len = 1) {
		const char *escape = escape_of(text.ptr[i]);
		if ((unsigned char)text.ptr[i] >= 0x80)
			tdm_buf_printf(
				out, "\\[u%04X]", code_point((struct tdm_str){ text.ptr + i, text.len - i }, &len));
		else if (escape != NULL)
			tdm_buf_puts(out, escape);
		else
			tdm_buf_putc(out, text.ptr[i]);
	}
}

static void put_text(struct tdm_buf *out, const char *text, bool line_start)
{
	tdm_docs_escape(out, tdm_str_of(text), line_start);
}

/* A sentence ends after a full stop that is followed by a space and a possible start of a sentence. */
static size_t sentence_length(struct tdm_str text)
{
	for (size_t i = 0; i + 2 < text.len; i++)
		if (text.ptr[i] == '.' && (text.ptr[i + 1] == ' ' || text.ptr[i + 1] == '\n') &&
			(isupper((unsigned char)text.ptr[i + 2]) || strchr("'-", text.ptr[i + 2]) != NULL))
			return i + 1;
	return text.len;
}

static size_t line_length(struct tdm_str text)
{
	const char *newline = memchr(text.ptr, '\n', text.len);
	return newline != NULL ? (size_t)(newline - text.ptr) : text.len;
}

/* Writes each line, or each sentence, on an input line of its own: roff then spaces sentences correctly. */
static void put_lines(struct tdm_buf *out, struct tdm_str text, size_t (*length)(struct tdm_str text))
{
	while (text.len != 0) {
		size_t len = length(text), rest = len < text.len ? len + 1 : len;
		tdm_docs_escape(out, (struct tdm_str){ text.ptr, len }, true);
		tdm_buf_putc(out, '\n');
		text = (struct tdm_str){ text.ptr + rest, text.len - rest };
	}
}

static void put_description(struct tdm_buf *out, const char *description)
{
	bool is_first = true;
	for (struct tdm_paragraph p; tdm_help_paragraph(&description, &p); is_first = false) {
		if (!is_first)
			tdm_buf_puts(out, ".PP\n");
		tdm_buf_puts(out, p.verbatim ? ".nf\n" : "");
		put_lines(out, p.text, p.verbatim ? line_length : sentence_length);
		tdm_buf_puts(out, p.verbatim ? ".fi\n" : "");
	}
}

/* Writes a text of the table as a sentence on its own line: capital letter, full stop. */
static void put_sentence(struct tdm_buf *out, const char *text)
{
	char first = (char)toupper((unsigned char)text[0]);
	if (first == '\0')
		return;
	tdm_docs_escape(out, (struct tdm_str){ &first, 1 }, true);
	put_text(out, text + 1, false);
	tdm_buf_puts(out, strchr(".?!", text[strlen(text) - 1]) != NULL ? "\n" : ".\n");
}

static bool is_word_char(char c)
{
	return isalnum((unsigned char)c) || c == '-' || c == '_';
}

/* Placeholders are in capitals; words to type literally are not. */
static bool is_placeholder(struct tdm_str word)
{
	bool has_letter = false;
	for (size_t i = 0; i < word.len; i++) {
		if (islower((unsigned char)word.ptr[i]) || word.ptr[i] == '-')
			return false;
		has_letter |= isupper((unsigned char)word.ptr[i]) != 0;
	}
	return has_letter;
}

/* Writes a usage text: words to type in bold, placeholders in italics, brackets and dots unchanged. */
static void put_usage(struct tdm_buf *out, struct tdm_str text)
{
	for (size_t i = 0; i < text.len;) {
		size_t end = i;
		while (end < text.len && is_word_char(text.ptr[end]))
			end++;
		struct tdm_str word = { text.ptr + i, end > i ? end - i : 1 };
		if (end == i) {
			tdm_docs_escape(out, word, false);
		} else {
			tdm_buf_puts(out, is_placeholder(word) ? "\\fI" : "\\fB");
			tdm_docs_escape(out, word, false);
			tdm_buf_puts(out, "\\fR");
		}
		i += word.len;
	}
}

static void put_head(struct tdm_buf *out, const char *name, const char *summary, const char *date)
{
	tdm_buf_puts(out, ".\\\" Generated from the table of commands; do not edit.\n.TH \"");
	for (const char *c = name; *c != '\0'; c++) {
		char upper = (char)toupper((unsigned char)*c);
		tdm_docs_escape(out, (struct tdm_str){ &upper, 1 }, false);
	}
	tdm_buf_printf(out, "\" \"1\" \"%s\" \"tidemark %s\" \"User Commands\"\n", date, TDM_VERSION_STRING);
	tdm_buf_puts(out, ".nh\n.ad l\n.SH NAME\n");
	put_text(out, name, true);
	tdm_buf_puts(out, " \\- ");
	put_text(out, summary, false);
	tdm_buf_putc(out, '\n');
}

static void put_rows(struct tdm_buf *out, const struct tdm_help_row *rows)
{
	for (; rows->term != NULL; rows++) {
		tdm_buf_puts(out, ".TP\n");
		put_usage(out, tdm_str_of(rows->term));
		tdm_buf_putc(out, '\n');
		put_sentence(out, rows->text);
	}
}

static void put_option(struct tdm_buf *out, const struct tdm_opt *opt)
{
	struct tdm_buf term;
	tdm_buf_init(&term);
	tdm_help_option(&term, opt);
	tdm_buf_puts(out, ".TP\n");
	put_usage(out, tdm_str_trim(tdm_buf_str(&term)));
	tdm_buf_putc(out, '\n');
	put_sentence(out, opt->help);
	out->failed |= tdm_buf_failed(&term);
	tdm_buf_done(&term);
}

static void put_synopsis(struct tdm_buf *out, const struct tdm_cmd *cmd)
{
	tdm_buf_puts(out, ".SH SYNOPSIS\n");
	for (const char *form = cmd->usage;; form++) {
		size_t len = strcspn(form, "\n");
		tdm_buf_printf(out, "\\fB%s", tdm_cmd_lead(cmd));
		put_text(out, cmd->name, false);
		tdm_buf_puts(out, "\\fR ");
		put_usage(out, (struct tdm_str){ form, len });
		tdm_buf_putc(out, '\n');
		form += len;
		if (*form == '\0')
			return;
		tdm_buf_puts(out, ".br\n");
	}
}

static void put_example(struct tdm_buf *out, const struct tdm_example *example)
{
	tdm_buf_puts(out, ".TP\n\\fB");
	put_text(out, example->command, false);
	tdm_buf_puts(out, "\\fR\n");
	put_sentence(out, example->what);
}

static void put_page_name(struct tdm_buf *out, const struct tdm_cmd *cmd, bool more)
{
	tdm_buf_puts(out, ".BR tidemark\\-");
	put_text(out, cmd->name, false);
	tdm_buf_puts(out, more ? " (1),\n" : " (1)\n");
}

/* Lists the other pages, without `self`. tidemark(1) comes first unless it is this page (NULL), `program` last. */
static void put_see_also(struct tdm_buf *out, const struct tdm_cmd *self, const struct tdm_cmd *program)
{
	bool has_program = program != NULL && program != self;
	size_t last = 0;
	for (size_t i = 0; tdm_cmds[i] != NULL; i++)
		if (tdm_cmds[i] != self)
			last = i + 1;
	tdm_buf_puts(out, ".SH \"SEE ALSO\"\n");
	if (self != NULL)
		tdm_buf_puts(out, last != 0 || has_program ? ".BR tidemark (1),\n" : ".BR tidemark (1)\n");
	for (size_t i = 0; tdm_cmds[i] != NULL; i++)
		if (tdm_cmds[i] != self)
			put_page_name(out, tdm_cmds[i], i + 1 != last || has_program);
	if (has_program)
		tdm_buf_printf(out, ".BR %s (1)\n", program->name);
}

static void put_commands(struct tdm_buf *out)
{
	tdm_buf_puts(out, ".SH COMMANDS\n");
	for (size_t i = 0; tdm_cmds[i] != NULL; i++) {
		tdm_buf_puts(out, ".TP\n");
		put_page_name(out, tdm_cmds[i], false);
		put_sentence(out, tdm_cmds[i]->summary);
	}
}

void tdm_docs_man(struct tdm_buf *out, const struct tdm_cmd *program, const char *date)
{
	put_head(out, "tidemark", "memory observability for Tenstorrent accelerators", date);
	tdm_buf_puts(out, ".SH SYNOPSIS\n");
	put_usage(out, tdm_str_of("tidemark COMMAND [ARGUMENT]..."));
	tdm_buf_puts(out, "\n.br\n");
	put_usage(out, tdm_str_of("tidemark help [COMMAND]"));
	tdm_buf_puts(out, "\n.SH DESCRIPTION\n");
	put_description(out, tdm_help_about);
	put_commands(out);
	tdm_buf_puts(out, ".SH OPTIONS\n");
	put_rows(out, tdm_help_options);
	tdm_buf_puts(out, ".SH \"EXIT STATUS\"\n");
	put_rows(out, tdm_help_exits);
	tdm_buf_puts(out, ".SH ENVIRONMENT\n");
	put_rows(out, tdm_help_environment);
	tdm_buf_puts(out, ".SH EXAMPLES\n");
	for (size_t i = 0; tdm_cmds[i] != NULL; i++)
		if (tdm_cmds[i]->examples != NULL && tdm_cmds[i]->examples->command != NULL)
			put_example(out, &tdm_cmds[i]->examples[0]);
	put_see_also(out, NULL, program);
}

void tdm_docs_man_command(
	struct tdm_buf *out, const struct tdm_cmd *cmd, const struct tdm_cmd *program, const char *date)
{
	struct tdm_buf name;
	tdm_buf_init(&name);
	tdm_buf_printf(&name, "%s%s", cmd->is_program ? "" : "tidemark-", cmd->name);
	put_head(out, tdm_buf_str(&name).ptr, cmd->summary, date);
	out->failed |= tdm_buf_failed(&name);
	tdm_buf_done(&name);
	put_synopsis(out, cmd);
	tdm_buf_puts(out, ".SH DESCRIPTION\n");
	put_description(out, cmd->description);
	tdm_buf_puts(out, ".SH OPTIONS\n");
	for (const struct tdm_opt *opt = NULL; (opt = tdm_opt_next(cmd, opt)) != NULL;)
		put_option(out, opt);
	tdm_buf_puts(out, ".SH \"EXIT STATUS\"\n");
	put_rows(out, cmd->exits != NULL ? cmd->exits : tdm_help_command_exits);
	tdm_buf_puts(out, ".SH EXAMPLES\n");
	for (const struct tdm_example *example = cmd->examples; example != NULL && example->command != NULL; example++)
		put_example(out, example);
	put_see_also(out, cmd, program);
}
