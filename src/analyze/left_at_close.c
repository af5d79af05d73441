#include "analyze/left_at_close.h"
#include "base/units.h"

#include <inttypes.h>

void tdm_left_at_close_find(const struct tdm_picture *picture, uint32_t process, struct tdm_findings *findings)
{
	const struct tdm_picture_process *of = &picture->processes[process];
	uint64_t buffers = 0, devices = 0;
	uint32_t first = TDM_INDEX_NONE;
	char count[TDM_BYTES_CAP];
	for (uint32_t h = of->first_holding; h < of->first_holding + of->holding_count; h++) {
		if (picture->holdings[h].left == 0)
			continue;
		buffers = tdm_plus(buffers, picture->holdings[h].left);
		devices++;
		first = first == TDM_INDEX_NONE ? h : first;
	}
	if (devices == 0)
		return;
	tdm_format_count(count, sizeof count, buffers);
	struct tdm_finding *finding = tdm_findings_add(findings, TDM_FAMILY_RUN, "left_at_close", TDM_FINDING_INFO);
	tdm_about_holding(picture, first, &finding->about);
	if (devices == 1)
		tdm_findings_say(findings, "device %" PRIu32 " was closed with %s live buffer%s",
			picture->holdings[first].number, count, buffers == 1 ? "" : "s");
	else
		tdm_findings_say(findings,
			"%" PRIu64 " devices were closed with %s live buffers, device %" PRIu32 " among them", devices,
			count, picture->holdings[first].number);
	tdm_findings_figure(findings, "buffers", TDM_UNIT_COUNT, buffers);
	tdm_findings_figure(findings, "devices", TDM_UNIT_COUNT, devices);
	tdm_findings_advise(findings, NULL,
		"The runtime released them with the device. The code of programs in a program cache may be among them. "
		"A "
		"program that opens its device again, or runs on, should release its tensors and traces, and clear its "
		"program cache, before it closes the device.");
}
