#include "report/report_inspector.h"
#include "report/cell.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

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

void tdm_mesh_view_text(const struct tdm_mesh_view *v, struct tdm_buf *out)
{
	const struct tdm_buffer_history *h = v->history;
	char now[TDM_BYTES_CAP], peak[TDM_BYTES_CAP];
	tdm_buf_puts(out, "Mesh buffers   ");
	tdm_cell_put(out, tdm_str_of(v->file.path), 0, v->file.term.utf8);
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

void tdm_mesh_view_json(const struct tdm_mesh_view *v, struct tdm_json *json)
{
	const struct tdm_buffer_history *h = v->history;
	tdm_json_put_text(json, "source", "inspector");
	tdm_json_put_bool(json, "complete", !v->file.cut);
	tdm_json_put_u64(json, "refused", v->refused);
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

/* A program with the code of all its kernels. */
struct program_size {
	size_t program;      /* index */
	uint64_t code_bytes; /* of the kernels that are known */
	uint64_t unknown;    /* kernels whose code is not */
};

static int compare_programs(const void *left, const void *right)
{
	const struct program_size *a = left, *b = right;
	if (a->code_bytes != b->code_bytes)
		return a->code_bytes > b->code_bytes ? -1 : 1;
	return a->program < b->program ? -1 : a->program > b->program;
}

/* Programs, those with most code first. Owned by the caller; NULL when out of memory. */
static struct program_size *size_programs(const struct tdm_programs_view *v)
{
	const struct tdm_kernel_list *list = v->list;
	struct program_size *all = calloc(list->program_count != 0 ? list->program_count : 1, sizeof *all);
	if (all == NULL)
		return NULL;
	for (size_t i = 0; i < list->program_count; i++)
		all[i].program = i;
	for (size_t i = 0; i < list->kernel_count; i++) {
		struct program_size *p = &all[list->kernels[i].program];
		if (v->code_bytes[i] == TDM_BYTES_UNKNOWN)
			p->unknown++;
		else
			p->code_bytes += v->code_bytes[i];
	}
	if (list->program_count != 0)
		qsort(all, list->program_count, sizeof *all, compare_programs);
	return all;
}

/* How often each name comes: the same kernel is in many programs. */
struct by_name {
	const char *name;
	uint64_t kernels, code_bytes; /* the most of one */
};

static int compare_texts(const void *left, const void *right)
{
	return strcmp(((const struct by_name *)left)->name, ((const struct by_name *)right)->name);
}

static int compare_names(const void *left, const void *right)
{
	const struct by_name *a = left, *b = right;
	if (a->kernels != b->kernels)
		return a->kernels > b->kernels ? -1 : 1;
	return strcmp(a->name, b->name);
}

/* Names, the one that comes most often first. Owned by the caller; NULL when out of memory. */
static struct by_name *count_names(const struct tdm_programs_view *v, size_t *count)
{
	const struct tdm_kernel_list *list = v->list;
	struct by_name *all = calloc(list->kernel_count != 0 ? list->kernel_count : 1, sizeof *all);
	*count = 0;
	if (all == NULL || list->kernel_count == 0)
		return all;
	for (size_t i = 0; i < list->kernel_count; i++)
		all[i] = (struct by_name){ tdm_kernel_list_text(list, list->kernels[i].name), 1, v->code_bytes[i] };
	qsort(all, list->kernel_count, sizeof *all, compare_texts);
	for (size_t i = 0; i < list->kernel_count; i++) {
		struct by_name *last = *count != 0 ? &all[*count - 1] : NULL;
		if (last == NULL || strcmp(last->name, all[i].name) != 0) {
			all[(*count)++] = all[i];
			continue;
		}
		last->kernels++;
		if (all[i].code_bytes != TDM_BYTES_UNKNOWN &&
			(last->code_bytes == TDM_BYTES_UNKNOWN || all[i].code_bytes > last->code_bytes))
			last->code_bytes = all[i].code_bytes;
	}
	qsort(all, *count, sizeof *all, compare_names);
	return all;
}

static void put_program(const struct tdm_programs_view *v, const struct program_size *p, struct tdm_buf *out)
{
	const struct tdm_listed_program *program = &v->list->programs[p->program];
	bool known = p->unknown < program->kernels;
	char bytes[TDM_BYTES_CAP], id[32];
	snprintf(id, sizeof id, "%" PRIu64, program->id);
	tdm_buf_printf(out, "%-12s %7" PRIu64 " %s", id, program->kernels,
		tdm_format_bytes(bytes, sizeof bytes, known ? p->code_bytes : TDM_BYTES_UNKNOWN));
	if (known && v->ring_bytes != TDM_BYTES_UNKNOWN && v->ring_bytes != 0)
		tdm_buf_printf(out, " %6.1f%%", (double)p->code_bytes / (double)v->ring_bytes * 100);
	else
		tdm_buf_printf(out, " %7s", "-");
	if (program->compile_ns != TDM_BYTES_UNKNOWN)
		tdm_buf_printf(out, " %10.3f", seconds(program->compile_ns));
	else
		tdm_buf_printf(out, " %10s", "-");
	tdm_buf_puts(out, program->destroyed ? "  destroyed" : "");
	if (known && p->unknown != 0)
		tdm_buf_printf(out, "  without %" PRIu64 " kernel%s that %s not found", p->unknown,
			tdm_plural(p->unknown), p->unknown == 1 ? "was" : "were");
	tdm_buf_putc(out, '\n');
}

static void put_names(const struct tdm_programs_view *v, struct tdm_buf *out)
{
	size_t count;
	struct by_name *names = count_names(v, &count);
	out->failed |= names == NULL;
	if (count != 0)
		tdm_put_heading(out, &v->file.term, "Kernel                                     often    largest");
	for (size_t i = 0; names != NULL && i < count && i < v->file.limit; i++) {
		char bytes[TDM_BYTES_CAP];
		size_t used = tdm_cell_put(out, tdm_str_of(names[i].name), NAME_COLUMNS, v->file.term.utf8);
		tdm_buf_fill(out, ' ', NAME_COLUMNS - used);
		tdm_buf_printf(out, " %7" PRIu64 " %s\n", names[i].kernels,
			tdm_format_bytes(bytes, sizeof bytes, names[i].code_bytes));
	}
	tdm_put_rest(out, count, v->file.limit);
	free(names);
}

void tdm_programs_view_text(const struct tdm_programs_view *v, struct tdm_buf *out)
{
	const struct tdm_kernel_list *list = v->list;
	struct program_size *all = size_programs(v);
	char ring[TDM_BYTES_CAP];
	if (all == NULL) {
		out->failed = true;
		return;
	}
	tdm_buf_puts(out, "Programs       ");
	tdm_cell_put(out, tdm_str_of(v->file.path), 0, v->file.term.utf8);
	tdm_buf_printf(out, ": %zu program%s, %zu kernel%s\n", list->program_count, tdm_plural(list->program_count),
		list->kernel_count, tdm_plural(list->kernel_count));
	if (v->ring_bytes != TDM_BYTES_UNKNOWN)
		tdm_buf_printf(out, "Ring           %s for kernels, arguments and settings of a core\n",
			tdm_format_bytes_short(ring, sizeof ring, v->ring_bytes));
	tdm_put_cut(out, &v->file);
	if (list->program_count != 0)
		tdm_put_heading(out, &v->file.term, "Program      kernels       code of ring  compile s");
	for (size_t i = 0; i < list->program_count && i < v->file.limit; i++)
		put_program(v, &all[i], out);
	tdm_put_rest(out, list->program_count, v->file.limit);
	put_names(v, out);
	free(all);
}

void tdm_programs_view_json(const struct tdm_programs_view *v, struct tdm_json *json)
{
	const struct tdm_kernel_list *list = v->list;
	struct program_size *all = size_programs(v);
	json->out->failed |= all == NULL;
	tdm_json_put_text(json, "source", "inspector");
	tdm_json_put_bool(json, "complete", !v->file.cut);
	tdm_json_put_u64(json, "refused", list->refused);
	tdm_json_put_bytes(json, "ring_bytes", v->ring_bytes);
	tdm_json_put_array(json, "programs");
	for (size_t i = 0; all != NULL && i < list->program_count; i++) {
		const struct tdm_listed_program *program = &list->programs[all[i].program];
		tdm_json_object(json);
		tdm_json_put_u64(json, "id", program->id);
		tdm_json_put_u64(json, "kernels", program->kernels);
		tdm_json_put_bytes(json, "code_bytes", all[i].unknown == 0 ? all[i].code_bytes : TDM_BYTES_UNKNOWN);
		tdm_json_put_u64(json, "kernels_not_found", all[i].unknown);
		tdm_json_put_bytes(json, "compile_ns", program->compile_ns);
		tdm_json_put_bool(json, "destroyed", program->destroyed);
		tdm_json_object_end(json);
	}
	tdm_json_array_end(json);
	tdm_json_put_array(json, "kernels");
	for (size_t i = 0; i < list->kernel_count; i++) {
		const struct tdm_listed_kernel *k = &list->kernels[i];
		tdm_json_object(json);
		tdm_json_put_text(json, "name", tdm_kernel_list_text(list, k->name));
		tdm_json_put_u64(json, "program", list->programs[k->program].id);
		tdm_json_put_u64(json, "watcher_id", k->watcher_id);
		tdm_json_put_text(json, "path", k->path != 0 ? tdm_kernel_list_text(list, k->path) : NULL);
		tdm_json_put_text(json, "kernel_source", k->source != 0 ? tdm_kernel_list_text(list, k->source) : NULL);
		tdm_json_put_bytes(json, "code_bytes", v->code_bytes[i]);
		tdm_json_object_end(json);
	}
	tdm_json_array_end(json);
	free(all);
}
