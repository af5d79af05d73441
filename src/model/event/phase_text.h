/* The summary of phases, byte for byte as tt-train prints it; the library and the commands share it. The output is
 * passed to a function in pieces, so it can go to a stream, a fixed buffer or a growing buffer. Allocates nothing. */
#ifndef TDM_MODEL_PHASE_TEXT_H
#define TDM_MODEL_PHASE_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* In bytes. A segment's peak is relative to its start; cumulative figures cover all segments so far. */
struct tdm_phase_figures {
	int64_t dram_peak, dram_allocated, dram_freed, dram_change;
	int64_t dram_cumulative_peak, dram_cumulative_current;
	int64_t l1_peak_cb, l1_peak_buffer, l1_peak_total; /* per core */
};

struct tdm_phase_sink {
	void (*put)(void *to, const char *text, size_t bytes);
	void *to;
};

/* if there are no segments: a warning instead of a summary */
void tdm_phase_text_none(const struct tdm_phase_sink *sink);
void tdm_phase_text_begin(const struct tdm_phase_sink *sink);
void tdm_phase_text_segment(
	const struct tdm_phase_sink *sink, const char *name, const struct tdm_phase_figures *figures);
void tdm_phase_text_end(const struct tdm_phase_sink *sink, int64_t overall_peak, int64_t final_current);

#endif
