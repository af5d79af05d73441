#include "base/clock.h"
#include "base/units.h"
#include "registry/registry_parts.h"

#include <stdlib.h>

void tdm_snapshot_free(struct tdm_snapshot *snapshot)
{
	if (snapshot == NULL)
		return;
	for (size_t i = 0; i < snapshot->process_count; i++) {
		struct tdm_snapshot_process *process = &snapshot->processes[i];
		for (size_t m = 0; m < process->module_count; m++)
			free(process->modules[m].path);
		free((void *)(uintptr_t)process->modules);
		free(process->place);
	}
	for (uint32_t i = 0; i < snapshot->text_count; i++)
		free(snapshot->texts[i]);
	free(snapshot->texts);
	free(snapshot->stacks);
	free(snapshot->frames);
	free(snapshot->range_lists);
	free(snapshot->ranges);
	free(snapshot->processes);
	free(snapshot->devices);
	free(snapshot->holdings);
	free(snapshot->buffers);
	free(snapshot);
}

const char *tdm_snapshot_text(const struct tdm_snapshot *snapshot, uint32_t number)
{
	return number < snapshot->text_count ? snapshot->texts[number] : "";
}

const struct tdm_kept_frame *tdm_snapshot_stack(const struct tdm_snapshot *snapshot, uint32_t number, uint32_t *count)
{
	*count = 0;
	if (number == 0 || number >= snapshot->stack_count)
		return NULL;
	*count = snapshot->stacks[number].count;
	return snapshot->frames + snapshot->stacks[number].first;
}

const struct tdm_core_range *tdm_snapshot_ranges(const struct tdm_snapshot *snapshot, uint32_t number, uint32_t *count)
{
	*count = 0;
	if (number == 0 || number >= snapshot->range_list_count)
		return NULL;
	*count = snapshot->range_lists[number].count;
	return snapshot->ranges + snapshot->range_lists[number].first;
}

/* Figures of a holding: the sums of its buffers, with what the producer says where it knows better. */
static struct tdm_figures figures_of(const struct tdm_account *account)
{
	const struct tdm_usage *usage = &account->usage;
	struct tdm_figures f = {
		.reserved_bytes = account->now.reserved,
		.peak_reserved_bytes = tdm_max(account->peak.reserved, usage->peak_reserved_bytes),
		.occupied_bytes = account->now.occupied,
		.peak_occupied_bytes = account->peak.occupied,
		.asked_bytes = account->now.asked,
		.peak_asked_bytes = tdm_max(account->peak.asked, usage->peak_asked_bytes),
		.buffers = account->now.buffers,
		.peak_buffers = tdm_max(account->peak.buffers, usage->peak_buffers),
		.allocs = tdm_plus(account->allocs, usage->allocs),
		.double_frees = tdm_plus(account->double_frees, usage->double_frees),
		.unknown_frees = tdm_plus(account->unknown_frees, usage->unknown_frees),
		.rereports = tdm_plus(account->rereports, usage->rereports),
		.out_of_memory = tdm_plus(account->out_of_memory, usage->out_of_memory),
		.oom_bytes = account->oom_bytes,
		.peak_ns = usage->peak_reserved_bytes >= account->peak.reserved && usage->peak_ns != 0
				   ? usage->peak_ns
				   : account->peak_ns,
		.has_usage = account->has_usage,
	};
	f.differs = account->has_usage &&
		    (usage->reserved_bytes != account->now.reserved || usage->buffers != account->now.buffers);
	return f;
}

static struct tdm_figures figures_left(const struct tdm_sums *sums)
{
	return (struct tdm_figures){
		.reserved_bytes = sums->reserved,
		.occupied_bytes = sums->occupied,
		.asked_bytes = sums->asked,
		.buffers = sums->buffers,
	};
}

static bool copy_texts(struct tdm_snapshot *s, const struct tdm_intern *intern)
{
	s->texts = calloc(intern->text_count, sizeof *s->texts);
	s->stacks = malloc(intern->stack_count * sizeof *s->stacks);
	s->frames = malloc((intern->frame_count + (size_t)1) * sizeof *s->frames);
	if (s->texts == NULL || s->stacks == NULL || s->frames == NULL)
		return false;
	for (; s->text_count < intern->text_count; s->text_count++) {
		s->texts[s->text_count] = strdup(intern->texts[s->text_count]);
		if (s->texts[s->text_count] == NULL)
			return false;
	}
	memcpy(s->stacks, intern->stacks, intern->stack_count * sizeof *s->stacks);
	if (intern->frame_count != 0)
		memcpy(s->frames, intern->frames, intern->frame_count * sizeof *s->frames);
	s->stack_count = intern->stack_count;
	return true;
}

static bool copy_ranges(struct tdm_snapshot *s, const struct tdm_intern *intern)
{
	s->range_lists = malloc(intern->range_list_count * sizeof *s->range_lists);
	s->ranges = malloc((intern->range_count + (size_t)1) * sizeof *s->ranges);
	if (s->range_lists == NULL || s->ranges == NULL)
		return false;
	memcpy(s->range_lists, intern->range_lists, intern->range_list_count * sizeof *s->range_lists);
	if (intern->range_count != 0)
		memcpy(s->ranges, intern->ranges, intern->range_count * sizeof *s->ranges);
	s->range_list_count = intern->range_list_count;
	return true;
}

/* Devices in use, in the order of the registry; place[i] is where the registry's i-th one is. */
static void copy_devices(struct tdm_snapshot *s, const struct tdm_registry *reg, uint32_t *place)
{
	for (uint32_t i = 0; i < reg->device_count; i++) {
		const struct tdm_reg_device *device = &reg->devices[i];
		if (!device->used)
			continue;
		struct tdm_snapshot_device *to = &s->devices[s->device_count];
		*to = (struct tdm_snapshot_device){
			.is_weak = device->is_weak,
			.is_virtual = device->is_virtual,
			.has_info = device->has_info,
			.number = device->number,
			.info = device->info,
		};
		for (unsigned k = 0; k < TDM_KIND_COUNT; k++) {
			to->kinds[k] = figures_of(&device->kinds[k]);
			to->left[k] = figures_left(&device->left[k]);
		}
		place[i] = (uint32_t)s->device_count++;
	}
}

static void copy_buffers(struct tdm_snapshot *s, const struct tdm_registry *reg, const struct tdm_reg_holding *from,
	struct tdm_holding *to)
{
	to->first_buffer = s->buffer_count;
	for (unsigned k = 0; k < TDM_KIND_COUNT; k++) {
		const struct tdm_map *map = &from->by_id[k];
		for (size_t i = 0; map->values != NULL && i <= map->mask; i++) {
			if (map->values[i] == TDM_MAP_NONE)
				continue;
			s->buffers[s->buffer_count] = reg->buffers[map->values[i]];
			s->buffers[s->buffer_count++].holding = (uint32_t)(to - s->holdings);
		}
	}
	to->buffer_count = s->buffer_count - to->first_buffer;
}

/* Sums over the processes that no producer keeps for a device: faults and allocations. */
static void add_to_device(struct tdm_figures *device, const struct tdm_figures *holding)
{
	device->allocs = tdm_plus(device->allocs, holding->allocs);
	device->double_frees = tdm_plus(device->double_frees, holding->double_frees);
	device->unknown_frees = tdm_plus(device->unknown_frees, holding->unknown_frees);
	device->rereports = tdm_plus(device->rereports, holding->rereports);
	device->out_of_memory = tdm_plus(device->out_of_memory, holding->out_of_memory);
	device->has_usage |= holding->has_usage;
	device->differs |= holding->differs;
}

static void copy_holdings(struct tdm_snapshot *s, const struct tdm_registry *reg, const struct tdm_reg_process *process,
	const uint32_t *place, unsigned flags)
{
	for (uint32_t i = 0; i < process->holding_count; i++) {
		const struct tdm_reg_holding *from = process->holdings[i];
		struct tdm_holding *to = &s->holdings[s->holding_count++];
		*to = (struct tdm_holding){
			.process = (uint32_t)s->process_count,
			.device = place[from->device],
			.number = from->number & ~TDM_DEVICE_VIRTUAL_BIT,
			.lost = from->lost,
			.program = from->program,
		};
		for (unsigned k = 0; k < TDM_KIND_COUNT; k++) {
			struct tdm_snapshot_device *device = &s->devices[to->device];
			to->kinds[k] = figures_of(&from->kinds[k]);
			add_to_device(tdm_process_runs(process) ? &device->kinds[k] : &device->left[k], &to->kinds[k]);
		}
		if ((flags & TDM_SNAPSHOT_BUFFERS) != 0)
			copy_buffers(s, reg, from, to);
	}
}

static bool copy_modules(struct tdm_snapshot_process *to, const struct tdm_reg_process *from)
{
	struct tdm_module *modules = calloc(from->module_count + 1, sizeof *modules);
	to->modules = modules;
	for (size_t i = 0; modules != NULL && i < from->module_count; i++) {
		modules[i] = from->modules[i];
		modules[i].path = strdup(from->modules[i].path);
		if (modules[i].path == NULL)
			return false;
		to->module_count++;
	}
	return modules != NULL;
}

static bool copy_process(struct tdm_snapshot *s, const struct tdm_registry *reg, const struct tdm_reg_process *from,
	const uint32_t *place, unsigned flags)
{
	struct tdm_snapshot_process *to = &s->processes[s->process_count];
	*to = (struct tdm_snapshot_process){
		.has_who = from->has_who,
		.who = from->who,
		.origin = from->origin,
		.phase = from->phase,
		.phase_count = from->phase_count,
		.lost = tdm_plus(from->lost, from->has_who ? from->who.lost : 0),
		.refused = tdm_plus(from->refused, from->has_who ? from->who.refused : 0),
		.first_holding = (uint32_t)s->holding_count,
		.holding_count = from->holding_count,
	};
	copy_holdings(s, reg, from, place, flags);
	to->place = from->place != NULL ? strdup(from->place) : NULL;
	bool good = copy_modules(to, from) && (to->place != NULL || from->place == NULL);
	s->process_count++;
	return good;
}

static bool allocate(struct tdm_snapshot *s, const struct tdm_registry *reg, unsigned flags)
{
	size_t holdings = 0;
	for (uint32_t i = 0; i < reg->process_count; i++)
		holdings += reg->processes[i].holding_count;
	s->processes = calloc(reg->process_count + (size_t)1, sizeof *s->processes);
	s->devices = calloc(reg->device_count + (size_t)1, sizeof *s->devices);
	s->holdings = calloc(holdings + 1, sizeof *s->holdings);
	s->buffers = calloc((flags & TDM_SNAPSHOT_BUFFERS) != 0 ? (size_t)reg->live + 1 : 1, sizeof *s->buffers);
	return s->processes != NULL && s->devices != NULL && s->holdings != NULL && s->buffers != NULL;
}

struct tdm_snapshot *tdm_registry_snapshot(const struct tdm_registry *reg, unsigned flags)
{
	struct tdm_snapshot *s = calloc(1, sizeof *s);
	uint32_t *place = calloc(reg->device_count + (size_t)1, sizeof *place);
	bool good = s != NULL && place != NULL && allocate(s, reg, flags) && copy_texts(s, &reg->intern) &&
		    copy_ranges(s, &reg->intern);
	if (good) {
		s->time_ns = tdm_clock_ns();
		s->refused = reg->refused;
		s->ignored = reg->ignored;
		copy_devices(s, reg, place);
	}
	for (uint32_t i = 0; good && i < reg->process_count; i++)
		if (reg->processes[i].used)
			good = copy_process(s, reg, &reg->processes[i], place, flags);
	free(place);
	if (!good) {
		tdm_snapshot_free(s);
		return NULL;
	}
	return s;
}
