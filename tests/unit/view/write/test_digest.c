/* The document of `tidemark report`: the order of findings, parts that show nothing, gaps, and the three forms. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "view/write/digest.h"
#include "view/write/write.h"

#include <stdio.h>

/* Gives the digest a finding with this text. */
static void find(struct tdm_digest *digest, enum tdm_severity severity, const char *text)
{
	struct tdm_findings found = { 0 };
	tdm_findings_remark(&found, severity, "test", NULL);
	tdm_findings_say(&found, "%s", text);
	tdm_digest_find(digest, &found);
	tdm_findings_done(&found);
}

static void expect_order(const struct tdm_digest *digest, const char *wanted)
{
	char order[64] = "";
	for (size_t i = 0; i < digest->finding_count; i++)
		strcat(order, digest->findings[i].text);
	assert_string_equal(order, wanted);
}

static void the_worst_come_first_then_the_order_of_parts(void **state)
{
	struct tdm_digest digest;
	(void)state;
	tdm_digest_init(&digest, &tdm_form_text);
	assert_non_null(tdm_digest_begin(&digest, "info", "a"));
	find(&digest, TDM_FINDING_INFO, "a");
	find(&digest, TDM_FINDING_WARNING, "b");
	find(&digest, TDM_FINDING_OK, "x");
	assert_non_null(tdm_digest_begin(&digest, "info", "b"));
	find(&digest, TDM_FINDING_BROKEN, "c");
	find(&digest, TDM_FINDING_WARNING, "d");
	find(&digest, TDM_FINDING_BROKEN, "e");
	tdm_digest_show(&digest);
	expect_order(&digest, "cebda");
	assert_int_equal(digest.findings[0].part->number, 2);
	assert_int_equal(digest.findings[2].part->number, 1);
	assert_int_equal(digest.counts[TDM_FINDING_BROKEN], 2);
	assert_int_equal(digest.counts[TDM_FINDING_WARNING], 2);
	assert_int_equal(digest.counts[TDM_FINDING_INFO], 1);
	assert_int_equal(digest.parts[0]->counts[TDM_FINDING_BROKEN], 0);
	assert_false(tdm_digest_has_failures(&digest));
	tdm_digest_done(&digest);
}

static void a_part_that_shows_nothing_leaves_only_its_reasons(void **state)
{
	struct tdm_digest digest;
	(void)state;
	tdm_digest_init(&digest, &tdm_form_text);
	assert_non_null(tdm_digest_begin(&digest, "info", "good"));
	find(&digest, TDM_FINDING_WARNING, "a");
	struct tdm_digest_part *part = tdm_digest_begin(&digest, "info", "bad");
	find(&digest, TDM_FINDING_BROKEN, "x");
	tdm_digest_say(part, tdm_str_of("bad: cannot be\nread"));
	tdm_digest_say(part, tdm_str_of("badly: another"));
	tdm_digest_drop(&digest, true);
	assert_int_equal(digest.part_count, 1);
	assert_int_equal(digest.counts[TDM_FINDING_BROKEN], 0);
	expect_order(&digest, "a");
	assert_int_equal(digest.gap_count, 2);
	assert_string_equal(digest.gaps[0].source, "bad");
	assert_string_equal(digest.gaps[0].reason, "cannot be?read");
	assert_string_equal(digest.gaps[1].reason, "badly: another");
	assert_true(tdm_digest_has_failures(&digest));
	tdm_digest_done(&digest);
}

static void a_gap_is_a_failure_only_if_it_says_so(void **state)
{
	struct tdm_digest digest;
	(void)state;
	tdm_digest_init(&digest, &tdm_form_text);
	tdm_digest_gap(&digest, "twin", "named before", false);
	assert_false(tdm_digest_has_failures(&digest));
	tdm_digest_gap(&digest, "file", "cannot be read", true);
	assert_true(tdm_digest_has_failures(&digest));
	tdm_digest_done(&digest);
}

static void findings_beyond_the_limit_are_counted(void **state)
{
	struct tdm_digest digest;
	struct tdm_buf out;
	(void)state;
	tdm_digest_init(&digest, &tdm_form_text);
	tdm_buf_init(&out);
	assert_non_null(tdm_digest_begin(&digest, "log", "many"));
	for (int i = 0; i < TDM_DIGEST_FINDINGS + 7; i++)
		find(&digest, TDM_FINDING_BROKEN, "again");
	assert_int_equal(digest.finding_count, TDM_DIGEST_FINDINGS);
	assert_int_equal(digest.counts[TDM_FINDING_BROKEN], TDM_DIGEST_FINDINGS + 7);
	const struct tdm_term term = { .width = 80 };
	tdm_write_text(tdm_digest_show(&digest), &term, &out);
	assert_non_null(strstr(out.data, "and 9,957 more\n"));
	tdm_buf_done(&out);
	tdm_digest_done(&digest);
}

/* A part with a value in its body, a message and a finding with advice; and a gap. */
static void fill(struct tdm_digest *digest)
{
	struct tdm_findings found = { 0 };
	struct tdm_digest_part *part = tdm_digest_begin(digest, "info", "a|b");
	assert_non_null(part);
	struct tdm_result *result = tdm_result_new();
	tdm_fact(&result->top, "Body", "body", tdm_value_count(7));
	tdm_digest_result(digest, &result->top, &(struct tdm_term){ .width = 40, .folds = true });
	tdm_result_free(result);
	tdm_digest_say(part, tdm_str_of("line 3 is damaged"));
	tdm_findings_remark(&found, TDM_FINDING_WARNING, "too_large", "Label");
	tdm_findings_figure(&found, "count", TDM_UNIT_COUNT, 3);
	tdm_findings_say(&found, "it <is> large");
	tdm_findings_advise(&found, "rm *", "remove it");
	tdm_digest_find(digest, &found);
	tdm_findings_done(&found);
	tdm_digest_gap(digest, "x\ny", "gone", true);
}

static void text_has_findings_then_parts_then_gaps(void **state)
{
	struct tdm_digest digest;
	struct tdm_buf out;
	(void)state;
	tdm_digest_init(&digest, &tdm_form_text);
	tdm_buf_init(&out);
	fill(&digest);
	const struct tdm_term term = { .width = 40, .folds = true };
	tdm_write_text(tdm_digest_show(&digest), &term, &out);
	assert_string_equal(out.data, "Report         0 errors, 1 warning, 0\n"
				      "               notes in 1 part\n"
				      "Left out       1, listed at the end with\n"
				      "               the reason\n"
				      "\n"
				      "Findings\n"
				      "severity part finding\n"
				      "warning     1 Label: it <is> large\n"
				      "              -> remove it\n"
				      "              $ rm *\n"
				      "\n"
				      "Parts\n"
				      "part  command  about  errors  warnings\n"
				      "   1  info     a|b         0         1\n"
				      "part  notes\n"
				      "   1      0  incomplete\n"
				      "\n"
				      "-- 1. info a|b -------------------------\n"
				      "\n"
				      "Body           7\n"
				      "\n"
				      "Could not be used\n"
				      "  line 3 is damaged\n"
				      "\n"
				      "Not in this report\n"
				      "input                          why\n"
				      "x?y                            gone\n");
	tdm_buf_done(&out);
	tdm_digest_done(&digest);
}

static void json_has_the_keys_of_parts_and_findings(void **state)
{
	struct tdm_digest digest;
	struct tdm_buf out;
	struct tdm_json json;
	(void)state;
	tdm_digest_init(&digest, &tdm_form_json);
	tdm_buf_init(&out);
	fill(&digest);
	tdm_json_init(&json, &out);
	tdm_json_object(&json);
	tdm_json_key(&json, "report");
	tdm_write_json(tdm_digest_show(&digest), &json);
	tdm_json_object_end(&json);
	assert_string_equal(out.data, "{\n"
				      "  \"report\": {\n"
				      "    \"errors\": 0,\n"
				      "    \"warnings\": 1,\n"
				      "    \"notes\": 0,\n"
				      "    \"findings\": [\n"
				      "      {\n"
				      "        \"part\": 1,\n"
				      "        \"name\": \"info\",\n"
				      "        \"source\": \"a|b\",\n"
				      "        \"what\": \"too_large\",\n"
				      "        \"severity\": \"warning\",\n"
				      "        \"verdict\": \"warning\",\n"
				      "        \"text\": \"Label: it <is> large\",\n"
				      "        \"about\": {\n"
				      "          \"name\": \"Label\",\n"
				      "          \"kind\": null,\n"
				      "          \"device\": null,\n"
				      "          \"pid\": null,\n"
				      "          \"comm\": null,\n"
				      "          \"host\": null,\n"
				      "          \"ledger\": null,\n"
				      "          \"phase\": null\n"
				      "        },\n"
				      "        \"figures\": {\n"
				      "          \"count\": 3\n"
				      "        },\n"
				      "        \"evidence\": {},\n"
				      "        \"advice\": [\n"
				      "          {\n"
				      "            \"text\": \"remove it\",\n"
				      "            \"command\": \"rm *\"\n"
				      "          }\n"
				      "        ]\n"
				      "      }\n"
				      "    ],\n"
				      "    \"findings_left_out\": 0,\n"
				      "    \"parts\": [\n"
				      "      {\n"
				      "        \"part\": 1,\n"
				      "        \"name\": \"info\",\n"
				      "        \"source\": \"a|b\",\n"
				      "        \"errors\": 0,\n"
				      "        \"warnings\": 1,\n"
				      "        \"notes\": 0,\n"
				      "        \"complete\": false,\n"
				      "        \"messages\": [\n"
				      "          \"line 3 is damaged\"\n"
				      "        ],\n"
				      "        \"info\": {\n"
				      "          \"body\": 7\n"
				      "        }\n"
				      "      }\n"
				      "    ],\n"
				      "    \"not_reported\": [\n"
				      "      {\n"
				      "        \"source\": \"x\\ny\",\n"
				      "        \"reason\": \"gone\",\n"
				      "        \"failure\": true\n"
				      "      }\n"
				      "    ]\n"
				      "  }\n"
				      "}\n");
	tdm_buf_done(&out);
	tdm_digest_done(&digest);
}

static void markdown_escapes_everything(void **state)
{
	struct tdm_digest digest;
	struct tdm_buf out;
	(void)state;
	tdm_digest_init(&digest, &tdm_form_markdown);
	tdm_buf_init(&out);
	fill(&digest);
	struct tdm_json json;
	tdm_json_init(&json, &out);
	digest.form->document(tdm_digest_show(&digest), &(struct tdm_term){ .width = 80 }, &json);
	assert_string_equal(out.data, "# Tidemark report\n\n- **Report**: 0 errors, 1 warning, 0 notes in 1 part\n"
				      "- **Left out**: 1, listed at the end with the reason\n"
				      "\n## Findings\n\n"
				      "| severity | part | finding |\n"
				      "|---|---:|---|\n"
				      "| warning | 1 | Label: it &lt;is&gt; large<br>-&gt; remove it<br>\\$ rm \\* |\n"
				      "\n## Parts\n\n"
				      "| part | command | about | errors | warnings | notes |  |\n"
				      "|---:|---|---|---:|---:|---:|---|\n"
				      "| 1 | info | a\\|b | 0 | 1 | 0 | incomplete |\n"
				      "\n## 1. info a\\|b\n\n"
				      "- **Body**: 7\n"
				      "\n### Could not be used\n\n"
				      "line 3 is damaged\n"
				      "\n## Not in this report\n\n"
				      "| input | why |\n"
				      "|---|---|\n"
				      "| x?y | gone |\n");
	tdm_buf_done(&out);
	tdm_digest_done(&digest);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_worst_come_first_then_the_order_of_parts),
		cmocka_unit_test(a_part_that_shows_nothing_leaves_only_its_reasons),
		cmocka_unit_test(a_gap_is_a_failure_only_if_it_says_so),
		cmocka_unit_test(findings_beyond_the_limit_are_counted),
		cmocka_unit_test(text_has_findings_then_parts_then_gaps),
		cmocka_unit_test(json_has_the_keys_of_parts_and_findings),
		cmocka_unit_test(markdown_escapes_everything),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
