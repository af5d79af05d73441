/*
 * Checks of what the runtime itself publishes in shared memory, and of the server that instrumented runtimes report to.
 */
#include "analyze/doctor_checks.h"
#include "base/err.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

enum { UNCOUNTED_SHOWN = 5 };

static void unreadable_region(struct tdm_doctor *d, const struct tdm_metal_region *region, const char *owner)
{
	bool is_known = region->version >= 1 && region->version <= TDM_METAL_VERSION_MAX;
	tdm_doctor_say(d, WARNING, "%s: %s", region->name, region->text);
	switch ((enum tdm_metal_status)region->status) {
	case TDM_METAL_DENIED:
		tdm_doctor_advise(d, "sudo tidemark doctor",
			"it belongs to %s, and the runtime makes it readable for its owner only: look as that user or "
			"as root",
			owner[0] != '\0' ? owner : "another user");
		return;
	case TDM_METAL_VERSION:
	case TDM_METAL_LENGTH:
		if (!region->has_version || (region->status == TDM_METAL_LENGTH && is_known))
			tdm_doctor_advise(d, tdm_doctor_command(d, "rm", d->looked),
				"it is not from the runtime, or it is truncated: it may be removed when no process "
				"uses the "
				"device");
		else
			tdm_doctor_advise(d, NULL,
				"versions 1 to %d of the layout are known: a newer runtime needs a newer Tidemark",
				TDM_METAL_VERSION_MAX);
		return;
	case TDM_METAL_NOT_READY:
		tdm_doctor_advise(d, tdm_doctor_command(d, "rm", d->looked),
			"look again; if this stays, a program was killed while it created the file, which may be "
			"removed when no process uses the device");
		return;
	default:
		return;
	}
}

static const struct tdm_picture_device *device_of(const struct tdm_picture *machine, size_t region)
{
	for (size_t i = 0; i < machine->device_count; i++)
		if (machine->devices[i].region == region)
			return &machine->devices[i];
	return NULL;
}

/* Explains why such a device has no telemetry, and where its capacity comes from. */
static void cardless_region(struct tdm_doctor *d, const struct tdm_metal_region *region)
{
	static const char *const reasons[] = {
		[TDM_METAL_ID_CHIP] =
			"the driver does not report the ids of chips that are linked by Ethernet, as on an "
			"n300 or in a galaxy",
		[TDM_METAL_ID_BOARD] = "version 1 of the layout has the board's id, not the chip's",
		[TDM_METAL_ID_LOGICAL] = "the runtime found no id and wrote down its own number of the device",
	};
	const char *reason = region->id_type < sizeof reasons / sizeof reasons[0] ? reasons[region->id_type] : NULL;
	size_t idx = (size_t)(region - d->setup->metal->regions);
	const struct tdm_picture_device *device = device_of(d->setup->machine, idx);
	if (d->setup->host->card_count == 0 || reason == NULL || (device != NULL && device->host_card != UINT32_MAX))
		return;
	if (device != NULL && device->card_from == TDM_FROM_CARD_TYPE)
		tdm_doctor_say(d, INFO,
			"%s: which card its chip is on is not known, so it has no telemetry; its capacities are those "
			"of %s, the type of all cards",
			region->name, device->card);
	else
		tdm_doctor_say(d, INFO,
			"%s: which card its chip is on is not known, so it has neither telemetry nor capacities",
			region->name);
	tdm_doctor_advise(d, NULL, "%s; a program that reports to libtidemark says what card it uses", reason);
}

/* Ids that do not name a chip. */
static void odd_id(struct tdm_doctor *d, const struct tdm_metal_region *region)
{
	if (region->id_type == TDM_METAL_ID_UNHEALTHY) {
		tdm_doctor_say(d, WARNING, "%s: the runtime found the chip of device %" PRIu32 " unhealthy",
			region->name, region->device);
		tdm_doctor_advise(d, "tt-smi -r", "reset the card when nobody uses it");
	} else if (region->id_type == TDM_METAL_ID_SIMULATED)
		tdm_doctor_say(d, INFO, "%s: a simulated device, which is on no card", region->name);
}

/* Explains why a program is missing from the file, or has only zeros there. */
static void missing_figures(struct tdm_doctor *d, const struct tdm_metal_region *region)
{
	bool is_new = region->version >= 4, is_all_zero = true;
	for (unsigned k = 0; k < TDM_KIND_COUNT; k++)
		is_all_zero &= (region->counts >> k & 1) == 0 || region->total.of[k] == 0;
	if (region->free_slot_count == 0) {
		tdm_doctor_say(d, WARNING, "%s: all %d places for processes are taken: others %s", region->name,
			TDM_METAL_SLOTS_MAX,
			is_new ? "are not counted at all" : "are in its totals only, unattributed");
		tdm_doctor_advise(d, NULL, "%s",
			is_new ? "end programs that do not need the device any more"
			       : "the runtime does not take back the places of killed processes: the file may be "
				 "removed when no process uses the device");
	}
	if ((region->slot_count != 0 || region->attached != 0) && is_all_zero) {
		tdm_doctor_say(d, INFO, "%s: a program has the device open, and all totals are 0", region->name);
		tdm_doctor_advise(d, NULL, "it has allocated nothing yet, or freed everything%s",
			is_new ? ""
			       : "; or other threads allocate than the one that opened the device: versions up to 3 "
				 "count that one alone");
	}
}

/* Figures that ended processes left in the file. */
static void stale_slots(struct tdm_doctor *d, const struct tdm_metal_region *region)
{
	char size[TDM_BYTES_CAP];
	uint64_t bytes = 0;
	size_t stale = 0;
	for (uint32_t i = 0; i < region->slot_count; i++)
		stale += region->slots[i].life == TDM_PROC_DEAD;
	for (unsigned k = 0; k < TDM_KIND_COUNT; k++)
		bytes += region->stale.of[k] != TDM_BYTES_UNKNOWN ? region->stale.of[k] : 0;
	if (stale == 0) {
		tdm_doctor_say(d, OK, "%s: version %" PRIu32 ", device %" PRIu32 ", %" PRIu32 " process%s",
			region->name, region->version, region->device, region->slot_count,
			region->slot_count == 1 ? "" : "es");
		return;
	}
	bool is_used = stale < region->slot_count;
	tdm_doctor_say(d, WARNING,
		"%s: %zu of %" PRIu32 " process%s ended without giving back %s; none of it is still on the device",
		region->name, stale, region->slot_count, region->slot_count == 1 ? " has" : "es have",
		tdm_format_bytes_short(size, sizeof size, bytes));
	tdm_doctor_advise(d, is_used ? NULL : tdm_doctor_command(d, "rm", d->looked),
		"Tidemark leaves it out of its sums; the file may be removed %s no process uses the device",
		is_used ? "only when" : "as long as");
}

static void readable_region(struct tdm_doctor *d, const struct tdm_metal_region *region)
{
	for (unsigned doubt = 0; doubt < TDM_METAL_DOUBT_COUNT; doubt++)
		if (tdm_metal_doubts(region, (enum tdm_metal_doubt)doubt))
			tdm_doctor_say(
				d, INFO, "%s: %s", region->name, tdm_metal_doubt_text((enum tdm_metal_doubt)doubt));
	cardless_region(d, region);
	odd_id(d, region);
	missing_figures(d, region);
	stale_slots(d, region);
}

/* The runtime's shared memory: each file of each device. */
void tdm_doctor_runtime_regions(struct tdm_doctor *d)
{
	const struct tdm_metal_list *metal = d->setup->metal;
	const char *shm = d->setup->probe.places.shm;
	for (size_t i = 0; i < metal->count; i++) {
		tdm_doctor_look(d, "%s/%s", shm, metal->regions[i].name);
		if (metal->regions[i].status == TDM_METAL_OK)
			readable_region(d, &metal->regions[i]);
		else
			unreadable_region(d, &metal->regions[i], d->setup->regions[i].owner);
	}
	tdm_doctor_look(d, "%s", shm);
	if (metal->err != 0)
		tdm_doctor_say(d, WARNING, "%s cannot be listed: %s", shm, tdm_err_text(metal->err));
	if (metal->cut != 0)
		tdm_doctor_say(d, WARNING, "%" PRIu64 " more files than Tidemark reads (%d)", metal->cut,
			TDM_METAL_REGIONS_MAX);
	if (metal->count != 0 || metal->err != 0)
		return;
	tdm_doctor_say(
		d, INFO, "no shared memory of the runtime: no program that publishes its totals has opened a device");
	tdm_doctor_advise(d, NULL,
		"if one has: its tt-metal is older than v0.70, " TDM_PROBE_DISABLE
		"=1 was set, or it runs in a container with a /dev/shm of its own");
}

/* Processes that have a card open and whose memory is not counted. */
void tdm_doctor_runtime_uncounted(struct tdm_doctor *d)
{
	enum { OPEN = 1 << TDM_FROM_DRIVER, COUNTED = 1 << TDM_FROM_LEDGER | 1 << TDM_FROM_METAL_SHM };
	const struct tdm_picture *machine = d->setup->machine;
	struct tdm_buf list;
	size_t count = 0, open = 0;
	tdm_doctor_look(d, "%s", d->setup->probe.places.shm);
	tdm_buf_init(&list);
	for (size_t i = 0; i < machine->process_count; i++) {
		const struct tdm_picture_process *process = &machine->processes[i];
		open += (process->sources & OPEN) != 0;
		if ((process->sources & (OPEN | COUNTED)) == OPEN && count++ < UNCOUNTED_SHOWN)
			tdm_doctor_list(&list, process->pid, process->comm);
	}
	if (count > UNCOUNTED_SHOWN)
		tdm_buf_printf(&list, " and %zu more", count - UNCOUNTED_SHOWN);
	d->findings.failed |= list.failed;
	if (count != 0) {
		tdm_doctor_say(d, INFO, "%s a card open, and no readable file counts what %s: %s",
			count == 1 ? "a process has" : "processes have", count == 1 ? "it holds" : "they hold",
			list.data);
		tdm_doctor_advise(d, NULL,
			"reasons may be: nothing is allocated yet, or never, as by tt-smi; a tt-metal older than "
			"v0.70; " TDM_PROBE_DISABLE
			"=1; files of another user; a container with a /dev/shm of its own");
	} else if (open != 0)
		tdm_doctor_say(d, OK, "every process that has a card open is counted");
	tdm_buf_done(&list);
}

/* The variable that turns the runtime's shared memory off: here, and in the processes that have a card open. */
void tdm_doctor_runtime_disabled(struct tdm_doctor *d)
{
	const char *own = tdm_doctor_variable(d, TDM_PROBE_DISABLE), *proc = d->setup->probe.places.proc;
	size_t hidden = 0, before = d->findings.count;
	if (own != NULL && own[0] == '1') {
		tdm_doctor_look(d, "the environment of this command");
		tdm_doctor_say(d, WARNING, TDM_PROBE_DISABLE " is set: programs started from here publish no totals");
		tdm_doctor_advise(d, "unset " TDM_PROBE_DISABLE, "take it away before starting programs");
	}
	for (size_t i = 0; i < d->setup->host->process_count; i++) {
		const struct tdm_host_process *process = &d->setup->host->processes[i];
		hidden += d->setup->disabled[i] < 0;
		if (d->setup->disabled[i] != 1)
			continue;
		tdm_doctor_look(d, "%s/%" PRId32 "/environ", proc, process->pid);
		tdm_doctor_say(d, WARNING,
			"process %" PRId32 " (%s) runs with " TDM_PROBE_DISABLE "=1: it publishes no totals",
			process->pid, process->facts.comm);
		tdm_doctor_advise(d, NULL, "start it without that variable");
	}
	tdm_doctor_look(d, "environments");
	if (d->findings.count == before)
		tdm_doctor_say(d, OK, TDM_PROBE_DISABLE " is not set");
	tdm_doctor_look(d, "%s", proc);
	if (hidden != 0)
		tdm_doctor_say(d, INFO, "the environment of %zu process%s with a card open may not be read", hidden,
			hidden == 1 ? "" : "es");
}

/* The socket of the allocation server. */
void tdm_doctor_runtime_socket(struct tdm_doctor *d)
{
	int err = d->setup->probe.socket_err;
	tdm_doctor_look(d, "%s", d->setup->probe.places.server_socket);
	if (err == -ENOENT) {
		tdm_doctor_say(d, OK, "no allocation server, and none is needed");
	} else if (err == 0) {
		tdm_doctor_say(d, INFO, "an allocation server listens: programs with TIDEMARK=auto are tracked");
	} else if (err == -ECONNREFUSED) {
		tdm_doctor_say(d, WARNING, "the socket of an allocation server is there, but nobody listens");
		tdm_doctor_advise(d, tdm_doctor_command(d, "rm", d->looked),
			"instrumented runtimes try to connect at every report: remove it, or start the server");
	} else
		tdm_doctor_say(d, INFO, "cannot tell whether an allocation server listens: %s", tdm_err_text(err));
}
