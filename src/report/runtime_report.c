#include "report/runtime_report.h"
#include "analyze/open_sizes.h"
#include "analyze/run_findings.h"
#include "report/finding_report.h"
#include "report/report_put.h"

#include <inttypes.h>
#include <stdio.h>

enum { FINDINGS_SHOWN = 20 }; /* of a sort */

/* How many findings before this one are of its sort. */
static size_t count_like(const struct tdm_findings *findings, size_t index)
{
	size_t count = 0;
	for (size_t i = 0; i < index; i++)
		count += findings->list[i].what == findings->list[index].what;
	return count;
}

void tdm_runtime_findings_text(
	const struct tdm_live_report *report, uint32_t process, unsigned least, struct tdm_buf *out)
{
	struct tdm_findings findings = { 0 };
	struct tdm_finding_view view = {
		.findings = &findings, .term = report->term, .picture = report->picture, .stacks = report->stacks
	};
	size_t count = 0, shown = 0;
	tdm_run_findings(report->picture, process, &findings);
	/* The worst come first. */
	for (; count < findings.count && findings.list[count].severity >= least; count++) {
		if (count_like(&findings, count) >= FINDINGS_SHOWN)
			continue;
		tdm_buf_puts(out, shown++ == 0 ? "\n" : "");
		tdm_finding_text(&view, &findings.list[count], out);
	}
	tdm_put_rest(out, count, shown);
	tdm_stack_symbols_done(&view.symbols);
	out->failed |= tdm_findings_done(&findings);
}

void tdm_runtime_findings_json(const struct tdm_picture *picture, uint32_t process, bool stacks, struct tdm_json *json)
{
	struct tdm_findings findings = { 0 };
	struct tdm_finding_view view = { .findings = &findings, .picture = picture };
	tdm_run_findings(picture, process, &findings);
	for (size_t i = 0; i < findings.count; i++) {
		if (!stacks)
			findings.list[i].about.stack = findings.list[i].about.replay_stack = 0;
		tdm_finding_json(&view, &findings.list[i], json);
	}
	tdm_stack_symbols_done(&view.symbols);
	json->out->failed |= tdm_findings_done(&findings);
}

/* The option in the form in which it is given, then what the device has. */
static void put_size(const struct tdm_open_size *size, struct tdm_buf *out)
{
	char text[64];
	snprintf(text, sizeof text, "%s=%" PRIu64, size->option, size->needed);
	tdm_buf_printf(out, "    %-32s", text);
	if (size->is_in_dram)
		tdm_buf_puts(out, "  without a trace region, traces are in DRAM");
	else if (size->opened == TDM_BYTES_UNKNOWN)
		tdm_buf_printf(out, "  on device %" PRIu32, size->device);
	else
		tdm_buf_printf(out, "  device %" PRIu32 " has %" PRIu64, size->device, size->opened);
	tdm_buf_puts(out, size->is_least ? "; reports are missing, it may have needed more\n" : "\n");
}

void tdm_runtime_sizes_text(const struct tdm_live_report *report, uint32_t process, struct tdm_buf *out)
{
	struct tdm_open_size sizes[TDM_OPEN_SIZES];
	size_t count = tdm_open_sizes(report->picture, process, sizes);
	if (count != 0)
		tdm_buf_puts(out, "\n  Sizes for opening the device, as this run needed them\n");
	for (size_t i = 0; i < count; i++)
		put_size(&sizes[i], out);
}

void tdm_runtime_sizes_json(const struct tdm_picture *picture, uint32_t process, struct tdm_json *json)
{
#define SIZE(member) TDM_MEMBER(struct tdm_open_size, member)
	static const struct tdm_column columns[] = {
		{ NULL, "option", SIZE(option) },
		{ NULL, "needed_bytes", SIZE(needed) },
		{ NULL, "device", SIZE(device) },
		{ NULL, "opened_with_bytes", SIZE(opened) },
		{ NULL, "traces_in_dram", SIZE(is_in_dram) },
		{ NULL, "at_least", SIZE(is_least) },
	};
	struct tdm_open_size sizes[TDM_OPEN_SIZES];
	const struct tdm_table table = { TDM_COLUMNS(columns), sizes, sizeof *sizes,
		tdm_open_sizes(picture, process, sizes) };
	tdm_json_put_table(json, "open_sizes", &table);
}

static struct tdm_value get_age(const struct tdm_field *field)
{
	return tdm_value_number(tdm_live_age(field->table->context, tdm_field_member(field).number));
}

static bool skip_silent(const struct tdm_table *table, const void *row)
{
	(void)table;
	return ((const struct tdm_statistics *)row)->reports == 0;
}

void tdm_runtime_holding_json(
	const struct tdm_picture *picture, const struct tdm_holding *holding, struct tdm_json *json)
{
#define SAID(member)  TDM_MEMBER(struct tdm_statistics, member)
#define TRACE(member) TDM_MEMBER(struct tdm_trace, member)
	static const struct tdm_column statistics[] = {
		{ NULL, "kind", TDM_INDEX, .flags = TDM_IS_KIND },
		{ NULL, "reports", SAID(reports) },
		{ NULL, "differing", SAID(differing) },
		{ NULL, "runtime_bytes_per_bank", SAID(allocated) },
		{ NULL, "counted_bytes_per_bank", SAID(ours) },
		{ NULL, "free_bytes_per_bank", SAID(free) },
		{ NULL, "largest_free_per_bank", SAID(largest) },
		{ NULL, "age_ns", SAID(time_ns), .get = get_age },
	};
	static const struct tdm_column traces[] = {
		{ NULL, "trace", TRACE(id) },
		{ NULL, "replays", TRACE(replays) },
		{ NULL, "allocations_meanwhile", TRACE(allocs) },
		{ NULL, "began_age_ns", TRACE(began_ns), .get = get_age },
		{ NULL, "captured_age_ns", TRACE(ended_ns), .get = get_age },
		{ NULL, "replayed_age_ns", TRACE(replayed_ns), .get = get_age },
		{ NULL, "released_age_ns", TRACE(released_ns), .get = get_age },
	};
	const struct tdm_table said = { TDM_COLUMNS(statistics), holding != NULL ? holding->statistics : NULL,
		sizeof *holding->statistics, holding != NULL ? TDM_KIND_COUNT : 0, .skip = skip_silent,
		.context = picture };
	const struct tdm_table kept = { TDM_COLUMNS(traces), holding != NULL ? holding->traces : NULL,
		sizeof *holding->traces, holding != NULL ? holding->trace_count : 0, .context = picture };
	tdm_json_put_table(json, "statistics", &said);
	tdm_json_put_table(json, "traces", &kept);
	tdm_json_key(json, "open");
	if (holding != NULL && holding->life != 0)
		tdm_json_bool(json, holding->life == TDM_STEP_OPENED);
	else
		tdm_json_null(json);
	tdm_json_put_u64(json, "traces_lost", holding != NULL ? holding->traces_lost : 0);
	tdm_json_put_u64(json, "trace_hazards_lost", holding != NULL ? holding->hazards_lost : 0);
}
