#include "state/fold.h"
#include "base/reserve.h"

#include <errno.h>
#include <stdlib.h>

/* Checked builds check everything after every event up to these numbers. */
enum { CHECKED_PROCESSES_MAX = 4, CHECKED_BUFFERS_MAX = 64 };

int tdm_fold_init(struct tdm_fold *fold)
{
	*fold = (struct tdm_fold){ 0 };
	int err = tdm_intern_init(&fold->texts);
	return err != 0 ? err : tdm_map_init(&fold->by_number);
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

static void process_free(struct tdm_fold_process *process)
{
	for (size_t i = 0; i < process->holding_count; i++) {
		for (unsigned k = 0; k < TDM_KIND_COUNT; k++)
			kind_clear(&process->holdings[i]->kinds[k]);
		tdm_fold_told_free(process->holdings[i]->told);
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

static int process_get(struct tdm_fold *fold, uint64_t number, struct tdm_fold_process **out)
{
	*out = tdm_fold_find(fold, number);
	if (*out != NULL)
		return 0;
	if (fold->count == TDM_FOLD_PROCESSES_MAX)
		return -EOVERFLOW;
	if (tdm_reserve(&fold->processes, &fold->cap, fold->count + 1, sizeof *fold->processes) != 0)
		return -ENOMEM;
	struct tdm_fold_process *process = calloc(1, sizeof *process);
	if (process == NULL || tdm_map_put(&fold->by_number, number, (uint32_t)fold->count) != 0) {
		free(process);
		return -ENOMEM;
	}
	process->number = number;
	process->process = UINT32_MAX;
	fold->processes[fold->count++] = *out = process;
	return 0;
}

/* Moves the last process into the freed place. */
static void forget(struct tdm_fold *fold, uint64_t number)
{
	uint32_t at = tdm_map_take(&fold->by_number, number);
	if (at == TDM_MAP_NONE)
		return;
	process_free(fold->processes[at]);
	fold->processes[at] = fold->processes[--fold->count];
	fold->version++;
	if (at != fold->count)
		tdm_map_put(&fold->by_number, fold->processes[at]->number, at); /* replaces: needs no memory */
}

static int apply_process(struct tdm_fold_process *process, const struct tdm_event *event)
{
	process->who = *event->who;
	process->has_who = true;
	tdm_str_shown(tdm_str_of(process->who.comm), process->comm, sizeof process->comm);
	tdm_str_shown(tdm_str_of(process->who.command), process->command, sizeof process->command);
	if (event->name.len == 0 || (process->place != NULL && tdm_str_is(event->name, process->place)))
		return 0;
	free(process->place);
	process->place = strndup(event->name.ptr, event->name.len);
	return process->place != NULL ? 0 : -ENOMEM;
}

static int apply_module(struct tdm_fold_process *process, const struct tdm_event *event)
{
	if (process->module_count == TDM_FOLD_MODULES_MAX)
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

/* Holdings. */

struct tdm_fold_holding *tdm_fold_holding_find(const struct tdm_fold_process *process, uint32_t number)
{
	for (size_t i = 0; i < process->holding_count; i++)
		if (process->holdings[i]->number == number)
			return process->holdings[i];
	return NULL;
}

static int holding_get(struct tdm_fold_process *process, uint32_t number, struct tdm_fold_holding **out)
{
	*out = tdm_fold_holding_find(process, number);
	if (*out != NULL)
		return 0;
	if (process->holding_count == TDM_FOLD_HOLDINGS_MAX)
		return -EOVERFLOW;
	if (tdm_reserve(&process->holdings, &process->holding_cap, process->holding_count + 1,
		    sizeof *process->holdings) != 0)
		return -ENOMEM;
	struct tdm_fold_holding *holding = calloc(1, sizeof *holding);
	if (holding == NULL)
		return -ENOMEM;
	holding->number = number;
	holding->device = UINT32_MAX;
	process->holdings[process->holding_count++] = *out = holding;
	return 0;
}

/* A description that says more replaces one that says less. */
static void apply_device(struct tdm_fold_holding *holding, const struct tdm_event *event)
{
	const struct tdm_device_info *info = event->about;
	if (info == NULL || (holding->has_info && info->card[0] == '\0' && info->region_count == 0))
		return; /* descriptions as text are for replays */
	holding->info = *info;
	holding->has_info = true;
}

/* The producer's figures include everything that was counted here before. */
static void apply_usage(struct tdm_fold_kind *kind, const struct tdm_usage *usage)
{
	kind->usage = *usage;
	kind->has_usage = true;
}

/* Buffers. */

static struct tdm_buffer buffer_of(const struct tdm_event *event)
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
	};
}

static int keep_texts(struct tdm_intern *texts, struct tdm_buffer *buffer, const struct tdm_event *event)
{
	int err = tdm_intern_text(texts, event->name, &buffer->name);
	if (err == 0)
		err = tdm_intern_text(texts, event->program, &buffer->program);
	if (err == 0)
		err = tdm_intern_stack(texts, event->frames, event->frame_count, &buffer->stack);
	if (err == 0)
		err = tdm_intern_ranges(texts, event->ranges, event->range_count, &buffer->ranges);
	return err;
}

/* The index is made when a buffer is first looked for: a list of live buffers that is read once needs none. */
static int make_index(struct tdm_fold_kind *kind)
{
	if (kind->is_indexed)
		return 0;
	int err = tdm_map_init(&kind->by_id);
	for (size_t i = 0; i < kind->count && err == 0; i++)
		err = tdm_map_put(&kind->by_id, kind->buffers[i].id, (uint32_t)i);
	if (err != 0)
		tdm_map_done(&kind->by_id);
	kind->is_indexed = err == 0;
	return err;
}

/* Shared buffers may have the same bytes: only the producer knows what they take together. */
static bool is_in_sums(const struct tdm_buffer *buffer)
{
	return !tdm_buffer_is_view(buffer) && !tdm_buffer_is_shared(buffer);
}

static void sums_add(struct tdm_fold_kind *kind, const struct tdm_buffer *buffer)
{
	if (!is_in_sums(buffer))
		return;
	kind->reserved += tdm_buffer_reserved(buffer);
	kind->occupied += tdm_buffer_occupied(buffer);
	kind->asked += buffer->asked_bytes;
	kind->estimated += buffer->bank_bytes == TDM_SIZE_UNKNOWN;
}

static void sums_take(struct tdm_fold_kind *kind, const struct tdm_buffer *buffer)
{
	if (!is_in_sums(buffer))
		return;
	kind->reserved -= tdm_buffer_reserved(buffer);
	kind->occupied -= tdm_buffer_occupied(buffer);
	kind->asked -= buffer->asked_bytes;
	kind->estimated -= buffer->bank_bytes == TDM_SIZE_UNKNOWN;
}

/* Whether the buffer fits in place of `old`, which may be NULL. */
static bool has_room(const struct tdm_fold_kind *kind, const struct tdm_buffer *old, const struct tdm_buffer *buffer)
{
	bool has_old = old != NULL && is_in_sums(old);
	uint64_t reserved = kind->reserved - (has_old ? tdm_buffer_reserved(old) : 0);
	uint64_t occupied = kind->occupied - (has_old ? tdm_buffer_occupied(old) : 0);
	uint64_t asked = kind->asked - (has_old ? old->asked_bytes : 0);
	return tdm_buffer_reserved(buffer) <= TDM_FOLD_BYTES_MAX - reserved &&
	       tdm_buffer_occupied(buffer) <= TDM_FOLD_BYTES_MAX - occupied &&
	       buffer->asked_bytes <= TDM_FOLD_BYTES_MAX - asked && kind->count < UINT32_MAX - 1;
}

/* Counts here if the producer does not. */
static void count_here(struct tdm_fold_kind *kind, uint64_t time_ns)
{
	struct tdm_usage *usage = &kind->usage;
	if (kind->has_usage)
		return;
	if (kind->reserved > usage->peak_reserved_bytes)
		usage->peak_ns = time_ns;
	usage->reserved_bytes = kind->reserved;
	usage->asked_bytes = kind->asked;
	usage->buffers = kind->count;
	usage->peak_reserved_bytes = tdm_max(usage->peak_reserved_bytes, usage->reserved_bytes);
	usage->peak_asked_bytes = tdm_max(usage->peak_asked_bytes, usage->asked_bytes);
	usage->peak_buffers = tdm_max(usage->peak_buffers, usage->buffers);
}

/* Takes the buffer out and moves the last one into its place. False: it is not there. */
static bool take_buffer(struct tdm_fold_kind *kind, uint64_t id, struct tdm_buffer *taken)
{
	uint32_t at = tdm_map_take(&kind->by_id, id);
	if (at == TDM_MAP_NONE)
		return false;
	*taken = kind->buffers[at];
	sums_take(kind, taken);
	kind->buffers[at] = kind->buffers[--kind->count];
	if (at != kind->count)
		tdm_map_put(&kind->by_id, kind->buffers[at].id, at); /* replaces: needs no memory */
	return true;
}

static int apply_alloc(struct tdm_fold *fold, struct tdm_fold_holding *holding, const struct tdm_event *event)
{
	struct tdm_fold_kind *kind = &holding->kinds[event->kind];
	struct tdm_buffer buffer = buffer_of(event), old;
	int err = keep_texts(&fold->texts, &buffer, event);
	/* A list names each buffer once; any other event may report a live buffer again. */
	bool is_listed = (event->flags & TDM_EVENT_LISTED) != 0;
	if (err == 0 && !is_listed)
		err = make_index(kind);
	if (err != 0)
		return err;
	uint32_t at = is_listed ? TDM_MAP_NONE : tdm_map_find(&kind->by_id, event->id);
	if (!has_room(kind, at != TDM_MAP_NONE ? &kind->buffers[at] : NULL, &buffer))
		return -EOVERFLOW;
	if (!is_listed && take_buffer(kind, event->id, &old))
		kind->usage.rereports += !kind->has_usage;
	if (tdm_reserve(&kind->buffers, &kind->cap, kind->count + 1, sizeof *kind->buffers) != 0 ||
		(kind->is_indexed && tdm_map_put(&kind->by_id, event->id, (uint32_t)kind->count) != 0))
		return -ENOMEM;
	kind->buffers[kind->count++] = buffer;
	sums_add(kind, &buffer);
	if (tdm_buffer_is_adopted(&buffer))
		kind->usage.adopted += !kind->has_usage;
	else
		kind->usage.allocs += !kind->has_usage;
	count_here(kind, event->time_ns);
	fold->version++;
	return 0;
}

/* Describes the released buffer, for views that show the release. */
static void describe_release(const struct tdm_intern *texts, const struct tdm_buffer *buffer, struct tdm_event *event)
{
	if (event->born_ns == 0)
		event->born_ns = buffer->born_ns;
	if (event->name.len == 0)
		event->name = tdm_str_of(texts->texts[buffer->name]);
	if (event->banks == 0) {
		event->address = buffer->address;
		event->size = buffer->asked_bytes;
		event->bytes_per_bank = buffer->bank_bytes;
		event->banks = buffer->banks;
	}
}

static int apply_free(struct tdm_fold *fold, struct tdm_fold_holding *holding, struct tdm_event *event)
{
	struct tdm_fold_kind *kind = &holding->kinds[event->kind];
	struct tdm_buffer taken;
	int err = make_index(kind);
	if (err != 0)
		return err;
	if (!take_buffer(kind, event->id, &taken)) {
		kind->usage.unknown_frees += !kind->has_usage;
		return 0;
	}
	fold->version++;
	count_here(kind, event->time_ns);
	describe_release(&fold->texts, &taken, event);
	return 0;
}

static int apply_clear(struct tdm_fold *fold, struct tdm_fold_holding *holding, const struct tdm_event *event)
{
	for (unsigned k = 0; k < TDM_KIND_COUNT; k++) {
		kind_clear(&holding->kinds[k]);
		count_here(&holding->kinds[k], event->time_ns);
	}
	fold->version++;
	holding->has_buffers = event->size != TDM_SIZE_UNKNOWN;
	return 0;
}

static int apply_to_holding(struct tdm_fold *fold, struct tdm_fold_holding *holding, struct tdm_event *event)
{
	switch ((enum tdm_op)event->op) {
	case TDM_OP_DEVICE:
		apply_device(holding, event);
		return 0;
	case TDM_OP_ALLOC:
		return apply_alloc(fold, holding, event);
	case TDM_OP_FREE:
		return apply_free(fold, holding, event);
	case TDM_OP_USAGE:
		apply_usage(&holding->kinds[event->kind], event->usage);
		return 0;
	case TDM_OP_TOLD:
		return tdm_fold_apply_told(fold, holding, event->told);
	case TDM_OP_OOM:
		if ((event->flags & TDM_EVENT_CLASH) == 0 && !holding->kinds[event->kind].has_usage) {
			holding->kinds[event->kind].usage.out_of_memory++;
			holding->kinds[event->kind].usage.oom_bytes = event->size;
		}
		return 0;
	case TDM_OP_CLEAR:
		return apply_clear(fold, holding, event);
	default:
		return 0; /* questions to a model, and events handled earlier */
	}
}

static int apply(struct tdm_fold *fold, struct tdm_event *event)
{
	struct tdm_fold_process *process;
	struct tdm_fold_holding *holding;
	int err;
	if (event->op == TDM_OP_FORGET) {
		forget(fold, event->process);
		return 0;
	}
	if ((event->flags & TDM_EVENT_PAST) != 0)
		return 0;
	err = process_get(fold, event->process, &process);
	if (err != 0)
		return err;
	switch ((enum tdm_op)event->op) {
	case TDM_OP_PROCESS:
		return apply_process(process, event);
	case TDM_OP_MODULE:
		err = apply_module(process, event);
		break;
	case TDM_OP_NOTES:
		err = tdm_fold_apply_notes(fold, process, event->notes);
		break;
	case TDM_OP_PHASE:
		return tdm_intern_text(&fold->texts, event->name, &process->phase);
	default:
		err = holding_get(process, event->device, &holding);
		if (err == 0)
			err = apply_to_holding(fold, holding, event);
	}
	process->refused += err == -EOVERFLOW;
	return err;
}

int tdm_fold_apply(struct tdm_fold *fold, struct tdm_event *event)
{
	int err = tdm_event_is_valid(event) ? apply(fold, event) : -EINVAL;
	fold->refused += err == -EINVAL || err == -EOVERFLOW;
	if (TDM_CHECKED && fold->count <= CHECKED_PROCESSES_MAX && !tdm_fold_is_valid(fold))
		abort();
	return err;
}

/* The invariant. */

static bool kind_is_valid(const struct tdm_fold_kind *kind)
{
	struct tdm_fold_kind sums = { 0 };
	if (kind->count > CHECKED_BUFFERS_MAX)
		return true;
	for (size_t i = 0; i < kind->count; i++) {
		sums_add(&sums, &kind->buffers[i]);
		uint32_t at = kind->is_indexed ? tdm_map_find(&kind->by_id, kind->buffers[i].id) : (uint32_t)i;
		if (at != TDM_MAP_NONE && (at >= kind->count || kind->buffers[at].id != kind->buffers[i].id))
			return false;
	}
	return sums.reserved == kind->reserved && sums.occupied == kind->occupied && sums.asked == kind->asked;
}

bool tdm_fold_is_valid(const struct tdm_fold *fold)
{
	for (size_t i = 0; i < fold->count; i++) {
		const struct tdm_fold_process *process = fold->processes[i];
		if (tdm_map_find(&fold->by_number, process->number) != i)
			return false;
		for (size_t h = 0; h < process->holding_count; h++)
			for (unsigned k = 0; k < TDM_KIND_COUNT; k++)
				if (!kind_is_valid(&process->holdings[h]->kinds[k]))
					return false;
	}
	return true;
}
