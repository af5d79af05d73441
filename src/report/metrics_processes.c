/* The families of processes, and those of other exporters. */
#include "base/reserve.h"
#include "report/metrics_parts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

enum { NAME_CAP = 96, HELP_CAP = 256, MIB_SHIFT = 20 };

static void label_process(
	struct tdm_metrics *metrics, const struct tdm_picture_process *process, struct tdm_buf *labels)
{
	uint32_t at = tdm_map_find(&metrics->process_map, process->handle);
	char pid[16];
	tdm_buf_clear(labels);
	snprintf(pid, sizeof pid, "%" PRId32, process->pid);
	tdm_metrics_label(labels, "pid", pid);
	tdm_metrics_label(labels, "process", process->comm);
	tdm_metrics_label(labels, "user", process->user);
	tdm_metrics_label(labels, "command", process->command);
	if (at != TDM_MAP_NONE) {
		const struct tdm_cgroup *cgroup = &metrics->processes[at].cgroup;
		tdm_metrics_label(labels, "container", cgroup->container);
		tdm_metrics_label(labels, "pod", cgroup->pod);
		tdm_metrics_label(labels, "job", cgroup->job);
	}
}

/* Once for all samples of a process. 0 or -ENOMEM. */
static int label_processes(const struct tdm_metrics_scene *scene)
{
	struct tdm_metrics *metrics = scene->metrics;
	size_t old = metrics->name_cap;
	if (tdm_reserve(&metrics->names, &metrics->name_cap, scene->picture->process_count, sizeof *metrics->names) !=
		0)
		return -ENOMEM;
	for (size_t i = old; i < metrics->name_cap; i++)
		tdm_buf_init(&metrics->names[i]);
	for (size_t i = 0; i < scene->picture->process_count; i++) {
		label_process(metrics, &scene->picture->processes[i], &metrics->names[i]);
		if (tdm_buf_failed(&metrics->names[i]))
			return -ENOMEM;
	}
	return 0;
}

/* Labels of the device, then those of the process. */
static const char *labels_of(const struct tdm_metrics_scene *scene, const struct tdm_holding *holding)
{
	struct tdm_metrics *metrics = scene->metrics;
	const struct tdm_buf *device = &metrics->labels[holding->device], *process = &metrics->names[holding->process];
	tdm_buf_clear(&metrics->more);
	tdm_buf_add(&metrics->more, device->data, device->len);
	tdm_buf_putc(&metrics->more, ',');
	tdm_buf_add(&metrics->more, process->data, process->len);
	scene->text->out->failed |= tdm_buf_failed(&metrics->more);
	return metrics->more.data;
}

/* One series for each pid: of two processes that seem to have the same one, the first in the list. */
static bool is_shown(const struct tdm_metrics_scene *scene, const struct tdm_holding *holding)
{
	const struct tdm_picture_process *process = &scene->picture->processes[holding->process];
	bool is_first = true;
	for (size_t i = holding->process; i != 0 && process[-1].pid == process->pid && is_first; i--, process--)
		is_first = !tdm_picture_counts(&process[-1]) || process[-1].is_claimed;
	process = &scene->picture->processes[holding->process];
	return is_first && tdm_picture_counts(process) && tdm_metrics_sees(scene->view, process) &&
	       !process->is_claimed && tdm_metrics_is_chip(&scene->picture->devices[holding->device]);
}

static bool is_used(const struct tdm_picture_amount *amount)
{
	return tdm_is_some(amount->used) || tdm_is_some(amount->peak);
}

/* `is_peak`: the highest value, else the present one. */
static void write_kind(const struct tdm_metrics_scene *scene, size_t k, bool is_peak)
{
	char name[NAME_CAP], help[HELP_CAP];
	const char *kind = tdm_kind_name((enum tdm_kind)k);
	snprintf(name, sizeof name, "tt_process_%s%s_bytes", kind, is_peak ? "_peak" : "");
	snprintf(help, sizeof help, "Memory of kind %s that a process %s on a device.", kind,
		is_peak ? "held at its peak" : "holds");
	tdm_metrics_family(scene->text, &(struct tdm_metric_family){ name, "bytes", help, TDM_METRIC_GAUGE });
	for (size_t i = 0; i < scene->picture->holding_count; i++) {
		const struct tdm_holding *holding = &scene->picture->holdings[i];
		const struct tdm_picture_amount *amount = &holding->kinds[k];
		uint64_t value = is_peak ? amount->peak : amount->used;
		/* A kind that it has never used is left out, but for DRAM, which shows that it is there. */
		if (value != TDM_BYTES_UNKNOWN && (k == TDM_KIND_DRAM || is_used(amount)) && is_shown(scene, holding))
			tdm_metrics_u64(scene->text, labels_of(scene, holding), value);
	}
}

/* The kinds that some process has used, and DRAM: a bit each. The others need no walk over the holdings. */
static uint32_t used_kinds(const struct tdm_picture *picture)
{
	uint32_t kinds = 1 << TDM_KIND_DRAM;
	for (size_t i = 0; i < picture->holding_count; i++)
		for (size_t k = 0; k < TDM_KIND_COUNT; k++)
			if (is_used(&picture->holdings[i].kinds[k]))
				kinds |= 1U << k;
	return kinds;
}

void tdm_metrics_processes(const struct tdm_metrics_scene *scene)
{
	uint32_t kinds = used_kinds(scene->picture);
	if (label_processes(scene) != 0) {
		scene->text->out->failed = true;
		return;
	}
	for (size_t k = 0; k < TDM_KIND_COUNT; k++) {
		if ((kinds >> k & 1) == 0)
			continue;
		write_kind(scene, k, false);
		write_kind(scene, k, true);
	}
}

/* tt-exporter. Its device_id is the PCI address. */

static const char *exporter_labels(const struct tdm_metrics_scene *scene, const struct tdm_picture_device *device)
{
	struct tdm_buf *more = &scene->metrics->more;
	char asic[32] = "";
	if (device->has_chip_id)
		snprintf(asic, sizeof asic, "0x%016" PRIx64, device->chip_id);
	tdm_buf_clear(more);
	tdm_metrics_label(more, "asic_id", asic);
	tdm_metrics_label(more, "device_id", device->pci);
	return more->len != 0 ? more->data : NULL;
}

enum exporter { EX_POWER, EX_TEMPERATURE, EX_CLOCK, EX_WORKERS, EX_DRAM, EX_L1, EXPORTERS };

static double exporter_of(const struct tdm_picture_device *device, enum exporter family)
{
	const struct tdm_picture_telemetry *read = &device->telemetry;
	const struct tdm_reading *reading = family == EX_POWER         ? &read->power
					    : family == EX_TEMPERATURE ? &read->temp
								       : &read->clock;
	uint64_t used = device->kinds[family == EX_DRAM ? TDM_KIND_DRAM : TDM_KIND_L1].used;
	double unit = family == EX_POWER ? 1e-6 : family == EX_TEMPERATURE ? 1e-3 : 1;
	if (family == EX_WORKERS)
		return device->process_count;
	if (family >= EX_DRAM)
		return tdm_metrics_is_chip(device) && used != TDM_BYTES_UNKNOWN ? (double)used : (double)NAN;
	return reading->is_known ? (double)reading->value * unit : (double)NAN;
}

static void write_exporter_chips(const struct tdm_metrics_scene *scene)
{
	static const struct tdm_metric_family family = { "tenstorrent_chip_dram_used_bytes", "bytes",
		"DRAM in use on a chip of the device, as tt-metal counts it (name of tt-exporter).", TDM_METRIC_GAUGE };
	char chip[16];
	tdm_metrics_family(scene->text, &family);
	for (size_t i = 0; i < scene->picture->device_count; i++) {
		const struct tdm_picture_device *device = &scene->picture->devices[i];
		for (uint32_t c = 0; c < tdm_min(device->chip_count, TDM_PICTURE_CHIPS_MAX); c++) {
			if (exporter_labels(scene, device) == NULL)
				continue;
			snprintf(chip, sizeof chip, "%" PRIu32, device->chips[c].chip);
			tdm_metrics_label(&scene->metrics->more, "chip_id", chip);
			tdm_metrics_label(
				&scene->metrics->more, "is_remote", device->chips[c].is_remote ? "true" : "false");
			tdm_metrics_u64(scene->text, scene->metrics->more.data, device->chips[c].bytes[TDM_KIND_DRAM]);
		}
	}
}

static void write_exporter_processes(const struct tdm_metrics_scene *scene)
{
	static const struct tdm_metric_family family = { "tenstorrent_proc_dram_used_bytes", "bytes",
		"DRAM that a process holds (name of tt-exporter).", TDM_METRIC_GAUGE };
	char pid[16];
	tdm_metrics_family(scene->text, &family);
	for (size_t i = 0; i < scene->picture->holding_count && scene->metrics->options.processes; i++) {
		const struct tdm_holding *holding = &scene->picture->holdings[i];
		const struct tdm_picture_process *process = &scene->picture->processes[holding->process];
		if (!is_shown(scene, holding) ||
			exporter_labels(scene, &scene->picture->devices[holding->device]) == NULL)
			continue;
		snprintf(pid, sizeof pid, "%" PRId32, process->pid);
		tdm_metrics_label(&scene->metrics->more, "pid", pid);
		tdm_metrics_label(&scene->metrics->more, "process_name", process->comm);
		tdm_metrics_u64(scene->text, scene->metrics->more.data, holding->kinds[TDM_KIND_DRAM].used);
	}
}

static void write_exporter(const struct tdm_metrics_scene *scene)
{
	static const struct tdm_metric_family families[EXPORTERS] = {
		[EX_POWER] = { "tenstorrent_power_watts", "watts", "Power that the chip takes (name of tt-exporter).",
			TDM_METRIC_GAUGE },
		[EX_TEMPERATURE] = { "tenstorrent_temperature_celsius", "celsius",
			"Temperature of the chip (name of tt-exporter).", TDM_METRIC_GAUGE },
		[EX_CLOCK] = { "tenstorrent_aiclk_mhz", "mhz", "Clock of the Tensix cores (name of tt-exporter).",
			TDM_METRIC_GAUGE },
		[EX_WORKERS] = { "tenstorrent_active_workers", NULL,
			"Processes that use the device (name of tt-exporter).", TDM_METRIC_GAUGE },
		[EX_DRAM] = { "tenstorrent_dram_used_bytes", "bytes", "DRAM in use (name of tt-exporter).",
			TDM_METRIC_GAUGE },
		[EX_L1] = { "tenstorrent_l1_used_bytes", "bytes", "L1 in use by buffers (name of tt-exporter).",
			TDM_METRIC_GAUGE },
	};
	for (int f = 0; f < EXPORTERS; f++) {
		tdm_metrics_family(scene->text, &families[f]);
		for (size_t i = 0; i < scene->picture->device_count; i++) {
			const struct tdm_picture_device *device = &scene->picture->devices[i];
			/* Without an identity two devices would be one series. */
			if (exporter_labels(scene, device) != NULL)
				tdm_metrics_real(
					scene->text, scene->metrics->more.data, exporter_of(device, (enum exporter)f));
		}
	}
	write_exporter_chips(scene);
	write_exporter_processes(scene);
}

/* tt-telemetry. Its megabytes are MiB, rounded; the place in the rack is not known here. */

static double mebibytes(uint64_t bytes)
{
	return bytes != TDM_BYTES_UNKNOWN ? (double)((bytes >> MIB_SHIFT) + (bytes >> (MIB_SHIFT - 1) & 1))
					  : (double)NAN;
}

static const char *telemetry_labels(const struct tdm_metrics_scene *scene, const struct tdm_picture_device *device)
{
	struct tdm_buf *more = &scene->metrics->more;
	char host[256] = "", chip[16];
	gethostname(host, sizeof host - 1);
	tdm_buf_clear(more);
	tdm_metrics_label(more, "hostname", host);
	if (device != NULL) {
		snprintf(chip, sizeof chip, "%" PRIu32, device->place);
		tdm_metrics_label(more, "chip", chip);
	}
	tdm_metrics_label(more, "unit", "MB");
	return more->data;
}

static void write_telemetry_kind(
	const struct tdm_metrics_scene *scene, bool is_total, const char *device_name, const char *host_name)
{
	const char *help = is_total ? "DRAM that there is, in MiB (name of tt-telemetry)."
				    : "DRAM in use, in MiB (name of tt-telemetry).";
	uint64_t sum = 0;
	bool any = false;
	tdm_metrics_family(
		scene->text, &(struct tdm_metric_family){ device_name, "megabytes", help, TDM_METRIC_GAUGE });
	for (size_t i = 0; i < scene->picture->device_count; i++) {
		const struct tdm_picture_device *device = &scene->picture->devices[i];
		const struct tdm_picture_kind *kind = &device->kinds[TDM_KIND_DRAM];
		uint64_t bytes = is_total ? kind->total : kind->used;
		if (!tdm_metrics_is_chip(device) || bytes == TDM_BYTES_UNKNOWN)
			continue;
		tdm_metrics_real(scene->text, telemetry_labels(scene, device), mebibytes(bytes));
		sum = tdm_plus(sum, bytes);
		any = true;
	}
	tdm_metrics_family(scene->text, &(struct tdm_metric_family){ host_name, "megabytes", help, TDM_METRIC_GAUGE });
	if (any)
		tdm_metrics_real(scene->text, telemetry_labels(scene, NULL), mebibytes(sum));
}

static void write_telemetry(const struct tdm_metrics_scene *scene)
{
	static const struct tdm_metric_family family = { "tt_process_count", NULL,
		"Processes that use a device (name of tt-telemetry).", TDM_METRIC_GAUGE };
	uint64_t count = 0;
	write_telemetry_kind(scene, false, "tt_device_dram_used_megabytes", "tt_dram_used_megabytes");
	write_telemetry_kind(scene, true, "tt_device_dram_total_megabytes", "tt_dram_total_megabytes");
	for (size_t i = 0; i < scene->picture->process_count; i++)
		count += tdm_picture_counts(&scene->picture->processes[i]);
	tdm_metrics_family(scene->text, &family);
	tdm_metrics_u64(scene->text, "", count);
}

void tdm_metrics_others(const struct tdm_metrics_scene *scene)
{
	if ((scene->metrics->options.names & TDM_METRIC_NAMES_TT_EXPORTER) != 0)
		write_exporter(scene);
	if ((scene->metrics->options.names & TDM_METRIC_NAMES_TT_TELEMETRY) != 0)
		write_telemetry(scene);
}
