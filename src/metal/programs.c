/*
 * Records change under the lock. Buffers are reported after the lock is released, because a report with a call stack
 * may wait for the loader, and a thread in the loader may run a constructor that calls these functions. The union and
 * its sum are reported under the lock, so that sums are reported in the right order.
 */
#include "metal/programs.h"
#include "metal/metal.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core_union.h"
#include "base/map.h"
#include "base/number.h"
#include "base/reserve.h"

enum {
	PROGRAMS_MAX = 1 << 20,
	KERNEL_NAME_MAX = 47,
	INDEX_BITS = 16,
	OWN_NAMES_MAX = 4096, /* maximum number of names invented for programs that have no other name */
};
static_assert(TDM_PROGRAM_ITEMS_MAX <= 1 << INDEX_BITS, "an index is a part of the id");

#define NO_ROOM   "metal: there is no memory for more programs: some circular buffers are not seen"
#define NOT_ADDED "metal: some circular buffers are in no figure: their cores are not known, or there are too many"

struct kernel {
	const void *object;
	char name[KERNEL_NAME_MAX + 1];
};

struct program {
	const void *key; /* NULL if the entry is free */
	uint64_t number; /* the program's number in ids */
	bool has_own_name;
	struct tdm_program_items items;
	struct tdm_program_items waiting; /* items of a layout that has not been accepted */
	struct kernel *kernels;
	size_t kernel_count, kernel_cap;
	uint32_t next_free; /* in a free entry: the next free one, plus 1 */
};

/* The union of all items of one kind on a chip. */
struct use {
	uint32_t chip, kind;
	struct tdm_core_union cores;
};

/* Guarded by the lock, except that `known` and `waiting` are also read without it. */
static struct {
	struct program *programs;
	size_t count, cap, known;
	size_t waiting;                   /* number of waiting items of all programs */
	uint32_t first_free;              /* first free entry, plus 1; 0 if there is none */
	struct tdm_map by_key, by_number; /* index in `programs`, by key and by number */
	bool has_maps;
	uint64_t last_own_number;
	uint32_t own_names;
	struct use *uses;
	size_t use_count, use_cap;
	bool is_full, is_incomplete; /* remarks to leave once the lock is released */
} all;

static void unlock_and_tell(void)
{
	bool is_full = all.is_full, is_incomplete = all.is_incomplete;
	tdm_metal_unlock();
	if (is_full)
		tdm_metal_remark_once(NO_ROOM);
	if (is_incomplete)
		tdm_metal_remark_once(NOT_ADDED);
}

bool tdm_program_items_add(struct tdm_program_items *items, const struct tdm_program_item *item)
{
	struct tdm_program_item copy = *item;
	size_t bytes = item->range_count * sizeof *item->ranges;
	copy.ranges = NULL;
	if (items->count >= TDM_PROGRAM_ITEMS_MAX ||
		tdm_reserve(&items->list, &items->cap, items->count + 1, sizeof copy) != 0 ||
		(bytes != 0 && (copy.ranges = malloc(bytes)) == NULL))
		return false;
	if (bytes != 0)
		memcpy(copy.ranges, item->ranges, bytes);
	items->list[items->count++] = copy;
	return true;
}

void tdm_program_items_done(struct tdm_program_items *items)
{
	for (size_t i = 0; i < items->count; i++)
		free(items->list[i].ranges);
	free(items->list);
	*items = (struct tdm_program_items){ 0 };
}

static struct program *find(const void *key)
{
	uint32_t at = all.has_maps ? tdm_map_find(&all.by_key, (uintptr_t)key) : TDM_MAP_NONE;
	return at != TDM_MAP_NONE ? &all.programs[at] : NULL;
}

static bool has_maps(void)
{
	if (!all.has_maps && tdm_map_init(&all.by_key) == 0) {
		all.has_maps = tdm_map_init(&all.by_number) == 0;
		if (!all.has_maps)
			tdm_map_done(&all.by_key);
	}
	return all.has_maps;
}

static void give_place(uint32_t at)
{
	all.programs[at] = (struct program){ .next_free = all.first_free };
	all.first_free = at + 1;
}

static struct program *find_or_make(const void *key)
{
	struct program *found = find(key);
	if (found != NULL || !has_maps())
		return found;
	/* Returns a free entry, or else the next new one. */
	uint32_t at = all.first_free != 0 ? all.first_free - 1 : (uint32_t)all.count;
	if (all.first_free != 0)
		all.first_free = all.programs[at].next_free;
	else if (all.count >= PROGRAMS_MAX ||
		 tdm_reserve(&all.programs, &all.cap, all.count + 1, sizeof *all.programs) != 0)
		return NULL;
	else
		all.count++;
	if (tdm_map_put(&all.by_key, (uintptr_t)key, at) != 0) {
		give_place(at);
		return NULL;
	}
	all.programs[at] = (struct program){ .key = key };
	__atomic_store_n(&all.known, all.known + 1, __ATOMIC_RELAXED);
	return &all.programs[at];
}

/* Ids contain the runtime's number for the program, unless another live program has that number or the number is
 * absurd. */
static void set_number(struct program *program, uint64_t number)
{
	const uint64_t own = UINT64_C(1) << 40;
	if (program->number != 0)
		return;
	number++; /* because 0 means none here */
	if (number == 0 || number >= own || tdm_map_find(&all.by_number, number) != TDM_MAP_NONE)
		number = own + ++all.last_own_number;
	program->number = number;
	/* if that fails, numbers may repeat */
	(void)tdm_map_put(&all.by_number, number, (uint32_t)(program - all.programs));
}

/*
 * The name for a program that has no other name. The ledger never drops a name, so only OWN_NAMES_MAX programs get such
 * names, made from the number in their buffers' ids. All others share one name.
 */
static const char *own_name(struct program *program, char name[TDM_PROGRAM_OWN_NAME])
{
	if (!program->has_own_name && all.own_names < OWN_NAMES_MAX) {
		program->has_own_name = true;
		all.own_names++;
	}
	if (!program->has_own_name)
		return strcpy(name, "programs without a name");
	snprintf(name, TDM_PROGRAM_OWN_NAME, "program %llu", (unsigned long long)(program->number - 1));
	return name;
}

static struct use *use_of(uint32_t chip, uint32_t kind)
{
	for (size_t i = 0; i < all.use_count; i++)
		if (all.uses[i].chip == chip && all.uses[i].kind == kind)
			return &all.uses[i];
	if (tdm_reserve(&all.uses, &all.use_cap, all.use_count + 1, sizeof *all.uses) != 0)
		return NULL;
	all.uses[all.use_count] = (struct use){ .chip = chip, .kind = kind };
	return &all.uses[all.use_count++];
}

static struct tdm_core_item place_of(const struct tdm_program_item *item)
{
	static_assert(sizeof(struct tdm_core_range) == sizeof(struct tidemark_core_range), "read as one");
	return (struct tdm_core_item){ (const struct tdm_core_range *)(const void *)item->ranges, item->range_count,
		item->address, item->size };
}

static void put_in_union(struct tdm_program_item *item)
{
	struct tdm_core_item place = place_of(item);
	if ((item->flags & TIDEMARK_SHARED) == 0)
		return;
	struct use *use = use_of(item->chip, item->kind);
	item->is_counted = use != NULL && item->range_count != 0 && tdm_core_union_add(&use->cores, &place);
	all.is_incomplete |= !item->is_counted;
}

static void take_from_union(const struct tdm_program_item *item)
{
	struct tdm_core_item place = place_of(item);
	struct use *use = item->is_counted ? use_of(item->chip, item->kind) : NULL;
	if (use != NULL && !tdm_core_union_remove(&use->cores, &place))
		all.is_incomplete = true;
}

static bool has_part_in(const struct tdm_program_items *items, const struct use *use)
{
	for (size_t i = 0; i < items->count; i++)
		if (items->list[i].chip == use->chip && items->list[i].kind == use->kind && items->list[i].is_counted)
			return true;
	return false;
}

/* Reports the sums that changed because of these added and removed items. */
static void report_use(const struct tdm_program_items *more, const struct tdm_program_items *less)
{
	uint64_t fullest, total;
	for (size_t i = 0; i < all.use_count; i++)
		if (has_part_in(more, &all.uses[i]) || has_part_in(less, &all.uses[i])) {
			tdm_core_union_sum(&all.uses[i].cores, &fullest, &total);
			tidemark_report_core_use(all.uses[i].chip, all.uses[i].kind, fullest, total);
		}
}

static uint64_t id_of(uint64_t number, const struct tdm_program_item *item)
{
	return (number - 1) << INDEX_BITS | item->index;
}

/* Whether an item has this kind and chip (each may be "any"), and is on a chip of `like` (may be NULL). */
static bool is_chosen(
	const struct tdm_program_item *item, uint32_t kind, uint32_t chip, const struct tdm_program_items *like)
{
	size_t i = 0;
	while (like != NULL && i < like->count && like->list[i].chip != item->chip)
		i++;
	return (kind == TDM_PROGRAM_ANY_KIND || item->kind == kind) &&
	       (chip == TDM_PROGRAM_ANY_CHIP || item->chip == chip) && (like == NULL || i < like->count);
}

/* Moves items out of their program, and stores their ids as addresses for the report. */
static void take_items(struct tdm_program_items *to, struct program *program, uint32_t kind, uint32_t chip,
	const struct tdm_program_items *like)
{
	struct tdm_program_items *from = &program->items;
	for (size_t i = from->count; i-- > 0;) {
		struct tdm_program_item *item = &from->list[i];
		if (!is_chosen(item, kind, chip, like))
			continue;
		take_from_union(item);
		item->address = id_of(program->number, item);
		if (tdm_reserve(&to->list, &to->cap, to->count + 1, sizeof *item) == 0)
			to->list[to->count++] = *item;
		else { /* out of memory: reported here, under the lock, because a release takes no stack */
			tidemark_free(item->chip, item->kind, item->address);
			free(item->ranges);
		}
		from->list[i] = from->list[--from->count];
	}
}

/* Removes waiting items, which were never reported. Moves them to `to` unless that is NULL. */
static void take_waiting(struct tdm_program_items *to, struct program *program, uint32_t kind, uint32_t chip,
	const struct tdm_program_items *like)
{
	struct tdm_program_items *from = &program->waiting;
	size_t kept = 0;
	for (size_t i = 0; i < from->count; i++) {
		const struct tdm_program_item item = from->list[i];
		if (!is_chosen(&item, kind, chip, like))
			from->list[kept++] = item;
		else if (to != NULL && tdm_reserve(&to->list, &to->cap, to->count + 1, sizeof item) == 0)
			to->list[to->count++] = item;
		else
			free(item.ranges);
	}
	__atomic_store_n(&all.waiting, all.waiting - (from->count - kept), __ATOMIC_RELAXED);
	from->count = kept;
}

static void report_ends(struct tdm_program_items *ended)
{
	for (size_t i = 0; i < ended->count; i++)
		tidemark_free(ended->list[i].chip, ended->list[i].kind, ended->list[i].address);
	tdm_program_items_done(ended);
}

static uint64_t core_count(const struct tdm_program_item *item)
{
	uint64_t cores = 0;
	for (uint32_t i = 0; i < item->range_count; i++) {
		const struct tidemark_core_range *r = &item->ranges[i];
		cores += (uint64_t)(r->x1 - r->x0 + 1) * (uint64_t)(r->y1 - r->y0 + 1);
	}
	return cores != 0 ? cores : 1;
}

static void report_item(const struct tdm_program_item *item, uint64_t number, uint32_t name)
{
	struct tidemark_buffer b = TIDEMARK_BUFFER_INIT;
	b.device = item->chip;
	b.kind = item->kind;
	b.flags = item->flags;
	b.id = id_of(number, item);
	b.address = item->address;
	b.bytes = tdm_times(item->size, core_count(item));
	b.bytes_per_bank = item->size;
	b.banks = (uint32_t)core_count(item);
	b.ranges = item->ranges;
	b.range_count = item->range_count;
	b.name = name;
	tidemark_alloc(&b);
}

/* Adds copies of the items to a program's list, because another thread may end the program's items while ours are being
 * reported. Items that do not fit are not reported. */
static void give_items(struct tdm_program_items *to, struct tdm_program_items *items, bool counts)
{
	size_t i = 0;
	while (i < items->count) {
		struct tdm_program_item *item = &items->list[i];
		if (counts)
			put_in_union(item);
		if (tdm_program_items_add(to, item)) {
			i++;
			continue;
		}
		all.is_full = true;
		if (counts)
			take_from_union(item);
		free(item->ranges);
		*item = items->list[--items->count];
	}
}

void tdm_programs_propose(const void *key, uint64_t number, uint32_t kind, struct tdm_program_items *items)
{
	if (items->count == 0)
		return;
	tdm_metal_lock();
	struct program *program = find_or_make(key);
	all.is_full |= program == NULL;
	if (program != NULL) {
		set_number(program, number);
		take_waiting(NULL, program, kind, TDM_PROGRAM_ANY_CHIP, items);
		give_items(&program->waiting, items, false);
		__atomic_store_n(&all.waiting, all.waiting + items->count, __ATOMIC_RELAXED);
	}
	unlock_and_tell();
	tdm_program_items_done(items);
}

void tdm_programs_accept(const void *key, const char *name, uint32_t kind)
{
	struct tdm_program_items items = { 0 }, ended = { 0 };
	char own[TDM_PROGRAM_OWN_NAME];
	uint64_t number = 0;
	tdm_metal_lock();
	struct program *program = find(key);
	if (program != NULL) {
		number = program->number;
		take_waiting(&items, program, kind, TDM_PROGRAM_ANY_CHIP, NULL);
		if (items.count != 0) {
			name = name[0] != '\0' ? name : own_name(program, own);
			take_items(&ended, program, kind, TDM_PROGRAM_ANY_CHIP, &items);
			give_items(&program->items, &items, true);
			report_use(&items, &ended);
		}
	}
	unlock_and_tell();
	report_ends(&ended);
	uint32_t name_number = items.count != 0 ? tidemark_name(name) : 0;
	for (size_t i = 0; i < items.count; i++)
		report_item(&items.list[i], number, name_number);
	tdm_program_items_done(&items);
}

bool tdm_programs_are_waiting(void)
{
	return __atomic_load_n(&all.waiting, __ATOMIC_RELAXED) != 0;
}

static void copy_one_chip(const struct tdm_program_items *from, uint32_t kind, struct tdm_program_items *to)
{
	for (size_t i = 0; i < from->count; i++) {
		const struct tdm_program_item *item = &from->list[i];
		if (item->kind == kind && (to->count == 0 || to->list[0].chip == item->chip))
			(void)tdm_program_items_add(to, item); /* out of memory: the item is missing */
	}
}

void tdm_programs_copy_items(const void *key, uint32_t kind, struct tdm_program_items *items)
{
	tdm_metal_lock();
	const struct program *program = find(key);
	if (program != NULL)
		copy_one_chip(&program->waiting, kind, items);
	if (program != NULL && items->count == 0)
		copy_one_chip(&program->items, kind, items);
	tdm_metal_unlock();
}

bool tdm_programs_is_empty(void)
{
	return __atomic_load_n(&all.known, __ATOMIC_RELAXED) == 0;
}

static void end_chosen(struct tdm_program_items *ended, struct program *program, uint32_t kind, uint32_t chip)
{
	take_items(ended, program, kind, chip, NULL);
	take_waiting(NULL, program, kind, chip, NULL);
}

void tdm_programs_end_items(const void *key, uint32_t kind, uint32_t chip)
{
	struct tdm_program_items ended = { 0 }, none = { 0 };
	tdm_metal_lock();
	for (size_t i = 0; i < all.count; i++)
		if (all.programs[i].key != NULL && key == NULL)
			end_chosen(&ended, &all.programs[i], kind, chip);
	struct program *program = key != NULL ? find(key) : NULL;
	if (program != NULL)
		end_chosen(&ended, program, kind, chip);
	report_use(&none, &ended);
	unlock_and_tell();
	report_ends(&ended);
}

void tdm_programs_end(const void *key)
{
	struct tdm_program_items ended = { 0 }, none = { 0 };
	tdm_metal_lock();
	struct program *program = find(key);
	if (program != NULL) {
		end_chosen(&ended, program, TDM_PROGRAM_ANY_KIND, TDM_PROGRAM_ANY_CHIP);
		report_use(&none, &ended);
		tdm_map_take(&all.by_key, (uintptr_t)key);
		if (program->number != 0)
			tdm_map_take(&all.by_number, program->number);
		free(program->items.list);
		free(program->waiting.list);
		free(program->kernels);
		give_place((uint32_t)(program - all.programs));
		__atomic_store_n(&all.known, all.known - 1, __ATOMIC_RELAXED);
	}
	tdm_metal_unlock();
	report_ends(&ended);
}

void tdm_programs_add_kernel(const void *key, const void *kernel, const char *name)
{
	tdm_metal_lock();
	struct program *program = find_or_make(key);
	size_t i = 0;
	while (program != NULL && i < program->kernel_count && program->kernels[i].object != kernel)
		i++;
	if (program != NULL && i < TDM_PROGRAM_KERNELS_MAX &&
		tdm_reserve(&program->kernels, &program->kernel_cap, i + 1, sizeof *program->kernels) == 0) {
		program->kernel_count = tdm_max(program->kernel_count, i + 1);
		program->kernels[i].object = kernel;
		snprintf(program->kernels[i].name, sizeof program->kernels[i].name, "%s", name);
	}
	tdm_metal_unlock();
}

size_t tdm_programs_kernels(const void *key, const void *kernels[TDM_PROGRAM_KERNELS_MAX])
{
	size_t count = 0;
	tdm_metal_lock();
	const struct program *program = find(key);
	for (; program != NULL && count < program->kernel_count; count++)
		kernels[count] = program->kernels[count].object;
	tdm_metal_unlock();
	return count;
}

static int order_of_names(const void *a, const void *b)
{
	return strcmp(((const struct kernel *)a)->name, ((const struct kernel *)b)->name);
}

void tdm_programs_kernel_names(const void *key, char name[TDM_PROGRAM_NAME_MAX + 1])
{
	size_t len = 0;
	name[0] = '\0';
	tdm_metal_lock();
	const struct program *program = find(key);
	if (program != NULL && program->kernel_count > 1) /* kernels are compiled in any order, so sort them by name */
		qsort(program->kernels, program->kernel_count, sizeof *program->kernels, order_of_names);
	for (size_t i = 0; program != NULL && i < program->kernel_count && len < TDM_PROGRAM_NAME_MAX; i++) {
		const char *next = program->kernels[i].name;
		if (next[0] != '\0' && (i == 0 || strcmp(next, program->kernels[i - 1].name) != 0))
			len += (size_t)snprintf(
				name + len, TDM_PROGRAM_NAME_MAX + 1 - len, "%s%s", len != 0 ? " + " : "", next);
	}
	tdm_metal_unlock();
}

/* Extends *extent by those items of a kind that have their own memory. */
static size_t add_extent(const struct tdm_program_items *items, uint32_t kind, struct tdm_program_extent *extent,
	uint32_t *chips, size_t cap)
{
	size_t count = 0;
	for (size_t i = 0; i < items->count; i++) {
		const struct tdm_program_item *item = &items->list[i];
		uint64_t end = tdm_plus(item->address, item->size);
		size_t at = 0;
		if (item->kind != kind || (item->flags & TIDEMARK_SHARED) == 0)
			continue;
		extent->begin = tdm_min(extent->begin, item->address);
		if (end > extent->end) {
			extent->end = end;
			extent->range_count = item->range_count;
			if (item->range_count != 0)
				extent->range = item->ranges[0];
		}
		while (at < count && chips[at] != item->chip)
			at++;
		if (at == count && count < cap)
			chips[count++] = item->chip;
	}
	return count;
}

void tdm_programs_own_name(const void *key, char name[TDM_PROGRAM_OWN_NAME])
{
	tdm_metal_lock();
	struct program *program = find(key);
	name[0] = '\0';
	if (program != NULL)
		own_name(program, name);
	tdm_metal_unlock();
}

size_t tdm_programs_extent(
	const void *key, uint32_t kind, struct tdm_program_extent *extent, uint32_t *chips, size_t cap)
{
	size_t count = 0;
	*extent = (struct tdm_program_extent){ .begin = UINT64_MAX };
	tdm_metal_lock();
	const struct program *program = find(key);
	if (program != NULL) {
		count = add_extent(&program->waiting, kind, extent, chips, cap);
		if (count == 0)
			count = add_extent(&program->items, kind, extent, chips, cap);
	}
	tdm_metal_unlock();
	return count;
}
