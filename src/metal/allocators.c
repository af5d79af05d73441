/* The runtime's allocators, their statistics, and the chips whose memory they manage (metal.h). Objects are
 * identified by their addresses, so the end of each object must be seen or deduced before its address is reused. The
 * runtime is queried without holding our lock; every answer is checked and then kept. */
#include "metal/metal.h"
#include "metal/programs.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/number.h"

/*
 * ---- chips ----
 *
 * Chips, and the runtime's devices that consist of them.
 *
 * A MeshDevice is queried for its chips. In recent releases, the function that returns a single Device's number is
 * inline, so the number is found in one of three other ways: a mesh that contains the device lists devices and numbers
 * in the same order; older releases have the function; and the Device points to the object that keeps the runtime's
 * totals in shared memory, which was made with the number.
 */

enum {
	DEVICES_MAX = 4096,
	MESHES_MAX = 64,
	VTABLE_HEAD = 16, /* bytes before a vtable's first function; objects point past them */
	DEVICE_BYTES = 1024,
	GRID_MAX = 256,
};

/* Guarded by tdm_metal_lock(). */
static struct chip {
	uint64_t chip_id;
	const void *provider; /* the object keeping its totals in shared memory */
	uint64_t left;        /* number of buffers live when its allocators ended */
	uint32_t epoch;       /* epoch of the ledger in which it is described and open */
	bool is_open, has_chip_id;
} chips[TDM_METAL_CHIPS_MAX];

static struct device {
	const void *device;
	uint32_t chip;
	uint32_t grid_x, grid_y; /* 0 if unknown */
	uint32_t channels;       /* DRAM channels; 0 if unknown */
	int arch;
} devices[DEVICES_MAX]; /* single devices */
static size_t device_count;

static struct mesh { /* cached answers from meshes, dropped when a device or an allocator ends */
	const void *mesh;
	uint32_t generation, *chips;
	size_t count;
} meshes[MESHES_MAX];
static size_t mesh_next;

/* Since v0.66 a mesh has an inner object, which the runtime passes when it opens a mesh. */
enum shape { SHAPE_UNKNOWN, SHAPE_DEVICE, SHAPE_MESH, SHAPE_INNER_MESH };

static bool is_vtable(uintptr_t vtable, const void *symbol)
{
	return symbol != NULL && vtable == (uintptr_t)symbol + VTABLE_HEAD;
}

static enum shape shape_of(const struct tdm_metal_runtime *runtime, const void *device)
{
	uintptr_t vtable;
	const void *of_mesh, *of_device, *of_inner;
	memcpy(&of_mesh, &runtime->ask.mesh_vtable, sizeof of_mesh);
	memcpy(&of_inner, &runtime->ask.impl_vtable, sizeof of_inner);
	memcpy(&of_device, &runtime->ask.device_vtable, sizeof of_device);
	if (device == NULL || (uintptr_t)device % sizeof(void *) != 0 ||
		!tdm_metal_copy(&vtable, device, sizeof vtable))
		return SHAPE_UNKNOWN;
	return is_vtable(vtable, of_mesh)     ? SHAPE_MESH
	       : is_vtable(vtable, of_device) ? SHAPE_DEVICE
	       : is_vtable(vtable, of_inner)  ? SHAPE_INNER_MESH
					      : SHAPE_UNKNOWN;
}

bool tdm_metal_is_device(const struct tdm_metal_runtime *runtime, const void *device)
{
	enum shape shape = shape_of(runtime, device);
	return shape == SHAPE_MESH || shape == SHAPE_DEVICE;
}

static struct device *find_device(const void *device)
{
	for (size_t i = 0; i < device_count; i++)
		if (devices[i].device == device)
			return &devices[i];
	return NULL;
}

/* Remembers a single device's number, and asks for its other properties. */
static void learn_device(struct tdm_metal_runtime *runtime, const void *device, uint32_t chip)
{
	struct device new = { .device = device, .chip = chip };
	tdm_metal_lock();
	struct device *known = find_device(device);
	bool is_known = known != NULL && known->chip == chip;
	tdm_metal_unlock();
	if (is_known || shape_of(runtime, device) != SHAPE_DEVICE)
		return;
	if (runtime->ask.device_grid != NULL) {
		struct tdm_metal_core grid = runtime->ask.device_grid(device);
		if (grid.x <= GRID_MAX && grid.y <= GRID_MAX) {
			new.grid_x = (uint32_t)grid.x;
			new.grid_y = (uint32_t)grid.y;
		}
	}
	int channels = runtime->ask.device_channels != NULL ? runtime->ask.device_channels(device) : 0;
	new.channels = channels > 0 && channels <= TDM_METAL_BANKS_MAX ? (uint32_t)channels : 0;
	new.arch = runtime->ask.device_arch != NULL ? runtime->ask.device_arch(device) : 0;
	tdm_metal_lock();
	known = find_device(device);
	if (known == NULL && device_count < DEVICES_MAX)
		known = &devices[device_count++];
	if (known != NULL)
		*known = new;
	tdm_metal_unlock();
}

/* Copies the numbers in a std::vector<int>, and releases the vector. Returns their count; 0 if it is empty or
 * nonsense. */
static size_t take_numbers(
	struct tdm_metal_runtime *runtime, const struct tdm_metal_vector *vector, uint32_t *numbers, size_t cap)
{
	size_t bytes = (size_t)(vector->end - vector->begin), count = bytes / sizeof(int);
	bool is_sane = vector->begin != NULL && vector->begin <= vector->end && bytes % sizeof(int) == 0 &&
		       count <= cap && tdm_metal_copy(numbers, vector->begin, bytes);
	for (size_t i = 0; i < count && is_sane; i++)
		is_sane = numbers[i] < TDM_METAL_CHIPS_MAX;
	if (!is_sane) {
		if (vector->begin != vector->end)
			tdm_metal_distrust(
				runtime, "metal: a mesh lists impossible chips, so nothing of its runtime is reported");
		return 0;
	}
	if (runtime->ask.operator_delete != NULL)
		runtime->ask.operator_delete(vector->begin);
	return count;
}

static size_t ask_mesh(
	struct tdm_metal_runtime *runtime, const void *mesh, enum shape shape, uint32_t *numbers, size_t cap)
{
	const struct tdm_metal_ask *ask = &runtime->ask;
	bool is_inner = shape == SHAPE_INNER_MESH;
	struct tdm_metal_vector (*ask_ids)(const void *) = is_inner ? ask->impl_device_ids : ask->mesh_device_ids;
	struct tdm_metal_vector (*ask_devices)(const void *) = is_inner ? ask->impl_devices : ask->mesh_devices;
	if (ask_ids == NULL)
		return 0;
	struct tdm_metal_vector vector = ask_ids(mesh);
	size_t count = take_numbers(runtime, &vector, numbers, cap);
	if (count == 0 || ask_devices == NULL)
		return count;
	/* Single devices have no function for their numbers; the mesh lists both in the same order. */
	const void *pointers[TDM_METAL_CHIPS_MAX];
	vector = ask_devices(mesh);
	size_t bytes = (size_t)(vector.end - vector.begin);
	if (vector.begin == NULL || vector.begin > vector.end || bytes > sizeof pointers ||
		!tdm_metal_copy(pointers, vector.begin, bytes))
		return count;
	if (ask->operator_delete != NULL)
		ask->operator_delete(vector.begin);
	for (size_t i = 0; i < count && bytes == count * sizeof *pointers; i++)
		learn_device(runtime, pointers[i], numbers[i]);
	return count;
}

/* The number of the device that points to one of the objects that keep totals in shared memory. */
static uint32_t find_by_provider(const void *device)
{
	const void *words[DEVICE_BYTES / sizeof(void *)];
	size_t size = sizeof words;
	uint32_t found = UINT32_MAX;
	while (size > sizeof *words && !tdm_metal_copy(words, device, size))
		size /= 2;
	tdm_metal_lock();
	for (size_t i = 1; i < size / sizeof *words; i++)
		for (uint32_t k = 0; k < TDM_METAL_CHIPS_MAX; k++)
			if (words[i] != NULL && words[i] == chips[k].provider)
				found = k;
	tdm_metal_unlock();
	return found;
}

static uint32_t chip_of(struct tdm_metal_runtime *runtime, const void *device)
{
	tdm_metal_lock();
	const struct device *known = find_device(device);
	uint32_t chip = known != NULL ? known->chip : UINT32_MAX;
	tdm_metal_unlock();
	if (chip != UINT32_MAX)
		return chip;
	chip = runtime->ask.device_id != NULL ? (uint32_t)runtime->ask.device_id(device) : find_by_provider(device);
	if (chip >= TDM_METAL_CHIPS_MAX)
		return UINT32_MAX;
	learn_device(runtime, device, chip);
	return chip;
}

static void keep_mesh(const void *mesh, uint32_t generation, const uint32_t *numbers, size_t count)
{
	uint32_t *copy = malloc(count * sizeof *copy), *old = NULL;
	if (copy == NULL)
		return;
	memcpy(copy, numbers, count * sizeof *copy);
	tdm_metal_lock();
	struct mesh *place = &meshes[mesh_next++ % MESHES_MAX];
	for (size_t i = 0; i < MESHES_MAX; i++)
		if (meshes[i].mesh == mesh)
			place = &meshes[i];
	old = place->chips;
	*place = (struct mesh){ mesh, generation, copy, count };
	tdm_metal_unlock();
	free(old);
}

size_t tdm_metal_chips(struct tdm_metal_runtime *runtime, const void *device, uint32_t *numbers, size_t cap)
{
	uint32_t all[TDM_METAL_CHIPS_MAX];
	int caller_errno = errno;
	uint32_t generation = __atomic_load_n(&tdm_metal_generation, __ATOMIC_ACQUIRE);
	size_t count = 0;
	tdm_metal_lock();
	for (size_t i = 0; i < MESHES_MAX && count == 0; i++)
		if (meshes[i].mesh == device && meshes[i].generation == generation) {
			count = tdm_min(meshes[i].count, cap);
			memcpy(numbers, meshes[i].chips, count * sizeof *numbers);
		}
	tdm_metal_unlock();
	if (count != 0)
		return count;
	enum shape shape = shape_of(runtime, device);
	if (shape == SHAPE_DEVICE) {
		all[0] = chip_of(runtime, device);
		count = all[0] != UINT32_MAX;
	} else if (shape != SHAPE_UNKNOWN) {
		size_t told = ask_mesh(runtime, device, shape, all, TDM_METAL_CHIPS_MAX);
		for (size_t i = 0; i < told; i++) { /* keep each chip once, in order */
			size_t k = 0;
			while (k < count && all[k] != all[i])
				k++;
			if (k == count)
				all[count++] = all[i];
		}
		if (count != 0)
			keep_mesh(device, generation, all, count);
	}
	count = tdm_min(count, cap);
	memcpy(numbers, all, count * sizeof *numbers);
	errno = caller_errno;
	return count;
}

static uint32_t chip_banks(uint32_t chip, uint32_t kind)
{
	uint32_t banks = 0;
	tdm_metal_lock();
	for (size_t i = 0; i < device_count; i++)
		if (devices[i].chip == chip)
			banks = kind == TIDEMARK_DRAM || kind == TIDEMARK_TRACE ? devices[i].channels
										: devices[i].grid_x * devices[i].grid_y;
	tdm_metal_unlock();
	return banks;
}

/* The runtime's BufferType for each kind. */
static const uint64_t types[TDM_METAL_KINDS] = { 0, TDM_METAL_TYPE_L1, TDM_METAL_TYPE_L1_SMALL, TDM_METAL_TYPE_TRACE };

/* The card, if its grid of compute cores identifies it: only one card has that grid, whichever cores dispatch. */
static const char *card_of(const struct device *device)
{
	enum { WORMHOLE = 2 };
	static const struct {
		int arch;
		uint32_t x, y;
		const char *card;
	} cards[] = { { WORMHOLE, 8, 7, "n300" }, { WORMHOLE, 7, 8, "n300" }, { WORMHOLE, 7, 9, "n150" } };
	for (size_t i = 0; i < sizeof cards / sizeof cards[0]; i++)
		if (cards[i].arch == device->arch && cards[i].x == device->grid_x && cards[i].y == device->grid_y)
			return cards[i].card;
	return NULL;
}

/* Queries the allocator about its memories. Returns the number of regions. */
static uint32_t ask_regions(const struct tdm_metal_allocator *allocator, struct tidemark_region *regions)
{
	const struct tdm_metal_allocator_ask *ask = &allocator->ask;
	const uint64_t l1 = 0, dram = 1;
	uint64_t sizes[TDM_METAL_KINDS], bases[TDM_METAL_KINDS] = { 0 };
	uint32_t count = 0;
	if (ask->bank_size == NULL || ask->num_banks == NULL)
		return 0;
	for (size_t i = 0; i < TDM_METAL_KINDS; i++) {
		sizes[i] = ask->bank_size(allocator->asked, &types[i]);
		if (sizes[i] > TDM_METAL_BYTES_MAX)
			return 0;
	}
	if (ask->base_address != NULL) { /* L1_SMALL is above L1, and traces are above DRAM */
		bases[TIDEMARK_DRAM] = ask->base_address(allocator->asked, &dram);
		bases[TIDEMARK_L1] = ask->base_address(allocator->asked, &l1);
		bases[TIDEMARK_L1_SMALL] = bases[TIDEMARK_L1] + sizes[TIDEMARK_L1];
		bases[TIDEMARK_TRACE] = bases[TIDEMARK_DRAM] + sizes[TIDEMARK_DRAM];
	}
	for (uint32_t i = 0; i < TDM_METAL_KINDS; i++)
		if (sizes[i] != 0 && allocator->banks[i] != 0)
			regions[count++] = (struct tidemark_region){
				.kind = i, .banks = allocator->banks[i], .base = bases[i], .bank_size = sizes[i]
			};
	return count;
}

/* Fills in a chip's properties, except its memories. False if the chip is already open and described. */
static bool begin_chip(uint32_t number, struct tidemark_device *device)
{
	tdm_metal_lock();
	struct chip *chip = &chips[number];
	bool is_new = !chip->is_open || chip->epoch != tidemark_epoch_;
	device->number = number;
	device->chip_id = chip->chip_id;
	device->has_chip_id = chip->has_chip_id;
	for (size_t i = 0; i < device_count; i++)
		if (devices[i].chip == number) {
			device->grid_x = devices[i].grid_x;
			device->grid_y = devices[i].grid_y;
			device->card = card_of(&devices[i]);
		}
	tdm_metal_unlock();
	return is_new;
}

static void describe_chips(struct tdm_metal_allocator *allocator)
{
	struct tidemark_region regions[TDM_METAL_KINDS];
	uint32_t region_count = ask_regions(allocator, regions);
	if (region_count == 0 && allocator->allocator == NULL)
		return; /* the chip is only open so far: its first buffer will cause its description */
	for (size_t i = 0; i < allocator->chip_count; i++) {
		struct tidemark_device device = TIDEMARK_DEVICE_INIT;
		device.regions = regions;
		device.region_count = region_count;
		if (!begin_chip(allocator->chips[i], &device))
			continue;
		tidemark_describe_device(&device);
		tidemark_step(allocator->chips[i], TIDEMARK_DEVICE_OPENED, 0);
		tdm_metal_lock();
		chips[allocator->chips[i]].is_open = true;
		/* tidemark_epoch_ changes with the process's first report */
		chips[allocator->chips[i]].epoch = tidemark_epoch_;
		tdm_metal_unlock();
	}
}

/* ---- allocators ---- */

enum {
	ALLOCATORS_MAX = 4096,
	USES_PER_LOOK = 16, /* number of times that a thread may use allocators before it reads the clock again */
	LIST_MAX = 1 << 24, /* lists with more bytes than this are treated as nonsense */
	STEP_MAX = 4096,
};
#define STATISTICS_NS (250 * TDM_NS_PER_MS)
#define TRY_AGAIN_NS  (10 * TDM_NS_PER_MS)
#define END_WAIT_NS   (2 * TDM_NS_PER_S)

_Thread_local struct tdm_metal_allocator_cache tdm_metal_used_last __attribute__((tls_model("initial-exec")));
uint32_t tdm_metal_generation = 1;

/* Guarded by tdm_metal_lock(). An allocator's number is its position. Positions are reused, so a device that is
 * opened again gets the same ids. */
static struct tdm_metal_allocator *allocators[ALLOCATORS_MAX];
static size_t allocator_count;

struct tdm_metal_allocator *tdm_metal_allocator_find(const void *allocator, const void *device)
{
	struct tdm_metal_allocator *found = NULL;
	tdm_metal_lock();
	for (size_t i = 0; i < allocator_count && found == NULL; i++)
		if (allocators[i]->is_live &&
			(device != NULL ? allocators[i]->device == device : allocators[i]->allocator == allocator))
			found = allocators[i];
	tdm_metal_unlock();
	return found;
}

/* Finds a position for a new allocator; under the lock. Records are never freed, because other threads may read the
 * record of an ended allocator. */
static struct tdm_metal_allocator *take_place(void)
{
	for (size_t i = 0; i < allocator_count; i++)
		if (!allocators[i]->is_live)
			return allocators[i];
	if (allocator_count == ALLOCATORS_MAX)
		return NULL;
	struct tdm_metal_allocator *place = calloc(1, sizeof *place);
	if (place != NULL) {
		place->number = allocator_count;
		allocators[allocator_count++] = place;
	}
	return place;
}

/* Queries the allocator's banks and alignment; false if the answers are nonsense. */
static bool ask_banks(struct tdm_metal_allocator *new)
{
	const struct tdm_metal_allocator_ask *ask = &new->ask;
	new->has_banks = ask->num_banks != NULL;
	for (uint32_t i = 0; i < TDM_METAL_KINDS; i++) {
		new->banks[i] = ask->num_banks != NULL ? ask->num_banks(new->asked, &types[i])
				: new->chip_count != 0 ? chip_banks(new->chips[0], i)
						       : 0;
		if (new->banks[i] > TDM_METAL_BANKS_MAX)
			return false;
	}
	/* All kinds of memory are allocated in steps of the DRAM alignment, so that buffers can be copied to DRAM. */
	uint32_t step = ask->alignment != NULL ? ask->alignment(new->asked, (uint32_t)types[TIDEMARK_DRAM]) : 0;
	new->said_step = step <= STEP_MAX && (step & (step - 1)) == 0 ? step : 0;
	if (ask->bank_size == NULL || ask->base_address == NULL)
		return true;
	const uint64_t l1 = 0, dram = 1;
	new->l1_end = ask->base_address(new->asked, &l1) + ask->bank_size(new->asked, &types[TIDEMARK_L1]);
	new->dram_end = ask->base_address(new->asked, &dram) + ask->bank_size(new->asked, &types[TIDEMARK_DRAM]);
	return new->l1_end <= TDM_METAL_BYTES_MAX &&new->dram_end <= TDM_METAL_BYTES_MAX;
}

/* Collects all facts about a new allocator. False if there is no memory, or the answers are nonsense. */
static bool learn(struct tdm_metal_allocator *new)
{
	uint32_t numbers[TDM_METAL_CHIPS_MAX];
	new->chip_count = tdm_metal_chips(new->runtime, new->device, numbers, TDM_METAL_CHIPS_MAX);
	if (new->chip_count != 0 && (new->chips = malloc(new->chip_count * sizeof *new->chips)) == NULL)
		return false;
	if (new->chip_count != 0)
		memcpy(new->chips, numbers, new->chip_count * sizeof *new->chips);
	for (size_t i = 0; i < TDM_METAL_KINDS; i++)
		new->steps[i] = (struct tdm_metal_step)TDM_METAL_STEP_INIT;
	/* The object to query: the allocator itself, or the allocator object that its users see. */
	const struct tdm_metal_ask *ask = &new->runtime->ask;
	new->asked = new->allocator;
	new->ask = (struct tdm_metal_allocator_ask){ ask->num_banks, ask->bank_size, ask->statistics, ask->base_address,
		ask->alignment };
	if (new->allocator == new->device || new->allocator == NULL || ask->num_banks == NULL ||
		ask->bank_size == NULL) {
		enum shape shape = shape_of(new->runtime, new->device);
		const void *const *(*seen)(const void *) = shape == SHAPE_MESH         ? ask->mesh_allocator
							   : shape == SHAPE_DEVICE     ? ask->device_allocator
							   : shape == SHAPE_INNER_MESH ? ask->impl_allocator
										       : NULL;
		if (seen == NULL || !tdm_metal_copy(&new->asked, seen(new->device), sizeof new->asked))
			new->asked = NULL;
		new->ask = new->asked != NULL ? new->runtime->view : (struct tdm_metal_allocator_ask){ 0 };
	}
	if (ask_banks(new))
		return true;
	free(new->chips);
	tdm_metal_distrust(
		new->runtime, "metal: the runtime's allocator gives impossible figures, so nothing of it is reported");
	return false;
}

static struct tdm_metal_allocator *make(struct tdm_metal_runtime *runtime, const void *allocator, const void *device)
{
	struct tdm_metal_allocator new = {
		.allocator = allocator, .device = device, .runtime = runtime, .is_live = true, .asking = TDM_METAL_USED
	};
	if (!learn(&new))
		return NULL;
	if (!new.has_banks)
		tdm_metal_remark_once("metal: the number of banks is not known, and so not what buffers take: this "
				      "runtime has no get_num_banks");
	if (new.chip_count == 0)
		tdm_metal_remark_once("metal: buffers of a device whose chips are not known are not shown");
	tdm_metal_lock();
	struct tdm_metal_allocator *place = tdm_metal_allocator_find(new.allocator, NULL); /* the lock is recursive */
	if (place == NULL && (place = take_place()) != NULL) {
		new.number = place->number;
		free(place->chips);
		*place = new;
		new.chips = NULL;
	}
	tdm_metal_unlock();
	free(new.chips);
	return place;
}

static bool tells_of_ends(const struct tdm_metal_runtime *runtime)
{
	return __atomic_load_n(&runtime->has_ends, __ATOMIC_RELAXED);
}

struct tdm_metal_allocator *tdm_metal_allocator_slow(
	struct tdm_metal_runtime *runtime, const void *allocator, const void *device)
{
	int caller_errno = errno;
	uint32_t generation = __atomic_load_n(&tdm_metal_generation, __ATOMIC_ACQUIRE);
	struct tdm_metal_allocator *found = tdm_metal_allocator_find(allocator, NULL);
	if (found != NULL && found->device != device && !tells_of_ends(runtime)) {
		/* the old allocator ended unseen, and a new allocator has its address */
		tdm_metal_allocator_empty(allocator);
		tdm_metal_allocator_end(allocator);
		found = NULL;
	}
	if (found == NULL)
		found = make(runtime, allocator, device);
	tdm_metal_explain(runtime);
	if (found != NULL && !tdm_metal_is_described(found)) {
		describe_chips(found);
		/* changed by the process's first report */
		uint32_t epoch = __atomic_load_n(&tidemark_epoch_, __ATOMIC_RELAXED);
		__atomic_store_n(&found->epoch, epoch, __ATOMIC_RELAXED);
	}
	if (found != NULL)
		tdm_metal_used_last = (struct tdm_metal_allocator_cache){ found, allocator, device, generation };
	errno = caller_errno;
	return found;
}

static void empty_chip(const struct tdm_metal_allocator *allocator, uint32_t chip)
{
	for (uint32_t kind = 0; kind < TDM_METAL_KINDS; kind++) {
		int64_t left = tidemark_free_matching(
			chip, kind, UINT64_MAX << TDM_METAL_ID_BITS, allocator->number << TDM_METAL_ID_BITS);
		if (left > 0)
			__atomic_fetch_add(&chips[chip].left, (uint64_t)left, __ATOMIC_RELAXED);
	}
}

void tdm_metal_allocator_empty(const void *allocator)
{
	struct tdm_metal_allocator *found = tdm_metal_allocator_find(allocator, NULL);
	if (found == NULL || !tidemark_is_enabled())
		return;
	__atomic_store_n(&found->asking, TDM_METAL_USED, __ATOMIC_RELAXED);
	for (size_t i = 0; i < found->chip_count; i++)
		empty_chip(found, found->chips[i]);
}

/* To be called under the lock. */
static bool is_live_on(const struct tdm_metal_allocator *allocator, uint32_t chip)
{
	for (size_t i = 0; i < allocator->chip_count && allocator->is_live; i++)
		if (allocator->chips[i] == chip)
			return true;
	return false;
}

/* Whether a chip has an allocator; under the lock. */
static bool is_used(uint32_t chip)
{
	for (size_t i = 0; i < allocator_count; i++)
		if (is_live_on(allocators[i], chip))
			return true;
	return false;
}

/* A chip was closed. */
static void close_chip(uint32_t number)
{
	tdm_metal_lock();
	bool was_open = chips[number].is_open;
	chips[number].is_open = false;
	tdm_metal_unlock();
	if (!tdm_programs_is_empty()) /* programs may outlive their device */
		tdm_programs_end_items(NULL, TDM_PROGRAM_ANY_KIND, number);
	/*
	 * Releases the remaining buffers on devices whose allocators are unknown, because the end of such
	 * allocators is not seen.
	 */
	if (tidemark_is_enabled()) {
		tdm_metal_lock();
		for (size_t i = 0; i < allocator_count; i++)
			if (allocators[i]->allocator == allocators[i]->device && is_live_on(allocators[i], number))
				empty_chip(allocators[i], number);
		tdm_metal_unlock();
	}
	tdm_metal_pinned_leave(number);
	tdm_metal_traces_leave(number);
	if (was_open)
		tidemark_step(
			number, TIDEMARK_DEVICE_CLOSED, __atomic_exchange_n(&chips[number].left, 0, __ATOMIC_RELAXED));
}

static _Thread_local bool is_reporter __attribute__((tls_model("initial-exec")));

/* Queries are short; a thread that has not returned from one by now was cancelled or has jumped away. If the asking
 * thread is this one, it is in a signal handler. */
static void wait_until_not_asked(const struct tdm_metal_allocator *ended)
{
	uint64_t begin = 0, now;
	while (ended != NULL && !is_reporter && __atomic_load_n(&tdm_metal_asked_in_turn, __ATOMIC_ACQUIRE) == ended) {
		now = tdm_clock_read(CLOCK_MONOTONIC);
		begin = begin != 0 ? begin : now;
		if (now - begin > END_WAIT_NS)
			return;
		sched_yield();
	}
}

void tdm_metal_allocator_end(const void *allocator)
{
	uint32_t closed[TDM_METAL_CHIPS_MAX];
	size_t closed_count = 0;
	tdm_metal_lock();
	struct tdm_metal_allocator *found = tdm_metal_allocator_find(allocator, NULL);
	if (found != NULL) {
		const struct tdm_metal_runtime *runtime = found->runtime;
		found->is_live = false;
		bool is_told =
			runtime->next[TDM_HOOK_device_close] != NULL || runtime->next[TDM_HOOK_device_close_55] != NULL;
		for (size_t i = 0; i < found->chip_count && !is_told; i++)
			if (!is_used(found->chips[i]))
				closed[closed_count++] = found->chips[i];
	}
	tdm_metal_unlock();
	__atomic_fetch_add(&tdm_metal_generation, 1, __ATOMIC_RELEASE);
	wait_until_not_asked(found);
	for (size_t i = 0; i < closed_count; i++)
		close_chip(closed[i]);
}

/*
 * Statistics. An allocator in use exists, so it may be queried. So may the other allocators of its chips while new uses
 * wait, because an allocator's end is a use. If ends cannot be seen, the last statistics of the other allocators are
 * used, provided that those allocators have not been used since. Otherwise the sum would be inconsistent, and is not
 * reported.
 */

static enum tdm_metal_asking asking_of(const struct tdm_metal_allocator *allocator)
{
	return (enum tdm_metal_asking)__atomic_load_n(&allocator->asking, __ATOMIC_RELAXED);
}

/* To be called under the lock. */
static bool add_up(uint32_t chip, uint32_t kind, struct tdm_metal_statistics *sum)
{
	/* Each allocator assumes that all other memory is free. */
	*sum = (struct tdm_metal_statistics){ .free = UINT64_MAX, .largest = UINT64_MAX };
	for (size_t i = 0; i < allocator_count; i++) {
		const struct tdm_metal_allocator *each = allocators[i];
		for (size_t k = 0; k < each->chip_count && each->is_live; k++) {
			if (each->chips[k] != chip)
				continue;
			if (!each->has_statistics || asking_of(each) != TDM_METAL_ASKED)
				return false;
			const struct tdm_metal_statistics *said = &each->said[kind];
			sum->allocated += said->allocated;
			sum->free = said->free < sum->free ? said->free : sum->free;
			sum->largest = said->largest < sum->largest ? said->largest : sum->largest;
		}
	}
	return true;
}

typedef struct tdm_metal_answer statistics_function(const void *allocator, const void *kind);

/* The statistics function; NULL if there is none, or if another thread has found that it returns nonsense. */
static statistics_function *statistics_of(const struct tdm_metal_allocator *allocator)
{
	return __atomic_load_n(&allocator->ask.statistics, __ATOMIC_RELAXED);
}

/* Older runtimes append a list, which the caller must release. To detect the list, the result must be zeroed before
 * the call. That is possible on x86-64, where the address of a large result is the first argument; on other
 * processors the list leaks. */
static struct tdm_metal_statistics ask_kind(
	const struct tdm_metal_allocator *allocator, statistics_function *ask, const uint64_t *type)
{
#if defined(__x86_64__)
	void (*operator_delete)(void *) = allocator->runtime->ask.operator_delete;
	struct tdm_metal_answer said = { .places = { NULL, NULL, NULL } };
	void *(*function)(struct tdm_metal_answer *, const void *, const void *);
	memcpy(&function, &ask, sizeof function);
	function(&said, allocator->asked, type);
	size_t length = (size_t)(said.places.limit - said.places.begin);
	if (said.places.begin != NULL && length <= LIST_MAX && length % sizeof(uint32_t) == 0 &&
		operator_delete != NULL)
		operator_delete(said.places.begin);
#else
	struct tdm_metal_answer said = ask(allocator->asked, type);
#endif
	return said.figures;
}

bool tdm_metal_allocator_says(struct tdm_metal_allocator *allocator, uint32_t kind, struct tdm_metal_statistics *said)
{
	statistics_function *ask = kind < TDM_METAL_KINDS ? statistics_of(allocator) : NULL;
	if (ask == NULL)
		return false;
	*said = ask_kind(allocator, ask, &types[kind]);
	if (said->allocated <= TDM_METAL_BYTES_MAX && said->free <= TDM_METAL_BYTES_MAX && said->largest <= said->free)
		return true;
	__atomic_store_n(&allocator->ask.statistics, NULL, __ATOMIC_RELAXED); /* never call it again */
	tdm_metal_remark_once("metal: the runtime's own statistics are impossible, so they are not shown");
	return false;
}

/* Queries an allocator about all its memories, while no thread is using it. */
static void ask_all(struct tdm_metal_allocator *allocator)
{
	struct tdm_metal_statistics said[TDM_METAL_KINDS];
	for (uint32_t i = 0; i < TDM_METAL_KINDS; i++)
		if (!tdm_metal_allocator_says(allocator, i, &said[i]))
			return;
	memcpy(allocator->said, said, sizeof said);
	allocator->has_statistics = true;
	__atomic_store_n(&allocator->asking, TDM_METAL_ASKED, __ATOMIC_RELAXED);
}

void tdm_metal_allocators_inherit(void)
{
	for (size_t i = 0; i < allocator_count; i++)
		allocators[i]->asking = TDM_METAL_INHERITED;
}

static bool has_not_waited; /* a thread gave up waiting for the report in progress */
/* Queries all allocators that share a chip with this one and have been used since they were last queried. */
static void ask_others(const struct tdm_metal_allocator *allocator)
{
	static struct tdm_metal_allocator *others[ALLOCATORS_MAX]; /* only one thread reports at a time */
	size_t count = 0;
	tdm_metal_lock();
	for (size_t i = 0; i < allocator_count; i++) {
		struct tdm_metal_allocator *other = allocators[i];
		bool is_due = other != allocator && asking_of(other) == TDM_METAL_USED && tells_of_ends(other->runtime);
		size_t k = 0;
		while (k < allocator->chip_count && !is_live_on(other, allocator->chips[k]))
			k++;
		if (is_due && k < allocator->chip_count)
			others[count++] = other;
	}
	tdm_metal_unlock();
	for (size_t i = 0; i < count && !__atomic_load_n(&has_not_waited, __ATOMIC_RELAXED); i++) {
		/* Another thread may want to end this allocator; it waits until the query is over. */
		tdm_metal_lock();
		bool is_live = others[i]->is_live;
		if (is_live)
			__atomic_store_n(&tdm_metal_asked_in_turn, others[i], __ATOMIC_RELAXED);
		tdm_metal_unlock();
		if (is_live)
			ask_all(others[i]);
		__atomic_store_n(&tdm_metal_asked_in_turn, NULL, __ATOMIC_RELEASE);
	}
}

/* Returns false if another thread has used an allocator in the meantime, because the answers are then useless. `uses`
 * is the value of tdm_metal_uses before the query. */
static bool ask_statistics(struct tdm_metal_allocator *allocator, uint64_t uses)
{
	if (!__atomic_compare_exchange_n(
		    &tdm_metal_uses, &uses, uses | TDM_METAL_REPORTING, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		return false;
	__atomic_store_n(&has_not_waited, false, __ATOMIC_RELAXED);
	is_reporter = true;
	ask_all(allocator);
	ask_others(allocator);
	tdm_metal_lock();
	bool is_alone = !__atomic_load_n(&has_not_waited, __ATOMIC_ACQUIRE);
	if (is_alone) {
		struct tdm_metal_statistics sum;
		for (size_t i = 0; i < allocator->chip_count; i++)
			for (uint32_t kind = 0; kind < TDM_METAL_KINDS; kind++)
				if (add_up(allocator->chips[i], kind, &sum))
					tidemark_report_statistics(
						allocator->chips[i], kind, sum.allocated, sum.free, sum.largest);
	}
	tdm_metal_unlock();
	is_reporter = false;
	__atomic_fetch_and(&tdm_metal_uses, ~TDM_METAL_REPORTING, __ATOMIC_RELEASE);
	return is_alone;
}

/* Does not wait forever: a missing comparison is better than a program that hangs. The reporting thread may have been
 * cancelled or have jumped away; if that thread is only slow, its use is still in progress, and no other thread begins
 * a report before that use ends. */
void tdm_metal_wait_for_report(void)
{
	enum { ROUNDS_MAX = 10000 };
	int rounds = 0;
	while ((__atomic_load_n(&tdm_metal_uses, __ATOMIC_ACQUIRE) & TDM_METAL_REPORTING) != 0) {
		/* is_reporter: this thread reports, so it is in a signal handler or has jumped away */
		if (is_reporter || rounds++ == ROUNDS_MAX) {
			__atomic_store_n(&has_not_waited, true, __ATOMIC_RELEASE);
			__atomic_fetch_and(&tdm_metal_uses, ~TDM_METAL_REPORTING, __ATOMIC_RELEASE);
		} else {
			sched_yield();
		}
	}
}

static __attribute__((cold, noinline)) void look_at_clock(struct tdm_metal_allocator *allocator)
{
	uint64_t uses;
	if (statistics_of(allocator) == NULL || !tdm_metal_is_alone(&uses))
		return;
	uint64_t now = tdm_clock_read(CLOCK_MONOTONIC_COARSE);
	uint64_t before = __atomic_load_n(&allocator->asked_ns, __ATOMIC_RELAXED);
	if (before != 0 && now - before < STATISTICS_NS)
		return;
	bool is_done = ask_statistics(allocator, uses);
	__atomic_store_n(&allocator->asked_ns, is_done ? now : now - STATISTICS_NS + TRY_AGAIN_NS, __ATOMIC_RELAXED);
}

void tdm_metal_allocator_report(struct tdm_metal_allocator *allocator)
{
	__atomic_store_n(&allocator->asked_ns, 0, __ATOMIC_RELAXED);
	tdm_metal_allocator_used(allocator);
}

void tdm_metal_allocator_used(struct tdm_metal_allocator *allocator)
{
	static _Thread_local uint32_t uses __attribute__((tls_model("initial-exec")));
	if (asking_of(allocator) != TDM_METAL_USED)
		__atomic_store_n(&allocator->asking, TDM_METAL_USED, __ATOMIC_RELAXED);
	if (__builtin_expect(
		    ++uses % USES_PER_LOOK == 0 || __atomic_load_n(&allocator->asked_ns, __ATOMIC_RELAXED) == 0, 0))
		look_at_clock(allocator);
}

/* ---- hooks of devices ---- */

static inline __attribute__((always_inline)) bool close_device(
	enum tdm_metal_hook hook, struct tdm_metal_runtime *runtime, void *device)
{
	tdm_next_device_close *next = (tdm_next_device_close *)runtime->next[hook];
	uint32_t chip = tdm_metal_sees(runtime, hook) ? chip_of(runtime, device) : UINT32_MAX;
	bool is_closed = next(device);
	/* The device and its shared-memory object are gone, and new objects may soon have their addresses. */
	tdm_metal_lock();
	struct device *known = find_device(device);
	if (known != NULL)
		*known = devices[--device_count];
	if (chip < TDM_METAL_CHIPS_MAX)
		chips[chip].provider = NULL;
	tdm_metal_unlock();
	__atomic_fetch_add(&tdm_metal_generation, 1, __ATOMIC_RELEASE);
	if (chip != UINT32_MAX)
		close_chip(chip);
	return is_closed;
}

static void see_opened(struct tdm_metal_runtime *runtime, enum tdm_metal_hook hook, const void *mesh)
{
	if (!tdm_metal_sees(runtime, hook))
		return;
	/* Called when a mesh is opened. Describes its chips before any of its allocators are used. */
	struct tdm_metal_allocator new = { .device = mesh, .runtime = runtime };
	int caller_errno = errno;
	/* A mesh without chips on this host has no allocator to query. */
	if (tdm_metal_chips(runtime, mesh, (uint32_t[1]){ 0 }, 1) != 0 && learn(&new)) {
		tdm_metal_explain(runtime);
		describe_chips(&new);
		free(new.chips);
	}
	errno = caller_errno;
}

#define OPENED(id)                                        \
	void tdm_hook_##id(const void *mesh)              \
	{                                                 \
		TDM_METAL_ENTER(id)                       \
		TDM_METAL_NEXT(id)(mesh);                 \
		see_opened(runtime, TDM_HOOK_##id, mesh); \
	}
OPENED(mesh_opened)
OPENED(mesh_opened_61)

#define CLOSE(id)                                                    \
	bool tdm_hook_##id(void *device)                             \
	{                                                            \
		TDM_METAL_ENTER(id, false)                           \
		return close_device(TDM_HOOK_##id, runtime, device); \
	}
CLOSE(device_close)
CLOSE(device_close_55)

void tdm_hook_stats_provider(void *provider, uint64_t chip_id, int device, bool is_off, bool is_verbose)
{
	TDM_METAL_ENTER(stats_provider)
	TDM_METAL_NEXT(stats_provider)(provider, chip_id, device, is_off, is_verbose);
	if (device >= 0 && device < TDM_METAL_CHIPS_MAX) { /* tracking may be turned on later */
		tdm_metal_lock();
		for (size_t i = 0; i < TDM_METAL_CHIPS_MAX; i++) /* another chip's object may have had this address */
			if (chips[i].provider == provider)
				chips[i].provider = NULL;
		chips[device].provider = provider;
		chips[device].chip_id = chip_id;
		chips[device].has_chip_id = true;
		tdm_metal_unlock();
	}
	tdm_metal_sees(runtime, TDM_HOOK_stats_provider);
}
