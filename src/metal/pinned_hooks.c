/*
 * Host memory that is pinned for devices: shown on each chip that may use it.
 *
 * A PinnedMemory is a pointer to what it has, and may be moved: then another object has the pointer, and the destructor
 * of the first one, whose pointer is null now, releases nothing. So memory is known by that pointer. Where it cannot be
 * read, it is known by the object.
 */
#include "metal/allocators.h"

#include <stdlib.h>
#include <string.h>

/* Pinned memory that exists. Under tdm_metal_lock(), except that is_any() reads `all` without it. */
struct pinned {
	struct pinned *next;
	const void *inside; /* what the object points to, or the object */
	size_t chip_count;
	uint32_t chips[];
};
static struct pinned *all;

static inline bool is_any(void)
{
	return __atomic_load_n(&all, __ATOMIC_RELAXED) != NULL;
}

/* What an object points to; NULL: it was moved. The object itself, if that cannot be read. */
static const void *inside_of(const void *object)
{
	const void *inside;
	uintptr_t word;
	if (!tdm_metal_copy(&inside, object, sizeof inside))
		return object;
	return inside == NULL || tdm_metal_copy(&word, inside, sizeof word) ? inside : object;
}

/* Takes it off the list; NULL: there is none. */
static struct pinned *take(const void *inside)
{
	struct pinned *found = NULL;
	tdm_metal_lock();
	for (struct pinned **at = &all; *at != NULL; at = &(*at)->next)
		if ((*at)->inside == inside) {
			found = *at;
			__atomic_store_n(at, found->next, __ATOMIC_RELAXED);
			break;
		}
	tdm_metal_unlock();
	return found;
}

static void release(const void *inside)
{
	struct pinned *found = inside != NULL ? take(inside) : NULL;
	for (size_t i = 0; found != NULL && i < found->chip_count; i++)
		tidemark_free(found->chips[i], TIDEMARK_SYSTEM, (uintptr_t)inside);
	free(found);
}

void tdm_metal_pinned_leave(uint32_t chip)
{
	tdm_metal_lock();
	for (struct pinned *each = all; each != NULL; each = each->next)
		for (size_t i = 0; i < each->chip_count; i++)
			if (each->chips[i] == chip) {
				tidemark_free(chip, TIDEMARK_SYSTEM, (uintptr_t)each->inside);
				each->chips[i--] = each->chips[--each->chip_count];
			}
	tdm_metal_unlock();
}

static size_t find_chips(struct tdm_metal_runtime *runtime, const struct tdm_metal_vector *devices, uint32_t *chips)
{
	const void *pointers[TDM_METAL_CHIPS_MAX];
	struct tdm_metal_vector vector;
	size_t count = 0;
	if (!tdm_metal_copy(&vector, devices, sizeof vector) || vector.begin > vector.end)
		return 0;
	size_t bytes = (size_t)(vector.end - vector.begin);
	if (bytes > sizeof pointers || !tdm_metal_copy(pointers, vector.begin, bytes))
		return 0;
	for (size_t i = 0; i < bytes / sizeof *pointers; i++)
		count += tdm_metal_chips(runtime, pointers[i], chips + count, TDM_METAL_CHIPS_MAX - count);
	return count;
}

static void report(struct tdm_metal_runtime *runtime, const void *inside, const struct tdm_metal_vector *devices,
	uint64_t address, uint64_t size)
{
	uint32_t chips[TDM_METAL_CHIPS_MAX];
	struct tidemark_buffer buffer = TIDEMARK_BUFFER_INIT;
	size_t count = find_chips(runtime, devices, chips);
	struct pinned *new =
		count != 0 && size <= TDM_METAL_BYTES_MAX ? malloc(sizeof *new + count * sizeof *chips) : NULL;
	release(inside); /* it ended unseen, and another one is at its place */
	if (new == NULL)
		return;
	new->inside = inside;
	new->chip_count = count;
	memcpy(new->chips, chips, count * sizeof *chips);
	tdm_metal_lock();
	new->next = all;
	__atomic_store_n(&all, new, __ATOMIC_RELAXED);
	tdm_metal_unlock();
	buffer.kind = TIDEMARK_SYSTEM;
	buffer.id = (uintptr_t)inside;
	buffer.address = address;
	buffer.bytes = buffer.bytes_per_bank = size;
	buffer.banks = 1;
	for (size_t i = 0; i < count; i++) {
		buffer.device = chips[i];
		tidemark_alloc(&buffer);
	}
}

void tdm_hook_pinned_begin(void *pinned, const struct tdm_metal_vector *devices, void *host, size_t size, bool to_noc)
{
	TDM_METAL_ENTER(pinned_begin)
	TDM_METAL_NEXT(pinned_begin)(pinned, devices, host, size, to_noc);
	if (!tdm_metal_is_on(runtime))
		return;
	tdm_metal_count(TDM_HOOK_pinned_begin);
	const void *inside = inside_of(pinned);
	report(runtime, inside != NULL ? inside : pinned, devices, (uintptr_t)host, size);
}

/* What the object had before is released, and no destructor tells of it. */
void *tdm_hook_pinned_assign(void *pinned, void *other)
{
	TDM_METAL_ENTER(pinned_assign, pinned)
	const void *before = pinned != other && is_any() ? inside_of(pinned) : NULL;
	void *result = TDM_METAL_NEXT(pinned_assign)(pinned, other);
	if (tdm_metal_is_on(runtime))
		tdm_metal_count(TDM_HOOK_pinned_assign);
	if (before != pinned)
		release(before);
	return result;
}

void tdm_hook_pinned_end(void *pinned)
{
	TDM_METAL_ENTER(pinned_end)
	if (tdm_metal_is_on(runtime))
		tdm_metal_count(TDM_HOOK_pinned_end);
	if (is_any()) {
		release(inside_of(pinned));
		release(pinned); /* if what it points to could not be read when it was made */
	}
	TDM_METAL_NEXT(pinned_end)(pinned);
}
