/* The families of devices. */
#include "report/metrics_parts.h"

#include <stdio.h>

enum { NAME_CAP = 96, HELP_CAP = 256 };

/* Figures that tt-mgmt has in a family for each kind: member, end of the name, help */
#define KIND_FIGURE_LIST(X)                                                                                        \
	X(used, "used_bytes", "in use by running processes")                                                       \
	X(total, "total_bytes", "that the device has")                                                             \
	X(free, "free_bytes", "that is free")                                                                      \
	X(largest_free, "largest_free_block_bytes", "in the largest contiguous free block of a bank, times banks") \
	X(peak, "peak_bytes", "in use at its peak, by the processes that run now")                                 \
	X(asked, "asked_bytes", "that programs asked for, before it was rounded up")                               \
	X(unattributed, "unattributed_bytes", "in use by no process that is known")                                \
	X(stale, "stale_bytes", "still recorded for ended processes; not part of what is in use")

/* Kinds that are shown even if nobody has used them. */
static bool is_usual(size_t kind)
{
	return kind <= TDM_KIND_CB;
}

static bool is_shown(const struct tdm_picture_device *device, size_t k)
{
	const struct tdm_picture_kind *kind = &device->kinds[k];
	return tdm_metrics_is_chip(device) && (is_usual(k) || tdm_is_some(kind->used) || tdm_is_some(kind->total) ||
						      tdm_is_some(kind->peak) || tdm_is_some(kind->stale));
}

/* Free blocks are known later than counters: an old answer is none. */
static bool space_is_old(const struct tdm_picture *picture, const struct tdm_picture_device *device)
{
	return device->space_is_old && picture->time_ns - device->space_ns > TDM_METRICS_SPACE_OLD_NS;
}

static uint64_t largest_free(
	const struct tdm_picture *picture, const struct tdm_picture_device *device, const struct tdm_picture_kind *kind)
{
	return space_is_old(picture, device) ? TDM_BYTES_UNKNOWN : kind->largest_free;
}

/* The members of a kind, in the order of KIND_FIGURE_LIST. */
enum figure {
#define X(member, name, help) FIGURE_##member,
	KIND_FIGURE_LIST(X)
#undef X
		FIGURES
};

static uint64_t figure_of(const struct tdm_picture *picture, size_t device, size_t k, enum figure figure)
{
	const struct tdm_picture_kind *kind = &picture->devices[device].kinds[k];
	if (figure == FIGURE_largest_free)
		return largest_free(picture, &picture->devices[device], kind);
	const uint64_t values[FIGURES] = {
#define X(member, name, help) [FIGURE_##member] = kind->member,
		KIND_FIGURE_LIST(X)
#undef X
	};
	return values[figure];
}

static void write_figure(const struct tdm_metrics_scene *scene, size_t k, enum figure figure)
{
	static const char *const names[FIGURES] = {
#define X(member, name, help) name,
		KIND_FIGURE_LIST(X)
#undef X
	}, *const helps[FIGURES] = {
#define X(member, name, help) help,
		KIND_FIGURE_LIST(X)
#undef X
	};
	char name[NAME_CAP], help[HELP_CAP];
	const char *kind = tdm_kind_name((enum tdm_kind)k);
	snprintf(name, sizeof name, "tt_%s_%s", kind, names[figure]);
	snprintf(help, sizeof help, "Memory of kind %s %s.", kind, helps[figure]);
	tdm_metrics_family(scene->text, &(struct tdm_metric_family){ name, "bytes", help, TDM_METRIC_GAUGE });
	for (size_t i = 0; i < scene->picture->device_count; i++)
		if (is_shown(&scene->picture->devices[i], k))
			tdm_metrics_u64(
				scene->text, tdm_metrics_labels(scene, i), figure_of(scene->picture, i, k, figure));
}

/* Families with the kind as a label. */

static void write_buffers(const struct tdm_metrics_scene *scene, size_t i, size_t k)
{
	tdm_metrics_u64(scene->text, tdm_metrics_labels_with(scene, i, "kind", tdm_kind_name((enum tdm_kind)k)),
		scene->picture->devices[i].kinds[k].buffers);
}

static void write_banks(const struct tdm_metrics_scene *scene, size_t i, size_t k)
{
	uint32_t banks = scene->picture->devices[i].kinds[k].banks;
	tdm_metrics_u64(scene->text, tdm_metrics_labels_with(scene, i, "kind", tdm_kind_name((enum tdm_kind)k)),
		banks != 0 ? banks : TDM_BYTES_UNKNOWN);
}

static void write_estimated(const struct tdm_metrics_scene *scene, size_t i, size_t k)
{
	const struct tdm_picture_kind *kind = &scene->picture->devices[i].kinds[k];
	if (kind->used != TDM_BYTES_UNKNOWN)
		tdm_metrics_u64(scene->text, tdm_metrics_labels_with(scene, i, "kind", tdm_kind_name((enum tdm_kind)k)),
			kind->is_estimated);
}

static void write_fragmentation(const struct tdm_metrics_scene *scene, size_t i, size_t k)
{
	const struct tdm_picture_device *device = &scene->picture->devices[i];
	const struct tdm_picture_kind *kind = &device->kinds[k];
	/* What circular buffers have is one gap. */
	if (k != TDM_KIND_CB)
		tdm_metrics_real(scene->text,
			tdm_metrics_labels_with(scene, i, "kind", tdm_kind_name((enum tdm_kind)k)),
			1 - tdm_share(largest_free(scene->picture, device, kind), kind->free));
}

static void write_by_kind(const struct tdm_metrics_scene *scene)
{
	static const struct {
		struct tdm_metric_family family;
		void (*write)(const struct tdm_metrics_scene *scene, size_t device, size_t kind);
	} families[] = {
		{ { "tt_buffers", NULL, "Live buffers, by kind.", TDM_METRIC_GAUGE }, write_buffers },
		{ { "tt_banks", NULL, "Banks of a memory: its figures are for all of them together.",
			  TDM_METRIC_GAUGE },
			write_banks },
		{ { "tt_estimated", NULL,
			  "1: the bytes in use of a kind are an estimate, because it is not known what some buffers "
			  "take.",
			  TDM_METRIC_GAUGE },
			write_estimated },
		{ { "tt_fragmentation_ratio", "ratio",
			  "Share of the free memory that is outside the largest free block; 0: it is in one piece.",
			  TDM_METRIC_GAUGE },
			write_fragmentation },
	};
	for (size_t f = 0; f < sizeof families / sizeof *families; f++) {
		tdm_metrics_family(scene->text, &families[f].family);
		for (size_t i = 0; i < scene->picture->device_count; i++)
			for (size_t k = 0; k < TDM_KIND_COUNT; k++)
				if (is_shown(&scene->picture->devices[i], k))
					families[f].write(scene, i, k);
	}
}

/* Counters that outlive processes. */

static const struct tdm_metrics_counts *counts_of(const struct tdm_metrics_scene *scene, size_t i)
{
	const struct tdm_picture_device *device = &scene->picture->devices[i];
	uint32_t at =
		tdm_metrics_is_chip(device) ? tdm_map_find(&scene->metrics->device_map, device->key) : TDM_MAP_NONE;
	return at != TDM_MAP_NONE ? &scene->metrics->devices[at].sum : NULL;
}

static void write_counters(const struct tdm_metrics_scene *scene)
{
	static const struct tdm_metric_family families[TDM_METRICS_COUNTERS] = {
#define X(member, name, help) { name, NULL, help, TDM_METRIC_COUNTER },
		TDM_METRICS_COUNTER_LIST(X)
#undef X
	};
	static const struct tdm_metric_family lost = { "tt_lost_events", NULL,
		"Events of programs that are missing in their ledgers.", TDM_METRIC_COUNTER };
	for (size_t c = 0; c < TDM_METRICS_COUNTERS; c++) {
		tdm_metrics_family(scene->text, &families[c]);
		for (size_t i = 0; i < scene->picture->device_count; i++) {
			const struct tdm_metrics_counts *counts = counts_of(scene, i);
			for (size_t k = 0; k < TDM_KIND_COUNT && counts != NULL; k++)
				if (is_usual(k) || counts->of[c][k] != 0)
					tdm_metrics_u64(scene->text,
						tdm_metrics_labels_with(
							scene, i, "kind", tdm_kind_name((enum tdm_kind)k)),
						counts->of[c][k]);
		}
	}
	tdm_metrics_family(scene->text, &lost);
	for (size_t i = 0; i < scene->picture->device_count; i++)
		if (counts_of(scene, i) != NULL)
			tdm_metrics_u64(scene->text, tdm_metrics_labels(scene, i), counts_of(scene, i)->lost);
}

/* Families with one sample for each device: the value of one. */

static double reading(const struct tdm_reading *reading, double unit)
{
	return reading->is_known ? (double)reading->value * unit : (double)NAN;
}

static double bytes(uint64_t number)
{
	return number != TDM_BYTES_UNKNOWN ? (double)number : (double)NAN;
}

enum single {
	TEMPERATURE,
	POWER,
	VOLTAGE,
	CURRENT,
	CLOCK,
	FAN,
	PROCESSES,
	L1_CORE,
	L1_GAP,
	L1_CLASH,
	L1_PEAK,
	SPACE_AGE,
	UPDATED,
	SINGLES
};

static double single_of(const struct tdm_picture *picture, const struct tdm_picture_device *device, enum single single)
{
	const struct tdm_picture_telemetry *read = &device->telemetry;
	bool is_chip = tdm_metrics_is_chip(device), has_space = is_chip && device->space_ns != 0;
	switch (single) {
	case TEMPERATURE:
		return reading(&read->temp, 1e-3);
	case POWER:
		return reading(&read->power, 1e-6);
	case VOLTAGE:
		return reading(&read->voltage, 1);
	case CURRENT:
		return reading(&read->current, 1);
	case CLOCK:
		return reading(&read->clock, 1);
	case FAN:
		return reading(&read->fan, 1);
	case PROCESSES:
		return device->process_count;
	case L1_CORE:
		return is_chip ? bytes(device->l1_core) : (double)NAN;
	case L1_GAP:
		return is_chip && !space_is_old(picture, device) ? bytes(tdm_picture_gap(device)) : (double)NAN;
	case L1_CLASH:
		return has_space && !space_is_old(picture, device) ? bytes(tdm_picture_clash(device)) : (double)NAN;
	case L1_PEAK:
		return is_chip ? bytes(device->l1_peak) : (double)NAN;
	case SPACE_AGE:
		return has_space && device->space_is_old ? (double)(picture->time_ns - device->space_ns) / 1e9
		       : has_space                       ? 0
							 : (double)NAN;
	case UPDATED:
		return device->updated_ns != 0 ? (double)device->updated_ns / 1e9 : (double)NAN;
	case SINGLES:
		break;
	}
	return (double)NAN;
}

static void write_singles(const struct tdm_metrics_scene *scene)
{
	static const struct tdm_metric_family families[SINGLES] = {
		[TEMPERATURE] = { "tt_temperature_celsius", "celsius", "Temperature of the chip.", TDM_METRIC_GAUGE },
		[POWER] = { "tt_power_watts", "watts", "Power that the chip takes.", TDM_METRIC_GAUGE },
		[VOLTAGE] = { "tt_voltage_millivolts", "millivolts", "Core voltage.", TDM_METRIC_GAUGE },
		[CURRENT] = { "tt_current_milliamps", "milliamps", "Core current.", TDM_METRIC_GAUGE },
		[CLOCK] = { "tt_aiclk_mhz", "mhz", "Clock of the Tensix cores.", TDM_METRIC_GAUGE },
		[FAN] = { "tt_fan_speed_rpm", "rpm", "Speed of the fan.", TDM_METRIC_GAUGE },
		[PROCESSES] = { "tt_device_processes", NULL,
			"Processes that hold memory of the device or have it open.", TDM_METRIC_GAUGE },
		[L1_CORE] = { "tt_l1_core_bytes", "bytes", "L1 of one core.", TDM_METRIC_GAUGE },
		[L1_GAP] = { "tt_l1_gap_bytes", "bytes",
			"Free bytes between circular buffers and L1 buffers in the fullest core; 0: they meet.",
			TDM_METRIC_GAUGE },
		[L1_CLASH] = { "tt_l1_clash_bytes", "bytes",
			"Bytes by which circular buffers and L1 buffers overlap in the fullest core.",
			TDM_METRIC_GAUGE },
		[L1_PEAK] = { "tt_l1_all_peak_bytes", "bytes",
			"Everything in L1 together at its peak; only with one process on the device.",
			TDM_METRIC_GAUGE },
		[SPACE_AGE] = { "tt_space_age_seconds", "seconds",
			"Age of the largest free blocks and of the gap, which are computed less often; 0: they fit "
			"the other figures.",
			TDM_METRIC_GAUGE },
		[UPDATED] = { "tt_shm_updated_timestamp_seconds", "seconds",
			"When tt-metal last changed its shared memory for the device.", TDM_METRIC_GAUGE },
	};
	for (int f = 0; f < SINGLES; f++) {
		tdm_metrics_family(scene->text, &families[f]);
		for (size_t i = 0; i < scene->picture->device_count; i++)
			tdm_metrics_real(scene->text, tdm_metrics_labels(scene, i),
				single_of(scene->picture, &scene->picture->devices[i], (enum single)f));
	}
}

static void write_info(const struct tdm_metrics_scene *scene)
{
	static const struct tdm_metric_family family = { "tt_device", NULL,
		"What a device is; number: the lowest logical one that a program uses, node: of /dev/tenstorrent.",
		TDM_METRIC_INFO };
	struct tdm_buf *more = &scene->metrics->more;
	char text[32];
	tdm_metrics_family(scene->text, &family);
	for (size_t i = 0; i < scene->picture->device_count; i++) {
		const struct tdm_picture_device *device = &scene->picture->devices[i];
		tdm_metrics_labels_with(scene, i, "card", device->card);
		snprintf(text, sizeof text, "%d", (int)device->number);
		tdm_metrics_label(more, "number", device->number >= 0 ? text : "");
		snprintf(text, sizeof text, "%d", (int)device->node);
		tdm_metrics_label(more, "node", device->node >= 0 ? text : "");
		tdm_metrics_label(more, "sort", device->is_board ? "board" : device->is_virtual ? "virtual" : "chip");
		tdm_metrics_u64(scene->text, more->data, 1);
	}
}

/* Leaks. */

static size_t index_of(const struct tdm_picture *picture, uint64_t key)
{
	size_t i = 0;
	while (i < picture->device_count && picture->devices[i].key != key)
		i++;
	return i;
}

static void write_leaks(const struct tdm_metrics_scene *scene)
{
	static const struct tdm_metric_family families[] = {
		{ "tt_leak_suspects", NULL, "Places in programs whose buffers grow in a suspicious way.",
			TDM_METRIC_GAUGE },
		{ "tt_leak_suspect_bytes", "bytes", "Memory that such places hold.", TDM_METRIC_GAUGE },
	};
	static const struct tdm_metric_family age = { "tt_leak_watch_age_seconds", "seconds",
		"Time since buffers were last judged; without it, nobody watches for leaks.", TDM_METRIC_GAUGE };
	const struct tdm_metrics_view *view = scene->view;
	if (view->leak_age_ns == TDM_BYTES_UNKNOWN)
		return;
	for (size_t f = 0; f < 2; f++) {
		tdm_metrics_family(scene->text, &families[f]);
		for (size_t i = 0; i < view->leak_count; i++) {
			const struct tdm_metrics_leak *leak = &view->leaks[i];
			size_t device = index_of(scene->picture, leak->device);
			if (device == scene->picture->device_count)
				continue;
			tdm_metrics_labels_with(scene, device, "kind", tdm_kind_name((enum tdm_kind)leak->kind));
			tdm_metrics_label(&scene->metrics->more, "verdict", leak->is_sure ? "leak" : "suspect");
			tdm_metrics_u64(scene->text, scene->metrics->more.data, f == 0 ? leak->sites : leak->bytes);
		}
	}
	tdm_metrics_family(scene->text, &age);
	tdm_metrics_real(scene->text, "", (double)view->leak_age_ns / 1e9);
}

/* Traces. */

static uint64_t hazards_of(const struct tdm_picture *picture, size_t device, uint8_t state, bool *is_known)
{
	uint64_t count = 0;
	*is_known = false;
	for (size_t i = 0; i < picture->holding_count; i++) {
		const struct tdm_holding *holding = &picture->holdings[i];
		if (holding->device != device || holding->trace_count == 0 ||
			!tdm_picture_counts(&picture->processes[holding->process]))
			continue;
		*is_known = true;
		for (size_t k = 0; k < holding->hazard_count; k++)
			if (holding->hazards[k].state == state)
				count = tdm_plus(count, holding->hazards[k].count);
	}
	return count;
}

/* Only for devices on which a running process has captured traces. */
static void write_hazards(const struct tdm_metrics_scene *scene)
{
	static const struct tdm_metric_family family = { "tt_trace_hazards", NULL,
		"Buffers that were allocated while a captured trace existed; live: a replay may have overwritten them.",
		TDM_METRIC_GAUGE };
	static const char *const states[TDM_HAZARD_STATES] = {
		[TDM_HAZARD_WAITS] = "waiting", [TDM_HAZARD_LIVE] = "live", [TDM_HAZARD_FREED] = "freed"
	};
	tdm_metrics_family(scene->text, &family);
	for (size_t i = 0; i < scene->picture->device_count; i++)
		for (uint8_t state = 0; state < TDM_HAZARD_STATES; state++) {
			bool is_known;
			uint64_t count = hazards_of(scene->picture, i, state, &is_known);
			if (is_known)
				tdm_metrics_u64(
					scene->text, tdm_metrics_labels_with(scene, i, "state", states[state]), count);
		}
}

void tdm_metrics_devices(const struct tdm_metrics_scene *scene)
{
	write_info(scene);
	for (size_t k = 0; k < TDM_KIND_COUNT; k++)
		for (int figure = 0; figure < FIGURES; figure++)
			write_figure(scene, k, (enum figure)figure);
	write_by_kind(scene);
	write_counters(scene);
	write_singles(scene);
	write_hazards(scene);
	write_leaks(scene);
}
