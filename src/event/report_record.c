#include "event/report_record.h"

static const struct {
	const char *column, *key;
} perf_figures[TDM_PERF_FIGURES] = {
#define X(id, column, key) { column, key },
	TDM_PERF_FIGURE_LIST(X)
#undef X
};

const char *tdm_perf_column(enum tdm_perf_figure figure)
{
	return perf_figures[figure].column;
}

const char *tdm_perf_key(enum tdm_perf_figure figure)
{
	return perf_figures[figure].key;
}
