/*
 * The checks of the driver, the runtime's shared memory, the environment and the system; doctor_ledgers.c checks the
 * ledgers.
 *
 * A check reads only struct tdm_setup, filled in by the caller, and the given environment. No check opens a file, so
 * tests can run each one on any setup. The table of all checks, in output order, is at the end.
 */
#include "analyze/doctor/doctor.h"
#include "base/err.h"
#include "base/names.h"
#include "base/str.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- helpers shared by the checks ---- */

const char *const tdm_doctor_verdicts[TDM_SEVERITIES] = { "ok", "info", "warning", "broken" };

const char *tdm_doctor_look(struct tdm_doctor *doctor, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(doctor->looked, sizeof doctor->looked, format, arguments);
	va_end(arguments);
	return doctor->looked;
}

struct tdm_findings *tdm_doctor_add(struct tdm_doctor *doctor, int severity)
{
	tdm_findings_add(&doctor->findings, TDM_FAMILY_DOCTOR, doctor->check, (enum tdm_severity)severity)->verdict =
		tdm_doctor_verdicts[severity];
	tdm_findings_place(&doctor->findings, "looked_at", tdm_str_of(doctor->looked));
	if (severity >= WARNING)
		tdm_findings_label(&doctor->findings, "looked at");
	return &doctor->findings;
}

const char *tdm_doctor_shell(struct tdm_doctor *doctor, const char *word, const char *path)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:-";
	size_t cap = sizeof doctor->command;
	if (path[0] == '\0' || path[0] == '-' || path[strspn(path, plain)] != '\0')
		return NULL;
	return (size_t)snprintf(doctor->command, cap, "%s %s", word, path) < cap ? doctor->command : NULL;
}

static const char *value_of(const struct tdm_doctor *doctor, const char *name)
{
	size_t len = strlen(name);
	for (size_t i = 0; doctor->environ != NULL && doctor->environ[i] != NULL; i++)
		if (strncmp(doctor->environ[i], name, len) == 0 && doctor->environ[i][len] == '=')
			return doctor->environ[i] + len + 1;
	return NULL;
}

/* Adds "PID (name)" to a list of processes. */
static void list_process(struct tdm_buf *list, int32_t pid, const char *comm)
{
	tdm_buf_printf(list, "%s%" PRId32 " (%s)", list->len != 0 ? ", " : "", pid, comm[0] != '\0' ? comm : "?");
}

/*
 * ---- driver ----  Whether the driver is loaded and sees cards, and whether this user may open the cards and read the
 * driver's values.
 */

/* Checks the module: /proc/modules, and the version in sysfs. */
static void driver_module(struct tdm_doctor *d)
{
	const struct tdm_setup *setup = d->setup;
	int loaded = setup->module_loaded;
	look(d, "%s/modules, %s/module/" TDM_SETUP_MODULE "/version", setup->places.proc, setup->places.sysfs);
	if (setup->module_version[0] != '\0')
		say(d, OK, "the driver is loaded, version %s", setup->module_version);
	else if (loaded == 1 || d->setup->host->err == 0)
		say(d, OK, "the driver is loaded; it does not report its version");
	else if (loaded == 0 || loaded == -ENOENT)
		tell(d, WARNING, "sudo modprobe " TDM_SETUP_MODULE,
			"load it, or install it first (tt-kmd); on a machine without a card this is normal: files, "
			"traces and the device model need none",
			"the driver is not loaded");
	else
		say(d, WARNING, "cannot tell whether the driver is loaded: %s", tdm_err_text(loaded));
}

/* Checks the cards: the driver's class in sysfs. */
static void driver_cards(struct tdm_doctor *d)
{
	const struct tdm_host *host = d->setup->host;
	const struct tdm_setup *setup = d->setup;
	look(d, "%s/class/" TDM_SETUP_MODULE, setup->places.sysfs);
	if (host->err == -ENOENT && setup->module_loaded != 1 && !setup->has_module_dir)
		say(d, INFO, "no cards: the driver's class does not exist");
	else if (host->err != 0 && host->err != -ENOENT)
		say(d, WARNING, "the cards cannot be listed: %s", tdm_err_text(host->err));
	else if (host->card_count == 0)
		tell(d, WARNING, "lspci -d 1e52:",
			"see whether the machine has one: an empty answer says that it is not plugged in, has no "
			"power, or is not passed to this virtual machine",
			"the driver has found no card");
	for (size_t i = 0; i < host->card_count; i++) {
		const struct tdm_host_card *card = &host->cards[i];
		const struct tdm_host_value *type = &card->values[TDM_HOST_CARD_TYPE];
		if (card->err != 0)
			say(d, WARNING, "card %" PRIu32 " cannot be read: %s", card->number, tdm_err_text(card->err));
		else
			say(d, OK, "card %" PRIu32 ": %s%s%s", card->number,
				type->state == TDM_HOST_KNOWN ? type->text : "of unknown type",
				card->pci[0] != '\0' ? " at " : "", card->pci);
	}
	if (host->cut_cards != 0)
		say(d, WARNING, "%" PRIu64 " more cards than Tidemark reads (%d)", host->cut_cards, TDM_HOST_CARDS_MAX);
}

static void refused_node(struct tdm_doctor *d, const struct tdm_setup_file *node, int err)
{
	const char *user = d->setup->user;
	char command[3 * TDM_SETUP_TEXT_CAP];
	say(d, WARNING, "%s may not be opened for reading and writing: %s", d->looked, tdm_err_text(err));
	if (node->group[0] != '\0' && node->gid != 0 && (node->mode & 0060) == 0060 && user[0] != '\0') {
		snprintf(command, sizeof command, "sudo usermod -aG %s %s", node->group, user);
		advise(d, command, "programs of this user cannot use the card: join the group %s and log in again",
			node->group);
		return;
	}
	advise(d, tdm_doctor_shell(d, "ls -l", d->looked),
		"programs of this user cannot use the card: its owner and mode come from udev; see whether the "
		"driver's rule is installed");
}

/* Checks the device nodes, which programs open. Tidemark itself never opens device nodes. */
static void driver_nodes(struct tdm_doctor *d)
{
	const struct tdm_host *host = d->setup->host;
	const char *dev = d->setup->places.dev;
	size_t good = 0;
	for (size_t i = 0; i < host->card_count; i++) {
		const struct tdm_setup_file *node = &d->setup->nodes[i];
		int err = node->read_err != 0 ? node->read_err : node->write_err;
		look(d, "%s/" TDM_SETUP_MODULE "/%" PRIu32, dev, host->cards[i].number);
		good += err == 0;
		if (err == -ENOENT)
			tell(d, WARNING, NULL,
				"in a container, pass it in (--device /dev/tenstorrent); else see whether udev runs",
				"%s is not there, though the driver has the card", d->looked);
		else if (err != 0)
			refused_node(d, node, err);
	}
	look(d, "%s/" TDM_SETUP_MODULE, dev);
	if (good != 0)
		say(d, OK, "%zu card%s may be opened by this user", good, good == 1 ? "" : "s");
	else if (host->card_count == 0)
		say(d, INFO, "%s",
			d->setup->has_node_dir ? "there are device nodes, but the driver's class shows no card"
					       : "no device nodes");
}

/* Checks for driver values that exist but cannot be read. */
static void driver_telemetry(struct tdm_doctor *d)
{
	for (size_t i = 0; i < d->setup->host->card_count; i++) {
		const struct tdm_host_card *card = &d->setup->host->cards[i];
		size_t known = 0, failed = 0, first = 0;
		bool resets = false;
		if (card->err != 0)
			continue;
		for (size_t v = 0; v < TDM_HOST_VALUE_COUNT; v++) {
			const struct tdm_host_value *value = &card->values[v];
			known += value->state == TDM_HOST_KNOWN;
			if (value->state != TDM_HOST_ERROR)
				continue;
			first = failed++ == 0 ? v : first;
			resets |= value->err == -ENODATA || value->err == -ENODEV;
		}
		look(d, "%s/class/" TDM_SETUP_MODULE "/" TDM_SETUP_MODULE "!%" PRIu32, d->setup->places.sysfs,
			card->number);
		if (failed == 0) {
			say(d, known != 0 ? OK : WARNING, "card %" PRIu32 " reports %zu values", card->number, known);
			continue;
		}
		tell(d, WARNING, resets ? NULL : "tt-smi -r",
			resets ? "the card is being reset, or does not answer: look again in a while"
			       : "the card or its firmware does not answer as it should: reset it when nobody uses it",
			"card %" PRIu32 " reports %zu values; %zu cannot be read: %s (%s)%s", card->number, known,
			failed, tdm_host_attributes[first].file, tdm_err_text(card->values[first].err),
			failed > 1 ? ", …" : "");
	}
}

/* Lists the processes that have a card open, because they may prevent a program from using the card exclusively. */
static void driver_users(struct tdm_doctor *d)
{
	const struct tdm_host *host = d->setup->host;
	for (size_t i = 0; i < host->card_count; i++) {
		const struct tdm_host_card *card = &host->cards[i];
		struct tdm_buf list = { 0 };
		look(d, "%s/driver/" TDM_SETUP_MODULE "/%" PRIu32 "/pids", d->setup->places.proc, card->number);
		for (uint32_t k = 0; k < card->open_count; k++) {
			uint32_t process = host->opens[card->open_first + k].process;
			list_process(&list, host->processes[process].pid, host->processes[process].facts.comm);
		}
		if (card->hidden_opens != 0)
			tdm_buf_printf(&list, "%s%" PRIu64 " outside of this pid namespace", list.len != 0 ? ", " : "",
				card->hidden_opens);
		if (card->opens_err != 0)
			tell(d, WARNING, NULL,
				"the driver may be too old to tell, or this /proc may not show the driver's files, as "
				"in a "
				"container",
				"cannot tell who has card %" PRIu32 " open: %s", card->number,
				tdm_err_text(card->opens_err));
		else if (list.len != 0)
			tell(d, INFO, NULL,
				"a program that says it cannot initialise the device may be waiting for one of these",
				"card %" PRIu32 " is open in %s", card->number, list.data);
		else
			say(d, OK, "card %" PRIu32 ": nobody has it open", card->number);
		tdm_buf_done(&list);
	}
}

/*
 * ---- runtime ----
 *
 * The runtime's figures in shared memory, and the server to which instrumented runtimes report.
 */

enum { UNCOUNTED_SHOWN = 5 };

static void unreadable_region(struct tdm_doctor *d, const struct tdm_metal_region *region, const char *owner)
{
	bool is_known = region->version >= 1 && region->version <= TDM_METAL_VERSION_MAX;
	say(d, WARNING, "%s: %s", region->name, region->text);
	switch ((enum tdm_metal_status)region->status) {
	case TDM_METAL_DENIED:
		advise(d, "sudo tidemark doctor",
			"it belongs to %s, and the runtime makes it readable for its owner only: look as that user or "
			"as root",
			owner[0] != '\0' ? owner : "another user");
		return;
	case TDM_METAL_VERSION:
	case TDM_METAL_LENGTH:
		if (!region->has_version || (region->status == TDM_METAL_LENGTH && is_known))
			advise(d, tdm_doctor_shell(d, "rm", d->looked),
				"it is not from the runtime, or it is truncated: it may be removed when no process "
				"uses the device");
		else
			advise(d, NULL,
				"versions 1 to %d of the layout are known: a newer runtime needs a newer Tidemark",
				TDM_METAL_VERSION_MAX);
		return;
	case TDM_METAL_NOT_READY:
		advise(d, tdm_doctor_shell(d, "rm", d->looked),
			"look again; if this stays, a program was killed while it created the file, which may be "
			"removed when no process uses the device");
		return;
	default:
		return;
	}
}

/* Explains why the device has no telemetry, and where its capacity comes from. */
static void cardless_region(struct tdm_doctor *d, const struct tdm_metal_region *region)
{
	static const char *const reasons[] = {
		[TDM_METAL_ID_CHIP] = "the driver does not report the ids of chips that are linked by Ethernet, as on "
				      "an n300 or in a galaxy",
		[TDM_METAL_ID_BOARD] = "version 1 of the layout has the board's id, not the chip's",
		[TDM_METAL_ID_LOGICAL] = "the runtime found no id and wrote down its own number of the device",
	};
	const char *reason = region->id_type < sizeof reasons / sizeof reasons[0] ? reasons[region->id_type] : NULL;
	size_t idx = (size_t)(region - d->setup->metal->regions);
	const struct tdm_picture_device *device = NULL;
	for (size_t i = 0; i < d->setup->machine->device_count && device == NULL; i++)
		if (d->setup->machine->devices[i].region == idx)
			device = &d->setup->machine->devices[i];
	if (d->setup->host->card_count == 0 || reason == NULL || (device != NULL && device->host_card != UINT32_MAX))
		return;
	if (device != NULL && device->card_from == TDM_FROM_CARD_TYPE)
		say(d, INFO,
			"%s: which card its chip is on is not known, so it has no telemetry; its capacities are those "
			"of %s, the type of all cards",
			region->name, device->card);
	else
		say(d, INFO, "%s: which card its chip is on is not known, so it has neither telemetry nor capacities",
			region->name);
	advise(d, NULL, "%s; a program that reports to libtidemark says what card it uses", reason);
}

/* Explains why a program is missing from the file, or has only zeros there. */
static void missing_figures(struct tdm_doctor *d, const struct tdm_metal_region *region)
{
	bool is_new = region->version >= 4, is_all_zero = true;
	for (unsigned k = 0; k < TDM_KIND_COUNT; k++)
		is_all_zero &= (region->counts >> k & 1) == 0 || region->total.of[k] == 0;
	if (region->free_slot_count == 0)
		tell(d, WARNING, NULL,
			is_new ? "end programs that do not need the device any more"
			       : "the runtime does not take back the places of killed processes: the file may be "
				 "removed when no process uses the device",
			"%s: all %d places for processes are taken: others %s", region->name, TDM_METAL_SLOTS_MAX,
			is_new ? "are not counted at all" : "are in its totals only, unattributed");
	if ((region->slot_count != 0 || region->attached != 0) && is_all_zero) {
		say(d, INFO, "%s: a program has the device open, and all totals are 0", region->name);
		advise(d, NULL, "it has allocated nothing yet, or freed everything%s",
			is_new ? ""
			       : "; or other threads allocate than the one that opened the device: versions up to 3 "
				 "count that one alone");
	}
}

/* Reports figures that ended processes left in the file. */
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
		say(d, OK, "%s: version %" PRIu32 ", device %" PRIu32 ", %" PRIu32 " process%s", region->name,
			region->version, region->device, region->slot_count, region->slot_count == 1 ? "" : "es");
		return;
	}
	bool is_used = stale < region->slot_count;
	say(d, WARNING,
		"%s: %zu of %" PRIu32 " process%s ended without giving back %s; none of it is still on the device",
		region->name, stale, region->slot_count, region->slot_count == 1 ? " has" : "es have",
		tdm_format_bytes_short(size, sizeof size, bytes));
	advise(d, is_used ? NULL : tdm_doctor_shell(d, "rm", d->looked),
		"Tidemark leaves it out of its sums; the file may be removed %s no process uses the device",
		is_used ? "only when" : "as long as");
}

/* Checks the runtime's shared memory: each file of each device. */
static void runtime_regions(struct tdm_doctor *d)
{
	const struct tdm_metal_list *metal = d->setup->metal;
	const char *shm = d->setup->places.shm;
	for (size_t i = 0; i < metal->count; i++) {
		look(d, "%s/%s", shm, metal->regions[i].name);
		if (metal->regions[i].status == TDM_METAL_OK) {
			const struct tdm_metal_region *region = &metal->regions[i];
			for (unsigned doubt = 0; doubt < TDM_METAL_DOUBT_COUNT; doubt++)
				if (tdm_metal_doubts(region, (enum tdm_metal_doubt)doubt))
					say(d, INFO, "%s: %s", region->name, tdm_metal_doubt_texts[doubt]);
			cardless_region(d, region);
			/* The id does not name a chip. */
			if (region->id_type == TDM_METAL_ID_UNHEALTHY)
				tell(d, WARNING, "tt-smi -r", "reset the card when nobody uses it",
					"%s: the runtime found the chip of device %" PRIu32 " unhealthy", region->name,
					region->device);
			else if (region->id_type == TDM_METAL_ID_SIMULATED)
				say(d, INFO, "%s: a simulated device, which is on no card", region->name);
			missing_figures(d, region);
			stale_slots(d, region);
		} else
			unreadable_region(d, &metal->regions[i], d->setup->regions[i].owner);
	}
	look(d, "%s", shm);
	if (metal->err != 0)
		say(d, WARNING, "%s cannot be listed: %s", shm, tdm_err_text(metal->err));
	if (metal->cut != 0)
		say(d, WARNING, "%" PRIu64 " more files than Tidemark reads (%d)", metal->cut, TDM_METAL_REGIONS_MAX);
	if (metal->count != 0 || metal->err != 0)
		return;
	tell(d, INFO, NULL,
		"if one has: its tt-metal is older than v0.70, " TDM_SETUP_DISABLE
		"=1 was set, or it runs in a container with a /dev/shm of its own",
		"no shared memory of the runtime: no program that publishes its totals has opened a device");
}

/* Reports processes that have a card open but whose memory is not counted. */
static void runtime_uncounted(struct tdm_doctor *d)
{
	enum { OPEN = 1 << TDM_FROM_DRIVER, COUNTED = 1 << TDM_FROM_LEDGER | 1 << TDM_FROM_METAL_SHM };
	const struct tdm_picture *machine = d->setup->machine;
	struct tdm_buf list = { 0 };
	size_t count = 0, open = 0;
	look(d, "%s", d->setup->places.shm);
	for (size_t i = 0; i < machine->process_count; i++) {
		const struct tdm_picture_process *process = &machine->processes[i];
		open += (process->sources & OPEN) != 0;
		if ((process->sources & (OPEN | COUNTED)) == OPEN && count++ < UNCOUNTED_SHOWN)
			list_process(&list, process->pid, process->comm);
	}
	if (count > UNCOUNTED_SHOWN)
		tdm_buf_printf(&list, " and %zu more", count - UNCOUNTED_SHOWN);
	if (count != 0)
		tell(d, INFO, NULL,
			"reasons may be: nothing is allocated yet, or never, as by tt-smi; a tt-metal older than "
			"v0.70; " TDM_SETUP_DISABLE "=1; files of another user; a container with a /dev/shm of its own",
			"%s a card open, and no readable file counts what %s: %s",
			count == 1 ? "a process has" : "processes have", count == 1 ? "it holds" : "they hold",
			list.data);
	else if (open != 0)
		say(d, OK, "every process that has a card open is counted");
	tdm_buf_done(&list);
}

/* Checks the variable that turns off the runtime's shared memory, here and in the processes that have a card open. */
static void runtime_disabled(struct tdm_doctor *d)
{
	const char *own = value_of(d, TDM_SETUP_DISABLE), *proc = d->setup->places.proc;
	size_t hidden = 0, before = d->findings.count;
	if (own != NULL && own[0] == '1') {
		look(d, "the environment of this command");
		tell(d, WARNING, "unset " TDM_SETUP_DISABLE, "take it away before starting programs",
			TDM_SETUP_DISABLE " is set: programs started from here publish no totals");
	}
	for (size_t i = 0; i < d->setup->host->process_count; i++) {
		const struct tdm_host_process *process = &d->setup->host->processes[i];
		hidden += d->setup->disabled[i] < 0;
		if (d->setup->disabled[i] != 1)
			continue;
		look(d, "%s/%" PRId32 "/environ", proc, process->pid);
		tell(d, WARNING, NULL, "start it without that variable",
			"process %" PRId32 " (%s) runs with " TDM_SETUP_DISABLE "=1: it publishes no totals",
			process->pid, process->facts.comm);
	}
	look(d, "environments");
	if (d->findings.count == before)
		say(d, OK, TDM_SETUP_DISABLE " is not set");
	look(d, "%s", proc);
	if (hidden != 0)
		say(d, INFO, "the environment of %zu process%s with a card open may not be read", hidden,
			hidden == 1 ? "" : "es");
}

/* Checks the socket of the allocation server. */
static void runtime_socket(struct tdm_doctor *d)
{
	int err = d->setup->socket_err;
	look(d, "%s", d->setup->places.server_socket);
	if (err == -ENOENT)
		say(d, OK, "no allocation server, and none is needed");
	else if (err == 0)
		say(d, INFO, "an allocation server listens: programs with TIDEMARK=auto are tracked");
	else if (err == -ECONNREFUSED)
		tell(d, WARNING, tdm_doctor_shell(d, "rm", d->looked),
			"instrumented runtimes try to connect at every report: remove it, or start the server",
			"the socket of an allocation server is there, but nobody listens");
	else
		say(d, INFO, "cannot tell whether an allocation server listens: %s", tdm_err_text(err));
}

/*
 * ---- environment ----  The values of Tidemark's own variables, and the runtime's variables that concern memory.
 */

static bool is_depth(const char *value)
{
	char *end;
	unsigned long number = strtoul(value, &end, 10);
	return value[0] >= '0' && value[0] <= '9' && *end == '\0' && number <= 64;
}

static bool is_path(const char *value)
{
	return value[0] == '/';
}

static const char relative[] = "each program resolves it from its own working directory";

static const char *const switches[] = { "0", "1", "on", "off", NULL };
static const char *const modes[] = { "0", "1", "on", "off", "auto", NULL };
static const char *const unwinders[] = { "auto", "fp", "libunwind", NULL };

struct variable {
	const char *name;
	const char *const *words; /* expected words, ending with NULL; or */
	bool (*is_valid)(const char *value);
	/* a description of the expected value; for a runtime variable: NULL if no public version reads the variable */
	const char *expected;
	const char *effect; /* effect of any other value; for a runtime variable: its purpose */
};

static const struct variable variables[] = {
	{ "TIDEMARK", modes, NULL, "1, 0 or auto", "whatever it says, tracking is on: only 0 and off turn it off" },
	{ "TIDEMARK_SOCKET", NULL, is_path, "the path of a socket, starting with /", relative },
	{ "TIDEMARK_DIR", NULL, is_path, "a directory, starting with /", relative },
	{ "TIDEMARK_KEEP", switches, NULL, "1 or 0", "whatever it says, ledgers are kept: only 0 and off mean no" },
	{ "TIDEMARK_MODE", NULL, tdm_setup_mode_is_valid, "permissions such as 0640",
		"only reading can be allowed to others (0640, 0644, 0604); anything else counts as 0600" },
	{ "TIDEMARK_RING", NULL, tdm_setup_ring_is_valid, "a number of events from 16 to 4194304",
		"it counts as 2048" },
	{ "TIDEMARK_STACKS", NULL, is_depth, "a number of frames up to 64",
		"a larger number counts as 64, anything else as 0" },
	{ "TIDEMARK_UNWIND", unwinders, NULL, "auto, fp or libunwind", "it counts as auto" },
	{ "TIDEMARK_SHM_DIR", NULL, is_path, "a directory, starting with /", relative },
	{ "TIDEMARK_SYSFS_ROOT", NULL, is_path, "a directory, starting with /", relative },
	{ "TIDEMARK_PROC_ROOT", NULL, is_path, "a directory, starting with /", relative },
	{ "TIDEMARK_DEV_ROOT", NULL, is_path, "a directory, starting with /", relative },
	{ "TIDEMARK_PRELOAD", NULL, is_path, "the path of libtidemark-metal.so, starting with /",
		"'run' and 'env' resolve it from the directory in which they are called" },
	{ "TIDEMARK_LIBRARY", NULL, is_path, "the path of libtidemark.so, starting with /", relative },
};
enum { VARIABLES = sizeof variables / sizeof variables[0] };

static void check_variable(struct tdm_doctor *d, struct tdm_str name, const char *value, size_t *good)
{
	char shown[80], known[80];
	struct tdm_suggest suggest;
	const char *looked = look(d, "%s", tdm_str_shown(name, known, sizeof known));
	tdm_str_shown(tdm_str_of(value), shown, sizeof shown);
	tdm_suggest_init(&suggest, name);
	for (size_t i = 0; i < VARIABLES; i++) {
		tdm_suggest_offer(&suggest, variables[i].name);
		if (!tdm_str_is(name, variables[i].name))
			continue;
		const char *const *word = variables[i].words;
		while (word != NULL && *word != NULL && strcmp(value, *word) != 0)
			word++;
		if (value[0] == '\0' || (word != NULL ? *word != NULL : variables[i].is_valid(value))) {
			++*good;
			return;
		}
		say(d, WARNING, "%s is '%s'; expected %s", looked, shown, variables[i].expected);
		advise(d, NULL, "correct it: %s", variables[i].effect);
		return;
	}
	tell(d, WARNING, tdm_doctor_shell(d, "unset", looked), "correct the name, or unset it",
		"%s is set, and nothing reads it%s%s%s", looked, suggest.best != NULL ? "; did you mean " : "",
		suggest.best != NULL ? suggest.best : "", suggest.best != NULL ? "?" : "");
}

/* Checks variables that begin with TIDEMARK: the values of known ones, and misspelt names. */
static void environment_tidemark(struct tdm_doctor *d)
{
	static const char prefix[] = "TIDEMARK";
	size_t good = 0, before = d->findings.count;
	for (size_t i = 0; d->environ != NULL && d->environ[i] != NULL; i++) {
		const char *entry = d->environ[i], *equals = strchr(entry, '=');
		if (equals == NULL || strncmp(entry, prefix, strlen(prefix)) != 0)
			continue;
		check_variable(d, (struct tdm_str){ entry, (size_t)(equals - entry) }, equals + 1, &good);
	}
	look(d, "variables TIDEMARK*");
	if (d->findings.count == before)
		say(d, OK, "%zu variable%s of Tidemark set, none wrong", good, good == 1 ? "" : "s");
}

static const struct variable others[] = {
	{ "TT_TRACK_ALLOCATIONS", .effect = "it is a name from design notes; TIDEMARK=1 turns tracking on" },
	{ "TT_ALLOC_SERVER_ENABLED", .effect = "it is a name from design notes; TIDEMARK=1 turns tracking on" },
	{ "TT_ALLOC_SERVER_SOCKET",
		.effect = "the path of the server's socket is fixed; TIDEMARK_SOCKET is for TIDEMARK=auto" },
	{ "TT_BUFFER_DEBUG_LOG", .effect = "it belongs to a patch; TIDEMARK=1 and 'tidemark dump' show buffers" },
	{ "TT_METAL_MEMORY_REPORT",
		.effect = "no version of the runtime is known to read it; 'tidemark run' prints a summary" },
	{ "TT_METAL_SHM_TIMING_ENABLED", .effect = "only an early branch of the runtime read it" },
	{ "TT_METAL_SHM_CB_TRACKING_ENABLED", .effect = "only a branch of the runtime read it" },
	{ "TT_ALLOC_STACK_TRACE",
		.effect = "only a demonstration client read it; TIDEMARK_STACKS=8 keeps call stacks" },
	{ "TT_METAL_SHM_VERBOSE", .expected = "",
		.effect = "the runtime logs every change of its shared memory; it mixes up kinds there" },
	{ "TT_VISIBLE_DEVICES", .expected = "", .effect = "programs see only some devices, with numbers of their own" },
};

/* Explains variables that people set for memory tracking. */
static void environment_runtime(struct tdm_doctor *d)
{
	const char *tracking = value_of(d, "TT_ALLOC_TRACKING_ENABLED");
	size_t before = d->findings.count;
	look(d, "TT_ALLOC_TRACKING_ENABLED");
	if (tracking != NULL && strcmp(tracking, "1") == 0)
		say(d, INFO,
			"TT_ALLOC_TRACKING_ENABLED=1 turns on libtidemark and instrumented runtimes; an unmodified "
			"tt-metal does not read it");
	else if (tracking != NULL && strcmp(tracking, "0") != 0 && tracking[0] != '\0')
		tell(d, WARNING, "export TT_ALLOC_TRACKING_ENABLED=1", "only the value 1 turns tracking on",
			"TT_ALLOC_TRACKING_ENABLED is set, but not to 1");
	for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
		if (value_of(d, others[i].name) == NULL)
			continue;
		look(d, "%s", others[i].name);
		say(d, others[i].expected == NULL ? WARNING : INFO, "%s is set%s%s", others[i].name,
			others[i].expected == NULL ? " and does nothing: " : ": ", others[i].effect);
	}
	look(d, "variables TT_*");
	if (d->findings.count == before)
		say(d, OK, "no variable of the runtime that matters here is set");
}

/*
 * ---- system ----  Other properties of the machine: the library, the clock, barriers, containers, the terminal. None
 * of these is required.
 */

/* Checks whether programs find the library by its name. */
static void library_loader(struct tdm_doctor *d)
{
	const char *name = look(d, TDM_SETUP_LIBRARY), *version = d->setup->library_version;
	if (d->setup->has_library)
		say(d, OK, "the loader finds %s%s%s", name, version[0] != '\0' ? ", version " : "", version);
	else
		tell(d, INFO, "sudo ldconfig",
			"install the library and let the loader know, or set LD_LIBRARY_PATH; programs that link it "
			"statically "
			"need nothing",
			"the loader does not find %s: programs that are linked with it will not start", name);
}

/* Checks whether Python finds the package. */
static void library_python(struct tdm_doctor *d)
{
	static const char *const texts[] = {
		[TDM_SETUP_NO_PYTHON] = "there is no python3",
		[TDM_SETUP_PYTHON_PACKAGE] = "python3 finds the package tidemark",
		[TDM_SETUP_PYTHON_ALONE] =
			"python3 does not find the package tidemark: Python programs cannot report by themselves",
	};
	uint8_t python = d->setup->python;
	look(d, "python3");
	say(d, python == TDM_SETUP_PYTHON_PACKAGE ? OK : INFO, "%s", texts[python]);
	if (python == TDM_SETUP_PYTHON_ALONE)
		advise(d, NULL, "install it where python3 looks, or set PYTHONPATH");
}

/* Checks whether the preload for tt-metal exists and can be loaded. */
static void library_preload(struct tdm_doctor *d)
{
	if (d->preload == NULL)
		return;
	look(d, "%s", d->preload_looked);
	if (d->preload_reason[0] == '\0') {
		say(d, OK, "the preload for tt-metal is there: %s", d->preload);
		return;
	}
	say(d, WARNING, "the preload for tt-metal%s%s %s", d->preload[0] != '\0' ? ", " : "", d->preload,
		d->preload_reason);
	advise(d, NULL, "programs that use tt-metal are not seen buffer by buffer: %s", d->preload_remedy);
}

/* Checks the time stamp counter, from which the times of births and events are taken. */
static void system_clock(struct tdm_doctor *d)
{
	const struct tdm_setup *setup = d->setup;
	if (!setup->has_tsc) {
		look(d, "the processor");
		say(d, OK, "the counter is steady by its architecture");
		return;
	}
	look(d, "%s/cpuinfo", setup->places.proc);
	if (setup->tsc_err != 0)
		say(d, INFO, "cannot tell whether the time stamp counter is steady: %s", tdm_err_text(setup->tsc_err));
	else if (setup->tsc_is_constant && setup->tsc_is_nonstop)
		say(d, OK, "the time stamp counter is constant and does not stop");
	else
		tell(d, WARNING, NULL, "ages and times of events may be wrong; sums and peaks are not affected",
			"the processor does not promise a steady time stamp counter (%s%s%s)",
			setup->tsc_is_constant ? "" : "no constant_tsc",
			setup->tsc_is_constant || setup->tsc_is_nonstop ? "" : ", ",
			setup->tsc_is_nonstop ? "" : "no nonstop_tsc");
}

/* Checks the barrier that the library uses to move a device from one thread to another. */
static void system_membarrier(struct tdm_doctor *d)
{
	look(d, "membarrier(2)");
	if (d->setup->has_membarrier)
		say(d, OK, "Linux offers expedited barriers: a single thread reports without a lock");
	else
		tell(d, INFO, NULL, "this is a Linux before 4.14, or a container whose filter refuses the call",
			"no expedited barriers: the library takes a lock at every report, which is slower but just as "
			"exact");
}

/* Checks whether this process runs in a container. */
static void system_container(struct tdm_doctor *d)
{
	look(d, "%s/self/status", d->setup->places.proc);
	if (!d->setup->in_container)
		say(d, OK, "not in a container, as far as can be seen");
	else
		tell(d, INFO, NULL, "start it with --ipc=host and --pid=host to see the whole machine",
			"in a container: programs outside of it are seen only where /dev/shm and the pids are shared");
}

/* Checks what the terminal can display. */
static void system_terminal(struct tdm_doctor *d)
{
	const char *type = value_of(d, "TERM");
	char shown[40];
	look(d, "TERM, LC_ALL, NO_COLOR");
	tdm_str_shown(tdm_str_of(type != NULL && type[0] != '\0' ? type : "unset"), shown, sizeof shown);
	say(d, d->term.utf8 ? OK : INFO, "TERM is %s; characters are %sUTF-8; %s colour", shown,
		d->term.utf8 ? "" : "not ", d->term.colour ? "with" : "without");
	if (!d->term.utf8)
		advise(d, "export LC_ALL=C.UTF-8", "bars and names outside ASCII show as '#' and '?'");
}

/* ---- all checks ---- */

const struct tdm_doctor_check tdm_doctor_checks[] = {
	{ "driver.module", driver_module },
	{ "driver.cards", driver_cards },
	{ "driver.nodes", driver_nodes },
	{ "driver.telemetry", driver_telemetry },
	{ "driver.users", driver_users },
	{ "runtime.regions", runtime_regions },
	{ "runtime.uncounted", runtime_uncounted },
	{ "runtime.disabled", runtime_disabled },
	{ "runtime.socket", runtime_socket },
	{ "ledgers.directory", tdm_doctor_ledgers_directory },
	{ "ledgers.unreadable", tdm_doctor_ledgers_unreadable },
	{ "ledgers.left", tdm_doctor_ledgers_left },
	{ "ledgers.lost", tdm_doctor_ledgers_lost },
	{ "ledgers.settings", tdm_doctor_ledgers_settings },
	{ "ledgers.namespaces", tdm_doctor_ledgers_namespaces },
	{ "ledgers.figures", tdm_doctor_ledgers_figures },
	{ "environment.tidemark", environment_tidemark },
	{ "environment.runtime", environment_runtime },
	{ "library.loader", library_loader },
	{ "library.python", library_python },
	{ "library.preload", library_preload },
	{ "system.clock", system_clock },
	{ "system.membarrier", system_membarrier },
	{ "system.container", system_container },
	{ "system.terminal", system_terminal },
	{ NULL, NULL },
};

bool tdm_doctor_run(struct tdm_doctor *doctor, const char *name)
{
	bool found = false;
	for (const struct tdm_doctor_check *check = tdm_doctor_checks; check->name != NULL; check++)
		if (name == NULL || strcmp(check->name, name) == 0) {
			doctor->check = check->name;
			check->run(doctor);
			found = true;
		}
	return found;
}
