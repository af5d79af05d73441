/*
 * The text formats, the counters, and the families of all exporters.
 *
 * Counters are kept in rows, which `map` finds by process and device. The rows contain the latest counts of each
 * process, and the sums of each device, which outlive processes. Each tdm_metrics_update() is a round; rows of
 * processes not seen in it are removed. A family is a row in a const table, with its name, its help, and the member
 * that contains its value.
 */
#include "view/metrics/metrics.h"
#include "base/err.h"
#include "base/memory.h"
#include "base/number.h"
#include "live/host/proc_facts.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

enum {
	DEVICES_MAX = 4096, /* includes removed devices, whose sums are kept; a machine has far fewer */
	NAME_CAP = 96,
	HELP_CAP = 256,
};
#define SPACE_OLD_NS (UINT64_C(60) * 1000000000) /* older figures would be misleading and are left out */

enum { COUNTERS = 5 };

/* A process's counters on a device, as of the last picture. If `process` is 0, the row contains a device's sums, which
 * are unknown before the first count. If `device` is 0, the row contains facts about a process. */
struct counts {
	uint64_t process, device; /* process handle and device key; either may be 0 */
	uint64_t round;           /* round in which the row was last seen */
	uint64_t of[COUNTERS][TDM_KIND_COUNT];
	uint64_t lost; /* lost events */
	struct tdm_cgroup cgroup;
};

struct tdm_metrics {
	unsigned names; /* set of TDM_METRIC_NAMES_* */
	bool has_processes;
	const char *proc;
	uint64_t round;
	struct tdm_map map; /* finds rows by process and device */
	struct counts *rows;
	size_t count, cap, sum_count;
	/* While metrics are written: */
	const struct tdm_metrics_view *view;
	const struct tdm_picture *picture;
	struct tdm_metrics_text *text;
	struct tdm_buf *labels; /* labels of each device, then of each process */
	size_t label_cap;
	struct tdm_buf more; /* labels of one sample */
};

/*
 * A column of the device or process table: a family, and the source of its value. The source is a 64-bit member of the
 * row, a driver reading, or figure_of().
 */
enum figure { MEMBER, PROCESSES, GAP, CLASH, SPACE_AGE, UPDATED, BUFFERS, BANKS, ESTIMATED, FRAGMENTATION };

struct column {
	const char *name, *help;
	size_t offset;
	double scale; /* if not 0, the member is a driver reading, to be multiplied by this */
	enum figure figure;
};

#define COUNT_OF(list) (sizeof(list) / sizeof *(list))

static uint64_t member(const struct column *column, const void *row)
{
	return *(const uint64_t *)(const void *)((const char *)row + column->offset);
}

/* ---- text, and the format that a client prefers ------------------------------------------------------------------ */

void tdm_metrics_begin(struct tdm_metrics_text *text, struct tdm_buf *out, bool is_openmetrics)
{
	*text = (struct tdm_metrics_text){ .out = out, .is_openmetrics = is_openmetrics };
}

void tdm_metrics_end(struct tdm_metrics_text *text)
{
	if (text->is_openmetrics)
		tdm_buf_puts(text->out, "# EOF\n");
}

void tdm_metrics_family(struct tdm_metrics_text *text, const char *name, enum tdm_metric_type type, const char *help)
{
	/* The last word of a name, if it is a unit. */
	static const char *const units[] = { "bytes", "seconds", "ratio", "celsius", "watts", "millivolts", "milliamps",
		"mhz", "rpm", "megabytes" };
	const char *last = strrchr(name, '_');
	text->name = name;
	text->unit = NULL;
	for (size_t i = 0; last != NULL && i < COUNT_OF(units); i++)
		if (strcmp(last + 1, units[i]) == 0)
			text->unit = units[i];
	text->type = type;
	text->help = help;
	text->has_head = false;
}

static const char *sample_suffix(enum tdm_metric_type type)
{
	return type == TDM_METRIC_COUNTER ? "_total" : type == TDM_METRIC_INFO ? "_info" : "";
}

/* Appends one character; those in `marks` get a backslash. */
static void put_escaped(struct tdm_buf *out, const char *at, size_t len, const char *marks)
{
	if (*at == '\n' || strchr(marks, *at) != NULL)
		tdm_buf_printf(out, "\\%c", *at == '\n' ? 'n' : *at);
	else
		tdm_buf_add(out, at, len);
}

/* Begins a sample, "name{labels} ", after the family's head. */
static void begin_sample(struct tdm_metrics_text *text, const char *labels)
{
	static const char *const open[] = { "gauge", "counter", "info" }, *const plain[] = { "gauge", "counter",
		"gauge" };
	const char *suffix = sample_suffix(text->type), *in_head = text->is_openmetrics ? "" : suffix;
	if (!text->has_head) {
		tdm_buf_printf(text->out, "# HELP %s%s ", text->name, in_head);
		for (const char *help = text->help; *help != '\0'; help++)
			put_escaped(text->out, help, 1, "\\");
		tdm_buf_printf(text->out, "\n# TYPE %s%s %s\n", text->name, in_head,
			(text->is_openmetrics ? open : plain)[text->type]);
		if (text->is_openmetrics && text->unit != NULL)
			tdm_buf_printf(text->out, "# UNIT %s %s\n", text->name, text->unit);
		text->has_head = true;
	}
	tdm_buf_puts(text->out, text->name);
	tdm_buf_puts(text->out, suffix);
	if (labels != NULL && labels[0] != '\0') {
		tdm_buf_putc(text->out, '{');
		tdm_buf_puts(text->out, labels);
		tdm_buf_putc(text->out, '}');
	}
	tdm_buf_putc(text->out, ' ');
	text->samples++;
}

void tdm_metrics_real(struct tdm_metrics_text *text, const char *labels, double value)
{
	if (!isfinite(value))
		return;
	begin_sample(text, labels);
	tdm_buf_printf(text->out, "%.10g\n", value);
}

void tdm_metrics_u64(struct tdm_metrics_text *text, const char *labels, uint64_t value)
{
	if (value == TDM_BYTES_UNKNOWN)
		return;
	if (text->unit != NULL && strcmp(text->unit, "seconds") == 0) {
		tdm_metrics_real(text, labels, (double)value / 1e9);
		return;
	}
	char digits[21];
	size_t at = sizeof digits;
	begin_sample(text, labels);
	digits[--at] = '\n';
	do
		digits[--at] = (char)('0' + value % 10);
	while ((value /= 10) != 0);
	tdm_buf_add(text->out, digits + at, sizeof digits - at);
}

void tdm_metrics_list(struct tdm_metrics_text *text, const struct tdm_metric *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (i == 0 || strcmp(list[i].name, list[i - 1].name) != 0)
			tdm_metrics_family(text, list[i].name, list[i].type, list[i].help);
		tdm_metrics_u64(text, list[i].labels, list[i].value);
	}
}

void tdm_metrics_label(struct tdm_buf *labels, const char *name, const char *value)
{
	size_t left = strlen(value), shown = 0;
	if (left == 0)
		return;
	bool is_cut = left > TDM_METRIC_LABEL_MAX;
	size_t cap = TDM_METRIC_LABEL_MAX - (is_cut ? strlen(TDM_METRIC_CUT) : 0);
	tdm_buf_printf(labels, "%s%s=\"", labels->len != 0 ? "," : "", name);
	while (left != 0) {
		size_t len = tdm_str_utf8(value, left), out = len != 0 ? len : 3;
		if (out > cap - shown)
			break;
		if (len == 0)
			tdm_buf_puts(labels, "\xef\xbf\xbd");
		else
			put_escaped(labels, value, len, "\"\\");
		shown += out;
		len += len == 0;
		value += len;
		left -= len;
	}
	tdm_buf_puts(labels, left != 0 ? TDM_METRIC_CUT "\"" : "\"");
}

const char *tdm_metrics_content_type(bool is_openmetrics)
{
	return is_openmetrics ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
			      : "text/plain; version=0.0.4; charset=utf-8";
}

/*
 * The weight ("q", default 1) of the media range in an Accept header that matches a type most closely, such as
 * "text/plain;version=0.0.4;q=0.5". `names`: the type's names, from the loosest to the exact one. *has_own is set if
 * the header contains the exact name.
 */
static double preference(const char *accept, const char *const names[3], bool *has_own)
{
	int closest = -1;
	double most = 0;
	while (accept != NULL && *accept != '\0') {
		size_t len = strcspn(accept, ",");
		char range[128];
		struct tdm_str part = tdm_str_trim((struct tdm_str){ accept, len });
		snprintf(range, sizeof range, "%.*s", TDM_STR_ARG(part));
		double weight = 1;
		for (const char *at = range; (at = strchr(at, ';')) != NULL;) {
			at += 1 + strspn(at + 1, " ");
			if (strncasecmp(at, "q=", 2) != 0)
				continue;
			weight = strtod(at + 2, NULL);
			weight = weight >= 0 && weight <= 1 ? weight : 0;
			break;
		}
		int close = 2;
		range[strcspn(range, "; \t")] = '\0';
		while (close >= 0 && strcasecmp(range, names[close]) != 0)
			close--;
		if (close > closest || (close >= 0 && close == closest && weight > most)) {
			closest = close;
			most = weight;
		}
		accept += len + (accept[len] == ',');
	}
	*has_own = closest == 2;
	return most;
}

bool tdm_metrics_accepts_openmetrics(const char *accept)
{
	static const char *const open_names[] = { "*/*", "application/*", "application/openmetrics-text" },
				 *const plain_names[] = { "*/*", "text/*", "text/plain" };
	bool names_open, names_plain;
	double open = preference(accept, open_names, &names_open),
	       plain = preference(accept, plain_names, &names_plain);
	return names_open && open > 0 && open >= plain;
}

/* ---- life -------------------------------------------------------------------------------------------------------- */

int tdm_metrics_names_parse(const char *text, unsigned *names)
{
	static const char *const words[] = { "tt-mgmt", [TDM_METRIC_NAMES_TT_EXPORTER] = "tt-exporter",
		[TDM_METRIC_NAMES_TT_TELEMETRY] = "tt-telemetry" };
	*names = 0;
	while (*text != '\0') {
		size_t len = strcspn(text, ",");
		unsigned bit = 0;
		while (bit < sizeof words / sizeof *words &&
			!tdm_str_is(tdm_str_trim((struct tdm_str){ text, len }), words[bit]))
			bit++;
		if (bit == sizeof words / sizeof *words)
			return TDM_ESYNTAX;
		*names |= bit;
		text += len + (text[len] == ',');
	}
	return 0;
}

struct tdm_metrics *tdm_metrics_new(unsigned names, bool processes, const char *proc)
{
	struct tdm_metrics *metrics = tdm_zalloc(1, sizeof *metrics);
	metrics->names = names;
	metrics->has_processes = processes;
	metrics->proc = proc;
	return metrics;
}

void tdm_metrics_free(struct tdm_metrics *metrics)
{
	if (metrics == NULL)
		return;
	for (size_t i = 0; i < metrics->label_cap; i++)
		tdm_buf_done(&metrics->labels[i]);
	free(metrics->labels);
	tdm_buf_done(&metrics->more);
	tdm_map_done(&metrics->map);
	free(metrics->rows);
	free(metrics);
}

/* ---- counters ---------------------------------------------------------------------------------------------------- */

#define AMOUNT(member) .offset = offsetof(struct tdm_counter, member)

static const struct column counters[COUNTERS] = {
	{ "tt_allocations", "Buffers allocated since the daemon first saw their processes, by kind.", AMOUNT(allocs) },
	{ "tt_oom", "Allocations that failed because memory ran out, by kind.", AMOUNT(out_of_memory) },
	{ "tt_double_frees", "Releases of buffers that had been released before, by kind.", AMOUNT(double_frees) },
	{ "tt_unknown_frees", "Releases of buffers that nobody had reported, by kind.", AMOUNT(unknown_frees) },
	{ "tt_rereports", "Buffers that were reported again while they were live, by kind.", AMOUNT(rereports) },
};

static uint64_t key_of(uint64_t process, uint64_t device)
{
	return tdm_hash_u64(process) ^ device;
}

static struct counts *find_counts(const struct tdm_metrics *metrics, uint64_t process, uint64_t device)
{
	uint32_t at = tdm_map_find(&metrics->map, key_of(process, device));
	return at != TDM_MAP_NONE ? &metrics->rows[at] : NULL;
}

/* Finds or adds a row; adding a row may move the others. Returns NULL only if the row would contain a device's sums and
 * there are already too many devices. */
static struct counts *have_counts(struct tdm_metrics *metrics, uint64_t process, uint64_t device)
{
	struct counts *counts = find_counts(metrics, process, device);
	if (counts != NULL || (process == 0 && metrics->sum_count == DEVICES_MAX))
		return counts;
	tdm_map_set(&metrics->map, key_of(process, device), (uint32_t)metrics->count);
	tdm_grow(&metrics->rows, &metrics->cap, metrics->count + 1, sizeof *metrics->rows);
	counts = &metrics->rows[metrics->count++];
	*counts = (struct counts){ .process = process, .device = device };
	if (process != 0)
		return counts;
	metrics->sum_count++;
	counts->lost = TDM_BYTES_UNKNOWN;
	for (size_t c = 0; c < COUNTERS; c++)
		for (size_t k = 0; k < TDM_KIND_COUNT; k++)
			counts->of[c][k] = TDM_BYTES_UNKNOWN;
	return counts;
}

/* Adds the change in a count since the previous picture to a sum. A count that has decreased has restarted from 0. */
static void add(uint64_t *sum, uint64_t *last, uint64_t now)
{
	if (now == TDM_BYTES_UNKNOWN)
		return;
	*sum = *sum != TDM_BYTES_UNKNOWN ? *sum : 0;
	*sum = tdm_min(tdm_plus(*sum, now >= *last ? now - *last : now), TDM_BYTES_UNKNOWN - 1);
	*last = now;
}

static void count_kinds(const struct tdm_counter *kinds, struct counts *last, struct counts *sums)
{
	for (size_t c = 0; c < COUNTERS; c++)
		for (size_t k = 0; k < TDM_KIND_COUNT; k++)
			add(&sums->of[c][k], &last->of[c][k], member(&counters[c], &kinds[k]));
}

/* Adds a process's counts to the sums of its devices. Lost events are not counted per device, so new ones are added to
 * the sum of the process's first device. */
static void count_process(
	struct tdm_metrics *metrics, const struct tdm_picture *picture, const struct tdm_picture_process *process)
{
	struct counts *first = NULL, *first_sums = NULL;
	uint64_t lost = 0;
	for (size_t h = process->holding_count; h-- > 0;) {
		const struct tdm_holding *holding = &picture->holdings[process->first_holding + h];
		uint64_t device = picture->devices[holding->device].key;
		if (have_counts(metrics, 0, device) == NULL)
			continue;
		struct counts *last = have_counts(metrics, process->handle, device),
			      *sums = find_counts(metrics, 0, device);
		last->round = metrics->round;
		count_kinds(holding->kinds, last, sums);
		if (process->lost != TDM_BYTES_UNKNOWN)
			add(&sums->lost, &last->lost, last->lost); /* from now on the sum is known */
		lost = tdm_plus(lost, last->lost);
		first = h == 0 ? last : NULL;
		first_sums = sums;
	}
	if (first != NULL && process->lost != TDM_BYTES_UNKNOWN && process->lost > lost)
		add(&first_sums->lost, &first->lost, tdm_plus(first->lost, process->lost - lost));
}

void tdm_metrics_update(struct tdm_metrics *metrics, const struct tdm_picture *picture)
{
	metrics->round++;
	/* Processes that have ended are no longer in the picture, but may have counted more since the previous one. */
	for (size_t i = 0; i < picture->end_count; i++) {
		const struct tdm_picture_end *end = &picture->ends[i];
		struct counts *last = find_counts(metrics, end->process, end->device),
			      *sums = find_counts(metrics, 0, end->device);
		if (last != NULL && sums != NULL)
			count_kinds(end->kinds, last, sums);
	}
	for (size_t i = 0; i < picture->process_count; i++) {
		const struct tdm_picture_process *process = &picture->processes[i];
		if (!tdm_picture_counts(process))
			continue;
		count_process(metrics, picture, process);
		if (!metrics->has_processes)
			continue;
		struct counts *known = have_counts(metrics, process->handle, 0);
		if (known->round == 0 && !process->is_claimed) /* the control group is read only once */
			tdm_cgroup_read(tdm_proc_path(metrics->proc), process->pid, &known->cgroup);
		known->round = metrics->round;
	}
	/* Remove rows of processes that are gone; the last row moves into the gap. */
	for (size_t i = metrics->count; i-- > 0;) {
		struct counts *counts = &metrics->rows[i];
		if (counts->process == 0 || counts->round == metrics->round)
			continue;
		tdm_map_take(&metrics->map, key_of(counts->process, counts->device));
		*counts = metrics->rows[--metrics->count];
		if (i < metrics->count)
			tdm_map_set(&metrics->map, key_of(counts->process, counts->device), (uint32_t)i);
	}
}

/* ---- labels ------------------------------------------------------------------------------------------------------ */

__attribute__((format(printf, 3, 4))) static void label(
	struct tdm_buf *labels, const char *name, const char *format, ...)
{
	char text[64];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	tdm_metrics_label(labels, name, text);
}

static void label_asic(const struct tdm_picture_device *device, struct tdm_buf *labels)
{
	if (device->has_chip_id)
		label(labels, "asic_id", "0x%016" PRIx64, device->chip_id);
}

/* Writes the labels of each device and process once, for all of its samples. */
static void label_all(struct tdm_metrics *metrics)
{
	const struct tdm_picture *picture = metrics->picture;
	size_t count = picture->device_count + (metrics->has_processes ? picture->process_count : 0);
	size_t old = metrics->label_cap;
	tdm_grow(&metrics->labels, &metrics->label_cap, count, sizeof *metrics->labels);
	if (metrics->label_cap != old)
		memset(metrics->labels + old, 0, (metrics->label_cap - old) * sizeof *metrics->labels);
	for (size_t i = 0; i < count; i++) {
		struct tdm_buf *labels = &metrics->labels[i];
		tdm_buf_clear(labels);
		if (i < picture->device_count) {
			const struct tdm_picture_device *device = &picture->devices[i];
			label(labels, "device", "%" PRIu32, device->place);
			tdm_metrics_label(labels, "pci_bdf", device->pci);
			tdm_metrics_label(labels, "arch", device->arch);
			label_asic(device, labels);
			continue;
		}
		const struct tdm_picture_process *process = &picture->processes[i - picture->device_count];
		const struct counts *known = find_counts(metrics, process->handle, 0);
		label(labels, "pid", "%" PRId32, process->pid);
		tdm_metrics_label(labels, "process", process->comm);
		tdm_metrics_label(labels, "user", process->user);
		tdm_metrics_label(labels, "command", process->command);
		if (known != NULL) {
			tdm_metrics_label(labels, "container", known->cgroup.container);
			tdm_metrics_label(labels, "pod", known->cgroup.pod);
			tdm_metrics_label(labels, "job", known->cgroup.job);
		}
	}
}

/* The labels of a device and one more label, kept in `more` until the next sample. */
static const char *labels_with(struct tdm_metrics *metrics, size_t device, const char *name, const char *value)
{
	struct tdm_buf *more = &metrics->more;
	tdm_buf_clear(more);
	tdm_buf_add(more, metrics->labels[device].data, metrics->labels[device].len);
	tdm_metrics_label(more, name, value);
	return more->data;
}

static const char *labels_of_kind(struct tdm_metrics *metrics, size_t device, size_t k)
{
	return labels_with(metrics, device, "kind", tdm_kind_name((enum tdm_kind)k));
}

/* Labels as in tt-exporter, whose device_id is the PCI address. NULL if a device has no identity: two such devices
 * would share one series. */
static const char *exporter_labels(struct tdm_metrics *metrics, const struct tdm_picture_device *device)
{
	tdm_buf_clear(&metrics->more);
	label_asic(device, &metrics->more);
	tdm_metrics_label(&metrics->more, "device_id", device->pci);
	return metrics->more.len != 0 ? metrics->more.data : NULL;
}

/* ---- devices ----------------------------------------------------------------------------------------------------- */

/* Whether the device's memory counts: it must be a chip, not a whole board or a virtual device. */
static bool is_chip(const struct tdm_picture_device *device)
{
	return !device->is_board && !device->is_virtual;
}

/* Common kinds are shown even if never used. */
static bool is_shown(const struct tdm_picture_device *device, size_t k)
{
	const struct tdm_picture_kind *kind = &device->kinds[k];
	return is_chip(device) && (k <= TDM_KIND_CB || tdm_is_some(kind->used) || tdm_is_some(kind->total) ||
					  tdm_is_some(kind->peak) || tdm_is_some(kind->stale));
}

/* Free blocks are read less often than counters, and old figures are left out. */
static bool space_is_old(const struct tdm_picture *picture, const struct tdm_picture_device *device)
{
	return device->space_is_old && picture->time_ns - device->space_ns > SPACE_OLD_NS;
}

static double known(uint64_t number)
{
	return number != TDM_BYTES_UNKNOWN ? (double)number : (double)NAN;
}

static double figure_of(
	const struct tdm_picture *picture, const struct tdm_picture_device *device, size_t k, enum figure figure)
{
	const struct tdm_picture_kind *kind = &device->kinds[k];
	bool has_space = is_chip(device) && device->space_ns != 0, is_old = space_is_old(picture, device);
	switch (figure) {
	case PROCESSES:
		return device->process_count;
	case GAP:
		return is_chip(device) && !is_old ? known(tdm_picture_gap(device)) : (double)NAN;
	case CLASH:
		return has_space && !is_old ? known(tdm_picture_clash(device)) : (double)NAN;
	case SPACE_AGE:
		return !has_space             ? (double)NAN
		       : device->space_is_old ? (double)(picture->time_ns - device->space_ns) / 1e9
					      : 0;
	case UPDATED:
		return device->updated_ns != 0 ? (double)device->updated_ns / 1e9 : (double)NAN;
	case BUFFERS:
		return known(kind->buffers);
	case BANKS:
		return kind->banks != 0 ? kind->banks : (double)NAN;
	case ESTIMATED:
		return kind->used != TDM_BYTES_UNKNOWN ? kind->is_estimated : (double)NAN;
	case FRAGMENTATION: /* the free space for circular buffers is one gap, so it has no fragmentation */
		return k != TDM_KIND_CB && !is_old ? 1 - tdm_share(kind->largest_free, kind->free) : (double)NAN;
	case MEMBER:
		break;
	}
	return (double)NAN;
}

#define KIND(member)   .offset = offsetof(struct tdm_picture_kind, member)
#define DEVICE(member) .offset = offsetof(struct tdm_picture_device, member)

/* Figures for which tt-mgmt has one family for each kind. */
static const struct column kind_columns[] = {
	{ "used_bytes", "in use by running processes", KIND(used) },
	{ "total_bytes", "that the device has", KIND(total) },
	{ "free_bytes", "that is free", KIND(free) },
	{ "largest_free_block_bytes", "in the largest contiguous free block of a bank, times banks",
		KIND(largest_free) },
	{ "peak_bytes", "in use at its peak, by the processes that run now", KIND(peak) },
	{ "asked_bytes", "that programs asked for, before it was rounded up", KIND(asked) },
	{ "unattributed_bytes", "in use by no process that is known", KIND(unattributed) },
	{ "stale_bytes", "still recorded for ended processes; not part of what is in use", KIND(stale) },
};

/* Families with the kind as a label. */
static const struct column by_kind_columns[] = {
	{ "tt_buffers", "Live buffers, by kind.", .figure = BUFFERS },
	{ "tt_banks", "Banks of a memory: its figures are for all of them together.", .figure = BANKS },
	{ "tt_estimated",
		"1: the bytes in use of a kind are an estimate, because it is not known what some buffers take.",
		.figure = ESTIMATED },
	{ "tt_fragmentation_ratio",
		"Share of the free memory that is outside the largest free block; 0: it is in one piece.",
		.figure = FRAGMENTATION },
};

/* Families with one sample per device; figures from members only for chips. */
static const struct column device_columns[] = {
	{ "tt_temperature_celsius", "Temperature of the chip.", DEVICE(telemetry.temp), .scale = 1e-3 },
	{ "tt_power_watts", "Power that the chip takes.", DEVICE(telemetry.power), .scale = 1e-6 },
	{ "tt_voltage_millivolts", "Core voltage.", DEVICE(telemetry.voltage), .scale = 1 },
	{ "tt_current_milliamps", "Core current.", DEVICE(telemetry.current), .scale = 1 },
	{ "tt_aiclk_mhz", "Clock of the Tensix cores.", DEVICE(telemetry.clock), .scale = 1 },
	{ "tt_fan_speed_rpm", "Speed of the fan.", DEVICE(telemetry.fan), .scale = 1 },
	{ "tt_device_processes", "Processes that hold memory of the device or have it open.", .figure = PROCESSES },
	{ "tt_l1_core_bytes", "L1 of one core.", DEVICE(l1_core) },
	{ "tt_l1_gap_bytes", "Free bytes between circular buffers and L1 buffers in the fullest core; 0: they meet.",
		.figure = GAP },
	{ "tt_l1_clash_bytes", "Bytes by which circular buffers and L1 buffers overlap in the fullest core.",
		.figure = CLASH },
	{ "tt_l1_all_peak_bytes", "Everything in L1 together at its peak; only with one process on the device.",
		DEVICE(l1_peak) },
	{ "tt_space_age_seconds",
		"Age of the largest free blocks and of the gap, which are computed less often; 0: they fit the other "
		"figures.",
		.figure = SPACE_AGE },
	{ "tt_shm_updated_timestamp_seconds", "When tt-metal last changed its shared memory for the device.",
		.figure = UPDATED },
};

static const struct column exporter_columns[] = {
	{ "tenstorrent_power_watts", "Power that the chip takes (name of tt-exporter).", DEVICE(telemetry.power),
		.scale = 1e-6 },
	{ "tenstorrent_temperature_celsius", "Temperature of the chip (name of tt-exporter).", DEVICE(telemetry.temp),
		.scale = 1e-3 },
	{ "tenstorrent_aiclk_mhz", "Clock of the Tensix cores (name of tt-exporter).", DEVICE(telemetry.clock),
		.scale = 1 },
	{ "tenstorrent_active_workers", "Processes that use the device (name of tt-exporter).", .figure = PROCESSES },
	{ "tenstorrent_dram_used_bytes", "DRAM in use (name of tt-exporter).", DEVICE(kinds[TDM_KIND_DRAM].used) },
	{ "tenstorrent_l1_used_bytes", "L1 in use by buffers (name of tt-exporter).", DEVICE(kinds[TDM_KIND_L1].used) },
};

/* Families with one sample for each process, device and kind of memory held. */
static const struct column process_columns[] = {
	{ "", "holds", AMOUNT(reserved) },
	{ "_peak", "held at its peak", AMOUNT(peak) },
};

static void write_kind_columns(struct tdm_metrics *metrics, size_t k)
{
	const struct tdm_picture *picture = metrics->picture;
	const char *kind = tdm_kind_name((enum tdm_kind)k);
	char name[NAME_CAP], help[HELP_CAP];
	for (size_t c = 0; c < COUNT_OF(kind_columns); c++) {
		const struct column *column = &kind_columns[c];
		bool is_space = column->offset == offsetof(struct tdm_picture_kind, largest_free);
		snprintf(name, sizeof name, "tt_%s_%s", kind, column->name);
		snprintf(help, sizeof help, "Memory of kind %s %s.", kind, column->help);
		tdm_metrics_family(metrics->text, name, TDM_METRIC_GAUGE, help);
		for (size_t i = 0; i < picture->device_count; i++) {
			const struct tdm_picture_device *device = &picture->devices[i];
			if (is_shown(device, k) && !(is_space && space_is_old(picture, device)))
				tdm_metrics_u64(
					metrics->text, metrics->labels[i].data, member(column, &device->kinds[k]));
		}
	}
}

/* Writes the device columns. Figures from BUFFERS onwards have the kind as a label. */
static void write_columns(struct tdm_metrics *metrics, const struct column *columns, size_t count, bool is_exporter)
{
	const struct tdm_picture *picture = metrics->picture;
	for (const struct column *column = columns; column < columns + count; column++) {
		size_t kinds = column->figure >= BUFFERS ? TDM_KIND_COUNT : 1;
		tdm_metrics_family(metrics->text, column->name, TDM_METRIC_GAUGE, column->help);
		for (size_t at = 0; at < picture->device_count * kinds; at++) {
			size_t i = at / kinds, k = at % kinds;
			const struct tdm_picture_device *device = &picture->devices[i];
			const struct tdm_reading *reading = (const void *)((const char *)device + column->offset);
			if (kinds > 1 && !is_shown(device, k))
				continue;
			const char *labels = is_exporter ? exporter_labels(metrics, device)
					     : kinds > 1 ? labels_of_kind(metrics, i, k)
							 : metrics->labels[i].data;
			if (labels == NULL)
				continue;
			if (column->figure != MEMBER)
				tdm_metrics_real(metrics->text, labels, figure_of(picture, device, k, column->figure));
			else if (column->scale == 0 && is_chip(device))
				tdm_metrics_u64(metrics->text, labels, member(column, device));
			else if (column->scale != 0 && reading->is_known)
				tdm_metrics_real(metrics->text, labels, (double)reading->value * column->scale);
		}
	}
}

/* Writes the device counters, which outlive processes. */
static void write_counters(struct tdm_metrics *metrics)
{
	const struct tdm_picture *picture = metrics->picture;
	for (size_t c = 0; c <= COUNTERS; c++) {
		if (c < COUNTERS)
			tdm_metrics_family(metrics->text, counters[c].name, TDM_METRIC_COUNTER, counters[c].help);
		else
			tdm_metrics_family(metrics->text, "tt_lost_events", TDM_METRIC_COUNTER,
				"Events of programs that are missing in their ledgers.");
		for (size_t i = 0; i < picture->device_count; i++) {
			const struct counts *sums =
				is_chip(&picture->devices[i]) ? find_counts(metrics, 0, picture->devices[i].key) : NULL;
			if (sums != NULL && c == COUNTERS)
				tdm_metrics_u64(metrics->text, metrics->labels[i].data, sums->lost);
			for (size_t k = 0; k < TDM_KIND_COUNT && sums != NULL && c < COUNTERS; k++)
				if (k <= TDM_KIND_CB || sums->of[c][k] != 0)
					tdm_metrics_u64(metrics->text, labels_of_kind(metrics, i, k), sums->of[c][k]);
		}
	}
}

static void write_info(struct tdm_metrics *metrics)
{
	struct tdm_buf *more = &metrics->more;
	tdm_metrics_family(metrics->text, "tt_device", TDM_METRIC_INFO,
		"What a device is; number: the lowest logical one that a program uses, node: of /dev/tenstorrent.");
	for (size_t i = 0; i < metrics->picture->device_count; i++) {
		const struct tdm_picture_device *device = &metrics->picture->devices[i];
		labels_with(metrics, i, "card", device->card);
		if (device->number >= 0)
			label(more, "number", "%d", (int)device->number);
		if (device->node >= 0)
			label(more, "node", "%d", (int)device->node);
		tdm_metrics_label(more, "sort", device->is_board ? "board" : device->is_virtual ? "virtual" : "chip");
		tdm_metrics_u64(metrics->text, more->data, 1);
	}
}

static void write_leaks(struct tdm_metrics *metrics)
{
	const struct tdm_metrics_view *view = metrics->view;
	const struct tdm_picture *picture = metrics->picture;
	for (int is_bytes = 0; is_bytes < 2; is_bytes++) {
		tdm_metrics_family(metrics->text, is_bytes ? "tt_leak_suspect_bytes" : "tt_leak_suspects",
			TDM_METRIC_GAUGE,
			is_bytes ? "Memory that such places hold."
				 : "Places in programs whose buffers grow in a suspicious way.");
		for (size_t i = 0; i < view->leak_count; i++) {
			const struct tdm_metrics_leak *leak = &view->leaks[i];
			size_t device = 0;
			while (device < picture->device_count && picture->devices[device].key != leak->device)
				device++;
			if (device == picture->device_count)
				continue;
			labels_of_kind(metrics, device, leak->kind);
			tdm_metrics_label(&metrics->more, "verdict", leak->is_sure ? "leak" : "suspect");
			tdm_metrics_u64(metrics->text, metrics->more.data, is_bytes ? leak->bytes : leak->sites);
		}
	}
	tdm_metrics_family(metrics->text, "tt_leak_watch_age_seconds", TDM_METRIC_GAUGE,
		"Time since buffers were last judged; without it, nobody watches for leaks.");
	tdm_metrics_u64(metrics->text, "", view->leak_age_ns);
}

/* Writes the hazards of the traces that running processes have captured on a device; unknown if there are no traces. */
static void write_hazards(struct tdm_metrics *metrics)
{
	static const char *const states[TDM_HAZARD_STATES] = {
		[TDM_HAZARD_WAITS] = "waiting", [TDM_HAZARD_LIVE] = "live", [TDM_HAZARD_FREED] = "freed"
	};
	const struct tdm_picture *picture = metrics->picture;
	tdm_metrics_family(metrics->text, "tt_trace_hazards", TDM_METRIC_GAUGE,
		"Buffers that were allocated while a captured trace existed; live: a replay may have overwritten "
		"them.");
	for (size_t i = 0; i < picture->device_count; i++) {
		uint64_t counts[TDM_HAZARD_STATES] = { 0 };
		bool has_traces = false;
		for (size_t h = 0; h < picture->holding_count; h++) {
			const struct tdm_holding *holding = &picture->holdings[h];
			if (holding->device != i || holding->told.trace_count == 0 ||
				!tdm_picture_counts(&picture->processes[holding->process]))
				continue;
			has_traces = true;
			for (size_t k = 0; k < holding->told.hazard_count; k++) {
				uint64_t *count = &counts[holding->told.hazards[k].state % TDM_HAZARD_STATES];
				*count = tdm_plus(*count, holding->told.hazards[k].count);
			}
		}
		for (uint8_t state = 0; state < TDM_HAZARD_STATES && has_traces; state++)
			tdm_metrics_u64(metrics->text, labels_with(metrics, i, "state", states[state]), counts[state]);
	}
}

/* ---- processes --------------------------------------------------------------------------------------------------- */

/* Each pid has one series. If two processes seem to have the same pid, the first one in the list is shown. */
static bool shows_holding(const struct tdm_metrics *metrics, const struct tdm_holding *holding)
{
	const struct tdm_metrics_view *view = metrics->view;
	const struct tdm_picture_process *process = &metrics->picture->processes[holding->process], *other = process;
	bool is_first = true;
	for (size_t i = holding->process; i != 0 && other[-1].pid == process->pid && is_first; i--, other--)
		is_first = !tdm_picture_counts(&other[-1]) || other[-1].is_claimed;
	return is_first && tdm_picture_counts(process) && !process->is_claimed &&
	       (view->sees_all || (view->uid != TDM_UID_UNKNOWN && process->uid == view->uid)) &&
	       is_chip(&metrics->picture->devices[holding->device]);
}

static bool is_used(const struct tdm_counter *amount)
{
	return tdm_is_some(amount->reserved) || tdm_is_some(amount->peak);
}

static void write_process_kind(struct tdm_metrics *metrics, size_t k)
{
	const struct tdm_picture *picture = metrics->picture;
	const char *kind = tdm_kind_name((enum tdm_kind)k);
	char name[NAME_CAP], help[HELP_CAP];
	for (size_t c = 0; c < COUNT_OF(process_columns); c++) {
		const struct column *column = &process_columns[c];
		snprintf(name, sizeof name, "tt_process_%s%s_bytes", kind, column->name);
		snprintf(help, sizeof help, "Memory of kind %s that a process %s on a device.", kind, column->help);
		tdm_metrics_family(metrics->text, name, TDM_METRIC_GAUGE, help);
		for (size_t i = 0; i < picture->holding_count; i++) {
			const struct tdm_holding *holding = &picture->holdings[i];
			const struct tdm_counter *amount = &holding->kinds[k];
			/*
			 * A kind that the process has never used is left out, except DRAM, which shows that the process
			 * exists.
			 */
			if (member(column, amount) != TDM_BYTES_UNKNOWN && (k == TDM_KIND_DRAM || is_used(amount)) &&
				shows_holding(metrics, holding)) {
				/* The device's labels, then the process's labels. */
				const struct tdm_buf *who = &metrics->labels[picture->device_count + holding->process];
				labels_with(metrics, holding->device, "", "");
				tdm_buf_putc(&metrics->more, ',');
				tdm_buf_add(&metrics->more, who->data, who->len);
				tdm_metrics_u64(metrics->text, metrics->more.data, member(column, amount));
			}
		}
	}
}

/* ---- tt-exporter ------------------------------------------------------------------------------------------------- */

static void write_exporter(struct tdm_metrics *metrics)
{
	const struct tdm_picture *picture = metrics->picture;
	struct tdm_buf *more = &metrics->more;
	write_columns(metrics, exporter_columns, COUNT_OF(exporter_columns), true);
	tdm_metrics_family(metrics->text, "tenstorrent_chip_dram_used_bytes", TDM_METRIC_GAUGE,
		"DRAM in use on a chip of the device, as tt-metal counts it (name of tt-exporter).");
	for (size_t i = 0; i < picture->device_count; i++)
		for (uint32_t c = 0; c < tdm_min(picture->devices[i].chip_count, TDM_PICTURE_CHIPS_MAX); c++) {
			const struct tdm_picture_chip *chip = &picture->devices[i].chips[c];
			if (exporter_labels(metrics, &picture->devices[i]) == NULL)
				continue;
			label(more, "chip_id", "%" PRIu32, chip->chip);
			tdm_metrics_label(more, "is_remote", chip->is_remote ? "true" : "false");
			tdm_metrics_u64(metrics->text, more->data, chip->bytes[TDM_KIND_DRAM]);
		}
	tdm_metrics_family(metrics->text, "tenstorrent_proc_dram_used_bytes", TDM_METRIC_GAUGE,
		"DRAM that a process holds (name of tt-exporter).");
	for (size_t i = 0; i < picture->holding_count && metrics->has_processes; i++) {
		const struct tdm_holding *holding = &picture->holdings[i];
		const struct tdm_picture_process *process = &picture->processes[holding->process];
		if (!shows_holding(metrics, holding) ||
			exporter_labels(metrics, &picture->devices[holding->device]) == NULL)
			continue;
		label(more, "pid", "%" PRId32, process->pid);
		tdm_metrics_label(more, "process_name", process->comm);
		tdm_metrics_u64(metrics->text, more->data, holding->kinds[TDM_KIND_DRAM].reserved);
	}
}

/* ---- tt-telemetry, whose megabytes are rounded MiB; the place in the rack is unknown here --------------------- */

/* Writes no sample if the bytes are unknown. */
static void write_mebibytes(struct tdm_metrics *metrics, const struct tdm_picture_device *device, uint64_t bytes)
{
	enum { SHIFT = 20 };
	char host[256] = "";
	gethostname(host, sizeof host - 1);
	tdm_buf_clear(&metrics->more);
	tdm_metrics_label(&metrics->more, "hostname", host);
	if (device != NULL)
		label(&metrics->more, "chip", "%" PRIu32, device->place);
	tdm_metrics_label(&metrics->more, "unit", "MB");
	if (bytes != TDM_BYTES_UNKNOWN)
		tdm_metrics_u64(metrics->text, metrics->more.data, (bytes >> SHIFT) + (bytes >> (SHIFT - 1) & 1));
}

static void write_telemetry(struct tdm_metrics *metrics)
{
	static const char *const names[] = { "tt_device_dram_used_megabytes", "tt_dram_used_megabytes",
		"tt_device_dram_total_megabytes", "tt_dram_total_megabytes" };
	static const char *const help[] = { "DRAM in use, in MiB (name of tt-telemetry).",
		"DRAM that there is, in MiB (name of tt-telemetry)." };
	const struct tdm_picture *picture = metrics->picture;
	uint64_t processes = 0;
	for (size_t is_total = 0; is_total < 2; is_total++) {
		uint64_t sum = TDM_BYTES_UNKNOWN;
		tdm_metrics_family(metrics->text, names[2 * is_total], TDM_METRIC_GAUGE, help[is_total]);
		for (size_t i = 0; i < picture->device_count; i++) {
			const struct tdm_picture_device *device = &picture->devices[i];
			const struct tdm_picture_kind *dram = &device->kinds[TDM_KIND_DRAM];
			uint64_t bytes = is_total ? dram->total : dram->used;
			if (!is_chip(device) || bytes == TDM_BYTES_UNKNOWN)
				continue;
			write_mebibytes(metrics, device, bytes);
			sum = tdm_plus(sum != TDM_BYTES_UNKNOWN ? sum : 0, bytes);
		}
		tdm_metrics_family(metrics->text, names[2 * is_total + 1], TDM_METRIC_GAUGE, help[is_total]);
		write_mebibytes(metrics, NULL, sum);
	}
	for (size_t i = 0; i < picture->process_count; i++)
		processes += tdm_picture_counts(&picture->processes[i]);
	tdm_metrics_family(metrics->text, "tt_process_count", TDM_METRIC_GAUGE,
		"Processes that use a device (name of tt-telemetry).");
	tdm_metrics_u64(metrics->text, "", processes);
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

static void write_sources(struct tdm_metrics *metrics)
{
	static const struct column families[] = {
		{ .name = "tt_source_last_collect_success",
			.help = "Whether a source could be read; 0: its figures are missing." },
		{ .name = "tt_source_age_seconds", .help = "Time since a source could last be read." },
		{ .name = "tt_source_problems", .help = "Files of a source that could not be read." },
	};
	for (size_t f = 0; f < COUNT_OF(families); f++) {
		tdm_metrics_family(metrics->text, families[f].name, TDM_METRIC_GAUGE, families[f].help);
		for (size_t i = 0; i < metrics->view->source_count; i++) {
			const struct tdm_metrics_source *source = &metrics->view->sources[i];
			const uint64_t values[] = { !source->failed, source->age_ns, source->problems };
			tdm_buf_clear(&metrics->more);
			tdm_metrics_label(&metrics->more, "source", tdm_from_name((enum tdm_from)source->from));
			tdm_metrics_u64(metrics->text, metrics->more.data, values[f]);
		}
	}
}

void tdm_metrics_write(struct tdm_metrics *metrics, const struct tdm_metrics_view *view, struct tdm_metrics_text *text)
{
	metrics->view = view;
	metrics->picture = view->picture;
	metrics->text = text;
	write_sources(metrics);
	if (view->picture == NULL)
		return;
	label_all(metrics);
	write_info(metrics);
	for (size_t k = 0; k < TDM_KIND_COUNT; k++)
		write_kind_columns(metrics, k);
	write_columns(metrics, by_kind_columns, COUNT_OF(by_kind_columns), false);
	write_counters(metrics);
	write_columns(metrics, device_columns, COUNT_OF(device_columns), false);
	write_hazards(metrics);
	if (view->leak_age_ns != TDM_BYTES_UNKNOWN)
		write_leaks(metrics);
	/* DRAM, and every kind used by any process. For other kinds, no holdings need to be read. */
	uint32_t kinds = 1 << TDM_KIND_DRAM;
	for (size_t at = 0; at < view->picture->holding_count * TDM_KIND_COUNT; at++)
		if (is_used(&view->picture->holdings[at / TDM_KIND_COUNT].kinds[at % TDM_KIND_COUNT]))
			kinds |= 1U << at % TDM_KIND_COUNT;
	for (size_t k = 0; k < TDM_KIND_COUNT && metrics->has_processes; k++)
		if ((kinds >> k & 1) != 0)
			write_process_kind(metrics, k);
	if ((metrics->names & TDM_METRIC_NAMES_TT_EXPORTER) != 0)
		write_exporter(metrics);
	if ((metrics->names & TDM_METRIC_NAMES_TT_TELEMETRY) != 0)
		write_telemetry(metrics);
}
