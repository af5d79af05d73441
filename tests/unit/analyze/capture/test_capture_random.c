/*
 * Compares random captures with models that keep everything and check everything: an array of all nodes for the
 * runtime's rules, and an array of bytes for each core for the correct ones.
 */
#include "capture_run.h"

#include <inttypes.h>

enum { CAPTURES = 300, NODES_MAX = 120, DEVICES = 2, GRID = 4, CORE_BYTES = 64, KINDS = 3 };

/* A node, as the generator made it. */
struct made {
	enum tdm_capture_type type;
	uint64_t size, bank, address;
	uint32_t device, connection;
	bool is_l1, is_view, existing, is_released;
	uint32_t x0, y0, x1, y1;
};

struct world {
	struct made nodes[NODES_MAX];
	size_t count;
	uint64_t seed;
};

static uint64_t rnd(struct world *w, uint64_t below)
{
	w->seed ^= w->seed << 13;
	w->seed ^= w->seed >> 7;
	w->seed ^= w->seed << 17;
	return w->seed % below;
}

static struct made *add(struct world *w, enum tdm_capture_type type)
{
	struct made *m = &w->nodes[w->count++];
	*m = (struct made){ .type = type, .device = (uint32_t)rnd(w, DEVICES) };
	return m;
}

static void add_buffer(struct world *w, uint32_t device)
{
	bool is_allocated = rnd(w, 6) != 0;
	struct made *node = add(w, TDM_CAPTURE_BUFFER);
	node->device = device;
	node->size = 1 + rnd(w, 1000);
	node->bank = 1 + rnd(w, 100);
	node->is_l1 = rnd(w, 2) == 0;
	node->existing = !is_allocated;
	if (!is_allocated)
		return;
	struct made copy = *node;
	struct made *alloc = add(w, TDM_CAPTURE_BUFFER_ALLOCATE);
	*alloc = copy;
	alloc->type = TDM_CAPTURE_BUFFER_ALLOCATE;
	alloc->connection = (uint32_t)(w->count - 2);
}

static void add_release(struct world *w)
{
	size_t at = rnd(w, w->count);
	for (size_t i = 0; i < w->count; i++) {
		struct made *node = &w->nodes[(at + i) % w->count];
		if (node->type != TDM_CAPTURE_BUFFER || node->is_released)
			continue;
		node->is_released = true;
		struct made copy = *node, *release = add(w, TDM_CAPTURE_BUFFER_DEALLOCATE);
		*release = copy;
		release->type = TDM_CAPTURE_BUFFER_DEALLOCATE;
		release->connection = (uint32_t)((at + i) % (w->count - 1));
		return;
	}
}

static void add_program(struct world *w)
{
	static const enum tdm_capture_type types[] = { TDM_CAPTURE_CB_ALLOCATE, TDM_CAPTURE_DFB_ALLOCATE,
		TDM_CAPTURE_SCRATCHPAD_ALLOCATE };
	struct made *m = add(w, types[rnd(w, 3)]);
	m->is_view = m->type != TDM_CAPTURE_SCRATCHPAD_ALLOCATE && rnd(w, 4) == 0;
	m->address = 1 + rnd(w, CORE_BYTES / 2);
	m->size = 1 + rnd(w, CORE_BYTES / 2 - 1);
	m->x0 = (uint32_t)rnd(w, GRID);
	m->y0 = (uint32_t)rnd(w, GRID);
	m->x1 = m->x0 + (uint32_t)rnd(w, GRID - m->x0);
	m->y1 = m->y0 + (uint32_t)rnd(w, GRID - m->y0);
}

static void make_world(struct world *w, uint64_t seed)
{
	int depth = 0;
	*w = (struct world){ .seed = seed * UINT64_C(0x9e3779b97f4a7c15) + 1 };
	rnd(w, 2);
	/* Both devices have buffers from the start, so that chips and buffers go by the same numbers. */
	for (uint32_t i = 0; i < DEVICES; i++)
		add_buffer(w, i);
	while (w->count < NODES_MAX - 3) {
		switch (rnd(w, 10)) {
		case 0:
			add(w, TDM_CAPTURE_FUNCTION_START);
			depth++;
			break;
		case 1:
			if (depth > 0) {
				add(w, TDM_CAPTURE_FUNCTION_END);
				depth--;
			}
			break;
		case 2:
			add(w, TDM_CAPTURE_TENSOR);
			break;
		case 3:
			add(w, TDM_CAPTURE_CB_DEALLOCATE_ALL);
			break;
		case 4:
		case 5:
			add_release(w);
			break;
		case 6:
		case 7:
			add_program(w);
			break;
		default:
			add_buffer(w, (uint32_t)rnd(w, DEVICES));
			break;
		}
	}
}

static void write_node(const struct world *w, size_t i, struct tdm_buf *out)
{
	const struct made *m = &w->nodes[i];
	tdm_buf_printf(
		out, "%s{\"counter\":%zu,\"node_type\":\"%s\",", i == 0 ? "[" : ",", i, tdm_capture_type_name(m->type));
	if (m->type == TDM_CAPTURE_BUFFER_ALLOCATE || m->type == TDM_CAPTURE_BUFFER_DEALLOCATE)
		tdm_buf_printf(out, "\"connections\":[%" PRIu32 "],", m->connection);
	else
		tdm_buf_puts(out, "\"connections\":[],");
	tdm_buf_printf(out, "\"params\":{\"device_id\":%" PRIu32 ",\"name\":\"f\"", m->device);
	if (m->size != 0)
		tdm_buf_printf(out, ",\"size\":%s%" PRIu64 "%s,\"type\":\"%s\"", i % 2 == 0 ? "\"" : "", m->size,
			i % 2 == 0 ? "\"" : "", m->is_l1 ? "L1" : "DRAM");
	if (m->type == TDM_CAPTURE_BUFFER_ALLOCATE || m->type == TDM_CAPTURE_BUFFER_DEALLOCATE)
		tdm_buf_printf(out, ",\"max_size_per_bank\":%" PRIu64, m->bank);
	if (tdm_capture_is_program_memory(m->type))
		tdm_buf_printf(out,
			",\"address\":%" PRIu64
			",\"globally_allocated\":\"%d\",\"borrows_memory\":\"%d\",\"core_range_set\":"
			"\"{[%" PRIu32 "-%" PRIu32 " - %" PRIu32 "-%" PRIu32 "]}\"",
			m->address, m->is_view, m->is_view, m->x0, m->y0, m->x1, m->y1);
	tdm_buf_puts(out, "}}");
}

/* ---- the runtime's rules, as they are written there ---- */

struct stock_model {
	uint32_t l1_peak;
	int64_t dram_peak;
	uint64_t cb, l1, total, cb_peak, l1_core_peak, total_peak;
};

static void model_l1(const struct world *w, struct stock_model *out)
{
	uint32_t program = 0, buffers = 0;
	size_t depth = 0;
	for (size_t i = 0; i < w->count; i++) {
		const struct made *m = &w->nodes[i];
		if (m->type == TDM_CAPTURE_FUNCTION_START) {
			if (depth++ == 0) {
				for (i++; i < w->count; i++) {
					const struct made *inner = &w->nodes[i];
					if (inner->type == TDM_CAPTURE_BUFFER && inner->is_l1)
						buffers += (uint32_t)inner->size;
					else if (inner->type != TDM_CAPTURE_TENSOR)
						break;
				}
				i--;
			}
		} else if (m->type == TDM_CAPTURE_FUNCTION_END) {
			depth--;
		} else if (m->type == TDM_CAPTURE_CB_ALLOCATE || m->type == TDM_CAPTURE_SCRATCHPAD_ALLOCATE ||
			   (m->type == TDM_CAPTURE_DFB_ALLOCATE && !m->is_view)) {
			program += (uint32_t)m->size;
		} else if (m->type == TDM_CAPTURE_CB_DEALLOCATE_ALL) {
			program = 0;
		} else if (m->type == TDM_CAPTURE_BUFFER_ALLOCATE && m->is_l1) {
			buffers += (uint32_t)m->size;
		} else if (m->type == TDM_CAPTURE_BUFFER_DEALLOCATE && w->nodes[m->connection].is_l1) {
			buffers -= (uint32_t)w->nodes[m->connection].size;
		}
		if (program + buffers > out->l1_peak)
			out->l1_peak = program + buffers;
	}
}

static void model_stock(const struct world *w, struct stock_model *out)
{
	uint64_t others = 0;
	int64_t dram = 0;
	*out = (struct stock_model){ 0 };
	model_l1(w, out);
	for (size_t i = 0; i < w->count; i++) {
		const struct made *m = &w->nodes[i];
		if (tdm_capture_is_program_memory(m->type) && !m->is_view) {
			*(m->type == TDM_CAPTURE_CB_ALLOCATE ? &out->cb : &others) += m->size;
			out->total += m->size;
		} else if (m->type == TDM_CAPTURE_CB_DEALLOCATE_ALL) {
			out->total -= out->cb + others;
			out->cb = others = 0;
		} else if (m->type == TDM_CAPTURE_BUFFER_ALLOCATE || m->type == TDM_CAPTURE_BUFFER_DEALLOCATE) {
			bool is_alloc = m->type == TDM_CAPTURE_BUFFER_ALLOCATE;
			if (m->is_l1) {
				out->l1 += is_alloc ? m->bank : -m->bank;
				out->total += is_alloc ? m->bank : -m->bank;
			} else {
				dram += is_alloc ? (int64_t)m->size : -(int64_t)m->size;
			}
			if (!is_alloc)
				continue; /* peaks are looked at behind allocations only */
		}
		out->dram_peak = dram > out->dram_peak ? dram : out->dram_peak;
		bool grows = m->type == TDM_CAPTURE_BUFFER_ALLOCATE
				     ? m->is_l1
				     : tdm_capture_is_program_memory(m->type) && !m->is_view;
		if (!grows)
			continue;
		if (m->type == TDM_CAPTURE_CB_ALLOCATE && out->cb > out->cb_peak)
			out->cb_peak = out->cb;
		if (m->type == TDM_CAPTURE_BUFFER_ALLOCATE && out->l1 > out->l1_core_peak)
			out->l1_core_peak = out->l1;
		if (out->total > out->total_peak)
			out->total_peak = out->total;
	}
}

/* ---- the right figures, byte by byte ---- */

struct exact_model {
	int64_t dram, core, cb, l1_core, device;
};

/* For each device and core, which kind of program memory covers a byte, + 1. */
typedef uint8_t cores[DEVICES][GRID][GRID][CORE_BYTES];

static void cover(cores bytes, const struct made *m)
{
	uint8_t kind = (uint8_t)(m->type == TDM_CAPTURE_CB_ALLOCATE ? 1 : 2);
	for (uint32_t y = m->y0; y <= m->y1; y++)
		for (uint32_t x = m->x0; x <= m->x1; x++)
			for (uint64_t a = m->address; a < m->address + m->size; a++)
				if (bytes[m->device][y][x][a] == 0)
					bytes[m->device][y][x][a] = kind;
}

static bool has_core(const struct made *m, uint32_t x, uint32_t y)
{
	return m->x0 <= x && x <= m->x1 && m->y0 <= y && y <= m->y1;
}

static bool meet(const struct made *a, const struct made *b)
{
	return a->type == b->type && a->x0 <= b->x1 && b->x0 <= a->x1 && a->y0 <= b->y1 && b->y0 <= a->y1;
}

/* The memory of the program that runs on a device, in the order of its allocations. */
struct running {
	const struct made *nodes[NODES_MAX];
	size_t count;
};

/* How many of the allocations are of a program that the one with `m` has replaced: in some core it begins at the first
 * address again, so it is of another program than each that ends above that address. */
static size_t count_replaced(const struct running *r, const struct made *m)
{
	size_t last = 0;
	bool restarts = false;
	for (uint32_t core = 0; core < GRID * GRID; core++) {
		uint64_t lowest = UINT64_MAX;
		for (size_t i = 0; i < r->count; i++)
			if (meet(r->nodes[i], m) && has_core(r->nodes[i], core % GRID, core / GRID))
				lowest = r->nodes[i]->address < lowest ? r->nodes[i]->address : lowest;
		restarts |= lowest != UINT64_MAX && has_core(m, core % GRID, core / GRID) && m->address <= lowest;
	}
	for (size_t i = 0; i < r->count && restarts; i++)
		if (meet(r->nodes[i], m) && m->address < r->nodes[i]->address + r->nodes[i]->size)
			last = i + 1;
	return last;
}

static void run_on(struct running *r, cores bytes, const struct made *m)
{
	size_t gone = count_replaced(r, m);
	memmove(r->nodes, r->nodes + gone, (r->count - gone) * sizeof *r->nodes);
	r->count -= gone;
	r->nodes[r->count++] = m;
	memset(bytes[m->device], 0, sizeof bytes[m->device]);
	for (size_t i = 0; i < r->count; i++)
		cover(bytes, r->nodes[i]);
}

static void look(cores bytes, uint32_t device, int64_t *most, int64_t *most_cb, int64_t *sum)
{
	*most = *most_cb = *sum = 0;
	for (uint32_t core = 0; core < GRID * GRID; core++) {
		int64_t all = 0, cb = 0;
		for (size_t a = 0; a < CORE_BYTES; a++) {
			uint8_t kind = bytes[device][core / GRID][core % GRID][a];
			all += kind != 0;
			cb += kind == 1;
		}
		*sum += all;
		*most = all > *most ? all : *most;
		*most_cb = cb > *most_cb ? cb : *most_cb;
	}
}

static int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static void model_exact(const struct world *w, struct exact_model *out)
{
	static cores bytes;
	struct running running[DEVICES] = { 0 };
	memset(bytes, 0, sizeof bytes);
	*out = (struct exact_model){ 0 };
	int64_t l1[DEVICES] = { 0 }, bank[DEVICES] = { 0 }, dram[DEVICES] = { 0 };
	unsigned steps = 0, steps_of[DEVICES] = { 0 }; /* of functions; an allocation after one is of another program */
	for (size_t i = 0; i < w->count; i++) {        /* what is there before the first node */
		const struct made *m = &w->nodes[i];
		if (m->type != TDM_CAPTURE_BUFFER || !m->existing)
			continue;
		*(m->is_l1 ? &l1[m->device] : &dram[m->device]) += (int64_t)m->size;
		if (m->is_l1 && m->is_released)
			bank[m->device] += (int64_t)m->bank; /* the others' is not recorded */
	}
	for (size_t i = 0; i <= w->count; i++) {
		const struct made *m = i > 0 ? &w->nodes[i - 1] : NULL;
		if (m != NULL && (m->type == TDM_CAPTURE_BUFFER_ALLOCATE || m->type == TDM_CAPTURE_BUFFER_DEALLOCATE)) {
			int64_t sign = m->type == TDM_CAPTURE_BUFFER_ALLOCATE ? 1 : -1;
			*(m->is_l1 ? &l1[m->device] : &dram[m->device]) += sign * (int64_t)m->size;
			bank[m->device] += m->is_l1 ? sign * (int64_t)m->bank : 0;
		} else if (m != NULL && m->type == TDM_CAPTURE_CB_DEALLOCATE_ALL) {
			memset(bytes[m->device], 0, sizeof bytes[m->device]);
			running[m->device].count = 0;
		} else if (m != NULL && tdm_capture_is_program_memory(m->type)) {
			if (steps_of[m->device] != steps) {
				memset(bytes[m->device], 0, sizeof bytes[m->device]);
				running[m->device].count = 0;
			}
			steps_of[m->device] = steps;
			if (!m->is_view)
				run_on(&running[m->device], bytes, m);
		}
		steps += m != NULL && (m->type == TDM_CAPTURE_FUNCTION_START || m->type == TDM_CAPTURE_FUNCTION_END);
		for (uint32_t d = 0; d < DEVICES; d++) {
			int64_t most, most_cb, sum;
			look(bytes, d, &most, &most_cb, &sum);
			out->dram = larger(out->dram, dram[d]);
			out->l1_core = larger(out->l1_core, bank[d]);
			out->cb = larger(out->cb, most_cb);
			out->core = larger(out->core, bank[d] + most);
			out->device = larger(out->device, l1[d] + sum);
		}
	}
}

static void check_reasons(const struct capture_run *run)
{
	for (int figure = 0; figure < TDM_STOCK_FIGURES; figure++) {
		int64_t bytes[TDM_REASON_COUNT], sum = 0;
		bool any = tdm_capture_explain(&run->summary, (enum tdm_stock_figure)figure, bytes);
		for (int i = 0; i < TDM_REASON_COUNT; i++)
			sum += bytes[i];
		if (any && !run->summary.figures.wrapped[figure])
			assert_int_equal(sum, (int64_t)run->summary.figures.value[figure] - run->summary.right[figure]);
	}
}

/* What is drawn is as high as what is counted, at the same node and in the same core. */
static void check_course(const struct capture_run *run)
{
	const struct tdm_capture_exact *exact = &run->summary.exact;
	for (size_t u = 0; u < exact->unit_count; u++) {
		const struct tdm_exact_unit *unit = &exact->units[u];
		struct tdm_course_line line;
		tdm_capture_course_line(&run->course, exact, u, TDM_COURSE_DRAM, &line);
		assert_true(line.buffers[line.peak] == (double)larger(unit->dram.bytes, 0));
		tdm_course_line_done(&line);
		tdm_capture_course_line(&run->course, exact, u, TDM_COURSE_L1, &line);
		assert_true(line.buffers[line.peak] + line.program[line.peak] == (double)larger(unit->core.bytes, 0));
		if (unit->core.bytes > 0)
			assert_true(line.nodes[line.peak] == unit->core.at);
		tdm_course_line_done(&line);
		struct tdm_exact_cores grid;
		uint64_t most = 0;
		tdm_capture_exact_cores(exact, u, &grid);
		for (uint32_t y = 0; y < grid.grid_y; y++)
			for (uint32_t x = 0; x < grid.grid_x; x++)
				most = grid.bytes[y][x] > most ? grid.bytes[y][x] : most;
		if (grid.grid_x != 0)
			assert_int_equal(most, larger(unit->core.bytes, 0));
	}
}

static void both_sets_of_figures_agree_with_models(void **state)
{
	static struct world w;
	(void)state;
	for (uint64_t seed = 1; seed <= CAPTURES; seed++) {
		struct tdm_buf text;
		struct stock_model stock;
		struct exact_model exact;
		make_world(&w, seed);
		tdm_buf_init(&text);
		for (size_t i = 0; i < w.count; i++)
			write_node(&w, i, &text);
		tdm_buf_putc(&text, ']');
		struct capture_run *run = capture_read_pieces(text.data, text.len, 1 + seed % 500);
		assert_int_equal(run->err, 0);
		assert_int_equal(run->refusals, 0);
		model_stock(&w, &stock);
		assert_figure(run, TDM_STOCK_L1_PEAK, stock.l1_peak);
		assert_figure(run, TDM_STOCK_DRAM_PEAK, (uint64_t)stock.dram_peak);
		assert_figure(run, TDM_STOCK_CORE_PEAK_CB, stock.cb_peak);
		assert_figure(run, TDM_STOCK_CORE_PEAK_L1, stock.l1_core_peak);
		assert_figure(run, TDM_STOCK_CORE_PEAK_TOTAL, stock.total_peak);
		model_exact(&w, &exact);
		assert_right(run, TDM_STOCK_DRAM_PEAK, exact.dram);
		assert_right(run, TDM_STOCK_L1_PEAK, exact.device);
		assert_right(run, TDM_STOCK_CORE_PEAK_CB, exact.cb);
		assert_right(run, TDM_STOCK_CORE_PEAK_L1, exact.l1_core);
		assert_right(run, TDM_STOCK_CORE_PEAK_TOTAL, exact.core);
		check_reasons(run);
		check_course(run);
		capture_done(run);
		tdm_buf_done(&text);
	}
}

/* However many are wanted: the largest first, of the same size the older first. */
static void of_the_buffers_alive_the_largest_are_kept(void **state)
{
	enum { COUNT = 50 };
	(void)state;
	struct tdm_buf text = { 0 };
	tdm_buf_putc(&text, '[');
	for (unsigned i = 0; i < COUNT; i++) {
		unsigned size = 1 + i * 7 % 40; /* some sizes occur twice */
		tdm_buf_printf(&text,
			"%s{\"counter\":%u,\"node_type\":\"buffer\",\"connections\":[],\"params\":{\"type\":\"DRAM\","
			"\"size\":%u}},{\"counter\":%u,\"node_type\":\"buffer_allocate\",\"connections\":[%u],"
			"\"params\":{\"type\":\"DRAM\",\"size\":%u}}",
			i != 0 ? "," : "", 2 * i, size, 2 * i + 1, 2 * i, size);
	}
	tdm_buf_putc(&text, ']');
	struct capture_run *run = capture_read(text.data);
	const struct tdm_capture_exact *e = &run->summary.exact;
	const struct tdm_exact_buffer *all[COUNT] = { NULL }, *some[COUNT];
	assert_int_equal(tdm_capture_exact_alive(e, 0, 1U << TDM_KIND_DRAM, 2 * COUNT, all, COUNT), COUNT);
	for (size_t i = 1; i < COUNT; i++)
		assert_true(all[i - 1]->size > all[i]->size ||
			    (all[i - 1]->size == all[i]->size && all[i - 1]->index < all[i]->index));
	for (size_t cap = 0; cap < COUNT; cap++) {
		assert_int_equal(tdm_capture_exact_alive(e, 0, 1U << TDM_KIND_DRAM, 2 * COUNT, some, cap), COUNT);
		assert_memory_equal(some, all, cap * sizeof *some);
	}
	capture_done(run);
	tdm_buf_done(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(both_sets_of_figures_agree_with_models),
		cmocka_unit_test(of_the_buffers_alive_the_largest_are_kept) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
