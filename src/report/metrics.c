#include "base/err.h"
#include "base/reserve.h"
#include "report/metrics_parts.h"
#include "sources/proc_facts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Devices that come and go leave their sums; a machine has far fewer. */
enum { DEVICES_MAX = 4096 };

int tdm_metrics_names_parse(const char *text, unsigned *names)
{
	static const struct {
		const char *word;
		unsigned bit;
	} words[] = {
#define X(id, word) { word, TDM_METRIC_NAMES_##id },
		TDM_METRIC_NAMES_LIST(X)
#undef X
			{ "tt-mgmt", 0 },
	};
	*names = 0;
	while (*text != '\0') {
		size_t len = strcspn(text, ","), i = 0;
		while (i < sizeof words / sizeof *words &&
			!tdm_str_is(tdm_str_trim((struct tdm_str){ text, len }), words[i].word))
			i++;
		if (i == sizeof words / sizeof *words)
			return TDM_ESYNTAX;
		*names |= words[i].bit;
		text += len + (text[len] == ',');
	}
	return 0;
}

struct tdm_metrics *tdm_metrics_new(const struct tdm_metrics_options *options)
{
	struct tdm_metrics *metrics = calloc(1, sizeof *metrics);
	if (metrics == NULL)
		return NULL;
	metrics->options = *options;
	if (tdm_map_init(&metrics->holding_map) != 0 || tdm_map_init(&metrics->device_map) != 0 ||
		tdm_map_init(&metrics->process_map) != 0) {
		tdm_metrics_free(metrics);
		return NULL;
	}
	return metrics;
}

void tdm_metrics_free(struct tdm_metrics *metrics)
{
	if (metrics == NULL)
		return;
	for (size_t i = 0; i < metrics->label_cap; i++)
		tdm_buf_done(&metrics->labels[i]);
	for (size_t i = 0; i < metrics->name_cap; i++)
		tdm_buf_done(&metrics->names[i]);
	free(metrics->labels);
	free(metrics->names);
	tdm_buf_done(&metrics->more);
	tdm_map_done(&metrics->holding_map);
	tdm_map_done(&metrics->device_map);
	tdm_map_done(&metrics->process_map);
	free(metrics->holdings);
	free(metrics->devices);
	free(metrics->processes);
	free(metrics);
}

/* Counters. */

static struct tdm_metrics_device *device_of(struct tdm_metrics *metrics, uint64_t key)
{
	uint32_t at = tdm_map_find(&metrics->device_map, key);
	if (at != TDM_MAP_NONE)
		return &metrics->devices[at];
	at = (uint32_t)metrics->device_count;
	if (at == DEVICES_MAX ||
		tdm_reserve(&metrics->devices, &metrics->device_cap, at + 1, sizeof *metrics->devices) != 0 ||
		tdm_map_put(&metrics->device_map, key, at) != 0)
		return NULL;
	struct tdm_metrics_device *device = &metrics->devices[metrics->device_count++];
	*device = (struct tdm_metrics_device){ .key = key, .sum.lost = TDM_BYTES_UNKNOWN };
	for (size_t c = 0; c < TDM_METRICS_COUNTERS; c++)
		for (size_t k = 0; k < TDM_KIND_COUNT; k++)
			device->sum.of[c][k] = TDM_BYTES_UNKNOWN;
	return &metrics->devices[at];
}

static uint64_t holding_key(uint64_t process, uint64_t device)
{
	return tdm_hash_u64(process) ^ device;
}

static struct tdm_metrics_holding *holding_of(struct tdm_metrics *metrics, uint64_t process, uint64_t device)
{
	uint64_t key = holding_key(process, device);
	uint32_t at = tdm_map_find(&metrics->holding_map, key);
	if (at != TDM_MAP_NONE)
		return &metrics->holdings[at];
	at = (uint32_t)metrics->holding_count;
	if (tdm_reserve(&metrics->holdings, &metrics->holding_cap, at + 1, sizeof *metrics->holdings) != 0 ||
		tdm_map_put(&metrics->holding_map, key, at) != 0)
		return NULL;
	metrics->holdings[metrics->holding_count++] =
		(struct tdm_metrics_holding){ .process = process, .device = device };
	return &metrics->holdings[at];
}

/* What has been added since the last picture. A count that has become smaller began again. */
static void add(uint64_t *sum, uint64_t *last, uint64_t now)
{
	if (now == TDM_BYTES_UNKNOWN)
		return;
	*sum = *sum != TDM_BYTES_UNKNOWN ? *sum : 0;
	*sum = tdm_min(tdm_plus(*sum, now >= *last ? now - *last : now), TDM_BYTES_UNKNOWN - 1);
	*last = now;
}

static void count_kinds(
	const struct tdm_picture_amount *kinds, struct tdm_metrics_holding *last, struct tdm_metrics_device *device)
{
	for (size_t k = 0; k < TDM_KIND_COUNT; k++) {
		const struct tdm_picture_amount *amount = &kinds[k];
#define X(member, name, help)                                                                                  \
	add(&device->sum.of[TDM_METRICS_COUNTER_##member][k], &last->last.of[TDM_METRICS_COUNTER_##member][k], \
		amount->member);
		TDM_METRICS_COUNTER_LIST(X)
#undef X
	}
}

/* A process does not know on which device it lost events, so its first one gets those that none of them has yet.
 * `counted`: those that they have. */
static void count_lost(struct tdm_metrics *metrics, const struct tdm_picture *picture,
	const struct tdm_picture_process *process, uint64_t counted)
{
	if (process->holding_count == 0 || process->lost == TDM_BYTES_UNKNOWN || process->lost <= counted)
		return;
	uint64_t key = picture->devices[picture->holdings[process->first_holding].device].key;
	struct tdm_metrics_device *device = device_of(metrics, key);
	struct tdm_metrics_holding *last = holding_of(metrics, process->handle, key);
	if (device != NULL && last != NULL)
		add(&device->sum.lost, &last->last.lost, tdm_plus(last->last.lost, process->lost - counted));
}

/* A process that has ended is no longer in the picture, but it may have counted something until then. */
static void count_end(struct tdm_metrics *metrics, const struct tdm_picture_end *end)
{
	uint32_t at = tdm_map_find(&metrics->holding_map, holding_key(end->process, end->device));
	struct tdm_metrics_device *device = at != TDM_MAP_NONE ? device_of(metrics, end->device) : NULL;
	if (device != NULL)
		count_kinds(end->kinds, &metrics->holdings[at], device);
}

/* Forgets holdings and processes that are not there any more: the last one takes the free place. */
static void forget(struct tdm_metrics *metrics)
{
	for (size_t i = 0; i < metrics->holding_count;) {
		struct tdm_metrics_holding *holding = &metrics->holdings[i];
		if (holding->round == metrics->round) {
			i++;
			continue;
		}
		tdm_map_take(&metrics->holding_map, holding_key(holding->process, holding->device));
		*holding = metrics->holdings[--metrics->holding_count];
		if (i < metrics->holding_count)
			tdm_map_put(&metrics->holding_map, holding_key(holding->process, holding->device), (uint32_t)i);
	}
	for (size_t i = 0; i < metrics->process_count;) {
		struct tdm_metrics_process *process = &metrics->processes[i];
		if (process->round == metrics->round) {
			i++;
			continue;
		}
		tdm_map_take(&metrics->process_map, process->handle);
		*process = metrics->processes[--metrics->process_count];
		if (i < metrics->process_count)
			tdm_map_put(&metrics->process_map, process->handle, (uint32_t)i);
	}
}

/* The control group of a process is read once. */
static int know_process(struct tdm_metrics *metrics, const struct tdm_picture_process *process)
{
	uint32_t at = tdm_map_find(&metrics->process_map, process->handle);
	if (at == TDM_MAP_NONE) {
		at = (uint32_t)metrics->process_count;
		if (tdm_reserve(&metrics->processes, &metrics->process_cap, at + 1, sizeof *metrics->processes) != 0 ||
			tdm_map_put(&metrics->process_map, process->handle, at) != 0)
			return -ENOMEM;
		metrics->processes[metrics->process_count++] =
			(struct tdm_metrics_process){ .handle = process->handle };
		if (!process->is_claimed)
			tdm_cgroup_read(
				tdm_proc_path(metrics->options.proc), process->pid, &metrics->processes[at].cgroup);
	}
	metrics->processes[at].round = metrics->round;
	return 0;
}

/* What a process counts on its devices. 0 or -ENOMEM. */
static int count_process(
	struct tdm_metrics *metrics, const struct tdm_picture *picture, const struct tdm_picture_process *process)
{
	uint64_t lost = 0;
	int err = 0;
	for (size_t h = process->first_holding; h < process->first_holding + process->holding_count; h++) {
		uint64_t key = picture->devices[picture->holdings[h].device].key;
		struct tdm_metrics_device *device = device_of(metrics, key);
		struct tdm_metrics_holding *last = holding_of(metrics, process->handle, key);
		if (device == NULL || last == NULL) {
			err = -ENOMEM;
			continue;
		}
		last->round = metrics->round;
		count_kinds(picture->holdings[h].kinds, last, device);
		if (process->lost != TDM_BYTES_UNKNOWN)
			add(&device->sum.lost, &last->last.lost, last->last.lost); /* from now on it is known */
		lost = tdm_plus(lost, last->last.lost);
	}
	count_lost(metrics, picture, process, lost);
	return err;
}

int tdm_metrics_update(struct tdm_metrics *metrics, const struct tdm_picture *picture)
{
	int err = 0;
	metrics->round++;
	for (size_t i = 0; i < picture->end_count; i++)
		count_end(metrics, &picture->ends[i]);
	for (size_t i = 0; i < picture->process_count; i++) {
		const struct tdm_picture_process *process = &picture->processes[i];
		if (!tdm_picture_counts(process))
			continue;
		if (metrics->options.processes && know_process(metrics, process) != 0)
			err = -ENOMEM;
		if (count_process(metrics, picture, process) != 0)
			err = -ENOMEM;
	}
	forget(metrics);
	return err;
}

/* Labels. */

static void label_device(const struct tdm_picture_device *device, struct tdm_buf *labels)
{
	char text[32];
	tdm_buf_clear(labels);
	snprintf(text, sizeof text, "%" PRIu32, device->place);
	tdm_metrics_label(labels, "device", text);
	tdm_metrics_label(labels, "pci_bdf", device->pci);
	tdm_metrics_label(labels, "arch", device->arch);
	if (device->has_chip_id) {
		snprintf(text, sizeof text, "0x%016" PRIx64, device->chip_id);
		tdm_metrics_label(labels, "asic_id", text);
	}
}

static int label_devices(struct tdm_metrics *metrics, const struct tdm_picture *picture)
{
	size_t old = metrics->label_cap;
	if (tdm_reserve(&metrics->labels, &metrics->label_cap, picture->device_count, sizeof *metrics->labels) != 0)
		return -ENOMEM;
	for (size_t i = old; i < metrics->label_cap; i++)
		tdm_buf_init(&metrics->labels[i]);
	for (size_t i = 0; i < picture->device_count; i++) {
		label_device(&picture->devices[i], &metrics->labels[i]);
		if (tdm_buf_failed(&metrics->labels[i]))
			return -ENOMEM;
	}
	return 0;
}

const char *tdm_metrics_labels(const struct tdm_metrics_scene *scene, size_t device)
{
	return scene->metrics->labels[device].data;
}

const char *tdm_metrics_labels_with(
	const struct tdm_metrics_scene *scene, size_t device, const char *name, const char *value)
{
	struct tdm_buf *more = &scene->metrics->more;
	tdm_buf_clear(more);
	tdm_buf_puts(more, tdm_metrics_labels(scene, device));
	tdm_metrics_label(more, name, value);
	scene->text->out->failed |= tdm_buf_failed(more);
	return more->data != NULL ? more->data : "";
}

bool tdm_metrics_sees(const struct tdm_metrics_view *view, const struct tdm_picture_process *process)
{
	return view->sees_all || (view->uid != TDM_UID_UNKNOWN && process->uid == view->uid);
}

/* Sources. */

static void write_sources(
	struct tdm_metrics *metrics, const struct tdm_metrics_view *view, struct tdm_metrics_text *text)
{
	static const struct tdm_metric_family families[] = {
		{ "tt_source_last_collect_success", NULL, "Whether a source could be read; 0: its figures are missing.",
			TDM_METRIC_GAUGE },
		{ "tt_source_age_seconds", "seconds", "Time since a source could last be read.", TDM_METRIC_GAUGE },
		{ "tt_source_problems", NULL, "Files of a source that could not be read.", TDM_METRIC_GAUGE },
	};
	for (size_t f = 0; f < sizeof families / sizeof *families; f++) {
		tdm_metrics_family(text, &families[f]);
		for (size_t i = 0; i < view->source_count; i++) {
			const struct tdm_metrics_source *source = &view->sources[i];
			tdm_buf_clear(&metrics->more);
			tdm_metrics_label(&metrics->more, "source", tdm_from_name((enum tdm_from)source->from));
			if (f == 0)
				tdm_metrics_u64(text, metrics->more.data, !source->failed);
			else if (f == 1 && source->age_ns != TDM_BYTES_UNKNOWN)
				tdm_metrics_real(text, metrics->more.data, (double)source->age_ns / 1e9);
			else if (f == 2)
				tdm_metrics_u64(text, metrics->more.data, source->problems);
		}
	}
}

void tdm_metrics_write(struct tdm_metrics *metrics, const struct tdm_metrics_view *view, struct tdm_metrics_text *text)
{
	write_sources(metrics, view, text);
	if (view->picture == NULL)
		return;
	const struct tdm_metrics_scene scene = { metrics, view, view->picture, text };
	if (label_devices(metrics, view->picture) != 0) {
		text->out->failed = true;
		return;
	}
	tdm_metrics_devices(&scene);
	if (metrics->options.processes)
		tdm_metrics_processes(&scene);
	tdm_metrics_others(&scene);
}
