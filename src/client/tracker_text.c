/* The summary of the phase tracker: writes its segments to a buffer or a stream. event/phase_text.c has the format. */
#include "event/phase_text.h"
#include "tidemark.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* The destination of the summary: a buffer, which keeps as much as fits, or a stream. */
struct sink {
	char *dst;
	size_t cap, length;
	FILE *stream;
	bool failed;
};

static void put_bytes(void *to, const char *text, size_t bytes)
{
	struct sink *sink = to;
	if (sink->stream != NULL)
		sink->failed |= fwrite(text, 1, bytes, sink->stream) != bytes;
	else if (sink->length < sink->cap)
		memcpy(sink->dst + sink->length, text,
			bytes < sink->cap - sink->length ? bytes : sink->cap - sink->length);
	sink->length += bytes;
}

static void put_segment(const struct tdm_phase_sink *to, const struct tidemark_segment *s)
{
	tdm_phase_text_segment(to, s->name,
		&(struct tdm_phase_figures){
			.dram_peak = s->dram_peak,
			.dram_allocated = s->dram_allocations,
			.dram_freed = s->dram_deallocations,
			.dram_change = s->dram_allocations - s->dram_deallocations,
			.dram_cumulative_peak = s->dram_cumulative_peak,
			.dram_cumulative_current = s->dram_cumulative_current,
			.l1_peak_cb = s->l1_peak_cb,
			.l1_peak_buffer = s->l1_peak_buffer,
			.l1_peak_total = s->l1_peak_total,
		});
}

/* Segment by segment, so that no lock is held while a stream is written. */
static void put_summary(struct sink *sink)
{
	const struct tdm_phase_sink to = { put_bytes, sink };
	struct tidemark_segment segment = TIDEMARK_SEGMENT_INIT;
	if (tidemark_capture_count() == 0) {
		tdm_phase_text_none(&to);
		return;
	}
	tdm_phase_text_begin(&to);
	for (size_t i = 0; tidemark_capture_get(i, &segment) == 0; i++)
		put_segment(&to, &segment);
	tdm_phase_text_end(&to, segment.dram_cumulative_peak, segment.dram_cumulative_current);
}

size_t tidemark_capture_format(char *dst, size_t cap)
{
	if (dst == NULL)
		cap = 0;
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
