#include "analyze/clashes.h"
#include "base/units.h"

#include <inttypes.h>

static bool is_clash(const struct tdm_event *event, uint64_t process, uint32_t device)
{
	return event->op == TDM_OP_OOM && (event->flags & TDM_EVENT_CLASH) != 0 && event->process == process &&
	       event->device == device;
}

static void add(const struct tdm_picture *picture, uint32_t index, const struct tdm_event *last, uint64_t count,
	struct tdm_findings *findings)
{
	const struct tdm_holding *holding = &picture->holdings[index];
	bool is_known = last->id != 0 && last->address != 0 && last->id > last->address;
	char overlap[TDM_BYTES_CAP], times[TDM_BYTES_CAP];
	tdm_format_count(overlap, sizeof overlap, is_known ? last->id - last->address : 0);
	tdm_format_count(times, sizeof times, count);
	struct tdm_finding *finding = tdm_findings_add(findings, TDM_FAMILY_RUN, "clash", TDM_FINDING_BROKEN);
	finding->bytes = is_known ? last->id - last->address : 0;
	tdm_about_holding(picture, index, &finding->about);
	finding->about.kind = TDM_KIND_CB;
	if (is_known)
		tdm_findings_say(findings,
			"device %" PRIu32 ": circular buffers clash with L1 buffers: they end at 0x%" PRIx64
			", the lowest L1 buffer is at 0x%" PRIx64 ", which is %s B too low (%s%s)",
			holding->number, last->id, last->address, overlap, count == 1 ? "once" : times,
			count == 1 ? "" : " times, the last is shown");
	else
		tdm_findings_say(findings,
			"device %" PRIu32 ": circular buffers clash with L1 buffers; where is not known (%s%s)",
			holding->number, count == 1 ? "once" : times, count == 1 ? "" : " times");
	tdm_findings_figure(findings, "clashes", TDM_UNIT_COUNT, count);
	tdm_findings_figure(findings, "cb_end", TDM_UNIT_ADDRESS, last->id != 0 ? last->id : TDM_ADDRESS_UNKNOWN);
	tdm_findings_figure(
		findings, "lowest_l1", TDM_UNIT_ADDRESS, last->address != 0 ? last->address : TDM_ADDRESS_UNKNOWN);
	tdm_findings_figure(
		findings, "overlap_bytes", TDM_UNIT_BYTES, is_known ? last->id - last->address : TDM_BYTES_UNKNOWN);
	tdm_findings_advise(findings, NULL,
		"Free L1 buffers or move them to DRAM before this program runs, or give it smaller circular buffers: "
		"smaller blocks, or more cores. 'tidemark dump --map' shows both ends of L1 while the program runs.");
}

void tdm_clashes_find(const struct tdm_picture *picture, uint32_t process, struct tdm_findings *findings)
{
	const struct tdm_picture_process *of = &picture->processes[process];
	for (uint32_t h = of->first_holding; h < of->first_holding + of->holding_count && picture->event_count != 0;
		h++) {
		const struct tdm_event *last = NULL;
		uint64_t count = 0;
		for (size_t i = 0; i < picture->event_count; i++) {
			if (!is_clash(&picture->events[i], of->handle, picture->holdings[h].own_number))
				continue;
			last = &picture->events[i];
			count++;
		}
		if (last != NULL)
			add(picture, h, last, count, findings);
	}
}
