/* How large compiled kernels are, as text and as JSON. After the end of the analyser. */
#ifndef TDM_REPORT_REPORT_KERNELS_H
#define TDM_REPORT_REPORT_KERNELS_H

#include "analyze/kernel_sizes.h"
#include "report/report_put.h"

void tdm_kernels_text(const struct tdm_kernel_sizes *sizes, const struct tdm_file_report *file, struct tdm_buf *out);
/* Keys into an object that is open already. */
void tdm_kernels_json(const struct tdm_kernel_sizes *sizes, struct tdm_json *json);

#endif
