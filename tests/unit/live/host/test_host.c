/* The driver's files: cards, telemetry and processes, in trees made by the tests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <cmocka.h>

#include "base/err.h"
#include "live/host/host.h"

#include "fake_tree.h"

/*
 * In place of the C library's: reading a file with this name fails, as a file of sysfs does whose card does not answer.
 */
static const char *failing_name;
static int failing_errno;

ssize_t read(int fd, void *dst, size_t cap)
{
	char link[64], path[PATH_MAX];
	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	ssize_t len = failing_name != NULL ? readlink(link, path, sizeof path - 1) : -1;
	if (len >= 0) {
		path[len] = '\0';
		if (strcmp(strrchr(path, '/') != NULL ? strrchr(path, '/') + 1 : path, failing_name) == 0) {
			errno = failing_errno;
			return -1;
		}
	}
	return syscall(SYS_read, fd, dst, cap);
}

/* Folders as sysfs has them: the class holds links to the cards, below their PCI devices. */
static void make_card(struct tree *tree, int number, const char *pci, const char *type, const char *hwmon)
{
	char path[256], target[256];
	snprintf(path, sizeof path, "sys/devices/pci0000:00/%s/tenstorrent/tenstorrent!%d/tt_card_type", pci, number);
	snprintf(target, sizeof target, "%s\n", type);
	tree_text(tree, path, target);
	snprintf(path, sizeof path, "sys/devices/pci0000:00/%s/tenstorrent/tenstorrent!%d/device", pci, number);
	snprintf(target, sizeof target, "../../../%s", pci);
	tree_link(tree, path, target);
	snprintf(path, sizeof path, "sys/class/tenstorrent/tenstorrent!%d", number);
	snprintf(target, sizeof target, "../../devices/pci0000:00/%s/tenstorrent/tenstorrent!%d", pci, number);
	tree_link(tree, path, target);
	snprintf(path, sizeof path, "sys/devices/pci0000:00/%s/hwmon/hwmon5/name", pci);
	snprintf(target, sizeof target, "%s\n", hwmon);
	if (hwmon != NULL)
		tree_text(tree, path, target);
}

/* A file of the card with this number. */
static void set(struct tree *tree, int number, const char *file, const char *text)
{
	char path[256];
	snprintf(path, sizeof path, "sys/class/tenstorrent/tenstorrent!%d/%s", number, file);
	tree_text(tree, path, text);
}

static int read_host_again(struct tree *tree, struct tdm_host *host, const struct tdm_host *before)
{
	char sys[PATH_MAX], proc[PATH_MAX];
	snprintf(sys, sizeof sys, "%s", tree_path(tree, "sys"));
	snprintf(proc, sizeof proc, "%s", tree_path(tree, "proc"));
	struct tdm_proc_root root;
	tdm_proc_root_init(&root, proc);
	int err = tdm_host_read(host, sys, &root, before);
	tdm_proc_root_done(&root);
	return err;
}

static int read_host(struct tree *tree, struct tdm_host *host)
{
	return read_host_again(tree, host, NULL);
}

static void assert_number(const struct tdm_host_card *card, enum tdm_host_value_id id, int64_t number)
{
	if (card->values[id].state != TDM_HOST_KNOWN)
		fail_msg("%s: %s", tdm_host_attributes[id].file, tdm_err_text(card->values[id].err));
	assert_true(card->values[id].number == number);
}

static void assert_state(
	const struct tdm_host_card *card, enum tdm_host_value_id id, enum tdm_host_state state, int err)
{
	assert_int_equal(card->values[id].state, state);
	assert_int_equal(card->values[id].err, err);
	if (state != TDM_HOST_KNOWN)
		assert_string_equal(card->values[id].text, "");
}

static void make_p150(struct tree *tree)
{
	make_card(tree, 0, "0000:01:00.0", "p150a", "blackhole");
	set(tree, 0, "tt_serial", "0000041236789ABC\n");
	set(tree, 0, "tt_asic_id", "00AABBCCDDEEFF01\n");
	set(tree, 0, "tt_aiclk", "1350\n");
	set(tree, 0, "tt_axiclk", "960\n");
	set(tree, 0, "tt_arcclk", "800\n");
	set(tree, 0, "tt_heartbeat", "4294967295\n");
	set(tree, 0, "tt_therm_trip_count", "0\n");
	set(tree, 0, "tt_fw_bundle_ver", "18.10.0.0\n");
	set(tree, 0, "tt_m3app_fw_ver", "0.22.0.0\n");
	set(tree, 0, "device/current_link_speed", "32.0 GT/s PCIe\n");
	set(tree, 0, "device/current_link_width", "16\n");
	set(tree, 0, "device/vendor", "0x1e52\n");
	set(tree, 0, "device/device", "0xb140\n");
	set(tree, 0, "device/numa_node", "-1\n");
	set(tree, 0, "device/hwmon/hwmon5/temp1_input", "47250\n");
	set(tree, 0, "device/hwmon/hwmon5/temp1_max", "100000\n");
	set(tree, 0, "device/hwmon/hwmon5/in0_input", "850\n");
	set(tree, 0, "device/hwmon/hwmon5/curr1_input", "41000\n");
	set(tree, 0, "device/hwmon/hwmon5/power1_input", "35000000\n");
	set(tree, 0, "device/hwmon/hwmon5/fan1_input", "2100\n");
}

static void test_blackhole(void **state)
{
	(void)state;
	struct tree tree;
	struct tdm_host host;
	tree_init(&tree);
	make_p150(&tree);
	assert_int_equal(read_host(&tree, &host), 0);
	assert_int_equal(host.card_count, 1);
	const struct tdm_host_card *card = &host.cards[0];
	assert_int_equal(card->number, 0);
	assert_int_equal(card->err, 0);
	assert_int_equal(card->hwmon_err, 0);
	assert_int_equal(card->arch, TDM_HOST_BLACKHOLE);
	assert_string_equal(card->pci, "0000:01:00.0");
	assert_string_equal(card->values[TDM_HOST_CARD_TYPE].text, "p150a");
	assert_true(card->values[TDM_HOST_SERIAL].id == UINT64_C(0x0000041236789ABC));
	assert_string_equal(card->values[TDM_HOST_SERIAL].text, "0000041236789ABC");
	assert_true(card->values[TDM_HOST_ASIC_ID].id == UINT64_C(0x00AABBCCDDEEFF01));
	assert_number(card, TDM_HOST_AICLK, 1350);
	assert_number(card, TDM_HOST_AXICLK, 960);
	assert_number(card, TDM_HOST_ARCCLK, 800);
	assert_number(card, TDM_HOST_HEARTBEAT, UINT32_MAX);
	assert_number(card, TDM_HOST_THERM_TRIPS, 0); /* a 0 that was read is a 0 */
	assert_string_equal(card->values[TDM_HOST_LINK_SPEED].text, "32.0 GT/s PCIe");
	assert_string_equal(card->values[TDM_HOST_LINK_WIDTH].text, "16");
	assert_number(card, TDM_HOST_NUMA_NODE, -1);
	assert_string_equal(card->values[TDM_HOST_FW_BUNDLE].text, "18.10.0.0");
	assert_number(card, TDM_HOST_TEMP, 47250);
	assert_number(card, TDM_HOST_TEMP_MAX, 100000);
	assert_number(card, TDM_HOST_VOLTAGE, 850);
	assert_number(card, TDM_HOST_CURRENT, 41000);
	assert_number(card, TDM_HOST_POWER, 35000000);
	assert_number(card, TDM_HOST_FAN, 2100);
	assert_state(card, TDM_HOST_POWER_MAX, TDM_HOST_ABSENT, -ENOENT);
	assert_state(card, TDM_HOST_FW_ETH, TDM_HOST_ABSENT, -ENOENT);
	assert_int_equal(card->opens_err, -ENOENT);
	tdm_host_done(&host);

	/* Through the environment. */
	assert_int_equal(setenv("TIDEMARK_SYSFS_ROOT", tree_path(&tree, "sys"), 1), 0);
	assert_int_equal(setenv("TIDEMARK_PROC_ROOT", tree_path(&tree, "proc"), 1), 0);
	assert_int_equal(tdm_host_read(&host, NULL, NULL, NULL), 0);
	assert_int_equal(host.card_count, 1);
	tdm_host_done(&host);
	assert_int_equal(unsetenv("TIDEMARK_SYSFS_ROOT"), 0);
	assert_int_equal(unsetenv("TIDEMARK_PROC_ROOT"), 0);
	assert_string_equal(tdm_host_sysfs_path(NULL), "/sys");
	assert_string_equal(tdm_host_sysfs_path("/x"), "/x");
	tree_done(&tree);
}

static void assert_firmware_after(
	struct tree *tree, const struct tdm_host *before, const char *firmware, const char *board)
{
	struct tdm_host host;
	assert_int_equal(read_host_again(tree, &host, before), 0);
	assert_int_equal(host.card_count, 1);
	assert_string_equal(host.cards[0].values[TDM_HOST_FW_BUNDLE].text, firmware);
	assert_string_equal(host.cards[0].values[TDM_HOST_FW_M3APP].text, board);
	assert_number(&host.cards[0], TDM_HOST_TEMP, 50000);
	tdm_host_done(&host);
}

/* What a card keeps is not read again, as long as it is that card; what moves is, and what was not known. */
static void test_before(void **state)
{
	(void)state;
	struct tree tree;
	struct tdm_host host, failed;
	tree_init(&tree);
	make_p150(&tree);
	set(&tree, 0, "tt_m3app_fw_ver", "");
	assert_int_equal(read_host(&tree, &host), 0);
	assert_state(&host.cards[0], TDM_HOST_FW_M3APP, TDM_HOST_ERROR, -ENODATA);
	set(&tree, 0, "tt_fw_bundle_ver", "19.0.0.0\n");
	set(&tree, 0, "tt_m3app_fw_ver", "0.23.0.0\n");
	set(&tree, 0, "device/hwmon/hwmon5/temp1_input", "50000\n");
	assert_firmware_after(&tree, &host, "18.10.0.0", "0.23.0.0");
	assert_firmware_after(&tree, NULL, "19.0.0.0", "0.23.0.0");
	/* While it does not tell who it is, and after that. */
	set(&tree, 0, "tt_asic_id", "FFFFFFFFFFFFFFFF\n");
	assert_firmware_after(&tree, &host, "19.0.0.0", "0.23.0.0");
	assert_int_equal(read_host(&tree, &failed), 0);
	set(&tree, 0, "tt_fw_bundle_ver", "19.1.0.0\n");
	assert_firmware_after(&tree, &failed, "19.1.0.0", "0.23.0.0");
	set(&tree, 0, "tt_asic_id", "00AABBCCDDEEFF01\n");
	assert_firmware_after(&tree, &failed, "19.1.0.0", "0.23.0.0");
	assert_firmware_after(&tree, &host, "18.10.0.0", "0.23.0.0");
	/* Another card in its place. */
	set(&tree, 0, "tt_serial", "0000041236789ABD\n");
	assert_firmware_after(&tree, &host, "19.1.0.0", "0.23.0.0");
	tdm_host_done(&failed);
	tdm_host_done(&host);
	tree_done(&tree);
}

static void test_values_that_fail(void **state)
{
	(void)state;
	struct tree tree;
	struct tdm_host host;
	tree_init(&tree);
	make_p150(&tree);
	set(&tree, 0, "tt_aiclk", "");
	set(&tree, 0, "tt_axiclk", "fast\n");
	set(&tree, 0, "tt_arcclk", "99999999999999999999\n");
	set(&tree, 0, "tt_serial", "FFFFFFFFFFFFFFFF\n"); /* a card that has fallen off the bus */
	set(&tree, 0, "tt_asic_id", "00000000000000001\n");
	set(&tree, 0, "tt_card_type", "p1\0330a\n");
	set(&tree, 0, "tt_fw_bundle_ver", "a version that is much longer than any version can be\n");
	tree_unlink(&tree, "sys/class/tenstorrent/tenstorrent!0/tt_heartbeat");
	assert_int_equal(mkfifo(tree_path(&tree, "sys/class/tenstorrent/tenstorrent!0/tt_heartbeat"), 0644), 0);
	tree_unlink(&tree, "sys/class/tenstorrent/tenstorrent!0/tt_m3app_fw_ver");
	tree_dir(&tree, "sys/class/tenstorrent/tenstorrent!0/tt_m3app_fw_ver");
	tree_link(&tree, "sys/class/tenstorrent/tenstorrent!0/tt_eth_fw_ver", "tt_fw_bundle_ver");
	set(&tree, 0, "device/hwmon/hwmon5/temp1_input", "-5000\n");
	set(&tree, 0, "device/hwmon/hwmon5/temp1_max", "-\n");
	assert_int_equal(read_host(&tree, &host), 0);
	const struct tdm_host_card *card = &host.cards[0];
	assert_state(card, TDM_HOST_AICLK, TDM_HOST_ERROR, -ENODATA);
	assert_state(card, TDM_HOST_AXICLK, TDM_HOST_ERROR, TDM_ESYNTAX);
	assert_state(card, TDM_HOST_ARCCLK, TDM_HOST_ERROR, -ERANGE);
	assert_state(card, TDM_HOST_SERIAL, TDM_HOST_ERROR, -EIO);
	assert_state(card, TDM_HOST_ASIC_ID, TDM_HOST_ERROR, -ERANGE);
	assert_state(card, TDM_HOST_HEARTBEAT, TDM_HOST_ERROR, -EINVAL);
	assert_state(card, TDM_HOST_FW_M3APP, TDM_HOST_ERROR, -EINVAL);
	assert_state(card, TDM_HOST_FW_ETH, TDM_HOST_ERROR, -EINVAL);
	assert_state(card, TDM_HOST_TEMP_MAX, TDM_HOST_ERROR, TDM_ESYNTAX);
	assert_number(card, TDM_HOST_TEMP, -5000);
	assert_string_equal(card->values[TDM_HOST_CARD_TYPE].text, "p1?0a");
	assert_int_equal(strlen(card->values[TDM_HOST_FW_BUNDLE].text), TDM_HOST_TEXT_CAP - 1);
	tdm_host_done(&host);
	tree_done(&tree);
}

/* Each file in turn: its value is an error, all others are read. */
static void test_reading_fails(void **state)
{
	(void)state;
	static const int errors[] = { EIO, ENODATA, ENODEV, EAGAIN, ETIMEDOUT, EOPNOTSUPP };
	struct tree tree;
	struct tdm_host host;
	tree_init(&tree);
	make_p150(&tree);
	assert_int_equal(read_host(&tree, &host), 0);
	enum tdm_host_state before[TDM_HOST_VALUE_COUNT];
	for (int id = 0; id < TDM_HOST_VALUE_COUNT; id++)
		before[id] = host.cards[0].values[id].state;
	tdm_host_done(&host);
	for (int failing = 0; failing < TDM_HOST_VALUE_COUNT; failing++) {
		if (before[failing] != TDM_HOST_KNOWN)
			continue;
		const char *slash = strrchr(tdm_host_attributes[failing].file, '/');
		failing_name = slash != NULL ? slash + 1 : tdm_host_attributes[failing].file;
		failing_errno = errors[(size_t)failing % (sizeof errors / sizeof *errors)];
		assert_int_equal(read_host(&tree, &host), 0);
		failing_name = NULL;
		for (int id = 0; id < TDM_HOST_VALUE_COUNT; id++)
			if (id == failing)
				assert_state(&host.cards[0], failing, TDM_HOST_ERROR, -failing_errno);
			else
				assert_int_equal(host.cards[0].values[id].state, before[id]);
		tdm_host_done(&host);
	}
	tree_text(&tree, "proc/driver/tenstorrent/0/pids", "100\n");
	failing_name = "pids";
	failing_errno = EIO;
	assert_int_equal(read_host(&tree, &host), 0);
	failing_name = NULL;
	assert_int_equal(host.cards[0].opens_err, -EIO);
	tdm_host_done(&host);
	tree_done(&tree);
}

static void test_denied(void **state)
{
	(void)state;
	enum { NOBODY = 65534 };
	struct tree tree;
	struct tdm_host host;
	bool was_root = geteuid() == 0;
	tree_init(&tree);
	make_p150(&tree);
	tree_text(&tree, "proc/driver/tenstorrent/0/pids", "100\n");
	assert_int_equal(chmod(tree_path(&tree, "sys/class/tenstorrent/tenstorrent!0/tt_aiclk"), 0), 0);
	assert_int_equal(chmod(tree_path(&tree, "proc/driver/tenstorrent/0/pids"), 0), 0);
	assert_int_equal(chmod(tree_path(&tree, "sys/class/tenstorrent/tenstorrent!0/device/hwmon"), 0), 0);
	if (was_root && seteuid(NOBODY) != 0)
		skip();
	int err = read_host(&tree, &host);
	if (was_root)
		assert_int_equal(seteuid(0), 0);
	assert_int_equal(chmod(tree_path(&tree, "sys/class/tenstorrent/tenstorrent!0/device/hwmon"), 0755), 0);
	assert_int_equal(err, 0);
	assert_state(&host.cards[0], TDM_HOST_AICLK, TDM_HOST_ERROR, -EACCES);
	assert_number(&host.cards[0], TDM_HOST_AXICLK, 960);
	assert_int_equal(host.cards[0].hwmon_err, -EACCES);
	assert_state(&host.cards[0], TDM_HOST_TEMP, TDM_HOST_ERROR, -EACCES);
	assert_int_equal(host.cards[0].opens_err, -EACCES);
	tdm_host_done(&host);
	tree_done(&tree);
}

static void test_no_driver(void **state)
{
	(void)state;
	struct tree tree;
	struct tdm_host host;
	tree_init(&tree);
	assert_int_equal(read_host(&tree, &host), -ENOENT);
	assert_int_equal(host.err, -ENOENT);
	assert_int_equal(host.card_count, 0);
	tdm_host_done(&host);
	tree_dir(&tree, "sys/class/tenstorrent");
	assert_int_equal(read_host(&tree, &host), 0); /* the driver without a card */
	assert_int_equal(host.card_count, 0);
	tdm_host_done(&host);
	tdm_host_done(&host);
	tree_done(&tree);
}

static void test_names_of_cards(void **state)
{
	(void)state;
	struct tree tree;
	struct tdm_host host;
	tree_init(&tree);
	tree_text(&tree, "sys/class/tenstorrent/tenstorrent!10/tt_card_type", "n300\n");
	tree_text(&tree, "sys/class/tenstorrent/tenstorrent!2/tt_card_type", "p100\n");
	tree_text(&tree, "sys/class/tenstorrent/3/tt_card_type", "n150\n");
	tree_text(&tree, "sys/class/tenstorrent/2/tt_card_type", "the same card once more\n");
	tree_dir(&tree, "sys/class/tenstorrent/tenstorrent!");
	tree_dir(&tree, "sys/class/tenstorrent/tenstorrent!x");
	tree_dir(&tree, "sys/class/tenstorrent/tenstorrent4");
	tree_dir(&tree, "sys/class/tenstorrent/99999999999");
	tree_link(&tree, "sys/class/tenstorrent/tenstorrent!7", "../nowhere"); /* it vanishes */
	tree_text(&tree, "sys/class/tenstorrent/tenstorrent!8", "no folder");
	assert_int_equal(read_host(&tree, &host), 0);
	static const uint32_t numbers[] = { 2, 3, 7, 8, 10 };
	assert_int_equal(host.card_count, 5);
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(host.cards[i].number, numbers[i]);
	assert_string_equal(host.cards[0].values[TDM_HOST_CARD_TYPE].text, "p100");
	assert_int_equal(host.cards[0].arch, TDM_HOST_BLACKHOLE);
	assert_int_equal(host.cards[1].arch, TDM_HOST_WORMHOLE);
	assert_int_equal(host.cards[0].hwmon_err, -ENOENT);
	assert_string_equal(host.cards[0].pci, "");
	assert_int_equal(host.cards[2].err, -ENODEV);
	assert_state(&host.cards[2], TDM_HOST_AICLK, TDM_HOST_ERROR, -ENODEV);
	assert_state(&host.cards[2], TDM_HOST_TEMP, TDM_HOST_ERROR, -ENODEV);
	assert_int_equal(host.cards[3].err, -ENOTDIR);
	assert_int_equal(host.cards[3].arch, TDM_HOST_ARCH_UNKNOWN);
	tdm_host_done(&host);
	tree_done(&tree);
}

static void test_many_cards(void **state)
{
	(void)state;
	struct tree tree;
	struct tdm_host host;
	char path[64];
	tree_init(&tree);
	for (int i = 0; i < TDM_HOST_CARDS_MAX + 5; i++) {
		snprintf(path, sizeof path, "sys/class/tenstorrent/tenstorrent!%d", i);
		tree_dir(&tree, path);
	}
	assert_int_equal(read_host(&tree, &host), 0);
	assert_int_equal(host.card_count, TDM_HOST_CARDS_MAX);
	assert_int_equal(host.cut_cards, 5);
	assert_int_equal(host.cards[TDM_HOST_CARDS_MAX - 1].number, TDM_HOST_CARDS_MAX - 1);
	tdm_host_done(&host);
	tree_done(&tree);
}

static const struct tdm_host_process *process_of(const struct tdm_host *host, size_t open)
{
	assert_true(open < host->open_count && host->opens[open].process < host->process_count);
	return &host->processes[host->opens[open].process];
}

static void test_processes(void **state)
{
	(void)state;
	struct tree tree;
	struct tdm_host host;
	tree_init(&tree);
	make_card(&tree, 0, "0000:01:00.0", "p150a", NULL);
	make_card(&tree, 1, "0000:02:00.0", "p150a", NULL);
	make_card(&tree, 2, "0000:03:00.0", "p150a", NULL);
	tree_text(&tree, "proc/stat", "btime 1787270000\n");
	tree_process(&tree, "proc", (struct tree_process){ 200, 1000, 'S', 5000, "serve", NULL });
	tree_process(&tree, "proc", (struct tree_process){ 100, 1001, 'R', 6000, "train", NULL });
	tree_text(&tree, "proc/driver/tenstorrent/0/pids", "200\n100\n200\n0\n200\n300\n0\n");
	tree_text(&tree, "proc/driver/tenstorrent/1/pids", "200\n-5\nfive\n\n4194305\n 100 \n99999999999999999999\n");
	assert_int_equal(read_host(&tree, &host), 0);
	assert_int_equal(host.process_count, 3);
	assert_int_equal(host.open_count, 5);

	const struct tdm_host_card *card = &host.cards[0];
	assert_int_equal(card->opens_err, 0);
	assert_int_equal(card->open_first, 0);
	assert_int_equal(card->open_count, 3);
	assert_int_equal(card->hidden_opens, 2);
	assert_int_equal(card->refused_lines, 0);
	assert_int_equal(process_of(&host, 0)->pid, 100);
	assert_int_equal(host.opens[0].descriptors, 1);
	assert_int_equal(process_of(&host, 1)->pid, 200);
	assert_int_equal(host.opens[1].descriptors, 3);
	assert_string_equal(process_of(&host, 1)->facts.comm, "serve");
	assert_string_equal(process_of(&host, 1)->facts.command, "/usr/bin/serve --model llama");
	assert_int_equal(process_of(&host, 1)->facts.uid, 1000);
	assert_int_equal(process_of(&host, 1)->facts.start_time, 5000);
	/* One that cannot be read is kept, with the reason. */
	assert_int_equal(process_of(&host, 2)->pid, 300);
	assert_int_equal(process_of(&host, 2)->facts.err, -ENOENT);

	card = &host.cards[1];
	assert_int_equal(card->open_first, 3);
	assert_int_equal(card->open_count, 2);
	assert_int_equal(card->refused_lines, 5);
	assert_true(process_of(&host, 4) == process_of(&host, 1));
	assert_int_equal(host.cards[2].opens_err, -ENOENT);
	assert_int_equal(host.cards[2].open_count, 0);
	tdm_host_done(&host);
	tree_done(&tree);
}

static void test_many_processes(void **state)
{
	(void)state;
	enum { PIDS = TDM_HOST_OPENS_MAX + 100 };
	struct tree tree;
	struct tdm_host host;
	char *text = malloc(PIDS * 16);
	size_t len = 0;
	assert_non_null(text);
	tree_init(&tree);
	make_card(&tree, 0, "0000:01:00.0", "p150a", NULL);
	make_card(&tree, 1, "0000:02:00.0", "p150a", NULL);
	for (int i = PIDS; i > 0; i--)
		len += (size_t)sprintf(text + len, "%d\n", i);
	tree_bytes(&tree, "proc/driver/tenstorrent/0/pids", text, len);
	tree_text(&tree, "proc/driver/tenstorrent/1/pids", "7\n7\n8\n");
	assert_int_equal(read_host(&tree, &host), 0);
	assert_int_equal(host.open_count, TDM_HOST_OPENS_MAX);
	assert_int_equal(host.process_count, TDM_HOST_OPENS_MAX);
	assert_int_equal(host.cards[0].cut_opens, 100);
	assert_int_equal(host.cards[1].open_count, 0);
	assert_int_equal(host.cards[1].cut_opens, 2);
	assert_int_equal(process_of(&host, TDM_HOST_OPENS_MAX - 1)->pid, TDM_HOST_OPENS_MAX);
	tdm_host_done(&host);
	tree_done(&tree);
	free(text);
}

static void test_arch(void **state)
{
	(void)state;
	static const struct {
		const char *type, *hwmon, *device;
		enum tdm_host_arch arch;
	} cases[] = {
		{ "unknown", "wormhole", "0x0\n", TDM_HOST_WORMHOLE },
		{ "unknown", "blackhole", "0x0\n", TDM_HOST_BLACKHOLE },
		{ "galaxy-wormhole", "other", "0x0\n", TDM_HOST_WORMHOLE },
		{ "galaxy-blackhole", "other", "0x0\n", TDM_HOST_BLACKHOLE },
		{ "unknown", "other", "0x401e\n", TDM_HOST_WORMHOLE },
		{ "unknown", "other", "0xb140\n", TDM_HOST_BLACKHOLE },
		{ "unknown", "other", "0xfaca\n", TDM_HOST_ARCH_UNKNOWN },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tree tree;
		struct tdm_host host;
		tree_init(&tree);
		make_card(&tree, 0, "10000:e1:00.0", cases[i].type, cases[i].hwmon);
		set(&tree, 0, "device/vendor", "0x1e52\n");
		set(&tree, 0, "device/device", cases[i].device);
		assert_int_equal(read_host(&tree, &host), 0);
		assert_int_equal(host.cards[0].arch, cases[i].arch);
		assert_string_equal(host.cards[0].pci, "10000:e1:00.0");
		tdm_host_done(&host);
		tree_done(&tree);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_blackhole),
		cmocka_unit_test(test_before),
		cmocka_unit_test(test_values_that_fail),
		cmocka_unit_test(test_reading_fails),
		cmocka_unit_test(test_denied),
		cmocka_unit_test(test_no_driver),
		cmocka_unit_test(test_names_of_cards),
		cmocka_unit_test(test_many_cards),
		cmocka_unit_test(test_processes),
		cmocka_unit_test(test_many_processes),
		cmocka_unit_test(test_arch),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
