/* The reports on the inspector's files: mesh buffers, and the kernels of programs. */
#include "report/report_files.h"
#include "report/finding_report.h"

#include <inttypes.h>
#include <stdio.h>

static char *format_seconds(char *dst, size_t cap, uint64_t ns)
{
	snprintf(dst, cap, "%.3f", (double)ns / 1e9);
	return dst;
}

static void put_seconds(uint64_t ns, struct tdm_buf *out)
{
	char text[32];
	tdm_buf_puts(out, format_seconds(text, sizeof text, ns));
}

/* ---- mesh buffers ---- */

static void put_peak_time(const struct tdm_field *field, struct tdm_buf *out)
{
	const struct tdm_buffer_history *h = field->table->context;
	put_seconds(((const struct tdm_history_kind *)field->row)->peak_ns - h->first_ns, out);
}

static void put_age(const struct tdm_field *field, struct tdm_buf *out)
{
	const struct tdm_buffer_history *h = field->table->context;
	put_seconds(h->last_ns - ((const struct tdm_history_buffer *)field->row)->born_ns, out);
}

static bool is_unused(const struct tdm_table *table, const void *row)
{
	(void)table;
	return ((const struct tdm_history_kind *)row)->allocs == 0;
}

#define KIND(member) TDM_MEMBER(struct tdm_history_kind, member)
static const struct tdm_column kinds[] = {
	{ "One device", "kind", KIND(kind), .flags = TDM_IS_KIND, .width = 10 },
	{ "at end", "bytes", KIND(bytes), TDM_BYTES },
	{ "buffers", "buffers", KIND(buffers), .width = 8, .before = 1 },
	{ "peak", "peak_bytes", KIND(peak_bytes), TDM_BYTES, .before = 2 },
	{ "buffers", "peak_buffers", KIND(peak_buffers), .width = 8, .before = 1 },
	{ "at s", "peak_ns", KIND(peak_ns), .text = put_peak_time, .width = 10, .before = 1 },
	{ "allocated", "allocs", KIND(allocs), .width = 10, .before = 2 },
	{ "released", "frees", KIND(frees), .width = 10, .before = 1 },
};

#define BUFFER(member) TDM_MEMBER(struct tdm_history_buffer, member)
static const struct tdm_column live[] = {
	{ NULL, "id", BUFFER(id) },
	{ "Alive", "kind", BUFFER(kind), .flags = TDM_IS_KIND, .width = 9 },
	{ NULL, "address", BUFFER(address) },
	{ "one device", "device_bytes", BUFFER(bytes), TDM_BYTES },
	{ "whole mesh", "mesh_bytes", BUFFER(mesh_bytes), TDM_BYTES, .before = 1 },
	{ "address", NULL, BUFFER(address), .width = 15 },
	{ "age s", "born_ns", BUFFER(born_ns), .text = put_age, .width = 12 },
	{ "line", "line", BUFFER(position), .before = 1 },
};

static struct tdm_table kind_table(const struct tdm_buffer_history *h)
{
	return (struct tdm_table){ TDM_COLUMNS(kinds), h->kinds, sizeof *h->kinds, TDM_KIND_COUNT, .skip = is_unused,
		.limit = SIZE_MAX, .context = h };
}

static struct tdm_table live_table(const struct tdm_buffer_history *h, size_t limit)
{
	struct tdm_table table = TDM_TABLE_OF(live, h->live, h->live_count);
	table.context = h;
	table.limit = limit;
	table.unknown = "unknown";
	return table;
}

void tdm_mesh_text(const struct tdm_buffer_history *h, const struct tdm_file_report *file, struct tdm_buf *out)
{
	struct tdm_findings found = { 0 };
	tdm_put_title(out, "Mesh buffers", file);
	tdm_buf_printf(out, ": %zu alive at the end, ", h->live_count);
	put_seconds(h->last_ns - h->first_ns, out);
	tdm_buf_printf(out, " s\nWhole mesh     %s at the end, at most %s\n", TDM_SIZE_TEXT(h->mesh_bytes),
		TDM_SIZE_TEXT(h->mesh_peak_bytes));
	tdm_put_cut(out, file);
	tdm_buffer_history_find(h, &found);
	tdm_findings_text(&found, &file->term, out);
	tdm_put_table(out, file, kind_table(h));
	tdm_put_table(out, file, live_table(h, file->limit));
}

void tdm_mesh_json(const struct tdm_buffer_history *h, const struct tdm_file_report *file, struct tdm_json *json)
{
	const struct tdm_table by_kind = kind_table(h), alive = live_table(h, file->limit);
	tdm_json_put_text(json, "source", "inspector");
	tdm_json_put_bool(json, "complete", !file->cut);
	tdm_json_put_u64(json, "refused", h->refused);
	tdm_json_put_u64(json, "unknown_frees", h->unknown_frees);
	tdm_json_put_u64(json, "rereports", h->rereports);
	tdm_json_put_u64(json, "overflows", h->overflows);
	tdm_json_put_u64(json, "first_ns", h->first_ns);
	tdm_json_put_u64(json, "last_ns", h->last_ns);
	tdm_json_put_bytes(json, "mesh_bytes", h->mesh_bytes);
	tdm_json_put_bytes(json, "mesh_peak_bytes", h->mesh_peak_bytes);
	tdm_json_put_table(json, "kinds", &by_kind);
	tdm_json_put_table(json, "live", &alive);
}

/* ---- programs ---- */

/* Text shows the code size as far as it is known; JSON has it only when all of it is known. */
static void json_code(const struct tdm_field *field, struct tdm_json *json)
{
	const struct tdm_kernel_program *p = field->row;
	tdm_json_bytes(json, p->unknown == 0 ? p->code_bytes : TDM_BYTES_UNKNOWN);
}

static void put_notes(const struct tdm_field *field, struct tdm_buf *out)
{
	const struct tdm_kernel_program *p = field->row;
	tdm_buf_puts(out, p->destroyed ? "destroyed  " : "");
	if (p->known != 0 && p->unknown != 0)
		tdm_buf_printf(out, "without %" PRIu64 " kernel%s that %s not found", p->unknown,
			tdm_plural(p->unknown), p->unknown == 1 ? "was" : "were");
}

#define PROGRAM(member) TDM_MEMBER(struct tdm_kernel_program, member)
#define CODE_KNOWN      TDM_KNOWN_IF(struct tdm_kernel_program, known)
static const struct tdm_column programs[] = {
	{ "Program", "id", PROGRAM(id), .flags = TDM_OTHER_SIDE, .width = 12 },
	{ "kernels", "kernels", PROGRAM(kernels), .width = 7 },
	{ "code", "code_bytes", PROGRAM(code_bytes), CODE_KNOWN, TDM_BYTES, .unknown = "unknown", .json = json_code },
	{ "of ring", NULL, PROGRAM(ring_share), CODE_KNOWN, .decimals = 1, .width = 7 },
	{ NULL, "kernels_not_found", PROGRAM(unknown) },
	{ "compile s", "compile_ns", PROGRAM(compile_ns), .format = format_seconds, .width = 10 },
	{ "", "destroyed", PROGRAM(destroyed), .text = put_notes, .before = 1 },
};

#define NAME(member) TDM_MEMBER(struct tdm_kernel_name, member)
static const struct tdm_column names[] = {
	{ "Kernel", NULL, NAME(name), .width = 40 },
	{ "often", NULL, NAME(kernels), .width = 7 },
	{ "largest", NULL, NAME(code_bytes), TDM_BYTES, .unknown = "unknown" },
};

#define LISTED(member) TDM_MEMBER(struct tdm_program_kernel, member)
static const struct tdm_column listed[] = {
	{ NULL, "name", LISTED(name) },
	{ NULL, "program", LISTED(program) },
	{ NULL, "watcher_id", LISTED(watcher_id) },
	{ NULL, "path", LISTED(path), .flags = TDM_ZERO_IS_UNKNOWN },
	{ NULL, "kernel_source", LISTED(source), .flags = TDM_ZERO_IS_UNKNOWN },
	{ NULL, "code_bytes", LISTED(code_bytes) },
};

void tdm_programs_text(const struct tdm_kernel_programs *p, const struct tdm_file_report *file, struct tdm_buf *out)
{
	tdm_put_title(out, "Programs", file);
	tdm_buf_printf(out, ": %zu program%s, %zu kernel%s\n", p->program_count, tdm_plural(p->program_count),
		p->kernel_count, tdm_plural(p->kernel_count));
	if (p->ring_bytes != TDM_BYTES_UNKNOWN)
		tdm_buf_printf(out, "Ring           %s for kernels, arguments and settings of a core\n",
			TDM_SIZE_TEXT(p->ring_bytes));
	tdm_put_cut(out, file);
	tdm_put_table(out, file, TDM_TABLE_OF(programs, p->programs, p->program_count));
	tdm_put_table(out, file, TDM_TABLE_OF(names, p->names, p->name_count));
}

void tdm_programs_json(const struct tdm_kernel_programs *p, const struct tdm_file_report *file, struct tdm_json *json)
{
	tdm_json_put_text(json, "source", "inspector");
	tdm_json_put_bool(json, "complete", !file->cut);
	tdm_json_put_u64(json, "refused", p->refused);
	tdm_json_put_bytes(json, "ring_bytes", p->ring_bytes);
	tdm_json_put_table(json, "programs", &TDM_TABLE_OF(programs, p->programs, p->program_count));
	tdm_json_put_table(json, "kernels", &TDM_TABLE_OF(listed, p->kernels, p->kernel_count));
}
