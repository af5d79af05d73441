/* Long: devices, buffers and program memory make one account, and each peak needs all three. */
#include "analyze/capture_exact.h"
#include "base/number.h"
#include "base/reserve.h"
#include "base/search.h"
#include "base/units.h"

#include <errno.h>
#include <stdlib.h>

enum { CHIPS_MAX = 1024, DEVICES_MAX = 1024 };
enum { KEPT_MAX = 64 }; /* of the allocations before one that shows that a new program has begun */

/* Without named devices, all nodes belong to one. */
static const uint64_t no_id = UINT64_MAX;

int tdm_capture_exact_init(struct tdm_capture_exact *e)
{
	*e = (struct tdm_capture_exact){ 0 };
	if (tdm_capture_paths_init(&e->paths) == 0 && tdm_map_init(&e->unit_of) == 0 &&
		tdm_map_init(&e->chip_of) == 0 && tdm_map_init(&e->waiting) == 0 && tdm_map_init(&e->begun) == 0)
		return 0;
	tdm_capture_exact_done(e);
	return -ENOMEM;
}

void tdm_capture_exact_done(struct tdm_capture_exact *e)
{
	for (size_t i = 0; i < e->unit_count; i++)
		free(e->units[i].peak_program);
	for (size_t i = 0; i < e->chip_count; i++) {
		tdm_program_memory_done(&e->chips[i].memory);
		free(e->chips[i].live);
	}
	free(e->buffers);
	free(e->units);
	free(e->chips);
	free(e->devices);
	tdm_map_done(&e->unit_of);
	tdm_map_done(&e->chip_of);
	tdm_map_done(&e->waiting);
	tdm_map_done(&e->begun);
	tdm_capture_paths_done(&e->paths);
	*e = (struct tdm_capture_exact){ 0 };
}

static void add(int64_t *to, int64_t bytes)
{
	if (__builtin_add_overflow(*to, bytes, to))
		*to = bytes < 0 ? INT64_MIN / 2 : INT64_MAX / 2;
}

static void raise_peak(struct tdm_exact_peak *peak, int64_t now, uint64_t at)
{
	if (now > peak->bytes)
		*peak = (struct tdm_exact_peak){ now, (uint32_t)at };
}

/* ---- devices ---- */

static uint64_t id_of(const struct tdm_capture_node *node)
{
	return node->device.state == TDM_CAPTURE_GIVEN ? (uint64_t)node->device.value : no_id;
}

/* The unit of an id, created if new; NULL when there are too many or memory has run out. */
static struct tdm_exact_unit *get_unit(struct tdm_capture_exact *e, uint64_t id, size_t *index)
{
	uint32_t found = tdm_map_find(&e->unit_of, id);
	if (found == TDM_MAP_NONE) {
		if (e->unit_count == TDM_EXACT_UNITS_MAX ||
			tdm_reserve(&e->units, &e->unit_cap, e->unit_count + 1, sizeof *e->units) != 0 ||
			tdm_map_put(&e->unit_of, id, (uint32_t)e->unit_count) != 0)
			return NULL;
		found = (uint32_t)e->unit_count++;
		e->units[found] = (struct tdm_exact_unit){ .id = id != no_id ? id : 0, .has_id = id != no_id };
	}
	*index = found;
	return &e->units[found];
}

/* The unit that a chip without a known mesh belongs to. */
static struct tdm_exact_unit *guess_unit(struct tdm_capture_exact *e, uint64_t chip, size_t *index, uint8_t *mapping)
{
	size_t holders = 0;
	uint32_t same = tdm_map_find(&e->unit_of, chip);
	for (size_t i = 0; i < e->unit_count; i++)
		if (e->units[i].has_buffers) {
			*index = i;
			holders++;
		}
	bool same_holds = same != TDM_MAP_NONE && e->units[same].has_buffers;
	*mapping = holders == 1 && !same_holds ? TDM_EXACT_MAP_ONLY : TDM_EXACT_MAP_SAME;
	return *mapping == TDM_EXACT_MAP_ONLY ? &e->units[*index] : get_unit(e, chip, index);
}

static struct tdm_exact_chip *get_chip(struct tdm_capture_exact *e, uint64_t id)
{
	uint32_t found = tdm_map_find(&e->chip_of, id);
	if (found != TDM_MAP_NONE)
		return &e->chips[found];
	if (e->chip_count == CHIPS_MAX ||
		tdm_reserve(&e->chips, &e->chip_cap, e->chip_count + 1, sizeof *e->chips) != 0 ||
		tdm_map_put(&e->chip_of, id, (uint32_t)e->chip_count) != 0)
		return NULL;
	struct tdm_exact_chip *chip = &e->chips[e->chip_count++];
	*chip = (struct tdm_exact_chip){ .id = id, .unit = UINT16_MAX, .mapping = TDM_EXACT_MAP_SAME };
	return chip;
}

int tdm_capture_exact_member(struct tdm_capture_exact *e, uint64_t mesh, uint64_t id)
{
	size_t index;
	struct tdm_exact_unit *unit = get_unit(e, mesh, &index);
	struct tdm_exact_chip *chip = unit != NULL ? get_chip(e, id) : NULL;
	if (chip == NULL)
		return e->unit_count == TDM_EXACT_UNITS_MAX || e->chip_count == CHIPS_MAX ? 0 : -ENOMEM;
	if (chip->live_count == 0 || chip->unit == index) {
		chip->unit = (uint16_t)index;
		chip->mapping = TDM_EXACT_MAP_SAID;
	}
	return 0;
}

int tdm_capture_exact_device(struct tdm_capture_exact *e, const struct tdm_capture_device *device)
{
	if (e->device_count == DEVICES_MAX)
		return 0;
	struct tdm_capture_device *grown = realloc(e->devices, (e->device_count + 1) * sizeof *grown);
	if (grown == NULL)
		return -ENOMEM;
	e->devices = grown;
	e->devices[e->device_count++] = *device;
	return 0;
}

/* ---- peaks ---- */

/* The chips of a device are not added up: returns the one with the fullest core; *sum is the most in all cores of any
 * one. */
static struct tdm_exact_chip *fullest_chip(const struct tdm_capture_exact *e, size_t unit, uint64_t *sum)
{
	struct tdm_exact_chip *fullest = NULL;
	*sum = 0;
	for (size_t i = 0; i < e->chip_count; i++) {
		if (e->chips[i].unit != unit)
			continue;
		if (fullest == NULL || e->chips[i].memory.max_total > fullest->memory.max_total)
			fullest = &e->chips[i];
		if (e->chips[i].memory.sum > *sum)
			*sum = e->chips[i].memory.sum;
	}
	return fullest;
}

static int64_t bank_now(const struct tdm_exact_unit *unit)
{
	return unit->kinds[TDM_KIND_L1].bank_now + unit->kinds[TDM_KIND_L1_SMALL].bank_now;
}

static int64_t l1_now(const struct tdm_exact_unit *unit)
{
	return unit->kinds[TDM_KIND_L1].now + unit->kinds[TDM_KIND_L1_SMALL].now;
}

static int64_t dram_now(const struct tdm_exact_unit *unit)
{
	return unit->kinds[TDM_KIND_DRAM].now + unit->kinds[TDM_KIND_TRACE].now;
}

/* L1 of a device has grown. */
static void raise_core(struct tdm_capture_exact *e, size_t index, uint64_t at)
{
	struct tdm_exact_unit *unit = &e->units[index];
	uint64_t sum;
	const struct tdm_exact_chip *chip = fullest_chip(e, index, &sum);
	int64_t total = bank_now(unit) + (chip != NULL ? (int64_t)chip->memory.max_total : 0);
	if (tdm_capture_paths_raise(&e->paths, tdm_capture_paths_now(&e->paths), (uint32_t)index, total) != 0)
		e->paths.overflow++;
	raise_peak(&unit->device, l1_now(unit) + (int64_t)sum, at);
	if (total <= unit->core.bytes)
		return;
	unit->core = (struct tdm_exact_peak){ total, (uint32_t)at };
	free(unit->peak_program);
	unit->peak_program = NULL;
	unit->peak_saved = false;
	unit->peak_chip = chip != NULL ? (uint32_t)(chip - e->chips) : UINT32_MAX;
	unit->peak_epoch = chip != NULL ? chip->epoch : 0;
	unit->peak_count = chip != NULL ? chip->live_count : 0;
	unit->has_peak_core = chip != NULL && !chip->memory.cores_unknown &&
			      tdm_program_memory_worst(&chip->memory, &unit->peak_x, &unit->peak_y);
}

/* ---- buffers ---- */

static uint64_t index_of(const void *buffers, size_t i)
{
	return ((const struct tdm_exact_buffer *)buffers)[i].index;
}

static struct tdm_exact_buffer *find_buffer(const struct tdm_capture_exact *e, int64_t index)
{
	size_t at = index >= 0 ? tdm_search_back(e->buffers, e->buffer_count, (uint64_t)index, index_of) : SIZE_MAX;
	return at != SIZE_MAX ? &e->buffers[at] : NULL;
}

/* A buffer as its node describes it; NULL when there is no room. */
static struct tdm_exact_buffer *new_buffer(struct tdm_capture_exact *e, const struct tdm_capture_node *node)
{
	size_t unit;
	if (get_unit(e, id_of(node), &unit) == NULL ||
		tdm_reserve(&e->buffers, &e->buffer_cap, e->buffer_count + 1, sizeof *e->buffers) != 0)
		return NULL;
	struct tdm_exact_buffer *b = &e->buffers[e->buffer_count++];
	e->units[unit].has_buffers = true;
	*b = (struct tdm_exact_buffer){
		.size = (uint64_t)node->size.value,
		.bank_bytes = TDM_BYTES_UNKNOWN,
		.index = (uint32_t)node->index,
		.to = TDM_EXACT_NEVER,
		.path = tdm_capture_paths_now(&e->paths),
		.unit = (uint16_t)unit,
		.kind = (uint8_t)tdm_capture_kind(node),
		.state = TDM_EXACT_NEW,
	};
	return b;
}

static struct tdm_exact_kind *kind_of(const struct tdm_capture_exact *e, const struct tdm_exact_buffer *b)
{
	return &e->units[b->unit].kinds[b->kind];
}

/* No allocation followed the buffer node: the buffer is from before the capture. */
static void settle(struct tdm_capture_exact *e)
{
	struct tdm_exact_buffer *b = e->fresh != 0 ? &e->buffers[e->fresh - 1] : NULL;
	e->fresh = 0;
	if (b == NULL || b->state != TDM_EXACT_NEW)
		return;
	b->state = TDM_EXACT_EXISTING;
	b->existed = true;
	b->path = TDM_PATH_ROOT;
	kind_of(e, b)->existing++;
	kind_of(e, b)->existing_bytes += b->size;
}

static int on_buffer(struct tdm_capture_exact *e, const struct tdm_capture_node *node)
{
	struct tdm_exact_buffer *b = new_buffer(e, node);
	if (b == NULL) {
		e->ignored++;
		return 0;
	}
	e->fresh = e->buffer_count;
	if (node->connection.state != TDM_CAPTURE_GIVEN)
		return 0;
	uint64_t tensor = (uint64_t)node->connection.value;
	if (tensor > node->index)
		return tdm_map_put(&e->waiting, tensor, (uint32_t)(e->buffer_count - 1));
	for (size_t i = 0; i < sizeof e->recent / sizeof *e->recent; i++)
		if (e->recent[i].index == tensor && e->recent[i].shape != 0)
			b->shape = e->recent[i].shape;
	return 0;
}

/* "Shape([1, 3, 32, 32])" and "DataType::BFLOAT16" as "[1, 3, 32, 32] BFLOAT16". */
static uint32_t shape_text(struct tdm_capture_exact *e, const struct tdm_capture_node *node)
{
	char text[2 * TDM_CAPTURE_TEXT_CAP];
	const char *open = node->shape.len != 0 ? memchr(node->shape.ptr, '[', node->shape.len) : NULL;
	if (open == NULL)
		return 0;
	size_t len = 0, left = node->shape.len - (size_t)(open - node->shape.ptr);
	const char *close = memchr(open, ']', left);
	len = close != NULL ? (size_t)(close - open) + 1 : left;
	memcpy(text, open, len);
	struct tdm_str type = node->dtype;
	const char *colon = type.len != 0 ? memrchr(type.ptr, ':', type.len) : NULL;
	if (colon != NULL)
		type = (struct tdm_str){ colon + 1, type.len - (size_t)(colon + 1 - type.ptr) };
	if (type.len != 0) {
		text[len++] = ' ';
		memcpy(text + len, type.ptr, type.len);
		len += type.len;
	}
	return tdm_capture_paths_text(&e->paths, (struct tdm_str){ text, len });
}

static void on_tensor(struct tdm_capture_exact *e, const struct tdm_capture_node *node)
{
	uint32_t shape = shape_text(e, node), buffer = tdm_map_take(&e->waiting, node->index);
	if (buffer != TDM_MAP_NONE)
		e->buffers[buffer].shape = shape;
	e->recent[e->recent_at].index = node->index;
	e->recent[e->recent_at].shape = shape;
	e->recent_at = (e->recent_at + 1) % (uint32_t)(sizeof e->recent / sizeof *e->recent);
}

/* Adds or removes the bytes of a live buffer; `sign` is 1 or -1. */
static void count_buffer(struct tdm_capture_exact *e, const struct tdm_exact_buffer *b, int sign)
{
	struct tdm_exact_kind *kind = kind_of(e, b);
	add(&kind->now, sign * (int64_t)b->size);
	if (b->bank_bytes != TDM_BYTES_UNKNOWN)
		add(&kind->bank_now, sign * (int64_t)b->bank_bytes);
}

/* The buffer of a node that is allocated again after it was freed: its first life is kept as a buffer of its own. */
static struct tdm_exact_buffer *renew(
	struct tdm_capture_exact *e, const struct tdm_exact_buffer *b, const struct tdm_capture_node *node)
{
	size_t at = (size_t)(b - e->buffers);
	if (tdm_reserve(&e->buffers, &e->buffer_cap, e->buffer_count + 1, sizeof *e->buffers) != 0)
		return NULL;
	struct tdm_exact_buffer *first = &e->buffers[e->buffer_count++];
	*first = e->buffers[at];
	first->index = (uint32_t)node->index;
	return &e->buffers[at];
}

static void on_allocate(struct tdm_capture_exact *e, const struct tdm_capture_node *node)
{
	struct tdm_exact_buffer *b =
		node->connection.state == TDM_CAPTURE_GIVEN ? find_buffer(e, node->connection.value) : NULL;
	if (b == NULL)
		b = new_buffer(e, node);
	else if (b->state == TDM_EXACT_FREED)
		b = renew(e, b, node);
	if (b == NULL) {
		e->ignored++;
		return;
	}
	if (b->state == TDM_EXACT_LIVE) {
		e->rereports++;
		return;
	}
	struct tdm_exact_kind *kind = kind_of(e, b);
	if (b->state == TDM_EXACT_EXISTING) {
		kind->existing--;
		kind->existing_bytes -= b->size;
	}
	b->size = (uint64_t)node->size.value;
	b->bank_bytes =
		node->bank_size.state == TDM_CAPTURE_GIVEN ? (uint64_t)node->bank_size.value : TDM_BYTES_UNKNOWN;
	b->state = TDM_EXACT_LIVE;
	b->existed = false;
	b->from = (uint32_t)node->index;
	b->to = TDM_EXACT_NEVER;
	b->path = tdm_capture_paths_now(&e->paths);
	kind->allocs++;
	kind->alloc_bytes += b->size;
	kind->bank_unknown += b->bank_bytes == TDM_BYTES_UNKNOWN;
	struct tdm_capture_path *path = &e->paths.paths[b->path];
	path->buffers++;
	path->dram_bytes += b->kind == TDM_KIND_DRAM || b->kind == TDM_KIND_TRACE ? b->size : 0;
	path->l1_bytes += b->kind == TDM_KIND_L1 || b->kind == TDM_KIND_L1_SMALL ? b->size : 0;

	struct tdm_exact_unit *unit = &e->units[b->unit];
	count_buffer(e, b, 1);
	raise_peak(&kind->asked, kind->now, node->index);
	raise_peak(&kind->bank, kind->bank_now, node->index);
	if (b->kind == TDM_KIND_L1 || b->kind == TDM_KIND_L1_SMALL) {
		raise_peak(&unit->l1_core, bank_now(unit), node->index);
		raise_core(e, b->unit, node->index);
	} else {
		raise_peak(&unit->dram, dram_now(unit), node->index);
	}
}

static void on_deallocate(struct tdm_capture_exact *e, const struct tdm_capture_node *node)
{
	struct tdm_exact_buffer *b = find_buffer(e, node->connection.value);
	if (b == NULL) {
		e->unknown_frees++;
		return;
	}
	if (b->state == TDM_EXACT_FREED) {
		e->double_frees++;
		return;
	}
	struct tdm_exact_kind *kind = kind_of(e, b);
	if (b->state == TDM_EXACT_EXISTING && node->bank_size.state == TDM_CAPTURE_GIVEN) {
		b->bank_bytes = (uint64_t)node->bank_size.value;
		kind->existing_bank_bytes += b->bank_bytes;
	}
	count_buffer(e, b, -1);
	kind->frees++;
	kind->free_bytes += b->size;
	b->state = TDM_EXACT_FREED;
	b->to = (uint32_t)node->index;
}

/* ---- program memory ---- */

static int add_live(struct tdm_capture_exact *e, struct tdm_exact_chip *chip, const struct tdm_capture_node *node,
	uint32_t cores, const struct tdm_core_mask *mask)
{
	if (chip->live_count == UINT32_MAX - 1 ||
		tdm_reserve(&chip->live, &chip->live_cap, chip->live_count + 1, sizeof *chip->live) != 0)
		return -ENOMEM;
	chip->live[chip->live_count++] = (struct tdm_exact_program){
		.size = (uint64_t)node->size.value,
		.address = (uint64_t)node->address.value,
		.node = (uint32_t)node->index,
		.path = tdm_capture_paths_now(&e->paths),
		.cores = cores,
		.kind = (uint8_t)tdm_capture_kind(node),
		.mask = *mask,
	};
	return 0;
}

/* Nearly always the cores are one range, the same as last time. */
static const struct tdm_core_mask *mask_of_range(
	struct tdm_capture_exact *e, const struct tdm_core_range *range, uint32_t *cores)
{
	if (e->range_cores == 0 || memcmp(&e->range, range, sizeof *range) != 0) {
		e->range = *range;
		e->range_mask = (struct tdm_core_mask){ 0 };
		tdm_core_mask_add(&e->range_mask, range);
		e->range_cores = tdm_core_mask_count(&e->range_mask);
	}
	*cores = e->range_cores;
	return &e->range_mask;
}

static uint32_t mask_of_ranges(const struct tdm_capture_node *node, struct tdm_core_mask *mask)
{
	*mask = (struct tdm_core_mask){ 0 };
	for (uint32_t i = 0; i < node->range_count; i++)
		tdm_core_mask_add(mask, &node->ranges[i]);
	return tdm_core_mask_count(mask);
}

/* The program memory at a peak is copied when it is released, not each time the peak rises. */
static int save_peak(struct tdm_exact_unit *unit, const struct tdm_exact_chip *chip)
{
	if (unit->peak_count != 0) {
		unit->peak_program = malloc(unit->peak_count * sizeof *unit->peak_program);
		if (unit->peak_program == NULL)
			return -ENOMEM;
		memcpy(unit->peak_program, chip->live, unit->peak_count * sizeof *unit->peak_program);
	}
	unit->peak_saved = true;
	return 0;
}

static int clear_chip(struct tdm_capture_exact *e, size_t index)
{
	struct tdm_exact_chip *chip = &e->chips[index];
	if (chip->live_count == 0)
		return 0;
	if (chip->unit != UINT16_MAX) {
		struct tdm_exact_unit *unit = &e->units[chip->unit];
		if (unit->peak_chip == index && unit->peak_epoch == chip->epoch && !unit->peak_saved &&
			unit->core.bytes > 0 && save_peak(unit, chip) != 0)
			return -ENOMEM;
	}
	tdm_program_memory_clear(&chip->memory);
	chip->live_count = 0;
	chip->epoch++;
	return 0;
}

/* The first `gone` allocations belong to a program that has been replaced; the others are kept. */
static int replace(struct tdm_capture_exact *e, struct tdm_exact_chip *chip, uint32_t gone)
{
	uint64_t kept[TDM_PROGRAM_KINDS] = { 0 };
	uint32_t count = chip->live_count - gone;
	int err = clear_chip(e, (size_t)(chip - e->chips));
	if (count != 0)
		memmove(chip->live, chip->live + gone, count * sizeof *chip->live);
	for (uint32_t i = 0; i < count && err == 0; i++) {
		const struct tdm_exact_program *p = &chip->live[i];
		enum tdm_program_kind kind = tdm_program_kind((enum tdm_kind)p->kind);
		kept[kind] += p->size;
		err = tdm_program_memory_add(&chip->memory, &p->mask, kind, p->address, p->size);
	}
	chip->live_count = err == 0 ? count : 0;
	for (int kind = 0; kind < TDM_PROGRAM_KINDS; kind++) {
		uint64_t left = tdm_min(chip->counted[kind], kept[kind]);
		e->replaced[kind] += chip->counted[kind] - left;
		chip->counted[kind] = left;
	}
	return err;
}

/* Before an allocation: memory of another program is gone. */
static int begin_program(struct tdm_capture_exact *e, struct tdm_exact_chip *chip)
{
	bool is_released = chip->live_count == 0 && chip->is_released;
	if (e->begun.count != 0) {
		is_released |= tdm_map_take(&e->begun, chip->id) != TDM_MAP_NONE;
		is_released |= tdm_map_take(&e->begun, no_id) != TDM_MAP_NONE;
		if (chip->unit < e->unit_count)
			is_released |= tdm_map_take(&e->begun, e->units[chip->unit].id) != TDM_MAP_NONE;
	}
	if (chip->live_count == 0)
		chip->is_released = is_released;
	if (chip->steps == e->steps)
		return 0;
	chip->steps = e->steps;
	chip->is_released = is_released;
	return replace(e, chip, chip->live_count);
}

/*
 * Before an allocation in the same function as those before it: whether it belongs to the next program. That program
 * may have had memory already, on cores that the old program does not use. So all that came after the last allocation
 * that cannot be of the same program is kept. A capture that does not say which memory a tensor holds says nothing
 * here, since such memory is above all other.
 */
static int divide(struct tdm_capture_exact *e, struct tdm_exact_chip *chip, const struct tdm_capture_node *node,
	const struct tdm_core_mask *mask)
{
	enum tdm_kind kind = tdm_capture_kind(node);
	uint64_t address = (uint64_t)node->address.value;
	uint32_t gone = chip->live_count, first = gone > KEPT_MAX ? gone - KEPT_MAX : 0;
	if (node->size.value == 0 || !node->has_ranges || chip->memory.cores_unknown)
		return 0;
	enum tdm_program_order order = tdm_program_memory_order(&chip->memory, mask, tdm_program_kind(kind), address);
	if (order == TDM_PROGRAM_RESTARTS && kind == TDM_KIND_CB && node->globally_allocated.state != TDM_CAPTURE_GIVEN)
		order = TDM_PROGRAM_UNCLEAR;
	e->undivided += order == TDM_PROGRAM_UNCLEAR && !chip->is_released;
	if (order != TDM_PROGRAM_RESTARTS)
		return 0;
	for (; gone > first; gone--) {
		const struct tdm_exact_program *p = &chip->live[gone - 1];
		if (p->kind == kind && p->address != 0 && address < p->address + p->size &&
			tdm_core_masks_meet(&p->mask, mask))
			break;
	}
	gone = gone > first ? gone : chip->live_count;
	e->undivided += chip->live_count - gone;
	return replace(e, chip, gone);
}

static int on_program(struct tdm_capture_exact *e, const struct tdm_capture_node *node)
{
	struct tdm_core_mask several;
	const struct tdm_core_mask *mask = &several;
	struct tdm_exact_chip *chip = get_chip(e, id_of(node));
	struct tdm_exact_unit *unit;
	size_t index = 0;
	int err = chip != NULL ? begin_program(e, chip) : 0;
	if (err != 0)
		return err;
	if (chip != NULL && chip->mapping != TDM_EXACT_MAP_SAID && chip->live_count == 0) {
		unit = guess_unit(e, chip->id, &index, &chip->mapping);
		chip->unit = unit != NULL ? (uint16_t)index : UINT16_MAX;
	}
	if (chip == NULL || chip->unit == UINT16_MAX) {
		e->ignored++;
		return 0;
	}
	unit = &e->units[chip->unit];
	for (uint32_t i = 0; i < node->range_count; i++) {
		unit->grid_x = tdm_max(unit->grid_x, (uint64_t)node->ranges[i].x1 + 1);
		unit->grid_y = tdm_max(unit->grid_y, (uint64_t)node->ranges[i].y1 + 1);
	}
	if (tdm_capture_is_view(node)) {
		e->views++;
		unit->views++;
		return 0;
	}
	uint32_t cores = 0;
	if (node->range_count == 1)
		mask = mask_of_range(e, &node->ranges[0], &cores);
	else
		cores = mask_of_ranges(node, &several);
	if (node->has_ranges && cores == 0)
		return 0; /* on no core */
	enum tdm_program_kind kind = tdm_program_kind(tdm_capture_kind(node));
	err = divide(e, chip, node, mask);
	if (err == 0)
		err = add_live(e, chip, node, cores, mask);
	if (err == 0)
		err = tdm_program_memory_add(&chip->memory, node->has_ranges ? mask : NULL, kind,
			(uint64_t)node->address.value, (uint64_t)node->size.value);
	if (err != 0)
		return err;
	chip->counted[kind] += (uint64_t)node->size.value;
	chip->cores_unknown = chip->cores_unknown || !node->has_ranges;
	raise_peak(&unit->program[kind], (int64_t)chip->memory.max[kind], node->index);
	raise_peak(&unit->program_total, (int64_t)chip->memory.max_total, node->index);
	raise_core(e, chip->unit, node->index);
	return 0;
}

/*
 * A release names a mesh, a chip, or neither. The runtime releases before each program, and when it destroys one, which
 * it does in the function that ran it.
 */
static int on_release_all(struct tdm_capture_exact *e, const struct tdm_capture_node *node)
{
	uint64_t id = id_of(node), left = 0;
	bool is_end = false;
	int err = 0;
	for (size_t i = 0; i < e->chip_count && err == 0; i++) {
		struct tdm_exact_chip *chip = &e->chips[i];
		bool of_mesh = chip->unit != UINT16_MAX && e->units[chip->unit].has_id && e->units[chip->unit].id == id;
		memset(chip->counted, 0, sizeof chip->counted);
		if (id == no_id || chip->id == id || of_mesh) {
			is_end |= chip->live_count != 0 && chip->steps == e->steps;
			chip->is_released = true;
			err = clear_chip(e, i);
		} else {
			for (int kind = 0; kind < TDM_PROGRAM_KINDS; kind++)
				left += chip->memory.plain[kind];
		}
	}
	memset(e->replaced, 0, sizeof e->replaced);
	if (left != 0)
		e->partial_releases++;
	e->cached_programs += tdm_map_take(&e->begun, id) != TDM_MAP_NONE;
	if (err == 0 && !is_end)
		err = tdm_map_put(&e->begun, id, 0);
	return err;
}

/* ---- all nodes ---- */

int tdm_capture_exact_apply(struct tdm_capture_exact *e, const struct tdm_capture_node *node)
{
	if (!node->usable || node->index >= TDM_EXACT_NEVER) {
		settle(e);
		return 0;
	}
	/* Only the allocation right after a buffer node makes it live; any other node means it existed before. */
	if (e->fresh != 0 &&
		(node->type != TDM_CAPTURE_BUFFER_ALLOCATE || node->connection.state != TDM_CAPTURE_GIVEN ||
			(uint64_t)node->connection.value != e->buffers[e->fresh - 1].index))
		settle(e);
	e->fresh = 0;
	switch (node->type) {
	case TDM_CAPTURE_FUNCTION_START:
		e->steps++;
		return tdm_capture_paths_enter(&e->paths, node->name);
	case TDM_CAPTURE_FUNCTION_END:
		e->steps++;
		tdm_capture_paths_leave(&e->paths);
		return 0;
	case TDM_CAPTURE_TENSOR:
		on_tensor(e, node);
		return 0;
	case TDM_CAPTURE_BUFFER:
		return on_buffer(e, node);
	case TDM_CAPTURE_BUFFER_ALLOCATE:
		on_allocate(e, node);
		return 0;
	case TDM_CAPTURE_BUFFER_DEALLOCATE:
		on_deallocate(e, node);
		return 0;
	case TDM_CAPTURE_CB_ALLOCATE:
	case TDM_CAPTURE_DFB_ALLOCATE:
	case TDM_CAPTURE_SCRATCHPAD_ALLOCATE:
		e->program_nodes++;
		return on_program(e, node);
	case TDM_CAPTURE_CB_DEALLOCATE_ALL:
		return on_release_all(e, node);
	default:
		return 0;
	}
}

static int by_size(const void *a, const void *b)
{
	const struct tdm_exact_program *x = a, *y = b;
	if (x->size != y->size)
		return x->size > y->size ? -1 : 1;
	return x->node < y->node ? -1 : 1;
}

/* Bytes in one core from before the capture. */
static int64_t existing_bank(const struct tdm_exact_unit *unit)
{
	return (int64_t)(unit->kinds[TDM_KIND_L1].existing_bank_bytes +
			 unit->kinds[TDM_KIND_L1_SMALL].existing_bank_bytes);
}

/* Which device was fullest while a path ran is known only now. */
static void end_paths(struct tdm_capture_exact *e)
{
	for (size_t i = 0; i < e->paths.count; i++) {
		struct tdm_capture_path *path = &e->paths.paths[i];
		if (path->core_peak != INT64_MIN)
			add(&path->core_peak, existing_bank(&e->units[path->core_unit]));
	}
	for (size_t i = 0; i < e->paths.other_count; i++) {
		struct tdm_capture_path_peak *other = &e->paths.others[i];
		struct tdm_capture_path *path = &e->paths.paths[other->path];
		add(&other->bytes, existing_bank(&e->units[other->unit]));
		if (other->bytes > path->core_peak) {
			path->core_peak = other->bytes;
			path->core_unit = other->unit;
		}
	}
}

int tdm_capture_exact_end(struct tdm_capture_exact *e)
{
	int err = 0;
	settle(e);
	e->cached_programs += e->begun.count;
	for (size_t i = 0; i < e->chip_count && err == 0; i++)
		err = clear_chip(e, i);
	for (size_t i = 0; i < e->unit_count; i++) {
		struct tdm_exact_unit *unit = &e->units[i];
		if (unit->peak_program != NULL)
			qsort(unit->peak_program, unit->peak_count, sizeof *unit->peak_program, by_size);
		for (int k = 0; k < TDM_KIND_COUNT; k++) {
			struct tdm_exact_kind *kind = &unit->kinds[k];
			add(&kind->asked.bytes, (int64_t)kind->existing_bytes);
			add(&kind->bank.bytes, (int64_t)kind->existing_bank_bytes);
		}
		const struct tdm_exact_kind *l1 = &unit->kinds[TDM_KIND_L1], *small = &unit->kinds[TDM_KIND_L1_SMALL];
		int64_t bank = existing_bank(unit);
		add(&unit->dram.bytes, (int64_t)(unit->kinds[TDM_KIND_DRAM].existing_bytes +
						 unit->kinds[TDM_KIND_TRACE].existing_bytes));
		add(&unit->l1_core.bytes, bank);
		add(&unit->core.bytes, bank);
		add(&unit->device.bytes, (int64_t)(l1->existing_bytes + small->existing_bytes));
	}
	end_paths(e);
	return err;
}
