/*
 * This file has independent parts: trace hazards, refused programs, buffers left at close, and the runtime's
 * statistics. Each part collects one process's reports from the process's holdings (one per device). A mesh reports the
 * same buffer or refusal once per chip, so equal reports are grouped, and each group becomes one finding. Only the
 * sizes to specify when opening a device come from the peaks, not from reports.
 */
#include "analyze/live/run_findings.h"
#include "base/buf.h"
#include "base/memory.h"
#include "base/units.h"
#include "model/card/bank.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define COUNT_TEXT(count) tdm_format_count((char[TDM_BYTES_CAP]){ 0 }, TDM_BYTES_CAP, count)
#define NAME_TEXT(name)   tdm_str_shown(tdm_str_of(name), (char[96]){ 0 }, 96)

static struct tdm_finding *add(struct tdm_findings *findings, const char *what, enum tdm_severity severity)
{
	static const char *const verdicts[TDM_SEVERITIES] = { "ok", "info", "warning", "danger" };
	struct tdm_finding *finding = tdm_findings_add(findings, TDM_FAMILY_RUN, what, severity);
	finding->verdict = verdicts[severity];
	return finding;
}

/* ---- buffers that a replayed trace may overwrite ---- */

/* A hazard, and its holding. */
struct ref {
	const struct tdm_hazard *hazard;
	uint32_t holding;
};

/* For each state: the name, the severity, and the advice. */
static const struct {
	const char *what;
	enum tdm_severity severity;
	const char *advice;
} states[TDM_HAZARD_STATES] = {
	[TDM_HAZARD_LIVE] = { "trace_live", TDM_FINDING_BROKEN,
		"Allocate such buffers before the first capture: run every operation once, so that tensors and "
		"programs that are made at their first use exist, and capture all traces after that, one after the "
		"other. Write new inputs into buffers that existed before the capture. Free what is only needed for "
		"a while, or release the trace, before a replay. A buffer that the trace itself fills before anything "
		"reads it is safe." },
	[TDM_HAZARD_WAITS] = { "trace_waits", TDM_FINDING_INFO,
		"Free such buffers before the trace is replayed, or release the trace first. Allocate before the "
		"capture what must live longer." },
	[TDM_HAZARD_FREED] = { "trace_freed", TDM_FINDING_INFO,
		"This is safe as long as they are always freed, and no longer read, before the replay." },
};

/* Compares by place, then by device. */
static int compare_places(const struct ref *a, const struct ref *b)
{
	const struct tdm_hazard *x = a->hazard, *y = b->hazard;
	int order = tdm_order(x->state, y->state);
	order = order != 0 ? order : tdm_order(x->kind, y->kind);
	order = order != 0 ? order : tdm_order(x->name, y->name);
	order = order != 0 ? order : tdm_order(x->program, y->program);
	return order != 0 ? order : tdm_order(x->stack, y->stack);
}

static int compare_refs(const void *left, const void *right)
{
	const struct ref *a = left, *b = right;
	int order = compare_places(a, b);
	order = order != 0 ? order : tdm_order(a->holding, b->holding);
	return order != 0 ? order : tdm_order(a->hazard->time_ns, b->hazard->time_ns);
}

static uint64_t age(const struct tdm_picture *picture, uint64_t then_ns)
{
	return then_ns != 0 && then_ns <= picture->time_ns ? picture->time_ns - then_ns : TDM_BYTES_UNKNOWN;
}

/* Adds findings such as "kv_cache: 3 dram buffers of 4 MiB on 8 devices, the first at 0x1a40000, were allocated in
 * ttnn::add", followed by what happened to the buffers. */
static void add_hazards(
	const struct tdm_picture *picture, const struct ref *refs, size_t count, struct tdm_findings *findings)
{
	const struct tdm_hazard *hazard = refs->hazard;
	const char *name = tdm_picture_text(picture, hazard->name),
		   *program = tdm_picture_text(picture, hazard->program);
	uint64_t buffers = 0, devices = 0;
	bool is_even = true; /* all buffers have the same size */
	char where[48], size[TDM_BYTES_CAP + 24] = "", at[48] = "", story[160];
	for (size_t i = 0; i < count; i++) {
		buffers = tdm_plus(buffers, refs[i].hazard->count);
		devices += i == 0 || refs[i].holding != refs[i - 1].holding;
		is_even &= refs[i].hazard->asked == hazard->asked;
	}
	bool is_one = buffers == 1;
	const char *were = is_one ? "was" : "were";
	struct tdm_finding *finding = add(findings, states[hazard->state].what, states[hazard->state].severity);
	finding->code = hazard->state;
	finding->weight = (double)buffers;
	tdm_about_holding(picture, refs->holding, &finding->about);
	finding->about.kind = hazard->kind;
	finding->about.name = name;
	finding->names_itself = true;
	finding->about.stack = hazard->stack;
	finding->about.replay_stack = hazard->replay_stack;
	if (hazard->asked != TDM_SIZE_UNKNOWN)
		snprintf(size, sizeof size, "%s%s", is_even ? " of " : ", the first of ",
			tdm_format_bytes_short((char[TDM_BYTES_CAP]){ 0 }, TDM_BYTES_CAP, hazard->asked));
	if (devices > 1)
		snprintf(where, sizeof where, "%" PRIu64 " devices", devices);
	else
		snprintf(where, sizeof where, "device %" PRIu32, picture->holdings[refs->holding].number);
	if (hazard->address != TDM_ADDRESS_UNKNOWN)
		snprintf(at, sizeof at, is_one ? " at 0x%" PRIx64 : ", the first at 0x%" PRIx64 ",", hazard->address);
	if (hazard->state == TDM_HAZARD_LIVE)
		snprintf(story, sizeof story,
			" and %s live when trace %" PRIu64 " was replayed: %s content may have been overwritten", were,
			hazard->trace, is_one ? "its" : "their");
	else
		snprintf(story, sizeof story,
			hazard->state == TDM_HAZARD_FREED ? " and had been freed when trace %" PRIu64 " was replayed"
							  : " (trace %" PRIu64 "); no trace has been replayed since",
			hazard->trace);
	tdm_findings_say(findings, "%s%s%s %s buffer%s%s on %s%s %s allocated%s%s while a captured trace existed%s",
		NAME_TEXT(name), name[0] != '\0' ? ": " : "", COUNT_TEXT(buffers),
		tdm_kind_name((enum tdm_kind)hazard->kind), is_one ? "" : "s", size, where, at, were,
		program[0] != '\0' ? " in " : "", NAME_TEXT(program), story);
	tdm_findings_figure(findings, "trace", TDM_UNIT_COUNT, hazard->trace);
	tdm_findings_figure(findings, "buffers", TDM_UNIT_COUNT, buffers);
	tdm_findings_figure(findings, "devices", TDM_UNIT_COUNT, devices);
	tdm_findings_figure(findings, "first_id", TDM_UNIT_COUNT, hazard->id);
	tdm_findings_figure(findings, "first_address", TDM_UNIT_ADDRESS, hazard->address);
	tdm_findings_figure(findings, "first_asked_bytes", TDM_UNIT_BYTES, hazard->asked);
	tdm_findings_figure(findings, "first_bytes_per_bank", TDM_UNIT_BYTES, hazard->bank_bytes);
	tdm_findings_figure(findings, "first_age_ns", TDM_UNIT_NS, age(picture, hazard->time_ns));
	tdm_findings_figure(findings, "replay_age_ns", TDM_UNIT_NS, age(picture, hazard->replayed_ns));
	tdm_findings_place(findings, "program", tdm_str_of(tdm_picture_text(picture, hazard->program)));
	tdm_findings_advise(findings, NULL, "%s", states[hazard->state].advice);
}

static void find_trace_hazards(const struct tdm_picture *picture, uint32_t process, struct tdm_findings *findings)
{
	const struct tdm_picture_process *of = &picture->processes[process];
	if (of->holding_count == 0)
		return;
	const struct tdm_holding *holdings = &picture->holdings[of->first_holding];
	size_t count = 0, cap = 0;
	uint64_t lost = 0;
	for (uint32_t i = 0; i < of->holding_count; i++) {
		cap += holdings[i].told.hazard_count;
		lost = tdm_plus(lost, holdings[i].told.hazards_lost);
	}
	if (lost != 0) {
		struct tdm_finding *finding = add(findings, "trace_hazards_lost", TDM_FINDING_WARNING);
		tdm_about_holding(picture, of->first_holding, &finding->about);
		finding->about.device = -1;
		tdm_findings_say(findings,
			"%" PRIu64
			" more buffer%s allocated while a captured trace existed; the ledger had no room to keep "
			"where",
			lost, lost == 1 ? " was" : "s were");
		tdm_findings_figure(findings, "buffers", TDM_UNIT_COUNT, lost);
	}
	if (cap == 0)
		return;
	struct ref *refs = tdm_alloc(cap * sizeof *refs);
	for (uint32_t i = 0; i < of->holding_count; i++)
		for (size_t k = 0; k < holdings[i].told.hazard_count; k++)
			if (holdings[i].told.hazards[k].state < TDM_HAZARD_STATES &&
				holdings[i].told.hazards[k].kind < TDM_KIND_COUNT)
				refs[count++] = (struct ref){ &holdings[i].told.hazards[k], of->first_holding + i };
	qsort(refs, count, sizeof *refs, compare_refs);
	for (size_t i = 0, end; i < count; i = end) {
		for (end = i + 1; end < count && compare_places(&refs[i], &refs[end]) == 0;)
			end++;
		add_hazards(picture, &refs[i], end - i, findings);
	}
	free(refs);
}

uint64_t tdm_trace_hazards_count(
	const struct tdm_picture *picture, const struct tdm_picture_process *process, enum tdm_hazard_state state)
{
	uint64_t count = 0;
	for (uint32_t i = 0; i < process->holding_count; i++) {
		const struct tdm_holding *holding = &picture->holdings[process->first_holding + i];
		for (size_t k = 0; k < holding->told.hazard_count; k++)
			if (holding->told.hazards[k].state == state)
				count = tdm_plus(count, holding->told.hazards[k].count);
	}
	return count;
}

/* ---- programs that were refused ---- */

/* Whether two refusals are the same, since a program on a mesh is refused once per chip. */
static bool is_same(const struct tdm_clash *a, const struct tdm_clash *b)
{
	return a->type == b->type && a->kind == b->kind && a->count == b->count && a->begin == b->begin &&
	       a->end == b->end && a->limit == b->limit && a->program == b->program;
}

/* How many of these holdings have the same refusal. */
static uint64_t count_same(const struct tdm_holding *holdings, size_t count, const struct tdm_clash *clash)
{
	uint64_t same = 0;
	for (size_t h = 0; h < count; h++)
		for (size_t i = 0; i < holdings[h].told.clash_count; i++)
			same += is_same(&holdings[h].told.clashes[i], clash);
	return same;
}

/* Writes the programs, the requested range and its end, the cores, and the number of refusals. */
static void put_story(const struct tdm_picture *picture, const struct tdm_holding *holding, uint64_t devices,
	const struct tdm_clash *clash, struct tdm_buf *out)
{
	uint64_t need = clash->begin != 0 ? clash->end - clash->begin : 0, excess = clash->end - clash->limit;
	const char *program = tdm_picture_text(picture, clash->program);
	if (devices > 1)
		tdm_buf_printf(out, "%" PRIu64 " devices, the first is %" PRIu32 ": ", devices, holding->number);
	else
		tdm_buf_printf(out, "device %" PRIu32 ": ", holding->number);
	tdm_buf_printf(out, "%s%s%s", clash->kind == TDM_KIND_DFB ? "dataflow buffers" : "circular buffers",
		program[0] != '\0' ? " of " : "", NAME_TEXT(program));
	if (clash->type == TDM_CLASH_BEYOND) {
		tdm_buf_puts(out, " do not fit into L1: they ");
		if (need != 0 && clash->begin < clash->limit)
			tdm_buf_printf(out, "need %s of the %s B that a core has for them, and ", COUNT_TEXT(need),
				COUNT_TEXT(clash->limit - clash->begin));
		tdm_buf_printf(out, "would end at 0x%" PRIx64 ", %s B beyond the end of L1 at 0x%" PRIx64, clash->end,
			COUNT_TEXT(excess), clash->limit);
	} else if (clash->type == TDM_CLASH_L1) {
		tdm_buf_printf(out,
			" clash with L1 buffers: they end at 0x%" PRIx64 ", the lowest L1 buffer is at 0x%" PRIx64
			", which is %s B too low",
			clash->end, clash->limit, COUNT_TEXT(excess));
	} else {
		tdm_buf_puts(
			out, " were refused: they reach into L1 buffers or beyond the end of L1; where is not known");
	}
	if (clash->type != TDM_CLASH_BEYOND && need != 0)
		tdm_buf_printf(out, "; they need %s B in each core", COUNT_TEXT(need));
	if (clash->range_count != 0)
		tdm_buf_printf(out, "; cores %" PRIu32 "-%" PRIu32 " to %" PRIu32 "-%" PRIu32 "%s", clash->x0,
			clash->y0, clash->x1, clash->y1, clash->range_count > 1 ? " and others" : "");
	if (clash->count == 1)
		tdm_buf_puts(out, " (once)");
	else
		tdm_buf_printf(out, " (%s times, the last is shown)", COUNT_TEXT(clash->count));
}

static void add_clash(const struct tdm_picture *picture, uint32_t index, uint64_t devices,
	const struct tdm_clash *clash, struct tdm_findings *findings)
{
	bool is_l1 = clash->type == TDM_CLASH_L1, is_beyond = clash->type == TDM_CLASH_BEYOND;
	const struct tdm_core_range range = clash->range_count != 0
						    ? (struct tdm_core_range){ (uint16_t)clash->x0, (uint16_t)clash->y0,
							      (uint16_t)clash->x1, (uint16_t)clash->y1 }
						    : (struct tdm_core_range){ 1, 1, 0, 0 }; /* no cores are known */
	uint64_t excess = clash->end - clash->limit, unknown = TDM_BYTES_UNKNOWN;
	struct tdm_buf text = { 0 };
	struct tdm_finding *finding = add(findings, is_beyond ? "beyond_l1" : "clash", TDM_FINDING_BROKEN);
	finding->bytes = clash->type != TDM_CLASH_UNKNOWN ? excess : 0;
	tdm_about_holding(picture, index, &finding->about);
	finding->about.kind = clash->kind;
	put_story(picture, &picture->holdings[index], devices, clash, &text);
	tdm_findings_say(findings, "%s", text.data);
	tdm_buf_done(&text);
	tdm_findings_figure(findings, "clashes", TDM_UNIT_COUNT, clash->count);
	tdm_findings_figure(findings, "devices", TDM_UNIT_COUNT, devices);
	tdm_findings_figure(findings, "cb_begin", TDM_UNIT_ADDRESS, clash->begin != 0 ? clash->begin : unknown);
	tdm_findings_figure(findings, "cb_end", TDM_UNIT_ADDRESS, clash->end != 0 ? clash->end : unknown);
	tdm_findings_figure(findings, "lowest_l1", TDM_UNIT_ADDRESS, is_l1 ? clash->limit : unknown);
	tdm_findings_figure(findings, "overlap_bytes", TDM_UNIT_BYTES, is_l1 ? excess : unknown);
	tdm_findings_figure(findings, "l1_bytes", TDM_UNIT_BYTES, is_beyond ? clash->limit : unknown);
	tdm_findings_figure(findings, "excess_bytes", TDM_UNIT_BYTES, is_beyond ? excess : unknown);
	tdm_findings_cores(findings, "core_range", &range);
	tdm_findings_figure(findings, "core_ranges", TDM_UNIT_COUNT, clash->range_count);
	tdm_findings_place(findings, "program", tdm_str_of(tdm_picture_text(picture, clash->program)));
	tdm_findings_advise(findings, NULL, "%s",
		is_beyond ? "Give the program smaller circular buffers: smaller blocks, or more cores. Nothing that is "
			    "freed in L1 helps."
			  : "Free L1 buffers or move them to DRAM before this program runs, or give it smaller "
			    "circular buffers: smaller blocks, or more cores. 'tidemark dump --map' shows both ends of "
			    "L1 while the program runs.");
}

static void find_clashes(const struct tdm_picture *picture, uint32_t process, struct tdm_findings *findings)
{
	const struct tdm_picture_process *of = &picture->processes[process];
	if (of->holding_count == 0)
		return;
	const struct tdm_holding *holdings = &picture->holdings[of->first_holding];
	for (uint32_t h = 0; h < of->holding_count; h++)
		for (size_t i = 0; i < holdings[h].told.clash_count; i++) {
			const struct tdm_clash *clash = &holdings[h].told.clashes[i];
			bool is_valid = clash->type < TDM_CLASH_TYPES && clash->kind < TDM_KIND_COUNT &&
					clash->count != 0 && clash->begin <= clash->end &&
					(clash->type == TDM_CLASH_UNKNOWN || clash->limit < clash->end);
			if (is_valid && count_same(holdings, h, clash) == 0)
				add_clash(picture, of->first_holding + h,
					count_same(holdings, of->holding_count, clash), clash, findings);
		}
}

/* ---- buffers left at close ---- */

static void find_left_at_close(const struct tdm_picture *picture, uint32_t process, struct tdm_findings *findings)
{
	const struct tdm_picture_process *of = &picture->processes[process];
	uint64_t buffers = 0, devices = 0;
	uint32_t first = TDM_INDEX_NONE;
	char count[TDM_BYTES_CAP];
	for (uint32_t h = of->first_holding; h < of->first_holding + of->holding_count; h++) {
		if (picture->holdings[h].told.left == 0)
			continue;
		buffers = tdm_plus(buffers, picture->holdings[h].told.left);
		devices++;
		first = first == TDM_INDEX_NONE ? h : first;
	}
	if (devices == 0)
		return;
	tdm_format_count(count, sizeof count, buffers);
	struct tdm_finding *finding = add(findings, "left_at_close", TDM_FINDING_INFO);
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
		"A program that opens its device again, or runs on, should release its tensors and traces, and clear "
		"its program cache, before it closes the device.");
}

/* ---- the runtime's own figures ---- */

/* A possible reason for a difference, based on other facts about the process. */
static const char *reason(const struct tdm_picture_process *process, const struct tdm_holding *holding, unsigned kind)
{
	const struct tdm_counter *amount = &holding->kinds[kind];
	const struct tdm_statistics *said = &holding->told.statistics[kind];
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
	const struct tdm_statistics *said = &holding->told.statistics[kind];
	bool differs = said->allocated != said->ours, is_estimated = holding->kinds[kind].is_estimated;
	struct tdm_finding *finding = add(found, differs ? "statistics_differ" : "statistics_differed",
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

static void check_statistics(const struct tdm_picture *picture, uint32_t process, struct tdm_findings *findings)
{
	const struct tdm_picture_process *of = &picture->processes[process];
	uint64_t reports = 0;
	bool all_agree = true;
	for (uint32_t h = of->first_holding; h < of->first_holding + of->holding_count; h++)
		for (unsigned k = 0; k < TDM_KIND_COUNT; k++) {
			const struct tdm_statistics *said = &picture->holdings[h].told.statistics[k];
			reports = tdm_plus(reports, said->reports);
			if (said->reports == 0 || (said->differing == 0 && said->allocated == said->ours))
				continue;
			add_difference(picture, h, k, findings);
			all_agree = false;
		}
	if (reports == 0 || !all_agree)
		return;
	struct tdm_finding *finding = add(findings, "statistics_agree", TDM_FINDING_OK);
	finding->about.pid = of->pid;
	finding->about.process = process;
	finding->about.comm = of->comm;
	finding->about.ledger = of->ledger;
	tdm_findings_say(findings, "the figures agree with the runtime's allocator (%s report%s)", COUNT_TEXT(reports),
		reports == 1 ? "" : "s");
	tdm_findings_figure(findings, "reports", TDM_UNIT_COUNT, reports);
}

/* ---- all findings ---- */

void tdm_run_findings(const struct tdm_picture *picture, uint32_t process, struct tdm_findings *findings)
{
	find_trace_hazards(picture, process, findings);
	find_clashes(picture, process, findings);
	find_left_at_close(picture, process, findings);
	check_statistics(picture, process, findings);
	tdm_findings_sort(findings);
}

/* All these counts can only grow while a process runs, so their sum changes whenever any of them does. */
uint64_t tdm_run_findings_version(const struct tdm_picture *picture, const struct tdm_picture_process *process)
{
	uint64_t version = process->holding_count;
	for (uint32_t i = 0; i < process->holding_count; i++) {
		const struct tdm_holding *holding = &picture->holdings[process->first_holding + i];
		version = tdm_plus(version, tdm_plus(holding->told.hazards_lost, holding->told.left));
		for (size_t k = 0; k < holding->told.hazard_count; k++)
			version = tdm_plus(version, holding->told.hazards[k].count + holding->told.hazards[k].state);
		for (size_t k = 0; k < holding->told.clash_count; k++)
			version = tdm_plus(version, holding->told.clashes[k].count);
		for (unsigned k = 0; k < TDM_KIND_COUNT; k++)
			version = tdm_plus(version, holding->told.statistics[k].reports);
	}
	return version;
}

/* ---- sizes to specify when opening a device ---- */

/* Raises the size to this device's size, if larger. */
static void look(struct tdm_open_size *size, const struct tdm_picture *picture, const struct tdm_holding *holding)
{
	const struct tdm_counter *amount = &holding->kinds[size->kind];
	const struct tdm_device_info *info = picture->devices[holding->device].info;
	const struct tdm_region *region = NULL;
	bool is_trace = size->kind == TDM_KIND_TRACE;
	uint64_t needed = is_trace ? amount->peak : amount->peak_bank, part;
	if (amount->from != TDM_FROM_LEDGER)
		return;
	for (uint32_t i = 0; info != NULL && i < info->region_count && region == NULL; i++)
		if (info->regions[i].kind == size->kind)
			region = &info->regions[i];
	/* The traces' total size suffices only if each bank's part of it can hold the peak of one bank, because pages
	 * are not spread evenly. */
	if (is_trace && region != NULL && region->banks != 0 && amount->peak_asked != TDM_BYTES_UNKNOWN &&
		tdm_bank_trace_part(amount->peak_asked, 1, region->banks, &part) && part >= amount->peak_bank)
		needed = amount->peak_asked;
	bool has_region = region != NULL && region->bank_size != 0;
	if (needed == TDM_BYTES_UNKNOWN ||
		(needed == 0 && !has_region && !(is_trace && holding->told.trace_count != 0)))
		return;
	size->is_in_dram |= is_trace && !has_region && needed == 0;
	if (size->needed != TDM_BYTES_UNKNOWN && needed <= size->needed)
		return;
	size->needed = needed;
	size->device = holding->number;
	size->opened = !has_region ? TDM_BYTES_UNKNOWN
		       : is_trace  ? region->bank_size * region->banks
				   : region->bank_size;
}

size_t tdm_open_sizes(const struct tdm_picture *picture, uint32_t process, struct tdm_open_size sizes[TDM_OPEN_SIZES])
{
	static const struct tdm_open_size all[TDM_OPEN_SIZES] = {
		{ .option = "trace_region_size", .kind = TDM_KIND_TRACE, .needed = TDM_BYTES_UNKNOWN },
		{ .option = "l1_small_size", .kind = TDM_KIND_L1_SMALL, .needed = TDM_BYTES_UNKNOWN },
	};
	const struct tdm_picture_process *of = &picture->processes[process];
	size_t count = 0;
	for (size_t i = 0; i < TDM_OPEN_SIZES; i++) {
		struct tdm_open_size *size = &sizes[count];
		*size = all[i];
		size->is_least = tdm_is_some(of->lost) || of->refused != 0;
		for (uint32_t h = 0; h < of->holding_count; h++)
			look(size, picture, &picture->holdings[of->first_holding + h]);
		size->is_in_dram &= size->needed == 0;
		count += size->needed != TDM_BYTES_UNKNOWN;
	}
	return count;
}
