/*
 * Fuzz kernels and their host in one text: host code names the text itself as the source of its kernels. Exercises:
 * scan/cpp (operations, complexity, variants), scan/kernel/kernel_join.c.
 *
 * Properties: the complexity of a file is at least that of its worst function; every operation has expressions and a
 * line of the text, and its pages have bounds in order.
 */
#include <stdint.h>
#include <string.h>

#include "fuzz_check.h"
#include "scan/scan.h"

static void check_uses(const struct tdm_kernel_use *uses, size_t count, uint32_t lines)
{
	for (size_t i = 0; i < count; i++) {
		const struct tdm_kernel_use *use = &uses[i];
		check(use->action < TDM_KERNEL_ACTIONS && use->file == 0 && use->name != NULL);
		check(use->line >= 1 && use->line <= lines && use->pages_min <= use->pages_max);
		check(use->buffer != NULL && use->pages != NULL);
	}
}

static void check_code(const struct tdm_kernel_code *code, uint32_t lines)
{
	check(code->complexity >= code->max_complexity && code->lines <= lines && code->code_lines <= code->lines);
	check_uses(code->uses, code->use_count, lines);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tdm_scan_options options = { 0 };
	struct tdm_scan scan;
	uint32_t lines = 1;
	for (size_t i = 0; i < size; i++)
		lines += data[i] == '\n';
	tdm_scan_text(&scan, "kernel.cpp", (struct tdm_str){ (const char *)data, size }, &options);
	tdm_kernels_join(&scan, NULL);
	const struct tdm_scan_file *file = &scan.files[0];
	if (file->code != NULL)
		check_code(file->code, lines);
	for (size_t i = 0; i < file->kernel_count; i++)
		check_uses(file->kernels[i].uses, file->kernels[i].use_count, lines);
	tdm_scan_done(&scan);
	return 0;
}
