#include "analyze/clashes.h"
#include "base/buf.h"
#include "base/units.h"

#include <inttypes.h>

static bool is_valid(const struct tdm_picture_clash *clash)
{
	return clash->type < TDM_CLASH_TYPES && clash->kind < TDM_KIND_COUNT && clash->count != 0 &&
	       clash->begin <= clash->end && (clash->type == TDM_CLASH_UNKNOWN || clash->limit < clash->end);
}

/* A program on a mesh is refused once for each chip. */
static bool is_same(const struct tdm_picture_clash *a, const struct tdm_picture_clash *b)
{
	return a->type == b->type && a->kind == b->kind && a->count == b->count && a->begin == b->begin &&
	       a->end == b->end && a->limit == b->limit && a->program == b->program;
}

/* How many of these holdings have the same. */
static uint64_t count_same(const struct tdm_holding *holdings, size_t count, const struct tdm_picture_clash *clash)
{
	uint64_t same = 0;
	for (size_t h = 0; h < count; h++)
		for (size_t i = 0; i < holdings[h].clash_count; i++)
			same += is_same(&holdings[h].clashes[i], clash);
	return same;
}

static const char *title_of(const struct tdm_picture_clash *clash)
{
	return clash->kind == TDM_KIND_DFB ? "dataflow buffers" : "circular buffers";
}

/* "device 0: circular buffers of reader + writer" */
static void put_subject(const struct tdm_picture *picture, const struct tdm_holding *holding, uint64_t devices,
	const struct tdm_picture_clash *clash, struct tdm_buf *out)
{
	const char *program = tdm_picture_text(picture, clash->program);
	char shown[96];
	if (devices > 1)
		tdm_buf_printf(out, "%" PRIu64 " devices, the first is %" PRIu32 ": ", devices, holding->number);
	else
		tdm_buf_printf(out, "device %" PRIu32 ": ", holding->number);
	tdm_buf_printf(out, "%s%s%s", title_of(clash), program[0] != '\0' ? " of " : "",
		tdm_str_shown(tdm_str_of(program), shown, sizeof shown));
}

static void put_count(struct tdm_buf *out, uint64_t bytes)
{
	char text[TDM_BYTES_CAP];
	tdm_buf_puts(out, tdm_format_count(text, sizeof text, bytes));
}

/* What was asked for and where it ends, then the cores and how often it happened. */
static void put_story(const struct tdm_picture_clash *clash, struct tdm_buf *out)
{
	uint64_t need = clash->begin != 0 ? clash->end - clash->begin : 0;
	if (clash->type == TDM_CLASH_BEYOND) {
		tdm_buf_puts(out, " do not fit into L1: they ");
		if (need != 0 && clash->begin < clash->limit) {
			tdm_buf_puts(out, "need ");
			put_count(out, need);
			tdm_buf_puts(out, " of the ");
			put_count(out, clash->limit - clash->begin);
			tdm_buf_puts(out, " B that a core has for them, and ");
		}
		tdm_buf_printf(out, "would end at 0x%" PRIx64 ", ", clash->end);
		put_count(out, clash->end - clash->limit);
		tdm_buf_printf(out, " B beyond the end of L1 at 0x%" PRIx64, clash->limit);
	} else if (clash->type == TDM_CLASH_L1) {
		tdm_buf_printf(out,
			" clash with L1 buffers: they end at 0x%" PRIx64 ", the lowest L1 buffer is at 0x%" PRIx64
			", which is ",
			clash->end, clash->limit);
		put_count(out, clash->end - clash->limit);
		tdm_buf_puts(out, " B too low");
	} else {
		tdm_buf_puts(
			out, " were refused: they reach into L1 buffers or beyond the end of L1; where is not known");
	}
	if (clash->type != TDM_CLASH_BEYOND && need != 0) {
		tdm_buf_puts(out, "; they need ");
		put_count(out, need);
		tdm_buf_puts(out, " B in each core");
	}
	if (clash->range_count != 0)
		tdm_buf_printf(out, "; cores %" PRIu32 "-%" PRIu32 " to %" PRIu32 "-%" PRIu32 "%s", clash->x0,
			clash->y0, clash->x1, clash->y1, clash->range_count > 1 ? " and others" : "");
	tdm_buf_puts(out, clash->count == 1 ? " (once)" : " (");
	if (clash->count != 1) {
		put_count(out, clash->count);
		tdm_buf_puts(out, " times, the last is shown)");
	}
}

static uint64_t address(uint64_t known)
{
	return known != 0 ? known : TDM_ADDRESS_UNKNOWN;
}

static void add_figures(const struct tdm_picture *picture, uint64_t devices, const struct tdm_picture_clash *clash,
	struct tdm_findings *findings)
{
	const struct tdm_core_range range = { (uint16_t)clash->x0, (uint16_t)clash->y0, (uint16_t)clash->x1,
		(uint16_t)clash->y1 };
	static const struct tdm_core_range unknown = { 1, 1, 0, 0 };
	bool is_l1 = clash->type == TDM_CLASH_L1, is_beyond = clash->type == TDM_CLASH_BEYOND;
	uint64_t excess = clash->end - clash->limit;
	tdm_findings_figure(findings, "clashes", TDM_UNIT_COUNT, clash->count);
	tdm_findings_figure(findings, "devices", TDM_UNIT_COUNT, devices);
	tdm_findings_figure(findings, "cb_begin", TDM_UNIT_ADDRESS, address(clash->begin));
	tdm_findings_figure(findings, "cb_end", TDM_UNIT_ADDRESS, address(clash->end));
	tdm_findings_figure(findings, "lowest_l1", TDM_UNIT_ADDRESS, is_l1 ? clash->limit : TDM_ADDRESS_UNKNOWN);
	tdm_findings_figure(findings, "overlap_bytes", TDM_UNIT_BYTES, is_l1 ? excess : TDM_BYTES_UNKNOWN);
	tdm_findings_figure(findings, "l1_bytes", TDM_UNIT_BYTES, is_beyond ? clash->limit : TDM_BYTES_UNKNOWN);
	tdm_findings_figure(findings, "excess_bytes", TDM_UNIT_BYTES, is_beyond ? excess : TDM_BYTES_UNKNOWN);
	tdm_findings_cores(findings, "core_range", clash->range_count != 0 ? &range : &unknown);
	tdm_findings_figure(findings, "core_ranges", TDM_UNIT_COUNT, clash->range_count);
	tdm_findings_place(findings, "program", tdm_str_of(tdm_picture_text(picture, clash->program)));
}

static void add(const struct tdm_picture *picture, uint32_t index, uint64_t devices,
	const struct tdm_picture_clash *clash, struct tdm_findings *findings)
{
	bool is_beyond = clash->type == TDM_CLASH_BEYOND;
	struct tdm_buf text;
	struct tdm_finding *finding =
		tdm_findings_add(findings, TDM_FAMILY_RUN, is_beyond ? "beyond_l1" : "clash", TDM_FINDING_BROKEN);
	finding->bytes = clash->type != TDM_CLASH_UNKNOWN ? clash->end - clash->limit : 0;
	tdm_about_holding(picture, index, &finding->about);
	finding->about.kind = clash->kind;
	tdm_buf_init(&text);
	put_subject(picture, &picture->holdings[index], devices, clash, &text);
	put_story(clash, &text);
	tdm_findings_say(findings, "%.*s", TDM_STR_ARG(tdm_buf_str(&text)));
	findings->failed |= tdm_buf_failed(&text);
	tdm_buf_done(&text);
	add_figures(picture, devices, clash, findings);
	tdm_findings_advise(findings, NULL, "%s",
		is_beyond ? "Give the program smaller circular buffers: smaller blocks, or more cores. Nothing that is "
			    "freed in L1 helps."
			  : "Free L1 buffers or move them to DRAM before this program runs, or give it smaller "
			    "circular buffers: smaller blocks, or more cores. 'tidemark dump --map' shows both ends of "
			    "L1 while the program runs.");
}

void tdm_clashes_find(const struct tdm_picture *picture, uint32_t process, struct tdm_findings *findings)
{
	const struct tdm_picture_process *of = &picture->processes[process];
	if (of->holding_count == 0)
		return;
	const struct tdm_holding *holdings = &picture->holdings[of->first_holding];
	for (uint32_t h = 0; h < of->holding_count; h++)
		for (size_t i = 0; i < holdings[h].clash_count; i++) {
			const struct tdm_picture_clash *clash = &holdings[h].clashes[i];
			if (is_valid(clash) && count_same(holdings, h, clash) == 0)
				add(picture, of->first_holding + h, count_same(holdings, of->holding_count, clash),
					clash, findings);
		}
}
