/*
 * Fuzz the reader of circular buffers core by core. Exercises: sources/core_cbs.c, base/units.c, report/report_cores.c.
 *
 * Properties: a refusal has a text and a line; a core's sum is that of its buffers; no core comes twice in a dump;
 * every event is valid; the reports can be written.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "fuzz_check.h"
#include "report/report_cores.h"

static void warn(void *context, const struct tdm_diag *diag)
{
	uint64_t *count = context;
	check(diag->text[0] != '\0' && diag->line != 0);
	++*count;
}

static void check_cores(const struct tdm_core_cbs *c)
{
	size_t cbs = 0;
	for (size_t i = 0; i < c->core_count; i++) {
		uint64_t sum = 0;
		check(c->cores[i].first == cbs && c->cores[i].dump < c->dump_count);
		for (size_t k = 0; k < c->cores[i].count; k++)
			sum += c->cbs[cbs + k].bytes;
		check(sum == c->cores[i].bytes);
		cbs += c->cores[i].count;
		for (size_t k = 0; k < i && i < 100; k++)
			check(c->cores[k].dump != c->cores[i].dump || c->cores[k].x != c->cores[i].x ||
				c->cores[k].y != c->cores[i].y);
	}
	check(cbs == c->cb_count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tdm_core_cbs cores;
	struct tdm_diag diag = { 0 };
	struct tdm_event event;
	struct tdm_buf out;
	struct tdm_json json;
	uint64_t warned = 0;
	struct tdm_str text = { (const char *)data, size };
	tdm_core_cbs_detect(text.ptr, text.len);
	check(tdm_core_cbs_parse(&cores, text, warn, &warned, &diag) == 0);
	check(warned == cores.refused);
	check_cores(&cores);
	struct tdm_source *source = tdm_core_cbs_events(&cores);
	check(source != NULL);
	while (tdm_source_next(source, &event, &diag) == 1)
		check(tdm_event_is_valid(&event));
	tdm_source_close(source);
	struct tdm_cores_view view = { .file = { "fuzz", false, 5, { false, true, 80 } }, .cores = &cores };
	tdm_buf_init(&out);
	tdm_cores_view_text(&view, &out);
	tdm_json_init(&json, &out);
	tdm_json_object(&json);
	tdm_cores_view_json(&view, &json);
	tdm_json_object_end(&json);
	check(!tdm_buf_failed(&out));
	tdm_buf_done(&out);
	tdm_core_cbs_done(&cores);
	return 0;
}
