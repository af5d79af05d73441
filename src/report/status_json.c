/*
 * `tidemark status --json`: the shape of a tt-smi snapshot with its strings as tt-smi writes them, so that what reads
 * those reads this; and beside them objects called "memory", with bytes as numbers. What only the card's registers say
 * is not known here: nothing is opened on the card.
 */
#include "report/smi_strings.h"
#include "report/l1_account.h"
#include "report/status_report.h"
#include "tidemark_version.h"

#include <inttypes.h>
#include <stdio.h>

/* An empty text is one that is not known. */
static void put_known(struct tdm_json *json, const char *key, const char *text)
{
	tdm_json_put_text(json, key, text[0] != '\0' ? text : NULL);
}

/* A number below 0 is not known. */
static void put_number(struct tdm_json *json, const char *key, int64_t number)
{
	tdm_json_key(json, key);
	if (number >= 0)
		tdm_json_i64(json, number);
	else
		tdm_json_null(json);
}

static const char *source_name(uint8_t from)
{
	return from != TDM_FROM_NONE && from < TDM_FROM_COUNT ? tdm_from_name((enum tdm_from)from) : NULL;
}

static void put_sources(struct tdm_json *json, uint32_t sources)
{
	tdm_json_put_array(json, "sources");
	for (uint8_t from = TDM_FROM_LEDGER; from < TDM_FROM_COUNT; from++)
		if ((sources >> from & 1) != 0)
			tdm_json_text(json, tdm_from_name((enum tdm_from)from));
	tdm_json_array_end(json);
}

static void put_rival(struct tdm_json *json, const struct tdm_picture_kind *kind)
{
	tdm_json_key(json, "rival");
	if (kind->rival_from == TDM_FROM_NONE) {
		tdm_json_null(json);
		return;
	}
	tdm_json_object(json);
	tdm_json_put_text(json, "source", source_name(kind->rival_from));
	tdm_json_put_bytes(json, "used", kind->rival_used);
	put_number(json, "only_there_processes", kind->rival_processes);
	tdm_json_put_bytes(json, "only_there", kind->rival_processes != 0 ? kind->rival_bytes : 0);
	tdm_json_object_end(json);
}

static void put_kind(struct tdm_json *json, const struct tdm_picture_kind *kind, enum tdm_kind k)
{
	bool has_banks = kind->banks != 0;
	tdm_json_object(json);
	tdm_json_put_text(json, "kind", tdm_kind_name(k));
	tdm_json_put_bytes(json, "used", kind->used);
	tdm_json_put_bytes(json, "total", kind->total);
	tdm_json_put_bytes(json, "free", kind->free);
	tdm_json_put_bytes(json, "largest_free", kind->largest_free);
	tdm_json_put_bytes(json, "peak", kind->peak);
	tdm_json_put_bool(json, "peak_is_exact", kind->peak != TDM_BYTES_UNKNOWN && !kind->peak_is_seen);
	tdm_json_put_bytes(json, "asked", kind->asked);
	tdm_json_put_bytes(json, "buffers", kind->buffers);
	tdm_json_put_bytes(json, "unattributed", kind->unattributed);
	tdm_json_put_bytes(json, "stale", kind->stale);
	put_number(json, "banks", has_banks ? (int64_t)kind->banks : -1);
	tdm_json_put_bytes(json, "base", has_banks ? kind->base : TDM_BYTES_UNKNOWN);
	tdm_json_put_bytes(json, "bank_bytes", has_banks ? kind->bank_bytes : TDM_BYTES_UNKNOWN);
	tdm_json_put_bytes(json, "allocations", kind->allocs);
	tdm_json_put_bytes(json, "out_of_memory", kind->out_of_memory);
	tdm_json_put_text(json, "source", source_name(kind->used_from));
	tdm_json_put_text(json, "total_source", source_name(kind->total_from));
	put_rival(json, kind);
	tdm_json_object_end(json);
}

static void put_l1(struct tdm_json *json, const struct tdm_picture_device *device)
{
	struct tdm_l1_account account;
	tdm_l1_account(&account, device);
	tdm_json_put_object(json, "l1");
	tdm_json_put_bytes(json, "total", account.total);
	tdm_json_put_bytes(json, "core_bytes", account.core_bytes);
	tdm_json_put_bytes(json, "cores", account.cores != 0 ? account.cores : TDM_BYTES_UNKNOWN);
	tdm_json_put_bytes(json, "peak", device->l1_peak);
	tdm_json_put_bytes(json, "lowest_buffer", device->l1_lowest);
	tdm_json_put_bytes(json, "highest_cb", device->cb_highest);
	tdm_json_put_array(json, "parts");
	for (int i = 0; i < TDM_L1_ITEM_COUNT; i++) {
		const struct tdm_l1_amount *item = &account.items[i];
		tdm_json_object(json);
		tdm_json_put_text(json, "part", tdm_l1_item_name((enum tdm_l1_item)i));
		tdm_json_put_bytes(json, "bytes", item->bytes);
		tdm_json_put_bool(json, "inferred", item->is_inferred);
		tdm_json_put_text(json, "source", item->text);
		tdm_json_object_end(json);
	}
	tdm_json_array_end(json);
	tdm_json_object_end(json);
}

static void put_chips(struct tdm_json *json, const struct tdm_picture_device *device)
{
	tdm_json_put_array(json, "chips");
	for (uint32_t i = 0; i < device->chip_count && i < TDM_PICTURE_CHIPS_MAX; i++) {
		const struct tdm_picture_chip *chip = &device->chips[i];
		tdm_json_object(json);
		put_number(json, "chip", chip->chip);
		tdm_json_put_bool(json, "remote", chip->is_remote);
		for (int k = 0; k <= TDM_KIND_CB; k++)
			tdm_json_put_bytes(json, tdm_kind_name((enum tdm_kind)k), chip->bytes[k]);
		tdm_json_put_text(json, "source", tdm_from_name(TDM_FROM_METAL_SHM));
		tdm_json_object_end(json);
	}
	tdm_json_array_end(json);
}

static void put_device_memory(struct tdm_json *json, const struct tdm_picture_device *device, size_t i)
{
	tdm_json_put_object(json, "memory");
	put_number(json, "index", (int64_t)i);
	put_number(json, "number", device->number);
	put_number(json, "node", device->node);
	put_known(json, "pci", device->pci);
	tdm_json_put_known(json, "chip_id", device->has_chip_id, device->chip_id);
	tdm_json_put_bool(json, "virtual", device->is_virtual);
	put_known(json, "card", device->card);
	tdm_json_put_text(json, "card_source", source_name(device->card_from));
	put_known(json, "architecture", device->arch);
	put_number(json, "grid_x", device->grid_x != 0 ? (int64_t)device->grid_x : -1);
	put_number(json, "grid_y", device->grid_y != 0 ? (int64_t)device->grid_y : -1);
	put_number(json, "hardware_queues", -1);
	put_number(json, "process_count", device->process_count);
	put_sources(json, device->sources);
	tdm_json_put_array(json, "kinds");
	for (int k = 0; k < TDM_KIND_COUNT; k++)
		put_kind(json, &device->kinds[k], (enum tdm_kind)k);
	tdm_json_array_end(json);
	put_l1(json, device);
	put_chips(json, device);
	tdm_json_object_end(json);
}

static const struct tdm_host_card *host_card(
	const struct tdm_status_report *report, const struct tdm_picture_device *device)
{
	if (report->host == NULL || device->host_card >= report->host->card_count)
		return NULL;
	return &report->host->cards[device->host_card];
}

static void put_devices(struct tdm_json *json, const struct tdm_status_report *report)
{
	tdm_json_put_array(json, "device_info");
	for (size_t i = 0; i < report->picture->device_count; i++) {
		const struct tdm_picture_device *device = &report->picture->devices[i];
		if (!tdm_pick_takes_device(&report->pick, report->picture, i))
			continue;
		tdm_json_object(json);
		tdm_smi_device(json, device, host_card(report, device));
		put_device_memory(json, device, i);
		tdm_json_object_end(json);
	}
	tdm_json_array_end(json);
}

static void put_amounts(struct tdm_json *json, const struct tdm_holding *holding)
{
	tdm_json_put_array(json, "kinds");
	for (int k = 0; holding != NULL && k < TDM_KIND_COUNT; k++) {
		const struct tdm_picture_amount *amount = &holding->kinds[k];
		if (amount->used == TDM_BYTES_UNKNOWN)
			continue;
		tdm_json_object(json);
		tdm_json_put_text(json, "kind", tdm_kind_name((enum tdm_kind)k));
		tdm_json_put_bytes(json, "used", amount->used);
		tdm_json_put_bytes(json, "peak", amount->peak);
		tdm_json_put_bytes(json, "buffers", amount->buffers);
		tdm_json_put_text(json, "source", source_name(amount->from));
		tdm_json_object_end(json);
	}
	tdm_json_array_end(json);
}

static void put_state(struct tdm_json *json, const struct tdm_picture_process *process)
{
	static const char *const states[] = { [TDM_LIFE_RUNS] = "running", [TDM_LIFE_ENDED] = "ended" };
	tdm_json_put_text(json, "state",
		process->life == TDM_LIFE_RUNS || process->life == TDM_LIFE_ENDED ? states[process->life] : NULL);
	tdm_json_put_bool(json, "crashed", process->crashed);
	tdm_json_put_bool(json, "container", process->in_container);
	put_known(json, "phase", process->phase);
	tdm_json_put_bytes(json, "start_time", process->start_time != 0 ? process->start_time : TDM_BYTES_UNKNOWN);
	tdm_json_put_bytes(json, "started_ns", process->started_ns != 0 ? process->started_ns : TDM_BYTES_UNKNOWN);
	tdm_json_put_bytes(json, "lost_events", process->lost);
	tdm_json_put_bytes(json, "faults", process->faults);
	tdm_json_put_bytes(json, "out_of_memory", process->out_of_memory);
	put_sources(json, process->sources);
}

/* `holding` is NULL for a process that uses no device. */
static void put_process(struct tdm_json *json, const struct tdm_status_report *report,
	const struct tdm_picture_process *process, const struct tdm_holding *holding)
{
	const struct tdm_picture_device *device = holding != NULL ? &report->picture->devices[holding->device] : NULL;
	tdm_json_object(json);
	tdm_json_key(json, "pid");
	tdm_json_i64(json, process->pid);
	tdm_json_put_text(json, "user", process->user[0] != '\0' ? process->user : "?");
	put_number(json, "device", device != NULL ? device->node : -1);
	tdm_json_put_text(json, "cmdline", process->command[0] != '\0' ? process->command : process->comm);
	tdm_json_put_object(json, "memory");
	put_number(json, "device_index", holding != NULL ? (int64_t)holding->device : -1);
	put_number(json, "device_number", device != NULL ? device->number : -1);
	put_number(
		json, "descriptors", holding != NULL && holding->descriptors != 0 ? (int64_t)holding->descriptors : -1);
	put_state(json, process);
	put_amounts(json, holding);
	tdm_json_object_end(json);
	tdm_json_object_end(json);
}

static void put_processes(struct tdm_json *json, const struct tdm_status_report *report)
{
	const struct tdm_picture *picture = report->picture;
	tdm_json_put_array(json, "processes");
	for (size_t p = 0; p < picture->process_count; p++) {
		const struct tdm_picture_process *process = &picture->processes[p];
		for (size_t i = 0; i < process->holding_count; i++)
			if (tdm_pick_takes_holding(&report->pick, picture, process->first_holding + i))
				put_process(json, report, process, &picture->holdings[process->first_holding + i]);
		if (process->holding_count == 0 && tdm_pick_takes_process(&report->pick, picture, p))
			put_process(json, report, process, NULL);
	}
	tdm_json_array_end(json);
}

static void put_status(struct tdm_json *json, const struct tdm_status_report *report)
{
	const struct tdm_picture *picture = report->picture;
	tdm_json_put_object(json, "status");
	tdm_json_put_bytes(json, "taken_ns", picture->real_ns != 0 ? picture->real_ns : TDM_BYTES_UNKNOWN);
	put_number(json, "device_count", (int64_t)picture->device_count);
	put_number(json, "process_count", (int64_t)picture->process_count);
	tdm_json_put_array(json, "unreadable");
	for (size_t i = 0; i < picture->problem_count; i++) {
		const struct tdm_picture_problem *problem = &picture->problems[i];
		tdm_json_object(json);
		tdm_json_put_text(json, "source", source_name(problem->from));
		put_known(json, "place", problem->place);
		put_known(json, "reason", problem->text);
		tdm_json_object_end(json);
	}
	tdm_json_array_end(json);
	tdm_json_object_end(json);
}

void tdm_status_json(const struct tdm_status_report *report, struct tdm_json *json)
{
	tdm_json_envelope(json, "tidemark.status");
	put_status(json, report);
	tdm_smi_machine(json, report->machine);
	tdm_json_put_object(json, "host_sw_vers");
	tdm_json_put_text(json, "tidemark", TDM_VERSION_STRING);
	tdm_json_put_text(json, "tt_smi", "N/A");
	tdm_json_put_text(json, "pyluwen", "N/A");
	tdm_json_put_text(json, "tt_umd", "N/A");
	tdm_json_object_end(json);
	put_devices(json, report);
	put_processes(json, report);
	tdm_json_object_end(json);
}
