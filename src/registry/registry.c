#include "registry/registry_parts.h"
#include "base/reserve.h"

#include <errno.h>
#include <stdlib.h>

enum { CHECKED_BUFFERS_MAX = 64 }; /* checked builds look at everything after every event up to so many buffers */

struct tdm_registry *tdm_registry_new(void)
{
	struct tdm_registry *reg = calloc(1, sizeof *reg);
	if (reg == NULL)
		return NULL;
	reg->spare = TDM_MAP_NONE;
	if (tdm_intern_init(&reg->intern) != 0) {
		free(reg);
		return NULL;
	}
	return reg;
}

static void process_done(struct tdm_registry *reg, struct tdm_reg_process *process);

void tdm_registry_free(struct tdm_registry *reg)
{
	if (reg == NULL)
		return;
	for (uint32_t i = 0; i < reg->process_count; i++)
		process_done(reg, &reg->processes[i]);
	for (unsigned i = 0; i < reg->origin_count; i++)
		tdm_map_done(&reg->origins[i].by_number);
	tdm_intern_done(&reg->intern);
	free(reg->processes);
	free(reg->devices);
	free(reg->buffers);
	free(reg);
}

int tdm_registry_origin(struct tdm_registry *reg, const char *name, unsigned rank)
{
	if (reg->origin_count == TDM_ORIGINS_MAX)
		return -ENOSPC;
	struct tdm_reg_origin *origin = &reg->origins[reg->origin_count];
	*origin = (struct tdm_reg_origin){ .name = name, .rank = rank };
	int err = tdm_map_init(&origin->by_number);
	return err != 0 ? err : (int)reg->origin_count++;
}

const char *tdm_registry_origin_name(const struct tdm_registry *reg, unsigned origin)
{
	return origin < reg->origin_count ? reg->origins[origin].name : "unknown";
}

/* Buffers. */

static int buffer_new(struct tdm_registry *reg, uint32_t *index)
{
	if (reg->spare != TDM_MAP_NONE) {
		*index = reg->spare;
		reg->spare = reg->buffers[*index].holding;
		return 0;
	}
	if (reg->buffer_used == reg->buffer_cap) {
		uint64_t cap = reg->buffer_cap != 0 ? (uint64_t)reg->buffer_cap * 2 : 64;
		struct tdm_buffer *buffers =
			cap < TDM_MAP_NONE ? realloc(reg->buffers, (size_t)cap * sizeof *buffers) : NULL;
		if (buffers == NULL)
			return -ENOMEM;
		reg->buffers = buffers;
		reg->buffer_cap = (uint32_t)cap;
	}
	*index = reg->buffer_used++;
	return 0;
}

static void buffer_drop(struct tdm_registry *reg, uint32_t index)
{
	reg->buffers[index] = (struct tdm_buffer){ .holding = reg->spare };
	reg->spare = index;
}

/* Removes all buffers of a holding from the sums and from the table. */
static void holding_clear(struct tdm_registry *reg, struct tdm_reg_process *process, struct tdm_reg_holding *holding)
{
	for (unsigned k = 0; k < TDM_KIND_COUNT; k++) {
		struct tdm_map *map = &holding->by_id[k];
		for (size_t i = 0; map->values != NULL && i <= map->mask; i++) {
			if (map->values[i] == TDM_MAP_NONE)
				continue;
			tdm_sums_take(reg, process, holding, &reg->buffers[map->values[i]]);
			buffer_drop(reg, map->values[i]);
			reg->live--;
		}
		tdm_map_done(map);
	}
}

static void process_clear(struct tdm_registry *reg, struct tdm_reg_process *process)
{
	for (uint32_t i = 0; i < process->holding_count; i++)
		holding_clear(reg, process, process->holdings[i]);
}

/* Processes. */

static void process_done(struct tdm_registry *reg, struct tdm_reg_process *process)
{
	if (!process->used)
		return;
	process_clear(reg, process);
	for (uint32_t i = 0; i < process->holding_count; i++)
		tdm_holding_free(reg, process, process->holdings[i]);
	for (size_t i = 0; i < process->module_count; i++)
		free(process->modules[i].path);
	free(process->modules);
	free(process->holdings);
	free(process->place);
	*process = (struct tdm_reg_process){ 0 };
}

static int process_new(struct tdm_registry *reg, unsigned origin, uint32_t *index)
{
	uint32_t at = 0;
	while (at < reg->process_count && reg->processes[at].used)
		at++;
	if (at == TDM_PROCESSES_MAX)
		return -EOVERFLOW;
	if (at == reg->process_cap) {
		uint32_t cap = reg->process_cap != 0 ? reg->process_cap * 2 : 16;
		struct tdm_reg_process *processes = realloc(reg->processes, cap * sizeof *processes);
		if (processes == NULL)
			return -ENOMEM;
		reg->processes = processes;
		reg->process_cap = cap;
	}
	reg->process_count += at == reg->process_count;
	reg->processes[at] = (struct tdm_reg_process){ .used = true, .origin = origin };
	*index = at;
	return 0;
}

static uint32_t find_identity(const struct tdm_registry *reg, const struct tdm_process *who)
{
	for (uint32_t i = 0; i < reg->process_count; i++)
		if (reg->processes[i].used && reg->processes[i].has_who &&
			tdm_process_is_same(&reg->processes[i].who, who))
			return i;
	return TDM_INDEX_NONE;
}

/* The process that this origin means by the event's number; one that nobody described yet is unattributed. */
static int get_process(
	struct tdm_registry *reg, unsigned origin, const struct tdm_event *event, struct tdm_reg_process **process)
{
	uint32_t index = tdm_map_find(&reg->origins[origin].by_number, event->process);
	if (index == TDM_MAP_NONE) {
		int err = process_new(reg, origin, &index);
		if (err == 0)
			err = tdm_map_put(&reg->origins[origin].by_number, event->process, index);
		if (err != 0)
			return err;
	}
	*process = &reg->processes[index];
	return 0;
}

/* Sets who a process is; its life may change with that, and whether its devices count what it holds. */
static void set_who(struct tdm_registry *reg, struct tdm_reg_process *process, const struct tdm_process *who)
{
	tdm_process_settle(reg, process, false);
	process->who = *who;
	process->has_who = true;
	tdm_process_settle(reg, process, true);
}

static int apply_process(struct tdm_registry *reg, unsigned origin, const struct tdm_event *event)
{
	struct tdm_map *map = &reg->origins[origin].by_number;
	uint32_t bound = tdm_map_find(map, event->process), known = find_identity(reg, event->who);
	bool is_other = bound != TDM_MAP_NONE && reg->processes[bound].has_who &&
			!tdm_process_is_same(&reg->processes[bound].who, event->who);
	if (known == TDM_INDEX_NONE && bound != TDM_MAP_NONE && !is_other)
		known = bound; /* it was unattributed so far */
	if (known == TDM_INDEX_NONE) {
		int err = process_new(reg, origin, &known);
		if (err != 0)
			return err;
	}
	if (bound != known) {
		/* What came under this number before anybody said whose it is was a part of what is known better now.
		 */
		if (bound != TDM_MAP_NONE && !reg->processes[bound].has_who)
			process_done(reg, &reg->processes[bound]);
		int err = tdm_map_put(map, event->process, known);
		if (err != 0)
			return err;
	}
	struct tdm_reg_process *process = &reg->processes[known];
	if (process->origin != origin) {
		if (reg->origins[origin].rank <= reg->origins[process->origin].rank) {
			reg->ignored++;
			return 0;
		}
		process_clear(reg, process);
		process->origin = origin;
	}
	set_who(reg, process, event->who);
	if (event->name.len == 0)
		return 0;
	free(process->place);
	process->place = strndup(event->name.ptr, event->name.len);
	return process->place != NULL ? 0 : -ENOMEM;
}

static int apply_module(struct tdm_reg_process *process, const struct tdm_event *event)
{
	if (process->module_count == TDM_MODULES_MAX)
		return -EOVERFLOW;
	for (size_t i = 0; i < process->module_count; i++)
		if (process->modules[i].address == event->address &&
			tdm_str_is(event->name, process->modules[i].path)) {
			process->modules[i].size = event->size;
			return 0;
		}
	if (tdm_reserve(&process->modules, &process->module_cap, process->module_count + 1, sizeof *process->modules) !=
		0)
		return -ENOMEM;
	char *path = strndup(event->name.ptr, event->name.len);
	if (path == NULL)
		return -ENOMEM;
	process->modules[process->module_count++] = (struct tdm_module){ event->address, event->size, path };
	return 0;
}

/* Allocations and frees. */

static struct tdm_freed *freed_cell(
	struct tdm_registry *reg, const struct tdm_reg_process *process, const struct tdm_event *event)
{
	uint64_t where = (uint64_t)(process - reg->processes) << 32 ^ event->device ^ (uint64_t)event->kind << 24;
	return &reg->freed[tdm_hash_u64(event->id ^ tdm_hash_u64(where)) % TDM_FREED_CELLS];
}

static bool is_in_cell(const struct tdm_freed *cell, const struct tdm_registry *reg,
	const struct tdm_reg_process *process, const struct tdm_event *event)
{
	return cell->used && cell->id == event->id && cell->process == (uint32_t)(process - reg->processes) &&
	       cell->number == event->device && cell->kind == event->kind;
}

/* Takes the buffer out if it is there. */
static bool take_buffer(struct tdm_registry *reg, struct tdm_reg_process *process, struct tdm_reg_holding *holding,
	unsigned kind, uint64_t id)
{
	struct tdm_map *map = &holding->by_id[kind];
	uint32_t index = map->values != NULL ? tdm_map_take(map, id) : TDM_MAP_NONE;
	if (index == TDM_MAP_NONE)
		return false;
	tdm_sums_take(reg, process, holding, &reg->buffers[index]);
	buffer_drop(reg, index);
	reg->live--;
	return true;
}

static struct tdm_buffer buffer_of(const struct tdm_event *event)
{
	struct tdm_buffer buffer = {
		.id = event->id,
		.address = event->address,
		.asked_bytes = event->size != TDM_SIZE_UNKNOWN ? event->size : 0,
		.bank_bytes = event->bytes_per_bank,
		.page_size = event->page_size,
		.born_ns = event->time_ns,
		.banks = event->banks,
		.holding_banks = event->holding,
		.cores = event->cores,
		.thread = event->thread,
		.flags = event->flags,
		.kind = event->kind,
	};
	if ((event->flags & TDM_EVENT_VIEW) != 0)
		return buffer;
	/* Without banks the size that was asked for is the best there is. */
	buffer.reserved_bytes = buffer.occupied_bytes = buffer.asked_bytes;
	if (event->bytes_per_bank != TDM_SIZE_UNKNOWN && event->banks != 0) {
		buffer.reserved_bytes = event->bytes_per_bank * event->banks;
		buffer.occupied_bytes = event->bytes_per_bank * (event->holding != 0 ? event->holding : event->banks);
	}
	return buffer;
}

static bool has_room(const struct tdm_reg_process *process, const struct tdm_buffer *buffer)
{
	return buffer->reserved_bytes <= TDM_PROCESS_BYTES_MAX - process->total.reserved &&
	       buffer->occupied_bytes <= TDM_PROCESS_BYTES_MAX - process->total.occupied &&
	       buffer->asked_bytes <= TDM_PROCESS_BYTES_MAX - process->total.asked;
}

static int keep_texts(struct tdm_registry *reg, struct tdm_buffer *buffer, const struct tdm_event *event)
{
	int err = tdm_intern_text(&reg->intern, event->name, &buffer->name);
	if (err == 0)
		err = tdm_intern_text(&reg->intern, event->program, &buffer->program);
	if (err == 0)
		err = tdm_intern_stack(&reg->intern, event->frames, event->frame_count, &buffer->stack);
	if (err == 0)
		err = tdm_intern_ranges(&reg->intern, event->ranges, event->range_count, &buffer->ranges);
	return err;
}

static int apply_alloc(struct tdm_registry *reg, struct tdm_reg_process *process, const struct tdm_event *event)
{
	int err;
	uint32_t index;
	struct tdm_reg_holding *holding = tdm_holding_get(reg, process, event->device, &err);
	struct tdm_buffer buffer = buffer_of(event);
	if (holding == NULL)
		return err;
	struct tdm_map *map = &holding->by_id[event->kind];
	if (map->values == NULL && (err = tdm_map_init(map)) != 0)
		return err;
	err = keep_texts(reg, &buffer, event);
	if (err != 0)
		return err;
	/* A new report of a live buffer: its release was never seen. The old one is gone, whatever becomes of the new.
	 */
	if (take_buffer(reg, process, holding, event->kind, event->id))
		holding->kinds[event->kind].rereports++;
	if (!has_room(process, &buffer))
		return -EOVERFLOW;
	err = buffer_new(reg, &index);
	if (err != 0)
		return err;
	err = tdm_map_put(map, event->id, index);
	if (err != 0) {
		buffer_drop(reg, index);
		return err;
	}
	reg->buffers[index] = buffer;
	reg->live++;
	holding->kinds[event->kind].allocs++;
	tdm_sums_add(reg, process, holding, &buffer, event->time_ns);
	return 0;
}

static int apply_free(struct tdm_registry *reg, struct tdm_reg_process *process, const struct tdm_event *event)
{
	int err;
	struct tdm_reg_holding *holding = tdm_holding_get(reg, process, event->device, &err);
	if (holding == NULL)
		return err;
	struct tdm_freed *cell = freed_cell(reg, process, event);
	if (take_buffer(reg, process, holding, event->kind, event->id)) {
		*cell = (struct tdm_freed){ event->id, (uint32_t)(process - reg->processes), event->device, event->kind,
			true };
		return 0;
	}
	if (is_in_cell(cell, reg, process, event))
		holding->kinds[event->kind].double_frees++;
	else
		holding->kinds[event->kind].unknown_frees++;
	return 0;
}

/* Figures and names. */

/* What was counted here since the last word of the producer is in this one. */
static int apply_usage(struct tdm_registry *reg, struct tdm_reg_process *process, const struct tdm_event *event)
{
	int err;
	struct tdm_reg_holding *holding = tdm_holding_get(reg, process, event->device, &err);
	if (holding == NULL)
		return err;
	struct tdm_account *account = &holding->kinds[event->kind];
	struct tdm_account *all = &reg->devices[holding->device].kinds[event->kind];
	account->usage = *event->usage;
	account->has_usage = true;
	account->allocs = account->double_frees = account->unknown_frees = account->rereports = 0;
	account->out_of_memory = 0;
	account->oom_bytes = event->usage->oom_bytes;
	/* One process alone had this much, so that the device did, too. */
	if (tdm_process_runs(process) && event->usage->peak_reserved_bytes <= TDM_PROCESS_BYTES_MAX &&
		event->usage->peak_reserved_bytes > all->peak.reserved) {
		all->peak.reserved = event->usage->peak_reserved_bytes;
		all->peak_ns = event->usage->peak_ns;
	}
	return 0;
}

static int apply_oom(struct tdm_registry *reg, struct tdm_reg_process *process, const struct tdm_event *event)
{
	int err;
	struct tdm_reg_holding *holding = tdm_holding_get(reg, process, event->device, &err);
	if (holding == NULL)
		return err;
	holding->kinds[event->kind].out_of_memory++;
	holding->kinds[event->kind].oom_bytes = event->size;
	return 0;
}

static int apply_program(struct tdm_registry *reg, struct tdm_reg_process *process, const struct tdm_event *event)
{
	int err;
	struct tdm_reg_holding *holding = tdm_holding_get(reg, process, event->device, &err);
	return holding != NULL ? tdm_intern_text(&reg->intern, event->name, &holding->program) : err;
}

static int apply_device(struct tdm_registry *reg, struct tdm_reg_process *process, const struct tdm_event *event)
{
	int err;
	struct tdm_reg_holding *holding = tdm_holding_get(reg, process, event->device, &err);
	if (holding == NULL || event->about == NULL)
		return err; /* descriptions in text are for replays */
	return tdm_holding_describe(reg, process, holding, event->about);
}

static int apply_lost(struct tdm_registry *reg, struct tdm_reg_process *process, const struct tdm_event *event)
{
	int err;
	struct tdm_reg_holding *holding = tdm_holding_get(reg, process, event->device, &err);
	if (holding == NULL)
		return err;
	holding->lost += event->size;
	process->lost += event->size;
	return 0;
}

static int apply_to(struct tdm_registry *reg, struct tdm_reg_process *process, const struct tdm_event *event)
{
	switch ((enum tdm_op)event->op) {
	case TDM_OP_DEVICE:
		return apply_device(reg, process, event);
	case TDM_OP_ALLOC:
		return apply_alloc(reg, process, event);
	case TDM_OP_FREE:
		return apply_free(reg, process, event);
	case TDM_OP_PHASE:
		process->phase_count++;
		return tdm_intern_text(&reg->intern, event->name, &process->phase);
	case TDM_OP_PROGRAM:
		return apply_program(reg, process, event);
	case TDM_OP_OOM:
		return apply_oom(reg, process, event);
	case TDM_OP_USAGE:
		return apply_usage(reg, process, event);
	case TDM_OP_MODULE:
		return apply_module(process, event);
	case TDM_OP_CLEAR:
		process_clear(reg, process);
		return 0;
	case TDM_OP_LOST:
		return apply_lost(reg, process, event);
	default:
		return 0; /* questions to a model, and what is dealt with before */
	}
}

static int apply(struct tdm_registry *reg, unsigned origin, const struct tdm_event *event)
{
	struct tdm_reg_process *process;
	if (event->op == TDM_OP_PROCESS)
		return apply_process(reg, origin, event);
	int err = get_process(reg, origin, event, &process);
	if (err != 0)
		return err;
	if (process->origin != origin) {
		reg->ignored++;
		return 0;
	}
	err = apply_to(reg, process, event);
	if (err == -EOVERFLOW)
		process->refused++;
	return err;
}

int tdm_registry_apply(struct tdm_registry *reg, unsigned origin, const struct tdm_event *event)
{
	bool is_valid = origin < reg->origin_count && tdm_event_is_valid(event);
	int err = is_valid ? apply(reg, origin, event) : -EINVAL;
	if (err == -EINVAL || err == -EOVERFLOW)
		reg->refused++;
	if (TDM_CHECKED && reg->live <= CHECKED_BUFFERS_MAX && !tdm_registry_is_valid(reg))
		abort();
	return err;
}

int tdm_registry_read(struct tdm_registry *reg, unsigned origin, struct tdm_source *source)
{
	struct tdm_event event;
	struct tdm_diag diag = { 0 };
	int got;
	while ((got = tdm_source_next(source, &event, &diag)) != 0) {
		int err = got > 0 ? tdm_registry_apply(reg, origin, &event) : got;
		if (err == -ENOMEM)
			return err;
	}
	return 0;
}

const struct tdm_process *tdm_registry_find(const struct tdm_registry *reg, const struct tdm_process *identity)
{
	uint32_t index = find_identity(reg, identity);
	return index != TDM_INDEX_NONE ? &reg->processes[index].who : NULL;
}

int tdm_registry_forget(struct tdm_registry *reg, const struct tdm_process *identity)
{
	uint32_t index = find_identity(reg, identity);
	if (index == TDM_INDEX_NONE)
		return -ENOENT;
	/* No origin may mean by its number whoever gets this place next. */
	for (unsigned o = 0; o < reg->origin_count; o++) {
		struct tdm_map *map = &reg->origins[o].by_number;
		for (size_t i = 0; i <= map->mask;) {
			if (map->values[i] == index)
				tdm_map_take(map, map->keys[i]); /* another one may have moved into the cell */
			else
				i++;
		}
	}
	process_done(reg, &reg->processes[index]);
	return 0;
}
