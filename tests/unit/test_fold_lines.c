/* Long sentences of reports, folded to the width of a terminal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "report/fold_lines.h"

static void expect(const char *text, size_t width, const char *wanted)
{
	struct tdm_buf out;
	tdm_buf_init(&out);
	tdm_fold_lines(&out, tdm_str_of(text), width);
	assert_string_equal(tdm_buf_str(&out).ptr, wanted);
	tdm_buf_done(&out);
}

static void sentences_wrap(void **state)
{
	(void)state;
	expect("", 40, "");
	expect("short\n\n  text\n", 40, "short\n\n  text\n");
	expect("one two three four five six\n", 12, "one two\n  three four\n  five six\n");
	expect("  one two three four\nend\n", 12, "  one two\n    three\n    four\nend\n");
	expect("averylongwordwithoutblanks\n", 12, "averylongwordwithoutblanks\n");
}

static void labels_stay(void **state)
{
	(void)state;
	expect("Class          one two three\n", 22, "Class          one two\n               three\n");
	expect("L1 of a core   one two three\n", 22, "L1 of a core   one two\n               three\n");
	expect("\033[31mDeadlock\033[0m       one two three\n", 22,
		"\033[31mDeadlock\033[0m       one two\n               three\n");
}

static void the_last_cell_of_a_row_wraps(void **state)
{
	(void)state;
	expect("  peak   -12  counted once, not twice\n", 30, "  peak   -12  counted once,\n              not twice\n");
	expect("  peak   -12  counted once, not twice\n", 24, "  peak   -12  counted once, not twice\n");
}

static void rows_of_tables_stay(void **state)
{
	(void)state;
	expect("name   12  13  14  15\n", 10, "name   12  13  14  15\n");
	expect("\033[1mbold words\033[0m\n", 10, "\033[1mbold words\033[0m\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sentences_wrap),
		cmocka_unit_test(labels_stay),
		cmocka_unit_test(the_last_cell_of_a_row_wraps),
		cmocka_unit_test(rows_of_tables_stay),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
