/*
 * Chips, and the devices of the runtime that are made of them.
 *
 * A MeshDevice is asked for its chips. A single Device has no function for its number in recent releases (it is
 * inline), so that it is found in one of three other ways: a mesh that has it lists devices and numbers in the same
 * order; older releases have the function; and the object that keeps the runtime's totals in shared memory is made with
 * the number and is pointed to by the Device.
 */
#include "metal/programs.h"
#include "metal/allocators.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	DEVICES_MAX = 4096,
	MESHES_MAX = 64,
	PROVIDERS_MAX = 1024,
	VTABLE_HEAD = 16, /* bytes before the first function, where objects point */
	DEVICE_BYTES = 1024,
	GRID_MAX = 256,
};

/* All under tdm_metal_lock(). */
static struct chip {
	uint64_t chip_id;
	uint64_t left;  /* buffers that its allocators still had at their end */
	uint32_t epoch; /* of the ledger in which it is described and open */
	bool is_open, has_chip_id;
} chips[TDM_METAL_CHIPS_MAX];

static struct device {
	const void *device;
	uint32_t chip;
	uint32_t grid_x, grid_y; /* 0: not known */
	uint32_t channels;       /* of DRAM; 0: not known */
	int arch;
} devices[DEVICES_MAX]; /* single ones */
static size_t device_count;

static struct mesh { /* answers of meshes, until a device or an allocator ends */
	const void *mesh;
	uint32_t generation, *chips;
	size_t count;
} meshes[MESHES_MAX];
static size_t mesh_next;

static struct provider {
	const void *provider;
	uint32_t chip;
} providers[PROVIDERS_MAX];
static size_t provider_count;

/* A mesh has an inner object since v0.66, which is what the runtime names when it opens one. */
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

const void *tdm_metal_view_of(struct tdm_metal_runtime *runtime, const void *device)
{
	enum shape shape = shape_of(runtime, device);
	const void *const *(*ask)(const void *) = shape == SHAPE_MESH         ? runtime->ask.mesh_allocator
						  : shape == SHAPE_DEVICE     ? runtime->ask.device_allocator
						  : shape == SHAPE_INNER_MESH ? runtime->ask.impl_allocator
									      : NULL;
	const void *view = NULL;
	return ask != NULL && tdm_metal_copy(&view, ask(device), sizeof view) ? view : NULL;
}

static struct device *find_device(const void *device)
{
	for (size_t i = 0; i < device_count; i++)
		if (devices[i].device == device)
			return &devices[i];
	return NULL;
}

/* Remembers the number of a single device, and asks for what else is known about it. */
static void learn(struct tdm_metal_runtime *runtime, const void *device, uint32_t chip)
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

/* A device is closed, and so is the object of its chip for shared memory: others may be at their places soon. */
static void forget(const void *device, uint32_t chip)
{
	tdm_metal_lock();
	struct device *known = find_device(device);
	if (known != NULL)
		*known = devices[--device_count];
	for (size_t i = provider_count; i-- > 0;)
		if (providers[i].chip == chip)
			providers[i] = providers[--provider_count];
	tdm_metal_unlock();
}

/* The numbers in a std::vector<int>, which is released; 0: none, or nonsense. */
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

/* A mesh gives the numbers of its single devices, which have no function for it. */
static void learn_devices(
	struct tdm_metal_runtime *runtime, struct tdm_metal_vector vector, const uint32_t *numbers, size_t count)
{
	const void *pointers[TDM_METAL_CHIPS_MAX];
	size_t bytes = (size_t)(vector.end - vector.begin);
	if (vector.begin == NULL || vector.begin > vector.end || bytes > sizeof pointers ||
		!tdm_metal_copy(pointers, vector.begin, bytes))
		return;
	if (runtime->ask.operator_delete != NULL)
		runtime->ask.operator_delete(vector.begin);
	for (size_t i = 0; i < count && bytes == count * sizeof *pointers; i++)
		learn(runtime, pointers[i], numbers[i]);
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
	if (count != 0 && ask_devices != NULL)
		learn_devices(runtime, ask_devices(mesh), numbers, count);
	return count;
}

/* The number of the device that points to one of the objects made for shared memory. */
static uint32_t find_by_provider(const void *device)
{
	const void *words[DEVICE_BYTES / sizeof(void *)];
	size_t size = sizeof words;
	uint32_t found = UINT32_MAX;
	while (size > sizeof *words && !tdm_metal_copy(words, device, size))
		size /= 2;
	tdm_metal_lock();
	for (size_t i = 1; i < size / sizeof *words; i++)
		for (size_t k = 0; k < provider_count; k++)
			if (words[i] != NULL && words[i] == providers[k].provider)
				found = providers[k].chip;
	tdm_metal_unlock();
	return found;
}

uint32_t tdm_metal_chip_of(struct tdm_metal_runtime *runtime, const void *device)
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
	learn(runtime, device, chip);
	return chip;
}

/* Each chip once, in order. */
static size_t without_repeats(uint32_t *numbers, size_t count)
{
	size_t kept = 0;
	for (size_t i = 0; i < count; i++) {
		size_t k = 0;
		while (k < kept && numbers[k] != numbers[i])
			k++;
		if (k == kept)
			numbers[kept++] = numbers[i];
	}
	return kept;
}

static size_t find_mesh(const void *mesh, uint32_t generation, uint32_t *numbers, size_t cap)
{
	size_t count = 0;
	tdm_metal_lock();
	for (size_t i = 0; i < MESHES_MAX && count == 0; i++)
		if (meshes[i].mesh == mesh && meshes[i].generation == generation) {
			count = meshes[i].count < cap ? meshes[i].count : cap;
			memcpy(numbers, meshes[i].chips, count * sizeof *numbers);
		}
	tdm_metal_unlock();
	return count;
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
	size_t count = find_mesh(device, generation, numbers, cap);
	if (count != 0)
		return count;
	enum shape shape = shape_of(runtime, device);
	switch (shape) {
	case SHAPE_MESH:
	case SHAPE_INNER_MESH:
		count = without_repeats(all, ask_mesh(runtime, device, shape, all, TDM_METAL_CHIPS_MAX));
		if (count != 0)
			keep_mesh(device, generation, all, count);
		break;
	case SHAPE_DEVICE:
		all[0] = tdm_metal_chip_of(runtime, device);
		count = all[0] != UINT32_MAX;
		break;
	case SHAPE_UNKNOWN:
		break;
	}
	count = count < cap ? count : cap;
	memcpy(numbers, all, count * sizeof *numbers);
	errno = caller_errno;
	return count;
}

uint32_t tdm_metal_chip_banks(uint32_t chip, uint32_t kind)
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

/*
 * Descriptions.
 */

/* A card that its grid of compute cores gives away: only one has it, however it dispatches. */
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

/* What the allocator says about its memories; the number of regions. */
static uint32_t ask_regions(const struct tdm_metal_allocator *allocator, struct tidemark_region *regions)
{
	const struct tdm_metal_allocator_ask *ask = &allocator->ask;
	const uint64_t types[TDM_METAL_KINDS] = { 0, TDM_METAL_TYPE_L1, TDM_METAL_TYPE_L1_SMALL, TDM_METAL_TYPE_TRACE };
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
	if (ask->base_address != NULL) { /* L1_SMALL follows L1, traces follow DRAM */
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

/* What is known about a chip apart from its memories. False: it is open and described already. */
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

void tdm_metal_chips_describe(struct tdm_metal_allocator *allocator)
{
	struct tidemark_region regions[TDM_METAL_KINDS];
	uint32_t region_count = ask_regions(allocator, regions);
	if (region_count == 0 && allocator->allocator == NULL)
		return; /* only opened: its first buffer will tell */
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
		chips[allocator->chips[i]].epoch = tidemark_epoch_; /* changed by the first report of a process */
		tdm_metal_unlock();
	}
}

void tdm_metal_chip_left(uint32_t number, uint64_t buffers)
{
	__atomic_fetch_add(&chips[number].left, buffers, __ATOMIC_RELAXED);
}

void tdm_metal_chip_closed(uint32_t number)
{
	tdm_metal_lock();
	bool was_open = chips[number].is_open;
	chips[number].is_open = false;
	tdm_metal_unlock();
	if (!tdm_programs_is_empty()) /* programs may outlive their device */
		tdm_programs_end_items(NULL, TDM_PROGRAM_ANY_KIND, number);
	tdm_metal_allocators_leave(number);
	tdm_metal_pinned_leave(number);
	tdm_metal_traces_leave(number);
	if (was_open)
		tidemark_step(
			number, TIDEMARK_DEVICE_CLOSED, __atomic_exchange_n(&chips[number].left, 0, __ATOMIC_RELAXED));
}

/*
 * Hooks.
 */

static inline __attribute__((always_inline)) bool close_device(
	enum tdm_metal_hook hook, struct tdm_metal_runtime *runtime, void *device)
{
	tdm_next_device_close *next = (tdm_next_device_close *)runtime->next[hook];
	bool is_on = tdm_metal_is_on(runtime);
	uint32_t chip = is_on ? tdm_metal_chip_of(runtime, device) : UINT32_MAX;
	if (is_on)
		tdm_metal_count(hook);
	bool is_closed = next(device);
	forget(device, chip);
	__atomic_fetch_add(&tdm_metal_generation, 1, __ATOMIC_RELEASE);
	if (chip != UINT32_MAX)
		tdm_metal_chip_closed(chip);
	return is_closed;
}

static void see_opened(struct tdm_metal_runtime *runtime, enum tdm_metal_hook hook, const void *mesh)
{
	if (!tdm_metal_is_on(runtime))
		return;
	tdm_metal_count(hook);
	tdm_metal_device_opened(runtime, mesh);
}

void tdm_hook_mesh_opened(const void *mesh)
{
	TDM_METAL_ENTER(mesh_opened)
	TDM_METAL_NEXT(mesh_opened)(mesh);
	see_opened(runtime, TDM_HOOK_mesh_opened, mesh);
}

void tdm_hook_mesh_opened_61(const void *mesh)
{
	TDM_METAL_ENTER(mesh_opened_61)
	TDM_METAL_NEXT(mesh_opened_61)(mesh);
	see_opened(runtime, TDM_HOOK_mesh_opened_61, mesh);
}

bool tdm_hook_device_close(void *device)
{
	TDM_METAL_ENTER(device_close, false)
	return close_device(TDM_HOOK_device_close, runtime, device);
}

bool tdm_hook_device_close_55(void *device)
{
	TDM_METAL_ENTER(device_close_55, false)
	return close_device(TDM_HOOK_device_close_55, runtime, device);
}

static void learn_provider(const void *provider, uint64_t chip_id, uint32_t number)
{
	tdm_metal_lock();
	size_t i = 0;
	while (i < provider_count && providers[i].provider != provider)
		i++;
	if (i < PROVIDERS_MAX && number < TDM_METAL_CHIPS_MAX) {
		providers[i] = (struct provider){ provider, number };
		provider_count += i == provider_count;
		chips[number].chip_id = chip_id;
		chips[number].has_chip_id = true;
	}
	tdm_metal_unlock();
}

void tdm_hook_stats_provider(void *provider, uint64_t chip_id, int device, bool is_off, bool is_verbose)
{
	TDM_METAL_ENTER(stats_provider)
	TDM_METAL_NEXT(stats_provider)(provider, chip_id, device, is_off, is_verbose);
	learn_provider(provider, chip_id, (uint32_t)device); /* tracking may be turned on later */
	if (tdm_metal_is_on(runtime))
		tdm_metal_count(TDM_HOOK_stats_provider);
}
