/*
 * The metrics of a picture: families for devices, processes and sources. docs/metrics.md lists them.
 *
 * The counters of a picture belong to processes and go away with them. A counter of a metric must never fall, so this
 * keeps the sums of what it has seen: tdm_metrics_update() is called once for every new picture.
 *
 * Names are those of tt-mgmt where the meaning is equal; other exporters' names are added on request.
 */
#ifndef TDM_REPORT_METRICS_H
#define TDM_REPORT_METRICS_H

#include "report/metrics_text.h"
#include "state/picture.h"

/* Families of other exporters, by --metric-names: id, word */
#define TDM_METRIC_NAMES_LIST(X)      \
	X(TT_EXPORTER, "tt-exporter") \
	X(TT_TELEMETRY, "tt-telemetry")

enum tdm_metric_names {
#define X(id, word) TDM_METRIC_NAMES_##id##_PLACE,
	TDM_METRIC_NAMES_LIST(X)
#undef X
#define X(id, word) TDM_METRIC_NAMES_##id = 1 << TDM_METRIC_NAMES_##id##_PLACE,
		TDM_METRIC_NAMES_LIST(X)
#undef X
};

/* "tt-exporter,tt-telemetry" to TDM_METRIC_NAMES_*; "tt-mgmt" is allowed and adds nothing. 0 or TDM_ESYNTAX. */
int tdm_metrics_names_parse(const char *text, unsigned *names);

struct tdm_metrics_options {
	unsigned names;   /* TDM_METRIC_NAMES_* */
	bool processes;   /* a series for each process, device and kind */
	const char *proc; /* where control groups are read; NULL: as in tdm_proc_path() */
};

/* A source of the pictures. */
struct tdm_metrics_source {
	uint8_t from; /* enum tdm_from */
	bool failed;  /* it cannot be read at all */
	uint64_t age_ns;
	uint64_t problems; /* files of it that cannot be read */
};

/* What leak watching has found: the sites of one device and kind with one verdict. */
struct tdm_metrics_leak {
	uint64_t device; /* key of the picture's device */
	uint8_t kind;
	bool is_sure; /* a leak; else a suspect */
	uint64_t sites, bytes;
};

/* Who reads, and what is known besides the picture. */
struct tdm_metrics_view {
	const struct tdm_picture *picture; /* NULL: there is none that is young enough */
	bool sees_all;                     /* every process; else only those of `uid` */
	uint32_t uid;                      /* TDM_UID_UNKNOWN: nobody's */
	const struct tdm_metrics_source *sources;
	size_t source_count;
	const struct tdm_metrics_leak *leaks;
	size_t leak_count;
	uint64_t leak_age_ns; /* since leaks were last judged; TDM_BYTES_UNKNOWN: never */
};

struct tdm_metrics;

struct tdm_metrics *tdm_metrics_new(const struct tdm_metrics_options *options); /* NULL only when out of memory */
void tdm_metrics_free(struct tdm_metrics *metrics);                             /* NULL is allowed */

/* 0 or -ENOMEM; then some counters lag. */
int tdm_metrics_update(struct tdm_metrics *metrics, const struct tdm_picture *picture);

/* Writes all families. The picture is the last one that was given to tdm_metrics_update(). */
void tdm_metrics_write(struct tdm_metrics *metrics, const struct tdm_metrics_view *view, struct tdm_metrics_text *text);

#endif
