/*
 * Buffers that were allocated while a captured trace existed. A replay writes where the buffers of the capture were,
 * and the allocator may have given those places to others since. Each such buffer waits until a trace is replayed that
 * is older than itself; then it is judged: it is live, or it was freed before. Buffers that are alike share an entry in
 * the file, so that a loop that allocates the same in every round makes one entry.
 */
#include "ledger/writer_runtime.h"
#include "base/str.h"
#include "base/number.h"
#include "ledger/writer_hot.h"

enum { FIRST_JUDGED = TDM_LEDGER_HAZARDS, SWEEP_SHARE = 4 };

static void begin_change(struct tdm_wruntime *runtime)
{
	tdm_store_u64(&runtime->shared->head.hazard_changes, runtime->hazard_changes + 1);
	atomic_thread_fence(memory_order_release);
}

static void end_change(struct tdm_wruntime *runtime)
{
	runtime->hazard_changes += 2;
	tdm_store_release(&runtime->shared->head.hazard_changes, runtime->hazard_changes);
}

static void lose(struct tdm_wruntime *runtime, uint64_t count)
{
	tdm_store_u64(&runtime->shared->head.hazards_lost, runtime->shared->head.hazards_lost + count);
}

/* Reserves the pages of the entries. */
static bool have_hazards(struct tdm_wdevice *device, struct tdm_wruntime *runtime)
{
	struct tdm_quiet guard;
	if (runtime->has_hazards)
		return true;
	tdm_quiet_begin(&guard);
	if (tdm_lock_take(&device->writer->file_lock)) {
		runtime->has_hazards = tdm_ledger_file_reserve(&device->writer->file, runtime->shared, runtime->offset,
					       0, sizeof *runtime->shared) == 0;
		tdm_lock_give(&device->writer->file_lock);
	}
	tdm_quiet_end(&guard);
	return runtime->has_hazards;
}

/* Never 0. */
static uint64_t key_of(const struct tdm_ledger_hazard *hazard, uint64_t when)
{
	uint64_t key = tdm_hash_u64(when ^ (uint64_t)hazard->state << 56 ^ (uint64_t)hazard->kind << 48);
	key = tdm_hash_u64(key ^ hazard->asked);
	key = tdm_hash_u64(key ^ tdm_word(hazard->name, hazard->stack));
	return tdm_hash_u64(key ^ hazard->program) | 1;
}

/* The entry of this half with this key, or one that is free; UINT32_MAX: there is none. `count`: those in use. */
static uint32_t find_entry(const struct tdm_wruntime *runtime, uint32_t first, uint32_t count, uint64_t key)
{
	uint32_t empty = count < TDM_LEDGER_HAZARDS ? first + count : UINT32_MAX;
	for (uint32_t i = first; i < first + count; i++) {
		if (runtime->keys[i] == key)
			return i;
		if (runtime->keys[i] == 0 && i < empty)
			empty = i;
	}
	return empty;
}

/* Adds `count` buffers like `hazard` to the entries of a half. Returns the entry, or UINT32_MAX: they are lost. */
static uint32_t add_entry(
	struct tdm_wruntime *runtime, const struct tdm_ledger_hazard *hazard, uint64_t key, uint64_t count)
{
	bool waits = hazard->state == TDM_HAZARD_WAITS;
	uint32_t first = waits ? 0 : FIRST_JUDGED, *used = waits ? &runtime->waiting_count : &runtime->judged_count;
	uint32_t *told = waits ? &runtime->shared->head.waiting_count : &runtime->shared->head.judged_count;
	uint32_t at = find_entry(runtime, first, *used, key);
	if (at == UINT32_MAX) {
		lose(runtime, count);
		return at;
	}
	struct tdm_ledger_hazard *entry = &runtime->shared->hazards[at];
	if (runtime->keys[at] == key) {
		tdm_store_u64(&entry->count, entry->count + count);
		return at;
	}
	*entry = *hazard;
	entry->count = count;
	runtime->keys[at] = key;
	*used = (uint32_t)tdm_max(*used, at + 1 - first);
	atomic_store_explicit((_Atomic uint32_t *)told, *used, memory_order_release);
	return at;
}

static void drop_entry(struct tdm_wruntime *runtime, uint32_t at)
{
	tdm_store_u64(&runtime->shared->hazards[at].count, 0);
	runtime->keys[at] = 0;
	runtime->freed[at] = 0;
}

/* Gives up the last waiting entries if they are not used. */
static void trim_entries(struct tdm_wruntime *runtime)
{
	while (runtime->waiting_count != 0 && runtime->keys[runtime->waiting_count - 1] == 0)
		runtime->waiting_count--;
	atomic_store_explicit(
		(_Atomic uint32_t *)&runtime->shared->head.waiting_count, runtime->waiting_count, memory_order_release);
}

/* The slot of a buffer that waits, if it is live. */
static const struct tdm_ledger_slot *live_slot(struct tdm_wdevice *device, const struct tdm_wwaiting *buffer)
{
	struct tdm_ledger_more *more;
	const struct tdm_ledger_slot *slot = tdm_wdevice_find(device, buffer->kind, buffer->id, &more);
	return slot != NULL && more->tsc == buffer->tsc ? slot : NULL;
}

/* Takes buffers that were freed meanwhile off the list. */
static void sweep(struct tdm_wdevice *device, struct tdm_wruntime *runtime)
{
	uint32_t count = atomic_load_explicit(&runtime->waiting, memory_order_relaxed), kept = 0;
	for (uint32_t i = 0; i < count; i++) {
		if (live_slot(device, &runtime->list[i]) != NULL)
			runtime->list[kept++] = runtime->list[i];
		else
			runtime->freed[runtime->list[i].entry]++;
	}
	atomic_store_explicit(&runtime->waiting, kept, memory_order_relaxed);
	runtime->sweep_after =
		kept > TDM_WRITER_WAITING - TDM_WRITER_WAITING / SWEEP_SHARE ? TDM_WRITER_WAITING / SWEEP_SHARE : 0;
}

/* The oldest trace that exists; NULL: none does. */
static const struct tdm_wtrace *oldest(const struct tdm_wruntime *runtime)
{
	const struct tdm_wtrace *found = NULL;
	for (uint32_t i = 0; i < runtime->trace_count; i++)
		if (runtime->traces[i].exists && (found == NULL || runtime->traces[i].era < found->era))
			found = &runtime->traces[i];
	return found;
}

static bool has_place(struct tdm_wdevice *device, struct tdm_wruntime *runtime)
{
	if (atomic_load_explicit(&runtime->waiting, memory_order_relaxed) < TDM_WRITER_WAITING)
		return true;
	if (runtime->sweep_after != 0)
		runtime->sweep_after--;
	else
		sweep(device, runtime);
	return atomic_load_explicit(&runtime->waiting, memory_order_relaxed) < TDM_WRITER_WAITING;
}

void tdm_wruntime_note_alloc(
	struct tdm_wdevice *device, const struct tdm_report *r, const struct tdm_report_extra *extra)
{
	struct tdm_wruntime *runtime = atomic_load_explicit(&device->runtime, memory_order_relaxed);
	const struct tdm_wtrace *trace = runtime != NULL ? oldest(runtime) : NULL;
	if (trace == NULL || extra->banks == 0 ||
		(r->kind != TDM_KIND_DRAM && r->kind != TDM_KIND_L1 && r->kind != TDM_KIND_L1_SMALL))
		return;
	struct tdm_ledger_hazard hazard = {
		.trace = trace->id,
		.id = r->id,
		.address = r->address,
		.asked = r->asked,
		.bank_bytes = extra->bank_bytes,
		.tsc = device->last_tsc,
		.name = tdm_blob_is_text(device->texts, r->name) ? r->name : 0,
		.program = extra->program,
		.stack = extra->stack,
		.state = TDM_HAZARD_WAITS,
		.kind = (uint8_t)r->kind,
		.flags = (uint8_t)r->flags,
	};
	tdm_store_u64(&runtime->shared->head.allocs, ++runtime->allocs);
	if (!have_hazards(device, runtime) || !has_place(device, runtime)) {
		lose(runtime, 1);
		return;
	}
	begin_change(runtime);
	uint32_t at = add_entry(runtime, &hazard, key_of(&hazard, runtime->era), 1);
	end_change(runtime);
	if (at == UINT32_MAX)
		return;
	uint32_t count = atomic_load_explicit(&runtime->waiting, memory_order_relaxed);
	runtime->eras[at] = runtime->era;
	runtime->list[count] = (struct tdm_wwaiting){ r->id, hazard.tsc, r->kind, at };
	atomic_store_explicit(&runtime->waiting, count + 1, memory_order_relaxed);
}

bool tdm_wruntime_has_waiting(const struct tdm_wruntime *runtime, const struct tdm_wtrace *trace)
{
	for (uint32_t i = 0; i < runtime->waiting_count; i++)
		if (runtime->keys[i] != 0 && runtime->eras[i] >= trace->era)
			return true;
	return false;
}

/* Adds `count` buffers of a waiting entry to the judged ones; `slot`: of the first of them, if it is live. */
static void add_judged(struct tdm_wruntime *runtime, uint32_t at, const struct tdm_ledger_slot *slot, uint64_t count,
	struct tdm_ledger_hazard judged)
{
	const struct tdm_ledger_hazard *from = &runtime->shared->hazards[at];
	struct tdm_ledger_hazard hazard = *from;
	hazard.trace = judged.trace;
	hazard.replayed_tsc = judged.replayed_tsc;
	hazard.replay_stack = judged.replay_stack;
	hazard.state = slot != NULL ? TDM_HAZARD_LIVE : TDM_HAZARD_FREED;
	if (slot != NULL) {
		hazard.id = slot->id;
		hazard.address = slot->address;
	}
	add_entry(runtime, &hazard, key_of(&hazard, judged.trace), count);
}

void tdm_wruntime_judge(struct tdm_wdevice *device, const struct tdm_wtrace *trace, uint64_t tsc, uint32_t stack)
{
	struct tdm_wruntime *runtime = atomic_load_explicit(&device->runtime, memory_order_relaxed);
	const struct tdm_ledger_hazard judged = { .trace = trace->id, .replayed_tsc = tsc, .replay_stack = stack };
	uint32_t count = atomic_load_explicit(&runtime->waiting, memory_order_relaxed), kept = 0;
	begin_change(runtime);
	for (uint32_t i = 0; i < count; i++) {
		const struct tdm_wwaiting buffer = runtime->list[i];
		if (runtime->eras[buffer.entry] < trace->era)
			runtime->list[kept++] = buffer;
		else
			add_judged(runtime, buffer.entry, live_slot(device, &buffer), 1, judged);
	}
	atomic_store_explicit(&runtime->waiting, kept, memory_order_relaxed);
	for (uint32_t i = 0; i < runtime->waiting_count; i++) {
		if (runtime->keys[i] == 0 || runtime->eras[i] < trace->era)
			continue;
		if (runtime->freed[i] != 0)
			add_judged(runtime, i, NULL, runtime->freed[i], judged);
		drop_entry(runtime, i);
	}
	trim_entries(runtime);
	end_change(runtime);
}

void tdm_wruntime_forget(struct tdm_wdevice *device)
{
	struct tdm_wruntime *runtime = atomic_load_explicit(&device->runtime, memory_order_relaxed);
	const struct tdm_wtrace *trace = oldest(runtime);
	uint64_t era = trace != NULL ? trace->era : UINT64_MAX; /* nothing can overwrite buffers of earlier ones */
	uint32_t count = atomic_load_explicit(&runtime->waiting, memory_order_relaxed), kept = 0;
	if (runtime->waiting_count == 0)
		return;
	begin_change(runtime);
	for (uint32_t i = 0; i < count; i++)
		if (runtime->eras[runtime->list[i].entry] >= era)
			runtime->list[kept++] = runtime->list[i];
	atomic_store_explicit(&runtime->waiting, kept, memory_order_relaxed);
	for (uint32_t i = 0; i < runtime->waiting_count; i++)
		if (runtime->keys[i] != 0 && runtime->eras[i] < era)
			drop_entry(runtime, i);
	trim_entries(runtime);
	end_change(runtime);
}
