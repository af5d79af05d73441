/* What the memory reporter's files say, as text and as JSON. After the end of the analyser. */
#ifndef TDM_REPORT_REPORT_MEMORY_H
#define TDM_REPORT_REPORT_MEMORY_H

#include "analyze/memory_states.h"
#include "report/report_put.h"

void tdm_memory_text(const struct tdm_memory_states *states, const struct tdm_file_report *file, struct tdm_buf *out);
/* Keys into an object that is open already. */
void tdm_memory_json(const struct tdm_memory_states *states, const struct tdm_file_report *file, struct tdm_json *json);

#endif
