/*
 * Charts of results. Each function draws one scene to the output that `picture` names. 0, or a negative code with the
 * reason in `diag`.
 */
#ifndef TDM_VIEW_RESULT_CHARTS_H
#define TDM_VIEW_RESULT_CHARTS_H

#include "analyze/capture/capture_summary.h"
#include "analyze/phases/phases.h"
#include "analyze/pressure/pressure.h"
#include "analyze/report/operation_memory.h"
#include "view/chart/plot.h"
#include "view/rows/live_result.h"

enum tdm_info_chart { TDM_INFO_CHART_NONE, TDM_INFO_CHART_DRAM, TDM_INFO_CHART_L1, TDM_INFO_CHART_CORES };

/* A graph capture: memory over its nodes, with operations as bands, or L1 core by core at the peak. Shows the device
 * with the highest peak of the chosen memory. */
int tdm_info_capture_draw(const struct tdm_capture_exact *exact, const struct tdm_capture_course *course,
	const struct tdm_plot_picture *picture, struct tdm_buf *out, struct tdm_diag *diag);

/* A ttnn operation report: a DRAM bank or a core's L1 over the operations, or L1 core by core at the L1 peak. Shows the
 * rank with the highest peak. */
int tdm_operations_draw(const struct tdm_operation_memory *memory, const struct tdm_plot_picture *picture,
	struct tdm_buf *out, struct tdm_diag *diag);

/* Several results: scores over workload sizes. One result: throughput over bytes. */
int tdm_pressure_draw(const struct tdm_pressure_report *report, const struct tdm_plot_picture *picture,
	struct tdm_buf *out, struct tdm_diag *diag);

enum tdm_map_chart { TDM_MAP_CHART_NONE, TDM_MAP_CHART_BANK, TDM_MAP_CHART_CORES };

/* A device: the buffers of one bank by address, or L1 core by core. The report's filter must choose one map; the
 * filter's kind, by default DRAM, chooses the bank. */
int tdm_map_chart_draw(const struct tdm_live_report *report, const struct tdm_plot_picture *picture,
	struct tdm_buf *out, struct tdm_diag *diag);

enum tdm_phases_chart { TDM_PHASES_CHART_PEAK, TDM_PHASES_CHART_TIME };

enum { TDM_PHASES_LINES_MAX = 64 };

/* Runs left out of the chart, by reason. */
enum { TDM_PHASES_NO_PEAK, TDM_PHASES_OTHER, TDM_PHASES_TOO_MANY, TDM_PHASES_LEFT_OUT };

/* Draws all runs whose peak is known. Over time, draws up to TDM_PHASES_LINES_MAX runs that have the same phases as the
 * first. 0, or a negative code with the reason in `diag`. */
int tdm_phases_draw(const struct tdm_phases_input *inputs, size_t count, const struct tdm_plot_picture *picture,
	struct tdm_buf *out, size_t left_out[TDM_PHASES_LEFT_OUT], struct tdm_diag *diag);

#endif
