#include "model/event/phase_text.h"

#include <stdbool.h>
#include <string.h>

static void put(const struct tdm_phase_sink *sink, const char *text)
{
	sink->put(sink->to, text, strlen(text));
}

/*
 * Bytes as MB of 1024 * 1024 with two decimals, as "%.2f" prints them: ties go to the even digit, and a negative number
 * that rounds to 0 keeps its sign. Uses integers, because printf() would follow the program's locale.
 */
static void put_mb(const struct tdm_phase_sink *sink, int64_t bytes, bool always_sign)
{
	const unsigned mb_bits = 20;
	unsigned __int128 scaled = (unsigned __int128)(bytes < 0 ? -(uint64_t)bytes : (uint64_t)bytes) * 100;
	uint64_t hundredths = (uint64_t)(scaled >> mb_bits);
	uint64_t rest = (uint64_t)scaled & ((UINT64_C(1) << mb_bits) - 1);
	uint64_t half = UINT64_C(1) << (mb_bits - 1);
	if (rest > half || (rest == half && hundredths % 2 == 1))
		hundredths++;

	char text[32];
	char *at = text + sizeof(text);
	for (int digits = 0; digits < 3 || hundredths > 0; digits++) {
		if (digits == 2)
			*--at = '.';
		*--at = (char)('0' + hundredths % 10);
		hundredths /= 10;
	}
	if (bytes < 0)
		*--at = '-';
	else if (always_sign)
		*--at = '+';
	sink->put(sink->to, at, (size_t)(text + sizeof(text) - at));
}

static void put_figure(const struct tdm_phase_sink *sink, const char *label, int64_t bytes, const char *after)
{
	put(sink, label);
	put_mb(sink, bytes, false);
	put(sink, after);
}

void tdm_phase_text_none(const struct tdm_phase_sink *sink)
{
	put(sink, "WARNING: No traces captured\n");
}

void tdm_phase_text_begin(const struct tdm_phase_sink *sink)
{
	put(sink, "=== Memory Usage Summary ===\n\n");
}

void tdm_phase_text_segment(const struct tdm_phase_sink *sink, const char *name, const struct tdm_phase_figures *f)
{
	put(sink, "--- ");
	put(sink, name);
	put(sink, " ---\n");
	put_figure(sink, "  DRAM: Segment Peak ", f->dram_peak, " MB, ");
	put_figure(sink, "Allocations ", f->dram_allocated, " MB, ");
	put_figure(sink, "Deallocations ", f->dram_freed, " MB, ");
	put(sink, "Segment Change ");
	put_mb(sink, f->dram_change, true);
	put(sink, " MB\n");
	put_figure(sink, "  DRAM: Cumulative Peak ", f->dram_cumulative_peak, " MB, ");
	put_figure(sink, "Cumulative Current ", f->dram_cumulative_current, " MB\n");
	put_figure(sink, "  L1: Peak CB ", f->l1_peak_cb, " MB, ");
	put_figure(sink, "Peak Buffer ", f->l1_peak_buffer, " MB, ");
	put_figure(sink, "Peak Total ", f->l1_peak_total, " MB\n");
}

void tdm_phase_text_end(const struct tdm_phase_sink *sink, int64_t overall_peak, int64_t final_current)
{
	put(sink, "\n=== Final Totals ===\n");
	put_figure(sink, "Overall DRAM Peak: ", overall_peak, " MB, ");
	put_figure(sink, "Final DRAM Usage: ", final_current, " MB\n");
	put(sink, "\n");
}
