/* Banks: the regions of a card, the spread of a buffer over its banks, the cores of L1 banks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>

#include "base/err.h"
#include "model/card/bank.h"

static struct tdm_card card_of(const char *name, const char *const *settings)
{
	struct tdm_card card;
	struct tdm_diag diag = { 0 };
	assert_int_equal(tdm_card_init(&card, tdm_str_of(name), NULL, &diag), 0);
	for (; settings != NULL && *settings != NULL; settings++)
		assert_int_equal(tdm_card_set(&card, tdm_str_of(*settings), &diag), 0);
	return card;
}

static struct tdm_bank_range range_of(const struct tdm_card *card, enum tdm_kind kind)
{
	struct tdm_bank_range range;
	struct tdm_diag diag = { 0 };
	if (tdm_bank_range(card, kind, &range, &diag) != 0)
		fail_msg("%s", diag.text);
	assert_int_equal(range.kind, kind);
	return range;
}

static void expect_range(const struct tdm_card *card, enum tdm_kind kind, uint64_t base, uint64_t end, uint32_t banks)
{
	struct tdm_bank_range range = range_of(card, kind);
	uint64_t align = tdm_card_get(card, TDM_CARD_DRAM_ALIGN);
	bool is_dram = kind == TDM_KIND_DRAM || kind == TDM_KIND_TRACE;
	assert_int_equal(range.base, base);
	assert_int_equal(range.base + range.size, end);
	assert_int_equal(range.banks, banks);
	assert_int_equal(range.block_align, align);
	assert_int_equal(range.page_align, is_dram ? align : 16);
	assert_int_equal(range.bottom_up, is_dram);
}

static void regions_lie_where_the_runtime_puts_them(void **state)
{
	(void)state;
	struct tdm_card card = card_of("n150", (const char *const[]){ "l1_small=32768", NULL });
	expect_range(&card, TDM_KIND_DRAM, 1048640, 1073741824, 12);
	expect_range(&card, TDM_KIND_TRACE, 1073741824, 1073741824, 12);
	expect_range(&card, TDM_KIND_L1, 105664, 1466368, 64);
	expect_range(&card, TDM_KIND_L1_SMALL, 1466368, 1499136, 64);

	card = card_of("n150", (const char *const[]){ "trace_region=23887872", NULL });
	expect_range(&card, TDM_KIND_DRAM, 1048640, 1071751168, 12);
	expect_range(&card, TDM_KIND_TRACE, 1071751168, 1073741824, 12);
	assert_int_equal(range_of(&card, TDM_KIND_TRACE).size, 1990656);
	expect_range(&card, TDM_KIND_L1, 105664, 1499136, 64);
	expect_range(&card, TDM_KIND_L1_SMALL, 1499136, 1499136, 0);

	card = card_of("p150", (const char *const[]){ "firmware=old", NULL });
	expect_range(&card, TDM_KIND_DRAM, 1048704, 4278190080, 8);
	expect_range(&card, TDM_KIND_TRACE, 4278190080, 4278190080, 8);
	expect_range(&card, TDM_KIND_L1, 111616, 1572864, 130);
	expect_range(&card, TDM_KIND_L1_SMALL, 1572864, 1572864, 0);

	card = card_of("p150", (const char *const[]){ "firmware=old", "l1_small=16384", NULL });
	expect_range(&card, TDM_KIND_DRAM, 1048704, 4278190080, 8);
	expect_range(&card, TDM_KIND_L1, 111616, 1556480, 130);
	expect_range(&card, TDM_KIND_L1_SMALL, 1556480, 1572864, 130);
}

static void small_regions_are_rounded_up(void **state)
{
	(void)state;
	struct tdm_card card = card_of("p150", (const char *const[]){ "l1_small=1", "trace_region=1", NULL });
	assert_int_equal(range_of(&card, TDM_KIND_L1_SMALL).size, 64);
	assert_int_equal(range_of(&card, TDM_KIND_TRACE).size, 8192);
	card = card_of("n150", (const char *const[]){ "trace_region=98305", NULL });
	assert_int_equal(range_of(&card, TDM_KIND_TRACE).size, 16384);
}

static void regions_that_do_not_fit_are_refused(void **state)
{
	(void)state;
	struct tdm_bank_range range;
	struct tdm_diag diag = { 0 };
	struct tdm_card card = card_of("n150", (const char *const[]){ "trace_region=12G", "l1_small=1464K", NULL });
	assert_int_equal(tdm_bank_range(&card, TDM_KIND_DRAM, &range, &diag), TDM_EREFUSED);
	assert_non_null(strstr(diag.text, "trace_region"));
	assert_int_equal(tdm_bank_range(&card, TDM_KIND_TRACE, &range, &diag), TDM_EREFUSED);
	assert_int_equal(tdm_bank_range(&card, TDM_KIND_L1, &range, &diag), TDM_EREFUSED);
	assert_non_null(strstr(diag.text, "l1_small"));
	assert_int_equal(tdm_bank_range(&card, TDM_KIND_L1_SMALL, &range, &diag), TDM_EREFUSED);
	assert_int_equal(tdm_bank_range(&card, TDM_KIND_CB, &range, &diag), -EINVAL);
	card = card_of("n150", (const char *const[]){ "dram_banks=0", "dram_align=0", NULL });
	assert_int_equal(tdm_bank_range(&card, TDM_KIND_DRAM, &range, &diag), TDM_EREFUSED);
	assert_int_equal(tdm_bank_range(&card, TDM_KIND_L1, &range, &diag), TDM_EUNKNOWN);
}

static void unknown_figures_are_named(void **state)
{
	(void)state;
	struct tdm_bank_range range;
	struct tdm_diag diag = { 0 };
	struct tdm_card card = card_of("grayskull", NULL);
	assert_int_equal(tdm_bank_range(&card, TDM_KIND_DRAM, &range, &diag), TDM_EUNKNOWN);
	assert_non_null(strstr(diag.text, "dram_base"));
	assert_int_equal(tdm_bank_range(&card, TDM_KIND_L1, &range, &diag), TDM_EUNKNOWN);
	assert_non_null(strstr(diag.text, "l1_banks"));
	card = card_of("grayskull", (const char *const[]){ "dram_base=1M", NULL });
	expect_range(&card, TDM_KIND_DRAM, 1048576, 1073741824, 8);
}

struct expected_spread {
	const char *card;
	enum tdm_kind kind;
	struct tdm_buffer_shape shape;
	uint64_t pages, pages_per_bank, aligned_size, bytes, block, reserved, occupied;
	uint32_t holding;
};

static const struct expected_spread expected_spreads[] = {
	{ "n150", TDM_KIND_DRAM, { 204800, 2048, 0 }, 100, 9, 204800, 18432, 18432, 221184, 221184, 12 },
	{ "n150", TDM_KIND_DRAM, { 24576, 2048, 0 }, 12, 1, 24576, 2048, 2048, 24576, 24576, 12 },
	{ "n150", TDM_KIND_DRAM, { 26624, 2048, 0 }, 13, 2, 26624, 4096, 4096, 49152, 49152, 12 },
	{ "n150", TDM_KIND_DRAM, { 2048, 2048, 0 }, 1, 1, 2048, 2048, 2048, 24576, 2048, 1 },
	{ "n150", TDM_KIND_DRAM, { 1300, 100, 0 }, 13, 2, 1664, 256, 256, 3072, 3072, 12 },
	{ "n150", TDM_KIND_DRAM, { 0, 2048, 0 }, 0, 0, 0, 0, 0, 0, 0, 0 },
	{ "n150", TDM_KIND_L1, { 65536, 2048, 8 }, 32, 4, 65536, 8192, 8192, 524288, 65536, 8 },
	{ "n150", TDM_KIND_L1, { 314573, 314573, 1 }, 1, 1, 314576, 314576, 314592, 20133888, 314592, 1 },
	{ "n150", TDM_KIND_L1, { 131072, 2048, 0 }, 64, 1, 131072, 2048, 2048, 131072, 131072, 64 },
	{ "n150", TDM_KIND_L1, { 0, 2048, 8 }, 0, 0, 0, 0, 0, 0, 0, 0 },
	/* Nine pages on eight cores: two on each, the last three cores empty but their shards filled up. */
	{ "n150", TDM_KIND_L1, { 18432, 2048, 8 }, 9, 2, 32768, 4096, 4096, 262144, 20480, 5 },
	{ "p150", TDM_KIND_L1, { 32, 32, 0 }, 1, 1, 32, 32, 64, 7040, 64, 1 },
	{ "p150", TDM_KIND_DRAM, { 100, 100, 0 }, 1, 1, 128, 128, 128, 1024, 128, 1 },
};

static void buffers_are_spread_as_the_runtime_does(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof expected_spreads / sizeof *expected_spreads; i++) {
		const struct expected_spread *expected = &expected_spreads[i];
		struct tdm_card card = card_of(expected->card, NULL);
		struct tdm_bank_range range = range_of(&card, expected->kind);
		struct tdm_bank_spread spread;
		struct tdm_diag diag = { 0 };
		assert_int_equal(tdm_bank_spread(&range, &expected->shape, &spread, &diag), 0);
		assert_int_equal(spread.pages, expected->pages);
		assert_int_equal(spread.pages_per_bank, expected->pages_per_bank);
		assert_int_equal(spread.aligned_size, expected->aligned_size);
		assert_int_equal(spread.bytes_per_bank, expected->bytes);
		assert_int_equal(spread.block_bytes, expected->block);
		assert_int_equal(spread.reserved_bytes, expected->reserved);
		assert_int_equal(spread.occupied_bytes, expected->occupied);
		assert_int_equal(spread.banks_holding, expected->holding);
		assert_int_equal(spread.banks, range.banks);
	}
}

static void shapes_that_the_runtime_refuses(void **state)
{
	(void)state;
	struct tdm_card card = card_of("n150", (const char *const[]){ "l1_small=32K", NULL });
	struct tdm_bank_range l1 = range_of(&card, TDM_KIND_L1), dram = range_of(&card, TDM_KIND_DRAM);
	struct tdm_bank_range small = range_of(&card, TDM_KIND_L1_SMALL);
	struct tdm_bank_spread spread;
	struct tdm_diag diag = { 0 };
	assert_int_equal(
		tdm_bank_spread(&l1, &(struct tdm_buffer_shape){ 133120, 2048, 65 }, &spread, &diag), TDM_EREFUSED);
	assert_string_equal(diag.text, "Expected number of shards 65 to be less than or equal to total number of L1 "
				       "banks 64 in compute cores");
	assert_int_equal(tdm_bank_spread(&dram, &(struct tdm_buffer_shape){ 13, 1, 13 }, &spread, &diag), TDM_EREFUSED);
	assert_int_equal(tdm_bank_spread(&dram, &(struct tdm_buffer_shape){ 13, 0, 0 }, &spread, &diag), TDM_EREFUSED);
	assert_int_equal(tdm_bank_spread(&dram, &(struct tdm_buffer_shape){ 13, 2, 0 }, &spread, &diag), TDM_EREFUSED);
	assert_int_equal(
		tdm_bank_spread(&small, &(struct tdm_buffer_shape){ 64, 64, 0 }, &spread, &diag), TDM_EREFUSED);
	assert_int_equal(tdm_bank_spread(&small, &(struct tdm_buffer_shape){ 64, 64, 1 }, &spread, &diag), 0);
	card = card_of("n150", NULL);
	small = range_of(&card, TDM_KIND_L1_SMALL);
	assert_int_equal(
		tdm_bank_spread(&small, &(struct tdm_buffer_shape){ 64, 64, 1 }, &spread, &diag), TDM_EREFUSED);
	assert_non_null(strstr(diag.text, "no l1_small region"));
}

static void figures_beyond_64_bits_are_an_error(void **state)
{
	(void)state;
	struct tdm_card card = card_of("n150", NULL);
	struct tdm_bank_range dram = range_of(&card, TDM_KIND_DRAM), l1 = range_of(&card, TDM_KIND_L1);
	static const struct tdm_buffer_shape shapes[] = {
		{ UINT64_MAX, UINT64_MAX, 0 },
		{ UINT64_MAX - 31, UINT64_MAX - 31, 0 },
		{ UINT64_MAX, 1, 0 },
		{ UINT64_MAX, 1, 3 },
		{ UINT64_MAX / 2 + 1, 1, 2 },
	};
	struct tdm_bank_spread spread;
	struct tdm_diag diag = { 0 };
	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
		assert_int_equal(tdm_bank_spread(&dram, &shapes[i], &spread, &diag), -ERANGE);
		assert_int_equal(tdm_bank_spread(&l1, &shapes[i], &spread, &diag), -ERANGE);
	}
}

/* The first banks and the last one, as the C++ library's shuffle gives them. */
static void banks_are_shuffled_over_cores(void **state)
{
	(void)state;
	static const struct {
		uint32_t x, y;
		struct tdm_core first[6], last;
	} expected[] = {
		{ 8, 8, { { 1, 4 }, { 4, 4 }, { 4, 1 }, { 2, 2 }, { 6, 0 }, { 7, 3 } }, { 1, 0 } },
		{ 8, 7, { { 1, 4 }, { 4, 4 }, { 4, 1 }, { 2, 2 }, { 6, 0 }, { 7, 3 } }, { 6, 6 } },
		{ 8, 9, { { 1, 4 }, { 4, 4 }, { 3, 8 }, { 2, 2 }, { 6, 0 }, { 7, 3 } }, { 5, 2 } },
		{ 7, 9, { { 1, 4 }, { 5, 3 }, { 6, 5 }, { 6, 1 }, { 1, 8 }, { 5, 2 } }, { 6, 3 } },
		{ 11, 10, { { 0, 3 }, { 8, 7 }, { 1, 6 }, { 7, 1 }, { 2, 8 }, { 9, 2 } }, { 6, 1 } },
		{ 13, 10, { { 7, 2 }, { 7, 6 }, { 8, 9 }, { 6, 8 }, { 12, 6 }, { 5, 2 } }, { 9, 2 } },
		{ 14, 10, { { 9, 9 }, { 1, 6 }, { 13, 8 }, { 12, 7 }, { 6, 6 }, { 3, 2 } }, { 7, 2 } },
	};
	struct tdm_core cores[140];
	for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
		uint32_t banks = expected[i].x * expected[i].y;
		assert_int_equal(tdm_bank_cores(expected[i].x, expected[i].y, cores, banks), 0);
		assert_memory_equal(cores, expected[i].first, sizeof expected[i].first);
		assert_memory_equal(&cores[banks - 1], &expected[i].last, sizeof expected[i].last);
	}
}

static void every_core_has_one_bank(void **state)
{
	(void)state;
	struct tdm_core cores[140];
	for (uint32_t x = 1; x <= 14; x++)
		for (uint32_t y = 1; y <= 10; y++) {
			bool seen[140] = { false };
			assert_int_equal(tdm_bank_cores(x, y, cores, x * y), 0);
			for (uint32_t bank = 0; bank < x * y; bank++) {
				assert_true(cores[bank].x < x && cores[bank].y < y);
				assert_false(seen[cores[bank].y * x + cores[bank].x]);
				seen[cores[bank].y * x + cores[bank].x] = true;
			}
		}
	assert_int_equal(tdm_bank_cores(8, 8, cores, 63), -EINVAL);
	assert_int_equal(tdm_bank_cores(0, 8, cores, 0), -EINVAL);
	assert_int_equal(tdm_bank_cores(65536, 65536, cores, 0), -EINVAL);
	assert_int_equal(tdm_bank_cores(1, TDM_BANK_CORES_MAX + 1, cores, TDM_BANK_CORES_MAX + 1), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(regions_lie_where_the_runtime_puts_them),
		cmocka_unit_test(small_regions_are_rounded_up),
		cmocka_unit_test(regions_that_do_not_fit_are_refused),
		cmocka_unit_test(unknown_figures_are_named),
		cmocka_unit_test(buffers_are_spread_as_the_runtime_does),
		cmocka_unit_test(shapes_that_the_runtime_refuses),
		cmocka_unit_test(figures_beyond_64_bits_are_an_error),
		cmocka_unit_test(banks_are_shuffled_over_cores),
		cmocka_unit_test(every_core_has_one_bank),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
