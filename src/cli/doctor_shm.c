/* What the runtime publishes by itself: its shared memory; and the server that instrumented runtimes speak to. */
#include "base/buf.h"
#include "base/err.h"
#include "base/units.h"
#include "cli/doctor_checks.h"
#include "sources/sys_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { ENVIRON_CAP = 256 * 1024, COMMAND_CAP = PATH_MAX + 64, UNCOUNTED_SHOWN = 5 };

static const char disable_name[] = "TT_METAL_SHM_TRACKING_DISABLED";

static const char *user_name(uint32_t uid, char *dst, size_t cap)
{
	const struct passwd *user = getpwuid((uid_t)uid);
	if (user != NULL)
		snprintf(dst, cap, "%.60s", user->pw_name);
	else
		snprintf(dst, cap, "%" PRIu32, uid);
	return dst;
}

static bool is_known(uint32_t version)
{
	return version >= 1 && version <= TDM_METAL_VERSION_MAX;
}

static void unreadable_region(struct tdm_doctor *doctor, const struct tdm_metal_region *region, const char *path)
{
	struct tdm_findings *out = &doctor->findings;
	char owner[64] = "another user", command[COMMAND_CAP];
	tdm_doctor_say(out, TDM_FINDING_WARNING, "runtime.regions", path, "%s: %s", region->name, region->text);
	switch ((enum tdm_metal_status)region->status) {
	case TDM_METAL_DENIED:
		if (region->has_file)
			user_name(region->uid, owner, sizeof owner);
		tdm_findings_advise(out, "sudo tidemark doctor",
			"it belongs to %s, and the runtime makes it readable for its owner only: look as that user or "
			"as root",
			owner);
		return;
	case TDM_METAL_VERSION:
	case TDM_METAL_LENGTH:
		if (!region->has_version || (region->status == TDM_METAL_LENGTH && is_known(region->version))) {
			tdm_findings_advise(out, tdm_doctor_command(command, sizeof command, "rm", path),
				"it is none of the runtime's, or was cut: it may be removed when no process uses the "
				"device");
			return;
		}
		tdm_findings_advise(out, NULL,
			"versions 1 to %d of the layout are known: a newer runtime needs a newer Tidemark",
			TDM_METAL_VERSION_MAX);
		return;
	case TDM_METAL_NOT_READY:
		tdm_findings_advise(out, tdm_doctor_command(command, sizeof command, "rm", path),
			"look again; if it stays, a program was broken off while it made the file, and no process uses "
			"the device, it may be removed");
		return;
	default:
		return;
	}
}

/* Slots whose processes are gone: how many, and what they held. */
static size_t stale_slots(const struct tdm_metal_region *region, uint64_t *bytes)
{
	size_t count = 0;
	*bytes = 0;
	for (uint32_t i = 0; i < region->slot_count; i++)
		count += region->slots[i].life == TDM_PROC_DEAD;
	for (unsigned k = 0; k < TDM_KIND_COUNT; k++)
		if (region->stale.of[k] != TDM_BYTES_UNKNOWN)
			*bytes += region->stale.of[k];
	return count;
}

static bool has_card(const struct tdm_host *host, uint64_t chip)
{
	struct tdm_host_chip_id ids[TDM_HOST_CHIP_IDS_MAX];
	for (size_t i = 0; i < host->card_count; i++)
		for (size_t k = tdm_host_chip_ids(&host->cards[i], ids); k-- > 0;)
			if (ids[k].surety == TDM_HOST_EXACT && ids[k].id == chip)
				return true;
	return false;
}

/* Why such a device has neither telemetry nor a capacity. */
static void cardless_region(struct tdm_doctor *doctor, const struct tdm_metal_region *region, const char *path)
{
	static const char *const reasons[] = {
		[TDM_METAL_ID_CHIP] = "the driver does not tell the ids of chips that are linked by Ethernet, as on an "
				      "n300 or in a galaxy",
		[TDM_METAL_ID_BOARD] = "version 1 of the layout has the board's id, not the chip's",
		[TDM_METAL_ID_LOGICAL] = "the runtime found no id and wrote down its own number of the device",
	};
	const char *reason = region->id_type < sizeof reasons / sizeof reasons[0] ? reasons[region->id_type] : NULL;
	if (doctor->host->card_count == 0 || reason == NULL ||
		(region->id_type == TDM_METAL_ID_CHIP && has_card(doctor->host, region->asic_id)))
		return;
	tdm_doctor_say(&doctor->findings, TDM_FINDING_INFO, "runtime.regions", path,
		"%s: which card its chip is on is not known, so it has neither telemetry nor capacities", region->name);
	tdm_findings_advise(
		&doctor->findings, NULL, "%s; a program that reports to libtidemark says what card it uses", reason);
}

/* What the id says that is none. */
static void odd_id(struct tdm_doctor *doctor, const struct tdm_metal_region *region, const char *path)
{
	struct tdm_findings *out = &doctor->findings;
	if (region->id_type == TDM_METAL_ID_UNHEALTHY) {
		tdm_doctor_say(out, TDM_FINDING_WARNING, "runtime.regions", path,
			"%s: the runtime found the chip of device %" PRIu32 " unhealthy", region->name, region->device);
		tdm_findings_advise(out, "tt-smi -r", "reset the card when nobody uses it");
	} else if (region->id_type == TDM_METAL_ID_SIMULATED) {
		tdm_doctor_say(out, TDM_FINDING_INFO, "runtime.regions", path,
			"%s: a simulated device, which is on no card", region->name);
	}
}

static bool is_all_zero(const struct tdm_metal_region *region)
{
	for (unsigned k = 0; k < TDM_KIND_COUNT; k++)
		if ((region->counts >> k & 1) != 0 && region->total.of[k] != 0)
			return false;
	return true;
}

/* Why a program is not in it, or only with 0. */
static void missing_figures(struct tdm_doctor *doctor, const struct tdm_metal_region *region, const char *path)
{
	struct tdm_findings *out = &doctor->findings;
	if (region->free_slot_count == 0) {
		tdm_doctor_say(out, TDM_FINDING_WARNING, "runtime.regions", path,
			"%s: all %d places for processes are taken: others %s", region->name, TDM_METAL_SLOTS_MAX,
			region->version >= 4 ? "are not counted at all" : "are in its totals only, unattributed");
		tdm_findings_advise(out, NULL, "%s",
			region->version >= 4 ? "end programs that do not need the device any more"
					     : "the runtime does not take back the places of killed "
					       "processes: the file may be removed when no process uses the device");
	}
	if ((region->slot_count != 0 || region->attached != 0) && is_all_zero(region)) {
		tdm_doctor_say(out, TDM_FINDING_INFO, "runtime.regions", path,
			"%s: a program has the device open, and all totals are 0", region->name);
		tdm_findings_advise(out, NULL, "%s",
			region->version >= 4 ? "it has allocated nothing yet, or freed everything"
					     : "it has allocated nothing yet, or freed everything; or other threads "
					       "allocate than the one that opened the device: versions up to 3 count "
					       "that one alone");
	}
}

static void readable_region(struct tdm_doctor *doctor, const struct tdm_metal_region *region, const char *path)
{
	struct tdm_findings *out = &doctor->findings;
	char size[TDM_BYTES_CAP], command[COMMAND_CAP];
	uint64_t bytes;
	size_t stale = stale_slots(region, &bytes);
	for (unsigned d = 0; d < TDM_METAL_DOUBT_COUNT; d++)
		if (tdm_metal_doubts(region, (enum tdm_metal_doubt)d))
			tdm_doctor_say(out, TDM_FINDING_INFO, "runtime.regions", path, "%s: %s", region->name,
				tdm_metal_doubt_text((enum tdm_metal_doubt)d));
	cardless_region(doctor, region, path);
	odd_id(doctor, region, path);
	missing_figures(doctor, region, path);
	if (stale == 0) {
		tdm_doctor_say(out, TDM_FINDING_OK, "runtime.regions", path,
			"%s: version %" PRIu32 ", device %" PRIu32 ", %" PRIu32 " process%s", region->name,
			region->version, region->device, region->slot_count, region->slot_count == 1 ? "" : "es");
		return;
	}
	tdm_doctor_say(out, TDM_FINDING_WARNING, "runtime.regions", path,
		"%s: %zu of %" PRIu32
		" process%s ended without giving back %s; nothing of it is on the device any more",
		region->name, stale, region->slot_count, region->slot_count == 1 ? " has" : "es have",
		tdm_format_bytes_short(size, sizeof size, bytes));
	bool used = stale < region->slot_count;
	tdm_findings_advise(out, used ? NULL : tdm_doctor_command(command, sizeof command, "rm", path), "%s",
		used ? "Tidemark leaves it out of its sums; the file may be removed only when no process uses the "
		       "device"
		     : "Tidemark leaves it out of its sums; the file may be removed as long as no process uses the "
		       "device");
}

/* The runtime's shared memory: each file of each device. */
void tdm_doctor_regions(struct tdm_doctor *doctor)
{
	struct tdm_findings *out = &doctor->findings;
	char path[PATH_MAX];
	if (doctor->metal->err != 0) {
		tdm_doctor_say(out, TDM_FINDING_WARNING, "runtime.regions", doctor->shm, "%s cannot be listed: %s",
			doctor->shm, tdm_err_text(doctor->metal->err));
		return;
	}
	for (size_t i = 0; i < doctor->metal->count; i++) {
		const struct tdm_metal_region *region = &doctor->metal->regions[i];
		tdm_doctor_path(path, sizeof path, doctor->shm, "%s", region->name);
		if (region->status == TDM_METAL_OK)
			readable_region(doctor, region, path);
		else
			unreadable_region(doctor, region, path);
	}
	if (doctor->metal->cut != 0)
		tdm_doctor_say(out, TDM_FINDING_WARNING, "runtime.regions", doctor->shm,
			"%" PRIu64 " more files than Tidemark reads (%d)", doctor->metal->cut, TDM_METAL_REGIONS_MAX);
	if (doctor->metal->count != 0)
		return;
	tdm_doctor_say(out, TDM_FINDING_INFO, "runtime.regions", doctor->shm,
		"no shared memory of the runtime: no program that publishes its totals has opened a device");
	tdm_findings_advise(out, NULL,
		"if one has: its tt-metal is older than v0.70, %s=1 was set, or it runs in a container with a /dev/shm "
		"of its own",
		disable_name);
}

static bool is_in_regions(const struct tdm_metal_list *list, int32_t pid)
{
	for (size_t i = 0; i < list->count; i++)
		for (uint32_t k = 0; k < list->regions[i].slot_count; k++) {
			const struct tdm_metal_slot *slot = &list->regions[i].slots[k];
			if (slot->life != TDM_PROC_DEAD && (slot->pid == pid || slot->nested_as == pid))
				return true;
		}
	return false;
}

/* A ledger has the pid that its process has in its own namespace; when it began is the same everywhere. */
static bool is_in_ledgers(const struct tdm_picture *picture, const struct tdm_host_process *process)
{
	for (size_t i = 0; i < picture->process_count; i++) {
		const struct tdm_process *who = picture->processes[i].who;
		if (who->life != TDM_LIFE_ENDED &&
			(who->pid == process->pid || (who->start_time == process->facts.start_time &&
							     strcmp(who->comm, process->facts.comm) == 0)))
			return true;
	}
	return false;
}

/* Processes that have a card open, and whose memory nobody counts: why they have no figures. */
void tdm_doctor_uncounted(struct tdm_doctor *doctor)
{
	struct tdm_findings *out = &doctor->findings;
	struct tdm_buf list;
	size_t count = 0;
	tdm_buf_init(&list);
	for (size_t i = 0; i < doctor->host->process_count; i++) {
		const struct tdm_host_process *process = &doctor->host->processes[i];
		if (is_in_regions(doctor->metal, process->pid) || is_in_ledgers(doctor->picture, process))
			continue;
		if (count++ < UNCOUNTED_SHOWN)
			tdm_buf_printf(&list, "%s%" PRId32 " (%s)", list.len != 0 ? ", " : "", process->pid,
				process->facts.comm[0] != '\0' ? process->facts.comm : "?");
	}
	if (count > UNCOUNTED_SHOWN)
		tdm_buf_printf(&list, " and %zu more", count - UNCOUNTED_SHOWN);
	out->failed |= list.failed;
	if (count != 0) {
		tdm_doctor_say(out, TDM_FINDING_INFO, "runtime.uncounted", doctor->shm,
			"%s a card open, and no file that may be read counts what %s: %s",
			count == 1 ? "a process has" : "processes have", count == 1 ? "it holds" : "they hold",
			list.data);
		tdm_findings_advise(out, NULL,
			"reasons may be: nothing is allocated yet, or never, as by tt-smi; a tt-metal older than "
			"v0.70; %s=1; files of another user; a container with a /dev/shm of its own",
			disable_name);
	} else if (doctor->host->process_count != 0) {
		tdm_doctor_say(out, TDM_FINDING_OK, "runtime.uncounted", doctor->shm,
			"every process that has a card open is counted");
	}
	tdm_buf_done(&list);
}

/* 1: it has the variable with a value that turns tracking off; 0: not; or a negative code. */
static int is_disabled_in(const struct tdm_doctor *doctor, int32_t pid)
{
	char path[PATH_MAX], wanted[64];
	char *text = malloc(ENVIRON_CAP);
	if (text == NULL)
		return -ENOMEM;
	tdm_doctor_path(path, sizeof path, doctor->proc, "%" PRId32 "/environ", pid);
	int len = tdm_sys_file_read(AT_FDCWD, path, text, ENVIRON_CAP), found = 0;
	snprintf(wanted, sizeof wanted, "%s=1", disable_name);
	for (int at = 0; at < len && found == 0; at += (int)strlen(text + at) + 1)
		found = strncmp(text + at, wanted, strlen(wanted)) == 0;
	free(text);
	return len < 0 ? len : found;
}

/* The variable that turns the runtime's shared memory off: here, and in the processes that have a card open. */
void tdm_doctor_disabled(struct tdm_doctor *doctor)
{
	struct tdm_findings *out = &doctor->findings;
	const char *own = tdm_doctor_variable(doctor, disable_name);
	char looked[PATH_MAX];
	bool any = false;
	size_t hidden = 0;
	if (own != NULL && own[0] == '1') {
		tdm_doctor_say(out, TDM_FINDING_WARNING, "runtime.disabled", "the environment of this command",
			"%s is set: programs started from here publish no totals", disable_name);
		tdm_findings_advise(
			out, "unset TT_METAL_SHM_TRACKING_DISABLED", "take it away before starting programs");
		any = true;
	}
	for (size_t i = 0; i < doctor->host->process_count; i++) {
		const struct tdm_host_process *process = &doctor->host->processes[i];
		tdm_doctor_path(looked, sizeof looked, doctor->proc, "%" PRId32 "/environ", process->pid);
		int disabled = is_disabled_in(doctor, process->pid);
		hidden += disabled < 0;
		if (disabled != 1)
			continue;
		tdm_doctor_say(out, TDM_FINDING_WARNING, "runtime.disabled", looked,
			"process %" PRId32 " (%s) runs with %s=1: it publishes no totals", process->pid,
			process->facts.comm, disable_name);
		tdm_findings_advise(out, NULL, "start it without that variable");
		any = true;
	}
	if (!any)
		tdm_doctor_say(out, TDM_FINDING_OK, "runtime.disabled", "environments", "%s is not set", disable_name);
	if (hidden != 0)
		tdm_doctor_say(out, TDM_FINDING_INFO, "runtime.disabled", doctor->proc,
			"the environment of %zu process%s with a card open may not be read", hidden,
			hidden == 1 ? "" : "es");
}

/* 0: somebody listens; or a negative code. */
static int try_socket(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	if (strlen(path) >= sizeof address.sun_path)
		return -ENAMETOOLONG;
	memcpy(address.sun_path, path, strlen(path) + 1);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	int err = connect(fd, (const struct sockaddr *)&address, sizeof address) == 0 || errno == EAGAIN ? 0 : -errno;
	close(fd);
	return err;
}

/* The socket of the allocation server. */
void tdm_doctor_socket(struct tdm_doctor *doctor)
{
	struct tdm_findings *out = &doctor->findings;
	const char *path = doctor->server_socket;
	char command[COMMAND_CAP];
	int err = try_socket(path);
	if (err == -ENOENT) {
		tdm_doctor_say(out, TDM_FINDING_OK, "runtime.socket", path, "no allocation server, and none is needed");
	} else if (err == 0) {
		tdm_doctor_say(out, TDM_FINDING_INFO, "runtime.socket", path,
			"an allocation server listens: programs with TIDEMARK=auto are tracked");
	} else if (err == -ECONNREFUSED) {
		tdm_doctor_say(out, TDM_FINDING_WARNING, "runtime.socket", path,
			"the socket of an allocation server is there, but nobody listens");
		tdm_findings_advise(out, tdm_doctor_command(command, sizeof command, "rm", path),
			"instrumented runtimes try to connect at every report: remove it, or start the server");
	} else {
		tdm_doctor_say(out, TDM_FINDING_INFO, "runtime.socket", path,
			"whether an allocation server listens cannot be told: %s", tdm_err_text(err));
	}
}
