/* The functions of a process are looked up once for many findings, even when findings of several processes
 * alternate. Which functions say who wanted a buffer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "view/rows/stack_rows.h"

enum { PROCESSES = TDM_STACK_SYMBOLS + 2 };

static void test_kept(void **state)
{
	(void)state;
	struct tdm_picture_process processes[PROCESSES] = { 0 };
	const struct tdm_picture picture = { .processes = processes, .process_count = PROCESSES };
	struct tdm_stack_symbols symbols = { 0 };
	struct tdm_symbolizer *first[TDM_STACK_SYMBOLS];
	for (uint32_t i = 0; i < PROCESSES; i++)
		processes[i].handle = i + 1;
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

static void test_who_wanted(void **state)
{
	(void)state;
	static const char *const on_every_way[] = {
		"tidemark_alloc_",
		"tidemark_alloc_ (api.c:12)",
		"tt::tt_metal::Buffer::create(unsigned long)",
		"std::_Sp_counted_ptr_inplace<tt::tt_metal::Buffer, std::allocator<void>, "
		"2>::_Sp_counted_ptr_inplace<int>(int&&)",
		"void __gnu_cxx::new_allocator<tt::tt_metal::Buffer>::construct<tt::tt_metal::Buffer, int>(int&&)",
		"std::shared_ptr<tt::tt_metal::Buffer> std::make_shared<tt::tt_metal::Buffer, int>(int&&)",
		"decltype (::new ((void*)(0)) tt::tt_metal::Buffer((declval<int>)())) "
		"std::construct_at<tt::tt_metal::Buffer>(int&&)",
		"std::function<void (int)>::operator()(int) const",
	};
	static const char *const sites[] = {
		"",
		"main",
		"main (main.cpp:14)",
		"model.py:12 forward",
		"run(std::vector<int, std::allocator<int> > const&)",
		"std::shared_ptr<tt::tt_metal::Buffer> mine::make<int>(int)",
		"tt::tt_metal::Buffer& (anonymous namespace)::get<int>(int)",
		"(anonymous namespace)::fill(tt::tt_metal::Buffer&)",
		"ttnn::operations::matmul(std::optional<int>)",
		"standard::go()",
	};
	for (size_t i = 0; i < sizeof on_every_way / sizeof on_every_way[0]; i++)
		if (!tdm_stack_is_on_every_way(on_every_way[i]))
			fail_msg("a site: %s", on_every_way[i]);
	for (size_t i = 0; i < sizeof sites / sizeof sites[0]; i++)
		if (tdm_stack_is_on_every_way(sites[i]))
			fail_msg("not a site: %s", sites[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_kept), cmocka_unit_test(test_who_wanted) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
