/*
 * Hooks for programs: their circular buffers, their end, their clashes, and the operations to which they belong.
 *
 * allocate_circular_buffers announces each circular buffer (track_allocate_cb) for each chip. Announcements do not name
 * the program, so the program is kept in the thread's state. An announcement outside that function comes from a capture
 * without dispatch, which places nothing. A program's new layout replaces its previous one on the same chips.
 *
 * A layout is made first and validated later, at each launch. A refused layout stays in the program and is validated
 * again at the next launch; it was never on the device. So a layout is reported only when it passes.
 */
#include "metal/metal.h"
#include "metal/programs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"

#define NO_END                                                                                                        \
	"metal: this release does not say when a program ends: its circular buffers are shown until another program " \
	"is at its place in memory, or its device is closed"
#define NO_CORES "metal: the cores of circular buffers are not known: the runtime gives ranges that do not add up"
#define NO_CHIP  "metal: some circular buffers are not seen: their device is not known"

enum { PROGRAM_RANGES_MAX = 256, RANGES_AT_ONCE = 16 }; /* small, because the caller's stack may be small */

/* The items announced during one call to allocate_circular_buffers, and the facts found during one validation. */
struct gathering {
	struct tdm_metal_runtime *runtime;
	struct tdm_program_items items;
	struct gathering *outer;
};

struct validation {
	const void *program;
	uint32_t kind;
	uint64_t lowest_l1, l1_size; /* 0 if unknown */
	bool has_returned;
	struct validation *outer;
};

/* This thread's gathering; NULL if there is none. */
static _Thread_local struct gathering *gathering;
static _Thread_local struct validation *validation __attribute__((tls_model("initial-exec")));
static _Thread_local char operation[TDM_PROGRAM_NAME_MAX + 1]; /* the operation to be enqueued next; "" if unknown */
static _Thread_local bool is_enqueuing;                        /* while that operation is being enqueued */
/* a program whose new layout has not been validated yet */
static _Thread_local const void *unvalidated;

static void end_gathering(struct gathering *g)
{
	gathering = g->outer;
	tdm_program_items_done(&g->items);
}

/* Reads the ranges of a CoreRangeSet. Returns their count; 0 if they cannot be read or do not add up. */
static uint32_t read_ranges(struct tdm_metal_runtime *runtime, const void *core_range_set,
	struct tidemark_core_range ranges[PROGRAM_RANGES_MAX])
{
	struct tdm_metal_vector vector;
	size_t theirs[RANGES_AT_ONCE][4]; /* x0, y0, x1, y1 of each range */
	uint64_t cores = 0;
	const void *answer = runtime->ask.ranges != NULL ? runtime->ask.ranges(core_range_set) : NULL;
	if (answer == NULL || !tdm_metal_copy(&vector, answer, sizeof vector))
		return 0;
	size_t bytes = (size_t)(vector.end - vector.begin), count = bytes / sizeof theirs[0];
	if (vector.end < vector.begin || bytes % sizeof theirs[0] != 0 || count > PROGRAM_RANGES_MAX)
		return 0;
	for (size_t i = 0; i < count; i++) {
		size_t at = i % RANGES_AT_ONCE, left = count - i;
		if (at == 0 && !tdm_metal_copy(theirs, vector.begin + i * sizeof theirs[0],
				       tdm_min(left, RANGES_AT_ONCE) * sizeof theirs[0]))
			return 0;
		const size_t *r = theirs[at];
		if (r[2] > UINT16_MAX || r[3] > UINT16_MAX || r[0] > r[2] || r[1] > r[3])
			return 0;
		ranges[i] =
			(struct tidemark_core_range){ (uint16_t)r[0], (uint16_t)r[1], (uint16_t)r[2], (uint16_t)r[3] };
		cores += (r[2] - r[0] + 1) * (r[3] - r[1] + 1);
	}
	bool adds_up = runtime->ask.ranges_cores == NULL || runtime->ask.ranges_cores(core_range_set) == cores;
	return adds_up ? (uint32_t)count : 0;
}

/* The name for a program's buffers: the operation that this thread is enqueuing, else the program's kernels, else
 * "". */
static void find_name(const void *program, char name[TDM_PROGRAM_NAME_MAX + 1])
{
	if (is_enqueuing)
		memcpy(name, operation, sizeof operation);
	else
		tdm_programs_kernel_names(program, name);
}

/* Adds the items announced for a device, which may be a mesh. */
static void gather(
	struct gathering *g, const void *set, uint64_t address, uint64_t size, bool is_view, const void *device)
{
	struct tidemark_core_range ranges[PROGRAM_RANGES_MAX];
	uint32_t chips[TDM_METAL_CHIPS_MAX];
	size_t chip_count = tdm_metal_chips(g->runtime, device, chips, TDM_METAL_CHIPS_MAX);
	struct tdm_program_item item = { .kind = TIDEMARK_CB,
		.flags = is_view ? TIDEMARK_VIEW : TIDEMARK_SHARED,
		.address = address,
		.size = size,
		.ranges = ranges,
		.range_count = read_ranges(g->runtime, set, ranges) };
	if (chip_count == 0)
		tdm_metal_remark_once(NO_CHIP);
	if (item.range_count == 0)
		tdm_metal_remark_once(NO_CORES);
	for (size_t i = 0; i < chip_count; i++) {
		item.chip = chips[i];
		item.index = 0;
		for (size_t k = 0; k < g->items.count; k++)
			item.index += g->items.list[k].chip == item.chip;
		(void)tdm_program_items_add(&g->items, &item); /* out of memory: the item is missing */
	}
}

#define ANNOUNCE(id)                                                                                                  \
	void tdm_hook_##id(                                                                                           \
		void *tracker, const void *ranges, uint64_t address, uint64_t size, bool is_view, const void *device) \
	{                                                                                                             \
		TDM_METAL_ENTER(id)                                                                                   \
		TDM_METAL_NEXT(id)(tracker, ranges, address, size, is_view, device);                                  \
		if (tdm_metal_sees(runtime, TDM_HOOK_##id) && gathering != NULL)                                      \
			gather(gathering, ranges, address, size, is_view, device);                                    \
	}
ANNOUNCE(track_allocate_cb)
ANNOUNCE(track_allocate_cb_57)
ANNOUNCE(track_allocate_cb_55)

static void accept(const void *program, uint32_t kind)
{
	char name[TDM_PROGRAM_NAME_MAX + 1];
	if (!tdm_programs_are_waiting())
		return;
	find_name(program, name);
	tdm_programs_accept(program, name, kind);
}

/* The items, all of one kind, are the program's new layout. It is reported once it is validated, or immediately if
 * the runtime has no validating function. Takes ownership of the items. */
static void put_layout(
	struct tdm_metal_runtime *runtime, const void *program, uint32_t kind, struct tdm_program_items *items)
{
	void *const *next = runtime->next;
	bool is_validated = kind == TIDEMARK_DFB
				    ? next[TDM_HOOK_validate_dfbs] != NULL
				    : next[TDM_HOOK_validate_cbs] != NULL || next[TDM_HOOK_validate_cbs_57] != NULL ||
					      next[TDM_HOOK_validate_cbs_55] != NULL;
	uint64_t number = runtime->ask.program_id != NULL ? runtime->ask.program_id(program) : UINT64_MAX;
	tdm_programs_propose(program, number, kind, items);
	if (is_validated)
		unvalidated = program;
	else
		accept(program, kind);
}

typedef void of_program_on_device(void *program, const void *device);

static void allocate_cbs(struct tdm_metal_runtime *runtime, enum tdm_metal_hook hook, of_program_on_device *next,
	void *program, const void *device)
{
	if (!tdm_metal_sees(runtime, hook)) {
		next(program, device);
		return;
	}
	struct gathering g __attribute__((cleanup(end_gathering))) = { .runtime = runtime, .outer = gathering };
	gathering = &g;
	next(program, device);
	if (g.items.count == 0)
		return;
	put_layout(runtime, program, TIDEMARK_CB, &g.items);
	if (!(runtime->next[TDM_HOOK_program_destroyed] != NULL || runtime->next[TDM_HOOK_program_end] != NULL ||
		    runtime->next[TDM_HOOK_program_end_2] != NULL || runtime->next[TDM_HOOK_deallocate_cbs] != NULL))
		tdm_metal_remark_once(NO_END);
}

/* Called while an exception is in flight, so the runtime must not be called. `if_seen`: report only if the addresses
 * show a clash. */
static void report_clash(const struct validation *v, bool if_seen)
{
	uint32_t chips[TDM_METAL_CHIPS_MAX];
	char name[TDM_PROGRAM_NAME_MAX + 1];
	struct tdm_program_extent extent;
	struct tidemark_clash clash = TIDEMARK_CLASH_INIT;
	size_t count = tdm_programs_extent(v->program, v->kind, &extent, chips, TDM_METAL_CHIPS_MAX);
	if (if_seen && (v->l1_size == 0 || extent.end <= v->l1_size) &&
		(v->lowest_l1 == 0 || extent.end <= v->lowest_l1))
		return;
	find_name(v->program, name);
	if (name[0] == '\0')
		tdm_programs_own_name(v->program, name);
	clash.kind = v->kind;
	clash.program = count != 0 ? tidemark_name(name) : 0;
	clash.begin = extent.begin;
	clash.end = extent.end;
	clash.l1_lowest = v->lowest_l1;
	clash.l1_size = v->l1_size;
	clash.cores = extent.range;
	clash.range_count = extent.range_count;
	for (size_t i = 0; i < count; i++) {
		clash.device = chips[i];
		tidemark_report_clash(&clash);
	}
}

bool tdm_programs_are_validated(void)
{
	return validation != NULL;
}

void tdm_programs_aborted(bool is_exception)
{
	const struct validation *v = validation;
	validation = NULL; /* report once, even if the program survives */
	for (; v != NULL; v = v->outer)
		if (!v->has_returned)
			report_clash(v, !is_exception);
}

static void end_validation(struct validation *v)
{
	validation = v->outer;
	if (!v->has_returned)
		report_clash(v, false);
}

static void validate(struct tdm_metal_runtime *runtime, enum tdm_metal_hook hook, of_program_on_device *next,
	uint32_t kind, void *program, const void *device)
{
	if (!tdm_metal_sees(runtime, hook)) {
		next(program, device);
		return;
	}
	struct validation v
		__attribute__((cleanup(end_validation))) = { .program = program, .kind = kind, .outer = validation };
	validation = &v;
	unvalidated = NULL;
	next(program, device);
	v.has_returned = true;
	accept(program, kind);
	if (kind == TIDEMARK_CB) /* a program is compiled before its validation, and launched after it */
		accept(program, TIDEMARK_KERNEL);
}

/* Called while the runtime validates; `answer` is the address that circular buffers must not reach. */
static struct tdm_metal_maybe lowest(struct tdm_metal_maybe answer)
{
	if (validation != NULL && (answer.has_value & 0xff) != 0)
		validation->lowest_l1 = answer.value;
	return answer;
}

#define LOWEST(id)                                                                                \
	struct tdm_metal_maybe tdm_hook_##id(const void *device, const void *first, size_t count) \
	{                                                                                         \
		TDM_METAL_ENTER(id, (struct tdm_metal_maybe){ 0 })                                \
		return lowest(TDM_METAL_NEXT(id)(device, first, count));                          \
	}
LOWEST(lowest_l1_mesh)
LOWEST(lowest_l1_device)
LOWEST(lowest_l1_mesh_57)
LOWEST(lowest_l1_device_57)

/* Called during the same validation, with the end of L1. */
#define L1_SIZE(id)                                         \
	uint32_t tdm_hook_##id(const void *device)          \
	{                                                   \
		TDM_METAL_ENTER(id, 0)                      \
		uint32_t size = TDM_METAL_NEXT(id)(device); \
		if (validation != NULL)                     \
			validation->l1_size = size;         \
		return size;                                \
	}
L1_SIZE(l1_size_mesh)
L1_SIZE(l1_size_device)

#define ALLOCATE(id)                                                                       \
	void tdm_hook_##id(void *program, const void *device)                              \
	{                                                                                  \
		TDM_METAL_ENTER(id)                                                        \
		allocate_cbs(runtime, TDM_HOOK_##id, TDM_METAL_NEXT(id), program, device); \
	}
ALLOCATE(allocate_cbs)
ALLOCATE(allocate_cbs_57)
ALLOCATE(allocate_cbs_55)

#define VALIDATE(id, kind)                                                                   \
	void tdm_hook_##id(void *program, const void *device)                                \
	{                                                                                    \
		TDM_METAL_ENTER(id)                                                          \
		validate(runtime, TDM_HOOK_##id, TDM_METAL_NEXT(id), kind, program, device); \
	}
VALIDATE(validate_cbs, TIDEMARK_CB)
VALIDATE(validate_cbs_57, TIDEMARK_CB)
VALIDATE(validate_cbs_55, TIDEMARK_CB)
VALIDATE(validate_dfbs, TIDEMARK_DFB)

/* The end of a program. Several functions signal it, in varying order; each item ends only once. Items end even while
 * tracking is off, so that a later program at the same address does not inherit them. */
void tdm_hook_deallocate_cbs(void *program)
{
	TDM_METAL_ENTER(deallocate_cbs)
	TDM_METAL_NEXT(deallocate_cbs)(program);
	tdm_metal_sees(runtime, TDM_HOOK_deallocate_cbs);
	if (!tdm_programs_is_empty())
		tdm_programs_end_items(program, TIDEMARK_CB, TDM_PROGRAM_ANY_CHIP);
}

void tdm_hook_unregister_program(void *device, void *program)
{
	TDM_METAL_ENTER(unregister_program)
	uint32_t chip;
	TDM_METAL_NEXT(unregister_program)(device, program);
	tdm_metal_sees(runtime, TDM_HOOK_unregister_program);
	if (!tdm_programs_is_empty() && tdm_metal_chips(runtime, device, &chip, 1) == 1)
		tdm_programs_end_items(program, TIDEMARK_CB, chip);
}

#define END(id, type)                                                          \
	void tdm_hook_##id(type program)                                       \
	{                                                                      \
		TDM_METAL_ENTER(id)                                            \
		__atomic_store_n(&runtime->has_lives, true, __ATOMIC_RELAXED); \
		TDM_METAL_NEXT(id)(program);                                   \
		tdm_metal_sees(runtime, TDM_HOOK_##id);                        \
		if (!tdm_programs_is_empty())                                  \
			tdm_programs_end(program);                             \
	}
END(program_end, void *)
END(program_end_2, void *)
END(program_destroyed, const void *)
END(program_created, const void *) /* any earlier program at this address has ended */

/*
 * The operation. ttnn passes an operation's name to the inspector just before it enqueues the workload, so the name
 * applies to allocations during that call. Tensors returned by an operation are allocated earlier, so no hook names
 * those.
 */
static void note_operation(
	const struct tdm_metal_runtime *runtime, enum tdm_metal_hook hook, const char *name, size_t length)
{
	if (!tdm_metal_sees(runtime, hook))
		return;
	length = tdm_min(length, TDM_PROGRAM_NAME_MAX);
	operation[tdm_metal_copy(operation, name, length) ? length : 0] = '\0';
}

void tdm_hook_emit_operation(
	void *workload, uint64_t runtime_id, size_t length, const char *name, void *specs, uint64_t trace)
{
	TDM_METAL_ENTER(emit_operation)
	note_operation(runtime, TDM_HOOK_emit_operation, name, length);
	TDM_METAL_NEXT(emit_operation)(workload, runtime_id, length, name, specs, trace);
}

void tdm_hook_emit_operation_66(void *workload, size_t length, const char *name, size_t more_length, const char *more)
{
	TDM_METAL_ENTER(emit_operation_66)
	note_operation(runtime, TDM_HOOK_emit_operation_66, name, length);
	TDM_METAL_NEXT(emit_operation_66)(workload, length, name, more_length, more);
}

/* `before` is NULL if the operation was unknown. */
static void end_operation(const uint32_t *const *before)
{
	if (*before == NULL)
		return;
	operation[0] = '\0';
	is_enqueuing = false;
	tidemark_swap_program(**before);
}

/* For builds in which the validation is inlined: if a launch returned, its layout has passed. */
static void end_launch(const bool *has_returned)
{
	const void *program = unvalidated;
	unvalidated = NULL;
	if (program == NULL || !*has_returned)
		return;
	accept(program, TIDEMARK_CB);
	accept(program, TIDEMARK_KERNEL);
	accept(program, TIDEMARK_DFB);
}

void tdm_hook_compile_and_allocate(void *program, void *device, bool is_slow)
{
	TDM_METAL_ENTER(compile_and_allocate)
	bool has_returned __attribute__((cleanup(end_launch))) = false;
	tdm_metal_sees(runtime, TDM_HOOK_compile_and_allocate);
	TDM_METAL_NEXT(compile_and_allocate)(program, device, is_slow);
	has_returned = true;
}

void tdm_hook_enqueue_workload(void *queue, void *workload, bool is_blocking)
{
	TDM_METAL_ENTER(enqueue_workload)
	const bool has_name = tdm_metal_sees(runtime, TDM_HOOK_enqueue_workload) && operation[0] != '\0';
	uint32_t before = has_name ? tidemark_swap_program(tidemark_name(operation)) : 0;
	const uint32_t *restored __attribute__((cleanup(end_operation), unused)) = has_name ? &before : NULL;
	bool has_returned __attribute__((cleanup(end_launch))) = false;
	is_enqueuing |= has_name;
	TDM_METAL_NEXT(enqueue_workload)(queue, workload, is_blocking);
	has_returned = true;
}

/* These functions are only counted, because other hooks see their effects. */
#define COUNT(id, parameters, arguments)                \
	void tdm_hook_##id parameters                   \
	{                                               \
		TDM_METAL_ENTER(id)                     \
		tdm_metal_sees(runtime, TDM_HOOK_##id); \
		TDM_METAL_NEXT(id) arguments;           \
	}
COUNT(invalidate_cbs, (void *program), (program)) /* the program's next layout replaces this one */
COUNT(register_program, (void *device, void *program), (device, program))
COUNT(track_deallocate_cb, (void *tracker, const void *device), (tracker, device)) /* does not name the program */
COUNT(track_deallocate_cb_55, (void *tracker, const void *device), (tracker, device))
/* In those releases, no function that handles kernels takes the key. */
COUNT(program_compiled_59, (const void *program, const void *device, uint32_t build_key), (program, device, build_key))
COUNT(track_program, (void *tracker, void *program, const void *device), (tracker, program, device))
COUNT(track_program_55, (void *tracker, void *program, const void *device), (tracker, program, device))
/* Called by captures without dispatch, which place nothing. */
COUNT(track_allocate_dfb,
	(void *tracker, const void *ranges, uint64_t address, uint64_t size, bool is_view, const void *device),
	(tracker, ranges, address, size, is_view, device))
COUNT(track_allocate_scratchpad,
	(void *tracker, const void *ranges, uint64_t address, uint64_t size, const void *device),
	(tracker, ranges, address, size, device))

/*
 * ---- the other parts of programs: code, dataflow buffers, scratchpads ----
 *
 * Dataflow buffers are not announced. The runtime keeps a list of them, with their cores; their sizes are in the
 * objects, at places that no function returns. Each core range's allocator receives the address and size of each
 * buffer, in the same order (mark_address). The buffers are reported only if both sources agree.
 */

#define NO_DFBS                                                                                                        \
	"metal: dataflow buffers are not seen: the runtime's list of them is not as expected, or their allocation is " \
	"not called as a function"
#define NO_CODE        "metal: kernel code of some programs is not seen: nothing had said when a program begins or ends"
#define NO_SCRATCHPADS "metal: scratchpads are not seen: this program has some, but no function gives their places"

enum { MARKS_MAX = 256, OBJECT_SET = 16, OBJECT_SIZES = 40, OBJECT_BYTES = 48, BINARIES_MAX = 16, SIZE_MAX_MIB = 64 };

struct mark {
	struct tidemark_core_range range;
	uint64_t address, size;
};

struct marks {
	struct mark *list; /* capacity MARKS_MAX; not on the stack, because the stack may be too small */
	size_t count;
	struct marks *outer;
};

static _Thread_local struct marks *marks; /* set while this thread allocates dataflow buffers */

/*
 * Code.
 */

/* The name of a kernel's source: its full name up to the first slash. Kernels given as source text have no name. */
static void kernel_name(struct tdm_metal_runtime *runtime, const void *kernel, char name[TDM_PROGRAM_NAME_MAX + 1])
{
	uintptr_t theirs[2]; /* layout of std::string: pointer to the characters, and length */
	const void *answer = runtime->ask.kernel_name != NULL ? runtime->ask.kernel_name(kernel) : NULL;
	name[0] = '\0';
	if (answer == NULL || !tdm_metal_copy(theirs, answer, sizeof theirs))
		return;
	size_t length = tdm_min(theirs[1], TDM_PROGRAM_NAME_MAX);
	name[tdm_metal_copy(name, (const void *)theirs[0], length) ? length : 0] = '\0';
	name[strcspn(name, "/")] = '\0';
	if (strcmp(name, "Kernel_Source_Code") == 0)
		name[0] = '\0';
}

static void see_kernel(
	struct tdm_metal_runtime *runtime, enum tdm_metal_hook hook, const void *program, const void *shared)
{
	char name[TDM_PROGRAM_NAME_MAX + 1];
	const void *kernel;
	if (!tdm_metal_sees(runtime, hook))
		return;
	/* If the ends of programs are not seen, another program may now be at this address, and kernels that no
	 * longer exist would be called. */
	if (!__atomic_load_n(&runtime->has_lives, __ATOMIC_RELAXED)) {
		tdm_metal_remark_once(NO_CODE);
		return;
	}
	if (!tdm_metal_copy(&kernel, shared, sizeof kernel) || kernel == NULL)
		return;
	kernel_name(runtime, kernel, name);
	tdm_programs_add_kernel(program, kernel, name);
}

void tdm_hook_kernel_compiled(
	const void *program, const void *device, const void *kernel, const void *options, const void *root)
{
	TDM_METAL_ENTER(kernel_compiled)
	TDM_METAL_NEXT(kernel_compiled)(program, device, kernel, options, root);
	see_kernel(runtime, TDM_HOOK_kernel_compiled, program, kernel);
}

void tdm_hook_kernel_compiled_59(const void *program, const void *device, const void *kernel, const void *options)
{
	TDM_METAL_ENTER(kernel_compiled_59)
	TDM_METAL_NEXT(kernel_compiled_59)(program, device, kernel, options);
	see_kernel(runtime, TDM_HOOK_kernel_compiled_59, program, kernel);
}

/* The bytes of a kernel's code. Tests for a first binary before listing all: if the kernel has none for this device,
 * the test returns 0, whereas listing the binaries would throw. */
static uint64_t kernel_bytes(struct tdm_metal_runtime *runtime, const void *kernel, const void *device, uint64_t key)
{
	struct tdm_metal_vector vector;
	const void *binaries[BINARIES_MAX];
	void *writable = (void *)(uintptr_t)device; /* the object is not changed */
	uint64_t bytes = runtime->ask.kernel_size(kernel, writable, 0);
	const void *answer = bytes != 0 ? runtime->ask.kernel_binaries(kernel, key) : NULL;
	if (answer == NULL || !tdm_metal_copy(&vector, answer, sizeof vector) || vector.end < vector.begin)
		return 0;
	size_t size = (size_t)(vector.end - vector.begin);
	if (size > sizeof binaries || size % sizeof binaries[0] != 0 || !tdm_metal_copy(binaries, vector.begin, size))
		return 0;
	for (size_t i = 1; i < size / sizeof binaries[0] && binaries[i] != NULL; i++)
		bytes += runtime->ask.kernel_size(kernel, writable, (int)i);
	return bytes;
}

/* Adds an item for each of a device's chips. */
static void put_on_chips(struct tdm_metal_runtime *runtime, const void *device, struct tdm_program_item *item,
	struct tdm_program_items *items)
{
	uint32_t chips[TDM_METAL_CHIPS_MAX];
	size_t count = tdm_metal_chips(runtime, device, chips, TDM_METAL_CHIPS_MAX);
	for (size_t i = 0; i < count; i++) {
		item->chip = chips[i];
		(void)tdm_program_items_add(items, item); /* out of memory: the item is missing */
	}
}

void tdm_hook_program_compiled(const void *program, const void *device, uint64_t build_key)
{
	TDM_METAL_ENTER(program_compiled)
	TDM_METAL_NEXT(program_compiled)(program, device, build_key);
	if (!tdm_metal_sees(runtime, TDM_HOOK_program_compiled))
		return;
	const void *kernels[TDM_PROGRAM_KERNELS_MAX];
	struct tdm_program_items items = { 0 };
	struct tdm_program_item item = { .kind = TIDEMARK_KERNEL, .flags = TIDEMARK_NO_ADDRESS };
	if (runtime->ask.kernel_size == NULL || runtime->ask.kernel_binaries == NULL)
		return;
	size_t count = tdm_programs_kernels(program, kernels);
	for (size_t i = 0; i < count; i++)
		item.size += kernel_bytes(runtime, kernels[i], device, build_key);
	if (item.size == 0 || item.size > (uint64_t)SIZE_MAX_MIB << 20)
		return;
	put_on_chips(runtime, device, &item, &items);
	put_layout(runtime, program, TIDEMARK_KERNEL, &items);
}

/*
 * Dataflow buffers.
 */

void tdm_hook_mark_address(void *place, uint64_t address, uint64_t size, uint64_t base)
{
	TDM_METAL_ENTER(mark_address)
	size_t range[4]; /* x0, y0, x1, y1 */
	TDM_METAL_NEXT(mark_address)(place, address, size, base);
	if (marks == NULL || !tdm_metal_is_on(runtime))
		return;
	tdm_metal_count(TDM_HOOK_mark_address);
	if (marks->list == NULL)
		marks->list = malloc(MARKS_MAX * sizeof *marks->list);
	if (marks->list == NULL || marks->count >= MARKS_MAX || !tdm_metal_copy(range, place, sizeof range))
		marks->count = MARKS_MAX + 1; /* a mark is missing, so no mark is believed */
	else
		marks->list[marks->count++] = (struct mark){ .address = address,
			.size = size,
			.range = { (uint16_t)range[0], (uint16_t)range[1], (uint16_t)range[2], (uint16_t)range[3] } };
}

/* The number of leading marks that belong to a buffer of this size on these cores. */
static size_t own_marks(const struct mark *from, size_t count, const struct tdm_program_item *item)
{
	size_t own = 0;
	while (own < count && from[own].size == item->size && from[own].address == from[0].address) {
		bool meets = false;
		for (uint32_t i = 0; i < item->range_count; i++)
			meets |= from[own].range.x0 <= item->ranges[i].x1 && item->ranges[i].x0 <= from[own].range.x1 &&
				 from[own].range.y0 <= item->ranges[i].y1 && item->ranges[i].y0 <= from[own].range.y1;
		if (!meets)
			break;
		own++;
	}
	return own;
}

/* Reads the list and compares it with the marks. Returns false if the two do not agree. */
static bool read_dfbs(struct tdm_metal_runtime *runtime, const struct tdm_metal_vector *list, const void *device,
	struct tdm_program_items *items)
{
	struct tidemark_core_range ranges[PROGRAM_RANGES_MAX];
	size_t count = (size_t)(list->end - list->begin) / (2 * sizeof(void *)), marked = 0;
	for (size_t i = 0; i < count; i++) {
		char object[OBJECT_BYTES];
		uint32_t sizes[2]; /* size of an entry in bytes, and number of entries */
		const char *place;
		if (!tdm_metal_copy(&place, list->begin + i * 2 * sizeof(void *), sizeof place) ||
			!tdm_metal_copy(object, place, sizeof object))
			return false;
		memcpy(sizes, object + OBJECT_SIZES, sizeof sizes);
		struct tdm_program_item item = { .kind = TIDEMARK_DFB,
			.index = (uint32_t)i,
			.size = (uint64_t)sizes[0] * sizes[1],
			.ranges = ranges,
			.range_count = read_ranges(runtime, place + OBJECT_SET, ranges) };
		size_t own = own_marks(marks->list + marked, marks->count - marked, &item);
		/* A buffer without marks shares the memory of another buffer or of a tensor. */
		item.flags = own != 0 ? TIDEMARK_SHARED : TIDEMARK_VIEW | TIDEMARK_NO_ADDRESS;
		item.address = own != 0 ? marks->list[marked].address : 0;
		marked += own;
		put_on_chips(runtime, device, &item, items);
	}
	return marked == marks->count;
}

/* The layout was made for another device: copies that device's items to this device. */
static void see_dfbs_again(struct tdm_metal_runtime *runtime, const void *program, const void *device)
{
	uint32_t known[TDM_METAL_CHIPS_MAX], chips[TDM_METAL_CHIPS_MAX];
	struct tdm_program_items there = { 0 }, items = { 0 };
	struct tdm_program_extent extent;
	size_t known_count = tdm_programs_extent(program, TIDEMARK_DFB, &extent, known, TDM_METAL_CHIPS_MAX);
	tdm_programs_copy_items(program, TIDEMARK_DFB, &there);
	if (there.count == 0)
		tdm_metal_remark_once(NO_DFBS); /* the other device's layout is unknown */
	size_t count = there.count != 0 ? tdm_metal_chips(runtime, device, chips, TDM_METAL_CHIPS_MAX) : 0;
	for (size_t i = 0; i < count; i++) {
		size_t k = 0;
		while (k < known_count && known[k] != chips[i])
			k++;
		for (size_t n = 0; k == known_count && n < there.count; n++) {
			there.list[n].chip = chips[i];
			(void)tdm_program_items_add(&items, &there.list[n]);
		}
	}
	tdm_program_items_done(&there);
	put_layout(runtime, program, TIDEMARK_DFB, &items);
}

static void see_dfbs(struct tdm_metal_runtime *runtime, const void *program, const void *device)
{
	struct tdm_metal_vector list;
	struct tdm_program_items items = { 0 };
	const void *answer = runtime->ask.program_dfbs != NULL ? runtime->ask.program_dfbs(program) : NULL;
	if (answer == NULL || !tdm_metal_copy(&list, answer, sizeof list) || list.end <= list.begin)
		return;
	if (marks->count == 0) {
		see_dfbs_again(runtime, program, device);
		return;
	}
	if (marks->count > MARKS_MAX || list.end - list.begin > MARKS_MAX * 2 * (ptrdiff_t)sizeof(void *) ||
		!read_dfbs(runtime, &list, device, &items)) {
		tdm_metal_remark_once(NO_DFBS);
		tdm_program_items_done(&items);
		return;
	}
	put_layout(runtime, program, TIDEMARK_DFB, &items);
}

static void end_marks(struct marks *m)
{
	marks = m->outer;
	free(m->list);
}

void tdm_hook_allocate_dfbs(void *program, const void *device)
{
	TDM_METAL_ENTER(allocate_dfbs)
	if (!tdm_metal_sees(runtime, TDM_HOOK_allocate_dfbs)) {
		TDM_METAL_NEXT(allocate_dfbs)(program, device);
		return;
	}
	struct marks m __attribute__((cleanup(end_marks))) = { .outer = marks };
	marks = &m;
	TDM_METAL_NEXT(allocate_dfbs)(program, device);
	see_dfbs(runtime, program, device);
}

/* Scratchpads: if a kernel has any, it passes their sizes to a function. */

struct function { /* layout of std::function */
	void *bound[2];
	bool (*manage)(void *to, const void *from, int what);
	void (*call)(void *const *bound, const void *name, const uint32_t *size, const uint32_t *word);
};

static bool manage_nothing(void *to, const void *from, int what)
{
	(void)to, (void)from, (void)what;
	return false;
}

static void count_scratchpad(void *const *bound, const void *name, const uint32_t *size, const uint32_t *word)
{
	(void)name, (void)size, (void)word;
	++*(size_t *)bound[0];
}

void tdm_hook_allocate_scratchpads(void *program, const void *device)
{
	TDM_METAL_ENTER(allocate_scratchpads)
	const void *kernels[TDM_PROGRAM_KERNELS_MAX];
	size_t scratchpads = 0;
	TDM_METAL_NEXT(allocate_scratchpads)(program, device);
	if (!tdm_metal_sees(runtime, TDM_HOOK_allocate_scratchpads))
		return;
	if (runtime->ask.kernel_scratchpads == NULL)
		return;
	size_t count = tdm_programs_kernels(program, kernels);
	struct function function = { { &scratchpads, NULL }, manage_nothing, count_scratchpad };
	for (size_t i = 0; i < count && scratchpads == 0; i++)
		runtime->ask.kernel_scratchpads(kernels[i], &function);
	if (scratchpads != 0)
		tdm_metal_remark_once(NO_SCRATCHPADS);
}
