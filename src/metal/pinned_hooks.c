/*
 * Host memory pinned for devices. It is reported for each chip that may use it.
 *
 * A PinnedMemory object only points to its content, and may be moved. After a move, another object holds the pointer,
 * and the first object's pointer is null, so the first object's destructor releases nothing. Memory is therefore
 * identified by that pointer, or by the object's address if the pointer cannot be read.
 */
#include "metal/metal.h"

#include <stdlib.h>
#include <string.h>

/* Pinned memory that exists now. Guarded by tdm_metal_lock(), except that is_any() reads `all` without the lock. */
struct pinned {
	struct pinned *next;
	const void *inside; /* the object's pointer, or else the object's own address */
	size_t chip_count;
	uint32_t chips[];
};
static struct pinned *all;

static inline bool is_any(void)
{
	return __atomic_load_n(&all, __ATOMIC_RELAXED) != NULL;
}

/* The pointer in an object; NULL if the object was moved; the object's own address if the pointer cannot be read. */
static const void *inside_of(const void *object)
{
	const void *inside;
	uintptr_t word;
	if (!tdm_metal_copy(&inside, object, sizeof inside))
		return object;
	return inside == NULL || tdm_metal_copy(&word, inside, sizeof word) ? inside : object;
}

static void release(const void *inside)
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
	release(inside); /* the old memory ended unseen, and new memory has its address */
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
	if (!tdm_metal_sees(runtime, TDM_HOOK_pinned_begin))
		return;
	const void *inside = inside_of(pinned);
	report(runtime, inside != NULL ? inside : pinned, devices, (uintptr_t)host, size);
}

/* Releases the object's previous memory, for which no destructor runs. */
void *tdm_hook_pinned_assign(void *pinned, void *other)
{
	TDM_METAL_ENTER(pinned_assign, pinned)
	const void *before = pinned != other && is_any() ? inside_of(pinned) : NULL;
	void *result = TDM_METAL_NEXT(pinned_assign)(pinned, other);
	tdm_metal_sees(runtime, TDM_HOOK_pinned_assign);
	if (before != pinned)
		release(before);
	return result;
}

void tdm_hook_pinned_end(void *pinned)
{
	TDM_METAL_ENTER(pinned_end)
	tdm_metal_sees(runtime, TDM_HOOK_pinned_end);
	if (is_any()) {
		release(inside_of(pinned));
		release(pinned); /* needed if the object's pointer could not be read when the object was made */
	}
	TDM_METAL_NEXT(pinned_end)(pinned);
}
