#include "analyze/live/live_buffers.h"
#include "base/number.h"
#include "base/map.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* An unknown birth counts as the youngest. */
static int compare_age(uint64_t a_ns, uint64_t b_ns)
{
	return tdm_order(a_ns - 1, b_ns - 1);
}

/* An adopted buffer is older than anything tracked. */
static uint64_t birth_of(const struct tdm_buffer *buffer)
{
	return tdm_buffer_is_adopted(buffer) ? 1 : buffer->born_ns;
}

struct how {
	const struct tdm_picture *picture;
	enum tdm_buffer_sort sort;
};

static int compare(const void *left, const void *right, void *context)
{
	const struct tdm_buffer_ref *x = left, *y = right;
	const struct tdm_buffer *a = x->buffer, *b = y->buffer;
	const struct how *how = context;
	int order = 0;
	if (how->sort == TDM_SORT_SIZE)
		order = tdm_order(tdm_buffer_reserved(b), tdm_buffer_reserved(a));
	else if (how->sort == TDM_SORT_AGE)
		order = compare_age(birth_of(a), birth_of(b));
	else if (how->sort == TDM_SORT_SITE)
		order = strcmp(tdm_picture_text(how->picture, a->name), tdm_picture_text(how->picture, b->name));
	/* Breaks ties, so that the same state is always printed the same way. */
	order = order != 0 ? order : tdm_order(x->holding, y->holding);
	order = order != 0 ? order : tdm_order(a->kind, b->kind);
	order = order != 0 ? order : tdm_order(a->address, b->address);
	return order != 0 ? order : tdm_order(a->id, b->id);
}

struct tdm_buffer_ref *tdm_live_buffers(const struct tdm_picture *picture, size_t process,
	const struct tdm_buffer_filter *filter, enum tdm_buffer_sort sort, size_t *count)
{
	const struct tdm_picture_process *owner = &picture->processes[process];
	struct how how = { picture, sort };
	size_t room = 0;
	for (uint32_t i = 0; i < owner->holding_count; i++)
		room += tdm_holding_buffer_count(&picture->holdings[owner->first_holding + i]);
	struct tdm_buffer_ref *list = tdm_alloc(room * sizeof *list);
	*count = 0;
	for (uint32_t i = 0; i < owner->holding_count; i++) {
		const struct tdm_holding *holding = &picture->holdings[owner->first_holding + i];
		if (filter->has_device && holding->number != filter->device)
			continue;
		for (unsigned k = 0; k < TDM_KIND_COUNT; k++)
			for (size_t b = 0; b < holding->buffers[k].count && !(filter->has_kind && k != filter->kind);
				b++)
				list[(*count)++] = (struct tdm_buffer_ref){ &holding->buffers[k].list[b],
					owner->first_holding + i };
	}
	if (*count > 1)
		qsort_r(list, *count, sizeof *list, compare, &how);
	return list;
}

/* ---- sites ---- */

static int compare_sites(const void *left, const void *right)
{
	const struct tdm_site *a = left, *b = right;
	int order = tdm_order(b->reserved_bytes, a->reserved_bytes);
	order = order != 0 ? order : tdm_order(b->count, a->count);
	order = order != 0 ? order : tdm_order(a->kind, b->kind);
	order = order != 0 ? order : tdm_order(a->name, b->name);
	return order != 0 ? order : tdm_order(a->stack, b->stack);
}

/* The key is exact: it combines the kind with a string or a stack, of which there are fewer than 2^28 each. */
static uint64_t site_key(const struct tdm_buffer *buffer)
{
	uint64_t which = buffer->name != 0 ? (uint64_t)buffer->name << 1 : (uint64_t)buffer->stack << 1 | 1;
	return which << 8 | buffer->kind;
}

struct tdm_site *tdm_sites_find(const struct tdm_picture *picture, uint32_t process, size_t *count)
{
	struct tdm_map map = { 0 };
	struct tdm_site *sites = NULL;
	size_t cap = 0;
	*count = 0;
	for (size_t h = 0; h < picture->holding_count; h++) {
		const struct tdm_holding *holding = &picture->holdings[h];
		for (unsigned k = 0; k < TDM_KIND_COUNT && (process == TDM_INDEX_NONE || holding->process == process);
			k++)
			for (size_t i = 0; i < holding->buffers[k].count; i++) {
				const struct tdm_buffer *buffer = &holding->buffers[k].list[i];
				uint64_t key = site_key(buffer);
				uint32_t at = tdm_map_find(&map, key);
				if (at == TDM_MAP_NONE) {
					tdm_grow(&sites, &cap, *count + 1, sizeof *sites);
					at = (uint32_t)(*count)++;
					tdm_map_set(&map, key, at);
					sites[at] = (struct tdm_site){
						.name = buffer->name, .stack = buffer->stack, .kind = buffer->kind
					};
				}
				bool is_shared = tdm_buffer_is_shared(buffer);
				struct tdm_site *site = &sites[at];
				site->count++;
				site->shared += is_shared;
				site->reserved_bytes += is_shared ? 0 : tdm_buffer_reserved(buffer);
				site->asked_bytes += is_shared ? 0 : buffer->asked_bytes;
				if (compare_age(buffer->born_ns, site->oldest_ns) < 0)
					site->oldest_ns = buffer->born_ns;
				if (site->stack != buffer->stack)
					site->stack = 0;
			}
	}
	tdm_map_done(&map);
	if (*count > 1)
		qsort(sites, *count, sizeof *sites, compare_sites);
	for (size_t i = 0; i < *count; i++)
		if (sites[i].shared == sites[i].count)
			sites[i].reserved_bytes = sites[i].asked_bytes = TDM_BYTES_UNKNOWN;
	return sites;
}
