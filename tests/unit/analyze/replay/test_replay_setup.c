/* Setting up a replay: what a description may say, the options that override it, and events that no text trace has. */
#include "replay_run.h"

#include "base/err.h"

#include <errno.h>

static void a_description_says_what_is_wrong_with_it(void **state)
{
	(void)state;
	static const struct {
		const char *trace, *refusal;
	} cases[] = {
		{ "region\n", "1:7: expected size=BYTES of the region, but the line ends here\n" },
		{ "  region base=0\n", "1:16: expected size=BYTES of the region, but the line ends here\n" },
		{ "region size\n", "1:8: expected base=, size=, align=, min= or policy=, once each, got 'size'\n" },
		{ "region size=5 sise=5\n",
			"1:15: expected base=, size=, align=, min= or policy=, once each, got 'sise=5'\n" },
		{ "region size=5 size=5\n",
			"1:15: expected base=, size=, align=, min= or policy=, once each, got 'size=5'\n" },
		{ "region size=5 policy=worst\n", "1:22: expected 'first' or 'best', got 'worst'\n" },
		{ "region size=5K\n", "1:13: expected a whole number that fits 64 bits, got '5K'\n" },
		{ "region size= base=1\n", "1:13: expected a whole number that fits 64 bits, got ''\n" },
		{ "region size=\n", "1:13: expected a whole number that fits 64 bits, but the line ends here\n" },
		{ "region size=99999999999999999999\n",
			"1:13: expected a whole number that fits 64 bits, got '99999999999999999999'\n" },
		{ "region size=5 align=0\n", "1:21: expected 1 or more, got '0'\n" },
		{ "region base=18446744073709551615 size=1\n",
			"1:1: expected a region that ends below 2^64: base + size does not fit\n" },
		{ "region size=5 \033[2J\n",
			"1:15: expected base=, size=, align=, min= or policy=, once each, got '?[2J'\n" },
		{ "device\n", "1:7: expected the name of a card, but the line ends here\n" },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct run run = run_of(cases[i].trace);
		assert_string_equal(run.refusals.data, cases[i].refusal);
		assert_int_equal(run.replay->space_count, 0);
		run_done(&run);
	}
}

static void a_device_line_points_at_its_wrong_word(void **state)
{
	(void)state;
	static const struct {
		const char *trace, *position, *word;
	} cases[] = {
		{ "device n15\n", "1:8: ", "n15" }, { " device n150 l1_smal=3\n", "1:14: ", "l1_smal" },
		{ "device n150 l1_small=x\n", "1:22: ", "l1_small" },
		{ "device n150 l1_small\n", "1:21: ", "l1_small" },
		{ "device n150 l1_small=9999999999\n", "1:1: ", "l1_small" },
		{ "device grayskull\n", "1:1: ", "is not known" }, /* not known well enough to place anything */
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct run run = run_of(cases[i].trace);
		if (strncmp(run.refusals.data, cases[i].position, strlen(cases[i].position)) != 0 ||
			strstr(run.refusals.data, cases[i].word) == NULL)
			fail_msg("%s was refused with %s", cases[i].trace, run.refusals.data);
		assert_int_equal(run.replay->space_count, 0);
		run_done(&run);
	}
}

static void requests_without_a_usable_description_are_refused(void **state)
{
	(void)state;
	struct run run = run_of("device nothing\nbuffer a l1 size=5\n");
	assert_non_null(strstr(
		run.refusals.data, "2:8: expected a 'region' or 'device' line that could be used before this\n"));
	assert_string_equal(run.results.data, "");
	run_done(&run);
}

static struct run run_options(const char *trace, struct tdm_replay_options options)
{
	return run_with(trace, strlen(trace), &options);
}

static void another_policy_takes_the_place_of_the_traces_own(void **state)
{
	(void)state;
	/* Holes of 16K and 8K, the larger one on top: 8K top-down eats it under "first" only. */
	static const char trace[] =
		"region size=32768 align=1024 policy=first\nplace m 8192 8192\nalloc a 8192 top\nalloc b 16384 top\n";
	struct run run = run_of(trace);
	assert_string_equal(run.results.data, "m 8192\na 24576\nb none\n");
	assert_int_equal(run.replay->fit, TDM_FIT_FIRST);
	run_done(&run);
	run = run_options(trace, (struct tdm_replay_options){ .has_fit = true, .fit = TDM_FIT_BEST });
	assert_string_equal(run.results.data, "m 8192\na 0\nb 16384\n");
	assert_int_equal(run.replay->fit, TDM_FIT_BEST);
	run_done(&run);
}

static void another_card_keeps_what_the_program_chose_and_not_what_the_trace_said_of_its_card(void **state)
{
	(void)state;
	static const char trace[] = "device n150 l1_banks=72 l1_small=32768\nbuffer a l1 size=2048 page=2048\n";
	struct run run = run_options(trace, (struct tdm_replay_options){ .card = "p150" });
	assert_string_equal(run.refusals.data, "");
	assert_string_equal(run.results.data, "a 1538048 2048\n"); /* below the 32768 bytes at the top of 1572864 */
	assert_string_equal(tdm_replay_card(run.replay)->name, "p150");
	assert_int_equal(run.replay->spaces[TDM_KIND_L1].range.banks, 110);
	assert_int_equal(run.replay->spaces[TDM_KIND_L1_SMALL].range.size, 32768);
	run_done(&run);
	/* A card that nobody knows is no hindrance when another one is asked for; a field that nobody knows is. */
	run = run_options("device x999\nbuffer a dram size=64\n", (struct tdm_replay_options){ .card = "p150" });
	assert_string_equal(run.results.data, "a 1048704 64\n");
	run_done(&run);
	run = run_options("device n150 l1_bank=3\n", (struct tdm_replay_options){ .card = "p150" });
	assert_memory_equal(run.refusals.data, "1:13: ", 6);
	run_done(&run);
	run = run_options(trace, (struct tdm_replay_options){ .card = "p15" });
	assert_memory_equal(run.refusals.data, "0:", 2); /* the option is wrong, not a line */
	assert_non_null(strstr(run.refusals.data, "'p15'"));
	run_done(&run);
}

static void settings_are_applied_last(void **state)
{
	(void)state;
	static const char *const settings[] = { "l1_small=64K", "l1_banks=64", "l1_small=32K", NULL };
	struct run run = run_options("device n150 l1_small=0 l1_banks=72\nbuffer a l1 size=64 page=64\n",
		(struct tdm_replay_options){ .settings = settings });
	assert_string_equal(run.refusals.data, "");
	assert_string_equal(run.results.data, "a 1466304 64\n");
	assert_int_equal(run.replay->spaces[TDM_KIND_L1].range.banks, 64);
	run_done(&run);
	static const char *const wrong[] = { "l1_smal=64K", NULL };
	run = run_options("device n150\n", (struct tdm_replay_options){ .settings = wrong });
	assert_memory_equal(run.refusals.data, "0:0: --set l1_smal=64K: ", 24);
	run_done(&run);
}

static void options_for_a_card_do_not_apply_to_a_region(void **state)
{
	(void)state;
	static const char *const settings[] = { "l1_small=64K", NULL };
	static const struct tdm_replay_options options[] = { { .card = "p150" }, { .settings = settings },
		{ .card_file = "x" } };
	for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
		struct run run = run_options("region size=1024\n", options[i]);
		assert_string_equal(run.refusals.data,
			"0:0: this is a trace of one region: another card or changed figures do not apply\n");
		run_done(&run);
	}
}

static void a_missing_card_file_is_named(void **state)
{
	(void)state;
	struct tdm_replay_options options = { .card_file = "/does/not/exist" };
	struct tdm_replay *replay = tdm_replay_new(&options);
	struct tdm_event event = { .op = TDM_OP_DEVICE, .text = tdm_str_of("device n150"), .position = 1, .column = 1 };
	struct tdm_diag diag = { .file = "trace" };
	assert_int_equal(tdm_replay_apply(replay, &event, NULL, &diag), -ENOENT);
	assert_string_equal(diag.file, "/does/not/exist");
	assert_true(diag.text[0] != '\0');
	tdm_replay_free(replay);
}

/* Events need not come from a text trace: what only the reader would have caught must be caught here too. */
static void events_of_any_source_are_answered(void **state)
{
	(void)state;
	struct tdm_replay *replay = tdm_replay_new(NULL);
	struct tdm_diag diag = { 0 };
	struct tdm_event event = { .op = TDM_OP_DEVICE };
	assert_int_equal(tdm_replay_apply(replay, &event, NULL, &diag), TDM_EREFUSED); /* not described in words */
	event.text = tdm_str_of("device n150");
	assert_int_equal(tdm_replay_apply(replay, &event, NULL, &diag), 0);
	assert_int_equal(tdm_replay_apply(replay, &event, NULL, &diag), TDM_EREFUSED); /* described twice */
	for (uint8_t kind = TDM_KIND_CB; kind < TDM_KIND_COUNT; kind++) {
		event = (struct tdm_event){ .op = TDM_OP_ALLOC, .kind = kind, .id = 5, .size = 32, .page_size = 32 };
		assert_int_equal(tdm_replay_apply(replay, &event, NULL, &diag), TDM_EREFUSED);
	}
	event = (struct tdm_event){ .op = TDM_OP_FREE, .id = 5, .name = tdm_str_of("\033x") };
	assert_int_equal(tdm_replay_apply(replay, &event, NULL, &diag), TDM_ENOTFOUND);
	assert_string_equal(diag.text, "expected the name of a live buffer, got '?x'");
	event = (struct tdm_event){ .op = TDM_OP_ALLOC, .id = 6, .size = 32, .page_size = 32 }; /* without a name */
	event.address = TDM_ADDRESS_UNKNOWN;
	assert_int_equal(tdm_replay_apply(replay, &event, NULL, &diag), 0);
	assert_int_equal(replay->live_count, 1);
	for (uint8_t op = 0; op < TDM_OP_COUNT; op++) {
		if (op == TDM_OP_DEVICE || op == TDM_OP_ALLOC || op == TDM_OP_FREE)
			continue;
		event = (struct tdm_event){ .op = op, .name = tdm_str_of("n") };
		assert_int_equal(tdm_replay_apply(replay, &event, NULL, &diag), 0);
	}
	assert_int_equal(replay->live_count, 1);
	tdm_replay_free(replay);
	tdm_replay_free(NULL);
}

static void a_replay_of_nothing_has_no_spaces(void **state)
{
	(void)state;
	struct run run = run_of("# nothing\n");
	assert_int_equal(run.replay->space_count, 0);
	assert_int_equal(run.replay->ops, 0);
	assert_null(tdm_replay_card(run.replay));
	run_done(&run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_description_says_what_is_wrong_with_it),
		cmocka_unit_test(a_device_line_points_at_its_wrong_word),
		cmocka_unit_test(requests_without_a_usable_description_are_refused),
		cmocka_unit_test(another_policy_takes_the_place_of_the_traces_own),
		cmocka_unit_test(another_card_keeps_what_the_program_chose_and_not_what_the_trace_said_of_its_card),
		cmocka_unit_test(settings_are_applied_last),
		cmocka_unit_test(options_for_a_card_do_not_apply_to_a_region),
		cmocka_unit_test(a_missing_card_file_is_named),
		cmocka_unit_test(events_of_any_source_are_answered),
		cmocka_unit_test(a_replay_of_nothing_has_no_spaces),
	};
	return cmocka_run_group_tests_name("replay_setup", tests, NULL, NULL);
}
