/*
 * Fuzz the reader of per-core dumps of circular buffers. Exercises: sources/core_cbs.c, base/units.c,
 * analyze/core_dumps.c, report/report_cores.c.
 *
 * Properties: a refusal has a text and a line; a core's sum is that of its buffers; no core occurs twice in a dump; the
 * reports can be written.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "fuzz_input.h"
#include "report/report_files.h"

static void check_cores(const struct tdm_core_dumps *c)
{
	size_t cbs = 0, cores = 0;
	for (size_t d = 0; d < c->dump_count; d++) {
		const struct tdm_core_dump *dump = &c->dumps[d];
		check(dump->first == cores && dump->count != 0);
		for (size_t i = cores; i < cores + dump->count; i++) {
			uint64_t sum = 0;
			for (size_t k = 0; k < c->cores[i].count; k++)
				sum += c->cores[i].cbs[k].bytes;
			check(sum == c->cores[i].bytes && sum <= c->cores[dump->fullest].bytes && sum >= dump->least);
			cbs += c->cores[i].count;
			for (size_t k = cores; k < i && i < 100; k++)
				check(c->cores[k].x != c->cores[i].x || c->cores[k].y != c->cores[i].y);
		}
		cores += dump->count;
	}
	check(cores == c->core_count && cbs == c->cb_count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tdm_core_dumps dumps;
	struct fuzz_reading r = { tdm_core_dumps_take, &dumps, true, 0 };
	struct tdm_file_report file = { "fuzz", false, 5, { .utf8 = true, .width = 80 } };
	struct tdm_buf out;
	struct tdm_json json;
	check(tdm_core_dumps_init(&dumps) == 0);
	fuzz_read("core_dump", data, size, &r);
	check(r.refused == dumps.refused);
	tdm_core_dumps_end(&dumps);
	check_cores(&dumps);
	tdm_buf_init(&out);
	tdm_cores_text(&dumps, &file, &out);
	tdm_json_init(&json, &out);
	tdm_json_object(&json);
	tdm_cores_json(&dumps, &file, &json);
	tdm_json_object_end(&json);
	check(!tdm_buf_failed(&out));
	tdm_buf_done(&out);
	tdm_core_dumps_done(&dumps);
	return 0;
}
