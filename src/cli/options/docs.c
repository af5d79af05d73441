/*
 * Man pages in roff, generated from the command table: tidemark(1) and a page for each command. Characters that roff or
 * its font tables would misread are escaped: backslashes, quotes, hyphens, accents, a dot at the start of a line, and
 * everything outside ASCII.
 *
 * `tidemark-docgen man OUTDIR` writes the pages, `tidemark-docgen bash FRAME` prints the completion script. The date in
 * the pages is SOURCE_DATE_EPOCH if set, for reproducible builds, else today.
 */
#include "cli/options/docs.h"
#include "base/err.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/number.h"
#include "model/card/card.h"
#include "tidemark_version.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

static const char escaped[] = "\\-'\"`^~";
static const char *const escapes[] = { "\\(rs", "\\-", "\\(aq", "\\(dq", "\\(ga", "\\(ha", "\\(ti" };

void tdm_docs_escape(struct tdm_buf *out, struct tdm_str text, bool line_start)
{
	if (line_start && text.len != 0 && text.ptr[0] == '.')
		tdm_buf_puts(out, "\\&");
	for (size_t i = 0, len = 1; i < text.len; i += len, len = 1) {
		unsigned char lead = (unsigned char)text.ptr[i];
		const char *found = memchr(escaped, text.ptr[i], sizeof escaped - 1);
		if (lead >= 0x80) { /* our own strings are well-formed UTF-8 */
			size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
			unsigned value = lead & (0xffu >> (bytes + 1));
			for (; len < bytes && i + len < text.len; len++)
				value = value << 6 | ((unsigned char)text.ptr[i + len] & 0x3f);
			tdm_buf_printf(out, "\\[u%04X]", value);
		} else if (found != NULL) {
			tdm_buf_puts(out, escapes[found - escaped]);
		} else {
			tdm_buf_putc(out, text.ptr[i]);
		}
	}
}

static void put_text(struct tdm_buf *out, const char *text, bool line_start)
{
	tdm_docs_escape(out, tdm_str_of(text), line_start);
}

/* The length of the first sentence, which ends at a full stop followed by a space and a possible start of the next
 * sentence. */
static size_t sentence_length(struct tdm_str text)
{
	for (size_t i = 0; i + 2 < text.len; i++)
		if (text.ptr[i] == '.' && (text.ptr[i + 1] == ' ' || text.ptr[i + 1] == '\n') &&
			(isupper((unsigned char)text.ptr[i + 2]) || strchr("'-", text.ptr[i + 2]) != NULL))
			return i + 1;
	return text.len;
}

/* Each line or sentence gets its own input line, so that roff spaces sentences correctly. */
static void put_description(struct tdm_buf *out, const char *description)
{
	const char *gap = "";
	for (struct tdm_str text; (text = tdm_help_paragraph(&description)).len != 0; gap = ".PP\n") {
		bool is_verbatim = text.ptr[0] == ' ';
		tdm_buf_puts(out, gap);
		tdm_buf_puts(out, is_verbatim ? ".nf\n" : "");
		while (text.len != 0) {
			size_t len = is_verbatim ? strcspn(text.ptr, "\n") : sentence_length(text);
			len = tdm_min(len, text.len);
			tdm_docs_escape(out, (struct tdm_str){ text.ptr, len }, true);
			tdm_buf_putc(out, '\n');
			text = tdm_after(text, tdm_min(len + 1, text.len));
		}
		tdm_buf_puts(out, is_verbatim ? ".fi\n" : "");
	}
}

/* Writes a string from the table as a sentence on its own line: capital letter, full stop. */
static void put_sentence(struct tdm_buf *out, const char *text)
{
	char first = (char)toupper((unsigned char)text[0]);
	if (first == '\0')
		return;
	tdm_docs_escape(out, (struct tdm_str){ &first, 1 }, true);
	put_text(out, text + 1, false);
	tdm_buf_puts(out, strchr(".?!", text[strlen(text) - 1]) != NULL ? "\n" : ".\n");
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

/* Writes a usage string: literal words in bold, placeholders in italics, brackets and dots unchanged. */
static void put_usage(struct tdm_buf *out, struct tdm_str text)
{
	for (size_t i = 0; i < text.len;) {
		size_t end = i;
		while (end < text.len && (isalnum((unsigned char)text.ptr[end]) || strchr("-_", text.ptr[end]) != NULL))
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

static void put_example(struct tdm_buf *out, const struct tdm_help_row *example)
{
	tdm_buf_puts(out, ".TP\n\\fB");
	put_text(out, example->term, false);
	tdm_buf_puts(out, "\\fR\n");
	put_sentence(out, example->text);
}

static void put_page_name(struct tdm_buf *out, const struct tdm_cmd *cmd, bool more)
{
	tdm_buf_puts(out, ".BR tidemark\\-");
	put_text(out, cmd->name, false);
	tdm_buf_puts(out, more ? " (1),\n" : " (1)\n");
}

/* Lists the other pages, without `self`. tidemark(1) comes first unless it is this page (`self` is NULL); `program`
 * comes last. */
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

void tdm_docs_man(struct tdm_buf *out, const struct tdm_cmd *program, const char *date)
{
	put_head(out, "tidemark", "memory observability for Tenstorrent accelerators", date);
	tdm_buf_puts(out, ".SH SYNOPSIS\n");
	put_usage(out, tdm_str_of("tidemark COMMAND [ARGUMENT]..."));
	tdm_buf_puts(out, "\n.br\n");
	put_usage(out, tdm_str_of("tidemark help [COMMAND]"));
	tdm_buf_puts(out, "\n.SH DESCRIPTION\n");
	put_description(out, tdm_help_about);
	tdm_buf_puts(out, ".SH COMMANDS\n");
	for (size_t i = 0; tdm_cmds[i] != NULL; i++) {
		tdm_buf_puts(out, ".TP\n");
		put_page_name(out, tdm_cmds[i], false);
		put_sentence(out, tdm_cmds[i]->summary);
	}
	tdm_buf_puts(out, ".SH OPTIONS\n");
	put_rows(out, tdm_help_options);
	tdm_buf_puts(out, ".SH \"EXIT STATUS\"\n");
	put_rows(out, tdm_help_exits);
	tdm_buf_puts(out, ".SH ENVIRONMENT\n");
	put_rows(out, tdm_help_environment);
	tdm_buf_puts(out, ".SH EXAMPLES\n");
	for (size_t i = 0; tdm_cmds[i] != NULL; i++)
		if (tdm_cmds[i]->examples != NULL && tdm_cmds[i]->examples->term != NULL)
			put_example(out, &tdm_cmds[i]->examples[0]);
	put_see_also(out, NULL, program);
}

void tdm_docs_man_command(
	struct tdm_buf *out, const struct tdm_cmd *cmd, const struct tdm_cmd *program, const char *date)
{
	char *name = tdm_printed("%s%s", cmd->is_program ? "" : "tidemark-", cmd->name);
	put_head(out, name, cmd->summary, date);
	free(name);
	put_synopsis(out, cmd);
	tdm_buf_puts(out, ".SH DESCRIPTION\n");
	put_description(out, cmd->description);
	tdm_buf_puts(out, ".SH OPTIONS\n");
	for (const struct tdm_opt *opt = NULL; (opt = tdm_opt_next(cmd, opt)) != NULL;) {
		struct tdm_buf term = { 0 };
		tdm_help_option(&term, opt);
		tdm_buf_puts(out, ".TP\n");
		put_usage(out, tdm_str_trim(tdm_buf_str(&term)));
		tdm_buf_putc(out, '\n');
		put_sentence(out, opt->help);
		tdm_buf_done(&term);
	}
	tdm_buf_puts(out, ".SH \"EXIT STATUS\"\n");
	put_rows(out, cmd->exits != NULL ? cmd->exits : tdm_help_command_exits);
	tdm_buf_puts(out, ".SH EXAMPLES\n");
	for (const struct tdm_help_row *example = cmd->examples; example != NULL && example->term != NULL; example++)
		put_example(out, example);
	put_see_also(out, cmd, program);
}

/* ---- completion -----------------------------------------------------------------------------------------------------
 */

/*
 * The script is a frame, completion.bash.in, around one `case` branch for each command, which sets
 *
 *     options   every option, with "=" after those that take a value
 *     valued    those that take one, by all their names, between blanks
 *     words     candidates for the first positional argument
 *     names     candidates for the others, or for all when there are no words
 *
 * and offers the values of the option before the cursor. All strings are names from the table and need no quoting.
 */

/* Writes words with spaces between them. */
static void put_words(struct tdm_buf *out, const char *const *words)
{
	for (size_t i = 0; words[i] != NULL; i++)
		tdm_buf_printf(out, "%s%s", i != 0 ? " " : "", words[i]);
}

static void put_option_lists(struct tdm_buf *out, const struct tdm_cmd *cmd)
{
	const char *gap = "";
	tdm_buf_puts(out, "\t\toptions='");
	for (const struct tdm_opt *opt = NULL; (opt = tdm_opt_next(cmd, opt)) != NULL; gap = " ")
		tdm_buf_printf(out, "%s--%s%s", gap, opt->name, opt->arg != NULL ? "=" : "");
	tdm_buf_puts(out, "'\n\t\tvalued='");
	gap = "";
	for (const struct tdm_opt *opt = NULL; (opt = tdm_opt_next(cmd, opt)) != NULL;) {
		if (opt->arg == NULL)
			continue;
		tdm_buf_printf(out, "%s--%s", gap, opt->name);
		if (opt->letter != '\0')
			tdm_buf_printf(out, " -%c", opt->letter);
		gap = " ";
	}
	tdm_buf_puts(out, "'\n");
}

/* Writes how to complete the value of an option, chosen by the name of the option's argument. */
static void put_value_action(struct tdm_buf *out, const char *arg)
{
	if (strchr(arg, '|') != NULL) {
		tdm_buf_puts(out, "_tidemark_words '");
		for (const char *c = arg; *c != '\0'; c++)
			tdm_buf_putc(out, *c == '|' ? ' ' : *c);
		tdm_buf_puts(out, "' \"$cur\"");
	} else if (strcmp(arg, "CARD") == 0) {
		tdm_buf_puts(out, "_tidemark_words '");
		put_words(out, tdm_card_names);
		tdm_buf_puts(out, "' \"$cur\"");
	} else if (strcmp(arg, "DIR") == 0) {
		tdm_buf_puts(out, "_tidemark_files \"$cur\" -d");
	} else if (strstr(arg, "FILE") != NULL) {
		tdm_buf_puts(out, "_tidemark_files \"$cur\"");
	} else {
		tdm_buf_puts(out, "COMPREPLY=()"); /* free text, so there is nothing to offer */
	}
}

static void put_values(struct tdm_buf *out, const struct tdm_cmd *cmd)
{
	tdm_buf_puts(out, "\t\tcase $option in\n");
	for (const struct tdm_opt *opt = NULL; (opt = tdm_opt_next(cmd, opt)) != NULL;) {
		if (opt->arg == NULL)
			continue;
		tdm_buf_printf(out, "\t\t--%s", opt->name);
		if (opt->letter != '\0')
			tdm_buf_printf(out, " | -%c", opt->letter);
		tdm_buf_puts(out, ")\n\t\t\t");
		put_value_action(out, opt->arg);
		tdm_buf_puts(out, "\n\t\t\treturn\n\t\t\t;;\n");
	}
	tdm_buf_puts(out, "\t\tesac\n");
}

static void put_positional(struct tdm_buf *out, const char *variable, const char *const *words)
{
	if (words == NULL)
		return;
	tdm_buf_printf(out, "\t\t%s='", variable);
	put_words(out, words);
	tdm_buf_puts(out, "'\n");
}

static void put_completion(struct tdm_buf *out, const struct tdm_cmd *cmd)
{
	static const char *const none[] = { " ", NULL }; /* keeps bash from offering files */
	tdm_buf_printf(out, "\t%s", cmd->name);
	if (cmd->alias != NULL)
		tdm_buf_printf(out, " | %s", cmd->alias);
	tdm_buf_puts(out, ")\n");
	put_option_lists(out, cmd);
	put_positional(out, "words", cmd->only_options ? none : cmd->words);
	put_positional(out, "names", cmd->names);
	put_values(out, cmd);
	tdm_buf_puts(out, "\t\t;;\n");
}

void tdm_completion_bash(struct tdm_buf *out, struct tdm_str frame, const struct tdm_cmd *program)
{
	while (frame.len != 0) {
		const char *mark = memchr(frame.ptr, '@', frame.len);
		size_t len = mark != NULL ? (size_t)(mark - frame.ptr) : frame.len;
		tdm_buf_add(out, frame.ptr, len);
		frame = tdm_after(frame, len);
		if (tdm_str_begins(frame, "@NAMES@")) {
			for (size_t i = 0; tdm_cmds[i] != NULL; i++)
				tdm_buf_printf(out, "%s%s", i != 0 ? " " : "", tdm_cmds[i]->name);
		} else if (tdm_str_begins(frame, "@COMMANDS@")) {
			for (size_t i = 0; tdm_cmds[i] != NULL; i++)
				put_completion(out, tdm_cmds[i]);
			if (program != NULL)
				put_completion(out, program);
		} else if (tdm_str_begins(frame, "@PROGRAM@") && program != NULL) {
			/* a separate program is completed as if it were a command */
			tdm_buf_printf(out,
				"\n_%s()\n{\n\tCOMP_WORDS=(tidemark \"${COMP_WORDS[@]}\")\n\t((COMP_CWORD += 1))\n"
				"\t_tidemark\n}\ncomplete -F _%s %s\n",
				program->name, program->name, program->name);
		}
		if (frame.len != 0)
			frame = tdm_after(frame, 1 + strcspn(frame.ptr + 1, "@") + 1);
	}
}

/* ---- tidemark-docgen --------------------------------------------------------------------------------------------- */

enum { DATE_CAP = 16 };

static int write_text(FILE *stream, const struct tdm_buf *text, const char *name)
{
	bool good = fwrite(tdm_buf_str(text).ptr, 1, text->len, stream) == text->len;
	good &= fflush(stream) == 0;
	if (!good)
		fprintf(stderr, "tidemark-docgen: cannot write %s: %s\n", name, strerror(errno));
	return good ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* Writes the page of a command, or the main page if `cmd` is NULL. */
static int write_page(const char *dir, const struct tdm_cmd *cmd, const struct tdm_cmd *program, const char *date)
{
	struct tdm_buf text = { 0 };
	char *path = cmd != NULL && cmd->is_program ? tdm_printed("%s/%s.1", dir, cmd->name)
		     : cmd != NULL                  ? tdm_printed("%s/tidemark-%s.1", dir, cmd->name)
						    : tdm_printed("%s/tidemark.1", dir);
	int code = EXIT_FAILURE;
	if (cmd != NULL)
		tdm_docs_man_command(&text, cmd, program, date);
	else
		tdm_docs_man(&text, program, date);
	FILE *stream = fopen(path, "w");
	if (stream != NULL) {
		code = write_text(stream, &text, path);
		fclose(stream);
	} else {
		fprintf(stderr, "tidemark-docgen: cannot open %s: %s\n", path, strerror(errno));
	}
	tdm_buf_done(&text);
	free(path);
	return code;
}

static int write_pages(const char *dir, const struct tdm_cmd *program)
{
	char date[DATE_CAP] = "1970-01-01";
	uint64_t epoch;
	time_t when = time(NULL);
	struct tm utc;
	if (tdm_str_parse_u64(tdm_str_of(getenv("SOURCE_DATE_EPOCH")), &epoch) == 0)
		when = (time_t)epoch;
	if (gmtime_r(&when, &utc) != NULL)
		strftime(date, sizeof date, "%Y-%m-%d", &utc);
	if (mkdir(dir, 0777) != 0 && errno != EEXIST) {
		fprintf(stderr, "tidemark-docgen: cannot make %s: %s\n", dir, strerror(errno));
		return EXIT_FAILURE;
	}
	int code = write_page(dir, NULL, program, date);
	for (size_t i = 0; code == EXIT_SUCCESS && tdm_cmds[i] != NULL; i++)
		code = write_page(dir, tdm_cmds[i], program, date);
	if (code == EXIT_SUCCESS && program != NULL)
		code = write_page(dir, program, program, date);
	return code;
}

int tdm_docgen_main(int argc, char **argv, const struct tdm_cmd *program)
{
	if (argc == 3 && strcmp(argv[1], "man") == 0)
		return write_pages(argv[2], program);
	if (argc == 3 && strcmp(argv[1], "bash") == 0) {
		struct tdm_buf frame = { 0 }, text = { 0 };
		int err = tdm_file_read(argv[2], SIZE_MAX, &frame);
		if (err != 0)
			fprintf(stderr, "tidemark-docgen: cannot read %s: %s\n", argv[2], tdm_err_text(err));
		tdm_completion_bash(&text, tdm_buf_str(&frame), program);
		int code = err != 0 ? EXIT_FAILURE : write_text(stdout, &text, "the completion script");
		tdm_buf_done(&frame);
		tdm_buf_done(&text);
		return code;
	}
	fprintf(stderr, "Usage: tidemark-docgen man OUTDIR\n       tidemark-docgen bash FRAME\n");
	return EXIT_FAILURE;
}
