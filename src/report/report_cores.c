#include "report/report_cores.h"
#include "report/cell.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { GRID_SIDE = 64, INDEXES = TDM_CORE_CBS_INDEX_MAX + 1, STEPS = 9 };

/* One dump: the cores from `first` on. */
struct dump {
	size_t first, count, cbs;
	size_t fullest;        /* index of the core */
	uint64_t least, total; /* the total is TDM_BYTES_UNKNOWN when it does not fit */
};

/* A circular buffer over the cores of a dump. */
struct by_index {
	uint64_t cores, least, most, total;
};

/* The dump that begins at a core. */
static struct dump read_dump(const struct tdm_core_cbs *c, size_t first)
{
	struct dump d = { .first = first, .fullest = first, .least = UINT64_MAX };
	for (size_t i = first; i < c->core_count && c->cores[i].dump == c->cores[first].dump; i++, d.count++) {
		uint64_t bytes = c->cores[i].bytes;
		d.total = tdm_plus(d.total, bytes);
		d.cbs += c->cores[i].count;
		d.least = bytes < d.least ? bytes : d.least;
		if (bytes > c->cores[d.fullest].bytes)
			d.fullest = i;
	}
	return d;
}

/* The dump with the fullest core. */
static struct dump fullest_dump(const struct tdm_core_cbs *c)
{
	struct dump best = read_dump(c, 0);
	for (size_t at = best.count; at < c->core_count;) {
		struct dump d = read_dump(c, at);
		if (c->cores[d.fullest].bytes > c->cores[best.fullest].bytes)
			best = d;
		at += d.count;
	}
	return best;
}

static void sum_indexes(const struct tdm_core_cbs *c, const struct dump *d, struct by_index indexes[INDEXES])
{
	memset(indexes, 0, INDEXES * sizeof *indexes);
	for (size_t i = d->first; i < d->first + d->count; i++) {
		for (size_t k = 0; k < c->cores[i].count; k++) {
			const struct tdm_core_cb *cb = &c->cbs[c->cores[i].first + k];
			struct by_index *x = &indexes[cb->index];
			x->least = x->cores == 0 || cb->bytes < x->least ? cb->bytes : x->least;
			x->most = cb->bytes > x->most ? cb->bytes : x->most;
			x->total = tdm_plus(x->total, cb->bytes);
			x->cores++;
		}
	}
}

static void put_fullest(const struct tdm_cores_view *v, const struct dump *d, struct tdm_buf *out)
{
	const struct tdm_core_cbs *c = v->cores;
	const struct tdm_core_line *core = &c->cores[d->fullest];
	char most[TDM_BYTES_CAP], least[TDM_BYTES_CAP], average[TDM_BYTES_CAP], total[TDM_BYTES_CAP];
	tdm_buf_printf(out, "Fullest core   (%u,%u): %s in %zu circular buffer%s", core->x, core->y,
		tdm_format_bytes_short(most, sizeof most, core->bytes), core->count, tdm_plural(core->count));
	if (c->dump_count > 1)
		tdm_buf_printf(out, ", in dump %" PRIu32 " of %" PRIu32, core->dump + 1, c->dump_count);
	tdm_buf_printf(out, "\nPer core       least %s, average %s; all cores together %s\n",
		tdm_format_bytes_short(least, sizeof least, d->least),
		tdm_format_bytes_short(average, sizeof average,
			d->total != TDM_BYTES_UNKNOWN ? d->total / d->count : TDM_BYTES_UNKNOWN),
		tdm_format_bytes_short(total, sizeof total, d->total));
}

static void put_indexes(const struct tdm_cores_view *v, const struct dump *d, struct tdm_buf *out)
{
	struct by_index indexes[INDEXES];
	size_t count = 0;
	sum_indexes(v->cores, d, indexes);
	tdm_put_heading(out, &v->file.term, "Buffer    cores      least       most   all cores");
	for (int i = 0; i < INDEXES; i++) {
		char least[TDM_BYTES_CAP], most[TDM_BYTES_CAP], total[TDM_BYTES_CAP], name[16];
		if (indexes[i].cores == 0 || count++ >= v->file.limit)
			continue;
		snprintf(name, sizeof name, "CB%d", i);
		tdm_buf_printf(out, "%-8s %6" PRIu64 " %s %s  %s\n", name, indexes[i].cores,
			tdm_format_bytes(least, sizeof least, indexes[i].least),
			tdm_format_bytes(most, sizeof most, indexes[i].most),
			tdm_format_bytes(total, sizeof total, indexes[i].total));
	}
	tdm_put_rest(out, count, v->file.limit);
}

static int compare_cores(const void *left, const void *right, void *context)
{
	const struct tdm_core_cbs *c = context;
	const struct tdm_core_line *a = &c->cores[*(const size_t *)left], *b = &c->cores[*(const size_t *)right];
	if (a->bytes != b->bytes)
		return a->bytes > b->bytes ? -1 : 1;
	return a->line < b->line ? -1 : a->line > b->line;
}

static void put_core(const struct tdm_cores_view *v, size_t index, struct tdm_buf *out)
{
	const struct tdm_core_line *core = &v->cores->cores[index];
	char bytes[TDM_BYTES_CAP], name[24];
	snprintf(name, sizeof name, "(%u,%u)", core->x, core->y);
	tdm_buf_printf(out, "%-13s %s ", name, tdm_format_bytes(bytes, sizeof bytes, core->bytes));
	for (size_t k = 0; k < core->count && k < v->file.limit; k++) {
		const struct tdm_core_cb *cb = &v->cores->cbs[core->first + k];
		tdm_buf_printf(out, "%s CB%u %s", k == 0 ? "" : ",", cb->index,
			tdm_format_bytes_short(bytes, sizeof bytes, cb->bytes));
	}
	if (core->count > v->file.limit)
		tdm_buf_puts(out, ", ...");
	tdm_cell_trim(out);
	tdm_buf_putc(out, '\n');
}

static void put_cores(const struct tdm_cores_view *v, const struct dump *d, struct tdm_buf *out)
{
	size_t *order = malloc(d->count * sizeof *order);
	if (order == NULL) {
		out->failed = true;
		return;
	}
	for (size_t i = 0; i < d->count; i++)
		order[i] = d->first + i;
	struct tdm_core_cbs cores = *v->cores;
	qsort_r(order, d->count, sizeof *order, compare_cores, &cores);
	tdm_put_heading(out, &v->file.term, "Core                 all  circular buffers");
	for (size_t i = 0; i < d->count && i < v->file.limit; i++)
		put_core(v, order[i], out);
	tdm_put_rest(out, d->count, v->file.limit);
	free(order);
}

/* 0 for nothing, 1 to STEPS for parts of the most. */
static int step_of(uint64_t bytes, uint64_t most)
{
	return bytes == 0 || most == 0 ? 0 : 1 + (int)((double)bytes / (double)most * (STEPS - 1));
}

/* A digit for each core of the grid. */
static void put_grid(const struct tdm_cores_view *v, const struct dump *d, struct tdm_buf *out)
{
	const struct tdm_core_cbs *c = v->cores;
	char cells[GRID_SIDE][GRID_SIDE];
	unsigned x_max = 0, y_max = 0;
	memset(cells, '.', sizeof cells);
	for (size_t i = d->first; i < d->first + d->count; i++) {
		const struct tdm_core_line *core = &c->cores[i];
		if (core->x >= GRID_SIDE || core->y >= GRID_SIDE) {
			tdm_buf_puts(out, "\nThe grid of cores is too large to be drawn.\n");
			return;
		}
		x_max = core->x > x_max ? core->x : x_max;
		y_max = core->y > y_max ? core->y : y_max;
		cells[core->y][core->x] = (char)('0' + step_of(core->bytes, c->cores[d->fullest].bytes));
	}
	tdm_put_heading(out, &v->file.term, "Cores, 9 is the fullest, . has no line");
	tdm_buf_puts(out, "  y\\x");
	for (unsigned x = 0; x <= x_max; x++)
		tdm_buf_printf(out, " %2u", x);
	tdm_buf_putc(out, '\n');
	for (unsigned y = 0; y <= y_max; y++) {
		tdm_buf_printf(out, "  %3u", y);
		for (unsigned x = 0; x <= x_max; x++)
			tdm_buf_printf(out, "  %c", cells[y][x]);
		tdm_buf_putc(out, '\n');
	}
}

void tdm_cores_view_text(const struct tdm_cores_view *v, struct tdm_buf *out)
{
	const struct tdm_core_cbs *c = v->cores;
	tdm_buf_puts(out, "Core dump      ");
	tdm_cell_put(out, tdm_str_of(v->file.path), 0, v->file.term.utf8);
	tdm_buf_printf(out, ": %zu line%s of cores in %" PRIu32 " dump%s", c->core_count, tdm_plural(c->core_count),
		c->dump_count, tdm_plural(c->dump_count));
	if (c->others != 0)
		tdm_buf_printf(out, ", %" PRIu64 " other line%s", c->others, tdm_plural(c->others));
	tdm_buf_putc(out, '\n');
	tdm_put_cut(out, &v->file);
	if (c->core_count == 0)
		return;
	struct dump d = fullest_dump(c);
	put_fullest(v, &d, out);
	if (d.cbs != 0)
		put_indexes(v, &d, out);
	put_cores(v, &d, out);
	put_grid(v, &d, out);
}

static void json_dump(const struct tdm_cores_view *v, const struct dump *d, struct tdm_json *json)
{
	const struct tdm_core_cbs *c = v->cores;
	const struct tdm_core_line *most = &c->cores[d->fullest];
	tdm_json_object(json);
	tdm_json_put_u64(json, "line", c->cores[d->first].line);
	tdm_json_put_bytes(json, "bytes", d->total);
	tdm_json_put_bytes(json, "least_bytes", d->least);
	tdm_json_put_bytes(json, "most_bytes", most->bytes);
	tdm_json_put_array(json, "cores");
	for (size_t i = d->first; i < d->first + d->count; i++) {
		tdm_json_object(json);
		tdm_json_put_u64(json, "x", c->cores[i].x);
		tdm_json_put_u64(json, "y", c->cores[i].y);
		tdm_json_put_bytes(json, "bytes", c->cores[i].bytes);
		tdm_json_put_array(json, "cbs");
		for (size_t k = 0; k < c->cores[i].count; k++) {
			const struct tdm_core_cb *cb = &c->cbs[c->cores[i].first + k];
			tdm_json_object(json);
			tdm_json_put_u64(json, "index", cb->index);
			tdm_json_put_bytes(json, "bytes", cb->bytes);
			tdm_json_object_end(json);
		}
		tdm_json_array_end(json);
		tdm_json_object_end(json);
	}
	tdm_json_array_end(json);
	tdm_json_object_end(json);
}

void tdm_cores_view_json(const struct tdm_cores_view *v, struct tdm_json *json)
{
	const struct tdm_core_cbs *c = v->cores;
	tdm_json_put_text(json, "source", "core_dump");
	tdm_json_put_bool(json, "complete", !v->file.cut);
	tdm_json_put_u64(json, "refused", c->refused);
	tdm_json_put_u64(json, "other_lines", c->others);
	tdm_json_put_array(json, "dumps");
	for (size_t at = 0; at < c->core_count;) {
		struct dump d = read_dump(c, at);
		json_dump(v, &d, json);
		at += d.count;
	}
	tdm_json_array_end(json);
}
