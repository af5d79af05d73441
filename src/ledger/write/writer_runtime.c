/*
 * Reports from the runtime below the program: the bytes of all shared buffers, statistics of its allocator, programs
 * that it refused, and steps of devices and traces. Only the first two steps of a trace, its release and the judging of
 * buffers are guarded against signal handlers that jump away. A plain replay is not guarded, because replays happen
 * thousands of times a second and change nothing that a jump could leave half done.
 */
#include "base/number.h"
#include "base/str.h"
#include "ledger/write/writer_hot.h"

enum { RETRY_AFTER = 1024, FIRST_JUDGED = TDM_LEDGER_HAZARDS, SWEEP_SHARE = 4 };

/*
 * The writer's private record of a device's traces and hazards. Callers of this file's static functions are inside the
 * device.
 *
 * A trace exists from its capture to its release. Each new trace begins a new era; a buffer belongs to the era in which
 * it was allocated, and only traces of this era or an earlier one can overwrite it.
 */
enum { TDM_WRITER_WAITING = 4096 }; /* buffers waiting for a replay and not known to be freed */

struct tdm_wtrace {
	uint64_t id, era;
	bool exists;
};

/* A buffer waiting for a replay. */
struct tdm_wwaiting {
	uint64_t id, tsc; /* id and time of its allocation */
	uint32_t kind;
	uint32_t entry; /* index of its entry among the file's hazards */
};

struct tdm_wruntime {
	/* in the file; touch the hazards only if has_hazards, the clashes only if has_clashes */
	struct tdm_ledger_runtime *shared;
	uint64_t offset;
	uint64_t changes, hazard_changes; /* the last even values of the change counters in the file */
	uint64_t era, allocs;
	uint32_t trace_count, next_trace;
	struct tdm_wtrace traces[TDM_LEDGER_TRACES];
	bool has_hazards, has_clashes;
	uint32_t waiting_count, judged_count;  /* numbers of entries, as in the file */
	uint64_t keys[2 * TDM_LEDGER_HAZARDS]; /* keys of entries; identical buffers have equal keys; 0: unused */
	uint64_t eras[TDM_LEDGER_HAZARDS];     /* eras of waiting entries */
	/* number of each entry's buffers that were freed and removed from the list */
	uint64_t freed[TDM_LEDGER_HAZARDS];
	_Atomic uint32_t waiting; /* number of buffers in the list */
	uint32_t sweep_after;     /* buffers to drop before searching for freed ones again */
	struct tdm_wwaiting list[TDM_WRITER_WAITING];
};

/*
 * ---- hazards ----
 *
 * Buffers that were allocated while a captured trace existed. A replay writes to the addresses of the captured buffers,
 * and the allocator may since have given those addresses to other buffers. Each such buffer waits until a trace older
 * than the buffer is replayed; then it is judged to be either still live or already freed. Identical buffers share an
 * entry in the file, so a loop that allocates the same buffer in every round makes only one entry.
 */

/* The word in the file is odd between begin_change() and end_change(); `changes` is its last even value. */
static void begin_change(uint64_t *word, uint64_t changes)
{
	tdm_store_u64(word, changes + 1);
	atomic_thread_fence(memory_order_release);
}

static void end_change(uint64_t *word, uint64_t *changes)
{
	*changes += 2;
	tdm_store_release(word, *changes);
}

static void lose(struct tdm_wruntime *runtime, uint64_t count)
{
	tdm_store_u64(&runtime->shared->head.hazards_lost, runtime->shared->head.hazards_lost + count);
}

/* Reserves the pages of the hazards, or only those of the clashes, which follow the hazards. */
static bool have_part(struct tdm_wdevice *device, struct tdm_wruntime *runtime, bool *has, size_t from)
{
	struct tdm_quiet guard;
	if (*has)
		return true;
	tdm_quiet_begin(&guard);
	if (tdm_lock_take(&device->writer->file_lock)) {
		*has = tdm_ledger_file_reserve(&device->writer->file, runtime->shared, runtime->offset, from,
			       sizeof *runtime->shared) == 0;
		tdm_lock_give(&device->writer->file_lock);
	}
	tdm_quiet_end(&guard);
	return *has;
}

/* Adds `count` buffers like `hazard` to the entries of one half; `when` is their era or trace. Returns the entry, or
 * UINT32_MAX if there was no room. */
static uint32_t add_entry(
	struct tdm_wruntime *runtime, const struct tdm_ledger_hazard *hazard, uint64_t when, uint64_t count)
{
	bool waits = hazard->state == TDM_HAZARD_WAITS;
	uint32_t first = waits ? 0 : FIRST_JUDGED, *used = waits ? &runtime->waiting_count : &runtime->judged_count;
	uint32_t *told = waits ? &runtime->shared->head.waiting_count : &runtime->shared->head.judged_count;
	uint64_t key = tdm_hash_u64(when ^ (uint64_t)hazard->state << 56 ^ (uint64_t)hazard->kind << 48);
	key = tdm_hash_u64(key ^ hazard->asked);
	key = tdm_hash_u64(key ^ tdm_word(hazard->name, hazard->stack));
	key = tdm_hash_u64(key ^ hazard->program) | 1; /* never 0 */
	/* The entry with this key, or else a free entry. */
	uint32_t at = *used < TDM_LEDGER_HAZARDS ? first + *used : UINT32_MAX;
	for (uint32_t i = first; i < first + *used; i++) {
		if (runtime->keys[i] == key) {
			at = i;
			break;
		}
		if (runtime->keys[i] == 0 && i < at)
			at = i;
	}
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

/* Drops unused entries at the end of the waiting ones. */
static void trim_entries(struct tdm_wruntime *runtime)
{
	while (runtime->waiting_count != 0 && runtime->keys[runtime->waiting_count - 1] == 0)
		runtime->waiting_count--;
	atomic_store_explicit(
		(_Atomic uint32_t *)&runtime->shared->head.waiting_count, runtime->waiting_count, memory_order_release);
}

/* A waiting buffer's slot; NULL if the buffer is not live. */
static const struct tdm_ledger_slot *live_slot(struct tdm_wdevice *device, const struct tdm_wwaiting *buffer)
{
	struct tdm_ledger_more *more;
	const struct tdm_ledger_slot *slot = tdm_wdevice_find(device, buffer->kind, buffer->id, &more);
	return slot != NULL && more->tsc == buffer->tsc ? slot : NULL;
}

/* The oldest existing trace; NULL if there is none. */
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
	else {
		/* Removes freed buffers from the list. */
		uint32_t count = atomic_load_explicit(&runtime->waiting, memory_order_relaxed), kept = 0;
		for (uint32_t i = 0; i < count; i++) {
			if (live_slot(device, &runtime->list[i]) != NULL)
				runtime->list[kept++] = runtime->list[i];
			else
				runtime->freed[runtime->list[i].entry]++;
		}
		atomic_store_explicit(&runtime->waiting, kept, memory_order_relaxed);
		runtime->sweep_after = kept > TDM_WRITER_WAITING - TDM_WRITER_WAITING / SWEEP_SHARE
					       ? TDM_WRITER_WAITING / SWEEP_SHARE
					       : 0;
	}
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
	if (!have_part(device, runtime, &runtime->has_hazards, 0) || !has_place(device, runtime)) {
		lose(runtime, 1);
		return;
	}
	begin_change(&runtime->shared->head.hazard_changes, runtime->hazard_changes);
	uint32_t at = add_entry(runtime, &hazard, runtime->era, 1);
	end_change(&runtime->shared->head.hazard_changes, &runtime->hazard_changes);
	if (at == UINT32_MAX)
		return;
	uint32_t count = atomic_load_explicit(&runtime->waiting, memory_order_relaxed);
	runtime->eras[at] = runtime->era;
	runtime->list[count] = (struct tdm_wwaiting){ r->id, hazard.tsc, r->kind, at };
	atomic_store_explicit(&runtime->waiting, count + 1, memory_order_relaxed);
}

/* Whether any buffers are waiting for a replay of this trace. */
static bool has_waiting(const struct tdm_wruntime *runtime, const struct tdm_wtrace *trace)
{
	for (uint32_t i = 0; i < runtime->waiting_count; i++)
		if (runtime->keys[i] != 0 && runtime->eras[i] >= trace->era)
			return true;
	return false;
}

/* Moves `count` buffers of a waiting entry to the judged ones; `slot` is the first buffer's, if it is live. */
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
	add_entry(runtime, &hazard, judged.trace, count);
}

/* A trace was replayed: judges the buffers that waited for that replay. `stack` is the replay's call stack. */
static void judge(struct tdm_wdevice *device, const struct tdm_wtrace *trace, uint64_t tsc, uint32_t stack)
{
	struct tdm_wruntime *runtime = atomic_load_explicit(&device->runtime, memory_order_relaxed);
	const struct tdm_ledger_hazard judged = { .trace = trace->id, .replayed_tsc = tsc, .replay_stack = stack };
	uint32_t count = atomic_load_explicit(&runtime->waiting, memory_order_relaxed), kept = 0;
	begin_change(&runtime->shared->head.hazard_changes, runtime->hazard_changes);
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
	end_change(&runtime->shared->head.hazard_changes, &runtime->hazard_changes);
}

/* A trace no longer exists: forgets the buffers that waited only for this trace. */
static void forget(struct tdm_wdevice *device)
{
	struct tdm_wruntime *runtime = atomic_load_explicit(&device->runtime, memory_order_relaxed);
	const struct tdm_wtrace *trace = oldest(runtime);
	uint64_t era = trace != NULL ? trace->era : UINT64_MAX; /* nothing can overwrite buffers of earlier eras */
	uint32_t count = atomic_load_explicit(&runtime->waiting, memory_order_relaxed), kept = 0;
	if (runtime->waiting_count == 0)
		return;
	begin_change(&runtime->shared->head.hazard_changes, runtime->hazard_changes);
	for (uint32_t i = 0; i < count; i++)
		if (runtime->eras[runtime->list[i].entry] >= era)
			runtime->list[kept++] = runtime->list[i];
	atomic_store_explicit(&runtime->waiting, kept, memory_order_relaxed);
	for (uint32_t i = 0; i < runtime->waiting_count; i++)
		if (runtime->keys[i] != 0 && runtime->eras[i] < era)
			drop_entry(runtime, i);
	trim_entries(runtime);
	end_change(&runtime->shared->head.hazard_changes, &runtime->hazard_changes);
}

/* ---- reports of the runtime ---- */

static int core_use_inside(struct tdm_wdevice *device, uint32_t kind, uint64_t fullest, uint64_t all, uint32_t thread)
{
	const struct tdm_report record = { .kind = kind, .asked = all };
	const struct tdm_words words = tdm_words_of(&record, 0, fullest);
	uint64_t tsc = tdm_clock_ticks(), *old = device->common[kind];
	if (all == old[0] && fullest == old[1])
		return 0;
	if ((all | fullest) >> TDM_WRITER_BYTES_BITS != 0)
		return tdm_writer_refuse(device, TDM_LOSS_INVALID, -EINVAL);
	/* Set first, because from now on the bytes of this kind are not the sum of its buffers. */
	device->shared_kinds |= UINT32_C(1) << kind;
	atomic_store_explicit(
		(_Atomic uint32_t *)&device->shared->shared_kinds, device->shared_kinds, memory_order_relaxed);
	const struct tdm_wchange change = {
		.bytes_and_buffers = { all - old[0] },
		.bank_and_asked = { fullest - old[1] },
		.alloc_bytes = all > old[0] ? all - old[0] : 0,
	};
	if (!tdm_writer_change(device, kind, device->seq + 1, tsc, &change))
		return tdm_writer_refuse(device, TDM_LOSS_INVALID, -EINVAL);
	old[0] = all;
	old[1] = fullest;
	tdm_commit_record(device, tsc, TDM_LEDGER_CORE_USE, &words, thread);
	return 0;
}

int tdm_writer_core_use(struct tdm_wdevice *device, struct tdm_wthread *self, uint32_t kind, uint64_t fullest,
	uint64_t all, uint32_t thread)
{
	enum tdm_entered how = tdm_wdevice_enter(device, self);
	if (how == TDM_NOT_ENTERED)
		return tdm_writer_refuse(device, TDM_LOSS_NESTED, -EBUSY);
	int err = core_use_inside(device, kind, fullest, all, thread);
	tdm_wdevice_leave(device, self, how);
	return err;
}

/* The device's area for the runtime's reports, made if necessary; the caller is inside and guarded. NULL if there is
 * no room. */
static struct tdm_wruntime *have_runtime(struct tdm_wdevice *device)
{
	struct tdm_wruntime *runtime = atomic_load_explicit(&device->runtime, memory_order_relaxed);
	bool is_small = device->writer->file.is_on_behalf;
	void *at = NULL;
	if (runtime != NULL)
		return runtime;
	if (device->runtime_retry != 0) {
		device->runtime_retry--;
		return NULL;
	}
	device->runtime_retry = RETRY_AFTER;
	runtime = tdm_block_alloc(is_small, sizeof *runtime);
	int err = -ENOMEM;
	if (runtime != NULL && tdm_lock_take(&device->writer->file_lock)) {
		err = tdm_ledger_file_area(&device->writer->file, sizeof *runtime->shared,
			offsetof(struct tdm_ledger_runtime, hazards), &at, &runtime->offset);
		tdm_lock_give(&device->writer->file_lock);
	}
	if (err != 0) {
		tdm_block_free(is_small, runtime, sizeof *runtime);
		return NULL;
	}
	runtime->shared = at;
	tdm_store_release(&device->shared->runtime_offset, runtime->offset);
	atomic_store_explicit(&device->runtime, runtime, memory_order_release);
	return runtime;
}

void tdm_wruntime_free(struct tdm_wdevice *device, bool is_small)
{
	struct tdm_wruntime *runtime = atomic_load_explicit(&device->runtime, memory_order_relaxed);
	if (runtime != NULL)
		tdm_block_free(is_small, runtime, sizeof *runtime);
}

/* Forgets waiting buffers, because it is unknown which traces exist. */
int tdm_wruntime_resume(struct tdm_wdevice *device, struct tdm_ledger_runtime *shared, uint64_t offset)
{
	struct tdm_wruntime *runtime = tdm_block_alloc(true, sizeof *runtime);
	if (runtime == NULL)
		return -ENOMEM;
	atomic_store(&device->runtime, runtime);
	runtime->shared = shared;
	runtime->offset = offset;
	runtime->has_hazards = runtime->has_clashes = true;
	runtime->allocs = shared->head.allocs;
	runtime->changes = (shared->head.changes + 1) & ~UINT64_C(1);
	runtime->hazard_changes = (shared->head.hazard_changes + 1) & ~UINT64_C(1);
	runtime->trace_count = (uint32_t)tdm_min(shared->head.trace_count, TDM_LEDGER_TRACES);
	runtime->next_trace = runtime->trace_count % TDM_LEDGER_TRACES;
	for (uint32_t i = 0; i < runtime->trace_count; i++)
		runtime->traces[i].id = shared->traces[i].id;
	for (uint32_t i = 0; i < TDM_LEDGER_HAZARDS; i++)
		if (shared->hazards[FIRST_JUDGED + i].count != 0) {
			runtime->keys[FIRST_JUDGED + i] = 1;
			runtime->judged_count = i + 1;
		}
	shared->head.waiting_count = 0;
	shared->head.judged_count = runtime->judged_count;
	tdm_store_release(&shared->head.changes, runtime->changes);
	tdm_store_release(&shared->head.hazard_changes, runtime->hazard_changes);
	return 0;
}

int tdm_writer_statistics(struct tdm_wdevice *device, struct tdm_wthread *self, uint32_t kind, uint64_t allocated,
	uint64_t free_bytes, uint64_t largest)
{
	struct tdm_quiet guard;
	tdm_quiet_begin(&guard);
	enum tdm_entered how = tdm_wdevice_enter(device, self);
	struct tdm_wruntime *runtime = how != TDM_NOT_ENTERED ? have_runtime(device) : NULL;
	if (runtime != NULL) {
		struct tdm_ledger_statistics *row = &runtime->shared->statistics[kind];
		uint64_t ours = device->now[kind]->bank_bytes;
		begin_change(&runtime->shared->head.changes, runtime->changes);
		row->reports++;
		row->allocated = allocated;
		row->free = free_bytes;
		row->largest = largest;
		row->ours = ours;
		row->differing += allocated != ours;
		row->tsc = tdm_clock_ticks();
		end_change(&runtime->shared->head.changes, &runtime->changes);
	}
	if (how != TDM_NOT_ENTERED)
		tdm_wdevice_leave(device, self, how);
	tdm_quiet_end(&guard);
	if (how == TDM_NOT_ENTERED)
		return tdm_writer_refuse(device, TDM_LOSS_NESTED, -EBUSY);
	return runtime != NULL ? 0 : tdm_writer_refuse(device, TDM_LOSS_SPACE, -ENOSPC);
}

int tdm_writer_clash(struct tdm_wdevice *device, struct tdm_wthread *self, enum tdm_clash_type type,
	const struct tdm_ledger_clash *clash, uint32_t thread)
{
	uint64_t excess = type != TDM_CLASH_UNKNOWN ? clash->end - clash->limit : 0;
	const struct tdm_report report = { .kind = clash->kind,
		.flags = TDM_RECORD_CLASH | (type == TDM_CLASH_BEYOND ? TDM_RECORD_BEYOND : 0),
		.id = clash->end,
		.address = clash->limit,
		.asked = excess,
		.name = clash->program };
	const struct tdm_words words = tdm_words_of(&report, 0, excess);
	bool is_kept = false;
	struct tdm_quiet guard;
	tdm_quiet_begin(&guard);
	enum tdm_entered how = tdm_wdevice_enter(device, self);
	if (how != TDM_NOT_ENTERED) {
		uint64_t tsc = tdm_clock_ticks();
		struct tdm_wruntime *runtime = have_runtime(device);
		is_kept = runtime != NULL && have_part(device, runtime, &runtime->has_clashes,
						     offsetof(struct tdm_ledger_runtime, clashes));
		if (is_kept) {
			struct tdm_ledger_runtime *shared = runtime->shared;
			struct tdm_ledger_clash *row = &shared->clashes[type];
			uint64_t count = row->count + 1;
			begin_change(&shared->head.changes, runtime->changes);
			*row = *clash;
			row->count = count;
			row->tsc = tsc;
			shared->head.clash_types |= (uint16_t)(1U << type);
			end_change(&shared->head.changes, &runtime->changes);
		}
		tdm_commit_record(device, tsc, TDM_LEDGER_OOM, &words, thread);
		tdm_wdevice_leave(device, self, how);
	}
	tdm_quiet_end(&guard);
	if (how == TDM_NOT_ENTERED)
		return tdm_writer_refuse(device, TDM_LOSS_NESTED, -EBUSY);
	return is_kept ? 0 : tdm_writer_refuse(device, TDM_LOSS_SPACE, -ENOSPC);
}

/* The latest trace with this id that has not been released; -1 if there is none. */
static int find_trace(const struct tdm_wruntime *runtime, uint64_t id)
{
	int found = -1;
	for (uint32_t i = 0; i < runtime->trace_count; i++)
		if (runtime->traces[i].id == id && runtime->shared->traces[i].released_tsc == 0 &&
			(found < 0 || runtime->traces[i].era >= runtime->traces[found].era))
			found = (int)i;
	return found;
}

static void set_exists(struct tdm_wdevice *device, struct tdm_wruntime *runtime, uint32_t i, bool exists)
{
	struct tdm_wtrace *trace = &runtime->traces[i];
	if (trace->exists == exists)
		return;
	trace->exists = exists;
	if (exists) {
		trace->era = ++runtime->era;
		runtime->shared->traces[i].first = runtime->allocs;
		atomic_fetch_add(&device->writer->captured, 1);
	} else {
		runtime->shared->traces[i].last = runtime->allocs;
		atomic_fetch_sub(&device->writer->captured, 1);
	}
}

/* Returns the place for a new trace. If all are in use, replaces the oldest released trace, or else the oldest. */
static uint32_t new_trace(struct tdm_wdevice *device, struct tdm_wruntime *runtime, uint64_t id)
{
	uint32_t at = runtime->trace_count;
	if (at == TDM_LEDGER_TRACES) {
		at = runtime->next_trace;
		for (uint32_t i = 0; i < TDM_LEDGER_TRACES && runtime->traces[at].exists; i++)
			at = (at + 1) % TDM_LEDGER_TRACES;
		runtime->next_trace = (at + 1) % TDM_LEDGER_TRACES;
		set_exists(device, runtime, at, false);
		tdm_store_u64(&runtime->shared->head.traces_lost, runtime->shared->head.traces_lost + 1);
	}
	runtime->shared->traces[at] = (struct tdm_ledger_trace){ .id = id };
	runtime->traces[at] = (struct tdm_wtrace){ .id = id, .era = runtime->era };
	if (at == runtime->trace_count) {
		runtime->trace_count++;
		atomic_store_explicit((_Atomic uint32_t *)&runtime->shared->head.trace_count, runtime->trace_count,
			memory_order_release);
	}
	return at;
}

static void release_trace(struct tdm_wdevice *device, struct tdm_wruntime *runtime, uint32_t i, uint64_t tsc)
{
	if (!runtime->traces[i].exists)
		runtime->shared->traces[i].last = runtime->shared->traces[i].first;
	set_exists(device, runtime, i, false);
	runtime->shared->traces[i].released_tsc = tsc;
}

/* Handles a step; false if there is no room. */
static bool step_inside(struct tdm_wdevice *device, enum tdm_step step, uint64_t number, uint64_t tsc, uint32_t stack)
{
	struct tdm_wruntime *runtime = have_runtime(device);
	if (runtime == NULL)
		return false;
	struct tdm_ledger_runtime_head *head = &runtime->shared->head;
	begin_change(&head->changes, runtime->changes);
	if (step >= TDM_STEP_TRACE_BEGAN) {
		int found = step != TDM_STEP_TRACE_BEGAN ? find_trace(runtime, number) : -1;
		uint32_t at = found >= 0 ? (uint32_t)found : new_trace(device, runtime, number);
		struct tdm_ledger_trace *row = &runtime->shared->traces[at];
		if (step == TDM_STEP_TRACE_RELEASED)
			release_trace(device, runtime, at, tsc);
		else if (step == TDM_STEP_TRACE_BEGAN)
			row->began_tsc = tsc;
		else /* a trace whose capture was missed exists from this replay on */
			set_exists(device, runtime, at, true);
		if (step == TDM_STEP_TRACE_ENDED)
			row->ended_tsc = tsc;
		if (step == TDM_STEP_TRACE_REPLAYED) {
			row->replayed_tsc = tsc;
			row->replays++;
			if (has_waiting(runtime, &runtime->traces[at]))
				judge(device, &runtime->traces[at], tsc, stack);
		}
	} else {
		head->life = (uint16_t)step;
		if (step == TDM_STEP_CLOSED)
			head->left = tdm_plus(head->left, number);
		/* Closing a device releases its traces. */
		for (uint32_t i = 0; i < runtime->trace_count && step == TDM_STEP_CLOSED; i++)
			if (runtime->shared->traces[i].released_tsc == 0)
				release_trace(device, runtime, i, tsc);
	}
	end_change(&head->changes, &runtime->changes);
	if (step == TDM_STEP_TRACE_RELEASED || step == TDM_STEP_CLOSED)
		forget(device);
	return true;
}

bool tdm_writer_has_waiting(const struct tdm_wdevice *device)
{
	const struct tdm_wruntime *runtime = atomic_load_explicit(&device->runtime, memory_order_acquire);
	return runtime != NULL && atomic_load_explicit(&runtime->waiting, memory_order_relaxed) != 0;
}

int tdm_writer_step(struct tdm_wdevice *device, struct tdm_wthread *self, enum tdm_step step, uint64_t number,
	uint32_t thread, uint32_t stack)
{
	const struct tdm_report report = { .id = number, .asked = step };
	const struct tdm_words words = tdm_words_of(&report, 0, 0);
	bool is_guarded = !(step == TDM_STEP_TRACE_REPLAYED && !tdm_writer_has_waiting(device) &&
			    atomic_load_explicit(&device->runtime, memory_order_acquire) != NULL),
	     is_done = false;
	struct tdm_quiet guard;
	if (is_guarded)
		tdm_quiet_begin(&guard);
	enum tdm_entered how = tdm_wdevice_enter(device, self);
	if (how != TDM_NOT_ENTERED) {
		uint64_t tsc = tdm_clock_ticks();
		is_done = step_inside(device, step, number, tsc, stack);
		tdm_commit_record(device, tsc, TDM_LEDGER_STEP, &words, thread);
		tdm_wdevice_leave(device, self, how);
	}
	if (is_guarded)
		tdm_quiet_end(&guard);
	if (how == TDM_NOT_ENTERED)
		return tdm_writer_refuse(device, TDM_LOSS_NESTED, -EBUSY);
	return is_done ? 0 : tdm_writer_refuse(device, TDM_LOSS_SPACE, -ENOSPC);
}
