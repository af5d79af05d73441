#include "report/report_cores.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { GRID_SIDE = 64, STEPS = 9 };

static void put_fullest(const struct tdm_core_dumps *c, const struct tdm_core_dump *d, struct tdm_buf *out)
{
	const struct tdm_core_line *core = &c->cores[d->fullest];
	char most[TDM_BYTES_CAP], least[TDM_BYTES_CAP], average[TDM_BYTES_CAP], total[TDM_BYTES_CAP];
	tdm_buf_printf(out, "Fullest core   (%u,%u): %s in %zu circular buffer%s", core->x, core->y,
		tdm_format_bytes_short(most, sizeof most, core->bytes), core->count, tdm_plural(core->count));
	if (c->dump_count > 1)
		tdm_buf_printf(out, ", in dump %zu of %zu", (size_t)(d - c->dumps) + 1, c->dump_count);
	tdm_buf_printf(out, "\nPer core       least %s, average %s; all cores together %s\n",
		tdm_format_bytes_short(least, sizeof least, d->least),
		tdm_format_bytes_short(average, sizeof average,
			d->total != TDM_BYTES_UNKNOWN ? d->total / d->count : TDM_BYTES_UNKNOWN),
		tdm_format_bytes_short(total, sizeof total, d->total));
}

static void put_indexes(const struct tdm_core_dumps *c, const struct tdm_core_dump *d,
	const struct tdm_file_report *file, struct tdm_buf *out)
{
	struct tdm_core_index indexes[TDM_CORE_CBS];
	size_t count = 0;
	tdm_core_dump_indexes(c, d, indexes);
	tdm_put_heading(out, &file->term, "Buffer    cores      least       most   all cores");
	for (int i = 0; i < TDM_CORE_CBS; i++) {
		char least[TDM_BYTES_CAP], most[TDM_BYTES_CAP], total[TDM_BYTES_CAP], name[16];
		if (indexes[i].cores == 0 || count++ >= file->limit)
			continue;
		snprintf(name, sizeof name, "CB%d", i);
		tdm_buf_printf(out, "%-8s %6" PRIu64 " %s %s  %s\n", name, indexes[i].cores,
			tdm_format_bytes(least, sizeof least, indexes[i].least),
			tdm_format_bytes(most, sizeof most, indexes[i].most),
			tdm_format_bytes(total, sizeof total, indexes[i].total));
	}
	tdm_put_rest(out, count, file->limit);
}

static void put_core(const struct tdm_core_line *core, size_t limit, struct tdm_buf *out)
{
	char bytes[TDM_BYTES_CAP], name[24];
	snprintf(name, sizeof name, "(%u,%u)", core->x, core->y);
	tdm_buf_printf(out, "%-13s %s ", name, tdm_format_bytes(bytes, sizeof bytes, core->bytes));
	for (size_t k = 0; k < core->count && k < limit; k++)
		tdm_buf_printf(out, "%s CB%u %s", k == 0 ? "" : ",", core->cbs[k].index,
			tdm_format_bytes_short(bytes, sizeof bytes, core->cbs[k].bytes));
	if (core->count > limit)
		tdm_buf_puts(out, ", ...");
	tdm_cell_trim(out);
	tdm_buf_putc(out, '\n');
}

static void put_cores(const struct tdm_core_dumps *c, const struct tdm_core_dump *d, const struct tdm_file_report *file,
	struct tdm_buf *out)
{
	size_t *order = tdm_core_dump_order(c, d);
	out->failed |= order == NULL;
	tdm_put_heading(out, &file->term, "Core                 all  circular buffers");
	for (size_t i = 0; order != NULL && i < d->count && i < file->limit; i++)
		put_core(&c->cores[order[i]], file->limit, out);
	tdm_put_rest(out, d->count, file->limit);
	free(order);
}

/* 0 for nothing, 1 to STEPS for parts of the most. */
static int step_of(uint64_t bytes, uint64_t most)
{
	return bytes == 0 || most == 0 ? 0 : 1 + (int)((double)bytes / (double)most * (STEPS - 1));
}

/* A digit for each core of the grid. */
static void put_grid(const struct tdm_core_dumps *c, const struct tdm_core_dump *d, const struct tdm_file_report *file,
	struct tdm_buf *out)
{
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
	tdm_put_heading(out, &file->term, "Cores, 9 is the fullest, . has no line");
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

void tdm_cores_text(const struct tdm_core_dumps *c, const struct tdm_file_report *file, struct tdm_buf *out)
{
	const struct tdm_core_dump *d = tdm_core_dumps_fullest(c);
	tdm_put_title(out, "Core dump", file);
	tdm_buf_printf(out, ": %zu line%s of cores in %zu dump%s", c->core_count, tdm_plural(c->core_count),
		c->dump_count, tdm_plural(c->dump_count));
	if (c->others != 0)
		tdm_buf_printf(out, ", %" PRIu64 " other line%s", c->others, tdm_plural(c->others));
	tdm_buf_putc(out, '\n');
	tdm_put_cut(out, file);
	if (d == NULL)
		return;
	put_fullest(c, d, out);
	if (d->cbs != 0)
		put_indexes(c, d, file, out);
	put_cores(c, d, file, out);
	put_grid(c, d, file, out);
}

static void json_core(const struct tdm_core_line *core, struct tdm_json *json)
{
	tdm_json_object(json);
	tdm_json_put_u64(json, "x", core->x);
	tdm_json_put_u64(json, "y", core->y);
	tdm_json_put_bytes(json, "bytes", core->bytes);
	tdm_json_put_array(json, "cbs");
	for (size_t k = 0; k < core->count; k++) {
		tdm_json_object(json);
		tdm_json_put_u64(json, "index", core->cbs[k].index);
		tdm_json_put_bytes(json, "bytes", core->cbs[k].bytes);
		tdm_json_object_end(json);
	}
	tdm_json_array_end(json);
	tdm_json_object_end(json);
}

void tdm_cores_json(const struct tdm_core_dumps *c, const struct tdm_file_report *file, struct tdm_json *json)
{
	tdm_json_put_text(json, "source", "core_dump");
	tdm_json_put_bool(json, "complete", !file->cut);
	tdm_json_put_u64(json, "refused", c->refused);
	tdm_json_put_u64(json, "other_lines", c->others);
	tdm_json_put_array(json, "dumps");
	for (size_t k = 0; k < c->dump_count; k++) {
		const struct tdm_core_dump *d = &c->dumps[k];
		tdm_json_object(json);
		tdm_json_put_u64(json, "line", c->cores[d->first].line);
		tdm_json_put_bytes(json, "bytes", d->total);
		tdm_json_put_bytes(json, "least_bytes", d->least);
		tdm_json_put_bytes(json, "most_bytes", c->cores[d->fullest].bytes);
		tdm_json_put_array(json, "cores");
		for (size_t i = d->first; i < d->first + d->count; i++)
			json_core(&c->cores[i], json);
		tdm_json_array_end(json);
		tdm_json_object_end(json);
	}
	tdm_json_array_end(json);
}
