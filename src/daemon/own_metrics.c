#include "daemon/own_metrics.h"
#include "base/clock.h"
#include "tidemark_version.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

struct own {
	struct tdm_metric_family family;
	const char *labels;
	double value; /* not finite: unknown */
};

/* The names that exporters of all kinds have in common. */
static uint64_t resident_bytes(void)
{
	uint64_t size, pages = TDM_BYTES_UNKNOWN;
	FILE *file = fopen("/proc/self/statm", "re");
	if (file == NULL)
		return TDM_BYTES_UNKNOWN;
	if (fscanf(file, "%" SCNu64 " %" SCNu64, &size, &pages) != 2)
		pages = TDM_BYTES_UNKNOWN;
	fclose(file);
	return tdm_times(pages, (uint64_t)sysconf(_SC_PAGESIZE));
}

static double known(uint64_t number)
{
	return number != TDM_BYTES_UNKNOWN ? (double)number : (double)NAN;
}

static double seconds(uint64_t ns)
{
	return known(ns) / 1e9;
}

static void write_list(struct tdm_metrics_text *text, const struct own *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (i == 0 || strcmp(list[i].family.name, list[i - 1].family.name) != 0)
			tdm_metrics_family(text, &list[i].family);
		tdm_metrics_real(text, list[i].labels, list[i].value);
	}
}

static void write_cost(const struct tdm_own_metrics *own, struct tdm_metrics_text *text)
{
	const struct own list[] = {
		{ { "tidemark_build", NULL, "The version of the daemon.", TDM_METRIC_INFO },
			"version=\"" TDM_VERSION_STRING "\"", 1 },
		{ { "process_cpu_seconds", "seconds", "Processor time that the daemon has used.", TDM_METRIC_COUNTER },
			"", seconds(tdm_clock_read(CLOCK_PROCESS_CPUTIME_ID)) },
		{ { "tt_workers_cpu_seconds", "seconds",
			  "Processor time of the processes that make long answers and watch for leaks.",
			  TDM_METRIC_COUNTER },
			"", seconds(own->worker_cpu_ns) },
		{ { "process_resident_memory_bytes", "bytes",
			  "Memory of the daemon that is resident, shared memory included.", TDM_METRIC_GAUGE },
			"", known(resident_bytes()) },
		{ { "tt_loop_rounds", NULL, "Rounds of the daemon's loop.", TDM_METRIC_COUNTER }, "",
			(double)own->loop->rounds },
		{ { "tt_loop_busy_seconds", "seconds", "Time that the loop has spent on its rounds.",
			  TDM_METRIC_COUNTER },
			"", seconds(own->loop->busy_ns) },
		{ { "tt_picture_duration_seconds", "seconds", "What the last look at all sources took.",
			  TDM_METRIC_GAUGE },
			"", seconds(own->glance->took_ns) },
		{ { "tt_pictures", NULL, "Looks at all sources.", TDM_METRIC_COUNTER }, "",
			(double)own->glance->number },
		{ { "tt_scrape_duration_seconds", "seconds", "What it took to write the metrics before these.",
			  TDM_METRIC_GAUGE },
			"", seconds(own->scrape_ns) },
		{ { "tt_scrape_samples", NULL, "Samples in the metrics before these.", TDM_METRIC_GAUGE }, "",
			own->scrape_ns != TDM_BYTES_UNKNOWN ? (double)own->scrape_samples : (double)NAN },
	};
	write_list(text, list, sizeof list / sizeof *list);
}

static void write_http(const struct tdm_own_metrics *own, struct tdm_metrics_text *text)
{
	static const struct tdm_metric_family responses = { "tt_http_responses", NULL,
		"Answers by the class of their status.", TDM_METRIC_COUNTER };
	static const char refused[] = "HTTP connections and requests that were not served, by reason.";
	const struct tdm_http_stats *http = own->http;
	const struct own list[] = {
		{ { "tt_http_connections", NULL, "HTTP connections accepted.", TDM_METRIC_COUNTER }, "",
			(double)http->accepted },
		{ { "tt_http_open_connections", NULL, "HTTP connections that are open.", TDM_METRIC_GAUGE }, "",
			(double)http->open },
		{ { "tt_http_refused", NULL, refused, TDM_METRIC_COUNTER }, "reason=\"slow\"", (double)http->slow },
		{ { "tt_http_refused", NULL, refused, TDM_METRIC_COUNTER }, "reason=\"no_room\"",
			(double)http->evicted },
		{ { "tt_http_refused", NULL, refused, TDM_METRIC_COUNTER }, "reason=\"host\"",
			(double)http->wrong_hosts },
		{ { "tt_http_refused", NULL, refused, TDM_METRIC_COUNTER }, "reason=\"busy\"",
			(double)own->workers_refused },
		{ { "tt_http_workers", NULL, "Processes that make long answers now.", TDM_METRIC_GAUGE }, "",
			(double)own->workers },
		{ { "tt_events_readers", NULL, "Readers of the stream of events.", TDM_METRIC_GAUGE }, "",
			(double)own->sse->count },
		{ { "tt_events_frames", NULL, "Frames of events sent.", TDM_METRIC_COUNTER }, "",
			(double)own->sse->frames },
		{ { "tt_events_lost_frames", NULL, "Frames of events that slow readers lost.", TDM_METRIC_COUNTER }, "",
			(double)own->sse->lost_frames },
		{ { "tt_events_lost", NULL, "Events in these frames.", TDM_METRIC_COUNTER }, "",
			(double)own->sse->lost_events },
	};
	tdm_metrics_family(text, &responses);
	for (int i = 2; i < 6; i++) {
		char label[24];
		snprintf(label, sizeof label, "class=\"%dxx\"", i);
		if (i != 3)
			tdm_metrics_u64(text, label, http->responses[i]);
	}
	write_list(text, list, sizeof list / sizeof *list);
}

void tdm_own_metrics_write(const struct tdm_own_metrics *own, struct tdm_metrics_text *text)
{
	write_cost(own, text);
	write_http(own, text);
}
