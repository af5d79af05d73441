/* Kernels that do not match their host, as findings. */
#ifndef TDM_ANALYZE_SCAN_KERNELS_H
#define TDM_ANALYZE_SCAN_KERNELS_H

#include "analyze/finding.h"
#include "scan/kernel_code.h"

/*
 * One finding for each mismatch. They are "nobody_pushes", "not_created", "too_many_pages" and "not_bound" of
 * TDM_FAMILY_SCAN;
 * "file" and "line" are those of the operation in the kernel, "host_file" and "host_line" those of the call that
 * creates the kernel. `scan` must outlive `found`.
 */
void tdm_scan_kernels_judge(
	const struct tdm_scan *scan, const struct tdm_mismatches *mismatches, struct tdm_findings *found);

#endif
