/* What is generated from the table of commands: help, man pages, completion; and that the table is complete. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/names.h"
#include "base/term.h"
#include "base/buf.h"
#include "cli/options/cmd.h"
#include "cli/options/docs.h"

static void expect_escaped(const char *text, bool line_start, const char *expected)
{
	struct tdm_buf out = { 0 };
	tdm_docs_escape(&out, tdm_str_of(text), line_start);
	assert_string_equal(tdm_buf_str(&out).ptr, expected);
	tdm_buf_done(&out);
}

static void roff_is_escaped(void **state)
{
	(void)state;
	expect_escaped("", true, "");
	expect_escaped("plain text", true, "plain text");
	expect_escaped("a\\fB", true, "a\\(rsfB");
	expect_escaped("--json", true, "\\-\\-json");
	expect_escaped(".TH x", true, "\\&.TH x");
	expect_escaped(".TH x", false, ".TH x");
	expect_escaped("'tis", true, "\\(aqtis");
	expect_escaped("say \"x\"", true, "say \\(dqx\\(dq");
	expect_escaped("`^~", true, "\\(ga\\(ha\\(ti");
	expect_escaped("\xe2\x94\x82\xc3\xa4\xf0\x9f\x8c\x8a", true, "\\[u2502]\\[u00E4]\\[u1F30A]");
	expect_escaped("\xe2\x94", true, "\\[u0094]"); /* cut off: nothing is read behind the end */
}

/* Every line of a page is a request, or text that does not begin like one; none is empty or ends in a blank. */
static void check_page(struct tdm_buf *page)
{
	static const char *const requests[] = { ".\\\"", ".TH", ".SH", ".TP", ".PP", ".BR", ".br", ".nf", ".fi", ".nh",
		".ad" };
	for (char *line = page->data, *next; *line != '\0'; line = next) {
		char *end = strchr(line, '\n');
		bool known = line[0] != '.';
		assert_non_null(end);
		next = end + 1;
		for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++)
			known |= strncmp(line, requests[i], strlen(requests[i])) == 0;
		assert_true(known);
		assert_true(end > line && end[-1] != ' ' && line[0] != '\'');
		for (char *c = line; c < end; c++)
			assert_true(*c >= ' ' && *c <= '~');
	}
}

static void check_sections(const struct tdm_buf *page)
{
	static const char *const sections[] = { "\n.SH NAME\n", "\n.SH SYNOPSIS\n", "\n.SH DESCRIPTION\n",
		"\n.SH OPTIONS\n", "\n.SH \"EXIT STATUS\"\n", "\n.SH EXAMPLES\n", "\n.SH \"SEE ALSO\"\n" };
	const char *at = page->data;
	for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++) {
		at = strstr(at, sections[i]);
		assert_non_null(at);
	}
}

static void pages_are_clean(void **state)
{
	struct tdm_buf page;
	(void)state;
	tdm_buf_init(&page);
	tdm_docs_man(&page, NULL, "2026-01-31");
	check_page(&page);
	check_sections(&page);
	for (size_t i = 0; tdm_cmds[i] != NULL; i++) {
		tdm_buf_clear(&page);
		tdm_docs_man_command(&page, tdm_cmds[i], NULL, "2026-01-31");
		check_page(&page);
		check_sections(&page);
	}
	tdm_buf_done(&page);
}

static void expect_names(struct tdm_buf *page, bool daemon, bool tidemark, bool leaks)
{
	check_page(page);
	const char *also = strstr(page->data, "\n.SH \"SEE ALSO\"\n");
	assert_non_null(also);
	assert_int_equal(strstr(also, "\n.BR tidemarkd (1)") != NULL, daemon);
	assert_int_equal(strstr(also, "\n.BR tidemark (1)") != NULL, tidemark);
	assert_int_equal(strstr(also, "\n.BR tidemark\\-leaks (1)") != NULL, leaks);
	assert_null(strstr(also, ",\n\n"));
	assert_true(page->data[page->len - 2] == ')'); /* the last one has no comma */
	tdm_buf_clear(page);
}

/* The daemon is no command, but whoever reads one page must find the other. */
static void pages_name_each_other(void **state)
{
	struct tdm_cmd daemon = *tdm_cmd_find("doctor");
	struct tdm_buf page;
	(void)state;
	daemon.name = "tidemarkd";
	daemon.is_program = true;
	tdm_buf_init(&page);
	tdm_docs_man(&page, &daemon, "2026-01-31");
	expect_names(&page, true, false, true);
	tdm_docs_man_command(&page, tdm_cmd_find("leaks"), &daemon, "2026-01-31");
	expect_names(&page, true, true, false);
	tdm_docs_man_command(&page, &daemon, &daemon, "2026-01-31");
	expect_names(&page, false, true, true);
	tdm_docs_man(&page, NULL, "2026-01-31");
	expect_names(&page, false, false, true);
	tdm_buf_done(&page);
}

static void exit_codes_are_those_of_the_command(void **state)
{
	struct tdm_buf page;
	(void)state;
	tdm_buf_init(&page);
	tdm_docs_man_command(&page, tdm_cmd_find("leaks"), NULL, "2026-01-31");
	assert_non_null(strstr(page.data, "A finding that the command was asked to fail on."));
	tdm_buf_clear(&page);
	tdm_docs_man_command(&page, tdm_cmd_find("doctor"), NULL, "2026-01-31");
	assert_null(strstr(page.data, "was asked to fail on"));
	assert_non_null(strstr(page.data, "There is a warning."));
	tdm_buf_clear(&page);
	tdm_docs_man_command(&page, tdm_cmd_find("run"), NULL, "2026-01-31");
	assert_null(strstr(page.data, "was asked to fail on"));
	assert_non_null(strstr(page.data, "The exit code of the program."));
	tdm_buf_done(&page);
}

static bool is_sentence_without_stop(const char *text)
{
	return text != NULL && text[0] != '\0' && text[0] != ' ' && text[strlen(text) - 1] != '.' &&
	       strchr(text, '\n') == NULL;
}

static void every_command_is_complete(void **state)
{
	(void)state;
	for (size_t i = 0; tdm_cmds[i] != NULL; i++) {
		const struct tdm_cmd *cmd = tdm_cmds[i];
		assert_true(cmd->name != NULL && cmd->name[0] != '\0');
		assert_true(is_sentence_without_stop(cmd->summary));
		assert_true(cmd->usage != NULL && cmd->usage[0] != '\0');
		assert_true(cmd->description != NULL && cmd->description[0] != '\0');
		assert_non_null(cmd->opts);
		assert_non_null(cmd->run);
		assert_true(cmd->examples != NULL && cmd->examples[0].term != NULL);
		assert_ptr_equal(tdm_cmd_find(cmd->name), cmd);
		if (cmd->alias != NULL)
			assert_ptr_equal(tdm_cmd_find(cmd->alias), cmd);
	}
	assert_null(tdm_cmd_find("nothing"));
}

static void every_example_is_of_its_command(void **state)
{
	char begin[64];
	(void)state;
	for (size_t i = 0; tdm_cmds[i] != NULL; i++) {
		size_t len = (size_t)snprintf(begin, sizeof begin, "tidemark %s", tdm_cmds[i]->name);
		for (const struct tdm_help_row *e = tdm_cmds[i]->examples; e->term != NULL; e++) {
			assert_non_null(strstr(e->term, begin));
			assert_true(strlen(e->term) >= len);
			assert_true(is_sentence_without_stop(e->text));
		}
	}
}

static void check_option(const struct tdm_opt *opts, const struct tdm_opt *opt)
{
	assert_true(is_sentence_without_stop(opt->help));
	assert_non_null(opt->take);
	assert_true(islower((unsigned char)opt->name[0]));
	assert_true(opt->letter == '\0' || isalnum((unsigned char)opt->letter));
	assert_string_not_equal(opt->name, "help");
	assert_true(opt->letter != 'h');
	for (const struct tdm_opt *other = opts; other != opt; other++) {
		assert_string_not_equal(other->name, opt->name);
		assert_true(opt->letter == '\0' || other->letter != opt->letter);
	}
}

static void every_option_is_complete(void **state)
{
	(void)state;
	for (size_t i = 0; tdm_cmds[i] != NULL; i++)
		for (const struct tdm_opt *opt = tdm_cmds[i]->opts; opt->name != NULL; opt++)
			check_option(tdm_cmds[i]->opts, opt);
}

/* What is longer than the width is a single word behind its indentation, or a line that is kept as it is. */
static void check_lines(struct tdm_buf *text)
{
	for (char *line = text->data, *next; *line != '\0'; line = next) {
		char *end = strchr(line, '\n');
		assert_non_null(end);
		next = end + 1;
		assert_true(end == line || (end[-1] != ' ' && end[-1] != '\t'));
	}
	assert_null(strstr(text->data, "\n\n\n"));
}

static void help_is_clean_at_every_width(void **state)
{
	struct tdm_buf text;
	(void)state;
	tdm_buf_init(&text);
	for (size_t width = TDM_TERM_WIDTH_MIN; width <= 200; width++) {
		tdm_buf_clear(&text);
		tdm_help_general(&text, tdm_cmds, width);
		check_lines(&text);
		tdm_buf_clear(&text);
		tdm_help_short(&text, tdm_cmds, width);
		check_lines(&text);
		for (size_t i = 0; tdm_cmds[i] != NULL; i++) {
			tdm_buf_clear(&text);
			tdm_help_command(&text, tdm_cmds[i], width);
			check_lines(&text);
		}
	}
	tdm_buf_done(&text);
}

static void help_names_every_option(void **state)
{
	struct tdm_buf text;
	char name[64];
	(void)state;
	tdm_buf_init(&text);
	for (size_t i = 0; tdm_cmds[i] != NULL; i++) {
		tdm_buf_clear(&text);
		tdm_help_command(&text, tdm_cmds[i], TDM_TERM_WIDTH);
		for (const struct tdm_opt *opt = tdm_cmds[i]->opts; opt->name != NULL; opt++) {
			snprintf(name, sizeof name, "--%s", opt->name);
			assert_non_null(strstr(text.data, name));
		}
		assert_non_null(strstr(text.data, "-h, --help"));
	}
	tdm_buf_done(&text);
}

static void completion_names_everything(void **state)
{
	struct tdm_buf text;
	char name[64];
	(void)state;
	tdm_buf_init(&text);
	tdm_completion_bash(&text, tdm_str_of("@NAMES@\n@COMMANDS@"), NULL);
	for (size_t i = 0; tdm_cmds[i] != NULL; i++) {
		assert_non_null(strstr(text.data, tdm_cmds[i]->name));
		for (const struct tdm_opt *opt = tdm_cmds[i]->opts; opt->name != NULL; opt++) {
			snprintf(name, sizeof name, "--%s%s ", opt->name, opt->arg != NULL ? "=" : "");
			assert_non_null(strstr(text.data, name));
		}
	}
	tdm_buf_done(&text);
}

static void paragraphs_are_cut(void **state)
{
	const char *text = "one\ntwo\n\n  kept\n    so\n\n\nlast\n";
	(void)state;
	assert_true(tdm_str_is(tdm_help_paragraph(&text), "one\ntwo"));
	assert_true(tdm_str_is(tdm_help_paragraph(&text), "  kept\n    so"));
	assert_true(tdm_str_is(tdm_help_paragraph(&text), "last"));
	assert_int_equal(tdm_help_paragraph(&text).len, 0);
}

static void expect_wrapped(const char *text, struct tdm_wrap wrap, const char *expected)
{
	struct tdm_buf out = { 0 };
	tdm_wrap(&out, tdm_str_of(text), wrap);
	assert_string_equal(out.data, expected);
	tdm_buf_done(&out);
}

static void text_is_folded(void **state)
{
	(void)state;
	expect_wrapped("", (struct tdm_wrap){ 0, 0, 10 }, "\n");
	expect_wrapped("ab cd ef", (struct tdm_wrap){ 0, 0, 8 }, "ab cd ef\n");
	expect_wrapped("ab cd ef", (struct tdm_wrap){ 0, 0, 7 }, "ab cd\nef\n");
	expect_wrapped("  ab \n cd  ", (struct tdm_wrap){ 0, 0, 80 }, "ab cd\n");
	expect_wrapped("ab cd ef", (struct tdm_wrap){ 4, 2, 7 }, "ab\n  cd ef\n");
	expect_wrapped("a longerword b", (struct tdm_wrap){ 0, 0, 4 }, "a\nlongerword\nb\n");
	expect_wrapped("\xc3\xa4\xc3\xb6 \xc3\xbc", (struct tdm_wrap){ 0, 0, 4 }, "\xc3\xa4\xc3\xb6 \xc3\xbc\n");
}

static const char *closest(const char *word)
{
	static const char *const names[] = { "device", "demo", "dump", "simulate", "status", NULL };
	struct tdm_suggest suggest;
	tdm_suggest_init(&suggest, tdm_str_of(word));
	for (size_t i = 0; names[i] != NULL; i++)
		tdm_suggest_offer(&suggest, names[i]);
	tdm_suggest_offer(&suggest, NULL);
	return suggest.best != NULL ? suggest.best : "";
}

static void close_names_are_suggested(void **state)
{
	static const char long_word[] = "devicedevicedevicedevicedevicedevicedevicedevicedevice";
	(void)state;
	assert_string_equal(closest("devcie"), "device");
	assert_string_equal(closest("devices"), "device");
	assert_string_equal(closest("dev"), "device");
	assert_string_equal(closest("demp"), "demo");
	assert_string_equal(closest("simulat"), "simulate");
	assert_string_equal(closest("sttaus"), "status");
	assert_string_equal(closest("x"), "");
	assert_string_equal(closest(""), "");
	assert_string_equal(closest("memory"), "");
	assert_string_equal(closest(long_word), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(roff_is_escaped),
		cmocka_unit_test(pages_are_clean),
		cmocka_unit_test(pages_name_each_other),
		cmocka_unit_test(exit_codes_are_those_of_the_command),
		cmocka_unit_test(every_command_is_complete),
		cmocka_unit_test(every_example_is_of_its_command),
		cmocka_unit_test(every_option_is_complete),
		cmocka_unit_test(help_is_clean_at_every_width),
		cmocka_unit_test(help_names_every_option),
		cmocka_unit_test(completion_names_everything),
		cmocka_unit_test(paragraphs_are_cut),
		cmocka_unit_test(text_is_folded),
		cmocka_unit_test(close_names_are_suggested),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
