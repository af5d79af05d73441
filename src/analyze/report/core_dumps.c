/*
 * A line belongs to the current dump unless it names a core that the dump already contains; then a new dump begins.
 * Cores and their buffers are two flat lists in file order, so a dump is a range in each list. The result shows each
 * dump, its buffers across cores, and the fullest dump as a grid.
 */
#include "analyze/report/core_dumps.h"
#include "analyze/report/report_analyser.h"
#include "base/arena.h"
#include "base/memory.h"

#include <inttypes.h>
#include <stdlib.h>

void tdm_core_dumps_done(void *dumps)
{
	struct tdm_core_dumps *d = dumps;
	tdm_map_done(&d->seen);
	free(d->cores);
	free(d->cbs);
	free(d->dumps);
	*d = (struct tdm_core_dumps){ 0 };
}

static void take_core(struct tdm_core_dumps *d, const struct tdm_core_line *core)
{
	uint64_t key = (uint64_t)core->y << 16 | core->x;
	tdm_grow(&d->cores, &d->core_cap, d->core_count + 1, sizeof *d->cores);
	tdm_grow(&d->cbs, &d->cb_cap, d->cb_count + core->count, sizeof *d->cbs);
	tdm_grow(&d->dumps, &d->dump_cap, d->dump_count + 1, sizeof *d->dumps);
	uint32_t last = tdm_map_find(&d->seen, key);
	if (d->dump_count == 0 || (last != TDM_MAP_NONE && last == d->dump_count - 1))
		d->dumps[d->dump_count++] = (struct tdm_core_dump){
			.first = d->core_count, .fullest = d->core_count, .line = core->line, .least = UINT64_MAX
		};
	tdm_map_set(&d->seen, key, (uint32_t)d->dump_count - 1);
	struct tdm_core_dump *dump = &d->dumps[d->dump_count - 1];
	d->cores[d->core_count] = *core;
	dump->count++;
	dump->cbs += core->count;
	dump->total = tdm_plus(dump->total, core->bytes);
	dump->least = tdm_min(dump->least, core->bytes);
	if (core->bytes > dump->most)
		dump->fullest = d->core_count;
	dump->most = tdm_max(dump->most, core->bytes);
	d->core_count++;
	if (core->count != 0)
		memcpy(d->cbs + d->cb_count, core->cbs, core->count * sizeof *d->cbs);
	d->cb_count += core->count;
}

int tdm_core_dumps_take(void *dumps, const struct tdm_record *record)
{
	struct tdm_core_dumps *d = dumps;
	d->refused += record->type == TDM_RECORD_REFUSED;
	d->others += record->type == TDM_RECORD_OTHER;
	if (record->type == TDM_RECORD_CORE)
		take_core(d, record->core);
	return 0;
}

void tdm_core_dumps_end(void *dumps)
{
	struct tdm_core_dumps *d = dumps;
	const struct tdm_core_cb *cbs = d->cbs;
	for (size_t i = 0; i < d->core_count && cbs != NULL; i++) {
		d->cores[i].cbs = cbs;
		cbs += d->cores[i].count;
	}
}

const struct tdm_core_dump *tdm_core_dumps_fullest(const struct tdm_core_dumps *d)
{
	const struct tdm_core_dump *best = d->dump_count != 0 ? &d->dumps[0] : NULL;
	for (size_t i = 1; i < d->dump_count; i++)
		if (d->dumps[i].most > best->most)
			best = &d->dumps[i];
	return best;
}

size_t tdm_core_dump_indexes(
	const struct tdm_core_dumps *d, const struct tdm_core_dump *dump, struct tdm_core_dump indexes[TDM_CORE_CBS])
{
	const struct tdm_core_cb *cb = d->cores[dump->first].cbs;
	size_t count = 0;
	memset(indexes, 0, TDM_CORE_CBS * sizeof *indexes);
	for (size_t i = 0; i < dump->cbs; i++, cb++) {
		struct tdm_core_dump *x = &indexes[cb->index];
		x->least = x->count == 0 ? cb->bytes : tdm_min(x->least, cb->bytes);
		x->most = tdm_max(x->most, cb->bytes);
		x->total = tdm_plus(x->total, cb->bytes);
		x->count++;
	}
	for (uint16_t i = 0; i < TDM_CORE_CBS; i++) {
		indexes[i].first = i;
		if (indexes[i].count != 0)
			indexes[count++] = indexes[i];
	}
	return count;
}

static int compare_cores(const void *left, const void *right)
{
	const struct tdm_core_line *a = left, *b = right;
	return a->bytes != b->bytes ? tdm_order(b->bytes, a->bytes) : tdm_order(a->line, b->line);
}

struct tdm_core_line *tdm_core_dump_order(const struct tdm_core_dumps *d, const struct tdm_core_dump *dump)
{
	struct tdm_core_line *order = tdm_copy_of(d->cores + dump->first, dump->count * sizeof *order);
	qsort(order, dump->count, sizeof *order, compare_cores);
	return order;
}

/* ---- the result ---- */

enum { GRID_SIDE = 63, STEPS = 9 };

static struct tdm_value get_index(const struct tdm_field *field)
{
	return tdm_field_printed(field, "CB%zu", ((const struct tdm_core_dump *)field->row)->first);
}

#define INDEX(member) TDM_MEMBER(struct tdm_core_dump, member)
static const struct tdm_column indexes[] = {
	{ "Buffer", NULL, .get = get_index },
	{ "cores", NULL, INDEX(count) },
	{ "least", NULL, INDEX(least), TDM_BYTES },
	{ "most", NULL, INDEX(most), TDM_BYTES },
	{ "all cores", NULL, INDEX(total), TDM_BYTES, .unknown = "unknown" },
};

static struct tdm_value get_place(const struct tdm_field *field)
{
	const struct tdm_core_line *core = field->row;
	return tdm_field_printed(field, "(%u,%u)", core->x, core->y);
}

static struct tdm_value get_list(const struct tdm_field *field)
{
	const struct tdm_core_line *core = field->row;
	char size[TDM_BYTES_CAP];
	struct tdm_buf list = { 0 };
	for (size_t k = 0; k < core->count && k < field->table->limit; k++)
		tdm_buf_printf(&list, "%sCB%u %s", k == 0 ? "" : ", ", core->cbs[k].index,
			tdm_format_bytes_short(size, sizeof size, core->cbs[k].bytes));
	tdm_buf_puts(&list, core->count > field->table->limit ? ", ..." : "");
	return tdm_value_str(tdm_arena_buf(field->scratch, &list));
}

#define CB(member) TDM_MEMBER(struct tdm_core_cb, member)
static struct tdm_value get_cbs(const struct tdm_field *field)
{
	static const struct tdm_column cbs[] = { { NULL, "index", CB(index) }, { NULL, "bytes", CB(bytes) } };
	const struct tdm_core_line *core = field->row;
	return tdm_field_table(field, TDM_TABLE_OF(cbs, core->cbs, core->count));
}

#define CORE(member) TDM_MEMBER(struct tdm_core_line, member)
static const struct tdm_column cores[] = {
	{ "Core", NULL, .get = get_place },
	{ NULL, "x", CORE(x) },
	{ NULL, "y", CORE(y) },
	{ "all", "bytes", CORE(bytes), TDM_BYTES },
	{ "circular buffers", NULL, .get = get_list },
	{ NULL, "cbs", .get = get_cbs },
};

static struct tdm_value get_cores(const struct tdm_field *field)
{
	const struct tdm_core_dump *d = field->row;
	return tdm_field_table(
		field, TDM_TABLE_OF(cores, (const struct tdm_core_line *)field->table->context + d->first, d->count));
}

#define DUMP(member) TDM_MEMBER(struct tdm_core_dump, member)
static const struct tdm_column dump_columns[] = {
	{ NULL, "line", DUMP(line) },
	{ NULL, "bytes", DUMP(total) },
	{ NULL, "least_bytes", DUMP(least) },
	{ NULL, "most_bytes", DUMP(most) },
	{ NULL, "cores", .get = get_cores },
};

/* The shading of a core in the grid: 0 for no bytes, 1 to STEPS for shares of the maximum. */
static struct tdm_value get_step(const struct tdm_field *field)
{
	return tdm_field_printed(field, "%c", ((const char *)field->row)[field->column->arg]);
}

static char step_of(uint64_t bytes, uint64_t most)
{
	return (char)('0' + (bytes == 0 || most == 0 ? 0 : 1 + (int)((double)bytes / (double)most * (STEPS - 1))));
}

/* A table with one row per y and one column per x. */
static void add_grid(struct tdm_block *in, const struct tdm_core_dumps *c, const struct tdm_core_dump *d)
{
	char *cells = tdm_result_alloc(in->result, GRID_SIDE, GRID_SIDE);
	size_t width = 0, height = 0;
	memset(cells, '.', GRID_SIDE * GRID_SIDE);
	for (size_t i = d->first; i < d->first + d->count; i++) {
		const struct tdm_core_line *core = &c->cores[i];
		if (core->x >= GRID_SIDE || core->y >= GRID_SIDE) {
			tdm_say(in, "The grid of cores is too large to be drawn.", NULL)->is_apart = true;
			return;
		}
		width = tdm_max(width, core->x + 1U);
		height = tdm_max(height, core->y + 1U);
		cells[core->y * GRID_SIDE + core->x] = step_of(core->bytes, d->most);
	}
	struct tdm_column *columns = tdm_result_alloc(in->result, width + 1, sizeof *columns);
	columns[0] = (struct tdm_column){ .title = "y\\x", TDM_INDEX };
	for (size_t x = 0; x < width; x++)
		columns[x + 1] = (struct tdm_column){ .title = tdm_result_printed(in->result, "%zu", x),
			.get = get_step,
			.arg = (int)x,
			.flags = TDM_OTHER_SIDE };
	tdm_add_table(in, NULL, "Cores, 9 is the fullest, . has no line",
		(struct tdm_table){ .columns = columns,
			.column_count = width + 1,
			.rows = cells,
			.stride = GRID_SIDE,
			.count = height,
			.gap = 2,
			.indent = 2,
			.fits = true });
}

/* Shows the dump with the fullest core. */
static void add_fullest(
	struct tdm_block *in, const struct tdm_core_dumps *c, const struct tdm_core_dump *d, size_t limit)
{
	const struct tdm_core_line *core = &c->cores[d->fullest];
	struct tdm_core_dump *rows = tdm_result_alloc(in->result, TDM_CORE_CBS, sizeof *rows);
	tdm_line(in, "Fullest core",
		"({_x},{_y}): {_bytes} in {_count/circular buffer/circular buffers}|, in dump {_dump} of {_dumps}",
		TDM_VALUES({ "_x", tdm_value_number(core->x) }, { "_y", tdm_value_number(core->y) },
			{ "_bytes", tdm_value_bytes(d->most) }, { "_count", tdm_value_count(core->count) },
			{ "_dump", tdm_value_if(c->dump_count > 1, tdm_value_number((size_t)(d - c->dumps) + 1)) },
			{ "_dumps", tdm_value_number(c->dump_count) }));
	tdm_line(in, "Per core", "least {_least}|, average {_average}|; all cores together {_total}",
		TDM_VALUES({ "_least", tdm_value_bytes(d->least) }, { "_total", tdm_value_bytes(d->total) },
			{ "_average",
				tdm_value_if(d->total != TDM_BYTES_UNKNOWN, tdm_value_bytes(d->total / d->count)) }));
	struct tdm_table by_index = TDM_FITTED(indexes, rows, tdm_core_dump_indexes(c, d, rows));
	struct tdm_core_line *order = tdm_core_dump_order(c, d);
	struct tdm_table by_core = TDM_FITTED(cores, order, d->count);
	tdm_result_keep(in->result, order, free);
	by_index.limit = by_core.limit = limit;
	tdm_add_table(in, NULL, NULL, by_index);
	tdm_add_table(in, NULL, NULL, by_core);
	add_grid(in, c, d);
}

static bool show(void *dumps, const struct tdm_intake *reading, size_t limit, struct tdm_block *in)
{
	const struct tdm_core_dumps *c = dumps;
	const struct tdm_core_dump *fullest = tdm_core_dumps_fullest(c);
	struct tdm_table all = TDM_TABLE_OF(dump_columns, c->dumps, c->dump_count);
	all.context = c->cores;
	tdm_line(in, "Core dump",
		"{_file}: {_cores/line/lines} of cores in {_dumps/dump/dumps}|, {_others/other line/other lines/}",
		TDM_VALUES({ "_file", tdm_value_text(tdm_input_name(reading->input)) },
			{ "_cores", tdm_value_count(c->core_count) }, { "_dumps", tdm_value_count(c->dump_count) },
			{ "_others", tdm_value_if(c->others != 0, tdm_value_count(c->others)) }));
	tdm_report_head(in, reading, "core_dump", c->refused);
	tdm_data(in, "other_lines", tdm_value_count(c->others));
	if (fullest != NULL)
		add_fullest(in, c, fullest, limit);
	tdm_add_table(in, "dumps", NULL, all)->is_data_only = true;
	return true;
}

const struct tdm_report_analyser tdm_core_report = { "core_dump", NULL, sizeof(struct tdm_core_dumps), NULL,
	tdm_core_dumps_take, tdm_core_dumps_end, show, tdm_core_dumps_done };
