#include "analyze/live_buffers.h"
#include "base/number.h"
#include "base/map.h"
#include "base/reserve.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Breaks ties, so that the same state always prints the same. */
static int compare_place(const struct tdm_buffer_ref *a, const struct tdm_buffer_ref *b)
{
	int order = tdm_order(a->holding, b->holding);
	if (order == 0)
		order = tdm_order(a->buffer->kind, b->buffer->kind);
	if (order == 0)
		order = tdm_order(a->buffer->address, b->buffer->address);
	return order != 0 ? order : tdm_order(a->buffer->id, b->buffer->id);
}

/* An unknown birth counts as the youngest. */
static int compare_age(uint64_t a_ns, uint64_t b_ns)
{
	return tdm_order(a_ns - 1, b_ns - 1);
}

/* An adopted buffer is older than all that the tracking saw. */
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
	return order != 0 ? order : compare_place(x, y);
}

struct tdm_buffer_ref *tdm_live_buffers(const struct tdm_picture *picture, size_t process,
	const struct tdm_buffer_filter *filter, enum tdm_buffer_sort sort, size_t *count)
{
	const struct tdm_picture_process *owner = &picture->processes[process];
	struct how how = { picture, sort };
	size_t room = 0;
	for (uint32_t i = 0; i < owner->holding_count; i++)
		room += tdm_holding_buffer_count(&picture->holdings[owner->first_holding + i]);
	struct tdm_buffer_ref *list = malloc((room + 1) * sizeof *list);
	*count = 0;
	for (uint32_t i = 0; i < owner->holding_count && list != NULL; i++) {
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

/* Sites. */

static int compare_sites(const void *left, const void *right)
{
	const struct tdm_site *a = left, *b = right;
	int order = tdm_order(b->reserved_bytes, a->reserved_bytes);
	if (order == 0)
		order = tdm_order(b->count, a->count);
	if (order == 0)
		order = tdm_order(a->kind, b->kind);
	if (order == 0)
		order = tdm_order(a->name, b->name);
	return order != 0 ? order : tdm_order(a->stack, b->stack);
}

static void add_to_site(struct tdm_site *site, const struct tdm_buffer *buffer)
{
	site->count++;
	if (tdm_buffer_is_shared(buffer)) {
		site->shared++;
	} else {
		site->reserved_bytes += tdm_buffer_reserved(buffer);
		site->asked_bytes += buffer->asked_bytes;
	}
	if (compare_age(buffer->born_ns, site->oldest_ns) < 0)
		site->oldest_ns = buffer->born_ns;
	if (site->stack != buffer->stack)
		site->stack = 0;
}

/* The key is exact: a kind, and a text or a stack; there are fewer than 2^28 of each. */
static uint64_t site_key(const struct tdm_buffer *buffer)
{
	uint64_t which = buffer->name != 0 ? (uint64_t)buffer->name << 1 : (uint64_t)buffer->stack << 1 | 1;
	return which << 8 | buffer->kind;
}

static int add_buffer(
	struct tdm_map *map, struct tdm_site **sites, size_t *count, size_t *cap, const struct tdm_buffer *buffer)
{
	uint32_t at = tdm_map_find(map, site_key(buffer));
	if (at != TDM_MAP_NONE) {
		add_to_site(&(*sites)[at], buffer);
		return 0;
	}
	if (tdm_reserve(sites, cap, *count + 1, sizeof **sites) != 0)
		return -ENOMEM;
	struct tdm_site *site = &(*sites)[*count];
	*site = (struct tdm_site){ .name = buffer->name, .stack = buffer->stack, .kind = buffer->kind };
	add_to_site(site, buffer);
	return tdm_map_put(map, site_key(buffer), (uint32_t)(*count)++);
}

int tdm_sites_find(const struct tdm_picture *picture, uint32_t process, struct tdm_site **sites, size_t *count)
{
	struct tdm_map map;
	size_t cap = 0;
	*sites = NULL;
	*count = 0;
	int err = tdm_map_init(&map);
	for (size_t h = 0; h < picture->holding_count; h++) {
		const struct tdm_holding *holding = &picture->holdings[h];
		for (unsigned k = 0; k < TDM_KIND_COUNT && (process == TDM_INDEX_NONE || holding->process == process);
			k++)
			for (size_t i = 0; i < holding->buffers[k].count && err == 0; i++)
				err = add_buffer(&map, sites, count, &cap, &holding->buffers[k].list[i]);
	}
	tdm_map_done(&map);
	if (err != 0) {
		free(*sites);
		*sites = NULL;
		*count = 0;
		return err;
	}
	if (*count > 1)
		qsort(*sites, *count, sizeof **sites, compare_sites);
	for (size_t i = 0; i < *count; i++)
		if ((*sites)[i].shared == (*sites)[i].count)
			(*sites)[i].reserved_bytes = (*sites)[i].asked_bytes = TDM_BYTES_UNKNOWN;
	return 0;
}
