/*
 * Fuzz C++ sources. Exercises: scan/front (lexer.c, project.c, syntax.c, file_walk.c), scan/cpp (the walk of functions,
 * helpers and lambdas, and of kernels), scan/interp/expr.c; analyze/budget/budget.c and scan_budget.c.
 *
 * Properties: tokens follow each other and end with the text; the nodes of the tree lie in their parents; every buffer
 * has a line of the text, a size with a reason or a value within its bounds, and texts; every place has a line;
 * scanning twice gives the same, and budgets that differ in nothing; every place of a text that is refused has a
 * reason.
 */
#include <stdint.h>
#include <string.h>

#include "analyze/budget/scan_budget.h"
#include "fuzz_check.h"
#include "scan/front/lexer.h"
#include "scan/scan.h"
#include "scan/front/syntax.h"

static void check_tokens(struct tdm_str text)
{
	struct tdm_lexer lexer;
	uint32_t last = 0;
	tdm_lexer_init(&lexer, text);
	for (struct tdm_token token = tdm_lexer_next(&lexer); token.kind != TDM_TOKEN_END;
		token = tdm_lexer_next(&lexer)) {
		check(token.start >= last && token.end > token.start && token.end <= text.len);
		last = token.end;
	}
}

static void check_size(const struct tdm_scan_size *size)
{
	check(size->text != NULL);
	check((size->bytes == TDM_BYTES_UNKNOWN) == (size->reason != NULL));
	if (size->bytes != TDM_BYTES_UNKNOWN)
		check(size->min == size->bytes && size->max == size->bytes && size->expr != NULL &&
			size->text[0] != '\0');
	if (size->min != TDM_BYTES_UNKNOWN && size->max != TDM_BYTES_UNKNOWN)
		check(size->min <= size->max);
}

static void check_buffer(const struct tdm_scan_file *file, const struct tdm_scan_buffer *b, uint32_t lines)
{
	check(b->line >= 1 && b->line <= lines && b->defined_line >= 1 && b->defined_line <= lines);
	check(b->kind == TDM_KIND_CB || b->kind == TDM_KIND_DFB || b->kind == TDM_KIND_SCRATCHPAD);
	check(b->program < file->program_count && b->shape < TDM_SHAPE_COUNT && b->strategy < TDM_STRATEGY_COUNT);
	check((b->grasp == TDM_GRASP_WHOLLY) == (b->missing[0] == '\0'));
	check(b->strategy_reason[0] != '\0' && b->index >= -1 && !(b->is_view && b->may_be_view));
	check_size(&b->page);
	check_size(&b->total);
}

static void check_budgets(const struct tdm_scan *scan, const struct tdm_scan *again)
{
	const struct tdm_scan *scans[] = { scan, again };
	struct tdm_scan_budgets budgets[2] = { 0 };
	struct tdm_budgets named[2] = { 0 };
	struct tdm_findings found = { 0 };
	for (int i = 0; i < 2; i++) {
		tdm_scan_budgets_make(scans[i], 0, TDM_BYTES_UNKNOWN, &budgets[i]);
		tdm_scan_budgets_named(&budgets[i], &named[i]);
	}
	check(tdm_budgets_compare(&named[0], &named[1], &found) == 0 && found.count == 0);
	tdm_findings_done(&found);
	for (int i = 0; i < 2; i++) {
		tdm_budgets_done(&named[i]);
		tdm_scan_budgets_done(&budgets[i]);
	}
}

static void check_refused(struct tdm_str text)
{
	struct tdm_scan_options options = { .file_max = 1 };
	struct tdm_scan scan;
	tdm_scan_text(&scan, "input.cpp", text, &options);
	const struct tdm_scan_file *file = &scan.files[0];
	check(text.len <= 1 || (file->state == TDM_FILE_REFUSED && file->buffer_count == 0));
	for (size_t i = 0; i < file->place_count; i++)
		check(file->places[i].grasp == TDM_GRASP_NOT && file->places[i].why[0] != '\0' &&
			file->places[i].line >= 1);
	tdm_scan_done(&scan);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tdm_str text = { (const char *)data, size };
	struct tdm_scan_options options = { 0 };
	struct tdm_scan scan, again;
	uint32_t lines = 1;
	for (size_t i = 0; i < size; i++)
		lines += data[i] == '\n';
	check_tokens(text);
	tdm_scan_text(&scan, "input.cpp", text, &options);
	tdm_scan_text(&again, "input.cpp", text, &options);
	check(scan.file_count == 1 && scan.files[0].buffer_count == again.files[0].buffer_count);
	const struct tdm_scan_file *file = &scan.files[0];
	for (size_t i = 0; i < file->buffer_count; i++) {
		check_buffer(file, &file->buffers[i], lines);
		check(strcmp(file->buffers[i].total.text, again.files[0].buffers[i].total.text) == 0);
		check(i == 0 || file->buffers[i].line >= file->buffers[i - 1].line);
	}
	for (size_t i = 0; i < file->place_count; i++)
		check(file->places[i].line >= 1 && file->places[i].line <= lines && file->places[i].byte < size);
	check_budgets(&scan, &again);
	check_refused(text);
	tdm_scan_done(&scan);
	tdm_scan_done(&again);
	return 0;
}
