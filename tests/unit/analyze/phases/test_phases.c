/* Training phases: the documented calculations, micro-batches, what fits and what would help. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analyze/phases/phases.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MB(x) ((int64_t)((x)*1048576.0 + ((x) < 0 ? -0.5 : 0.5)))

static const struct tdm_phases_options nothing_said = { TDM_BYTES_UNKNOWN, TDM_BYTES_UNKNOWN, TDM_BYTES_UNKNOWN,
	TDM_BYTES_UNKNOWN, false };

static void add(struct tdm_phase_run *run, const char *name, double peak, double allocated, double freed)
{
	assert_int_equal(
		tdm_phase_run_append(run, tdm_str_of(name),
			&(struct tdm_phase_figures){
				.dram_peak = MB(peak), .dram_allocated = MB(allocated), .dram_freed = MB(freed) }),
		0);
}

/* TinyLlama in both modes, as documented. */
static struct tdm_phase_runs tinyllama(void)
{
	struct tdm_phase_runs runs = { 0 };
	struct tdm_phase_run *run = tdm_phase_runs_add(&runs, tdm_str_of("memory_efficient"));
	assert_non_null(run);
	run->parameters = 969369600;
	add(run, "MODEL_CREATION", 1863.25, 1863.25, 0);
	add(run, "OPTIMIZER_CREATION", 3708.76, 3708.76, 0);
	add(run, "FORWARD_PASS", 996.35, 1192.95, 1000);
	add(run, "BACKWARD_PASS", 2513.69, 2663.07, 1000);
	run = tdm_phase_runs_add(&runs, tdm_str_of("default"));
	assert_non_null(run);
	run->parameters = 969369600;
	add(run, "MODEL_CREATION", 1863.25, 1863.25, 0);
	add(run, "OPTIMIZER_CREATION", 3708.63, 3708.63, 0);
	add(run, "FORWARD_PASS", 10019.39, 10636.02, 1000);
	add(run, "BACKWARD_PASS", 458.75, 1000, 8780.87);
	return runs;
}

static void assert_mb(int64_t bytes, double mb)
{
	if (llabs((long long)(bytes - MB(mb))) > 16)
		fail_msg("%.4f MB, expected %.4f", (double)bytes / 1048576, mb);
}

static void the_documented_values(void **state)
{
	(void)state;
	struct tdm_phase_runs runs = tinyllama();
	struct tdm_phases r[2];
	tdm_phases_analyze(&runs, &nothing_said, r);
	assert_int_equal(r[0].model.expected, 969369600 * 2);
	assert_int_equal(r[0].optimizer.expected, 969369600 * INT64_C(4));
	assert_int_equal(r[0].gradients.expected, 969369600 * 2);
	assert_mb(r[0].model.measured, 1863.25);
	assert_mb(r[0].optimizer.measured, 3708.76);
	assert_mb(r[0].gradients.measured, 1856.02);
	assert_mb(r[0].activations, 192.95);
	assert_mb(r[0].gradients_overhead, 2513.69);
	assert_mb(r[0].peak, 8278.65);
	assert_true(fabs(tdm_phases_difference(&r[0].model) - 0.7747) < 1e-3);
	assert_int_equal(r[0].device_memory_bytes, TDM_PHASES_DEVICE_MEMORY);
	assert_int_equal(r[0].memory_from, TDM_MEMORY_DEFAULT);
	assert_true(fabs(tdm_phases_usage(&r[0]) - 67.37) < 0.01);
	assert_true(r[0].fits && r[0].fits_known);
	assert_false(r[1].fits);
	assert_true(r[1].fits_known);
	/* Parts: the theory, and the rest of the peak. */
	assert_int_equal(r[0].parts[TDM_PART_MODEL], 969369600 * 2);
	assert_mb(r[0].parts[TDM_PART_OTHER], 8278.65 - 6 * (969369600 / 1048576.0) - 192.95 - 2513.69);
	assert_false(r[0].parts_measured);
	tdm_phase_runs_done(&runs);
}

static void what_the_user_says_wins(void **state)
{
	(void)state;
	struct tdm_phase_runs runs = tinyllama();
	runs.runs[1].device_memory_bytes = 7; /* the first that is known, unless the user says */
	struct tdm_phases r[2];
	struct tdm_phases_options options = { TDM_BYTES_UNKNOWN, 1000, 5, 0, true };
	tdm_phases_analyze(&runs, &options, r);
	assert_int_equal(r[0].device_memory_bytes, 7);
	assert_int_equal(r[0].memory_from, TDM_MEMORY_RUN);
	assert_int_equal(r[0].model.expected, 1000);
	assert_int_equal(r[0].optimizer.expected, 5);
	assert_int_equal(r[0].gradients.expected, 0);
	assert_true(tdm_phases_difference(&r[0].gradients) == 0);
	assert_true(r[0].parts_measured);
	assert_mb(r[0].parts[TDM_PART_MODEL], 1863.25);
	options = nothing_said;
	options.model_bytes = 1000;
	options.device_memory_bytes = UINT64_C(1) << 60;
	tdm_phases_analyze(&runs, &options, r);
	assert_int_equal(r[1].optimizer.expected, 2000);
	assert_int_equal(r[1].gradients.expected, 1000);
	assert_true(r[1].fits);
	tdm_phase_runs_done(&runs);
}

static void what_would_help(void **state)
{
	(void)state;
	struct tdm_phase_runs runs = tinyllama();
	struct tdm_phases r[2];
	tdm_phases_analyze(&runs, &nothing_said, r);
	const struct tdm_phases_advice *a = &r[1].advice;
	assert_null(a->why_not);
	assert_mb(a->least_peak, 15666.65 - 9636.02);
	assert_int_equal(a->divisor, 2);
	assert_mb(a->divided_peak, 15666.65 - 9636.02 / 2);
	/* At the share that is said to fit, it just does. */
	assert_true(tdm_phases_peak_with(&r[1], a->keep_share) <= (int64_t)r[1].device_memory_bytes);
	assert_true(tdm_phases_peak_with(&r[1], a->keep_share + 0.001) > (int64_t)r[1].device_memory_bytes);
	assert_int_equal(tdm_phases_peak_with(&r[1], 1), r[1].peak);
	assert_ptr_equal(a->fitting, &runs.runs[0]);
	assert_mb(a->fitting_activations, 192.95);

	/* A device that the optimizer alone fills: no share of the activations is small enough. */
	struct tdm_phases_options options = nothing_said;
	options.device_memory_bytes = (uint64_t)MB(5000);
	tdm_phases_analyze(&runs, &options, r);
	assert_null(r[1].advice.why_not);
	assert_true(r[1].advice.keep_share < 0);
	assert_int_equal(r[1].advice.divisor, 0);
	assert_null(r[1].advice.fitting);
	tdm_phase_runs_done(&runs);
}

static void there_is_not_always_advice(void **state)
{
	(void)state;
	struct tdm_phase_runs runs = tinyllama();
	struct tdm_phases r[2];
	/* A peak that no phase reaches: its own was left out, say. */
	runs.runs[1].phases[2].figures.dram_peak = runs.runs[1].phases[3].figures.dram_peak = 0;
	for (size_t i = 2; i < 4; i++)
		runs.runs[1].phases[i].figures.dram_cumulative_current = MB(5572);
	tdm_phases_analyze(&runs, &nothing_said, r);
	assert_true(r[1].fits_known && !r[1].fits);
	assert_string_equal(r[1].advice.why_not, "the peak is in none of the phases");
	/* Marks have no peaks. */
	runs.runs[1].phases[1].figures.dram_peak = TDM_PHASE_UNKNOWN;
	tdm_phases_analyze(&runs, &nothing_said, r);
	assert_string_equal(r[1].advice.why_not, "the peaks of the phases are not known");
	assert_null(r[1].advice.fitting);
	tdm_phase_runs_done(&runs);
}

/* A second model in the same process: the gradients of the first one stay what they were. */
static void gradients_belong_to_the_optimizer_before_them(void **state)
{
	(void)state;
	struct tdm_phase_runs runs = tinyllama();
	struct tdm_phases r[2];
	add(&runs.runs[0], "MODEL_CREATION", 100, 100, 0);
	add(&runs.runs[0], "OPTIMIZER_CREATION", 200, 200, 0);
	tdm_phases_analyze(&runs, &nothing_said, r);
	assert_mb(r[0].gradients.measured, 1856.02);
	tdm_phase_runs_done(&runs);
}

static void devices_have_their_memory_together(void **state)
{
	(void)state;
	struct tdm_phase_runs runs = tinyllama();
	struct tdm_phases r[2];
	struct tdm_phases_options options = nothing_said;
	tdm_phases_analyze(&runs, &options, r);
	assert_int_equal(r[0].device_count, 1);
	runs.runs[0].device_memory_bytes = (uint64_t)MB(24000);
	runs.runs[0].device_count = 2;
	tdm_phases_analyze(&runs, &options, r);
	assert_int_equal(r[1].device_count, 2);
	assert_true(r[1].fits);
	/* What the user says is one device. */
	options.device_memory_bytes = (uint64_t)MB(24000);
	tdm_phases_analyze(&runs, &options, r);
	assert_int_equal(r[1].device_count, 1);
	tdm_phase_runs_done(&runs);
}

/* A phase that goes on counts only where there is no other of its kind. */
static void what_has_not_ended_comes_second(void **state)
{
	(void)state;
	struct tdm_phase_runs runs = tinyllama();
	struct tdm_phases r[2];
	struct tdm_phase_run *run = &runs.runs[0];
	run->last_open = true;
	tdm_phases_analyze(&runs, &nothing_said, r);
	assert_mb(r[0].gradients.measured, 1856.03 - 0.01);
	add(run, "OPTIMIZER_STEP", 0, 0, 1856.02);
	add(run, "FORWARD_PASS", 996.35, 1192.95, 1000);
	add(run, "BACKWARD_PASS", 400, 300, 100);
	tdm_phases_analyze(&runs, &nothing_said, r);
	assert_int_equal(r[0].groups[TDM_ROLE_FORWARD].count, 2);
	assert_int_equal(r[0].groups[TDM_ROLE_BACKWARD].count, 1);
	assert_mb(r[0].gradients.measured, 1856.03 - 0.01);
	run->last_open = false;
	tdm_phases_analyze(&runs, &nothing_said, r);
	assert_int_equal(r[0].groups[TDM_ROLE_BACKWARD].count, 2);
	assert_mb(r[0].gradients.measured, 192.95 + 200);
	tdm_phase_runs_done(&runs);
}

static void micro_batches_are_added_up(void **state)
{
	(void)state;
	struct tdm_phase_runs runs = { 0 };
	struct tdm_phase_run *run = tdm_phase_runs_add(&runs, tdm_str_of("r"));
	struct tdm_phases r;
	add(run, "MODEL_CREATION__000001", 100, 100, 0);
	add(run, "OPTIMIZER_CREATION", 200, 200, 0);
	add(run, "FORWARD_PASS_micro_0", 60, 70, 20);
	add(run, "BACKWARD_PASS_micro_0", 30, 110, 60); /* +50: gradients 100 */
	add(run, "FORWARD_PASS_micro_1", 80, 90, 20);
	add(run, "BACKWARD_PASS_micro_1", 40, 10, 80);
	add(run, "FORWARD_PASS_micro_x", 500, 500, 500); /* another phase */
	tdm_phases_analyze(&runs, &nothing_said, &r);
	assert_int_equal(r.groups[TDM_ROLE_FORWARD].count, 2);
	assert_mb(r.groups[TDM_ROLE_FORWARD].sum.dram_allocated, 160);
	assert_mb(r.groups[TDM_ROLE_FORWARD].sum.dram_freed, 40);
	assert_mb(r.groups[TDM_ROLE_FORWARD].sum.dram_change, 120);
	assert_mb(r.groups[TDM_ROLE_FORWARD].sum.dram_peak, 80);
	assert_mb(r.activations, 70);
	assert_mb(r.gradients.measured, 100);
	assert_mb(r.gradients_overhead, 40);
	assert_mb(r.model.measured, 100);
	assert_true(r.parts_measured); /* without parameters there is no theory */
	assert_true(isnan(tdm_phases_difference(&r.model)));
	assert_mb(r.peak, 900);
	tdm_phase_runs_done(&runs);
}

static void names_have_roles(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		enum tdm_phases_role role;
	} cases[] = {
		{ "MODEL_CREATION", TDM_ROLE_MODEL },
		{ "OPTIMIZER_CREATION", TDM_ROLE_OPTIMIZER },
		{ "FORWARD_PASS", TDM_ROLE_FORWARD },
		{ "FORWARD_PASS_micro_12", TDM_ROLE_FORWARD },
		{ "BACKWARD_PASS_micro_3__000007", TDM_ROLE_BACKWARD },
		{ "FORWARD_PASS_micro_", TDM_ROLE_NONE },
		{ "FORWARD_PASS2", TDM_ROLE_NONE },
		{ "MY_FORWARD_PASS", TDM_ROLE_NONE },
		{ "forward_pass", TDM_ROLE_NONE },
		{ "", TDM_ROLE_NONE },
		{ "_micro_1", TDM_ROLE_NONE },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_int_equal(tdm_phases_role_of(cases[i].name), cases[i].role);
}

static void unknown_stays_unknown(void **state)
{
	(void)state;
	struct tdm_phase_runs runs = { 0 };
	struct tdm_phases r;
	struct tdm_phase_run *run = tdm_phase_runs_add(&runs, tdm_str_of("r"));
	assert_non_null(tdm_phase_run_add(run, tdm_str_of("FORWARD_PASS")));
	tdm_phases_analyze(&runs, &nothing_said, &r);
	assert_int_equal(r.peak, TDM_PHASE_UNKNOWN);
	assert_int_equal(r.activations, TDM_PHASE_UNKNOWN);
	assert_int_equal(r.gradients.measured, TDM_PHASE_UNKNOWN);
	assert_int_equal(r.parts[TDM_PART_OTHER], TDM_PHASE_UNKNOWN);
	assert_false(r.fits_known);
	assert_true(isnan(tdm_phases_usage(&r)));
	/* A cut summary: above the limit is certain, below is not. */
	run->overall_peak = 10;
	run->peak_so_far = true;
	tdm_phases_analyze(&runs, &nothing_said, &r);
	assert_false(r.fits_known);
	run->overall_peak = INT64_C(1) << 40;
	tdm_phases_analyze(&runs, &nothing_said, &r);
	assert_true(r.fits_known && !r.fits);
	tdm_phase_runs_done(&runs);
}

static void what_does_not_fit_is_a_finding(void **state)
{
	struct tdm_phase_runs runs = { 0 };
	struct tdm_phase_run *run = tdm_phase_runs_add(&runs, tdm_str_of("big"));
	struct tdm_findings found = { 0 };
	struct tdm_phases r;
	struct tdm_buf text;
	(void)state;
	run->overall_peak = INT64_C(11) << 30;
	tdm_phases_analyze(&runs, &nothing_said, &r);
	tdm_phases_find(&r, &found);
	assert_int_equal(found.count, 0);
	/* The size of the device was assumed. */
	run->overall_peak = INT64_C(13) << 30;
	tdm_phases_analyze(&runs, &nothing_said, &r);
	tdm_phases_find(&r, &found);
	assert_int_equal(found.list[0].severity, TDM_FINDING_WARNING);
	assert_string_equal(found.list[0].what, "does_not_fit");
	tdm_buf_init(&text);
	tdm_finding_sentence_put(&found, found.list, &text);
	assert_string_equal(text.data, "does not fit: its peak is 13 GiB, and the device has 12 GiB, as was assumed");
	tdm_buf_done(&text);
	assert_int_equal(found.list[0].advice_count, 0); /* its phases are not known */
	run->device_memory_bytes = UINT64_C(12) << 30;
	tdm_phases_analyze(&runs, &nothing_said, &r);
	tdm_phases_find(&r, &found);
	assert_int_equal(found.list[1].severity, TDM_FINDING_BROKEN);
	/* Nothing is known: nothing is said. */
	run->overall_peak = TDM_PHASE_UNKNOWN;
	tdm_phases_analyze(&runs, &nothing_said, &r);
	tdm_phases_find(&r, &found);
	assert_int_equal(found.count, 2);
	tdm_findings_done(&found);
	tdm_phase_runs_done(&runs);
}

static void sums_do_not_wrap(void **state)
{
	(void)state;
	assert_int_equal(tdm_phase_sum(INT64_MAX, 1), INT64_MAX);
	assert_int_equal(tdm_phase_sum(-INT64_MAX, -1), -INT64_MAX);
	assert_int_equal(tdm_phase_difference(-INT64_MAX, INT64_MAX), -INT64_MAX);
	assert_int_equal(tdm_phase_difference(5, TDM_PHASE_UNKNOWN), TDM_PHASE_UNKNOWN);
	assert_int_equal(tdm_phase_sum(TDM_PHASE_UNKNOWN, 5), TDM_PHASE_UNKNOWN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_documented_values),
		cmocka_unit_test(what_the_user_says_wins),
		cmocka_unit_test(what_would_help),
		cmocka_unit_test(there_is_not_always_advice),
		cmocka_unit_test(gradients_belong_to_the_optimizer_before_them),
		cmocka_unit_test(devices_have_their_memory_together),
		cmocka_unit_test(what_has_not_ended_comes_second),
		cmocka_unit_test(micro_batches_are_added_up),
		cmocka_unit_test(names_have_roles),
		cmocka_unit_test(unknown_stays_unknown),
		cmocka_unit_test(what_does_not_fit_is_a_finding),
		cmocka_unit_test(sums_do_not_wrap),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
