#include "analyze/phases_find.h"
#include "base/units.h"

static void advise(const struct tdm_phases_advice *advice, struct tdm_findings *found)
{
	char peak[TDM_BYTES_CAP];
	if (advice->why_not != NULL || advice->keep_share < 0)
		return;
	if (advice->divisor != 0)
		tdm_findings_advise(found, NULL,
			"with 1/%u of the batch, or gradient accumulation in %u steps, the peak would be %s",
			advice->divisor, advice->divisor,
			tdm_format_bytes_short(peak, sizeof peak, (uint64_t)advice->divided_peak));
	else
		tdm_findings_advise(found, NULL,
			"it fits if gradient checkpointing keeps at most %.1f%% of the "
			"activations",
			100 * advice->keep_share);
}

void tdm_phases_find(const struct tdm_phases *result, struct tdm_findings *found)
{
	char peak[TDM_BYTES_CAP], memory[TDM_BYTES_CAP];
	bool is_assumed = result->memory_from == TDM_MEMORY_DEFAULT;
	if (result->peak == TDM_PHASE_UNKNOWN || result->fits)
		return;
	tdm_findings_remark(
		found, is_assumed ? TDM_FINDING_WARNING : TDM_FINDING_BROKEN, "does_not_fit", result->run->name);
	tdm_findings_figure(found, "peak_bytes", TDM_UNIT_BYTES, (uint64_t)result->peak);
	tdm_findings_figure(found, "device_memory_bytes", TDM_UNIT_BYTES, result->device_memory_bytes);
	tdm_findings_say(found, "does not fit: its peak is %s, and the device has %s%s",
		tdm_format_bytes_short(peak, sizeof peak, (uint64_t)result->peak),
		tdm_format_bytes_short(memory, sizeof memory, result->device_memory_bytes),
		is_assumed ? ", as was assumed" : "");
	advise(&result->advice, found);
}
