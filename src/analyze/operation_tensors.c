/*
 * Which tensor a buffer was. Both have only an address in common, and addresses are used again: of all tensors at the
 * address, the one counts that was made last before the moment in question. If the report does not say when they were
 * made, a tensor counts only if it is the only one there.
 */
#include "analyze/operation_parts.h"
#include "base/reserve.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static int want(struct tdm_operation_memory *m, const struct tdm_operation_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		if (tdm_map_put(&m->wanted, tdm_operation_place_key(list->at[i].unit, list->at[i].address), 0) != 0)
			return -ENOMEM;
	return 0;
}

int tdm_operation_want_places(struct tdm_operation_memory *m)
{
	int err = 0;
	for (size_t i = 0; i < m->unit_count && err == 0; i++) {
		err = want(m, &m->units[i].peak);
		err = err != 0 ? err : want(m, &m->units[i].end);
	}
	return err;
}

/* Keeps a tensor at a place, if a buffer at the place matters. */
static int add(struct tdm_operation_memory *m, const struct tdm_report_tensor *t, uint8_t kind, uint32_t text)
{
	uint32_t unit = tdm_operation_find_unit(m, t->rank, t->device, kind);
	uint64_t key = unit != TDM_MAP_NONE ? tdm_operation_place_key(unit, t->address) : 0;
	if (unit == TDM_MAP_NONE || tdm_map_find(&m->wanted, key) == TDM_MAP_NONE)
		return 0;
	uint64_t id = tdm_operation_rank_key(t->rank, t->id);
	uint32_t first = tdm_map_find(&m->by_tensor, id);
	for (uint32_t i = first; i != TDM_MAP_NONE; i = m->tensors[i].next)
		if (m->tensors[i].key == key) {
			m->tensors[i].text = text != 0 ? text : m->tensors[i].text;
			return 0;
		}
	if (m->tensor_count == TDM_OPERATION_LIMIT) {
		m->left_out++;
		return 0;
	}
	if (tdm_reserve(&m->tensors, &m->tensor_cap, m->tensor_count + 1, sizeof *m->tensors) != 0 ||
		tdm_map_put(&m->by_tensor, id, (uint32_t)m->tensor_count) != 0)
		return -ENOMEM;
	m->tensors[m->tensor_count++] = (struct tdm_operation_tensor){
		.key = key,
		.id = t->id,
		.next = first,
		.producer = TDM_OPERATION_NONE,
		.last_use = TDM_OPERATION_NONE,
		.text = text,
	};
	return 0;
}

static int add_any_kind(struct tdm_operation_memory *m, const struct tdm_report_tensor *t, uint32_t text)
{
	int err = 0;
	for (uint8_t kind = 0; kind < TDM_KIND_COUNT && err == 0; kind++)
		if (t->has_place && (t->kind == kind || t->kind == TDM_KIND_COUNT))
			err = add(m, t, kind, text);
	return err;
}

/* "[1, 32, 64] BFLOAT16 TILE": the words that ttnn puts before them say nothing. */
static struct tdm_str without(struct tdm_str text, const char *prefix)
{
	size_t len = strlen(prefix);
	return text.len > len && memcmp(text.ptr, prefix, len) == 0 ? (struct tdm_str){ text.ptr + len, text.len - len }
								    : text;
}

static int text_of(struct tdm_operation_memory *m, const struct tdm_report_tensor *t, uint32_t *number)
{
	char text[TDM_NAME_MAX];
	struct tdm_str shape = without(t->shape, "Shape("), dtype = without(t->dtype, "DataType."),
		       layout = without(t->layout, "Layout.");
	if (shape.ptr != t->shape.ptr && shape.ptr[shape.len - 1] == ')')
		shape.len--;
	int len = snprintf(text, sizeof text, "%.*s %.*s %.*s", (int)tdm_min(shape.len, 120), shape.ptr,
		(int)tdm_min(dtype.len, 40), dtype.ptr, (int)tdm_min(layout.len, 40), layout.ptr);
	return tdm_intern_text(&m->texts, tdm_str_trim((struct tdm_str){ text, len > 0 ? strlen(text) : 0 }), number);
}

static int take_tensor(struct tdm_operation_memory *m, const struct tdm_report_tensor *t)
{
	uint32_t first = tdm_map_find(&m->by_tensor, tdm_operation_rank_key(t->rank, t->id)), text = 0;
	bool is_wanted = first != TDM_MAP_NONE;
	for (uint8_t kind = 0; kind < TDM_KIND_COUNT && t->has_place; kind++) {
		uint32_t unit = tdm_operation_find_unit(m, t->rank, t->device, kind);
		is_wanted |= unit != TDM_MAP_NONE &&
			     tdm_map_find(&m->wanted, tdm_operation_place_key(unit, t->address)) != TDM_MAP_NONE;
	}
	if (!is_wanted)
		return 0;
	if (text_of(m, t, &text) != 0)
		return -ENOMEM;
	for (uint32_t i = first; i != TDM_MAP_NONE; i = m->tensors[i].next)
		m->tensors[i].text = text;
	return add_any_kind(m, t, text);
}

static void take_use(struct tdm_operation_memory *m, const struct tdm_report_use *use)
{
	uint32_t operation = tdm_operation_find(m, use->rank, use->operation);
	uint32_t i = operation != TDM_OPERATION_NONE
			     ? tdm_map_find(&m->by_tensor, tdm_operation_rank_key(use->rank, use->tensor))
			     : TDM_MAP_NONE;
	for (; i != TDM_MAP_NONE; i = m->tensors[i].next) {
		struct tdm_operation_tensor *t = &m->tensors[i];
		if (use->is_output)
			t->producer = (uint32_t)tdm_min(t->producer, operation);
		else if (t->last_use == TDM_OPERATION_NONE || operation > t->last_use)
			t->last_use = operation;
	}
}

int tdm_operation_take_tensor(struct tdm_operation_memory *m, const struct tdm_record *record)
{
	if (record->type == TDM_RECORD_TENSOR_PLACE)
		return add_any_kind(m, record->place, 0);
	if (record->type == TDM_RECORD_TENSOR)
		return take_tensor(m, record->tensor);
	take_use(m, record->use);
	return 0;
}

/* By place, then in the order in which they were made; those of which that is unknown come last. */
static int compare(const void *left, const void *right)
{
	const struct tdm_operation_tensor *a = left, *b = right;
	int order = tdm_order(a->key, b->key);
	order = order != 0 ? order : tdm_order(a->producer, b->producer);
	return order != 0 ? order : tdm_order(a->id, b->id);
}

/* The tensor in a buffer after an operation. */
static uint32_t tensor_at(const struct tdm_operation_memory *m, const struct tdm_operation_buffer *buffer)
{
	uint64_t key = tdm_operation_place_key(buffer->unit, buffer->address);
	size_t low = 0, high = m->tensor_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (m->tensors[middle].key < key)
			low = middle + 1;
		else
			high = middle;
	}
	uint32_t best = TDM_OPERATION_NONE;
	size_t at = low;
	for (; at < m->tensor_count && m->tensors[at].key == key; at++)
		if (m->tensors[at].producer <= buffer->seen)
			best = (uint32_t)at;
	return best == TDM_OPERATION_NONE && at == low + 1 && m->tensors[low].producer == TDM_OPERATION_NONE
		       ? (uint32_t)low
		       : best;
}

static void join(const struct tdm_operation_memory *m, struct tdm_operation_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		list->at[i].tensor = tensor_at(m, &list->at[i]);
}

void tdm_operation_join_tensors(struct tdm_operation_memory *m)
{
	if (m->tensor_count != 0)
		qsort(m->tensors, m->tensor_count, sizeof *m->tensors, compare);
	for (size_t i = 0; i < m->unit_count; i++) {
		join(m, &m->units[i].peak);
		join(m, &m->units[i].end);
	}
}
