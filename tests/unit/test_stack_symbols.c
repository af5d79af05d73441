/* The functions of a process are looked up once for many findings, even when findings of several processes
 * alternate. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "report/stack_report.h"

enum { PROCESSES = TDM_STACK_SYMBOLS + 2 };

static void test_kept(void **state)
{
	(void)state;
	struct tdm_picture_process processes[PROCESSES] = { 0 };
	const struct tdm_picture picture = { .processes = processes, .process_count = PROCESSES };
	struct tdm_stack_symbols symbols = { 0 };
	struct tdm_symbolizer *first[TDM_STACK_SYMBOLS];
	for (uint32_t i = 0; i < TDM_STACK_SYMBOLS; i++) {
		first[i] = tdm_stack_symbols_get(&symbols, &picture, i);
		assert_non_null(first[i]);
		for (uint32_t k = 0; k < i; k++)
			assert_ptr_not_equal(first[i], first[k]);
	}
	for (int round = 0; round < 2; round++)
		for (uint32_t i = 0; i < TDM_STACK_SYMBOLS; i++)
			assert_ptr_equal(tdm_stack_symbols_get(&symbols, &picture, i), first[i]);
	/* One more takes the place of the oldest; the others stay. */
	assert_non_null(tdm_stack_symbols_get(&symbols, &picture, TDM_STACK_SYMBOLS));
	for (uint32_t i = 1; i < TDM_STACK_SYMBOLS; i++)
		assert_ptr_equal(tdm_stack_symbols_get(&symbols, &picture, i), first[i]);
	for (uint32_t i = 0; i < PROCESSES; i++)
		assert_non_null(tdm_stack_symbols_get(&symbols, &picture, i));
	tdm_stack_symbols_done(&symbols);
	tdm_stack_symbols_done(&symbols);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_kept) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
