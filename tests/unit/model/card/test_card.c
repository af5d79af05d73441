/* Cards: tables, variants, overrides, the card file, the check. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/err.h"
#include "model/card/bank.h"

static struct tdm_card card_of(const char *name)
{
	struct tdm_card card;
	struct tdm_diag diag = { 0 };
	assert_int_equal(tdm_card_init(&card, tdm_str_of(name), NULL, &diag), 0);
	return card;
}

static int set(struct tdm_card *card, const char *assignment, struct tdm_diag *diag)
{
	*diag = (struct tdm_diag){ 0 };
	return tdm_card_set(card, tdm_str_of(assignment), diag);
}

static void set_ok(struct tdm_card *card, const char *assignment)
{
	struct tdm_diag diag;
	if (set(card, assignment, &diag) != 0)
		fail_msg("%s: %s", assignment, diag.text);
}

static int load(struct tdm_card *card, const char *text, struct tdm_diag *diag)
{
	*diag = (struct tdm_diag){ 0 };
	return tdm_card_load_text(card, tdm_str_of(text), diag);
}

static void every_card_is_built_checked_and_cited(void **state)
{
	(void)state;
	size_t count = 0;
	for (const char *const *name = tdm_card_names; *name != NULL; name++, count++) {
		struct tdm_card card = card_of(*name);
		struct tdm_diag diag = { 0 };
		assert_string_equal(card.name, *name);
		assert_int_equal(tdm_card_check(&card, &diag), 0);
		for (int field = 0; field < TDM_CARD_FIELD_COUNT; field++) {
			assert_non_null(card.source[field]);
			assert_true(card.source[field][0] != '\0');
			assert_false(card.is_set[field]);
		}
	}
	assert_int_equal(count, 9);
}

struct expected_card {
	const char *name;
	enum tdm_arch arch;
	uint64_t chips, harvested, grid_x, grid_y, dram_banks, l1_base, dram_base;
};

static const struct expected_card expected_cards[] = {
	{ "n150", TDM_ARCH_WORMHOLE, 1, 1, 8, 8, 12, 105664, 1048640 },
	{ "n300", TDM_ARCH_WORMHOLE, 2, 2, 8, 7, 12, 105664, 1048640 },
	{ "wh-galaxy", TDM_ARCH_WORMHOLE, 32, 0, 8, 9, 12, 105664, 1048640 },
	{ "p100", TDM_ARCH_BLACKHOLE, 1, 2, 11, 10, 7, 111616, 1048704 },
	{ "p150", TDM_ARCH_BLACKHOLE, 1, 2, 11, 10, 8, 111616, 1048704 },
	{ "p300", TDM_ARCH_BLACKHOLE, 2, 2, 11, 10, 8, 111616, 1048704 },
	{ "bh-galaxy", TDM_ARCH_BLACKHOLE, 32, 1, 12, 10, 8, 111616, 1048704 },
	{ "quasar", TDM_ARCH_QUASAR, 1, 0, 8, 4, 2, 313856, 1048704 },
};

static void the_cards_have_their_figures(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof expected_cards / sizeof *expected_cards; i++) {
		const struct expected_card *expected = &expected_cards[i];
		struct tdm_card card = card_of(expected->name);
		assert_int_equal(card.arch, expected->arch);
		assert_int_equal(card.value[TDM_CARD_CHIPS], expected->chips);
		assert_int_equal(card.value[TDM_CARD_HARVESTED], expected->harvested);
		assert_int_equal(card.value[TDM_CARD_GRID_X], expected->grid_x);
		assert_int_equal(card.value[TDM_CARD_GRID_Y], expected->grid_y);
		assert_int_equal(card.value[TDM_CARD_L1_BANKS], expected->grid_x * expected->grid_y);
		assert_int_equal(card.value[TDM_CARD_DRAM_BANKS], expected->dram_banks);
		assert_int_equal(card.value[TDM_CARD_L1_BASE], expected->l1_base);
		assert_int_equal(card.value[TDM_CARD_DRAM_BASE], expected->dram_base);
	}
}

static void grayskull_says_what_it_does_not_know(void **state)
{
	(void)state;
	struct tdm_card card = card_of("e150");
	assert_string_equal(card.name, "grayskull");
	assert_int_equal(card.value[TDM_CARD_L1_SIZE], 1048576);
	assert_int_equal(card.value[TDM_CARD_L1_BASE], 100000);
	assert_int_equal(card.value[TDM_CARD_DRAM_BANKS], 8);
	assert_true(card.value[TDM_CARD_DRAM_BASE] == TDM_BYTES_UNKNOWN);
	assert_non_null(strstr(card.source[TDM_CARD_DRAM_BASE], "not published for Grayskull"));
	assert_true(card.value[TDM_CARD_L1_BANKS] == TDM_BYTES_UNKNOWN);
	assert_non_null(strstr(card.source[TDM_CARD_L1_BANKS], "storage cores"));
	assert_true(card.value[TDM_CARD_CB_MAX_PAGES] == TDM_BYTES_UNKNOWN);
}

static void names_of_the_driver_are_understood(void **state)
{
	(void)state;
	static const char *const pairs[][2] = { { "N150", "n150" }, { "galaxy", "wh-galaxy" },
		{ "Galaxy-Wormhole", "wh-galaxy" }, { "galaxy-blackhole", "bh-galaxy" }, { "p100a", "p100" },
		{ "P150a", "p150" }, { "p150b", "p150" }, { "p150c", "p150" }, { "p300a", "p300" }, { "p300b", "p300" },
		{ "p300c", "p300" } };
	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
		struct tdm_card card = card_of(pairs[i][0]);
		assert_string_equal(card.name, pairs[i][1]);
	}
}

static void an_unknown_card_is_answered_with_the_names(void **state)
{
	(void)state;
	struct tdm_card card = { 0 };
	struct tdm_diag diag = { .line = 7 };
	assert_int_equal(tdm_card_init(&card,
				 tdm_str_of("n1\x1b"
					    "50"),
				 NULL, &diag),
		TDM_ECARD);
	assert_int_equal(diag.line, 0);
	assert_non_null(strstr(diag.text, "'n1?50'"));
	for (const char *const *name = tdm_card_names; *name != NULL; name++)
		assert_non_null(strstr(diag.text, *name));
	assert_int_equal(tdm_card_init(&card, tdm_str_of("n150x"), NULL, NULL), TDM_ECARD);
	assert_int_equal(tdm_card_init(&card, (struct tdm_str){ NULL, 0 }, NULL, NULL), TDM_ECARD);
	assert_null(card.name);
}

static void the_firmware_map_has_no_gap(void **state)
{
	(void)state;
	static const struct {
		const char *card;
		uint64_t end;
	} maps[] = { { "n150", 35008 }, { "p150", 40960 }, { "quasar", 211440 }, { "grayskull", 29344 } };
	for (size_t i = 0; i < sizeof maps / sizeof *maps; i++) {
		struct tdm_card card = card_of(maps[i].card);
		uint64_t at = 0;
		for (size_t part = 0; part < card.part_count; part++) {
			assert_int_equal(card.parts[part].address, at);
			assert_true(card.parts[part].size != 0);
			assert_true(card.parts[part].name[0] != '\0' && card.parts[part].source[0] != '\0');
			at += card.parts[part].size;
		}
		assert_int_equal(at, maps[i].end);
		assert_int_equal(card.value[TDM_CARD_MAP_END], maps[i].end);
	}
}

static void named_parts_lie_where_the_runtime_has_them(void **state)
{
	(void)state;
	static const struct {
		const char *card, *part;
		uint64_t address, size;
	} expected[] = {
		{ "n150", "mailbox", 16, 13296 },
		{ "n150", "BRISC firmware", 14848, 7712 },
		{ "n150", "fabric connections", 32048, 656 },
		{ "n150", "packet header pool", 32704, 2304 },
		{ "p150", "mailbox", 96, 13424 },
		{ "p150", "zeros", 13536, 512 },
		{ "p150", "NCRISC firmware", 23776, 2560 },
		{ "p150", "packet header pool", 37504, 3456 },
		{ "quasar", "packet header pool", 197616, 13824 },
	};
	for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
		struct tdm_card card = card_of(expected[i].card);
		size_t part = 0;
		while (part < card.part_count && strcmp(card.parts[part].name, expected[i].part) != 0)
			part++;
		assert_true(part < card.part_count);
		assert_int_equal(card.parts[part].address, expected[i].address);
		assert_int_equal(card.parts[part].size, expected[i].size);
	}
}

struct expected_grid {
	const char *card, *settings[4];
	uint64_t x, y;
};

static const struct expected_grid expected_grids[] = {
	{ "wh-galaxy", { "dispatch=tensix-row" }, 8, 9 },
	{ "wh-galaxy", { "dispatch=tensix-col" }, 7, 10 },
	{ "wh-galaxy", { "dispatch=eth" }, 8, 10 },
	{ "wh-galaxy", { "dispatch=none" }, 8, 10 },
	{ "n150", { "dispatch=tensix" }, 8, 8 },
	{ "n150", { "dispatch=tensix-col" }, 7, 9 },
	{ "n150", { "dispatch=eth" }, 8, 8 },
	{ "n150", { "dispatch=eth", "fabric_mux=1" }, 8, 8 },
	{ "n150", { "dispatch=none" }, 8, 9 },
	{ "n150", { "fabric_mux=1" }, 8, 8 },
	{ "n150", { "harvested=0" }, 8, 9 },
	{ "n300", { "dispatch=tensix-col" }, 7, 8 },
	{ "n300", { "dispatch=eth" }, 8, 8 },
	{ "n300", { "dispatch=none" }, 8, 8 },
	{ "p150", { "firmware=old" }, 13, 10 },
	{ "p150", { "firmware=old", "firmware=new" }, 11, 10 },
	{ "p150", { "firmware=old", "harvested=1" }, 12, 10 },
	{ "p150", { "dispatch=eth" }, 12, 10 },
	{ "p150", { "dispatch=none" }, 12, 10 },
	{ "p150", { "fabric_mux=1" }, 12, 9 },
	{ "p150", { "fabric_mux=1", "dispatch=tensix-col" }, 11, 10 },
	{ "p150", { "firmware=old", "fabric_mux=1", "dispatch=tensix-row" }, 14, 9 },
	{ "p100", { "firmware=old" }, 11, 10 },
	{ "bh-galaxy", { "dispatch=eth" }, 13, 10 },
	{ "bh-galaxy", { "fabric_mux=1", "dispatch=tensix" }, 13, 9 },
	{ "bh-galaxy", { "dispatch=none" }, 13, 10 },
	{ "quasar", { "dispatch=tensix" }, 7, 4 },
	{ "quasar", { "dispatch=none" }, 8, 4 },
	{ "grayskull", { "dispatch=default" }, 12, 9 },
	{ "grayskull", { "dispatch=none" }, 12, 10 },
};

static void variants_decide_the_grid(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof expected_grids / sizeof *expected_grids; i++) {
		const struct expected_grid *expected = &expected_grids[i];
		struct tdm_card card = card_of(expected->card);
		for (size_t j = 0; j < 4 && expected->settings[j] != NULL; j++)
			set_ok(&card, expected->settings[j]);
		assert_int_equal(card.value[TDM_CARD_GRID_X], expected->x);
		assert_int_equal(card.value[TDM_CARD_GRID_Y], expected->y);
		struct tdm_diag diag = { 0 };
		assert_int_equal(tdm_card_check(&card, &diag), 0);
	}
}

static void a_variant_that_the_runtime_lacks_is_refused(void **state)
{
	(void)state;
	static const char *const refused[][3] = {
		{ "p150", "dispatch=tensix-row", "dispatch=tensix-col, eth, none" },
		{ "n150", "harvested=3", "at most 2 rows" },
		{ "p150", "harvested=3", "at most 2 columns" },
		{ "quasar", "harvested=1", "at most 0 rows" },
		{ "quasar", "dispatch=eth", "Quasar" },
		{ "grayskull", "dispatch=eth", "Grayskull" },
		{ "grayskull", "fabric_mux=1", "fabric_mux=1" },
	};
	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
		struct tdm_card card = card_of(refused[i][0]), before = card;
		struct tdm_diag diag;
		assert_int_equal(set(&card, refused[i][1], &diag), TDM_EREFUSED);
		assert_non_null(strstr(diag.text, refused[i][2]));
		assert_int_equal(diag.column, 1);
		assert_memory_equal(&card, &before, sizeof card);
	}
	struct tdm_card card = card_of("p150");
	struct tdm_diag diag;
	set_ok(&card, "fabric_mux=1");
	assert_int_equal(set(&card, "dispatch=eth", &diag), TDM_EREFUSED);
	struct tdm_card_variant variant = { .dispatch = TDM_DISPATCH_TENSIX_ROW, .harvested = -1 };
	assert_int_equal(tdm_card_init(&card, tdm_str_of("p150"), &variant, &diag), TDM_EREFUSED);
}

static void tracy_takes_dram(void **state)
{
	(void)state;
	struct tdm_card wormhole = card_of("n150"), blackhole = card_of("p150"), quasar = card_of("quasar");
	set_ok(&wormhole, "tracy=1");
	set_ok(&blackhole, "tracy=1");
	set_ok(&quasar, "tracy=1");
	assert_int_equal(wormhole.value[TDM_CARD_DRAM_BASE], 2968640);
	assert_int_equal(blackhole.value[TDM_CARD_DRAM_BASE], 5848704);
	assert_true(quasar.value[TDM_CARD_DRAM_BASE] == TDM_BYTES_UNKNOWN);
	set_ok(&wormhole, "tracy=0");
	assert_int_equal(wormhole.value[TDM_CARD_DRAM_BASE], 1048640);
}

static void the_default_dispatch_is_resolved(void **state)
{
	(void)state;
	struct tdm_card wormhole = card_of("n150"), blackhole = card_of("p150"), quasar = card_of("quasar");
	assert_int_equal(tdm_card_dispatch(&wormhole), TDM_DISPATCH_TENSIX_ROW);
	assert_int_equal(tdm_card_dispatch(&blackhole), TDM_DISPATCH_TENSIX_COL);
	assert_int_equal(tdm_card_dispatch(&quasar), TDM_DISPATCH_NONE);
	set_ok(&blackhole, "fabric_mux=1");
	assert_int_equal(tdm_card_dispatch(&blackhole), TDM_DISPATCH_TENSIX_ROW);
	set_ok(&wormhole, "dispatch=eth");
	assert_int_equal(tdm_card_dispatch(&wormhole), TDM_DISPATCH_ETH);
	assert_string_equal(tdm_dispatch_name(TDM_DISPATCH_TENSIX_COL), "tensix-col");
	assert_string_equal(tdm_dispatch_name(TDM_DISPATCH_DEFAULT), "default");
	assert_string_equal(tdm_arch_name(TDM_ARCH_BLACKHOLE), "Blackhole");
}

static void overrides_stay_and_what_follows_is_derived(void **state)
{
	(void)state;
	struct tdm_card card = card_of("n150");
	set_ok(&card, "map_end = 0x8000");
	assert_int_equal(card.value[TDM_CARD_MAP_END], 32768);
	assert_string_equal(card.source[TDM_CARD_MAP_END], "set by the user");
	assert_true(card.is_set[TDM_CARD_MAP_END]);
	assert_int_equal(card.value[TDM_CARD_L1_BASE], 32768 + 70656);
	assert_int_equal(card.part_count, 0);
	set_ok(&card, "L1_BASE=107616");
	set_ok(&card, "l1_banks=72");
	set_ok(&card, "dispatch=tensix-col");
	assert_int_equal(card.value[TDM_CARD_L1_BASE], 107616);
	assert_int_equal(card.value[TDM_CARD_L1_BANKS], 72);
	assert_int_equal(card.value[TDM_CARD_GRID_X], 7);
	assert_int_equal(card.value[TDM_CARD_MAP_END], 32768);
	set_ok(&card, "map_end=35008");
	assert_true(card.part_count > 0);
	struct tdm_card grown = card_of("n150");
	set_ok(&grown, "kernel_config=1");
	assert_int_equal(grown.value[TDM_CARD_L1_BASE], 35040);
	set_ok(&grown, "dram_align=64");
	assert_int_equal(grown.value[TDM_CARD_DRAM_BASE], 1048704);
	set_ok(&grown, "workers_y=9");
	set_ok(&grown, "dispatch=none");
	assert_int_equal(grown.value[TDM_CARD_L1_BANKS], 64);
}

static void a_grid_of_ones_own_needs_no_descriptor(void **state)
{
	(void)state;
	struct tdm_card card = card_of("p150");
	set_ok(&card, "grid_x=10");
	set_ok(&card, "grid_y=8");
	set_ok(&card, "dispatch=tensix-row");
	assert_int_equal(card.value[TDM_CARD_L1_BANKS], 80);
}

static void wrong_assignments_point_at_the_wrong_byte(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		int err;
		uint64_t column;
		const char *expected;
	} wrong[] = {
		{ "l1_smal=3", TDM_EFIELD, 1, "l1_small" },
		{ "  fabricmux=1", TDM_EFIELD, 3, "fabric_mux" },
		{ "l1_small=32Q", TDM_ESYNTAX, 12, "l1_small" },
		{ "l1_small = x", TDM_ESYNTAX, 12, "a size in bytes" },
		{ "l1_small=", TDM_ESYNTAX, 10, "a size in bytes" },
		{ "l1_small", TDM_ESYNTAX, 9, "'='" },
		{ "=3", TDM_ESYNTAX, 1, "field name" },
		{ "", TDM_ESYNTAX, 1, "field name" },
		{ "grid_x=8K", TDM_ESYNTAX, 9, "whole number" },
		{ "grid_x=-1", TDM_ESYNTAX, 8, "whole number" },
		{ "grid_x=4294967296", -ERANGE, 8, "too large" },
		{ "l1_size=18446744073709551615", -ERANGE, 9, "too large" },
		{ "l1_size=99999999999999999999", -ERANGE, 9, "too large" },
		{ "dispatch=ethernet", TDM_ESYNTAX, 10, "tensix-row" },
		{ "tracy=yes", TDM_ESYNTAX, 7, "0 or 1" },
		{ "firmware=19.5", TDM_ESYNTAX, 10, "new or old" },
	};
	struct tdm_card card = card_of("n150"), before = card;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		struct tdm_diag diag;
		assert_int_equal(set(&card, wrong[i].text, &diag), wrong[i].err);
		assert_int_equal(diag.line, 0);
		assert_int_equal(diag.column, wrong[i].column);
		assert_non_null(strstr(diag.text, wrong[i].expected));
	}
	assert_memory_equal(&card, &before, sizeof card);
}

static void a_card_file_is_read(void **state)
{
	(void)state;
	struct tdm_card card = { 0 };
	struct tdm_diag diag;
	const char *text = "# a p150 in the lab\r\n"
			   "\n"
			   "card = p150a\n"
			   "dispatch = tensix-row   # works with a mux only\n"
			   "fabric_mux = 1\n"
			   "  l1_small = 32 KiB\n"
			   "trace_region=24M";
	assert_int_equal(load(&card, text, &diag), 0);
	assert_string_equal(card.name, "p150");
	assert_int_equal(card.value[TDM_CARD_L1_SMALL], 32768);
	assert_string_equal(card.source[TDM_CARD_L1_SMALL], "card file");
	assert_int_equal(card.value[TDM_CARD_TRACE_REGION], 24 << 20);
	assert_int_equal(card.value[TDM_CARD_GRID_X], 12);
	assert_int_equal(card.value[TDM_CARD_GRID_Y], 9);
	assert_int_equal(load(&card, "l1_small=0\n", &diag), 0);
	assert_int_equal(card.value[TDM_CARD_L1_SMALL], 0);
	assert_int_equal(load(&card, "", &diag), 0);
}

static void wrong_card_files_are_refused_with_their_place(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		int err;
		uint64_t line, column;
		const char *expected;
	} wrong[] = {
		{ "l1_small = 1\n", TDM_ECARD, 1, 1, "card = NAME" },
		{ "\n#x\n", TDM_ECARD, 0, 0, "no card was given" },
		{ "card = n151\n", TDM_ECARD, 1, 8, "n150" },
		{ "card = n150\ncard = n300\n", TDM_ESYNTAX, 2, 1, "line 1" },
		{ "card = n150\nl1_small = 1\n\nl1_small = 2\n", TDM_ESYNTAX, 4, 1, "line 2" },
		{ "card = n150\ntracy=1\n tracy=1\n", TDM_ESYNTAX, 3, 2, "line 2" },
		{ "card = n150\nl1_smal = 1\n", TDM_EFIELD, 2, 1, "l1_small" },
		{ "card = n150\n\n  l1_small = 3z # c\n", TDM_ESYNTAX, 3, 15, "a size in bytes" },
		{ "card = n150\nl1_small\n", TDM_ESYNTAX, 2, 9, "'='" },
		{ "card = p150\ndispatch = tensix-row\nl1_small=0", TDM_EREFUSED, 2, 0, "tensix-row" },
		{ "card = p150\nharvested = 9\n", TDM_EREFUSED, 2, 0, "columns" },
		{ "card\n", TDM_ECARD, 1, 1, "card = NAME" },
	};
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		struct tdm_card card = { 0 };
		struct tdm_diag diag;
		int err = load(&card, wrong[i].text, &diag);
		if (err != wrong[i].err || diag.line != wrong[i].line || diag.column != wrong[i].column)
			fail_msg(
				"%s: %d at %d:%d: %s", wrong[i].text, err, (int)diag.line, (int)diag.column, diag.text);
		assert_non_null(strstr(diag.text, wrong[i].expected));
		assert_null(card.name);
	}
	struct tdm_card card = card_of("n150");
	struct tdm_diag diag;
	assert_int_equal(load(&card, "l1_small = 1\ncard = n300\n", &diag), TDM_ESYNTAX);
	assert_int_equal(diag.line, 2);
	assert_int_equal(card.value[TDM_CARD_L1_SMALL], 0);
}

static void card_files_come_from_disk_and_are_bounded(void **state)
{
	(void)state;
	char path[] = "/tmp/tidemark-card-XXXXXX";
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	static const char text[] = "card = n300\nl1_small = bad\n";
	assert_int_equal(write(fd, text, sizeof text - 1), (ssize_t)(sizeof text - 1));
	struct tdm_card card = { 0 };
	struct tdm_diag diag = { 0 };
	assert_int_equal(tdm_card_load(&card, path, &diag), TDM_ESYNTAX);
	assert_string_equal(diag.file, path);
	assert_int_equal(diag.line, 2);
	assert_int_equal(diag.column, 12);
	assert_int_equal(ftruncate(fd, 65537), 0);
	assert_int_equal(tdm_card_load(&card, path, &diag), -EFBIG);
	assert_true(diag.text[0] != '\0');
	assert_int_equal(ftruncate(fd, 12), 0);
	assert_int_equal(tdm_card_load(&card, path, &diag), 0);
	assert_string_equal(card.name, "n300");
	close(fd);
	unlink(path);
	assert_int_equal(tdm_card_load(&card, path, &diag), -ENOENT);
	assert_non_null(strstr(diag.text, "cannot be read"));
}

static void the_check_finds_what_does_not_fit(void **state)
{
	(void)state;
	static const char *const wrong[][3] = {
		{ "n150", "l1_align=24", "l1_align must be a power of two" },
		{ "n150", "dram_align=0", "dram_align must not be 0" },
		{ "n150", "chips=0", "chips must not be 0" },
		{ "n150", "grid_x=9", "grid_x is 9, more than the 8" },
		{ "n150", "grid_y=10", "after harvesting" },
		{ "p150", "grid_x=13", "after harvesting" },
		{ "n150", "l1_banks=81", "more than the 80 Tensix cores" },
		{ "n150", "l1_base=2M", "l1_base" },
		{ "n150", "l1_base=1000", "map_end is 35008, more than the 1000" },
		{ "n150", "l1_size=105664", "l1_base" },
		{ "n150", "l1_small=1393472", "l1_small" },
		{ "n150", "l1_small=1393441", "l1_small" },
		{ "n150", "dram_base=1G", "dram_base" },
		{ "n150", "trace_region=12G", "trace_region" },
		{ "n150", "trace_region=18446744073709551614", "trace_region" },
		{ "n150", "dram_bank_size=1M", "dram_base" },
		{ "n150", "workers_x=11", "noc_x" },
	};
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		struct tdm_card card = card_of(wrong[i][0]);
		struct tdm_diag diag = { 0 };
		set_ok(&card, wrong[i][1]);
		assert_int_equal(tdm_card_check(&card, &diag), TDM_EREFUSED);
		if (strstr(diag.text, wrong[i][2]) == NULL)
			fail_msg("%s: %s", wrong[i][1], diag.text);
	}
	struct tdm_card card = card_of("n150");
	set_ok(&card, "l1_small=1393440");
	assert_int_equal(tdm_card_check(&card, NULL), 0);
}

static void fields_have_names(void **state)
{
	(void)state;
	for (int field = 0; field < TDM_CARD_FIELD_COUNT; field++) {
		const char *name = tdm_card_field_name((enum tdm_card_field)field);
		char unit = tdm_card_field_unit((enum tdm_card_field)field);
		assert_int_equal(tdm_card_setting_find(tdm_str_of(name)), field);
		assert_true(tdm_card_field_summary((enum tdm_card_field)field)[0] != '\0');
		assert_true(unit == 'B' || unit == 'N');
	}
	assert_int_equal(tdm_card_setting_find(tdm_str_of("fabric_mux")), TDM_SETTING_FABRIC_MUX);
	assert_int_equal(tdm_card_setting_find(tdm_str_of("card")), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_card_is_built_checked_and_cited),
		cmocka_unit_test(the_cards_have_their_figures),
		cmocka_unit_test(grayskull_says_what_it_does_not_know),
		cmocka_unit_test(names_of_the_driver_are_understood),
		cmocka_unit_test(an_unknown_card_is_answered_with_the_names),
		cmocka_unit_test(the_firmware_map_has_no_gap),
		cmocka_unit_test(named_parts_lie_where_the_runtime_has_them),
		cmocka_unit_test(variants_decide_the_grid),
		cmocka_unit_test(a_variant_that_the_runtime_lacks_is_refused),
		cmocka_unit_test(tracy_takes_dram),
		cmocka_unit_test(the_default_dispatch_is_resolved),
		cmocka_unit_test(overrides_stay_and_what_follows_is_derived),
		cmocka_unit_test(a_grid_of_ones_own_needs_no_descriptor),
		cmocka_unit_test(wrong_assignments_point_at_the_wrong_byte),
		cmocka_unit_test(a_card_file_is_read),
		cmocka_unit_test(wrong_card_files_are_refused_with_their_place),
		cmocka_unit_test(card_files_come_from_disk_and_are_bounded),
		cmocka_unit_test(the_check_finds_what_does_not_fit),
		cmocka_unit_test(fields_have_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
