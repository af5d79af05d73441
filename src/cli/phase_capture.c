#include "cli/phase_capture.h"

#include "analyze/capture_stock.h"
#include "base/err.h"
#include "sources/format.h"

#include <errno.h>

struct reading {
	struct tdm_capture_stock *stock;
	uint64_t refused;
};

static int take(void *to, const struct tdm_record *record)
{
	struct reading *r = to;
	unsigned raised;
	r->refused += record->type == TDM_RECORD_REFUSED;
	return record->type == TDM_RECORD_NODE ? tdm_capture_stock_apply(r->stock, record->node, &raised) : 0;
}

static int64_t figure_of(const struct tdm_stock_result *result, enum tdm_stock_figure figure)
{
	if (!result->known[figure])
		return TDM_PHASE_UNKNOWN;
	return result->value[figure] > INT64_MAX ? INT64_MAX : (int64_t)result->value[figure];
}

static int append(
	const struct tdm_stock_result *result, struct tdm_str name, struct tdm_phase_run *run, struct tdm_diag *diag)
{
	static const enum tdm_stock_figure needed[] = { TDM_STOCK_DRAM_PEAK, TDM_STOCK_DRAM_ALLOCATIONS,
		TDM_STOCK_DRAM_DEALLOCATIONS };
	for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
		if (!result->known[needed[i]])
			return tdm_diag_set(diag, TDM_EUNKNOWN, 0, 0,
				"the runtime's functions cannot count its DRAM: %s", result->why[TDM_STOCK_DRAM]);
	struct tdm_phase_figures segment = {
		.dram_peak = figure_of(result, TDM_STOCK_DRAM_PEAK),
		.dram_allocated = figure_of(result, TDM_STOCK_DRAM_ALLOCATIONS),
		.dram_freed = figure_of(result, TDM_STOCK_DRAM_DEALLOCATIONS),
		.l1_peak_cb = figure_of(result, TDM_STOCK_CORE_PEAK_CB),
		.l1_peak_buffer = figure_of(result, TDM_STOCK_CORE_PEAK_L1),
		.l1_peak_total = figure_of(result, TDM_STOCK_CORE_PEAK_TOTAL),
	};
	int err = tdm_phase_run_append(run, name, &segment);
	return err != 0 ? tdm_diag_set(diag, err, 0, 0, "%s", tdm_err_text(err)) : 0;
}

int tdm_phase_capture_read(
	const char *path, struct tdm_str name, struct tdm_phase_run *run, uint64_t *refused, struct tdm_diag *diag)
{
	struct reading r = { .stock = tdm_capture_stock_new() };
	struct tdm_stock_result result;
	struct tdm_input *input = NULL;
	int err = r.stock != NULL ? tdm_input_open(path, &input) : -ENOMEM;
	if (err != 0)
		tdm_diag_set(diag, err, 0, 0, "%s", tdm_err_text(err));
	else
		err = tdm_format_find("graph_capture")->records(input, &(struct tdm_record_sink){ &r, take }, diag);
	if (err == 0) {
		tdm_capture_stock_end(r.stock);
		tdm_capture_stock_result(r.stock, &result);
		err = append(&result, name, run, diag);
	} else if (err == -ENOMEM) {
		tdm_diag_set(diag, err, 0, 0, "out of memory");
	}
	*refused = r.refused;
	tdm_capture_stock_free(r.stock);
	tdm_input_close(input);
	return err;
}
