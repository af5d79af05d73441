/*
 * Both accounts process each node, the stock account first. Whenever a stock peak rises, the exact account's current
 * sums are stored in `at`. These sums form a chain from the runtime's figure to the exact figure, and each step of the
 * chain is one reason for the difference. Once the last node has been processed, the exact peaks are known, and
 * tdm_capture_explain() subtracts each sum from the next. The course is optional and used only for charts.
 */
#include "analyze/capture/capture_summary.h"
#include "base/memory.h"
#include "base/number.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- operations and devices ---- */

static int by_peak(const void *a, const void *b)
{
	const struct tdm_capture_operation *x = a, *y = b;
	if (x->core_peak != y->core_peak)
		return x->core_peak > y->core_peak ? -1 : 1;
	int order = tdm_order(y->dram_bytes + y->l1_bytes, x->dram_bytes + x->l1_bytes);
	return order != 0 ? order : tdm_order(x->path, y->path); /* callers before callees */
}

struct tdm_capture_operation *tdm_capture_operations(const struct tdm_capture_exact *exact, size_t *count)
{
	const struct tdm_capture_paths *paths = &exact->paths;
	*count = paths->count - 1;
	struct tdm_capture_operation *all = tdm_zalloc(paths->count, sizeof *all);
	for (uint32_t i = 0; i < paths->count; i++) {
		const struct tdm_capture_path *p = &paths->paths[i];
		all[i] = (struct tdm_capture_operation){ i, p->calls, p->buffers, p->dram_bytes, p->l1_bytes,
			p->core_peak };
	}
	/* Callees have higher indices than their callers, so each path is complete when added to its caller. */
	for (uint32_t i = (uint32_t)paths->count - 1; i > 0; i--) {
		struct tdm_capture_operation *caller = &all[paths->paths[i].parent];
		caller->buffers += all[i].buffers;
		caller->dram_bytes += all[i].dram_bytes;
		caller->l1_bytes += all[i].l1_bytes;
		caller->core_peak = all[i].core_peak > caller->core_peak ? all[i].core_peak : caller->core_peak;
	}
	memmove(all, all + 1, *count * sizeof *all); /* drops the root */
	qsort(all, *count, sizeof *all, by_peak);
	return all;
}

static const struct tdm_exact_peak *peak_of(const struct tdm_exact_unit *unit, enum tdm_stock_figure figure)
{
	return figure == TDM_STOCK_DRAM_PEAK              ? &unit->dram
	       : figure == TDM_STOCK_L1_PEAK              ? &unit->device
	       : figure == TDM_STOCK_CORE_PEAK_L1         ? &unit->l1_core
	       : figure == TDM_STOCK_CORE_PEAK_CB         ? &unit->program[TDM_PROGRAM_CB]
	       : figure == TDM_STOCK_CORE_PEAK_DFB        ? &unit->program[TDM_PROGRAM_DFB]
	       : figure == TDM_STOCK_CORE_PEAK_SCRATCHPAD ? &unit->program[TDM_PROGRAM_SCRATCHPAD]
							  : &unit->core;
}

int64_t tdm_capture_peak(const struct tdm_capture_exact *exact, size_t unit, enum tdm_stock_figure figure)
{
	const struct tdm_exact_unit *u = &exact->units[unit];
	bool is_unknown = (figure == TDM_STOCK_CORE_PEAK_L1 || figure == TDM_STOCK_CORE_PEAK_TOTAL) &&
			  u->kinds[TDM_KIND_L1].bank_unknown + u->kinds[TDM_KIND_L1_SMALL].bank_unknown != 0;
	for (size_t i = 0; figure == TDM_STOCK_L1_PEAK && i < exact->chip_count; i++)
		is_unknown |= exact->chips[i].unit == unit && exact->chips[i].cores_unknown;
	return is_unknown ? INT64_MIN : peak_of(u, figure)->bytes;
}

size_t tdm_capture_fullest(const struct tdm_capture_exact *exact, enum tdm_stock_figure figure)
{
	size_t best = SIZE_MAX;
	int64_t most = 0;
	for (size_t i = 0; i < exact->unit_count; i++)
		if (peak_of(&exact->units[i], figure)->bytes > most) {
			most = peak_of(&exact->units[i], figure)->bytes;
			best = i;
		}
	return best;
}

void tdm_capture_devices(const struct tdm_capture_exact *exact, const struct tdm_exact_unit *list[TDM_EXACT_UNITS_MAX])
{
	for (size_t i = 0; i < exact->unit_count; i++) {
		size_t k = i;
		for (; k > 0 && list[k - 1]->id > exact->units[i].id; k--)
			list[k] = list[k - 1];
		list[k] = &exact->units[i];
	}
}

const struct tdm_capture_device *tdm_capture_description(const struct tdm_capture_exact *e, size_t unit)
{
	for (size_t i = 0; i < e->device_count; i++)
		for (size_t k = 0; k < e->chip_count; k++)
			if (e->chips[k].unit == unit && e->chips[k].id == e->devices[i].id)
				return &e->devices[i];
	for (size_t i = 0; i < e->device_count; i++)
		if (e->units[unit].id == e->devices[i].id)
			return &e->devices[i];
	return e->device_count == 1 ? &e->devices[0] : NULL;
}

uint64_t tdm_capture_banks(const struct tdm_capture_exact *exact, size_t unit, enum tdm_kind kind)
{
	const struct tdm_capture_device *d = tdm_capture_description(exact, unit);
	if (d == NULL)
		return 0;
	return kind == TDM_KIND_L1 || kind == TDM_KIND_L1_SMALL  ? d->l1_banks
	       : kind == TDM_KIND_DRAM || kind == TDM_KIND_TRACE ? d->dram_channels
								 : 0;
}

uint64_t tdm_capture_capacity(const struct tdm_capture_exact *exact, size_t unit, bool is_dram)
{
	const struct tdm_capture_device *d = tdm_capture_description(exact, unit);
	uint64_t bytes = 0;
	if (d == NULL)
		return 0;
	if (is_dram)
		return __builtin_mul_overflow(d->dram_channels, d->dram_channel_size, &bytes) ? 0 : bytes;
	/* The L1 below the base contains firmware and kernels. */
	return d->l1_base != 0 && d->l1_base < d->worker_l1_size ? d->worker_l1_size - d->l1_base : d->l1_bank_size;
}

/* ---- one moment ---- */

/* A device's memory use at one moment. */
struct holding {
	int64_t dram, l1, bank;
	int64_t max_total, plain_total, stacked_total; /* on the chip with the fullest core */
	int64_t sum, sum_plain;                        /* on the chip with the highest sum over all cores */
};

/* Computes all devices in one pass over the chips, since there may be as many chips as devices. */
static void find_holdings(const struct tdm_capture_exact *e, struct holding *all)
{
	for (size_t i = 0; i < e->unit_count; i++) {
		const struct tdm_exact_kind *kinds = e->units[i].kinds;
		all[i] = (struct holding){
			.dram = kinds[TDM_KIND_DRAM].now + kinds[TDM_KIND_TRACE].now,
			.l1 = kinds[TDM_KIND_L1].now + kinds[TDM_KIND_L1_SMALL].now,
			.bank = kinds[TDM_KIND_L1].bank_now + kinds[TDM_KIND_L1_SMALL].bank_now,
		};
	}
	for (size_t i = 0; i < e->chip_count; i++) {
		const struct tdm_program_memory *m = &e->chips[i].memory;
		int64_t plain = 0;
		if (e->chips[i].unit >= e->unit_count)
			continue;
		struct holding *h = &all[e->chips[i].unit];
		for (int kind = 0; kind < TDM_PROGRAM_KINDS; kind++)
			plain += (int64_t)m->plain[kind];
		if ((int64_t)m->max_total > h->max_total) {
			h->max_total = (int64_t)m->max_total;
			h->stacked_total = (int64_t)m->stacked_total;
			h->plain_total = plain;
		}
		if ((int64_t)m->sum > h->sum) {
			h->sum = (int64_t)m->sum;
			h->sum_plain = plain;
		}
	}
}

/* Computes the sums for each of the runtime's figures. */
static void find_sums(const struct tdm_capture_exact *e, struct tdm_exact_sums sums[TDM_STOCK_FIGURES])
{
	static const enum tdm_stock_figure of_kind[TDM_PROGRAM_KINDS] = { TDM_STOCK_CORE_PEAK_CB,
		TDM_STOCK_CORE_PEAK_DFB, TDM_STOCK_CORE_PEAK_SCRATCHPAD };
	struct tdm_exact_sums *dram = &sums[TDM_STOCK_DRAM_PEAK], *bank = &sums[TDM_STOCK_CORE_PEAK_L1],
			      *device = &sums[TDM_STOCK_L1_PEAK], *core = &sums[TDM_STOCK_CORE_PEAK_TOTAL];
	struct holding all[TDM_EXACT_UNITS_MAX];
	memset(sums, 0, TDM_STOCK_FIGURES * sizeof *sums);
	find_holdings(e, all);
	for (size_t i = 0; i < e->unit_count; i++) {
		const struct holding *h = &all[i];
		dram->all += h->dram;
		dram->top = i == 0 ? h->dram : tdm_max_signed(dram->top, h->dram);
		bank->all += h->bank;
		bank->top = i == 0 ? h->bank : tdm_max_signed(bank->top, h->bank);
		device->all += h->l1;
		if (i == 0 || h->l1 + h->sum > device->top) {
			device->one = h->l1 + h->sum_plain;
			device->top = device->stacked = h->l1 + h->sum;
		}
		if (i == 0 || h->bank + h->max_total > core->top) {
			core->one = h->bank + h->plain_total;
			core->stacked = h->bank + h->stacked_total;
			core->top = h->bank + h->max_total;
		}
	}
	dram->one = dram->stacked = dram->top;
	bank->one = bank->stacked = bank->top;
	core->all = bank->all;
	for (int kind = 0; kind < TDM_PROGRAM_KINDS; kind++) {
		struct tdm_exact_sums *of = &sums[of_kind[kind]];
		of->replaced = (int64_t)e->replaced[kind];
		for (size_t i = 0; i < e->chip_count; i++) {
			const struct tdm_program_memory *m = &e->chips[i].memory;
			of->all += (int64_t)m->plain[kind];
			if (m->max[kind] == 0 || (int64_t)m->max[kind] < of->top)
				continue;
			of->one = (int64_t)m->plain[kind];
			of->stacked = (int64_t)m->stacked[kind];
			of->top = (int64_t)m->max[kind];
		}
		device->all += of->all;
		device->replaced += of->replaced;
		core->all += of->all;
		core->replaced += of->replaced;
	}
}

/* Largest first; if equal, older first. */
static int by_size(const void *left, const void *right)
{
	const struct tdm_exact_buffer *a = *(const struct tdm_exact_buffer *const *)left;
	const struct tdm_exact_buffer *b = *(const struct tdm_exact_buffer *const *)right;
	int order = tdm_order(b->size, a->size);
	return order != 0 ? order : tdm_order(a->index, b->index);
}

size_t tdm_capture_exact_alive(const struct tdm_capture_exact *e, size_t unit, unsigned kinds, uint32_t at,
	const struct tdm_exact_buffer **out, size_t cap)
{
	const struct tdm_exact_buffer **all = NULL;
	size_t count = 0, room = 0;
	for (size_t i = 0; i < e->buffer_count; i++) {
		const struct tdm_exact_buffer *b = &e->buffers[i];
		if (b->unit != unit || (kinds >> b->kind & 1) == 0 || b->from > at || b->to <= at)
			continue;
		tdm_grow(&all, &room, count + 1, sizeof(*all));
		all[count++] = b;
	}
	if (count != 0) {
		qsort(all, count, sizeof(*all), by_size);
		memcpy(out, all, tdm_min(count, cap) * sizeof(*all));
	}
	free(all);
	return count;
}

const struct tdm_exact_program *tdm_capture_exact_program(const struct tdm_capture_exact *e, size_t unit, size_t *count)
{
	const struct tdm_exact_unit *u = &e->units[unit];
	*count = u->peak_saved ? u->peak_count : 0;
	return u->peak_program;
}

void tdm_capture_exact_cores(const struct tdm_capture_exact *e, size_t unit, struct tdm_exact_cores *cores)
{
	struct tdm_program_memory memory = { 0 };
	size_t count;
	const struct tdm_exact_program *list = tdm_capture_exact_program(e, unit, &count);
	uint32_t at = e->units[unit].core.at;
	const struct tdm_capture_device *d = tdm_capture_description(e, unit);
	*cores = (struct tdm_exact_cores){ .grid_x = (uint32_t)e->units[unit].grid_x,
		.grid_y = (uint32_t)e->units[unit].grid_y };
	if (d != NULL && d->grid_x != 0 && d->grid_y != 0 && d->grid_x <= TDM_CAPTURE_GRID &&
		d->grid_y <= TDM_CAPTURE_GRID) {
		cores->grid_x = (uint32_t)tdm_max(cores->grid_x, d->grid_x);
		cores->grid_y = (uint32_t)tdm_max(cores->grid_y, d->grid_y);
	}
	for (size_t i = 0; i < count; i++) {
		if (tdm_core_mask_count(&list[i].mask) == 0)
			cores->unplaced += list[i].size;
		else
			tdm_program_memory_add(&memory, &list[i].mask, tdm_program_kind((enum tdm_kind)list[i].kind),
				list[i].address, list[i].size);
	}
	for (size_t i = 0; i < memory.count; i++)
		for (uint32_t core = 0; core < TDM_CAPTURE_GRID * TDM_CAPTURE_GRID; core++)
			if ((memory.classes[i].mask.rows[core / TDM_CAPTURE_GRID] >> core % TDM_CAPTURE_GRID & 1) != 0)
				cores->bytes[core / TDM_CAPTURE_GRID][core % TDM_CAPTURE_GRID] =
					memory.classes[i].total;
	tdm_program_memory_done(&memory);
	for (size_t i = 0; i < e->buffer_count; i++) {
		const struct tdm_exact_buffer *b = &e->buffers[i];
		if (b->unit == unit && (TDM_CAPTURE_IN_L1 >> b->kind & 1) != 0 && b->from <= at && b->to > at &&
			b->bank_bytes != TDM_BYTES_UNKNOWN)
			cores->everywhere += b->bank_bytes;
	}
	for (uint32_t y = 0; y < cores->grid_y; y++)
		for (uint32_t x = 0; x < cores->grid_x; x++)
			cores->bytes[y][x] += cores->everywhere;
}

/* ---- the course ---- */

void tdm_capture_course_note(
	struct tdm_capture_course *c, struct tdm_capture_exact *e, const struct tdm_capture_node *node)
{
	uint32_t index = (uint32_t)node->index;
	struct tdm_course_call *last = c->call_count != 0 ? &c->calls[c->call_count - 1] : NULL;
	bool was_inside = last != NULL && last->to == TDM_EXACT_NEVER, is_inside = e->paths.depth != 0;
	uint64_t most[TDM_EXACT_UNITS_MAX]; /* most program memory in one core of any chip of a device */
	c->nodes = index + 1;
	if (was_inside && !is_inside)
		last->to = index + 1;
	if (!was_inside && is_inside) {
		tdm_grow(&c->calls, &c->call_cap, c->call_count + 1, sizeof *c->calls);
		c->calls[c->call_count++] = (struct tdm_course_call){ e->paths.stack[0], index, TDM_EXACT_NEVER };
	}
	if (!tdm_capture_is_program_memory((enum tdm_capture_type)node->type) &&
		node->type != TDM_CAPTURE_CB_DEALLOCATE_ALL)
		return;
	memset(most, 0, e->unit_count * sizeof *most);
	for (size_t i = 0; i < e->chip_count; i++)
		if (e->chips[i].unit < e->unit_count)
			most[e->chips[i].unit] = tdm_max(most[e->chips[i].unit], e->chips[i].memory.max_total);
	for (size_t u = 0; u < e->unit_count; u++) {
		if (most[u] == e->units[u].noted)
			continue;
		tdm_grow(&c->changes, &c->change_cap, c->change_count + 1, sizeof *c->changes);
		c->changes[c->change_count++] =
			(struct tdm_course_change){ (int64_t)(most[u] - e->units[u].noted), index, (uint16_t)u, true };
		e->units[u].noted = most[u];
	}
}

void tdm_capture_course_done(struct tdm_capture_course *c)
{
	free(c->changes);
	free(c->calls);
	*c = (struct tdm_capture_course){ 0 };
}

static int by_node(const void *left, const void *right)
{
	const struct tdm_course_change *a = left, *b = right;
	return a->node < b->node ? -1 : a->node > b->node;
}

static size_t changes_of(const struct tdm_capture_course *c, const struct tdm_capture_exact *e, size_t unit,
	enum tdm_course_memory memory, struct tdm_course_change *list)
{
	unsigned kinds = memory == TDM_COURSE_DRAM ? TDM_CAPTURE_IN_DRAM : TDM_CAPTURE_IN_L1;
	uint16_t of = (uint16_t)unit;
	size_t count = 0;
	for (size_t i = 0; i < e->buffer_count; i++) {
		const struct tdm_exact_buffer *b = &e->buffers[i];
		uint64_t bytes = memory == TDM_COURSE_DRAM ? b->size : b->bank_bytes;
		if (b->unit != unit || (kinds >> b->kind & 1) == 0 || bytes == TDM_BYTES_UNKNOWN || b->from >= b->to)
			continue;
		list[count++] = (struct tdm_course_change){ (int64_t)bytes, b->from, of, false };
		if (b->to != TDM_EXACT_NEVER)
			list[count++] = (struct tdm_course_change){ -(int64_t)bytes, b->to, of, false };
	}
	for (size_t i = 0; i < c->change_count && memory == TDM_COURSE_L1; i++)
		if (c->changes[i].unit == unit)
			list[count++] = c->changes[i];
	qsort(list, count, sizeof *list, by_node);
	return count;
}

void tdm_capture_course_line(const struct tdm_capture_course *c, const struct tdm_capture_exact *e, size_t unit,
	enum tdm_course_memory memory, struct tdm_course_line *line)
{
	size_t most = e->buffer_count * 2 + c->change_count;
	struct tdm_course_change *steps = tdm_alloc(most * sizeof *steps);
	int64_t buffers = 0, program = 0, highest = INT64_MIN;
	*line = (struct tdm_course_line){ 0 };
	line->nodes = tdm_zalloc(most + 2, 3 * sizeof *line->nodes);
	line->buffers = line->nodes + most + 2;
	line->program = line->buffers + most + 2;
	size_t count = changes_of(c, e, unit, memory, steps), n = 0;
	for (size_t i = 0; i < count || n == 0;) {
		uint32_t node = n == 0 ? 0 : steps[i].node; /* the first point is the beginning of the capture */
		for (; i < count && steps[i].node == node; i++)
			*(steps[i].is_program ? &program : &buffers) += steps[i].bytes;
		line->nodes[n] = node;
		line->buffers[n] = (double)buffers;
		line->program[n] = (double)program;
		if (buffers + program > highest) {
			highest = buffers + program;
			line->peak = n;
		}
		n++;
	}
	line->nodes[n] = c->nodes > line->nodes[n - 1] ? c->nodes : line->nodes[n - 1] + 1;
	line->buffers[n] = (double)buffers;
	line->program[n] = (double)program;
	line->count = n + 1;
	free(steps);
}

void tdm_course_line_done(struct tdm_course_line *line)
{
	free(line->nodes);
	*line = (struct tdm_course_line){ 0 };
}

/* ---- both counts ---- */

enum { ERRORS_MAX = 1000 }; /* maximum number of errors kept */

void tdm_capture_summary_init(struct tdm_capture_summary *s)
{
	memset(s, 0, sizeof *s);
	s->stock = tdm_capture_stock_new();
	tdm_capture_exact_init(&s->exact);
}

void tdm_capture_summary_done(void *summary)
{
	struct tdm_capture_summary *s = summary;
	tdm_capture_stock_free(s->stock);
	tdm_capture_exact_done(&s->exact);
	tdm_capture_course_done(&s->course);
	free(s->errors);
	memset(s, 0, sizeof *s);
}

static void note_moment(struct tdm_capture_summary *s, unsigned raised)
{
	struct tdm_exact_sums sums[TDM_STOCK_FIGURES];
	find_sums(&s->exact, sums);
	for (int i = 0; i < TDM_STOCK_FIGURES; i++)
		if ((raised >> i & 1) != 0)
			s->at[i] = sums[i];
}

static __attribute__((noinline, cold)) void keep_error(
	struct tdm_capture_summary *s, const struct tdm_capture_node *node)
{
	s->error_count++;
	if (s->errors_kept == ERRORS_MAX)
		return;
	tdm_grow(&s->errors, &s->errors_cap, s->errors_kept + 1, sizeof *s->errors);
	struct tdm_capture_error *error = &s->errors[s->errors_kept++];
	error->node = node->index;
	snprintf(error->operation, sizeof error->operation, "%.*s", TDM_STR_ARG(node->name));
	snprintf(error->message, sizeof error->message, "%.*s", TDM_STR_ARG(node->error));
}

static void take_node(struct tdm_capture_summary *s, const struct tdm_capture_node *node)
{
	if (node->type == TDM_CAPTURE_ERROR)
		keep_error(s, node);
	unsigned raised = tdm_capture_stock_apply(s->stock, node);
	if ((raised & TDM_STOCK_RAISED_BEFORE) != 0)
		note_moment(s, 1U << TDM_STOCK_L1_PEAK);
	tdm_capture_exact_apply(&s->exact, node);
	raised &= ~TDM_STOCK_RAISED_BEFORE;
	if (raised != 0)
		note_moment(s, raised);
	if (s->has_course)
		tdm_capture_course_note(&s->course, &s->exact, node);
}

int tdm_capture_summary_take(void *summary, const struct tdm_record *record)
{
	struct tdm_capture_summary *s = summary;
	if (record->type == TDM_RECORD_NODE)
		take_node(s, record->node);
	else if (record->type == TDM_RECORD_DEVICE)
		tdm_capture_exact_device(&s->exact, record->device);
	else if (record->type == TDM_RECORD_MEMBER)
		tdm_capture_exact_member(&s->exact, record->member[0], record->member[1]);
	else if (record->type == TDM_RECORD_CAPTURE_END)
		s->counts = *record->capture;
	return 0;
}

/* The highest peak of any device, because devices are not added up. Unknown if any device's peak is unknown. */
static int64_t find_right(const struct tdm_capture_exact *exact, enum tdm_stock_figure figure)
{
	bool has_none = figure == TDM_STOCK_DRAM_ALLOCATIONS || figure == TDM_STOCK_DRAM_DEALLOCATIONS;
	/* Cached programs have circular buffers that the capture does not show. */
	has_none |= (figure == TDM_STOCK_L1_PEAK || figure == TDM_STOCK_CORE_PEAK_CB ||
			    figure == TDM_STOCK_CORE_PEAK_TOTAL) &&
		    exact->cached_programs != 0 && exact->program_nodes == 0;
	int64_t most = has_none ? INT64_MIN : 0;
	for (size_t i = 0; i < exact->unit_count && most != INT64_MIN; i++) {
		int64_t peak = tdm_capture_peak(exact, i, figure);
		most = peak == INT64_MIN || peak > most ? peak : most;
	}
	return most;
}

void tdm_capture_summary_end(void *summary)
{
	struct tdm_capture_summary *s = summary;
	s->figures = *tdm_capture_stock_end(s->stock);
	tdm_capture_exact_end(&s->exact);
	for (int figure = 0; figure < TDM_STOCK_FIGURES; figure++)
		s->right[figure] = find_right(&s->exact, (enum tdm_stock_figure)figure);
}

/* ---- why the runtime's figure differs ---- */

/*
 * Bytes allocated before the capture, which each exact buffer figure includes. Considers only the device with the most
 * such bytes.
 */
static int64_t existing(const struct tdm_capture_summary *s, enum tdm_stock_figure figure)
{
	bool is_dram = figure == TDM_STOCK_DRAM_PEAK, is_asked = is_dram || figure == TDM_STOCK_L1_PEAK;
	uint64_t most = 0;
	if (!is_asked && figure != TDM_STOCK_CORE_PEAK_L1 && figure != TDM_STOCK_CORE_PEAK_TOTAL)
		return 0;
	for (size_t i = 0; i < s->exact.unit_count; i++) {
		const struct tdm_exact_kind *kinds = s->exact.units[i].kinds;
		const struct tdm_exact_kind *a = &kinds[is_dram ? TDM_KIND_DRAM : TDM_KIND_L1];
		const struct tdm_exact_kind *b = &kinds[is_dram ? TDM_KIND_TRACE : TDM_KIND_L1_SMALL];
		most = tdm_max(most, is_asked ? a->existing_bytes + b->existing_bytes
					      : a->existing_bank_bytes + b->existing_bank_bytes);
	}
	return (int64_t)most;
}

bool tdm_capture_explain(
	const struct tdm_capture_summary *s, enum tdm_stock_figure figure, int64_t bytes[TDM_REASON_COUNT])
{
	bool is_l1 = figure == TDM_STOCK_L1_PEAK;
	int64_t counted = (int64_t)s->figures.value[figure], right = s->right[figure], inputs = 0;
	memset(bytes, 0, TDM_REASON_COUNT * sizeof *bytes);
	if (!s->figures.known[figure] || right == INT64_MIN || counted == right)
		return false;
	if (s->figures.wrapped[figure]) {
		bytes[TDM_REASON_WRAPPED] = 1;
		return true;
	}
	int64_t rest = counted - right;
	if (is_l1) {
		bytes[TDM_REASON_VIEWS] = (int64_t)s->figures.view_bytes;
		bytes[TDM_REASON_TWICE] = (int64_t)s->figures.twice_bytes;
		inputs = (int64_t)s->figures.input_bytes;
		counted -= bytes[TDM_REASON_VIEWS] + bytes[TDM_REASON_TWICE] + inputs;
	}
	const struct tdm_exact_sums *at = &s->at[figure];
	int64_t before = existing(s, figure);
	bytes[TDM_REASON_REPLACED] = at->replaced;
	/*
	 * In the runtime, a release on one device releases everything. If no such release occurred, the cause is
	 * different.
	 */
	if (s->exact.partial_releases != 0 && figure != TDM_STOCK_DRAM_PEAK && figure != TDM_STOCK_CORE_PEAK_L1)
		bytes[TDM_REASON_RELEASED] = counted - at->all - at->replaced;
	bytes[TDM_REASON_DEVICES] = at->all - at->one;
	bytes[is_l1 ? TDM_REASON_EACH_CORE : TDM_REASON_CORES] = at->one - at->stacked;
	bytes[TDM_REASON_ADDRESSES] = at->stacked - at->top;
	bytes[TDM_REASON_EXISTING] = inputs - before;
	bytes[TDM_REASON_MOMENT] = at->top + before - right;
	for (int i = 0; i < TDM_REASON_REST; i++)
		rest -= bytes[i];
	bytes[TDM_REASON_REST] = rest;
	return true;
}
