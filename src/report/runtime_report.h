/* What the runtime in a process said, and what follows from it: findings, the sizes for opening devices, traces and
 * statistics. Parts of several reports. */
#ifndef TDM_REPORT_RUNTIME_REPORT_H
#define TDM_REPORT_RUNTIME_REPORT_H

#include "report/live_report.h"

/* The findings about a process below a heading, or nothing if there are none. Those below `least` (an enum
 * tdm_severity) are left out. */
void tdm_runtime_findings_text(
	const struct tdm_live_report *report, uint32_t process, unsigned least, struct tdm_buf *out);
/* Their objects, without the array around them. Without `stacks`, which take time to put into words, these are null. */
void tdm_runtime_findings_json(const struct tdm_picture *picture, uint32_t process, bool stacks, struct tdm_json *json);

/* The sizes that the process needed, below a heading, or nothing; and the member "open_sizes". */
void tdm_runtime_sizes_text(const struct tdm_live_report *report, uint32_t process, struct tdm_buf *out);
void tdm_runtime_sizes_json(const struct tdm_picture *picture, uint32_t process, struct tdm_json *json);

/* The members "statistics", "traces", "open", "traces_lost" and "trace_hazards_lost" of a holding, which may be NULL.
 */
void tdm_runtime_holding_json(
	const struct tdm_picture *picture, const struct tdm_holding *holding, struct tdm_json *json);

#endif
