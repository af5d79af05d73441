#include "analyze/trace_hazards.h"
#include "base/buf.h"
#include "base/units.h"

#include <inttypes.h>
#include <stdlib.h>

/* A hazard and the holding that has it. */
struct ref {
	const struct tdm_picture_hazard *hazard;
	uint32_t holding;
};

/* For each state: its name, how bad it is, and what to do. */
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

static bool is_valid(const struct tdm_picture_hazard *hazard)
{
	return hazard->state < TDM_HAZARD_STATES && hazard->kind < TDM_KIND_COUNT;
}

/* By place, then by device. */
static int compare_places(const struct ref *a, const struct ref *b)
{
	const struct tdm_picture_hazard *x = a->hazard, *y = b->hazard;
	int order = tdm_order(x->state, y->state);
	order = order != 0 ? order : tdm_order(x->kind, y->kind);
	order = order != 0 ? order : tdm_order(x->name, y->name);
	order = order != 0 ? order : tdm_order(x->program, y->program);
	return order != 0 ? order : tdm_order(x->stack, y->stack);
}

static int compare(const void *left, const void *right)
{
	const struct ref *a = left, *b = right;
	int order = compare_places(a, b);
	order = order != 0 ? order : tdm_order(a->holding, b->holding);
	return order != 0 ? order : tdm_order(a->hazard->time_ns, b->hazard->time_ns);
}

/* What a group of hazards adds up to. */
struct sum {
	uint64_t buffers, devices, asked;
	bool is_even; /* all are of one size */
};

static struct sum add_up(const struct ref *refs, size_t count)
{
	struct sum sum = { .is_even = true };
	for (size_t i = 0; i < count; i++) {
		const struct tdm_picture_hazard *hazard = refs[i].hazard;
		sum.buffers = tdm_plus(sum.buffers, hazard->count);
		sum.devices += i == 0 || refs[i].holding != refs[i - 1].holding;
		sum.is_even &= hazard->asked == refs[0].hazard->asked;
	}
	sum.asked = refs[0].hazard->asked;
	return sum;
}

static void put_name(struct tdm_buf *out, const char *name)
{
	char shown[64];
	tdm_buf_puts(out, tdm_str_shown(tdm_str_of(name), shown, sizeof shown));
}

/* "kv_cache: 3 dram buffers of 4 MiB on 8 devices, the first at 0x1a40000, were allocated in ttnn::add" */
static void put_subject(
	const struct tdm_picture *picture, const struct ref *first, const struct sum *sum, struct tdm_buf *out)
{
	const struct tdm_picture_hazard *hazard = first->hazard;
	const char *name = tdm_picture_text(picture, hazard->name);
	const char *program = tdm_picture_text(picture, hazard->program);
	bool is_one = sum->buffers == 1;
	char text[TDM_BYTES_CAP];
	put_name(out, name);
	tdm_buf_printf(out, "%s%s %s buffer%s", name[0] != '\0' ? ": " : "",
		tdm_format_count(text, sizeof text, sum->buffers), tdm_kind_name((enum tdm_kind)hazard->kind),
		is_one ? "" : "s");
	if (sum->asked != TDM_SIZE_UNKNOWN)
		tdm_buf_printf(out, "%s%s", sum->is_even ? " of " : ", the first of ",
			tdm_format_bytes_short(text, sizeof text, sum->asked));
	if (sum->devices > 1)
		tdm_buf_printf(out, " on %" PRIu64 " devices", sum->devices);
	else
		tdm_buf_printf(out, " on device %" PRIu32, picture->holdings[first->holding].number);
	if (hazard->address != TDM_ADDRESS_UNKNOWN)
		tdm_buf_printf(out, is_one ? " at 0x%" PRIx64 : ", the first at 0x%" PRIx64 ",", hazard->address);
	tdm_buf_printf(out, " %s allocated%s", is_one ? "was" : "were", program[0] != '\0' ? " in " : "");
	put_name(out, program);
}

/* Then what has happened to it. */
static void put_story(const struct tdm_picture_hazard *hazard, bool is_one, struct tdm_buf *out)
{
	tdm_buf_puts(out, " while a captured trace existed");
	if (hazard->state == TDM_HAZARD_LIVE)
		tdm_buf_printf(out,
			" and %s live when trace %" PRIu64 " was replayed: %s content may have been overwritten",
			is_one ? "was" : "were", hazard->trace, is_one ? "its" : "their");
	else if (hazard->state == TDM_HAZARD_FREED)
		tdm_buf_printf(out, " and had been freed when trace %" PRIu64 " was replayed", hazard->trace);
	else
		tdm_buf_printf(out, " (trace %" PRIu64 "); no trace has been replayed since", hazard->trace);
}

static uint64_t age(const struct tdm_picture *picture, uint64_t then_ns)
{
	return then_ns != 0 && then_ns <= picture->time_ns ? picture->time_ns - then_ns : TDM_BYTES_UNKNOWN;
}

static void add_finding(
	const struct tdm_picture *picture, const struct ref *refs, size_t count, struct tdm_findings *findings)
{
	const struct tdm_picture_hazard *hazard = refs->hazard;
	const struct sum sum = add_up(refs, count);
	struct tdm_buf text;
	struct tdm_finding *finding =
		tdm_findings_add(findings, TDM_FAMILY_RUN, states[hazard->state].what, states[hazard->state].severity);
	finding->code = hazard->state;
	finding->weight = (double)sum.buffers;
	tdm_about_holding(picture, refs->holding, &finding->about);
	finding->about.kind = hazard->kind;
	finding->about.name = tdm_picture_text(picture, hazard->name);
	finding->about.stack = hazard->stack;
	finding->about.replay_stack = hazard->replay_stack;
	tdm_buf_init(&text);
	put_subject(picture, refs, &sum, &text);
	put_story(hazard, sum.buffers == 1, &text);
	tdm_findings_say(findings, "%.*s", (int)text.len, tdm_buf_str(&text).ptr);
	findings->failed |= tdm_buf_failed(&text);
	tdm_buf_done(&text);
	tdm_findings_figure(findings, "trace", TDM_UNIT_COUNT, hazard->trace);
	tdm_findings_figure(findings, "buffers", TDM_UNIT_COUNT, sum.buffers);
	tdm_findings_figure(findings, "devices", TDM_UNIT_COUNT, sum.devices);
	tdm_findings_figure(findings, "first_id", TDM_UNIT_COUNT, hazard->id);
	tdm_findings_figure(findings, "first_address", TDM_UNIT_ADDRESS, hazard->address);
	tdm_findings_figure(findings, "first_asked_bytes", TDM_UNIT_BYTES, hazard->asked);
	tdm_findings_figure(findings, "first_bytes_per_bank", TDM_UNIT_BYTES, hazard->bank_bytes);
	tdm_findings_figure(findings, "first_age_ns", TDM_UNIT_NS, age(picture, hazard->time_ns));
	tdm_findings_figure(findings, "replay_age_ns", TDM_UNIT_NS, age(picture, hazard->replayed_ns));
	tdm_findings_place(findings, "program", tdm_str_of(tdm_picture_text(picture, hazard->program)));
	tdm_findings_advise(findings, NULL, "%s", states[hazard->state].advice);
}

static void add_lost(const struct tdm_picture *picture, uint32_t process, uint64_t lost, struct tdm_findings *findings)
{
	if (lost == 0)
		return;
	struct tdm_finding *finding =
		tdm_findings_add(findings, TDM_FAMILY_RUN, "trace_hazards_lost", TDM_FINDING_WARNING);
	tdm_about_holding(picture, picture->processes[process].first_holding, &finding->about);
	finding->about.device = -1;
	tdm_findings_say(findings,
		"%" PRIu64 " more buffer%s allocated while a captured trace existed; the ledger had no room to keep "
		"where",
		lost, lost == 1 ? " was" : "s were");
	tdm_findings_figure(findings, "buffers", TDM_UNIT_COUNT, lost);
}

void tdm_trace_hazards_find(const struct tdm_picture *picture, uint32_t process, struct tdm_findings *findings)
{
	const struct tdm_picture_process *of = &picture->processes[process];
	if (of->holding_count == 0)
		return;
	const struct tdm_holding *holdings = &picture->holdings[of->first_holding];
	size_t count = 0, cap = 0;
	uint64_t lost = 0;
	for (uint32_t i = 0; i < of->holding_count; i++) {
		cap += holdings[i].hazard_count;
		lost = tdm_plus(lost, holdings[i].hazards_lost);
	}
	add_lost(picture, process, lost, findings);
	struct ref *refs = cap != 0 ? malloc(cap * sizeof *refs) : NULL;
	if (refs == NULL) {
		findings->failed |= cap != 0;
		return;
	}
	for (uint32_t i = 0; i < of->holding_count; i++)
		for (size_t k = 0; k < holdings[i].hazard_count; k++)
			if (is_valid(&holdings[i].hazards[k]))
				refs[count++] = (struct ref){ &holdings[i].hazards[k], of->first_holding + i };
	qsort(refs, count, sizeof *refs, compare);
	for (size_t i = 0, end; i < count; i = end) {
		for (end = i + 1; end < count && compare_places(&refs[i], &refs[end]) == 0;)
			end++;
		add_finding(picture, &refs[i], end - i, findings);
	}
	free(refs);
}

uint64_t tdm_trace_hazards_count(
	const struct tdm_picture *picture, const struct tdm_picture_process *process, enum tdm_hazard_state state)
{
	uint64_t count = 0;
	for (uint32_t i = 0; i < process->holding_count; i++) {
		const struct tdm_holding *holding = &picture->holdings[process->first_holding + i];
		for (size_t k = 0; k < holding->hazard_count; k++)
			if (holding->hazards[k].state == state)
				count = tdm_plus(count, holding->hazards[k].count);
	}
	return count;
}
