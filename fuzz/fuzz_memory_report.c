/*
 * Fuzz the reader of the memory reporter's files. The first byte chooses the form. Exercises: base/csv.c,
 * sources/memory_report.c, sources/memory_events.c, analyze/region_map.c, report/report_memory.c.
 *
 * Properties: a refusal has a text and a line; blocks and regions belong to exactly one state; banks times the bytes of
 * a bank fit; every event is valid; the reports can be written.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "fuzz_check.h"
#include "report/report_memory.h"

static void warn(void *context, const struct tdm_diag *diag)
{
	uint64_t *count = context;
	check(diag->text[0] != '\0' && diag->line != 0);
	++*count;
}

static void check_report(const struct tdm_memory_report *r)
{
	size_t regions = 0, blocks = 0;
	for (size_t i = 0; i < r->state_count; i++) {
		check(r->states[i].first_region == regions);
		regions += r->states[i].region_count;
	}
	check(regions == r->region_count);
	for (size_t i = 0; i < r->region_count; i++) {
		const struct tdm_memory_region *g = &r->regions[i];
		uint64_t product;
		check(g->first_block == blocks && g->kind < TDM_KIND_COUNT);
		blocks += g->block_count;
		if (g->banks != 0 && g->total != TDM_BYTES_UNKNOWN)
			check(!__builtin_mul_overflow(g->total, (uint64_t)g->banks, &product));
		if (g->block_count != 0 && g->total != TDM_BYTES_UNKNOWN)
			check(g->allocated + g->free == g->total && g->largest <= g->free);
	}
	check(blocks == r->block_count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tdm_memory_report report;
	struct tdm_diag diag = { 0 };
	struct tdm_event event;
	struct tdm_buf out;
	struct tdm_json json;
	uint64_t warned = 0;
	if (size == 0)
		return 0;
	enum tdm_memory_form form = (enum tdm_memory_form)(data[0] % TDM_MEMORY_FORMS);
	struct tdm_str text = { (const char *)data + 1, size - 1 };
	tdm_memory_report_detect(text.ptr, text.len);
	check(tdm_memory_report_parse(&report, form, text, warn, &warned, &diag) == 0);
	check(warned == report.refused);
	check_report(&report);
	struct tdm_source *source = tdm_memory_report_events(&report);
	check(source != NULL);
	while (tdm_source_next(source, &event, &diag) == 1)
		check(tdm_event_is_valid(&event));
	tdm_source_close(source);
	struct tdm_memory_view view = { .file = { "fuzz", false, 5, { false, true, 80 } }, .report = &report };
	tdm_buf_init(&out);
	tdm_memory_view_text(&view, &out);
	tdm_json_init(&json, &out);
	tdm_json_object(&json);
	tdm_memory_view_json(&view, &json);
	tdm_json_object_end(&json);
	check(!tdm_buf_failed(&out));
	tdm_buf_done(&out);
	tdm_memory_report_done(&report);
	return 0;
}
