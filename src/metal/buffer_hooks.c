/*
 * Buffers: allocation and release, requests that fail, and the end of an allocator with all that it still has.
 *
 * The allocator's own functions are the source. GraphTracker's run a little later, but also for captures that only
 * pretend to allocate; they are used where the allocator cannot be hooked, which shows when they are called without it.
 *
 * Order: a release is reported before the runtime makes it, an allocation after. So a second thread that gets the same
 * address reports it later than the release.
 */
#include "metal/allocators.h"

#include <errno.h>
#include <string.h>

enum {
	HEAD_BYTES = 128,  /* of a buffer in which its device is looked for */
	BODY_BYTES = 1024, /* and its cores */
	SIZE_AFTER = 8,    /* a buffer's size and type follow its device */
	TYPE_AFTER = 16,
	RECHECK = 256, /* one of so many buffers is checked again */
	RANGES_MAX = 64,
	CORE_MAX = 4096,
};

/* What is seen of a buffer. */
struct sight {
	const void *device;
	uint64_t bytes;
	uint32_t kind; /* UINT32_MAX: no memory of a device */
	bool is_vague; /* L1 may be L1_SMALL, and DRAM a trace */
};

static _Thread_local struct {
	const void *buffer; /* that allocate_buffer() reported last */
	uint32_t count;
} own __attribute__((tls_model("initial-exec")));

/* Looks for the pointer to a device, or for one where there was one in the buffers before. */
static bool find_device(struct tdm_metal_runtime *runtime, const char *head, size_t size, const void **device)
{
	struct tdm_metal_places *places = &runtime->places;
	bool is_found = __atomic_load_n(&places->has_device, __ATOMIC_ACQUIRE);
	for (uint32_t i = is_found ? places->device_at : 0; i + sizeof *device <= size; i += sizeof *device) {
		memcpy(device, head + i, sizeof *device);
		if (tdm_metal_is_device(runtime, *device)) {
			places->device_at = i;
			__atomic_store_n(&places->has_device, true, __ATOMIC_RELEASE);
			return true;
		}
		if (is_found)
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
}

/* Whether a type agrees with the answers about this buffer, as far as they were all given. */
static bool judge_type(struct tdm_metal_runtime *runtime, uint32_t type, const struct tdm_metal_answers *answers)
{
	const struct tdm_metal_ask *functions = &runtime->ask;
	if (functions->buffer_is_l1 == NULL || functions->buffer_is_dram == NULL || functions->buffer_is_trace == NULL)
		return false;
	bool agrees = tdm_metal_type_agrees(type, answers), is_wrong = false;
	for (uint32_t i = 0; i < TDM_METAL_TYPES; i++) { /* if it is wrong, it is wrong for all */
		if (i == type || !agrees)
			tdm_metal_judge(&runtime->places.type[i], agrees);
		is_wrong |= runtime->places.type[i].is_wrong;
	}
	return !is_wrong;
}

static uint32_t kind_by_answers(const struct tdm_metal_answers *answers)
{
	return answers->is_trace  ? TIDEMARK_TRACE
	       : answers->is_dram ? TIDEMARK_DRAM
	       : answers->is_l1   ? TIDEMARK_L1
				  : UINT32_MAX;
}

/*
 * The long way: asks for everything that can be asked, and compares the places with the answers. What agrees here is
 * used for this buffer; without asking, only what has agreed often.
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
		return; /* it is gone */
	bool has_device = find_device(runtime, head, size, &sight->device);
	ask(&runtime->ask, buffer, &answers);
	tdm_metal_judge(&places->device, has_device);
	if (has_device && places->device_at + TYPE_AFTER + sizeof type <= size) {
		memcpy(&bytes, head + places->device_at + SIZE_AFTER, sizeof bytes);
		memcpy(&type, head + places->device_at + TYPE_AFTER, sizeof type);
		has_size = tdm_metal_size_agrees(bytes, &answers);
		if (runtime->ask.buffer_num_pages != NULL && runtime->ask.buffer_page_size != NULL)
			tdm_metal_judge(&places->size, has_size);
		has_type = judge_type(runtime, type, &answers) && has_size && !places->size.is_wrong;
	}
	sight->kind = has_type ? tdm_metal_kind_of(type) : kind_by_answers(&answers);
	sight->is_vague = !has_type;
	sight->bytes = has_size && !places->size.is_wrong ? bytes : answers.page_size * answers.pages;
	if (sight->bytes == 0 && sight->kind != UINT32_MAX && runtime->ask.buffer_aligned_size != NULL)
		sight->bytes = runtime->ask.buffer_aligned_size(buffer);
}

/* One of many buffers is compared with the answers again, after its places were proven. */
static __attribute__((cold, noinline)) void look_again(
	struct tdm_metal_runtime *runtime, const void *buffer, const struct sight *sight, uint32_t type)
{
	struct tdm_metal_answers answers;
	ask(&runtime->ask, buffer, &answers);
	tdm_metal_judge(&runtime->places.size, tdm_metal_size_agrees(sight->bytes, &answers));
	judge_type(runtime, type, &answers);
}

/* The short way, if all places are proven: three loads. */
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

/* L1_SMALL is what follows L1, and traces follow DRAM, where the type is not known. */
static inline uint32_t kind_at(const struct sight *sight, const struct tdm_metal_allocator *allocator, uint64_t address)
{
	if (!sight->is_vague)
		return sight->kind;
	return sight->kind == TIDEMARK_L1 && allocator->l1_end != 0 && address >= allocator->l1_end ? TIDEMARK_L1_SMALL
	       : sight->kind == TIDEMARK_DRAM && allocator->dram_end != 0 && address >= allocator->dram_end
		       ? TIDEMARK_TRACE
		       : sight->kind;
}

static inline uint64_t id_of(const struct tdm_metal_allocator *allocator, uint32_t address)
{
	return allocator->number << TDM_METAL_ID_BITS | address;
}

/*
 * The cores of a sharded buffer. Buffer::shard_spec() throws for buffers that have another kind of distribution, so it
 * cannot be asked; but the ranges are a std::vector in the buffer. It is found by what it says: ranges of cores that
 * are, together, as many as num_cores() says.
 */

/* A range of cores in the runtime: corners x0, y0, x1, y1. */
typedef uint64_t corners[4];

static uint32_t read_ranges(const struct tdm_metal_vector *vector, uint64_t cores, struct tidemark_core_range *ranges)
{
	corners found[RANGES_MAX];
	size_t bytes = (size_t)(vector->end - vector->begin), count = bytes / sizeof *found;
	uint64_t total = 0;
	if (vector->begin == NULL || vector->begin >= vector->end || vector->end > vector->limit ||
		count > RANGES_MAX || bytes % sizeof *found != 0 || (uintptr_t)vector->begin % sizeof **found != 0 ||
		!tdm_metal_copy(found, vector->begin, bytes))
		return 0;
	for (size_t i = 0; i < count; i++) {
		const uint64_t *at = found[i];
		if (at[2] > CORE_MAX || at[3] > CORE_MAX || at[0] > at[2] || at[1] > at[3])
			return 0;
		total += (at[2] - at[0] + 1) * (at[3] - at[1] + 1);
		ranges[i] = (struct tidemark_core_range){ (uint16_t)at[0], (uint16_t)at[1], (uint16_t)at[2],
			(uint16_t)at[3] };
	}
	return total == cores ? (uint32_t)count : 0;
}

static __attribute__((cold, noinline)) uint32_t find_ranges(
	struct tdm_metal_runtime *runtime, const void *buffer, uint64_t cores, struct tidemark_core_range *ranges)
{
	union {
		char bytes[BODY_BYTES];
		uint64_t words[BODY_BYTES / sizeof(uint64_t)];
	} body;
	struct tdm_metal_vector vector;
	uint32_t at = __atomic_load_n(&runtime->places.shards_at, __ATOMIC_RELAXED), count = 0;
	if (at != 0)
		return tdm_metal_copy(&vector, (const char *)buffer + at, sizeof vector)
			       ? read_ranges(&vector, cores, ranges)
			       : 0;
	size_t size = sizeof body;
	while (size > sizeof vector && !tdm_metal_copy(&body, buffer, size))
		size /= 2;
	for (size_t i = sizeof(void *); i + sizeof vector <= size && count == 0; i += sizeof(void *)) {
		memcpy(&vector, body.bytes + i, sizeof vector);
		count = read_ranges(&vector, cores, ranges);
		if (count != 0)
			__atomic_store_n(&runtime->places.shards_at, (uint32_t)i, __ATOMIC_RELAXED);
	}
	return count;
}

/*
 * Reports.
 */

static bool is_sane(const struct tidemark_buffer *buffer)
{
	return buffer->bytes <= TDM_METAL_BYTES_MAX && buffer->bytes_per_bank <= TDM_METAL_BYTES_MAX &&
	       buffer->address <= TDM_METAL_BYTES_MAX && buffer->cores <= TDM_METAL_BANKS_MAX;
}

/* Bytes of each bank that a buffer takes: what the allocator computes of three answers. It asks for them before it can
 * fail, so that they do not throw after it has. */
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

static void report(struct tdm_metal_runtime *runtime, const void *own_allocator, const void *buffer, uint64_t address)
{
	const struct tdm_metal_ask *functions = &runtime->ask;
	struct tidemark_buffer new = TIDEMARK_BUFFER_INIT;
	struct tidemark_core_range ranges[RANGES_MAX];
	struct sight sight;
	look(runtime, buffer, &sight);
	if (sight.kind == UINT32_MAX || functions->buffer_address == NULL) /* then its release could not be reported */
		return;
	struct tdm_metal_allocator *allocator =
		tdm_metal_allocator_of(runtime, own_allocator != NULL ? own_allocator : sight.device, sight.device);
	if (allocator == NULL || allocator->chip_count == 0)
		return;
	uint64_t cores = functions->buffer_num_cores != NULL ? functions->buffer_num_cores(buffer) : 0;
	uint64_t page_size = functions->buffer_page_size != NULL ? functions->buffer_page_size(buffer) : 0;
	new.kind = kind_at(&sight, allocator, address);
	new.id = id_of(allocator, (uint32_t)address);
	new.address = address;
	new.bytes = sight.bytes;
	new.bytes_per_bank = functions->buffer_per_bank != NULL ? functions->buffer_per_bank(buffer)
								: per_bank(allocator, buffer, new.kind);
	new.banks = allocator->banks[new.kind];
	new.page_size = page_size <= UINT32_MAX ? (uint32_t)page_size : 0;
	new.cores = cores >> 32 & 1 ? (uint32_t)cores : 0;
	if (!is_sane(&new)) {
		tdm_metal_distrust(runtime,
			"metal: the runtime gives impossible figures of a buffer, so nothing of it is reported");
		return;
	}
	if (new.cores != 0 && new.kind != TIDEMARK_DRAM &&new.kind != TIDEMARK_TRACE) {
		new.range_count = find_ranges(runtime, buffer, new.cores, ranges);
		new.ranges = new.range_count != 0 ? ranges : NULL;
	}
	for (size_t i = 0; i < allocator->chip_count; i++) {
		new.device = allocator->chips[i];
		tidemark_alloc(&new);
	}
	tdm_metal_allocator_used(allocator);
}

/* `own_allocator`: NULL, if only the tracker tells of the release. */
static struct tdm_metal_allocator *report_release(
	struct tdm_metal_runtime *runtime, const void *own_allocator, const void *buffer)
{
	struct sight sight;
	look(runtime, buffer, &sight);
	if (sight.kind == UINT32_MAX || runtime->ask.buffer_address == NULL)
		return NULL;
	struct tdm_metal_allocator *allocator = own_allocator != NULL
							? tdm_metal_allocator_of(runtime, own_allocator, sight.device)
							: tdm_metal_allocator_find_by_device(sight.device);
	if (allocator == NULL)
		return NULL;
	uint32_t address = runtime->ask.buffer_address(buffer);
	uint32_t kind = kind_at(&sight, allocator, address);
	for (size_t i = 0; i < allocator->chip_count; i++)
		tidemark_free(allocator->chips[i], kind, id_of(allocator, address));
	return allocator;
}

static inline bool begin_use(void)
{
	tdm_metal_use_begins();
	return true;
}

static inline void end_use(const bool *use)
{
	(void)use;
	tdm_metal_use_ends();
}

/* An allocator is used from here to the end of the function, however it ends. */
#define USE_ALLOCATOR() bool use __attribute__((cleanup(end_use), unused)) = begin_use()

/* An allocation on its way. If it is still on its way when the frame ends, an exception ended it. */
struct attempt {
	struct tdm_metal_runtime *runtime;
	const void *allocator, *buffer;
};

static void note_failure(struct attempt *attempt)
{
	struct sight sight;
	if (attempt->buffer == NULL || !tdm_metal_is_on(attempt->runtime))
		return;
	look(attempt->runtime, attempt->buffer, &sight);
	struct tdm_metal_allocator *allocator =
		sight.kind != UINT32_MAX ? tdm_metal_allocator_of(attempt->runtime, attempt->allocator, sight.device)
					 : NULL;
	uint64_t each = allocator != NULL ? per_bank(allocator, attempt->buffer, sight.kind) : 0;
	for (size_t i = 0; allocator != NULL && i < allocator->chip_count; i++)
		tidemark_out_of_memory(allocator->chips[i], sight.kind, sight.bytes, each);
}

static __attribute__((noinline)) uint64_t allocate_and_report(
	enum tdm_metal_hook hook, struct tdm_metal_runtime *runtime, void *allocator, void *buffer)
{
	USE_ALLOCATOR();
	struct attempt attempt __attribute__((cleanup(note_failure))) = { runtime, allocator, buffer };
	tdm_metal_count(hook);
	uint64_t address = ((tdm_next_allocate_buffer *)runtime->next[hook])(allocator, buffer);
	attempt.buffer = NULL;
	own.buffer = buffer;
	if (!runtime->has_allocations) {
		runtime->has_allocations = true;
		runtime->is_by_tracker = false;
	}
	report(runtime, allocator, buffer, address);
	return address;
}

static __attribute__((noinline)) void report_and_deallocate(
	enum tdm_metal_hook hook, struct tdm_metal_runtime *runtime, void *allocator, void *buffer)
{
	USE_ALLOCATOR();
	tdm_metal_count(hook);
	struct tdm_metal_allocator *known = !runtime->is_by_tracker ? report_release(runtime, allocator, buffer)
								    : NULL; /* else it was told before */
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

/* The tracker is told of a buffer that the allocator was not: it pretends (then there is no address), or the allocator
 * cannot be hooked, for it was never seen. */
static __attribute__((noinline)) void note_tracked(
	enum tdm_metal_hook hook, struct tdm_metal_runtime *runtime, const void *buffer)
{
	tdm_metal_count(hook);
	uintptr_t word;
	if (own.buffer == buffer || runtime->ask.buffer_address == NULL ||
		(runtime->has_allocations && !runtime->is_by_tracker) || !tdm_metal_copy(&word, buffer, sizeof word))
		return;
	uint32_t address = runtime->ask.buffer_address(buffer);
	if (address == 0)
		return;
	if (!__atomic_exchange_n(&runtime->is_by_tracker, true, __ATOMIC_RELAXED))
		tdm_metal_remark_once("metal: the allocator cannot be hooked, so requests that fail are not seen");
	report(runtime, NULL, buffer, address);
}

static __attribute__((noinline)) void note_untracked(
	enum tdm_metal_hook hook, struct tdm_metal_runtime *runtime, const void *buffer)
{
	tdm_metal_count(hook);
	bool is_only_source = runtime->is_by_tracker || (runtime->next[TDM_HOOK_deallocate_buffer] == NULL &&
								runtime->next[TDM_HOOK_deallocate_buffer_57] == NULL &&
								runtime->next[TDM_HOOK_deallocate_buffer_56] == NULL &&
								runtime->next[TDM_HOOK_deallocate_buffer_55] == NULL);
	uintptr_t word;
	if (is_only_source && runtime->ask.buffer_address != NULL && tdm_metal_copy(&word, buffer, sizeof word) &&
		runtime->ask.buffer_address(buffer) != 0)
		report_release(runtime, NULL, buffer);
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
		if (tdm_metal_is_on(runtime)) {               \
			tdm_metal_count(TDM_HOOK_##id);       \
			tdm_metal_allocator_empty(allocator); \
		}                                             \
		TDM_METAL_NEXT(id)(allocator);                \
	}
EMPTY(deallocate_buffers)
EMPTY(deallocate_buffers_56)
EMPTY(deallocate_buffers_55)

#define END(id)                                               \
	void tdm_hook_##id(void *allocator)                   \
	{                                                     \
		TDM_METAL_ENTER(id)                           \
		USE_ALLOCATOR();                              \
		if (tdm_metal_is_on(runtime)) {               \
			tdm_metal_count(TDM_HOOK_##id);       \
			tdm_metal_allocator_empty(allocator); \
		}                                             \
		tdm_metal_allocator_end(allocator);           \
		TDM_METAL_NEXT(id)(allocator);                \
	}
END(allocator_end)
END(allocator_end_1)
END(allocator_end_55)
END(allocator_end_55_1)
