#include "sources/host.h"
#include "base/err.h"
#include "sources/host_opens.h"
#include "sources/sys_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* PCI ids of Tenstorrent's cards. */
enum { VENDOR = 0x1e52, DEVICE_WORMHOLE = 0x401e, DEVICE_BLACKHOLE = 0xb140 };

enum { LOCATIONS = 32 }; /* of a chip on its board: as many as an id can express */

const char *tdm_host_sysfs_path(const char *path)
{
	if (path == NULL)
		path = secure_getenv("TIDEMARK_SYSFS_ROOT");
	return path != NULL && path[0] != '\0' ? path : "/sys";
}

/* "tenstorrent!3"; sysfs replaces the slash by an exclamation mark. A plain "3" is accepted, too. */
static bool parse_card_name(const char *name, uint32_t *number)
{
	static const char prefix[] = "tenstorrent!";
	uint64_t value;
	if (strncmp(name, prefix, sizeof prefix - 1) == 0)
		name += sizeof prefix - 1;
	if (tdm_sys_number(name, INT32_MAX, &value) != 0)
		return false;
	*number = (uint32_t)value;
	return true;
}

static int parse_number(const char *text, int64_t *number)
{
	uint64_t value;
	bool negative = text[0] == '-';
	int err = tdm_sys_number(text + negative, INT64_MAX, &value);
	if (err == 0)
		*number = negative ? -(int64_t)value : (int64_t)value;
	return err;
}

/* With or without 0x. */
static int parse_hex(const char *text, uint64_t *id)
{
	char *end;
	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
		text += 2;
	size_t digits = strspn(text, "0123456789abcdefABCDEF");
	if (digits == 0 || text[digits] != '\0')
		return TDM_ESYNTAX;
	if (digits > 16)
		return -ERANGE;
	*id = strtoull(text, &end, 16);
	return 0;
}

static void read_value(int dir_fd, const struct tdm_host_attribute *attribute, struct tdm_host_value *value)
{
	int got = tdm_sys_file_text(dir_fd, attribute->file, value->text, sizeof value->text);
	int err = got < 0 ? got : got == 0 ? -ENODATA : 0;
	if (err == 0 && attribute->form == TDM_HOST_NUMBER)
		err = parse_number(value->text, &value->number);
	if (err == 0 && attribute->form == TDM_HOST_HEX)
		err = parse_hex(value->text, &value->id);
	if (err == 0 && attribute->form == TDM_HOST_HEX && value->id == UINT64_MAX)
		err = -EIO;
	if (err == 0) {
		value->state = TDM_HOST_KNOWN;
		return;
	}
	*value = (struct tdm_host_value){ .state = got == -ENOENT ? TDM_HOST_ABSENT : TDM_HOST_ERROR, .err = err };
}

/* Values that change only when the card is replaced or flashed. */
static bool is_lasting(size_t i)
{
	return i >= TDM_HOST_FW_BUNDLE && i <= TDM_HOST_NUMA_NODE;
}

/* Reads the values of a place that are not known yet. A negative `dir_fd` says why its folder cannot be opened. */
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

/* The PCI address is the last part of the target of the card's link `device`. */
static void read_pci_address(int card_fd, struct tdm_host_card *card)
{
	char target[PATH_MAX];
	ssize_t len = readlinkat(card_fd, "device", target, sizeof target - 1);
	if (len <= 0)
		return;
	target[len] = '\0';
	const char *slash = strrchr(target, '/'), *name = slash != NULL ? slash + 1 : target;
	size_t size = strlen(name) + 1;
	if (is_pci_address(tdm_str_of(name)) && size <= sizeof card->pci)
		memcpy(card->pci, name, size);
}

/* Opens the folder hwmonN with the lowest number below the PCI device. A descriptor or -errno. */
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

/* The driver's own names count first, then the PCI ids. */
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

/* Copies the lasting values from an earlier reading, if that was of the same card and its identity could be read both
 * times. */
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
		if (is_lasting(i) && old->values[i].state == TDM_HOST_KNOWN)
			card->values[i] = old->values[i];
}

static void read_card(
	int class_fd, const char *name, const struct tdm_host_options *options, struct tdm_host_card *card)
{
	int card_fd = tdm_sys_dir_open(class_fd, name);
	if (card_fd == -ENOENT) /* it was listed a moment ago */
		card_fd = -ENODEV;
	card->err = card_fd < 0 ? card_fd : 0;
	int pci_fd = card_fd >= 0 ? tdm_sys_dir_open(card_fd, "device") : card_fd;
	int hwmon_fd = pci_fd >= 0 ? open_hwmon(pci_fd) : pci_fd;
	card->hwmon_err = hwmon_fd < 0 ? hwmon_fd : 0;
	if (card_fd >= 0)
		read_pci_address(card_fd, card);
	keep_lasting(options->before, card_fd, card);
	read_place(card, TDM_HOST_IN_CARD, card_fd);
	read_place(card, TDM_HOST_IN_PCI, pci_fd);
	read_place(card, TDM_HOST_IN_HWMON, hwmon_fd);
	if (options->counters) {
		int fd = card_fd >= 0 ? tdm_sys_dir_open(card_fd, "pcie_perf_counters") : card_fd;
		read_place(card, TDM_HOST_IN_COUNTERS, fd);
		close_dir(fd);
	}
	card->arch = (uint8_t)find_arch(card);
	close_dir(hwmon_fd);
	close_dir(pci_fd);
	close_dir(card_fd);
}

/* A card found in the class folder. */
struct entry {
	uint32_t number;
	bool plain; /* named by the number alone */
	char name[32];
};

static int compare_entries(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return (int)x->plain - (int)y->plain;
}

/* Lists the cards by number, each once. Returns how many, or a negative code. */
static int list_cards(struct tdm_host *host, int class_fd, struct entry entries[2 * TDM_HOST_CARDS_MAX])
{
	uint32_t number;
	size_t count = 0, kept = 0;
	int err;
	DIR *dir = tdm_sys_dir_list(class_fd, ".", &err);
	if (dir == NULL)
		return err;
	for (const struct dirent *e; (e = readdir(dir)) != NULL;) {
		if (!parse_card_name(e->d_name, &number) || strlen(e->d_name) >= sizeof entries->name)
			continue;
		if (count == 2 * TDM_HOST_CARDS_MAX) {
			host->cut_cards++;
			continue;
		}
		entries[count] = (struct entry){ number, e->d_name[0] != 't', "" };
		strcpy(entries[count++].name, e->d_name);
	}
	closedir(dir);
	qsort(entries, count, sizeof *entries, compare_entries);
	for (size_t i = 0; i < count; i++)
		if (kept == 0 || entries[kept - 1].number != entries[i].number)
			entries[kept++] = entries[i];
	if (kept > TDM_HOST_CARDS_MAX) {
		host->cut_cards += kept - TDM_HOST_CARDS_MAX;
		kept = TDM_HOST_CARDS_MAX;
	}
	return (int)kept;
}

static int read_cards(struct tdm_host *host, const struct tdm_host_options *options)
{
	struct entry entries[2 * TDM_HOST_CARDS_MAX];
	char path[PATH_MAX];
	int len = snprintf(path, sizeof path, "%s/class/tenstorrent", tdm_host_sysfs_path(options->sysfs));
	if (len >= (int)sizeof path)
		return host->err = -ENAMETOOLONG;
	int class_fd = tdm_sys_dir_open(AT_FDCWD, path);
	int count = class_fd >= 0 ? list_cards(host, class_fd, entries) : class_fd;
	if (count < 0) {
		close_dir(class_fd);
		return host->err = count;
	}
	host->cards = calloc(count != 0 ? (size_t)count : 1, sizeof *host->cards);
	for (int i = 0; host->cards != NULL && i < count; i++) {
		host->cards[i].number = entries[i].number;
		read_card(class_fd, entries[i].name, options, &host->cards[i]);
		host->card_count++;
	}
	close(class_fd);
	return host->cards != NULL ? 0 : -ENOMEM;
}

int tdm_host_read(struct tdm_host *host, const struct tdm_host_options *options)
{
	struct tdm_proc_root root;
	*host = (struct tdm_host){ 0 };
	int err = read_cards(host, options);
	if (err != 0 || options->root != NULL)
		return err != 0 ? err : tdm_host_opens_read(host, options->root);
	tdm_proc_root_init(&root, options->proc);
	err = tdm_host_opens_read(host, &root);
	tdm_proc_root_done(&root);
	return err;
}

void tdm_host_done(struct tdm_host *host)
{
	free(host->cards);
	free(host->opens);
	free(host->processes);
	*host = (struct tdm_host){ 0 };
}

bool tdm_host_has_outsiders(const struct tdm_host *host)
{
	for (size_t i = 0; i < host->card_count; i++)
		if (host->cards[i].hidden_opens != 0)
			return true;
	return false;
}

static const uint64_t *known_id(const struct tdm_host_card *card, enum tdm_host_value_id which)
{
	const struct tdm_host_value *value = &card->values[which];
	/* No card has the id 0, but a device without an id may report 0. */
	return value->state == TDM_HOST_KNOWN && value->id != 0 ? &value->id : NULL;
}

static size_t blackhole_ids(const struct tdm_host_card *card, struct tdm_host_chip_id *ids)
{
	size_t count = 0;
	const uint64_t *asic = known_id(card, TDM_HOST_ASIC_ID), *serial = known_id(card, TDM_HOST_SERIAL);
	const char *type = card->values[TDM_HOST_CARD_TYPE].text;
	bool is_single = tdm_has_prefix(type, "p1");
	if (asic != NULL)
		ids[count++] = (struct tdm_host_chip_id){ *asic, TDM_HOST_EXACT, true, "no Ethernet link is up" };
	/* A galaxy's chips have other ids, and an unknown type may be a galaxy. */
	if (serial == NULL || *serial >> 59 != 0 || !(is_single || tdm_has_prefix(type, "p3")))
		return count;
	for (uint64_t location = 0; location < LOCATIONS; location++)
		ids[count++] = (struct tdm_host_chip_id){ *serial << 5 | location,
			is_single ? TDM_HOST_EXACT : TDM_HOST_BOARD, false, "an Ethernet link is up" };
	return count;
}

static size_t wormhole_ids(const struct tdm_host_card *card, struct tdm_host_chip_id *ids)
{
	const uint64_t *serial = known_id(card, TDM_HOST_SERIAL);
	const char *type = card->values[TDM_HOST_CARD_TYPE].text;
	if (serial == NULL)
		return 0;
	ids[0] = (struct tdm_host_chip_id){ *serial, strcmp(type, "n150") == 0 ? TDM_HOST_EXACT : TDM_HOST_BOARD, false,
		"no Ethernet link is up" };
	return 1;
}

size_t tdm_host_chip_ids(const struct tdm_host_card *card, struct tdm_host_chip_id ids[TDM_HOST_CHIP_IDS_MAX])
{
	size_t count = card->arch == TDM_HOST_BLACKHOLE  ? blackhole_ids(card, ids)
		       : card->arch == TDM_HOST_WORMHOLE ? wormhole_ids(card, ids)
							 : 0;
	ids[count++] = (struct tdm_host_chip_id){ card->number, TDM_HOST_WEAK, false,
		"the runtime found no id and counts the cards as the driver does" };
	return count;
}

const struct tdm_host_attribute tdm_host_attributes[TDM_HOST_VALUE_COUNT] = {
#define X(id, place, file, form, unit, summary) { file, TDM_HOST_IN_##place, TDM_HOST_##form, unit, summary },
	TDM_HOST_VALUE_LIST(X)
#undef X
};
