/* What the memory reporter's files say, as text and as JSON. */
#ifndef TDM_REPORT_REPORT_MEMORY_H
#define TDM_REPORT_REPORT_MEMORY_H

#include "report/report_put.h"
#include "sources/memory_report.h"

struct tdm_memory_view {
	struct tdm_file_report file;
	const struct tdm_memory_report *report;
	const struct tdm_memory_report *beside; /* of the same run, for the number of banks; NULL: none */
	const char *beside_path;
};

/* Banks of a region, from the report itself or from the one beside it; 0: unknown. */
uint32_t tdm_memory_view_banks(
	const struct tdm_memory_view *view, size_t state, const struct tdm_memory_region *region);

void tdm_memory_view_text(const struct tdm_memory_view *view, struct tdm_buf *out);
/* Keys into an object that is open already. */
void tdm_memory_view_json(const struct tdm_memory_view *view, struct tdm_json *json);

#endif
