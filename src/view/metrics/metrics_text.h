/*
 * Metrics as text. It consists of families with HELP, TYPE and UNIT, and samples with labels. It has two formats:
 * OpenMetrics 1.0, and the Prometheus text format 0.0.4, which names counters differently and lacks units and an end
 * mark. The head of a family is written with its first sample, so a family without samples is not mentioned. An unknown
 * figure has no sample.
 */
#ifndef TDM_VIEW_METRICS_TEXT_H
#define TDM_VIEW_METRICS_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* The maximum length of a label value, in bytes; longer ones are cut and end in TDM_METRIC_CUT. */
enum { TDM_METRIC_LABEL_MAX = 256 };
#define TDM_METRIC_CUT "…"

enum tdm_metric_type { TDM_METRIC_GAUGE, TDM_METRIC_COUNTER, TDM_METRIC_INFO };

struct tdm_metrics_text {
	struct tdm_buf *out; /* borrowed */
	bool is_openmetrics;
	bool has_head; /* the head of the current family is written */
	const char *name, *unit, *help;
	enum tdm_metric_type type;
	uint64_t samples;
};

void tdm_metrics_begin(struct tdm_metrics_text *text, struct tdm_buf *out, bool is_openmetrics);
void tdm_metrics_end(struct tdm_metrics_text *text);

/*
 * Begins a family: all samples until the next call belong to it. `name` does not end in "_total" or "_info", because
 * the type adds these. If the last word of `name` is a unit, that is the family's unit. Both strings must live until
 * the next family.
 */
void tdm_metrics_family(struct tdm_metrics_text *text, const char *name, enum tdm_metric_type type, const char *help);

/*
 * Writes a sample. `labels` was written by tdm_metrics_label(), or is "". Unknown values (TDM_BYTES_UNKNOWN; not
 * finite) are left out. In a family in seconds, integers are nanoseconds.
 */
void tdm_metrics_u64(struct tdm_metrics_text *text, const char *labels, uint64_t value);
void tdm_metrics_real(struct tdm_metrics_text *text, const char *labels, double value);

/* One sample with its family. In a list, samples of one family must be adjacent. */
struct tdm_metric {
	const char *name, *labels;
	enum tdm_metric_type type;
	const char *help;
	uint64_t value;
};
void tdm_metrics_list(struct tdm_metrics_text *text, const struct tdm_metric *list, size_t count);

/*
 * Adds a label to a list; an empty value adds nothing, because it is equivalent to no label. Bytes that are not valid
 * UTF-8 become U+FFFD.
 */
void tdm_metrics_label(struct tdm_buf *labels, const char *name, const char *value);

/* The value of the header Content-Type. */
const char *tdm_metrics_content_type(bool is_openmetrics);

/* Whether the Accept header prefers OpenMetrics. `accept` may be NULL. */
bool tdm_metrics_accepts_openmetrics(const char *accept);

#endif
