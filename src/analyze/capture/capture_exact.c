/* The account of a graph capture; capture_exact.h states the rules. All of it is in one file because each peak depends
 * on devices, buffers and program memory together. */
#include "analyze/capture/capture_exact.h"
#include "base/number.h"
#include "base/memory.h"
#include "base/units.h"

#include <stdlib.h>

enum { CHIPS_MAX = 1024, DEVICES_MAX = 1024, PATHS_MAX = 1 << 16, STACK_MAX = 4096, PATH_SHOWN_MAX = 64 };
enum { KEPT_MAX = 64 }; /* allocations kept until a later one shows that a new program began before them */

/* Key of the device for nodes that name no device. */
static const uint64_t no_id = UINT64_MAX;

/* ---- program memory: classes of cores with the same contents, and their address spans ---- */

enum { SPANS_MAX = 256 }; /* maximum spans per class; any others are added up regardless of addresses */

static void memory_clear(struct tdm_program_memory *m)
{
	for (size_t i = 0; i < m->count; i++)
		free(m->classes[i].spans);
	struct tdm_program_class *classes = m->classes;
	size_t cap = m->cap;
	*m = (struct tdm_program_memory){ .classes = classes, .cap = cap };
}

void tdm_program_memory_done(struct tdm_program_memory *m)
{
	memory_clear(m);
	free(m->classes);
	*m = (struct tdm_program_memory){ 0 };
}

static void mask_add(struct tdm_core_mask *mask, const struct tdm_core_range *range)
{
	uint32_t width = (uint32_t)(range->x1 - range->x0 + 1);
	uint32_t columns = (width == 32 ? UINT32_MAX : (UINT32_C(1) << width) - 1) << range->x0;
	for (uint32_t y = range->y0; y <= range->y1; y++)
		mask->rows[y] |= columns;
}

/* Counts bits portably: old processors lack the instruction. */
static uint32_t count_bits(uint32_t word)
{
	word -= word >> 1 & 0x55555555;
	word = (word & 0x33333333) + (word >> 2 & 0x33333333);
	return ((word + (word >> 4)) & 0x0f0f0f0f) * 0x01010101 >> 24;
}

uint32_t tdm_core_mask_count(const struct tdm_core_mask *mask)
{
	uint32_t count = 0;
	for (size_t y = 0; y < TDM_CAPTURE_GRID; y++)
		count += count_bits(mask->rows[y]);
	return count;
}

static bool masks_meet(const struct tdm_core_mask *a, const struct tdm_core_mask *b)
{
	uint32_t any = 0;
	for (size_t y = 0; y < TDM_CAPTURE_GRID; y++)
		any |= a->rows[y] & b->rows[y];
	return any != 0;
}

static struct tdm_program_class *new_class(struct tdm_program_memory *m, const struct tdm_core_mask *mask)
{
	tdm_grow(&m->classes, &m->cap, m->count + 1, sizeof *m->classes);
	struct tdm_program_class *c = &m->classes[m->count++];
	*c = (struct tdm_program_class){ .mask = *mask, .cores = tdm_core_mask_count(mask) };
	return c;
}

/* Makes a class with the contents of class `from` for the cores in `mask`, which are removed from `from`. */
static struct tdm_program_class *split_class(
	struct tdm_program_memory *m, size_t from, const struct tdm_core_mask *mask)
{
	struct tdm_program_class *c = new_class(m, mask);
	struct tdm_program_class *old = &m->classes[from];
	uint32_t cores = c->cores;
	*c = *old;
	c->mask = *mask;
	c->cores = cores;
	c->spans = old->span_count != 0 ? tdm_copy_of(old->spans, old->span_count * sizeof *old->spans) : NULL;
	c->span_cap = old->span_count;
	old->cores -= cores;
	return c;
}

/* Adds a span, merging it with all spans that it touches. Returns the number of bytes not covered before. */
static uint64_t cover(struct tdm_program_class *c, struct tdm_program_span span)
{
	uint32_t first = 0, last;
	uint64_t fresh = span.end - span.begin;
	while (first < c->span_count && c->spans[first].end < span.begin)
		first++;
	for (last = first; last < c->span_count && c->spans[last].begin <= span.end; last++) {
		uint64_t from = tdm_max(c->spans[last].begin, span.begin), to = tdm_min(c->spans[last].end, span.end);
		fresh -= to > from ? to - from : 0;
	}
	if (first == last) {
		if (c->span_count == SPANS_MAX)
			return fresh;
		tdm_grow(&c->spans, &c->span_cap, c->span_count + 1U, sizeof *c->spans);
		memmove(&c->spans[first + 1], &c->spans[first], (c->span_count++ - first) * sizeof *c->spans);
		c->spans[first] = span;
		return fresh;
	}
	struct tdm_program_span *joined = &c->spans[first];
	joined->begin = tdm_min(joined->begin, span.begin);
	joined->end = tdm_max(c->spans[last - 1].end, span.end);
	memmove(joined + 1, &c->spans[last], (c->span_count - last) * sizeof *c->spans);
	c->span_count -= last - first - 1;
	return fresh;
}

static void put(struct tdm_program_memory *m, struct tdm_program_class *c, enum tdm_program_kind kind, uint64_t address,
	uint64_t size)
{
	uint64_t fresh = size, stacked = 0, all;
	struct tdm_program_span span = { address, address + size }, *kinds = &c->all[kind];
	if (address != 0 && size != 0) {
		fresh = cover(c, span);
		kinds->begin = kinds->end != 0 ? tdm_min(kinds->begin, span.begin) : span.begin;
		kinds->end = tdm_max(kinds->end, span.end);
	}
	c->bytes[kind] += fresh;
	c->total += fresh;
	c->stacked[kind] += size;
	for (int i = 0; i < TDM_PROGRAM_KINDS; i++)
		stacked += c->stacked[i];
	m->stacked[kind] = tdm_max(m->stacked[kind], c->stacked[kind]);
	m->stacked_total = tdm_max(m->stacked_total, stacked);
	m->max[kind] = tdm_max(m->max[kind], c->bytes[kind]);
	m->max_total = tdm_max(m->max_total, c->total);
	if (__builtin_mul_overflow(fresh, (uint64_t)c->cores, &all) || __builtin_add_overflow(m->sum, all, &m->sum))
		m->sum = UINT64_MAX / 2;
}

static void put_on(struct tdm_program_memory *m, const struct tdm_core_mask *mask, enum tdm_program_kind kind,
	uint64_t address, uint64_t size)
{
	struct tdm_core_mask both, rest, left = *mask; /* left: cores not found in any class so far */
	uint32_t any_left = UINT32_MAX;
	size_t count = m->count;
	for (size_t i = 0; i < count && any_left != 0; i++) {
		struct tdm_program_class *c = &m->classes[i];
		uint32_t any_both = 0, any_rest = 0;
		any_left = 0;
		for (size_t y = 0; y < TDM_CAPTURE_GRID; y++) {
			any_both |= both.rows[y] = c->mask.rows[y] & mask->rows[y];
			any_rest |= rest.rows[y] = c->mask.rows[y] & ~mask->rows[y];
			any_left |= left.rows[y] &= ~c->mask.rows[y];
		}
		if (any_both == 0)
			continue;
		if (any_rest != 0) {
			c = split_class(m, i, &both);
			m->classes[i].mask = rest;
		}
		put(m, c, kind, address, size);
	}
	if (tdm_core_mask_count(&left) != 0)
		put(m, new_class(m, &left), kind, address, size);
}

/* How the address of an allocation relates to earlier allocations of the same kind on the same cores. */
enum order {
	FOLLOWS,  /* above all of them, or there are none */
	UNCLEAR,  /* overlaps some of them, or an address is unknown */
	RESTARTS, /* at or below the first of their addresses */
};
static enum order memory_order(const struct tdm_program_memory *m, const struct tdm_core_mask *mask,
	enum tdm_program_kind kind, uint64_t address)
{
	enum order order = FOLLOWS;
	for (size_t i = 0; i < m->count; i++) {
		const struct tdm_program_class *c = &m->classes[i];
		if (c->stacked[kind] == 0 || !masks_meet(&c->mask, mask))
			continue;
		if (address != 0 && c->all[kind].end != 0 && address <= c->all[kind].begin)
			return RESTARTS;
		if (address == 0 || c->all[kind].end == 0 || address < c->all[kind].end)
			order = UNCLEAR;
	}
	return order;
}

void tdm_program_memory_add(struct tdm_program_memory *m, const struct tdm_core_mask *mask, enum tdm_program_kind kind,
	uint64_t address, uint64_t size)
{
	struct tdm_core_mask any;
	m->plain[kind] += size;
	if (mask == NULL) {
		memset(&any, 0xff, sizeof any);
		mask = &any;
		m->cores_unknown = true;
	}
	/* Fast path: nearly always all cores of a program have the same contents. */
	if (m->count == 1 && memcmp(&m->classes[0].mask, mask, sizeof *mask) == 0)
		put(m, &m->classes[0], kind, address, size);
	else
		put_on(m, mask, kind, address, size);
}

static bool memory_worst(const struct tdm_program_memory *m, uint32_t *x, uint32_t *y)
{
	uint32_t best = UINT32_MAX;
	for (size_t i = 0; i < m->count; i++) {
		const struct tdm_program_class *c = &m->classes[i];
		if (c->total != m->max_total || c->total == 0)
			continue;
		for (uint32_t row = 0; row < TDM_CAPTURE_GRID; row++)
			if (c->mask.rows[row] != 0) {
				uint32_t core = row * TDM_CAPTURE_GRID + (uint32_t)__builtin_ctz(c->mask.rows[row]);
				best = core < best ? core : best;
				break;
			}
	}
	*x = best % TDM_CAPTURE_GRID;
	*y = best / TDM_CAPTURE_GRID;
	return best != UINT32_MAX;
}

/* ---- paths ---- */

/* Enters a function. A call beyond the limits is attributed to the path that was running. */
static void enter(struct tdm_capture_paths *p, struct tdm_str name)
{
	uint32_t path = tdm_capture_paths_now(p), parent = path;
	if (p->depth == STACK_MAX) {
		p->lost_depth++;
		return;
	}
	uint32_t number = tdm_intern_text(&p->texts, name.len != 0 ? name : tdm_str_of("(no name)"));
	uint64_t key = (uint64_t)parent << 32 | number;
	uint32_t found = number != 0 ? tdm_map_find(&p->children, key) : TDM_MAP_NONE;
	if (found != TDM_MAP_NONE) {
		path = found;
	} else if (number != 0 && p->count < PATHS_MAX) {
		tdm_grow(&p->paths, &p->cap, p->count + 1, sizeof *p->paths);
		path = (uint32_t)p->count;
		tdm_map_set(&p->children, key, path);
		p->paths[p->count++] = (struct tdm_capture_path){ parent, number, .core_peak = INT64_MIN };
	}
	p->overflow += path == parent;
	p->paths[path].calls += path != parent;
	tdm_grow(&p->stack, &p->stack_cap, p->depth + 1, sizeof *p->stack);
	p->stack[p->depth++] = path;
}

/* Records that a core of a device holds `bytes` while the path runs. Keeps only the maximum per device. */
static void raise_path(struct tdm_capture_paths *p, uint32_t path, uint32_t unit, int64_t bytes)
{
	uint64_t key = (uint64_t)path << 32 | unit;
	uint32_t found = tdm_map_find(&p->peak_of, key);
	if (found != TDM_MAP_NONE) {
		p->peaks[found].bytes = tdm_max_signed(p->peaks[found].bytes, bytes);
		return;
	}
	tdm_grow(&p->peaks, &p->peak_cap, p->peak_count + 1, sizeof *p->peaks);
	tdm_map_set(&p->peak_of, key, (uint32_t)p->peak_count);
	p->peaks[p->peak_count++] = (struct tdm_capture_path_peak){ bytes, path, unit };
}

const char *tdm_capture_paths_text_of(const struct tdm_capture_paths *p, uint32_t number)
{
	return number != 0 ? p->texts.texts[number] : NULL;
}

const char *tdm_capture_paths_name(const struct tdm_capture_paths *p, uint32_t path)
{
	return p->texts.texts[p->paths[path].name];
}

void tdm_capture_paths_put(const struct tdm_capture_paths *p, uint32_t path, struct tdm_buf *out)
{
	uint32_t way[PATH_SHOWN_MAX];
	size_t count = 0;
	for (; path != TDM_PATH_ROOT; path = p->paths[path].parent)
		way[count++ % PATH_SHOWN_MAX] = path;
	for (size_t i = count; i-- > 0 && count - i <= PATH_SHOWN_MAX;) {
		tdm_buf_puts(out, i + 1 != count ? " > " : "");
		tdm_buf_puts(out, tdm_capture_paths_name(p, way[i % PATH_SHOWN_MAX]));
	}
}

/* ---- the account ---- */

void tdm_capture_exact_init(struct tdm_capture_exact *e)
{
	*e = (struct tdm_capture_exact){ 0 };
	tdm_intern_init(&e->paths.texts);
	tdm_grow(&e->paths.paths, &e->paths.cap, 1, sizeof *e->paths.paths);
	e->paths.paths[e->paths.count++] = (struct tdm_capture_path){ .core_peak = INT64_MIN };
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
	tdm_intern_done(&e->paths.texts);
	tdm_map_done(&e->paths.children);
	tdm_map_done(&e->paths.peak_of);
	free(e->paths.peaks);
	free(e->paths.paths);
	free(e->paths.stack);
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

/* The unit of an id, added if new; NULL if there are too many. */
static struct tdm_exact_unit *get_unit(struct tdm_capture_exact *e, uint64_t id, size_t *index)
{
	uint32_t found = tdm_map_find(&e->unit_of, id);
	if (found == TDM_MAP_NONE) {
		if (e->unit_count == TDM_EXACT_UNITS_MAX)
			return NULL;
		tdm_grow(&e->units, &e->unit_cap, e->unit_count + 1, sizeof *e->units);
		tdm_map_set(&e->unit_of, id, (uint32_t)e->unit_count);
		found = (uint32_t)e->unit_count++;
		e->units[found] = (struct tdm_exact_unit){ .id = id != no_id ? id : 0, .has_id = id != no_id };
	}
	*index = found;
	return &e->units[found];
}

/* The unit of a chip whose mesh is unknown. */
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
	if (e->chip_count == CHIPS_MAX)
		return NULL;
	tdm_grow(&e->chips, &e->chip_cap, e->chip_count + 1, sizeof *e->chips);
	tdm_map_set(&e->chip_of, id, (uint32_t)e->chip_count);
	struct tdm_exact_chip *chip = &e->chips[e->chip_count++];
	*chip = (struct tdm_exact_chip){ .id = id, .unit = UINT16_MAX, .mapping = TDM_EXACT_MAP_SAME };
	return chip;
}

void tdm_capture_exact_member(struct tdm_capture_exact *e, uint64_t mesh, uint64_t id)
{
	size_t index;
	struct tdm_exact_unit *unit = get_unit(e, mesh, &index);
	struct tdm_exact_chip *chip = unit != NULL ? get_chip(e, id) : NULL;
	if (chip != NULL && (chip->live_count == 0 || chip->unit == index)) {
		chip->unit = (uint16_t)index;
		chip->mapping = TDM_EXACT_MAP_SAID;
	}
}

void tdm_capture_exact_device(struct tdm_capture_exact *e, const struct tdm_capture_device *device)
{
	if (e->device_count == DEVICES_MAX)
		return;
	e->devices = tdm_realloc(e->devices, e->device_count + 1, sizeof *e->devices);
	e->devices[e->device_count++] = *device;
}

/* ---- peaks ---- */

static int64_t bank_now(const struct tdm_exact_unit *unit)
{
	return unit->kinds[TDM_KIND_L1].bank_now + unit->kinds[TDM_KIND_L1_SMALL].bank_now;
}

/* The L1 of a device has grown. Only the chip with the fullest core counts; chips are not added up. */
static void raise_core(struct tdm_capture_exact *e, size_t index, uint64_t at)
{
	struct tdm_exact_unit *unit = &e->units[index];
	const struct tdm_exact_chip *chip = NULL;
	uint64_t sum = 0; /* highest sum over the cores of one chip */
	for (size_t i = 0; i < e->chip_count; i++) {
		if (e->chips[i].unit != index)
			continue;
		if (chip == NULL || e->chips[i].memory.max_total > chip->memory.max_total)
			chip = &e->chips[i];
		sum = tdm_max(sum, e->chips[i].memory.sum);
	}
	int64_t total = bank_now(unit) + (chip != NULL ? (int64_t)chip->memory.max_total : 0);
	raise_path(&e->paths, tdm_capture_paths_now(&e->paths), (uint32_t)index, total);
	raise_peak(&unit->device, unit->kinds[TDM_KIND_L1].now + unit->kinds[TDM_KIND_L1_SMALL].now + (int64_t)sum, at);
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
			      memory_worst(&chip->memory, &unit->peak_x, &unit->peak_y);
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

/* Adds a buffer as described by its node; NULL if there are too many devices. */
static struct tdm_exact_buffer *new_buffer(struct tdm_capture_exact *e, const struct tdm_capture_node *node)
{
	size_t unit;
	if (get_unit(e, id_of(node), &unit) == NULL)
		return NULL;
	tdm_grow(&e->buffers, &e->buffer_cap, e->buffer_count + 1, sizeof *e->buffers);
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

/* No allocation followed the buffer node, so the buffer is older than the capture. */
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

static void on_buffer(struct tdm_capture_exact *e, const struct tdm_capture_node *node)
{
	struct tdm_exact_buffer *b = new_buffer(e, node);
	if (b == NULL) {
		e->ignored++;
		return;
	}
	e->fresh = e->buffer_count;
	if (node->connection.state != TDM_CAPTURE_GIVEN)
		return;
	uint64_t tensor = (uint64_t)node->connection.value;
	if (tensor > node->index) {
		tdm_map_set(&e->waiting, tensor, (uint32_t)(e->buffer_count - 1));
		return;
	}
	for (size_t i = 0; i < sizeof e->recent / sizeof *e->recent; i++)
		if (e->recent[i] == tensor && e->recent_shape[i] != 0)
			b->shape = e->recent_shape[i];
}

/* Turns "Shape([1, 3, 32, 32])" and "DataType::BFLOAT16" into "[1, 3, 32, 32] BFLOAT16". */
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
	return tdm_intern_text(&e->paths.texts, (struct tdm_str){ text, len });
}

static void on_tensor(struct tdm_capture_exact *e, const struct tdm_capture_node *node)
{
	uint32_t shape = shape_text(e, node), buffer = tdm_map_take(&e->waiting, node->index);
	if (buffer != TDM_MAP_NONE)
		e->buffers[buffer].shape = shape;
	e->recent[e->recent_at] = node->index;
	e->recent_shape[e->recent_at] = shape;
	e->recent_at = (e->recent_at + 1) % (uint32_t)(sizeof e->recent / sizeof *e->recent);
}

/* Adds or subtracts the bytes of a live buffer; `sign` is 1 or -1. */
static void count_buffer(struct tdm_capture_exact *e, const struct tdm_exact_buffer *b, int sign)
{
	struct tdm_exact_kind *kind = kind_of(e, b);
	add(&kind->now, sign * (int64_t)b->size);
	if (b->bank_bytes != TDM_BYTES_UNKNOWN)
		add(&kind->bank_now, sign * (int64_t)b->bank_bytes);
}

/* Adds a new entry for a buffer that is allocated again after being freed, so that each lifetime has its own entry. */
static struct tdm_exact_buffer *renew(struct tdm_capture_exact *e, const struct tdm_exact_buffer *b, uint32_t node)
{
	size_t at = (size_t)(b - e->buffers);
	tdm_grow(&e->buffers, &e->buffer_cap, e->buffer_count + 1, sizeof *e->buffers);
	e->buffers[e->buffer_count] = e->buffers[at];
	e->buffers[e->buffer_count++].index = node;
	return &e->buffers[at];
}

static void on_allocate(struct tdm_capture_exact *e, const struct tdm_capture_node *node)
{
	struct tdm_exact_buffer *b =
		node->connection.state == TDM_CAPTURE_GIVEN ? find_buffer(e, node->connection.value) : NULL;
	if (b == NULL)
		b = new_buffer(e, node);
	else if (b->state == TDM_EXACT_FREED)
		b = renew(e, b, (uint32_t)node->index);
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
	path->dram_bytes += (TDM_CAPTURE_IN_DRAM >> b->kind & 1) != 0 ? b->size : 0;
	path->l1_bytes += (TDM_CAPTURE_IN_L1 >> b->kind & 1) != 0 ? b->size : 0;

	struct tdm_exact_unit *unit = &e->units[b->unit];
	count_buffer(e, b, 1);
	raise_peak(&kind->asked, kind->now, node->index);
	raise_peak(&kind->bank, kind->bank_now, node->index);
	if (b->kind == TDM_KIND_L1 || b->kind == TDM_KIND_L1_SMALL) {
		raise_peak(&unit->l1_core, bank_now(unit), node->index);
		raise_core(e, b->unit, node->index);
	} else {
		raise_peak(&unit->dram, unit->kinds[TDM_KIND_DRAM].now + unit->kinds[TDM_KIND_TRACE].now, node->index);
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

/* Drops a chip's program memory. If that memory was part of the peak, copies it first: copying it here is cheaper than
 * each time the peak rises. */
static void clear_chip(struct tdm_capture_exact *e, size_t index)
{
	struct tdm_exact_chip *chip = &e->chips[index];
	struct tdm_exact_unit *unit = chip->unit != UINT16_MAX ? &e->units[chip->unit] : NULL;
	if (chip->live_count == 0)
		return;
	if (unit != NULL && unit->peak_chip == index && unit->peak_epoch == chip->epoch && !unit->peak_saved &&
		unit->core.bytes > 0) {
		if (unit->peak_count != 0)
			unit->peak_program = tdm_copy_of(chip->live, unit->peak_count * sizeof *chip->live);
		unit->peak_saved = true;
	}
	memory_clear(&chip->memory);
	chip->live_count = 0;
	chip->epoch++;
}

/* Drops the first `gone` allocations, which belong to a replaced program. */
static void replace(struct tdm_capture_exact *e, struct tdm_exact_chip *chip, uint32_t gone)
{
	uint64_t kept[TDM_PROGRAM_KINDS] = { 0 };
	uint32_t count = chip->live_count - gone;
	clear_chip(e, (size_t)(chip - e->chips));
	if (count != 0)
		memmove(chip->live, chip->live + gone, count * sizeof *chip->live);
	for (uint32_t i = 0; i < count; i++) {
		const struct tdm_exact_program *p = &chip->live[i];
		enum tdm_program_kind kind = tdm_program_kind((enum tdm_kind)p->kind);
		kept[kind] += p->size;
		tdm_program_memory_add(&chip->memory, &p->mask, kind, p->address, p->size);
	}
	chip->live_count = count;
	for (int kind = 0; kind < TDM_PROGRAM_KINDS; kind++) {
		uint64_t left = tdm_min(chip->counted[kind], kept[kind]);
		e->replaced[kind] += chip->counted[kind] - left;
		chip->counted[kind] = left;
	}
}

/* Before an allocation: drops the memory of the previous program. */
static void begin_program(struct tdm_capture_exact *e, struct tdm_exact_chip *chip)
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
		return;
	chip->steps = e->steps;
	chip->is_released = is_released;
	replace(e, chip, chip->live_count);
}

/*
 * Called before each subsequent allocation in the same function. Decides whether the new allocation belongs to the next
 * program. That program may already have memory on cores that the old program does not use, so everything after the
 * last overlapping allocation is kept. If the capture does not record which circular buffers are in a tensor's memory,
 * a restarting address proves nothing: tensors are above all other memory, so a circular buffer allocated after one
 * inside a tensor always seems to restart.
 */
static void divide(struct tdm_capture_exact *e, struct tdm_exact_chip *chip, const struct tdm_capture_node *node,
	const struct tdm_core_mask *mask)
{
	enum tdm_kind kind = tdm_capture_kind(node);
	uint64_t address = (uint64_t)node->address.value;
	uint32_t gone = chip->live_count, first = gone > KEPT_MAX ? gone - KEPT_MAX : 0;
	if (node->size.value == 0 || !node->has_ranges || chip->memory.cores_unknown)
		return;
	enum order order = memory_order(&chip->memory, mask, tdm_program_kind(kind), address);
	if (order == RESTARTS && kind == TDM_KIND_CB && node->globally_allocated.state != TDM_CAPTURE_GIVEN)
		order = UNCLEAR;
	e->undivided += order == UNCLEAR && !chip->is_released;
	if (order != RESTARTS)
		return;
	for (; gone > first; gone--) {
		const struct tdm_exact_program *p = &chip->live[gone - 1];
		if (p->kind == kind && p->address != 0 && address < p->address + p->size && masks_meet(&p->mask, mask))
			break;
	}
	gone = gone > first ? gone : chip->live_count;
	e->undivided += chip->live_count - gone;
	replace(e, chip, gone);
}

static void on_program(struct tdm_capture_exact *e, const struct tdm_capture_node *node)
{
	struct tdm_core_mask several = { 0 };
	const struct tdm_core_mask *mask = &several;
	struct tdm_exact_chip *chip = get_chip(e, id_of(node));
	struct tdm_exact_unit *unit;
	size_t index = 0;
	if (chip != NULL)
		begin_program(e, chip);
	if (chip != NULL && chip->mapping != TDM_EXACT_MAP_SAID && chip->live_count == 0) {
		unit = guess_unit(e, chip->id, &index, &chip->mapping);
		chip->unit = unit != NULL ? (uint16_t)index : UINT16_MAX;
	}
	if (chip == NULL || chip->unit == UINT16_MAX) {
		e->ignored++;
		return;
	}
	unit = &e->units[chip->unit];
	for (uint32_t i = 0; i < node->range_count; i++) {
		unit->grid_x = tdm_max(unit->grid_x, (uint64_t)node->ranges[i].x1 + 1);
		unit->grid_y = tdm_max(unit->grid_y, (uint64_t)node->ranges[i].y1 + 1);
	}
	if (tdm_capture_is_view(node)) {
		e->views++;
		unit->views++;
		return;
	}
	if (node->range_count == 1) { /* usually a single range, and the same one as last time */
		if (e->range_cores == 0 || memcmp(&e->range, node->ranges, sizeof e->range) != 0) {
			e->range = node->ranges[0];
			e->range_mask = (struct tdm_core_mask){ 0 };
			mask_add(&e->range_mask, &e->range);
			e->range_cores = tdm_core_mask_count(&e->range_mask);
		}
		mask = &e->range_mask;
	}
	for (uint32_t i = 0; mask == &several && i < node->range_count; i++)
		mask_add(&several, &node->ranges[i]);
	uint32_t cores = mask == &several ? tdm_core_mask_count(&several) : e->range_cores;
	if (node->has_ranges && cores == 0)
		return; /* on no core */
	enum tdm_program_kind kind = tdm_program_kind(tdm_capture_kind(node));
	divide(e, chip, node, mask);
	tdm_grow(&chip->live, &chip->live_cap, chip->live_count + (size_t)1, sizeof *chip->live);
	chip->live[chip->live_count++] = (struct tdm_exact_program){
		.size = (uint64_t)node->size.value,
		.address = (uint64_t)node->address.value,
		.node = (uint32_t)node->index,
		.path = tdm_capture_paths_now(&e->paths),
		.cores = cores,
		.kind = (uint8_t)tdm_capture_kind(node),
		.mask = *mask,
	};
	tdm_program_memory_add(&chip->memory, node->has_ranges ? mask : NULL, kind, (uint64_t)node->address.value,
		(uint64_t)node->size.value);
	chip->counted[kind] += (uint64_t)node->size.value;
	chip->cores_unknown = chip->cores_unknown || !node->has_ranges;
	raise_peak(&unit->program[kind], (int64_t)chip->memory.max[kind], node->index);
	raise_peak(&unit->program_total, (int64_t)chip->memory.max_total, node->index);
	raise_core(e, chip->unit, node->index);
}

/* A release names a mesh, a chip, or neither. The runtime releases memory before each program, and when a program is
 * destroyed, in the function that ran the program. */
static void on_release_all(struct tdm_capture_exact *e, const struct tdm_capture_node *node)
{
	uint64_t id = id_of(node), left = 0;
	bool is_end = false;
	for (size_t i = 0; i < e->chip_count; i++) {
		struct tdm_exact_chip *chip = &e->chips[i];
		bool of_mesh = chip->unit != UINT16_MAX && e->units[chip->unit].has_id && e->units[chip->unit].id == id;
		memset(chip->counted, 0, sizeof chip->counted);
		if (id == no_id || chip->id == id || of_mesh) {
			is_end |= chip->live_count != 0 && chip->steps == e->steps;
			chip->is_released = true;
			clear_chip(e, i);
		} else {
			for (int kind = 0; kind < TDM_PROGRAM_KINDS; kind++)
				left += chip->memory.plain[kind];
		}
	}
	memset(e->replaced, 0, sizeof e->replaced);
	if (left != 0)
		e->partial_releases++;
	e->cached_programs += tdm_map_take(&e->begun, id) != TDM_MAP_NONE;
	if (!is_end)
		tdm_map_set(&e->begun, id, 0);
}

/* ---- all nodes ---- */

void tdm_capture_exact_apply(struct tdm_capture_exact *e, const struct tdm_capture_node *node)
{
	if (!node->usable || node->index >= TDM_EXACT_NEVER) {
		settle(e);
		return;
	}
	/* Only an allocation directly after a buffer node creates the buffer; any other node means that the buffer
	 * already existed. */
	if (e->fresh != 0 &&
		(node->type != TDM_CAPTURE_BUFFER_ALLOCATE || node->connection.state != TDM_CAPTURE_GIVEN ||
			(uint64_t)node->connection.value != e->buffers[e->fresh - 1].index))
		settle(e);
	e->fresh = 0;
	switch (node->type) {
	case TDM_CAPTURE_FUNCTION_START:
		e->steps++;
		enter(&e->paths, node->name);
		break;
	case TDM_CAPTURE_FUNCTION_END:
		e->steps++;
		if (e->paths.lost_depth != 0)
			e->paths.lost_depth--;
		else if (e->paths.depth != 0)
			e->paths.depth--;
		break;
	case TDM_CAPTURE_TENSOR:
		on_tensor(e, node);
		break;
	case TDM_CAPTURE_BUFFER:
		on_buffer(e, node);
		break;
	case TDM_CAPTURE_BUFFER_ALLOCATE:
		on_allocate(e, node);
		break;
	case TDM_CAPTURE_BUFFER_DEALLOCATE:
		on_deallocate(e, node);
		break;
	case TDM_CAPTURE_CB_ALLOCATE:
	case TDM_CAPTURE_DFB_ALLOCATE:
	case TDM_CAPTURE_SCRATCHPAD_ALLOCATE:
		e->program_nodes++;
		on_program(e, node);
		break;
	case TDM_CAPTURE_CB_DEALLOCATE_ALL:
		on_release_all(e, node);
		break;
	default:
		break;
	}
}

static int by_size(const void *a, const void *b)
{
	const struct tdm_exact_program *x = a, *y = b;
	if (x->size != y->size)
		return x->size > y->size ? -1 : 1;
	return x->node < y->node ? -1 : 1;
}

/* Bytes in one core that were allocated before the capture. */
static int64_t existing_bank(const struct tdm_exact_unit *unit)
{
	return (int64_t)(unit->kinds[TDM_KIND_L1].existing_bank_bytes +
			 unit->kinds[TDM_KIND_L1_SMALL].existing_bank_bytes);
}

void tdm_capture_exact_end(struct tdm_capture_exact *e)
{
	settle(e);
	e->cached_programs += e->begun.count;
	for (size_t i = 0; i < e->chip_count; i++)
		clear_chip(e, i);
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
	/* Only now is it known which device was fullest while each path ran. */
	for (size_t i = 0; i < e->paths.peak_count; i++) {
		struct tdm_capture_path_peak *peak = &e->paths.peaks[i];
		int64_t *most = &e->paths.paths[peak->path].core_peak;
		add(&peak->bytes, existing_bank(&e->units[peak->unit]));
		*most = tdm_max_signed(*most, peak->bytes);
	}
}
