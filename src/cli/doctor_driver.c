/* The driver's side: is it there, does it see cards, may this user use them, what does it tell. */
#include "base/buf.h"
#include "base/err.h"
#include "cli/doctor_checks.h"
#include "sources/sys_file.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <inttypes.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char module_name[] = "tenstorrent";

/* 1: loaded, 0: not; or a negative code. */
static int is_loaded(const char *path)
{
	char line[512];
	FILE *file = fopen(path, "re");
	if (file == NULL)
		return -errno;
	int found = 0;
	size_t len = strlen(module_name);
	while (found == 0 && fgets(line, sizeof line, file) != NULL)
		found = strncmp(line, module_name, len) == 0 && line[len] == ' ';
	fclose(file);
	return found;
}

static bool seems_loaded(const struct tdm_doctor *doctor)
{
	char path[PATH_MAX];
	tdm_doctor_path(path, sizeof path, doctor->proc, "modules");
	if (is_loaded(path) == 1)
		return true;
	tdm_doctor_path(path, sizeof path, doctor->sysfs, "module/%s", module_name);
	return access(path, F_OK) == 0;
}

/* The module: /proc/modules, and its version in sysfs. */
void tdm_doctor_module(struct tdm_doctor *doctor)
{
	struct tdm_findings *out = &doctor->findings;
	char modules[PATH_MAX], version_path[PATH_MAX], looked[2 * PATH_MAX + 8], version[64];
	tdm_doctor_path(modules, sizeof modules, doctor->proc, "modules");
	tdm_doctor_path(version_path, sizeof version_path, doctor->sysfs, "module/%s/version", module_name);
	snprintf(looked, sizeof looked, "%.*s, %.*s", PATH_MAX - 1, modules, PATH_MAX - 1, version_path);
	int loaded = is_loaded(modules);
	bool has_version = tdm_sys_file_text(AT_FDCWD, version_path, version, sizeof version) > 0;
	if (has_version)
		tdm_doctor_say(
			out, TDM_FINDING_OK, "driver.module", looked, "the driver is loaded, version %s", version);
	else if (loaded == 1 || doctor->host->err == 0)
		tdm_doctor_say(out, TDM_FINDING_OK, "driver.module", looked,
			"the driver is loaded; it does not tell its version");
	else if (loaded == 0 || loaded == -ENOENT) {
		tdm_doctor_say(out, TDM_FINDING_WARNING, "driver.module", looked, "the driver is not loaded");
		tdm_findings_advise(out, "sudo modprobe tenstorrent",
			"load it, or install it first (tt-kmd); without a card on this machine that is as it should "
			"be: files, traces and the device model need none");
	} else
		tdm_doctor_say(out, TDM_FINDING_WARNING, "driver.module", looked,
			"whether the driver is loaded cannot be told: %s", tdm_err_text(loaded));
}

static const char *card_type(const struct tdm_host_card *card)
{
	const struct tdm_host_value *value = &card->values[TDM_HOST_CARD_TYPE];
	return value->state == TDM_HOST_KNOWN ? value->text : "of unknown type";
}

/* The cards: the driver's class in sysfs. */
void tdm_doctor_cards(struct tdm_doctor *doctor)
{
	struct tdm_findings *out = &doctor->findings;
	const struct tdm_host *host = doctor->host;
	char looked[PATH_MAX];
	tdm_doctor_path(looked, sizeof looked, doctor->sysfs, "class/%s", module_name);
	if (host->err == -ENOENT && !seems_loaded(doctor)) {
		tdm_doctor_say(
			out, TDM_FINDING_INFO, "driver.cards", looked, "no cards: the driver's class is not there");
	} else if (host->err != 0 && host->err != -ENOENT) {
		tdm_doctor_say(out, TDM_FINDING_WARNING, "driver.cards", looked, "the cards cannot be listed: %s",
			tdm_err_text(host->err));
	} else if (host->card_count == 0) {
		tdm_doctor_say(out, TDM_FINDING_WARNING, "driver.cards", looked, "the driver has found no card");
		tdm_findings_advise(out, "lspci -d 1e52:",
			"see whether the machine has one: an empty answer says that "
			"it is not plugged in, has no power, or is not passed to "
			"this virtual machine");
	}
	for (size_t i = 0; i < host->card_count; i++) {
		const struct tdm_host_card *card = &host->cards[i];
		if (card->err != 0)
			tdm_doctor_say(out, TDM_FINDING_WARNING, "driver.cards", looked,
				"card %" PRIu32 " cannot be read: %s", card->number, tdm_err_text(card->err));
		else
			tdm_doctor_say(out, TDM_FINDING_OK, "driver.cards", looked, "card %" PRIu32 ": %s%s%s",
				card->number, card_type(card), card->pci[0] != '\0' ? " at " : "", card->pci);
	}
	if (host->cut_cards != 0)
		tdm_doctor_say(out, TDM_FINDING_WARNING, "driver.cards", looked,
			"%" PRIu64 " more cards than Tidemark reads (%d)", host->cut_cards, TDM_HOST_CARDS_MAX);
}

static void refused_node(struct tdm_doctor *doctor, const char *path, int err)
{
	struct stat st;
	const struct group *group = stat(path, &st) == 0 ? getgrgid(st.st_gid) : NULL;
	const struct passwd *user = getpwuid(geteuid());
	char command[256];
	tdm_doctor_say(&doctor->findings, TDM_FINDING_WARNING, "driver.nodes", path,
		"%s may not be opened for reading and writing: %s", path, tdm_err_text(-err));
	if (group != NULL && st.st_gid != 0 && (st.st_mode & 0060) == 0060 && user != NULL) {
		snprintf(command, sizeof command, "sudo usermod -aG %.64s %.64s", group->gr_name, user->pw_name);
		tdm_findings_advise(&doctor->findings, command,
			"programs of this user cannot use the card: join the group %.64s and log in again",
			group->gr_name);
		return;
	}
	tdm_findings_advise(&doctor->findings, tdm_doctor_command(command, sizeof command, "ls -l", path),
		"programs of this user cannot use the card: its owner and mode come from udev; see whether the "
		"driver's rule is installed");
}

/* The device nodes, which programs open. Tidemark does not, so that nothing but programs depends on them. */
void tdm_doctor_nodes(struct tdm_doctor *doctor)
{
	struct tdm_findings *out = &doctor->findings;
	char path[PATH_MAX];
	size_t good = 0;
	for (size_t i = 0; i < doctor->host->card_count; i++) {
		tdm_doctor_path(
			path, sizeof path, doctor->dev, "%s/%" PRIu32, module_name, doctor->host->cards[i].number);
		if (faccessat(AT_FDCWD, path, R_OK | W_OK, AT_EACCESS) == 0) {
			good++;
		} else if (errno == ENOENT) {
			tdm_doctor_say(out, TDM_FINDING_WARNING, "driver.nodes", path,
				"%s is not there, though the driver has the card", path);
			tdm_findings_advise(out, NULL,
				"in a container, pass it in (--device /dev/tenstorrent); else see whether udev runs");
		} else
			refused_node(doctor, path, errno);
	}
	tdm_doctor_path(path, sizeof path, doctor->dev, "%s", module_name);
	if (good != 0)
		tdm_doctor_say(out, TDM_FINDING_OK, "driver.nodes", path, "%zu card%s may be opened by this user", good,
			good == 1 ? "" : "s");
	else if (doctor->host->card_count == 0)
		tdm_doctor_say(out, TDM_FINDING_INFO, "driver.nodes", path, "%s",
			access(path, F_OK) == 0 ? "there are device nodes, but the driver's class shows no card"
						: "no device nodes");
}

/* Values that the driver offers and that cannot be read. */
void tdm_doctor_telemetry(struct tdm_doctor *doctor)
{
	struct tdm_findings *out = &doctor->findings;
	char looked[PATH_MAX];
	for (size_t i = 0; i < doctor->host->card_count; i++) {
		const struct tdm_host_card *card = &doctor->host->cards[i];
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
		tdm_doctor_path(looked, sizeof looked, doctor->sysfs, "class/%s/%s!%" PRIu32, module_name, module_name,
			card->number);
		if (failed == 0) {
			tdm_doctor_say(out, known != 0 ? TDM_FINDING_OK : TDM_FINDING_WARNING, "driver.telemetry",
				looked, "card %" PRIu32 " tells %zu values", card->number, known);
			continue;
		}
		tdm_doctor_say(out, TDM_FINDING_WARNING, "driver.telemetry", looked,
			"card %" PRIu32 " tells %zu values; %zu cannot be read: %s (%s)%s", card->number, known, failed,
			tdm_host_attributes[first].file, tdm_err_text(card->values[first].err),
			failed > 1 ? ", …" : "");
		tdm_findings_advise(out, resets ? NULL : "tt-smi -r",
			resets ? "the card is being reset, or does not answer: look again in a while"
			       : "the card or its firmware does not answer as it should: reset it when nobody uses it");
	}
}

/* Who has cards open: what to look at when a program cannot have one for itself. */
void tdm_doctor_users(struct tdm_doctor *doctor)
{
	struct tdm_findings *out = &doctor->findings;
	char looked[PATH_MAX];
	for (size_t i = 0; i < doctor->host->card_count; i++) {
		const struct tdm_host_card *card = &doctor->host->cards[i];
		struct tdm_buf list;
		tdm_doctor_path(
			looked, sizeof looked, doctor->proc, "driver/%s/%" PRIu32 "/pids", module_name, card->number);
		if (card->opens_err != 0) {
			tdm_doctor_say(out, TDM_FINDING_WARNING, "driver.users", looked,
				"who has card %" PRIu32 " open is not known: %s", card->number,
				tdm_err_text(card->opens_err));
			tdm_findings_advise(out, NULL,
				"the driver may be too old to tell, or this /proc may not show the driver's files, as "
				"in a container");
			continue;
		}
		tdm_buf_init(&list);
		for (uint32_t o = 0; o < card->open_count; o++) {
			const struct tdm_host_open *open = &doctor->host->opens[card->open_first + o];
			const struct tdm_host_process *process = &doctor->host->processes[open->process];
			tdm_buf_printf(&list, "%s%" PRId32 " (%s)", o != 0 ? ", " : "", process->pid,
				process->facts.comm[0] != '\0' ? process->facts.comm : "?");
		}
		if (card->hidden_opens != 0)
			tdm_buf_printf(&list, "%s%" PRIu64 " outside of this pid namespace", list.len != 0 ? ", " : "",
				card->hidden_opens);
		out->failed |= list.failed;
		if (list.len == 0) {
			tdm_doctor_say(out, TDM_FINDING_OK, "driver.users", looked,
				"card %" PRIu32 ": nobody has it open", card->number);
		} else {
			tdm_doctor_say(out, TDM_FINDING_INFO, "driver.users", looked, "card %" PRIu32 " is open in %s",
				card->number, list.data);
			tdm_findings_advise(out, NULL,
				"a program that says it cannot initialise the device may be waiting for one of these");
		}
		tdm_buf_done(&list);
	}
}
