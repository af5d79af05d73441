/*
 * Buffers: allocation and release, requests that fail, and the end of an allocator with its remaining buffers.
 *
 * The information comes from the allocator's own functions. GraphTracker's functions run a little later, and also for
 * captures that only pretend to allocate. GraphTracker's functions are used only if the allocator cannot be hooked.
 * That is assumed if they are called although the allocator's functions were not.
 *
 * Order: a release is reported before the runtime executes it; an allocation is reported after the runtime has made it.
 * So a second thread that gets the same address reports it after the release.
 */
#include "metal/metal.h"

#include <errno.h>
#include <string.h>

enum {
	HEAD_BYTES = 128, /* bytes of a buffer searched for its device pointer */
	SIZE_AFTER = 8,   /* offset of a buffer's size and type from its device pointer */
	TYPE_AFTER = 16,
	RECHECK = 256,      /* one buffer in this many is checked again */
	MEASURED_MAX = 256, /* maximum number of measurements per allocator */
};

/* The visible properties of a buffer. */
struct sight {
	const void *device;
	uint64_t bytes;
	uint32_t kind; /* UINT32_MAX if the buffer is not in device memory */
	bool is_vague; /* the kind may be L1_SMALL rather than L1, or a trace rather than DRAM */
};

static _Thread_local struct {
	const void *buffer; /* the last buffer reported by allocate_buffer() */
	uint32_t count;
	struct attempt *attempt; /* the request in progress; NULL if there is none */
} own __attribute__((tls_model("initial-exec")));

/* Sets the place; only the first thread to find it succeeds. */
static bool is_device_place(struct tdm_metal_places *places, uint32_t at)
{
	tdm_metal_lock();
	if (!places->has_device) {
		places->device_at = at;
		__atomic_store_n(&places->has_device, true, __ATOMIC_RELEASE);
	}
	bool is_it = places->device_at == at;
	tdm_metal_unlock();
	return is_it;
}

/* Finds the pointer to a device: at the known place or, if none is known, anywhere in the first bytes. */
static bool find_device(struct tdm_metal_runtime *runtime, const char *head, size_t size, const void **device)
{
	struct tdm_metal_places *places = &runtime->places;
	bool is_found = __atomic_load_n(&places->has_device, __ATOMIC_ACQUIRE);
	for (uint32_t i = is_found ? places->device_at : 0; i + sizeof *device <= size; i += sizeof *device) {
		memcpy(device, head + i, sizeof *device);
		bool is_device = tdm_metal_is_device(runtime, *device);
		if (is_device && (is_found || is_device_place(places, i)))
			return true;
		if (is_device || is_found)
			break;
	}
	*device = NULL;
	return false;
}

static void ask(const struct tdm_metal_ask *functions, const void *buffer, struct tdm_metal_answers *answers)
{
	answers->is_dram = functions->buffer_is_dram != NULL && functions->buffer_is_dram(buffer);
	answers->is_l1 = functions->buffer_is_l1 != NULL ? functions->buffer_is_l1(buffer)
							 : functions->buffer_is_dram != NULL && !answers->is_dram;
	if (functions->buffer_is_dram == NULL)
		answers->is_dram = functions->buffer_is_l1 != NULL && !answers->is_l1;
	answers->is_trace = functions->buffer_is_trace != NULL && functions->buffer_is_trace(buffer);
	answers->page_size = functions->buffer_page_size != NULL ? functions->buffer_page_size(buffer) : 0;
	answers->pages = functions->buffer_num_pages != NULL ? functions->buffer_num_pages(buffer) : 0;
	answers->is_sharded = false;
	answers->aligned_page = answers->aligned_size = 0;
	/* These functions throw if the buffer is not in device memory, so they are not called then. */
	if ((functions->buffer_page_size != NULL && functions->buffer_num_pages != NULL) ||
		functions->buffer_num_cores == NULL || (!answers->is_l1 && !answers->is_dram))
		return;
	answers->is_sharded = (functions->buffer_num_cores(buffer) >> 32 & 1) != 0;
	if (functions->buffer_aligned_page != NULL && functions->buffer_aligned_size != NULL) {
		answers->aligned_page = functions->buffer_aligned_page(buffer);
		answers->aligned_size = functions->buffer_aligned_size(buffer);
	}
}

/* Whether a type agrees with the answers about this buffer; false if any answers are missing. */
static bool judge_type(struct tdm_metal_runtime *runtime, uint32_t type, const struct tdm_metal_answers *answers)
{
	const struct tdm_metal_ask *functions = &runtime->ask;
	if (functions->buffer_is_l1 == NULL || functions->buffer_is_dram == NULL || functions->buffer_is_trace == NULL)
		return false;
	bool agrees = tdm_metal_type_agrees(type, answers), is_wrong = false;
	for (uint32_t i = 0; i < TDM_METAL_TYPES; i++) { /* a size that is wrong is wrong for every type */
		if (i == type || !agrees)
			tdm_metal_judge(&runtime->places.type[i], agrees);
		is_wrong |= runtime->places.type[i].is_wrong;
	}
	return !is_wrong;
}

/*
 * The slow path: calls every function, and compares the values at the places with the answers. A place that agrees is
 * used for this buffer; a place that has agreed often enough is then used without calling.
 */
static __attribute__((cold, noinline)) void look_closely(
	struct tdm_metal_runtime *runtime, const void *buffer, struct sight *sight)
{
	struct tdm_metal_places *places = &runtime->places;
	struct tdm_metal_answers answers;
	char head[HEAD_BYTES];
	size_t size = sizeof head;
	uint64_t bytes = 0;
	uint32_t type = UINT32_MAX;
	bool has_size = false, has_type = false;
	*sight = (struct sight){ .kind = UINT32_MAX };
	while (size > sizeof(void *) && !tdm_metal_copy(head, buffer, size))
		size /= 2;
	if (size <= sizeof(void *))
		return; /* the device no longer exists */
	bool has_device = find_device(runtime, head, size, &sight->device);
	ask(&runtime->ask, buffer, &answers);
	tdm_metal_judge(&places->device, has_device);
	if (has_device && places->device_at + TYPE_AFTER + sizeof type <= size) {
		memcpy(&bytes, head + places->device_at + SIZE_AFTER, sizeof bytes);
		memcpy(&type, head + places->device_at + TYPE_AFTER, sizeof type);
		has_size = tdm_metal_size_agrees(bytes, &answers);
		if ((answers.pages != 0 && answers.page_size != 0) || answers.aligned_size != 0)
			tdm_metal_judge(&places->size, has_size);
		has_type = judge_type(runtime, type, &answers) && has_size && !places->size.is_wrong;
	}
	sight->kind = has_type           ? tdm_metal_kind_of(type)
		      : answers.is_trace ? TIDEMARK_TRACE
		      : answers.is_dram  ? TIDEMARK_DRAM
		      : answers.is_l1    ? TIDEMARK_L1
					 : UINT32_MAX;
	sight->is_vague = !has_type;
	sight->bytes = has_size && !places->size.is_wrong ? bytes : answers.page_size * answers.pages;
	if (sight->bytes == 0 && sight->kind != UINT32_MAX && runtime->ask.buffer_aligned_size != NULL)
		sight->bytes = runtime->ask.buffer_aligned_size(buffer);
}

/* Even when the places are proven, one buffer in RECHECK is compared with the answers again. */
static __attribute__((cold, noinline)) void look_again(
	struct tdm_metal_runtime *runtime, const void *buffer, const struct sight *sight, uint32_t type)
{
	struct tdm_metal_answers answers;
	ask(&runtime->ask, buffer, &answers);
	tdm_metal_judge(&runtime->places.size, tdm_metal_size_agrees(sight->bytes, &answers));
	judge_type(runtime, type, &answers);
}

/* The fast path, used once all places are proven: three loads. */
static inline void look(struct tdm_metal_runtime *runtime, const void *buffer, struct sight *sight)
{
	const struct tdm_metal_places *places = &runtime->places;
	uint32_t type = UINT32_MAX;
	if (__builtin_expect(tdm_metal_is_proven(&places->device) && tdm_metal_is_proven(&places->size), 1))
		memcpy(&type, (const char *)buffer + places->device_at + TYPE_AFTER, sizeof type);
	if (__builtin_expect(type >= TDM_METAL_TYPES || !tdm_metal_is_proven(&places->type[type]), 0)) {
		look_closely(runtime, buffer, sight);
		return;
	}
	memcpy(&sight->device, (const char *)buffer + places->device_at, sizeof sight->device);
	memcpy(&sight->bytes, (const char *)buffer + places->device_at + SIZE_AFTER, sizeof sight->bytes);
	sight->kind = tdm_metal_kind_of(type);
	sight->is_vague = false;
	if (__builtin_expect(++own.count % RECHECK == 0, 0))
		look_again(runtime, buffer, sight, type);
}

/* For an unknown type: addresses of L1_SMALL are above L1, and those of traces are above DRAM. */
static __attribute__((noinline)) uint32_t kind_by_address(
	const struct sight *sight, const struct tdm_metal_allocator *allocator, uint64_t address)
{
	bool is_l1 = sight->kind == TIDEMARK_L1;
	uint64_t end = is_l1 ? allocator->l1_end : allocator->dram_end;
	if (!is_l1 && sight->kind != TIDEMARK_DRAM)
		return sight->kind;
	if (end == 0 && (is_l1 || allocator->runtime->ask.buffer_is_trace == NULL))
		tdm_metal_remark_once("metal: buffers of L1_SMALL are shown as L1, or traces as DRAM: the functions "
				      "that tell them apart are missing");
	return end == 0 || address < end ? sight->kind : is_l1 ? TIDEMARK_L1_SMALL : TIDEMARK_TRACE;
}

static inline uint32_t kind_at(const struct sight *sight, const struct tdm_metal_allocator *allocator, uint64_t address)
{
	return sight->is_vague ? kind_by_address(sight, allocator, address) : sight->kind;
}

static inline uint64_t id_of(const struct tdm_metal_allocator *allocator, uint32_t address)
{
	return allocator->number << TDM_METAL_ID_BITS | address;
}

/*
 * Reports.
 */

/* The bytes that a buffer takes in each bank, computed from three answers as the allocator does. The allocator calls
 * the same functions before it can fail, so they do not throw afterwards. */
static uint64_t per_bank(const struct tdm_metal_allocator *allocator, const void *buffer, uint32_t kind)
{
	const struct tdm_metal_ask *functions = &allocator->runtime->ask;
	if (functions->buffer_aligned_size == NULL || functions->buffer_aligned_page == NULL ||
		functions->buffer_num_cores == NULL)
		return 0;
	uint64_t page = functions->buffer_aligned_page(buffer), cores = functions->buffer_num_cores(buffer);
	uint64_t banks = cores >> 32 & 1 ? (uint32_t)cores : allocator->banks[kind];
	if (page == 0 || page > TDM_METAL_BYTES_MAX || banks == 0)
		return 0;
	uint64_t pages = (functions->buffer_aligned_size(buffer) + page - 1) / page;
	uint64_t most = (pages + banks - 1) / banks;
	return most <= TDM_METAL_BYTES_MAX / page ? most * page : 0;
}

/*
 * Measures the bytes that a buffer takes in each bank. The allocator allocates in steps, which may be larger than the
 * buffer's alignment. The difference between its statistics before and after an allocation shows the step, if nothing
 * else happens meanwhile.
 */

/* A measurement of one allocation. */
struct measure {
	bool is_on;
	uint64_t uses;
	struct tdm_metal_statistics before;
};

static __attribute__((cold, noinline)) void begin_measure(
	struct tdm_metal_allocator *allocator, const void *buffer, uint32_t kind, struct measure *measure)
{
	const struct tdm_metal_ask *functions = &allocator->runtime->ask;
	uint64_t page = functions->buffer_page_size != NULL ? functions->buffer_page_size(buffer) : 0;
	bool is_certain = functions->buffer_per_bank != NULL || tdm_metal_is_proven(&allocator->formula);
	uint32_t highest = tdm_metal_step_now(&allocator->steps[kind]).high;
	if (is_certain && page != 0 && highest != 0 && page % highest == 0)
		return; /* every possible step gives the same result */
	uint64_t bytes = per_bank(allocator, buffer, kind);
	if ((is_certain && bytes != 0 && tdm_metal_step_apply(&allocator->steps[kind], bytes) != 0) ||
		__atomic_load_n(&allocator->measured, __ATOMIC_RELAXED) >= MEASURED_MAX)
		return;
	__atomic_fetch_add(&allocator->measured, 1, __ATOMIC_RELAXED);
	if (!tdm_metal_is_alone(&measure->uses))
		return;
	measure->is_on = tdm_metal_allocator_says(allocator, kind, &measure->before);
}

/* The number of bytes taken; 0 if unknown. */
static uint64_t end_measure(struct tdm_metal_allocator *allocator, uint32_t kind, const struct measure *measure)
{
	struct tdm_metal_statistics after;
	if (!measure->is_on || !tdm_metal_allocator_says(allocator, kind, &after))
		return 0;
	bool is_alone = __atomic_load_n(&tdm_metal_uses, __ATOMIC_ACQUIRE) == measure->uses;
	return is_alone && after.allocated > measure->before.allocated ? after.allocated - measure->before.allocated
								       : 0;
}

/*
 * The bytes that an allocator takes for a request; 0 if unknown. If the possible steps yield different results, the
 * step reported by a function is used.
 */
static __attribute__((cold, noinline)) uint64_t taken_by_said_step(
	const struct tdm_metal_allocator *allocator, uint32_t kind, uint64_t bytes)
{
	struct tdm_metal_step step = tdm_metal_step_now(&allocator->steps[kind]);
	bool is_possible = step.low <= allocator->said_step && allocator->said_step <= step.high;
	return is_possible ? tdm_metal_round_up(bytes, allocator->said_step) : 0;
}

/* The bytes that a buffer has taken in each bank; 0 if unknown. */
static inline uint64_t taken(
	struct tdm_metal_allocator *allocator, const void *buffer, uint32_t kind, const struct measure *measure)
{
	const struct tdm_metal_ask *functions = &allocator->runtime->ask;
	struct tdm_metal_step *step = &allocator->steps[kind];
	bool is_formula = functions->buffer_per_bank == NULL;
	uint64_t bytes = is_formula ? per_bank(allocator, buffer, kind) : functions->buffer_per_bank(buffer);
	uint64_t seen = measure->is_on ? end_measure(allocator, kind, measure) : 0;
	if (__builtin_expect(seen != 0, 0)) {
		tdm_metal_step_judge(step, bytes, seen);
		if (is_formula)
			tdm_metal_judge(&allocator->formula, step->low <= step->high);
		return seen;
	}
	if (bytes > TDM_METAL_BYTES_MAX || (is_formula && !tdm_metal_is_proven(&allocator->formula)))
		return is_formula ? 0 : bytes;
	uint64_t result = tdm_metal_step_apply(step, bytes);
	return __builtin_expect(result != 0, 1) ? result : taken_by_said_step(allocator, kind, bytes);
}

static void report(struct tdm_metal_allocator *allocator, const struct sight *sight, const void *buffer,
	uint64_t address, const struct measure *measure)
{
	struct tdm_metal_runtime *runtime = allocator->runtime;
	const struct tdm_metal_ask *functions = &runtime->ask;
	struct tidemark_buffer new = TIDEMARK_BUFFER_INIT;
	struct tidemark_core_range ranges[TDM_METAL_RANGES_MAX];
	uint64_t cores = functions->buffer_num_cores != NULL ? functions->buffer_num_cores(buffer) : 0;
	uint64_t page_size = functions->buffer_page_size != NULL ? functions->buffer_page_size(buffer) : 0;
	new.kind = kind_at(sight, allocator, address);
	new.id = id_of(allocator, (uint32_t)address);
	new.address = address;
	new.bytes = sight->bytes;
	new.bytes_per_bank = taken(allocator, buffer, new.kind, measure);
	new.banks = allocator->banks[new.kind];
	if (__builtin_expect(new.bytes_per_bank == 0 || !allocator->has_banks, 0)) {
		new.flags = TIDEMARK_ESTIMATED;
		if (new.bytes_per_bank == 0)
			tdm_metal_remark_once(
				"metal: bytes per bank are not known of some buffers: functions are missing, "
				"or what the allocator takes does not follow from them");
	}
	new.page_size = page_size <= UINT32_MAX ? (uint32_t)page_size : 0;
	new.cores = cores >> 32 & 1 ? (uint32_t)cores : 0;
	if (new.bytes > TDM_METAL_BYTES_MAX || new.bytes_per_bank > TDM_METAL_BYTES_MAX ||
		new.address > TDM_METAL_BYTES_MAX || new.cores > TDM_METAL_BANKS_MAX) {
		tdm_metal_distrust(runtime,
			"metal: the runtime gives impossible figures of a buffer, so nothing of it is reported");
		return;
	}
	if (new.cores != 0 && new.kind != TIDEMARK_DRAM &&new.kind != TIDEMARK_TRACE) {
		new.range_count = tdm_metal_buffer_cores(runtime, buffer, new.cores, ranges);
		new.ranges = new.range_count != 0 ? ranges : NULL;
	}
	for (size_t i = 0; i < allocator->chip_count; i++) {
		new.device = allocator->chips[i];
		tidemark_alloc(&new);
	}
	tdm_metal_allocator_used(allocator);
}

/* `own_allocator` is NULL if only the tracker reports the release. */
static struct tdm_metal_allocator *report_release(
	struct tdm_metal_runtime *runtime, const void *own_allocator, const void *buffer)
{
	struct sight sight;
	look(runtime, buffer, &sight);
	if (sight.kind == UINT32_MAX || runtime->ask.buffer_address == NULL)
		return NULL;
	struct tdm_metal_allocator *allocator = own_allocator != NULL
							? tdm_metal_allocator_of(runtime, own_allocator, sight.device)
							: tdm_metal_allocator_find(NULL, sight.device);
	if (allocator == NULL)
		return NULL;
	uint32_t address = runtime->ask.buffer_address(buffer);
	uint32_t kind = kind_at(&sight, allocator, address);
	for (size_t i = 0; i < allocator->chip_count; i++)
		tidemark_free(allocator->chips[i], kind, id_of(allocator, address));
	return allocator;
}

/* Marks the rest of the function, however it is left, as a use of allocators. */
#define USE_ALLOCATOR() bool use __attribute__((cleanup(tdm_metal_use_ends), unused)) = tdm_metal_use_begins()

/* The allocator of a buffer that is about to be allocated or reported. NULL if the buffer cannot be reported: if its
 * address is unknown, its release could not be reported either. */
static inline struct tdm_metal_allocator *find_allocator(
	struct tdm_metal_runtime *runtime, const void *own_allocator, const void *buffer, struct sight *sight)
{
	look(runtime, buffer, sight);
	return sight->kind != UINT32_MAX ? tdm_metal_allocator_of(runtime,
						   own_allocator != NULL ? own_allocator : sight->device, sight->device)
					 : NULL;
}

static inline bool is_shown(const struct tdm_metal_allocator *allocator)
{
	return allocator != NULL && allocator->chip_count != 0 && allocator->runtime->ask.buffer_address != NULL;
}

/* ---- failed requests; the runtime may also refuse a request for reasons other than lack of memory ---- */

/* An allocation in progress. If it is still in progress when the frame ends, an exception ended it. */
struct attempt {
	struct tdm_metal_allocator *allocator; /* NULL if unknown, or once the request has succeeded */
	const void *buffer;
	struct sight sight;
	struct attempt *outer; /* the enclosing request in the same thread */
};

/*
 * Reports the failure if memory was the reason: no free block was large enough. `is_locked`: the allocator may be
 * locked, so it cannot be queried. Its last statistics are used instead, which are exact if nothing has changed since.
 * In that case, unless an exception is certainly the reason, the request must also exceed the free memory.
 */
static __attribute__((cold, noinline)) void note_failure(
	const struct attempt *attempt, bool is_locked, bool is_exception)
{
	struct tdm_metal_allocator *allocator = attempt->allocator;
	const struct tdm_metal_ask *functions = &allocator->runtime->ask;
	const uint32_t kind = attempt->sight.kind;
	struct tdm_metal_statistics said;
	bool has_cores =
		functions->buffer_num_cores == NULL || (functions->buffer_num_cores(attempt->buffer) >> 32 & 1) != 0;
	/* L1_SMALL buffers must be sharded, so this request was refused for its form */
	bool is_form = !has_cores && kind == TIDEMARK_L1_SMALL;
	/* interleaved L1 buffers have a limit, which no function returns */
	bool has_limit = !has_cores && kind == TIDEMARK_L1;
	uint64_t each = per_bank(allocator, attempt->buffer, kind); /* bytes in each bank; 0 if unknown */
	if (!tdm_metal_is_on(allocator->runtime))
		return;
	bool is_memory;
	if (is_locked) {
		bool has_said = allocator->has_statistics && kind < TDM_METAL_KINDS && each != 0;
		bool is_large = has_said && each > allocator->said[kind].largest;
		bool fits = has_said && !is_large &&
			    __atomic_load_n(&allocator->asking, __ATOMIC_RELAXED) == TDM_METAL_ASKED;
		is_memory = !is_form && (is_exception ? has_limit || !fits : is_large);
	} else {
		is_memory = !is_form && (each == 0 || has_limit || !tdm_metal_allocator_says(allocator, kind, &said) ||
						each > said.largest);
		if (!is_memory)
			tdm_metal_remark_once(
				"metal: the runtime refused a buffer for another reason than lack of memory");
	}
	for (size_t i = 0; i < allocator->chip_count && is_memory; i++)
		tidemark_out_of_memory(allocator->chips[i], kind, attempt->sight.bytes, each);
	if (is_memory && !is_locked)
		tdm_metal_allocator_report(allocator);
}

static inline void end_attempt(const struct attempt *attempt)
{
	own.attempt = attempt->outer;
	if (__builtin_expect(attempt->allocator != NULL, 0))
		note_failure(attempt, false, true);
}

bool tdm_metal_buffers_are_attempted(void)
{
	return own.attempt != NULL;
}

void tdm_metal_buffers_aborted(bool is_exception)
{
	const struct attempt *attempt = own.attempt;
	own.attempt = NULL; /* report once, even if the program survives */
	for (; attempt != NULL; attempt = attempt->outer)
		if (attempt->allocator != NULL)
			note_failure(attempt, true, is_exception);
}

static __attribute__((noinline)) uint64_t allocate_and_report(
	enum tdm_metal_hook hook, struct tdm_metal_runtime *runtime, void *own_allocator, void *buffer)
{
	USE_ALLOCATOR();
	struct attempt attempt __attribute__((cleanup(end_attempt))) = { .buffer = buffer, .outer = own.attempt };
	struct measure measure = { .is_on = false };
	tdm_metal_count(hook);
	struct tdm_metal_allocator *allocator = find_allocator(runtime, own_allocator, buffer, &attempt.sight);
	attempt.allocator = allocator;
	uint32_t kind = attempt.sight.kind;
	if (allocator != NULL && !attempt.sight.is_vague &&
		(tdm_metal_step_is_open(&allocator->steps[kind]) || runtime->ask.buffer_per_bank == NULL))
		begin_measure(allocator, buffer, kind, &measure);
	own.attempt = &attempt;
	uint64_t address = ((tdm_next_allocate_buffer *)runtime->next[hook])(own_allocator, buffer);
	attempt.allocator = NULL;
	own.buffer = buffer;
	if (!__atomic_load_n(&runtime->has_allocations, __ATOMIC_RELAXED)) {
		__atomic_store_n(&runtime->has_allocations, true, __ATOMIC_RELAXED);
		__atomic_store_n(&runtime->is_by_tracker, false, __ATOMIC_RELAXED);
	}
	if (is_shown(allocator))
		report(allocator, &attempt.sight, buffer, address, &measure);
	return address;
}

static __attribute__((noinline)) void report_and_deallocate(
	enum tdm_metal_hook hook, struct tdm_metal_runtime *runtime, void *allocator, void *buffer)
{
	USE_ALLOCATOR();
	tdm_metal_count(hook);
	struct tdm_metal_allocator *known = !tdm_metal_is_by_tracker(runtime)
						    ? report_release(runtime, allocator, buffer)
						    : NULL; /* otherwise it has already been reported */
	((tdm_next_deallocate_buffer *)runtime->next[hook])(allocator, buffer);
	if (known != NULL)
		tdm_metal_allocator_used(known);
}

#define ALLOCATE(id)                                                                                             \
	uint64_t tdm_hook_##id(void *allocator, void *buffer)                                                    \
	{                                                                                                        \
		TDM_METAL_ENTER(id, 0)                                                                           \
		return tdm_metal_is_on(runtime) ? allocate_and_report(TDM_HOOK_##id, runtime, allocator, buffer) \
						: TDM_METAL_NEXT(id)(allocator, buffer);                         \
	}
ALLOCATE(allocate_buffer)
ALLOCATE(allocate_buffer_57)
ALLOCATE(allocate_buffer_56)
ALLOCATE(allocate_buffer_55)

#define DEALLOCATE(id)                                                                    \
	void tdm_hook_##id(void *allocator, void *buffer)                                 \
	{                                                                                 \
		TDM_METAL_ENTER(id)                                                       \
		if (tdm_metal_is_on(runtime))                                             \
			report_and_deallocate(TDM_HOOK_##id, runtime, allocator, buffer); \
		else                                                                      \
			TDM_METAL_NEXT(id)(allocator, buffer);                            \
	}
DEALLOCATE(deallocate_buffer)
DEALLOCATE(deallocate_buffer_57)
DEALLOCATE(deallocate_buffer_56)
DEALLOCATE(deallocate_buffer_55)

/* The tracker reports a buffer that the allocator did not. Either a capture only pretends to allocate (then there is
 * no address), or the allocator cannot be hooked, so its calls were never seen. */
static __attribute__((noinline)) void note_tracked(
	enum tdm_metal_hook hook, struct tdm_metal_runtime *runtime, const void *buffer)
{
	tdm_metal_count(hook);
	uintptr_t word;
	if (own.buffer == buffer || runtime->ask.buffer_address == NULL ||
		(__atomic_load_n(&runtime->has_allocations, __ATOMIC_RELAXED) && !tdm_metal_is_by_tracker(runtime)) ||
		!tdm_metal_copy(&word, buffer, sizeof word))
		return;
	uint32_t address = runtime->ask.buffer_address(buffer);
	if (address == 0)
		return;
	if (!__atomic_exchange_n(&runtime->is_by_tracker, true, __ATOMIC_RELAXED))
		tdm_metal_remark_once("metal: the allocator cannot be hooked, so requests that fail are not seen");
	struct sight sight;
	struct tdm_metal_allocator *allocator = find_allocator(runtime, NULL, buffer, &sight);
	if (is_shown(allocator))
		report(allocator, &sight, buffer, address, &(struct measure){ .is_on = false });
}

static __attribute__((noinline)) void note_untracked(
	enum tdm_metal_hook hook, struct tdm_metal_runtime *runtime, const void *buffer)
{
	tdm_metal_count(hook);
	bool is_only_source =
		tdm_metal_is_by_tracker(runtime) || (runtime->next[TDM_HOOK_deallocate_buffer] == NULL &&
							    runtime->next[TDM_HOOK_deallocate_buffer_57] == NULL &&
							    runtime->next[TDM_HOOK_deallocate_buffer_56] == NULL &&
							    runtime->next[TDM_HOOK_deallocate_buffer_55] == NULL);
	uintptr_t word;
	if (!is_only_source || runtime->ask.buffer_address == NULL || !tdm_metal_copy(&word, buffer, sizeof word) ||
		runtime->ask.buffer_address(buffer) == 0)
		return;
	struct tdm_metal_allocator *allocator = report_release(runtime, NULL, buffer);
	if (allocator != NULL) /* its statistics will be out of date, because it releases the buffer after this call */
		__atomic_store_n(&allocator->asking, TDM_METAL_USED, __ATOMIC_RELAXED);
}

#define TRACK(id, buffer_type, note)                          \
	void tdm_hook_##id(void *tracker, buffer_type buffer) \
	{                                                     \
		TDM_METAL_ENTER(id)                           \
		if (tdm_metal_is_on(runtime))                 \
			note(TDM_HOOK_##id, runtime, buffer); \
		TDM_METAL_NEXT(id)(tracker, buffer);          \
	}
TRACK(track_allocate, const void *, note_tracked)
TRACK(track_allocate_55, const void *, note_tracked)
TRACK(track_deallocate, void *, note_untracked)
TRACK(track_deallocate_55, void *, note_untracked)

#define EMPTY(id)                                             \
	void tdm_hook_##id(void *allocator)                   \
	{                                                     \
		TDM_METAL_ENTER(id)                           \
		if (tdm_metal_sees(runtime, TDM_HOOK_##id))   \
			tdm_metal_allocator_empty(allocator); \
		TDM_METAL_NEXT(id)(allocator);                \
	}
EMPTY(deallocate_buffers)
EMPTY(deallocate_buffers_56)
EMPTY(deallocate_buffers_55)

#define END(id)                                                               \
	void tdm_hook_##id(void *allocator)                                   \
	{                                                                     \
		TDM_METAL_ENTER(id)                                           \
		USE_ALLOCATOR();                                              \
		__atomic_store_n(&runtime->has_ends, true, __ATOMIC_RELAXED); \
		if (tdm_metal_sees(runtime, TDM_HOOK_##id))                   \
			tdm_metal_allocator_empty(allocator);                 \
		tdm_metal_allocator_end(allocator);                           \
		TDM_METAL_NEXT(id)(allocator);                                \
	}
END(allocator_end)
END(allocator_end_1)
END(allocator_end_55)
END(allocator_end_55_1)
