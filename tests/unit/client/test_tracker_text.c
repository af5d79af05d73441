/* The summary of the phase tracker, to the byte: documented models, the text of the original code, rounding, output. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tracker_steps.h"
#include "tidemark.h"

enum { MB = 1024 * 1024, KB = 1024 };

/* A documented figure in bytes. */
static uint64_t mb(double figure)
{
	return (uint64_t)(figure * MB + 0.5);
}

static char *summary(void)
{
	size_t length = tidemark_capture_format(NULL, 0);
	char *text = malloc(length + 1);
	assert_non_null(text);
	assert_int_equal(tidemark_capture_format(text, length + 1), length);
	assert_int_equal(strlen(text), length);
	return text;
}

static void expect_in_summary(const char *part)
{
	char *text = summary();
	if (strstr(text, part) == NULL)
		fail_msg("no \"%s\" in\n%s", part, text);
	free(text);
}

/* A phase that reaches `peak` above its start in tensors of a model's usual sizes, and ends `change` above it. */
static void run_phase(uint64_t peak, int64_t change)
{
	const uint64_t tensor = 11534336, temporary = 262144;
	uint64_t held = 0;
	while (peak - held > tensor + temporary) {
		alloc_dram(temporary);
		alloc_dram(tensor);
		free_dram(temporary);
		held += tensor;
	}
	alloc_dram(peak - held);
	uint64_t give_back = (uint64_t)((int64_t)peak - change);
	for (; give_back > tensor; give_back -= tensor)
		free_dram(tensor);
	free_dram(give_back);
}

static void a_model_that_recomputes_its_activations(void **state)
{
	(void)state;
	begin(TIDEMARK_CAPTURE_NO_DISPATCH);
	run_phase(mb(1863.252), (int64_t)mb(1863.252));
	snapshot("MODEL_CREATION");
	run_phase(mb(3708.76), (int64_t)mb(3708.76));
	snapshot("OPTIMIZER_CREATION");
	run_phase(mb(996.35), (int64_t)mb(192.951));
	snapshot("FORWARD_PASS");
	run_phase(mb(2513.69), (int64_t)mb(1663.073));
	snapshot("BACKWARD_PASS");
	assert_int_equal(tidemark_capture_end("FIRST_ITERATION_COMPLETE"), 0);

	expect_in_summary(
		"Segment Change +1863.25 MB\n  DRAM: Cumulative Peak 1863.25 MB, Cumulative Current 1863.25 MB\n");
	expect_in_summary(
		"Segment Change +3708.76 MB\n  DRAM: Cumulative Peak 5572.01 MB, Cumulative Current 5572.01 MB\n");
	expect_in_summary("--- FORWARD_PASS ---\n  DRAM: Segment Peak 996.35 MB, ");
	expect_in_summary(
		"Segment Change +192.95 MB\n  DRAM: Cumulative Peak 6568.36 MB, Cumulative Current 5764.96 MB\n");
	expect_in_summary("--- BACKWARD_PASS ---\n  DRAM: Segment Peak 2513.69 MB, ");
	expect_in_summary(
		"Segment Change +1663.07 MB\n  DRAM: Cumulative Peak 8278.65 MB, Cumulative Current 7428.04 MB\n");
	expect_in_summary("--- FIRST_ITERATION_COMPLETE ---\n  DRAM: Segment Peak 0.00 MB, Allocations 0.00 MB, "
			  "Deallocations 0.00 MB, Segment Change +0.00 MB\n");
	expect_in_summary("\n=== Final Totals ===\nOverall DRAM Peak: 8278.65 MB, Final DRAM Usage: 7428.04 MB\n\n");
}

static void a_model_that_keeps_its_activations(void **state)
{
	(void)state;
	begin(TIDEMARK_CAPTURE_NO_DISPATCH);
	run_phase(mb(5571.874), (int64_t)mb(5571.874));
	snapshot("OPTIMIZER_CREATION");
	run_phase(mb(10019.393), (int64_t)mb(9636.0195));
	snapshot("FORWARD_PASS");
	run_phase(mb(458.753), -(int64_t)mb(7780.87));
	snapshot("BACKWARD_PASS");
	assert_int_equal(tidemark_capture_end(NULL), 0);

	expect_in_summary("--- FORWARD_PASS ---\n  DRAM: Segment Peak 10019.39 MB, ");
	expect_in_summary(
		"Segment Change +9636.02 MB\n  DRAM: Cumulative Peak 15591.27 MB, Cumulative Current 15207.89 MB\n");
	expect_in_summary("--- BACKWARD_PASS ---\n  DRAM: Segment Peak 458.75 MB, ");
	expect_in_summary("Segment Change -7780.87 MB\n  DRAM: Cumulative Peak 15666.65 MB, ");
	expect_in_summary("Overall DRAM Peak: 15666.65 MB, ");
	expect_in_summary("--- END_TRACE ---\n");
}

/* Sums of a segment whose text is known. */
struct golden {
	const char *name;
	uint64_t dram_peak, dram_allocations, dram_deallocations;
	uint64_t cb, buffer, total;
};

static void feed(const struct golden *g)
{
	alloc_dram(g->dram_peak);
	uint64_t again = g->dram_allocations - g->dram_peak, freed = 0;
	while (again > 0) {
		uint64_t piece = again < g->dram_peak ? again : g->dram_peak;
		free_dram(piece);
		alloc_dram(piece);
		freed += piece;
		again -= piece;
	}
	free_dram(g->dram_deallocations - freed);
	tdm_tracker_alloc(TIDEMARK_L1, 0, g->buffer, false);
	tdm_tracker_free(TIDEMARK_L1, 0, g->cb + g->buffer - g->total, false);
	tdm_tracker_alloc(TIDEMARK_CB, 0, g->cb, false);
	snapshot(g->name);
}

static void the_text_is_that_of_the_original(void **state)
{
	(void)state;
	static const struct golden segments[] = {
		{ "MODEL_CREATION", 446464, 767488, 767488, 139264, 295168, 434432 },
		{ "FORWARD_PASS", 6639488, 11478848, 5142464, 126976, 481472, 539200 },
		{ "BACKWARD_PASS", 1905408, 6716416, 6568512, 276480, 158528, 335296 },
	};
	begin(TIDEMARK_CAPTURE_NORMAL);
	for (size_t i = 0; i < sizeof(segments) / sizeof(segments[0]); i++)
		feed(&segments[i]);

	char expected[4096] = "";
	FILE *file = fopen(TDM_TEST_DATA "/graph/print_memory_usage.expected", "r");
	assert_non_null(file);
	assert_true(fread(expected, 1, sizeof(expected) - 1, file) > 0);
	fclose(file);
	char *text = summary();
	assert_string_equal(text, expected);

	/* cut at every length, and always terminated */
	for (size_t cap = 1; cap <= strlen(text) + 1; cap++) {
		char *part = malloc(cap);
		assert_non_null(part);
		assert_int_equal(tidemark_capture_format(part, cap), strlen(text));
		assert_int_equal(strlen(part), cap - 1);
		assert_memory_equal(part, text, cap - 1);
		free(part);
	}
	free(text);
}

static void numbers_round_as_printf_rounds(void **state)
{
	(void)state;
	static const struct {
		uint64_t allocated, freed;
		const char *change;
	} cases[] = {
		{ 0, 0, "+0.00" },
		{ 1, 0, "+0.00" },
		{ 0, 1, "-0.00" },
		{ 128 * KB, 0, "+0.12" }, /* ties go to the even digit */
		{ 384 * KB, 0, "+0.38" },
		{ 0, 640 * KB, "-0.62" },
		{ 1047552, 0, "+1.00" },
		{ 10 * MB - 1, 0, "+10.00" },
		{ UINT64_C(100) << 40, 0, "+104857600.00" },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		tidemark_capture_clear();
		begin(TIDEMARK_CAPTURE_NORMAL);
		alloc_dram(cases[i].allocated);
		free_dram(cases[i].freed);
		snapshot("X");
		char part[64];
		snprintf(part, sizeof(part), "Segment Change %s MB\n", cases[i].change);
		expect_in_summary(part);
	}
}

static void the_locale_does_not_matter(void **state)
{
	(void)state;
	const char *const locales[] = { "de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "C.UTF-8" };
	for (size_t i = 0; i < 4 && setlocale(LC_NUMERIC, locales[i]) == NULL; i++)
		continue;
	begin(TIDEMARK_CAPTURE_NORMAL);
	alloc_dram(5 * MB / 2);
	snapshot("X");
	expect_in_summary("Segment Peak 2.50 MB, ");
	setlocale(LC_NUMERIC, "C");
}

static void nothing_captured_is_said(void **state)
{
	(void)state;
	char text[64];
	assert_int_equal(tidemark_capture_format(text, sizeof(text)), strlen("WARNING: No traces captured\n"));
	assert_string_equal(text, "WARNING: No traces captured\n");
	begin(TIDEMARK_CAPTURE_NORMAL);
	assert_true(tidemark_capture_format(text, sizeof(text)) > 0);
	assert_string_equal(text, "WARNING: No traces captured\n");
}

/* A program's own output and the summary come out in the order in which they were written, also where stdio collects
 * it. */
static void printing_keeps_the_order_of_output(void **state)
{
	(void)state;
	begin(TIDEMARK_CAPTURE_NORMAL);
	alloc_dram(MB);
	snapshot("X");
	FILE *file = tmpfile();
	int saved = dup(STDOUT_FILENO);
	assert_true(file != NULL && saved >= 0);
	fflush(stdout);
	dup2(fileno(file), STDOUT_FILENO);
	printf("before\n");
	int err = tidemark_capture_print();
	printf("after\n");
	fflush(stdout);
	dup2(saved, STDOUT_FILENO);
	close(saved);
	assert_int_equal(err, 0);

	char text[2048] = "", expected[2048];
	rewind(file);
	assert_true(fread(text, 1, sizeof(text) - 1, file) > 0);
	fclose(file);
	char *printed = summary();
	snprintf(expected, sizeof(expected), "before\n%safter\n", printed);
	free(printed);
	assert_string_equal(text, expected);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_model_that_recomputes_its_activations, start),
		cmocka_unit_test_setup(a_model_that_keeps_its_activations, start),
		cmocka_unit_test_setup(the_text_is_that_of_the_original, start),
		cmocka_unit_test_setup(numbers_round_as_printf_rounds, start),
		cmocka_unit_test_setup(the_locale_does_not_matter, start),
		cmocka_unit_test_setup(nothing_captured_is_said, start),
		cmocka_unit_test_setup(printing_keeps_the_order_of_output, start),
	};
	return cmocka_run_group_tests_name("tracker_text", tests, make_directory, remove_directory);
}
