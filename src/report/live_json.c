#include "report/live_report.h"

#include <stdio.h>

static void put_boot_id(struct tdm_json *json, const uint8_t id[16])
{
	char text[40];
	size_t at = 0;
	for (int i = 0; i < 16; i++)
		at += (size_t)snprintf(text + at, sizeof text - at, "%s%02x",
			i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", (unsigned)id[i]);
	tdm_json_put_name(json, "boot_id", text);
}

static void put_identity(struct tdm_json *json, const struct tdm_picture_process *process)
{
	const struct tdm_process *who = process->who;
	static const char *const lives[] = {
		[TDM_LIFE_UNKNOWN] = NULL,
		[TDM_LIFE_RUNS] = "running",
		[TDM_LIFE_ENDED] = "ended",
	};
	tdm_json_put_u64(json, "pid", (uint64_t)process->pid);
	tdm_json_put_u64(json, "start_time", who->start_time);
	tdm_json_put_u64(json, "generation", who->generation);
	tdm_json_put_u64(json, "pid_namespace", who->pid_namespace);
	put_boot_id(json, who->boot_id);
	tdm_json_put_u64(json, "uid", who->uid);
	tdm_json_put_name(json, "comm", who->comm);
	tdm_json_put_name(json, "command", who->command);
	tdm_json_put_name(json, "state", lives[who->life]);
	tdm_json_put_bool(json, "closed", who->closed);
}

static void put_kind(struct tdm_json *json, enum tdm_kind kind, const struct tdm_picture_amount *f)
{
	tdm_json_object(json);
	tdm_json_put_name(json, "kind", tdm_kind_name(kind));
	tdm_json_put_name(json, "source", "ledger");
	tdm_json_put_u64(json, "reserved_bytes", f->used);
	tdm_json_put_u64(json, "peak_reserved_bytes", f->peak);
	tdm_json_put_u64(json, "occupied_bytes", f->occupied);
	tdm_json_put_u64(json, "asked_bytes", f->asked);
	tdm_json_put_u64(json, "peak_asked_bytes", f->peak_asked);
	tdm_json_put_u64(json, "buffers", f->buffers);
	tdm_json_put_u64(json, "peak_buffers", f->peak_buffers);
	tdm_json_put_u64(json, "allocations", f->allocs);
	tdm_json_put_u64(json, "double_frees", f->double_frees);
	tdm_json_put_u64(json, "unknown_frees", f->unknown_frees);
	tdm_json_put_u64(json, "rereports", f->rereports);
	tdm_json_put_u64(json, "out_of_memory", f->out_of_memory);
	tdm_json_put_known(json, "last_out_of_memory_bytes", f->out_of_memory != 0, f->oom_bytes);
	tdm_json_put_bool(json, "exact", !f->is_inexact);
	tdm_json_object_end(json);
}

static void put_device(const struct tdm_live_report *report, const struct tdm_holding *holding, struct tdm_json *json)
{
	const struct tdm_picture_device *device = &report->picture->devices[holding->device];
	tdm_json_object(json);
	tdm_json_put_u64(json, "device", holding->number);
	tdm_json_put_bool(json, "virtual", device->is_virtual);
	tdm_json_put_name(json, "card", device->info != NULL ? device->info->card : NULL);
	tdm_json_put_known(json, "chip_id", device->has_chip_id, device->chip_id);
	tdm_json_put_array(json, "kinds");
	for (unsigned k = 0; k < TDM_KIND_COUNT; k++)
		if (tdm_live_is_used(&holding->kinds[k]) && !(report->filter.has_kind && k != report->filter.kind))
			put_kind(json, (enum tdm_kind)k, &holding->kinds[k]);
	tdm_json_array_end(json);
	tdm_json_object_end(json);
}

static void put_process(const struct tdm_live_report *report, size_t i, struct tdm_json *json)
{
	const struct tdm_picture *picture = report->picture;
	const struct tdm_picture_process *process = &picture->processes[i];
	put_identity(json, process);
	tdm_json_put_name(json, "ledger", process->ledger);
	tdm_json_put_name(json, "phase", process->phase);
	tdm_json_put_u64(json, "lost_events", process->lost);
	tdm_json_put_u64(json, "lost_texts", process->who->lost_texts);
	tdm_json_put_u64(json, "damaged_records", process->refused);
	tdm_json_put_u64(json, "frees_inherited", process->who->frees_inherited);
	tdm_json_put_array(json, "devices");
	for (uint32_t h = 0; h < process->holding_count; h++) {
		const struct tdm_holding *holding = &picture->holdings[process->first_holding + h];
		if (!report->filter.has_device || holding->number == report->filter.device)
			put_device(report, holding, json);
	}
	tdm_json_array_end(json);
}

void tdm_live_json_processes(const struct tdm_live_report *report, tdm_live_json_part part, struct tdm_json *json)
{
	tdm_json_put_array(json, "processes");
	for (size_t i = 0; i < report->picture->process_count; i++) {
		tdm_json_object(json);
		put_process(report, i, json);
		part(report, i, json);
		tdm_json_object_end(json);
	}
	tdm_json_array_end(json);
}

void tdm_live_json_problems(const struct tdm_live_report *report, struct tdm_json *json)
{
	tdm_json_put_array(json, "unreadable");
	for (size_t i = 0; i < report->picture->problem_count; i++) {
		const struct tdm_picture_problem *problem = &report->picture->problems[i];
		if (!problem->is_unread)
			continue;
		tdm_json_object(json);
		tdm_json_put_name(json, "ledger", problem->place);
		tdm_json_put_name(json, "reason", problem->text);
		tdm_json_object_end(json);
	}
	tdm_json_array_end(json);
}
