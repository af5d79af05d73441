/* Finding the functions and lines of addresses in this very program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "input/elf/symbolize.h"

struct found {
	uint64_t base, end;
	char path[1024];
};

/* The first module is the program itself. */
static int take_first(struct dl_phdr_info *info, size_t size, void *context)
{
	struct found *found = context;
	(void)size;
	found->base = info->dlpi_addr;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD)
			found->end = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz;
	ssize_t got = readlink("/proc/self/exe", found->path, sizeof found->path - 1);
	return got > 0 ? 1 : -1;
}

__attribute__((noinline)) static uint64_t a_place_to_find(void)
{
	uint64_t here = (uint64_t)(uintptr_t)__builtin_return_address(0);
	__asm__ volatile("" : "+r"(here));
	return here;
}

__attribute__((noinline)) static uint64_t who_calls(void)
{
	uint64_t address = a_place_to_find();
	__asm__ volatile("" : "+r"(address)); /* no tail call */
	return address;
}

static void functions_and_lines(void **state)
{
	struct found found = { 0 };
	(void)state;
	assert_int_equal(dl_iterate_phdr(take_first, &found), 1);
	struct tdm_symbolizer *sym = tdm_symbolizer_new();
	assert_non_null(sym);
	assert_int_equal(tdm_symbolizer_module(sym, found.base, found.end - found.base, found.path), 0);
	uint64_t address = who_calls();
	const struct tdm_symbol *symbol = tdm_symbolizer_find(sym, address);
	assert_string_equal(symbol->module, "test_symbolize");
	assert_int_equal(symbol->offset, address - 1 - found.base);
	assert_string_equal(symbol->function, "who_calls");
	assert_non_null(strstr(symbol->file, "test_symbolize.c"));
	assert_true(symbol->line > 40 && symbol->line < 60);
	assert_ptr_equal(tdm_symbolizer_find(sym, address), symbol); /* looked up once */
	tdm_symbolizer_free(sym);
}

/* Names of a program that was built again since would be those of other functions. */
static void a_file_that_has_changed(void **state)
{
	struct found found = { 0 };
	(void)state;
	assert_int_equal(dl_iterate_phdr(take_first, &found), 1);
	for (int later = 0; later < 2; later++) {
		struct tdm_symbolizer *sym = tdm_symbolizer_new();
		assert_non_null(sym);
		assert_int_equal(tdm_symbolizer_module(sym, found.base, found.end - found.base, found.path), 0);
		tdm_symbolizer_loaded(sym, later != 0 ? UINT64_MAX : 1);
		uint64_t address = who_calls();
		const struct tdm_symbol *symbol = tdm_symbolizer_find(sym, address);
		assert_string_equal(symbol->function, later != 0 ? "who_calls" : "");
		assert_string_equal(symbol->module, "test_symbolize");
		assert_int_equal(symbol->offset, address - 1 - found.base);
		tdm_symbolizer_free(sym);
	}
}

static void what_is_not_known(void **state)
{
	(void)state;
	struct tdm_symbolizer *sym = tdm_symbolizer_new();
	assert_non_null(sym);
	assert_int_equal(tdm_symbolizer_module(sym, 0x1000, 0x1000, "/nowhere/lib.so"), 0);
	assert_int_equal(tdm_symbolizer_module(sym, 0x4000, 0x1000, "/dev/null"), 0);
	assert_int_equal(tdm_symbolizer_module(sym, 0x6000, 0x1000, "relative"), 0);
	assert_int_equal(tdm_symbolizer_module(sym, 2, UINT64_MAX, "/x"), -EOVERFLOW);
	const struct tdm_symbol *symbol = tdm_symbolizer_find(sym, 0x1235);
	assert_string_equal(symbol->module, "lib.so");
	assert_int_equal(symbol->offset, 0x234);
	assert_string_equal(symbol->function, "");
	assert_int_equal(symbol->line, 0);
	assert_string_equal(tdm_symbolizer_find(sym, 0x2001)->module, ""); /* behind its end */
	assert_string_equal(tdm_symbolizer_find(sym, 0x4001)->function, "");
	assert_string_equal(tdm_symbolizer_find(sym, 0x6001)->function, "");
	assert_string_equal(tdm_symbolizer_find(sym, 0)->module, "");
	assert_string_equal(tdm_symbolizer_find(sym, UINT64_MAX)->module, "");
	tdm_symbolizer_free(sym);
	tdm_symbolizer_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_and_lines),
		cmocka_unit_test(a_file_that_has_changed),
		cmocka_unit_test(what_is_not_known),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
