/* Budgets of scanned programs, and two scans compared. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyze/budget/scan_budget.h"

#define BODY(text)                                                                             \
	"ProgramDescriptor F::create(const Tensor& t, bool big, uint32_t n) {\n"               \
	"    ProgramDescriptor desc;\n"                                                        \
	"    auto cb = [&](uint32_t index, uint32_t bytes) {\n"                                \
	"        desc.cbs.push_back(CBDescriptor{.total_size = bytes, .core_ranges = cores,\n" \
	"            .format_descriptors = {{CBFormatDescriptor{.buffer_index = index,\n"      \
	"                .data_format = tt::DataFormat::UInt32, .page_size = 64}}}});\n"       \
	"    };\n" text "    return desc;\n"                                                   \
	"}\n"

static struct tdm_scan scan_of(const char *text)
{
	struct tdm_scan scan;
	tdm_scan_text(&scan, "dir/program.cpp", tdm_str_of(text), &(struct tdm_scan_options){ 0 });
	return scan;
}

static void check(const char *text, uint64_t bytes, uint64_t min, uint64_t max, const char *expression)
{
	struct tdm_scan scan = scan_of(text);
	struct tdm_scan_budgets budgets = { 0 };
	tdm_scan_budgets_make(&scan, 0, 4096, &budgets);
	assert_int_equal(budgets.count, 1);
	assert_string_equal(budgets.list[0].expression, expression);
	assert_int_equal(budgets.list[0].bytes, bytes);
	assert_int_equal(budgets.list[0].min, min);
	assert_int_equal(budgets.list[0].max, max);
	assert_string_equal(budgets.list[0].name, "dir/program.cpp: F::create");
	tdm_scan_budgets_done(&budgets);
	tdm_scan_done(&scan);
}

static void sizes_are_added(void **state)
{
	(void)state;
	check(BODY("    cb(0, 64);\n    cb(1, 128);\n"), 192, 192, 192, "192");
	check(BODY("    cb(0, 64);\n    cb(1, 128 * n);\n"), TDM_BYTES_UNKNOWN, 64, TDM_BYTES_UNKNOWN, "64 + 128 * n");
}

static void the_larger_branch_counts(void **state)
{
	(void)state;
	check(BODY("    cb(0, 64);\n    if (big) { cb(1, 128); cb(2, 64); } else { cb(1, 256); }\n"), 320, 320, 320,
		"320");
	check(BODY("    if (big) { cb(1, 128); } else { cb(1, 64 * n); }\n"), TDM_BYTES_UNKNOWN, 128, TDM_BYTES_UNKNOWN,
		"max(128, 64 * n)");
	check(BODY("    if (big) { cb(1, 128); } else { cb(1, std::min(n, 2u) * 64); }\n"), 128, 128, 128, "128");
}

static void an_index_counts_once(void **state)
{
	(void)state;
	check(BODY("    cb(0, 64);\n    cb(0, 128);\n    cb(1, 64);\n"), 192, 192, 192, "192");
}

static void a_loop_has_no_upper_bound(void **state)
{
	(void)state;
	check(BODY("    for (uint32_t i = 0; i < n; i++) { cb(i, 64); }\n"), TDM_BYTES_UNKNOWN, 64, TDM_BYTES_UNKNOWN,
		"loop(64)");
	check(BODY("    for (auto& core : list) { cb(3, 64); }\n"), 64, 64, 64, "64");
}

static void views_count_nothing(void **state)
{
	(void)state;
	struct tdm_scan scan =
		scan_of(BODY("    cb(0, 64);\n"
			     "    desc.cbs.push_back(CBDescriptor{.total_size = 4096, .core_ranges = cores,\n"
			     "        .format_descriptors = {{CBFormatDescriptor{.buffer_index = 1,\n"
			     "            .data_format = tt::DataFormat::UInt32, .page_size = 64}}},\n"
			     "        .buffer = t.buffer()});\n"));
	struct tdm_scan_budgets budgets = { 0 };
	tdm_scan_budgets_make(&scan, 4, 4096, &budgets);
	assert_int_equal(budgets.list[0].bytes, 64);
	assert_int_equal(budgets.list[0].views, 1);
	assert_int_equal(budgets.list[0].buffers, 1);
	assert_string_equal(budgets.list[0].name, "program.cpp: F::create");
	tdm_scan_budgets_done(&budgets);
	tdm_scan_done(&scan);
}

static void only_a_limit_fails(void **state)
{
	(void)state;
	struct tdm_scan scan = scan_of(BODY("    cb(0, 1024);\n"));
	struct tdm_scan_budgets budgets = { 0 };
	struct tdm_findings found = { 0 };
	tdm_scan_budgets_make(&scan, 0, 1100, &budgets);
	assert_int_equal(tdm_scan_budgets_judge(&budgets, (double)NAN, &found), 0);
	assert_int_equal(tdm_scan_budgets_judge(&budgets, 0.95, &found), 0);
	assert_int_equal(found.count, 0);
	assert_int_equal(tdm_scan_budgets_judge(&budgets, 0.9, &found), 1);
	assert_string_equal(found.list[0].what, "over_limit");
	budgets.l1_bytes = 1000;
	budgets.list[0].share = 1.024;
	assert_int_equal(tdm_scan_budgets_judge(&budgets, (double)NAN, &found), 0);
	assert_string_equal(found.list[1].what, "does_not_fit");
	assert_int_equal(tdm_finding_number(&found, &found.list[1], "line"), 1);
	tdm_findings_done(&found);
	tdm_scan_budgets_done(&budgets);
	tdm_scan_done(&scan);
}

static void a_range_has_two_names(void **state)
{
	(void)state;
	struct tdm_scan scan = scan_of(BODY("    cb(0, 64);\n    cb(1, n);\n"));
	struct tdm_scan_budgets budgets = { 0 };
	struct tdm_budgets named = { 0 };
	tdm_scan_budgets_make(&scan, 0, 4096, &budgets);
	tdm_scan_budgets_named(&budgets, &named);
	assert_int_equal(named.count, 2);
	assert_true(named.list[0].bytes == TDM_BYTES_UNKNOWN);
	assert_string_equal(named.list[1].name, "dir/program.cpp: F::create (at least)");
	assert_int_equal(named.list[1].bytes, 64);
	tdm_budgets_done(&named);
	tdm_scan_budgets_done(&budgets);
	tdm_scan_done(&scan);
}

static void versions_are_compared_by_index(void **state)
{
	(void)state;
	static const enum tdm_change wanted[] = { TDM_CHANGE_GREW, TDM_CHANGE_CHANGED, TDM_CHANGE_GONE,
		TDM_CHANGE_SHRANK, TDM_CHANGE_NEW };
	struct tdm_scan_report r = {
		.before = scan_of(BODY("    cb(0, 64);\n    cb(1, n);\n    cb(2, 1);\n    cb(3, 9);\n    cb(5, 5);\n")),
		.scan = scan_of(
			BODY("    cb(5, 5);\n    cb(3, 8);\n    cb(4, 1);\n    cb(1, 2 * n);\n    cb(0, 65);\n")),
	};
	tdm_scan_compare(&r, 0, 0);
	assert_int_equal(r.change_count, 5);
	for (size_t i = 0; i < r.change_count; i++)
		assert_int_equal(r.changes[i].change, wanted[i]);
	assert_int_equal(r.same, 1);
	assert_null(r.changes[2].after);
	assert_null(r.changes[4].before);
	assert_int_equal(tdm_scan_root(&r.before, "dir/program.cpp"), strlen("dir/program.cpp"));
	assert_int_equal(tdm_scan_root(&r.before, "dir"), 4);
	assert_int_equal(tdm_scan_root(&r.before, "dir/"), 4);
	tdm_scan_report_done(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_are_added),
		cmocka_unit_test(the_larger_branch_counts),
		cmocka_unit_test(an_index_counts_once),
		cmocka_unit_test(a_loop_has_no_upper_bound),
		cmocka_unit_test(views_count_nothing),
		cmocka_unit_test(only_a_limit_fails),
		cmocka_unit_test(a_range_has_two_names),
		cmocka_unit_test(versions_are_compared_by_index),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
