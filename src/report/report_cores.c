/* The report on dumps of circular buffers, core by core. */
#include "report/report_files.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { GRID_SIDE = 64, STEPS = 9 };

static void put_fullest(const struct tdm_core_dumps *c, const struct tdm_core_dump *d, struct tdm_buf *out)
{
	const struct tdm_core_line *core = &c->cores[d->fullest];
	tdm_buf_printf(out, "Fullest core   (%u,%u): %s in %zu circular buffer%s", core->x, core->y,
		TDM_SIZE_TEXT(d->most), core->count, tdm_plural(core->count));
	if (c->dump_count > 1)
		tdm_buf_printf(out, ", in dump %zu of %zu", (size_t)(d - c->dumps) + 1, c->dump_count);
	tdm_buf_printf(out, "\nPer core       least %s, average %s; all cores together %s\n", TDM_SIZE_TEXT(d->least),
		TDM_SIZE_TEXT(d->total != TDM_BYTES_UNKNOWN ? d->total / d->count : TDM_BYTES_UNKNOWN),
		TDM_SIZE_TEXT(d->total));
}

static char *format_cb(char *dst, size_t cap, uint64_t index)
{
	snprintf(dst, cap, "CB%" PRIu64, index);
	return dst;
}

#define INDEX(member) TDM_MEMBER(struct tdm_core_index, member)
static const struct tdm_column indexes[] = {
	{ "Buffer", NULL, INDEX(index), .format = format_cb, .flags = TDM_OTHER_SIDE, .width = 8 },
	{ "cores", NULL, INDEX(cores), .width = 6 },
	{ "least", NULL, INDEX(least), TDM_BYTES },
	{ "most", NULL, INDEX(most), TDM_BYTES },
	{ "all cores", NULL, INDEX(total), TDM_BYTES, .before = 1, .unknown = "unknown" },
};

static void put_place(const struct tdm_field *field, struct tdm_buf *out)
{
	const struct tdm_core_line *core = field->row;
	tdm_buf_printf(out, "(%u,%u)", core->x, core->y);
}

static void put_cbs(const struct tdm_field *field, struct tdm_buf *out)
{
	const struct tdm_core_line *core = field->row;
	for (size_t k = 0; k < core->count && k < field->table->limit; k++)
		tdm_buf_printf(
			out, "%sCB%u %s", k == 0 ? "" : ", ", core->cbs[k].index, TDM_SIZE_TEXT(core->cbs[k].bytes));
	tdm_buf_puts(out, core->count > field->table->limit ? ", ..." : "");
}

#define CB(member) TDM_MEMBER(struct tdm_core_cb, member)
static const struct tdm_column cbs[] = { { NULL, "index", CB(index) }, { NULL, "bytes", CB(bytes) } };

static void json_cbs(const struct tdm_field *field, struct tdm_json *json)
{
	const struct tdm_core_line *core = field->row;
	tdm_table_json(&TDM_TABLE_OF(cbs, core->cbs, core->count), json);
}

#define CORE(member) TDM_MEMBER(struct tdm_core_line, member)
static const struct tdm_column cores[] = {
	{ "Core", NULL, .text = put_place, .flags = TDM_WHOLE, .width = 13 },
	{ NULL, "x", CORE(x) },
	{ NULL, "y", CORE(y) },
	{ "all", "bytes", CORE(bytes), TDM_BYTES },
	{ "circular buffers", "cbs", .text = put_cbs, .json = json_cbs, .before = 1 },
};

/* The fullest first. */
static void put_cores(const struct tdm_core_dumps *c, const struct tdm_core_dump *d, const struct tdm_file_report *file,
	struct tdm_buf *out)
{
	struct tdm_core_line *rows = tdm_core_dump_order(c, d);
	out->failed |= rows == NULL;
	if (rows != NULL)
		tdm_put_table(out, file, TDM_TABLE_OF(cores, rows, d->count));
	free(rows);
}

/* 0 for no bytes, 1 to STEPS for shares of the most. */
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
		cells[core->y][core->x] = (char)('0' + step_of(core->bytes, d->most));
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
	struct tdm_core_index rows[TDM_CORE_CBS];
	tdm_put_table(out, file, TDM_TABLE_OF(indexes, rows, tdm_core_dump_indexes(c, d, rows)));
	put_cores(c, d, file, out);
	put_grid(c, d, file, out);
}

static void json_cores(const struct tdm_field *field, struct tdm_json *json)
{
	const struct tdm_core_dump *d = field->row;
	const struct tdm_core_line *first = (const struct tdm_core_line *)field->table->context + d->first;
	tdm_table_json(&TDM_TABLE_OF(cores, first, d->count), json);
}

#define DUMP(member) TDM_MEMBER(struct tdm_core_dump, member)
static const struct tdm_column dumps[] = {
	{ NULL, "line", DUMP(line) },
	{ NULL, "bytes", DUMP(total) },
	{ NULL, "least_bytes", DUMP(least) },
	{ NULL, "most_bytes", DUMP(most) },
	{ NULL, "cores", .json = json_cores },
};

void tdm_cores_json(const struct tdm_core_dumps *c, const struct tdm_file_report *file, struct tdm_json *json)
{
	struct tdm_table table = TDM_TABLE_OF(dumps, c->dumps, c->dump_count);
	table.context = c->cores;
	tdm_json_put_text(json, "source", "core_dump");
	tdm_json_put_bool(json, "complete", !file->cut);
	tdm_json_put_u64(json, "refused", c->refused);
	tdm_json_put_u64(json, "other_lines", c->others);
	tdm_json_put_table(json, "dumps", &table);
}
