/* Budgets: comparison by name, and their JSON. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyze/budget/budget.h"
#include "base/err.h"
#include "view/write/table.h"

static void add(struct tdm_budgets *to, const char *name, uint64_t bytes)
{
	tdm_budgets_add(to, tdm_str_of(name), bytes);
}

static void only_growth_and_lost_figures_are_worse(void **state)
{
	(void)state;
	struct tdm_budgets before = { 0 }, after = { 0 };
	struct tdm_findings found = { 0 };
	static const char *const wanted[] = { "budget_grew", "budget_gone", "budget_known", "budget_new",
		"budget_shrank", "budget_unknown" };
	add(&before, "a grows", 1024), add(&after, "a grows", 3072);
	add(&before, "b gone", 7);
	add(&before, "c known", TDM_BYTES_UNKNOWN), add(&after, "c known", 5);
	add(&after, "d new", 9);
	add(&before, "e shrinks", 10), add(&after, "e shrinks", 9);
	add(&before, "f unknown", 10), add(&after, "f unknown", TDM_BYTES_UNKNOWN);
	add(&before, "g same", 10), add(&after, "g same", 10);
	add(&before, "h unknown still", TDM_BYTES_UNKNOWN), add(&after, "h unknown still", TDM_BYTES_UNKNOWN);
	assert_int_equal(tdm_budgets_compare(&before, &after, &found), 2);
	assert_int_equal(found.count, 6);
	for (size_t i = 0; i < found.count; i++)
		assert_string_equal(found.list[i].what, wanted[i]);
	struct tdm_buf text = { 0 };
	tdm_finding_sentence_put(&found, &found.list[0], &text);
	assert_string_equal(text.data, "a grows grew from 1 KiB to 3 KiB, by 2 KiB");
	tdm_buf_done(&text);
	assert_int_equal(found.list[0].severity, TDM_FINDING_BROKEN);
	assert_int_equal(found.list[4].severity, TDM_FINDING_INFO);
	tdm_findings_done(&found);
	tdm_budgets_done(&before);
	tdm_budgets_done(&after);
}

static void equal_names_are_matched_in_order(void **state)
{
	(void)state;
	struct tdm_budgets before = { 0 }, after = { 0 };
	struct tdm_findings found = { 0 };
	add(&before, "x", 1), add(&before, "x", 2);
	add(&after, "x", 1), add(&after, "x", 3), add(&after, "x", 4);
	assert_int_equal(tdm_budgets_compare(&before, &after, &found), 1);
	assert_int_equal(found.count, 2);
	assert_int_equal(tdm_finding_number(&found, &found.list[0], "after_bytes"), 3);
	assert_string_equal(found.list[1].what, "budget_new");
	tdm_findings_done(&found);
	tdm_budgets_done(&before);
	tdm_budgets_done(&after);
}

static void json_is_read_back(void **state)
{
	(void)state;
	struct tdm_budgets budgets = { 0 }, back = { 0 };
	struct tdm_buf out;
	struct tdm_json json;
	struct tdm_diag diag = { 0 };
	add(&budgets, "constant \"4\"", 65536);
	add(&budgets, "unknown", TDM_BYTES_UNKNOWN);
	struct tdm_terms terms = { 0 };
	tdm_terms_add(&terms, tdm_str_of("Wt * \"n\""), -3);
	tdm_budgets_explain(&budgets, tdm_str_of("-3 * Wt * \"n\""), &terms);
	tdm_buf_init(&out);
	tdm_json_init(&json, &out);
	tdm_json_envelope(&json, "tidemark.pressure");
	tdm_json_put_object(&json, "pressure");
	const struct tdm_table table = tdm_budgets_table(&budgets);
	tdm_json_put_table(&json, "budgets", &table);
	tdm_json_object_end(&json);
	tdm_json_object_end(&json);
	assert_int_equal(tdm_budgets_parse(tdm_buf_str(&out), "pressure", &back, &diag), 0);
	assert_int_equal(back.count, 2);
	assert_string_equal(back.list[0].name, "constant \"4\"");
	assert_int_equal(back.list[0].bytes, 65536);
	assert_true(back.list[1].bytes == TDM_BYTES_UNKNOWN);
	assert_null(back.list[0].expression);
	assert_string_equal(back.list[1].expression, "-3 * Wt * \"n\"");
	assert_int_equal(tdm_terms_compare(&back.list[1].terms, &budgets.list[1].terms), TDM_TERMS_SAME);
	tdm_budgets_done(&back);
	assert_int_equal(tdm_budgets_parse(tdm_buf_str(&out), "scan", &back, &diag), TDM_ESYNTAX);
	assert_non_null(strstr(diag.text, "--save"));
	tdm_buf_done(&out);
	tdm_budgets_done(&budgets);
}

static void wrong_files_are_refused(void **state)
{
	(void)state;
	static const char *const texts[] = {
		"",
		"{",
		"[]",
		"{\"pressure\": {}}",
		"{\"pressure\": {\"budgets\": 3}}",
		"{\"pressure\": {\"budgets\": [3]}}",
		"{\"pressure\": {\"budgets\": [[]]}}",
		"{\"pressure\": {\"budgets\": [{\"name\": \"a\"}]}}",
		"{\"pressure\": {\"budgets\": [{\"bytes\": 1}]}}",
		"{\"pressure\": {\"budgets\": [{\"name\": 1, \"bytes\": 1}]}}",
		"{\"pressure\": {\"budgets\": [{\"name\": \"a\", \"bytes\": -1}]}}",
		"{\"pressure\": {\"budgets\": [{\"name\": \"a\", \"bytes\": 99999999999999999999}]}}",
		"{\"pressure\": {\"budgets\": [{\"name\": \"a\", \"bytes\": 1, \"expression\": 2}]}}",
		"{\"pressure\": {\"budgets\": [{\"name\": \"a\", \"bytes\": 1, \"terms\": 2}]}}",
		"{\"pressure\": {\"budgets\": [{\"name\": \"a\", \"bytes\": 1, \"terms\": []}]}}",
		"{\"pressure\": {\"budgets\": [{\"name\": \"a\", \"bytes\": 1, \"terms\": {\"x\": 1.5}}]}}",
		"{\"pressure\": {\"budgets\": [{\"name\": \"a\", \"bytes\": 1, \"terms\": {\"x\": {}}}]}}",
		"{\"pressure\": {\"other\": [{\"name\": \"a\", \"bytes\": 1}]}}",
		"{\"version\": 2, \"pressure\": {\"budgets\": [{\"name\": \"a\", \"bytes\": 1}]}}",
		"{\"pressure\": {\"budgets\": [{\"name\": \"a\", \"bytes\": 1}]}, \"version\": \"x\"}",
		"{\"x\": {\"pressure\": {\"budgets\": [{\"name\": \"a\", \"bytes\": 1}]}}}",
	};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct tdm_budgets budgets = { 0 };
		struct tdm_diag diag = { 0 };
		assert_true(tdm_budgets_parse(tdm_str_of(texts[i]), "pressure", &budgets, &diag) < 0);
		assert_true(diag.text[0] != '\0' && budgets.count == 0 && budgets.list == NULL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_growth_and_lost_figures_are_worse),
		cmocka_unit_test(equal_names_are_matched_in_order),
		cmocka_unit_test(json_is_read_back),
		cmocka_unit_test(wrong_files_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
