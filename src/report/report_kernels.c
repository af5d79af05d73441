/* The report on the sizes of compiled kernels. */
#include "report/report_files.h"
#include "report/finding_report.h"

#include <inttypes.h>

#define TARGET(member) TDM_MEMBER(struct tdm_kernel_target, member)
enum { KERNELS, FIRMWARE }; /* the first columns of the next table, which shows one of the two */
static const struct tdm_column targets[] = {
	[KERNELS] = { "Processor", NULL, TARGET(name), .width = 24 },
	[FIRMWARE] = { "Firmware", NULL, TARGET(name), .width = 24 },
	{ "files", NULL, TARGET(files), .width = 7 },
	{ "bytes", NULL, TARGET(bytes), TDM_BYTES },
	{ "largest", NULL, TARGET(largest), TDM_BYTES },
	{ "zeroed", NULL, TARGET(zeroed), TDM_BYTES },
};

#define BINARY(member) TDM_MEMBER(struct tdm_kernel_binary, member)
static const struct tdm_column binaries[] = {
	{ NULL, "target", BINARY(target) },
	{ NULL, "path", BINARY(path) },
	{ NULL, "packed_bytes", BINARY(packed_bytes) },
	{ NULL, "text_bytes", BINARY(text_bytes) },
	{ NULL, "zeroed_bytes", BINARY(zeroed_bytes) },
	{ NULL, "segments_over_limit", BINARY(over_limit) },
};

static void json_binaries(const struct tdm_field *field, struct tdm_json *json)
{
	const struct tdm_kernel_size *k = field->row;
	tdm_table_json(&TDM_TABLE_OF(binaries, k->first, k->count), json);
}

static void put_name(const struct tdm_field *field, struct tdm_buf *out)
{
	const struct tdm_kernel_size *k = field->row;
	tdm_buf_puts(out, k->first->name[0] != '\0' ? k->first->name : k->first->path);
}

static void put_targets(const struct tdm_field *field, struct tdm_buf *out)
{
	const struct tdm_kernel_size *k = field->row;
	for (size_t i = 0; i < k->count; i++) {
		tdm_buf_puts(out, i == 0 ? "" : ", ");
		tdm_cell_put(out, tdm_str_of(k->first[i].target), 24, true);
	}
}

#define KERNEL(member) TDM_MEMBER(struct tdm_kernel_size, member)
#define FIRST(member)  TDM_VIA(struct tdm_kernel_size, first, struct tdm_kernel_binary, member)
static const struct tdm_column kernels[] = {
	{ "Kernel", "name", FIRST(name), .text = put_name, .flags = TDM_ZERO_IS_UNKNOWN, .width = 32 },
	{ NULL, "hash", FIRST(hash), .flags = TDM_ZERO_IS_UNKNOWN },
	{ NULL, "build", FIRST(build), .flags = TDM_ZERO_IS_UNKNOWN },
	{ "in ring", "ring_bytes", KERNEL(ring_bytes), TDM_BYTES },
	{ "of ring", "ring_share", KERNEL(ring_share), .decimals = 1, .width = 7 },
	{ "hash", NULL, FIRST(hash), .flags = TDM_WHOLE, .width = 20, .before = 1 },
	{ "processors", "binaries", .text = put_targets, .json = json_binaries, .before = 1 },
};

static void put_target_table(
	const struct tdm_kernel_sizes *s, bool firmware, const struct tdm_file_report *file, struct tdm_buf *out)
{
	struct tdm_kernel_target rows[TDM_KERNEL_TARGETS_MAX];
	struct tdm_table table = TDM_TABLE_OF(targets, rows, tdm_kernel_sizes_targets(s, firmware, rows));
	table.hidden = 1U << (firmware ? KERNELS : FIRMWARE);
	table.limit = SIZE_MAX;
	tdm_put_table(out, file, table);
}

void tdm_kernels_text(const struct tdm_kernel_sizes *s, const struct tdm_file_report *file, struct tdm_buf *out)
{
	size_t files = s->count - s->firmware;
	struct tdm_findings found = { 0 };
	tdm_put_title(out, "Kernels", file);
	tdm_buf_printf(out, ": %zu kernel%s in %zu file%s, %s; %zu of firmware\n", s->kernel_count,
		tdm_plural(s->kernel_count), files, tdm_plural(files), TDM_SIZE_TEXT(s->packed_bytes), s->firmware);
	if (s->ring_bytes != TDM_BYTES_UNKNOWN)
		tdm_buf_printf(out,
			"Ring           %s for kernels, arguments and settings of a core (default of Wormhole and "
			"Blackhole)\n",
			TDM_SIZE_TEXT(s->ring_bytes));
	tdm_kernel_sizes_find(s, &found);
	tdm_findings_text(&found, &file->term, out);
	put_target_table(s, false, file, out);
	tdm_put_table(out, file, TDM_TABLE_OF(kernels, s->kernels, s->kernel_count));
	put_target_table(s, true, file, out);
}

void tdm_kernels_json(const struct tdm_kernel_sizes *s, struct tdm_json *json)
{
	tdm_json_put_text(json, "source", "kernel_cache");
	tdm_json_put_u64(json, "refused", s->refused);
	tdm_json_put_u64(json, "links", s->rest.links);
	tdm_json_put_u64(json, "unvisited", s->rest.unvisited);
	tdm_json_put_bytes(json, "ring_bytes", s->ring_bytes);
	tdm_json_put_table(json, "kernels", &TDM_TABLE_OF(kernels, s->kernels, s->kernel_count));
	tdm_json_put_table(
		json, "firmware", &TDM_TABLE_OF(binaries, s->binaries + (s->count - s->firmware), s->firmware));
}
