/*
 * Which processes of the sources are one: those that this process knows by the same number and that started at the same
 * time. A number alone is reused, and joins nothing. Then what each has on each device, source by source.
 */
#include "live/live_parts.h"
#include "base/reserve.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t identity_hash(int32_t pid, uint64_t start_time, uint32_t generation)
{
	return tdm_hash_u64(start_time ^ tdm_hash_u64((uint64_t)(uint32_t)pid << 32 | generation));
}

/* The handle of a process that was there before, or a new one. Kept only while the process is listed. */
static int set_handle(struct tdm_live *live, uint64_t identity, uint64_t *handle)
{
	uint32_t known = tdm_map_find(&live->handles, identity);
	if (known == TDM_MAP_NONE)
		known = tdm_map_find(&live->handles_before, identity);
	if (known == TDM_MAP_NONE)
		known = ++live->next_handle;
	*handle = known;
	return tdm_map_put(&live->handles, identity, known);
}

static struct tdm_overview_process *add_process(struct tdm_live *live)
{
	size_t at = live->overview.process_count;
	if (tdm_reserve(&live->overview.processes, &live->process_cap, at + 1, sizeof *live->overview.processes) != 0)
		return NULL;
	live->overview.process_count = at + 1;
	live->overview.processes[at] = (struct tdm_overview_process){ .uid = UINT32_MAX,
		.lost = TDM_BYTES_UNKNOWN,
		.faults = TDM_BYTES_UNKNOWN,
		.out_of_memory = TDM_BYTES_UNKNOWN };
	return &live->overview.processes[at];
}

static void set_user(struct tdm_live *live, struct tdm_overview_process *process, uint32_t uid)
{
	process->uid = uid;
	snprintf(process->user, sizeof process->user, "%s", tdm_users_name(&live->users, uid));
	process->is_foreign = uid != UINT32_MAX && uid != live->proc.uid;
}

/* A process that was known before its ledger came, or is known after that is gone, keeps its handle. */
static int set_item_handle(struct tdm_live *live, struct tdm_watched *item, bool is_here, int32_t pid)
{
	uint64_t identity = identity_hash(pid, item->who.start_time, item->who.generation);
	if (item->handle == 0 && is_here)
		return set_handle(live, identity, &item->handle);
	if (item->handle == 0)
		item->handle = ++live->next_handle;
	return is_here ? tdm_map_put(&live->handles, identity, (uint32_t)item->handle) : 0;
}

static int add_ledger_process(struct tdm_live *live, size_t i)
{
	struct tdm_watched *item = live->ledgers.items[i];
	live->item_process[i] = UINT32_MAX;
	if (!tdm_watched_runs(item) && !(live->options.with_ended && tdm_watched_ended(item)))
		return 0;
	int32_t pid = item->pid != 0 ? item->pid : item->who.pid;
	bool is_here = item->pid != 0 && item->who.life != TDM_LIFE_ENDED;
	struct tdm_overview_process *process = add_process(live);
	if (process == NULL)
		return -ENOMEM;
	live->item_process[i] = (uint32_t)(live->overview.process_count - 1);
	if (set_item_handle(live, item, is_here, pid) != 0)
		return -ENOMEM;
	process->handle = item->handle;
	process->pid = pid;
	process->start_time = item->who.start_time;
	process->life = item->who.life;
	process->crashed = item->who.life == TDM_LIFE_ENDED && !item->who.closed;
	process->in_container = item->in_container;
	process->sources = UINT32_C(1) << TDM_FROM_LEDGER;
	process->lost = item->who.lost;
	process->faults = item->faults;
	process->out_of_memory = item->out_of_memory;
	process->started_ns = tdm_proc_started(&live->proc, item->who.start_time);
	set_user(live, process, item->uid);
	tdm_str_shown(tdm_str_of(item->who.comm), process->comm, sizeof process->comm);
	tdm_str_shown(tdm_str_of(item->who.command), process->command, sizeof process->command);
	memcpy(process->phase, item->phase, sizeof process->phase);
	if (!is_here || item->who.start_time == 0)
		return 0;
	/* An exec leaves the ledger of the older generation behind; its lock went with it. */
	return tdm_map_put(&live->by_pid, identity_hash(pid, item->who.start_time, 0), live->item_process[i]);
}

/* The process with this number, as /proc knows it. Its index, or UINT32_MAX: out of memory. */
static uint32_t find_process(struct tdm_live *live, int32_t pid, const struct tdm_proc_facts *facts, const char *hint)
{
	uint64_t key = identity_hash(pid, facts->start_time, 0);
	uint32_t at = tdm_map_find(&live->by_pid, key);
	if (at != TDM_MAP_NONE) {
		struct tdm_overview_process *known = &live->overview.processes[at];
		if (known->command[0] == '\0')
			snprintf(known->command, sizeof known->command, "%s", facts->command);
		return at;
	}
	struct tdm_overview_process *process = add_process(live);
	at = (uint32_t)(live->overview.process_count - 1);
	if (process == NULL || set_handle(live, key, &process->handle) != 0 || tdm_map_put(&live->by_pid, key, at) != 0)
		return UINT32_MAX;
	process->pid = pid;
	process->start_time = facts->start_time;
	process->started_ns = facts->started_ns;
	process->life = facts->err == 0 ? TDM_LIFE_RUNS : TDM_LIFE_UNKNOWN;
	set_user(live, process, facts->uid);
	snprintf(process->comm, sizeof process->comm, "%s", facts->comm);
	if (process->comm[0] == '\0')
		snprintf(process->comm, sizeof process->comm, "%.*s", TDM_COMM_CAP - 1, hint);
	snprintf(process->command, sizeof process->command, "%s", facts->command);
	return at;
}

/* What one process has on one device; a new one if need be. NULL: out of memory. */
static struct tdm_part *find_part(struct tdm_live *live, uint32_t process, uint32_t device)
{
	uint64_t key = (uint64_t)process << 32 | device;
	uint32_t at = tdm_map_find(&live->by_pair, key);
	if (at != TDM_MAP_NONE)
		return &live->parts[at];
	if (tdm_reserve(&live->parts, &live->part_cap, live->part_count + 1, sizeof *live->parts) != 0 ||
		tdm_map_put(&live->by_pair, key, (uint32_t)live->part_count) != 0)
		return NULL;
	struct tdm_part *part = &live->parts[live->part_count++];
	*part = (struct tdm_part){ .process = process, .device = device };
	return part;
}

static void add_view(struct tdm_part *part, const struct tdm_ledger_view *view)
{
	bool again = part->has_ledger; /* two of a ledger's devices are one: peaks of parts are no peak of the whole */
	for (unsigned k = 0; k < TDM_KIND_COUNT; k++) {
		const struct tdm_ledger_count *count = &view->counts[k];
		struct tdm_part_kind *kind = &part->ledger[k];
		kind->used = tdm_plus(kind->used, count->bytes);
		kind->peak = again ? TDM_BYTES_UNKNOWN : count->peak_bytes;
		kind->buffers = tdm_plus(kind->buffers, count->buffers);
		kind->asked = tdm_plus(kind->asked, count->asked_bytes);
		kind->allocs = tdm_plus(kind->allocs, count->allocs);
		kind->out_of_memory = tdm_plus(kind->out_of_memory, view->faults[k].out_of_memory);
	}
	part->l1_peak = again ? TDM_BYTES_UNKNOWN : view->counts[TDM_LEDGER_L1_ALL].peak_bytes;
	part->has_ledger = true;
}

static int add_ledger_parts(struct tdm_live *live, size_t i)
{
	const struct tdm_watched *item = live->ledgers.items[i];
	for (size_t d = 0; live->item_process[i] != UINT32_MAX && d < tdm_watched_device_count(item); d++) {
		uint32_t device = live->item_devices[i][d];
		struct tdm_part *part = device != UINT32_MAX ? find_part(live, live->item_process[i], device) : NULL;
		if (device == UINT32_MAX)
			continue;
		if (part == NULL)
			return -ENOMEM;
		if (!item->is_broken)
			add_view(part, tdm_watched_device(item, d));
	}
	return 0;
}

static int add_slot(struct tdm_live *live, uint32_t device, const struct tdm_metal_slot *slot)
{
	if (slot->life == TDM_PROC_DEAD)
		return 0;
	int32_t pid = slot->nested_as != 0 ? slot->nested_as : slot->pid;
	uint32_t process = find_process(live, pid, &slot->facts, slot->hint);
	struct tdm_part *part = process != UINT32_MAX ? find_part(live, process, device) : NULL;
	if (part == NULL)
		return -ENOMEM;
	if (slot->nested_as != 0)
		live->overview.processes[process].in_container = true;
	if (slot->life == TDM_PROC_OTHER_USER && slot->facts.uid == TDM_UID_UNKNOWN)
		live->overview.processes[process].is_foreign = true;
	live->overview.processes[process].sources |= UINT32_C(1) << TDM_FROM_METAL_SHM;
	for (unsigned k = 0; k < TDM_KIND_COUNT; k++)
		part->metal.of[k] = part->has_slot ? tdm_plus(part->metal.of[k], slot->bytes.of[k]) : slot->bytes.of[k];
	part->has_slot = true;
	return 0;
}

static int add_opens(struct tdm_live *live, uint32_t device, const struct tdm_host_card *card)
{
	for (uint32_t i = 0; i < card->open_count; i++) {
		const struct tdm_host_open *open = &live->host.opens[card->open_first + i];
		const struct tdm_host_process *known = &live->host.processes[open->process];
		if (known->facts.err == -ENOENT)
			continue; /* it has ended since */
		uint32_t process = find_process(live, known->pid, &known->facts, "");
		struct tdm_part *part = process != UINT32_MAX ? find_part(live, process, device) : NULL;
		if (part == NULL)
			return -ENOMEM;
		live->overview.processes[process].sources |= UINT32_C(1) << TDM_FROM_DRIVER;
		part->descriptors += open->descriptors;
	}
	return 0;
}

static int add_device_parts(struct tdm_live *live, uint32_t d)
{
	const struct tdm_overview_device *device = &live->overview.devices[d];
	int err = 0;
	if (device->region != UINT32_MAX) {
		const struct tdm_metal_region *region = &live->metal.now.regions[device->region];
		for (uint32_t k = 0; k < region->slot_count && err == 0; k++)
			err = add_slot(live, d, &region->slots[k]);
	}
	if (device->host_card != UINT32_MAX && err == 0)
		err = add_opens(live, d, &live->host.cards[device->host_card]);
	return err;
}

static int by_pid(const void *a, const void *b)
{
	const struct tdm_overview_process *x = a, *y = b;
	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->start_time != y->start_time)
		return x->start_time < y->start_time ? -1 : 1;
	return x->handle < y->handle ? -1 : x->handle > y->handle;
}

static int by_process(const void *a, const void *b)
{
	const struct tdm_part *x = a, *y = b;
	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	return x->device < y->device ? -1 : x->device > y->device;
}

/* Processes by pid, parts by process and device. `first_holding` carries the old place while they are sorted. */
static int sort_all(struct tdm_live *live)
{
	size_t count = live->overview.process_count;
	struct tdm_overview_process *processes = live->overview.processes;
	uint32_t *now = malloc((count + 1) * sizeof *now);
	if (now == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		processes[i].first_holding = (uint32_t)i;
	if (count > 1)
		qsort(processes, count, sizeof *processes, by_pid);
	for (size_t i = 0; i < count; i++)
		now[processes[i].first_holding] = (uint32_t)i;
	for (size_t i = 0; i < live->ledgers.count; i++)
		if (live->item_process[i] != UINT32_MAX)
			live->item_process[i] = now[live->item_process[i]];
	for (size_t i = 0; i < live->part_count; i++)
		live->parts[i].process = now[live->parts[i].process];
	free(now);
	if (live->part_count > 1)
		qsort(live->parts, live->part_count, sizeof *live->parts, by_process);
	for (size_t i = 0, next = 0; i < count; i++) {
		processes[i].first_holding = (uint32_t)next;
		processes[i].holding_count = 0;
		for (; next < live->part_count && live->parts[next].process == i; next++)
			processes[i].holding_count++;
	}
	return 0;
}

int tdm_live_join_processes(struct tdm_live *live)
{
	struct tdm_map handles = live->handles_before;
	int err = 0;
	live->handles_before = live->handles;
	live->handles = handles;
	tdm_map_clear(&live->handles);
	tdm_map_clear(&live->by_pid);
	tdm_map_clear(&live->by_pair);
	live->overview.process_count = live->part_count = 0;
	for (size_t i = 0; i < live->ledgers.count && err == 0; i++)
		err = add_ledger_process(live, i);
	for (size_t i = 0; i < live->ledgers.count && err == 0; i++)
		err = add_ledger_parts(live, i);
	for (size_t d = 0; d < live->overview.device_count && err == 0; d++)
		err = add_device_parts(live, (uint32_t)d);
	return err == 0 ? sort_all(live) : err;
}
