/* What circular buffers cost operations, measured, as text and as JSON. */
#ifndef TDM_REPORT_REPORT_PERF_H
#define TDM_REPORT_REPORT_PERF_H

#include "report/report_put.h"
#include "sources/perf_csv.h"

struct tdm_perf_view {
	struct tdm_file_report file;
	const struct tdm_perf_csv *perf;
};

/* All calls of one operation on all devices. Sums that do not fit 64 bits stop at their largest value. */
struct tdm_perf_operation {
	uint32_t code;
	uint64_t calls;
	uint64_t measured; /* calls whose kernel time and waits are known: the next four are of them */
	uint64_t kernel_ns, front_ns, back_ns;
	uint64_t cores_max; /* TDM_PERF_UNKNOWN */
};

/* Operations, those that wait longest first. NULL with *count 0 when out of memory or when there are none; free() it.
 */
struct tdm_perf_operation *tdm_perf_operations(const struct tdm_perf_csv *perf, size_t *count);

void tdm_perf_view_text(const struct tdm_perf_view *view, struct tdm_buf *out);
/* Keys into an object that is open already. */
void tdm_perf_view_json(const struct tdm_perf_view *view, struct tdm_json *json);

#endif
