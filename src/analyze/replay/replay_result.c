/* The result of a replay: whether everything fits, the first failure in each space with its figures, and memory over
 * time. */
#include "analyze/replay/replay.h"

#include "model/result/result.h"

/* Shows which requests were not replayed, and the assumptions made; not used for text traces. */
static void add_feed(struct tdm_block *in, const struct tdm_replay_feed *feed)
{
	static const char pattern[] =
#define X(id, key, one, many) "|, {left_out." key "/" one "/" many "/}"
		TDM_LEFT_OUT_LIST(X)
#undef X
		;
	struct tdm_named values[] = {
#define X(id, key, one, many) { "left_out." key, tdm_value_count(feed->left_out[TDM_LEFT_OUT_##id]) },
		TDM_LEFT_OUT_LIST(X)
#undef X
			{ 0 }
	};
	uint64_t any = 0;
	for (int i = 0; i < TDM_LEFT_OUT_COUNT; i++)
		any |= feed->left_out[i];
	tdm_data(in, "device", tdm_value_number(feed->device));
	tdm_line(in, "Left out", pattern, values)->is_data_only = any == 0;
	if (feed->left_out[TDM_LEFT_OUT_OTHER_DEVICES] != 0)
		tdm_line(in, "", "this is device {device}; --device {_other} replays another one",
			TDM_VALUES({ "device", tdm_value_number(feed->device) },
				{ "_other", tdm_value_number(feed->other_device) }))
			->is_text_only = true;
	if (feed->assumed == 0)
		tdm_data(in, "assumed_pages", tdm_value_count(0));
	else
		tdm_line(in, "Assumed",
			"{assumed_pages/buffer/buffers} of known size only: interleaved over all banks, in pages of a "
			"tile",
			TDM_VALUES({ "assumed_pages", tdm_value_count(feed->assumed) }));
}

static void add_head(struct tdm_block *in, const struct tdm_replay_feed *feed, const struct tdm_intake *file)
{
	const struct tdm_replay *replay = feed->replay;
	const char *format = feed->is_trace ? NULL : file->format->summary;
	const struct tdm_card *card = tdm_replay_card(replay);
	const struct tdm_bank_range *range = &replay->spaces[0].range;
	tdm_line(in, format != NULL ? "Requests" : "Trace",
		"{trace}| ({format})|: {requests/request/requests}, {live_buffers/buffer/buffers} live at the end",
		TDM_VALUES({ "trace", tdm_value_text(tdm_input_name(file->input)) },
			{ "format", tdm_value_text(format) }, { "requests", tdm_value_count(replay->ops) },
			{ "live_buffers", tdm_value_count(replay->live_count) }));
	tdm_data_all(in, TDM_VALUES({ "policy", tdm_value_text(tdm_fit_name(replay->fit)) },
				 { "position", tdm_value_text(tdm_replay_place(file->format)) },
				 { "source", tdm_value_text("model") },
				 { "card", tdm_value_text(card != NULL ? card->name : NULL) },
				 { "skipped_lines", tdm_value_number(file->refused) },
				 { "complete", tdm_value_bool(file->err == 0) }));
	if (file->err != 0)
		tdm_warn(in, "Incomplete", "the file could not be read to its end; this is what came before", NULL);
	if (file->refused != 0)
		tdm_warn(in, "Skipped", "{_lines/line/lines} could not be used; the first ones are named above",
			TDM_VALUES({ "_lines", tdm_value_count(file->refused) }));
	if (!feed->is_trace)
		add_feed(in, feed);
	const struct tdm_value policy = tdm_value_text(tdm_fit_name(replay->fit));
	if (card != NULL)
		tdm_line(in, "Device",
			"{_name}, one chip, {_l1_banks} L1 banks, {_dram_banks} DRAM banks, policy {_policy}",
			TDM_VALUES({ "_name", tdm_value_text(card->full_name) },
				{ "_l1_banks", tdm_value_number(card->value[TDM_CARD_L1_BANKS]) },
				{ "_dram_banks", tdm_value_number(card->value[TDM_CARD_DRAM_BANKS]) },
				{ "_policy", policy }));
	else if (replay->space_count != 0)
		tdm_line(in, "Region", "{_base} .. {_end}, sizes in steps of {_align} B, policy {_policy}",
			TDM_VALUES({ "_base", tdm_value_number(range->base) },
				{ "_end", tdm_value_number(range->base + range->size) },
				{ "_align", tdm_value_number(range->block_align) }, { "_policy", policy }));
}

static void add_verdict(struct tdm_block *in, const struct tdm_replay *replay, bool is_cut)
{
	uint64_t requests = 0, failures = 0;
	for (size_t i = 0; i < replay->space_count; i++) {
		requests += replay->spaces[i].allocs + replay->spaces[i].failures;
		failures += replay->spaces[i].failures;
	}
	bool fits = replay->findings.count == 0, is_known = replay->space_count != 0 && !(fits && is_cut);
	tdm_line(in, "Verdict",
		!fits    ? "does not fit: {,_failed} of {_allocations/allocation/allocations} failed"
		: is_cut ? "fits as far as the file could be read: {_allocations/allocation/allocations}, none failed"
			 : "fits: {_allocations/allocation/allocations}, none failed",
		TDM_VALUES({ "fits", tdm_value_if(is_known, tdm_value_bool(fits)) },
			{ "_failed", tdm_value_count(failures) }, { "_allocations", tdm_value_count(requests) }))
		->line.level = fits ? TDM_LEVEL_PLAIN : TDM_LEVEL_DANGER;
}

/* ---- spaces ---- */

static struct tdm_value get_peak_share(const struct tdm_field *field)
{
	const struct tdm_replay_space *space = field->row;
	return tdm_value_share((double)space->peak / (double)space->range.size); /* unknown for a range of 0 bytes */
}

enum { ALLOCATED, FREE, LARGEST };

static struct tdm_value get_end(const struct tdm_field *field)
{
	struct tdm_freelist_stats s = tdm_freelist_stats(((const struct tdm_replay_space *)field->row)->list);
	return tdm_value_number(field->column->arg == ALLOCATED ? s.allocated : s.largest_free);
}

#define SPACE(member) TDM_MEMBER(struct tdm_replay_space, member)
static const struct tdm_column space_columns[] = {
	{ "Per bank", NULL, SPACE(name) },
	{ "banks", NULL, SPACE(range.banks) },
	{ "size", NULL, SPACE(range.size), TDM_BYTES },
	{ "peak", NULL, SPACE(peak), TDM_BYTES },
	{ "peak\nshare", NULL, .get = get_peak_share },
	{ "at end", NULL, .get = get_end, .arg = ALLOCATED, TDM_BYTES },
	{ "largest\nfree", NULL, .get = get_end, .arg = LARGEST, TDM_BYTES },
	{ "tightest\nfree", NULL, SPACE(tightest), TDM_BYTES },
	{ "worst\nfrag.", NULL, SPACE(worst_frag) },
};

static struct tdm_value get_fragmentation(const struct tdm_field *field)
{
	const struct tdm_replay_sample *sample = field->row;
	return tdm_value_share(tdm_replay_frag(sample->free, sample->largest_free));
}

#define SAMPLE(member) TDM_MEMBER(struct tdm_replay_sample, member)
static const struct tdm_column sample_columns[] = {
	{ NULL, "request", SAMPLE(op) },
	{ "used", "allocated", SAMPLE(allocated) },
	{ NULL, "free", SAMPLE(free) },
	{ NULL, "largest_free", SAMPLE(largest_free) },
	{ "fragmentation", "fragmentation", .get = get_fragmentation },
};

static void add_end(struct tdm_block *in, const struct tdm_replay *replay, size_t i)
{
	struct tdm_freelist_stats s = tdm_freelist_stats(replay->spaces[i].list);
	struct tdm_hole *holes = tdm_result_alloc(in->result, TDM_REPLAY_HOLES, sizeof *holes);
	size_t count = tdm_replay_holes(replay, i, holes);
	tdm_data_all(in, TDM_VALUES({ "at_end.total", tdm_value_bytes(s.total) },
				 { "at_end.allocated", tdm_value_bytes(s.allocated) },
				 { "at_end.free", tdm_value_bytes(s.free) },
				 { "at_end.largest_free", tdm_value_bytes(s.largest_free) },
				 { "at_end.fragmentation", tdm_value_share(tdm_replay_frag(s.free, s.largest_free)) }));
	tdm_add_table(in, "at_end.largest_holes", "Largest holes at the end", tdm_holes_table(holes, count));
	if (count == 0)
		tdm_say(in, "No holes at the end: the region is full.", NULL);
}

static void add_space(struct tdm_block *list, const struct tdm_replay *replay, size_t i, const char *place)
{
	const struct tdm_replay_space *space = &replay->spaces[i];
	struct tdm_block *in = tdm_add_group(list, NULL, space->name);
	const struct tdm_value at = tdm_value_text(place);
	bool is_one_bank = space->range.banks <= 1;
	in->is_data_only = space->allocs == 0;
	tdm_data_all(in,
		TDM_VALUES({ "kind", tdm_value_text(space->name) }, { "banks", tdm_value_number(space->range.banks) },
			{ "base", tdm_value_number(space->range.base) },
			{ "allocations", tdm_value_count(space->allocs) }, { "frees", tdm_value_count(space->frees) },
			{ "failures", tdm_value_count(space->failures) }));
	tdm_line(in, "Peak",
		"{,peak.bytes_per_bank} B per bank at {_place} {peak.line}, {peak.buffers/buffer/buffers}|, "
		"{peak.device_bytes} on "
		"the device",
		TDM_VALUES({ "peak.bytes_per_bank", tdm_value_bytes(space->peak) },
			{ "peak.request", tdm_value_number(space->peak_op) },
			{ "peak.line", tdm_value_number(space->peak_line) },
			{ "peak.buffers", tdm_value_count(space->peak_buffers) },
			{ "peak.device_bytes",
				tdm_value_bytes(
					is_one_bank ? TDM_BYTES_UNKNOWN : tdm_times(space->peak, space->range.banks)) },
			{ "_place", at }));
	tdm_line(in, "Tightest", "at {_place} {tightest.line}: the largest free block has {,tightest.largest_free} B",
		TDM_VALUES({ "tightest.largest_free", tdm_value_bytes(space->tightest) },
			{ "tightest.request", tdm_value_number(space->tightest_op) },
			{ "tightest.line", tdm_value_number(space->tightest_line) }, { "_place", at }));
	struct tdm_value worst = tdm_value_share(space->worst_frag);
	worst.decimals = 1;
	struct tdm_block *line = tdm_line(in, "Fragmented",
		"at most {worst_fragmentation.fragmentation} at {_place} {worst_fragmentation.line}",
		TDM_VALUES({ "worst_fragmentation.fragmentation", worst },
			{ "worst_fragmentation.request", tdm_value_number(space->worst_frag_op) },
			{ "worst_fragmentation.line", tdm_value_number(space->worst_frag_line) }, { "_place", at }));
	line->is_data_only = space->worst_frag <= 0;
	tdm_add_chart(in, "over_time", NULL, TDM_TABLE_OF(sample_columns, space->samples, space->sample_count));
	add_end(in, replay, i);
}

void tdm_replay_show(struct tdm_block *in, const struct tdm_replay_feed *feed, const struct tdm_intake *reading)
{
	struct tdm_replay *replay = feed->replay;
	struct tdm_table spaces = TDM_FITTED(space_columns, replay->spaces, replay->space_count);
	add_head(in, feed, reading);
	add_verdict(in, replay, reading->err != 0);
	tdm_add_findings(in, "findings", NULL, &replay->findings);
	tdm_add_table(in, NULL, NULL, spaces);
	struct tdm_block *list = tdm_add_list(in, "spaces", NULL);
	for (size_t i = 0; i < replay->space_count; i++)
		add_space(list, replay, i, tdm_replay_place(reading->format));
}
