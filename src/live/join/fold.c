#include "live/join/fold.h"
#include "base/memory.h"

#include <errno.h>
#include <stdlib.h>

/* More than any source has. */
enum { TRACES_MAX = 4096, HAZARDS_MAX = 4096, NOTES_MAX = 4096 };

void tdm_fold_init(struct tdm_fold *fold)
{
	*fold = (struct tdm_fold){ 0 };
	tdm_intern_init(&fold->texts);
}

static void kind_clear(struct tdm_fold_kind *kind)
{
	if (kind->is_indexed)
		tdm_map_done(&kind->by_id);
	free(kind->buffers);
	kind->buffers = NULL;
	kind->count = kind->cap = 0;
	kind->reserved = kind->occupied = kind->asked = kind->estimated = 0;
	kind->is_indexed = false;
}

static void told_free(const struct tdm_told *told)
{
	free((void *)(uintptr_t)told->traces);
	free((void *)(uintptr_t)told->hazards);
	free((void *)(uintptr_t)told->clashes);
}

static void process_free(struct tdm_fold_process *process)
{
	for (size_t i = 0; i < process->holding_count; i++) {
		for (unsigned k = 0; k < TDM_KIND_COUNT; k++)
			kind_clear(&process->holdings[i]->kinds[k]);
		told_free(&process->holdings[i]->told);
		free(process->holdings[i]);
	}
	for (size_t i = 0; i < process->module_count; i++)
		free(process->modules[i].path);
	free(process->modules);
	free(process->notes);
	free(process->holdings);
	free(process->place);
	free(process);
}

void tdm_fold_done(struct tdm_fold *fold)
{
	for (size_t i = 0; i < fold->count; i++)
		process_free(fold->processes[i]);
	free(fold->processes);
	tdm_map_done(&fold->by_number);
	tdm_intern_done(&fold->texts);
	*fold = (struct tdm_fold){ 0 };
}

/* Processes. */

struct tdm_fold_process *tdm_fold_find(const struct tdm_fold *fold, uint64_t number)
{
	uint32_t at = tdm_map_find(&fold->by_number, number);
	return at != TDM_MAP_NONE ? fold->processes[at] : NULL;
}

/* Holdings. */

struct tdm_fold_holding *tdm_fold_holding_find(const struct tdm_fold_process *process, uint32_t number)
{
	for (size_t i = 0; i < process->holding_count; i++)
		if (process->holdings[i]->number == number)
			return process->holdings[i];
	return NULL;
}

/* Buffers. */

static struct tdm_buffer buffer_of(struct tdm_intern *texts, const struct tdm_event *event)
{
	return (struct tdm_buffer){
		.id = event->id,
		.address = event->address,
		.asked_bytes = event->size != TDM_SIZE_UNKNOWN ? event->size : 0,
		.bank_bytes = event->bytes_per_bank,
		.page_size = event->page_size,
		.born_ns = (event->flags & TDM_EVENT_ADOPTED) == 0 ? event->time_ns : 0,
		.banks = event->banks,
		.holding_banks = event->holding,
		.cores = event->cores,
		.thread = event->thread,
		.flags = event->flags & ~TDM_EVENT_LISTED,
		.kind = event->kind,
		.name = tdm_intern_text(texts, event->name),
		.program = tdm_intern_text(texts, event->program),
		.stack = tdm_intern_stack(texts, event->frames, event->frame_count),
		.ranges = tdm_intern_ranges(texts, event->ranges, event->range_count),
	};
}

/* Builds the index when a buffer is first searched for: a list of live buffers that is read only once needs no
 * index. */
static void make_index(struct tdm_fold_kind *kind)
{
	for (size_t i = 0; i < kind->count && !kind->is_indexed; i++)
		tdm_map_set(&kind->by_id, kind->buffers[i].id, (uint32_t)i);
	kind->is_indexed = true;
}

/* Shared buffers may occupy the same bytes: only the producer knows their total. */
static bool is_in_sums(const struct tdm_buffer *buffer)
{
	return !tdm_buffer_is_view(buffer) && !tdm_buffer_is_shared(buffer);
}

/* Adds a buffer to the sums (sign 1), or removes it (sign -1). */
static void sums_change(struct tdm_fold_kind *kind, const struct tdm_buffer *buffer, uint64_t sign)
{
	if (!is_in_sums(buffer))
		return;
	kind->reserved += sign * tdm_buffer_reserved(buffer);
	kind->occupied += sign * tdm_buffer_occupied(buffer);
	kind->asked += sign * buffer->asked_bytes;
	kind->estimated += sign * (buffer->bank_bytes == TDM_SIZE_UNKNOWN);
}

/* Computes the counter here if the producer does not supply it. */
static void count_here(struct tdm_fold_kind *kind, uint64_t time_ns)
{
	struct tdm_counter *counter = &kind->counter;
	if (kind->has_counter)
		return;
	if (kind->reserved > counter->peak)
		counter->peak_ns = time_ns;
	counter->reserved = kind->reserved;
	counter->asked = kind->asked;
	counter->buffers = kind->count;
	counter->peak = tdm_max(counter->peak, counter->reserved);
	counter->peak_asked = tdm_max(counter->peak_asked, counter->asked);
	counter->peak_buffers = tdm_max(counter->peak_buffers, counter->buffers);
}

/* Removes the buffer and moves the last one into its place. False if there is no such buffer. */
static bool take_buffer(struct tdm_fold_kind *kind, uint64_t id, struct tdm_buffer *taken)
{
	uint32_t at = tdm_map_take(&kind->by_id, id);
	if (at == TDM_MAP_NONE)
		return false;
	*taken = kind->buffers[at];
	sums_change(kind, taken, UINT64_MAX);
	kind->buffers[at] = kind->buffers[--kind->count];
	if (at != kind->count)
		tdm_map_set(&kind->by_id, kind->buffers[at].id, at);
	return true;
}

static int apply_alloc(struct tdm_fold *fold, struct tdm_fold_holding *holding, const struct tdm_event *event)
{
	struct tdm_fold_kind *kind = &holding->kinds[event->kind];
	struct tdm_buffer buffer = buffer_of(&fold->texts, event), old;
	/* A list contains each buffer once; any other event may report a live buffer again. */
	bool is_listed = (event->flags & TDM_EVENT_LISTED) != 0;
	if (!is_listed)
		make_index(kind);
	uint32_t at = is_listed ? TDM_MAP_NONE : tdm_map_find(&kind->by_id, event->id);
	/* The limit applies to the sums without the buffer that this one replaces. */
	const struct tdm_buffer *before =
		at != TDM_MAP_NONE && is_in_sums(&kind->buffers[at]) ? &kind->buffers[at] : NULL;
	uint64_t reserved = kind->reserved - (before != NULL ? tdm_buffer_reserved(before) : 0);
	uint64_t occupied = kind->occupied - (before != NULL ? tdm_buffer_occupied(before) : 0);
	uint64_t asked = kind->asked - (before != NULL ? before->asked_bytes : 0);
	if (tdm_buffer_reserved(&buffer) > TDM_FOLD_BYTES_MAX - reserved ||
		tdm_buffer_occupied(&buffer) > TDM_FOLD_BYTES_MAX - occupied ||
		buffer.asked_bytes > TDM_FOLD_BYTES_MAX - asked || kind->count >= UINT32_MAX - 1)
		return -EOVERFLOW;
	if (!is_listed && take_buffer(kind, event->id, &old))
		kind->counter.rereports += !kind->has_counter;
	tdm_grow(&kind->buffers, &kind->cap, kind->count + 1, sizeof *kind->buffers);
	if (kind->is_indexed)
		tdm_map_set(&kind->by_id, event->id, (uint32_t)kind->count);
	kind->buffers[kind->count++] = buffer;
	sums_change(kind, &buffer, 1);
	if (tdm_buffer_is_adopted(&buffer))
		kind->counter.adopted += !kind->has_counter;
	else
		kind->counter.allocs += !kind->has_counter;
	count_here(kind, event->time_ns);
	fold->version++;
	return 0;
}

static int apply_told(struct tdm_fold_holding *holding, const struct tdm_told *from)
{
	if (from->trace_count > TRACES_MAX || from->hazard_count > HAZARDS_MAX || from->clash_count > TDM_CLASH_TYPES)
		return -EOVERFLOW;
	told_free(&holding->told);
	holding->told = *from;
	holding->told.has_told = true;
	holding->told.traces = tdm_copy_of(from->traces, from->trace_count * sizeof *from->traces);
	holding->told.hazards = tdm_copy_of(from->hazards, from->hazard_count * sizeof *from->hazards);
	holding->told.clashes = tdm_copy_of(from->clashes, from->clash_count * sizeof *from->clashes);
	return 0;
}

static int apply_to_holding(struct tdm_fold *fold, struct tdm_fold_holding *holding, struct tdm_event *event)
{
	const struct tdm_device_info *info = event->about;
	struct tdm_fold_kind *kind = &holding->kinds[event->kind];
	struct tdm_buffer taken;
	switch ((enum tdm_op)event->op) {
	case TDM_OP_DEVICE:
		/* An empty description does not replace another one. Descriptions as text (without `info`) are only for
		 * replays. */
		if (info != NULL && !(holding->has_info && info->card[0] == '\0' && info->region_count == 0)) {
			holding->info = *info;
			holding->has_info = true;
		}
		break;
	case TDM_OP_ALLOC:
		return apply_alloc(fold, holding, event);
	case TDM_OP_FREE:
		make_index(kind);
		if (!take_buffer(kind, event->id, &taken)) {
			kind->counter.unknown_frees += !kind->has_counter;
			break;
		}
		fold->version++;
		count_here(kind, event->time_ns);
		/* Adds a description of the released buffer, for views that show the release. */
		if (event->born_ns == 0)
			event->born_ns = taken.born_ns;
		if (event->name.len == 0)
			event->name = tdm_str_of(fold->texts.texts[taken.name]);
		if (event->banks == 0) {
			event->address = taken.address;
			event->size = taken.asked_bytes;
			event->bytes_per_bank = taken.bank_bytes;
			event->banks = taken.banks;
		}
		break;
	case TDM_OP_USAGE:
		/* The producer's figures include everything counted here so far. */
		kind->counter = *event->counter;
		kind->has_counter = true;
		break;
	case TDM_OP_TOLD:
		return apply_told(holding, event->told);
	case TDM_OP_OOM:
		if ((event->flags & TDM_EVENT_CLASH) == 0 && !kind->has_counter) {
			kind->counter.out_of_memory++;
			kind->counter.oom_bytes = event->size;
		}
		break;
	case TDM_OP_CLEAR:
		for (unsigned k = 0; k < TDM_KIND_COUNT; k++) {
			kind_clear(&holding->kinds[k]);
			count_here(&holding->kinds[k], event->time_ns);
		}
		fold->version++;
		holding->has_buffers = event->size != TDM_SIZE_UNKNOWN;
		break;
	default:
		break; /* queries meant for an allocator model, and events handled earlier */
	}
	return 0;
}

static int apply_module(struct tdm_fold_process *process, const struct tdm_event *event)
{
	size_t i = 0;
	while (i < process->module_count &&
		(process->modules[i].address != event->address || !tdm_str_is(event->name, process->modules[i].path)))
		i++;
	if (i == TDM_FOLD_MODULES_MAX)
		return -EOVERFLOW;
	if (i == process->module_count) {
		tdm_grow(&process->modules, &process->module_cap, i + 1, sizeof *process->modules);
		process->modules[process->module_count++] = (struct tdm_module){ .address = event->address,
			.path = tdm_strndup(event->name.ptr, event->name.len) };
	}
	process->modules[i].size = event->size;
	return 0;
}

static int apply_notes(struct tdm_fold_process *process, const struct tdm_notes *from)
{
	if (from->count > NOTES_MAX)
		return -EOVERFLOW;
	free(process->notes);
	process->notes = tdm_copy_of(from->list, from->count * sizeof *from->list);
	process->note_count = from->count;
	process->notes_lost = from->lost;
	return 0;
}

static int apply(struct tdm_fold *fold, struct tdm_event *event)
{
	struct tdm_fold_holding *holding;
	int err = 0;
	if (event->op == TDM_OP_FORGET) {
		uint32_t at = tdm_map_take(&fold->by_number, event->process);
		if (at == TDM_MAP_NONE)
			return 0;
		/* Moves the last process into the place that became free. */
		process_free(fold->processes[at]);
		fold->processes[at] = fold->processes[--fold->count];
		fold->version++;
		if (at != fold->count)
			tdm_map_set(&fold->by_number, fold->processes[at]->number, at);
		return 0;
	}
	if ((event->flags & TDM_EVENT_PAST) != 0)
		return 0;
	struct tdm_fold_process *process = tdm_fold_find(fold, event->process);
	if (process == NULL && fold->count == TDM_FOLD_PROCESSES_MAX)
		return -EOVERFLOW;
	if (process == NULL) {
		process = tdm_zalloc(1, sizeof *process);
		process->number = event->process;
		process->process = UINT32_MAX;
		tdm_grow(&fold->processes, &fold->cap, fold->count + 1, sizeof *fold->processes);
		tdm_map_set(&fold->by_number, process->number, (uint32_t)fold->count);
		fold->processes[fold->count++] = process;
	}
	switch ((enum tdm_op)event->op) {
	case TDM_OP_PROCESS:
		process->who = *event->who;
		process->has_who = true;
		tdm_str_shown(tdm_str_of(process->who.comm), process->comm, sizeof process->comm);
		tdm_str_shown(tdm_str_of(process->who.command), process->command, sizeof process->command);
		if (event->name.len != 0 && (process->place == NULL || !tdm_str_is(event->name, process->place))) {
			free(process->place);
			process->place = tdm_strndup(event->name.ptr, event->name.len);
		}
		break;
	case TDM_OP_MODULE:
		err = apply_module(process, event);
		break;
	case TDM_OP_NOTES:
		err = apply_notes(process, event->notes);
		break;
	case TDM_OP_PHASE:
		process->phase = tdm_intern_text(&fold->texts, event->name);
		break;
	default:
		holding = tdm_fold_holding_find(process, event->device);
		if (holding == NULL && process->holding_count < TDM_FOLD_HOLDINGS_MAX) {
			holding = tdm_zalloc(1, sizeof *holding);
			holding->number = event->device;
			holding->device = UINT32_MAX;
			tdm_grow(&process->holdings, &process->holding_cap, process->holding_count + 1,
				sizeof *process->holdings);
			process->holdings[process->holding_count++] = holding;
		}
		err = holding != NULL ? apply_to_holding(fold, holding, event) : -EOVERFLOW;
	}
	process->refused += err == -EOVERFLOW;
	return err;
}

int tdm_fold_apply(struct tdm_fold *fold, struct tdm_event *event)
{
	int err = tdm_event_is_valid(event) ? apply(fold, event) : -EINVAL;
	fold->refused += err == -EINVAL || err == -EOVERFLOW;
	return err;
}
