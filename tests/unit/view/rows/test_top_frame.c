/* The plain frames of `tidemark top`, and the searches that people make in them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <regex.h>
#include <stdlib.h>

#include "picture_make.h"
#include "view/rows/device_rows.h"
#include "view/rows/status_result.h"
#include "view/write/write.h"

/* As they stand in the recipes. */
static const char allocated_recipe[] = "Allocated.*[89][0-9]%";
static const char l1_recipe[] = "L1.*[89][0-9]\\.[0-9]%";

struct recipes {
	regex_t allocated, l1;
};

static int compile_recipes(void **state)
{
	struct recipes *recipes = calloc(1, sizeof *recipes);
	*state = recipes;
	return recipes == NULL || regcomp(&recipes->allocated, allocated_recipe, REG_NOSUB) != 0 ||
	       regcomp(&recipes->l1, l1_recipe, REG_NOSUB) != 0;
}

static int free_recipes(void **state)
{
	struct recipes *recipes = *state;
	regfree(&recipes->allocated);
	regfree(&recipes->l1);
	free(recipes);
	return 0;
}

/* How many lines grep finds. */
static size_t grep(const regex_t *regex, const char *text)
{
	size_t found = 0;
	char *copy = strdup(text), *at = copy;
	assert_non_null(copy);
	for (char *line = strsep(&at, "\n"); line != NULL; line = strsep(&at, "\n"))
		found += regexec(regex, line, 0, NULL, 0) == 0;
	free(copy);
	return found;
}

static void render(struct make *make, struct tdm_pick pick, bool utf8, struct tdm_buf *out)
{
	const struct tdm_status_report report = {
		.picture = &make->picture, .pick = pick, .term = { .utf8 = utf8, .width = 80 }, .interval_ms = 500
	};
	struct tdm_result *result = tdm_result_new();
	tdm_buf_clear(out);
	tdm_frame_show(&result->top, &report);
	tdm_write_text(&result->top, &report.term, out);
	tdm_result_free(result);
}

/* Each region in turn at every share that can be told apart, and at the byte below and above each limit. */
static void the_recipes_find_80_percent_and_nothing_else(void **state)
{
	static const enum tdm_kind regions[] = { TDM_KIND_DRAM, TDM_KIND_L1, TDM_KIND_L1_SMALL, TDM_KIND_TRACE,
		TDM_KIND_CB };
	const struct recipes *recipes = *state;
	const uint64_t total = 1000 * MAKE_MIB;
	struct tdm_buf out = { 0 };
	for (size_t r = 0; r < sizeof regions / sizeof *regions; r++) {
		for (uint64_t permille = 0; permille <= 1300; permille++) {
			for (int off = -1; off <= 1; off++) {
				if (permille == 0 && off < 0)
					continue;
				uint64_t used = permille * MAKE_MIB + (uint64_t)(int64_t)off;
				bool is_full = used >= total / 10 * 8;
				bool is_l1 = regions[r] == TDM_KIND_L1 || regions[r] == TDM_KIND_L1_SMALL;
				struct make make;
				make_init(&make);
				struct tdm_picture_device *device = make_n150(&make, 0);
				for (size_t k = 0; k < sizeof regions / sizeof *regions; k++)
					make_kind(device, regions[k], 89 * MAKE_MIB, total); /* 8.9 % */
				make_kind(device, regions[r], used, total);
				make_process(&make, 4242, "train L1 88.8% Allocated 88% L1=99.9%");
				make_amount(&make, make_holding(&make, 0), TDM_KIND_DRAM, 1);
				render(&make, (struct tdm_pick){ 0 }, false, &out);
				if (grep(&recipes->allocated, out.data) != is_full ||
					grep(&recipes->l1, out.data) != (is_full && is_l1))
					fail_msg("%s at %d bytes off %u.%u %%:\n%s", tdm_kind_name(regions[r]), off,
						(unsigned)permille / 10, (unsigned)permille % 10, out.data);
			}
		}
	}
	tdm_buf_done(&out);
}

static void an_estimate_is_marked(void **state)
{
	(void)state;
	struct make make;
	struct tdm_buf out = { 0 };
	make_init(&make);
	make_kind(make_n150(&make, 0), TDM_KIND_DRAM, 9 * MAKE_GIB, 12 * MAKE_GIB);
	make_process(&make, 4242, "train");
	make_amount(&make, make_holding(&make, 0), TDM_KIND_DRAM, MAKE_GIB);
	static const char note[] = "bytes in use with '~' are an estimate";
	render(&make, (struct tdm_pick){ 0 }, false, &out);
	assert_null(strstr(out.data, note));
	make.picture.devices[0].kinds[TDM_KIND_DRAM].is_estimated = true;
	make.picture.holdings[0].kinds[TDM_KIND_DRAM].is_estimated = true;
	render(&make, (struct tdm_pick){ 0 }, false, &out);
	static const char *const shown[] = { "Allocated:           ~9.00 GiB (75%)\n",
		"Free:                ~3.00 GiB\n", " DRAM ~1.00 GiB  train\n", note };
	for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
		if (strstr(out.data, shown[i]) == NULL)
			fail_msg("expected '%s' in:\n%s", shown[i], out.data);
	tdm_buf_done(&out);
}

static void unknown_shares_are_never_found(void **state)
{
	const struct recipes *recipes = *state;
	struct tdm_buf out;
	struct make make;
	tdm_buf_init(&out);
	make_init(&make);
	make_device(&make);
	struct tdm_picture_device *known = make_n150(&make, 89);
	for (int k = 0; k < TDM_KIND_COUNT; k++) {
		make_kind(known, (enum tdm_kind)k, 89 * MAKE_GIB, 0);
		known->kinds[k].total = TDM_BYTES_UNKNOWN;
	}
	make_kind(known, TDM_KIND_L1_SMALL, 0, 0);
	render(&make, (struct tdm_pick){ 0 }, true, &out);
	assert_int_equal(grep(&recipes->allocated, out.data), 0);
	assert_int_equal(grep(&recipes->l1, out.data), 0);
	assert_null(strchr(out.data, '%'));
	assert_non_null(strstr(out.data, "unknown (no source counts it)"));
	assert_non_null(strstr(out.data, "(share unknown)"));
	assert_non_null(strstr(out.data, "none (this device has no such region)"));
	assert_non_null(strstr(out.data, "Hardware CQs: unknown (no source reports them)"));
	tdm_buf_done(&out);
}

static const char whole_frame[] = "================================================================================\n"
				  "|                     TT Device Memory Utilization Monitor                     |\n"
				  "================================================================================\n"
				  "Press Ctrl+C to exit\n"
				  "\n"
				  "System Info:\n"
				  "  Time: 2027-01-15 08:00:00\n"
				  "  Refresh: 500ms\n"
				  "  Devices: 1\n"
				  "\n"
				  "Device 0 (ID: 0)\n"
				  "  ------------------------------------------------------------------------------\n"
				  "\n"
				  "  Device Information:\n"
				  "    Architecture: Wormhole (n150)\n"
				  "    Node: /dev/tenstorrent/0\n"
				  "    PCI: 0000:01:00.0\n"
				  "    Chip ID: 0x1000\n"
				  "    Initialized: Yes (1 process)\n"
				  "    Hardware CQs: unknown (no source reports them)\n"
				  "    DRAM Channels: 12\n"
				  "    Compute Grid: 8x8 (64 cores)\n"
				  "\n"
				  "  Real-Time Memory Utilization:\n"
				  "\n"
				  "  DRAM Memory: 64.4%\n"
				  "    Banks: 12\n"
				  "    Total:                2.25 GiB\n"
				  "    Allocated:            1.45 GiB (64%)\n"
				  "    Free:               819.20 MiB\n"
				  "    Largest Block:      512.00 MiB\n"
				  "    Usage: [##########################..............] 64.4%\n"
				  "\n"
				  "  L1 Memory: 99.9%+\n"
				  "    Banks: 12\n"
				  "    Total:               76.00 MiB\n"
				  "    Allocated:           76.00 MiB (99%+)\n"
				  "    Free:                      0 B\n"
				  "    Largest Block:             0 B\n"
				  "    Usage: [########################################] 100.0%\n"
				  "\n"
				  "  L1_SMALL Memory:\n"
				  "    unknown (no source counts it)\n"
				  "\n"
				  "  TRACE Memory:\n"
				  "    unknown (no source counts it)\n"
				  "\n"
				  "  Processes:\n"
				  "       4242 alice      DRAM 1.45 GiB  L1 76.00 MiB  python3 train.py\n";

static void make_whole(struct make *make)
{
	make_init(make);
	struct tdm_picture_device *device = make_n150(make, 0);
	make_kind(device, TDM_KIND_DRAM, 145 * MAKE_GIB / 100, 225 * MAKE_GIB / 100);
	device->kinds[TDM_KIND_DRAM].largest_free = 512 * MAKE_MIB;
	make_kind(device, TDM_KIND_L1, 76 * MAKE_MIB, 76 * MAKE_MIB);
	make_process(make, 4242, "python3 train.py");
	struct tdm_holding *holding = make_holding(make, 0);
	make_amount(make, holding, TDM_KIND_DRAM, 145 * MAKE_GIB / 100);
	make_amount(make, holding, TDM_KIND_L1, 76 * MAKE_MIB);
}

static void a_frame_is_laid_out_as_ever(void **state)
{
	(void)state;
	struct tdm_buf out;
	struct make make;
	tdm_buf_init(&out);
	make_whole(&make);
	render(&make, (struct tdm_pick){ 0 }, false, &out);
	assert_string_equal(out.data, whole_frame);
	tdm_buf_done(&out);
}

/* Chips of cards that cannot be told apart, with figures of tt-metal's own statistics. */
static void boards_and_weak_figures_are_told(void **state)
{
	(void)state;
	struct tdm_buf out;
	struct make make;
	tdm_buf_init(&out);
	make_whole(&make);
	render(&make, (struct tdm_pick){ 0 }, false, &out);
	assert_null(strstr(out.data, "  Note:"));
	make.devices[0].card_from = TDM_FROM_CARD_TYPE;
	make.devices[0].kinds[TDM_KIND_DRAM].used_from = TDM_FROM_METAL_SHM;
	make.devices[0].kinds[TDM_KIND_L1].used_from = TDM_FROM_METAL_SHM;
	make.devices[0].kinds[TDM_KIND_DRAM].total_from = TDM_FROM_CARD_TYPE;
	struct tdm_picture_device *board = make_n150(&make, 0);
	board->is_board = true;
	board->number = -1;
	make.picture.board_count = 1;
	render(&make, (struct tdm_pick){ 0 }, false, &out);
	assert_non_null(strstr(out.data, "  Devices: 1\n  Cards: 1 (it is not known which device is on which card)\n"
					 "  Note: the figures are tt-metal's own statistics: allocations of other "
					 "threads may be missing, and the CB total may be the last writer's "
					 "alone\n"));
	assert_non_null(strstr(out.data, "    Architecture: Wormhole (~n150)\n"));
	assert_non_null(strstr(out.data, "    Total:               ~2.25 GiB\n"));
	assert_non_null(strstr(out.data, "\nCard 1: n150 /dev/tenstorrent/0 0000:01:00.0\n"));
	assert_null(strstr(out.data, "Device 1"));
	tdm_buf_done(&out);
}

static void bars_have_40_cells_in_both_alphabets(void **state)
{
	(void)state;
	struct tdm_buf out;
	struct make make;
	tdm_buf_init(&out);
	make_whole(&make);
	render(&make, (struct tdm_pick){ 0 }, true, &out);
	size_t cells = 0;
	const char *line = strstr(out.data, "Usage: [");
	assert_non_null(line);
	for (const char *c = strchr(line, '[') + 1; *c != ']'; c++)
		cells += ((unsigned char)*c & 0xc0) != 0x80;
	assert_int_equal(cells, 40);
	assert_non_null(strstr(out.data, "░] 64.4%"));
	tdm_buf_done(&out);
}

static void choices_and_emptiness_are_told(void **state)
{
	(void)state;
	struct tdm_buf out;
	struct make make;
	tdm_buf_init(&out);
	make_init(&make);
	render(&make, (struct tdm_pick){ 0 }, false, &out);
	assert_non_null(strstr(out.data, "  Devices: 0 (no card and no tracked process is visible"));
	make_whole(&make);
	make_n150(&make, 1);
	make.picture.problem_count = 2;
	render(&make, (struct tdm_pick){ .device = "1" }, false, &out);
	assert_non_null(strstr(out.data, "  Devices: 1 of 2\n  Problems: 2 ("));
	assert_non_null(strstr(out.data, "\nDevice 1 (ID: 1)\n"));
	assert_null(strstr(out.data, "Device 0"));
	render(&make, (struct tdm_pick){ .pids = (int32_t[]){ 4242 }, .pid_count = 1 }, false, &out);
	assert_non_null(strstr(out.data, "\nDevice 0 (ID: 0)\n"));
	assert_null(strstr(out.data, "Device 1"));
	tdm_buf_done(&out);
}

static void hostile_names_cannot_reach_the_terminal(void **state)
{
	const struct recipes *recipes = *state;
	struct tdm_buf out;
	struct make make;
	tdm_buf_init(&out);
	make_whole(&make);
	snprintf(make.devices[0].card, sizeof make.devices[0].card, "\033[2JL1 88.8%%\n");
	snprintf(make.devices[0].arch, sizeof make.devices[0].arch, "L1\n\t99.9%%");
	snprintf(make.devices[0].pci, sizeof make.devices[0].pci, "L1 Allocated 88%%");
	snprintf(make.processes[0].user, sizeof make.processes[0].user, "\xff\xfe\033]0;x");
	snprintf(make.processes[0].command, sizeof make.processes[0].command, "L1\r\n  L1 Memory: 88.8%%\x9b");
	render(&make, (struct tdm_pick){ 0 }, true, &out);
	for (size_t i = 0; i < out.len; i++)
		assert_true((unsigned char)out.data[i] >= 0x20 || out.data[i] == '\n');
	assert_int_equal(grep(&recipes->l1, out.data), 1); /* L1 is full in this frame */
	assert_int_equal(grep(&recipes->allocated, out.data), 1);
	tdm_buf_done(&out);
}

static void shares_are_rounded_down(void **state)
{
	(void)state;
	char text[TDM_SHARE_CAP];
	assert_int_equal(tdm_picture_permille(79999, 100000), 799);
	assert_int_equal(tdm_picture_permille(UINT64_MAX - 1, UINT64_MAX - 1), 1000);
	assert_int_equal(tdm_picture_permille(UINT64_MAX - 2, UINT64_MAX - 1), 999);
	assert_string_equal(tdm_format_share(text, sizeof text, tdm_picture_permille(UINT64_MAX - 1, 1)), "9999.9%");
	assert_int_equal(tdm_picture_permille(0, 5), 0);
	assert_int_equal(tdm_picture_permille(0, 0), -1);
	assert_int_equal(tdm_picture_permille(TDM_BYTES_UNKNOWN, 5), -1);
	assert_int_equal(tdm_picture_permille(5, TDM_BYTES_UNKNOWN), -1);
	assert_string_equal(tdm_format_share(text, sizeof text, 1), "0.1%");
	assert_string_equal(tdm_format_share(text, sizeof text, -1), "unknown");
}

int main(void)
{
	setenv("TZ", "UTC", 1);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_recipes_find_80_percent_and_nothing_else),
		cmocka_unit_test(an_estimate_is_marked),
		cmocka_unit_test(unknown_shares_are_never_found),
		cmocka_unit_test(a_frame_is_laid_out_as_ever),
		cmocka_unit_test(boards_and_weak_figures_are_told),
		cmocka_unit_test(bars_have_40_cells_in_both_alphabets),
		cmocka_unit_test(choices_and_emptiness_are_told),
		cmocka_unit_test(hostile_names_cannot_reach_the_terminal),
		cmocka_unit_test(shares_are_rounded_down),
	};
	return cmocka_run_group_tests(tests, compile_recipes, free_recipes);
}
