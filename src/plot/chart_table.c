/* Every kind of chart, in the order of enum tdm_chart_kind. */
#include "plot/chart.h"

const struct tdm_chart *const tdm_charts[TDM_CHART_KINDS] = {
	[TDM_CHART_STACK] = &tdm_chart_stack,
	[TDM_CHART_TIME] = &tdm_chart_time,
	[TDM_CHART_MAP] = &tdm_chart_map,
	[TDM_CHART_HEAT] = &tdm_chart_heat,
};
