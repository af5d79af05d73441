#include "model/event/record.h"

const char *tdm_perf_column(enum tdm_perf_figure figure)
{
	static const char *const columns[TDM_PERF_FIGURES] = {
#define X(id, column) column,
		TDM_PERF_FIGURE_LIST(X)
#undef X
	};
	return columns[figure];
}
