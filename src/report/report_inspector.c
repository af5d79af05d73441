#include "report/report_inspector.h"

#include <inttypes.h>
#include <stdio.h>

enum { NAME_COLUMNS = 40 };

static double seconds(uint64_t ns)
{
	return (double)ns / 1e9;
}

static void put_mesh_faults(const struct tdm_mesh_view *v, struct tdm_buf *out)
{
	const struct tdm_buffer_history *h = v->history;
	if (h->unknown_frees == 0 && h->rereports == 0 && h->overflows == 0)
		return;
	tdm_buf_printf(out,
		"%sFaults         %" PRIu64 " release%s of buffers that were not alive, %" PRIu64
		" second allocation%s of live ones",
		tdm_term_style(&v->file.term, TDM_STYLE_YELLOW), h->unknown_frees, tdm_plural(h->unknown_frees),
		h->rereports, tdm_plural(h->rereports));
	if (h->overflows != 0)
		tdm_buf_printf(out, ", %" PRIu64 " of impossible size", h->overflows);
	tdm_buf_printf(out, "%s\n", tdm_term_style(&v->file.term, TDM_STYLE_OFF));
}

void tdm_mesh_text(const struct tdm_mesh_view *v, struct tdm_buf *out)
{
	const struct tdm_buffer_history *h = v->history;
	char now[TDM_BYTES_CAP], peak[TDM_BYTES_CAP];
	tdm_put_title(out, "Mesh buffers", &v->file);
	tdm_buf_printf(out, ": %zu alive at the end, %.3f s\n", h->live_count, seconds(h->last_ns - h->first_ns));
	tdm_buf_printf(out, "Whole mesh     %s at the end, at most %s\n",
		tdm_format_bytes_short(now, sizeof now, h->mesh_bytes),
		tdm_format_bytes_short(peak, sizeof peak, h->mesh_peak_bytes));
	tdm_put_cut(out, &v->file);
	put_mesh_faults(v, out);
	tdm_put_heading(out, &v->file.term,
		"One device    at end  buffers        peak  buffers       at s   allocated   released");
	for (int i = 0; i < TDM_KIND_COUNT; i++) {
		const struct tdm_history_kind *k = &h->kinds[i];
		if (k->allocs == 0)
			continue;
		tdm_buf_printf(out, "%-9s %s %8" PRIu64 "  %s %8" PRIu64 " %10.3f  %10" PRIu64 " %10" PRIu64 "\n",
			tdm_kind_name((enum tdm_kind)i), tdm_format_bytes(now, sizeof now, k->bytes), k->buffers,
			tdm_format_bytes(peak, sizeof peak, k->peak_bytes), k->peak_buffers,
			seconds(k->peak_ns - h->first_ns), k->allocs, k->frees);
	}
	if (h->live_count == 0)
		return;
	tdm_put_heading(out, &v->file.term, "Alive     one device  whole mesh         address        age s  line");
	for (size_t i = 0; i < h->live_count && i < v->file.limit; i++) {
		const struct tdm_history_buffer *b = &h->live[i];
		tdm_buf_printf(out, "%-9s %s  %s %15" PRIu64 " %12.3f  %" PRIu64 "\n",
			tdm_kind_name((enum tdm_kind)b->kind), tdm_format_bytes(now, sizeof now, b->bytes),
			tdm_format_bytes(peak, sizeof peak, b->mesh_bytes), b->address,
			seconds(h->last_ns - b->born_ns), b->position);
	}
	tdm_put_rest(out, h->live_count, v->file.limit);
}

void tdm_mesh_json(const struct tdm_mesh_view *v, struct tdm_json *json)
{
	const struct tdm_buffer_history *h = v->history;
	tdm_json_put_text(json, "source", "inspector");
	tdm_json_put_bool(json, "complete", !v->file.cut);
	tdm_json_put_u64(json, "refused", h->refused);
	tdm_json_put_u64(json, "unknown_frees", h->unknown_frees);
	tdm_json_put_u64(json, "rereports", h->rereports);
	tdm_json_put_u64(json, "overflows", h->overflows);
	tdm_json_put_u64(json, "first_ns", h->first_ns);
	tdm_json_put_u64(json, "last_ns", h->last_ns);
	tdm_json_put_bytes(json, "mesh_bytes", h->mesh_bytes);
	tdm_json_put_bytes(json, "mesh_peak_bytes", h->mesh_peak_bytes);
	tdm_json_put_array(json, "kinds");
	for (int i = 0; i < TDM_KIND_COUNT; i++) {
		const struct tdm_history_kind *k = &h->kinds[i];
		if (k->allocs == 0)
			continue;
		tdm_json_object(json);
		tdm_json_put_text(json, "kind", tdm_kind_name((enum tdm_kind)i));
		tdm_json_put_bytes(json, "bytes", k->bytes);
		tdm_json_put_u64(json, "buffers", k->buffers);
		tdm_json_put_bytes(json, "peak_bytes", k->peak_bytes);
		tdm_json_put_u64(json, "peak_buffers", k->peak_buffers);
		tdm_json_put_u64(json, "peak_ns", k->peak_ns);
		tdm_json_put_u64(json, "allocs", k->allocs);
		tdm_json_put_u64(json, "frees", k->frees);
		tdm_json_object_end(json);
	}
	tdm_json_array_end(json);
	tdm_json_put_array(json, "live");
	for (size_t i = 0; i < h->live_count && i < v->file.limit; i++) {
		const struct tdm_history_buffer *b = &h->live[i];
		tdm_json_object(json);
		tdm_json_put_u64(json, "id", b->id);
		tdm_json_put_text(json, "kind", tdm_kind_name((enum tdm_kind)b->kind));
		tdm_json_put_u64(json, "address", b->address);
		tdm_json_put_bytes(json, "device_bytes", b->bytes);
		tdm_json_put_bytes(json, "mesh_bytes", b->mesh_bytes);
		tdm_json_put_u64(json, "born_ns", b->born_ns);
		tdm_json_put_u64(json, "line", b->position);
		tdm_json_object_end(json);
	}
	tdm_json_array_end(json);
}

static void put_program(const struct tdm_programs_view *v, const struct tdm_kernel_program *p, struct tdm_buf *out)
{
	bool known = p->unknown < p->kernels;
	char bytes[TDM_BYTES_CAP], id[32];
	snprintf(id, sizeof id, "%" PRIu64, p->id);
	tdm_buf_printf(out, "%-12s %7" PRIu64 " %s", id, p->kernels,
		tdm_format_bytes(bytes, sizeof bytes, known ? p->code_bytes : TDM_BYTES_UNKNOWN));
	if (known && v->ring_bytes != TDM_BYTES_UNKNOWN && v->ring_bytes != 0)
		tdm_buf_printf(out, " %6.1f%%", (double)p->code_bytes / (double)v->ring_bytes * 100);
	else
		tdm_buf_printf(out, " %7s", "-");
	if (p->compile_ns != TDM_BYTES_UNKNOWN)
		tdm_buf_printf(out, " %10.3f", seconds(p->compile_ns));
	else
		tdm_buf_printf(out, " %10s", "-");
	tdm_buf_puts(out, p->destroyed ? "  destroyed" : "");
	if (known && p->unknown != 0)
		tdm_buf_printf(out, "  without %" PRIu64 " kernel%s that %s not found", p->unknown,
			tdm_plural(p->unknown), p->unknown == 1 ? "was" : "were");
	tdm_buf_putc(out, '\n');
}

static void put_names(const struct tdm_programs_view *v, struct tdm_buf *out)
{
	const struct tdm_kernel_programs *p = v->programs;
	if (p->name_count != 0)
		tdm_put_heading(out, &v->file.term, "Kernel                                     often    largest");
	for (size_t i = 0; i < p->name_count && i < v->file.limit; i++) {
		char bytes[TDM_BYTES_CAP];
		size_t used = tdm_cell_put(out, tdm_str_of(p->names[i].name), NAME_COLUMNS, v->file.term.utf8);
		tdm_buf_fill(out, ' ', NAME_COLUMNS - used);
		tdm_buf_printf(out, " %7" PRIu64 " %s\n", p->names[i].kernels,
			tdm_format_bytes(bytes, sizeof bytes, p->names[i].code_bytes));
	}
	tdm_put_rest(out, p->name_count, v->file.limit);
}

void tdm_programs_text(const struct tdm_programs_view *v, struct tdm_buf *out)
{
	const struct tdm_kernel_programs *p = v->programs;
	char ring[TDM_BYTES_CAP];
	tdm_put_title(out, "Programs", &v->file);
	tdm_buf_printf(out, ": %zu program%s, %zu kernel%s\n", p->program_count, tdm_plural(p->program_count),
		p->kernel_count, tdm_plural(p->kernel_count));
	if (v->ring_bytes != TDM_BYTES_UNKNOWN)
		tdm_buf_printf(out, "Ring           %s for kernels, arguments and settings of a core\n",
			tdm_format_bytes_short(ring, sizeof ring, v->ring_bytes));
	tdm_put_cut(out, &v->file);
	if (p->program_count != 0)
		tdm_put_heading(out, &v->file.term, "Program      kernels       code of ring  compile s");
	for (size_t i = 0; i < p->program_count && i < v->file.limit; i++)
		put_program(v, &p->programs[i], out);
	tdm_put_rest(out, p->program_count, v->file.limit);
	put_names(v, out);
}

void tdm_programs_json(const struct tdm_programs_view *v, struct tdm_json *json)
{
	const struct tdm_kernel_programs *p = v->programs;
	tdm_json_put_text(json, "source", "inspector");
	tdm_json_put_bool(json, "complete", !v->file.cut);
	tdm_json_put_u64(json, "refused", p->refused);
	tdm_json_put_bytes(json, "ring_bytes", v->ring_bytes);
	tdm_json_put_array(json, "programs");
	for (size_t i = 0; i < p->program_count; i++) {
		const struct tdm_kernel_program *program = &p->programs[i];
		tdm_json_object(json);
		tdm_json_put_u64(json, "id", program->id);
		tdm_json_put_u64(json, "kernels", program->kernels);
		tdm_json_put_known(json, "code_bytes", program->unknown == 0, program->code_bytes);
		tdm_json_put_u64(json, "kernels_not_found", program->unknown);
		tdm_json_put_bytes(json, "compile_ns", program->compile_ns);
		tdm_json_put_bool(json, "destroyed", program->destroyed);
		tdm_json_object_end(json);
	}
	tdm_json_array_end(json);
	tdm_json_put_array(json, "kernels");
	for (size_t i = 0; i < p->kernel_count; i++) {
		const struct tdm_program_kernel *k = &p->kernels[i];
		tdm_json_object(json);
		tdm_json_put_text(json, "name", k->name);
		tdm_json_put_u64(json, "program", k->program);
		tdm_json_put_u64(json, "watcher_id", k->watcher_id);
		tdm_json_put_name(json, "path", k->path);
		tdm_json_put_name(json, "kernel_source", k->source);
		tdm_json_put_bytes(json, "code_bytes", k->code_bytes);
		tdm_json_object_end(json);
	}
	tdm_json_array_end(json);
}
