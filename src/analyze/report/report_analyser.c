#include "analyze/report/report_analyser.h"
#include "model/card/card.h"

#include <string.h>

const struct tdm_report_analyser *const tdm_report_analysers[] = { &tdm_capture_report, &tdm_operation_report,
	&tdm_kernel_report, &tdm_memory_report, &tdm_perf_report, &tdm_mesh_report, &tdm_program_report,
	&tdm_core_report, &tdm_log_report, &tdm_train_report, NULL };

const struct tdm_report_analyser *tdm_report_analyser_of(const struct tdm_format *format)
{
	size_t i = 0;
	while (format != NULL && tdm_report_analysers[i] != NULL &&
		strcmp(tdm_report_analysers[i]->format, format->name) != 0)
		i++;
	return format != NULL ? tdm_report_analysers[i] : NULL;
}

void tdm_report_head(struct tdm_block *in, const struct tdm_intake *reading, const char *source, uint64_t refused)
{
	tdm_data_all(
		in, TDM_VALUES({ "source", tdm_value_text(source) }, { "complete", tdm_value_bool(reading->err == 0) },
			    { "refused", tdm_value_count(refused) }));
	if (reading->err != 0)
		tdm_warn(in, "Incomplete", "the file could not be read to its end; this is what came before", NULL);
}

uint64_t tdm_report_ring_bytes(void)
{
	struct tdm_card wormhole, blackhole;
	if (tdm_card_init(&wormhole, tdm_str_of("n150"), NULL, NULL) != 0 ||
		tdm_card_init(&blackhole, tdm_str_of("p150"), NULL, NULL) != 0)
		return TDM_BYTES_UNKNOWN;
	uint64_t bytes = tdm_card_get(&wormhole, TDM_CARD_KERNEL_CONFIG);
	return bytes == tdm_card_get(&blackhole, TDM_CARD_KERNEL_CONFIG) ? bytes : TDM_BYTES_UNKNOWN;
}

void tdm_report_ring(struct tdm_block *in, uint64_t ring_bytes)
{
	tdm_line(in, "Ring",
		"{ring_bytes} for kernels, arguments and settings of a core (default of Wormhole and Blackhole)",
		TDM_VALUES({ "ring_bytes", tdm_value_bytes(ring_bytes) }))
		->is_data_only = ring_bytes == TDM_BYTES_UNKNOWN;
}

void tdm_report_count(
	struct tdm_findings *found, enum tdm_severity severity, const char *what, uint64_t count, const char *pattern)
{
	if (count == 0)
		return;
	tdm_findings_add(found, TDM_FAMILY_CAPTURE, what, severity)->pattern = pattern;
	tdm_findings_figure(found, "count", TDM_UNIT_COUNT, count);
}
