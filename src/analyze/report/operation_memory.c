/*
 * The analysis has three steps. Operations come first, each with its graph and the buffers live after the operation. At
 * each operation, the sums for each unit (a kind on a device) start again from 0. Buffers not listed by an operation
 * were released. At a new peak, the live buffers are copied. After the last operation, the places that matter are
 * known: those of buffers live at a peak or at the end. Tensors come next; only tensors at such a place are kept. The
 * last step finds the tensor in each buffer, the banks, and the holes at the peaks.
 */
#include "analyze/report/operation_memory.h"
#include "analyze/report/report_analyser.h"
#include "base/err.h"
#include "base/memory.h"
#include "base/units.h"
#include "model/card/card.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* LIMIT applies to operations, live buffers and tensors separately. */
enum { LIMIT = 1 << 22, UNITS_MAX = 1 << 14, DEVICES_MAX = 1 << 12, ERRORS_KEPT = 100 };
enum { GROUP_LEAST = 3, GROUPS_SHOWN = 5 };

void tdm_operation_memory_init(struct tdm_operation_memory *m)
{
	memset(m, 0, sizeof *m);
	m->core_unit = SIZE_MAX;
	tdm_intern_init(&m->texts);
}

void tdm_operation_memory_done(void *memory)
{
	struct tdm_operation_memory *m = memory;
	for (size_t i = 0; i < m->unit_count; i++) {
		free(m->units[i].peak.at);
		free(m->units[i].end.at);
		tdm_region_map_done(&m->units[i].map);
	}
	free(m->units);
	free(m->operations);
	free(m->devices);
	free(m->errors);
	free(m->live);
	free(m->tensors);
	tdm_live_set_done(&m->set);
	tdm_map_done(&m->by_unit);
	tdm_map_done(&m->by_operation);
	tdm_map_done(&m->wanted);
	tdm_map_done(&m->by_tensor);
	if (m->has_graph)
		tdm_capture_summary_done(&m->graph);
	tdm_intern_done(&m->texts);
	tdm_arena_done(&m->error_texts);
	memset(m, 0, sizeof *m);
}

/* ---- lookups ---- */

/* Map keys. Ranks, devices, kinds, ids and addresses are limited (model/event/record.h), so the keys are exact. */
static uint64_t unit_key(uint32_t rank, uint32_t device, uint8_t kind)
{
	return ((uint64_t)rank << 32 | device) << 8 | kind;
}

static uint64_t key_of_unit(const struct tdm_operation_unit *unit)
{
	return unit_key(unit->rank, unit->device, unit->kind);
}

static uint64_t rank_key(uint32_t rank, uint64_t id)
{
	return (uint64_t)rank << 46 | id;
}

static uint64_t place_key(uint32_t unit, uint64_t address)
{
	return (uint64_t)unit << 46 | address;
}

static uint32_t find_operation(const struct tdm_operation_memory *m, uint32_t rank, uint64_t id)
{
	return tdm_map_find(&m->by_operation, rank_key(rank, id));
}

static uint32_t find_unit(const struct tdm_operation_memory *m, uint32_t rank, uint32_t device, uint8_t kind)
{
	return tdm_map_find(&m->by_unit, unit_key(rank, device, kind));
}

const char *tdm_operation_name(const struct tdm_operation_memory *m, uint32_t operation)
{
	return operation < m->operation_count ? m->operations[operation].name : "";
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

static void append(struct tdm_operation_list *list, const struct tdm_operation_buffer *buffer)
{
	tdm_grow(&list->at, &list->cap, list->count + 1, sizeof *list->at);
	list->at[list->count++] = *buffer;
}

static uint64_t key_of(const struct tdm_operation_buffer *buffer)
{
	return place_key(buffer->unit, buffer->address);
}

/* The live buffer in a slot; NULL if the slot is spare. */
static struct tdm_operation_buffer *live_at(const struct tdm_operation_memory *m, uint32_t slot)
{
	return m->live[slot].seen != TDM_OPERATION_NONE ? &m->live[slot] : NULL;
}

/* Ends the operation's graph and records its peak of circular buffers. */
static void close_graph(struct tdm_operation_memory *m, struct tdm_operation *operation)
{
	if (!m->has_graph)
		return;
	tdm_capture_summary_end(&m->graph);
	int64_t peak = m->graph.right[TDM_STOCK_CORE_PEAK_CB];
	operation->cb_bytes = peak >= 0 ? (uint64_t)peak : TDM_BYTES_UNKNOWN;
	tdm_capture_summary_done(&m->graph);
	m->has_graph = false;
}

static void close_operation(struct tdm_operation_memory *m)
{
	if (!m->is_open)
		return;
	uint32_t now = (uint32_t)m->operation_count - 1;
	struct tdm_operation *operation = &m->operations[now];
	m->is_open = false;
	close_graph(m, operation);
	for (size_t i = 0; i < m->unit_count; i++) {
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
	/* Removes buffers not listed by the operation, because they were released. */
	for (uint32_t i = 0; i < m->set.used; i++) {
		struct tdm_operation_buffer *buffer = live_at(m, i);
		if (buffer == NULL || buffer->seen == now)
			continue;
		tdm_live_set_take(&m->set, key_of(buffer));
		buffer->seen = TDM_OPERATION_NONE;
	}
	/* Copies the live buffers of the units that have just reached a new peak. */
	bool any = false;
	for (size_t i = 0; i < m->unit_count; i++) {
		any |= m->units[i].is_new_peak;
		if (m->units[i].is_new_peak)
			m->units[i].peak.count = 0;
	}
	for (uint32_t i = 0; any && i < m->set.used; i++) {
		const struct tdm_operation_buffer *buffer = live_at(m, i);
		if (buffer != NULL && m->units[buffer->unit].is_new_peak)
			append(&m->units[buffer->unit].peak, buffer);
	}
	for (size_t i = 0; i < m->unit_count; i++)
		m->units[i].is_new_peak = false;
}

/* Called after the last operation of a rank: its live buffers are those left at the end. */
static void close_rank(struct tdm_operation_memory *m)
{
	for (uint32_t i = 0; i < m->set.used; i++) {
		const struct tdm_operation_buffer *buffer = live_at(m, i);
		if (buffer == NULL)
			continue;
		struct tdm_operation_unit *unit = &m->units[buffer->unit];
		unit->end_bytes = tdm_plus(unit->end_bytes, buffer->bytes);
		append(&unit->end, buffer);
	}
	tdm_live_set_clear(&m->set);
}

/* ---- records ---- */

/* Keeps one copy of each string. */
static const char *text_of(struct tdm_operation_memory *m, struct tdm_str text)
{
	size_t place = tdm_intern_text(&m->texts, text);
	return m->texts.texts[place];
}

static void take_operation(struct tdm_operation_memory *m, const struct tdm_report_row *o)
{
	bool is_other_rank = m->operation_count != 0 && m->operations[m->operation_count - 1].rank != o->rank;
	close_operation(m);
	if (is_other_rank)
		close_rank(m);
	/* If a number is repeated, the first operation counts. */
	if (m->operation_count == LIMIT || find_operation(m, o->rank, o->operation) != TDM_OPERATION_NONE) {
		m->left_out++;
		return;
	}
	uint64_t none = m->has_buffers ? 0 : TDM_BYTES_UNKNOWN;
	struct tdm_operation operation = { .id = o->operation,
		.rank = o->rank,
		.duration_ns = o->duration_ns,
		.bytes = { none, none, none, none },
		.buffers = none,
		.cb_bytes = TDM_BYTES_UNKNOWN,
		.name = text_of(m, o->name) };
	tdm_grow(&m->operations, &m->operation_cap, m->operation_count + 1, sizeof *m->operations);
	tdm_map_set(&m->by_operation, rank_key(o->rank, o->operation), (uint32_t)m->operation_count);
	m->operations[m->operation_count++] = operation;
	m->is_open = true;
}

/* The unit of a buffer, added if new; TDM_OPERATION_NONE if there are too many. */
static uint32_t unit_of(struct tdm_operation_memory *m, const struct tdm_report_row *b)
{
	uint32_t index = find_unit(m, b->rank, b->device, b->kind);
	if (index != TDM_MAP_NONE || m->unit_count == UNITS_MAX)
		return index;
	tdm_grow(&m->units, &m->unit_cap, m->unit_count + 1, sizeof *m->units);
	tdm_map_set(&m->by_unit, unit_key(b->rank, b->device, b->kind), (uint32_t)m->unit_count);
	m->units[m->unit_count] = (struct tdm_operation_unit){ .rank = b->rank,
		.device = b->device,
		.kind = b->kind,
		.seen = TDM_OPERATION_NONE,
		.peak_operation = TDM_OPERATION_NONE };
	return (uint32_t)m->unit_count++;
}

/* An operation lists every buffer alive after it, so the sums restart with the first one listed. */
static void take_alive(struct tdm_operation_memory *m, const struct tdm_report_row *b)
{
	uint32_t now = (uint32_t)m->operation_count - 1;
	uint32_t unit = m->is_open && m->set.by_id.count < LIMIT ? unit_of(m, b) : TDM_OPERATION_NONE;
	if (unit == TDM_OPERATION_NONE) {
		m->left_out++;
		return;
	}
	const struct tdm_operation_buffer buffer = { b->address, b->bytes, unit, now, now, NULL };
	uint32_t slot = tdm_live_set_find(&m->set, key_of(&buffer));
	if (slot != TDM_MAP_NONE && m->live[slot].seen == now) {
		m->duplicates++;
		return;
	}
	bool is_new = slot == TDM_MAP_NONE;
	if (is_new) {
		slot = tdm_live_set_add(&m->set, key_of(&buffer));
		tdm_grow(&m->live, &m->live_cap, m->set.used, sizeof *m->live);
	}
	if (is_new || m->live[slot].bytes != b->bytes)
		m->live[slot] = buffer; /* could be a different buffer at the same address */
	m->live[slot].seen = now;
	struct tdm_operation_unit *u = &m->units[unit];
	if (u->seen != now)
		u->bytes = u->buffers = 0;
	u->seen = now;
	u->bytes = tdm_plus(u->bytes, b->bytes);
	u->buffers++;
}

static void take_node(struct tdm_operation_memory *m, const struct tdm_record *record)
{
	if (!m->is_open)
		return;
	if (!m->has_graph)
		tdm_capture_summary_init(&m->graph);
	m->has_graph = true;
	tdm_capture_summary_take(&m->graph, record);
}

static void take_device(struct tdm_operation_memory *m, const struct tdm_capture_device *device)
{
	if (m->device_count == DEVICES_MAX) {
		m->left_out++;
		return;
	}
	tdm_grow(&m->devices, &m->device_cap, m->device_count + 1, sizeof *m->devices);
	m->devices[m->device_count++] = *device;
}

static void take_error(struct tdm_operation_memory *m, const struct tdm_report_row *e)
{
	m->error_count++;
	if (m->errors_kept == ERRORS_KEPT)
		return;
	tdm_grow(&m->errors, &m->errors_cap, m->errors_kept + 1, sizeof *m->errors);
	struct tdm_report_row *kept = &m->errors[m->errors_kept++];
	*kept = *e;
	kept->name.len = tdm_min(e->name.len, TDM_CAPTURE_TEXT_CAP - 1);
	kept->name = tdm_arena_str(&m->error_texts, kept->name);
	kept->message.len = tdm_min(e->message.len, TDM_CAPTURE_ERROR_CAP - 1);
	kept->message = tdm_arena_str(&m->error_texts, kept->message);
}

static void take_part(struct tdm_operation_memory *m, const struct tdm_report_row *p)
{
	if (m->core_unit == SIZE_MAX)
		return;
	const struct tdm_operation_unit *u = &m->units[m->core_unit];
	if (p->rank != u->rank || p->device != u->device || p->kind != u->kind ||
		find_operation(m, p->rank, p->operation) != u->peak_operation)
		return;
	m->has_cores = true;
	m->core_bytes[p->y][p->x] = tdm_plus(m->core_bytes[p->y][p->x], p->bytes);
	m->grid_x = (uint32_t)tdm_max(m->grid_x, p->x + 1U);
	m->grid_y = (uint32_t)tdm_max(m->grid_y, p->y + 1U);
}

/*
 * ---- tensors ----  The tensor in a buffer. Buffers and tensors are linked only by an address, and addresses are
 * reused. Therefore, of all tensors at the address, the last one created before the moment in question counts. If the
 * report lacks the times, a tensor counts only if it is the only one at the address.
 */

/* Marks the places in a list as places that matter. */
static void want(struct tdm_operation_memory *m, const struct tdm_operation_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		tdm_map_set(&m->wanted, key_of(&list->at[i]), 0);
}

/* Keeps a tensor at a place, if the place matters. */
static void add_tensor(struct tdm_operation_memory *m, const struct tdm_report_row *t, uint8_t kind, const char *text)
{
	uint32_t unit = find_unit(m, t->rank, t->device, kind);
	uint64_t key = unit != TDM_MAP_NONE ? place_key(unit, t->address) : 0;
	if (unit == TDM_MAP_NONE || tdm_map_find(&m->wanted, key) == TDM_MAP_NONE)
		return;
	uint64_t id = rank_key(t->rank, t->id);
	uint32_t first = tdm_map_find(&m->by_tensor, id);
	for (uint32_t i = first; i != TDM_MAP_NONE; i = m->tensors[i].next)
		if (m->tensors[i].key == key) {
			m->tensors[i].text = text[0] != '\0' ? text : m->tensors[i].text;
			return;
		}
	if (m->tensor_count == LIMIT) {
		m->left_out++;
		return;
	}
	tdm_grow(&m->tensors, &m->tensor_cap, m->tensor_count + 1, sizeof *m->tensors);
	tdm_map_set(&m->by_tensor, id, (uint32_t)m->tensor_count);
	m->tensors[m->tensor_count++] = (struct tdm_operation_tensor){
		.key = key,
		.id = t->id,
		.next = first,
		.producer = TDM_OPERATION_NONE,
		.last_use = TDM_OPERATION_NONE,
		.text = text,
	};
}

static void add_any_kind(struct tdm_operation_memory *m, const struct tdm_report_row *t, const char *text)
{
	for (uint8_t kind = 0; kind < TDM_KIND_COUNT; kind++)
		if (t->has_place && (t->kind == kind || t->kind == TDM_KIND_COUNT))
			add_tensor(m, t, kind, text);
}

/* Drops the prefixes written by ttnn, which carry no information, leaving "[1, 32, 64] BFLOAT16 TILE". */
static struct tdm_str without(struct tdm_str text, const char *prefix)
{
	size_t len = strlen(prefix);
	return text.len > len && memcmp(text.ptr, prefix, len) == 0 ? (struct tdm_str){ text.ptr + len, text.len - len }
								    : text;
}

static const char *describe(struct tdm_operation_memory *m, const struct tdm_report_row *t)
{
	char text[TDM_NAME_MAX];
	struct tdm_str shape = without(t->shape, "Shape("), dtype = without(t->dtype, "DataType."),
		       layout = without(t->layout, "Layout.");
	if (shape.ptr != t->shape.ptr && shape.ptr[shape.len - 1] == ')')
		shape.len--;
	int len = snprintf(text, sizeof text, "%.*s %.*s %.*s", (int)tdm_min(shape.len, 120), shape.ptr,
		(int)tdm_min(dtype.len, 40), dtype.ptr, (int)tdm_min(layout.len, 40), layout.ptr);
	return text_of(m, tdm_str_trim((struct tdm_str){ text, len > 0 ? strlen(text) : 0 }));
}

static void take_tensor(struct tdm_operation_memory *m, const struct tdm_report_row *t)
{
	uint32_t first = tdm_map_find(&m->by_tensor, rank_key(t->rank, t->id));
	bool is_wanted = first != TDM_MAP_NONE;
	for (uint8_t kind = 0; kind < TDM_KIND_COUNT && t->has_place; kind++) {
		uint32_t unit = find_unit(m, t->rank, t->device, kind);
		is_wanted |=
			unit != TDM_MAP_NONE && tdm_map_find(&m->wanted, place_key(unit, t->address)) != TDM_MAP_NONE;
	}
	if (!is_wanted)
		return;
	const char *text = describe(m, t);
	for (uint32_t i = first; i != TDM_MAP_NONE; i = m->tensors[i].next)
		m->tensors[i].text = text;
	add_any_kind(m, t, text);
}

/* By place, then by creation time; unknown times come last. */
static int compare_tensors(const void *left, const void *right)
{
	const struct tdm_operation_tensor *a = left, *b = right;
	int order = tdm_order(a->key, b->key);
	order = order != 0 ? order : tdm_order(a->producer, b->producer);
	return order != 0 ? order : tdm_order(a->id, b->id);
}

static int compare_buffers(const void *left, const void *right)
{
	const struct tdm_operation_buffer *a = left, *b = right;
	int order = tdm_order(b->bytes, a->bytes);
	return order != 0 ? order : tdm_order(a->address, b->address);
}

/* The tensor in a buffer after an operation; NULL if unknown. */
static const struct tdm_operation_tensor *tensor_at(
	const struct tdm_operation_memory *m, const struct tdm_operation_buffer *buffer)
{
	uint64_t key = key_of(buffer);
	size_t low = 0, high = m->tensor_count;
	if (high == 0)
		return NULL;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (m->tensors[middle].key < key)
			low = middle + 1;
		else
			high = middle;
	}
	const struct tdm_operation_tensor *best = NULL, *first = &m->tensors[low], *at = first;
	for (; at < m->tensors + m->tensor_count && at->key == key; at++)
		if (at->producer <= buffer->seen)
			best = at;
	return best == NULL && at == first + 1 && first->producer == TDM_OPERATION_NONE ? first : best;
}

/* Finds the tensors in a list of buffers, and sorts the buffers, largest first. */
static void settle_list(const struct tdm_operation_memory *m, struct tdm_operation_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		list->at[i].tensor = tensor_at(m, &list->at[i]);
	if (list->count != 0)
		qsort(list->at, list->count, sizeof *list->at, compare_buffers);
}

/*
 * ---- devices ----  The report describes the L1 banks; the DRAM banks follow from the cards with such an L1.
 */

static const struct tdm_capture_device *device_of(
	const struct tdm_operation_memory *m, const struct tdm_operation_unit *unit)
{
	for (size_t i = 0; i < m->device_count; i++)
		if (m->devices[i].rank == unit->rank && m->devices[i].id == unit->device)
			return &m->devices[i];
	return NULL;
}

/* A figure shared by all cards like this one; TDM_BYTES_UNKNOWN if they differ or there is no such card. */
static uint64_t figure_of_cards(const struct tdm_capture_device *d, enum tdm_card_field field, bool same_banks)
{
	uint64_t figure = 0;
	for (size_t i = 0; tdm_card_names[i] != NULL; i++) {
		struct tdm_card card;
		if (tdm_card_init(&card, tdm_str_of(tdm_card_names[i]), NULL, NULL) != 0 ||
			tdm_card_get(&card, TDM_CARD_L1_SIZE) != d->worker_l1_size ||
			(same_banks && tdm_card_get(&card, TDM_CARD_L1_BANKS) != d->l1_banks))
			continue;
		if (figure != 0 && figure != tdm_card_get(&card, field))
			return TDM_BYTES_UNKNOWN;
		figure = tdm_card_get(&card, field);
	}
	return figure != 0 ? figure : TDM_BYTES_UNKNOWN;
}

uint64_t tdm_operation_l1_small(const struct tdm_capture_device *d)
{
	uint64_t below = tdm_plus(d->l1_base, d->l1_bank_size);
	bool is_known = d->l1_base != 0 && d->l1_bank_size != 0 && below <= d->worker_l1_size;
	return is_known ? d->worker_l1_size - below : TDM_BYTES_UNKNOWN;
}

static void find_banks(const struct tdm_capture_device *d, struct tdm_operation_unit *u)
{
	if (u->kind == TDM_KIND_L1 || u->kind == TDM_KIND_L1_SMALL)
		u->banks = (uint32_t)d->l1_banks;
	if (u->kind == TDM_KIND_L1 && d->l1_bank_size != 0)
		u->bank_size = d->l1_bank_size;
	else if (u->kind == TDM_KIND_L1_SMALL && tdm_operation_l1_small(d) != 0)
		u->bank_size = tdm_operation_l1_small(d);
	else if (u->kind == TDM_KIND_DRAM || u->kind == TDM_KIND_TRACE) {
		for (int same_banks = 0; same_banks < 2 && u->banks == 0 && d->worker_l1_size != 0; same_banks++) {
			uint64_t banks = figure_of_cards(d, TDM_CARD_DRAM_BANKS, same_banks != 0);
			if (banks > UINT32_MAX)
				continue;
			u->banks = (uint32_t)banks;
			u->bank_size = figure_of_cards(d, TDM_CARD_DRAM_BANK_SIZE, same_banks != 0);
			u->by_card = true;
		}
	}
	if (u->kind == TDM_KIND_TRACE)
		u->bank_size = TDM_BYTES_UNKNOWN; /* the program chooses the size of the region */
}

/* Maps the holes between the buffers at the peak. The device description contains the place of the region only for L1.
 * */
static void map_peak(const struct tdm_capture_device *d, struct tdm_operation_unit *u)
{
	struct tdm_region region = { .kind = u->kind, .banks = u->banks };
	bool is_l1 = u->kind == TDM_KIND_L1 || u->kind == TDM_KIND_L1_SMALL;
	if (d != NULL && is_l1 && d->l1_base != 0 && u->bank_size != TDM_BYTES_UNKNOWN) {
		region.base = u->kind == TDM_KIND_L1 ? d->l1_base : d->l1_base + d->l1_bank_size;
		region.bank_size = u->bank_size;
	}
	struct tdm_buffer *buffers = tdm_zalloc(u->peak.count, sizeof *buffers);
	tdm_region_map_init(&u->map, (enum tdm_kind)u->kind, &region, TDM_FROM_MODEL);
	for (size_t i = 0; i < u->peak.count; i++) {
		buffers[i].address = u->peak.at[i].address;
		buffers[i].bank_bytes = u->peak.at[i].bytes;
		tdm_region_map_add(&u->map, &buffers[i], 0);
	}
	tdm_region_map_finish(&u->map);
	tdm_region_gaps_sort(u->map.gaps, u->map.gap_count);
	for (size_t i = 0; i < u->map.span_count; i++)
		u->map.spans[i].buffer = NULL;
	free(buffers);
}

/* ---- all records ---- */

/* Ends the first part, when all operations have been read. */
static void settle(struct tdm_operation_memory *m)
{
	if (m->is_settled)
		return;
	m->is_settled = true;
	close_operation(m);
	close_rank(m);
	const struct tdm_operation_unit *l1 = tdm_operation_memory_fullest(m, TDM_KIND_L1);
	m->core_unit = l1 != NULL ? (size_t)(l1 - m->units) : SIZE_MAX;
	for (size_t i = 0; i < m->unit_count; i++) {
		want(m, &m->units[i].peak);
		want(m, &m->units[i].end);
	}
}

/* Processes a record that comes after all operations. */
static void take_later(struct tdm_operation_memory *m, const struct tdm_record *record)
{
	settle(m);
	if (record->type == TDM_RECORD_REPORT_ERROR)
		take_error(m, record->error);
	else if (record->type == TDM_RECORD_CORE_PART)
		take_part(m, record->part);
	else if (record->type == TDM_RECORD_TENSOR_PLACE)
		add_any_kind(m, record->place, "");
	else if (record->type == TDM_RECORD_TENSOR)
		take_tensor(m, record->tensor);
	else {
		uint32_t operation = find_operation(m, record->use->rank, record->use->operation);
		uint32_t i = operation != TDM_OPERATION_NONE
				     ? tdm_map_find(&m->by_tensor, rank_key(record->use->rank, record->use->id))
				     : TDM_MAP_NONE;
		for (; i != TDM_MAP_NONE; i = m->tensors[i].next) {
			struct tdm_operation_tensor *t = &m->tensors[i];
			if (record->use->is_output)
				t->producer = (uint32_t)tdm_min(t->producer, operation);
			else if (t->last_use == TDM_OPERATION_NONE || operation > t->last_use)
				t->last_use = operation;
		}
	}
}

int tdm_operation_memory_take(void *memory, const struct tdm_record *record)
{
	struct tdm_operation_memory *m = memory;
	switch (record->type) {
	case TDM_RECORD_REFUSED:
		m->refused++;
		break;
	case TDM_RECORD_REPORT_HEAD:
		m->has_head = true;
		m->has_buffers = record->report->has_buffers;
		m->has_graphs = record->report->has_graphs;
		snprintf(m->schema, sizeof m->schema, "%.*s", (int)tdm_min(record->report->name.len, 31),
			record->report->name.ptr);
		break;
	case TDM_RECORD_DEVICE:
		take_device(m, record->device);
		break;
	case TDM_RECORD_OPERATION:
		take_operation(m, record->operation);
		break;
	case TDM_RECORD_ALIVE:
		take_alive(m, record->alive);
		break;
	case TDM_RECORD_NODE:
		take_node(m, record);
		break;
	case TDM_RECORD_TENSOR_PLACE:
	case TDM_RECORD_TENSOR:
	case TDM_RECORD_TENSOR_USE:
	case TDM_RECORD_REPORT_ERROR:
	case TDM_RECORD_CORE_PART:
		take_later(m, record);
		break;
	default:
		break;
	}
	return 0;
}

static int compare_units(const void *left, const void *right)
{
	const struct tdm_operation_unit *a = left, *b = right;
	return tdm_order(key_of_unit(a), key_of_unit(b));
}

void tdm_operation_memory_end(void *memory)
{
	struct tdm_operation_memory *m = memory;
	settle(m);
	if (m->tensor_count != 0)
		qsort(m->tensors, m->tensor_count, sizeof *m->tensors, compare_tensors);
	for (size_t i = 0; i < m->unit_count; i++) {
		struct tdm_operation_unit *u = &m->units[i];
		const struct tdm_capture_device *device = device_of(m, u);
		settle_list(m, &u->peak);
		settle_list(m, &u->end);
		u->bank_size = TDM_BYTES_UNKNOWN;
		if (device != NULL)
			find_banks(device, u);
		map_peak(device, u);
	}
	const struct tdm_operation_unit *core = m->core_unit != SIZE_MAX ? &m->units[m->core_unit] : NULL;
	const uint64_t key = core != NULL ? key_of_unit(core) : 0;
	if (m->unit_count != 0)
		qsort(m->units, m->unit_count, sizeof *m->units, compare_units);
	for (size_t i = 0; core != NULL && i < m->unit_count; i++)
		if (key_of_unit(&m->units[i]) == key)
			m->core_unit = i;
}

/* ---- findings ---- */

static void remark(struct tdm_findings *found, enum tdm_severity severity, const char *what, const char *pattern)
{
	tdm_findings_add(found, TDM_FAMILY_CAPTURE, what, severity)->pattern = pattern;
}

/* Formats "l1 of device 0", with the rank if there are several. */
static const char *unit_text(const struct tdm_operation_memory *m, const struct tdm_operation_unit *u, char dst[64])
{
	bool has_ranks = m->operation_count != 0 && m->operations[m->operation_count - 1].rank != 0;
	int len = snprintf(dst, 64, "%s of device %" PRIu32, tdm_kind_name((enum tdm_kind)u->kind), u->device);
	if (has_ranks)
		snprintf(dst + len, 64 - (size_t)len, ", rank %" PRIu32, u->rank);
	return dst;
}

/* Whether the operation puts weights on the device; their buffers are meant to stay. */
static bool is_loading(const char *name)
{
	static const char *const words[] = { "from_torch", "to_device", "as_tensor", "load_tensor" };
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strstr(name, words[i]) != NULL)
			return true;
	return false;
}

/* Reports buffers at the peak, except weights, whose tensors no later operation used. */
static void find_unused(
	const struct tdm_operation_memory *m, const struct tdm_operation_unit *u, struct tdm_findings *found)
{
	uint64_t count = 0, bytes = 0;
	char name[64], size[TDM_BYTES_CAP];
	for (size_t i = 0; i < u->peak.count; i++) {
		const struct tdm_operation_tensor *t = u->peak.at[i].tensor;
		bool is_unused = t != NULL && t->last_use != TDM_OPERATION_NONE && t->last_use < u->peak_operation &&
				 !is_loading(tdm_operation_name(m, u->peak.at[i].since));
		count += is_unused;
		bytes += is_unused ? u->peak.at[i].bytes : 0;
	}
	if (count == 0)
		return;
	remark(found, TDM_FINDING_WARNING, "unused_at_peak", NULL);
	tdm_findings_figure(found, "count", TDM_UNIT_COUNT, count);
	tdm_findings_figure(found, "bank_bytes", TDM_UNIT_BYTES, bytes);
	tdm_findings_say(found,
		"at the peak of %s, %" PRIu64
		" of %zu buffers held tensors that no later operation used: %s of each bank",
		unit_text(m, u, name), count, u->peak.count, tdm_format_bytes_short(size, sizeof size, bytes));
}

/* Buffers of one size left by operations with the same name. */
struct group {
	const struct tdm_operation_unit *unit;
	const char *name;
	uint64_t bytes, count;
	uint32_t first, last; /* first and last operation after which such buffers appeared */
};

static int compare_left(const void *left, const void *right, void *memory)
{
	const struct tdm_operation_memory *m = memory;
	const struct tdm_operation_buffer *a = left, *b = right;
	int order = strcmp(m->operations[a->since].name, m->operations[b->since].name);
	order = order != 0 ? order : tdm_order(b->bytes, a->bytes);
	return order != 0 ? order : tdm_order(a->since, b->since);
}

static int compare_groups(const void *left, const void *right)
{
	const struct group *a = left, *b = right;
	int order = tdm_order(tdm_times(b->bytes, b->count), tdm_times(a->bytes, a->count));
	return order != 0 ? order : tdm_order(a->first, b->first);
}

/* The first operation of a rank. */
static uint32_t first_of(const struct tdm_operation_memory *m, uint32_t rank)
{
	uint32_t i = 0;
	while (i < m->operation_count && m->operations[i].rank != rank)
		i++;
	return i;
}

/* Appends the groups of a unit to `groups`, which already has `count`. */
static void add_groups(const struct tdm_operation_memory *m, const struct tdm_operation_unit *u, struct group **groups,
	size_t *count, size_t *cap)
{
	struct tdm_operation_buffer *left = tdm_alloc(u->end.count * sizeof *left);
	uint32_t first = first_of(m, u->rank);
	size_t left_count = 0;
	for (size_t i = 0; i < u->end.count; i++)
		if (u->end.at[i].since > first)
			left[left_count++] = u->end.at[i];
	if (left_count != 0)
		qsort_r(left, left_count, sizeof *left, compare_left, (void *)(uintptr_t)m);
	for (size_t i = 0, next; i < left_count; i = next) {
		const char *name = m->operations[left[i].since].name;
		uint64_t operations = 0;
		for (next = i; next < left_count && left[next].bytes == left[i].bytes &&
			       m->operations[left[next].since].name == name;
			next++)
			operations += next == i || left[next].since != left[next - 1].since;
		if (operations < GROUP_LEAST)
			continue;
		tdm_grow(groups, cap, *count + 1, sizeof **groups);
		(*groups)[(*count)++] =
			(struct group){ u, name, left[i].bytes, next - i, left[i].since, left[next - 1].since };
	}
	free(left);
}

static void say_group(const struct tdm_operation_memory *m, const struct group *g, struct tdm_findings *found)
{
	const char *name = g->name;
	char unit[64], each[TDM_BYTES_CAP], all[TDM_BYTES_CAP], shown[80];
	bool is_wanted = is_loading(name);
	remark(found, is_wanted ? TDM_FINDING_INFO : TDM_FINDING_WARNING, "never_released", NULL);
	tdm_findings_figure(found, "count", TDM_UNIT_COUNT, g->count);
	tdm_findings_figure(found, "bank_bytes", TDM_UNIT_BYTES, tdm_times(g->bytes, g->count));
	tdm_findings_position(found, "first_operation", TDM_UNIT_COUNT, m->operations[g->first].id);
	tdm_findings_position(found, "last_operation", TDM_UNIT_COUNT, m->operations[g->last].id);
	tdm_findings_say(found,
		"%s left %" PRIu64 " buffers of %s in %s, %s of each bank, from operation %" PRIu64 " to %" PRIu64
		"; %s",
		name[0] != '\0' ? tdm_str_shown(tdm_str_of(name), shown, sizeof shown) : "operations without a name",
		g->count, tdm_format_bytes_short(each, sizeof each, g->bytes), unit_text(m, g->unit, unit),
		tdm_format_bytes_short(all, sizeof all, tdm_times(g->bytes, g->count)), m->operations[g->first].id,
		m->operations[g->last].id,
		is_wanted ? "it loads tensors, so these may be weights" : "a leak, unless it is a cache or an output");
}

void tdm_operation_memory_find(const struct tdm_operation_memory *m, struct tdm_findings *found)
{
	const struct tdm_operation_unit *dram = tdm_operation_memory_fullest(m, TDM_KIND_DRAM);
	if (!m->has_buffers && m->has_head)
		remark(found, TDM_FINDING_WARNING, "no_buffers",
			"the report has no table of buffers, so the memory in use is unknown");
	if (!m->has_graphs && m->has_head)
		remark(found, TDM_FINDING_INFO, "no_graphs",
			"the report has no captured graphs, so circular buffers are unknown");
	if (dram != NULL) {
		remark(found, TDM_FINDING_INFO, "banks",
			"the report does not say how many banks DRAM has|; all cards with such an L1 have "
			"{banks}|{_unknown}");
		tdm_findings_value(found, "banks", tdm_value_if(dram->by_card, tdm_value_number(dram->banks)));
		tdm_findings_word(
			found, "_unknown", dram->by_card ? NULL : ", so only the bytes of one bank are known");
	}
	for (int kind = 0; kind < TDM_OPERATION_KINDS; kind++) {
		const struct tdm_operation_unit *u = tdm_operation_memory_fullest(m, (enum tdm_kind)kind);
		if (u != NULL)
			find_unused(m, u, found);
	}
	struct group *groups = NULL;
	size_t count = 0, cap = 0;
	for (size_t i = 0; i < m->unit_count; i++)
		add_groups(m, &m->units[i], &groups, &count, &cap);
	if (count != 0)
		qsort(groups, count, sizeof *groups, compare_groups);
	for (size_t i = 0; i < count && i < GROUPS_SHOWN; i++)
		say_group(m, &groups[i], found);
	free(groups);
	tdm_report_count(found, TDM_FINDING_WARNING, "duplicates", m->duplicates,
		"{count/row has a buffer that its operation lists/rows have buffers that their operation lists} "
		"already");
	tdm_report_count(found, TDM_FINDING_WARNING, "left_out", m->left_out,
		"{count/row is/rows are} left out: second operations of one number, or beyond what can be kept");
}

/* ---- phases ---- */

static void add_phase(const struct tdm_operation_memory *m, uint32_t operation, const struct tdm_operation_unit *dram,
	struct tdm_phase_run *run)
{
	const struct tdm_operation *o = &m->operations[operation];
	struct tdm_buf name = { 0 };
	tdm_buf_printf(&name, "%" PRIu64 " %s", o->id, tdm_operation_name(m, operation));
	int64_t before = run->phase_count != 0 ? run->final_current : 0;
	struct tdm_phase *phase = tdm_phase_run_add(run, tdm_buf_str(&name));
	tdm_buf_done(&name);
	int64_t now = tdm_signed(tdm_operation_all_banks(dram, o->bytes[TDM_KIND_DRAM]));
	run->overall_peak = run->phase_count == 1 || now > run->overall_peak ? now : run->overall_peak;
	run->final_current = now;
	phase->figures.dram_cumulative_current = now;
	phase->figures.dram_cumulative_peak = run->overall_peak;
	phase->figures.dram_change = tdm_phase_difference(now, before);
	if (o->cb_bytes != TDM_BYTES_UNKNOWN)
		phase->figures.l1_peak_cb = tdm_signed(o->cb_bytes);
}

/* The unit of a rank with the fullest DRAM. */
static const struct tdm_operation_unit *dram_of(const struct tdm_operation_memory *m, uint32_t rank)
{
	const struct tdm_operation_unit *best = NULL;
	for (size_t i = 0; i < m->unit_count; i++)
		if (m->units[i].kind == TDM_KIND_DRAM && m->units[i].rank == rank &&
			(best == NULL || m->units[i].peak_bytes > best->peak_bytes))
			best = &m->units[i];
	return best;
}

int tdm_operation_memory_runs(const struct tdm_operation_memory *m, struct tdm_phase_runs *runs, struct tdm_diag *diag)
{
	struct tdm_phase_run *run = NULL;
	const struct tdm_operation_unit *dram = NULL;
	for (uint32_t i = 0; i < m->operation_count; i++) {
		uint32_t rank = m->operations[i].rank;
		if (i == 0 || rank != m->operations[i - 1].rank) {
			char name[32] = "operations";
			dram = dram_of(m, rank);
			if (dram == NULL || dram->banks == 0)
				return tdm_diag_set(diag, TDM_EUNKNOWN, 0, 0,
					dram == NULL ? "no buffer in DRAM is in it"
						     : "it does not say how many banks DRAM has; tidemark info shows "
						       "one bank");
			if (m->operations[m->operation_count - 1].rank != 0)
				snprintf(name, sizeof name, "operations of rank %" PRIu32, rank);
			run = tdm_phase_runs_add(runs, tdm_str_of(name));
			run->device_memory_bytes = tdm_operation_all_banks(dram, dram->bank_size);
			run->device_count = 1;
			run->peak_so_far = true; /* use within operations is unknown */
		}
		if (run->phase_count == TDM_PHASES_MAX)
			run->incomplete = true;
		else
			add_phase(m, i, dram, run);
	}
	return 0;
}
