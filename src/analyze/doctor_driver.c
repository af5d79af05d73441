/* Checks of the driver: is it loaded, does it see cards, may this user open them, can its values be read. */
#include "analyze/doctor_checks.h"
#include "base/err.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

/* The module: /proc/modules, and its version in sysfs. */
void tdm_doctor_driver_module(struct tdm_doctor *d)
{
	const struct tdm_probe *probe = &d->setup->probe;
	int loaded = probe->module_loaded;
	tdm_doctor_look(
		d, "%s/modules, %s/module/" TDM_PROBE_MODULE "/version", probe->places.proc, probe->places.sysfs);
	if (probe->module_version[0] != '\0')
		tdm_doctor_say(d, OK, "the driver is loaded, version %s", probe->module_version);
	else if (loaded == 1 || d->setup->host->err == 0)
		tdm_doctor_say(d, OK, "the driver is loaded; it does not report its version");
	else if (loaded == 0 || loaded == -ENOENT) {
		tdm_doctor_say(d, WARNING, "the driver is not loaded");
		tdm_doctor_advise(d, "sudo modprobe " TDM_PROBE_MODULE,
			"load it, or install it first (tt-kmd); on a machine without a card this is normal: "
			"files, traces and the device model need none");
	} else
		tdm_doctor_say(d, WARNING, "cannot tell whether the driver is loaded: %s", tdm_err_text(loaded));
}

static const char *card_type(const struct tdm_host_card *card)
{
	const struct tdm_host_value *value = &card->values[TDM_HOST_CARD_TYPE];
	return value->state == TDM_HOST_KNOWN ? value->text : "of unknown type";
}

/* The cards: the driver's class in sysfs. */
void tdm_doctor_driver_cards(struct tdm_doctor *d)
{
	const struct tdm_host *host = d->setup->host;
	const struct tdm_probe *probe = &d->setup->probe;
	tdm_doctor_look(d, "%s/class/" TDM_PROBE_MODULE, probe->places.sysfs);
	if (host->err == -ENOENT && probe->module_loaded != 1 && !probe->has_module_dir) {
		tdm_doctor_say(d, INFO, "no cards: the driver's class does not exist");
	} else if (host->err != 0 && host->err != -ENOENT) {
		tdm_doctor_say(d, WARNING, "the cards cannot be listed: %s", tdm_err_text(host->err));
	} else if (host->card_count == 0) {
		tdm_doctor_say(d, WARNING, "the driver has found no card");
		tdm_doctor_advise(d, "lspci -d 1e52:",
			"see whether the machine has one: an empty answer says that it is not plugged in, has no "
			"power, or is not passed to this virtual machine");
	}
	for (size_t i = 0; i < host->card_count; i++) {
		const struct tdm_host_card *card = &host->cards[i];
		if (card->err != 0)
			tdm_doctor_say(d, WARNING, "card %" PRIu32 " cannot be read: %s", card->number,
				tdm_err_text(card->err));
		else
			tdm_doctor_say(d, OK, "card %" PRIu32 ": %s%s%s", card->number, card_type(card),
				card->pci[0] != '\0' ? " at " : "", card->pci);
	}
	if (host->cut_cards != 0)
		tdm_doctor_say(d, WARNING, "%" PRIu64 " more cards than Tidemark reads (%d)", host->cut_cards,
			TDM_HOST_CARDS_MAX);
}

static void refused_node(struct tdm_doctor *d, const struct tdm_probe_file *node, int err)
{
	const char *user = d->setup->probe.user;
	char command[3 * TDM_PROBE_TEXT_CAP];
	tdm_doctor_say(d, WARNING, "%s may not be opened for reading and writing: %s", d->looked, tdm_err_text(err));
	if (node->group[0] != '\0' && node->gid != 0 && (node->mode & 0060) == 0060 && user[0] != '\0') {
		snprintf(command, sizeof command, "sudo usermod -aG %s %s", node->group, user);
		tdm_doctor_advise(d, command,
			"programs of this user cannot use the card: join the group %s and log in again", node->group);
		return;
	}
	tdm_doctor_advise(d, tdm_doctor_command(d, "ls -l", d->looked),
		"programs of this user cannot use the card: its owner and mode come from udev; see whether the "
		"driver's rule is installed");
}

/* The device nodes, which programs open. Tidemark itself never opens them. */
void tdm_doctor_driver_nodes(struct tdm_doctor *d)
{
	const struct tdm_host *host = d->setup->host;
	const char *dev = d->setup->probe.places.dev;
	size_t good = 0;
	for (size_t i = 0; i < host->card_count; i++) {
		const struct tdm_probe_file *node = &d->setup->nodes[i];
		int err = node->read_err != 0 ? node->read_err : node->write_err;
		tdm_doctor_look(d, "%s/" TDM_PROBE_MODULE "/%" PRIu32, dev, host->cards[i].number);
		good += err == 0;
		if (err == -ENOENT) {
			tdm_doctor_say(d, WARNING, "%s is not there, though the driver has the card", d->looked);
			tdm_doctor_advise(d, NULL,
				"in a container, pass it in (--device /dev/tenstorrent); else see whether udev runs");
		} else if (err != 0)
			refused_node(d, node, err);
	}
	tdm_doctor_look(d, "%s/" TDM_PROBE_MODULE, dev);
	if (good != 0)
		tdm_doctor_say(d, OK, "%zu card%s may be opened by this user", good, good == 1 ? "" : "s");
	else if (host->card_count == 0)
		tdm_doctor_say(d, INFO, "%s",
			d->setup->probe.has_node_dir ? "there are device nodes, but the driver's class shows no card"
						     : "no device nodes");
}

/* Values that the driver offers but that cannot be read. */
void tdm_doctor_driver_telemetry(struct tdm_doctor *d)
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
		tdm_doctor_look(d, "%s/class/" TDM_PROBE_MODULE "/" TDM_PROBE_MODULE "!%" PRIu32,
			d->setup->probe.places.sysfs, card->number);
		if (failed == 0) {
			tdm_doctor_say(d, known != 0 ? OK : WARNING, "card %" PRIu32 " reports %zu values",
				card->number, known);
			continue;
		}
		tdm_doctor_say(d, WARNING, "card %" PRIu32 " reports %zu values; %zu cannot be read: %s (%s)%s",
			card->number, known, failed, tdm_host_attributes[first].file,
			tdm_err_text(card->values[first].err), failed > 1 ? ", …" : "");
		tdm_doctor_advise(d, resets ? NULL : "tt-smi -r", "%s",
			resets ? "the card is being reset, or does not answer: look again in a while"
			       : "the card or its firmware does not answer as it should: reset it when nobody uses it");
	}
}

/* The processes that have a card open: the place to look when a program cannot get the card for itself. */
static void card_users(struct tdm_doctor *d, const struct tdm_host_card *card)
{
	const struct tdm_host *host = d->setup->host;
	struct tdm_buf list;
	tdm_buf_init(&list);
	for (uint32_t i = 0; i < card->open_count; i++) {
		const struct tdm_host_process *process = &host->processes[host->opens[card->open_first + i].process];
		tdm_doctor_list(&list, process->pid, process->facts.comm);
	}
	if (card->hidden_opens != 0)
		tdm_buf_printf(&list, "%s%" PRIu64 " outside of this pid namespace", list.len != 0 ? ", " : "",
			card->hidden_opens);
	d->findings.failed |= list.failed;
	if (list.len == 0) {
		tdm_doctor_say(d, OK, "card %" PRIu32 ": nobody has it open", card->number);
	} else {
		tdm_doctor_say(d, INFO, "card %" PRIu32 " is open in %s", card->number, list.data);
		tdm_doctor_advise(
			d, NULL, "a program that says it cannot initialise the device may be waiting for one of these");
	}
	tdm_buf_done(&list);
}

void tdm_doctor_driver_users(struct tdm_doctor *d)
{
	for (size_t i = 0; i < d->setup->host->card_count; i++) {
		const struct tdm_host_card *card = &d->setup->host->cards[i];
		tdm_doctor_look(d, "%s/driver/" TDM_PROBE_MODULE "/%" PRIu32 "/pids", d->setup->probe.places.proc,
			card->number);
		if (card->opens_err == 0) {
			card_users(d, card);
			continue;
		}
		tdm_doctor_say(d, WARNING, "cannot tell who has card %" PRIu32 " open: %s", card->number,
			tdm_err_text(card->opens_err));
		tdm_doctor_advise(d, NULL,
			"the driver may be too old to tell, or this /proc may not show the driver's files, as in a "
			"container");
	}
}
