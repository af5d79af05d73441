/* The parser of a command's arguments: every form an option can have, and every way to get one wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/options/options.h"

enum { WORDS_MAX = 32, TEXT_CAP = 1024 };

/* What the options are read into: their names and values, in their order. */
struct request {
	char log[TEXT_CAP]; /* "output=FILE verbose …" */
};

static int note(const struct tdm_cmd *cmd, const struct tdm_opt *opt, const char *value, void *to)
{
	struct request *request = to;
	size_t at = strlen(request->log);
	(void)cmd;
	snprintf(request->log + at, sizeof request->log - at, "%s%s%s%s", at != 0 ? " " : "", opt->name,
		value != NULL ? "=" : "", value != NULL ? value : "");
	return 0;
}

static const struct tdm_opt opts[] = {
	{ "output", 'o', "FILE", "write to FILE", .take = note },
	{ "verbose", 'v', NULL, "say more", .take = note },
	{ "json", 0, NULL, "print JSON", .take = note },
	{ "number", 'n', "N", "take N", .take = note },
	{ "numbers", 0, NULL, "print numbers", .take = note },
	{ 0 },
};

static const struct tdm_cmd command = { .name = "try", .opts = opts };

/* One line of arguments, read to its end or its first error. */
struct parse {
	char copy[TEXT_CAP];
	char *words[WORDS_MAX];
	struct tdm_args args;
	struct request request;
	char stderr_[TEXT_CAP]; /* what was reported */
	int code;
};

/* Words are separated by one blank; two blanks in a row give an empty word. */
static void split(struct parse *p, const char *line)
{
	snprintf(p->copy, sizeof p->copy, "%s", line);
	p->args = (struct tdm_args){ .cmd = &command, .argv = p->words };
	for (char *word = p->copy, *rest = p->copy; word != NULL; word = rest) {
		rest = strchr(word, ' ');
		if (rest != NULL)
			*rest++ = '\0';
		assert_true(p->args.argc + 1 < WORDS_MAX);
		p->words[p->args.argc++] = word;
	}
}

/* Parses with standard error in a file, and reads that back. */
static void parse(struct parse *p, const char *line)
{
	FILE *file = tmpfile();
	int saved = dup(STDERR_FILENO);
	assert_non_null(file);
	*p = (struct parse){ .code = 0 };
	split(p, line);
	fflush(stderr);
	dup2(fileno(file), STDERR_FILENO);
	p->code = tdm_args_read(&p->args, &p->request);
	fflush(stderr);
	dup2(saved, STDERR_FILENO);
	close(saved);
	rewind(file);
	p->stderr_[fread(p->stderr_, 1, sizeof p->stderr_ - 1, file)] = '\0';
	fclose(file);
}

static void expect(const char *line, const char *log, const char *positional)
{
	struct parse p;
	char joined[TEXT_CAP] = "";
	parse(&p, line);
	assert_string_equal(p.stderr_, "");
	assert_int_equal(p.code, 0);
	assert_string_equal(p.request.log, log);
	assert_null(p.args.positional[p.args.positional_count]);
	for (int i = 0; i < p.args.positional_count; i++) {
		size_t at = strlen(joined);
		snprintf(joined + at, sizeof joined - at, "%s%s", i != 0 ? " " : "", p.args.positional[i]);
	}
	assert_string_equal(joined, positional);
}

static void expect_error(const char *line, const char *message)
{
	struct parse p;
	char expected[TEXT_CAP];
	parse(&p, line);
	assert_int_equal(p.code, TDM_EXIT_USAGE);
	snprintf(expected, sizeof expected, "tidemark try: %s\ntidemark try: see 'tidemark try --help'\n", message);
	assert_string_equal(p.stderr_, expected);
}

static void nothing_is_fine(void **state)
{
	(void)state;
	expect("try", "", "");
}

static void long_names(void **state)
{
	(void)state;
	expect("try --json", "json", "");
	expect("try --output=a.txt", "output=a.txt", "");
	expect("try --output a.txt", "output=a.txt", "");
	expect("try --output=", "output=", "");
	expect("try --output=a=b", "output=a=b", "");
	expect("try --output --json", "output=--json", "");
	expect("try --output -- x", "output=--", "x");
}

static void beginnings_of_long_names(void **state)
{
	(void)state;
	expect("try --out=a", "output=a", "");
	expect("try --o a", "output=a", "");
	expect("try --v --j", "verbose json", "");
	expect("try --number 3 --numbers", "number=3 numbers", ""); /* a whole name is not ambiguous */
}

static void letters(void **state)
{
	(void)state;
	expect("try -v", "verbose", "");
	expect("try -n5", "number=5", "");
	expect("try -n 5", "number=5", "");
	expect("try -n -5", "number=-5", "");
	expect("try -n=5", "number==5", ""); /* as everywhere: what follows the letter is the value */
	expect("try -vv", "verbose verbose", "");
	expect("try -vn5", "verbose number=5", "");
	expect("try -vvn 5 -v", "verbose verbose number=5 verbose", "");
	expect("try -vofile", "verbose output=file", "");
}

static void positional_words_keep_their_order(void **state)
{
	(void)state;
	expect("try a b", "", "a b");
	expect("try a --json b -n 5 c -v", "json number=5 verbose", "a b c");
	expect("try -o x a --output y b", "output=x output=y", "a b");
	expect("try -", "", "-");
	expect("try a  b", "", "a  b"); /* the empty word between the blanks counts */
}

static void two_hyphens_end_the_options(void **state)
{
	(void)state;
	expect("try -v -- --json -n", "verbose", "--json -n");
	expect("try a -- -- b", "", "a -- b");
	expect("try --", "", "");
}

static void unknown_options(void **state)
{
	(void)state;
	expect_error("try --outptu=3", "unknown option '--outptu'; did you mean '--output'?");
	expect_error("try --vebrose", "unknown option '--vebrose'; did you mean '--verbose'?");
	expect_error("try --hlep", "unknown option '--hlep'; did you mean '--help'?");
	expect_error("try --colour", "unknown option '--colour'");
	expect_error("try --=x", "unknown option '--'");
	expect_error("try -x", "unknown option '-x'");
	expect_error("try -vx", "unknown option '-x' in '-vx'");
	expect_error("try -\xc3\xa4", "unknown option in '-\xc3\xa4'");
	expect_error("try ---", "unknown option '---'");
	expect_error("try a -5", "unknown option '-5'");
}

static void ambiguous_beginnings(void **state)
{
	(void)state;
	expect_error("try --num", "option '--num' is ambiguous: --number, --numbers");
}

static void values_that_are_missing_or_unwanted(void **state)
{
	(void)state;
	expect_error("try --output", "option '--output' needs a value: --output=FILE");
	expect_error("try --outp", "option '--output' needs a value: --output=FILE");
	expect_error("try -o", "option '-o' needs a value: -o FILE");
	expect_error("try -vo", "option '-o' needs a value: -o FILE");
	expect_error("try --json=yes", "option '--json' takes no value, but got one in '--json=yes'");
	expect_error("try --json=", "option '--json' takes no value, but got one in '--json='");
}

static bool asks_help(const char *line)
{
	struct parse p;
	split(&p, line);
	bool asks = tdm_args_asks_help(&p.args);
	assert_int_equal(p.args.at, 0);
	return asks;
}

static void help_is_found_where_it_is_an_option(void **state)
{
	(void)state;
	assert_true(asks_help("try --help"));
	assert_true(asks_help("try -h"));
	assert_true(asks_help("try -vh"));
	assert_true(asks_help("try a b --he"));
	assert_true(asks_help("try --unknown --help"));
	assert_false(asks_help("try"));
	assert_false(asks_help("try --output --help"));
	assert_false(asks_help("try -o --help"));
	assert_false(asks_help("try -oh"));
	assert_false(asks_help("try -- --help"));
	assert_false(asks_help("try help"));
}

static void help_is_passed_over_by_the_command(void **state)
{
	(void)state;
	expect("try --help --json a", "json", "a");
}

static void a_command_without_options(void **state)
{
	static const struct tdm_cmd bare = { .name = "bare" };
	char name[] = "bare", word[] = "a", *argv[] = { name, word, NULL };
	struct tdm_args args = { .cmd = &bare, .argc = 2, .argv = argv };
	(void)state;
	assert_int_equal(tdm_args_read(&args, NULL), 0);
	assert_int_equal(args.positional_count, 1);
	assert_string_equal(args.positional[0], "a");
}

/* The values that commands share. */
struct values {
	bool flag;
	const char *text;
	uint64_t limit, rows, bytes, ns;
	uint32_t chips;
	unsigned word;
	struct tdm_pids pids;
	struct tdm_texts sets;
};

static const struct tdm_opt value_opts[] = {
	{ "flag", 'f', NULL, "a flag", TDM_TAKE_FLAG(struct values, flag) },
	{ "text", 't', "TEXT", "a text", TDM_TAKE_TEXT(struct values, text) },
	{ "limit", 'n', "N", "any number", TDM_TAKE_NUMBER(struct values, limit, 0, 0) },
	{ "rows", 'r', "ROWS", "a number from one on", TDM_TAKE_NUMBER(struct values, rows, 1, 0) },
	{ "chips", 'c', "N", "a small number", TDM_TAKE_U32(struct values, chips, 1, 32) },
	{ "bytes", 'b', "SIZE", "a size", TDM_TAKE_BYTES(struct values, bytes) },
	{ "time", 'i', "TIME", "a time", TDM_TAKE_DURATION(struct values, ns) },
	{ "word", 'w', "this|that|other", "a choice", TDM_TAKE_CHOICE(struct values, word) },
	{ TDM_OPT_PIDS(struct values, pids) },
	{ "set", 's', "FIELD=VALUE", "many texts", TDM_TAKE_TEXTS(struct values, sets) },
	{ 0 },
};

static const struct tdm_cmd value_command = { .name = "try", .opts = value_opts, .only_options = true };

static void values_go_to_their_places(void **state)
{
	static struct parse p;
	struct values v = { 0 };
	(void)state;
	split(&p, "try -f -t a -n 0 -r 7 -c 32 -b 1.5K -i 2s -w other -p 3 -p 4 -s x=1 -s y=2");
	p.args.cmd = &value_command;
	assert_int_equal(tdm_args_read(&p.args, &v), 0);
	assert_true(v.flag);
	assert_string_equal(v.text, "a");
	assert_int_equal(v.limit, 0);
	assert_int_equal(v.rows, 7);
	assert_int_equal(v.chips, 32);
	assert_int_equal(v.bytes, 1536);
	assert_int_equal(v.ns, 2000000000);
	assert_int_equal(v.word, 3);
	assert_int_equal(v.pids.count, 2);
	assert_int_equal(v.pids.list[1], 4);
	assert_int_equal(v.sets.count, 2);
	assert_string_equal(v.sets.list[1], "y=2");
	assert_null(v.sets.list[2]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_fine),
		cmocka_unit_test(long_names),
		cmocka_unit_test(beginnings_of_long_names),
		cmocka_unit_test(letters),
		cmocka_unit_test(positional_words_keep_their_order),
		cmocka_unit_test(two_hyphens_end_the_options),
		cmocka_unit_test(unknown_options),
		cmocka_unit_test(ambiguous_beginnings),
		cmocka_unit_test(values_that_are_missing_or_unwanted),
		cmocka_unit_test(help_is_found_where_it_is_an_option),
		cmocka_unit_test(help_is_passed_over_by_the_command),
		cmocka_unit_test(a_command_without_options),
		cmocka_unit_test(values_go_to_their_places),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
