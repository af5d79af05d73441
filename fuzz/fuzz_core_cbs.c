/*
 * Fuzz the reader of per-core dumps of circular buffers. Exercises: input/report/core_cbs.c, base/units.c,
 * analyze/report/core_dumps.c.
 *
 * Properties: a refusal has a text and a line; a core's sum is that of its buffers; no core occurs twice in a dump; the
 * reports can be written.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "analyze/report/core_dumps.h"
#include "fuzz_report.h"

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
	struct tdm_core_dumps dumps = { 0 };
	struct fuzz_reading r = { tdm_core_dumps_take, &dumps, true, 0 };
	fuzz_read("core_dump", data, size, &r);
	check(r.refused == dumps.refused);
	tdm_core_dumps_end(&dumps);
	check_cores(&dumps);
	fuzz_show(&tdm_core_report, &dumps);
	tdm_core_dumps_done(&dumps);
	return 0;
}
