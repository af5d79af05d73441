/* Host memory that is pinned for devices: shown on each chip that may use it. */
#include "metal/metal.h"

#include <stdlib.h>
#include <string.h>

/* Pinned memory that exists. Under tdm_metal_lock(). */
struct pinned {
	struct pinned *next;
	const void *object;
	size_t chip_count;
	uint32_t chips[];
};
static struct pinned *all;

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

static void report(struct tdm_metal_runtime *runtime, const void *object, const struct tdm_metal_vector *devices,
	uint64_t address, uint64_t size)
{
	uint32_t chips[TDM_METAL_CHIPS_MAX];
	struct tidemark_buffer buffer = TIDEMARK_BUFFER_INIT;
	size_t count = find_chips(runtime, devices, chips);
	struct pinned *new =
		count != 0 && size <= TDM_METAL_BYTES_MAX ? malloc(sizeof *new + count * sizeof *chips) : NULL;
	if (new == NULL)
		return;
	new->object = object;
	new->chip_count = count;
	memcpy(new->chips, chips, count * sizeof *chips);
	tdm_metal_lock();
	new->next = all;
	all = new;
	tdm_metal_unlock();
	buffer.kind = TIDEMARK_SYSTEM;
	buffer.id = (uintptr_t)object;
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
	report(runtime, pinned, devices, (uintptr_t)host, size);
}

void tdm_hook_pinned_end(void *pinned)
{
	TDM_METAL_ENTER(pinned_end)
	struct pinned *found = NULL;
	tdm_metal_lock();
	for (struct pinned **at = &all; *at != NULL && found == NULL; at = &(*at)->next)
		if ((*at)->object == pinned) {
			found = *at;
			*at = found->next;
			break;
		}
	tdm_metal_unlock();
	if (tdm_metal_is_on(runtime))
		tdm_metal_count(TDM_HOOK_pinned_end);
	for (size_t i = 0; found != NULL && i < found->chip_count; i++)
		tidemark_free(found->chips[i], TIDEMARK_SYSTEM, (uintptr_t)pinned);
	free(found);
	TDM_METAL_NEXT(pinned_end)(pinned);
}
