#include "analyze/live_buffers.h"
#include "base/number.h"
#include "base/err.h"
#include "base/map.h"
#include "base/reserve.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *const sort_names[TDM_SORT_COUNT] = {
	[TDM_SORT_SIZE] = "size",
	[TDM_SORT_AGE] = "age",
	[TDM_SORT_SITE] = "site",
	[TDM_SORT_ADDRESS] = "address",
};

int tdm_buffer_sort_parse(const char *text, enum tdm_buffer_sort *sort)
{
	for (int i = 0; i < TDM_SORT_COUNT; i++)
		if (strcmp(text, sort_names[i]) == 0) {
			*sort = (enum tdm_buffer_sort)i;
			return 0;
		}
	return TDM_ESYNTAX;
}

bool tdm_buffer_is_chosen(
	const struct tdm_snapshot *snapshot, const struct tdm_buffer *buffer, const struct tdm_buffer_filter *filter)
{
	if (filter->has_kind && buffer->kind != filter->kind)
		return false;
	return !filter->has_device || snapshot->holdings[buffer->holding].number == filter->device;
}

/* What decides when the asked-for order does not: so that the same state always prints the same. */
static int compare_place(const struct tdm_buffer *a, const struct tdm_buffer *b)
{
	int order = tdm_order(a->holding, b->holding);
	if (order == 0)
		order = tdm_order(a->kind, b->kind);
	if (order == 0)
		order = tdm_order(a->address, b->address);
	return order != 0 ? order : tdm_order(a->id, b->id);
}

/* An unknown birth counts as the youngest. */
static int compare_age(uint64_t a_ns, uint64_t b_ns)
{
	return tdm_order(a_ns - 1, b_ns - 1);
}

static int compare(const void *left, const void *right, void *context)
{
	const struct tdm_buffer *a = *(const struct tdm_buffer *const *)left;
	const struct tdm_buffer *b = *(const struct tdm_buffer *const *)right;
	const struct {
		const struct tdm_snapshot *snapshot;
		enum tdm_buffer_sort sort;
	} *how = context;
	int order = 0;
	if (how->sort == TDM_SORT_SIZE)
		order = tdm_order(b->reserved_bytes, a->reserved_bytes);
	else if (how->sort == TDM_SORT_AGE)
		order = compare_age(a->born_ns, b->born_ns);
	else if (how->sort == TDM_SORT_SITE)
		order = strcmp(tdm_snapshot_text(how->snapshot, a->name), tdm_snapshot_text(how->snapshot, b->name));
	return order != 0 ? order : compare_place(a, b);
}

const struct tdm_buffer **tdm_live_buffers(const struct tdm_snapshot *snapshot, size_t process,
	const struct tdm_buffer_filter *filter, enum tdm_buffer_sort sort, size_t *count, bool *failed)
{
	const struct tdm_snapshot_process *owner = &snapshot->processes[process];
	size_t room = 0;
	for (uint32_t i = 0; i < owner->holding_count; i++)
		room += snapshot->holdings[owner->first_holding + i].buffer_count;
	const struct tdm_buffer **list = malloc((room + 1) * sizeof(struct tdm_buffer *));
	*count = 0;
	*failed = list == NULL;
	for (uint32_t i = 0; i < owner->holding_count && list != NULL; i++) {
		const struct tdm_holding *holding = &snapshot->holdings[owner->first_holding + i];
		for (uint64_t b = 0; b < holding->buffer_count; b++) {
			const struct tdm_buffer *buffer = &snapshot->buffers[holding->first_buffer + b];
			if (tdm_buffer_is_chosen(snapshot, buffer, filter))
				list[(*count)++] = buffer;
		}
	}
	struct {
		const struct tdm_snapshot *snapshot;
		enum tdm_buffer_sort sort;
	} how = { snapshot, sort };
	if (*count > 1)
		qsort_r(list, *count, sizeof(struct tdm_buffer *), compare, &how);
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
	site->reserved_bytes += buffer->reserved_bytes;
	site->asked_bytes += buffer->asked_bytes;
	if (compare_age(buffer->born_ns, site->oldest_ns) < 0)
		site->oldest_ns = buffer->born_ns;
	if (site->stack != buffer->stack)
		site->stack = 0;
}

/* The key is exact: a kind, and a text or a stack, of which there are fewer than 2^28. */
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

int tdm_sites_find(const struct tdm_snapshot *snapshot, uint32_t process, struct tdm_site **sites, size_t *count)
{
	struct tdm_map map;
	size_t cap = 0;
	*sites = NULL;
	*count = 0;
	int err = tdm_map_init(&map);
	for (size_t i = 0; i < snapshot->buffer_count && err == 0; i++) {
		const struct tdm_buffer *buffer = &snapshot->buffers[i];
		if (process == TDM_INDEX_NONE || snapshot->holdings[buffer->holding].process == process)
			err = add_buffer(&map, sites, count, &cap, buffer);
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
	return 0;
}
