/*
 * Fuzz the reader of baselines. Exercises: base/json_walk.c, analyze/budget/budget.c.
 *
 * Properties: a refusal has a reason and leaves nothing; what is read equals itself, and is the same after it was
 * written and read again.
 */
#include <stddef.h>
#include <stdint.h>

#include "fuzz_check.h"
#include "analyze/budget/budget.h"
#include "view/write/table.h"

static void read_again(const struct tdm_budgets *budgets, struct tdm_budgets *again)
{
	struct tdm_buf out;
	struct tdm_json json;
	tdm_buf_init(&out);
	tdm_json_init(&json, &out);
	tdm_json_object(&json);
	tdm_json_put_object(&json, "pressure");
	const struct tdm_table table = tdm_budgets_table(budgets);
	tdm_json_put_table(&json, "budgets", &table);
	tdm_json_object_end(&json);
	tdm_json_object_end(&json);
	check(tdm_budgets_parse(tdm_buf_str(&out), "pressure", again, NULL) == 0);
	tdm_buf_done(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tdm_budgets budgets = { 0 }, again = { 0 };
	struct tdm_findings found = { 0 };
	struct tdm_diag diag = { 0 };
	if (tdm_budgets_parse((struct tdm_str){ (const char *)data, size }, "pressure", &budgets, &diag) != 0) {
		check(diag.text[0] != '\0' && budgets.count == 0);
		return 0;
	}
	read_again(&budgets, &again);
	check(tdm_budgets_compare(&budgets, &again, &found) == 0 && found.count == 0);
	tdm_findings_done(&found);
	tdm_budgets_done(&budgets);
	tdm_budgets_done(&again);
	return 0;
}
