/*
 * The metrics of a picture, as text: families for devices, processes and sources. docs/metrics.md lists them.
 *
 * The counters in a picture belong to processes and disappear with them. A metric counter must never fall, so struct
 * tdm_metrics keeps running sums: call tdm_metrics_update() once for every new picture.
 *
 * A family that means the same as one in tt-mgmt has the same name; other exporters' names are added on request.
 *
 * The text consists of families with HELP, TYPE and UNIT, and samples with labels. It has two formats: OpenMetrics 1.0,
 * and the Prometheus text format 0.0.4, which names counters differently and lacks units and an end mark. The head of a
 * family is written with its first sample, so a family without samples is not mentioned. An unknown figure has no
 * sample.
 */
#ifndef TDM_VIEW_METRICS_H
#define TDM_VIEW_METRICS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "live/join/picture.h"

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

/* Names of other exporters, chosen by --metric-names. */
enum { TDM_METRIC_NAMES_TT_EXPORTER = 1, TDM_METRIC_NAMES_TT_TELEMETRY = 2 };

/* Parses "tt-exporter,tt-telemetry" to TDM_METRIC_NAMES_*; "tt-mgmt" is allowed and adds nothing. 0 or TDM_ESYNTAX. */
int tdm_metrics_names_parse(const char *text, unsigned *names);

/* A data source of the pictures. */
struct tdm_metrics_source {
	uint8_t from; /* enum tdm_from */
	bool failed;  /* the source could not be read at all */
	uint64_t age_ns;
	uint64_t problems; /* unreadable files of this source */
};

/* The sites, on one device and of one kind, to which the leak watch gave the same verdict. */
struct tdm_metrics_leak {
	uint64_t device; /* key of the picture's device */
	uint8_t kind;
	bool is_sure; /* certainly a leak; false: suspected */
	uint64_t sites, bytes;
};

/* The reader, and the data that is not in the picture. */
struct tdm_metrics_view {
	const struct tdm_picture *picture; /* NULL if the last picture is too old */
	bool sees_all;                     /* the reader is allowed to see every process; false: only those of `uid` */
	uint32_t uid;                      /* TDM_UID_UNKNOWN if the reader is not allowed to see any process */
	const struct tdm_metrics_source *sources;
	size_t source_count;
	const struct tdm_metrics_leak *leaks;
	size_t leak_count;
	uint64_t leak_age_ns; /* time since leaks were last judged; TDM_BYTES_UNKNOWN if there is no valid judgement */
};

struct tdm_metrics;

/* `names`: TDM_METRIC_NAMES_*. `processes`: write a series for each process, device and kind. `proc`: path of procfs,
 * for control groups; NULL means the same as in tdm_proc_path(). */
struct tdm_metrics *tdm_metrics_new(unsigned names, bool processes, const char *proc);
void tdm_metrics_free(struct tdm_metrics *metrics); /* accepts NULL */

void tdm_metrics_update(struct tdm_metrics *metrics, const struct tdm_picture *picture);

/* Writes all families. The picture in `view` must be the last one passed to tdm_metrics_update(). */
void tdm_metrics_write(struct tdm_metrics *metrics, const struct tdm_metrics_view *view, struct tdm_metrics_text *text);

#endif
