/* The terminal: bars, and the width that is assumed. */
#include "base/term.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static void bars_round_but_never_lie(void **state)
{
	static const struct {
		int permille;
		size_t cells, full;
	} cases[] = {
		{ -1, 10, 0 },
		{ 0, 10, 0 },
		{ 1, 10, 1 }, /* something is not nothing */
		{ 149, 10, 1 },
		{ 150, 10, 2 },
		{ 549, 10, 5 },
		{ 550, 10, 6 },
		{ 949, 10, 9 },
		{ 999, 10, 9 }, /* nearly all is not all */
		{ 1000, 10, 10 },
		{ 1001, 10, 10 },
		{ 999, 2, 1 },
		{ 999, 1, 1 },
		{ 500, 0, 0 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_int_equal(tdm_bar_full(cases[i].permille, cases[i].cells), cases[i].full);
}

static void bars_are_drawn(void **state)
{
	struct tdm_buf out = { 0 };
	(void)state;
	tdm_bar_put(&out, 300, 5, false);
	tdm_bar_put(&out, -1, 2, false);
	tdm_bar_put(&out, 500, 2, true);
	assert_string_equal(out.data, "##...??█░");
	tdm_buf_done(&out);
}

static void a_width_is_within_limits(void **state)
{
	static const struct {
		const char *columns;
		size_t width;
	} cases[] = {
		{ "39", TDM_TERM_WIDTH_MIN },
		{ "40", 40 },
		{ "41", 41 },
		{ "999", 999 },
		{ "1000", 1000 },
		{ "1001", TDM_TERM_WIDTH_MAX },
		{ "0", TDM_TERM_WIDTH }, /* no terminal has this */
		{ "wide", TDM_TERM_WIDTH },
		{ "", TDM_TERM_WIDTH },
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		setenv("COLUMNS", cases[i].columns, 1);
		assert_int_equal(tdm_term_width(-1), cases[i].width);
	}
	unsetenv("COLUMNS");
	assert_int_equal(tdm_term_width(-1), TDM_TERM_WIDTH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bars_round_but_never_lie),
		cmocka_unit_test(bars_are_drawn),
		cmocka_unit_test(a_width_is_within_limits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
