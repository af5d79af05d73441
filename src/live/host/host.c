#include "live/host/host.h"
#include "base/err.h"
#include "base/memory.h"
#include "base/file.h"
#include "base/str.h"
#include "base/units.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

/* ---- processes that have cards open ---- */

enum {
	LINE_CAP = 64,
	LINES_MAX = 1 << 22,       /* maximum number of lines in a list, to limit the work */
	DESCRIPTORS_MAX = 1 << 20, /* maximum number of descriptors in a list, to limit the memory */
};

/* Reads a list with one line for each open descriptor, in any order: the process's pid, or 0 if the process is outside
 * the reader's pid namespace. Returns the pids sorted; the caller frees them. */
static uint64_t *read_list(int fd, struct tdm_host_card *card, size_t *count)
{
	struct tdm_lines lines;
	struct tdm_str line;
	uint64_t *pids = NULL, pid;
	size_t cap = 0;
	int got = 0;
	*count = 0;
	tdm_lines_open(&lines, fd, LINE_CAP);
	for (int i = 0; i < LINES_MAX && (got = tdm_lines_next(&lines, &line)) != 0; i++) {
		if (got < 0 && got != -EMSGSIZE) {
			card->opens_err = got;
			break;
		}
		if (got == -EMSGSIZE || tdm_str_parse_u64(tdm_str_trim(line), &pid) != 0 || pid > TDM_PID_MAX) {
			card->refused_lines++;
		} else if (pid == 0) {
			card->hidden_opens++;
		} else if (*count == DESCRIPTORS_MAX) {
			card->cut_opens++;
		} else {
			tdm_grow(&pids, &cap, *count + 1, sizeof *pids);
			pids[(*count)++] = pid;
		}
	}
	if (got > 0)
		card->opens_err = -EFBIG;
	tdm_lines_done(&lines);
	if (*count > 1)
		qsort(pids, *count, sizeof *pids, tdm_order_u64);
	return pids;
}

/* Finds the processes that have a card open, and how many descriptors each of them has. On failure, sets
 * `opens_err`. */
static void read_card_opens(
	struct tdm_host *host, struct tdm_host_card *card, const struct tdm_proc_root *root, struct tdm_map *by_pid)
{
	char path[64];
	size_t count;
	snprintf(path, sizeof path, "driver/tenstorrent/%u/pids", card->number);
	int fd = root->fd >= 0 ? tdm_sys_file_open(root->fd, path) : root->err;
	if (fd < 0) {
		card->opens_err = fd;
		return;
	}
	uint64_t *pids = read_list(fd, card, &count);
	close(fd);
	card->open_first = (uint32_t)host->open_count;
	struct tdm_host_open *open = NULL; /* the previous pid's; NULL if there was no room for it */
	for (size_t i = 0; i < count; i++) {
		bool is_new = i == 0 || pids[i] != pids[i - 1];
		if (is_new && host->open_count == TDM_HOST_OPENS_MAX) {
			card->cut_opens++;
			open = NULL;
		} else if (is_new) {
			tdm_grow(&host->opens, &host->open_cap, host->open_count + 1, sizeof *host->opens);
			open = &host->opens[host->open_count++];
			uint32_t at = tdm_map_find(by_pid, pids[i]);
			if (at == TDM_MAP_NONE) {
				at = (uint32_t)host->process_count++;
				tdm_grow(&host->processes, &host->process_cap, host->process_count,
					sizeof *host->processes);
				host->processes[at].pid = (int32_t)pids[i];
				tdm_proc_facts_read(root, (int32_t)pids[i], &host->processes[at].facts);
				tdm_map_set(by_pid, pids[i], at);
			}
			*open = (struct tdm_host_open){ at, 0 };
		}
		if (open != NULL)
			open->descriptors++;
	}
	card->open_count = (uint32_t)host->open_count - card->open_first;
	free(pids);
}

/* PCI ids of Tenstorrent cards. */
enum { VENDOR = 0x1e52, DEVICE_WORMHOLE = 0x401e, DEVICE_BLACKHOLE = 0xb140 };

enum { LOCATIONS = 32 }; /* possible locations of a chip on its board: as many as an id can express */

const char *tdm_host_sysfs_path(const char *path)
{
	return tdm_sys_place(path, "TIDEMARK_SYSFS_ROOT", "/sys");
}

static void read_value(int dir_fd, const struct tdm_host_attribute *attribute, struct tdm_host_value *value)
{
	int got = tdm_sys_file_text(dir_fd, attribute->file, value->text, sizeof value->text);
	int err = got < 0 ? got : got == 0 ? -ENODATA : 0;
	if (err == 0 && attribute->form == TDM_HOST_NUMBER) {
		uint64_t number = 0;
		bool is_negative = value->text[0] == '-';
		err = tdm_sys_number(value->text + is_negative, INT64_MAX, &number);
		value->number = is_negative ? -(int64_t)number : (int64_t)number;
	}
	if (err == 0 && attribute->form == TDM_HOST_HEX) { /* with or without 0x */
		const char *text =
			value->text + (tdm_has_prefix(value->text, "0x") || tdm_has_prefix(value->text, "0X") ? 2 : 0);
		size_t digits = strspn(text, "0123456789abcdefABCDEF");
		value->id = strtoull(text, NULL, 16);
		err = digits == 0 || text[digits] != '\0' ? (int)TDM_ESYNTAX
		      : digits > 16                       ? -ERANGE
		      : value->id == UINT64_MAX           ? -EIO
							  : 0;
	}
	if (err == 0) {
		value->state = TDM_HOST_KNOWN;
		return;
	}
	*value = (struct tdm_host_value){ .state = got == -ENOENT ? TDM_HOST_ABSENT : TDM_HOST_ERROR, .err = err };
}

/* Reads those values in a folder that are not known yet. A negative `dir_fd` is the reason why the folder cannot be
 * opened. */
static void read_place(struct tdm_host_card *card, enum tdm_host_place place, int dir_fd)
{
	for (size_t i = 0; i < TDM_HOST_VALUE_COUNT; i++) {
		struct tdm_host_value *value = &card->values[i];
		if (tdm_host_attributes[i].place != place || value->state != TDM_HOST_UNREAD)
			continue;
		if (dir_fd >= 0)
			read_value(dir_fd, &tdm_host_attributes[i], value);
		else
			*value = (struct tdm_host_value){
				.state = dir_fd == -ENOENT ? TDM_HOST_ABSENT : TDM_HOST_ERROR,
				.err = dir_fd,
			};
	}
}

static bool is_pci_address(struct tdm_str s)
{
	static const char form[] = "hhhh:hh:hh.d"; /* the domain may have more digits */
	size_t digits = 0;
	while (digits < s.len && s.ptr[digits] != ':')
		digits++;
	if (digits < 4 || digits > 8 || s.len - digits != sizeof form - 1 - 4)
		return false;
	for (size_t i = 0; i < s.len; i++) {
		char want = i < digits ? 'h' : form[i - digits + 4];
		bool is_hex = strchr("0123456789abcdefABCDEF", s.ptr[i]) != NULL;
		if (want == 'h' || want == 'd' ? !is_hex : s.ptr[i] != want)
			return false;
	}
	return true;
}

/* Opens the PCI device's hwmonN folder with the lowest N. Returns a descriptor or -errno. */
static int open_hwmon(int pci_fd)
{
	uint64_t lowest = UINT64_MAX, number;
	char name[32];
	int err;
	DIR *dir = tdm_sys_dir_list(pci_fd, "hwmon", &err);
	if (dir == NULL)
		return err;
	for (const struct dirent *entry; (entry = readdir(dir)) != NULL;)
		if (strncmp(entry->d_name, "hwmon", 5) == 0 &&
			tdm_sys_number(entry->d_name + 5, INT32_MAX, &number) == 0 && number < lowest)
			lowest = number;
	int fd = -ENOENT;
	if (lowest != UINT64_MAX) {
		snprintf(name, sizeof name, "hwmon%u", (unsigned)lowest);
		fd = tdm_sys_dir_open(dirfd(dir), name);
	}
	closedir(dir);
	return fd;
}

static void close_dir(int fd)
{
	if (fd >= 0)
		close(fd);
}

/* The driver's own names take precedence over PCI ids. */
static enum tdm_host_arch find_arch(const struct tdm_host_card *card)
{
	const struct tdm_host_value *vendor = &card->values[TDM_HOST_PCI_VENDOR];
	const struct tdm_host_value *device = &card->values[TDM_HOST_PCI_DEVICE];
	const char *name = card->values[TDM_HOST_HWMON_NAME].text, *type = card->values[TDM_HOST_CARD_TYPE].text;
	if (strcmp(name, "wormhole") == 0 || tdm_has_prefix(type, "n1") || tdm_has_prefix(type, "n3") ||
		strcmp(type, "galaxy-wormhole") == 0)
		return TDM_HOST_WORMHOLE;
	if (strcmp(name, "blackhole") == 0 || tdm_has_prefix(type, "p1") || tdm_has_prefix(type, "p3") ||
		strcmp(type, "galaxy-blackhole") == 0)
		return TDM_HOST_BLACKHOLE;
	if (vendor->state != TDM_HOST_KNOWN || vendor->id != VENDOR || device->state != TDM_HOST_KNOWN)
		return TDM_HOST_ARCH_UNKNOWN;
	return device->id == DEVICE_WORMHOLE    ? TDM_HOST_WORMHOLE
	       : device->id == DEVICE_BLACKHOLE ? TDM_HOST_BLACKHOLE
						: TDM_HOST_ARCH_UNKNOWN;
}

/* If an earlier reading was certainly of the same card, copies from it the values that change only when a card is
 * replaced or flashed. */
static void keep_lasting(const struct tdm_host *before, int card_fd, struct tdm_host_card *card)
{
	static const enum tdm_host_value_id identity[] = { TDM_HOST_CARD_TYPE, TDM_HOST_SERIAL, TDM_HOST_ASIC_ID };
	const struct tdm_host_card *old = NULL;
	for (size_t i = 0; before != NULL && i < before->card_count; i++)
		if (before->cards[i].number == card->number)
			old = &before->cards[i];
	if (old == NULL || old->err != 0 || card_fd < 0 || strcmp(old->pci, card->pci) != 0)
		return;
	for (size_t i = 0; i < sizeof identity / sizeof *identity; i++) {
		const struct tdm_host_value *then = &old->values[identity[i]];
		struct tdm_host_value *now = &card->values[identity[i]];
		read_value(card_fd, &tdm_host_attributes[identity[i]], now);
		if (now->state == TDM_HOST_ERROR || now->state != then->state || strcmp(now->text, then->text) != 0)
			return;
	}
	for (size_t i = 0; i < TDM_HOST_VALUE_COUNT; i++)
		if (i >= TDM_HOST_FW_BUNDLE && i <= TDM_HOST_NUMA_NODE && old->values[i].state == TDM_HOST_KNOWN)
			card->values[i] = old->values[i];
}

static void read_card(int class_fd, const char *name, const struct tdm_host *before, struct tdm_host_card *card)
{
	char target[PATH_MAX];
	int card_fd = tdm_sys_dir_open(class_fd, name);
	if (card_fd == -ENOENT) /* it was removed after the listing */
		card_fd = -ENODEV;
	card->err = card_fd < 0 ? card_fd : 0;
	int pci_fd = card_fd >= 0 ? tdm_sys_dir_open(card_fd, "device") : card_fd;
	int hwmon_fd = pci_fd >= 0 ? open_hwmon(pci_fd) : pci_fd;
	card->hwmon_err = hwmon_fd < 0 ? hwmon_fd : 0;
	/* The PCI address is the last part of the target of the card's link `device`. */
	ssize_t len = card_fd >= 0 ? readlinkat(card_fd, "device", target, sizeof target) : 0;
	struct tdm_str pci = tdm_last_part((struct tdm_str){ target, len > 0 ? (size_t)len : 0 }, '/');
	if (is_pci_address(pci) && pci.len < sizeof card->pci)
		memcpy(card->pci, pci.ptr, pci.len);
	keep_lasting(before, card_fd, card);
	read_place(card, TDM_HOST_IN_CARD, card_fd);
	read_place(card, TDM_HOST_IN_PCI, pci_fd);
	read_place(card, TDM_HOST_IN_HWMON, hwmon_fd);
	card->arch = (uint8_t)find_arch(card);
	close_dir(hwmon_fd);
	close_dir(pci_fd);
	close_dir(card_fd);
}

static const char card_prefix[] = "tenstorrent!"; /* sysfs replaces a slash by an exclamation mark */

/*
 * Lists the cards in numerical order, without duplicates. An entry is twice the card's number, plus 1 if the card's
 * name consists of the number alone. Returns the number of cards, or a negative code.
 */
static int list_cards(struct tdm_host *host, int class_fd, uint64_t found[2 * TDM_HOST_CARDS_MAX])
{
	uint64_t number;
	size_t count = 0, kept = 0;
	int err;
	DIR *dir = tdm_sys_dir_list(class_fd, ".", &err);
	if (dir == NULL)
		return err;
	for (const struct dirent *e; (e = readdir(dir)) != NULL;) {
		bool is_plain = !tdm_has_prefix(e->d_name, card_prefix);
		if (tdm_sys_number(e->d_name + (is_plain ? 0 : sizeof card_prefix - 1), INT32_MAX, &number) != 0)
			continue;
		if (count == 2 * TDM_HOST_CARDS_MAX) {
			host->cut_cards++;
			continue;
		}
		found[count++] = number << 1 | is_plain;
	}
	closedir(dir);
	qsort(found, count, sizeof *found, tdm_order_u64);
	for (size_t i = 0; i < count; i++)
		if (kept == 0 || found[kept - 1] >> 1 != found[i] >> 1)
			found[kept++] = found[i];
	if (kept > TDM_HOST_CARDS_MAX) {
		host->cut_cards += kept - TDM_HOST_CARDS_MAX;
		kept = TDM_HOST_CARDS_MAX;
	}
	return (int)kept;
}

int tdm_host_read(
	struct tdm_host *host, const char *sysfs, const struct tdm_proc_root *root, const struct tdm_host *before)
{
	uint64_t found[2 * TDM_HOST_CARDS_MAX];
	char path[PATH_MAX], name[32];
	struct tdm_map by_pid = { 0 };
	*host = (struct tdm_host){ 0 };
	int len = snprintf(path, sizeof path, "%s/class/tenstorrent", tdm_host_sysfs_path(sysfs));
	if (len >= (int)sizeof path)
		return host->err = -ENAMETOOLONG;
	int class_fd = tdm_sys_dir_open(AT_FDCWD, path);
	int count = class_fd >= 0 ? list_cards(host, class_fd, found) : class_fd;
	if (count < 0) {
		close_dir(class_fd);
		return host->err = count;
	}
	host->cards = tdm_zalloc((size_t)count, sizeof *host->cards);
	for (int i = 0; i < count; i++) {
		struct tdm_host_card *card = &host->cards[host->card_count++];
		card->number = (uint32_t)(found[i] >> 1);
		snprintf(name, sizeof name, "%s%u", (found[i] & 1) != 0 ? "" : card_prefix, card->number);
		read_card(class_fd, name, before, card);
	}
	close(class_fd);
	for (size_t i = 0; i < host->card_count && root != NULL; i++)
		read_card_opens(host, &host->cards[i], root, &by_pid);
	tdm_map_done(&by_pid);
	return 0;
}

void tdm_host_done(struct tdm_host *host)
{
	free(host->cards);
	free(host->opens);
	free(host->processes);
	*host = (struct tdm_host){ 0 };
}

size_t tdm_host_chip_ids(const struct tdm_host_card *card, uint64_t ids[TDM_HOST_CHIP_IDS_MAX], bool *is_first_own)
{
	const struct tdm_host_value *asic = &card->values[TDM_HOST_ASIC_ID], *board = &card->values[TDM_HOST_SERIAL];
	const char *type = card->values[TDM_HOST_CARD_TYPE].text;
	/* No chip has the id 0, but the driver may report 0 for a device without an id. */
	bool has_asic = asic->state == TDM_HOST_KNOWN && asic->id != 0;
	uint64_t serial = board->state == TDM_HOST_KNOWN ? board->id : 0;
	size_t count = 0;
	*is_first_own = card->arch == TDM_HOST_BLACKHOLE && has_asic;
	if (*is_first_own) /* while no Ethernet link is up */
		ids[count++] = asic->id;
	if (card->arch == TDM_HOST_WORMHOLE && serial != 0 && strcmp(type, "n150") == 0)
		ids[count++] = serial;
	/*
	 * Applies while a link is up. Not done for other boards: they have several chips, and a galaxy's chips have
	 * different ids.
	 */
	if (card->arch == TDM_HOST_BLACKHOLE && serial != 0 && serial >> 59 == 0 && tdm_has_prefix(type, "p1"))
		for (uint64_t location = 0; location < LOCATIONS; location++)
			ids[count++] = serial << 5 | location;
	return count;
}

const struct tdm_host_attribute tdm_host_attributes[TDM_HOST_VALUE_COUNT] = {
#define X(id, place, file, form, unit, summary) { file, TDM_HOST_IN_##place, TDM_HOST_##form, unit, summary },
	TDM_HOST_VALUE_LIST(X)
#undef X
};

/* ---- the machine ---- */

enum { OS_RELEASE_MAX = 65536 };

void tdm_machine_distro(const char *os_release, char *dst, size_t cap)
{
	static const char key[] = "PRETTY_NAME=";
	struct tdm_str rest = tdm_str_of(os_release), line = { "", 0 };
	while (rest.len != 0 && !tdm_str_begins(line, key))
		line = tdm_str_take_line(&rest);
	struct tdm_str text = tdm_str_begins(line, key) ? tdm_str_trim(tdm_str_from(line, sizeof key - 1))
							: (struct tdm_str){ "", 0 };
	if (text.len >= 2 && (text.ptr[0] == '"' || text.ptr[0] == '\'') && text.ptr[text.len - 1] == text.ptr[0])
		text = (struct tdm_str){ text.ptr + 1, text.len - 2 };
	tdm_str_shown(text, dst, cap);
}

void tdm_machine_read(struct tdm_machine *machine, const char *sysfs)
{
	static const char *const releases[] = { "/etc/os-release", "/usr/lib/os-release" };
	struct utsname names;
	struct sysinfo info;
	*machine = (struct tdm_machine){ .memory_bytes = TDM_BYTES_UNKNOWN };
	if (uname(&names) == 0) {
		const char *const from[] = { names.sysname, names.release, names.nodename, names.machine };
		char *const to[] = { machine->system, machine->release, machine->host, machine->machine };
		for (size_t i = 0; i < sizeof to / sizeof *to; i++)
			tdm_str_shown(tdm_str_of(from[i]), to[i], TDM_MACHINE_TEXT_CAP);
	}
	if (sysinfo(&info) == 0)
		machine->memory_bytes = (uint64_t)info.totalram * info.mem_unit;
	for (size_t i = 0; i < sizeof releases / sizeof *releases && machine->distro[0] == '\0'; i++) {
		struct tdm_buf text = { 0 };
		if (tdm_file_read(releases[i], OS_RELEASE_MAX, &text) == 0 && text.data != NULL)
			tdm_machine_distro(text.data, machine->distro, sizeof machine->distro);
		tdm_buf_done(&text);
	}
	int fd = tdm_sys_dir_open(AT_FDCWD, tdm_host_sysfs_path(sysfs));
	if (fd < 0)
		return;
	tdm_sys_file_text(fd, "module/tenstorrent/version", machine->driver, sizeof machine->driver);
	close(fd);
}
