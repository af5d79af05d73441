/* What the memory reporter's files say, as text and as JSON. */
#ifndef TDM_REPORT_REPORT_MEMORY_H
#define TDM_REPORT_REPORT_MEMORY_H

#include "analyze/memory_states.h"
#include "report/report_put.h"

struct tdm_memory_view {
	struct tdm_file_report file;
	const struct tdm_memory_states *states;
	const struct tdm_memory_states *beside; /* of the same run, for the number of banks; NULL: none */
	const char *beside_path;
};

void tdm_memory_text(const struct tdm_memory_view *view, struct tdm_buf *out);
/* Keys into an object that is open already. */
void tdm_memory_json(const struct tdm_memory_view *view, struct tdm_json *json);

#endif
