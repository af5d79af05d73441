/*
 * A block is placed in pieces: the free blocks of its list that are large enough, without the bytes used in the lists
 * that it must avoid. The ranges to avoid are collected, sorted and merged once, and kept until one of their lists
 * changes.
 */
#include "model/alloc/mesh_l1.h"
#include "base/err.h"
#include "base/memory.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

struct range {
	uint64_t start, end;
};

/* The lists whose used bytes are in `avoid`. */
enum collected { NOTHING, ALL_CORES, DEVICE_CORES, DEVICE_LOCKSTEP };

struct tdm_mesh_l1 {
	struct tdm_freelist *whole;
	struct tdm_freelist_config config;
	uint32_t devices, cores;
	struct tdm_freelist **device; /* the lockstep list of each device */
	struct tdm_freelist **core;   /* device x cores + core; NULL until the core's first buffer */
	enum collected collected;
	uint32_t collected_device;
	struct range *avoid;
	size_t avoid_count, avoid_cap;
};

int tdm_mesh_l1_new(struct tdm_freelist *whole, const struct tdm_freelist_config *config, uint32_t devices,
	uint32_t cores, struct tdm_mesh_l1 **out)
{
	if (devices == 0 || devices > TDM_MESH_DEVICES_MAX || cores == 0 || cores > TDM_MESH_CORES_MAX ||
		devices > TDM_MESH_LISTS_MAX / cores)
		return -EINVAL;
	struct tdm_mesh_l1 *mesh = tdm_zalloc(1, sizeof *mesh);
	*mesh = (struct tdm_mesh_l1){ .whole = whole, .config = *config, .devices = devices, .cores = cores };
	mesh->device = tdm_zalloc(devices, sizeof(void *));
	mesh->core = tdm_zalloc((size_t)devices * cores, sizeof(void *));
	int err = 0;
	for (uint32_t k = 0; err == 0 && k < devices; k++)
		err = tdm_freelist_new(config, &mesh->device[k]);
	if (err != 0) {
		tdm_mesh_l1_free(mesh);
		return err;
	}
	*out = mesh;
	return 0;
}

void tdm_mesh_l1_free(struct tdm_mesh_l1 *mesh)
{
	if (mesh == NULL)
		return;
	for (uint32_t k = 0; k < mesh->devices; k++)
		tdm_freelist_free(mesh->device[k]);
	for (size_t i = 0; i < (size_t)mesh->devices * mesh->cores; i++)
		tdm_freelist_free(mesh->core[i]);
	free(mesh->device);
	free(mesh->core);
	free(mesh->avoid);
	free(mesh);
}

static struct tdm_freelist **core_list(const struct tdm_mesh_l1 *mesh, uint32_t device, uint32_t core)
{
	assert(device < mesh->devices && core < mesh->cores);
	return &mesh->core[(size_t)device * mesh->cores + core];
}

/* ---- the bytes to avoid ---- */

static void collect_list(struct tdm_mesh_l1 *mesh, const struct tdm_freelist *list)
{
	struct tdm_freelist_walk walk;
	struct tdm_free_block block;
	if (list == NULL)
		return;
	tdm_freelist_walk(list, &walk);
	while (tdm_freelist_walk_next(&walk, &block)) {
		if (!block.used)
			continue;
		tdm_grow(&mesh->avoid, &mesh->avoid_cap, mesh->avoid_count + 1, sizeof *mesh->avoid);
		mesh->avoid[mesh->avoid_count++] = (struct range){ block.address, block.address + block.size };
	}
}

static int compare_starts(const void *a, const void *b)
{
	const struct range *left = a, *right = b;
	return (left->start > right->start) - (left->start < right->start);
}

static void merge_ranges(struct tdm_mesh_l1 *mesh)
{
	size_t count = 0;
	if (mesh->avoid_count == 0)
		return;
	qsort(mesh->avoid, mesh->avoid_count, sizeof *mesh->avoid, compare_starts);
	for (size_t i = 1; i < mesh->avoid_count; i++) {
		const struct range next = mesh->avoid[i];
		if (next.start > mesh->avoid[count].end)
			mesh->avoid[++count] = next;
		else if (next.end > mesh->avoid[count].end)
			mesh->avoid[count].end = next.end;
	}
	mesh->avoid_count = count + 1;
}

/* Collects what a buffer must avoid, unless that is collected already. */
static void collect(struct tdm_mesh_l1 *mesh, enum collected what, uint32_t device)
{
	if (mesh->collected == what && mesh->collected_device == device)
		return;
	mesh->avoid_count = 0;
	if (what == DEVICE_LOCKSTEP)
		collect_list(mesh, mesh->device[device]);
	else
		for (uint32_t k = 0; k < mesh->devices; k++)
			for (uint32_t core = 0; core < mesh->cores && (what == ALL_CORES || k == device); core++)
				collect_list(mesh, *core_list(mesh, k, core));
	merge_ranges(mesh);
	mesh->collected = what;
	mesh->collected_device = device;
}

/* Forgets the collected ranges if they come from lists of cores, or from lists of devices. */
static void forget(struct tdm_mesh_l1 *mesh, bool of_cores)
{
	if (of_cores ? mesh->collected != DEVICE_LOCKSTEP : mesh->collected == DEVICE_LOCKSTEP)
		mesh->collected = NOTHING;
}

/* ---- placing ---- */

struct search {
	uint64_t need;
	enum tdm_grow grow;
	bool found;
	uint64_t address, end; /* the place, and the end of its piece */
};

/*
 * Offers the piece [start, end). Pieces come in ascending order: bottom-up the first that fits wins, top-down the last.
 * The runtime does not ask whether the piece ends below `need`, so its subtraction wraps there and the test passes.
 */
static void offer(struct search *s, uint64_t start, uint64_t end)
{
	bool is_up = s->grow == TDM_BOTTOM_UP;
	if (is_up ? s->found || end - start < s->need : end - s->need < start)
		return;
	s->found = true;
	s->address = is_up ? start : end - s->need;
	s->end = end;
}

static int find_place(
	const struct tdm_mesh_l1 *mesh, const struct tdm_freelist *list, struct search *s, uint64_t *address)
{
	struct tdm_freelist_walk walk;
	struct tdm_free_block block;
	size_t at = 0;
	tdm_freelist_walk(list, &walk);
	while (tdm_freelist_walk_next(&walk, &block)) {
		uint64_t start = block.address, end = start + block.size;
		if (block.used || block.size < s->need)
			continue;
		while (at < mesh->avoid_count && mesh->avoid[at].end <= start)
			at++;
		for (size_t i = at; i < mesh->avoid_count && mesh->avoid[i].start < end; i++) {
			if (mesh->avoid[i].start > start)
				offer(s, start, mesh->avoid[i].start);
			start = mesh->avoid[i].end;
		}
		if (start < end)
			offer(s, start, end);
	}
	*address = s->address;
	return !s->found ? TDM_ENOFIT : s->grow == TDM_TOP_DOWN && s->end < s->need ? -EOVERFLOW : 0;
}

static int place(
	struct tdm_mesh_l1 *mesh, struct tdm_freelist *list, uint64_t size, enum tdm_grow grow, uint64_t *address)
{
	struct search s = { .grow = grow };
	int err = tdm_freelist_round(list, size, &s.need);
	if (err == 0)
		err = find_place(mesh, list, &s, address);
	if (err == 0)
		err = tdm_freelist_place(list, *address, size);
	return err;
}

int tdm_mesh_l1_alloc(struct tdm_mesh_l1 *mesh, uint32_t device, uint64_t size, enum tdm_grow grow, uint64_t *address)
{
	bool is_whole = device == TDM_MESH_WHOLE;
	collect(mesh, is_whole ? ALL_CORES : DEVICE_CORES, device);
	int err = place(mesh, is_whole ? mesh->whole : mesh->device[device], size, grow, address);
	forget(mesh, false);
	return err;
}

int tdm_mesh_l1_mirror(struct tdm_mesh_l1 *mesh, uint64_t address, uint64_t size, uint32_t *device)
{
	forget(mesh, false);
	for (uint32_t k = 0; k < mesh->devices; k++) {
		if (tdm_freelist_size_at(mesh->device[k], address) != 0)
			continue;
		if (tdm_freelist_place(mesh->device[k], address, size) != 0) {
			*device = k;
			return TDM_EOCCUPIED;
		}
	}
	return 0;
}

void tdm_mesh_l1_release(struct tdm_mesh_l1 *mesh, uint32_t device, uint64_t address)
{
	bool is_whole = device == TDM_MESH_WHOLE;
	forget(mesh, false);
	for (uint32_t k = 0; k < mesh->devices; k++)
		if (is_whole || k == device)
			tdm_freelist_release(mesh->device[k], address, NULL);
	if (is_whole)
		tdm_freelist_release(mesh->whole, address, NULL);
}

int tdm_mesh_l1_alloc_core(
	struct tdm_mesh_l1 *mesh, uint32_t device, uint32_t core, uint64_t size, enum tdm_grow grow, uint64_t *address)
{
	struct tdm_freelist **list = core_list(mesh, device, core);
	int err = *list == NULL ? tdm_freelist_new(&mesh->config, list) : 0;
	if (err != 0)
		return err;
	collect(mesh, DEVICE_LOCKSTEP, device);
	err = place(mesh, *list, size, grow, address);
	forget(mesh, true);
	return err;
}

void tdm_mesh_l1_release_core(struct tdm_mesh_l1 *mesh, uint32_t device, uint32_t core, uint64_t address)
{
	forget(mesh, true);
	tdm_freelist_release(*core_list(mesh, device, core), address, NULL);
}

/* ---- figures ---- */

struct tdm_freelist_stats tdm_mesh_l1_device(const struct tdm_mesh_l1 *mesh, uint32_t device)
{
	return tdm_freelist_stats(mesh->device[device]);
}

struct tdm_freelist_stats tdm_mesh_l1_core(const struct tdm_mesh_l1 *mesh, uint32_t device, uint32_t core)
{
	const struct tdm_freelist *list = *core_list(mesh, device, core);
	uint64_t size = mesh->config.size;
	return list != NULL ? tdm_freelist_stats(list)
			    : (struct tdm_freelist_stats){ .total = size, .free = size, .largest_free = size };
}

bool tdm_mesh_l1_lowest(const struct tdm_mesh_l1 *mesh, uint32_t device, uint32_t core, uint64_t *address)
{
	const struct tdm_freelist *list = core < mesh->cores ? *core_list(mesh, device, core) : NULL;
	uint64_t own;
	bool any = tdm_freelist_lowest(mesh->device[device], address);
	if (list == NULL || !tdm_freelist_lowest(list, &own))
		return any;
	*address = any && *address < own ? *address : own;
	return true;
}

/* Whether no used block of `list` overlaps one of `other`. */
static bool are_apart(const struct tdm_freelist *list, const struct tdm_freelist *other)
{
	struct tdm_freelist_walk walk, beside;
	struct tdm_free_block block, next = { 0 };
	tdm_freelist_walk(list, &walk);
	tdm_freelist_walk(other, &beside);
	bool more = tdm_freelist_walk_next(&beside, &next);
	while (tdm_freelist_walk_next(&walk, &block)) {
		while (more && next.address + next.size <= block.address)
			more = tdm_freelist_walk_next(&beside, &next);
		/* Free blocks of `other` are skipped one by one, used ones must begin after the block. */
		while (block.used && more && !next.used && next.address < block.address + block.size)
			more = tdm_freelist_walk_next(&beside, &next);
		if (block.used && more && next.used && next.address < block.address + block.size)
			return false;
	}
	return true;
}

bool tdm_mesh_l1_is_valid(const struct tdm_mesh_l1 *mesh)
{
	for (uint32_t k = 0; k < mesh->devices; k++) {
		if (!tdm_freelist_is_valid(mesh->device[k]))
			return false;
		for (uint32_t core = 0; core < mesh->cores; core++) {
			const struct tdm_freelist *list = *core_list(mesh, k, core);
			if (list != NULL && (!tdm_freelist_is_valid(list) || !are_apart(mesh->device[k], list)))
				return false;
		}
	}
	return true;
}
