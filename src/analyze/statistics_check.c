#include "analyze/statistics_check.h"
#include "base/units.h"

#include <inttypes.h>

#define COUNT_TEXT(count) tdm_format_count((char[TDM_BYTES_CAP]){ 0 }, TDM_BYTES_CAP, count)

/* What may explain a difference, by what else is known about the process. */
static const char *reason(const struct tdm_picture_process *process, const struct tdm_holding *holding, unsigned kind)
{
	const struct tdm_picture_amount *amount = &holding->kinds[kind];
	const struct tdm_statistics *said = &holding->statistics[kind];
	if (amount->is_estimated)
		return "Tidemark's figure is an estimate: of some buffers it is not known what they take of each bank.";
	if (tdm_is_some(process->lost) || process->refused != 0)
		return "Reports of this process were lost: Tidemark's figure is not complete.";
	if (tdm_is_some(amount->double_frees) || tdm_is_some(amount->unknown_frees))
		return "Buffers were freed that Tidemark does not know: they were allocated before the tracking began, "
		       "or are not reported.";
	if (tdm_is_some(amount->rereports))
		return "Buffers were reported again while they were live: a release was not reported.";
	if (said->allocated > said->ours)
		return "The runtime holds memory that was not reported: it was allocated before the tracking began, or "
		       "by a way that is not seen.";
	return "Tidemark counts memory that this allocator does not have: another allocator of the device has it, or "
	       "its release was not reported.";
}

static void add_difference(const struct tdm_picture *picture, uint32_t index, unsigned kind, struct tdm_findings *found)
{
	const struct tdm_holding *holding = &picture->holdings[index];
	const struct tdm_picture_process *process = &picture->processes[holding->process];
	const struct tdm_statistics *said = &holding->statistics[kind];
	bool differs = said->allocated != said->ours, is_estimated = holding->kinds[kind].is_estimated;
	struct tdm_finding *finding =
		tdm_findings_add(found, TDM_FAMILY_RUN, differs ? "statistics_differ" : "statistics_differed",
			differs && !is_estimated ? TDM_FINDING_WARNING : TDM_FINDING_INFO);
	finding->bytes = differs ? tdm_max(said->allocated, said->ours) - tdm_min(said->allocated, said->ours) : 0;
	tdm_about_holding(picture, index, &finding->about);
	finding->about.kind = (uint8_t)kind;
	const char *name = tdm_kind_name((enum tdm_kind)kind);
	if (differs)
		tdm_findings_say(found,
			"device %" PRIu32 ", %s: the runtime's allocator has %s B in each bank, Tidemark counted %s B "
			"(%s of %s reports differed)",
			holding->number, name, COUNT_TEXT(said->allocated), COUNT_TEXT(said->ours),
			COUNT_TEXT(said->differing), COUNT_TEXT(said->reports));
	else
		tdm_findings_say(found,
			"device %" PRIu32 ", %s: %s of %s reports of the runtime's allocator differed from Tidemark's "
			"count; the last one agrees: %s B in each bank",
			holding->number, name, COUNT_TEXT(said->differing), COUNT_TEXT(said->reports),
			COUNT_TEXT(said->ours));
	tdm_findings_figure(found, "runtime_bytes_per_bank", TDM_UNIT_BYTES, said->allocated);
	tdm_findings_figure(found, "counted_bytes_per_bank", TDM_UNIT_BYTES, said->ours);
	tdm_findings_figure(found, "reports", TDM_UNIT_COUNT, said->reports);
	tdm_findings_figure(found, "differing", TDM_UNIT_COUNT, said->differing);
	tdm_findings_advise(found, NULL, "%s",
		differs || is_estimated ? reason(process, holding, kind)
					: "Buffers that came or went while the runtime was asked explain it.");
}

void tdm_statistics_check(const struct tdm_picture *picture, uint32_t process, struct tdm_findings *findings)
{
	const struct tdm_picture_process *of = &picture->processes[process];
	uint64_t reports = 0;
	bool all_agree = true;
	for (uint32_t h = of->first_holding; h < of->first_holding + of->holding_count; h++)
		for (unsigned k = 0; k < TDM_KIND_COUNT; k++) {
			const struct tdm_statistics *said = &picture->holdings[h].statistics[k];
			reports = tdm_plus(reports, said->reports);
			if (said->reports == 0 || (said->differing == 0 && said->allocated == said->ours))
				continue;
			add_difference(picture, h, k, findings);
			all_agree = false;
		}
	if (reports == 0 || !all_agree)
		return;
	struct tdm_finding *finding = tdm_findings_add(findings, TDM_FAMILY_RUN, "statistics_agree", TDM_FINDING_OK);
	finding->about.pid = of->pid;
	finding->about.process = process;
	finding->about.comm = of->comm;
	finding->about.ledger = of->ledger;
	tdm_findings_say(findings, "the figures agree with the runtime's allocator (%s report%s)", COUNT_TEXT(reports),
		reports == 1 ? "" : "s");
	tdm_findings_figure(findings, "reports", TDM_UNIT_COUNT, reports);
}
