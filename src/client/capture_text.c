/*
 * The summary of the phase tracker, to the byte as tt-train prints it.
 */
#include "tidemark.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Where the summary goes: a buffer that keeps what fits, or a stream. */
struct sink {
	char *dst;
	size_t cap, length;
	FILE *stream;
	bool failed;
};

static void put_bytes(struct sink *sink, const char *text, size_t bytes)
{
	if (sink->stream != NULL)
		sink->failed |= fwrite(text, 1, bytes, sink->stream) != bytes;
	else if (sink->length < sink->cap)
		memcpy(sink->dst + sink->length, text,
			bytes < sink->cap - sink->length ? bytes : sink->cap - sink->length);
	sink->length += bytes;
}

static void put(struct sink *sink, const char *text)
{
	put_bytes(sink, text, strlen(text));
}

/*
 * Bytes as MB of 1024 * 1024 with two decimals, as "%.2f" prints them: a tie goes to the even digit, and what is below
 * 0 keeps its sign when it rounds to 0. In whole numbers, because printf() would follow the locale of the program.
 */
static void put_mb(struct sink *sink, int64_t bytes, bool always_sign)
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
	put_bytes(sink, at, (size_t)(text + sizeof(text) - at));
}

static void put_figure(struct sink *sink, const char *label, int64_t bytes, const char *after)
{
	put(sink, label);
	put_mb(sink, bytes, false);
	put(sink, after);
}

static void put_segment(struct sink *sink, const struct tidemark_segment *s)
{
	put(sink, "--- ");
	put(sink, s->name);
	put(sink, " ---\n");
	put_figure(sink, "  DRAM: Segment Peak ", s->dram_peak, " MB, ");
	put_figure(sink, "Allocations ", s->dram_allocations, " MB, ");
	put_figure(sink, "Deallocations ", s->dram_deallocations, " MB, ");
	put(sink, "Segment Change ");
	put_mb(sink, s->dram_allocations - s->dram_deallocations, true);
	put(sink, " MB\n");
	put_figure(sink, "  DRAM: Cumulative Peak ", s->dram_cumulative_peak, " MB, ");
	put_figure(sink, "Cumulative Current ", s->dram_cumulative_current, " MB\n");
	put_figure(sink, "  L1: Peak CB ", s->l1_peak_cb, " MB, ");
	put_figure(sink, "Peak Buffer ", s->l1_peak_buffer, " MB, ");
	put_figure(sink, "Peak Total ", s->l1_peak_total, " MB\n");
}

/* Segment by segment, so that no lock is held while a stream is written. */
static void put_summary(struct sink *sink)
{
	struct tidemark_segment segment = { 0 };
	if (tidemark_capture_count() == 0) {
		put(sink, "WARNING: No traces captured\n");
		return;
	}
	put(sink, "=== Memory Usage Summary ===\n\n");
	for (size_t i = 0; tidemark_capture_get(i, &segment) == 0; i++)
		put_segment(sink, &segment);
	put(sink, "\n=== Final Totals ===\n");
	put_figure(sink, "Overall DRAM Peak: ", segment.dram_cumulative_peak, " MB, ");
	put_figure(sink, "Final DRAM Usage: ", segment.dram_cumulative_current, " MB\n");
	put(sink, "\n");
}

size_t tidemark_capture_format(char *dst, size_t cap)
{
	struct sink sink = { .dst = dst, .cap = cap > 0 ? cap - 1 : 0 };
	put_summary(&sink);
	if (cap > 0)
		dst[sink.length < cap ? sink.length : cap - 1] = '\0';
	return sink.length;
}

int tidemark_capture_print(void)
{
	struct sink sink = { .stream = stdout };
	flockfile(stdout);
	put_summary(&sink);
	sink.failed |= fflush(stdout) != 0;
	funlockfile(stdout);
	return sink.failed ? -EIO : 0;
}
