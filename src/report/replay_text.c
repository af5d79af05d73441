/* The result of a replay as text. */
#include "report/replay_report.h"
#include "base/units.h"
#include "report/finding_report.h"
#include "report/report_put.h"

#include <inttypes.h>

static uint64_t total_allocs(const struct tdm_replay *replay, uint64_t *failures)
{
	uint64_t allocs = 0;
	*failures = 0;
	for (size_t i = 0; i < replay->space_count; i++) {
		const struct tdm_replay_space *space = &replay->spaces[i];
		allocs += space->allocs + space->failures;
		*failures += space->failures;
	}
	return allocs;
}

/* The events that were not replayed, and what was assumed. */
static void put_left_out(const struct tdm_replay_feed *feed, struct tdm_buf *out)
{
	static const char *const names[TDM_LEFT_OUT_COUNT][2] = {
#define X(id, key, one, many) { one, many },
		TDM_LEFT_OUT_LIST(X)
#undef X
	};
	bool any = false;
	for (int i = 0; i < TDM_LEFT_OUT_COUNT; i++) {
		if (feed->left_out[i] == 0)
			continue;
		if (any)
			tdm_buf_puts(out, ", ");
		else
			tdm_put_label(out, "Left out");
		tdm_put_count(out, feed->left_out[i], names[i][0], names[i][1]);
		any = true;
	}
	if (any)
		tdm_buf_putc(out, '\n');
	if (feed->left_out[TDM_LEFT_OUT_OTHER_DEVICES] != 0) {
		tdm_put_label(out, "");
		tdm_buf_printf(out, "this is device %" PRIu32 "; --device %" PRIu32 " replays another one\n",
			feed->device, feed->other_device);
	}
	if (feed->assumed != 0) {
		tdm_put_label(out, "Assumed");
		tdm_put_count(out, feed->assumed, "buffer", "buffers");
		tdm_buf_puts(out, " of known size only: interleaved over all banks, in pages of a tile\n");
	}
}

static void put_head(const struct tdm_replay *replay, const struct tdm_replay_report *report, struct tdm_buf *out)
{
	const struct tdm_card *card = tdm_replay_card(replay);
	const struct tdm_replay_space *first = &replay->spaces[0];

	tdm_put_label(out, report->format != NULL ? "Requests" : "Trace");
	tdm_cell_text(out, report->trace, !report->ascii);
	if (report->format != NULL)
		tdm_buf_printf(out, " (%s)", report->format);
	tdm_buf_puts(out, ": ");
	tdm_put_count(out, replay->ops, "request", "requests");
	tdm_buf_puts(out, ", ");
	tdm_put_count(out, replay->live_count, "buffer", "buffers");
	tdm_buf_puts(out, " live at the end\n");
	tdm_put_cut(out, &(struct tdm_file_report){ .cut = report->is_cut });
	if (report->skipped != 0) {
		tdm_put_label(out, "Skipped");
		tdm_put_count(out, report->skipped, "line", "lines");
		tdm_buf_puts(out, " could not be used; the first ones are named above\n");
	}
	if (report->feed != NULL)
		put_left_out(report->feed, out);
	tdm_put_label(out, card != NULL ? "Device" : "Region");
	if (card != NULL)
		tdm_buf_printf(out, "%s, one chip, %" PRIu64 " L1 banks, %" PRIu64 " DRAM banks", card->full_name,
			card->value[TDM_CARD_L1_BANKS], card->value[TDM_CARD_DRAM_BANKS]);
	else
		tdm_buf_printf(out, "%" PRIu64 " .. %" PRIu64 ", sizes in steps of %" PRIu64 " B", first->range.base,
			first->range.base + first->range.size, first->range.block_align);
	tdm_buf_printf(out, ", policy %s\n", tdm_fit_name(replay->setup.fit));
}

static const struct tdm_term plain = { .utf8 = true, .width = TDM_TERM_WIDTH };

static void put_verdict(const struct tdm_replay *replay, const struct tdm_replay_report *report, struct tdm_buf *out)
{
	uint64_t failures, allocs = total_allocs(replay, &failures);
	struct tdm_finding_view view = { .findings = &replay->findings, .term = plain, .place = report->place };

	tdm_put_label(out, "Verdict");
	if (replay->findings.count == 0) {
		tdm_buf_printf(out, "fits%s: %s allocation%s, none failed\n",
			report->is_cut ? " as far as the file could be read" : "", TDM_COUNT_TEXT(allocs),
			tdm_plural(allocs));
		return;
	}
	tdm_buf_printf(out, "does not fit: %s of %s allocation%s failed\n", TDM_COUNT_TEXT(failures),
		TDM_COUNT_TEXT(allocs), tdm_plural(allocs));
	tdm_finding_text(&view, replay->findings.list, out);
}

/* One mark for a share from 0 to 1. */
static void put_level(struct tdm_buf *out, double share, bool ascii)
{
	static const char *const blocks[] = { " ", "\u2581", "\u2582", "\u2583", "\u2584", "\u2585", "\u2586", "\u2587",
		"\u2588" };
	static const char *const marks[] = { " ", ".", ":", "-", "=", "+", "*", "%", "#" };
	int level = (int)(share * 8 + 0.999); /* only a true zero is blank */
	level = level < 0 ? 0 : level > 8 ? 8 : level;
	tdm_buf_puts(out, ascii ? marks[level] : blocks[level]);
}

static void put_series(const struct tdm_replay_space *space, bool ascii, struct tdm_buf *out)
{
	tdm_buf_printf(out, "%-9s used  |", space->name);
	for (size_t i = 0; i < space->sample_count; i++)
		put_level(out, space->peak != 0 ? (double)space->samples[i].allocated / (double)space->peak : 0, ascii);
	tdm_buf_puts(out, "|\n");
	tdm_buf_printf(out, "%-9s frag. |", "");
	for (size_t i = 0; i < space->sample_count; i++)
		put_level(out, tdm_replay_frag(space->samples[i].free, space->samples[i].largest_free), ascii);
	tdm_buf_puts(out, "|\n");
}

static void put_moments(const struct tdm_replay_space *space, const char *place, struct tdm_buf *out)
{
	tdm_buf_printf(out, "%-9s peak %s B per bank at %s %" PRIu64 ", %" PRIu64 " buffer%s", "",
		TDM_COUNT_TEXT(space->peak), place, space->peak_line, space->peak_buffers,
		tdm_plural(space->peak_buffers));
	if (space->range.banks > 1)
		tdm_buf_printf(out, ", %s on the device", TDM_SIZE_TEXT(tdm_times(space->peak, space->range.banks)));
	tdm_buf_printf(out, "\n%-9s tightest at %s %" PRIu64 " (largest free block %s B)", "", place,
		space->tightest_line, TDM_COUNT_TEXT(space->tightest));
	if (space->worst_frag > 0)
		tdm_buf_printf(out, ", most fragmented at %s %" PRIu64 " (%.1f %%)", place, space->worst_frag_line,
			100.0 * space->worst_frag);
	tdm_buf_putc(out, '\n');
}

void tdm_replay_text(const struct tdm_replay *replay, const struct tdm_replay_report *report, struct tdm_buf *out)
{
	const struct tdm_table spaces = tdm_replay_space_table(replay);
	const struct tdm_term term = {
		.utf8 = true, .width = report->width != 0 ? report->width : TDM_TERM_WIDTH, .folds = report->width != 0
	};
	put_head(replay, report, out);
	put_verdict(replay, report, out);
	tdm_buf_putc(out, '\n');
	tdm_table_text(&spaces, &term, out);
	tdm_buf_puts(
		out, "\nOver time (used: of its peak; frag.: share of the free bytes outside the largest block)\n");
	for (size_t i = 0; i < replay->space_count; i++) {
		const struct tdm_replay_space *space = &replay->spaces[i];
		if (space->allocs == 0)
			continue;
		put_series(space, report->ascii, out);
		put_moments(space, report->place, out);
	}
	for (size_t i = 0; i < replay->space_count; i++) {
		struct tdm_hole holes[TDM_REPLAY_HOLES];
		const struct tdm_replay_space *space = &replay->spaces[i];
		if (space->allocs == 0)
			continue;
		size_t count = tdm_replay_holes(replay, i, holes);
		tdm_buf_printf(out, "\nLargest holes at the end: %s\n", space->name);
		const struct tdm_table table = tdm_hole_table(holes, count);
		tdm_table_text(&table, &term, out);
		if (count == 0)
			tdm_buf_puts(out, "  none: the region is full\n");
	}
}
