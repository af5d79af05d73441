#include "analyze/failure_finding.h"

enum tdm_cause tdm_failure_cause(const struct tdm_failure *f)
{
	if (f->type != TDM_FAILURE_OUT_OF_MEMORY && f->type != TDM_FAILURE_DEPENDENCIES)
		return TDM_CAUSE_UNKNOWN;
	enum tdm_cause cause = tdm_cause_of(f->bytes_per_bank, f->bank_size, f->free, f->largest_free);
	return cause != TDM_CAUSE_UNKNOWN
		       ? cause
		       : tdm_cause_of(f->bytes_per_bank, TDM_BYTES_UNKNOWN, f->placeable, f->largest_placeable);
}

void tdm_failure_find(const struct tdm_failure *f, struct tdm_findings *out)
{
	static const struct tdm_core_range unknown = { 1, 1, 0, 0 };
	bool is_warning = tdm_failure_is_warning(f);
	struct tdm_finding *finding =
		tdm_findings_add(out, TDM_FAMILY_FAILURE, tdm_failure_name((enum tdm_failure_type)f->type),
			is_warning ? TDM_FINDING_WARNING : TDM_FINDING_BROKEN);
	finding->code = f->type;
	finding->about.kind = f->kind;
	tdm_findings_figure(out, "warning", TDM_UNIT_FLAG, is_warning);
	tdm_findings_figure(out, "cause", TDM_UNIT_CAUSE, tdm_failure_cause(f));
	for (size_t i = 0; i < TDM_FAILURE_FIGURE_COUNT; i++)
		tdm_findings_figure(out, tdm_failure_keys[i], TDM_UNIT_BYTES, f->figures[i]);
	tdm_findings_figure(out, "dataflow", TDM_UNIT_FLAG, f->is_dataflow);
	tdm_findings_cores(out, "core_range", f->has_range ? &f->range : &unknown);
	tdm_findings_figure(out, "core_ranges", TDM_UNIT_COUNT, f->range_count);
	tdm_findings_figure(out, "refused_figures", TDM_UNIT_COUNT, f->refused);
	tdm_findings_place(out, "name", f->name);
	tdm_findings_place(out, "text", f->text);
}
