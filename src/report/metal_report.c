#include "report/metal_report.h"
#include "report/report_put.h"
#include "report/table.h"

#include <stdlib.h>
#include <string.h>

static const char *const states[] = { [TDM_ELF_ABSENT] = "missing",
	[TDM_ELF_IMPORTED] = "imported",
	[TDM_ELF_HIDDEN] = "hidden",
	[TDM_ELF_DEFINED] = "there" };
static const char *const targets[] = { [TDM_METAL_TARGET_LIBRARY] = "library",
	[TDM_METAL_TARGET_PROGRAM] = "program",
	[TDM_METAL_TARGET_PROCESS] = "process" };

struct row {
	const struct tdm_metal_function *f;
	const char *name, *symbol, *topic, *since, *until, *sees;
	bool is_hook, is_needed;
	const char *state;
	uint64_t calls;
};

static void fill(struct row *row, const struct tdm_metal_setup *setup, const struct tdm_metal_file *file, size_t i)
{
	const struct tdm_metal_function *f = &setup->functions[i];
	*row = (struct row){ f, f->name, f->symbol, f->topic, f->since, f->until, f->sees, f->is_hook, f->is_needed,
		states[file != NULL ? file->has[i] : TDM_ELF_ABSENT], setup->calls[i] };
}

static const char *style_of(const struct tdm_field *field)
{
	const struct row *row = field->row;
	return row->state == states[TDM_ELF_DEFINED] ? "" : TDM_STYLE_DIM;
}

#define ROW(member) TDM_MEMBER(struct row, member)
static const struct tdm_column columns[] = {
	{ "State", "state", ROW(state), .width = 9, .style = style_of },
	{ "Calls", "calls", ROW(calls), TDM_COUNT(10) },
	{ "Function", "name", ROW(name), .width = TDM_WIDTH_OF_TABLE },
	{ NULL, "symbol", ROW(symbol) },
	{ "Topic", "topic", ROW(topic), .width = TDM_WIDTH_OF_TABLE + 1 },
	{ "Sees", "sees", ROW(sees), .flags = TDM_REST, .width = 10 },
	{ NULL, "since", ROW(since) },
	{ NULL, "until", ROW(until) },
	{ NULL, "hooked", ROW(is_hook) },
	{ NULL, "needed", ROW(is_needed) },
};
enum { CALLS = 1 };

/* The rows of a file: with `whole` each name of a function, else the best one of each. */
static size_t collect(
	struct row *rows, const struct tdm_metal_setup *setup, const struct tdm_metal_file *file, bool whole)
{
	size_t count = 0;
	for (size_t i = 0; i < setup->function_count; i++) {
		size_t same = whole ? count : 0;
		while (same < count && strcmp(rows[same].name, setup->functions[i].name) != 0)
			same++;
		if (same == count)
			fill(&rows[count++], setup, file, i);
		else if (file->has[i] > file->has[rows[same].f - setup->functions])
			fill(&rows[same], setup, file, i);
	}
	return count;
}

void tdm_metal_text(const struct tdm_metal_setup *setup, const struct tdm_term *term, struct tdm_buf *out)
{
	struct row *rows = calloc(setup->function_count + 1, sizeof *rows);
	out->failed |= rows == NULL;
	for (size_t i = 0; rows != NULL && i < setup->definer_count; i++) {
		struct tdm_table table = TDM_TABLE_OF(columns, rows, collect(rows, setup, &setup->files[i], false));
		for (size_t k = 0; k < table.count; k++) {
			table.widths[0] = tdm_max(table.widths[0], strlen(rows[k].name));
			table.widths[1] = tdm_max(table.widths[1], strlen(rows[k].topic));
		}
		table.hidden = setup->type == TDM_METAL_TARGET_PROCESS ? 0 : 1 << CALLS;
		table.gap = 2;
		table.style = TDM_STYLE_BOLD;
		tdm_buf_putc(out, '\n');
		tdm_cell_text(out, setup->files[i].path, term->utf8);
		tdm_buf_putc(out, '\n');
		tdm_table_text(&table, term, out);
	}
	free(rows);
}

void tdm_metal_json(const struct tdm_metal_setup *setup, struct tdm_json *json)
{
	struct row *rows = calloc(setup->function_count + 1, sizeof *rows);
	json->out->failed |= rows == NULL;
	tdm_json_object(json);
	tdm_json_put_text(json, "target", setup->target);
	tdm_json_put_text(json, "type", targets[setup->type]);
	tdm_json_put_known(json, "pid", setup->pid != 0, (uint64_t)setup->pid);
	tdm_json_key(json, "preloaded");
	if (setup->type == TDM_METAL_TARGET_PROCESS && setup->err == 0)
		tdm_json_bool(json, setup->has_preload);
	else
		tdm_json_null(json);
	tdm_json_put_array(json, "libraries");
	for (size_t i = 0; rows != NULL && i < setup->file_count; i++) {
		const struct tdm_metal_file *file = &setup->files[i];
		struct tdm_table table = TDM_TABLE_OF(columns, rows, collect(rows, setup, file, true));
		tdm_json_object(json);
		tdm_json_put_text(json, "path", file->path);
		tdm_json_put_u64(json, "defined", file->defined);
		tdm_json_put_u64(json, "hidden", file->hidden);
		tdm_json_put_u64(json, "imported", file->imported);
		tdm_json_put_bool(json, "symbolic", file->is_symbolic);
		tdm_json_put_bool(json, "bound", file->is_bound);
		tdm_json_put_bool(json, "deleted", file->is_deleted);
		tdm_json_put_table(json, "functions", &table);
		tdm_json_object_end(json);
	}
	tdm_json_array_end(json);
	tdm_json_object_end(json);
	free(rows);
}
