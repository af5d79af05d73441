#include "analyze/report/kernel_sizes.h"
#include "analyze/report/report_analyser.h"
#include "base/memory.h"

#include <stdlib.h>

enum { TARGETS_MAX = 32 };

void tdm_kernel_sizes_done(void *sizes)
{
	struct tdm_kernel_sizes *s = sizes;
	free(s->binaries);
	free(s->kernels);
	tdm_arena_done(&s->texts);
	*s = (struct tdm_kernel_sizes){ 0 };
}

int tdm_kernel_sizes_take(void *sizes, const struct tdm_record *record)
{
	struct tdm_kernel_sizes *s = sizes;
	s->refused += record->type == TDM_RECORD_REFUSED;
	if (record->type == TDM_RECORD_WALK_END)
		s->rest = *record->walk;
	if (record->type == TDM_RECORD_BINARY) {
		tdm_grow(&s->binaries, &s->cap, s->count + 1, sizeof *s->binaries);
		struct tdm_kernel_binary *b = &s->binaries[s->count++];
		*b = *record->binary;
		const char **const texts[] = { &b->path, &b->target, &b->name, &b->hash, &b->build };
		for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
			*texts[i] = tdm_arena_text(&s->texts, tdm_str_of(*texts[i]));
		s->firmware += b->firmware;
		s->packed_bytes += b->firmware ? 0 : b->packed_bytes;
		s->over_limit += b->over_limit != 0;
	}
	return 0;
}

static int compare_kernels(const struct tdm_kernel_binary *a, const struct tdm_kernel_binary *b)
{
	int order = strcmp(a->build, b->build);
	order = order != 0 ? order : strcmp(a->name, b->name);
	return order != 0 ? order : strcmp(a->hash, b->hash);
}

static int compare_binaries(const void *left, const void *right)
{
	const struct tdm_kernel_binary *a = left, *b = right;
	if (a->firmware != b->firmware)
		return a->firmware ? 1 : -1;
	int order = compare_kernels(a, b);
	order = order != 0 ? order : tdm_order(a->order, b->order);
	return order != 0 ? order : strcmp(a->path, b->path);
}

static int compare_sizes(const void *left, const void *right)
{
	const struct tdm_kernel_size *a = left, *b = right;
	return a->ring_bytes != b->ring_bytes ? tdm_order(b->ring_bytes, a->ring_bytes)
					      : tdm_order((uintptr_t)a->first, (uintptr_t)b->first);
}

void tdm_kernel_sizes_end(void *sizes)
{
	struct tdm_kernel_sizes *s = sizes;
	s->kernels = tdm_zalloc(s->count, sizeof *s->kernels);
	if (s->count != 0)
		qsort(s->binaries, s->count, sizeof *s->binaries, compare_binaries);
	for (size_t i = 0; i < s->count - s->firmware; i++) {
		const struct tdm_kernel_binary *b = &s->binaries[i];
		if (i == 0 || b->hash[0] == '\0' || compare_kernels(b, b - 1) != 0)
			s->kernels[s->kernel_count++].first = b;
		struct tdm_kernel_size *k = &s->kernels[s->kernel_count - 1];
		k->count++;
		k->ring_bytes += tdm_kernel_ring_bytes(b->packed_bytes);
	}
	s->ring_bytes = tdm_report_ring_bytes();
	for (size_t i = 0; i < s->kernel_count; i++) {
		s->kernels[i].ring_share = tdm_share(s->kernels[i].ring_bytes, s->ring_bytes);
		s->too_large += s->kernels[i].ring_bytes > s->ring_bytes;
	}
	qsort(s->kernels, s->kernel_count, sizeof *s->kernels, compare_sizes);
}

/* ---- the result ---- */

/* All binaries for one processor, either kernels or firmware. */
struct target {
	const char *name;
	uint8_t order;
	uint64_t files, bytes, largest, zeroed;
};

#define TARGET(member) TDM_MEMBER(struct target, member)
static const struct tdm_column target_columns[] = {
	{ "Processor", NULL, TARGET(name), .width = 24 },
	{ "files", NULL, TARGET(files) },
	{ "bytes", NULL, TARGET(bytes), TDM_BYTES },
	{ "largest", NULL, TARGET(largest), TDM_BYTES },
	{ "zeroed", NULL, TARGET(zeroed), TDM_BYTES },
};

static int compare_targets(const void *left, const void *right)
{
	const struct target *a = left, *b = right;
	return a->order != b->order ? tdm_order(a->order, b->order) : strcmp(a->name, b->name);
}

/* Adds the sums for each processor, sorted by processor. */
static void add_targets(struct tdm_block *in, const char *title, const struct tdm_kernel_sizes *s, bool firmware)
{
	struct target *targets = tdm_result_alloc(in->result, TARGETS_MAX, sizeof *targets);
	size_t count = 0;
	for (size_t i = 0; i < s->count; i++) {
		const struct tdm_kernel_binary *b = &s->binaries[i];
		size_t k = 0;
		if (b->firmware != firmware)
			continue;
		while (k < count && strcmp(targets[k].name, b->target) != 0)
			k++;
		if (k == TARGETS_MAX)
			k--; /* the last entry is the sum of all others */
		if (k == count) {
			bool is_last = count == TARGETS_MAX - 1;
			targets[count++] = (struct target){ .name = is_last ? "others" : b->target,
				.order = is_last ? UINT8_MAX : b->order };
		}
		targets[k].files++;
		targets[k].bytes += b->packed_bytes;
		targets[k].zeroed += b->zeroed_bytes;
		targets[k].largest = tdm_max(targets[k].largest, b->packed_bytes);
	}
	qsort(targets, count, sizeof *targets, compare_targets);
	tdm_add_table(in, NULL, title, TDM_FITTED(target_columns, targets, count));
}

#define BINARY(member) TDM_MEMBER(struct tdm_kernel_binary, member)
static const struct tdm_column binaries[] = {
	{ NULL, "target", BINARY(target) },
	{ NULL, "path", BINARY(path) },
	{ NULL, "packed_bytes", BINARY(packed_bytes) },
	{ NULL, "text_bytes", BINARY(text_bytes) },
	{ NULL, "zeroed_bytes", BINARY(zeroed_bytes) },
	{ NULL, "segments_over_limit", BINARY(over_limit) },
};

static struct tdm_value get_binaries(const struct tdm_field *field)
{
	const struct tdm_kernel_size *k = field->row;
	return tdm_field_table(field, TDM_TABLE_OF(binaries, k->first, k->count));
}

static struct tdm_value get_name(const struct tdm_field *field)
{
	const struct tdm_kernel_size *k = field->row;
	return tdm_value_text(k->first->name[0] != '\0' ? k->first->name : k->first->path);
}

static struct tdm_value get_targets(const struct tdm_field *field)
{
	const struct tdm_kernel_size *k = field->row;
	struct tdm_value *names = tdm_arena_take(field->scratch, k->count * sizeof *names);
	for (size_t i = 0; i < k->count; i++)
		names[i] = tdm_value_text(k->first[i].target);
	return tdm_value_list(names, k->count);
}

#define KERNEL(member) TDM_MEMBER(struct tdm_kernel_size, member)
#define FIRST(member)  TDM_VIA(struct tdm_kernel_size, first, struct tdm_kernel_binary, member)
static const struct tdm_column kernels[] = {
	{ "Kernel", NULL, .get = get_name, .width = 32 },
	{ NULL, "name", FIRST(name), .flags = TDM_ZERO_IS_UNKNOWN },
	{ NULL, "build", FIRST(build), .flags = TDM_ZERO_IS_UNKNOWN },
	{ "in ring", "ring_bytes", KERNEL(ring_bytes), TDM_BYTES },
	{ "of ring", "ring_share", KERNEL(ring_share), .decimals = 1 },
	{ "hash", "hash", FIRST(hash), .flags = TDM_ZERO_IS_UNKNOWN },
	{ "processors", NULL, .get = get_targets },
	{ NULL, "binaries", .get = get_binaries },
};

/* Reports kernels that are too large, and unreadable files. */
static void add_findings(struct tdm_block *in, const struct tdm_kernel_sizes *s)
{
	struct tdm_findings found = { 0 };
	tdm_report_count(&found, TDM_FINDING_WARNING, "too_large", s->too_large,
		"{count/kernel does/kernels do} not fit the kernel-config ring alone");
	tdm_report_count(&found, TDM_FINDING_WARNING, "over_limit", s->over_limit,
		"{count/file has/files have} a segment above its limit");
	tdm_report_count(&found, TDM_FINDING_INFO, "links", s->rest.links, "{count/link was/links were} not followed");
	tdm_report_count(&found, TDM_FINDING_WARNING, "unvisited", s->rest.unvisited,
		"{count/folder/folders} not visited: too deep, or beyond {_most} entries");
	if (s->rest.unvisited != 0)
		tdm_findings_figure(&found, "_most", TDM_UNIT_NONE, TDM_WALK_ENTRIES);
	tdm_add_findings(in, "findings", NULL, &found);
}

static bool show(void *sizes, const struct tdm_intake *reading, size_t limit, struct tdm_block *in)
{
	const struct tdm_kernel_sizes *s = sizes;
	struct tdm_table all = TDM_FITTED(kernels, s->kernels, s->kernel_count);
	all.limit = limit;
	all.is_whole_in_data = true;
	tdm_line(in, "Kernels",
		"{_file}: {_kernels/kernel/kernels} in {_files/file/files}, {_bytes}; {_firmware} of firmware",
		TDM_VALUES({ "_file", tdm_value_text(tdm_input_name(reading->input)) },
			{ "_kernels", tdm_value_count(s->kernel_count) },
			{ "_files", tdm_value_count(s->count - s->firmware) },
			{ "_bytes", tdm_value_bytes(s->packed_bytes) }, { "_firmware", tdm_value_count(s->firmware) }));
	tdm_report_head(in, reading, "kernel_cache", s->refused);
	tdm_data_all(in, TDM_VALUES({ "links", tdm_value_count(s->rest.links) },
				 { "unvisited", tdm_value_count(s->rest.unvisited) }));
	tdm_report_ring(in, s->ring_bytes);
	add_findings(in, s);
	add_targets(in, NULL, s, false);
	tdm_add_table(in, "kernels", NULL, all);
	add_targets(in, "Firmware", s, true);
	const struct tdm_kernel_binary *firmware = s->firmware != 0 ? &s->binaries[s->count - s->firmware] : NULL;
	tdm_add_table(in, "firmware", NULL, TDM_TABLE_OF(binaries, firmware, s->firmware))->is_data_only = true;
	return s->count != 0;
}

const struct tdm_report_analyser tdm_kernel_report = { "kernels", NULL, sizeof(struct tdm_kernel_sizes), NULL,
	tdm_kernel_sizes_take, tdm_kernel_sizes_end, show, tdm_kernel_sizes_done };
