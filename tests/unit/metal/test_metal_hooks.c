/* The table of tt-metal's functions, what of a runtime is believed, and reading memory that may not be there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "metal/hook_table.h"
#include "metal/metal.h"

/* There are none here. */
void tdm_metal_allocators_inherit(void)
{
}

static void each_row_says_what_it_is(void **state)
{
	(void)state;
	for (size_t i = 0; i < tdm_metal_symbol_count; i++) {
		const struct tdm_metal_symbol *row = &tdm_metal_symbols[i];
		assert_true(strncmp(row->symbol, "_Z", 2) == 0);
		assert_true(row->name[0] != '\0' && row->sees[0] != '\0' && row->topic < TDM_METAL_TOPICS);
		assert_true(row->is_hook == (i < TDM_METAL_HOOK_COUNT));
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(row->symbol, tdm_metal_symbols[k].symbol);
	}
}

/* All rows of a function agree about what is lost without it. */
static void rows_of_one_name_belong_to_one_topic(void **state)
{
	(void)state;
	for (size_t i = 0; i < tdm_metal_symbol_count; i++)
		for (size_t k = 0; k < i; k++)
			if (strcmp(tdm_metal_symbols[i].name, tdm_metal_symbols[k].name) == 0) {
				assert_int_equal(tdm_metal_symbols[i].topic, tdm_metal_symbols[k].topic);
				assert_int_equal(tdm_metal_symbols[i].is_needed, tdm_metal_symbols[k].is_needed);
			}
}

static void set(bool *present, const char *name, bool is_there)
{
	for (size_t i = 0; i < tdm_metal_symbol_count; i++)
		if (strcmp(tdm_metal_symbols[i].name, name) == 0)
			present[i] = is_there;
}

static void a_topic_without_a_needed_function_is_not_seen(void **state)
{
	(void)state;
	bool *present = calloc(tdm_metal_symbol_count, sizeof *present);
	assert_non_null(present);
	assert_non_null(tdm_metal_missing(TDM_METAL_BUFFERS, present));
	for (size_t i = 0; i < tdm_metal_symbol_count; i++)
		present[i] = true;
	for (int topic = 0; topic < TDM_METAL_TOPICS; topic++)
		assert_null(tdm_metal_missing((enum tdm_metal_topic)topic, present));
	set(present, "MeshDevice::replay_mesh_trace", false);
	set(present, "Device::replay_trace", false);
	assert_string_equal(tdm_metal_missing(TDM_METAL_TRACES, present), "MeshDevice::replay_mesh_trace");
	/* Without the allocator's function the tracker does, but does not see what failed. */
	set(present, "AllocatorImpl::allocate_buffer", false);
	assert_null(tdm_metal_missing(TDM_METAL_BUFFERS, present));
	assert_string_equal(tdm_metal_missing(TDM_METAL_OUT_OF_MEMORY, present), "AllocatorImpl::allocate_buffer");
	set(present, "GraphTracker::track_allocate", false);
	assert_string_equal(tdm_metal_missing(TDM_METAL_BUFFERS, present), "AllocatorImpl::allocate_buffer");
	free(present);
}

static void a_place_is_used_after_it_was_proven_and_never_after_it_was_wrong(void **state)
{
	(void)state;
	struct tdm_metal_judgement judgement = { 0 };
	for (int i = 0; i < TDM_METAL_ENOUGH; i++) {
		assert_false(tdm_metal_is_proven(&judgement));
		tdm_metal_judge(&judgement, true);
	}
	assert_true(tdm_metal_is_proven(&judgement));
	tdm_metal_judge(&judgement, false);
	assert_false(tdm_metal_is_proven(&judgement));
	for (int i = 0; i < 300; i++)
		tdm_metal_judge(&judgement, true);
	assert_false(tdm_metal_is_proven(&judgement));
}

static void places_are_compared_with_answers(void **state)
{
	(void)state;
	const struct tdm_metal_answers dram = { .is_dram = true, .page_size = 2048, .pages = 4 };
	const struct tdm_metal_answers trace = { .is_dram = true, .is_trace = true, .page_size = 1024, .pages = 1 };
	const struct tdm_metal_answers l1 = { .is_l1 = true, .page_size = 2048, .pages = 1 };
	assert_true(tdm_metal_size_agrees(8192, &dram) && tdm_metal_size_agrees(8200, &dram));
	assert_false(tdm_metal_size_agrees(8191, &dram) || tdm_metal_size_agrees(10240, &dram));
	assert_false(tdm_metal_size_agrees(0, &(struct tdm_metal_answers){ .page_size = UINT64_MAX, .pages = 2 }));
	assert_false(tdm_metal_size_agrees(0, &(struct tdm_metal_answers){ 0 }));
	assert_true(tdm_metal_type_agrees(0, &dram) && tdm_metal_type_agrees(4, &trace));
	assert_true(tdm_metal_type_agrees(1, &l1) && tdm_metal_type_agrees(3, &l1));
	assert_false(tdm_metal_type_agrees(4, &dram) || tdm_metal_type_agrees(0, &trace));
	assert_false(tdm_metal_type_agrees(2, &l1) || tdm_metal_type_agrees(UINT32_MAX, &dram));
	assert_int_equal(tdm_metal_kind_of(3), TIDEMARK_L1_SMALL);
	assert_int_equal(tdm_metal_kind_of(2), UINT32_MAX);
	assert_int_equal(tdm_metal_kind_of(77), UINT32_MAX);
}

static void memory_that_is_not_there_is_no_crash(void **state)
{
	(void)state;
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char got[16] = "";
	assert_true(pages != MAP_FAILED && munmap(pages + page, page) == 0);
	strcpy(pages + page - sizeof got, "the last words.");
	errno = E2BIG;
	assert_true(tdm_metal_copy(got, pages + page - sizeof got, sizeof got));
	assert_string_equal(got, "the last words.");
	assert_false(tdm_metal_copy(got, pages + page - sizeof got + 1, sizeof got));
	assert_false(tdm_metal_copy(got, pages + page, 1));
	assert_false(tdm_metal_copy(got, NULL, sizeof got));
	assert_false(tdm_metal_copy(got, (const void *)(UINTPTR_MAX - 8), sizeof got));
	assert_int_equal(errno, E2BIG);
	munmap(pages, page);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_row_says_what_it_is),
		cmocka_unit_test(rows_of_one_name_belong_to_one_topic),
		cmocka_unit_test(a_topic_without_a_needed_function_is_not_seen),
		cmocka_unit_test(a_place_is_used_after_it_was_proven_and_never_after_it_was_wrong),
		cmocka_unit_test(places_are_compared_with_answers),
		cmocka_unit_test(memory_that_is_not_there_is_no_crash),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
