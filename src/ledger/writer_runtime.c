/*
 * Reports of the runtime below the program: what shared buffers take together, what its allocator says, programs that
 * it refused, and steps of devices and traces. Only the first two steps of a trace, its release and judged buffers are
 * guarded against signals that jump: a replay happens thousands of times in a second, and changes nothing that a jump
 * could leave half changed.
 */
#include "ledger/writer_runtime.h"
#include "ledger/writer_hot.h"
#include "base/number.h"

enum { RETRY_AFTER = 1024 };

static bool is_absurd(uint64_t bytes)
{
	return bytes >> TDM_WRITER_BYTES_BITS != 0;
}

/* Writes the next copy of a kind's counters with another common part. False, with nothing changed, when the sum is
 * absurd. */
static bool count_common(
	struct tdm_wdevice *device, uint32_t kind, uint64_t number, uint64_t tsc, const struct tdm_wcommon *common)
{
	const struct tdm_ledger_now *was = device->now[kind];
	struct tdm_ledger_now *now = tdm_other_copy(device->now[kind]), *all = &device->l1_all;
	const struct tdm_wcommon *old = &device->common[kind];
	const tdm_pair bytes_change = { common->bytes - old->bytes, 0 };
	const tdm_pair bank_change = { common->bank_bytes - old->bank_bytes, 0 };
	tdm_pair bytes = *(const tdm_pair *)&was->bytes + bytes_change;
	tdm_pair bank = *(const tdm_pair *)&was->bank_bytes + bank_change;
	uint64_t grown = common->bytes > old->bytes ? common->bytes - old->bytes : 0;
	uint64_t alloc_bytes = was->alloc_bytes + grown, alloc_asked = was->alloc_asked;
	if (tdm_is_above(device->limit[kind], bytes, bank) &&
		!tdm_writer_raise_peak(device, kind, number, tsc, bytes, bank))
		return false;
	tdm_writer_cap_totals(&alloc_bytes, &alloc_asked);
	tdm_begin_write(&now->seq);
	*(tdm_pair *)&now->bytes = bytes;
	*(tdm_pair *)&now->bank_bytes = bank;
	tdm_store_pair(&now->allocs, was->allocs, alloc_bytes);
	now->alloc_asked = alloc_asked;
	tdm_store_release(&now->seq, number);
	device->now[kind] = now;
	bytes = *(tdm_pair *)&all->bytes += bytes_change;
	bank = *(tdm_pair *)&all->bank_bytes += bank_change;
	if (tdm_is_above(device->limit[TDM_LEDGER_L1_ALL], bytes, bank))
		tdm_writer_raise_peak(device, TDM_LEDGER_L1_ALL, number, tsc, bytes, bank);
	return true;
}

static int core_use_inside(struct tdm_wdevice *device, uint32_t kind, const struct tdm_wcommon *common, uint32_t thread)
{
	const struct tdm_report record = { .kind = kind, .asked = common->bytes };
	const struct tdm_words words = tdm_words_of(&record, 0, common->bank_bytes);
	uint64_t number = device->seq + 1, tsc = tdm_clock_ticks();
	if (common->bytes == device->common[kind].bytes && common->bank_bytes == device->common[kind].bank_bytes)
		return 0;
	if (is_absurd(common->bytes) || is_absurd(common->bank_bytes))
		return tdm_writer_refuse(device, TDM_LOSS_INVALID, -EINVAL);
	/* First: from now on the sums of buffers say nothing about the bytes of this kind. */
	device->shared_kinds |= UINT32_C(1) << kind;
	atomic_store_explicit(
		(_Atomic uint32_t *)&device->shared->shared_kinds, device->shared_kinds, memory_order_relaxed);
	if (!count_common(device, kind, number, tsc, common))
		return tdm_writer_refuse(device, TDM_LOSS_INVALID, -EINVAL);
	device->last_tsc = tsc;
	tdm_put_record(device, number, tsc, TDM_LEDGER_CORE_USE, &words, thread);
	device->common[kind] = *common;
	tdm_commit(device, number);
	return 0;
}

int tdm_writer_core_use(struct tdm_wdevice *device, struct tdm_wthread *self, uint32_t kind, uint64_t fullest,
	uint64_t all, uint32_t thread)
{
	const struct tdm_wcommon common = { all, fullest };
	enum tdm_entered how = tdm_wdevice_enter(device, self);
	if (how == TDM_NOT_ENTERED)
		return tdm_writer_refuse(device, TDM_LOSS_NESTED, -EBUSY);
	int err = core_use_inside(device, kind, &common, thread);
	tdm_wdevice_leave(device, self, how);
	return err;
}

/* The area of the device, made if necessary; the caller is inside and guarded. NULL: there is no room. */
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
	if (runtime == NULL || !tdm_lock_take(&device->writer->file_lock)) {
		tdm_block_free(is_small, runtime, sizeof *runtime);
		return NULL;
	}
	int err = tdm_ledger_file_area(&device->writer->file, sizeof *runtime->shared,
		offsetof(struct tdm_ledger_runtime, hazards), &at, &runtime->offset);
	tdm_lock_give(&device->writer->file_lock);
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

/* Buffers that waited are forgotten, as nobody knows which traces exist. */
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
	runtime->trace_count =
		shared->head.trace_count < TDM_LEDGER_TRACES ? shared->head.trace_count : TDM_LEDGER_TRACES;
	runtime->next_trace = runtime->trace_count % TDM_LEDGER_TRACES;
	for (uint32_t i = 0; i < runtime->trace_count; i++)
		runtime->traces[i].id = shared->traces[i].id;
	for (uint32_t i = 0; i < 2 * TDM_LEDGER_HAZARDS; i++)
		runtime->keys[i] = i >= TDM_LEDGER_HAZARDS && shared->hazards[i].count != 0;
	for (uint32_t i = 0; i < TDM_LEDGER_HAZARDS; i++)
		if (runtime->keys[TDM_LEDGER_HAZARDS + i] != 0)
			runtime->judged_count = i + 1;
	shared->head.waiting_count = 0;
	shared->head.judged_count = runtime->judged_count;
	tdm_store_release(&shared->head.changes, runtime->changes);
	tdm_store_release(&shared->head.hazard_changes, runtime->hazard_changes);
	return 0;
}

static void begin_change(struct tdm_wruntime *runtime)
{
	tdm_store_u64(&runtime->shared->head.changes, runtime->changes + 1);
	atomic_thread_fence(memory_order_release);
}

static void end_change(struct tdm_wruntime *runtime)
{
	runtime->changes += 2;
	tdm_store_release(&runtime->shared->head.changes, runtime->changes);
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
		begin_change(runtime);
		row->reports++;
		row->allocated = allocated;
		row->free = free_bytes;
		row->largest = largest;
		row->ours = ours;
		row->differing += allocated != ours;
		row->tsc = tdm_clock_ticks();
		end_change(runtime);
	}
	if (how != TDM_NOT_ENTERED)
		tdm_wdevice_leave(device, self, how);
	tdm_quiet_end(&guard);
	if (how == TDM_NOT_ENTERED)
		return tdm_writer_refuse(device, TDM_LOSS_NESTED, -EBUSY);
	return runtime != NULL ? 0 : tdm_writer_refuse(device, TDM_LOSS_SPACE, -ENOSPC);
}

/* The area with room for clashes; the caller is inside and guarded. NULL: there is no room. */
static struct tdm_wruntime *have_clashes(struct tdm_wdevice *device)
{
	struct tdm_wruntime *runtime = have_runtime(device);
	if (runtime == NULL || runtime->has_clashes)
		return runtime;
	if (tdm_lock_take(&device->writer->file_lock)) {
		runtime->has_clashes =
			tdm_ledger_file_reserve(&device->writer->file, runtime->shared, runtime->offset,
				offsetof(struct tdm_ledger_runtime, clashes), sizeof *runtime->shared) == 0;
		tdm_lock_give(&device->writer->file_lock);
	}
	return runtime->has_clashes ? runtime : NULL;
}

static bool keep_clash(
	struct tdm_wdevice *device, enum tdm_clash_type type, const struct tdm_ledger_clash *clash, uint64_t tsc)
{
	struct tdm_wruntime *runtime = have_clashes(device);
	if (runtime == NULL)
		return false;
	struct tdm_ledger_clash *row = &runtime->shared->clashes[type];
	uint64_t count = row->count + 1;
	begin_change(runtime);
	*row = *clash;
	row->count = count;
	row->tsc = tsc;
	runtime->shared->head.clash_types |= (uint16_t)(1U << type);
	end_change(runtime);
	return true;
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
		is_kept = keep_clash(device, type, clash, tsc);
		device->last_tsc = tsc;
		tdm_put_record(device, device->seq + 1, tsc, TDM_LEDGER_OOM, &words, thread);
		tdm_commit(device, device->seq + 1);
		tdm_wdevice_leave(device, self, how);
	}
	tdm_quiet_end(&guard);
	if (how == TDM_NOT_ENTERED)
		return tdm_writer_refuse(device, TDM_LOSS_NESTED, -EBUSY);
	return is_kept ? 0 : tdm_writer_refuse(device, TDM_LOSS_SPACE, -ENOSPC);
}

/* The latest trace with this id that was not released; -1: there is none. */
static int find_trace(const struct tdm_wruntime *runtime, uint64_t id)
{
	int found = -1;
	uint64_t newest = 0;
	for (uint32_t i = 0; i < runtime->trace_count; i++) {
		const struct tdm_wtrace *trace = &runtime->traces[i];
		if (trace->id == id && runtime->shared->traces[i].released_tsc == 0 && trace->era >= newest) {
			found = (int)i;
			newest = trace->era;
		}
	}
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

/* The place for another trace: in place of the oldest that was released, else of the oldest, if all are in use. */
static uint32_t new_trace(struct tdm_wdevice *device, struct tdm_wruntime *runtime, uint64_t id)
{
	uint32_t at = runtime->trace_count;
	if (at == TDM_LEDGER_TRACES) {
		at = runtime->next_trace;
		for (uint32_t i = 0; i < TDM_LEDGER_TRACES; i++) {
			uint32_t next = (runtime->next_trace + i) % TDM_LEDGER_TRACES;
			if (!runtime->traces[next].exists) {
				at = next;
				break;
			}
		}
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

/* A step of the trace at `i`. One whose capture was not seen exists from now on. */
static void apply_step(
	struct tdm_wdevice *device, struct tdm_wruntime *runtime, uint32_t i, enum tdm_step step, uint64_t tsc)
{
	struct tdm_ledger_trace *row = &runtime->shared->traces[i];
	switch (step) {
	case TDM_STEP_TRACE_BEGAN:
		row->began_tsc = tsc;
		break;
	case TDM_STEP_TRACE_ENDED:
		row->ended_tsc = tsc;
		set_exists(device, runtime, i, true);
		break;
	case TDM_STEP_TRACE_REPLAYED:
		row->replayed_tsc = tsc;
		row->replays++;
		set_exists(device, runtime, i, true);
		break;
	default:
		release_trace(device, runtime, i, tsc);
	}
}

/* A device that is closed takes its traces along. */
static void step_device(
	struct tdm_wdevice *device, struct tdm_wruntime *runtime, enum tdm_step step, uint64_t number, uint64_t tsc)
{
	struct tdm_ledger_runtime_head *head = &runtime->shared->head;
	head->life = (uint16_t)step;
	if (step == TDM_STEP_OPENED)
		return;
	head->left = tdm_plus(head->left, number);
	for (uint32_t i = 0; i < runtime->trace_count; i++)
		if (runtime->shared->traces[i].released_tsc == 0)
			release_trace(device, runtime, i, tsc);
}

/* False when there is no room. */
static bool step_inside(struct tdm_wdevice *device, enum tdm_step step, uint64_t number, uint64_t tsc, uint32_t stack)
{
	struct tdm_wruntime *runtime = have_runtime(device);
	if (runtime == NULL)
		return false;
	begin_change(runtime);
	if (step >= TDM_STEP_TRACE_BEGAN) {
		int found = step != TDM_STEP_TRACE_BEGAN ? find_trace(runtime, number) : -1;
		uint32_t at = found >= 0 ? (uint32_t)found : new_trace(device, runtime, number);
		apply_step(device, runtime, at, step, tsc);
		if (step == TDM_STEP_TRACE_REPLAYED && tdm_wruntime_has_waiting(runtime, &runtime->traces[at]))
			tdm_wruntime_judge(device, &runtime->traces[at], tsc, stack);
	} else {
		step_device(device, runtime, step, number, tsc);
	}
	end_change(runtime);
	if (step == TDM_STEP_TRACE_RELEASED || step == TDM_STEP_CLOSED)
		tdm_wruntime_forget(device);
	return true;
}

bool tdm_writer_has_waiting(const struct tdm_wdevice *device)
{
	const struct tdm_wruntime *runtime = atomic_load_explicit(&device->runtime, memory_order_acquire);
	return runtime != NULL && atomic_load_explicit(&runtime->waiting, memory_order_relaxed) != 0;
}

/* Nothing is made anew and nobody waits: nothing has to be guarded. */
static bool is_plain(const struct tdm_wdevice *device, enum tdm_step step)
{
	return step == TDM_STEP_TRACE_REPLAYED && !tdm_writer_has_waiting(device) &&
	       atomic_load_explicit(&device->runtime, memory_order_acquire) != NULL;
}

int tdm_writer_step(struct tdm_wdevice *device, struct tdm_wthread *self, enum tdm_step step, uint64_t number,
	uint32_t thread, uint32_t stack)
{
	const struct tdm_report report = { .id = number, .asked = step };
	const struct tdm_words words = tdm_words_of(&report, 0, 0);
	bool is_guarded = !is_plain(device, step), is_done = false;
	struct tdm_quiet guard;
	if (is_guarded)
		tdm_quiet_begin(&guard);
	enum tdm_entered how = tdm_wdevice_enter(device, self);
	if (how != TDM_NOT_ENTERED) {
		uint64_t tsc = tdm_clock_ticks();
		is_done = step_inside(device, step, number, tsc, stack);
		device->last_tsc = tsc;
		tdm_put_record(device, device->seq + 1, tsc, TDM_LEDGER_STEP, &words, thread);
		tdm_commit(device, device->seq + 1);
		tdm_wdevice_leave(device, self, how);
	}
	if (is_guarded)
		tdm_quiet_end(&guard);
	if (how == TDM_NOT_ENTERED)
		return tdm_writer_refuse(device, TDM_LOSS_NESTED, -EBUSY);
	return is_done ? 0 : tdm_writer_refuse(device, TDM_LOSS_SPACE, -ENOSPC);
}
