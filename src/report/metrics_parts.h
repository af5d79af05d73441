/* Shared by the files that write metrics. */
#ifndef TDM_REPORT_METRICS_PARTS_H
#define TDM_REPORT_METRICS_PARTS_H

#include "base/map.h"
#include "report/metrics.h"
#include "sources/cgroup.h"

/* Figures old enough to mislead are left out. */
#define TDM_METRICS_SPACE_OLD_NS (UINT64_C(60) * 1000000000)

/* The counters that are kept for each device and kind. */
#define TDM_METRICS_COUNTER_LIST(X)                                                                           \
	X(allocs, "tt_allocations", "Buffers allocated since the daemon first saw their processes, by kind.") \
	X(out_of_memory, "tt_oom", "Allocations that failed because memory ran out, by kind.")                \
	X(double_frees, "tt_double_frees", "Releases of buffers that had been released before, by kind.")     \
	X(unknown_frees, "tt_unknown_frees", "Releases of buffers that nobody had reported, by kind.")        \
	X(rereports, "tt_rereports", "Buffers that were reported again while they were live, by kind.")

enum tdm_metrics_counter {
#define X(member, name, help) TDM_METRICS_COUNTER_##member,
	TDM_METRICS_COUNTER_LIST(X)
#undef X
		TDM_METRICS_COUNTERS
};

struct tdm_metrics_counts {
	uint64_t of[TDM_METRICS_COUNTERS][TDM_KIND_COUNT];
	uint64_t lost;
};

/* The last counts of a holding, and the sums of a device, which are unknown as long as nobody counts. */
struct tdm_metrics_holding {
	uint64_t process, device; /* handle and key */
	uint64_t round;           /* when it was last seen; 0: the place is free */
	struct tdm_metrics_counts last;
};

struct tdm_metrics_device {
	uint64_t key;
	struct tdm_metrics_counts sum;
};

struct tdm_metrics_process {
	uint64_t handle, round;
	struct tdm_cgroup cgroup;
};

struct tdm_metrics {
	struct tdm_metrics_options options;
	uint64_t round;
	struct tdm_map holding_map, device_map, process_map;
	struct tdm_metrics_holding *holdings;
	struct tdm_metrics_device *devices;
	struct tdm_metrics_process *processes;
	size_t holding_count, holding_cap, device_count, device_cap, process_count, process_cap;
	struct tdm_buf *labels; /* of each device, while the metrics are written */
	size_t label_cap;
	struct tdm_buf *names; /* labels of each process, like those of devices */
	size_t name_cap;
	struct tdm_buf more; /* labels of one sample */
};

/* What the functions below have in common. */
struct tdm_metrics_scene {
	struct tdm_metrics *metrics;
	const struct tdm_metrics_view *view;
	const struct tdm_picture *picture; /* not NULL */
	struct tdm_metrics_text *text;
};

/* The labels of a device, and the same with one more. Borrowed until the next call. */
const char *tdm_metrics_labels(const struct tdm_metrics_scene *scene, size_t device);
const char *tdm_metrics_labels_with(
	const struct tdm_metrics_scene *scene, size_t device, const char *name, const char *value);

/* Whether a device is a chip whose memory counts: neither a whole board nor a virtual device. */
static inline bool tdm_metrics_is_chip(const struct tdm_picture_device *device)
{
	return !device->is_board && !device->is_virtual;
}

bool tdm_metrics_sees(const struct tdm_metrics_view *view, const struct tdm_picture_process *process);

void tdm_metrics_devices(const struct tdm_metrics_scene *scene);
void tdm_metrics_processes(const struct tdm_metrics_scene *scene);
void tdm_metrics_others(const struct tdm_metrics_scene *scene); /* names of other exporters */

#endif
