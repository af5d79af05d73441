/* Charts of ttnn's report of operations: a bank of DRAM or the L1 of a core over the operations, and L1 core by core at
 * its peak. */
#ifndef TDM_REPORT_OPERATIONS_CHART_H
#define TDM_REPORT_OPERATIONS_CHART_H

#include "analyze/operation_memory.h"
#include "report/info_chart.h"

/* Draws the rank with the highest peak of the chosen memory. 0, or a negative code with the reason in `diag`. */
int tdm_operations_draw(const struct tdm_operation_memory *memory, const struct tdm_info_picture *picture,
	const struct tdm_term *term, struct tdm_buf *out, struct tdm_diag *diag);

#endif
