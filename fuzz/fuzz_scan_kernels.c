/*
 * Fuzz kernels and their host in one text: host code names the text itself as the source of its kernels. Exercises:
 * scan/kernel_*.c (reading, variants, the join, mismatches) and analyze/scan_kernels.c.
 *
 * Properties: every step has expressions and a line of the text; the complexity of a file is at least that of its
 * worst function; a push has an index or a name, or its kernel has a gap; only what happens is a mismatch (a name that
 * is not bound: what is compiled), and each has a finding with a sentence.
 */
#include <stdint.h>
#include <string.h>

#include "analyze/scan_kernels.h"
#include "fuzz_check.h"
#include "scan/kernel_code.h"

static void check_code(const struct tdm_kernel_code *code, uint32_t lines)
{
	check(code->complexity >= code->max_complexity && code->lines <= lines && code->code_lines <= code->lines);
	for (size_t i = 0; i < code->function_count; i++)
		for (size_t k = 0; k < code->functions[i].step_count; k++) {
			const struct tdm_kernel_step *step = &code->functions[i].steps[k];
			check(step->line >= 1 && step->line <= lines && step->buffer != NULL && step->pages != NULL);
			check(!step->is_call || (step->args != NULL && step->template_args != NULL));
		}
}

static void check_uses(const struct tdm_kernel_uses *uses, uint32_t lines)
{
	bool has_unknown = false;
	for (size_t i = 0; i < uses->count; i++) {
		const struct tdm_kernel_use *use = &uses->list[i];
		check(use->action < TDM_KERNEL_ACTIONS && use->form < TDM_KERNEL_FORMS && use->file == 0);
		check(use->line >= 1 && use->line <= lines && use->pages_min <= use->pages_max);
		has_unknown |= use->action == TDM_KERNEL_PUSH && use->index < 0 && use->name[0] == '\0';
	}
	check(!has_unknown || (uses->gaps & 1u << TDM_UNJUDGED_NO_BUFFER) != 0);
	check(uses->gap_text != NULL);
}

static void check_mismatches(const struct tdm_scan *scan, const struct tdm_mismatches *mismatches)
{
	struct tdm_findings found = { 0 };
	for (size_t i = 0; i < mismatches->count; i++) {
		const struct tdm_mismatch *mismatch = &mismatches->list[i];
		bool is_unbound = mismatch->kind == TDM_MISMATCH_NOT_BOUND;
		check(is_unbound ? !mismatch->use->is_optional : !mismatch->use->is_conditional);
		check(mismatch->kernel < scan->files[mismatch->file].kernel_count);
		check(mismatches->judged[mismatch->kind] != 0);
		check(mismatch->kind != TDM_MISMATCH_TOO_MANY_PAGES ||
			(uint64_t)mismatch->use->pages_min > mismatch->pages);
	}
	tdm_scan_kernels_judge(scan, mismatches, &found);
	check(found.count == mismatches->count);
	for (size_t i = 0; i < found.count; i++)
		check(found.list[i].text != NULL && found.list[i].text[0] != '\0');
	check(!tdm_findings_done(&found));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tdm_scan_options options = { 0 };
	struct tdm_mismatches mismatches = { 0 };
	struct tdm_scan scan;
	uint32_t lines = 1;
	for (size_t i = 0; i < size; i++)
		lines += data[i] == '\n';
	check(tdm_scan_text(&scan, "kernel.cpp", (struct tdm_str){ (const char *)data, size }, &options) == 0);
	check(tdm_kernels_join(&scan, NULL) == 0 && tdm_kernels_match(&scan, &mismatches) == 0);
	const struct tdm_scan_file *file = &scan.files[0];
	if (file->code != NULL)
		check_code(file->code, lines);
	for (size_t i = 0; i < file->kernel_count; i++)
		check_uses(file->kernels[i].uses, lines);
	check_mismatches(&scan, &mismatches);
	tdm_mismatches_done(&mismatches);
	tdm_scan_done(&scan);
	return 0;
}
