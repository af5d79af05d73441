#include "report/leaks_report.h"
#include "report/stack_report.h"

#include <math.h>

static void put_reason(const struct tdm_leaks_report *report, const struct tdm_leak *leak, struct tdm_json *json)
{
	struct tdm_buf reason;
	tdm_buf_init(&reason);
	tdm_leaks_reason(report, leak, &reason);
	tdm_json_key(json, "reason");
	tdm_json_str(json, tdm_buf_str(&reason));
	json->out->failed |= reason.failed;
	tdm_buf_done(&reason);
}

static void put_leak(const struct tdm_leaks_report *report, struct tdm_leaks_symbols *symbols,
	const struct tdm_leak *leak, struct tdm_json *json)
{
	const struct tdm_picture *picture = report->live->picture;
	const struct tdm_picture_process *process = &picture->processes[leak->process];
	const struct tdm_holding *holding = &picture->holdings[leak->holding];
	bool watched = leak->windows > 1 || leak->why == TDM_LEAK_SPREAD;
	tdm_json_object(json);
	tdm_json_put_name(json, "verdict", tdm_leak_verdict_name((enum tdm_leak_verdict)leak->verdict));
	tdm_json_put_name(json, "why", tdm_leak_why_name((enum tdm_leak_why)leak->why));
	put_reason(report, leak, json);
	tdm_json_put_u64(json, "pid", (uint64_t)process->pid);
	tdm_json_put_name(json, "comm", process->comm);
	tdm_json_put_name(json, "ledger", process->ledger);
	tdm_json_put_u64(json, "device", holding->number);
	tdm_json_put_bool(json, "virtual", picture->devices[holding->device].is_virtual);
	tdm_json_put_name(json, "kind", tdm_kind_name((enum tdm_kind)leak->kind));
	tdm_json_put_bool(json, "many_sites", leak->is_sum);
	tdm_json_put_name(json, "name", tdm_picture_text(picture, leak->name));
	tdm_json_put_name(json, "source", "ledger");
	tdm_json_put_u64(json, "buffers", leak->count);
	tdm_json_put_u64(json, "reserved_bytes", leak->bytes);
	tdm_json_put_known(json, "grown_buffers", watched, leak->grown_count);
	tdm_json_put_known(json, "grown_bytes", watched, leak->grown_bytes);
	tdm_json_put_known(json, "watched_ns", watched, leak->watched_ns);
	tdm_json_put_double(json, "bytes_per_second", leak->bytes_per_s);
	tdm_json_put_double(json, "full_in_seconds", leak->full_s);
	tdm_json_put_known(json, "freed", leak->windows > 1, leak->freed);
	tdm_json_put_known(json, "freed_old", leak->windows > 1, leak->aged_freed);
	tdm_json_put_double(json, "trend_z", leak->windows > 2 ? leak->z : NAN);
	tdm_json_put_known(json, "oldest_ns", leak->oldest_ns != 0, leak->oldest_ns);
	tdm_json_put_known(json, "freed_lived_ns", leak->siblings != 0, leak->sibling_ns);
	tdm_json_put_known(json, "freed_lived_most_ns", leak->siblings != 0, leak->sibling_most_ns);
	tdm_json_put_u64(json, "double_frees", leak->double_frees);
	tdm_json_put_u64(json, "unknown_frees", leak->unknown_frees);
	tdm_json_key(json, "stack");
	struct tdm_symbolizer *sym = leak->stack != 0 ? tdm_leaks_symbols_get(symbols, picture, leak->process) : NULL;
	tdm_stack_json(picture, sym, leak->stack, json);
	tdm_json_object_end(json);
}

void tdm_leaks_json(const struct tdm_leaks_report *report, struct tdm_json *json)
{
	const struct tdm_leaks_result *result = report->result;
	struct tdm_leaks_symbols symbols = { 0 };
	tdm_json_object(json);
	tdm_json_put_name(json, "directory", report->live->dir);
	tdm_json_put_u64(json, "watched_ns", result->watched_ns);
	tdm_json_put_known(json, "interval_ns", report->interval_ns != 0, report->interval_ns);
	tdm_json_put_u64(json, "pictures", result->samples);
	tdm_json_put_u64(json, "leaks", tdm_leaks_chosen(report, TDM_LEAK_SURE));
	tdm_json_put_u64(json, "suspects", tdm_leaks_chosen(report, TDM_LEAK_SUSPECT));
	tdm_json_put_u64(json, "steady", tdm_leaks_chosen(report, TDM_LEAK_STEADY));
	tdm_json_put_u64(json, "buffers_beyond_limit", result->sites_left_out);
	tdm_json_put_array(json, "sites");
	for (size_t i = 0; i < result->count; i++)
		if ((report->all || result->leaks[i].verdict != TDM_LEAK_STEADY) &&
			tdm_leaks_is_chosen(report, &result->leaks[i]))
			put_leak(report, &symbols, &result->leaks[i], json);
	tdm_json_array_end(json);
	tdm_leaks_symbols_done(&symbols);
	tdm_live_json_problems(report->live, json);
	tdm_json_object_end(json);
}
