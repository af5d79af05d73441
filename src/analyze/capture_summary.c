#include "analyze/capture_summary.h"
#include "analyze/capture_operations.h"
#include "analyze/finding.h"
#include "base/reserve.h"
#include "base/units.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum { ERRORS_MAX = 1000 }; /* that are kept */

int tdm_capture_summary_init(struct tdm_capture_summary *s)
{
	memset(s, 0, sizeof *s);
	s->stock = tdm_capture_stock_new();
	if (s->stock == NULL)
		return -ENOMEM;
	int err = tdm_capture_exact_init(&s->exact);
	if (err != 0) {
		tdm_capture_stock_free(s->stock);
		s->stock = NULL;
	}
	return err;
}

void tdm_capture_summary_done(struct tdm_capture_summary *s)
{
	tdm_capture_stock_free(s->stock);
	tdm_capture_exact_done(&s->exact);
	free(s->errors);
	memset(s, 0, sizeof *s);
}

static void note_moment(struct tdm_capture_summary *s, unsigned raised)
{
	struct tdm_exact_now now;
	tdm_capture_exact_now(&s->exact, &now);
	for (int i = 0; i < TDM_STOCK_FIGURES; i++)
		if ((raised >> i & 1) != 0)
			s->at[i] = now;
}

/* Not worth failing for: an error that cannot be kept is only counted. */
static __attribute__((noinline, cold)) void keep_error(
	struct tdm_capture_summary *s, const struct tdm_capture_node *node)
{
	s->error_count++;
	if (s->errors_kept == ERRORS_MAX ||
		tdm_reserve(&s->errors, &s->errors_cap, s->errors_kept + 1, sizeof *s->errors) != 0)
		return;
	struct tdm_capture_error *error = &s->errors[s->errors_kept++];
	error->node = node->index;
	snprintf(error->operation, sizeof error->operation, "%.*s", TDM_STR_ARG(node->name));
	snprintf(error->message, sizeof error->message, "%.*s", TDM_STR_ARG(node->error));
}

static int take_node(struct tdm_capture_summary *s, const struct tdm_capture_node *node)
{
	unsigned raised = 0;
	if (node->type == TDM_CAPTURE_ERROR)
		keep_error(s, node);
	int err = tdm_capture_stock_apply(s->stock, node, &raised);
	if ((raised & TDM_STOCK_RAISED_BEFORE) != 0)
		note_moment(s, 1U << TDM_STOCK_L1_PEAK);
	if (err == 0)
		err = tdm_capture_exact_apply(&s->exact, node);
	raised &= ~TDM_STOCK_RAISED_BEFORE;
	if (raised != 0)
		note_moment(s, raised);
	return err;
}

int tdm_capture_summary_take(void *summary, const struct tdm_record *record)
{
	struct tdm_capture_summary *s = summary;
	switch (record->type) {
	case TDM_RECORD_NODE:
		return take_node(s, record->node);
	case TDM_RECORD_DEVICE:
		return tdm_capture_exact_device(&s->exact, record->device);
	case TDM_RECORD_MEMBER:
		return tdm_capture_exact_member(&s->exact, record->member->mesh, record->member->chip);
	case TDM_RECORD_CAPTURE_END:
		s->counts = *record->capture;
		return 0;
	default:
		return 0;
	}
}

/* The highest of all devices, since devices are not added up; unknown if one of them is. */
static int64_t find_right(const struct tdm_capture_exact *exact, enum tdm_stock_figure figure)
{
	bool has_none = figure == TDM_STOCK_DRAM_ALLOCATIONS || figure == TDM_STOCK_DRAM_DEALLOCATIONS;
	/* Programs that were cached have circular buffers, but the capture does not say which. */
	has_none |= (figure == TDM_STOCK_L1_PEAK || figure == TDM_STOCK_CORE_PEAK_CB ||
			    figure == TDM_STOCK_CORE_PEAK_TOTAL) &&
		    exact->cached_programs != 0 && exact->program_nodes == 0;
	int64_t most = has_none ? INT64_MIN : 0;
	for (size_t i = 0; i < exact->unit_count && most != INT64_MIN; i++) {
		int64_t peak = tdm_capture_peak(exact, i, figure);
		most = peak == INT64_MIN || peak > most ? peak : most;
	}
	return most;
}

int tdm_capture_summary_end(struct tdm_capture_summary *s)
{
	s->figures = *tdm_capture_stock_end(s->stock);
	int err = tdm_capture_exact_end(&s->exact);
	for (int figure = 0; figure < TDM_STOCK_FIGURES; figure++)
		s->right[figure] = find_right(&s->exact, (enum tdm_stock_figure)figure);
	return err;
}

/* ---- why the runtime's figure differs ---- */

/* Bytes from before the capture, which are in each exact figure; the device that has the most counts for all. */
static int64_t existing(const struct tdm_capture_summary *s, bool is_dram, bool is_bank)
{
	uint64_t most = 0;
	for (size_t i = 0; i < s->exact.unit_count; i++) {
		const struct tdm_exact_kind *kinds = s->exact.units[i].kinds;
		const struct tdm_exact_kind *a = &kinds[is_dram ? TDM_KIND_DRAM : TDM_KIND_L1];
		const struct tdm_exact_kind *b = &kinds[is_dram ? TDM_KIND_TRACE : TDM_KIND_L1_SMALL];
		most = tdm_max(most, is_bank ? a->existing_bank_bytes + b->existing_bank_bytes
					     : a->existing_bytes + b->existing_bytes);
	}
	return (int64_t)most;
}

/* From the runtime's figure to the exact one, at the runtime's peak. */
struct steps {
	int64_t counted;  /* by the runtime, less what other reasons explain */
	int64_t all;      /* on all devices, sizes added up */
	int64_t one;      /* on the device that has the most */
	int64_t stacked;  /* on its fullest core */
	int64_t top;      /* and each address once */
	int64_t before;   /* bytes from before the capture */
	int64_t replaced; /* counted by the runtime, of programs that are gone */
};

static struct steps steps_of(const struct tdm_capture_summary *s, enum tdm_stock_figure figure, int64_t counted)
{
	const struct tdm_exact_now *at = &s->at[figure];
	int kind = figure == TDM_STOCK_CORE_PEAK_CB    ? TDM_PROGRAM_CB
		   : figure == TDM_STOCK_CORE_PEAK_DFB ? TDM_PROGRAM_DFB
						       : TDM_PROGRAM_SCRATCHPAD;
	int64_t gone = 0;
	for (int i = 0; i < TDM_PROGRAM_KINDS; i++)
		gone += at->replaced[i];
	switch (figure) {
	case TDM_STOCK_DRAM_PEAK:
		return (struct steps){ at->dram_all, at->dram_all, at->dram_top, at->dram_top, at->dram_top,
			existing(s, true, false), 0 };
	case TDM_STOCK_L1_PEAK:
		return (struct steps){ counted, at->device_all, at->device_plain, at->device_top, at->device_top,
			existing(s, false, false), gone };
	case TDM_STOCK_CORE_PEAK_L1:
		return (struct steps){ at->bank_all, at->bank_all, at->bank_top, at->bank_top, at->bank_top,
			existing(s, false, true), 0 };
	case TDM_STOCK_CORE_PEAK_TOTAL:
		return (struct steps){ counted, at->core_all, at->core_plain, at->core_stacked, at->core_top,
			existing(s, false, true), gone };
	default:
		return (struct steps){ counted, at->plain_all[kind], at->plain_top[kind], at->stacked_top[kind],
			at->max_top[kind], 0, at->replaced[kind] };
	}
}

bool tdm_capture_explain(
	const struct tdm_capture_summary *s, enum tdm_stock_figure figure, int64_t bytes[TDM_REASON_COUNT])
{
	bool is_l1 = figure == TDM_STOCK_L1_PEAK;
	int64_t counted = (int64_t)s->figures.value[figure], right = s->right[figure], inputs = 0;
	memset(bytes, 0, TDM_REASON_COUNT * sizeof *bytes);
	if (!s->figures.known[figure] || right == INT64_MIN || counted == right)
		return false;
	if (s->figures.wrapped[figure]) {
		bytes[TDM_REASON_WRAPPED] = 1;
		return true;
	}
	int64_t rest = counted - right;
	if (is_l1) {
		bytes[TDM_REASON_VIEWS] = (int64_t)s->figures.view_bytes;
		bytes[TDM_REASON_TWICE] = (int64_t)s->figures.twice_bytes;
		inputs = (int64_t)s->figures.input_bytes;
		counted -= bytes[TDM_REASON_VIEWS] + bytes[TDM_REASON_TWICE] + inputs;
	}
	struct steps steps = steps_of(s, figure, counted);
	/*
	 * The runtime lets a release on one device release everything. Without such a release there is another cause.
	 */
	bytes[TDM_REASON_REPLACED] = steps.replaced;
	if (s->exact.partial_releases != 0)
		bytes[TDM_REASON_RELEASED] = steps.counted - steps.all - steps.replaced;
	bytes[TDM_REASON_DEVICES] = steps.all - steps.one;
	bytes[is_l1 ? TDM_REASON_EACH_CORE : TDM_REASON_CORES] = steps.one - steps.stacked;
	bytes[TDM_REASON_ADDRESSES] = steps.stacked - steps.top;
	bytes[TDM_REASON_EXISTING] = inputs - steps.before;
	bytes[TDM_REASON_MOMENT] = steps.top + steps.before - right;
	for (int i = 0; i < TDM_REASON_REST; i++)
		rest -= bytes[i];
	bytes[TDM_REASON_REST] = rest;
	return true;
}

/* ---- findings ---- */

static void find_reasons(const struct tdm_capture_summary *s, enum tdm_stock_figure figure, struct tdm_findings *found)
{
	static const struct {
		const char *name, *text;
	} reasons[] = {
#define X(id, name, text) [TDM_REASON_##id] = { name, text },
		TDM_CAPTURE_REASON_LIST(X)
#undef X
	};
	int64_t bytes[TDM_REASON_COUNT];
	tdm_capture_explain(s, figure, bytes);
	for (int i = 0; i < TDM_REASON_COUNT; i++) {
		if (bytes[i] == 0)
			continue;
		tdm_findings_remark(found, TDM_FINDING_INFO, reasons[i].name, tdm_stock_key(figure));
		if (i == TDM_REASON_WRAPPED)
			tdm_findings_figure(found, "bytes", TDM_UNIT_BYTES, TDM_BYTES_UNKNOWN);
		else
			tdm_findings_figure(found, "bytes", TDM_UNIT_CHANGE, (uint64_t)bytes[i]);
		tdm_findings_say(found, "%s", reasons[i].text);
	}
}

static void find_unknown(const struct tdm_capture_summary *s, struct tdm_findings *found)
{
	static const char *const names[TDM_STOCK_GROUPS] = { "dram_*", "l1_peak", "core_peak_*" };
	for (int group = 0; group < TDM_STOCK_GROUPS; group++)
		if (s->figures.why[group][0] != '\0') {
			tdm_findings_remark(found, TDM_FINDING_WARNING, "unknown", names[group]);
			tdm_findings_figure(found, "bytes", TDM_UNIT_BYTES, TDM_BYTES_UNKNOWN);
			tdm_findings_say(found, "%s", s->figures.why[group]);
		}
}

static void find_faults(const struct tdm_capture_summary *s, struct tdm_findings *found)
{
	const struct tdm_capture_exact *e = &s->exact;
	const struct {
		uint64_t count;
		const char *what, *one, *many;
	} faults[] = {
		{ s->counts.refused, "refused_nodes", "node cannot be used", "nodes cannot be used" },
		{ s->counts.cut_texts, "cut_texts", "text too long", "texts too long" },
		{ s->counts.other_types, "unknown_types", "node of an unknown type", "nodes of unknown types" },
		{ e->unknown_frees, "unknown_releases", "release of an unknown buffer", "releases of unknown buffers" },
		{ e->double_frees, "double_releases", "double release", "double releases" },
		{ e->rereports, "second_allocations", "second allocation of a live buffer",
			"second allocations of live buffers" },
		{ e->ignored, "ignored", "node above a limit", "nodes above a limit" },
		{ e->paths.overflow, "calls", "call that could not be told apart",
			"calls that could not be told apart" },
	};
	for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
		tdm_findings_counted(found, TDM_FINDING_WARNING, faults[i].what, "Faults", faults[i].count,
			faults[i].one, faults[i].many);
}

static void find_remarks(const struct tdm_capture_exact *exact, struct tdm_findings *found)
{
	uint64_t before = 0, without_banks = 0;
	bool any_cores_unknown = false;
	for (size_t i = 0; i < exact->buffer_count; i++) {
		const struct tdm_exact_buffer *b = &exact->buffers[i];
		before += b->existed;
		without_banks += b->existed && b->bank_bytes == TDM_BYTES_UNKNOWN &&
				 (b->kind == TDM_KIND_L1 || b->kind == TDM_KIND_L1_SMALL);
	}
	for (size_t i = 0; i < exact->chip_count; i++)
		any_cores_unknown |= exact->chips[i].cores_unknown;
	tdm_findings_counted(found, TDM_FINDING_INFO, "views", NULL, exact->views,
		"circular or dataflow buffer uses a tensor's memory and has no bytes of its own",
		"circular or dataflow buffers use a tensor's memory and have no bytes of their own");
	tdm_findings_counted(found, TDM_FINDING_INFO, "existing", NULL, before,
		"buffer was there before the capture began", "buffers were there before the capture began");
#define WITHOUT "in L1 without their bytes per core: figures for one core do not include them"
	tdm_findings_counted(found, TDM_FINDING_INFO, "existing_banks", NULL, without_banks,
		"buffer from before the capture is " WITHOUT, "buffers from before the capture are " WITHOUT);
	tdm_findings_counted(found, TDM_FINDING_INFO, "cached_programs", NULL, exact->cached_programs,
		"program whose circular buffers are not in the capture: it was cached before, or it has none",
		"programs whose circular buffers are not in the capture: they were cached before, or they have none");
#define ADDED                                                                                                      \
	"may belong to a second program of the same call, but no release or address says so: sizes are added up, " \
	"and figures that include them are upper bounds"
	tdm_findings_counted(found, TDM_FINDING_INFO, "undivided", NULL, exact->undivided, "circular buffer " ADDED,
		"circular buffers " ADDED);
	if (!any_cores_unknown)
		return;
	tdm_findings_remark(found, TDM_FINDING_INFO, "cores", NULL);
	tdm_findings_say(found, "The cores of some circular buffers are not recorded: L1 of one device is unknown, and "
				"for one core they are assumed to be on the same one");
}

void tdm_capture_find(const struct tdm_capture_summary *s, enum tdm_capture_topic topic, struct tdm_findings *found)
{
	if (topic == TDM_CAPTURE_UNKNOWN)
		find_unknown(s, found);
	else if (topic == TDM_CAPTURE_FAULTS)
		find_faults(s, found);
	else if (topic == TDM_CAPTURE_REMARKS)
		find_remarks(&s->exact, found);
	for (int i = 0; topic == TDM_CAPTURE_REASONS && i < TDM_STOCK_FIGURES; i++)
		find_reasons(s, (enum tdm_stock_figure)i, found);
}
