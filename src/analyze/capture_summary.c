#include "analyze/capture_summary.h"
#include "base/reserve.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum { ERRORS_MAX = 1000 }; /* that are kept */

static const struct {
	const char *name, *text;
} reason_texts[] = {
#define X(id, name, text) [TDM_REASON_##id] = { name, text },
	TDM_CAPTURE_REASON_LIST(X)
#undef X
};

const char *tdm_capture_reason_name(enum tdm_capture_reason_code code)
{
	return reason_texts[code].name;
}

const char *tdm_capture_reason_text(enum tdm_capture_reason_code code)
{
	return reason_texts[code].text;
}

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

/* Not worth failing for: what cannot be kept is counted only. */
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

/* ---- what is right, and why the runtime's figure is another ---- */

static int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* The highest of all devices, as none is added to another. */
static void find_right(struct tdm_capture_summary *s)
{
	bool bank_unknown = false;
	for (int i = 0; i < TDM_STOCK_FIGURES; i++)
		s->right[i] = 0;
	s->right[TDM_STOCK_DRAM_ALLOCATIONS] = s->right[TDM_STOCK_DRAM_DEALLOCATIONS] = INT64_MIN;
	for (size_t i = 0; i < s->exact.unit_count; i++) {
		const struct tdm_exact_unit *u = &s->exact.units[i];
		int64_t *r = s->right;
		r[TDM_STOCK_DRAM_PEAK] = larger(r[TDM_STOCK_DRAM_PEAK], u->dram.bytes);
		r[TDM_STOCK_L1_PEAK] = larger(r[TDM_STOCK_L1_PEAK], u->device.bytes);
		r[TDM_STOCK_CORE_PEAK_CB] = larger(r[TDM_STOCK_CORE_PEAK_CB], u->program[TDM_PROGRAM_CB].bytes);
		r[TDM_STOCK_CORE_PEAK_DFB] = larger(r[TDM_STOCK_CORE_PEAK_DFB], u->program[TDM_PROGRAM_DFB].bytes);
		r[TDM_STOCK_CORE_PEAK_SCRATCHPAD] =
			larger(r[TDM_STOCK_CORE_PEAK_SCRATCHPAD], u->program[TDM_PROGRAM_SCRATCHPAD].bytes);
		r[TDM_STOCK_CORE_PEAK_L1] = larger(r[TDM_STOCK_CORE_PEAK_L1], u->l1_core.bytes);
		r[TDM_STOCK_CORE_PEAK_TOTAL] = larger(r[TDM_STOCK_CORE_PEAK_TOTAL], u->core.bytes);
		bank_unknown = bank_unknown || u->kinds[TDM_KIND_L1].bank_unknown != 0 ||
			       u->kinds[TDM_KIND_L1_SMALL].bank_unknown != 0;
	}
	if (bank_unknown)
		s->right[TDM_STOCK_CORE_PEAK_L1] = s->right[TDM_STOCK_CORE_PEAK_TOTAL] = INT64_MIN;
	for (size_t i = 0; i < s->exact.chip_count; i++)
		if (s->exact.chips[i].cores_unknown)
			s->right[TDM_STOCK_L1_PEAK] = INT64_MIN;
}

static void put_reason(struct tdm_capture_summary *s, int figure, int code, int64_t bytes, int64_t *explained)
{
	if (bytes == 0 && code != TDM_REASON_WRAPPED)
		return;
	s->reasons[s->reason_count++] = (struct tdm_capture_reason){ (uint8_t)figure, (uint8_t)code, bytes };
	*explained += bytes;
}

/* What was there before and is in each exact figure; the device that has the most of it stands for all. */
static int64_t existing(const struct tdm_capture_summary *s, bool is_dram, bool is_bank)
{
	int64_t most = 0;
	for (size_t i = 0; i < s->exact.unit_count; i++) {
		const struct tdm_exact_kind *kinds = s->exact.units[i].kinds;
		const struct tdm_exact_kind *a = &kinds[is_dram ? TDM_KIND_DRAM : TDM_KIND_L1];
		const struct tdm_exact_kind *b = &kinds[is_dram ? TDM_KIND_TRACE : TDM_KIND_L1_SMALL];
		most = larger(most, (int64_t)(is_bank ? a->existing_bank_bytes + b->existing_bank_bytes
						      : a->existing_bytes + b->existing_bytes));
	}
	return most;
}

/* The runtime lets a release on one device release everything. Without such a release the cause is another one. */
static void put_released(struct tdm_capture_summary *s, int figure, int64_t bytes, int64_t *explained)
{
	if (s->exact.partial_releases != 0)
		put_reason(s, figure, TDM_REASON_RELEASED, bytes, explained);
}

static void explain_program(struct tdm_capture_summary *s, int figure, int kind, int64_t stock, int64_t *explained)
{
	const struct tdm_exact_now *at = &s->at[figure];
	put_released(s, figure, stock - at->plain_all[kind], explained);
	put_reason(s, figure, TDM_REASON_DEVICES, at->plain_all[kind] - at->plain_top[kind], explained);
	put_reason(s, figure, TDM_REASON_CORES, at->plain_top[kind] - at->stacked_top[kind], explained);
	put_reason(s, figure, TDM_REASON_ADDRESSES, at->stacked_top[kind] - at->max_top[kind], explained);
	put_reason(s, figure, TDM_REASON_MOMENT, at->max_top[kind] - s->right[figure], explained);
}

static void explain_total(struct tdm_capture_summary *s, int figure, int64_t stock, int64_t *explained)
{
	const struct tdm_exact_now *at = &s->at[figure];
	int64_t before = existing(s, false, true);
	put_released(s, figure, stock - at->core_all, explained);
	put_reason(s, figure, TDM_REASON_DEVICES, at->core_all - at->core_plain, explained);
	put_reason(s, figure, TDM_REASON_CORES, at->core_plain - at->core_stacked, explained);
	put_reason(s, figure, TDM_REASON_ADDRESSES, at->core_stacked - at->core_top, explained);
	put_reason(s, figure, TDM_REASON_EXISTING, -before, explained);
	put_reason(s, figure, TDM_REASON_MOMENT, at->core_top + before - s->right[figure], explained);
}

static void explain_l1(struct tdm_capture_summary *s, int figure, int64_t stock, int64_t *explained)
{
	const struct tdm_exact_now *at = &s->at[figure];
	int64_t before = existing(s, false, false), inputs = (int64_t)s->figures.input_bytes;
	int64_t views = (int64_t)s->figures.view_bytes, twice = (int64_t)s->figures.twice_bytes;
	put_reason(s, figure, TDM_REASON_VIEWS, views, explained);
	put_reason(s, figure, TDM_REASON_TWICE, twice, explained);
	put_released(s, figure, stock - views - twice - inputs - at->device_all, explained);
	put_reason(s, figure, TDM_REASON_DEVICES, at->device_all - at->device_plain, explained);
	put_reason(s, figure, TDM_REASON_EACH_CORE, at->device_plain - at->device_top, explained);
	put_reason(s, figure, TDM_REASON_EXISTING, inputs - before, explained);
	put_reason(s, figure, TDM_REASON_MOMENT, at->device_top + before - s->right[figure], explained);
}

static void explain(struct tdm_capture_summary *s, int figure)
{
	const struct tdm_exact_now *at = &s->at[figure];
	int64_t stock = (int64_t)s->figures.value[figure], explained = 0, before;
	if (!s->figures.known[figure] || s->right[figure] == INT64_MIN || stock == s->right[figure])
		return;
	if (s->figures.wrapped[figure]) {
		put_reason(s, figure, TDM_REASON_WRAPPED, 0, &explained);
		return;
	}
	switch (figure) {
	case TDM_STOCK_DRAM_PEAK:
		before = existing(s, true, false);
		put_reason(s, figure, TDM_REASON_DEVICES, at->dram_all - at->dram_top, &explained);
		put_reason(s, figure, TDM_REASON_EXISTING, -before, &explained);
		put_reason(s, figure, TDM_REASON_MOMENT, at->dram_top + before - s->right[figure], &explained);
		break;
	case TDM_STOCK_L1_PEAK:
		explain_l1(s, figure, stock, &explained);
		break;
	case TDM_STOCK_CORE_PEAK_L1:
		before = existing(s, false, true);
		put_reason(s, figure, TDM_REASON_DEVICES, at->bank_all - at->bank_top, &explained);
		put_reason(s, figure, TDM_REASON_EXISTING, -before, &explained);
		put_reason(s, figure, TDM_REASON_MOMENT, at->bank_top + before - s->right[figure], &explained);
		break;
	case TDM_STOCK_CORE_PEAK_TOTAL:
		explain_total(s, figure, stock, &explained);
		break;
	case TDM_STOCK_CORE_PEAK_CB:
		explain_program(s, figure, TDM_PROGRAM_CB, stock, &explained);
		break;
	case TDM_STOCK_CORE_PEAK_DFB:
		explain_program(s, figure, TDM_PROGRAM_DFB, stock, &explained);
		break;
	case TDM_STOCK_CORE_PEAK_SCRATCHPAD:
		explain_program(s, figure, TDM_PROGRAM_SCRATCHPAD, stock, &explained);
		break;
	default:
		return;
	}
	put_reason(s, figure, TDM_REASON_REST, stock - s->right[figure] - explained, &explained);
}

int tdm_capture_summary_end(struct tdm_capture_summary *s)
{
	tdm_capture_stock_end(s->stock);
	tdm_capture_stock_result(s->stock, &s->figures);
	int err = tdm_capture_exact_end(&s->exact);
	find_right(s);
	for (int figure = 0; figure < TDM_STOCK_FIGURES; figure++)
		explain(s, figure);
	return err;
}
