/*
 * Fuzz the reader of performance reports. Exercises: base/csv.c, input/report/csv_report.c,
 * analyze/report/perf_waits.c.
 *
 * Properties: a refusal, and a field that is not a number, has a text and a line; the operations are all rows except
 * the marks; the reports can be written.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/report/perf_waits.h"
#include "fuzz_report.h"

struct perf {
	struct tdm_perf_waits waits;
	uint64_t rows, marks;
};

static int take(void *to, const struct tdm_record *record)
{
	struct perf *p = to;
	p->rows += record->type == TDM_RECORD_PERF_ROW;
	p->marks += record->type == TDM_RECORD_PERF_ROW && tdm_str_is(record->row->type, "signpost");
	return tdm_perf_waits_take(&p->waits, record);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct perf p = { .rows = 0 };
	struct fuzz_reading r = { take, &p, true, 0 };
	uint64_t calls = 0;
	fuzz_read("ops_perf_results", data, size, &r);
	check(r.refused == p.waits.refused + p.waits.odd);
	tdm_perf_waits_end(&p.waits);
	for (size_t i = 0; i < p.waits.operation_count; i++) {
		calls += p.waits.operations[i].calls;
		check(p.waits.operations[i].measured <= p.waits.operations[i].calls);
	}
	check(calls + p.marks == p.rows && calls == p.waits.sum.calls);
	fuzz_show(&tdm_perf_report, &p.waits);
	tdm_perf_waits_done(&p.waits);
	return 0;
}
