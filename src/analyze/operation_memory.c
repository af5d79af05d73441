#include "analyze/operation_parts.h"
#include "base/reserve.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum { UNITS_MAX = 1 << 14, DEVICES_MAX = 1 << 12, ERRORS_KEPT = 100 };

int tdm_operation_memory_init(struct tdm_operation_memory *m)
{
	struct tdm_map *const maps[] = { &m->by_place, &m->by_unit, &m->by_operation, &m->wanted, &m->by_tensor };
	memset(m, 0, sizeof *m);
	m->core_unit = SIZE_MAX;
	int err = tdm_intern_init(&m->texts);
	for (size_t i = 0; i < sizeof maps / sizeof *maps && err == 0; i++)
		err = tdm_map_init(maps[i]);
	return err;
}

void tdm_operation_memory_done(struct tdm_operation_memory *m)
{
	for (size_t i = 0; i < m->unit_count; i++) {
		free(m->units[i].peak.at);
		free(m->units[i].end.at);
	}
	free(m->units);
	free(m->operations);
	free(m->devices);
	free(m->errors);
	free(m->live.at);
	free(m->tensors);
	tdm_map_done(&m->by_place);
	tdm_map_done(&m->by_unit);
	tdm_map_done(&m->by_operation);
	tdm_map_done(&m->wanted);
	tdm_map_done(&m->by_tensor);
	if (m->has_graph)
		tdm_capture_summary_done(&m->graph);
	tdm_intern_done(&m->texts);
	memset(m, 0, sizeof *m);
}

/* ---- finding ---- */

uint32_t tdm_operation_find(const struct tdm_operation_memory *m, uint32_t rank, uint64_t id)
{
	return tdm_map_find(&m->by_operation, tdm_operation_rank_key(rank, id));
}

uint32_t tdm_operation_find_unit(const struct tdm_operation_memory *m, uint32_t rank, uint32_t device, uint8_t kind)
{
	return tdm_map_find(&m->by_unit, tdm_operation_unit_key(rank, device, kind));
}

const char *tdm_operation_name(const struct tdm_operation_memory *m, uint32_t operation)
{
	return operation < m->operation_count ? m->texts.texts[m->operations[operation].name] : "";
}

const struct tdm_operation_unit *tdm_operation_memory_fullest(const struct tdm_operation_memory *m, enum tdm_kind kind)
{
	const struct tdm_operation_unit *best = NULL;
	for (size_t i = 0; i < m->unit_count; i++)
		if (m->units[i].kind == kind && (best == NULL || m->units[i].peak_bytes > best->peak_bytes))
			best = &m->units[i];
	return best;
}

uint64_t tdm_operation_all_banks(const struct tdm_operation_unit *unit, uint64_t bytes)
{
	return unit->banks != 0 ? tdm_times(bytes, unit->banks) : TDM_BYTES_UNKNOWN;
}

/* ---- the live buffers ---- */

static int append(struct tdm_operation_list *list, const struct tdm_operation_buffer *buffer)
{
	if (tdm_reserve(&list->at, &list->cap, list->count + 1, sizeof *list->at) != 0)
		return -ENOMEM;
	list->at[list->count++] = *buffer;
	return 0;
}

static uint64_t key_of(const struct tdm_operation_buffer *buffer)
{
	return tdm_operation_place_key(buffer->unit, buffer->address);
}

/* Removes what the operation did not list: it was released. Buffers of the others keep their order of appearance. */
static int drop_released(struct tdm_operation_memory *m, uint32_t now)
{
	size_t kept = 0;
	for (size_t i = 0; i < m->live.count; i++) {
		const struct tdm_operation_buffer buffer = m->live.at[i];
		if (buffer.seen != now) {
			tdm_map_take(&m->by_place, key_of(&buffer));
			continue;
		}
		if (kept != i && tdm_map_put(&m->by_place, key_of(&buffer), (uint32_t)kept) != 0)
			return -ENOMEM;
		m->live.at[kept++] = buffer;
	}
	m->live.count = kept;
	return 0;
}

/* Copies the live buffers of the units that have just reached a new peak. */
static int keep_peaks(struct tdm_operation_memory *m)
{
	bool any = false;
	for (size_t i = 0; i < m->unit_count; i++) {
		any |= m->units[i].is_new_peak;
		if (m->units[i].is_new_peak)
			m->units[i].peak.count = 0;
	}
	int err = 0;
	for (size_t i = 0; any && i < m->live.count && err == 0; i++) {
		struct tdm_operation_unit *unit = &m->units[m->live.at[i].unit];
		if (unit->is_new_peak)
			err = append(&unit->peak, &m->live.at[i]);
	}
	for (size_t i = 0; i < m->unit_count; i++)
		m->units[i].is_new_peak = false;
	return err;
}

/* Adds up the operation's graph. */
static int close_graph(struct tdm_operation_memory *m, struct tdm_operation *operation)
{
	if (!m->has_graph)
		return 0;
	int err = tdm_capture_summary_end(&m->graph);
	int64_t peak = err == 0 ? m->graph.right[TDM_STOCK_CORE_PEAK_CB] : INT64_MIN;
	operation->cb_bytes = peak >= 0 ? (uint64_t)peak : TDM_BYTES_UNKNOWN;
	tdm_capture_summary_done(&m->graph);
	m->has_graph = false;
	return err;
}

static int close_operation(struct tdm_operation_memory *m)
{
	if (!m->is_open)
		return 0;
	uint32_t now = (uint32_t)m->operation_count - 1;
	struct tdm_operation *operation = &m->operations[now];
	m->is_open = false;
	int err = close_graph(m, operation);
	for (size_t i = 0; i < m->unit_count && err == 0; i++) {
		struct tdm_operation_unit *u = &m->units[i];
		if (u->rank != operation->rank)
			continue;
		if (u->seen != now)
			u->bytes = u->buffers = 0;
		if (u->kind < TDM_OPERATION_KINDS)
			operation->bytes[u->kind] = tdm_max(operation->bytes[u->kind], u->bytes);
		operation->buffers = tdm_plus(operation->buffers, u->buffers);
		u->is_new_peak = u->bytes > u->peak_bytes;
		if (u->is_new_peak) {
			u->peak_bytes = u->bytes;
			u->peak_operation = now;
		}
	}
	err = err != 0 ? err : drop_released(m, now);
	return err != 0 ? err : keep_peaks(m);
}

/* The last operation of a rank was closed: what lives is left at its end. */
static int close_rank(struct tdm_operation_memory *m)
{
	int err = 0;
	for (size_t i = 0; i < m->live.count && err == 0; i++) {
		struct tdm_operation_unit *unit = &m->units[m->live.at[i].unit];
		unit->end_bytes = tdm_plus(unit->end_bytes, m->live.at[i].bytes);
		err = append(&unit->end, &m->live.at[i]);
	}
	m->live.count = 0;
	tdm_map_clear(&m->by_place);
	return err;
}

/* ---- records ---- */

static int take_operation(struct tdm_operation_memory *m, const struct tdm_report_operation *o)
{
	bool is_other_rank = m->operation_count != 0 && m->operations[m->operation_count - 1].rank != o->rank;
	int err = close_operation(m);
	if (err == 0 && is_other_rank)
		err = close_rank(m);
	if (err != 0)
		return err;
	/* The same number twice: the first counts. */
	if (m->operation_count == TDM_OPERATION_LIMIT || tdm_operation_find(m, o->rank, o->id) != TDM_OPERATION_NONE) {
		m->left_out++;
		return 0;
	}
	uint64_t none = m->has_buffers ? 0 : TDM_BYTES_UNKNOWN;
	struct tdm_operation operation = { .id = o->id,
		.rank = o->rank,
		.duration_ns = o->duration_ns,
		.bytes = { none, none, none, none },
		.buffers = none,
		.cb_bytes = TDM_BYTES_UNKNOWN };
	if (tdm_intern_text(&m->texts, o->name, &operation.name) != 0 ||
		tdm_reserve(&m->operations, &m->operation_cap, m->operation_count + 1, sizeof *m->operations) != 0 ||
		tdm_map_put(&m->by_operation, tdm_operation_rank_key(o->rank, o->id), (uint32_t)m->operation_count) !=
			0)
		return -ENOMEM;
	m->operations[m->operation_count++] = operation;
	m->is_open = true;
	return 0;
}

/* 0 with *index set; TDM_OPERATION_NONE: there are too many. */
static int unit_of(struct tdm_operation_memory *m, const struct tdm_report_buffer *b, uint32_t *index)
{
	*index = tdm_operation_find_unit(m, b->rank, b->device, b->kind);
	if (*index != TDM_MAP_NONE || m->unit_count == UNITS_MAX)
		return 0;
	if (tdm_reserve(&m->units, &m->unit_cap, m->unit_count + 1, sizeof *m->units) != 0 ||
		tdm_map_put(
			&m->by_unit, tdm_operation_unit_key(b->rank, b->device, b->kind), (uint32_t)m->unit_count) != 0)
		return -ENOMEM;
	*index = (uint32_t)m->unit_count;
	m->units[m->unit_count++] = (struct tdm_operation_unit){ .rank = b->rank,
		.device = b->device,
		.kind = b->kind,
		.seen = TDM_OPERATION_NONE,
		.peak_operation = TDM_OPERATION_NONE };
	return 0;
}

static int take_alive(struct tdm_operation_memory *m, const struct tdm_report_buffer *b)
{
	uint32_t unit, now = (uint32_t)m->operation_count - 1;
	if (!m->is_open || m->live.count == TDM_OPERATION_LIMIT) {
		m->left_out++;
		return 0;
	}
	if (unit_of(m, b, &unit) != 0)
		return -ENOMEM;
	if (unit == TDM_MAP_NONE) {
		m->left_out++;
		return 0;
	}
	const struct tdm_operation_buffer buffer = { b->address, b->bank_bytes, unit, now, now, TDM_OPERATION_NONE };
	uint32_t known = tdm_map_find(&m->by_place, key_of(&buffer));
	if (known != TDM_MAP_NONE && m->live.at[known].seen == now) {
		m->duplicates++;
		return 0;
	}
	if (known == TDM_MAP_NONE) {
		if (append(&m->live, &buffer) != 0 ||
			tdm_map_put(&m->by_place, key_of(&buffer), (uint32_t)m->live.count - 1) != 0)
			return -ENOMEM;
	} else if (m->live.at[known].bytes != b->bank_bytes) {
		m->live.at[known] = buffer; /* another one at its address */
	} else {
		m->live.at[known].seen = now;
	}
	struct tdm_operation_unit *u = &m->units[unit];
	if (u->seen != now)
		u->bytes = u->buffers = 0;
	u->seen = now;
	u->bytes = tdm_plus(u->bytes, b->bank_bytes);
	u->buffers++;
	return 0;
}

static int take_node(struct tdm_operation_memory *m, const struct tdm_record *record)
{
	if (!m->is_open)
		return 0;
	if (!m->has_graph && tdm_capture_summary_init(&m->graph) != 0)
		return -ENOMEM;
	m->has_graph = true;
	return tdm_capture_summary_take(&m->graph, record);
}

static int take_device(struct tdm_operation_memory *m, const struct tdm_capture_device *device)
{
	if (m->device_count == DEVICES_MAX) {
		m->left_out++;
		return 0;
	}
	if (tdm_reserve(&m->devices, &m->device_cap, m->device_count + 1, sizeof *m->devices) != 0)
		return -ENOMEM;
	m->devices[m->device_count++] = *device;
	return 0;
}

static int take_error(struct tdm_operation_memory *m, const struct tdm_report_error *e)
{
	m->error_count++;
	if (m->errors_kept == ERRORS_KEPT)
		return 0;
	if (tdm_reserve(&m->errors, &m->errors_cap, m->errors_kept + 1, sizeof *m->errors) != 0)
		return -ENOMEM;
	struct tdm_operation_error *kept = &m->errors[m->errors_kept++];
	*kept = (struct tdm_operation_error){ .operation = e->operation, .rank = e->rank };
	memcpy(kept->name, e->name.ptr, tdm_min(e->name.len, sizeof kept->name - 1));
	memcpy(kept->message, e->message.ptr, tdm_min(e->message.len, sizeof kept->message - 1));
	return 0;
}

static int take_part(struct tdm_operation_memory *m, const struct tdm_report_part *p)
{
	if (m->core_unit == SIZE_MAX)
		return 0;
	const struct tdm_operation_unit *u = &m->units[m->core_unit];
	if (p->rank != u->rank || p->device != u->device || p->kind != u->kind ||
		tdm_operation_find(m, p->rank, p->operation) != u->peak_operation)
		return 0;
	m->has_cores = true;
	m->core_bytes[p->y][p->x] = tdm_plus(m->core_bytes[p->y][p->x], p->bytes);
	m->grid_x = (uint32_t)tdm_max(m->grid_x, p->x + 1U);
	m->grid_y = (uint32_t)tdm_max(m->grid_y, p->y + 1U);
	return 0;
}

/* All operations were read. */
static int settle(struct tdm_operation_memory *m)
{
	if (m->is_settled)
		return 0;
	m->is_settled = true;
	int err = close_operation(m);
	err = err != 0 ? err : close_rank(m);
	const struct tdm_operation_unit *l1 = tdm_operation_memory_fullest(m, TDM_KIND_L1);
	m->core_unit = l1 != NULL ? (size_t)(l1 - m->units) : SIZE_MAX;
	return err != 0 ? err : tdm_operation_want_places(m);
}

static int take_later(struct tdm_operation_memory *m, const struct tdm_record *record)
{
	int err = settle(m);
	if (err != 0)
		return err;
	return record->type == TDM_RECORD_REPORT_ERROR ? take_error(m, record->error)
	       : record->type == TDM_RECORD_CORE_PART  ? take_part(m, record->part)
						       : tdm_operation_take_tensor(m, record);
}

int tdm_operation_memory_take(void *memory, const struct tdm_record *record)
{
	struct tdm_operation_memory *m = memory;
	switch (record->type) {
	case TDM_RECORD_REFUSED:
		m->refused++;
		return 0;
	case TDM_RECORD_REPORT_HEAD:
		m->has_head = true;
		m->has_buffers = record->report->has_buffers;
		m->has_graphs = record->report->has_graphs;
		snprintf(m->schema, sizeof m->schema, "%.*s", (int)tdm_min(record->report->schema.len, 31),
			record->report->schema.ptr);
		return 0;
	case TDM_RECORD_DEVICE:
		return take_device(m, record->device);
	case TDM_RECORD_OPERATION:
		return take_operation(m, record->operation);
	case TDM_RECORD_ALIVE:
		return take_alive(m, record->alive);
	case TDM_RECORD_NODE:
		return take_node(m, record);
	case TDM_RECORD_TENSOR_PLACE:
	case TDM_RECORD_TENSOR:
	case TDM_RECORD_TENSOR_USE:
	case TDM_RECORD_REPORT_ERROR:
	case TDM_RECORD_CORE_PART:
		return take_later(m, record);
	default:
		return 0;
	}
}

static int compare_buffers(const void *left, const void *right)
{
	const struct tdm_operation_buffer *a = left, *b = right;
	int order = tdm_order(b->bytes, a->bytes);
	return order != 0 ? order : tdm_order(a->address, b->address);
}

static int compare_units(const void *left, const void *right)
{
	const struct tdm_operation_unit *a = left, *b = right;
	return tdm_order(tdm_operation_unit_key(a->rank, a->device, a->kind),
		tdm_operation_unit_key(b->rank, b->device, b->kind));
}

static void sort_list(struct tdm_operation_list *list)
{
	if (list->count != 0)
		qsort(list->at, list->count, sizeof *list->at, compare_buffers);
}

int tdm_operation_memory_end(struct tdm_operation_memory *m)
{
	int err = settle(m);
	if (err != 0)
		return err;
	tdm_operation_join_tensors(m);
	for (size_t i = 0; i < m->unit_count; i++) {
		sort_list(&m->units[i].peak);
		sort_list(&m->units[i].end);
	}
	tdm_operation_find_banks(m);
	const struct tdm_operation_unit *core = m->core_unit != SIZE_MAX ? &m->units[m->core_unit] : NULL;
	const uint64_t key = core != NULL ? tdm_operation_unit_key(core->rank, core->device, core->kind) : 0;
	if (m->unit_count != 0)
		qsort(m->units, m->unit_count, sizeof *m->units, compare_units);
	for (size_t i = 0; core != NULL && i < m->unit_count; i++)
		if (tdm_operation_unit_key(m->units[i].rank, m->units[i].device, m->units[i].kind) == key)
			m->core_unit = i;
	return 0;
}
