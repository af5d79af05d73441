/*
 * Fuzz Python sources. Exercises: scan/python (places, names, branches, loops, calls that are followed),
 * scan/interp/expr.c, scan/front/syntax.c.
 *
 * Properties: every buffer has a line of the text, a program and texts; a size is a value within its bounds or has a
 * reason; places are in the order of the text; scanning twice gives the same number of buffers.
 */
#include <stdint.h>
#include <string.h>

#include "fuzz_check.h"
#include "scan/scan.h"

static uint32_t count_lines(struct tdm_str text)
{
	uint32_t lines = 1;
	for (size_t i = 0; i < text.len; i++)
		lines += text.ptr[i] == '\n';
	return lines;
}

static void check_file(const struct tdm_scan_file *file, uint32_t lines)
{
	for (size_t i = 0; i < file->buffer_count; i++) {
		const struct tdm_scan_buffer *b = &file->buffers[i];
		check(b->line >= 1 && b->line <= lines && b->defined_line >= 1 && b->defined_line <= lines);
		check(b->kind == TDM_KIND_CB && b->program < file->program_count);
		check(b->total.text != NULL && b->page.text != NULL && b->strategy_reason[0] != '\0');
		check((b->total.bytes == TDM_BYTES_UNKNOWN) == (b->total.reason != NULL));
		check(i == 0 || file->buffers[i - 1].line <= b->line);
	}
	for (size_t i = 0; i < file->place_count; i++) {
		check(file->places[i].line >= 1 && file->places[i].line <= lines);
		check(i == 0 || file->places[i - 1].byte < file->places[i].byte);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct tdm_str text = { (const char *)data, size };
	const struct tdm_scan_options options = { 0 };
	struct tdm_scan scan, again;
	tdm_scan_text(&scan, "fuzz.py", text, &options);
	check_file(&scan.files[0], count_lines(text));
	tdm_scan_text(&again, "fuzz.py", text, &options);
	check(again.files[0].buffer_count == scan.files[0].buffer_count);
	tdm_scan_done(&again);
	tdm_scan_done(&scan);
	return 0;
}
