/*
 * Hooks of programs: their circular buffers, their end, clashes, and the operation that they belong to.
 *
 * allocate_circular_buffers announces each circular buffer (track_allocate_cb) for each chip; the announcements do not
 * name the program, so it is kept with the thread. An announcement outside of that function is one of a capture without
 * dispatch, where nothing is placed. A new layout of a program replaces the one that it had on the same chips.
 *
 * A layout is made first and validated afterwards, at each launch. One that is refused stays in the program and is
 * validated again at its next launch; nothing of it has been on the device. So it is reported when it passes.
 */
#include "metal/program_parts.h"

#include <stdio.h>
#include <string.h>

#include "base/number.h"

#define NO_END                                                                                                        \
	"metal: this release does not say when a program ends: its circular buffers are shown until another program " \
	"is at its place in memory, or its device is closed"
#define NO_CORES "metal: the cores of circular buffers are not known: the runtime gives ranges that do not add up"
#define NO_CHIP  "metal: some circular buffers are not seen: their device is not known"

enum { RANGES_AT_ONCE = 16 }; /* stacks may be small */

/* What is announced during one call of allocate_circular_buffers, and what is learnt while one validates. */
struct gathering {
	struct tdm_metal_runtime *runtime;
	struct tdm_program_items items;
	struct gathering *outer;
};

struct validation {
	const void *program;
	uint32_t kind;
	uint64_t lowest_l1, l1_size; /* 0: not known */
	bool has_returned;
	struct validation *outer;
};

/* What this thread does. */
static _Thread_local struct gathering *gathering;
static _Thread_local struct validation *validation __attribute__((tls_model("initial-exec")));
static _Thread_local char operation[TDM_PROGRAM_NAME_MAX + 1]; /* that will be enqueued next; "": not known */
static _Thread_local bool is_enqueuing;                        /* it */
static _Thread_local const void *unvalidated;                  /* a program with a new layout, until it is validated */

static void end_gathering(struct gathering *g)
{
	gathering = g->outer;
	tdm_program_items_done(&g->items);
}

uint32_t tdm_program_ranges(struct tdm_metal_runtime *runtime, const void *core_range_set,
	struct tidemark_core_range ranges[TDM_PROGRAM_RANGES_MAX])
{
	struct tdm_metal_vector vector;
	struct {
		size_t x0, y0, x1, y1;
	} theirs[RANGES_AT_ONCE];
	uint64_t cores = 0;
	const void *answer = runtime->ask.ranges != NULL ? runtime->ask.ranges(core_range_set) : NULL;
	if (answer == NULL || !tdm_metal_copy(&vector, answer, sizeof vector))
		return 0;
	size_t bytes = (size_t)(vector.end - vector.begin), count = bytes / sizeof theirs[0];
	if (vector.end < vector.begin || bytes % sizeof theirs[0] != 0 || count > TDM_PROGRAM_RANGES_MAX)
		return 0;
	for (size_t i = 0; i < count; i++) {
		size_t at = i % RANGES_AT_ONCE, left = count - i;
		if (at == 0 && !tdm_metal_copy(theirs, vector.begin + i * sizeof theirs[0],
				       tdm_min(left, RANGES_AT_ONCE) * sizeof theirs[0]))
			return 0;
		if (theirs[at].x1 > UINT16_MAX || theirs[at].y1 > UINT16_MAX || theirs[at].x0 > theirs[at].x1 ||
			theirs[at].y0 > theirs[at].y1)
			return 0;
		ranges[i] = (struct tidemark_core_range){ (uint16_t)theirs[at].x0, (uint16_t)theirs[at].y0,
			(uint16_t)theirs[at].x1, (uint16_t)theirs[at].y1 };
		cores += (theirs[at].x1 - theirs[at].x0 + 1) * (theirs[at].y1 - theirs[at].y0 + 1);
	}
	bool adds_up = runtime->ask.ranges_cores == NULL || runtime->ask.ranges_cores(core_range_set) == cores;
	return adds_up ? (uint32_t)count : 0;
}

void tdm_program_name(const void *program, char name[TDM_PROGRAM_NAME_MAX + 1])
{
	if (is_enqueuing)
		memcpy(name, operation, sizeof operation);
	else
		tdm_programs_kernel_names(program, name);
}

uint64_t tdm_program_number(struct tdm_metal_runtime *runtime, const void *program)
{
	return runtime->ask.program_id != NULL ? runtime->ask.program_id(program) : UINT64_MAX;
}

/* Adds what was announced for a device, which may be a mesh. */
static void gather(
	struct gathering *g, const void *set, uint64_t address, uint64_t size, bool is_view, const void *device)
{
	struct tidemark_core_range ranges[TDM_PROGRAM_RANGES_MAX];
	uint32_t chips[TDM_METAL_CHIPS_MAX];
	size_t chip_count = tdm_metal_chips(g->runtime, device, chips, TDM_METAL_CHIPS_MAX);
	struct tdm_program_item item = { .kind = TIDEMARK_CB,
		.flags = is_view ? TIDEMARK_VIEW : TIDEMARK_SHARED,
		.address = address,
		.size = size,
		.ranges = ranges,
		.range_count = tdm_program_ranges(g->runtime, set, ranges) };
	if (chip_count == 0)
		tdm_metal_remark_once(NO_CHIP);
	if (item.range_count == 0)
		tdm_metal_remark_once(NO_CORES);
	for (size_t i = 0; i < chip_count; i++) {
		item.chip = chips[i];
		item.index = 0;
		for (size_t k = 0; k < g->items.count; k++)
			item.index += g->items.list[k].chip == item.chip;
		(void)tdm_program_items_add(&g->items, &item); /* no memory: the program has fewer */
	}
}

typedef void announce(void *, const void *, uint64_t, uint64_t, bool, const void *);

static void announced(struct tdm_metal_runtime *runtime, enum tdm_metal_hook hook, announce *next, void *tracker,
	const void *set, uint64_t address, uint64_t size, bool is_view, const void *device)
{
	next(tracker, set, address, size, is_view, device);
	if (!tdm_metal_is_on(runtime))
		return;
	tdm_metal_count(hook);
	if (gathering != NULL)
		gather(gathering, set, address, size, is_view, device);
}

#define ANNOUNCE(id)                                                                                                  \
	void tdm_hook_##id(                                                                                           \
		void *tracker, const void *ranges, uint64_t address, uint64_t size, bool is_view, const void *device) \
	{                                                                                                             \
		TDM_METAL_ENTER(id)                                                                                   \
		announced(                                                                                            \
			runtime, TDM_HOOK_##id, TDM_METAL_NEXT(id), tracker, ranges, address, size, is_view, device); \
	}
ANNOUNCE(track_allocate_cb)
ANNOUNCE(track_allocate_cb_57)
ANNOUNCE(track_allocate_cb_55)

static bool says_when_programs_end(const struct tdm_metal_runtime *runtime)
{
	return runtime->next[TDM_HOOK_program_destroyed] != NULL || runtime->next[TDM_HOOK_program_end] != NULL ||
	       runtime->next[TDM_HOOK_program_end_2] != NULL || runtime->next[TDM_HOOK_deallocate_cbs] != NULL;
}

typedef void of_program_on_device(void *program, const void *device);

static void allocate_cbs(struct tdm_metal_runtime *runtime, enum tdm_metal_hook hook, of_program_on_device *next,
	void *program, const void *device)
{
	if (!tdm_metal_is_on(runtime)) {
		next(program, device);
		return;
	}
	tdm_metal_count(hook);
	struct gathering g __attribute__((cleanup(end_gathering))) = { .runtime = runtime, .outer = gathering };
	gathering = &g;
	next(program, device);
	if (g.items.count == 0)
		return;
	tdm_program_put(runtime, program, TIDEMARK_CB, &g.items);
	if (!says_when_programs_end(runtime))
		tdm_metal_remark_once(NO_END);
}

static bool has_validation(const struct tdm_metal_runtime *runtime, uint32_t kind)
{
	void *const *next = runtime->next;
	return kind == TIDEMARK_DFB ? next[TDM_HOOK_validate_dfbs] != NULL
				    : next[TDM_HOOK_validate_cbs] != NULL || next[TDM_HOOK_validate_cbs_57] != NULL ||
					      next[TDM_HOOK_validate_cbs_55] != NULL;
}

void tdm_program_put(
	struct tdm_metal_runtime *runtime, const void *program, uint32_t kind, struct tdm_program_items *items)
{
	char name[TDM_PROGRAM_NAME_MAX + 1];
	if (has_validation(runtime, kind)) {
		tdm_programs_propose(program, tdm_program_number(runtime, program), kind, items);
		unvalidated = program;
		return;
	}
	tdm_program_name(program, name);
	tdm_programs_replace(program, tdm_program_number(runtime, program), name, kind, items);
}

static void accept(const void *program, uint32_t kind)
{
	char name[TDM_PROGRAM_NAME_MAX + 1];
	if (!tdm_programs_are_waiting())
		return;
	tdm_program_name(program, name);
	tdm_programs_accept(program, name, kind);
}

/* The exception is on its way: nothing of the runtime may be called. `if_seen`: only if the addresses show it. */
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
	tdm_program_name(v->program, name);
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
	validation = NULL; /* once, even if the program survives */
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
	if (!tdm_metal_is_on(runtime)) {
		next(program, device);
		return;
	}
	tdm_metal_count(hook);
	struct validation v
		__attribute__((cleanup(end_validation))) = { .program = program, .kind = kind, .outer = validation };
	validation = &v;
	unvalidated = NULL;
	next(program, device);
	v.has_returned = true;
	accept(program, kind);
	if (kind == TIDEMARK_CB) /* it is compiled before, and launched after */
		accept(program, TIDEMARK_KERNEL);
}

/* Asked by the runtime while it validates: the address that circular buffers must not reach. */
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

/* Asked in the same place: the end of L1. */
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

/* The end of a program. Several functions say it, in one order or another, and each item ends once. What is known here
 * ends even while tracking is off, so that another program at the same place does not inherit it. */
static void count_end(const struct tdm_metal_runtime *runtime, enum tdm_metal_hook hook)
{
	if (tdm_metal_is_on(runtime))
		tdm_metal_count(hook);
}

void tdm_hook_deallocate_cbs(void *program)
{
	TDM_METAL_ENTER(deallocate_cbs)
	TDM_METAL_NEXT(deallocate_cbs)(program);
	count_end(runtime, TDM_HOOK_deallocate_cbs);
	if (!tdm_programs_is_empty())
		tdm_programs_end_items(program, TIDEMARK_CB, TDM_PROGRAM_ANY_CHIP);
}

void tdm_hook_unregister_program(void *device, void *program)
{
	TDM_METAL_ENTER(unregister_program)
	uint32_t chip;
	TDM_METAL_NEXT(unregister_program)(device, program);
	count_end(runtime, TDM_HOOK_unregister_program);
	if (!tdm_programs_is_empty() && tdm_metal_chips(runtime, device, &chip, 1) == 1)
		tdm_programs_end_items(program, TIDEMARK_CB, chip);
}

#define END(id, type)                                                          \
	void tdm_hook_##id(type program)                                       \
	{                                                                      \
		TDM_METAL_ENTER(id)                                            \
		__atomic_store_n(&runtime->has_lives, true, __ATOMIC_RELAXED); \
		TDM_METAL_NEXT(id)(program);                                   \
		count_end(runtime, TDM_HOOK_##id);                             \
		if (!tdm_programs_is_empty())                                  \
			tdm_programs_end(program);                             \
	}
END(program_end, void *)
END(program_end_2, void *)
END(program_destroyed, const void *)
END(program_created, const void *) /* whatever was at this place has ended */

/*
 * The operation. ttnn tells the inspector its name just before it enqueues the operation's workload, so the name holds
 * for what is allocated while that runs. Tensors that an operation returns are allocated earlier: no hook names those.
 */
static void note_operation(
	const struct tdm_metal_runtime *runtime, enum tdm_metal_hook hook, const char *name, size_t length)
{
	if (!tdm_metal_is_on(runtime))
		return;
	tdm_metal_count(hook);
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

static void end_operation(const uint32_t *before)
{
	operation[0] = '\0';
	is_enqueuing = false;
	tidemark_swap_program(*before);
}

/* A build that has inlined the validation: a layout with which a launch went on has passed it. */
struct launch {
	bool has_returned;
};

static void end_launch(const struct launch *launch)
{
	const void *program = unvalidated;
	unvalidated = NULL;
	if (program == NULL || !launch->has_returned)
		return;
	accept(program, TIDEMARK_CB);
	accept(program, TIDEMARK_KERNEL);
	accept(program, TIDEMARK_DFB);
}

void tdm_hook_compile_and_allocate(void *program, void *device, bool is_slow)
{
	TDM_METAL_ENTER(compile_and_allocate)
	struct launch launch __attribute__((cleanup(end_launch))) = { .has_returned = false };
	if (tdm_metal_is_on(runtime))
		tdm_metal_count(TDM_HOOK_compile_and_allocate);
	TDM_METAL_NEXT(compile_and_allocate)(program, device, is_slow);
	launch.has_returned = true;
}

void tdm_hook_enqueue_workload(void *queue, void *workload, bool is_blocking)
{
	TDM_METAL_ENTER(enqueue_workload)
	if (tdm_metal_is_on(runtime))
		tdm_metal_count(TDM_HOOK_enqueue_workload);
	if (!tdm_metal_is_on(runtime) || operation[0] == '\0') {
		struct launch launch __attribute__((cleanup(end_launch))) = { .has_returned = false };
		TDM_METAL_NEXT(enqueue_workload)(queue, workload, is_blocking);
		launch.has_returned = true;
		return;
	}
	uint32_t before __attribute__((cleanup(end_operation), unused)) =
		tidemark_swap_program(tidemark_name(operation));
	struct launch launch __attribute__((cleanup(end_launch))) = { .has_returned = false };
	is_enqueuing = true;
	TDM_METAL_NEXT(enqueue_workload)(queue, workload, is_blocking);
	launch.has_returned = true;
}

/* These only say that something happened: what follows from it is seen elsewhere. */
#define COUNT(id, parameters, arguments)                \
	void tdm_hook_##id parameters                   \
	{                                               \
		TDM_METAL_ENTER(id)                     \
		if (tdm_metal_is_on(runtime))           \
			tdm_metal_count(TDM_HOOK_##id); \
		TDM_METAL_NEXT(id) arguments;           \
	}
COUNT(invalidate_cbs, (void *program), (program)) /* its next layout replaces this one */
COUNT(register_program, (void *device, void *program), (device, program))
COUNT(track_deallocate_cb, (void *tracker, const void *device), (tracker, device)) /* names no program */
COUNT(track_deallocate_cb_55, (void *tracker, const void *device), (tracker, device))
/* No kernel of those releases has a function that takes the key. */
COUNT(program_compiled_59, (const void *program, const void *device, uint32_t build_key), (program, device, build_key))
COUNT(track_program, (void *tracker, void *program, const void *device), (tracker, program, device))
COUNT(track_program_55, (void *tracker, void *program, const void *device), (tracker, program, device))
/* Of captures without dispatch, where nothing is placed. */
COUNT(track_allocate_dfb,
	(void *tracker, const void *ranges, uint64_t address, uint64_t size, bool is_view, const void *device),
	(tracker, ranges, address, size, is_view, device))
COUNT(track_allocate_scratchpad,
	(void *tracker, const void *ranges, uint64_t address, uint64_t size, const void *device),
	(tracker, ranges, address, size, device))
