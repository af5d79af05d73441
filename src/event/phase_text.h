/*
 * The summary of phases, to the byte as tt-train prints it; its one form for the library and the commands. Pieces go
 * through a function, so that a stream, a buffer of fixed size or one that grows can take them. Nothing is allocated.
 */
#ifndef TDM_EVENT_PHASE_TEXT_H
#define TDM_EVENT_PHASE_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* Bytes. The peak of a segment is above its start; the cumulative figures are of all segments so far. */
struct tdm_phase_figures {
	int64_t dram_peak, dram_allocated, dram_freed, dram_change;
	int64_t dram_cumulative_peak, dram_cumulative_current;
	int64_t l1_peak_cb, l1_peak_buffer, l1_peak_total; /* per core */
};

struct tdm_phase_sink {
	void (*put)(void *to, const char *text, size_t bytes);
	void *to;
};

void tdm_phase_text_none(const struct tdm_phase_sink *sink); /* no segments: a warning instead of a summary */
void tdm_phase_text_begin(const struct tdm_phase_sink *sink);
void tdm_phase_text_segment(
	const struct tdm_phase_sink *sink, const char *name, const struct tdm_phase_figures *figures);
void tdm_phase_text_end(const struct tdm_phase_sink *sink, int64_t overall_peak, int64_t final_current);

#endif
