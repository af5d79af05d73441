/*
 * Writes metrics as text: families with HELP, TYPE and UNIT, and samples with labels. Two formats: OpenMetrics 1.0 and
 * the Prometheus text format 0.0.4, which names counters differently and has neither units nor an end mark.
 *
 * The head of a family is written with its first sample, so a family without samples leaves no trace. An unknown figure
 * is no sample.
 */
#ifndef TDM_REPORT_METRICS_TEXT_H
#define TDM_REPORT_METRICS_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

/* The longest value of a label, in bytes; longer ones are cut and end in TDM_METRIC_CUT. */
enum { TDM_METRIC_LABEL_MAX = 256 };
#define TDM_METRIC_CUT "…"

enum tdm_metric_type { TDM_METRIC_GAUGE, TDM_METRIC_COUNTER, TDM_METRIC_INFO };

/* `name` has no "_total" or "_info" at its end: the type adds it. */
struct tdm_metric_family {
	const char *name;
	const char *unit; /* the last word of the name; NULL: none */
	const char *help;
	enum tdm_metric_type type;
};

struct tdm_metrics_text {
	struct tdm_buf *out; /* borrowed */
	bool is_openmetrics;
	struct tdm_metric_family family; /* its texts must live until the next one */
	bool has_head;
	uint64_t samples;
};

void tdm_metrics_begin(struct tdm_metrics_text *text, struct tdm_buf *out, bool is_openmetrics);
void tdm_metrics_end(struct tdm_metrics_text *text);

/* The following samples belong to this family. All samples of a family follow each other. */
void tdm_metrics_family(struct tdm_metrics_text *text, const struct tdm_metric_family *family);

/* `labels`: as tdm_metrics_label() writes them; "": none. Unknown values (TDM_BYTES_UNKNOWN; not finite) are left out.
 */
void tdm_metrics_u64(struct tdm_metrics_text *text, const char *labels, uint64_t value);
void tdm_metrics_real(struct tdm_metrics_text *text, const char *labels, double value);

/* Adds a label to a list; an empty value adds nothing, which means the same. Bytes that are not UTF-8 become U+FFFD. */
void tdm_metrics_label(struct tdm_buf *labels, const char *name, const char *value);

/* The value of the header Content-Type. */
const char *tdm_metrics_content_type(bool is_openmetrics);

/* Whether OpenMetrics is what the header Accept prefers; NULL: there is none. */
bool tdm_metrics_accepts_openmetrics(const char *accept);

#endif
