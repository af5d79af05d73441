#include "report/report_kernels.h"
#include "report/cell.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { NAME_COLUMNS = 32, TARGETS_MAX = 32 };

struct by_target {
	const char *name;
	uint8_t order;
	uint64_t files, bytes, largest, zeroed;
};

static int compare_sizes(const void *left, const void *right)
{
	const struct tdm_kernel_size *a = left, *b = right;
	if (a->ring_bytes != b->ring_bytes)
		return a->ring_bytes > b->ring_bytes ? -1 : 1;
	return a->first < b->first ? -1 : a->first > b->first;
}

struct tdm_kernel_size *tdm_kernel_sizes(const struct tdm_kernel_cache *cache, size_t *count)
{
	struct tdm_kernel_size *all = calloc(cache->count != 0 ? cache->count : 1, sizeof *all);
	*count = 0;
	for (size_t i = 0; all != NULL && i < cache->count; i++) {
		const struct tdm_kernel_binary *b = &cache->binaries[i];
		if (b->firmware)
			continue;
		if (*count == 0 || !tdm_kernel_cache_is_same(cache, all[*count - 1].first, i))
			all[(*count)++] = (struct tdm_kernel_size){ .first = i };
		struct tdm_kernel_size *k = &all[*count - 1];
		k->count++;
		k->ring_bytes += tdm_kernel_ring_bytes(b->packed_bytes);
		k->packed_bytes += b->packed_bytes;
	}
	if (*count != 0)
		qsort(all, *count, sizeof *all, compare_sizes);
	return all;
}

static int compare_targets(const void *left, const void *right)
{
	const struct by_target *a = left, *b = right;
	return a->order != b->order ? (a->order < b->order ? -1 : 1) : strcmp(a->name, b->name);
}

/* Sums by processor, of kernels or of firmware, in the order of the processors. Returns how many there are. */
static size_t sum_targets(const struct tdm_kernel_cache *cache, bool firmware, struct by_target targets[TARGETS_MAX])
{
	size_t count = 0;
	for (size_t i = 0; i < cache->count; i++) {
		const struct tdm_kernel_binary *b = &cache->binaries[i];
		const char *name = tdm_kernel_cache_text(cache, b->target);
		size_t k = 0;
		if (b->firmware != firmware)
			continue;
		while (k < count && strcmp(targets[k].name, name) != 0)
			k++;
		if (k == TARGETS_MAX)
			k--; /* the last one holds all that is left */
		if (k == count) {
			bool is_last = count == TARGETS_MAX - 1;
			targets[count++] = (struct by_target){ .name = is_last ? "others" : name,
				.order = is_last ? UINT8_MAX : b->order };
		}
		targets[k].files++;
		targets[k].bytes += b->packed_bytes;
		targets[k].zeroed += b->zeroed_bytes;
		targets[k].largest = b->packed_bytes > targets[k].largest ? b->packed_bytes : targets[k].largest;
	}
	if (count != 0)
		qsort(targets, count, sizeof *targets, compare_targets);
	return count;
}

static void put_targets(const struct tdm_kernels_view *v, bool firmware, struct tdm_buf *out)
{
	struct by_target targets[TARGETS_MAX];
	size_t count = sum_targets(v->cache, firmware, targets);
	char text[120];
	if (count == 0)
		return;
	snprintf(text, sizeof text, "%-24s %7s %10s %10s %10s", firmware ? "Firmware" : "Processor", "files", "bytes",
		"largest", "zeroed");
	tdm_put_heading(out, &v->file.term, text);
	for (size_t i = 0; i < count; i++) {
		char bytes[TDM_BYTES_CAP], largest[TDM_BYTES_CAP], zeroed[TDM_BYTES_CAP];
		size_t used = tdm_cell_put(out, tdm_str_of(targets[i].name), 24, v->file.term.utf8);
		tdm_buf_fill(out, ' ', 24 - used);
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
	const struct tdm_kernel_binary *first = &v->cache->binaries[k->first];
	const char *name = tdm_kernel_cache_text(v->cache, first->name != 0 ? first->name : first->path);
	char bytes[TDM_BYTES_CAP];
	double share = of_ring(v, k->ring_bytes);
	size_t used = tdm_cell_put(out, tdm_str_of(name), NAME_COLUMNS, v->file.term.utf8);
	tdm_buf_fill(out, ' ', NAME_COLUMNS - used);
	tdm_buf_printf(out, " %s", tdm_format_bytes(bytes, sizeof bytes, k->ring_bytes));
	if (isnan(share))
		tdm_buf_printf(out, " %7s", "-");
	else
		tdm_buf_printf(out, " %6.1f%%", share * 100);
	tdm_buf_printf(out, "  %-20s ", tdm_kernel_cache_text(v->cache, first->hash));
	for (size_t i = 0; i < k->count; i++) {
		tdm_buf_puts(out, i == 0 ? " " : ", ");
		tdm_cell_put(out, tdm_str_of(tdm_kernel_cache_text(v->cache, v->cache->binaries[k->first + i].target)),
			24, v->file.term.utf8);
	}
	tdm_buf_putc(out, '\n');
}

static void put_notes(
	const struct tdm_kernels_view *v, const struct tdm_kernel_size *all, size_t count, struct tdm_buf *out)
{
	const char *style = tdm_term_style(&v->file.term, TDM_STYLE_YELLOW);
	const char *off = tdm_term_style(&v->file.term, TDM_STYLE_OFF);
	uint64_t too_large = 0, over = 0;
	for (size_t i = 0; i < count; i++)
		too_large += v->ring_bytes != TDM_BYTES_UNKNOWN && all[i].ring_bytes > v->ring_bytes;
	for (size_t i = 0; i < v->cache->count; i++)
		over += v->cache->binaries[i].over_limit != 0;
	if (too_large != 0)
		tdm_buf_printf(out,
			"%sToo large      %" PRIu64 " kernel%s do%s not fit the kernel-config ring alone%s\n", style,
			too_large, tdm_plural(too_large), too_large == 1 ? "es" : "", off);
	if (over != 0)
		tdm_buf_printf(out, "%sOver limit     %" PRIu64 " file%s with a segment above its limit%s\n", style,
			over, tdm_plural(over), off);
	if (v->cache->links != 0)
		tdm_buf_printf(
			out, "Not followed   %" PRIu64 " link%s\n", v->cache->links, tdm_plural(v->cache->links));
	if (v->cache->unvisited != 0)
		tdm_buf_printf(out, "%sNot visited    %" PRIu64 " folder%s too deep, or beyond %d entries%s\n", style,
			v->cache->unvisited, tdm_plural(v->cache->unvisited), TDM_KERNEL_CACHE_ENTRIES, off);
}

void tdm_kernels_view_text(const struct tdm_kernels_view *v, struct tdm_buf *out)
{
	size_t count, firmware = 0;
	struct tdm_kernel_size *all = tdm_kernel_sizes(v->cache, &count);
	char bytes[TDM_BYTES_CAP];
	uint64_t sum = 0;
	if (all == NULL) {
		out->failed = true;
		return;
	}
	for (size_t i = 0; i < count; i++)
		sum += all[i].packed_bytes;
	for (size_t i = 0; i < v->cache->count; i++)
		firmware += v->cache->binaries[i].firmware;
	tdm_buf_puts(out, "Kernels        ");
	tdm_cell_put(out, tdm_str_of(v->file.path), 0, v->file.term.utf8);
	tdm_buf_printf(out, ": %zu kernel%s in %zu file%s, %s; %zu of firmware\n", count, tdm_plural(count),
		v->cache->count - firmware, tdm_plural(v->cache->count - firmware),
		tdm_format_bytes_short(bytes, sizeof bytes, sum), firmware);
	if (v->ring_bytes != TDM_BYTES_UNKNOWN)
		tdm_buf_printf(out, "Ring           %s for kernels, arguments and settings of a core (%s)\n",
			tdm_format_bytes_short(bytes, sizeof bytes, v->ring_bytes), v->ring_from);
	put_notes(v, all, count, out);
	put_targets(v, false, out);
	if (count != 0) {
		char text[120];
		snprintf(text, sizeof text, "%-*s %10s %7s  %-20s  %s", NAME_COLUMNS, "Kernel", "in ring", "of ring",
			"hash", "processors");
		tdm_put_heading(out, &v->file.term, text);
	}
	for (size_t i = 0; i < count && i < v->file.limit; i++)
		put_kernel(v, &all[i], out);
	tdm_put_rest(out, count, v->file.limit);
	put_targets(v, true, out);
	free(all);
}

static void json_binary(const struct tdm_kernels_view *v, const struct tdm_kernel_binary *b, struct tdm_json *json)
{
	tdm_json_object(json);
	tdm_json_put_text(json, "target", tdm_kernel_cache_text(v->cache, b->target));
	tdm_json_put_text(json, "path", tdm_kernel_cache_text(v->cache, b->path));
	tdm_json_put_bytes(json, "packed_bytes", b->packed_bytes);
	tdm_json_put_bytes(json, "text_bytes", b->text_bytes);
	tdm_json_put_bytes(json, "zeroed_bytes", b->zeroed_bytes);
	tdm_json_put_u64(json, "segments_over_limit", b->over_limit);
	tdm_json_object_end(json);
}

static const char *or_null(const char *text)
{
	return text[0] != '\0' ? text : NULL;
}

void tdm_kernels_view_json(const struct tdm_kernels_view *v, struct tdm_json *json)
{
	size_t count;
	struct tdm_kernel_size *all = tdm_kernel_sizes(v->cache, &count);
	json->out->failed |= all == NULL;
	tdm_json_put_text(json, "source", "kernel_cache");
	tdm_json_put_u64(json, "refused", v->cache->refused);
	tdm_json_put_u64(json, "links", v->cache->links);
	tdm_json_put_u64(json, "unvisited", v->cache->unvisited);
	tdm_json_put_bytes(json, "ring_bytes", v->ring_bytes);
	tdm_json_put_array(json, "kernels");
	for (size_t i = 0; all != NULL && i < count; i++) {
		const struct tdm_kernel_binary *first = &v->cache->binaries[all[i].first];
		tdm_json_object(json);
		tdm_json_put_text(json, "name", or_null(tdm_kernel_cache_text(v->cache, first->name)));
		tdm_json_put_text(json, "hash", or_null(tdm_kernel_cache_text(v->cache, first->hash)));
		tdm_json_put_text(json, "build", or_null(tdm_kernel_cache_text(v->cache, first->build)));
		tdm_json_put_bytes(json, "ring_bytes", all[i].ring_bytes);
		tdm_json_put_double(json, "ring_share", of_ring(v, all[i].ring_bytes));
		tdm_json_put_array(json, "binaries");
		for (size_t k = 0; k < all[i].count; k++)
			json_binary(v, &v->cache->binaries[all[i].first + k], json);
		tdm_json_array_end(json);
		tdm_json_object_end(json);
	}
	tdm_json_array_end(json);
	tdm_json_put_array(json, "firmware");
	for (size_t i = 0; i < v->cache->count; i++)
		if (v->cache->binaries[i].firmware)
			json_binary(v, &v->cache->binaries[i], json);
	tdm_json_array_end(json);
	free(all);
}
