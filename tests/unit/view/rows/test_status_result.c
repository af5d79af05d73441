/* The table and the JSON of `tidemark status`, from hand-made pictures. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>

#include "base/err.h"
#include "view/rows/device_rows.h"
#include "view/rows/status_result.h"
#include "status_render.h"

static const char full_text[] = "tidemark VERSION, 2027-01-15 08:00:00: 1 device, 1 process\n"
				"\n"
				"0  n150  /dev/tenstorrent/0  0000:01:00.0  Wormhole  chip 0x1000\n"
				"  47.2 / 100 C  35.5 W  1000 MHz  0.85 V\n"
				"  (some readings failed: No data available)\n"
				"  64 cores  ~12 DRAM banks  hardware queues unknown\n"
				"  Memory           Used      Total       Free    Largest       Peak  Share Src\n"
				"  dram          9.00GiB   12.00GiB    3.00GiB    3.00GiB  >=9.00GiB  75.0% L/M\n"
				"  l1           52.00MiB   85.00MiB   33.00MiB   33.00MiB   52.00MiB  61.1% L\n"
				"  cb            8.00MiB    unknown    unknown    unknown    8.00MiB      - L\n"
				"  Free: l1 (shared with cb), cb (shared with l1): both use the same memory\n"
				"  dram: metal_shm counts 10 GiB, 2 GiB of it in 1 process that ledger does not\n"
				"    know\n"
				"  All L1: 91.50 MiB in 64 cores of 1464 KiB\n"
				"    allocator buffers      52.00MiB  56.8%  ledger\n"
				"    circular buffers        8.00MiB   8.7%  ledger\n"
				"    kernels                 unknown      -  no program reports them\n"
				"    kernel-config ring     ~4.31MiB   4.7%  inferred (model), with the kernels\n"
				"    firmware               ~2.14MiB   2.3%  inferred (model)\n"
				"    free or not counted   ~25.05MiB  27.3%  what is left\n"
				"\n"
				"    PID USER      DEV         DRAM         L1      AGE SRC COMMAND\n"
				"   4242 alice     0     8192.00MiB   52.00MiB   1m 30s L   python3 train.py ...\n"
				"                  0     1024.00MiB        0 B              (unattributed)\n"
				"                  0        3.00MiB        0 B              (stale)\n"
				"\n"
				"Problems ('tidemark doctor' says more)\n"
				"  /dev/shm/tt_device_5_memory: it belongs to another user\n"
				"\n"
				"L ledger: tracked by libtidemark, bytes reserved. S metal_shm: tt-metal's own\n"
				"  statistics, bytes asked for; allocations of other threads may be missing, and\n"
				"  the CB total may be the last writer's alone. M model: the card's tables. '>=':\n"
				"  highest seen, it may have been more. '~': inferred, not counted. unattributed:\n"
				"  in use, but by no listed process. stale: left by ended processes, no longer on\n"
				"  the device.\n";

static void a_table_at_80_columns(void **state)
{
	(void)state;
	struct tdm_buf out;
	struct make make;
	tdm_buf_init(&out);
	make_full(&make);
	render(&make, (struct tdm_pick){ 0 }, 80, false, &out);
	const char *behind = strchr(out.data, ',');
	assert_non_null(behind);
	assert_true(widest(out.data) <= 80);
	struct tdm_buf shown = { 0 };
	tdm_buf_puts(&shown, "tidemark VERSION");
	tdm_buf_puts(&shown, behind);
	assert_string_equal(shown.data, full_text);
	tdm_buf_done(&shown);
	tdm_buf_done(&out);
}

static void a_wide_table_has_bars_words_and_the_whole_command(void **state)
{
	(void)state;
	struct tdm_buf out;
	struct make make;
	tdm_buf_init(&out);
	make_full(&make);
	for (size_t width = 100; width <= 200; width += 20) {
		render(&make, (struct tdm_pick){ 0 }, width, true, &out);
		assert_has(&out, "ledger/model");
		assert_true(widest(out.data) <= width);
	}
	assert_has(&out, "█░");
	assert_has(&out, "python3 train.py --model llama --batch 32 --layers 40 --checkpoint /data/llama\n");
	tdm_buf_done(&out);
}

static void an_estimate_is_marked(void **state)
{
	(void)state;
	struct tdm_buf out;
	struct make make;
	tdm_buf_init(&out);
	make_full(&make);
	make.picture.devices[0].kinds[TDM_KIND_DRAM].is_estimated = true;
	make.picture.holdings[0].kinds[TDM_KIND_DRAM].is_estimated = true;
	render(&make, (struct tdm_pick){ 0 }, 80, false, &out);
	assert_true(widest(out.data) <= 80);
	assert_has(&out, "  dram         ~9.00GiB   12.00GiB   ~3.00GiB    3.00GiB  >=9.00GiB  75.0% L/M\n");
	assert_has(&out, "  l1           52.00MiB   85.00MiB   33.00MiB   33.00MiB   52.00MiB  61.1% L\n");
	assert_has(&out, " ~8192");
	assert_has(&out, "estimate");
	render_as(&make, (struct tdm_status_report){ .term.width = 120, .form = TDM_STATUS_SHORT }, &out);
	assert_has(&out, " ~9.00   12.00 ");
	render_json(&make, NULL, &out);
	assert_has(&out, "\"peak\": 9663676416,\"peak_is_exact\": false,\"estimated\": true,");
	assert_has(&out, "\"peak\": 54525952,\"peak_is_exact\": true,\"estimated\": false,");
	assert_has(
		&out, "\"kinds\": [{\"kind\": \"dram\",\"used\": 8589934592,\"peak\": 8589934592,\"estimated\": true,");
	tdm_buf_done(&out);
}

static void chips_are_listed_when_there_are_several(void **state)
{
	(void)state;
	struct make make;
	struct tdm_buf out = { 0 };
	make_full(&make);
	make.picture.devices[0].chip_count = 1;
	make.picture.devices[0].chips[0].bytes[TDM_KIND_DRAM] = 2 * MAKE_GIB;
	render(&make, (struct tdm_pick){ 0 }, 80, true, &out);
	assert_has_not(&out, "  chip 0:");
	make.picture.devices[0].chip_count = 2;
	make.picture.devices[0].chips[1] =
		(struct tdm_picture_chip){ .chip = 1, .is_remote = true, .bytes = { MAKE_GIB, 0, 0, MAKE_MIB } };
	render(&make, (struct tdm_pick){ 0 }, 80, true, &out);
	assert_has(&out, "\n  chip 0: dram 2 GiB, l1 0 B\n  chip 1 R (remote): dram 1 GiB, l1 0 B, trace 1 MiB\n");
	/* Then they do not add up to the device, and it is said why. */
	static const char doubt[] = "trace 1 MiB\n  (chips are as tt-metal recorded them, with stale entries)\n";
	for (size_t k = 0; k < TDM_KIND_COUNT; k++)
		make.picture.devices[0].kinds[k].stale = 0;
	render(&make, (struct tdm_pick){ 0 }, 80, true, &out);
	assert_has_not(&out, doubt);
	make.picture.devices[0].kinds[TDM_KIND_L1].stale = 1;
	render(&make, (struct tdm_pick){ 0 }, 80, true, &out);
	assert_has(&out, doubt);
	tdm_buf_done(&out);
}

static void a_long_command_goes_without_folders(void **state)
{
	(void)state;
	struct make make;
	struct tdm_buf out = { 0 };
	make_full(&make);
	make_process(&make, 4243, "/opt/venv/bin/python3 /home/alice/llama/train.py --data=/data/x");
	make_holding(&make, 0);
	render(&make, (struct tdm_pick){ 0 }, 80, true, &out);
	assert_has(&out, " python3 train.py ...\n");
	render(&make, (struct tdm_pick){ 0 }, 130, true, &out);
	assert_has(&out, " python3 train.py --data=/data/x\n");
	/* Folders with blanks: the process's name, which Linux cuts, says where the program ends. */
	snprintf(make.processes[1].command, sizeof make.processes[1].command, "%s", "/home/a b/train it c/run -n 3");
	snprintf(make.processes[1].comm, sizeof make.processes[1].comm, "run");
	render(&make, (struct tdm_pick){ 0 }, 80, true, &out);
	assert_has(&out, " run -n 3\n");
	snprintf(make.processes[1].command, sizeof make.processes[1].command, "%s",
		"/home/a b/bin/seventeen-letters -n 3");
	snprintf(make.processes[1].comm, sizeof make.processes[1].comm, "seventeen-lette");
	render(&make, (struct tdm_pick){ 0 }, 80, true, &out);
	assert_has(&out, " seventeen-letters...\n");
	/* A name that is not in the command says nothing. */
	snprintf(make.processes[1].comm, sizeof make.processes[1].comm, "pt_main_thread");
	snprintf(
		make.processes[1].command, sizeof make.processes[1].command, "%s", "/usr/bin/python3 /some/where/x.py");
	render(&make, (struct tdm_pick){ 0 }, 80, true, &out);
	assert_has(&out, " python3 x.py\n");
	tdm_buf_done(&out);
}

static void what_nobody_knows_is_unknown(void **state)
{
	(void)state;
	struct tdm_buf out;
	struct make make;
	tdm_buf_init(&out);
	make_init(&make);
	make_device(&make);
	render(&make, (struct tdm_pick){ 0 }, 80, false, &out);
	assert_has(&out, "#0  card unknown  number unknown  chip id unknown\n");
	assert_has(&out, "telemetry unknown: no card of the driver is known to be this device\n");
	assert_has(&out, "memory unknown: no source counts it, and the card is not known\n");
	assert_has(&out, "No process is known to use a device.\n");
	assert_has_not(&out, "0 B");
	render_json(&make, NULL, &out);
	assert_has(&out, "\"used\": null");
	assert_has(&out, "\"hardware_queues\": null");
	assert_has(&out, "\"dram_status\": null");
	assert_has(&out, "\"asic_temperature\": \"N/A\"");
	assert_has(&out, "\"chip_id\": null");
	tdm_buf_done(&out);
}

static void nothing_at_all_is_helpful(void **state)
{
	(void)state;
	struct tdm_buf out;
	struct make make;
	tdm_buf_init(&out);
	make_init(&make);
	render(&make, (struct tdm_pick){ 0 }, 80, false, &out);
	assert_has(&out, "No card and no tracked process is visible: try 'tidemark demo'");
	assert_has(&out, "tidemark doctor");
	make_full(&make);
	render(&make, (struct tdm_pick){ .pids = (int32_t[]){ 1 }, .pid_count = 1 }, 80, false, &out);
	assert_has(&out, "No process 1 is known to use a device.\n");
	assert_has_not(&out, "n150");
	render(&make, (struct tdm_pick){ .device = "9" }, 80, false, &out);
	assert_has(&out, "devices matches \"9\".\n");
	tdm_buf_done(&out);
}

static void hostile_names_are_made_harmless(void **state)
{
	(void)state;
	struct tdm_buf out;
	struct make make;
	tdm_buf_init(&out);
	make_full(&make);
	snprintf(make.devices[0].card, sizeof make.devices[0].card, "\033[2Jx\ny");
	snprintf(make.devices[0].pci, sizeof make.devices[0].pci, "\x9b\xff\n");
	snprintf(make.processes[0].user, sizeof make.processes[0].user, "\033]0;owned\a");
	snprintf(make.processes[0].command, sizeof make.processes[0].command, "a\nb\"\\\033[1m\xc3(\xe2\x82\xac");
	snprintf(make.problems[0].place, sizeof make.problems[0].place, "/tmp/\n\033[31m");
	snprintf(make.problems[0].text, sizeof make.problems[0].text, "\r\xff");
	render(&make, (struct tdm_pick){ 0 }, 200, true, &out);
	for (size_t i = 0; i < out.len; i++)
		assert_true((unsigned char)out.data[i] >= 0x20 || out.data[i] == '\n');
	assert_has(&out, "a?b\"\\?[1m?(€");
	render_json(&make, NULL, &out);
	for (size_t i = 0; i + 1 < out.len; i++)
		assert_true((unsigned char)out.data[i] >= 0x20);
	tdm_buf_done(&out);
}

static void more_problems_than_fit_are_counted(void **state)
{
	(void)state;
	struct tdm_buf out;
	struct make make;
	tdm_buf_init(&out);
	make_init(&make);
	make.picture.problem_count = 12;
	for (int i = 0; i < 12; i++) {
		snprintf(make.problems[i].place, sizeof make.problems[i].place, "/dev/shm/x%d", i);
		make.problems[i].err = -EACCES;
	}
	render(&make, (struct tdm_pick){ 0 }, 80, false, &out);
	assert_has(&out, "  /dev/shm/x4: Permission denied\n  and 7 more\n");
	assert_has_not(&out, "in no figure");
	/* What is behind one of them may be memory. */
	for (int denied = 0; denied < 2; denied++) {
		tdm_buf_done(&out);
		tdm_buf_init(&out);
		make.problems[11].from = TDM_FROM_LEDGER;
		make.problems[11].err = denied ? -EACCES : -EIO;
		render(&make, (struct tdm_pick){ 0 }, 80, false, &out);
		assert_int_equal(strstr(out.data, "The figures leave out files of other users") != NULL, denied);
	}
	tdm_buf_done(&out);
}

static void l1_adds_up_whatever_is_known(void **state)
{
	(void)state;
	struct tdm_l1_account account;
	struct make make;
	make_full(&make);
	struct tdm_picture_device *device = &make.devices[0];
	for (int step = 0; step < 4; step++) {
		if (step == 1)
			make_kind(device, TDM_KIND_KERNEL, MAKE_MIB, MAKE_MIB);
		if (step == 2)
			make_kind(device, TDM_KIND_FIRMWARE, 3 * MAKE_MIB, 3 * MAKE_MIB);
		if (step == 3)
			make_kind(device, TDM_KIND_KERNEL, 6 * MAKE_MIB, 6 * MAKE_MIB); /* more than the ring */
		tdm_l1_account(&account, device);
		uint64_t sum = 0;
		for (int i = 0; i < TDM_L1_ITEM_COUNT; i++)
			sum += account.items[i].bytes != TDM_BYTES_UNKNOWN ? account.items[i].bytes : 0;
		assert_int_equal(sum, account.total);
		assert_int_equal(account.total, 64 * 1464 * MAKE_KIB);
		assert_int_equal(account.items[TDM_L1_ITEM_KERNELS].is_inferred, false);
		assert_int_equal(account.items[TDM_L1_ITEM_KERNELS].bytes == TDM_BYTES_UNKNOWN, step == 0);
		assert_int_equal(account.items[TDM_L1_ITEM_FIRMWARE].is_inferred, step < 2);
	}
	assert_int_equal(account.items[TDM_L1_ITEM_CONFIG].bytes, 0);
	/* Nothing reported is not nothing there. */
	make_kind(device, TDM_KIND_KERNEL, 0, 0);
	tdm_l1_account(&account, device);
	assert_int_equal(account.items[TDM_L1_ITEM_KERNELS].bytes, TDM_BYTES_UNKNOWN);
	/* More than there is. */
	make_kind(device, TDM_KIND_L1, 200 * MAKE_MIB, 200 * MAKE_MIB);
	tdm_l1_account(&account, device);
	assert_int_equal(account.items[TDM_L1_ITEM_REST].bytes, TDM_BYTES_UNKNOWN);
	device->card[0] = '\0';
	device->l1_core = TDM_BYTES_UNKNOWN;
	tdm_l1_account(&account, device);
	assert_int_equal(account.total, TDM_BYTES_UNKNOWN);
	assert_int_equal(account.items[TDM_L1_ITEM_CONFIG].bytes, TDM_BYTES_UNKNOWN);
}

/* As tt-smi prints them: padded numbers, hexadecimal registers, "N/A". */
static void strings_are_those_of_tt_smi(void **state)
{
	(void)state;
	static struct tdm_host_card card;
	struct tdm_host host = { .cards = &card, .card_count = 1 };
	struct tdm_buf out;
	struct make make;
	tdm_buf_init(&out);
	make_full(&make);
	make.devices[0].host_card = 0;
	card = (struct tdm_host_card){ .arch = TDM_HOST_WORMHOLE };
	card.values[TDM_HOST_CARD_TYPE].state = TDM_HOST_KNOWN;
	snprintf(card.values[TDM_HOST_CARD_TYPE].text, TDM_HOST_TEXT_CAP, "n150");
	card.values[TDM_HOST_SERIAL] = (struct tdm_host_value){ .state = TDM_HOST_KNOWN, .id = 0x0100018611902010 };
	card.values[TDM_HOST_LINK_SPEED].state = TDM_HOST_KNOWN;
	snprintf(card.values[TDM_HOST_LINK_SPEED].text, TDM_HOST_TEXT_CAP, "16.0 GT/s PCIe");
	card.values[TDM_HOST_LINK_WIDTH].state = TDM_HOST_KNOWN;
	snprintf(card.values[TDM_HOST_LINK_WIDTH].text, TDM_HOST_TEXT_CAP, "16");
	know(&make.devices[0].telemetry.power_max, 85000000);
	card.values[TDM_HOST_FW_BUNDLE].state = TDM_HOST_KNOWN;
	snprintf(card.values[TDM_HOST_FW_BUNDLE].text, TDM_HOST_TEXT_CAP, "18.3.0.0");
	render_json(&make, &host, &out);
	assert_has(&out, "\"board_info\": {\"bus_id\": \"0000:01:00.0\",\"board_type\": \"n150 L\",\"board_id\": "
			 "\"0100018611902010\",\"coords\": \"N/A\",\"dram_status\": null,\"dram_speed\": \"N/A\","
			 "\"pcie_speed\": 4,\"pcie_width\": \"16\"}");
	assert_has(&out,
		"\"telemetry\": {\"voltage\": \"0.85\",\"current\": \"N/A\",\"power\": \" 35.5\",\"board_power\": "
		"\"N/A\",\"aiclk\": \"1000\",\"asic_temperature\": \"47.2\",\"fan_speed\": \"N/A\","
		"\"heartbeat\": \"N/A\"}");
	assert_has(&out, "\"BOARD_ID_HIGH\": \"0x1000186\",\"BOARD_ID_LOW\": \"0x11902010\"");
	assert_has(&out, "\"tdp_limit\": \" 85\"");
	assert_has(&out, "\"fw_bundle_version\": \"18.3.0.0\"");
	assert_has(&out, "\"pid\": 4242,\"user\": \"alice\",\"device\": 0,\"cmdline\": \"python3 train.py");
	tdm_buf_done(&out);
}

static void memory_is_in_bytes_with_its_sources(void **state)
{
	(void)state;
	struct tdm_buf out;
	struct make make;
	tdm_buf_init(&out);
	make_full(&make);
	render_json(&make, NULL, &out);
	assert_has(&out, "{\"schema\": \"tidemark.status\",\"version\": 1,\"time\": \"");
	assert_has(&out, "{\"kind\": \"dram\",\"used\": 9663676416,\"total\": 12884901888,\"free\": 3221225472,"
			 "\"largest_free\": 3221225472,\"peak\": 9663676416,\"peak_is_exact\": false,");
	assert_has(&out, "\"unattributed\": 1073741824,\"stale\": 3145728,");
	assert_has(&out, "\"source\": \"ledger\",\"total_source\": \"model\",\"rival\": {\"source\": \"metal_shm\","
			 "\"used\": 10737418240,\"only_there_processes\": 1,\"only_there\": 2147483648}");
	assert_has(&out, "\"kinds\": [{\"kind\": \"dram\",\"used\": 8589934592,\"peak\": 8589934592,\"estimated\": "
			 "false,\"buffers\": 1,\"source\": \"ledger\"}");
	assert_has(&out,
		"{\"part\": \"firmware\",\"bytes\": 2240512,\"inferred\": true,\"source\": \"inferred (model)\"}");
	assert_has(&out,
		"\"unreadable\": [{\"source\": \"metal_shm\",\"place\": \"/dev/shm/tt_device_5_memory\",\"reason\": "
		"\"it belongs to another user\"}]");
	tdm_buf_done(&out);
}

/* Few circular buffers on average, but hardly any room for more in one core; as in the monitor. */
static void circular_buffers_have_the_colour_of_the_fullest_core(void **state)
{
	(void)state;
	static const struct {
		uint64_t gap;
		const char *style;
	} cases[] = { { 1 << 20, TDM_STYLE_GREEN }, { 300 << 10, TDM_STYLE_YELLOW }, { 50 << 10, TDM_STYLE_RED } };
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct make make;
		struct tdm_buf out;
		char wanted[64];
		make_init(&make);
		struct tdm_picture_device *device = make_n150(&make, 0);
		make_kind(device, TDM_KIND_L1, MAKE_MIB, 80 * MAKE_MIB);
		make_kind(device, TDM_KIND_CB, MAKE_MIB, 80 * MAKE_MIB);
		device->kinds[TDM_KIND_L1].banks = 64;
		device->kinds[TDM_KIND_L1].bank_bytes = 80 * MAKE_MIB / 64;
		device->kinds[TDM_KIND_L1].base = 0;
		device->cb_highest = 4096;
		device->l1_lowest = 4096 + cases[i].gap;
		const struct tdm_status_report report = { .picture = &make.picture,
			.term = { .colour = true, .width = 80 } };
		tdm_buf_init(&out);
		render_as(&make, report, &out);
		snprintf(wanted, sizeof wanted, "%s%7s", cases[i].style, "1.2%");
		assert_has(&out, wanted);
		struct tdm_result *result = tdm_result_new();
		tdm_buf_clear(&out);
		tdm_frame_show(&result->top, &report);
		tdm_write_text(&result->top, &report.term, &out);
		tdm_result_free(result);
		const char *cb = strstr(out.data, "CB Memory");
		assert_non_null(cb);
		snprintf(wanted, sizeof wanted, "%s    Usage: [", cases[i].style);
		assert_non_null(strstr(cb, wanted));
		tdm_buf_done(&out);
	}
}

int main(void)
{
	setenv("TZ", "UTC", 1);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_table_at_80_columns),
		cmocka_unit_test(a_wide_table_has_bars_words_and_the_whole_command),
		cmocka_unit_test(an_estimate_is_marked),
		cmocka_unit_test(chips_are_listed_when_there_are_several),
		cmocka_unit_test(a_long_command_goes_without_folders),
		cmocka_unit_test(what_nobody_knows_is_unknown),
		cmocka_unit_test(nothing_at_all_is_helpful),
		cmocka_unit_test(hostile_names_are_made_harmless),
		cmocka_unit_test(more_problems_than_fit_are_counted),
		cmocka_unit_test(l1_adds_up_whatever_is_known),
		cmocka_unit_test(strings_are_those_of_tt_smi),
		cmocka_unit_test(memory_is_in_bytes_with_its_sources),
		cmocka_unit_test(circular_buffers_have_the_colour_of_the_fullest_core),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
