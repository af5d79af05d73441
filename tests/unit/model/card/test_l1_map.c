/* The map of a core's L1, and the runtime's clash test for circular buffers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>

#include "base/err.h"
#include "model/card/bank.h"

static struct tdm_card card_of(const char *name, const char *setting)
{
	struct tdm_card card;
	assert_int_equal(tdm_card_init(&card, tdm_str_of(name), NULL, NULL), 0);
	if (setting != NULL)
		assert_int_equal(tdm_card_set(&card, tdm_str_of(setting), NULL), 0);
	return card;
}

static void expect_map(
	const struct tdm_card *card, const struct tdm_l1_use *use, const uint64_t ends[TDM_L1_ZONE_COUNT])
{
	struct tdm_l1_map map;
	struct tdm_diag diag = { 0 };
	uint64_t at = 0;
	assert_int_equal(tdm_l1_map(card, use, &map, &diag), 0);
	for (int zone = 0; zone < TDM_L1_ZONE_COUNT; zone++) {
		assert_int_equal(map.span[zone].zone, zone);
		assert_int_equal(map.span[zone].address, at);
		at += map.span[zone].size;
		assert_int_equal(at, ends[zone]);
	}
	assert_int_equal(map.l1_size, at);
}

static void the_map_covers_l1(void **state)
{
	(void)state;
	struct tdm_card card = card_of("n150", "l1_small=32K");
	expect_map(&card, NULL, (const uint64_t[]){ 35008, 105664, 105664, 1466368, 1466368, 1499136 });
	expect_map(&card, &(struct tdm_l1_use){ 200000, 1400000 },
		(const uint64_t[]){ 35008, 105664, 200000, 1400000, 1466368, 1499136 });
	/* They meet: the circular buffers end where the L1 buffers begin. */
	expect_map(&card, &(struct tdm_l1_use){ 1450000, 1400000 },
		(const uint64_t[]){ 35008, 105664, 1400000, 1400000, 1466368, 1499136 });
	/* Addresses outside of the region are drawn at its ends. */
	expect_map(&card, &(struct tdm_l1_use){ UINT64_MAX, 1 },
		(const uint64_t[]){ 35008, 105664, 105664, 105664, 1466368, 1499136 });
	expect_map(&card, &(struct tdm_l1_use){ UINT64_MAX, 0 },
		(const uint64_t[]){ 35008, 105664, 1466368, 1466368, 1466368, 1499136 });
	card = card_of("p150", NULL);
	expect_map(&card, NULL, (const uint64_t[]){ 40960, 111616, 111616, 1572864, 1572864, 1572864 });
}

static void a_map_needs_a_card_that_fits(void **state)
{
	(void)state;
	struct tdm_l1_map map;
	struct tdm_diag diag = { 0 };
	struct tdm_card card = card_of("n150", "l1_base=2M");
	assert_int_equal(tdm_l1_map(&card, NULL, &map, &diag), TDM_EREFUSED);
	card = card_of("n150", "dram_align=0");
	assert_int_equal(tdm_l1_map(&card, NULL, &map, &diag), TDM_EUNKNOWN);
	assert_non_null(strstr(diag.text, "l1_base"));
}

static struct tdm_l1_verdict test_of(const struct tdm_card *card, const uint64_t *sizes, size_t count, uint64_t lowest)
{
	struct tdm_l1_verdict verdict;
	struct tdm_diag diag = { 0 };
	assert_int_equal(tdm_l1_clash_test(card, sizes, count, lowest, &verdict, &diag), 0);
	return verdict;
}

static void circular_buffers_grow_up_from_the_base(void **state)
{
	(void)state;
	struct tdm_card card = card_of("n150", NULL);
	/* Starts are aligned, the end is not. */
	struct tdm_l1_verdict verdict = test_of(&card, (const uint64_t[]){ 2048, 100, 4096, 10 }, 4, 0);
	assert_int_equal(verdict.clash, TDM_L1_FITS);
	assert_int_equal(verdict.cb_end, 105664 + 2048 + 128 + 4096 + 10);
	assert_int_equal(verdict.obstacle, 1499136);
	assert_int_equal(verdict.left, 1499136 - verdict.cb_end);
	assert_int_equal(verdict.over, 0);
	verdict = test_of(&card, (const uint64_t[]){ 1393472 }, 1, 0);
	assert_int_equal(verdict.clash, TDM_L1_FITS);
	assert_int_equal(verdict.left, 0);
	verdict = test_of(&card, NULL, 0, 1000);
	assert_int_equal(verdict.clash, TDM_L1_FITS);
	assert_int_equal(verdict.cb_end, 105664);
}

static void the_sentences_are_the_runtimes(void **state)
{
	(void)state;
	struct tdm_card card = card_of("n150", NULL);
	struct tdm_buf text = { 0 };

	struct tdm_l1_verdict verdict = test_of(&card, (const uint64_t[]){ 1393473 }, 1, 0);
	assert_int_equal(verdict.clash, TDM_L1_BEYOND);
	assert_int_equal(verdict.over, 1);
	tdm_l1_clash_message(&verdict, 1, "[0-0 - 7-7]", &text);
	assert_string_equal(text.data, "Statically allocated circular buffers on core range [0-0 - 7-7] grow to "
				       "1499137 B which is beyond max L1 size of "
				       "1499136 B");

	tdm_buf_clear(&text);
	verdict = test_of(&card, (const uint64_t[]){ 694336, 1 }, 2, 800000);
	assert_int_equal(verdict.clash, TDM_L1_CLASH);
	assert_int_equal(verdict.cb_end, 800001);
	assert_int_equal(verdict.over, 1);
	assert_int_equal(verdict.left, 0);
	tdm_l1_clash_message(&verdict, 42, "[0-0 - 0-0]", &text);
	assert_string_equal(text.data, "Statically allocated circular buffers in program 42 clash with L1 buffers on "
				       "core range [0-0 - 0-0]. L1 buffer "
				       "allocated at 800000 and static circular buffer region ends at 800001");

	tdm_buf_clear(&text);
	verdict = test_of(&card, (const uint64_t[]){ 694336 }, 1, 800000);
	assert_int_equal(verdict.clash, TDM_L1_FITS);
	tdm_l1_clash_message(&verdict, 42, "[0-0 - 0-0]", &text);
	assert_int_equal(text.len, 0);
	tdm_buf_done(&text);
}

/* Beyond the end comes first: with both, the runtime complains about the end. */
static void beyond_beats_clash(void **state)
{
	(void)state;
	struct tdm_card card = card_of("p150", NULL);
	struct tdm_l1_verdict verdict = test_of(&card, (const uint64_t[]){ 2 << 20 }, 1, 200000);
	assert_int_equal(verdict.clash, TDM_L1_BEYOND);
	assert_int_equal(verdict.obstacle, 1572864);
}

static void sums_beyond_64_bits_are_an_error(void **state)
{
	(void)state;
	struct tdm_card card = card_of("p150", NULL);
	struct tdm_l1_verdict verdict;
	struct tdm_diag diag = { 0 };
	assert_int_equal(tdm_l1_clash_test(&card, (const uint64_t[]){ UINT64_MAX }, 1, 0, &verdict, &diag), -ERANGE);
	assert_int_equal(
		tdm_l1_clash_test(&card, (const uint64_t[]){ UINT64_MAX - 111616, 0 }, 2, 0, &verdict, &diag), -ERANGE);
}

static void zones_have_names(void **state)
{
	(void)state;
	for (int zone = 0; zone < TDM_L1_ZONE_COUNT; zone++)
		assert_true(tdm_l1_zone_name((enum tdm_l1_zone)zone)[0] != '\0');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_map_covers_l1),
		cmocka_unit_test(a_map_needs_a_card_that_fits),
		cmocka_unit_test(circular_buffers_grow_up_from_the_base),
		cmocka_unit_test(the_sentences_are_the_runtimes),
		cmocka_unit_test(beyond_beats_clash),
		cmocka_unit_test(sums_beyond_64_bits_are_an_error),
		cmocka_unit_test(zones_have_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
