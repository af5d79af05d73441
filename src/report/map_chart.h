/* Charts of a device's memory: the buffers of one bank by address, and L1 core by core. */
#ifndef TDM_REPORT_MAP_CHART_H
#define TDM_REPORT_MAP_CHART_H

#include "base/diag.h"
#include "plot/plot.h"
#include "report/map_report.h"

enum tdm_map_chart { TDM_MAP_CHART_NONE, TDM_MAP_CHART_BANK, TDM_MAP_CHART_CORES };

struct tdm_map_picture {
	enum tdm_map_chart chart;
	const char *title; /* NULL: none */
	const char *path;  /* NULL: text for the terminal */
	struct tdm_plot_options size;
};

/* Draws the one map that the filter of the report chooses; for a bank, that of the filter's kind, by default DRAM. 0,
 * or a negative code with the reason in `diag`. */
int tdm_map_chart_draw(const struct tdm_live_report *report, const struct tdm_map_picture *picture, struct tdm_buf *out,
	struct tdm_diag *diag);

#endif
