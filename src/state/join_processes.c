/*
 * Joins the sources' processes: two are the same if they have the same pid, as this process sees it, and the same start
 * time. A pid alone may have been reused and joins nothing. Then collects what each process has on each device, source
 * by source.
 */
#include "state/state_parts.h"
#include "base/reserve.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t identity_hash(int32_t pid, uint64_t start_time, uint32_t generation)
{
	return tdm_hash_u64(start_time ^ tdm_hash_u64((uint64_t)(uint32_t)pid << 32 | generation));
}

/* The handle that the process had before, or a new one. Kept only while the process is listed. */
static int set_handle(struct tdm_state *state, uint64_t identity, uint64_t *handle)
{
	uint32_t known = tdm_map_find(&state->handles, identity);
	if (known == TDM_MAP_NONE)
		known = tdm_map_find(&state->handles_before, identity);
	if (known == TDM_MAP_NONE)
		known = ++state->next_handle;
	*handle = known;
	return tdm_map_put(&state->handles, identity, known);
}

static struct tdm_picture_process *add_process(struct tdm_state *state)
{
	size_t at = state->picture.process_count;
	if (tdm_reserve(&state->picture.processes, &state->process_cap, at + 1, sizeof *state->picture.processes) != 0)
		return NULL;
	state->picture.process_count = at + 1;
	state->picture.processes[at] = (struct tdm_picture_process){ .uid = UINT32_MAX,
		.lost = TDM_BYTES_UNKNOWN,
		.faults = TDM_BYTES_UNKNOWN,
		.out_of_memory = TDM_BYTES_UNKNOWN };
	return &state->picture.processes[at];
}

static void set_user(struct tdm_state *state, struct tdm_picture_process *process, uint32_t uid)
{
	process->uid = uid;
	snprintf(process->user, sizeof process->user, "%s", tdm_users_name(&state->users, uid));
	process->is_foreign = uid != UINT32_MAX && uid != state->proc.uid;
}

/* A process keeps its handle if it was known before its ledger appeared, or stays known after its ledger is gone. */
static int set_ledger_handle(struct tdm_state *state, struct tdm_fold_process *from, bool is_here, int32_t pid)
{
	uint64_t identity = identity_hash(pid, from->who.start_time, from->who.generation);
	if (from->handle == 0 && is_here)
		return set_handle(state, identity, &from->handle);
	if (from->handle == 0)
		from->handle = ++state->next_handle;
	return is_here ? tdm_map_put(&state->handles, identity, (uint32_t)from->handle) : 0;
}

static void describe(struct tdm_state *state, const struct tdm_fold_process *from, struct tdm_picture_process *process)
{
	const struct tdm_process *who = &from->who;
	process->handle = from->handle;
	process->start_time = who->start_time;
	process->life = who->life;
	process->own_pid = process->pid != who->pid ? who->pid : 0;
	process->is_claimed = who->is_claimed;
	process->is_on_behalf = who->is_on_behalf;
	process->as_of_ns = who->as_of_ns;
	process->in_container = who->seen_pid != 0 && who->seen_pid != who->pid;
	process->sources = UINT32_C(1) << TDM_FROM_LEDGER;
	process->lost = who->lost;
	process->refused = tdm_plus(who->refused, from->refused);
	process->started_ns = tdm_proc_started(&state->proc, who->start_time);
	process->who = who;
	process->ledger = from->place;
	process->modules = from->modules;
	process->module_count = from->module_count;
	process->notes = from->notes;
	process->note_count = from->note_count;
	process->notes_lost = from->notes_lost;
	set_user(state, process, who->uid);
	memcpy(process->comm, from->comm, sizeof process->comm);
	memcpy(process->command, from->command, sizeof process->command);
	tdm_str_shown(tdm_str_of(state->fold.texts.texts[from->phase]), process->phase, sizeof process->phase);
}

/* Keys for what is known of all ledgers of a process. A daemon numbers those that it writes on its own. */
enum known { NEWEST_OWN, NEWEST_ON_BEHALF, WRITES_ITSELF };
static uint64_t known_key(const struct tdm_process *who, enum known what)
{
	return identity_hash(who->pid, who->start_time ^ tdm_hash_u64(who->pid_namespace), UINT32_MAX - what);
}

/* The newest program of a process, by its generation: those before it were replaced by exec. */
static uint64_t newest_key(const struct tdm_process *who)
{
	return known_key(who, who->is_on_behalf ? NEWEST_ON_BEHALF : NEWEST_OWN);
}

static int note_ledger(struct tdm_state *state, const struct tdm_process *who)
{
	uint32_t newest = tdm_map_find(&state->by_pid, newest_key(who));
	if (!who->is_on_behalf && !who->is_claimed && who->life != TDM_LIFE_ENDED &&
		tdm_map_put(&state->by_pid, known_key(who, WRITES_ITSELF), 1) != 0)
		return -ENOMEM;
	if (newest != TDM_MAP_NONE && newest >= who->generation)
		return 0;
	return tdm_map_put(&state->by_pid, newest_key(who), tdm_min(who->generation, TDM_MAP_NONE - 1));
}

static bool is_newest(const struct tdm_state *state, const struct tdm_process *who)
{
	return who->generation >= tdm_map_find(&state->by_pid, newest_key(who));
}

static void set_end(const struct tdm_state *state, struct tdm_picture_process *process)
{
	/* Nobody knows how a program ended that a daemon wrote for. */
	bool is_open = process->who->life == TDM_LIFE_ENDED && !process->who->closed && !process->who->is_on_behalf;
	process->crashed = is_open && is_newest(state, process->who);
	process->replaced = is_open && !process->crashed;
}

/* What a process writes itself counts, and not what it tells a daemon as well: those are the same buffers. */
static bool is_told_twice(const struct tdm_state *state, const struct tdm_process *who)
{
	return who->is_on_behalf && tdm_map_find(&state->by_pid, known_key(who, WRITES_ITSELF)) != TDM_MAP_NONE;
}

static int add_ledger_process(struct tdm_state *state, struct tdm_fold_process *from)
{
	from->process = UINT32_MAX;
	if (!from->has_who || !tdm_state_lists(state, from) || is_told_twice(state, &from->who) ||
		(!tdm_fold_runs(from) && !state->options.with_ended && !is_newest(state, &from->who)))
		return 0;
	int32_t pid = tdm_fold_pid(from);
	bool is_here = from->who.seen_pid != 0 && tdm_fold_runs(from);
	struct tdm_picture_process *process = add_process(state);
	if (process == NULL || set_ledger_handle(state, from, is_here, pid) != 0)
		return -ENOMEM;
	from->process = (uint32_t)(state->picture.process_count - 1);
	process->pid = pid;
	describe(state, from, process);
	set_end(state, process);
	if (!is_here || from->who.start_time == 0)
		return 0;
	/* After an exec the ledger of the older generation remains, but without its lock. */
	return tdm_map_put(&state->by_pid, identity_hash(pid, from->who.start_time, 0), from->process);
}

/* The process with this pid, as /proc describes it. Its index, or UINT32_MAX: out of memory. */
static uint32_t find_process(struct tdm_state *state, int32_t pid, const struct tdm_proc_facts *facts, const char *hint)
{
	uint64_t key = identity_hash(pid, facts->start_time, 0);
	uint32_t at = tdm_map_find(&state->by_pid, key);
	if (at != TDM_MAP_NONE) {
		struct tdm_picture_process *known = &state->picture.processes[at];
		if (known->command[0] == '\0')
			snprintf(known->command, sizeof known->command, "%s", facts->command);
		return at;
	}
	struct tdm_picture_process *process = add_process(state);
	at = (uint32_t)(state->picture.process_count - 1);
	if (process == NULL || set_handle(state, key, &process->handle) != 0 ||
		tdm_map_put(&state->by_pid, key, at) != 0)
		return UINT32_MAX;
	process->pid = pid;
	process->start_time = facts->start_time;
	process->started_ns = facts->started_ns;
	process->life = facts->err == 0 ? TDM_LIFE_RUNS : TDM_LIFE_UNKNOWN;
	set_user(state, process, facts->uid);
	snprintf(process->comm, sizeof process->comm, "%s", facts->comm);
	if (process->comm[0] == '\0')
		snprintf(process->comm, sizeof process->comm, "%.*s", TDM_COMM_CAP - 1, hint);
	snprintf(process->command, sizeof process->command, "%s", facts->command);
	return at;
}

static struct tdm_part *add_part(struct tdm_state *state, uint32_t process, uint32_t device)
{
	int32_t number = state->picture.devices[device].number;
	if (tdm_reserve(&state->parts, &state->part_cap, state->part_count + 1, sizeof *state->parts) != 0)
		return NULL;
	struct tdm_part *part = &state->parts[state->part_count++];
	*part = (struct tdm_part){ .process = process, .device = device, .number = number >= 0 ? (uint32_t)number : 0 };
	return part;
}

/* The part of a process on a device, added if it is new. NULL: out of memory. */
static struct tdm_part *find_part(struct tdm_state *state, uint32_t process, uint32_t device)
{
	uint64_t key = (uint64_t)process << 32 | device;
	uint32_t at = tdm_map_find(&state->by_pair, key);
	if (at != TDM_MAP_NONE)
		return &state->parts[at];
	if (tdm_map_put(&state->by_pair, key, (uint32_t)state->part_count) != 0)
		return NULL;
	return add_part(state, process, device);
}

static int add_ledger_parts(struct tdm_state *state, const struct tdm_fold_process *from)
{
	for (size_t i = 0; from->process != UINT32_MAX && i < from->holding_count; i++) {
		const struct tdm_fold_holding *holding = from->holdings[i];
		struct tdm_part *part;
		if (holding->device == UINT32_MAX)
			continue;
		part = find_part(state, from->process, holding->device);
		bool is_twin = part != NULL && part->owner != NULL;
		if (is_twin)
			part = add_part(state, from->process, holding->device);
		if (part == NULL)
			return -ENOMEM;
		part->owner = from;
		part->is_twin = is_twin;
		part->ledger = from->who.is_stuck ? NULL : holding;
		part->number = holding->number & ~TDM_DEVICE_VIRTUAL_BIT;
	}
	return 0;
}

static int add_slot(struct tdm_state *state, uint32_t device, const struct tdm_metal_slot *slot)
{
	if (slot->life == TDM_PROC_DEAD)
		return 0;
	int32_t pid = slot->nested_as != 0 ? slot->nested_as : slot->pid;
	uint32_t process = find_process(state, pid, &slot->facts, slot->hint);
	struct tdm_part *part = process != UINT32_MAX ? find_part(state, process, device) : NULL;
	if (part == NULL)
		return -ENOMEM;
	if (slot->nested_as != 0) {
		state->picture.processes[process].in_container = true;
		state->picture.processes[process].own_pid = slot->pid;
	}
	if (slot->life == TDM_PROC_OTHER_USER && slot->facts.uid == TDM_UID_UNKNOWN)
		state->picture.processes[process].is_foreign = true;
	state->picture.processes[process].sources |= UINT32_C(1) << TDM_FROM_METAL_SHM;
	for (unsigned k = 0; k < TDM_KIND_COUNT; k++)
		part->metal.of[k] = part->has_slot ? tdm_plus(part->metal.of[k], slot->bytes.of[k]) : slot->bytes.of[k];
	part->has_slot = true;
	return 0;
}

static int add_opens(struct tdm_state *state, uint32_t device, const struct tdm_host_card *card)
{
	for (uint32_t i = 0; i < card->open_count; i++) {
		const struct tdm_host_open *open = &state->host.opens[card->open_first + i];
		const struct tdm_host_process *known = &state->host.processes[open->process];
		if (known->facts.err == -ENOENT)
			continue; /* it has ended meanwhile */
		uint32_t process = find_process(state, known->pid, &known->facts, "");
		struct tdm_part *part = process != UINT32_MAX ? find_part(state, process, device) : NULL;
		if (part == NULL)
			return -ENOMEM;
		state->picture.processes[process].sources |= UINT32_C(1) << TDM_FROM_DRIVER;
		part->descriptors += open->descriptors;
	}
	return 0;
}

static int add_device_parts(struct tdm_state *state, uint32_t d)
{
	const struct tdm_picture_device *device = &state->picture.devices[d];
	int err = 0;
	if (device->region != UINT32_MAX) {
		const struct tdm_metal_region *region = &state->metal.now.regions[device->region];
		for (uint32_t k = 0; k < region->slot_count && err == 0; k++)
			err = add_slot(state, d, &region->slots[k]);
	}
	if (device->host_card != UINT32_MAX && err == 0)
		err = add_opens(state, d, &state->host.cards[device->host_card]);
	return err;
}

/* A twin has no slot of its own, but the region knows its process. */
static void tell_twins(struct tdm_state *state)
{
	for (size_t i = 0; i < state->part_count; i++) {
		struct tdm_part *part = &state->parts[i];
		uint32_t first = tdm_map_find(&state->by_pair, (uint64_t)part->process << 32 | part->device);
		if (part->is_twin && first != TDM_MAP_NONE)
			part->has_slot = state->parts[first].has_slot;
	}
}

static int by_pid(const void *a, const void *b)
{
	const struct tdm_picture_process *x = a, *y = b;
	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	int order = tdm_order(x->start_time, y->start_time);
	if (order == 0 && x->who != NULL && y->who != NULL)
		order = tdm_order(x->who->generation, y->who->generation);
	return order != 0 ? order : tdm_order(x->handle, y->handle);
}

static int by_process(const void *a, const void *b)
{
	const struct tdm_part *x = a, *y = b;
	int order = tdm_order(x->process, y->process);
	if (order == 0)
		order = tdm_order(x->device, y->device);
	return order != 0 ? order : tdm_order(x->number, y->number);
}

/* Sorts processes by pid, and parts by process and device. `first_holding` carries the old index meanwhile. */
static int sort_all(struct tdm_state *state)
{
	size_t count = state->picture.process_count;
	struct tdm_picture_process *processes = state->picture.processes;
	uint32_t *now = malloc((count + 1) * sizeof *now);
	if (now == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		processes[i].first_holding = (uint32_t)i;
	if (count > 1)
		qsort(processes, count, sizeof *processes, by_pid);
	for (size_t i = 0; i < count; i++)
		now[processes[i].first_holding] = (uint32_t)i;
	for (size_t i = 0; i < state->fold.count; i++)
		if (state->fold.processes[i]->process != UINT32_MAX)
			state->fold.processes[i]->process = now[state->fold.processes[i]->process];
	for (size_t i = 0; i < state->part_count; i++)
		state->parts[i].process = now[state->parts[i].process];
	free(now);
	if (state->part_count > 1)
		qsort(state->parts, state->part_count, sizeof *state->parts, by_process);
	for (size_t i = 0, next = 0; i < count; i++) {
		processes[i].first_holding = (uint32_t)next;
		processes[i].holding_count = 0;
		for (; next < state->part_count && state->parts[next].process == i; next++)
			processes[i].holding_count++;
	}
	return 0;
}

int tdm_state_join_processes(struct tdm_state *state)
{
	struct tdm_map handles = state->handles_before;
	int err = 0;
	state->handles_before = state->handles;
	state->handles = handles;
	tdm_map_clear(&state->handles);
	tdm_map_clear(&state->by_pid);
	tdm_map_clear(&state->by_pair);
	state->picture.process_count = state->part_count = 0;
	for (size_t i = 0; i < state->fold.count && err == 0; i++)
		if (state->fold.processes[i]->has_who)
			err = note_ledger(state, &state->fold.processes[i]->who);
	for (size_t i = 0; i < state->fold.count && err == 0; i++)
		err = add_ledger_process(state, state->fold.processes[i]);
	for (size_t i = 0; i < state->fold.count && err == 0; i++)
		err = add_ledger_parts(state, state->fold.processes[i]);
	for (size_t d = 0; d < state->picture.device_count && err == 0; d++)
		err = add_device_parts(state, (uint32_t)d);
	tell_twins(state);
	return err == 0 ? sort_all(state) : err;
}
