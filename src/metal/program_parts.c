/*
 * Hooks of the other parts of programs: code, dataflow buffers, scratchpads.
 *
 * Dataflow buffers are announced to nobody. The runtime has a list of them, with their cores; sizes are in the objects
 * at places that no function gives. The allocator of each core range is told the address and the size of each one, in
 * the same order (mark_address): only if both tell the same are they believed.
 */
#include "metal/program_parts.h"

#include <stdlib.h>
#include <string.h>

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
	struct mark *list; /* with room for MARKS_MAX; not on the stack, which may be small */
	size_t count;
	struct marks *outer;
};

static _Thread_local struct marks *marks; /* while this thread allocates dataflow buffers */

/*
 * Code.
 */

/* The name of a kernel's source: its full name to the first slash. Kernels that were given as text have none. */
static void kernel_name(struct tdm_metal_runtime *runtime, const void *kernel, char name[TDM_PROGRAM_NAME_MAX + 1])
{
	struct { /* std::string */
		const char *text;
		size_t length;
	} theirs;
	const void *answer = runtime->ask.kernel_name != NULL ? runtime->ask.kernel_name(kernel) : NULL;
	name[0] = '\0';
	if (answer == NULL || !tdm_metal_copy(&theirs, answer, sizeof theirs))
		return;
	size_t length = theirs.length < TDM_PROGRAM_NAME_MAX ? theirs.length : TDM_PROGRAM_NAME_MAX;
	if (!tdm_metal_copy(name, theirs.text, length))
		length = 0;
	name[length] = '\0';
	name[strcspn(name, "/")] = '\0';
	if (strcmp(name, "Kernel_Source_Code") == 0)
		name[0] = '\0';
}

/* Whether it is known that a program at an address is another one than before. Else kernels of the one before would be
 * asked, which are gone. */
static bool tells_programs_apart(const struct tdm_metal_runtime *runtime)
{
	return __atomic_load_n(&runtime->has_lives, __ATOMIC_RELAXED);
}

static void see_kernel(
	struct tdm_metal_runtime *runtime, enum tdm_metal_hook hook, const void *program, const void *shared)
{
	char name[TDM_PROGRAM_NAME_MAX + 1];
	const void *kernel;
	if (!tdm_metal_is_on(runtime))
		return;
	tdm_metal_count(hook);
	if (!tells_programs_apart(runtime)) {
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

/* The code of a kernel. The first binary is asked for first: if the kernel has none for this device, the answer is 0,
 * while the list of them would throw. */
static uint64_t kernel_bytes(struct tdm_metal_runtime *runtime, const void *kernel, const void *device, uint64_t key)
{
	struct tdm_metal_vector vector;
	const void *binaries[BINARIES_MAX];
	void *writable = (void *)(uintptr_t)device; /* is not changed */
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

/* The same for each chip of a device. */
static void put_on_chips(struct tdm_metal_runtime *runtime, const void *device, struct tdm_program_item *item,
	struct tdm_program_items *items)
{
	uint32_t chips[TDM_METAL_CHIPS_MAX];
	size_t count = tdm_metal_chips(runtime, device, chips, TDM_METAL_CHIPS_MAX);
	for (size_t i = 0; i < count; i++) {
		item->chip = chips[i];
		(void)tdm_program_items_add(items, item); /* no memory: the program has fewer */
	}
}

static void see_code(struct tdm_metal_runtime *runtime, const void *program, const void *device, uint64_t key)
{
	const void *kernels[TDM_PROGRAM_KERNELS_MAX];
	struct tdm_program_items items = { 0 };
	struct tdm_program_item item = { .kind = TIDEMARK_KERNEL, .flags = TIDEMARK_NO_ADDRESS };
	if (runtime->ask.kernel_size == NULL || runtime->ask.kernel_binaries == NULL)
		return;
	size_t count = tdm_programs_kernels(program, kernels);
	for (size_t i = 0; i < count; i++)
		item.size += kernel_bytes(runtime, kernels[i], device, key);
	if (item.size == 0 || item.size > (uint64_t)SIZE_MAX_MIB << 20)
		return;
	put_on_chips(runtime, device, &item, &items);
	tdm_program_put(runtime, program, TIDEMARK_KERNEL, &items);
}

void tdm_hook_program_compiled(const void *program, const void *device, uint64_t build_key)
{
	TDM_METAL_ENTER(program_compiled)
	TDM_METAL_NEXT(program_compiled)(program, device, build_key);
	if (!tdm_metal_is_on(runtime))
		return;
	tdm_metal_count(TDM_HOOK_program_compiled);
	see_code(runtime, program, device, build_key);
}

/*
 * Dataflow buffers.
 */

void tdm_hook_mark_address(void *place, uint64_t address, uint64_t size, uint64_t base)
{
	TDM_METAL_ENTER(mark_address)
	struct {
		size_t x0, y0, x1, y1;
	} range;
	TDM_METAL_NEXT(mark_address)(place, address, size, base);
	if (marks == NULL || !tdm_metal_is_on(runtime))
		return;
	tdm_metal_count(TDM_HOOK_mark_address);
	if (marks->list == NULL)
		marks->list = malloc(MARKS_MAX * sizeof *marks->list);
	if (marks->list == NULL || marks->count >= MARKS_MAX || !tdm_metal_copy(&range, place, sizeof range))
		marks->count = MARKS_MAX + 1; /* one is missing: none is believed */
	else
		marks->list[marks->count++] = (struct mark){ .address = address,
			.size = size,
			.range = { (uint16_t)range.x0, (uint16_t)range.y0, (uint16_t)range.x1, (uint16_t)range.y1 } };
}

static bool meet(const struct tidemark_core_range *a, const struct tidemark_core_range *b)
{
	return a->x0 <= b->x1 && b->x0 <= a->x1 && a->y0 <= b->y1 && b->y0 <= a->y1;
}

/* How many marks, from the first, belong to a buffer with this size and these cores. */
static size_t own_marks(const struct mark *from, size_t count, const struct tdm_program_item *item)
{
	size_t own = 0;
	while (own < count && from[own].size == item->size && from[own].address == from[0].address) {
		bool meets = false;
		for (uint32_t i = 0; i < item->range_count; i++)
			meets |= meet(&from[own].range, &item->ranges[i]);
		if (!meets)
			break;
		own++;
	}
	return own;
}

/* Reads the list and compares it with the marks. False if they do not agree. */
static bool read_dfbs(struct tdm_metal_runtime *runtime, const struct tdm_metal_vector *list, const void *device,
	struct tdm_program_items *items)
{
	struct tidemark_core_range ranges[TDM_PROGRAM_RANGES_MAX];
	size_t count = (size_t)(list->end - list->begin) / (2 * sizeof(void *)), marked = 0;
	for (size_t i = 0; i < count; i++) {
		char object[OBJECT_BYTES];
		uint32_t sizes[2]; /* of an entry, and their number */
		const char *place;
		if (!tdm_metal_copy(&place, list->begin + i * 2 * sizeof(void *), sizeof place) ||
			!tdm_metal_copy(object, place, sizeof object))
			return false;
		memcpy(sizes, object + OBJECT_SIZES, sizeof sizes);
		struct tdm_program_item item = { .kind = TIDEMARK_DFB,
			.index = (uint32_t)i,
			.size = (uint64_t)sizes[0] * sizes[1],
			.ranges = ranges,
			.range_count = tdm_program_ranges(runtime, place + OBJECT_SET, ranges) };
		size_t own = own_marks(marks->list + marked, marks->count - marked, &item);
		/* One without marks has the memory of another one, or of a tensor. */
		item.flags = own != 0 ? TIDEMARK_SHARED : TIDEMARK_VIEW | TIDEMARK_NO_ADDRESS;
		item.address = own != 0 ? marks->list[marked].address : 0;
		marked += own;
		put_on_chips(runtime, device, &item, items);
	}
	return marked == marks->count;
}

/* The layout is that of another device, where it was made: the same is on this one. */
static void see_dfbs_again(struct tdm_metal_runtime *runtime, const void *program, const void *device)
{
	uint32_t known[TDM_METAL_CHIPS_MAX], chips[TDM_METAL_CHIPS_MAX];
	struct tdm_program_items there = { 0 }, items = { 0 };
	struct tdm_program_extent extent;
	size_t known_count = tdm_programs_extent(program, TIDEMARK_DFB, &extent, known, TDM_METAL_CHIPS_MAX);
	tdm_programs_copy_items(program, TIDEMARK_DFB, &there);
	if (there.count == 0)
		tdm_metal_remark_once(NO_DFBS); /* nothing is known of where it was made */
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
	tdm_program_put(runtime, program, TIDEMARK_DFB, &items);
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
	tdm_program_put(runtime, program, TIDEMARK_DFB, &items);
}

static void end_marks(struct marks *m)
{
	marks = m->outer;
	free(m->list);
}

void tdm_hook_allocate_dfbs(void *program, const void *device)
{
	TDM_METAL_ENTER(allocate_dfbs)
	if (!tdm_metal_is_on(runtime)) {
		TDM_METAL_NEXT(allocate_dfbs)(program, device);
		return;
	}
	tdm_metal_count(TDM_HOOK_allocate_dfbs);
	struct marks m __attribute__((cleanup(end_marks))) = { .outer = marks };
	marks = &m;
	TDM_METAL_NEXT(allocate_dfbs)(program, device);
	see_dfbs(runtime, program, device);
}

/*
 * Scratchpads: a kernel tells their sizes to a function, if it has any.
 */

struct function { /* std::function */
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
	if (!tdm_metal_is_on(runtime))
		return;
	tdm_metal_count(TDM_HOOK_allocate_scratchpads);
	if (runtime->ask.kernel_scratchpads == NULL)
		return;
	size_t count = tdm_programs_kernels(program, kernels);
	struct function function = { { &scratchpads, NULL }, manage_nothing, count_scratchpad };
	for (size_t i = 0; i < count && scratchpads == 0; i++)
		runtime->ask.kernel_scratchpads(kernels[i], &function);
	if (scratchpads != 0)
		tdm_metal_remark_once(NO_SCRATCHPADS);
}
