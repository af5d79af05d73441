/* The daemon's own metrics: what it costs, what waits, what it refused or lost. */
#ifndef TDM_DAEMON_OWN_METRICS_H
#define TDM_DAEMON_OWN_METRICS_H

#include "daemon/glance.h"
#include "daemon/loop.h"
#include "daemon/pages.h"
#include "report/metrics_text.h"

struct tdm_own_metrics {
	const struct tdm_loop *loop;
	const struct tdm_glance *glance;
	const struct tdm_http_stats *http;
	const struct tdm_sse *sse;
	uint64_t workers, workers_refused;
	uint64_t scrape_ns;      /* what the last text of metrics took to make; TDM_BYTES_UNKNOWN: there was none */
	uint64_t scrape_samples; /* and how many samples it had */
	uint64_t worker_cpu_ns;  /* of the workers, which are processes of their own */
};

void tdm_own_metrics_write(const struct tdm_own_metrics *own, struct tdm_metrics_text *text);

#endif
