#include "report/report_kernels.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { NAME_COLUMNS = 32, TARGET_COLUMNS = 24 };

static void put_targets(const struct tdm_kernels_view *v, bool firmware, struct tdm_buf *out)
{
	struct tdm_kernel_target targets[TDM_KERNEL_TARGETS_MAX];
	size_t count = tdm_kernel_sizes_targets(v->sizes, firmware, targets);
	char text[120];
	if (count == 0)
		return;
	snprintf(text, sizeof text, "%-24s %7s %10s %10s %10s", firmware ? "Firmware" : "Processor", "files", "bytes",
		"largest", "zeroed");
	tdm_put_heading(out, &v->file.term, text);
	for (size_t i = 0; i < count; i++) {
		char bytes[TDM_BYTES_CAP], largest[TDM_BYTES_CAP], zeroed[TDM_BYTES_CAP];
		size_t used = tdm_cell_put(out, tdm_str_of(targets[i].name), TARGET_COLUMNS, v->file.term.utf8);
		tdm_buf_fill(out, ' ', TARGET_COLUMNS - used);
		tdm_buf_printf(out, " %7" PRIu64 " %s %s %s\n", targets[i].files,
			tdm_format_bytes(bytes, sizeof bytes, targets[i].bytes),
			tdm_format_bytes(largest, sizeof largest, targets[i].largest),
			tdm_format_bytes(zeroed, sizeof zeroed, targets[i].zeroed));
	}
}

static double of_ring(const struct tdm_kernels_view *v, uint64_t bytes)
{
	return v->ring_bytes != TDM_BYTES_UNKNOWN && v->ring_bytes != 0 ? (double)bytes / (double)v->ring_bytes : NAN;
}

static void put_kernel(const struct tdm_kernels_view *v, const struct tdm_kernel_size *k, struct tdm_buf *out)
{
	const struct tdm_kernel_binary *first = &v->sizes->binaries[k->first];
	const char *name = first->name[0] != '\0' ? first->name : first->path;
	char bytes[TDM_BYTES_CAP];
	double share = of_ring(v, k->ring_bytes);
	size_t used = tdm_cell_put(out, tdm_str_of(name), NAME_COLUMNS, v->file.term.utf8);
	tdm_buf_fill(out, ' ', NAME_COLUMNS - used);
	tdm_buf_printf(out, " %s", tdm_format_bytes(bytes, sizeof bytes, k->ring_bytes));
	if (isnan(share))
		tdm_buf_printf(out, " %7s", "-");
	else
		tdm_buf_printf(out, " %6.1f%%", share * 100);
	tdm_buf_printf(out, "  %-20s ", first->hash);
	for (size_t i = 0; i < k->count; i++) {
		tdm_buf_puts(out, i == 0 ? " " : ", ");
		tdm_cell_put(out, tdm_str_of(first[i].target), TARGET_COLUMNS, v->file.term.utf8);
	}
	tdm_buf_putc(out, '\n');
}

static void put_notes(const struct tdm_kernels_view *v, struct tdm_buf *out)
{
	const struct tdm_kernel_sizes *s = v->sizes;
	const char *style = tdm_term_style(&v->file.term, TDM_STYLE_YELLOW);
	const char *off = tdm_term_style(&v->file.term, TDM_STYLE_OFF);
	uint64_t too_large = 0;
	while (too_large < s->kernel_count && v->ring_bytes != TDM_BYTES_UNKNOWN &&
		s->kernels[too_large].ring_bytes > v->ring_bytes)
		too_large++; /* the largest come first */
	if (too_large != 0)
		tdm_buf_printf(out,
			"%sToo large      %" PRIu64 " kernel%s do%s not fit the kernel-config ring alone%s\n", style,
			too_large, tdm_plural(too_large), too_large == 1 ? "es" : "", off);
	if (s->over_limit != 0)
		tdm_buf_printf(out, "%sOver limit     %" PRIu64 " file%s with a segment above its limit%s\n", style,
			s->over_limit, tdm_plural(s->over_limit), off);
	if (s->rest.links != 0)
		tdm_buf_printf(out, "Not followed   %" PRIu64 " link%s\n", s->rest.links, tdm_plural(s->rest.links));
	if (s->rest.unvisited != 0)
		tdm_buf_printf(out, "%sNot visited    %" PRIu64 " folder%s too deep, or beyond %d entries%s\n", style,
			s->rest.unvisited, tdm_plural(s->rest.unvisited), TDM_WALK_ENTRIES, off);
}

void tdm_kernels_text(const struct tdm_kernels_view *v, struct tdm_buf *out)
{
	const struct tdm_kernel_sizes *s = v->sizes;
	size_t files = s->count - s->firmware;
	char bytes[TDM_BYTES_CAP], text[120];
	tdm_put_title(out, "Kernels", &v->file);
	tdm_buf_printf(out, ": %zu kernel%s in %zu file%s, %s; %zu of firmware\n", s->kernel_count,
		tdm_plural(s->kernel_count), files, tdm_plural(files),
		tdm_format_bytes_short(bytes, sizeof bytes, s->packed_bytes), s->firmware);
	if (v->ring_bytes != TDM_BYTES_UNKNOWN)
		tdm_buf_printf(out, "Ring           %s for kernels, arguments and settings of a core (%s)\n",
			tdm_format_bytes_short(bytes, sizeof bytes, v->ring_bytes), v->ring_from);
	put_notes(v, out);
	put_targets(v, false, out);
	snprintf(text, sizeof text, "%-*s %10s %7s  %-20s  %s", NAME_COLUMNS, "Kernel", "in ring", "of ring", "hash",
		"processors");
	if (s->kernel_count != 0)
		tdm_put_heading(out, &v->file.term, text);
	for (size_t i = 0; i < s->kernel_count && i < v->file.limit; i++)
		put_kernel(v, &s->kernels[i], out);
	tdm_put_rest(out, s->kernel_count, v->file.limit);
	put_targets(v, true, out);
}

static void json_binary(const struct tdm_kernel_binary *b, struct tdm_json *json)
{
	tdm_json_object(json);
	tdm_json_put_text(json, "target", b->target);
	tdm_json_put_text(json, "path", b->path);
	tdm_json_put_bytes(json, "packed_bytes", b->packed_bytes);
	tdm_json_put_bytes(json, "text_bytes", b->text_bytes);
	tdm_json_put_bytes(json, "zeroed_bytes", b->zeroed_bytes);
	tdm_json_put_u64(json, "segments_over_limit", b->over_limit);
	tdm_json_object_end(json);
}

void tdm_kernels_json(const struct tdm_kernels_view *v, struct tdm_json *json)
{
	const struct tdm_kernel_sizes *s = v->sizes;
	tdm_json_put_text(json, "source", "kernel_cache");
	tdm_json_put_u64(json, "refused", s->refused);
	tdm_json_put_u64(json, "links", s->rest.links);
	tdm_json_put_u64(json, "unvisited", s->rest.unvisited);
	tdm_json_put_bytes(json, "ring_bytes", v->ring_bytes);
	tdm_json_put_array(json, "kernels");
	for (size_t i = 0; i < s->kernel_count; i++) {
		const struct tdm_kernel_binary *first = &s->binaries[s->kernels[i].first];
		tdm_json_object(json);
		tdm_json_put_name(json, "name", first->name);
		tdm_json_put_name(json, "hash", first->hash);
		tdm_json_put_name(json, "build", first->build);
		tdm_json_put_bytes(json, "ring_bytes", s->kernels[i].ring_bytes);
		tdm_json_put_double(json, "ring_share", of_ring(v, s->kernels[i].ring_bytes));
		tdm_json_put_array(json, "binaries");
		for (size_t k = 0; k < s->kernels[i].count; k++)
			json_binary(&first[k], json);
		tdm_json_array_end(json);
		tdm_json_object_end(json);
	}
	tdm_json_array_end(json);
	tdm_json_put_array(json, "firmware");
	for (size_t i = s->count - s->firmware; i < s->count; i++)
		json_binary(&s->binaries[i], json);
	tdm_json_array_end(json);
}
